/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of y[0:8]
 * says: loop_index.c:8: error: 'y[at[i]] = x[i]' cannot be in a loop that is one record: from turn to turn it does not move by the same amount: only sums of variables may
 */
static const int at[8] = {1, 0, 3, 2, 5, 4, 7, 6};
void f(const double *x, double *y) {
    /* wengert: map */
    for (int i = 0; i < 8; i++) y[at[i]] = x[i];
}
