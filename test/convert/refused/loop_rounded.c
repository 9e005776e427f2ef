/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_rounded.c:8: error: '(float)t[i]' cannot be in a loop that is one record: it is rounded
 */
double f(const double *x, const double *t) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s += x[i] * (float)t[i];
    return s;
}
