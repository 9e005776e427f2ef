/* SPDX-License-Identifier: MIT */
/* loop_store.h - where wg_loop_gradient keeps states between stretches of a loop, in memory or
 * in a file, and in the file how far it has come. Internal.
 *
 * The file, of words of 8 bytes and doubles as this machine has them:
 *
 *     head     4096 bytes: "wg loop\n", version, key of the run, sizes: n, np, states; check of
 *     these
 *     journal  two of: sequence, steps, left, value, n + np doubles, check; each in whole pages
 *     slots    `states` of: step, n doubles, check
 *
 * A check is a hash of what stands before it; what is half written has another. A slot with
 * step 0 is free, and the state before the first step is the caller's. The journal says that
 * the loop has ended, after so many steps, and how many are left to be gone back; of its two
 * halves the one with the larger sequence holds, and the other one is written next. */
#ifndef WGI_TAPE_DRIVERS_LOOP_STORE_H
#define WGI_TAPE_DRIVERS_LOOP_STORE_H

#include "run_file.h"

#include "tape/engine/tape.h"
#include "tape/function/graph/pieces.h"

/* What the journal holds. */
typedef struct wgi_loop_journal {
    uint64_t sequence; /* 0: nothing was written */
    uint64_t steps, left;
    double value;
    double *adjoint; /* n + np */
} wgi_loop_journal;

typedef struct wgi_loop_store {
    size_t n, np, states;
    wgi_run_file file; /* its path NULL: in memory */
    size_t *step;      /* of each state; 0: free */
    uint64_t stride;   /* steps that are not multiples of it are not kept */
    double *state;     /* the states, in memory */
    char *piece;       /* room for a journal or a slot, of the file */
} wgi_loop_store;

/* Cuts its memory; with base NULL it only counts. Path and key of the file are set before. */
void wgi_loop_store_lay_out(wgi_loop_store *s, wgi_pieces *p);
/* Makes the file with all its space, or reads what is in it: *journal, and which slots hold
 * states. After a failure: close. */
wg_status wgi_loop_store_open(wgi_loop_store *s, wgi_loop_journal *journal);
/* Ends the use of it; done: and removes the file. */
void wgi_loop_store_close(wgi_loop_store *s, int done);

/* Offers the state after so many steps, which it keeps or not. *stored: did it? */
wg_status wgi_loop_store_pass(wgi_loop_store *s, size_t step, const double *state, int *stored);
/* The last state that is kept from before step `end`: gives its step, 0 for that of the caller,
 * and reads it otherwise; what cannot be read any more is forgotten. */
wg_status wgi_loop_store_before(wgi_loop_store *s, size_t end, double *state, size_t *step);
/* Writes the journal; in memory nothing. */
wg_status wgi_loop_store_save(wgi_loop_store *s, wgi_loop_journal *journal);

#endif
