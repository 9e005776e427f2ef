/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/integer.c:8: error: 'x * 10' depends on the inputs and becomes an integer, which has no derivative
 * says: say --accept-integers if its derivative is to be 0
 */
double f(double x) {
    static const double table[20] = {1, 2, 3};
    const int k = x * 10;
    return table[k] * x;
}
