/* SPDX-License-Identifier: MIT */
/* The derivative of an implicit function x(p), F(x, p) = 0.
 *
 * xt = -F_x^-1 F_p pt;  p_ -= F_p' F_x^-T x_.  F_x is stored by rows: LAPACK, which reads
 * columns, factors its transpose. Source: implicit function theorem. */
#include "implicit.h"
#include "blas.h"

#include <string.h>

int wgi_implicit_factor(const wgi_implicit *f) {
    if (f->n == 0) return 0;
    const int n = wgi_int(f->n);
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, f->lu, n, f->pivot);
}

/* w = F_x^-1 w, or F_x^-T w. */
static void solve(const wgi_implicit *f, char transpose, double *w) {
    const int n = wgi_int(f->n);
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, transpose, n, 1, f->lu, n, f->pivot, w, n);
}

static wg_status shape(wg_block *b) {
    const wgi_implicit *const f = (const wgi_implicit *)b->params;
    if (b->in[0].rows != f->np || b->in[0].cols != 1) return WG_ESHAPE;
    b->out[0].rows = f->n;
    b->out[0].cols = 1;
    b->work_bytes = f->n * sizeof(double);
    return WG_OK;
}

static wg_status value(wg_block *b) {
    const wgi_implicit *const f = (const wgi_implicit *)b->params;
    if (f->n != 0) memcpy(b->out[0].value, f->x, f->n * sizeof(double));
    return WG_OK;
}

static wg_status vjp(wg_block *b) {
    const wgi_implicit *const f = (const wgi_implicit *)b->params;
    double *const w = (double *)b->work;
    if (f->n == 0 || f->np == 0) return WG_OK;
    memcpy(w, b->out[0].bar, f->n * sizeof(double));
    solve(f, 'N', w); /* of the transpose */
    cblas_dgemv(CblasRowMajor, CblasTrans, wgi_int(f->n), wgi_int(f->np), -1, f->fp,
                wgi_int(f->np), w, 1, 1, b->in[0].bar, 1);
    return WG_OK;
}

static wg_status jvp(wg_block *b) {
    const wgi_implicit *const f = (const wgi_implicit *)b->params;
    double *const xt = b->out[0].bar;
    if (f->n == 0) return WG_OK;
    memset(xt, 0, f->n * sizeof(double));
    if (f->np == 0) return WG_OK;
    cblas_dgemv(CblasRowMajor, CblasNoTrans, wgi_int(f->n), wgi_int(f->np), -1, f->fp,
                wgi_int(f->np), b->in[0].bar, 1, 0, xt, 1);
    solve(f, 'T', xt);
    return WG_OK;
}

const wg_block_op wgi_op_implicit = {"wg_implicit", 0,    shape, value, vjp,
                                     jvp,           NULL, NULL,  NULL};
const wg_block_op wgi_op_fixed_point = {
    "wg_fixed_point", 0, shape, value, vjp, jvp, NULL, NULL, NULL};
