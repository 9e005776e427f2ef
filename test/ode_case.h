/* SPDX-License-Identifier: MIT */
/* ode_case.h - right-hand sides, recorded and in complex arithmetic of plain C; Runge-Kutta
 * methods in that arithmetic, written from their tableaux, for complex steps. */
#ifndef WENGERT_TEST_ODE_CASE_H
#define WENGERT_TEST_ODE_CASE_H

#include "driver_cases.h"

#include <complex.h>
#include <math.h>

/* ---- right-hand sides -------------------------------------------------------------------- */

typedef void plain(double complex t, const double complex *y, const double complex *p,
                   double complex *dy);

/* Two species, driven in time. */
static inline void hunt(double complex t, const double complex *y, const double complex *p,
                        double complex *dy) {
    dy[0] = y[0] * (p[0] - p[1] * y[1]) + p[4] * csin(3 * t);
    dy[1] = y[1] * (p[2] * y[0] - p[3]);
}
static inline wg_status hunt_recorded(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                      wg_real *dy, void *data) {
    const wg_real *const y = x + 1, *const p = x + 3;
    (void)n, (void)m, (void)data;
    dy[0] = wg_let(t, wg_add(wg_mul(y[0], wg_sub(p[0], wg_mul(p[1], y[1]))),
                             wg_mul(p[4], wg_sin(wg_mul(3, x[0])))));
    dy[1] = wg_let(t, wg_mul(y[1], wg_sub(wg_mul(p[2], y[0]), p[3])));
    return WG_OK;
}

/* What is integrated beside it. */
static inline void prey(double complex t, const double complex *y, const double complex *p,
                        double complex *dr) {
    dr[0] = y[0] * y[0] * p[1];
    dr[1] = ccos(t) * y[1];
    dr[2] = p[0];
}
static inline wg_status prey_recorded(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                      wg_real *dr, void *data) {
    (void)n, (void)m, (void)data;
    dr[0] = wg_let(t, wg_mul(wg_square(x[1]), x[4]));
    dr[1] = wg_let(t, wg_mul(wg_cos(x[0]), x[2]));
    dr[2] = x[3];
    return WG_OK;
}

/* Two pendulums coupled by a spring, separable: y is two angles, two speeds. */
static inline void swing(double complex t, const double complex *y, const double complex *p,
                         double complex *dy) {
    dy[0] = y[2] * p[2];
    dy[1] = y[3] * p[2];
    dy[2] = -p[0] * csin(y[0]) - p[1] * (y[0] - y[1]) + p[4] * t;
    dy[3] = -p[0] * csin(y[1]) + p[1] * (y[0] - y[1]) * p[3];
}
static inline wg_status swing_recorded(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                       wg_real *dy, void *data) {
    const wg_real *const y = x + 1, *const p = x + 5;
    (void)n, (void)m, (void)data;
    const wg_real spring = wg_let(t, wg_mul(p[1], wg_sub(y[0], y[1])));
    dy[0] = wg_let(t, wg_mul(y[2], p[2]));
    dy[1] = wg_let(t, wg_mul(y[3], p[2]));
    dy[2] = wg_let(
        t, wg_add(wg_sub(wg_mul(wg_neg(p[0]), wg_sin(y[0])), spring), wg_mul(p[4], x[0])));
    dy[3] = wg_let(t, wg_add(wg_mul(wg_neg(p[0]), wg_sin(y[1])), wg_mul(spring, p[3])));
    return WG_OK;
}

enum { PARAMS = 5, MOST_STATES = 8 };
static const double params[PARAMS] = {1.1, 0.4, 0.9, 0.8, 0.05};
static const double starts[] = {1.2, 0.7, -0.3, 0.5};

static inline wg_function *rhs_of(wg_callback *f, size_t n, size_t m, size_t results) {
    const wg_argument in[] = {{"time", 1, 1, 0}, {"state", n, 1, 0}, {"param", m, 1, 0}};
    const wg_argument out = {"slope", results, 1, 0};
    double x[64] = {0.25};
    for (size_t i = 1; i <= n + m; i++) x[i] = 0.5 + 0.125 * (double)i;
    return function_of(f, NULL, m != 0 ? 3 : 2, in, x, 1, &out);
}

static inline wg_ode *ode_of(wg_function *rhs, wg_function *integrand) {
    const wg_ode_system system = {.rhs = rhs, .integrand = integrand};
    wg_ode *k = NULL;
    if (wg_ode_new(coded, &system, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free(rhs);
    wg_function_free(integrand);
    return k;
}

static inline wg_ode *hunting(int with_integrals) {
    return ode_of(rhs_of(hunt_recorded, 2, PARAMS, 2),
                  with_integrals ? rhs_of(prey_recorded, 2, PARAMS, 3) : NULL);
}
static inline wg_ode *swinging(void) {
    return ode_of(rhs_of(swing_recorded, 4, PARAMS, 4), NULL);
}

/* ---- methods in complex arithmetic ------------------------------------------------------- */

typedef struct tableau {
    int stages;
    double c[7], b[7], a[7][7];
} tableau;

static const tableau classical = {4,
                                  {0, 0.5, 0.5, 1},
                                  {1 / 6.0, 1 / 3.0, 1 / 3.0, 1 / 6.0},
                                  {{0}, {0.5}, {0, 0.5}, {0, 0, 1}}};
static const tableau dormand_prince = {
    6,
    {0, 0.2, 0.3, 0.8, 8 / 9.0, 1},
    {35 / 384.0, 0, 500 / 1113.0, 125 / 192.0, -2187 / 6784.0, 11 / 84.0},
    {{0},
     {0.2},
     {3 / 40.0, 9 / 40.0},
     {44 / 45.0, -56 / 15.0, 32 / 9.0},
     {19372 / 6561.0, -25360 / 2187.0, 64448 / 6561.0, -212 / 729.0},
     {9017 / 3168.0, -355 / 33.0, 46732 / 5247.0, 49 / 176.0, -5103 / 18656.0}}};

/* y after a step of f, with integrals of g behind the n states. */
static inline void plain_step(const tableau *m, plain *f, plain *g, size_t n, size_t r,
                              double t, double h, const double complex *p, double complex *y) {
    double complex k[7][MOST_STATES], at[MOST_STATES];
    for (int i = 0; i < m->stages; i++) {
        for (size_t l = 0; l < n; l++) {
            at[l] = y[l];
            for (int j = 0; j < i; j++) at[l] += h * m->a[i][j] * k[j][l];
        }
        f(t + m->c[i] * h, at, p, k[i]);
        if (g != NULL) g(t + m->c[i] * h, at, p, k[i] + n);
    }
    for (int i = 0; i < m->stages; i++)
        for (size_t l = 0; l < n + r; l++) y[l] += h * m->b[i] * k[i][l];
}

/* Kick, drift, kick. */
static inline void plain_leap(plain *f, size_t n, double t, double h, const double complex *p,
                              double complex *y) {
    double complex k[MOST_STATES];
    for (int half = 0; half < 2; half++) {
        f(half ? t + h : t, y, p, k);
        for (size_t l = n / 2; l < n; l++) y[l] += h / 2 * k[l];
        if (half) return;
        f(t + h / 2, y, p, k);
        for (size_t l = 0; l < n / 2; l++) y[l] += h * k[l];
    }
}

/* ---- functions of one input and one output ----------------------------------------------- */

static inline void evaluate_once(const wg_function *f, const double *x, double *y) {
    const wg_points from = {x, 0, 1};
    const wg_results to = {y, 0, 1};
    void *const work = malloc(wg_function_work(f, NULL));
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, &from, &to, NULL, work, NULL), WG_OK);
    free(work);
}

/* ---- comparisons ------------------------------------------------------------------------- */

/* Against a reference of the size `scale`, after so many steps. */
static inline void assert_steps(double got, double expected, double scale, size_t steps) {
    const double within = TOL_STEP_ULP * DBL_EPSILON * (double)(steps + 1) * scale;
    if (!(fabs(got - expected) <= within))
        fail_msg("got %.17g, expected %.17g, within %g", got, expected, within);
}

/* ---- as a part of a function ------------------------------------------------------------- */

/* A callback that solves, recorded as a function at x, of which every entry is 1.125 times as
 * large where it is evaluated: its value has the bits of the tape there, its gradient and, with
 * `tangents`, its tangents are those of the tape. steps: how many there are, for rounding. */
static inline void assert_in_function(wg_callback *f, void *data, size_t n, double *x,
                                      int tangents, const size_t *steps) {
    enum { MOST = 64 };
    const wg_argument in = {"x", n, 1, 0}, out = {"f", 1, 1, 0};
    double at[2 * MOST], g[MOST], got[MOST], value, y, ft, slope, size = 0, along = 0;
    wg_function *grad = NULL, *jvp = NULL, *const of = function_of(f, data, 1, &in, x, 1, &out);
    assert_true(n <= MOST);
    if (wg_function_gradient(coded, of, &grad) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    for (size_t i = 0; i < n; i++)
        at[i] = 1.125 * x[i], at[n + i] = 0.3 - 0.07 * (double)(i % 5);
    assert_int_equal(wg_gradient(tape, f, data, n, at, &value, g), WG_OK);
    evaluate_once(of, at, &y);
    evaluate_once(grad, at, got);
    assert_true(y == value);
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(g[i]));
    for (size_t i = 0; i < n; i++) assert_steps(got[i], g[i], size, *steps);
    const wg_status s = wg_function_jvp(coded, of, &jvp);
    assert_int_equal(s, tangents ? WG_OK : WG_EMODE);
    if (tangents) {
        const wg_points from[] = {{at, 0, 1}, {at + n, 0, 1}};
        const wg_results to = {&slope, 0, 1};
        void *const work = malloc(wg_function_work(jvp, NULL));
        assert_int_equal(wg_function_evaluate(jvp, 1, from, &to, NULL, work, NULL), WG_OK);
        free(work);
        assert_int_equal(wg_jvp(tape, f, data, n, at, at + n, 1, &value, &ft), WG_OK);
        for (size_t i = 0; i < n; i++) along += fabs(g[i] * at[n + i]);
        assert_steps(slope, ft, along, *steps);
    }
    wg_function_free(of), wg_function_free(grad), wg_function_free(jvp);
}

#endif
