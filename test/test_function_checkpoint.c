/* SPDX-License-Identifier: MIT */
/* Checkpointing around steps of the user's own: against the loop recorded as a whole. */
#include "counted.h"
#include "driver_cases.h"
#include "graph_walk.h"

#include <math.h>
#include <wengert/derive.h>

enum { N = 4, NP = 3, MOST = 40 };

/* ---- steps ------------------------------------------------------------------------------- */

typedef struct count {
    size_t values, vjps, records;
} count;

/* Two pendulums; branches on values as a C function does. */
static wg_status swing(wg_tape *t, size_t step, size_t n, const wg_real *s, size_t np,
                       const wg_real *p, wg_real *next, void *data) {
    (void)n, (void)np;
    if (data != NULL) ((count *)data)->records++;
    for (size_t i = 0; i < 2; i++) {
        const wg_real q = s[2 * i], v = s[2 * i + 1];
        next[2 * i + 1] = wg_let(t, wg_sub(v, wg_mul(wg_mul(wg_sin(q), p[i]), 0.1)));
        next[2 * i] = wg_let(t, wg_add(q, wg_mul(next[2 * i + 1], 0.1)));
        if (step % 3 == 1) next[2 * i] = wg_let(t, wg_mul(next[2 * i], p[2]));
    }
    return WG_OK;
}

/* By hand: friction that couples both. */
static wg_status damp_value(size_t step, size_t n, const double *s, size_t np, const double *p,
                            double *next, void *data) {
    (void)np;
    if (data != NULL) ((count *)data)->values++;
    for (size_t i = 0; i < n; i++)
        next[i] = s[i] - 0.05 * p[2] * s[(i + 1) % n] * s[i] * (double)(1 + step % 2);
    return WG_OK;
}
static wg_status damp_vjp(size_t step, size_t n, const double *s, size_t np, const double *p,
                          const double *w, double *ds, double *dp, void *data) {
    const double k = 0.05 * (double)(1 + step % 2);
    (void)np;
    if (data != NULL) ((count *)data)->vjps++;
    for (size_t i = 0; i < n; i++) ds[i] = w[i];
    for (size_t i = 0; i < n; i++) {
        const size_t j = (i + 1) % n;
        ds[i] -= w[i] * k * p[2] * s[j];
        ds[j] -= w[i] * k * p[2] * s[i];
        if (dp != NULL) dp[2] -= w[i] * k * s[j] * s[i];
    }
    return WG_OK;
}
static wg_status damp_record(wg_tape *t, size_t step, size_t n, const wg_real *s,
                             const wg_real *p, wg_real *next) {
    for (size_t i = 0; i < n; i++)
        next[i] = wg_let(
            t, wg_sub(s[i], wg_mul(wg_mul(wg_mul(wg_mul(0.05, p[2]), s[(i + 1) % n]), s[i]),
                                   (double)(1 + step % 2))));
    return WG_OK;
}

/* ---- the loop ---------------------------------------------------------------------------- */

typedef struct loop {
    wg_tape *work;
    size_t steps, stored;
    count counts;
} loop;

/* x: state, parameters; y: the final state. */
static wg_status checkpointed(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    loop *const l = user;
    const wg_region region[] = {{.record = swing, .data = &l->counts},
                                {.value = damp_value, .vjp = damp_vjp, .data = &l->counts}};
    wg_mat r;
    (void)n;
    /* a state of 2x2, a row of parameters */
    const wg_status s =
        wg_checkpoint(t, l->work, l->steps, 2, region, l->stored, wg_mat_gather(t, 2, 2, x),
                      wg_mat_gather(t, 1, NP, x + N), &r);
    for (size_t i = 0; s == WG_OK && i < m; i++) y[i] = wg_mat_at(r, i % 2, i / 2);
    return s;
}

static wg_status whole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const loop *const l = user;
    wg_real s[N], next[N];
    (void)n;
    memcpy(s, x, sizeof s);
    for (size_t i = 0; i < l->steps; i++) {
        (void)swing(t, i, N, s, NP, x + N, next, NULL);
        (void)damp_record(t, i, N, next, x + N, s);
    }
    memcpy(y, s, m * sizeof *s);
    return WG_OK;
}

static wg_tape *work;
static int open_all(void **state) {
    work = wg_tape_new(NULL);
    return open_tapes(state) || work == NULL;
}
static int close_all(void **state) {
    wg_tape_free(work);
    return close_tapes(state);
}

static const double at[N + NP] = {0.5, 0.1, -0.4, 0.3, 1.5, 0.75, 0.9};
static const double w[N] = {1, -0.5, 0.25, 2};

static void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= TOL_PROGRAM_ULP * DBL_EPSILON * (1 + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

static void the_gradient_is_that_of_the_whole_loop_whatever_is_stored(void **state) {
    (void)state;
    double y[2][N], g[2][N + NP], first[N + NP];
    for (size_t steps = 0; steps <= MOST / 2; steps += steps < 4 ? 1 : 4)
        for (size_t stored = 0; stored <= 2 * steps + 1; stored++) {
            loop l = {work, steps, stored, {0, 0, 0}};
            assert_int_equal(wg_vjp(tape, checkpointed, &l, N + NP, at, N, w, y[0], g[0]),
                             WG_OK);
            assert_int_equal(wg_vjp(tape, whole, &l, N + NP, at, N, w, y[1], g[1]), WG_OK);
            for (size_t i = 0; i < N; i++) assert_near(y[0][i], y[1][i]);
            for (size_t i = 0; i < N + NP; i++) assert_near(g[0][i], g[1][i]);
            if (stored == 0) memcpy(first, g[0], sizeof first);
            assert_memory_equal(first, g[0], sizeof first);
        }
}

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

static void regions_are_evaluated_again_as_seldom_as_can_be(void **state) {
    (void)state;
    double g[N + NP];
    find_fewest();
    for (size_t steps = 1; steps <= MOST / 2; steps++)
        for (size_t stored = 1; stored <= 2 * steps; stored++) {
            loop l = {work, steps, stored, {0, 0, 0}};
            assert_int_equal(wg_vjp(tape, checkpointed, &l, N + NP, at, N, w, NULL, g), WG_OK);
            const size_t regions = 2 * steps;
            assert_int_equal(l.counts.vjps, steps);
            /* one recording of each that is not by hand, for its adjoint */
            assert_int_equal(l.counts.values + l.counts.records - steps,
                             fewest[regions][stored] + 1);
        }
}

static void loops_have_tangents_lanes_and_replays(void **state) {
    (void)state;
    double y[N], jac[2][N * (N + NP)], x[N + NP], g[2][N + NP];
    wg_real v[N + NP], r[N];
    wg_check found;
    loop l = {work, 7, 3, {0, 0, 0}};
    if (wg_check_gradient(tape, checkpointed, &l, N + NP, at, N, &found) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    for (int which = 0; which < 2; which++)
        assert_int_equal(wg_jacobian(tape, which ? whole : checkpointed, &l, N + NP, at, N, y,
                                     WG_ROW_MAJOR, jac[which], N + NP),
                         WG_OK);
    for (size_t i = 0; i < N * (N + NP); i++) assert_near(jac[0][i], jac[1][i]);
    assert_int_equal(wg_inputs((wg_tape_reset(coded), coded), N + NP, at, v), WG_OK);
    assert_int_equal(checkpointed(coded, N + NP, v, N, r, &l), WG_OK);
    for (size_t i = 0; i < N + NP; i++) x[i] = 0.5 * at[i];
    assert_int_equal(wg_tape_replay(coded, N + NP, v, x), WG_OK);
    assert_int_equal(wg_vjp(tape, whole, &l, N + NP, x, N, w, y, g[1]), WG_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(wg_reverse_seeds(coded, N, r, w), WG_OK);
        assert_int_equal(wg_adjoints(coded, N + NP, v, g[0]), WG_OK);
        for (size_t i = 0; i < N + NP; i++) assert_near(g[0][i], g[1][i]);
    }
    for (size_t i = 0; i < N; i++) assert_near(wg_tape_value(coded, r[i]), y[i]);
}

/* ---- matrices inside, no parameters, an operand twice -------------------------------------
 */

static wg_status rotate(wg_tape *t, size_t step, size_t n, const wg_real *s, size_t np,
                        const wg_real *p, wg_real *next, void *data) {
    const double turn[4] = {0.8, 0.6, -0.6, 0.8};
    (void)data, (void)step, (void)np, (void)p;
    const wg_mat r =
        wg_matmul(t, wg_mat_constant(t, 2, 2, turn, 2), wg_mat_gather(t, 2, n / 2, s));
    for (size_t i = 0; i < n; i++) next[i] = wg_mat_at(r, i % 2, i / 2);
    return wg_tape_status(t);
}

static void steps_may_use_matrices_and_do_without_parameters(void **state) {
    (void)state;
    double x[6] = {1, 2, 3, 4, 5, 6}, g[6];
    const wg_region region = {.record = rotate};
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 3, 2, x, 3);
    wg_mat y;
    assert_int_equal(wg_checkpoint(tape, work, 10, 1, &region, 3, wg_mat_transpose(a),
                                   wg_mat_failed(0, 0), &y),
                     WG_OK);
    assert_true(y.rows == 2 && y.cols == 3);
    const wg_real sum = wg_mat_sum(tape, wg_mat_square(tape, y));
    assert_int_equal(wg_reverse(tape, sum), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, a, g, 3), WG_OK);
    for (size_t i = 0; i < 6; i++) assert_near(g[i], 2 * x[i]); /* a rotation */
}

static wg_status times(size_t step, size_t n, const double *s, size_t np, const double *p,
                       double *next, void *data) {
    (void)data, (void)step, (void)np;
    for (size_t i = 0; i < n; i++) next[i] = s[i] * p[i];
    return WG_OK;
}
static wg_status times_vjp(size_t step, size_t n, const double *s, size_t np, const double *p,
                           const double *wy, double *ds, double *dp, void *data) {
    (void)data, (void)step, (void)np;
    for (size_t i = 0; i < n; i++) {
        ds[i] = wy[i] * p[i];
        dp[i] += wy[i] * s[i];
    }
    return WG_OK;
}

static void state_and_parameters_may_be_the_same_matrix(void **state) {
    (void)state;
    const wg_region region = {.value = times, .vjp = times_vjp};
    const double x[2] = {1.5, 2};
    double g[2];
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 2, 1, x, 2);
    wg_mat y;
    assert_int_equal(wg_checkpoint(tape, NULL, 3, 1, &region, 2, a, a, &y), WG_OK);
    assert_true(y.value[1] == 16);
    assert_int_equal(wg_mat_reverse(tape, y, NULL, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, a, g, 2), WG_OK);
    assert_near(g[0], 4 * 1.5 * 1.5 * 1.5); /* x^4 */
    assert_near(g[1], 32);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static wg_status fails_late(wg_tape *t, size_t step, size_t n, const wg_real *s, size_t np,
                            const wg_real *p, wg_real *next, void *data) {
    (void)np, (void)p, (void)data;
    for (size_t i = 0; i < n; i++) next[i] = wg_let(t, wg_add(s[i], 1));
    return step == 5 ? WG_ECONVERGE : WG_OK;
}
static wg_status fails_at_once(size_t step, size_t n, const double *s, size_t np,
                               const double *p, double *next, void *data) {
    (void)step, (void)n, (void)s, (void)np, (void)p, (void)next, (void)data;
    return WG_ESINGULAR;
}

static void refusals_name_the_call_and_what_was_wrong(void **state) {
    (void)state;
    const double x[2] = {1, 2};
    const wg_region good = {.value = times, .vjp = times_vjp}, late = {.record = fails_late},
                    half = {.value = times}, bad = {.value = fails_at_once, .vjp = times_vjp};
    wg_mat y, none = wg_mat_failed(0, 0);
#define REFUSED(expected, part, ...)                                                           \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        const wg_mat a = wg_mat_input(tape, 2, 1, x, 2);                                       \
        assert_int_equal((__VA_ARGS__), expected);                                             \
        assert_message(tape, part);                                                            \
        assert_message(tape, "wg_checkpoint");                                                 \
        assert_true(y.value == NULL);                                                          \
        (void)a;                                                                               \
    } while (0)
    y.value = NULL;
    REFUSED(WG_ENULL, "result", wg_checkpoint(tape, work, 3, 1, &good, 0, a, a, NULL));
    REFUSED(WG_ENULL, "the 2 regions", wg_checkpoint(tape, work, 3, 2, NULL, 0, a, a, &y));
    REFUSED(WG_ENULL, "neither", wg_checkpoint(tape, work, 3, 1, &half, 0, a, a, &y));
    REFUSED(WG_ENULL, "work is NULL", wg_checkpoint(tape, NULL, 3, 1, &late, 0, a, a, &y));
    REFUSED(WG_EARG, "work is the tape", wg_checkpoint(tape, tape, 3, 1, &late, 0, a, a, &y));
    REFUSED(WG_EARG, "steps of 1 regions",
            wg_checkpoint(tape, work, SIZE_MAX, 1, &late, 0, a, a, &y));
    REFUSED(WG_ECONVERGE, "region 0 of step 5",
            wg_checkpoint(tape, work, 9, 1, &late, 0, a, none, &y));
    REFUSED(WG_ESINGULAR, "region 0 of step 0 returned",
            wg_checkpoint(tape, work, 9, 1, &bad, 0, a, a, &y));
    REFUSED(WG_ESHAPE, "operand 0", wg_checkpoint(tape, work, 9, 1, &good, 0, none, a, &y));
#undef REFUSED
    assert_int_equal(wg_checkpoint(NULL, work, 3, 1, &good, 0, none, none, &y), WG_ENULL);
    assert_int_equal(wg_checkpoint(tape, work, 3, 1, &good, 0, none, none, &y), WG_ESHAPE);
}

/* ---- in a function ----------------------------------------------------------------------- */

/* Steps that use matrices and compare: the second region turns the state, and where it asks
 * for that, follows its own branch. */
static wg_status turn_and_ask(wg_tape *t, size_t step, size_t n, const wg_real *s, size_t np,
                              const wg_real *p, wg_real *next, void *data) {
    const wg_status status = rotate(t, step, n, s, np, p, next, NULL);
    if (data != NULL && wg_lt(t, s[0], p[0]))
        next[3] = wg_let(t, wg_mul(next[3], wg_exp(wg_mul(0.1, p[1]))));
    return status;
}

typedef struct stepping {
    size_t steps;
    int asks, whole;
    const wg_region *region; /* instead of the two */
} stepping;

/* Once with a checkpoint, and once in full. */
static wg_status stepped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    stepping *const k = user;
    const wg_region two[] = {{.record = swing},
                             {.record = turn_and_ask, .data = k->asks ? k : NULL}};
    wg_mat r;
    if (n != N + NP || m != N) return WG_EARG;
    if (k->whole) {
        wg_real s[N], next[N];
        memcpy(s, x, sizeof s);
        for (size_t i = 0; i < k->steps; i++) {
            (void)swing(t, i, N, s, NP, x + N, next, NULL);
            (void)turn_and_ask(t, i, N, next, NP, x + N, s, two[1].data);
        }
        memcpy(y, s, sizeof s);
        return wg_tape_status(t);
    }
    const wg_status s = wg_checkpoint(
        t, work, k->steps, k->region != NULL ? 1 : 2, k->region != NULL ? k->region : two, 2,
        wg_mat_gather(t, 2, 2, x), wg_mat_gather(t, 1, NP, x + N), &r);
    for (size_t i = 0; s == WG_OK && i < m; i++) y[i] = wg_mat_at(r, i % 2, i / 2);
    return s;
}

static const wg_argument all_in = {"x", N + NP, 1, 0}, all_out = {"y", N, 1, 0};
static wg_function *steps_of(stepping k) {
    return function_of(stepped, &k, 1, &all_in, at, 1, &all_out);
}

static void a_loop_is_written_out_in_a_function(void **state) {
    (void)state;
    enum { ALL = N + NP };
    for (size_t steps = 0; steps < 8; steps++)
        for (int asks = 0; asks < 2; asks++) {
            static double y[2][N], d[2][N * ALL * ALL];
            wg_function *f[2], *second[2];
            wg_function_stats stats[2];
            double x[ALL];
            for (int whole = 0; whole < 2; whole++) {
                wg_function *jacobian = NULL;
                f[whole] = steps_of((stepping){steps, asks, whole, NULL});
                assert_int_equal(wg_function_statistics(f[whole], &stats[whole]), WG_OK);
                assert_int_equal(wg_function_jacobian(coded, f[whole], &jacobian), WG_OK);
                assert_int_equal(wg_function_jacobian(coded, jacobian, &second[whole]), WG_OK);
                wg_function_free(jacobian);
            }
            assert_int_equal(stats[0].each, stats[1].each);
            assert_int_equal(stats[0].guards, stats[1].guards);
            assert_true(steps == 0 || !asks || stats[0].guards != 0);
            for (int point = 0; point < 3; point++) {
                for (size_t i = 0; i < ALL; i++)
                    x[i] = at[i] * (1 + 0.125 * point * (double)(i % 3));
                for (int whole = 0; whole < 2; whole++) {
                    assert_int_equal(graph_walk(f[whole], x, y[whole]), 0);
                    assert_int_equal(graph_walk(second[whole], x, d[whole]), 0);
                }
                assert_memory_equal(y[0], y[1], sizeof y[0]);
                assert_memory_equal(d[0], d[1], sizeof d[0]);
            }
            for (int whole = 0; whole < 2; whole++) {
                wg_function_free(f[whole]);
                wg_function_free(second[whole]);
            }
        }
}

/* Of the final state. */
static wg_status one_number(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    wg_real s[N];
    (void)m;
    const wg_status status = stepped(t, n, x, N, s, user);
    y[0] = status == WG_OK ? wg_let(t, wg_add(wg_mul(s[0], s[3]), wg_mul(s[1], s[2]))) : x[0];
    return status;
}

static void a_loop_has_second_derivatives(void **state) {
    (void)state;
    enum { ALL = N + NP };
    double value[2], g[2][ALL], h[2][ALL * ALL];
    for (int whole = 0; whole < 2; whole++) {
        stepping k = {5, 1, whole, NULL};
        assert_int_equal(
            wg_hessian(coded, one_number, &k, ALL, at, &value[whole], g[whole], h[whole], ALL),
            WG_OK);
    }
    assert_near(value[0], value[1]);
    for (size_t i = 0; i < ALL; i++) assert_near(g[0][i], g[1][i]);
    for (size_t i = 0; i < ALL * ALL; i++) assert_near(h[0][i], h[1][i]);
}

/* What a replay of a tape with a checkpoint would decide anew, a function has decided. */
static void a_comparison_in_a_region_is_one_of_the_function(void **state) {
    (void)state;
    wg_function *const f = steps_of((stepping){1, 1, 0, NULL});
    double x[N + NP], y[N];
    const wg_points in = {x, 0, 1};
    const wg_results out = {y, 0, 1};
    void *const room = malloc(wg_function_work(f, NULL) + 1);
    assert_non_null(room);
    memcpy(x, at, sizeof x);
    assert_int_equal(wg_function_evaluate(f, 1, &in, &out, NULL, room, NULL), WG_OK);
    x[0] = 9; /* above p[0] */
    assert_int_equal(wg_function_evaluate(f, 1, &in, &out, NULL, room, NULL), WG_EGUARD);
    free(room);
    wg_function_free(f);
}

static wg_status fails_the_second_time(wg_tape *t, size_t step, size_t n, const wg_real *s,
                                       size_t np, const wg_real *p, wg_real *next, void *data) {
    (void)np, (void)p, (void)step;
    for (size_t i = 0; i < n; i++) next[i] = wg_let(t, wg_sin(s[i]));
    if (++*(int *)data <= 3) return WG_OK;
    return wg_tape_refuse(t, WG_ECONVERGE, "growth: no rate");
}

static void what_cannot_be_written_out_is_refused_by_name(void **state) {
    (void)state;
    int times_called = 0;
    const wg_region by_hand = {.value = damp_value, .vjp = damp_vjp},
                    tired = {.record = fails_the_second_time, .data = &times_called};
    stepping k = {3, 0, 0, &by_hand};
    wg_function *f = NULL;
    double value, g[N + NP], h[(N + NP) * (N + NP)];
    assert_int_equal(wg_function_record(coded, stepped, &k, 1, &all_in, at, 1, &all_out, &f),
                     WG_EMODE);
    assert_null(f);
    assert_message(coded, "wg_function_record: wg_checkpoint: region 0 is by hand");
    assert_int_equal(wg_hessian(coded, one_number, &k, N + NP, at, &value, g, h, N + NP),
                     WG_EMODE);
    assert_message(coded, "region 0 is by hand");
    k.steps = 0; /* none is needed */
    assert_int_equal(wg_function_record(coded, stepped, &k, 1, &all_in, at, 1, &all_out, &f),
                     WG_OK);
    assert_int_equal(graph_walk(f, at, g), 0);
    assert_memory_equal(g, at, N * sizeof *g);
    wg_function_free(f);
    k = (stepping){3, 0, 0, &tired};
    assert_int_equal(wg_function_record(coded, stepped, &k, 1, &all_in, at, 1, &all_out, &f),
                     WG_ECONVERGE);
    assert_message(coded, "wg_checkpoint: region 0 of step 0 returned WG_ECONVERGE");
    assert_message(coded, "said before: growth: no rate");
    assert_int_equal(wg_function_record(coded, stepped, &k, 1, &all_in, at, 1, &all_out, &f),
                     WG_ECONVERGE); /* its value, on the other tape */
    assert_message(coded, "wg_eval: the function returned WG_ECONVERGE");
    assert_message(coded, "said before: growth: no rate");
}

static void functions_of_loops_survive_a_lack_of_memory(void **state) {
    (void)state;
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 4; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
        wg_function *f = NULL;
        stepping k = {4, 1, 0, NULL};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        got = wg_function_record(t, stepped, &k, 1, &all_in, at, 1, &all_out, &f);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(f == NULL && wg_tape_message(t)[0] != 0);
        }
        wg_function_free(f);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static void repeated_recordings_do_not_grow(void **state) {
    (void)state;
    double g[N + NP];
    uint64_t calls = 0;
    for (int again = 0; again < 20; again++) {
        loop l = {work, 9, 4, {0, 0, 0}};
        wg_stats a, b;
        assert_int_equal(wg_vjp(tape, checkpointed, &l, N + NP, at, N, w, NULL, g), WG_OK);
        assert_int_equal(wg_tape_stats(tape, &a), WG_OK);
        assert_int_equal(wg_tape_stats(work, &b), WG_OK);
        if (again == 0) calls = a.memory_calls + b.memory_calls;
        assert_int_equal(a.memory_calls + b.memory_calls, calls);
    }
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    double g[N + NP];
    wg_status got = WG_ENOMEM;
    for (size_t fail_at = 4; got != WG_OK; fail_at++) {
        struct counted memory = counted_start();
        const wg_options opt = {.memory = counted_memory(&memory), .reserve = 1 << 16};
        assert_true(fail_at < 1000);
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt), *const other = wg_tape_new(&opt);
        assert_true(t != NULL && other != NULL);
        loop l = {other, 9, 4, {0, 0, 0}};
        g[0] = -77;
        got = wg_vjp(t, checkpointed, &l, N + NP, at, N, w, NULL, g);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(g[0] == -77 && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_vjp(t, checkpointed, &l, N + NP, at, N, w, NULL, g), WG_OK);
        }
        wg_tape_free(t);
        wg_tape_free(other);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

static void a_hundred_thousand_steps_keep_twenty_states(void **state) {
    (void)state;
    enum { LONG = 100000, STORED = 20 };
    const wg_region region = {.value = times, .vjp = times_vjp};
    const double x[2] = {1 + 1e-7, 1 - 1e-6};
    double g[2];
    wg_stats before, after;
    wg_tape_reset(tape);
    const wg_mat p = wg_mat_input(tape, 2, 1, x, 2), one = wg_mat_fill(tape, 2, 1, 1);
    wg_mat y;
    assert_int_equal(wg_tape_stats(tape, &before), WG_OK);
    assert_int_equal(wg_checkpoint(tape, NULL, LONG, 1, &region, STORED, one, p, &y), WG_OK);
    assert_int_equal(wg_tape_stats(tape, &after), WG_OK);
    assert_true(after.payload_bytes - before.payload_bytes < (STORED + 30) * 64);
    assert_int_equal(wg_mat_reverse(tape, y, NULL, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, p, g, 2), WG_OK);
    for (int i = 0; i < 2; i++) {
        const double expected = LONG * pow(x[i], LONG - 1);
        assert_true(fabs(g[i] - expected) < 1e-9 * expected);
    }
}

static void a_work_tape_that_was_freed_is_found(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        wg_tape *const t = wg_tape_new(NULL);
        wg_tape *other = wg_tape_new(NULL);
        const double start[N] = {0.1, 0.2, 0.3, 0.4}, param[NP] = {1, 2, 3};
        const wg_mat a = wg_mat_input(t, N, 1, start, N), p = wg_mat_input(t, NP, 1, param, NP);
        const wg_region region = {.record = swing};
        wg_mat y;
        assert_int_equal(wg_checkpoint(t, other, 6, 1, &region, 3, a, p, &y), WG_OK);
        const wg_real sum = wg_mat_sum(t, y);
        assert_int_equal(wg_reverse(t, sum), WG_OK);
        const double g = wg_adjoint(t, wg_mat_at(a, 0, 0));
        assert_true(g != 0);
        wg_tape_free(other);
        if (k == 1) other = wg_tape_new(NULL); /* perhaps at the same place */
        assert_int_equal(wg_reverse(t, sum), WG_ESTALE);
        assert_non_null(strstr(wg_tape_message(t), "its work tape was freed"));
        /* a new one, a new recording; either tape may be freed first */
        wg_tape_reset(t);
        if (k != 1) other = wg_tape_new(NULL);
        const wg_mat b = wg_mat_input(t, N, 1, start, N), q = wg_mat_input(t, NP, 1, param, NP);
        assert_int_equal(wg_checkpoint(t, other, 6, 1, &region, 3, b, q, &y), WG_OK);
        assert_int_equal(wg_reverse(t, wg_mat_sum(t, y)), WG_OK);
        assert_true(wg_adjoint(t, wg_mat_at(b, 0, 0)) == g);
        if (k == 2) wg_tape_free(other);
        wg_tape_free(t);
        if (k != 2) wg_tape_free(other);
    }
}

/* So many are known of a recording; of others nobody would know whether they are there, and
 * steps of somebody. */
static void a_recording_has_sixteen_work_tapes_at_most(void **state) {
    (void)state;
    const double start[N] = {0.1, 0.2, 0.3, 0.4}, param[NP] = {1, 2, 3};
    const wg_region region = {.record = swing};
    wg_tape *other[17];
    for (int round = 0; round < 2; round++) {
        wg_mat y = wg_mat_input(tape, N, 1, start, N);
        const wg_mat p = wg_mat_input(tape, NP, 1, param, NP);
        for (int k = 0; k < 17; k++) {
            if (round == 0) other[k] = wg_tape_new(NULL);
            const wg_status s = wg_checkpoint(tape, other[k], 3, 1, &region, 2, y, p, &y);
            assert_int_equal(s, k < 16 ? WG_OK : WG_EARG);
            if (k == 15)
                assert_int_equal(wg_checkpoint(tape, other[3], 3, 1, &region, 2, y, p, &y),
                                 WG_OK);
        }
        assert_message(tape, "16 work tapes");
        wg_tape_reset(tape);
    }
    for (int k = 0; k < 17; k++) wg_tape_free(other[k]);
}

/* A recording that never resets gives its work tapes back where it rewinds to before they
 * came. */
static void a_rewind_gives_work_tapes_back(void **state) {
    (void)state;
    const double start[N] = {0.1, 0.2, 0.3, 0.4}, param[NP] = {1, 2, 3};
    const wg_region region = {.record = swing};
    const wg_mat a = wg_mat_input(tape, N, 1, start, N);
    const wg_mat p = wg_mat_input(tape, NP, 1, param, NP);
    wg_tape *const first = wg_tape_new(NULL), *const elsewhere = wg_tape_new(NULL);
    wg_mat y, z;
    double g = 0;
    assert_int_equal(wg_checkpoint(tape, first, 3, 1, &region, 2, a, p, &y), WG_OK);
    const wg_mark m = wg_tape_mark(tape);
    for (int k = 0; k < 40; k++) {
        wg_tape *const other = wg_tape_new(NULL);
        assert_int_equal(wg_checkpoint(tape, other, 3, 1, &region, 2, y, p, &z), WG_OK);
        assert_int_equal(wg_reverse(tape, wg_mat_sum(tape, z)), WG_OK);
        if (k == 0) g = wg_adjoint(tape, wg_mat_at(a, 0, 0));
        assert_true(g != 0 && wg_adjoint(tape, wg_mat_at(a, 0, 0)) == g);
        if (k % 2) wg_tape_free(other);
        assert_int_equal(wg_tape_rewind(tape, m), WG_OK);
        if (k % 2) continue;
        /* it may be of another recording now */
        const wg_mat b = wg_mat_input(elsewhere, N, 1, start, N);
        const wg_mat q = wg_mat_input(elsewhere, NP, 1, param, NP);
        assert_int_equal(wg_checkpoint(elsewhere, other, 3, 1, &region, 2, b, q, &z), WG_OK);
        const wg_real sum = wg_mat_sum(elsewhere, z);
        wg_tape_free(other);
        assert_int_equal(wg_reverse(elsewhere, sum), WG_ESTALE);
        wg_tape_reset(elsewhere);
    }
    /* the first one is in use: it came before the mark */
    const wg_real sum = wg_mat_sum(tape, y);
    wg_tape_free(first);
    assert_int_equal(wg_reverse(tape, sum), WG_ESTALE);
    wg_tape_free(elsewhere);
}

/* A work tape is of the recording that works on it: after a reset of that, of another one. */
static void a_work_tape_that_was_freed_is_found_by_its_next_recording(void **state) {
    (void)state;
    const double start[N] = {0.1, 0.2, 0.3, 0.4}, param[NP] = {1, 2, 3};
    const wg_region region = {.record = swing};
    wg_tape *const t[2] = {wg_tape_new(NULL), wg_tape_new(NULL)};
    wg_tape *const other = wg_tape_new(NULL);
    wg_real sum = wg_constant(0);
    for (int k = 0; k < 2; k++) {
        const wg_mat a = wg_mat_input(t[k], N, 1, start, N);
        const wg_mat p = wg_mat_input(t[k], NP, 1, param, NP);
        wg_mat y;
        assert_int_equal(wg_checkpoint(t[k], other, 6, 1, &region, 3, a, p, &y), WG_OK);
        sum = wg_mat_sum(t[k], y);
        assert_int_equal(wg_reverse(t[k], sum), WG_OK);
        if (k == 0) wg_tape_reset(t[0]);
    }
    wg_tape_free(other);
    assert_int_equal(wg_reverse(t[1], sum), WG_ESTALE);
    for (int k = 0; k < 2; k++) wg_tape_free(t[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_work_tape_that_was_freed_is_found),
        cmocka_unit_test(a_recording_has_sixteen_work_tapes_at_most),
        cmocka_unit_test(a_rewind_gives_work_tapes_back),
        cmocka_unit_test(a_work_tape_that_was_freed_is_found_by_its_next_recording),
        cmocka_unit_test(the_gradient_is_that_of_the_whole_loop_whatever_is_stored),
        cmocka_unit_test(regions_are_evaluated_again_as_seldom_as_can_be),
        cmocka_unit_test(loops_have_tangents_lanes_and_replays),
        cmocka_unit_test(steps_may_use_matrices_and_do_without_parameters),
        cmocka_unit_test(state_and_parameters_may_be_the_same_matrix),
        cmocka_unit_test(refusals_name_the_call_and_what_was_wrong),
        cmocka_unit_test(a_loop_is_written_out_in_a_function),
        cmocka_unit_test(a_loop_has_second_derivatives),
        cmocka_unit_test(a_comparison_in_a_region_is_one_of_the_function),
        cmocka_unit_test(what_cannot_be_written_out_is_refused_by_name),
        cmocka_unit_test(functions_of_loops_survive_a_lack_of_memory),
        cmocka_unit_test(repeated_recordings_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_hundred_thousand_steps_keep_twenty_states),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
