/* SPDX-License-Identifier: MIT */
/* arena.h - what arena.c has for life.c, beside what tape.h declares of it. Internal. */
#ifndef WGI_TAPE_ENGINE_ARENA_H
#define WGI_TAPE_ENGINE_ARENA_H

#include "tape.h"

enum { WGI_SMALLEST_RANGE = 1 << 20 };

static inline size_t wgi_round_up(size_t n, size_t unit) {
    return (n + unit - 1) / unit * unit;
}

/* Obtains an address range of at least `least` bytes, as near to `wanted` as the system allows.
 */
wg_status wgi_extent_open(wgi_core *c, wgi_extent *r, int chunk, size_t least, size_t wanted);
/* Makes `bytes` of its range usable, at least. */
wg_status wgi_extent_commit(wgi_core *c, wgi_extent *r, size_t bytes);

/* Gives back what lies behind the first `used` bytes of an extent; 0: there is nothing. A range
 * that the caller's memory callbacks gave can only be released as a whole. */
int wgi_extent_trim(wgi_core *c, wgi_extent *r, size_t used);

/* Gives back memory that holds nothing at present, except for that of `busy`, for which the
 * caller is asking; that of the tape beside. 0: there is none. */
int wgi_give_up_idle(wgi_core *c, const wgi_extent *busy);
int wgi_give_up_beside(wgi_core *c);
/* Of that the extents of the tape of which nothing was asked since the last reset, and the
 * unused ends of the others; of that the extents that no list stands in. */
int wgi_give_up_forgotten(wgi_core *c, const wgi_extent *busy);
int wgi_give_up_lists(wgi_core *c, const wgi_extent *busy);

/* A position among the payloads: which chunk, and how far into it, from that bit down; how many
 * bytes there are before it, in all chunks. Goes on at `top` in chunk k. */
enum { WGI_PAYLOAD_CHUNK = 58 };
uint64_t wgi_payload_position(const wgi_core *c);
uint64_t wgi_payload_used(const wgi_core *c);
void wgi_payload_at(wgi_core *c, int k, char *top);

#endif
