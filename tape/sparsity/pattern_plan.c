/* SPDX-License-Identifier: MIT */
/* Which colouring a pattern gets: columns, rows or both of a Jacobian, variables of a
 * Hessian. */
#include "pattern_plan.h"

#include <string.h>

/* Columns or rows, whichever takes fewer sweeps: forward and backward sweeps over the same
 * records take about as long, except for operations without tangents. Both, where these are
 * fewer still. */
wg_status wgi_plan_jacobian(wgi_plan *p) {
    wgi_core *const c = p->c;
    size_t by_cols = 0, by_rows = 0;
    uint32_t *const cols = wgi_sparsity_room(c, p->n, sizeof *cols);
    uint32_t *const rows = wgi_sparsity_room(c, p->m, sizeof *rows);
    if (c->status != WG_OK) return c->status;
    const int backward = p->no_tangents && p->wish.sweeps == WG_SWEEPS_AUTO;
    const wg_sweeps wish = backward ? WG_SWEEPS_BACKWARD : p->wish.sweeps;
    wg_status s = WG_OK;
    if (wish != WG_SWEEPS_BACKWARD) {
        s = wgi_colour_lines(c, &p->cols, &p->rows, p->wish.order, cols, &by_cols);
        if (s != WG_OK) return s;
        p->side[0].colour = cols;
        p->side[0].colours = by_cols;
        if (by_cols <= 1 || wish == WG_SWEEPS_FORWARD) return s;
    }
    s = wgi_colour_lines(c, &p->rows, &p->cols, p->wish.order, rows, &by_rows);
    if (s != WG_OK) return s;
    if (wish == WG_SWEEPS_BACKWARD || wgi_sweeps(by_rows) < wgi_sweeps(by_cols) ||
        (wgi_sweeps(by_rows) == wgi_sweeps(by_cols) && by_rows < by_cols)) {
        p->side[0].colour = NULL;
        p->side[0].colours = 0;
        p->side[1].colour = rows;
        p->side[1].colours = by_rows;
    }
    if (wgi_plan_sweeps(p) <= 2 || wish != WG_SWEEPS_AUTO) return s;
    uint32_t *const both_cols = wgi_sparsity_room(c, p->n, sizeof *both_cols);
    uint32_t *const both_rows = wgi_sparsity_room(c, p->m, sizeof *both_rows);
    unsigned char *const by_row = wgi_sparsity_room(c, wgi_entries_of(&p->rows), 1);
    size_t both[2];
    int is_fewer = 0;
    if (c->status != WG_OK) return c->status;
    s = wgi_colour_both(c, &p->rows, &p->cols, p->wish.order, wgi_plan_sweeps(p), both_cols,
                        both_rows, by_row, both, &is_fewer);
    if (s != WG_OK || !is_fewer) return s;
    p->side[0].colour = both_cols;
    p->side[0].colours = both[0];
    p->side[1].colour = both_rows;
    p->side[1].colours = both[1];
    p->swapped = by_row;
    return WG_OK;
}

/* Variables along which no wanted entry is read get no colour. */
wg_status wgi_plan_hessian(wgi_plan *p) {
    wgi_core *const c = p->c;
    const wgi_lines *const a = &p->rows;
    uint32_t *const colour = wgi_sparsity_room(c, p->n, sizeof *colour);
    size_t all;
    if (p->wish.substitution) {
        p->side[0].colour = colour;
        if (c->status != WG_OK) return c->status;
        return wgi_colour_acyclic(c, a, p->wish.order, colour, &p->side[0].colours, &p->by);
    }
    p->swapped = wgi_sparsity_room(c, wgi_entries_of(a), 1);
    unsigned char *const used = wgi_sparsity_room(c, p->n, 1);
    if (c->status != WG_OK) return c->status;
    if (wgi_colour_star(c, a, p->wish.order, colour, &all, p->swapped) != WG_OK)
        return c->status;
    uint32_t *const number = wgi_sparsity_room(c, all, sizeof *number);
    if (c->status != WG_OK) return c->status;
    memset(used, 0, p->n);
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (wgi_plan_wants(p, i, e)) used[p->swapped[e] ? i : a->index[e]] = 1;
    for (size_t k = 0; k < all; k++) number[k] = WGI_NO_COLOUR;
    uint32_t colours = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!used[i]) {
            colour[i] = WGI_NO_COLOUR;
            continue;
        }
        uint32_t *const to = &number[colour[i]];
        if (*to == WGI_NO_COLOUR) *to = colours++;
        colour[i] = *to;
    }
    p->side[0].colour = colour;
    p->side[0].colours = colours;
    return WG_OK;
}
