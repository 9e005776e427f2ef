/* SPDX-License-Identifier: MIT */
/* special_second.h - second derivatives of the functions of wengert/special.h, for the texts of
 * scalar.def: wgi_f_dd of a function of one variable, wgi_f_daa, wgi_f_dab, wgi_f_dbb of one of
 * two. Statements of users have first ones only, so that these stay in the library. */
#ifndef WGI_OPS_SCALAR_SPECIAL_SECOND_H
#define WGI_OPS_SCALAR_SPECIAL_SECOND_H

#include <wengert/special.h>

/* ---- powers ---- */

double wgi_pow_daa(double a, double b, double v);
double wgi_pow_dab(double a, double b, double v);
double wgi_pow_dbb(double a, double b, double v);
double wgi_hypot_daa(double a, double b, double v);
double wgi_hypot_dab(double a, double b, double v);

/* ---- exponentials and logarithms ---- */

double wgi_log1mexp_dd(double a);
double wgi_log_base_daa(double a, double b, double v);
double wgi_log_base_dab(double a, double b, double v);
double wgi_log_base_dbb(double a, double b, double v);
/* The mixed second partial is -daa and dbb is daa: the value shifts with both operands. */
double wgi_log_add_exp_daa(double a, double b);
double wgi_log_diff_exp_daa(double a, double b);
double wgi_logit_dd(double a);

/* s'' = s' (1 - 2 s), and 1 - 2 s = -tanh(a/2). */
static inline double wgi_sigmoid_dd(double a, double s) {
    return -wgi_sigmoid_d(a, s) * tanh(0.5 * a);
}

/* ---- trigonometric ---- */

static inline double wgi_atan_dd(double a) {
    double d = wgi_atan_d(a);
    return fabs(a) < 1e9 ? -2 * a * d * d : -2 * d / a;
}

/* Of atan2, dbb is -daa. */
double wgi_atan2_daa(double a, double b);
double wgi_atan2_dab(double a, double b);
double wgi_asec_dd(double a);

/* ---- hyperbolic ---- */

static inline double wgi_asinh_dd(double a) {
    double d = wgi_asinh_d(a);
    return fabs(a) < 1e9 ? -a * d * d * d : -d / a;
}

static inline double wgi_acosh_dd(double a) {
    double d = wgi_acosh_d(a);
    return a < 1e9 ? -a * d * d * d : -d / a;
}

double wgi_asech_dd(double a);
double wgi_acsch_dd(double a);

static inline double wgi_acoth_dd(double a) {
    double d = wgi_acoth_d(a);
    return fabs(a) < 1e9 ? 2 * a * d * d : -2 * d / a;
}

/* ---- normal distribution and error function ---- */

double wgi_erf_dd(double a);
double wgi_erfcx_dd(double a, double v);
double wgi_phi_d(double a);
double wgi_log_Phi_dd(double a);
double wgi_inv_Phi_dd(double a, double v);

/* ---- gamma, Bessel and Lambert functions ---- */

double wgi_tetragamma(double a);
double wgi_tgamma_dd(double a, double v);
double wgi_j0_dd(double a, double v);
double wgi_j1_dd(double a, double v);
double wgi_y0_dd(double a, double v);
double wgi_y1_dd(double a, double v);
double wgi_lambertw0_dd(double a);
double wgi_lambertwm1_dd(double a);

#endif
