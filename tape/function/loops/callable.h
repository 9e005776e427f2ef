/* SPDX-License-Identifier: MIT */
/* callable.h - functions in a recording: what call, map and scan share. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_CALLABLE_H
#define WENGERT_TAPE_FUNCTION_CALLABLE_H

#include "tape/function/graph/arguments.h"
#include "tape/function/graph/pieces.h"

#include <wengert/map.h>

struct wg_callable {
    wg_memory memory;
    size_t bytes;
    wg_function *f, *vjp, *jvp;
    int parts;                        /* sums over parts of the points add up, in all three */
    size_t inputs_most, outputs_most; /* of the three */
    unsigned char *reads;             /* does the vjp look at the values of input i? */
    struct wgi_stencil *stencil;      /* stencil.h, or NULL */
    wg_function *keeping, *kept;      /* f and vjp as in kept.h, compiled, or NULL */
};

/* The workspace that any of the three needs. */
size_t wgi_callable_work(const wg_callable *k, const wg_threads *threads);

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

/* ---- failures ---- */

enum { WGI_WHY = 256 };
/* Sets b->why to the text made of a format, kept in `room` of WGI_WHY bytes. */
void wgi_why(wg_block *b, char *room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Results of a call that failed before it could say their shapes. */
void wgi_results_fail(size_t count, wg_mat *y);

/* Sets *out to 0 unless results over some of the points and over the others add up to those
 * over all. 0: a failure, kept by t, whose arena is used. */
int wgi_results_add_up(wg_tape *t, const wg_function *f, int *out);

#endif
