/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:8] --of return
 * says: loop_rows.c:8: error: 'rows[i][0]' cannot be in a loop that is one record: from turn to turn it does not move by the same amount
 */
double f(const double *x, double **rows) {
    double s = 1;
    /* wengert: map */
    for (int i = 0; i < 8; i++) s += rows[i][0] * x[i];
    return s;
}
