/* SPDX-License-Identifier: MIT */
/* Functions: recorded once, evaluated and differentiated at many points, against the drivers
 * that call the user's function at every point. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include <wengert/operation.h>

#include <cmocka.h>

enum { N = 4, M = 3, POINTS = 150 };

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "test")
#define softsign(x) WG_CALL1(softsign, x)

/* Statements of many kinds; a repeated one, one of constants, one without use; array operations
 * with constants among their operands; an operation of the user's. */
static wg_status kernel(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)data;
    if (n != N || m != M) return WG_EARG;
    wg_real a = wg_let(t, wg_mul(wg_sin(x[0]), wg_exp(wg_mul(0.3, x[1]))));
    wg_real b =
        wg_let(t, wg_div(wg_sqrt(wg_add(wg_square(x[2]), 1.0)), wg_add(2.0, wg_cos(x[3]))));
    wg_real again = wg_let(t, wg_mul(wg_sin(x[0]), x[3]));
    wg_real unused = wg_let(t, wg_log(wg_add(3.0, wg_square(x[1]))));
    (void)unused;
    const wg_real list[5] = {a, b, wg_constant(0.5), again, a};
    wg_real s = wg_logsumexp(t, 5, list), p = wg_polynomial(t, 4, list, x[3]);
    y[0] = wg_let(
        t, wg_add(wg_tanh(a), wg_mul(softsign(b), wg_pow(wg_add(1.5, wg_square(a)), 0.7))));
    y[1] = wg_let(t, wg_add(wg_mul(s, s), wg_select_lt(x[0], x[1], wg_mul(a, b), p)));
    y[2] = wg_constant(7);
    return WG_OK;
}

static uint64_t state_of = 9;
static double uniform(void) {
    state_of = state_of * 6364136223846793005u + 1442695040888963407u;
    return (double)(state_of >> 11) * 0x1p-52 - 1;
}

static void close_to(double a, double b, const char *what, size_t point) {
    if (!(fabs(a - b) <= 256 * 0x1p-52 * (fabs(b) + 1)))
        fail_msg("%s at point %zu: %.17g is not %.17g", what, point, a, b);
}

static wg_function *record(wg_tape *t, wg_callback *f, size_t n, size_t m, const double *x) {
    wg_function *fn = NULL;
    const wg_status s = wg_function_record(t, f, NULL, n, x, m, &fn);
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    return fn;
}

static wg_tape *code_tape(void) {
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    return wg_tape_new(&o);
}

static void functions_agree_with_the_drivers_at_every_point(void **state) {
    (void)state;
    static double x[POINTS * N], w[POINTS * M], v[POINTS * N];
    static double y[POINTS * M], g[POINTS * N], jv[POINTS * M], jac[POINTS * M * N];
    wg_tape *t = code_tape();
    for (size_t i = 0; i < POINTS * N; i++) x[i] = 2 * uniform(), v[i] = uniform();
    for (size_t i = 0; i < POINTS * M; i++) w[i] = uniform();
    wg_function *f = record(t, kernel, N, M, x);
    void *work = malloc(wg_function_work(f));
    const wg_points px = {x, N, 1}, pw = {w, 1, POINTS}, pv = {v, N, 1};
    const wg_results ry = {y, M, 1}, rg = {g, N, 1}, rj = {jac, M * N, 1}, rv = {jv, M, 1};
    const wg_results nothing = {NULL, 0, 0};
    assert_int_equal(wg_function_vjp(f, POINTS, px, pw, ry, rg, work, NULL), WG_OK);
    assert_int_equal(wg_function_jacobian(f, POINTS, px, nothing, rj, work, NULL), WG_OK);
    assert_int_equal(wg_function_jvp(f, POINTS, px, pv, nothing, rv, work, NULL), WG_OK);
    for (size_t p = 0; p < POINTS; p++) {
        double y0[M], g0[N], j0[M * N], jv0[M], w0[M];
        for (size_t j = 0; j < M; j++) w0[j] = w[j * POINTS + p];
        assert_int_equal(wg_vjp(t, kernel, NULL, N, x + p * N, M, w0, y0, g0), WG_OK);
        assert_int_equal(
            wg_jacobian(t, kernel, NULL, N, x + p * N, M, NULL, WG_ROW_MAJOR, j0, N), WG_OK);
        assert_int_equal(wg_jvp(t, kernel, NULL, N, x + p * N, v + p * N, M, NULL, jv0), WG_OK);
        for (size_t j = 0; j < M; j++) close_to(y[p * M + j], y0[j], "value", p);
        for (size_t i = 0; i < N; i++) close_to(g[p * N + i], g0[i], "vjp", p);
        for (size_t j = 0; j < M; j++) close_to(jv[p * M + j], jv0[j], "jvp", p);
        for (size_t e = 0; e < M * N; e++) close_to(jac[p * M * N + e], j0[e], "jacobian", p);
    }
    /* the same bits wherever a point stands, and in a structure of arrays */
    static double xt[POINTS * N], yt[POINTS * M];
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i < N; i++) xt[i * POINTS + p] = x[(POINTS - 1 - p) * N + i];
    const wg_points soa = {xt, 1, POINTS};
    const wg_results soa_y = {yt, 1, POINTS};
    assert_int_equal(wg_function_values(f, POINTS, soa, soa_y, work, NULL), WG_OK);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t j = 0; j < M; j++)
            assert_true(yt[j * POINTS + p] == y[(POINTS - 1 - p) * M + j]);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

static void what_has_no_use_is_dropped(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double x[N] = {0.1, 0.2, 0.3, 0.4};
    wg_function *f = record(t, kernel, N, M, x);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_true(s.repeated >= 1); /* sin x0 */
    assert_int_equal(s.dead, 3);  /* log, add, square */
    assert_int_equal(wg_function_inputs(f), N);
    assert_int_equal(wg_function_outputs(f), M);
    wg_function_free(f);
    wg_tape_free(t);
}

static wg_status branching(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)data, (void)n, (void)m;
    if (wg_lt(t, x[0], wg_constant(0.5))) y[0] = wg_let(t, wg_mul(x[0], 2.0));
    else y[0] = wg_let(t, wg_mul(x[0], 3.0));
    if (wg_ge(t, y[0], x[1])) y[0] = wg_let(t, wg_add(y[0], x[1]));
    return WG_OK;
}

static void a_comparison_that_comes_out_differently_is_reported(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    const double at[2] = {0.4, 0.1};
    wg_function *f = record(t, branching, 2, 1, at);
    void *work = malloc(wg_function_work(f));
    double x[100 * 2], y[100];
    for (size_t p = 0; p < 100; p++) x[2 * p] = 0.3, x[2 * p + 1] = 0.2;
    wg_function_guard where;
    const wg_points px = {x, 2, 1};
    const wg_results ry = {y, 1, 1};
    assert_int_equal(wg_function_values(f, 100, px, ry, work, &where), WG_OK);
    assert_true(y[99] == 0.3 * 2 + 0.2);
    x[2 * 90 + 1] = 5;
    x[2 * 95] = 0.7;
    assert_int_equal(wg_function_values(f, 100, px, ry, work, &where), WG_EGUARD);
    assert_int_equal(where.point, 90);
    assert_int_equal(where.guard, 1);
    x[2 * 3] = NAN;
    assert_int_equal(wg_function_values(f, 100, px, ry, work, &where), WG_EGUARD);
    assert_int_equal(where.point, 3);
    assert_int_equal(where.guard, 0);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

static wg_status matrices(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)data, (void)m;
    wg_real mixed[2] = {x[1], x[0]};
    (void)n;
    y[0] = wg_mat_at(wg_mat_gather(t, 2, 1, mixed), 0, 0);
    return WG_OK;
}

static wg_status identity(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)t, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = x[j % n];
    return WG_OK;
}

static wg_status refusing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_ECONVERGE;
}

static void edges_and_mistakes(void **state) {
    (void)state;
    wg_tape *t = code_tape(), *plain = wg_tape_new(NULL);
    const double x[2] = {3, 4};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(plain, identity, NULL, 2, x, 1, &f), WG_EMODE);
    assert_null(f);
    assert_int_equal(wg_function_record(t, refusing, NULL, 2, x, 1, &f), WG_ECONVERGE);
    assert_int_equal(wg_function_record(t, matrices, NULL, 2, x, 1, &f), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "wg_mat_gather"));
    assert_int_equal(wg_function_record(t, NULL, NULL, 2, x, 1, &f), WG_ENULL);
    assert_int_equal(wg_function_record(t, identity, NULL, 2, x, 1, NULL), WG_ENULL);
    assert_int_equal(wg_function_record(NULL, identity, NULL, 2, x, 1, &f), WG_ENULL);
    /* outputs that are inputs, and the same one twice */
    f = record(t, identity, 2, 3, x);
    void *work = malloc(wg_function_work(f));
    double y[3], jac[6], g[2];
    const double w[3] = {1, 10, 100};
    assert_int_equal(wg_function_jacobian(f, 1, (wg_points){x, 2, 1}, (wg_results){y, 3, 1},
                                          (wg_results){jac, 6, 1}, work, NULL),
                     WG_OK);
    assert_true(y[0] == 3 && y[1] == 4 && y[2] == 3);
    const double expect[6] = {1, 0, 0, 1, 1, 0};
    assert_memory_equal(jac, expect, sizeof expect);
    assert_int_equal(wg_function_vjp(f, 1, (wg_points){x, 2, 1}, (wg_points){w, 3, 1},
                                     (wg_results){NULL, 0, 0}, (wg_results){g, 2, 1}, work,
                                     NULL),
                     WG_OK);
    assert_true(g[0] == 101 && g[1] == 10);
    assert_int_equal(
        wg_function_values(f, 0, (wg_points){NULL, 0, 0}, (wg_results){NULL, 0, 0}, work, NULL),
        WG_OK);
    assert_int_equal(
        wg_function_values(f, 1, (wg_points){NULL, 0, 0}, (wg_results){y, 3, 1}, work, NULL),
        WG_ENULL);
    assert_int_equal(
        wg_function_values(f, 1, (wg_points){x, 2, 1}, (wg_results){y, 3, 1}, NULL, NULL),
        WG_ENULL);
    assert_int_equal(
        wg_function_values(NULL, 1, (wg_points){x, 2, 1}, (wg_results){y, 3, 1}, work, NULL),
        WG_ENULL);
    free(work);
    wg_function_free(f);
    wg_function_free(NULL);
    wg_tape_free(t);
    wg_tape_free(plain);
}

static wg_status with_an_input_of_its_own(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                          wg_real *y, void *data) {
    (void)data;
    if (n != 1 || m != 2) return WG_EARG;
    wg_real three = wg_input(t, 3);
    y[0] = wg_let(t, wg_mul(x[0], three));
    y[1] = three;
    return WG_OK;
}

static void an_input_of_the_callback_is_a_constant(void **state) {
    (void)state;
    wg_options o;
    memset(&o, 0, sizeof o);
    o.flags = WG_KEEP_CODE;
    wg_tape *t = wg_tape_new(&o);
    double x = 5, y[2], *junk = wg_tape_keep(t, 1 << 16, NULL);
    for (int i = 0; i < 1 << 13; i++) junk[i] = 1e100; /* memory that has been in use */
    wg_function *f;
    assert_int_equal(wg_function_record(t, with_an_input_of_its_own, NULL, 1, &x, 2, &f), WG_OK);
    void *work = malloc(wg_function_work(f));
    assert_int_equal(wg_function_values(f, 1, (wg_points){&x, 1, 1}, (wg_results){y, 2, 1},
                                        work, NULL),
                     WG_OK);
    assert_true(y[0] == 15 && y[1] == 3);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_of_the_callback_is_a_constant),
        cmocka_unit_test(functions_agree_with_the_drivers_at_every_point),
        cmocka_unit_test(what_has_no_use_is_dropped),
        cmocka_unit_test(a_comparison_that_comes_out_differently_is_reported),
        cmocka_unit_test(edges_and_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
