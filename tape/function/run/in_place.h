/* SPDX-License-Identifier: MIT */
/* in_place.h - a function at the points of a row, by its native code, without copies. Internal.
 *
 * The code reads and writes the caller's arrays, in which the points of a row stand next to
 * each other. Points that do not fill a vector at the end of a row go through columns of eight,
 * in which the last point is repeated. The stations are those of evaluate.c, as are the bits.
 */
#ifndef WGI_TAPE_FUNCTION_RUN_IN_PLACE_H
#define WGI_TAPE_FUNCTION_RUN_IN_PLACE_H

#include "tape/function/graph/pieces.h"

#include <wengert/function.h>

/* Where a row of numbers stands: at *base + skip, and further on for later points. */
typedef struct wgi_spot {
    double *const *base;
    ptrdiff_t skip;
    int still; /* the row does not move on with the points */
    int moves; /* *base is another address from run to run */
} wgi_spot;

/* A row whose *base is another address from run to run. */
typedef struct wgi_moving {
    double **row; /* where its address is to be put */
    double *const *base;
    ptrdiff_t skip;
} wgi_moving;

typedef struct wgi_in_place {
    const wg_function *f; /* NULL: it cannot run in place */
    size_t inputs, results;
    double *uniform, *sum;
    void *once;         /* workspace of what is done once */
    double *column;     /* eight points of every input and result */
    double *unwanted;   /* a row for results that nobody wants */
    double **from;      /* rows that the code reads; they are not written */
    double **to;        /* rows that it writes */
    double **tail_from; /* the same for what does not fill a vector: in `column` */
    double **tail_to;
    wgi_spot *read, *written; /* of every input and result, for wgi_in_place_walk */
    int aimed;                /* walks in a row that were `further` on: 0, 1, or 2 and more */
    ptrdiff_t further;        /* how far the rows in `from` and `to` are from the first point */
    size_t moves;             /* rows in `moving`, which is up to date once aimed is 2 */
    wgi_moving *moving;
} wgi_in_place;

/* Prepares: cuts what it needs for at most so many points; base NULL: only counts. f may be
 * NULL. */
void wgi_in_place_prepare(wgi_in_place *s, const wg_function *f, size_t points, wgi_pieces *p);
/* f at all points. 0: it has to be done by wg_function_evaluate instead, and results may hold
 * anything. */
int wgi_in_place_run(wgi_in_place *s, size_t points, const wg_points *x, const wg_results *y);

/* ---- the same, where it is known beforehand where everything stands ---- */

/* Input k of the code: which argument of f it is, and which of its entries. */
void wgi_in_place_input(const wgi_in_place *s, size_t k, size_t *argument, size_t *entry);
/* The result of the code that an entry of an output is; from s->results on it is a uniform.
 * wgi_in_place_zero: is it always 0? */
size_t wgi_in_place_result(const wgi_in_place *s, size_t argument, size_t entry);
int wgi_in_place_zero(const wgi_in_place *s, size_t result);
/* f at points whose rows stand at s->read and s->written, `further` on unless they are still.
 * Of x only shared inputs are read. beyond: lanes behind the last point may be read and
 * written. Sums are stored by wgi_in_place_store. 0 as above. */
int wgi_in_place_walk(wgi_in_place *s, size_t points, ptrdiff_t further, int beyond,
                      const wg_points *x);
/* All summed outputs. */
void wgi_in_place_store(const wgi_in_place *s, const wg_results *y);
/* Can it walk through so many points at a time? */
int wgi_in_place_walks(const wgi_in_place *s, size_t points);

#endif
