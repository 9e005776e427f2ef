/* SPDX-License-Identifier: MIT */
/* test_tape_parallel.c - parallel loops: what they compute is that of the loop on one tape, and
 * the same for any number of threads. */
#include <pthread.h>

#include "parallel_case.h"

/* ---- one tape and segments ---- */

static double gradient(wg_tape *t, struct steps d, double *g) {
    static double x[INPUTS];
    double value = NAN;
    inputs_of_case(x, INPUTS);
    assert_ok(t, wg_gradient(t, all_steps, &d, INPUTS, x, &value, g));
    return value;
}

static void variables_of_one_user_have_the_bits_of_the_loop_on_a_tape(void **state) {
    (void)state;
    static double once[INPUTS], g[INPUTS];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    const double value = gradient(t, (struct steps){NULL, NULL, STEPS, 1}, once);
    const double again = gradient(t, (struct steps){p, NULL, STEPS, 1}, g);
    /* the sum itself is added up by segments */
    assert_near(again, value, fabs(value), CELLS);
    for (size_t i = 0; i < INPUTS; i++) assert_true(same_bits(g[i], once[i]));
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void shared_variables_differ_by_rounding(void **state) {
    (void)state;
    static double once[INPUTS], g[INPUTS];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    (void)gradient(t, (struct steps){NULL, NULL, STEPS, 0}, once);
    (void)gradient(t, (struct steps){p, NULL, STEPS, 0}, g);
    /* a parameter: as many terms as cells, in every step */
    for (size_t i = 0; i < PARAMETERS; i++)
        assert_near(g[i], once[i], fabs(once[i]) + 1, CELLS);
    for (size_t i = PARAMETERS; i < INPUTS; i++)
        assert_near(g[i], once[i], fabs(once[i]) + 1, 8);
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* A loop by hand: each segment has copies of what a segment before it has read, too: of the
 * parameters, and of the cells at its ends. */
static void copies_have_the_bits_of_a_recording_by_hand(void **state) {
    (void)state;
    enum { N = 600 };
    static wg_real x[PARAMETERS + N], own[SEGMENTS][PARAMETERS + N], v[N];
    static double a[PARAMETERS + N], once[PARAMETERS + N], g[PARAMETERS + N];
    wg_real part[SEGMENTS];
    inputs_of_case(a, PARAMETERS + N);
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    struct loop l = {.p = p, .n = N, .c = x, .u = x + PARAMETERS, .v = v, .part = part};

    assert_ok(t, wg_inputs(t, PARAMETERS + N, a, x));
    const wg_real y = one_loop(t, &l);
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, PARAMETERS + N, x, g));

    wg_tape_reset(t);
    assert_ok(t, wg_inputs(t, PARAMETERS + N, a, x));
    for (size_t k = 0; k < SEGMENTS; k++) {
        const size_t from = wg_parallel_from(p, k, N), to = wg_parallel_from(p, k + 1, N);
        memcpy(own[k], x, sizeof own[k]);
        for (size_t i = 0; i < PARAMETERS + N; i++) {
            const size_t j = i - PARAMETERS;
            int shared = k != 0 && (i < PARAMETERS || j == from || j == from - 1);
            if (k == SEGMENTS - 1) shared |= i >= PARAMETERS && (j == to - 1 || j == 0);
            if (shared) own[k][i] = wg_let(t, wg_mul(x[i], 1));
        }
    }
    for (size_t k = 0; k < SEGMENTS; k++) {
        struct loop mine = l;
        mine.c = own[k], mine.u = own[k] + PARAMETERS;
        part[k] = wg_constant(0);
        for (size_t i = wg_parallel_from(p, k, N); i < wg_parallel_from(p, k + 1, N); i++)
            part[k] = cell(t, &mine, i, part[k]);
    }
    const wg_real z = wg_sum(t, SEGMENTS, part);
    assert_true(same_bits(wg_value(y), wg_value(z)));
    assert_ok(t, wg_reverse(t, z));
    assert_ok(t, wg_adjoints(t, PARAMETERS + N, x, once));
    for (size_t i = 0; i < PARAMETERS + N; i++) assert_true(same_bits(g[i], once[i]));
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* ---- threads ---- */

static void any_number_of_threads_gives_the_same_bits(void **state) {
    (void)state;
    static double one[INPUTS], g[INPUTS];
    wg_tape *const t = wg_tape_new(&plain);
    for (size_t segments = 1; segments <= 40; segments += 13) {
        double value = 0;
        for (size_t threads = 0; threads <= 4; threads++) {
            wg_parallel *const p = segments_of(t, segments, pool_of(threads));
            for (int again = 0; again < 2; again++) { /* with marks, and in the plain loop */
                const double is = gradient(t, (struct steps){p, pool_of(threads), STEPS, 0}, g);
                if (threads == 0 && again == 0) {
                    value = is;
                    memcpy(one, g, sizeof one);
                }
                assert_true(same_bits(is, value));
                assert_memory_equal(g, one, sizeof one);
            }
            wg_parallel_free(p);
        }
    }
    wg_tape_free(t);
}

static void several_adjoints_at_once_have_the_bits_of_each(void **state) {
    (void)state;
    static double a[INPUTS];
    static wg_real x[INPUTS], v[CELLS];
    wg_real part[SEGMENTS], y[8];
    double w[8 * 8] = {0};
    inputs_of_case(a, INPUTS);
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(3));
    struct loop l = loop_of(p, pool_of(3), x, v, part);
    assert_ok(t, wg_inputs(t, INPUTS, a, x));
    y[0] = one_loop(t, &l);
    for (size_t j = 1; j < 8; j++) y[j] = v[j * 300];
    for (size_t j = 0; j < 8; j++) w[j * 8 + j] = (double)j + 0.5;
    for (size_t k = 1; k <= 8; k++) {
        static double g[8 * INPUTS], one[INPUTS];
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < k; i++) w[j * k + i] = i == j ? (double)j + 0.5 : 0;
        assert_ok(t, wg_reverse_lanes(t, k, k, y, w));
        assert_ok(t, wg_adjoints_lanes(t, INPUTS, x, k, g, INPUTS));
        for (size_t j = 0; j < k; j++) {
            const double seed = (double)j + 0.5;
            assert_ok(t, wg_reverse_seeds(t, 1, &y[j], &seed));
            assert_ok(t, wg_adjoints(t, INPUTS, x, one));
            for (size_t i = 0; i < INPUTS; i++)
                assert_true(g[j * INPUTS + i] == one[i]); /* 0 may be -0 */
        }
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* A last cell reads little; of a sweep from the sum before it nothing may be left. */
static void long_adjoints_are_cleared_between_sweeps(void **state) {
    (void)state;
    enum { LANES = 40 };
    static double a[INPUTS], g[LANES * INPUTS], w[LANES];
    static wg_real x[INPUTS], v[CELLS], part[SEGMENTS];
    inputs_of_case(a, INPUTS);
    for (size_t j = 0; j < LANES; j++) w[j] = 1;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(3));
    struct loop l = loop_of(p, pool_of(3), x, v, part);
    assert_ok(t, wg_inputs(t, INPUTS, a, x));
    const wg_real y = one_loop(t, &l);
    for (int again = 0; again < 3; again++) {
        assert_ok(t, wg_reverse_lanes(t, LANES, 1, &y, w));
        assert_ok(t, wg_reverse_lanes(t, LANES, 1, &v[CELLS - 1], w));
        assert_ok(t, wg_adjoints_lanes(t, INPUTS, x, LANES, g, INPUTS));
        for (size_t i = 0; i < LANES * INPUTS; i++)
            assert_true((g[i] != 0) == ((i + 2) % INPUTS <= PARAMETERS + 2));
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

struct turn {
    struct loop *l;
    size_t k;
};
static void *one_segment(void *data) {
    const struct turn *const turn = data;
    (void)record_segment(turn->l, turn->k);
    return NULL;
}

static void threads_of_anybody_record_segments_in_any_order(void **state) {
    (void)state;
    static double a[INPUTS], one[INPUTS], g[INPUTS];
    static wg_real x[INPUTS], v[CELLS];
    static const size_t order[SEGMENTS] = {6, 2, 0, 5, 1, 4, 3};
    wg_real part[SEGMENTS];
    inputs_of_case(a, INPUTS);
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(2));
    for (int way = 0; way < 3; way++) {
        struct loop l = {.p = p, .n = CELLS, .c = x, .u = x + PARAMETERS, .v = v, .part = part};
        wg_real y;
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, INPUTS, a, x));
        assert_ok(t, wg_parallel_begin(p, t));
        if (way == 0) {
            for (size_t k = 0; k < SEGMENTS; k++) (void)record_segment(&l, k);
        } else if (way == 1) {
            for (size_t k = 0; k < SEGMENTS; k++) (void)record_segment(&l, order[k]);
        } else {
            pthread_t thread[SEGMENTS];
            struct turn turn[SEGMENTS];
            for (size_t k = 0; k < SEGMENTS; k++) {
                turn[k] = (struct turn){&l, order[k]};
                assert_int_equal(pthread_create(&thread[k], NULL, one_segment, &turn[k]), 0);
            }
            for (size_t k = 0; k < SEGMENTS; k++) (void)pthread_join(thread[k], NULL);
        }
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_reduce(p, WG_REDUCE_SUM, 1, part, &y));
        assert_ok(t, wg_reverse(t, y));
        assert_ok(t, wg_adjoints(t, INPUTS, x, way == 0 ? one : g));
        if (way != 0) assert_memory_equal(g, one, sizeof one);
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* ---- what a loop may be ---- */

static void reductions_are_those_of_arrays(void **state) {
    (void)state;
    enum { N = 5 };
    static const double a[N] = {2, -3, 0.5, 7, -3};
    static const struct {
        wg_reduction how;
        double value, by[N];
    } all[] = {{WG_REDUCE_SUM, 3.5, {1, 1, 1, 1, 1}},
               {WG_REDUCE_PRODUCT, 63, {31.5, -21, 126, 9, -21}},
               {WG_REDUCE_MINIMUM, -3, {0, 0.5, 0, 0, 0.5}},
               {WG_REDUCE_MAXIMUM, 7, {0, 0, 0, 1, 0}}};
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, N, NULL);
    for (size_t how = 0; how < sizeof all / sizeof *all; how++) {
        wg_real x[N], part[2 * N], y[2];
        double g[N];
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, N, a, x));
        assert_ok(t, wg_parallel_begin(p, t));
        for (size_t k = 0; k < N; k++) {
            wg_tape *const s = wg_parallel_tape(p, k);
            part[2 * k] = wg_let(s, wg_mul(x[k], 1));
            part[2 * k + 1] = k == 3 ? wg_constant(1) : wg_let(s, wg_square(x[k]));
        }
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_reduce(p, all[how].how, 2, part, y));
        assert_true(wg_value(y[0]) == all[how].value);
        assert_ok(t, wg_reverse(t, y[0]));
        assert_ok(t, wg_adjoints(t, N, x, g));
        for (size_t k = 0; k < N; k++) assert_true(g[k] == all[how].by[k]);
        assert_ok(t, wg_reverse(t, y[1]));
        assert_true(wg_adjoint(t, x[3]) == 0);
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void iterations_are_shared_out_evenly(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 6, 7, 8, 100, 12345, SIZE_MAX};
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i];
        assert_int_equal(wg_parallel_from(p, 0, n), 0);
        for (size_t k = 0; k < SEGMENTS; k++) {
            const size_t some = wg_parallel_from(p, k + 1, n) - wg_parallel_from(p, k, n);
            assert_true(some == n / SEGMENTS || some == n / SEGMENTS + (n % SEGMENTS != 0));
        }
        assert_int_equal(wg_parallel_from(p, SEGMENTS, n), n);
        assert_int_equal(wg_parallel_from(NULL, 0, n), n);
    }
    assert_int_equal(wg_parallel_segments(p), SEGMENTS);
    assert_int_equal(wg_parallel_segments(NULL), 0);
    assert_null(wg_parallel_tape(p, SEGMENTS));
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void loops_may_be_empty_and_segments_unused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(2));
    const wg_real x = wg_input(t, 3);
    for (int again = 0; again < 3; again++) { /* nothing at all */
        assert_ok(t, wg_parallel_begin(p, t));
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_adopt(p, 0, NULL));
    }
    wg_stats s;
    assert_ok(t, wg_tape_stats(t, &s));
    assert_int_equal(s.slots, 1);
    /* one of them; an input of its own; a constant, and what was there before, as they are */
    wg_real v[4];
    assert_ok(t, wg_parallel_begin(p, t));
    wg_tape *const one = wg_parallel_tape(p, 4);
    v[0] = wg_let(one, wg_square(x));
    v[1] = wg_input(one, 5);
    v[2] = wg_let(one, wg_add(2, 3));
    v[3] = wg_let(one, x);
    assert_ok(t, wg_parallel_join(p));
    assert_ok(t, wg_parallel_adopt(p, 4, v));
    assert_ok(t, wg_parallel_adopt(p, 4, v)); /* once more does nothing */
    const wg_real y = wg_let(t, wg_add(wg_mul(v[0], v[1]), wg_add(v[2], v[3])));
    assert_true(wg_value(y) == 53);
    assert_ok(t, wg_reverse(t, y));
    assert_true(wg_adjoint(t, x) == 31);
    assert_true(wg_adjoint(t, v[1]) == 9);
    wg_parallel_free(p); /* the recording stays */
    assert_ok(t, wg_reverse(t, y));
    assert_true(wg_adjoint(t, x) == 31);
    wg_tape_free(t);
}

/* Statements of 1 to 8 operands, of any kind, whose operands are from before and from the
 * segment. */
static void statements_of_all_kinds_go_into_segments(void **state) {
    (void)state;
    enum { BEFORE = 60, LENGTH = 400, ALL = BEFORE + LENGTH };
    static wg_real before[BEFORE], x[SEGMENTS][ALL], last[SEGMENTS], part[SEGMENTS];
    double once[10], g[10];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(2));
    for (uint64_t seed = 1; seed <= 20; seed++)
        for (int way = 0; way < 2; way++) {
            wg_tape_reset(t);
            walk(t, seed, 10, 0, BEFORE, before);
            if (way == 1) assert_ok(t, wg_parallel_begin(p, t));
            for (size_t k = 0; k < SEGMENTS; k++) {
                wg_tape *const s = way == 0 ? t : wg_parallel_tape(p, k);
                memcpy(x[k], before, sizeof before);
                walk(s, seed * 100 + k, 10, BEFORE, ALL, x[k]);
                last[k] = x[k][ALL - 1];
                part[k] = wg_let(s, wg_tanh(wg_sum(s, LENGTH, x[k] + BEFORE)));
            }
            if (way == 1) assert_ok(t, wg_parallel_join(p));
            wg_real y, z;
            if (way == 1) {
                assert_ok(t, wg_parallel_adopt(p, SEGMENTS, last));
                assert_ok(t, wg_parallel_reduce(p, WG_REDUCE_SUM, 1, part, &y));
            } else y = wg_sum(t, SEGMENTS, part);
            z = wg_let(t, wg_add(y, wg_sum(t, SEGMENTS, last)));
            assert_ok(t, wg_reverse(t, z));
            assert_ok(t, wg_adjoints(t, 10, before, way == 0 ? once : g));
            double size = 1;
            for (int i = 0; i < 10; i++) size = fmax(size, fabs(once[i]));
            for (int i = 0; way == 1 && i < 10; i++) {
                if (isfinite(once[i])) assert_near(g[i], once[i], size, ALL * SEGMENTS);
                else assert_true(!isfinite(g[i]));
            }
        }
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void loops_that_are_repeated_allocate_nothing(void **state) {
    (void)state;
    static double g[INPUTS];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(2));
    wg_stats first, s;
    for (int again = 0; again < 6; again++) {
        (void)gradient(t, (struct steps){p, pool_of(2), STEPS, 0}, g);
        assert_ok(t, wg_tape_stats(t, &s));
        if (again == 1) first = s;
        if (again > 1) {
            assert_int_equal(s.memory_calls, first.memory_calls);
            assert_int_equal(s.committed_bytes, first.committed_bytes);
        }
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void a_rewind_forgets_a_loop(void **state) {
    (void)state;
    static double a[INPUTS], g[INPUTS], again[INPUTS];
    static wg_real x[INPUTS], v[CELLS];
    wg_real part[SEGMENTS];
    inputs_of_case(a, INPUTS);
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(2));
    struct loop l = loop_of(p, pool_of(2), x, v, part);
    assert_ok(t, wg_inputs(t, INPUTS, a, x));
    const wg_mark start = wg_tape_mark(t);
    for (int k = 0; k < 4; k++) {
        const wg_real y = one_loop(t, &l);
        assert_ok(t, wg_reverse(t, y));
        assert_ok(t, wg_adjoints(t, INPUTS, x, k == 0 ? g : again));
        if (k != 0) assert_memory_equal(again, g, sizeof g);
        assert_ok(t, wg_tape_rewind(t, start));
        assert_int_equal(wg_parallel_adopt(p, CELLS, v), WG_ESTALE);
        /* something else in its place */
        wg_real z = x[0];
        for (int i = 0; k == 2 && i < 20000; i++) z = wg_let(t, wg_sin(z));
        if (k == 2) assert_ok(t, wg_reverse(t, z));
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* ---- the pool at work ---- */

static wg_status fail_from_third(void *context, size_t k) {
    int *const done = context;
    done[k]++;
    return k < 3 ? WG_OK : k == 3 ? WG_ESINGULAR : WG_ECALLBACK;
}

static void every_segment_is_run_once_and_the_lowest_failure_counts(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    for (size_t threads = 0; threads <= 4; threads++)
        for (size_t segments = 1; segments <= 40; segments += 3) {
            wg_parallel *const p = segments_of(t, segments, pool_of(threads));
            int done[40] = {0};
            const wg_status s = wg_parallel_run(p, fail_from_third, done);
            if (segments <= 3) assert_int_equal(s, WG_OK);
            else if (threads < 2) assert_int_equal(s, WG_ESINGULAR);
            else assert_true(s == WG_ESINGULAR || s == WG_ECALLBACK);
            for (size_t k = 0; k < segments; k++) assert_true(done[k] <= 1);
            for (size_t k = 0; k < segments && segments <= 3; k++) assert_int_equal(done[k], 1);
            struct loop l = {.p = p};
            wg_real part[40];
            l.part = part;
            assert_ok(t, wg_parallel_begin(p, t));
            assert_int_equal(wg_parallel_run(p, record_segment, &l), WG_OK);
            assert_ok(t, wg_parallel_join(p));
            wg_parallel_free(p);
        }
    wg_tape_free(t);
}

struct nested {
    wg_parallel *p;
    const wg_real *x;
    wg_real *v;
    pthread_t at[SEGMENTS], inner[SEGMENTS];
    size_t k[SEGMENTS];
};

static wg_status inside(void *context, size_t task) {
    pthread_t *const who = context;
    who[task == 0 ? 0 : 1] = pthread_self();
    return WG_OK;
}

static wg_status record_nested(void *context, size_t k) {
    struct nested *const n = context;
    pthread_t who[2];
    const wg_status s = wg_threads_run(pool_of(3), 2, inside, who);
    n->at[k] = pthread_self();
    n->inner[k] = who[0];
    n->v[k] = wg_let(wg_parallel_tape(n->p, k), wg_mul(n->x[0], (double)k));
    return s == WG_OK && !pthread_equal(who[0], who[1]) ? WG_ECALLBACK : s;
}

static void what_a_segment_calls_runs_in_its_thread(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(3));
    const wg_real x = wg_input(t, 2);
    wg_real v[SEGMENTS];
    struct nested n = {.p = p, .x = &x, .v = v};
    assert_ok(t, wg_parallel_begin(p, t));
    assert_int_equal(wg_threads_run(pool_of(3), SEGMENTS, record_nested, &n), WG_OK);
    assert_ok(t, wg_parallel_join(p));
    assert_ok(t, wg_parallel_adopt(p, SEGMENTS, v));
    for (size_t k = 0; k < SEGMENTS; k++) assert_true(pthread_equal(n.at[k], n.inner[k]));
    assert_ok(t, wg_reverse(t, wg_sum(t, SEGMENTS, v)));
    assert_true(wg_adjoint(t, x) == 21);
    wg_parallel_free(p);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_of_one_user_have_the_bits_of_the_loop_on_a_tape),
        cmocka_unit_test(shared_variables_differ_by_rounding),
        cmocka_unit_test(copies_have_the_bits_of_a_recording_by_hand),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(several_adjoints_at_once_have_the_bits_of_each),
        cmocka_unit_test(long_adjoints_are_cleared_between_sweeps),
        cmocka_unit_test(threads_of_anybody_record_segments_in_any_order),
        cmocka_unit_test(reductions_are_those_of_arrays),
        cmocka_unit_test(iterations_are_shared_out_evenly),
        cmocka_unit_test(loops_may_be_empty_and_segments_unused),
        cmocka_unit_test(statements_of_all_kinds_go_into_segments),
        cmocka_unit_test(loops_that_are_repeated_allocate_nothing),
        cmocka_unit_test(a_rewind_forgets_a_loop),
        cmocka_unit_test(every_segment_is_run_once_and_the_lowest_failure_counts),
        cmocka_unit_test(what_a_segment_calls_runs_in_its_thread),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
