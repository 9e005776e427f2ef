/* SPDX-License-Identifier: MIT */
/* process.h - a command run, as a compiler is. Internal. */
#ifndef WGI_TAPE_FUNCTION_MAKE_PROCESS_H
#define WGI_TAPE_FUNCTION_MAKE_PROCESS_H

#include "tape/engine/tape.h"

/* A hash of bytes. */
typedef struct wgi_hash {
    uint64_t a, b;
} wgi_hash;
/* A wg_write that adds to the wgi_hash that is its context. */
int wgi_hash_bytes(void *hash, const char *text, size_t bytes);

enum { WGI_PROCESS_ARGUMENTS = 64 }; /* the most, with a NULL behind them */

/* Runs a command that has no input; argument: its words, then NULL. The beginning of what it writes goes
 * to `said`, of so much room, a hash of all of it to `all` if that is not NULL. Who is told of the
 * progress of c is told while it runs, and may stop it, with all that it has started (WG_ESTOPPED).
 * Gives its exit status; -1: it could not be run, or was stopped. */
int wgi_process_run(wgi_core *c, const char *const *argument, char *said, size_t room,
                    wgi_hash *all);

#endif
