/* SPDX-License-Identifier: MIT */
/* dense_node.h - one node for an operation on whole matrices, which is a row of
 * ops/matrix/dense_values.h. Internal.
 *
 * Operands and results are single elements: whether a matrix is transposed, triangular or
 * symmetric is a matter of which nodes are named. Adjoints and tangents are more such nodes;
 * elements that are known to be 0, and rows and columns that nobody wants, are left out. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_DENSE_NODE_H
#define WGI_TAPE_FUNCTION_GRAPH_DENSE_NODE_H

#include "graph.h"

static inline wgi_node wgi_dense_node(const wgi_dense_op *op) {
    return wgi_node_of_matrices(WGI_NODE_DENSE, op->kind | op->flags << 4, op->size);
}

static inline wgi_dense_op wgi_dense_of(const wgi_node *n) {
    return (wgi_dense_op){
        n->array & 15u, (unsigned)n->array >> 4, {n->part, n->size[0], n->size[1]}};
}

static inline uint32_t wgi_graph_dense(wgi_graph *g, const wgi_dense_op *op,
                                       const uint32_t *x) {
    const wgi_node n = wgi_dense_node(op);
    return wgi_graph_matrices(g, &n, x);
}
/* Operands and results, together, of nodes of this kind and of whole_node.h that are done at
 * each point. */
size_t wgi_dense_elements(const wg_function *f);
#endif
