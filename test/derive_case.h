/* SPDX-License-Identifier: MIT */
/* derive_case.h - functions recorded on a tape, and transforms of them. */
#ifndef WENGERT_TEST_DERIVE_CASE_H
#define WENGERT_TEST_DERIVE_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>

#include <cmocka.h>

static inline wg_tape *code_tape(void) {
    const wg_options o = {.flags = WG_KEEP_CODE};
    return wg_tape_new(&o);
}

/* f: where the call has put its result, looked at after it. */
static inline wg_function *must(wg_tape *t, wg_status s, wg_function *const *f) {
    if (s != WG_OK) fail_msg("%s", wg_tape_message(t));
    assert_non_null(*f);
    return *f;
}

static inline wg_function *recorded(wg_tape *t, wg_callback *call, void *data, size_t n,
                                    size_t m, const double *x) {
    const wg_argument in = {"x", n, 1, 0}, out = {"y", m, 1, 0};
    wg_function *f = NULL;
    const wg_status s = wg_function_record(t, call, data, 1, &in, x, 1, &out, &f);
    return must(t, s, &f);
}

typedef wg_status transform(wg_tape *t, const wg_function *f, wg_function **out);

/* The transform of a function that is not needed any more. */
static inline wg_function *next(wg_tape *t, transform *by, wg_function *f) {
    wg_function *g = NULL;
    const wg_status s = by(t, f, &g);
    wg_function_free(f);
    return must(t, s, &g);
}

static inline wg_status product_of_two(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                       wg_real *y, void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    return WG_OK;
}

static inline wg_status potential(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *data) {
    (void)m, (void)data;
    wg_real s = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        s = wg_let(t, wg_add(s, wg_div(1, wg_hypot(wg_sub(x[i], 2), wg_sub(x[i + 1], 0.5)))));
    y[0] = wg_let(t, wg_mul(s, wg_exp(wg_mul(x[0], x[n - 1]))));
    return WG_OK;
}

static inline size_t operations(const wg_function *f) {
    wg_function_stats s;
    assert_int_equal(wg_function_statistics(f, &s), WG_OK);
    return s.once + s.each + s.after;
}

#endif
