/* SPDX-License-Identifier: MIT */
/* pattern_plan.h - a pattern while it is made, and the colouring of it. Internal. */
#ifndef WGI_TAPE_SPARSITY_PATTERN_PLAN_H
#define WGI_TAPE_SPARSITY_PATTERN_PLAN_H

#include "sparsity.h"

/* What a wg_sparsity is made from. rows: the whole pattern in order, which is both triangles of
 * a Hessian. */
typedef struct wgi_plan {
    wgi_core *c;
    const char *call;
    size_t n, m;
    int hessian;
    char triangle;
    wg_layout layout;
    unsigned flags;
    uint64_t recording;
    wgi_lines rows, cols;
    /* some operation has no jvp: its tangents take a vjp for every element of its results */
    int no_tangents;
    wg_colouring wish;
    size_t entries;
    struct {
        size_t colours;
        uint32_t *colour;   /* NULL: no sweeps of this direction */
    } side[2];              /* as in wg_sparsity */
    unsigned char *swapped; /* for each entry of rows; NULL: all in one direction */
    wgi_substitution by;    /* where p->wish asks for it */
} wgi_plan;

static inline size_t wgi_entries_of(const wgi_lines *a) {
    return a->lines != 0 ? a->start[a->lines] : 0;
}
static inline int wgi_in_triangle(char triangle, size_t row, size_t col) {
    return triangle == 'L' ? row >= col : triangle == 'U' ? row <= col : 1;
}
static inline size_t wgi_plan_sweeps(const wgi_plan *p) {
    return wgi_sweeps(p->side[0].colours) + wgi_sweeps(p->side[1].colours);
}
/* Is entry e of the rows, which stands in this row, asked for? */
static inline int wgi_plan_wants(const wgi_plan *p, size_t row, size_t e) {
    return (p->rows.wanted == NULL || p->rows.wanted[e]) &&
           (!p->hessian || wgi_in_triangle(p->triangle, row, p->rows.index[e]));
}

/* Colours columns, rows, or both; variables. */
wg_status wgi_plan_jacobian(wgi_plan *p);
wg_status wgi_plan_hessian(wgi_plan *p);

#endif
