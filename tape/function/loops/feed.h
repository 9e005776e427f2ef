/* SPDX-License-Identifier: MIT */
/* feed.h - where the inputs of a recorded function come from, and where their adjoints go: what
 * calls, maps and the stages of scans share. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_FEED_H
#define WENGERT_TAPE_FUNCTION_FEED_H

#include "tape/function/graph/arguments.h"
#include "tape/function/graph/pieces.h"

#include <wengert/map.h>

/* One input. */
typedef struct wgi_feed {
    int kind;         /* WGI_FROM_... */
    int each_step;    /* the matrix, or the data, has values of its own for each step */
    uint32_t operand; /* of the recorded operation, where the input is a matrix */
    wg_points data;
    wg_fill *fill;
    void *user;
    /* of a scan: */
    uint32_t number; /* among the inputs of all stages */
    int bar;         /* its tangents or adjoints are read, not its values */
    int is_field;    /* as are matrices and data of cells, on a grid of lines */
    uint32_t field;
    ptrdiff_t shift; /* of a neighbour, from the cell itself */
} wgi_feed;

/* ---- matrices as points ---- */

/* Do the matrix and an argument at `points` points fit: a column per point, a vector of one
 * entry per point, or the shape of the argument where there is one point? */
int wgi_points_fit(const wg_argument *a, size_t points, size_t rows, size_t cols);

/* The elements of a matrix in the order of its columns, taken as points of `entries` entries
 * each: entry e of point p at e * entry + p * point. 0: there is no such stride. */
int wgi_points_of(size_t rows, size_t cols, size_t ld, unsigned trans, size_t entries,
                  ptrdiff_t *point, ptrdiff_t *entry);
/* Where the values (or, from bar, tangents) of a matrix stand: in place, or, where there is no
 * stride, as one point in `copy`. */
wg_points wgi_points_in(const wg_block_arg *a, size_t entries, int bar, double *copy);
/* The elements in this order to and from a contiguous array. */
void wgi_points_copy(const wg_block_arg *a, const double *from, size_t ld, double *to);
void wgi_points_add(const wg_block_arg *a, const double *from, double *to, size_t ld);
/* to += from, entry by entry of every point. */
void wgi_points_accumulate(size_t points, size_t entries, wg_points from, wg_results to);

/* ---- adjoints of inputs ---- */

/* Workspace for the adjoint of an input with a value per point: points stand next to each
 * other, entries `stride` apart, where points stand so in the matrix. */
wg_results wgi_adjoint_room(const wg_block_arg *a, size_t entries, size_t stride, double *room);
/* Adds the adjoints of `count` points to those of the matrix, from point `first` on. */
void wgi_adjoint_add(wg_block_arg *a, size_t entries, size_t first, size_t count, wg_results w);

#endif
