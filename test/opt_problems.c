/* SPDX-License-Identifier: MIT */
#include "opt_problems.h"
#include <math.h>
#include <stddef.h>
#define PI 3.14159265358979323846264338327950288
#define RES(nm) static void nm(int n, int m, const double *x, double *r)
#define UNUSED (void)n; (void)m
static double sq(double a) { return a * a; }
static double cu(double a) { return a * a * a; }

RES(rosenbrock) { UNUSED; r[0] = 10 * (x[1] - x[0] * x[0]); r[1] = 1 - x[0]; }
RES(freudenstein_roth) {
    UNUSED;
    r[0] = -13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1];
    r[1] = -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1];
}
RES(powell_badly_scaled) {
    UNUSED;
    r[0] = 1e4 * x[0] * x[1] - 1;
    r[1] = exp(-x[0]) + exp(-x[1]) - 1.0001;
}
RES(brown_badly_scaled) { UNUSED; r[0] = x[0] - 1e6; r[1] = x[1] - 2e-6; r[2] = x[0] * x[1] - 2; }
RES(beale) {
    UNUSED;
    r[0] = 1.5 - x[0] * (1 - x[1]);
    r[1] = 2.25 - x[0] * (1 - x[1] * x[1]);
    r[2] = 2.625 - x[0] * (1 - x[1] * x[1] * x[1]);
}
RES(jennrich_sampson) {
    (void)n;
    for (int i = 1; i <= m; i++) r[i - 1] = 2 + 2 * i - (exp(i * x[0]) + exp(i * x[1]));
}
RES(helical_valley) {
    UNUSED;
    double th = atan(x[1] / x[0]) / (2 * PI);
    if (x[0] < 0) th += 0.5;
    r[0] = 10 * (x[2] - 10 * th);
    r[1] = 10 * (sqrt(x[0] * x[0] + x[1] * x[1]) - 1);
    r[2] = x[2];
}
RES(bard) {
    static const double y[15] = {0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39,
                                 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39};
    (void)n;
    for (int i = 1; i <= m; i++) {
        double u = i, v = 16 - i, w = u < v ? u : v;
        r[i - 1] = y[i - 1] - (x[0] + u / (v * x[1] + w * x[2]));
    }
}
RES(gaussian) {
    static const double y[15] = {0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521, 0.3989,
                                 0.3521, 0.2420, 0.1295, 0.0540, 0.0175, 0.0044, 0.0009};
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = (8 - i) / 2.0;
        r[i - 1] = x[0] * exp(-x[1] * sq(t - x[2]) / 2) - y[i - 1];
    }
}
RES(meyer) {
    static const double y[16] = {34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744,
                                 8261,  7030,  6005,  5147,  4427,  3820,  3307,  2872};
    (void)n;
    for (int i = 1; i <= m; i++) r[i - 1] = x[0] * exp(x[1] / ((45 + 5 * i) + x[2])) - y[i - 1];
}
RES(gulf_research) {
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = i / 100.0, y = 25 + pow(-50 * log(t), 2.0 / 3.0);
        r[i - 1] = exp(-pow(fabs(y - x[1]), x[2]) / x[0]) - t;
    }
}
RES(box3d) {
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = i / 10.0;
        r[i - 1] = exp(-t * x[0]) - exp(-t * x[1]) - x[2] * (exp(-t) - exp(-10 * t));
    }
}
RES(ext_powell) {
    (void)m;
    for (int i = 0; i < n; i += 4) {
        r[i] = x[i] + 10 * x[i + 1];
        r[i + 1] = sqrt(5.0) * (x[i + 2] - x[i + 3]);
        r[i + 2] = sq(x[i + 1] - 2 * x[i + 2]);
        r[i + 3] = sqrt(10.0) * sq(x[i] - x[i + 3]);
    }
}
RES(wood) {
    UNUSED;
    r[0] = 10 * (x[1] - x[0] * x[0]);
    r[1] = 1 - x[0];
    r[2] = sqrt(90.0) * (x[3] - x[2] * x[2]);
    r[3] = 1 - x[2];
    r[4] = sqrt(10.0) * (x[1] + x[3] - 2);
    r[5] = (x[1] - x[3]) / sqrt(10.0);
}
RES(kowalik_osborne) {
    static const double y[11] = {0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627,
                                 0.0456, 0.0342, 0.0323, 0.0235, 0.0246};
    static const double u[11] = {4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625};
    (void)n;
    for (int i = 0; i < m; i++)
        r[i] = y[i] - x[0] * (u[i] * u[i] + u[i] * x[1]) / (u[i] * u[i] + u[i] * x[2] + x[3]);
}
RES(brown_dennis) {
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = i / 5.0;
        r[i - 1] = sq(x[0] + t * x[1] - exp(t)) + sq(x[2] + x[3] * sin(t) - cos(t));
    }
}
RES(osborne1) {
    static const double y[33] = {0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818,
                                 0.784, 0.751, 0.718, 0.685, 0.658, 0.628, 0.603, 0.580, 0.558,
                                 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438,
                                 0.431, 0.424, 0.420, 0.414, 0.411, 0.406};
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = 10.0 * (i - 1);
        r[i - 1] = y[i - 1] - (x[0] + x[1] * exp(-t * x[3]) + x[2] * exp(-t * x[4]));
    }
}
RES(biggs_exp6) {
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = i / 10.0, y = exp(-t) - 5 * exp(-10 * t) + 3 * exp(-4 * t);
        r[i - 1] = x[2] * exp(-t * x[0]) - x[3] * exp(-t * x[1]) + x[5] * exp(-t * x[4]) - y;
    }
}
RES(osborne2) {
    static const double y[65] = {
        1.366, 1.191, 1.112, 1.013, 0.991, 0.885, 0.831, 0.847, 0.786, 0.725, 0.746, 0.679, 0.608,
        0.655, 0.616, 0.606, 0.602, 0.626, 0.651, 0.724, 0.649, 0.649, 0.694, 0.644, 0.624, 0.661,
        0.612, 0.558, 0.533, 0.495, 0.500, 0.423, 0.395, 0.375, 0.372, 0.391, 0.396, 0.405, 0.428,
        0.429, 0.523, 0.562, 0.607, 0.653, 0.672, 0.708, 0.633, 0.668, 0.645, 0.632, 0.591, 0.559,
        0.597, 0.625, 0.739, 0.710, 0.729, 0.720, 0.636, 0.581, 0.428, 0.292, 0.162, 0.098, 0.054};
    (void)n;
    for (int i = 1; i <= m; i++) {
        double t = (i - 1) / 10.0;
        r[i - 1] = y[i - 1] - (x[0] * exp(-t * x[4]) + x[1] * exp(-sq(t - x[8]) * x[5]) +
                               x[2] * exp(-sq(t - x[9]) * x[6]) + x[3] * exp(-sq(t - x[10]) * x[7]));
    }
}
RES(watson) {
    (void)m;
    for (int i = 1; i <= 29; i++) {
        double t = i / 29.0, s1 = 0, s2 = 0, p = 1;
        for (int j = 1; j < n; j++) { s1 += j * p * x[j]; p *= t; }
        p = 1;
        for (int j = 0; j < n; j++) { s2 += p * x[j]; p *= t; }
        r[i - 1] = s1 - s2 * s2 - 1;
    }
    r[29] = x[0];
    r[30] = x[1] - x[0] * x[0] - 1;
}
RES(ext_rosenbrock) {
    (void)m;
    for (int i = 0; i < n; i += 2) { r[i] = 10 * (x[i + 1] - x[i] * x[i]); r[i + 1] = 1 - x[i]; }
}
RES(penalty1) {
    (void)m;
    double s = 0;
    for (int i = 0; i < n; i++) { r[i] = sqrt(1e-5) * (x[i] - 1); s += x[i] * x[i]; }
    r[n] = s - 0.25;
}
RES(penalty2) {
    (void)m;
    double a = sqrt(1e-5), s = 0;
    r[0] = x[0] - 0.2;
    for (int i = 2; i <= n; i++)
        r[i - 1] = a * (exp(x[i - 1] / 10) + exp(x[i - 2] / 10) - (exp(i / 10.0) + exp((i - 1) / 10.0)));
    for (int i = n + 1; i < 2 * n; i++) r[i - 1] = a * (exp(x[i - n] / 10) - exp(-0.1));
    for (int j = 0; j < n; j++) s += (n - j) * x[j] * x[j];
    r[2 * n - 1] = s - 1;
}
RES(variably_dimensioned) {
    (void)m;
    double s = 0;
    for (int j = 0; j < n; j++) { r[j] = x[j] - 1; s += (j + 1) * (x[j] - 1); }
    r[n] = s;
    r[n + 1] = s * s;
}
RES(trigonometric) {
    (void)m;
    double s = 0;
    for (int j = 0; j < n; j++) s += cos(x[j]);
    for (int i = 0; i < n; i++) r[i] = n - s + (i + 1) * (1 - cos(x[i])) - sin(x[i]);
}
RES(brown_almost_linear) {
    (void)m;
    double s = 0, p = 1;
    for (int j = 0; j < n; j++) { s += x[j]; p *= x[j]; }
    for (int i = 0; i < n - 1; i++) r[i] = x[i] + s - (n + 1);
    r[n - 1] = p - 1;
}
RES(discrete_boundary) {
    (void)m;
    double h = 1.0 / (n + 1);
    for (int i = 0; i < n; i++) {
        double t = (i + 1) * h, v = 2 * x[i];
        if (i > 0) v -= x[i - 1];
        if (i < n - 1) v -= x[i + 1];
        r[i] = v + h * h * cu(x[i] + t + 1) / 2;
    }
}
RES(discrete_integral) {
    (void)m;
    double h = 1.0 / (n + 1);
    for (int i = 0; i < n; i++) {
        double a = 0, b = 0, ti = (i + 1) * h;
        for (int j = 0; j <= i; j++) a += (j + 1) * h * cu(x[j] + (j + 1) * h + 1);
        for (int j = i + 1; j < n; j++) b += (1 - (j + 1) * h) * cu(x[j] + (j + 1) * h + 1);
        r[i] = x[i] + h * ((1 - ti) * a + ti * b) / 2;
    }
}
RES(broyden_tridiagonal) {
    (void)m;
    for (int i = 0; i < n; i++) {
        double v = (3 - 2 * x[i]) * x[i] + 1;
        if (i > 0) v -= x[i - 1];
        if (i < n - 1) v -= 2 * x[i + 1];
        r[i] = v;
    }
}
RES(broyden_banded) {
    (void)m;
    for (int i = 0; i < n; i++) {
        double v = x[i] * (2 + 5 * x[i] * x[i]) + 1;
        for (int j = i - 5 < 0 ? 0 : i - 5; j <= i + 1 && j < n; j++)
            if (j != i) v -= x[j] * (1 + x[j]);
        r[i] = v;
    }
}
RES(chebyquad) {
    for (int i = 0; i < m; i++) r[i] = 0;
    for (int j = 0; j < n; j++) {
        double a = 1, b = 2 * x[j] - 1, t = 2 * b;
        for (int i = 0; i < m; i++) { r[i] += b; double c = t * b - a; a = b; b = c; }
    }
    for (int i = 0; i < m; i++) {
        r[i] /= n;
        if ((i + 1) % 2 == 0) r[i] += 1.0 / (sq(i + 1) - 1);
    }
}
static double hs26(int n, const double *x) { (void)n; return sq(x[0] - x[1]) + sq(sq(x[1] - x[2])); }
static double hs71(int n, const double *x) { (void)n; return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]; }
RES(hs71_c) {
    (void)m;
    r[0] = x[0] * x[1] * x[2] * x[3];
    r[1] = 0;
    for (int i = 0; i < n; i++) r[1] += x[i] * x[i];
}
static double hs78(int n, const double *x) { (void)n; return x[0] * x[1] * x[2] * x[3] * x[4]; }
RES(hs78_c) {
    (void)m;
    r[0] = -10;
    for (int i = 0; i < n; i++) r[0] += x[i] * x[i];
    r[1] = x[1] * x[2] - 5 * x[3] * x[4];
    r[2] = cu(x[0]) + cu(x[1]) + 1;
}
static double hs100(int n, const double *x) {
    (void)n;
    return sq(x[0] - 10) + 5 * sq(x[1] - 12) + sq(sq(x[2])) + 3 * sq(x[3] - 11) + 10 * sq(cu(x[4])) +
           7 * sq(x[5]) + sq(sq(x[6])) - 4 * x[5] * x[6] - 10 * x[5] - 8 * x[6];
}
RES(hs100_c) {
    UNUSED;
    r[0] = 127 - 2 * sq(x[0]) - 3 * sq(sq(x[1])) - x[2] - 4 * sq(x[3]) - 5 * x[4];
    r[1] = 282 - 7 * x[0] - 3 * x[1] - 10 * sq(x[2]) - x[3] + x[4];
    r[2] = 196 - 23 * x[0] - sq(x[1]) - 6 * sq(x[5]) + 8 * x[6];
    r[3] = -4 * sq(x[0]) - sq(x[1]) + 3 * x[0] * x[1] - 2 * sq(x[2]) - 5 * x[5] + 11 * x[6];
}
static double hs110(int n, const double *x) {
    double s = 0, p = 1;
    for (int i = 0; i < n; i++) { s += sq(log(x[i] - 2)) + sq(log(10 - x[i])); p *= x[i]; }
    return s - pow(p, 0.2);
}
static const double CH[10] = {-6.089,  -17.164, -34.054, -5.914,  -24.721,
                              -14.986, -24.100, -10.708, -26.662, -22.179};
static double hs111(int n, const double *x) {
    double s = 0, f = 0;
    for (int i = 0; i < n; i++) s += exp(x[i]);
    for (int i = 0; i < n; i++) f += exp(x[i]) * (CH[i] + x[i] - log(s));
    return f;
}
RES(hs111_c) {
    UNUSED;
    r[0] = exp(x[0]) + 2 * exp(x[1]) + 2 * exp(x[2]) + exp(x[5]) + exp(x[9]) - 2;
    r[1] = exp(x[3]) + 2 * exp(x[4]) + exp(x[5]) + exp(x[6]) - 1;
    r[2] = exp(x[2]) + exp(x[6]) + exp(x[7]) + 2 * exp(x[8]) + exp(x[9]) - 1;
}
static double hs112(int n, const double *x) {
    double s = 0, f = 0;
    for (int i = 0; i < n; i++) s += x[i];
    for (int i = 0; i < n; i++) f += x[i] * (CH[i] + log(x[i] / s));
    return f;
}
static void hs99_rec(const double *x, double *R, double *Q, double *S) {
    static const double a[8] = {0, 50, 50, 75, 75, 75, 100, 100};
    static const double t[8] = {0, 25, 50, 100, 150, 200, 290, 380};
    double r = 0, q = 0, s = 0;
    for (int i = 1; i < 8; i++) {
        double d = t[i] - t[i - 1];
        r += a[i] * d * cos(x[i - 1]);
        q += d * d * (a[i] * sin(x[i - 1]) - 32) / 2 + d * s;
        s += d * (a[i] * sin(x[i - 1]) - 32);
    }
    *R = r; *Q = q; *S = s;
}
static double hs99(int n, const double *x) {
    double r, q, s;
    (void)n;
    hs99_rec(x, &r, &q, &s);
    return -r * r;
}
RES(hs99_c) {
    double a;
    UNUSED;
    hs99_rec(x, &a, &r[0], &r[1]);
    r[0] -= 1e5;
    r[1] -= 1e3;
}
const opt_problem opt_problems[] = {
    {"rosenbrock", 2, 2, 1, rosenbrock, NULL},
    {"freudenstein_roth", 2, 2, 1, freudenstein_roth, NULL},
    {"powell_badly_scaled", 2, 2, 1, powell_badly_scaled, NULL},
    {"brown_badly_scaled", 2, 3, 1, brown_badly_scaled, NULL},
    {"beale", 2, 3, 1, beale, NULL},
    {"jennrich_sampson", 2, 10, 1, jennrich_sampson, NULL},
    {"helical_valley", 3, 3, 1, helical_valley, NULL},
    {"bard", 3, 15, 1, bard, NULL},
    {"gaussian", 3, 15, 1, gaussian, NULL},
    {"meyer", 3, 16, 1, meyer, NULL},
    {"gulf_research", 3, 99, 1, gulf_research, NULL},
    {"box3d", 3, 10, 1, box3d, NULL},
    {"powell_singular", 4, 4, 1, ext_powell, NULL},
    {"wood", 4, 6, 1, wood, NULL},
    {"kowalik_osborne", 4, 11, 1, kowalik_osborne, NULL},
    {"brown_dennis", 4, 20, 1, brown_dennis, NULL},
    {"osborne1", 5, 33, 1, osborne1, NULL},
    {"biggs_exp6", 6, 13, 1, biggs_exp6, NULL},
    {"osborne2", 11, 65, 1, osborne2, NULL},
    {"watson6", 6, 31, 1, watson, NULL},
    {"watson9", 9, 31, 1, watson, NULL},
    {"ext_rosenbrock10", 10, 10, 1, ext_rosenbrock, NULL},
    {"ext_powell8", 8, 8, 1, ext_powell, NULL},
    {"penalty1_10", 10, 11, 1, penalty1, NULL},
    {"penalty2_4", 4, 8, 1, penalty2, NULL},
    {"variably_dimensioned10", 10, 12, 1, variably_dimensioned, NULL},
    {"trigonometric10", 10, 10, 1, trigonometric, NULL},
    {"brown_almost_linear7", 7, 7, 1, brown_almost_linear, NULL},
    {"discrete_boundary10", 10, 10, 1, discrete_boundary, NULL},
    {"discrete_integral10", 10, 10, 1, discrete_integral, NULL},
    {"broyden_tridiagonal10", 10, 10, 1, broyden_tridiagonal, NULL},
    {"broyden_banded10", 10, 10, 1, broyden_banded, NULL},
    {"chebyquad8", 8, 8, 1, chebyquad, NULL},
    {"hs26", 3, 0, 0, NULL, hs26},
    {"hs71", 4, 2, 0, hs71_c, hs71},
    {"hs78", 5, 3, 0, hs78_c, hs78},
    {"hs100", 7, 4, 0, hs100_c, hs100},
    {"hs110", 10, 0, 0, NULL, hs110},
    {"hs111", 10, 3, 0, hs111_c, hs111},
    {"hs112", 10, 0, 0, NULL, hs112},
    {"hs99_loop", 7, 2, 0, hs99_c, hs99},
};
const int opt_problems_count = (int)(sizeof opt_problems / sizeof opt_problems[0]);
double opt_value(const opt_problem *p, const double *x, double *r) {
    if (p->res) p->res(p->n, p->m, x, r);
    if (!p->nls) return p->obj(p->n, x);
    double s = 0;
    for (int i = 0; i < p->m; i++) s += r[i] * r[i];
    return s;
}
