/* SPDX-License-Identifier: MIT */
/* test_function_matrix_careful.c - operations on matrices as parts of functions, where values
 * and slopes are hard to get. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

#include "graph_walk.h"
#include "walk.h"
#include "written_out.h"

/* ---- where values and slopes are hard to get ---- */

/* The values of a function recorded at an ordinary point, at x, each within `units`. */
static void check_values(const char *name, const double *at, const double *x, size_t m,
                         double units) {
    const struct written_out *const c = written_out_find(name);
    double y[WRITTEN_OUT_MOST], got[WRITTEN_OUT_MOST];
    wg_function *const f = written_out_recorded(c, at, m);
    written_out_must(name, wg_eval(written_out_tape, written_out_call, (void *)(uintptr_t)c,
                                   written_out_entries(c), x, m, y));
    assert_int_equal(graph_walk(f, x, got), 0);
    for (size_t j = 0; j < m; j++)
        if (!(got[j] == y[j] || fabs(got[j] - y[j]) <= units * DBL_EPSILON * fabs(y[j])))
            fail_msg("%s at %g, %g, ..: %.17g, not %.17g", name, x[0], x[1], got[j], y[j]);
    wg_function_free(f);
}

/* Relative to each number itself: eps for each of a few operations, and for exponentials of
 * differences of some hundreds as many. */
#define TOL_CAREFUL 8.0
#define TOL_EXPONENTIAL 1024.0

static void written_out_forms_are_as_careful_as_the_operations(void **state) {
    (void)state;
    const double at[12] = {0.1, 0.5, -0.3, 0.2, 0.7, -0.6, 0.4, 0.9, 0.8, 0.3, 0.2, 0.6};
    const double inf = INFINITY;
    const double far[6] = {1000, 960, 200, -1000, -1030, -2000};
    const double masked[6] = {1, -inf, 2, -inf, -inf, 3}, none[6] = {-inf, -inf, -inf, 0, 1, 2};
    const double top[6] = {inf, 1, inf, 2, inf, -inf};
    const double huge[6] = {1e200, -3e200, 2e200, 1e180, 1e-200, 0};
    const double tiny[6] = {1e-200, -3e-200, 2e-200, 1e-180, 1e-300, 0};
    const double nothing[6] = {0, 0, 0, 0, 0, 0};
    const double shifted[6] = {1e16 + 2, 1e16 + 4, 1e16 - 6, 1e16, 1e16 + 10, 1e16 - 2};
    const double sure[12] = {0, -50, 40, 700, 0, -3, -400, 40, 0, 1, 2, -800};
    const double *const hard[] = {far, masked, none, top, sure};
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++) {
        check_values("softmax", at, hard[k], 6, TOL_EXPONENTIAL);
        check_values("log_softmax", at, hard[k], 6, TOL_CAREFUL);
        check_values("logsumexp", at, hard[k], 1, TOL_CAREFUL);
    }
    const double *const sizes[] = {huge, tiny, nothing};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check_values("norm_2", at, sizes[k], 1, TOL_CAREFUL);
        check_values("norm_3", at, sizes[k], 3, TOL_CAREFUL);
        check_values("norm_most", at, sizes[k], 1, TOL_CAREFUL);
    }
    check_values("var", at, shifted, 1, TOL_CAREFUL);
    check_values("std_rows", at, shifted, 2, TOL_CAREFUL);
    /* a loss that is next to nothing, and one that is far from it */
    check_values("cross_entropy", at, sure, 4, TOL_CAREFUL);
    const double soft[12] = {-inf, 1, 2, 40, 3, -inf, 0, 1, 0, 0, 2, 0};
    const double same[12] = {0.1, 0.5, -0.3, 0.2, 0.7, -0.6, 0.5, 1, 0.8, 1.1, 1.2, 0.7};
    check_values("cross_entropy_soft", same, soft, 2, TOL_CAREFUL);
    const double clear[12] = {50, 1, 3, 40, 12, 0, 1, 0, 0, 1, 0, 0};
    check_values("cross_entropy_soft", same, clear, 2, TOL_CAREFUL);
}

/* Columns that are nearly the same. */
static void orthogonal_columns_are_orthogonal(void **state) {
    (void)state;
    const struct written_out *const c = written_out_find("qr_tall");
    const double x[8] = {1, 0.5, -0.25, 0.75, 1, 0.5 + 0x1p-40, -0.25, 0.75};
    double q[8], along[3] = {0, 0, 0};
    wg_function *const f = written_out_recorded(c, x, 8);
    assert_int_equal(graph_walk(f, x, q), 0);
    for (size_t i = 0; i < 4; i++) {
        along[0] += q[i] * q[i];
        along[1] += q[4 + i] * q[4 + i];
        along[2] += q[i] * q[4 + i];
    }
    assert_true(fabs(along[0] - 1) <= TOL_CAREFUL * DBL_EPSILON);
    assert_true(fabs(along[1] - 1) <= TOL_CAREFUL * DBL_EPSILON);
    assert_true(fabs(along[2]) <= TOL_CAREFUL * DBL_EPSILON);
    wg_function_free(f);
}

static void slopes_at_kinks_are_those_of_the_operations(void **state) {
    (void)state;
    const double tied[6] = {2, -1, 2, -2, 0, 2}, nothing[6] = {0, 0, 0, 0, 0, 0};
    static const char *const kinked[] = {"max",      "norm_most", "norm_1", "prod",
                                         "norm_2",   "norm_3",    "std",    "std_rows",
                                         "min_cols", "prod_rows"};
    for (size_t k = 0; k < sizeof kinked / sizeof *kinked; k++) {
        const struct written_out *const c = written_out_find(kinked[k]);
        const double *const points[2] = {tied, nothing};
        for (size_t p = 0; p < 2; p++) {
            const size_t m = written_out_results_of(c, points[p]);
            wg_function *const f = written_out_recorded(c, points[p], m), *jacobian = NULL;
            written_out_must(c->name, wg_function_jacobian(written_out_tape, f, &jacobian));
            written_out_check_at(c, m, f, jacobian, points[p], "at a kink");
            wg_function_free(jacobian);
            wg_function_free(f);
        }
    }
}

/* Products and a determinant of singular matrices have derivatives, of any order. */
static void singular_matrices_have_determinants(void **state) {
    (void)state;
    const struct written_out *const c = written_out_find("det");
    for (size_t rank = 0; rank < 4; rank++) {
        double u[16], v[16], x[16];
        written_out_seed = 5;
        for (size_t e = 0; e < 16; e++)
            u[e] = walk_number(&written_out_seed), v[e] = walk_number(&written_out_seed);
        for (size_t e = 0; e < 16; e++) {
            x[e] = 0;
            for (size_t k = 0; k < rank; k++) x[e] += u[e % 4 + 4 * k] * v[e / 4 + 4 * k];
        }
        const size_t n = 16;
        wg_function *const f = written_out_recorded(c, x, 1), *jacobian = NULL;
        written_out_must(c->name, wg_function_jacobian(written_out_tape, f, &jacobian));
        double y, jac[16], got[16];
        written_out_must(c->name,
                         wg_jacobian(written_out_tape, written_out_call, (void *)(uintptr_t)c,
                                     n, x, 1, &y, WG_ROW_MAJOR, jac, n));
        assert_int_equal(graph_walk(jacobian, x, got), 0);
        for (size_t e = 0; e < n; e++)
            if (!(fabs(jac[e] - got[e]) <= TOL_WRITTEN_OUT * DBL_EPSILON))
                fail_msg("rank %zu: slope %zu is %g, not %g", rank, e, got[e], jac[e]);
        wg_function_free(jacobian);
        wg_function_free(f);
        if (rank >= 2) written_out_check_curvature(c, 1, x);
    }
}

/* Points that coincide: Matern covariances have second derivatives, from nu = 3/2 on. */
static void coinciding_points_have_smooth_covariances(void **state) {
    (void)state;
    static const char *const names[] = {"covariance_32", "covariance_between"};
    for (size_t k = 0; k < 2; k++) {
        const struct written_out *const c = written_out_find(names[k]);
        double x[WRITTEN_OUT_MOST];
        written_out_fill(c, x);
        x[1] = x[0], x[4] = x[3]; /* points 0 and 1 of three, in two coordinates */
        if (k == 1) x[6] = x[0], x[8] = x[3];
        written_out_check_near(c, x, k == 1);
        if (k == 1) continue;
        /* of nu = 3/2 the curvature has a kink there: -3 sigma^2 / scale^2 itself */
        const size_t n = written_out_entries(c), m = 9;
        wg_function *const f = written_out_recorded(c, x, m), *hessian = NULL;
        written_out_must(c->name, wg_function_hessian(written_out_tape, f, &hessian));
        double *const both = written_out_room(n + m), *const h = written_out_room(n * n);
        memcpy(both, x, n * sizeof *x);
        both[n + 1] = 1;
        assert_int_equal(graph_walk(hessian, both, h), 0);
        const double expected = -3 * x[8] * x[8] / (x[6] * x[6]);
        assert_true(fabs(h[0] - expected) <= TOL_CAREFUL * DBL_EPSILON * fabs(expected));
        assert_true(fabs(h[1] + expected) <= TOL_CAREFUL * DBL_EPSILON * fabs(expected));
        wg_function_free(f);
        wg_function_free(hessian);
        free(both);
        free(h);
    }
}

/* ---- exponentials elsewhere ---- */

static void exponential(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                        const void *data) {
    (void)data;
    written_out_put(r, wg_expm(t, in[0]));
}

static wg_status evaluated(const wg_function *f, const double *x, double *y) {
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, 1, &(wg_points){x, 0, 1},
                                             &(wg_results){y, 0, 1}, NULL, work, NULL);
    free(work);
    return s;
}

/* Degree and squarings are those of the recorded point: where they do not serve that is said.
 */
static void an_exponential_elsewhere_is_right_or_refused(void **state) {
    (void)state;
    static const double sizes[] = {0, 1e-3, 0.05, 0.3, 0.9, 1.7, 4, 9, 40, 300, 650};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    const struct written_out c = {"expm", exponential, NULL, {{2, 2, PLAIN}}, 0};
    size_t refused = 0, near = 0;
    for (size_t k = 0; k < SIZES; k++) {
        const double at[4] = {sizes[k], 0, 0, -0.5 * sizes[k]};
        wg_function *const f = written_out_recorded(&c, at, 4), *jacobian = NULL;
        written_out_must(c.name, wg_function_jacobian(written_out_tape, f, &jacobian));
        for (size_t j = 0; j < SIZES; j++) {
            const double x[4] = {sizes[j], 0, 0, -0.5 * sizes[j]};
            double y[4], slopes[16];
            const wg_status s = evaluated(f, x, y);
            assert_int_equal(evaluated(jacobian, x, slopes), s);
            refused += s == WG_EGUARD;
            if (s == WG_EGUARD) continue;
            written_out_must(c.name, s);
            const double units = 64 * (1 + sizes[j]) * DBL_EPSILON;
            assert_true(fabs(y[0] / exp(x[0]) - 1) <= units);
            assert_true(fabs(y[3] / exp(x[3]) - 1) <= units * exp(fmin(sizes[j], 50)) ||
                        y[3] < DBL_EPSILON);
            assert_true(fabs(slopes[0] / exp(x[0]) - 1) <= 4 * units);
        }
        /* twice as far, and a quarter of it, are near */
        for (int side = 0; side < 2; side++) {
            double x[4], y[4];
            for (size_t i = 0; i < 4; i++) x[i] = at[i] * (side ? 1.99 : 0.26);
            near += evaluated(f, x, y) == WG_OK;
        }
        wg_function_free(jacobian);
        wg_function_free(f);
    }
    assert_int_equal(near, 2 * SIZES);
    assert_true(refused >= SIZES);
}

/* The same where squarings are chosen by powers, which are small beside the norm:
 * exp of {a, c, b, a} has e^a cosh(r) on its diagonal, r = sqrt(b c). */
static void an_exponential_of_small_powers_is_right_or_refused(void **state) {
    (void)state;
    static const struct {
        double b, c;
    } entries[] = {{1e2, 1e10}, {1e10, 1},     {1e6, 1e-2}, {1, 1},     {1e-3, 1e-5},
                   {0, 1e10},   {1e-10, 1e10}, {1e8, 1e-8}, {1e4, 1e8}, {0, 1}};
    enum { ENTRIES = sizeof entries / sizeof *entries };
    const struct written_out c = {"expm", exponential, NULL, {{2, 2, PLAIN}}, 0};
    double at[ENTRIES][4];
    size_t refused = 0, served = 0;
    for (size_t k = 0; k < ENTRIES; k++) {
        const double a = -sqrt(entries[k].b * entries[k].c);
        at[k][0] = at[k][3] = a, at[k][1] = entries[k].c, at[k][2] = entries[k].b;
    }
    for (size_t k = 0; k < ENTRIES; k++) {
        wg_function *const f = written_out_recorded(&c, at[k], 4);
        for (size_t j = 0; j < ENTRIES; j++) {
            double y[4];
            const double r = -at[j][0];
            const wg_status s = evaluated(f, at[j], y);
            refused += s == WG_EGUARD;
            if (s == WG_EGUARD) continue;
            written_out_must(c.name, s);
            served++;
            const double expected = (1 + exp(-2 * r)) / 2, units = 64 * (1 + r) * DBL_EPSILON;
            assert_true(fabs(y[0] / expected - 1) <= units);
            assert_true(fabs(y[3] / expected - 1) <= units);
        }
        wg_function_free(f);
    }
    assert_true(served >= 2 * ENTRIES);
    assert_true(refused >= ENTRIES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_out_forms_are_as_careful_as_the_operations),
        cmocka_unit_test(orthogonal_columns_are_orthogonal),
        cmocka_unit_test(slopes_at_kinks_are_those_of_the_operations),
        cmocka_unit_test(singular_matrices_have_determinants),
        cmocka_unit_test(coinciding_points_have_smooth_covariances),
        cmocka_unit_test(an_exponential_elsewhere_is_right_or_refused),
        cmocka_unit_test(an_exponential_of_small_powers_is_right_or_refused),
    };
    return cmocka_run_group_tests(tests, written_out_open, written_out_close);
}
