/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to a[0:n][0:n] --of return
 * says: rows_of_length.c:6: warning: no callback is written: 'a' is of a type that is not copied by itself
 * status: 0
 */
double f(int n, double a[n][n]) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i][i] * a[0][i];
    return s;
}
