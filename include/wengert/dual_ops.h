/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * wg_dual_NAME of duals, and wgi_dual_NAME where each operand says whether it is a dual
 * (1) or a number (0), whose partial is then not computed. Included by dual.h. */
#ifndef WENGERT_DUAL_OPS_H
#define WENGERT_DUAL_OPS_H

#include <wengert/dual.h>

#pragma GCC system_header

/* neg: linearity */
WGI_FUNCTION wg_dual wgi_dual_neg(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_neg_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_MINUS : WGI_NONE, 0, x);
}
WGI_FUNCTION wg_dual wg_dual_neg(wg_dual x) { return wgi_dual_neg(x, 1); }

/* add: linearity */
WGI_FUNCTION wg_dual wgi_dual_add(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_add_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_PLUS : WGI_NONE, 0, x,
        j ? WGI_PLUS : WGI_NONE, 0, y);
}
WGI_FUNCTION wg_dual wg_dual_add(wg_dual x, wg_dual y) { return wgi_dual_add(x, 1, y, 1); }

/* sub: linearity */
WGI_FUNCTION wg_dual wgi_dual_sub(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_sub_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_PLUS : WGI_NONE, 0, x,
        j ? WGI_MINUS : WGI_NONE, 0, y);
}
WGI_FUNCTION wg_dual wg_dual_sub(wg_dual x, wg_dual y) { return wgi_dual_sub(x, 1, y, 1); }

/* mul: product rule */
WGI_FUNCTION wg_dual wgi_dual_mul(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_mul_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_mul_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_mul_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_mul(wg_dual x, wg_dual y) { return wgi_dual_mul(x, 1, y, 1); }

/* div: quotient rule */
WGI_FUNCTION wg_dual wgi_dual_div(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_div_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_div_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_div_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_div(wg_dual x, wg_dual y) { return wgi_dual_div(x, 1, y, 1); }

/* fma: product rule; C11 7.12.13.1 */
WGI_FUNCTION wg_dual wgi_dual_fma(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k) {
    const double a = x.value, b = y.value, c = z.value, v = wgi_op_fma_v(a, b, c);
    return wgi_dual_chain3(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_fma_da(a, b, c, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_fma_db(a, b, c, v) : 0, y,
        k ? WGI_PLUS : WGI_NONE, 0, z);
}
WGI_FUNCTION wg_dual wg_dual_fma(wg_dual x, wg_dual y, wg_dual z) { return wgi_dual_fma(x, 1, y, 1, z, 1); }

/* reciprocal: quotient rule */
WGI_FUNCTION wg_dual wgi_dual_reciprocal(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_reciprocal_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_reciprocal_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_reciprocal(wg_dual x) { return wgi_dual_reciprocal(x, 1); }

/* square: power rule */
WGI_FUNCTION wg_dual wgi_dual_square(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_square_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_square_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_square(wg_dual x) { return wgi_dual_square(x, 1); }

/* cube: power rule */
WGI_FUNCTION wg_dual wgi_dual_cube(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cube_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cube_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cube(wg_dual x) { return wgi_dual_cube(x, 1); }

/* fmod: a = n b + v, n = trunc(a/b) held */
WGI_FUNCTION wg_dual wgi_dual_fmod(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_fmod_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_PLUS : WGI_NONE, 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_fmod_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_fmod(wg_dual x, wg_dual y) { return wgi_dual_fmod(x, 1, y, 1); }

/* remainder: a = n b + v, n = rint(a/b) held; IEC 60559 */
WGI_FUNCTION wg_dual wgi_dual_remainder(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_remainder_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_PLUS : WGI_NONE, 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_remainder_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_remainder(wg_dual x, wg_dual y) { return wgi_dual_remainder(x, 1, y, 1); }

/* sqrt: power rule; DLMF 4.4.1 */
WGI_FUNCTION wg_dual wgi_dual_sqrt(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sqrt_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sqrt_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sqrt(wg_dual x) { return wgi_dual_sqrt(x, 1); }

/* cbrt: power rule */
WGI_FUNCTION wg_dual wgi_dual_cbrt(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cbrt_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cbrt_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cbrt(wg_dual x) { return wgi_dual_cbrt(x, 1); }

/* rsqrt: power rule */
WGI_FUNCTION wg_dual wgi_dual_rsqrt(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_rsqrt_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_rsqrt_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_rsqrt(wg_dual x) { return wgi_dual_rsqrt(x, 1); }

/* pow: DLMF 4.2.26 */
WGI_FUNCTION wg_dual wgi_dual_pow(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_pow_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_pow_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_pow_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_pow(wg_dual x, wg_dual y) { return wgi_dual_pow(x, 1, y, 1); }

/* hypot: chain rule; 0 at the cone tip */
WGI_FUNCTION wg_dual wgi_dual_hypot(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_hypot_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_hypot_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_hypot_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_hypot(wg_dual x, wg_dual y) { return wgi_dual_hypot(x, 1, y, 1); }

/* exp: DLMF 4.7.7 */
WGI_FUNCTION wg_dual wgi_dual_exp(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_exp_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_exp_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_exp(wg_dual x) { return wgi_dual_exp(x, 1); }

/* exp2: DLMF 4.7.10 */
WGI_FUNCTION wg_dual wgi_dual_exp2(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_exp2_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_exp2_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_exp2(wg_dual x) { return wgi_dual_exp2(x, 1); }

/* exp10: DLMF 4.7.10 */
WGI_FUNCTION wg_dual wgi_dual_exp10(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_exp10_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_exp10_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_exp10(wg_dual x) { return wgi_dual_exp10(x, 1); }

/* expm1: DLMF 4.7.7 */
WGI_FUNCTION wg_dual wgi_dual_expm1(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_expm1_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_expm1_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_expm1(wg_dual x) { return wgi_dual_expm1(x, 1); }

/* log: DLMF 4.7.1 */
WGI_FUNCTION wg_dual wgi_dual_log(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log(wg_dual x) { return wgi_dual_log(x, 1); }

/* log2: DLMF 4.7.1 */
WGI_FUNCTION wg_dual wgi_dual_log2(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log2_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log2_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log2(wg_dual x) { return wgi_dual_log2(x, 1); }

/* log10: DLMF 4.7.1 */
WGI_FUNCTION wg_dual wgi_dual_log10(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log10_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log10_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log10(wg_dual x) { return wgi_dual_log10(x, 1); }

/* log1p: DLMF 4.7.1 */
WGI_FUNCTION wg_dual wgi_dual_log1p(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log1p_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log1p_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log1p(wg_dual x) { return wgi_dual_log1p(x, 1); }

/* log1mx: log(1 - a); DLMF 4.7.1 */
WGI_FUNCTION wg_dual wgi_dual_log1mx(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log1mx_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log1mx_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log1mx(wg_dual x) { return wgi_dual_log1mx(x, 1); }

/* log1mexp: log(1 - exp a), a < 0; Maechler 2012 */
WGI_FUNCTION wg_dual wgi_dual_log1mexp(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log1mexp_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log1mexp_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log1mexp(wg_dual x) { return wgi_dual_log1mexp(x, 1); }

/* log_base: log a / log b; DLMF 4.2.19 */
WGI_FUNCTION wg_dual wgi_dual_log_base(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_log_base_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_base_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_log_base_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_log_base(wg_dual x, wg_dual y) { return wgi_dual_log_base(x, 1, y, 1); }

/* xlogy: a log b, 0 where a is 0 */
WGI_FUNCTION wg_dual wgi_dual_xlogy(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_xlogy_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_xlogy_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_xlogy_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_xlogy(wg_dual x, wg_dual y) { return wgi_dual_xlogy(x, 1, y, 1); }

/* log_add_exp: softmax; Blanchard, Higham, Higham 2021 */
WGI_FUNCTION wg_dual wgi_dual_log_add_exp(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_log_add_exp_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_add_exp_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_log_add_exp_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_log_add_exp(wg_dual x, wg_dual y) { return wgi_dual_log_add_exp(x, 1, y, 1); }

/* log_diff_exp: log(exp a - exp b); Maechler 2012 */
WGI_FUNCTION wg_dual wgi_dual_log_diff_exp(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_log_diff_exp_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_diff_exp_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_log_diff_exp_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_log_diff_exp(wg_dual x, wg_dual y) { return wgi_dual_log_diff_exp(x, 1, y, 1); }

/* sigmoid: 1 / (1 + exp -a) */
WGI_FUNCTION wg_dual wgi_dual_sigmoid(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sigmoid_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sigmoid_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sigmoid(wg_dual x) { return wgi_dual_sigmoid(x, 1); }

/* log_sigmoid: -log(1 + exp -a) */
WGI_FUNCTION wg_dual wgi_dual_log_sigmoid(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log_sigmoid_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_sigmoid_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log_sigmoid(wg_dual x) { return wgi_dual_log_sigmoid(x, 1); }

/* softplus: log(1 + exp a) */
WGI_FUNCTION wg_dual wgi_dual_softplus(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_softplus_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_softplus_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_softplus(wg_dual x) { return wgi_dual_softplus(x, 1); }

/* logit: log(a / (1 - a)) */
WGI_FUNCTION wg_dual wgi_dual_logit(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_logit_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_logit_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_logit(wg_dual x) { return wgi_dual_logit(x, 1); }

/* sin: DLMF 4.20.1 */
WGI_FUNCTION wg_dual wgi_dual_sin(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sin_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sin_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sin(wg_dual x) { return wgi_dual_sin(x, 1); }

/* cos: DLMF 4.20.2 */
WGI_FUNCTION wg_dual wgi_dual_cos(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cos_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cos_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cos(wg_dual x) { return wgi_dual_cos(x, 1); }

/* tan: DLMF 4.20.3 */
WGI_FUNCTION wg_dual wgi_dual_tan(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_tan_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_tan_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_tan(wg_dual x) { return wgi_dual_tan(x, 1); }

/* sec: DLMF 4.20.5 */
WGI_FUNCTION wg_dual wgi_dual_sec(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sec_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sec_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sec(wg_dual x) { return wgi_dual_sec(x, 1); }

/* csc: DLMF 4.20.4 */
WGI_FUNCTION wg_dual wgi_dual_csc(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_csc_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_csc_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_csc(wg_dual x) { return wgi_dual_csc(x, 1); }

/* cot: DLMF 4.20.6 */
WGI_FUNCTION wg_dual wgi_dual_cot(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cot_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cot_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cot(wg_dual x) { return wgi_dual_cot(x, 1); }

/* asin: DLMF 4.24.7 */
WGI_FUNCTION wg_dual wgi_dual_asin(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_asin_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_asin_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_asin(wg_dual x) { return wgi_dual_asin(x, 1); }

/* acos: DLMF 4.24.8 */
WGI_FUNCTION wg_dual wgi_dual_acos(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acos_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acos_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acos(wg_dual x) { return wgi_dual_acos(x, 1); }

/* atan: DLMF 4.24.9 */
WGI_FUNCTION wg_dual wgi_dual_atan(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_atan_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_atan_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_atan(wg_dual x) { return wgi_dual_atan(x, 1); }

/* asec: DLMF 4.24.11 */
WGI_FUNCTION wg_dual wgi_dual_asec(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_asec_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_asec_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_asec(wg_dual x) { return wgi_dual_asec(x, 1); }

/* acsc: DLMF 4.24.10 */
WGI_FUNCTION wg_dual wgi_dual_acsc(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acsc_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acsc_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acsc(wg_dual x) { return wgi_dual_acsc(x, 1); }

/* acot: arctan(1/a), DLMF 4.23.9, 4.24.12 */
WGI_FUNCTION wg_dual wgi_dual_acot(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acot_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acot_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acot(wg_dual x) { return wgi_dual_acot(x, 1); }

/* atan2: DLMF 4.24.9 with 4.23.37 */
WGI_FUNCTION wg_dual wgi_dual_atan2(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_atan2_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_atan2_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_atan2_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_atan2(wg_dual x, wg_dual y) { return wgi_dual_atan2(x, 1, y, 1); }

/* sinpi: sin(pi a) */
WGI_FUNCTION wg_dual wgi_dual_sinpi(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sinpi_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sinpi_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sinpi(wg_dual x) { return wgi_dual_sinpi(x, 1); }

/* cospi: cos(pi a) */
WGI_FUNCTION wg_dual wgi_dual_cospi(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cospi_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cospi_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cospi(wg_dual x) { return wgi_dual_cospi(x, 1); }

/* sinh: DLMF 4.34.1 */
WGI_FUNCTION wg_dual wgi_dual_sinh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sinh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sinh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sinh(wg_dual x) { return wgi_dual_sinh(x, 1); }

/* cosh: DLMF 4.34.2 */
WGI_FUNCTION wg_dual wgi_dual_cosh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_cosh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_cosh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_cosh(wg_dual x) { return wgi_dual_cosh(x, 1); }

/* tanh: DLMF 4.34.3 */
WGI_FUNCTION wg_dual wgi_dual_tanh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_tanh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_tanh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_tanh(wg_dual x) { return wgi_dual_tanh(x, 1); }

/* sech: DLMF 4.34.5 */
WGI_FUNCTION wg_dual wgi_dual_sech(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sech_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_sech_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_sech(wg_dual x) { return wgi_dual_sech(x, 1); }

/* csch: DLMF 4.34.4 */
WGI_FUNCTION wg_dual wgi_dual_csch(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_csch_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_csch_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_csch(wg_dual x) { return wgi_dual_csch(x, 1); }

/* coth: DLMF 4.34.6 */
WGI_FUNCTION wg_dual wgi_dual_coth(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_coth_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_coth_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_coth(wg_dual x) { return wgi_dual_coth(x, 1); }

/* asinh: DLMF 4.38.9 */
WGI_FUNCTION wg_dual wgi_dual_asinh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_asinh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_asinh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_asinh(wg_dual x) { return wgi_dual_asinh(x, 1); }

/* acosh: DLMF 4.38.10 */
WGI_FUNCTION wg_dual wgi_dual_acosh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acosh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acosh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acosh(wg_dual x) { return wgi_dual_acosh(x, 1); }

/* atanh: DLMF 4.38.11 */
WGI_FUNCTION wg_dual wgi_dual_atanh(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_atanh_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_atanh_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_atanh(wg_dual x) { return wgi_dual_atanh(x, 1); }

/* asech: DLMF 4.38.13 */
WGI_FUNCTION wg_dual wgi_dual_asech(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_asech_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_asech_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_asech(wg_dual x) { return wgi_dual_asech(x, 1); }

/* acsch: DLMF 4.38.12 */
WGI_FUNCTION wg_dual wgi_dual_acsch(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acsch_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acsch_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acsch(wg_dual x) { return wgi_dual_acsch(x, 1); }

/* acoth: DLMF 4.38.14 */
WGI_FUNCTION wg_dual wgi_dual_acoth(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_acoth_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_acoth_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_acoth(wg_dual x) { return wgi_dual_acoth(x, 1); }

/* erf: DLMF 7.10.1 */
WGI_FUNCTION wg_dual wgi_dual_erf(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_erf_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_erf_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_erf(wg_dual x) { return wgi_dual_erf(x, 1); }

/* erfc: DLMF 7.10.1 */
WGI_FUNCTION wg_dual wgi_dual_erfc(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_erfc_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_erfc_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_erfc(wg_dual x) { return wgi_dual_erfc(x, 1); }

/* erfcx: exp(a^2) erfc a; DLMF 7.9.3 */
WGI_FUNCTION wg_dual wgi_dual_erfcx(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_erfcx_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_erfcx_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_erfcx(wg_dual x) { return wgi_dual_erfcx(x, 1); }

/* Phi: normal distribution; DLMF 7.10.1 */
WGI_FUNCTION wg_dual wgi_dual_Phi(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_Phi_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_Phi_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_Phi(wg_dual x) { return wgi_dual_Phi(x, 1); }

/* log_Phi: Mills ratio; DLMF 7.8.1, 7.9.3 */
WGI_FUNCTION wg_dual wgi_dual_log_Phi(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_log_Phi_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_log_Phi_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_log_Phi(wg_dual x) { return wgi_dual_log_Phi(x, 1); }

/* inv_Phi: normal quantile; inverse function rule */
WGI_FUNCTION wg_dual wgi_dual_inv_Phi(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_inv_Phi_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_inv_Phi_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_inv_Phi(wg_dual x) { return wgi_dual_inv_Phi(x, 1); }

/* lgamma: log |Gamma|; DLMF 5.2.2 */
WGI_FUNCTION wg_dual wgi_dual_lgamma(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_lgamma_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_lgamma_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_lgamma(wg_dual x) { return wgi_dual_lgamma(x, 1); }

/* tgamma: DLMF 5.2.2 */
WGI_FUNCTION wg_dual wgi_dual_tgamma(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_tgamma_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_tgamma_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_tgamma(wg_dual x) { return wgi_dual_tgamma(x, 1); }

/* digamma: DLMF 5.15.1 */
WGI_FUNCTION wg_dual wgi_dual_digamma(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_digamma_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_digamma_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_digamma(wg_dual x) { return wgi_dual_digamma(x, 1); }

/* j0: DLMF 10.6.3 */
WGI_FUNCTION wg_dual wgi_dual_j0(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_j0_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_j0_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_j0(wg_dual x) { return wgi_dual_j0(x, 1); }

/* j1: DLMF 10.6.2 */
WGI_FUNCTION wg_dual wgi_dual_j1(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_j1_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_j1_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_j1(wg_dual x) { return wgi_dual_j1(x, 1); }

/* y0: DLMF 10.6.3 */
WGI_FUNCTION wg_dual wgi_dual_y0(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_y0_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_y0_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_y0(wg_dual x) { return wgi_dual_y0(x, 1); }

/* y1: DLMF 10.6.2 */
WGI_FUNCTION wg_dual wgi_dual_y1(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_y1_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_y1_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_y1(wg_dual x) { return wgi_dual_y1(x, 1); }

/* lambertw0: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION wg_dual wgi_dual_lambertw0(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_lambertw0_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_lambertw0_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_lambertw0(wg_dual x) { return wgi_dual_lambertw0(x, 1); }

/* lambertwm1: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION wg_dual wgi_dual_lambertwm1(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_lambertwm1_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_lambertwm1_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_lambertwm1(wg_dual x) { return wgi_dual_lambertwm1(x, 1); }

/* floor: step */
WGI_FUNCTION wg_dual wgi_dual_floor(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_floor_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_floor(wg_dual x) { return wgi_dual_floor(x, 1); }

/* ceil: step */
WGI_FUNCTION wg_dual wgi_dual_ceil(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_ceil_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_ceil(wg_dual x) { return wgi_dual_ceil(x, 1); }

/* trunc: step */
WGI_FUNCTION wg_dual wgi_dual_trunc(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_trunc_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_trunc(wg_dual x) { return wgi_dual_trunc(x, 1); }

/* round: step; halves away from zero */
WGI_FUNCTION wg_dual wgi_dual_round(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_round_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_round(wg_dual x) { return wgi_dual_round(x, 1); }

/* rint: step; halves to even in the default mode */
WGI_FUNCTION wg_dual wgi_dual_rint(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_rint_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_rint(wg_dual x) { return wgi_dual_rint(x, 1); }

/* sign: step */
WGI_FUNCTION wg_dual wgi_dual_sign(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_sign_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_sign(wg_dual x) { return wgi_dual_sign(x, 1); }

/* fabs: sign, 0 at 0 */
WGI_FUNCTION wg_dual wgi_dual_fabs(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_fabs_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_fabs_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_fabs(wg_dual x) { return wgi_dual_fabs(x, 1); }

/* relu: 0 at 0 */
WGI_FUNCTION wg_dual wgi_dual_relu(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_relu_v(a);
    return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_relu_da(a, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_relu(wg_dual x) { return wgi_dual_relu(x, 1); }

/* copysign: |a| times the sign of b */
WGI_FUNCTION wg_dual wgi_dual_copysign(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_copysign_v(a, b);
    (void)j; return wgi_dual_chain1(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_copysign_da(a, b, v) : 0, x);
}
WGI_FUNCTION wg_dual wg_dual_copysign(wg_dual x, wg_dual y) { return wgi_dual_copysign(x, 1, y, 1); }

/* fmax: a tie splits evenly */
WGI_FUNCTION wg_dual wgi_dual_fmax(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_fmax_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_fmax_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_fmax_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_fmax(wg_dual x, wg_dual y) { return wgi_dual_fmax(x, 1, y, 1); }

/* fmin: a tie splits evenly */
WGI_FUNCTION wg_dual wgi_dual_fmin(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_fmin_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_fmin_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_fmin_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_fmin(wg_dual x, wg_dual y) { return wgi_dual_fmin(x, 1, y, 1); }

/* fdim: relu(a - b) */
WGI_FUNCTION wg_dual wgi_dual_fdim(wg_dual x, int i, wg_dual y, int j) {
    const double a = x.value, b = y.value, v = wgi_op_fdim_v(a, b);
    return wgi_dual_chain2(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_fdim_da(a, b, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_fdim_db(a, b, v) : 0, y);
}
WGI_FUNCTION wg_dual wg_dual_fdim(wg_dual x, wg_dual y) { return wgi_dual_fdim(x, 1, y, 1); }

/* clamp: a in the closed interval [b, c] */
WGI_FUNCTION wg_dual wgi_dual_clamp(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k) {
    const double a = x.value, b = y.value, c = z.value, v = wgi_op_clamp_v(a, b, c);
    return wgi_dual_chain3(v,
        i ? WGI_TIMES : WGI_NONE, i ? wgi_op_clamp_da(a, b, c, v) : 0, x,
        j ? WGI_TIMES : WGI_NONE, j ? wgi_op_clamp_db(a, b, c, v) : 0, y,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_clamp_dc(a, b, c, v) : 0, z);
}
WGI_FUNCTION wg_dual wg_dual_clamp(wg_dual x, wg_dual y, wg_dual z) { return wgi_dual_clamp(x, 1, y, 1, z, 1); }

/* select_lt: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_lt(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_lt_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_lt_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_lt_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_lt(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_lt(x, 1, y, 1, z, 1, w, 1); }

/* select_le: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_le(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_le_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_le_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_le_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_le(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_le(x, 1, y, 1, z, 1, w, 1); }

/* select_gt: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_gt(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_gt_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_gt_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_gt_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_gt(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_gt(x, 1, y, 1, z, 1, w, 1); }

/* select_ge: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_ge(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_ge_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_ge_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_ge_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_ge(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_ge(x, 1, y, 1, z, 1, w, 1); }

/* select_eq: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_eq(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_eq_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_eq_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_eq_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_eq(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_eq(x, 1, y, 1, z, 1, w, 1); }

/* select_ne: C11 6.5.15 */
WGI_FUNCTION wg_dual wgi_dual_select_ne(wg_dual x, int i, wg_dual y, int j, wg_dual z, int k, wg_dual w, int m) {
    const double a = x.value, b = y.value, c = z.value, d = w.value, v = wgi_op_select_ne_v(a, b, c, d);
    (void)i; (void)j; return wgi_dual_chain2(v,
        k ? WGI_TIMES : WGI_NONE, k ? wgi_op_select_ne_dc(a, b, c, d, v) : 0, z,
        m ? WGI_TIMES : WGI_NONE, m ? wgi_op_select_ne_dd(a, b, c, d, v) : 0, w);
}
WGI_FUNCTION wg_dual wg_dual_select_ne(wg_dual x, wg_dual y, wg_dual z, wg_dual w) { return wgi_dual_select_ne(x, 1, y, 1, z, 1, w, 1); }

/* stop_gradient: the identity, taken for a constant */
WGI_FUNCTION wg_dual wgi_dual_stop_gradient(wg_dual x, int i) {
    const double a = x.value, v = wgi_op_stop_gradient_v(a);
    (void)i; return wg_dual_constant(v);
}
WGI_FUNCTION wg_dual wg_dual_stop_gradient(wg_dual x) { return wgi_dual_stop_gradient(x, 1); }

#if defined(__cplusplus) && __cplusplus >= 201703L
WGI_DUAL_TEMPLATE1(named, neg)
WGI_DUAL_TEMPLATE2(named, add)
WGI_DUAL_TEMPLATE2(named, sub)
WGI_DUAL_TEMPLATE2(named, mul)
WGI_DUAL_TEMPLATE2(named, div)
WGI_DUAL_TEMPLATE3(found, fma)
WGI_DUAL_TEMPLATE1(named, reciprocal)
WGI_DUAL_TEMPLATE1(named, square)
WGI_DUAL_TEMPLATE1(named, cube)
WGI_DUAL_TEMPLATE2(found, fmod)
WGI_DUAL_TEMPLATE2(found, remainder)
WGI_DUAL_TEMPLATE1(found, sqrt)
WGI_DUAL_TEMPLATE1(found, cbrt)
WGI_DUAL_TEMPLATE1(named, rsqrt)
WGI_DUAL_TEMPLATE2(found, pow)
WGI_DUAL_TEMPLATE2(found, hypot)
WGI_DUAL_TEMPLATE1(found, exp)
WGI_DUAL_TEMPLATE1(found, exp2)
WGI_DUAL_TEMPLATE1(found, exp10)
WGI_DUAL_TEMPLATE1(found, expm1)
WGI_DUAL_TEMPLATE1(found, log)
WGI_DUAL_TEMPLATE1(found, log2)
WGI_DUAL_TEMPLATE1(found, log10)
WGI_DUAL_TEMPLATE1(found, log1p)
WGI_DUAL_TEMPLATE1(named, log1mx)
WGI_DUAL_TEMPLATE1(named, log1mexp)
WGI_DUAL_TEMPLATE2(named, log_base)
WGI_DUAL_TEMPLATE2(named, xlogy)
WGI_DUAL_TEMPLATE2(named, log_add_exp)
WGI_DUAL_TEMPLATE2(named, log_diff_exp)
WGI_DUAL_TEMPLATE1(named, sigmoid)
WGI_DUAL_TEMPLATE1(named, log_sigmoid)
WGI_DUAL_TEMPLATE1(named, softplus)
WGI_DUAL_TEMPLATE1(named, logit)
WGI_DUAL_TEMPLATE1(found, sin)
WGI_DUAL_TEMPLATE1(found, cos)
WGI_DUAL_TEMPLATE1(found, tan)
WGI_DUAL_TEMPLATE1(named, sec)
WGI_DUAL_TEMPLATE1(named, csc)
WGI_DUAL_TEMPLATE1(named, cot)
WGI_DUAL_TEMPLATE1(found, asin)
WGI_DUAL_TEMPLATE1(found, acos)
WGI_DUAL_TEMPLATE1(found, atan)
WGI_DUAL_TEMPLATE1(named, asec)
WGI_DUAL_TEMPLATE1(named, acsc)
WGI_DUAL_TEMPLATE1(named, acot)
WGI_DUAL_TEMPLATE2(found, atan2)
WGI_DUAL_TEMPLATE1(named, sinpi)
WGI_DUAL_TEMPLATE1(named, cospi)
WGI_DUAL_TEMPLATE1(found, sinh)
WGI_DUAL_TEMPLATE1(found, cosh)
WGI_DUAL_TEMPLATE1(found, tanh)
WGI_DUAL_TEMPLATE1(named, sech)
WGI_DUAL_TEMPLATE1(named, csch)
WGI_DUAL_TEMPLATE1(named, coth)
WGI_DUAL_TEMPLATE1(found, asinh)
WGI_DUAL_TEMPLATE1(found, acosh)
WGI_DUAL_TEMPLATE1(found, atanh)
WGI_DUAL_TEMPLATE1(named, asech)
WGI_DUAL_TEMPLATE1(named, acsch)
WGI_DUAL_TEMPLATE1(named, acoth)
WGI_DUAL_TEMPLATE1(found, erf)
WGI_DUAL_TEMPLATE1(found, erfc)
WGI_DUAL_TEMPLATE1(named, erfcx)
WGI_DUAL_TEMPLATE1(named, Phi)
WGI_DUAL_TEMPLATE1(named, log_Phi)
WGI_DUAL_TEMPLATE1(named, inv_Phi)
WGI_DUAL_TEMPLATE1(found, lgamma)
WGI_DUAL_TEMPLATE1(found, tgamma)
WGI_DUAL_TEMPLATE1(named, digamma)
WGI_DUAL_TEMPLATE1(found, j0)
WGI_DUAL_TEMPLATE1(found, j1)
WGI_DUAL_TEMPLATE1(found, y0)
WGI_DUAL_TEMPLATE1(found, y1)
WGI_DUAL_TEMPLATE1(named, lambertw0)
WGI_DUAL_TEMPLATE1(named, lambertwm1)
WGI_DUAL_TEMPLATE1(found, floor)
WGI_DUAL_TEMPLATE1(found, ceil)
WGI_DUAL_TEMPLATE1(found, trunc)
WGI_DUAL_TEMPLATE1(found, round)
WGI_DUAL_TEMPLATE1(found, rint)
WGI_DUAL_TEMPLATE1(named, sign)
WGI_DUAL_TEMPLATE1(found, fabs)
WGI_DUAL_TEMPLATE1(named, relu)
WGI_DUAL_TEMPLATE2(found, copysign)
WGI_DUAL_TEMPLATE2(found, fmax)
WGI_DUAL_TEMPLATE2(found, fmin)
WGI_DUAL_TEMPLATE2(found, fdim)
WGI_DUAL_TEMPLATE3(named, clamp)
WGI_DUAL_TEMPLATE4(named, select_lt)
WGI_DUAL_TEMPLATE4(named, select_le)
WGI_DUAL_TEMPLATE4(named, select_gt)
WGI_DUAL_TEMPLATE4(named, select_ge)
WGI_DUAL_TEMPLATE4(named, select_eq)
WGI_DUAL_TEMPLATE4(named, select_ne)
WGI_DUAL_TEMPLATE1(named, stop_gradient)

WGI_DUAL_OPERATOR2(+, add)
WGI_DUAL_OPERATOR2(-, sub)
WGI_DUAL_OPERATOR2(*, mul)
WGI_DUAL_OPERATOR2(/, div)
WGI_DUAL_OPERATOR1(-, neg)
#endif

#endif
