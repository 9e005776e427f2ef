/* SPDX-License-Identifier: MIT */
/* Solves and products with the Jacobians of a system F(x, p) = 0, of which the derivatives of
 * x(p) are made (tape/drivers/implicit_rule.c). F_x is stored by rows: LAPACK, which reads
 * columns, factors its transpose. */
#include "implicit_system.h"
#include "blas.h"

int wgi_implicit_factor(const wgi_implicit *f) {
    if (f->n == 0) return 0;
    const int n = wgi_int(f->n);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, f->lu, n, f->pivot);
}

void wgi_implicit_solve(const wgi_implicit *f, int transposed, double *w) {
    const int n = wgi_int(f->n);
    if (n == 0) return;
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, transposed ? 'N' : 'T', n, 1, f->lu, n,
                              f->pivot, w, n);
}

void wgi_implicit_subtract(const wgi_implicit *f, int transposed, const double *v, double *to) {
    if (f->n == 0 || f->np == 0) return;
    cblas_dgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, wgi_int(f->n),
                wgi_int(f->np), -1, f->fp, wgi_int(f->np), v, 1, 1, to, 1);
}
