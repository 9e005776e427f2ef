/* SPDX-License-Identifier: MIT */
/* The singular value decomposition.
 *
 * Letters: A m-by-n, k = min(m, n), A = U diag(s) V' thin, s descending, V kept as V' (h,
 * k-by-n, packed, as LAPACK gives it), a bar for adjoints, a dot for tangents.
 *
 *     K = U'U_ - U_'U, L = V'V_ - V_'V
 *     X_ij = ((K + L)_ij/(s_j - s_i) + (K - L)_ij/(s_j + s_i))/2
 *     A_ += U (diag(s_) + X) V' + (I - U U') U_ S^-1 V' + U S^-1 V_' (I - V V')
 *     P = U'A.V, s. = diag(P)
 *     Y_ij = ((P + P')_ij/(s_j - s_i) + (P - P')_ij/(s_j + s_i))/2, Z: - between the terms
 *     U. = U Y + (I - U U') A.V S^-1, V. = V Z + (I - V V') A.'U S^-1
 *
 * At most one of the last two terms of each is there. Sums and differences of singular values
 * are never products of both: nothing cancels. Source: Townsend 2016; Seeger et al. 2017. */
#include "svd.h"
#include "traits.h"
#include "whole.h"

#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/spectral.h>

#include <math.h>
#include <string.h>

/* Of dgesdd with jobz 'S': what it needs, in any version, and what lets it work in blocks.
 * (Where one side is much the longer, it takes a QR factorisation first.) */
static size_t doubles_of(size_t m, size_t n) {
    const size_t k = wgi_smaller(m, n);
    return 4 * k * k + 7 * k + wgi_larger(m, n) + 192 * k + 4224;
}

wgi_svd wgi_svd_of(const wg_block *b) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    if (b->outputs == 3) {
        f.u = b->out[0].value, f.s = b->out[1].value, f.h = b->out[2].value;
    } else {
        f.u = b->saved;
        f.h = f.u + f.m * f.k;
        f.s = f.h + f.k * f.n;
    }
    return f;
}

wg_status wgi_svd_shape(wg_block *b, size_t work) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    if (f.k > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    if (b->outputs == 1) b->saved_bytes = (f.k * (f.m + f.n) + f.k) * sizeof(double);
    b->work_bytes = wgi_larger((f.m * f.n + doubles_of(f.m, f.n)) * sizeof(double) +
                                   8 * f.k * sizeof(lapack_int),
                               work * sizeof(double));
    return WG_OK;
}

/* dgesdd of the m-by-n matrix in a, which begins the workspace. */
static wg_status dgesdd(wg_block *b, size_t m, size_t n, double *a, double *u, double *s,
                        double *h) {
    const size_t k = wgi_smaller(m, n), doubles = doubles_of(m, n);
    double *const work = a + m * n;
    b->info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', wgi_int(m), wgi_int(n), a, wgi_int(m),
                                  s, u, wgi_int(m), h, wgi_int(k), work,
                                  wgi_int(wgi_smaller(doubles, 0x7fffffff)),
                                  (lapack_int *)(work + doubles));
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
}

static wg_status decompose(wg_block *b, int tall) {
    const wgi_svd f = wgi_svd_of(b);
    const wg_block_arg *const of = &b->in[0];
    double *const a = b->work;
    if (f.k == 0) return WG_OK;
    if (!wgi_spectral_finite(f.m, f.n, of->value, of->ld))
        return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    if (!tall || f.m >= f.n) {
        wgi_spectral_copy(f.m, f.n, of->value, of->ld, a);
        return dgesdd(b, f.m, f.n, a, f.u, f.s, f.h);
    }
    for (size_t j = 0; j < f.n; j++)
        for (size_t i = 0; i < f.m; i++) a[j + i * f.n] = of->value[i + j * of->ld];
    const wg_status s = dgesdd(b, f.n, f.m, a, f.h, f.s, f.u);
    if (s != WG_OK) return s;
    memcpy(a, f.h, f.k * f.n * sizeof *a);
    for (size_t j = 0; j < f.n; j++)
        for (size_t i = 0; i < f.k; i++) f.h[i + j * f.k] = a[j + i * f.n];
    for (size_t j = 0; j < f.k; j++) /* square */
        for (size_t i = 0; i < j; i++) {
            const double swap = f.u[i + j * f.k];
            f.u[i + j * f.k] = f.u[j + i * f.k], f.u[j + i * f.k] = swap;
        }
    return WG_OK;
}
wg_status wgi_svd_decompose(wg_block *b) { return decompose(b, 0); }
wg_status wgi_svd_decompose_tall(wg_block *b) { return decompose(b, 1); }

void wgi_svd_add_diagonal(const wg_block *b, const wgi_svd *f, size_t k, const double *c,
                          double *x) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), ld = wgi_int(f->k);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < f->m; i++) x[i + j * f->m] = f->u[i + j * f->m] * c[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, wgi_int(k), 1, x, m, f->h, ld,
                1, b->in[0].bar, wgi_int(b->in[0].bar_ld));
}

void wgi_svd_tangent_times(const wg_block *b, const wgi_svd *f, double *x) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), k = wgi_int(f->k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, k, n, 1, b->in[0].bar,
                wgi_int(b->in[0].bar_ld), f->h, k, 0, x, m);
}

static wg_status svd_shape(wg_block *b) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    b->out[0].rows = f.m, b->out[0].cols = f.k;
    b->out[1].rows = f.k, b->out[1].cols = 1;
    b->out[2].rows = f.k, b->out[2].cols = f.n;
    return wgi_svd_shape(b, 2 * f.k * f.k + 2 * f.k * wgi_larger(f.m, f.n));
}

static wg_status degenerate(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EDEGENERATE,
        "the vectors of a repeated or zero singular value have no derivative");
}

/* Of columns or rows of x, number j at x + j step, elements stride apart: each divided by s_j.
 */
static int divide(const wgi_svd *f, double *x, size_t count, size_t stride, size_t step,
                  const wgi_svd_ties *t) {
    const double nothing = wgi_svd_nothing(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < count; i++) {
            double *const e = x + j * step + i * stride;
            *e = wgi_svd_quotient(*e, f->s[j], t, nothing, &bad);
        }
    return !bad;
}

/* x = (I - U U') x / S, for x of m by k and ux = U' x. */
static int off_columns(const wgi_svd *f, const double *ux, double *x, wgi_svd_ties *t) {
    const int m = wgi_int(f->m), k = wgi_int(f->k);
    wgi_svd_look_at(t, f->m * f->k, x);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, -1, f->u, m, ux, k, 1, x,
                m);
    return divide(f, x, f->m, 1, f->m, t);
}

/* x = x (I - V V') / S, for x of k by n and xv = x V, or its transpose. */
static int off_rows(const wgi_svd *f, CBLAS_TRANSPOSE trans, const double *xv, double *x,
                    wgi_svd_ties *t) {
    const int n = wgi_int(f->n), k = wgi_int(f->k);
    wgi_svd_look_at(t, f->k * f->n, x);
    cblas_dgemm(CblasColMajor, trans, CblasNoTrans, k, n, k, -1, xv, k, f->h, k, 1, x, k);
    return divide(f, x, f->n, f->k, 1, t);
}

/* mu = diag(s_) + X, of mu = U' U_ and mv = V' V_. */
static int core_vjp(const wgi_svd *f, const wgi_svd_ties *t, const double *sb, double *mu,
                    const double *mv) {
    const double nothing = wgi_svd_nothing(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++) {
        mu[j + j * f->k] = sb[j];
        for (size_t i = 0; i < j; i++) {
            double *const up = &mu[i + j * f->k], *const low = &mu[j + i * f->k];
            const double ku = *up - *low, lv = mv[i + j * f->k] - mv[j + i * f->k];
            const double gap = f->s[i] - f->s[j], sum = f->s[i] + f->s[j];
            const double even = -0.5 * wgi_svd_quotient(ku + lv, gap, t, nothing, &bad);
            const double odd = 0.5 * wgi_svd_quotient(ku - lv, sum, t, nothing, &bad);
            *up = even + odd, *low = even - odd;
        }
    }
    return !bad;
}

static wg_status svd_vjp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    const size_t kk = f.k * f.k;
    double *const ub = b->out[0].bar, *const sb = b->out[1].bar, *const hb = b->out[2].bar;
    double *const mu = b->work, *const mv = mu + kk, *const x = mv + kk;
    if (k == 0 || b->in[0].bar == NULL) return WG_OK;
    const int ldu = wgi_int(b->out[0].bar_ld), ldh = wgi_int(b->out[2].bar_ld);
    const int no_u = wgi_spectral_zero(f.m, f.k, ub, b->out[0].bar_ld);
    const int no_v = wgi_spectral_zero(f.k, f.n, hb, b->out[2].bar_ld);
    if (no_u && no_v) {
        wgi_svd_add_diagonal(b, &f, f.k, sb, x);
        return WG_OK;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, ub, ldu, 0, mu, k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, k, k, n, 1, f.h, k, hb, ldh, 0, mv, k);
    wgi_svd_ties t = wgi_svd_ties_of(&f);
    wgi_svd_look_at(&t, kk, mu);
    wgi_svd_look_at(&t, kk, mv);
    if (f.m > f.n && !no_u) {
        wgi_spectral_copy(f.m, f.k, ub, b->out[0].bar_ld, x);
        if (!off_columns(&f, mu, x, &t)) return degenerate(b);
    }
    if (f.m < f.n && !no_v) {
        wgi_spectral_copy(f.k, f.n, hb, b->out[2].bar_ld, x);
        if (!off_rows(&f, CblasTrans, mv, x, &t)) return degenerate(b);
    }
    if (!core_vjp(&f, &t, sb, mu, mv)) return degenerate(b);
    double *const a = b->in[0].bar;
    const int lda = wgi_int(b->in[0].bar_ld);
    if (f.m >= f.n) { /* (U X + x) V' */
        const double beta = f.m > f.n && !no_u ? 1 : 0;
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, 1, f.u, m, mu, k, beta,
                    x, m);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, m, f.h, k, 1, a,
                    lda);
    } else { /* U (X V' + x) */
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, n, k, 1, mu, k, f.h, k,
                    no_v ? 0 : 1, x, k);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, f.u, m, x, k, 1, a,
                    lda);
    }
    return WG_OK;
}

/* s., and Y in the place of P; Z. */
static int core_jvp(const wgi_svd *f, const wgi_svd_ties *t, double *sd, double *p, double *z) {
    const double nothing = wgi_svd_nothing(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++) {
        sd[j] = p[j + j * f->k];
        p[j + j * f->k] = z[j + j * f->k] = 0;
        for (size_t i = 0; i < j; i++) {
            double *const up = &p[i + j * f->k], *const low = &p[j + i * f->k];
            const double gap = f->s[i] - f->s[j], sum = f->s[i] + f->s[j];
            const double odd = -0.5 * wgi_svd_quotient(*up + *low, gap, t, nothing, &bad);
            const double even = 0.5 * wgi_svd_quotient(*up - *low, sum, t, nothing, &bad);
            /* both change sign with i and j */
            *up = odd + even, *low = -*up;
            z[i + j * f->k] = odd - even, z[j + i * f->k] = even - odd;
        }
    }
    return !bad;
}

static wg_status svd_jvp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    const size_t kk = f.k * f.k;
    double *const ud = b->out[0].bar, *const sd = b->out[1].bar, *const hd = b->out[2].bar;
    double *const p = b->work, *const z = p + kk, *const x = z + kk;
    if (k == 0) return WG_OK;
    const size_t ldu = b->out[0].bar_ld, ldh = b->out[2].bar_ld;
    if (b->in[0].bar == NULL) {
        for (size_t j = 0; j < f.k; j++) memset(ud + j * ldu, 0, f.m * sizeof *ud), sd[j] = 0;
        for (size_t j = 0; j < f.n; j++) memset(hd + j * ldh, 0, f.k * sizeof *hd);
        return WG_OK;
    }
    const double *const ad = b->in[0].bar;
    const int lda = wgi_int(b->in[0].bar_ld);
    wgi_svd_tangent_times(b, &f, x); /* A. V */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, x, m, 0, p, k);
    wgi_svd_ties t = wgi_svd_ties_of(&f);
    wgi_svd_look_at(&t, kk, p);
    if (f.m > f.n && !off_columns(&f, p, x, &t)) return degenerate(b);
    if (f.m < f.n) { /* U' A. */
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, n, m, 1, f.u, m, ad, lda, 0, x,
                    k);
        if (!off_rows(&f, CblasNoTrans, p, x, &t)) return degenerate(b);
    }
    if (!core_jvp(&f, &t, sd, p, z)) return degenerate(b);
    /* U. = U Y + x,  V.' = Z'V' + x */
    if (f.m > f.n)
        for (size_t j = 0; j < f.k; j++) memcpy(ud + j * ldu, x + j * f.m, f.m * sizeof *x);
    if (f.m < f.n)
        for (size_t j = 0; j < f.n; j++) memcpy(hd + j * ldh, x + j * f.k, f.k * sizeof *x);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, 1, f.u, m, p, k,
                f.m > f.n ? 1 : 0, ud, wgi_int(ldu));
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, n, k, 1, z, k, f.h, k,
                f.m < f.n ? 1 : 0, hd, wgi_int(ldh));
    return WG_OK;
}

/* ---- adjoints in operations on matrices ---- */

/* U diag(s_) V' */
static wg_mat of_values(wg_tape *t, wg_mat u, wg_mat sb, wg_mat h) {
    return wg_matmul(t, wg_mat_mul(t, u, wg_mat_transpose(sb)), h);
}

static wg_mat over(wg_tape *t, int in_function, wg_mat top, wg_mat by, wg_mat s,
                   int differences) {
    return in_function ? wgi_spectral_over(t, top, by, s, differences)
                       : wgi_spectral_quotient(t, top, by, s);
}

/* The formulas at the head. */
static wg_status vectors_adjoint(wg_tape *t, const wgi_svd *f, int in_function,
                                 const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_mat u = out[0], s = out[1], h = out[2], row = wg_mat_transpose(s);
    const wg_mat mu = wg_gemm(t, 'T', 'N', 1, u, bar[0], 0, u);
    const wg_mat mv = wg_gemm(t, 'N', 'T', 1, h, bar[2], 0, h), one = wg_mat_identity(t, f->k);
    const wg_mat k = wg_mat_sub(t, mu, wg_mat_transpose(mu));
    const wg_mat l = wg_mat_sub(t, mv, wg_mat_transpose(mv));
    const wg_mat gaps = wg_mat_add(t, wg_mat_sub(t, row, s), one);
    const wg_mat sums = wg_mat_add(t, row, s);
    const wg_mat even = over(t, in_function, wg_mat_add(t, k, l), gaps, s, 1);
    const wg_mat odd = over(t, in_function, wg_mat_sub(t, k, l), sums, s, 1);
    const wg_mat x = wg_mat_add(t, wg_mat_axpby(t, 0.5, even, 0.5, odd), wg_diag(t, bar[1]));
    wg_mat left = wg_matmul(t, u, x);
    if (f->m > f->n) { /* (I - U U') U_ S^-1 */
        const wg_mat off = wg_gemm(t, 'N', 'N', -1, u, mu, 1, bar[0]);
        left = wg_mat_add(t, left, over(t, in_function, off, row, s, 0));
    }
    back[0] = wg_matmul(t, left, h);
    if (f->m < f->n) { /* S^-1 V_' (I - V V') */
        const wg_mat off = wg_gemm(t, 'T', 'N', -1, mv, h, 1, bar[2]);
        const wg_mat less = over(t, in_function, off, s, s, 0);
        back[0] = wg_gemm(t, 'N', 'N', 1, u, less, 1, back[0]);
    }
    return wg_tape_status(t);
}

/* Where two singular values are one, or one is 0, the second derivative is not known. */
static wg_status svd_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    const wgi_svd f = wgi_svd_of(b);
    if (f.k == 0) return WG_OK;
    (void)in;
    if (wgi_spectral_untouched(t, bar[0]) && wgi_spectral_untouched(t, bar[2])) {
        back[0] = of_values(t, out[0], bar[1], out[2]);
        return wg_tape_status(t);
    }
    if (wgi_svd_ties_of(&f).any) return degenerate(b);
    return vectors_adjoint(t, &f, 0, out, bar, back);
}

/* In a function, where vectors and values are those of the node. */
static wg_status svd_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                          const wg_mat *bar, wg_mat *back) {
    const wgi_svd f = wgi_svd_of(b);
    if (f.k == 0) return WG_OK;
    if (wgi_spectral_untouched(t, bar[0]) && wgi_spectral_untouched(t, bar[2])) {
        back[0] = wgi_spectral_once(t, of_values(t, out[0], bar[1], out[2]), in[0],
                                    wgi_spectral_apart(t, out[1], f.m != f.n));
        return wg_tape_status(t);
    }
    return vectors_adjoint(t, &f, 1, out, bar, back);
}

static const wgi_traits of_svd = {.whole = &wgi_whole_svd};

const wg_block_op wgi_op_svd = {
    "wg_svd", 0, svd_shape, wgi_svd_decompose, svd_vjp, svd_jvp, NULL, svd_adjoint, &of_svd};
const wgi_whole wgi_whole_svd = {&wgi_op_svd, "mn", "mss1sn", svd_rule, NULL, 0, 0, 40};

wg_status wg_svd(wg_tape *t, wg_mat a, wg_mat *u, wg_mat *s, wg_mat *v) {
    wg_mat out[3];
    const wg_status status = wg_apply(t, &wgi_op_svd, NULL, 0, 1, &a, 3, out);
    if (u != NULL) *u = out[0];
    if (s != NULL) *s = out[1];
    if (v != NULL) *v = wg_mat_transpose(out[2]);
    return status;
}
