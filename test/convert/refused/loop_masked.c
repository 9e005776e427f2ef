/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_masked.c:9: error: 'x[i + 1]' cannot be in a loop that is one record: it is read by some turns only, and may not be there for others: read it before
 */

double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s += x[i] > 0 ? x[i + 1] : x[i];
    return s;
}
