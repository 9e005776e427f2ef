/* SPDX-License-Identifier: MIT */
/* edge_pushing.h - second derivatives of a graph, all at once. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_EDGE_PUSHING_H
#define WGI_TAPE_FUNCTION_GRAPH_EDGE_PUSHING_H

#include "graph.h"

/* Second derivatives of the weighted sum of all nodes below `nodes`, where bar[i] is the weight
 * of node i: h[i * n + j] by inputs i and j, for n input nodes; WGI_NO_NODE: 0. wanted: as in
 * wgi_graph_reverse. On return bar holds adjoints. Gives 0, and the caller takes another way,
 * where there are sums, operations on arrays, repeats, or results shared by all points, and
 * where it would add too many nodes. */
int wgi_edge_pushing(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *bar,
                     size_t n, const uint32_t *input, uint32_t *h);

#endif
