/* SPDX-License-Identifier: MIT */
/* driver_cases.h - two tapes, and functions for drivers with their derivatives. */
#ifndef WENGERT_TEST_DRIVER_CASES_H
#define WENGERT_TEST_DRIVER_CASES_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"

static wg_tape *tape, *coded; /* without and with WG_KEEP_CODE */

static inline int open_tapes(void **state) {
    const wg_options keep = {.flags = WG_KEEP_CODE | WG_KEEP_PLACES};
    (void)state;
    tape = wg_tape_new(NULL);
    coded = wg_tape_new(&keep);
    return tape == NULL || coded == NULL;
}
static inline int close_tapes(void **state) {
    (void)state;
    wg_tape_free(tape);
    wg_tape_free(coded);
    return 0;
}

static inline void assert_close(double got, double expected) {
    if (!close_ulp(got, expected, TOL_DERIVATIVE_ULP))
        fail_msg("got %.17g, expected %.17g", got, expected);
}
static inline void assert_message(const wg_tape *t, const char *part) {
    if (strstr(wg_tape_message(t), part) == NULL)
        fail_msg("the message is: %s\nand not: %s", wg_tape_message(t), part);
}
static inline void assert_nan(double x) { assert_true(x != x); }

/* ---- functions, recorded at x on the tape with WG_KEEP_CODE ------------------------------ */

static inline wg_function *function_of(wg_callback *f, void *data, size_t inputs,
                                       const wg_argument *in, const double *x, size_t outputs,
                                       const wg_argument *out) {
    wg_function *g = NULL;
    if (wg_function_record(coded, f, data, inputs, in, x, outputs, out, &g) != WG_OK)
        fail_msg("%s", wg_tape_message(coded));
    return g;
}
static inline wg_callable *callable_of(wg_function *f) {
    wg_callable *k = NULL;
    if (wg_callable_new(coded, f, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free(f); /* it has a copy */
    return k;
}
static inline wg_callable *callable(wg_callback *f, size_t inputs, const wg_argument *in,
                                    const double *x, size_t outputs, const wg_argument *out) {
    return callable_of(function_of(f, NULL, inputs, in, x, outputs, out));
}

/* ---- callbacks for drivers --------------------------------------------------------------- */

/* y[j] = sin(x[j % n]) x[(j + 1) % n] + j; data: how often it was called. */
static inline wg_status wave(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    if (data != NULL) ++*(int *)data;
    for (size_t j = 0; j < m; j++)
        y[j] = wg_let(t, wg_add(wg_mul(wg_sin(x[j % n]), x[(j + 1) % n]), j));
    return WG_OK;
}
static inline double wave_derivative(size_t n, const double *x, size_t j, size_t i) {
    double d = 0;
    if (i == j % n) d += cos(x[i]) * x[(j + 1) % n];
    if (i == (j + 1) % n) d += sin(x[j % n]);
    return d;
}

static inline wg_status constant(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)t, (void)n, (void)x, (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_constant(7);
    return WG_OK;
}

static inline wg_status nothing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

static inline wg_status product(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)m, (void)data;
    y[0] = wg_product(t, n, x);
    return WG_OK;
}

/* The Jacobian of wave in one call, which evaluates it so often. */
static inline void check_wave(wg_tape *t, size_t n, size_t m, wg_layout layout,
                              int evaluations) {
    const size_t ld = (layout == WG_ROW_MAJOR ? n : m) + 2;
    double *x = malloc(n * sizeof *x), *y = malloc((m + 1) * sizeof *y);
    double *jac = malloc((ld * (layout == WG_ROW_MAJOR ? m : n) + 1) * sizeof *jac);
    int calls = 0;
    assert_true(x != NULL && y != NULL && jac != NULL);
    for (size_t i = 0; i < n; i++) x[i] = 0.1 + 0.01 * (double)i;
    assert_int_equal(wg_jacobian(t, wave, &calls, n, x, m, y, layout, jac, ld), WG_OK);
    assert_int_equal(calls, evaluations);
    for (size_t j = 0; j < m; j++) {
        assert_close(y[j], sin(x[j % n]) * x[(j + 1) % n] + (double)j);
        for (size_t i = 0; i < n; i++)
            assert_close(jac[layout == WG_ROW_MAJOR ? j * ld + i : i * ld + j],
                         wave_derivative(n, x, j, i));
    }
    free(x), free(y), free(jac);
}

#endif
