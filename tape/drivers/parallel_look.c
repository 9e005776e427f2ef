/* SPDX-License-Identifier: MIT */
/* What the segments of a parallel loop use of the tape, and what several of them use.
 *
 * A look at the records of a segment, in whatever thread takes it, mostly while they are in its
 * cache, notes which groups of slots from before it uses. What several use is what a sweep has
 * to know of (tape/engine/stretch.c): in how many rounds the segments are swept, and which
 * groups they have private rows of. */
#include "parallel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { GROUP_BITS = 6 };
_Static_assert(1 << GROUP_BITS == WGI_GROUP_SLOTS, "of a group");

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

/* A table in an extent, of so many entries, which are 0: those that are not known to be. */
static wg_status need_zeros(wgi_core *c, wgi_extent *r, const void *before, size_t *known,
                            size_t entries, size_t each) {
    if (r->base != before || r->committed < *known * each) *known = 0; /* it was given up */
    const wg_status s = wgi_extent_need(c, r, entries * each, *known * each);
    if (s != WG_OK || entries <= *known) return s;
    const size_t all = r->committed / each;
    memset(r->base + *known * each, 0, (all - *known) * each);
    *known = all;
    return s;
}

static wg_status open_used(const wg_parallel *p, wgi_segment *segment) {
    wgi_core *const c = segment->c;
    const wg_status s =
        need_zeros(c, &c->index[0], segment->zeros, &segment->known,
                   groups_before(p) + sizeof(int), 1); /* where it is gathered by words */
    segment->zeros = (unsigned char *)c->index[0].base;
    if (s == WG_OK) segment->used = segment->zeros;
    return s;
}

static uint32_t *groups_of(const wgi_segment *s) {
    return (uint32_t *)(void *)s->c->index[1].base;
}

/* Adds a group to the list of those that the segment uses. */
static __attribute__((noinline, cold)) void add_group(wgi_segment *s, uint32_t group) {
    wgi_core *const c = s->c;
    const size_t used = s->groups * sizeof(uint32_t);
    const wg_status status = wgi_extent_need(c, &c->index[1], used + sizeof(uint32_t), used);
    if (status != WG_OK) {
        s->status = status;
        return;
    }
    groups_of(s)[s->groups++] = group;
    s->used[group] = 1;
}

/* A look under way, at records whose slots are moved by `shift`. */
typedef struct looking {
    wgi_segment *s;
    uint32_t before, shift;
    uint32_t strange; /* an operand that the segment may not use; or 0 */
} looking;

static void look_at_slot(looking *l, uint32_t *slot) {
    wgi_segment *const s = l->s;
    if (*slot - s->first < s->count) *slot += l->shift;
    else if (*slot >= l->before) l->strange = *slot;
    else if (!s->used[*slot / WGI_GROUP_SLOTS]) add_group(s, *slot / WGI_GROUP_SLOTS);
}

static void look_at_record(looking *l, wgi_record *r) {
    r->out += l->shift;
    look_at_slot(l, &r->in0);
    if (r->in1 != 0) look_at_slot(l, &r->in1);
}

/* Passes by records in which there is nothing new, as in most, AT_ONCE of them at a time; gives
 * the first one that has to be looked at by itself. */
typedef wgi_record *look_known(const looking *l, wgi_record *r, const wgi_record *top);
enum { AT_ONCE = 4 };

#if defined(__x86_64__)
/* The slots of two records, and their places. */
__attribute__((target("avx2"))) static inline __m256i slots_of(const wgi_record *r) {
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)r)),
        _mm_loadu_si128((const __m128i *)(const void *)(r + 1)), 1);
}
__attribute__((target("avx2"))) static inline void put_slots(wgi_record *r, __m256i slots) {
    _mm_storeu_si128((__m128i *)(void *)r, _mm256_castsi256_si128(slots));
    _mm_storeu_si128((__m128i *)(void *)(r + 1), _mm256_extracti128_si256(slots, 1));
}

/* Comparisons are signed: of what is below 2^31, or moved by that. No record of a segment is a
 * block: `kind` is 0, as what is no operand. */
__attribute__((target("avx2"))) static wgi_record *look_avx2(const looking *l, wgi_record *r,
                                                             const wgi_record *top) {
    const uint32_t middle = (uint32_t)1 << 31;
    const __m256i first = _mm256_set1_epi32((int)(l->s->first - middle)),
                  count = _mm256_set1_epi32((int)(l->s->count - middle)),
                  shift = _mm256_set1_epi32((int)l->shift),
                  last = _mm256_set1_epi32((int)(l->before - 1)), zero = _mm256_setzero_si256(),
                  ones = _mm256_cmpeq_epi32(zero, zero);
    const int *const used = (const int *)(const void *)l->s->used;
    for (; top - r >= AT_ONCE; r += AT_ONCE) {
        const __m256i a = slots_of(r), b = slots_of(r + 2);
        const __m256i own_a = _mm256_cmpgt_epi32(count, _mm256_sub_epi32(a, first)),
                      own_b = _mm256_cmpgt_epi32(count, _mm256_sub_epi32(b, first));
        /* operands from before; 0 in the place of others */
        const __m256i old = _mm256_castps_si256(_mm256_shuffle_ps(
            _mm256_castsi256_ps(_mm256_andnot_si256(own_a, a)),
            _mm256_castsi256_ps(_mm256_andnot_si256(own_b, b)), _MM_SHUFFLE(2, 0, 2, 0)));
        const __m256i odd = _mm256_or_si256(old, _mm256_sub_epi32(last, old));
        if (_mm256_movemask_ps(_mm256_castsi256_ps(odd)) != 0) return r;
        /* the low bytes of what is gathered are of the groups */
        const __m256i known = _mm256_mask_i32gather_epi32(
            ones, used, _mm256_srli_epi32(old, GROUP_BITS),
            _mm256_xor_si256(_mm256_cmpeq_epi32(old, zero), ones), 1);
        if (_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(known, 31))) != 255)
            return r;
        put_slots(r, _mm256_add_epi32(a, _mm256_and_si256(own_a, shift)));
        put_slots(r + 2, _mm256_add_epi32(b, _mm256_and_si256(own_b, shift)));
    }
    return r;
}
#endif

static wgi_record *look_plain(const looking *l, wgi_record *r, const wgi_record *top) {
    (void)l, (void)top;
    return r;
}

static look_known *choose(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return look_avx2;
#endif
    return look_plain;
}

/* Notes what records use that are moved by so many slots, where they are. Gives an operand that
 * the segment may not use; 0: there is none. */
static uint32_t look_at(wgi_record *r, const wgi_record *top, wgi_segment *s, uint32_t before,
                        uint32_t shift) {
    looking l = {s, before, shift, 0};
    look_known *const known = choose();
    while ((r = known(&l, r, top)) != top)
        for (int i = 0; i < AT_ONCE && r != top; i++) look_at_record(&l, r++);
    return l.strange;
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

/* Groups that are used by few segments need no private rows if each of these is swept in a
 * round of its own: segment k in round k % rounds. All in one: there are private rows of
 * whatever several use. */
enum { FEW = 6, MOST_ROUNDS = 6, LEAST_IN_ROUND = 4 };

/* What is known of a group while its users are looked at: which remainders k % rounds they have,
 * for each number of rounds; with which numbers of rounds two have the same; how many users,
 * up to more than FEW. */
enum { CLASH = 2 + 3 + 4 + 5 + MOST_ROUNDS, USERS = CLASH + MOST_ROUNDS - 1 };

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

/* The least number of rounds with which groups of few users need no private rows; 1: there is
 * none, or no such group. */
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

/* From then on the entry of a group is 0 if it needs no private rows, and otherwise 2; gives
 * how many groups need them, each counted once for every segment that uses it. */
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

/* Fills in what a sweep has to know; where there are private rows, the entry of a group
 * becomes the number of the last user, plus 2. */
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
