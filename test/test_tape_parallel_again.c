/* SPDX-License-Identifier: MIT */
/* test_tape_parallel_again.c - loops one after the other on the same segments, as those before
 * them or not: they have the bits that each has on segments of its own. And loops whose tape
 * is gone while they are open. */
#include "parallel_case.h"

enum { K = 5, N = 1200, LOOPS = 24, THREADS = 3 };

/* What a loop is like. */
struct kind {
    size_t cells;     /* that it changes: other ones keep their variable */
    size_t neighbour; /* so far away */
    int statements;   /* more than one in each cell */
    int parameter;    /* which all cells read; -1: none */
};

/* Of the same kind several times, then of another one with more records, fewer, the same number
 * of them with other operands; none at all. */
static const struct kind kinds[LOOPS] = {
    {N, 1, 0, -1},      {N, 1, 0, -1}, {N, 1, 0, -1}, {N, 1, 0, -1},      {N, 1, 2, -1},
    {N, 1, 2, -1},      {N, 1, 2, -1}, {N, 1, 0, -1}, {N, 1, 0, -1},      {N, 1, 0, -1},
    {N, 2, 0, -1},      {N, 2, 0, -1}, {N, 2, 0, -1}, {N, 300, 0, 0},     {N, 300, 0, 0},
    {N, 300, 0, 0},     {N, 1, 0, 1},  {N, 1, 0, 1},  {N - 700, 1, 1, 0}, {N - 700, 1, 1, 0},
    {N - 700, 1, 1, 0}, {0, 1, 0, 0},  {0, 1, 0, 0},  {0, 1, 0, 0}};

struct one {
    wg_parallel *p;
    const struct kind *kind;
    const wg_real *c, *u;
    wg_real *v;
};

static wg_status record(void *context, size_t k) {
    const struct one *const l = context;
    const struct kind *const how = l->kind;
    wg_tape *const s = wg_parallel_tape(l->p, k);
    for (size_t i = wg_parallel_from(l->p, k, N); i < wg_parallel_from(l->p, k + 1, N); i++) {
        const wg_real near = l->u[(i + how->neighbour) % N];
        if (i >= how->cells) {
            l->v[i] = l->u[i];
            continue;
        }
        l->v[i] = wg_let(s, wg_add(wg_mul(0.75, l->u[i]), wg_mul(0.25, wg_sin(near))));
        for (int more = 0; more < how->statements; more++)
            l->v[i] = wg_let(s, wg_mul(l->v[i], wg_add(0.5, wg_mul(0.5, near))));
        if (how->parameter >= 0) l->v[i] = wg_let(s, wg_mul(l->v[i], l->c[how->parameter]));
    }
    return WG_OK;
}

static const double *start(void) {
    static double a[INPUTS];
    inputs_of_case(a, INPUTS);
    return a;
}

/* All loops, the first so many; each on segments of its own, or all on the same ones. */
static wg_real record_all(wg_tape *t, wg_parallel *same, wg_threads *threads, size_t loops,
                          wg_real *x) {
    static wg_real state[2][N], mixed[N];
    assert_ok(t, wg_inputs(t, PARAMETERS + N, start(), x));
    struct one l = {.c = x, .u = x + PARAMETERS};
    for (size_t k = 0; k < loops; k++) {
        wg_parallel *const own = same == NULL ? segments_of(t, K, threads) : NULL;
        l.p = same != NULL ? same : own;
        l.v = state[k % 2];
        l.kind = &kinds[k];
        assert_ok(t, wg_parallel_begin(l.p, t));
        assert_ok(t, wg_parallel_run(l.p, record, &l));
        assert_ok(t, wg_parallel_join(l.p));
        assert_ok(t, wg_parallel_adopt(l.p, N, l.v));
        l.u = l.v;
        wg_parallel_free(own);
    }
    for (size_t i = 0; i < N; i++) mixed[i] = wg_let(t, wg_mul(l.u[i], 1 + (double)(i % 3)));
    return wg_sum(t, N, mixed);
}

static void loops_have_the_bits_that_each_has_alone(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N];
    static double g[2][PARAMETERS + N];
    static const unsigned modes[] = {0, WG_CHECKED, WG_KEEP_CODE, WG_TRACE | WG_KEEP_PLACES};
    for (size_t mode = 0; mode < 4; mode++)
        for (size_t threads = 0; threads <= THREADS; threads++) {
            wg_tape *const t =
                wg_tape_new(&(wg_options){.flags = modes[mode], .reserve = plain.reserve});
            wg_threads *const pool = threads != 0 ? pool_of(threads) : NULL;
            wg_parallel *const p = segments_of(t, K, pool);
            for (size_t loops = 1; loops <= LOOPS; loops += loops < 6 ? 1 : 3) {
                double y[2];
                for (int same = 0; same < 2; same++) {
                    wg_tape_reset(t);
                    const wg_real sum = record_all(t, same ? p : NULL, pool, loops, x);
                    y[same] = sum.value;
                    assert_ok(t, wg_reverse(t, sum));
                    assert_ok(t, wg_adjoints(t, PARAMETERS + N, x, g[same]));
                }
                assert_memory_equal(&y[0], &y[1], sizeof y[0]);
                assert_memory_equal(g[0], g[1], sizeof g[0]);
            }
            wg_parallel_free(p);
            wg_tape_free(t);
        }
}

static void second_derivatives_are_those_of_loops_alone(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N];
    static double v[PARAMETERS + N], hv[2][PARAMETERS + N];
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .reserve = plain.reserve});
    wg_parallel *const p = segments_of(t, K, pool_of(2));
    inputs_of_case(v, PARAMETERS + N);
    for (int same = 0; same < 2; same++) {
        wg_tape_reset(t);
        const wg_real sum = record_all(t, same ? p : NULL, pool_of(2), LOOPS, x);
        assert_ok(t, wg_tape_verify(t));
        assert_ok(t, wg_tape_hvp(t, sum, PARAMETERS + N, x, v, hv[same]));
    }
    assert_memory_equal(hv[0], hv[1], sizeof hv[0]);
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* A loop in the place of another one, whose segments have had as many records, or more, or
 * fewer; then one behind it. */
static void a_loop_that_is_not_what_was_in_its_place_is_itself(void **state) {
    (void)state;
    static const size_t some[] = {0, 4, 10, 13, 16, 18, 21};
    enum { SOME = sizeof some / sizeof *some };
    static wg_real x[PARAMETERS + N], v[2][N];
    static double g[SOME][PARAMETERS + N], again[PARAMETERS + N];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, pool_of(2));
    for (size_t turn = 0; turn < SOME * SOME; turn++) {
        const size_t kind[2] = {turn % SOME, turn / SOME};
        for (int k = 0; k < 2; k++) {
            wg_tape_reset(t);
            wg_parallel *const own = turn < SOME ? segments_of(t, K, pool_of(2)) : NULL;
            assert_ok(t, wg_inputs(t, PARAMETERS + N, start(), x));
            struct one l = {own != NULL ? own : p, &kinds[some[kind[k]]], x, x + PARAMETERS,
                            v[0]};
            for (int more = 0; more < 2; more++) {
                l.v = v[more];
                assert_ok(t, wg_parallel_begin(l.p, t));
                assert_ok(t, wg_parallel_run(l.p, record, &l));
                assert_ok(t, wg_parallel_join(l.p));
                assert_ok(t, wg_parallel_adopt(l.p, N, l.v));
                l.u = l.v;
                l.kind = &kinds[0];
            }
            assert_ok(t, wg_reverse(t, wg_sum(t, N, l.v)));
            double *const to = own != NULL ? g[kind[k]] : again;
            assert_ok(t, wg_adjoints(t, PARAMETERS + N, x, to));
            if (own == NULL) assert_memory_equal(again, g[kind[k]], sizeof again);
            wg_parallel_free(own);
        }
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* Of an open loop, behind others on the same segments, the first two segments. */
static void open_loop(wg_tape *t, wg_parallel *p, wg_real *x, wg_real *v) {
    (void)record_all(t, p, NULL, 3, x);
    struct one l = {.p = p, .kind = &kinds[3], .c = x, .u = x + PARAMETERS, .v = v};
    assert_ok(t, wg_parallel_begin(p, t));
    for (size_t k = 0; k < 2; k++) assert_int_equal(record(&l, k), WG_OK);
}

/* What stands in the places of the loops below. */
static void loops_before(wg_tape *t, wg_parallel *p, wg_real *x) {
    static wg_real v[N];
    open_loop(t, p, x, v);
    struct one l = {.p = p, .kind = &kinds[3], .c = x, .u = x + PARAMETERS, .v = v};
    for (size_t k = 2; k < K; k++) assert_int_equal(record(&l, k), WG_OK);
    assert_ok(t, wg_parallel_join(p));
    wg_tape_reset(t);
}

static void a_reset_or_rewind_ends_an_open_loop(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N], v[N];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, NULL);
    for (int rewinds = 0; rewinds < 2; rewinds++) {
        wg_tape_reset(t);
        loops_before(t, p, x);
        const wg_mark m = wg_tape_mark(t);
        open_loop(t, p, x, v);
        struct one l = {.p = p, .kind = &kinds[3], .c = x, .u = x + PARAMETERS, .v = v};
        if (rewinds) assert_int_equal(wg_tape_rewind(t, m), WG_OK);
        else wg_tape_reset(t);
        /* what the tape records now is not what segments go on with */
        const wg_real a = wg_input(t, 3);
        wg_real y = a;
        for (int i = 0; i < 20000; i++) y = wg_let(t, wg_add(y, a));
        for (size_t k = 2; k < K; k++) (void)record(&l, k);
        for (size_t k = 0; k < K; k++) (void)wgi_parallel_recorded(p, k); /* as WG_OPENMP_FOR */
        assert_int_equal(wg_parallel_join(p), WG_EMODE);
        assert_ok(t, wg_reverse(t, y));
        assert_true(wg_adjoint(t, a) == 20001);
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void the_tape_of_an_open_loop_may_be_freed(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N], v[N];
    for (int joins = 0; joins < 2; joins++) {
        wg_tape *const t = wg_tape_new(&plain), *const other = wg_tape_new(&plain);
        wg_parallel *const p = segments_of(t, K, NULL);
        loops_before(t, p, x);
        open_loop(t, p, x, v);
        struct one l = {.p = p, .kind = &kinds[3], .c = x, .u = x + PARAMETERS, .v = v};
        wg_tape_free(t);
        for (size_t k = 2; k < K; k++) (void)record(&l, k);
        if (joins) assert_int_equal(wg_parallel_join(p), WG_EMODE);
        if (joins) assert_ok(other, wg_reverse(other, record_all(other, p, NULL, 5, x)));
        wg_parallel_free(p);
        wg_tape_free(other);
    }
}

static void a_failure_is_that_of_the_segment(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N], v[N];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, NULL);
    loops_before(t, p, x);
    open_loop(t, p, x, v);
    (void)wg_let(wg_parallel_tape(p, 3), wg_sin(v[0])); /* a variable of segment 0 */
    assert_int_equal(wg_parallel_join(p), WG_ESTALE);
    assert_non_null(strstr(wg_tape_message(t), "segment 3"));
    wg_tape_reset(t);
    assert_ok(t, wg_reverse(t, record_all(t, p, NULL, LOOPS, x)));
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* What is made on the tape of an open loop asks for more than there is: records of segments
 * stay. */
static void memory_that_is_short_leaves_an_open_loop_alone(void **state) {
    (void)state;
    static wg_real x[PARAMETERS + N], v[2][N];
    static double g[2][PARAMETERS + N];
    wg_tape *const t = wg_tape_new(&(wg_options){.budget = 3 << 20});
    wg_parallel *const p = segments_of(t, K, NULL), *none;
    for (int turn = 0; turn < 3; turn++) {
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, PARAMETERS + N, start(), x));
        struct one l = {.p = p, .kind = &kinds[4], .c = x, .u = x + PARAMETERS, .v = v[0]};
        for (int more = 0; more < 2; more++) {
            l.v = v[more];
            assert_ok(t, wg_parallel_begin(p, t));
            for (size_t k = 0; k < K; k++) {
                assert_int_equal(record(&l, k), WG_OK);
                if (turn == 2 && k == 1)
                    assert_int_equal(wg_parallel_new(t, 1024, NULL, &none), WG_EBUDGET);
            }
            assert_ok(t, wg_parallel_join(p));
            assert_ok(t, wg_parallel_adopt(p, N, l.v));
            l.u = l.v;
        }
        assert_ok(t, wg_reverse(t, wg_sum(t, N, l.v)));
        assert_ok(t, wg_adjoints(t, PARAMETERS + N, x, g[turn != 0]));
        assert_memory_equal(g[0], g[turn != 0], sizeof g[0]);
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* Loops and a sweep of eight adjoints on a tape of that budget. */
static wg_status by_budget(size_t budget, double *g) {
    static wg_real x[PARAMETERS + N], state[2][N];
    double w[8];
    wg_tape *const t = wg_tape_new(&(wg_options){.budget = budget, .reserve = plain.reserve});
    wg_parallel *p = NULL;
    for (int l = 0; l < 8; l++) w[l] = 1 + l;
    wg_status s = t == NULL ? WG_EBUDGET : wg_parallel_new(t, K, NULL, &p);
    if (s == WG_OK) s = wg_inputs(t, PARAMETERS + N, start(), x);
    struct one l = {.p = p, .kind = &kinds[13], .c = x, .u = x + PARAMETERS};
    for (int k = 0; k < 4 && s == WG_OK; k++) {
        l.v = state[k % 2];
        s = wg_parallel_begin(p, t);
        if (s == WG_OK) s = wg_parallel_run(p, record, &l);
        const wg_status joined = wg_parallel_join(p);
        if (s == WG_OK) s = joined;
        if (s == WG_OK) s = wg_parallel_adopt(p, N, l.v);
        l.u = l.v;
    }
    const wg_real sum = s == WG_OK ? wg_sum(t, N, l.u) : wg_constant(0);
    if (s == WG_OK) s = wg_reverse_lanes(t, 8, 1, &sum, w);
    if (s == WG_OK) s = wg_adjoints_lanes(t, PARAMETERS + N, x, 8, g, PARAMETERS + N);
    wg_parallel_free(p);
    wg_tape_free(t);
    return s;
}

static void a_budget_is_too_small_or_gives_what_is_right(void **state) {
    (void)state;
    static double g[2][8 * (PARAMETERS + N)];
    int small = 0, enough = 0;
    assert_int_equal(by_budget((size_t)1 << 30, g[0]), WG_OK);
    for (size_t pages = 4; enough < 8; pages += 8) {
        memset(g[1], 0, sizeof g[1]);
        const wg_status s = by_budget(pages * 4096, g[1]);
        if (s == WG_OK) assert_memory_equal(g[0], g[1], sizeof g[0]);
        else assert_int_equal(s, WG_EBUDGET);
        small += s != WG_OK;
        enough += s == WG_OK;
    }
    assert_true(small > 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_have_the_bits_that_each_has_alone),
        cmocka_unit_test(second_derivatives_are_those_of_loops_alone),
        cmocka_unit_test(a_loop_that_is_not_what_was_in_its_place_is_itself),
        cmocka_unit_test(a_reset_or_rewind_ends_an_open_loop),
        cmocka_unit_test(the_tape_of_an_open_loop_may_be_freed),
        cmocka_unit_test(a_failure_is_that_of_the_segment),
        cmocka_unit_test(memory_that_is_short_leaves_an_open_loop_alone),
        cmocka_unit_test(a_budget_is_too_small_or_gives_what_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
