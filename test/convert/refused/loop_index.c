/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_index.c:9: error: 'x[at[i]]' cannot be in a loop that is one record: from turn to turn it does not move by the same amount
 */
static const int at[8] = {1, 0, 3, 2, 5, 4, 7, 6};
double f(const double *x) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s += x[at[i]] * i;
    return s;
}
