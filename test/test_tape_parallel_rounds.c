/* SPDX-License-Identifier: MIT */
/* test_tape_parallel_rounds.c - segments that share variables with few others are swept in
 * rounds: what they add to these has the bits of the loop on one tape, where the sweep comes to
 * segments round after round. */
#include "parallel_case.h"

/* Cells of a segment are whole groups of 64 slots: the first one has slot 64. */
enum { K = 24, OWN = 192, N = K * OWN, BEFORE = 63, ALL = BEFORE + N, THREADS = 4 };

/* A cell reads the one `far` behind it. */
struct chain {
    wg_parallel *p;
    size_t far;
    int parameter; /* which all cells read, or not */
    const wg_real *c, *u;
    wg_real v[N], part[K];
};

static void record_part(wg_tape *t, struct chain *l, size_t k) {
    wg_real sum = wg_constant(0);
    for (size_t i = wg_parallel_from(l->p, k, N); i < wg_parallel_from(l->p, k + 1, N); i++) {
        wg_real near = l->u[i + l->far < N ? i + l->far : i];
        if (l->parameter) near = wg_let(t, wg_mul(near, l->c[0]));
        l->v[i] = wg_let(t, wg_mul(wg_sin(l->u[i]), wg_add(near, wg_mul(0.3, l->u[i]))));
        sum = wg_let(t, wg_add(sum, wg_mul(l->v[i], wg_exp(wg_neg(near)))));
    }
    l->part[k] = sum;
}

static wg_status record_segment_of(void *context, size_t k) {
    struct chain *const l = context;
    record_part(wg_parallel_tape(l->p, k), l, k);
    return WG_OK;
}

static void inputs_of(wg_tape *t, wg_real *x) {
    static double a[ALL];
    inputs_of_case(a, ALL);
    wg_tape_reset(t);
    assert_ok(t, wg_inputs(t, ALL, a, x));
}

static double in_segments(wg_tape *t, struct chain *l, wg_real *x, double *g) {
    wg_real y;
    inputs_of(t, x);
    l->c = x, l->u = x + BEFORE;
    assert_ok(t, wg_parallel_begin(l->p, t));
    assert_ok(t, wg_parallel_run(l->p, record_segment_of, l));
    assert_ok(t, wg_parallel_join(l->p));
    assert_ok(t, wg_parallel_adopt(l->p, N, l->v));
    assert_ok(t, wg_parallel_reduce(l->p, WG_REDUCE_SUM, 1, l->part, &y));
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, ALL, x, g));
    return wg_value(y);
}

/* On one tape: what is recorded last is swept first. */
static double in_order_of_rounds(wg_tape *t, struct chain *l, size_t rounds, wg_real *x,
                                 double *g) {
    inputs_of(t, x);
    l->c = x, l->u = x + BEFORE;
    for (size_t round = rounds; round-- > 0;)
        for (size_t k = round; k < K; k += rounds) record_part(t, l, k);
    const wg_real y = wg_sum(t, K, l->part);
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, ALL, x, g));
    return wg_value(y);
}

static void rounds_have_the_bits_of_their_order_on_one_tape(void **state) {
    (void)state;
    static const struct {
        size_t far, rounds;
    } all[] = {{1, 2},       {30, 2},      {OWN, 2},    {2 * OWN, 3},
               {3 * OWN, 2}, {4 * OWN, 3}, {6 * OWN, 4}};
    static wg_real x[ALL];
    static double g[ALL], once[ALL];
    static struct chain l;
    wg_tape *const t = wg_tape_new(&plain);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t threads = 0; threads <= THREADS; threads += 2) {
            l = (struct chain){.p = segments_of(t, K, pool_of(threads)), .far = all[i].far};
            const double y = in_order_of_rounds(t, &l, all[i].rounds, x, once);
            for (int again = 0; again < 3; again++) { /* moved, and where it stood before */
                assert_true(same_bits(in_segments(t, &l, x, g), y));
                assert_memory_equal(g, once, sizeof g);
            }
            wg_parallel_free(l.p);
        }
    wg_tape_free(t);
}

static void several_adjoints_in_rounds_have_the_bits_of_each(void **state) {
    (void)state;
    static wg_real x[ALL];
    static double g[ALL], lanes[4 * (ALL)];
    static struct chain l;
    wg_tape *const t = wg_tape_new(&plain);
    l = (struct chain){.p = segments_of(t, K, pool_of(3)), .far = 2 * OWN};
    (void)in_segments(t, &l, x, g);
    const wg_real y[4] = {l.v[0], l.v[N / 2], l.v[N - 1], l.part[3]};
    const double w[16] = {1.5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 1.5, 0, 0, 0, 0, 1.5}, seed = 1.5;
    assert_ok(t, wg_reverse_lanes(t, 4, 4, y, w));
    assert_ok(t, wg_adjoints_lanes(t, ALL, x, 4, lanes, ALL));
    for (size_t j = 0; j < 4; j++) {
        assert_ok(t, wg_reverse_seeds(t, 1, &y[j], &seed));
        assert_ok(t, wg_adjoints(t, ALL, x, g));
        for (size_t i = 0; i < ALL; i++) assert_true(lanes[j * (ALL) + i] == g[i]);
    }
    wg_parallel_free(l.p);
    wg_tape_free(t);
}

static void a_parameter_of_all_goes_beside_rounds(void **state) {
    (void)state;
    static wg_real x[ALL];
    static double g[ALL], first[ALL], once[ALL];
    static struct chain l;
    wg_tape *const t = wg_tape_new(&plain);
    double y = 0;
    for (size_t threads = 0; threads <= THREADS; threads++)
        for (size_t far = 1; far < N; far *= 2 * OWN) {
            l = (struct chain){
                .p = segments_of(t, K, pool_of(threads)), .far = far, .parameter = 1};
            y = in_segments(t, &l, x, first);
            assert_true(same_bits(in_segments(t, &l, x, g), y));
            assert_memory_equal(g, first, sizeof g);
            (void)in_order_of_rounds(t, &l, far == 1 ? 2 : 3, x, once);
            assert_near(g[0], once[0], fabs(once[0]) + 1, 2 * N);
            for (size_t i = BEFORE; i < ALL; i++) assert_true(same_bits(g[i], once[i]));
            wg_parallel_free(l.p);
        }
    wg_tape_free(t);
}

/* Sums of whole numbers are exact in every order. Segment k reads its cells, the next ones, and
 * those behind the last; and all the parameter, the last of all inputs. */
enum { NEAR = 32, MOST_REST = 100 };
struct whole {
    wg_parallel *p;
    size_t n;
    int parameter;
    wg_real *x; /* n inputs, then what the loop has made */
    wg_real part[K];
};

static void record_whole(wg_tape *t, struct whole *l, size_t k) {
    wg_real sum = wg_constant(1);
    for (size_t i = 1; i <= NEAR; i++) {
        const size_t own = NEAR * k + i, next = own + NEAR < l->n ? own + NEAR : l->n - i;
        wg_real y = wg_let(t, wg_sub(wg_mul(2, l->x[own]), wg_mul(3, l->x[next])));
        if (l->parameter) y = wg_let(t, wg_mul(l->x[l->n - 1], y));
        sum = wg_let(t, wg_add(sum, y));
        l->x[l->n + NEAR * k + i - 1] = y;
    }
    l->part[k] = sum;
}

enum { WHOLE = 2 * K * NEAR + MOST_REST };
static void adjoints_of_whole(wg_tape *t, wg_parallel *p, size_t n, int parameter, double *one,
                              double *lanes) {
    static wg_real x[WHOLE];
    static double a[WHOLE];
    const size_t all = n + K * NEAR;
    struct whole l = {.p = p, .n = n, .parameter = parameter, .x = x};
    wg_real y;
    for (size_t i = 0; i < n; i++) a[i] = (double)(i % 5);
    wg_tape_reset(t);
    assert_ok(t, wg_inputs(t, n, a, x));
    if (p != NULL) {
        assert_ok(t, wg_parallel_begin(p, t));
        for (size_t k = 0; k < K; k++) record_whole(wg_parallel_tape(p, k), &l, k);
        assert_ok(t, wg_parallel_join(p));
        assert_ok(t, wg_parallel_adopt(p, all, x));
        assert_ok(t, wg_parallel_reduce(p, WG_REDUCE_SUM, 1, l.part, &y));
    } else {
        for (size_t k = 0; k < K; k++) record_whole(t, &l, k);
        y = wg_sum(t, K, l.part);
    }
    const wg_real root[4] = {y, l.part[0], l.part[K / 2], l.part[K - 1]};
    const double w[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, all, x, one));
    assert_ok(t, wg_reverse_lanes(t, 4, 4, root, w));
    assert_ok(t, wg_adjoints_lanes(t, all, x, 4, lanes, all));
}

static void a_group_may_be_of_the_loop_in_part(void **state) {
    (void)state;
    static double one[2][WHOLE], lanes[2][4 * (WHOLE)];
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, K, pool_of(2));
    for (size_t rest = 1; rest < MOST_REST; rest += 7)
        for (int parameter = 0; parameter < 2; parameter++) {
            const size_t n = K * NEAR + rest, all = n + K * NEAR;
            adjoints_of_whole(t, NULL, n, parameter, one[0], lanes[0]);
            for (int again = 0; again < 2; again++) {
                adjoints_of_whole(t, p, n, parameter, one[1], lanes[1]);
                for (size_t i = 0; i < all; i++) assert_true(one[0][i] == one[1][i]);
                for (size_t i = 0; i < 4 * all; i++) assert_true(lanes[0][i] == lanes[1][i]);
            }
        }
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* The slope of sqrt at 0, from segment k, and from segment k + 1 with the other sign. */
static void a_traced_sweep_stops_where_rounds_add_up_to_nan(void **state) {
    (void)state;
    static wg_real x[ALL];
    static double a[ALL];
    static struct chain l;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_TRACE, .reserve = plain.reserve});
    inputs_of_case(a, ALL);
    a[0] = 0;
    for (size_t k = 0; k < 4; k++) {
        wg_real y;
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, ALL, a, x));
        l = (struct chain){
            .p = segments_of(t, K, pool_of(2)), .far = 1, .c = x, .u = x + BEFORE};
        assert_ok(t, wg_parallel_begin(l.p, t));
        for (size_t i = 0; i < K; i++) {
            wg_tape *const s = wg_parallel_tape(l.p, i);
            record_part(s, &l, i);
            if (i != k && i != k + 1) continue;
            const wg_real root = wg_let(s, wg_sqrt(x[0]));
            l.part[i] = wg_let(s, wg_add(l.part[i], wg_mul(i == k ? 1.0 : -1.0, root)));
        }
        assert_ok(t, wg_parallel_join(l.p));
        assert_ok(t, wg_parallel_reduce(l.p, WG_REDUCE_SUM, 1, l.part, &y));
        assert_int_equal(wg_reverse(t, y), WG_ENONFINITE);
        assert_non_null(strstr(wg_tape_message(t), "the adjoint of slot 1 becomes nan"));
        wg_parallel_free(l.p);
    }
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_have_the_bits_of_their_order_on_one_tape),
        cmocka_unit_test(several_adjoints_in_rounds_have_the_bits_of_each),
        cmocka_unit_test(a_parameter_of_all_goes_beside_rounds),
        cmocka_unit_test(a_group_may_be_of_the_loop_in_part),
        cmocka_unit_test(a_traced_sweep_stops_where_rounds_add_up_to_nan),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
