/* SPDX-License-Identifier: MIT */
/* Events and jumps: against solutions in closed form, differentiated by complex steps. */
#include "ode_case.h"

/* ---- systems with a closed form ---------------------------------------------------------- */

/* A ball: height and speed; p: gravity, what is left of the speed after a bounce. */
static wg_status fall(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                      void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = x[2];
    dy[1] = wg_let(t, wg_neg(x[3]));
    return WG_OK;
}
static wg_status height(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *e,
                        void *data) {
    (void)t, (void)n, (void)m, (void)data;
    e[0] = x[1];
    return WG_OK;
}
static wg_status bounce(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = x[1];
    y[1] = wg_let(t, wg_mul(wg_neg(x[4]), x[2]));
    return WG_OK;
}

/* The state at time T, by flights; x: both states, both parameters. */
static void ball(double complex T, const double complex *x, double complex *y,
                 double complex *r) {
    double complex h = x[0], v = x[1], t = 0;
    (void)r;
    for (;;) {
        const double complex land = t + (v + csqrt(v * v + 2 * x[2] * h)) / x[2];
        if (!(creal(land) < creal(T))) break;
        v = -x[3] * (v - x[2] * (land - t));
        h = 0;
        t = land;
    }
    y[0] = h + v * (T - t) - x[2] / 2 * (T - t) * (T - t);
    y[1] = v - x[2] * (T - t);
}

/* y' = -p0 y cos t; where y falls to p1 it becomes p2 y + t/2. The integral of p0 y cos t is
 * what it has lost on the way. */
static wg_status decay(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *dy,
                       void *data) {
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_neg(wg_mul(wg_mul(x[2], x[1]), wg_cos(x[0]))));
    return WG_OK;
}
static wg_status lost(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                      void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_mul(wg_mul(x[2], x[1]), wg_cos(x[0])));
    return WG_OK;
}
static wg_status low(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *e, void *data) {
    (void)n, (void)m, (void)data;
    e[0] = wg_let(t, wg_sub(x[1], x[3]));
    return WG_OK;
}
static wg_status refill(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_mul(x[4], x[1]), wg_mul(0.5, x[0])));
    return WG_OK;
}

static void refilled(double complex T, const double complex *x, double complex *y,
                     double complex *r) {
    double complex now = x[0], t = 0;
    r[0] = 0;
    for (;;) {
        const double complex at = clog(now / x[2]) / x[1] + csin(t);
        if (!(creal(at) < sin(creal(T)))) break;
        r[0] += now - x[2];
        t = casin(at);
        now = x[3] * x[2] + t / 2;
    }
    y[0] = now * cexp(-x[1] * (csin(T) - csin(t)));
    r[0] += now - y[0];
}

/* ---- one call, weighted ------------------------------------------------------------------ */

enum { TIMES = 5, MOST = 4 };
static const double times[TIMES] = {0, 0.3, 0.65, 0.9, 1.3};

typedef struct problem {
    const char *name;
    size_t n, m, r;
    wg_callback *f, *g, *e, *j;
    void (*exact)(double complex T, const double complex *x, double complex *y,
                  double complex *r);
    double x[MOST];
} problem;
static const problem falling = {"ball", 2,      2,      0,    fall,
                                NULL,   height, bounce, ball, {1.1, 0.3, 9.81, 0.8}};
static const problem filling = {"decay", 1,   3,      1,        decay,
                                lost,    low, refill, refilled, {1.5, 2, 0.9, 1.7}};

static wg_ode *ode_with_events(const problem *c) {
    wg_function *const f = rhs_of(c->f, c->n, c->m, c->n), *const e =
                                                               rhs_of(c->e, c->n, c->m, 1);
    wg_function *const j = rhs_of(c->j, c->n, c->m, c->n);
    wg_function *const g = c->r != 0 ? rhs_of(c->g, c->n, c->m, c->r) : NULL;
    const wg_ode_system system = {.rhs = f, .integrand = g, .event = e, .jump = j, .stiff = 1};
    wg_ode *k = NULL;
    if (wg_ode_new(coded, &system, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free(f), wg_function_free(g), wg_function_free(e), wg_function_free(j);
    return k;
}

typedef struct asked {
    const problem *c;
    const wg_ode *k;
    wg_ode_options o;
    int columns; /* the same parameters in each interval */
    wg_ode_report report;
} asked;

static double weight(size_t i, size_t j) { return 0.5 + 0.25 * (double)i - 0.375 * (double)j; }

static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                          void *data) {
    asked *const a = data;
    const problem *const c = a->c;
    wg_real p[MOST * TIMES];
    const size_t columns = a->columns ? TIMES - 1 : 1;
    wg_mat y, r;
    (void)n, (void)m;
    for (size_t i = 0; i < c->m * columns; i++) p[i] = x[c->n + i % c->m];
    const wg_status s =
        wg_ode_solve(t, a->k, &a->o, TIMES, times, wg_mat_gather(t, c->n, 1, x),
                     wg_mat_gather(t, c->m, columns, p), &y, c->r != 0 ? &r : NULL, &a->report);
    if (s != WG_OK) return s;
    wg_real sum = wg_constant(0);
    for (size_t j = 0; j < TIMES; j++)
        for (size_t i = 0; i < c->n + c->r; i++)
            sum = wg_let(
                t, wg_add(sum, wg_mul(weight(i, j), i < c->n ? wg_mat_at(y, i, j)
                                                             : wg_mat_at(r, i - c->n, j))));
    out[0] = sum;
    return WG_OK;
}

static double complex exactly(const problem *c, const double complex *x) {
    double complex sum = 0, y[4];
    for (size_t j = 0; j < TIMES; j++) {
        c->exact(times[j], x, y, y + c->n);
        for (size_t i = 0; i < c->n + c->r; i++) sum += weight(i, j) * y[i];
    }
    return sum;
}

/* Value and gradient, good to `within` of their sizes. */
static void assert_exact(asked *a, double within) {
    const problem *const c = a->c;
    double g[MOST], again[MOST], v[MOST], f, ft, size = 0, sum = 0;
    const size_t n = c->n + c->m;
    if (wg_gradient(tape, weighted, a, n, c->x, &f, g) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(g[i]));
    for (size_t i = 0; i < n; i++) {
        double complex x[MOST];
        for (size_t l = 0; l < n; l++) x[l] = c->x[l];
        x[i] += 1e-100 * I;
        const double complex w = exactly(c, x);
        if (!(fabs(f - creal(w)) <= within * fabs(f)))
            fail_msg("%s: %.17g, not %.17g", c->name, f, creal(w));
        if (!(fabs(g[i] - cimag(w) / 1e-100) <= within * size))
            fail_msg("%s: derivative %zu is %.17g, not %.17g", c->name, i, g[i],
                     cimag(w) / 1e-100);
        v[i] = 0.3 - 0.1 * (double)i;
    }
    for (size_t i = 0; i < n; i++) sum += g[i] * v[i];
    assert_int_equal(wg_jvp(tape, weighted, a, n, c->x, v, 1, &f, &ft), WG_OK);
    assert_steps(ft, sum, size, a->report.steps);
    a->o.stored = 1;
    assert_int_equal(wg_gradient(tape, weighted, a, n, c->x, &f, again), WG_OK);
    assert_memory_equal(again, g, n * sizeof *g);
}

/* Steps of parabolas are exact, whatever their size. */
static void bounces_of_a_ball_are_exact(void **state) {
    (void)state;
    wg_ode *const k = ode_with_events(&falling);
    const wg_ode_options ways[] = {{.step = 0.11},
                                   {.rtol = 1e-6, .atol = 1e-6},
                                   {.rtol = 1e-6, .atol = 1e-6, .stop_at_times = 1},
                                   {.method = WG_RODAS4, .step = 0.11},
                                   {.method = WG_RODAS4, .rtol = 1e-6, .atol = 1e-6}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int columns = 0; columns < 2; columns++) {
            asked a = {&falling, k, ways[i], columns, {0}};
            assert_exact(&a, TOL_BOUNCES);
        }
    wg_ode_free(k);
}

static void events_and_jumps_have_the_derivatives_of_the_closed_form(void **state) {
    (void)state;
    wg_ode *const k = ode_with_events(&filling);
    const wg_ode_options ways[] = {{.rtol = 1e-12, .atol = 1e-12},
                                   {.rtol = 1e-12, .atol = 1e-12, .stop_at_times = 1},
                                   {.step = 0.002},
                                   {.method = WG_RODAS4, .rtol = 1e-11, .atol = 1e-11}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int columns = 0; columns < 2; columns++) {
            asked a = {&filling, k, ways[i], columns, {0}};
            assert_exact(&a, TOL_EVENTS);
        }
    wg_ode_free(k);
}

/* A ball that is thrown down from next to nothing bounces before the time has changed. */
static void solutions_with_events_are_nodes_of_functions(void **state) {
    (void)state;
    wg_ode *const k = ode_with_events(&filling);
    const wg_ode_options ways[] = {{.rtol = 1e-9, .atol = 1e-9},
                                   {.step = 0.02},
                                   {.method = WG_RODAS4, .rtol = 1e-8, .atol = 1e-8}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        asked a = {&filling, k, ways[i], 0, {0}};
        double x[MOST];
        memcpy(x, filling.x, sizeof x);
        assert_in_function(weighted, &a, filling.n + filling.m, x, 0, &a.report.steps);
    }
    wg_ode_free(k);
}

static void events_may_be_where_a_solution_begins(void **state) {
    const double at[] = {1, 1.25}, heights[] = {1e-15, 1e-18, 1e-300};
    const wg_ode_options ways[] = {
        {.step = 0.11}, {.rtol = 1e-6, .atol = 1e-6}, {.method = WG_RODAS4, .step = 0.11}};
    (void)state;
    wg_ode *const k = ode_with_events(&falling);
    for (size_t i = 0; i < 9; i++) {
        const double x[] = {heights[i / 3], -10, 9.81, 0.5};
        double g[4];
        wg_mat y;
        wg_tape_reset(tape);
        const wg_mat y0 = wg_mat_input(tape, 2, 1, x, 2),
                     p = wg_mat_input(tape, 2, 1, x + 2, 2);
        assert_int_equal(wg_ode_solve(tape, k, &ways[i % 3], 2, at, y0, p, &y, NULL, NULL),
                         WG_OK);
        assert_int_equal(wg_reverse(tape, wg_mat_at(y, 0, 1)), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, y0, g, 2), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, p, g + 2, 2), WG_OK);
        for (size_t l = 0; l < 4; l++) {
            double complex z[] = {x[0], x[1], x[2], x[3]}, want[2];
            z[l] += 1e-100 * I;
            ball(0.25, z, want, NULL);
            assert_true(fabs(g[l] - cimag(want[0]) / 1e-100) <= TOL_BOUNCES);
            assert_true(fabs(wg_value(wg_mat_at(y, 0, 1)) - creal(want[0])) <= TOL_BOUNCES);
        }
    }
    wg_tape_reset(tape);
    wg_ode_free(k);
}

/* ---- parameters that vary ---------------------------------------------------------------- */

/* y' = -p0 y cos t; the level p1 rises above y at a time, between two steps. */
static wg_status overtaken(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *out,
                           void *data) {
    const asked *const a = data;
    const double at[] = {0, 0.5, 1}, p[] = {2, 0.1, 1.7, 2, 3, 1.7};
    wg_mat y;
    (void)n, (void)m;
    const wg_status s = wg_ode_solve(t, a->k, &a->o, 3, at, wg_mat_gather(t, 1, 1, x),
                                     wg_mat_constant(t, 3, 2, p, 3), &y, NULL, NULL);
    if (s == WG_OK) out[0] = wg_mat_at(y, 0, 2);
    return s;
}

/* Wherever the adjoint begins to compute the steps again: y is in proportion to its start. */
static void levels_that_rise_at_a_time_are_no_events(void **state) {
    const double x = 1.5;
    (void)state;
    problem c = filling;
    c.r = 0;
    wg_ode *const k = ode_with_events(&c);
    for (size_t steps = 1; steps <= 256; steps++) {
        asked a = {&c, k, {.step = 0.5 / (double)steps}, 1, {0}};
        double f, g;
        assert_int_equal(wg_gradient(tape, overtaken, &a, 1, &x, &f, &g), WG_OK);
        assert_true(fabs(g * x - f) <= TOL_BOUNCES * f);
        if (steps > 32) assert_true(fabs(f - x * exp(-2 * sin(1))) <= 1e-9);
    }
    wg_ode_free(k);
}

/* ---- refused ----------------------------------------------------------------------------- */

static wg_status drop(wg_ode *k, const wg_ode_options *o, double end, double left, wg_mat *y,
                      wg_mat *y0) {
    const double at[2] = {0, end}, start[2] = {1, 0}, p[2] = {9.81, left};
    wg_tape_reset(tape);
    *y0 = wg_mat_input(tape, 2, 1, start, 2);
    return wg_ode_solve(tape, k, o, 2, at, *y0, wg_mat_input(tape, 2, 1, p, 2), y, NULL, NULL);
}

/* A ball comes to rest after ever more bounces. */
static void infinitely_many_events_end(void **state) {
    (void)state;
    wg_ode *const k = ode_with_events(&falling);
    const wg_ode_options o = {.rtol = 1e-8, .atol = 1e-8}, fixed = {.step = 0.01};
    wg_mat y, y0;
    assert_int_equal(drop(k, &o, 10, 0.5, &y, &y0), WG_ECONVERGE);
    assert_message(tape, "wg_ode_solve of 2x1, 2x1: at time 1.3545");
    assert_message(tape, "events follow each other without time between");
    assert_nan(wg_value(wg_mat_at(y, 0, 1)));
    assert_int_equal(drop(k, &fixed, 10, 0.5, &y, &y0), WG_ECONVERGE);
    assert_message(tape, "at time 1.3545");
    assert_message(tape, "events follow each other without time between");
    wg_tape_reset(tape);
    wg_ode_free(k);
}

static wg_status flat(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *e,
                      void *data) {
    (void)n, (void)m, (void)data;
    /* falls in one step, from 1 to 0 and -0 */
    e[0] = wg_let(t, wg_select_gt(x[1], 0.5, 1, wg_mul(0, x[1])));
    return WG_OK;
}

static void events_without_a_slope_have_no_derivative(void **state) {
    (void)state;
    problem c = falling;
    c.e = flat;
    wg_ode *const k = ode_with_events(&c);
    const wg_ode_options o = {.step = 0.1};
    wg_mat y, y0;
    assert_int_equal(drop(k, &o, 0.4, 0.5, &y, &y0), WG_OK);
    assert_int_equal(wg_reverse(tape, wg_mat_at(y, 0, 1)), WG_EDEGENERATE);
    assert_message(tape, "the event does not cross 0 with a slope");
    wg_ode_free(k);
}

static void systems_with_half_an_event_are_refused(void **state) {
    (void)state;
    wg_function *const f = rhs_of(fall, 2, 2, 2), *const e = rhs_of(height, 2, 2, 1);
    const struct {
        wg_ode_system s;
        wg_status status;
        const char *message;
    } row[] = {{{.rhs = f, .event = e}, WG_ENULL, "of event and jump one is NULL"},
               {{.rhs = f, .jump = f}, WG_ENULL, "of event and jump one is NULL"},
               {{.rhs = f, .event = f, .jump = f}, WG_ESHAPE, "the event (slope) is 2x1"},
               {{.rhs = f, .event = e, .jump = e}, WG_ESHAPE, "the jump gives 1 numbers for 2"},
               {{.rhs = f, .event = e, .jump = f, .second = 1}, WG_EARG, "second derivatives"}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        wg_ode *k = NULL;
        assert_int_equal(wg_ode_new(coded, &row[i].s, &k), row[i].status);
        assert_null(k);
        assert_message(coded, row[i].message);
    }
    wg_function_free(f);
    wg_function_free(e);
    wg_ode *const k = ode_with_events(&falling);
    const wg_ode_options o = {.method = WG_RK4, .step = 0.1};
    wg_mat y, y0;
    assert_int_equal(drop(k, &o, 1, 0.5, &y, &y0), WG_EARG);
    assert_message(tape, "WG_RK4 does not interpolate");
    wg_tape_reset(tape);
    wg_ode_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounces_of_a_ball_are_exact),
        cmocka_unit_test(events_and_jumps_have_the_derivatives_of_the_closed_form),
        cmocka_unit_test(solutions_with_events_are_nodes_of_functions),
        cmocka_unit_test(events_may_be_where_a_solution_begins),
        cmocka_unit_test(levels_that_rise_at_a_time_are_no_events),
        cmocka_unit_test(infinitely_many_events_end),
        cmocka_unit_test(events_without_a_slope_have_no_derivative),
        cmocka_unit_test(systems_with_half_an_event_are_refused),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
