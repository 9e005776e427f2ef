/* SPDX-License-Identifier: MIT */
/* Truncated Taylor series of the nodes of a graph, order by order, at quadratic cost.
 *
 * Letters: v a node, a and b its operands, v_k the coefficient of s^k, p its partial by an operand.
 *   product      v_k = sum_{j=0..k} a_j b_{k-j};  of a square half of these terms, twice
 *   quotient     v_k = (a_k - sum_{j=1..k} b_j v_{k-j}) / b_0
 *   root         v_k = (a_k - sum_{j=1..k-1} v_j v_{k-j}) / (2 v_0)
 *   any other    v_k = sum over operands of sum_{j=1..k} (j / k) a_j p_{k-j}
 * The last one is v' = p a'. Its p is a node as any other, made of a and v by the texts of the
 * table, whose series is wanted one order less far: those of exp, sin and cos, tanh, log, ... are made
 * of themselves and of one or two products more. Source: Griewank, Walther 2008, ch. 13. */
#include "taylor.h"

#include <math.h>
#include <string.h>

/* In the place of a coefficient that was not computed yet. */
#define UNKNOWN (WGI_NO_NODE - 1)

typedef struct series {
    wgi_builder *b;
    wgi_graph *g;
    size_t order;
    size_t nodes, room;   /* how many nodes are known, and for how many there is room, in: */
    unsigned char *moves; /* does it depend on what is differentiated? */
    uint32_t *need,
        *done;        /* up to which order it is wanted; what it needs for that was asked for */
    uint32_t *shares; /* where its partials stand, plus 1; 0: they were not asked for */
    uint32_t *partial; /* one per operand; WGI_NO_NODE: of one that does not move */
    size_t partials, partial_room;
    uint32_t *place, *c; /* coefficient k of a node: c[place * (order + 1) + k] */
} series;

/* ---- growing ---- */

static void *longer(series *s, const void *old, size_t used, size_t room, size_t size) {
    char *const list = wg_tape_keep(&s->g->c->head, (room + 1) * size, NULL);
    if (list == NULL) return NULL;
    if (used != 0) memcpy(list, old, used * size);
    memset(list + used * size, 0, (room - used) * size);
    return list;
}

/* Nodes were added: do they depend on what is differentiated? 0: a failure. */
static int learn(series *s) {
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

typedef enum {
    NONE,
    SUM,
    PRODUCT,
    SQUARE,
    FMA,
    QUOTIENT,
    ROOT,
    SELECT,
    POWER,
    OTHER
} recurrence;

static recurrence recurrence_of(const wgi_node *n) {
    const int op = wgi_node_op(n);
    if (n->kind == WGI_NODE_INPUT || n->kind == WGI_NODE_NUMBER) return NONE;
    if (n->kind == WGI_NODE_SUM) return SUM;
    if (n->kind == WGI_NODE_TIMES || op == WGI_ROW_mul) return PRODUCT;
    if (op == WGI_ROW_square) return SQUARE;
    if (op == WGI_ROW_fma) return FMA;
    if (op == WGI_ROW_div) return QUOTIENT;
    if (op == WGI_ROW_sqrt) return ROOT;
    if (op == WGI_ROW_pow) return POWER;
    return op >= WGI_ROW_select_lt && op <= WGI_ROW_select_ne ? SELECT : OTHER;
}

static uint32_t operand(const series *s, uint32_t node, uint32_t k) {
    return s->g->operand[s->g->node[node].first + k];
}

/* ---- what is needed ---- */

static void require(series *s, uint32_t node, uint32_t order) {
    if (s->moves[node] && s->need[node] < order) s->need[node] = order;
}

/* Partial k of a node. Those of a power are made of its value: the texts would go on from one
 * exponent to the next. */
static uint32_t partial_of(series *s, uint32_t node, uint32_t k) {
    wgi_graph *const g = s->g;
    if (recurrence_of(&g->node[node]) != POWER) return wgi_graph_partial(g, node, k);
    const uint32_t a = operand(s, node, 0), b = operand(s, node, 1);
    if (k == 0) return WGI_GRAPH2(g, div, WGI_GRAPH2(g, mul, b, node), a);
    return WGI_GRAPH2(g, mul, WGI_GRAPH1(g, log, a), node);
}

/* Is it a power with a whole exponent of moderate size? */
static int is_whole_power(const series *s, uint32_t node, unsigned *exponent) {
    enum { LARGEST = 64 };
    const wgi_node *const e = &s->g->node[operand(s, node, 1)];
    if (recurrence_of(&s->g->node[node]) != POWER || e->kind != WGI_NODE_NUMBER) return 0;
    if (!(e->value >= 1 && e->value <= LARGEST) || e->value != floor(e->value)) return 0;
    *exponent = (unsigned)e->value;
    return 1;
}

/* The same power as products: from 0 on it has the derivatives that a quotient by it has not. */
static uint32_t as_products(series *s, uint32_t a, unsigned exponent) {
    uint32_t power = WGI_NO_NODE;
    for (;; exponent /= 2) {
        if (exponent % 2 != 0)
            power = power == WGI_NO_NODE ? a : WGI_GRAPH2(s->g, mul, power, a);
        if (exponent <= 1) return power;
        a = WGI_GRAPH1(s->g, square, a);
    }
}

/* Finds the partials of a node, or the node with the same series; 0: a failure. */
static int find_shares(series *s, uint32_t node) {
    const uint32_t count = s->g->node[node].count;
    unsigned exponent;
    if (s->partials + count > s->partial_room) {
        s->partial_room = 2 * (s->partials + count);
        s->partial = longer(s, s->partial, s->partials, s->partial_room, sizeof *s->partial);
        if (s->partial == NULL) return 0;
    }
    const size_t first = s->partials;
    s->partials += count;
    if (is_whole_power(s, node, &exponent)) {
        s->partial[first] = as_products(s, operand(s, node, 0), exponent);
        s->partial[first + 1] = WGI_NO_NODE;
    } else
        for (uint32_t k = 0; k < count; k++)
            s->partial[first + k] =
                s->moves[operand(s, node, k)] ? partial_of(s, node, k) : WGI_NO_NODE;
    if (!learn(s)) return 0;
    s->shares[node] = (uint32_t)first + 1;
    return 1;
}

/* Asks for what a node needs. 0: a failure. */
static int expand(series *s, uint32_t node) {
    const uint32_t order = s->need[node], count = s->g->node[node].count;
    const recurrence kind = recurrence_of(&s->g->node[node]);
    unsigned exponent;
    s->done[node] = order;
    for (uint32_t k = kind == SELECT ? 2 : 0; k < count; k++)
        require(s, operand(s, node, k), order);
    if (kind != OTHER && kind != POWER) return 1;
    if (s->shares[node] == 0 && !find_shares(s, node)) return 0;
    const uint32_t *const p = s->partial + s->shares[node] - 1;
    if (is_whole_power(s, node, &exponent)) require(s, p[0], order);
    else
        for (uint32_t k = 0; k < count; k++)
            if (p[k] != WGI_NO_NODE) require(s, p[k], order - 1);
    return 1;
}

/* ---- coefficients ---- */

static uint32_t *place_of(const series *s, uint32_t node, size_t k) {
    WG_ASSERT(s->need[node] >= k);
    return &s->c[s->place[node] * (s->order + 1) + k];
}

static uint32_t coefficient(const series *s, uint32_t node, size_t k) {
    if (k == 0) return node;
    return s->moves[node] ? *place_of(s, node, k) : WGI_NO_NODE;
}

/* x - y, where WGI_NO_NODE is 0. */
static uint32_t minus(wgi_graph *g, uint32_t x, uint32_t y) {
    if (y == WGI_NO_NODE) return x;
    return x == WGI_NO_NODE ? WGI_GRAPH1(g, neg, y) : WGI_GRAPH2(g, sub, x, y);
}
static uint32_t over(wgi_graph *g, uint32_t x, uint32_t y) {
    return x == WGI_NO_NODE ? x : WGI_GRAPH2(g, div, x, y);
}

/* The sum of a_j b_{k-j}, j from `from` to `to`; of a series with itself each pair once, twice. */
static uint32_t convolve(series *s, uint32_t a, uint32_t b, size_t k, size_t from, size_t to) {
    wgi_graph *const g = s->g;
    uint32_t sum = WGI_NO_NODE;
    const int same = a == b && from + to == k;
    for (size_t j = from; j <= to && (!same || 2 * j < k); j++)
        sum = wgi_graph_plus(
            g, sum, wgi_graph_product(g, coefficient(s, a, j), coefficient(s, b, k - j)));
    if (!same) return sum;
    if (sum != WGI_NO_NODE) sum = WGI_GRAPH2(g, mul, wgi_graph_number(g, 2), sum);
    if (k % 2 != 0 || from > k / 2) return sum;
    const uint32_t middle = coefficient(s, a, k / 2);
    return wgi_graph_plus(g, sum, wgi_graph_product(g, middle, middle));
}

/* A select of coefficients by the comparison of values. */
static uint32_t selected(series *s, uint32_t node, size_t k) {
    wgi_graph *const g = s->g;
    const uint32_t yes = coefficient(s, operand(s, node, 2), k);
    const uint32_t no = coefficient(s, operand(s, node, 3), k);
    if (yes == WGI_NO_NODE && no == WGI_NO_NODE) return WGI_NO_NODE;
    const uint32_t x[4] = {operand(s, node, 0), operand(s, node, 1), wgi_graph_or_zero(g, yes),
                           wgi_graph_or_zero(g, no)};
    return wgi_graph_op(g, g->node[node].op, x);
}

/* By the partials. Where one does not move it is a factor. */
static uint32_t by_partials(series *s, uint32_t node, size_t k) {
    wgi_graph *const g = s->g;
    const uint32_t *const p = s->partial + s->shares[node] - 1;
    const uint32_t count = g->node[node].count;
    uint32_t all = WGI_NO_NODE, weighted = WGI_NO_NODE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = operand(s, node, i);
        if (p[i] == WGI_NO_NODE || wgi_graph_is(g, p[i], 0)) continue;
        if (!s->moves[p[i]]) {
            all = wgi_graph_plus(g, all, wgi_graph_product(g, coefficient(s, a, k), p[i]));
            continue;
        }
        for (size_t j = 1; j <= k; j++) {
            const uint32_t by =
                wgi_graph_product(g, wgi_graph_number(g, (double)j), coefficient(s, a, j));
            weighted = wgi_graph_plus(g, weighted,
                                      wgi_graph_product(g, by, coefficient(s, p[i], k - j)));
        }
    }
    if (k > 1) weighted = over(g, weighted, wgi_graph_number(g, (double)k));
    return wgi_graph_plus(g, all, weighted);
}

static void settle(series *s, uint32_t node, size_t k);

static uint32_t next(series *s, uint32_t node, size_t k) {
    wgi_graph *const g = s->g;
    const uint32_t a = g->node[node].count > 0 ? operand(s, node, 0) : 0;
    const uint32_t b = g->node[node].count > 1 ? operand(s, node, 1) : a;
    unsigned exponent;
    switch (recurrence_of(&g->node[node])) {
    case NONE:
        break; /* those of inputs were given */
    case SUM: {
        const uint32_t of = coefficient(s, a, k);
        return of == WGI_NO_NODE ? of : wgi_graph_sum(g, of);
    }
    case PRODUCT:
    case SQUARE:
        return convolve(s, a, b, k, 0, k);
    case FMA:
        return wgi_graph_plus(g, coefficient(s, operand(s, node, 2), k),
                              convolve(s, a, b, k, 0, k));
    case QUOTIENT:
        return over(g, minus(g, coefficient(s, a, k), convolve(s, b, node, k, 1, k)), b);
    case ROOT: {
        const uint32_t twice = WGI_GRAPH2(g, mul, wgi_graph_number(g, 2), node);
        return over(g, minus(g, coefficient(s, a, k), convolve(s, node, node, k, 1, k - 1)),
                    twice);
    }
    case SELECT:
        return selected(s, node, k);
    case POWER:
        if (!is_whole_power(s, node, &exponent)) break;
        settle(s, s->partial[s->shares[node] - 1], k);
        return coefficient(s, s->partial[s->shares[node] - 1], k);
    default:
        break;
    }
    return by_partials(s, node, k);
}

/* Computes a coefficient, if it is not there. Products that a power became stand behind it, and so
 * come before their turn. */
static void settle(series *s, uint32_t node, size_t k) {
    if (!s->moves[node] || *place_of(s, node, k) != UNKNOWN) return;
    for (uint32_t i = 0; i < s->g->node[node].count; i++) {
        const uint32_t of = operand(s, node, i);
        if (s->need[of] >= k) settle(s, of, k);
    }
    *place_of(s, node, k) = next(s, node, k);
}

/* Numbers what has a series, makes room for that, and puts the inputs there; 0: a failure. */
static int lay_out(series *s, size_t n, const uint32_t *x, const uint32_t *dx) {
    const size_t each = s->order + 1;
    size_t count = 0;
    s->place = wgi_builder_list(s->b, s->nodes);
    if (s->place == NULL) return 0;
    for (size_t i = 0; i < s->nodes; i++) s->place[i] = s->need[i] != 0 ? (uint32_t)count++ : 0;
    s->c = wgi_builder_list(s->b, count * each);
    if (s->c == NULL) return 0;
    for (size_t i = 0; i < count * each; i++) s->c[i] = UNKNOWN;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k <= s->need[x[i]]; k++)
            *place_of(s, x[i], k) = k == 1 ? dx[i] : WGI_NO_NODE;
    return 1;
}

void wgi_taylor(wgi_builder *b, size_t order, size_t n, const uint32_t *x, const uint32_t *dx,
                size_t m, const uint32_t *y, uint32_t *c) {
    series s = {.b = b, .g = &b->g, .order = order};
    if (order == 0) return;
    s.room = 2 * s.g->nodes;
    s.moves = longer(&s, NULL, 0, s.room, 1);
    s.need = longer(&s, NULL, 0, s.room, sizeof *s.need);
    s.done = longer(&s, NULL, 0, s.room, sizeof *s.done);
    s.shares = longer(&s, NULL, 0, s.room, sizeof *s.shares);
    if (s.g->c->status != WG_OK) return;
    for (size_t i = 0; i < n; i++) s.moves[x[i]] = 1;
    if (!learn(&s)) return;
    for (size_t j = 0; j < m; j++) require(&s, y[j], (uint32_t)order);
    for (int more = 1; more;) { /* partials stand behind what they are of, and need it */
        more = 0;
        for (size_t i = s.nodes; i-- > 0;) {
            if (s.need[i] <= s.done[i]) continue;
            if (!expand(&s, (uint32_t)i)) return;
            more = 1;
        }
    }
    if (!lay_out(&s, n, x, dx)) return;
    for (size_t k = 1; k <= order && s.g->c->status == WG_OK; k++)
        for (size_t i = 0; i < s.nodes; i++)
            if (s.need[i] >= k) settle(&s, (uint32_t)i, k);
    for (size_t k = 1; k <= order && s.g->c->status == WG_OK; k++)
        for (size_t j = 0; j < m; j++) c[k * m + j] = coefficient(&s, y[j], k);
}
