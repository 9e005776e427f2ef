/* SPDX-License-Identifier: MIT */
/* Factors as results: P A = L U, A P = Q R, polar decomposition.
 *
 * Letters: n order or columns, a bar for adjoints, a dot for tangents, tril and triu triangles.
 *
 *     P A = L U:  T = L^-1 P A. U^-1,  L. = L tril(T, -1),  U. = triu(T) U
 *                 A_ += P' L^-T (tril(L'L_, -1) + triu(U_ U')) U^-T
 *     A P = Q R:  columns are moved to the order that dgeqp3 finds, and factored by wg_qr
 *     A = U H, U'U = I, H symmetric: A = W S V', U = W V', H = V S V',
 *                 X = V'U'A.V,  U. = U V Y V' + (I - U U') A. H^-1,  H. = V Z V',
 *                 Y_ij = (X_ij - X_ji)/(s_i + s_j),  Z_ij = (s_i X_ij + s_j X_ji)/(s_i + s_j)
 *                 A_ += U V X_ V' + (I - U U') U_ H^-1, with K = V'U'U_V, G = V'H_V:
 *                 X__ij = ((K_ij - K_ji) + s_i (G_ij + G_ji))/(s_i + s_j)
 *   Sums of singular values, no differences: repeated ones do no harm.
 *
 * Permutations are those of the point, and have no derivative: where another one would be
 * chosen the factors jump.
 * Sources: de Hoog, Anderssen and Lukas 2011 (LU); Walter and Lehmann 2010 (QR); Higham 2008,
 * Functions of Matrices, chapter 8, and Kenney and Laub 1991 (polar). */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/scalar.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include "dense.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* c = alpha op(a) op(b) + beta c; packed but for a and b. */
static void gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a,
                 size_t lda, const double *b, size_t ldb, double beta, double *c) {
    cblas_dgemm(CblasColMajor, wgi_op(ta), wgi_op(tb), wgi_int(m), wgi_int(n), wgi_int(k),
                alpha, a, wgi_int(lda), b, wgi_int(ldb), beta, c, wgi_int(m));
}

static wg_status finite_operand(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (wgi_spectral_finite(a->rows, a->cols, a->value, a->ld)) return WG_OK;
    return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
}

/* The permutation that a block has found, as indices from 0; `count` of them. */
static void indices(size_t count, const double *found, size_t *index) {
    for (size_t i = 0; index != NULL && i < count; i++)
        index[i] = found != NULL ? (size_t)found[i] : SIZE_MAX;
}

/* ---- P A = L U; results L, U and, for each row, the one of A that it was ---- */

static wg_status lu_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) return wgi_block_refuse(b, WG_ESHAPE, "the matrix is not square");
    for (size_t k = 0; k < 3; k++) b->out[k].rows = n, b->out[k].cols = k < 2 ? n : 1;
    b->work_bytes = larger(2 * wgi_room_of(n * n), wgi_rounded(n * sizeof(int)));
    return WG_OK;
}

static wg_status lu_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const l = b->out[0].value, *const u = b->out[1].value,
                  *const order = b->out[2].value;
    int *const pivot = b->work;
    const wg_status s = finite_operand(b);
    if (s != WG_OK || n == 0) return s;
    wgi_copy(n, n, b->in[0].value, b->in[0].ld, u, n);
    (void)LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, wgi_int(n), wgi_int(n), u, wgi_int(n), pivot);
    memset(l, 0, n * n * sizeof *l);
    for (size_t j = 0; j < n; j++) {
        l[j * (n + 1)] = 1, order[j] = (double)j;
        for (size_t i = j + 1; i < n; i++) l[i + j * n] = u[i + j * n], u[i + j * n] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t with = (size_t)pivot[i] - 1;
        const double row = order[i];
        order[i] = order[with], order[with] = row;
    }
    return WG_OK;
}

static wg_status lu_degenerate(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const u = b->out[1].value;
    const double least = (double)n * DBL_EPSILON * wgi_spectral_largest(n * n, u);
    for (size_t i = 0; i < n; i++)
        if (fabs(u[i * (n + 1)]) <= least)
            return wgi_block_refuse(b, WG_EDEGENERATE,
                                    "the matrix is singular: L and U have no derivative");
    return WG_OK;
}

static void triangles(size_t n, const double *l, const double *u, int trans, double *x) {
    const int m = wgi_int(n);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, wgi_op(trans), CblasUnit, m, m, 1, l, m,
                x, m);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, wgi_op(trans), CblasNonUnit, m, m, 1, u,
                m, x, m);
}

static wg_status lu_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const l = b->out[0].value, *const u = b->out[1].value,
                        *const order = b->out[2].value;
    double *const x = b->work, *const y = x + wgi_room_of(n * n) / sizeof *x;
    if (n == 0 || b->in[0].bar == NULL) return WG_OK;
    if (wgi_spectral_zero(n, n, b->out[0].bar, n) && wgi_spectral_zero(n, n, b->out[1].bar, n))
        return WG_OK;
    const wg_status s = lu_degenerate(b);
    if (s != WG_OK) return s;
    gemm(1, 0, n, n, n, 1, l, n, b->out[0].bar, b->out[0].bar_ld, 0, x);
    gemm(0, 1, n, n, n, 1, b->out[1].bar, b->out[1].bar_ld, u, n, 0, y);
    for (size_t j = 0; j < n; j++) memcpy(x + j * n, y + j * n, (j + 1) * sizeof *x);
    triangles(n, l, u, 1, x);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            b->in[0].bar[(size_t)order[i] + j * b->in[0].bar_ld] += x[i + j * n];
    return WG_OK;
}

static wg_status lu_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const int m = wgi_int(n);
    const double *const l = b->out[0].value, *const u = b->out[1].value,
                        *const order = b->out[2].value;
    double *const lt = b->out[0].bar, *const ut = b->out[1].bar, *const x = b->work;
    for (size_t k = 0; k < 3; k++)
        memset(b->out[k].bar, 0, n * b->out[k].cols * sizeof(double));
    if (n == 0 || b->in[0].bar == NULL ||
        wgi_spectral_zero(n, n, b->in[0].bar, b->in[0].bar_ld))
        return WG_OK;
    const wg_status s = lu_degenerate(b);
    if (s != WG_OK) return s;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            x[i + j * n] = b->in[0].bar[(size_t)order[i] + j * b->in[0].bar_ld];
    triangles(n, l, u, 0, x);
    for (size_t j = 0; j < n; j++) {
        memcpy(ut + j * n, x + j * n, (j + 1) * sizeof *x);
        memcpy(lt + j * n + j + 1, x + j * n + j + 1, (n - j - 1) * sizeof *x);
    }
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, m, m, 1, l, m,
                lt, m);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, m, m, 1, u,
                m, ut, m);
    return WG_OK;
}

static wg_status lu_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const size_t n = in[0].rows;
    const wg_mat l = out[0], u = out[1];
    if (n == 0 || (wgi_spectral_untouched(t, bar[0]) && wgi_spectral_untouched(t, bar[1])))
        return WG_OK;
    const wg_status s = lu_degenerate(b);
    if (s != WG_OK) return s;
    size_t *const back_to = wg_tape_keep(t, n * sizeof *back_to, NULL);
    if (back_to == NULL) return wg_tape_status(t);
    for (size_t i = 0; i < n; i++) back_to[(size_t)out[2].value[i]] = i;
    const wg_mat low = wg_tril(t, wg_gemm(t, 'T', 'N', 1, l, bar[0], 0, l), -1);
    const wg_mat high = wg_triu(t, wg_gemm(t, 'N', 'T', 1, bar[1], u, 0, u), 0);
    const wg_mat x = wg_trsm(t, 'L', 'L', 'T', 'U', 1, l, wg_mat_add(t, low, high));
    back[0] = wg_take_rows(t, wg_trsm(t, 'R', 'U', 'T', 'N', 1, u, x), n, back_to);
    return wg_tape_status(t);
}

/* In functions derivatives are NaN where tapes refuse them: x, or NaN unless the least is more
 * than `share` of the most. */
static wg_mat where_more(wg_tape *t, wg_real least, wg_real most, double share, wg_mat x) {
    const wg_real good =
        wg_let(t, wg_select_gt(least, wg_mul(share, most), 1, NAN)); /* without derivative */
    return wg_mat_mul(t, wg_mat_from_real(t, good), x);
}

/* P with a one at (i, order[i]): at every point its own, and without derivative. */
static wg_mat order_matrix(wg_tape *t, wg_mat order) {
    const size_t n = order.rows;
    double *const number = wg_tape_keep(t, n * sizeof *number, NULL);
    for (size_t i = 0; number != NULL && i < n; i++) number[i] = (double)i;
    return (wg_mat_select_eq)(t, order, wg_mat_constant_borrowed(t, 1, n, number, 1),
                              wg_mat_fill(t, 1, 1, 1), wg_mat_fill(t, 1, 1, 0));
}

/* In functions the order is one of the results. */
static wg_status lu_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    const wg_mat l = out[0], u = out[1];
    (void)b, (void)in;
    if (l.rows == 0) return WG_OK;
    const wg_mat low = wg_tril(t, wg_gemm(t, 'T', 'N', 1, l, bar[0], 0, l), -1);
    const wg_mat high = wg_triu(t, wg_gemm(t, 'N', 'T', 1, bar[1], u, 0, u), 0);
    const wg_mat x = wg_trsm(t, 'L', 'L', 'T', 'U', 1, l, wg_mat_add(t, low, high));
    const wg_mat y = wg_gemm(t, 'T', 'N', 1, order_matrix(t, out[2]),
                             wg_trsm(t, 'R', 'U', 'T', 'N', 1, u, x), 0, l);
    back[0] = where_more(t, wg_mat_min(t, wg_mat_fabs(t, wg_mat_diagonal(u))),
                         wg_mat_max(t, wg_mat_fabs(t, u)), (double)u.rows * DBL_EPSILON, y);
    return wg_tape_status(t);
}

static const wgi_traits of_lu = {.whole = &wgi_whole_lu_factors};
const wg_block_op wgi_op_lu_factors = {"wg_lu_factors", 0,    lu_shape,   lu_value, lu_vjp,
                                       lu_jvp,          NULL, lu_adjoint, &of_lu};
const wgi_whole wgi_whole_lu_factors = {
    &wgi_op_lu_factors, "nn", "nnnnn1", lu_rule, NULL, 0, 0, 1};
/* Whose user has the order as numbers of this point: no part of functions. */
static const wg_block_op lu_in_order = {"wg_lu_factors", 0,    lu_shape,   lu_value, lu_vjp,
                                        lu_jvp,          NULL, lu_adjoint, NULL};

wg_status wg_lu_factors(wg_tape *t, wg_mat a, wg_mat *l, wg_mat *u, size_t *perm) {
    wg_mat out[3];
    const wg_status s =
        wg_apply(t, perm != NULL ? &lu_in_order : &wgi_op_lu_factors, NULL, 0, 1, &a, 3, out);
    if (l != NULL) *l = out[0];
    if (u != NULL) *u = out[1];
    if (a.rows == a.cols) indices(a.rows, out[2].value, perm);
    return s;
}

/* ---- A P = Q R; results here: A P and, for each column, the one of A that it was ---- */

static size_t dgeqp3_doubles(size_t n) { return 34 * (n + 1); }

static wg_status order_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    b->out[0].rows = m, b->out[0].cols = n;
    b->out[1].rows = n, b->out[1].cols = 1;
    b->work_bytes = wgi_room_of(m * n) + wgi_room_of(p) + wgi_room_of(dgeqp3_doubles(n)) +
                    wgi_rounded(n * sizeof(int));
    if (dgeqp3_doubles(n) <= INT_MAX) return WG_OK;
    return wgi_block_refuse(b, WG_ESHAPE,
                            "more columns than LAPACK can be told the workspace of");
}

/* Column j of x P, in x. */
static double *column_of(const wg_block *b, double *x, size_t ld, size_t j) {
    return x + (size_t)b->out[1].value[j] * ld;
}

static wg_status order_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    char *work = b->work;
    double *const a = wgi_take(&work, m * n), *const tau = wgi_take(&work, p),
                  *const more = wgi_take(&work, dgeqp3_doubles(n));
    int *const order = wgi_take_int(&work, n);
    const wg_status s = finite_operand(b);
    if (s != WG_OK) return s;
    for (size_t j = 0; j < n; j++) order[j] = p == 0 ? wgi_int(j + 1) : 0;
    if (p != 0) {
        wgi_copy(m, n, b->in[0].value, b->in[0].ld, a, m);
        (void)LAPACKE_dgeqp3_work(LAPACK_COL_MAJOR, wgi_int(m), wgi_int(n), a, wgi_int(m),
                                  order, tau, more, wgi_int(dgeqp3_doubles(n)));
    }
    for (size_t j = 0; j < n; j++) b->out[1].value[j] = (double)(order[j] - 1);
    for (size_t j = 0; m != 0 && j < n; j++)
        memcpy(b->out[0].value + j * m, column_of(b, b->in[0].value, b->in[0].ld, j),
               m * sizeof *a);
    return WG_OK;
}

static wg_status order_vjp(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    for (size_t j = 0; b->in[0].bar != NULL && j < n; j++) {
        double *const to = column_of(b, b->in[0].bar, b->in[0].bar_ld, j);
        for (size_t i = 0; i < m; i++) to[i] += b->out[0].bar[i + j * m];
    }
    return WG_OK;
}

static wg_status order_jvp(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    for (size_t j = 0; j < n; j++) {
        b->out[1].bar[j] = 0;
        for (size_t i = 0; i < m; i++)
            b->out[0].bar[i + j * m] =
                b->in[0].bar != NULL ? column_of(b, b->in[0].bar, b->in[0].bar_ld, j)[i] : 0;
    }
    return WG_OK;
}

static wg_status order_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const size_t n = in[0].cols;
    (void)b;
    if (n == 0) return WG_OK;
    size_t *const back_to = wg_tape_keep(t, n * sizeof *back_to, NULL);
    if (back_to == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < n; j++) back_to[(size_t)out[1].value[j]] = j;
    back[0] = wg_take_cols(t, bar[0], n, back_to);
    return wg_tape_status(t);
}

static wg_status order_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    (void)b, (void)in;
    if (out[0].rows != 0 && out[0].cols != 0)
        back[0] = wg_matmul(t, bar[0], order_matrix(t, out[1]));
    return wg_tape_status(t);
}

static const wgi_traits of_order = {.whole = &wgi_whole_qr_pivoted};
const wg_block_op wgi_op_qr_pivoted = {"wg_qr_pivoted", 0,         order_shape, order_value,
                                       order_vjp,       order_jvp, NULL,        order_adjoint,
                                       &of_order};
const wgi_whole wgi_whole_qr_pivoted = {
    &wgi_op_qr_pivoted, "mn", "mnn1", order_rule, NULL, 0, 0, 4};
static const wg_block_op qr_in_order = {
    "wg_qr_pivoted", 0,    order_shape,   order_value, order_vjp,
    order_jvp,       NULL, order_adjoint, NULL};

wg_status wg_qr_pivoted(wg_tape *t, wg_mat a, wg_mat *q, wg_mat *r, size_t *perm) {
    const size_t p = smaller(a.rows, a.cols);
    wg_mat moved[2], both[2] = {wg_mat_failed(a.rows, p), wg_mat_failed(p, a.cols)};
    wg_status s =
        wg_apply(t, perm != NULL ? &qr_in_order : &wgi_op_qr_pivoted, NULL, 0, 1, &a, 2, moved);
    if (s == WG_OK) s = wg_qr(t, moved[0], &both[0], &both[1]);
    if (q != NULL) *q = both[0];
    if (r != NULL) *r = both[1];
    indices(a.cols, s == WG_OK ? moved[1].value : NULL, perm);
    return s;
}

/* ---- polar decomposition ---- */

/* saved: V', s. */
typedef struct polar {
    size_t m, n;
    const double *u, *h, *vt, *s;
} polar;

static polar polar_of(const wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    const double *const vt = b->saved;
    return (polar){m, n, b->out[0].value, b->out[1].value, vt, vt + n * n};
}

/* Of dgesdd with jobz 'S'. */
static size_t svd_doubles(size_t m, size_t n) { return 4 * n * n + 199 * n + m + 4224; }

static wg_status polar_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    if (m < n)
        return wgi_block_refuse(
            b, WG_ESHAPE, "more columns than rows: the transpose has a polar decomposition");
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    b->out[0].rows = m, b->out[0].cols = b->out[1].rows = b->out[1].cols = n;
    b->saved_bytes = (n * n + n) * sizeof(double);
    b->work_bytes =
        larger((2 * m * n + svd_doubles(m, n)) * sizeof(double) + 8 * n * sizeof(lapack_int),
               (3 * m * n + 2 * n * n) * sizeof(double));
    return WG_OK;
}

static wg_status polar_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, doubles = svd_doubles(m, n);
    double *const vt = b->saved, *const s = vt + n * n, *const h = b->out[1].value;
    double *const a = b->work, *const w = a + m * n, *const work = w + m * n;
    if (n == 0) return WG_OK;
    const wg_status status = finite_operand(b);
    if (status != WG_OK) return status;
    wgi_copy(m, n, b->in[0].value, b->in[0].ld, a, m);
    b->info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', wgi_int(m), wgi_int(n), a, wgi_int(m),
                                  s, w, wgi_int(m), vt, wgi_int(n), work,
                                  wgi_int(smaller(doubles, 0x7fffffff)),
                                  (lapack_int *)(work + doubles));
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    gemm(0, 0, m, n, n, 1, w, m, vt, n, 0, b->out[0].value);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = s[i] * vt[i + j * n];
    gemm(1, 0, n, n, n, 1, vt, n, a, n, 0, h);
    (void)wgi_spectral_symmetric(n, h, n, h);
    return WG_OK;
}

static wg_status polar_degenerate(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EDEGENERATE,
        "the matrix has not full rank: its polar decomposition has no derivative");
}
/* Singular values up to this are 0. */
static double least_of(const polar *p) { return (double)p->m * DBL_EPSILON * p->s[0]; }

/* y = (I - U U') x H^-1, x m-by-n; room of m n and n^2. */
static void across(const polar *p, const double *x, double *y, double *room) {
    const size_t m = p->m, n = p->n;
    double *const small = room + m * n;
    gemm(1, 0, n, n, m, 1, p->u, m, x, m, 0, small);
    memcpy(room, x, m * n * sizeof *x);
    gemm(0, 0, m, n, n, -1, p->u, m, small, n, 1, room);
    gemm(0, 1, m, n, n, 1, room, m, p->vt, n, 0, y);
    for (size_t j = 0; j < n; j++) cblas_dscal(wgi_int(m), 1 / p->s[j], y + j * m, 1);
    gemm(0, 0, m, n, n, 1, y, m, p->vt, n, 0, room);
    memcpy(y, room, m * n * sizeof *y);
}

/* k = V k V', or V'k V, n-by-n; room of n^2. */
static void turn(const polar *p, int into, double *k, double *room) {
    const size_t n = p->n;
    gemm(0, into, n, n, n, 1, k, n, p->vt, n, 0, room);
    gemm(!into, 0, n, n, n, 1, p->vt, n, room, n, 0, k);
}

static wg_status polar_vjp(wg_block *b) {
    const polar p = polar_of(b);
    const size_t m = p.m, n = p.n;
    double *const k = b->work, *const g = k + n * n, *const y = g + n * n,
                  *const room = y + m * n;
    const double *const ub = b->out[0].bar, *const hb = b->out[1].bar;
    if (n == 0 || b->in[0].bar == NULL) return WG_OK;
    if (p.s[n - 1] <= least_of(&p)) return polar_degenerate(b);
    gemm(1, 0, n, n, m, 1, p.u, m, ub, m, 0, k);
    turn(&p, 1, k, room);
    memcpy(g, hb, n * n * sizeof *g);
    turn(&p, 1, g, room);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            const double skew = k[i + j * n] - k[j + i * n], sum = g[i + j * n] + g[j + i * n];
            const double over = 1 / (p.s[i] + p.s[j]);
            k[i + j * n] = skew * over + p.s[i] * over * sum;
            k[j + i * n] = -skew * over + p.s[j] * over * sum;
        }
    turn(&p, 0, k, room);
    gemm(0, 0, m, n, n, 1, p.u, m, k, n, 0, y);
    wgi_add(m, n, 1, y, wgi_bar_of(&b->in[0], n, 0));
    if (m == n || wgi_spectral_zero(m, n, ub, m)) return WG_OK;
    across(&p, ub, y, room);
    wgi_add(m, n, 1, y, wgi_bar_of(&b->in[0], n, 0));
    return WG_OK;
}

static wg_status polar_jvp(wg_block *b) {
    const polar p = polar_of(b);
    const size_t m = p.m, n = p.n;
    double *const x = b->work, *const y = x + n * n, *const at = y + n * n,
                  *const room = at + m * n;
    double *const ut = b->out[0].bar, *const ht = b->out[1].bar;
    for (size_t k = 0; k < 2; k++)
        memset(b->out[k].bar, 0, b->out[k].rows * n * sizeof(double));
    if (n == 0 || b->in[0].bar == NULL ||
        wgi_spectral_zero(m, n, b->in[0].bar, b->in[0].bar_ld))
        return WG_OK;
    if (p.s[n - 1] <= least_of(&p)) return polar_degenerate(b);
    wgi_copy(m, n, b->in[0].bar, b->in[0].bar_ld, at, m);
    gemm(1, 0, n, n, m, 1, p.u, m, at, m, 0, x);
    turn(&p, 1, x, room);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            const double over = 1 / (p.s[i] + p.s[j]), here = x[i + j * n],
                         there = x[j + i * n];
            y[i + j * n] = (here - there) * over;
            ht[i + j * n] = p.s[i] * over * here + p.s[j] * over * there;
        }
    turn(&p, 0, ht, room);
    turn(&p, 0, y, room);
    if (m != n) across(&p, at, ut, room);
    gemm(0, 0, m, n, n, 1, p.u, m, y, n, m != n ? 1 : 0, ut);
    return WG_OK;
}

/* The formula at the head with H in place of its eigenvalues: H Y + Y H = C has Y_ij = C_ij
 * over s_i + s_j in the basis V. H over its unit is about 1, and so are the solutions. */
static wg_status polar_back(wg_tape *t, wg_mat unit, const wg_mat *out, const wg_mat *bar,
                            wg_mat *back) {
    const wg_mat u = out[0], h = out[1], one = wg_mat_div(t, h, unit);
    const size_t m = u.rows, n = u.cols;
    wg_mat x = wg_mat_fill(t, n, n, 0), more = wg_mat_failed(0, 0);
    if (!wgi_spectral_untouched(t, bar[0])) {
        const wg_mat k = wg_gemm(t, 'T', 'N', 1, u, bar[0], 0, h);
        const wg_mat y = wg_sylvester(t, one, one, wg_mat_sub(t, k, wg_mat_transpose(k)));
        x = wg_mat_div(t, y, unit);
        if (m != n) {
            const wg_mat rest = wg_gemm(t, 'N', 'N', -1, u, k, 1, bar[0]);
            more = wg_mat_transpose(wg_solve_symmetric(t, h, wg_mat_transpose(rest)));
        }
    }
    if (!wgi_spectral_untouched(t, bar[1])) {
        const wg_mat both = wg_mat_add(t, bar[1], wg_mat_transpose(bar[1]));
        x = wg_gemm(t, 'N', 'N', 1, one, wg_sylvester(t, one, one, both), 1, x);
    }
    back[0] = wg_matmul(t, u, x);
    if (more.value != NULL) back[0] = wg_mat_add(t, back[0], more);
    return wg_tape_status(t);
}

static wg_status polar_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const polar p = polar_of(b);
    (void)in;
    if (p.n == 0) return WG_OK;
    if (p.s[p.n - 1] <= least_of(&p)) return polar_degenerate(b);
    return polar_back(t, wg_mat_fill(t, 1, 1, ldexp(1, ilogb(p.s[0]))), out, bar, back);
}

/* In functions no number of the point is there. */
static wg_status polar_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const size_t m = out[0].rows;
    (void)b, (void)in;
    if (out[1].rows == 0) return WG_OK;
    const wg_mat unit = wgi_spectral_unit(t, wg_mat_fabs(t, out[1]));
    const wg_status s = polar_back(t, unit, out, bar, back);
    if (s != WG_OK) return s;
    const wg_mat w = wg_eigvalsh(t, out[1]);
    back[0] =
        where_more(t, wg_mat_min(t, w), wg_mat_max(t, w), (double)m * DBL_EPSILON, back[0]);
    return wg_tape_status(t);
}

static const wgi_traits of_polar = {.whole = &wgi_whole_polar};
const wg_block_op wgi_op_polar = {"wg_polar", 0,    polar_shape,   polar_value, polar_vjp,
                                  polar_jvp,  NULL, polar_adjoint, &of_polar};
const wgi_whole wgi_whole_polar = {&wgi_op_polar, "mn", "mnnn", polar_rule, NULL, 0, 0, 40};

wg_status wg_polar(wg_tape *t, wg_mat a, wg_mat *u, wg_mat *h) {
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_polar, NULL, 0, 1, &a, 2, out);
    if (u != NULL) *u = out[0];
    if (h != NULL) *h = out[1];
    return s;
}
