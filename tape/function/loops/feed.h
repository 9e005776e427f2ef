/* SPDX-License-Identifier: MIT */
/* feed.h - where the inputs of a recorded function come from, and where their adjoints go: what
 * calls, maps and the stages of scans share. Internal. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_FEED_H
#define WGI_TAPE_FUNCTION_LOOPS_FEED_H

#include "tape/function/graph/arguments.h"
#include "tape/function/graph/pieces.h"

#include <wengert/map.h>

/* Where one input comes from. */
typedef struct wgi_feed {
    int kind;         /* WGI_FROM_... */
    int each_step;    /* in each step of a scan it has other numbers */
    uint32_t operand; /* which operand of the recorded operation it is, if it is a matrix */
    wg_points data;
    wg_fill *fill;
    void *user;
    /* what follows is used by scans only */
    uint32_t number; /* the number of the input among those of all stages */
    int bar;         /* its tangents or adjoints are meant, not its values */
    int is_field;    /* it stands in a field, on the grid; matrices and data of cells do, too */
    uint32_t field;
    ptrdiff_t shift; /* how far the neighbour that is read stands from the cell itself */
} wgi_feed;

/* ---- matrices as points ---- */

/* Do a matrix of that shape and an argument at `points` points fit? The matrix may have a
 * column per point, be a vector with an element per point, or, for one point, have the shape of
 * the argument. */
int wgi_points_fit(const wg_argument *a, size_t points, size_t rows, size_t cols);

/* The elements of a matrix, in the order of its columns, as points of `entries` entries each:
 * finds the strides with which entry e of point p stands at e * entry + p * point. 0: there are
 * none. */
int wgi_points_of(size_t rows, size_t cols, size_t ld, unsigned trans, size_t entries,
                  ptrdiff_t *point, ptrdiff_t *entry);
/* The values of a matrix, or with `bar` what stands in its bar, as points: where they stand or,
 * if they have no strides, copied to `copy` as a single point. */
wg_points wgi_points_in(const wg_block_arg *a, size_t entries, int bar, double *copy);
/* Copies the elements, in the order of columns, to a contiguous array; adds such an array to
 * them. */
void wgi_points_copy(const wg_block_arg *a, const double *from, size_t ld, double *to);
void wgi_points_add(const wg_block_arg *a, const double *from, double *to, size_t ld);
/* Adds `from` to `to`, at so many points of so many entries. */
void wgi_points_accumulate(size_t points, size_t entries, wg_points from, wg_results to);

/* ---- adjoints of inputs ---- */

/* The bar of a matrix as points; data NULL: it has no strides. */
wg_results wgi_adjoint_bar(const wg_block_arg *a, size_t entries);
/* Where to compute the adjoint of an input with a value per point, in `room`: laid out as the
 * points of the matrix are, with entries `stride` apart if its points stand next to each other.
 */
wg_results wgi_adjoint_room(const wg_block_arg *a, size_t entries, size_t stride, double *room);
/* Adds adjoints w of `count` points to those of the matrix, beginning with its point `first`.
 */
void wgi_adjoint_add(wg_block_arg *a, size_t entries, size_t first, size_t count, wg_results w);

#endif
