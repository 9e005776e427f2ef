/* SPDX-License-Identifier: MIT */
/* QR.
 *
 * QR, A m by n, p = min(m, n), the first p columns of A are X = Q U:
 *     M = U U_' - Q_' Q;   X_ += (Q_ + Q copyltu(M)) U^-T
 *     C = Q' Xt U^-1, S = triu(C) + tril(C, -1)';   Ut = S U, Qt = Xt U^-1 - Q S
 *   wide, A = [X Y], R = [U V]:  Q_ + Y V_' for Q_, Y_ += Q V_;   Vt = Q' (Yt - Qt V)
 *   Only the upper triangle of U_ and the lower one of M are looked at.
 *   R alone keeps the reflectors and never forms Q.
 * Sources: Walter and Lehmann 2010, arXiv:1001.1654; Roberts and Roberts 2020,
 * arXiv:2009.10071. */
#include <float.h>
#include <math.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include "orthogonal.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

/* ---- QR ---- */

struct qr {
    int q, r; /* which result it is; -1: not wanted */
};

static wg_status qr_shape(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = wgi_smaller(m, n);
    if (what->q >= 0) b->out[what->q].rows = m, b->out[what->q].cols = p;
    if (what->r >= 0) b->out[what->r].rows = p, b->out[what->r].cols = n;
    /* saved: the reflectors and their factors; with Q, R if that is no result */
    b->saved_bytes = what->q < 0   ? wgi_room_of(m * n) + wgi_room_of(p)
                     : what->r < 0 ? wgi_room_of(p * n)
                                   : 0;
    const size_t value = (what->q < 0 ? 0 : wgi_room_of(m * n) + wgi_room_of(p)) +
                         wgi_room_of(wgi_reflector_room(n));
    const size_t sweep = 2 * wgi_room_of(m * p) + wgi_room_of(p * p) + wgi_room_of(p * n) +
                         wgi_room_of(WGI_TRIANGLE) + wgi_room_of(wgi_reflector_room(n));
    b->work_bytes = wgi_larger(value, sweep);
    return WG_OK;
}

/* What value leaves. R is above the reflectors, in a result or in saved. */
struct parts {
    size_t m, n, p;
    const double *r, *q, *tau; /* q NULL: reflectors in r, with tau */
    size_t ldr;
    double *w, *t, *v, *triangle, *more, *y; /* workspace: m p, p p, p n, ... */
    int more_size;
};

static struct parts parts_of(const wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    struct parts s;
    memset(&s, 0, sizeof s);
    s.m = b->in[0].rows, s.n = b->in[0].cols, s.p = wgi_smaller(s.m, s.n);
    if (what->q < 0) {
        s.r = (const double *)b->saved, s.ldr = wgi_ld(s.m);
        s.tau = (const double *)(const void *)((const char *)b->saved + wgi_room_of(s.m * s.n));
    } else {
        s.q = b->out[what->q].value, s.ldr = wgi_ld(s.p);
        s.r = what->r < 0 ? (const double *)b->saved : b->out[what->r].value;
    }
    char *work = (char *)b->work;
    s.w = wgi_take(&work, s.m * s.p), s.t = wgi_take(&work, s.p * s.p);
    s.v = wgi_take(&work, s.p * s.n), s.triangle = wgi_take(&work, WGI_TRIANGLE);
    s.more_size = wgi_int(wgi_reflector_room(s.n));
    s.more = wgi_take(&work, wgi_reflector_room(s.n));
    s.y = wgi_take(&work, s.m * s.p);
    return s;
}

/* r = the upper trapezoid of the reflectors a, p by n. */
static void upper(size_t m, size_t n, const double *a, double *r) {
    const size_t p = wgi_smaller(m, n);
    for (size_t j = 0; j < n; j++) {
        const size_t k = wgi_smaller(j + 1, p);
        memcpy(r + j * p, a + j * m, k * sizeof *r);
        memset(r + j * p + k, 0, (p - k) * sizeof *r);
    }
}

static wg_status qr_value(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = wgi_smaller(m, n);
    const size_t more_size = wgi_reflector_room(n);
    char *work = (char *)b->work, *const saved = (char *)b->saved;
    if (p == 0) return WG_OK;
    double *const more = wgi_take(&work, more_size);
    double *const a = what->q < 0 ? (double *)(void *)saved
                      : m >= n    ? b->out[what->q].value
                                  : wgi_take(&work, m * n);
    double *const tau =
        what->q < 0 ? (double *)(void *)(saved + wgi_room_of(m * n)) : wgi_take(&work, p);
    wgi_copy(m, n, b->in[0].value, b->in[0].ld, a, m);
    (void)LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, wgi_int(m), wgi_int(n), a, wgi_int(m), tau,
                              more, wgi_int(more_size));
    const int hold = wgi_reflectors_hold(m, n, a, tau);
    upper(m, n, a, what->r < 0 ? (double *)(void *)saved : b->out[what->r].value);
    if (what->q < 0) return WG_OK;
    double *const q = b->out[what->q].value;
    if (q != a) memcpy(q, a, m * p * sizeof *q);
    if (!hold) return WG_OK;
    (void)LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, wgi_int(m), wgi_int(p), wgi_int(p), q,
                              wgi_int(m), tau, more, wgi_int(more_size));
    return WG_OK;
}

static wg_status degenerate(wg_block *b, const struct parts *s) {
    b->info = wgi_dependent(1, s->p, wgi_rounding(s->m, s->n), s->r, s->ldr, s->t);
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_EDEGENERATE,
                            "the matrix has not full rank: QR has no derivative");
}

/* y = Q x, x p by cols, y m by cols. */
static void times_q(const struct parts *s, size_t cols, const double *x, double *y) {
    const int m = wgi_int(s->m), p = wgi_int(s->p), k = wgi_int(cols);
    if (s->q != NULL) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, k, p, 1, s->q, m, x, p, 0, y,
                    m);
        return;
    }
    for (size_t j = 0; j < cols; j++) {
        memcpy(y + j * s->m, x + j * s->p, s->p * sizeof *y);
        memset(y + j * s->m + s->p, 0, (s->m - s->p) * sizeof *y);
    }
    (void)LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'N', m, k, p, s->r, m, s->tau, y, m,
                              s->more, s->more_size);
}

/* y = Q' x, x m by cols; y p by cols, with as much room as x. Gives its leading dimension. */
static size_t times_qt(const struct parts *s, size_t cols, const double *x, double *y) {
    const int m = wgi_int(s->m), p = wgi_int(s->p), k = wgi_int(cols);
    if (s->q != NULL) {
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p, k, m, 1, s->q, m, x, m, 0, y,
                    p);
        return s->p;
    }
    memcpy(y, x, s->m * cols * sizeof *y);
    (void)LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', 'T', m, k, p, s->r, m, s->tau, y, m,
                              s->more, s->more_size);
    return s->m;
}

/* The largest element of R in size. */
static double largest(const struct parts *s) {
    double most = 0;
    for (size_t j = 0; j < s->n; j++)
        for (size_t i = 0; i <= j && i < s->p; i++)
            most = fmax(most, fabs(s->r[i + j * s->ldr]));
    return most;
}

/* Adjoints are multiplied by a power of two, by which what comes of them is divided, where R R_'
 * might leave the range, and what R^-T makes of it does not. */
static double factor_of(const struct parts *s, const double *qw, const double *rw) {
    const double size = largest(s);
    double most = 0;
    for (size_t i = 0; qw != NULL && i < s->m * s->p; i++) most = fmax(most, fabs(qw[i]));
    for (size_t i = 0; rw != NULL && i < s->p * s->n; i++) most = fmax(most, fabs(rw[i]));
    if (!(most > 0 && most < INFINITY) ||
        (most > 0x1p-100 && most < 0x1p100 && size > 0x1p-800 && size < 0x1p800))
        return 1;
    return ldexp(1, most < 1 ? -(int)fmax(ilogb(most), -1000) : -ilogb(most));
}

/* Of A = [X Y], with V_ in vw: w += f Y V_', Y_ += Q V_. */
static void wide_vjp(const struct parts *s, const wg_block_arg *a, double f, const double *vw) {
    const size_t m = s->m, p = s->p, cols = s->n - p;
    const int mi = wgi_int(m), pi = wgi_int(p), wide = wgi_int(cols);
    double *const yw = a->bar + p * a->bar_ld;
    for (size_t i = 0; f != 1 && i < p * cols; i++) s->v[i] = f * vw[i];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, pi, wide, 1, a->value + p * a->ld,
                wgi_int(a->ld), f != 1 ? s->v : vw, pi, 1, s->w, mi);
    if (s->q != NULL) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, wide, pi, 1, s->q, mi, vw,
                    pi, 1, yw, wgi_int(a->bar_ld));
        return;
    }
    times_q(s, cols, vw, s->v); /* p = m */
    wgi_add(m, cols, 1, s->v, (wgi_dense){yw, a->bar_ld, 0});
}

/* t = f U U_', U_ in rw; NULL: 0. Of its transpose only the lower triangle. */
static void triangle_vjp(const struct parts *s, double f, const double *rw) {
    const size_t p = s->p;
    if (rw == NULL) {
        memset(s->t, 0, p * p * sizeof *s->t);
        return;
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < j; i++) s->t[i + j * p] = 0;
        for (size_t i = j; i < p; i++) s->t[i + j * p] = f * rw[j + i * p];
    }
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, wgi_int(p),
                wgi_int(p), 1, s->r, wgi_int(s->ldr), s->t, wgi_int(p));
}

/* w += Q copyltu(t - B'), B = Q' w, for a square Q, of which w = Q B: without what cancels this
 * is w = Q (copyltu(t) + tril(B - B', -1)). */
static void rotation_vjp(const struct parts *s) {
    const size_t p = s->p, ldy = times_qt(s, p, s->w, s->y);
    wgi_mirror(p, s->t, p);
    for (size_t j = 0; j < p; j++)
        for (size_t i = j + 1; i < p; i++)
            s->t[i + j * p] += s->y[i + j * ldy] - s->y[j + i * ldy];
    times_q(s, p, s->t, s->w);
}

/* w += Q copyltu(t - w' Q), where w is 0 and need not be set without Q_. */
static void orthogonal_vjp(const struct parts *s, int with_q) {
    const size_t m = s->m, p = s->p;
    const int mi = wgi_int(m), pi = wgi_int(p);
    if (with_q && m == p) {
        rotation_vjp(s);
        return;
    }
    if (s->q != NULL) {
        if (with_q)
            wgi_gemm_triangle('L', 0, p, m, -1, 'T', s->w, m, 'N', s->q, m, s->t, p,
                              s->triangle);
        cblas_dsymm(CblasColMajor, CblasRight, CblasLower, mi, pi, 1, s->t, pi, s->q, mi,
                    with_q ? 1 : 0, s->w, mi);
        return;
    }
    wgi_mirror(p, s->t, p);
    times_q(s, p, s->t, s->w);
}

static wg_status qr_vjp(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const struct parts s = parts_of(b);
    const wg_block_arg *const a = &b->in[0];
    const size_t m = s.m, p = s.p;
    if (p == 0 || a->bar == NULL) return WG_OK;
    const wg_status failed = degenerate(b, &s);
    if (failed != WG_OK) return failed;
    const double *const qw = what->q < 0 ? NULL : b->out[what->q].bar;
    const double *const rw = what->r < 0 ? NULL : b->out[what->r].bar;
    const double f = factor_of(&s, qw, rw);
    int with_q = qw != NULL && wgi_any(qw, m * p);
    for (size_t i = 0; with_q && i < m * p; i++) s.w[i] = f * qw[i];
    if (s.n != p && rw != NULL) {
        if (!with_q) memset(s.w, 0, m * p * sizeof *s.w);
        wide_vjp(&s, a, f, rw + p * p);
        with_q = 1;
    }
    triangle_vjp(&s, f, rw);
    orthogonal_vjp(&s, with_q);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, wgi_int(m),
                wgi_int(p), 1, s.r, wgi_int(s.ldr), s.w, wgi_int(m));
    wgi_add(m, p, 1 / f, s.w, (wgi_dense){a->bar, a->bar_ld, 0});
    return WG_OK;
}

/* w = Qt of a square Q, from y = C: without what cancels, Q (tril(C, -1) - tril(C, -1)'). */
static void rotation(const struct parts *s, size_t ldy) {
    for (size_t j = 0; j < s->p; j++) {
        s->y[j + j * ldy] = 0;
        for (size_t i = 0; i < j; i++) s->y[i + j * ldy] = -s->y[j + i * ldy];
    }
    times_q(s, s->p, s->y, s->w);
}

static void times_power(int e, size_t n, double *x) {
    for (size_t i = 0; e != 0 && i < n; i++) x[i] = ldexp(x[i], e);
}

/* The power of two that tangents At are multiplied by, and what comes of them is divided by:
 * not 1 where At U^-1 would leave the range, though what R makes of it does not. */
static int power_of(const struct parts *s, const wg_block_arg *a) {
    enum { FAR = 900 };
    const double size = largest(s);
    double most = 0;
    for (size_t j = 0; j < s->n; j++)
        for (size_t i = 0; i < s->m; i++) most = fmax(most, fabs(a->bar[i + j * a->bar_ld]));
    if (!(most > 0 && most < INFINITY && size > 0 && size < INFINITY)) return 0;
    const int apart = ilogb(size) - ilogb(most);
    return apart > FAR || apart < -FAR ? apart : 0;
}

static wg_status qr_jvp(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const struct parts s = parts_of(b);
    const wg_block_arg *const a = &b->in[0];
    const size_t m = s.m, n = s.n, p = s.p;
    const int mi = wgi_int(m), pi = wgi_int(p), wide = wgi_int(n - p), ldr = wgi_int(s.ldr);
    for (size_t k = 0; k < b->outputs; k++)
        memset(b->out[k].bar, 0, b->out[k].rows * b->out[k].cols * sizeof(double));
    if (p == 0 || a->bar == NULL) return WG_OK;
    const wg_status failed = degenerate(b, &s);
    if (failed != WG_OK) return failed;
    /* w = Xt U^-1, y = Q' w, t = S; then w = Qt */
    const int by = power_of(&s, a);
    wgi_copy(m, p, a->bar, a->bar_ld, s.w, m);
    times_power(by, m * p, s.w);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, mi, pi, 1,
                s.r, ldr, s.w, mi);
    const size_t ldy = times_qt(&s, p, s.w, s.y);
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < j; i++) s.t[i + j * p] = s.y[i + j * ldy] + s.y[j + i * ldy];
        s.t[j * (p + 1)] = s.y[j * (ldy + 1)];
        for (size_t i = j + 1; i < p; i++) s.t[i + j * p] = 0;
    }
    if (m == p) rotation(&s, ldy);
    else {
        times_q(&s, p, s.t, s.y);
        for (size_t i = 0; i < m * p; i++) s.w[i] -= s.y[i];
    }
    if (what->q >= 0) {
        memcpy(b->out[what->q].bar, s.w, m * p * sizeof *s.w);
        times_power(-by, m * p, b->out[what->q].bar);
    }
    if (what->r < 0) return WG_OK;
    double *const rt = b->out[what->r].bar, *const vt = rt + p * p;
    memcpy(rt, s.t, p * p * sizeof *rt);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, pi, pi, 1,
                s.r, ldr, rt, pi);
    times_power(-by, p * p, rt);
    if (wide == 0) return WG_OK;
    /* p = m: s.v = Yt - Qt V, and Q' of it */
    wgi_copy(m, n - p, a->bar + p * a->bar_ld, a->bar_ld, s.v, m);
    times_power(by, m * (n - p), s.v);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, wide, pi, -1, s.w, mi,
                s.r + p * s.ldr, ldr, 1, s.v, mi);
    (void)times_qt(&s, n - p, s.v, vt);
    times_power(-by, p * (n - p), vt);
    return WG_OK;
}

static wg_status qr_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct qr *const what = (const struct qr *)b->params;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    const size_t m = a.rows, n = a.cols, p = wgi_smaller(m, n);
    wg_real *const q = wgi_expand_room(t, m * p), *const r = wgi_expand_room(t, p * n);
    wg_real *const sign = wgi_expand_room(t, p);
    if (sign == NULL || q == NULL || r == NULL) return wg_tape_status(t);
    wgi_expand_qr_signs(t, wgi_reals_cols(a, 0, p), sign);
    wgi_expand_qr(t, wgi_reals_cols(a, 0, p), sign, q, r);
    wgi_expand_mul(t, wgi_reals_turn(wgi_reals_packed(q, m, p), 1), wgi_reals_cols(a, p, n - p),
                   r + p * p);
    if (what->q >= 0)
        wgi_expand_copy(wgi_reals_packed(q, m, p), wgi_reals_result(b, y, (size_t)what->q));
    if (what->r >= 0)
        wgi_expand_copy(wgi_reals_packed(r, p, n), wgi_reals_result(b, y, (size_t)what->r));
    return wgi_has_full_rank(t, wgi_reals_packed(r, p, p), wgi_rounding(m, n), 1)
               ? WG_OK
               : WG_EDEGENERATE;
}

/* S symmetric, from the lower triangle of a. */
static wg_mat of_lower(wg_tape *t, wg_mat a) {
    return wg_mat_add(t, wg_tril(t, a, 0), wg_mat_transpose(wg_tril(t, a, -1)));
}

/* X_ of X = Q U with U of order p, from Q_ (slot 0: 0) and U_ (value NULL: 0). */
static wg_mat qr_back(wg_tape *t, wg_mat q, wg_mat u, const wg_mat *qw, const wg_mat *uw) {
    wg_mat c = wg_mat_failed(0, 0), m;
    if (uw != NULL) m = wg_gemm(t, 'N', 'T', 1, u, wg_triu(t, *uw, 0), 0, u);
    if (qw == NULL) c = wg_matmul(t, q, of_lower(t, m));
    else if (q.rows == q.cols) { /* without what cancels, as rotation_vjp */
        const wg_mat b = wg_gemm(t, 'T', 'N', 1, q, *qw, 0, q);
        const wg_mat turned = wg_tril(t, wg_mat_sub(t, b, wg_mat_transpose(b)), -1);
        c = wg_matmul(t, q, uw != NULL ? wg_mat_add(t, of_lower(t, m), turned) : turned);
    } else {
        m = uw != NULL ? wg_gemm(t, 'T', 'N', -1, *qw, q, 1, m)
                       : wg_gemm(t, 'T', 'N', -1, *qw, q, 0, q);
        c = wg_gemm(t, 'N', 'N', 1, q, of_lower(t, m), 1, *qw);
    }
    return wg_trsm(t, 'R', 'U', 'T', 'N', 1, u, c);
}

/* The formulas of solve.h. What is no result is computed again. */
static wg_status qr_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                            const wg_mat *bar, wg_mat *back) {
    const struct qr *const what = (const struct qr *)b->params;
    const size_t m = in[0].rows, n = in[0].cols, p = wgi_smaller(m, n);
    wg_mat q, r;
    if (p == 0) return WG_OK;
    if (what->q >= 0 && what->r >= 0) q = out[what->q], r = out[what->r];
    else if (wg_qr(t, in[0], &q, &r) != WG_OK) return wg_tape_status(t);
    const wg_mat *qw = what->q >= 0 ? &bar[what->q] : NULL;
    const wg_mat *const rw = what->r >= 0 ? &bar[what->r] : NULL;
    const wg_mat u = n == p ? r : wg_mat_block(r, 0, 0, p, p);
    if (n == p || rw == NULL) {
        back[0] = qr_back(t, q, u, qw, rw);
        if (n != p) { /* Y has no part in Q */
            const wg_mat of[2] = {back[0], wg_mat_fill(t, m, n - p, 0)};
            back[0] = wg_concat_cols(t, 2, of);
        }
        return wg_tape_status(t);
    }
    const wg_mat y = wg_mat_block(in[0], 0, p, m, n - p);
    const wg_mat uw = wg_mat_block(*rw, 0, 0, p, p), vw = wg_mat_block(*rw, 0, p, p, n - p);
    const wg_mat more = qw != NULL ? wg_gemm(t, 'N', 'T', 1, y, vw, 1, *qw)
                                   : wg_gemm(t, 'N', 'T', 1, y, vw, 0, y);
    const wg_mat of[2] = {qr_back(t, q, u, &more, &uw), wg_matmul(t, q, vw)};
    back[0] = wg_concat_cols(t, 2, of);
    return wg_tape_status(t);
}

static const wgi_traits of_qr = {.whole = &wgi_whole_qr};
static const wgi_traits of_r = {.whole = &wgi_whole_qr, .whole_result = 1};
static const struct qr both = {0, 1};
/* Is the rank full? 1, without derivatives; where it is not it refuses, and in functions
 * gives NaN. */
static wg_status independent_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = wgi_room_of(b->in[0].rows * b->in[0].rows);
    return WG_OK;
}
static wg_status independent_value(wg_block *b) {
    const wg_block_arg *const r = &b->in[0];
    const double least = *(const double *)b->params;
    b->out[0].value[0] = 1;
    if (!wgi_dependent(1, r->rows, least, r->value, r->ld, b->work)) return WG_OK;
    return wgi_block_refuse(b, WG_ESINGULAR, "the columns are linearly dependent");
}
static wg_status independent_vjp(wg_block *b) { return (void)b, WG_OK; }
static wg_status independent_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                    wg_real *y) {
    const double least = *(const double *)b->params;
    const wg_real condition = wgi_expand_condition(t, wgi_reals_operand(b, x, 0), 1);
    y[0] = wgi_expand_good(t, wg_let(t, wg_sub(1 / (least * least), condition)));
    return WG_OK;
}

/* In a function. */
static wg_status qr_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                         const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"rank of R",
                                   WG_OP_EXPANDS,
                                   independent_shape,
                                   independent_value,
                                   independent_vjp,
                                   NULL,
                                   independent_expand,
                                   NULL,
                                   NULL};
    const size_t p = wgi_smaller(in[0].rows, in[0].cols);
    const double least = wgi_rounding(in[0].rows, in[0].cols);
    const wg_status s = qr_adjoint(t, b, in, out, bar, back);
    const wg_mat r = p == 0 ? out[1] : wg_mat_block(out[1], 0, 0, p, p);
    if (s != WG_OK || p == 0) return s;
    const wg_mat good = wgi_apply_one(t, &op, &least, sizeof least, 1, &r);
    back[0] = wg_mat_mul(t, good, back[0]);
    return wg_tape_status(t);
}

const wg_block_op wgi_op_qr = {"wg_qr", WG_OP_EXPANDS, qr_shape,   qr_value, qr_vjp,
                               qr_jvp,  qr_expand,     qr_adjoint, &of_qr};
const wgi_whole wgi_whole_qr = {&wgi_op_qr, "mn", "mssn", qr_rule, &both, sizeof both, 0, 6};
const wg_block_op wgi_op_qr_q = {"wg_qr_q", WG_OP_EXPANDS, qr_shape,   qr_value, qr_vjp,
                                 qr_jvp,    qr_expand,     qr_adjoint, &of_qr};
const wg_block_op wgi_op_qr_r = {"wg_qr_r", WG_OP_EXPANDS, qr_shape,   qr_value, qr_vjp,
                                 qr_jvp,    qr_expand,     qr_adjoint, &of_r};

wg_status wg_qr(wg_tape *t, wg_mat a, wg_mat *q, wg_mat *r) {
    const struct qr what = {0, 1};
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_qr, &what, sizeof what, 1, &a, 2, out);
    if (q != NULL) *q = out[0];
    if (r != NULL) *r = out[1];
    return s;
}

wg_mat wg_qr_q(wg_tape *t, wg_mat a) {
    const struct qr what = {0, -1};
    return wgi_apply_one(t, &wgi_op_qr_q, &what, sizeof what, 1, &a);
}

wg_mat wg_qr_r(wg_tape *t, wg_mat a) {
    const struct qr what = {-1, 0};
    return wgi_apply_one(t, &wgi_op_qr_r, &what, sizeof what, 1, &a);
}
