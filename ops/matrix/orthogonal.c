/* SPDX-License-Identifier: MIT */
/* QR, least squares, pseudo-inverse.
 *
 * QR, A m by n, p = min(m, n), the first p columns of A are X = Q U:
 *     M = U U_' - Q_' Q;   X_ += (Q_ + Q copyltu(M)) U^-T
 *     C = Q' Xt U^-1, S = triu(C) + tril(C, -1)';   Ut = S U, Qt = Xt U^-1 - Q S
 *   wide, A = [X Y], R = [U V]:  Q_ + Y V_' for Q_, Y_ += Q V_;   Vt = Q' (Yt - Qt V)
 *   Only the upper triangle of U_ and the lower one of M are looked at.
 *   R alone keeps the reflectors and never forms Q.
 * Least squares: solve.h.   tangents
 *     m >= n: Xt = P (Bt - At X) + (A'A)^-1 At' (B - A X)
 *     m < n:  Z = (AA')^-1 B;  Xt = A^+ (Bt - At X) + (I - A^+ A) At' Z
 *   by the factors and their Q: products of A with what (A'A)^-1 is in lose twice the digits
 * Pseudo-inverse, A = U S V' of numerical rank r, G = P_ (n by m), N = G' V, M = G U, K = V' M:
 *     A_ += U [-S^-1 K S^-1 - K' S^-2 - S^-2 K'] V' + N S^-2 V' + U S^-2 M'
 *   the tangent is the same map with U and V exchanged and At for G.
 * Sources: Walter and Lehmann 2010, arXiv:1001.1654; Roberts and Roberts 2020,
 * arXiv:2009.10071; Golub and Pereyra 1973. */
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <float.h>
#include <math.h>
#include <wengert/solve.h>
#include "dense.h"
#include "expand.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Workspace of dgeqrf, dorgqr, dormqr and their kin on `cols` columns: a block of 32 of them,
 * and the triangle of reflectors that dormqr keeps (65 by 64). */
static size_t reflector_room(size_t cols) { return 32 * larger(cols, 1) + 65 * 64; }

/* The first diagonal element of a triangle, the upper one or else the lower one, that is 0 to working
 * precision beside the largest element of it, counted from 1; 0: none. */
static int dependent(int upper, size_t p, size_t longest, const double *r, size_t ld) {
    double high = 0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = upper ? 0 : j; i < (upper ? j + 1 : p); i++)
            high = fmax(high, fabs(r[i + j * ld]));
    for (size_t i = 0; i < p; i++)
        if (fabs(r[i * (ld + 1)]) <= (double)longest * DBL_EPSILON * high)
            return wgi_int(i + 1);
    return 0;
}

/* ---- QR ---- */

struct qr {
    int q, r; /* which result it is; -1: not wanted */
};

static wg_status qr_shape(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    if (what->q >= 0) b->out[what->q].rows = m, b->out[what->q].cols = p;
    if (what->r >= 0) b->out[what->r].rows = p, b->out[what->r].cols = n;
    /* saved: the reflectors and their factors; with Q, R if that is no result */
    b->saved_bytes = what->q < 0   ? wgi_room_of(m * n) + wgi_room_of(p)
                     : what->r < 0 ? wgi_room_of(p * n)
                                   : 0;
    const size_t value = (what->q < 0 ? 0 : wgi_room_of(m * n) + wgi_room_of(p)) +
                         wgi_room_of(reflector_room(n));
    const size_t sweep = 2 * wgi_room_of(m * p) + wgi_room_of(p * p) + wgi_room_of(p * n) +
                         wgi_room_of(WGI_TRIANGLE) + wgi_room_of(reflector_room(n));
    b->work_bytes = larger(value, sweep);
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
    s.m = b->in[0].rows, s.n = b->in[0].cols, s.p = smaller(s.m, s.n);
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
    s.more_size = wgi_int(reflector_room(s.n));
    s.more = wgi_take(&work, reflector_room(s.n));
    s.y = wgi_take(&work, s.m * s.p);
    return s;
}

/* r = the upper trapezoid of the reflectors a, p by n. */
static void upper(size_t m, size_t n, const double *a, double *r) {
    const size_t p = smaller(m, n);
    for (size_t j = 0; j < n; j++) {
        const size_t k = smaller(j + 1, p);
        memcpy(r + j * p, a + j * m, k * sizeof *r);
        memset(r + j * p + k, 0, (p - k) * sizeof *r);
    }
}

static wg_status qr_value(wg_block *b) {
    const struct qr *const what = (const struct qr *)b->params;
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    const size_t more_size = reflector_room(n);
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
    upper(m, n, a, what->r < 0 ? (double *)(void *)saved : b->out[what->r].value);
    if (what->q < 0) return WG_OK;
    double *const q = b->out[what->q].value;
    if (q != a) memcpy(q, a, m * p * sizeof *q);
    (void)LAPACKE_dorgqr_work(LAPACK_COL_MAJOR, wgi_int(m), wgi_int(p), wgi_int(p), q,
                              wgi_int(m), tau, more, wgi_int(more_size));
    return WG_OK;
}

static wg_status degenerate(wg_block *b, const struct parts *s) {
    b->info = dependent(1, s->p, larger(s->m, s->n), s->r, s->ldr);
    if (b->info == 0) return WG_OK;
    b->why = "the matrix has not full rank: QR has no derivative";
    return WG_EDEGENERATE;
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

static int any(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 1;
    return 0;
}

/* Of A = [X Y], with V_ in vw: w += Y V_', Y_ += Q V_. */
static void wide_vjp(const struct parts *s, const wg_block_arg *a, const double *vw) {
    const size_t m = s->m, p = s->p, cols = s->n - p;
    const int mi = wgi_int(m), pi = wgi_int(p), wide = wgi_int(cols);
    double *const yw = a->bar + p * a->bar_ld;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, pi, wide, 1, a->value + p * a->ld,
                wgi_int(a->ld), vw, pi, 1, s->w, mi);
    if (s->q != NULL) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, wide, pi, 1, s->q, mi, vw,
                    pi, 1, yw, wgi_int(a->bar_ld));
        return;
    }
    times_q(s, cols, vw, s->v); /* p = m */
    wgi_add(m, cols, 1, s->v, (wgi_dense){yw, a->bar_ld, 0});
}

/* t = U U_', U_ in rw; NULL: 0. Of its transpose only the lower triangle. */
static void triangle_vjp(const struct parts *s, const double *rw) {
    const size_t p = s->p;
    if (rw == NULL) {
        memset(s->t, 0, p * p * sizeof *s->t);
        return;
    }
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < j; i++) s->t[i + j * p] = 0;
        for (size_t i = j; i < p; i++) s->t[i + j * p] = rw[j + i * p];
    }
    cblas_dtrmm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, wgi_int(p),
                wgi_int(p), 1, s->r, wgi_int(s->ldr), s->t, wgi_int(p));
}

/* w += Q copyltu(t - B'), B = Q' w, for a square Q, of which w = Q B: without what cancels this is
 * w = Q (copyltu(t) + tril(B - B', -1)). */
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
    int with_q = qw != NULL && any(qw, m * p);
    if (with_q) memcpy(s.w, qw, m * p * sizeof *s.w);
    if (s.n != p && rw != NULL) {
        if (!with_q) memset(s.w, 0, m * p * sizeof *s.w);
        wide_vjp(&s, a, rw + p * p);
        with_q = 1;
    }
    triangle_vjp(&s, rw);
    orthogonal_vjp(&s, with_q);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, wgi_int(m),
                wgi_int(p), 1, s.r, wgi_int(s.ldr), s.w, wgi_int(m));
    wgi_add(m, p, 1, s.w, (wgi_dense){a->bar, a->bar_ld, 0});
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
    wgi_copy(m, p, a->bar, a->bar_ld, s.w, m);
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
    if (what->q >= 0) memcpy(b->out[what->q].bar, s.w, m * p * sizeof *s.w);
    if (what->r < 0) return WG_OK;
    double *const rt = b->out[what->r].bar, *const vt = rt + p * p;
    memcpy(rt, s.t, p * p * sizeof *rt);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasNoTrans, CblasNonUnit, pi, pi, 1,
                s.r, ldr, rt, pi);
    if (wide == 0) return WG_OK;
    /* p = m: s.v = Yt - Qt V, and Q' of it */
    wgi_copy(m, n - p, a->bar + p * a->bar_ld, a->bar_ld, s.v, m);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, wide, pi, -1, s.w, mi,
                s.r + p * s.ldr, ldr, 1, s.v, mi);
    (void)times_qt(&s, n - p, s.v, vt);
    return WG_OK;
}

/* Whether a triangle, r of p columns, is one that `dependent` finds nothing in is compared at every
 * point. */
static int has_full_rank(wg_tape *t, size_t p, size_t longest, const wg_real *r) {
    if (p == 0) return 1;
    wg_real low = wg_let(t, wg_fabs(r[0])), high = low;
    for (size_t j = 1; j < p; j++)
        for (size_t i = 0; i <= j; i++) {
            const wg_real size = wg_let(t, wg_fabs(r[i + j * p]));
            if (i == j) low = wg_let(t, wg_fmin(low, size));
            high = wg_let(t, wg_fmax(high, size));
        }
    high = wg_let(t, wg_mul((double)longest * DBL_EPSILON, high));
    return wg_gt(t, low, high);
}

static wg_status qr_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct qr *const what = (const struct qr *)b->params;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    const size_t m = a.rows, n = a.cols, p = smaller(m, n);
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
    return has_full_rank(t, p, larger(m, n), r) ? WG_OK : WG_EDEGENERATE;
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
    const size_t m = in[0].rows, n = in[0].cols, p = smaller(m, n);
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
/* Is the rank full? 1, without derivatives; where it is not it refuses, and in functions gives NaN. */
static wg_status independent_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status independent_value(wg_block *b) {
    const wg_block_arg *const r = &b->in[0];
    const size_t longest = *(const size_t *)b->params;
    b->out[0].value[0] = 1;
    if (!dependent(1, r->rows, longest, r->value, r->ld)) return WG_OK;
    b->why = "the columns are linearly dependent";
    return WG_ESINGULAR;
}
static wg_status independent_vjp(wg_block *b) { return (void)b, WG_OK; }
static wg_status independent_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                    wg_real *y) {
    const wgi_reals r = wgi_reals_operand(b, x, 0);
    const double least = (double)*(const size_t *)b->params * DBL_EPSILON;
    wg_real high = wg_constant(0);
    y[0] = wg_constant(1);
    for (size_t j = 0; j < r.rows; j++)
        for (size_t i = 0; i <= j; i++)
            high = wg_let(t, wg_fmax(high, wg_fabs(wgi_reals_at(r, i, j))));
    for (size_t i = 0; i < r.rows; i++) {
        const wg_real size = wg_let(t, wg_fabs(wgi_reals_at(r, i, i)));
        const wg_real over = wg_let(t, wg_sub(size, wg_mul(least, high)));
        y[0] = wg_let(t, wg_mul(y[0], wgi_expand_good(t, over)));
    }
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
    const size_t p = smaller(in[0].rows, in[0].cols), longest = larger(in[0].rows, in[0].cols);
    const wg_status s = qr_adjoint(t, b, in, out, bar, back);
    const wg_mat r = p == 0 ? out[1] : wg_mat_block(out[1], 0, 0, p, p);
    wg_mat good;
    if (s != WG_OK || p == 0) return s;
    (void)wg_apply(t, &op, &longest, sizeof longest, 1, &r, 1, &good);
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
    wg_mat q;
    (void)wg_apply(t, &wgi_op_qr_q, &what, sizeof what, 1, &a, 1, &q);
    return q;
}

wg_mat wg_qr_r(wg_tape *t, wg_mat a) {
    const struct qr what = {-1, 0};
    wg_mat r;
    (void)wg_apply(t, &wgi_op_qr_r, &what, sizeof what, 1, &a, 1, &r);
    return r;
}

/* ---- least squares ---- */

static wg_status lstsq_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, k = b->in[1].cols, p = smaller(m, n);
    if (b->in[1].rows != m) {
        b->why = "the right-hand side has not as many rows as the matrix";
        return WG_ESHAPE;
    }
    b->out[0].rows = n, b->out[0].cols = k;
    b->saved_bytes = wgi_room_of(m * n) + wgi_room_of(p);
    b->work_bytes = wgi_room_of(reflector_room(larger(larger(m, n), k))) +
                    2 * wgi_room_of(m * k) + wgi_room_of(n * k);
    return WG_OK;
}

struct least {
    size_t m, n, k;
    double *a, *tau;              /* dgeqrf's, or dgelqf's for m < n */
    double *more, *mk, *mk2, *nk; /* workspace */
    int more_size;
};

static struct least least_of(const wg_block *b) {
    struct least s;
    char *saved = (char *)b->saved, *work = (char *)b->work;
    s.m = b->in[0].rows, s.n = b->in[0].cols, s.k = b->in[1].cols;
    s.a = wgi_take(&saved, s.m * s.n), s.tau = (double *)(void *)saved;
    const size_t size = reflector_room(larger(larger(s.m, s.n), s.k));
    s.more = wgi_take(&work, size), s.more_size = wgi_int(size);
    s.mk = wgi_take(&work, s.m * s.k), s.mk2 = wgi_take(&work, s.m * s.k);
    s.nk = wgi_take(&work, s.n * s.k);
    return s;
}

/* x = R^-1 x or R^-T x;  m < n: L^-1 x, L^-T x. */
static void triangle_solve(const struct least *s, int trans, double *x, size_t ldx) {
    const int tall = s->m >= s->n;
    cblas_dtrsm(CblasColMajor, CblasLeft, tall ? CblasUpper : CblasLower, wgi_op(trans),
                CblasNonUnit, wgi_int(smaller(s->m, s->n)), wgi_int(s->k), 1, s->a,
                wgi_int(s->m), x, wgi_int(ldx));
}

/* x = Q x or Q' x: Q m by m, or n by n for m < n. */
static void orthogonal_times(const struct least *s, int trans, double *x) {
    const int m = wgi_int(s->m), n = wgi_int(s->n), k = wgi_int(s->k);
    const char t = trans ? 'T' : 'N';
    if (s->m >= s->n)
        (void)LAPACKE_dormqr_work(LAPACK_COL_MAJOR, 'L', t, m, k, n, s->a, m, s->tau, x, m,
                                  s->more, s->more_size);
    else
        (void)LAPACKE_dormlq_work(LAPACK_COL_MAJOR, 'L', t, n, k, m, s->a, m, s->tau, x, n,
                                  s->more, s->more_size);
}

/* to, `rows` tall = x, `kept` tall, above zeros. */
static void above_zeros(size_t kept, size_t k, const double *x, size_t rows, double *to) {
    for (size_t j = 0; j < k; j++) {
        memcpy(to + j * rows, x + j * kept, kept * sizeof *to);
        memset(to + j * rows + kept, 0, (rows - kept) * sizeof *to);
    }
}

static wg_status lstsq_value(wg_block *b) {
    const struct least s = least_of(b);
    const int m = wgi_int(s.m), n = wgi_int(s.n), tall = s.m >= s.n;
    const size_t p = smaller(s.m, s.n);
    double *const x = b->out[0].value;
    if (p == 0) {
        memset(x, 0, s.n * s.k * sizeof *x);
        return WG_OK;
    }
    wgi_copy(s.m, s.n, b->in[0].value, b->in[0].ld, s.a, s.m);
    if (tall)
        (void)LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, m, n, s.a, m, s.tau, s.more, s.more_size);
    else (void)LAPACKE_dgelqf_work(LAPACK_COL_MAJOR, m, n, s.a, m, s.tau, s.more, s.more_size);
    b->info = dependent(tall, p, larger(s.m, s.n), s.a, s.m);
    if (b->info != 0) {
        b->why = "the matrix has not full rank";
        return WG_ESINGULAR;
    }
    if (s.k == 0) return WG_OK;
    wgi_copy(s.m, s.k, b->in[1].value, b->in[1].ld, s.mk, s.m);
    if (tall) {
        orthogonal_times(&s, 1, s.mk);
        wgi_copy(s.n, s.k, s.mk, s.m, x, s.n);
        triangle_solve(&s, 0, x, s.n);
    } else {
        triangle_solve(&s, 0, s.mk, s.m);
        above_zeros(s.m, s.k, s.mk, s.n, x);
        orthogonal_times(&s, 1, x);
    }
    return WG_OK;
}

/* y = f op(A) x + beta y, A or At as an operand stands; k columns. */
static void multiply(const struct least *s, double f, const double *a, size_t lda, int trans,
                     const double *x, double beta, double *y) {
    const size_t rows = trans ? s->n : s->m, inner = trans ? s->m : s->n;
    cblas_dgemm(CblasColMajor, wgi_op(trans), CblasNoTrans, wgi_int(rows), wgi_int(s->k),
                wgi_int(inner), f, a, wgi_int(lda), x, wgi_int(inner), beta, y, wgi_int(rows));
}

/* mk = B - A X, of this point. */
static void residual(const wg_block *b, const struct least *s) {
    wgi_copy(s->m, s->k, b->in[1].value, b->in[1].ld, s->mk, s->m);
    multiply(s, -1, b->in[0].value, b->in[0].ld, 0, b->out[0].value, 1, s->mk);
}

static wg_status lstsq_vjp(wg_block *b) {
    const struct least s = least_of(b);
    const size_t m = s.m, n = s.n, k = s.k;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const double *const x = b->out[0].value, *const w = b->out[0].bar;
    if (m == 0 || n == 0 || k == 0) return WG_OK;
    const wgi_dense aw = wgi_bar_of(a, n, 0), cw = wgi_bar_of(c, k, 0);
    memcpy(s.nk, w, n * k * sizeof *w);
    if (m >= n) {
        triangle_solve(&s, 1, s.nk, n);
        above_zeros(n, k, s.nk, m, s.mk2);
        orthogonal_times(&s, 0, s.mk2);
        if (cw.p != NULL) wgi_add(m, k, 1, s.mk2, cw);
        if (aw.p == NULL) return WG_OK;
        wgi_gemm_add(m, n, k, -1, 'N', s.mk2, m, 'T', x, n, aw);
        residual(b, &s);
        triangle_solve(&s, 0, s.nk, n);
    } else {
        orthogonal_times(&s, 0, s.nk);
        wgi_copy(m, k, s.nk, n, s.mk2, m);
        triangle_solve(&s, 1, s.mk2, m);
        if (cw.p != NULL) wgi_add(m, k, 1, s.mk2, cw);
        if (aw.p == NULL) return WG_OK;
        wgi_gemm_add(m, n, k, -1, 'N', s.mk2, m, 'T', x, n, aw);
        for (size_t j = 0; j < k; j++) memset(s.nk + j * n, 0, m * sizeof *s.nk);
        orthogonal_times(&s, 1, s.nk);
        wgi_copy(m, k, c->value, c->ld, s.mk, m);
        triangle_solve(&s, 0, s.mk, m);
        triangle_solve(&s, 1, s.mk, m);
    }
    wgi_gemm_add(m, n, k, 1, 'N', s.mk, m, 'T', s.nk, n, aw);
    return WG_OK;
}

static wg_status lstsq_jvp(wg_block *b) {
    const struct least s = least_of(b);
    const size_t m = s.m, n = s.n, k = s.k;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const double *const x = b->out[0].value;
    double *const xt = b->out[0].bar;
    int moves = 0; /* else (AA')^-1 B, which may be infinite, is not multiplied by 0 */
    for (size_t j = 0; j < n && a->bar != NULL; j++) moves |= any(a->bar + j * a->bar_ld, m);
    memset(xt, 0, n * k * sizeof *xt);
    if (m == 0 || n == 0 || k == 0) return WG_OK;
    if (c->bar != NULL) wgi_copy(m, k, c->bar, c->bar_ld, s.mk2, m);
    else memset(s.mk2, 0, m * k * sizeof *s.mk2);
    if (moves) multiply(&s, -1, a->bar, a->bar_ld, 0, x, 1, s.mk2);
    if (m >= n) {
        orthogonal_times(&s, 1, s.mk2);
        wgi_copy(n, k, s.mk2, m, xt, n);
        if (moves) {
            residual(b, &s);
            multiply(&s, 1, a->bar, a->bar_ld, 1, s.mk, 0, s.nk);
            triangle_solve(&s, 1, s.nk, n);
            for (size_t i = 0; i < n * k; i++) xt[i] += s.nk[i];
        }
        triangle_solve(&s, 0, xt, n);
    } else {
        triangle_solve(&s, 0, s.mk2, m);
        above_zeros(m, k, s.mk2, n, xt);
        if (moves) {
            wgi_copy(m, k, c->value, c->ld, s.mk, m);
            triangle_solve(&s, 0, s.mk, m);
            triangle_solve(&s, 1, s.mk, m);
            multiply(&s, 1, a->bar, a->bar_ld, 1, s.mk, 0, s.nk);
            orthogonal_times(&s, 0, s.nk);
            for (size_t j = 0; j < k; j++)
                for (size_t i = m; i < n; i++) xt[i + j * n] = s.nk[i + j * n];
        }
        orthogonal_times(&s, 1, xt);
    }
    return WG_OK;
}

/* y = A^+ C by A = Q R, or A' = Q R: R^-1 Q' C, or Q R'^-1 C. */
static wg_status write_least(wg_tape *t, wgi_reals a, wgi_reals c, wg_real *y) {
    const int tall = a.rows >= a.cols;
    const wgi_reals turned = wgi_reals_turn(a, !tall);
    const size_t m = turned.rows, p = turned.cols, k = c.cols;
    wg_real *const q = wgi_expand_room(t, m * p), *const r = wgi_expand_room(t, p * p);
    wg_real *const z = tall ? y : wgi_expand_copied(t, c);
    const wgi_reals basis = wgi_reals_packed(q, m, p), triangle = wgi_reals_packed(r, p, p);
    if (q == NULL || r == NULL || z == NULL) return wg_tape_status(t);
    wgi_expand_qr(t, turned, NULL, q, r);
    const wg_status s = has_full_rank(t, p, m, r) ? WG_OK : WG_ESINGULAR;
    if (tall) wgi_expand_mul(t, wgi_reals_turn(basis, 1), c, z);
    wgi_expand_triangle(t, wgi_reals_turn(triangle, !tall), tall, 0, k, z, 1, p);
    if (!tall) wgi_expand_mul(t, basis, wgi_reals_packed(z, p, k), y);
    return s;
}

static wg_status lstsq_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    return write_least(t, wgi_reals_operand(b, x, 0), wgi_reals_operand(b, x, 1), y);
}

/* U with A' U = X_ and |U| smallest, or |A' U - X_| smallest, B_ = U. Tall: A_ = (B - A X) Y' - U X'
 * with A Y = U; wide: A_ = Z (X_ - A' U)' - U X' with A' Z = X. */
static wg_status lstsq_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const wg_mat a = in[0], turned = wg_mat_transpose(a), x = out[0];
    (void)b;
    if (a.rows == 0 || a.cols == 0 || x.cols == 0) return WG_OK;
    const wg_mat u = wg_lstsq(t, turned, bar[0]);
    back[1] = u;
    if (a.at.slot == 0) return wg_tape_status(t);
    const int tall = a.rows >= a.cols;
    const wg_mat left =
        tall ? wg_gemm(t, 'N', 'N', -1, a, x, 1, in[1]) : wg_lstsq(t, turned, x);
    const wg_mat right =
        tall ? wg_lstsq(t, a, u) : wg_gemm(t, 'N', 'N', -1, turned, u, 1, bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', 1, left, right, 1, wg_gemm(t, 'N', 'T', -1, u, x, 0, u));
    return wg_tape_status(t);
}

static const wgi_traits of_lstsq = {.whole = &wgi_whole_lstsq};
const wg_block_op wgi_op_lstsq = {"wg_lstsq",   WG_OP_EXPANDS, lstsq_shape,
                                  lstsq_value,  lstsq_vjp,     lstsq_jvp,
                                  lstsq_expand, lstsq_adjoint, &of_lstsq};
const wgi_whole wgi_whole_lstsq = {&wgi_op_lstsq, "mnmk", "nk", NULL, NULL, 0, 0, 6};

wg_mat wg_lstsq(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    wg_mat x;
    (void)wg_apply(t, &wgi_op_lstsq, NULL, 0, 2, in, 1, &x);
    return x;
}

/* ---- pseudo-inverse ---- */

/* dgesdd, jobz 'S', at its least: 4 p^2 + 7 p, and a block of rows and columns. */
static size_t svd_room(size_t m, size_t n) {
    const size_t p = smaller(m, n);
    return 4 * p * p + 7 * p + 64 * (m + n) + 1;
}

static wg_status pinv_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    b->out[0].rows = n, b->out[0].cols = m;
    b->saved_bytes = wgi_room_of(m * p) + wgi_room_of(n * p) + wgi_room_of(p) + wgi_room_of(1);
    const size_t value = wgi_room_of(m * n) + wgi_room_of(p * n) + wgi_room_of(svd_room(m, n)) +
                         wgi_rounded(8 * p * sizeof(int));
    const size_t sweep = wgi_room_of(m * p) + wgi_room_of(n * p) + 2 * wgi_room_of(p * p);
    b->work_bytes = larger(value, sweep);
    return WG_OK;
}

/* saved: U m by r, V n by r, s, r. */
struct svd {
    double *u, *v, *s, *rank;
};

static struct svd svd_of(const wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    char *saved = (char *)b->saved;
    struct svd d;
    d.u = wgi_take(&saved, m * p), d.v = wgi_take(&saved, n * p);
    d.s = wgi_take(&saved, p), d.rank = wgi_take(&saved, 1);
    return d;
}

static double threshold(const wg_block *b) {
    const double given = *(const double *)b->params;
    return given < 0 ? (double)larger(b->in[0].rows, b->in[0].cols) * DBL_EPSILON : given;
}

static wg_status pinv_value(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[0].cols, p = smaller(m, n);
    const int mi = wgi_int(m), ni = wgi_int(n), pi = wgi_int(p);
    const double rcond = threshold(b);
    const struct svd d = svd_of(b);
    char *work = (char *)b->work;
    double *const a = wgi_take(&work, m * n), *const vt = wgi_take(&work, p * n);
    double *const more = wgi_take(&work, svd_room(m, n));
    int *const integers = wgi_take_int(&work, 8 * p);
    if (p == 0) return WG_OK;
    if (!wgi_spectral_finite(m, n, b->in[0].value, b->in[0].ld)) {
        b->why = WGI_SPECTRAL_NOT_FINITE;
        return WG_ENONFINITE;
    }
    wgi_copy(m, n, b->in[0].value, b->in[0].ld, a, m);
    b->info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', mi, ni, a, mi, d.s, d.u, mi, vt, pi,
                                  more, wgi_int(svd_room(m, n)), integers);
    if (b->info != 0) {
        b->why = WGI_SPECTRAL_GAVE_UP;
        return WG_ECONVERGE;
    }
    size_t r = 0;
    while (r < p && d.s[r] > rcond * d.s[0]) r++;
    *d.rank = (double)r;
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < n; i++) d.v[i + j * n] = vt[j + i * p];
    /* V S^-1 in the place of vt, then times U' */
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < n; i++) vt[i + j * n] = d.v[i + j * n] / d.s[j];
    if (r == 0) memset(b->out[0].value, 0, m * n * sizeof *a);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, ni, mi, wgi_int(r), 1, vt, ni, d.u,
                    mi, 0, b->out[0].value, ni);
    return WG_OK;
}

/* y += u [..] v' + ..., the map of the head of this file: u m by r, v n by r, g n by m, y m by
 * n. */
static void pinv_map(size_t r, size_t m, const double *u, size_t n, const double *v,
                     const double *s, const double *g, size_t ldg, double *y, size_t ldy,
                     char *work) {
    const int mi = wgi_int(m), ni = wgi_int(n), ri = wgi_int(r), gi = wgi_int(ldg);
    double *const gv = wgi_take(&work, m * r), *const gu = wgi_take(&work, n * r);
    double *const k = wgi_take(&work, r * r), *const e = wgi_take(&work, r * r);
    if (r == 0) return;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, mi, ri, ni, 1, g, gi, v, ni, 0, gv,
                mi);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, ni, ri, mi, 1, g, gi, u, mi, 0, gu,
                ni);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, ri, ri, ni, 1, v, ni, gu, ni, 0, k,
                ri);
    for (size_t j = 0; j < r; j++)
        for (size_t i = 0; i < r; i++) {
            const double a = 1 / s[i], c = 1 / s[j];
            e[i + j * r] = -(a * k[i + j * r] * c + k[j + i * r] * (c * c + a * a));
        }
    for (size_t j = 0; j < r; j++) {
        cblas_dscal(mi, 1 / (s[j] * s[j]), gv + j * m, 1);
        cblas_dscal(ni, 1 / (s[j] * s[j]), gu + j * n, 1);
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, mi, ri, ri, 1, u, mi, e, ri, 1, gv,
                mi);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, ni, ri, 1, gv, mi, v, ni, 1, y,
                wgi_int(ldy));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, mi, ni, ri, 1, u, mi, gu, ni, 1, y,
                wgi_int(ldy));
}

static wg_status pinv_vjp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const struct svd d = svd_of(b);
    if (a->bar == NULL || smaller(a->rows, a->cols) == 0) return WG_OK;
    pinv_map((size_t)*d.rank, a->rows, d.u, a->cols, d.v, d.s, b->out[0].bar, a->cols, a->bar,
             a->bar_ld, (char *)b->work);
    return WG_OK;
}

static wg_status pinv_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const struct svd d = svd_of(b);
    memset(b->out[0].bar, 0, a->rows * a->cols * sizeof(double));
    if (a->bar == NULL || smaller(a->rows, a->cols) == 0) return WG_OK;
    pinv_map((size_t)*d.rank, a->cols, d.v, a->rows, d.u, d.s, a->bar, a->bar_ld, b->out[0].bar,
             a->cols, (char *)b->work);
    return WG_OK;
}

/* A matrix of full rank only: at every point the norms of A and A^+ are compared, whose product
 * is not below the ratio of the largest to the smallest singular value. */
static wg_status pinv_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t m = b->in[0].rows, n = b->in[0].cols;
    const wg_real *const one = wgi_expand_identity(t, m);
    if (one == NULL) return wg_tape_status(t);
    if (m == 0 || n == 0) return WG_OK;
    const wg_status s =
        write_least(t, wgi_reals_operand(b, x, 0), wgi_reals_packed(one, m, m), y);
    if (s != WG_OK) return s == WG_ESINGULAR ? WG_EDEGENERATE : s;
    const wg_real of_a = wg_norm2(t, m * n, x), of_y = wg_norm2(t, m * n, y);
    const wg_real ratio = wg_let(t, wg_mul(of_a, of_y));
    return wg_lt(t, ratio, wg_constant(1 / threshold(b))) ? WG_OK : WG_EDEGENERATE;
}

/* With P = A^+:  - P' G P' + (G' - A P G') P P' + P' P (G' - G' P A)
 * Source: Golub and Pereyra 1973, 4.12. */
static wg_status pinv_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const wg_mat a = in[0], p = out[0], g = wg_mat_transpose(bar[0]);
    (void)b;
    if (a.rows == 0 || a.cols == 0) return WG_OK;
    const wg_mat pg = wg_matmul(t, p, g), gp = wg_matmul(t, g, p);
    const wg_mat left = wg_gemm(t, 'N', 'N', -1, a, pg, 1, g);
    const wg_mat right = wg_gemm(t, 'N', 'N', -1, gp, a, 1, g);
    const wg_mat one = wg_gemm(t, 'N', 'T', 1, wg_matmul(t, left, p), p, 0, a);
    const wg_mat two = wg_gemm(t, 'T', 'N', 1, p, wg_matmul(t, p, right), 1, one);
    const wg_mat gt = wg_gemm(t, 'T', 'N', 1, p, bar[0], 0, p);
    back[0] = wg_gemm(t, 'N', 'T', -1, gt, p, 1, two);
    return wg_tape_status(t);
}

static const wgi_traits of_pinv = {.whole = &wgi_whole_pinv};
const wg_block_op wgi_op_pinv = {"wg_pinv", WG_OP_EXPANDS, pinv_shape,   pinv_value, pinv_vjp,
                                 pinv_jvp,  pinv_expand,   pinv_adjoint, &of_pinv};
const wgi_whole wgi_whole_pinv = {&wgi_op_pinv, "mn", "nm", NULL, NULL, 0, 1, 40};

wg_mat wg_pinv(wg_tape *t, wg_mat a, double rcond) {
    wg_mat p;
    (void)wg_apply(t, &wgi_op_pinv, &rcond, sizeof rcond, 1, &a, 1, &p);
    return p;
}
