/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/float_rounding.c:7: warning: '(float)x' is not rounded to float, and nothing in 'f' is: variables are double
 * status: 0
 */
double f(double x) {
    return (float)x * x + (float)(2 * x);
}
