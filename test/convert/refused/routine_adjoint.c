/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: refused/routine_adjoint.c:7: error: 'cblas_ddot(2, x, 1, x, 1)' cannot be turned round: it is a routine of BLAS or LAPACK with variables, which --to tape can
 */
double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);

double f(const double *x) { return cblas_ddot(2, x, 1, x, 1); }
