/* SPDX-License-Identifier: MIT */
/* index_sets.h - sets of inputs: what a slot depends on. Internal.
 *
 * A set is a number: 0 is the empty set, k + 1 is input k alone. Larger numbers say where the
 * set stands in a pool of words:
 *     few    up to WGI_FEW members, in order; if an equal one was made lately, that is used
 *     union  of other sets; its members are written out when somebody asks for them
 *     long   members in any order
 * A set never changes, though a union may become a long set. So a slot takes a word, a chain of
 * sums takes a union for each link and not all that was summed so far, and a loop over the same
 * inputs takes nothing more. */
#ifndef WGI_TAPE_SPARSITY_INDEX_SETS_H
#define WGI_TAPE_SPARSITY_INDEX_SETS_H

#include "tape/engine/tape.h"

enum { WGI_FEW = 48 };
/* Extents of the tape: the pool, lists of members, what walks put aside, links of rows. */
enum { WGI_INDEX_POOL, WGI_INDEX_LIST, WGI_INDEX_STACK, WGI_INDEX_LINKS };

typedef uint32_t wgi_set;

typedef struct wgi_sets {
    wgi_core *c;
    const char *call;
    uint32_t n;                  /* how many inputs there are */
    uint32_t visit;              /* the number of the last walk through unions */
    uint64_t pool, list, stack;  /* how many words of each are in use */
    uint32_t *mark, *inner_mark; /* for each input, the last walk that met it */
    wgi_set *recent;             /* a hash table of sets that were made lately */
} wgi_sets;

/* Takes workspace in the arena of the tape and in its index extents. Close it even after a
 * failure. */
wg_status wgi_sets_open(wgi_sets *k, wgi_core *c, const char *call, uint32_t n);
void wgi_sets_close(wgi_sets *k);

/* The union of sets. After a failure, which the tape keeps, it is 0. */
wgi_set wgi_sets_join(wgi_sets *k, size_t count, const wgi_set *set);
/* Appends the members of the union of sets to the list, each once; gives how many. The sets may
 * stand in the stack, below where it begins, with room for as many more behind them. */
size_t wgi_sets_write(wgi_sets *k, size_t count, const wgi_set *set);
/* The members of a set, until the next call; `one` is room for a set of one member. */
const uint32_t *wgi_sets_members(wgi_sets *k, wgi_set s, uint32_t *one, size_t *count);
/* Has the set at most WGI_FEW members, in order? */
int wgi_sets_is_few(const wgi_sets *k, wgi_set s);
/* Makes room in an extent for `more` words behind the first `used`; 0: the tape has failed. */
int wgi_sets_room(wgi_sets *k, int extent, uint64_t used, uint64_t more);

static inline uint32_t *wgi_sets_words(const wgi_sets *k, int extent) {
    return (uint32_t *)(void *)k->c->index[extent].base;
}

#endif
