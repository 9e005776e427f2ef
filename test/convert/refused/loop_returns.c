/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_returns.c:9: error: 'return s' cannot be in a loop that is one record: it leaves the loop
 */

double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { s += x[i]; return s; }
    return s;
}
