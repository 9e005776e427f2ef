/* SPDX-License-Identifier: MIT */
/* in_place.h - a function at the points of a row, by its native code, without copies. Internal.
 *
 * Code reads and writes where the numbers stand, at rows of points next to each other. What is
 * left behind the last eight points goes through columns, in which the last point is repeated.
 * The bits are those of wg_function_evaluate. */
#ifndef WENGERT_TAPE_FUNCTION_IN_PLACE_H
#define WENGERT_TAPE_FUNCTION_IN_PLACE_H

#include "tape/function/graph/pieces.h"

enum { WGI_IN_PLACE_LANES = 8 };

/* Where a row stands. */
typedef struct wgi_spot {
    double *const *base;
    ptrdiff_t skip;
    int still; /* it is not further on for points that are */
    int moves; /* is *base another place from run to run? */
} wgi_spot;

/* A row that moves, where its address stands. */
typedef struct wgi_moving {
    double **row;
    double *const *base;
    ptrdiff_t skip;
} wgi_moving;

typedef struct wgi_in_place {
    const wg_function *f; /* NULL: it has no code that runs so */
    size_t inputs, results;
    size_t shares; /* shared inputs; where there are none uniforms are the same in all runs */
    size_t sums;   /* summed outputs, also those that are numbers */
    uint32_t *shared, *summed; /* which they are */
    uint32_t *sum_result;      /* the first result of each summed output */
    double *uniform, *sum;
    void *once;       /* workspace of what is done once */
    double *column;   /* eight points of every input and result */
    double *unwanted; /* a row for results that nobody wants */
    double **from;    /* read only */
    double **to;
    double **tail_from; /* the same, of what is left */
    double **tail_to;
    wgi_spot *read, *written; /* of every input and result, for wgi_in_place_walk */
    int aimed; /* how often, up to 2, from and to were set to these, so much further */
    ptrdiff_t further;
    size_t moves;
    wgi_moving *moving; /* of the inputs and results */
} wgi_in_place;

/* Cuts what it needs for at most so many points; base NULL: only counts. f may be NULL. */
void wgi_in_place_take(wgi_in_place *s, const wg_function *f, size_t points, wgi_pieces *p);
/* f at all points. 0: it is to be done by wg_function_evaluate instead; results may hold
 * anything. */
int wgi_in_place_run(wgi_in_place *s, size_t points, const wg_points *x, const wg_results *y);

/* ---- the same, where it is known beforehand where everything stands ---- */

/* Input k of the code: which argument, and which of its entries. */
void wgi_in_place_input(const wgi_in_place *s, size_t k, size_t *argument, size_t *entry);
/* The result of the code that an entry of an output is; from s->results on it is a uniform.
 * wgi_in_place_zero: is it always 0? */
size_t wgi_in_place_result(const wgi_in_place *s, size_t argument, size_t entry);
int wgi_in_place_zero(const wgi_in_place *s, size_t result);
/* Of x only inputs that are shared are looked at. further: of rows that are not still. beyond:
 * lanes after the last point may be read and written. Sums are asked for afterwards. */
int wgi_in_place_walk(wgi_in_place *s, size_t points, ptrdiff_t further, int beyond,
                      const wg_points *x);
/* Entry e of the nth summed output; all of them. */
double wgi_in_place_sum(const wgi_in_place *s, size_t n, size_t e);
void wgi_in_place_sums(const wgi_in_place *s, const wg_results *y);
/* Can so many points be done by it at a time? */
int wgi_in_place_walks(const wgi_in_place *s, size_t points);

#endif
