/* SPDX-License-Identifier: MIT */
/* strip.h - a function at the points of a row, by its native code, without copies. Internal.
 *
 * Code reads and writes where the numbers stand, at rows of points next to each other. What is
 * left behind the last eight points goes through columns, in which the last point is repeated.
 * The bits are those of wg_function_evaluate. */
#ifndef WENGERT_TAPE_FUNCTION_STRIP_H
#define WENGERT_TAPE_FUNCTION_STRIP_H

#include "callable.h"

enum { WGI_STRIP_LANES = 8 };

/* Where a row stands: *base may be another place at each run, skip stays. */
typedef struct wgi_spot {
    double *const *base;
    ptrdiff_t skip;
    int still; /* it is not further on for points that are */
} wgi_spot;

typedef struct wgi_strip {
    const wg_function *f; /* NULL: it has no code that runs so */
    size_t inputs, results;
    int shares; /* are there shared inputs? Otherwise uniforms are the same in all runs */
    int sums; /* are there summed outputs? Also those that are numbers */
    double *uniform, *sum;
    void *once;       /* workspace of what is done once */
    double *column;   /* eight points of every input and result */
    double *unwanted; /* a row for results that nobody wants */
    const double **from;
    double **to;
    const double **tail_from; /* the same, of what is left */
    double **tail_to;
    wgi_spot *read, *written; /* of every input and result, for wgi_strip_walk */
} wgi_strip;

/* Cuts what it needs for at most so many points; base NULL: only counts. */
void wgi_strip_take(wgi_strip *s, const wg_function *f, size_t points, wgi_pieces *p);
/* f at all points. 0: it is to be done by wg_function_evaluate instead; results may hold
 * anything. */
int wgi_strip_run(const wgi_strip *s, size_t points, const wg_points *x, const wg_results *y);

/* ---- the same, where it is known beforehand where everything stands ---- */

/* Input k of the code: which argument, and which of its entries. */
void wgi_strip_input(const wgi_strip *s, size_t k, size_t *argument, size_t *entry);
/* The result of the code that an entry of an output is; from s->results on it is a uniform.
 * wgi_strip_zero: is it always 0? */
size_t wgi_strip_result(const wgi_strip *s, size_t argument, size_t entry);
int wgi_strip_zero(const wgi_strip *s, size_t result);
/* Of x only inputs that are shared, of y only sums are looked at. further: of rows that are not
 * still. beyond: lanes after the last point may be read and written. */
int wgi_strip_walk(const wgi_strip *s, size_t points, ptrdiff_t further, int beyond,
                   const wg_points *x, const wg_results *y);
/* Can so many points be done by it at a time? */
int wgi_strip_walks(const wgi_strip *s, size_t points);

#endif
