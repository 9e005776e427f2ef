/* SPDX-License-Identifier: MIT */
/* A graph becomes the arrays of a function: nodes that are needed get their final numbers, and
 * are laid out in one piece of memory. */
#include "layout.h"

#include <string.h>

static void names(wgi_pieces *p, size_t count, wg_argument *to, const wg_argument *from) {
    for (size_t k = 0; k < count; k++) {
        const size_t bytes = strlen(from[k].name) + 1;
        char *const name = wgi_pieces_take(p, bytes);
        if (name == NULL) continue;
        to[k] = from[k];
        to[k].name = memcpy(name, from[k].name, bytes);
    }
}

void wgi_layout_arrays(wg_function *f, wgi_pieces *p) {
    f->input = wgi_pieces_take(p, f->inputs * sizeof *f->input);
    f->output = wgi_pieces_take(p, f->outputs * sizeof *f->output);
    f->node = wgi_pieces_take(p, f->nodes * sizeof *f->node);
    f->operand = wgi_pieces_take(p, f->operands * sizeof *f->operand);
    f->result = wgi_pieces_take(p, f->m * sizeof *f->result);
    f->guard = wgi_pieces_take(p, f->guards * sizeof *f->guard);
    f->repeat = wgi_pieces_take(p, f->repeats * sizeof *f->repeat);
}

static void lay_out(wg_function *f, wgi_pieces *p, const wg_argument *input,
                    const wg_argument *output) {
    wgi_layout_arrays(f, p);
    names(p, f->inputs, f->input, input);
    names(p, f->outputs, f->output, output);
}

enum { NEEDED = 0 }; /* in the place of a number, until all nodes that are needed are known */

/* Numbers the nodes that are needed, in the order that a function has them; the others are
 * WGI_NO_NODE. */
static void number_nodes(const wgi_graph *g, wg_function *f, const uint32_t *result,
                         uint32_t *final) {
    memset(final, 0xff, g->nodes * sizeof *final);
    for (size_t j = 0; j < f->m; j++) final[result[j]] = NEEDED;
    for (size_t k = 0; k < g->guards; k++) final[g->guard[k].a] = final[g->guard[k].b] = NEEDED;
    const wgi_node *const node = g->node;
    const uint32_t *const operand = g->operand;
    size_t operations = 0, operands = 0, count[3] = {0, 0, 0};
    for (size_t i = g->nodes; i-- > 0;) {
        const wgi_node *const n = &node[i];
        const size_t is_operation = (size_t)wgi_node_is_operation(n);
        operations += is_operation;
        if (final[i] == WGI_NO_NODE) continue;
        const uint32_t *const x = operand + n->first;
        for (uint32_t k = 0; k < n->count; k++) final[x[k]] = NEEDED;
        f->numbers += n->kind == WGI_NODE_NUMBER;
        count[n->when] += is_operation, operands += n->count;
    }
    f->operands = operands;
    f->once = count[WGI_ONCE], f->each = count[WGI_EACH], f->after = count[WGI_AFTER];
    f->nodes = f->n + f->numbers + f->once + f->each + f->after;
    f->stats.dead += operations - (f->once + f->each + f->after);
    size_t number = f->n, at[3] = {f->n + f->numbers, 0, 0};
    at[WGI_EACH] = at[WGI_ONCE] + f->once;
    at[WGI_AFTER] = at[WGI_EACH] + f->each;
    for (size_t i = 0; i < g->nodes; i++) {
        const wgi_node *const n = &node[i];
        if (n->kind == WGI_NODE_INPUT) final[i] = n->part;
        else if (final[i] != WGI_NO_NODE)
            final[i] = (uint32_t)(n->kind == WGI_NODE_NUMBER ? number++ : at[n->when]++);
    }
}

void wgi_layout_fill(const wgi_graph *g, wg_function *f, const uint32_t *result,
                     const uint32_t *final) {
    uint32_t operands = 0;
    for (size_t i = 0; i < g->nodes; i++) {
        if (final[i] == WGI_NO_NODE) continue;
        const wgi_node *const n = &g->node[i];
        const uint32_t *const from = g->operand + n->first, count = n->count;
        uint32_t *const to = f->operand + operands;
        for (uint32_t k = 0; k < count; k++) to[k] = final[from[k]];
        wgi_node *const copy = &f->node[final[i]];
        *copy = *n;
        copy->first = operands;
        operands += count;
    }
    for (size_t j = 0; j < f->m; j++) f->result[j] = final[result[j]];
    for (size_t k = 0; k < f->guards; k++) {
        f->guard[k] = g->guard[k];
        f->guard[k].a = final[g->guard[k].a];
        f->guard[k].b = final[g->guard[k].b];
    }
}

static wg_status check_results(const wgi_graph *g, size_t outputs, const wg_argument *output,
                               const uint32_t *result) {
    for (size_t k = 0; k < outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&output[k]); e++) {
            const unsigned when = g->node[*result++].when;
            if (output[k].flags & WG_SUMMED ? when == WGI_EACH : when == WGI_AFTER)
                return wgi_fail(g->c, WG_EMODE, "%s: output %s is %s", g->call, output[k].name,
                                when == WGI_EACH ? "one per point, not summed"
                                                 : "a sum over the points: flag it WG_SUMMED");
        }
    return WG_OK;
}

/* Keeps only the repeats that are needed. */
static void prune_repeats(wgi_graph *g, const uint32_t *final) {
    if (g->repeats == 0) return;
    uint32_t *const place = wgi_no_nodes(g->c, g->repeats);
    if (place == NULL) return;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].kind == WGI_NODE_REPEAT && final[i] != WGI_NO_NODE)
            place[g->node[i].part] = 0;
    size_t left = 0;
    for (size_t k = 0; k < g->repeats; k++) {
        if (place[k] == WGI_NO_NODE) continue;
        g->repeat[left] = g->repeat[k];
        place[k] = (uint32_t)left++;
    }
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].kind == WGI_NODE_REPEAT) g->node[i].part = place[g->node[i].part];
    g->repeats = left;
}

/* It is counted anew, since a function that was loaded has its names closer together. */
void wgi_layout_measure(wg_function *f, const wg_argument *input, const wg_argument *output) {
    wgi_pieces p = {NULL, 0};
    (void)wgi_pieces_take(&p, sizeof *f);
    lay_out(f, &p, input, output);
    f->home.bytes = (p.used + WGI_PAGE - 1) / WGI_PAGE * WGI_PAGE;
}

wg_status wgi_layout_describe(wgi_graph *g, size_t inputs, const wg_argument *input,
                              size_t outputs, const wg_argument *output, const uint32_t *result,
                              uint32_t *final, wg_function *f) {
    const wg_status s = check_results(g, outputs, output, result);
    if (s != WG_OK) return s;
    f->inputs = inputs, f->outputs = outputs, f->guards = g->guards;
    f->stats = g->stats;
    for (size_t k = 0; k < inputs; k++) f->n += wgi_argument_size(&input[k]);
    for (size_t k = 0; k < outputs; k++) f->m += wgi_argument_size(&output[k]);
    number_nodes(g, f, result, final);
    prune_repeats(g, final);
    f->repeats = g->repeats;
    f->stats.once = f->once, f->stats.each = f->each;
    f->stats.after = f->after;
    f->stats.numbers = f->numbers, f->stats.guards = f->guards;
    if (g->c->status != WG_OK) return g->c->status;
    wgi_layout_measure(f, input, output);
    return WG_OK;
}

wg_function *wgi_layout_at(char *base, const wg_function *start, const wg_argument *input,
                           const wg_argument *output) {
    wg_function *const f = (wg_function *)(void *)base;
    *f = *start;
    wgi_pieces p = {base, 0};
    (void)wgi_pieces_take(&p, sizeof *f);
    lay_out(f, &p, input, output);
    return f;
}

wg_function *wgi_graph_body(wgi_graph *g, size_t inputs, const wg_argument *input,
                            size_t outputs, const wg_argument *output, const uint32_t *result) {
    wg_tape *const t = &g->c->head;
    wg_function start;
    memset(&start, 0, sizeof start);
    uint32_t *const final = wg_tape_keep(t, (g->nodes + 1) * sizeof *final, NULL);
    if (final == NULL ||
        wgi_layout_describe(g, inputs, input, outputs, output, result, final, &start) != WG_OK)
        return NULL;
    char *const base = wg_tape_keep(t, start.home.bytes, NULL);
    if (base == NULL) return NULL;
    wg_function *const f = wgi_layout_at(base, &start, input, output);
    wgi_layout_fill(g, f, result, final);
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = *g->repeat[k];
    f->work = wgi_repeat_work(f);
    return f;
}
