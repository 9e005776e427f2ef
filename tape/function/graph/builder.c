/* SPDX-License-Identifier: MIT */
/* Functions under construction: lists that grow, names that are not taken yet, nodes taken over
 * from other functions. */
#include "builder.h"

#include <stdio.h>
#include <string.h>

void wgi_builder_open(wgi_builder *b, wgi_core *c, const char *call) {
    memset(b, 0, sizeof *b);
    b->c = c;
    wgi_graph_open(&b->g, c, call);
}

wg_status wgi_builder_begin(wgi_builder *b, wg_tape *t, const char *call, int given,
                            wg_function **out) {
    memset(b, 0, sizeof *b);
    if (out != NULL) *out = NULL;
    const wg_status s = wgi_drive_open_alone(&b->d, t, call);
    if (s != WG_OK) return s;
    b->c = b->d.c;
    wgi_graph_open(&b->g, b->c, call);
    if (out == NULL) return wgi_fail(b->c, WG_ENULL, "%s: out is NULL", call);
    if (!given) return wgi_fail(b->c, WG_ENULL, "%s: a function is NULL", call);
    return b->c->status;
}

/* ---- lists ---- */

/* The list with room for one more element; a failure is the tape's. */
static void *grown(wgi_core *c, void *list, size_t count, size_t *room, size_t size) {
    if (count < *room) return list;
    const size_t more = *room == 0 ? 16 : 2 * *room;
    void *const p = wg_tape_keep(&c->head, more * size, NULL);
    if (p == NULL) return NULL;
    if (count != 0) memcpy(p, list, count * size);
    *room = more;
    return p;
}

/* ---- arguments ---- */

static const char *free_name(wgi_core *c, size_t count, const wg_argument *taken,
                             const char *before, const char *name) {
    const char *const plain = *before == 0 ? name : wgi_argument_name(c, before, name, "");
    const char *all = plain;
    for (size_t i = 2; all != NULL && wgi_argument_find(count, taken, all) != count; i++) {
        char place[24];
        (void)snprintf(place, sizeof place, "_%zu", i);
        all = wgi_argument_name(c, plain, place, "");
    }
    return all;
}

static void add(wgi_core *c, wg_argument **list, size_t *count, size_t *room,
                const char *before, const wg_argument *like, unsigned flags) {
    const char *const name = free_name(c, *count, *list, before, like->name);
    wg_argument *const all = grown(c, *list, *count, room, sizeof *all);
    if (name == NULL || all == NULL) return;
    all[(*count)++] = (wg_argument){name, like->rows, like->cols, flags};
    *list = all;
}

/* `flag` for an argument of a body that has no role, if the steps of the body are points. */
static unsigned common(const wgi_builder *b, unsigned flags, unsigned flag) {
    return b->by_points && (flags & (WGI_CARRIED | WGI_STEPPED)) == 0 ? flag : 0;
}

uint32_t wgi_builder_input(wgi_builder *b, const char *before, const wg_argument *like,
                           unsigned flags) {
    const uint32_t first = (uint32_t)b->g.nodes;
    flags |= common(b, flags, WG_SHARED);
    if (b->c->status != WG_OK) return 0;
    add(b->c, &b->input, &b->inputs, &b->input_room, before, like, flags);
    for (size_t e = 0; e < wgi_argument_size(like) && b->c->status == WG_OK; e++, b->entries++)
        (void)wgi_graph_input(&b->g, flags & WG_SHARED ? WGI_ONCE : WGI_EACH);
    return first;
}

void wgi_builder_output(wgi_builder *b, const char *before, const wg_argument *like,
                        unsigned flags) {
    flags |= common(b, flags, WG_SUMMED);
    if (b->c->status == WG_OK)
        add(b->c, &b->output, &b->outputs, &b->output_room, before, like, flags);
}

void wgi_builder_result(wgi_builder *b, uint32_t node) {
    uint32_t *const list = b->c->status == WG_OK ? grown(b->c, b->result, b->results,
                                                         &b->result_room, sizeof *b->result)
                                                 : NULL;
    if (list == NULL) return;
    b->result = list;
    b->result[b->results++] = node != WGI_NO_NODE ? node : wgi_graph_number(&b->g, 0);
}

/* ---- other functions ---- */

void wgi_builder_inputs_of(wgi_builder *b, const wg_function *f) {
    for (size_t i = 0; i < f->inputs; i++)
        (void)wgi_builder_input(b, "", &f->input[i], f->input[i].flags);
}

uint32_t *wgi_builder_take(wgi_builder *b, const wg_function *f, const uint32_t *input) {
    uint32_t *const map = wgi_node_list(b->c, f->nodes);
    uint32_t *const first = wgi_node_list(b->c, f->n);
    if (b->c->status != WG_OK) return NULL;
    for (size_t i = 0; i < f->n; i++) first[i] = (uint32_t)i;
    wgi_graph_take(&b->g, f, input != NULL ? input : first, map);
    b->g.stats.operations += f->once + f->each + f->after;
    return b->c->status == WG_OK ? map : NULL;
}

void wgi_builder_outputs_of(wgi_builder *b, const wg_function *f, const uint32_t *map) {
    for (size_t j = 0; j < f->outputs; j++)
        wgi_builder_output(b, "", &f->output[j], f->output[j].flags);
    for (size_t j = 0; map != NULL && j < f->m; j++) wgi_builder_result(b, map[f->result[j]]);
}

/* ---- what is needed ---- */

/* The nodes needed, in another builder whose inputs are there already. */
static void take_needed(wgi_graph *to, const wgi_builder *b, const unsigned char *needed,
                        uint32_t *map) {
    const wgi_graph *const g = &b->g;
    uint32_t *const x = wgi_node_list(b->c, g->operands);
    for (size_t i = b->entries; i < g->nodes && to->c->status == WG_OK; i++) {
        const wgi_node *const n = &g->node[i];
        if (!needed[i]) continue;
        for (uint32_t k = 0; k < n->count; k++) x[k] = map[g->operand[n->first + k]];
        map[i] =
            wgi_graph_again(to, n, n->kind == WGI_NODE_REPEAT ? g->repeat[n->part] : NULL, x);
    }
    for (size_t k = 0; k < g->guards && to->c->status == WG_OK; k++)
        wgi_graph_guard_add(to, map[g->guard[k].a], map[g->guard[k].b], g->guard[k].comparison,
                            g->guard[k].outcome);
}

const unsigned char *wgi_builder_prune(wgi_builder *b) {
    wgi_core *const c = b->c;
    const wgi_graph *const g = &b->g;
    unsigned char *const used = wg_tape_keep(&c->head, b->inputs + 1, NULL);
    unsigned char *const needed = wgi_node_marks(c, g->nodes);
    uint32_t *const map = wgi_node_list(b->c, g->nodes);
    if (c->status != WG_OK) return NULL;
    for (size_t j = 0; j < b->results; j++) needed[b->result[j]] = 1;
    for (size_t k = 0; k < g->guards; k++) needed[g->guard[k].a] = needed[g->guard[k].b] = 1;
    wgi_mark_needed(g->nodes, g->node, g->operand, needed);
    wgi_builder to;
    wgi_builder_open(&to, c, g->call);
    to.by_points = b->by_points;
    for (size_t i = 0, e = 0; i < b->inputs; i++) {
        const wg_argument *const a = &b->input[i];
        const size_t n = wgi_argument_size(a);
        used[i] = wgi_is_carried(a) != 0;
        for (size_t l = 0; l < n; l++) used[i] |= needed[e + l];
        const uint32_t first = used[i] ? wgi_builder_input(&to, "", a, a->flags) : 0;
        for (size_t l = 0; l < n; l++, e++) map[e] = first + (uint32_t)l;
    }
    if (c->status != WG_OK) return NULL;
    take_needed(&to.g, b, needed, map);
    for (size_t j = 0; j < b->results && c->status == WG_OK; j++)
        b->result[j] = map[b->result[j]];
    wgi_graph_close(&b->g);
    to.outputs = b->outputs, to.output = b->output, to.output_room = b->output_room;
    to.results = b->results, to.result = b->result, to.result_room = b->result_room;
    *b = to;
    return c->status == WG_OK ? used : NULL;
}

const wgi_repeat *wgi_builder_repeat(wgi_builder *b, size_t steps, int backwards) {
    wgi_repeat *const r =
        b->c->status == WG_OK ? wg_tape_keep(&b->c->head, sizeof *r, NULL) : NULL;
    if (r == NULL) return NULL;
    r->steps = steps;
    r->backwards = backwards;
    r->solves = 0;
    r->body = wgi_graph_body(&b->g, b->inputs, b->input, b->outputs, b->output, b->result);
    return b->c->status == WG_OK ? r : NULL;
}
