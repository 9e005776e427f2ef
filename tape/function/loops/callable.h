/* SPDX-License-Identifier: MIT */
/* callable.h - functions in a recording: what calls, maps and scans share. Internal. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_CALLABLE_H
#define WGI_TAPE_FUNCTION_LOOPS_CALLABLE_H

#include "tape/function/graph/arguments.h"
#include "feed.h"

struct wg_callable {
    wgi_home home;
    wg_function *f, *vjp, *jvp;
    /* results for some of the points and for the others add up to those for all, in all three
     */
    int parts;
    /* the largest numbers of inputs and outputs of the three */
    size_t inputs_most, outputs_most;
    wgi_feed *feed;              /* of wg_call, where input i is operand i */
    unsigned char *reads;        /* does the vjp need the values of input i? */
    struct wgi_stencil *stencil; /* its adjoint as a stencil, or NULL */
    /* f and vjp cut at their residuals (make/residuals.h), both compiled; or both NULL */
    wg_function *forward, *backward;
};

/* The most workspace that any of its functions needs. */
size_t wgi_callable_work(const wg_callable *k, const wg_threads *threads);

/* ---- failures ---- */

enum { WGI_WHY = 256 };
/* Sets b->why to a formatted text, which stands in `room` of WGI_WHY bytes. */
void wgi_why(wg_block *b, char *room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes failed matrices of the results of a call that failed before their shapes were known. */
void wgi_results_fail(size_t count, wg_mat *y);

/* Sets *out to 0 if results for some of the points and for the others do not add up to those
 * for all. Gives 0 after a failure, which t keeps; its arena is used. */
int wgi_results_add_up(wg_tape *t, const wg_function *f, int *out);

#endif
