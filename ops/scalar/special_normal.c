/* SPDX-License-Identifier: MIT */
/* special_normal.c - error function, normal distribution and its logarithm and quantile. */
#include "special_poly.h"
#include "special_second.h"

#define PI 3.14159265358979323846
#define SQRT2 1.41421356237309504880
#define SQRT1_2 0.707106781186547524401
#define SQRT_2PI 2.50662827463100050242
#define INV_SQRT_2PI 0.398942280401432677940

/* k exp(-c a^2) with c = 1 or 1/2: the rounding error of a^2 is a relative error of the result.
 * Where the exponential is subnormal and the product may not be, it is taken in halves. */
static double gauss(double a, double c, double k) {
    double s = a * a;
    if (!(s < 2000)) return s == s ? 0.0 : s;
    k *= 1 - c * fma(a, a, -s);
    if (c * s < 700) return k * exp(-c * s);
    double h = exp(-0.5 * c * s);
    return k * h * h;
}

double wgi_exp_msq(double a) { return gauss(a, 1.0, 1.0); }

double wgi_erf_dd(double a) { return gauss(a, 1.0, -2.25675833419102514779 * a); }

double wgi_phi(double a) { return gauss(a, 0.5, INV_SQRT_2PI); }

double wgi_phi_d(double a) { return gauss(a, 0.5, -INV_SQRT_2PI * a); }

/* The inverse Mills ratio m(x) = phi(x) / Phi(-x) has the continued fraction (DLMF 7.9.2)
 *     m = x + 1/(x + 2/(x + 3/(x + ...))).
 * With t = m - x and u = 1/t - x: every derivative wanted here is a product of m, t, u, while
 * the differences lose all digits. t and u are fitted on [0.5, 4.5] in (x - 2.5)/2. */
static const double MILLS_T[] = {
    0.322744797663907251,     -0.177947602842230886,     0.0857572620740509543,
    -0.0363208538329582266,   0.0133735289491680449,     -0.00411787430382116672,
    0.0009350661075507187,    -0.0000617192273414633819, -0.0000836354363475630775,
    0.0000608468533958065333, -0.0000269527749403349719, 8.61178385210298587e-6,
    -1.67749639715261347e-6,  -1.56178006436213326e-7,   3.40853631929859907e-7,
    -1.96287328083151366e-7,  7.6978415026286992e-8,     -2.09767931682506291e-8,
    2.1033940315116081e-9,    1.59937938722760728e-9,    -1.1341920846038115e-9,
    5.85402205000643423e-10,  -3.31726674540214449e-10,  7.56256691575696537e-11,
    4.13842957976634584e-11,  -1.93417793430515371e-11};
static const double MILLS_U[] = {
    0.598423296791161929,     -0.291662631759384204,   0.118614586887388666,
    -0.0398388275134272721,   0.0103801274180967184,   -0.00159820062411898835,
    -0.000217990131201715527, 0.000279884201916209568, -0.000120084044679316012,
    0.0000302104202760748495, -1.57003035629621893e-6, -2.86637546120298291e-6,
    1.736878360291578e-6,     -5.78364820265643196e-7, 9.3803060412001244e-8,
    2.25803309373245668e-8,   -2.42811680082039181e-8, 1.03345745415451369e-8,
    -2.50280331884072519e-9,  5.09437147657869046e-11, 2.76102700987302714e-10,
    -1.69722638067581706e-10, 6.82400655913195697e-11, -8.16743069805809505e-12,
    -8.17662470005256598e-12, 3.00635661268708334e-12};

static double fraction(double x, int k) {
    double t = 0;
    for (int i = 16 + (int)(400 / (x * x)); i >= k; i--) t = i / (x + t);
    return t;
}

/* m(x) - x for x >= 0.5. */
static double mills_t(double x) {
    return x < 4.5 ? HORNER(MILLS_T, 0.5 * (x - 2.5)) : fraction(x, 1);
}

static double mills_u(double x) {
    return x < 4.5 ? HORNER(MILLS_U, 0.5 * (x - 2.5)) : fraction(x, 2);
}

double wgi_Phi(double a) {
    if (a < -0.5) return gauss(a, 0.5, INV_SQRT_2PI / (-a + mills_t(-a)));
    if (a > 0.5) return 1 - wgi_Phi(-a);
    return 0.5 + 0.5 * erf(SQRT1_2 * a);
}

double wgi_log_Phi(double a) {
    if (a < -0.5) return -0.5 * a * a - log(SQRT_2PI * (-a + mills_t(-a)));
    return a > 0 ? log1p(-wgi_Phi(-a)) : log(wgi_Phi(a));
}

double wgi_log_Phi_d(double a) { return a < -0.5 ? -a + mills_t(-a) : wgi_phi(a) / wgi_Phi(a); }

double wgi_log_Phi_dd(double a) {
    double m = wgi_log_Phi_d(a);
    if (m == 0) return 0;
    if (m > DBL_MAX) return -1;
    return a < -0.5 ? -m * mills_t(-a) : -m * (a + m);
}

double wgi_erfcx(double a) {
    double x = SQRT2 * a, s = a * a;
    if (x > 0.5) return 0.797884560802865355880 / (x + mills_t(x));
    return s < 1000 ? exp(s) * (1 + fma(a, a, -s)) * erfc(a) : s == s ? INFINITY : s;
}

/* 2 a v - 2/sqrt(pi), which is -sqrt(2) t v. */
double wgi_erfcx_d(double a, double v) {
    double x = SQRT2 * a;
    return x > 0.5 ? -SQRT2 * mills_t(x) * v : 2 * a * v - 1.12837916709551257390;
}

/* 2 v + 2 a v', which is 2 v t u. */
double wgi_erfcx_dd(double a, double v) {
    double x = SQRT2 * a;
    return x > 0.5 ? 2 * v * mills_t(x) * mills_u(x) : 2 * v + 2 * a * wgi_erfcx_d(a, v);
}

/* The quantile of 0 < p < 1/2 as -x: Newton on log Phi in the tail, where it is nearly linear
 * in x^2, and Halley on the odd function Phi - 1/2 around the median. */
static double quantile(double p) {
    double x;
    if (p > 0.2) {
        double q = 0.5 - p;
        x = SQRT_2PI * q * (1 + PI / 3 * q * q);
        for (int i = 0; i < 4; i++) {
            double f = (0.5 * erf(SQRT1_2 * x) - q) / wgi_phi(x);
            x -= f / (1 + 0.5 * x * f);
        }
        return x;
    }
    double l = log(p), y = -2 * l;
    x = sqrt(y - log(2 * PI * fmax(y - log(2 * PI * y), 0.5)));
    for (int i = 0; i < 5; i++) x += (wgi_log_Phi(-x) - l) / wgi_log_Phi_d(-x);
    return x;
}

double wgi_inv_Phi(double a) {
    if (!(a > 0 && a < 1)) return a == 0 ? -INFINITY : a == 1 ? INFINITY : NAN;
    if (a == 0.5) return 0;
    return a < 0.5 ? -quantile(a) : quantile(1 - a);
}

/* 1 / phi(v) = 1 / (p m(|v|)), p the tail: phi itself would magnify the rounding of v. */
double wgi_inv_Phi_d(double a, double v) {
    if (!(a > 0 && a < 1)) return a == 0 || a == 1 ? INFINITY : NAN;
    return 1 / (fmin(a, 1 - a) * wgi_log_Phi_d(-fabs(v)));
}

double wgi_inv_Phi_dd(double a, double v) {
    double d = wgi_inv_Phi_d(a, v);
    return v * d * d;
}
