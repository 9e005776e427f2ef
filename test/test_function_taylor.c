/* SPDX-License-Identifier: MIT */
/* test_function_taylor.c - truncated series: of every operation against derivatives of
 * derivatives, of functions whose series are known, their adjoints, and how many operations
 * they take. */
#include "derive_case.h"

#include <float.h>
#include <math.h>

#include "graph_walk.h"
#include "ops/scalar/elementwise.h"
#include "scalar_rows.h"
#include "tolerance.h"

/* ---- every row, along a line ---- */

struct line {
    const wg_scalar_op *op;
    double x[4], v[4];
};

static wg_status one_row(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const struct line *const l = data;
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, l->op, x);
    return WG_OK;
}

/* The same as a function of s alone. */
static wg_status along(wg_tape *t, size_t n, const wg_real *s, size_t m, wg_real *y,
                       void *data) {
    const struct line *const l = data;
    wg_real x[4];
    for (int k = 0; k < 4; k++) x[k] = wg_let(t, wg_add(l->x[k], wg_mul(l->v[k], s[0])));
    return one_row(t, n, x, m, y, data);
}

static void every_operation_has_the_series_of_its_derivatives(void **state) {
    enum { ORDER = 5 };
    static const double point[][4] = {{0.3, 0.7, 0.45, 1.1},
                                      {1.7, 2.4, 1.2, -0.3},
                                      {-0.6, 0.9, -1.3, 0.2},
                                      {2.3, -0.4, 0.8, 3}};
    wg_tape *t = code_tape();
    size_t compared = 0;
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        for (size_t p = 0; p < sizeof point / sizeof *point; p++) {
            struct line l = {&wgi_scalar_ops[i], {0}, {0.7, -0.4, 0.3, 1}};
            const struct scalar_row *const r = scalar_row_find(l.op->name);
            const size_t n = l.op->arity, last = last_order(l.op->name);
            const size_t order = last != 0 && last < ORDER ? last : ORDER;
            double at[8], c[ORDER + 1], factorial = 1;
            const double origin = 0;
            memcpy(l.x, point[p], sizeof l.x);
            const double v = r->value(l.x, 0);
            if (!(v - v == 0)) continue;
            wg_function *f = recorded(t, one_row, &l, n, 1, l.x), *series = NULL;
            (void)must(t, wg_function_taylor(t, f, order, &series), &series);
            wg_function_free(f);
            memcpy(at, l.x, n * sizeof *at), memcpy(at + n, l.v, n * sizeof *at);
            assert_int_equal(graph_walk(series, at, c), 0);
            wg_function_free(series);
            f = recorded(t, along, &l, 1, 1, &origin);
            for (size_t k = 0; k <= order; k++) {
                double ref, size = 1;
                assert_int_equal(graph_walk(f, &origin, &ref), 0);
                ref /= factorial;
                for (size_t j = 0; j <= order; j++)
                    if (c[j] == c[j] && fabs(c[j]) > size) size = fabs(c[j]);
                compared++;
                if (!(fabs(c[k] - ref) <= TOL_PROGRAM_ULP * DBL_EPSILON * size) &&
                    !(c[k] != c[k] && ref != ref)) {
                    print_error("%s(%g, %g, %g): coefficient %zu is %.17g, not %.17g\n",
                                l.op->name, l.x[0], l.x[1], l.x[2], k, c[k], ref);
                    bad++;
                }
                factorial *= (double)k + 1;
                if (k < order) f = next(t, wg_function_gradient, f);
            }
            wg_function_free(f);
        }
    wg_tape_free(t);
    assert_int_equal(bad, 0);
    assert_true(compared > 1500);
}

/* ---- series that are known ---- */

/* exp, sin, 1 / (1 - x), log(1 + x), sqrt(1 + x), x^7 at 0 along 1. */
enum { KNOWN = 6, FAR = 32 };
static wg_status known(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_exp(x[0]));
    y[1] = wg_let(t, wg_sin(x[0]));
    y[2] = wg_let(t, wg_div(1, wg_sub(1, x[0])));
    y[3] = wg_let(t, wg_log(wg_add(1, x[0])));
    y[4] = wg_let(t, wg_sqrt(wg_add(1, x[0])));
    y[5] = wg_let(t, wg_pow(x[0], 7));
    return WG_OK;
}

static long double coefficient(int which, int k) {
    long double factorial = 1, binomial = 1;
    for (int j = 1; j <= k; j++) {
        factorial *= j;
        binomial *= (0.5L - (j - 1)) / j;
    }
    switch (which) {
    case 0:
        return 1 / factorial;
    case 1:
        return k % 2 == 0 ? 0 : (k % 4 == 1 ? 1 : -1) / factorial;
    case 2:
        return 1;
    case 3:
        return k == 0 ? 0 : (k % 2 == 1 ? 1.0L : -1.0L) / k;
    case 4:
        return binomial;
    default:
        return k == 7;
    }
}

static void known_series_are_found_to_order_thirty_two(void **state) {
    static double c[KNOWN * (FAR + 1)];
    const double at[2] = {0, 1};
    wg_tape *t = code_tape();
    wg_function *f = recorded(t, known, NULL, 1, KNOWN, at), *series = NULL;
    (void)state;
    (void)must(t, wg_function_taylor(t, f, FAR, &series), &series);
    assert_int_equal(graph_walk(series, at, c), 0);
    for (int which = 0; which < KNOWN; which++)
        for (int k = 0; k <= FAR; k++) {
            const double ref = (double)coefficient(which, k), got = c[k * KNOWN + which];
            if (!(fabs(got - ref) <= TOL_PROGRAM_ULP * DBL_EPSILON * fabs(ref)))
                fail_msg("series %d: coefficient %d is %.17g, not %.17g", which, k, got, ref);
        }
    wg_function_free(series);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- sums, choices, what does not move ---- */

static wg_status mixed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    /* x[0] shared, x[1] at points, x[2] passive */
    const wg_real u = wg_let(t, wg_mul(wg_exp(x[0]), x[2]));
    y[0] = wg_let(t, wg_select_lt(x[0], x[1], wg_sin(wg_mul(u, x[1])), wg_square(u)));
    return WG_OK;
}

static void sums_over_points_have_the_sum_of_series(void **state) {
    enum { ORDER = 6, POINTS = 9 };
    const wg_argument in[] = {{"x", 1, 1, WG_SHARED}, {"p", 1, 1, 0}, {"q", 1, 1, WG_PASSIVE}};
    const wg_argument each = {"y", 1, 1, 0}, sum = {"y", 1, 1, WG_SUMMED};
    const double start[3] = {0.4, 0.9, 1.3}, dx = 0.5;
    double x = 0.4, p[POINTS], q[POINTS], dp[POINTS], single[POINTS][ORDER + 1];
    double total[ORDER + 1];
    wg_tape *t = code_tape();
    (void)state;
    for (int k = 0; k < POINTS; k++) {
        p[k] = 0.1 * (k + 1), q[k] = 1 - 0.2 * k, dp[k] = 0.3 - 0.1 * k;
    }
    const wg_points at[] = {{&x, 0, 0}, {p, 1, 0}, {q, 1, 0}, {&dx, 0, 0}, {dp, 1, 0}};
    for (int summed = 0; summed < 2; summed++) {
        wg_function *f = NULL, *series = NULL;
        (void)must(
            t, wg_function_record(t, mixed, NULL, 3, in, start, 1, summed ? &sum : &each, &f),
            &f);
        (void)must(t, wg_function_taylor(t, f, ORDER, &series), &series);
        assert_int_equal(wg_function_inputs(series), 5);
        void *work = aligned_alloc(64, (wg_function_work(series, NULL) + 63) / 64 * 64);
        const wg_results y = {summed ? total : single[0], ORDER + 1, 1};
        assert_int_equal(wg_function_evaluate(series, POINTS, at, &y, NULL, work, NULL), WG_OK);
        free(work);
        wg_function_free(series);
        wg_function_free(f);
    }
    for (int k = 0; k <= ORDER; k++) {
        double s = 0, size = 0;
        for (int i = 0; i < POINTS; i++) s += single[i][k], size += fabs(single[i][k]);
        assert_true(size > 0 && fabs(total[k] - s) <= TOL_PROGRAM_ULP * DBL_EPSILON * size);
    }
    wg_tape_free(t);
}

/* ---- from a singular point ---- */

static wg_status at_zero(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[1], wg_sqrt(x[0])));
    y[1] = wg_let(t, wg_div(1, x[0]));
    y[2] = wg_let(t, wg_mul(x[1], wg_sqrt(wg_square(x[0]))));
    return WG_OK;
}

/* An infinite partial and a coefficient that is 0 have the product 0, as tangents do. */
static void what_does_not_move_has_no_series_where_its_partial_is_infinite(void **state) {
    enum { ORDER = 3, M = 3 };
    const double at[4] = {0, 3, 0, 1}, expected[M] = {0, INFINITY, 0};
    const double x[2 * (ORDER + 1)] = {0, 3, 0, 1};
    double by_function[M * (ORDER + 1)], by_tape[M * (ORDER + 1)];
    wg_tape *t = code_tape();
    wg_function *const f = recorded(t, at_zero, NULL, 2, M, at), *series = NULL;
    (void)state;
    (void)must(t, wg_function_taylor(t, f, ORDER, &series), &series);
    assert_int_equal(graph_walk(series, at, by_function), 0);
    assert_int_equal(wg_taylor(t, at_zero, NULL, 2, ORDER, x, M, by_tape), WG_OK);
    for (size_t k = 0; k <= ORDER; k++)
        for (size_t j = 0; j < M; j++) {
            assert_true(by_function[k * M + j] == (k == 0 ? expected[j] : 0));
            assert_true(by_tape[k * M + j] == (k == 0 ? expected[j] : 0));
        }
    wg_function_free(series);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- adjoints ---- */

static void adjoints_of_series_agree_with_their_tangents(void **state) {
    enum { N = 4, ORDER = 6 };
    double x[4 * N], xw[2 * N + ORDER + 1], c[ORDER + 1], g[2 * N];
    wg_tape *t = code_tape();
    (void)state;
    for (int i = 0; i < 4 * N; i++) x[i] = 0.3 + 0.1 * ((7 * i) % 5);
    wg_function *f = recorded(t, potential, NULL, N, 1, x), *series = NULL, *jv, *vj;
    (void)must(t, wg_function_taylor(t, f, ORDER, &series), &series);
    (void)must(t, wg_function_jvp(t, series, &jv), &jv);
    (void)must(t, wg_function_vjp(t, series, &vj), &vj);
    assert_int_equal(graph_walk(jv, x, c), 0);
    memcpy(xw, x, 2 * N * sizeof *x);
    for (int k = 0; k <= ORDER; k++) xw[2 * N + k] = 1.0 / (1 + k);
    assert_int_equal(graph_walk(vj, xw, g), 0);
    double left = 0, right = 0, size = 0;
    for (int k = 0; k <= ORDER; k++) left += c[k] / (1 + k), size += fabs(c[k]);
    for (int i = 0; i < 2 * N; i++) right += g[i] * x[2 * N + i], size += fabs(g[i]);
    assert_true(fabs(left - right) <= TOL_PROGRAM_ULP * DBL_EPSILON * size);
    assert_true(operations(vj) < 5 * operations(series));
    wg_function_free(jv), wg_function_free(vj), wg_function_free(series), wg_function_free(f);
    wg_tape_free(t);
}

/* ---- cost ---- */

static wg_status quotient(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_div(wg_mul(x[0], wg_sqrt(x[1])), wg_exp(wg_div(x[0], x[1]))));
    return WG_OK;
}

/* A product is order^2 / 2 products and sums, a quotient and exp one more division or weight
 * for each of the orders before. */
static void operations_grow_as_the_square_of_the_order(void **state) {
    const double x[2] = {0.4, 0.7};
    size_t size[3];
    wg_tape *t = code_tape();
    wg_function *const f = recorded(t, quotient, NULL, 2, 1, x), *series = NULL;
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        (void)must(t, wg_function_taylor(t, f, (size_t)8 << k, &series), &series);
        size[k] = operations(series);
        wg_function_free(series);
    }
    assert_true(size[0] <= 52 * operations(f) && size[1] <= 170 * operations(f));
    assert_true(size[1] < 4 * size[0] && size[2] < 4 * size[1]);
    wg_function_free(f);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_has_the_series_of_its_derivatives),
        cmocka_unit_test(known_series_are_found_to_order_thirty_two),
        cmocka_unit_test(sums_over_points_have_the_sum_of_series),
        cmocka_unit_test(what_does_not_move_has_no_series_where_its_partial_is_infinite),
        cmocka_unit_test(adjoints_of_series_agree_with_their_tangents),
        cmocka_unit_test(operations_grow_as_the_square_of_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
