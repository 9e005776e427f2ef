/* SPDX-License-Identifier: MIT */
/* Second derivatives by edges between nodes, in one sweep backward.
 *
 * H is the matrix of second derivatives by all nodes that are left: an edge of weight H_pq for
 * each pair that is not 0. From the last one on, a node i of operands a, b, ... is replaced by
 * them, with d_a its partial and w its adjoint:
 *     H_pa += d_a H_pi,  twice for p = a;   H_ab += d_a d_b H_ii;   H_ab += w d2i/(da db).
 * In the end there are edges between inputs only. Each product is made once, where a sweep for
 * each column makes it as often as there are columns. Products keep the zero rule.
 * Source: Gower and Mello 2012, "A new framework for the computation of Hessians", Optimization
 * Methods and Software 27(2). */
#include "edge_pushing.h"
#include "signed.h"

#include <string.h>

enum { OPERANDS = 4, PAIRS = OPERANDS * (OPERANDS + 1) / 2 };

typedef struct edge {
    uint32_t high, low, weight, next; /* next: another edge with the same high end */
} edge;

/* Second partials of a kind of node, on operands of its own, by those operands that are wanted.
 */
typedef struct pattern {
    wgi_node like;
    unsigned by; /* which operands are wanted: bit k is operand k */
    wgi_graph on;
    uint32_t second[PAIRS];
    struct pattern *next;
} pattern;

typedef struct web {
    wgi_graph *g;
    uint32_t *head; /* of each node: its first edge as the high end, plus 1 */
    edge *edge;
    uint32_t *table; /* edges by both ends: 0, or an edge plus 1 */
    size_t edges, room, slots;
    pattern *patterns;
} web;

/* ---- numbers ---- */

static uint32_t twice(wgi_graph *g, uint32_t a) {
    return a == WGI_NO_NODE ? a : WGI_GRAPH2(g, mul, wgi_graph_number(g, 2), a);
}

/* ---- edges ---- */

static size_t place(const web *h, uint32_t high, uint32_t low) {
    const uint64_t key = ((uint64_t)high << 32 | low) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(key >> 32) & (h->slots - 1);
    for (uint32_t e; (e = h->table[at]) != 0; at = (at + 1) & (h->slots - 1))
        if (h->edge[e - 1].high == high && h->edge[e - 1].low == low) break;
    return at;
}

static int grow(web *h) {
    wg_tape *const t = &h->g->c->head;
    const size_t room = h->room == 0 ? 256 : 2 * h->room;
    if (room > UINT32_MAX / 4) return 0;
    edge *const all = wg_tape_keep(t, room * sizeof *all, NULL);
    h->slots = 2 * room;
    h->table = wg_tape_keep(t, h->slots * sizeof *h->table, NULL);
    if (all == NULL || h->table == NULL) return 0;
    if (h->edges != 0) memcpy(all, h->edge, h->edges * sizeof *all);
    h->edge = all;
    h->room = room;
    memset(h->table, 0, h->slots * sizeof *h->table);
    for (size_t e = 0; e < h->edges; e++)
        h->table[place(h, all[e].high, all[e].low)] = (uint32_t)e + 1;
    return 1;
}

static void add(web *h, uint32_t a, uint32_t b, uint32_t weight) {
    const uint32_t high = a > b ? a : b, low = a > b ? b : a;
    if (weight == WGI_NO_NODE || h->g->c->status != WG_OK) return;
    if (h->edges == h->room && !grow(h)) {
        if (h->g->c->status == WG_OK)
            (void)wgi_fail(h->g->c, WG_ENOMEM, "%s: %zu pairs of operations", h->g->call,
                           h->edges);
        return;
    }
    uint32_t *const at = &h->table[place(h, high, low)];
    if (*at != 0) {
        edge *const e = &h->edge[*at - 1];
        e->weight = wgi_graph_plus(h->g, e->weight, weight);
        return;
    }
    h->edge[h->edges] = (edge){high, low, weight, h->head[high]};
    *at = h->head[high] = (uint32_t)++h->edges;
}

/* ---- second partials of a node ---- */

static size_t pair(size_t j, size_t k) { return j * OPERANDS - j * (j + 1) / 2 + k; }

static int same_kind(const wgi_node *a, const wgi_node *b) {
    return a->kind == b->kind && a->op == b->op && a->part == b->part && a->count == b->count;
}

/* The second partials of a node of this kind: tangents of its first partials, along one operand
 * each. */
static void differentiate(wgi_graph *g, const wgi_node *like, unsigned by, uint32_t *second) {
    uint32_t x[OPERANDS], first[OPERANDS];
    for (uint32_t k = 0; k < PAIRS; k++) second[k] = WGI_NO_NODE;
    for (uint32_t k = 0; k < like->count; k++) x[k] = wgi_graph_input(g, WGI_EACH);
    const uint32_t value = wgi_graph_again(g, like, NULL, x);
    for (uint32_t k = 0; k < like->count; k++)
        first[k] = by >> k & 1 ? wgi_graph_partial(g, value, k) : WGI_NO_NODE;
    const size_t nodes = g->nodes;
    uint32_t *const tangent = wgi_node_list(g->c, nodes);
    for (uint32_t j = 0; j < like->count && g->c->status == WG_OK; j++) {
        if ((by >> j & 1) == 0) continue;
        for (size_t i = 0; i < nodes; i++) tangent[i] = WGI_NO_NODE;
        tangent[x[j]] = wgi_graph_number(g, 1);
        wgi_graph_forward(g, nodes, NULL, tangent);
        for (uint32_t k = j; k < like->count && g->c->status == WG_OK; k++)
            if (first[k] != WGI_NO_NODE)
                second[pair(j, k)] = wgi_signed_node(g, tangent[first[k]]);
    }
}

static pattern *pattern_of(web *h, const wgi_node *n, unsigned by) {
    pattern *p = h->patterns;
    while (p != NULL && (p->by != by || !same_kind(&p->like, n))) p = p->next;
    if (p != NULL) return p;
    p = wg_tape_keep(&h->g->c->head, sizeof *p, NULL);
    if (p == NULL) return NULL;
    p->like = *n;
    p->by = by;
    wgi_graph_open(&p->on, h->g->c, h->g->call);
    p->on.recipes = wgi_graph_recipes(h->g);
    differentiate(&p->on, n, by, p->second);
    p->next = h->patterns;
    h->patterns = p;
    return h->g->c->status == WG_OK ? p : NULL;
}

/* ---- the sweep ---- */

/* Replaces node i by its operands. */
static void replace(web *h, uint32_t i, const unsigned char *wanted, uint32_t *bar) {
    wgi_graph *const g = h->g;
    const wgi_node n = g->node[i];
    uint32_t o[OPERANDS], d[OPERANDS];
    unsigned by = 0;
    if (n.count != 0) memcpy(o, g->operand + n.first, n.count * sizeof *o);
    for (uint32_t j = 0; j < n.count; j++) {
        d[j] = wanted[o[j]] ? wgi_graph_partial(g, i, j) : WGI_NO_NODE;
        by |= (unsigned)wanted[o[j]] << j;
    }
    uint32_t own = WGI_NO_NODE;
    for (uint32_t e = h->head[i]; e != 0; e = h->edge[e - 1].next) {
        const uint32_t p = h->edge[e - 1].low, w = h->edge[e - 1].weight;
        if (p == i) own = w;
        for (uint32_t j = 0; j < n.count && p != i; j++) {
            const uint32_t share = wgi_graph_product(g, w, d[j]);
            add(h, p, o[j], p == o[j] ? twice(g, share) : share);
        }
    }
    for (uint32_t j = 0; j < n.count; j++) {
        const uint32_t share = wgi_graph_product(g, own, d[j]);
        for (uint32_t k = j; k < n.count; k++) {
            const uint32_t both = wgi_graph_product(g, share, d[k]);
            add(h, o[j], o[k], j != k && o[j] == o[k] ? twice(g, both) : both);
        }
    }
    if (bar[i] == WGI_NO_NODE) return;
    const pattern *const p = pattern_of(h, &n, by);
    for (uint32_t j = 0; j < n.count && p != NULL && g->c->status == WG_OK; j++) {
        for (uint32_t k = j; k < n.count; k++) {
            const uint32_t second = p->second[pair(j, k)];
            if (second == WGI_NO_NODE) continue;
            const uint32_t share =
                wgi_graph_product(g, bar[i], wgi_graph_copy(g, &p->on, o, second));
            add(h, o[j], o[k], j != k && o[j] == o[k] ? twice(g, share) : share);
        }
        if (wanted[o[j]])
            bar[o[j]] = wgi_graph_plus(g, bar[o[j]], wgi_graph_product(g, bar[i], d[j]));
    }
}

static int can_be_done(const wgi_graph *g, size_t nodes, const unsigned char *wanted) {
    for (size_t i = 0; i < nodes; i++) {
        const wgi_node *const n = &g->node[i];
        if (!wanted[i] || n->kind == WGI_NODE_NUMBER) continue;
        if (n->when != WGI_EACH) return 0;
        if (wgi_node_is_operation(n) &&
            (wgi_node_row(n)->form != WGI_FORM_NODE ||
             wgi_node_row(n)->operands == WGI_OPERANDS_ANY || n->count > OPERANDS))
            return 0;
    }
    return 1;
}

int wgi_edge_pushing(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *bar,
                     size_t n, const uint32_t *input, uint32_t *h) {
    web all;
    if (!can_be_done(g, nodes, wanted)) return 0;
    memset(&all, 0, sizeof all);
    all.g = g;
    all.head = wg_tape_keep(&g->c->head, (nodes + 1) * sizeof *all.head, NULL);
    if (all.head == NULL || !grow(&all)) return 1;
    memset(all.head, 0, nodes * sizeof *all.head);
    /* as many nodes as the other way, column by column, takes at most */
    const size_t enough = g->nodes + nodes * (2 * n + 16);
    for (uint32_t i = (uint32_t)nodes; i-- > 0 && g->c->status == WG_OK;) {
        if (g->nodes > enough) return 0;
        if (wanted[i] && g->node[i].kind != WGI_NODE_INPUT &&
            (bar[i] != WGI_NO_NODE || all.head[i] != 0))
            replace(&all, i, wanted, bar);
    }
    for (size_t i = 0; i < n && g->c->status == WG_OK; i++)
        for (size_t j = 0; j <= i; j++) {
            const uint32_t a = input[i], b = input[j];
            const uint32_t e = all.table[place(&all, a > b ? a : b, a > b ? b : a)];
            h[i * n + j] = h[j * n + i] = e == 0 ? WGI_NO_NODE : all.edge[e - 1].weight;
        }
    return 1;
}
