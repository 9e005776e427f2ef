/* SPDX-License-Identifier: MIT */
/* callable.h - functions in a recording: what call, map and scan share. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_CALLABLE_H
#define WENGERT_TAPE_FUNCTION_CALLABLE_H

#include "tape/function/graph/arguments.h"
#include "feed.h"

struct wg_callable {
    wg_memory memory;
    size_t bytes;
    wg_function *f, *vjp, *jvp;
    int parts;                        /* sums over parts of the points add up, in all three */
    size_t inputs_most, outputs_most; /* of the three */
    wgi_feed *feed;                   /* of a call: input i is operand i */
    unsigned char *reads;             /* does the vjp look at the values of input i? */
    struct wgi_stencil *stencil;      /* stencil.h, or NULL */
    wg_function *forward, *backward;  /* f and vjp as in residuals.h, compiled, or NULL */
};

/* The workspace that any of the three needs. */
size_t wgi_callable_work(const wg_callable *k, const wg_threads *threads);

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
