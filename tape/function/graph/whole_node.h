/* SPDX-License-Identifier: MIT */
/* whole_node.h - one node for an operation on matrices that stays as it is, with its
 * descriptor, a row of ops/matrix/whole.h. Internal.
 *
 * Operands: the elements of all operands, matrix after matrix, column after column; then the
 * numbers that are its parameters. Parts: the elements of all results likewise. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_WHOLE_NODE_H
#define WGI_TAPE_FUNCTION_GRAPH_WHOLE_NODE_H

#include "graph.h"
#include "ops/matrix/whole.h"

static inline wgi_node wgi_whole_node(const wgi_whole_op *op) {
    return wgi_node_of_matrices(WGI_NODE_WHOLE, wgi_whole_index(op->row), op->size);
}

static inline wgi_whole_op wgi_whole_of(const wgi_node *n) {
    return (wgi_whole_op){wgi_wholes[n->array], {n->part, n->size[0], n->size[1]}};
}
static inline uint32_t wgi_graph_whole_op(wgi_graph *g, const wgi_whole_op *op,
                                          const uint32_t *x) {
    const wgi_node n = wgi_whole_node(op);
    return wgi_graph_matrices(g, &n, x);
}

#endif
