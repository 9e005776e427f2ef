/* SPDX-License-Identifier: MIT */
/* test_problem_refuse.c - what a problem refuses, and what it keeps of failures; comparisons
 * that come out differently. */
#define _GNU_SOURCE /* setenv, mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wengert.h>
#include "wengert/problem.h"

/* x y, log x */
static wg_status pair(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_status *const status = data;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    y[1] = wg_let(t, wg_log(x[0]));
    return status == NULL ? WG_OK : *status;
}

static void assert_refused(const wg_computation *c, wg_status want, const char *word) {
    const double x[4] = {1, 2, 3, 4};
    double y[4];
    wg_problem *const p = wg_problem_new(c);
    if (wg_problem_status(p) != want || strstr(wg_problem_message(p), word) == NULL)
        fail_msg("%s: %s", wg_status_text(wg_problem_status(p)), wg_problem_message(p));
    assert_int_equal(wg_problem_value(p, x, y), want);
    wg_problem_clear(p); /* what is broken stays so */
    assert_int_equal(wg_problem_status(p), want);
    wg_problem_free(p);
}

static wg_function *recorded(unsigned in_flags, unsigned out_flags) {
    const double x[2] = {1, 2};
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, in_flags}},
                      out = {"y", 2, 1, out_flags};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(t, pair, NULL, 2, in, x, 1, &out, &f), WG_OK);
    wg_tape_free(t);
    return f;
}

static void what_is_no_computation_is_refused_by_name(void **state) {
    wg_function *const f = recorded(0, 0), *const passive = recorded(WG_PASSIVE, 0),
                       *const summed = recorded(0, WG_SUMMED);
    const size_t groups[] = {1, 2};
    (void)state;
    assert_refused(NULL, WG_ENULL, "no computation");
    assert_refused(&(wg_computation){.n = 2, .m = 2}, WG_ENULL, "one of callback and function");
    assert_refused(&(wg_computation){.n = 2, .m = 2, .callback = pair, .function = f}, WG_EARG,
                   "only one");
    assert_refused(&(wg_computation){.n = 2, .m = 2, .callback = pair, .flags = 8}, WG_EARG,
                   "flags 8");
    assert_refused(&(wg_computation){.n = 2, .m = 2, .callback = pair, .groups = 2}, WG_ENULL,
                   "group");
    assert_refused(
        &(wg_computation){.n = 2, .m = 2, .callback = pair, .groups = 2, .group = groups},
        WG_ESHAPE, "3 inputs in all, not 2");
    assert_refused(
        &(wg_computation){.n = 2, .m = 2, .callback = pair, .groups = 17, .group = groups},
        WG_EARG, "more than 16");
    assert_refused(&(wg_computation){.n = 3, .m = 2, .function = f}, WG_ESHAPE,
                   "of 2 numbers with 2 results");
    assert_refused(&(wg_computation){.n = 2, .m = 2, .function = passive}, WG_EARG,
                   "input b is passive");
    assert_refused(&(wg_computation){.n = 2, .m = 2, .function = summed}, WG_EARG,
                   "output y is a sum");
    assert_int_equal(wg_problem_status(NULL), WG_ENOMEM);
    assert_int_equal(wg_problem_value(NULL, NULL, NULL), WG_ENULL);
    assert_true(wg_problem_inputs(NULL) == 0 && wg_problem_outputs(NULL) == 0);
    size_t count = 7;
    assert_true(wg_problem_parameters(NULL, &count) == NULL && count == 0);
    wg_problem_free(NULL), wg_problem_clear(NULL), wg_problem_attach(NULL, NULL, NULL);
    wg_function_free(f), wg_function_free(passive), wg_function_free(summed);
}

static void questions_that_do_not_fit_are_refused_by_name(void **state) {
    const double x[2] = {1, 2};
    double y[8];
    const wg_pattern *at;
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        wg_problem *const p =
            wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .flags = flags});
        assert_int_equal(wg_problem_value(p, NULL, y), WG_ENULL);
        assert_int_equal(wg_problem_gradient(p, x, y, y), WG_ESHAPE);
        assert_int_equal(wg_problem_hvp(p, x, x, y), WG_ESHAPE);
        assert_int_equal(wg_problem_jacobian(p, 1, x, WG_ROW_MAJOR, y, 2), WG_EARG);
        assert_int_equal(wg_problem_jacobian(p, 0, x, (wg_layout)7, y, 2), WG_EARG);
        assert_int_equal(wg_problem_jacobian(p, 0, x, WG_ROW_MAJOR, y, 1), WG_ESHAPE);
        assert_int_equal(wg_problem_jacobian(p, 0, x, WG_COL_MAJOR, NULL, 2), WG_ENULL);
        assert_int_equal(wg_problem_jvp(p, x, NULL, NULL, y), WG_ENULL);
        assert_int_equal(wg_problem_vjp(p, x, NULL, NULL, y), WG_ENULL);
        assert_int_equal(wg_problem_second(p, x, NULL, y), WG_ENULL);
        assert_int_equal(wg_problem_sparse_jacobian(p, x, NULL, y), WG_EMODE);
        assert_int_equal(wg_problem_sparse_hessian(p, x, x, y), WG_EMODE);
        assert_int_equal(wg_problem_jacobian_pattern(p, 0, x, WG_ROW_MAJOR, NULL), WG_ENULL);
        assert_int_equal(wg_problem_jacobian_pattern(p, 1, x, WG_ROW_MAJOR, &at), WG_EARG);
        assert_int_equal(wg_problem_jacobian_pattern(p, 0, x, WG_ROW_MAJOR, &at), WG_OK);
        assert_int_equal(wg_problem_jacobian_pattern(p, 0, x, WG_COL_MAJOR, &at), WG_EARG);
        assert_null(at);
        assert_int_equal(wg_problem_hessian_pattern(p, NULL, &at), WG_ENULL);
        assert_true(wg_problem_message(p)[0] != 0);
        wg_problem_clear(p);
        assert_int_equal(wg_problem_value(p, x, y), WG_OK);
        assert_int_equal(wg_problem_status(p), WG_OK);
        wg_problem_free(p);
    }
}

static void a_number_that_is_none_is_a_failure_of_every_question(void **state) {
    const double x[2] = {-1, 2}, v[2] = {1, 1};
    double y[4], good[2];
    const wg_pattern *at;
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        wg_problem *const p =
            wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .flags = flags});
        assert_int_equal(wg_problem_jacobian_pattern(p, 0, v, WG_ROW_MAJOR, &at), WG_OK);
        assert_int_equal(wg_problem_value(p, x, y), WG_ENONFINITE);
        assert_non_null(strstr(wg_problem_message(p), "value: entry 1 is"));
        const double zero[2] = {0, 2};
        assert_int_equal(wg_problem_jacobian(p, 0, zero, WG_COL_MAJOR, y, 2), WG_ENONFINITE);
        assert_int_equal(wg_problem_jvp(p, zero, v, NULL, y), WG_ENONFINITE);
        assert_int_equal(wg_problem_vjp(p, zero, v, NULL, y), WG_ENONFINITE);
        assert_int_equal(wg_problem_second(p, zero, v, y), WG_ENONFINITE);
        assert_int_equal(wg_problem_sparse_jacobian(p, zero, NULL, y), WG_ENONFINITE);
        assert_int_equal(wg_problem_sparse_jacobian(p, x, good, NULL), WG_ENONFINITE);
        assert_int_equal(wg_problem_value(p, v, good), WG_OK);
        assert_int_equal(wg_problem_status(p), WG_ENONFINITE); /* the last failure */
        wg_problem_free(p);
    }
}

static void a_number_that_is_none_does_not_take_the_place_of_another_failure(void **state) {
    const double x[2] = {-1, 2}, v[2] = {1, 1};
    double y[2];
    wg_status status = WG_ECONVERGE;
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .data = &status});
    (void)state;
    assert_int_equal(wg_problem_value(p, v, y), WG_ECONVERGE);
    status = WG_OK;
    assert_int_equal(wg_problem_value(p, x, y), WG_ENONFINITE);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    wg_problem_clear(p);
    assert_string_equal(wg_problem_message(p), "");
    assert_int_equal(wg_problem_value(p, x, y), WG_ENONFINITE);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    wg_problem_free(p);
}

/* |x| by a comparison that is recorded, times y; counts its recordings */
static wg_status folded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m;
    if (data != NULL) ++*(int *)data;
    const wg_real a = wg_lt(t, x[0], 0.0) ? wg_let(t, wg_neg(x[0])) : x[0];
    y[0] = wg_let(t, wg_mul(a, wg_square(x[1])));
    return WG_OK;
}

static void where_a_comparison_comes_out_differently_a_callback_is_recorded_anew(void **state) {
    const double here[2] = {3, 5}, there[2] = {-3, 5}, v[2] = {1, 2}, w = 1;
    double f, g[2], h[2], j[2], values[4];
    int calls = 0;
    const wg_pattern *at;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 2, .m = 1, .callback = folded, .data = &calls, .flags = WG_RECORD_ONCE});
    (void)state;
    assert_int_equal(wg_problem_gradient(p, here, &f, g), WG_OK);
    const int once = calls;
    assert_int_equal(wg_problem_gradient(p, here, &f, g), WG_OK);
    assert_true(calls == once && f == 75 && g[0] == 25 && g[1] == 30);
    assert_int_equal(wg_problem_gradient(p, there, &f, g), WG_OK);
    assert_true(calls > once && f == 75 && g[0] == -25 && g[1] == 30);
    f = g[0] = NAN;
    assert_int_equal(wg_problem_value(p, there, &f), WG_OK);
    assert_int_equal(wg_problem_jacobian(p, 0, there, WG_COL_MAJOR, j, 1), WG_OK);
    assert_true(f == 75 && j[0] == -25 && j[1] == 30);
    assert_int_equal(wg_problem_jvp(p, there, v, &f, j), WG_OK);
    assert_true(j[0] == 35);
    assert_int_equal(wg_problem_vjp(p, there, &w, &f, g), WG_OK);
    assert_true(g[0] == -25 && g[1] == 30);
    assert_int_equal(wg_problem_hvp(p, there, v, h), WG_OK); /* -2 y dx dy + 2 |x| dy^2 */
    assert_true(h[0] == -20 && h[1] == -10 + 12);
    assert_int_equal(wg_problem_second(p, there, v, &f), WG_OK);
    assert_true(f == -20 + 2 * (-10 + 12));
    assert_int_equal(wg_problem_jacobian_pattern(p, 0, here, WG_ROW_MAJOR, &at), WG_OK);
    assert_int_equal(wg_problem_sparse_jacobian(p, there, &f, values), WG_OK);
    assert_true(f == 75 && values[0] == -25 && values[1] == 30);
    assert_int_equal(wg_problem_hessian_pattern(p, here, &at), WG_OK);
    assert_int_equal(at->entries, 2);
    assert_int_equal(wg_problem_sparse_hessian(p, there, &w, values), WG_OK);
    assert_true(values[0] == -10 && values[1] == 6);
    assert_int_equal(wg_problem_status(p), WG_OK);
    wg_problem_free(p);
}

/* x1^2 or x0 x2, by a comparison that is recorded. */
static wg_status either(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_lt(t, x[0], 0.5) ? wg_let(t, wg_square(x[1])) : wg_let(t, wg_mul(x[2], x[0]));
    return WG_OK;
}
static void a_pattern_is_that_of_the_function_which_has_been_recorded(void **state) {
    const double first[3] = {1, 3, 2}, other[3] = {0, 1, 2}, w = 1;
    const wg_pattern *at;
    double f, v[2];
    wg_problem *const p = wg_problem_new(
        &(wg_computation){.n = 3, .m = 1, .callback = either, .flags = WG_RECORD_ONCE});
    (void)state;
    assert_int_equal(wg_problem_value(p, first, &f), WG_OK);
    assert_int_equal(wg_problem_jacobian_pattern(p, 0, other, WG_ROW_MAJOR, &at), WG_OK);
    assert_true(at->entries == 2 && at->col[0] == 0 && at->col[1] == 2);
    assert_int_equal(wg_problem_sparse_jacobian(p, first, &f, v), WG_OK);
    assert_true(v[0] == 2 && v[1] == 1);
    assert_int_equal(wg_problem_hessian_pattern(p, other, &at), WG_OK);
    assert_true(at->entries == 1 && at->row[0] == 2 && at->col[0] == 0);
    assert_int_equal(wg_problem_sparse_hessian(p, first, &w, v), WG_OK);
    assert_true(v[0] == 1);
    assert_int_equal(wg_problem_sparse_jacobian(p, other, &f, v), WG_EMISMATCH);
    wg_problem_free(p);
}

static void where_a_comparison_comes_out_differently_a_function_is_refused(void **state) {
    const double here[2] = {3, 5}, there[2] = {-3, 5};
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    double f, g[2];
    wg_function *known = NULL;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    (void)state;
    assert_int_equal(wg_function_record(t, folded, NULL, 1, &in, here, 1, &out, &known), WG_OK);
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 2, .m = 1, .function = known});
    assert_int_equal(wg_problem_gradient(p, here, &f, g), WG_OK);
    assert_int_equal(wg_problem_gradient(p, there, &f, g), WG_EGUARD);
    assert_int_equal(wg_problem_value(p, there, &f), WG_EGUARD);
    assert_non_null(strstr(wg_problem_message(p), "comparison 0"));
    wg_problem_free(p);
    wg_function_free(known);
    wg_tape_free(t);
}

static void without_a_compiler_functions_are_evaluated_as_they_are(void **state) {
    char place[] = "/tmp/test_problem_XXXXXX";
    char *const path = strdup(getenv("PATH"));
    const double x[2] = {3, 5};
    double f, g[2];
    (void)state;
    assert_non_null(mkdtemp(place));
    assert_int_equal(setenv("TMPDIR", place, 1), 0);
    for (int k = 0; k < 3; k++) {
        wg_problem *const p = wg_problem_new(
            &(wg_computation){.n = 2, .m = 1, .callback = folded, .flags = WG_COMPILE});
        if (k == 1) assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
        if (k == 2) assert_int_equal(setenv("TMPDIR", "/nonexistent", 1), 0);
        assert_int_equal(wg_problem_gradient(p, x, &f, g), WG_OK);
        assert_true(f == 75 && g[0] == 25 && g[1] == 30);
        const double there[2] = {-3, 5};
        assert_int_equal(wg_problem_gradient(p, there, &f, g), WG_OK);
        assert_true(f == 75 && g[0] == -25 && g[1] == 30);
        assert_int_equal(setenv("PATH", path, 1), 0);
        wg_problem_free(p);
    }
    assert_int_equal(rmdir(place), 0); /* nothing was left in it */
    assert_int_equal(unsetenv("TMPDIR"), 0);
    free(path);
}

static int released;
static void release(void *kept) { released += *(int *)kept; }
static void another(void *kept) { released += 100 * *(int *)kept; }
static void what_is_attached_is_released_once(void **state) {
    int one = 1, ten = 10;
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair});
    (void)state;
    assert_null(wg_problem_attached(p, release));
    wg_problem_attach(p, &one, release);
    assert_ptr_equal(wg_problem_attached(p, release), &one);
    assert_null(wg_problem_attached(p, another)); /* of another adapter */
    assert_null(wg_problem_attached(p, NULL));
    wg_problem_attach(p, &ten, release);
    assert_int_equal(released, 1);
    wg_problem_free(p);
    assert_int_equal(released, 11);
}

static void give_back(void *kept) {
    released += *(int *)kept;
    free(kept);
}
static void rooms_are_made_once_and_released_once(void **state) {
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair});
    int *const room = wg_problem_room(p, sizeof *room, give_back);
    (void)state;
    assert_non_null(room);
    assert_int_equal(*room, 0);
    *room = 5;
    assert_ptr_equal(wg_problem_room(p, sizeof *room, give_back), room);
    assert_null(wg_problem_room(NULL, sizeof *room, give_back));
    released = 0;
    int *const other = wg_problem_room(p, sizeof *other, release); /* of another adapter */
    assert_non_null(other);
    assert_int_equal(released, 5);
    wg_problem_attach(p, NULL, NULL); /* releases, but does not free: it is the test's */
    free(other);
    assert_int_equal(released, 5);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_no_computation_is_refused_by_name),
        cmocka_unit_test(questions_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(a_number_that_is_none_is_a_failure_of_every_question),
        cmocka_unit_test(a_number_that_is_none_does_not_take_the_place_of_another_failure),
        cmocka_unit_test(where_a_comparison_comes_out_differently_a_callback_is_recorded_anew),
        cmocka_unit_test(a_pattern_is_that_of_the_function_which_has_been_recorded),
        cmocka_unit_test(where_a_comparison_comes_out_differently_a_function_is_refused),
        cmocka_unit_test(without_a_compiler_functions_are_evaluated_as_they_are),
        cmocka_unit_test(what_is_attached_is_released_once),
        cmocka_unit_test(rooms_are_made_once_and_released_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
