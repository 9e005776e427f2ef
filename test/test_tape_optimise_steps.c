/* SPDX-License-Identifier: MIT */
/* test_tape_optimise_steps.c - steps of descent: rules against their formulas in long double,
 * rates, clipping, mistakes. */
#include "optimise_case.h"

enum { N = 5, STEPS = 12 };

/* A gradient that depends on the step only. */
static double gradient_of(int step, int j) { return sin(1.7 * step + j) * pow(4, j - 2); }

/* x after these steps, from the published formulas. */
static void in_long_double(const wg_descent *o, long double *x) {
    const long double r = 0.1L, mu = 0.8L, b1 = 0.7L, b2 = 0.6L, e = 1e-3L;
    long double v[N] = {0}, s[N] = {0};
    for (int k = 0; k < STEPS; k++)
        for (int j = 0; j < N; j++) {
            const long double g = gradient_of(k, j);
            long double mean, square;
            switch (o->rule) {
            case WG_MOMENTUM:
                v[j] = mu * v[j] - r * g;
                x[j] += v[j];
                break;
            case WG_NESTEROV: /* Sutskever's: x + mu v is what is kept in x */
                x[j] -= mu * v[j];
                v[j] = mu * v[j] - r * g;
                x[j] += v[j] + mu * v[j];
                break;
            case WG_RMSPROP:
                s[j] = b2 * s[j] + (1 - b2) * g * g;
                x[j] -= r * g / (sqrtl(s[j]) + e);
                break;
            case WG_ADAM:
                v[j] = b1 * v[j] + (1 - b1) * g;
                s[j] = b2 * s[j] + (1 - b2) * g * g;
                mean = v[j] / (1 - powl(b1, k + 1));
                square = s[j] / (1 - powl(b2, k + 1));
                x[j] -= r * mean / (sqrtl(square) + e);
                break;
            case WG_ADAGRAD:
                s[j] += g * g;
                x[j] -= r * g / (sqrtl(s[j]) + e);
                break;
            default:
                x[j] -= r * g;
            }
        }
}

static void rules_take_the_steps_of_their_formulas(void **state) {
    (void)state;
    for (int rule = 0; rule < WG_RULE_COUNT; rule++) {
        const wg_descent o = {.rule = (wg_rule)rule,
                              .rate = 0.1,
                              .momentum = 0.8,
                              .beta1 = 0.7,
                              .beta2 = 0.6,
                              .small = 1e-3};
        double x[N], g[N], memory[2 * N] = {0}, size = 1;
        double parts[N], split[2 * N] = {0};
        long double ref[N];
        for (int j = 0; j < N; j++) parts[j] = x[j] = 1 - 0.3 * j, ref[j] = x[j];
        for (int k = 0; k < STEPS; k++) {
            for (int j = 0; j < N; j++) g[j] = gradient_of(k, j);
            assert_int_equal(wg_descent_step(&o, (size_t)k, N, x, g, memory), WG_OK);
            /* the same of two matrices, the first with a gap: rows 1, columns 2, ld 2 */
            const double gaps[3] = {g[0], NAN, g[1]};
            double wide[3] = {parts[0], -5, parts[1]};
            const wg_mat_result at[2] = {{wide, 1, 2, 2}, {parts + 2, 3, 1, 0}};
            const wg_mat_result by[2] = {{(double *)gaps, 1, 2, 2}, {g + 2, 3, 1, 0}};
            assert_int_equal(wg_mat_descent_step(&o, (size_t)k, 2, at, by, split), WG_OK);
            assert_true(wide[1] == -5);
            parts[0] = wide[0], parts[1] = wide[2];
            for (int j = 0; j < N; j++) size = fmax(size, fabs(x[j]));
        }
        in_long_double(&o, ref);
        assert_memory_equal(parts, x, sizeof x);
        assert_memory_equal(split, memory, sizeof memory);
        for (int j = 0; j < N; j++)
            if (!(fabsl(x[j] - ref[j]) <= TOL_DESCENT_ULP * DBL_EPSILON * size))
                fail_msg("%s: x[%d] = %.17g, not %.17Lg", wg_rule_text(o.rule), j, x[j],
                         ref[j]);
        assert_int_equal(wg_descent_numbers(&o, N), rule == 0         ? 0
                                                    : rule == WG_ADAM ? 2 * N
                                                                      : N);
    }
}

static void searches_by_descent_take_the_same_steps(void **state) {
    (void)state;
    for (int rule = 0; rule < WG_RULE_COUNT; rule++) {
        wg_minimise_options o = {.method = WG_DESCENT, .limit = 7, .gradient = -1};
        o.descent = (wg_descent){.rule = (wg_rule)rule, .rate = 0.05, .clip_norm = 3};
        double x[3] = {4, 4, 4}, y[3] = {4, 4, 4}, g[3], value, memory[6] = {0};
        wg_minimise_result r;
        assert_ok(tape, wg_minimise(tape, bowl, NULL, 3, x, &o, &r));
        assert_int_equal(r.why, WG_STOP_LIMIT);
        assert_true(!r.converged && r.steps == 7 && r.evaluations == 8);
        for (size_t k = 0; k < 7; k++) {
            assert_ok(tape, wg_gradient(tape, bowl, NULL, 3, y, &value, g));
            assert_int_equal(wg_descent_step(&o.descent, k, 3, y, g, memory), WG_OK);
        }
        assert_memory_equal(x, y, sizeof x);
    }
}

static double halves(void *context, size_t step) {
    ++*(int *)context;
    return step < 3 ? 0.5 : NAN;
}

static void rates_follow_their_schedules(void **state) {
    wg_descent o = {.rate = 2, .decay = 0.25, .period = 4};
    int calls = 0;
    (void)state;
    assert_true(wg_descent_rate(&o, 9) == 2);
    o.schedule = WG_RATE_STEPS;
    assert_true(wg_descent_rate(&o, 3) == 2 && wg_descent_rate(&o, 4) == 0.5);
    assert_true(wg_descent_rate(&o, 11) == 0.125);
    o.schedule = WG_RATE_EXPONENTIAL;
    assert_close(wg_descent_rate(&o, 2), 1);
    assert_close(wg_descent_rate(&o, 4), 0.5);
    o.schedule = WG_RATE_COSINE;
    assert_true(wg_descent_rate(&o, 0) == 2);
    assert_close(wg_descent_rate(&o, 2), 1);
    assert_true(wg_descent_rate(&o, 4) == 0 && wg_descent_rate(&o, 5) == 0);
    o.warmup = 3; /* 2 / 4, 4 / 4, 6 / 4, then the schedule from its beginning */
    assert_true(wg_descent_rate(&o, 0) == 0.5 && wg_descent_rate(&o, 1) == 1);
    assert_true(wg_descent_rate(&o, 2) == 1.5 && wg_descent_rate(&o, 3) == 2);
    assert_close(wg_descent_rate(&o, 5), 1);
    assert_true(wg_descent_rate(NULL, 7) == 0.01);
    o.period = 0;
    assert_nan(wg_descent_rate(&o, 7));
    o.rate_of = halves;
    o.context = &calls;
    assert_true(wg_descent_rate(&o, 2) == 0.5 && calls == 1);
    double x = 1, g = 1;
    assert_int_equal(wg_descent_step(&o, 3, 1, &x, &g, NULL), WG_ENONFINITE);
    assert_true(x == 1);
    /* in a search the period is its limit */
    wg_minimise_step history[101];
    wg_minimise_options s = {.method = WG_DESCENT, .limit = 100, .gradient = -1};
    wg_minimise_result r;
    s.descent = (wg_descent){.rate = 0.125, .schedule = WG_RATE_COSINE};
    s.history = history, s.history_size = 101;
    assert_ok(tape, wg_minimise(tape, bowl, NULL, 1, &x, &s, &r));
    assert_close(history[50].rate, 0.0625);
    assert_true(history[0].rate == 0.125 && history[100].rate == 0 && history[100].step == 100);
}

static void gradients_are_clipped_by_value_and_by_norm(void **state) {
    wg_descent o = {.rate = 1, .clip_value = 0.5};
    const double g[2] = {-3, 0.25};
    double x[2] = {0, 0};
    (void)state;
    assert_int_equal(wg_descent_step(&o, 0, 2, x, g, NULL), WG_OK);
    assert_true(x[0] == 0.5 && x[1] == -0.25);
    o.clip_value = 0, o.clip_norm = 0.5;
    x[0] = x[1] = 0;
    assert_int_equal(wg_descent_step(&o, 0, 2, x, g, NULL), WG_OK);
    assert_close(x[0], 1.5 / hypot(3, 0.25));
    assert_close(x[1], -0.125 / hypot(3, 0.25));
    o.clip_value = 0.25; /* first by value: to a length of sqrt(1/8) */
    x[0] = x[1] = 0;
    assert_int_equal(wg_descent_step(&o, 0, 2, x, g, NULL), WG_OK);
    assert_true(x[0] == 0.25 && x[1] == -0.25);
    o.clip_norm = 0.25;
    x[0] = x[1] = 0;
    assert_int_equal(wg_descent_step(&o, 0, 2, x, g, NULL), WG_OK);
    assert_close(x[0], 0.25 / sqrt(2));
    /* a gradient too long for its square */
    const double far[2] = {3e200, 4e200};
    o = (wg_descent){.rate = 1, .clip_norm = 1};
    x[0] = x[1] = 0;
    assert_int_equal(wg_descent_step(&o, 0, 2, x, far, NULL), WG_OK);
    assert_close(x[0], -0.6);
    assert_close(x[1], -0.8);
}

static void what_is_no_step_changes_nothing(void **state) {
    const wg_descent wrong[] = {
        {.rule = WG_RULE_COUNT},
        {.schedule = WG_SCHEDULE_COUNT},
        {.rate = -1},
        {.momentum = 1},
        {.beta1 = -0.1},
        {.beta2 = 1},
        {.small = -1},
        {.clip_norm = -1},
        {.clip_value = NAN},
        {.rate = NAN},
        {.schedule = WG_RATE_STEPS},
        {.schedule = WG_RATE_COSINE, .period = 3, .decay = -1},
    };
    const wg_descent adam = {.rule = WG_ADAM};
    double x[2] = {1, 2}, g[2] = {1, 1}, memory[4] = {0}, bad[2] = {1, NAN};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(wg_descent_step(&wrong[i], 0, 2, x, g, memory), WG_EARG);
    assert_int_equal(wg_descent_step(&adam, 0, 2, NULL, g, memory), WG_ENULL);
    assert_int_equal(wg_descent_step(&adam, 0, 2, x, NULL, memory), WG_ENULL);
    assert_int_equal(wg_descent_step(&adam, 0, 2, x, g, NULL), WG_ENULL);
    assert_int_equal(wg_descent_step(&adam, 0, 2, x, bad, memory), WG_ENONFINITE);
    bad[1] = INFINITY;
    assert_int_equal(wg_descent_step(&adam, 0, 2, x, bad, memory), WG_ENONFINITE);
    const wg_mat_result a = {x, 2, 1, 0}, b = {g, 1, 2, 0}, c = {NULL, 2, 1, 0};
    const wg_mat_result d = {g, 2, 1, 1};
    assert_int_equal(wg_mat_descent_step(&adam, 0, 1, &a, &b, memory), WG_ESHAPE);
    assert_int_equal(wg_mat_descent_step(&adam, 0, 1, &a, &d, memory), WG_ESHAPE);
    assert_int_equal(wg_mat_descent_step(&adam, 0, 1, &a, &c, memory), WG_ENULL);
    assert_int_equal(wg_mat_descent_step(&adam, 0, 1, NULL, &a, memory), WG_ENULL);
    assert_int_equal(wg_mat_descent_step(&adam, 0, 0, NULL, NULL, NULL), WG_OK);
    assert_int_equal(wg_descent_step(&adam, 0, 0, NULL, NULL, NULL), WG_OK);
    assert_true(x[0] == 1 && x[1] == 2 && memory[0] == 0 && memory[2] == 0);
    assert_string_equal(wg_rule_text(WG_ADAM), "Adam");
    assert_string_equal(wg_rule_text((wg_rule)99), "unknown rule");
    assert_string_equal(wg_method_text(WG_LBFGS), "L-BFGS");
    assert_string_equal(wg_method_text((wg_method)-1), "unknown method");
    assert_string_equal(wg_stop_text((wg_stop)99), "unknown reason");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_take_the_steps_of_their_formulas),
        cmocka_unit_test(searches_by_descent_take_the_same_steps),
        cmocka_unit_test(rates_follow_their_schedules),
        cmocka_unit_test(gradients_are_clipped_by_value_and_by_norm),
        cmocka_unit_test(what_is_no_step_changes_nothing),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
