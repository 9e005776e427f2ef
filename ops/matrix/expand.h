/* SPDX-License-Identifier: MIT */
/* expand.h - what operations on matrices share where they write themselves out in scalar
 * statements, to become a part of a function (`expand` of wg_block_op).
 *
 * Operands are views; results are arrays without gaps, column after column. What has to be
 * decided is decided at every point, by selection, or is kept from the recording together with
 * a comparison that comes out differently where it does not serve: doc/FUNCTIONS.md has a list.
 * Symmetric operands have the values of one triangle; their gradients are symmetric.
 *
 * Products, solves and factorisations of large matrices become one operation each, of
 * dense_values.h, instead of many statements.
 *
 * Without room there is no array: what gives one gives NULL, what takes one takes NULL and does
 * nothing; the tape keeps the failure. */
#ifndef WGI_OPS_MATRIX_EXPAND_H
#define WGI_OPS_MATRIX_EXPAND_H

#include <wengert/array.h>
#include <wengert/block.h>
#include <wengert/operation.h>
#include <wengert/scalar.h>

/* A product by the zero rule, as a function has it. */
extern const wg_scalar_op *const wgi_expand_times;
/* A number, with derivative 0. */
extern const wg_scalar_op *const wgi_expand_hold;
/* Matern covariances of the squared distance: covariance.c. */
extern const wg_scalar_op *const wgi_expand_matern_32, *const wgi_expand_matern_52;
/* All operations of the library that are no rows of the table, up to a NULL: who loads a
 * function knows them by name. */
const wg_scalar_op *wgi_expand_row(size_t i);

/* A matrix of variables: element (i, j) at p[i down + j across]. */
typedef struct wgi_reals {
    const wg_real *p;
    size_t rows, cols, down, across;
} wgi_reals;

static inline wgi_reals wgi_reals_packed(const wg_real *p, size_t rows, size_t cols) {
    return (wgi_reals){p, rows, cols, 1, rows};
}
/* The k-th operand: x as expand is given it. */
wgi_reals wgi_reals_operand(const wg_block *b, const wg_real *x, size_t k);
/* The k-th result: y likewise. */
wg_real *wgi_reals_result(const wg_block *b, wg_real *y, size_t k);

static inline wgi_reals wgi_reals_turn(wgi_reals a, int turn) {
    if (turn) a = (wgi_reals){a.p, a.cols, a.rows, a.across, a.down};
    return a;
}
/* As a column. */
static inline wgi_reals wgi_reals_column(wgi_reals a) { return wgi_reals_turn(a, a.cols != 1); }
/* `cols` columns from column j on. */
static inline wgi_reals wgi_reals_cols(wgi_reals a, size_t j, size_t cols) {
    return (wgi_reals){a.p + j * a.across, a.rows, cols, a.down, a.across};
}
static inline wg_real wgi_reals_at(wgi_reals a, size_t i, size_t j) {
    return a.p[i * a.down + j * a.across];
}

/* ---- pieces ---- */

/* The constant 0? */
static inline int wgi_expand_is_nothing(wg_real x) { return x.at.slot == 0 && x.value == 0; }

wg_real *wgi_expand_room(wg_tape *t, size_t n);
/* f x */
wg_real wgi_expand_scaled(wg_tape *t, double f, wg_real x);
/* s + x, without an s that is a constant 0 */
wg_real wgi_expand_plus(wg_tape *t, wg_real s, wg_real x);
/* a - x y, without a product that is a constant 0 */
wg_real wgi_expand_less(wg_tape *t, wg_real a, wg_real x, wg_real y);
/* The number x with derivative 0, at every point. */
wg_real wgi_expand_held(wg_tape *t, wg_real x);
/* 1 where a > 0, NaN elsewhere: what tapes refuse are no numbers of functions. */
wg_real wgi_expand_good(wg_tape *t, wg_real a);
/* A pivot: a itself, and NaN where that is 0, in derivatives, too. */
wg_real wgi_expand_pivot(wg_tape *t, wg_real a);
/* 1 where the sum of sizes of all n is finite. */
wg_real wgi_expand_finite(wg_tape *t, size_t n, const wg_real *x);
/* y, n of them, times `good`: that is in their derivatives, too. */
void wgi_expand_spoil(wg_tape *t, wg_real good, size_t n, wg_real *y);
/* sum x[i dx] y[i dy] */
wg_real wgi_expand_dot(wg_tape *t, size_t n, const wg_real *x, size_t dx, const wg_real *y,
                       size_t dy);

void wgi_expand_copy(wgi_reals a, wg_real *y);
/* y = a b */
void wgi_expand_mul(wg_tape *t, wgi_reals a, wgi_reals b, wg_real *y);

/* ---- arrays of their own ---- */

wg_real *wgi_expand_copied(wg_tape *t, wgi_reals a);
/* The values of a triangle, the derivatives of (A + A')/2. */
wg_real *wgi_expand_symmetric(wg_tape *t, wgi_reals a, int upper);
wg_real *wgi_expand_identity(wg_tape *t, size_t n);
/* L of s = L L', of order n; 0 above the diagonal. */
wg_real *wgi_expand_cholesky(wg_tape *t, size_t n, const wg_real *s);

/* ---- systems of equations: with partial pivoting at every point, by selection ---- */

/* b = A^-1 b, k columns; a is lost. Element (i, j) stands at a[i + j ld]; those more than
 * `below` below the diagonal or `above` above it are 0; there is to be room for `below` more of
 * the latter. */
void wgi_expand_solve_band(wg_tape *t, size_t n, size_t below, size_t above, wg_real *a,
                           size_t ld, size_t k, wg_real *b);
/* b = A^-1 b, or A'^-1 b; k columns. */
void wgi_expand_solve(wg_tape *t, wgi_reals a, int trans, size_t k, wg_real *b);
/* y = A^-1 */
void wgi_expand_inverse(wg_tape *t, wgi_reals a, wg_real *y);
/* det A, with derivatives where A is singular. What is written out for small orders holds as
 * long as no product leaves the range of numbers; recorded where one does, it is one node. */
wg_real wgi_expand_det(wg_tape *t, wgi_reals a);
/* The same of a symmetric s of order n, by its Cholesky factor; NaN where there is none. */
wg_real wgi_expand_det_spd(wg_tape *t, size_t n, const wg_real *s);
/* log |det A| and the sign of det A; NULL: not wanted. */
void wgi_expand_logdet(wg_tape *t, wgi_reals a, wg_real *log, wg_real *sign);
/* x = A^-1 x for a triangle of A; element (i, j) of x at x[i down + j across], k columns, and
 * nothing else there. trsm: NaN where an element of the diagonal is 0. */
void wgi_expand_triangle(wg_tape *t, wgi_reals a, int upper, int unit, size_t k, wg_real *x,
                         size_t down, size_t across);
void wgi_expand_trsm(wg_tape *t, wgi_reals a, int upper, int unit, size_t k, wg_real *x,
                     size_t down, size_t across);
/* b = (L L')^-1 b */
void wgi_expand_cholesky_solve(wg_tape *t, size_t n, const wg_real *l, size_t k, wg_real *b);

/* A = Q R with a.rows >= a.cols, by Gram and Schmidt, twice for each column; R of order a.cols.
 * sign: of the diagonal of R; NULL: all positive. */
void wgi_expand_qr(wg_tape *t, wgi_reals a, const wg_real *sign, wg_real *q, wg_real *r);
/* The signs that LAPACK's factorisation has. */
void wgi_expand_qr_signs(wg_tape *t, wgi_reals a, wg_real *sign);

#endif
