/* SPDX-License-Identifier: MIT */
/* optimise_case.h - objectives with known minima, and what tests of searches say again and
 * again. */
#ifndef WENGERT_TEST_OPTIMISE_CASE_H
#define WENGERT_TEST_OPTIMISE_CASE_H

#include "driver_cases.h"

static inline wg_status beale(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    static const double c[] = {1.5, 2.25, 2.625};
    wg_real sum = wg_constant(0), power = wg_constant(1);
    (void)n, (void)m, (void)data;
    for (size_t i = 0; i < 3; i++) {
        power = wg_let(t, wg_mul(power, x[1]));
        sum =
            wg_let(t, wg_add(sum, wg_square(wg_add(wg_sub(c[i], x[0]), wg_mul(x[0], power)))));
    }
    y[0] = sum;
    return WG_OK;
}

static inline wg_status booth(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(wg_add(x[0], wg_mul(2, x[1])), 7)),
                            wg_square(wg_sub(wg_add(wg_mul(2, x[0]), x[1]), 5))));
    return WG_OK;
}

static inline wg_status goldstein_price(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                        wg_real *y, void *data) {
    const wg_real u = x[0], v = x[1];
    const wg_real uu = wg_let(t, wg_square(u)), uv = wg_let(t, wg_mul(u, v));
    const wg_real vv = wg_let(t, wg_square(v));
    (void)n, (void)m, (void)data;
    wg_real p = wg_let(t, wg_add(wg_sub(19, wg_mul(14, u)), wg_mul(3, uu)));
    p = wg_let(t, wg_add(wg_sub(p, wg_mul(14, v)), wg_add(wg_mul(6, uv), wg_mul(3, vv))));
    wg_real q = wg_let(t, wg_add(wg_sub(18, wg_mul(32, u)), wg_mul(12, uu)));
    q = wg_let(t, wg_add(wg_add(q, wg_mul(48, v)), wg_sub(wg_mul(27, vv), wg_mul(36, uv))));
    p = wg_let(t, wg_add(1, wg_mul(wg_square(wg_add(wg_add(u, v), 1)), p)));
    q = wg_let(t, wg_add(30, wg_mul(wg_square(wg_sub(wg_mul(2, u), wg_mul(3, v))), q)));
    y[0] = wg_let(t, wg_mul(p, q));
    return WG_OK;
}

/* The sum over pairs of variables: its minimum is 0 where all are 1. */
static inline wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    wg_real sum = wg_constant(0);
    (void)m, (void)data;
    for (size_t i = 0; i + 1 < n; i += 2) {
        const wg_real rise = wg_let(t, wg_sub(x[i + 1], wg_square(x[i])));
        sum = wg_let(
            t, wg_add(wg_add(sum, wg_mul(100, wg_square(rise))), wg_square(wg_sub(1, x[i]))));
    }
    y[0] = sum;
    return WG_OK;
}

/* The same as residuals; those that are over are 1. */
static inline wg_status rosenbrock_residuals(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                             wg_real *y, void *data) {
    (void)data;
    for (size_t i = n; i < m; i++) y[i] = wg_constant(1);
    for (size_t i = 0; i + 1 < n; i += 2) {
        y[i] = wg_let(t, wg_mul(10, wg_sub(x[i + 1], wg_square(x[i]))));
        y[i + 1] = wg_let(t, wg_sub(1, x[i]));
    }
    return WG_OK;
}

/* sum_i (i + 1) (x_i - i)^2 / 2 + (sum_i x_i - i)^2 / 2: its minimum is 0 at x_i = i. data: how
 * often it was called. */
static inline wg_status bowl(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    wg_real sum = wg_constant(0), all = wg_constant(0);
    (void)m;
    if (data != NULL) ++*(int *)data;
    for (size_t i = 0; i < n; i++) {
        const double k = (double)i;
        const wg_real away = wg_let(t, wg_sub(x[i], k));
        sum = wg_let(t, wg_add(sum, wg_mul((k + 1) / 2, wg_square(away))));
        all = wg_let(t, wg_add(all, away));
    }
    y[0] = wg_let(t, wg_add(sum, wg_mul(0.5, wg_square(all))));
    return WG_OK;
}

/* The methods, each with a rate with which it gets to the minima of these tests. */
static inline wg_minimise_options by_method(wg_method method) {
    wg_minimise_options o = {.method = method, .limit = 100000, .gradient = 1e-9};
    o.descent = (wg_descent){.rule = WG_ADAM, .rate = 0.02};
    return o;
}

static inline void assert_near(size_t n, const double *x, const double *expected, double tol) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - expected[i]) <= tol * fmax(1, fabs(expected[i]))))
            fail_msg("x[%zu] is %.17g, not %.17g", i, x[i], expected[i]);
}

static inline void assert_ok(const wg_tape *t, wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(t));
}

#endif
