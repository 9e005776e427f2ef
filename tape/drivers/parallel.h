/* SPDX-License-Identifier: MIT */
/* parallel.h - segments of a parallel loop, and how they become a part of a recording.
 * Internal. */
#ifndef WGI_TAPE_DRIVERS_PARALLEL_H
#define WGI_TAPE_DRIVERS_PARALLEL_H

#include "tape/engine/tape.h"

#include <wengert/parallel.h>

typedef struct wgi_segment {
    wgi_core *c;
    uint32_t first, count;           /* its slots in the loop: [first, first + count) */
    uint32_t to;                     /* where these are on the tape, after the join */
    uint64_t records, words, places; /* before its own, in the loop */
    uint64_t seen;                   /* so many of its records have been looked at */
    /* of each group of slots from before: does it use some? NULL: not yet */
    unsigned char *used;
    unsigned char *zeros; /* between loops: that, and how many of them are known to be 0 */
    size_t known;
    size_t groups;     /* so many are used, which are listed in an extent of c */
    uint32_t expected; /* where its slots are on the tape, if all is as it was the last time */
    uint32_t strange;  /* an operand that is neither its own nor from before; or 0 */
    wg_status status;
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
    size_t past;     /* how many loops are known, on the tape at present or the last time */
    uint32_t *users; /* of each group: 0 between joins, as far as that is known */
    size_t known;
    uint64_t expected; /* records that segments have places for among those of the tape */
    size_t segments;
    wgi_segment segment[];
};

/* Chunk k of a segment's records. */
static inline const wgi_record *wgi_segment_chunk(const wgi_core *c, int k,
                                                  const wgi_record **top) {
    *top = k == c->current ? c->head.top : c->chunk[k].top;
    return c->chunk[k].base;
}

/* A loop begins: nothing is known of what its segments use. */
void wgi_parallel_open(wg_parallel *p);
/* Gives its segments places among the records of the tape, if there was a loop at this position
 * of the tape before. */
void wgi_parallel_lay_out(wg_parallel *p);
/* Looks at what a segment has recorded since the last time. */
void wgi_parallel_look(const wg_parallel *p, wgi_segment *segment);
/* Nothing is known any more of what a segment uses. */
void wgi_parallel_forget(wgi_segment *segment);
/* A stretch of its segments, more than one, among the payloads of the tape, with what they share
 * of slots from before. */
wg_status wgi_parallel_share(wg_parallel *p, wgi_stretch **stretch);
/* Everything from segments to records; fails the tape. */
wg_status wgi_parallel_join(wg_parallel *p);

#endif
