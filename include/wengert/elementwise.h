/* SPDX-License-Identifier: MIT */
/* Elementwise operations on matrices: wg_mat_NAME for every row NAME of the table of scalar
 * operations (elementwise_ops.h), and what stands below.
 *
 * Shapes:   dimensions of the operands are equal, or 1 and stretched: a row, a column or a
 *           1-by-1 matrix goes with any matrix that has its length.
 * Adjoint:  a_ += y_ df/da element by element, summed over what a was stretched along. A
 *           product of an adjoint with a partial is exactly 0 when either is 0: an infinite
 *           slope in an element that nothing depends on does not spread. Partials at kinks as
 *           in the table.
 * Accuracy: arithmetic, square roots, rounding, extrema and selects have the bits of the scalar
 *           operations. exp, log, sin, pow, ... run on SIMD vectors where the processor and
 *           glibc (2.35, libmvec) have them: values within 4 ulp, sigmoid, softplus,
 *           log_sigmoid and tanh too; partials within 16. The bits of a result do not depend
 *           on its place in a matrix; they may on the processor.
 * Cost:     one pass over the operands for the value, one for the adjoint; the tape keeps the
 *           result, and for tanh, sigmoid, softplus and log_sigmoid the slope: 8 bytes an
 *           element each.
 * Errors:   WG_ESHAPE, and those of wg_apply. The result is NaN then. */
#ifndef WENGERT_ELEMENTWISE_H
#define WENGERT_ELEMENTWISE_H

#include <wengert/elementwise_ops.h>
#include <wengert/matrix.h>
#include <wengert/small.h>

WG_BEGIN_DECLS

/* wg_mat_select - a where the mask is not 0, otherwise b, element by element. What was not
 * selected gets the adjoint 0, whatever its value. The mask has no derivative. */
WG_API wg_mat wg_mat_select(wg_tape *t, wg_mat mask, wg_mat a, wg_mat b);

/* wg_mat_scale - c a.   wg_mat_axpby - c a + d b, in one pass. c and d are constants.
 * wg_mat_scale_real - c a where c is a variable.   Adjoint: a_ += c y_;  c_ += <y_, a>. */
WG_API wg_mat wg_mat_scale(wg_tape *t, double c, wg_mat a);
WG_API wg_mat wg_mat_scale_real(wg_tape *t, wg_real c, wg_mat a);
WG_API wg_mat wg_mat_axpby(wg_tape *t, double c, wg_mat a, double d, wg_mat b);

/* A function of one number, with what it needs beside. */
typedef double wg_map_fn(void *ctx, double x);

/* wg_mat_map - f of every element, d its derivative. Sweeps call d, at elements whose adjoint
 * is not 0: ctx lives as long as the recording.   wg_mat_map_twice - the same with the derivative dd
 * of d, for second derivatives, which wg_mat_map has none of.
 * In functions they are called at each point, from the thread that evaluates it, and ctx lives
 * as long as every function that is made of it; a file or a text cannot have them (but
 * wg_mat_apply_scalar).
 * Errors:  WG_ENULL: f, d or dd is NULL; and as above. */
WG_API wg_mat wg_mat_map(wg_tape *t, wg_map_fn *f, wg_map_fn *d, void *ctx, wg_mat a);
WG_API wg_mat wg_mat_map_twice(wg_tape *t, wg_map_fn *f, wg_map_fn *d, wg_map_fn *dd, void *ctx,
                               wg_mat a);

struct wg_scalar_op; /* operation.h */

/* wg_mat_apply_scalar - a scalar operation element by element, of as many matrices as it has
 * operands; dimensions of 1 are stretched. Of a built-in one (&wgi_scalar_ops[...]) it is the call
 * of its name. One of your own (WG_OPERATION1(name, ...) makes wgi_user_name) has two derivatives
 * on tapes, and where its texts stand for functions of C, in functions as many as are asked for; it is
 * saved by its name and emitted by its text, as wg_mat_map cannot be. op lives as long as the recording
 * and every function that is made of it.
 * Cost:    a call of op for each element; where it is swept one more.
 * Errors:  WG_ENULL: op, in, or a member of op that has to be there is NULL; WG_EARG: its arity
 *          is not 1 to 4; and as above. */
WG_API wg_mat wg_mat_apply_scalar(wg_tape *t, const struct wg_scalar_op *op, const wg_mat *in);

WG_END_DECLS

#endif
