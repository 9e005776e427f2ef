/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * The names of a kernel where its variables are doubles. Included by generic.h, as often
 * as it is asked to; generic_tape.h gives the names their meaning back. */
#pragma GCC system_header

#pragma push_macro("wg_real")
#undef wg_real
#define wg_real double
#pragma push_macro("wg_let")
#undef wg_let
#define wg_let(t, e) ((void)(t), (double)(e))
#pragma push_macro("wg_constant")
#undef wg_constant
#define wg_constant(c) ((double)(c))
#pragma push_macro("wg_value")
#undef wg_value
#define wg_value(x) ((double)(x))
#pragma push_macro("wg_input")
#undef wg_input
#define wg_input(t, c) ((void)(t), (double)(c))
#pragma push_macro("wg_inputs")
#undef wg_inputs
#define wg_inputs(t, n, a, x) ((void)(t), wgi_double_inputs(n, a, x))
#pragma push_macro("wg_let_given")
#undef wg_let_given
#define wg_let_given(t, v, n, x, p) ((void)(t), wgi_double_given(v, n, x, p))
#pragma push_macro("wg_terms")
#undef wg_terms
#define wg_terms wgi_double_terms
#pragma push_macro("wg_terms_open")
#undef wg_terms_open
#define wg_terms_open(t) ((void)(t), wgi_double_terms_open())
#pragma push_macro("wg_terms_add")
#undef wg_terms_add
#define wg_terms_add(s, x, p) wgi_double_terms_add(s, x, p)
#pragma push_macro("wg_terms_close")
#undef wg_terms_close
#define wg_terms_close(s, v) wgi_double_terms_close(s, v)
#pragma push_macro("wg_label")
#undef wg_label
#define wg_label(t, x, text) ((void)(t), (void)(x), (void)(text), WG_OK)
#pragma push_macro("wg_lt")
#undef wg_lt
#define wg_lt(t, x, y) ((void)(t), (double)(x) < (double)(y))
#pragma push_macro("wg_le")
#undef wg_le
#define wg_le(t, x, y) ((void)(t), (double)(x) <= (double)(y))
#pragma push_macro("wg_gt")
#undef wg_gt
#define wg_gt(t, x, y) ((void)(t), (double)(x) > (double)(y))
#pragma push_macro("wg_ge")
#undef wg_ge
#define wg_ge(t, x, y) ((void)(t), (double)(x) >= (double)(y))
#pragma push_macro("wg_eq")
#undef wg_eq
#define wg_eq(t, x, y) ((void)(t), (double)(x) == (double)(y))
#pragma push_macro("wg_ne")
#undef wg_ne
#define wg_ne(t, x, y) ((void)(t), (double)(x) != (double)(y))
#pragma push_macro("wg_sum")
#undef wg_sum
#define wg_sum(t, n, x) ((void)(t), wgi_double_sum(n, x))
#pragma push_macro("wg_product")
#undef wg_product
#define wg_product(t, n, x) ((void)(t), wgi_double_product(n, x))
#pragma push_macro("wg_dot")
#undef wg_dot
#define wg_dot(t, n, x, y) ((void)(t), wgi_double_dot(n, x, y))
#pragma push_macro("wg_linear")
#undef wg_linear
#define wg_linear(t, n, c, x) ((void)(t), wgi_double_linear(n, c, x))
#pragma push_macro("wg_polynomial")
#undef wg_polynomial
#define wg_polynomial(t, n, c, z) ((void)(t), wgi_double_polynomial(n, c, z))
#pragma push_macro("wg_norm2")
#undef wg_norm2
#define wg_norm2(t, n, x) ((void)(t), wgi_double_norm2(n, x))
#pragma push_macro("wg_squared_norm")
#undef wg_squared_norm
#define wg_squared_norm(t, n, x) ((void)(t), wgi_double_squared_norm(n, x))
#pragma push_macro("wg_logsumexp")
#undef wg_logsumexp
#define wg_logsumexp(t, n, x) ((void)(t), wgi_double_logsumexp(n, x))
#pragma push_macro("wg_maximum")
#undef wg_maximum
#define wg_maximum(t, n, x) ((void)(t), wgi_double_maximum(n, x))
#pragma push_macro("wg_minimum")
#undef wg_minimum
#define wg_minimum(t, n, x) ((void)(t), wgi_double_minimum(n, x))
#pragma push_macro("wg_mean")
#undef wg_mean
#define wg_mean(t, n, x) ((void)(t), wgi_double_mean(n, x))
#pragma push_macro("wg_lookup")
#undef wg_lookup
#define wg_lookup(t, index, n, x) ((void)(t), wgi_double_lookup(index, n, x))
#pragma push_macro("WG_CALL1")
#undef WG_CALL1
#define WG_CALL1(name, x) wgi_op_user_##name##_v((double)(x))
#pragma push_macro("WG_CALL2")
#undef WG_CALL2
#define WG_CALL2(name, x, y) wgi_op_user_##name##_v((double)(x), (double)(y))
#pragma push_macro("WG_CALL3")
#undef WG_CALL3
#define WG_CALL3(name, x, y, z) wgi_op_user_##name##_v((double)(x), (double)(y), (double)(z))
#pragma push_macro("WG_CALL4")
#undef WG_CALL4
#define WG_CALL4(name, x, y, z, w) wgi_op_user_##name##_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_neg")
#undef wg_neg
#define wg_neg(x) wgi_op_neg_v((double)(x))
#pragma push_macro("wg_let_neg")
#undef wg_let_neg
#define wg_let_neg(t, x) ((void)(t), wg_neg(x))
#pragma push_macro("wg_add")
#undef wg_add
#define wg_add(x, y) wgi_op_add_v((double)(x), (double)(y))
#pragma push_macro("wg_let_add")
#undef wg_let_add
#define wg_let_add(t, x, y) ((void)(t), wg_add(x, y))
#pragma push_macro("wg_sub")
#undef wg_sub
#define wg_sub(x, y) wgi_op_sub_v((double)(x), (double)(y))
#pragma push_macro("wg_let_sub")
#undef wg_let_sub
#define wg_let_sub(t, x, y) ((void)(t), wg_sub(x, y))
#pragma push_macro("wg_mul")
#undef wg_mul
#define wg_mul(x, y) wgi_op_mul_v((double)(x), (double)(y))
#pragma push_macro("wg_let_mul")
#undef wg_let_mul
#define wg_let_mul(t, x, y) ((void)(t), wg_mul(x, y))
#pragma push_macro("wg_div")
#undef wg_div
#define wg_div(x, y) wgi_op_div_v((double)(x), (double)(y))
#pragma push_macro("wg_let_div")
#undef wg_let_div
#define wg_let_div(t, x, y) ((void)(t), wg_div(x, y))
#pragma push_macro("wg_fma")
#undef wg_fma
#define wg_fma(x, y, z) wgi_op_fma_v((double)(x), (double)(y), (double)(z))
#pragma push_macro("wg_let_fma")
#undef wg_let_fma
#define wg_let_fma(t, x, y, z) ((void)(t), wg_fma(x, y, z))
#pragma push_macro("wg_reciprocal")
#undef wg_reciprocal
#define wg_reciprocal(x) wgi_op_reciprocal_v((double)(x))
#pragma push_macro("wg_let_reciprocal")
#undef wg_let_reciprocal
#define wg_let_reciprocal(t, x) ((void)(t), wg_reciprocal(x))
#pragma push_macro("wg_square")
#undef wg_square
#define wg_square(x) wgi_op_square_v((double)(x))
#pragma push_macro("wg_let_square")
#undef wg_let_square
#define wg_let_square(t, x) ((void)(t), wg_square(x))
#pragma push_macro("wg_cube")
#undef wg_cube
#define wg_cube(x) wgi_op_cube_v((double)(x))
#pragma push_macro("wg_let_cube")
#undef wg_let_cube
#define wg_let_cube(t, x) ((void)(t), wg_cube(x))
#pragma push_macro("wg_fmod")
#undef wg_fmod
#define wg_fmod(x, y) wgi_op_fmod_v((double)(x), (double)(y))
#pragma push_macro("wg_let_fmod")
#undef wg_let_fmod
#define wg_let_fmod(t, x, y) ((void)(t), wg_fmod(x, y))
#pragma push_macro("wg_remainder")
#undef wg_remainder
#define wg_remainder(x, y) wgi_op_remainder_v((double)(x), (double)(y))
#pragma push_macro("wg_let_remainder")
#undef wg_let_remainder
#define wg_let_remainder(t, x, y) ((void)(t), wg_remainder(x, y))
#pragma push_macro("wg_sqrt")
#undef wg_sqrt
#define wg_sqrt(x) wgi_op_sqrt_v((double)(x))
#pragma push_macro("wg_let_sqrt")
#undef wg_let_sqrt
#define wg_let_sqrt(t, x) ((void)(t), wg_sqrt(x))
#pragma push_macro("wg_cbrt")
#undef wg_cbrt
#define wg_cbrt(x) wgi_op_cbrt_v((double)(x))
#pragma push_macro("wg_let_cbrt")
#undef wg_let_cbrt
#define wg_let_cbrt(t, x) ((void)(t), wg_cbrt(x))
#pragma push_macro("wg_rsqrt")
#undef wg_rsqrt
#define wg_rsqrt(x) wgi_op_rsqrt_v((double)(x))
#pragma push_macro("wg_let_rsqrt")
#undef wg_let_rsqrt
#define wg_let_rsqrt(t, x) ((void)(t), wg_rsqrt(x))
#pragma push_macro("wg_pow")
#undef wg_pow
#define wg_pow(x, y) wgi_op_pow_v((double)(x), (double)(y))
#pragma push_macro("wg_let_pow")
#undef wg_let_pow
#define wg_let_pow(t, x, y) ((void)(t), wg_pow(x, y))
#pragma push_macro("wg_hypot")
#undef wg_hypot
#define wg_hypot(x, y) wgi_op_hypot_v((double)(x), (double)(y))
#pragma push_macro("wg_let_hypot")
#undef wg_let_hypot
#define wg_let_hypot(t, x, y) ((void)(t), wg_hypot(x, y))
#pragma push_macro("wg_exp")
#undef wg_exp
#define wg_exp(x) wgi_op_exp_v((double)(x))
#pragma push_macro("wg_let_exp")
#undef wg_let_exp
#define wg_let_exp(t, x) ((void)(t), wg_exp(x))
#pragma push_macro("wg_exp2")
#undef wg_exp2
#define wg_exp2(x) wgi_op_exp2_v((double)(x))
#pragma push_macro("wg_let_exp2")
#undef wg_let_exp2
#define wg_let_exp2(t, x) ((void)(t), wg_exp2(x))
#pragma push_macro("wg_exp10")
#undef wg_exp10
#define wg_exp10(x) wgi_op_exp10_v((double)(x))
#pragma push_macro("wg_let_exp10")
#undef wg_let_exp10
#define wg_let_exp10(t, x) ((void)(t), wg_exp10(x))
#pragma push_macro("wg_expm1")
#undef wg_expm1
#define wg_expm1(x) wgi_op_expm1_v((double)(x))
#pragma push_macro("wg_let_expm1")
#undef wg_let_expm1
#define wg_let_expm1(t, x) ((void)(t), wg_expm1(x))
#pragma push_macro("wg_log")
#undef wg_log
#define wg_log(x) wgi_op_log_v((double)(x))
#pragma push_macro("wg_let_log")
#undef wg_let_log
#define wg_let_log(t, x) ((void)(t), wg_log(x))
#pragma push_macro("wg_log2")
#undef wg_log2
#define wg_log2(x) wgi_op_log2_v((double)(x))
#pragma push_macro("wg_let_log2")
#undef wg_let_log2
#define wg_let_log2(t, x) ((void)(t), wg_log2(x))
#pragma push_macro("wg_log10")
#undef wg_log10
#define wg_log10(x) wgi_op_log10_v((double)(x))
#pragma push_macro("wg_let_log10")
#undef wg_let_log10
#define wg_let_log10(t, x) ((void)(t), wg_log10(x))
#pragma push_macro("wg_log1p")
#undef wg_log1p
#define wg_log1p(x) wgi_op_log1p_v((double)(x))
#pragma push_macro("wg_let_log1p")
#undef wg_let_log1p
#define wg_let_log1p(t, x) ((void)(t), wg_log1p(x))
#pragma push_macro("wg_log1mx")
#undef wg_log1mx
#define wg_log1mx(x) wgi_op_log1mx_v((double)(x))
#pragma push_macro("wg_let_log1mx")
#undef wg_let_log1mx
#define wg_let_log1mx(t, x) ((void)(t), wg_log1mx(x))
#pragma push_macro("wg_log1mexp")
#undef wg_log1mexp
#define wg_log1mexp(x) wgi_op_log1mexp_v((double)(x))
#pragma push_macro("wg_let_log1mexp")
#undef wg_let_log1mexp
#define wg_let_log1mexp(t, x) ((void)(t), wg_log1mexp(x))
#pragma push_macro("wg_log_base")
#undef wg_log_base
#define wg_log_base(x, y) wgi_op_log_base_v((double)(x), (double)(y))
#pragma push_macro("wg_let_log_base")
#undef wg_let_log_base
#define wg_let_log_base(t, x, y) ((void)(t), wg_log_base(x, y))
#pragma push_macro("wg_xlogy")
#undef wg_xlogy
#define wg_xlogy(x, y) wgi_op_xlogy_v((double)(x), (double)(y))
#pragma push_macro("wg_let_xlogy")
#undef wg_let_xlogy
#define wg_let_xlogy(t, x, y) ((void)(t), wg_xlogy(x, y))
#pragma push_macro("wg_log_add_exp")
#undef wg_log_add_exp
#define wg_log_add_exp(x, y) wgi_op_log_add_exp_v((double)(x), (double)(y))
#pragma push_macro("wg_let_log_add_exp")
#undef wg_let_log_add_exp
#define wg_let_log_add_exp(t, x, y) ((void)(t), wg_log_add_exp(x, y))
#pragma push_macro("wg_log_diff_exp")
#undef wg_log_diff_exp
#define wg_log_diff_exp(x, y) wgi_op_log_diff_exp_v((double)(x), (double)(y))
#pragma push_macro("wg_let_log_diff_exp")
#undef wg_let_log_diff_exp
#define wg_let_log_diff_exp(t, x, y) ((void)(t), wg_log_diff_exp(x, y))
#pragma push_macro("wg_sigmoid")
#undef wg_sigmoid
#define wg_sigmoid(x) wgi_op_sigmoid_v((double)(x))
#pragma push_macro("wg_let_sigmoid")
#undef wg_let_sigmoid
#define wg_let_sigmoid(t, x) ((void)(t), wg_sigmoid(x))
#pragma push_macro("wg_log_sigmoid")
#undef wg_log_sigmoid
#define wg_log_sigmoid(x) wgi_op_log_sigmoid_v((double)(x))
#pragma push_macro("wg_let_log_sigmoid")
#undef wg_let_log_sigmoid
#define wg_let_log_sigmoid(t, x) ((void)(t), wg_log_sigmoid(x))
#pragma push_macro("wg_softplus")
#undef wg_softplus
#define wg_softplus(x) wgi_op_softplus_v((double)(x))
#pragma push_macro("wg_let_softplus")
#undef wg_let_softplus
#define wg_let_softplus(t, x) ((void)(t), wg_softplus(x))
#pragma push_macro("wg_logit")
#undef wg_logit
#define wg_logit(x) wgi_op_logit_v((double)(x))
#pragma push_macro("wg_let_logit")
#undef wg_let_logit
#define wg_let_logit(t, x) ((void)(t), wg_logit(x))
#pragma push_macro("wg_sin")
#undef wg_sin
#define wg_sin(x) wgi_op_sin_v((double)(x))
#pragma push_macro("wg_let_sin")
#undef wg_let_sin
#define wg_let_sin(t, x) ((void)(t), wg_sin(x))
#pragma push_macro("wg_cos")
#undef wg_cos
#define wg_cos(x) wgi_op_cos_v((double)(x))
#pragma push_macro("wg_let_cos")
#undef wg_let_cos
#define wg_let_cos(t, x) ((void)(t), wg_cos(x))
#pragma push_macro("wg_tan")
#undef wg_tan
#define wg_tan(x) wgi_op_tan_v((double)(x))
#pragma push_macro("wg_let_tan")
#undef wg_let_tan
#define wg_let_tan(t, x) ((void)(t), wg_tan(x))
#pragma push_macro("wg_sec")
#undef wg_sec
#define wg_sec(x) wgi_op_sec_v((double)(x))
#pragma push_macro("wg_let_sec")
#undef wg_let_sec
#define wg_let_sec(t, x) ((void)(t), wg_sec(x))
#pragma push_macro("wg_csc")
#undef wg_csc
#define wg_csc(x) wgi_op_csc_v((double)(x))
#pragma push_macro("wg_let_csc")
#undef wg_let_csc
#define wg_let_csc(t, x) ((void)(t), wg_csc(x))
#pragma push_macro("wg_cot")
#undef wg_cot
#define wg_cot(x) wgi_op_cot_v((double)(x))
#pragma push_macro("wg_let_cot")
#undef wg_let_cot
#define wg_let_cot(t, x) ((void)(t), wg_cot(x))
#pragma push_macro("wg_asin")
#undef wg_asin
#define wg_asin(x) wgi_op_asin_v((double)(x))
#pragma push_macro("wg_let_asin")
#undef wg_let_asin
#define wg_let_asin(t, x) ((void)(t), wg_asin(x))
#pragma push_macro("wg_acos")
#undef wg_acos
#define wg_acos(x) wgi_op_acos_v((double)(x))
#pragma push_macro("wg_let_acos")
#undef wg_let_acos
#define wg_let_acos(t, x) ((void)(t), wg_acos(x))
#pragma push_macro("wg_atan")
#undef wg_atan
#define wg_atan(x) wgi_op_atan_v((double)(x))
#pragma push_macro("wg_let_atan")
#undef wg_let_atan
#define wg_let_atan(t, x) ((void)(t), wg_atan(x))
#pragma push_macro("wg_asec")
#undef wg_asec
#define wg_asec(x) wgi_op_asec_v((double)(x))
#pragma push_macro("wg_let_asec")
#undef wg_let_asec
#define wg_let_asec(t, x) ((void)(t), wg_asec(x))
#pragma push_macro("wg_acsc")
#undef wg_acsc
#define wg_acsc(x) wgi_op_acsc_v((double)(x))
#pragma push_macro("wg_let_acsc")
#undef wg_let_acsc
#define wg_let_acsc(t, x) ((void)(t), wg_acsc(x))
#pragma push_macro("wg_acot")
#undef wg_acot
#define wg_acot(x) wgi_op_acot_v((double)(x))
#pragma push_macro("wg_let_acot")
#undef wg_let_acot
#define wg_let_acot(t, x) ((void)(t), wg_acot(x))
#pragma push_macro("wg_atan2")
#undef wg_atan2
#define wg_atan2(x, y) wgi_op_atan2_v((double)(x), (double)(y))
#pragma push_macro("wg_let_atan2")
#undef wg_let_atan2
#define wg_let_atan2(t, x, y) ((void)(t), wg_atan2(x, y))
#pragma push_macro("wg_sinpi")
#undef wg_sinpi
#define wg_sinpi(x) wgi_op_sinpi_v((double)(x))
#pragma push_macro("wg_let_sinpi")
#undef wg_let_sinpi
#define wg_let_sinpi(t, x) ((void)(t), wg_sinpi(x))
#pragma push_macro("wg_cospi")
#undef wg_cospi
#define wg_cospi(x) wgi_op_cospi_v((double)(x))
#pragma push_macro("wg_let_cospi")
#undef wg_let_cospi
#define wg_let_cospi(t, x) ((void)(t), wg_cospi(x))
#pragma push_macro("wg_sinh")
#undef wg_sinh
#define wg_sinh(x) wgi_op_sinh_v((double)(x))
#pragma push_macro("wg_let_sinh")
#undef wg_let_sinh
#define wg_let_sinh(t, x) ((void)(t), wg_sinh(x))
#pragma push_macro("wg_cosh")
#undef wg_cosh
#define wg_cosh(x) wgi_op_cosh_v((double)(x))
#pragma push_macro("wg_let_cosh")
#undef wg_let_cosh
#define wg_let_cosh(t, x) ((void)(t), wg_cosh(x))
#pragma push_macro("wg_tanh")
#undef wg_tanh
#define wg_tanh(x) wgi_op_tanh_v((double)(x))
#pragma push_macro("wg_let_tanh")
#undef wg_let_tanh
#define wg_let_tanh(t, x) ((void)(t), wg_tanh(x))
#pragma push_macro("wg_sech")
#undef wg_sech
#define wg_sech(x) wgi_op_sech_v((double)(x))
#pragma push_macro("wg_let_sech")
#undef wg_let_sech
#define wg_let_sech(t, x) ((void)(t), wg_sech(x))
#pragma push_macro("wg_csch")
#undef wg_csch
#define wg_csch(x) wgi_op_csch_v((double)(x))
#pragma push_macro("wg_let_csch")
#undef wg_let_csch
#define wg_let_csch(t, x) ((void)(t), wg_csch(x))
#pragma push_macro("wg_coth")
#undef wg_coth
#define wg_coth(x) wgi_op_coth_v((double)(x))
#pragma push_macro("wg_let_coth")
#undef wg_let_coth
#define wg_let_coth(t, x) ((void)(t), wg_coth(x))
#pragma push_macro("wg_asinh")
#undef wg_asinh
#define wg_asinh(x) wgi_op_asinh_v((double)(x))
#pragma push_macro("wg_let_asinh")
#undef wg_let_asinh
#define wg_let_asinh(t, x) ((void)(t), wg_asinh(x))
#pragma push_macro("wg_acosh")
#undef wg_acosh
#define wg_acosh(x) wgi_op_acosh_v((double)(x))
#pragma push_macro("wg_let_acosh")
#undef wg_let_acosh
#define wg_let_acosh(t, x) ((void)(t), wg_acosh(x))
#pragma push_macro("wg_atanh")
#undef wg_atanh
#define wg_atanh(x) wgi_op_atanh_v((double)(x))
#pragma push_macro("wg_let_atanh")
#undef wg_let_atanh
#define wg_let_atanh(t, x) ((void)(t), wg_atanh(x))
#pragma push_macro("wg_asech")
#undef wg_asech
#define wg_asech(x) wgi_op_asech_v((double)(x))
#pragma push_macro("wg_let_asech")
#undef wg_let_asech
#define wg_let_asech(t, x) ((void)(t), wg_asech(x))
#pragma push_macro("wg_acsch")
#undef wg_acsch
#define wg_acsch(x) wgi_op_acsch_v((double)(x))
#pragma push_macro("wg_let_acsch")
#undef wg_let_acsch
#define wg_let_acsch(t, x) ((void)(t), wg_acsch(x))
#pragma push_macro("wg_acoth")
#undef wg_acoth
#define wg_acoth(x) wgi_op_acoth_v((double)(x))
#pragma push_macro("wg_let_acoth")
#undef wg_let_acoth
#define wg_let_acoth(t, x) ((void)(t), wg_acoth(x))
#pragma push_macro("wg_erf")
#undef wg_erf
#define wg_erf(x) wgi_op_erf_v((double)(x))
#pragma push_macro("wg_let_erf")
#undef wg_let_erf
#define wg_let_erf(t, x) ((void)(t), wg_erf(x))
#pragma push_macro("wg_erfc")
#undef wg_erfc
#define wg_erfc(x) wgi_op_erfc_v((double)(x))
#pragma push_macro("wg_let_erfc")
#undef wg_let_erfc
#define wg_let_erfc(t, x) ((void)(t), wg_erfc(x))
#pragma push_macro("wg_erfcx")
#undef wg_erfcx
#define wg_erfcx(x) wgi_op_erfcx_v((double)(x))
#pragma push_macro("wg_let_erfcx")
#undef wg_let_erfcx
#define wg_let_erfcx(t, x) ((void)(t), wg_erfcx(x))
#pragma push_macro("wg_Phi")
#undef wg_Phi
#define wg_Phi(x) wgi_op_Phi_v((double)(x))
#pragma push_macro("wg_let_Phi")
#undef wg_let_Phi
#define wg_let_Phi(t, x) ((void)(t), wg_Phi(x))
#pragma push_macro("wg_log_Phi")
#undef wg_log_Phi
#define wg_log_Phi(x) wgi_op_log_Phi_v((double)(x))
#pragma push_macro("wg_let_log_Phi")
#undef wg_let_log_Phi
#define wg_let_log_Phi(t, x) ((void)(t), wg_log_Phi(x))
#pragma push_macro("wg_inv_Phi")
#undef wg_inv_Phi
#define wg_inv_Phi(x) wgi_op_inv_Phi_v((double)(x))
#pragma push_macro("wg_let_inv_Phi")
#undef wg_let_inv_Phi
#define wg_let_inv_Phi(t, x) ((void)(t), wg_inv_Phi(x))
#pragma push_macro("wg_lgamma")
#undef wg_lgamma
#define wg_lgamma(x) wgi_op_lgamma_v((double)(x))
#pragma push_macro("wg_let_lgamma")
#undef wg_let_lgamma
#define wg_let_lgamma(t, x) ((void)(t), wg_lgamma(x))
#pragma push_macro("wg_tgamma")
#undef wg_tgamma
#define wg_tgamma(x) wgi_op_tgamma_v((double)(x))
#pragma push_macro("wg_let_tgamma")
#undef wg_let_tgamma
#define wg_let_tgamma(t, x) ((void)(t), wg_tgamma(x))
#pragma push_macro("wg_digamma")
#undef wg_digamma
#define wg_digamma(x) wgi_op_digamma_v((double)(x))
#pragma push_macro("wg_let_digamma")
#undef wg_let_digamma
#define wg_let_digamma(t, x) ((void)(t), wg_digamma(x))
#pragma push_macro("wg_j0")
#undef wg_j0
#define wg_j0(x) wgi_op_j0_v((double)(x))
#pragma push_macro("wg_let_j0")
#undef wg_let_j0
#define wg_let_j0(t, x) ((void)(t), wg_j0(x))
#pragma push_macro("wg_j1")
#undef wg_j1
#define wg_j1(x) wgi_op_j1_v((double)(x))
#pragma push_macro("wg_let_j1")
#undef wg_let_j1
#define wg_let_j1(t, x) ((void)(t), wg_j1(x))
#pragma push_macro("wg_y0")
#undef wg_y0
#define wg_y0(x) wgi_op_y0_v((double)(x))
#pragma push_macro("wg_let_y0")
#undef wg_let_y0
#define wg_let_y0(t, x) ((void)(t), wg_y0(x))
#pragma push_macro("wg_y1")
#undef wg_y1
#define wg_y1(x) wgi_op_y1_v((double)(x))
#pragma push_macro("wg_let_y1")
#undef wg_let_y1
#define wg_let_y1(t, x) ((void)(t), wg_y1(x))
#pragma push_macro("wg_lambertw0")
#undef wg_lambertw0
#define wg_lambertw0(x) wgi_op_lambertw0_v((double)(x))
#pragma push_macro("wg_let_lambertw0")
#undef wg_let_lambertw0
#define wg_let_lambertw0(t, x) ((void)(t), wg_lambertw0(x))
#pragma push_macro("wg_lambertwm1")
#undef wg_lambertwm1
#define wg_lambertwm1(x) wgi_op_lambertwm1_v((double)(x))
#pragma push_macro("wg_let_lambertwm1")
#undef wg_let_lambertwm1
#define wg_let_lambertwm1(t, x) ((void)(t), wg_lambertwm1(x))
#pragma push_macro("wg_floor")
#undef wg_floor
#define wg_floor(x) wgi_op_floor_v((double)(x))
#pragma push_macro("wg_let_floor")
#undef wg_let_floor
#define wg_let_floor(t, x) ((void)(t), wg_floor(x))
#pragma push_macro("wg_ceil")
#undef wg_ceil
#define wg_ceil(x) wgi_op_ceil_v((double)(x))
#pragma push_macro("wg_let_ceil")
#undef wg_let_ceil
#define wg_let_ceil(t, x) ((void)(t), wg_ceil(x))
#pragma push_macro("wg_trunc")
#undef wg_trunc
#define wg_trunc(x) wgi_op_trunc_v((double)(x))
#pragma push_macro("wg_let_trunc")
#undef wg_let_trunc
#define wg_let_trunc(t, x) ((void)(t), wg_trunc(x))
#pragma push_macro("wg_round")
#undef wg_round
#define wg_round(x) wgi_op_round_v((double)(x))
#pragma push_macro("wg_let_round")
#undef wg_let_round
#define wg_let_round(t, x) ((void)(t), wg_round(x))
#pragma push_macro("wg_rint")
#undef wg_rint
#define wg_rint(x) wgi_op_rint_v((double)(x))
#pragma push_macro("wg_let_rint")
#undef wg_let_rint
#define wg_let_rint(t, x) ((void)(t), wg_rint(x))
#pragma push_macro("wg_sign")
#undef wg_sign
#define wg_sign(x) wgi_op_sign_v((double)(x))
#pragma push_macro("wg_let_sign")
#undef wg_let_sign
#define wg_let_sign(t, x) ((void)(t), wg_sign(x))
#pragma push_macro("wg_fabs")
#undef wg_fabs
#define wg_fabs(x) wgi_op_fabs_v((double)(x))
#pragma push_macro("wg_let_fabs")
#undef wg_let_fabs
#define wg_let_fabs(t, x) ((void)(t), wg_fabs(x))
#pragma push_macro("wg_relu")
#undef wg_relu
#define wg_relu(x) wgi_op_relu_v((double)(x))
#pragma push_macro("wg_let_relu")
#undef wg_let_relu
#define wg_let_relu(t, x) ((void)(t), wg_relu(x))
#pragma push_macro("wg_copysign")
#undef wg_copysign
#define wg_copysign(x, y) wgi_op_copysign_v((double)(x), (double)(y))
#pragma push_macro("wg_let_copysign")
#undef wg_let_copysign
#define wg_let_copysign(t, x, y) ((void)(t), wg_copysign(x, y))
#pragma push_macro("wg_fmax")
#undef wg_fmax
#define wg_fmax(x, y) wgi_op_fmax_v((double)(x), (double)(y))
#pragma push_macro("wg_let_fmax")
#undef wg_let_fmax
#define wg_let_fmax(t, x, y) ((void)(t), wg_fmax(x, y))
#pragma push_macro("wg_fmin")
#undef wg_fmin
#define wg_fmin(x, y) wgi_op_fmin_v((double)(x), (double)(y))
#pragma push_macro("wg_let_fmin")
#undef wg_let_fmin
#define wg_let_fmin(t, x, y) ((void)(t), wg_fmin(x, y))
#pragma push_macro("wg_fdim")
#undef wg_fdim
#define wg_fdim(x, y) wgi_op_fdim_v((double)(x), (double)(y))
#pragma push_macro("wg_let_fdim")
#undef wg_let_fdim
#define wg_let_fdim(t, x, y) ((void)(t), wg_fdim(x, y))
#pragma push_macro("wg_clamp")
#undef wg_clamp
#define wg_clamp(x, y, z) wgi_op_clamp_v((double)(x), (double)(y), (double)(z))
#pragma push_macro("wg_let_clamp")
#undef wg_let_clamp
#define wg_let_clamp(t, x, y, z) ((void)(t), wg_clamp(x, y, z))
#pragma push_macro("wg_select_lt")
#undef wg_select_lt
#define wg_select_lt(x, y, z, w) wgi_op_select_lt_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_lt")
#undef wg_let_select_lt
#define wg_let_select_lt(t, x, y, z, w) ((void)(t), wg_select_lt(x, y, z, w))
#pragma push_macro("wg_select_le")
#undef wg_select_le
#define wg_select_le(x, y, z, w) wgi_op_select_le_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_le")
#undef wg_let_select_le
#define wg_let_select_le(t, x, y, z, w) ((void)(t), wg_select_le(x, y, z, w))
#pragma push_macro("wg_select_gt")
#undef wg_select_gt
#define wg_select_gt(x, y, z, w) wgi_op_select_gt_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_gt")
#undef wg_let_select_gt
#define wg_let_select_gt(t, x, y, z, w) ((void)(t), wg_select_gt(x, y, z, w))
#pragma push_macro("wg_select_ge")
#undef wg_select_ge
#define wg_select_ge(x, y, z, w) wgi_op_select_ge_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_ge")
#undef wg_let_select_ge
#define wg_let_select_ge(t, x, y, z, w) ((void)(t), wg_select_ge(x, y, z, w))
#pragma push_macro("wg_select_eq")
#undef wg_select_eq
#define wg_select_eq(x, y, z, w) wgi_op_select_eq_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_eq")
#undef wg_let_select_eq
#define wg_let_select_eq(t, x, y, z, w) ((void)(t), wg_select_eq(x, y, z, w))
#pragma push_macro("wg_select_ne")
#undef wg_select_ne
#define wg_select_ne(x, y, z, w) wgi_op_select_ne_v((double)(x), (double)(y), (double)(z), (double)(w))
#pragma push_macro("wg_let_select_ne")
#undef wg_let_select_ne
#define wg_let_select_ne(t, x, y, z, w) ((void)(t), wg_select_ne(x, y, z, w))
#pragma push_macro("wg_stop_gradient")
#undef wg_stop_gradient
#define wg_stop_gradient(x) wgi_op_stop_gradient_v((double)(x))
#pragma push_macro("wg_let_stop_gradient")
#undef wg_let_stop_gradient
#define wg_let_stop_gradient(t, x) ((void)(t), wg_stop_gradient(x))
