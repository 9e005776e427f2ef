/* SPDX-License-Identifier: MIT */
/* Maps in recordings: guards, recordings with maps as functions, what is refused, memory. */
#include "counted.h"
#include "map_case.h"

/* ---- guards ------------------------------------------------------------------------------ */

static wg_status branches(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_lt(t, x[0], wg_constant(-100)) ? wg_constant(0) : wg_let(t, wg_mul(x[0], x[1]));
    if (wg_gt(t, x[1], wg_constant(0))) y[0] = wg_let(t, wg_add(y[0], x[1]));
    return WG_OK;
}

static void a_guard_that_comes_out_differently_is_named_with_its_point(void **state) {
    (void)state;
    enum { N = 900 };
    const wg_argument a[] = {{"x", 1, 1, 0}, {"z", 1, 1, 0}}, y = {"y", 1, 1, 0};
    static double x[N], z[N];
    wg_function *f = NULL;
    for (int i = 0; i < N; i++) x[i] = i, z[i] = 1;
    assert_int_equal(
        wg_function_record(coded, branches, NULL, 2, a, (double[]){1, 2}, 1, &y, &f), WG_OK);
    wg_callable *const k = callable_of(f);
    wg_tape_reset(tape);
    const wg_mat mx = wg_mat_input(tape, 1, N, x, 1);
    const wg_real twice = wg_let(tape, wg_mul(wg_mat_at(mx, 0, 3), 2));
    const wg_mark before = wg_tape_mark(tape);
    for (int way = 0; way < 2; way++) {
        wg_mat r;
        z[777] = -1;
        const wg_mat mz = wg_mat_input(tape, 1, N, z, 1);
        const wg_source s[] = {wg_from_matrix(mx), wg_from_matrix(mz)};
        const wg_mat one[] = {wg_mat_block(mx, 0, 777, 1, 1), wg_mat_block(mz, 0, 777, 1, 1)};
        assert_int_equal(way ? wg_call(tape, k, one, &r) : wg_map(tape, k, N, s, NULL, &r),
                         WG_EGUARD);
        assert_true(r.value == NULL);
        assert_message(tape, way ? "wg_call" : "wg_map");
        assert_message(tape, "guard 1");
        if (!way) assert_message(tape, "point 777");
        assert_int_equal(wg_tape_status(tape), WG_EGUARD);
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
        /* as good as before */
        z[777] = 1;
        const wg_source again[] = {wg_from_matrix(mx),
                                   wg_from_matrix(wg_mat_input(tape, 1, N, z, 1))};
        assert_int_equal(wg_map(tape, k, N, again, NULL, &r), WG_OK);
        assert_int_equal(wg_reverse(tape, wg_let(tape, wg_mul(wg_mat_at(r, 0, 3), twice))),
                         WG_OK);
        assert_true(wg_adjoint(tape, wg_mat_at(mx, 0, 3)) == 6 + 2 * 4);
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
    }
    wg_callable_free(k);
}

/* ---- written out ------------------------------------------------------------------------- */

enum { WRITTEN = 3, WRITTEN_IN = 4 * WRITTEN + 2 };

/* One number of everything that a map gives. */
static wg_status one_number(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    wg_real r[2 * WRITTEN + 1];
    (void)m;
    const wg_status s = map_callback(t, n, x, 2 * WRITTEN + 1, r, user);
    y[0] = r[2 * WRITTEN];
    for (size_t i = 0; i < 2 * WRITTEN; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(r[i], wg_mul(r[i], x[0]))));
    return s;
}
static wg_status one_number_plain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *user) {
    wg_real r[2 * WRITTEN], sum = wg_constant(0), s;
    (void)n, (void)m, (void)user;
    for (size_t i = 0; i < WRITTEN; i++) {
        const wg_real d[2] = {wg_constant(data[2 * i]), wg_constant(data[2 * i + 1])};
        mixed(t, x, x + 2 + 4 * i, d, r + 2 * i, &s);
        sum = wg_let(t, wg_add(sum, s));
    }
    y[0] = sum;
    for (size_t i = 0; i < 2 * WRITTEN; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(r[i], wg_mul(r[i], x[0]))));
    return WG_OK;
}

static void recordings_with_maps_are_functions(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    double x[WRITTEN_IN], y[2], g[2][WRITTEN_IN];
    make_data();
    for (size_t i = 0; i < WRITTEN_IN; i++) x[i] = 0.5 + number(i + 3);
    const wg_argument a = {"x", WRITTEN_IN, 1, 0}, r = {"y", 1, 1, 0};
    for (int how = 0; how < 4; how++) {
        mapped m = {k, WRITTEN, NULL, how};
        for (int which = 0; which < 2; which++) {
            wg_function *f = NULL, *h = NULL;
            if (wg_function_record(coded, which ? one_number_plain : one_number, &m, 1, &a, x,
                                   1, &r, &f) != WG_OK)
                fail_msg("%s", wg_tape_message(coded));
            assert_int_equal(wg_function_gradient(coded, f, &h), WG_OK);
            static _Alignas(64) char work[1 << 20];
            assert_true(wg_function_work(f, NULL) <= sizeof work);
            assert_true(wg_function_work(h, NULL) <= sizeof work);
            const wg_points in_points = {x, 0, 1};
            const wg_results value = {&y[which], 0, 1}, gradient = {g[which], 0, 1};
            assert_int_equal(wg_function_evaluate(f, 1, &in_points, &value, NULL, work, NULL),
                             WG_OK);
            assert_int_equal(
                wg_function_evaluate(h, 1, &in_points, &gradient, NULL, work, NULL), WG_OK);
            wg_function_free(f), wg_function_free(h);
        }
        assert_close(y[0], y[1]);
        for (size_t i = 0; i < WRITTEN_IN; i++) assert_sum(g[0][i], g[1][i], 0.1);
    }
    wg_callable_free(k);
}

static wg_status guarded_call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    wg_mat r;
    const wg_mat in_call[2] = {wg_mat_gather(t, 1, 1, x), wg_mat_gather(t, 1, 1, x + 1)};
    (void)n, (void)m;
    const wg_status s = wg_call(t, user, in_call, &r);
    y[0] = wg_mat_at(r, 0, 0);
    return s;
}

static void guards_inside_are_guards_of_the_recording(void **state) {
    (void)state;
    const wg_argument a[] = {{"x", 1, 1, 0}, {"z", 1, 1, 0}}, y = {"y", 1, 1, 0};
    const double x[2] = {1, 2}, other[2] = {1, -2};
    double got = 0;
    wg_function *f = NULL, *g = NULL;
    assert_int_equal(wg_function_record(coded, branches, NULL, 2, a, x, 1, &y, &f), WG_OK);
    wg_callable *const k = callable_of(f);
    assert_int_equal(wg_function_record(coded, guarded_call, k, 2, a, x, 1, &y, &g), WG_OK);
    static _Alignas(64) char work[1 << 20];
    wg_function_guard guard;
    const wg_points good[2] = {{x, 0, 1}, {x + 1, 0, 1}};
    const wg_points bad[2] = {{other, 0, 1}, {other + 1, 0, 1}};
    const wg_results to = {&got, 0, 1};
    assert_true(wg_function_work(g, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(g, 1, good, &to, NULL, work, &guard), WG_OK);
    assert_true(got == 4);
    assert_int_equal(wg_function_evaluate(g, 1, bad, &to, NULL, work, &guard), WG_EGUARD);
    assert_int_equal(guard.guard, 1);
    wg_function_free(g);
    wg_callable_free(k);
}

/* ---- refusals ---------------------------------------------------------------------------- */

static void refusals_name_the_call_the_argument_and_both_shapes(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    wg_callable *none = NULL;
    wg_mat y[OUTPUTS];
    static const double numbers[40];
#define REFUSED(expected, part, ...)                                                           \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        const wg_mat a = wg_mat_input(tape, 2, 1, numbers, 2);                                 \
        const wg_mat x = wg_mat_input(tape, 4, 5, numbers, 4);                                 \
        const wg_mat u = wg_mat_fill(tape, 1, 5, 0), d = wg_mat_fill(tape, 2, 5, 0);           \
        wg_source s[INPUTS] = {wg_from_matrix(a), wg_from_matrix(x), wg_from_matrix(u),        \
                               wg_from_matrix(d)};                                             \
        (void)s;                                                                               \
        assert_int_equal((__VA_ARGS__), expected);                                             \
        assert_message(tape, part);                                                            \
        assert_true(y[0].value == NULL && y[1].value == NULL);                                 \
    } while (0)
    REFUSED(WG_OK, "", (wg_map(tape, k, 5, s, NULL, y), y[0].value = y[1].value = NULL, WG_OK));
    REFUSED(WG_ESHAPE, "wg_map: input 1 (x) is 4x5, not 4x6", wg_map(tape, k, 6, s, NULL, y));
    REFUSED(WG_ESHAPE, "wg_map: input 0 (a) is 4x5, not 2x1",
            (s[0] = s[1], wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ESHAPE, "wg_call: input 1 (x) is 4x5, not 2x2",
            wg_call(tape, k, (wg_mat[]){a, x, u, d}, y));
    REFUSED(WG_ENULL, "wg_map: the data of input 3 (d) are NULL",
            (s[3] = wg_from_data(NULL, 1, 1), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ENULL, "wg_map: the callback of input 3 (d) is NULL",
            (s[3] = wg_from_fill(NULL, NULL), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_EARG, "input 3 (d) has a source for wg_scan",
            (s[3] = wg_from_state("d"), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_EARG, "input 3 (d) has a source for wg_scan",
            (s[3] = wg_each_step(s[3]), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ENULL, "wg_map: the 4 inputs are NULL", wg_map(tape, k, 5, NULL, NULL, y));
    REFUSED(WG_ENULL, "wg_map: the callable is NULL", wg_map(tape, NULL, 5, s, NULL, y));
    REFUSED(WG_ENULL, "wg_call: the 2 results are NULL",
            wg_call(tape, k, (wg_mat[]){a, x, u, d}, NULL));
    REFUSED(WG_ECONVERGE, "the callback of input 3 (d) returned",
            (s[0] = wg_from_data(numbers, 0, 1),
             s[1] = wg_from_matrix(wg_mat_fill(tape, 4, 99999, 0)),
             s[2] = wg_from_data(numbers, 0, 0), s[3] = wg_from_fill(refuse_data, NULL),
             wg_map(tape, k, 99999, s, NULL, y)));
#undef REFUSED
    assert_int_equal(wg_map(NULL, k, 1, NULL, NULL, y), WG_ENULL);
    assert_int_equal(wg_callable_new(NULL, NULL, &none), WG_ENULL);
    assert_int_equal(wg_callable_new(coded, NULL, &none), WG_ENULL);
    assert_message(coded, "wg_callable_new");
    assert_null(wg_callable_function(NULL));
    assert_int_equal(wg_function_inputs(wg_callable_function(k)), INPUTS);
    wg_callable_free(NULL);
    /* a tape in failure stays so */
    wg_tape_reset(tape);
    (void)wg_map(tape, NULL, 1, NULL, NULL, NULL);
    assert_int_equal(wg_call(tape, k, NULL, y), WG_ENULL);
    wg_callable_free(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

static wg_status small_map(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    mapped k = {user, (n - 2) / 4, NULL, 2};
    return map_callback(t, n, x, m, y, &k);
}

static void repeated_recordings_do_not_grow(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    enum { N = 300 };
    static double x[4 * N + 2], g[4 * N + 2], first[4 * N + 2], w[2 * N + 1];
    uint64_t calls = 0;
    make_data();
    for (size_t i = 0; i < 4 * N + 2; i++) x[i] = number(i);
    for (size_t i = 0; i < 2 * N + 1; i++) w[i] = 1;
    for (int again = 0; again < 20; again++) {
        wg_stats s;
        assert_int_equal(wg_vjp(tape, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g),
                         WG_OK);
        assert_int_equal(wg_tape_stats(tape, &s), WG_OK);
        if (again == 0) memcpy(first, g, sizeof g);
        if (again == 0) calls = s.memory_calls;
        assert_int_equal(s.memory_calls, calls);
        assert_memory_equal(first, g, sizeof g);
    }
    wg_callable_free(k);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    enum { N = 40 };
    double x[4 * N + 2], g[4 * N + 2], w[2 * N + 1];
    make_data();
    for (size_t i = 0; i < 4 * N + 2; i++) x[i] = number(i);
    for (size_t i = 0; i < 2 * N + 1; i++) w[i] = 1;
    wg_status got = WG_ENOMEM;
    for (size_t at = 2; got != WG_OK; at++) {
        struct counted memory = counted_start();
        const wg_options opt = {.memory = counted_memory(&memory), .reserve = 1 << 16};
        assert_true(at < 1000);
        memory.fail_at = at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        g[0] = -77;
        got = wg_vjp(t, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(g[0] == -77 && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_vjp(t, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g),
                             WG_OK);
        }
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
    wg_callable_free(k);
}

static void a_callable_is_made_completely_or_not_at_all(void **state) {
    (void)state;
    wg_status got = WG_ENOMEM;
    for (size_t at = 2; got != WG_OK; at++) {
        struct counted memory = counted_start();
        const wg_options opt = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
        assert_true(at < 1000);
        wg_function *f = NULL;
        wg_callable *k = NULL;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        assert_int_equal(
            wg_function_record(t, mixed_callback, NULL, INPUTS, in, start, OUTPUTS, out, &f),
            WG_OK);
        memory.asked = 2; /* from here on */
        memory.fail_at = at;
        memory.fail_on = 1;
        got = wg_callable_new(t, f, &k);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(k == NULL && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
        }
        wg_callable_free(k);
        wg_function_free(f);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_guard_that_comes_out_differently_is_named_with_its_point),
        cmocka_unit_test(recordings_with_maps_are_functions),
        cmocka_unit_test(guards_inside_are_guards_of_the_recording),
        cmocka_unit_test(refusals_name_the_call_the_argument_and_both_shapes),
        cmocka_unit_test(repeated_recordings_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_callable_is_made_completely_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
