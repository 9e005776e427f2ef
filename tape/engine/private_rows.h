/* SPDX-License-Identifier: MIT */
/* private_rows.h - rows of adjoints that a run of a stretch has for itself, while others that
 * use the same slots are swept beside it. Internal. */
#ifndef WGI_TAPE_ENGINE_PRIVATE_ROWS_H
#define WGI_TAPE_ENGINE_PRIVATE_ROWS_H

#include "tape.h"

#include <stdatomic.h>

/* Of each group of slots: how far from its place among the adjoints its rows are, in bytes. 0
 * mostly: there they are. */
typedef uintptr_t wgi_offset;

typedef struct wgi_private_rows {
    wgi_home home;
    wgi_core *c; /* whose memory the rest is */
    size_t count, runs;
    int at_work;
    wgi_offset *offset;   /* `groups` entries of each, which are 0 between sweeps */
    size_t groups;        /* there is room for so many of each */
    double *rows;         /* of all that is shared */
    unsigned char *swept; /* by run: 1: it was swept; 0 also where it had no adjoints */
    atomic_flag busy[];   /* of each set of offsets */
} wgi_private_rows;

/* Sets of offsets for so many threads, and marks for so many runs. */
wg_status wgi_private_rows_need(wgi_core *c, size_t count, size_t runs);
/* Offsets of so many groups, and rows for those that are shared. */
wg_status wgi_private_rows_need_room(wgi_private_rows *all, size_t groups, size_t shared,
                                     size_t lanes);
/* Gives them up, unless they are being made; were there any? */
int wgi_private_rows_free(wgi_core *c);

#endif
