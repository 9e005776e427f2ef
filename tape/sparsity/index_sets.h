/* SPDX-License-Identifier: MIT */
/* index_sets.h - sets of inputs: what a slot depends on. Internal.
 *
 * A set is a number: 0 is empty, k + 1 is input k alone. Beyond stand, in a pool of words,
 *     few    up to WGI_FEW members in order; one that was made lately is found again
 *     union  of other sets; its members are written out when somebody asks for them
 *     long   members in any order
 * A set is never changed, a union may become long. So a slot costs a word, a chain of sums
 * costs a union per link and not all that it has summed so far, and a loop over the same inputs
 * costs nothing new. */
#ifndef WGI_TAPE_SPARSITY_INDEX_SETS_H
#define WGI_TAPE_SPARSITY_INDEX_SETS_H

#include "tape/engine/tape.h"

enum { WGI_FEW = 48 };
/* The regions of the tape: the pool, lists of members, what walks put aside, links of rows. */
enum { WGI_INDEX_POOL, WGI_INDEX_LIST, WGI_INDEX_STACK, WGI_INDEX_LINKS };

typedef uint32_t wgi_set;

typedef struct wgi_sets {
    wgi_core *c;
    const char *call;
    uint32_t n;                  /* inputs */
    uint32_t visit;              /* walks through unions so far */
    uint64_t pool, list, stack;  /* words in use */
    uint32_t *mark, *inner_mark; /* of every input: the walk that took it last */
    wgi_set *recent;             /* sets by their hash */
} wgi_sets;

/* Workspace in the arena of the tape and its index regions; after a failure, too: close. */
wg_status wgi_sets_open(wgi_sets *k, wgi_core *c, const char *call, uint32_t n);
void wgi_sets_close(wgi_sets *k);

/* The union. A failure is kept by the tape; then 0. */
wgi_set wgi_sets_join(wgi_sets *k, size_t count, const wgi_set *set);
/* Appends the members of the union of sets, each once, to the list; gives how many. The sets may
 * stand in the stack, below where it begins and with room for as many more. */
size_t wgi_sets_write(wgi_sets *k, size_t count, const wgi_set *set);
/* The members of one set, until the next call; `one` is room for a single one. */
const uint32_t *wgi_sets_members(wgi_sets *k, wgi_set s, uint32_t *one, size_t *count);
/* Has it at most WGI_FEW members, which stand there in order? */
int wgi_sets_is_few(const wgi_sets *k, wgi_set s);
/* Room in a region for so many words more than `used`; 0: the tape has failed. */
int wgi_sets_room(wgi_sets *k, int region, uint64_t used, uint64_t more);

static inline uint32_t *wgi_sets_words(const wgi_sets *k, int region) {
    return (uint32_t *)(void *)k->c->index[region].base;
}

#endif
