/* SPDX-License-Identifier: MIT */
/* test_tape_parallel_modes.c - parallel loops on tapes of every mode, under drivers, and in
 * what is made of a recording. */
#include <stdio.h>

#include "parallel_case.h"

enum { FEW = 40, N = PARAMETERS + FEW };

static struct steps alone = {NULL, NULL, STEPS, 0};

static double x[N];

static int start(void **state) {
    (void)state;
    inputs_of_case(x, N);
    return 0;
}

/* The same in segments. */
static struct steps in_segments(wg_tape *t) {
    return (struct steps){segments_of(t, SEGMENTS, pool_of(3)), pool_of(3), STEPS, 0};
}

static void assert_all_near(const double *a, const double *b, size_t n) {
    double size = 1;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(b[i]));
    for (size_t i = 0; i < n; i++) assert_near(a[i], b[i], size, 10 * FEW);
}

/* ---- forward ---- */

/* The sum is added up otherwise; the rest has the same bits. */
static void tangents_are_those_of_the_loop_on_a_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(3));
    for (size_t width = 1; width <= 9; width += 4) {
        double once[FEW * 9], sum[9];
        for (int way = 0; way < 2; way++) {
            wg_real in[N], v[FEW], part[SEGMENTS];
            struct loop l = {.p = way == 0 ? NULL : p,
                             .threads = pool_of(3),
                             .n = FEW,
                             .c = in,
                             .u = in + PARAMETERS,
                             .v = v,
                             .part = part};
            wg_tape_reset(t);
            assert_ok(t, wg_tape_forward(t, width));
            assert_ok(t, wg_inputs(t, N, x, in));
            for (size_t i = 0; i < N; i++)
                for (size_t k = 0; k < width; k++)
                    assert_ok(t, wg_tangent_seed(t, in[i], k, sin((double)(i * 9 + k))));
            const wg_real y = one_loop(t, &l);
            for (size_t k = 0; k < width; k++) {
                for (size_t i = 0; i < FEW; i++) {
                    const double vt = wg_tangent(t, v[i], k);
                    if (way == 0) once[i * width + k] = vt;
                    else assert_true(same_bits(once[i * width + k], vt));
                }
                if (way == 0) sum[k] = wg_tangent(t, y, k);
                else assert_near(wg_tangent(t, y, k), sum[k], 10, FEW);
            }
            wg_tape_reset(t);
            assert_ok(t, wg_tape_forward(t, 0));
        }
    }
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void drivers_of_first_order_agree_with_the_loop_on_a_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    struct steps d = in_segments(t);
    double y, z, jac[N], once[N], v[N], yt, zt;
    wg_check found;
    for (size_t i = 0; i < N; i++) v[i] = cos((double)i);
    assert_ok(t, wg_eval(t, all_steps, &alone, N, x, 1, &y));
    assert_ok(t, wg_eval(t, all_steps, &d, N, x, 1, &z));
    assert_near(z, y, fabs(y) + 1, FEW);
    assert_ok(t, wg_jacobian(t, all_steps, &alone, N, x, 1, &y, WG_ROW_MAJOR, once, N));
    assert_ok(t, wg_jacobian(t, all_steps, &d, N, x, 1, &y, WG_ROW_MAJOR, jac, N));
    assert_true(same_bits(y, z));
    assert_all_near(jac, once, N);
    assert_ok(t, wg_jvp(t, all_steps, &alone, N, x, v, 1, &y, &yt));
    assert_ok(t, wg_jvp(t, all_steps, &d, N, x, v, 1, &y, &zt));
    assert_near(zt, yt, fabs(yt) + 1, 10 * FEW);
    assert_ok(t, wg_check_gradient(t, all_steps, &d, N, x, 1, &found));
    wg_parallel_free(d.p);
    wg_tape_free(t);
}

static void a_paused_tape_records_no_loop(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, pool_of(3));
    wg_real in[N], v[FEW], part[SEGMENTS];
    struct loop l = {.p = p, .n = FEW, .c = in, .u = in + PARAMETERS, .v = v, .part = part};
    assert_ok(t, wg_inputs(t, N, x, in));
    assert_ok(t, wg_tape_pause(t));
    const wg_real y = one_loop(t, &l);
    assert_ok(t, wg_tape_resume(t));
    assert_int_equal(y.at.slot, 0);
    assert_int_equal(v[3].at.slot, 0);
    const wg_real z = one_loop(t, &l);
    assert_true(z.at.slot != 0);
    assert_true(same_bits(wg_value(y), wg_value(z)));
    wg_parallel_free(p);
    wg_tape_free(t);
}

static void a_loop_is_preaccumulated(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    struct steps d = in_segments(t);
    wg_real in[N], y;
    double g[N], local[N];
    wg_stats s;
    assert_ok(t, wg_inputs(t, N, x, in));
    const wg_mark start_of_loops = wg_tape_mark(t);
    assert_ok(t, all_steps(t, N, in, 1, &y, &d));
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, N, in, g));
    assert_ok(t, wg_preaccumulate(t, start_of_loops, N, in, 1, &y));
    assert_ok(t, wg_tape_stats(t, &s));
    assert_int_equal(s.statements, 1);
    assert_ok(t, wg_reverse(t, y));
    assert_ok(t, wg_adjoints(t, N, in, local));
    assert_memory_equal(local, g, sizeof g);
    wg_parallel_free(d.p);
    wg_tape_free(t);
}

/* ---- kept code ---- */

static void second_derivatives_are_those_of_the_loop_on_a_tape(void **state) {
    (void)state;
    static double h[N * N], once[N * N];
    double y, g[N], v[N], hv[N], other[N];
    wg_check found;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    struct steps d = in_segments(t);
    for (size_t i = 0; i < N; i++) v[i] = cos((double)i);
    assert_ok(t, wg_hessian(t, all_steps, &alone, N, x, &y, g, once, N));
    assert_ok(t, wg_hessian(t, all_steps, &d, N, x, &y, g, h, N));
    assert_all_near(h, once, (size_t)N * N);
    assert_ok(t, wg_hvp(t, all_steps, &alone, N, x, v, &y, g, other));
    assert_ok(t, wg_hvp(t, all_steps, &d, N, x, v, &y, g, hv));
    assert_all_near(hv, other, N);
    assert_ok(t, wg_check_hessian(t, all_steps, &d, N, x, 1, &found));
    wg_parallel_free(d.p);
    wg_tape_free(t);
}

/* As it would have been recorded there. */
static void a_replay_goes_through_a_loop(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    struct steps d = in_segments(t);
    double there[N], g[N], again[N], value = 0;
    for (size_t i = 0; i < N; i++) there[i] = x[i] + 0.01 * (double)i;
    for (int way = 0; way < 2; way++) {
        wg_real in[N], y;
        wg_tape_reset(t);
        assert_ok(t, wg_inputs(t, N, way == 0 ? there : x, in));
        assert_ok(t, all_steps(t, N, in, 1, &y, &d));
        assert_ok(t, wg_tape_verify(t));
        if (way == 1) assert_ok(t, wg_tape_replay(t, N, in, there));
        if (way == 0) value = wg_value(y);
        assert_true(same_bits(wg_tape_value(t, y), value));
        assert_ok(t, wg_reverse(t, y));
        assert_ok(t, wg_adjoints(t, N, in, way == 0 ? g : again));
    }
    assert_memory_equal(g, again, sizeof g);
    wg_parallel_free(d.p);
    wg_tape_free(t);
}

static wg_status with_a_comparison(wg_tape *t, size_t n, const wg_real *in, size_t m,
                                   wg_real *y, void *data) {
    wg_parallel *const p = data;
    wg_real v[SEGMENTS];
    (void)n, (void)m;
    wg_status s = wg_parallel_begin(p, t);
    for (size_t k = 0; k < SEGMENTS; k++) {
        wg_tape *const own = wg_parallel_tape(p, k);
        const wg_real a = wg_let(own, wg_mul(in[0], (double)k));
        v[k] = wg_lt(own, in[1], a) ? wg_let(own, wg_sin(a)) : wg_let(own, wg_cos(a));
    }
    s = wg_parallel_join(p);
    if (s == WG_OK) s = wg_parallel_reduce(p, WG_REDUCE_SUM, 1, v, y);
    return s;
}

static void comparisons_in_segments_are_guards(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    const double a[2] = {1, 2.5}, near[2] = {1.1, 2.6}, far[2] = {1, 0.5};
    wg_real in[2], y;
    double value;
    assert_ok(t, wg_inputs(t, 2, a, in));
    assert_ok(t, with_a_comparison(t, 2, in, 1, &y, p));
    assert_ok(t, wg_tape_replay(t, 2, in, near));
    value = wg_tape_value(t, y);
    assert_int_equal(wg_tape_replay(t, 2, in, far), WG_EGUARD);
    wg_tape_reset(t);
    assert_ok(t, wg_inputs(t, 2, near, in));
    assert_ok(t, with_a_comparison(t, 2, in, 1, &y, p));
    assert_true(same_bits(wg_value(y), value));
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* Functions have transcendental functions of their own. */
static void a_recording_with_a_loop_becomes_a_function(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    struct steps d = in_segments(t);
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f, *g;
    double y, z, grad[N], once[N];
    assert_ok(t, wg_gradient(t, all_steps, &d, N, x, &y, once));
    assert_ok(t, wg_function_record(t, all_steps, &d, 1, &in, x, 1, &out, &f));
    assert_ok(t, wg_function_gradient(t, f, &g));
    const wg_points from = {x, N, 1};
    const wg_results value = {&z, 1, 1}, to = {grad, N, 1};
    const size_t bytes = wg_function_work(f, NULL) + wg_function_work(g, NULL);
    void *const work = test_malloc(bytes);
    assert_int_equal(wg_function_evaluate(f, 1, &from, &value, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(g, 1, &from, &to, NULL, work, NULL), WG_OK);
    test_free(work);
    assert_near(z, y, fabs(y) + 1, 10 * FEW);
    assert_all_near(grad, once, N);
    wg_function_free(f);
    wg_function_free(g);
    wg_parallel_free(d.p);
    wg_tape_free(t);
}

static wg_status differences(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                             void *data) {
    wg_parallel *const p = data;
    (void)n;
    wg_status s = p != NULL ? wg_parallel_begin(p, t) : WG_OK;
    for (size_t k = 0; k < SEGMENTS; k++) {
        const size_t from = p != NULL ? wg_parallel_from(p, k, m)
                            : k == 0  ? 0
                                      : m,
                     to = p != NULL ? wg_parallel_from(p, k + 1, m) : m;
        wg_tape *const own = p != NULL ? wg_parallel_tape(p, k) : t;
        for (size_t i = from; i < to; i++)
            y[i] = wg_let(own, wg_sub(wg_mul(in[i + 1], in[i + 1]), wg_mul(in[0], in[i])));
    }
    if (p != NULL) s = wg_parallel_join(p);
    return p != NULL && s == WG_OK ? wg_parallel_adopt(p, m, y) : s;
}

static void patterns_are_those_of_the_loop_on_a_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&plain);
    wg_parallel *const p = segments_of(t, SEGMENTS, NULL);
    double values[2][2 * N + N], y[N];
    size_t nnz = 0;
    for (int way = 0; way < 2; way++) {
        wg_sparsity *s;
        void *const data = way == 0 ? NULL : p;
        assert_ok(t, wg_jacobian_sparsity(t, differences, data, N, x, N - 1, WG_ROW_MAJOR, &s));
        const wg_pattern *const pattern = wg_sparsity_pattern(s);
        if (way == 0) nnz = pattern->entries;
        assert_int_equal(pattern->entries, nnz);
        assert_true(nnz <= sizeof values[0] / sizeof(double));
        assert_ok(t, wg_sparse_jacobian(t, s, differences, data, x, y, values[way]));
        wg_sparsity_free(s);
    }
    assert_memory_equal(values[0], values[1], nnz * sizeof(double));
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* ---- the other modes ---- */

static void checked_traced_and_placed_tapes_give_the_same_bits(void **state) {
    (void)state;
    static const unsigned flags[] = {0,
                                     WG_CHECKED,
                                     WG_TRACE,
                                     WG_KEEP_PLACES,
                                     WG_KEEP_CODE,
                                     WG_CHECKED | WG_TRACE | WG_KEEP_PLACES | WG_KEEP_CODE};
    double y, g[N], first[N];
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags[k]});
        struct steps d = in_segments(t);
        assert_ok(t, wg_gradient(t, all_steps, &d, N, x, &y, k == 0 ? first : g));
        if (k != 0) assert_memory_equal(g, first, sizeof g);
        wg_parallel_free(d.p);
        wg_tape_free(t);
    }
}

static int gather_text(void *to, const char *text, size_t bytes) {
    char *const all = to;
    const size_t used = strlen(all);
    if (used + bytes >= 4000) return 1;
    memcpy(all + used, text, bytes);
    all[used + bytes] = 0;
    return 0;
}

static void places_and_failures_are_those_of_the_statement(void **state) {
    (void)state;
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_KEEP_PLACES | WG_KEEP_CODE | WG_TRACE});
    wg_parallel *const p = segments_of(t, 2, NULL);
    static char text[4000];
    char where[64];
    const wg_real in = wg_input(t, 4);
    wg_real v[2];
    assert_ok(t, wg_parallel_begin(p, t));
    v[0] = wg_let(wg_parallel_tape(p, 0), wg_sqrt(in));
    const int line = __LINE__ + 1;
    v[1] = wg_let(wg_parallel_tape(p, 1), wg_mul(in, in));
    assert_ok(t, wg_parallel_join(p));
    assert_ok(t, wg_parallel_adopt(p, 2, v));
    assert_ok(t, wg_tape_dump(t, gather_text, text));
    (void)snprintf(where, sizeof where, "test_tape_parallel_modes.c:%d", line);
    assert_non_null(strstr(text, where));
    assert_non_null(strstr(text, "sqrt(s"));
    assert_null(strstr(text, "mul(s1, 1)")); /* in is shared, and has no copy */

    assert_ok(t, wg_parallel_begin(p, t));
    (void)wg_let(wg_parallel_tape(p, 1), wg_log(wg_sub(v[0], 2)));
    assert_int_equal(wg_parallel_join(p), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(t), "wg_parallel_join: segment 1: "));
    assert_non_null(strstr(wg_tape_message(t), "log"));
    wg_parallel_free(p);
    wg_tape_free(t);
}

/* In a buffer of the caller's segments have memory of their own. */
static void a_tape_in_a_buffer_has_loops_too(void **state) {
    (void)state;
    enum { BYTES = 1 << 21 };
    double y, g[N], first[N];
    void *const buffer = test_malloc(BYTES);
    for (int way = 0; way < 2; way++) {
        wg_tape *const t =
            way == 0 ? wg_tape_new(&plain)
                     : wg_tape_new(&(wg_options){.buffer = buffer, .buffer_bytes = BYTES});
        struct steps d = in_segments(t);
        assert_ok(t, wg_gradient(t, all_steps, &d, N, x, &y, way == 0 ? first : g));
        wg_parallel_free(d.p);
        wg_tape_free(t);
    }
    assert_memory_equal(g, first, sizeof g);
    test_free(buffer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_are_those_of_the_loop_on_a_tape),
        cmocka_unit_test(drivers_of_first_order_agree_with_the_loop_on_a_tape),
        cmocka_unit_test(a_paused_tape_records_no_loop),
        cmocka_unit_test(a_loop_is_preaccumulated),
        cmocka_unit_test(second_derivatives_are_those_of_the_loop_on_a_tape),
        cmocka_unit_test(a_replay_goes_through_a_loop),
        cmocka_unit_test(comparisons_in_segments_are_guards),
        cmocka_unit_test(a_recording_with_a_loop_becomes_a_function),
        cmocka_unit_test(patterns_are_those_of_the_loop_on_a_tape),
        cmocka_unit_test(checked_traced_and_placed_tapes_give_the_same_bits),
        cmocka_unit_test(places_and_failures_are_those_of_the_statement),
        cmocka_unit_test(a_tape_in_a_buffer_has_loops_too),
    };
    return cmocka_run_group_tests(tests, start, free_pools);
}
