/* SPDX-License-Identifier: MIT */
/* test_ops_factor.c - Cholesky, determinants, inverses: what the oracle (test_ops_solve.c)
 * lacks. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <wengert/derive.h>
#include <wengert/solve.h>
#include "linear_case.h"
#include "matrix_case.h"
#include "tolerance.h"

/* ---- derivatives ---- */

static wg_status cholesky(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    const size_t order = *(const size_t *)data;
    (void)n, (void)m;
    give(wg_cholesky(t, definite(t, take(t, &x, order, order))), &y);
    return wg_tape_status(t);
}

/* One column, some, a block, a block and one, several blocks and a rest. */
static void cholesky_has_its_derivatives_at_every_block_count(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 7, 32, 33, 71};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        derivatives_agree(cholesky, &orders[i], orders[i] * orders[i], orders[i] * orders[i]);
}

/* The dense rule, A_ = sym(L^-T phi(L' L_) L^-1), by matrix operations. */
static void the_blocked_adjoint_of_cholesky_is_the_dense_one(void **state) {
    (void)state;
    enum { ORDER = 71 };
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat s = definite(t, random_input(t, 40, ORDER, ORDER, 0));
    const wg_mat l = wg_cholesky(t, s);
    double *const w = random_numbers(41, ORDER * ORDER);
    assert_int_equal(wg_mat_reverse(t, l, w, ORDER), WG_OK);
    double *const g = random_numbers(0, ORDER * ORDER);
    assert_int_equal(wg_mat_adjoint(t, s, g, ORDER), WG_OK);
    for (size_t j = 0; j < ORDER; j++)
        for (size_t i = 0; i < j; i++) w[i + j * ORDER] = 0;
    const wg_mat p = wg_gemm(t, 'T', 'N', 1, l, wg_mat_constant(t, ORDER, ORDER, w, ORDER), 0,
                             wg_mat_fill(t, ORDER, ORDER, 0));
    assert_int_equal(wg_mat_value(t, p, w, ORDER), WG_OK);
    for (size_t j = 0; j < ORDER; j++) {
        for (size_t i = 0; i < j; i++) w[i + j * ORDER] = 0;
        w[j * (ORDER + 1)] /= 2;
    }
    const wg_mat phi = wg_mat_constant(t, ORDER, ORDER, w, ORDER);
    const wg_mat half = wg_trsm(t, 'L', 'L', 'T', 'N', 1, l, phi);
    assert_int_equal(wg_mat_value(t, wg_trsm(t, 'R', 'L', 'N', 'N', 1, l, half), w, ORDER),
                     WG_OK);
    double largest = 0;
    for (size_t i = 0; i < ORDER * ORDER; i++) largest = fmax(largest, fabs(g[i]));
    for (size_t j = 0; j < ORDER; j++)
        for (size_t i = 0; i < ORDER; i++) {
            const double ref = (w[i + j * ORDER] + w[j + i * ORDER]) / 2;
            assert_true(fabs(g[i + j * ORDER] - ref) <= TOL_MATRIX_ULP * DBL_EPSILON * largest);
        }
    free(w);
    free(g);
    wg_tape_free(t);
}

static wg_status scalars_and_inverses(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                      wg_real *y, void *data) {
    const size_t order = *(const size_t *)data;
    (void)n, (void)m;
    const wg_mat a = wg_axpy(t, 2 * sqrt((double)order), wg_mat_identity(t, order),
                             take(t, &x, order, order));
    const wg_mat turned = wg_mat_transpose(a), s = definite(t, a);
    *y++ = wg_logabsdet(t, a, NULL);
    *y++ = wg_logabsdet(t, turned, NULL);
    *y++ = wg_logdet_spd(t, s);
    *y++ = wg_det(t, wg_mat_scale(t, 0.25, a));
    *y++ = wg_det(t, wg_mat_transpose(wg_mat_scale(t, 0.25, a)));
    give(wg_inverse(t, a), &y);
    give(wg_inverse(t, turned), &y);
    give(wg_inverse_spd(t, s), &y);
    const wg_factor f = wg_lu(t, turned);
    give(wg_factor_inverse(t, f), &y);
    give(wg_factor_solve(t, f, 'N', wg_mat_col(a, 0)), &y);
    give(wg_factor_solve(t, f, 'T', wg_mat_transpose(wg_mat_row(a, 0))), &y);
    *y++ = wg_factor_logdet(t, f);
    return wg_tape_status(t);
}

static void determinants_and_inverses_have_their_derivatives(void **state) {
    (void)state;
    static const size_t orders[] = {1, 2, 6, 19};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const size_t n = orders[i];
        derivatives_agree(scalars_and_inverses, &orders[i], n * n, 6 + 4 * n * n + 2 * n);
    }
}

/* S times the gradient of log det S: one at a time, by halves, by halves of different
 * orders. */
static void the_gradient_of_a_log_determinant_is_the_inverse(void **state) {
    (void)state;
    static const size_t orders[] = {31, 32, 33, 64, 71, 130};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const size_t n = orders[k];
        wg_tape *const t = wg_tape_new(NULL);
        const wg_mat s = definite(t, random_input(t, 42, n, n, 0));
        const wg_real y = wg_logdet_spd(t, s);
        double *const g = random_numbers(0, n * n);
        if (wg_reverse(t, y) != WG_OK) fail_msg("%s", wg_tape_message(t));
        assert_int_equal(wg_mat_adjoint(t, s, g, n), WG_OK);
        const wg_mat one = wg_matmul(t, s, wg_mat_constant(t, n, n, g, n));
        assert_int_equal(wg_mat_value(t, one, g, n), WG_OK);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                assert_true(fabs(g[i + j * n] - (i == j)) <= TOL_MATRIX_ULP * DBL_EPSILON);
        free(g);
        wg_tape_free(t);
    }
}

/* ---- determinants ---- */

static double gradient_of_det(wg_tape *t, size_t n, const double *v, double *g) {
    wg_tape_reset(t);
    const wg_mat a = wg_mat_input(t, n, n, v, n);
    const wg_real d = wg_det(t, a);
    if (wg_reverse(t, d) != WG_OK) fail_msg("%s", wg_tape_message(t));
    assert_int_equal(wg_mat_adjoint(t, a, g, n), WG_OK);
    return d.value;
}

/* det of A without row i and column j, with its sign. */
static double cofactor(wg_tape *t, size_t n, const double *v, size_t i, size_t j) {
    double w[64];
    for (size_t c = 0, e = 0; c < n; c++)
        for (size_t r = 0; r < n; r++)
            if (r != i && c != j) w[e++] = v[r + c * n];
    const double d = wg_det(t, wg_mat_constant(t, n - 1, n - 1, w, n - 1)).value;
    return (i + j) % 2 == 0 ? d : -d;
}

/* A of rank n - corank, near 1 in size. */
static double *of_rank(wg_tape *t, size_t n, size_t rank) {
    double *const v = random_numbers(50 + n, n * n);
    const wg_mat a = random_input(t, 51, n, rank, 0), b = random_input(t, 52, rank, n, 0);
    const wg_mat c = wg_gemm(t, 'N', 'N', 1, a, b, 0, wg_mat_fill(t, n, n, 0));
    assert_int_equal(wg_mat_value(t, c, v, n), WG_OK);
    return v;
}

static void the_gradient_of_a_singular_determinant_is_its_cofactors(void **state) {
    (void)state;
    enum { ORDER = 8 };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t n = 2; n <= ORDER; n++) {
        wg_tape_reset(t);
        double *const v = of_rank(t, n, n - 1), g[ORDER * ORDER], c[ORDER * ORDER];
        (void)gradient_of_det(t, n, v, g);
        double largest = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) {
                c[i + j * n] = cofactor(t, n, v, i, j);
                largest = fmax(largest, fabs(c[i + j * n]));
            }
        for (size_t i = 0; i < n * n; i++)
            assert_true(fabs(g[i] - c[i]) <= TOL_PROGRAM_ULP * 16 * DBL_EPSILON * largest);
        free(v);
    }
    wg_tape_free(t);
}

/* Zero but for the rounding of products as large as those of a regular matrix of that size. */
static void the_gradient_of_a_determinant_is_zero_from_corank_two_on(void **state) {
    (void)state;
    enum { ORDER = 6 };
    wg_tape *const t = wg_tape_new(NULL);
    for (size_t rank = 0; rank + 2 <= ORDER; rank++) {
        wg_tape_reset(t);
        double *const v = of_rank(t, ORDER, rank), g[ORDER * ORDER];
        double size = 0;
        (void)gradient_of_det(t, ORDER, v, g);
        for (size_t i = 0; i < ORDER * ORDER; i++) size += v[i] * v[i];
        for (size_t i = 0; i < ORDER * ORDER; i++)
            assert_true(fabs(g[i]) <=
                        TOL_PROGRAM_ULP * DBL_EPSILON * pow(size, (ORDER - 1) / 2.0));
        free(v);
    }
    wg_tape_free(t);
}

/* Where pivots say singular, and where they only say badly scaled. */
static void small_pivots_are_no_singularity(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[9] = {1, 0, 0, 0, 1e-20, 0, 0, 0, 1e-30}, zero = 0;
    double g[9];
    assert_true(close_ulp(gradient_of_det(t, 3, v, g), 1e-50, TOL_VALUE_ULP));
    assert_true(close_ulp(g[0], 1e-50, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[4], 1e-30, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[8], 1e-20, TOL_MATRIX_ULP));
    assert_true(gradient_of_det(t, 1, &zero, g) == 0);
    assert_true(g[0] == 1);
    wg_tape_free(t);
}

/* The determinant, or a product of some of its factors, is beyond the range of doubles. */
static void determinants_beyond_the_range_have_their_gradient(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double g[16];
    /* 1e400, whose cofactors are within the range */
    const double large[9] = {1e200, 0, 0, 0, 1e200, 0, 0, 0, 1};
    assert_true(gradient_of_det(t, 3, large, g) == INFINITY);
    assert_true(close_ulp(g[0], 1e200, TOL_MATRIX_ULP) && g[1] == 0 && g[3] == 0);
    assert_true(close_ulp(g[4], 1e200, TOL_MATRIX_ULP) && g[8] == INFINITY);
    /* 1e-400, from the right and from the left */
    const double small[4] = {1e-200, 1e-200, 1e-200, 3e-200};
    assert_true(gradient_of_det(t, 2, small, g) == 0);
    assert_true(close_ulp(g[0], 3e-200, TOL_MATRIX_ULP) &&
                close_ulp(g[3], 1e-200, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[1], -1e-200, TOL_MATRIX_ULP) &&
                close_ulp(g[2], -1e-200, TOL_MATRIX_ULP));
    /* 2: out of the range and back again */
    const double back[16] = {1e200, 0, 0, 0, 0, 1e200, 0, 0, 0, 0, 1e-200, 0, 0, 0, 0, 2e-200};
    assert_true(close_ulp(gradient_of_det(t, 4, back, g), 2, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[0], 2e-200, TOL_MATRIX_ULP) &&
                close_ulp(g[15], 1e200, TOL_MATRIX_ULP));
    /* entries far below the largest one, whose cofactors are the largest */
    const double graded[9] = {1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e300};
    assert_true(close_ulp(gradient_of_det(t, 3, graded, g), 1e-100, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[0], 1e100, TOL_MATRIX_ULP) && g[1] == 0 && g[8] == 0);
    const double mixed[9] = {1e-150, 1e-150, 0, 1e-150, 2e-150, 0, 0, 1e-151, 1e300};
    assert_true(close_ulp(gradient_of_det(t, 3, mixed, g), 1, TOL_MATRIX_ULP));
    assert_true(
        close_ulp(g[0], 2e150, TOL_MATRIX_ULP) && close_ulp(g[1], -1e150, TOL_MATRIX_ULP) &&
        close_ulp(g[3], -1e150, TOL_MATRIX_ULP) && close_ulp(g[4], 1e150, TOL_MATRIX_ULP) &&
        close_ulp(g[8], 1e-300, TOL_MATRIX_ULP));
    /* 1e-320 on the way, which has but few digits */
    const double few[9] = {1e-200, 0, 0, 0, 1e-120, 0, 0, 0, 1e200};
    assert_true(close_ulp(gradient_of_det(t, 3, few, g), 1e-120, TOL_MATRIX_ULP));
    assert_true(close_ulp(g[0], 1e80, TOL_MATRIX_ULP) && close_ulp(g[4], 1, TOL_MATRIX_ULP));
    const double spd[9] = {1e-150, 0, 0, 0, 1e-150, 0, 0, 0, 1e-150};
    wg_tape_reset(t);
    const wg_mat a = wg_mat_input(t, 3, 3, spd, 3);
    const wg_real d = wg_factor_det(t, wg_potrf(t, a));
    assert_true(d.value == 0);
    assert_int_equal(wg_reverse(t, d), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    assert_true(close_ulp(g[0], 1e-300, TOL_MATRIX_ULP) && g[1] == 0);
    /* the inverse is beyond the range */
    const double tiny[4] = {2e-310, 1e-310, NAN, 2e-310};
    const wg_mat s = wg_mat_transpose(wg_mat_input(t, 2, 2, tiny, 2)), u = wg_mat_transpose(s);
    assert_int_equal(wg_reverse(t, wg_factor_det(t, wg_potrf(t, u))), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, u, g, 2), WG_OK);
    assert_true(close_ulp(g[0], 2e-310, TOL_MATRIX_ULP) &&
                close_ulp(g[1], -1e-310, TOL_MATRIX_ULP) && g[1] == g[2]);
    wg_tape_free(t);
}

static wg_status det_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const size_t order = *(const size_t *)data;
    (void)n, (void)m;
    y[0] = wg_det(t, wg_mat_gather(t, order, order, x));
    return wg_tape_status(t);
}

/* As a whole, from order 5 on: as on the tape. */
static void determinants_beyond_the_range_are_right_in_functions(void **state) {
    (void)state;
    enum { ORDER = 5, ALL = ORDER * ORDER };
    static const double diagonals[][ORDER] = {{1e200, 1e200, 1e-200, 2e-200, 1},
                                              {1e-200, 1e-120, 1e200, 1, 1},
                                              {1e200, 1e200, 1, 1, 1},
                                              {1e-200, 1e-200, 1e300, 1, 1},
                                              {1e-100, 1e-100, 1e-100, 1e-100, 1e-100}};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_argument in = {"x", ALL, 1, 0}, out = {"y", 1, 1, 0};
    size_t order = ORDER;
    double at[ALL];
    wg_function *f = NULL, *gradient = NULL;
    for (size_t i = 0; i < ALL; i++) at[i] = cos((double)(i * i)) + 3 * (i % (ORDER + 1) == 0);
    assert_int_equal(wg_function_record(t, det_of, &order, 1, &in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(t, f, &gradient), WG_OK);
    void *const work = malloc(wg_function_work(gradient, NULL) + wg_function_work(f, NULL));
    assert_non_null(work);
    for (size_t k = 0; k < sizeof diagonals / sizeof *diagonals; k++) {
        double x[ALL] = {0}, v, g[ALL], got, slopes[ALL], largest = 0;
        for (size_t i = 0; i < ORDER; i++) x[i * (ORDER + 1)] = diagonals[k][i];
        x[1] = x[2 + ORDER] = 1e-60;
        v = gradient_of_det(t, ORDER, x, g);
        const wg_points from = {x, ALL, 1};
        const wg_results value = {&got, 1, 1}, slope = {slopes, ALL, 1};
        assert_int_equal(wg_function_evaluate(f, 1, &from, &value, NULL, work, NULL), WG_OK);
        assert_int_equal(wg_function_evaluate(gradient, 1, &from, &slope, NULL, work, NULL),
                         WG_OK);
        assert_true(close_ulp(got, v, TOL_MATRIX_ULP));
        for (size_t i = 0; i < ALL; i++)
            if (isfinite(g[i])) largest = fmax(largest, fabs(g[i]));
        for (size_t i = 0; i < ALL; i++)
            assert_true(slopes[i] == g[i] ||
                        fabs(slopes[i] - g[i]) <= TOL_MATRIX_ULP * DBL_EPSILON * largest);
        wg_tape_reset(t);
    }
    free(work);
    wg_function_free(gradient);
    wg_function_free(f);
    wg_tape_free(t);
}

/* By LU, or by Cholesky. */
struct written {
    size_t order;
    int spd;
};
static wg_status written_det(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const struct written *const w = (const struct written *)data;
    const wg_mat a = wg_mat_gather(t, w->order, w->order, x);
    (void)n, (void)m;
    y[0] = w->spd ? wg_factor_det(t, wg_potrf(t, a)) : wg_det(t, a);
    return wg_tape_status(t);
}

/* Recorded at `at`, evaluated at x: a status, and value and gradient. */
static wg_status in_a_function(wg_tape *t, struct written w, const double *at, const double *x,
                               double *v, double *g) {
    const size_t n = w.order * w.order;
    const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
    const wg_points from = {x, (ptrdiff_t)n, 1};
    const wg_results value = {v, 1, 1}, slopes = {g, (ptrdiff_t)n, 1};
    wg_function *f = NULL, *gradient = NULL;
    assert_int_equal(wg_function_record(t, written_det, &w, 1, &in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(t, f, &gradient), WG_OK);
    void *const work = malloc(wg_function_work(gradient, NULL) + wg_function_work(f, NULL));
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, &from, &value, NULL, work, NULL);
    assert_int_equal(wg_function_evaluate(gradient, 1, &from, &slopes, NULL, work, NULL), s);
    free(work);
    wg_function_free(gradient);
    wg_function_free(f);
    wg_tape_reset(t);
    return s;
}

/* A diagonal, whose determinant is within the range of numbers while products of some of its
 * elements are not; NAN: one less. */
static const double beyond[][4] = {
    {1e200, 1e200, 1e-200, 2e-200}, {1e-200, 1e-200, 1e200, 3e200},
    {1e200, 1e-120, 1e-200, 1e150}, {1e-170, 1e-160, 1e120, 1e20},
    {1e-200, 1e-200, 1e300, NAN},   {1e-200, 1e-120, 1e200, NAN},
    {1e290, 1e-160, 1e-160, NAN}};

/* Orders 3 and 4, and any by Cholesky, are written out: refused there, and right if
 * recorded. */
static void determinants_that_are_written_out_say_where_they_leave_the_range(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t k = 0; k < 2 * sizeof beyond / sizeof *beyond; k++) {
        const double *const d = beyond[k / 2];
        const struct written w = {isnan(d[3]) ? 3 : 4, k % 2 == 1};
        const size_t n = w.order;
        double x[16] = {0}, at[16], v, g[16], want = d[0] * d[2];
        want = n == 4 ? want * (d[1] * d[3]) : want * d[1];
        for (size_t i = 0; i < n * n; i++) at[i] = i % (n + 1) == 0 ? (double)(3 + i) : 0.5;
        for (size_t i = 0; i < n; i++) x[i * (n + 1)] = d[i];
        assert_int_equal(in_a_function(t, w, at, x, &v, g), WG_EGUARD);
        assert_int_equal(in_a_function(t, w, at, at, &v, g), WG_OK);
        assert_int_equal(in_a_function(t, w, x, x, &v, g), WG_OK);
        if (isnormal(want)) assert_true(close_ulp(v, want, TOL_MATRIX_ULP));
        for (size_t i = 0; i < n; i++)
            if (isnormal(want / d[i]))
                assert_true(close_ulp(g[i * (n + 1)], want / d[i], TOL_MATRIX_ULP));
        assert_int_equal(in_a_function(t, w, x, at, &v, g), WG_OK);
        assert_true(v > 0);
    }
    wg_tape_free(t);
}

/* Small numbers are no reason where the determinant has its digits; nor are zeros. */
static void determinants_with_small_entries_are_written_out(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    static const double at[] = {2, 0.5, 0.25, 0.5, 3, 0.5, 0.25, 0.5, 4};
    static const double points[][9] = {{1, 1e-300, 0, 1e-290, 1, 1e-310, 0, 0, 1},
                                       {1, 0, 0, 0, 1, 0, 0, 0, 0},
                                       {0, 0, 0, 0, 0, 0, 0, 0, 0},
                                       {1e-50, 2e-50, 3e-50, 2e-50, 4e-50, 6e-50, 0, 0, 1e-50}};
    for (size_t k = 0; k < 4; k++) {
        double v, g[9], slopes[9];
        const double want = gradient_of_det(t, 3, points[k], slopes);
        wg_tape_reset(t);
        assert_int_equal(in_a_function(t, (struct written){3, 0}, at, points[k], &v, g), WG_OK);
        assert_true(v == want);
        double largest = 0;
        for (size_t i = 0; i < 9; i++) largest = fmax(largest, fabs(slopes[i]));
        for (size_t i = 0; i < 9; i++)
            assert_true(fabs(g[i] - slopes[i]) <= TOL_MATRIX_ULP * DBL_EPSILON * largest);
    }
    wg_tape_free(t);
}

/* Two infinities are not subtracted. */
static void determinants_of_order_2_say_where_both_products_overflow(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const struct written w = {2, 0};
    const double at[] = {2, 1, 1, 3}, same[] = {1e200, 1e200, 1e200, 1e200};
    const double one[] = {1e200, 1, 1, 1e200};
    double v, g[4];
    assert_int_equal(in_a_function(t, w, at, same, &v, g), WG_EGUARD);
    assert_int_equal(in_a_function(t, w, same, same, &v, g), WG_OK);
    assert_true(v == 0 && g[0] == 1e200 && g[1] == -1e200);
    assert_int_equal(in_a_function(t, w, at, one, &v, g), WG_OK);
    assert_true(v == INFINITY && g[0] == 1e200 && g[1] == -1);
    wg_tape_free(t);
}

static void determinants_of_what_is_not_finite_come_back(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double odd[] = {INFINITY, -INFINITY, NAN};
    for (size_t k = 0; k < 3; k++)
        for (size_t n = 1; n <= 5; n++)
            for (size_t at = 0; at < n * n; at++) {
                double v[25], g[25];
                for (size_t i = 0; i < n * n; i++) v[i] = (double)(i * i % 7) + 1;
                v[at] = odd[k];
                (void)gradient_of_det(t, n, v, g);
                if (n == 1) assert_true(g[0] == 1);
                else assert_true(isnan(g[0]));
            }
    wg_tape_free(t);
}

/* Also where LU finds no pivot in a column, before or where the NaN stands. */
static void a_determinant_with_a_nan_is_never_zero(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    static const size_t orders[] = {2, 3, 5, 16, 18};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (size_t at = 0, n = orders[o]; at < n * n; at++)
            for (size_t zeros = 0; zeros < n; zeros++) {
                double v[18 * 18], g[18 * 18];
                for (size_t i = 0; i < n * n; i++)
                    v[i] = i / n == zeros ? 0 : (double)(i * i % 7) + 1;
                v[at] = NAN;
                assert_true(isnan(gradient_of_det(t, n, v, g)) && isnan(g[0]));
            }
    wg_tape_free(t);
}

static void tangents_of_a_singular_determinant_agree_with_its_gradient(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[4] = {1, 2, 2, 4}, direction[4] = {1, 10, 100, 1000};
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2);
    assert_int_equal(wg_mat_tangent_seed(t, a, 0, direction, 2), WG_OK);
    assert_true(close_ulp(wg_tangent(t, wg_det(t, a), 0), 4 - 20 - 200 + 1000, TOL_MATRIX_ULP));
    wg_tape_free(t);
}

static void the_sign_of_a_determinant_is_given(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[9] = {0, 1, 0, 1, 0, 0, 0, 0, 2}, u[4] = {-1, 0, 0, -3};
    double sign = 0;
    const wg_mat a = wg_mat_input(t, 3, 3, v, 3), b = wg_mat_input(t, 2, 2, u, 2);
    assert_true(close_ulp(wg_logabsdet(t, a, &sign).value, log(2), TOL_VALUE_ULP));
    assert_true(sign == -1 && wg_mat_at(wg_lu(t, a).sign, 0, 0).value == -1);
    assert_true(close_ulp(wg_logabsdet(t, b, &sign).value, log(3), TOL_VALUE_ULP));
    assert_true(sign == 1 && wg_mat_at(wg_lu(t, b).sign, 0, 0).value == 1);
    assert_int_equal(wg_reverse(t, wg_mat_at(wg_lu(t, a).sign, 0, 0)), WG_OK);
    double g[9];
    assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
    for (size_t i = 0; i < 9; i++) assert_true(g[i] == 0);
    wg_tape_free(t);
}

/* ---- edges and failures ---- */

static void one_triangle_of_a_symmetric_operand_is_read(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[4] = {4, 2, 1e30, 5};
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2), l = wg_cholesky(t, a);
    assert_true(wg_mat_at(l, 0, 0).value == 2 && wg_mat_at(l, 1, 0).value == 1);
    assert_true(wg_mat_at(l, 0, 1).value == 0 && wg_mat_at(l, 1, 1).value == 2);
    wg_tape_free(t);
}

static void zero_sizes_have_determinant_one(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat none = wg_mat_input(t, 0, 0, NULL, 1);
    double sign;
    assert_true(wg_det(t, none).value == 1);
    assert_true(wg_logabsdet(t, none, &sign).value == 0 && sign == 1);
    assert_true(wg_logdet_spd(t, none).value == 0);
    const wg_factor f = wg_lu(t, none), c = wg_potrf(t, none);
    assert_true(wg_factor_det(t, f).value == 1 && wg_factor_det(t, c).value == 1);
    assert_true(wg_factor_logdet(t, f).value == 0 && wg_factor_logdet(t, c).value == 0);
    const wg_mat made[] = {wg_inverse(t, none),           wg_inverse_spd(t, none),
                           wg_cholesky(t, none),          wg_factor_inverse(t, f),
                           wg_cholesky_batch(t, 5, none), wg_cholesky_batch(t, 0, none)};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++)
        assert_true(made[k].rows == 0 && made[k].cols == 0 && made[k].value != NULL);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static void what_cannot_be_factored_fails_and_is_forgotten_by_a_rewind(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double singular[4] = {1, 2, 2, 4}, indefinite[9] = {1, 0, 0, 0, -1, 0, 0, 0, 1};
    const wg_mat a = wg_mat_input(t, 2, 2, singular, 2);
    const wg_mat s = wg_mat_input(t, 3, 3, indefinite, 3);
    const wg_mark m = wg_tape_mark(t);
    double sign = 1;
    assert_true(wg_logabsdet(t, a, &sign).at.slot == 0);
    assert_true(sign != sign);
    failed_with(t, m, WG_ESINGULAR, "wg_logabsdet of 2x2", "singular (info 2)");
    (void)wg_inverse(t, a);
    failed_with(t, m, WG_ESINGULAR, "wg_inverse of 2x2", "singular (info 2)");
    (void)wg_logdet_spd(t, s);
    failed_with(t, m, WG_ESINGULAR, "wg_logdet_spd of 3x3", "not positive definite (info 2)");
    (void)wg_inverse_spd(t, s);
    failed_with(t, m, WG_ESINGULAR, "wg_inverse_spd of 3x3", "not positive definite (info 2)");
    (void)wg_cholesky(t, s);
    failed_with(t, m, WG_ESINGULAR, "wg_cholesky of 3x3", "not positive definite (info 2)");
    (void)wg_cholesky_batch(t, 1, s);
    failed_with(t, m, WG_ESINGULAR, "wg_cholesky_batch", "(info 2)");
    const wg_factor f = wg_potrf(t, s);
    assert_true(f.packed == NULL && f.sign.value == NULL);
    const wg_real v = wg_factor_logdet(t, f);
    assert_true(v.value != v.value && v.at.slot == 0);
    failed_with(t, m, WG_ESINGULAR, "wg_potrf of 3x3", "not positive definite (info 2)");
    (void)wg_factor_logdet(t, f); /* after the rewind, the failed factor is refused */
    failed_with(t, m, WG_ESHAPE, "wg_factor_logdet", "failed matrix");
    const wg_real d = wg_det(t, s);
    assert_int_equal(wg_reverse(t, d), WG_OK);
    assert_true(d.value == -1);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat flat = random_input(t, 60, 2, 3, 0);
    const wg_mark m = wg_tape_mark(t);
    (void)wg_cholesky(t, flat);
    failed_with(t, m, WG_ESHAPE, "wg_cholesky of 2x3", "not square");
    (void)wg_cholesky_batch(t, 2, flat);
    failed_with(t, m, WG_ESHAPE, "wg_cholesky_batch of 2x3", "batch");
    (void)wg_det(t, flat);
    failed_with(t, m, WG_ESHAPE, "wg_det of 2x3", "not square");
    (void)wg_logabsdet(t, flat, NULL);
    failed_with(t, m, WG_ESHAPE, "wg_logabsdet of 2x3", "not square");
    (void)wg_inverse_spd(t, flat);
    failed_with(t, m, WG_ESHAPE, "wg_inverse_spd of 2x3", "not square");
    (void)wg_potrf(t, flat);
    failed_with(t, m, WG_ESHAPE, "wg_potrf of 2x3", "not square");
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cholesky_has_its_derivatives_at_every_block_count),
        cmocka_unit_test(the_blocked_adjoint_of_cholesky_is_the_dense_one),
        cmocka_unit_test(determinants_and_inverses_have_their_derivatives),
        cmocka_unit_test(the_gradient_of_a_log_determinant_is_the_inverse),
        cmocka_unit_test(the_gradient_of_a_singular_determinant_is_its_cofactors),
        cmocka_unit_test(the_gradient_of_a_determinant_is_zero_from_corank_two_on),
        cmocka_unit_test(small_pivots_are_no_singularity),
        cmocka_unit_test(determinants_beyond_the_range_have_their_gradient),
        cmocka_unit_test(determinants_beyond_the_range_are_right_in_functions),
        cmocka_unit_test(determinants_that_are_written_out_say_where_they_leave_the_range),
        cmocka_unit_test(determinants_with_small_entries_are_written_out),
        cmocka_unit_test(determinants_of_order_2_say_where_both_products_overflow),
        cmocka_unit_test(determinants_of_what_is_not_finite_come_back),
        cmocka_unit_test(a_determinant_with_a_nan_is_never_zero),
        cmocka_unit_test(tangents_of_a_singular_determinant_agree_with_its_gradient),
        cmocka_unit_test(the_sign_of_a_determinant_is_given),
        cmocka_unit_test(one_triangle_of_a_symmetric_operand_is_read),
        cmocka_unit_test(zero_sizes_have_determinant_one),
        cmocka_unit_test(what_cannot_be_factored_fails_and_is_forgotten_by_a_rewind),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests_name("factor", tests, NULL, NULL);
}
