/* SPDX-License-Identifier: MIT */
/* Factorisations and solves of small order by loops. */
#include "tiny.h"

#include <math.h>

int wgi_tiny_cholesky(size_t n, double *a) {
    for (size_t j = 0; j < n; j++) {
        double *const c = a + j * n;
        if (c[j] <= 0) return (int)j + 1; /* NaN flows through, as in OpenBLAS */
        const double root = c[j] = sqrt(c[j]);
        for (size_t i = j + 1; i < n; i++) c[i] /= root;
        for (size_t k = j + 1; k < n; k++) {
            double *const to = a + k * n;
            const double by = c[k];
            for (size_t i = k; i < n; i++) to[i] -= c[i] * by;
        }
    }
    return 0;
}

static void exchange(double *x, double *y) {
    const double s = *x;
    *x = *y, *y = s;
}

int wgi_tiny_lu(size_t n, double *a, int *pivot) {
    int info = 0;
    for (size_t j = 0; j < n; j++) {
        double *const c = a + j * n;
        size_t p = j;
        for (size_t i = j + 1; i < n; i++)
            if (fabs(c[i]) > fabs(c[p])) p = i;
        pivot[j] = (int)p + 1;
        if (c[p] == 0) {
            if (info == 0) info = (int)j + 1;
            continue;
        }
        if (p != j)
            for (size_t k = 0; k < n; k++) exchange(a + j + k * n, a + p + k * n);
        const double by = c[j];
        for (size_t i = j + 1; i < n; i++) c[i] /= by;
        for (size_t k = j + 1; k < n; k++) {
            double *const to = a + k * n;
            const double f = to[j];
            for (size_t i = j + 1; i < n; i++) to[i] -= c[i] * f;
        }
    }
    return info;
}

void wgi_tiny_cholesky_solve(size_t n, const double *l, size_t k, double *x) {
    for (; k > 0; k--, x += n) {
        for (size_t j = 0; j < n; j++) {
            x[j] /= l[j + j * n];
            for (size_t i = j + 1; i < n; i++) x[i] -= x[j] * l[i + j * n];
        }
        for (size_t j = n; j-- > 0;) {
            double s = x[j];
            for (size_t i = j + 1; i < n; i++) s -= x[i] * l[i + j * n];
            x[j] = s / l[j + j * n];
        }
    }
}

static void one_solve(size_t n, const double *lu, const int *pivot, double *x) {
    for (size_t i = 0; i < n; i++) exchange(x + i, x + pivot[i] - 1);
    for (size_t j = 0; j < n; j++)
        for (size_t i = j + 1; i < n; i++) x[i] -= x[j] * lu[i + j * n];
    for (size_t j = n; j-- > 0;) {
        x[j] /= lu[j + j * n];
        for (size_t i = 0; i < j; i++) x[i] -= x[j] * lu[i + j * n];
    }
}

static void one_solve_transposed(size_t n, const double *lu, const int *pivot, double *x) {
    for (size_t j = 0; j < n; j++) {
        double s = x[j];
        for (size_t i = 0; i < j; i++) s -= x[i] * lu[i + j * n];
        x[j] = s / lu[j + j * n];
    }
    for (size_t j = n; j-- > 0;)
        for (size_t i = j + 1; i < n; i++) x[j] -= x[i] * lu[i + j * n];
    for (size_t i = n; i-- > 0;) exchange(x + i, x + pivot[i] - 1);
}

void wgi_tiny_solve(size_t n, const double *lu, const int *pivot, int transposed, size_t k,
                    double *x) {
    for (; k > 0; k--, x += n) (transposed ? one_solve_transposed : one_solve)(n, lu, pivot, x);
}

/* L^-1 column by column from the last, then its product with its transpose. */
void wgi_tiny_cholesky_inverse(size_t n, double *a) {
    for (size_t j = n; j-- > 0;) {
        double *const c = a + j * n, by = 1 / c[j];
        for (size_t i = n; i-- > j + 1;) {
            double s = 0;
            for (size_t k = j + 1; k <= i; k++) s += a[i + k * n] * c[k];
            c[i] = -s * by;
        }
        c[j] = by;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double s = 0;
            for (size_t k = i; k < n; k++) s += a[k + i * n] * a[k + j * n];
            a[i + j * n] = s;
        }
}
