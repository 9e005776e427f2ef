/* SPDX-License-Identifier: MIT */
/* Nodes with a sign: signed.h. The rules are those of graph.c, in their order. A number and a
 * negative never have the bit: the sign of one is in its value, of the other in that of its
 * operand. */
#include "signed.h"

#include <math.h>

uint32_t wgi_signed_of(const wgi_graph *g, uint32_t node) {
    if (node == WGI_NO_NODE || g->node[node].kind != WGI_NODE_OP ||
        g->node[node].op != &wgi_scalar_ops[WGI_ROW_neg])
        return node;
    return g->operand[g->node[node].first] | WGI_SIGN;
}

uint32_t wgi_signed_minus(wgi_graph *g, uint32_t x) {
    if (x == WGI_NO_NODE || (x & WGI_SIGN)) return wgi_signed_base(x);
    return g->node[x].kind == WGI_NODE_NUMBER ? WGI_GRAPH1(g, neg, x) : x | WGI_SIGN;
}

uint32_t wgi_signed_node(wgi_graph *g, uint32_t x) {
    return x == WGI_NO_NODE || (x & WGI_SIGN) == 0 ? x : WGI_GRAPH1(g, neg, x & ~WGI_SIGN);
}

void wgi_signed_nodes(wgi_graph *g, size_t count, uint32_t *x) {
    for (size_t i = 0; i < count; i++) x[i] = wgi_signed_node(g, x[i]);
}

/* The operation at nodes, with the sign `sign` or none. */
static uint32_t made(wgi_graph *g, unsigned row, uint32_t a, uint32_t b, uint32_t sign) {
    const uint32_t x =
        wgi_signed_of(g, wgi_graph_op(g, &wgi_scalar_ops[row], (uint32_t[]){a, b}));
    return sign != 0 ? wgi_signed_minus(g, x) : x;
}

static uint32_t sum(wgi_graph *g, uint32_t a, uint32_t b) {
    if (b & WGI_SIGN) return made(g, WGI_ROW_sub, wgi_signed_node(g, a), b & ~WGI_SIGN, 0);
    if (a & WGI_SIGN) return made(g, WGI_ROW_sub, b, a & ~WGI_SIGN, 0);
    return made(g, WGI_ROW_add, a, b, 0);
}

static uint32_t difference(wgi_graph *g, uint32_t a, uint32_t b) {
    if (b & WGI_SIGN) return sum(g, a, b & ~WGI_SIGN);
    return made(g, WGI_ROW_sub, wgi_signed_node(g, a), b, 0);
}

uint32_t wgi_signed_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x) {
    uint32_t y[4];
    if (g->c->status != WG_OK) return 0;
    for (unsigned k = 0; k < op->arity; k++)
        y[k] = (x[k] & WGI_SIGN) ? x[k] : wgi_signed_of(g, x[k]);
    switch (wgi_is_users(op) ? -1 : (int)(op - wgi_scalar_ops)) {
    case WGI_ROW_neg:
        return wgi_signed_minus(g, y[0]);
    case WGI_ROW_add:
        return sum(g, y[0], y[1]);
    case WGI_ROW_sub:
        return difference(g, y[0], y[1]);
    case WGI_ROW_mul:
    case WGI_ROW_div:
        return made(g, (unsigned)(op - wgi_scalar_ops), y[0] & ~WGI_SIGN, y[1] & ~WGI_SIGN,
                    (y[0] ^ y[1]) & WGI_SIGN);
    default:
        wgi_signed_nodes(g, op->arity, y);
        return wgi_signed_of(g, wgi_graph_op(g, op, y));
    }
}

uint32_t wgi_signed_product(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE || b == WGI_NO_NODE || g->c->status != WG_OK) return WGI_NO_NODE;
    const uint32_t x = wgi_signed_of(g, wgi_graph_product(g, a & ~WGI_SIGN, b & ~WGI_SIGN));
    return ((a ^ b) & WGI_SIGN) != 0 ? wgi_signed_minus(g, x) : x;
}

uint32_t wgi_signed_plus(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE) return b;
    if (b == WGI_NO_NODE) return a;
    return g->c->status != WG_OK ? 0 : sum(g, a, b);
}
