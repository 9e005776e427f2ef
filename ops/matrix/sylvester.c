/* SPDX-License-Identifier: MIT */
/* The matrix equations of Sylvester and Lyapunov.
 *
 * Letters: A, B, C (or Q) operands, X the solution, a bar for adjoints, a dot for tangents,
 * A = D U S U'D^-1, B = E V T V'E^-1 real Schur forms of balanced matrices, D and E diagonal,
 * of powers of 2; all are kept for both sweeps.
 *
 *     A X + X B = C      C_ += Y, A_ -= Y X', B_ -= X'Y,      A'Y + Y B' = X_
 *                        A X. + X. B = C. - A.X - X B.
 *     A X + X A' = Q     Q_ += Y, A_ -= Y X' + Y'X,           A'Y + Y A = X_
 *                        A X. + X. A' = Q. - A.X - X A.'
 *     X = A X A' + Q     Q_ += Y, A_ += Y A X' + Y'A X,       Y = A'Y A + X_
 *                        X. = A X. A' + Q. + A.X A' + A X A.'
 *
 * Source: Kao and Hennequin 2020. Solved by the forms themselves, the discrete one, too
 * (Kitagawa 1977): (A - I)(A + I)^-1, which would make it the continuous one, loses the
 * digits of a large A. What entries of very different size in A, B and X have to do with each
 * other is lost in the forms, but not in A and B themselves: there the solution is refined, by
 * its residual (Skeel 1980). */
#include "blas.h"
#include "schur.h"
#include "spectral.h"
#include "spread.h"
#include "traits.h"
#include "whole.h"

#include <wengert/products.h>
#include <wengert/spectral.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* c = alpha op(a) op(b) + beta c, of packed or other matrices. */
static void product(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k,
                    double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                    double beta, double *c, size_t ldc) {
    cblas_dgemm(CblasColMajor, ta, tb, wgi_int(m), wgi_int(n), wgi_int(k), alpha, a,
                wgi_int(lda), b, wgi_int(ldb), beta, c, wgi_int(ldc));
}

static void add(size_t rows, size_t cols, const double *x, double *a, size_t ld) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) a[i + j * ld] += x[i + j * rows];
}

/* What is kept of an operand of order n: its Schur form t, the vectors q, the balance d. */
typedef struct form {
    size_t n;
    double *t, *q, *d;
} form;
static size_t form_doubles(size_t n) { return 2 * n * n + n; }
static form form_at(size_t n, double *at) { return (form){n, at, at + n * n, at + 2 * n * n}; }

static wg_status schur(wg_block *b, size_t i, const form *f, double *work) {
    const wg_block_arg *const a = &b->in[i];
    if (!wgi_spectral_finite(a->rows, a->cols, a->value, a->ld))
        return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    wgi_spectral_copy(a->rows, a->cols, a->value, a->ld, f->t);
    wgi_schur_balance(a->rows, f->t, f->d);
    b->info = wgi_schur(a->rows, f->t, f->q, work);
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ECONVERGE, WGI_SPECTRAL_GAVE_UP);
}

/* ---- right-hand sides ---- */

/* How a right-hand side, or its solution, is multiplied from both sides: by the balance of a
 * form, or its inverse, and by a power of 2. */
typedef struct balance {
    const form *left, *right;
    int left_inverse, right_inverse, shift;
} balance;

static int exponent_at(const balance *b, size_t i, size_t j) {
    const int l = ilogb(b->left->d[i]), r = ilogb(b->right->d[j]);
    return (b->left_inverse ? -l : l) + (b->right_inverse ? -r : r);
}

/* All at once: one factor alone could leave the range of numbers. 0: an entry was too small to
 * keep its digits. */
static int multiply(const balance *b, double *x) {
    const size_t m = b->left->n, n = b->right->n;
    int whole = 1;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            const double y = ldexp(x[i + j * m], exponent_at(b, i, j) + b->shift);
            whole &= x[i + j * m] == 0 || fabs(y) >= DBL_MIN;
            x[i + j * m] = y;
        }
    return whole;
}

/* The power of 2 for a right-hand side that would lose digits, or leave the range of numbers,
 * when it is balanced; the equations are linear. 0 where that does not happen, or its entries
 * are too far apart. */
static int shift_for(const balance *b, const double *x) {
    enum { MOST = 900 };
    const size_t m = b->left->n, n = b->right->n;
    int low = INT_MAX, high = INT_MIN;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            if (x[i + j * m] == 0) continue;
            const int e = ilogb(x[i + j * m]) + exponent_at(b, i, j);
            low = e < low ? e : low, high = e > high ? e : high;
        }
    if (low > high || (low >= DBL_MIN_EXP - 1 && high < DBL_MAX_EXP)) return 0;
    if (low < -MOST && high < MOST)
        return -MOST - low < MOST - high ? -MOST - low : MOST - high;
    if (low > -MOST && high > MOST) return low + MOST < high - MOST ? -MOST - low : MOST - high;
    return 0;
}

/* x = U'F x G V, F and G as the balance says. 0: x is not finite, as an adjoint or tangent may
 * be, and has become NaN: there is nothing to solve. Room: of its size, as for come_out. */
static int go_in(balance *b, double *x, double *room) {
    const size_t m = b->left->n, n = b->right->n;
    if (!wgi_spectral_finite(m, n, x, m)) {
        for (size_t i = 0; i < m * n; i++) x[i] = NAN;
        return 0;
    }
    b->shift = shift_for(b, x);
    (void)multiply(b, x);
    wgi_schur_turn('T', 'N', m, n, b->left->q, b->right->q, x, m, x, room);
    return 1;
}

/* Of a solution: whether all its entries have their digits, and its largest entry as the forms
 * have it, times 2^shift. */
typedef struct outcome {
    int whole, shift;
    double largest;
} outcome;

/* x = F^-1 U x V'G^-1. 0: it is not within the range of numbers. */
static int come_out(const balance *b, double *x, double *room, outcome *of) {
    const size_t m = b->left->n, n = b->right->n;
    const balance back = {b->left, b->right, !b->left_inverse, !b->right_inverse, -b->shift};
    wgi_schur_turn('N', 'T', m, n, b->left->q, b->right->q, x, m, x, room);
    of->largest = wgi_spectral_largest(m * n, x);
    of->shift = b->shift;
    of->whole = multiply(&back, x);
    return wgi_spectral_finite(m, n, x, m);
}

static wg_status no_solution(wg_block *b, int apart, const char *why) {
    return wgi_block_refuse(b, WG_ESINGULAR,
                            apart ? "the solution is not within the range of numbers" : why);
}

static wg_status beyond(wg_block *b) {
    return wgi_block_refuse(
        b, WG_EDEGENERATE,
        "the equation of the derivative has no solution within the range of numbers");
}

static wg_status finite_right_side(wg_block *b, const wg_block_arg *c) {
    if (wgi_spectral_finite(c->rows, c->cols, c->value, c->ld)) return WG_OK;
    return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
}

/* ---- refinement ---- */

/* to = |A|, packed. */
static void sizes(size_t rows, size_t cols, const double *a, size_t ld, double *to) {
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) *to++ = fabs(a[i + j * ld]);
}

/* One of the equations, with op 'N', or the one of its adjoint, with 'T'.
 * once:     x, a right-hand side, becomes the solution. 0: that is not within the range of
 *           numbers. room: as discrete_once, m n for the others.
 * residual: r, which has the right-hand side, less what x makes of it; size: added to it the
 *           sizes of all terms. room: of residual_doubles.
 * doubt:    how often a solution is refined, at most. */
typedef struct equation {
    int (*once)(const wg_block *b, char op, double *x, double *room, outcome *of);
    void (*residual)(const wg_block *b, char op, const double *x, double *r, double *size,
                     double *room);
    int (*doubt)(const wg_block *b);
} equation;

enum { DOUBT = 8 };

/* Is a matrix one whose rows, or columns, or whose balance differ in size? Then its forms have
 * lost digits of what is small in it. */
static int is_uneven(const wg_block_arg *a, const form *f) {
    enum { FAR = 16 };
    wgi_spread rows = WGI_NO_SPREAD, cols = WGI_NO_SPREAD, scales = WGI_NO_SPREAD;
    for (size_t i = 0; i < f->n; i++) {
        double row = 0, col = 0;
        for (size_t j = 0; j < f->n; j++) {
            const double in_row = fabs(a->value[i + j * a->ld]);
            const double in_col = fabs(a->value[j + i * a->ld]);
            row = in_row > row ? in_row : row, col = in_col > col ? in_col : col;
        }
        wgi_spread_add(&rows, row), wgi_spread_add(&cols, col);
        wgi_spread_add(&scales, f->d[i]);
    }
    return wgi_spread_beyond(rows, FAR) || wgi_spread_beyond(cols, FAR) ||
           wgi_spread_beyond(scales, FAR);
}

/* Is the residual what rounding makes of its terms, of which there are so many? Then x is the
 * solution of equations that differ from these by rounding, each number of them beside itself. */
static int is_rounding(size_t terms, size_t all, const double *r, const double *size) {
    const double units = (1 + (double)terms / 16) * DBL_EPSILON;
    int small = 1;
    for (size_t i = 0; i < all; i++) small &= fabs(r[i]) <= units * size[i];
    return small;
}

static size_t residual_doubles(size_t m, size_t n) {
    return larger(m, n) * larger(m, n) + 2 * m * n;
}
static size_t solve_doubles(const wg_block *b, size_t of_once) {
    const size_t m = b->out[0].rows, n = b->out[0].cols;
    return 5 * m * n + larger(of_once, residual_doubles(m, n));
}

/* lost = what entries of x below normal numbers, which have not their digits, may make of each
 * entry of the residual. Room: of m n + residual_doubles. */
static void losses(const equation *e, const wg_block *b, char op, const double *x, double *lost,
                   double *r, double *room) {
    const size_t all = b->out[0].rows * b->out[0].cols;
    double *const least = room;
    for (size_t i = 0; i < all; i++)
        least[i] = fabs(x[i]) < DBL_MIN ? DBL_TRUE_MIN : 0, lost[i] = r[i] = 0;
    e->residual(b, op, least, r, lost, room + all);
}

/* x, a right-hand side, becomes the solution, refined. A correction that is not small, in the
 * forms, is none; of a residual that x has not the digits for, nothing is corrected.
 * Room: of solve_doubles. 0: it is not within the range of numbers. */
static int solve(const equation *e, const wg_block *b, char op, double *x, double *room) {
    const size_t m = b->out[0].rows, n = b->out[0].cols, all = m * n;
    double *const c = room, *const r = c + all, *const size = r + all, *const lost = size + all;
    outcome of, correction;
    room = lost + all;
    memcpy(c, x, all * sizeof *c);
    if (!e->once(b, op, x, room, &of)) return 0;
    if (!wgi_spectral_finite(m, n, x, m)) return 1; /* as the right-hand side was */
    for (int k = e->doubt(b); k > 0; k--) {
        if (!of.whole) losses(e, b, op, x, lost, r, room);
        for (size_t i = 0; i < all; i++) r[i] = c[i], size[i] = fabs(c[i]);
        e->residual(b, op, x, r, size, room);
        for (size_t i = 0; i < all && !of.whole; i++)
            if (!(lost[i] <= DBL_EPSILON * size[i])) r[i] = 0;
        if (!wgi_spectral_finite(m, n, r, m) || is_rounding(m + n, all, r, size)) break;
        if (!e->once(b, op, r, room, &correction)) break;
        if (!(ldexp(correction.largest, of.shift - correction.shift) < of.largest / 2)) break;
        for (size_t i = 0; i < all; i++) x[i] += r[i];
        if (!wgi_spectral_finite(m, n, x, m)) return 0;
    }
    return 1;
}

/* ---- Sylvester ---- */

/* saved: the forms of A and B. */
typedef struct forms {
    form a, b;
} forms;

static forms forms_of(const wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[1].rows;
    double *const at = b->saved;
    return (forms){form_at(m, at), form_at(n, at + form_doubles(m))};
}

static wg_status sylvester_shape(wg_block *b) {
    const size_t m = b->in[0].rows, n = b->in[1].rows;
    if (b->in[0].cols != m || b->in[1].cols != n || b->in[2].rows != m || b->in[2].cols != n)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "A and B are square, C has the rows of A and the columns of B");
    b->out[0].rows = m, b->out[0].cols = n;
    b->saved_bytes = (form_doubles(m) + form_doubles(n)) * sizeof(double);
    b->work_bytes = larger(m * n + solve_doubles(b, m * n), wgi_schur_doubles(larger(m, n))) *
                    sizeof(double);
    return WG_OK;
}

static int sylvester_once(const wg_block *b, char op, double *x, double *room, outcome *of) {
    const forms f = forms_of(b);
    const int turned = op != 'N';
    balance sides = {&f.a, &f.b, !turned, turned, 0};
    of->whole = 0;
    if (!go_in(&sides, x, room)) return 1;
    if (wgi_schur_sylvester(op, op, f.a.n, f.b.n, f.a.t, f.a.n, f.b.t, f.b.n, x, f.a.n))
        return 0;
    return come_out(&sides, x, room, of);
}
/* Of op(A) X + X op(B). */
static void continuous_residual(const wg_block_arg *a, CBLAS_TRANSPOSE ta,
                                const wg_block_arg *b, CBLAS_TRANSPOSE tb, const double *x,
                                double *r, double *size, double *room) {
    const size_t m = a->rows, n = b->rows;
    double *const ax = room, *const of = ax + m * n;
    product(ta, CblasNoTrans, m, n, m, -1, a->value, a->ld, x, m, 1, r, m);
    product(CblasNoTrans, tb, m, n, n, -1, x, m, b->value, b->ld, 1, r, m);
    sizes(m, n, x, m, ax);
    sizes(m, m, a->value, a->ld, of);
    product(ta, CblasNoTrans, m, n, m, 1, of, m, ax, m, 1, size, m);
    sizes(n, n, b->value, b->ld, of);
    product(CblasNoTrans, tb, m, n, n, 1, ax, m, of, n, 1, size, m);
}
static void sylvester_residual(const wg_block *b, char op, const double *x, double *r,
                               double *size, double *room) {
    const CBLAS_TRANSPOSE t = op == 'N' ? CblasNoTrans : CblasTrans;
    continuous_residual(&b->in[0], t, &b->in[1], t, x, r, size, room);
}
static int sylvester_doubt(const wg_block *b) {
    const forms f = forms_of(b);
    return is_uneven(&b->in[0], &f.a) || is_uneven(&b->in[1], &f.b) ? DOUBT : 0;
}
static const equation sylvester_equation = {sylvester_once, sylvester_residual,
                                            sylvester_doubt};

static wg_status sylvester_value(wg_block *b) {
    const forms f = forms_of(b);
    double *const x = b->out[0].value;
    if (f.a.n == 0 || f.b.n == 0) return WG_OK;
    wg_status s = schur(b, 0, &f.a, b->work);
    if (s == WG_OK) s = schur(b, 1, &f.b, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[2]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(f.a.n, f.b.n, b->in[2].value, b->in[2].ld, x);
    const int apart = wgi_schur_apart(f.a.n, f.b.n, f.a.t, f.b.t);
    if (apart && solve(&sylvester_equation, b, 'N', x, b->work)) return WG_OK;
    return no_solution(
        b, apart,
        "an eigenvalue of the first operand is one of the second with the sign changed");
}

static wg_status sylvester_vjp(wg_block *b) {
    const forms f = forms_of(b);
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + f.a.n * f.b.n;
    if (f.a.n == 0 || f.b.n == 0) return WG_OK;
    wgi_spectral_copy(f.a.n, f.b.n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!solve(&sylvester_equation, b, 'T', y, room)) return beyond(b);
    if (b->in[0].bar != NULL)
        product(CblasNoTrans, CblasTrans, f.a.n, f.a.n, f.b.n, -1, y, f.a.n, x, f.a.n, 1,
                b->in[0].bar, b->in[0].bar_ld);
    if (b->in[1].bar != NULL)
        product(CblasTrans, CblasNoTrans, f.b.n, f.b.n, f.a.n, -1, x, f.a.n, y, f.a.n, 1,
                b->in[1].bar, b->in[1].bar_ld);
    if (b->in[2].bar != NULL) add(f.a.n, f.b.n, y, b->in[2].bar, b->in[2].bar_ld);
    return WG_OK;
}

/* The tangent of a right-hand side, 0 for a constant. */
static void start(size_t m, size_t n, const wg_block_arg *c, double *x) {
    if (c->bar != NULL) wgi_spectral_copy(m, n, c->bar, c->bar_ld, x);
    else memset(x, 0, m * n * sizeof *x);
}
static void finish(size_t m, size_t n, const double *x, wg_block_arg *out) {
    for (size_t j = 0; j < n; j++) memcpy(out->bar + j * out->bar_ld, x + j * m, m * sizeof *x);
}

static wg_status sylvester_jvp(wg_block *b) {
    const forms f = forms_of(b);
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + f.a.n * f.b.n;
    if (f.a.n == 0 || f.b.n == 0) return WG_OK;
    start(f.a.n, f.b.n, &b->in[2], y);
    if (b->in[0].bar != NULL)
        product(CblasNoTrans, CblasNoTrans, f.a.n, f.b.n, f.a.n, -1, b->in[0].bar,
                b->in[0].bar_ld, x, f.a.n, 1, y, f.a.n);
    if (b->in[1].bar != NULL)
        product(CblasNoTrans, CblasNoTrans, f.a.n, f.b.n, f.b.n, -1, x, f.a.n, b->in[1].bar,
                b->in[1].bar_ld, 1, y, f.a.n);
    if (!solve(&sylvester_equation, b, 'N', y, room)) return beyond(b);
    finish(f.a.n, f.b.n, y, &b->out[0]);
    return WG_OK;
}

/* A' Y + Y B' = W:  A_ = -Y X',  B_ = -X' Y,  C_ = Y */
static wg_status sylvester_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    const wg_mat x = out[0];
    (void)b;
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    const wg_mat y = wg_sylvester(t, wg_mat_transpose(in[0]), wg_mat_transpose(in[1]), bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', -1, y, x, 0, y);
    back[1] = wg_gemm(t, 'T', 'N', -1, x, y, 0, y);
    back[2] = y;
    return wg_tape_status(t);
}

static const wgi_traits of_sylvester = {.whole = &wgi_whole_sylvester};
const wg_block_op wgi_op_sylvester = {
    "wg_sylvester", 0,    sylvester_shape,   sylvester_value, sylvester_vjp,
    sylvester_jvp,  NULL, sylvester_adjoint, &of_sylvester};
const wgi_whole wgi_whole_sylvester = {&wgi_op_sylvester, "mmnnmn", "mn", NULL, NULL, 0, 0, 60};

/* ---- Lyapunov ---- */

/* saved: the form of A. */
static form form_of(const wg_block *b) { return form_at(b->in[0].rows, b->saved); }

static wg_status lyapunov_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n || b->in[1].rows != n || b->in[1].cols != n)
        return wgi_block_refuse(b, WG_ESHAPE, "the matrices are not square and of one order");
    b->out[0].rows = b->out[0].cols = n;
    b->saved_bytes = form_doubles(n) * sizeof(double);
    b->work_bytes =
        larger(n * n + solve_doubles(b, wgi_schur_stein_doubles(n)), wgi_schur_doubles(n)) *
        sizeof(double);
    return WG_OK;
}

/* A, A' with op 'N', A', A with 'T'. */
static int lyapunov_once(const wg_block *b, char op, double *x, double *room, outcome *of) {
    const form f = form_of(b);
    const int turned = op != 'N';
    balance sides = {&f, &f, !turned, !turned, 0};
    of->whole = 0;
    if (!go_in(&sides, x, room)) return 1;
    if (wgi_schur_sylvester(op, turned ? 'N' : 'T', f.n, f.n, f.t, f.n, f.t, f.n, x, f.n))
        return 0;
    return come_out(&sides, x, room, of);
}
static void lyapunov_residual(const wg_block *b, char op, const double *x, double *r,
                              double *size, double *room) {
    const CBLAS_TRANSPOSE left = op == 'N' ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE right = op == 'N' ? CblasTrans : CblasNoTrans;
    continuous_residual(&b->in[0], left, &b->in[0], right, x, r, size, room);
}
static int lyapunov_doubt(const wg_block *b) {
    const form f = form_of(b);
    return is_uneven(&b->in[0], &f) ? DOUBT : 0;
}
static const equation lyapunov_equation = {lyapunov_once, lyapunov_residual, lyapunov_doubt};

static wg_status lyapunov_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const form f = form_of(b);
    double *const x = b->out[0].value;
    if (n == 0) return WG_OK;
    wg_status s = schur(b, 0, &f, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[1]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[1].value, b->in[1].ld, x);
    const int apart = wgi_schur_apart(n, n, f.t, f.t);
    if (apart && solve(&lyapunov_equation, b, 'N', x, b->work)) return WG_OK;
    return no_solution(b, apart, "two eigenvalues add up to 0");
}

static wg_status lyapunov_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const x = b->out[0].value;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    wgi_spectral_copy(n, n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!solve(&lyapunov_equation, b, 'T', y, room)) return beyond(b);
    if (b->in[0].bar != NULL) {
        product(CblasNoTrans, CblasTrans, n, n, n, -1, y, n, x, n, 1, b->in[0].bar,
                b->in[0].bar_ld);
        product(CblasTrans, CblasNoTrans, n, n, n, -1, y, n, x, n, 1, b->in[0].bar,
                b->in[0].bar_ld);
    }
    if (b->in[1].bar != NULL) add(n, n, y, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

static wg_status lyapunov_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const x = b->out[0].value, *const ad = b->in[0].bar;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    start(n, n, &b->in[1], y);
    if (ad != NULL) {
        product(CblasNoTrans, CblasNoTrans, n, n, n, -1, ad, b->in[0].bar_ld, x, n, 1, y, n);
        product(CblasNoTrans, CblasTrans, n, n, n, -1, x, n, ad, b->in[0].bar_ld, 1, y, n);
    }
    if (!solve(&lyapunov_equation, b, 'N', y, room)) return beyond(b);
    finish(n, n, y, &b->out[0]);
    return WG_OK;
}

/* A' Y + Y A = W:  A_ = -(Y X' + Y' X) */
static wg_status lyapunov_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const wg_mat x = out[0];
    (void)b;
    if (x.rows == 0) return WG_OK;
    const wg_mat y = wg_lyapunov(t, wg_mat_transpose(in[0]), bar[0]);
    back[0] = wg_gemm(t, 'N', 'T', -1, y, x, 1, wg_gemm(t, 'T', 'N', -1, y, x, 0, y));
    back[1] = y;
    return wg_tape_status(t);
}

static const wgi_traits of_lyapunov = {.whole = &wgi_whole_lyapunov};
const wg_block_op wgi_op_lyapunov = {
    "wg_lyapunov", 0,    lyapunov_shape,   lyapunov_value, lyapunov_vjp,
    lyapunov_jvp,  NULL, lyapunov_adjoint, &of_lyapunov};
const wgi_whole wgi_whole_lyapunov = {&wgi_op_lyapunov, "nnnn", "nn", NULL, NULL, 0, 0, 40};

/* ---- Lyapunov, discrete ---- */

/* room: of wgi_schur_stein_doubles(n). */
static int discrete_once(const wg_block *b, char op, double *x, double *room, outcome *of) {
    const form f = form_of(b);
    balance sides = {&f, &f, op == 'N', op == 'N', 0};
    of->whole = 0;
    if (!go_in(&sides, x, room)) return 1;
    return wgi_schur_stein(op, f.n, f.t, x, room) == 0 && come_out(&sides, x, room, of);
}
static void discrete_residual(const wg_block *b, char op, const double *x, double *r,
                              double *size, double *room) {
    const size_t n = b->in[0].rows, all = n * n, ld = b->in[0].ld;
    const double *const a = b->in[0].value;
    const CBLAS_TRANSPOSE left = op == 'N' ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE right = op == 'N' ? CblasTrans : CblasNoTrans;
    double *const of = room, *const ax = of + all, *const aax = ax + all;
    for (size_t i = 0; i < all; i++) r[i] -= x[i], size[i] += fabs(x[i]);
    product(left, CblasNoTrans, n, n, n, 1, a, ld, x, n, 0, aax, n);
    product(CblasNoTrans, right, n, n, n, 1, aax, n, a, ld, 1, r, n);
    sizes(n, n, a, ld, of);
    sizes(n, n, x, n, ax);
    product(left, CblasNoTrans, n, n, n, 1, of, n, ax, n, 0, aax, n);
    product(CblasNoTrans, right, n, n, n, 1, aax, n, of, n, 1, size, n);
}
/* Once always: a product of two entries may be far from both. */
static int discrete_doubt(const wg_block *b) {
    const form f = form_of(b);
    return is_uneven(&b->in[0], &f) ? DOUBT : 1;
}
static const equation discrete_equation = {discrete_once, discrete_residual, discrete_doubt};

/* All on one side of the diagonal is 0: the diagonal has the eigenvalues. */
static int is_triangular(const wg_block_arg *a) {
    int lower = 1, upper = 1;
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++) {
            if (i > j && a->value[i + j * a->ld] != 0) upper = 0;
            if (i < j && a->value[i + j * a->ld] != 0) lower = 0;
        }
    return lower || upper;
}

static wg_status discrete_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const form f = form_of(b);
    double *const x = b->out[0].value;
    if (n == 0) return WG_OK;
    wg_status s = schur(b, 0, &f, b->work);
    if (s == WG_OK) s = finite_right_side(b, &b->in[1]);
    if (s != WG_OK) return s;
    wgi_spectral_copy(n, n, b->in[1].value, b->in[1].ld, x);
    const int apart = wgi_schur_no_product_one(n, f.t, is_triangular(&b->in[0]));
    if (apart && solve(&discrete_equation, b, 'N', x, b->work)) return WG_OK;
    return no_solution(b, apart, "two eigenvalues multiply to 1");
}

static wg_status discrete_vjp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const a = b->in[0].value, *const x = b->out[0].value;
    double *const y = b->work, *const room = y + n * n, *const ab = b->in[0].bar;
    if (n == 0) return WG_OK;
    wgi_spectral_copy(n, n, b->out[0].bar, b->out[0].bar_ld, y);
    if (!solve(&discrete_equation, b, 'T', y, room)) return beyond(b);
    if (ab != NULL) {
        const size_t ld = b->in[0].bar_ld;
        product(CblasNoTrans, CblasTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, y, n, room, n, 1, ab, ld);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasTrans, CblasNoTrans, n, n, n, 1, y, n, room, n, 1, ab, ld);
    }
    if (b->in[1].bar != NULL) add(n, n, y, b->in[1].bar, b->in[1].bar_ld);
    return WG_OK;
}

static wg_status discrete_jvp(wg_block *b) {
    const size_t n = b->in[0].rows;
    const double *const a = b->in[0].value, *const x = b->out[0].value,
                        *const ad = b->in[0].bar;
    double *const y = b->work, *const room = y + n * n;
    if (n == 0) return WG_OK;
    start(n, n, &b->in[1], y);
    if (ad != NULL) {
        const size_t ld = b->in[0].bar_ld;
        product(CblasNoTrans, CblasTrans, n, n, n, 1, x, n, a, b->in[0].ld, 0, room, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, ad, ld, room, n, 1, y, n);
        product(CblasNoTrans, CblasNoTrans, n, n, n, 1, a, b->in[0].ld, x, n, 0, room, n);
        product(CblasNoTrans, CblasTrans, n, n, n, 1, room, n, ad, ld, 1, y, n);
    }
    if (!solve(&discrete_equation, b, 'N', y, room)) return beyond(b);
    finish(n, n, y, &b->out[0]);
    return WG_OK;
}

/* Y - A' Y A = W:  A_ = Y A X' + Y' A X */
static wg_status discrete_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const wg_mat a = in[0], x = out[0];
    (void)b;
    if (x.rows == 0) return WG_OK;
    const wg_mat y = wg_lyapunov_discrete(t, wg_mat_transpose(a), bar[0]);
    const wg_mat one = wg_matmul(t, y, wg_gemm(t, 'N', 'T', 1, a, x, 0, a));
    back[0] = wg_gemm(t, 'T', 'N', 1, y, wg_matmul(t, a, x), 1, one);
    back[1] = y;
    return wg_tape_status(t);
}

static const wgi_traits of_discrete = {.whole = &wgi_whole_lyapunov_discrete};
const wg_block_op wgi_op_lyapunov_discrete = {
    "wg_lyapunov_discrete", 0,    lyapunov_shape,   discrete_value, discrete_vjp,
    discrete_jvp,           NULL, discrete_adjoint, &of_discrete};
const wgi_whole wgi_whole_lyapunov_discrete = {
    &wgi_op_lyapunov_discrete, "nnnn", "nn", NULL, NULL, 0, 0, 40};

/* ---- calls ---- */

wg_mat wg_sylvester(wg_tape *t, wg_mat a, wg_mat b, wg_mat c) {
    const wg_mat in[] = {a, b, c};
    return wgi_apply_one(t, &wgi_op_sylvester, NULL, 0, 3, in);
}

wg_mat wg_lyapunov(wg_tape *t, wg_mat a, wg_mat q) {
    const wg_mat in[] = {a, q};
    return wgi_apply_one(t, &wgi_op_lyapunov, NULL, 0, 2, in);
}

wg_mat wg_lyapunov_discrete(wg_tape *t, wg_mat a, wg_mat q) {
    const wg_mat in[] = {a, q};
    return wgi_apply_one(t, &wgi_op_lyapunov_discrete, NULL, 0, 2, in);
}
