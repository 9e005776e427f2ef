/* SPDX-License-Identifier: MIT */
/* The adjoint of a stencil as a stencil: the nodes of the vjp once for every input that is
 * differentiated, each time at the cell from which that input is read; equal nodes are shared.
 * Letters: i an input of the function, a an argument of its vjp. */
#include "stencil.h"

#include "tape/function/make/finish.h"

#include <string.h>
#include <wengert/derive.h>
#include <wengert/emit.h>

static const char call[] = "wg_callable_stencil";

static int is_state(int kind) { return kind == WGI_FROM_STATE || kind == WGI_FROM_NEXT; }

/* ---- where inputs come from ---- */

static int same_source(const wg_function *f, const wg_source *x, size_t i, size_t j) {
    return x[i].kind == x[j].kind && strcmp(x[i].name, x[j].name) == 0 &&
           wgi_argument_size(&f->input[i]) == wgi_argument_size(&f->input[j]);
}

static void read_wires(const wg_function *f, const wg_source *x, wgi_wire *wire) {
    for (uint32_t i = 0; i < f->inputs; i++) {
        wire[i] = (wgi_wire){x[i].kind, i, {0, 0, 0}};
        if (!is_state(x[i].kind) || wgi_argument_shared(&f->input[i])) continue;
        memcpy(wire[i].offset, x[i].offset, sizeof wire[i].offset);
        for (uint32_t j = i; j-- > 0;)
            if (!wgi_argument_shared(&f->input[j]) && is_state(x[j].kind) &&
                same_source(f, x, i, j))
                wire[i].group = j;
    }
}

int wgi_stencil_leads(const wg_function *f, const wgi_stencil *s, size_t i) {
    if (!wgi_argument_active(&f->input[i])) return 0;
    for (size_t j = 0; j < i; j++)
        if (wgi_argument_active(&f->input[j]) && s->wire[j].group == s->wire[i].group) return 0;
    return 1;
}

/* Can the callable be a stencil, and does it read neighbours? */
static int fits(const wg_callable *k, const wg_source *x) {
    const wg_function *const f = k->f;
    int neighbours = 0;
    if (wgi_repeat_guards(k->vjp) != 0) return 0;
    for (size_t j = 0; j < f->outputs; j++)
        if (wgi_argument_summed(&f->output[j])) return 0;
    for (size_t i = 0; i < f->inputs; i++) {
        const int shared = wgi_argument_shared(&f->input[i]);
        if (shared && wgi_argument_active(&f->input[i])) return 0;
        for (int d = 0; d < 3; d++)
            neighbours |= !shared && is_state(x[i].kind) && x[i].offset[d] != 0;
    }
    return neighbours;
}

/* ---- the function ---- */

typedef struct plan {
    wgi_builder b;
    const wg_callable *k;
    wgi_stencil s;
    size_t taps;
    wgi_list_room tap_room, first_room;
    uint32_t *first; /* the first node of each tap */
    /* the node of each entry of the outputs; WGI_NO_NODE: nothing has been added to it */
    uint32_t *result;
    unsigned char *needs; /* for each node of the vjp: does the output under way need it? */
} plan;

/* Marks the nodes of the vjp that an output needs, whose first result is `row`. */
static void mark(plan *p, size_t output, size_t row) {
    const wg_function *const v = p->k->vjp;
    memset(p->needs, 0, v->nodes);
    for (size_t e = 0; e < wgi_argument_size(&v->output[output]); e++)
        p->needs[v->result[row + e]] = 1;
    wgi_mark_needed(v->nodes, v->node, v->operand, p->needs);
}

/* The tap by which argument a is read for the adjoint of input i. */
static wgi_tap tap_for(const plan *p, size_t a, size_t i) {
    const wg_function *const f = p->k->f;
    const wgi_wire *const wire = p->s.wire;
    wgi_tap tap = {a < f->inputs ? wire[a].group : (uint32_t)a, {0, 0, 0}};
    if (a < f->inputs && wgi_argument_shared(&f->input[a])) return tap;
    for (int d = 0; d < 3; d++)
        tap.offset[d] = (a < f->inputs ? wire[a].offset[d] : 0) - wire[i].offset[d];
    return tap;
}

/* The number of an equal tap, or how many taps there are. */
static size_t find_tap(const plan *p, const wgi_tap *tap) {
    size_t n = 0;
    while (n < p->taps && (p->s.tap[n].argument != tap->argument ||
                           memcmp(p->s.tap[n].offset, tap->offset, sizeof tap->offset) != 0))
        n++;
    return n;
}

static wg_status add_tap(plan *p, const wgi_tap *tap) {
    const wg_argument *const like = &p->k->vjp->input[tap->argument];
    wgi_tap *const all = wgi_list_need(p->b.c, &p->tap_room, p->s.tap, p->taps * sizeof *all,
                                       (p->taps + 1) * sizeof *all);
    uint32_t *const first =
        wgi_list_need(p->b.c, &p->first_room, p->first, p->taps * sizeof *first,
                      (p->taps + 1) * sizeof *first);
    if (p->b.c->status != WG_OK) return p->b.c->status;
    p->s.tap = all;
    p->first = first;
    p->s.tap[p->taps] = *tap;
    p->first[p->taps++] = wgi_builder_input(&p->b, "", like, like->flags & WG_SHARED);
    return p->b.c->status;
}

/* Called for each input i that is differentiated, with its output of the vjp and the first
 * result of that. */
typedef wg_status visit(plan *p, size_t i, size_t output, size_t row);

static wg_status for_all(plan *p, visit *what) {
    const wg_function *const f = p->k->f;
    wg_status s = WG_OK;
    for (size_t i = 0, output = 0, row = 0; i < f->inputs && s == WG_OK; i++) {
        if (!wgi_argument_active(&f->input[i])) continue;
        mark(p, output, row);
        s = what(p, i, output++, row);
        row += wgi_argument_size(&f->input[i]);
    }
    return s;
}

static int needed(const plan *p, size_t a, size_t first) {
    for (size_t e = 0; e < wgi_argument_size(&p->k->vjp->input[a]); e++)
        if (p->needs[first + e]) return 1;
    return 0;
}

static wg_status add_taps(plan *p, size_t i, size_t output, size_t row) {
    const wg_function *const v = p->k->vjp;
    wg_status s = WG_OK;
    (void)output, (void)row;
    for (size_t a = 0, e = 0; a < v->inputs && s == WG_OK;
         e += wgi_argument_size(&v->input[a++])) {
        const wgi_tap tap = tap_for(p, a, i);
        if (needed(p, a, e) && find_tap(p, &tap) == p->taps) s = add_tap(p, &tap);
    }
    return s;
}

/* Where the results for the group of input i begin. */
static size_t place_of_group(const plan *p, size_t i) {
    const wg_function *const f = p->k->f;
    size_t at = 0, j = 0;
    for (; p->s.wire[j].group != p->s.wire[i].group || !wgi_argument_active(&f->input[j]); j++)
        if (wgi_stencil_leads(f, &p->s, j)) at += wgi_argument_size(&f->input[j]);
    return at;
}

static wg_status add_adjoint(plan *p, size_t i, size_t output, size_t row) {
    const wg_function *const v = p->k->vjp;
    wgi_graph *const g = &p->b.g;
    uint32_t *const node = wgi_node_list(p->b.c, v->n);
    const uint32_t nothing = wgi_graph_number(g, 0);
    if (p->b.c->status != WG_OK) return p->b.c->status;
    for (size_t a = 0, e = 0; a < v->inputs; a++) {
        const wgi_tap tap = tap_for(p, a, i);
        const size_t at = needed(p, a, e) ? find_tap(p, &tap) : p->taps;
        for (size_t l = 0; l < wgi_argument_size(&v->input[a]); l++)
            node[e++] = at == p->taps ? nothing : p->first[at] + (uint32_t)l;
    }
    const uint32_t *const map = wgi_builder_take(&p->b, v, node);
    uint32_t *const to = p->result + place_of_group(p, i);
    for (size_t e = 0; map != NULL && e < wgi_argument_size(&v->output[output]); e++) {
        const uint32_t w = map[v->result[row + e]];
        if (wgi_graph_is(g, w, 0)) continue;
        to[e] = to[e] == WGI_NO_NODE ? w : WGI_GRAPH2(g, add, to[e], w);
    }
    return p->b.c->status;
}

static wg_status gather(plan *p) {
    const wg_function *const f = p->k->f;
    size_t results = 0;
    wg_status s = for_all(p, add_taps);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < f->inputs; i++)
        if (wgi_stencil_leads(f, &p->s, i)) {
            wgi_builder_output(&p->b, "", &f->input[i], 0);
            results += wgi_argument_size(&f->input[i]);
        }
    p->result = wgi_no_nodes(p->b.c, results);
    if (p->b.c->status != WG_OK) return p->b.c->status;
    s = for_all(p, add_adjoint);
    for (size_t j = 0; j < results; j++) wgi_builder_result(&p->b, p->result[j]);
    return s;
}

/* ---- is it worth it? ---- */

static int pays(const wg_callable *k, const wg_function *made) {
    enum { ROW = 6 }; /* the cost of storing a number and adding it where it belongs */
    return wgi_function_cost(made) <= wgi_function_cost(k->vjp) + ROW * k->vjp->m;
}

/* ---- life ---- */

void wgi_stencil_free(wgi_stencil *s) {
    if (s == NULL) return;
    wg_function_free(s->gather);
    wgi_home_release(&s->home, s);
}

/* A copy in memory of its own. */
static wg_status copy(wgi_core *c, const wgi_stencil *s, size_t inputs, size_t taps,
                      wgi_stencil **out) {
    const size_t bytes = sizeof *s + inputs * sizeof *s->wire + taps * sizeof *s->tap;
    wgi_home home;
    void *base;
    const wg_status status = wgi_home_obtain(c, bytes, &home, &base);
    if (status != WG_OK) return status;
    wgi_stencil *const made = base;
    *made = (wgi_stencil){.home = home};
    made->wire = (wgi_wire *)(void *)(made + 1);
    made->tap = (wgi_tap *)(void *)(made->wire + inputs);
    memcpy(made->wire, s->wire, inputs * sizeof *s->wire);
    if (taps != 0) memcpy(made->tap, s->tap, taps * sizeof *s->tap);
    *out = made;
    return WG_OK;
}

wg_status wgi_stencil_compile(wg_tape *t, const wg_callable *k,
                              const wg_compile_options *options, wgi_stencil **out,
                              wg_compiled *compiled) {
    if (k->stencil == NULL) return WG_OK;
    const wgi_stencil *const s = k->stencil;
    wg_compiled one;
    wg_status status = copy(wgi_core_of(t), s, k->f->inputs, s->gather->inputs, out);
    if (status != WG_OK)
        return wgi_refuse(wgi_core_of(t), status,
                          "wg_callable_compile: no memory for %zu inputs", k->f->inputs);
    status = wg_function_compile(t, s->gather, options, &(*out)->gather, &one);
    if (status != WG_OK || s->gather->each == 0) return status;
    if (!one.native && compiled->native) memcpy(compiled->why, one.why, sizeof one.why);
    compiled->native = compiled->native && one.native;
    compiled->cached = compiled->cached && one.cached;
    return WG_OK;
}

static wg_status complete(wg_tape *t, wg_callable *k, const wg_source *x) {
    plan p = {.k = k};
    wg_function *made = NULL;
    wg_status s = wgi_builder_begin(&p.b, t, call, 1, &made);
    if (s != WG_OK) return wgi_drive_close(&p.b.d, s);
    p.s.wire = wg_tape_keep(t, k->f->inputs * sizeof *p.s.wire, NULL);
    p.needs = wg_tape_keep(t, k->vjp->nodes + 1, NULL);
    if (s == WG_OK) s = p.b.c->status;
    if (s == WG_OK) {
        read_wires(k->f, x, p.s.wire);
        s = gather(&p);
    }
    if (s == WG_OK) s = p.b.c->status;
    if (s == WG_OK) {
        s = copy(p.b.c, &p.s, k->f->inputs, p.taps, &k->stencil);
        if (s != WG_OK)
            s = wgi_fail(p.b.c, s, "%s: no memory for %zu inputs", call, k->f->inputs);
    }
    s = wgi_builder_end(&p.b, s, &made);
    if (k->stencil != NULL) k->stencil->gather = made;
    if (s == WG_OK && !pays(k, made)) {
        wgi_stencil_free(k->stencil);
        k->stencil = NULL;
    }
    return s;
}

static wg_status check(wgi_core *c, const wg_callable *k, const wg_source *x,
                       wg_callable **out) {
    if (out == NULL) return wgi_refuse(c, WG_ENULL, "%s: out is NULL", call);
    if (k == NULL) return wgi_refuse(c, WG_ENULL, "%s: the callable is NULL", call);
    if (x == NULL && k->f->inputs != 0)
        return wgi_refuse(c, WG_ENULL, "%s: the sources are NULL", call);
    for (size_t i = 0; i < k->f->inputs; i++)
        if (is_state(x[i].kind) && x[i].name == NULL)
            return wgi_refuse(c, WG_ENULL, "%s: the name of source %zu is NULL", call, i);
    return WG_OK;
}

wg_status wg_callable_stencil(wg_tape *t, const wg_callable *k, const wg_source *x,
                              wg_callable **out) {
    if (out != NULL) *out = NULL;
    if (t == NULL) return WG_ENULL;
    wg_callable *made = NULL;
    wg_status s = check(wgi_core_of(t), k, x, out);
    if (s == WG_OK) s = wg_callable_new(t, k->f, &made);
    if (s == WG_OK && fits(made, x)) s = complete(t, made, x);
    if (s == WG_OK) *out = made;
    else wg_callable_free(made);
    return s;
}
