/* SPDX-License-Identifier: MIT */
/* Divided differences of exp, log, roots, powers and a user's function, without cancellation:
 * each function has its own form of f[a, b] and f[a, b, c]. p: the exponent. */
#include "symmetric_rules.h"

#include <float.h>
#include <math.h>

static double exp_f(const wg_symmetric_function *u, double a) { return (void)u, exp(a); }
static double exp_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return exp(b) * (-expm1(a - b) / (b - a));
}

static double log_f(const wg_symmetric_function *u, double a) { return (void)u, log(a); }
static double log_slope(const wg_symmetric_function *u, double a) { return (void)u, 1 / a; }
/* log(b / a) */
static double log_ratio(double a, double b) {
    return b < 2 * a ? log1p((b - a) / a) : log(b) - log(a);
}
static double log_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return log_ratio(a, b) / (b - a);
}

static double sqrt_f(const wg_symmetric_function *u, double a) { return (void)u, sqrt(a); }
static double sqrt_slope(const wg_symmetric_function *u, double a) {
    return (void)u, 0.5 / sqrt(a);
}
static double sqrt_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return 1 / (sqrt(a) + sqrt(b));
}

static double inverse_sqrt_f(const wg_symmetric_function *u, double a) {
    return (void)u, 1 / sqrt(a);
}
static double inverse_sqrt_slope(const wg_symmetric_function *u, double a) {
    return (void)u, -0.5 / a / sqrt(a);
}
static double inverse_sqrt_divided(const wg_symmetric_function *u, double a, double b) {
    (void)u;
    return -1 / sqrt(a) / sqrt(b) / (sqrt(a) + sqrt(b));
}

/* Its exponent is the data. */
static double power_of(const wg_symmetric_function *u) { return *(const double *)u->data; }
static double power_f(const wg_symmetric_function *u, double a) { return pow(a, power_of(u)); }
static double power_slope(const wg_symmetric_function *u, double a) {
    const double p = power_of(u);
    return p == 0 ? 0 : p * pow(a, p - 1);
}
static double power_divided(const wg_symmetric_function *u, double a, double b) {
    const double p = power_of(u), direct = (pow(b, p) - pow(a, p)) / (b - a);
    if (p == 0 || p == 1) return p;
    if (!(a > 0) && !(b < 0)) return direct; /* nothing cancels that a slope would need */
    /* s b^p (1 - (a / b)^p) / (b - a) of magnitudes a < b; s for odd powers of negative numbers
     */
    const double s = b < 0 ? pow(-1, p - 1) : 1;
    const double low = b < 0 ? -b : a, high = b < 0 ? -a : b;
    const double d = s * pow(high, p) * (-expm1(-p * log_ratio(low, high)) / (high - low));
    return isfinite(d) ? d : direct;
}

static double user_f(const wg_symmetric_function *u, double a) { return u->f(a, u->data); }
static double user_slope(const wg_symmetric_function *u, double a) {
    return u->slope(a, u->data);
}
/* The quotient, or the mean of the slope by Gauss's rule of three points where that is nearer:
 * the error of the one is some roundings of f, that of the other at most its difference to the
 * rule of two. */
static double user_divided(const wg_symmetric_function *u, double a, double b) {
    const double fa = user_f(u, a), fb = user_f(u, b), gap = b - a, quotient = (fb - fa) / gap;
    const double error = 2 * DBL_EPSILON * (fabs(fa) + fabs(fb)) / gap;
    if (error <= 64 * DBL_EPSILON * fabs(quotient) || gap > 0.125 * fmax(fabs(a), fabs(b)))
        return quotient;
    const double m = a + 0.5 * gap, h3 = sqrt(0.15) * gap, h2 = sqrt(1.0 / 12) * gap;
    const double mean =
        (5 * user_slope(u, m - h3) + 8 * user_slope(u, m) + 5 * user_slope(u, m + h3)) / 18;
    const double coarse = 0.5 * (user_slope(u, m - h2) + user_slope(u, m + h2));
    return fabs(mean - coarse) <= error ? mean : quotient;
}

static wg_status take_any(double p, double *a, double noise, const char **why) {
    (void)p, (void)a, (void)noise, (void)why;
    return WG_OK;
}
static wg_status take_positive(double p, double *a, double noise, const char **why) {
    (void)p, (void)noise;
    *why = "the operand is not positive definite";
    return *a > 0 ? WG_OK : WG_ESINGULAR;
}
static wg_status take_nonnegative(double p, double *a, double noise, const char **why) {
    (void)p;
    *why = "the operand has a negative eigenvalue";
    if (*a < 0 && *a >= -noise) *a = 0;
    return *a >= 0 ? WG_OK : WG_ESINGULAR;
}
static wg_status take_power(double p, double *a, double noise, const char **why) {
    if (p != rint(p)) return (p < 0 ? take_positive : take_nonnegative)(p, a, noise, why);
    *why = "the operand is singular";
    return p < 0 && fabs(*a) <= noise ? WG_ESINGULAR : WG_OK;
}

/* ---- second divided differences ----
 * Far apart, the quotient of first ones; near to each other, f(b + t) = sum c_k t^k gives the
 * sum of c_k+2 h_k(a - b, c - b), with h_k(x, z) = x^k + x^(k-1) z + ... + z^k. Source: de
 * Boor 2005. */

typedef double divided_fn(const wg_symmetric_function *u, double a, double b);

static double by_quotient(const wg_symmetric_function *u, divided_fn *divided,
                          divided_fn *slope, double a, double b, double c) {
    const double low = a < b ? divided(u, a, b) : slope(u, a, b);
    const double high = b < c ? divided(u, b, c) : slope(u, b, c);
    return (high - low) / (c - a);
}

enum { TERMS = 60 };
/* ratio(k, p): c_k+1 over c_k. */
static double by_series(double first, double x, double z, double p,
                        double (*ratio)(int k, double p)) {
    double term = first, h = 1, power = 1, sum = first;
    for (int k = 1; k < TERMS; k++) {
        term *= ratio(k + 1, p);
        power *= x;
        h = z * h + power;
        sum += term * h;
        if (fabs(term) * (fabs(h) + fabs(power)) <= 0x1p-60 * fabs(sum)) break;
    }
    return sum;
}
static double exp_ratio(int k, double p) { return (void)p, 1.0 / (k + 1); }
static double log_ratio_of(int k, double p) { return (void)p, -(double)k / (k + 1); }
static double power_ratio(int k, double p) { return (p - k) / (k + 1); }

static double exp_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)u, (void)b, exp(a);
}
static double exp_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (c - a > 1) return by_quotient(u, exp_divided, exp_slope_at, a, b, c);
    return exp(b) * by_series(0.5, a - b, c - b, 0, exp_ratio);
}
static double log_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)b, log_slope(u, a);
}
static double log_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (c > 1.25 * a) return by_quotient(u, log_divided, log_slope_at, a, b, c);
    return by_series(-0.5, (a - b) / b, (c - b) / b, 0, log_ratio_of) / b / b;
}
static double sqrt_second(const wg_symmetric_function *u, double a, double b, double c) {
    const double x = sqrt(a), y = sqrt(b), z = sqrt(c);
    return (void)u, -1 / (x + y) / (y + z) / (x + z);
}
static double inverse_sqrt_second(const wg_symmetric_function *u, double a, double b,
                                  double c) {
    const double x = sqrt(a), y = sqrt(b), z = sqrt(c);
    return (void)u, (x + y + z) / (x * y * z) / (x + y) / (y + z) / (x + z);
}
static double power_slope_at(const wg_symmetric_function *u, double a, double b) {
    return (void)b, power_slope(u, a);
}
static double power_second(const wg_symmetric_function *u, double a, double b, double c) {
    const double p = power_of(u), half = 0.5 * p * (p - 1);
    if (half == 0) return 0;
    if (a == c) return half * pow(a, p - 2);
    const double low = c < 0 ? -c : a, high = c < 0 ? -a : c; /* of magnitudes, of one sign */
    /* the series converges, and cancels little, for |p| times what they are apart up to 8 */
    if (!(low > 0) || high > (1 + fmin(0.25, 8 / fabs(p))) * low)
        return by_quotient(u, power_divided, power_slope_at, a, b, c);
    return pow(b, p - 2) * by_series(half, (a - b) / b, (c - b) / b, p, power_ratio);
}

/* The mean of half the second derivative over the triangle of a, b, c, by rules of 7 and 3
 * points, where their difference says that it is nearer than the quotient. Source: Hermite and
 * Genocchi; Radon 1948. */
static double user_second(const wg_symmetric_function *u, double a, double b, double c) {
    if (a == c) return 0.5 * u->curve(a, u->data);
    const double x[3] = {a, b, c}, root = sqrt(15), center = a + ((b - a) + (c - a)) / 3;
    const double near = (6 + root) / 21, far = (6 - root) / 21;
    double coarse = 0, mean = 0.225 * u->curve(center, u->data);
    for (int i = 0; i < 3; i++) {
        const double to = x[i] - center;
        coarse += u->curve(center + 0.5 * to, u->data) / 3;
        mean += (155 - root) / 1200 * u->curve(center + (1 - 3 * far) * to, u->data);
        mean += (155 + root) / 1200 * u->curve(center + (1 - 3 * near) * to, u->data);
    }
    const double low = a < b ? user_divided(u, a, b) : user_slope(u, a);
    const double high = b < c ? user_divided(u, b, c) : user_slope(u, b);
    const double error = 64 * DBL_EPSILON * (fabs(low) + fabs(high)) / (c - a);
    return fabs(mean - coarse) <= 2 * error ? 0.5 * mean : (high - low) / (c - a);
}

const wgi_symmetric_rule wgi_symmetric_rules[WGI_SYMMETRIC_RULES] = {
    [WGI_RULE_EXP] = {exp_f, exp_f, exp_divided, take_any, exp_second},
    [WGI_RULE_LOG] = {log_f, log_slope, log_divided, take_positive, log_second},
    [WGI_RULE_SQRT] = {sqrt_f, sqrt_slope, sqrt_divided, take_nonnegative, sqrt_second},
    [WGI_RULE_INVERSE_SQRT] = {inverse_sqrt_f, inverse_sqrt_slope, inverse_sqrt_divided,
                               take_positive, inverse_sqrt_second},
    [WGI_RULE_POWER] = {power_f, power_slope, power_divided, take_power, power_second},
    [WGI_RULE_USER] = {user_f, user_slope, user_divided, take_any, user_second}};
