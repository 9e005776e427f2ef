/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_number_by_index.c:8: error: 'count[at[i]] += 1' cannot be in a loop that is one record: from turn to turn it does not move by the same amount: only sums of variables may
 */
double f(const double *x, double *count, const int *at) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) { count[at[i]] += 1; s += x[i] * x[i]; }
    return s;
}
