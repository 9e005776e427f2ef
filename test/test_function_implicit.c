/* SPDX-License-Identifier: MIT */
/* test_function_implicit.c - implicit functions and fixed points as parts of functions: values
 * and derivatives of several orders at points of their own against closed forms, files and
 * text, and points without a solution. */
#define _DEFAULT_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include "counted.h"
#include "emitted.h"
#include "tolerance.h"

static wg_tape *open_tape(void) {
    const wg_options keep = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&keep);
    assert_non_null(t);
    return t;
}

static void close_to(double a, double b, double ulps) {
    if (!(fabs(a - b) <= ulps * DBL_EPSILON * (1 + fabs(b))))
        fail_msg("%.17g is not %.17g", a, b);
}

/* At one point: inputs in[k], outputs one after the other at y. */
static wg_status evaluate(const wg_function *f, const double *const *in, double *y) {
    wg_points x[8];
    wg_results to[8];
    for (size_t k = 0; k < wg_function_inputs(f); k++) x[k] = (wg_points){in[k], 0, 1};
    for (size_t k = 0; k < wg_function_outputs(f); k++) {
        const wg_argument *const a = wg_function_output(f, k);
        to[k] = (wg_results){y, 0, 1};
        y += a->rows * a->cols;
    }
    void *const room = malloc(wg_function_work(f, NULL) + 64);
    const wg_status s = wg_function_evaluate(
        f, 1, x, to, NULL, (void *)(((uintptr_t)room + 63) & ~(uintptr_t)63), NULL);
    free(room);
    return s;
}

/* ---- the systems ---- */

static wg_status square_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                           void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_square(in[0]), in[1]));
    return wg_tape_status(t);
}
static wg_status root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                      void *data) {
    const double x = sqrt(wg_value(p[0]));
    (void)n, (void)m, (void)data;
    return wg_implicit(t, square_is, NULL, 1, &x, 1, p, y);
}

static double kepler_solved(double mean, double e) {
    double x = mean;
    for (int i = 0; i < 60; i++) x -= (x - e * sin(x) - mean) / (1 - e * cos(x));
    return x;
}
static wg_status kepler_step(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                             void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_add(in[1], wg_mul(in[2], wg_sin(in[0]))));
    return wg_tape_status(t);
}
static wg_status orbit(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                       void *data) {
    const double x = kepler_solved(wg_value(p[0]), wg_value(p[1]));
    (void)n, (void)m, (void)data;
    return wg_fixed_point(t, kepler_step, NULL, 1, &x, 2, p, y);
}

/* x0 x1 = p0, x0 = x1 p1; data: how many copies of it are one system. */
enum { COPIES = 8 };
static wg_status products(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                          void *data) {
    const size_t copies = m / 2;
    (void)n, (void)data;
    for (size_t k = 0; k < copies; k++) {
        const wg_real *const x = in + 2 * k, *const p = in + 2 * copies + 2 * k;
        r[2 * k] = wg_let(t, wg_sub(wg_mul(x[0], x[1]), p[0]));
        r[2 * k + 1] = wg_let(t, wg_sub(x[0], wg_mul(x[1], p[1])));
        if (k > 0) /* no change of the solution */
            r[2 * k] = wg_let(t, wg_add(r[2 * k], wg_mul(0.25, r[2 * k - 1])));
    }
    return wg_tape_status(t);
}
/* Of parameters (a, exp(b)): sum of x0 x1^2. data NULL: by the closed form. */
static wg_status of_products(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                             void *data) {
    wg_real q[2 * COPIES] = {{0}}, x[2 * COPIES] = {{0}}, sum = wg_constant(0);
    double at[2 * COPIES] = {0};
    (void)m;
    for (size_t k = 0; k < n; k += 2) {
        q[k] = p[k], q[k + 1] = wg_let(t, wg_exp(p[k + 1]));
        x[k] = wg_let(t, wg_sqrt(wg_mul(q[k], q[k + 1])));
        x[k + 1] = wg_let(t, wg_sqrt(wg_div(q[k], q[k + 1])));
        at[k] = wg_value(x[k]), at[k + 1] = wg_value(x[k + 1]);
    }
    if (data != NULL) {
        const wg_status s = wg_implicit(t, products, NULL, n, at, n, q, x);
        if (s != WG_OK) return s;
    }
    for (size_t k = 0; k < n; k += 2)
        sum = wg_let(t, wg_add(sum, wg_mul(x[k], wg_square(x[k + 1]))));
    y[0] = sum;
    return wg_tape_status(t);
}

static wg_function *record(wg_tape *t, wg_callback *f, void *data, size_t n, const double *at) {
    const wg_argument in = {"p", n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *g = NULL;
    if (wg_function_record(t, f, data, 1, &in, at, 1, &out, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(t));
    return g;
}

/* ---- values and derivatives ---- */

/* Of sqrt(p): binomial coefficients, up to a high order, far from the recording. */
static void derivatives_of_any_order_are_those_of_the_solution(void **state) {
    (void)state;
    enum { ORDER = 7 };
    wg_tape *const t = open_tape();
    const double at = 2, one = 1;
    wg_function *const f = record(t, root, NULL, 1, &at);
    wg_function *taylor = NULL;
    assert_int_equal(wg_function_taylor(t, f, ORDER, &taylor), WG_OK);
    for (double p = 0.25; p < 200; p *= 3) {
        const double *const in[] = {&p, &one};
        double c[ORDER + 1], ref = sqrt(p);
        assert_int_equal(evaluate(taylor, in, c), WG_OK);
        for (int k = 0; k <= ORDER; k++) {
            assert_true(fabs(c[k] - ref) <= TOL_IMPLICIT_ULP * DBL_EPSILON * fabs(ref));
            ref *= (0.5 - k) / (k + 1) / p;
        }
    }
    wg_function_free(taylor), wg_function_free(f);
    wg_tape_free(t);
}

static void keplers_equation_has_the_derivatives_of_its_formulas(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double at[2] = {0.7, 0.3};
    static const double points[][2] = {
        {0.7, 0.3}, {2.5, 0.6}, {-1.2, 0.1}, {0.3, 0}, {1.4, 0.45}};
    wg_function *const f = record(t, orbit, NULL, 2, at);
    wg_function *g = NULL, *h = NULL, *hvp = NULL;
    assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
    assert_int_equal(wg_function_hessian(t, f, &h), WG_OK);
    assert_int_equal(wg_function_hvp(t, f, &hvp), WG_OK);
    for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
        const double e = points[k][1], x = kepler_solved(points[k][0], e);
        const double d = 1 - e * cos(x), s = sin(x), c = cos(x), v[2] = {0.5, -2};
        const double mm = -e * s / (d * d * d);
        const double me = c / (d * d) - e * s * s / (d * d * d);
        const double ee = 2 * s * c / (d * d) - e * s * s * s / (d * d * d);
        const double *const in[] = {points[k], v};
        double y, first[2], second[4], hv[2];
        assert_int_equal(evaluate(f, in, &y), WG_OK);
        assert_int_equal(evaluate(g, in, first), WG_OK);
        assert_int_equal(evaluate(h, in, second), WG_OK);
        assert_int_equal(evaluate(hvp, in, hv), WG_OK);
        close_to(y, x, TOL_IMPLICIT_ULP);
        close_to(first[0], 1 / d, TOL_IMPLICIT_ULP);
        close_to(first[1], s / d, TOL_IMPLICIT_ULP);
        close_to(second[0], mm, TOL_IMPLICIT_ULP);
        close_to(second[1], me, TOL_IMPLICIT_ULP);
        close_to(second[2], me, TOL_IMPLICIT_ULP);
        close_to(second[3], ee, TOL_IMPLICIT_ULP);
        close_to(hv[0], mm * v[0] + me * v[1], TOL_IMPLICIT_ULP);
        close_to(hv[1], me * v[0] + ee * v[1], TOL_IMPLICIT_ULP);
    }
    wg_function_free(hvp), wg_function_free(h), wg_function_free(g), wg_function_free(f);
    wg_tape_free(t);
}

/* Orders 2 and 16, whose solves are written out or one node. */
static void systems_have_the_derivatives_of_the_closed_form(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    for (size_t n = 2; n <= 2 * COPIES; n += 2 * COPIES - 2) {
        double at[2 * COPIES], p[2 * COPIES], v[2 * COPIES];
        double out[3][2][4 * COPIES * COPIES];
        for (size_t i = 0; i < n; i++) {
            at[i] = 1 + 0.1 * (double)i;
            p[i] = 0.8 + 0.3 * sin(3 * (double)i);
            v[i] = cos(5 * (double)i);
        }
        int yes = 1;
        for (int way = 0; way < 2; way++) {
            wg_function *const f = record(t, of_products, way ? &yes : NULL, n, at);
            wg_function *g = NULL, *h = NULL, *third = NULL;
            const double *const in[] = {p, v};
            assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
            assert_int_equal(evaluate(g, in, out[0][way]), WG_OK);
            if (n == 2) {
                assert_int_equal(wg_function_hessian(t, f, &h), WG_OK);
                assert_int_equal(wg_function_jvp(t, h, &third), WG_OK);
                assert_int_equal(evaluate(third, in, out[2][way]), WG_OK);
            } else assert_int_equal(wg_function_hvp(t, f, &h), WG_OK);
            assert_int_equal(evaluate(h, in, out[1][way]), WG_OK);
            wg_function_free(third), wg_function_free(h), wg_function_free(g);
            wg_function_free(f);
        }
        for (size_t i = 0; i < n; i++) close_to(out[0][1][i], out[0][0][i], TOL_IMPLICIT_ULP);
        for (size_t i = 0; i < (n == 2 ? n * n : n); i++)
            close_to(out[1][1][i], out[1][0][i], TOL_IMPLICIT_ULP);
        for (size_t i = 0; n == 2 && i < n * n; i++)
            close_to(out[2][1][i], out[2][0][i], TOL_IMPLICIT_ULP);
    }
    wg_tape_free(t);
}

/* ---- at many points, in files and text ---- */

static int append(void *ctx, const char *text, size_t bytes) {
    strncat(ctx, text, bytes);
    return 0;
}

static void a_file_keeps_what_solves(void **state) {
    (void)state;
    enum { POINTS = 300 };
    wg_tape *const t = open_tape();
    const double at = 2;
    static double p[POINTS], v[POINTS], h[2][POINTS];
    wg_function *const f = record(t, root, NULL, 1, &at);
    for (size_t i = 0; i < POINTS; i++) p[i] = 0.1 + 0.05 * (double)i, v[i] = 1;
    size_t bytes = 0;
    assert_int_equal(wg_function_save(f, NULL, 0, &bytes), WG_OK);
    void *const file = malloc(bytes);
    assert_int_equal(wg_function_save(f, file, bytes, &bytes), WG_OK);
    wg_function *again = NULL;
    assert_int_equal(wg_function_load(t, file, bytes, NULL, 0, &again), WG_OK);
    const wg_function *const of[2] = {f, again};
    for (int way = 0; way < 2; way++) {
        wg_function *hvp = NULL;
        assert_int_equal(wg_function_hvp(t, of[way], &hvp), WG_OK);
        const wg_points in[2] = {{p, 1, 1}, {v, 1, 1}};
        const wg_results out = {h[way], 1, 1};
        void *const room = aligned_alloc(64, (wg_function_work(hvp, NULL) + 63) / 64 * 64);
        assert_int_equal(wg_function_evaluate(hvp, POINTS, in, &out, NULL, room, NULL), WG_OK);
        free(room);
        wg_function_free(hvp);
    }
    assert_memory_equal(h[0], h[1], sizeof h[0]);
    for (size_t i = 0; i < POINTS; i++)
        close_to(h[0][i], -0.25 / p[i] / sqrt(p[i]), TOL_IMPLICIT_ULP);
    static char text[10000];
    assert_int_equal(wg_function_dump(again, append, text), WG_OK);
    assert_non_null(strstr(text, "32 steps to a solution"));
    free(file);
    wg_function_free(again), wg_function_free(f);
    wg_tape_free(t);
}

typedef int point_fn(const double *const *arg, double *const *res);

/* As C for others, and as native code with the bits of the interpreter. */
static void texts_and_native_code_solve(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double at[2] = {0.7, 0.3}, p[2] = {2.5, 0.6};
    wg_function *const f = record(t, orbit, NULL, 2, at);
    wg_function *h = NULL, *native = NULL;
    const double *const in[] = {p};
    double y[4], again[4];
    assert_int_equal(wg_function_hessian(t, f, &h), WG_OK);
    assert_int_equal(evaluate(h, in, y), WG_OK);
    wg_compiled made;
    assert_int_equal(wg_function_compile(t, h, NULL, &native, &made), WG_OK);
    assert_int_equal(evaluate(native, in, again), WG_OK);
    assert_memory_equal(y, again, sizeof y);
    emitted e;
    FILE *const text = emitted_text(&e);
    const wg_emit_options o = {"second", WG_EMIT_POINT, 0, 0};
    assert_int_equal(wg_function_emit(t, h, &o, wg_write_file, text), WG_OK);
    assert_int_equal(fclose(text), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        double *res[1] = {again};
        point_fn *point;
        emitted_open(&e, emitted_compilers[c], "-O1");
        EMITTED(&e, "second", "", point);
        assert_int_equal(point(in, res), 0);
        for (int i = 0; i < 4; i++) close_to(again[i], y[i], TOL_IMPLICIT_ULP);
        const double none[2] = {2.5, NAN}, *const bad[] = {none};
        assert_int_not_equal(point(bad, res), 0);
        emitted_close(&e);
    }
    emitted_remove(&e);
    wg_function_free(native), wg_function_free(h), wg_function_free(f);
    wg_tape_free(t);
}

/* x^2 = p + q, of p for all points: the sum of x over them. */
static wg_status square_is_sum(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                               void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_square(in[0]), wg_add(in[1], in[2])));
    return wg_tape_status(t);
}
static wg_status root_of_sum(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                             void *data) {
    const double x = sqrt(wg_value(p[0]) + wg_value(p[1]));
    (void)n, (void)m, (void)data;
    return wg_implicit(t, square_is_sum, NULL, 1, &x, 2, p, y);
}
static void sums_over_points_have_derivatives_by_what_is_shared(void **state) {
    (void)state;
    enum { POINTS = 70 };
    wg_tape *const t = open_tape();
    const wg_argument in[2] = {{"p", 1, 1, WG_SHARED}, {"q", 1, 1, 0}},
                      out = {"y", 1, 1, WG_SUMMED};
    const double at[2] = {1, 1}, p = 0.75;
    double q[POINTS], by_q[POINTS], by_p, first = 0, second = 0;
    wg_function *f = NULL, *g = NULL, *gg = NULL;
    assert_int_equal(wg_function_record(t, root_of_sum, NULL, 2, in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
    for (size_t i = 0; i < POINTS; i++) {
        q[i] = 0.1 * (double)(i + 1);
        first += 0.5 / sqrt(p + q[i]);
        second -= 0.25 / sqrt(p + q[i]) / (p + q[i]);
    }
    const wg_points x[2] = {{&p, 0, 1}, {q, 1, 1}};
    const wg_results y[2] = {{&by_p, 0, 1}, {by_q, 1, 1}};
    void *room = aligned_alloc(64, (wg_function_work(g, NULL) + 63) / 64 * 64);
    assert_int_equal(wg_function_evaluate(g, POINTS, x, y, NULL, room, NULL), WG_OK);
    free(room);
    close_to(by_p, first, TOL_IMPLICIT_ULP);
    for (size_t i = 0; i < POINTS; i++)
        close_to(by_q[i], 0.5 / sqrt(p + q[i]), TOL_IMPLICIT_ULP);
    wg_function *of_p = NULL;
    assert_int_equal(wg_function_select(t, g, 1, &wg_function_output(g, 0)->name, &of_p),
                     WG_OK);
    assert_int_equal(wg_function_gradient(t, of_p, &gg), WG_OK);
    room = aligned_alloc(64, (wg_function_work(gg, NULL) + 63) / 64 * 64);
    assert_int_equal(wg_function_evaluate(gg, POINTS, x, y, NULL, room, NULL), WG_OK);
    free(room);
    close_to(by_p, second, TOL_IMPLICIT_ULP);
    for (size_t i = 0; i < POINTS; i++)
        close_to(by_q[i], -0.25 / sqrt(p + q[i]) / (p + q[i]), TOL_IMPLICIT_ULP);
    wg_function_free(gg), wg_function_free(of_p), wg_function_free(g), wg_function_free(f);
    wg_tape_free(t);
}

/* ---- without a solution ---- */

static void points_without_a_solution_are_told(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double at = 2, none[] = {-1, -2.5, 0, NAN, INFINITY};
    wg_function *const f = record(t, root, NULL, 1, &at);
    wg_function *g = NULL;
    assert_int_equal(wg_function_gradient(t, f, &g), WG_OK);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        const double *const in[] = {&none[k]};
        double y;
        assert_int_equal(evaluate(f, in, &y), WG_EGUARD);
        assert_int_equal(evaluate(g, in, &y), WG_EGUARD);
    }
    wg_function_free(g), wg_function_free(f);
    wg_tape_free(t);
}

/* What is too far from one recording has one of its own. */
static void branches_solve_where_one_recording_cannot(void **state) {
    (void)state;
    enum { POINTS = 3 };
    wg_tape *const t = open_tape();
    const wg_argument in = {"p", 1, 1, 0}, out = {"y", 1, 1, 0};
    const double p[POINTS] = {2, 1e30, 3};
    double y[POINTS];
    wg_branches *b = NULL;
    assert_int_equal(wg_branches_new(t, root, NULL, 1, &in, 1, &out, wg_function_gradient, &b),
                     WG_OK);
    const wg_points x = {p, 1, 1};
    const wg_results to = {y, 1, 1};
    assert_int_equal(wg_branches_evaluate(b, POINTS, &x, &to), WG_OK);
    for (size_t i = 0; i < POINTS; i++)
        assert_true(fabs(y[i] * 2 * sqrt(p[i]) - 1) <= TOL_IMPLICIT_ULP * DBL_EPSILON);
    assert_int_equal(wg_branches_count(b), 2);
    wg_branches_free(b);
    wg_tape_free(t);
}

/* x^2 = p, where x comes from far away: the function is polished, and a bad one is told. */
static wg_status badly(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    return wg_implicit(t, square_is, NULL, 1, data, 1, p, y);
}
static void a_recording_off_its_solution_is_solved_anew(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double at = 2;
    double x[2] = {1.5, 1e100};
    for (int k = 0; k < 2; k++) {
        wg_function *const f = record(t, badly, &x[k], 1, &at);
        const double *const in[] = {&at};
        double y = 0;
        assert_int_equal(evaluate(f, in, &y), k == 0 ? WG_OK : WG_EGUARD);
        if (k == 0) close_to(y, sqrt(2), 4);
        wg_function_free(f);
    }
    wg_tape_free(t);
}

/* x^(3/2) = p from 1e20: each step leaves a third of x, and at p = 1 the last of them is
 * nothing beside the recorded solution, but all of x. */
static wg_status power_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                          void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(in[0], wg_sqrt(in[0])), in[1]));
    return wg_tape_status(t);
}
static wg_status power_root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m;
    return wg_implicit(t, power_is, NULL, 1, data, 1, p, y);
}
static void steps_that_still_shrink_are_not_small_beside_a_large_start(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    double x = 1e20;
    const double at = 1e30, points[] = {1e30, 1e27, 1};
    wg_function *const f = record(t, power_root, &x, 1, &at);
    for (int k = 0; k < 3; k++) {
        const double *const in[] = {&points[k]};
        double y = 0;
        assert_int_equal(evaluate(f, in, &y), k == 2 ? WG_EGUARD : WG_OK);
        if (k != 2) close_to(y / cbrt(points[k] * points[k]), 1, 4);
    }
    wg_function_free(f);
    wg_tape_free(t);
}

/* x + sin(x + 1) / 3 = p where that is 0: what is left is rounding, and may be any part of
 * x. */
static wg_status wave_is(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                         void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_add(in[0], wg_div(wg_sin(wg_add(in[0], 1)), 3)), in[1]));
    return wg_tape_status(t);
}
static wg_status wave_root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m;
    return wg_implicit(t, wave_is, NULL, 1, data, 1, p, y);
}
static void a_solution_of_nothing_but_rounding_is_one(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    double x = 2;
    const double at = 2 + sin(3) / 3, zero = sin(1) / 3;
    const double *const in[] = {&zero};
    double y = 1;
    wg_function *const f = record(t, wave_root, &x, 1, &at);
    assert_int_equal(evaluate(f, in, &y), WG_OK);
    close_to(y, 0, 1);
    wg_function_free(f);
    wg_tape_free(t);
}

/* ---- nested, with matrices, and with what only expands ---- */

static wg_status root_of_root(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                              void *data) {
    wg_real inner;
    const wg_status s = root(t, 1, &in[1], 1, &inner, data);
    (void)n, (void)m;
    if (s != WG_OK) return s;
    r[0] = wg_let(t, wg_sub(wg_square(in[0]), inner));
    return wg_tape_status(t);
}
static wg_status fourth_root(wg_tape *t, size_t n, const wg_real *p, size_t m, wg_real *y,
                             void *data) {
    const double x = sqrt(sqrt(wg_value(p[0])));
    (void)n, (void)m, (void)data;
    return wg_implicit(t, root_of_root, NULL, 1, &x, 1, p, y);
}

static void solutions_nest(void **state) {
    (void)state;
    wg_tape *const t = open_tape();
    const double at = 2;
    wg_function *const f = record(t, fourth_root, NULL, 1, &at);
    wg_function *h = NULL;
    assert_int_equal(wg_function_hessian(t, f, &h), WG_OK);
    for (double p = 0.5; p < 30; p *= 3) {
        const double *const in[] = {&p};
        double y, second;
        assert_int_equal(evaluate(f, in, &y), WG_OK);
        assert_int_equal(evaluate(h, in, &second), WG_OK);
        close_to(y, pow(p, 0.25), TOL_IMPLICIT_ULP);
        close_to(second, -0.1875 * pow(p, -1.75), TOL_IMPLICIT_ULP);
    }
    wg_function_free(h), wg_function_free(f);
    wg_tape_free(t);
}

/* A second derivative of a recording that becomes a function, for an operation that only
 * expands. */
static wg_status step(wg_tape *t, size_t k, size_t n, const wg_real *x, size_t np,
                      const wg_real *p, wg_real *y, void *data) {
    (void)k, (void)n, (void)np, (void)p, (void)data;
    y[0] = wg_let(t, wg_mul(0.5, wg_square(x[0])));
    return wg_tape_status(t);
}
static void a_recording_with_what_only_expands_has_second_derivatives(void **state) {
    (void)state;
    wg_tape *const t = open_tape(), *const work = wg_tape_new(NULL);
    const wg_region region = {.record = step};
    const double at = 3, v = 1;
    double given[2] = {sqrt(3), 1e100}, h[2] = {7, 7};
    for (int k = 0; k < 2; k++) {
        wg_tape_reset(t);
        wg_real p = wg_input(t, at), x;
        wg_mat y;
        assert_int_equal(badly(t, 1, &p, 1, &x, &given[k]), WG_OK);
        const wg_mat none = wg_mat_constant(t, 0, 1, NULL, 1);
        const wg_mat in = wg_mat_gather(t, 1, 1, &x);
        assert_int_equal(wg_checkpoint(t, work, 2, 1, &region, 0, in, none, &y), WG_OK);
        assert_int_equal(wg_tape_hvp(t, wg_mat_at(y, 0, 0), 1, &p, &v, &h[k]),
                         k == 0 ? WG_OK : WG_EGUARD);
    }
    close_to(h[0], 0.25, TOL_IMPLICIT_ULP); /* x^4 / 8 = p^2 / 8 */
    assert_true(h[1] == 7);                 /* no solution from there */
    wg_tape_free(work);
    wg_tape_free(t);
}

static void memory_refused_at_any_point_is_reported(void **state) {
    (void)state;
    const double at[2] = {0.7, 0.3};
    const wg_argument in = {"p", 2, 1, 0}, out = {"y", 1, 1, 0};
    wg_status s = WG_ENOMEM;
    size_t tried = 0;
    for (size_t fail_at = 2; s != WG_OK; fail_at++, tried++) {
        struct counted memory = counted_start();
        const wg_options o = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
        memory.fail_at = fail_at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&o);
        wg_function *f = NULL, *h = NULL;
        assert_non_null(t);
        s = wg_function_record(t, orbit, NULL, 1, &in, at, 1, &out, &f);
        if (s == WG_OK) s = wg_function_hessian(t, f, &h);
        if (s != WG_OK) assert_int_equal(s, WG_ENOMEM);
        if (memory.refused != 0) s = WG_ENOMEM; /* it may have done with less */
        wg_function_free(h), wg_function_free(f);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
        assert_true(fail_at < 2000);
    }
    assert_true(tried > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_any_order_are_those_of_the_solution),
        cmocka_unit_test(keplers_equation_has_the_derivatives_of_its_formulas),
        cmocka_unit_test(systems_have_the_derivatives_of_the_closed_form),
        cmocka_unit_test(a_file_keeps_what_solves),
        cmocka_unit_test(texts_and_native_code_solve),
        cmocka_unit_test(sums_over_points_have_derivatives_by_what_is_shared),
        cmocka_unit_test(branches_solve_where_one_recording_cannot),
        cmocka_unit_test(points_without_a_solution_are_told),
        cmocka_unit_test(a_recording_off_its_solution_is_solved_anew),
        cmocka_unit_test(steps_that_still_shrink_are_not_small_beside_a_large_start),
        cmocka_unit_test(a_solution_of_nothing_but_rounding_is_one),
        cmocka_unit_test(solutions_nest),
        cmocka_unit_test(a_recording_with_what_only_expands_has_second_derivatives),
        cmocka_unit_test(memory_refused_at_any_point_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
