/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * wg_let_NAME(t, x, ..) - wg_let(t, wg_NAME(x, ..)), recorded by a call: for each operation, with as many
 * operands as that has. It compiles in a seventh of the time, and costs a call where wg_let has its arithmetic in
 * line; a statement of several operations becomes as many records and variables. What `wengert-convert` writes
 * for code that is not in a loop uses them.
 * Operands: variables; a number as wg_constant(number). Those that are constants become numbers of the
 *          statement where one of two operands is.
 * Cost:    one record of 32 bytes per two operands, one slot of 8 bytes in the sweep.
 * Errors:  (the result is a passive NaN, the tape keeps the status) those of wg_let. */
#ifndef WENGERT_LET_H
#define WENGERT_LET_H

#include <wengert/tape.h>

WG_BEGIN_DECLS

WGI_API wg_real wgi_let_neg(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_add(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_sub(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_mul(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_div(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_fma(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c);
WGI_API wg_real wgi_let_reciprocal(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_square(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cube(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_fmod(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_remainder(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_sqrt(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cbrt(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_rsqrt(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_pow(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_hypot(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_exp(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_exp2(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_exp10(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_expm1(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log2(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log10(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log1p(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log1mx(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log1mexp(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log_base(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_xlogy(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_log_add_exp(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_log_diff_exp(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_sigmoid(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log_sigmoid(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_softplus(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_logit(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_sin(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cos(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_tan(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_sec(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_csc(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cot(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_asin(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acos(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_atan(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_asec(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acsc(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acot(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_atan2(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_sinpi(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cospi(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_sinh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_cosh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_tanh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_sech(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_csch(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_coth(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_asinh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acosh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_atanh(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_asech(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acsch(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_acoth(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_erf(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_erfc(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_erfcx(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_Phi(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_log_Phi(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_inv_Phi(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_lgamma(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_tgamma(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_digamma(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_j0(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_j1(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_y0(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_y1(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_lambertw0(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_lambertwm1(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_floor(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_ceil(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_trunc(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_round(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_rint(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_sign(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_fabs(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_relu(const char *file, int line, wg_tape *t, wg_real a);
WGI_API wg_real wgi_let_copysign(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_fmax(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_fmin(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_fdim(const char *file, int line, wg_tape *t, wg_real a, wg_real b);
WGI_API wg_real wgi_let_clamp(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c);
WGI_API wg_real wgi_let_select_lt(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_select_le(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_select_gt(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_select_ge(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_select_eq(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_select_ne(const char *file, int line, wg_tape *t, wg_real a, wg_real b, wg_real c, wg_real d);
WGI_API wg_real wgi_let_stop_gradient(const char *file, int line, wg_tape *t, wg_real a);

WG_END_DECLS

#define wg_let_neg(t, x) wgi_let_neg(__FILE__, __LINE__, t, x)
#define wg_let_add(t, x, y) wgi_let_add(__FILE__, __LINE__, t, x, y)
#define wg_let_sub(t, x, y) wgi_let_sub(__FILE__, __LINE__, t, x, y)
#define wg_let_mul(t, x, y) wgi_let_mul(__FILE__, __LINE__, t, x, y)
#define wg_let_div(t, x, y) wgi_let_div(__FILE__, __LINE__, t, x, y)
#define wg_let_fma(t, x, y, z) wgi_let_fma(__FILE__, __LINE__, t, x, y, z)
#define wg_let_reciprocal(t, x) wgi_let_reciprocal(__FILE__, __LINE__, t, x)
#define wg_let_square(t, x) wgi_let_square(__FILE__, __LINE__, t, x)
#define wg_let_cube(t, x) wgi_let_cube(__FILE__, __LINE__, t, x)
#define wg_let_fmod(t, x, y) wgi_let_fmod(__FILE__, __LINE__, t, x, y)
#define wg_let_remainder(t, x, y) wgi_let_remainder(__FILE__, __LINE__, t, x, y)
#define wg_let_sqrt(t, x) wgi_let_sqrt(__FILE__, __LINE__, t, x)
#define wg_let_cbrt(t, x) wgi_let_cbrt(__FILE__, __LINE__, t, x)
#define wg_let_rsqrt(t, x) wgi_let_rsqrt(__FILE__, __LINE__, t, x)
#define wg_let_pow(t, x, y) wgi_let_pow(__FILE__, __LINE__, t, x, y)
#define wg_let_hypot(t, x, y) wgi_let_hypot(__FILE__, __LINE__, t, x, y)
#define wg_let_exp(t, x) wgi_let_exp(__FILE__, __LINE__, t, x)
#define wg_let_exp2(t, x) wgi_let_exp2(__FILE__, __LINE__, t, x)
#define wg_let_exp10(t, x) wgi_let_exp10(__FILE__, __LINE__, t, x)
#define wg_let_expm1(t, x) wgi_let_expm1(__FILE__, __LINE__, t, x)
#define wg_let_log(t, x) wgi_let_log(__FILE__, __LINE__, t, x)
#define wg_let_log2(t, x) wgi_let_log2(__FILE__, __LINE__, t, x)
#define wg_let_log10(t, x) wgi_let_log10(__FILE__, __LINE__, t, x)
#define wg_let_log1p(t, x) wgi_let_log1p(__FILE__, __LINE__, t, x)
#define wg_let_log1mx(t, x) wgi_let_log1mx(__FILE__, __LINE__, t, x)
#define wg_let_log1mexp(t, x) wgi_let_log1mexp(__FILE__, __LINE__, t, x)
#define wg_let_log_base(t, x, y) wgi_let_log_base(__FILE__, __LINE__, t, x, y)
#define wg_let_xlogy(t, x, y) wgi_let_xlogy(__FILE__, __LINE__, t, x, y)
#define wg_let_log_add_exp(t, x, y) wgi_let_log_add_exp(__FILE__, __LINE__, t, x, y)
#define wg_let_log_diff_exp(t, x, y) wgi_let_log_diff_exp(__FILE__, __LINE__, t, x, y)
#define wg_let_sigmoid(t, x) wgi_let_sigmoid(__FILE__, __LINE__, t, x)
#define wg_let_log_sigmoid(t, x) wgi_let_log_sigmoid(__FILE__, __LINE__, t, x)
#define wg_let_softplus(t, x) wgi_let_softplus(__FILE__, __LINE__, t, x)
#define wg_let_logit(t, x) wgi_let_logit(__FILE__, __LINE__, t, x)
#define wg_let_sin(t, x) wgi_let_sin(__FILE__, __LINE__, t, x)
#define wg_let_cos(t, x) wgi_let_cos(__FILE__, __LINE__, t, x)
#define wg_let_tan(t, x) wgi_let_tan(__FILE__, __LINE__, t, x)
#define wg_let_sec(t, x) wgi_let_sec(__FILE__, __LINE__, t, x)
#define wg_let_csc(t, x) wgi_let_csc(__FILE__, __LINE__, t, x)
#define wg_let_cot(t, x) wgi_let_cot(__FILE__, __LINE__, t, x)
#define wg_let_asin(t, x) wgi_let_asin(__FILE__, __LINE__, t, x)
#define wg_let_acos(t, x) wgi_let_acos(__FILE__, __LINE__, t, x)
#define wg_let_atan(t, x) wgi_let_atan(__FILE__, __LINE__, t, x)
#define wg_let_asec(t, x) wgi_let_asec(__FILE__, __LINE__, t, x)
#define wg_let_acsc(t, x) wgi_let_acsc(__FILE__, __LINE__, t, x)
#define wg_let_acot(t, x) wgi_let_acot(__FILE__, __LINE__, t, x)
#define wg_let_atan2(t, x, y) wgi_let_atan2(__FILE__, __LINE__, t, x, y)
#define wg_let_sinpi(t, x) wgi_let_sinpi(__FILE__, __LINE__, t, x)
#define wg_let_cospi(t, x) wgi_let_cospi(__FILE__, __LINE__, t, x)
#define wg_let_sinh(t, x) wgi_let_sinh(__FILE__, __LINE__, t, x)
#define wg_let_cosh(t, x) wgi_let_cosh(__FILE__, __LINE__, t, x)
#define wg_let_tanh(t, x) wgi_let_tanh(__FILE__, __LINE__, t, x)
#define wg_let_sech(t, x) wgi_let_sech(__FILE__, __LINE__, t, x)
#define wg_let_csch(t, x) wgi_let_csch(__FILE__, __LINE__, t, x)
#define wg_let_coth(t, x) wgi_let_coth(__FILE__, __LINE__, t, x)
#define wg_let_asinh(t, x) wgi_let_asinh(__FILE__, __LINE__, t, x)
#define wg_let_acosh(t, x) wgi_let_acosh(__FILE__, __LINE__, t, x)
#define wg_let_atanh(t, x) wgi_let_atanh(__FILE__, __LINE__, t, x)
#define wg_let_asech(t, x) wgi_let_asech(__FILE__, __LINE__, t, x)
#define wg_let_acsch(t, x) wgi_let_acsch(__FILE__, __LINE__, t, x)
#define wg_let_acoth(t, x) wgi_let_acoth(__FILE__, __LINE__, t, x)
#define wg_let_erf(t, x) wgi_let_erf(__FILE__, __LINE__, t, x)
#define wg_let_erfc(t, x) wgi_let_erfc(__FILE__, __LINE__, t, x)
#define wg_let_erfcx(t, x) wgi_let_erfcx(__FILE__, __LINE__, t, x)
#define wg_let_Phi(t, x) wgi_let_Phi(__FILE__, __LINE__, t, x)
#define wg_let_log_Phi(t, x) wgi_let_log_Phi(__FILE__, __LINE__, t, x)
#define wg_let_inv_Phi(t, x) wgi_let_inv_Phi(__FILE__, __LINE__, t, x)
#define wg_let_lgamma(t, x) wgi_let_lgamma(__FILE__, __LINE__, t, x)
#define wg_let_tgamma(t, x) wgi_let_tgamma(__FILE__, __LINE__, t, x)
#define wg_let_digamma(t, x) wgi_let_digamma(__FILE__, __LINE__, t, x)
#define wg_let_j0(t, x) wgi_let_j0(__FILE__, __LINE__, t, x)
#define wg_let_j1(t, x) wgi_let_j1(__FILE__, __LINE__, t, x)
#define wg_let_y0(t, x) wgi_let_y0(__FILE__, __LINE__, t, x)
#define wg_let_y1(t, x) wgi_let_y1(__FILE__, __LINE__, t, x)
#define wg_let_lambertw0(t, x) wgi_let_lambertw0(__FILE__, __LINE__, t, x)
#define wg_let_lambertwm1(t, x) wgi_let_lambertwm1(__FILE__, __LINE__, t, x)
#define wg_let_floor(t, x) wgi_let_floor(__FILE__, __LINE__, t, x)
#define wg_let_ceil(t, x) wgi_let_ceil(__FILE__, __LINE__, t, x)
#define wg_let_trunc(t, x) wgi_let_trunc(__FILE__, __LINE__, t, x)
#define wg_let_round(t, x) wgi_let_round(__FILE__, __LINE__, t, x)
#define wg_let_rint(t, x) wgi_let_rint(__FILE__, __LINE__, t, x)
#define wg_let_sign(t, x) wgi_let_sign(__FILE__, __LINE__, t, x)
#define wg_let_fabs(t, x) wgi_let_fabs(__FILE__, __LINE__, t, x)
#define wg_let_relu(t, x) wgi_let_relu(__FILE__, __LINE__, t, x)
#define wg_let_copysign(t, x, y) wgi_let_copysign(__FILE__, __LINE__, t, x, y)
#define wg_let_fmax(t, x, y) wgi_let_fmax(__FILE__, __LINE__, t, x, y)
#define wg_let_fmin(t, x, y) wgi_let_fmin(__FILE__, __LINE__, t, x, y)
#define wg_let_fdim(t, x, y) wgi_let_fdim(__FILE__, __LINE__, t, x, y)
#define wg_let_clamp(t, x, y, z) wgi_let_clamp(__FILE__, __LINE__, t, x, y, z)
#define wg_let_select_lt(t, x, y, z, w) wgi_let_select_lt(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_select_le(t, x, y, z, w) wgi_let_select_le(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_select_gt(t, x, y, z, w) wgi_let_select_gt(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_select_ge(t, x, y, z, w) wgi_let_select_ge(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_select_eq(t, x, y, z, w) wgi_let_select_eq(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_select_ne(t, x, y, z, w) wgi_let_select_ne(__FILE__, __LINE__, t, x, y, z, w)
#define wg_let_stop_gradient(t, x) wgi_let_stop_gradient(__FILE__, __LINE__, t, x)

#endif
