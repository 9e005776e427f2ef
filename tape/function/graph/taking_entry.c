/* SPDX-License-Identifier: MIT */
/* One entry of kept code as nodes of a graph. Arrays of wg_real that are sums of products are
 * written out in the order in which the tape adds them; the others stay one node. */
#include "taking.h"

#include "ops/matrix/expand.h"
#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"

/* ---- statements ---- */

uint32_t wgi_taking_statement(wgi_graph *g, const wgi_statement_code *p,
                              const uint32_t *operand, const uint32_t *number) {
    uint32_t at[WGI_MOST_NODES], x[4];
    for (int i = 0; i < p->operands; i++) at[i] = operand[i];
    for (int i = p->operands, numbers = 0; i < p->nodes; i++) {
        const struct wgi_step *const n = &p->node[i];
        if (n->op == NULL) {
            const uint32_t given = number != NULL ? number[numbers] : WGI_NO_NODE;
            at[i] = given != WGI_NO_NODE ? given : wgi_graph_number(g, n->value);
            numbers++;
            continue;
        }
        numbers += wgi_is_users(n->op);
        for (unsigned k = 0; k < n->op->arity; k++) x[k] = at[n->arg[k]];
        g->stats.operations++;
        at[i] = n->op == wgi_expand_times ? wgi_graph_times(g, x[0], x[1])
                                          : wgi_graph_op(g, n->op, x);
    }
    return at[p->nodes - 1];
}

/* ---- arrays ---- */

/* The node s + a b. */
static uint32_t add_product(wgi_graph *g, uint32_t s, uint32_t a, uint32_t b) {
    const uint32_t product = WGI_GRAPH2(g, mul, a, b);
    return WGI_GRAPH2(g, add, s, product);
}

/* An operation on an array, written out as ops/scalar/array.c computes it. 1 x and -0 + x are
 * x. */
static uint32_t written_out(wgi_graph *g, unsigned op, size_t n, const uint32_t *x,
                            const uint32_t *number) {
    uint32_t s = wgi_graph_number(g, op == WGI_ARRAY_product ? 1 : n != 0 ? -0.0 : 0.0);
    switch (op) {
    case WGI_ARRAY_sum:
    case WGI_ARRAY_mean:
        for (size_t i = 0; i < n; i++) s = WGI_GRAPH2(g, add, s, x[i]);
        if (op == WGI_ARRAY_sum) return s;
        return WGI_GRAPH2(g, div, s, wgi_graph_number(g, (double)n));
    case WGI_ARRAY_product:
        for (size_t i = 0; i < n; i++) s = WGI_GRAPH2(g, mul, s, x[i]);
        return s;
    case WGI_ARRAY_dot:
        for (size_t i = 0; i + 1 < n; i += 2) s = add_product(g, s, x[i], x[i + 1]);
        return s;
    case WGI_ARRAY_squared_norm:
        for (size_t i = 0; i < n; i++) s = add_product(g, s, x[i], x[i]);
        return s;
    case WGI_ARRAY_linear:
        for (size_t i = 0; i < n; i++) s = add_product(g, s, number[i], x[i]);
        return s;
    default: /* polynomial, by Horner's rule */
        if (n < 2) return wgi_graph_number(g, 0);
        s = x[n - 2];
        for (size_t k = n - 2; k-- > 0;) {
            const uint32_t product = WGI_GRAPH2(g, mul, s, x[n - 1]);
            s = WGI_GRAPH2(g, add, product, x[k]);
        }
        return s;
    }
}

int wgi_array_is_node(unsigned op) {
    return op == WGI_ARRAY_norm2 || op == WGI_ARRAY_logsumexp || op == WGI_ARRAY_maximum ||
           op == WGI_ARRAY_minimum || op == WGI_ARRAY_lookup;
}

uint32_t wgi_taking_array(wgi_graph *g, const wgi_entry *e, const uint32_t *operand,
                          const uint32_t *number) {
    g->stats.operations++;
    if (wgi_array_is_node(e->op)) return wgi_graph_array(g, e->op, e->operands, operand);
    return written_out(g, e->op, e->operands, operand, number);
}
