/* SPDX-License-Identifier: MIT */
/* grid.h - numbers at the cells of a grid, with a rim for what stands beyond. Internal.
 *
 *     entry 0: planes of lines of cells, i fastest     entry 1     ...
 *     line:  [lo 0][cells 0][hi 0]
 *
 * For compiled functions the first cells of lines, of WGI_GRID_LANES cells and more, stand at
 * multiples of that: the rim is wide enough for it.
 *
 * A neighbour is the same array, some places on: no copy. The rim is filled after the cells,
 * and its adjoint is added back to the cells that it came from. */
#ifndef WENGERT_TAPE_FUNCTION_GRID_H
#define WENGERT_TAPE_FUNCTION_GRID_H

#include "callable.h"

enum { WGI_GRID_LANES = 8 };

typedef struct wgi_grid {
    size_t cells[3];
    wg_boundary boundary[3];
    size_t points, lines;
    int compiled; /* are functions? Lines are aligned then */
} wgi_grid;

typedef struct wgi_field {
    const char *name;
    size_t entries;
    int global; /* one value for all cells: no grid */
    int given;  /* neither a state nor an output */
    size_t lo[3], hi[3];
    size_t spare;             /* places in hi[0] that no neighbour needs */
    size_t line, plane, size; /* from line to line, from plane to plane, from entry to entry */
    size_t begin;             /* of the first line */
    size_t origin;            /* of cell (0, 0, 0) */
    size_t at;                /* of the field among others */
} wgi_field;

/* Makes room in the rim for a neighbour. */
void wgi_field_reach(wgi_field *f, const ptrdiff_t *offset);
/* Makes the rim wide enough for lines to be aligned, where they are. */
void wgi_field_align(wgi_field *f, const wgi_grid *g);
/* Sets the strides; gives the size of all entries. */
size_t wgi_field_lay_out(wgi_field *f, const wgi_grid *g);
/* Where line number l begins. */
size_t wgi_field_line(const wgi_field *f, const wgi_grid *g, size_t l);
ptrdiff_t wgi_field_shift(const wgi_field *f, const ptrdiff_t *offset);
/* The rim from the cells; the adjoints of the rim to those of the cells. */
void wgi_field_fill(const wgi_field *f, const wgi_grid *g, double *x);
void wgi_field_fold(const wgi_field *f, const wgi_grid *g, double *w);

#endif
