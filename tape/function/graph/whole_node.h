/* SPDX-License-Identifier: MIT */
/* whole_node.h - one node for an operation on matrices that stays as it is, with its
 * descriptor, a row of ops/matrix/whole.h. Internal.
 *
 * Operands: the elements of all operands, matrix after matrix, column after column; then the
 * numbers that are its parameters. Parts: the elements of all results likewise. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_WHOLE_NODE_H
#define WGI_TAPE_FUNCTION_GRAPH_WHOLE_NODE_H

#include <string.h>

#include "graph.h"
#include "ops/matrix/whole.h"

static inline wgi_node wgi_whole_node(const wgi_whole_op *op) {
    wgi_node n;
    memset(&n, 0, sizeof n);
    n.kind = WGI_NODE_WHOLE;
    n.array = (unsigned char)wgi_whole_index(op->row);
    n.part = (uint32_t)op->size[0];
    n.size[0] = (uint32_t)op->size[1], n.size[1] = (uint32_t)op->size[2];
    return n;
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
