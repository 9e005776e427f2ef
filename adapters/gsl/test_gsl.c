/* SPDX-License-Identifier: MIT */
/* test_gsl.c - GSL's functions of problems, called as GSL calls them: strides of vectors, tda
 * of matrices, failures. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include "wengert/gsl.h"

enum { N = 3, M = 4, ROOM = 40 };

/* Small whole numbers at small whole points. */
static wg_status powers(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_status *const status = data;
    (void)n;
    y[0] = wg_let(t, wg_mul(wg_square(x[0]), x[1]));
    y[1] = wg_let(t, wg_mul(x[0], x[2]));
    y[2] = wg_let(t, wg_cube(x[2]));
    if (m == M) y[3] = wg_let(t, wg_sqrt(x[1]));
    return status == NULL ? WG_OK : *status;
}
static const double at[N] = {2, 4, 5}, along[N] = {1, -2, 4}, weights[M] = {1, -1, 2, 8};
static const double value[M] = {16, 10, 125, 2};
static const double jac[M][N] = {{16, 4, 0}, {5, 0, 2}, {0, 0, 75}, {0, 0.25, 0}};
/* 2 y v0^2 + 4 x v0 v1, 2 v0 v2, 6 z v2^2, -v1^2 / (4 y^1.5) */
static const double second[M] = {8 - 16, 8, 480, -0.125};

/* What a vector and a matrix live in: other numbers stay as they are. */
typedef struct strided {
    double numbers[ROOM];
    gsl_vector v;
} strided;
static gsl_vector *vector(strided *s, size_t size, size_t stride, const double *from) {
    for (size_t i = 0; i < ROOM; i++) s->numbers[i] = -77;
    s->v = gsl_vector_view_array_with_stride(s->numbers + 1, stride, size).vector;
    for (size_t i = 0; i < size && from != NULL; i++) s->numbers[1 + i * stride] = from[i];
    return &s->v;
}
static void assert_vector(const strided *s, const double *ref) {
    for (size_t k = 0; k < ROOM; k++) {
        const size_t i = (k - 1) / s->v.stride;
        const int inside = k >= 1 && (k - 1) % s->v.stride == 0 && i < s->v.size;
        if (s->numbers[k] != (inside ? ref[i] : -77))
            fail_msg("entry %zu of the room is %g, stride %zu", k, s->numbers[k], s->v.stride);
    }
}
typedef struct spaced {
    double numbers[ROOM];
    gsl_matrix m;
} spaced;
static gsl_matrix *matrix(spaced *s, size_t rows, size_t cols, size_t tda) {
    for (size_t i = 0; i < ROOM; i++) s->numbers[i] = -77;
    s->m = gsl_matrix_view_array_with_tda(s->numbers + 1, rows, cols, tda).matrix;
    return &s->m;
}
static void assert_matrix(const spaced *s, const double *ref) {
    for (size_t k = 0; k < ROOM; k++) {
        const size_t r = (k - 1) / s->m.tda, c = (k - 1) % s->m.tda;
        const int inside = k >= 1 && r < s->m.size1 && c < s->m.size2;
        if (s->numbers[k] != (inside ? ref[r * s->m.size2 + c] : -77))
            fail_msg("entry %zu of the room is %g, tda %zu", k, s->numbers[k], s->m.tda);
    }
}

static wg_problem *open(size_t m, unsigned flags) {
    return wg_problem_new(
        &(wg_computation){.n = N, .m = m, .callback = powers, .flags = flags});
}

static void fits_and_root_finders_get_strides_and_tda(void **state) {
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        const size_t in = k & 1 ? 3 : 1, out = k & 2 ? 2 : 1, tda = k & 4 ? N + 2 : N;
        wg_problem *const p = open(M, k % 3 == 0 ? WG_RECORD_ONCE : 0), *const q = open(N, 0);
        const gsl_multifit_nlinear_fdf f = wg_gsl_multifit(p);
        const gsl_multiroot_function_fdf g = wg_gsl_multiroot(q);
        strided x, v, y;
        spaced j;
        assert_true(f.n == M && f.p == N && g.n == N);
        assert_int_equal(f.f(vector(&x, N, in, at), f.params, vector(&y, M, out, NULL)),
                         GSL_SUCCESS);
        assert_vector(&y, value), assert_vector(&x, at);
        assert_int_equal(f.df(&x.v, f.params, matrix(&j, M, N, tda)), GSL_SUCCESS);
        assert_matrix(&j, jac[0]);
        assert_int_equal(
            f.fvv(&x.v, vector(&v, N, out, along), f.params, vector(&y, M, in, NULL)),
            GSL_SUCCESS);
        assert_vector(&y, second);
        assert_int_equal(g.fdf(&x.v, g.params, vector(&y, N, out, NULL), matrix(&j, N, N, tda)),
                         GSL_SUCCESS);
        assert_vector(&y, value), assert_matrix(&j, jac[0]);
        assert_int_equal(g.f(&x.v, g.params, vector(&y, N, 3, NULL)), GSL_SUCCESS);
        assert_vector(&y, value);
        assert_int_equal(g.df(&x.v, g.params, matrix(&j, N, N, N + 1)), GSL_SUCCESS);
        assert_matrix(&j, jac[0]);
        wg_problem_free(p), wg_problem_free(q);
    }
}

static void large_fits_get_products_and_the_normal_matrix(void **state) {
    double ju[M] = {0}, jw[N] = {0}, jtj[N * N] = {0};
    (void)state;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < N; k++) {
            ju[i] += jac[i][k] * along[k], jw[k] += jac[i][k] * weights[i];
            for (int l = 0; l < N; l++) jtj[k * N + l] += jac[i][k] * jac[i][l];
        }
    for (size_t k = 0; k < 8; k++) {
        const size_t in = k & 1 ? 3 : 1, out = k & 2 ? 2 : 1, tda = k & 4 ? N + 2 : N;
        wg_problem *const p = open(M, k % 3 == 0 ? WG_RECORD_ONCE : 0);
        const gsl_multilarge_nlinear_fdf f = wg_gsl_multilarge(p);
        strided x, u, y;
        spaced j;
        assert_true(f.n == M && f.p == N);
        assert_int_equal(f.f(vector(&x, N, in, at), f.params, vector(&y, M, out, NULL)),
                         GSL_SUCCESS);
        assert_vector(&y, value);
        assert_int_equal(f.df(CblasNoTrans, &x.v, vector(&u, N, out, along), f.params,
                              vector(&y, M, in, NULL), NULL),
                         GSL_SUCCESS);
        assert_vector(&y, ju);
        assert_int_equal(f.df(CblasTrans, &x.v, vector(&u, M, in, weights), f.params,
                              vector(&y, N, out, NULL), matrix(&j, N, N, tda)),
                         GSL_SUCCESS);
        assert_vector(&y, jw), assert_matrix(&j, jtj);
        assert_int_equal(f.df(CblasTrans, &x.v, NULL, f.params, NULL, matrix(&j, N, N, tda)),
                         GSL_SUCCESS);
        assert_matrix(&j, jtj);
        assert_int_equal(
            f.fvv(&x.v, vector(&u, N, out, along), f.params, vector(&y, M, in, NULL)),
            GSL_SUCCESS);
        assert_vector(&y, second);
        wg_problem_free(p);
    }
}

static wg_status first(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    wg_real all[M];
    const wg_status s = powers(t, n, x, M, all, data);
    (void)m;
    y[0] = wg_let(t, wg_add(all[0], all[3]));
    return s;
}

static void minimisers_get_strides(void **state) {
    const double g[N] = {16, 4.25, 0};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const size_t in = k & 1 ? 3 : 1, out = k & 2 ? 2 : 1;
        wg_problem *const p =
            wg_problem_new(&(wg_computation){.n = N, .m = 1, .callback = first});
        const gsl_multimin_function_fdf f = wg_gsl_multimin(p);
        strided x, y;
        double got = NAN;
        assert_true(f.n == N && f.f(vector(&x, N, in, at), f.params) == 18);
        f.df(&x.v, f.params, vector(&y, N, out, NULL));
        assert_vector(&y, g);
        f.fdf(&x.v, f.params, &got, vector(&y, N, out, NULL));
        assert_vector(&y, g), assert_vector(&x, at);
        assert_true(got == 18);
        wg_problem_free(p);
    }
}

/* y0' = t^2 y1, y1' = y0 y1 */
static wg_status rates(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(wg_square(x[0]), x[2]));
    y[1] = wg_let(t, wg_mul(x[1], x[2]));
    return WG_OK;
}
static void integrators_get_jacobians_row_by_row_and_by_time(void **state) {
    const double y[] = {5, 7};
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        double f[2], dfdy[4], dfdt[2];
        wg_problem *const p = wg_problem_new(&(wg_computation){.n = 3,
                                                               .m = 2,
                                                               .callback = rates,
                                                               .groups = 2,
                                                               .group = (size_t[]){1, 2},
                                                               .flags = flags});
        const gsl_odeiv2_system s = wg_gsl_odeiv2(p);
        assert_int_equal(s.dimension, 2);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(s.function(3, y, f, s.params), GSL_SUCCESS);
            assert_true(f[0] == 63 && f[1] == 35);
            assert_int_equal(s.jacobian(3, y, dfdy, dfdt, s.params), GSL_SUCCESS);
            assert_true(dfdy[0] == 0 && dfdy[1] == 9 && dfdy[2] == 7 && dfdy[3] == 5);
            assert_true(dfdt[0] == 42 && dfdt[1] == 0);
        }
        wg_problem_free(p);
    }
}

/* ---- failures ---- */

static void no_number_is_a_domain_error_and_a_failure_a_bad_function(void **state) {
    const double outside[N] = {2, -4, 5}, flat[N] = {2, 0, 5};
    wg_status status = WG_OK;
    double numbers[M * N], f;
    gsl_vector_view y = gsl_vector_view_array(numbers, M),
                    g = gsl_vector_view_array(numbers, N);
    gsl_matrix_view j = gsl_matrix_view_array(numbers, M, N);
    gsl_vector_const_view x = gsl_vector_const_view_array(at, N),
                          o = gsl_vector_const_view_array(outside, N),
                          e = gsl_vector_const_view_array(flat, N),
                          short_ = gsl_vector_const_view_array(at, N - 1);
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = N, .m = M, .callback = powers, .data = &status});
    wg_problem *const q =
        wg_problem_new(&(wg_computation){.n = N, .m = 1, .callback = first, .data = &status});
    const gsl_multifit_nlinear_fdf fit = wg_gsl_multifit(p);
    const gsl_multilarge_nlinear_fdf large = wg_gsl_multilarge(p);
    const gsl_multimin_function_fdf least = wg_gsl_multimin(q);
    (void)state;
    assert_int_equal(fit.f(&o.vector, p, &y.vector), GSL_EDOM);
    assert_int_equal(fit.df(&o.vector, p, &j.matrix), GSL_EDOM);
    assert_int_equal(fit.f(&e.vector, p, &y.vector), GSL_SUCCESS);
    assert_int_equal(fit.df(&e.vector, p, &j.matrix), GSL_EDOM); /* an infinite slope */
    assert_int_equal(fit.fvv(&o.vector, &x.vector, p, &y.vector), GSL_EDOM);
    assert_int_equal(large.df(CblasNoTrans, &o.vector, &x.vector, p, &y.vector, NULL),
                     GSL_EDOM);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    assert_true(isnan(least.f(&o.vector, q)));
    least.fdf(&o.vector, q, &f, &g.vector);
    assert_true(isnan(f) && isnan(numbers[0]) && isnan(numbers[N - 1]));

    assert_int_equal(fit.f(&short_.vector, p, &y.vector), GSL_EBADFUNC);
    assert_int_equal(fit.f(&x.vector, p, &g.vector), GSL_EBADFUNC);
    assert_int_equal(fit.f(&x.vector, NULL, &y.vector), GSL_EBADFUNC);
    assert_int_equal(large.df(CblasTrans, &x.vector, &x.vector, p, &g.vector, NULL),
                     GSL_EBADFUNC);

    status = WG_ECONVERGE;
    assert_int_equal(fit.f(&x.vector, p, &y.vector), GSL_EBADFUNC);
    assert_int_equal(fit.df(&x.vector, p, &j.matrix), GSL_EBADFUNC);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    assert_int_equal(fit.f(&o.vector, p, &y.vector), GSL_EBADFUNC);
    assert_true(isnan(least.f(&x.vector, q)));
    wg_problem_free(p), wg_problem_free(q);
}

/* As NLopt's adapter leaves its optimiser. */
static void not_ours(void *optimiser) { (void)optimiser; }
static void a_problem_that_another_adapter_has_used_is_as_good_as_new(void **state) {
    double optimiser[4] = {0}, numbers[M];
    gsl_vector_view y = gsl_vector_view_array(numbers, M);
    gsl_vector_const_view x = gsl_vector_const_view_array(at, N);
    wg_problem *const p = open(M, 0);
    const gsl_multifit_nlinear_fdf fit = wg_gsl_multifit(p);
    (void)state;
    wg_problem_attach(p, optimiser, not_ours);
    assert_int_equal(fit.fvv(&x.vector, &x.vector, p, &y.vector), GSL_SUCCESS);
    assert_int_equal(fit.f(&x.vector, p, &y.vector), GSL_SUCCESS);
    for (size_t j = 0; j < M; j++) assert_true(numbers[j] == value[j]);
    assert_null(wg_problem_attached(p, not_ours));
    wg_problem_free(p);
}

/* Groups that add up to as many, but are not t and y. */
static void rates_in_other_groups_are_no_system(void **state) {
    const size_t groups[] = {1, 1, 1};
    double y[] = {2, 3}, rows[4] = {7, 7, 7, 7}, by_time[2];
    wg_problem *const p = wg_problem_new(
        &(wg_computation){.n = 3, .m = 2, .callback = rates, .groups = 3, .group = groups});
    const gsl_odeiv2_system s = wg_gsl_odeiv2(p);
    (void)state;
    assert_int_equal(s.jacobian(4, y, rows, by_time, p), GSL_EBADFUNC);
    assert_int_equal(s.function(4, y, rows, p), GSL_EBADFUNC);
    assert_true(rows[0] == 7 && rows[3] == 7);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_and_root_finders_get_strides_and_tda),
        cmocka_unit_test(large_fits_get_products_and_the_normal_matrix),
        cmocka_unit_test(minimisers_get_strides),
        cmocka_unit_test(integrators_get_jacobians_row_by_row_and_by_time),
        cmocka_unit_test(no_number_is_a_domain_error_and_a_failure_a_bad_function),
        cmocka_unit_test(a_problem_that_another_adapter_has_used_is_as_good_as_new),
        cmocka_unit_test(rates_in_other_groups_are_no_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
