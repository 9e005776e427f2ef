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

/* Whether m-by-n reflectors of LAPACK, and their factors, are numbers. Of a column, or row, whose
 * norm and first element have a sum beyond DBL_MAX they are not, and what they were applied to
 * may be finite and wrong: all of it becomes NaN. */
static inline int wgi_reflectors_hold(size_t m, size_t n, double *a, double *tau) {
    const size_t p = wgi_smaller(m, n);
    size_t k = 0;
    while (k < p && isfinite(a[k * (m + 1)]) && isfinite(tau[k])) k++;
    if (k == p) return 1;
    for (size_t e = 0; e < m * n; e++) a[e] = NAN;
    for (size_t e = 0; e < p; e++) tau[e] = NAN;
    return 0;
}

/* What singular values of an m-by-n matrix, the largest being 1, may be of rounding in QR: those
 * of integer matrices of lower rank, by dgeqrf, were up to 2.2 DBL_EPSILON in the measure of
 * rank.c, in 2.7 million draws of 2 to 100 rows. */
static inline double wgi_rounding(size_t m, size_t n) {
    return (double)(wgi_larger(m, n) + 2) * DBL_EPSILON;
}

/* The first column of an upper triangle of order p, or row of a lower one, that depends on those
 * before it, counted from 1; 0: none, or there is a NaN. It does where the condition number of
 * what goes up to it, beside the whole, is 1 / least or more, whatever the units of columns (rows)
 * are (rank.c). p^2 flops, or p^3 / 3 where these do not tell; work: p^2. */
int wgi_dependent(int upper, size_t p, double least, const double *r, size_t ld, double *work);

static inline int wgi_any(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 1;
    return 0;
}

/* The square of the condition number of an upper triangle, `each` of its columns being divided by
 * its largest element; NaN, or infinite, where it has no inverse. */
wg_real wgi_expand_condition(wg_tape *t, wgi_reals r, int each);
/* Whether that number of a triangle is below 1 / least is compared at every point; with `each`
 * as wgi_dependent tells it. */
int wgi_has_full_rank(wg_tape *t, wgi_reals r, double least, int each);

#endif
