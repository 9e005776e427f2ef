/* SPDX-License-Identifier: MIT */
/* A graph becomes a function: memory of its own, bodies of its repeats, and a bytecode to
 * evaluate it by. */
#include "finish.h"

#include "tape/function/graph/layout.h"
#include "tape/function/run/bytecode.h"
#include "tape/sparsity/sparsity.h"

#include <string.h>

static wg_function *in_memory(wgi_graph *g, wg_function *start, const wg_argument *input,
                              const wg_argument *output) {
    const size_t bytes = start->home.bytes;
    void *base;
    const wg_status s = wgi_home_obtain_function(g->c, bytes, &start->home, &base);
    if (s == WG_OK) return wgi_layout_at(base, start, input, output);
    (void)wgi_fail(g->c, s, "%s: no memory for %zu bytes", g->call, bytes);
    return NULL;
}

static uint64_t identity_of(const wg_function *f) {
    uint64_t h = f->n;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t *const x = f->operand + n->first;
        const uint64_t what = (uint64_t)n->kind << 16 | (uint64_t)n->when << 8 | n->array;
        const uint64_t part = n->kind == WGI_NODE_NUMBER ? 0 : n->part;
        uint64_t own =
            wgi_mix(n->count, what << 32 | part, (uint64_t)(uintptr_t)wgi_node_scalar(n));
        for (uint32_t k = 0; k < n->count; k += 2)
            own = wgi_mix(own, (uint64_t)x[k] << 32 | (k + 1 < n->count ? x[k + 1] : 0), k);
        h = wgi_mix(h, own, i);
    }
    for (size_t j = 0; j < f->m; j++) h = wgi_mix(h, f->result[j], j);
    for (size_t i = 0; i < f->inputs; i++)
        h = wgi_mix(h, f->input[i].flags, wgi_argument_size(&f->input[i]));
    for (size_t k = 0; k < f->outputs; k++)
        h = wgi_mix(h, f->output[k].flags, wgi_argument_size(&f->output[k]));
    return h;
}

/* A function that stands in an arena, or is part of another one, as one of its own. */
static wg_function *own(wgi_graph *g, const wg_function *body);

/* Gives the function bodies of its own for its repeats, and bytecode. It is freed after a
 * failure. */
static wg_function *complete(wgi_graph *g, wg_function *f, const wgi_repeat *const *from) {
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = (wgi_repeat){.body = NULL};
    for (size_t k = 0; k < f->repeats && g->c->status == WG_OK; k++) {
        f->repeat[k] = *from[k];
        f->repeat[k].body = own(g, from[k]->body);
    }
    if (g->c->status == WG_OK) {
        f->work = wgi_repeat_work(f);
        f->identity = identity_of(f);
        f->stats.guards = wgi_repeat_guards(f);
    }
    if (g->c->status == WG_OK && wgi_bytecode_new(g->c, f) == WG_OK) return f;
    wg_function_free(f);
    return NULL;
}

static wg_function *own(wgi_graph *g, const wg_function *body) {
    wg_function start = *body;
    start.bytecode = NULL;
    start.native = NULL;
    wgi_layout_measure(&start, body->input, body->output);
    const wgi_repeat **const list =
        wg_tape_keep(&g->c->head, (body->repeats + 1) * sizeof *list, NULL);
    wg_function *const f =
        list == NULL ? NULL : in_memory(g, &start, body->input, body->output);
    if (f == NULL) return NULL;
    memcpy(f->node, body->node, f->nodes * sizeof *f->node);
    memcpy(f->operand, body->operand, f->operands * sizeof *f->operand);
    memcpy(f->result, body->result, f->m * sizeof *f->result);
    memcpy(f->guard, body->guard, f->guards * sizeof *f->guard);
    for (size_t k = 0; k < body->repeats; k++) list[k] = &body->repeat[k];
    return complete(g, f, list);
}

wg_status wgi_function_finish(wgi_graph *g, size_t inputs, const wg_argument *input,
                              size_t outputs, const wg_argument *output, const uint32_t *result,
                              wg_function **out) {
    wgi_core *const c = g->c;
    wg_function start;
    memset(&start, 0, sizeof start);
    wgi_list_room room = {0, 0};
    wgi_graph_close_table(g);
    uint32_t *const final = wgi_list_of(c, &room, (g->nodes + 1) * sizeof *final);
    if (final == NULL) return c->status;
    const wg_status s =
        wgi_layout_describe(g, inputs, input, outputs, output, result, final, &start);
    if (s != WG_OK) return s;
    wg_function *f = in_memory(g, &start, input, output);
    if (f == NULL) return c->status;
    wgi_layout_fill(g, f, result, final);
    wgi_list_give(c, &room);
    wgi_graph_close(g);
    f = complete(g, f, g->repeat);
    if (f != NULL) *out = f;
    return c->status;
}

wg_status wgi_builder_end(wgi_builder *b, wg_status s, wg_function **out) {
    if (s == WG_OK) s = b->c->status;
    if (s == WG_OK)
        s = wgi_function_finish(&b->g, b->inputs, b->input, b->outputs, b->output, b->result,
                                out);
    return wgi_drive_close(&b->d, s);
}

wg_status wgi_function_copy(wg_tape *t, const char *call, const wg_function *f,
                            wg_function **out) {
    wgi_builder b;
    const wg_status s = wgi_builder_begin(&b, t, call, f != NULL, out);
    if (s == WG_OK) {
        wgi_builder_inputs_of(&b, f);
        wgi_builder_outputs_of(&b, f, wgi_builder_take(&b, f, NULL));
    }
    return wgi_builder_end(&b, s, out);
}
