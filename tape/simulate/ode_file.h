/* SPDX-License-Identifier: MIT */
/* ode_file.h - how far a solution and its adjoint have come, in a file from which a run that
 * was killed goes on. Internal.
 *
 * Behind the head (tape/drivers/run_file.h) stand two places of the same size, each with room
 * for all there can be. What is written is complete in itself:
 *
 *     words        wgi_ode_word of them
 *     a position   that of a solution under way
 *     states       there, and in the columns of results that were reached
 *     checkpoints  positions and states
 *     adjoints     on the way back: of the states and the parameters
 *     check        a hash of all this
 *
 * Of the two the one with the larger sequence holds, if it is whole, and the other one is
 * written next. */
#ifndef WGI_TAPE_SIMULATE_ODE_FILE_H
#define WGI_TAPE_SIMULATE_ODE_FILE_H

#include "ode.h"

#include "tape/drivers/run_file.h"

/* What the file says: nothing; a solution is under way; it is there; its adjoint is under
 * way. */
typedef enum { WGI_ODE_BLANK, WGI_ODE_FORWARD, WGI_ODE_SOLVED, WGI_ODE_BACK } wgi_ode_stage;

typedef struct wgi_ode_file {
    wgi_run_file file;
    wgi_ode_run *r;
    wgi_ode_checkpoints *c;
    size_t half; /* bytes of a place */
    uint64_t sequence;
    wgi_ode_stage stage;
    uint64_t seeds;     /* a hash of the adjoints of the results that the way back began with */
    double saved, took; /* in seconds: when, and how long */
} wgi_ode_file;

/* Where a sweep is: steps and checkpoint it goes on from, and the adjoint. */
typedef struct wgi_ode_back_at {
    size_t left, top;
    wgi_ode_adjoint *a;
} wgi_ode_back_at;

/* Opens the file of the call, whose operands have been loaded, and finds out what is in it. */
wg_status wgi_ode_file_open(wgi_ode_file *f, wgi_ode_run *r, wgi_ode_checkpoints *c);
/* Reads it: the position and r->y, results, checkpoints, the report of the call; with `back`,
 * in its stage, how far the sweep has come. */
wg_status wgi_ode_file_read(wgi_ode_file *f, wgi_ode_position *at, wgi_ode_back_at *back);
/* Writes the same. back NULL: a solution, under way or there. */
wg_status wgi_ode_file_write(wgi_ode_file *f, const wgi_ode_position *at,
                             const wgi_ode_back_at *back);
/* Is it time to? */
int wgi_ode_file_due(const wgi_ode_file *f);
void wgi_ode_file_close(wgi_ode_file *f);
/* The call needs no file any more: removes it. */
void wgi_ode_file_drop(wgi_ode_call *call);

#endif
