/* SPDX-License-Identifier: MIT */
/* Checkpoints of solutions: bits, memory, further sweeps, replays, and who stops one. */
#define _DEFAULT_SOURCE
#include "ode_case.h"
#include "sanitized.h"
#include "scratch.h"

/* A gradient of what a solution is at five times, with so many checkpoints. */
enum { TIMES = 5, STATES = 2, ENTRIES = STATES + PARAMS };

typedef struct solved {
    wg_mat y0, p, y, r;
    wg_ode_report report;
} solved;

static solved solve(wg_tape *t, const wg_ode *k, const wg_ode_options *o, double end) {
    const double at[TIMES] = {0, 0.1 * end, 0.35 * end, 0.8 * end, end};
    solved s = {.y0 = wg_mat_input(t, STATES, 1, starts, STATES),
                .p = wg_mat_input(t, PARAMS, 1, params, PARAMS)};
    assert_int_equal(wg_ode_solve(t, k, o, TIMES, at, s.y0, s.p, &s.y, &s.r, &s.report), WG_OK);
    return s;
}

static void gradient(wg_tape *t, const solved *s, double *g) {
    const wg_mat sum[] = {s->y, s->r};
    wg_real f = wg_constant(0);
    for (size_t i = 0; i < 2; i++) f = wg_let(t, wg_add(f, wg_mat_dot(t, sum[i], sum[i])));
    assert_int_equal(wg_reverse(t, f), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, s->y0, g, STATES), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, s->p, g + STATES, PARAMS), WG_OK);
}

static const wg_ode_options ways[] = {{.method = WG_RK4, .step = 0.004},
                                      {.method = WG_DOPRI5, .step = 0.01},
                                      {.rtol = 1e-12, .atol = 1e-13}};
enum { WAYS = sizeof ways / sizeof *ways };

static void number_of_checkpoints_changes_no_bit(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    for (size_t way = 0; way < WAYS; way++) {
        double expected[ENTRIES], g[ENTRIES];
        static const size_t stored[] = {100000, 0, 4, 1, 10, 2, 3, 7};
        for (size_t i = 0; i < (SANITIZED ? 3 : sizeof stored / sizeof *stored); i++) {
            wg_ode_options o = ways[way];
            o.stored = stored[i];
            wg_tape_reset(tape);
            const solved s = solve(tape, k, &o, 20);
            assert_true(s.report.steps > 700);
            gradient(tape, &s, i == 0 ? expected : g);
            if (i != 0) assert_memory_equal(g, expected, sizeof g);
            /* a second sweep finds what the first has left */
            gradient(tape, &s, g);
            assert_memory_equal(g, expected, sizeof g);
            gradient(tape, &s, g);
            assert_memory_equal(g, expected, sizeof g);
        }
    }
    wg_ode_free(k);
}

static void solution_is_one_record(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    const wg_ode_options o = {.method = WG_RK4, .step = 0.0005, .stored = 4};
    wg_stats before, after;
    wg_tape_reset(tape);
    assert_int_equal(wg_tape_stats(tape, &before), WG_OK);
    const solved s = solve(tape, k, &o, 10);
    assert_int_equal(s.report.steps, 20000);
    assert_int_equal(s.report.evaluations, 80000);
    assert_true(s.report.reached == 10);
    assert_int_equal(wg_tape_stats(tape, &after), WG_OK);
    assert_int_equal(after.records - before.records, 1);
    assert_true(after.payload_bytes - before.payload_bytes < 4096);
    wg_ode_free(k);
}

static void repeated_solutions_allocate_nothing(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    wg_stats first, later;
    double g[ENTRIES];
    for (int i = 0; i < 5; i++) {
        wg_tape_reset(tape);
        const solved s = solve(tape, k, &ways[2], 2);
        gradient(tape, &s, g);
        if (i == 1) assert_int_equal(wg_tape_stats(tape, &first), WG_OK);
    }
    assert_int_equal(wg_tape_stats(tape, &later), WG_OK);
    assert_int_equal(first.memory_calls, later.memory_calls);
    wg_ode_free(k);
}

/* Five adjoints at once, and one after the other. */
static void lanes_are_sweeps(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    wg_ode_options o = ways[2];
    o.stored = 3;
    wg_tape_reset(tape);
    const solved s = solve(tape, k, &o, 20);
    enum { LANES = 3 };
    const wg_real out[LANES] = {wg_mat_at(s.y, 0, 2), wg_mat_at(s.y, 1, 4),
                                wg_mat_at(s.r, 0, 3)};
    double seed[LANES * LANES] = {0}, lane[LANES], g[PARAMS];
    for (size_t l = 0; l < LANES; l++) seed[l * (LANES + 1)] = 1;
    assert_int_equal(wg_reverse_lanes(tape, LANES, LANES, out, seed), WG_OK);
    for (size_t l = 0; l < LANES; l++) lane[l] = wg_adjoint_lane(tape, wg_mat_at(s.p, 1, 0), l);
    for (size_t l = 0; l < LANES; l++) {
        assert_int_equal(wg_reverse(tape, out[l]), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, s.p, g, PARAMS), WG_OK);
        assert_true(lane[l] == g[1] && g[1] != 0);
    }
    wg_ode_free(k);
}

/* ---- elsewhere, and again ---------------------------------------------------------------- */

static wg_status last_state(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const double at[2] = {0, 5};
    const wg_ode_options o = {.rtol = 1e-9, .atol = 1e-9, .stored = 3};
    wg_mat s, r;
    (void)n, (void)m;
    const wg_status status =
        wg_ode_solve(t, data, &o, 2, at, wg_mat_gather(t, STATES, 1, x),
                     wg_mat_gather(t, PARAMS, 1, x + STATES), &s, &r, NULL);
    if (status == WG_OK) y[0] = wg_mat_at(s, 0, 1);
    return status;
}

static void replay_solves_again(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    double x[ENTRIES], f, g[ENTRIES], again[ENTRIES];
    wg_real in[ENTRIES], out;
    memcpy(x, starts, STATES * sizeof *x);
    memcpy(x + STATES, params, sizeof params);
    wg_tape_reset(coded);
    assert_int_equal(wg_inputs(coded, ENTRIES, x, in), WG_OK);
    assert_int_equal(last_state(coded, ENTRIES, in, 1, &out, k), WG_OK);
    for (size_t i = 0; i < ENTRIES; i++) x[i] *= 1.25; /* other steps, and more */
    assert_int_equal(wg_tape_replay(coded, ENTRIES, in, x), WG_OK);
    assert_int_equal(wg_reverse(coded, out), WG_OK);
    assert_int_equal(wg_adjoints(coded, ENTRIES, in, again), WG_OK);
    assert_int_equal(wg_gradient(tape, last_state, k, ENTRIES, x, &f, g), WG_OK);
    assert_memory_equal(again, g, sizeof g);
    wg_ode_free(k);
}

static void compiled_solutions_have_the_same_bits(void **state) {
    (void)state;
    wg_ode *const k = hunting(1), *fast = NULL;
    wg_compiled how;
    double expected[ENTRIES], g[ENTRIES];
    const wg_compile_options o = {.directory = COMPILED_BEFORE};
    if (wg_ode_compile(coded, k, &o, &fast, &how) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    for (size_t way = 0; way < WAYS; way++) {
        const wg_ode *const of[] = {k, fast};
        for (size_t i = 0; i < 2; i++) {
            wg_tape_reset(tape);
            const solved s = solve(tape, of[i], &ways[way], 3);
            gradient(tape, &s, i == 0 ? expected : g);
        }
        assert_memory_equal(g, expected, sizeof g);
    }
    wg_ode_free(k);
    wg_ode_free(fast);
}

/* ---- progress ---------------------------------------------------------------------------- */

typedef struct watch {
    size_t calls, most;
    double last;
} watch;
static int watch_call(void *context, double done) {
    watch *const w = context;
    assert_true(done >= w->last || w->calls == 0);
    w->last = done;
    return ++w->calls == w->most;
}

static void solution_tells_of_its_steps_and_stops(void **state) {
    (void)state;
    wg_ode *const k = hunting(1);
    watch w = {0, 0, 0};
    const wg_progress told = {watch_call, &w, 0};
    double g[ENTRIES], expected[ENTRIES];
    wg_tape_reset(tape);
    wg_ode_options o = ways[0];
    o.stored = 2;
    assert_int_equal(wg_tape_progress(tape, &told), WG_OK);
    const solved s = solve(tape, k, &o, 20);
    assert_int_equal(w.calls, s.report.steps);
    assert_true(w.last == 1);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    gradient(tape, &s, expected);
    /* a sweep that is stopped somewhere leaves a recording that can be swept */
    for (size_t most = 1; most < 20000; most = 3 * most) {
        const wg_real f = wg_mat_dot(tape, s.y, s.y);
        w = (watch){0, most, 0};
        assert_int_equal(wg_tape_progress(tape, &told), WG_OK);
        assert_int_equal(wg_reverse(tape, f), WG_ESTOPPED);
        assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
        gradient(tape, &s, g);
        assert_memory_equal(g, expected, sizeof g);
    }
    /* a solution that is stopped is NaN */
    const double at[2] = {0, 1};
    wg_mat y, r;
    w = (watch){0, 7, 0};
    assert_int_equal(wg_tape_progress(tape, &told), WG_OK);
    assert_int_equal(wg_ode_solve(tape, k, &o, 2, at, s.y0, s.p, &y, &r, NULL), WG_ESTOPPED);
    assert_int_equal(wg_tape_progress(tape, NULL), WG_OK);
    assert_nan(wg_value(wg_mat_at(y, 0, 0)));
    wg_tape_reset(tape);
    wg_ode_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(number_of_checkpoints_changes_no_bit),
        cmocka_unit_test(solution_is_one_record),
        cmocka_unit_test(repeated_solutions_allocate_nothing),
        cmocka_unit_test(lanes_are_sweeps),
        cmocka_unit_test(replay_solves_again),
        cmocka_unit_test(compiled_solutions_have_the_same_bits),
        cmocka_unit_test(solution_tells_of_its_steps_and_stops),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
