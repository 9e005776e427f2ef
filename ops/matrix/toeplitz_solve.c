/* SPDX-License-Identifier: MIT */
/* Systems with Toeplitz matrices, T_ij = t_(i-j), by Levinson's recursion.
 *
 *     T x = b;   T' w = x_,  b_ += w,  t_(k) -= sum_(i-j=k) w_i x_j,   T xt = bt - Tt x
 *
 * Of leading parts of T, order by order: f with T f = e_1, g with T g = e_last, and x. With
 *     ef = sum_i t_(m-i) f_i,  eg = sum_i t_(-i-1) g_i,  ex = sum_i t_(m-i) x_i,  d = 1 - ef eg
 * those of order m + 1 are
 *     f <- ((f, 0) - ef (0, g)) / d,  g <- ((0, g) - eg (f, 0)) / d,  x <- (x, 0) + (b_m - ex) g
 * It is stable as long as leading parts are well conditioned. Hence residuals are looked at,
 * and corrected. Bounds of these would leave the range of numbers near its ends: T and each
 * column of b are multiplied by powers of 2 before, and x after.
 * Source: Levinson 1947; Trench 1964; Golub and Van Loan 2013, 4.7. */
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert/solve.h>
#include "dense.h"
#include "expand.h"
#include "ops/scalar/elementwise.h"
#include "traits.h"

/* t_k = down[k], t_-k = right[k]; right[0] is not looked at. */
typedef struct diagonals {
    size_t n;
    const double *down, *right;
} diagonals;

/* params */
typedef struct system_of {
    int turned; /* T' in the place of T */
} system_of;

static diagonals of(const wg_block *b, const double *c, const double *r) {
    const int turned = ((const system_of *)b->params)->turned;
    return (diagonals){b->in[0].rows, turned ? r : c, turned ? c : r};
}
static diagonals turned(diagonals d) { return (diagonals){d.n, d.right, d.down}; }

/* ---- the recursion ---- */

/* x = T^-1 x, k columns; t_0 is apart. room: 3 n. 0: a leading part is singular. */
static int levinson(diagonals d, double t0, size_t k, double *x, double *room) {
    const size_t n = d.n;
    double *f = room, *g = f + n, *const next = g + n;
    if (t0 == 0) return 0;
    f[0] = g[0] = 1 / t0;
    for (size_t c = 0; c < k; c++) x[c * n] /= t0;
    for (size_t m = 1; m < n; m++) {
        double ef = 0, eg = 0;
        for (size_t i = 0; i < m; i++) ef += d.down[m - i] * f[i], eg += d.right[i + 1] * g[i];
        const double rest = 1 - ef * eg;
        if (rest == 0) return 0;
        f[m] = 0;
        for (size_t i = m; i > 0; i--) next[i] = (g[i - 1] - eg * f[i]) / rest;
        next[0] = -eg * f[0] / rest;
        for (size_t i = m; i > 0; i--) f[i] = (f[i] - ef * g[i - 1]) / rest;
        f[0] /= rest;
        memcpy(g, next, (m + 1) * sizeof *g);
        for (size_t c = 0; c < k; c++) {
            double *const y = x + c * n, ex = y[m];
            for (size_t i = 0; i < m; i++) ex -= d.down[m - i] * y[i];
            y[m] = 0;
            for (size_t i = 0; i <= m; i++) y[i] += ex * g[i];
        }
    }
    return 1;
}

/* y -= T x, one column */
static void subtract(diagonals d, double t0, const double *x, double *y) {
    const size_t n = d.n;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < j; i++) y[i] -= d.right[j - i] * x[j];
        y[j] -= t0 * x[j];
        for (size_t i = j + 1; i < n; i++) y[i] -= d.down[i - j] * x[j];
    }
}

static double largest(size_t n, const double *x) {
    double most = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

enum { CORRECTIONS = 3 };

/* to = x / 2^e; x may be `to`. */
static void scale(size_t n, const double *x, int e, double *to) {
    for (size_t i = 0; i < n; i++) to[i] = ldexp(x[i], -e);
}
/* The e of the largest number, which is between 2^(e-1) and 2^e; 0: they are all 0. */
static int exponent_of(double most) {
    int e;
    (void)frexp(most, &e);
    return e;
}

/* x = T^-1 b, k columns, as good as elimination with pivots would have it; 0: it is not. b is
 * lost. room: room_for(n, k). */
static size_t room_for(size_t n, size_t k) { return 5 * n + n * k + k; }
static int solve(diagonals of, double of_0, size_t k, double *b, double *x, double *room) {
    const size_t n = of.n;
    double *const r = room + 3 * n, *const down = r + n * k, *const right = down + n,
                  *const shift = right + n;
    const int e = exponent_of(
        fmax(fabs(of_0), fmax(largest(n - 1, of.down + 1), largest(n - 1, of.right + 1))));
    const diagonals d = {n, down, right};
    const double t0 = ldexp(of_0, -e);
    scale(n, of.down, e, down);
    scale(n, of.right, e, right);
    for (size_t c = 0; c < k; c++) {
        shift[c] = exponent_of(largest(n, b + c * n));
        scale(n, b + c * n, (int)shift[c], b + c * n);
    }
    double size = fabs(t0);
    for (size_t i = 1; i < n; i++) size += fabs(d.down[i]) + fabs(d.right[i]);
    memcpy(x, b, n * k * sizeof *x);
    if (!levinson(d, t0, k, x, room)) return 0;
    int good = 0;
    for (int made = 0; !good; made++) {
        good = 1;
        memcpy(r, b, n * k * sizeof *r);
        for (size_t c = 0; c < k; c++) {
            subtract(d, t0, x + c * n, r + c * n);
            const double bound = 16 * (double)n * DBL_EPSILON *
                                 (size * largest(n, x + c * n) + largest(n, b + c * n));
            good &= largest(n, r + c * n) <= bound;
        }
        if (good) break;
        if (made == CORRECTIONS || !levinson(d, t0, k, r, room)) return 0;
        for (size_t i = 0; i < n * k; i++) x[i] += r[i];
    }
    for (size_t c = 0; c < k; c++) scale(n, x + c * n, e - (int)shift[c], x + c * n);
    return 1;
}

/* ---- the operation: operands c, r, b ---- */

static wg_status toeplitz_shape(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[2].cols;
    if (b->in[0].cols != 1 || b->in[1].cols != 1 || b->in[1].rows != n || b->in[2].rows != n)
        return wgi_block_refuse(
            b, WG_ESHAPE,
            "the first column, the first row, and the right side are not columns of one length");
    b->out[0].rows = n, b->out[0].cols = k;
    b->work_bytes = (2 * n * k + room_for(n, k)) * sizeof(double);
    return WG_OK;
}

static wg_status not_solved(wg_block *b) {
    return wgi_block_refuse(
        b, WG_ESINGULAR,
        "the matrix, or a leading part of it, is singular or nearly: wg_solve with wg_toeplitz");
}

static wg_status toeplitz_value(wg_block *b) {
    const wg_block_arg *const right = &b->in[2];
    const size_t n = right->rows, k = right->cols;
    double *const rhs = b->work, *const room = rhs + n * k;
    if (n == 0 || k == 0) return WG_OK;
    wgi_copy(n, k, right->value, right->ld, rhs, n);
    if (!wgi_all_finite(n, b->in[0].value) || !wgi_all_finite(n - 1, b->in[1].value + 1) ||
        !wgi_all_finite(n * k, rhs))
        return wgi_block_refuse(b, WG_ENONFINITE, "an operand is not finite");
    return solve(of(b, b->in[0].value, b->in[1].value), b->in[0].value[0], k, rhs,
                 b->out[0].value, room)
               ? WG_OK
               : not_solved(b);
}

/* down_k += f sum_(i-j=k) w_i x_j, right_k likewise of j - i; either may be NULL. */
static void add_diagonals(size_t n, size_t k, double f, const double *w, size_t ldw,
                          const double *x, size_t ldx, double *down, double *right) {
    for (size_t c = 0; c < k; c++, w += ldw, x += ldx) {
        for (size_t j = 0; down != NULL && j < n; j++)
            for (size_t i = j; i < n; i++) down[i - j] += f * w[i] * x[j];
        for (size_t j = 0; right != NULL && j < n; j++)
            for (size_t i = 0; i < j; i++) right[j - i] += f * w[i] * x[j];
    }
}

static wg_status toeplitz_vjp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    const size_t n = y->rows, k = y->cols;
    const int swapped = ((const system_of *)b->params)->turned;
    double *const rhs = b->work, *const w = rhs + n * k, *const room = w + n * k;
    if (n == 0 || k == 0) return WG_OK;
    wgi_copy(n, k, y->bar, y->bar_ld, rhs, n);
    if (!wgi_all_finite(n * k, rhs)) {
        for (size_t i = 0; i < n * k; i++) w[i] = NAN;
    } else if (!solve(turned(of(b, b->in[0].value, b->in[1].value)), b->in[0].value[0], k, rhs,
                      w, room))
        return not_solved(b);
    if (b->in[2].bar != NULL) wgi_add(n, k, 1, w, wgi_bar_of(&b->in[2], k, 0));
    add_diagonals(n, k, -1, swapped ? y->value : w, swapped ? y->ld : n, swapped ? w : y->value,
                  swapped ? n : y->ld, b->in[0].bar, b->in[1].bar);
    return WG_OK;
}

static wg_status toeplitz_jvp(wg_block *b) {
    const wg_block_arg *const y = &b->out[0];
    const size_t n = y->rows, k = y->cols;
    double *const zero = b->work, *const rhs = zero + n, *const room = rhs + n * k;
    if (n == 0 || k == 0) return WG_OK;
    memset(zero, 0, (n + n * k) * sizeof *zero);
    const double *const ct = b->in[0].bar != NULL ? b->in[0].bar : zero;
    const double *const rt = b->in[1].bar != NULL ? b->in[1].bar : zero;
    if (b->in[2].bar != NULL) wgi_copy(n, k, b->in[2].bar, b->in[2].bar_ld, rhs, n);
    for (size_t c = 0; c < k; c++)
        subtract(of(b, ct, rt), ct[0], y->value + c * y->ld, rhs + c * n);
    if (!wgi_all_finite(n * k, rhs)) {
        for (size_t i = 0; i < n * k; i++) y->bar[i] = NAN;
        return WG_OK;
    }
    return solve(of(b, b->in[0].value, b->in[1].value), b->in[0].value[0], k, rhs, y->bar, room)
               ? WG_OK
               : not_solved(b);
}

static wg_status toeplitz_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows, k = b->in[2].cols;
    wg_real *const a = wgi_expand_room(t, n * n);
    if (a == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = i >= j ? x[i - j] : x[n + j - i];
    wgi_expand_copy(wgi_reals_operand(b, x, 2), y);
    wgi_expand_solve(t, wgi_reals_packed(a, n, n), ((const system_of *)b->params)->turned, k,
                     y);
    const wg_real good[3] = {wgi_expand_finite(t, n, x),
                             n != 0 ? wgi_expand_finite(t, n - 1, x + n + 1) : wg_constant(1),
                             wgi_expand_finite(t, n * k, wgi_reals_operand(b, x, 2).p)};
    for (size_t i = 0; i < 3; i++) wgi_expand_spoil(t, good[i], n * k, y);
    return WG_OK;
}

/* ---- what c and r get, of w and x: on forward tapes ---- */

static wg_status sums_shape(wg_block *b) {
    for (size_t i = 0; i < 2; i++) b->out[i].rows = b->in[0].rows, b->out[i].cols = 1;
    return WG_OK;
}
static void clear(const wg_block_arg *a, double *x) { memset(x, 0, a->rows * sizeof *x); }
static wg_status sums_value(wg_block *b) {
    const wg_block_arg *const w = &b->in[0], *const x = &b->in[1];
    for (size_t i = 0; i < 2; i++) clear(&b->out[i], b->out[i].value);
    add_diagonals(w->rows, w->cols, -1, w->value, w->ld, x->value, x->ld, b->out[0].value,
                  b->out[1].value);
    return WG_OK;
}
static wg_status sums_jvp(wg_block *b) {
    const wg_block_arg *const w = &b->in[0], *const x = &b->in[1];
    for (size_t i = 0; i < 2; i++) clear(&b->out[i], b->out[i].bar);
    if (w->bar != NULL)
        add_diagonals(w->rows, w->cols, -1, w->bar, w->bar_ld, x->value, x->ld, b->out[0].bar,
                      b->out[1].bar);
    if (x->bar != NULL)
        add_diagonals(w->rows, w->cols, -1, w->value, w->ld, x->bar, x->bar_ld, b->out[0].bar,
                      b->out[1].bar);
    return WG_OK;
}

static wg_status toeplitz_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back);

const wg_block_op wgi_op_solve_toeplitz = {
    "wg_solve_toeplitz", WG_OP_EXPANDS,    toeplitz_shape,
    toeplitz_value,      toeplitz_vjp,     toeplitz_jvp,
    toeplitz_expand,     toeplitz_adjoint, NULL};

static wg_status toeplitz_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {.name = "sums along diagonals",
                                   .shape = sums_shape,
                                   .value = sums_value,
                                   .jvp = sums_jvp};
    const int was = ((const system_of *)b->params)->turned;
    const system_of p = {!was};
    const wg_mat of_w[3] = {in[0], in[1], bar[0]};
    if (in[0].rows == 0) return WG_OK;
    wg_status s = wg_apply(t, &wgi_op_solve_toeplitz, &p, sizeof p, 3, of_w, 1, &back[2]);
    if (s != WG_OK || (in[0].at.slot == 0 && in[1].at.slot == 0)) return s;
    const wg_mat pair[2] = {was ? out[0] : back[2], was ? back[2] : out[0]};
    return wg_apply(t, &op, NULL, 0, 2, pair, 2, back);
}

wg_mat wg_solve_toeplitz(wg_tape *t, wg_mat c, wg_mat r, wg_mat b) {
    const system_of p = {0};
    const wg_mat in[3] = {c, r, b};
    return wgi_apply_one(t, &wgi_op_solve_toeplitz, &p, sizeof p, 3, in);
}
