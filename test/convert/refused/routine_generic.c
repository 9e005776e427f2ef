/* SPDX-License-Identifier: MIT */
/* options: --to generic --function f --with-respect-to x[0:2] --of return
 * says: refused/routine_generic.c:7: error: 'cblas_ddot(2, x, 1, x, 1)' has variables, and is no kernel for three types: use --to tape
 */
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);

double f(const double *x) { return cblas_ddot(2, x, 1, x, 1); }
