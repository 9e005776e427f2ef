/* SPDX-License-Identifier: MIT */
/* orthogonal.h - what QR and least squares share. */
#ifndef WGI_OPS_MATRIX_ORTHOGONAL_H
#define WGI_OPS_MATRIX_ORTHOGONAL_H

#include "dense.h"
#include "expand.h"
#include <float.h>
#include <math.h>

static inline size_t wgi_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t wgi_larger(size_t a, size_t b) { return a > b ? a : b; }

/* Workspace of dgeqrf, dorgqr, dormqr and their kin on `cols` columns: a block of 32 of them,
 * and the triangle of reflectors that dormqr keeps (65 by 64). */
static inline size_t wgi_reflector_room(size_t cols) {
    return 32 * wgi_larger(cols, 1) + 65 * 64;
}

/* The first diagonal element of a triangle, the upper one or else the lower one, that is 0 to
 * working precision beside the largest element of it, counted from 1; 0: none. */
static inline int wgi_dependent(int upper, size_t p, size_t longest, const double *r,
                                size_t ld) {
    double high = 0;
    for (size_t j = 0; j < p; j++)
        for (size_t i = upper ? 0 : j; i < (upper ? j + 1 : p); i++)
            high = fmax(high, fabs(r[i + j * ld]));
    for (size_t i = 0; i < p; i++)
        if (fabs(r[i * (ld + 1)]) <= (double)longest * DBL_EPSILON * high)
            return wgi_int(i + 1);
    return 0;
}

static inline int wgi_any(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 1;
    return 0;
}

/* Whether a triangle, r of p columns, is one that wgi_dependent finds nothing in is compared at
 * every point. */
static inline int wgi_has_full_rank(wg_tape *t, size_t p, size_t longest, const wg_real *r) {
    if (p == 0) return 1;
    wg_real low = wg_let(t, wg_fabs(r[0])), high = low;
    for (size_t j = 1; j < p; j++)
        for (size_t i = 0; i <= j; i++) {
            const wg_real size = wg_let(t, wg_fabs(r[i + j * p]));
            if (i == j) low = wg_let(t, wg_fmin(low, size));
            high = wg_let(t, wg_fmax(high, size));
        }
    high = wg_let(t, wg_mul((double)longest * DBL_EPSILON, high));
    return wg_gt(t, low, high);
}

#endif
