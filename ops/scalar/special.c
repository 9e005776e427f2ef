/* SPDX-License-Identifier: MIT */
/* special.c - the functions of powers, logarithms, angles and their hyperbolic kin that the
 * texts of scalar.def call besides libm. The other families are in special_normal.c,
 * special_gamma.c, special_bessel.c and special_lambert.c.
 *
 * The values aim at 4 ulp and the derivatives at 8 ulp. Three devices recur:
 *   - a factor that would over- or underflow on the way is carried as mantissa and exponent;
 *   - where an argument must be rounded, the rounding error is recovered (two-sum, fma) and
 *     applied to first order;
 *   - a difference of nearly equal functions is replaced by the function it defines (Mills
 * ratio minus its argument, digamma near its root, 1 + W near the branch point of Lambert's W).
 */
#include "special_second.h"

#include <stddef.h>

#define PI 3.14159265358979323846
#define LN2 0.693147180559945309417
#define SQRT1_2 0.707106781186547524401
#define COUNT(t) (sizeof(t) / sizeof(t)[0])

/* ---- common ---- */

static int finite_nonzero(double t) { return t != 0 && fabs(t) <= DBL_MAX; }

/* Far enough from both ends of the range that one more factor of the same kind is harmless. */
static int moderate(double t) { return fabs(t) > 1e-290 && fabs(t) < 1e290; }

/* 2^shift times the product of num over the product of den, all finite and not zero, rounded to
 * the range of double only at the end. */
static double scaled(size_t n, const double *num, size_t m, const double *den, int shift) {
    double t = 1;
    int e;
    for (size_t i = 0; i < n; i++) {
        t *= frexp(num[i], &e);
        shift += e;
    }
    for (size_t i = 0; i < m; i++) {
        t /= frexp(den[i], &e);
        shift -= e;
    }
    return ldexp(t, shift);
}

#define SCALED(num, den, shift) scaled(COUNT(num), num, COUNT(den), den, shift)

/* a - b rounded, and what the rounding lost (Knuth's two-sum). */
static double difference(double a, double b, double *lost) {
    double s = a - b, t = s - a;
    *lost = fabs(s) <= DBL_MAX ? (a - (s - t)) - (b + t) : 0.0;
    return s;
}

/* ---- powers ---- */

/* |a|^(b/2), finite and not zero over twice the range of exponents of a^b. */
static double half_pow(double a, double b) { return pow(fabs(a), 0.5 * b); }

/* a^(b-k), corrected for the rounding of b - k; its sign, where 2^53 and more have lost the
 * parity, is that of a^b times that of a^k. */
static double lower_pow(double a, double b, int k, double v) {
    double lost, s = difference(b, k, &lost), p = pow(a, s);
    if (a < 0 && fabs(b) > 9007199254740992.0) p = copysign(p, k == 1 ? -v : v);
    return lost == 0 || !finite_nonzero(p) ? p : p * (1 + lost * log(fabs(a)));
}

/* t p, and 0 where p is, also for infinite t. */
static double times(double t, double p) { return p == 0 ? 0.0 : t * p; }

/* b a^(b-1) as b v / a, which keeps the parity of b for a < 0 where b - 1 rounds, and does not
 * feel the rounding of b - 1. */
double wgi_pow_da(double a, double b, double v) {
    if (b == 0) return a != a ? 0.0 : 0.0 * copysign(1.0, a);
    if (b == 1) return 1;
    if (b == 2) return 2 * a;
    double q = v / a, r = b * q;
    if (moderate(v) && moderate(q) && moderate(r)) return r;
    if (v != v) return v;
    double h = half_pow(a, b);
    if (!finite_nonzero(a) || !moderate(h)) return times(b, lower_pow(a, b, 1, v));
    const double num[] = {b, h, copysign(h, v)}, den[] = {a};
    return SCALED(num, den, 0);
}

double wgi_pow_db(double a, double b, double v) {
    if (a == 0) return b < 0 ? -INFINITY : b >= 0 ? 0.0 : b;
    if (v == 0 && (fabs(b) > DBL_MAX || a > DBL_MAX)) return 0;
    double l = log(a), r = v * l;
    if (moderate(v) || !(a > 0)) return r;
    double h = half_pow(a, b);
    if (!moderate(h) || !finite_nonzero(l)) return r;
    const double num[] = {h, h, l};
    return scaled(COUNT(num), num, 0, NULL, 0);
}

double wgi_pow_daa(double a, double b, double v) {
    if (b == 0 || b == 1) return 0;
    if (b == 2) return 2;
    double q = v / a / a, r = b * (b - 1) * q;
    if (moderate(v) && moderate(v / a) && moderate(q) && moderate(r)) return r;
    if (v != v) return v;
    double h = half_pow(a, b);
    if (!finite_nonzero(a) || !moderate(h))
        return times(b, times(b - 1, lower_pow(a, b, 2, v)));
    const double num[] = {b, b - 1, h, copysign(h, v)}, den[] = {a, a};
    return SCALED(num, den, 0);
}

/* a^(b-1) (1 + b log a). */
double wgi_pow_dab(double a, double b, double v) {
    if (a < 0) return NAN;
    if (a == 0) return b > 1 ? 0.0 : b == 1 ? -INFINITY : b > 0 ? -INFINITY : INFINITY;
    double l = log(a), q = v / a, s = fma(b, l, 1.0), r = q * s;
    if (moderate(v) && moderate(q)) return r;
    double h = half_pow(a, b);
    if (!moderate(h) || !finite_nonzero(s) || !finite_nonzero(a))
        return times(s, lower_pow(a, b, 1, v));
    const double num[] = {h, h, s}, den[] = {a};
    return SCALED(num, den, 0);
}

double wgi_pow_dbb(double a, double b, double v) {
    if (a == 0) return b < 0 ? INFINITY : b >= 0 ? 0.0 : b;
    if (v == 0 && (fabs(b) > DBL_MAX || a > DBL_MAX)) return 0;
    double l = log(a), r = v * l * l;
    if (moderate(v) || !(a > 0)) return r;
    double h = half_pow(a, b);
    if (!moderate(h) || !finite_nonzero(l)) return r;
    const double num[] = {h, h, l, l};
    return scaled(COUNT(num), num, 0, NULL, 0);
}

/* hypot is 0, infinite or NaN. */
double wgi_hypot_da_rare(double a, double b) {
    if (a == 0 && b == 0) return 0;
    if (a != a || b != b) return NAN;
    if (fabs(a) > DBL_MAX) return copysign(fabs(b) > DBL_MAX ? SQRT1_2 : 1.0, a);
    return fabs(b) > DBL_MAX ? 0.0 : 0.5 * a / hypot(0.5 * a, 0.5 * b);
}

/* sign p q / h^3 with h = hypot(a, b), h having over- or underflowed or a ratio being tiny. */
static double hypot_second(double p, double q, double a, double b) {
    if (a != a || b != b) return NAN;
    if (!(fabs(a) <= DBL_MAX && fabs(b) <= DBL_MAX) || p == 0 || q == 0) return 0;
    double h = hypot(0.25 * a, 0.25 * b);
    int s = 2;
    if (h < 1e-290) {
        h = hypot(ldexp(a, 200), ldexp(b, 200));
        s = -200;
    }
    const double num[] = {p, q}, den[] = {h, h, h};
    return SCALED(num, den, -3 * s);
}

double wgi_hypot_daa(double a, double b, double v) {
    double t = b / v, r = t * t / v;
    return moderate(v) && moderate(t * t) ? r : hypot_second(b, b, a, b);
}

double wgi_hypot_dab(double a, double b, double v) {
    double t = (a / v) * (b / v);
    return moderate(v) && moderate(t) ? -t / v : -hypot_second(a, b, a, b);
}

/* ---- exponentials and logarithms ---- */

double wgi_log1mexp(double a) { return a > -LN2 ? log(-expm1(a)) : log1p(-exp(a)); }

double wgi_log1mexp_d(double a) { return a > 0 ? NAN : -(exp(a) / fabs(expm1(a))); }

double wgi_log1mexp_dd(double a) {
    double m = fabs(expm1(a));
    return a > 0 ? NAN : -(exp(a) / m / m);
}

/* Exact at powers of 2 and 10. */
double wgi_log_base(double a, double b) {
    return b == 2 ? log2(a) : b == 10 ? log10(a) : log(a) / log(b);
}

double wgi_log_base_da(double a, double b, double v) {
    return a < 0 || v != v ? NAN : 1 / fabs(a) / log(b);
}

double wgi_log_base_db(double a, double b, double v) {
    (void)a;
    return -v / b / log(b);
}

double wgi_log_base_daa(double a, double b, double v) {
    return a < 0 || v != v ? NAN : -(1 / a) / a / log(b);
}

double wgi_log_base_dab(double a, double b, double v) {
    double l = log(b);
    return a < 0 || v != v ? NAN : -(1 / fabs(a) / l) / b / l;
}

double wgi_log_base_dbb(double a, double b, double v) {
    double l = log(b);
    (void)a;
    return v / b / b * (l + 2) / l / l;
}

double wgi_log_add_exp(double a, double b) {
    if (a == b) return a + LN2;
    if (a != a || b != b) return a + b;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* sigmoid(a - b), corrected for the rounding of a - b. */
double wgi_log_add_exp_da(double a, double b) {
    if (a == b) return 0.5;
    double lost, s = difference(a, b, &lost);
    return wgi_sigmoid(s) * (1 + lost * wgi_sigmoid(-s));
}

double wgi_log_add_exp_daa(double a, double b) {
    return wgi_log_add_exp_da(a, b) * wgi_log_add_exp_da(b, a);
}

double wgi_log_diff_exp(double a, double b) {
    if (a == b) return -INFINITY;
    if (b == -INFINITY) return a;
    double lost, s = difference(b, a, &lost);
    return a + (wgi_log1mexp(s) + (lost == 0 ? 0.0 : lost * wgi_log1mexp_d(s)));
}

/* e^a / (e^a - e^b) = -1 / expm1(b - a). */
double wgi_log_diff_exp_da(double a, double b) {
    if (a == b) return INFINITY;
    double lost, s = difference(b, a, &lost);
    return s < 0 ? -1 / (expm1(s) + lost * exp(s)) : NAN;
}

double wgi_log_diff_exp_db(double a, double b) {
    if (a == b) return -INFINITY;
    double lost, s = difference(b, a, &lost);
    double e = exp(s);
    return s < 0 ? e * (1 + lost) / (expm1(s) + lost * e) : NAN;
}

double wgi_log_diff_exp_daa(double a, double b) {
    return wgi_log_diff_exp_da(a, b) * wgi_log_diff_exp_db(a, b);
}

/* 2 a - 1 and 1 - a are exact where they are used. */
double wgi_logit(double a) {
    if (a > 0.25 && a < 0.75) return 2 * atanh(2 * a - 1);
    return a < 0.5 ? log(a / (1 - a)) : -log((1 - a) / a);
}

double wgi_logit_d(double a) { return a < 0 || a > 1 ? NAN : 1 / (fabs(a) * (1 - a)); }

double wgi_logit_dd(double a) {
    double d = wgi_logit_d(a);
    return (2 * a - 1) * d * d;
}

/* ---- trigonometric ---- */

/* b / h^2 where a^2 + b^2 leaves the safe range: h is taken of operands scaled near 1. */
static double norm2_scaled(double a, double b, int *s) {
    (void)frexp(fmax(fabs(a), fabs(b)), s);
    return hypot(ldexp(a, -*s), ldexp(b, -*s));
}

double wgi_atan2_da_rare(double a, double b) {
    int s;
    if (a != a || b != b || (a == 0 && b == 0)) return NAN;
    if (fabs(a) > DBL_MAX || fabs(b) > DBL_MAX || b == 0) return 0;
    double h = norm2_scaled(a, b, &s);
    const double num[] = {b}, den[] = {h, h};
    return SCALED(num, den, -2 * s);
}

double wgi_atan2_daa(double a, double b) {
    double h2 = a * a + b * b, r = -2 * (a / h2) * (b / h2);
    int s;
    if (moderate(h2) && moderate(a / h2) && moderate(b / h2) && moderate(r)) return r;
    if (a != a || b != b || (a == 0 && b == 0)) return NAN;
    if (fabs(a) > DBL_MAX || fabs(b) > DBL_MAX || a == 0 || b == 0) return 0;
    double h = norm2_scaled(a, b, &s);
    const double num[] = {-2, a, b}, den[] = {h, h, h, h};
    return SCALED(num, den, -4 * s);
}

double wgi_atan2_dab(double a, double b) {
    double h2 = a * a + b * b, r = (a - b) / h2 * ((a + b) / h2);
    int s;
    if (moderate(h2) && moderate((a - b) / h2) && moderate((a + b) / h2) && moderate(r))
        return r;
    if (a != a || b != b || (a == 0 && b == 0)) return NAN;
    if (fabs(a) > DBL_MAX || fabs(b) > DBL_MAX || fabs(a) == fabs(b)) return 0;
    double h = norm2_scaled(a, b, &s);
    double p = ldexp(a, -s) - ldexp(b, -s), q = ldexp(a, -s) + ldexp(b, -s);
    const double num[] = {p, q}, den[] = {h, h, h, h};
    return SCALED(num, den, -2 * s);
}

/* acos(1/a) loses half the digits near |a| = 1; the legs of the triangle do not. */
double wgi_asec(double a) {
    double t = fabs(a);
    return atan2(sqrt(t - 1) * sqrt(t + 1), copysign(1.0, a));
}

double wgi_acsc(double a) {
    double t = fabs(a);
    return atan2(copysign(1.0, a), sqrt(t - 1) * sqrt(t + 1));
}

double wgi_asec_d(double a) {
    double t = fabs(a);
    return 1 / t / (sqrt(t - 1) * sqrt(t + 1));
}

double wgi_asec_dd(double a) {
    double d = wgi_asec_d(a);
    return fabs(a) < 1e9 ? -d * (1 / a + a / (fabs(a) - 1) / (fabs(a) + 1)) : -2 * d / a;
}

/* The reduction is exact; sin and cos of pi r, |r| <= 1/4, with r a multiple of ulp(a). */
double wgi_sinpi(double a) {
    double r = remainder(a, 2.0), t = fabs(r);
    if (t > 0.5) t = 1 - t;
    return copysign(t <= 0.25 ? sin(PI * t) : cos(PI * (0.5 - t)), r);
}

double wgi_cospi(double a) {
    double t = fabs(remainder(a, 2.0)), s = t > 0.5 ? -1.0 : 1.0;
    if (t > 0.5) t = 1 - t;
    return s * (t <= 0.25 ? cos(PI * t) : sin(PI * (0.5 - t)));
}

/* ---- hyperbolic ---- */

double wgi_sech(double a) {
    double e = exp(-fabs(a));
    return 2 * e / (1 + e * e);
}

double wgi_csch(double a) {
    return fabs(a) < 700 ? 1 / sinh(a) : copysign(2 * exp(-fabs(a)), a);
}

double wgi_asech(double a) {
    if (a > 0.5) return asinh(sqrt((1 - a) * (1 + a)) / a);
    return a < 1e-300 ? LN2 - log(a) : acosh(1 / a);
}

double wgi_asech_d(double a) { return a < 0 ? NAN : -1 / fabs(a) / sqrt((1 - a) * (1 + a)); }

double wgi_asech_dd(double a) {
    double s = (1 - a) * (1 + a);
    return a < 0 ? NAN : fma(-2 * a, a, 1.0) / s / sqrt(s) / a / a;
}

double wgi_acsch(double a) {
    return fabs(a) < 1e-300 ? copysign(LN2 - log(fabs(a)), a) : asinh(1 / a);
}

double wgi_acsch_d(double a) { return -wgi_asinh_d(a) / fabs(a); }

/* (1 + 2 a^2) / (a^2 (1 + a^2)^(3/2)), odd in a. */
double wgi_acsch_dd(double a) {
    double d = wgi_asinh_d(a);
    return fabs(a) < 1e9 ? (1 + 2 * a * a) * d * d * d / a / fabs(a) : 2 * d / a / fabs(a);
}

double wgi_acoth(double a) { return copysign(0.5 * log1p(2 / (fabs(a) - 1)), a); }
