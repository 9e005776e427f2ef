/* SPDX-License-Identifier: MIT */
/* functions.c - the side of a problem that evaluates functions: what is made of the function when
 * it is first asked for, and where inputs and results of an evaluation stand.
 *
 * Derivatives have the inputs of the function and behind them weights of its outputs, directions of
 * its inputs (derive.h); so they are known by their place. */
#include "internal.h"
#include <stdlib.h>

size_t wgi_problem_first(const wg_problem *p, size_t group) {
    size_t first = 0;
    for (size_t k = 0; k < group; k++) first += p->group[k];
    return first;
}

static size_t entries(const wg_argument *a) { return a->rows * a->cols; }

wg_status wgi_problem_record(wg_problem *p, const double *x) {
    wg_argument in[WGI_MOST], out = {"y", p->m, 1, 0};
    if (p->function != NULL) return WG_OK;
    for (size_t k = 0; k < p->groups; k++) in[k] = (wg_argument){NULL, p->group[k], 1, 0};
    const wg_status s = wg_function_record(p->tape, p->callback, p->data, p->groups, in,
                                           p->x != NULL ? p->x : x, 1, &out, &p->own);
    if (s != WG_OK) return wgi_problem_fail(p, s);
    p->function = p->own;
    return WG_OK;
}

/* ---- what is made of it ------------------------------------------------------------------- */

/* Replaces *f by the same function with other flags for inputs first .. last - 1. */
static wg_status flagged(wg_tape *t, wg_function **f, size_t first, size_t last,
                         unsigned flags) {
    wg_status s = WG_OK;
    for (size_t k = first; k < last && s == WG_OK; k++) {
        wg_function *g = NULL;
        const wg_argument *const a = wg_function_input(*f, k);
        if (a->flags == flags) continue;
        s = wg_function_flag(t, *f, a->name, flags, &g);
        if (s != WG_OK) break;
        wg_function_free(*f);
        *f = g;
    }
    return s;
}

static wg_status value_and_gradient(wg_tape *t, const wg_function *f, wg_function **out) {
    wg_function *g = NULL;
    wg_status s = wg_function_gradient(t, f, &g);
    if (s == WG_OK) s = wg_function_join(t, 2, (const wg_function *const[]){f, g}, out);
    wg_function_free(g);
    return s;
}

/* By the inputs of one group: the others are passive. */
static wg_status jacobian(wg_tape *t, const wg_function *f, size_t group, wg_function **out) {
    const size_t inputs = wg_function_inputs(f);
    wg_function *g = NULL;
    wg_status s = wg_function_join(t, 1, &f, &g);
    if (s == WG_OK) s = flagged(t, &g, 0, group, WG_PASSIVE);
    if (s == WG_OK) s = flagged(t, &g, group + 1, inputs, WG_PASSIVE);
    if (s == WG_OK) s = wg_function_jacobian(t, g, out);
    wg_function_free(g);
    return s;
}

/* Products in lanes: the first `shared` inputs are the same in all of them, the others are not. */
static wg_status lanes(wg_tape *t, wg_status s, size_t shared, wg_function **out) {
    if (s == WG_OK) s = flagged(t, out, 0, shared, WG_SHARED);
    if (s == WG_OK) s = flagged(t, out, shared, wg_function_inputs(*out), 0);
    return s;
}

static int has_weights(const wg_function *f) {
    return wg_function_outputs(f) != 1 || entries(wg_function_output(f, 0)) != 1;
}

static wg_status made(wg_tape *t, const wg_function *f, wgi_kind kind, wg_function **out) {
    const size_t in = wg_function_inputs(f);
    const size_t weights = has_weights(f) ? wg_function_outputs(f) : 0;
    switch (kind) {
    case WGI_GRADIENT:
        return value_and_gradient(t, f, out);
    case WGI_JVP:
        return wg_function_jvp(t, f, out);
    case WGI_VJP:
        return wg_function_vjp(t, f, out);
    case WGI_HVP:
        return wg_function_hvp(t, f, out);
    case WGI_TAYLOR:
        return wg_function_taylor(t, f, 2, out);
    case WGI_LANES_JVP:
        return lanes(t, wg_function_jvp(t, f, out), in, out);
    case WGI_LANES_VJP:
        return lanes(t, wg_function_vjp(t, f, out), in, out);
    case WGI_LANES_HVP:
        return lanes(t, wg_function_hvp(t, f, out), in + weights, out);
    case WGI_VALUE:
        return wg_function_join(t, 1, &f, out);
    default:
        return jacobian(t, f, kind - WGI_JACOBIAN, out);
    }
}

static void forget(wgi_derived *d) {
    wg_function_free(d->function);
    free(d->work);
    *d = (wgi_derived){NULL, NULL};
}

void wgi_problem_forget(wg_problem *p) {
    for (size_t k = 0; k < WGI_KINDS; k++) forget(&p->derived[k]);
}

wg_status wgi_problem_derive(wg_problem *p, wgi_kind kind) {
    wgi_derived *const d = &p->derived[kind];
    wg_function *f = NULL, *native = NULL;
    if (d->function != NULL) return WG_OK;
    wg_status s = made(p->tape, p->function, kind, &f);
    if (s == WG_OK && p->flags & WG_COMPILE) {
        s = wg_function_compile(p->tape, f, NULL, &native, NULL);
        wg_function_free(f);
        f = native;
    }
    if (s != WG_OK) {
        wg_function_free(f);
        return wgi_problem_fail(p, s);
    }
    *d = (wgi_derived){f, NULL};
    const size_t work = (wg_function_work(f, NULL) + 63) / 64 * 64;
    d->work = aligned_alloc(64, work + 64);
    if (d->work == NULL) {
        forget(d);
        return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    }
    return WG_OK;
}

/* ---- an evaluation ------------------------------------------------------------------------ */

/* Arrays of inputs and results as they are put together: who stands at which place. */
typedef struct places {
    wg_points x[WGI_MOST_ARGUMENTS];
    wg_results y[WGI_MOST_ARGUMENTS];
    size_t inputs, outputs;
} places;

/* One input of so many entries, in lanes or not. NULL: all 0. */
static void give(places *at, const double *data, size_t first, size_t lanes_) {
    const size_t apart = lanes_ != 0 ? lanes_ : 1;
    at->x[at->inputs++] =
        (wg_points){data == NULL ? NULL : data + first * apart, lanes_ != 0, (ptrdiff_t)apart};
}
static void take(places *at, double *data, size_t first, size_t lanes_) {
    const size_t apart = lanes_ != 0 ? lanes_ : 1;
    at->y[at->outputs++] =
        (wg_results){data == NULL ? NULL : data + first * apart, lanes_ != 0, (ptrdiff_t)apart};
}

/* All inputs of the function, or all outputs times `each`, one after the other. */
static void give_inputs(places *at, const wg_function *f, const double *data, size_t lanes_) {
    for (size_t k = 0, first = 0; k < wg_function_inputs(f); k++) {
        give(at, data, first, lanes_);
        first += entries(wg_function_input(f, k));
    }
}
static void give_outputs(places *at, const wg_function *f, const double *data, size_t lanes_) {
    for (size_t k = 0, first = 0; k < wg_function_outputs(f); k++) {
        give(at, data, first, lanes_);
        first += entries(wg_function_output(f, k));
    }
}
static void take_inputs(places *at, const wg_function *f, double *data, size_t lanes_) {
    for (size_t k = 0, first = 0; k < wg_function_inputs(f); k++) {
        take(at, data, first, lanes_);
        first += entries(wg_function_input(f, k));
    }
}
static void take_outputs(places *at, const wg_function *f, double *data, size_t each,
                         size_t lanes_) {
    for (size_t k = 0, first = 0; k < wg_function_outputs(f); k++) {
        take(at, data, first * each, lanes_);
        first += entries(wg_function_output(f, k));
    }
}

static void put_together(const wg_problem *p, const wgi_question *q, places *at) {
    const wg_function *const f = p->function;
    at->inputs = at->outputs = 0;
    give_inputs(at, f, q->x, 0);
    switch (q->kind) {
    case WGI_VALUE:
        take_outputs(at, f, q->y, 1, 0);
        break;
    case WGI_GRADIENT:
        take_outputs(at, f, q->y, 1, 0);
        take_inputs(at, f, q->to, 0);
        break;
    case WGI_JVP:
    case WGI_LANES_JVP:
        give_inputs(at, f, q->v, q->lanes);
        take_outputs(at, f, q->to, 1, q->lanes);
        break;
    case WGI_VJP:
    case WGI_LANES_VJP:
        give_outputs(at, f, q->w, q->lanes);
        take_inputs(at, f, q->to, q->lanes);
        break;
    case WGI_HVP:
    case WGI_LANES_HVP:
        if (has_weights(f)) give_outputs(at, f, q->w, 0);
        give_inputs(at, f, q->v, q->lanes);
        take_inputs(at, f, q->to, q->lanes);
        break;
    case WGI_TAYLOR:
        give_inputs(at, f, q->v, 0);
        take_outputs(at, f, q->to, 3, 0);
        break;
    default:
        take_outputs(at, f, q->to, p->group[q->kind - WGI_JACOBIAN], 0);
    }
}

wg_status wgi_problem_ask(wg_problem *p, const wgi_question *q) {
    places at;
    wg_function_guard guard = {0, 0};
    wg_status s = wgi_problem_derive(p, q->kind);
    if (s != WG_OK) return s;
    put_together(p, q, &at);
    const wgi_derived *const d = &p->derived[q->kind];
    s = wg_function_evaluate(d->function, q->lanes != 0 ? q->lanes : 1, at.x, at.y, NULL,
                             d->work, &guard);
    if (s == WG_EGUARD && p->callback == NULL)
        return wgi_problem_refuse(p, s, "comparison %zu of the function comes out differently",
                                  guard.guard);
    return s == WG_OK || s == WG_EGUARD ? s : wgi_problem_refuse(p, s, "%s", wg_status_text(s));
}
