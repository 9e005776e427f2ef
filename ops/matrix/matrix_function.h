/* SPDX-License-Identifier: MIT */
/* What the functions of a square matrix share: matrix_exponential.c, matrix_function.c. */
#ifndef WGI_OPS_MATRIX_FUNCTION_H
#define WGI_OPS_MATRIX_FUNCTION_H

#include "call.h"
#include "blas.h"
#include "spectral.h"

#include <math.h>
#include <string.h>

/* exp(p A), p its parameter: a power, where A is a logarithm. */
extern const wg_block_op wgi_op_exp_of_log, wgi_op_powm, wgi_op_logm;

/* c = alpha op(a) op(b) + beta c, order n; what has no leading dimension is packed. */
static inline void wgi_product(size_t n, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, double alpha,
                               const double *a, size_t lda, const double *b, size_t ldb,
                               double beta, double *c, size_t ldc) {
    const int k = wgi_int(n);
    cblas_dgemm(CblasColMajor, ta, tb, k, k, k, alpha, a, wgi_int(lda), b, wgi_int(ldb), beta,
                c, wgi_int(ldc));
}

/* y = alpha (op(a) x + x op(a)) + beta y. */
static inline void wgi_both_sides(size_t n, CBLAS_TRANSPOSE op, double alpha, const double *a,
                                  size_t lda, const double *x, size_t ldx, double beta,
                                  double *y, size_t ldy) {
    wgi_product(n, op, CblasNoTrans, alpha, a, lda, x, ldx, beta, y, ldy);
    wgi_product(n, CblasNoTrans, op, alpha, x, ldx, a, lda, 1, y, ldy);
}

static inline void wgi_square_add(size_t n, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * ld] += x[i + j * n];
}
static inline void wgi_square_set(size_t n, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++) memcpy(a + j * ld, x + j * n, n * sizeof *x);
}
static inline void wgi_square_zero(size_t n, double *a, size_t ld) {
    for (size_t j = 0; j < n; j++) memset(a + j * ld, 0, n * sizeof *a);
}
static inline void wgi_square_identity(size_t n, double *a) {
    memset(a, 0, n * n * sizeof *a);
    for (size_t i = 0; i < n; i++) a[i + i * n] = 1;
}

static inline double wgi_norm_1(size_t n, const double *a, size_t ld) {
    double largest = 0;
    for (size_t j = 0; j < n; j++) {
        double s = 0;
        for (size_t i = 0; i < n; i++) s += fabs(a[i + j * ld]);
        if (s > largest) largest = s;
    }
    return largest;
}

static inline wg_status wgi_square_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) return wgi_block_refuse(b, WG_ESHAPE, "the matrix is not square");
    b->out[0].rows = b->out[0].cols = n;
    return WG_OK;
}

static inline wg_status wgi_square_finite(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (wgi_spectral_finite(a->rows, a->cols, a->value, a->ld)) return WG_OK;
    return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
}

/* The adjoint of f(A) in operations on matrices, L_f(A', W): the upper right block of f of
 * [A' W; 0 A'], by the operation for f itself. W is scaled to the size of A.
 * Source: Higham 2008, Functions of Matrices, 3.2 (Mathias 1996). */
wg_status wgi_function_adjoint(wg_tape *t, const wg_block_op *op, const void *params,
                               size_t bytes, wg_mat a, wg_mat w, wg_mat *back);

/* The same as a rule of a function (whole.h). */
wg_status wgi_function_rule(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                            wg_mat a, wg_mat w, wg_mat *back);

/* A Frechet derivative: of the operand of a call, at op(A), in direction e, into work[0..n^2).
 */
typedef wg_status wgi_frechet(wg_block *b, CBLAS_TRANSPOSE op, const double *e, size_t lde);

static inline wg_status wgi_frechet_vjp(wg_block *b, wgi_frechet *d) {
    const size_t n = b->in[0].rows;
    if (n == 0 || b->in[0].bar == NULL) return WG_OK;
    const wg_status s = d(b, CblasTrans, b->out[0].bar, b->out[0].bar_ld);
    if (s == WG_OK) wgi_square_add(n, b->work, b->in[0].bar, b->in[0].bar_ld);
    return s;
}
static inline wg_status wgi_frechet_jvp(wg_block *b, wgi_frechet *d) {
    const size_t n = b->in[0].rows;
    wg_status s = WG_OK;
    if (b->in[0].bar == NULL) wgi_square_zero(n, b->out[0].bar, b->out[0].bar_ld);
    else if (n != 0) {
        s = d(b, CblasNoTrans, b->in[0].bar, b->in[0].bar_ld);
        if (s == WG_OK) wgi_square_set(n, b->work, b->out[0].bar, b->out[0].bar_ld);
    }
    return s;
}

#endif
