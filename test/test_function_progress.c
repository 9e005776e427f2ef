/* SPDX-License-Identifier: MIT */
/* test_function_progress.c - long calls tell how far they are; stopped at the first, at a
 * middle and at the last of the callback's calls they leave all as it was. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wengert.h>
#include <wengert/model.h>
#include "pools.h"
#include "scratch.h"

/* ---- somebody who is told ---- */

typedef struct watcher {
    size_t calls, stop_at; /* the call that says stop, from 1 on; 0: none */
    double last;           /* what it was told */
    int begins;            /* what is done may begin again */
    int wrong;             /* something it was told was not as promised */
    pthread_t thread;
} watcher;

static int look(void *context, double done) {
    watcher *const w = context;
    w->calls++;
    w->wrong |= !(done >= 0 && done <= 1) || !pthread_equal(w->thread, pthread_self());
    w->wrong |= done < w->last && !w->begins;
    w->last = done;
    return w->calls == w->stop_at;
}

static watcher watching(size_t stop_at, int begins) {
    return (watcher){.stop_at = stop_at, .begins = begins, .thread = pthread_self()};
}

/* A long call; told by the tape, or as it is given. */
typedef wg_status long_call(void *what, const wg_progress *progress);

/* Lets it go through once, then stops it at the first, a middle and the last call. `after`
 * looks at what is left, where it came to an end and where it was stopped. Gives how often
 * it was told. */
static size_t stop_everywhere(long_call *f, void *what, int begins,
                              void (*after)(void *what, wg_status s)) {
    watcher w = watching(0, begins);
    assert_int_equal(f(what, &(wg_progress){look, &w, 0}), WG_OK);
    assert_false(w.wrong);
    const size_t calls = w.calls;
    assert_true(calls > 0);
    after(what, WG_OK);
    const size_t at[] = {1, (calls + 1) / 2, calls};
    for (size_t k = 0; k < 3; k++) {
        w = watching(at[k], begins);
        assert_int_equal(f(what, &(wg_progress){look, &w, 0}), WG_ESTOPPED);
        assert_false(w.wrong);
        assert_int_equal(w.calls, at[k]); /* nobody is asked again */
        after(what, WG_ESTOPPED);
        assert_int_equal(f(what, NULL), WG_OK);
        after(what, WG_OK);
    }
    return calls;
}

static wg_tape *tape;
static int open_tape(void **state) {
    (void)state;
    tape = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

/* After a failure and a reset: a recording gives what it always gives. */
static void assert_cured(wg_tape *t) {
    assert_int_equal(wg_tape_status(t), WG_ESTOPPED);
    assert_non_null(strstr(wg_tape_message(t), "progress"));
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 0), WG_OK);
    const wg_real x = wg_input(t, 0.5), y = wg_let(t, wg_mul(x, wg_exp(x)));
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_value(y) == 0.5 * exp(0.5));
    assert_true(wg_adjoint(t, x) == exp(0.5) + 0.5 * exp(0.5));
    wg_tape_reset(t);
}

/* ---- functions ---- */

/* y = sin(a x) + x^2, and s, its sum. */
static wg_status wave(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)data;
    y[0] = wg_let(t, wg_add(wg_sin(wg_mul(x[0], x[1])), wg_mul(x[1], x[1])));
    if (m > 1) y[1] = y[0];
    return WG_OK;
}
static const wg_argument wave_in[] = {{"a", 1, 1, WG_SHARED}, {"x", 1, 1, 0}};
static const wg_argument wave_out[] = {{"y", 1, 1, 0}, {"s", 1, 1, WG_SUMMED}};

static wg_function *wave_of(wg_tape *t, size_t outputs) {
    const double at[] = {1.5, 0.25};
    wg_function *f;
    assert_int_equal(wg_function_record(t, wave, NULL, 2, wave_in, at, outputs, wave_out, &f),
                     WG_OK);
    return f;
}

enum { POINTS = 20000, UNTOUCHED = -7 };

typedef struct many {
    const wg_function *f;
    size_t threads;
    double x[POINTS], y[POINTS], s, expected[POINTS], sum;
    void *work;
} many;

static wg_status evaluate_many(void *what, const wg_progress *progress) {
    many *const m = what;
    const double a = 1.5;
    const wg_points x[] = {{&a, 0, 1}, {m->x, 1, 1}};
    const wg_results y[] = {{m->y, 1, 1}, {&m->s, 0, 1}};
    for (size_t p = 0; p < POINTS; p++) m->y[p] = UNTOUCHED;
    m->s = UNTOUCHED;
    return wg_function_evaluate_progress(m->f, POINTS, x, y, pool_of(m->threads), m->work, NULL,
                                         progress);
}

static void look_at_many(void *what, wg_status s) {
    const many *const m = what;
    for (size_t p = 0; p < POINTS; p++)
        assert_true(m->y[p] == m->expected[p] || (s != WG_OK && m->y[p] == UNTOUCHED));
    assert_true(m->s == (s == WG_OK ? m->sum : UNTOUCHED));
}

static void functions_at_many_points_are_stopped(void **state) {
    (void)state;
    static many m;
    wg_function *const f = wave_of(tape, 2);
    m.f = f;
    m.work = malloc(wg_function_work(f, pool_of(3)) + 1);
    assert_non_null(m.work);
    for (size_t p = 0; p < POINTS; p++) m.x[p] = (double)p / POINTS - 0.3;
    assert_int_equal(evaluate_many(&m, NULL), WG_OK);
    memcpy(m.expected, m.y, sizeof m.y);
    m.sum = m.s;
    for (m.threads = 0; m.threads < 2; m.threads++)
        assert_true(stop_everywhere(evaluate_many, &m, 0, look_at_many) > 4);
    /* others take blocks, too: how often the caller's thread comes to speak differs */
    for (m.threads = 2; m.threads < 4; m.threads++)
        for (size_t k = 1; k < 12; k++) {
            watcher w = watching(k, 0);
            const wg_status s = evaluate_many(&m, &(wg_progress){look, &w, 0});
            assert_int_equal(s, w.calls == k ? WG_ESTOPPED : WG_OK);
            assert_false(w.wrong);
            look_at_many(&m, s);
            assert_int_equal(evaluate_many(&m, NULL), WG_OK);
            look_at_many(&m, WG_OK);
        }
    free(m.work);
    wg_function_free(f);
}

static void nobody_is_told_more_often_than_asked(void **state) {
    (void)state;
    static many m;
    wg_function *const f = wave_of(tape, 2);
    m.f = f;
    m.work = malloc(wg_function_work(f, NULL) + 1);
    watcher w = watching(0, 0);
    assert_int_equal(evaluate_many(&m, &(wg_progress){look, &w, 1e9}), WG_OK);
    assert_int_equal(w.calls, 1);
    w = watching(0, 0);
    assert_int_equal(evaluate_many(&m, &(wg_progress){look, &w, NAN}), WG_OK);
    assert_true(w.calls > 1);
    assert_true(w.last == 1);
    assert_int_equal(evaluate_many(&m, &(wg_progress){NULL, NULL, 0}), WG_OK);
    free(m.work);
    wg_function_free(f);
}

/* ---- loops in functions ---- */

enum { STEPS = 300 };

/* A scan of that many steps, with a state that is carried on or, without, a map over as many
 * points, as a function that keeps its loop. */
typedef struct looping {
    wg_callable *k;
    int carried;
} looping;

static wg_status step(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sin(wg_add(wg_mul(x[0], 1.25), x[1])));
    return WG_OK;
}

static wg_status loop(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const looping *const l = data;
    (void)n, (void)m;
    static double zeros[STEPS];
    const wg_mat p = wg_mat_gather(t, 1, 1, x), q = wg_mat_gather(t, 1, 1, x + 1);
    wg_mat all;
    if (l->carried) {
        const wg_source from[] = {wg_from_matrix(p), wg_from_state("u")};
        const wg_stage stage = {l->k, from};
        (void)wg_scan(t, STEPS, 1, &stage, 1, &(wg_state){"u", q}, NULL, &all);
        y[0] = wg_mat_at(all, 0, 0);
        return wg_tape_status(t);
    }
    const wg_source from[] = {wg_from_matrix(p), wg_from_data(zeros, 1, 1)};
    (void)wg_map(t, l->k, STEPS, from, NULL, &all);
    y[0] = wg_mat_sum(t, all);
    return wg_tape_status(t);
}

static wg_callable *step_of(wg_tape *t) {
    const wg_argument in[] = {{"p", 1, 1, WG_SHARED}, {"u", 1, 1, 0}}, out[] = {{"u", 1, 1, 0}};
    const double at[] = {0.5, 0.25};
    wg_function *f;
    wg_callable *k;
    assert_int_equal(wg_function_record(t, step, NULL, 2, in, at, 1, out, &f), WG_OK);
    assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
    wg_function_free(f);
    return k;
}

typedef struct looped {
    const wg_function *f;
    double y[2], expected[2];
    void *work;
} looped;

enum { FEW = 2 };
static wg_status evaluate_loop(void *what, const wg_progress *progress) {
    looped *const l = what;
    const double x[2 * FEW] = {0.5, 0.75, 0.25, 0.125};
    l->y[0] = l->y[1] = UNTOUCHED;
    return wg_function_evaluate_progress(l->f, FEW, &(wg_points){x, 2, 1},
                                         &(wg_results){l->y, 1, 1}, NULL, l->work, NULL,
                                         progress);
}

static void look_at_loop(void *what, wg_status s) {
    const looped *const l = what;
    for (size_t p = 0; p < FEW; p++)
        assert_true(l->y[p] == l->expected[p] ||
                    (s != WG_OK && (l->y[p] == UNTOUCHED || isnan(l->y[p]))));
}

static void loops_in_functions_are_stopped_between_steps(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .loops_over = 16});
    const double at[] = {0.5, 0.75};
    looping how = {step_of(t), 0};
    for (; how.carried < 2; how.carried++) {
        looped l;
        wg_function *f, *g;
        memset(&l, 0, sizeof l);
        assert_int_equal(wg_function_record(t, loop, &how, 1, &(wg_argument){"x", 2, 1, 0}, at,
                                            1, &(wg_argument){"y", 1, 1, 0}, &f),
                         WG_OK);
        assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
        l.f = f;
        l.work = malloc(wg_function_work(f, NULL) + 1);
        assert_int_equal(evaluate_loop(&l, NULL), WG_OK);
        memcpy(l.expected, l.y, sizeof l.y);
        const size_t calls = stop_everywhere(evaluate_loop, &l, 0, look_at_loop);
        assert_true(calls > (how.carried ? STEPS : 4));
        free(l.work);
        /* of a derivative: only that it stops, and gives the same when it does not */
        watcher w = watching(2, 0);
        double x[] = {0.5, 0.75}, y[2];
        void *const work = malloc(wg_function_work(g, NULL) + 1);
        assert_int_equal(wg_function_evaluate_progress(g, 1, &(wg_points){x, 0, 1},
                                                       &(wg_results){y, 0, 1}, NULL, work, NULL,
                                                       &(wg_progress){look, &w, 0}),
                         WG_ESTOPPED);
        free(work);
        wg_function_free(f);
        wg_function_free(g);
    }
    wg_callable_free(how.k);
    wg_tape_free(t);
}

/* ---- recordings ---- */

/* What is recorded, and how it is gone through; x has a gradient of N. */
enum { N = 3 };
typedef struct recorded {
    wg_tape *t, *work;
    wg_callable *k;
    size_t stored;
    enum { MAP, SCAN, CHECKPOINTS, BY_HAND } kind;
    enum { RECORDING, SWEEP, LANES, FORWARD, REPLAY } stopped;
    wg_real x[N], y;
    double g[N], expected[N];
} recorded;

static wg_status region(wg_tape *t, size_t at, size_t n, const wg_real *state, size_t np,
                        const wg_real *param, wg_real *next, void *data) {
    (void)at, (void)np, (void)data;
    for (size_t i = 0; i < n; i++)
        next[i] = wg_let(t, wg_sin(wg_add(wg_mul(state[i], param[0]), state[(i + 1) % n])));
    return WG_OK;
}
static wg_status region_value(size_t at, size_t n, const double *state, size_t np,
                              const double *param, double *next, void *data) {
    (void)at, (void)np, (void)data;
    for (size_t i = 0; i < n; i++) next[i] = param[0] * state[i];
    return WG_OK;
}
static wg_status region_vjp(size_t at, size_t n, const double *state, size_t np,
                            const double *param, const double *w, double *dstate,
                            double *dparam, void *data) {
    (void)at, (void)np, (void)data;
    for (size_t i = 0; i < n; i++) {
        dstate[i] = param[0] * w[i];
        if (dparam != NULL) dparam[0] += w[i] * state[i];
    }
    return WG_OK;
}

static wg_status record(recorded *r) {
    static const wg_region by_record = {.record = region},
                           by_hand = {.value = region_value, .vjp = region_vjp};
    wg_tape *const t = r->t;
    const double at[N] = {0.9, 0.25, 0.5};
    enum { WIDE = 3 * (1 << 14) };
    static double data[WIDE];
    wg_status s = wg_inputs(t, N, at, r->x);
    const wg_mat p = wg_mat_gather(t, 1, 1, r->x), u = wg_mat_gather(t, 2, 1, r->x + 1);
    const wg_mat first = wg_mat_gather(t, 1, 1, r->x + 1);
    wg_mat y;
    if (s != WG_OK) return s;
    if (r->kind == MAP) {
        for (size_t i = 0; i < WIDE; i++) data[i] = 1e-4 * (double)i;
        const wg_source from[] = {wg_from_matrix(p), wg_from_data(data, 1, 1)};
        s = wg_map(t, r->k, WIDE, from, NULL, &y);
        r->y = wg_mat_sum(t, y);
    } else if (r->kind == SCAN) {
        const wg_source from[] = {wg_from_matrix(p), wg_from_state("u")};
        const wg_stage stage = {r->k, from};
        s = wg_scan(t, 40, 1, &stage, 1, &(wg_state){"u", first},
                    &(wg_scan_options){.stored = r->stored}, &y);
        r->y = wg_mat_at(y, 0, 0);
    } else {
        s = wg_checkpoint(t, r->work, 40, 1, r->kind == CHECKPOINTS ? &by_record : &by_hand,
                          r->stored, u, p, &y);
        r->y = wg_mat_sum(t, y);
    }
    return s;
}

static wg_status reverse(recorded *r) {
    const double two[] = {1, 2};
    const wg_status s =
        r->stopped == LANES ? wg_reverse_lanes(r->t, 2, 1, &r->y, two) : wg_reverse(r->t, r->y);
    for (size_t i = 0; i < N; i++) r->g[i] = s == WG_OK ? wg_adjoint(r->t, r->x[i]) : 0;
    return s;
}

static wg_status go_through(void *what, const wg_progress *progress) {
    recorded *const r = what;
    const double at[N] = {0.9, 0.25, 0.5};
    wg_tape_reset(r->t);
    assert_int_equal(wg_tape_forward(r->t, r->stopped == FORWARD), WG_OK);
    if (r->stopped == RECORDING || r->stopped == FORWARD)
        assert_int_equal(wg_tape_progress(r->t, progress), WG_OK);
    wg_status s = record(r);
    if (s != WG_OK || r->stopped == FORWARD) return s;
    if (r->stopped == RECORDING) progress = NULL;
    assert_int_equal(wg_tape_progress(r->t, progress), WG_OK);
    if (r->stopped == REPLAY) s = wg_tape_replay(r->t, N, r->x, at);
    else s = reverse(r);
    assert_int_equal(wg_tape_progress(r->t, NULL), WG_OK);
    if (r->stopped == REPLAY && s == WG_OK) s = reverse(r);
    return s;
}

static void look_at_recording(void *what, wg_status s) {
    recorded *const r = what;
    assert_int_equal(wg_tape_progress(r->t, NULL), WG_OK);
    if (s != WG_OK && (r->stopped == SWEEP || r->stopped == LANES)) {
        /* the recording is as good as before */
        assert_true(isnan(wg_adjoint(r->t, r->x[0])));
        assert_non_null(strstr(wg_tape_message(r->t), "progress"));
        assert_int_equal(wg_tape_status(r->t), WG_OK);
        assert_int_equal(reverse(r), WG_OK);
    } else if (s != WG_OK) {
        assert_cured(r->t);
        return;
    } else if (r->stopped == FORWARD) {
        return;
    }
    assert_memory_equal(r->g, r->expected, sizeof r->g);
}

static void maps_scans_and_checkpointed_loops_are_stopped(void **state) {
    (void)state;
    wg_tape *const work = wg_tape_new(NULL);
    recorded r = {.t = tape, .work = work, .k = step_of(tape)};
    for (int kind = MAP; kind <= BY_HAND; kind++)
        for (r.stored = 0; r.stored < (kind == MAP ? 1 : 6); r.stored += 5) {
            r.kind = (unsigned)kind;
            r.stopped = SWEEP;
            assert_int_equal(go_through(&r, NULL), WG_OK);
            memcpy(r.expected, r.g, sizeof r.g);
            for (int stopped = RECORDING; stopped <= REPLAY; stopped++) {
                r.stopped = (unsigned)stopped;
                assert_true(stop_everywhere(go_through, &r, 1, look_at_recording) >= 3);
                assert_int_equal(wg_tape_forward((wg_tape_reset(tape), tape), 0), WG_OK);
            }
        }
    wg_tape_reset(tape);
    wg_callable_free(r.k);
    wg_tape_free(work);
}

/* ---- branches and models ---- */

static wg_status bend(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_lt(t, x[0], wg_constant(0)) ? wg_let(t, wg_mul(x[0], x[0]))
                                          : wg_let(t, wg_sin(x[0]));
    return WG_OK;
}

typedef struct branching {
    wg_branches *b;
    double x[POINTS], y[POINTS];
} branching;

static wg_status evaluate_branches(void *what, const wg_progress *progress) {
    branching *const b = what;
    assert_int_equal(wg_tape_progress(tape, progress), WG_OK);
    const wg_status s =
        wg_branches_evaluate(b->b, POINTS, &(wg_points){b->x, 1, 1}, &(wg_results){b->y, 1, 1});
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    return s;
}
static void look_at_branches(void *what, wg_status s) {
    branching *const b = what;
    if (s != WG_OK) assert_non_null(strstr(wg_tape_message(tape), "progress"));
    for (size_t p = 0; p < POINTS && s == WG_OK; p++)
        assert_true(fabs(b->y[p] - (b->x[p] < 0 ? b->x[p] * b->x[p] : sin(b->x[p]))) < 1e-15);
}

static void functions_with_branches_are_stopped(void **state) {
    (void)state;
    static branching b;
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    assert_int_equal(wg_branches_new(tape, bend, NULL, 1, &x, 1, &y, NULL, &b.b), WG_OK);
    for (size_t p = 0; p < POINTS; p++) b.x[p] = p < POINTS / 2 ? -0.5 : (double)p / POINTS;
    assert_true(stop_everywhere(evaluate_branches, &b, 1, look_at_branches) > 4);
    wg_branches_free(b.b);
}

typedef struct modelling {
    wg_model *m;
    const wg_function *f;
    wg_mat w;
} modelling;

static wg_status run_model(void *what, const wg_progress *progress) {
    const modelling *const m = what;
    wg_model_values(m->m, m->w)[0] = 1;
    assert_int_equal(wg_tape_progress(tape, progress), WG_OK);
    const wg_status s = wg_model_run(m->m, m->f, POINTS, NULL, NULL);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    return s;
}
static void look_at_model(void *what, wg_status s) {
    const modelling *const m = what;
    assert_true((wg_model_values(m->m, m->w)[0] == 1) == (s != WG_OK));
}

static void runs_of_models_are_stopped_and_leave_variables(void **state) {
    (void)state;
    const wg_dim one = {NULL, 1};
    modelling m;
    wg_function *f;
    static double x[POINTS];
    for (size_t p = 0; p < POINTS; p++) x[p] = 1e-5 * (double)p;
    assert_int_equal(wg_model_new(tape, &m.m), WG_OK);
    const wg_mat in = wg_model_placeholder(m.m, "x", one, one, 0, NULL);
    m.w = wg_model_variable(m.m, "w", one, one, wg_initial_fill(1));
    const wg_mat sum = wg_model_sum(m.m, wg_model_op(m.m, wg_matmul, m.w, in));
    assert_int_equal(wg_model_update(m.m, m.w, sum), WG_OK);
    assert_int_equal(wg_model_feed(m.m, in, x, 1, 1), WG_OK);
    assert_int_equal(wg_model_function(m.m, 1, &sum, &f), WG_OK);
    m.f = f;
    assert_true(stop_everywhere(run_model, &m, 0, look_at_model) > 4);
    wg_function_free(f);
    wg_model_free(m.m);
}

/* ---- making ---- */

enum { STATEMENTS = 4000 };
static wg_status long_chain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    wg_real z = x[0];
    (void)m, (void)data;
    for (size_t i = 0; i < STATEMENTS; i++)
        z = wg_let(t, wg_add(wg_sin(z), wg_mul(x[i % n], z)));
    y[0] = z;
    return WG_OK;
}
static const wg_argument chain_in = {"x", 4, 1, 0}, chain_out = {"y", 1, 1, 0};

typedef struct making {
    const wg_function *f;
    wg_status (*how)(wg_tape *, const wg_function *, wg_function **);
    wg_function *made, *first;
} making;

static wg_status record_chain(wg_tape *t, const wg_function *f, wg_function **out) {
    const double at[] = {0.1, 0.2, 0.3, 0.4};
    (void)f;
    return wg_function_record(t, long_chain, NULL, 1, &chain_in, at, 1, &chain_out, out);
}
static wg_status extract_chain(wg_tape *t, const wg_function *f, wg_function **out) {
    const double at[] = {0.1, 0.2, 0.3, 0.4};
    wg_real x[4], y;
    (void)f;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 4, at, x), WG_OK);
    assert_int_equal(long_chain(t, 4, x, 1, &y, NULL), WG_OK);
    const wg_status s = wg_function_extract(t, 1, &chain_in, x, 1, &chain_out, &y, out);
    /* the recording is as good as before */
    assert_int_equal(wg_reverse(t, y), WG_OK);
    return s;
}
static int nowhere(void *context, const char *text, size_t bytes) {
    (void)context, (void)text, (void)bytes;
    return 0;
}
static wg_status write_chain(wg_tape *t, const wg_function *f, wg_function **out) {
    *out = NULL;
    return wg_function_emit(t, f, NULL, nowhere, NULL);
}

static wg_status make(void *what, const wg_progress *progress) {
    making *const m = what;
    assert_int_equal(wg_tape_progress(tape, progress), WG_OK);
    const wg_status s = m->how(tape, m->f, &m->made);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    return s;
}

static void look_at_made(void *what, wg_status s) {
    making *const m = what;
    wg_function_stats made, first;
    if (s != WG_OK) {
        assert_null(m->made);
        assert_non_null(strstr(wg_tape_message(tape), "progress"));
        if (m->how == extract_chain) assert_int_equal(wg_tape_status(tape), WG_OK);
        else assert_cured(tape);
        return;
    }
    if (m->made == NULL) return;
    if (m->first == NULL) m->first = m->made;
    assert_int_equal(wg_function_statistics(m->made, &made), WG_OK);
    assert_int_equal(wg_function_statistics(m->first, &first), WG_OK);
    assert_memory_equal(&made, &first, sizeof made);
    if (m->made != m->first) wg_function_free(m->made);
}

static void functions_that_are_made_are_stopped(void **state) {
    (void)state;
    wg_function *f;
    assert_int_equal(record_chain(tape, NULL, &f), WG_OK);
    wg_status (*const how[])(wg_tape *, const wg_function *, wg_function **) = {
        record_chain,    extract_chain,   write_chain,         wg_function_gradient,
        wg_function_jvp, wg_function_hvp, wg_function_hessian,
    };
    for (size_t k = 0; k < sizeof how / sizeof *how; k++) {
        making m = {f, how[k], NULL, NULL};
        assert_true(stop_everywhere(make, &m, 1, look_at_made) >= 3);
        wg_function_free(m.first);
    }
    wg_function_free(f);
}

/* ---- compiling ---- */

static char directory[SCRATCH_BYTES];

static int open_directory(void **state) {
    (void)state;
    return scratch_make(directory);
}
static int close_directory(void **state) {
    (void)free_pools(state);
    return scratch_remove(directory);
}

static const char *real_compiler(void) {
    const char *const cc = getenv("CC");
    return cc == NULL || *cc == 0 || strchr(cc, ' ') != NULL ? "cc" : cc;
}

/* How a compiler behaves that is asked to end: it ends, does not, has made its file by then and
 * says that all went well, or leaves that to a process which hears nothing and takes a
 * while. */
enum { WILLING, STUBBORN, FINISHED, OUTLIVED, MANNERS };

/* A compiler that starts another process and waits for it; it answers questions at once. */
static void write_compiler(char *path, size_t room, const char *name, int manners) {
    static const char outlived[] =
        "while [ \"$1\" != -o ]; do shift; done\n"
        "setsid sh -c 'echo $$ >>\"$1\"; sleep 0.7; : >\"$0\"' \"$2\" $here/processes &";
    static const char *const first[] = {":", "trap '' TERM", "trap 'exit 0' TERM; $cc \"$@\"",
                                        outlived};
    (void)snprintf(path, room, "%s/%s", directory, name);
    FILE *const f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fprintf(f,
                        "#!/bin/sh\ncc=%s here=%s\ncase \"$*\" in *\" -o \"*)\n%s\n"
                        "echo $$ >>$here/processes\n"
                        "sleep 100 & echo $! >>$here/processes\nwait;; esac\nexec $cc \"$@\"\n",
                        real_compiler(), directory, first[manners]) > 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static int shell(const char *text) {
    char line[512];
    (void)snprintf(line, sizeof line, "cd %s && %s", directory, text);
    return system(line);
}

static wg_status compile(const wg_function *f, const char *with, const char *where,
                         int (*call)(void *, double), watcher *w, wg_function **out) {
    static const char *const quick[] = {"-O0", NULL};
    assert_int_equal(wg_tape_progress(tape, &(wg_progress){call, w, 0}), WG_OK);
    const wg_status s =
        wg_function_compile(tape, f, &(wg_compile_options){with, quick, where}, out, NULL);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    return s;
}

/* Waits until it is said on the disc that the compiler runs. */
static int when_it_runs(void *context, double done) {
    watcher *const w = context;
    struct stat s;
    char path[SCRATCH_BYTES + 16];
    (void)snprintf(path, sizeof path, "%s/processes", directory);
    w->calls++;
    w->wrong |= done != 0;
    return stat(path, &s) == 0 && s.st_size > 0 && w->calls > w->stop_at;
}

static void a_compiler_that_runs_is_stopped_and_leaves_nothing(void **state) {
    (void)state;
    wg_function *const f = wave_of(tape, 1);
    for (int manners = 0; manners < MANNERS; manners++)
        for (size_t more = 0; more < 20; more += 10) {
            char path[96], where[96];
            wg_function *out = f;
            write_compiler(path, sizeof path, "slow", manners);
            (void)snprintf(where, sizeof where, "%s/slow.d", directory);
            watcher w = watching(more, 0);
            assert_int_equal(compile(f, path, where, when_it_runs, &w, &out), WG_ESTOPPED);
            assert_false(w.wrong);
            assert_null(out);
            assert_cured(tape);
            assert_int_equal(shell("test -z \"$(ls slow.d)\""), 0);
            /* no child is left; what it has started was killed, and dies when it gets a turn */
            assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
            assert_int_equal(errno, ECHILD);
            assert_int_equal(
                shell("for p in $(cat processes); do n=0; "
                      "while kill -0 $p 2>/dev/null && "
                      "! grep -q '^State:.Z' /proc/$p/status; "
                      "do n=$((n + 1)); test $n -lt 100 || exit 1; sleep 0.1; done; done"),
                0);
            assert_int_equal(shell("rm processes"), 0);
        }
    wg_function_free(f);
}

static void compiling_is_stopped_at_any_time(void **state) {
    (void)state;
    wg_function *const f = wave_of(tape, 1);
    char where[96];
    (void)snprintf(where, sizeof where, "%s/each.d", directory);
    wg_function *out;
    for (size_t k = 1;; k += 1 + k / 2) {
        watcher w = watching(k, 1);
        const wg_status s = compile(f, real_compiler(), where, look, &w, &out);
        assert_false(w.wrong);
        if (s == WG_OK) {
            assert_true(k > 2);
            break;
        }
        assert_int_equal(s, WG_ESTOPPED);
        assert_null(out);
        assert_cured(tape);
        assert_int_equal(shell("test ! -d each.d || test -z \"$(ls each.d)\""), 0);
    }
    wg_function_free(out);
    wg_function_free(f);
}

/* a sqrt(b): at (0, 0) its derivative by b is 0 by the zero rule, which a plain run does not
 * know. */
static wg_status root(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], wg_sqrt(x[1])));
    return WG_OK;
}

static void points_before_a_stop_are_done_with_care(void **state) {
    (void)state;
    enum { CROWD = 1000, EDGE = 3 };
    static double a[CROWD], b[CROWD], da[CROWD], db[CROWD];
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, 0}}, out = {"y", 1, 1, 0};
    const double at[] = {0.5, 0.25};
    wg_function *f, *g;
    assert_int_equal(wg_function_record(tape, root, NULL, 2, in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(tape, f, &g), WG_OK);
    for (size_t p = 0; p < CROWD; p++) {
        a[p] = p != EDGE, b[p] = p != EDGE ? 4 : 0;
        da[p] = db[p] = UNTOUCHED;
    }
    void *const work = aligned_alloc(64, (wg_function_work(g, NULL) + 63) / 64 * 64);
    assert_non_null(work);
    const wg_points x[] = {{a, 1, 1}, {b, 1, 1}};
    const wg_results y[] = {{da, 1, 1}, {db, 1, 1}};
    watcher w = watching(1, 0);
    assert_int_equal(wg_function_evaluate_progress(g, CROWD, x, y, NULL, work, NULL,
                                                   &(wg_progress){look, &w, 0}),
                     WG_ESTOPPED);
    assert_true(da[EDGE] == 0 && db[EDGE] == 0);
    assert_true(da[EDGE + 1] == 2 && db[EDGE + 1] == 0.25);
    assert_true(da[CROWD - 1] == UNTOUCHED);
    free(work);
    wg_function_free(g);
    wg_function_free(f);
}

/* ---- the callback itself ---- */

typedef struct meddler {
    wg_tape *t;
    wg_mark mark;
    size_t calls;
    int wrong;
} meddler;

static wg_status nothing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

static int meddle(void *context, double done) {
    meddler *const m = context;
    double y;
    (void)done;
    m->calls++;
    m->wrong |= !isnan(wg_value(wg_input(m->t, 1)));
    m->wrong |= wg_tape_rewind(m->t, m->mark) != WG_EMODE;
    m->wrong |= wg_eval(m->t, nothing, NULL, 0, NULL, 0, &y) != WG_EMODE;
    m->wrong |= wg_tape_status(m->t) != WG_EMODE;
    m->wrong |= wg_tape_pause(m->t) != WG_EMODE || wg_tape_resume(m->t) != WG_EMODE;
    wg_tape_reset(m->t);
    return 0;
}

static void the_callback_cannot_use_the_tape(void **state) {
    (void)state;
    recorded r = {.t = tape, .k = step_of(tape), .kind = SCAN};
    for (r.stopped = RECORDING; r.stopped <= SWEEP; r.stopped++) {
        meddler m = {.t = tape};
        r.stored = 5;
        assert_int_equal(go_through(&r, NULL), WG_OK);
        memcpy(r.expected, r.g, sizeof r.g);
        wg_tape_reset(tape);
        m.mark = wg_tape_mark(tape);
        assert_int_equal(go_through(&r, &(wg_progress){meddle, &m, 0}), WG_OK);
        assert_true(m.calls >= 40);
        assert_false(m.wrong);
        assert_memory_equal(r.g, r.expected, sizeof r.g);
    }
    meddler m = {.t = tape, .mark = wg_tape_mark(tape)};
    wg_function *f;
    assert_int_equal(wg_tape_progress(tape, &(wg_progress){meddle, &m, 0}), WG_OK);
    assert_int_equal(record_chain(tape, NULL, &f), WG_OK);
    assert_true(m.calls >= 3);
    assert_false(m.wrong);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    wg_function_free(f);
    wg_callable_free(r.k);
    assert_int_equal(wg_tape_progress(NULL, NULL), WG_ENULL);
}

/* A model or branches that are told of, run again by who is told. */
typedef struct again {
    modelling m;
    wg_branches *b;
    size_t calls;
    int wrong;
} again;

static int run_again(void *context, double done) {
    again *const a = context;
    const double x[] = {0.5, -0.5};
    double y[2];
    (void)done;
    a->calls++;
    if (a->m.m != NULL) a->wrong |= wg_model_run(a->m.m, a->m.f, 1, NULL, NULL) == WG_ENULL;
    if (a->b != NULL)
        a->wrong |= wg_branches_evaluate(a->b, 2, &(wg_points){x, 1, 1},
                                         &(wg_results){y, 1, 1}) != WG_EMODE;
    return 0;
}

static void models_and_branches_outlive_a_callback_that_runs_them(void **state) {
    (void)state;
    static branching b;
    const wg_argument x = {"x", 1, 1, 0}, y = {"y", 1, 1, 0};
    again a = {.calls = 0};
    assert_int_equal(wg_branches_new(tape, bend, NULL, 1, &x, 1, &y, NULL, &b.b), WG_OK);
    for (size_t p = 0; p < POINTS; p++) b.x[p] = p % 2 == 0 ? -0.5 : 0.5;
    a.b = b.b;
    assert_int_equal(evaluate_branches(&b, &(wg_progress){run_again, &a, 0}), WG_OK);
    look_at_branches(&b, WG_OK);
    assert_true(a.calls > 0);
    assert_false(a.wrong);
    wg_branches_free(b.b);

    const wg_dim one = {NULL, 1};
    static double at[POINTS], twice[POINTS];
    wg_function *f;
    for (size_t p = 0; p < POINTS; p++) at[p] = (double)p;
    a = (again){.calls = 0};
    wg_tape_reset(tape);
    assert_int_equal(wg_model_new(tape, &a.m.m), WG_OK);
    const wg_mat in = wg_model_placeholder(a.m.m, "x", one, one, 0, NULL);
    const wg_mat sum = wg_model_op(a.m.m, wg_mat_add, in, in);
    assert_int_equal(wg_model_feed(a.m.m, in, at, 1, 1), WG_OK);
    assert_int_equal(wg_model_function(a.m.m, 1, &sum, &f), WG_OK);
    a.m.f = f;
    assert_int_equal(wg_tape_progress(tape, &(wg_progress){run_again, &a, 0}), WG_OK);
    assert_int_equal(wg_model_run(a.m.m, f, POINTS, &(wg_results){twice, 1, 1}, NULL), WG_OK);
    for (size_t p = 0; p < POINTS; p++) assert_true(twice[p] == 2 * at[p]);
    assert_true(a.calls > 0);
    wg_function_free(f);
    wg_model_free(a.m.m);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_tape, close_tape)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_at_many_points_are_stopped),
        TEST(nobody_is_told_more_often_than_asked),
        TEST(loops_in_functions_are_stopped_between_steps),
        TEST(maps_scans_and_checkpointed_loops_are_stopped),
        TEST(functions_with_branches_are_stopped),
        TEST(runs_of_models_are_stopped_and_leave_variables),
        TEST(functions_that_are_made_are_stopped),
        TEST(a_compiler_that_runs_is_stopped_and_leaves_nothing),
        TEST(compiling_is_stopped_at_any_time),
        TEST(points_before_a_stop_are_done_with_care),
        TEST(the_callback_cannot_use_the_tape),
        TEST(models_and_branches_outlive_a_callback_that_runs_them),
    };
    return cmocka_run_group_tests(tests, open_directory, close_directory);
}
