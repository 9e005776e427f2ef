/* SPDX-License-Identifier: MIT */
/* Maps and scans inside of functions that are too large to be written out, against loops of
 * statements, which are: values and derivatives, emitted text, compiled code. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "driver_cases.h"
#include "emitted.h"

#include "../tape/function/repeat.h"
#include <wengert/derive.h>

/* ---- two models -------------------------------------------------------------------------- */

/* A pendulum with a control: state s, parameters p shared by all steps, control u and datum d
 * of each step. Gives the next state, a cost that is summed, and a number of each step. */
enum { STEPS = 300, PATHS = 450 };
static wg_status swing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    const wg_real *const s = x, *const p = x + 2, u = x[4], d = x[5];
    (void)n, (void)m, (void)data;
    const wg_real pull = wg_let(t, wg_sub(wg_mul(p[0], wg_sin(s[0])), wg_mul(p[1], s[1])));
    y[0] = wg_let(t, wg_add(s[0], wg_mul(0.01, s[1])));
    y[1] = wg_let(t, wg_add(s[1], wg_mul(0.01, wg_sub(u, pull))));
    y[2] = wg_let(t, wg_add(wg_square(wg_sub(y[0], d)), wg_mul(0.1, wg_square(u))));
    y[3] = wg_let(t, wg_mul(wg_cos(wg_mul(y[0], p[0])), wg_tanh(y[1])));
    return WG_OK;
}
static const wg_argument swing_in[] = {
    {"s", 2, 1, 0}, {"p", 2, 1, WG_SHARED}, {"u", 1, 1, 0}, {"d", 1, 1, WG_PASSIVE}};
static const wg_argument swing_out[] = {
    {"s", 2, 1, 0}, {"cost", 1, 1, WG_SUMMED}, {"seen", 1, 1, 0}};
static const double swing_at[] = {0.1, 0.2, 9.81, 0.4, 0.05, 0.3};

/* A term of a likelihood: a point z of its own, shared parameters q, a datum w. */
static wg_status term(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const wg_real *const z = x, *const q = x + 2, w = x[5];
    (void)n, (void)m, (void)data;
    const wg_real scale = wg_let(t, wg_add(1, wg_square(q[2])));
    const wg_real a = wg_let(t, wg_mul(wg_sub(z[0], q[0]), wg_exp(wg_mul(-0.5, scale))));
    const wg_real b = wg_let(t, wg_mul(wg_sub(z[1], wg_mul(q[1], a)), w));
    y[0] = wg_let(t, wg_add(wg_log(wg_add(scale, wg_square(a))), wg_square(b)));
    y[1] = wg_let(t, wg_div(b, scale));
    return WG_OK;
}
static const wg_argument term_in[] = {
    {"z", 2, 1, 0}, {"q", 3, 1, WG_SHARED}, {"w", 1, 1, WG_PASSIVE}};
static const wg_argument term_out[] = {{"loss", 1, 1, WG_SUMMED}, {"residual", 1, 1, 0}};
static const double term_at[] = {0.3, -0.2, 0.1, 0.7, 0.5, 1.3};

static int open_looping(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES, .loops_over = 4096};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}

static wg_callable *callable(wg_callback *f, size_t inputs, const wg_argument *in,
                             const double *x, size_t outputs, const wg_argument *out) {
    wg_function *g = NULL;
    wg_callable *k = NULL;
    if (wg_function_record(coded, f, NULL, inputs, in, x, outputs, out, &g) != WG_OK ||
        wg_callable_new(coded, g, &k) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    wg_function_free(g);
    return k;
}

typedef struct models {
    wg_callable *swing, *term;
    double d[STEPS], w[PATHS];
    size_t steps, paths;
} models;

static models *models_new(size_t steps, size_t paths) {
    models *const m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->swing = callable(swing, 4, swing_in, swing_at, 3, swing_out);
    m->term = callable(term, 3, term_in, term_at, 2, term_out);
    for (size_t i = 0; i < STEPS; i++) m->d[i] = 0.3 * sin(0.1 * (double)i);
    for (size_t i = 0; i < PATHS; i++) m->w[i] = 0.5 + 0.01 * (double)(i % 70);
    m->steps = steps, m->paths = paths;
    return m;
}
static void models_free(models *m) {
    wg_callable_free(m->swing);
    wg_callable_free(m->term);
    free(m);
}

/* x: start, p, u of every step. y: the end, the cost, what was seen at the first and last step.
 */
enum { ROLL_IN = 4 + STEPS, ROLL_OUT = 5 };
static wg_status rollout(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    const models *const l = user;
    (void)n, (void)m;
    const wg_source from[] = {
        wg_from_state("s"), wg_from_matrix(wg_mat_gather(t, 2, 1, x + 2)),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, l->steps, x + 4))),
        wg_each_step(wg_from_data(l->d, 1, 1))};
    const wg_stage stage = {l->swing, from};
    const wg_state state = {"s", wg_mat_gather(t, 2, 1, x)};
    wg_mat r[3];
    const wg_status s = wg_scan(t, l->steps, 1, &stage, 1, &state, NULL, r);
    if (s != WG_OK) return s;
    y[0] = wg_mat_at(r[0], 0, 0);
    y[1] = wg_mat_at(r[0], 1, 0);
    y[2] = wg_mat_at(r[1], 0, 0);
    y[3] = wg_mat_at(r[2], 0, 0);
    y[4] = wg_mat_at(r[2], 0, l->steps - 1);
    return WG_OK;
}
/* The same by statements. */
static wg_status rollout_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *user) {
    const models *const l = user;
    wg_real state[2] = {x[0], x[1]}, cost = wg_constant(0), now[4], first = cost;
    for (size_t i = 0; i < l->steps; i++) {
        const wg_real in[] = {state[0], state[1], x[2], x[3], x[4 + i], wg_constant(l->d[i])};
        (void)swing(t, 6, in, 4, now, NULL);
        state[0] = now[0], state[1] = now[1];
        cost = wg_let(t, wg_add(cost, now[2]));
        if (i == 0) first = now[3];
    }
    (void)n, (void)m;
    y[0] = state[0], y[1] = state[1], y[2] = cost, y[3] = first, y[4] = now[3];
    return WG_OK;
}

/* x: q, z of every path. y: the sum, one of the residuals squared. */
enum { LIKELY_IN = 3 + 2 * PATHS, LIKELY_OUT = 2 };
static wg_status likelihood(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    const models *const l = user;
    (void)n, (void)m;
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 2, l->paths, x + 3)),
                              wg_from_matrix(wg_mat_gather(t, 3, 1, x)),
                              wg_from_data(l->w, 1, 1)};
    wg_mat r[2];
    const wg_status s = wg_map(t, l->term, l->paths, from, NULL, r);
    if (s != WG_OK) return s;
    y[0] = wg_let(t, wg_mul(x[0], wg_mat_at(r[0], 0, 0)));
    y[1] = wg_let(t, wg_square(wg_mat_at(r[1], 0, l->paths / 2)));
    return WG_OK;
}
static wg_status likelihood_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *y, void *user) {
    const models *const l = user;
    wg_real sum = wg_constant(0), now[2], one = sum;
    (void)n, (void)m;
    for (size_t i = 0; i < l->paths; i++) {
        const wg_real in[] = {x[3 + 2 * i], x[4 + 2 * i], x[0],
                              x[1],         x[2],         wg_constant(l->w[i])};
        (void)term(t, 6, in, 2, now, NULL);
        sum = wg_let(t, wg_add(sum, now[0]));
        if (i == l->paths / 2) one = now[1];
    }
    y[0] = wg_let(t, wg_mul(x[0], sum));
    y[1] = wg_let(t, wg_square(one));
    return WG_OK;
}

/* All in one number, for Hessians: of the start and parameters, controls being data. */
enum { FEW = 4 };
static double control(size_t i) { return 0.2 * cos(0.05 * (double)i); }
static wg_status few(wg_tape *t, const wg_real *x, wg_real *y, void *user, wg_callback *of) {
    wg_real all[ROLL_IN], r[ROLL_OUT];
    for (size_t i = 0; i < FEW; i++) all[i] = x[i];
    for (size_t i = 0; i < STEPS; i++) all[FEW + i] = wg_constant(control(i));
    const wg_status s = of(t, ROLL_IN, all, ROLL_OUT, r, user);
    if (s == WG_OK)
        *y = wg_let(t, wg_add(wg_mul(r[0], r[3]), wg_add(r[2], wg_mul(r[4], r[1]))));
    return s;
}
static wg_status few_repeated(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    (void)n, (void)m;
    return few(t, x, y, user, rollout);
}
static wg_status few_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    (void)n, (void)m;
    return few(t, x, y, user, rollout_in_full);
}

/* ---- functions and their values ---------------------------------------------------------- */

static wg_function *recorded(wg_callback *f, void *data, size_t n, const double *x, size_t m) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *g = NULL;
    if (wg_function_record(coded, f, data, 1, &in, x, 1, &out, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    return g;
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);
static wg_function *made(transform *by, const wg_function *f) {
    wg_function *g = NULL;
    if (by(coded, f, &g) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    return g;
}

static size_t entries(const wg_argument *a) { return a->rows * a->cols; }

/* All inputs stand one after the other at each point, all outputs likewise. */
static wg_status evaluated(const wg_function *f, size_t points, const double *x, double *y,
                           wg_threads *threads, wg_function_guard *guard) {
    wg_points in[8];
    wg_results out[8];
    size_t at = 0;
    const ptrdiff_t n = (ptrdiff_t)graph_entries_in(f), m = (ptrdiff_t)graph_entries_out(f);
    for (size_t k = 0; k < wg_function_inputs(f); at += entries(wg_function_input(f, k++)))
        in[k] = (wg_points){x + at, n, 1};
    at = 0;
    for (size_t k = 0; k < wg_function_outputs(f); at += entries(wg_function_output(f, k++)))
        out[k] = (wg_results){y + at, m, 1};
    void *const work = malloc(wg_function_work(f, threads));
    assert_non_null(work);
    const wg_status s = wg_function_evaluate(f, points, in, out, threads, work, guard);
    free(work);
    return s;
}

static void assert_all_near(const char *what, size_t n, const double *got,
                            const double *expected) {
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <=
              TOL_PROGRAM_ULP * DBL_EPSILON * (size + fabs(expected[i]))))
            fail_msg("%s, entry %zu: got %.17g, expected %.17g", what, i, got[i], expected[i]);
}

/* By the interpreter and node by node, against the function in full. */
static void compare(const char *what, transform *by, const wg_function *f,
                    const wg_function *full, const double *x) {
    wg_function *const a = by == NULL ? (wg_function *)f : made(by, f);
    wg_function *const b = by == NULL ? (wg_function *)full : made(by, full);
    const size_t n = graph_entries_out(a);
    assert_int_equal(n, graph_entries_out(b));
    assert_int_equal(b->repeats, 0);
    double *const got = malloc(3 * n * sizeof *got), *const walked = got + n;
    double *const expected = walked + n;
    assert_non_null(got);
    assert_int_equal(evaluated(a, 1, x, got, NULL, NULL), WG_OK);
    assert_int_equal(graph_walk(a, x, walked), 0);
    assert_int_equal(evaluated(b, 1, x, expected, NULL, NULL), WG_OK);
    assert_all_near(what, n, got, expected);
    assert_all_near(what, n, walked, expected);
    free(got);
    if (by != NULL) {
        wg_function_free(a);
        wg_function_free(b);
    }
}

static void fill(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 0.3 * sin(1.7 * (double)i + 0.4);
}

static void derivatives_are_those_in_full(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    static double x[2 * LIKELY_IN + 8];
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const roll = recorded(rollout, l, ROLL_IN, x, ROLL_OUT);
    wg_function *const roll_full = recorded(rollout_in_full, l, ROLL_IN, x, ROLL_OUT);
    wg_function *const map = recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT);
    wg_function *const map_full = recorded(likelihood_in_full, l, LIKELY_IN, x, LIKELY_OUT);
    assert_int_equal(roll->repeats, 1);
    assert_int_equal(map->repeats, 1);
    static const struct {
        const char *name;
        transform *by;
    } list[] = {{"value", NULL},
                {"jvp", wg_function_jvp},
                {"vjp", wg_function_vjp},
                {"jacobian", wg_function_jacobian},
                {"hvp", wg_function_hvp}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        compare(list[k].name, list[k].by, roll, roll_full, x);
        compare(list[k].name, list[k].by, map, map_full, x);
    }
    wg_function_free(roll);
    wg_function_free(roll_full);
    wg_function_free(map);
    wg_function_free(map_full);
    models_free(l);
}

static void second_and_third_derivatives(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    double x[8 * FEW];
    fill(x, 8 * FEW);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const f = recorded(few_repeated, l, FEW, x, 1);
    wg_function *const full = recorded(few_in_full, l, FEW, x, 1);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("hessian", wg_function_hessian, f, full, x);
    wg_function *const hvp = made(wg_function_hvp, f), *const hvp_full =
                                                           made(wg_function_hvp, full);
    compare("third", wg_function_jvp, hvp, hvp_full, x);
    wg_function *taylor = NULL, *taylor_full = NULL;
    assert_int_equal(wg_function_taylor(coded, f, 3, &taylor), WG_OK);
    assert_int_equal(wg_function_taylor(coded, full, 3, &taylor_full), WG_OK);
    compare("taylor", NULL, taylor, taylor_full, x);
    wg_function_free(taylor);
    wg_function_free(taylor_full);
    wg_function_free(hvp);
    wg_function_free(hvp_full);
    wg_function_free(f);
    wg_function_free(full);
    models_free(l);
}

/* ---- many points, threads, what is shared ------------------------------------------------ */

static void bits_do_not_depend_on_points_or_threads(void **state) {
    (void)state;
    enum { POINTS = 70 };
    models *const l = models_new(STEPS, PATHS);
    double x[POINTS][FEW], one[FEW], *const all = malloc(POINTS * FEW * sizeof *all);
    double *const threaded = malloc(POINTS * FEW * sizeof *threaded);
    fill(x[0], POINTS * FEW);
    wg_function *const f = recorded(few_repeated, l, FEW, x[0], 1);
    wg_function *const g = made(wg_function_gradient, f);
    wg_threads *pool = NULL;
    assert_int_equal(wg_threads_new(2, NULL, &pool), WG_OK);
    assert_int_equal(evaluated(g, POINTS, x[0], all, NULL, NULL), WG_OK);
    assert_int_equal(evaluated(g, POINTS, x[0], threaded, pool, NULL), WG_OK);
    assert_memory_equal(all, threaded, POINTS * FEW * sizeof *all);
    for (size_t p = 0; p < POINTS; p++) {
        assert_int_equal(evaluated(g, 1, x[p], one, NULL, NULL), WG_OK);
        assert_memory_equal(one, all + p * FEW, sizeof one);
    }
    wg_threads_free(pool);
    free(all);
    free(threaded);
    wg_function_free(g);
    wg_function_free(f);
    models_free(l);
}

/* Shared inputs: the repeat is done once, and what each point adds goes back through it. */
static wg_status once_and_each(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    wg_real r;
    (void)n, (void)m;
    const wg_status s = few(t, x, &r, user, rollout);
    if (s == WG_OK) y[0] = wg_let(t, wg_mul(wg_square(wg_sub(r, x[FEW])), x[FEW]));
    return s;
}
static void shared_inputs_go_through_once(void **state) {
    (void)state;
    enum { POINTS = 9 };
    models *const l = models_new(STEPS, PATHS);
    double x[FEW + POINTS], value, expected[FEW + 1], sum[FEW] = {0}, got[FEW + POINTS];
    fill(x, FEW + POINTS);
    const wg_argument in[] = {{"x", FEW, 1, WG_SHARED}, {"z", 1, 1, 0}};
    const wg_argument out = {"y", 1, 1, WG_SUMMED};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, once_and_each, l, 2, in, x, 1, &out, &f), WG_OK);
    wg_function *const g = made(wg_function_gradient, f);
    const wg_points from[] = {{x, 0, 1}, {x + FEW, 1, 1}};
    const wg_results to[] = {{got, 0, 1}, {got + FEW, 1, 1}};
    void *const work = malloc(wg_function_work(g, NULL));
    assert_int_equal(wg_function_evaluate(g, POINTS, from, to, NULL, work, NULL), WG_OK);
    free(work);
    for (size_t p = 0; p < POINTS; p++) {
        double at[FEW + 1];
        memcpy(at, x, FEW * sizeof *at);
        at[FEW] = x[FEW + p];
        assert_int_equal(wg_gradient(tape, once_and_each, l, FEW + 1, at, &value, expected),
                         WG_OK);
        for (size_t i = 0; i < FEW; i++) sum[i] += expected[i];
        assert_all_near("each", 1, &got[FEW + p], &expected[FEW]);
    }
    assert_all_near("shared", FEW, got, sum);
    /* so does the text */
    typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                         double *const *res, const ptrdiff_t *res_step, size_t *where);
    emitted e;
    FILE *const text = emitted_text(&e);
    const wg_emit_options o = {.name = "shared", .entries = WG_EMIT_BATCH};
    assert_int_equal(wg_function_emit(coded, g, &o, wg_write_file, text), WG_OK);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        const double *const arg[] = {x, x + FEW};
        double written[FEW + POINTS], *const res[] = {written, written + FEW};
        static const ptrdiff_t arg_step[] = {0, 1, 1, 1}, res_step[] = {0, 1, 1, 1};
        batch_fn *batch;
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1");
        EMITTED(&e, "shared", "_batch", batch);
        assert_int_equal(batch(POINTS, arg, arg_step, res, res_step, NULL), 0);
        assert_all_near("written", FEW + POINTS, written, got);
        emitted_close(&e);
    }
    emitted_remove(&e);
    wg_function_free(g);
    wg_function_free(f);
    models_free(l);
}

/* ---- comparisons, products with what is infinite ----------------------------------------- */

static wg_status turning(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    wg_real z = wg_let(t, wg_mul(x[0], x[1]));
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_add(z, wg_mul(1e-3, wg_square(z))));
    y[0] = wg_lt(t, z, wg_constant(2)) ? z : wg_let(t, wg_mul(2, z));
    return WG_OK;
}
static wg_status turns(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m;
    const wg_source from[] = {wg_from_state("s"),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1))};
    const wg_stage stage = {user, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, x)};
    wg_mat r;
    const wg_status s = wg_scan(t, 100, 1, &stage, 1, &state, NULL, &r);
    if (s != WG_OK) return s;
    const int below_three = wg_lt(t, x[0], wg_constant(3));
    y[0] = below_three ? wg_mat_at(r, 0, 0) : x[1];
    return WG_OK;
}

static void comparisons_in_steps_are_watched(void **state) {
    (void)state;
    static const wg_argument in[] = {{"s", 1, 1, 0}, {"p", 1, 1, WG_SHARED}};
    static const wg_argument out = {"s", 1, 1, 0};
    static const double at[] = {0.5, 0.9};
    wg_callable *const k = callable(turning, 2, in, at, 1, &out);
    wg_function *const f = recorded(turns, k, 2, at, 1), *const g =
                                                             made(wg_function_jacobian, f);
    assert_int_equal(f->repeats, 1);
    double x[5][2] = {{0.5, 0.9}, {0.6, 0.8}, {1.2, 1.01}, {4, 0.1}, {0.3, 0.3}}, y[10];
    wg_function_guard guard = {99, 99};
    assert_int_equal(evaluated(f, 5, x[0], y, NULL, &guard), WG_EGUARD);
    assert_int_equal(guard.point, 2); /* in the repeat: after those of the function */
    assert_int_equal(guard.guard, 1);
    assert_int_equal(evaluated(f, 1, x[3], y, NULL, &guard), WG_EGUARD);
    assert_int_equal(guard.guard, 0);
    assert_int_equal(evaluated(f, 2, x[0], y, NULL, &guard), WG_OK);
    assert_int_equal(evaluated(g, 1, x[2], y, NULL, &guard), WG_EGUARD);
    typedef int point_fn(const double *const *arg, double *const *res);
    typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                         double *const *res, const ptrdiff_t *res_step, size_t *where);
    emitted e;
    FILE *const text = emitted_text(&e);
    const wg_emit_options o = {.name = "turns", .entries = WG_EMIT_POINT | WG_EMIT_BATCH};
    assert_int_equal(wg_function_emit(coded, f, &o, wg_write_file, text), WG_OK);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        static const int expected[] = {0, 0, 2, 1, 0}; /* 1 + the number of the comparison */
        static const ptrdiff_t arg_step[] = {2, 1}, res_step[] = {1, 1};
        double *const res[] = {y};
        point_fn *point;
        batch_fn *batch;
        size_t where = 99;
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1");
        EMITTED(&e, "turns", "", point);
        EMITTED(&e, "turns", "_batch", batch);
        for (size_t p = 0; p < 5; p++)
            assert_int_equal(point((const double *const[]){x[p]}, res), expected[p]);
        assert_int_equal(
            batch(5, (const double *const[]){x[0]}, arg_step, res, res_step, &where), 2);
        assert_int_equal(where, 2);
        emitted_close(&e);
    }
    emitted_remove(&e);
    wg_function_free(f);
    wg_function_free(g);
    wg_callable_free(k);
}

/* Where a factor is 0, a slope that is infinite has no effect: in a repeat, and before it. */
enum { ROOTS = 100, ROOTS_IN = 2 + 2 * ROOTS };
static wg_status rooted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    wg_real z = wg_let(t, wg_add(wg_mul(0.5, x[0]), wg_mul(x[1], wg_sqrt(x[2]))));
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_mul(z, wg_cos(wg_mul(1e-3, z))));
    y[0] = z;
    return WG_OK;
}
static wg_status roots(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m;
    const wg_real start = wg_let(t, wg_mul(x[0], wg_sqrt(x[1])));
    const wg_source from[] = {
        wg_from_state("s"), wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, ROOTS, x + 2))),
        wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, ROOTS, x + 2 + ROOTS)))};
    const wg_stage stage = {user, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, &start)};
    wg_mat r;
    const wg_status s = wg_scan(t, ROOTS, 1, &stage, 1, &state, NULL, &r);
    if (s == WG_OK) y[0] = wg_mat_at(r, 0, 0);
    return s;
}
static wg_status roots_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    (void)n, (void)m, (void)user;
    wg_real s = wg_let(t, wg_mul(x[0], wg_sqrt(x[1])));
    for (size_t i = 0; i < ROOTS; i++) {
        const wg_real in[] = {s, x[2 + i], x[2 + ROOTS + i]};
        (void)rooted(t, 3, in, 1, &s, NULL);
    }
    y[0] = s;
    return WG_OK;
}

static void the_zero_rule_holds_in_repeats(void **state) {
    (void)state;
    static const wg_argument in[] = {{"s", 1, 1, 0}, {"w", 1, 1, 0}, {"z", 1, 1, 0}};
    static const wg_argument out = {"s", 1, 1, 0};
    static const double at[] = {0.5, 0.9, 0.4};
    double x[2 * ROOTS_IN];
    wg_callable *const k = callable(rooted, 3, in, at, 1, &out);
    fill(x, 2 * ROOTS_IN);
    for (size_t i = 0; i < ROOTS; i++) x[2 + ROOTS + i] = fabs(x[2 + ROOTS + i]);
    x[1] = 0.3;
    wg_function *const f = recorded(roots, k, ROOTS_IN, x, 1);
    wg_function *const full = recorded(roots_in_full, NULL, ROOTS_IN, x, 1);
    assert_int_equal(f->repeats, 1);
    x[0] = x[1] = 0;
    for (size_t i = 0; i < ROOTS; i += 9) x[2 + i] = x[2 + ROOTS + i] = 0;
    compare("gradient", wg_function_gradient, f, full, x);
    compare("jvp", wg_function_jvp, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(k);
}

/* ---- states that nothing depends on ------------------------------------------------------ */

/* s is driven by data only; the first sum depends on it and on q, the second one on q only. */
static wg_status driven_step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    wg_real z = x[2];
    (void)n, (void)m, (void)data;
    for (int i = 0; i < 20; i++) z = wg_let(t, wg_mul(0.9, wg_sin(wg_add(z, x[0]))));
    y[0] = wg_let(t, wg_add(wg_mul(0.5, x[0]), x[1]));
    y[1] = wg_let(t, wg_add(wg_mul(wg_square(x[2]), x[0]), z));
    y[2] = wg_let(t, wg_mul(wg_square(x[2]), x[3]));
    return WG_OK;
}
static const wg_argument driven_in[] = {
    {"s", 1, 1, 0}, {"d", 1, 1, WG_PASSIVE}, {"q", 2, 1, WG_SHARED}};
static const wg_argument driven_out[] = {
    {"s", 1, 1, 0}, {"a", 1, 1, WG_SUMMED}, {"b", 1, 1, WG_SUMMED}};

typedef struct driven {
    wg_callable *k;
    double d[STEPS];
} driven;
static wg_status drive(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const driven *const l = user;
    const wg_real start = wg_constant(0.3);
    (void)n, (void)m;
    const wg_source from[] = {wg_from_state("s"), wg_each_step(wg_from_data(l->d, 1, 1)),
                              wg_from_matrix(wg_mat_gather(t, 2, 1, x))};
    const wg_stage stage = {l->k, from};
    const wg_state state = {"s", wg_mat_gather(t, 1, 1, &start)};
    wg_mat r[3];
    const wg_status s = wg_scan(t, STEPS, 1, &stage, 1, &state, NULL, r);
    if (s == WG_OK) y[0] = wg_let(t, wg_mul(wg_mat_at(r[1], 0, 0), wg_mat_at(r[2], 0, 0)));
    return s;
}
static wg_status drive_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                               void *user) {
    const driven *const l = user;
    wg_real s = wg_constant(0.3), a = wg_constant(0), b = a, now[3];
    (void)n, (void)m;
    for (size_t i = 0; i < STEPS; i++) {
        const wg_real in[] = {s, wg_constant(l->d[i]), x[0], x[1]};
        (void)driven_step(t, 4, in, 3, now, NULL);
        s = now[0];
        a = wg_let(t, wg_add(a, now[1]));
        b = wg_let(t, wg_add(b, now[2]));
    }
    y[0] = wg_let(t, wg_mul(a, b));
    return WG_OK;
}

static void states_need_not_depend_on_what_is_differentiated(void **state) {
    (void)state;
    static const double at[] = {0.3, 0.1, 0.7, -0.4};
    const double x[8] = {0.7, -0.4, 1, 2, -0.5, 0.25, 1.5, -1};
    driven l = {callable(driven_step, 3, driven_in, at, 3, driven_out), {0}};
    for (size_t i = 0; i < STEPS; i++) l.d[i] = 0.3 * sin(0.1 * (double)i);
    wg_function *const f = recorded(drive, &l, 2, x, 1);
    wg_function *const full = recorded(drive_in_full, &l, 2, x, 1);
    assert_int_equal(f->repeats, 1);
    compare("value", NULL, f, full, x);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("vjp", wg_function_vjp, f, full, x);
    compare("jvp", wg_function_jvp, f, full, x);
    compare("jacobian", wg_function_jacobian, f, full, x);
    compare("hvp", wg_function_hvp, f, full, x);
    compare("hessian", wg_function_hessian, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(l.k);
}

/* ---- repeats in repeats ------------------------------------------------------------------ */

/* Heat on a ring of cells, whose conductivity is shared; a step is a map over many cells. */
enum { CELLS = 300, HEAT_IN = CELLS + 1 };
static wg_status heat_of_cell(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)m, (void)data;
    const wg_real flow = wg_let(t, wg_sub(wg_add(x[0], x[2]), wg_mul(2, x[1])));
    wg_real k = wg_let(t, wg_mul(x[3], wg_add(1, wg_square(x[1]))));
    for (int i = 0; i < 4; i++) k = wg_let(t, wg_tanh(wg_mul(k, wg_cos(x[1]))));
    y[0] = wg_let(t, wg_add(x[1], wg_mul(0.1, wg_mul(k, flow))));
    y[1] = wg_let(t, wg_mul(k, wg_square(flow)));
    return WG_OK;
}
static const wg_argument heat_in[] = {
    {"left", 1, 1, 0}, {"here", 1, 1, 0}, {"right", 1, 1, 0}, {"k", 1, 1, WG_SHARED}};
static const wg_argument heat_out[] = {{"h", 1, 1, 0}, {"work", 1, 1, WG_SUMMED}};

static wg_status heat(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m;
    const wg_source from[] = {wg_from_neighbour("h", -1, 0, 0), wg_from_state("h"),
                              wg_from_neighbour("h", 1, 0, 0),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + CELLS))};
    const wg_stage stage = {user, from};
    const wg_state state = {"h", wg_mat_gather(t, 1, CELLS, x)};
    const wg_scan_options o = {.cells = {CELLS}};
    wg_mat r[2];
    const wg_status s = wg_scan(t, 5, 1, &stage, 1, &state, &o, r);
    if (s == WG_OK) y[0] = wg_let(t, wg_mul(wg_mat_at(r[0], 0, 7), wg_mat_at(r[1], 0, 0)));
    return s;
}
static wg_status heat_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    wg_real h[2][CELLS], work = wg_constant(0), r[2];
    (void)n, (void)m, (void)user;
    memcpy(h[0], x, sizeof h[0]);
    for (size_t i = 0; i < 5; i++) {
        for (size_t c = 0; c < CELLS; c++) {
            const wg_real in[] = {h[i % 2][(c + CELLS - 1) % CELLS], h[i % 2][c],
                                  h[i % 2][(c + 1) % CELLS], x[CELLS]};
            (void)heat_of_cell(t, 4, in, 2, r, NULL);
            h[1 - i % 2][c] = r[0];
            work = wg_let(t, wg_add(work, r[1]));
        }
    }
    y[0] = wg_let(t, wg_mul(h[1][7], work));
    return WG_OK;
}

static void repeats_stand_in_repeats(void **state) {
    (void)state;
    static const double at[] = {0.1, 0.2, 0.3, 0.5};
    wg_callable *const k = callable(heat_of_cell, 4, heat_in, at, 2, heat_out);
    double x[2 * HEAT_IN];
    fill(x, 2 * HEAT_IN);
    wg_function *const f = recorded(heat, k, HEAT_IN, x, 1);
    wg_function *const full = recorded(heat_in_full, NULL, HEAT_IN, x, 1);
    assert_int_equal(f->repeats, 1);
    assert_int_equal(f->repeat[0].body->repeats, 1);
    compare("value", NULL, f, full, x);
    compare("gradient", wg_function_gradient, f, full, x);
    compare("hvp", wg_function_hvp, f, full, x);
    wg_function_free(f);
    wg_function_free(full);
    wg_callable_free(k);
}

/* ---- text and code ----------------------------------------------------------------------- */

enum { ALL = WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI };
typedef int point_fn(const double *const *arg, double *const *res);
typedef int batch_fn(size_t points, const double *const *arg, const ptrdiff_t *arg_step,
                     double *const *res, const ptrdiff_t *res_step, size_t *where);

static void write_all(FILE *to, const wg_function *f, const char *name) {
    const wg_emit_options o = {name, ALL, 0, 0};
    if (wg_function_emit(coded, f, &o, wg_write_file, to) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
}

/* The point, and the batch at five points, all the same. */
static void check_text(const emitted *e, const char *name, const wg_function *f,
                       const double *x) {
    enum { POINTS = 5 };
    const size_t n = graph_entries_in(f), m = graph_entries_out(f);
    double *const y = malloc((POINTS + 1) * m * sizeof *y), *const expected = y + POINTS * m;
    const double *arg[8];
    double *res[8];
    ptrdiff_t arg_step[16], res_step[16];
    point_fn *point;
    batch_fn *batch;
    EMITTED(e, name, "_point", point);
    EMITTED(e, name, "_batch", batch);
    size_t at = 0;
    for (size_t k = 0; k < wg_function_inputs(f); at += entries(wg_function_input(f, k++)))
        arg[k] = x + at, arg_step[2 * k] = 0, arg_step[2 * k + 1] = 1;
    assert_int_equal(at, n);
    at = 0;
    for (size_t k = 0; k < wg_function_outputs(f); at += entries(wg_function_output(f, k++)))
        res[k] = y + at, res_step[2 * k] = (ptrdiff_t)m, res_step[2 * k + 1] = 1;
    assert_int_equal(graph_walk(f, x, expected), 0);
    assert_int_equal(point(arg, res), 0);
    assert_all_near(name, m, y, expected);
    memset(y, 0x7f, POINTS * m * sizeof *y);
    assert_int_equal(batch(POINTS, arg, arg_step, res, res_step, NULL), 0);
    for (size_t p = 0; p < POINTS; p++) assert_all_near(name, m, y + p * m, expected);
    free(y);
}

static size_t text_bytes(const wg_function *f) {
    size_t needed = 0;
    const wg_emit_options o = {"f", WG_EMIT_POINT, 0, 0};
    assert_int_equal(wg_function_text(coded, f, &o, NULL, 0, &needed), WG_OK);
    return needed;
}

static void texts_are_loops(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS), *const half = models_new(STEPS - 50, PATHS);
    static const double at[] = {0.1, 0.2, 0.3, 0.5};
    wg_callable *const cell = callable(heat_of_cell, 4, heat_in, at, 2, heat_out);
    static double x[2 * LIKELY_IN + 8];
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const source[] = {recorded(rollout, l, ROLL_IN, x, ROLL_OUT),
                                   recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT),
                                   recorded(heat, cell, HEAT_IN, x, 1)};
    wg_function *f[9];
    static const char *const name[] = {"roll",  "likely", "heat",    "droll", "dlikely",
                                       "dheat", "hroll",  "hlikely", "hheat"};
    for (size_t k = 0; k < 3; k++) {
        f[k] = source[k];
        f[3 + k] = made(wg_function_vjp, source[k]);
        f[6 + k] = made(wg_function_hvp, source[k]);
    }
    emitted e;
    FILE *const text = emitted_text(&e);
    for (size_t k = 0; k < 9; k++) write_all(text, f[k], name[k]);
    (void)fclose(text);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c], "-O1");
        for (size_t k = 0; k < 9; k++) check_text(&e, name[k], f[k], x);
        emitted_close(&e);
    }
    emitted_remove(&e);
    /* twice the steps are hardly more text: controls and data are tables and arguments */
    wg_function *const shorter = recorded(rollout, half, ROLL_IN - 50, x, ROLL_OUT);
    wg_function *const small = recorded(few_repeated, l, FEW, x, 1);
    wg_function *const gradient = made(wg_function_gradient, small);
    const size_t most_of_a_datum = sizeof "-0.000000000000000000e-00,";
    assert_int_equal(shorter->repeats, 1);
    assert_true(text_bytes(source[0]) < 16384 + STEPS * most_of_a_datum);
    assert_true(text_bytes(source[0]) - text_bytes(shorter) < 50 * most_of_a_datum + 256);
    assert_true(text_bytes(gradient) < 32768 + 4 * STEPS * most_of_a_datum);
    wg_function_free(shorter);
    wg_function_free(gradient);
    wg_function_free(small);
    for (size_t k = 0; k < 9; k++) wg_function_free(f[k]);
    wg_callable_free(cell);
    models_free(half);
    models_free(l);
}

static void compiled_bodies_give_the_same(void **state) {
    (void)state;
    models *const l = models_new(STEPS, PATHS);
    static double x[2 * LIKELY_IN + 8];
    char directory[] = "/tmp/wengert-test-XXXXXX";
    assert_non_null(mkdtemp(directory));
    const wg_compile_options o = {.directory = directory};
    fill(x, sizeof x / sizeof *x);
    x[2] = 1.5, x[3] = 0.2;
    wg_function *const source[] = {recorded(rollout, l, ROLL_IN, x, ROLL_OUT),
                                   recorded(likelihood, l, LIKELY_IN, x, LIKELY_OUT)};
    for (size_t k = 0; k < 2; k++) {
        wg_function *const g = made(wg_function_vjp, source[k]);
        wg_function *compiled = NULL;
        wg_compiled how;
        assert_int_equal(wg_function_compile(coded, g, &o, &compiled, &how), WG_OK);
        if (!how.native) print_message("not compiled: %s\n", how.why);
        const size_t m = graph_entries_out(g);
        double *const got = malloc(2 * m * sizeof *got), *const expected = got + m;
        assert_non_null(got);
        assert_int_equal(evaluated(compiled, 1, x, got, NULL, NULL), WG_OK);
        assert_int_equal(evaluated(g, 1, x, expected, NULL, NULL), WG_OK);
        assert_all_near("compiled", m, got, expected);
        free(got);
        wg_function_free(compiled);
        wg_function_free(g);
        wg_function_free(source[k]);
    }
    char line[128];
    (void)snprintf(line, sizeof line, "rm -rf %s", directory);
    assert_int_equal(system(line), 0);
    models_free(l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_in_full),
        cmocka_unit_test(second_and_third_derivatives),
        cmocka_unit_test(bits_do_not_depend_on_points_or_threads),
        cmocka_unit_test(shared_inputs_go_through_once),
        cmocka_unit_test(comparisons_in_steps_are_watched),
        cmocka_unit_test(the_zero_rule_holds_in_repeats),
        cmocka_unit_test(states_need_not_depend_on_what_is_differentiated),
        cmocka_unit_test(repeats_stand_in_repeats),
        cmocka_unit_test(texts_are_loops),
        cmocka_unit_test(compiled_bodies_give_the_same),
    };
    return cmocka_run_group_tests(tests, open_looping, close_tapes);
}
