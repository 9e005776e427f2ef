/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/syntax.c:6: error: use of undeclared identifier 'y'
 */
double f(double x) {
    return x * y;
}
