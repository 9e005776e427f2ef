/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/integer_argument.c:8: error: 'x' depends on the inputs and becomes an integer
 */
static double half(int n) { return n / 2.0; }

double f(double x) {
    return half(x);
}
