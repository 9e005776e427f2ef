/* SPDX-License-Identifier: MIT */
/* test_function_model_run.c - computations of models: what is run, updates of variables,
 * derivatives as nodes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "model_case.h"
#include "pools.h"

/* ---- computations ---- */

static void only_what_is_asked_for_is_run(void **state) {
    (void)state;
    build();
    wg_function *const wx = function(1, &g.wx), *const y = function(1, &g.y);
    wg_function *const both = function(2, (wg_mat[]){g.wx, g.y});
    wg_function *const leaf = function(1, &g.w);
    assert_int_equal(wg_function_inputs(wx), 2);
    assert_string_equal(wg_function_input(wx, 0)->name, "x");
    assert_string_equal(wg_function_input(wx, 1)->name, "w");
    assert_int_equal(wg_function_input(wx, 1)->flags, WG_SHARED);
    assert_int_equal(operations(wx), 9);
    assert_int_equal(operations(y), 15);
    assert_int_equal(operations(both), 15);
    assert_int_equal(operations(leaf), 0);
    assert_string_equal(wg_function_output(both, 1)->name, node(g.y).name);
    wg_function_free(wx);
    wg_function_free(y);
    wg_function_free(both);
    wg_function_free(leaf);
    wg_function *f;
    assert_refused(wg_model_function(m, 2, (wg_mat[]){g.y, g.y}, &f), WG_EARG, "two outputs");
    assert_null(f);
    const wg_mat row = wg_mat_row(g.w, 0);
    assert_refused(wg_model_function(m, 1, &row, &f), WG_EARG, "an output is no node");
}

static void computations_share_variables(void **state) {
    (void)state;
    build();
    wg_function *const y = function(1, &g.y), *const loss = function(1, &g.loss);
    double *const w = wg_model_values(m, g.w), *const b = wg_model_values(m, g.b);
    double first[POINTS][3], value, dw[6], db[3];
    feed();
    for (int round = 0; round < 2; round++) {
        assert_ok(wg_model_run(m, y, POINTS, &(wg_results){first[0], 3, 1}, NULL));
        for (size_t p = 0; p < POINTS; p++) {
            double expected[3];
            for (size_t i = 0; i < 3; i++)
                expected[i] = tanh(w[i] * xs[p][0] + w[i + 3] * xs[p][1] + b[i]);
            assert_near(first[p], expected, 3);
        }
        assert_ok(wg_model_run(m, loss, POINTS, &(wg_results){&value, 0, 1}, pool_of(2)));
        const double expected = by_hand(w, b, dw, db);
        assert_near(&value, &expected, 1);
        for (size_t i = 0; i < 6; i++) w[i] += 0.1;
    }
    assert_ok(wg_model_initialise(m));
    assert_true(w[0] != g.w.value[0] + 0.1);
    assert_memory_equal(w, g.w.value, 6 * sizeof *w);
    wg_function_free(y);
    wg_function_free(loss);
}

/* All updates of a run are done with the values before it. */
static void updates_happen_together(void **state) {
    (void)state;
    const double a0[2] = {1, 2}, b0[2] = {-0.0, 5};
    const wg_mat a = wg_model_variable(m, "a", cols, one, wg_initial_values(a0));
    const wg_mat b = wg_model_variable(m, "b", cols, one, wg_initial_values(b0));
    const wg_mat x = placeholder("x", cols, one);
    const wg_mat u = wg_model_op(m, wg_mat_neg, a), v = wg_model_op(m, wg_mat_neg, b);
    const wg_mat k = wg_model_op(m, wg_mat_mul, a, x), sum = wg_model_sum(m, k);
    assert_ok(wg_model_update(m, a, v));
    assert_ok(wg_model_update(m, b, u));
    wg_function *const swap = function(2, (wg_mat[]){u, v});
    const double *const av = wg_model_values(m, a), *const bv = wg_model_values(m, b);
    assert_ok(wg_model_run(m, swap, 3, NULL, NULL));
    assert_true(av[0] == 0 && !signbit(av[0]) && av[1] == -5);
    assert_true(bv[0] == -1 && bv[1] == -2);
    wg_function_free(swap);
    /* by a sum over the points; not by one value per point */
    double points[4] = {1, 10, 2, 20};
    assert_ok(wg_model_feed(m, x, points, 2, 1));
    assert_ok(wg_model_update(m, b, sum));
    assert_ok(wg_model_update(m, a, k));
    wg_function *const add = function(1, &sum), *const each = function(1, &k);
    assert_ok(wg_model_initialise(m));
    assert_ok(wg_model_run(m, add, 2, NULL, NULL));
    assert_true(bv[0] == 3 && bv[1] == 60);
    assert_refused(wg_model_run(m, each, 2, NULL, NULL), WG_EARG, "of a is one per point");
    /* two of one variable */
    assert_ok(wg_model_update(m, b, u));
    assert_ok(wg_model_update(m, b, v));
    wg_function *const two = function(2, (wg_mat[]){u, v});
    assert_refused(wg_model_run(m, two, 1, NULL, NULL), WG_EARG, "two outputs update b");
    assert_true(bv[0] == 3 && bv[1] == 60);
    assert_refused(wg_model_update(m, x, u), WG_EARG, "x is no variable");
    const wg_mat r = wg_model_variable(m, "r", rows, one, wg_initial_fill(0));
    assert_refused(wg_model_update(m, a, r), WG_ESHAPE, "a has cols 2 where r has rows 3");
    assert_refused(wg_model_update(m, a, wg_mat_row(r, 0)), WG_EARG, "no node");
    wg_function_free(add);
    wg_function_free(each);
    wg_function_free(two);
}

/* Without points nothing is written but sums: variables are not what the workspace held. */
static void a_run_without_points_leaves_variables(void **state) {
    (void)state;
    enum { N = 40 };
    const double a0[2] = {3, 3}, shift = 1, in[N] = {5, 6, 7};
    double many[N * 10];
    const wg_mat a = wg_model_variable(m, "a", cols, one, wg_initial_values(a0));
    const wg_mat b = wg_model_variable(m, "b", cols, one, wg_initial_values(a0));
    const wg_mat by = wg_model_placeholder(m, "by", one, one, WG_SHARED, NULL);
    const wg_mat x = placeholder("x", cols, one),
                 big = placeholder("big", (wg_dim){NULL, N}, one);
    const wg_mat next = wg_model_op(m, wg_mat_add, a, by), sum = wg_model_sum(m, x);
    const wg_mat other_one = wg_model_op(m, wg_mat_exp, big);
    assert_ok(wg_model_update(m, a, next));
    assert_ok(wg_model_update(m, b, sum));
    wg_function *const step = function(1, &next), *const all = function(1, &sum),
                       *const dirt = function(1, &other_one);
    assert_ok(wg_model_feed(m, by, &shift, 0, 1));
    assert_ok(wg_model_feed(m, x, in, 0, 1));
    assert_ok(wg_model_feed(m, big, in, 0, 1));
    assert_ok(wg_model_run(m, dirt, 10, &(wg_results){many, N, 1}, NULL));
    assert_ok(wg_model_run(m, step, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 3);
    assert_ok(wg_model_run(m, all, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, b)[i] == 0);
    assert_ok(wg_model_run(m, step, 1, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 4);
    /* one place for all points, many points, several threads */
    assert_ok(wg_model_run(m, step, 100000, NULL, pool_of(3)));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 5);
    wg_function_free(step);
    wg_function_free(all);
    wg_function_free(dirt);
}

/* Nodes without elements, of one shape, at one place of the tape. */
static void nodes_without_elements_are_told_apart(void **state) {
    (void)state;
    const wg_dim none = {NULL, 0};
    const wg_mat a = wg_model_placeholder(m, "a", none, one, WG_SHARED, NULL);
    const wg_mat b = wg_model_variable(m, "b", none, one, wg_initial_fill(1));
    const wg_mat c = wg_model_variable(m, "c", none, one, wg_initial_fill(1));
    const wg_mat e = wg_model_op(m, wg_mat_exp, b), h = wg_model_op(m, wg_mat_exp, a);
    assert_string_equal(node(a).name, "a");
    assert_string_equal(node(b).name, "b");
    assert_string_equal(node(c).name, "c");
    assert_int_equal(node(b).kind, WG_VARIABLE);
    assert_null(wg_model_values(m, a));
    assert_true(wg_model_values(m, b) != NULL &&
                wg_model_values(m, b) != wg_model_values(m, c));
    assert_string_not_equal(node(e).name, node(h).name);
    assert_ok(wg_model_update(m, b, e));
    wg_function *const f = function(1, &e);
    assert_ok(wg_model_run(m, f, 1, NULL, NULL));
    wg_function_free(f);
}

static void runs_that_cannot_be_are_refused(void **state) {
    (void)state;
    build();
    wg_function *const y = function(1, &g.y);
    double out[3];
    const wg_results r = {out, 3, 1};
    assert_refused(wg_model_run(m, y, 1, &r, NULL), WG_EARG, "x is not fed");
    assert_refused(wg_model_feed(m, g.w, out, 0, 1), WG_EARG, "w is no placeholder");
    assert_refused(wg_model_feed(m, g.x, NULL, 0, 1), WG_ENULL, "the data of x are NULL");
    feed();
    assert_ok(wg_model_run(m, y, 1, &r, NULL));
    wg_function *other_flags;
    wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const work = wg_tape_new(&opt);
    assert_ok(wg_function_flag(work, y, "w", 0, &other_flags));
    assert_refused(wg_model_run(m, other_flags, 1, &r, NULL), WG_EARG, "w is shared");
    wg_function_free(other_flags);
    /* anything made from computations runs as well, if its inputs are the model's */
    wg_function *jvp;
    assert_ok(wg_function_jvp(work, y, &jvp));
    assert_refused(wg_model_run(m, jvp, 1, &r, NULL), WG_EARG, "no placeholder or variable d");
    wg_function_free(jvp);
    wg_model *second;
    assert_ok(wg_model_new(work, &second));
    (void)wg_model_placeholder(second, "x", rows, one, 0, NULL);
    assert_int_equal(wg_model_run(second, y, 1, &r, NULL), WG_ESHAPE);
    assert_has(wg_tape_message(work), "x is 3x1, the input 2x1");
    wg_model_free(second);
    wg_tape_free(work);
    wg_function_free(y);
}

static void a_comparison_stops_an_update(void **state) {
    (void)state;
    const wg_mat x = placeholder("x", one, one);
    const wg_mat v = wg_model_variable(m, "v", one, one, wg_initial_fill(1));
    const wg_real at = wg_mat_at(x, 0, 0);
    const wg_real y = wg_lt(tape, at, wg_constant(0.5)) ? wg_let(tape, wg_mul(2.0, at)) : at;
    const wg_mat s =
        wg_model_sum(m, wg_model_name(m, wg_mat_gather(tape, 1, 1, &y), "y", NULL, NULL));
    assert_ok(wg_model_update(m, v, s));
    wg_function *const f = function(1, &s);
    const double points[3] = {0.25, 0.125, 0.75};
    assert_ok(wg_model_feed(m, x, points, 1, 1));
    assert_ok(wg_model_run(m, f, 2, NULL, NULL));
    assert_true(*wg_model_values(m, v) == 0.75);
    assert_refused(wg_model_run(m, f, 3, NULL, NULL), WG_EGUARD, "at point 2");
    assert_true(*wg_model_values(m, v) == 0.75);
    wg_function_free(f);
}

/* ---- derivatives ---- */

static void derivatives_are_nodes(void **state) {
    (void)state;
    build();
    const wg_mat by[2] = {g.w, g.b};
    wg_mat d[2], at_point[2], dx;
    assert_ok(wg_model_gradient(m, g.loss, 2, by, d));
    assert_ok(wg_model_gradient(m, g.error, 2, by, at_point));
    assert_ok(wg_model_gradient(m, g.error, 1, &g.x, &dx));
    assert_string_equal(node(at_point[0]).name, "derror/dw");
    assert_string_equal(node(d[1]).rows.name, "rows");
    /* at the recorded point there is one point, and the tape's own derivative */
    double adjoint[6], x_adjoint[2];
    assert_ok(wg_mat_reverse(tape, g.error, NULL, 1));
    assert_ok(wg_mat_adjoint(tape, g.w, adjoint, 3));
    assert_ok(wg_mat_adjoint(tape, g.x, x_adjoint, 2));
    assert_near(d[0].value, adjoint, 6);
    assert_near(at_point[0].value, adjoint, 6);
    assert_near(dx.value, x_adjoint, 2);
    /* at many they are summed, or not */
    wg_function *const f = function(3, (wg_mat[]){d[0], d[1], at_point[1]});
    double dw[6], db[3], each[POINTS][3], total[3] = {0}, expected_dw[6], expected_db[3];
    feed();
    const wg_results r[3] = {{dw, 0, 1}, {db, 0, 1}, {each[0], 3, 1}};
    assert_ok(wg_model_run(m, f, POINTS, r, NULL));
    (void)by_hand(wg_model_values(m, g.w), wg_model_values(m, g.b), expected_dw, expected_db);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i < 3; i++) total[i] += each[p][i];
    assert_near(dw, expected_dw, 6);
    assert_near(db, expected_db, 3);
    assert_near(total, expected_db, 3);
    wg_function_free(f);
}

static void derivatives_are_differentiated_again(void **state) {
    (void)state;
    build();
    const wg_mat v = wg_model_placeholder(m, "v", rows, cols, WG_SHARED | WG_PASSIVE, NULL);
    wg_mat d, hv, third, again;
    assert_ok(wg_model_gradient(m, g.loss, 1, &g.w, &d));
    wg_mat slope = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_mul, d, v), WG_ALL);
    (void)wg_model_name(m, slope, "slope", NULL, NULL);
    assert_ok(wg_model_gradient(m, slope, 1, &g.w, &hv));
    assert_ok(wg_model_gradient(m, slope, 1, &g.w, &again)); /* a name of its own */
    assert_string_equal(node(hv).name, "dslope/dw");
    assert_string_equal(node(again).name, "dslope_2/dw");
    wg_mat bend = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_mul, hv, v), WG_ALL);
    (void)wg_model_name(m, bend, "bend", NULL, NULL);
    assert_ok(wg_model_gradient(m, bend, 1, &g.w, &third));
    /* both by differences of the one before, along v */
    wg_function *const f = function(3, (wg_mat[]){d, hv, third});
    const double direction[6] = {0.5, -1, 0.25, 1, 0.75, -0.5}, h = 0x1p-17;
    double *const w = wg_model_values(m, g.w), y[3][3][6];
    feed();
    assert_ok(wg_model_feed(m, v, direction, 0, 1));
    for (int side = -1; side <= 1; side++) {
        const wg_results r[3] = {
            {y[side + 1][0], 0, 1}, {y[side + 1][1], 0, 1}, {y[side + 1][2], 0, 1}};
        for (size_t i = 0; i < 6; i++) w[i] = g.w.value[i] + side * h * direction[i];
        assert_ok(wg_model_run(m, f, POINTS, r, NULL));
    }
    for (int order = 0; order < 2; order++)
        for (size_t i = 0; i < 6; i++) {
            const double by = (y[2][order][i] - y[0][order][i]) / (2 * h);
            assert_true(fabs(by - y[1][order + 1][i]) <= 0x1p-24 * (1 + fabs(by)));
            assert_true(y[1][order + 1][i] != 0);
        }
    wg_function_free(f);
}

static void derivatives_of_what_is_not_there_are_zero(void **state) {
    (void)state;
    build();
    const wg_mat alone = wg_model_variable(m, "alone", cols, one, wg_initial_fill(1));
    const wg_mat by[3] = {alone, g.b, g.w};
    wg_mat d[3];
    assert_ok(wg_model_gradient(m, g.loss, 3, by, d));
    assert_int_equal(node(d[0]).kind, WG_CONSTANT);
    assert_int_equal(d[0].rows, 2);
    assert_string_equal(node(d[0]).rows.name, "cols");
    assert_true(d[0].value[0] == 0 && d[0].value[1] == 0);
    assert_string_equal(node(d[1]).name, "dsum_error/db");
    assert_string_equal(node(d[2]).name, "dsum_error/dw");
    double expected[3];
    assert_ok(wg_mat_reverse(tape, g.error, NULL, 1));
    assert_ok(wg_mat_adjoint(tape, g.b, expected, 3));
    assert_near(d[1].value, expected, 3);
    wg_function *const f = function(1, d);
    assert_int_equal(wg_function_inputs(f), 0);
    wg_function_free(f);
}

static void assert_no_gradient(wg_mat y, wg_mat x, wg_status expected, const char *part) {
    const wg_mark before = wg_tape_mark(tape);
    wg_mat d = g.x;
    assert_int_equal(wg_model_gradient(m, y, 1, &x, &d), expected);
    assert_failed(d, before, expected, part);
}

static void gradients_that_cannot_be_are_refused(void **state) {
    (void)state;
    build();
    assert_no_gradient(g.error, g.t, WG_EARG, "t is passive");
    assert_no_gradient(g.error, g.y, WG_EARG, "no placeholder and no variable");
    assert_no_gradient(g.error, wg_mat_row(g.w, 0), WG_EARG, "one of x is no node");
    assert_no_gradient(g.y, g.w, WG_ESHAPE, "3x1, not one number");
    assert_no_gradient(wg_mat_row(g.y, 0), g.w, WG_EARG, "y is no node");
    const wg_mark before = wg_tape_mark(tape);
    wg_mat d[2];
    assert_int_equal(wg_model_gradient(m, g.loss, 2, (wg_mat[]){g.w, g.w}, d), WG_EARG);
    assert_failed(d[1], before, WG_EARG, "w twice");
    assert_failed(wg_model_sum(m, wg_mat_row(g.y, 0)), before, WG_EARG, "no node");
    /* a sum that would have to come back to the points */
    const wg_mat s = wg_model_op(m, wg_mat_square, g.loss);
    assert_no_gradient(s, g.w, WG_EMODE, "used at the points");
    wg_mat shifted = wg_model_op(m, wg_mat_mul, g.error, g.loss);
    wg_function *f;
    assert_refused(wg_model_function(m, 1, &shifted, &f), WG_EMODE, "wg_function_compose");
}

/* A sum of what is one for all points counts them. */
static void sums_count_points(void **state) {
    (void)state;
    build();
    const wg_mat s = wg_model_sum(m, g.b), again = wg_model_sum(m, g.b);
    assert_string_equal(node(s).name, "sum_b");
    assert_string_equal(node(again).name, "sum_b_2");
    wg_function *const f = function(1, &s);
    double out[3];
    const double *const b = wg_model_values(m, g.b);
    assert_ok(wg_model_run(m, f, 7, &(wg_results){out, 0, 1}, NULL));
    for (size_t i = 0; i < 3; i++) assert_true(out[i] == 7 * b[i]);
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_what_is_asked_for_is_run),
        TEST(computations_share_variables),
        TEST(updates_happen_together),
        TEST(a_run_without_points_leaves_variables),
        TEST(nodes_without_elements_are_told_apart),
        TEST(runs_that_cannot_be_are_refused),
        TEST(a_comparison_stops_an_update),
        TEST(derivatives_are_nodes),
        TEST(derivatives_are_differentiated_again),
        TEST(derivatives_of_what_is_not_there_are_zero),
        TEST(gradients_that_cannot_be_are_refused),
        TEST(sums_count_points),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
