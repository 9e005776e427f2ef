/* SPDX-License-Identifier: MIT */
/* What the segments of a parallel loop use of the tape, and what several of them use.
 *
 * A look at the records of a segment, in whatever thread takes it, mostly while they are in its
 * cache, notes which groups of slots from before it uses. What several use is what a sweep has
 * to know of (tape/engine/stretch.c): in how many rounds the segments are swept, and which
 * groups they see through windows. */
#include "parallel.h"

/* ---- the look ---- */

void wgi_parallel_open(wg_parallel *p) {
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const segment = &p->segment[k];
        segment->seen = 0;
        segment->used = NULL;
        if (segment->groups != 0) segment->known = 0; /* the last loop was left */
        segment->groups = 0;
        segment->strange = 0;
        segment->status = WG_OK;
    }
}

static size_t groups_before(const wg_parallel *p) { return p->before / WGI_GROUP_SLOTS + 1; }

/* A table in a region, of so many entries, which are 0: those that are not known to be. */
static wg_status need_zeros(wgi_core *c, wgi_region *r, const void *before, size_t *known,
                            size_t entries, size_t each) {
    if (r->base != before || r->committed < *known * each) *known = 0; /* it was given up */
    const wg_status s = wgi_region_need(c, r, entries * each, *known * each);
    if (s != WG_OK || entries <= *known) return s;
    const size_t all = r->committed / each;
    memset(r->base + *known * each, 0, (all - *known) * each);
    *known = all;
    return s;
}

static wg_status open_used(const wg_parallel *p, wgi_segment *segment) {
    wgi_core *const c = segment->c;
    const wg_status s =
        need_zeros(c, &c->index[0], segment->zeros, &segment->known, groups_before(p), 1);
    segment->zeros = (unsigned char *)c->index[0].base;
    if (s == WG_OK) segment->used = segment->zeros;
    return s;
}

static uint32_t *groups_of(const wgi_segment *s) {
    return (uint32_t *)(void *)s->c->index[1].base;
}

/* One more group. */
static __attribute__((noinline, cold)) void add_group(wgi_segment *s, uint32_t group) {
    wgi_core *const c = s->c;
    const size_t used = s->groups * sizeof(uint32_t);
    const wg_status status = wgi_region_need(c, &c->index[1], used + sizeof(uint32_t), used);
    if (status != WG_OK) {
        s->status = status;
        return;
    }
    groups_of(s)[s->groups++] = group;
    s->used[group] = 1;
}

/* Notes what is used by records that are moved by so many slots, where they are. Gives an
 * operand that the segment may not use; 0: there is none. Mostly nothing is new: then no branch
 * is taken but for variables of the segment. */
static uint32_t look_at(wgi_record *r, const wgi_record *top, wgi_segment *s, uint32_t before,
                        uint32_t shift) {
    const uint32_t first = s->first, count = s->count;
    const unsigned char *const used = s->used;
    uint32_t strange = 0;
#define LOOK(in)                                                                               \
    do {                                                                                       \
        const uint32_t slot = (in);                                                            \
        if (__builtin_expect(slot - first < count, 0)) (in) = slot + shift;                    \
        else if (__builtin_expect(slot >= before, 0)) strange = slot;                          \
        else if (__builtin_expect(!used[slot / WGI_GROUP_SLOTS], 0))                           \
            add_group(s, slot / WGI_GROUP_SLOTS);                                              \
    } while (0)
    for (; r != top; r++) {
        r->out += shift;
        LOOK(r->in0);
        if (r->in1 != 0) LOOK(r->in1);
    }
#undef LOOK
    return strange;
}

void wgi_parallel_look(const wg_parallel *p, wgi_segment *segment) {
    const wgi_core *const c = segment->c;
    segment->count = c->head.slots - segment->first;
    if (c->status != WG_OK) return; /* where it had a place may be something else by now */
    if (c->chunks == 0 || wgi_record_count(c) == segment->seen || segment->status != WG_OK)
        return;
    if (segment->used == NULL) segment->status = open_used(p, segment);
    for (int i = 0; i <= c->current && segment->status == WG_OK; i++) {
        const wgi_record *top, *const base = wgi_segment_chunk(c, i, &top);
        const uint64_t first = c->chunk[i].first, end = first + (uint64_t)(top - base);
        if (segment->seen >= end) continue;
        wgi_record *const from = c->chunk[i].base + (segment->seen - first);
        const uint32_t shift =
            i == 0 && c->placed != 0 ? segment->expected - segment->first : 0;
        segment->strange = look_at(from, top, segment, p->before, shift);
        if (segment->strange != 0) segment->status = WG_ESTALE;
        segment->seen = end;
    }
}

void wgi_parallel_forget(wgi_segment *s) {
    for (size_t i = 0; i < s->groups; i++) s->used[groups_of(s)[i]] = 0;
    s->groups = 0;
}

/* ---- what is shared ---- */

/* Groups that are used by few segments are no matter of windows if each of these is swept in a
 * round of its own: segment k in round k % rounds. All in one: there is a window on whatever
 * several use. */
enum { FEW = 6, MOST_ROUNDS = 6, LEAST_IN_ROUND = 4 };

/* What is known of a group while its users are looked at: which remainders k % rounds they have,
 * for each number of rounds; with which numbers of rounds two have the same; how many users,
 * up to more than FEW. */
enum { REMAINDERS = 20, CLASH = REMAINDERS, USERS = CLASH + MOST_ROUNDS - 1 };

static uint32_t users_of(uint32_t group) { return group >> USERS; }

/* The bits of the remainders of k. */
static uint32_t remainders_of(size_t k) {
    uint32_t bits = 0;
    for (size_t rounds = 2, at = 0; rounds <= MOST_ROUNDS; at += rounds, rounds++)
        bits |= (uint32_t)1 << (at + k % rounds);
    return bits;
}

/* The numbers of rounds of which some remainder is among those. */
static uint32_t clashes_of(uint32_t remainders) {
    uint32_t bits = 0;
    for (unsigned rounds = 2, at = 0; rounds <= MOST_ROUNDS; at += rounds, rounds++)
        if (remainders >> at & (((uint32_t)1 << rounds) - 1))
            bits |= (uint32_t)1 << (CLASH + rounds - 2);
    return bits;
}

static void note_users(const wg_parallel *p) {
    for (size_t k = 0; k < p->segments; k++) {
        const wgi_segment *const s = &p->segment[k];
        const uint32_t own = remainders_of(k);
        for (size_t i = 0; i < s->groups; i++) {
            uint32_t *const of = &p->users[groups_of(s)[i]];
            if (*of & own) *of |= clashes_of(*of & own);
            *of |= own;
            if (users_of(*of) <= FEW) *of += (uint32_t)1 << USERS;
        }
    }
}

/* The least number of rounds with which groups of few users need no windows; 1: there is none,
 * or no such group. */
static size_t rounds_of(const wg_parallel *p) {
    uint32_t clash = 0;
    int any = 0;
    for (size_t k = 0; k < p->segments; k++)
        for (size_t i = 0; i < p->segment[k].groups; i++) {
            const uint32_t of = p->users[groups_of(&p->segment[k])[i]];
            if (users_of(of) < 2 || users_of(of) > FEW) continue;
            clash |= of;
            any = 1;
        }
    for (size_t rounds = 2; any && rounds <= MOST_ROUNDS; rounds++)
        if (p->segments >= LEAST_IN_ROUND * rounds && !(clash >> (CLASH + rounds - 2) & 1))
            return rounds;
    return 1;
}

/* From then on the entry of a group is 0 if it needs no windows, and otherwise 2; gives how many
 * segments see how many groups through windows. */
static size_t count_shared(const wg_parallel *p, size_t rounds) {
    const uint32_t least = rounds == 1 ? 2 : FEW + 1;
    size_t shared = 0;
    for (size_t k = 0; k < p->segments; k++)
        for (size_t i = 0; i < p->segment[k].groups; i++) {
            uint32_t *const of = &p->users[groups_of(&p->segment[k])[i]];
            if (*of > 2) *of = users_of(*of) >= least ? 2 : 0;
            shared += *of != 0;
        }
    return shared;
}

/* Fills in what a sweep has to know; where there are windows, the entry of a group becomes the
 * number of the last user, plus 2. */
static void list_shared(const wg_parallel *p, wgi_stretch *stretch, wgi_shared *shared) {
    size_t n = 0;
    for (size_t k = 0; k < p->segments; k++) {
        for (size_t i = 0; i < p->segment[k].groups; i++) {
            const uint32_t group = groups_of(&p->segment[k])[i];
            uint32_t *const of = &p->users[group];
            if (*of < 2) continue;
            if (*of > 2) shared[*of - 3].last = 0;
            shared[n++] = (wgi_shared){group, (uint32_t)k, *of - 2, 1};
            *of = (uint32_t)n + 2;
        }
        stretch->run[k].shared = n;
    }
    stretch->shared = shared;
}

wg_status wgi_parallel_share(wg_parallel *p, wgi_stretch **stretch) {
    wgi_core *const c = p->of.c, *const own = p->segment[0].c;
    wg_status s = need_zeros(own, &own->index[2], p->users, &p->known, groups_before(p),
                             sizeof *p->users);
    p->users = (uint32_t *)(void *)own->index[2].base;
    if (s != WG_OK) return s;
    note_users(p);
    const size_t rounds = rounds_of(p), self = sizeof **stretch + p->segments * sizeof(wgi_run),
                 bytes = self + count_shared(p, rounds) * sizeof(wgi_shared);
    s = wgi_payload_need(c, bytes);
    if (s == WG_OK) {
        char *const room = wgi_payload_take(c, bytes);
        *stretch = (wgi_stretch *)(void *)room;
        (*stretch)->rounds = rounds;
        list_shared(p, *stretch, (wgi_shared *)(void *)(room + self));
    }
    for (size_t k = 0; k < p->segments; k++)
        for (size_t i = 0; i < p->segment[k].groups; i++)
            p->users[groups_of(&p->segment[k])[i]] = 0;
    return s;
}
