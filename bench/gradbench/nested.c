/* SPDX-License-Identifier: MIT */
/* nested.c - a derivative as a function that is called in recordings: reverse, the gradient of
 * one; forward, a product with its Jacobian for each direction. */
#include "nested.h"

enum { MOST_ARGUMENTS = 4 };

/* Frees f: its derivative by the first input, with all inputs active again. */
static wg_function *derivative(wg_tape *t, wg_function *f, enum gb_mode mode) {
    wg_function *d = NULL, *active = NULL;
    if (f == NULL ||
        (mode == GB_FORWARD ? wg_function_jvp : wg_function_gradient)(t, f, &d) != WG_OK)
        d = NULL;
    for (size_t k = 1; d != NULL && k < wg_function_inputs(f); k++) {
        if (wg_function_flag(t, d, wg_function_input(f, k)->name, 0, &active) != WG_OK)
            active = NULL;
        wg_function_free(d);
        d = active;
    }
    wg_function_free(f);
    return d;
}

int gb_slope_open(struct gb_slope *s, wg_tape *t, wg_function *f, enum gb_mode mode,
                  struct gb_error *e) {
    *s = (struct gb_slope){.mode = mode};
    wg_function *const d = derivative(t, f, mode);
    if (d != NULL && wg_callable_new(t, d, &s->call) == WG_OK)
        s->n = wg_function_input(d, 0)->rows;
    wg_function_free(d);
    return s->call != NULL ? 0 : gb_status(e, wg_tape_status(t), t);
}

void gb_slope_call(wg_tape *t, const struct gb_slope *s, const wg_mat *x, wg_real *g) {
    size_t inputs = wg_function_inputs(wg_callable_function(s->call));
    wg_mat at[MOST_ARGUMENTS], y;
    if (s->mode == GB_FORWARD) inputs--; /* the last one is the direction */
    for (size_t k = 0; k < inputs && k + 1 < MOST_ARGUMENTS; k++) at[k] = x[k];
    if (s->mode == GB_REVERSE) {
        wg_call(t, s->call, at, &y);
        for (size_t i = 0; i < s->n; i++) g[i] = wg_mat_at(y, i, 0);
        return;
    }
    const wg_mat unit = wg_mat_identity(t, s->n);
    for (size_t i = 0; i < s->n; i++) {
        at[inputs] = wg_mat_col(unit, i);
        wg_call(t, s->call, at, &y);
        g[i] = wg_mat_at(y, 0, 0);
    }
}

void gb_slope_close(struct gb_slope *s) { wg_callable_free(s->call); }
