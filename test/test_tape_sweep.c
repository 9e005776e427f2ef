/* SPDX-License-Identifier: MIT */
/* test_tape_sweep.c - recording scalars and sweeping back: what a statement may be made of,
 * what seeds do, what an adjoint means, in one sweep, in parts, and in lanes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <wengert/operation.h>
#include "tolerance.h"
#include "walk.h"

static wg_tape *tape;

static int open_tape(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

static double adjoint_of(wg_real x) { return wg_adjoint(tape, x); }

static void assert_close(double got, double expected) {
    if (!close_ulp(got, expected, TOL_DERIVATIVE_ULP))
        fail_msg("got %.17g, expected %.17g", got, expected);
}
static void assert_same(double got, double expected) {
    if (!same_number(got, expected)) fail_msg("got %.17g, expected %.17g", got, expected);
}
static void sweep_from(wg_real y) { assert_int_equal(wg_reverse(tape, y), WG_OK); }

static wg_stats stats_of(wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s;
}

/* ---- statements ---- */

static void both_operands_may_be_the_same_variable(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 1.75);
    sweep_from(wg_let(tape, wg_mul(x, x)));
    assert_same(adjoint_of(x), 3.5);
    sweep_from(wg_let(tape, wg_sub(x, x)));
    assert_same(adjoint_of(x), 0.0);
    sweep_from(wg_let(tape, wg_div(x, x)));
    assert_close(adjoint_of(x) + 1, 1);
    sweep_from(wg_let(tape, wg_pow(x, x)));
    assert_close(adjoint_of(x), pow(1.75, 1.75) * (log(1.75) + 1));
    sweep_from(wg_let(tape, wg_mul(wg_mul(x, x), wg_mul(x, x))));
    assert_close(adjoint_of(x), 4 * 1.75 * 1.75 * 1.75);
}

static void compound_assignments_chain_on_one_variable(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 0.75);
    wg_real z = x;
    z = wg_let(tape, wg_mul(z, z));            /* x^2 */
    z = wg_let(tape, wg_add(z, x));            /* x^2 + x */
    z = wg_let(tape, wg_sub(z, wg_mul(2, z))); /* -x^2 - x */
    z = wg_let(tape, wg_div(z, x));            /* -x - 1 */
    z = wg_let(tape, wg_mul(z, z));            /* (x + 1)^2 */
    assert_same(wg_value(z), 1.75 * 1.75);
    sweep_from(z);
    assert_close(adjoint_of(x), 3.5);
}

static void a_result_may_replace_its_own_argument(void **state) {
    (void)state;
    wg_real x = wg_input(tape, 1.5);
    const wg_real first = x;
    x = wg_let(tape, wg_pow(x, 3));
    x = wg_let(tape, wg_pow(x, 2));
    sweep_from(x);
    assert_close(adjoint_of(first), 6 * pow(1.5, 5));
}

static void increments_give_old_and_new_value_with_their_derivatives(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    wg_real counter = x;
    const wg_real old = counter;
    counter = wg_let(tape, wg_add(counter, 1));
    assert_same(wg_value(old), 2);
    assert_same(wg_value(counter), 3);
    const wg_real y = wg_let(tape, wg_mul(wg_mul(old, old), counter)); /* x^2 (x + 1) */
    sweep_from(y);
    assert_same(adjoint_of(x), 3 * 4 + 2 * 2);
}

static void assigned_copies_stay_active_and_cost_nothing(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    const wg_stats before = stats_of(tape);
    wg_real a, b;
    a = b = x;
    const wg_real c = wg_let(tape, b);
    assert_int_equal(c.at.slot, x.at.slot);
    assert_int_equal(stats_of(tape).slots, before.slots);
    assert_int_equal(stats_of(tape).records, before.records);
    sweep_from(wg_let(tape, wg_mul(wg_mul(a, b), c)));
    assert_same(adjoint_of(x), 27);
}

static void an_output_may_be_an_input(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), y = wg_input(tape, 4);
    sweep_from(x);
    assert_same(adjoint_of(x), 1);
    assert_same(adjoint_of(y), 0);
    sweep_from(y);
    assert_same(adjoint_of(x), 0);
    assert_same(adjoint_of(y), 1);
}

static void one_intermediate_may_be_two_outputs(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), z = wg_let(tape, wg_square(x));
    const wg_real y[] = {z, z};
    const double row0[] = {1, 0}, row1[] = {0, 1}, both[] = {1, 1};
    double g0, g1, g;
    assert_int_equal(wg_reverse_seeds(tape, 2, y, row0), WG_OK);
    g0 = adjoint_of(x);
    assert_int_equal(wg_reverse_seeds(tape, 2, y, row1), WG_OK);
    g1 = adjoint_of(x);
    assert_int_equal(wg_reverse_seeds(tape, 2, y, both), WG_OK);
    g = adjoint_of(x);
    assert_same(g0, 6);
    assert_same(g1, 6);
    assert_same(g, 12);
}

static void an_unused_input_has_the_derivative_zero(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), unused = wg_input(tape, 5);
    const wg_real y = wg_let(tape, wg_exp(x)), later = wg_input(tape, 6);
    sweep_from(y);
    assert_true(same_bits(adjoint_of(unused), 0.0));
    assert_true(same_bits(adjoint_of(later), 0.0));
    assert_true(same_bits(adjoint_of(wg_constant(7)), 0.0));
}

static void a_constant_output_is_refused_alone_and_skipped_among_others(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), z = wg_let(tape, wg_square(x));
    const wg_real constant = wg_let(tape, wg_mul(wg_constant(2), 3));
    sweep_from(z);
    assert_int_equal(wg_reverse(tape, constant), WG_ESEED);
    assert_true(isnan(adjoint_of(x))); /* and not what an earlier sweep has left */
    assert_int_equal(wg_tape_status(tape), WG_OK);
    const wg_real y[] = {constant, z, constant};
    const double w[] = {5, 1, 7};
    assert_int_equal(wg_reverse_seeds(tape, 3, y, w), WG_OK);
    assert_same(adjoint_of(x), 6);
    const wg_real constants[] = {constant, constant};
    assert_int_equal(wg_reverse_seeds(tape, 2, constants, w), WG_ESEED);
    assert_int_equal(wg_reverse_seeds(tape, 0, NULL, NULL), WG_ESEED);
}

static void constants_leave_nothing_on_the_tape(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    const wg_stats before = stats_of(tape);
    wg_real c = wg_constant(0);
    for (int i = 0; i < 5000; i++) c = wg_let(tape, wg_add(c, wg_constant(1)));
    const wg_real copy = wg_let(tape, c), number = wg_let(tape, 2.5);
    assert_int_equal(copy.at.slot, 0);
    assert_int_equal(number.at.slot, 0);
    assert_same(wg_value(copy), 5000);
    const wg_stats after = stats_of(tape);
    assert_int_equal(after.slots, before.slots);
    assert_int_equal(after.records, before.records);
    assert_int_equal(after.memory_calls, before.memory_calls);
    sweep_from(wg_let(tape, wg_mul(x, c)));
    assert_same(adjoint_of(x), 5000);
}

static void a_value_taken_out_cuts_the_dependency(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    const wg_real y = wg_let(tape, wg_mul(x, wg_value(x)));
    const wg_real z = wg_let(tape, wg_mul(x, wg_constant(wg_value(x))));
    sweep_from(y);
    assert_same(adjoint_of(x), 3);
    sweep_from(z);
    assert_same(adjoint_of(x), 3);
}

static void the_first_variable_is_like_any_other(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    const wg_real y = wg_let(tape, wg_mul(x, 2)); /* the first record */
    sweep_from(y);
    assert_same(adjoint_of(x), 2);
    assert_same(adjoint_of(y), 1);
}

/* What the literals of a statement may be: every arithmetic type, in every position. */
static void numbers_of_any_type_stand_for_constants(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    sweep_from(wg_let(tape, wg_mul(2, wg_mul(x, 2.0f))));
    assert_same(adjoint_of(x), 4);
    sweep_from(wg_let(tape, wg_add(wg_mul((char)3, x), wg_mul(x, 5ul))));
    assert_same(adjoint_of(x), 8);
    sweep_from(wg_let(tape, wg_mul(wg_mul(x, (_Bool)1), (long double)0.5)));
    assert_same(adjoint_of(x), 0.5);
}

/* 8 operands, 8 numbers: the most a statement takes, against one operation at a time. */
static void the_longest_statements_equal_their_parts(void **state) {
    (void)state;
    wg_real x[8];
    double whole[8];
    for (int i = 0; i < 8; i++) x[i] = wg_input(tape, 0.5 + i);
    const wg_real y =
        wg_let(tape, wg_add(wg_add(wg_add(wg_mul(x[0], 1.0), wg_mul(x[1], 2.0)),
                                   wg_add(wg_mul(x[2], 3.0), wg_mul(x[3], 4.0))),
                            wg_add(wg_add(wg_mul(x[4], 5.0), wg_mul(x[5], 6.0)),
                                   wg_add(wg_mul(x[6], 7.0), wg_mul(x[7], 8.0)))));
    sweep_from(y);
    for (int i = 0; i < 8; i++) assert_same(adjoint_of(x[i]), i + 1);
    const wg_real z =
        wg_let(tape, wg_div(wg_mul(wg_mul(x[0], wg_exp(x[1])), wg_sub(x[2], wg_sin(x[3]))),
                            wg_add(wg_mul(x[4], x[5]), wg_sqrt(wg_add(x[6], x[7])))));
    sweep_from(z);
    for (int i = 0; i < 8; i++) whole[i] = adjoint_of(x[i]);
    const wg_real e = wg_let(tape, wg_exp(x[1])), s = wg_let(tape, wg_sin(x[3]));
    const wg_real p = wg_let(tape, wg_mul(x[0], e)), d = wg_let(tape, wg_sub(x[2], s));
    const wg_real n = wg_let(tape, wg_mul(p, d)), q = wg_let(tape, wg_mul(x[4], x[5]));
    const wg_real a = wg_let(tape, wg_add(x[6], x[7])), r = wg_let(tape, wg_sqrt(a));
    const wg_real m = wg_let(tape, wg_add(q, r)), parts = wg_let(tape, wg_div(n, m));
    assert_same(wg_value(z), wg_value(parts));
    sweep_from(parts);
    for (int i = 0; i < 8; i++) assert_close(adjoint_of(x[i]), whole[i]);
}

/* ---- the zero rule ---- */

static void what_was_not_selected_does_not_reach_the_gradient(void **state) {
    (void)state;
    const double at[] = {0.0, -1.0};
    for (int i = 0; i < 2; i++) {
        const wg_real x = wg_input(tape, at[i]);
        sweep_from(wg_let(tape, wg_select_gt(x, 0, wg_sqrt(x), 0)));
        assert_same(adjoint_of(x), 0);
        const wg_real root = wg_let(tape, wg_sqrt(x)); /* infinite or NaN derivative */
        sweep_from(wg_let(tape, wg_select_gt(x, 0, root, wg_mul(x, 2))));
        assert_same(adjoint_of(x), 2);
    }
}

static void zero_times_an_infinite_partial_is_zero_fused_or_not(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 0), y = wg_input(tape, 0);
    sweep_from(wg_let(tape, wg_mul(x, wg_sqrt(y))));
    assert_same(adjoint_of(x), 0);
    assert_same(adjoint_of(y), 0);
    const wg_real root = wg_let(tape, wg_sqrt(y));
    sweep_from(wg_let(tape, wg_mul(x, root)));
    assert_same(adjoint_of(x), 0);
    assert_same(adjoint_of(y), 0);
    sweep_from(root);
    assert_same(adjoint_of(y), INFINITY);
}

/* Operations of a user whose partials are 0, infinite and NaN. */
static const double not_a_number = NAN, infinite = INFINITY;
WG_OPERATION1(flat, a, 0, 0, GUARD, "test")
WG_OPERATION1(steep, a, infinite, 0, SING, "test")
WG_OPERATION1(lost, a, not_a_number, 0, SING, "test")

static void partials_of_a_user_that_are_odd_follow_the_rule(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    const wg_real y[] = {wg_let(tape, WG_CALL1(flat, x)), wg_let(tape, WG_CALL1(steep, x)),
                         wg_let(tape, WG_CALL1(lost, x))};
    const double seed[] = {1, 0, -2, INFINITY, NAN};
    const double expected[3][5] = {
        {0, 0, 0, 0, 0}, {INFINITY, 0, -INFINITY, INFINITY, NAN}, {NAN, 0, NAN, NAN, NAN}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 5; k++) {
            assert_int_equal(wg_reverse_seeds(tape, 1, &y[i], &seed[k]), WG_OK);
            assert_same(adjoint_of(x), expected[i][k]);
        }
    /* with a finite path beside it */
    for (int i = 0; i < 3; i++) {
        const wg_real z = wg_let(tape, wg_add(wg_mul(3, x), wg_mul(0, y[i])));
        sweep_from(z);
        assert_same(adjoint_of(x), 3);
    }
}

static void kinks_follow_the_convention_on_a_tape(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 0), y = wg_input(tape, 0);
    sweep_from(wg_let(tape, wg_fabs(x)));
    assert_same(adjoint_of(x), 0);
    sweep_from(wg_let(tape, wg_fmax(x, y)));
    assert_same(adjoint_of(x), 0.5);
    assert_same(adjoint_of(y), 0.5);
    sweep_from(wg_let(tape, wg_pow(x, y)));
    assert_same(adjoint_of(x), 0);
    assert_same(adjoint_of(y), 0);
    sweep_from(wg_let(tape, wg_pow(x, 1)));
    assert_same(adjoint_of(x), 1);
    sweep_from(wg_let(tape, wg_hypot(x, y)));
    assert_same(adjoint_of(x), 0);
}

static void the_operation_that_made_a_nan_is_named(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_TRACE};
    wg_tape *t = wg_tape_new(&opt);
    const wg_real x = wg_input(t, -1);
    const wg_real ok = wg_let(t, wg_mul(x, 2));
    const wg_real bad = wg_let(t, wg_add(wg_log(ok), 1));
    const wg_real more = wg_let(t, wg_mul(bad, x));
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(t), "log"));
    assert_non_null(strstr(wg_tape_message(t), "test_tape_sweep.c"));
    assert_int_equal(bad.at.slot, 0);
    assert_int_equal(more.at.slot, 0);
    assert_true(isnan(wg_value(bad)));
    wg_tape_free(t);
}

/* ---- seeds ---- */

static void a_seed_multiplies_the_gradient(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), y = wg_let(tape, wg_square(x));
    const double seed[] = {2.5, -1, 0, -0.0, INFINITY, NAN};
    const double expected[] = {15, -6, 0, 0, INFINITY, NAN};
    for (int k = 0; k < 6; k++) {
        assert_int_equal(wg_reverse_seeds(tape, 1, &y, &seed[k]), WG_OK);
        assert_same(adjoint_of(x), expected[k]);
        assert_same(adjoint_of(y), seed[k] + 0.0); /* the seed can be read again */
    }
}

static void many_outputs_have_a_seed_each(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), u = wg_input(tape, 5);
    const wg_real y[] = {wg_let(tape, wg_mul(x, u)), wg_let(tape, wg_square(u)), x};
    const double w[] = {2, 10, 0.25};
    assert_int_equal(wg_reverse_seeds(tape, 3, y, w), WG_OK);
    assert_same(adjoint_of(x), 2 * 5 + 0.25);
    assert_same(adjoint_of(u), 2 * 3 + 10 * 10);
}

static void an_output_named_twice_counts_twice(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), z = wg_let(tape, wg_square(x));
    const wg_real y[] = {z, x, z};
    const double w[] = {1, 1, 1};
    assert_int_equal(wg_reverse_seeds(tape, 3, y, w), WG_OK);
    assert_same(adjoint_of(x), 13);
    assert_same(adjoint_of(z), 2);
}

static void an_output_that_feeds_another_adds_to_its_own_seed(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), z = wg_let(tape, wg_square(x));
    const wg_real last = wg_let(tape, wg_mul(z, 4));
    const wg_real y[] = {z, last};
    const double w[] = {1, 1};
    assert_int_equal(wg_reverse_seeds(tape, 2, y, w), WG_OK);
    assert_same(adjoint_of(z), 5);
    assert_same(adjoint_of(x), 30);
}

static void seeds_of_zero_give_zeros(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), y = wg_let(tape, wg_exp(x));
    const double zero = 0;
    assert_int_equal(wg_reverse_seeds(tape, 1, &y, &zero), WG_OK);
    assert_true(same_bits(adjoint_of(x), 0.0));
    assert_true(same_bits(adjoint_of(y), 0.0));
}

static void without_a_sweep_there_is_no_adjoint(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3), y = wg_let(tape, wg_square(x));
    double g = 42;
    const wg_mark low = wg_tape_mark(tape);
    assert_true(isnan(adjoint_of(x)));
    assert_true(isnan(adjoint_of(y)));
    assert_true(isnan(adjoint_of(wg_constant(1))));
    assert_int_equal(wg_adjoints(tape, 1, &x, &g), WG_ESEED);
    assert_int_equal(wg_adjoints_add(tape, 1, &x, &g), WG_ESEED);
    assert_same(g, 42);
    assert_int_equal(wg_adjoint_seed(tape, y, 1), WG_EMODE); /* not cleared */
    assert_int_equal(wg_sweep(tape, low, low), WG_EMODE);
    sweep_from(y);
    wg_tape_reset(tape);
    const wg_real again = wg_input(tape, 3);
    assert_true(isnan(adjoint_of(again)));
}

static void empty_lists_are_answered(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 3);
    assert_int_equal(wg_inputs(tape, 0, NULL, NULL), WG_OK);
    sweep_from(x);
    assert_int_equal(wg_adjoints(tape, 0, NULL, NULL), WG_OK);
    assert_int_equal(wg_adjoints_add(tape, 0, NULL, NULL), WG_OK);
}

/* ---- sweeps ---- */

static void a_second_sweep_gives_the_same_answer(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 1.1), y = wg_let(tape, wg_sin(wg_mul(x, x)));
    const wg_real z = wg_let(tape, wg_exp(y));
    sweep_from(z);
    const double once = adjoint_of(x);
    sweep_from(z);
    assert_true(same_bits(adjoint_of(x), once));
    sweep_from(y);
    sweep_from(z);
    assert_true(same_bits(adjoint_of(x), once));
}

static void adjoints_gather_and_add_up(void **state) {
    (void)state;
    const wg_real x[] = {wg_input(tape, 3), wg_constant(8), wg_input(tape, 5)};
    double g[] = {100, 100, 100};
    sweep_from(wg_let(tape, wg_mul(x[0], x[2])));
    assert_int_equal(wg_adjoints(tape, 3, x, g), WG_OK);
    assert_same(g[0], 5);
    assert_same(g[1], 0);
    assert_same(g[2], 3);
    assert_int_equal(wg_adjoints_add(tape, 3, x, g), WG_OK);
    assert_same(g[0], 10);
    assert_same(g[2], 6);
}

static void adjoints_of_intermediates_can_be_read(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    wg_real y = wg_let(tape, wg_square(x));
    const wg_real before = y;
    y = wg_let(tape, wg_mul(y, 3)); /* the variable is replaced, the slot is not */
    sweep_from(y);
    assert_same(adjoint_of(before), 3);
    assert_same(adjoint_of(y), 1);
    assert_same(adjoint_of(x), 12);
}

static void a_root_in_the_middle_ignores_what_came_later(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), y = wg_let(tape, wg_square(x));
    const wg_real later = wg_let(tape, wg_exp(wg_mul(x, y)));
    sweep_from(later);
    sweep_from(y);
    assert_same(adjoint_of(x), 4);
    assert_same(adjoint_of(later), 0);
}

enum { INPUTS = 10, LENGTH = 400 };

/* The whole sweep of a random recording, and one in parts of every length. */
static void a_sweep_in_parts_equals_the_whole(void **state) {
    (void)state;
    static wg_real x[LENGTH];
    static wg_mark mark[LENGTH + 1];
    static double whole[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) {
        mark[i] = wg_tape_mark(tape);
        walk(tape, 7, INPUTS, i, i + 1, x);
    }
    mark[LENGTH] = wg_tape_mark(tape);
    sweep_from(x[LENGTH - 1]);
    for (size_t i = 0; i < LENGTH; i++) whole[i] = adjoint_of(x[i]);
    for (size_t part = 1; part < LENGTH; part = part * 2 + 1) {
        assert_int_equal(wg_adjoints_clear(tape), WG_OK);
        assert_int_equal(wg_adjoint_seed(tape, x[LENGTH - 1], 0.25), WG_OK);
        assert_int_equal(wg_adjoint_seed(tape, x[LENGTH - 1], 0.75), WG_OK);
        for (size_t high = LENGTH; high > 0;) {
            const size_t low = high > part ? high - part : 0;
            assert_int_equal(wg_sweep(tape, mark[high], mark[low]), WG_OK);
            high = low;
        }
        for (size_t i = 0; i < LENGTH; i++)
            assert_true(same_number(adjoint_of(x[i]), whole[i]));
    }
    assert_int_equal(wg_sweep(tape, mark[50], mark[90]), WG_EMARK); /* the wrong way round */
}

static void a_partial_sweep_leaves_the_rest_alone(void **state) {
    (void)state;
    const wg_mark start = wg_tape_mark(tape);
    const wg_real x = wg_input(tape, 2), y = wg_let(tape, wg_square(x));
    const wg_mark middle = wg_tape_mark(tape);
    const wg_real z = wg_let(tape, wg_mul(y, 5));
    const wg_mark high = wg_tape_mark(tape);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    assert_int_equal(wg_adjoint_seed(tape, z, 1), WG_OK);
    assert_int_equal(wg_sweep(tape, high, middle), WG_OK);
    assert_same(adjoint_of(y), 5);
    assert_same(adjoint_of(x), 0);
    assert_int_equal(wg_adjoint_seed(tape, y, 0.5), WG_OK); /* changed in between */
    const wg_mark none = wg_tape_mark(tape);
    assert_int_equal(wg_sweep(tape, none, none), WG_OK);
    assert_same(adjoint_of(x), 0);
    assert_int_equal(wg_sweep(tape, middle, start), WG_OK);
    assert_same(adjoint_of(x), 5.5 * 4);
}

static void variables_recorded_after_the_clearing_cannot_be_seeded(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    assert_int_equal(wg_adjoints_clear(tape), WG_OK);
    const wg_real y = wg_let(tape, wg_square(x));
    const wg_mark high = wg_tape_mark(tape);
    assert_int_equal(wg_adjoint_seed(tape, y, 1), WG_EMODE);
    assert_int_equal(wg_adjoint_seed(tape, wg_constant(1), 1), WG_ESEED);
    assert_int_equal(wg_sweep(tape, high, high), WG_EMODE);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

static void lanes_equal_single_sweeps_to_the_last_bit(void **state) {
    (void)state;
    static const size_t lanes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 63, 64};
    static wg_real x[LENGTH];
    static double w[5 * 64], single[64][LENGTH];
    uint64_t seed = 3;
    walk(tape, 11, INPUTS, 0, LENGTH, x);
    const wg_real y[] = {x[LENGTH - 1], x[LENGTH - 2], x[LENGTH / 2], x[3], wg_constant(1)};
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = walk_number(&seed);
    /* no seed at all, one alone, infinite and NaN lanes beside ordinary ones */
    for (size_t j = 0; j < 5; j++) w[j * 64] = 0;
    w[0 * 64 + 1] = INFINITY, w[1 * 64 + 2] = NAN;
    for (size_t l = 0; l < 64; l++) {
        double own[5];
        for (size_t j = 0; j < 5; j++) own[j] = w[j * 64 + l];
        assert_int_equal(wg_reverse_seeds(tape, 5, y, own), WG_OK);
        for (size_t i = 0; i < LENGTH; i++) single[l][i] = adjoint_of(x[i]);
    }
    for (size_t n = 0; n < sizeof lanes / sizeof *lanes; n++) {
        const size_t k = lanes[n];
        static double part[5 * 64];
        for (size_t j = 0; j < 5; j++)
            for (size_t l = 0; l < k; l++) part[j * k + l] = w[j * 64 + l];
        assert_int_equal(wg_reverse_lanes(tape, k, 5, y, part), WG_OK);
        for (size_t i = 0; i < LENGTH; i++) {
            for (size_t l = 0; l < k; l++)
                assert_true(same_number(wg_adjoint_lane(tape, x[i], l), single[l][i]));
            assert_true(isnan(wg_adjoint_lane(tape, x[i], k))); /* not asked for */
        }
    }
    assert_int_equal(wg_reverse_lanes(tape, 0, 5, y, w), WG_EARG);
    assert_int_equal(wg_reverse_lanes(tape, 65, 5, y, w), WG_EARG);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

static void parts_are_for_one_lane(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), y = wg_let(tape, wg_square(x));
    const double w[] = {1, 2};
    const wg_mark here = wg_tape_mark(tape);
    assert_int_equal(wg_reverse_lanes(tape, 2, 1, &y, w), WG_OK);
    assert_int_equal(wg_adjoint_seed(tape, y, 1), WG_EMODE);
    assert_int_equal(wg_sweep(tape, here, here), WG_EMODE);
}

static void recordings_repeat_bit_for_bit(void **state) {
    (void)state;
    static wg_real x[LENGTH];
    static double first[INPUTS + 1];
    for (int run = 0; run < 3; run++) {
        wg_tape_reset(tape);
        walk(tape, 5, INPUTS, 0, LENGTH, x);
        sweep_from(x[LENGTH - 1]);
        for (size_t i = 0; i <= INPUTS; i++) {
            const double v = i < INPUTS ? adjoint_of(x[i]) : wg_value(x[LENGTH - 1]);
            if (run == 0) first[i] = v;
            assert_true(same_bits(v, first[i]));
        }
    }
}

/* Derivatives of derivatives with a tape for each level do not mix: d/dx [x d/dy (x + y)] = 1.
 */
static void tapes_of_two_levels_do_not_confuse_their_variables(void **state) {
    (void)state;
    wg_tape *inner = wg_tape_new(NULL);
    const wg_real x = wg_input(tape, 1);
    const wg_real y = wg_input(inner, 1);
    const wg_real sum = wg_let(inner, wg_add(wg_value(x), y));
    assert_int_equal(wg_reverse(inner, sum), WG_OK);
    const double dy = wg_adjoint(inner, y);
    sweep_from(wg_let(tape, wg_mul(x, dy)));
    assert_same(adjoint_of(x), 1);
    wg_tape_free(inner);
}

/* ---- size ---- */

static void a_chain_of_a_million_statements_needs_no_stack(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 0.5);
    wg_real y = x;
    double d = 1;
    for (int i = 0; i < 1000000; i++) {
        y = wg_let(tape, wg_mul(y, 1 + 0x1p-30));
        d *= 1 + 0x1p-30;
    }
    sweep_from(y);
    assert_close(adjoint_of(x) / d, 1);
    assert_int_equal(stats_of(tape).statements, 1000000);
}

static void two_hundred_thousand_inputs_have_a_gradient(void **state) {
    (void)state;
    enum { N = 200000 };
    double *a = malloc(N * sizeof *a), *g = malloc(N * sizeof *g);
    wg_real *x = malloc(N * sizeof *x);
    assert_true(a != NULL && g != NULL && x != NULL);
    for (size_t i = 0; i < N; i++) a[i] = 1 + (double)i;
    assert_int_equal(wg_inputs(tape, N, a, x), WG_OK);
    wg_real f = wg_constant(0);
    for (size_t i = 0; i + 1 < N; i++)
        f = wg_let(tape,
                   wg_add(f, wg_mul(x[i], x[i + 1]))); /* records far over the first pages */
    sweep_from(f);
    assert_int_equal(wg_adjoints(tape, N, x, g), WG_OK);
    for (size_t i = 0; i < N; i++)
        assert_true(g[i] == (i > 0 ? a[i - 1] : 0) + (i + 1 < N ? a[i + 1] : 0));
    free(a), free(g), free(x);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(both_operands_may_be_the_same_variable),
        TEST(compound_assignments_chain_on_one_variable),
        TEST(a_result_may_replace_its_own_argument),
        TEST(increments_give_old_and_new_value_with_their_derivatives),
        TEST(assigned_copies_stay_active_and_cost_nothing),
        TEST(an_output_may_be_an_input),
        TEST(one_intermediate_may_be_two_outputs),
        TEST(an_unused_input_has_the_derivative_zero),
        TEST(a_constant_output_is_refused_alone_and_skipped_among_others),
        TEST(constants_leave_nothing_on_the_tape),
        TEST(a_value_taken_out_cuts_the_dependency),
        TEST(the_first_variable_is_like_any_other),
        TEST(numbers_of_any_type_stand_for_constants),
        TEST(the_longest_statements_equal_their_parts),
        TEST(what_was_not_selected_does_not_reach_the_gradient),
        TEST(zero_times_an_infinite_partial_is_zero_fused_or_not),
        TEST(partials_of_a_user_that_are_odd_follow_the_rule),
        TEST(kinks_follow_the_convention_on_a_tape),
        TEST(the_operation_that_made_a_nan_is_named),
        TEST(a_seed_multiplies_the_gradient),
        TEST(many_outputs_have_a_seed_each),
        TEST(an_output_named_twice_counts_twice),
        TEST(an_output_that_feeds_another_adds_to_its_own_seed),
        TEST(seeds_of_zero_give_zeros),
        TEST(without_a_sweep_there_is_no_adjoint),
        TEST(empty_lists_are_answered),
        TEST(a_second_sweep_gives_the_same_answer),
        TEST(adjoints_gather_and_add_up),
        TEST(adjoints_of_intermediates_can_be_read),
        TEST(a_root_in_the_middle_ignores_what_came_later),
        TEST(a_sweep_in_parts_equals_the_whole),
        TEST(a_partial_sweep_leaves_the_rest_alone),
        TEST(variables_recorded_after_the_clearing_cannot_be_seeded),
        TEST(lanes_equal_single_sweeps_to_the_last_bit),
        TEST(parts_are_for_one_lane),
        TEST(recordings_repeat_bit_for_bit),
        TEST(tapes_of_two_levels_do_not_confuse_their_variables),
        TEST(a_chain_of_a_million_statements_needs_no_stack),
        TEST(two_hundred_thousand_inputs_have_a_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
