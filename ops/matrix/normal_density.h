/* SPDX-License-Identifier: MIT */
/* normal_density.h - a factored covariance: the log-density of residuals, and its derivative H
 * by the covariance; for normal_density.c and gaussian_process.c, letters as there. */
#ifndef WGI_OPS_MATRIX_NORMAL_DENSITY_H
#define WGI_OPS_MATRIX_NORMAL_DENSITY_H

#include <wengert/block.h>
#include "dense.h"
#include "expand.h"
#include "traits.h"

/* S^-1 is kept once a derivative has computed it, for those after it: its strict lower triangle
 * turned into the upper one of l, its diagonal beside. */
typedef struct wgi_normal {
    size_t n, k;
    double *l; /* the lower triangle is the Cholesky factor; ld n */
    double *a; /* n by k: residuals, then S^-1 of them */
    double *c; /* is S^-1 there? and its diagonal */
} wgi_normal;
static inline size_t wgi_normal_inverse(size_t n) { return 1 + n; }

/* WG_ESINGULAR, with the reason. */
wg_status wgi_normal_indefinite(wg_block *b);

/* l holds S, a the residuals. The log-density; *info != 0: not positive definite. */
double wgi_normal_density(const wgi_normal *d, double *quadratic, int *info);
/* The same of a symmetric s, as variables; residuals a are lost. */
wg_real wgi_normal_write(wg_tape *t, size_t n, size_t k, const wg_real *s, wg_real *a);
/* h, its lower triangle, = H. */
void wgi_normal_curvature(const wgi_normal *d, double *h);

/* As operations on a covariance S with the factor l, and residuals R: a = S^-1 R, and w/2 H;
 * lower: who takes that looks at the lower triangle only, and S is symmetric, tangents too. */
wg_mat wgi_normal_solved(wg_tape *t, const wgi_normal *d, wg_mat s, wg_mat r);
wg_mat wgi_normal_half_curvature(wg_tape *t, const wgi_normal *d, int lower, wg_mat s, wg_mat a,
                                 wg_mat w);

extern const wgi_traits wgi_normal_traits;

#endif
