/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_whole.c:10: error: 'n = x[i] > 0'
 */

double f(const double *x) {
    double s = 1;
    int n;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { n = x[i] > 0; s += n * x[i]; }
    return s;
}
