/* SPDX-License-Identifier: MIT */
/* Singular values and vectors, nuclear and spectral norm.
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
#include "spectral.h"
#include "traits.h"
#include "whole.h"
#include "blas.h"

#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/spectral.h>

#include <float.h>
#include <math.h>
#include <string.h>

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Of dgesdd with jobz 'S': what it needs, in any version, and what lets it work in blocks.
 * (Where one side is much the longer, it takes a QR factorisation first.) */
static size_t doubles_of(size_t m, size_t n) {
    const size_t k = smaller(m, n);
    return 4 * k * k + 7 * k + larger(m, n) + 192 * k + 4224;
}

/* The decomposition of a call: where U, s and V' are. ldu = m, ldh = k. */
typedef struct factors {
    size_t m, n, k;
    double *u, *s, *h;
} factors;

static void sizes(const wg_block *b, factors *f) {
    f->m = b->in[0].rows, f->n = b->in[0].cols, f->k = smaller(f->m, f->n);
}

/* Three results: U, s, V'. One: s, or a norm, and what is missing is saved: U, V', s. */
static factors factors_of(const wg_block *b) {
    factors f;
    sizes(b, &f);
    if (b->outputs == 3) {
        f.u = b->out[0].value, f.s = b->out[1].value, f.h = b->out[2].value;
    } else {
        f.u = b->saved;
        f.h = f.u + f.m * f.k;
        f.s = f.h + f.k * f.n;
    }
    return f;
}

static wg_status shape(wg_block *b, size_t work) {
    factors f;
    sizes(b, &f);
    if (f.k > WGI_SPECTRAL_ORDER) {
        b->why = WGI_SPECTRAL_TOO_LARGE;
        return WG_ESHAPE;
    }
    if (b->outputs == 1) b->saved_bytes = (f.k * (f.m + f.n) + f.k) * sizeof(double);
    b->work_bytes = larger((f.m * f.n + doubles_of(f.m, f.n)) * sizeof(double) +
                               8 * f.k * sizeof(lapack_int),
                           work * sizeof(double));
    return WG_OK;
}

static wg_status decompose(wg_block *b) {
    const factors f = factors_of(b);
    double *const a = b->work, *const work = a + f.m * f.n;
    const size_t doubles = doubles_of(f.m, f.n);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    if (k == 0) return WG_OK;
    if (!wgi_spectral_finite(f.m, f.n, b->in[0].value, b->in[0].ld)) {
        b->why = WGI_SPECTRAL_NOT_FINITE;
        return WG_ENONFINITE;
    }
    wgi_spectral_copy(f.m, f.n, b->in[0].value, b->in[0].ld, a);
    b->info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', m, n, a, m, f.s, f.u, m, f.h, k, work,
                                  wgi_int(smaller(doubles, 0x7fffffff)),
                                  (lapack_int *)(work + doubles));
    if (b->info == 0) return WG_OK;
    b->why = WGI_SPECTRAL_GAVE_UP;
    return WG_ECONVERGE;
}

/* A_ += U diag(c) V', of the first k columns. Room: x of k max(m, n). */
static void add_diagonal(const wg_block *b, const factors *f, size_t k, const double *c,
                         double *x) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), ld = wgi_int(f->k);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < f->m; i++) x[i + j * f->m] = f->u[i + j * f->m] * c[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, wgi_int(k), 1, x, m, f->h, ld,
                1, b->in[0].bar, wgi_int(b->in[0].bar_ld));
}

/* x = A. V, m-by-k. */
static void tangent_times(const wg_block *b, const factors *f, double *x) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), k = wgi_int(f->k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, k, n, 1, b->in[0].bar,
                wgi_int(b->in[0].bar_ld), f->h, k, 0, x, m);
}
static double column_dot(size_t m, const double *u, const double *x) {
    double s = 0;
    for (size_t i = 0; i < m; i++) s += u[i] * x[i];
    return s;
}

/* ---- values ---- */

static wg_status values_shape(wg_block *b) {
    factors f;
    sizes(b, &f);
    b->out[0].rows = f.k, b->out[0].cols = 1;
    return shape(b, f.m * f.k);
}

static wg_status values_value(wg_block *b) {
    const factors f = factors_of(b);
    const wg_status s = decompose(b);
    if (s == WG_OK && f.k != 0) memcpy(b->out[0].value, f.s, f.k * sizeof(double));
    return s;
}

static wg_status values_vjp(wg_block *b) {
    const factors f = factors_of(b);
    size_t last = f.k; /* those after it have adjoint 0 */
    while (last > 0 && b->out[0].bar[last - 1] == 0) last--;
    if (last != 0 && b->in[0].bar != NULL) add_diagonal(b, &f, last, b->out[0].bar, b->work);
    return WG_OK;
}

static wg_status values_jvp(wg_block *b) {
    const factors f = factors_of(b);
    double *const x = b->work;
    if (f.k == 0) return WG_OK;
    memset(b->out[0].bar, 0, f.k * sizeof(double));
    if (b->in[0].bar == NULL) return WG_OK;
    tangent_times(b, &f, x);
    for (size_t j = 0; j < f.k; j++)
        b->out[0].bar[j] = column_dot(f.m, f.u + j * f.m, x + j * f.m);
    return WG_OK;
}

/* ---- norms ---- */

static wg_status norm_shape(wg_block *b) {
    factors f;
    sizes(b, &f);
    b->out[0].rows = b->out[0].cols = 1;
    return shape(b, f.m * f.k);
}

static wg_status nuclear_value(wg_block *b) {
    const factors f = factors_of(b);
    const wg_status s = decompose(b);
    double sum = 0;
    if (s != WG_OK) return s;
    for (size_t j = f.k; j-- > 0;) sum += f.s[j];
    *b->out[0].value = sum;
    return WG_OK;
}

static wg_status nuclear_vjp(wg_block *b) {
    const factors f = factors_of(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    if (k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, *b->out[0].bar, f.u, m, f.h,
                k, 1, b->in[0].bar, wgi_int(b->in[0].bar_ld));
    return WG_OK;
}

static wg_status nuclear_jvp(wg_block *b) {
    const factors f = factors_of(b);
    *b->out[0].bar = 0;
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    tangent_times(b, &f, b->work);
    *b->out[0].bar = column_dot(f.m * f.k, f.u, b->work);
    return WG_OK;
}

static wg_status spectral_value(wg_block *b) {
    const factors f = factors_of(b);
    const wg_status s = decompose(b);
    if (s == WG_OK) *b->out[0].value = f.k != 0 ? f.s[0] : 0;
    return s;
}

static wg_status spectral_vjp(wg_block *b) {
    const factors f = factors_of(b);
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dger(CblasColMajor, wgi_int(f.m), wgi_int(f.n), *b->out[0].bar, f.u, 1, f.h,
               wgi_int(f.k), b->in[0].bar, wgi_int(b->in[0].bar_ld));
    return WG_OK;
}

static wg_status spectral_jvp(wg_block *b) {
    const factors f = factors_of(b);
    double *const x = b->work;
    *b->out[0].bar = 0;
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dgemv(CblasColMajor, CblasNoTrans, wgi_int(f.m), wgi_int(f.n), 1, b->in[0].bar,
                wgi_int(b->in[0].bar_ld), f.h, wgi_int(f.k), 0, x, 1);
    *b->out[0].bar = column_dot(f.m, f.u, x);
    return WG_OK;
}

/* ---- values and vectors ---- */

static wg_status svd_shape(wg_block *b) {
    factors f;
    sizes(b, &f);
    b->out[0].rows = f.m, b->out[0].cols = f.k;
    b->out[1].rows = f.k, b->out[1].cols = 1;
    b->out[2].rows = f.k, b->out[2].cols = f.n;
    return shape(b, 2 * f.k * f.k + 2 * f.k * larger(f.m, f.n));
}

static wg_status degenerate(wg_block *b) {
    b->why = "the vectors of a repeated or zero singular value have no derivative";
    return WG_EDEGENERATE;
}

/* What singular values are known to, and what numerators are compared with. */
struct ties {
    int any;     /* are two as near as that to each other, or one to 0? */
    double tie;  /* differences and sums up to this count as 0 */
    double near; /* over those up to this, numerators that may be rounding count as 0 */
    double size; /* of the largest numerator, where there are such */
};
static struct ties ties_of(const factors *f) {
    struct ties t = {0, (double)larger(f->m, f->n) * DBL_EPSILON * f->s[0],
                     WGI_SPECTRAL_NEAR * f->s[0], 0};
    for (size_t i = 1; i < f->k; i++) t.any |= f->s[i - 1] - f->s[i] <= t.near;
    t.any |= f->s[f->k - 1] <= t.near;
    return t;
}
static void look_at(struct ties *t, size_t n, const double *x) {
    if (t->any) t->size = fmax(t->size, wgi_spectral_largest(n, x));
}
/* Numerators up to this count as 0, when the largest of them has that size. */
static double nothing_of(const factors *f, double size) {
    return 8 * (double)larger(f->m, f->n) * DBL_EPSILON * size;
}

/* top / bottom, 0 where the top counts as 0; *bad: only the bottom does. */
static double quotient(double top, double bottom, const struct ties *t, double nothing,
                       int *bad) {
    if (bottom > t->near) return top / bottom;
    if (fabs(top) <= nothing) return 0;
    if (bottom > t->tie) return top / bottom;
    *bad = 1;
    return 0;
}

/* Of columns or rows of x, number j at x + j step, elements stride apart: each divided by s_j.
 */
static int divide(const factors *f, double *x, size_t count, size_t stride, size_t step,
                  const struct ties *t) {
    const double nothing = nothing_of(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < count; i++) {
            double *const e = x + j * step + i * stride;
            *e = quotient(*e, f->s[j], t, nothing, &bad);
        }
    return !bad;
}

/* x = (I - U U') x / S, for x of m by k and ux = U' x. */
static int off_columns(const factors *f, const double *ux, double *x, struct ties *t) {
    const int m = wgi_int(f->m), k = wgi_int(f->k);
    look_at(t, f->m * f->k, x);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, -1, f->u, m, ux, k, 1, x,
                m);
    return divide(f, x, f->m, 1, f->m, t);
}

/* x = x (I - V V') / S, for x of k by n and xv = x V, or its transpose. */
static int off_rows(const factors *f, CBLAS_TRANSPOSE trans, const double *xv, double *x,
                    struct ties *t) {
    const int n = wgi_int(f->n), k = wgi_int(f->k);
    look_at(t, f->k * f->n, x);
    cblas_dgemm(CblasColMajor, trans, CblasNoTrans, k, n, k, -1, xv, k, f->h, k, 1, x, k);
    return divide(f, x, f->n, f->k, 1, t);
}

/* mu = diag(s_) + X, of mu = U' U_ and mv = V' V_. */
static int core_vjp(const factors *f, const struct ties *t, const double *sb, double *mu,
                    const double *mv) {
    const double nothing = nothing_of(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++) {
        mu[j + j * f->k] = sb[j];
        for (size_t i = 0; i < j; i++) {
            double *const up = &mu[i + j * f->k], *const low = &mu[j + i * f->k];
            const double ku = *up - *low, lv = mv[i + j * f->k] - mv[j + i * f->k];
            const double gap = f->s[i] - f->s[j], sum = f->s[i] + f->s[j];
            const double even = -0.5 * quotient(ku + lv, gap, t, nothing, &bad);
            const double odd = 0.5 * quotient(ku - lv, sum, t, nothing, &bad);
            *up = even + odd, *low = even - odd;
        }
    }
    return !bad;
}

static wg_status svd_vjp(wg_block *b) {
    const factors f = factors_of(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    const size_t kk = f.k * f.k;
    double *const ub = b->out[0].bar, *const sb = b->out[1].bar, *const hb = b->out[2].bar;
    double *const mu = b->work, *const mv = mu + kk, *const x = mv + kk;
    if (k == 0 || b->in[0].bar == NULL) return WG_OK;
    const int ldu = wgi_int(b->out[0].bar_ld), ldh = wgi_int(b->out[2].bar_ld);
    const int no_u = wgi_spectral_zero(f.m, f.k, ub, b->out[0].bar_ld);
    const int no_v = wgi_spectral_zero(f.k, f.n, hb, b->out[2].bar_ld);
    if (no_u && no_v) {
        add_diagonal(b, &f, f.k, sb, x);
        return WG_OK;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, ub, ldu, 0, mu, k);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, k, k, n, 1, f.h, k, hb, ldh, 0, mv, k);
    struct ties t = ties_of(&f);
    look_at(&t, kk, mu);
    look_at(&t, kk, mv);
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
static int core_jvp(const factors *f, const struct ties *t, double *sd, double *p, double *z) {
    const double nothing = nothing_of(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++) {
        sd[j] = p[j + j * f->k];
        p[j + j * f->k] = z[j + j * f->k] = 0;
        for (size_t i = 0; i < j; i++) {
            double *const up = &p[i + j * f->k], *const low = &p[j + i * f->k];
            const double gap = f->s[i] - f->s[j], sum = f->s[i] + f->s[j];
            const double odd = -0.5 * quotient(*up + *low, gap, t, nothing, &bad);
            const double even = 0.5 * quotient(*up - *low, sum, t, nothing, &bad);
            /* both change sign with i and j */
            *up = odd + even, *low = -*up;
            z[i + j * f->k] = odd - even, z[j + i * f->k] = even - odd;
        }
    }
    return !bad;
}

static wg_status svd_jvp(wg_block *b) {
    const factors f = factors_of(b);
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
    tangent_times(b, &f, x); /* A. V */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, x, m, 0, p, k);
    struct ties t = ties_of(&f);
    look_at(&t, kk, p);
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
    return in_function ? wgi_spectral_over(t, top, by, s, differences) : wg_mat_div(t, top, by);
}

/* The formulas at the head. */
static wg_status vectors_adjoint(wg_tape *t, const factors *f, int in_function,
                                 const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_mat u = out[0], s = out[1], h = out[2], row = wg_mat_transpose(s);
    const wg_mat mu = wg_gemm(t, 'T', 'N', 1, u, bar[0], 0, u);
    const wg_mat mv = wg_gemm(t, 'N', 'T', 1, h, bar[2], 0, h), one = wg_mat_identity(t, f->k);
    const wg_mat k = wg_mat_sub(t, mu, wg_mat_transpose(mu));
    const wg_mat l = wg_mat_sub(t, mv, wg_mat_transpose(mv));
    const wg_mat gaps = wg_mat_add(t, wg_mat_sub(t, row, s), one);
    const wg_mat sums = wg_mat_add(t, row, s);
    const wg_mat even = over(t, in_function, wg_mat_add(t, k, l), gaps, s, 1);
    const wg_mat odd = over(t, in_function, wg_mat_sub(t, k, l), sums, s, 0);
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
    const factors f = factors_of(b);
    if (f.k == 0) return WG_OK;
    (void)in;
    if (wgi_spectral_untouched(t, bar[0]) && wgi_spectral_untouched(t, bar[2])) {
        back[0] = of_values(t, out[0], bar[1], out[2]);
        return wg_tape_status(t);
    }
    if (ties_of(&f).any) return degenerate(b);
    return vectors_adjoint(t, &f, 0, out, bar, back);
}

/* In a function, where vectors and values are those of the node. */
static wg_status svd_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                          const wg_mat *bar, wg_mat *back) {
    const factors f = factors_of(b);
    if (f.k == 0) return WG_OK;
    (void)in;
    if (wgi_spectral_untouched(t, bar[0]) && wgi_spectral_untouched(t, bar[2])) {
        back[0] = of_values(t, out[0], bar[1], out[2]);
        return wg_tape_status(t);
    }
    return vectors_adjoint(t, &f, 1, out, bar, back);
}

/* U diag(c) V' as an operation on A and c; params: U, s and V' as they were found. With P as at the
 * head, E = (P + P')/2 and O = (P - P')/2 its tangent is U X V' + R,
 *     X_ij = E_ij (c_i - c_j)/(s_i - s_j) + O_ij (c_i + c_j)/(s_i + s_j),  X_jj = c._j,
 *     R = (I - U U') A.V diag(c/s) V', or U diag(c/s) U'A.(I - V V')
 * without the tangents of U and V, by which nearly equal singular values would lose their digits.
 * Where they are so near that c has not enough of them, it is not known; but of a constant c, as
 * norms have it, equal elements are equal also beside this point, and zeros are zeros. */
struct found {
    const double *u, *s, *h;
};
static wg_status weighed_shape(wg_block *b) {
    factors f;
    sizes(b, &f);
    b->out[0].rows = f.m, b->out[0].cols = f.n;
    b->work_bytes = (f.k * f.k + 2 * f.k * larger(f.m, f.n)) * sizeof(double);
    return WG_OK;
}
static factors found_in(const wg_block *b) {
    const struct found *const found = b->params;
    factors f;
    sizes(b, &f);
    f.u = (double *)(uintptr_t)found->u, f.s = (double *)(uintptr_t)found->s;
    f.h = (double *)(uintptr_t)found->h;
    return f;
}
/* y += U diag(c) V'. Room: x of m k. */
static void add_weighed(const factors *f, const double *c, double *x, double *y) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), k = wgi_int(f->k);
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < f->m; i++) x[i + j * f->m] = f->u[i + j * f->m] * c[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, m, f->h, k, 1, y, m);
}
static wg_status weighed_value(wg_block *b) {
    const factors f = found_in(b);
    memset(b->out[0].value, 0, f.m * f.n * sizeof(double));
    if (f.k != 0) add_weighed(&f, b->in[1].value, b->work, b->out[0].value);
    return WG_OK;
}

/* p = X of P = p; 0: it is not known. */
static int weighed_core(const factors *f, const struct ties *t, const double *c,
                        const double *ct, double *p) {
    const double nothing = nothing_of(f, t->size);
    struct ties strict = *t;
    int bad = 0;
    strict.tie = t->near;
    for (size_t j = 0; j < f->k; j++) {
        p[j + j * f->k] = ct != NULL ? ct[j] : 0;
        for (size_t i = 0; i < j; i++) {
            double *const up = &p[i + j * f->k], *const low = &p[j + i * f->k];
            const double less = c[i] - c[j], more = c[i] + c[j];
            const double even = 0.5 * (*up + *low), odd = 0.5 * (*up - *low);
            const double gap = f->s[i] - f->s[j], sum = f->s[i] + f->s[j];
            double x = 0, y = 0;
            if (ct != NULL || less != 0) x = less * quotient(even, gap, &strict, nothing, &bad);
            if (ct != NULL || more != 0) y = more * quotient(odd, sum, t, nothing, &bad);
            *up = x + y, *low = x - y;
        }
    }
    return !bad;
}

/* Columns of x of m by k, or its rows where it is k by n: each times c_j / s_j. */
static int weighed_off(const factors *f, const struct ties *t, const double *c, int constant,
                       double *x) {
    const int tall = f->m > f->n;
    const size_t count = tall ? f->m : f->n, stride = tall ? 1 : f->k, step = tall ? f->m : 1;
    const double nothing = nothing_of(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < count; i++) {
            double *const e = x + j * step + i * stride;
            if (constant && c[j] == 0) *e = 0;
            else *e = c[j] * quotient(*e, f->s[j], t, nothing, &bad);
        }
    return !bad;
}

static wg_status weighed_jvp(wg_block *b) {
    const factors f = found_in(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    const double *const c = b->in[1].value, *const ct = b->in[1].bar, *const ad = b->in[0].bar;
    double *const p = b->work, *const x = p + f.k * f.k, *const y = x + f.k * larger(f.m, f.n);
    double *const out = b->out[0].bar;
    memset(out, 0, f.m * f.n * sizeof *out);
    if (f.k == 0) return WG_OK;
    if (ad == NULL) {
        if (ct != NULL) add_weighed(&f, ct, x, out);
        return WG_OK;
    }
    tangent_times(b, &f, x); /* A. V */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, x, m, 0, p, k);
    struct ties t = ties_of(&f);
    look_at(&t, f.k * f.k, p);
    if (f.m > f.n) {
        look_at(&t, f.m * f.k, x);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, -1, f.u, m, p, k, 1, x,
                    m);
    }
    if (f.m < f.n) { /* U' A. */
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, n, m, 1, f.u, m, ad,
                    wgi_int(b->in[0].bar_ld), 0, x, k);
        look_at(&t, f.k * f.n, x);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, n, k, -1, p, k, f.h, k, 1, x,
                    k);
    }
    if ((f.m != f.n && !weighed_off(&f, &t, c, ct == NULL, x)) ||
        !weighed_core(&f, &t, c, ct, p)) {
        b->why =
            "the second derivative of nearly equal singular values, or of one that is 0, is "
            "not known";
        return WG_EDEGENERATE;
    }
    if (f.m >= f.n) { /* (U X + x) V' */
        memcpy(y, x, f.m * f.k * sizeof *y);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, 1, f.u, m, p, k,
                    f.m > f.n ? 1 : 0, y, m);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, y, m, f.h, k, 0, out,
                    m);
    } else { /* U (X V' + x) */
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, n, k, 1, p, k, f.h, k, 1, x,
                    k);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, f.u, m, x, k, 0, out,
                    m);
    }
    return WG_OK;
}

static wg_mat weighed(wg_tape *t, const wg_block *b, wg_mat a, wg_mat c) {
    static const wg_block_op op = {"adjoint of singular values",
                                   0,
                                   weighed_shape,
                                   weighed_value,
                                   NULL,
                                   weighed_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const factors f = factors_of(b);
    const struct found found = {f.u, f.s, f.h};
    const wg_mat of[2] = {a, c};
    wg_mat y;
    (void)wg_apply(t, &op, &found, sizeof found, 2, of, 1, &y);
    return y;
}

static wg_status values_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    (void)out;
    if (in[0].rows == 0 || in[0].cols == 0) return WG_OK;
    back[0] = weighed(t, b, in[0], bar[0]);
    return wg_tape_status(t);
}

/* w U diag(c) V' of a norm, with ones for `count` singular values. */
static wg_status norm_adjoint(wg_tape *t, const wg_block *b, const wg_mat *in,
                              const wg_mat *bar, size_t count, wg_mat *back) {
    const size_t k = smaller(in[0].rows, in[0].cols);
    double *const c = wg_tape_keep(t, k * sizeof *c, NULL);
    if (c == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < k; j++) c[j] = j < count;
    const wg_mat slope = weighed(t, b, in[0], wg_mat_constant_borrowed(t, k, 1, c, k));
    back[0] = wg_mat_mul(t, bar[0], slope);
    return wg_tape_status(t);
}

static wg_status nuclear_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    (void)out;
    return norm_adjoint(t, b, in, bar, SIZE_MAX, back);
}

static wg_status spectral_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    (void)out;
    return norm_adjoint(t, b, in, bar, 1, back);
}

/* In functions: by the vectors of another node, w U diag(c) V' with ones in c for all values or for the
 * first. */
static wg_status nuclear_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    wg_mat u, v;
    (void)b, (void)out;
    if (in[0].rows == 0 || in[0].cols == 0) return WG_OK;
    const wg_status s = wg_svd(t, in[0], &u, NULL, &v);
    if (s == WG_OK) back[0] = wg_mat_mul(t, bar[0], wg_gemm(t, 'N', 'T', 1, u, v, 0, u));
    return s == WG_OK ? wg_tape_status(t) : s;
}
static wg_status spectral_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    wg_mat u, v;
    (void)b, (void)out;
    if (in[0].rows == 0 || in[0].cols == 0) return WG_OK;
    const wg_status s = wg_svd(t, in[0], &u, NULL, &v);
    if (s != WG_OK) return s;
    const wg_mat first = wg_mat_col(u, 0), last = wg_mat_transpose(wg_mat_col(v, 0));
    back[0] = wg_mat_mul(t, bar[0], wg_matmul(t, first, last));
    return wg_tape_status(t);
}

static const wgi_traits of_svd = {.whole = &wgi_whole_svd};
static const wgi_traits of_svdvals = {.whole = &wgi_whole_svd, .whole_result = 1};
static const wgi_traits of_nuclear = {.whole = &wgi_whole_norm_nuclear};
static const wgi_traits of_spectral = {.whole = &wgi_whole_norm_spectral};

const wg_block_op wgi_op_svdvals = {"wg_svdvals", 0,          values_shape, values_value,
                                    values_vjp,   values_jvp, NULL,         values_adjoint,
                                    &of_svdvals};
const wg_block_op wgi_op_norm_nuclear = {
    "wg_mat_norm_nuclear", 0,    norm_shape,      nuclear_value, nuclear_vjp,
    nuclear_jvp,           NULL, nuclear_adjoint, &of_nuclear};
const wg_block_op wgi_op_norm_spectral = {
    "wg_mat_norm_spectral", 0,    norm_shape,       spectral_value, spectral_vjp,
    spectral_jvp,           NULL, spectral_adjoint, &of_spectral};
const wg_block_op wgi_op_svd = {"wg_svd", 0,    svd_shape,   decompose, svd_vjp,
                                svd_jvp,  NULL, svd_adjoint, &of_svd};
const wgi_whole wgi_whole_svd = {&wgi_op_svd, "mn", "mss1sn", svd_rule, NULL, 0, 0, 40};
const wgi_whole wgi_whole_norm_nuclear = {
    &wgi_op_norm_nuclear, "mn", "11", nuclear_rule, NULL, 0, 0, 40};
const wgi_whole wgi_whole_norm_spectral = {
    &wgi_op_norm_spectral, "mn", "11", spectral_rule, NULL, 0, 0, 40};

/* ---- calls ---- */

wg_mat wg_svdvals(wg_tape *t, wg_mat a) {
    wg_mat s;
    (void)wg_apply(t, &wgi_op_svdvals, NULL, 0, 1, &a, 1, &s);
    return s;
}

wg_status wg_svd(wg_tape *t, wg_mat a, wg_mat *u, wg_mat *s, wg_mat *v) {
    wg_mat out[3];
    const wg_status status = wg_apply(t, &wgi_op_svd, NULL, 0, 1, &a, 3, out);
    if (u != NULL) *u = out[0];
    if (s != NULL) *s = out[1];
    if (v != NULL) *v = wg_mat_transpose(out[2]);
    return status;
}

wg_real wg_mat_norm_nuclear(wg_tape *t, wg_mat a) {
    wg_mat r;
    (void)wg_apply(t, &wgi_op_norm_nuclear, NULL, 0, 1, &a, 1, &r);
    return wg_mat_at(r, 0, 0);
}
wg_real wg_mat_norm_spectral(wg_tape *t, wg_mat a) {
    wg_mat r;
    (void)wg_apply(t, &wgi_op_norm_spectral, NULL, 0, 1, &a, 1, &r);
    return wg_mat_at(r, 0, 0);
}
