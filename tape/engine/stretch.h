/* SPDX-License-Identifier: MIT */
/* stretch.h - windows, through which threads look at adjoints while they sweep the runs of a
 * stretch side by side. Internal. */
#ifndef WGI_TAPE_ENGINE_STRETCH_H
#define WGI_TAPE_ENGINE_STRETCH_H

#include "tape.h"

#include <stdatomic.h>

enum { WGI_GROUP_SLOTS = 64 };

/* What a run has of a group of slots that others may have, too: rows of its own. */
typedef struct wgi_copy {
    uint32_t group, run;
    double *rows;
    struct wgi_copy *next; /* the copy that a run before has of it */
    int is_last;           /* no run behind has one */
} wgi_copy;

/* Of the run that a thread is at: where adjoints are. Its copies stay until all runs are
 * done. */
typedef struct wgi_window {
    wgi_core *c; /* whose memory it is */
    const wgi_core *of;
    const wgi_stretch *stretch;
    /* of each group: how far from its place among the adjoints its rows are, in bytes and one
     * more; 0: it is not known yet */
    uintptr_t *group;
    size_t groups; /* so many are there, the others are 0 */
    uint64_t first, end, top; /* the slots of the run; that from which on there are no rows */
    uint32_t run, strange;    /* strange: an operand of another run; or 0 */
    size_t copies;
    double *nowhere; /* rows for what cannot be copied */
    wg_status status;
    atomic_flag busy;
} wgi_window;

typedef struct wgi_windows wgi_windows;

/* How many runs of records were come to, and left out. */
typedef struct wgi_counts {
    uint64_t runs, left_out;
} wgi_counts;

/* Finds, or makes, the rows of the group of a slot; gives what wgi_window.group has of it. */
uintptr_t wgi_window_group(wgi_window *w, uint32_t slot) __attribute__((cold, noinline));

/* The row of a slot; w NULL: there is no window, and it is among the adjoints. */
static inline __attribute__((always_inline)) double *
wgi_row(wgi_window *w, const uintptr_t *group, double *adjoint, size_t lanes, uint32_t slot) {
    if (w == NULL) return adjoint + (size_t)slot * lanes;
    uintptr_t there = group[slot / WGI_GROUP_SLOTS];
    if (__builtin_expect(there == 0, 0)) there = wgi_window_group(w, slot);
    return (double *)((uintptr_t)adjoint + (size_t)slot * lanes * sizeof(double) + there - 1);
}

/* Sweeps a run of records backwards over `lanes` interleaved adjoints per slot: 2, 4, 8 or
 * more; through a window or, NULL, without. */
void wgi_sweep_lanes(const wgi_record *low, const wgi_record *high, double *adjoint,
                     size_t lanes, wgi_window *w);
/* Sweeps records [low, high), none of them a block's, through a window or, NULL, without. */
wg_status wgi_sweep_records(wgi_core *c, uint64_t high, uint64_t low, wgi_window *w,
                            wgi_counts *n);
/* Sweeps records [low, high) of a stretch, in its threads. Marks what has got an adjoint, if
 * that is asked for. */
wg_status wgi_sweep_stretch(wgi_core *c, const wgi_stretch *s, uint64_t high, uint64_t low,
                            int marks);
/* Gives up what such sweeps keep, unless one is at work; was there anything? */
int wgi_windows_free(wgi_core *c);

#endif
