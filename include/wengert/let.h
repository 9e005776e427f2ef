/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * wg_let_NAME(t, a, ..) - wg_let(t, wg_NAME(a, ..)) by a call: of each operation, with as
 * many operands as that has. It compiles in a seventh of the time and costs a call, where
 * wg_let has its arithmetic in line; a statement of several operations becomes as many
 * statements. `wengert-convert` writes these for code that runs seldom.
 * Operands: variables; a number as wg_constant(number), a number of the statement.
 * Places:  that a tape keeps or tells are rows of ops/scalar/scalar.def, not lines of calls.
 * Cost:    one record of 32 bytes per two operands, one slot of 8 bytes in the sweep.
 * Errors:  (the result is a passive NaN, the tape keeps the status) those of wg_let. */
#ifndef WENGERT_LET_H
#define WENGERT_LET_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

WG_API wg_real wg_let_neg(wg_tape *t, wg_real a);
WG_API wg_real wg_let_add(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_sub(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_mul(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_div(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_fma(wg_tape *t, wg_real a, wg_real b, wg_real c);
WG_API wg_real wg_let_reciprocal(wg_tape *t, wg_real a);
WG_API wg_real wg_let_square(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cube(wg_tape *t, wg_real a);
WG_API wg_real wg_let_fmod(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_remainder(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_sqrt(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cbrt(wg_tape *t, wg_real a);
WG_API wg_real wg_let_rsqrt(wg_tape *t, wg_real a);
WG_API wg_real wg_let_pow(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_hypot(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_exp(wg_tape *t, wg_real a);
WG_API wg_real wg_let_exp2(wg_tape *t, wg_real a);
WG_API wg_real wg_let_exp10(wg_tape *t, wg_real a);
WG_API wg_real wg_let_expm1(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log2(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log10(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log1p(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log1mx(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log1mexp(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log_base(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_xlogy(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_log_add_exp(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_log_diff_exp(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_sigmoid(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log_sigmoid(wg_tape *t, wg_real a);
WG_API wg_real wg_let_softplus(wg_tape *t, wg_real a);
WG_API wg_real wg_let_logit(wg_tape *t, wg_real a);
WG_API wg_real wg_let_sin(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cos(wg_tape *t, wg_real a);
WG_API wg_real wg_let_tan(wg_tape *t, wg_real a);
WG_API wg_real wg_let_sec(wg_tape *t, wg_real a);
WG_API wg_real wg_let_csc(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cot(wg_tape *t, wg_real a);
WG_API wg_real wg_let_asin(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acos(wg_tape *t, wg_real a);
WG_API wg_real wg_let_atan(wg_tape *t, wg_real a);
WG_API wg_real wg_let_asec(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acsc(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acot(wg_tape *t, wg_real a);
WG_API wg_real wg_let_atan2(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_sinpi(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cospi(wg_tape *t, wg_real a);
WG_API wg_real wg_let_sinh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_cosh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_tanh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_sech(wg_tape *t, wg_real a);
WG_API wg_real wg_let_csch(wg_tape *t, wg_real a);
WG_API wg_real wg_let_coth(wg_tape *t, wg_real a);
WG_API wg_real wg_let_asinh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acosh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_atanh(wg_tape *t, wg_real a);
WG_API wg_real wg_let_asech(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acsch(wg_tape *t, wg_real a);
WG_API wg_real wg_let_acoth(wg_tape *t, wg_real a);
WG_API wg_real wg_let_erf(wg_tape *t, wg_real a);
WG_API wg_real wg_let_erfc(wg_tape *t, wg_real a);
WG_API wg_real wg_let_erfcx(wg_tape *t, wg_real a);
WG_API wg_real wg_let_Phi(wg_tape *t, wg_real a);
WG_API wg_real wg_let_log_Phi(wg_tape *t, wg_real a);
WG_API wg_real wg_let_inv_Phi(wg_tape *t, wg_real a);
WG_API wg_real wg_let_lgamma(wg_tape *t, wg_real a);
WG_API wg_real wg_let_tgamma(wg_tape *t, wg_real a);
WG_API wg_real wg_let_digamma(wg_tape *t, wg_real a);
WG_API wg_real wg_let_j0(wg_tape *t, wg_real a);
WG_API wg_real wg_let_j1(wg_tape *t, wg_real a);
WG_API wg_real wg_let_y0(wg_tape *t, wg_real a);
WG_API wg_real wg_let_y1(wg_tape *t, wg_real a);
WG_API wg_real wg_let_lambertw0(wg_tape *t, wg_real a);
WG_API wg_real wg_let_lambertwm1(wg_tape *t, wg_real a);
WG_API wg_real wg_let_floor(wg_tape *t, wg_real a);
WG_API wg_real wg_let_ceil(wg_tape *t, wg_real a);
WG_API wg_real wg_let_trunc(wg_tape *t, wg_real a);
WG_API wg_real wg_let_round(wg_tape *t, wg_real a);
WG_API wg_real wg_let_rint(wg_tape *t, wg_real a);
WG_API wg_real wg_let_sign(wg_tape *t, wg_real a);
WG_API wg_real wg_let_fabs(wg_tape *t, wg_real a);
WG_API wg_real wg_let_relu(wg_tape *t, wg_real a);
WG_API wg_real wg_let_copysign(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_fmax(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_fmin(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_fdim(wg_tape *t, wg_real a, wg_real b);
WG_API wg_real wg_let_clamp(wg_tape *t, wg_real a, wg_real b, wg_real c);
WG_API wg_real wg_let_select_lt(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_select_le(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_select_gt(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_select_ge(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_select_eq(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_select_ne(wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WG_API wg_real wg_let_stop_gradient(wg_tape *t, wg_real a);

WG_END_DECLS

#endif
