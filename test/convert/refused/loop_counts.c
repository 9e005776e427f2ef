/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_counts.c:10: error: 'k++' cannot be in a loop that is one record: it is of all turns: declare it in the loop
 */

double f(const double *x) {
    double s = 1;
    int k = 0;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { k++; s += x[k] * i; }
    return s;
}
