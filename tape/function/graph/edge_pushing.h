/* SPDX-License-Identifier: MIT */
/* hessian.h - second derivatives of a graph, all at once. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_EDGE_PUSHING_H
#define WENGERT_TAPE_FUNCTION_EDGE_PUSHING_H

#include "graph.h"

/* h[i * n + j], for n input nodes: the second derivatives of the sum of bar[i] times node i,
 * over all nodes below `nodes`; WGI_NO_NODE: 0. wanted as in wgi_graph_reverse; bar: weights,
 * then adjoints. Gives 0 where it cannot be done so, with sums, operations on arrays,
 * repeats, or work that is shared by points; and where it takes too much of it. */
int wgi_edge_pushing(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *bar,
                     size_t n, const uint32_t *input, uint32_t *h);

#endif
