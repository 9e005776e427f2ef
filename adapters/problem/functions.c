/* SPDX-License-Identifier: MIT */
/* functions.c - the side of a problem that evaluates functions: what is made of the function
 * when it is first asked for, and where inputs and results of an evaluation stand.
 *
 * Derivatives have the inputs of the function and behind them weights of its outputs,
 * directions of its inputs (derive.h); so they are known by their place. */
#include "internal.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Operations up to which functions are compiled for one point. */
enum { MOST_OPERATIONS = 4000 };

size_t wgi_problem_first(const wg_problem *p, size_t group) {
    size_t first = 0;
    for (size_t k = 0; k < group; k++) first += p->group[k];
    return first;
}

static size_t entries(const wg_argument *a) { return a->rows * a->cols; }

wg_status wgi_problem_record(wg_problem *p, const double *x) {
    wg_argument in[WGI_MOST], out = {"y", p->m, 1, 0};
    if (p->function != NULL) return WG_OK;
    double *const at = wgi_problem_scratch(p, p->n + p->parameters);
    if (at == NULL) return p->status;
    if (p->n != 0) memcpy(at, p->x != NULL ? p->x : x, p->n * sizeof *at);
    if (p->parameters != 0) memcpy(at + p->n, p->parameter, p->parameters * sizeof *at);
    for (size_t k = 0; k < p->groups; k++) in[k] = (wg_argument){NULL, p->group[k], 1, 0};
    const size_t inputs = p->groups + (p->parameters != 0);
    if (inputs != p->groups) in[p->groups] = (wg_argument){NULL, p->parameters, 1, WG_PASSIVE};
    const wg_status s = wg_function_record(p->tape, p->users_callback, p->users_data, inputs,
                                           in, at, 1, &out, &p->own);
    if (s != WG_OK) return wgi_problem_fail(p, s);
    if (wgi_problem_keep_point(p, p->n + p->parameters, at, &p->recorded) != WG_OK) {
        wg_function_free(p->own);
        p->own = NULL;
        return p->status;
    }
    p->function = p->own;
    wgi_problem_measure(p);
    return WG_OK;
}

void wgi_problem_measure(wg_problem *p) {
    const wg_function *const f = p->function;
    size_t parameters = 0;
    p->all = wg_function_inputs(f), p->inputs = 0, p->outputs = wg_function_outputs(f);
    for (size_t k = 0; k < p->all; k++) {
        const wg_argument *const a = wg_function_input(f, k);
        p->passive[k] = (a->flags & WG_PASSIVE) != 0;
        p->place[k] = p->passive[k] ? parameters : p->input[p->inputs];
        if (p->passive[k]) parameters += entries(a);
        else p->inputs++, p->input[p->inputs] = p->place[k] + entries(a);
    }
    for (size_t k = 0; k < p->outputs; k++)
        p->output[k + 1] = p->output[k] + entries(wg_function_output(f, k));
}

/* ---- what is made of it ------------------------------------------------------------------ */

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
    wg_function *g = NULL;
    wg_status s = wg_function_join(t, 1, &f, &g);
    for (size_t k = 0, seen = 0; k < wg_function_inputs(f) && s == WG_OK; k++)
        if (!(wg_function_input(f, k)->flags & WG_PASSIVE) && seen++ != group)
            s = flagged(t, &g, k, k + 1, WG_PASSIVE);
    if (s == WG_OK) s = wg_function_jacobian(t, g, out);
    wg_function_free(g);
    return s;
}

/* Products in lanes: the first `shared` inputs are the same in all of them, the others are
 * not. */
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

static int in_lanes(wgi_kind kind) {
    return kind == WGI_LANES_JVP || kind == WGI_LANES_VJP || kind == WGI_LANES_HVP;
}

static void forget(wgi_derived *d) {
    wg_function_free(d->function);
    free(d->work);
    memset(d, 0, sizeof *d);
}

void wgi_problem_forget(wg_problem *p) {
    for (size_t k = 0; k < WGI_KINDS; k++) forget(&p->derived[k]);
}

/* Replaces *f by the same function, compiled: for one point, unless it is evaluated in lanes or
 * so large that a compiler takes more than a second for it. */
static wg_status compiled(wg_tape *t, wgi_kind kind, wg_function **f) {
    wg_function_stats of;
    wg_function *native = NULL;
    wg_status s = wg_function_statistics(*f, &of);
    if (s != WG_OK) return s;
    const int large = of.once + of.each + of.after > MOST_OPERATIONS;
    s = in_lanes(kind) || large ? wg_function_compile(t, *f, NULL, &native, NULL)
                                : wg_function_compile_point(t, *f, NULL, &native, NULL);
    if (s != WG_OK) return s;
    wg_function_free(*f);
    *f = native;
    return WG_OK;
}

wg_status wgi_problem_derive(wg_problem *p, wgi_kind kind) {
    wgi_derived *const d = &p->derived[kind];
    wg_function *f = NULL;
    if (d->function != NULL) return WG_OK;
    wg_status s = made(p->tape, p->function, kind, &f);
    if (s == WG_OK && p->flags & WG_COMPILE) s = compiled(p->tape, kind, &f);
    if (s != WG_OK) {
        wg_function_free(f);
        return wgi_problem_fail(p, s);
    }
    d->function = f, d->point = wg_function_point(f);
    d->asked.lanes = SIZE_MAX; /* nothing yet */
    const size_t work = (wg_function_work(f, NULL) + 63) / 64 * 64;
    d->work = aligned_alloc(64, work + 64);
    if (d->work == NULL) {
        forget(d);
        return wgi_problem_refuse(p, WG_ENOMEM, "out of memory");
    }
    return WG_OK;
}

/* ---- an evaluation ----------------------------------------------------------------------- */

/* Parts of an array over all inputs, or all outputs; NULL: all 0, or not wanted. `each`
 * numbers for an entry. */
static void give(wgi_places *at, size_t count, const size_t *first, const double *data,
                 size_t each) {
    for (size_t k = 0; k < count; k++)
        at->x[at->inputs++] = data == NULL ? NULL : data + first[k] * each;
}
static void take(wgi_places *at, size_t count, const size_t *first, double *data, size_t each) {
    for (size_t k = 0; k < count; k++)
        at->y[at->outputs++] = data == NULL ? NULL : data + first[k] * each;
}

static void put_together(const wg_problem *p, const wgi_question *q, wgi_places *at) {
    const size_t apart = q->lanes != 0 ? q->lanes : 1;
    at->inputs = at->outputs = 0;
    at->apart = apart;
    for (size_t k = 0; k < p->all; k++) at->x[at->inputs++] = wgi_problem_input(p, k, q->x);
    at->shared = at->inputs;
    switch (q->kind) {
    case WGI_VALUE:
        take(at, p->outputs, p->output, q->y, 1);
        break;
    case WGI_GRADIENT:
        take(at, p->outputs, p->output, q->y, 1);
        take(at, p->inputs, p->input, q->to, 1);
        break;
    case WGI_JVP:
    case WGI_LANES_JVP:
        give(at, p->inputs, p->input, q->v, apart);
        take(at, p->outputs, p->output, q->to, apart);
        break;
    case WGI_VJP:
    case WGI_LANES_VJP:
        give(at, p->outputs, p->output, q->w, apart);
        take(at, p->inputs, p->input, q->to, apart);
        break;
    case WGI_HVP:
    case WGI_LANES_HVP:
        if (p->outputs != 1 || p->output[1] != 1) give(at, p->outputs, p->output, q->w, 1);
        at->shared = at->inputs;
        give(at, p->inputs, p->input, q->v, apart);
        take(at, p->inputs, p->input, q->to, apart);
        break;
    case WGI_TAYLOR:
        give(at, p->inputs, p->input, q->v, 1);
        take(at, p->outputs, p->output, q->to, 3);
        break;
    default:
        take(at, p->outputs, p->output, q->to, p->group[q->kind - WGI_JACOBIAN]);
    }
}

static wg_status evaluated(const wgi_derived *d, const wgi_question *q, const wgi_places *at,
                           wg_function_guard *guard) {
    wg_points x[WGI_MOST_ARGUMENTS];
    wg_results y[WGI_MOST_ARGUMENTS];
    const ptrdiff_t lane = q->lanes != 0, apart = (ptrdiff_t)at->apart;
    for (size_t k = 0; k < at->inputs; k++)
        x[k] =
            k < at->shared ? (wg_points){at->x[k], 0, 1} : (wg_points){at->x[k], lane, apart};
    for (size_t k = 0; k < at->outputs; k++) y[k] = (wg_results){at->y[k], lane, apart};
    return wg_function_evaluate(d->function, q->lanes != 0 ? q->lanes : 1, x, y, NULL, d->work,
                                guard);
}

/* Solvers ask at the same places again and again. */
static int same(const wgi_question *a, const wgi_question *b) {
    return a->x == b->x && a->w == b->w && a->v == b->v && a->y == b->y && a->to == b->to &&
           a->lanes == b->lanes;
}

wg_status wgi_problem_ask(wg_problem *p, const wgi_question *q) {
    wgi_derived *const d = &p->derived[q->kind];
    wg_function_guard guard = {0, 0};
    wg_status s = d->function != NULL ? WG_OK : wgi_problem_derive(p, q->kind);
    if (s != WG_OK) return s;
    if (!same(q, &d->asked)) {
        put_together(p, q, &d->at);
        d->asked = *q;
    }
    if (d->point != NULL) {
        const int said = d->point(d->at.x, d->at.y);
        s = said == 0 ? WG_OK : WG_EGUARD;
        guard.guard = (size_t)(said - 1);
    } else s = evaluated(d, q, &d->at, &guard);
    if (s == WG_OK || (s == WG_EGUARD && p->callback != NULL)) return s;
    return s == WG_EGUARD
               ? wgi_problem_refuse(
                     p, s, "comparison %zu of the function comes out differently", guard.guard)
               : wgi_problem_refuse(p, s, "%s", wg_status_text(s));
}
