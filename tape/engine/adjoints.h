/* SPDX-License-Identifier: MIT */
/* adjoints.h - the memory of adjoints, and the marks in it. Internal: a part of tape.h.
 *
 * A sweep shall cost what its root depends on, and so shall clearing. So the adjoints of a long
 * recording are 0 in memory everywhere but where they may have been set since, and that is
 * known from a bit for every 8 slots: the marks. The next sweep clears what is marked, and no
 * more; whoever reads adjoints finds a 0 where none has arrived. A word of marks stands for a
 * page of slots: 1 to 512 have the second word, 513 to 1024 the third. Slot 0 has the first one
 * alone, so that what flows to constants reaches nothing else.
 *
 *   extent     [marks][adjoints: lanes doubles for slot 0, 1, ...]
 *   adjoints   [anything ... dirty)[0 but where marked ... known)[anything ... */
#ifndef WGI_TAPE_ENGINE_ADJOINTS_H
#define WGI_TAPE_ENGINE_ADJOINTS_H

#include <wengert/types.h>

enum { WGI_MARK_SLOTS = 8, WGI_PAGE_SLOTS = 512 };

typedef struct wgi_marks {
    size_t room;         /* bytes of marks before the adjoints; 0: there are none yet */
    size_t words;        /* how many of the words may be other than 0 */
    size_t lanes;        /* adjoints per slot when they were set */
    size_t dirty, known; /* bytes of the adjoints, as drawn above */
    const char *base;    /* where the extent was and how much of it was usable when */
    size_t committed;    /* that was found */
    /* are there any? A short recording is swept and cleared as a whole */
    int in_use;
    /* so many records are swept with marks at most, before the plain loop takes over */
    uint64_t left;
    /* runs of records that this loop has come to since the last clearing, and has left out */
    uint64_t runs, left_out;
    int dense; /* the last time it did, it found hardly anything to leave out */
} wgi_marks;

#endif
