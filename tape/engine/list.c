/* SPDX-License-Identifier: MIT */
/* Lists that grow: of which nobody knows how long they become. A short one is copied to a place
 * twice as large, and the old one is lost until the next reset; what a long one would lose by
 * that, and the time, is saved by an extent of its own. When all extents are in use it goes on
 * as a short one. */
#include "arena.h"

#include <string.h>

enum { SHORT = 1 << 20 };

/* The extent not in use that has most memory already; 0: all are in use. */
static int free_extent(const wgi_core *c) {
    int best = 0;
    for (int k = 0; k < WGI_LISTS; k++)
        if ((c->lists_busy >> k & 1) == 0 &&
            (best == 0 || c->list[k].committed > c->list[best - 1].committed))
            best = k + 1;
    return best;
}

static void *in_extent(wgi_core *c, wgi_list_room *r, void *list, size_t used, size_t bytes) {
    const int first = r->extent == 0, number = first ? free_extent(c) : r->extent;
    wgi_extent *const to = &c->list[number - 1];
    const wg_status s = wgi_extent_need(c, to, bytes, first ? 0 : used);
    if (s != WG_OK) {
        (void)wgi_fail(c, s, "no room for a list of %zu bytes", bytes);
        return NULL;
    }
    if (first && used != 0) memcpy(to->base, list, used);
    c->lists_busy |= 1u << (number - 1);
    *r = (wgi_list_room){to->committed, number};
    return to->base;
}

void *wgi_list_made(wgi_core *c, wgi_list_room *r, void *list, size_t used, size_t bytes) {
    if (c->status != WG_OK) return NULL;
    if (r->extent != 0 || (bytes > SHORT && free_extent(c) != 0))
        return in_extent(c, r, list, used, bytes);
    const size_t more = bytes > 2 * r->bytes ? bytes : 2 * r->bytes;
    void *const p = wg_tape_keep(&c->head, more, NULL);
    if (p == NULL) return NULL;
    if (used != 0) memcpy(p, list, used);
    r->bytes = more;
    return p;
}

void wgi_list_give(wgi_core *c, wgi_list_room *r) {
    if (r->extent != 0) c->lists_busy &= ~(1u << (r->extent - 1));
    *r = (wgi_list_room){0, 0};
}

void *wgi_list_of(wgi_core *c, wgi_list_room *r, size_t bytes) {
    void *const list = wgi_list_made(c, r, NULL, 0, bytes);
    if (list == NULL || r->extent == 0) return list;
    wgi_extent *const at = &c->list[r->extent - 1];
    (void)wgi_extent_trim(c, at, bytes);
    r->bytes = at->committed;
    return list;
}
