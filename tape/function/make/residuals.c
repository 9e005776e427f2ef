/* SPDX-License-Identifier: MIT */
/* The cut between a function and its adjoint. Residuals are nodes of the adjoint that depend on
 * no weight and whose value is a call of a function, as exp, if they are still needed once all
 * residuals are given. */
#include "finish.h"
#include "residuals.h"

#include "tape/function/native/native.h"

#include <string.h>

typedef struct cut {
    const wg_function *f, *vjp;
    wgi_builder forward, backward;
    /* of each node of the vjp that depends on no weight: its node in `forward` */
    uint32_t *value;
    unsigned char *weighs;    /* does a node of the vjp depend on a weight? */
    unsigned char *needed;    /* is a node of the vjp needed once all residuals are given? */
    unsigned char *is_result; /* is a node of `forward` one of its results? */
    uint32_t *residual;       /* the residuals, as nodes of the vjp */
    size_t count;
} cut;

/* Adds node i of the vjp to another graph, its operands mapped; x: room for them. */
static uint32_t again(const cut *k, wgi_builder *to, size_t i, const uint32_t *map,
                      uint32_t *x) {
    const wgi_node *const n = &k->vjp->node[i];
    for (uint32_t o = 0; o < n->count; o++) x[o] = map[k->vjp->operand[n->first + o]];
    return wgi_graph_again(&to->g, n, NULL, x);
}

/* Adds to `forward` what the vjp computes without weights. */
static void take_values(cut *k, uint32_t *x) {
    const wg_function *const v = k->vjp;
    for (size_t i = 0; i < v->nodes; i++) {
        const wgi_node *const n = &v->node[i];
        k->weighs[i] = n->kind == WGI_NODE_INPUT ? i >= k->f->n : n->when == WGI_AFTER;
    }
    wgi_mark_dependent(v->nodes, v->node, v->operand, k->weighs);
    for (size_t i = 0; i < v->nodes && k->forward.c->status == WG_OK; i++) {
        if (k->weighs[i]) continue;
        k->value[i] = v->node[i].kind == WGI_NODE_INPUT ? (uint32_t)i
                                                        : again(k, &k->forward, i, k->value, x);
    }
}

/* Chooses the residuals. One that is a result of the function anyhow is not handed on a second
 * time. */
static void choose(cut *k) {
    const wg_function *const v = k->vjp;
    for (size_t j = 0; j < v->m; j++) k->needed[v->result[j]] = 1;
    for (size_t i = v->nodes; i-- > 0;) {
        const wgi_node *const n = &v->node[i];
        if (!k->needed[i]) continue;
        if (!k->weighs[i] && n->when == WGI_EACH && wgi_native_takes_long(n) &&
            !k->is_result[k->value[i]]) {
            k->is_result[k->value[i]] = 1;
            k->residual[k->count++] = (uint32_t)i;
            continue;
        }
        for (uint32_t o = 0; o < n->count; o++) k->needed[v->operand[n->first + o]] = 1;
    }
}

static void build_forward(cut *k, const uint32_t *map) {
    wgi_builder *const b = &k->forward;
    wgi_builder_outputs_of(b, k->f, map);
    wgi_builder_output(b, "", &(wg_argument){"residuals", k->count, 1, 0}, 0);
    for (size_t j = 0; j < k->count; j++) wgi_builder_result(b, k->value[k->residual[j]]);
}

/* Makes `backward`, without comparisons: those were made when the residuals were computed. */
static wg_status build_backward(cut *k, uint32_t *x, wg_function **out) {
    const wg_function *const v = k->vjp;
    wgi_builder *const b = &k->backward;
    wgi_builder_open(b, k->forward.c, k->forward.d.call);
    uint32_t *const map = wgi_no_nodes(b->c, v->nodes);
    if (b->c->status != WG_OK) return b->c->status;
    wgi_builder_inputs_of(b, v);
    const uint32_t given =
        wgi_builder_input(b, "", &(wg_argument){"residuals", k->count, 1, 0}, WG_PASSIVE);
    for (uint32_t j = 0; j < k->count; j++) map[k->residual[j]] = given + j;
    for (size_t i = 0; i < v->nodes && b->c->status == WG_OK; i++) {
        if (v->node[i].kind == WGI_NODE_INPUT) map[i] = (uint32_t)i;
        else if (k->needed[i] && map[i] == WGI_NO_NODE) map[i] = again(k, b, i, map, x);
    }
    wgi_builder_outputs_of(b, v, map);
    if (b->c->status != WG_OK) return b->c->status;
    return wgi_function_finish(&b->g, b->inputs, b->input, b->outputs, b->output, b->result,
                               out);
}

static wg_status divide(cut *k, wg_function **backward) {
    const wg_function *const v = k->vjp;
    wgi_builder *const b = &k->forward;
    wg_tape *const t = &b->c->head;
    size_t most = 4;
    for (size_t i = 0; i < v->nodes; i++)
        if (v->node[i].count > most) most = v->node[i].count;
    wgi_builder_inputs_of(b, k->f);
    const uint32_t *const map = wgi_builder_take(b, k->f, NULL);
    uint32_t *const x = wgi_node_list(b->c, most);
    k->value = wgi_node_list(b->c, v->nodes);
    k->residual = wgi_node_list(b->c, v->nodes);
    k->weighs = wg_tape_keep(t, v->nodes + 1, NULL);
    k->needed = wgi_node_marks(b->c, v->nodes);
    if (b->c->status != WG_OK) return b->c->status;
    take_values(k, x);
    k->is_result = wgi_node_marks(b->c, b->g.nodes);
    if (b->c->status != WG_OK) return b->c->status;
    for (size_t j = 0; j < k->f->m; j++) k->is_result[map[k->f->result[j]]] = 1;
    choose(k);
    if (k->count == 0) return b->c->status;
    build_forward(k, map);
    return build_backward(k, x, backward);
}

wg_status wgi_residuals_new(wg_tape *t, const wg_function *f, const wg_function *vjp,
                            wg_function **forward, wg_function **backward) {
    cut k = {.f = f, .vjp = vjp};
    *forward = *backward = NULL;
    if (wgi_function_has_wholes(f) || wgi_function_has_wholes(vjp)) return WG_OK;
    wg_status s = wgi_builder_begin(&k.forward, t, "wg_callable_compile", 1, forward);
    if (s == WG_OK) s = divide(&k, backward);
    if (s == WG_OK && k.count == 0) return wgi_drive_close(&k.forward.d, s);
    s = wgi_builder_end(&k.forward, s, forward);
    if (s == WG_OK) return s;
    wg_function_free(*backward);
    *backward = NULL;
    return s;
}
