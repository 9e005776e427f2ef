/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of y[0:1]
 * says: refused/routine_adjoint.c:9: error: 'LAPACKE_dgels(102, 'N', 2, 1, 1, a, 2, y, 2)' cannot be turned round: it is a routine of BLAS or LAPACK without an adjoint here, which --to tape has
 */
int LAPACKE_dgels(int o, char t, int m, int n, int k, double *a, int lda, double *b, int ldb);

void f(const double *x, double *y) {
    double a[2] = {x[0], x[1]};
    (void)LAPACKE_dgels(102, 'N', 2, 1, 1, a, 2, y, 2);
}
