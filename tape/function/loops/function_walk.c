/* SPDX-License-Identifier: MIT */
/* A function at its points, as nodes of another one, or as sets: function_walk.h. */
#include "function_walk.h"

#include "ops/matrix/expand.h"
#include "ops/scalar/array.h"
#include "tape/function/graph/builder.h"

#include <string.h>

/* The most operations that are written out, unless the tape has another limit; more become a
 * repeat. */
enum { WRITTEN_OUT = 1 << 16 };
int wgi_walk_repeats(const wgi_walk *w, size_t times, size_t operations) {
    const size_t asked = w->g->c->loops_over;
    return w->sets == NULL && times > 1 &&
           operations > (asked == 0 ? WRITTEN_OUT : asked) / times;
}

/* ---- nodes, or sets --------------------------------------------------------------------- */

uint32_t wgi_walk_zero(const wgi_walk *w) {
    return w->sets != NULL ? 0 : wgi_graph_number(w->g, 0);
}

uint32_t wgi_walk_plus(const wgi_walk *w, uint32_t a, uint32_t b) {
    if (w->sets != NULL) return wgi_sets_join(w->sets, 2, (const wgi_set[]){a, b});
    return WGI_GRAPH2(w->g, add, a, b);
}

/* The same number, taken as constant. */
static uint32_t held(const wgi_walk *w, uint32_t a) {
    return w->sets != NULL ? 0 : wgi_graph_op(w->g, wgi_expand_hold, &a);
}

/* Connects those operands x of a node in which it is not linear. */
static void connect(const wgi_walk *w, const wgi_node *n, const wgi_set *x) {
    switch (wgi_node_row(n)->order) {
    case WGI_ORDER_LINEAR:
        return;
    case WGI_ORDER_PRODUCT:
        wgi_connect_both(w->curves, x[0], x[1]);
        return;
    case WGI_ORDER_BY_OP: {
        uint16_t near[4] = {0, 0, 0, 0};
        for (unsigned k = 0, pair = 0; k < n->count; k++)
            for (unsigned l = k; l < n->count; l++, pair++)
                if ((n->op->zero_second >> pair & 1) == 0)
                    near[k] |= (uint16_t)(1u << l), near[l] |= (uint16_t)(1u << k);
        wgi_connect_near(w->curves, n->count, x, near);
        return;
    }
    default: {
        const wgi_set all = wgi_sets_join(w->sets, n->count, x);
        wgi_connect(w->curves, all, all);
    }
    }
}

/* The set of a node, from the sets x of its operands; where a derivative is always 0, that set
 * becomes empty. */
static wgi_set set_of(const wgi_walk *w, const wgi_node *n, wgi_set *x) {
    for (uint32_t k = 0; n->kind == WGI_NODE_OP && k < n->count; k++)
        if (n->op->zero_first >> k & 1) x[k] = 0;
    if (w->curves != NULL) connect(w, n, x);
    return wgi_sets_join(w->sets, n->count, x);
}

/* ---- a function at its points ----------------------------------------------------------- */

static void put_node(wgi_walk *w, size_t i, size_t points) {
    const wgi_node *const n = &w->f->node[i];
    for (uint32_t k = 0; k < n->count; k++)
        w->operand[k] = w->node[w->f->operand[n->first + k]];
    if (wgi_node_sums_points(w->f, i)) return;
    if (w->sets != NULL) w->node[i] = set_of(w, n, w->operand);
    else if (n->kind != WGI_NODE_SUM)
        w->node[i] = wgi_graph_again(w->g, n, wgi_repeat_of(w->f, n), w->operand);
    else
        w->node[i] =
            WGI_GRAPH2(w->g, mul, w->operand[0], wgi_graph_number(w->g, (double)points));
}

static void put_nodes(wgi_walk *w, wgi_when when, size_t points) {
    for (size_t i = 0; i < w->f->nodes && w->g->c->status == WG_OK; i++)
        if (w->f->node[i].when == when && w->f->node[i].kind != WGI_NODE_INPUT)
            put_node(w, i, points);
}

/* Adds the terms of a point to the sums: point after point, in their order. */
static void add_up(wgi_walk *w) {
    for (size_t i = 0; i < w->f->nodes; i++)
        if (wgi_node_sums_points(w->f, i))
            w->node[i] =
                wgi_walk_plus(w, w->node[i], w->node[w->f->operand[w->f->node[i].first]]);
}

/* Passive inputs are taken as constants. */
static void hold_passive(wgi_walk *w, wgi_when when) {
    uint32_t *to = w->node;
    for (size_t i = 0; i < w->f->inputs; to += wgi_argument_size(&w->f->input[i++])) {
        const wg_argument *const a = &w->f->input[i];
        if (wgi_argument_active(a) || wgi_argument_shared(a) != (when == WGI_ONCE)) continue;
        for (size_t e = 0; e < wgi_argument_size(a); e++) to[e] = held(w, to[e]);
    }
}

static wg_status put_inputs(wgi_walk *w, wgi_when when, size_t p) {
    wg_status s = w->g->c->status;
    uint32_t *to = w->node;
    for (size_t i = 0; i < w->f->inputs && s == WG_OK;
         to += wgi_argument_size(&w->f->input[i++])) {
        const int shared = wgi_argument_shared(&w->f->input[i]);
        if (shared == (when == WGI_ONCE)) s = w->input(w, i, shared ? 0 : p, to);
    }
    if (s == WG_OK) hold_passive(w, when);
    return s;
}

/* Adds comparisons of numbers of each point, or those of numbers that are the same at all
 * points. */
static void put_guards(wgi_walk *w, int at_points) {
    for (size_t k = 0; w->sets == NULL && k < w->f->guards; k++) {
        const wgi_graph_guard *const g = &w->f->guard[k];
        const int each = w->f->node[g->a].when == WGI_EACH || w->f->node[g->b].when == WGI_EACH;
        if (each == at_points)
            wgi_graph_guard_add(w->g, w->node[g->a], w->node[g->b], g->comparison, g->outcome);
    }
}

static void put_outputs(wgi_walk *w, int sums, size_t p) {
    const uint32_t *result = w->f->result;
    for (size_t k = 0; k < w->f->outputs; k++) {
        const size_t n = wgi_argument_size(&w->f->output[k]);
        for (size_t e = 0; e < n && wgi_argument_summed(&w->f->output[k]) == sums; e++)
            w->operand[e] = w->node[result[e]];
        if (wgi_argument_summed(&w->f->output[k]) == sums) w->output(w, k, p, w->operand);
        result += n;
    }
}

static wg_status written_out(wgi_walk *w, size_t points) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < w->f->nodes; i++)
        if (wgi_node_sums_points(w->f, i)) w->node[i] = wgi_walk_zero(w);
    for (size_t p = 0; p < points && s == WG_OK; p++) {
        s = put_inputs(w, WGI_EACH, p);
        put_nodes(w, WGI_EACH, points);
        put_guards(w, 1);
        if (s == WG_OK) s = w->g->c->status;
        if (s != WG_OK) break;
        add_up(w);
        put_outputs(w, 0, p);
    }
    return s;
}

/* ---- its points as a repeat ---- */

/* Adds outputs that are not summed, stepped; then one output of all sums over the points. */
static void body_outputs(const wgi_walk *w, wgi_builder *b) {
    size_t sums = 0;
    for (size_t k = 0, j = 0; k < w->f->outputs; j += wgi_argument_size(&w->f->output[k++])) {
        const wg_argument *const a = &w->f->output[k];
        if (wgi_argument_summed(a)) continue;
        wgi_builder_output(b, "", a, WGI_STEPPED);
        for (size_t e = 0; e < wgi_argument_size(a); e++)
            wgi_builder_result(b, w->node[w->f->result[j + e]]);
    }
    for (size_t i = 0; i < w->f->nodes; i++) sums += (size_t)wgi_node_sums_points(w->f, i);
    wgi_builder_output(b, "", &(wg_argument){"sums", sums, 1, 0}, 0);
    for (size_t i = 0; i < w->f->nodes; i++)
        if (wgi_node_sums_points(w->f, i))
            wgi_builder_result(
                b, wgi_graph_sum(&b->g, w->node[w->f->operand[w->f->node[i].first]]));
}

/* The body for the points of a function. What is done once is done in the body, too. */
static const wgi_repeat *body_of_points(const wgi_walk *w, size_t points,
                                        const unsigned char **used) {
    const wg_function *const f = w->f;
    wgi_builder b;
    wgi_walk in = *w;
    wgi_builder_open(&b, w->g->c, w->g->call);
    b.by_points = 1;
    in.g = &b.g;
    in.node = wgi_node_list(w->g->c, f->nodes);
    if (in.node == NULL) return NULL;
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        const wg_argument *const a = &f->input[i];
        const uint32_t first =
            wgi_builder_input(&b, "", a, wgi_argument_shared(a) ? 0 : WGI_STEPPED);
        for (size_t l = 0; l < wgi_argument_size(a); l++) in.node[e++] = first + (uint32_t)l;
    }
    hold_passive(&in, WGI_ONCE);
    hold_passive(&in, WGI_EACH);
    put_nodes(&in, WGI_ONCE, points);
    put_nodes(&in, WGI_EACH, points);
    put_guards(&in, 1);
    if (b.g.c->status != WG_OK) return NULL;
    body_outputs(&in, &b);
    *used = b.g.c->status == WG_OK ? wgi_builder_prune(&b) : NULL;
    return *used == NULL ? NULL : wgi_builder_repeat(&b, points, 0);
}

static wg_status repeated(wgi_walk *w, size_t points) {
    const wg_function *const f = w->f;
    wgi_core *const c = w->g->c;
    const unsigned char *used = NULL;
    const wgi_repeat *const r = body_of_points(w, points, &used);
    if (r == NULL) return c->status;
    uint32_t *const x = wgi_node_list(w->g->c, wgi_repeat_operands(r)), *at = x;
    if (x == NULL) return c->status;
    for (size_t i = 0; i < f->inputs; i++) {
        const size_t n = wgi_argument_size(&f->input[i]);
        for (size_t p = 0; used[i] && p < (wgi_argument_shared(&f->input[i]) ? 1 : points);
             p++, at += n) {
            const wg_status s = w->input(w, i, p, at);
            if (s != WG_OK) return s;
        }
    }
    uint32_t part = wgi_graph_repeat(w->g, r, x) + 1;
    for (size_t k = 0; k < f->outputs && c->status == WG_OK; k++) {
        const size_t n = wgi_argument_size(&f->output[k]);
        for (size_t p = 0; !wgi_argument_summed(&f->output[k]) && p < points; p++) {
            for (size_t e = 0; e < n; e++) w->operand[e] = part++;
            w->output(w, k, p, w->operand);
        }
    }
    for (size_t i = 0; i < f->nodes; i++)
        if (wgi_node_sums_points(f, i)) w->node[i] = part++;
    return c->status;
}

wg_status wgi_walk_through(wgi_walk *w, const wg_function *f, size_t points) {
    w->f = f;
    wg_status s = put_inputs(w, WGI_ONCE, 0);
    put_nodes(w, WGI_ONCE, points);
    if (s == WG_OK)
        s = wgi_walk_repeats(w, points, wgi_repeat_work(f)) ? repeated(w, points)
                                                            : written_out(w, points);
    put_nodes(w, WGI_AFTER, points);
    put_guards(w, 0);
    if (s == WG_OK) s = w->g->c->status;
    if (s == WG_OK) put_outputs(w, 1, 0);
    return s;
}

wg_status wgi_walk_open(wgi_walk *w, size_t count, const wg_function *const *f) {
    size_t nodes = 1, operands = 1, inputs = 1;
    wg_tape *const t = &w->g->c->head;
    for (size_t k = 0; k < count; k++) {
        if (f[k]->nodes > nodes) nodes = f[k]->nodes;
        if (f[k]->n > inputs) inputs = f[k]->n;
        if (f[k]->m > operands) operands = f[k]->m;
        for (size_t i = 0; i < f[k]->nodes; i++)
            if (f[k]->node[i].count > operands) operands = f[k]->node[i].count;
    }
    w->node = wg_tape_keep(t, nodes * sizeof *w->node, NULL);
    w->operand = wg_tape_keep(t, operands * sizeof *w->operand, NULL);
    w->filled = wg_tape_keep(t, inputs * sizeof *w->filled, NULL);
    return w->g->c->status;
}

/* ---- sources ---------------------------------------------------------------------------- */

size_t wgi_walk_first_of(const wgi_operand *o, size_t count) {
    size_t at = 0;
    for (size_t k = 0; k < count; k++) at += (size_t)o[k].rows * o[k].cols;
    return at;
}

wg_status wgi_walk_from_feed(wgi_walk *w, const wg_argument *a, const wgi_feed *from, size_t p,
                             uint32_t *to) {
    const size_t entries = wgi_argument_size(a);
    wg_points data = from->data;
    if (from->kind == WGI_FROM_MATRIX) {
        const size_t first = wgi_walk_first_of(w->b->operand, from->operand);
        memcpy(to, w->x + first + p * entries, entries * sizeof *to);
        return WG_OK;
    }
    if (w->sets != NULL) {
        memset(to, 0, entries * sizeof *to);
        return WG_OK;
    }
    if (from->kind == WGI_FROM_FILL) {
        const wg_status s = from->fill(p, 1, w->filled, from->user);
        if (s != WG_OK)
            return wgi_fail(w->g->c, s, "%s: %s: the callback of input %s returned %s",
                            w->g->call, w->b->op->name, a->name, wg_status_text(s));
        data = (wg_points){w->filled, 0, 1};
        p = 0;
    }
    for (size_t e = 0; e < entries; e++)
        to[e] = wgi_graph_number(
            w->g, data.data[(ptrdiff_t)p * data.point + (ptrdiff_t)e * data.entry]);
    return WG_OK;
}
