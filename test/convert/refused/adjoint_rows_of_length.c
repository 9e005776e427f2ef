/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to a[0:n][0:n] --of return
 * says: adjoint_rows_of_length.c:5: error: 'a' is of a type that is not copied by itself: there is no function for drivers
 */
double f(int n, double a[n][n]) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i][i] * a[0][i];
    return s;
}
