/* SPDX-License-Identifier: MIT */
/* Acyclic colourings of a symmetric pattern: no two neighbours have one colour, and no cycle
 * has two colours. What two colours have in common is then a forest, whose entries are found
 * from its leaves on: a leaf has one neighbour of the other colour, so the product with that
 * colour is their entry; that is taken off the product of the neighbour, and the leaf is gone.
 * Fewer colours do than where each entry is read alone, but an entry has the rounding of all
 * that were taken off before it.
 *
 * Trees are sets of edges, merged where a colour joins them. Source: Gebremedhin, Tarafdar,
 * Manne, Pothen 2007, SIAM J. Sci. Comput. 29(3); Coleman, Cai 1986. */
#include "sparsity.h"

#include <string.h>

typedef struct forest {
    const wgi_lines *a;
    uint32_t *edge; /* of each entry that is not on the diagonal; both of its entries have it */
    size_t edges;
    uint32_t *above; /* the sets */
    uint32_t *by,
        *from; /* of each set: for which variable it was met, plus 1, and where from */
    uint32_t *forbidden; /* of each colour: for which variable, plus 1 */
    uint32_t *twice;     /* of each colour: for which variable two neighbours have it, plus 1 */
    uint32_t *star,
        *star_edge; /* of each colour: for which variable, plus 1, and an edge to it */
    uint32_t *colour;
} forest;

static void *keep(wgi_core *c, size_t count, size_t size) {
    void *const p = wg_tape_keep(&c->head, (count + 1) * size, NULL);
    if (p != NULL) memset(p, 0, (count + 1) * size);
    return p;
}

/* Numbers the edges: an entry below the diagonal, and the one that mirrors it, which is the
 * next one of its row, as rows are in order. */
static void number_edges(forest *f, size_t *next) {
    const wgi_lines *const a = f->a;
    for (size_t i = 0; i < a->lines; i++) {
        size_t e = a->start[i];
        for (; e < a->start[i + 1] && a->index[e] < i; e++) {
            f->edge[e] = (uint32_t)f->edges;
            f->edge[next[a->index[e]]++] = (uint32_t)f->edges++;
        }
        next[i] = e < a->start[i + 1] && a->index[e] == i ? e + 1 : e;
    }
}

static uint32_t set_of(forest *f, uint32_t e) {
    while (f->above[e] != e) {
        f->above[e] = f->above[f->above[e]];
        e = f->above[e];
    }
    return e;
}
static void merge(forest *f, uint32_t d, uint32_t e) {
    d = set_of(f, d), e = set_of(f, e);
    if (d < e) f->above[e] = d;
    else f->above[d] = e;
}

/* The smallest colour that makes no cycle: not that of a neighbour w, nor of a neighbour of w
 * whose tree is met from two neighbours, which then have the same colour. A variable with many
 * neighbours is looked around only for those that have another neighbour of its colour. */
static uint32_t free_colour(forest *f, uint32_t v) {
    const wgi_lines *const a = f->a;
    for (size_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const uint32_t w = a->index[e], d = f->colour[w];
        if (w == v || d == WGI_NO_COLOUR) continue;
        if (f->forbidden[d] == v + 1) f->twice[d] = v + 1;
        f->forbidden[d] = v + 1;
    }
    for (size_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const uint32_t w = a->index[e], d = f->colour[w];
        if (w == v || d == WGI_NO_COLOUR || f->twice[d] != v + 1) continue;
        for (size_t k = a->start[w]; k < a->start[w + 1]; k++) {
            const uint32_t x = a->index[k], c = f->colour[x];
            if (x == w || x == v || c == WGI_NO_COLOUR || f->forbidden[c] == v + 1) continue;
            const uint32_t tree = set_of(f, f->edge[k]);
            if (f->by[tree] != v + 1) {
                f->by[tree] = v + 1;
                f->from[tree] = w;
            } else if (f->from[tree] != w) f->forbidden[c] = v + 1;
        }
    }
    uint32_t c = 0;
    while (f->forbidden[c] == v + 1) c++;
    return c;
}

/* Joins the trees that v connects. */
static void give_colour(forest *f, uint32_t v, uint32_t c) {
    const wgi_lines *const a = f->a;
    f->colour[v] = c;
    for (size_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const uint32_t w = a->index[e], d = f->colour[w];
        if (w == v || d == WGI_NO_COLOUR) continue;
        if (f->star[d] == v + 1) merge(f, f->star_edge[d], f->edge[e]);
        f->star[d] = v + 1;
        f->star_edge[d] = f->edge[e];
        size_t k = a->start[w]; /* all that w has of this colour are one tree already */
        while (k < a->start[w + 1] &&
               (a->index[k] == v || a->index[k] == w || f->colour[a->index[k]] != c))
            k++;
        if (k < a->start[w + 1]) merge(f, f->edge[e], f->edge[k]);
    }
}

/* Lists the edges of all trees from their leaves on. ends: both variables of each edge, as
 * their sum; edges of a tree come one after the other in `order`. */
static void peel(const forest *f, const uint32_t *order, const uint32_t *low,
                 const uint32_t *high, uint32_t *degree, uint32_t *met, wgi_substitution *to) {
    size_t done = 0;
    for (size_t first = 0, last; first < f->edges; first = last) {
        const uint32_t tree = f->above[order[first]];
        for (last = first; last < f->edges && f->above[order[last]] == tree; last++) {
            const uint32_t e = order[last];
            degree[low[e]]++, degree[high[e]]++;
            met[low[e]] ^= e, met[high[e]] ^= e; /* of a leaf: its edge */
        }
        for (size_t k = first; k < last; k++)
            for (int side = 0; side < 2; side++) {
                uint32_t leaf = side ? high[order[k]] : low[order[k]];
                while (degree[leaf] == 1) {
                    const uint32_t e = met[leaf], other = low[e] == leaf ? high[e] : low[e];
                    to->child[done] = leaf;
                    to->parent[done] = other;
                    to->step[e] = (uint32_t)done++;
                    degree[leaf] = met[leaf] = 0;
                    degree[other]--;
                    met[other] ^= e;
                    leaf = other;
                }
            }
    }
    to->steps = done;
}

/* All sets by their first edge. */
static void flatten(forest *f) {
    for (size_t e = 0; e < f->edges; e++) f->above[e] = set_of(f, (uint32_t)e);
}

/* Edges ordered by their sets. */
static void by_tree(const forest *f, uint32_t *count, uint32_t *order) {
    for (size_t e = 0; e < f->edges; e++) count[f->above[e] + 1]++;
    for (size_t e = 0; e < f->edges; e++) count[e + 1] += count[e];
    for (size_t e = 0; e < f->edges; e++) order[count[f->above[e]]++] = (uint32_t)e;
}

static wg_status plan_substitution(wgi_core *c, forest *f, wgi_substitution *to) {
    const wgi_lines *const a = f->a;
    uint32_t *const low = keep(c, f->edges, sizeof *low), *const high =
                                                              keep(c, f->edges, sizeof *high);
    uint32_t *const degree = keep(c, a->lines, sizeof *degree);
    uint32_t *const met = keep(c, a->lines, sizeof *met);
    uint32_t *const count = keep(c, f->edges + 1, sizeof *count);
    uint32_t *const order = keep(c, f->edges, sizeof *order);
    to->child = keep(c, f->edges, sizeof *to->child);
    to->parent = keep(c, f->edges, sizeof *to->parent);
    to->step = keep(c, f->edges, sizeof *to->step);
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1] && a->index[e] < i; e++) {
            low[f->edge[e]] = a->index[e];
            high[f->edge[e]] = (uint32_t)i;
        }
    flatten(f);
    by_tree(f, count, order);
    peel(f, order, low, high, degree, met, to);
    to->edge = f->edge;
    return WG_OK;
}

/* Colours in an order; gives how many colours there are. */
static size_t colour_in_order(forest *f, const uint32_t *order) {
    const wgi_lines *const a = f->a;
    size_t colours = 0;
    for (size_t e = 0; e < f->edges; e++) f->above[e] = (uint32_t)e;
    memset(f->by, 0, f->edges * sizeof *f->by);
    memset(f->forbidden, 0, (a->lines + 1) * sizeof *f->forbidden);
    memset(f->twice, 0, (a->lines + 1) * sizeof *f->twice);
    memset(f->star, 0, (a->lines + 1) * sizeof *f->star);
    for (size_t i = 0; i < a->lines; i++) f->colour[i] = WGI_NO_COLOUR;
    for (size_t k = 0; k < a->lines; k++) {
        const uint32_t v = order[k];
        if (a->start[v + 1] == a->start[v]) continue;
        const uint32_t got = free_colour(f, v);
        give_colour(f, v, got);
        if (got >= colours) colours = (size_t)got + 1;
    }
    return colours;
}

wg_status wgi_colour_acyclic(wgi_core *c, const wgi_lines *a, wg_order wish, uint32_t *colour,
                             size_t *colours, wgi_substitution *to) {
    const size_t entries = a->lines != 0 ? a->start[a->lines] : 0;
    forest f = {.a = a, .colour = colour};
    f.edge = keep(c, entries, sizeof *f.edge);
    size_t *const next = keep(c, a->lines, sizeof *next);
    uint32_t *const order = keep(c, a->lines, sizeof *order);
    if (c->status != WG_OK) return c->status;
    number_edges(&f, next);
    f.above = keep(c, f.edges, sizeof *f.above);
    f.by = keep(c, f.edges, sizeof *f.by);
    f.from = keep(c, f.edges, sizeof *f.from);
    f.forbidden = keep(c, a->lines, sizeof *f.forbidden);
    f.twice = keep(c, a->lines, sizeof *f.twice);
    f.star = keep(c, a->lines, sizeof *f.star);
    f.star_edge = keep(c, a->lines, sizeof *f.star_edge);
    if (c->status != WG_OK) return c->status;
    wg_order best = wish, kind = wish != WG_ORDER_AUTO ? wish : WG_ORDER_NATURAL;
    const wg_order last = wish != WG_ORDER_AUTO ? wish : WG_ORDER_COUNT - 1;
    size_t fewest = SIZE_MAX;
    for (; kind <= last && wgi_sweeps(fewest) != 1; kind = (wg_order)(kind + 1)) {
        if (wgi_order(c, a, a, kind, order) != WG_OK) return c->status;
        *colours = colour_in_order(&f, order);
        if (*colours < fewest) fewest = *colours, best = kind;
    }
    if (wgi_order(c, a, a, best, order) != WG_OK) return c->status;
    *colours = colour_in_order(&f, order);
    return plan_substitution(c, &f, to);
}
