/* SPDX-License-Identifier: MIT */
/* The cut between a function and its adjoint: of the nodes that depend on no weight those are
 * kept that call a function, and that the adjoint still needs when all of these are given. */
#include "finish.h"
#include "kept.h"

#include "making.h"
#include "tape/function/native/native.h"

#include <string.h>

static const char call[] = "wg_callable_compile";

typedef struct cut {
    const wg_function *f, *vjp;
    wgi_making keeping, kept;
    uint32_t *value;       /* of each node of the vjp that has no weight: that of `keeping` */
    unsigned char *weighs; /* does a node of the vjp depend on a weight? */
    unsigned char *needed, *is_result;
    uint32_t *list; /* nodes of the vjp that are kept */
    size_t count;
} cut;

/* The node x of another function, its operands mapped. */
static uint32_t again(wgi_making *m, const wg_function *f, size_t i, const uint32_t *map,
                      uint32_t *x) {
    const wgi_node *const n = &f->node[i];
    for (uint32_t o = 0; o < n->count; o++) x[o] = map[f->operand[n->first + o]];
    return wgi_graph_again(&m->g, n, NULL, x);
}

static uint32_t *operands_of(wgi_making *m, const wg_function *f) {
    size_t most = 4;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].count > most) most = f->node[i].count;
    return wgi_making_list(m, most);
}

/* What the vjp computes before it comes to weights, in the graph of the function. */
static void take_values(cut *k) {
    const wg_function *const v = k->vjp;
    uint32_t *const x = operands_of(&k->keeping, v);
    for (size_t i = 0; i < v->nodes && k->keeping.c->status == WG_OK; i++) {
        const wgi_node *const n = &v->node[i];
        k->weighs[i] = n->kind == WGI_NODE_INPUT ? i >= k->f->n : n->when == WGI_AFTER;
        for (uint32_t o = 0; o < n->count; o++)
            k->weighs[i] |= k->weighs[v->operand[n->first + o]];
        if (k->weighs[i]) continue;
        k->value[i] =
            n->kind == WGI_NODE_INPUT ? (uint32_t)i : again(&k->keeping, v, i, k->value, x);
    }
}

/* What is a result anyway stands in no row of its own. */
static void choose(cut *k) {
    const wg_function *const v = k->vjp;
    for (size_t j = 0; j < v->m; j++) k->needed[v->result[j]] = 1;
    for (size_t i = v->nodes; i-- > 0;) {
        const wgi_node *const n = &v->node[i];
        if (!k->needed[i]) continue;
        if (!k->weighs[i] && n->when == WGI_EACH && wgi_native_takes_long(n) &&
            !k->is_result[k->value[i]]) {
            k->is_result[k->value[i]] = 1;
            k->list[k->count++] = (uint32_t)i;
            continue;
        }
        for (uint32_t o = 0; o < n->count; o++) k->needed[v->operand[n->first + o]] = 1;
    }
}

static void finish_keeping(cut *k, const uint32_t *map) {
    const wg_function *const f = k->f;
    wgi_making *const m = &k->keeping;
    wgi_making_room(m, f->m + k->count);
    for (size_t j = 0; j < f->outputs; j++)
        wgi_making_output(m, f->output[j].name, f->output[j].rows, f->output[j].cols,
                          f->output[j].flags);
    const char *const name = wgi_making_name(m, m->outputs, m->output, "kept", "");
    wgi_making_output(m, name, k->count, 1, 0);
    for (size_t j = 0; j < f->m; j++) wgi_making_put(m, map[f->result[j]]);
    for (size_t j = 0; j < k->count; j++) wgi_making_put(m, k->value[k->list[j]]);
}

/* Comparisons came out as recorded when the numbers were computed that are given. */
static wg_status make_kept(cut *k, wg_function **out) {
    const wg_function *const v = k->vjp;
    wgi_making *const m = &k->kept;
    wg_tape *const t = &k->keeping.c->head;
    m->c = k->keeping.c;
    wgi_graph_open(&m->g, m->c, call);
    m->input = wg_tape_keep(t, (v->inputs + 2) * sizeof *m->input, NULL);
    m->output = wg_tape_keep(t, (v->outputs + 1) * sizeof *m->output, NULL);
    uint32_t *const map = wgi_making_list(m, v->nodes), *const x = operands_of(m, v);
    wgi_making_room(m, v->m);
    if (m->c->status != WG_OK) return m->c->status;
    wgi_making_inputs_of(m, v);
    const wg_argument all = {wgi_making_name(m, m->inputs, m->input, "kept", ""), k->count, 1,
                             WG_PASSIVE};
    wgi_making_input(m, all.name, &all, all.flags);
    for (size_t i = 0; i < v->nodes; i++) map[i] = WGI_NO_NODE;
    for (size_t j = 0; j < k->count; j++) map[k->list[j]] = (uint32_t)(v->n + j);
    for (size_t i = 0; i < v->nodes && m->c->status == WG_OK; i++) {
        if (v->node[i].kind == WGI_NODE_INPUT) map[i] = (uint32_t)i;
        else if (k->needed[i] && map[i] == WGI_NO_NODE) map[i] = again(m, v, i, map, x);
    }
    for (size_t j = 0; j < v->outputs; j++)
        wgi_making_output(m, v->output[j].name, v->output[j].rows, v->output[j].cols,
                          v->output[j].flags);
    for (size_t j = 0; j < v->m; j++) wgi_making_put(m, map[v->result[j]]);
    if (m->c->status != WG_OK) return m->c->status;
    return wgi_function_finish(&m->g, m->inputs, m->input, m->outputs, m->output, m->result,
                               out);
}

static wg_status divide(cut *k, wg_function **kept) {
    wgi_making *const m = &k->keeping;
    wg_tape *const t = &m->c->head;
    wgi_making_inputs_of(m, k->f);
    const uint32_t *const map = wgi_making_take(m, k->f, NULL);
    k->value = wgi_making_list(m, k->vjp->nodes);
    k->list = wgi_making_list(m, k->vjp->nodes);
    k->weighs = wg_tape_keep(t, k->vjp->nodes + 1, NULL);
    k->needed = wg_tape_keep(t, k->vjp->nodes + 1, NULL);
    if (m->c->status != WG_OK) return m->c->status;
    memset(k->needed, 0, k->vjp->nodes);
    take_values(k);
    k->is_result = wg_tape_keep(t, m->g.nodes + 1, NULL);
    if (m->c->status != WG_OK) return m->c->status;
    memset(k->is_result, 0, m->g.nodes);
    for (size_t j = 0; j < k->f->m; j++) k->is_result[map[k->f->result[j]]] = 1;
    choose(k);
    if (k->count == 0) return m->c->status;
    finish_keeping(k, map);
    return make_kept(k, kept);
}

wg_status wgi_kept_new(wg_tape *t, const wg_function *f, const wg_function *vjp,
                       wg_function **keeping, wg_function **kept) {
    cut k;
    memset(&k, 0, sizeof k);
    *keeping = *kept = NULL;
    if (wgi_function_has_wholes(f) || wgi_function_has_wholes(vjp)) return WG_OK;
    k.f = f, k.vjp = vjp;
    wg_status s = wgi_making_begin(&k.keeping, t, call, 1, f->inputs + f->outputs + 1, keeping);
    if (k.keeping.c == NULL) return s;
    if (s == WG_OK) s = divide(&k, kept);
    if (s == WG_OK && k.count == 0) return wgi_drive_close(&k.keeping.d, s);
    s = wgi_making_end(&k.keeping, s, keeping);
    if (s == WG_OK) return s;
    wg_function_free(*kept);
    *kept = NULL;
    return s;
}
