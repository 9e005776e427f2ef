/* SPDX-License-Identifier: MIT */
/* special_gamma.c - the gamma function and its logarithmic derivatives. */
#define _DEFAULT_SOURCE /* lgamma_r */
#include "special_poly.h"
#include "special_second.h"

#define PI 3.14159265358979323846

double wgi_lgamma(double a) {
    int sign;
    return lgamma_r(a, &sign);
}

/* psi(x) / (x - x0) on [1, 2] in 2 (x - 1.5), x0 the positive root of psi. */
static const double DIGAMMA[] = {
    0.951055876031832893,      -0.211813710640730252,    0.0601356210601935546,
    -0.0185506153817386072,    0.00593679527843382583,   -0.00193506666478326662,
    0.000636888028319074,      -0.000210748412157330069, 0.0000699502048416062476,
    -0.0000232582382843137593, 7.74115688125370707e-6,   -2.5781078482702169e-6,
    8.59132422241766613e-7,    -2.86287552800386846e-7,  9.50092619292409624e-8,
    -3.16661807202716207e-8,   1.10370884388543002e-8,   -3.6788868183645545e-9,
    8.66825737376165726e-10,   -2.88936363921611136e-10, 2.47654744400317636e-10,
    -8.25512972008104003e-11};
#define ROOT_HI 1.4616321449683622
#define ROOT_LO 9.5499954299656977e-17

/* Asymptotic series, DLMF 5.11.2 and 5.15.8: B_2k/(2k), B_2k and (2k+1) B_2k, k = 1, 2, ... */
static const double PSI0[] = {1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                              1. / 132, -691. / 32760, 1. / 12,  -3617. / 8160};
static const double PSI1[] = {1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                              5. / 66, -691. / 2730, 7. / 6,  -3617. / 510};
static const double PSI2[] = {1. / 2,   -1. / 6,    1. / 6,
                              -3. / 10, 5. / 6,     -691. * 11 / 2730 * 13 / 11,
                              35. / 2,  -3617. / 30};

/* a is 0, -1, -2, ... or -infinity. */
static int is_pole(double a) { return a <= 0 && a == floor(a); }

/* 1 / tan(pi a) from the exact distance to the nearest integer. */
static double cot_pi(double a) {
    double r = remainder(a, 1.0);
    return fabs(r) <= 0.25 ? 1 / tan(PI * r) : tan(PI * (copysign(0.5, r) - r));
}

static double digamma_positive(double x) {
    double s = 0;
    if (x >= 10) {
        double r = 1 / x;
        return log(x) - 0.5 * r - r * r * HORNER(PSI0, r * r);
    }
    if (x < 1) {
        s = -1 / x;
        x += 1;
    }
    for (; x > 2; x -= 1) s += 1 / (x - 1);
    return s + ((x - ROOT_HI) - ROOT_LO) * HORNER(DIGAMMA, 2 * (x - 1.5));
}

double wgi_digamma(double a) {
    if (is_pole(a) || a != a) return NAN;
    return a > 0 ? digamma_positive(a) : digamma_positive(1 - a) - PI * cot_pi(a);
}

static double trigamma_positive(double x) {
    double s = 0;
    for (; x < 10; x += 1) s += 1 / x / x;
    double r = 1 / x;
    return s + (r + r * r * (0.5 + r * HORNER(PSI1, r * r)));
}

double wgi_trigamma(double a) {
    if (is_pole(a) || a != a) return NAN;
    if (a > 0) return trigamma_positive(a);
    double p = PI / wgi_sinpi(a);
    return p * p - trigamma_positive(1 - a);
}

static double tetragamma_positive(double x) {
    double s = 0;
    for (; x < 10; x += 1) s += 2 / x / x / x;
    double r = 1 / x;
    return -(s + r * r * (1 + r * (1 + r * HORNER(PSI2, r * r))));
}

double wgi_tetragamma(double a) {
    if (is_pole(a) || a != a) return NAN;
    if (a > 0) return tetragamma_positive(a);
    double p = PI / wgi_sinpi(a);
    return tetragamma_positive(1 - a) - 2 * PI * cot_pi(a) * p * p;
}

/* Gamma(a) t where Gamma(a) is subnormal: through Gamma(a + 8), rounded once at the end. */
static double tgamma_times(double a, double v, double t) {
    if (fabs(v) >= DBL_MIN || !(a < -100)) return v * t;
    double p = 1;
    for (int i = 0; i < 8; i++) p *= a + i;
    return tgamma(a + 8) * t / p;
}

double wgi_tgamma_d(double a, double v) { return tgamma_times(a, v, wgi_digamma(a)); }

double wgi_tgamma_dd(double a, double v) {
    double p = wgi_digamma(a);
    return tgamma_times(a, v, p * p + wgi_trigamma(a));
}
