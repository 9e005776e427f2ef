/* SPDX-License-Identifier: MIT */
/* What is integrated: from functions of the user's to a flow with its adjoint, and the same
 * with tangents.
 *
 *     flow    (y, r)' = (f, g)(t, y, p)
 *     dual    the same, and (yt, rt)' = (f, g)_y yt + (f, g)_p pt */
#include "ode_solve.h"

#include "tape/function/graph/builder.h"

#include <wengert/derive.h>

#include <string.h>

/* ---- the user's functions ---------------------------------------------------------------- */

static wg_status refuse_shape(wgi_core *c, const char *what, const wg_argument *a,
                              const char *wanted) {
    return wgi_refuse(c, WG_ESHAPE, "wg_ode_new: %s (%s) is %zux%zu, not %s", what, a->name,
                      a->rows, a->cols, wanted);
}

static wg_status check(wgi_core *c, const wg_function *f, const char *what) {
    if (f->inputs < 2 || f->inputs > 3 || f->outputs != 1)
        return wgi_refuse(c, WG_ESHAPE,
                          "wg_ode_new: the %s has %zu inputs and %zu outputs: the time, the "
                          "states, and perhaps parameters are to give one output",
                          what, f->inputs, f->outputs);
    for (size_t i = 0; i < f->inputs; i++)
        if (wgi_argument_shared(&f->input[i]))
            return wgi_refuse(c, WG_EARG, "wg_ode_new: input %zu of the %s (%s) is WG_SHARED",
                              i, what, f->input[i].name);
    if (wgi_argument_summed(&f->output[0]))
        return wgi_refuse(c, WG_EARG, "wg_ode_new: the output of the %s (%s) is WG_SUMMED",
                          what, f->output[0].name);
    if (wgi_argument_size(&f->input[0]) != 1)
        return refuse_shape(c, "the time", &f->input[0], "one number");
    return WG_OK;
}

static size_t params_of(const wg_function *f) {
    return f->inputs == 3 ? wgi_argument_size(&f->input[2]) : 0;
}

/* A function beside the right-hand side; NULL: there is none. */
static wg_status check_beside(wgi_core *c, const wg_function *f, const wg_function *g,
                              const char *what) {
    if (g == NULL) return WG_OK;
    const wg_status s = check(c, g, what);
    if (s != WG_OK) return s;
    if (g->inputs != f->inputs ||
        wgi_argument_size(&g->input[1]) != wgi_argument_size(&f->input[1]) ||
        params_of(g) != params_of(f))
        return wgi_refuse(c, WG_ESHAPE,
                          "wg_ode_new: the %s has other inputs than the right-hand side", what);
    return WG_OK;
}

static wg_status check_system(wgi_core *c, const wg_ode_system *system) {
    const wg_function *const f = system->rhs;
    wg_status s = check(c, f, "right-hand side");
    if (s != WG_OK) return s;
    const size_t n = wgi_argument_size(&f->input[1]);
    if (wgi_argument_size(&f->output[0]) != n)
        return wgi_refuse(c, WG_ESHAPE,
                          "wg_ode_new: the right-hand side gives %zu numbers for %zu states",
                          wgi_argument_size(&f->output[0]), n);
    s = check_beside(c, f, system->integrand, "integrand");
    if (s == WG_OK) s = check_beside(c, f, system->event, "event");
    if (s == WG_OK) s = check_beside(c, f, system->jump, "jump");
    if (s != WG_OK || (system->event == NULL && system->jump == NULL)) return s;
    if (system->event == NULL || system->jump == NULL)
        return wgi_refuse(c, WG_ENULL, "wg_ode_new: of event and jump one is NULL");
    if (wgi_argument_size(&system->event->output[0]) != 1)
        return refuse_shape(c, "the event", &system->event->output[0], "one number");
    if (wgi_argument_size(&system->jump->output[0]) != n)
        return wgi_refuse(c, WG_ESHAPE, "wg_ode_new: the jump gives %zu numbers for %zu states",
                          wgi_argument_size(&system->jump->output[0]), n);
    return system->second
               ? wgi_refuse(c, WG_EARG, "wg_ode_new: events have no second derivatives")
               : WG_OK;
}

/* A copy whose arguments have our names, are columns, and are all differentiated. */
static wg_status take(wg_tape *t, const wg_function *f, const char *result, wg_function **out) {
    static const char *const names[] = {"t", "y", "p"};
    const wg_status s = wg_function_join(t, 1, &f, out);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < f->inputs; i++)
        (*out)->input[i] = (wg_argument){names[i], wgi_argument_size(&f->input[i]), 1, 0};
    (*out)->output[0] = (wg_argument){result, wgi_argument_size(&f->output[0]), 1, 0};
    return WG_OK;
}

/* ---- flows ------------------------------------------------------------------------------- */

/* Dense Jacobians are evaluated in lanes, stages side by side, but all of their entries are
 * written and read, also those that are 0. With more of them than SMALL they are not worth
 * their room, and with more than operations of a vector-Jacobian product not their time, the
 * call of which takes about that of CALL. */
enum { SMALL = 2048, CALL = 100 };

static int is_worth_jacobians(const wgi_ode_flow *f) {
    const size_t entries = f->states * f->gradient;
    wg_function_stats vjp;
    return entries <= SMALL && wg_function_statistics(f->vjp, &vjp) == WG_OK &&
           entries <= CALL + vjp.each;
}

static void count_gradient(wgi_ode_flow *f) {
    f->gradient = 0;
    for (size_t i = 0; i < f->inputs; i++) f->gradient += f->in[i].size;
}

/* The adjoint of a flow whose f is there. */
static wg_status add_adjoint(wg_tape *t, wgi_ode_flow *f, int stiff) {
    count_gradient(f);
    wg_status s = wg_function_vjp(t, f->f, &f->vjp);
    f->by_jacobian = s == WG_OK && is_worth_jacobians(f);
    if (s == WG_OK && (stiff || f->by_jacobian))
        s = wg_function_jacobian(t, f->f, &f->jacobian);
    if (s == WG_OK && stiff) s = wg_function_hvp(t, f->f, &f->hvp);
    f->weightless = f->hvp != NULL && f->hvp->inputs == 2 * f->inputs;
    return s;
}

static wg_status make_flow(wg_tape *t, const wg_ode_system *system, wg_ode *k) {
    wgi_ode_flow *const f = &k->flow;
    wg_function *parts[2] = {NULL, NULL};
    wg_status s = take(t, system->rhs, "f", &parts[0]);
    if (s == WG_OK && system->integrand != NULL) s = take(t, system->integrand, "g", &parts[1]);
    if (s == WG_OK && parts[1] == NULL) {
        f->f = parts[0];
        parts[0] = NULL;
    } else if (s == WG_OK) {
        s = wg_function_join(t, 2, (const wg_function *const *)parts, &f->f);
    }
    for (size_t i = 0; i < 2; i++) wg_function_free(parts[i]);
    if (s != WG_OK) return s;
    f->states = k->n + k->integrals, f->params = k->params, f->tested = k->n;
    f->inputs = f->f->inputs, f->outputs = f->f->outputs;
    f->in[0] = (wgi_ode_part){WGI_ODE_TIME, 0, 1};
    f->in[1] = (wgi_ode_part){WGI_ODE_STATE, 0, k->n};
    f->in[2] = (wgi_ode_part){WGI_ODE_PARAM, 0, k->params};
    f->out[0] = (wgi_ode_part){WGI_ODE_STATE, 0, k->n};
    f->out[1] = (wgi_ode_part){WGI_ODE_STATE, k->n, k->integrals};
    return add_adjoint(t, f, k->stiff);
}

static wg_status make_events(wg_tape *t, const wg_ode_system *system, wgi_ode_flow *f) {
    if (system->event == NULL) return WG_OK;
    wg_status s = take(t, system->event, "e", &f->event);
    if (s == WG_OK) s = wg_function_vjp(t, f->event, &f->event_vjp);
    if (s == WG_OK) s = take(t, system->jump, "j", &f->jump);
    if (s == WG_OK) s = wg_function_vjp(t, f->jump, &f->jump_vjp);
    return s;
}

static wg_status make_dual(wg_tape *t, wg_ode *k) {
    const wgi_ode_flow *const f = &k->flow;
    wgi_ode_flow *const d = &k->dual;
    wg_function *both[2] = {f->f, NULL};
    f->f->input[0].flags = WG_PASSIVE; /* no tangent of the time */
    wg_status s = wg_function_jvp(t, f->f, &both[1]);
    if (s == WG_OK) s = wg_function_join(t, 2, (const wg_function *const *)both, &d->f);
    wg_function_free(both[1]);
    f->f->input[0].flags = 0;
    if (s != WG_OK) return s;
    d->f->input[0].flags = 0;
    *d = (wgi_ode_flow){.f = d->f,
                        .states = 2 * f->states,
                        .params = 2 * f->params,
                        .tested = f->tested,
                        .inputs = 2 * f->inputs - 1,
                        .outputs = 2 * f->outputs};
    memcpy(d->in, f->in, sizeof d->in);
    memcpy(d->out, f->out, sizeof d->out);
    for (size_t i = 1; i < f->inputs; i++) {
        d->in[f->inputs + i - 1] = f->in[i];
        d->in[f->inputs + i - 1].at += f->in[i].role == WGI_ODE_STATE ? f->states : f->params;
    }
    for (size_t o = 0; o < f->outputs; o++) {
        d->out[f->outputs + o] = f->out[o];
        d->out[f->outputs + o].at += f->states;
    }
    count_gradient(d);
    if (k->second) return add_adjoint(t, d, k->stiff);
    return k->stiff ? wg_function_jacobian(t, d->f, &d->jacobian) : WG_OK;
}

/* Does no result in [from, to) depend on an entry in [first, last)? */
static int independent(wg_tape *t, const wg_function *f, size_t first, size_t last, size_t from,
                       size_t to, int *out) {
    unsigned char *const depends = wg_tape_keep(t, f->nodes + 1, NULL);
    if (depends == NULL) return 0;
    memset(depends, 0, f->nodes);
    for (size_t i = first; i < last; i++) depends[i] = 1;
    wgi_mark_dependent(f->nodes, f->node, f->operand, depends);
    for (size_t j = from; j < to; j++)
        if (depends[f->result[j]]) *out = 0;
    return 1;
}

static wg_status find_halves(wg_tape *t, wg_ode *k) {
    const size_t half = k->n / 2;
    k->separable = k->n % 2 == 0;
    if (!k->separable) return WG_OK;
    if (!independent(t, k->flow.f, 1, 1 + half, 0, half, &k->separable) ||
        !independent(t, k->flow.f, 1 + half, 1 + k->n, half, k->n, &k->separable))
        return wg_tape_status(t);
    wg_tape_reset(t);
    return WG_OK;
}

/* ---- life -------------------------------------------------------------------------------- */

static wg_status obtain(wgi_core *c, const char *call, wg_ode **out) {
    wgi_home home;
    void *base;
    const wg_status s = wgi_home_obtain(c, sizeof **out, &home, &base);
    if (s != WG_OK) return wgi_refuse(c, s, "%s: no memory", call);
    *out = memset(base, 0, sizeof **out);
    (*out)->home = home;
    return WG_OK;
}

wg_status wg_ode_new(wg_tape *t, const wg_ode_system *system, wg_ode **out) {
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "wg_ode_new: out is NULL");
    if (system == NULL) return wgi_refuse(c, WG_ENULL, "wg_ode_new: the system is NULL");
    if (system->rhs == NULL)
        return wgi_refuse(c, WG_ENULL, "wg_ode_new: the right-hand side is NULL");
    wg_status s = check_system(c, system);
    wg_ode *k = NULL;
    if (s == WG_OK) s = obtain(c, "wg_ode_new", &k);
    if (s != WG_OK) return s;
    k->n = wgi_argument_size(&system->rhs->input[1]);
    k->params = params_of(system->rhs);
    k->stiff = system->stiff != 0;
    k->second = system->second != 0;
    if (system->integrand != NULL)
        k->integrals = wgi_argument_size(&system->integrand->output[0]);
    s = make_flow(t, system, k);
    if (s == WG_OK) s = make_events(t, system, &k->flow);
    if (s == WG_OK && system->event == NULL) s = make_dual(t, k);
    if (s == WG_OK) s = find_halves(t, k);
    if (s == WG_OK) *out = k;
    else wg_ode_free(k);
    return s;
}

static void free_flow(wgi_ode_flow *f) {
    wg_function_free(f->f);
    wg_function_free(f->vjp);
    wg_function_free(f->jacobian);
    wg_function_free(f->hvp);
    wg_function_free(f->event);
    wg_function_free(f->event_vjp);
    wg_function_free(f->jump);
    wg_function_free(f->jump_vjp);
}

void wg_ode_free(wg_ode *k) {
    if (k == NULL) return;
    wgi_ode_nodes_free(k);
    free_flow(&k->flow);
    free_flow(&k->dual);
    wgi_home_release(&k->home, k);
}

/* ---- compiled ---------------------------------------------------------------------------- */

static wg_status compile_one(wg_tape *t, const wg_function *f,
                             const wg_compile_options *options, wg_function **out,
                             wg_compiled *all) {
    wg_compiled one;
    if (f == NULL) return WG_OK;
    const wg_status s = wg_function_compile(t, f, options, out, &one);
    if (s != WG_OK || f->each == 0) return s;
    all->cached = all->cached && one.cached;
    if (!one.native && all->native) memcpy(all->why, one.why, sizeof all->why);
    all->native = all->native && one.native;
    return WG_OK;
}

static wg_status compile_flow(wg_tape *t, const wgi_ode_flow *f,
                              const wg_compile_options *options, wgi_ode_flow *out,
                              wg_compiled *all) {
    *out = *f;
    out->f = out->vjp = out->jacobian = out->hvp = NULL;
    out->event = out->event_vjp = out->jump = out->jump_vjp = NULL;
    wg_status s = compile_one(t, f->f, options, &out->f, all);
    if (s == WG_OK) s = compile_one(t, f->vjp, options, &out->vjp, all);
    if (s == WG_OK) s = compile_one(t, f->jacobian, options, &out->jacobian, all);
    if (s == WG_OK) s = compile_one(t, f->hvp, options, &out->hvp, all);
    if (s == WG_OK) s = compile_one(t, f->event, options, &out->event, all);
    if (s == WG_OK) s = compile_one(t, f->event_vjp, options, &out->event_vjp, all);
    if (s == WG_OK) s = compile_one(t, f->jump, options, &out->jump, all);
    if (s == WG_OK) s = compile_one(t, f->jump_vjp, options, &out->jump_vjp, all);
    return s;
}

wg_status wg_ode_compile(wg_tape *t, const wg_ode *k, const wg_compile_options *options,
                         wg_ode **out, wg_compiled *compiled) {
    wg_compiled here;
    if (compiled == NULL) compiled = &here;
    memset(compiled, 0, sizeof *compiled);
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "wg_ode_compile: out is NULL");
    if (k == NULL) return wgi_refuse(c, WG_ENULL, "wg_ode_compile: the system is NULL");
    wg_ode *made;
    wg_status s = obtain(c, "wg_ode_compile", &made);
    if (s != WG_OK) return s;
    const wgi_home home = made->home;
    memcpy(made, k, sizeof *made);
    made->home = home;
    atomic_init(&made->node_calls, NULL);
    memset(&made->flow, 0, sizeof made->flow);
    memset(&made->dual, 0, sizeof made->dual);
    compiled->native = compiled->cached = 1;
    s = compile_flow(t, &k->flow, options, &made->flow, compiled);
    if (s == WG_OK) s = compile_flow(t, &k->dual, options, &made->dual, compiled);
    if (k->flow.f->each == 0) compiled->native = 0; /* there is nothing to compile */
    if (!compiled->native) compiled->cached = 0;
    if (s == WG_OK) *out = made;
    else wg_ode_free(made);
    return s;
}
