/* SPDX-License-Identifier: MIT */
/* parallel.h - segments of a parallel loop, and how they become a part of a recording.
 * Internal. */
#ifndef WGI_TAPE_DRIVERS_PARALLEL_H
#define WGI_TAPE_DRIVERS_PARALLEL_H

#include "tape/engine/tape.h"

#include <wengert/parallel.h>

typedef struct wgi_segment {
    wgi_core *c;
    uint32_t first, count; /* its slots in the loop: [first, first + count) */
    uint32_t to;           /* where these are on the tape, after the join */
    uint64_t records, words, places; /* before its own, in the loop */
    uint32_t strange; /* an operand that is neither its own nor from before; or 0 */
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

/* Everything from segments to records; fails the tape. */
wg_status wgi_parallel_join(wg_parallel *p);

#endif
