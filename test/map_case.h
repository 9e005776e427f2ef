/* SPDX-License-Identifier: MIT */
/* map_case.h - a function of every kind of argument, mapped, and the same written out. */
#ifndef WENGERT_TEST_MAP_CASE_H
#define WENGERT_TEST_MAP_CASE_H

#include "driver_cases.h"
#include "pools.h"

#include <math.h>

/* ---- the functions ----------------------------------------------------------------------- */

enum { POINTS = 1300 };

/* a (2x1, shared), x (2x2 at each point), d (data): y (2x1) and the sum s. */
static const wg_argument in[] = {
    {"a", 2, 1, WG_SHARED}, {"x", 2, 2, 0}, {"unused", 1, 1, 0}, {"d", 2, 1, WG_PASSIVE}};
static const wg_argument out[] = {{"y", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}};
enum { INPUTS = 4, OUTPUTS = 2, ENTRIES = 9 };

static inline void mixed(wg_tape *t, const wg_real *a, const wg_real *x, const wg_real *d,
                         wg_real *y, wg_real *s) {
    const wg_real u = wg_let(t, wg_add(wg_mul(a[0], x[0]), wg_mul(x[3], d[0])));
    y[0] = wg_let(t, wg_div(wg_mul(u, x[1]), wg_add(wg_sqrt(wg_mul(a[1], a[1])), 2)));
    y[1] = wg_let(t, wg_sub(wg_mul(x[2], x[2]), wg_mul(u, d[1])));
    *s = wg_let(t, wg_mul(wg_sub(y[0], d[0]), y[1]));
}

static inline wg_status mixed_callback(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                       wg_real *y, void *data) {
    (void)n, (void)m, (void)data;
    mixed(t, x, x + 2, x + 7, y, y + 2);
    return WG_OK;
}

static const double start[ENTRIES] = {0.5, 1.5, 0.25, 1, 2, -1, 0, 0.75, 1.25};

static inline wg_function *mixed_function(void) {
    return function_of(mixed_callback, NULL, INPUTS, in, start, OUTPUTS, out);
}

static inline wg_callable *mixed_callable(void) { return callable_of(mixed_function()); }

static inline double number(size_t i) {
    return 0.1 * (double)(i % 23) - 1 + 0.013 * (double)(i % 7);
}

static double many[4 * POINTS], data[2 * POINTS];

static inline void make_data(void) {
    for (size_t i = 0; i < 4 * POINTS; i++) many[i] = number(i);
    for (size_t i = 0; i < 2 * POINTS; i++) data[i] = number(3 * i + 1);
}

static inline wg_status fill_data(size_t first, size_t count, double *to, void *user) {
    if (user != NULL) ++*(size_t *)user;
    for (size_t i = 0; i < 2 * count; i++) to[i] = data[2 * first + i];
    return WG_OK;
}

static inline wg_status refuse_data(size_t first, size_t count, double *to, void *user) {
    (void)user;
    memset(to, 0, 2 * count * sizeof *to);
    return first > 0 ? WG_ECONVERGE : WG_OK;
}

/* ---- the same written out ---------------------------------------------------------------- */

typedef struct written {
    double s, y[2 * POINTS], a[2], x[4 * POINTS];
} written;

/* Adjoints of ws s + sum wy y. */
static inline void write_out(size_t points, const double *a, double ws, const double *wy,
                             written *w) {
    static wg_real x[4 * POINTS], y[2 * POINTS + 1];
    static double seed[2 * POINTS + 1];
    wg_real p[2], sum = wg_constant(0);
    wg_tape_reset(tape);
    assert_int_equal(wg_inputs(tape, 2, a, p), WG_OK);
    assert_int_equal(wg_inputs(tape, 4 * points, many, x), WG_OK);
    for (size_t i = 0; i < points; i++) {
        const wg_real d[2] = {wg_constant(data[2 * i]), wg_constant(data[2 * i + 1])};
        wg_real s;
        mixed(tape, p, x + 4 * i, d, y + 2 * i, &s);
        sum = wg_let(tape, wg_add(sum, s));
    }
    y[2 * points] = sum;
    for (size_t i = 0; i < 2 * points; i++) {
        w->y[i] = y[i].value;
        seed[i] = wy[i];
    }
    seed[2 * points] = ws;
    w->s = sum.value;
    assert_int_equal(wg_reverse_seeds(tape, 2 * points + 1, y, seed), WG_OK);
    assert_int_equal(wg_adjoints(tape, 2, p, w->a), WG_OK);
    assert_int_equal(wg_adjoints(tape, 4 * points, x, w->x), WG_OK);
}

/* Sums of many terms, in another order. */
static inline void assert_sum(double got, double expected, double size) {
    if (!(fabs(got - expected) <= TOL_ORDER_ULP * DBL_EPSILON * size * POINTS))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* ---- a map of it ------------------------------------------------------------------------- */

typedef struct mapped {
    const wg_callable *k;
    size_t points;
    wg_threads *threads;
    int how; /* how x and d are given */
} mapped;

/* y: all results. */
static inline wg_status map_callback(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                     wg_real *y, void *user) {
    const mapped *const k = user;
    const wg_mat a = wg_mat_gather(t, 2, 1, x);
    wg_mat each = wg_mat_gather(t, 4, k->points, x + 2), r[OUTPUTS];
    (void)n;
    if (k->how & 1) { /* the same numbers, one row per point */
        each = wg_mat_gather(t, 4, k->points, x + 2);
        wg_real *const turned = wg_tape_keep(t, 4 * k->points * sizeof *turned, NULL);
        if (turned == NULL) return wg_tape_status(t);
        for (size_t p = 0; p < k->points; p++)
            for (size_t e = 0; e < 4; e++) turned[p + e * k->points] = x[2 + 4 * p + e];
        each = wg_mat_transpose(wg_mat_gather(t, k->points, 4, turned));
    }
    const wg_source s[INPUTS] = {wg_from_matrix(a), wg_from_matrix(each),
                                 wg_from_matrix(wg_mat_fill(t, k->points, 1, 0)),
                                 k->how & 2 ? wg_from_fill(fill_data, NULL)
                                            : wg_from_data(data, 2, 1)};
    const wg_status status = wg_map(t, k->k, k->points, s, k->threads, r);
    if (status != WG_OK) return status;
    for (size_t j = 0; j < 2 * k->points && j < m; j++) y[j] = wg_mat_at(r[0], j % 2, j / 2);
    if (m > 2 * k->points) y[2 * k->points] = wg_mat_at(r[1], 0, 0);
    return WG_OK;
}

static inline int close_all(void **state) {
    (void)free_pools(state);
    return close_tapes(state);
}

#endif
