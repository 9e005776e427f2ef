/* SPDX-License-Identifier: MIT */
/* repeat_case.h - models whose recordings have loops, the same in full, and how functions of
 * both kinds are compared. A file that includes it defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_REPEAT_CASE_H
#define WENGERT_TEST_REPEAT_CASE_H

#include "driver_cases.h"
#include "emitted.h"

#include "tape/function/graph/repeat.h"
#include <wengert/derive.h>

/* ---- two models -------------------------------------------------------------------------- */

/* A pendulum with a control: state s, parameters p shared by all steps, control u and datum d
 * of each step. Gives the next state, a cost that is summed, and a number of each step. */
enum { STEPS = 300, PATHS = 450 };
static inline wg_status swing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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
static inline wg_status term(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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

static inline int open_looping(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES, .loops_over = 4096};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}

typedef struct models {
    wg_callable *swing, *term;
    double d[STEPS], w[PATHS];
    size_t steps, paths;
} models;

static inline models *models_new(size_t steps, size_t paths) {
    models *const m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->swing = callable(swing, 4, swing_in, swing_at, 3, swing_out);
    m->term = callable(term, 3, term_in, term_at, 2, term_out);
    for (size_t i = 0; i < STEPS; i++) m->d[i] = 0.3 * sin(0.1 * (double)i);
    for (size_t i = 0; i < PATHS; i++) m->w[i] = 0.5 + 0.01 * (double)(i % 70);
    m->steps = steps, m->paths = paths;
    return m;
}
static inline void models_free(models *m) {
    wg_callable_free(m->swing);
    wg_callable_free(m->term);
    free(m);
}

/* x: start, p, u of every step. y: the end, the cost, what was seen at the first and last step.
 */
enum { ROLL_IN = 4 + STEPS, ROLL_OUT = 5 };
static inline wg_status rollout(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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
static inline wg_status rollout_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                        wg_real *y, void *user) {
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
static inline wg_status likelihood(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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
static inline wg_status likelihood_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m,
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
static inline double control(size_t i) { return 0.2 * cos(0.05 * (double)i); }
static inline wg_status few(wg_tape *t, const wg_real *x, wg_real *y, void *user,
                            wg_callback *of) {
    wg_real all[ROLL_IN], r[ROLL_OUT];
    for (size_t i = 0; i < FEW; i++) all[i] = x[i];
    for (size_t i = 0; i < STEPS; i++) all[FEW + i] = wg_constant(control(i));
    const wg_status s = of(t, ROLL_IN, all, ROLL_OUT, r, user);
    if (s == WG_OK)
        *y = wg_let(t, wg_add(wg_mul(r[0], r[3]), wg_add(r[2], wg_mul(r[4], r[1]))));
    return s;
}
static inline wg_status few_repeated(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                     wg_real *y, void *user) {
    (void)n, (void)m;
    return few(t, x, y, user, rollout);
}
static inline wg_status few_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                    wg_real *y, void *user) {
    (void)n, (void)m;
    return few(t, x, y, user, rollout_in_full);
}

/* ---- functions and their values ---------------------------------------------------------- */

static inline wg_function *recorded(wg_callback *f, void *data, size_t n, const double *x,
                                    size_t m) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    return function_of(f, data, 1, &in, x, 1, &out);
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);
static inline wg_function *made(transform *by, const wg_function *f) {
    wg_function *g = NULL;
    if (by(coded, f, &g) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    return g;
}

static inline size_t entries(const wg_argument *a) { return a->rows * a->cols; }

/* All inputs stand one after the other at each point, all outputs likewise. */
static inline wg_status evaluated(const wg_function *f, size_t points, const double *x,
                                  double *y, wg_threads *threads, wg_function_guard *guard) {
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

static inline void assert_all_near(const char *what, size_t n, const double *got,
                                   const double *expected) {
    double size = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - expected[i]) <=
              TOL_PROGRAM_ULP * DBL_EPSILON * (size + fabs(expected[i]))))
            fail_msg("%s, entry %zu: got %.17g, expected %.17g", what, i, got[i], expected[i]);
}

/* By the interpreter and node by node, against the function in full. */
static inline void compare(const char *what, transform *by, const wg_function *f,
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

static inline void fill(double *x, size_t n) {
    for (size_t i = 0; i < n; i++) x[i] = 0.3 * sin(1.7 * (double)i + 0.4);
}

/* ---- repeats in repeats ------------------------------------------------------------------ */

/* Heat on a ring of cells, whose conductivity is shared; a step is a map over many cells. */
enum { CELLS = 300, HEAT_IN = CELLS + 1 };
static inline wg_status heat_of_cell(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                     wg_real *y, void *data) {
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

static inline wg_status heat(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
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
static inline wg_status heat_in_full(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                     wg_real *y, void *user) {
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

#endif
