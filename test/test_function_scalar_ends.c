/* SPDX-License-Identifier: MIT */
/* test_function_scalar_ends.c - derivatives of scalar operations up to the third order where
 * operands are 1e-300 to 1e300, against test/data/scalar_ends.csv: of tapes, backwards and
 * forwards, and of functions. What is in the range of double has to come out, whatever over- or
 * underflows on the way. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "oracle.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

static struct oracle_csv ends;
static wg_tape *plain, *code;
static int bad;

static int open_all(void **state) {
    (void)state;
    plain = wg_tape_new(NULL);
    code = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return plain == NULL || code == NULL || oracle_csv_read(&ends, TEST_DATA "scalar_ends.csv");
}
static int close_all(void **state) {
    (void)state;
    wg_tape_free(plain), wg_tape_free(code);
    oracle_csv_free(&ends);
    return 0;
}

static const wg_scalar_op *op_of(const char *name) {
    for (size_t k = 0; k < wgi_scalar_op_count; k++)
        if (strcmp(wgi_scalar_ops[k].name, name) == 0) return &wgi_scalar_ops[k];
    return NULL;
}

static const char *const first_of[2] = {"dx", "dy"};
static const char *const second_of[3] = {"dxx", "dxy", "dyy"};
static const char *const third_of[4] = {"dxxx", "dxxy", "dxyy", "dyyy"};

static void wrong(const char *mode, size_t row, const char *column, double got, double ref) {
    print_error("%s: %s(%s, %s) %s: %.17g, reference %.17g\n", mode,
                oracle_csv_cell(&ends, row, 0), oracle_csv_cell(&ends, row, 1),
                oracle_csv_cell(&ends, row, 2), column, got, ref);
    bad++;
}

/* Below the normal numbers digits are lost; where there is no number, there may be no slope
 * either. */
static void judge(const char *mode, size_t row, const char *column, double got, double ulps) {
    double ref;
    if (!oracle_csv_number(&ends, row, oracle_csv_column(&ends, column), &ref)) return;
    if (isinf(ref) ? got == ref || isnan(got)
                   : close_ulp(got, ref, ulps) || fabs(got - ref) <= ulps * DBL_TRUE_MIN)
        return;
    wrong(mode, row, column, got, ref);
}

/* Third derivatives are made of first and second ones, which may be beyond the range where they
 * are not: then they are not finite, or, below 1e-300, 0. */
static void judge_third(size_t row, const char *column, double got) {
    double ref;
    if (!oracle_csv_number(&ends, row, oracle_csv_column(&ends, column), &ref)) return;
    if (!isfinite(got)) return;
    if (isfinite(ref) && fabs(got - ref) <= TOL_THIRD * fabs(ref) + 1e-300) return;
    wrong("third order", row, column, got, ref);
}

static size_t operands(size_t row, double x[2]) {
    size_t n = 0;
    x[0] = x[1] = 0;
    if (oracle_csv_number(&ends, row, oracle_csv_column(&ends, "x"), &x[0])) n++;
    if (oracle_csv_number(&ends, row, oracle_csv_column(&ends, "y"), &x[1])) n++;
    return n;
}

static wg_status apply(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, data, x);
    return WG_OK;
}

static void must(wg_status s) {
    if (s != WG_OK) print_error("%s / %s\n", wg_tape_message(plain), wg_tape_message(code));
    assert_int_equal(s, WG_OK);
}

static void tapes_have_slopes_and_curvatures(void **state) {
    (void)state;
    bad = 0;
    for (size_t row = 0; row < ends.rows; row++) {
        const wg_scalar_op *const op = op_of(oracle_csv_cell(&ends, row, 0));
        double x[2], g[2], h[4], v, y;
        assert_non_null(op);
        const size_t n = operands(row, x);
        void *const data = (void *)(uintptr_t)op;
        must(wg_gradient(plain, apply, data, n, x, &y, g));
        judge("tape", row, "value", y, TOL_VALUE_ULP);
        for (size_t i = 0; i < n; i++) {
            const double unit[2] = {i == 0, i == 1};
            double jv;
            judge("tape", row, first_of[i], g[i], TOL_DERIVATIVE_ULP);
            must(wg_jvp(plain, apply, data, n, x, unit, 1, &y, &jv));
            judge("forward", row, first_of[i], jv, TOL_DERIVATIVE_ULP);
            must(wg_hvp(code, apply, data, n, x, unit, &v, g, h));
            for (size_t k = i; k < n; k++)
                judge("hvp", row, second_of[i + k], h[k], TOL_DERIVATIVE_ULP);
        }
    }
    assert_int_equal(bad, 0);
}

static void evaluate(const wg_function *f, const wg_points *x, double *y) {
    const wg_results to = {y, 0, 1};
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    must(wg_function_evaluate(f, 1, x, &to, NULL, work, NULL));
    free(work);
}

/* One operation at all of its points: rows first to last. */
static void functions_of(const wg_scalar_op *op, size_t first, size_t count) {
    const size_t n = op->arity;
    const double start[2] = {op_of("acosh") == op || op_of("asec") == op ? 2 : 0.5, 0.25};
    const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *g = NULL, *h = NULL, *hvp = NULL, *third = NULL;
    void *const data = (void *)(uintptr_t)op;
    must(wg_function_record(code, apply, data, 1, &in, start, 1, &out, &f));
    must(wg_function_gradient(code, f, &g));
    must(wg_function_hessian(code, f, &h));
    must(wg_function_hvp(code, f, &hvp));
    const int has_third = wg_function_jvp(code, h, &third) == WG_OK;
    if (!has_third) print_error("%s: %s\n", op->name, wg_tape_message(code));
    for (size_t row = first; row < first + count; row++) {
        double x[2], y, gradient[2], hessian[4], product[2], all[8];
        operands(row, x);
        const wg_points at = {x, 0, 1};
        evaluate(f, &at, &y), evaluate(g, &at, gradient), evaluate(h, &at, hessian);
        judge("function", row, "value", y, TOL_VALUE_ULP);
        for (size_t i = 0; i < n; i++) {
            const double unit[2] = {i == 0, i == 1};
            const wg_points with[2] = {at, {unit, 0, 1}};
            judge("function", row, first_of[i], gradient[i], TOL_DERIVATIVE_ULP);
            evaluate(hvp, with, product);
            if (has_third) evaluate(third, with, all);
            for (size_t k = 0; k < n; k++) {
                judge("function", row, second_of[i + k], hessian[i + k * n],
                      TOL_DERIVATIVE_ULP);
                judge("function's hvp", row, second_of[i + k], product[k], TOL_DERIVATIVE_ULP);
                for (size_t l = 0; has_third && l < n; l++)
                    judge_third(row, third_of[i + k + l], all[k + l * n]);
            }
        }
    }
    wg_function_free(f), wg_function_free(g), wg_function_free(h), wg_function_free(hvp);
    wg_function_free(third);
}

static void functions_have_three_orders(void **state) {
    (void)state;
    bad = 0;
    for (size_t row = 0, next; row < ends.rows; row = next) {
        const char *const name = oracle_csv_cell(&ends, row, 0);
        for (next = row; next < ends.rows; next++)
            if (strcmp(oracle_csv_cell(&ends, next, 0), name) != 0) break;
        functions_of(op_of(name), row, next - row);
    }
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tapes_have_slopes_and_curvatures),
        cmocka_unit_test(functions_have_three_orders),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
