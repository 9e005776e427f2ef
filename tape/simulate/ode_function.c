/* SPDX-License-Identifier: MIT */
/* A solution as a part of a function: explicit steps of fixed size are written out, operation
 * by operation in the order of ode_step.c, so that the bits are the same. All others, which
 * choose their steps, or solve systems, at every point, and more steps than are worth it, are
 * one node (ode_node.c). */
#include "ode_solve.h"

#include "tape/engine/tape.h"
#include "tape/function/graph/repeat.h"

#include <string.h>

/* More nodes are too many to be written out. */
enum { MOST_NODES = 1 << 22 };

typedef struct writing {
    wgi_graph *g;
    const wgi_ode_call *call;
    const uint32_t *p;     /* columns of parameters */
    uint32_t *y, *at;      /* the states, and those at a stage */
    uint32_t *k;           /* increments, one stage after the other */
    uint32_t *f, *operand; /* the nodes of the right-hand side; those of one of its nodes */
} writing;

/* Takes the right-hand side over: k = f(T, at, p). */
static void take(const writing *w, double T, size_t column, uint32_t *k) {
    const wgi_ode_flow *const flow = &w->call->k->flow;
    const wg_function *const f = flow->f;
    uint32_t *to = w->f;
    for (size_t i = 0; i < flow->inputs; i++)
        for (size_t e = 0; e < flow->in[i].size; e++)
            *to++ = flow->in[i].role == WGI_ODE_TIME    ? wgi_graph_number(w->g, T)
                    : flow->in[i].role == WGI_ODE_STATE ? w->at[flow->in[i].at + e]
                                                        : w->p[column * flow->params + e];
    for (size_t i = 0; i < f->nodes && w->g->c->status == WG_OK; i++) {
        const wgi_node *const n = &f->node[i];
        if (n->kind == WGI_NODE_INPUT) continue;
        for (uint32_t l = 0; l < n->count; l++) w->operand[l] = w->f[f->operand[n->first + l]];
        w->f[i] = wgi_graph_again(w->g, n, wgi_repeat_of(f, n), w->operand);
    }
    for (size_t i = 0; i < f->guards; i++) {
        const wgi_graph_guard *const c = &f->guard[i];
        wgi_graph_guard_add(w->g, w->f[c->a], w->f[c->b], c->comparison, c->outcome);
    }
    for (size_t j = 0; j < f->m; j++) k[j] = w->f[f->result[j]];
}

/* to += sum of c_j k_j, by stretches as wgi_ode_combine has them. */
static void combine(const writing *w, size_t count, const double *c, const double *d,
                    uint32_t *to) {
    const wgi_ode_flow *const flow = &w->call->k->flow;
    const size_t n = flow->states;
    const size_t stretch = w->call->method->halves ? w->call->k->n / 2 : n;
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < n; i++) {
            const double with = i / stretch % 2 ? d[j] : c[j];
            if (with == 0) continue;
            to[i] = WGI_GRAPH2(
                w->g, add, to[i],
                WGI_GRAPH2(w->g, mul, wgi_graph_number(w->g, with), w->k[j * n + i]));
        }
}

static void step(const writing *w, double t, double h, double t1, size_t column) {
    const wgi_ode_method *const m = w->call->method;
    const size_t n = w->call->k->flow.states;
    for (size_t i = 0; i < m->stages && w->g->c->status == WG_OK; i++) {
        const double T = m->c[i] == 0 ? t : m->c[i] == 1 ? t1 : t + m->c[i] * h;
        memcpy(w->at, w->y, n * sizeof *w->at);
        combine(w, i, m->a[i], m->a2[i], w->at);
        take(w, T, column, w->k + i * n);
        for (size_t l = i * n; l < (i + 1) * n; l++)
            w->k[l] = WGI_GRAPH2(w->g, mul, wgi_graph_number(w->g, h), w->k[l]);
    }
    combine(w, m->stages, m->b, m->b2, w->y);
}

/* All steps; `put` after each of the times. */
static void write_out(const writing *w, uint32_t *y, uint32_t *r) {
    const wgi_ode_call *const call = w->call;
    const wg_ode *const k = call->k;
    for (size_t next = 0; next < call->times && w->g->c->status == WG_OK; next++) {
        const double from = call->time[next != 0 ? next - 1 : 0], to = call->time[next];
        const double count = wgi_ode_steps_between(call, from, to);
        double t = from;
        for (double done = 1; next != 0 && done <= count && w->g->c->status == WG_OK; done++) {
            const double t1 = done >= count ? to : from + (to - from) * (done / count);
            step(w, t, (to - from) / count, t1, call->columns > 1 ? next - 1 : 0);
            t = t1;
        }
        memcpy(y + next * k->n, w->y, k->n * sizeof *y);
        if (k->integrals != 0)
            memcpy(r + next * k->integrals, w->y + k->n, k->integrals * sizeof *r);
    }
}

static uint32_t *list(const wgi_graph *g, size_t n) {
    return wg_tape_keep(&g->c->head, (n + 1) * sizeof(uint32_t), NULL);
}

wg_status wgi_ode_flatten(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y) {
    const wgi_ode_call *const call = *(wgi_ode_call *const *)b->params;
    const wgi_ode_flow *const flow = &call->k->flow;
    const size_t n = flow->states, stages = call->method->stages;
    double steps = 0;
    for (size_t k = 1; call->fixed && k < call->times; k++)
        steps += wgi_ode_steps_between(call, call->time[k - 1], call->time[k]);
    if (!call->fixed || call->method->gamma != 0 || flow->event != NULL ||
        steps * (double)stages * (double)(flow->f->nodes + stages * n) > MOST_NODES) {
        wgi_ode_add_node(g, call, x, y);
        return g->c->status;
    }
    writing w = {g,
                 call,
                 x + call->k->n,
                 list(g, n),
                 list(g, n),
                 list(g, stages * n),
                 list(g, flow->f->nodes),
                 list(g, flow->f->operands)};
    if (g->c->status != WG_OK) return g->c->status;
    memcpy(w.y, x, call->k->n * sizeof *x);
    for (size_t i = call->k->n; i < n; i++) w.y[i] = wgi_graph_number(g, 0);
    write_out(&w, y, y + call->k->n * call->times);
    return g->c->status;
}
