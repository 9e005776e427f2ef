/* SPDX-License-Identifier: MIT */
/* signed.h - nodes with a sign, for sweeps. Internal.
 *
 * Negatives are all over derivatives, and nearly all of them become a part of a sum, a
 * difference or another sign (graph.c), so that nobody reads their nodes. Here a negative is a
 * bit beside the number of a node, and is made a node where an operation takes it as it is:
 * what comes of it in the end is what wgi_graph_op gives. WGI_NO_NODE is 0 as elsewhere. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_SIGNED_H
#define WGI_TAPE_FUNCTION_GRAPH_SIGNED_H

#include "graph.h"

#define WGI_SIGN ((uint32_t)1 << 31) /* graphs have fewer nodes */

/* Of a node the same with a sign: a negative as the negative of its operand. */
uint32_t wgi_signed_of(const wgi_graph *g, uint32_t node);
/* The node that x is; one is made if it is a negative. */
uint32_t wgi_signed_node(wgi_graph *g, uint32_t x);
/* The same of `count` of them, in their places. */
void wgi_signed_nodes(wgi_graph *g, size_t count, uint32_t *x);
/* Without its sign, for questions that do not depend on it. */
static inline uint32_t wgi_signed_base(uint32_t x) {
    return x == WGI_NO_NODE ? x : x & ~WGI_SIGN;
}

/* As wgi_graph_op, wgi_graph_product and wgi_graph_plus, of operands with signs. */
uint32_t wgi_signed_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x);
uint32_t wgi_signed_product(wgi_graph *g, uint32_t a, uint32_t b);
uint32_t wgi_signed_plus(wgi_graph *g, uint32_t a, uint32_t b);
uint32_t wgi_signed_minus(wgi_graph *g, uint32_t x);
/* The product of w, which has a sign, and the partial of a node by its operand k (rules.c). */
uint32_t wgi_signed_share(wgi_graph *g, uint32_t w, uint32_t node, size_t k);

#endif
