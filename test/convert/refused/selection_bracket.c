/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x[0:n --of return
 * says: (options): error: 'x[0:n': a ] is missing
 */
double f(int n, const double *x) { return n * x[0]; }
