/* SPDX-License-Identifier: MIT */
/* special_lambert.c - both real branches of Lambert's W. Source: Corless et al. 1996;
 * DLMF 4.13. */
#include "special_second.h"

#define E_HI 2.71828182845904523536
#define E_LO 1.44564689172925013472e-16

/* u = 1 + W on the branch of the sign of u, from s = 1 + e a small: W e^W = a is
 * g(u) = 1 + (u - 1) e^u = s, and g(u) = sum over k >= 2 of u^k (k-1)/k!, free of cancellation.
 * s <= 0 by rounding of 1/e is the branch point itself. */
static double lambert_near(double s, double sign) {
    if (s <= 0) return s > -4 * DBL_EPSILON ? 0.0 : NAN;
    double p = sign * sqrt(2 * s), u = p * (1 - p / 3);
    for (int i = 0; i < 6; i++) {
        double t = u, g = 0;
        for (int k = 2; k < 24; k++) {
            t *= u / k;
            g += t * (k - 1);
        }
        u -= (g - s) / (u * exp(u));
    }
    return u;
}

/* W(a) and *u = 1 + W(a). */
static double lambert(double a, int lower, double *u) {
    double w, l = log(fabs(a));
    if (a < -0.25 && !(lower && a > -0.27)) {
        *u = lambert_near(fma(a, E_HI, 1.0) + a * E_LO, lower ? -1.0 : 1.0);
        return *u - 1;
    }
    if (lower) {
        if (!(a < 0)) {
            *u = a == 0 ? -INFINITY : NAN;
            return *u;
        }
        w = l - log(-l);
    } else if (a < 3) {
        w = a / (1 + a - 0.5 * a * (a > 0 ? a / (1 + a) : a));
        for (int i = 0; i < 6 && a != 0; i++) {
            double e = exp(w), f = w * e - a;
            w -= f / (e * (w + 1) - 0.5 * (w + 2) * f / (w + 1));
        }
        *u = 1 + w;
        return w;
    } else {
        w = l - log(l);
    }
    if (a > DBL_MAX || a != a) w = a;
    else
        for (int i = 0; i < 6; i++) w *= (1 + (l - log(fabs(w)))) / (1 + w);
    *u = 1 + w;
    return w;
}

double wgi_lambertw0(double a) {
    double u;
    return lambert(a, 0, &u);
}

double wgi_lambertwm1(double a) {
    double u;
    return lambert(a, 1, &u);
}

/* W' = W / (a (1 + W)) and W'' = -W'^2 (2 + W) / (1 + W). */
static double lambert_d(double a, int lower) {
    double u, w = lambert(a, lower, &u);
    if (fabs(w) > DBL_MAX) return lower ? -INFINITY : 0.0;
    return a == 0 ? 1.0 : w / a / u;
}

static double lambert_dd(double a, int lower) {
    double u, d = lambert_d(a, lower);
    (void)lambert(a, lower, &u);
    return fabs(u) > DBL_MAX ? (lower ? -INFINITY : 0.0) : -d * d * (u + 1) / u;
}

double wgi_lambertw0_d(double a) { return lambert_d(a, 0); }

double wgi_lambertw0_dd(double a) { return lambert_dd(a, 0); }

double wgi_lambertwm1_d(double a) { return lambert_d(a, 1); }

double wgi_lambertwm1_dd(double a) { return lambert_dd(a, 1); }
