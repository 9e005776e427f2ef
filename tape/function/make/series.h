/* SPDX-License-Identifier: MIT */
/* series.h - which nodes of a graph have a truncated series, and by which recurrence.
 * Internal. */
#ifndef WGI_TAPE_FUNCTION_MAKE_SERIES_H
#define WGI_TAPE_FUNCTION_MAKE_SERIES_H

#include "tape/function/graph/graph.h"

/* How coefficient k of a node v comes of those of its operands a, b (taylor.c): it has none; a
 * sum over points; a sum, a difference, the negative; a product, a square, a product and a sum;
 * a quotient; a root; a choice by two operands between two others; the same as that of another
 * node, its first share; by its partials, its shares. */
typedef enum wgi_recurrence {
    WGI_SERIES_NONE,
    WGI_SERIES_SUM,
    WGI_SERIES_ADD,
    WGI_SERIES_SUB,
    WGI_SERIES_NEG,
    WGI_SERIES_PRODUCT,
    WGI_SERIES_SQUARE,
    WGI_SERIES_FMA,
    WGI_SERIES_QUOTIENT,
    WGI_SERIES_ROOT,
    WGI_SERIES_SELECT,
    WGI_SERIES_SAME,
    WGI_SERIES_OTHER
} wgi_recurrence;

typedef struct wgi_series {
    wgi_graph *g;
    size_t nodes, room;   /* how many nodes the lists below have entries for, and room for */
    unsigned char *moves; /* does it depend on what is differentiated? */
    /* the order up to which its coefficients are wanted, and up to which that was passed on to
     * what they are computed from */
    uint32_t *need, *done;
    uint32_t *shares; /* where its partials stand in `partial`, plus 1; 0: there are none yet */
    /* of a node one for each operand, WGI_NO_NODE where that does not move; behind them nodes of
     * their values */
    uint32_t *partial;
    size_t partials, partial_room;
} wgi_series;

/* Finds what is needed for coefficients of the m nodes y up to an order, where the n nodes x
 * move, and adds the partials to the graph. No node that moves has parts. A failure is the
 * tape's. */
wg_status wgi_series_find(wgi_series *s, wgi_graph *g, size_t order, size_t n,
                          const uint32_t *x, size_t m, const uint32_t *y);
wgi_recurrence wgi_series_of(const wgi_series *s, uint32_t node);
static inline uint32_t wgi_series_operand(const wgi_series *s, uint32_t node, uint32_t k) {
    return s->g->operand[s->g->node[node].first + k];
}
/* The partials of a node, and behind them nodes of their values at the point; or the node with
 * the same series. */
static inline const uint32_t *wgi_series_shares(const wgi_series *s, uint32_t node) {
    return s->partial + s->shares[node] - 1;
}

#endif
