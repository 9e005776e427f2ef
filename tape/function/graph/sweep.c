/* SPDX-License-Identifier: MIT */
/* Adjoints and tangents of a graph, as more nodes of it.
 *
 * What is done once for all points may have contributions from every point: those are summed
 * before they go on. Products with adjoints and tangents keep the zero rule. Adjoints and
 * tangents have signs (signed.h) but for those of nodes with parts and their operands, and
 * of inputs. */
#include "signed.h"

uint32_t wgi_graph_product(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE || b == WGI_NO_NODE) return WGI_NO_NODE;
    const uint32_t p = wgi_graph_times(g, a, b);
    return wgi_graph_is(g, p, 0) ? WGI_NO_NODE : p;
}

static int is_select(const wgi_node *n) {
    const int op = wgi_node_op(n);
    return op >= WGI_ROW_select_lt && op <= WGI_ROW_select_ne;
}

/* What an operand of a select has of its adjoint w, or the select of a tangent w of the
 * operand: w where that is chosen, else 0. */
static uint32_t chosen(wgi_graph *g, uint32_t node, uint32_t k, uint32_t w) {
    const wgi_node n = g->node[node];
    w = wgi_signed_node(g, w);
    if (k < 2 || w == WGI_NO_NODE || wgi_graph_is(g, w, 0)) return WGI_NO_NODE;
    uint32_t x[4];
    memcpy(x, g->operand + n.first, sizeof x);
    x[k] = w, x[5 - k] = wgi_graph_number(g, 0);
    return wgi_signed_of(g, wgi_graph_op(g, n.op, x));
}

/* a + b, of two which are 0 wherever the other is not: by one select. */
static uint32_t joined(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE || b == WGI_NO_NODE || ((a | b) & WGI_SIGN) || g->c->status != WG_OK)
        return wgi_signed_plus(g, a, b);
    const wgi_node *const m = &g->node[a], *const n = &g->node[b];
    if (!is_select(m) || !is_select(n) || m->op != n->op) return wgi_signed_plus(g, a, b);
    const uint32_t *const x = g->operand + m->first, *const y = g->operand + n->first;
    if (x[0] != y[0] || x[1] != y[1]) return wgi_signed_plus(g, a, b);
    if (wgi_graph_is(g, x[3], 0) && wgi_graph_is(g, y[2], 0))
        return wgi_graph_op(g, m->op, (uint32_t[]){x[0], x[1], x[2], y[3]});
    if (wgi_graph_is(g, x[2], 0) && wgi_graph_is(g, y[3], 0))
        return wgi_graph_op(g, m->op, (uint32_t[]){x[0], x[1], y[2], x[3]});
    return wgi_signed_plus(g, a, b);
}

static uint32_t sum_of(wgi_graph *g, uint32_t each) {
    return wgi_signed_of(g, wgi_graph_sum(g, wgi_signed_node(g, each)));
}

/* The adjoint of a node that is done once, or from sums: its own, and the sum of those at all
 * points. */
static uint32_t settle(wgi_graph *g, uint32_t once, uint32_t each) {
    return each == WGI_NO_NODE ? once : wgi_signed_plus(g, once, sum_of(g, each));
}

static void spread(wgi_graph *g, uint32_t node, uint32_t w, const unsigned char *wanted,
                   uint32_t *once, uint32_t *each) {
    const wgi_node n = g->node[node];
    uint32_t *const to = n.when == WGI_EACH || n.kind == WGI_NODE_SUM ? each : once;
    const int selects = is_select(&n);
    for (uint32_t k = 0; k < n.count; k++) {
        const uint32_t of = g->operand[n.first + k];
        if (!wanted[of]) continue;
        const uint32_t share = n.kind == WGI_NODE_SUM ? w
                               : selects              ? chosen(g, node, k, w)
                                                      : wgi_signed_share(g, w, node, k);
        to[of] = joined(g, to[of], share);
    }
}

/* Makes nodes of what the operands of a node with parts have. */
static void make_nodes_of_operands(wgi_graph *g, uint32_t node, uint32_t *of) {
    const wgi_node n = g->node[node];
    for (uint32_t k = 0; k < n.count && g->c->status == WG_OK; k++) {
        uint32_t *const x = &of[g->operand[n.first + k]];
        *x = wgi_signed_node(g, *x);
    }
}

/* Spreads the adjoints of a node with parts, bar[k] of part k, to its operands. */
static void spread_parts(wgi_graph *g, uint32_t node, uint32_t *bar,
                         const unsigned char *wanted, uint32_t *to) {
    make_nodes_of_operands(g, node, to);
    for (size_t k = 0; node + 1 + k < g->nodes && g->node[node + 1 + k].kind == WGI_NODE_PART;
         k++)
        bar[k] = wgi_signed_node(g, bar[k]);
    switch (g->node[node].kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        wgi_##stem##_reverse(g, node, bar, wanted, to);                                        \
        break;
#include "kinds.def"
    default:
        break;
    }
}

/* Computes the tangents of the parts of a node. */
static void move_parts(wgi_graph *g, uint32_t node, uint32_t *tangent) {
    make_nodes_of_operands(g, node, tangent);
    switch (g->node[node].kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        wgi_##stem##_forward(g, node, tangent);                                                \
        break;
#include "kinds.def"
    default:
        break;
    }
}

/* Sweeps what is below a sum whose adjoint w is itself computed from sums, so that w is not
 * known yet at the points. The points are swept with the adjoint 1, and w multiplies what they
 * give to nodes that are done once. */
static void spread_factored(wgi_graph *g, uint32_t sum, uint32_t w, const unsigned char *wanted,
                            uint32_t *once, uint32_t *each) {
    uint32_t *const bar = wgi_no_nodes(g->c, sum);
    if (bar == NULL) return;
    bar[g->operand[g->node[sum].first]] = wgi_graph_number(g, 1);
    for (uint32_t i = sum; i-- > 0 && g->c->status == WG_OK;) {
        const wgi_node n = g->node[i];
        if (wgi_node_has_parts(&n) && n.when == WGI_EACH && wanted[i])
            spread_parts(g, i, bar + i + 1, wanted, bar);
        if (!wanted[i] || bar[i] == WGI_NO_NODE) continue;
        if (n.when != WGI_EACH)
            once[i] = wgi_signed_plus(g, once[i], wgi_signed_product(g, w, sum_of(g, bar[i])));
        else if (n.kind == WGI_NODE_INPUT)
            each[i] = wgi_signed_plus(g, each[i], wgi_signed_product(g, w, bar[i]));
        else if (n.kind != WGI_NODE_PART) spread(g, i, bar[i], wanted, bar, bar);
    }
}

static void make_nodes_of_inputs(wgi_graph *g, size_t nodes, uint32_t *bar) {
    for (size_t i = 0; i < nodes && g->node[i].kind == WGI_NODE_INPUT; i++)
        bar[i] = wgi_signed_node(g, bar[i]);
}

void wgi_graph_reverse(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *once,
                       uint32_t *each) {
    for (size_t i = nodes; i-- > 0 && g->c->status == WG_OK;) {
        const int at_points = g->node[i].when == WGI_EACH;
        uint32_t *const own = at_points ? each : once;
        if (wgi_node_has_parts(&g->node[i]) && wanted[i])
            spread_parts(g, (uint32_t)i, own + i + 1, wanted, own);
        if (!wanted[i] || (once[i] == WGI_NO_NODE && each[i] == WGI_NO_NODE)) continue;
        if (!at_points) {
            once[i] = settle(g, once[i], each[i]);
            each[i] = WGI_NO_NODE;
        }
        if (g->node[i].kind == WGI_NODE_PART) continue;
        if (g->node[i].kind == WGI_NODE_SUM &&
            g->node[wgi_signed_base(once[i])].when == WGI_AFTER) {
            spread_factored(g, (uint32_t)i, once[i], wanted, once, each);
            continue;
        }
        spread(g, (uint32_t)i, own[i], wanted, once, each);
    }
    make_nodes_of_inputs(g, nodes, once);
    make_nodes_of_inputs(g, nodes, each);
}

void wgi_graph_reverse_point(wgi_graph *g, size_t nodes, const unsigned char *wanted,
                             uint32_t *bar) {
    for (size_t i = nodes; i-- > 0 && g->c->status == WG_OK;) {
        if (!wanted[i]) continue;
        if (wgi_node_has_parts(&g->node[i]))
            spread_parts(g, (uint32_t)i, bar + i + 1, wanted, bar);
        else if (g->node[i].kind != WGI_NODE_PART && bar[i] != WGI_NO_NODE)
            spread(g, (uint32_t)i, bar[i], wanted, bar, bar);
    }
    make_nodes_of_inputs(g, nodes, bar);
}

void wgi_graph_forward(wgi_graph *g, size_t nodes, const unsigned char *needed,
                       uint32_t *tangent) {
    for (size_t i = 0; i < nodes && g->c->status == WG_OK; i++) {
        if (needed != NULL && !needed[i]) continue;
        const wgi_node n = g->node[i];
        if (n.kind == WGI_NODE_INPUT || n.kind == WGI_NODE_PART) continue;
        if (wgi_node_has_parts(&n)) {
            tangent[i] = WGI_NO_NODE;
            move_parts(g, (uint32_t)i, tangent);
            continue;
        }
        const int selects = is_select(&n);
        uint32_t t = WGI_NO_NODE;
        for (uint32_t k = 0; k < n.count; k++) {
            const uint32_t of = tangent[g->operand[n.first + k]];
            if (of == WGI_NO_NODE) continue;
            const uint32_t share = n.kind == WGI_NODE_SUM ? sum_of(g, of)
                                   : selects              ? chosen(g, (uint32_t)i, k, of)
                                             : wgi_signed_share(g, of, (uint32_t)i, k);
            t = joined(g, t, share);
        }
        tangent[i] = t;
    }
}
