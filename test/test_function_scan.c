/* SPDX-License-Identifier: MIT */
/* Loops of functions: recurrences, against the same steps written out, with every number of
 * states stored; refusals; memory. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "counted.h"
#include "sanitized.h"
#include "scan_case.h"

/* ---- a recurrence ------------------------------------------------------------------------ */

enum { STEPS = 12, PARAMS = 3 };

/* q, r: states; p: shared; u: active, another one in each step; d: data of each step. Outputs:
 * the states, z kept in each step, s summed. */
static const wg_argument in[] = {{"q", 2, 1, 0},
                                 {"p", 3, 1, WG_SHARED},
                                 {"u", 1, 1, 0},
                                 {"r", 1, 1, WG_SHARED},
                                 {"d", 2, 1, WG_PASSIVE}};
static const wg_argument out[] = {
    {"z", 2, 1, 0}, {"q", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}, {"r", 1, 1, 0}};

/* x: q, p, u, r, d; y: z, q, s, r. */
static wg_status recur(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    const wg_real *const q = x, *const p = x + 2, *const d = x + 7;
    const wg_real u = x[5], r = x[6];
    y[0] = wg_let(t, wg_mul(q[0], u));
    y[1] = wg_let(t, wg_sub(wg_mul(q[1], d[0]), r));
    y[2] = wg_let(t, wg_add(wg_mul(p[0], q[0]), wg_mul(q[1], u)));
    y[3] = wg_let(t, wg_sub(wg_mul(p[1], q[1]), wg_mul(wg_mul(q[0], q[0]), d[1])));
    y[4] = wg_let(t, wg_mul(wg_add(q[0], r), p[2]));
    y[5] = wg_let(t, wg_add(wg_mul(r, 0.5), wg_mul(y[0], 0.25)));
    return WG_OK;
}

static wg_status fill_step(size_t first, size_t count, double *to, void *user) {
    if (user != NULL) *(size_t *)user += count;
    for (size_t i = 0; i < 2 * count; i++) to[i] = number(2 * first + i);
    return WG_OK;
}

typedef struct loop {
    const wg_callable *k;
    size_t steps, stored;
    size_t calls; /* of the function, in whatever form */
} loop;

/* x: q, r, p, u of every step; y: q, r, s, z of every step. */
enum { MOST = 60 };
static wg_status scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    loop *const l = user;
    (void)n, (void)m;
    const wg_state states[] = {{"q", wg_mat_gather(t, 2, 1, x)},
                               {"r", wg_mat_gather(t, 1, 1, x + 2)}};
    const wg_source s[] = {wg_from_state("q"), wg_from_matrix(wg_mat_gather(t, 3, 1, x + 3)),
                           wg_each_step(wg_from_matrix(wg_mat_gather(t, 1, l->steps, x + 6))),
                           wg_from_state("r"),
                           wg_each_step(wg_from_fill(fill_step, &l->calls))};
    const wg_stage stage = {l->k, s};
    const wg_scan_options o = {.stored = l->stored};
    wg_mat r[4];
    const wg_status status = wg_scan(t, l->steps, 1, &stage, 2, states, &o, r);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < 2; i++) y[i] = wg_mat_at(r[0], i, 0);
    y[2] = wg_mat_at(r[1], 0, 0);
    y[3] = wg_mat_at(r[3], 0, 0);
    for (size_t i = 0; i < 2 * l->steps; i++) y[4 + i] = wg_mat_at(r[2], i % 2, i / 2);
    return WG_OK;
}

static wg_status unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    const loop *const l = user;
    wg_real a[9] = {x[0], x[1], x[3], x[4], x[5], x[0], x[2], x[0], x[0]}, b[6];
    (void)n, (void)m;
    y[3] = wg_constant(0);
    for (size_t i = 0; i < l->steps; i++) {
        a[5] = x[6 + i];
        a[7] = wg_constant(number(2 * i)), a[8] = wg_constant(number(2 * i + 1));
        const wg_status s = recur(t, 9, a, 6, b, NULL);
        if (s != WG_OK) return s;
        y[4 + 2 * i] = b[0], y[5 + 2 * i] = b[1];
        a[0] = b[2], a[1] = b[3], a[6] = b[5];
        y[3] = wg_let(t, wg_add(y[3], b[4]));
    }
    y[0] = a[0], y[1] = a[1], y[2] = a[6];
    return WG_OK;
}

static void a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + MOST], y[2][4 + 2 * MOST], g[2][6 + MOST], first[6 + MOST], w[4 + 2 * MOST];
    for (size_t i = 0; i < 6 + MOST; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * MOST; i++) w[i] = number(7 * i);
    const size_t lengths[] = {0, 1, 2, 3, STEPS, MOST};
    for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
        for (size_t stored = 0; stored <= lengths[j] + 1; stored++) {
            loop l = {k, lengths[j], stored, 0};
            const size_t n = 6 + l.steps, m = 4 + 2 * l.steps;
            assert_int_equal(wg_vjp(tape, scan, &l, n, x, m, w, y[0], g[0]), WG_OK);
            assert_int_equal(wg_vjp(tape, unrolled, &l, n, x, m, w, y[1], g[1]), WG_OK);
            for (size_t i = 0; i < m; i++)
                if (i != 3) assert_true(y[0][i] == y[1][i]);
            assert_near(y[0][3], y[1][3]);
            for (size_t i = 0; i < n; i++) assert_near(g[0][i], g[1][i]);
            if (stored == 0) memcpy(first, g[0], sizeof first);
            assert_memory_equal(first, g[0], n * sizeof *first);
        }
    wg_callable_free(k);
}

/* The fewest evaluations beside the adjoint steps, by looking at all ways. */
static size_t fewest[MOST + 1][MOST + 1];
static void find_fewest(void) {
    for (size_t l = 1; l <= MOST; l++)
        for (size_t c = 1; c <= MOST; c++) {
            fewest[l][c] = l * (l - 1) / 2;
            for (size_t i = 1; c > 1 && i < l; i++) {
                const size_t n = i + fewest[l - i][c - 1] + fewest[i][c];
                if (n < fewest[l][c]) fewest[l][c] = n;
            }
        }
}

static void steps_are_evaluated_again_as_seldom_as_can_be(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + MOST], g[6 + MOST], w[4 + 2 * MOST];
    for (size_t i = 0; i < 6 + MOST; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * MOST; i++) w[i] = 1;
    find_fewest();
    for (size_t steps = 1; steps <= MOST; steps += steps < 12 ? 1 : 6)
        for (size_t stored = 1; stored <= steps; stored++) {
            loop l = {k, steps, stored, 0};
            assert_int_equal(wg_vjp(tape, scan, &l, 6 + steps, x, 4 + 2 * steps, w, NULL, g),
                             WG_OK);
            /* the recording itself goes to the end, one step further than the adjoint needs */
            const size_t expected = fewest[steps][stored] + 1 + steps;
            if (l.calls != expected)
                fail_msg("%zu steps, %zu states: %zu evaluations, not %zu", steps, stored,
                         l.calls, expected);
        }
    wg_callable_free(k);
}

static void sweeps_can_be_repeated(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[3][6 + STEPS];
    wg_real v[6 + STEPS], y[4 + 2 * STEPS];
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t stored = 1; stored <= STEPS; stored++) {
        loop l = {k, STEPS, stored, 0};
        wg_tape_reset(coded);
        assert_int_equal(wg_inputs(coded, 6 + STEPS, x, v), WG_OK);
        assert_int_equal(scan(coded, 6 + STEPS, v, 4 + 2 * STEPS, y, &l), WG_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_reverse(coded, y[3]), WG_OK);
            assert_int_equal(wg_adjoints(coded, 6 + STEPS, v, g[again]), WG_OK);
        }
        assert_memory_equal(g[0], g[1], sizeof g[0]);
        for (size_t i = 0; i < 6 + STEPS; i++) x[i] = -x[i];
        assert_int_equal(wg_tape_replay(coded, 6 + STEPS, v, x), WG_OK);
        assert_int_equal(wg_reverse(coded, y[3]), WG_OK);
        assert_int_equal(wg_adjoints(coded, 6 + STEPS, v, g[0]), WG_OK);
        const double value = wg_tape_value(coded, y[3]);
        double again[4 + 2 * STEPS], seed[4 + 2 * STEPS] = {0};
        seed[3] = 1;
        assert_int_equal(wg_vjp(tape, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, seed, again, g[1]),
                         WG_OK);
        assert_true(value == again[3]);
        assert_memory_equal(g[0], g[1], sizeof g[0]);
    }
    wg_callable_free(k);
}

static void scans_have_tangents_and_lanes(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    enum { N = 6 + STEPS, M = 4 + 2 * STEPS };
    double x[N], y[M], jv[M];
    static double jac[2][M * N];
    wg_check found;
    for (size_t i = 0; i < N; i++) x[i] = number(3 * i + 2);
    for (size_t stored = 2; stored <= STEPS; stored += 5) {
        loop l = {k, STEPS, stored, 0};
        if (wg_check_gradient(tape, scan, &l, N, x, M, &found) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        for (int which = 0; which < 2; which++)
            assert_int_equal(wg_jacobian(tape, which ? unrolled : scan, &l, N, x, M, y,
                                         WG_ROW_MAJOR, jac[which], N),
                             WG_OK);
        for (size_t i = 0; i < M * N; i++) assert_near(jac[0][i], jac[1][i]);
        assert_int_equal(wg_jvp(tape, scan, &l, N, x, x, M, y, jv), WG_OK);
        for (size_t j = 0; j < M; j++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++) sum += jac[1][j * N + i] * x[i];
            assert_near(jv[j], sum);
        }
    }
    wg_callable_free(k);
}

/* ---- a long loop ------------------------------------------------------------------------- */

static wg_status logistic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_mul(x[2], 1e-3)));
    return WG_OK;
}

static wg_status count_step(size_t first, size_t count, double *to, void *user) {
    ++*(size_t *)user;
    (void)count;
    to[0] = (double)(first % 5);
    return WG_OK;
}

static void a_million_steps_go_into_the_memory_of_three_hundred_states(void **state) {
    (void)state;
    enum { LONG = SANITIZED ? 100000 : 1000000, STORED = 300, SIZE = 64 };
    const wg_argument a[] = {
        {"q", 1, 1, 0}, {"p", 1, 1, WG_SHARED}, {"d", 1, 1, WG_PASSIVE | WG_SHARED}};
    const wg_argument y = {"q", 1, 1, 0};
    wg_callable *const k = make(logistic, 3, a, at, 1, &y);
    wg_tape *const t = wg_tape_new(NULL);
    size_t calls = 0;
    double q[SIZE], p = 0.999999, g = 0, expected = 0, value = 0;
    for (size_t i = 0; i < SIZE; i++) q[i] = 1;
    const wg_mat mp = wg_mat_input(t, 1, 1, &p, 1);
    const wg_state s = {"q", wg_mat_input(t, 1, SIZE, q, 1)};
    const wg_source x[] = {wg_from_state("q"), wg_from_matrix(mp),
                           wg_each_step(wg_from_fill(count_step, &calls))};
    const wg_stage stage = {k, x};
    const wg_scan_options o = {.cells = {SIZE}, .stored = STORED};
    wg_mat r;
    wg_stats before, after;
    assert_int_equal(wg_tape_stats(t, &before), WG_OK);
    assert_int_equal(wg_scan(t, LONG, 1, &stage, 1, &s, &o, &r), WG_OK);
    assert_int_equal(wg_mat_reverse(t, r, NULL, 1), WG_OK);
    assert_int_equal(wg_tape_stats(t, &after), WG_OK);
    assert_true(after.payload_bytes - before.payload_bytes < (STORED + 20) * SIZE * 8);
    assert_true(after.committed_bytes < before.committed_bytes + (1 << 20));
    assert_int_equal(after.records, before.records + 1);
    /* r = 3: C(302, 2) < LONG <= C(303, 3); t = r l - C(c + r, r - 1) */
    const size_t again = 3 * (size_t)LONG - 303 * 302 / 2;
    assert_int_equal(calls, again + 1 + LONG);
    assert_int_equal(wg_mat_adjoint(t, mp, &g, 1), WG_OK);
    value = 1;
    for (size_t i = 0; i < LONG; i++) {
        expected = expected * p + value;
        value = value * p + (double)(i % 5) * 1e-3;
    }
    assert_true(r.value[7] == value);
    assert_true(fabs(g - SIZE * expected) < 1e-9 * g);
    wg_tape_free(t);
    wg_callable_free(k);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refusals_name_the_call_the_argument_and_both_shapes(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    static const double numbers[40];
    wg_mat y[8];
#define REFUSED(expected, part, ...)                                                           \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        const wg_mat q = wg_mat_input(tape, 2, 1, numbers, 2);                                 \
        const wg_mat p = wg_mat_input(tape, 3, 1, numbers, 3);                                 \
        const wg_mat u = wg_mat_fill(tape, 1, 4, 0), one = wg_mat_fill(tape, 1, 1, 0);         \
        wg_state z[] = {{"q", q}, {"r", one}, {"s", one}};                                     \
        wg_source s[] = {wg_from_state("q"), wg_from_matrix(p),                                \
                         wg_each_step(wg_from_matrix(u)), wg_from_state("r"),                  \
                         wg_from_data(numbers, 0, 1)};                                         \
        wg_stage g[] = {{k, s}, {k, s}};                                                       \
        wg_scan_options o = {.stored = 1};                                                     \
        (void)z, (void)g, (void)o;                                                             \
        assert_int_equal((__VA_ARGS__), expected);                                             \
        assert_message(tape, part);                                                            \
        assert_true(y[0].value == NULL && y[1].value == NULL);                                 \
    } while (0)
    REFUSED(WG_OK, "",
            (wg_scan(tape, 4, 1, g, 2, z, &o, y), y[0].value = y[1].value = NULL, WG_OK));
    y[2].rows = y[3].rows = 123;
    REFUSED(WG_ESHAPE, "input u of stage 0 is 1x4, not 1x1 for 5 points",
            wg_scan(tape, 5, 1, g, 2, z, &o, y));
    assert_true(y[2].rows == 0 &&
                y[2].value == NULL); /* all four results, not only the states */
    assert_true(y[3].rows == 0 && y[3].value == NULL);
    REFUSED(WG_ESHAPE, "state q is 3x1, an output of 2x1 at 1 cells",
            (z[0].start = p, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ESHAPE, "input p of stage 0 is 2x1, not 3x1",
            (s[1] = wg_from_matrix(q), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ESHAPE, "input p of stage 0 is 3x1, q has 2 entries",
            (s[1] = wg_from_state("q"), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "has the name nobody",
            (s[1] = wg_from_state("nobody"), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "no new state and no output",
            (s[0] = wg_from_next("q", 0, 0, 0), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    y[4].rows = 123; /* a name that is no state looks like one more result, behind the others */
    REFUSED(WG_EARG, "state t is an output of no stage",
            (z[1].name = "t", wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    assert_true(y[4].rows == 123);
    REFUSED(WG_EARG, "state q is an output of two stages", wg_scan(tape, 4, 2, g, 2, z, &o, y));
    REFUSED(WG_EARG, "two states have the name q",
            (z[1].name = "q", wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the name of state 1",
            (z[1].name = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input q of stage 0: a name is NULL",
            (s[0].name = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input d of stage 0: the data are NULL",
            (s[4] = wg_from_data(NULL, 0, 0), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "input d of stage 0: the callback is NULL",
            (s[4] = wg_from_fill(NULL, NULL), wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the callable of stage 0 is NULL",
            (g[0].f = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "the 5 inputs of stage 0 are NULL",
            (g[0].x = NULL, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_ENULL, "stages or 2 states are NULL", wg_scan(tape, 4, 1, NULL, 2, z, &o, y));
    REFUSED(WG_ENULL, "the 4 results are NULL", wg_scan(tape, 4, 1, g, 2, z, &o, NULL));
    REFUSED(WG_EARG, "input r of stage 0 is shared, r has one value per cell",
            (o.cells[0] = 3, z[0].start = wg_mat_fill(tape, 2, 3, 0),
             z[1].start = wg_mat_fill(tape, 1, 3, 0), s[2] = wg_from_data(numbers, 0, 0),
             wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "cells are too many",
            (o.cells[0] = o.cells[1] = 1 << 20, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "is no boundary",
            (o.boundary[1] = (wg_boundary)7, wg_scan(tape, 4, 1, g, 2, z, &o, y)));
    REFUSED(WG_EARG, "s has no neighbour at 1",
            (s[3] = wg_from_neighbour("s", 1, 0, 0), wg_scan(tape, 4, 1, g, 3, z, &o, y)));
#undef REFUSED
    assert_int_equal(wg_scan(NULL, 1, 0, NULL, 0, NULL, NULL, y), WG_ENULL);
    /* no states, no stages: nothing */
    wg_tape_reset(tape);
    assert_int_equal(wg_scan(tape, 3, 0, NULL, 0, NULL, NULL, NULL), WG_OK);
    wg_callable_free(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

static void repeated_recordings_do_not_grow(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[6 + STEPS], w[4 + 2 * STEPS];
    uint64_t calls = 0;
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * STEPS; i++) w[i] = 1;
    for (int again = 0; again < 20; again++) {
        loop l = {k, STEPS, 4, 0};
        wg_stats s;
        assert_int_equal(wg_vjp(tape, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g),
                         WG_OK);
        assert_int_equal(wg_tape_stats(tape, &s), WG_OK);
        if (again == 0) calls = s.memory_calls;
        assert_int_equal(s.memory_calls, calls);
    }
    wg_callable_free(k);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out);
    double x[6 + STEPS], g[6 + STEPS], w[4 + 2 * STEPS];
    for (size_t i = 0; i < 6 + STEPS; i++) x[i] = number(3 * i + 2);
    for (size_t i = 0; i < 4 + 2 * STEPS; i++) w[i] = 1;
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 2; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {.memory = counted_memory(&memory), .reserve = 1 << 16};
        loop l = {k, STEPS, 4, 0};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        g[0] = -77;
        got = wg_vjp(t, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(g[0] == -77 && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_vjp(t, scan, &l, 6 + STEPS, x, 4 + 2 * STEPS, w, NULL, g),
                             WG_OK);
        }
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
    wg_callable_free(k);
}

/* ---- compiled functions ------------------------------------------------------------------ */

static void compiled_functions_do_the_same(void **state) {
    start_compiling();
    a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored(state);
    sweeps_can_be_repeated(state);
    scans_have_tangents_and_lanes(state);
    stop_compiling();
}

static void a_callable_is_compiled_completely_or_not_at_all(void **state) {
    (void)state;
    wg_callable *const k = make(recur, 5, in, at, 4, out), *made = NULL;
    const wg_compile_options none = {.compiler = "no-such-compiler"};
    wg_compiled how;
    assert_int_equal(wg_callable_compile(NULL, k, NULL, &made, NULL), WG_ENULL);
    assert_int_equal(wg_callable_compile(coded, NULL, NULL, &made, NULL), WG_ENULL);
    assert_int_equal(wg_callable_compile(coded, k, NULL, NULL, NULL), WG_ENULL);
    wg_tape_reset(coded);
    assert_int_equal(wg_callable_compile(coded, k, &none, &made, &how), WG_OK);
    assert_true(made != NULL && !how.native && how.why[0] != 0);
    wg_callable_free(made);
    wg_callable_free(k);
}

/* ---- traced tapes ------------------------------------------------------------------------- */

static wg_status logs(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_log(x[0]));
    return WG_OK;
}
/* Of infinite slopes at 0, whose difference is NaN. */
static wg_status roots(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sub(wg_sqrt(x[0]), wg_cbrt(x[0])));
    return WG_OK;
}

static void a_traced_scan_names_the_step(void **state) {
    (void)state;
    enum { CELLS = 5, ALL = 6 };
    static const wg_argument q = {"q", 1, 1, 0};
    static const double x[2][CELLS] = {{1e9, 1e8, 3, 1e9, 1e9}, {1, 1, 0, 1, 1}};
    const wg_source from = wg_from_state("q");
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    assert_non_null(t);
    for (size_t cells = 1; cells <= CELLS; cells += CELLS - 1)
        for (int back = 0; back < 2; back++) {
            wg_callable *const k = make(back ? roots : logs, 1, &q, at, 1, &q);
            const wg_stage stage = {k, &from};
            const wg_scan_options o = {.cells = {cells, 1, 1}};
            wg_tape_reset(t);
            const wg_state start = {
                "q", wg_mat_input(t, 1, cells, x[back] + (cells == 1 ? 2 : 0), 1)};
            wg_mat y;
            const wg_status s = wg_scan(t, ALL, 1, &stage, 1, &start, &o, &y);
            if (back) {
                assert_int_equal(s, WG_OK);
                assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, cells / 2)), WG_ENONFINITE);
                assert_non_null(strstr(wg_tape_message(t), "state 0 becomes NaN in step 5"));
            } else { /* 3, 1.1, 0.09, -2.4 */
                assert_int_equal(s, WG_ENONFINITE);
                assert_non_null(
                    strstr(wg_tape_message(t), "state 0 is NaN or infinite after step 3"));
            }
            wg_callable_free(k);
        }
    wg_tape_free(t);
}

/* A state that starts from a constant has no adjoint there; sweeps in lanes are not traced. */
static wg_status roots_and_more(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_sub(wg_sqrt(x[0]), wg_cbrt(x[0])), wg_square(x[1])));
    return WG_OK;
}

static void what_flows_to_no_variable_or_in_lanes_is_not_traced(void **state) {
    (void)state;
    enum { ALL = 3 };
    static const wg_argument q = {"q", 1, 1, 0}, with[2] = {{"q", 1, 1, 0}, {"p", 1, 1, 0}};
    const wg_source from = wg_from_state("q");
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE});
    assert_non_null(t);
    const double zero = 0, p = 0.5, seed = 1;
    wg_callable *const k = make(roots_and_more, 2, with, at, 1, &q), *const l =
                                                                         make(roots, 1, &q, at,
                                                                              1, &q);
    const wg_mat more = wg_mat_input(t, 1, 1, &p, 1);
    const wg_source both[] = {from, wg_from_matrix(more)};
    const wg_stage stage = {k, both}, roots_of = {l, &from};
    wg_state start = {"q", wg_mat_constant(t, 1, 1, &zero, 1)};
    wg_mat y;
    assert_int_equal(wg_scan(t, ALL, 1, &stage, 1, &start, NULL, &y), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_OK);
    assert_true(isfinite(wg_adjoint(t, wg_mat_at(more, 0, 0))));

    start.start = wg_mat_input(t, 1, 1, &zero, 1);
    assert_int_equal(wg_scan(t, ALL, 1, &roots_of, 1, &start, NULL, &y), WG_OK);
    const wg_real root = wg_mat_at(y, 0, 0), of = wg_mat_at(start.start, 0, 0);
    assert_int_equal(wg_reverse(t, root), WG_ENONFINITE);
    assert_int_equal(wg_reverse_lanes(t, 1, 1, &root, &seed), WG_OK);
    assert_true(isnan(wg_adjoint_lane(t, of, 0)));
    wg_callable_free(k), wg_callable_free(l);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scan_is_the_same_as_its_steps_written_out_whatever_is_stored),
        cmocka_unit_test(steps_are_evaluated_again_as_seldom_as_can_be),
        cmocka_unit_test(sweeps_can_be_repeated),
        cmocka_unit_test(scans_have_tangents_and_lanes),
        cmocka_unit_test(a_million_steps_go_into_the_memory_of_three_hundred_states),
        cmocka_unit_test(refusals_name_the_call_the_argument_and_both_shapes),
        cmocka_unit_test(compiled_functions_do_the_same),
        cmocka_unit_test(a_callable_is_compiled_completely_or_not_at_all),
        cmocka_unit_test(a_traced_scan_names_the_step),
        cmocka_unit_test(what_flows_to_no_variable_or_in_lanes_is_not_traced),
        cmocka_unit_test(repeated_recordings_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
