/* SPDX-License-Identifier: MIT */
/* test_tape_optimise_stops.c - why searches end: every reason, failures, regions of NaN,
 * mistakes; and the memory they take. */
#include "counted.h"
#include "optimise_case.h"

/* Searches one after the other: those of wg_minimise by method, then wg_fit, with a residual
 * more than variables. */
enum { SEARCHES = WG_METHOD_COUNT + 1 };
static wg_status search(int which, wg_tape *t, wg_callback *f, void *data, size_t n, double *x,
                        wg_minimise_options o, wg_minimise_result *r) {
    if (which == WG_METHOD_COUNT) return wg_fit(t, f, data, n + 1, n, x, &o, r, NULL);
    o.method = (wg_method)which;
    if (o.descent.rate == 0) o.descent = (wg_descent){.rule = WG_ADAM, .rate = 0.02};
    return wg_minimise(t, f, data, n, x, &o, r);
}
static wg_callback *of_pairs(int which) {
    return which == WG_METHOD_COUNT ? rosenbrock_residuals : rosenbrock;
}

/* ---- scales ---- */

static wg_status scaled_rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    const wg_status s = rosenbrock(t, n, x, m, y, NULL);
    y[0] = wg_let(t, wg_mul(y[0], *(const double *)data));
    return s;
}

static wg_status scaled_residuals(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const wg_status s = rosenbrock_residuals(t, n, x, m, y, NULL);
    for (size_t i = 0; i < m; i++) y[i] = wg_let(t, wg_mul(y[i], *(const double *)data));
    return s;
}

/* Of gradients whose squares vanish or overflow. */
static void minima_are_found_whatever_the_scale_of_the_objective(void **state) {
    double factor[] = {0x1p-990, 0x1p-400, 1, 0x1p400, 0x1p980};
    const double minimum[2] = {1, 1};
    (void)state;
    for (int which = 0; which < SEARCHES; which++)
        for (size_t i = 0; i < sizeof factor / sizeof *factor; i++) {
            double x[2] = {-1.2, 1};
            wg_minimise_result r;
            if (which == WG_DESCENT) continue; /* its rate belongs to the scale */
            if (which == WG_METHOD_COUNT && factor[i] > 0x1p500)
                continue; /* no sum of squares */
            wg_callback *f = which == WG_METHOD_COUNT ? scaled_residuals : scaled_rosenbrock;
            assert_ok(coded,
                      search(which, coded, f, &factor[i], 2, x, (wg_minimise_options){0}, &r));
            if (!r.converged)
                fail_msg("search %d, factor %g: %s", which, factor[i], wg_stop_text(r.why));
            assert_near(2, x, minimum, 1e-6);
            /* the residual that is over */
            const double unit = which == WG_METHOD_COUNT ? factor[i] * factor[i] : factor[i];
            const double lowest = which == WG_METHOD_COUNT ? unit : 0;
            assert_true(fabs(r.value - lowest) <= unit * 1e-9);
        }
}

/* c (x - 3)^2 + d, data: c and d; and a bell, flat far away. */
static wg_status lifted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const double *const c = data;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_add(wg_mul(c[0], wg_square(wg_sub(x[0], 3))), c[1]));
    return WG_OK;
}
static wg_status bell(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_neg(wg_exp(wg_mul(-0.5, wg_square(x[0])))));
    return WG_OK;
}
/* Where the gradient at the start is tiny, the value is not, there or at the minimum. */
static void values_stay_in_range_whatever_the_gradient(void **state) {
    static const double c[][2] = {
        {1e-310, 1}, {1e-305, -1e10}, {1e-310, 1e300}, {1e160, 1e-90}};
    (void)state;
    for (int which = 0; which < WG_DESCENT; which++) {
        wg_minimise_step history[2];
        wg_minimise_options o = {.history = history, .history_size = 2};
        wg_minimise_result r;
        for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
            double numbers[2] = {c[i][0], c[i][1]}, x[1] = {0};
            assert_ok(coded, search(which, coded, lifted, numbers, 1, x, o, &r));
            assert_true(r.converged);
            assert_true(history[0].value == c[i][0] * 9 + c[i][1]);
            assert_true(r.value == c[i][0] * ((x[0] - 3) * (x[0] - 3)) + c[i][1]);
        }
        double x[1] = {38}, value;
        assert_ok(coded, search(which, coded, bell, NULL, 1, x, o, &r));
        assert_ok(coded, wg_eval(coded, bell, NULL, 1, x, 1, &value));
        assert_true(r.value == value);
    }
}

/* They fall without end, and so fast that squares of their gradients overflow. */
static wg_status falling(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    const int *const which = data;
    (void)n, (void)m;
    if (*which == 0) y[0] = wg_let(t, wg_neg(wg_exp(wg_add(x[0], x[1]))));
    else if (*which == 1) y[0] = wg_let(t, wg_sub(wg_square(x[0]), wg_exp(x[1])));
    else if (*which == 2) y[0] = wg_let(t, wg_neg(wg_cosh(wg_mul(x[0], x[1]))));
    else y[0] = wg_let(t, wg_neg(wg_pow(wg_add(1, wg_square(x[0])), 40)));
    return WG_OK;
}
static void no_minimum_is_found_where_there_is_none(void **state) {
    (void)state;
    for (int which = 0; which < WG_DESCENT; which++)
        for (int i = 0; i < 4; i++) {
            double x[2] = {1, 1};
            wg_minimise_result r;
            assert_ok(coded,
                      search(which, coded, falling, &i, 2, x, (wg_minimise_options){0}, &r));
            if (r.converged)
                fail_msg("%s, function %d: %s at %g, slope %g",
                         wg_method_text((wg_method)which), i, wg_stop_text(r.why), r.value,
                         r.gradient);
        }
}

/* ---- reasons ---- */

/* Its minimum is not 0. */
static wg_status raised(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    const wg_status s = rosenbrock(t, n, x, m, y, data);
    y[0] = wg_let(t, wg_add(y[0], 3));
    return s;
}

static void searches_stop_for_each_reason(void **state) {
    const struct {
        wg_minimise_options o;
        wg_stop why;
    } want[] = {
        {{.gradient = 0.1, .limit = 100000}, WG_STOP_GRADIENT},
        {{.gradient = -1, .step = 0.01, .limit = 100000}, WG_STOP_STEP},
        {{.gradient = -1, .value = 1e-3, .limit = 100000}, WG_STOP_VALUE},
        {{.gradient = -1, .limit = 3}, WG_STOP_LIMIT},
    };
    (void)state;
    for (int which = 0; which < SEARCHES; which++)
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            double x[2] = {-1.2, 1};
            wg_minimise_result r;
            wg_callback *f = which == WG_METHOD_COUNT ? rosenbrock_residuals : raised;
            assert_ok(coded, search(which, coded, f, NULL, 2, x, want[i].o, &r));
            if (r.why != want[i].why)
                fail_msg("search %d stops because of %s, not %s", which, wg_stop_text(r.why),
                         wg_stop_text(want[i].why));
            assert_int_equal(r.converged, want[i].why != WG_STOP_LIMIT);
            if (want[i].why == WG_STOP_LIMIT) assert_int_equal(r.steps, 3);
        }
}

/* Its minimum is not 0, and flat: values cannot tell half of the digits. */
static wg_status flat(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_status s = beale(t, n, x, m, y, data);
    y[0] = wg_let(t, wg_add(wg_cosh(y[0]), 3));
    return s;
}

static void searches_without_a_tolerance_go_on_until_rounding(void **state) {
    const double minimum[2] = {3, 0.5}, one[2] = {1, 1};
    const wg_minimise_options o = {.gradient = -1};
    wg_minimise_result r;
    (void)state;
    for (int which = 0; which < WG_DESCENT; which++) {
        double x[2] = {-0.3, -0.7};
        assert_ok(coded, search(which, coded, goldstein_price, NULL, 2, x, o, &r));
        if (r.why != WG_STOP_ROUNDING) fail_msg("%s", wg_stop_text(r.why));
        assert_true(fabs(x[0]) <= 1e-6 && fabs(x[1] + 1) <= 1e-6 && r.converged);
        x[0] = 2.5, x[1] = 0.3;
        assert_ok(coded, search(which, coded, flat, NULL, 2, x, o, &r));
        assert_true(r.converged && r.steps < 1000);
        assert_near(2, x, minimum, 1e-3); /* of fourth order */
    }
    double x[2] = {-1.2, 1};
    assert_ok(coded, wg_fit(coded, rosenbrock_residuals, NULL, 2, 2, x, &o, &r, NULL));
    assert_true(r.converged);
    assert_near(2, x, one, TOL_FIT);
}

/* x0 and x1 come as their sum only. */
static wg_status sums(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++)
        y[i] = wg_let(t, wg_sub(wg_exp(wg_mul((double)i / 4, wg_add(x[0], x[1]))), 2));
    return WG_OK;
}

static wg_status circle(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_add(wg_square(x[0]), wg_square(x[1])), 4));
    return WG_OK;
}

static void parameters_that_are_not_determined_are_reported(void **state) {
    double x[2] = {0.5, 0.1}, d[2];
    wg_minimise_result r;
    (void)state;
    assert_ok(tape, wg_fit(tape, sums, NULL, 5, 2, x, NULL, &r, d));
    assert_int_equal(r.why, WG_STOP_UNDETERMINED);
    assert_true(!r.converged && d[0] != d[0] && d[1] != d[1]);
    /* fewer residuals than parameters, which reach 0 */
    x[0] = 0.5, x[1] = 0.1;
    assert_ok(tape, wg_fit(tape, circle, NULL, 1, 2, x, NULL, &r, d));
    assert_int_equal(r.why, WG_STOP_UNDETERMINED);
    assert_true(fabs(hypot(x[0], x[1]) - 2) <= TOL_FIT && d[0] != d[0]);
}

/* x^2 whose derivative has the wrong sign. */
static wg_status liar(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_stop_gradient(wg_mul(2, wg_square(x[0]))), wg_square(x[0])));
    return WG_OK;
}
/* x, likewise. */
static wg_status crooked(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++)
        y[i] = wg_let(t, wg_sub(wg_stop_gradient(wg_mul(2, x[0])), x[0]));
    return WG_OK;
}

static void wrong_gradients_stall_a_search(void **state) {
    (void)state;
    for (int which = 0; which < SEARCHES; which++) {
        double x = 3;
        wg_minimise_result r;
        if (which == WG_DESCENT) continue; /* which looks at no value */
        assert_ok(coded, search(which, coded, which == WG_METHOD_COUNT ? crooked : liar, NULL,
                                1, &x, (wg_minimise_options){0}, &r));
        if (r.why != WG_STOP_STALLED) fail_msg("search %d: %s", which, wg_stop_text(r.why));
        assert_true(!r.converged && x == 3);
    }
}

/* ---- the callback for progress ---- */

struct watcher {
    wg_tape *t;
    size_t calls, stop_at;
    wg_minimise_step last;
    wg_callback *f;
};
static int watch(void *context, const wg_minimise_step *s, size_t n, const double *x) {
    struct watcher *const w = context;
    double y[3];
    assert_int_equal(s->step, w->calls);
    assert_true(s->step == 0 || s->evaluations > w->last.evaluations);
    /* the tape is there for the callback */
    assert_ok(w->t, wg_eval(w->t, w->f, NULL, n, x, w->f == rosenbrock ? 1 : 3, y));
    if (w->f == rosenbrock) assert_true(y[0] == s->value);
    w->last = *s;
    w->calls++;
    return s->step == w->stop_at;
}

static void the_callback_sees_every_step_and_may_stop(void **state) {
    (void)state;
    for (int which = 0; which < SEARCHES; which++) {
        wg_minimise_step history[4];
        struct watcher w = {.t = coded, .stop_at = 5, .f = of_pairs(which)};
        double x[2] = {-1.2, 1};
        wg_minimise_options o = {.progress = watch, .context = &w};
        wg_minimise_result r;
        o.history = history, o.history_size = 4;
        memset(history, 0, sizeof history);
        assert_ok(coded, search(which, coded, w.f, NULL, 2, x, o, &r));
        assert_int_equal(r.why, WG_STOP_PROGRESS);
        assert_true(w.calls == 6 && r.steps == 5 && !r.converged);
        assert_true(r.value == w.last.value && r.gradient == w.last.gradient);
        for (size_t k = 0; k < 4; k++) assert_int_equal(history[k].step, k);
        assert_true(which == WG_DESCENT || history[3].value < history[0].value);
    }
}

/* ---- failures and NaN ---- */

static int countdown;
static wg_status fragile(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    if (--countdown < 0) return WG_EDEGENERATE;
    return (*(wg_callback **)data)(t, n, x, m, y, NULL);
}

static void a_failure_is_returned_with_the_best_point(void **state) {
    (void)state;
    for (int which = 0; which < SEARCHES; which++)
        for (int k = 0; k < 12; k++) {
            wg_callback *f = of_pairs(which);
            double x[2] = {-1.2, 1}, first = 24.2, y[2];
            wg_minimise_result r;
            countdown = k;
            const wg_status s =
                search(which, coded, fragile, &f, 2, x, (wg_minimise_options){0}, &r);
            assert_int_equal(s, WG_EDEGENERATE);
            assert_int_equal(r.why, WG_STOP_FAILURE);
            assert_true(!r.converged);
            assert_message(coded,
                           which == WG_METHOD_COUNT ? "wg_fit: wg_" : "wg_minimise: the");
            assert_message(coded, "the function returned WG_EDEGENERATE");
            if (k == 0) assert_true(x[0] == -1.2 && x[1] == 1);
            else if (which != WG_METHOD_COUNT) {
                assert_ok(coded, wg_eval(coded, f, NULL, 2, x, 1, y));
                assert_true(y[0] == r.value && y[0] <= first);
                double g[2];
                assert_ok(coded, wg_gradient(coded, f, NULL, 2, x, y, g));
                assert_near(1, &r.gradient, (const double[1]){hypot(g[0], g[1])}, 1e-14);
            }
        }
}

/* x - log x, which is NaN below 0; as a residual its slope by x. */
static wg_status edge(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    if (data != NULL) {
        for (size_t i = 0; i < m; i++) y[i] = i < n ? wg_let(t, wg_log(x[i])) : wg_constant(1);
        return WG_OK;
    }
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i < n; i++) sum = wg_let(t, wg_add(sum, wg_sub(x[i], wg_log(x[i]))));
    y[0] = sum;
    return WG_OK;
}

static void regions_of_nan_shorten_the_step(void **state) {
    const double one[2] = {1, 1};
    int yes = 1;
    (void)state;
    for (int which = 0; which < SEARCHES; which++) {
        double x[2] = {25, 0.02};
        wg_minimise_options o = {.gradient = 1e-9};
        wg_minimise_result r;
        if (which == WG_DESCENT) continue;
        assert_ok(coded, search(which, coded, edge, which == WG_METHOD_COUNT ? &yes : NULL, 2,
                                x, o, &r));
        if (!r.converged) fail_msg("search %d: %s", which, wg_stop_text(r.why));
        assert_near(2, x, one, TOL_MINIMUM);
    }
    /* descent does not go back; the best point does */
    double x[2] = {3, 0.02};
    wg_minimise_options o = {.method = WG_DESCENT, .descent = {.rate = 10}};
    wg_minimise_result r;
    assert_int_equal(wg_minimise(tape, edge, NULL, 2, x, &o, &r), WG_ENONFINITE);
    assert_message(tape, "wg_minimise: the value or the gradient after step");
    assert_true(x[0] > 0 && x[1] > 0 && r.why == WG_STOP_FAILURE);
    for (int which = 0; which < SEARCHES; which++) {
        x[0] = -1, x[1] = 2;
        assert_int_equal(search(which, coded, edge, which == WG_METHOD_COUNT ? &yes : NULL, 2,
                                x, (wg_minimise_options){0}, &r),
                         WG_ENONFINITE);
        assert_true(x[0] == -1 && x[1] == 2 && r.why == WG_STOP_FAILURE);
    }
}

/* ---- mistakes ---- */

#define REFUSED(call, status, part)                                                            \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        assert_message(tape, part);                                                            \
        assert_int_equal(r.why, WG_STOP_FAILURE);                                              \
    } while (0)

static wg_status from_inside(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    double z[2] = {0, 0};
    wg_minimise_result r;
    (void)n, (void)x, (void)m, (void)data;
    y[0] = wg_constant(1);
    return wg_minimise(t, bowl, NULL, 2, z, NULL, &r);
}

static wg_status one_matrix(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                            void *data) {
    (void)n, (void)x, (void)m, (void)data;
    y[0] = wg_mat_constant(t, 1, 1, &(double){1}, 1);
    return WG_OK;
}

static void mistakes_are_refused_by_name(void **state) {
    const double low[2] = {0, NAN}, high[2] = {1, 1};
    double x[2] = {0.5, 0.5};
    const wg_mat_result a = {x, 2, 1, 1}, b = {NULL, 2, 1, 0};
    wg_minimise_result r;
    wg_minimise_options o = {0};
    (void)state;
    assert_int_equal(wg_minimise(NULL, bowl, NULL, 2, x, NULL, &r), WG_ENULL);
    assert_int_equal(wg_mat_minimise(NULL, one_matrix, NULL, 1, &a, NULL, &r), WG_ENULL);
    assert_int_equal(wg_fit(NULL, bowl, NULL, 1, 2, x, NULL, &r, NULL), WG_ENULL);
    assert_int_equal(wg_function_minimise(NULL, NULL, 1, NULL, NULL, x, NULL, &r), WG_ENULL);
    assert_int_equal(wg_minimise(tape, bowl, NULL, 2, x, NULL, NULL), WG_ENULL);
    REFUSED(wg_minimise(tape, NULL, NULL, 2, x, NULL, &r), WG_ENULL,
            "wg_minimise: the function is NULL");
    REFUSED(wg_minimise(tape, bowl, NULL, 2, NULL, NULL, &r), WG_ENULL, "x is NULL, with 2");
    REFUSED(wg_fit(tape, NULL, NULL, 1, 2, x, NULL, &r, NULL), WG_ENULL, "wg_fit: ");
    REFUSED(wg_fit(tape, bowl, NULL, (size_t)1 << 40, 2, x, NULL, &r, NULL), WG_ESHAPE,
            "LAPACK");
    REFUSED(wg_mat_minimise(tape, one_matrix, NULL, 1, NULL, NULL, &r), WG_ENULL, "x is NULL");
    REFUSED(wg_mat_minimise(tape, one_matrix, NULL, 1, &a, NULL, &r), WG_ESHAPE,
            "leading dimension");
    REFUSED(wg_mat_minimise(tape, one_matrix, NULL, 1, &b, NULL, &r), WG_ENULL, "matrix of x");
    REFUSED(wg_function_minimise(tape, NULL, 1, NULL, NULL, x, NULL, &r), WG_ENULL,
            "wg_function_minimise: the function is NULL");
    REFUSED(wg_minimise(tape, from_inside, NULL, 2, x, NULL, &r), WG_EMODE,
            "by the function of a driver");
    o.method = WG_NEWTON_CG;
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EMODE, "WG_KEEP_CODE");
    o.method = WG_METHOD_COUNT;
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "no method");
    o.method = WG_DESCENT, o.descent.rate = -1;
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "option of the descent");
    o = (wg_minimise_options){.step = -1};
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "tolerances");
    o = (wg_minimise_options){.damping = INFINITY};
    REFUSED(wg_fit(tape, bowl, NULL, 1, 2, x, &o, &r, NULL), WG_EARG, "damping");
    o = (wg_minimise_options){.lower = low, .upper = high};
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "x[1] is 0.5");
    x[1] = 2, o.lower = NULL;
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "x[1] is 2");
    x[1] = NAN, o.upper = NULL;
    REFUSED(wg_minimise(tape, bowl, NULL, 2, x, &o, &r), WG_EARG, "x[1] is nan");
    x[1] = 0.5;
    assert_ok(tape, wg_minimise(tape, bowl, NULL, 2, x, NULL,
                                &r)); /* the tape is as good as before */
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

/* ---- memory ---- */

struct memory_watch {
    wg_tape *t;
    uint64_t calls;
    size_t steps;
};
static int watch_memory(void *context, const wg_minimise_step *s, size_t n, const double *x) {
    struct memory_watch *const w = context;
    wg_stats stats;
    (void)n, (void)x;
    assert_int_equal(wg_tape_stats(w->t, &stats), WG_OK);
    if (s->step == 1) w->calls = stats.memory_calls;
    if (s->step > 1 && stats.memory_calls != w->calls)
        fail_msg("allocated in step %zu", s->step);
    w->steps = s->step;
    return 0;
}

static void nothing_is_allocated_after_the_first_step(void **state) {
    enum { N = 600 };
    static double x[N];
    (void)state;
    for (int which = 0; which < SEARCHES - 1; which++) {
        struct memory_watch w = {.t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE})};
        wg_minimise_options o = {.progress = watch_memory, .context = &w, .limit = 20};
        wg_minimise_result r;
        for (int i = 0; i < N; i++) x[i] = i % 2 ? 1 : -1.2;
        o.gradient = 1e-9;
        assert_ok(w.t, search(which, w.t, rosenbrock, NULL, N, x, o, &r));
        assert_true(w.steps > 5);
        wg_tape_free(w.t);
    }
}

static void refused_memory_fails_each_search_cleanly(void **state) {
    (void)state;
    for (int which = 0; which < SEARCHES; which++) {
        int done = 0;
        for (size_t k = 0; !done; k++) {
            struct counted m = counted_start();
            wg_tape *const t =
                wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .memory = counted_memory(&m)});
            double x[2] = {-1.2, 1};
            wg_minimise_result r;
            assert_non_null(t);
            m.fail_at = m.asked + k;
            const wg_status s = search(which, t, of_pairs(which), NULL, 2, x,
                                       (wg_minimise_options){.limit = 5}, &r);
            done = m.refused == 0;
            if (m.refused > 0 && s != WG_OK) {
                assert_int_equal(s, WG_ENOMEM);
                assert_int_equal(r.why, WG_STOP_FAILURE);
            } else assert_int_equal(s, WG_OK);
            const size_t left = m.ranges;
            wg_tape_free(t);
            assert_true(m.wrong == 0 && m.ranges == 0 && left > 0);
        }
    }
}

static void budgets_bound_a_search(void **state) {
    wg_minimise_result r;
    size_t least = 0;
    (void)state;
    for (size_t pages = 8; least == 0; pages += 4) {
        wg_tape *const t =
            wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .budget = pages * 4096});
        double x[40];
        wg_stats before, after;
        if (t == NULL) continue;
        for (int i = 0; i < 40; i++) x[i] = i % 2 ? 1 : -1.2;
        assert_int_equal(wg_tape_stats(t, &before), WG_OK);
        const wg_status s = wg_minimise(t, rosenbrock, NULL, 40, x, NULL, &r);
        assert_int_equal(wg_tape_stats(t, &after), WG_OK);
        assert_true(after.max_committed_bytes <= pages * 4096);
        if (s == WG_OK) least = pages;
        else {
            assert_int_equal(s, WG_EBUDGET);
            assert_true(x[0] == -1.2);
        }
        wg_tape_free(t);
    }
    assert_true(least > 8 && least < 256);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minima_are_found_whatever_the_scale_of_the_objective),
        cmocka_unit_test(values_stay_in_range_whatever_the_gradient),
        cmocka_unit_test(no_minimum_is_found_where_there_is_none),
        cmocka_unit_test(searches_stop_for_each_reason),
        cmocka_unit_test(searches_without_a_tolerance_go_on_until_rounding),
        cmocka_unit_test(parameters_that_are_not_determined_are_reported),
        cmocka_unit_test(wrong_gradients_stall_a_search),
        cmocka_unit_test(the_callback_sees_every_step_and_may_stop),
        cmocka_unit_test(a_failure_is_returned_with_the_best_point),
        cmocka_unit_test(regions_of_nan_shorten_the_step),
        cmocka_unit_test(mistakes_are_refused_by_name),
        cmocka_unit_test(nothing_is_allocated_after_the_first_step),
        cmocka_unit_test(refused_memory_fails_each_search_cleanly),
        cmocka_unit_test(budgets_bound_a_search),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
