/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:1][0:1][0:1] --of return
 * says: refused/no_callback.c:6: warning: no callback is written: 'x' is of a type that is not copied by itself
 * status: 0
 */
double f(double ***x) {
    return x[0][0][0] * x[0][0][0];
}
