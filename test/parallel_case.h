/* SPDX-License-Identifier: MIT */
/* parallel_case.h - a loop over cells, on one tape and in segments: a new state from the one
 * before, by neighbours and two parameters that all cells read, and a sum of it. */
#ifndef WENGERT_TEST_PARALLEL_CASE_H
#define WENGERT_TEST_PARALLEL_CASE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <wengert.h>

#include "pools.h"
#include "tolerance.h"
#include "walk.h"

#define assert_ok(t, s)                                                                        \
    do                                                                                         \
        if ((s) != WG_OK) fail_msg("%s", wg_tape_message(t));                                  \
    while (0)

enum { CELLS = 3000, PARAMETERS = 2, SEGMENTS = 7, STEPS = 3, INPUTS = PARAMETERS + CELLS };

/* Ranges of addresses that many segments at once find room for under valgrind and thread
 * sanitizers. */
static const wg_options plain = {.reserve = 1 << 26};

struct loop {
    wg_parallel *p; /* NULL: on the tape itself */
    wg_threads *threads;
    size_t n;
    int alone; /* each cell reads its own state alone */
    const wg_real *c, *u;
    wg_real *v, *part;
};

static inline wg_real cell(wg_tape *s, const struct loop *l, size_t i, wg_real sum) {
    const wg_real *const u = l->u, *const c = l->c;
    if (l->alone) {
        l->v[i] = wg_let(s, wg_sin(wg_mul(wg_add(u[i], 1.5), u[i])));
        return wg_let(s, wg_add(sum, wg_mul(l->v[i], l->v[i])));
    }
    const wg_real left = u[i != 0 ? i - 1 : l->n - 1], right = u[i + 1 < l->n ? i + 1 : 0];
    const wg_real flow = wg_let(s, wg_mul(c[0], wg_sub(wg_add(left, right), wg_mul(2, u[i]))));
    l->v[i] = wg_let(s, wg_add(wg_tanh(wg_mul(u[i], c[1])), flow));
    return wg_let(s, wg_add(sum, wg_mul(wg_exp(wg_neg(l->v[i])), l->v[i])));
}

static inline wg_status record_segment(void *context, size_t k) {
    const struct loop *const l = context;
    wg_tape *const s = wg_parallel_tape(l->p, k);
    wg_real sum = wg_constant(0);
    for (size_t i = wg_parallel_from(l->p, k, l->n); i < wg_parallel_from(l->p, k + 1, l->n);
         i++)
        sum = cell(s, l, i, sum);
    l->part[k] = sum;
    return WG_OK;
}

/* One loop; gives its sum. */
static inline wg_real one_loop(wg_tape *t, struct loop *l) {
    wg_real sum = wg_constant(0);
    for (size_t i = 0; l->p == NULL && i < l->n; i++) sum = cell(t, l, i, sum);
    if (l->p == NULL) return sum;
    if (wg_parallel_begin(l->p, t) != WG_OK) return wg_constant(NAN);
    if (wg_parallel_run(l->p, record_segment, l) != WG_OK) return wg_constant(NAN);
    if (wg_parallel_join(l->p) != WG_OK || wg_parallel_adopt(l->p, l->n, l->v) != WG_OK)
        return wg_constant(NAN);
    (void)wg_parallel_reduce(l->p, WG_REDUCE_SUM, 1, l->part, &sum);
    return sum;
}

/* A loop over all cells of the inputs x. */
static inline struct loop loop_of(wg_parallel *p, wg_threads *threads, const wg_real *x,
                                  wg_real *v, wg_real *part) {
    return (struct loop){.p = p,
                         .threads = threads,
                         .n = CELLS,
                         .c = x,
                         .u = x + PARAMETERS,
                         .v = v,
                         .part = part};
}

/* The callback of drivers: steps of the loop, from the inputs [parameters, state]. */
struct steps {
    wg_parallel *p;
    wg_threads *threads;
    size_t steps;
    int alone;
};

static inline wg_status all_steps(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    const struct steps *const d = data;
    static wg_real state[2][CELLS], part[64];
    struct loop l = {.p = d->p,
                     .threads = d->threads,
                     .n = n - PARAMETERS,
                     .alone = d->alone,
                     .c = x,
                     .u = x + PARAMETERS,
                     .part = part};
    wg_real sum = wg_constant(0);
    (void)m;
    for (size_t k = 0; k < d->steps; k++) {
        l.v = state[k % 2];
        sum = wg_let(t, wg_add(wg_mul(sum, 0.75), one_loop(t, &l)));
        l.u = l.v;
    }
    y[0] = sum;
    return wg_tape_status(t);
}

static inline void inputs_of_case(double *a, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = 0.4 + 0.3 * sin((double)i * 0.7);
}

static inline wg_parallel *segments_of(wg_tape *t, size_t segments, wg_threads *threads) {
    wg_parallel *p;
    assert_ok(t, wg_parallel_new(t, segments, threads, &p));
    return p;
}

/* Of derivatives that are added up in another order: sums of this size, of so many terms. */
static inline void assert_near(double a, double b, double size, double terms) {
    if (!(fabs(a - b) <= TOL_ORDER_ULP * DBL_EPSILON * size * terms))
        fail_msg("%.17g is not %.17g", a, b);
}

#endif
