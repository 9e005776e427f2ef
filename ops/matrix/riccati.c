/* SPDX-License-Identifier: MIT */
/* The algebraic equations of Riccati: the solution X, symmetric, for which C is stable.
 *
 * Letters: n order, A, B, Q, R operands (Q and R are (Q + Q')/2, (R + R')/2), K = R^-1 B',
 * G = B K; a bar for adjoints, a dot for tangents, C = U T U' a real Schur form, which is kept.
 *
 *     continuous: A'X + X A - X G X + Q = 0,  C = A - G X,  N = X
 *                 C'X. + X. C + E = 0;                C Y + Y C' = -sym X_
 *     discrete:   X = A'X C + Q,  C = (I + G X)^-1 A,  N = X C
 *                 X. = C'X. C + E;                    Y = C Y C' + sym X_
 *     E = A.'N + N'A. - N'G.N + Q.,  G. = B.K + K'B.' - K'R.K
 *     A_ += 2 N Y,  Q_ += Y,  G_ = -N Y N',  B_ += 2 G_ K',  R_ -= K G_ K'
 *
 * X comes of the stable subspace of [A -G; -Q -A'], or of the pencil [A 0; -Q I] - z [I G; 0
 * A'], ordered by dgees or dgges, and then of Newton's steps, by the equation of the tangents.
 * Sources: Laub 1979; Pappas, Laub and Sandell 1980; Kleinman 1968; Van Loan 1985; Kao and
 * Hennequin 2020. */
#include <float.h>
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include "dense.h"
#include "matrix_function.h"
#include "schur.h"
#include "traits.h"
#include "whole.h"

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* params: an int, discrete. */
static int is_discrete(const wg_block *b) { return *(const int *)b->params; }

/* saved: K, k-by-n, and N, C's T and U, n-by-n. */
typedef struct residuals {
    size_t n, k;
    double *gain, *side, *t, *u;
} residuals;
static residuals residuals_of(const wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[1].cols;
    double *const at = b->saved;
    return (residuals){n, k, at, at + n * k, at + n * k + n * n, at + n * k + 2 * n * n};
}

enum { NEWTON_STEPS = 12 };
/* Doubles that dgees and dgges of twice the order want, and dsytrf. */
static size_t lapack_doubles(size_t n, size_t k) { return 200 * n + 64 * k + 4200; }

static wg_status riccati_shape(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[1].cols;
    if (b->in[0].cols != n || b->in[1].rows != n || b->in[2].rows != n || b->in[2].cols != n ||
        b->in[3].rows != k || b->in[3].cols != k)
        return wgi_block_refuse(
            b, WG_ESHAPE,
            "A and Q are square, B has their rows, R is of the order of its columns");
    if (larger(2 * n, k) > WGI_SPECTRAL_ORDER)
        return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    b->out[0].rows = b->out[0].cols = n;
    b->saved_bytes = (n * k + 3 * n * n) * sizeof(double);
    const size_t value = 19 * n * n + k * k + 6 * n + lapack_doubles(n, k);
    const size_t sweep = 6 * n * n + n * k + wgi_schur_stein_doubles(n);
    b->work_bytes = larger(value, sweep) * sizeof(double) +
                    larger(2 * n, k) * larger(sizeof(lapack_int), sizeof(lapack_logical));
    return WG_OK;
}

/* c = alpha op(a) op(b) + beta c; packed. */
static void gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *a,
                 const double *b, double beta, double *c) {
    cblas_dgemm(CblasColMajor, wgi_op(ta), wgi_op(tb), wgi_int(m), wgi_int(n), wgi_int(k),
                alpha, a, wgi_int(wgi_ld(ta ? k : m)), b, wgi_int(wgi_ld(tb ? n : k)), beta, c,
                wgi_int(wgi_ld(m)));
}

/* x = the solution of the equation of the tangents for E in x, or, with `turned`, of the
 * adjoints for sym X_. 0: it is not within the range of numbers. Room: n^2 +
 * wgi_schur_stein_doubles. */
static int solve(const wg_block *b, const residuals *s, int turned, double *x, double *room) {
    const size_t n = s->n;
    wgi_schur_turn('T', 'N', n, n, s->u, s->u, x, n, x, room);
    if (is_discrete(b)) {
        if (wgi_schur_stein(turned ? 'N' : 'T', n, s->t, x, room)) return 0;
    } else {
        for (size_t i = 0; i < n * n; i++) x[i] = -x[i];
        if (wgi_schur_sylvester(turned ? 'N' : 'T', turned ? 'T' : 'N', n, n, s->t, n, s->t, n,
                                x, n))
            return 0;
    }
    wgi_schur_turn('N', 'T', n, n, s->u, s->u, x, n, x, room);
    return wgi_spectral_finite(n, n, x, n);
}

/* ---- the solution ---- */

static lapack_logical is_left(const double *re, const double *im) {
    (void)im;
    return *re < 0;
}
static lapack_logical is_inside(const double *re, const double *im, const double *by) {
    return hypot(*re, *im) < fabs(*by);
}

static wg_status none(wg_block *b) {
    b->info = 0;
    return wgi_block_refuse(
        b, WG_ESINGULAR,
        "there is no stabilizing solution, or none that is known to any digit");
}

/* Sets block (i, j), n-by-n, of a matrix of twice the order to f op(x); x NULL: I. */
static void block(size_t n, double *h, size_t i, size_t j, double f, int turned,
                  const double *x) {
    for (size_t c = 0; c < n; c++)
        for (size_t r = 0; r < n; r++)
            h[i * n + r + (j * n + c) * 2 * n] =
                x == NULL ? (r == c ? f : 0) : f * (turned ? x[c + r * n] : x[r + c * n]);
}

/* x = the solution by an invariant subspace. Room: 12 n^2 and more. */
static wg_status by_subspace(wg_block *b, size_t n, const double *a, const double *g,
                             const double *q, double *x, double *room, double *work,
                             size_t work_size, void *flags) {
    const int m = wgi_int(2 * n), order = wgi_int(n);
    double *const h = room, *const p = h + 4 * n * n, *const z = p + 4 * n * n;
    double *const re = z + 4 * n * n, *const im = re + 2 * n, *const by = im + 2 * n;
    lapack_int count = 0;
    memset(room, 0, 12 * n * n * sizeof *room);
    block(n, h, 0, 0, 1, 0, a);
    block(n, h, 1, 0, -1, 0, q);
    if (is_discrete(b)) {
        block(n, h, 1, 1, 1, 0, NULL);
        block(n, p, 0, 0, 1, 0, NULL);
        block(n, p, 0, 1, 1, 0, g);
        block(n, p, 1, 1, 1, 1, a);
        b->info = LAPACKE_dgges_work(LAPACK_COL_MAJOR, 'N', 'V', 'S', is_inside, m, h, m, p, m,
                                     &count, re, im, by, NULL, 1, z, m, work,
                                     wgi_int(work_size), flags);
    } else {
        block(n, h, 0, 1, -1, 0, g);
        block(n, h, 1, 1, -1, 1, a);
        b->info = LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'S', is_left, m, h, m, &count, re,
                                     im, z, m, work, wgi_int(work_size), flags);
    }
    if (b->info != 0 && b->info <= m + (is_discrete(b) ? 1 : 0))
        return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    if (b->info != 0 || (size_t)count != n) return none(b);
    /* Z11'X = Z21' for X' = X */
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            h[i + j * n] = z[j + i * 2 * n], x[i + j * n] = z[n + j + i * 2 * n];
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, h, order, flags) != 0)
        return none(b);
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', order, order, h, order, flags, x, order);
    return wgi_spectral_symmetric(n, x, n, x) ? WG_OK : none(b);
}

/* C and N at X, and T and U of C. c: n^2 and room for n^2 more. */
static wg_status close_loop(wg_block *b, const residuals *s, const double *a, const double *g,
                            const double *x, double *c, double *work, lapack_int *pivot) {
    const size_t n = s->n;
    const int order = wgi_int(n);
    memcpy(c, a, n * n * sizeof *c);
    if (is_discrete(b)) {
        double *const w = c + n * n;
        wgi_square_identity(n, w);
        gemm(0, 0, n, n, n, 1, g, x, 1, w);
        if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, w, order, pivot) != 0)
            return none(b);
        (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', order, order, w, order, pivot, c,
                                  order);
        gemm(0, 0, n, n, n, 1, x, c, 0, s->side);
    } else {
        gemm(0, 0, n, n, n, -1, g, x, 1, c);
        memcpy(s->side, x, n * n * sizeof *x);
    }
    if (!wgi_spectral_finite(n, n, c, n) || !wgi_spectral_finite(n, n, s->side, n))
        return none(b);
    memcpy(s->t, c, n * n * sizeof *c);
    b->info = wgi_schur(n, s->t, s->u, work);
    if (b->info != 0) return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
    for (size_t i = 0; i < n; i++) { /* what wgi_schur leaves first: the eigenvalues */
        const double re = work[i], im = work[n + i];
        if (!(is_discrete(b) ? hypot(re, im) < 1 : re < 0)) return none(b);
    }
    return WG_OK;
}

/* Is C, which close_loop has left, stable as far as it is known? Where a residual is 0 Newton's
 * steps cannot tell. By H with C'H + H C + I = 0, or H = C'H C + I, C is about 1/|H| away
 * from others. */
static wg_status assure(wg_block *b, const residuals *s, double *room) {
    const size_t n = s->n;
    const double norm = wgi_norm_1(n, s->t, n), size = is_discrete(b) ? fmax(1, norm) : 1;
    double *const h = room;
    wgi_square_identity(n, h);
    if (!solve(b, s, 0, h, room + n * n)) return none(b);
    const double error = (double)n * DBL_EPSILON * norm * size * wgi_norm_1(n, h, n);
    return error < 1 ? WG_OK : none(b);
}

/* x += a step of Newton's; gives its size beside that of x. */
static double improve(const wg_block *b, const residuals *s, const double *a, const double *q,
                      const double *g, double *x, double *step, double *room) {
    const size_t n = s->n;
    double *const w = room;
    memcpy(step, q, n * n * sizeof *q);
    gemm(1, 0, n, n, n, 1, a, s->side, 1, step);
    if (is_discrete(b)) {
        for (size_t i = 0; i < n * n; i++) step[i] -= x[i];
    } else {
        gemm(0, 0, n, n, n, 1, x, a, 1, step);
        gemm(0, 0, n, n, n, 1, g, x, 0, w);
        gemm(0, 0, n, n, n, -1, x, w, 1, step);
    }
    (void)wgi_spectral_symmetric(n, step, n, step);
    if (!solve(b, s, 0, step, room)) return INFINITY;
    (void)wgi_spectral_symmetric(n, step, n, step);
    for (size_t i = 0; i < n * n; i++) x[i] += step[i];
    const double size = wgi_spectral_largest(n * n, x), by = wgi_spectral_largest(n * n, step);
    return by == 0 ? 0 : by / size;
}

/* K and G. */
static wg_status gains(wg_block *b, const residuals *s, double *r, double *g, double *work,
                       lapack_int *pivot) {
    const size_t n = s->n, k = s->k;
    const wg_block_arg *const of = &b->in[1];
    for (size_t i = 0; i < 4; i++)
        if (!wgi_spectral_finite(b->in[i].rows, b->in[i].cols, b->in[i].value, b->in[i].ld))
            return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    memset(g, 0, n * n * sizeof *g);
    if (k == 0) return WG_OK;
    (void)wgi_spectral_symmetric(k, b->in[3].value, b->in[3].ld, r);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < k; i++) s->gain[i + j * k] = of->value[j + i * of->ld];
    b->info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', wgi_int(k), r, wgi_int(k), pivot, work,
                                  wgi_int(64 * k));
    if (b->info != 0) return wgi_block_refuse(b, WG_ESINGULAR, "R is singular");
    (void)LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'L', wgi_int(k), wgi_int(n), r, wgi_int(k),
                              pivot, s->gain, wgi_int(k));
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, wgi_int(n), wgi_int(n), wgi_int(k),
                1, of->value, wgi_int(of->ld), s->gain, wgi_int(k), 0, g, wgi_int(n));
    (void)wgi_spectral_symmetric(n, g, n, g);
    return WG_OK;
}

static wg_status riccati_value(wg_block *b) {
    const residuals s = residuals_of(b);
    const size_t n = s.n, k = s.k, work_size = lapack_doubles(n, k);
    double *const x = b->out[0].value, *const a = b->work, *const g = a + n * n,
                  *const q = g + n * n, *const step = q + n * n, *const room = step + n * n;
    double *const r = room + 15 * n * n + 6 * n, *const work = r + k * k;
    lapack_int *const flags = (lapack_int *)(void *)(work + work_size);
    double by = INFINITY;
    if (n == 0) return WG_OK;
    wg_status status = gains(b, &s, r, g, work, flags);
    if (status != WG_OK) return status;
    if (!wgi_spectral_finite(n, n, g, n)) return none(b);
    wgi_copy(n, n, b->in[0].value, b->in[0].ld, a, n);
    (void)wgi_spectral_symmetric(n, b->in[2].value, b->in[2].ld, q);
    status = by_subspace(b, n, a, g, q, x, room, work, work_size, flags);
    for (int i = 0; status == WG_OK && i < NEWTON_STEPS; i++) {
        const double before = by;
        status = close_loop(b, &s, a, g, x, room, work, flags);
        if (status == WG_OK) by = improve(b, &s, a, q, g, x, step, room);
        /* known as well as can be: further steps are rounding */
        if (by <= 8 * (double)n * DBL_EPSILON) break;
        if (by <= WGI_SPECTRAL_NEAR && by > 0.5 * before) break;
    }
    if (status != WG_OK) return status;
    /* Newton's steps square the error: what is this small has left nothing that counts */
    if (!(by <= WGI_SPECTRAL_NEAR)) return none(b);
    status = close_loop(b, &s, a, g, x, room, work, flags);
    return status == WG_OK ? assure(b, &s, room) : status;
}

/* ---- derivatives ---- */

static wg_status beyond(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EDEGENERATE,
        "the equation of the derivative has no solution within the range of numbers");
}

static wg_status riccati_vjp(wg_block *b) {
    const residuals s = residuals_of(b);
    const size_t n = s.n, k = s.k;
    double *const y = b->work, *const g = y + n * n, *const w = g + n * n, *const x = w + n * k;
    double *const room = x + n * n;
    if (n == 0) return WG_OK;
    if (!wgi_spectral_symmetric(n, b->out[0].bar, b->out[0].bar_ld, y)) {
        for (size_t i = 0; i < n * n; i++) y[i] = NAN;
    } else if (!solve(b, &s, 1, y, room)) return beyond(b);
    gemm(0, 0, n, n, n, 1, s.side, y, 0, x);
    gemm(0, 1, n, n, n, -1, x, s.side, 0, g);
    if (b->in[0].bar != NULL) wgi_add(n, n, 2, x, wgi_bar_of(&b->in[0], n, 0));
    if (b->in[2].bar != NULL) wgi_add(n, n, 1, y, wgi_bar_of(&b->in[2], n, 0));
    if (k == 0) return WG_OK;
    gemm(0, 1, n, k, n, 1, g, s.gain, 0, w);
    if (b->in[1].bar != NULL) wgi_add(n, k, 2, w, wgi_bar_of(&b->in[1], k, 0));
    if (b->in[3].bar == NULL) return WG_OK;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, wgi_int(k), wgi_int(k), wgi_int(n),
                -1, s.gain, wgi_int(k), w, wgi_int(n), 1, b->in[3].bar,
                wgi_int(b->in[3].bar_ld));
    return WG_OK;
}

/* e += x + x' */
static void add_both(size_t n, const double *x, double *e) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) e[i + j * n] += x[i + j * n] + x[j + i * n];
}

static wg_status riccati_jvp(wg_block *b) {
    const residuals s = residuals_of(b);
    const size_t n = s.n, k = s.k;
    const wg_block_arg *const in = b->in;
    double *const e = b->out[0].bar, *const g = b->work, *const x = g + n * n,
                  *const w = x + n * n, *const room = w + n * k;
    if (n == 0) return WG_OK;
    memset(e, 0, n * n * sizeof *e);
    memset(g, 0, n * n * sizeof *g);
    if (in[2].bar != NULL) (void)wgi_spectral_symmetric(n, in[2].bar, in[2].bar_ld, e);
    if (k != 0 && in[1].bar != NULL) {
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, wgi_int(n), wgi_int(n),
                    wgi_int(k), 1, in[1].bar, wgi_int(in[1].bar_ld), s.gain, wgi_int(k), 0, x,
                    wgi_int(n));
        add_both(n, x, g);
    }
    if (k != 0 && in[3].bar != NULL) {
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, wgi_int(n), wgi_int(k), wgi_int(k),
                    -0.5, s.gain, wgi_int(k), in[3].bar, wgi_int(in[3].bar_ld), 0, w,
                    wgi_int(n));
        gemm(0, 0, n, n, k, 1, w, s.gain, 0, x);
        add_both(n, x, g);
    }
    gemm(0, 0, n, n, n, 1, g, s.side, 0, x);
    gemm(1, 0, n, n, n, -1, s.side, x, 1, e);
    if (in[0].bar != NULL) {
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, wgi_int(n), wgi_int(n), wgi_int(n),
                    1, in[0].bar, wgi_int(in[0].bar_ld), s.side, wgi_int(n), 0, x, wgi_int(n));
        add_both(n, x, e);
    }
    if (!wgi_spectral_finite(n, n, e, n)) {
        for (size_t i = 0; i < n * n; i++) e[i] = NAN;
        return WG_OK;
    }
    return solve(b, &s, 0, e, room) ? WG_OK : beyond(b);
}

static wg_mat symmetric_of(wg_tape *t, wg_mat x) {
    return wg_mat_axpby(t, 0.5, x, 0.5, wg_mat_transpose(x));
}

/* The formulas at the head, with C and N of the operands and the result. */
static wg_status riccati_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    const size_t n = in[0].rows, k = in[1].cols;
    const wg_mat x = out[0];
    if (n == 0) return WG_OK;
    const wg_mat gain =
        k == 0 ? wg_mat_transpose(in[1])
               : wg_solve_symmetric(t, symmetric_of(t, in[3]), wg_mat_transpose(in[1]));
    const wg_mat gx = wg_matmul(t, wg_matmul(t, in[1], gain), x), w = symmetric_of(t, bar[0]);
    wg_mat y, side = x;
    if (is_discrete(b)) {
        const wg_mat c = wg_solve(t, wg_mat_add(t, gx, wg_mat_identity(t, n)), in[0]);
        y = wg_lyapunov_discrete(t, c, w);
        side = wg_matmul(t, x, c);
    } else y = wg_lyapunov(t, wg_mat_sub(t, in[0], gx), wg_mat_scale(t, -1, w));
    y = symmetric_of(t, y);
    const wg_mat ny = wg_matmul(t, side, y);
    back[0] = wg_mat_scale(t, 2, ny);
    back[2] = y;
    if (k == 0) return wg_tape_status(t);
    const wg_mat g = wg_gemm(t, 'N', 'T', -1, ny, side, 0, ny);
    const wg_mat gk = wg_gemm(t, 'N', 'T', 1, g, gain, 0, g);
    back[1] = wg_mat_scale(t, 2, gk);
    back[3] = wg_gemm(t, 'N', 'N', -1, gain, gk, 0, gk);
    return wg_tape_status(t);
}

static const int continuous_time = 0, discrete_time = 1;
#define RICCATI(name, time)                                                                    \
    static const wgi_traits of_##name = {.whole = &wgi_whole_##name};                          \
    const wg_block_op wgi_op_##name = {                                                        \
        "wg_" #name, 0,    riccati_shape,   riccati_value, riccati_vjp,                        \
        riccati_jvp, NULL, riccati_adjoint, &of_##name};                                       \
    const wgi_whole wgi_whole_##name = {&wgi_op_##name, "nnnknnkk",   "nn", NULL,              \
                                        &(time),        sizeof(time), 0,    200}
RICCATI(riccati, continuous_time);
RICCATI(riccati_discrete, discrete_time);

static wg_mat riccati(wg_tape *t, const wg_block_op *op, int discrete, wg_mat a, wg_mat b,
                      wg_mat q, wg_mat r) {
    const wg_mat in[4] = {a, b, q, r};
    return wgi_apply_one(t, op, &discrete, sizeof discrete, 4, in);
}
wg_mat wg_riccati(wg_tape *t, wg_mat a, wg_mat b, wg_mat q, wg_mat r) {
    return riccati(t, &wgi_op_riccati, 0, a, b, q, r);
}
wg_mat wg_riccati_discrete(wg_tape *t, wg_mat a, wg_mat b, wg_mat q, wg_mat r) {
    return riccati(t, &wgi_op_riccati_discrete, 1, a, b, q, r);
}
