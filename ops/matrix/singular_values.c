/* SPDX-License-Identifier: MIT */
/* Singular values without their vectors; nuclear and spectral norm. Letters and sources: svd.c.
 *
 *     A_ += U diag(s_) V',  s. = diag(U'A.V) */
#include "svd.h"
#include "traits.h"
#include "whole.h"

#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>

#include <math.h>
#include <string.h>

static double column_dot(size_t m, const double *u, const double *x) {
    double s = 0;
    for (size_t i = 0; i < m; i++) s += u[i] * x[i];
    return s;
}

/* ---- values ---- */

static wg_status values_shape(wg_block *b) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    b->out[0].rows = f.k, b->out[0].cols = 1;
    return wgi_svd_shape(b, f.m * f.k);
}

static wg_status values_value(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const wg_status s = wgi_svd_decompose(b);
    if (s == WG_OK && f.k != 0) memcpy(b->out[0].value, f.s, f.k * sizeof(double));
    return s;
}

static wg_status values_vjp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    size_t last = f.k; /* those after it have adjoint 0 */
    while (last > 0 && b->out[0].bar[last - 1] == 0) last--;
    if (last != 0 && b->in[0].bar != NULL)
        wgi_svd_add_diagonal(b, &f, last, b->out[0].bar, b->work);
    return WG_OK;
}

static wg_status values_jvp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    double *const x = b->work;
    if (f.k == 0) return WG_OK;
    memset(b->out[0].bar, 0, f.k * sizeof(double));
    if (b->in[0].bar == NULL) return WG_OK;
    wgi_svd_tangent_times(b, &f, x);
    for (size_t j = 0; j < f.k; j++)
        b->out[0].bar[j] = column_dot(f.m, f.u + j * f.m, x + j * f.m);
    return WG_OK;
}

/* ---- norms ---- */

static wg_status norm_shape(wg_block *b) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    b->out[0].rows = b->out[0].cols = 1;
    return wgi_svd_shape(b, f.m * f.k);
}

static wg_status nuclear_value(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const wg_status s = wgi_svd_decompose_tall(b);
    double sum = 0;
    if (s != WG_OK) return s;
    for (size_t j = f.k; j-- > 0;) sum += f.s[j];
    *b->out[0].value = sum;
    return WG_OK;
}

static wg_status nuclear_vjp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    if (k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, *b->out[0].bar, f.u, m, f.h,
                k, 1, b->in[0].bar, wgi_int(b->in[0].bar_ld));
    return WG_OK;
}

static wg_status nuclear_jvp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    *b->out[0].bar = 0;
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    wgi_svd_tangent_times(b, &f, b->work);
    *b->out[0].bar = column_dot(f.m * f.k, f.u, b->work);
    return WG_OK;
}

static wg_status spectral_value(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    const wg_status s = wgi_svd_decompose(b);
    if (s == WG_OK) *b->out[0].value = f.k != 0 ? f.s[0] : 0;
    return s;
}

static wg_status spectral_vjp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dger(CblasColMajor, wgi_int(f.m), wgi_int(f.n), *b->out[0].bar, f.u, 1, f.h,
               wgi_int(f.k), b->in[0].bar, wgi_int(b->in[0].bar_ld));
    return WG_OK;
}

static wg_status spectral_jvp(wg_block *b) {
    const wgi_svd f = wgi_svd_of(b);
    double *const x = b->work;
    *b->out[0].bar = 0;
    if (f.k == 0 || b->in[0].bar == NULL) return WG_OK;
    cblas_dgemv(CblasColMajor, CblasNoTrans, wgi_int(f.m), wgi_int(f.n), 1, b->in[0].bar,
                wgi_int(b->in[0].bar_ld), f.h, wgi_int(f.k), 0, x, 1);
    *b->out[0].bar = column_dot(f.m, f.u, x);
    return WG_OK;
}

/* ---- adjoints in operations on matrices ---- */

/* U diag(c) V' as an operation on A and c; params: U, s and V' as they were found. With P as at
 * the head, E = (P + P')/2 and O = (P - P')/2 its tangent is U X V' + R,
 *     X_ij = E_ij (c_i - c_j)/(s_i - s_j) + O_ij (c_i + c_j)/(s_i + s_j),  X_jj = c._j,
 *     R = (I - U U') A.V diag(c/s) V', or U diag(c/s) U'A.(I - V V')
 * without the tangents of U and V, by which nearly equal singular values would lose their
 * digits. Where they are so near that c has not enough of them, it is not known; but of a
 * constant c, as norms have it, equal elements are equal also beside this point, and zeros
 * are zeros. */
struct found {
    const double *u, *s, *h;
};
static wg_status weighed_shape(wg_block *b) {
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    b->out[0].rows = f.m, b->out[0].cols = f.n;
    b->work_bytes = (f.k * f.k + 2 * f.k * wgi_larger(f.m, f.n)) * sizeof(double);
    return WG_OK;
}
static wgi_svd found_in(const wg_block *b) {
    const struct found *const found = b->params;
    wgi_svd f;
    wgi_svd_sizes(b, &f);
    f.u = (double *)(uintptr_t)found->u, f.s = (double *)(uintptr_t)found->s;
    f.h = (double *)(uintptr_t)found->h;
    return f;
}
/* y += U diag(c) V'. Room: x of m k. */
static void add_weighed(const wgi_svd *f, const double *c, double *x, double *y) {
    const int m = wgi_int(f->m), n = wgi_int(f->n), k = wgi_int(f->k);
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < f->m; i++) x[i + j * f->m] = f->u[i + j * f->m] * c[j];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, x, m, f->h, k, 1, y, m);
}
static wg_status weighed_value(wg_block *b) {
    const wgi_svd f = found_in(b);
    memset(b->out[0].value, 0, f.m * f.n * sizeof(double));
    if (f.k != 0) add_weighed(&f, b->in[1].value, b->work, b->out[0].value);
    return WG_OK;
}

/* p = X of P = p; 0: it is not known. */
static int weighed_core(const wgi_svd *f, const wgi_svd_ties *t, const double *c,
                        const double *ct, double *p) {
    const double nothing = wgi_svd_nothing(f, t->size);
    wgi_svd_ties strict = *t;
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
            if (ct != NULL || less != 0)
                x = less * wgi_svd_quotient(even, gap, &strict, nothing, &bad);
            if (ct != NULL || more != 0)
                y = more * wgi_svd_quotient(odd, sum, t, nothing, &bad);
            *up = x + y, *low = x - y;
        }
    }
    return !bad;
}

/* Columns of x of m by k, or its rows where it is k by n: each times c_j / s_j. */
static int weighed_off(const wgi_svd *f, const wgi_svd_ties *t, const double *c, int constant,
                       double *x) {
    const int tall = f->m > f->n;
    const size_t count = tall ? f->m : f->n, stride = tall ? 1 : f->k, step = tall ? f->m : 1;
    const double nothing = wgi_svd_nothing(f, t->size);
    int bad = 0;
    for (size_t j = 0; j < f->k; j++)
        for (size_t i = 0; i < count; i++) {
            double *const e = x + j * step + i * stride;
            if (constant && c[j] == 0) *e = 0;
            else *e = c[j] * wgi_svd_quotient(*e, f->s[j], t, nothing, &bad);
        }
    return !bad;
}

static wg_status weighed_jvp(wg_block *b) {
    const wgi_svd f = found_in(b);
    const int m = wgi_int(f.m), n = wgi_int(f.n), k = wgi_int(f.k);
    const double *const c = b->in[1].value, *const ct = b->in[1].bar, *const ad = b->in[0].bar;
    double *const p = b->work, *const x = p + f.k * f.k,
                  *const y = x + f.k * wgi_larger(f.m, f.n);
    double *const out = b->out[0].bar;
    memset(out, 0, f.m * f.n * sizeof *out);
    if (f.k == 0) return WG_OK;
    if (ad == NULL) {
        if (ct != NULL) add_weighed(&f, ct, x, out);
        return WG_OK;
    }
    wgi_svd_tangent_times(b, &f, x); /* A. V */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, k, m, 1, f.u, m, x, m, 0, p, k);
    wgi_svd_ties t = wgi_svd_ties_of(&f);
    wgi_svd_look_at(&t, f.k * f.k, p);
    if (f.m > f.n) {
        wgi_svd_look_at(&t, f.m * f.k, x);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, k, -1, f.u, m, p, k, 1, x,
                    m);
    }
    if (f.m < f.n) { /* U' A. */
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, k, n, m, 1, f.u, m, ad,
                    wgi_int(b->in[0].bar_ld), 0, x, k);
        wgi_svd_look_at(&t, f.k * f.n, x);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, k, n, k, -1, p, k, f.h, k, 1, x,
                    k);
    }
    if ((f.m != f.n && !weighed_off(&f, &t, c, ct == NULL, x)) ||
        !weighed_core(&f, &t, c, ct, p))
        return wgi_block_refuse(
            b, WG_EDEGENERATE,
            "the second derivative of nearly equal singular values, or of one that is 0, is "
            "not known");
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
    const wgi_svd f = wgi_svd_of(b);
    const struct found found = {f.u, f.s, f.h};
    const wg_mat of[2] = {a, c};
    return wgi_apply_one(t, &op, &found, sizeof found, 2, of);
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
    const size_t k = wgi_smaller(in[0].rows, in[0].cols);
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

/* In functions U V' of the nuclear norm is the polar factor, which knows no gaps, and is that of the
 * tape also where it is not unique. */
static wg_status nuclear_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const int wide = in[0].rows < in[0].cols;
    wg_mat u;
    (void)b, (void)out;
    if (in[0].rows == 0 || in[0].cols == 0) return WG_OK;
    const wg_status s = wg_polar(t, wide ? wg_mat_transpose(in[0]) : in[0], &u, NULL);
    if (s == WG_OK) back[0] = wg_mat_mul(t, bar[0], wide ? wg_mat_transpose(u) : u);
    return s == WG_OK ? wg_tape_status(t) : s;
}
/* The spectral norm by the vectors of another node, w U diag(c) V' with a one in c for the
 * first value. */
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
const wgi_whole wgi_whole_norm_nuclear = {
    &wgi_op_norm_nuclear, "mn", "11", nuclear_rule, NULL, 0, 0, 40};
const wgi_whole wgi_whole_norm_spectral = {
    &wgi_op_norm_spectral, "mn", "11", spectral_rule, NULL, 0, 0, 40};

/* ---- calls ---- */

wg_mat wg_svdvals(wg_tape *t, wg_mat a) {
    return wgi_apply_one(t, &wgi_op_svdvals, NULL, 0, 1, &a);
}

wg_real wg_mat_norm_nuclear(wg_tape *t, wg_mat a) {
    return wg_mat_at(wgi_apply_one(t, &wgi_op_norm_nuclear, NULL, 0, 1, &a), 0, 0);
}
wg_real wg_mat_norm_spectral(wg_tape *t, wg_mat a) {
    return wg_mat_at(wgi_apply_one(t, &wgi_op_norm_spectral, NULL, 0, 1, &a), 0, 0);
}
