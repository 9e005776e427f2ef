/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_head.c:9: error: this loop cannot be one record: its head goes on as i < .. (or <=, >, >=), a whole number that stays as it is
 */

double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; x[i] > 0; i++) s += x[i];
    return s;
}
