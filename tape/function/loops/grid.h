/* SPDX-License-Identifier: MIT */
/* grid.h - numbers at the cells of a grid, with a rim for what stands beyond its borders.
 * Internal.
 *
 *     entry 0: planes of lines of cells, i fastest     entry 1     ...
 *     line:  [lo 0][cells 0][hi 0]
 *
 * For compiled functions, lines of WGI_GRID_LANES cells and more begin at multiples of that
 * number: the rim is wide enough for it.
 *
 * A neighbour is read from the same array, some places away, without a copy. Once the cells are
 * computed the rim is filled from them; an adjoint of the rim is added to the cells that it was
 * filled from. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_GRID_H
#define WGI_TAPE_FUNCTION_LOOPS_GRID_H

#include "callable.h"

enum { WGI_GRID_LANES = 8 };

/* Rows begin where a vector does. */
static inline size_t wgi_grid_round_up(size_t n) {
    return (n + WGI_GRID_LANES - 1) / WGI_GRID_LANES * WGI_GRID_LANES;
}

typedef struct wgi_grid {
    size_t cells[3];
    wg_boundary boundary[3];
    size_t points, lines;
    int compiled; /* functions are compiled: lines are aligned */
} wgi_grid;

typedef struct wgi_field {
    const char *name;
    size_t entries;
    int global; /* it has one value for all cells */
    int given;  /* it is a matrix or data, neither a state nor an output */
    size_t lo[3], hi[3];
    size_t spare;             /* places in hi[0] that only align lines */
    size_t line, plane, size; /* the distances of lines, planes and entries */
    size_t begin;             /* where the first line begins */
    size_t origin;            /* where cell (0, 0, 0) stands */
    size_t at;                /* where the field begins, among all of its kind */
} wgi_field;

/* Widens the rim for a neighbour. */
void wgi_field_reach(wgi_field *f, const ptrdiff_t *offset);
/* Widens the rim so that lines are aligned, where they are to be. */
void wgi_field_align(wgi_field *f, const wgi_grid *g);
/* Sets the distances and gives the size of all entries. */
size_t wgi_field_lay_out(wgi_field *f, const wgi_grid *g);
/* Where the first cell of line l stands. */
size_t wgi_field_line(const wgi_field *f, const wgi_grid *g, size_t l);
ptrdiff_t wgi_field_shift(const wgi_field *f, const ptrdiff_t *offset);
/* Fills the rim from the cells; adds the adjoints of the rim to those of the cells. */
void wgi_field_fill(const wgi_field *f, const wgi_grid *g, double *x);
void wgi_field_fold(const wgi_field *f, const wgi_grid *g, double *w);

#endif
