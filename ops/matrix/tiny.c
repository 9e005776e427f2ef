/* SPDX-License-Identifier: MIT */
/* Factorisations and solves of small order by loops. */
#include "tiny.h"

#include <float.h>
#include <math.h>

/* Orders up to 8 are compiled one by one, so that their loops are unrolled; clang does that of
 * itself. What a solve has found stays in registers: to load what has just been stored costs
 * more than the arithmetic. Of a sum what was found last comes last, so that nothing else
 * waits for it. */
#define EACH_ORDER(F) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8)
#define UNROLLED static inline __attribute__((always_inline))
#if defined __GNUC__ && !defined __clang__
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

/* ---- what solves divide by ---- */

/* A product is there sooner than a quotient, and in a solve each waits for the one before.
 * r = 1 / diagonal of a, unless some of that has no such number, or few digits in it: then
 * quotients are taken. */
typedef struct diagonal {
    int inverted;
    double r[WGI_TINY];
} diagonal;

UNROLLED diagonal diagonal_of(size_t n, const double *a) {
    diagonal d = {.inverted = 1};
    UNROLL
    for (size_t i = 0; i < n; i++) {
        const double r = d.r[i] = 1 / a[i + i * n];
        d.inverted &= (fabs(r) >= DBL_MIN) & (fabs(r) <= 1 / DBL_MIN);
    }
    return d;
}
UNROLLED double over_diagonal(const diagonal *d, double s, size_t n, const double *a,
                              size_t i) {
    return d->inverted ? s * d->r[i] : s / a[i + i * n];
}

/* ---- Cholesky ---- */

UNROLLED int cholesky_of(size_t n, double *a) {
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

int wgi_tiny_cholesky(size_t n, double *a) {
    switch (n) {
#define OF(m)                                                                                  \
    case m:                                                                                    \
        return cholesky_of(m, a);
        EACH_ORDER(OF)
#undef OF
    default:
        return cholesky_of(n, a);
    }
}

UNROLLED void cholesky_solve(size_t n, const double *l, double *x) {
    const diagonal d = diagonal_of(n, l);
    double y[WGI_TINY];
    UNROLL
    for (size_t i = 0; i < n; i++) {
        double s = x[i];
        UNROLL
        for (size_t j = 0; j < i; j++) s -= y[j] * l[i + j * n];
        y[i] = over_diagonal(&d, s, n, l, i);
    }
    UNROLL
    for (size_t j = n; j-- > 0;) {
        double s = y[j];
        UNROLL
        for (size_t i = n; i-- > j + 1;) s -= y[i] * l[i + j * n];
        x[j] = y[j] = over_diagonal(&d, s, n, l, j);
    }
}

static void cholesky_solve_of(size_t n, const double *l, double *x) {
    switch (n) {
#define OF(m)                                                                                  \
    case m:                                                                                    \
        cholesky_solve(m, l, x);                                                               \
        return;
        EACH_ORDER(OF)
#undef OF
    default:
        cholesky_solve(n, l, x);
    }
}

void wgi_tiny_cholesky_solve(size_t n, const double *l, size_t k, double *x) {
    for (; k > 0; k--, x += n) cholesky_solve_of(n, l, x);
}

/* ---- LU ---- */

static inline void exchange(double *x, double *y) {
    const double s = *x;
    *x = *y, *y = s;
}

UNROLLED int lu_of(size_t n, double *a, int *pivot) {
    int info = 0;
    UNROLL
    for (size_t j = 0; j < n; j++) {
        double *const c = a + j * n;
        double top = fabs(c[j]);
        size_t p = j;
        UNROLL
        for (size_t i = j + 1; i < n; i++)
            if (fabs(c[i]) > top) p = i, top = fabs(c[i]);
        pivot[j] = (int)p + 1;
        if (top == 0) {
            if (info == 0) info = (int)j + 1;
            continue;
        }
        if (p != j) {
            UNROLL
            for (size_t k = 0; k < n; k++) exchange(a + j + k * n, a + p + k * n);
        }
        const double by = c[j];
        UNROLL
        for (size_t i = j + 1; i < n; i++) c[i] /= by;
        UNROLL
        for (size_t k = j + 1; k < n; k++) {
            double *const to = a + k * n;
            const double f = to[j];
            UNROLL
            for (size_t i = j + 1; i < n; i++) to[i] -= c[i] * f;
        }
    }
    return info;
}

int wgi_tiny_lu(size_t n, double *a, int *pivot) {
    switch (n) {
#define OF(m)                                                                                  \
    case m:                                                                                    \
        return lu_of(m, a, pivot);
        EACH_ORDER(OF)
#undef OF
    default:
        return lu_of(n, a, pivot);
    }
}

UNROLLED void solve(size_t n, const double *lu, const int *pivot, double *x) {
    const diagonal d = diagonal_of(n, lu);
    double y[WGI_TINY];
    for (size_t i = 0; i < n; i++) exchange(x + i, x + pivot[i] - 1);
    UNROLL
    for (size_t i = 0; i < n; i++) {
        double s = x[i];
        UNROLL
        for (size_t j = 0; j < i; j++) s -= y[j] * lu[i + j * n];
        y[i] = s;
    }
    UNROLL
    for (size_t i = n; i-- > 0;) {
        double s = y[i];
        UNROLL
        for (size_t j = n; j-- > i + 1;) s -= y[j] * lu[i + j * n];
        x[i] = y[i] = over_diagonal(&d, s, n, lu, i);
    }
}

UNROLLED void solve_transposed(size_t n, const double *lu, const int *pivot, double *x) {
    const diagonal d = diagonal_of(n, lu);
    double y[WGI_TINY];
    UNROLL
    for (size_t j = 0; j < n; j++) {
        double s = x[j];
        UNROLL
        for (size_t i = 0; i < j; i++) s -= y[i] * lu[i + j * n];
        y[j] = over_diagonal(&d, s, n, lu, j);
    }
    UNROLL
    for (size_t j = n; j-- > 0;) {
        double s = y[j];
        UNROLL
        for (size_t i = n; i-- > j + 1;) s -= y[i] * lu[i + j * n];
        x[j] = y[j] = s;
    }
    for (size_t i = n; i-- > 0;) exchange(x + i, x + pivot[i] - 1);
}

static void solve_of(size_t n, const double *lu, const int *pivot, int transposed, double *x) {
    switch (transposed ? n + WGI_TINY : n) {
#define OF(m)                                                                                  \
    case m:                                                                                    \
        solve(m, lu, pivot, x);                                                                \
        return;                                                                                \
    case m + WGI_TINY:                                                                         \
        solve_transposed(m, lu, pivot, x);                                                     \
        return;
        EACH_ORDER(OF)
#undef OF
    default:
        if (transposed) solve_transposed(n, lu, pivot, x);
        else solve(n, lu, pivot, x);
    }
}

void wgi_tiny_solve(size_t n, const double *lu, const int *pivot, int transposed, size_t k,
                    double *x) {
    for (; k > 0; k--, x += n) solve_of(n, lu, pivot, transposed, x);
}

/* ---- inverse ---- */

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

/* ---- outer product ---- */

UNROLLED void add_outer(size_t m, size_t n, double f, const double *restrict u,
                        const double *restrict v, double *restrict a, size_t ld) {
    for (size_t j = 0; j < n; j++, a += ld) {
        const double s = f * v[j];
        UNROLL
        for (size_t i = 0; i < m; i++) a[i] += u[i] * s;
    }
}

void wgi_tiny_add_outer(size_t m, size_t n, double f, const double *u, const double *v,
                        double *a, size_t ld) {
    switch (m) {
#define OF(k)                                                                                  \
    case k:                                                                                    \
        add_outer(k, n, f, u, v, a, ld);                                                       \
        return;
        EACH_ORDER(OF)
#undef OF
    default:
        add_outer(m, n, f, u, v, a, ld);
    }
}
