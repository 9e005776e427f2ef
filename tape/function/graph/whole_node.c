/* SPDX-License-Identifier: MIT */
/* Nodes for operations on matrices that functions keep: what kinds.def asks for of them. Their
 * derivatives are in whole_sweep.c. */
#include "whole_node.h"

#include "repeat.h"

wgi_node_shape wgi_whole_shape(const wgi_node *n, const wgi_repeat *r) {
    const wgi_whole_op op = wgi_whole_of(n);
    (void)r;
    return (wgi_node_shape){wgi_whole_operands(&op), wgi_whole_results(&op)};
}

/* As of products and solves: dense_node.c. */
size_t wgi_whole_cost(const wgi_node *n, const wgi_repeat *r) {
    const wgi_whole_op op = wgi_whole_of(n);
    (void)r;
    return wgi_whole_flops(&op) / 16 + n->count;
}

uint32_t wgi_whole_again(wgi_graph *g, const wgi_node *n, const wgi_repeat *r,
                         const uint32_t *x) {
    const wgi_whole_op op = wgi_whole_of(n);
    (void)r;
    return wgi_graph_whole_op(g, &op, x);
}

uint32_t wgi_graph_whole_op(wgi_graph *g, const wgi_whole_op *op, const uint32_t *x) {
    if (g->c->status != WG_OK) return 0;
    const wgi_node n = wgi_whole_node(op);
    const wgi_node_shape shape = {wgi_whole_operands(op), wgi_whole_results(op)};
    if (shape.operands >= UINT32_MAX / 8 || shape.parts >= UINT32_MAX / 8) {
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: %s: matrices of more than %u elements", g->call,
                       op->row->op->name, UINT32_MAX / 8);
        return 0;
    }
    return wgi_graph_whole(g, &n, shape, x);
}
