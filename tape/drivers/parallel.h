/* SPDX-License-Identifier: MIT */
/* parallel.h - segments of a parallel loop, and how they become a part of a recording.
 * Internal. */
#ifndef WGI_TAPE_DRIVERS_PARALLEL_H
#define WGI_TAPE_DRIVERS_PARALLEL_H

#include "tape/engine/tape.h"

#include <wengert/parallel.h>

/* Which slots from before the loop are used: page after page of them, in the order in which
 * they were first asked for, and found by their numbers, slot / WGI_PAGE_SLOTS. They stand
 * in regions of a tape. */
typedef struct wgi_slot_page {
    uint32_t number;
    uint32_t at; /* in an index: which page; there: which of the maps is its. 0: none */
} wgi_slot_page;

typedef struct wgi_slot_pages {
    wgi_core *of;
    wgi_slot_page *page;                   /* from number 1 on */
    unsigned char (*used)[WGI_PAGE_SLOTS]; /* of each page: 1 or 0 for each of its slots */
    wgi_slot_page *index; /* each where its number leads, among others with at 0 */
    uint32_t count, mask;
} wgi_slot_pages;

typedef struct wgi_segment {
    wgi_core *c;
    uint32_t first, count; /* its slots in the loop: [first, first + count) */
    uint32_t to;           /* where these are on the tape, after the join */
    uint32_t copies,
        copy; /* how many variables from before it has copies of; the slot of the first one */
    uint32_t (*map)[WGI_PAGE_SLOTS]; /* of each slot of a page: where it is, or its copy is */
    uint64_t records, words, places; /* before its own, in the loop */
    uint64_t scanned;                /* so many records have been looked at */
    wg_status status;                /* what came of it: a failure, or */
    uint32_t strange; /* an operand that is neither its own nor from before; or 0 */
    wgi_slot_pages pages;
} wgi_segment;

struct wg_parallel {
    wgi_home home;
    wg_threads *threads;
    wgi_link of; /* the tape of the loop, or of the last one */
    enum { WGI_LOOP_FAILED, WGI_LOOP_OPEN, WGI_LOOP_JOINED } state;
    uint64_t stamps; /* of that tape when the loop began, or was joined */
    uint32_t before; /* its slots before the loop are below */
    uint32_t stride; /* from the first slot of a segment to that of the next */
    wg_real *part;   /* room for one of each segment */
    size_t segments;
    wgi_segment segment[];
};

/* A loop begins: nothing is known of what its segments use. */
void wgi_parallel_open(wg_parallel *p);
/* The first pass over what a segment has recorded since the last time. */
wg_status wgi_parallel_scan(const wg_parallel *p, wgi_segment *segment);
/* Everything from segments to records; fails the tape. */
wg_status wgi_parallel_join(wg_parallel *p);

#endif
