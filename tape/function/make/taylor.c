/* SPDX-License-Identifier: MIT */
/* Truncated Taylor series of the nodes of a graph, order by order, at quadratic cost.
 *
 * Letters: v a node, a and b its operands, v_k the coefficient of s^k, p its partial by an
 * operand.
 *   product      v_k = sum_{j=0..k} a_j b_{k-j};  of a square half of these terms, twice
 *   quotient     v_k = (a_k - sum_{j=1..k} b_j v_{k-j}) (1 / b_0)
 *   root         v_k = (a_k - sum_{j=1..k-1} v_j v_{k-j}) (1 / (2 v_0))
 *   any other    v_k = sum over operands of sum_{j=1..k} (j / k) a_j p_{k-j}
 * The last one is v' = p a'. Its p is a node as any other, made of a and v by the texts of the
 * table, whose series is wanted one order less far: those of exp, sin and cos, tanh, log, ...
 * are made of themselves and of one or two products more. Source: Griewank, Walther 2008,
 * ch. 13. */
#include "taylor.h"
#include "series.h"

/* In the place of a coefficient that was not computed yet. */
#define UNKNOWN (WGI_NO_NODE - 1)

typedef struct series {
    wgi_series of;
    wgi_graph *g;
    size_t order;
    uint32_t *place, *c; /* coefficient k of a node: c[place * (order + 1) + k] */
} series;

static uint32_t operand(const series *s, uint32_t node, uint32_t k) {
    return wgi_series_operand(&s->of, node, k);
}

static uint32_t *place_of(const series *s, uint32_t node, size_t k) {
    WG_ASSERT(s->of.need[node] >= k);
    return &s->c[s->place[node] * (s->order + 1) + k];
}

static uint32_t coefficient(const series *s, uint32_t node, size_t k) {
    if (k == 0) return node;
    return s->of.moves[node] ? *place_of(s, node, k) : WGI_NO_NODE;
}

/* x - y, where WGI_NO_NODE is 0. */
static uint32_t minus(wgi_graph *g, uint32_t x, uint32_t y) {
    if (y == WGI_NO_NODE) return x;
    return x == WGI_NO_NODE ? WGI_GRAPH1(g, neg, y) : WGI_GRAPH2(g, sub, x, y);
}
static uint32_t over(wgi_graph *g, uint32_t x, uint32_t y) {
    return x == WGI_NO_NODE ? x : WGI_GRAPH2(g, div, x, y);
}

/* x / y by the partial of a quotient: 0 where x is, whatever y. */
static uint32_t divided(wgi_graph *g, uint32_t x, uint32_t y) {
    if (x == WGI_NO_NODE) return x;
    return wgi_graph_product(g, x, WGI_GRAPH2(g, div, wgi_graph_number(g, 1), y));
}

/* The sum of a_j b_{k-j}, j from `from` to `to`; of a series with itself each pair once,
 * twice. */
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
    const uint32_t *const p = wgi_series_shares(&s->of, node);
    const uint32_t count = g->node[node].count;
    const uint32_t *const value = p + count;
    uint32_t all = WGI_NO_NODE, weighted = WGI_NO_NODE;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t a = operand(s, node, i);
        if (p[i] == WGI_NO_NODE || wgi_graph_is(g, p[i], 0)) continue;
        if (!s->of.moves[p[i]]) {
            all = wgi_graph_plus(g, all, wgi_graph_product(g, coefficient(s, a, k), value[i]));
            continue;
        }
        for (size_t j = 1; j <= k; j++) {
            const uint32_t by =
                wgi_graph_product(g, wgi_graph_number(g, (double)j), coefficient(s, a, j));
            const uint32_t of = j < k ? coefficient(s, p[i], k - j) : value[i];
            weighted = wgi_graph_plus(g, weighted, wgi_graph_product(g, by, of));
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
    switch (wgi_series_of(&s->of, node)) {
    case WGI_SERIES_NONE:
        break; /* those of inputs were given */
    case WGI_SERIES_SUM: {
        const uint32_t of = coefficient(s, a, k);
        return of == WGI_NO_NODE ? of : wgi_graph_sum(g, of);
    }
    case WGI_SERIES_ADD:
        return wgi_graph_plus(g, coefficient(s, a, k), coefficient(s, b, k));
    case WGI_SERIES_SUB:
        return minus(g, coefficient(s, a, k), coefficient(s, b, k));
    case WGI_SERIES_NEG:
        return minus(g, WGI_NO_NODE, coefficient(s, a, k));
    case WGI_SERIES_PRODUCT:
    case WGI_SERIES_SQUARE:
        return convolve(s, a, b, k, 0, k);
    case WGI_SERIES_FMA:
        return wgi_graph_plus(g, coefficient(s, operand(s, node, 2), k),
                              convolve(s, a, b, k, 0, k));
    case WGI_SERIES_QUOTIENT:
        return divided(g, minus(g, coefficient(s, a, k), convolve(s, b, node, k, 1, k)), b);
    case WGI_SERIES_ROOT: {
        const uint32_t twice = WGI_GRAPH2(g, mul, wgi_graph_number(g, 2), node);
        return divided(g, minus(g, coefficient(s, a, k), convolve(s, node, node, k, 1, k - 1)),
                       twice);
    }
    case WGI_SERIES_SELECT:
        return selected(s, node, k);
    case WGI_SERIES_SAME: {
        const uint32_t other = wgi_series_shares(&s->of, node)[0];
        settle(s, other, k);
        return coefficient(s, other, k);
    }
    default:
        break;
    }
    return by_partials(s, node, k);
}

/* Computes a coefficient, if it is not there. Products that a power became stand behind it, and
 * so come before their turn. */
static void settle(series *s, uint32_t node, size_t k) {
    if (!s->of.moves[node] || *place_of(s, node, k) != UNKNOWN) return;
    for (uint32_t i = 0; i < s->g->node[node].count; i++) {
        const uint32_t of = operand(s, node, i);
        if (s->of.need[of] >= k) settle(s, of, k);
    }
    *place_of(s, node, k) = next(s, node, k);
}

/* Numbers what has a series, makes room for that, and puts the inputs there; 0: a failure. */
static int lay_out(series *s, wgi_builder *b, size_t n, const uint32_t *x, const uint32_t *dx) {
    const size_t each = s->order + 1, nodes = s->of.nodes;
    size_t count = 0;
    s->place = wgi_node_list(b->c, nodes);
    if (s->place == NULL) return 0;
    for (size_t i = 0; i < nodes; i++) s->place[i] = s->of.need[i] != 0 ? (uint32_t)count++ : 0;
    s->c = wgi_node_list(b->c, count * each);
    if (s->c == NULL) return 0;
    for (size_t i = 0; i < count * each; i++) s->c[i] = UNKNOWN;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 1; k <= s->of.need[x[i]]; k++)
            *place_of(s, x[i], k) = k == 1 ? dx[i] : WGI_NO_NODE;
    return 1;
}

void wgi_taylor(wgi_builder *b, size_t order, size_t n, const uint32_t *x, const uint32_t *dx,
                size_t m, const uint32_t *y, uint32_t *c) {
    series s = {.g = &b->g, .order = order};
    if (order == 0 || wgi_series_find(&s.of, s.g, order, n, x, m, y) != WG_OK) return;
    if (!lay_out(&s, b, n, x, dx)) return;
    for (size_t k = 1; k <= order && s.g->c->status == WG_OK; k++)
        for (size_t i = 0; i < s.of.nodes; i++)
            if (s.of.need[i] >= k) settle(&s, (uint32_t)i, k);
    for (size_t k = 1; k <= order && s.g->c->status == WG_OK; k++)
        for (size_t j = 0; j < m; j++) c[k * m + j] = coefficient(&s, y[j], k);
}
