/* SPDX-License-Identifier: MIT */
/* Adjoints of the BLAS on plain arrays (wengert/blas_vjp.h). Letters: array_adjoints.h.
 *
 *     y = alpha A x + beta y     A_ += alpha w x',  x_ += alpha A'w,  alpha_ += w'A x,
 *                                beta_ += w'y,  y_ = beta w
 *     C = alpha A B + beta C     A_ += alpha w B',  B_ += alpha A'w
 *     C = alpha A A' + beta C    A_ += alpha (w + w') A, w being the triangle that is written
 *     A S, S of one triangle     S_ += w x' + x w' there, half of it on the diagonal
 *     B = alpha T B              T_ += alpha w B' in the triangle,  B_ = alpha T'w
 *     T X = alpha B              v = T^-T w,  T_ -= v X' in the triangle,  B_ = alpha v,
 *                                alpha_ += v'B = w'X / alpha
 * Source: Giles 2008. */
#include <math.h>
#include "array_adjoints.h"

/* ---- vectors ---------------------------------------------------------------------------- */

wg_status wg_vjp_ddot(int n, const double *x, double *x_b, int incx, const double *y,
                      double *y_b, int incy, double w) {
    if (n <= 0) return WG_OK;
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(y_b != NULL, x));
    CHECK(check_array(x_b != NULL, y));
    if (x_b != NULL) cblas_daxpy(n, w, y, incy, x_b, incx);
    if (y_b != NULL) cblas_daxpy(n, w, x, incx, y_b, incy);
    return WG_OK;
}

wg_status wg_vjp_dnrm2(int n, const double *x, double *x_b, int incx, double w) {
    if (n <= 0 || x_b == NULL) return WG_OK;
    CHECK(check_inc(incx));
    CHECK(check_array(1, x));
    const int step = incx < 0 ? -incx : incx; /* the same elements, from the first in memory */
    const double norm = cblas_dnrm2(n, x, step);
    for (ptrdiff_t i = 0; norm != 0 && i < n; i++) x_b[i * step] += w * (x[i * step] / norm);
    return WG_OK;
}

wg_status wg_vjp_dasum(int n, const double *x, double *x_b, int incx, double w) {
    if (n <= 0 || incx <= 0 || x_b == NULL) return WG_OK;
    CHECK(check_array(1, x));
    for (ptrdiff_t i = 0; i < n; i++) {
        const double a = x[i * incx];
        x_b[i * incx] += a > 0 ? w : a < 0 ? -w : w * a;
    }
    return WG_OK;
}

wg_status wg_vjp_daxpy(int n, double alpha, double *alpha_b, const double *x, double *x_b,
                       int incx, const double *y, double *y_b, int incy) {
    (void)y;
    if (n <= 0) return WG_OK;
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(1, y_b));
    CHECK(check_array(alpha_b != NULL, x));
    if (alpha_b != NULL) *alpha_b += cblas_ddot(n, x, incx, y_b, incy);
    if (x_b != NULL) cblas_daxpy(n, alpha, y_b, incy, x_b, incx);
    return WG_OK;
}

wg_status wg_vjp_dscal(int n, double alpha, double *alpha_b, const double *x, double *x_b,
                       int incx) {
    const strides s = {incx, 0};
    if (n <= 0 || incx <= 0) return WG_OK;
    CHECK(check_array(1, x_b));
    CHECK(check_array(alpha_b != NULL, x));
    back_of_old(n, 1, alpha, alpha_b, x, x_b, s, all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dcopy(int n, const double *x, double *x_b, int incx, const double *y,
                       double *y_b, int incy) {
    (void)x, (void)y;
    if (n <= 0) return WG_OK;
    CHECK(check_inc(incy));
    CHECK(check_array(1, y_b));
    const ptrdiff_t from = first_of((size_t)n, incx), to = first_of((size_t)n, incy);
    for (ptrdiff_t i = 0; i < n; i++) { /* they may be one vector */
        const double w = y_b[to + i * incy];
        y_b[to + i * incy] = 0;
        if (x_b != NULL) x_b[from + i * incx] += w;
    }
    return WG_OK;
}

wg_status wg_vjp_dswap(int n, const double *x, double *x_b, int incx, const double *y,
                       double *y_b, int incy) {
    (void)x, (void)y;
    if (n <= 0) return WG_OK;
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(1, x_b));
    CHECK(check_array(1, y_b));
    cblas_dswap(n, x_b, incx, y_b, incy);
    return WG_OK;
}

/* ---- matrix and vector ------------------------------------------------------------------ */

/* A vector as a matrix of one column: its beginning, the step to the next row. */
static strides column(int inc) { return (strides){inc, 0}; }

wg_status wg_vjp_dgemv(int order, int trans, int m, int n, double alpha, double *alpha_b,
                       const double *a, double *a_b, int lda, const double *x, double *x_b,
                       int incx, double beta, double *beta_b, const double *y, double *y_b,
                       int incy) {
    const CBLAS_ORDER o = order_of(order);
    const int turned = is_turned(trans), out = turned ? n : m, inner = turned ? m : n;
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_flag(trans, "NT"));
    CHECK(check_ld(order, m, n, lda));
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(1, y_b));
    CHECK(check_array(x_b != NULL || alpha_b != NULL, a));
    CHECK(check_array(a_b != NULL || alpha_b != NULL, x));
    CHECK(check_array(beta_b != NULL, y));
    if (a_b != NULL && turned) cblas_dger(o, m, n, alpha, x, incx, y_b, incy, a_b, lda);
    else if (a_b != NULL) cblas_dger(o, m, n, alpha, y_b, incy, x, incx, a_b, lda);
    if (x_b != NULL)
        cblas_dgemv(o, wgi_op(!turned), m, n, alpha, a, lda, y_b, incy, 1, x_b, incx);
    const ptrdiff_t to = first_of((size_t)out, incy);
    const strides s = strides_of(order, lda);
    for (int i = 0; alpha_b != NULL && i < out; i++)
        *alpha_b += y_b[to + (ptrdiff_t)i * incy] *
                    cblas_ddot(inner, turned ? in(a, s, 0, i) : in(a, s, i, 0),
                               (int)(turned ? s.down : s.across), x, incx);
    back_of_old(out, 1, beta, beta_b, y != NULL ? y + to : y, y_b + to, column(incy),
                all_of_it);
    return WG_OK;
}

/* A_ += f (x y' + y x') in the triangle p of a symmetric matrix, half of it on the diagonal;
 * and the sum of A (x y' + y x') there. Vectors from their first elements. */
static void symmetric_outer(int n, double f, const double *x, int incx, const double *y,
                            int incy, double *a_b, strides s, part p) {
    if (is_by_rows(s)) s = turned(s), p = mirrored(p);
    for (int j = 0; j < n; j++) {
        int i, end;
        const double xj = x[(ptrdiff_t)j * incx], yj = y[(ptrdiff_t)j * incy];
        for (read_rows(p, n, j, &i, &end); i < end; i++) {
            const double xi = x[(ptrdiff_t)i * incx], yi = y[(ptrdiff_t)i * incy];
            *at(a_b, s, i, j) += f * (i == j ? xi * yi : xi * yj + yi * xj);
        }
    }
}
static double symmetric_dot(int n, const double *x, int incx, const double *y, int incy,
                            const double *a, strides s, part p) {
    double sum = 0;
    if (is_by_rows(s)) s = turned(s), p = mirrored(p);
    for (int j = 0; j < n; j++) {
        int i, end;
        const double xj = x[(ptrdiff_t)j * incx], yj = y[(ptrdiff_t)j * incy];
        for (read_rows(p, n, j, &i, &end); i < end; i++) {
            const double xi = x[(ptrdiff_t)i * incx], yi = y[(ptrdiff_t)i * incy];
            sum += *in(a, s, i, j) * (i == j ? xi * yi : xi * yj + yi * xj);
        }
    }
    return sum;
}

wg_status wg_vjp_dsymv(int order, int uplo, int n, double alpha, double *alpha_b,
                       const double *a, double *a_b, int lda, const double *x, double *x_b,
                       int incx, double beta, double *beta_b, const double *y, double *y_b,
                       int incy) {
    const part p = triangle_of(uplo, 'N');
    const strides s = strides_of(order, lda);
    if (n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_flag(uplo, "LU"));
    CHECK(check_ld(order, n, n, lda));
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(1, y_b));
    CHECK(check_array(x_b != NULL || alpha_b != NULL, a));
    CHECK(check_array(a_b != NULL || alpha_b != NULL, x));
    CHECK(check_array(beta_b != NULL, y));
    const ptrdiff_t from = first_of((size_t)n, incx), to = first_of((size_t)n, incy);
    if (a_b != NULL) symmetric_outer(n, alpha, x + from, incx, y_b + to, incy, a_b, s, p);
    if (x_b != NULL)
        cblas_dsymv(order_of(order), uplo_of(uplo), n, alpha, a, lda, y_b, incy, 1, x_b, incx);
    if (alpha_b != NULL) *alpha_b += symmetric_dot(n, x + from, incx, y_b + to, incy, a, s, p);
    back_of_old(n, 1, beta, beta_b, y != NULL ? y + to : y, y_b + to, column(incy), all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dger(int order, int m, int n, double alpha, double *alpha_b, const double *x,
                      double *x_b, int incx, const double *y, double *y_b, int incy,
                      const double *a, double *a_b, int lda) {
    const CBLAS_ORDER o = order_of(order);
    (void)a;
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_ld(order, m, n, lda));
    CHECK(check_inc(incx));
    CHECK(check_inc(incy));
    CHECK(check_array(1, a_b));
    CHECK(check_array(y_b != NULL || alpha_b != NULL, x));
    CHECK(check_array(x_b != NULL || alpha_b != NULL, y));
    if (x_b != NULL) cblas_dgemv(o, CblasNoTrans, m, n, alpha, a_b, lda, y, incy, 1, x_b, incx);
    if (y_b != NULL) cblas_dgemv(o, CblasTrans, m, n, alpha, a_b, lda, x, incx, 1, y_b, incy);
    const strides s = strides_of(order, lda);
    const ptrdiff_t from = alpha_b != NULL ? first_of((size_t)m, incx) : 0;
    for (int i = 0; alpha_b != NULL && i < m; i++)
        *alpha_b += x[from + (ptrdiff_t)i * incx] *
                    cblas_ddot(n, at(a_b, s, i, 0), (int)s.across, y, incy);
    return WG_OK;
}

/* T_ += f op(v u') in its triangle: T of op(T) u, whose adjoint is v. From first elements. */
static void triangle_outer(int n, int back, double f, const double *v, int incv,
                           const double *u, int incu, double *a_b, strides s, part p) {
    if (is_by_rows(s)) s = turned(s), p = mirrored(p), back = !back;
    for (int j = 0; j < n; j++) {
        int i, end;
        for (read_rows(p, n, j, &i, &end); i < end; i++)
            *at(a_b, s, i, j) +=
                f * v[(ptrdiff_t)(back ? j : i) * incv] * u[(ptrdiff_t)(back ? i : j) * incu];
    }
}

static wg_status check_triangle(int order, int uplo, int trans, int diag, int n,
                                const double *a, int lda) {
    CHECK(check_order(order));
    CHECK(check_flag(uplo, "LU"));
    CHECK(check_flag(trans, "NT"));
    CHECK(check_flag(diag, "NU"));
    CHECK(check_ld(order, n, n, lda));
    return check_array(1, a);
}

wg_status wg_vjp_dtrmv(int order, int uplo, int trans, int diag, int n, const double *a,
                       double *a_b, int lda, const double *x, double *x_b, int incx) {
    const int turned = is_turned(trans);
    if (n <= 0) return WG_OK;
    CHECK(check_triangle(order, uplo, trans, diag, n, a, lda));
    CHECK(check_inc(incx));
    CHECK(check_array(1, x_b));
    CHECK(check_array(a_b != NULL, x));
    const ptrdiff_t from = first_of((size_t)n, incx);
    if (a_b != NULL)
        triangle_outer(n, turned, 1, x_b + from, incx, x + from, incx, a_b,
                       strides_of(order, lda), triangle_of(uplo, diag));
    cblas_dtrmv(order_of(order), uplo_of(uplo), wgi_op(!turned), diag_of(diag), n, a, lda, x_b,
                incx);
    return WG_OK;
}

wg_status wg_vjp_dtrsv(int order, int uplo, int trans, int diag, int n, const double *a,
                       double *a_b, int lda, const double *x, double *x_b, int incx) {
    const int turned = is_turned(trans);
    const part p = triangle_of(uplo, diag);
    if (n <= 0) return WG_OK;
    CHECK(check_triangle(order, uplo, trans, diag, n, a, lda));
    CHECK(check_inc(incx));
    CHECK(check_array(1, x_b));
    CHECK(check_array(a_b != NULL, x));
    const strides s = strides_of(order, lda);
    if (is_singular(n, a, s, p)) return WG_ESINGULAR;
    cblas_dtrsv(order_of(order), uplo_of(uplo), wgi_op(!turned), diag_of(diag), n, a, lda, x_b,
                incx);
    const ptrdiff_t from = first_of((size_t)n, incx);
    if (a_b != NULL) triangle_outer(n, turned, -1, x_b + from, incx, x + from, incx, a_b, s, p);
    return WG_OK;
}

/* ---- matrices --------------------------------------------------------------------------- */

wg_status wg_vjp_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha,
                       double *alpha_b, const double *a, double *a_b, int lda, const double *b,
                       double *b_b, int ldb, double beta, double *beta_b, const double *c,
                       double *c_b, int ldc) {
    const CBLAS_ORDER o = order_of(order);
    const int at_ = is_turned(ta), bt = is_turned(tb);
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_flag(ta, "NT"));
    CHECK(check_flag(tb, "NT"));
    CHECK(check_ld(order, m, n, ldc));
    CHECK(check_array(1, c_b));
    CHECK(check_array(beta_b != NULL, c));
    const strides of_c = strides_of(order, ldc);
    if (k > 0) {
        const strides sa = strides_of(order, lda), sb = strides_of(order, ldb);
        CHECK(check_ld(order, at_ ? k : m, at_ ? m : k, lda));
        CHECK(check_ld(order, bt ? n : k, bt ? k : n, ldb));
        CHECK(check_array(b_b != NULL || alpha_b != NULL, a));
        CHECK(check_array(a_b != NULL || alpha_b != NULL, b));
        if (a_b != NULL && at_)
            cblas_dgemm(o, wgi_op(bt), CblasTrans, k, m, n, alpha, b, ldb, c_b, ldc, 1, a_b,
                        lda);
        else if (a_b != NULL)
            cblas_dgemm(o, CblasNoTrans, wgi_op(!bt), m, k, n, alpha, c_b, ldc, b, ldb, 1, a_b,
                        lda);
        if (b_b != NULL && bt)
            cblas_dgemm(o, CblasTrans, wgi_op(at_), n, k, m, alpha, c_b, ldc, a, lda, 1, b_b,
                        ldb);
        else if (b_b != NULL)
            cblas_dgemm(o, wgi_op(!at_), CblasNoTrans, k, n, m, alpha, a, lda, c_b, ldc, 1, b_b,
                        ldb);
        const strides ra = at_ ? turned(sa) : sa, rb = bt ? turned(sb) : sb;
        for (int j = 0; alpha_b != NULL && j < n; j++)
            for (int i = 0; i < m; i++)
                *alpha_b +=
                    *in(c_b, of_c, i, j) * cblas_ddot(k, in(a, ra, i, 0), (int)ra.across,
                                                      in(b, rb, 0, j), (int)rb.down);
    }
    back_of_old(m, n, beta, beta_b, c, c_b, of_c, all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dsymm(int order, int side, int uplo, int m, int n, double alpha,
                       double *alpha_b, const double *a, double *a_b, int lda, const double *b,
                       double *b_b, int ldb, double beta, double *beta_b, const double *c,
                       double *c_b, int ldc) {
    const CBLAS_ORDER o = order_of(order);
    const int left = flag(side) == 'L', k = left ? m : n, lines = left ? n : m;
    const part p = triangle_of(uplo, 'N');
    const strides sa = strides_of(order, lda), sb = strides_of(order, ldb),
                  sc = strides_of(order, ldc);
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_flag(side, "LR"));
    CHECK(check_flag(uplo, "LU"));
    CHECK(check_ld(order, k, k, lda));
    CHECK(check_ld(order, m, n, ldb));
    CHECK(check_ld(order, m, n, ldc));
    CHECK(check_array(1, c_b));
    CHECK(check_array(b_b != NULL || alpha_b != NULL, a));
    CHECK(check_array(a_b != NULL || alpha_b != NULL, b));
    CHECK(check_array(beta_b != NULL, c));
    if (a_b != NULL) {
        cblas_dsyr2k(o, uplo_of(uplo), wgi_op(!left), k, lines, alpha, c_b, ldc, b, ldb, 1, a_b,
                     lda);
        const strides x = left ? sc : turned(sc), y = left ? sb : turned(sb);
        for (int i = 0; i < k; i++) /* which has the diagonal twice */
            *at(a_b, sa, i, i) -= alpha * cblas_ddot(lines, in(c_b, x, i, 0), (int)x.across,
                                                     in(b, y, i, 0), (int)y.across);
    }
    if (b_b != NULL)
        cblas_dsymm(o, left ? CblasLeft : CblasRight, uplo_of(uplo), m, n, alpha, a, lda, c_b,
                    ldc, 1, b_b, ldb);
    for (int l = 0; alpha_b != NULL && l < lines; l++) /* line by line */
        *alpha_b += symmetric_dot(k, left ? in(b, sb, 0, l) : in(b, sb, l, 0),
                                  (int)(left ? sb.down : sb.across),
                                  left ? in(c_b, sc, 0, l) : in(c_b, sc, l, 0),
                                  (int)(left ? sc.down : sc.across), a, sa, p);
    back_of_old(m, n, beta, beta_b, c, c_b, sc, all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dsyrk(int order, int uplo, int trans, int n, int k, double alpha,
                       double *alpha_b, const double *a, double *a_b, int lda, double beta,
                       double *beta_b, const double *c, double *c_b, int ldc) {
    const CBLAS_ORDER o = order_of(order);
    const int turns = is_turned(trans);
    const part p = triangle_of(uplo, 'N');
    const strides sc = strides_of(order, ldc);
    if (n <= 0) return WG_OK;
    CHECK(check_order(order));
    CHECK(check_flag(uplo, "LU"));
    CHECK(check_flag(trans, "NT"));
    CHECK(check_ld(order, n, n, ldc));
    CHECK(check_array(1, c_b));
    CHECK(check_array(beta_b != NULL, c));
    if (k > 0) {
        CHECK(check_ld(order, turns ? k : n, turns ? n : k, lda));
        CHECK(check_array(a_b != NULL || alpha_b != NULL, a));
        const strides sa = strides_of(order, lda), row = turns ? turned(sa) : sa;
        if (a_b != NULL) {
            if (turns)
                cblas_dsymm(o, CblasRight, uplo_of(uplo), k, n, alpha, c_b, ldc, a, lda, 1, a_b,
                            lda);
            else
                cblas_dsymm(o, CblasLeft, uplo_of(uplo), n, k, alpha, c_b, ldc, a, lda, 1, a_b,
                            lda);
            for (int i = 0; i < n; i++) /* w + w' has the diagonal twice */
                cblas_daxpy(k, alpha * *in(c_b, sc, i, i), in(a, row, i, 0), (int)row.across,
                            at(a_b, row, i, 0), (int)row.across);
        }
        for (int j = 0; alpha_b != NULL && j < n; j++) {
            int i, end;
            for (read_rows(p, n, j, &i, &end); i < end; i++)
                *alpha_b +=
                    *in(c_b, sc, i, j) * cblas_ddot(k, in(a, row, i, 0), (int)row.across,
                                                    in(a, row, j, 0), (int)row.across);
        }
    }
    back_of_old(n, n, beta, beta_b, c, c_b, sc, p);
    return WG_OK;
}

/* T_ += f op(X) op(Y) in its triangle, op(X) n-by-k. Row after row they are transposes. */
static void triangle_product(int order, part p, int n, int k, double f, int tx, const double *x,
                             int ldx, int ty, const double *y, int ldy, double *a_b, int lda) {
    double work[WGI_TRIANGLE];
    const size_t rows = (size_t)n, inner = (size_t)k, la = (size_t)lda;
    const char px = tx ? 'T' : 'N', py = ty ? 'T' : 'N';
    if (is_row_major(order))
        wgi_gemm_triangle(p.uplo == 'L' ? 'U' : 'L', p.unit, rows, inner, f, py, y, (size_t)ldy,
                          px, x, (size_t)ldx, a_b, la, work);
    else
        wgi_gemm_triangle(p.uplo, p.unit, rows, inner, f, px, x, (size_t)ldx, py, y,
                          (size_t)ldy, a_b, la, work);
}

/* Where op(T) has to do with B, m-by-n, whose line is multiplied on the left or right: T_ +=
 * f v u' of all lines, or its transpose. */
static void triangle_lines(int order, int left, int turned, part p, int m, int n, double f,
                           const double *v, int ldv, const double *u, int ldu, double *a_b,
                           int lda) {
    const int k = left ? m : n, lines = left ? n : m;
    if (left && !turned)
        triangle_product(order, p, k, lines, f, 0, v, ldv, 1, u, ldu, a_b, lda);
    else if (left) triangle_product(order, p, k, lines, f, 0, u, ldu, 1, v, ldv, a_b, lda);
    else if (!turned) triangle_product(order, p, k, lines, f, 1, u, ldu, 0, v, ldv, a_b, lda);
    else triangle_product(order, p, k, lines, f, 1, v, ldv, 0, u, ldu, a_b, lda);
}

static wg_status check_both(int order, int side, int uplo, int trans, int diag, int m, int n,
                            const double *a, int lda, const double *b_b, int ldb) {
    const int k = flag(side) == 'L' ? m : n;
    CHECK(check_flag(side, "LR"));
    CHECK(check_triangle(order, uplo, trans, diag, k, a, lda));
    CHECK(check_ld(order, m, n, ldb));
    return check_array(1, b_b);
}

wg_status wg_vjp_dtrmm(int order, int side, int uplo, int trans, int diag, int m, int n,
                       double alpha, double *alpha_b, const double *a, double *a_b, int lda,
                       const double *b, double *b_b, int ldb) {
    const int left = flag(side) == 'L', turns = is_turned(trans);
    const strides s = strides_of(order, ldb);
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_both(order, side, uplo, trans, diag, m, n, a, lda, b_b, ldb));
    CHECK(check_array(a_b != NULL || alpha_b != NULL, b));
    if (a_b != NULL)
        triangle_lines(order, left, turns, triangle_of(uplo, diag), m, n, alpha, b_b, ldb, b,
                       ldb, a_b, lda);
    cblas_dtrmm(order_of(order), left ? CblasLeft : CblasRight, uplo_of(uplo), wgi_op(!turns),
                diag_of(diag), m, n, 1, a, lda, b_b, ldb);
    back_of_old(m, n, alpha, alpha_b, b, b_b, s, all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dtrsm(int order, int side, int uplo, int trans, int diag, int m, int n,
                       double alpha, double *alpha_b, const double *a, double *a_b, int lda,
                       const double *b, double *b_b, int ldb) {
    const int left = flag(side) == 'L', turns = is_turned(trans);
    const strides s = strides_of(order, ldb);
    const part p = triangle_of(uplo, diag);
    if (m <= 0 || n <= 0) return WG_OK;
    CHECK(check_both(order, side, uplo, trans, diag, m, n, a, lda, b_b, ldb));
    CHECK(check_array(a_b != NULL || alpha_b != NULL, b));
    if (is_singular(left ? m : n, a, strides_of(order, lda), p)) return WG_ESINGULAR;
    if (alpha_b != NULL) *alpha_b += dot_of(m, n, b, s, b_b, s, all_of_it) / alpha;
    cblas_dtrsm(order_of(order), left ? CblasLeft : CblasRight, uplo_of(uplo), wgi_op(!turns),
                diag_of(diag), m, n, 1, a, lda, b_b, ldb);
    if (a_b != NULL)
        triangle_lines(order, left, turns, p, m, n, -1, b_b, ldb, b, ldb, a_b, lda);
    scale(m, n, alpha, b_b, s, all_of_it);
    return WG_OK;
}
