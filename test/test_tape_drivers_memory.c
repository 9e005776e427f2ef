/* SPDX-License-Identifier: MIT */
/* test_tape_drivers_memory.c - the tape around a driver: its mode, its memory, and none of it.
 */
#include "counted.h"
#include "driver_cases.h"
#include "sanitized.h"

/* ---- every allocation of the program is counted, where nothing else stands in its place ----
 */

#if defined(__GLIBC__) && !SANITIZED
#define COUNT_MALLOC 1
#else
#define COUNT_MALLOC 0
#endif

static size_t mallocs;
#if COUNT_MALLOC
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void __libc_free(void *p);
void *malloc(size_t bytes) {
    mallocs++;
    return __libc_malloc(bytes);
}
void *calloc(size_t n, size_t bytes) {
    mallocs++;
    return __libc_calloc(n, bytes);
}
void *realloc(void *p, size_t bytes) {
    mallocs++;
    return __libc_realloc(p, bytes);
}
void free(void *p) { __libc_free(p); }
#endif

/* ---- the tape around it ---- */

static void a_driver_leaves_the_tape_empty_and_in_its_mode(void **state) {
    (void)state;
    const double x[2] = {2, 3};
    double f, g[2];
    wg_stats s;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real before = wg_input(t, 1);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_true(s.slots == 0 && s.records == 0);
    assert_nan(wg_value(wg_let(t, wg_mul(before, 2)))); /* what was before is stale */
    wg_tape_reset(t);
    assert_int_equal(wg_tape_forward(t, 2), WG_OK);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_true(f == 6 && g[0] == 3 && g[1] == 2);
    wg_real v = wg_input(t, 4); /* a forward tape still */
    assert_int_equal(wg_tangent_seed(t, v, 1, 1), WG_OK);
    assert_true(wg_tangent(t, wg_let(t, wg_mul(v, v)), 1) == 8);
    assert_int_equal(wg_gradient(t, NULL, NULL, 2, x, &f, g),
                     WG_ENULL); /* also after a failure */
    wg_tape_reset(t);
    v = wg_input(t, 4);
    assert_int_equal(wg_tangent_seed(t, v, 1, 1), WG_OK);
    wg_tape_reset(t);
    assert_int_equal(wg_tape_pause(t), WG_OK); /* a pause ends like all that was recorded */
    assert_int_equal(wg_tape_forward(t, 0), WG_OK);
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_OK);
    assert_true(g[0] == 3);
    wg_tape_free(t);
}

static void repeated_drivers_give_the_same_bits_and_do_not_grow(void **state) {
    (void)state;
    enum { N = 12, M = 70 };
    static double x[N], v[N], w[M], y[2][M], jac[2][M * N], more[2][M * N], g[2][N],
        h[2][N * N];
    uint64_t calls = 0, coded_calls = 0;
    size_t allocations = 0;
    wg_stats s;
    wg_check found;
    memset(g, 0, sizeof g), memset(h, 0, sizeof h);
    void *volatile counted = malloc(1);
    free(counted);
    assert_true(!COUNT_MALLOC || mallocs > 0);
    for (int i = 0; i < N; i++) x[i] = 0.1 * (i + 1), v[i] = i % 3 - 1;
    for (int j = 0; j < M; j++) w[j] = 1 - 0.1 * j;
    for (int k = 0; k < 100; k++) {
        const int at = k != 0;
        const wg_status status[] = {
            wg_jacobian(tape, wave, NULL, N, x, M, y[at], WG_ROW_MAJOR, jac[at], N),
            wg_jacobian(tape, wave, NULL, N, x, 30, y[at], WG_COL_MAJOR, more[at], 30),
            wg_gradient(tape, product, NULL, N, x, y[at], g[at]),
            wg_jvp(tape, wave, NULL, N, x, v, M, NULL, y[at]),
            wg_vjp(tape, wave, NULL, N, x, M, w, NULL, g[at]),
            wg_hessian(coded, product, NULL, N, x, NULL, NULL, h[at], N),
            wg_hvp(coded, product, NULL, N, x, v, NULL, NULL, g[at]),
            wg_jacobian_strided(tape, wave, NULL, N, (wg_strided){x + N - 1, -1}, M,
                                (wg_strided_result){NULL, 0}, jac[at], 1, M),
            wg_hvp_strided(coded, product, NULL, N, (wg_strided){x, 0},
                           (wg_strided){v + N - 1, -1}, NULL, (wg_strided_result){NULL, 0},
                           (wg_strided_result){g[at] + N - 1, -1}),
            wg_check_gradient(coded, product, NULL, N, x, 1, &found),
            wg_check_hessian(coded, product, NULL, N, x, 1, &found),
        };
        for (size_t i = 0; i < sizeof status / sizeof *status; i++)
            if (status[i] != WG_OK) fail_msg("driver %zu gave status %d", i, (int)status[i]);
        if (k == 0) allocations = mallocs;
        else if (mallocs != allocations) fail_msg("malloc was called");
        for (int c = 0; c < 2; c++) {
            if (wg_tape_stats(c ? coded : tape, &s) != WG_OK) fail();
            if (k == 0) *(c ? &coded_calls : &calls) = s.memory_calls;
            else if (s.memory_calls != (c ? coded_calls : calls))
                fail_msg("the tape has grown");
        }
        if (memcmp(jac[0], jac[at], sizeof jac[0]) != 0 ||
            memcmp(more[0], more[at], sizeof more[0]) != 0 ||
            memcmp(y[0], y[at], sizeof y[0]) != 0 || memcmp(g[0], g[at], sizeof g[0]) != 0 ||
            memcmp(h[0], h[at], sizeof h[0]) != 0)
            fail_msg("repetition %d differs", k);
    }
}

/* The first outputs are inputs; the others stand far behind on the tape. */
static wg_status late(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    wg_real sum = x[0];
    (void)data;
    for (int i = 0; i < 5000; i++) sum = wg_let(t, wg_add(sum, x[1]));
    for (size_t j = 0; j < m; j++) y[j] = j < 8 ? x[j % n] : wg_let(t, wg_mul(sum, j));
    return WG_OK;
}

/* x as the solution of F = 0 for parameters. */
static wg_status difference(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_sub(x[j], x[j + n / 2]));
    return WG_OK;
}
static wg_status solved(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    double at[16];
    (void)n, (void)data;
    for (size_t j = 0; j < m; j++) at[j] = wg_value(x[j]);
    return wg_implicit(t, difference, NULL, m, at, m, x, y);
}

/* Does a message begin with that call? */
static int says(const wg_tape *t, const char *call) {
    const size_t n = strlen(call);
    return strncmp(wg_tape_message(t), call, n) == 0 && wg_tape_message(t)[n] == ':';
}

/* Memory is refused at the k-th request: a status, outputs as they were, and the tape works as
 * soon as memory is there again. */
static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    enum { N = 20, M = 100 };
    static double x[N], y[M], jac[M * N], h[N * N];
    /* the driver, or what its function has called */
    static const char *const calls[][2] = {
        {"wg_jacobian", "wg_let"},           {"wg_jacobian", "wg_let"},
        {"wg_gradient", "wg_product"},       {"wg_hessian", "wg_product"},
        {"wg_check_gradient", "wg_product"}, {"wg_jacobian", "wg_let"},
        {"wg_jacobian", "wg_implicit"}};
    for (int i = 0; i < N; i++) x[i] = 0.1 * (i + 1);
    for (int which = 0; which < 7; which++) {
        wg_status got = WG_ENOMEM;
        for (size_t fail_at = 2; got != WG_OK; fail_at++) { /* 0, 1: the tape itself */
            struct counted memory = counted_start();
            const wg_options opt = {.flags = which > 2 && which < 6 ? WG_KEEP_CODE : 0,
                                    .memory = counted_memory(&memory),
                                    .reserve = 1 << 16};
            assert_true(fail_at < 1000);
            memory.fail_at = fail_at;
            memory.fail_on = 1;
            wg_tape *const t = wg_tape_new(&opt);
            assert_non_null(t);
            for (int i = 0; i < M; i++) y[i] = -77;
            for (int i = 0; i < M * N; i++) jac[i] = -77;
            for (int i = 0; i < N * N; i++) h[i] = -77;
            for (int again = 0; again < 2; again++) {
                if (which == 0)
                    got = wg_jacobian(t, wave, NULL, N, x, M, y, WG_ROW_MAJOR, jac, N);
                else if (which == 1)
                    got = wg_jacobian(t, wave, NULL, N, x, 12, y, WG_ROW_MAJOR, jac, N);
                else if (which == 2) got = wg_gradient(t, product, NULL, N, x, y, jac);
                else if (which == 3) got = wg_hessian(t, product, NULL, N, x, y, jac, h, N);
                else if (which == 4) got = wg_check_gradient(t, product, NULL, N, x, 1, NULL);
                else
                    got = wg_jacobian(t, which == 5 ? late : solved, NULL, N, x, 16, y,
                                      WG_ROW_MAJOR, jac, N);
                if (again == 1) assert_int_equal(got, WG_OK);
                if (got == WG_OK) break;
                assert_int_equal(got, WG_ENOMEM);
                assert_int_equal(wg_tape_status(t), WG_ENOMEM);
                if (!says(t, calls[which][0]) && !says(t, calls[which][1]))
                    fail_msg("%s", wg_tape_message(t));
                for (int i = 0; i < M; i++) assert_true(y[i] == -77);
                for (int i = 0; i < M * N; i++) assert_true(jac[i] == -77);
                for (int i = 0; i < N * N; i++) assert_true(h[i] == -77);
                memory.fail_at = SIZE_MAX;
                memory.fail_on = 0;
            }
            got = memory.refused == 0 ? WG_OK : WG_ENOMEM;
            wg_tape_free(t);
            assert_int_equal(memory.ranges, 0);
            assert_int_equal(memory.wrong, 0);
        }
    }
}

static void drivers_live_in_a_buffer_of_the_caller(void **state) {
    (void)state;
    static char room[1 << 20];
    const wg_options opt = {.buffer = room, .buffer_bytes = sizeof room, .flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    assert_non_null(t);
    const double x[3] = {2, 3, 5};
    double f, g[3], h[9];
    for (int k = 0; k < 3; k++) {
        assert_int_equal(wg_hessian(t, product, NULL, 3, x, &f, g, h, 3), WG_OK);
        assert_true(f == 30 && g[0] == 15 && h[1] == 5 && h[8] == 0);
        check_wave(t, 9, 200, WG_ROW_MAJOR, 2);
    }
    double *const large = calloc(100000, sizeof *large);
    assert_non_null(large);
    assert_int_equal(wg_gradient(t, product, NULL, 100000, large, &f, large), WG_EBUDGET);
    assert_message(t, "wg_gradient");
    free(large);
    assert_int_equal(wg_gradient(t, product, NULL, 3, x, &f, g), WG_OK);
    wg_tape_free(t);
}

static void the_message_of_a_traced_tape_arrives(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_TRACE};
    wg_tape *const t = wg_tape_new(&opt);
    const double x[2] = {1e200, 1e200};
    double f = -77, g[2] = {-77, -77};
    assert_int_equal(wg_gradient(t, product, NULL, 2, x, &f, g), WG_ENONFINITE);
    assert_message(t, "product");
    assert_true(f == -77 && g[0] == -77);
    wg_tape_free(t);
}

static void two_hundred_thousand_inputs_have_a_gradient_in_one_call(void **state) {
    (void)state;
    enum { N = 200000 };
    double *const x = malloc(N * sizeof *x), *const g = malloc(N * sizeof *g);
    double f = 0;
    assert_true(x != NULL && g != NULL);
    for (int i = 0; i < N; i++) x[i] = 1 + 1e-7 * i;
    assert_int_equal(wg_vjp(tape, wave, NULL, N, x, 1, &(double){2}, &f, g), WG_OK);
    assert_close(g[0], 2 * cos(x[0]) * x[1]);
    assert_close(g[1], 2 * sin(x[0]));
    for (int i = 2; i < N; i++) assert_true(g[i] == 0);
    free(x), free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_driver_leaves_the_tape_empty_and_in_its_mode),
        cmocka_unit_test(repeated_drivers_give_the_same_bits_and_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(drivers_live_in_a_buffer_of_the_caller),
        cmocka_unit_test(the_message_of_a_traced_tape_arrives),
        cmocka_unit_test(two_hundred_thousand_inputs_have_a_gradient_in_one_call),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
