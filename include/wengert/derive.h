/* SPDX-License-Identifier: MIT */
/* Functions from functions: derivatives of any order, and how functions are put together.
 *
 * A result is a function like the one it is made of: it can be differentiated again, in any
 * mode, without perturbation confusion, since only functions nest. Common work is shared: the
 * join of a function and its gradient computes the function once.
 *
 * Inputs that are not WG_PASSIVE are differentiated. Inputs of a result are those of that
 * function and then what a line adds; dx stands for the name of an input with a `d` before it,
 * and _2, _3, ... behind it where an input has that name already. Shapes of derivatives: that of
 * the input or output they belong to.
 *
 * Derivatives by an input that has a value per point go through sums only where they are
 * linear: the gradient of s^2, s a sum over the points, by such an input needs s at the points,
 * and is refused (WG_EMODE); its jvp is not, and shared inputs always work. A loop (function.h)
 * counts as one operation here: where one of the things it takes is a sum over the points, all
 * it gives is; it is refused where it also takes what each point has of its own. Its adjoint
 * gives what goes on to the points apart from such sums: the Jacobian, by an input with a value
 * per point, of a gradient through loops in loops is what it is without loops.
 *
 * What a recording computes twice is done once here, and its adjoints are added up before they
 * meet a slope: where that is infinite, as of sqrt at 0, the sweeps of a tape may add
 * infinities of both signs, which is NaN, and a derivative here be one of them.
 *
 * t:       a tape, as workspace and for messages; left empty, as by a driver.
 * Errors:  of all: WG_ENULL; WG_ESHAPE, WG_EARG: the message says which; WG_EMODE: an operation
 *          that cannot be differentiated (again): the message names it; a summed output would
 *          have to be used at the points again; WG_ENOMEM, WG_EBUDGET. *out is NULL then. */
#ifndef WENGERT_DERIVE_H
#define WENGERT_DERIVE_H

#include <wengert/function.h>

WG_BEGIN_DECLS

/* wg_function_gradient - of a function with one output of one entry. An output dy/dx for each
 * input x: summed over the points if y is and x is shared. */
WG_API WG_MUST_CHECK wg_status wg_function_gradient(wg_tape *t, const wg_function *f,
                                                    wg_function **out);

/* wg_function_jacobian - an output dy/dx for each output y of m and input x of n entries, in
 * this order: n-by-m, so that column j is the gradient of y[j]. Forward or reverse: by shape,
 * and where work on shared inputs is done once, by what is left to do at each point. */
WG_API WG_MUST_CHECK wg_status wg_function_jacobian(wg_tape *t, const wg_function *f,
                                                    wg_function **out);

/* wg_function_jvp - inputs dx; an output dy for each output y: J dx.
 * wg_function_vjp - inputs wy, for each output y; an output dx for each input x: J' w. */
WG_API WG_MUST_CHECK wg_status wg_function_jvp(wg_tape *t, const wg_function *f,
                                               wg_function **out);
WG_API WG_MUST_CHECK wg_status wg_function_vjp(wg_tape *t, const wg_function *f,
                                               wg_function **out);

/* wg_function_hvp - inputs wy and dx; an output hx for each input x: (sum of w y)'' dx. With
 * one output of one entry there is no wy.
 * wg_function_hessian - of the Lagrangian sum of w y: inputs wy, unless there is one output of
 * one entry; one output hess, n-by-n over all differentiated entries, both triangles.
 * What was added stands behind the inputs of f: with it wg_function_inputs is larger. */
WG_API WG_MUST_CHECK wg_status wg_function_hvp(wg_tape *t, const wg_function *f,
                                               wg_function **out);
WG_API WG_MUST_CHECK wg_status wg_function_hessian(wg_tape *t, const wg_function *f,
                                                   wg_function **out);

/* wg_function_taylor - inputs dx; for each output y of m entries an output ty, m-by-(order+1):
 * column k holds the coefficient of s^k in y(x + s dx). order < 64. Its adjoint is the vjp of
 * it. Series go through each operation by a recurrence: a product takes order^2 / 2 products
 * and sums, a quotient, a root, exp, log as many again, sin and cos together two of these, tanh
 * three. Measured at many points (bench/taylor), order 8 takes 4 to 8 times the time of f,
 * order 16 6 to 22, order 32 9 to 73. Through loops and operations on whole matrices
 * derivatives are taken of derivatives, whose operations grow much faster: small orders only.
 * Powers with an exponent that is no whole number up to 64, or that moves, have NaN from order
 * 1 on where the base is 0, and lose digits, down to 0, where such a power underflows, though
 * its derivatives may not.
 * Errors: WG_EARG: the order.
 * Source: Griewank, Walther 2008, Evaluating Derivatives, ch. 13. */
WG_API WG_MUST_CHECK wg_status wg_function_taylor(wg_tape *t, const wg_function *f,
                                                  size_t order, wg_function **out);

/* ---- putting together ---- */

/* wg_function_join - all outputs of `count` functions. Inputs of one name are one input: shapes
 * and flags have to agree. */
WG_API WG_MUST_CHECK wg_status wg_function_join(wg_tape *t, size_t count,
                                                const wg_function *const *f, wg_function **out);

/* wg_function_compose - outer after inner: inputs of outer that have the name of an output of
 * inner are that output, and are differentiated through, whatever their flags. Inputs: those of
 * inner, then the other ones of outer. An output that comes of a sum of inner is one for all
 * points: WG_SUMMED.   Errors: WG_EGUARD: a comparison of numbers comes out differently. */
WG_API WG_MUST_CHECK wg_status wg_function_compose(wg_tape *t, const wg_function *outer,
                                                   const wg_function *inner, wg_function **out);

/* wg_function_select - only the named outputs, in this order; what they do not need is left
 * out. */
WG_API WG_MUST_CHECK wg_status wg_function_select(wg_tape *t, const wg_function *f,
                                                  size_t count, const char *const *name,
                                                  wg_function **out);

/* wg_function_flag - the same function with other flags for the input of that name, or else the
 * output. WG_SUMMED can be given to an output, not taken away. */
WG_API WG_MUST_CHECK wg_status wg_function_flag(wg_tape *t, const wg_function *f,
                                                const char *name, unsigned flags,
                                                wg_function **out);

WG_END_DECLS

#endif
