/* SPDX-License-Identifier: MIT */
/* counted.h - the memory of a tape, counted, checked, and refused on demand.
 *
 *     struct counted m = counted_start();
 *     wg_options opt = {.memory = counted_memory(&m)};
 *
 * A range is inaccessible until it is committed: a library that touches more than it asked for
 * dies. Releasing anything but a whole range is counted in `wrong`. Ranges that were released
 * are given away again with what was in them: to ask the system for thousands of them, and for
 * their pages, takes longer than the tests. One in seven, and with DEPTH=2 each, is inaccessible
 * in between, and until it is committed again: to ask for that takes as long. For one thread at a
 * time. */
#ifndef WENGERT_TEST_COUNTED_H
#define WENGERT_TEST_COUNTED_H

#include <stddef.h>
#include <wengert/types.h>

enum { COUNTED_RANGES = 256 };

struct counted_range {
    char *base;
    size_t bytes, committed;
    size_t used; /* from its beginning, by whoever had it before */
    size_t open; /* that is accessible, from its beginning */
};

struct counted {
    size_t asked;     /* reserve and commit: the calls that may be refused */
    size_t calls;     /* those and release */
    size_t fail_at;   /* this one of the asked, from 0, is refused ... */
    int fail_on;      /* ... and all that follow */
    size_t largest;   /* longer ranges are refused */
    size_t refused;   /* calls refused so far, those for their length aside */
    size_t wrong;     /* arguments that no correct library passes */
    size_t ranges;    /* living */
    size_t committed; /* bytes, of living ranges */
    size_t most;      /* that ever were at a time */
    struct counted_range range[COUNTED_RANGES];
};

struct counted counted_start(void); /* refuses nothing */
wg_memory counted_memory(struct counted *m);
/* All committed memory but that of the first range (the tape itself) becomes inaccessible, or
 * accessible again. */
void counted_seal(struct counted *m, int sealed);

#endif
