/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: a static variable that depends on the inputs
 */
double f(double x) {
    static double before;
    const double y = x * before;
    before = x;
    return y;
}
