/* SPDX-License-Identifier: MIT */
/* Which nodes of a graph have a truncated series, up to which order, and what that takes:
 * operands as far as the node, partials one order less far. Partials are nodes as any other;
 * those of exp, sin, tanh and the like are made of the node itself, others have partials in
 * turn, until no order is left. */
#include "series.h"

#include <math.h>
#include <string.h>

/* ---- growing ---- */

static void *longer(wgi_series *s, const void *old, size_t used, size_t room, size_t size) {
    char *const list = wg_tape_keep(&s->g->c->head, (room + 1) * size, NULL);
    if (list == NULL) return NULL;
    if (used != 0) memcpy(list, old, used * size);
    memset(list + used * size, 0, (room - used) * size);
    return list;
}

/* Nodes were added: do they depend on what is differentiated? 0: a failure. */
static int learn(wgi_series *s) {
    const wgi_graph *const g = s->g;
    if (g->c->status != WG_OK) return 0;
    if (g->nodes > s->room) {
        const size_t room = 2 * g->nodes;
        s->moves = longer(s, s->moves, s->nodes, room, 1);
        s->need = longer(s, s->need, s->nodes, room, sizeof *s->need);
        s->done = longer(s, s->done, s->nodes, room, sizeof *s->done);
        s->shares = longer(s, s->shares, s->nodes, room, sizeof *s->shares);
        if (g->c->status != WG_OK) return 0;
        s->room = room;
    }
    for (size_t i = s->nodes; i < g->nodes; i++)
        for (uint32_t k = 0; k < g->node[i].count && !s->moves[i]; k++)
            s->moves[i] = s->moves[g->operand[g->node[i].first + k]];
    s->nodes = g->nodes;
    return 1;
}

/* ---- what kind of recurrence a node has ---- */

static int is_power(const wgi_node *n) { return wgi_node_op(n) == WGI_ROW_pow; }

/* Is it a power with a whole exponent of moderate size? */
static int is_whole_power(const wgi_series *s, uint32_t node, unsigned *exponent) {
    enum { LARGEST = 64 };
    if (!is_power(&s->g->node[node])) return 0;
    const wgi_node *const e = &s->g->node[wgi_series_operand(s, node, 1)];
    if (e->kind != WGI_NODE_NUMBER) return 0;
    if (!(e->value >= 1 && e->value <= LARGEST) || e->value != floor(e->value)) return 0;
    *exponent = (unsigned)e->value;
    return 1;
}

wgi_recurrence wgi_series_of(const wgi_series *s, uint32_t node) {
    const wgi_node *const n = &s->g->node[node];
    const int op = wgi_node_op(n);
    unsigned exponent;
    if (n->kind == WGI_NODE_INPUT || n->kind == WGI_NODE_NUMBER) return WGI_SERIES_NONE;
    if (n->kind == WGI_NODE_SUM) return WGI_SERIES_SUM;
    if (n->kind == WGI_NODE_TIMES || op == WGI_ROW_mul) return WGI_SERIES_PRODUCT;
    if (op == WGI_ROW_add) return WGI_SERIES_ADD;
    if (op == WGI_ROW_sub) return WGI_SERIES_SUB;
    if (op == WGI_ROW_neg) return WGI_SERIES_NEG;
    if (op == WGI_ROW_square) return WGI_SERIES_SQUARE;
    if (op == WGI_ROW_fma) return WGI_SERIES_FMA;
    if (op == WGI_ROW_div) return WGI_SERIES_QUOTIENT;
    if (op == WGI_ROW_sqrt) return WGI_SERIES_ROOT;
    if (op >= WGI_ROW_select_lt && op <= WGI_ROW_select_ne) return WGI_SERIES_SELECT;
    return is_whole_power(s, node, &exponent) ? WGI_SERIES_SAME : WGI_SERIES_OTHER;
}

/* ---- what is needed ---- */

static void require(wgi_series *s, uint32_t node, uint32_t order) {
    if (s->moves[node] && s->need[node] < order) s->need[node] = order;
}

/* Partial k of a node. Those of a power are made of its value: the texts would go on from one
 * exponent to the next. */
static uint32_t partial_of(wgi_series *s, uint32_t node, uint32_t k) {
    wgi_graph *const g = s->g;
    if (!is_power(&g->node[node])) return wgi_graph_partial(g, node, k);
    const uint32_t a = wgi_series_operand(s, node, 0), b = wgi_series_operand(s, node, 1);
    if (k == 0) return WGI_GRAPH2(g, div, WGI_GRAPH2(g, mul, b, node), a);
    return WGI_GRAPH2(g, mul, WGI_GRAPH1(g, log, a), node);
}

/* Its value, for a partial p with that series. Of a power of 0 p is no number, though its
 * partial may be one: what does not move from there has a series. */
static uint32_t value_of(wgi_series *s, uint32_t node, uint32_t k, uint32_t p) {
    if (!is_power(&s->g->node[node]) || s->g->c->status != WG_OK) return p;
    const uint32_t exact = wgi_graph_or_zero(s->g, wgi_graph_partial(s->g, node, k));
    return WGI_GRAPH4(s->g, select_eq, wgi_series_operand(s, node, 0),
                      wgi_graph_number(s->g, 0), exact, p);
}

/* The same power as products: from 0 on it has the derivatives that a quotient by it has
 * not. */
static uint32_t as_products(wgi_series *s, uint32_t a, unsigned exponent) {
    uint32_t power = WGI_NO_NODE;
    for (;; exponent /= 2) {
        if (exponent % 2 != 0)
            power = power == WGI_NO_NODE ? a : WGI_GRAPH2(s->g, mul, power, a);
        if (exponent <= 1) return power;
        a = WGI_GRAPH1(s->g, square, a);
    }
}

/* Finds the partials of a node, or the node with the same series; 0: a failure. */
static int find_shares(wgi_series *s, uint32_t node) {
    const uint32_t count = s->g->node[node].count;
    unsigned exponent;
    if (s->partials + 2 * count > s->partial_room) {
        s->partial_room = 2 * (s->partials + 2 * count);
        s->partial = longer(s, s->partial, s->partials, s->partial_room, sizeof *s->partial);
        if (s->partial == NULL) return 0;
    }
    const size_t first = s->partials;
    s->partials += 2 * count;
    if (is_whole_power(s, node, &exponent)) {
        s->partial[first] = as_products(s, wgi_series_operand(s, node, 0), exponent);
        s->partial[first + 1] = WGI_NO_NODE;
    } else
        for (uint32_t k = 0; k < count; k++) {
            const int moves = s->moves[wgi_series_operand(s, node, k)];
            const uint32_t p = moves ? partial_of(s, node, k) : WGI_NO_NODE;
            s->partial[first + k] = p;
            s->partial[first + count + k] = p == WGI_NO_NODE ? p : value_of(s, node, k, p);
        }
    if (!learn(s)) return 0;
    s->shares[node] = (uint32_t)first + 1;
    return 1;
}

/* Asks for what a node needs. 0: a failure. */
static int expand(wgi_series *s, uint32_t node) {
    const uint32_t order = s->need[node], count = s->g->node[node].count;
    const wgi_recurrence kind = wgi_series_of(s, node);
    s->done[node] = order;
    for (uint32_t k = kind == WGI_SERIES_SELECT ? 2 : 0; k < count; k++)
        require(s, wgi_series_operand(s, node, k), order);
    if (kind != WGI_SERIES_OTHER && kind != WGI_SERIES_SAME) return 1;
    if (s->shares[node] == 0 && !find_shares(s, node)) return 0;
    const uint32_t *const p = wgi_series_shares(s, node);
    if (kind == WGI_SERIES_SAME) require(s, p[0], order);
    else
        for (uint32_t k = 0; k < count; k++)
            if (p[k] != WGI_NO_NODE) require(s, p[k], order - 1);
    return 1;
}

wg_status wgi_series_find(wgi_series *s, wgi_graph *g, size_t order, size_t n,
                          const uint32_t *x, size_t m, const uint32_t *y) {
    *s = (wgi_series){.g = g};
    s->room = 2 * g->nodes;
    s->moves = longer(s, NULL, 0, s->room, 1);
    s->need = longer(s, NULL, 0, s->room, sizeof *s->need);
    s->done = longer(s, NULL, 0, s->room, sizeof *s->done);
    s->shares = longer(s, NULL, 0, s->room, sizeof *s->shares);
    if (g->c->status != WG_OK) return g->c->status;
    for (size_t i = 0; i < n; i++) s->moves[x[i]] = 1;
    if (!learn(s)) return g->c->status;
    for (size_t j = 0; j < m; j++) require(s, y[j], (uint32_t)order);
    for (int more = 1; more;) { /* partials stand behind what they are of, and need it */
        more = 0;
        for (size_t i = s->nodes; i-- > 0;) {
            if (s->need[i] <= s->done[i]) continue;
            if (!expand(s, (uint32_t)i)) return g->c->status;
            more = 1;
        }
    }
    return g->c->status;
}
