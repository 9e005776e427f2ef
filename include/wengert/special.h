/* SPDX-License-Identifier: MIT */
/* special.h - the functions that the texts of ops/scalar/scalar.def call besides libm.
 *
 * A name wgi_f is the function f, wgi_f_da its partial with respect to a, wgi_f_d the
 * derivative of a function of one variable; second ones are the library's own. The argument v,
 * where there is one, is the value f(a, ...) already computed. All are pure: no state, no
 * errno, nothing printed; outside the domain they return NaN. Recorded programs and emitted C
 * call them; users need not. Sources: DLMF (dlmf.nist.gov) and the papers named in
 * ops/scalar/scalar.def. */
#ifndef WENGERT_SPECIAL_H
#define WENGERT_SPECIAL_H

#include <float.h>
#include <math.h>
#include <wengert/config.h>

WG_BEGIN_DECLS

/* Numbers are compared for equality on purpose. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"

/* ---- powers ---- */

WGI_API double wgi_pow_da(double a, double b, double v);
WGI_API double wgi_pow_db(double a, double b, double v);

/* The partial with respect to b is wgi_hypot_da(b, a, v). At (0, 0) every partial is 0, the
 * subgradient of least norm. */
WGI_API double wgi_hypot_da_rare(double a, double b);
static inline double wgi_hypot_da(double a, double b, double v) {
    return v > 0 && v <= DBL_MAX ? a / v : wgi_hypot_da_rare(a, b);
}

/* ---- exponentials and logarithms ---- */

/* libm's exp, said to have no effect but its value. With errno to set, compilers may not share
 * one call between a value and its derivative; errno of these is not looked at. */
extern double wgi_exp(double a) __asm__("exp") __attribute__((const));

/* c 2^a with c < 1, also where v = 2^a has overflowed and the product has not. */
static inline double wgi_exp2_times(double a, double v, double c) {
    return v <= DBL_MAX ? v * c : exp2(a - 1) * (2 * c);
}

WGI_API double wgi_log1mexp(double a);
WGI_API double wgi_log1mexp_d(double a);

WGI_API double wgi_log_base(double a, double b);
WGI_API double wgi_log_base_da(double a, double b, double v);
WGI_API double wgi_log_base_db(double a, double b, double v);

static inline double wgi_xlogy(double a, double b) {
    return a == 0 && b == b ? 0.0 : a * log(b);
}

WGI_API double wgi_log_add_exp(double a, double b);
WGI_API double wgi_log_add_exp_da(double a, double b);
WGI_API double wgi_log_diff_exp(double a, double b);
WGI_API double wgi_log_diff_exp_da(double a, double b);
WGI_API double wgi_log_diff_exp_db(double a, double b);

static inline double wgi_sigmoid(double a) {
    const double e = wgi_exp(-fabs(a));
    return (a < 0 ? e : 1.0) / (1 + e);
}

/* e / (1 + e)^2 = s (1 - s) from s = sigmoid(a): with no difference that would lose the
 * tails. */
static inline double wgi_sigmoid_d(double a, double s) {
    const double e = wgi_exp(-fabs(a));
    return a < 0 ? s * (1 - s) : e * s * s;
}

static inline double wgi_softplus(double a) {
    return (a > 0 ? a : 0.0) + log1p(wgi_exp(-fabs(a)));
}

WGI_API double wgi_logit(double a);
WGI_API double wgi_logit_d(double a);

/* ---- trigonometric ---- */

/* Beyond 1e9, 1 + a^2 rounds to a^2, which may overflow. */
static inline double wgi_atan_d(double a) {
    return fabs(a) < 1e9 ? 1 / (1 + a * a) : (1 / a) / a;
}

/* The partial of atan2(a, b) with respect to b is -wgi_atan2_da(b, a). */
WGI_API double wgi_atan2_da_rare(double a, double b);
static inline double wgi_atan2_da(double a, double b) {
    double s = a * a + b * b;
    return s > 1e-280 && s < 1e280 ? b / s : wgi_atan2_da_rare(a, b);
}

WGI_API double wgi_asec(double a);
WGI_API double wgi_acsc(double a);
WGI_API double wgi_asec_d(double a);
WGI_API double wgi_sinpi(double a);
WGI_API double wgi_cospi(double a);

/* ---- hyperbolic ---- */

/* 1 - q with q = 2 e / (1 + e), e = exp(-2 |a|), where q < 1/2; below that the Pade approximant
 * of order [7/6] in the form a - a^3 P/Q (DLMF 4.39.1, relative error below 2^-50 of a term
 * that is a tenth of the value). */
static inline double wgi_tanh(double a) {
    const double e = wgi_exp(-2 * fabs(a)), s = a * a;
    const double rest = s * (45045 + s * (2772 + s * 27)) /
                        (135135 + s * (62370 + s * (3150 + s * 28)));
    return fabs(a) < 0.5 ? copysign(a - a * rest, a) : copysign(1 - 2 * e / (1 + e), a);
}

/* sech(a)^2 = q (2 - q) from v = tanh(a): 1 - v^2 while that is accurate. */
static inline double wgi_tanh_d(double a, double v) {
    const double e = wgi_exp(-2 * fabs(a)), q = 2 * e / (1 + e);
    return fabs(a) < 0.5 ? (1 - v) * (1 + v) : q * (2 - q);
}

WGI_API double wgi_sech(double a);
WGI_API double wgi_csch(double a);

static inline double wgi_asinh_d(double a) {
    return fabs(a) < 1e9 ? 1 / sqrt(1 + a * a) : 1 / fabs(a);
}

static inline double wgi_acosh_d(double a) { return 1 / (sqrt(a - 1) * sqrt(a + 1)); }

WGI_API double wgi_asech(double a);
WGI_API double wgi_asech_d(double a);
WGI_API double wgi_acsch(double a);
WGI_API double wgi_acsch_d(double a);
WGI_API double wgi_acoth(double a);

static inline double wgi_acoth_d(double a) {
    return fabs(a) < 1 ? WGI_NAN : 1 / (1 - a) / (1 + a);
}

/* ---- normal distribution and error function ---- */

WGI_API double wgi_exp_msq(double a); /* exp(-a^2), also where rounding a^2 would show */
WGI_API double wgi_erfcx(double a);
WGI_API double wgi_erfcx_d(double a, double v);
WGI_API double wgi_phi(double a); /* normal density */
WGI_API double wgi_Phi(double a); /* normal distribution function */
WGI_API double wgi_log_Phi(double a);
WGI_API double wgi_log_Phi_d(double a);
WGI_API double wgi_inv_Phi(double a);
WGI_API double wgi_inv_Phi_d(double a, double v);

/* ---- gamma, Bessel and Lambert functions ---- */

WGI_API double wgi_lgamma(double a); /* log |Gamma|; does not touch signgam */
WGI_API double wgi_digamma(double a);
WGI_API double wgi_trigamma(double a);
WGI_API double wgi_tgamma_d(double a, double v);

WGI_API double wgi_j0(double a);
WGI_API double wgi_j1(double a);
WGI_API double wgi_j1_d(double a, double v);
WGI_API double wgi_y0(double a);
WGI_API double wgi_y1(double a);
WGI_API double wgi_y1_d(double a, double v);

WGI_API double wgi_lambertw0(double a); /* the branch above -1 */
WGI_API double wgi_lambertw0_d(double a);
WGI_API double wgi_lambertwm1(double a); /* the branch below -1 */
WGI_API double wgi_lambertwm1_d(double a);

#pragma GCC diagnostic pop

WG_END_DECLS

#endif
