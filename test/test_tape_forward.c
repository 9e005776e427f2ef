/* SPDX-License-Identifier: MIT */
/* test_tape_forward.c - tapes that carry tangents forward and keep no records. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "opt_cases.h"
#include "tolerance.h"

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

static void forward(size_t width) { assert_int_equal(wg_tape_forward(tape, width), WG_OK); }
static wg_real seeded(double value, size_t lane, double v) {
    const wg_real x = wg_input(tape, value);
    assert_int_equal(wg_tangent_seed(tape, x, lane, v), WG_OK);
    return x;
}
static void assert_close(double got, double expected) {
    if (!close_ulp(got, expected, TOL_DERIVATIVE_ULP))
        fail_msg("got %.17g, expected %.17g", got, expected);
}
static void assert_nan(double x) { assert_true(x != x); }

static void tangents_follow_the_chain_rule(void **state) {
    (void)state;
    forward(2);
    const wg_real x = seeded(0.5, 0, 1), y = seeded(3, 1, 1);
    const wg_real p = wg_let(tape, wg_mul(x, y)), q = wg_let(tape, wg_sin(p));
    const wg_real r = wg_let(tape, wg_div(wg_exp(q), wg_add(x, 2)));
    assert_true(wg_tangent(tape, p, 0) == 3 && wg_tangent(tape, p, 1) == 0.5);
    assert_close(wg_tangent(tape, q, 0), 3 * cos(1.5));
    assert_close(wg_tangent(tape, q, 1), 0.5 * cos(1.5));
    const double e = exp(sin(1.5));
    assert_close(wg_tangent(tape, r, 0), e * 3 * cos(1.5) / 2.5 - e / 2.5 / 2.5);
    assert_close(wg_tangent(tape, r, 1), e * 0.5 * cos(1.5) / 2.5);
    assert_true(wg_value(r) == e / 2.5);
}

static void both_operands_may_be_the_same_variable(void **state) {
    (void)state;
    forward(1);
    const wg_real x = seeded(1.75, 0, 1);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 0) == 3.5);
    assert_true(wg_tangent(tape, wg_let(tape, wg_sub(x, x)), 0) == 0);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(wg_mul(x, x), wg_mul(x, x))), 0) ==
                4 * 1.75 * 1.75 * 1.75);
}

static void every_width_gives_the_same_bits(void **state) {
    (void)state;
    enum { N = 64 };
    double single[N];
    for (size_t width = 1; width <= N; width++) {
        wg_real x[N], y;
        double a[N];
        wg_tape_reset(tape);
        forward(width);
        for (int i = 0; i < N; i++) a[i] = 0.3 + 0.01 * i;
        assert_int_equal(wg_inputs(tape, N, a, x), WG_OK);
        for (size_t l = 0; l < width; l++)
            for (size_t i = 0; i < N; i++)
                assert_int_equal(wg_tangent_seed(tape, x[i], l, 1.0 / (double)(l + i + 1)),
                                 WG_OK);
        y = x[0];
        for (int i = 1; i < N; i++) y = wg_let(tape, wg_add(wg_mul(wg_sin(y), x[i]), x[i - 1]));
        for (size_t l = 0; l < width; l++) {
            if (l + 1 == width) single[l] = wg_tangent(tape, y, l); /* a lane seen first ... */
            assert_true(single[l] == wg_tangent(tape, y, l));       /* ... stays the same */
        }
    }
}

static void compare_case(const struct opt_case *c) {
    int number = c->number;
    double v[OPT_MAX_N], g[OPT_MAX_N], f, forward_slope, slope = 0, size = 0;
    for (size_t i = 0; i < c->n; i++) v[i] = i % 2 ? -0.75 : 1.25;
    assert_int_equal(wg_gradient(tape, opt_objective, &number, c->n, c->x, &f, g), WG_OK);
    assert_int_equal(
        wg_jvp(tape, opt_objective, &number, c->n, c->x, v, 1, NULL, &forward_slope), WG_OK);
    for (size_t i = 0; i < c->n; i++) {
        slope += g[i] * v[i];
        size += fabs(g[i] * v[i]);
    }
    /* a gradient may vanish by cancellation: the sizes are those of the reference's terms */
    for (size_t j = 0; j < c->m && c->r != NULL; j++)
        for (size_t i = 0; i < c->n; i++) size += fabs(c->r[j] * c->j[j * c->n + i] * v[i]);
    if (!(fabs(slope - forward_slope) <= TOL_FORWARD_REVERSE_ULP * DBL_EPSILON * size))
        fail_msg("%s: forward %.17g, reverse %.17g", c->text.name, forward_slope, slope);
}
static void tangents_agree_with_adjoints(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(compare_case), OPT_CASES);
}

/* The kernels as doubles are the plain functions; as duals they have the same bits, and the
 * tangents of a forward tape. */
static void kernel_case(const struct opt_case *c) {
    enum { LANES = WG_DUAL_WIDTH };
    const int n = (int)c->n, m = (int)c->m;
    double plain[OPT_MAX_M], here[OPT_MAX_M], f = NAN;
    double y[OPT_MAX_M], column[OPT_MAX_M];
    wg_dual x[OPT_MAX_N], r[OPT_MAX_M], g;
    int number = c->number;
    const double expected = opt_value(&opt_problems[number], c->x, plain);
    opt_problem_double(NULL, number, n, m, c->x, &f, here);
    if (!(fabs(f - expected) <= TOL_PROBLEM_ULP * DBL_EPSILON * fabs(expected)))
        fail_msg("%s: %.17g and %.17g", c->text.name, f, expected);
    for (int first = 0; first < n; first += LANES) {
        for (int i = 0; i < n; i++)
            x[i] = i >= first && i < first + LANES ? wg_dual_input(c->x[i], (size_t)(i - first))
                                                   : wg_dual_constant(c->x[i]);
        opt_problem_dual(NULL, number, n, m, x, &g, r);
        assert_true(wg_dual_value(g) == f);
        for (int j = 0; j < m; j++) assert_true(wg_dual_value(r[j]) == here[j]);
        for (int l = 0; l < LANES && first + l < n && m > 0; l++) {
            double v[OPT_MAX_N] = {0};
            v[first + l] = 1;
            assert_int_equal(
                wg_jvp(tape, opt_residuals, &number, c->n, c->x, v, c->m, y, column), WG_OK);
            assert_memory_equal(y, here, c->m * sizeof *y);
            for (int j = 0; j < m; j++)
                assert_true(close_ulp(wg_dual_tangent(r[j], (size_t)l), column[j],
                                      TOL_FORWARD_REVERSE_ULP));
        }
    }
}
static void kernels_agree_as_doubles_duals_and_on_a_tape(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(kernel_case), OPT_CASES);
}

static void array_operations_carry_tangents(void **state) {
    (void)state;
    forward(3);
    wg_real x[3];
    const double a[3] = {2, 3, 5};
    assert_int_equal(wg_inputs(tape, 3, a, x), WG_OK);
    for (size_t i = 0; i < 3; i++) assert_int_equal(wg_tangent_seed(tape, x[i], i, 1), WG_OK);
    const wg_real s = wg_sum(tape, 3, x), p = wg_product(tape, 3, x), n = wg_norm2(tape, 3, x);
    for (size_t i = 0; i < 3; i++) {
        assert_true(wg_tangent(tape, s, i) == 1);
        assert_true(wg_tangent(tape, p, i) == 30 / a[i]);
        assert_close(wg_tangent(tape, n, i), a[i] / sqrt(38));
    }
}

static void zero_times_infinity_is_zero(void **state) {
    (void)state;
    forward(4);
    const wg_real x = wg_input(tape, 0), y = wg_input(tape, 4);
    assert_int_equal(wg_tangent_seed(tape, x, 1, 2), WG_OK);
    assert_int_equal(wg_tangent_seed(tape, y, 2, INFINITY), WG_OK);
    assert_int_equal(wg_tangent_seed(tape, y, 3, NAN), WG_OK);
    const wg_real r = wg_let(tape, wg_sqrt(x)), z = wg_let(tape, wg_mul(r, y));
    assert_true(wg_tangent(tape, r, 0) == 0 && wg_tangent(tape, r, 1) == INFINITY);
    assert_true(wg_tangent(tape, z, 0) == 0 && wg_tangent(tape, z, 1) == INFINITY);
    assert_true(wg_tangent(tape, z, 2) == 0); /* dz/dy is 0 */
    assert_true(wg_tangent(tape, z, 3) == 0);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(y, 2)), 3) !=
                wg_tangent(tape, wg_let(tape, wg_mul(y, 2)), 3));
}

static void constants_have_the_tangent_zero(void **state) {
    (void)state;
    forward(1);
    const wg_real x = seeded(2, 0, 1);
    assert_true(wg_tangent(tape, wg_constant(3), 0) == 0);
    assert_true(wg_tangent(tape, wg_let(tape, wg_add(1, 2)), 0) == 0);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, wg_constant(3))), 0) == 3);
    assert_true(wg_tangent(tape, wg_input(tape, 5), 0) == 0); /* not seeded */
    assert_int_equal(wg_tape_pause(tape), WG_OK);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 0) == 0);
    assert_int_equal(wg_tape_resume(tape), WG_OK);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 0) == 4);
    assert_int_equal(wg_tangent_seed(tape, wg_constant(1), 0, 1), WG_ESEED);
}

static void a_seed_may_be_set_again(void **state) {
    (void)state;
    forward(1);
    const wg_real x = seeded(2, 0, 1);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 0) == 4);
    assert_int_equal(wg_tangent_seed(tape, x, 0, -3), WG_OK);
    assert_true(wg_tangent(tape, x, 0) == -3);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 0) == -12);
}

static void nothing_is_recorded(void **state) {
    (void)state;
    wg_stats s;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const coded = wg_tape_new(&opt);
    wg_tape *const both[2] = {tape, coded};
    for (int k = 0; k < 2; k++) {
        wg_tape *const t = both[k];
        assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        const wg_real x = wg_input(t, 2);
        assert_int_equal(wg_tangent_seed(t, x, 0, 1), WG_OK);
        wg_real y = x;
        for (int i = 0; i < 10; i++) y = wg_let(t, wg_mul(y, x));
        (void)wg_sum(t, 1, &y);
        (void)wg_lt(t, x, y);
        assert_true(wg_tangent(t, y, 0) == 11 * 1024);
        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
        assert_true(s.records == 0 && s.code_bytes == 0 && s.record_bytes == 0);
        assert_int_equal(s.statements, 11);
        assert_int_equal(wg_reverse(t, y), WG_EMODE);
        assert_int_equal(wg_adjoints_clear(t), WG_EMODE);
        double h = 0;
        assert_int_equal(wg_tape_hvp(t, y, 1, &x, &h, &h), WG_EMODE);
        assert_int_equal(wg_tape_verify(t), WG_EMODE);
        assert_int_equal(wg_tape_status(t), WG_OK);
    }
    wg_tape_free(coded);
}

static void the_mode_lasts_until_it_is_changed_on_an_empty_tape(void **state) {
    (void)state;
    forward(2);
    (void)seeded(1, 1, 1);
    assert_int_equal(wg_tape_forward(tape, 0), WG_EMODE); /* not empty */
    assert_int_equal(wg_tape_forward(tape, 3), WG_EMODE);
    wg_tape_reset(tape);
    const wg_real x = seeded(3, 1, 1); /* still forward */
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(x, x)), 1) == 6);
    wg_tape_reset(tape);
    forward(0);
    const wg_real y = wg_input(tape, 4), z = wg_let(tape, wg_mul(y, y));
    assert_int_equal(wg_tangent_seed(tape, y, 0, 1), WG_EMODE);
    assert_nan(wg_tangent(tape, z, 0));
    assert_int_equal(wg_reverse(tape, z), WG_OK);
    assert_true(wg_adjoint(tape, y) == 8);
}

static void adjoints_of_before_are_gone(void **state) {
    (void)state;
    const wg_mark start = wg_tape_mark(tape);
    const wg_real x = wg_input(tape, 2);
    assert_int_equal(wg_reverse(tape, wg_let(tape, wg_mul(x, x))), WG_OK);
    assert_int_equal(wg_tape_rewind(tape, start), WG_OK);
    forward(1);
    assert_nan(wg_adjoint(tape, seeded(3, 0, 1)));
}

static void a_rewind_forgets_what_came_after(void **state) {
    (void)state;
    forward(1);
    const wg_real x = seeded(2, 0, 1), y = wg_let(tape, wg_mul(x, x));
    const wg_mark here = wg_tape_mark(tape);
    double last = 0;
    for (int k = 0; k < 100; k++) {
        const wg_real z = wg_let(tape, wg_mul(y, k));
        last = wg_tangent(tape, wg_let(tape, wg_add(z, x)), 0);
        assert_true(last == 4 * k + 1);
        assert_int_equal(wg_tape_rewind(tape, here), WG_OK);
        assert_nan(wg_tangent(tape, z, 0));
    }
    assert_true(wg_tangent(tape, y, 0) == 4);
}

static void mistakes_are_refused(void **state) {
    (void)state;
    assert_int_equal(wg_tape_forward(NULL, 1), WG_ENULL);
    assert_int_equal(wg_tape_forward(tape, 65), WG_EARG);
    forward(2);
    const wg_real old = seeded(1, 0, 1);
    assert_int_equal(wg_tangent_seed(NULL, old, 0, 1), WG_ENULL);
    assert_int_equal(wg_tangent_seed(tape, old, 2, 1), WG_EARG);
    assert_nan(wg_tangent(NULL, old, 0));
    assert_nan(wg_tangent(tape, old, 2));
    wg_tape_reset(tape);
    (void)wg_input(tape, 1);
    assert_int_equal(wg_tangent_seed(tape, old, 0, 1), WG_ESTALE);
    assert_nan(wg_tangent(tape, old, 0));
    assert_int_equal(wg_tape_status(tape), WG_OK);
    const wg_real x = seeded(2, 0, 1);
    assert_nan(wg_value(wg_let(tape, wg_mul(x, old)))); /* the tape fails */
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_nan(wg_tangent(tape, x, 0));
    assert_nan(wg_tangent(tape, wg_constant(1), 0));
    assert_int_equal(wg_tangent_seed(tape, x, 0, 1), WG_ESTALE);
    assert_int_equal(wg_tape_forward(tape, 1), WG_ESTALE);
}

static void old_tangents_survive_growth(void **state) {
    (void)state;
    enum { N = 300000 };
    const wg_options opt = {.reserve = 1 << 16}; /* the extent has to move */
    wg_tape *const t = wg_tape_new(&opt);
    assert_int_equal(wg_tape_forward(t, 8), WG_OK);
    const wg_real x = wg_input(t, 1);
    for (size_t l = 0; l < 8; l++) assert_int_equal(wg_tangent_seed(t, x, l, (double)l), WG_OK);
    wg_real y = x;
    for (int i = 1; i < N; i++) y = wg_let(t, wg_add(y, x));
    for (size_t l = 0; l < 8; l++) assert_true(wg_tangent(t, y, l) == (double)l * N);
    for (size_t l = 0; l < 8; l++) assert_true(wg_tangent(t, x, l) == (double)l);
    wg_tape_free(t);
}

static void tangents_obey_the_budget(void **state) {
    (void)state;
    const wg_options opt = {.budget = 1 << 20};
    wg_tape *const t = wg_tape_new(&opt);
    assert_int_equal(wg_tape_forward(t, 64), WG_OK);
    wg_real x = wg_input(t, 1);
    for (int i = 0; i < 10000; i++) x = wg_let(t, wg_add(x, 1));
    assert_int_equal(wg_tape_status(t), WG_EBUDGET);
    assert_non_null(strstr(wg_tape_message(t), "tangents"));
    assert_nan(wg_value(x));
    wg_tape_reset(t);
    x = wg_input(t, 1);
    assert_int_equal(wg_tangent_seed(t, x, 63, 1), WG_OK);
    assert_true(wg_tangent(t, wg_let(t, wg_mul(x, 3)), 63) == 3);
    wg_tape_free(t);
}

/* One step of a pendulum with friction c, on any tape. */
static void pendulum(wg_tape *t, wg_real c, wg_real *x) {
    const wg_real force = wg_let(t, wg_sub(wg_neg(wg_sin(x[0])), wg_mul(c, x[1])));
    x[1] = wg_let(t, wg_add(x[1], wg_mul(0.01, force)));
    x[0] = wg_let(t, wg_add(x[0], wg_mul(0.01, x[1])));
}

/* In a budget that the plain loop exceeds. */
static void a_loop_that_forgets_runs_in_the_memory_of_a_step(void **state) {
    (void)state;
    enum { STEPS = 20000, WIDTH = 8, BUDGET = 1 << 20 };
    double expected[2 * WIDTH];
    for (int forgets = 0; forgets < 3;
         forgets++) { /* 0: without a budget; 1: within; 2: too long */
        wg_tape *const t = wg_tape_new(&(wg_options){.budget = forgets != 0 ? BUDGET : 0});
        assert_int_equal(wg_tape_forward(t, WIDTH), WG_OK);
        const wg_real c = wg_input(t, 0.3);
        wg_real x[2] = {wg_input(t, 1), wg_input(t, 0)};
        for (size_t l = 0; l < WIDTH; l++) {
            assert_int_equal(wg_tangent_seed(t, c, l, 1 + (double)l), WG_OK);
            assert_int_equal(wg_tangent_seed(t, x[l % 2], l, 0.5), WG_OK);
        }
        const wg_mark loop = wg_tape_mark(t);
        for (int k = 0; k < STEPS; k++) {
            pendulum(t, c, x);
            if (forgets == 1) assert_int_equal(wg_preaccumulate(t, loop, 1, &c, 2, x), WG_OK);
        }
        for (size_t l = 0; l < WIDTH && forgets < 2; l++)
            for (size_t i = 0; i < 2; i++) {
                const double v = wg_tangent(t, x[i], l);
                if (forgets == 0) expected[2 * l + i] = v;
                else assert_true(v == expected[2 * l + i]);
            }
        assert_int_equal(wg_tape_status(t), forgets < 2 ? WG_OK : WG_EBUDGET);
        wg_tape_free(t);
    }
}

static void what_a_loop_carries_on_may_stand_in_any_order(void **state) {
    (void)state;
    forward(2);
    const wg_real a = seeded(2, 0, 1), b = seeded(3, 1, 1);
    const wg_mark m = wg_tape_mark(tape);
    const wg_real p = wg_let(tape, wg_mul(a, b)), q = wg_let(tape, wg_mul(p, b)),
                  r = wg_let(tape, wg_sub(q, a));
    /* backwards, one twice, one of before, constants */
    wg_real y[] = {r, q, p, a, wg_constant(7), r, b};
    assert_int_equal(wg_preaccumulate(tape, m, 2, (wg_real[]){a, b}, 7, y), WG_OK);
    const double expected[][3] = {{16, 8, 12}, {18, 9, 12}, {6, 3, 2}, {2, 1, 0},
                                  {7, 0, 0},   {16, 8, 12}, {3, 0, 1}};
    for (size_t j = 0; j < 7; j++) {
        assert_true(wg_value(y[j]) == expected[j][0]);
        for (size_t l = 0; l < 2; l++)
            assert_true(wg_tangent(tape, y[j], l) == expected[j][1 + l]);
    }
    wg_stats s;
    assert_int_equal(wg_tape_stats(tape, &s), WG_OK);
    assert_int_equal(s.slots, 2 + 4);
    /* and on with them: d (r p)/da = 8 * 6 + 16 * 3 */
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(y[5], y[2])), 0) == 96);
    /* an input of the section is no input of it */
    assert_int_equal(wg_preaccumulate(tape, m, 1, &y[0], 1, &y[1]), WG_EARG);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

static void what_a_loop_has_forgotten_is_found_on_a_checked_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
    assert_int_equal(wg_tape_forward(t, 1), WG_OK);
    const wg_real a = wg_input(t, 2);
    const wg_mark m = wg_tape_mark(t);
    const wg_real p = wg_let(t, wg_mul(a, a));
    wg_real y = wg_let(t, wg_sin(p));
    assert_int_equal(wg_preaccumulate(t, m, 1, &a, 1, &y), WG_OK);
    (void)wg_let(t, wg_exp(y));
    assert_int_equal(wg_tape_status(t), WG_OK);
    (void)wg_let(t, wg_exp(p));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_tape, close_tape)
    const struct CMUnitTest tests[] = {
        TEST(tangents_follow_the_chain_rule),
        TEST(both_operands_may_be_the_same_variable),
        TEST(every_width_gives_the_same_bits),
        TEST(tangents_agree_with_adjoints),
        TEST(kernels_agree_as_doubles_duals_and_on_a_tape),
        TEST(array_operations_carry_tangents),
        TEST(zero_times_infinity_is_zero),
        TEST(constants_have_the_tangent_zero),
        TEST(a_seed_may_be_set_again),
        TEST(nothing_is_recorded),
        TEST(the_mode_lasts_until_it_is_changed_on_an_empty_tape),
        TEST(adjoints_of_before_are_gone),
        TEST(a_rewind_forgets_what_came_after),
        TEST(mistakes_are_refused),
        TEST(old_tangents_survive_growth),
        TEST(tangents_obey_the_budget),
        TEST(a_loop_that_forgets_runs_in_the_memory_of_a_step),
        TEST(what_a_loop_carries_on_may_stand_in_any_order),
        TEST(what_a_loop_has_forgotten_is_found_on_a_checked_tape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
