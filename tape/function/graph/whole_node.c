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
    (void)r;
    return wgi_graph_matrices(g, n, x);
}
