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

#include <cmocka.h>

#include "pools.h"

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
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *fn = NULL;
    const wg_status s = wg_function_record(t, f, NULL, 1, &in, x, 1, &out, &fn);
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    return fn;
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);

/* A derivative at all points at once. */
static void derivative(wg_tape *t, transform *by, const wg_function *f, size_t points,
                       const wg_points *x, wg_results d) {
    wg_function *made = NULL;
    if (by(t, f, &made) != WG_OK) fail_msg("%s", wg_tape_message(t));
    void *work = malloc(wg_function_work(made, NULL));
    assert_int_equal(wg_function_evaluate(made, points, x, &d, NULL, work, NULL), WG_OK);
    free(work);
    wg_function_free(made);
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
    void *work = malloc(wg_function_work(f, NULL));
    const wg_points xw[2] = {{x, N, 1}, {w, 1, POINTS}}, xv[2] = {{x, N, 1}, {v, N, 1}};
    const wg_results ry = {y, M, 1};
    assert_int_equal(wg_function_evaluate(f, POINTS, xw, &ry, NULL, work, NULL), WG_OK);
    derivative(t, wg_function_vjp, f, POINTS, xw, (wg_results){g, N, 1});
    derivative(t, wg_function_jvp, f, POINTS, xv, (wg_results){jv, M, 1});
    derivative(t, wg_function_jacobian, f, POINTS, xw, (wg_results){jac, M * N, 1});
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
    assert_int_equal(wg_function_evaluate(f, POINTS, &soa, &soa_y, NULL, work, NULL), WG_OK);
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
    assert_int_equal(wg_function_inputs(f), 1);
    assert_int_equal(wg_function_outputs(f), 1);
    assert_int_equal(wg_function_input(f, 0)->rows, N);
    assert_int_equal(wg_function_output(f, 0)->rows, M);
    assert_true(wg_function_is_zero(f, 0, 2) == 0 && wg_function_is_zero(f, 1, 0) == 0);
    wg_function_free(f);
    wg_tape_free(t);
}

/* The products of the last input with each of the others, twice, all added up. */
enum { READ = 24 };
static wg_status read_often(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)data, (void)m;
    y[0] = wg_constant(-0.0);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i + 1 < n; i++)
            y[0] = wg_let(t, wg_add(y[0], wg_mul(x[i], x[n - 1])));
    return WG_OK;
}

static void all_readers_of_a_variable_are_found_again(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    double x[READ];
    for (int i = 0; i < READ; i++) x[i] = 1 + i;
    wg_function *f = record(t, read_often, READ, 1, x);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.repeated, READ - 1);
    assert_int_equal(s.each, (READ - 1) + 2 * (READ - 1) - 1); /* products, sums */
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
    void *work = malloc(wg_function_work(f, NULL));
    double x[100 * 2], y[100];
    for (size_t p = 0; p < 100; p++) x[2 * p] = 0.3, x[2 * p + 1] = 0.2;
    wg_function_guard where;
    const wg_points px = {x, 2, 1};
    const wg_results ry = {y, 1, 1};
    assert_int_equal(wg_function_evaluate(f, 100, &px, &ry, NULL, work, &where), WG_OK);
    assert_true(y[99] == 0.3 * 2 + 0.2);
    x[2 * 90 + 1] = 5;
    x[2 * 95] = 0.7;
    assert_int_equal(wg_function_evaluate(f, 100, &px, &ry, NULL, work, &where), WG_EGUARD);
    assert_int_equal(where.point, 90);
    assert_int_equal(where.guard, 1);
    x[2 * 3] = NAN;
    assert_int_equal(wg_function_evaluate(f, 100, &px, &ry, NULL, work, &where), WG_EGUARD);
    assert_int_equal(where.point, 3);
    assert_int_equal(where.guard, 0);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
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
    const double x[4] = {3, 4, 4, 7};
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(plain, identity, NULL, 1, &in, x, 1, &out, &f),
                     WG_EMODE);
    assert_null(f);
    assert_int_equal(wg_function_record(t, refusing, NULL, 1, &in, x, 1, &out, &f),
                     WG_ECONVERGE);
    assert_int_equal(wg_function_record(t, NULL, NULL, 1, &in, x, 1, &out, &f), WG_ENULL);
    assert_int_equal(wg_function_record(t, identity, NULL, 1, &in, x, 1, &out, NULL), WG_ENULL);
    assert_int_equal(wg_function_record(NULL, identity, NULL, 1, &in, x, 1, &out, &f),
                     WG_ENULL);
    /* outputs that are inputs, and the same one twice */
    f = record(t, identity, 2, 3, x);
    void *work = malloc(wg_function_work(f, NULL));
    double y[3], jac[6], g[2];
    const double w[3] = {1, 10, 100};
    const wg_points at[2] = {{x, 2, 1}, {w, 3, 1}}, nowhere = {NULL, 0, 0};
    const wg_results to = {y, 3, 1}, nothing = {NULL, 0, 0};
    assert_int_equal(wg_function_evaluate(f, 1, at, &to, NULL, work, NULL), WG_OK);
    assert_true(y[0] == 3 && y[1] == 4 && y[2] == 3);
    derivative(t, wg_function_jacobian, f, 1, at, (wg_results){jac, 6, 1});
    const double expect[6] = {1, 0, 0, 1, 1, 0};
    assert_memory_equal(jac, expect, sizeof expect);
    derivative(t, wg_function_vjp, f, 1, at, (wg_results){g, 2, 1});
    assert_true(g[0] == 101 && g[1] == 10);
    assert_int_equal(wg_function_evaluate(f, 0, &nowhere, &nothing, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(f, 1, &nowhere, &to, NULL, work, NULL), WG_OK);
    assert_true(y[0] == 0 && y[1] == 0); /* an input without data is 0 */
    assert_int_equal(wg_function_evaluate(f, 1, NULL, &to, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(f, 1, at, NULL, NULL, work, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(f, 1, at, &to, NULL, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_function_evaluate(NULL, 1, at, &to, NULL, work, NULL), WG_ENULL);
    free(work);
    wg_function_free(f);
    wg_function_free(NULL);
    /* all outputs of no functions */
    assert_int_equal(wg_function_join(t, 0, NULL, &f), WG_OK);
    assert_true(wg_function_inputs(f) == 0 && wg_function_outputs(f) == 0);
    wg_function_free(f);
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
    wg_function *f = record(t, with_an_input_of_its_own, 1, 2, &x);
    void *work = malloc(wg_function_work(f, NULL));
    const wg_points at = {&x, 1, 1};
    const wg_results to = {y, 2, 1};
    assert_int_equal(wg_function_evaluate(f, 1, &at, &to, NULL, work, NULL), WG_OK);
    assert_true(y[0] == 15 && y[1] == 3);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- shared inputs and sums ---- */

/* A residual of one observation: shared a, b; data at, seen. */
static wg_status residual(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    const wg_real rate = wg_let(t, wg_exp(x[1])); /* of shared inputs only: once */
    const wg_real model = wg_let(t, wg_mul(x[0], wg_exp(wg_neg(wg_mul(rate, x[2])))));
    y[0] = wg_let(t, wg_square(wg_sub(x[3], model)));
    return WG_OK;
}

static wg_status whole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    const double *const seen = data;
    y[0] = wg_constant(0);
    for (size_t p = 0; p < POINTS; p++) {
        const wg_real in[4] = {x[0], x[1], wg_constant(seen[2 * p]),
                               wg_constant(seen[2 * p + 1])};
        wg_real r;
        (void)residual(t, 4, in, 1, &r, NULL);
        y[0] = wg_let(t, wg_add(y[0], r));
    }
    return WG_OK;
}

static wg_function *must(wg_tape *t, wg_status s, wg_function *const *f) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    return *f;
}

static void sums_over_the_points_have_the_derivatives_of_the_loop(void **state) {
    (void)state;
    static double seen[POINTS * 2];
    wg_tape *t = code_tape();
    for (size_t p = 0; p < POINTS; p++) {
        seen[2 * p] = (double)p / POINTS;
        seen[2 * p + 1] = 2 * exp(-1.5 * seen[2 * p]) + 0.01 * uniform();
    }
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED},
                              {"b", 1, 1, WG_SHARED},
                              {"at", 1, 1, WG_PASSIVE},
                              {"seen", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"s", 1, 1, WG_SUMMED};
    const double x[4] = {1.7, 0.3, 0.5, 1}, v[2] = {0.6, -1.1};
    double value, g[2], hv[2], h[4], y0, g0[2], hv0[2], h0[4];
    assert_int_equal(wg_hvp(t, whole, seen, 2, x, v, &y0, g0, hv0), WG_OK);
    assert_int_equal(wg_hessian(t, whole, seen, 2, x, &y0, g0, h0, 2), WG_OK);
    wg_function *f = NULL, *d = NULL, *p = NULL, *second = NULL, *all = NULL;
    (void)must(t, wg_function_record(t, residual, NULL, 4, in, x, 1, &out, &f), &f);
    (void)must(t, wg_function_gradient(t, f, &d), &d);
    (void)must(t, wg_function_hvp(t, f, &p), &p);
    (void)must(t, wg_function_hessian(t, f, &second), &second);
    const wg_function *const parts[] = {f, d, p, second};
    (void)must(t, wg_function_join(t, 4, parts, &all), &all);
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(all, &s), WG_OK);
    assert_true(s.once >= 1 && s.after >= 4);
    assert_int_equal(wg_function_output(all, 1)->flags, WG_SUMMED);
    const wg_points at[6] = {{x, 0, 1},        {x + 1, 0, 1}, {seen, 2, 1},
                             {seen + 1, 2, 1}, {v, 0, 1},     {v + 1, 0, 1}};
    const wg_results to[6] = {{&value, 0, 1}, {g, 0, 1},      {g + 1, 0, 1},
                              {hv, 0, 1},     {hv + 1, 0, 1}, {h, 0, 1}};
    void *work = malloc(wg_function_work(all, pool_of(2)));
    for (size_t threads = 1; threads <= 2; threads++) {
        assert_int_equal(
            wg_function_evaluate(all, POINTS, at, to, pool_of(threads), work, NULL), WG_OK);
        close_to(value, y0, "sum", 0);
        for (size_t i = 0; i < 2; i++) close_to(g[i], g0[i], "gradient", i);
        for (size_t i = 0; i < 2; i++) close_to(hv[i], hv0[i], "H v", i);
        for (size_t i = 0; i < 4; i++) close_to(h[i], h0[i], "H", i);
    }
    unsigned char depends[6];
    assert_int_equal(wg_function_depends(t, all, 0, depends), WG_OK);
    assert_true(depends[0] && depends[1] && depends[2] && depends[3]);
    assert_true(!depends[4] && !depends[5]);
    /* a sum cannot be used at the points again */
    wg_function *none = NULL;
    const wg_argument again[] = {
        {"s", 1, 1, 0}, {"b", 1, 1, WG_SHARED}, {"at", 1, 1, 0}, {"z", 1, 1, 0}};
    wg_function *outer = NULL;
    const wg_argument kept = {"k", 1, 1, 0};
    (void)must(t, wg_function_record(t, residual, NULL, 4, again, x, 1, &kept, &outer), &outer);
    assert_int_equal(wg_function_compose(t, outer, f, &none), WG_EARG); /* at: two kinds */
    assert_null(none);
    free(work);
    wg_function_free(f);
    wg_function_free(d);
    wg_function_free(p);
    wg_function_free(second);
    wg_function_free(all);
    wg_function_free(outer);
    wg_tape_free(t);
}

static wg_status logarithm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_log(x[0]));
    return WG_OK;
}

/* log of a sum: what comes after the sum is one number for all points. */
static void what_comes_after_a_sum_is_differentiated_through_it(void **state) {
    (void)state;
    static double seen[POINTS * 2];
    wg_tape *t = code_tape();
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED},
                              {"b", 1, 1, WG_SHARED},
                              {"at", 1, 1, WG_PASSIVE},
                              {"seen", 1, 1, WG_PASSIVE}};
    const wg_argument sum = {"s", 1, 1, WG_SUMMED}, of = {"s", 1, 1, WG_SHARED};
    const wg_argument log_of = {"l", 1, 1, 0};
    const double x[4] = {1.7, 0.3, 0.5, 1}, one = 1;
    for (size_t p = 0; p < 2 * POINTS; p++) seen[p] = uniform();
    wg_function *f = NULL, *l = NULL, *both = NULL, *g = NULL, *g1 = NULL;
    (void)must(t, wg_function_record(t, residual, NULL, 4, in, x, 1, &sum, &f), &f);
    (void)must(t, wg_function_record(t, logarithm, NULL, 1, &of, &one, 1, &log_of, &l), &l);
    (void)must(t, wg_function_compose(t, l, f, &both), &both);
    assert_int_equal(wg_function_output(both, 0)->flags, WG_SUMMED);
    (void)must(t, wg_function_gradient(t, both, &g), &g);
    (void)must(t, wg_function_gradient(t, f, &g1), &g1);
    const wg_points at[4] = {{x, 0, 1}, {x + 1, 0, 1}, {seen, 2, 1}, {seen + 1, 2, 1}};
    double d[2], d1[2], s;
    const wg_results to[2] = {{d, 0, 1}, {d + 1, 0, 1}}, to1[2] = {{d1, 0, 1}, {d1 + 1, 0, 1}};
    const wg_results total = {&s, 0, 1};
    void *work = malloc(wg_function_work(g, NULL) + wg_function_work(g1, NULL));
    assert_int_equal(wg_function_evaluate(f, POINTS, at, &total, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(g, POINTS, at, to, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(g1, POINTS, at, to1, NULL, work, NULL), WG_OK);
    for (size_t i = 0; i < 2; i++) close_to(d[i], d1[i] / s, "after a sum", i);
    free(work);
    wg_function_free(f);
    wg_function_free(l);
    wg_function_free(both);
    wg_function_free(g);
    wg_function_free(g1);
    wg_tape_free(t);
}

/* ---- from a piece of tape ---- */

static void a_piece_of_tape_becomes_a_function(void **state) {
    (void)state;
    wg_tape *t = code_tape();
    wg_real x = wg_input(t, 0.5), p = wg_input(t, 3);
    wg_real early = wg_let(t, wg_log(x)); /* before the piece */
    wg_real u = wg_let(t, wg_mul(early, early));
    wg_real y = wg_let(t, wg_add(wg_sin(u), wg_mul(p, u)));
    const wg_argument in = {"u", 1, 1, 0}, out[] = {{"y", 1, 1, 0}, {"early", 1, 1, 0}};
    const wg_real results[2] = {y, early};
    wg_function *f = NULL;
    (void)must(t, wg_function_extract(t, 1, &in, &u, 2, out, results, &f), &f);
    assert_true(wg_tape_status(t) == WG_OK && wg_reverse(t, y) == WG_OK);
    double at = 0.7, v[2];
    const wg_points from = {&at, 1, 1};
    const wg_results to[2] = {{v, 1, 1}, {v + 1, 1, 1}};
    void *work = malloc(wg_function_work(f, NULL));
    assert_int_equal(wg_function_evaluate(f, 1, &from, to, NULL, work, NULL), WG_OK);
    close_to(v[0], sin(0.7) + 3 * 0.7, "piece", 0);
    assert_true(v[1] == log(0.5)); /* a constant of the piece */
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    assert_int_equal(s.each, 3);
    const wg_real twice[2] = {u, u};
    const wg_argument two = {"u", 2, 1, 0};
    wg_function *none = NULL;
    assert_int_equal(wg_function_extract(t, 1, &two, twice, 1, out, &y, &none), WG_EARG);
    const wg_real foreign = {1, {99, 1}};
    assert_int_equal(wg_function_extract(t, 1, &in, &foreign, 1, out, &y, &none), WG_ESTALE);
    assert_int_equal(wg_function_extract(t, 1, &in, NULL, 1, out, &y, &none), WG_ENULL);
    assert_null(none);
    assert_int_equal(wg_tape_status(t), WG_OK);
    free(work);
    wg_function_free(f);
    wg_tape_free(t);
}

/* What a rewind has forgotten, or what was not adopted after a loop, is in no function. */
static wg_status strange(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    enum { FAR = 5000 };
    const int way = *(const int *)data;
    (void)n, (void)m;
    wg_real gone = x[0];
    if (way == 2) {
        wg_parallel *p;
        wg_status s = wg_parallel_new(t, 4, NULL, &p);
        if (s != WG_OK) return s;
        (void)wg_parallel_begin(p, t);
        gone = wg_let(wg_parallel_tape(p, 1), wg_sin(x[0]));
        s = wg_parallel_join(p);
        wg_parallel_free(p);
        if (s != WG_OK) return s;
    } else {
        const wg_mark start = wg_tape_mark(t);
        for (int i = 0; i < (way == 0 ? 1 : FAR); i++) gone = wg_let(t, wg_sin(gone));
        const wg_status s = wg_tape_rewind(t, start);
        if (s != WG_OK) return s;
    }
    y[0] = wg_let(t, wg_mul(gone, x[0]));
    return wg_tape_status(t);
}

static void what_is_forgotten_becomes_no_function(void **state) {
    (void)state;
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    for (int way = 0; way < 3; way++)
        for (int call = 0; call < 6; call++) {
            wg_tape *const t =
                wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE, .reserve = 1 << 24});
            wg_function *f = NULL;
            wg_real x, y;
            const double a = 0.5, path[2] = {0.5, 1};
            double c[2];
            wg_status s;
            if (call == 5) {
                s = wg_taylor(t, strange, &way, 1, 1, path, 1, c);
            } else if (call == 0) {
                s = wg_function_record(t, strange, &way, 1, &in, &a, 1, &out, &f);
            } else {
                x = wg_input(t, 2);
                assert_int_equal(strange(t, 1, &x, 1, &y, &way), WG_OK);
                s = call == 1   ? wg_function_extract(t, 1, &in, &x, 1, &out, &y, &f)
                    : call == 2 ? wg_tape_replay(t, 1, &x, &a)
                    : call == 3 ? wg_tape_verify(t)
                                : wg_tape_hvp_check(t, y, 1, &x);
            }
            assert_int_equal(s, WG_ESTALE);
            assert_int_equal(wg_tape_status(t), WG_ESTALE);
            if (call < 2)
                assert_non_null(strstr(wg_tape_message(t), call == 0
                                                               ? "wg_function_record: "
                                                               : "wg_function_extract: "));
            assert_non_null(strstr(wg_tape_message(t), "was computed from that in slot"));
            assert_null(f);
            wg_tape_free(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_of_the_callback_is_a_constant),
        cmocka_unit_test(functions_agree_with_the_drivers_at_every_point),
        cmocka_unit_test(what_has_no_use_is_dropped),
        cmocka_unit_test(all_readers_of_a_variable_are_found_again),
        cmocka_unit_test(a_comparison_that_comes_out_differently_is_reported),
        cmocka_unit_test(edges_and_mistakes),
        cmocka_unit_test(sums_over_the_points_have_the_derivatives_of_the_loop),
        cmocka_unit_test(what_comes_after_a_sum_is_differentiated_through_it),
        cmocka_unit_test(a_piece_of_tape_becomes_a_function),
        cmocka_unit_test(what_is_forgotten_becomes_no_function),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
