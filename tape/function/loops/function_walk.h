/* SPDX-License-Identifier: MIT */
/* function_walk.h - a walk through the functions of a call, a map or a scan in a recording that
 * becomes a function: their nodes become nodes of that function, once for each point and each
 * step; where that would be too many, the points or the steps become a repeat. The same walk,
 * with sets in the place of nodes, finds what the results depend on. Internal. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_FUNCTION_WALK_H
#define WGI_TAPE_FUNCTION_LOOPS_FUNCTION_WALK_H

#include "map.h"
#include "scan.h"
#include "tape/function/graph/repeat.h"
#include "tape/sparsity/sparsity.h"

typedef struct wgi_walk wgi_walk;
struct wgi_walk {
    wgi_graph *g;
    const wgi_block *b;
    const uint32_t *x; /* the nodes of all operands */
    uint32_t *y;       /* the nodes of all results */
    const wg_function *f;
    uint32_t *node;    /* what each node of f has become, at this point */
    uint32_t *operand; /* the operands of one node */
    double *filled;    /* an input at one point, for a callback */
    /* input: gives the nodes of input i at point p. output: takes those of output k; a summed
     * output comes at point 0. */
    wg_status (*input)(wgi_walk *w, size_t i, size_t p, uint32_t *to);
    void (*output)(wgi_walk *w, size_t k, size_t p, const uint32_t *from);
    /* of a map: */
    const wgi_map *map;
    /* of a scan; fields hold, for every number, its node plus 1, or 0 for the number 0: */
    const wgi_scan *scan;
    const wgi_scan_stage *stage;
    size_t step;
    double *old, *next, *passing;
    /* in the body of a repeat: of each input that is data of a step, its first node */
    const uint32_t *stepped;
    /* where sets are in the place of nodes; `g` then only has the tape. curves: where pairs are
     * connected that second derivatives may have; or NULL */
    wgi_sets *sets;
    wgi_curves *curves;
};

/* Makes room for the largest of the functions. */
wg_status wgi_walk_open(wgi_walk *w, size_t count, const wg_function *const *f);
/* f at so many points: takes its inputs and gives its outputs by w->input and w->output. */
wg_status wgi_walk_through(wgi_walk *w, const wg_function *f, size_t points);
/* Does so much, done so often, become a repeat? operations: of each time. */
int wgi_walk_repeats(const wgi_walk *w, size_t times, size_t operations);

/* The number 0; a sum: as nodes or as sets. */
uint32_t wgi_walk_zero(const wgi_walk *w);
uint32_t wgi_walk_plus(const wgi_walk *w, uint32_t a, uint32_t b);

static inline size_t wgi_walk_elements(const wgi_operand *o) {
    return (size_t)o->rows * o->cols;
}
/* Where the elements of operand or result `count` begin, among those of all. */
size_t wgi_walk_first_of(const wgi_operand *o, size_t count);
/* The nodes of point p of an input: from a matrix, from data, or as a callback fills it. */
wg_status wgi_walk_from_feed(wgi_walk *w, const wg_argument *a, const wgi_feed *from, size_t p,
                             uint32_t *to);

/* All of a scan: flatten_scan.c. */
wg_status wgi_walk_scan(wgi_walk *w);

#endif
