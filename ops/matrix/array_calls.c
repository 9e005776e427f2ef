/* SPDX-License-Identifier: MIT */
/* The BLAS on the caller's arrays of variables: operands are gathered, the operation recorded,
 * the results put where the call leaves them. Letters: array_calls.h. */
#include <wengert/array.h>
#include <wengert/elementwise_ops.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include "array_calls.h"

/* ---- vectors ---------------------------------------------------------------------------- */

wg_real wg_ddot(wg_tape *t, int n, wg_array x, int incx, wg_array y, int incy) {
    const call c = {t, "wg_ddot"};
    if (is_idle(c, n)) return t == NULL ? wgi_nan() : wg_constant(0);
    return wg_mat_dot(t, read_vector(c, (size_t)n, x, incx),
                      read_vector(c, (size_t)n, y, incy));
}

wg_real wg_dnrm2(wg_tape *t, int n, wg_array x, int incx) {
    const call c = {t, "wg_dnrm2"};
    if (is_idle(c, n)) return t == NULL ? wgi_nan() : wg_constant(0);
    return wg_mat_norm_entries(t, read_vector(c, (size_t)n, x, incx), 2);
}

wg_real wg_dasum(wg_tape *t, int n, wg_array x, int incx) {
    const call c = {t, "wg_dasum"};
    if (is_idle(c, n) || incx <= 0) return t == NULL ? wgi_nan() : wg_constant(0);
    return wg_mat_sum(t, wg_mat_fabs(t, read_vector(c, (size_t)n, x, incx)));
}

size_t wg_idamax(wg_tape *t, int n, wg_array x, int incx) {
    const call c = {t, "wg_idamax"};
    size_t most = 0;
    if (is_idle(c, n) || incx <= 0) return 0;
    const wg_mat a = wg_mat_fabs(t, read_vector(c, (size_t)n, x, incx));
    for (size_t i = 1; i < (size_t)n; i++)
        if ((wg_gt)(t, wg_mat_at(a, i, 0), wg_mat_at(a, most, 0))) most = i;
    return most;
}

void wg_daxpy(wg_tape *t, int n, wg_real alpha, wg_array x, int incx, wg_real *y, int incy) {
    const call c = {t, "wg_daxpy"};
    if (is_idle(c, n) || is_zero(alpha)) return;
    const wg_mat from = read_vector(c, (size_t)n, x, incx),
                 to = read_own_vector(c, (size_t)n, y, incy);
    put_vector(plus(c, to, alpha, from), (size_t)n, y, incy);
}

void wg_dscal(wg_tape *t, int n, wg_real alpha, wg_real *x, int incx) {
    const call c = {t, "wg_dscal"};
    if (is_idle(c, n) || incx <= 0) return;
    const wg_mat r = read_own_vector(c, (size_t)n, x, incx);
    put_vector(is_constant(alpha) ? wg_mat_scale(t, alpha.value, r)
                                  : wg_mat_scale_real(t, alpha, r),
               (size_t)n, x, incx);
}

void wg_dcopy(wg_tape *t, int n, wg_array x, int incx, wg_real *y, int incy) {
    if (is_idle((call){t, "wg_dcopy"}, n)) return;
    const ptrdiff_t from = first_of((size_t)n, incx), to = first_of((size_t)n, incy);
    if (y == NULL || (x.variables == NULL && x.numbers == NULL)) {
        (void)wgi_fail(wgi_core_of(t), WG_ENULL, "wg_dcopy: an array is NULL");
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        y[to + i * incy] = x.variables != NULL ? x.variables[from + i * incx]
                                               : wg_constant(x.numbers[from + i * incx]);
}

void wg_dswap(wg_tape *t, int n, wg_real *x, int incx, wg_real *y, int incy) {
    if (is_idle((call){t, "wg_dswap"}, n)) return;
    if (x == NULL || y == NULL) {
        (void)wgi_fail(wgi_core_of(t), WG_ENULL, "wg_dswap: an array is NULL");
        return;
    }
    const ptrdiff_t from = first_of((size_t)n, incx), to = first_of((size_t)n, incy);
    for (ptrdiff_t i = 0; i < n; i++) {
        const wg_real z = x[from + i * incx];
        x[from + i * incx] = y[to + i * incy];
        y[to + i * incy] = z;
    }
}

/* ---- matrix and vector ------------------------------------------------------------------ */

void wg_dgemv(wg_tape *t, int order, int trans, int m, int n, wg_real alpha, wg_array a,
              int lda, wg_array x, int incx, wg_real beta, wg_real *y, int incy) {
    const call c = {t, "wg_dgemv"};
    if (is_idle(c, m) || n <= 0) return;
    const size_t rows = (size_t)m, cols = (size_t)n;
    const size_t least = rows < cols ? rows : cols; /* of y, whatever the flag should be */
    const char turn = flag_of(c, trans, "NT");
    const size_t out = turn == 'N' ? rows : turn == 'T' ? cols : least;
    const size_t in = turn == 'N' ? cols : rows;
    const wg_mat A = read_matrix(c, rows, cols, a, lying(c, order, rows, cols, lda), all_of_it);
    const wg_mat X = read_vector(c, in, x, incx);
    wg_mat r = scaled(c, alpha,
                      wg_gemv(t, turn, number_of(alpha), A, X, 0, wg_mat_fill(t, out, 1, 0)));
    if (!is_zero(beta)) r = plus(c, r, beta, read_own_vector(c, out, y, incy));
    put_vector(r, out, y, incy);
}

void wg_dsymv(wg_tape *t, int order, int uplo, int n, wg_real alpha, wg_array a, int lda,
              wg_array x, int incx, wg_real beta, wg_real *y, int incy) {
    const call c = {t, "wg_dsymv"};
    if (is_idle(c, n)) return;
    const size_t k = (size_t)n;
    const wg_mat A = read_symmetric(c, k, a, order, uplo, lda);
    const wg_mat X = read_vector(c, k, x, incx);
    wg_mat r = scaled(c, alpha, wg_symv(t, 'L', number_of(alpha), A, X, 0, X));
    if (!is_zero(beta)) r = plus(c, r, beta, read_own_vector(c, k, y, incy));
    put_vector(r, k, y, incy);
}

void wg_dger(wg_tape *t, int order, int m, int n, wg_real alpha, wg_array x, int incx,
             wg_array y, int incy, wg_real *a, int lda) {
    const call c = {t, "wg_dger"};
    if (is_idle(c, m) || n <= 0 || is_zero(alpha)) return;
    const size_t rows = (size_t)m, cols = (size_t)n;
    const strides s = lying(c, order, rows, cols, lda);
    const wg_mat A = read_own(c, rows, cols, a, s, all_of_it);
    const wg_mat X = read_vector(c, rows, x, incx), Y = read_vector(c, cols, y, incy);
    put_matrix(is_constant(alpha) ? wg_ger(t, alpha.value, X, Y, A)
                                  : wg_axpy_real(t, alpha, wg_outer(t, X, Y), A),
               rows, cols, a, s, all_of_it);
}

/* op(A) x, or x with op(A) x = b, of a triangle. */
static void triangle_vector(call c, int solves, int order, int uplo, int trans, int diag, int n,
                            wg_array a, int lda, wg_real *x, int incx) {
    if (is_idle(c, n)) return;
    const size_t k = (size_t)n;
    const part p = {flag(uplo), flag(diag) == 'U'};
    const wg_mat A = read_matrix(c, k, k, a, lying(c, order, k, k, lda), p);
    const wg_mat X = read_own_vector(c, k, x, incx);
    put_vector(solves ? wg_trsv(c.t, p.uplo, flag(trans), flag(diag), A, X)
                      : wg_trmv(c.t, p.uplo, flag(trans), flag(diag), A, X),
               k, x, incx);
}
void wg_dtrmv(wg_tape *t, int order, int uplo, int trans, int diag, int n, wg_array a, int lda,
              wg_real *x, int incx) {
    triangle_vector((call){t, "wg_dtrmv"}, 0, order, uplo, trans, diag, n, a, lda, x, incx);
}
void wg_dtrsv(wg_tape *t, int order, int uplo, int trans, int diag, int n, wg_array a, int lda,
              wg_real *x, int incx) {
    triangle_vector((call){t, "wg_dtrsv"}, 1, order, uplo, trans, diag, n, a, lda, x, incx);
}

/* ---- matrices --------------------------------------------------------------------------- */

void wg_dgemm(wg_tape *t, int order, int ta, int tb, int m, int n, int k, wg_real alpha,
              wg_array a, int lda, wg_array b, int ldb, wg_real beta, wg_real *c, int ldc) {
    const call g = {t, "wg_dgemm"};
    if (is_idle(g, m) || n <= 0) return;
    const char fa = flag_of(g, ta, "NT"), fb = flag_of(g, tb, "NT");
    const size_t rows = (size_t)m, cols = (size_t)n, inner = k > 0 ? (size_t)k : 0;
    const size_t am = fa == 'N' ? rows : inner, an = fa == 'N' ? inner : rows;
    const size_t bm = fb == 'N' ? inner : cols, bn = fb == 'N' ? cols : inner;
    const wg_mat A = read_matrix(g, am, an, a, lying(g, order, am, an, lda), all_of_it);
    const wg_mat B = read_matrix(g, bm, bn, b, lying(g, order, bm, bn, ldb), all_of_it);
    const strides s = lying(g, order, rows, cols, ldc);
    const wg_mat C = is_zero(beta) ? wg_mat_fill(t, rows, cols, 0)
                                   : read_own(g, rows, cols, c, s, all_of_it);
    put_matrix(is_constant(alpha) && is_constant(beta)
                   ? wg_gemm(t, fa, fb, alpha.value, A, B, beta.value, C)
                   : wg_gemm_real(t, fa, fb, alpha, A, B, beta, C),
               rows, cols, c, s, all_of_it);
}

void wg_dsymm(wg_tape *t, int order, int side, int uplo, int m, int n, wg_real alpha,
              wg_array a, int lda, wg_array b, int ldb, wg_real beta, wg_real *c, int ldc) {
    const call g = {t, "wg_dsymm"};
    if (is_idle(g, m) || n <= 0) return;
    const char where = flag_of(g, side, "LR");
    const size_t rows = (size_t)m, cols = (size_t)n, k = where == 'L' ? rows : cols;
    const wg_mat A = read_symmetric(g, k, a, order, uplo, lda);
    const wg_mat B = read_matrix(g, rows, cols, b, lying(g, order, rows, cols, ldb), all_of_it);
    const strides s = lying(g, order, rows, cols, ldc);
    wg_mat r = scaled(g, alpha, wg_symm(t, where, 'L', number_of(alpha), A, B, 0, B));
    if (!is_zero(beta)) r = plus(g, r, beta, read_own(g, rows, cols, c, s, all_of_it));
    put_matrix(r, rows, cols, c, s, all_of_it);
}

void wg_dsyrk(wg_tape *t, int order, int uplo, int trans, int n, int k, wg_real alpha,
              wg_array a, int lda, wg_real beta, wg_real *c, int ldc) {
    const call g = {t, "wg_dsyrk"};
    if (is_idle(g, n)) return;
    const size_t rows = (size_t)n, inner = k > 0 ? (size_t)k : 0;
    const char turn = flag_of(g, trans, "NT");
    const size_t am = turn == 'N' ? rows : inner, an = turn == 'N' ? inner : rows;
    const part p = {flag(uplo), 0};
    const wg_mat A = read_matrix(g, am, an, a, lying(g, order, am, an, lda), all_of_it);
    const strides s = lying(g, order, rows, rows, ldc);
    wg_mat r = scaled(g, alpha,
                      wg_syrk(t, turn, number_of(alpha), A, 0, wg_mat_fill(t, rows, rows, 0)));
    if (p.uplo != 'L' && p.uplo != 'U')
        (void)wgi_fail(wgi_core_of(t), WG_EARG, "%s: uplo is neither 'L' nor 'U'", g.name);
    if (!is_zero(beta)) r = plus(g, r, beta, read_own(g, rows, rows, c, s, p));
    put_matrix(ended(g) ? wg_mat_failed(rows, rows) : r, rows, rows, c, s, p);
}

static void triangle_matrix(call c, int solves, int order, int side, int uplo, int trans,
                            int diag, int m, int n, wg_real alpha, wg_array a, int lda,
                            wg_real *b, int ldb) {
    if (is_idle(c, m) || n <= 0) return;
    const char where = flag_of(c, side, "LR");
    const size_t rows = (size_t)m, cols = (size_t)n, k = where == 'L' ? rows : cols;
    const part p = {flag(uplo), flag(diag) == 'U'};
    const strides s = lying(c, order, rows, cols, ldb);
    const wg_mat A = read_matrix(c, k, k, a, lying(c, order, k, k, lda), p);
    const wg_mat B = read_own(c, rows, cols, b, s, all_of_it);
    const double x = number_of(alpha);
    put_matrix(scaled(c, alpha,
                      solves ? wg_trsm(c.t, where, p.uplo, flag(trans), flag(diag), x, A, B)
                             : wg_trmm(c.t, where, p.uplo, flag(trans), flag(diag), x, A, B)),
               rows, cols, b, s, all_of_it);
}
void wg_dtrmm(wg_tape *t, int order, int side, int uplo, int trans, int diag, int m, int n,
              wg_real alpha, wg_array a, int lda, wg_real *b, int ldb) {
    triangle_matrix((call){t, "wg_dtrmm"}, 0, order, side, uplo, trans, diag, m, n, alpha, a,
                    lda, b, ldb);
}
void wg_dtrsm(wg_tape *t, int order, int side, int uplo, int trans, int diag, int m, int n,
              wg_real alpha, wg_array a, int lda, wg_real *b, int ldb) {
    triangle_matrix((call){t, "wg_dtrsm"}, 1, order, side, uplo, trans, diag, m, n, alpha, a,
                    lda, b, ldb);
}
