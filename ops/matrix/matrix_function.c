/* SPDX-License-Identifier: MIT */
/* Functions of a square matrix: integer power, square root, logarithm; of the exponential only
 * its power by a logarithm.
 *
 * Letters: n order, A operand, L(A, E) the Frechet derivative at A in direction E, a bar for
 * adjoints, a dot for tangents, op(X) either X or X'. A tangent is L(A, A.), an adjoint
 * L(A', F_) = L(A, .)' F_, and both come from one routine with op: it walks the same
 * approximant or roots, in ascending order, with what the value left behind.
 *
 *     sqrt: S S = A, S X + X S = E
 *     log: 2^s r(A^(1/2^s) - I), r by Gauss's rule of 7 points
 *
 * Sources: Higham 1987, 2008, 6.2 (sqrt); Al-Mohy, Higham and Relton 2013, Higham 2008, 11.5
 * (log). */
#include "blas.h"
#include "expand.h"
#include "matrix_function.h"
#include "schur.h"
#include "spectral.h"
#include "traits.h"
#include "whole.h"

#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/matrix.h>
#include <wengert/spectral.h>

#include <limits.h>
#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* ---- integer power ---- */

/* X = base; for each bit of |p| below the highest one: X = X^2, and if it is set X = X base.
 * saved: the base (the inverse of A for p < 0), then every X but the first and the last. */
static unsigned magnitude(int p) { return p < 0 ? 0u - (unsigned)p : (unsigned)p; }
static int highest_bit(unsigned p) {
    int k = 0;
    while (p >> 1 >> k != 0) k++;
    return k;
}
static size_t count_steps(unsigned p) {
    size_t steps = 0;
    for (int k = highest_bit(p) - 1; k >= 0; k--) steps += 1 + (p >> k & 1);
    return steps;
}

static wg_status powm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    const unsigned p = magnitude(*(const int *)b->params);
    const size_t steps = count_steps(p);
    b->saved_bytes = (1 + (steps != 0 ? steps - 1 : 0)) * n * n * sizeof(double);
    b->work_bytes = larger(3 * n * n, 70 * n) * sizeof(double);
    return wgi_square_shape(b);
}

static wg_status powm_value(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    const int p = *(const int *)b->params, m = wgi_int(n);
    const unsigned q = magnitude(p);
    double *const base = b->saved, *const out = b->out[0].value;
    const wg_status s = wgi_square_finite(b);
    if (n == 0 || s != WG_OK) return s;
    if (p == 0) {
        wgi_square_identity(n, out);
        return WG_OK;
    }
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, base);
    if (p < 0) {
        lapack_int *const pivots = (lapack_int *)((double *)b->work + 64 * n);
        b->info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, m, m, base, m, pivots);
        if (b->info == 0)
            b->info = LAPACKE_dgetri_work(LAPACK_COL_MAJOR, m, base, m, pivots, b->work,
                                          wgi_int(64 * n));
        if (b->info != 0)
            return wgi_block_refuse(b, WG_ESINGULAR,
                                    "the matrix is singular, and the power negative");
    }
    const double *x = base;
    double *next = base + nn;
    size_t left = count_steps(q);
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            double *const to = --left == 0 ? out : next;
            wgi_product(n, CblasNoTrans, CblasNoTrans, 1, x, n, step == 0 ? x : base, n, 0, to,
                        n);
            x = to;
            next += nn;
        }
    if (x == base) memcpy(out, base, nn * sizeof *base);
    return WG_OK;
}

static wg_status powm_vjp(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    const double *const base = b->saved;
    if (n == 0 || p == 0 || b->in[0].bar == NULL) return WG_OK;
    /* w: the adjoint of X; that of the base to A_, or to room for p < 0 */
    const double *w = b->out[0].bar;
    size_t ldw = b->out[0].bar_ld, ldr = b->in[0].bar_ld;
    double *free_one = b->work, *other = free_one + nn, *root = b->in[0].bar;
    if (p < 0) {
        root = other + nn, ldr = n;
        wgi_square_zero(n, root, n);
    }
    const double *x = base + count_steps(q) * nn; /* after the X of the last step */
    const int high = highest_bit(q);
    for (int k = 0; k < high; k++)
        for (int step = (int)(q >> k & 1); step >= 0; step--) {
            x -= nn;
            double *const to = free_one;
            const int first = x == base;
            if (step == 1) {
                wgi_product(n, CblasTrans, CblasNoTrans, 1, x, n, w, ldw, 1, root, ldr);
                wgi_product(n, CblasNoTrans, CblasTrans, 1, w, ldw, base, n, 0, to, n);
            } else {
                wgi_both_sides(n, CblasTrans, 1, x, n, w, ldw, first, first ? root : to,
                               first ? ldr : n);
                if (first) break;
            }
            free_one = other, other = to;
            w = to, ldw = n;
        }
    if (high == 0)
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) root[i + j * ldr] += w[i + j * ldw];
    if (p > 0) return WG_OK;
    /* A_ -= base' root base' */
    wgi_product(n, CblasTrans, CblasNoTrans, 1, base, n, root, n, 0, b->work, n);
    wgi_product(n, CblasNoTrans, CblasTrans, -1, b->work, n, base, n, 1, b->in[0].bar,
                b->in[0].bar_ld);
    return WG_OK;
}

static wg_status powm_jvp(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n, ld = b->out[0].bar_ld;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    const double *const base = b->saved;
    if (n == 0) return WG_OK;
    if (p == 0 || b->in[0].bar == NULL) {
        wgi_square_zero(n, b->out[0].bar, ld);
        return WG_OK;
    }
    double *xd = b->work, *other = xd + nn;
    double *const root = other + nn;
    wgi_spectral_copy(n, n, b->in[0].bar, b->in[0].bar_ld, root);
    if (p < 0) {
        wgi_product(n, CblasNoTrans, CblasNoTrans, 1, base, n, root, n, 0, xd, n);
        wgi_product(n, CblasNoTrans, CblasNoTrans, -1, xd, n, base, n, 0, root, n);
    }
    memcpy(xd, root, nn * sizeof *xd);
    const double *x = base;
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            if (step == 0) wgi_both_sides(n, CblasNoTrans, 1, x, n, xd, n, 0, other, n);
            else {
                wgi_product(n, CblasNoTrans, CblasNoTrans, 1, xd, n, base, n, 0, other, n);
                wgi_product(n, CblasNoTrans, CblasNoTrans, 1, x, n, root, n, 1, other, n);
            }
            double *const swap = xd;
            xd = other, other = swap;
            x += nn;
        }
    wgi_square_set(n, xd, b->out[0].bar, ld);
    return WG_OK;
}

static wg_status powm_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const int p = *(const int *)b->params;
    const unsigned q = magnitude(p);
    wg_real *const copy = wgi_expand_room(t, n * n), *const one = wgi_expand_identity(t, n);
    wg_real *const base = p < 0 ? one : wgi_expand_copied(t, wgi_reals_operand(b, x, 0));
    if (copy == NULL || one == NULL || base == NULL) return wg_tape_status(t);
    if (p < 0) wgi_expand_inverse(t, wgi_reals_operand(b, x, 0), base);
    wgi_expand_copy(wgi_reals_packed(p == 0 ? one : base, n, n), y);
    for (int k = highest_bit(q) - 1; k >= 0; k--)
        for (int step = 0; step <= (int)(q >> k & 1); step++) {
            wgi_expand_copy(wgi_reals_packed(y, n, n), copy);
            wgi_expand_mul(t, wgi_reals_packed(copy, n, n),
                           wgi_reals_packed(step == 0 ? copy : base, n, n), y);
        }
    if (p != 0)
        wgi_expand_spoil(t, wgi_expand_finite(t, n * n, wgi_reals_operand(b, x, 0).p), n * n,
                         y);
    return WG_OK;
}

static wg_status powm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    (void)out;
    return wgi_function_adjoint(t, &wgi_op_powm, b->params, sizeof(int), in[0], bar[0], back);
}

/* params: an int, p. */
const wg_block_op wgi_op_powm = {"wg_powm", WG_OP_EXPANDS, powm_shape,   powm_value, powm_vjp,
                                 powm_jvp,  powm_expand,   powm_adjoint, NULL};

/* ---- adjoints in operations on matrices ---- */

static double largest_of(wg_mat a) {
    double most = 0;
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) most = fmax(most, fabs(wg_mat_at(a, i, j).value));
    return most;
}

/* L_f(A', W), for A' and W in `turned` and w. */
static wg_mat corner(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                     wg_mat turned, wg_mat w) {
    const size_t n = w.rows;
    const wg_mat left[2] = {turned, wg_mat_fill(t, n, n, 0)}, right[2] = {w, turned};
    const wg_mat halves[2] = {wg_concat_rows(t, 2, left), wg_concat_rows(t, 2, right)};
    const wg_mat both = wg_concat_cols(t, 2, halves);
    wg_mat f;
    if (wg_apply(t, op, params, bytes, 1, &both, 1, &f) != WG_OK) return wg_mat_failed(n, n);
    return wg_mat_block(f, 0, n, n, n);
}

wg_status wgi_function_adjoint(wg_tape *t, const wg_block_op *op, const void *params,
                               size_t bytes, wg_mat a, wg_mat w, wg_mat *back) {
    const double of_a = largest_of(a), of_w = largest_of(w);
    int e_a = 0, e_w = 0;
    if (a.rows == 0) return WG_OK;
    if (of_a > 0 && of_w > 0 && isfinite(of_a) && isfinite(of_w)) {
        (void)frexp(of_a, &e_a);
        (void)frexp(of_w, &e_w);
    }
    enum { MOST = 1000 };
    int less = e_w - e_a;
    less = less > MOST ? MOST : less < -MOST ? -MOST : less;
    const wg_mat scaled = wg_mat_scale(t, ldexp(1, -less), w);
    const wg_mat l = corner(t, op, params, bytes, wg_mat_transpose(a), scaled);
    if (wg_tape_status(t) == WG_OK) back[0] = wg_mat_scale(t, ldexp(1, less), l);
    return wg_tape_status(t);
}

/* ---- the same in functions: how much larger W is than A is found at each point ---- */

/* A number without derivatives; 1 where it is none to divide by. */
static wg_status beside_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status beside_value(wg_block *b) {
    b->out[0].value[0] = 1;
    return WG_OK;
}
/* It is never swept: in a function it is taken apart. */
static wg_status beside_vjp(wg_block *b) { return (void)b, WG_EMODE; }
static wg_real write_largest(wg_tape *t, size_t n, const wg_real *x) {
    wg_real most = wg_constant(0);
    for (size_t i = 0; i < n; i++) most = wg_let(t, wg_fmax(most, wg_fabs(x[i])));
    return most;
}
static wg_status beside_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t nn = b->in[0].rows * b->in[0].cols;
    const wg_real of_w = write_largest(t, nn, x), of_a = write_largest(t, nn, x + nn);
    const wg_real c = wg_let(t, wg_div(of_w, of_a));
    const wg_real positive = wg_let(t, wg_select_gt(c, 0, c, 1));
    y[0] = wgi_expand_held(t, wg_let(t, wg_select_lt(positive, INFINITY, positive, 1)));
    return WG_OK;
}

wg_status wgi_function_rule(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                            wg_mat a, wg_mat w, wg_mat *back) {
    static const wg_block_op beside = {
        "a size beside another", WG_OP_EXPANDS, beside_shape, beside_value, beside_vjp, NULL,
        beside_expand,           NULL,          NULL};
    const wg_mat of[2] = {w, a};
    if (a.rows == 0) return WG_OK;
    const wg_mat c = wgi_apply_one(t, &beside, NULL, 0, 2, of);
    const wg_mat scaled = wg_mat_div(t, w, c);
    back[0] = wg_mat_mul(t, c, corner(t, op, params, bytes, wg_mat_transpose(a), scaled));
    return wg_tape_status(t);
}

/* ---- square root ---- */

static int is_pair(size_t n, const double *t, size_t i) {
    return i + 1 < n && t[i + 1 + i * n] != 0;
}

/* u = t^(1/2), both upper quasi-triangular, column by column of blocks of the diagonal. 0:
 * there is none. */
static int root_of(size_t n, const double *t, double *u) {
    memcpy(u, t, n * n * sizeof *u);
    for (size_t j = 0, wide; j < n; j += wide) {
        double *const d = u + j + j * n;
        wide = is_pair(n, t, j) ? 2 : 1;
        if (wide == 1) {
            if (!(d[0] >= 0)) return 0;
            d[0] = sqrt(d[0]);
        } else { /* eigenvalues a +- i r; the root is h I + (block - a I) / 2 h */
            const double a = 0.5 * d[0] + 0.5 * d[n + 1],
                         r = sqrt(fabs(d[1])) * sqrt(fabs(d[n]));
            const double size = hypot(a, r);
            const double h = a > 0 ? sqrt(0.5 * (a + size)) : r / sqrt(2 * (size - a));
            d[0] = d[n + 1] = h;
            d[1] /= 2 * h, d[n] /= 2 * h;
        }
        if (wgi_schur_sylvester('N', 'N', j, wide, u, n, d, n, u + j * n, n)) return 0;
    }
    return 1;
}

/* saved: Q, then what is quasi-triangular: the root, or for the logarithm T. */
static wg_status root_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->saved_bytes = 2 * n * n * sizeof(double);
    b->work_bytes = larger(2 * n * n, n * n + wgi_schur_doubles(n)) * sizeof(double);
    return wgi_square_shape(b);
}

/* T of the operand to t, Q to q. */
static wg_status schur(wg_block *b, double *t, double *q, double *work) {
    const size_t n = b->in[0].rows;
    const wg_status s = wgi_square_finite(b);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[0].value, b->in[0].ld, t);
    b->info = wgi_schur(n, t, q, work);
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
}

static wg_status sqrtm_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const q = b->saved, *const u = q + n * n, *const t = b->work,
                  *const room = t + n * n;
    if (n == 0) return WG_OK;
    const wg_status s = schur(b, t, q, room);
    if (s != WG_OK) return s;
    if (!root_of(n, t, u))
        return wgi_block_refuse(b, WG_ESINGULAR, "an eigenvalue is negative, or several are 0");
    wgi_schur_turn('N', 'T', n, n, q, q, u, n, b->out[0].value, t);
    return WG_OK;
}

static wg_status sqrtm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *e,
                                  size_t lde) {
    const size_t n = b->in[0].rows;
    const char o = op == CblasTrans ? 'T' : 'N';
    const double *const q = b->saved, *const u = q + n * n;
    double *const x = b->work, *const room = x + n * n;
    wgi_schur_turn('T', 'N', n, n, q, q, e, lde, x, room);
    if (wgi_schur_sylvester(o, o, n, n, u, n, u, n, x, n))
        return wgi_block_refuse(b, WG_EDEGENERATE,
                                "the square root of a singular matrix has no derivative");
    wgi_schur_turn('N', 'T', n, n, q, q, x, n, x, room);
    return WG_OK;
}

static wg_status sqrtm_vjp(wg_block *b) { return wgi_frechet_vjp(b, sqrtm_derivative); }
static wg_status sqrtm_jvp(wg_block *b) { return wgi_frechet_jvp(b, sqrtm_derivative); }

/* Y with X' Y + Y X' = W */
static wg_status sqrtm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const wg_mat x = wg_mat_transpose(out[0]);
    (void)b;
    if (in[0].rows != 0) back[0] = wg_sylvester(t, x, x, bar[0]);
    return wg_tape_status(t);
}

static const wgi_traits of_sqrtm = {.whole = &wgi_whole_sqrtm};
const wg_block_op wgi_op_sqrtm = {"wg_sqrtm", 0,    root_shape,    sqrtm_value, sqrtm_vjp,
                                  sqrtm_jvp,  NULL, sqrtm_adjoint, &of_sqrtm};
const wgi_whole wgi_whole_sqrtm = {&wgi_op_sqrtm, "nn", "nn", NULL, NULL, 0, 0, 30};

/* ---- logarithm ---- */

/* log(I + X) is the integral of X (I + z X)^-1 over z in (0, 1), by Gauss's rule; with 7 points
 * it is the diagonal Pade approximant of degree 7, good to 1e-17 in value and derivative for
 * norms of X up to NEAR. */
static const double node[] = {0,
                              0.40584515137739716691,
                              -0.40584515137739716691,
                              0.74153118559939443986,
                              -0.74153118559939443986,
                              0.94910791234275852453,
                              -0.94910791234275852453};
static const double weight[] = {0.41795918367346938776, 0.38183005050511894495,
                                0.38183005050511894495, 0.27970539148927666790,
                                0.27970539148927666790, 0.12948496616886969327,
                                0.12948496616886969327};
enum { NODES = 7 };
#define NEAR 0.2
/* No matrix of moderate departure from normality needs as many roots. */
enum { ROOTS = 100 };

/* lu = the factors of I + z X without pivots: I + z X is near I, and quasi-triangular, so that
 * L differs from I by one number below the diagonal in each pair of rows, kept in low. */
static void factor(size_t n, double z, const double *x, double *lu, double *low) {
    for (size_t i = 0; i < n * n; i++) lu[i] = z * x[i];
    for (size_t i = 0; i < n; i++) lu[i + i * n] += 1, low[i] = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (lu[i + 1 + i * n] == 0) continue;
        low[i] = lu[i + 1 + i * n] / lu[i + i * n];
        lu[i + 1 + i * n] = 0;
        for (size_t j = i + 1; j < n; j++) lu[i + 1 + j * n] -= low[i] * lu[i + j * n];
    }
}

/* y = op(LU)^-1 y. */
static void solve_left(size_t n, CBLAS_TRANSPOSE op, const double *lu, const double *low,
                       double *y) {
    const int m = wgi_int(n);
    if (op == CblasTrans)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
    for (size_t i = 0; i + 1 < n; i++) {
        if (low[i] == 0) continue;
        const size_t to = op == CblasTrans ? i : i + 1, from = op == CblasTrans ? i + 1 : i;
        for (size_t j = 0; j < n; j++) y[to + j * n] -= low[i] * y[from + j * n];
    }
    if (op == CblasNoTrans)
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
}

/* y = y op(LU)^-1. */
static void solve_right(size_t n, CBLAS_TRANSPOSE op, const double *lu, const double *low,
                        double *y) {
    const int m = wgi_int(n);
    if (op == CblasNoTrans)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
    for (size_t i = 0; i + 1 < n; i++) {
        if (low[i] == 0) continue;
        const size_t to = op == CblasTrans ? i + 1 : i, from = op == CblasTrans ? i : i + 1;
        for (size_t k = 0; k < n; k++) y[k + to * n] -= low[i] * y[k + from * n];
    }
    if (op == CblasTrans)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, op, CblasNonUnit, m, m, 1, lu, m, y,
                    m);
}

static wg_status logm_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    b->saved_bytes = (1 + 2 * n * n) * sizeof(double); /* roots, Q, T */
    b->work_bytes = larger(5 * n * n + n, wgi_schur_doubles(n)) * sizeof(double);
    return wgi_square_shape(b);
}

static void subtract_identity(size_t n, double *x) {
    for (size_t i = 0; i < n; i++) x[i + i * n] -= 1;
}

/* The diagonal blocks of log T as they are exactly: roots near I have lost digits. */
static void exact_blocks(size_t n, const double *t, double *l) {
    for (size_t i = 0; i < n; i++) {
        const double *const d = t + i + i * n;
        double *const e = l + i + i * n;
        if (!is_pair(n, t, i)) {
            e[0] = log(d[0]);
            continue;
        }
        const double r = sqrt(fabs(d[1])) * sqrt(fabs(d[n])), angle = atan2(r, d[0]) / r;
        e[0] = e[n + 1] = log(hypot(d[0], r));
        e[1] = d[1] * angle, e[n] = d[n] * angle;
        i++;
    }
}

static wg_status logm_value(wg_block *b) {
    const size_t n = b->in[0].rows, nn = n * n;
    double *const count = b->saved, *const q = count + 1, *const t = q + nn;
    double *x = b->work, *u = x + nn;
    double *const lu = u + nn, *const l = lu + nn, *const y = l + nn, *const low = y + nn;
    if (n == 0) return WG_OK;
    const wg_status s = schur(b, t, q, b->work);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i += is_pair(n, t, i) ? 2 : 1)
        if (!is_pair(n, t, i) && !(t[i + i * n] > 0))
            return wgi_block_refuse(b, WG_ESINGULAR, "an eigenvalue is 0 or negative");
    int roots = 0;
    memcpy(x, t, nn * sizeof *x);
    for (;; roots++) {
        memcpy(l, x, nn * sizeof *x);
        subtract_identity(n, l);
        if (wgi_norm_1(n, l, n) <= NEAR) break;
        if (roots == ROOTS || !root_of(n, x, u))
            return wgi_block_refuse(b, WG_ECONVERGE,
                                    "its square roots do not come near to the identity");
        double *const swap = x;
        x = u, u = swap;
    }
    subtract_identity(n, x);
    memset(l, 0, nn * sizeof *l);
    for (int k = 0; k < NODES; k++) {
        factor(n, 0.5 + 0.5 * node[k], x, lu, low);
        memcpy(y, x, nn * sizeof *y);
        solve_left(n, CblasNoTrans, lu, low, y);
        for (size_t i = 0; i < nn; i++) l[i] += ldexp(0.5 * weight[k], roots) * y[i];
    }
    exact_blocks(n, t, l);
    *count = roots;
    wgi_schur_turn('N', 'T', n, n, q, q, l, n, b->out[0].value, y);
    return WG_OK;
}

/* l = the derivative along e, both in the basis of T; e is lost. 0: a number on the
 * way is beyond the range. Room: x, u, lu of n^2, low of n. */
static int along(const wg_block *b, CBLAS_TRANSPOSE op, double *e, double *l, double *x,
                 double *u, double *lu, double *low) {
    const size_t n = b->in[0].rows, nn = n * n;
    const double *const count = b->saved, *const t = count + 1 + nn;
    const char o = op == CblasTrans ? 'T' : 'N';
    const int roots = (int)*count;
    memcpy(x, t, nn * sizeof *x);
    for (int k = 0; k < roots; k++) {
        if (!root_of(n, x, u) || wgi_schur_sylvester(o, o, n, n, u, n, u, n, e, n)) return 0;
        double *const swap = x;
        x = u, u = swap;
    }
    subtract_identity(n, x);
    memset(l, 0, nn * sizeof *l);
    for (int k = 0; k < NODES; k++) {
        factor(n, 0.5 + 0.5 * node[k], x, lu, low);
        memcpy(u, e, nn * sizeof *u);
        solve_left(n, op, lu, low, u);
        solve_right(n, op, lu, low, u);
        for (size_t i = 0; i < nn; i++) l[i] += ldexp(0.5 * weight[k], roots) * u[i];
    }
    return 1;
}

static wg_status logm_derivative(wg_block *b, CBLAS_TRANSPOSE op, const double *direction,
                                 size_t ldd) {
    enum { LESS = 64 }; /* room below the largest number, of which LAPACK keeps away */
    const size_t n = b->in[0].rows, nn = n * n;
    const double *const q = (const double *)b->saved + 1;
    double *const l = b->work, *const x = l + nn, *const u = x + nn;
    double *const e = u + nn, *const lu = e + nn, *const low = lu + nn;
    for (int less = 0; less <= LESS; less += LESS) {
        wgi_schur_turn('T', 'N', n, n, q, q, direction, ldd, e, l);
        for (size_t i = 0; less != 0 && i < nn; i++) e[i] = ldexp(e[i], -less);
        if (!along(b, op, e, l, x, u, lu, low)) continue;
        wgi_schur_turn('N', 'T', n, n, q, q, l, n, l, u);
        for (size_t i = 0; less != 0 && i < nn; i++) l[i] = ldexp(l[i], less);
        return WG_OK;
    }
    return wgi_block_refuse(
        b, WG_EDEGENERATE,
        "an eigenvalue of the operand, or of a root of it, is 0 beside another");
}

static wg_status logm_vjp(wg_block *b) { return wgi_frechet_vjp(b, logm_derivative); }
static wg_status logm_jvp(wg_block *b) { return wgi_frechet_jvp(b, logm_derivative); }

static wg_status logm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    (void)b, (void)out;
    return wgi_function_adjoint(t, &wgi_op_logm, NULL, 0, in[0], bar[0], back);
}

static wg_status logm_rule(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                           const wg_mat *bar, wg_mat *back) {
    (void)b, (void)out;
    return wgi_function_rule(t, &wgi_op_logm, NULL, 0, in[0], bar[0], back);
}

static const wgi_traits of_logm = {.whole = &wgi_whole_logm};
const wg_block_op wgi_op_logm = {"wg_logm", 0,    logm_shape,   logm_value, logm_vjp,
                                 logm_jvp,  NULL, logm_adjoint, &of_logm};
const wgi_whole wgi_whole_logm = {&wgi_op_logm, "nn", "nn", logm_rule, NULL, 0, 0, 60};

/* ---- calls ---- */

static wg_mat function(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                       wg_mat a) {
    return wgi_apply_one(t, op, params, bytes, 1, &a);
}

wg_mat wg_powm(wg_tape *t, wg_mat a, int p) {
    return function(t, &wgi_op_powm, &p, sizeof p, a);
}
/* A^p = exp(p log A): two records of one call. */
wg_mat wg_powm_real(wg_tape *t, wg_mat a, double p) {
    static const wg_block_op log_a = {"wg_powm_real", 0,    logm_shape,   logm_value, logm_vjp,
                                      logm_jvp,       NULL, logm_adjoint, &of_logm};
    return function(t, &wgi_op_exp_of_log, &p, sizeof p, function(t, &log_a, NULL, 0, a));
}
wg_mat wg_sqrtm(wg_tape *t, wg_mat a) { return function(t, &wgi_op_sqrtm, NULL, 0, a); }
wg_mat wg_logm(wg_tape *t, wg_mat a) { return function(t, &wgi_op_logm, NULL, 0, a); }
