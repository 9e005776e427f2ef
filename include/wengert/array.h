/* SPDX-License-Identifier: MIT */
/* Operations on plain C arrays of variables: each call is one n-ary statement.
 *
 * n = 0 gives the neutral element as a constant (sum 0, product 1, norm 0, logsumexp -inf);
 * maximum, minimum and mean of nothing are WG_ESHAPE. A failure gives a passive NaN and the
 * status of the tape. Cost: O(n) values, ceil(n/2) records. */
#ifndef WENGERT_ARRAY_H
#define WENGERT_ARRAY_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

WG_API wg_real wg_sum(wg_tape *t, size_t n, const wg_real *x);
/* Product of all; derivatives exact with zeros among the factors. */
WG_API wg_real wg_product(wg_tape *t, size_t n, const wg_real *x);
WG_API wg_real wg_dot(wg_tape *t, size_t n, const wg_real *x, const wg_real *y);
/* sum_i c[i] x[i] with constant coefficients. */
WG_API wg_real wg_linear(wg_tape *t, size_t n, const double *c, const wg_real *x);
/* sum_i c[i] z^i, i = 0..n-1, by Horner's rule; coefficients and z variable. */
WG_API wg_real wg_polynomial(wg_tape *t, size_t n, const wg_real *c, wg_real z);
/* Euclidean norm without over- or underflow; derivative 0 at the zero vector. */
WG_API wg_real wg_norm2(wg_tape *t, size_t n, const wg_real *x);
WG_API wg_real wg_squared_norm(wg_tape *t, size_t n, const wg_real *x);
/* log(sum_i exp(x[i])) without overflow; all -inf: value -inf, derivatives 1/n each. */
WG_API wg_real wg_logsumexp(wg_tape *t, size_t n, const wg_real *x);
/* Largest, smallest: the derivative is split evenly over ties. */
WG_API wg_real wg_maximum(wg_tape *t, size_t n, const wg_real *x);
WG_API wg_real wg_minimum(wg_tape *t, size_t n, const wg_real *x);
WG_API wg_real wg_mean(wg_tape *t, size_t n, const wg_real *x);

/* Comparisons that steer control flow: plain ints. When the tape keeps code they leave a guard,
 * so that a replay in which they come out differently is reported (WG_EGUARD). */
WG_API int wg_lt(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_le(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_gt(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_ge(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_eq(wg_tape *t, wg_real x, wg_real y);
WG_API int wg_ne(wg_tape *t, wg_real x, wg_real y);

WG_END_DECLS

#endif
