/* SPDX-License-Identifier: MIT */
/* Conjugate gradients and restarted GMRES.
 *
 * Both solve A x = b/|b|, so that no sum of squares leaves the range of numbers, from x = 0,
 * and in cycles: each begins with a residual that is computed anew, and ends when its own one
 * is small. Where a cycle leaves that residual almost as it was, others would.
 *
 * Letters: r residual; q = A d for a direction d; V an orthonormal basis of the Krylov space, H
 * the Hessenberg matrix A has there, which rotations c, s make triangular.
 * Sources: Hestenes and Stiefel 1952; Saad and Schultz 1986; Golub and Van Loan 2013, 11.3,
 * 11.4. */
#include "krylov.h"

#include "ops/matrix/blas.h"

#include <math.h>
#include <string.h>

static double dot(size_t n, const double *x, const double *y) {
    return cblas_ddot(wgi_int(n), x, 1, y, 1);
}
static double norm(size_t n, const double *x) { return cblas_dnrm2(wgi_int(n), x, 1); }
static void add(size_t n, double f, const double *x, double *y) {
    cblas_daxpy(wgi_int(n), f, x, 1, y, 1);
}
static void scale(size_t n, double f, double *x) {
    for (size_t i = 0; i < n; i++) x[i] *= f;
}

static wg_status fails(wgi_krylov *k, wg_status s, const char *why) {
    k->why = why;
    return s;
}
static wg_status not_finite(wgi_krylov *k) {
    return fails(k, WG_ENONFINITE, "a product with the matrix is not finite");
}
static wg_status not_enough(wgi_krylov *k) {
    return fails(
        k, WG_ECONVERGE,
        "the residual is not below the tolerance after the iterations that are allowed");
}

/* One product of those that are allowed. */
static wg_status multiply(wgi_krylov *k, size_t *made, const double *x, double *y) {
    if (*made >= k->iterations) return not_enough(k);
    ++*made;
    return k->product(k->ctx, x, y);
}

/* A cycle: improves x, whose residual is r, of norm *size. */
typedef wg_status cycle(wgi_krylov *k, size_t *made, double *x, double *r, double size,
                        double *room);

#define STALLED 0.99

static wg_status iterate(wgi_krylov *k, cycle *improve, const double *b, double *x,
                         double *room) {
    const size_t n = k->n;
    const double by = norm(n, b);
    double *const r = room, before = INFINITY, size = 1;
    size_t made = 0;
    memset(x, 0, n * sizeof *x);
    if (by == 0) return WG_OK;
    if (!(by < INFINITY)) return fails(k, WG_ENONFINITE, "the right side is not finite");
    for (size_t i = 0; i < n; i++) r[i] = b[i] / by;
    while (size > k->tolerance) {
        if (!(size <= STALLED * before))
            return fails(k, WG_ECONVERGE, "the residual stays above the tolerance");
        before = size;
        wg_status s = improve(k, &made, x, r, size, room + n);
        if (s == WG_OK) s = k->product(k->ctx, x, r);
        if (s != WG_OK) return s;
        for (size_t i = 0; i < n; i++) r[i] = b[i] / by - r[i];
        size = norm(n, r);
        if (!(size < INFINITY)) return not_finite(k);
    }
    scale(n, by, x);
    return WG_OK;
}

/* ---- conjugate gradients ---- */

size_t wgi_cg_doubles(size_t n) { return 3 * n; }

static wg_status conjugate(wgi_krylov *k, size_t *made, double *x, double *r, double size,
                           double *room) {
    const size_t n = k->n;
    double *const d = room, *const q = d + n, square = size * size;
    memcpy(d, r, n * sizeof *d);
    while (sqrt(square) > 0.5 * k->tolerance) {
        const wg_status s = multiply(k, made, d, q);
        if (s != WG_OK) return s;
        const double curvature = dot(n, d, q);
        if (!(fabs(curvature) < INFINITY)) return not_finite(k);
        if (curvature <= 0)
            return fails(k, WG_ESINGULAR, "the matrix is not positive definite");
        const double step = square / curvature;
        add(n, step, d, x);
        add(n, -step, q, r);
        const double next = dot(n, r, r);
        for (size_t i = 0; i < n; i++) d[i] = r[i] + next / square * d[i];
        square = next;
    }
    return WG_OK;
}

wg_status wgi_cg(wgi_krylov *k, const double *b, double *x, double *room) {
    return iterate(k, conjugate, b, x, room);
}

/* ---- GMRES ---- */

static size_t vectors(size_t n, size_t restart) { return restart < n ? restart : n; }
size_t wgi_gmres_doubles(size_t n, size_t restart) {
    const size_t m = vectors(n, restart);
    return n + (m + 1) * n + m * (m + 1) + 3 * m + 1;
}

/* A v_j, orthogonalised twice against V, as v_(j+1); h: what was taken out, and its norm. */
static wg_status extend(wgi_krylov *k, size_t *made, size_t j, double *v, double *h) {
    const size_t n = k->n;
    double *const w = v + (j + 1) * n;
    const wg_status s = multiply(k, made, v + j * n, w);
    if (s != WG_OK) return s;
    memset(h, 0, (j + 1) * sizeof *h);
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i <= j; i++) {
            const double part = dot(n, v + i * n, w);
            h[i] += part;
            add(n, -part, v + i * n, w);
        }
    h[j + 1] = norm(n, w);
    if (!(h[j + 1] < INFINITY)) return not_finite(k);
    if (h[j + 1] != 0) scale(n, 1 / h[j + 1], w);
    return WG_OK;
}

/* The rotations of the columns before, and one more that makes the last entry 0. */
static void rotate(size_t j, double *h, double *c, double *s, double *g) {
    for (size_t i = 0; i < j; i++) {
        const double upper = c[i] * h[i] + s[i] * h[i + 1];
        h[i + 1] = c[i] * h[i + 1] - s[i] * h[i];
        h[i] = upper;
    }
    const double size = hypot(h[j], h[j + 1]);
    c[j] = size != 0 ? h[j] / size : 1;
    s[j] = size != 0 ? h[j + 1] / size : 0;
    h[j] = size;
    g[j + 1] = -s[j] * g[j];
    g[j] *= c[j];
}

static wg_status minimal_residuals(wgi_krylov *k, size_t *made, double *x, double *r,
                                   double size, double *room) {
    const size_t n = k->n, most = vectors(n, k->restart);
    double *const v = room, *const h = v + (most + 1) * n, *const c = h + most * (most + 1);
    double *const s = c + most, *const g = s + most;
    size_t j = 0;
    for (size_t i = 0; i < n; i++) v[i] = r[i] / size;
    g[0] = size;
    while (j < most && fabs(g[j]) > 0.5 * k->tolerance) {
        double *const column = h + j * (most + 1);
        const wg_status status = extend(k, made, j, v, column);
        if (status != WG_OK) return status;
        const int last = column[j + 1] == 0;
        rotate(j, column, c, s, g);
        if (column[j] == 0) return fails(k, WG_ESINGULAR, "the matrix is singular");
        j++;
        if (last) break;
    }
    for (size_t i = j; i-- > 0;) {
        for (size_t l = i + 1; l < j; l++) g[i] -= h[i + l * (most + 1)] * g[l];
        g[i] /= h[i + i * (most + 1)];
        add(n, g[i], v + i * n, x);
    }
    return WG_OK;
}

wg_status wgi_gmres(wgi_krylov *k, const double *b, double *x, double *room) {
    return iterate(k, minimal_residuals, b, x, room);
}
