/* SPDX-License-Identifier: MIT */
/* A caller's buffer: ranges of it are handed out and taken back. What is free is a list of
 * holes in the order of their addresses, kept in the holes themselves; neighbours are one hole.
 * Sizes and addresses are multiples of 64. */
#include "tape.h"

enum { UNIT = 64 };

struct wgi_hole {
    size_t bytes;
    struct wgi_hole *next;
};

void wgi_buffer_open(wgi_core *c, void *buffer, size_t bytes) {
    const size_t skip = (size_t)(-(uintptr_t)buffer % UNIT);
    c->buffer = (char *)buffer + skip;
    c->buffer_bytes = bytes > skip ? (bytes - skip) / UNIT * UNIT : 0;
    c->holes = NULL;
    if (c->buffer_bytes != 0) wgi_buffer_give(c, c->buffer, c->buffer_bytes);
}

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }
static size_t units(size_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

/* Takes the first `bytes` of the hole that `link` points to. */
static void *take_low(struct wgi_hole **link, size_t bytes) {
    struct wgi_hole *const hole = *link;
    if (bytes == hole->bytes) {
        *link = hole->next;
    } else {
        struct wgi_hole *const rest = (struct wgi_hole *)(void *)((char *)hole + bytes);
        *rest = (struct wgi_hole){hole->bytes - bytes, hole->next};
        *link = rest;
    }
    return hole;
}

/* Takes the last `bytes` of the hole that `link` points to. */
static void *take_high(struct wgi_hole **link, size_t bytes) {
    struct wgi_hole *const hole = *link;
    if (bytes == hole->bytes) return take_low(link, bytes);
    hole->bytes -= bytes;
    return (char *)hole + hole->bytes;
}

int wgi_buffer_is_crowded(const wgi_core *c) {
    size_t largest = 0;
    for (const struct wgi_hole *hole = c->holes; hole != NULL; hole = hole->next)
        if (hole->bytes > largest) largest = hole->bytes;
    return largest < c->buffer_bytes / 8 * 7;
}

void *wgi_buffer_take(wgi_core *c, int high, size_t least, size_t wanted, size_t *got) {
    struct wgi_hole **best = NULL;
    int fits = 0;
    for (struct wgi_hole **link = &c->holes; *link != NULL; link = &(*link)->next) {
        if (fits && !high) break;
        if ((*link)->bytes >= wanted) fits = 1;
        else if (fits || (best != NULL && (*link)->bytes <= (*best)->bytes)) continue;
        best = link;
    }
    if (best == NULL || (*best)->bytes < least) return NULL;
    *got = least_of(units(wanted), (*best)->bytes);
    return high ? take_high(best, *got) : take_low(best, *got);
}

size_t wgi_buffer_extend(wgi_core *c, const char *end, size_t least, size_t wanted) {
    for (struct wgi_hole **link = &c->holes; *link != NULL; link = &(*link)->next)
        if ((const char *)*link == end && (*link)->bytes >= least) {
            const size_t got = least_of(units(wanted), (*link)->bytes);
            (void)take_low(link, got);
            return got;
        }
    return 0;
}

void wgi_buffer_give(wgi_core *c, void *p, size_t bytes) {
    struct wgi_hole *const hole = p, *before = NULL, *after = c->holes;
    while (after != NULL && after < hole) before = after, after = after->next;
    *hole = (struct wgi_hole){bytes, after};
    if (before == NULL) c->holes = hole;
    else before->next = hole;
    if ((char *)hole + hole->bytes == (char *)after)
        *hole = (struct wgi_hole){hole->bytes + after->bytes, after->next};
    if (before != NULL && (char *)before + before->bytes == (char *)hole)
        *before = (struct wgi_hole){before->bytes + hole->bytes, hole->next};
}
