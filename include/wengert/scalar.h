/* SPDX-License-Identifier: MIT */
/* Generated from ops/scalar/scalar.def by ops/scalar/generate.c: `make generate`. Do not edit.
 *
 * Per operation: its value, its first partials (wgi_op_NAME_da is d/da), whether they call functions, and the macro.
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
    WGI_OP_reciprocal = 6,
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
    WGI_OP_log_add_exp = 28,
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

/* Numbers are compared for equality on purpose. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"

/* neg: linearity */
#define wgi_op_neg_v(a) (-(a))
#define wgi_op_neg_da(a, v) (-1.0)
enum { WGI_CODE_neg = WGI_CODE(0), WGI_ADDS_neg = WGI_ADDS(0), WGI_CALLS_neg = 0 };

/* add: linearity */
#define wgi_op_add_v(a, b) ((a) + (b))
#define wgi_op_add_da(a, b, v) (1.0)
#define wgi_op_add_db(a, b, v) (1.0)
enum { WGI_CODE_add = WGI_CODE(1), WGI_ADDS_add = WGI_ADDS(1), WGI_CALLS_add = 0 };

/* sub: linearity */
#define wgi_op_sub_v(a, b) ((a) - (b))
#define wgi_op_sub_da(a, b, v) (1.0)
#define wgi_op_sub_db(a, b, v) (-1.0)
enum { WGI_CODE_sub = WGI_CODE(2), WGI_ADDS_sub = WGI_ADDS(2), WGI_CALLS_sub = 0 };

/* mul: product rule */
#define wgi_op_mul_v(a, b) ((a) * (b))
#define wgi_op_mul_da(a, b, v) ((b))
#define wgi_op_mul_db(a, b, v) ((a))
enum { WGI_CODE_mul = WGI_CODE(3), WGI_ADDS_mul = WGI_ADDS(3), WGI_CALLS_mul = 0 };

/* div: quotient rule */
#define wgi_op_div_v(a, b) ((a) / (b))
#define wgi_op_div_da(a, b, v) (1 / (b))
#define wgi_op_div_db(a, b, v) (-(v) / (b))
enum { WGI_CODE_div = WGI_CODE(4), WGI_ADDS_div = WGI_ADDS(4), WGI_CALLS_div = 0 };

/* fma: product rule; C11 7.12.13.1 */
WGI_FUNCTION double wgi_op_fma_v(double a, double b, double c) { return fma(a, b, c); }
#define wgi_op_fma_da(a, b, c, v) ((b))
#define wgi_op_fma_db(a, b, c, v) ((a))
#define wgi_op_fma_dc(a, b, c, v) (1.0)
enum { WGI_CODE_fma = WGI_CODE(5), WGI_ADDS_fma = WGI_ADDS(5), WGI_CALLS_fma = 0 };

/* reciprocal: quotient rule */
#define wgi_op_reciprocal_v(a) (1 / (a))
#define wgi_op_reciprocal_da(a, v) (-(v) * (v))
enum { WGI_CODE_reciprocal = WGI_CODE(6), WGI_ADDS_reciprocal = WGI_ADDS(6), WGI_CALLS_reciprocal = 0 };

/* square: power rule */
WGI_FUNCTION double wgi_op_square_v(double a) { return a * a; }
#define wgi_op_square_da(a, v) (2 * (a))
enum { WGI_CODE_square = WGI_CODE(7), WGI_ADDS_square = WGI_ADDS(7), WGI_CALLS_square = 0 };

/* cube: power rule */
WGI_FUNCTION double wgi_op_cube_v(double a) { return a * a * a; }
#define wgi_op_cube_da(a, v) (3 * (a) * (a))
enum { WGI_CODE_cube = WGI_CODE(8), WGI_ADDS_cube = WGI_ADDS(8), WGI_CALLS_cube = 0 };

/* fmod: a = n b + v, n = trunc(a/b) held */
WGI_FUNCTION double wgi_op_fmod_v(double a, double b) { return fmod(a, b); }
#define wgi_op_fmod_da(a, b, v) (1.0)
WGI_FUNCTION double wgi_op_fmod_db(double a, double b, double v) { return -rint((a - v) / b); }
enum { WGI_CODE_fmod = WGI_CODE(9), WGI_ADDS_fmod = WGI_ADDS(9), WGI_CALLS_fmod = 1 };

/* remainder: a = n b + v, n = rint(a/b) held; IEC 60559 */
WGI_FUNCTION double wgi_op_remainder_v(double a, double b) { return remainder(a, b); }
#define wgi_op_remainder_da(a, b, v) (1.0)
WGI_FUNCTION double wgi_op_remainder_db(double a, double b, double v) { return -rint((a - v) / b); }
enum { WGI_CODE_remainder = WGI_CODE(10), WGI_ADDS_remainder = WGI_ADDS(10), WGI_CALLS_remainder = 1 };

/* sqrt: power rule; DLMF 4.4.1 */
WGI_FUNCTION double wgi_op_sqrt_v(double a) { return sqrt(a); }
#define wgi_op_sqrt_da(a, v) (0.5 / ((v) + 0))
enum { WGI_CODE_sqrt = WGI_CODE(11), WGI_ADDS_sqrt = WGI_ADDS(11), WGI_CALLS_sqrt = 0 };

/* cbrt: power rule */
WGI_FUNCTION double wgi_op_cbrt_v(double a) { return cbrt(a); }
#define wgi_op_cbrt_da(a, v) (1 / (3 * (v) * (v)))
enum { WGI_CODE_cbrt = WGI_CODE(12), WGI_ADDS_cbrt = WGI_ADDS(12), WGI_CALLS_cbrt = 0 };

/* rsqrt: power rule */
WGI_FUNCTION double wgi_op_rsqrt_v(double a) { return 1 / sqrt(a); }
#define wgi_op_rsqrt_da(a, v) (-0.5 * (v) / (a))
enum { WGI_CODE_rsqrt = WGI_CODE(13), WGI_ADDS_rsqrt = WGI_ADDS(13), WGI_CALLS_rsqrt = 0 };

/* pow: DLMF 4.2.26 */
WGI_FUNCTION double wgi_op_pow_v(double a, double b) { return pow(a, b); }
WGI_FUNCTION double wgi_op_pow_da(double a, double b, double v) { return wgi_pow_da(a, b, v); }
WGI_FUNCTION double wgi_op_pow_db(double a, double b, double v) { return wgi_pow_db(a, b, v); }
enum { WGI_CODE_pow = WGI_CODE(14), WGI_ADDS_pow = WGI_ADDS(14), WGI_CALLS_pow = 1 };

/* hypot: chain rule; 0 at the cone tip */
WGI_FUNCTION double wgi_op_hypot_v(double a, double b) { return hypot(a, b); }
WGI_FUNCTION double wgi_op_hypot_da(double a, double b, double v) { return wgi_hypot_da(a, b, v); }
WGI_FUNCTION double wgi_op_hypot_db(double a, double b, double v) { return wgi_hypot_da(b, a, v); }
enum { WGI_CODE_hypot = WGI_CODE(15), WGI_ADDS_hypot = WGI_ADDS(15), WGI_CALLS_hypot = 1 };

/* exp: DLMF 4.7.7 */
WGI_FUNCTION double wgi_op_exp_v(double a) { return exp(a); }
#define wgi_op_exp_da(a, v) ((v))
enum { WGI_CODE_exp = WGI_CODE(16), WGI_ADDS_exp = WGI_ADDS(16), WGI_CALLS_exp = 0 };

/* exp2: DLMF 4.7.10 */
WGI_FUNCTION double wgi_op_exp2_v(double a) { return exp2(a); }
WGI_FUNCTION double wgi_op_exp2_da(double a, double v) { return wgi_exp2_times(a, v, 0.693147180559945309417); }
enum { WGI_CODE_exp2 = WGI_CODE(17), WGI_ADDS_exp2 = WGI_ADDS(17), WGI_CALLS_exp2 = 1 };

/* exp10: DLMF 4.7.10 */
WGI_FUNCTION double wgi_op_exp10_v(double a) { return pow(10.0, a); }
#define wgi_op_exp10_da(a, v) (2.30258509299404568402 * (v))
enum { WGI_CODE_exp10 = WGI_CODE(18), WGI_ADDS_exp10 = WGI_ADDS(18), WGI_CALLS_exp10 = 0 };

/* expm1: DLMF 4.7.7 */
WGI_FUNCTION double wgi_op_expm1_v(double a) { return expm1(a); }
WGI_FUNCTION double wgi_op_expm1_da(double a, double v) { (void)v; return exp(a); }
enum { WGI_CODE_expm1 = WGI_CODE(19), WGI_ADDS_expm1 = WGI_ADDS(19), WGI_CALLS_expm1 = 1 };

/* log: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log_v(double a) { return log(a); }
WGI_FUNCTION double wgi_op_log_da(double a, double v) { return (a < 0 ? v : 1 / (a + 0)); }
enum { WGI_CODE_log = WGI_CODE(20), WGI_ADDS_log = WGI_ADDS(20), WGI_CALLS_log = 0 };

/* log2: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log2_v(double a) { return log2(a); }
WGI_FUNCTION double wgi_op_log2_da(double a, double v) { return (a < 0 ? v : 1.44269504088896340736 / (a + 0)); }
enum { WGI_CODE_log2 = WGI_CODE(21), WGI_ADDS_log2 = WGI_ADDS(21), WGI_CALLS_log2 = 0 };

/* log10: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log10_v(double a) { return log10(a); }
WGI_FUNCTION double wgi_op_log10_da(double a, double v) { return (a < 0 ? v : 0.434294481903251827651 / (a + 0)); }
enum { WGI_CODE_log10 = WGI_CODE(22), WGI_ADDS_log10 = WGI_ADDS(22), WGI_CALLS_log10 = 0 };

/* log1p: DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log1p_v(double a) { return log1p(a); }
WGI_FUNCTION double wgi_op_log1p_da(double a, double v) { return (a < -1 ? v : 1 / (1 + a)); }
enum { WGI_CODE_log1p = WGI_CODE(23), WGI_ADDS_log1p = WGI_ADDS(23), WGI_CALLS_log1p = 0 };

/* log1mx: log(1 - a); DLMF 4.7.1 */
WGI_FUNCTION double wgi_op_log1mx_v(double a) { return log1p(-a); }
WGI_FUNCTION double wgi_op_log1mx_da(double a, double v) { return (a > 1 ? v : -1 / (1 - a)); }
enum { WGI_CODE_log1mx = WGI_CODE(24), WGI_ADDS_log1mx = WGI_ADDS(24), WGI_CALLS_log1mx = 0 };

/* log1mexp: log(1 - exp a), a < 0; Maechler 2012 */
WGI_FUNCTION double wgi_op_log1mexp_v(double a) { return wgi_log1mexp(a); }
WGI_FUNCTION double wgi_op_log1mexp_da(double a, double v) { (void)v; return wgi_log1mexp_d(a); }
enum { WGI_CODE_log1mexp = WGI_CODE(25), WGI_ADDS_log1mexp = WGI_ADDS(25), WGI_CALLS_log1mexp = 1 };

/* log_base: log a / log b; DLMF 4.2.19 */
WGI_FUNCTION double wgi_op_log_base_v(double a, double b) { return wgi_log_base(a, b); }
WGI_FUNCTION double wgi_op_log_base_da(double a, double b, double v) { return wgi_log_base_da(a, b, v); }
WGI_FUNCTION double wgi_op_log_base_db(double a, double b, double v) { return wgi_log_base_db(a, b, v); }
enum { WGI_CODE_log_base = WGI_CODE(26), WGI_ADDS_log_base = WGI_ADDS(26), WGI_CALLS_log_base = 1 };

/* xlogy: a log b, 0 where a is 0 */
WGI_FUNCTION double wgi_op_xlogy_v(double a, double b) { return wgi_xlogy(a, b); }
WGI_FUNCTION double wgi_op_xlogy_da(double a, double b, double v) { (void)a; (void)v; return log(b); }
#define wgi_op_xlogy_db(a, b, v) ((a) / (b))
enum { WGI_CODE_xlogy = WGI_CODE(27), WGI_ADDS_xlogy = WGI_ADDS(27), WGI_CALLS_xlogy = 1 };

/* log_add_exp: softmax; Blanchard, Higham, Higham 2021 */
WGI_FUNCTION double wgi_op_log_add_exp_v(double a, double b) { return wgi_log_add_exp(a, b); }
WGI_FUNCTION double wgi_op_log_add_exp_da(double a, double b, double v) { (void)v; return wgi_log_add_exp_da(a, b); }
WGI_FUNCTION double wgi_op_log_add_exp_db(double a, double b, double v) { (void)v; return wgi_log_add_exp_da(b, a); }
enum { WGI_CODE_log_add_exp = WGI_CODE(28), WGI_ADDS_log_add_exp = WGI_ADDS(28), WGI_CALLS_log_add_exp = 1 };

/* log_diff_exp: log(exp a - exp b); Maechler 2012 */
WGI_FUNCTION double wgi_op_log_diff_exp_v(double a, double b) { return wgi_log_diff_exp(a, b); }
WGI_FUNCTION double wgi_op_log_diff_exp_da(double a, double b, double v) { (void)v; return wgi_log_diff_exp_da(a, b); }
WGI_FUNCTION double wgi_op_log_diff_exp_db(double a, double b, double v) { (void)v; return wgi_log_diff_exp_db(a, b); }
enum { WGI_CODE_log_diff_exp = WGI_CODE(29), WGI_ADDS_log_diff_exp = WGI_ADDS(29), WGI_CALLS_log_diff_exp = 1 };

/* sigmoid: 1 / (1 + exp -a) */
WGI_FUNCTION double wgi_op_sigmoid_v(double a) { return wgi_sigmoid(a); }
WGI_FUNCTION double wgi_op_sigmoid_da(double a, double v) { return wgi_sigmoid_d(a, v); }
enum { WGI_CODE_sigmoid = WGI_CODE(30), WGI_ADDS_sigmoid = WGI_ADDS(30), WGI_CALLS_sigmoid = 1 };

/* log_sigmoid: -log(1 + exp -a) */
WGI_FUNCTION double wgi_op_log_sigmoid_v(double a) { return -wgi_softplus(-a); }
WGI_FUNCTION double wgi_op_log_sigmoid_da(double a, double v) { (void)v; return wgi_sigmoid(-a); }
enum { WGI_CODE_log_sigmoid = WGI_CODE(31), WGI_ADDS_log_sigmoid = WGI_ADDS(31), WGI_CALLS_log_sigmoid = 1 };

/* softplus: log(1 + exp a) */
WGI_FUNCTION double wgi_op_softplus_v(double a) { return wgi_softplus(a); }
WGI_FUNCTION double wgi_op_softplus_da(double a, double v) { (void)v; return wgi_sigmoid(a); }
enum { WGI_CODE_softplus = WGI_CODE(32), WGI_ADDS_softplus = WGI_ADDS(32), WGI_CALLS_softplus = 1 };

/* logit: log(a / (1 - a)) */
WGI_FUNCTION double wgi_op_logit_v(double a) { return wgi_logit(a); }
WGI_FUNCTION double wgi_op_logit_da(double a, double v) { (void)v; return wgi_logit_d(a); }
enum { WGI_CODE_logit = WGI_CODE(33), WGI_ADDS_logit = WGI_ADDS(33), WGI_CALLS_logit = 1 };

/* sin: DLMF 4.20.1 */
WGI_FUNCTION double wgi_op_sin_v(double a) { return sin(a); }
WGI_FUNCTION double wgi_op_sin_da(double a, double v) { (void)v; return cos(a); }
enum { WGI_CODE_sin = WGI_CODE(34), WGI_ADDS_sin = WGI_ADDS(34), WGI_CALLS_sin = 1 };

/* cos: DLMF 4.20.2 */
WGI_FUNCTION double wgi_op_cos_v(double a) { return cos(a); }
WGI_FUNCTION double wgi_op_cos_da(double a, double v) { (void)v; return -sin(a); }
enum { WGI_CODE_cos = WGI_CODE(35), WGI_ADDS_cos = WGI_ADDS(35), WGI_CALLS_cos = 1 };

/* tan: DLMF 4.20.3 */
WGI_FUNCTION double wgi_op_tan_v(double a) { return tan(a); }
#define wgi_op_tan_da(a, v) (1 + (v) * (v))
enum { WGI_CODE_tan = WGI_CODE(36), WGI_ADDS_tan = WGI_ADDS(36), WGI_CALLS_tan = 0 };

/* sec: DLMF 4.20.5 */
WGI_FUNCTION double wgi_op_sec_v(double a) { return 1 / cos(a); }
WGI_FUNCTION double wgi_op_sec_da(double a, double v) { return v * tan(a); }
enum { WGI_CODE_sec = WGI_CODE(37), WGI_ADDS_sec = WGI_ADDS(37), WGI_CALLS_sec = 1 };

/* csc: DLMF 4.20.4 */
WGI_FUNCTION double wgi_op_csc_v(double a) { return 1 / sin(a); }
WGI_FUNCTION double wgi_op_csc_da(double a, double v) { return -v / tan(a); }
enum { WGI_CODE_csc = WGI_CODE(38), WGI_ADDS_csc = WGI_ADDS(38), WGI_CALLS_csc = 1 };

/* cot: DLMF 4.20.6 */
WGI_FUNCTION double wgi_op_cot_v(double a) { return 1 / tan(a); }
#define wgi_op_cot_da(a, v) (-(1 + (v) * (v)))
enum { WGI_CODE_cot = WGI_CODE(39), WGI_ADDS_cot = WGI_ADDS(39), WGI_CALLS_cot = 0 };

/* asin: DLMF 4.24.7 */
WGI_FUNCTION double wgi_op_asin_v(double a) { return asin(a); }
WGI_FUNCTION double wgi_op_asin_da(double a, double v) { (void)v; return 1 / sqrt((1 - a) * (1 + a)); }
enum { WGI_CODE_asin = WGI_CODE(40), WGI_ADDS_asin = WGI_ADDS(40), WGI_CALLS_asin = 1 };

/* acos: DLMF 4.24.8 */
WGI_FUNCTION double wgi_op_acos_v(double a) { return acos(a); }
WGI_FUNCTION double wgi_op_acos_da(double a, double v) { (void)v; return -1 / sqrt((1 - a) * (1 + a)); }
enum { WGI_CODE_acos = WGI_CODE(41), WGI_ADDS_acos = WGI_ADDS(41), WGI_CALLS_acos = 1 };

/* atan: DLMF 4.24.9 */
WGI_FUNCTION double wgi_op_atan_v(double a) { return atan(a); }
WGI_FUNCTION double wgi_op_atan_da(double a, double v) { (void)v; return wgi_atan_d(a); }
enum { WGI_CODE_atan = WGI_CODE(42), WGI_ADDS_atan = WGI_ADDS(42), WGI_CALLS_atan = 1 };

/* asec: DLMF 4.24.11 */
WGI_FUNCTION double wgi_op_asec_v(double a) { return wgi_asec(a); }
WGI_FUNCTION double wgi_op_asec_da(double a, double v) { (void)v; return wgi_asec_d(a); }
enum { WGI_CODE_asec = WGI_CODE(43), WGI_ADDS_asec = WGI_ADDS(43), WGI_CALLS_asec = 1 };

/* acsc: DLMF 4.24.10 */
WGI_FUNCTION double wgi_op_acsc_v(double a) { return wgi_acsc(a); }
WGI_FUNCTION double wgi_op_acsc_da(double a, double v) { (void)v; return -wgi_asec_d(a); }
enum { WGI_CODE_acsc = WGI_CODE(44), WGI_ADDS_acsc = WGI_ADDS(44), WGI_CALLS_acsc = 1 };

/* acot: arctan(1/a), DLMF 4.23.9, 4.24.12 */
WGI_FUNCTION double wgi_op_acot_v(double a) { return atan(1 / a); }
WGI_FUNCTION double wgi_op_acot_da(double a, double v) { (void)v; return -wgi_atan_d(a); }
enum { WGI_CODE_acot = WGI_CODE(45), WGI_ADDS_acot = WGI_ADDS(45), WGI_CALLS_acot = 1 };

/* atan2: DLMF 4.24.9 with 4.23.37 */
WGI_FUNCTION double wgi_op_atan2_v(double a, double b) { return atan2(a, b); }
WGI_FUNCTION double wgi_op_atan2_da(double a, double b, double v) { (void)v; return wgi_atan2_da(a, b); }
WGI_FUNCTION double wgi_op_atan2_db(double a, double b, double v) { (void)v; return -wgi_atan2_da(b, a); }
enum { WGI_CODE_atan2 = WGI_CODE(46), WGI_ADDS_atan2 = WGI_ADDS(46), WGI_CALLS_atan2 = 1 };

/* sinpi: sin(pi a) */
WGI_FUNCTION double wgi_op_sinpi_v(double a) { return wgi_sinpi(a); }
WGI_FUNCTION double wgi_op_sinpi_da(double a, double v) { (void)v; return 3.14159265358979323846 * wgi_cospi(a); }
enum { WGI_CODE_sinpi = WGI_CODE(47), WGI_ADDS_sinpi = WGI_ADDS(47), WGI_CALLS_sinpi = 1 };

/* cospi: cos(pi a) */
WGI_FUNCTION double wgi_op_cospi_v(double a) { return wgi_cospi(a); }
WGI_FUNCTION double wgi_op_cospi_da(double a, double v) { (void)v; return -3.14159265358979323846 * wgi_sinpi(a); }
enum { WGI_CODE_cospi = WGI_CODE(48), WGI_ADDS_cospi = WGI_ADDS(48), WGI_CALLS_cospi = 1 };

/* sinh: DLMF 4.34.1 */
WGI_FUNCTION double wgi_op_sinh_v(double a) { return sinh(a); }
WGI_FUNCTION double wgi_op_sinh_da(double a, double v) { (void)v; return cosh(a); }
enum { WGI_CODE_sinh = WGI_CODE(49), WGI_ADDS_sinh = WGI_ADDS(49), WGI_CALLS_sinh = 1 };

/* cosh: DLMF 4.34.2 */
WGI_FUNCTION double wgi_op_cosh_v(double a) { return cosh(a); }
WGI_FUNCTION double wgi_op_cosh_da(double a, double v) { (void)v; return sinh(a); }
enum { WGI_CODE_cosh = WGI_CODE(50), WGI_ADDS_cosh = WGI_ADDS(50), WGI_CALLS_cosh = 1 };

/* tanh: DLMF 4.34.3 */
WGI_FUNCTION double wgi_op_tanh_v(double a) { return wgi_tanh(a); }
WGI_FUNCTION double wgi_op_tanh_da(double a, double v) { return wgi_tanh_d(a, v); }
enum { WGI_CODE_tanh = WGI_CODE(51), WGI_ADDS_tanh = WGI_ADDS(51), WGI_CALLS_tanh = 1 };

/* sech: DLMF 4.34.5 */
WGI_FUNCTION double wgi_op_sech_v(double a) { return wgi_sech(a); }
WGI_FUNCTION double wgi_op_sech_da(double a, double v) { return -v * wgi_tanh(a); }
enum { WGI_CODE_sech = WGI_CODE(52), WGI_ADDS_sech = WGI_ADDS(52), WGI_CALLS_sech = 1 };

/* csch: DLMF 4.34.4 */
WGI_FUNCTION double wgi_op_csch_v(double a) { return wgi_csch(a); }
WGI_FUNCTION double wgi_op_csch_da(double a, double v) { return -v / wgi_tanh(a); }
enum { WGI_CODE_csch = WGI_CODE(53), WGI_ADDS_csch = WGI_ADDS(53), WGI_CALLS_csch = 1 };

/* coth: DLMF 4.34.6 */
WGI_FUNCTION double wgi_op_coth_v(double a) { return 1 / wgi_tanh(a); }
WGI_FUNCTION double wgi_op_coth_da(double a, double v) { (void)v; return -wgi_csch(a) * wgi_csch(a); }
enum { WGI_CODE_coth = WGI_CODE(54), WGI_ADDS_coth = WGI_ADDS(54), WGI_CALLS_coth = 1 };

/* asinh: DLMF 4.38.9 */
WGI_FUNCTION double wgi_op_asinh_v(double a) { return asinh(a); }
WGI_FUNCTION double wgi_op_asinh_da(double a, double v) { (void)v; return wgi_asinh_d(a); }
enum { WGI_CODE_asinh = WGI_CODE(55), WGI_ADDS_asinh = WGI_ADDS(55), WGI_CALLS_asinh = 1 };

/* acosh: DLMF 4.38.10 */
WGI_FUNCTION double wgi_op_acosh_v(double a) { return acosh(a); }
WGI_FUNCTION double wgi_op_acosh_da(double a, double v) { (void)v; return wgi_acosh_d(a); }
enum { WGI_CODE_acosh = WGI_CODE(56), WGI_ADDS_acosh = WGI_ADDS(56), WGI_CALLS_acosh = 1 };

/* atanh: DLMF 4.38.11 */
WGI_FUNCTION double wgi_op_atanh_v(double a) { return atanh(a); }
WGI_FUNCTION double wgi_op_atanh_da(double a, double v) { return (fabs(a) > 1 ? v : 1 / ((1 - a) * (1 + a))); }
enum { WGI_CODE_atanh = WGI_CODE(57), WGI_ADDS_atanh = WGI_ADDS(57), WGI_CALLS_atanh = 0 };

/* asech: DLMF 4.38.13 */
WGI_FUNCTION double wgi_op_asech_v(double a) { return wgi_asech(a); }
WGI_FUNCTION double wgi_op_asech_da(double a, double v) { (void)v; return wgi_asech_d(a); }
enum { WGI_CODE_asech = WGI_CODE(58), WGI_ADDS_asech = WGI_ADDS(58), WGI_CALLS_asech = 1 };

/* acsch: DLMF 4.38.12 */
WGI_FUNCTION double wgi_op_acsch_v(double a) { return wgi_acsch(a); }
WGI_FUNCTION double wgi_op_acsch_da(double a, double v) { (void)v; return wgi_acsch_d(a); }
enum { WGI_CODE_acsch = WGI_CODE(59), WGI_ADDS_acsch = WGI_ADDS(59), WGI_CALLS_acsch = 1 };

/* acoth: DLMF 4.38.14 */
WGI_FUNCTION double wgi_op_acoth_v(double a) { return wgi_acoth(a); }
WGI_FUNCTION double wgi_op_acoth_da(double a, double v) { (void)v; return wgi_acoth_d(a); }
enum { WGI_CODE_acoth = WGI_CODE(60), WGI_ADDS_acoth = WGI_ADDS(60), WGI_CALLS_acoth = 1 };

/* erf: DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_erf_v(double a) { return erf(a); }
WGI_FUNCTION double wgi_op_erf_da(double a, double v) { (void)v; return 1.12837916709551257390 * wgi_exp_msq(a); }
enum { WGI_CODE_erf = WGI_CODE(61), WGI_ADDS_erf = WGI_ADDS(61), WGI_CALLS_erf = 1 };

/* erfc: DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_erfc_v(double a) { return erfc(a); }
WGI_FUNCTION double wgi_op_erfc_da(double a, double v) { (void)v; return -1.12837916709551257390 * wgi_exp_msq(a); }
enum { WGI_CODE_erfc = WGI_CODE(62), WGI_ADDS_erfc = WGI_ADDS(62), WGI_CALLS_erfc = 1 };

/* erfcx: exp(a^2) erfc a; DLMF 7.9.3 */
WGI_FUNCTION double wgi_op_erfcx_v(double a) { return wgi_erfcx(a); }
WGI_FUNCTION double wgi_op_erfcx_da(double a, double v) { return wgi_erfcx_d(a, v); }
enum { WGI_CODE_erfcx = WGI_CODE(63), WGI_ADDS_erfcx = WGI_ADDS(63), WGI_CALLS_erfcx = 1 };

/* Phi: normal distribution; DLMF 7.10.1 */
WGI_FUNCTION double wgi_op_Phi_v(double a) { return wgi_Phi(a); }
WGI_FUNCTION double wgi_op_Phi_da(double a, double v) { (void)v; return wgi_phi(a); }
enum { WGI_CODE_Phi = WGI_CODE(64), WGI_ADDS_Phi = WGI_ADDS(64), WGI_CALLS_Phi = 1 };

/* log_Phi: Mills ratio; DLMF 7.8.1, 7.9.3 */
WGI_FUNCTION double wgi_op_log_Phi_v(double a) { return wgi_log_Phi(a); }
WGI_FUNCTION double wgi_op_log_Phi_da(double a, double v) { (void)v; return wgi_log_Phi_d(a); }
enum { WGI_CODE_log_Phi = WGI_CODE(65), WGI_ADDS_log_Phi = WGI_ADDS(65), WGI_CALLS_log_Phi = 1 };

/* inv_Phi: normal quantile; inverse function rule */
WGI_FUNCTION double wgi_op_inv_Phi_v(double a) { return wgi_inv_Phi(a); }
WGI_FUNCTION double wgi_op_inv_Phi_da(double a, double v) { return wgi_inv_Phi_d(a, v); }
enum { WGI_CODE_inv_Phi = WGI_CODE(66), WGI_ADDS_inv_Phi = WGI_ADDS(66), WGI_CALLS_inv_Phi = 1 };

/* lgamma: log |Gamma|; DLMF 5.2.2 */
WGI_FUNCTION double wgi_op_lgamma_v(double a) { return wgi_lgamma(a); }
WGI_FUNCTION double wgi_op_lgamma_da(double a, double v) { (void)v; return wgi_digamma(a); }
enum { WGI_CODE_lgamma = WGI_CODE(67), WGI_ADDS_lgamma = WGI_ADDS(67), WGI_CALLS_lgamma = 1 };

/* tgamma: DLMF 5.2.2 */
WGI_FUNCTION double wgi_op_tgamma_v(double a) { return tgamma(a); }
WGI_FUNCTION double wgi_op_tgamma_da(double a, double v) { return wgi_tgamma_d(a, v); }
enum { WGI_CODE_tgamma = WGI_CODE(68), WGI_ADDS_tgamma = WGI_ADDS(68), WGI_CALLS_tgamma = 1 };

/* digamma: DLMF 5.15.1 */
WGI_FUNCTION double wgi_op_digamma_v(double a) { return wgi_digamma(a); }
WGI_FUNCTION double wgi_op_digamma_da(double a, double v) { (void)v; return wgi_trigamma(a); }
enum { WGI_CODE_digamma = WGI_CODE(69), WGI_ADDS_digamma = WGI_ADDS(69), WGI_CALLS_digamma = 1 };

/* j0: DLMF 10.6.3 */
WGI_FUNCTION double wgi_op_j0_v(double a) { return wgi_j0(a); }
WGI_FUNCTION double wgi_op_j0_da(double a, double v) { (void)v; return -wgi_j1(a); }
enum { WGI_CODE_j0 = WGI_CODE(70), WGI_ADDS_j0 = WGI_ADDS(70), WGI_CALLS_j0 = 1 };

/* j1: DLMF 10.6.2 */
WGI_FUNCTION double wgi_op_j1_v(double a) { return wgi_j1(a); }
WGI_FUNCTION double wgi_op_j1_da(double a, double v) { return wgi_j1_d(a, v); }
enum { WGI_CODE_j1 = WGI_CODE(71), WGI_ADDS_j1 = WGI_ADDS(71), WGI_CALLS_j1 = 1 };

/* y0: DLMF 10.6.3 */
WGI_FUNCTION double wgi_op_y0_v(double a) { return wgi_y0(a); }
WGI_FUNCTION double wgi_op_y0_da(double a, double v) { (void)v; return -wgi_y1(a); }
enum { WGI_CODE_y0 = WGI_CODE(72), WGI_ADDS_y0 = WGI_ADDS(72), WGI_CALLS_y0 = 1 };

/* y1: DLMF 10.6.2 */
WGI_FUNCTION double wgi_op_y1_v(double a) { return wgi_y1(a); }
WGI_FUNCTION double wgi_op_y1_da(double a, double v) { return wgi_y1_d(a, v); }
enum { WGI_CODE_y1 = WGI_CODE(73), WGI_ADDS_y1 = WGI_ADDS(73), WGI_CALLS_y1 = 1 };

/* lambertw0: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION double wgi_op_lambertw0_v(double a) { return wgi_lambertw0(a); }
WGI_FUNCTION double wgi_op_lambertw0_da(double a, double v) { (void)v; return wgi_lambertw0_d(a); }
enum { WGI_CODE_lambertw0 = WGI_CODE(74), WGI_ADDS_lambertw0 = WGI_ADDS(74), WGI_CALLS_lambertw0 = 1 };

/* lambertwm1: DLMF 4.13.1, 4.13.4 */
WGI_FUNCTION double wgi_op_lambertwm1_v(double a) { return wgi_lambertwm1(a); }
WGI_FUNCTION double wgi_op_lambertwm1_da(double a, double v) { (void)v; return wgi_lambertwm1_d(a); }
enum { WGI_CODE_lambertwm1 = WGI_CODE(75), WGI_ADDS_lambertwm1 = WGI_ADDS(75), WGI_CALLS_lambertwm1 = 1 };

/* floor: step */
WGI_FUNCTION double wgi_op_floor_v(double a) { return floor(a); }
#define wgi_op_floor_da(a, v) (0.0)
enum { WGI_CODE_floor = WGI_CODE(76), WGI_ADDS_floor = WGI_ADDS(76), WGI_CALLS_floor = 0 };

/* ceil: step */
WGI_FUNCTION double wgi_op_ceil_v(double a) { return ceil(a); }
#define wgi_op_ceil_da(a, v) (0.0)
enum { WGI_CODE_ceil = WGI_CODE(77), WGI_ADDS_ceil = WGI_ADDS(77), WGI_CALLS_ceil = 0 };

/* trunc: step */
WGI_FUNCTION double wgi_op_trunc_v(double a) { return trunc(a); }
#define wgi_op_trunc_da(a, v) (0.0)
enum { WGI_CODE_trunc = WGI_CODE(78), WGI_ADDS_trunc = WGI_ADDS(78), WGI_CALLS_trunc = 0 };

/* round: step; halves away from zero */
WGI_FUNCTION double wgi_op_round_v(double a) { return round(a); }
#define wgi_op_round_da(a, v) (0.0)
enum { WGI_CODE_round = WGI_CODE(79), WGI_ADDS_round = WGI_ADDS(79), WGI_CALLS_round = 0 };

/* rint: step; halves to even in the default mode */
WGI_FUNCTION double wgi_op_rint_v(double a) { return rint(a); }
#define wgi_op_rint_da(a, v) (0.0)
enum { WGI_CODE_rint = WGI_CODE(80), WGI_ADDS_rint = WGI_ADDS(80), WGI_CALLS_rint = 0 };

/* sign: step */
WGI_FUNCTION double wgi_op_sign_v(double a) { return (a > 0 ? 1.0 : a < 0 ? -1.0 : a == 0 ? 0.0 : a); }
#define wgi_op_sign_da(a, v) (0.0)
enum { WGI_CODE_sign = WGI_CODE(81), WGI_ADDS_sign = WGI_ADDS(81), WGI_CALLS_sign = 0 };

/* fabs: sign, 0 at 0 */
WGI_FUNCTION double wgi_op_fabs_v(double a) { return fabs(a); }
WGI_FUNCTION double wgi_op_fabs_da(double a, double v) { (void)v; return (a > 0 ? 1.0 : a < 0 ? -1.0 : a); }
enum { WGI_CODE_fabs = WGI_CODE(82), WGI_ADDS_fabs = WGI_ADDS(82), WGI_CALLS_fabs = 0 };

/* relu: 0 at 0 */
WGI_FUNCTION double wgi_op_relu_v(double a) { return (a <= 0 ? 0.0 : a); }
WGI_FUNCTION double wgi_op_relu_da(double a, double v) { (void)v; return (a > 0 ? 1.0 : a <= 0 ? 0.0 : a); }
enum { WGI_CODE_relu = WGI_CODE(83), WGI_ADDS_relu = WGI_ADDS(83), WGI_CALLS_relu = 0 };

/* copysign: |a| times the sign of b */
WGI_FUNCTION double wgi_op_copysign_v(double a, double b) { return copysign(a, b); }
WGI_FUNCTION double wgi_op_copysign_da(double a, double b, double v) { (void)v; return (a > 0 ? 1.0 : a < 0 ? -1.0 : a) * copysign(1.0, b); }
#define wgi_op_copysign_db(a, b, v) (0.0)
enum { WGI_CODE_copysign = WGI_CODE(84), WGI_ADDS_copysign = WGI_ADDS(84), WGI_CALLS_copysign = 0 };

/* fmax: a tie splits evenly */
WGI_FUNCTION double wgi_op_fmax_v(double a, double b) { return (a > b || b != b || (a == b && signbit(b)) ? a : b); }
WGI_FUNCTION double wgi_op_fmax_da(double a, double b, double v) { (void)v; return (a > b || b != b ? 1.0 : a == b ? 0.5 : 0.0); }
WGI_FUNCTION double wgi_op_fmax_db(double a, double b, double v) { (void)v; return (b > a || a != a ? 1.0 : a == b ? 0.5 : 0.0); }
enum { WGI_CODE_fmax = WGI_CODE(85), WGI_ADDS_fmax = WGI_ADDS(85), WGI_CALLS_fmax = 0 };

/* fmin: a tie splits evenly */
WGI_FUNCTION double wgi_op_fmin_v(double a, double b) { return (a < b || b != b || (a == b && signbit(a)) ? a : b); }
WGI_FUNCTION double wgi_op_fmin_da(double a, double b, double v) { (void)v; return (a < b || b != b ? 1.0 : a == b ? 0.5 : 0.0); }
WGI_FUNCTION double wgi_op_fmin_db(double a, double b, double v) { (void)v; return (b < a || a != a ? 1.0 : a == b ? 0.5 : 0.0); }
enum { WGI_CODE_fmin = WGI_CODE(86), WGI_ADDS_fmin = WGI_ADDS(86), WGI_CALLS_fmin = 0 };

/* fdim: relu(a - b) */
WGI_FUNCTION double wgi_op_fdim_v(double a, double b) { return fdim(a, b); }
WGI_FUNCTION double wgi_op_fdim_da(double a, double b, double v) { return (a > b ? 1.0 : a <= b ? 0.0 : v); }
WGI_FUNCTION double wgi_op_fdim_db(double a, double b, double v) { return (a > b ? -1.0 : a <= b ? 0.0 : v); }
enum { WGI_CODE_fdim = WGI_CODE(87), WGI_ADDS_fdim = WGI_ADDS(87), WGI_CALLS_fdim = 0 };

/* clamp: a in the closed interval [b, c] */
WGI_FUNCTION double wgi_op_clamp_v(double a, double b, double c) { return (a < b ? b : a > c ? c : a); }
WGI_FUNCTION double wgi_op_clamp_da(double a, double b, double c, double v) { (void)v; return (a < b || a > c ? 0.0 : 1.0); }
WGI_FUNCTION double wgi_op_clamp_db(double a, double b, double c, double v) { (void)c; (void)v; return (a < b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_clamp_dc(double a, double b, double c, double v) { (void)v; return (a > c && !(a < b) ? 1.0 : 0.0); }
enum { WGI_CODE_clamp = WGI_CODE(88), WGI_ADDS_clamp = WGI_ADDS(88), WGI_CALLS_clamp = 0 };

/* select_lt: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_lt_v(double a, double b, double c, double d) { return (a < b ? c : d); }
#define wgi_op_select_lt_da(a, b, c, d, v) (0.0)
#define wgi_op_select_lt_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_lt_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a < b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_lt_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a < b ? 0.0 : 1.0); }
enum { WGI_CODE_select_lt = WGI_CODE(89), WGI_ADDS_select_lt = WGI_ADDS(89), WGI_CALLS_select_lt = 0 };

/* select_le: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_le_v(double a, double b, double c, double d) { return (a <= b ? c : d); }
#define wgi_op_select_le_da(a, b, c, d, v) (0.0)
#define wgi_op_select_le_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_le_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a <= b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_le_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a <= b ? 0.0 : 1.0); }
enum { WGI_CODE_select_le = WGI_CODE(90), WGI_ADDS_select_le = WGI_ADDS(90), WGI_CALLS_select_le = 0 };

/* select_gt: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_gt_v(double a, double b, double c, double d) { return (a > b ? c : d); }
#define wgi_op_select_gt_da(a, b, c, d, v) (0.0)
#define wgi_op_select_gt_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_gt_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a > b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_gt_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a > b ? 0.0 : 1.0); }
enum { WGI_CODE_select_gt = WGI_CODE(91), WGI_ADDS_select_gt = WGI_ADDS(91), WGI_CALLS_select_gt = 0 };

/* select_ge: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_ge_v(double a, double b, double c, double d) { return (a >= b ? c : d); }
#define wgi_op_select_ge_da(a, b, c, d, v) (0.0)
#define wgi_op_select_ge_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_ge_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a >= b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_ge_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a >= b ? 0.0 : 1.0); }
enum { WGI_CODE_select_ge = WGI_CODE(92), WGI_ADDS_select_ge = WGI_ADDS(92), WGI_CALLS_select_ge = 0 };

/* select_eq: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_eq_v(double a, double b, double c, double d) { return (a == b ? c : d); }
#define wgi_op_select_eq_da(a, b, c, d, v) (0.0)
#define wgi_op_select_eq_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_eq_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a == b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_eq_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a == b ? 0.0 : 1.0); }
enum { WGI_CODE_select_eq = WGI_CODE(93), WGI_ADDS_select_eq = WGI_ADDS(93), WGI_CALLS_select_eq = 0 };

/* select_ne: C11 6.5.15 */
WGI_FUNCTION double wgi_op_select_ne_v(double a, double b, double c, double d) { return (a != b ? c : d); }
#define wgi_op_select_ne_da(a, b, c, d, v) (0.0)
#define wgi_op_select_ne_db(a, b, c, d, v) (0.0)
WGI_FUNCTION double wgi_op_select_ne_dc(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a != b ? 1.0 : 0.0); }
WGI_FUNCTION double wgi_op_select_ne_dd(double a, double b, double c, double d, double v) { (void)c; (void)d; (void)v; return (a != b ? 0.0 : 1.0); }
enum { WGI_CODE_select_ne = WGI_CODE(94), WGI_ADDS_select_ne = WGI_ADDS(94), WGI_CALLS_select_ne = 0 };

/* stop_gradient: the identity, taken for a constant */
#define wgi_op_stop_gradient_v(a) ((a))
#define wgi_op_stop_gradient_da(a, v) (0.0)
enum { WGI_CODE_stop_gradient = WGI_CODE(95), WGI_ADDS_stop_gradient = WGI_ADDS(95), WGI_CALLS_stop_gradient = 0 };

#pragma GCC diagnostic pop

#ifdef __cplusplus
#include <wengert/scalar.hpp>
#else

#define wg_neg(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, neg); wgi_e; }) /* needs wg_let */
#define wg_add(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, add); wgi_e; }) /* needs wg_let */
#define wg_sub(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, sub); wgi_e; }) /* needs wg_let */
#define wg_mul(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, mul); wgi_e; }) /* needs wg_let */
#define wg_div(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, div); wgi_e; }) /* needs wg_let */
#define wg_fma(x, y, z) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_OPERATION3(WGI_AS_IT_IS, fma); wgi_e; }) /* needs wg_let */
#define wg_reciprocal(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, reciprocal); wgi_e; }) /* needs wg_let */
#define wg_square(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, square); wgi_e; }) /* needs wg_let */
#define wg_cube(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, cube); wgi_e; }) /* needs wg_let */
#define wg_fmod(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, fmod); wgi_e; }) /* needs wg_let */
#define wg_remainder(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, remainder); wgi_e; }) /* needs wg_let */
#define wg_sqrt(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, sqrt); wgi_e; }) /* needs wg_let */
#define wg_cbrt(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, cbrt); wgi_e; }) /* needs wg_let */
#define wg_rsqrt(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, rsqrt); wgi_e; }) /* needs wg_let */
#define wg_pow(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, pow); wgi_e; }) /* needs wg_let */
#define wg_hypot(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, hypot); wgi_e; }) /* needs wg_let */
#define wg_exp(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, exp); wgi_e; }) /* needs wg_let */
#define wg_exp2(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, exp2); wgi_e; }) /* needs wg_let */
#define wg_exp10(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, exp10); wgi_e; }) /* needs wg_let */
#define wg_expm1(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, expm1); wgi_e; }) /* needs wg_let */
#define wg_log(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, log); wgi_e; }) /* needs wg_let */
#define wg_log2(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, log2); wgi_e; }) /* needs wg_let */
#define wg_log10(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, log10); wgi_e; }) /* needs wg_let */
#define wg_log1p(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, log1p); wgi_e; }) /* needs wg_let */
#define wg_log1mx(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, log1mx); wgi_e; }) /* needs wg_let */
#define wg_log1mexp(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, log1mexp); wgi_e; }) /* needs wg_let */
#define wg_log_base(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, log_base); wgi_e; }) /* needs wg_let */
#define wg_xlogy(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, xlogy); wgi_e; }) /* needs wg_let */
#define wg_log_add_exp(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, log_add_exp); wgi_e; }) /* needs wg_let */
#define wg_log_diff_exp(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, log_diff_exp); wgi_e; }) /* needs wg_let */
#define wg_sigmoid(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, sigmoid); wgi_e; }) /* needs wg_let */
#define wg_log_sigmoid(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, log_sigmoid); wgi_e; }) /* needs wg_let */
#define wg_softplus(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, softplus); wgi_e; }) /* needs wg_let */
#define wg_logit(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, logit); wgi_e; }) /* needs wg_let */
#define wg_sin(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_SINCOS, sin); wgi_e; }) /* needs wg_let */
#define wg_cos(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_SINCOS, cos); wgi_e; }) /* needs wg_let */
#define wg_tan(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, tan); wgi_e; }) /* needs wg_let */
#define wg_sec(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, sec); wgi_e; }) /* needs wg_let */
#define wg_csc(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, csc); wgi_e; }) /* needs wg_let */
#define wg_cot(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, cot); wgi_e; }) /* needs wg_let */
#define wg_asin(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, asin); wgi_e; }) /* needs wg_let */
#define wg_acos(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acos); wgi_e; }) /* needs wg_let */
#define wg_atan(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, atan); wgi_e; }) /* needs wg_let */
#define wg_asec(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, asec); wgi_e; }) /* needs wg_let */
#define wg_acsc(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acsc); wgi_e; }) /* needs wg_let */
#define wg_acot(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acot); wgi_e; }) /* needs wg_let */
#define wg_atan2(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_IF_ACTIVE, atan2); wgi_e; }) /* needs wg_let */
#define wg_sinpi(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, sinpi); wgi_e; }) /* needs wg_let */
#define wg_cospi(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, cospi); wgi_e; }) /* needs wg_let */
#define wg_sinh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, sinh); wgi_e; }) /* needs wg_let */
#define wg_cosh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, cosh); wgi_e; }) /* needs wg_let */
#define wg_tanh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, tanh); wgi_e; }) /* needs wg_let */
#define wg_sech(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, sech); wgi_e; }) /* needs wg_let */
#define wg_csch(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, csch); wgi_e; }) /* needs wg_let */
#define wg_coth(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, coth); wgi_e; }) /* needs wg_let */
#define wg_asinh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, asinh); wgi_e; }) /* needs wg_let */
#define wg_acosh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acosh); wgi_e; }) /* needs wg_let */
#define wg_atanh(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, atanh); wgi_e; }) /* needs wg_let */
#define wg_asech(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, asech); wgi_e; }) /* needs wg_let */
#define wg_acsch(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acsch); wgi_e; }) /* needs wg_let */
#define wg_acoth(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, acoth); wgi_e; }) /* needs wg_let */
#define wg_erf(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, erf); wgi_e; }) /* needs wg_let */
#define wg_erfc(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, erfc); wgi_e; }) /* needs wg_let */
#define wg_erfcx(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, erfcx); wgi_e; }) /* needs wg_let */
#define wg_Phi(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, Phi); wgi_e; }) /* needs wg_let */
#define wg_log_Phi(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, log_Phi); wgi_e; }) /* needs wg_let */
#define wg_inv_Phi(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, inv_Phi); wgi_e; }) /* needs wg_let */
#define wg_lgamma(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, lgamma); wgi_e; }) /* needs wg_let */
#define wg_tgamma(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, tgamma); wgi_e; }) /* needs wg_let */
#define wg_digamma(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, digamma); wgi_e; }) /* needs wg_let */
#define wg_j0(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, j0); wgi_e; }) /* needs wg_let */
#define wg_j1(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, j1); wgi_e; }) /* needs wg_let */
#define wg_y0(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, y0); wgi_e; }) /* needs wg_let */
#define wg_y1(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, y1); wgi_e; }) /* needs wg_let */
#define wg_lambertw0(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, lambertw0); wgi_e; }) /* needs wg_let */
#define wg_lambertwm1(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_IF_ACTIVE, lambertwm1); wgi_e; }) /* needs wg_let */
#define wg_floor(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, floor); wgi_e; }) /* needs wg_let */
#define wg_ceil(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, ceil); wgi_e; }) /* needs wg_let */
#define wg_trunc(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, trunc); wgi_e; }) /* needs wg_let */
#define wg_round(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, round); wgi_e; }) /* needs wg_let */
#define wg_rint(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, rint); wgi_e; }) /* needs wg_let */
#define wg_sign(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, sign); wgi_e; }) /* needs wg_let */
#define wg_fabs(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, fabs); wgi_e; }) /* needs wg_let */
#define wg_relu(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, relu); wgi_e; }) /* needs wg_let */
#define wg_copysign(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, copysign); wgi_e; }) /* needs wg_let */
#define wg_fmax(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, fmax); wgi_e; }) /* needs wg_let */
#define wg_fmin(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, fmin); wgi_e; }) /* needs wg_let */
#define wg_fdim(x, y) __extension__({ WGI_X (x); WGI_Y (y); WGI_OPERATION2(WGI_AS_IT_IS, fdim); wgi_e; }) /* needs wg_let */
#define wg_clamp(x, y, z) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_OPERATION3(WGI_AS_IT_IS, clamp); wgi_e; }) /* needs wg_let */
#define wg_select_lt(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_lt); wgi_e; }) /* needs wg_let */
#define wg_select_le(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_le); wgi_e; }) /* needs wg_let */
#define wg_select_gt(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_gt); wgi_e; }) /* needs wg_let */
#define wg_select_ge(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_ge); wgi_e; }) /* needs wg_let */
#define wg_select_eq(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_eq); wgi_e; }) /* needs wg_let */
#define wg_select_ne(x, y, z, w) __extension__({ WGI_X (x); WGI_Y (y); WGI_Z (z); WGI_W (w); WGI_OPERATION4(WGI_AS_IT_IS, select_ne); wgi_e; }) /* needs wg_let */
#define wg_stop_gradient(x) __extension__({ WGI_X (x); WGI_OPERATION1(WGI_AS_IT_IS, stop_gradient); wgi_e; }) /* needs wg_let */

#endif

#endif
