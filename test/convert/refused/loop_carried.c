/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_carried.c:9: error: 's = s * x[i]' cannot be in a loop that is one record: it is carried from turn to turn: 'wengert: scan' before the loop makes it a state
 */

double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s = s * x[i];
    return s;
}
