/* SPDX-License-Identifier: MIT */
/* test_function_branches.c - a callback that branches, at points that take different ways. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

enum { POINTS = 3000 };

/* |x - a| by a comparison, and one of two powers by another: four ways. */
static wg_status ways(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    size_t *const calls = data;
    (void)n, (void)m;
    ++*calls;
    const wg_real d =
        wg_lt(t, x[1], x[0]) ? wg_let(t, wg_sub(x[0], x[1])) : wg_let(t, wg_sub(x[1], x[0]));
    y[0] = wg_gt(t, d, wg_constant(0.5)) ? wg_let(t, wg_cube(d)) : wg_let(t, wg_square(d));
    return WG_OK;
}

static double value(double a, double x) {
    const double d = fabs(x - a);
    return d > 0.5 ? d * d * d : d * d;
}
/* by a */
static double slope(double a, double x) {
    const double d = fabs(x - a), sign = x < a ? 1 : -1;
    return sign * (d > 0.5 ? 3 * d * d : 2 * d);
}

static wg_tape *code_tape(void) {
    const wg_options o = {.flags = WG_KEEP_CODE};
    return wg_tape_new(&o);
}

static void fill(double *x, int ordered) {
    uint64_t seed = 4;
    for (size_t p = 0; p < POINTS; p++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[p] =
            ordered ? -1 + 3.0 * (double)p / POINTS : -1 + 3 * (double)(seed >> 11) * 0x1p-53;
    }
}

static wg_status both(wg_tape *t, const wg_function *f, wg_function **out) {
    wg_function *g = NULL;
    wg_status s = wg_function_gradient(t, f, &g);
    const wg_function *const parts[] = {f, g};
    if (s == WG_OK) s = wg_function_join(t, 2, parts, out);
    wg_function_free(g);
    return s;
}

static void every_point_gets_its_own_way(void **state) {
    (void)state;
    static double x[POINTS], y[POINTS], g[POINTS];
    for (int ordered = 0; ordered < 2; ordered++) {
        wg_tape *t = code_tape();
        size_t calls = 0;
        const double a = 0.3;
        const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"x", 1, 1, WG_PASSIVE}};
        const wg_argument out = {"y", 1, 1, 0};
        wg_branches *b = NULL;
        fill(x, ordered);
        assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, &out, both, &b), WG_OK);
        assert_int_equal(wg_branches_count(b), 0);
        const wg_points at[] = {{&a, 0, 1}, {x, 1, 1}};
        const wg_results to[] = {{y, 1, 1}, {g, 1, 1}};
        for (int again = 0; again < 2; again++) {
            memset(y, 0, sizeof y);
            assert_int_equal(wg_branches_evaluate(b, POINTS, at, to), WG_OK);
            for (size_t p = 0; p < POINTS; p++) {
                assert_true(y[p] == value(a, x[p]));
                assert_true(fabs(g[p] - slope(a, x[p])) <= 4e-16 * fabs(g[p]));
            }
        }
        assert_int_equal(wg_branches_count(b), 4);
        assert_int_equal(calls, 4);
        assert_int_equal(wg_branches_evaluate(b, 0, at, to), WG_OK);
        wg_branches_free(b);
        wg_tape_free(t);
    }
}

static void sums_go_over_all_branches(void **state) {
    (void)state;
    static double x[POINTS];
    wg_tape *t = code_tape();
    size_t calls = 0;
    const double a = 0.3;
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"x", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"y", 1, 1, WG_SUMMED};
    wg_branches *b = NULL;
    double y = 99, g = 99, sum = 0, slopes = 0, size = 0;
    fill(x, 0);
    for (size_t p = 0; p < POINTS; p++) {
        sum += value(a, x[p]);
        slopes += slope(a, x[p]);
        size += fabs(slope(a, x[p]));
    }
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, &out, both, &b), WG_OK);
    const wg_points at[] = {{&a, 0, 1}, {x, 1, 1}};
    const wg_results to[] = {{&y, 0, 1}, {&g, 0, 1}};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(wg_branches_evaluate(b, POINTS, at, to), WG_OK);
        assert_true(fabs(y - sum) <= POINTS * 0x1p-52 * sum);
        assert_true(fabs(g - slopes) <= POINTS * 0x1p-52 * size);
    }
    wg_branches_free(b);
    wg_tape_free(t);
}

static wg_status fickle(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    /* compared as other than it was given */
    const wg_real a = wg_let(t, wg_add(x[0], 1));
    (void)wg_lt(t, wg_let(t, wg_sub(a, a)), wg_let(t, wg_mul(x[1], 0)));
    y[0] = a;
    return WG_OK;
}

static wg_status refusing(wg_tape *t, const wg_function *f, wg_function **out) {
    (void)t, (void)f, (void)out;
    return WG_ECONVERGE;
}

static void what_goes_wrong_is_passed_on(void **state) {
    (void)state;
    wg_tape *t = code_tape(), *plain = wg_tape_new(NULL);
    size_t calls = 0;
    const double numbers[4] = {0.3, 1, 0.1, NAN};
    double y[4];
    const wg_argument in[] = {{"a", 1, 1, 0}, {"x", 1, 1, 0}}, out = {"y", 1, 1, 0};
    const wg_points at[] = {{numbers, 1, 1}, {numbers, 1, 1}};
    const wg_results to = {y, 1, 1};
    wg_branches *b = NULL;
    assert_int_equal(wg_branches_new(NULL, ways, &calls, 2, in, 1, &out, NULL, &b), WG_ENULL);
    assert_int_equal(wg_branches_new(t, NULL, &calls, 2, in, 1, &out, NULL, &b), WG_ENULL);
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, NULL, 1, &out, NULL, &b), WG_ENULL);
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, NULL, NULL, &b), WG_ENULL);
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, &out, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_branches_new(plain, ways, &calls, 2, in, 1, &out, NULL, &b), WG_EMODE);
    assert_null(b);
    assert_int_equal(wg_branches_evaluate(NULL, 1, at, &to), WG_ENULL);
    assert_int_equal(wg_branches_count(NULL), 0);
    wg_branches_free(NULL);
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, &out, refusing, &b), WG_OK);
    assert_int_equal(wg_branches_evaluate(b, 1, NULL, &to), WG_ENULL);
    assert_int_equal(wg_branches_evaluate(b, 1, at, NULL), WG_ENULL);
    assert_int_equal(wg_branches_evaluate(b, 1, at, &to), WG_ECONVERGE);
    assert_int_equal(wg_branches_count(b), 0);
    wg_branches_free(b);
    /* NaN compares as it did at a NaN */
    assert_int_equal(wg_branches_new(t, fickle, NULL, 2, in, 1, &out, NULL, &b), WG_OK);
    assert_int_equal(wg_branches_evaluate(b, 4, at, &to), WG_OK);
    assert_true(y[0] == 1.3 && isnan(y[3]));
    wg_branches_free(b);
    wg_tape_free(t);
    wg_tape_free(plain);
}

static wg_status log_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_log(x[0]));
    return WG_OK;
}

static wg_status log_of_the_sum(wg_tape *t, const wg_function *f, wg_function **out) {
    const wg_argument in = {"y", 1, 1, WG_SHARED}, to = {"l", 1, 1, 0};
    const double one = 1;
    wg_function *l = NULL;
    wg_status s = wg_function_record(t, log_of, NULL, 1, &in, &one, 1, &to, &l);
    if (s == WG_OK) s = wg_function_compose(t, l, f, out);
    wg_function_free(l);
    return s;
}

/* The logarithm of a sum is no sum: those of the branches cannot be added. */
static void what_is_no_sum_is_refused(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    size_t calls = 0;
    const double a = 0.3, x[2] = {0.1, 1.5};
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"x", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"y", 1, 1, WG_SUMMED};
    wg_branches *b = NULL;
    double y;
    assert_int_equal(wg_branches_new(t, ways, &calls, 2, in, 1, &out, log_of_the_sum, &b),
                     WG_OK);
    const wg_points at[] = {{&a, 0, 1}, {x, 1, 1}};
    const wg_results to = {&y, 0, 1};
    assert_int_equal(wg_branches_evaluate(b, 2, at, &to), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "wg_branches_evaluate"));
    wg_branches_free(b);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_sum_is_refused),
        cmocka_unit_test(every_point_gets_its_own_way),
        cmocka_unit_test(sums_go_over_all_branches),
        cmocka_unit_test(what_goes_wrong_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
