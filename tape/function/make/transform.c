/* SPDX-License-Identifier: MIT */
/* Functions from functions. Each takes its source over into a new graph, adds what it is for
 * (sweep.c), and finishes a function. */
#include "tape/function/graph/hessian.h"
#include "making.h"

#include <wengert/derive.h>

#include <string.h>

/* ---- what is differentiated ---- */

static size_t active_entries(const wg_function *f) {
    size_t n = 0;
    for (size_t i = 0; i < f->inputs; i++)
        if (wgi_argument_active(&f->input[i])) n += wgi_argument_size(&f->input[i]);
    return n;
}

/* Which nodes of the graph depend on an input that is differentiated. */
static unsigned char *wanted(wgi_making *k, const wg_function *f) {
    unsigned char *const w = wg_tape_keep(&k->c->head, k->g.nodes + 1, NULL);
    if (w == NULL) return NULL;
    memset(w, 0, k->g.nodes);
    for (size_t i = 0, e = 0; i < f->inputs; e += wgi_argument_size(&f->input[i++]))
        memset(w + e, wgi_argument_active(&f->input[i]), wgi_argument_size(&f->input[i]));
    for (size_t i = 0; i < k->g.nodes; i++)
        for (uint32_t j = 0; j < k->g.node[i].count; j++)
            w[i] |= w[k->g.operand[k->g.node[i].first + j]];
    return w;
}

static void clear(uint32_t *bar, size_t nodes) {
    for (size_t i = 0; i < nodes; i++) bar[i] = WGI_NO_NODE;
}

static uint32_t *nothing(wgi_making *k, size_t nodes) {
    uint32_t *const bar = wgi_making_list(k, nodes);
    if (bar != NULL) clear(bar, nodes);
    return bar;
}

/* Tangents of all nodes by one input. */
static void tangents_along(wgi_making *k, size_t nodes, size_t input, uint32_t *tangent) {
    const uint32_t one = wgi_graph_number(&k->g, 1);
    if (k->c->status != WG_OK) return;
    clear(tangent, nodes);
    tangent[input] = one;
    wgi_graph_forward(&k->g, nodes, tangent);
}

/* To be linear in it: w added to what stands at a node. */
static void add_to(wgi_making *k, uint32_t *bar, uint32_t node, uint32_t w) {
    bar[node] = bar[node] == WGI_NO_NODE ? w : WGI_GRAPH2(&k->g, add, bar[node], w);
}

/* ---- Jacobian ---- */

/* An output dy/dx for each pair; without nodes as yet. */
static void name_pairs(wgi_making *k, const wg_function *f) {
    for (size_t j = 0; j < f->outputs; j++)
        for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++) {
            const wg_argument *const x = &f->input[i], *const y = &f->output[j];
            if (!wgi_argument_active(x)) continue;
            const char *const dy = wgi_argument_name(k->c, "d", y->name, "/d");
            if (dy == NULL) return;
            const size_t m = wgi_argument_size(y);
            wgi_making_output(k, wgi_making_name(k, k->outputs, k->output, dy, x->name),
                              m == 1 ? x->rows : wgi_argument_size(x), m == 1 ? x->cols : m,
                              wgi_argument_summed(y) && wgi_argument_shared(x) ? WG_SUMMED : 0);
        }
}

/* Entries of y[row] by all inputs that are differentiated. once: room for two numbers per node.
 */
static void gradient_of(wgi_making *k, const wg_function *f, size_t nodes,
                        const unsigned char *w, uint32_t node, int is_sum, uint32_t *once,
                        uint32_t *row) {
    uint32_t *const each = once + nodes;
    clear(once, 2 * nodes);
    const uint32_t one = wgi_graph_number(&k->g, 1);
    if (k->c->status != WG_OK) return;
    (is_sum ? once : each)[node] = one;
    if (is_sum) wgi_graph_reverse(&k->g, nodes, w, once, each);
    else wgi_graph_reverse_point(&k->g, nodes, w, each);
    for (size_t i = 0, e = 0, at = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++)
            if (wgi_argument_active(&f->input[i]))
                row[at++] = is_sum && wgi_argument_shared(&f->input[i]) ? once[e] : each[e];
}

static int sums_of_points(const wg_function *f) {
    int points = 0, sums = 0;
    for (size_t i = 0; i < f->inputs; i++)
        points |= wgi_argument_active(&f->input[i]) && !wgi_argument_shared(&f->input[i]);
    for (size_t j = 0; j < f->outputs; j++) sums |= wgi_argument_summed(&f->output[j]);
    return points && sums;
}

/* entry[j * n + i] of the Jacobian, n entries differentiated: row by row, in reverse. */
static void fill_rows(wgi_making *k, const wg_function *f, const uint32_t *map, size_t nodes,
                      uint32_t *entry) {
    const size_t n = active_entries(f);
    const unsigned char *const w = wanted(k, f);
    uint32_t *const once = wgi_making_list(k, 2 * nodes);
    if (k->c->status != WG_OK) return;
    for (size_t o = 0, j = 0; o < f->outputs; o++)
        for (size_t l = 0; l < wgi_argument_size(&f->output[o]); l++, j++)
            gradient_of(k, f, nodes, w, map[f->result[j]], wgi_argument_summed(&f->output[o]),
                        once, entry + j * n);
}

/* Column by column, forward. */
static void fill_columns(wgi_making *k, const wg_function *f, const uint32_t *map, size_t nodes,
                         uint32_t *entry) {
    const size_t n = active_entries(f);
    uint32_t *const tangent = wgi_making_list(k, nodes);
    for (size_t i = 0, e = 0, at = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++) {
            if (!wgi_argument_active(&f->input[i])) continue;
            tangents_along(k, nodes, e, tangent);
            if (k->c->status != WG_OK) return;
            for (size_t j = 0; j < f->m; j++) entry[j * n + at] = tangent[map[f->result[j]]];
            at++;
        }
}

/* Operations at each point that these nodes need; SIZE_MAX after a failure. */
static size_t work_at_points(wgi_making *k, size_t count, const uint32_t *node) {
    const wgi_graph *const g = &k->g;
    unsigned char *const needed = wg_tape_keep(&k->c->head, g->nodes + 1, NULL);
    size_t work = 0;
    if (needed == NULL) return SIZE_MAX;
    memset(needed, 0, g->nodes);
    for (size_t i = 0; i < count; i++)
        if (node[i] != WGI_NO_NODE) needed[node[i]] = 1;
    for (size_t i = g->nodes; i-- > 0;) {
        const wgi_node *const n = &g->node[i];
        if (!needed[i]) continue;
        work += n->when == WGI_EACH && n->kind != WGI_NODE_INPUT;
        for (uint32_t l = 0; l < n->count; l++) needed[g->operand[n->first + l]] = 1;
    }
    return work;
}

/* Is something done once that depends on what is differentiated? Forward it is once, still; in
 * reverse each point has adjoints of it. */
static int shares_work(const wg_function *f) {
    for (size_t i = 0; i < f->inputs; i++)
        if (wgi_argument_active(&f->input[i]) && wgi_argument_shared(&f->input[i]) &&
            f->once != 0)
            return 1;
    return 0;
}

/* By the shape; where that is not all there is to it, by the work at the points. */
static void fill_jacobian(wgi_making *k, const wg_function *f, const uint32_t *map,
                          uint32_t *entry) {
    enum { WIDE = 16 }; /* so many times wider than high: not forward in any case */
    const size_t n = active_entries(f), nodes = k->g.nodes;
    /* the tangent of an input moves all points at once: by it, a sum has no derivative of each
     */
    const int forward = !sums_of_points(f);
    if (forward && f->m > n) {
        fill_columns(k, f, map, nodes, entry);
        return;
    }
    fill_rows(k, f, map, nodes, entry);
    if (!forward || !shares_work(f) || n / WIDE > f->m) return;
    uint32_t *const other = wgi_making_list(k, f->m * n);
    if (other == NULL) return;
    fill_columns(k, f, map, nodes, other);
    if (k->c->status == WG_OK &&
        work_at_points(k, f->m * n, other) < work_at_points(k, f->m * n, entry))
        memcpy(entry, other, f->m * n * sizeof *entry);
}

static wg_status jacobian(wgi_making *k, const wg_function *f) {
    const size_t n = active_entries(f);
    if (f->m != 0 && n > SIZE_MAX / 64 / f->m)
        return wgi_fail(k->c, WG_ENOMEM, "%s: %zu by %zu entries", k->call, f->m, n);
    wgi_making_inputs_of(k, f);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    uint32_t *const entry = wgi_making_list(k, f->m * n);
    wgi_making_room(k, f->m * n);
    name_pairs(k, f);
    if (k->c->status != WG_OK) return k->c->status;
    fill_jacobian(k, f, map, entry);
    for (size_t o = 0, row = 0; o < f->outputs; row += wgi_argument_size(&f->output[o++]))
        for (size_t i = 0, at = 0; i < f->inputs; i++) {
            const size_t size = wgi_argument_size(&f->input[i]);
            if (!wgi_argument_active(&f->input[i])) continue;
            for (size_t j = 0; j < wgi_argument_size(&f->output[o]); j++)
                for (size_t l = 0; l < size && k->c->status == WG_OK; l++)
                    wgi_making_put_or_zero(k, entry[(row + j) * n + at + l]);
            at += size;
        }
    return k->c->status;
}

wg_status wg_function_jacobian(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    const size_t pairs = f == NULL ? 0 : f->inputs * f->outputs + f->inputs;
    wg_status s = wgi_making_begin(&k, t, "wg_function_jacobian", f != NULL, pairs, out);
    if (s == WG_OK) s = jacobian(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

static int is_one_number(const wg_function *f) { return f->outputs == 1 && f->m == 1; }

wg_status wg_function_gradient(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_gradient", f != NULL,
                                   f == NULL ? 0 : 2 * f->inputs, out);
    if (s == WG_OK && !is_one_number(f))
        s = wgi_fail(k.c, WG_ESHAPE, "%s: %zu outputs of %zu entries, not one of one", k.call,
                     f->outputs, f->m);
    if (s == WG_OK) s = jacobian(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- products with the Jacobian ---- */

/* Inputs d... for what is differentiated; the first node of each. */
static void add_tangents(wgi_making *k, const wg_function *f, size_t *first) {
    for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++) {
        first[i] = k->g.nodes;
        if (!wgi_argument_active(&f->input[i])) continue;
        const char *const name = wgi_making_name(k, k->inputs, k->input, "d", f->input[i].name);
        wgi_making_input(k, name, &f->input[i], f->input[i].flags & WG_SHARED);
    }
}

static size_t *places(wgi_making *k, size_t count) {
    return wg_tape_keep(&k->c->head, (count + 1) * sizeof(size_t), NULL);
}

/* Tangents of all nodes below `nodes`: those of inputs are the inputs that begin at first. */
static uint32_t *tangents(wgi_making *k, const wg_function *f, const size_t *first,
                          size_t nodes) {
    uint32_t *const tangent = nothing(k, nodes);
    if (tangent == NULL) return NULL;
    for (size_t i = 0, e = 0; i < f->inputs; e += wgi_argument_size(&f->input[i++]))
        for (size_t l = 0;
             wgi_argument_active(&f->input[i]) && l < wgi_argument_size(&f->input[i]); l++)
            tangent[e + l] = (uint32_t)(first[i] + l);
    wgi_graph_forward(&k->g, nodes, tangent);
    return tangent;
}

static wg_status jvp(wgi_making *k, const wg_function *f) {
    size_t *const first = places(k, f->inputs);
    if (first == NULL) return k->c->status;
    wgi_making_inputs_of(k, f);
    add_tangents(k, f, first);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    wgi_making_room(k, f->m);
    if (k->c->status != WG_OK) return k->c->status;
    const uint32_t *const tangent = tangents(k, f, first, k->g.nodes);
    for (size_t j = 0; j < f->outputs; j++)
        wgi_making_output(k, wgi_making_name(k, k->outputs, k->output, "d", f->output[j].name),
                          f->output[j].rows, f->output[j].cols, f->output[j].flags);
    for (size_t j = 0; tangent != NULL && j < f->m; j++)
        wgi_making_put_or_zero(k, tangent[map[f->result[j]]]);
    return k->c->status;
}

wg_status wg_function_jvp(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_jvp", f != NULL,
                                   f == NULL ? 0 : 2 * f->inputs + f->outputs, out);
    if (s == WG_OK) s = jvp(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* Weights: inputs w... for all outputs; the first node of each. */
static void add_weights(wgi_making *k, const wg_function *f, size_t *first) {
    for (size_t j = 0; j < f->outputs && k->c->status == WG_OK; j++) {
        first[j] = k->g.nodes;
        wgi_making_input(k, wgi_making_name(k, k->inputs, k->input, "w", f->output[j].name),
                         &f->output[j], wgi_argument_summed(&f->output[j]) ? WG_SHARED : 0);
    }
}

/* Adjoints of the entries differentiated, in order, from weights. first NULL: the adjoints of
 * one output of one entry, at each point if it is not summed. */
static uint32_t *adjoints(wgi_making *k, const wg_function *f, const uint32_t *map,
                          const size_t *first) {
    const size_t nodes = k->g.nodes;
    uint32_t *const g = wgi_making_list(k, active_entries(f));
    const unsigned char *const w = wanted(k, f);
    if (k->c->status != WG_OK) return NULL;
    if (first == NULL) {
        uint32_t *const both = wgi_making_list(k, 2 * nodes);
        if (both == NULL) return NULL;
        gradient_of(k, f, nodes, w, map[f->result[0]], wgi_argument_summed(&f->output[0]), both,
                    g);
        return g;
    }
    uint32_t *const once = nothing(k, nodes), *const each = nothing(k, nodes);
    if (k->c->status != WG_OK) return NULL;
    for (size_t o = 0, j = 0; o < f->outputs; o++)
        for (size_t l = 0; l < wgi_argument_size(&f->output[o]); l++, j++)
            add_to(k, wgi_argument_summed(&f->output[o]) ? once : each, map[f->result[j]],
                   (uint32_t)(first[o] + l));
    wgi_graph_reverse(&k->g, nodes, w, once, each);
    for (size_t i = 0, e = 0, at = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++)
            if (wgi_argument_active(&f->input[i]))
                g[at++] = wgi_argument_shared(&f->input[i]) ? once[e] : each[e];
    return g;
}

/* Are derivatives by a shared input sums? Those of an output per point without weights not. */
static unsigned sum_flag(const wg_function *f, const wg_argument *x, int weighted) {
    return wgi_argument_shared(x) && (weighted || wgi_argument_summed(&f->output[0]))
               ? WG_SUMMED
               : 0;
}

/* Outputs like the inputs that are differentiated. */
static void add_outputs_like_inputs(wgi_making *k, const wg_function *f, const char *letter,
                                    int weighted) {
    for (size_t i = 0; i < f->inputs && k->c->status == WG_OK; i++)
        if (wgi_argument_active(&f->input[i]))
            wgi_making_output(
                k, wgi_making_name(k, k->outputs, k->output, letter, f->input[i].name),
                f->input[i].rows, f->input[i].cols, sum_flag(f, &f->input[i], weighted));
}

static wg_status vjp(wgi_making *k, const wg_function *f) {
    size_t *const first = places(k, f->outputs);
    if (first == NULL) return k->c->status;
    wgi_making_inputs_of(k, f);
    add_weights(k, f, first);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    const size_t n = active_entries(f);
    wgi_making_room(k, n);
    add_outputs_like_inputs(k, f, "d", 1);
    if (k->c->status != WG_OK) return k->c->status;
    const uint32_t *const g = adjoints(k, f, map, first);
    for (size_t i = 0; g != NULL && i < n; i++) wgi_making_put_or_zero(k, g[i]);
    return k->c->status;
}

wg_status wg_function_vjp(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_vjp", f != NULL,
                                   f == NULL ? 0 : 2 * f->inputs + f->outputs, out);
    if (s == WG_OK) s = vjp(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- second derivatives ---- */

static wg_status hvp(wgi_making *k, const wg_function *f) {
    const int weighted = !is_one_number(f);
    size_t *const weight = places(k, f->outputs), *const first = places(k, f->inputs);
    if (k->c->status != WG_OK) return k->c->status;
    wgi_making_inputs_of(k, f);
    if (weighted) add_weights(k, f, weight);
    add_tangents(k, f, first);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    const size_t n = active_entries(f);
    wgi_making_room(k, n);
    add_outputs_like_inputs(k, f, "h", weighted);
    if (k->c->status != WG_OK) return k->c->status;
    const uint32_t *const g = adjoints(k, f, map, weighted ? weight : NULL);
    if (g == NULL) return k->c->status;
    const uint32_t *const tangent = tangents(k, f, first, k->g.nodes);
    for (size_t i = 0; tangent != NULL && i < n; i++)
        wgi_making_put_or_zero(k, g[i] == WGI_NO_NODE ? WGI_NO_NODE : tangent[g[i]]);
    return k->c->status;
}

wg_status wg_function_hvp(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_hvp", f != NULL,
                                   f == NULL ? 0 : 3 * f->inputs + f->outputs, out);
    if (s == WG_OK) s = hvp(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* Column by column, each below the diagonal; the rest is the same by symmetry. */
static void fill_columns_of_hessian(wgi_making *k, const wg_function *f, const uint32_t *g,
                                    uint32_t *h) {
    const size_t n = active_entries(f), nodes = k->g.nodes;
    uint32_t *const tangent = wgi_making_list(k, nodes);
    for (size_t i = 0, e = 0, at = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++) {
            if (!wgi_argument_active(&f->input[i])) continue;
            tangents_along(k, nodes, e, tangent);
            if (k->c->status != WG_OK) return;
            for (size_t j = at; j < n; j++)
                h[j * n + at] = h[at * n + j] =
                    g[j] == WGI_NO_NODE ? WGI_NO_NODE : tangent[g[j]];
            at++;
        }
}

/* All at once; 0: not in this way. */
static int push_hessian(wgi_making *k, const wg_function *f, const uint32_t *map, size_t nodes,
                        const size_t *weight, uint32_t *h) {
    const unsigned char *const w = wanted(k, f);
    uint32_t *const bar = nothing(k, nodes), *const input = wgi_making_list(k, f->n);
    if (k->c->status != WG_OK) return 0;
    for (size_t o = 0, j = 0; o < f->outputs; o++)
        for (size_t l = 0; l < wgi_argument_size(&f->output[o]); l++, j++)
            add_to(k, bar, map[f->result[j]],
                   weight != NULL ? (uint32_t)(weight[o] + l) : wgi_graph_number(&k->g, 1));
    size_t n = 0;
    for (size_t i = 0, e = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++)
            if (wgi_argument_active(&f->input[i])) input[n++] = (uint32_t)e;
    return wgi_graph_hessian(&k->g, nodes, w, bar, n, input, h);
}

/* By columns; or all at once, where that is possible and less work at the points. */
static void fill_hessian(wgi_making *k, const wg_function *f, const uint32_t *map,
                         const size_t *weight, uint32_t *h) {
    const size_t n = active_entries(f), nodes = k->g.nodes;
    uint32_t *const pushed = wgi_making_list(k, n * n);
    const uint32_t *const g = adjoints(k, f, map, weight);
    if (pushed == NULL || g == NULL) return;
    fill_columns_of_hessian(k, f, g, h);
    if (!push_hessian(k, f, map, nodes, weight, pushed) || k->c->status != WG_OK) return;
    if (work_at_points(k, n * n, pushed) < work_at_points(k, n * n, h))
        memcpy(h, pushed, n * n * sizeof *h);
}

static wg_status hessian(wgi_making *k, const wg_function *f) {
    const int weighted = !is_one_number(f);
    const size_t n = active_entries(f);
    size_t *const weight = places(k, f->outputs);
    unsigned flags = 0;
    int first = 1;
    if (n > UINT32_MAX || (n != 0 && n > SIZE_MAX / 64 / n))
        return wgi_fail(k->c, WG_ENOMEM, "%s: %zu by %zu entries", k->call, n, n);
    for (size_t i = 0; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i]) || wgi_argument_size(&f->input[i]) == 0)
            continue;
        const unsigned more = sum_flag(f, &f->input[i], weighted);
        if (!first && more != flags)
            return wgi_fail(k->c, WG_EMODE,
                            "%s: some of its inputs are shared and summed, %s is not: flag the "
                            "others WG_PASSIVE",
                            k->call, f->input[i].name);
        flags = more, first = 0;
    }
    wgi_making_inputs_of(k, f);
    if (weighted && weight != NULL) add_weights(k, f, weight);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    uint32_t *const h = wgi_making_list(k, n * n);
    wgi_making_room(k, n * n);
    wgi_making_output(k, "hess", n, n, flags);
    if (k->c->status != WG_OK) return k->c->status;
    fill_hessian(k, f, map, weighted ? weight : NULL, h);
    for (size_t i = 0; k->c->status == WG_OK && i < n * n; i++) wgi_making_put_or_zero(k, h[i]);
    return k->c->status;
}

wg_status wg_function_hessian(wg_tape *t, const wg_function *f, wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_hessian", f != NULL,
                                   f == NULL ? 0 : f->inputs + f->outputs + 1, out);
    if (s == WG_OK) s = hessian(&k, f);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}

/* ---- Taylor coefficients along a line ---- */

static wg_status taylor(wgi_making *k, const wg_function *f, size_t order) {
    size_t *const first = places(k, f->inputs);
    if (order >= 64) return wgi_fail(k->c, WG_EARG, "%s: order %zu", k->call, order);
    wgi_making_inputs_of(k, f);
    if (first != NULL) add_tangents(k, f, first);
    const uint32_t *const map = wgi_making_take(k, f, NULL);
    uint32_t *const c = wgi_making_list(k, f->m * (order + 1));
    wgi_making_room(k, f->m * (order + 1));
    if (k->c->status != WG_OK) return k->c->status;
    for (size_t j = 0; j < f->m; j++) c[j] = map[f->result[j]];
    for (size_t q = 1; q <= order; q++) {
        const uint32_t *const tangent = tangents(k, f, first, k->g.nodes);
        const uint32_t by = wgi_graph_number(&k->g, (double)q);
        if (tangent == NULL || k->c->status != WG_OK) return k->c->status;
        for (size_t j = 0; j < f->m; j++) {
            const uint32_t d = tangent[c[(q - 1) * f->m + j]];
            c[q * f->m + j] =
                d == WGI_NO_NODE ? wgi_graph_number(&k->g, 0) : WGI_GRAPH2(&k->g, div, d, by);
        }
    }
    for (size_t o = 0, row = 0; o < f->outputs; row += wgi_argument_size(&f->output[o++])) {
        const size_t m = wgi_argument_size(&f->output[o]);
        wgi_making_output(k, wgi_making_name(k, k->outputs, k->output, "t", f->output[o].name),
                          m, order + 1, f->output[o].flags);
        for (size_t q = 0; q <= order; q++)
            for (size_t j = 0; j < m; j++) wgi_making_put(k, c[q * f->m + row + j]);
    }
    return k->c->status;
}

wg_status wg_function_taylor(wg_tape *t, const wg_function *f, size_t order,
                             wg_function **out) {
    wgi_making k;
    wg_status s = wgi_making_begin(&k, t, "wg_function_taylor", f != NULL,
                                   f == NULL ? 0 : 2 * f->inputs + f->outputs, out);
    if (s == WG_OK) s = taylor(&k, f, order);
    return k.c == NULL ? s : wgi_making_end(&k, s, out);
}
