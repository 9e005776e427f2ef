/* SPDX-License-Identifier: MIT */
/* scan_case.h - callables for loops, interpreted or compiled, and how near results have to be.
 * A file that includes it defines _DEFAULT_SOURCE first. */
#ifndef WENGERT_TEST_SCAN_CASE_H
#define WENGERT_TEST_SCAN_CASE_H

#include "driver_cases.h"
#include "pools.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double at[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}; /* where functions are recorded */

static inline double number(size_t i) {
    return 0.1 * (double)(i % 23) - 1 + 0.013 * (double)(i % 7);
}

/* Where functions are compiled; NULL: they are not. */
static const char *compile_to;

static inline wg_callable *make(wg_callback *f, size_t inputs, const wg_argument *in,
                                const double *x, size_t outputs, const wg_argument *out) {
    wg_callable *const k = callable(f, inputs, in, x, outputs, out);
    if (compile_to == NULL) return k;
    const wg_compile_options o = {.directory = compile_to};
    wg_callable *compiled = NULL;
    if (wg_callable_compile(coded, k, &o, &compiled, NULL) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    wg_callable_free(k);
    return compiled;
}

static inline void assert_near(double got, double expected) {
    if (!(fabs(got - expected) <= TOL_PROGRAM_ULP * DBL_EPSILON * (1 + fabs(expected))))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

/* From here to the other one functions are compiled. */
static inline void start_compiling(void) { compile_to = COMPILED_BEFORE; }
static inline void stop_compiling(void) { compile_to = NULL; }

static inline int close_all(void **state) {
    (void)free_pools(state);
    return close_tapes(state);
}

#endif
