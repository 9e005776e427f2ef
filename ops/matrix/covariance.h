/* SPDX-License-Identifier: MIT */
/* covariance.h - covariance functions of pairs of points, for covariance.c,
 * covariance_adjoint.c and gaussian_process.c; letters as in covariance.c. */
#ifndef WGI_OPS_MATRIX_COVARIANCE_H
#define WGI_OPS_MATRIX_COVARIANCE_H

#include <math.h>
#include <wengert/statistics.h>
#include "dense.h"
#include "kernels.h"
#include "ops/scalar/elementwise.h"

/* Operands of covariances. */
enum { WGI_PAIR_POINTS, WGI_PAIR_SCALE, WGI_PAIR_AMPLITUDES, WGI_PAIR_OTHERS };

static const double wgi_root_3 = 1.7320508075688772935, wgi_root_5 = 2.2360679774997896964;

/* Sums in eight parts, whose additions do not wait for each other: of a b, and of h (x - at) or
 * h (x - at)^2. */
enum { WGI_PAIR_PARTS = 8 };
/* Inside another loop compilers make no vectors of the parts. */
#define WGI_PAIR_SUM static __attribute__((noinline, unused))
static inline double wgi_pair_sum(const double *part) {
    return ((part[0] + part[1]) + (part[2] + part[3])) +
           ((part[4] + part[5]) + (part[6] + part[7]));
}
WGI_PAIR_SUM double wgi_pair_dot(size_t n, const double *a, const double *b) {
    double part[WGI_PAIR_PARTS] = {0};
    size_t i = 0;
    for (; i + WGI_PAIR_PARTS <= n; i += WGI_PAIR_PARTS)
        for (size_t k = 0; k < WGI_PAIR_PARTS; k++) part[k] += a[i + k] * b[i + k];
    for (; i < n; i++) part[i % WGI_PAIR_PARTS] += a[i] * b[i];
    return wgi_pair_sum(part);
}
WGI_PAIR_SUM double wgi_pair_dot_apart(size_t n, const double *h, const double *x, double at,
                                       int squared) {
    double part[WGI_PAIR_PARTS] = {0};
    size_t i = 0;
    for (; i + WGI_PAIR_PARTS <= n; i += WGI_PAIR_PARTS)
        for (size_t k = 0; k < WGI_PAIR_PARTS; k++) {
            const double apart = x[i + k] - at;
            part[k] += h[i + k] * apart * (squared ? apart : 1);
        }
    for (; i < n; i++) {
        const double apart = x[i] - at;
        part[i % WGI_PAIR_PARTS] += h[i] * apart * (squared ? apart : 1);
    }
    return wgi_pair_sum(part);
}

/* r in the exponential of a Matern covariance. */
static inline double wgi_pair_decay(wg_kernel kernel, double q) {
    return (kernel == WG_MATERN_12   ? 1
            : kernel == WG_MATERN_32 ? wgi_root_3
                                     : wgi_root_5) *
           sqrt(q);
}

/* k = s f(q), n pairs; k may be q. */
static inline void wgi_pair_covariances(wg_kernel kernel, size_t n, double s, const double *q,
                                        double *k) {
    enum { PIECE = 64 };
    const wgi_simd *const simd = wgi_simd_best();
    double e[PIECE], r[PIECE];
    for (size_t first = 0; first < n; first += PIECE, q += PIECE, k += PIECE) {
        const size_t m = n - first < PIECE ? n - first : PIECE;
        const int square = kernel == WG_SQUARED_EXPONENTIAL;
        for (size_t i = 0; i < m; i++)
            r[i] = square ? 0.5 * q[i] : wgi_pair_decay(kernel, q[i]);
        for (size_t i = 0; i < m; i++) e[i] = -r[i];
        (void)simd->exp_sum(m, e, 0, e);
        if (kernel == WG_MATERN_32)
            for (size_t i = 0; i < m; i++) e[i] *= 1 + r[i];
        if (kernel == WG_MATERN_52)
            for (size_t i = 0; i < m; i++) e[i] *= 1 + r[i] + r[i] * r[i] / 3;
        for (size_t i = 0; i < m; i++) k[i] = s * e[i];
    }
}

/* Squares of distances below this may have lost digits, or powers of them overflow. Only
 * WG_MATERN_12 can tell, whose slope by the distance is not 0 there: such pairs are `near`, and
 * what is by their coordinates goes by wgi_pair_near. */
#define WGI_PAIR_NEAR 0x1p-640
WGI_PAIR_SUM double wgi_pair_least(size_t n, const double *q) {
    double part[WGI_PAIR_PARTS], least = INFINITY;
    size_t i = 0;
    for (size_t k = 0; k < WGI_PAIR_PARTS; k++) part[k] = INFINITY;
    for (; i + WGI_PAIR_PARTS <= n; i += WGI_PAIR_PARTS)
        for (size_t k = 0; k < WGI_PAIR_PARTS; k++)
            part[k] = q[i + k] < part[k] ? q[i + k] : part[k];
    for (; i < n; i++) least = q[i] < least ? q[i] : least;
    for (size_t k = 0; k < WGI_PAIR_PARTS; k++) least = part[k] < least ? part[k] : least;
    return least;
}
static inline int wgi_pair_any_near(wg_kernel kernel, size_t n, const double *q) {
    return kernel == WG_MATERN_12 && wgi_pair_least(n, q) < WGI_PAIR_NEAR;
}

/* The distance of two points times a power of two; 0: they coincide. */
typedef struct wgi_near {
    double up, distance;
} wgi_near;
/* Of points with coordinates ldu and `step` apart. */
static inline wgi_near wgi_pair_near(size_t d, const double *u, size_t ldu, const double *p,
                                     size_t step) {
    const double up = 0x1p700; /* squares of the least distances are normal numbers, too */
    double q = 0;
    for (size_t c = 0; c < d; c++) {
        const double apart = (u[c * ldu] - p[c * step]) * up;
        q += apart * apart;
    }
    return (wgi_near){up, sqrt(q)};
}
/* x over their distance, which is not 0. */
static inline double wgi_pair_over(wgi_near a, double x) {
    return fabs(x) < 1 ? x * a.up / a.distance : x / a.distance * a.up;
}
/* Of coordinates that are this far apart: of the direction from one to the other. */
static inline double wgi_pair_direction(wgi_near a, double apart) {
    return a.distance != 0 ? wgi_pair_over(a, apart) : 0;
}

/* h = e dK/dq, from q and K;  h may be e. Of pairs that are near half of e dK/dr, r = 1. */
static inline void wgi_pair_slopes(wg_kernel kernel, size_t n, const double *q, const double *k,
                                   const double *e, double *h) {
    switch (kernel) {
    case WG_SQUARED_EXPONENTIAL:
        for (size_t i = 0; i < n; i++) h[i] = -0.5 * e[i] * k[i];
        break;
    case WG_MATERN_12:
        for (size_t i = 0; i < n; i++)
            h[i] = -0.5 * e[i] * k[i] / (q[i] < WGI_PAIR_NEAR ? 1 : sqrt(q[i]));
        break;
    case WG_MATERN_32:
        for (size_t i = 0; i < n; i++)
            h[i] = -1.5 * e[i] * k[i] / (1 + wgi_root_3 * sqrt(q[i]));
        break;
    case WG_MATERN_52:
        for (size_t i = 0; i < n; i++) {
            const double r = wgi_root_5 * sqrt(q[i]);
            h[i] = -(5.0 / 6) * e[i] * k[i] * (1 + r) / (1 + r + r * r / 3);
        }
        break;
    }
}

/* q = |u_i - p|^2 for n points u (ld n_u), p a point with coordinates `step` apart. */
static inline void wgi_pair_distances(size_t n, size_t d, const double *u, size_t ldu,
                                      const double *p, size_t step, double *q) {
    memset(q, 0, n * sizeof *q);
    for (size_t c = 0; c < d; c++) {
        const double a = p[c * step];
        const double *const x = u + c * ldu;
        for (size_t i = 0; i < n; i++) q[i] += (x[i] - a) * (x[i] - a);
    }
    for (size_t i = 0; i < n; i++) q[i] = within(q[i]);
}

/* One of the point sets: coordinates over scales, n by d. */
static inline void wgi_pair_scaled(size_t n, size_t d, const wg_block_arg *x,
                                   const wg_block_arg *scale, double *u) {
    for (size_t c = 0; c < d; c++) {
        const double given = scale->value[scale->rows == 1 ? 0 : c];
        const double f = given == 0 ? NAN : given; /* whatever the signs of coordinates */
        for (size_t i = 0; i < n; i++) u[i + c * n] = x->value[i + c * x->ld] / f;
    }
}

/* Tangents of the scaled points. */
static inline void wgi_pair_scaled_tangents(size_t n, size_t d, const wg_block_arg *x,
                                            const wg_block_arg *scale, const double *u,
                                            double *ut) {
    for (size_t c = 0; c < d; c++) {
        const size_t at = scale->rows == 1 ? 0 : c;
        const double f = scale->value[at], ft = scale->bar != NULL ? scale->bar[at] : 0;
        for (size_t i = 0; i < n; i++) {
            const double xt = x->bar != NULL ? x->bar[i + c * x->bar_ld] : 0;
            ut[i + c * n] = (xt - u[i + c * n] * ft) / f;
        }
    }
}

/* dK/dsigma = per_sigma K where sigma^2 has all its digits, per_sigma f elsewhere. */
#define WGI_PAIR_TINY 1e-140
static inline int wgi_pair_is_tiny(double sigma) { return fabs(sigma) < WGI_PAIR_TINY; }
static inline double wgi_pair_per_sigma(double sigma) {
    return wgi_pair_is_tiny(sigma) ? 2 * sigma : 2 / sigma;
}

/* The tangent of the distance of two points that are near. */
double wgi_pair_near_tangent(size_t d, const double *u, const double *ut, size_t ldu,
                             const double *p, const double *pt, size_t step);
/* Sizes of operands 0 and 1, and the kernel. */
wg_status wgi_pair_shape(wg_block *b, const wg_block_arg *x, const wg_block_arg *scale);
/* The adjoints of a column of pairs with distances q and h as of wgi_pair_slopes: of point p (bar
 * pw, both `step` apart) and of the n points u (bar xw); NULL: not wanted. */
void wgi_pair_column_adjoint(wg_kernel kernel, size_t n, size_t d, const double *u, size_t ldu,
                             const double *p, size_t step, const double *q, const double *h,
                             const wg_block_arg *scale, double *xw, size_t ldx, double *pw,
                             size_t step_w);
/* t = the tangents of a column of pairs; h as of wgi_pair_slopes with e = 1, k at = 2 K sigmat /
 * sigma; t may be k or q. */
void wgi_pair_column_tangent(wg_kernel kernel, size_t n, size_t d, const double *u,
                             const double *ut, size_t ldu, const double *p, const double *pt,
                             size_t step, const double *q, const double *h, const double *k,
                             double at, double *t);
/* As variables, k of n by n; operands 0 and 1 are points and scale; amplitudes sigma, noise. */
void wgi_pair_write(wg_tape *t, const wg_block *b, const wg_real *x, const wg_real *amplitudes,
                    wg_real *k);

/* A covariance matrix as an operation: points, and where its numbers are. */
typedef struct wgi_pair_points {
    size_t n, m, d;
    double *u, *v;        /* scaled: of the rows, of the columns */
    double *q, *e, *ones; /* workspace of n */
    double *ut, *vt;
    double sigma, noise;
} wgi_pair_points;
wgi_pair_points wgi_pair_points_of(const wg_block *b);
wg_status wgi_pair_matrix_shape(wg_block *b);
wg_status wgi_pair_matrix_jvp(wg_block *b);

/* The adjoints of the `inputs` operands of covariances K, from W, as an operation. lower: W is
 * symmetric, and its lower triangle is there. */
wg_status wgi_pair_adjoints(wg_tape *t, wg_kernel kernel, int lower, size_t inputs,
                            const wg_mat *in, wg_mat k, wg_mat w, wg_mat *back);

#endif
