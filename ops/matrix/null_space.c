/* SPDX-License-Identifier: MIT */
/* Null spaces.
 *
 * Letters: A = U diag(s) V' of rank r, N the columns of V from r on, n - r of them, A^+ the
 * pseudo-inverse, a bar for adjoints, a dot for tangents.
 *
 *     A N = 0, N'N = I:  N. = -A^+ A. N,  A_ -= A^+' N_ N'
 *
 * with N moving across itself only, which is right for what depends on the space alone;
 * adjoints that depend on the basis have a skew part in N'N_. Source: Golub and Pereyra 1973.
 * In functions, of full rank:  [A' N] Z = N_,  A_ -= Z1 N',  Z1 the first m rows of Z. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include "blas.h"
#include "point.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* params: what counts as 0, and, once it is known, the rank. */
struct space {
    double rcond;
    size_t rank;
};
/* A = U diag(s) V', U and s thin, V n-by-n. */
struct svd {
    double *v, *u, *s;
};
static size_t svd_doubles(size_t m, size_t n) {
    const size_t p = smaller(m, n);
    return n * n + m * p + p;
}
static struct svd svd_at(size_t m, size_t n, double *at) {
    return (struct svd){at, at + n * n, at + n * n + m * smaller(m, n)};
}

/* Of dgesdd, whatever the shape. */
static size_t lapack_svd_doubles(size_t m, size_t n) {
    const size_t p = smaller(m, n);
    return smaller(4 * p * p + 199 * n + m + 4224, 0x7fffffff);
}
static size_t decompose_bytes(size_t m, size_t n) {
    return (m * n + n * n + lapack_svd_doubles(m, n)) * sizeof(double) +
           8 * smaller(m, n) * sizeof(lapack_int);
}

/* The decomposition of the operand, and its rank. Params begin with rcond. Room:
 * decompose_bytes. */
static wg_status decompose(wg_block *b, struct svd d, double *room, size_t *rank) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n),
                 doubles = lapack_svd_doubles(m, n);
    const double given = *(const double *)b->params;
    const double rcond = given < 0 ? (double)larger(m, n) * DBL_EPSILON : given;
    double *const a = room, *const vt = a + m * n, *const work = vt + n * n;
    if (!wgi_spectral_finite(m, n, b->in[0].value, b->in[0].ld))
        return wgi_spectral_not_finite(b);
    memset(vt, 0, n * n * sizeof *vt);
    for (size_t i = 0; i < n; i++) vt[i * (n + 1)] = 1;
    if (p != 0) {
        wgi_spectral_copy(m, n, b->in[0].value, b->in[0].ld, a);
        b->info =
            LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, m < n ? 'A' : 'S', wgi_int(m), wgi_int(n), a,
                                wgi_int(m), d.s, d.u, wgi_int(m), vt, wgi_int(n), work,
                                wgi_int(doubles), (lapack_int *)(void *)(work + doubles));
    }
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) d.v[i + j * n] = vt[j + i * n];
    for (*rank = 0; *rank < p && d.s[*rank] > rcond * d.s[0];) ++*rank;
    return WG_OK;
}

/* The rank of the matrix at the point, which decides the size of the null space. */
static wg_status rank_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    if (isnan(((const struct space *)b->params)->rcond))
        return wgi_block_refuse(b, WG_EARG, "rcond is not a number");
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = svd_doubles(m, n) * sizeof(double) + decompose_bytes(m, n);
    return WG_OK;
}
static wg_status rank_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    size_t rank = 0;
    const wg_status s =
        decompose(b, svd_at(m, n, b->work), (double *)b->work + svd_doubles(m, n), &rank);
    b->out[0].value[0] = (double)rank;
    return s;
}
static wg_status nothing_back(wg_block *b) {
    (void)b;
    return WG_OK;
}

static wg_status null_shape(wg_block *b) {
    const size_t rank = ((const struct space *)b->params)->rank;
    const size_t m = b->in[0].rows, n = b->in[0].cols, k = n - rank;
    b->out[0].rows = n, b->out[0].cols = k;
    b->saved_bytes = svd_doubles(m, n) * sizeof(double);
    b->work_bytes =
        larger((larger(m, n) * k + n * k + k * k) * sizeof(double), decompose_bytes(m, n));
    return WG_OK;
}
static struct svd svd_of(const wg_block *b) {
    return svd_at(b->in[0].rows, b->in[0].cols, b->saved);
}
static wg_status null_value(wg_block *b) {
    const struct space *const p = b->params;
    const struct svd d = svd_of(b);
    const size_t n = b->in[0].cols, k = n - p->rank;
    size_t rank = 0;
    const wg_status s = decompose(b, d, b->work, &rank);
    if (s != WG_OK) return s;
    if (rank != p->rank) { /* in a replay */
        return wgi_block_refuse(
            b, WG_EGUARD,
            "the rank is not that of the recorded point, nor is the size of the space");
    }
    if (n * k != 0) memcpy(b->out[0].value, d.v + n * rank, n * k * sizeof(double));
    return WG_OK;
}

/* c = op(a) op(b), packed but for the last dimensions given. */
static void gemm(int ta, int tb, size_t m, size_t n, size_t k, const double *a, size_t lda,
                 const double *b, size_t ldb, double *c) {
    cblas_dgemm(CblasColMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
                wgi_int(m), wgi_int(n), wgi_int(k), 1, a, wgi_int(lda), b, wgi_int(ldb), 0, c,
                wgi_int(m));
}

/* Is N'N_, k-by-k, symmetric up to rounding? Then the adjoint is that of something that depends
 * on the space alone. */
static wg_status of_the_space(wg_block *b, const double *bar, double *room) {
    const size_t n = b->in[0].cols, k = b->out[0].cols;
    gemm(1, 0, k, k, n, b->out[0].value, n, bar, n, room);
    const double nothing =
        8 * (double)n * DBL_EPSILON *
        fmax(wgi_spectral_largest(k * k, room), wgi_spectral_largest(n * k, bar));
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < j; i++)
            if (fabs(room[i + j * k] - room[j + i * k]) > nothing)
                return wgi_block_refuse(
                    b, WG_EDEGENERATE,
                    "what depends on the choice of a basis of the null space has no derivative");
    return WG_OK;
}

static wg_status null_vjp(wg_block *b) {
    const struct svd d = svd_of(b);
    const size_t m = b->in[0].rows, n = b->in[0].cols,
                 r = ((const struct space *)b->params)->rank, k = n - r;
    double *const x = b->work, *const y = x + n * k, *const room = y + larger(m, n) * k;
    if (n * k == 0 || b->in[0].bar == NULL) return WG_OK;
    const wg_status s = of_the_space(b, b->out[0].bar, room);
    if (s != WG_OK || r == 0) return s;
    gemm(1, 0, r, k, n, d.v, n, b->out[0].bar, n, x);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < r; i++) x[i + j * r] /= d.s[i];
    gemm(0, 0, m, k, r, d.u, m, x, r, y);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, wgi_int(m), wgi_int(n), wgi_int(k), -1,
                y, wgi_int(m), b->out[0].value, wgi_int(n), 1, b->in[0].bar,
                wgi_int(b->in[0].bar_ld));
    return WG_OK;
}
static wg_status null_jvp(wg_block *b) {
    const struct svd d = svd_of(b);
    const size_t m = b->in[0].rows, n = b->in[0].cols,
                 r = ((const struct space *)b->params)->rank, k = n - r;
    double *const x = b->work, *const y = x + n * k;
    if (n * k == 0) return WG_OK;
    memset(b->out[0].bar, 0, n * k * sizeof(double));
    if (r == 0 || b->in[0].bar == NULL) return WG_OK;
    gemm(0, 0, m, k, n, b->in[0].bar, b->in[0].bar_ld, b->out[0].value, n, y);
    gemm(1, 0, r, k, m, d.u, m, y, m, x);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < r; i++) x[i + j * r] /= -d.s[i];
    gemm(0, 0, n, k, r, d.v, n, x, r, b->out[0].bar);
    return WG_OK;
}
static wg_status null_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const struct space *const p = b->params;
    const size_t n = in[0].cols, k = n - p->rank;
    if (n * k == 0 || p->rank == 0) return WG_OK;
    /* of c A, about 1: products of two such inverses stay within the range of numbers */
    const double c = ldexp(1, -ilogb(svd_of(b).s[0]));
    const wg_mat packed = wg_mat_copy(t, bar[0]),
                 inverse = wg_pinv(t, wg_mat_scale(t, c, in[0]), p->rcond);
    if (packed.value == NULL) return wg_tape_status(t);
    const wg_status s =
        of_the_space(b, packed.value, (double *)b->work + n * k + larger(in[0].rows, n) * k);
    if (s != WG_OK) return s;
    const wg_mat left = wg_gemm(t, 'T', 'N', 1, inverse, bar[0], 0, inverse);
    back[0] = wg_gemm(t, 'N', 'T', -c, left, out[0], 0, inverse);
    return wg_tape_status(t);
}

/* ---- in functions: of the size that was recorded; rcond is a number behind the
 * operand ---- */

static wg_status whole_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    if (b->out[0].rows != n || b->out[0].cols > n) return WG_ESHAPE;
    b->work_bytes = svd_doubles(m, n) * sizeof(double) + decompose_bytes(m, n);
    return WG_OK;
}
static wg_status whole_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, k = b->out[0].cols;
    const struct svd d = svd_at(m, n, b->work);
    size_t rank = 0;
    const wg_status s = decompose(b, d, (double *)b->work + svd_doubles(m, n), &rank);
    if (s != WG_OK) return s;
    if (rank != n - k)
        return wgi_block_refuse(b, WG_ESINGULAR,
                                "in functions there are derivatives where A has full rank");
    if (n * k != 0) memcpy(b->out[0].value, d.v + n * rank, n * k * sizeof(double));
    return WG_OK;
}

/* 1, or NaN where N'N_ is not symmetric: of_the_space. */
static wg_real good(wg_tape *t, size_t n, wg_mat k, wg_mat bar) {
    const wg_mat skew = wg_mat_sub(t, k, wg_mat_transpose(k));
    const wg_real apart = wg_mat_max(t, wg_mat_fabs(t, skew)),
                  most = wg_let(t, wg_fmax(wg_mat_max(t, wg_mat_fabs(t, k)),
                                           wg_mat_max(t, wg_mat_fabs(t, bar))));
    return wg_let(
        t, wg_select_le(apart, wg_mul(8 * (double)n * DBL_EPSILON, most), 1.0, (double)NAN));
}

/* Of full rank [A; N'] is square, and [A^+ N] its inverse: Z1 is A^+' N_. */
static wg_status whole_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const size_t m = in[0].rows, n = in[0].cols;
    const wg_mat both[2] = {wg_mat_transpose(in[0]), out[0]};
    (void)b;
    const wg_mat z = wg_solve(t, wg_concat_cols(t, 2, both), bar[0]);
    const wg_mat k = wg_gemm(t, 'T', 'N', 1, out[0], bar[0], 0, z);
    const wg_mat left =
        wg_mat_scale_real(t, good(t, n, k, bar[0]), wg_mat_block(z, 0, 0, m, out[0].cols));
    back[0] = wg_gemm(t, 'N', 'T', -1, left, out[0], 0, left);
    return wg_tape_status(t);
}

static const wg_block_op whole_op = {
    "wg_null_space", 0, whole_shape, whole_value, nothing_back, NULL, NULL, NULL, NULL};
const wgi_whole wgi_whole_null_space = {&whole_op, "mn", "nk", whole_rule, NULL, 0, 1, 20};

static const wgi_traits traits = {.whole = &wgi_whole_null_space};
const wg_block_op wgi_op_null_space = {"wg_null_space", 0,        null_shape, null_value,
                                       null_vjp,        null_jvp, NULL,       null_adjoint,
                                       &traits};

wg_mat wg_null_space(wg_tape *t, wg_mat a, double rcond) {
    static const wg_block_op op = {
        "wg_null_space", 0, rank_shape, rank_value, nothing_back, NULL, NULL, NULL, NULL};
    const wg_mat point = wgi_at_the_point(t, a);
    struct space p = {rcond, 0};
    wg_mat rank, y = wg_mat_failed(a.cols, a.cols > a.rows ? a.cols - a.rows : 0);
    if (wg_apply(t, &op, &p, sizeof p, 1, &point, 1, &rank) != WG_OK) return y;
    p.rank = (size_t)rank.value[0];
    return wgi_apply_one(t, &wgi_op_null_space, &p, sizeof p, 1, &a);
}
