/* SPDX-License-Identifier: MIT */
/* svd.h - a singular value decomposition, as the operations that need it find it: svd.c and
 * singular_values.c, letters as in svd.c. */
#ifndef WGI_OPS_MATRIX_SVD_H
#define WGI_OPS_MATRIX_SVD_H

#include <float.h>
#include <math.h>
#include <wengert/block.h>
#include "spectral.h"

static inline size_t wgi_smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t wgi_larger(size_t a, size_t b) { return a > b ? a : b; }

/* The decomposition of a call: where U, s and V' are. ldu = m, ldh = k. */
typedef struct wgi_svd {
    size_t m, n, k;
    double *u, *s, *h;
} wgi_svd;

static inline void wgi_svd_sizes(const wg_block *b, wgi_svd *f) {
    f->m = b->in[0].rows, f->n = b->in[0].cols, f->k = wgi_smaller(f->m, f->n);
}

/* Three results: U, s, V'. One: s, or a norm, and what is missing is saved: U, V', s. */
wgi_svd wgi_svd_of(const wg_block *b);
/* The rest of a shape: the order, saved_bytes, and work_bytes for so many doubles or more. */
wg_status wgi_svd_shape(wg_block *b, size_t work);
/* Factors the operand; WG_ENONFINITE, WG_ECONVERGE. */
wg_status wgi_svd_decompose(wg_block *b);
/* The same by the transpose, where that has more rows: where U V' is not unique, it is the factor
 * that wg_polar finds. */
wg_status wgi_svd_decompose_tall(wg_block *b);

/* A_ += U diag(c) V', of the first k columns. Room: x of k max(m, n). */
void wgi_svd_add_diagonal(const wg_block *b, const wgi_svd *f, size_t k, const double *c,
                          double *x);
/* x = A. V, m-by-k. */
void wgi_svd_tangent_times(const wg_block *b, const wgi_svd *f, double *x);

/* What singular values are known to, and what numerators are compared with. */
typedef struct wgi_svd_ties {
    int any;     /* are two as near as that to each other, or one to 0? */
    double tie;  /* differences and sums up to this count as 0 */
    double near; /* over those up to this, numerators that may be rounding count as 0 */
    double size; /* of the largest numerator, where there are such */
} wgi_svd_ties;
static inline wgi_svd_ties wgi_svd_ties_of(const wgi_svd *f) {
    wgi_svd_ties t = {0, (double)wgi_larger(f->m, f->n) * DBL_EPSILON * f->s[0],
                      WGI_SPECTRAL_NEAR * f->s[0], 0};
    for (size_t i = 1; i < f->k; i++) t.any |= f->s[i - 1] - f->s[i] <= t.near;
    t.any |= f->s[f->k - 1] <= t.near;
    return t;
}
static inline void wgi_svd_look_at(wgi_svd_ties *t, size_t n, const double *x) {
    if (t->any) t->size = fmax(t->size, wgi_spectral_largest(n, x));
}
/* Numerators up to this count as 0, when the largest of them has that size. */
static inline double wgi_svd_nothing(const wgi_svd *f, double size) {
    return 8 * (double)wgi_larger(f->m, f->n) * DBL_EPSILON * size;
}

/* top / bottom, 0 where the top counts as 0; *bad: only the bottom does. */
static inline double wgi_svd_quotient(double top, double bottom, const wgi_svd_ties *t,
                                      double nothing, int *bad) {
    if (bottom > t->near) return top / bottom;
    if (fabs(top) <= nothing) return 0;
    if (bottom > t->tie) return top / bottom;
    *bad = 1;
    return 0;
}

#endif
