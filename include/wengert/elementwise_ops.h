/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * wg_mat_NAME, element by element, for every operation; see elementwise.h. */
#ifndef WENGERT_ELEMENTWISE_OPS_H
#define WENGERT_ELEMENTWISE_OPS_H

#include <wengert/block.h>

WG_BEGIN_DECLS

/* neg: linearity */
WG_API wg_mat wg_mat_neg(wg_tape *t, wg_mat a);

/* add: linearity */
WG_API wg_mat wg_mat_add(wg_tape *t, wg_mat a, wg_mat b);

/* sub: linearity */
WG_API wg_mat wg_mat_sub(wg_tape *t, wg_mat a, wg_mat b);

/* mul: product rule */
WG_API wg_mat wg_mat_mul(wg_tape *t, wg_mat a, wg_mat b);

/* div: quotient rule */
WG_API wg_mat wg_mat_div(wg_tape *t, wg_mat a, wg_mat b);

/* fma: product rule; C11 7.12.13.1 */
WG_API wg_mat wg_mat_fma(wg_tape *t, wg_mat a, wg_mat b, wg_mat c);

/* reciprocal: quotient rule */
WG_API wg_mat wg_mat_reciprocal(wg_tape *t, wg_mat a);

/* square: power rule */
WG_API wg_mat wg_mat_square(wg_tape *t, wg_mat a);

/* cube: power rule */
WG_API wg_mat wg_mat_cube(wg_tape *t, wg_mat a);

/* fmod: a = n b + v, n = trunc(a/b) held */
WG_API wg_mat wg_mat_fmod(wg_tape *t, wg_mat a, wg_mat b);

/* remainder: a = n b + v, n = rint(a/b) held; IEC 60559 */
WG_API wg_mat wg_mat_remainder(wg_tape *t, wg_mat a, wg_mat b);

/* sqrt: power rule; DLMF 4.4.1 */
WG_API wg_mat wg_mat_sqrt(wg_tape *t, wg_mat a);

/* cbrt: power rule */
WG_API wg_mat wg_mat_cbrt(wg_tape *t, wg_mat a);

/* rsqrt: power rule */
WG_API wg_mat wg_mat_rsqrt(wg_tape *t, wg_mat a);

/* pow: DLMF 4.2.26 */
WG_API wg_mat wg_mat_pow(wg_tape *t, wg_mat a, wg_mat b);

/* hypot: chain rule; 0 at the cone tip */
WG_API wg_mat wg_mat_hypot(wg_tape *t, wg_mat a, wg_mat b);

/* exp: DLMF 4.7.7 */
WG_API wg_mat wg_mat_exp(wg_tape *t, wg_mat a);

/* exp2: DLMF 4.7.10 */
WG_API wg_mat wg_mat_exp2(wg_tape *t, wg_mat a);

/* exp10: DLMF 4.7.10 */
WG_API wg_mat wg_mat_exp10(wg_tape *t, wg_mat a);

/* expm1: DLMF 4.7.7 */
WG_API wg_mat wg_mat_expm1(wg_tape *t, wg_mat a);

/* log: DLMF 4.7.1 */
WG_API wg_mat wg_mat_log(wg_tape *t, wg_mat a);

/* log2: DLMF 4.7.1 */
WG_API wg_mat wg_mat_log2(wg_tape *t, wg_mat a);

/* log10: DLMF 4.7.1 */
WG_API wg_mat wg_mat_log10(wg_tape *t, wg_mat a);

/* log1p: DLMF 4.7.1 */
WG_API wg_mat wg_mat_log1p(wg_tape *t, wg_mat a);

/* log1mx: log(1 - a); DLMF 4.7.1 */
WG_API wg_mat wg_mat_log1mx(wg_tape *t, wg_mat a);

/* log1mexp: log(1 - exp a), a < 0; Maechler 2012 */
WG_API wg_mat wg_mat_log1mexp(wg_tape *t, wg_mat a);

/* log_base: log a / log b; DLMF 4.2.19 */
WG_API wg_mat wg_mat_log_base(wg_tape *t, wg_mat a, wg_mat b);

/* xlogy: a log b, 0 where a is 0 */
WG_API wg_mat wg_mat_xlogy(wg_tape *t, wg_mat a, wg_mat b);

/* log_add_exp: softmax; Blanchard, Higham, Higham 2021 */
WG_API wg_mat wg_mat_log_add_exp(wg_tape *t, wg_mat a, wg_mat b);

/* log_diff_exp: log(exp a - exp b); Maechler 2012 */
WG_API wg_mat wg_mat_log_diff_exp(wg_tape *t, wg_mat a, wg_mat b);

/* sigmoid: 1 / (1 + exp -a) */
WG_API wg_mat wg_mat_sigmoid(wg_tape *t, wg_mat a);

/* log_sigmoid: -log(1 + exp -a) */
WG_API wg_mat wg_mat_log_sigmoid(wg_tape *t, wg_mat a);

/* softplus: log(1 + exp a) */
WG_API wg_mat wg_mat_softplus(wg_tape *t, wg_mat a);

/* logit: log(a / (1 - a)) */
WG_API wg_mat wg_mat_logit(wg_tape *t, wg_mat a);

/* sin: DLMF 4.20.1 */
WG_API wg_mat wg_mat_sin(wg_tape *t, wg_mat a);

/* cos: DLMF 4.20.2 */
WG_API wg_mat wg_mat_cos(wg_tape *t, wg_mat a);

/* tan: DLMF 4.20.3 */
WG_API wg_mat wg_mat_tan(wg_tape *t, wg_mat a);

/* sec: DLMF 4.20.5 */
WG_API wg_mat wg_mat_sec(wg_tape *t, wg_mat a);

/* csc: DLMF 4.20.4 */
WG_API wg_mat wg_mat_csc(wg_tape *t, wg_mat a);

/* cot: DLMF 4.20.6 */
WG_API wg_mat wg_mat_cot(wg_tape *t, wg_mat a);

/* asin: DLMF 4.24.7 */
WG_API wg_mat wg_mat_asin(wg_tape *t, wg_mat a);

/* acos: DLMF 4.24.8 */
WG_API wg_mat wg_mat_acos(wg_tape *t, wg_mat a);

/* atan: DLMF 4.24.9 */
WG_API wg_mat wg_mat_atan(wg_tape *t, wg_mat a);

/* asec: DLMF 4.24.11 */
WG_API wg_mat wg_mat_asec(wg_tape *t, wg_mat a);

/* acsc: DLMF 4.24.10 */
WG_API wg_mat wg_mat_acsc(wg_tape *t, wg_mat a);

/* acot: arctan(1/a), DLMF 4.23.9, 4.24.12 */
WG_API wg_mat wg_mat_acot(wg_tape *t, wg_mat a);

/* atan2: DLMF 4.24.9 with 4.23.37 */
WG_API wg_mat wg_mat_atan2(wg_tape *t, wg_mat a, wg_mat b);

/* sinpi: sin(pi a) */
WG_API wg_mat wg_mat_sinpi(wg_tape *t, wg_mat a);

/* cospi: cos(pi a) */
WG_API wg_mat wg_mat_cospi(wg_tape *t, wg_mat a);

/* sinh: DLMF 4.34.1 */
WG_API wg_mat wg_mat_sinh(wg_tape *t, wg_mat a);

/* cosh: DLMF 4.34.2 */
WG_API wg_mat wg_mat_cosh(wg_tape *t, wg_mat a);

/* tanh: DLMF 4.34.3 */
WG_API wg_mat wg_mat_tanh(wg_tape *t, wg_mat a);

/* sech: DLMF 4.34.5 */
WG_API wg_mat wg_mat_sech(wg_tape *t, wg_mat a);

/* csch: DLMF 4.34.4 */
WG_API wg_mat wg_mat_csch(wg_tape *t, wg_mat a);

/* coth: DLMF 4.34.6 */
WG_API wg_mat wg_mat_coth(wg_tape *t, wg_mat a);

/* asinh: DLMF 4.38.9 */
WG_API wg_mat wg_mat_asinh(wg_tape *t, wg_mat a);

/* acosh: DLMF 4.38.10 */
WG_API wg_mat wg_mat_acosh(wg_tape *t, wg_mat a);

/* atanh: DLMF 4.38.11 */
WG_API wg_mat wg_mat_atanh(wg_tape *t, wg_mat a);

/* asech: DLMF 4.38.13 */
WG_API wg_mat wg_mat_asech(wg_tape *t, wg_mat a);

/* acsch: DLMF 4.38.12 */
WG_API wg_mat wg_mat_acsch(wg_tape *t, wg_mat a);

/* acoth: DLMF 4.38.14 */
WG_API wg_mat wg_mat_acoth(wg_tape *t, wg_mat a);

/* erf: DLMF 7.10.1 */
WG_API wg_mat wg_mat_erf(wg_tape *t, wg_mat a);

/* erfc: DLMF 7.10.1 */
WG_API wg_mat wg_mat_erfc(wg_tape *t, wg_mat a);

/* erfcx: exp(a^2) erfc a; DLMF 7.9.3 */
WG_API wg_mat wg_mat_erfcx(wg_tape *t, wg_mat a);

/* Phi: normal distribution; DLMF 7.10.1 */
WG_API wg_mat wg_mat_Phi(wg_tape *t, wg_mat a);

/* log_Phi: Mills ratio; DLMF 7.8.1, 7.9.3 */
WG_API wg_mat wg_mat_log_Phi(wg_tape *t, wg_mat a);

/* inv_Phi: normal quantile; inverse function rule */
WG_API wg_mat wg_mat_inv_Phi(wg_tape *t, wg_mat a);

/* lgamma: log |Gamma|; DLMF 5.2.2 */
WG_API wg_mat wg_mat_lgamma(wg_tape *t, wg_mat a);

/* tgamma: DLMF 5.2.2 */
WG_API wg_mat wg_mat_tgamma(wg_tape *t, wg_mat a);

/* digamma: DLMF 5.15.1 */
WG_API wg_mat wg_mat_digamma(wg_tape *t, wg_mat a);

/* j0: DLMF 10.6.3 */
WG_API wg_mat wg_mat_j0(wg_tape *t, wg_mat a);

/* j1: DLMF 10.6.2 */
WG_API wg_mat wg_mat_j1(wg_tape *t, wg_mat a);

/* y0: DLMF 10.6.3 */
WG_API wg_mat wg_mat_y0(wg_tape *t, wg_mat a);

/* y1: DLMF 10.6.2 */
WG_API wg_mat wg_mat_y1(wg_tape *t, wg_mat a);

/* lambertw0: DLMF 4.13.1, 4.13.4 */
WG_API wg_mat wg_mat_lambertw0(wg_tape *t, wg_mat a);

/* lambertwm1: DLMF 4.13.1, 4.13.4 */
WG_API wg_mat wg_mat_lambertwm1(wg_tape *t, wg_mat a);

/* floor: step */
WG_API wg_mat wg_mat_floor(wg_tape *t, wg_mat a);

/* ceil: step */
WG_API wg_mat wg_mat_ceil(wg_tape *t, wg_mat a);

/* trunc: step */
WG_API wg_mat wg_mat_trunc(wg_tape *t, wg_mat a);

/* round: step; halves away from zero */
WG_API wg_mat wg_mat_round(wg_tape *t, wg_mat a);

/* rint: step; halves to even in the default mode */
WG_API wg_mat wg_mat_rint(wg_tape *t, wg_mat a);

/* sign: step */
WG_API wg_mat wg_mat_sign(wg_tape *t, wg_mat a);

/* fabs: sign, 0 at 0 */
WG_API wg_mat wg_mat_fabs(wg_tape *t, wg_mat a);

/* relu: 0 at 0 */
WG_API wg_mat wg_mat_relu(wg_tape *t, wg_mat a);

/* copysign: |a| times the sign of b */
WG_API wg_mat wg_mat_copysign(wg_tape *t, wg_mat a, wg_mat b);

/* fmax: a tie splits evenly */
WG_API wg_mat wg_mat_fmax(wg_tape *t, wg_mat a, wg_mat b);

/* fmin: a tie splits evenly */
WG_API wg_mat wg_mat_fmin(wg_tape *t, wg_mat a, wg_mat b);

/* fdim: relu(a - b) */
WG_API wg_mat wg_mat_fdim(wg_tape *t, wg_mat a, wg_mat b);

/* clamp: a in the closed interval [b, c] */
WG_API wg_mat wg_mat_clamp(wg_tape *t, wg_mat a, wg_mat b, wg_mat c);

/* select_lt: C11 6.5.15 */
WG_API wg_mat wg_mat_select_lt(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* select_le: C11 6.5.15 */
WG_API wg_mat wg_mat_select_le(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* select_gt: C11 6.5.15 */
WG_API wg_mat wg_mat_select_gt(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* select_ge: C11 6.5.15 */
WG_API wg_mat wg_mat_select_ge(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* select_eq: C11 6.5.15 */
WG_API wg_mat wg_mat_select_eq(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* select_ne: C11 6.5.15 */
WG_API wg_mat wg_mat_select_ne(wg_tape *t, wg_mat a, wg_mat b, wg_mat c, wg_mat d);

/* stop_gradient: the identity, taken for a constant */
WG_API wg_mat wg_mat_stop_gradient(wg_tape *t, wg_mat a);

WG_END_DECLS

#endif
