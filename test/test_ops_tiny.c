/* SPDX-License-Identifier: MIT */
/* test_ops_tiny.c - factorisations, solves and products of small order, against LAPACK and
 * plain loops in long double. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "ops/matrix/tiny.h"
#include "ops/scalar/elementwise.h"
#include "walk.h"

enum { MOST = WGI_TINY, ALL = MOST * MOST };
/* Both sides round as often as a sum has terms, times the condition of these matrices. */
#define TOL_TINY (64 * MOST * DBL_EPSILON)

static void fill(size_t n, double *a, double more, uint64_t *seed) {
    for (size_t i = 0; i < n * n; i++) a[i] = walk_number(seed) + (i % (n + 1) == 0 ? more : 0);
}
static void close_to(size_t n, const double *a, const double *b) {
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(a[i] - b[i]) <= TOL_TINY * fmax(1, fabs(b[i])));
}

static void lu_and_its_solves_are_those_of_lapack(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int n = 1; n <= MOST; n++) {
        double a[ALL], b[ALL], x[3 * MOST], y[3 * MOST];
        int p[MOST], q[MOST];
        const size_t order = (size_t)n;
        fill(order, a, 1, &seed);
        memcpy(b, a, sizeof a);
        assert_int_equal(wgi_tiny_lu(order, a, p), 0);
        assert_int_equal(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, b, n, q), 0);
        assert_memory_equal(p, q, order * sizeof *p);
        for (int turned = 0; turned < 2; turned++) {
            for (size_t i = 0; i < 3 * order; i++) x[i] = y[i] = walk_number(&seed);
            wgi_tiny_solve(order, b, q, turned, 3, x);
            assert_int_equal(
                LAPACKE_dgetrs(LAPACK_COL_MAJOR, turned ? 'T' : 'N', n, 3, b, n, q, y, n), 0);
            double size = 1;
            for (size_t i = 0; i < 3 * order; i++) size = fmax(size, fabs(y[i]));
            for (size_t i = 0; i < 3 * order; i++)
                assert_true(fabs(x[i] - y[i]) <= TOL_TINY * size * size);
        }
        for (size_t i = 0; i < order * order; i++)
            assert_true(fabs(a[i] - b[i]) <= 1e3 * TOL_TINY * fmax(1, fabs(b[i])));
    }
}

static void cholesky_its_solves_and_inverse_are_those_of_lapack(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int n = 1; n <= MOST; n++) {
        double f[ALL], a[ALL], b[ALL], x[3 * MOST], y[3 * MOST];
        const size_t order = (size_t)n;
        fill(order, f, 2, &seed);
        for (size_t j = 0; j < order; j++)
            for (size_t i = 0; i < order; i++) {
                a[i + j * order] = i == j ? 1 : i < j ? 7 : 0; /* 7: not looked at */
                for (size_t k = 0; k < order && i >= j; k++)
                    a[i + j * order] += f[i + k * order] * f[j + k * order] / (double)n;
            }
        memcpy(b, a, order * order * sizeof *a);
        assert_int_equal(wgi_tiny_cholesky(order, a), 0);
        assert_int_equal(LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, b, n), 0);
        close_to(order * order, a, b);
        for (size_t i = 0; i < 3 * order; i++) x[i] = y[i] = walk_number(&seed);
        wgi_tiny_cholesky_solve(order, b, 3, x);
        assert_int_equal(LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', n, 3, b, n, y, n), 0);
        close_to(3 * order, x, y);
        wgi_tiny_cholesky_inverse(order, a);
        assert_int_equal(LAPACKE_dpotri(LAPACK_COL_MAJOR, 'L', n, b, n), 0);
        close_to(order * order, a, b);
    }
}

/* The reciprocal of 1e-310 is infinite, that of 1e308 has few digits, and that of infinity
 * or NaN none. */
static void solves_divide_by_what_has_no_reciprocal(void **state) {
    (void)state;
    const double diagonal[] = {1e-310, 1e308, -3, INFINITY};
    enum { N = sizeof diagonal / sizeof *diagonal };
    const int pivot[N] = {1, 2, 3, 4};
    double a[N * N] = {0};
    for (size_t i = 0; i < N; i++) a[i * (N + 1)] = diagonal[i];
    for (int turned = 0; turned < 2; turned++) {
        double x[N] = {7e-310, 7e307, 7, 7};
        wgi_tiny_solve(N, a, pivot, turned, 1, x);
        assert_true(x[0] == 7e-310 / 1e-310 && x[1] == 7e307 / 1e308 && x[2] == 7.0 / -3 &&
                    x[3] == 0);
    }
    double x[N] = {7e-310, 7e307, 7, 7};
    wgi_tiny_cholesky_solve(N, a, 1, x);
    assert_true(x[0] == 7e-310 / 1e-310 / 1e-310 && x[1] == 7e307 / 1e308 / 1e308 &&
                x[2] == 7.0 / -3 / -3 && x[3] == 0);
}

static void what_has_no_factor_is_named_as_lapack_does(void **state) {
    (void)state;
    double zero[9] = {1, 2, 3, 2, 4, 6, 1, 1, 1}, same[9], nan[4] = {NAN, 1, 1, 1};
    double minus[9] = {4, 2, 0, 0, 1, 1, 0, 0, 1}, kept[9];
    int p[3], q[3];
    memcpy(same, zero, sizeof zero), memcpy(kept, minus, sizeof minus);
    assert_int_equal(wgi_tiny_lu(3, zero, p),
                     LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, 3, 3, same, 3, q));
    assert_memory_equal(p, q, sizeof p);
    assert_int_equal(wgi_tiny_cholesky(3, minus), 2);
    assert_int_equal(LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', 3, kept, 3), 2);
    assert_int_equal(wgi_tiny_lu(2, nan, p), 0);
    assert_true(isnan(nan[0]) && isnan(nan[3]));
    nan[0] = 1, nan[1] = NAN, nan[3] = 1;
    assert_int_equal(wgi_tiny_cholesky(2, nan), 0);
    assert_true(isnan(nan[1]) && isnan(nan[3]));
}

static void small_products_are_those_of_loops(void **state) {
    (void)state;
    const wgi_simd *const all[] = {wgi_simd_base, wgi_simd_avx2, wgi_simd_avx512};
    uint64_t seed = 3;
    double a[(MOST + 1) * MOST], b[ALL], c[(MOST + 2) * MOST], want[(MOST + 2) * MOST];
    for (size_t e = 0; e < sizeof all / sizeof *all; e++) {
        if (all[e] == NULL ||
            (e > 0 && all[e] != wgi_simd_best() && wgi_simd_best() != wgi_simd_avx512))
            continue;
        for (size_t m = 1; m <= MOST; m++)
            for (size_t n = 1; n <= MOST; n += 2)
                for (size_t k = 1; k <= MOST; k += 3) {
                    const size_t lda = m + 1, ldc = m + 2, down = n % 4 == 1 ? 1 : n,
                                 across = down == 1 ? k : 1;
                    for (size_t i = 0; i < lda * k; i++) a[i] = walk_number(&seed);
                    for (size_t i = 0; i < n * k; i++) b[i] = walk_number(&seed);
                    for (size_t i = 0; i < ldc * n; i++) c[i] = want[i] = walk_number(&seed);
                    for (size_t j = 0; j < n; j++)
                        for (size_t i = 0; i < m; i++) {
                            long double sum = 0;
                            for (size_t l = 0; l < k; l++)
                                sum += (long double)a[i + l * lda] * b[l * down + j * across];
                            want[i + j * ldc] = (double)(want[i + j * ldc] - 0.7L * sum);
                        }
                    all[e]->product(m, n, k, -0.7, a, lda, b, down, across, c, ldc);
                    close_to(ldc * n, c, want);
                }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lu_and_its_solves_are_those_of_lapack),
        cmocka_unit_test(cholesky_its_solves_and_inverse_are_those_of_lapack),
        cmocka_unit_test(solves_divide_by_what_has_no_reciprocal),
        cmocka_unit_test(what_has_no_factor_is_named_as_lapack_does),
        cmocka_unit_test(small_products_are_those_of_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
