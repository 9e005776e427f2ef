/* SPDX-License-Identifier: MIT */
/* whole_case.h - functions of operations that stay whole: recorded, derived, evaluated at a
 * point. Included after cmocka.h. */
#ifndef WENGERT_TEST_WHOLE_CASE_H
#define WENGERT_TEST_WHOLE_CASE_H

#include <stdlib.h>
#include <string.h>
#include "spectral_operations.h"

static wg_tape *tape; /* keeps code */

static inline int open_tape(void **state) {
    const wg_options options = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&options);
    return tape == NULL;
}
static inline int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

static inline void must(wg_status s) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(tape));
}

/* ---- functions of one input, and of that and a direction ---- */

static inline wg_function *recording_of(wg_callback *f, void *data, size_t n, const double *x) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *g = NULL;
    must(wg_function_record(tape, f, data, 1, &in, x, 1, &out, &g));
    return g;
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);
static inline wg_function *made(transform *how, const wg_function *f) {
    wg_function *g = NULL;
    must(how(tape, f, &g));
    return g;
}

/* x, and what else it takes, at one point each. */
static inline void evaluate(const wg_function *f, const double *x, const double *v,
                            const double *u, double *y) {
    const wg_points in[3] = {{x, 0, 1}, {v, 0, 1}, {u, 0, 1}};
    const wg_results out = {y, 0, 1};
    void *const work = aligned_alloc(64, (wg_function_work(f, NULL) + 127) / 64 * 64);
    assert_non_null(work);
    assert_int_equal(wg_function_evaluate(f, 1, in, &out, NULL, work, NULL), WG_OK);
    free(work);
}

/* Another order of the same sums and another of two ways to factor: of the largest entry. */
#define TOL_WHOLE 1e-11

static inline void near(const char *name, size_t order, const char *what, size_t n,
                        const double *got, const double *want) {
    const double size = fmax(1, largest(n, want));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - want[i]) <= TOL_WHOLE * size))
            fail_msg("%s of order %zu: %s (%zu) is %.17g, not %.17g", name, order, what, i,
                     got[i], want[i]);
}

#endif
