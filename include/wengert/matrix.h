/* SPDX-License-Identifier: MIT */
/* Matrix variables: making them, views of them, their values and adjoints.
 *
 * Operations on them are in elementwise.h, reduce.h, products.h, data.h, solve.h, spectral.h,
 * statistics.h and batch.h. All matrices are column-major; a vector is a matrix with one
 * column.
 *
 * The one convention for symmetric operands: an operation on a symmetric matrix A is
 * f((A + A')/2). Its gradient is symmetric, equal bit by bit in both triangles, and a tangent
 * enters with its symmetric part. What A is, if it is not symmetric: products and
 * factorisations read one of its triangles, the one named by uplo or the lower one;
 * operations of spectral.h take (A + A')/2. */
#ifndef WENGERT_MATRIX_H
#define WENGERT_MATRIX_H

#include <stddef.h>
#include <wengert/block.h>

WG_BEGIN_DECLS

#ifdef __cplusplus /* what is inline here is C as well */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* ---- making ----------------------------------------------------------------------------- */

/* wg_mat_input - an independent rows-by-cols matrix, its values copied from a, element (i, j)
 * at a[i + j ld].  wg_mat_constant - the same without derivatives.
 * Shapes:  ld >= rows.
 * Errors:  WG_ENULL, WG_ESHAPE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS. */
WG_API wg_mat wg_mat_input(wg_tape *t, size_t rows, size_t cols, const double *a, size_t ld);
WG_API wg_mat wg_mat_constant(wg_tape *t, size_t rows, size_t cols, const double *a, size_t ld);
/* The same with any strides: element (i, j) at a[i row_stride + j col_stride]. Row-major data
 * of width w: row_stride w, col_stride 1. Strides may be 0 or negative. */
WG_API wg_mat wg_mat_input_strided(wg_tape *t, size_t rows, size_t cols, const double *a,
                                   ptrdiff_t row_stride, ptrdiff_t col_stride);
WG_API wg_mat wg_mat_constant_strided(wg_tape *t, size_t rows, size_t cols, const double *a,
                                      ptrdiff_t row_stride, ptrdiff_t col_stride);
/* wg_mat_input_borrowed, wg_mat_constant_borrowed - without a copy: a stays as it is until the
 * tape is reset, or rewound to before this call. An input is copied all the same where ld >
 * rows, and on a tape that keeps code, since a replay writes to it. */
WG_API wg_mat wg_mat_input_borrowed(wg_tape *t, size_t rows, size_t cols, const double *a,
                                    size_t ld);
WG_API wg_mat wg_mat_constant_borrowed(wg_tape *t, size_t rows, size_t cols, const double *a,
                                       size_t ld);
/* wg_mat_fill - a constant matrix, all elements a.   wg_mat_identity - of order n. */
WG_API wg_mat wg_mat_fill(wg_tape *t, size_t rows, size_t cols, double a);
WG_API wg_mat wg_mat_identity(wg_tape *t, size_t n);
/* wg_mat_gather - variables (and constants) of an array as a matrix, column after column; one
 * record.  x of rows*cols. */
WG_API wg_mat wg_mat_gather(wg_tape *t, size_t rows, size_t cols, const wg_real *x);
/* wg_mat_from_real - a variable or constant as a 1-by-1 matrix, without a record: its slot is
 * that of x. Operations on matrices take variables and numbers as they are (operand.h); this is
 * for arrays of matrices, and for results.
 * Cost:    8 bytes in a place of 32. After a replay it is as x itself: wg_mat_at gives the
 *          value as of then, operations and wg_mat_value have the new one.
 * Errors:  WG_ENOMEM, WG_EBUDGET. A stale x: what takes the matrix refuses. */
WG_API wg_mat wg_mat_from_real(wg_tape *t, wg_real x);

/* ---- views: no copy, no record ---------------------------------------------------------- */

/* wg_mat_at - element (i, j) as a scalar variable; out of range, or of a failed matrix: a
 * constant, NaN. The value is read where it stands: not after a reset, or a rewind past a. */
static inline wg_real wg_mat_at(wg_mat a, size_t i, size_t j) {
    wg_real x = {WGI_NAN, {0, 0}};
    if (a.value && i < a.rows && j < a.cols) {
        const size_t skip = a.trans ? j + i * a.ld : i + j * a.ld;
        x.value = a.value[skip];
        if (a.at.slot != 0) {
            x.at.slot = a.at.slot + (uint32_t)skip;
            x.at.stamp = a.at.stamp;
        }
    }
    return x;
}
/* wg_mat_row - row i, 1-by-cols.   wg_mat_col - column j.   wg_mat_block - rows-by-cols from
 * (i, j).   wg_mat_transpose - its transpose.
 * What does not fit is a failed matrix (all NaN, value NULL), which the operation that meets it
 * refuses with WG_ESHAPE. */
WG_API wg_mat wg_mat_row(wg_mat a, size_t i);
WG_API wg_mat wg_mat_col(wg_mat a, size_t j);
WG_API wg_mat wg_mat_block(wg_mat a, size_t i, size_t j, size_t rows, size_t cols);
WG_API wg_mat wg_mat_transpose(wg_mat a);
/* wg_mat_reshape - the same elements in column-major order; a copy (one record) where strides
 * forbid a view.   Errors: WG_ESHAPE, ... */
WG_API wg_mat wg_mat_reshape(wg_tape *t, wg_mat a, size_t rows, size_t cols);

/* ---- reading ---------------------------------------------------------------------------- */

/* wg_mat_value, wg_mat_adjoint - element (i, j) to out[i + j ld]. Adjoints of constants are 0.
 * wg_mat_adjoint_lane, wg_mat_tangent - a lane of a sweep of several, of a forward tape.
 * Errors:  WG_ENULL, WG_ESHAPE (ld < rows), WG_ESTALE; adjoints: WG_ESEED before a sweep; a
 * tape in failure: its status, and out is NaN. */
WG_API WG_MUST_CHECK wg_status wg_mat_value(const wg_tape *t, wg_mat a, double *out, size_t ld);
WG_API WG_MUST_CHECK wg_status wg_mat_adjoint(const wg_tape *t, wg_mat a, double *out,
                                              size_t ld);
WG_API WG_MUST_CHECK wg_status wg_mat_adjoint_lane(const wg_tape *t, wg_mat a, size_t lane,
                                                   double *out, size_t ld);
WG_API WG_MUST_CHECK wg_status wg_mat_tangent(const wg_tape *t, wg_mat a, size_t lane,
                                              double *out, size_t ld);

/* ---- seeding ---------------------------------------------------------------------------- */

/* wg_mat_reverse - clears all adjoints, gives y the adjoint w (element (i, j) at w[i + j ld];
 * NULL: all ones), sweeps back to the inputs.   Errors: as wg_reverse. */
WG_API WG_MUST_CHECK wg_status wg_mat_reverse(wg_tape *t, wg_mat y, const double *w, size_t ld);
/* wg_mat_adjoint_seed - adds w to the adjoint of y, between wg_adjoints_clear and wg_sweep.
 * There is nothing to do for a matrix without elements. */
WG_API WG_MUST_CHECK wg_status wg_mat_adjoint_seed(wg_tape *t, wg_mat y, const double *w,
                                                   size_t ld);
/* wg_mat_tangent_seed - sets lane `lane` of the tangent of an input, on a forward tape. */
WG_API WG_MUST_CHECK wg_status wg_mat_tangent_seed(wg_tape *t, wg_mat x, size_t lane,
                                                   const double *v, size_t ld);

/* ---- trust ------------------------------------------------------------------------------ */

/* wg_check_op - applies an operation to the operands and compares: jvp with finite differences
 * of value, and vjp with jvp (or with finite differences where there is none), along every
 * element of the operands up to 32, otherwise along random directions; value and vjp with those
 * of expand, where there is one; second derivatives by adjoint, where there is one, with finite
 * differences of tangents; and what WG_OP_LINEAR, WG_OP_EACH and WG_OP_MOVES say of the
 * Jacobian with what it is.  Works on a tape of its own. At a kink or a jump finite differences are
 * no judge.
 * Shapes:  in of `inputs`: constants or variables of t, whose values are taken; derivatives are
 *          by the variables, or by all when there is none.
 * Errors:  WG_EMISMATCH: the message of t names operation, result, operand, elements and the
 *          two numbers; WG_ENULL: also for no shape, value or vjp; what the operation
 *          returns. */
WG_API WG_MUST_CHECK wg_status wg_check_op(wg_tape *t, const wg_block_op *op,
                                           const void *params, size_t bytes, size_t inputs,
                                           const wg_mat *in, size_t outputs);

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

WG_END_DECLS

#endif
