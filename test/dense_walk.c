/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices by their definitions, in plain loops: nothing of BLAS. */
#include "dense_walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t n) { return calloc(n + 1, sizeof(double)); }

static void unpack(size_t n, const double *x, double *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) a[i + j * n] = i < j ? 0 : *x++;
}

static void pack(size_t n, const double *a, double *y) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) *y++ = a[i + j * n];
}

/* c = op(a) op(b), of order n. */
static void multiply(size_t n, const double *a, int ta, const double *b, int tb, double *c) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double s = 0;
            for (size_t l = 0; l < n; l++)
                s += (ta ? a[l + i * n] : a[i + l * n]) * (tb ? b[j + l * n] : b[l + j * n]);
            c[i + j * n] = s;
        }
}

/* b = l^-1 b, or l'^-1 b. */
static void substitute(size_t n, const double *l, int turned, size_t k, double *b) {
    for (size_t j = 0; j < k; j++)
        for (size_t step = 0; step < n; step++) {
            const size_t i = turned ? n - 1 - step : step;
            double s = b[i + j * n];
            for (size_t c = turned ? i + 1 : 0; c < (turned ? n : i); c++)
                s -= (turned ? l[c + i * n] : l[i + c * n]) * b[c + j * n];
            b[i + j * n] = s / l[i + i * n];
        }
}

static void nan_all(size_t n, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = NAN;
}

static void cholesky(size_t n, double *a) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double s = a[i + j * n];
            for (size_t c = 0; c < j; c++) s -= a[i + c * n] * a[j + c * n];
            if (i == j && !(s > 0)) {
                nan_all(n * n, a);
                return;
            }
            a[i + j * n] = i == j ? sqrt(s) : s / a[j + j * n];
        }
}

/* S = L^-T (P + P') L^-1 / 2, P the lower triangle of L' W with half the diagonal; off the
 * diagonal twice. */
static void potrf_bar(size_t n, const double *l, const double *w, double *p, double *s) {
    multiply(n, l, 1, w, 0, p);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            s[i + j * n] = i == j ? p[i + j * n] : i > j ? p[i + j * n] : p[j + i * n];
    substitute(n, l, 1, n, s);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) p[i + j * n] = s[j + i * n];
    substitute(n, l, 1, n, p);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            s[i + j * n] = (i == j ? 0.5 : 1) * 0.5 * (p[i + j * n] + p[j + i * n]);
}

/* Rows are exchanged whole. */
static void lu(size_t n, double *a) {
    double *const row = a + n * n;
    row[n] = 1;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c + 1; i < n; i++)
            if (fabs(a[i + c * n]) > fabs(a[best + c * n])) best = i;
        row[c] = (double)(best + 1);
        if (best != c) row[n] = -row[n];
        for (size_t j = 0; j < n; j++) {
            const double t = a[c + j * n];
            a[c + j * n] = a[best + j * n];
            a[best + j * n] = t;
        }
        if (!(fabs(a[c + c * n]) > 0)) {
            nan_all(n * n + n + 1, a);
            return;
        }
        for (size_t i = c + 1; i < n; i++) {
            a[i + c * n] /= a[c + c * n];
            for (size_t j = c + 1; j < n; j++) a[i + j * n] -= a[i + c * n] * a[c + j * n];
        }
    }
}

/* By elimination of the matrix itself: the factors are not looked at. */
static void solve(size_t n, size_t k, const double *a, int turned, double *u, double *b) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) u[i + j * n] = turned ? a[j + i * n] : a[i + j * n];
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c + 1; i < n; i++)
            if (fabs(u[i + c * n]) > fabs(u[best + c * n])) best = i;
        for (size_t j = 0; j < n + k; j++) {
            double *const col = j < n ? u + j * n : b + (j - n) * n;
            const double t = col[c];
            col[c] = col[best];
            col[best] = t;
        }
        if (!(fabs(u[c + c * n]) > 0)) {
            nan_all(n * k, b);
            return;
        }
        for (size_t i = c + 1; i < n; i++) {
            const double f = u[i + c * n] / u[c + c * n];
            for (size_t j = c + 1; j < n; j++) u[i + j * n] -= f * u[c + j * n];
            for (size_t j = 0; j < k; j++) b[i + j * n] -= f * b[c + j * n];
        }
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = n; i-- > 0;) {
            for (size_t c = i + 1; c < n; c++) b[i + j * n] -= u[i + c * n] * b[c + j * n];
            b[i + j * n] /= u[i + i * n];
        }
}

static int is_nothing(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}

int dense_walk(const wgi_dense_op *op, const double *x, double *y) {
    const size_t n = op->size[0], elements = wgi_dense_triangle(n);
    double *const a = room(2 * n * n + n), *const b = room(n * n), *const c = room(n * n);
    const int failed = a == NULL || b == NULL || c == NULL;
    const int rule = (op->flags & WGI_DENSE_RULE) != 0;
    if (!failed) switch (op->kind) {
        case WGI_DENSE_PRODUCT: {
            const size_t k = op->size[2], m = op->size[1];
            const double *const right = x + n * k;
            const int zero = rule && (is_nothing(n * k, x) || is_nothing(k * m, right));
            for (size_t j = 0; j < m; j++)
                for (size_t i = 0; i < n; i++) {
                    double s = 0;
                    for (size_t l = 0; !zero && l < k; l++)
                        s += x[i + l * n] * right[l + j * k];
                    y[i + j * n] = s;
                }
            break;
        }
        case WGI_DENSE_TRIANGLE:
            memcpy(y, x + elements, n * op->size[1] * sizeof *y);
            if (rule && is_nothing(n * op->size[1], y)) break;
            unpack(n, x, a);
            for (size_t i = 0; i < n; i++)
                if (a[i + i * n] == 0) a[i + i * n] = NAN;
            substitute(n, a, 0, op->size[1], y);
            for (size_t i = 0; i < n; i++)
                if (isnan(a[i + i * n])) nan_all(n * op->size[1], y);
            break;
        case WGI_DENSE_CHOLESKY:
            unpack(n, x, a);
            cholesky(n, a);
            pack(n, a, y);
            break;
        case WGI_DENSE_POTRF_BAR:
            unpack(n, x, a);
            unpack(n, x + elements, b);
            potrf_bar(n, a, b, c, a + n * n);
            memcpy(a, a + n * n, n * n * sizeof *a);
            pack(n, a, y);
            if (rule && is_nothing(elements, x + elements)) memset(y, 0, elements * sizeof *y);
            break;
        case WGI_DENSE_LU:
            memcpy(y, x, n * n * sizeof *y);
            lu(n, y);
            break;
        case WGI_DENSE_SOLVE:
            memcpy(y, x + 2 * n * n + n, n * op->size[1] * sizeof *y);
            if (rule && is_nothing(n * op->size[1], y)) break;
            solve(n, op->size[1], x + n * n + n, (op->flags & WGI_DENSE_TURNED) != 0, a, y);
            break;
        default:
            memcpy(a, x + n * n + n, n * n * sizeof *a);
            lu(n, a);
            *y = 0;
            for (size_t i = 0; i < n; i++) *y += log(fabs(a[i + i * n]));
        }
    free(a);
    free(b);
    free(c);
    return failed ? -1 : 0;
}
