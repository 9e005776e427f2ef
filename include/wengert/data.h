/* SPDX-License-Identifier: MIT */
/* Data movement: gather and scatter, slices, joins, padding, repetition, diagonals, triangles.
 *
 * All are linear with coefficients 0 and 1: the adjoint moves the same numbers back and adds up
 * those that meet. Where a view does (wg_mat_block, wg_mat_row, wg_mat_transpose, ...) nothing
 * needs to be moved. Numbers of elements run in column-major order: element (i, j) of a matrix
 * of r rows is number i + j r. Index lists are copied.
 *
 * Every operation: one record; cost O(elements of the operands read and of the result);
 * operands of any shape, also 0 rows or columns.  Errors: of every one WG_ENULL, WG_ESHAPE,
 * WG_ESTALE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS; a result that is NaN then. */
#ifndef WENGERT_DATA_H
#define WENGERT_DATA_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* ---- by index --------------------------------------------------------------------------- */

/* wg_gather - element k of the result is element index[k] of x.
 * Shapes:  index rows*cols; result rows-by-cols.
 * Adjoint: x_[index[k]] += r_[k]: repeated indices add up.   Errors: WG_EARG: an index out of
 * range. */
WG_API wg_mat wg_gather(wg_tape *t, wg_mat x, size_t rows, size_t cols, const size_t *index);

/* wg_scatter_add - x, with u[k] added to element index[k]; repeated indices add up.
 * Shapes:  index one per element of u; result as x.
 * Adjoint: x_ += r_;  u_[k] += r_[index[k]].   Errors: WG_EARG: an index out of range. */
WG_API wg_mat wg_scatter_add(wg_tape *t, wg_mat x, wg_mat u, const size_t *index);

/* wg_scatter_set - x, with element index[k] replaced by u[k]; of repeated indices the last one
 * counts.
 * Shapes:  index one per element of u; result as x.
 * Adjoint: what was replaced, in x or earlier in u, gets 0.   Errors: WG_EARG: an index out of
 * range. */
WG_API wg_mat wg_scatter_set(wg_tape *t, wg_mat x, wg_mat u, const size_t *index);

/* wg_take_rows, wg_take_cols - n rows (columns) of x in the order of index, repeats allowed; a
 * permutation of 0 .. rows-1 permutes the rows.
 * wg_embedding - look-up: wg_take_cols of a table with one column per entry. The adjoint
 * touches the columns looked up and no others.   Errors: WG_EARG: an index out of range. */
WG_API wg_mat wg_take_rows(wg_tape *t, wg_mat x, size_t n, const size_t *index);
WG_API wg_mat wg_take_cols(wg_tape *t, wg_mat x, size_t n, const size_t *index);
WG_API wg_mat wg_embedding(wg_tape *t, wg_mat table, size_t n, const size_t *index);

/* ---- slices, copies, repetition --------------------------------------------------------- */

/* wg_slice - element (i, j) of the result is x(row + i row_step, col + j col_step). Steps may
 * be negative or 0.   Shapes: result rows-by-cols; all of it within x, otherwise WG_ESHAPE. */
WG_API wg_mat wg_slice(wg_tape *t, wg_mat x, size_t row, ptrdiff_t row_step, size_t rows,
                       size_t col, ptrdiff_t col_step, size_t cols);

/* wg_mat_copy - x, also a transposed view, as a matrix of its own. */
WG_API wg_mat wg_mat_copy(wg_tape *t, wg_mat x);

/* wg_flip_rows - the rows in reverse order (upside down).   wg_flip_cols - the columns. */
WG_API wg_mat wg_flip_rows(wg_tape *t, wg_mat x);
WG_API wg_mat wg_flip_cols(wg_tape *t, wg_mat x);

/* wg_tile - `down` by `across` copies of x.   wg_repeat - every element `down` times below
 * itself and `across` times beside itself.   Shapes: result (down rows)-by-(across cols). */
WG_API wg_mat wg_tile(wg_tape *t, wg_mat x, size_t down, size_t across);
WG_API wg_mat wg_repeat(wg_tape *t, wg_mat x, size_t down, size_t across);

/* wg_windows - count blocks of `cols` columns of x side by side, each beginning `stride`
 * columns after the one before: a batch of members that have columns in common, or some between
 * them, or, with stride 0, are one and the same. Where stride = cols, the view wg_mat_block is
 * that without a copy.
 * Shapes:  result x.rows-by-(cols count); all of it within x, otherwise WG_ESHAPE. */
WG_API wg_mat wg_windows(wg_tape *t, wg_mat x, size_t count, size_t cols, size_t stride);

/* wg_broadcast_to - x repeated along the dimensions where it has length 1.
 * Shapes:  x has `rows` rows or 1, `cols` columns or 1.
 * Adjoint: the sum over what was repeated. */
WG_API wg_mat wg_broadcast_to(wg_tape *t, wg_mat x, size_t rows, size_t cols);

/* wg_permute - x as an array of `dims` dimensions (at most 4), dim[0] running fastest, with its
 * dimensions in the order perm[0], perm[1], ...: element (i[perm[0]], i[perm[1]], ...) of the
 * result is element (i[0], i[1], ...) of x.
 * Shapes:  the product of the first few dim is the rows of x, that of the others its columns;
 *          the first row_dims dimensions of the result make its rows.
 * Errors:  WG_EARG: more than 4 dimensions, dim does not give the shape of x, or perm is no
 *          permutation. */
WG_API wg_mat wg_permute(wg_tape *t, wg_mat x, size_t dims, const size_t *dim,
                         const size_t *perm, size_t row_dims);

/* ---- joining and padding ---------------------------------------------------------------- */

/* wg_concat_rows - count matrices below each other.   wg_concat_cols - beside each other. The
 * same matrix may occur several times. One record for up to 16, and one for every 15 more.
 * Shapes:  equal columns (rows); count = 0 gives 0-by-0. */
WG_API wg_mat wg_concat_rows(wg_tape *t, size_t count, const wg_mat *x);
WG_API wg_mat wg_concat_cols(wg_tape *t, size_t count, const wg_mat *x);

/* wg_pad - x with so many rows and columns around it, all of them `value`. */
WG_API wg_mat wg_pad(wg_tape *t, wg_mat x, size_t above, size_t below, size_t left,
                     size_t right, double value);

/* ---- diagonals and triangles ------------------------------------------------------------ */

/* wg_mat_diagonal - the main diagonal as a column: a view, no record. */
static inline wg_mat wg_mat_diagonal(wg_mat a) {
    const size_t n = a.rows < a.cols ? a.rows : a.cols;
    if (!a.value) return wg_mat_failed(n, 1);
    a.rows = n;
    a.cols = 1;
    a.ld += 1;
    a.trans = 1;
    return a;
}

/* wg_diag - the matrix with x on its diagonal and 0 elsewhere.
 * Shapes:  x a vector of n, either way; result n-by-n.   Adjoint: x_ += diagonal of r_. */
WG_API wg_mat wg_diag(wg_tape *t, wg_mat x);

/* wg_block_diag - count matrices as blocks from the upper left to the lower right, and 0
 * elsewhere. */
WG_API wg_mat wg_block_diag(wg_tape *t, size_t count, const wg_mat *x);

/* wg_toeplitz - T(i, j) = c[i - j] on and below the diagonal, r[j - i] above it; r[0] is not
 * used.
 * wg_circulant - C(i, j) = c[(i - j) mod n].   Systems with them: wg_solve_toeplitz, wg_solve_circulant.
 * Shapes:  c and r vectors, either way; T of as many rows as c has elements, and columns as
 *          r. */
WG_API wg_mat wg_toeplitz(wg_tape *t, wg_mat c, wg_mat r);
WG_API wg_mat wg_circulant(wg_tape *t, wg_mat c);

/* wg_tril, wg_triu - x with 0 above (below) diagonal k: element (i, j) stays where j - i <= k
 * (>= k). k = 0 is the main diagonal.   Adjoint: the same of r_. */
WG_API wg_mat wg_tril(wg_tape *t, wg_mat x, ptrdiff_t k);
WG_API wg_mat wg_triu(wg_tape *t, wg_mat x, ptrdiff_t k);

WG_END_DECLS

#endif
