/* SPDX-License-Identifier: MIT */
/* windows.h - windows, through which threads look at adjoints while they sweep the runs of a
 * stretch side by side. Internal. */
#ifndef WGI_TAPE_ENGINE_WINDOWS_H
#define WGI_TAPE_ENGINE_WINDOWS_H

#include "tape.h"

#include <stdatomic.h>

/* Of each group of slots: how far from its place among the adjoints its rows are, in bytes. 0
 * mostly: there they are. */
typedef uintptr_t wgi_window;

typedef struct wgi_windows {
    wgi_home home;
    wgi_core *c; /* whose memory the rest is */
    size_t count, runs;
    int at_work;
    wgi_window *window;   /* `groups` entries of each, which are 0 between sweeps */
    size_t groups;        /* there is room for so many of each */
    double *rows;         /* of all that is shared */
    unsigned char *swept; /* by run: 1: it was swept; 0 also where it had no adjoints */
    atomic_flag busy[];   /* of each window */
} wgi_windows;

/* Windows for so many threads, and marks for so many runs. */
wg_status wgi_windows_need(wgi_core *c, size_t count, size_t runs);
/* Windows on so many groups, and rows for those that are shared. */
wg_status wgi_windows_need_room(wgi_windows *all, size_t groups, size_t shared, size_t lanes);
/* Gives them up, unless they are being made; were there any? */
int wgi_windows_free(wgi_core *c);

#endif
