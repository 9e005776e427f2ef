/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * The names of a kernel where its variables are duals. Included by generic.h, as often
 * as it is asked to; generic_tape.h gives the names their meaning back. */
#pragma GCC system_header

#pragma push_macro("wg_real")
#undef wg_real
#define wg_real wg_dual
#pragma push_macro("wg_let")
#undef wg_let
#define wg_let(t, e) WGI_DUAL_LET(t, e)
#pragma push_macro("wg_constant")
#undef wg_constant
#define wg_constant(c) wg_dual_constant((double)(c))
#pragma push_macro("wg_value")
#undef wg_value
#define wg_value(x) wg_dual_value(x)
#pragma push_macro("wg_input")
#undef wg_input
#define wg_input(t, c) ((void)(t), wg_dual_constant((double)(c)))
#pragma push_macro("wg_inputs")
#undef wg_inputs
#define wg_inputs(t, n, a, x) ((void)(t), wgi_dual_inputs(n, a, x))
#pragma push_macro("wg_let_given")
#undef wg_let_given
#define wg_let_given(t, v, n, x, p) ((void)(t), wgi_dual_given(v, n, x, p))
#pragma push_macro("wg_terms")
#undef wg_terms
#define wg_terms wgi_dual_terms
#pragma push_macro("wg_terms_open")
#undef wg_terms_open
#define wg_terms_open(t) ((void)(t), wgi_dual_terms_open())
#pragma push_macro("wg_terms_add")
#undef wg_terms_add
#define wg_terms_add(s, x, p) wgi_dual_terms_add(s, x, p)
#pragma push_macro("wg_terms_close")
#undef wg_terms_close
#define wg_terms_close(s, v) wgi_dual_terms_close(s, v)
#pragma push_macro("wg_label")
#undef wg_label
#define wg_label(t, x, text) ((void)(t), (void)(x), (void)(text), WG_OK)
#pragma push_macro("wg_lt")
#undef wg_lt
#define wg_lt(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) < WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_le")
#undef wg_le
#define wg_le(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) <= WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_gt")
#undef wg_gt
#define wg_gt(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) > WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_ge")
#undef wg_ge
#define wg_ge(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) >= WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_eq")
#undef wg_eq
#define wg_eq(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) == WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_ne")
#undef wg_ne
#define wg_ne(t, x, y) ((void)(t), WGI_DUAL_NUMBER(x) != WGI_DUAL_NUMBER(y))
#pragma push_macro("wg_sum")
#undef wg_sum
#define wg_sum(t, n, x) ((void)(t), wgi_dual_sum(n, x))
#pragma push_macro("wg_product")
#undef wg_product
#define wg_product(t, n, x) ((void)(t), wgi_dual_product(n, x))
#pragma push_macro("wg_dot")
#undef wg_dot
#define wg_dot(t, n, x, y) ((void)(t), wgi_dual_dot(n, x, y))
#pragma push_macro("wg_linear")
#undef wg_linear
#define wg_linear(t, n, c, x) ((void)(t), wgi_dual_linear(n, c, x))
#pragma push_macro("wg_polynomial")
#undef wg_polynomial
#define wg_polynomial(t, n, c, z) ((void)(t), wgi_dual_polynomial(n, c, z))
#pragma push_macro("wg_norm2")
#undef wg_norm2
#define wg_norm2(t, n, x) ((void)(t), wgi_dual_norm2(n, x))
#pragma push_macro("wg_squared_norm")
#undef wg_squared_norm
#define wg_squared_norm(t, n, x) ((void)(t), wgi_dual_squared_norm(n, x))
#pragma push_macro("wg_logsumexp")
#undef wg_logsumexp
#define wg_logsumexp(t, n, x) ((void)(t), wgi_dual_logsumexp(n, x))
#pragma push_macro("wg_maximum")
#undef wg_maximum
#define wg_maximum(t, n, x) ((void)(t), wgi_dual_maximum(n, x))
#pragma push_macro("wg_minimum")
#undef wg_minimum
#define wg_minimum(t, n, x) ((void)(t), wgi_dual_minimum(n, x))
#pragma push_macro("wg_mean")
#undef wg_mean
#define wg_mean(t, n, x) ((void)(t), wgi_dual_mean(n, x))
#pragma push_macro("wg_lookup")
#undef wg_lookup
#define wg_lookup(t, index, n, x) ((void)(t), wgi_dual_lookup(index, n, x))
#pragma push_macro("WG_CALL1")
#undef WG_CALL1
#define WG_CALL1(name, x) WGI_DUAL_USER1(name, x)
#pragma push_macro("WG_CALL2")
#undef WG_CALL2
#define WG_CALL2(name, x, y) WGI_DUAL_USER2(name, x, y)
#pragma push_macro("WG_CALL3")
#undef WG_CALL3
#define WG_CALL3(name, x, y, z) WGI_DUAL_USER3(name, x, y, z)
#pragma push_macro("WG_CALL4")
#undef WG_CALL4
#define WG_CALL4(name, x, y, z, w) WGI_DUAL_USER4(name, x, y, z, w)
#pragma push_macro("wg_neg")
#undef wg_neg
#define wg_neg(x) WGI_DUAL_CALL1(neg, x)
#pragma push_macro("wg_let_neg")
#undef wg_let_neg
#define wg_let_neg(t, x) ((void)(t), wg_neg(x))
#pragma push_macro("wg_add")
#undef wg_add
#define wg_add(x, y) WGI_DUAL_CALL2(add, x, y)
#pragma push_macro("wg_let_add")
#undef wg_let_add
#define wg_let_add(t, x, y) ((void)(t), wg_add(x, y))
#pragma push_macro("wg_sub")
#undef wg_sub
#define wg_sub(x, y) WGI_DUAL_CALL2(sub, x, y)
#pragma push_macro("wg_let_sub")
#undef wg_let_sub
#define wg_let_sub(t, x, y) ((void)(t), wg_sub(x, y))
#pragma push_macro("wg_mul")
#undef wg_mul
#define wg_mul(x, y) WGI_DUAL_CALL2(mul, x, y)
#pragma push_macro("wg_let_mul")
#undef wg_let_mul
#define wg_let_mul(t, x, y) ((void)(t), wg_mul(x, y))
#pragma push_macro("wg_div")
#undef wg_div
#define wg_div(x, y) WGI_DUAL_CALL2(div, x, y)
#pragma push_macro("wg_let_div")
#undef wg_let_div
#define wg_let_div(t, x, y) ((void)(t), wg_div(x, y))
#pragma push_macro("wg_fma")
#undef wg_fma
#define wg_fma(x, y, z) WGI_DUAL_CALL3(fma, x, y, z)
#pragma push_macro("wg_let_fma")
#undef wg_let_fma
#define wg_let_fma(t, x, y, z) ((void)(t), wg_fma(x, y, z))
#pragma push_macro("wg_reciprocal")
#undef wg_reciprocal
#define wg_reciprocal(x) WGI_DUAL_CALL1(reciprocal, x)
#pragma push_macro("wg_let_reciprocal")
#undef wg_let_reciprocal
#define wg_let_reciprocal(t, x) ((void)(t), wg_reciprocal(x))
#pragma push_macro("wg_square")
#undef wg_square
#define wg_square(x) WGI_DUAL_CALL1(square, x)
#pragma push_macro("wg_let_square")
#undef wg_let_square
#define wg_let_square(t, x) ((void)(t), wg_square(x))
#pragma push_macro("wg_cube")
#undef wg_cube
#define wg_cube(x) WGI_DUAL_CALL1(cube, x)
#pragma push_macro("wg_let_cube")
#undef wg_let_cube
#define wg_let_cube(t, x) ((void)(t), wg_cube(x))
#pragma push_macro("wg_fmod")
#undef wg_fmod
#define wg_fmod(x, y) WGI_DUAL_CALL2(fmod, x, y)
#pragma push_macro("wg_let_fmod")
#undef wg_let_fmod
#define wg_let_fmod(t, x, y) ((void)(t), wg_fmod(x, y))
#pragma push_macro("wg_remainder")
#undef wg_remainder
#define wg_remainder(x, y) WGI_DUAL_CALL2(remainder, x, y)
#pragma push_macro("wg_let_remainder")
#undef wg_let_remainder
#define wg_let_remainder(t, x, y) ((void)(t), wg_remainder(x, y))
#pragma push_macro("wg_sqrt")
#undef wg_sqrt
#define wg_sqrt(x) WGI_DUAL_CALL1(sqrt, x)
#pragma push_macro("wg_let_sqrt")
#undef wg_let_sqrt
#define wg_let_sqrt(t, x) ((void)(t), wg_sqrt(x))
#pragma push_macro("wg_cbrt")
#undef wg_cbrt
#define wg_cbrt(x) WGI_DUAL_CALL1(cbrt, x)
#pragma push_macro("wg_let_cbrt")
#undef wg_let_cbrt
#define wg_let_cbrt(t, x) ((void)(t), wg_cbrt(x))
#pragma push_macro("wg_rsqrt")
#undef wg_rsqrt
#define wg_rsqrt(x) WGI_DUAL_CALL1(rsqrt, x)
#pragma push_macro("wg_let_rsqrt")
#undef wg_let_rsqrt
#define wg_let_rsqrt(t, x) ((void)(t), wg_rsqrt(x))
#pragma push_macro("wg_pow")
#undef wg_pow
#define wg_pow(x, y) WGI_DUAL_CALL2(pow, x, y)
#pragma push_macro("wg_let_pow")
#undef wg_let_pow
#define wg_let_pow(t, x, y) ((void)(t), wg_pow(x, y))
#pragma push_macro("wg_hypot")
#undef wg_hypot
#define wg_hypot(x, y) WGI_DUAL_CALL2(hypot, x, y)
#pragma push_macro("wg_let_hypot")
#undef wg_let_hypot
#define wg_let_hypot(t, x, y) ((void)(t), wg_hypot(x, y))
#pragma push_macro("wg_exp")
#undef wg_exp
#define wg_exp(x) WGI_DUAL_CALL1(exp, x)
#pragma push_macro("wg_let_exp")
#undef wg_let_exp
#define wg_let_exp(t, x) ((void)(t), wg_exp(x))
#pragma push_macro("wg_exp2")
#undef wg_exp2
#define wg_exp2(x) WGI_DUAL_CALL1(exp2, x)
#pragma push_macro("wg_let_exp2")
#undef wg_let_exp2
#define wg_let_exp2(t, x) ((void)(t), wg_exp2(x))
#pragma push_macro("wg_exp10")
#undef wg_exp10
#define wg_exp10(x) WGI_DUAL_CALL1(exp10, x)
#pragma push_macro("wg_let_exp10")
#undef wg_let_exp10
#define wg_let_exp10(t, x) ((void)(t), wg_exp10(x))
#pragma push_macro("wg_expm1")
#undef wg_expm1
#define wg_expm1(x) WGI_DUAL_CALL1(expm1, x)
#pragma push_macro("wg_let_expm1")
#undef wg_let_expm1
#define wg_let_expm1(t, x) ((void)(t), wg_expm1(x))
#pragma push_macro("wg_log")
#undef wg_log
#define wg_log(x) WGI_DUAL_CALL1(log, x)
#pragma push_macro("wg_let_log")
#undef wg_let_log
#define wg_let_log(t, x) ((void)(t), wg_log(x))
#pragma push_macro("wg_log2")
#undef wg_log2
#define wg_log2(x) WGI_DUAL_CALL1(log2, x)
#pragma push_macro("wg_let_log2")
#undef wg_let_log2
#define wg_let_log2(t, x) ((void)(t), wg_log2(x))
#pragma push_macro("wg_log10")
#undef wg_log10
#define wg_log10(x) WGI_DUAL_CALL1(log10, x)
#pragma push_macro("wg_let_log10")
#undef wg_let_log10
#define wg_let_log10(t, x) ((void)(t), wg_log10(x))
#pragma push_macro("wg_log1p")
#undef wg_log1p
#define wg_log1p(x) WGI_DUAL_CALL1(log1p, x)
#pragma push_macro("wg_let_log1p")
#undef wg_let_log1p
#define wg_let_log1p(t, x) ((void)(t), wg_log1p(x))
#pragma push_macro("wg_log1mx")
#undef wg_log1mx
#define wg_log1mx(x) WGI_DUAL_CALL1(log1mx, x)
#pragma push_macro("wg_let_log1mx")
#undef wg_let_log1mx
#define wg_let_log1mx(t, x) ((void)(t), wg_log1mx(x))
#pragma push_macro("wg_log1mexp")
#undef wg_log1mexp
#define wg_log1mexp(x) WGI_DUAL_CALL1(log1mexp, x)
#pragma push_macro("wg_let_log1mexp")
#undef wg_let_log1mexp
#define wg_let_log1mexp(t, x) ((void)(t), wg_log1mexp(x))
#pragma push_macro("wg_log_base")
#undef wg_log_base
#define wg_log_base(x, y) WGI_DUAL_CALL2(log_base, x, y)
#pragma push_macro("wg_let_log_base")
#undef wg_let_log_base
#define wg_let_log_base(t, x, y) ((void)(t), wg_log_base(x, y))
#pragma push_macro("wg_xlogy")
#undef wg_xlogy
#define wg_xlogy(x, y) WGI_DUAL_CALL2(xlogy, x, y)
#pragma push_macro("wg_let_xlogy")
#undef wg_let_xlogy
#define wg_let_xlogy(t, x, y) ((void)(t), wg_xlogy(x, y))
#pragma push_macro("wg_log_add_exp")
#undef wg_log_add_exp
#define wg_log_add_exp(x, y) WGI_DUAL_CALL2(log_add_exp, x, y)
#pragma push_macro("wg_let_log_add_exp")
#undef wg_let_log_add_exp
#define wg_let_log_add_exp(t, x, y) ((void)(t), wg_log_add_exp(x, y))
#pragma push_macro("wg_log_diff_exp")
#undef wg_log_diff_exp
#define wg_log_diff_exp(x, y) WGI_DUAL_CALL2(log_diff_exp, x, y)
#pragma push_macro("wg_let_log_diff_exp")
#undef wg_let_log_diff_exp
#define wg_let_log_diff_exp(t, x, y) ((void)(t), wg_log_diff_exp(x, y))
#pragma push_macro("wg_sigmoid")
#undef wg_sigmoid
#define wg_sigmoid(x) WGI_DUAL_CALL1(sigmoid, x)
#pragma push_macro("wg_let_sigmoid")
#undef wg_let_sigmoid
#define wg_let_sigmoid(t, x) ((void)(t), wg_sigmoid(x))
#pragma push_macro("wg_log_sigmoid")
#undef wg_log_sigmoid
#define wg_log_sigmoid(x) WGI_DUAL_CALL1(log_sigmoid, x)
#pragma push_macro("wg_let_log_sigmoid")
#undef wg_let_log_sigmoid
#define wg_let_log_sigmoid(t, x) ((void)(t), wg_log_sigmoid(x))
#pragma push_macro("wg_softplus")
#undef wg_softplus
#define wg_softplus(x) WGI_DUAL_CALL1(softplus, x)
#pragma push_macro("wg_let_softplus")
#undef wg_let_softplus
#define wg_let_softplus(t, x) ((void)(t), wg_softplus(x))
#pragma push_macro("wg_logit")
#undef wg_logit
#define wg_logit(x) WGI_DUAL_CALL1(logit, x)
#pragma push_macro("wg_let_logit")
#undef wg_let_logit
#define wg_let_logit(t, x) ((void)(t), wg_logit(x))
#pragma push_macro("wg_sin")
#undef wg_sin
#define wg_sin(x) WGI_DUAL_CALL1(sin, x)
#pragma push_macro("wg_let_sin")
#undef wg_let_sin
#define wg_let_sin(t, x) ((void)(t), wg_sin(x))
#pragma push_macro("wg_cos")
#undef wg_cos
#define wg_cos(x) WGI_DUAL_CALL1(cos, x)
#pragma push_macro("wg_let_cos")
#undef wg_let_cos
#define wg_let_cos(t, x) ((void)(t), wg_cos(x))
#pragma push_macro("wg_tan")
#undef wg_tan
#define wg_tan(x) WGI_DUAL_CALL1(tan, x)
#pragma push_macro("wg_let_tan")
#undef wg_let_tan
#define wg_let_tan(t, x) ((void)(t), wg_tan(x))
#pragma push_macro("wg_sec")
#undef wg_sec
#define wg_sec(x) WGI_DUAL_CALL1(sec, x)
#pragma push_macro("wg_let_sec")
#undef wg_let_sec
#define wg_let_sec(t, x) ((void)(t), wg_sec(x))
#pragma push_macro("wg_csc")
#undef wg_csc
#define wg_csc(x) WGI_DUAL_CALL1(csc, x)
#pragma push_macro("wg_let_csc")
#undef wg_let_csc
#define wg_let_csc(t, x) ((void)(t), wg_csc(x))
#pragma push_macro("wg_cot")
#undef wg_cot
#define wg_cot(x) WGI_DUAL_CALL1(cot, x)
#pragma push_macro("wg_let_cot")
#undef wg_let_cot
#define wg_let_cot(t, x) ((void)(t), wg_cot(x))
#pragma push_macro("wg_asin")
#undef wg_asin
#define wg_asin(x) WGI_DUAL_CALL1(asin, x)
#pragma push_macro("wg_let_asin")
#undef wg_let_asin
#define wg_let_asin(t, x) ((void)(t), wg_asin(x))
#pragma push_macro("wg_acos")
#undef wg_acos
#define wg_acos(x) WGI_DUAL_CALL1(acos, x)
#pragma push_macro("wg_let_acos")
#undef wg_let_acos
#define wg_let_acos(t, x) ((void)(t), wg_acos(x))
#pragma push_macro("wg_atan")
#undef wg_atan
#define wg_atan(x) WGI_DUAL_CALL1(atan, x)
#pragma push_macro("wg_let_atan")
#undef wg_let_atan
#define wg_let_atan(t, x) ((void)(t), wg_atan(x))
#pragma push_macro("wg_asec")
#undef wg_asec
#define wg_asec(x) WGI_DUAL_CALL1(asec, x)
#pragma push_macro("wg_let_asec")
#undef wg_let_asec
#define wg_let_asec(t, x) ((void)(t), wg_asec(x))
#pragma push_macro("wg_acsc")
#undef wg_acsc
#define wg_acsc(x) WGI_DUAL_CALL1(acsc, x)
#pragma push_macro("wg_let_acsc")
#undef wg_let_acsc
#define wg_let_acsc(t, x) ((void)(t), wg_acsc(x))
#pragma push_macro("wg_acot")
#undef wg_acot
#define wg_acot(x) WGI_DUAL_CALL1(acot, x)
#pragma push_macro("wg_let_acot")
#undef wg_let_acot
#define wg_let_acot(t, x) ((void)(t), wg_acot(x))
#pragma push_macro("wg_atan2")
#undef wg_atan2
#define wg_atan2(x, y) WGI_DUAL_CALL2(atan2, x, y)
#pragma push_macro("wg_let_atan2")
#undef wg_let_atan2
#define wg_let_atan2(t, x, y) ((void)(t), wg_atan2(x, y))
#pragma push_macro("wg_sinpi")
#undef wg_sinpi
#define wg_sinpi(x) WGI_DUAL_CALL1(sinpi, x)
#pragma push_macro("wg_let_sinpi")
#undef wg_let_sinpi
#define wg_let_sinpi(t, x) ((void)(t), wg_sinpi(x))
#pragma push_macro("wg_cospi")
#undef wg_cospi
#define wg_cospi(x) WGI_DUAL_CALL1(cospi, x)
#pragma push_macro("wg_let_cospi")
#undef wg_let_cospi
#define wg_let_cospi(t, x) ((void)(t), wg_cospi(x))
#pragma push_macro("wg_sinh")
#undef wg_sinh
#define wg_sinh(x) WGI_DUAL_CALL1(sinh, x)
#pragma push_macro("wg_let_sinh")
#undef wg_let_sinh
#define wg_let_sinh(t, x) ((void)(t), wg_sinh(x))
#pragma push_macro("wg_cosh")
#undef wg_cosh
#define wg_cosh(x) WGI_DUAL_CALL1(cosh, x)
#pragma push_macro("wg_let_cosh")
#undef wg_let_cosh
#define wg_let_cosh(t, x) ((void)(t), wg_cosh(x))
#pragma push_macro("wg_tanh")
#undef wg_tanh
#define wg_tanh(x) WGI_DUAL_CALL1(tanh, x)
#pragma push_macro("wg_let_tanh")
#undef wg_let_tanh
#define wg_let_tanh(t, x) ((void)(t), wg_tanh(x))
#pragma push_macro("wg_sech")
#undef wg_sech
#define wg_sech(x) WGI_DUAL_CALL1(sech, x)
#pragma push_macro("wg_let_sech")
#undef wg_let_sech
#define wg_let_sech(t, x) ((void)(t), wg_sech(x))
#pragma push_macro("wg_csch")
#undef wg_csch
#define wg_csch(x) WGI_DUAL_CALL1(csch, x)
#pragma push_macro("wg_let_csch")
#undef wg_let_csch
#define wg_let_csch(t, x) ((void)(t), wg_csch(x))
#pragma push_macro("wg_coth")
#undef wg_coth
#define wg_coth(x) WGI_DUAL_CALL1(coth, x)
#pragma push_macro("wg_let_coth")
#undef wg_let_coth
#define wg_let_coth(t, x) ((void)(t), wg_coth(x))
#pragma push_macro("wg_asinh")
#undef wg_asinh
#define wg_asinh(x) WGI_DUAL_CALL1(asinh, x)
#pragma push_macro("wg_let_asinh")
#undef wg_let_asinh
#define wg_let_asinh(t, x) ((void)(t), wg_asinh(x))
#pragma push_macro("wg_acosh")
#undef wg_acosh
#define wg_acosh(x) WGI_DUAL_CALL1(acosh, x)
#pragma push_macro("wg_let_acosh")
#undef wg_let_acosh
#define wg_let_acosh(t, x) ((void)(t), wg_acosh(x))
#pragma push_macro("wg_atanh")
#undef wg_atanh
#define wg_atanh(x) WGI_DUAL_CALL1(atanh, x)
#pragma push_macro("wg_let_atanh")
#undef wg_let_atanh
#define wg_let_atanh(t, x) ((void)(t), wg_atanh(x))
#pragma push_macro("wg_asech")
#undef wg_asech
#define wg_asech(x) WGI_DUAL_CALL1(asech, x)
#pragma push_macro("wg_let_asech")
#undef wg_let_asech
#define wg_let_asech(t, x) ((void)(t), wg_asech(x))
#pragma push_macro("wg_acsch")
#undef wg_acsch
#define wg_acsch(x) WGI_DUAL_CALL1(acsch, x)
#pragma push_macro("wg_let_acsch")
#undef wg_let_acsch
#define wg_let_acsch(t, x) ((void)(t), wg_acsch(x))
#pragma push_macro("wg_acoth")
#undef wg_acoth
#define wg_acoth(x) WGI_DUAL_CALL1(acoth, x)
#pragma push_macro("wg_let_acoth")
#undef wg_let_acoth
#define wg_let_acoth(t, x) ((void)(t), wg_acoth(x))
#pragma push_macro("wg_erf")
#undef wg_erf
#define wg_erf(x) WGI_DUAL_CALL1(erf, x)
#pragma push_macro("wg_let_erf")
#undef wg_let_erf
#define wg_let_erf(t, x) ((void)(t), wg_erf(x))
#pragma push_macro("wg_erfc")
#undef wg_erfc
#define wg_erfc(x) WGI_DUAL_CALL1(erfc, x)
#pragma push_macro("wg_let_erfc")
#undef wg_let_erfc
#define wg_let_erfc(t, x) ((void)(t), wg_erfc(x))
#pragma push_macro("wg_erfcx")
#undef wg_erfcx
#define wg_erfcx(x) WGI_DUAL_CALL1(erfcx, x)
#pragma push_macro("wg_let_erfcx")
#undef wg_let_erfcx
#define wg_let_erfcx(t, x) ((void)(t), wg_erfcx(x))
#pragma push_macro("wg_Phi")
#undef wg_Phi
#define wg_Phi(x) WGI_DUAL_CALL1(Phi, x)
#pragma push_macro("wg_let_Phi")
#undef wg_let_Phi
#define wg_let_Phi(t, x) ((void)(t), wg_Phi(x))
#pragma push_macro("wg_log_Phi")
#undef wg_log_Phi
#define wg_log_Phi(x) WGI_DUAL_CALL1(log_Phi, x)
#pragma push_macro("wg_let_log_Phi")
#undef wg_let_log_Phi
#define wg_let_log_Phi(t, x) ((void)(t), wg_log_Phi(x))
#pragma push_macro("wg_inv_Phi")
#undef wg_inv_Phi
#define wg_inv_Phi(x) WGI_DUAL_CALL1(inv_Phi, x)
#pragma push_macro("wg_let_inv_Phi")
#undef wg_let_inv_Phi
#define wg_let_inv_Phi(t, x) ((void)(t), wg_inv_Phi(x))
#pragma push_macro("wg_lgamma")
#undef wg_lgamma
#define wg_lgamma(x) WGI_DUAL_CALL1(lgamma, x)
#pragma push_macro("wg_let_lgamma")
#undef wg_let_lgamma
#define wg_let_lgamma(t, x) ((void)(t), wg_lgamma(x))
#pragma push_macro("wg_tgamma")
#undef wg_tgamma
#define wg_tgamma(x) WGI_DUAL_CALL1(tgamma, x)
#pragma push_macro("wg_let_tgamma")
#undef wg_let_tgamma
#define wg_let_tgamma(t, x) ((void)(t), wg_tgamma(x))
#pragma push_macro("wg_digamma")
#undef wg_digamma
#define wg_digamma(x) WGI_DUAL_CALL1(digamma, x)
#pragma push_macro("wg_let_digamma")
#undef wg_let_digamma
#define wg_let_digamma(t, x) ((void)(t), wg_digamma(x))
#pragma push_macro("wg_j0")
#undef wg_j0
#define wg_j0(x) WGI_DUAL_CALL1(j0, x)
#pragma push_macro("wg_let_j0")
#undef wg_let_j0
#define wg_let_j0(t, x) ((void)(t), wg_j0(x))
#pragma push_macro("wg_j1")
#undef wg_j1
#define wg_j1(x) WGI_DUAL_CALL1(j1, x)
#pragma push_macro("wg_let_j1")
#undef wg_let_j1
#define wg_let_j1(t, x) ((void)(t), wg_j1(x))
#pragma push_macro("wg_y0")
#undef wg_y0
#define wg_y0(x) WGI_DUAL_CALL1(y0, x)
#pragma push_macro("wg_let_y0")
#undef wg_let_y0
#define wg_let_y0(t, x) ((void)(t), wg_y0(x))
#pragma push_macro("wg_y1")
#undef wg_y1
#define wg_y1(x) WGI_DUAL_CALL1(y1, x)
#pragma push_macro("wg_let_y1")
#undef wg_let_y1
#define wg_let_y1(t, x) ((void)(t), wg_y1(x))
#pragma push_macro("wg_lambertw0")
#undef wg_lambertw0
#define wg_lambertw0(x) WGI_DUAL_CALL1(lambertw0, x)
#pragma push_macro("wg_let_lambertw0")
#undef wg_let_lambertw0
#define wg_let_lambertw0(t, x) ((void)(t), wg_lambertw0(x))
#pragma push_macro("wg_lambertwm1")
#undef wg_lambertwm1
#define wg_lambertwm1(x) WGI_DUAL_CALL1(lambertwm1, x)
#pragma push_macro("wg_let_lambertwm1")
#undef wg_let_lambertwm1
#define wg_let_lambertwm1(t, x) ((void)(t), wg_lambertwm1(x))
#pragma push_macro("wg_floor")
#undef wg_floor
#define wg_floor(x) WGI_DUAL_CALL1(floor, x)
#pragma push_macro("wg_let_floor")
#undef wg_let_floor
#define wg_let_floor(t, x) ((void)(t), wg_floor(x))
#pragma push_macro("wg_ceil")
#undef wg_ceil
#define wg_ceil(x) WGI_DUAL_CALL1(ceil, x)
#pragma push_macro("wg_let_ceil")
#undef wg_let_ceil
#define wg_let_ceil(t, x) ((void)(t), wg_ceil(x))
#pragma push_macro("wg_trunc")
#undef wg_trunc
#define wg_trunc(x) WGI_DUAL_CALL1(trunc, x)
#pragma push_macro("wg_let_trunc")
#undef wg_let_trunc
#define wg_let_trunc(t, x) ((void)(t), wg_trunc(x))
#pragma push_macro("wg_round")
#undef wg_round
#define wg_round(x) WGI_DUAL_CALL1(round, x)
#pragma push_macro("wg_let_round")
#undef wg_let_round
#define wg_let_round(t, x) ((void)(t), wg_round(x))
#pragma push_macro("wg_rint")
#undef wg_rint
#define wg_rint(x) WGI_DUAL_CALL1(rint, x)
#pragma push_macro("wg_let_rint")
#undef wg_let_rint
#define wg_let_rint(t, x) ((void)(t), wg_rint(x))
#pragma push_macro("wg_sign")
#undef wg_sign
#define wg_sign(x) WGI_DUAL_CALL1(sign, x)
#pragma push_macro("wg_let_sign")
#undef wg_let_sign
#define wg_let_sign(t, x) ((void)(t), wg_sign(x))
#pragma push_macro("wg_fabs")
#undef wg_fabs
#define wg_fabs(x) WGI_DUAL_CALL1(fabs, x)
#pragma push_macro("wg_let_fabs")
#undef wg_let_fabs
#define wg_let_fabs(t, x) ((void)(t), wg_fabs(x))
#pragma push_macro("wg_relu")
#undef wg_relu
#define wg_relu(x) WGI_DUAL_CALL1(relu, x)
#pragma push_macro("wg_let_relu")
#undef wg_let_relu
#define wg_let_relu(t, x) ((void)(t), wg_relu(x))
#pragma push_macro("wg_copysign")
#undef wg_copysign
#define wg_copysign(x, y) WGI_DUAL_CALL2(copysign, x, y)
#pragma push_macro("wg_let_copysign")
#undef wg_let_copysign
#define wg_let_copysign(t, x, y) ((void)(t), wg_copysign(x, y))
#pragma push_macro("wg_fmax")
#undef wg_fmax
#define wg_fmax(x, y) WGI_DUAL_CALL2(fmax, x, y)
#pragma push_macro("wg_let_fmax")
#undef wg_let_fmax
#define wg_let_fmax(t, x, y) ((void)(t), wg_fmax(x, y))
#pragma push_macro("wg_fmin")
#undef wg_fmin
#define wg_fmin(x, y) WGI_DUAL_CALL2(fmin, x, y)
#pragma push_macro("wg_let_fmin")
#undef wg_let_fmin
#define wg_let_fmin(t, x, y) ((void)(t), wg_fmin(x, y))
#pragma push_macro("wg_fdim")
#undef wg_fdim
#define wg_fdim(x, y) WGI_DUAL_CALL2(fdim, x, y)
#pragma push_macro("wg_let_fdim")
#undef wg_let_fdim
#define wg_let_fdim(t, x, y) ((void)(t), wg_fdim(x, y))
#pragma push_macro("wg_clamp")
#undef wg_clamp
#define wg_clamp(x, y, z) WGI_DUAL_CALL3(clamp, x, y, z)
#pragma push_macro("wg_let_clamp")
#undef wg_let_clamp
#define wg_let_clamp(t, x, y, z) ((void)(t), wg_clamp(x, y, z))
#pragma push_macro("wg_select_lt")
#undef wg_select_lt
#define wg_select_lt(x, y, z, w) WGI_DUAL_CALL4(select_lt, x, y, z, w)
#pragma push_macro("wg_let_select_lt")
#undef wg_let_select_lt
#define wg_let_select_lt(t, x, y, z, w) ((void)(t), wg_select_lt(x, y, z, w))
#pragma push_macro("wg_select_le")
#undef wg_select_le
#define wg_select_le(x, y, z, w) WGI_DUAL_CALL4(select_le, x, y, z, w)
#pragma push_macro("wg_let_select_le")
#undef wg_let_select_le
#define wg_let_select_le(t, x, y, z, w) ((void)(t), wg_select_le(x, y, z, w))
#pragma push_macro("wg_select_gt")
#undef wg_select_gt
#define wg_select_gt(x, y, z, w) WGI_DUAL_CALL4(select_gt, x, y, z, w)
#pragma push_macro("wg_let_select_gt")
#undef wg_let_select_gt
#define wg_let_select_gt(t, x, y, z, w) ((void)(t), wg_select_gt(x, y, z, w))
#pragma push_macro("wg_select_ge")
#undef wg_select_ge
#define wg_select_ge(x, y, z, w) WGI_DUAL_CALL4(select_ge, x, y, z, w)
#pragma push_macro("wg_let_select_ge")
#undef wg_let_select_ge
#define wg_let_select_ge(t, x, y, z, w) ((void)(t), wg_select_ge(x, y, z, w))
#pragma push_macro("wg_select_eq")
#undef wg_select_eq
#define wg_select_eq(x, y, z, w) WGI_DUAL_CALL4(select_eq, x, y, z, w)
#pragma push_macro("wg_let_select_eq")
#undef wg_let_select_eq
#define wg_let_select_eq(t, x, y, z, w) ((void)(t), wg_select_eq(x, y, z, w))
#pragma push_macro("wg_select_ne")
#undef wg_select_ne
#define wg_select_ne(x, y, z, w) WGI_DUAL_CALL4(select_ne, x, y, z, w)
#pragma push_macro("wg_let_select_ne")
#undef wg_let_select_ne
#define wg_let_select_ne(t, x, y, z, w) ((void)(t), wg_select_ne(x, y, z, w))
#pragma push_macro("wg_stop_gradient")
#undef wg_stop_gradient
#define wg_stop_gradient(x) WGI_DUAL_CALL1(stop_gradient, x)
#pragma push_macro("wg_let_stop_gradient")
#undef wg_let_stop_gradient
#define wg_let_stop_gradient(t, x) ((void)(t), wg_stop_gradient(x))
