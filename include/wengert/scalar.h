/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar.def by ops/generate.c: `make generate`. Do not edit.
 *
 * Per operation: its value, its first partials (wgi_op_NAME_da is d/da), and the macro.
 * Letters: a b c d operand values, v the value. */
#ifndef WENGERT_SCALAR_H
#define WENGERT_SCALAR_H

#include <math.h>
#include <wengert/special.h>
#include <wengert/statement.h>

/* The number of an operation in kept code; only ever appended to. */
enum {
    WGI_OP_neg = 0,
    WGI_OP_add = 1,
    WGI_OP_sub = 2,
    WGI_OP_mul = 3,
    WGI_OP_div = 4,
    WGI_OP_fma = 5,
    WGI_OP_inv = 6,
    WGI_OP_square = 7,
    WGI_OP_cube = 8,
    WGI_OP_fmod = 9,
    WGI_OP_remainder = 10,
    WGI_OP_sqrt = 11,
    WGI_OP_cbrt = 12,
    WGI_OP_rsqrt = 13,
    WGI_OP_pow = 14,
    WGI_OP_hypot = 15,
    WGI_OP_exp = 16,
    WGI_OP_exp2 = 17,
    WGI_OP_exp10 = 18,
    WGI_OP_expm1 = 19,
    WGI_OP_log = 20,
    WGI_OP_log2 = 21,
    WGI_OP_log10 = 22,
    WGI_OP_log1p = 23,
    WGI_OP_log1mx = 24,
    WGI_OP_log1mexp = 25,
    WGI_OP_log_base = 26,
    WGI_OP_xlogy = 27,
    WGI_OP_log_sum_exp = 28,
    WGI_OP_log_diff_exp = 29,
    WGI_OP_sigmoid = 30,
    WGI_OP_log_sigmoid = 31,
    WGI_OP_softplus = 32,
    WGI_OP_logit = 33,
    WGI_OP_sin = 34,
    WGI_OP_cos = 35,
    WGI_OP_tan = 36,
    WGI_OP_sec = 37,
    WGI_OP_csc = 38,
    WGI_OP_cot = 39,
    WGI_OP_asin = 40,
    WGI_OP_acos = 41,
    WGI_OP_atan = 42,
    WGI_OP_asec = 43,
    WGI_OP_acsc = 44,
    WGI_OP_acot = 45,
    WGI_OP_atan2 = 46,
    WGI_OP_sinpi = 47,
    WGI_OP_cospi = 48,
    WGI_OP_sinh = 49,
    WGI_OP_cosh = 50,
    WGI_OP_tanh = 51,
    WGI_OP_sech = 52,
    WGI_OP_csch = 53,
    WGI_OP_coth = 54,
    WGI_OP_asinh = 55,
    WGI_OP_acosh = 56,
    WGI_OP_atanh = 57,
    WGI_OP_asech = 58,
    WGI_OP_acsch = 59,
    WGI_OP_acoth = 60,
    WGI_OP_erf = 61,
    WGI_OP_erfc = 62,
    WGI_OP_erfcx = 63,
    WGI_OP_Phi = 64,
    WGI_OP_log_Phi = 65,
    WGI_OP_inv_Phi = 66,
    WGI_OP_lgamma = 67,
    WGI_OP_tgamma = 68,
    WGI_OP_digamma = 69,
    WGI_OP_j0 = 70,
    WGI_OP_j1 = 71,
    WGI_OP_y0 = 72,
    WGI_OP_y1 = 73,
    WGI_OP_lambertw0 = 74,
    WGI_OP_lambertwm1 = 75,
    WGI_OP_floor = 76,
    WGI_OP_ceil = 77,
    WGI_OP_trunc = 78,
    WGI_OP_round = 79,
    WGI_OP_rint = 80,
    WGI_OP_sign = 81,
    WGI_OP_fabs = 82,
    WGI_OP_relu = 83,
    WGI_OP_copysign = 84,
    WGI_OP_fmax = 85,
    WGI_OP_fmin = 86,
    WGI_OP_fdim = 87,
    WGI_OP_clamp = 88,
    WGI_OP_select_lt = 89,
    WGI_OP_select_le = 90,
    WGI_OP_select_gt = 91,
    WGI_OP_select_ge = 92,
    WGI_OP_select_eq = 93,
    WGI_OP_select_ne = 94,
    WGI_OP_stop_gradient = 95,
    WGI_OP_COUNT = 96
};

/* neg: linearity */
WGI_FUNCTION double wgi_op_neg_v(double a) { return -a; }
WGI_FUNCTION double wgi_op_neg_da(double a, double v) { (void)a; (void)v; return -1.0; }

/* add: linearity */
WGI_FUNCTION double wgi_op_add_v(double a, double b) { return a + b; }
WGI_FUNCTION double wgi_op_add_da(double a, double b, double v) { (void)a; (void)b; (void)v; return 1; }
WGI_FUNCTION double wgi_op_add_db(double a, double b, double v) { (void)a; (void)b; (void)v; return 1; }

/* sub: linearity */
WGI_FUNCTION double wgi_op_sub_v(double a, double b) { return a - b; }
WGI_FUNCTION double wgi_op_sub_da(double a, double b, double v) { (void)a; (void)b; (void)v; return 1; }
WGI_FUNCTION double wgi_op_sub_db(double a, double b, double v) { (void)a; (void)b; (void)v; return -1.0; }

/* mul: product rule */
WGI_FUNCTION double wgi_op_mul_v(double a, double b) { return a * b; }
WGI_FUNCTION double wgi_op_mul_da(double a, double b, double v) { (void)a; (void)v; return b; }
WGI_FUNCTION double wgi_op_mul_db(double a, double b, double v) { (void)b; (void)v; return a; }

/* div: quotient rule */
WGI_FUNCTION double wgi_op_div_v(double a, double b) { return a / b; }
WGI_FUNCTION double wgi_op_div_da(double a, double b, double v) { (void)a; (void)v; return 1 / b; }
WGI_FUNCTION double wgi_op_div_db(double a, double b, double v) { (void)a; return -v / b; }

/* fma: product rule; C11 7.12.13.1 */
WGI_FUNCTION double wgi_op_fma_v(double a, double b, double c) { return fma(a, b, c); }
WGI_FUNCTION double wgi_op_fma_da(double a, double b, double c, double v) { (void)a; (void)c; (void)v; return b; }
WGI_FUNCTION double wgi_op_fma_db(double a, double b, double c, double v) { (void)b; (void)c; (void)v; return a; }
WGI_FUNCTION double wgi_op_fma_dc(double a, double b, double c, double v) { (void)a; (void)b; (void)c; (void)v; return 1; }

/* inv: quotient rule */
WGI_FUNCTION double wgi_op_inv_v(double a) { return 1 / a; }
WGI_FUNCTION double wgi_op_inv_da(double a, double v) { (void)a; return -v * v; }

/* square: power rule */
WGI_FUNCTION double wgi_op_square_v(double a) { return a * a; }
WGI_FUNCTION double wgi_op_square_da(double a, double v) { (void)v; return 2 * a; }

/* cube: power rule */
WGI_FUNCTION double wgi_op_cube_v(double a) { return a * a * a; }
WGI_FUNCTION double wgi_op_cube_da(double a, double v) { (void)v; return 3 * a * a; }

/* fmod: a = n b + v, n = trunc(a/b) held */
WGI_FUNCTION double wgi_op_fmod_v(double a, double b) { return fmod(a, b); }
WGI_FUNCTION double wgi_op_fmod_da(double a, double b, double v) { (void)a; (void)b; (void)v; return 1; }
WGI_FUNCTION double wgi_op_fmod_db(double a, double b, double v) { return -rint((a - v) / b); }

/* remainder: a = n b + v, n = rint(a/b) held; IEC 60559 */
WGI_FUNCTION double wgi_op_remainder_v(double a, double b) { return remainder(a, b); }
WGI_FUNCTION double wgi_op_remainder_da(double a, double b, double v) { (void)a; (void)b; (void)v; return 1; }
WGI_FUNCTION double wgi_op_remainder_db(double a, double b, double v) { return -rint((a - v) / b); }

/* sqrt: power rule; DLMF 4.4.1 */
WGI_FUNCTION double wgi_op_sqrt_v(double a) { return sqrt(a); }
WGI_FUNCTION double wgi_op_sqrt_da(double a, double v) { (void)a; return 0.5 / (v + 0); }

/* cbrt: power rule */
WGI_FUNCTION double wgi_op_cbrt_v(double a) { return cbrt(a); }
WGI_FUNCTION double wgi_op_cbrt_da(double a, double v) { (void)a; return 1 / (3 * v * v); }

/* rsqrt: power rule */
WGI_FUNCTION double wgi_op_rsqrt_v(double a) { return 1 / sqrt(a); }
WGI_FUNCTION double wgi_op_rsqrt_da(double a, double v) { return -0.5 * v / a; }

/* pow: DLMF 4.2.26 */
WGI_FUNCTION double wgi_op_pow_v(double a, double b) { return pow(a, b); }
WGI_FUNCTION double wgi_op_pow_da(double a, double b, double v) { return wgi_pow_da(a, b, v); }
WGI_FUNCTION double wgi_op_pow_db(double a, double b, double v) { return wgi_pow_db(a, b, v); }

/* hypot: chain rule; 0 at the cone tip */
WGI_FUNCTION double wgi_op_hypot_v(double a, double b) { return hypot(a, b); }
WGI_FUNCTION double wgi_op_hypot_da(double a, double b, double v) { return wgi_hypot_da(a, b, v); }
WGI_FUNCTION double wgi_op_hypot_db(double a, double b, double v) { return wgi_hypot_da(b, a, v); }

/* exp: DLMF 4.7.7 */
WGI_FUNCTION double wgi_op_exp_v(double a) { return exp(a); }
WGI_FUNCTION double wgi_op_exp_da(double a, double v) { (void)a; return v; }

/* exp2: DLMF 4.7.10 */
WGI_FUNCTION double wgi_op_exp2_v(double a) { return exp2(a); }
WGI_FUNCTION double wgi_op_exp2_da(double a, double v) { return wgi_exp2_times(a, v, 0.693147180559945309417); }

/* exp10: DLMF 4.7.10 */
WGI_FUNCTION double wgi_op_exp10_v(double a) { return pow(10.0, a); }
WGI_FUNCTION double wgi_op_exp10_da(double a, double v) { (void)a; return 2.30258509299404568402 * v; }

/* expm1: DLMF 4.7.7 */
WGI_FUNCTION double wgi_op_expm1_v(double a) { return expm1(a); }
WGI_FUNCTION double wgi_op_expm1_da(double a, double v) { (void)v; return exp(a); }

/* log: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log_v(double a) { return log(a); }
WGI_FUNCTION double wgi_op_log_da(double a, double v) { return (a < 0 ? v : 1 / (a + 0)); }

/* log2: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log2_v(double a) { return log2(a); }
WGI_FUNCTION double wgi_op_log2_da(double a, double v) { return (a < 0 ? v : 1.44269504088896340736 / (a + 0)); }

/* log10: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log10_v(double a) { return log10(a); }
WGI_FUNCTION double wgi_op_log10_da(double a, double v) { return (a < 0 ? v : 0.434294481903251827651 / (a + 0)); }

/* log1p: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log1p_v(double a) { return log1p(a); }
WGI_FUNCTION double wgi_op_log1p_da(double a, double v) { return (a < -1 ? v : 1 / (1 + a)); }

/* log1mx: log(1 - a); DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log1mx_v(double a) { return log1p(-a); }
WGI_FUNCTION double wgi_op_log1mx_da(double a, double v) { return (a > 1 ? v : -1 / (1 - a)); }

/* log1mexp: log(1 - exp a), a < 0; Maechler 2012 */
WGI_FUNCTION double wgi_op_log1mexp_v(double a) { return wgi_log1mexp(a); }
WGI_FUNCTION double wgi_op_log1mexp_da(double a, double v) { (void)v; return wgi_log1mexp_d(a); }

/* log_base: log a / log b; DLMF 4.2.19 */
WGI_FUNCTION double wgi_op_log_base_v(double a, double b) { return wgi_log_base(a, b); }
WGI_FUNCTION double wgi_op_log_base_da(double a, double b, double v) { return wgi_log_base_da(a, b, v); }
WGI_FUNCTION double wgi_op_log_base_db(double a, double b, double v) { return wgi_log_base_db(a, b, v); }

/* xlogy: a log b, 0 where a is 0 */
WGI_FUNCTION double wgi_op_xlogy_v(double a, double b) { return wgi_xlogy(a, b); }
WGI_FUNCTION double wgi_op_xlogy_da(double a, double b, double v) { (void)a; (void)v; return log(b); }
WGI_FUNCTION double wgi_op_xlogy_db(double a, double b, double v) { (void)v; return a / b; }

/* log_sum_exp: softmax; Blanchard, Higham, Higham 2021 */
WGI_FUNCTION double wgi_op_log_sum_exp_v(double a, double b) { return wgi_log_sum_exp(a, b); }
WGI_FUNCTION double wgi_op_log_sum_exp_da(double a, double b, double v) { (void)v; return wgi_log_sum_exp_da(a, b); }
WGI_FUNCTION double wgi_op_log_sum_exp_db(double a, double b, double v) { (void)v; return wgi_log_sum_exp_da(b, a); }

/* log_diff_exp: log(exp a - exp b); Maechler 2012 */
WGI_FUNCTION double wgi_op_log_diff_exp_v(double a, double b) { return wgi_log_diff_exp(a, b); }
WGI_FUNCTION double wgi_op_log_diff_exp_da(double a, double b, double v) { (void)v; return wgi_log_diff_exp_da(a, b); }
WGI_FUNCTION double wgi_op_log_diff_exp_db(double a, double b, double v) { (void)v; return wgi_log_diff_exp_db(a, b); }

/* sigmoid: 1 / (1 + exp -a) */
WGI_FUNCTION double wgi_op_sigmoid_v(double a) { return wgi_sigmoid(a); }
WGI_FUNCTION double wgi_op_sigmoid_da(double a, double v) { return wgi_sigmoid_d(a, v); }

/* log_sigmoid: -log(1 + exp -a) */
WGI_FUNCTION double wgi_op_log_sigmoid_v(double a) { return -wgi_softplus(-a); }
WGI_FUNCTION double wgi_op_log_sigmoid_da(double a, double v) { (void)v; return wgi_sigmoid(-a); }

/* softplus: log(1 + exp a) */
WGI_FUNCTION double wgi_op_softplus_v(double a) { return wgi_softplus(a); }
WGI_FUNCTION double wgi_op_softplus_da(double a, double v) { (void)v; return wgi_sigmoid(a); }

/* logit: log(a / (1 - a)) */
WGI_FUNCTION double wgi_op_logit_v(double a) { return wgi_logit(a); }
WGI_FUNCTION double wgi_op_logit_da(double a, double v) { (void)v; return wgi_logit_d(a); }

/* sin: DLMF 4.20.1 */
WGI_FUNCTION double wgi_op_sin_v(double a) { return sin(a); }
WGI_FUNCTION double wgi_op_sin_da(double a, double v) { (void)v; return cos(a); }

/* cos: DLMF 4.20.2 */
WGI_FUNCTION double wgi_op_cos_v(double a) { return cos(a); }
WGI_FUNCTION double wgi_op_cos_da(double a, double v) { (void)v; return -sin(a); }

/* tan: DLMF 4.20.3 */
WGI_FUNCTION double wgi_op_tan_v(double a) { return tan(a); }
WGI_FUNCTION double wgi_op_tan_da(double a, double v) { (void)a; return 1 + v * v; }

/* sec: DLMF 4.20.5 */
WGI_FUNCTION double wgi_op_sec_v(double a) { return 1 / cos(a); }
WGI_FUNCTION double wgi_op_sec_da(double a, double v) { return v * tan(a); }

/* csc: DLMF 4.20.4 */
WGI_FUNCTION double wgi_op_csc_v(double a) { return 1 / sin(a); }
WGI_FUNCTION double wgi_op_csc_da(double a, double v) { return -v / tan(a); }

/* cot: DLMF 4.20.6 */
WGI_FUNCTION double wgi_op_cot_v(double a) { return 1 / tan(a); }
WGI_FUNCTION double wgi_op_cot_da(double a, double v) { (void)a; return -(1 + v * v); }

/* asin: DLMF 4.24.7 */
WGI_FUNCTION double wgi_op_asin_v(double a) { return asin(a); }
WGI_FUNCTION double wgi_op_asin_da(double a, double v) { (void)v; return 1 / sqrt((1 - a) * (1 + a)); }

/* acos: DLMF 4.24.8 */
WGI_FUNCTION double wgi_op_acos_v(double a) { return acos(a); }
WGI_FUNCTION double wgi_op_acos_da(double a, double v) { (void)v; return -1 / sqrt((1 - a) * (1 + a)); }

/* atan: DLMF 4.24.9 */
WGI_FUNCTION double wgi_op_atan_v(double a) { return atan(a); }
WGI_FUNCTION double wgi_op_atan_da(double a, double v) { (void)v; return wgi_atan_d(a); }

/* asec: DLMF 4.24.11 */
WGI_FUNCTION double wgi_op_asec_v(double a) { return wgi_asec(a); }
WGI_FUNCTION double wgi_op_asec_da(double a, double v) { (void)v; return wgi_asec_d(a); }

/* acsc: DLMF 4.24.10 */
WGI_FUNCTION double wgi_op_acsc_v(double a) { return wgi_acsc(a); }
WGI_FUNCTION double wgi_op_acsc_da(double a, double v) { (void)v; return -wgi_asec_d(a); }

/* acot: arctan(1/a), DLMF 4.23.9, 4.24.12 */
WGI_FUNCTION double wgi_op_acot_v(double a) { return atan(1 / a); }
WGI_FUNCTION double wgi_op_acot_da(double a, double v) { (void)v; return -wgi_atan_d(a); }

/* atan2: DLMF 4.24.9 with 4.23.37 */
WGI_FUNCTION double wgi_op_atan2_v(double a, double b) { return atan2(a, b); }
WGI_FUNCTION double wgi_op_atan2_da(double a, double b, double v) { (void)v; return wgi_atan2_da(a, b); }
WGI_FUNCTION double wgi_op_atan2_db(double a, double b, double v) { (void)v; return -wgi_atan2_da(b, a); }

/* sinpi: sin(pi a) */
WGI_FUNCTION double wgi_op_sinpi_v(double a) { return wgi_sinpi(a); }
WGI_FUNCTION double wgi_op_sinpi_da(double a, double v) { (void)v; return 3.14159265358979323846 * wgi_cospi(a); }

/* cospi: cos(pi a) */
WGI_FUNCTION double wgi_op_cospi_v(double a) { return wgi_cospi(a); }
WGI_FUNCTION double wgi_op_cospi_da(double a, double v) { (void)v; return -3.14159265358979323846 * wgi_sinpi(a); }

/* sinh: DLMF 4.34.1 */
WGI_FUNCTION double wgi_op_sinh_v(double a) { return sinh(a); }
WGI_FUNCTION double wgi_op_sinh_da(double a, double v) { (void)v; return cosh(a); }

/* cosh: DLMF 4.34.2 */
WGI_FUNCTION double wgi_op_cosh_v(double a) { return cosh(a); }
WGI_FUNCTION double wgi_op_cosh_da(double a, double v) { (void)v; return sinh(a); }

/* tanh: DLMF 4.34.3 */
WGI_FUNCTION double wgi_op_tanh_v(double a) { return wgi_tanh(a); }
WGI_FUNCTION double wgi_op_tanh_da(double a, double v) { return wgi_tanh_d(a, v); }

/* sech: DLMF 4.34.5 */
WGI_FUNCTION double wgi_op_sech_v(double a) { return wgi_sech(a); }
WGI_FUNCTION double wgi_op_sech_da(double a, double v) { return -v * wgi_tanh(a); }

/* csch: DLMF 4.34.4 */
WGI_FUNCTION double wgi_op_csch_v(double a) { return wgi_csch(a); }
WGI_FUNCTION double wgi_op_csch_da(double a, double v) { return -v / wgi_tanh(a); }

/* coth: DLMF 4.34.6 */
WGI_FUNCTION double wgi_op_coth_v(double a) { return 1 / wgi_tanh(a); }
WGI_FUNCTION double wgi_op_coth_da(double a, double v) { (void)v; return -wgi_csch(a) * wgi_csch(a); }

/* asinh: DLMF 4.38.9 */
WGI_FUNCTION double wgi_op_asinh_v(double a) { return asinh(a); }
WGI_FUNCTION double wgi_op_asinh_da(double a, double v) { (void)v; return wgi_asinh_d(a); }

/* acosh: DLMF 4.38.10 */
WGI_FUNCTION double wgi_op_acosh_v(double a) { return acosh(a); }
WGI_FUNCTION double wgi_op_acosh_da(double a, double v) { (void)v; return wgi_acosh_d(a); }

/* atanh: DLMF 4.38.11 */
WGI_FUNCTION double wgi_op_atanh_v(double a) { return atanh(a); }
WGI_FUNCTION double wgi_op_atanh_da(double a, double v) { return (fabs(a) > 1 ? v : 1 / ((1 - a) * (1 + a))); }

/* asech: DLMF 4.38.13 */
WGI_FUNCTION double wgi_op_asech_v(double a) { return wgi_asech(a); }
WGI_FUNCTION double wgi_op_asech_da(double a, double v) { (void)v; return wgi_asech_d(a); }

/* acsch: DLMF 4.38.12 */
WGI_FUNCTION double wgi_op_acsch_v(double a) { return wgi_acsch(a); }
WGI_FUNCTION double wgi_op_acsch_da(double a, double v) { (void)v; return wgi_acsch_d(a); }

/* acoth: DLMF 4.38.14 */
WGI_FUNCTION double wgi_op_acoth_v(double a) { return wgi_acoth(a); }
WGI_FUNCTION double wgi_op_acoth_da(double a, double v) { (void)v; return wgi_acoth_d(a); }

/* erf: DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_erf_v(double a) { return erf(a); }
WGI_FUNCTION double wgi_op_erf_da(double a, double v) { (void)v; return 1.12837916709551257390 * wgi_exp_msq(a); }

/* erfc: DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_erfc_v(double a) { return erfc(a); }
WGI_FUNCTION double wgi_op_erfc_da(double a, double v) { (void)v; return -1.12837916709551257390 * wgi_exp_msq(a); }

/* erfcx: exp(a^2) erfc a; DLMF 7.9.3 */
WGI_FUNCTION double wgi_op_erfcx_v(double a) { return wgi_erfcx(a); }
WGI_FUNCTION double wgi_op_erfcx_da(double a, double v) { return wgi_erfcx_d(a, v); }

/* Phi: normal distribution; DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_Phi_v(double a) { return wgi_Phi(a); }
WGI_FUNCTION double wgi_op_Phi_da(double a, double v) { (void)v; return wgi_phi(a); }

/* log_Phi: Mills ratio; DLMF 7.8.1, 7.9.3 */
WGI_FUNCTION double wgi_op_log_Phi_v(double a) { return wgi_log_Phi(a); }
WGI_FUNCTION double wgi_op_log_Phi_da(double a, double v) { (void)v; return wgi_log_Phi_d(a); }

/* inv_Phi: normal quantile; inverse function rule */
WGI_FUNCTION double wgi_op_inv_Phi_v(double a) { return wgi_inv_Phi(a); }
WGI_FUNCTION double wgi_op_inv_Phi_da(double a, double v) { return wgi_inv_Phi_d(a, v); }

/* lgamma: log |Gamma|; DLMF 5.2.2 */
WGI_FUNCTION double wgi_op_lgamma_v(double a) { return wgi_lgamma(a); }
WGI_FUNCTION double wgi_op_lgamma_da(double a, double v) { (void)v; return wgi_digamma(a); }

/* tgamma: DLMF 5.2.2 */
WGI_FUNCTION double wgi_op_tgamma_v(double a) { return tgamma(a); }
WGI_FUNCTION double wgi_op_tgamma_da(double a, double v) { return wgi_tgamma_d(a, v); }

/* digamma: DLMF 5.15.1 */
WGI_FUNCTION double wgi_op_digamma_v(double a) { return wgi_digamma(a); }
WGI_FUNCTION double wgi_op_digamma_da(double a, double v) { (void)v; return wgi_trigamma(a); }

/* j0: DLMF 10.6.3 */
WGI_FUNCTION double wgi_op_j0_v(double a) { return wgi_j0(a); }
WGI_FUNCTION double wgi_op_j0_da(double a, double v) { (void)v; return -wgi_j1(a); }

/* j1: DLMF 10.6.2 */
WGI_FUNCTION double wgi_op_j1_v(double a) { return wgi_j1(a); }
WGI_FUNCTION double wgi_op_j1_da(double a, double v) { return wgi_j1_d(a, v); }

/* y0: DLMF 10.6.3 */
WGI_FUNCTION double wgi_op_y0_v(double a) { return wgi_y0(a); }
WGI_FUNCTION double wgi_op_y0_da(double a, double v) { (void)v; return -wgi_y1(a); }

/* y1: DLMF 10.6.2 */
WGI_FUNCTION double wgi_op_y1_v(double a) { return wgi_y1(a); }
WGI_FUNCTION double wgi_op_y1_da(double a, double v) { return wgi_y1_d(a, v); }

/* lambertw0: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION double wgi_op_lambertw0_v(double a) { return wgi_lambertw0(a); }
WGI_FUNCTION double wgi_op_lambertw0_da(double a, double v) { (void)v; return wgi_lambertw0_d(a); }

/* lambertwm1: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION double wgi_op_lambertwm1_v(double a) { return wgi_lambertwm1(a); }
WGI_FUNCTION double wgi_op_lambertwm1_da(double a, double v) { (void)v; return wgi_lambertwm1_d(a); }

/* floor: step */
WGI_FUNCTION double wgi_op_floor_v(double a) { return floor(a); }
WGI_FUNCTION double wgi_op_floor_da(double a, double v) { (void)a; (void)v; return 0; }

/* ceil: step */
WGI_FUNCTION double wgi_op_ceil_v(double a) { return ceil(a); }
WGI_FUNCTION double wgi_op_ceil_da(double a, double v) { (void)a; (void)v; return 0; }

/* trunc: step */
WGI_FUNCTION double wgi_op_trunc_v(double a) { return trunc(a); }
WGI_FUNCTION double wgi_op_trunc_da(double a, double v) { (void)a; (void)v; return 0; }

/* round: step; halves away from zero */
WGI_FUNCTION double wgi_op_round_v(double a) { return round(a); }
WGI_FUNCTION double wgi_op_round_da(double a, double v) { (void)a; (void)v; return 0; }

/* rint: step; halves to even in the default mode */
WGI_FUNCTION double wgi_op_rint_v(double a) { return rint(a); }
WGI_FUNCTION double wgi_op_rint_da(double a, double v) { (void)a; (void)v; return 0; }

/* sign: step */
WGI_FUNCTION double wgi_op_sign_v(double a) { return (a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? 0.0 : a); }
WGI_FUNCTION double wgi_op_sign_da(double a, double v) { (void)a; (void)v; return 0; }

/* fabs: sign, 0 at 0 */
WGI_FUNCTION double wgi_op_fabs_v(double a) { return fabs(a); }
WGI_FUNCTION double wgi_op_fabs_da(double a, double v) { (void)v; return (a > 0 ? 1.0 : a < 0 ? -1.0 : a); }

/* relu: 0 at 0 */
WGI_FUNCTION double wgi_op_relu_v(double a) { return (a <= 0 ? 0.0 : a); }
WGI_FUNCTION double wgi_op_relu_da(double a, double v) { (void)v; return (a > 0 ? 1.0 : a <= 0 ? 0.0 : a); }

/* copysign: |a| times the sign of b */
WGI_FUNCTION double wgi_op_copysign_v(double a, double b) { return copysign(a, b); }
WGI_FUNCTION double wgi_op_copysign_da(double a, double b, double v) { (void)v; return (a > 0 ? 1.0 : a < 0 ? -1.0 : a) * copysign(1.0, b); }
WGI_FUNCTION double wgi_op_copysign_db(double a, double b, double v) { (void)a; (void)b; (void)v; return 0; }

/* fmax: a tie splits evenly */
WGI_FUNCTION double wgi_op_fmax_v(double a, double b) { return (a > b || b != b || (a == b && signbit(b)) ? a : b); }
WGI_FUNCTION double wgi_op_fmax_da(double a, double b, double v) { (void)v; return (a > b || b != b ? 1.0 : a == b ? 0.5 : 0.0); }
WGI_FUNCTION double wgi_op_fmax_db(double a, double b, double v) { (void)v; return (b > a || a != a ? 1.0 : a == b ? 0.5 : 0.0); }

/* fmin: a tie splits evenly */
WGI_FUNCTION double wgi_op_fmin_v(double a, double b) { return (a < b || b != b || (a == b && signbit(a)) ? a : b); }
WGI_FUNCTION double wgi_op_fmin_da(double a, double b, double v) { (void)v; return (a < b || b != b ? 1.0 : a == b ? 0.5 : 0.0); }
WGI_FUNCTION double wgi_op_fmin_db(double a, double b, double v) { (void)v; return (b < a || a != a ? 1.0 : a == b ? 0.5 : 0.0); }

/* fdim: relu(a - b) */
WGI_FUNCTION double wgi_op_fdim_v(double a, double b) { return fdim(a, b); }
WGI_FUNCTION double wgi_op_fdim_da(double a, double b, double v) { return (a > b ? 1.0 : a <= b ? 0.0 : v); }
WGI_FUNCTION double wgi_op_fdim_db(double a, double b, double v) { return (a > b ? -1.0 : a <= b ? 0.0 : v); }

/* clamp: a in the closed interval [b, c] */
WGI_FUNCTION double wgi_op_clamp_v(double a, double b, double c) { return (a < b ? b : a > c ? c : a); }
WGI_FUNCTION double wgi_op_clamp_da(double a, double b, double c, double v) { (void)v; return (a < b || a > c ? 0.0 : 1.0); }
WGI_FUNCTION double wgi_op_clamp_db(double a, double b, double c, double v) { (void)c; (void)v; return (a < b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_clamp_dc(double a, double b, double c, double v) { (void)v; return (a > c && !(a < b) ? 1.0 : 0.0); }

/* select_lt: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_lt_v(double a, double b, double c, double d) { return (a < b ? c : d); }
WGI_FUNCTION double wgi_op_select_lt_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_lt_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_lt_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a < b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_lt_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a < b ? 0.0 : 1.0); }

/* select_le: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_le_v(double a, double b, double c, double d) { return (a <= b ? c : d); }
WGI_FUNCTION double wgi_op_select_le_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_le_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_le_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a <= b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_le_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a <= b ? 0.0 : 1.0); }

/* select_gt: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_gt_v(double a, double b, double c, double d) { return (a > b ? c : d); }
WGI_FUNCTION double wgi_op_select_gt_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_gt_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_gt_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a > b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_gt_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a > b ? 0.0 : 1.0); }

/* select_ge: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_ge_v(double a, double b, double c, double d) { return (a >= b ? c : d); }
WGI_FUNCTION double wgi_op_select_ge_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_ge_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_ge_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a >= b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_ge_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a >= b ? 0.0 : 1.0); }

/* select_eq: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_eq_v(double a, double b, double c, double d) { return (a == b ? c : d); }
WGI_FUNCTION double wgi_op_select_eq_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_eq_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_eq_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a == b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_eq_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a == b ? 0.0 : 1.0); }

/* select_ne: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_ne_v(double a, double b, double c, double d) { return (a != b ? c : d); }
WGI_FUNCTION double wgi_op_select_ne_da(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_ne_db(double a, double b, double c, double d, double v) { (void)a; (void)b; (void)c; (void)d; (void)v; return 0; }
WGI_FUNCTION double wgi_op_select_ne_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a != b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_ne_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a != b ? 0.0 : 1.0); }

/* stop_gradient: the identity, taken for a constant */
WGI_FUNCTION double wgi_op_stop_gradient_v(double a) { return a; }
WGI_FUNCTION double wgi_op_stop_gradient_da(double a, double v) { (void)a; (void)v; return 0; }

#ifdef __cplusplus
#include <wengert/scalar.hpp>
#else

#define wg_neg(x) WGI_OP1(neg, WGI_OP_neg, WGI_ARITH, x) /* needs wg_let */
#define wg_add(x, y) WGI_OP2(add, WGI_OP_add, WGI_ARITH, x, y) /* needs wg_let */
#define wg_sub(x, y) WGI_OP2(sub, WGI_OP_sub, WGI_ARITH, x, y) /* needs wg_let */
#define wg_mul(x, y) WGI_OP2(mul, WGI_OP_mul, WGI_ARITH, x, y) /* needs wg_let */
#define wg_div(x, y) WGI_OP2(div, WGI_OP_div, WGI_SING, x, y) /* needs wg_let */
#define wg_fma(x, y, z) WGI_OP3(fma, WGI_OP_fma, WGI_ARITH, x, y, z) /* needs wg_let */
#define wg_inv(x) WGI_OP1(inv, WGI_OP_inv, WGI_SING, x) /* needs wg_let */
#define wg_square(x) WGI_OP1(square, WGI_OP_square, WGI_ARITH, x) /* needs wg_let */
#define wg_cube(x) WGI_OP1(cube, WGI_OP_cube, WGI_ARITH, x) /* needs wg_let */
#define wg_fmod(x, y) WGI_OP2(fmod, WGI_OP_fmod, WGI_SING, x, y) /* needs wg_let */
#define wg_remainder(x, y) WGI_OP2(remainder, WGI_OP_remainder, WGI_SING, x, y) /* needs wg_let */
#define wg_sqrt(x) WGI_OP1(sqrt, WGI_OP_sqrt, WGI_SING, x) /* needs wg_let */
#define wg_cbrt(x) WGI_OP1(cbrt, WGI_OP_cbrt, WGI_SING, x) /* needs wg_let */
#define wg_rsqrt(x) WGI_OP1(rsqrt, WGI_OP_rsqrt, WGI_SING, x) /* needs wg_let */
#define wg_pow(x, y) WGI_OP2(pow, WGI_OP_pow, WGI_SING, x, y) /* needs wg_let */
#define wg_hypot(x, y) WGI_OP2(hypot, WGI_OP_hypot, WGI_SING, x, y) /* needs wg_let */
#define wg_exp(x) WGI_OP1(exp, WGI_OP_exp, WGI_GUARD, x) /* needs wg_let */
#define wg_exp2(x) WGI_OP1(exp2, WGI_OP_exp2, WGI_GUARD, x) /* needs wg_let */
#define wg_exp10(x) WGI_OP1(exp10, WGI_OP_exp10, WGI_GUARD, x) /* needs wg_let */
#define wg_expm1(x) WGI_OP1(expm1, WGI_OP_expm1, WGI_GUARD, x) /* needs wg_let */
#define wg_log(x) WGI_OP1(log, WGI_OP_log, WGI_SING, x) /* needs wg_let */
#define wg_log2(x) WGI_OP1(log2, WGI_OP_log2, WGI_SING, x) /* needs wg_let */
#define wg_log10(x) WGI_OP1(log10, WGI_OP_log10, WGI_SING, x) /* needs wg_let */
#define wg_log1p(x) WGI_OP1(log1p, WGI_OP_log1p, WGI_SING, x) /* needs wg_let */
#define wg_log1mx(x) WGI_OP1(log1mx, WGI_OP_log1mx, WGI_SING, x) /* needs wg_let */
#define wg_log1mexp(x) WGI_OP1(log1mexp, WGI_OP_log1mexp, WGI_SING, x) /* needs wg_let */
#define wg_log_base(x, y) WGI_OP2(log_base, WGI_OP_log_base, WGI_SING, x, y) /* needs wg_let */
#define wg_xlogy(x, y) WGI_OP2(xlogy, WGI_OP_xlogy, WGI_SING, x, y) /* needs wg_let */
#define wg_log_sum_exp(x, y) WGI_OP2(log_sum_exp, WGI_OP_log_sum_exp, WGI_GUARD, x, y) /* needs wg_let */
#define wg_log_diff_exp(x, y) WGI_OP2(log_diff_exp, WGI_OP_log_diff_exp, WGI_SING, x, y) /* needs wg_let */
#define wg_sigmoid(x) WGI_OP1(sigmoid, WGI_OP_sigmoid, WGI_GUARD, x) /* needs wg_let */
#define wg_log_sigmoid(x) WGI_OP1(log_sigmoid, WGI_OP_log_sigmoid, WGI_GUARD, x) /* needs wg_let */
#define wg_softplus(x) WGI_OP1(softplus, WGI_OP_softplus, WGI_GUARD, x) /* needs wg_let */
#define wg_logit(x) WGI_OP1(logit, WGI_OP_logit, WGI_SING, x) /* needs wg_let */
#define wg_sin(x) WGI_OP1(sin, WGI_OP_sin, WGI_GUARD, x) /* needs wg_let */
#define wg_cos(x) WGI_OP1(cos, WGI_OP_cos, WGI_GUARD, x) /* needs wg_let */
#define wg_tan(x) WGI_OP1(tan, WGI_OP_tan, WGI_GUARD, x) /* needs wg_let */
#define wg_sec(x) WGI_OP1(sec, WGI_OP_sec, WGI_GUARD, x) /* needs wg_let */
#define wg_csc(x) WGI_OP1(csc, WGI_OP_csc, WGI_SING, x) /* needs wg_let */
#define wg_cot(x) WGI_OP1(cot, WGI_OP_cot, WGI_SING, x) /* needs wg_let */
#define wg_asin(x) WGI_OP1(asin, WGI_OP_asin, WGI_SING, x) /* needs wg_let */
#define wg_acos(x) WGI_OP1(acos, WGI_OP_acos, WGI_SING, x) /* needs wg_let */
#define wg_atan(x) WGI_OP1(atan, WGI_OP_atan, WGI_GUARD, x) /* needs wg_let */
#define wg_asec(x) WGI_OP1(asec, WGI_OP_asec, WGI_SING, x) /* needs wg_let */
#define wg_acsc(x) WGI_OP1(acsc, WGI_OP_acsc, WGI_SING, x) /* needs wg_let */
#define wg_acot(x) WGI_OP1(acot, WGI_OP_acot, WGI_GUARD, x) /* needs wg_let */
#define wg_atan2(x, y) WGI_OP2(atan2, WGI_OP_atan2, WGI_SING, x, y) /* needs wg_let */
#define wg_sinpi(x) WGI_OP1(sinpi, WGI_OP_sinpi, WGI_GUARD, x) /* needs wg_let */
#define wg_cospi(x) WGI_OP1(cospi, WGI_OP_cospi, WGI_GUARD, x) /* needs wg_let */
#define wg_sinh(x) WGI_OP1(sinh, WGI_OP_sinh, WGI_GUARD, x) /* needs wg_let */
#define wg_cosh(x) WGI_OP1(cosh, WGI_OP_cosh, WGI_GUARD, x) /* needs wg_let */
#define wg_tanh(x) WGI_OP1(tanh, WGI_OP_tanh, WGI_GUARD, x) /* needs wg_let */
#define wg_sech(x) WGI_OP1(sech, WGI_OP_sech, WGI_GUARD, x) /* needs wg_let */
#define wg_csch(x) WGI_OP1(csch, WGI_OP_csch, WGI_SING, x) /* needs wg_let */
#define wg_coth(x) WGI_OP1(coth, WGI_OP_coth, WGI_SING, x) /* needs wg_let */
#define wg_asinh(x) WGI_OP1(asinh, WGI_OP_asinh, WGI_GUARD, x) /* needs wg_let */
#define wg_acosh(x) WGI_OP1(acosh, WGI_OP_acosh, WGI_SING, x) /* needs wg_let */
#define wg_atanh(x) WGI_OP1(atanh, WGI_OP_atanh, WGI_SING, x) /* needs wg_let */
#define wg_asech(x) WGI_OP1(asech, WGI_OP_asech, WGI_SING, x) /* needs wg_let */
#define wg_acsch(x) WGI_OP1(acsch, WGI_OP_acsch, WGI_SING, x) /* needs wg_let */
#define wg_acoth(x) WGI_OP1(acoth, WGI_OP_acoth, WGI_SING, x) /* needs wg_let */
#define wg_erf(x) WGI_OP1(erf, WGI_OP_erf, WGI_GUARD, x) /* needs wg_let */
#define wg_erfc(x) WGI_OP1(erfc, WGI_OP_erfc, WGI_GUARD, x) /* needs wg_let */
#define wg_erfcx(x) WGI_OP1(erfcx, WGI_OP_erfcx, WGI_GUARD, x) /* needs wg_let */
#define wg_Phi(x) WGI_OP1(Phi, WGI_OP_Phi, WGI_GUARD, x) /* needs wg_let */
#define wg_log_Phi(x) WGI_OP1(log_Phi, WGI_OP_log_Phi, WGI_GUARD, x) /* needs wg_let */
#define wg_inv_Phi(x) WGI_OP1(inv_Phi, WGI_OP_inv_Phi, WGI_SING, x) /* needs wg_let */
#define wg_lgamma(x) WGI_OP1(lgamma, WGI_OP_lgamma, WGI_SING, x) /* needs wg_let */
#define wg_tgamma(x) WGI_OP1(tgamma, WGI_OP_tgamma, WGI_SING, x) /* needs wg_let */
#define wg_digamma(x) WGI_OP1(digamma, WGI_OP_digamma, WGI_SING, x) /* needs wg_let */
#define wg_j0(x) WGI_OP1(j0, WGI_OP_j0, WGI_GUARD, x) /* needs wg_let */
#define wg_j1(x) WGI_OP1(j1, WGI_OP_j1, WGI_GUARD, x) /* needs wg_let */
#define wg_y0(x) WGI_OP1(y0, WGI_OP_y0, WGI_SING, x) /* needs wg_let */
#define wg_y1(x) WGI_OP1(y1, WGI_OP_y1, WGI_SING, x) /* needs wg_let */
#define wg_lambertw0(x) WGI_OP1(lambertw0, WGI_OP_lambertw0, WGI_SING, x) /* needs wg_let */
#define wg_lambertwm1(x) WGI_OP1(lambertwm1, WGI_OP_lambertwm1, WGI_SING, x) /* needs wg_let */
#define wg_floor(x) WGI_OP1(floor, WGI_OP_floor, WGI_GUARD, x) /* needs wg_let */
#define wg_ceil(x) WGI_OP1(ceil, WGI_OP_ceil, WGI_GUARD, x) /* needs wg_let */
#define wg_trunc(x) WGI_OP1(trunc, WGI_OP_trunc, WGI_GUARD, x) /* needs wg_let */
#define wg_round(x) WGI_OP1(round, WGI_OP_round, WGI_GUARD, x) /* needs wg_let */
#define wg_rint(x) WGI_OP1(rint, WGI_OP_rint, WGI_GUARD, x) /* needs wg_let */
#define wg_sign(x) WGI_OP1(sign, WGI_OP_sign, WGI_GUARD, x) /* needs wg_let */
#define wg_fabs(x) WGI_OP1(fabs, WGI_OP_fabs, WGI_GUARD, x) /* needs wg_let */
#define wg_relu(x) WGI_OP1(relu, WGI_OP_relu, WGI_GUARD, x) /* needs wg_let */
#define wg_copysign(x, y) WGI_OP2(copysign, WGI_OP_copysign, WGI_GUARD, x, y) /* needs wg_let */
#define wg_fmax(x, y) WGI_OP2(fmax, WGI_OP_fmax, WGI_GUARD, x, y) /* needs wg_let */
#define wg_fmin(x, y) WGI_OP2(fmin, WGI_OP_fmin, WGI_GUARD, x, y) /* needs wg_let */
#define wg_fdim(x, y) WGI_OP2(fdim, WGI_OP_fdim, WGI_GUARD, x, y) /* needs wg_let */
#define wg_clamp(x, y, z) WGI_OP3(clamp, WGI_OP_clamp, WGI_GUARD, x, y, z) /* needs wg_let */
#define wg_select_lt(x, y, z, w) WGI_OP4(select_lt, WGI_OP_select_lt, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_select_le(x, y, z, w) WGI_OP4(select_le, WGI_OP_select_le, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_select_gt(x, y, z, w) WGI_OP4(select_gt, WGI_OP_select_gt, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_select_ge(x, y, z, w) WGI_OP4(select_ge, WGI_OP_select_ge, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_select_eq(x, y, z, w) WGI_OP4(select_eq, WGI_OP_select_eq, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_select_ne(x, y, z, w) WGI_OP4(select_ne, WGI_OP_select_ne, WGI_GUARD, x, y, z, w) /* needs wg_let */
#define wg_stop_gradient(x) WGI_OP1(stop_gradient, WGI_OP_stop_gradient, WGI_ARITH, x) /* needs wg_let */

#endif

#endif
