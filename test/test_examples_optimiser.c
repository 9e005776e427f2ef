/* SPDX-License-Identifier: MIT */
/* The optimiser of the examples: its rules against their formulas, schedules, clipping, limits.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "examples/optimiser.h"

#include <cmocka.h>

/* The order of operations may differ. */
static const double rounding = 16 * DBL_EPSILON;

static void close_to(double a, double b) {
    if (!(fabs(a - b) <= rounding * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

/* A bowl: a (x - 1)^2 / 2 + b (y + 2)^2 / 2. */
static const double curvature[2] = {3, 0.5}, centre[2] = {1, -2};

static int bowl(void *ctx, size_t n, const double *x, double *value, double *g) {
    (void)ctx;
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        g[i] = curvature[i] * (x[i] - centre[i]);
        *value += g[i] * (x[i] - centre[i]) / 2;
    }
    return 0;
}

/* Where a rule is after k steps from 0. */
static void after(struct opt_options o, size_t k, double *x) {
    x[0] = x[1] = 0;
    o.limit = k;
    assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, NULL), OPT_LIMIT);
}

static double slope(size_t i, double x) { return curvature[i] * (x - centre[i]); }

static void rules_take_the_steps_of_their_formulas(void **state) {
    (void)state;
    for (int rule = 0; rule < OPT_LBFGS; rule++) {
        const struct opt_options o = {.rule = (opt_rule)rule,
                                      .rate = 0.1,
                                      .momentum = 0.8,
                                      .beta1 = 0.7,
                                      .beta2 = 0.6,
                                      .small = 1e-3};
        double one[2], two[2];
        after(o, 1, one);
        after(o, 2, two);
        for (size_t i = 0; i < 2; i++) {
            const double g = slope(i, 0), h = slope(i, one[i]), r = 0.1, e = 1e-3;
            const double v = -r * g, vv = 0.8 * v - r * h, s = 0.4 * g * g;
            double first = -r * g, second = -r * h;
            switch (rule) {
            case OPT_MOMENTUM:
                second = vv;
                break;
            case OPT_NESTEROV:
                first = 0.8 * v - r * g;
                second = 0.8 * vv - r * h;
                break;
            case OPT_RMSPROP:
                first = -r * g / (sqrt(s) + e);
                second = -r * h / (sqrt(0.6 * s + 0.4 * h * h) + e);
                break;
            case OPT_ADAM:
                first = -r * g / (fabs(g) + e);
                second = -r * ((0.7 * 0.3 * g + 0.3 * h) / (1 - 0.7 * 0.7)) /
                         (sqrt((0.6 * s + 0.4 * h * h) / (1 - 0.6 * 0.6)) + e);
                break;
            case OPT_ADAGRAD:
                first = -r * g / (fabs(g) + e);
                second = -r * h / (sqrt(g * g + h * h) + e);
                break;
            default:
                break;
            }
            close_to(one[i], first);
            close_to(two[i], one[i] + second);
        }
    }
}

static void rates_follow_their_schedules(void **state) {
    (void)state;
    struct opt_options o = {.rate = 2, .decay = 0.25, .period = 4};
    assert_true(opt_rate(&o, 9) == 2);
    o.schedule = OPT_STEPS;
    assert_true(opt_rate(&o, 3) == 2 && opt_rate(&o, 4) == 0.5 && opt_rate(&o, 11) == 0.125);
    o.schedule = OPT_EXPONENTIAL;
    close_to(opt_rate(&o, 2), 1);
    close_to(opt_rate(&o, 4), 0.5);
    o.schedule = OPT_COSINE;
    close_to(opt_rate(&o, 0), 2);
    close_to(opt_rate(&o, 2), 1);
    assert_true(opt_rate(&o, 4) == 0 && opt_rate(&o, 5) == 0);
    o.period = 0;
    o.limit = 100; /* then that is the period */
    close_to(opt_rate(&o, 50), 1);
    memset(&o, 0, sizeof o);
    assert_true(opt_rate(&o, 7) == 0.01);
}

static void gradients_are_clipped_by_value_and_by_norm(void **state) {
    (void)state;
    struct opt_options o = {.rate = 1, .clip_value = 0.5};
    double x[2];
    after(o, 1, x); /* the gradient at 0 is (-3, 1) */
    assert_true(x[0] == 0.5 && x[1] == -0.5);
    o.clip_value = 0;
    o.clip_norm = 0.1;
    struct opt_step history[2];
    o.history = history;
    after(o, 1, x);
    close_to(x[0], 0.3 / sqrt(10));
    close_to(x[1], -0.1 / sqrt(10));
    close_to(history[0].slope, sqrt(10)); /* before clipping */
    o.clip_norm = 10;                     /* short enough */
    after(o, 1, x);
    assert_true(x[0] == 3 && x[1] == -1);
}

static void searches_converge_and_keep_their_history(void **state) {
    (void)state;
    struct opt_step history[1001];
    struct opt_options o = {.rate = 0.3, .tolerance = 1e-10, .history = history};
    o.schedule = OPT_STEPS;
    o.period = 200;
    struct opt_result r = {0};
    double x[2] = {0, 0};
    assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, &r), OPT_CONVERGED);
    assert_true(fabs(x[0] - 1) <= 1e-10 && fabs(x[1] + 2) <= 2e-10);
    assert_int_equal(r.evaluations, r.steps + 1);
    assert_true(r.steps < 1000 && r.steps > 10);
    for (size_t k = 0; k <= r.steps; k++) {
        assert_int_equal(history[k].step, k);
        assert_true(history[k].rate == opt_rate(&o, k));
        assert_true(k == 0 || history[k].value <= history[k - 1].value);
        assert_int_equal(history[k].slope <= 1e-10, k == r.steps);
    }
    assert_true(r.value == history[r.steps].value && r.slope == history[r.steps].slope);
    /* at the minimum there is nothing to do */
    assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, &r), OPT_CONVERGED);
    assert_int_equal(r.steps, 0);
}

static int stop_at_three(void *ctx, const struct opt_step *s, size_t n, const double *x) {
    (void)n, (void)x;
    ++*(int *)ctx;
    return s->step == 3;
}

/* Gives up, or turns into a NaN, at the fourth call. */
static int fragile(void *ctx, size_t n, const double *x, double *value, double *g) {
    int *calls = ctx;
    const int failed = bowl(NULL, n, x, value, g);
    if (++calls[0] < 4) return failed;
    g[1] = (double)NAN;
    return calls[1];
}

static void searches_stop_when_told_and_where_they_must(void **state) {
    (void)state;
    for (int rule = 0; rule < OPT_RULE_COUNT; rule++) {
        if (rule == OPT_LBFGS && !opt_has_lbfgs()) continue;
        int seen = 0, calls[2] = {0, 0};
        struct opt_options o = {.rule = (opt_rule)rule, .progress = stop_at_three};
        o.progress_ctx = &seen;
        struct opt_result r = {0};
        double x[2] = {0, 0};
        assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, &r), OPT_STOPPED);
        assert_int_equal(seen, 4);
        assert_int_equal(r.steps, 3);
        o.progress = NULL;
        x[0] = x[1] = 0;
        assert_int_equal(opt_minimise(fragile, calls, 2, x, &o, &r), OPT_ENONFINITE);
        calls[0] = 0, calls[1] = 1;
        x[0] = x[1] = 0;
        assert_int_equal(opt_minimise(fragile, calls, 2, x, &o, &r), OPT_ECALLBACK);
        o.limit = 2;
        x[0] = x[1] = 0;
        assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, &r), OPT_LIMIT);
        assert_int_equal(r.steps, 2);
    }
}

static void mistakes_are_refused(void **state) {
    (void)state;
    double x[2] = {0, 0};
    assert_int_equal(opt_minimise(NULL, NULL, 2, x, NULL, NULL), OPT_EARG);
    assert_int_equal(opt_minimise(bowl, NULL, 2, NULL, NULL, NULL), OPT_EARG);
    assert_int_equal(opt_minimise(bowl, NULL, 0, x, NULL, NULL), OPT_EARG);
    const struct opt_options wrong[] = {
        {.rule = OPT_RULE_COUNT},
        {.schedule = OPT_SCHEDULE_COUNT},
        {.rate = -1},
        {.momentum = 1},
        {.beta1 = -0.1},
        {.beta2 = 1},
        {.tolerance = -1},
        {.clip_norm = -1},
        {.rate = (double)NAN},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(opt_minimise(bowl, NULL, 2, x, &wrong[i], NULL), OPT_EARG);
    assert_true(x[0] == 0 && x[1] == 0);
    assert_string_equal(opt_rule_text(OPT_ADAM), "Adam");
    assert_string_equal(opt_status_text(OPT_CONVERGED), "converged");
    assert_string_equal(opt_rule_text((opt_rule)99), "unknown rule");
    assert_string_equal(opt_status_text((opt_status)99), "unknown status");
}

static void lbfgs_finds_the_minimum_or_says_what_is_missing(void **state) {
    (void)state;
    const struct opt_options o = {.rule = OPT_LBFGS, .tolerance = 1e-10};
    struct opt_result r = {0};
    double x[2] = {0, 0};
    const opt_status status = opt_minimise(bowl, NULL, 2, x, &o, &r);
    if (!opt_has_lbfgs()) {
        assert_int_equal(status, OPT_EABSENT);
        assert_non_null(strstr(opt_status_text(status), "liblbfgs-dev"));
        return;
    }
    assert_int_equal(status, OPT_CONVERGED);
    assert_true(r.steps > 0 && r.evaluations >= r.steps);
    assert_true(fabs(x[0] - 1) <= 1e-10 && fabs(x[1] + 2) <= 2e-10);
    assert_int_equal(opt_minimise(bowl, NULL, 2, x, &o, &r), OPT_CONVERGED);
    assert_int_equal(r.steps, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_take_the_steps_of_their_formulas),
        cmocka_unit_test(rates_follow_their_schedules),
        cmocka_unit_test(gradients_are_clipped_by_value_and_by_norm),
        cmocka_unit_test(searches_converge_and_keep_their_history),
        cmocka_unit_test(searches_stop_when_told_and_where_they_must),
        cmocka_unit_test(mistakes_are_refused),
        cmocka_unit_test(lbfgs_finds_the_minimum_or_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
