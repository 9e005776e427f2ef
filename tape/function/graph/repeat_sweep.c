/* SPDX-License-Identifier: MIT */
/* Adjoints and tangents of repeats. They are repeats themselves, and their bodies are made
 * here. */
#include "builder.h"
#include "signed.h"

#include <string.h>

/* Where the operands for an input of the derivative's body come from: PRIMAL, the operands or
 * states of the repeat; DERIVATIVE, adjoints or tangents; LATE, adjoints of the states before
 * each step. */
typedef enum { PRIMAL, DERIVATIVE, LATE } origin;

typedef struct derivation {
    wgi_graph *g;
    wgi_core *c;
    uint32_t node;
    const wgi_repeat *r;
    const wg_function *f;
    size_t carried;
    unsigned char *active; /* which inputs of the body are differentiated */
    /* whose adjoints this repeat gives; NULL: of all that are active */
    const unsigned char *chosen;
    /* which outputs of the body have adjoints, not counting states at the end */
    unsigned char *weighted;
    size_t *operand_at;        /* the first operand of each input */
    size_t *part_at;           /* the first part of each output */
    const uint32_t *bar, *dot; /* adjoints of the parts; tangents of all nodes */
    wgi_builder b;
    /* nodes of the derivative's body: for the inputs of the body, for all its nodes */
    uint32_t *in, *map;
    /* the same: the first of the derivatives; the first of the adjoints of states before a step
     */
    uint32_t *first, *late;
    size_t origins;
    struct {
        origin from;
        size_t of;
    } * origin;
    uint32_t *x; /* operands of the derivative */
    size_t operands;
} derivation;

static size_t size_of(const wg_argument *a) { return wgi_argument_size(a); }

static int open(derivation *d, wgi_graph *g, uint32_t node) {
    memset(d, 0, sizeof *d);
    d->g = g, d->c = g->c, d->node = node;
    d->r = g->repeat[g->node[node].part];
    d->f = d->r->body;
    d->carried = wgi_body_carried(d->r->body);
    wg_tape *const t = &g->c->head;
    const size_t inputs = d->f->inputs, outputs = d->f->outputs;
    d->active = wgi_node_marks(d->c, inputs);
    d->weighted = wgi_node_marks(d->c, outputs);
    d->operand_at = wg_tape_keep(t, (inputs + 1) * sizeof *d->operand_at, NULL);
    d->part_at = wg_tape_keep(t, (outputs + 1) * sizeof *d->part_at, NULL);
    d->in = wgi_node_list(d->c, d->f->n);
    d->map = wgi_node_list(d->c, d->f->nodes);
    d->first = wgi_node_list(d->c, inputs + outputs);
    d->late = wgi_node_list(d->c, inputs);
    d->origin = wg_tape_keep(t, (2 * inputs + outputs + 1) * sizeof *d->origin, NULL);
    if (d->c->status != WG_OK) return 0;
    wgi_repeat_starts(d->r, d->operand_at, d->part_at);
    return 1;
}

/* A state is active if its start is, or if a step makes it active. */
static int follow_active(derivation *d) {
    const wg_function *const f = d->f;
    unsigned char *const on = wg_tape_keep(&d->c->head, f->nodes + 1, NULL);
    if (on == NULL) return 0;
    for (int changed = 1; changed;) {
        changed = 0;
        memset(on, 0, f->nodes);
        for (size_t i = 0, e = 0; i < f->inputs; e += size_of(&f->input[i++]))
            memset(on + e, d->active[i], size_of(&f->input[i]));
        wgi_mark_dependent(f->nodes, f->node, f->operand, on);
        for (size_t k = 0, j = 0; k < d->carried; k++)
            for (size_t l = 0; l < size_of(&f->output[k]); l++, j++)
                if (on[f->result[j]] && !d->active[k]) d->active[k] = 1, changed = 1;
    }
    return 1;
}

static int carries(const derivation *d) {
    for (size_t k = 0; k < d->carried; k++)
        if (d->active[k]) return 1;
    return 0;
}

/* Adds an input to the derivative's body. */
static uint32_t input(derivation *d, origin from, size_t of, const char *before,
                      const wg_argument *like, unsigned role) {
    d->origin[d->origins].from = from;
    d->origin[d->origins++].of = of;
    return wgi_builder_input(&d->b, before, like, role);
}

static unsigned role_of(const wg_argument *a) { return a->flags & (WGI_CARRIED | WGI_STEPPED); }

/* Adds what the body reads. States before each step become stepped inputs. */
static void primal_inputs(derivation *d) {
    for (size_t i = 0, e = 0; i < d->f->inputs; i++) {
        const wg_argument *const a = &d->f->input[i];
        const uint32_t first =
            input(d, PRIMAL, i, "", a, wgi_is_carried(a) ? WGI_STEPPED : role_of(a));
        for (size_t l = 0; l < size_of(a); l++) d->in[e++] = first + (uint32_t)l;
    }
}

static void put_operand(derivation *d, uint32_t node) { d->x[d->operands++] = node; }

static void primal_operands(derivation *d, size_t i) {
    const wgi_node n = d->g->node[d->node];
    const size_t count = wgi_repeat_operands_of(d->r, i);
    if (wgi_is_carried(&d->f->input[i]))
        for (size_t l = 0; l < d->r->steps * size_of(&d->f->input[i]); l++)
            put_operand(d, d->node + 1 + (uint32_t)(d->part_at[i] + l));
    else
        for (size_t l = 0; l < count; l++)
            put_operand(d, d->g->operand[n.first + d->operand_at[i] + l]);
}

/* The operands of repeat r, a derivative, as its inputs were added; used: which are there.
 * of_derivative: adds those of an input that is none of the body's. 0: a failure. */
static int put_operands(derivation *d, const wgi_repeat *r, const unsigned char *used,
                        void (*of_derivative)(derivation *d, origin from, size_t of)) {
    d->x = r == NULL ? NULL : wgi_node_list(d->c, wgi_repeat_operands(r));
    if (d->x == NULL) return 0;
    for (size_t o = 0; o < d->origins && d->c->status == WG_OK; o++) {
        if (!used[o]) continue;
        if (d->origin[o].from == PRIMAL) primal_operands(d, d->origin[o].of);
        else of_derivative(d, d->origin[o].from, d->origin[o].of);
    }
    return d->c->status == WG_OK;
}

/* ---- in reverse ---- */

static int any_bar(const derivation *d, size_t from, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (d->bar[from + k] != WGI_NO_NODE) return 1;
    return 0;
}

static void adjoint_inputs(derivation *d) {
    const wg_function *const f = d->f;
    for (size_t k = 0; k < d->carried; k++)
        if (d->active[k])
            d->first[k] = input(d, DERIVATIVE, k, "w", &f->output[k], WGI_CARRIED);
    primal_inputs(d);
    for (size_t k = 0; k < d->carried; k++) {
        const size_t count = d->r->steps * size_of(&f->output[k]);
        d->late[k] = WGI_NO_NODE;
        if (d->active[k] && any_bar(d, d->part_at[k], count))
            d->late[k] = input(d, LATE, k, "a", &f->output[k], WGI_STEPPED);
    }
    for (size_t j = d->carried; j < f->outputs; j++)
        if (d->weighted[j])
            d->first[j] = input(d, DERIVATIVE, j, "w", &f->output[j], role_of(&f->output[j]));
}

static int is_chosen(const derivation *d, size_t i) {
    return d->active[i] && (d->chosen == NULL || d->chosen[i]);
}
/* Adjoints of states are carried, whoever wants them. */
static int is_given(const derivation *d, size_t i) {
    return is_chosen(d, i) || (d->active[i] && wgi_is_carried(&d->f->input[i]));
}

/* Which nodes of the derivative's body depend on what is differentiated. */
static unsigned char *wanted_nodes(derivation *d) {
    const wgi_graph *const h = &d->b.g;
    unsigned char *const w = wg_tape_keep(&d->c->head, h->nodes + 1, NULL);
    if (w == NULL) return NULL;
    memset(w, 0, h->nodes);
    for (size_t i = 0, e = 0; i < d->f->inputs; i++)
        for (size_t l = 0; l < size_of(&d->f->input[i]); l++, e++)
            w[d->in[e]] = (unsigned char)is_given(d, i);
    wgi_mark_dependent(h->nodes, h->node, h->operand, w);
    return w;
}

static void seed(derivation *d, uint32_t *once, uint32_t *each) {
    for (size_t j = 0, at = 0; j < d->f->outputs; j++) {
        const wg_argument *const a = &d->f->output[j];
        const int on = wgi_is_carried(a) ? d->active[j] : d->weighted[j];
        /* a body with states has terms, not sums, even where its derivative has no states */
        uint32_t *const bar = d->carried == 0 && role_of(a) == 0 ? once : each;
        for (size_t l = 0; l < size_of(a); l++, at++) {
            const uint32_t to = d->map[d->f->result[at]];
            if (on) bar[to] = wgi_graph_plus(&d->b.g, bar[to], d->first[j] + (uint32_t)l);
        }
    }
}

static void adjoint_outputs(derivation *d, const uint32_t *once, const uint32_t *each) {
    for (size_t i = 0, e = 0; i < d->f->inputs; i++) {
        const wg_argument *const a = &d->f->input[i];
        const int shared = d->b.by_points && role_of(a) == 0;
        if (is_given(d, i)) wgi_builder_output(&d->b, "d", a, role_of(a));
        for (size_t l = 0; l < size_of(a); l++, e++) {
            if (!is_given(d, i)) continue;
            uint32_t bar = shared ? once[d->in[e]] : each[d->in[e]];
            if (wgi_is_carried(a) && d->late[i] != WGI_NO_NODE)
                bar = wgi_graph_plus(&d->b.g, bar, d->late[i] + (uint32_t)l);
            wgi_builder_result(&d->b, bar);
        }
    }
}

/* Begins the body of a derivative. */
static wgi_graph *open_body(derivation *d) {
    wgi_builder_open(&d->b, d->c, d->g->call);
    d->b.by_points = !carries(d);
    return &d->b.g;
}

static const wgi_repeat *close_body(derivation *d, int backwards, const unsigned char **used) {
    *used = d->c->status == WG_OK ? wgi_builder_prune(&d->b) : NULL;
    return *used == NULL ? NULL : wgi_builder_repeat(&d->b, d->r->steps, backwards);
}

static const wgi_repeat *adjoint_body(derivation *d, const unsigned char **used) {
    wgi_graph *const h = open_body(d);
    adjoint_inputs(d);
    if (d->c->status != WG_OK) return NULL;
    wgi_graph_take(h, d->f, d->in, d->map);
    const size_t nodes = h->nodes;
    const unsigned char *const wanted = wanted_nodes(d);
    uint32_t *const once = wgi_no_nodes(d->c, nodes), *const each = wgi_no_nodes(d->c, nodes);
    if (d->c->status != WG_OK) return NULL;
    seed(d, once, each);
    wgi_graph_reverse(h, nodes, wanted, once, each);
    if (d->c->status != WG_OK) return NULL;
    adjoint_outputs(d, once, each);
    return close_body(d, !d->r->backwards, used);
}

static void adjoint_operands(derivation *d, origin from, size_t of) {
    const wg_argument *const a = &d->f->output[of];
    const size_t n = size_of(a), all = n * d->r->steps;
    const int state = wgi_is_carried(a);
    const size_t first = d->part_at[of] + (state && from == DERIVATIVE ? all : 0);
    const size_t count = from == LATE || wgi_is_stepped(a) ? all : n;
    for (size_t k = 0; k < count; k++)
        put_operand(d, wgi_graph_or_zero(d->g, d->bar[first + k]));
}

/* Adds the adjoints of the operands, which are parts of the repeat a. */
static void share_out(derivation *d, const wgi_repeat *a, uint32_t node,
                      const unsigned char *wanted, uint32_t *to) {
    const uint32_t first = d->g->node[d->node].first;
    uint32_t part = node + 1;
    for (size_t i = 0, out = 0; i < d->f->inputs; i++) {
        const wg_argument *const in = &d->f->input[i];
        const size_t n = size_of(in), count = wgi_repeat_operands_of(d->r, i);
        if (!is_given(d, i)) continue;
        const uint32_t *const result =
            a->body->result + wgi_arguments_size(out++, a->body->output);
        if (wgi_is_carried(in)) part += (uint32_t)(n * d->r->steps);
        for (size_t k = 0; k < count; k++, part++) {
            const uint32_t of = d->g->operand[first + d->operand_at[i] + k];
            const int nothing = wgi_node_is_zero(&a->body->node[result[k % n]]);
            if (is_chosen(d, i) && wanted[of] && (!nothing || wgi_is_carried(in)))
                to[of] = wgi_graph_plus(d->g, to[of], part);
        }
    }
}

/* Makes body and operands of the adjoint of what is chosen; NULL: a failure, or nothing. */
static const wgi_repeat *adjoint_of(derivation *d, wgi_graph *g, uint32_t node,
                                    const uint32_t *bar, const unsigned char *wanted,
                                    const unsigned char *chosen) {
    const unsigned char *used = NULL;
    if (g->c->status != WG_OK || !open(d, g, node)) return NULL;
    d->bar = bar;
    d->chosen = chosen;
    if (!any_bar(d, 0, d->part_at[d->f->outputs])) return NULL;
    for (size_t i = 0; i < d->f->inputs; i++)
        for (size_t k = d->operand_at[i]; k < d->operand_at[i + 1]; k++)
            d->active[i] |= wanted[g->operand[g->node[node].first + k]];
    for (size_t j = d->carried; j < d->f->outputs; j++)
        d->weighted[j] =
            (unsigned char)any_bar(d, d->part_at[j], d->part_at[j + 1] - d->part_at[j]);
    const wgi_repeat *const a = follow_active(d) ? adjoint_body(d, &used) : NULL;
    return put_operands(d, a, used, adjoint_operands) ? a : NULL;
}

static void put_adjoint(derivation *d, const wgi_repeat *a, const unsigned char *wanted,
                        uint32_t *to) {
    const uint32_t made = wgi_graph_repeat(d->g, a, d->x);
    if (d->c->status == WG_OK) share_out(d, a, made, wanted, to);
}

static int takes_sums(const derivation *d) {
    for (size_t k = 0; k < d->operands; k++)
        if (d->g->node[d->x[k]].when == WGI_AFTER) return 1;
    return 0;
}

/* Which inputs of the body depend on something that is wanted at each point. Gives how many. */
static size_t inputs_from_points(const derivation *d, const unsigned char *wanted,
                                 unsigned char *from_points) {
    const wgi_graph *const g = d->g;
    unsigned char *const on = wg_tape_keep(&d->c->head, g->nodes + 1, NULL);
    size_t count = 0;
    if (on == NULL) return 0;
    for (size_t i = 0; i < g->nodes; i++)
        on[i] = g->node[i].kind == WGI_NODE_INPUT && g->node[i].when == WGI_EACH &&
                i < d->node && wanted[i];
    wgi_mark_dependent(g->nodes, g->node, g->operand, on);
    for (size_t i = 0; i < d->f->inputs; i++) {
        from_points[i] = 0;
        for (size_t k = d->operand_at[i]; k < d->operand_at[i + 1]; k++)
            from_points[i] |= d->active[i] && on[g->operand[g->node[d->node].first + k]];
        count += from_points[i];
    }
    return count;
}

/* All that a repeat gives is a sum over the points if one of the things it takes is. What goes
 * on to the points cannot be: it gets a repeat of its own, which takes no more than it
 * needs. */
static void put_apart(derivation *d, const uint32_t *bar, const unsigned char *wanted,
                      unsigned char *from_points, uint32_t *to) {
    const size_t inputs = d->f->inputs;
    unsigned char *const one = wg_tape_keep(&d->c->head, inputs + 1, NULL);
    derivation own;
    size_t others = 0;
    if (one == NULL) return;
    for (size_t i = 0; i < inputs && d->c->status == WG_OK; i++) {
        others += d->active[i] && !from_points[i];
        if (!from_points[i]) continue;
        memset(one, 0, inputs);
        one[i] = 1;
        const wgi_repeat *const a = adjoint_of(&own, d->g, d->node, bar, wanted, one);
        if (a != NULL) put_adjoint(&own, a, wanted, to);
    }
    for (size_t i = 0; i < inputs; i++) one[i] = !from_points[i];
    const wgi_repeat *const a =
        others == 0 ? NULL : adjoint_of(&own, d->g, d->node, bar, wanted, one);
    if (a != NULL) put_adjoint(&own, a, wanted, to);
}

static void reverse(wgi_graph *g, uint32_t node, const uint32_t *bar,
                    const unsigned char *wanted, uint32_t *to) {
    derivation d;
    const wgi_repeat *const a = adjoint_of(&d, g, node, bar, wanted, NULL);
    if (a == NULL) return;
    unsigned char *const from_points =
        takes_sums(&d) ? wg_tape_keep(&d.c->head, d.f->inputs + 1, NULL) : NULL;
    if (from_points != NULL && inputs_from_points(&d, wanted, from_points) != 0)
        put_apart(&d, bar, wanted, from_points, to);
    else put_adjoint(&d, a, wanted, to);
}

/* ---- forward ---- */

static const wgi_repeat *tangent_body(derivation *d, const unsigned char **used) {
    const wg_function *const f = d->f;
    wgi_graph *const h = open_body(d);
    for (size_t k = 0; k < d->carried; k++)
        if (d->active[k]) d->first[k] = input(d, DERIVATIVE, k, "d", &f->input[k], WGI_CARRIED);
    primal_inputs(d);
    for (size_t i = d->carried; i < f->inputs; i++)
        if (d->active[i])
            d->first[i] = input(d, DERIVATIVE, i, "d", &f->input[i], role_of(&f->input[i]));
    if (d->c->status != WG_OK) return NULL;
    wgi_graph_take(h, f, d->in, d->map);
    uint32_t *const tangent = wgi_no_nodes(d->c, h->nodes);
    if (d->c->status != WG_OK) return NULL;
    for (size_t i = 0, e = 0; i < f->inputs; i++)
        for (size_t l = 0; l < size_of(&f->input[i]); l++, e++)
            if (d->active[i]) tangent[d->in[e]] = d->first[i] + (uint32_t)l;
    wgi_graph_forward(h, h->nodes, NULL, tangent);
    for (size_t j = 0, at = 0; j < f->outputs && d->c->status == WG_OK; j++) {
        const wg_argument *const a = &f->output[j];
        const size_t n = size_of(a);
        int on = wgi_is_carried(a) && d->active[j];
        for (size_t l = 0; l < n; l++)
            on |= !wgi_is_carried(a) && tangent[d->map[f->result[at + l]]] != WGI_NO_NODE;
        d->weighted[j] = (unsigned char)on;
        if (on) wgi_builder_output(&d->b, "d", a, role_of(a));
        const int term = d->b.by_points && d->carried != 0 && role_of(a) == 0;
        for (size_t l = 0; l < n; l++, at++) {
            const uint32_t dot =
                wgi_graph_or_zero(h, wgi_signed_node(h, tangent[d->map[f->result[at]]]));
            if (on) wgi_builder_result(&d->b, term ? wgi_graph_sum(h, dot) : dot);
        }
    }
    return close_body(d, d->r->backwards, used);
}

static void tangent_operands(derivation *d, origin from, size_t of) {
    (void)from;
    for (size_t k = d->operand_at[of]; k < d->operand_at[of + 1]; k++)
        put_operand(
            d, wgi_graph_or_zero(d->g, d->dot[d->g->operand[d->g->node[d->node].first + k]]));
}

/* to: the tangents of the parts. */
static void forward(wgi_graph *g, uint32_t node, const uint32_t *tangent, uint32_t *to) {
    derivation d;
    const unsigned char *used = NULL;
    if (g->c->status != WG_OK || !open(&d, g, node)) return;
    d.dot = tangent;
    for (size_t i = 0; i < d.f->inputs; i++)
        for (size_t k = d.operand_at[i]; k < d.operand_at[i + 1]; k++)
            d.active[i] |= tangent[g->operand[g->node[node].first + k]] != WGI_NO_NODE;
    int any = 0;
    for (size_t i = 0; i < d.f->inputs; i++) any |= d.active[i];
    if (!any) return;
    const wgi_repeat *const a = follow_active(&d) ? tangent_body(&d, &used) : NULL;
    if (!put_operands(&d, a, used, tangent_operands)) return;
    uint32_t part = wgi_graph_repeat(g, a, d.x) + 1;
    for (size_t j = 0; j < d.f->outputs && g->c->status == WG_OK; j++)
        for (size_t k = d.part_at[j]; k < d.part_at[j + 1] && d.weighted[j]; k++)
            to[k] = part++;
}

/* ---- of one that solves ---- */

/* The first of its parts that is the solution. */
static uint32_t solution_of(const wgi_repeat *r) {
    return (uint32_t)(r->steps * size_of(&r->body->output[0]));
}

/* One more step from there, as a repeat of which nothing is carried. */
static uint32_t one_step(wgi_graph *g, uint32_t node) {
    const wgi_repeat *const r = g->repeat[g->node[node].part];
    const wg_function *const f = r->body;
    const size_t n = size_of(&f->output[0]), operands = wgi_repeat_operands(r);
    wg_tape *const t = &g->c->head;
    wgi_repeat *const one = wg_tape_keep(t, sizeof *one, NULL);
    wg_function *const body = wg_tape_keep(t, sizeof *body, f);
    wg_argument *const in = wg_tape_keep(t, f->inputs * sizeof *in, f->input);
    wg_argument *const out = wg_tape_keep(t, sizeof *out, f->output);
    uint32_t *const x = wg_tape_keep(t, (operands + 1) * sizeof *x, NULL);
    if (g->c->status != WG_OK) return node;
    for (size_t i = 0; i < f->inputs; i++) in[i].flags = WGI_STEPPED;
    out->flags = WGI_STEPPED;
    body->input = in, body->output = out;
    *one = (wgi_repeat){.body = body, .steps = 1};
    memcpy(x, g->operand + g->node[node].first, operands * sizeof *x);
    for (size_t i = 0; i < n; i++) x[i] = node + 1 + solution_of(r) + (uint32_t)i;
    return wgi_graph_repeat(g, one, x);
}

static void solution_reverse(wgi_graph *g, uint32_t node, const uint32_t *bar,
                             const unsigned char *wanted, uint32_t *to) {
    const wgi_repeat *const r = g->repeat[g->node[node].part];
    const uint32_t at = solution_of(r);
    const size_t behind = (size_t)node + 1 + wgi_repeat_parts(r);
    unsigned char *const by = wg_tape_keep(&g->c->head, behind, wanted);
    const uint32_t step = one_step(g, node);
    if (g->c->status != WG_OK) return;
    memset(by + node + 1, 0, behind - node - 1);
    reverse(g, step, bar + at, by, to);
}

void wgi_repeat_reverse(wgi_graph *g, uint32_t node, const uint32_t *bar,
                        const unsigned char *wanted, uint32_t *to) {
    if (g->c->status != WG_OK) return;
    const int solves = g->repeat[g->node[node].part]->solves;
    (solves ? solution_reverse : reverse)(g, node, bar, wanted, to);
}

void wgi_repeat_forward(wgi_graph *g, uint32_t node, uint32_t *tangent) {
    if (g->c->status != WG_OK) return;
    const wgi_repeat *const r = g->repeat[g->node[node].part];
    if (!r->solves) {
        forward(g, node, tangent, tangent + node + 1);
        return;
    }
    const uint32_t step = one_step(g, node);
    /* no tangents of its parts are there yet: they are not differentiated by */
    forward(g, step, tangent, tangent + node + 1 + solution_of(r));
}
