/* SPDX-License-Identifier: MIT */
/* The end of a parallel loop: what segments have recorded becomes a part of the tape.
 *
 *   tape     [before][segment 0][segment 1] ...
 *
 * One pass over what a segment has recorded, in whatever thread takes it, gives slots their
 * places on the tape, and finds operands that are neither the segment's nor from before. */
#include "parallel.h"

static const char call[] = "wg_parallel_join";

/* Each chunk of a segment's records. */
static const wgi_record *chunk_of(const wgi_core *c, int k, const wgi_record **top) {
    *top = k == c->current ? c->head.top : c->chunk[k].top;
    return c->chunk[k].base;
}

/* Records are read this far ahead of their turn: the hardware would stop at the end of a page.
 * To prefetch an address that is not ours does no harm. */
enum { AHEAD = 4160 };
static inline void ahead(const wgi_record *r) {
    __builtin_prefetch((const void *)((uintptr_t)r + AHEAD), 0, 2);
}

/* ---- the pass ---- */

/* Where slots go. */
typedef struct moves {
    uint32_t first, count, shift, before;
} moves;

/* The slot on the tape of an operand; *strange: it is none that the segment may use. */
static inline uint32_t moved(moves p, uint32_t slot, uint32_t *strange) {
    if (slot - p.first < p.count) return slot + p.shift;
    if (slot >= p.before) *strange = slot;
    return slot;
}

static void move_records(wgi_segment *segment, moves p, wgi_record *to) {
    const wgi_core *const c = segment->c;
    uint32_t strange = 0;
    for (int i = 0; c->chunks != 0 && i <= c->current; i++) {
        const wgi_record *top, *r = chunk_of(c, i, &top);
        for (; r != top; r++, to++) {
            ahead(r);
            WGI_AHEAD(to);
            *to = (wgi_record){moved(p, r->in0, &strange),
                               r->out + p.shift,
                               moved(p, r->in1, &strange),
                               0,
                               r->jac0,
                               r->jac1};
        }
    }
    if (strange != 0) segment->strange = strange;
}

static void move_code(wgi_segment *segment, moves p, uint64_t *to) {
    const wgi_core *const c = segment->c;
    const uint64_t *const from = wgi_code_words(c);
    uint32_t strange = 0;
    wgi_entry e;
    if (c->head.code_words != 0) memcpy(to, from, (size_t)c->head.code_words * sizeof *to);
    for (uint64_t at = 0, next; at < c->head.code_words; at = next) {
        next = wgi_code_read(c, at, &e);
        const uint32_t out = e.out + p.shift;
        memcpy(&to[at], &out, sizeof out); /* the low half of its head */
        uint32_t *const slot =
            (uint32_t *)(void *)to + (e.slot - (const uint32_t *)(const void *)from);
        for (size_t i = 0; i < e.operands; i++) slot[i] = moved(p, e.slot[i], &strange);
    }
    if (strange != 0) segment->strange = strange;
}

static void move_places(const wgi_segment *segment, wgi_place *to) {
    const wgi_place *const from = wgi_places(segment->c);
    for (uint64_t i = 0; i < segment->c->place_count; i++)
        to[i] = (wgi_place){from[i].file, from[i].line,
                            from[i].slot - segment->first + segment->to};
}

/* The values and tangents of its slots. */
static void move_rows(wgi_core *c, const wgi_segment *segment) {
    const size_t n = segment->count;
    if (n == 0) return;
    if (c->flags & WG_KEEP_CODE)
        memcpy(wgi_values(c) + segment->to, wgi_values(segment->c) + segment->first,
               n * sizeof(double));
    if (c->width != 0)
        memcpy(wgi_tangents_of(c, segment->to), wgi_tangents_of(segment->c, segment->first),
               n * c->width * sizeof(double));
}

static wg_status move(void *context, size_t k) {
    wg_parallel *const p = context;
    wgi_core *const c = p->of.c;
    wgi_segment *const segment = &p->segment[k];
    const moves where = {segment->first, segment->count, segment->to - segment->first,
                          p->before};
    move_rows(c, segment);
    move_places(segment, wgi_places(c) + c->place_count + segment->places);
    if (c->width != 0) return WG_OK;
    move_records(segment, where, c->head.top + segment->records);
    if (c->flags & WG_KEEP_CODE)
        move_code(segment, where, wgi_code_words(c) + c->head.code_words + segment->words);
    return WG_OK;
}

/* ---- room ---- */

/* What all segments have together; where the parts of each go. */
static wgi_segment total_of(wg_parallel *p, uint64_t *slots) {
    wgi_segment all = {0};
    *slots = 0;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const s = &p->segment[k];
        s->to = (uint32_t)(p->before + *slots);
        s->records = all.records, s->words = all.words, s->places = all.places;
        *slots += s->count;
        all.records += s->c->chunks != 0 ? wgi_record_count(s->c) : 0;
        all.words += s->c->head.code_words;
        all.places += s->c->place_count;
    }
    return all;
}

/* Makes it; that for records last, for what asks for memory after it may give it up again. */
static wg_status room_of(wg_parallel *p, const wgi_segment *all, uint64_t slots,
                         wgi_stretch **stretch) {
    wgi_core *const c = p->of.c;
    const size_t words = (size_t)(WGI_CODE_START + c->head.code_words),
                 places = (size_t)c->place_count * sizeof(wgi_place);
    wg_status s = wgi_slots_need(c, call, (size_t)slots);
    if (s != WG_OK) return s;
    if (all->words != 0)
        s = wgi_region_need(c, &c->code, (words + (size_t)all->words) * sizeof(uint64_t),
                            words * sizeof(uint64_t));
    if (s == WG_OK && all->places != 0)
        s = wgi_region_need(c, &c->places, places + (size_t)all->places * sizeof(wgi_place),
                            places);
    if (s == WG_OK && p->segments > 1 && all->records != 0) {
        const size_t bytes = sizeof **stretch + p->segments * sizeof(wgi_run);
        s = wgi_payload_need(c, bytes);
        if (s == WG_OK) *stretch = wgi_payload_take(c, bytes);
    }
    if (s == WG_OK && c->width == 0) s = wgi_records_need(c, (size_t)all->records);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no room for %llu records", call,
                        (unsigned long long)all->records);
    return s;
}

/* Threads may sweep the segments side by side. */
static void add_stretch(const wg_parallel *p, uint64_t records, uint64_t slots,
                        wgi_stretch *s) {
    wgi_core *const c = p->of.c;
    s->prev = (wgi_stretch *)(uintptr_t)c->stretch;
    s->threads = p->threads;
    s->runs = p->segments;
    s->first = wgi_record_count(c);
    s->before = p->before;
    for (size_t k = 0; k < s->runs; k++) {
        const int more = k + 1 < s->runs;
        s->run[k].end = s->first + (more ? p->segment[k + 1].records : records);
        s->run[k].slots = more ? p->segment[k + 1].to : p->before + slots;
    }
    c->stretch = s;
}

/* ---- the join ---- */

/* An operand that a segment may not use. */
static wg_status find_strange(wg_parallel *p) {
    for (size_t k = 0; k < p->segments; k++)
        if (p->segment[k].strange != 0)
            return wgi_fail(
                p->of.c, WG_ESTALE,
                "%s: segment %zu has used slot %u, a variable of another segment, or of an "
                "earlier loop and not adopted",
                call, k, p->segment[k].strange);
    return WG_OK;
}

wg_status wgi_parallel_join(wg_parallel *p) {
    wgi_core *const c = p->of.c;
    uint64_t slots;
    uint32_t most = 0;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const segment = &p->segment[k];
        segment->strange = 0;
        segment->count = segment->c->head.slots - segment->first;
        if (segment->count > most) most = segment->count;
    }
    const wgi_segment all = total_of(p, &slots);
    wgi_stretch *stretch = NULL;
    wg_status s = room_of(p, &all, slots, &stretch);
    if (s == WG_OK) s = wgi_threads_run_near(p->threads, p->segments, move, p);
    if (s == WG_OK) s = find_strange(p);
    if (s != WG_OK) return s;
    if (stretch != NULL) add_stretch(p, all.records, slots, stretch);
    if (c->width == 0) c->head.top += all.records;
    c->head.slots += (uint32_t)slots;
    c->head.code_words += all.words;
    c->place_count += all.places;
    for (size_t k = 0; k < p->segments; k++) {
        c->inputs += p->segment[k].c->inputs;
        if (p->segment[k].c->foreign != 0) c->foreign = p->segment[k].c->foreign;
    }
    c->loops = 1;
    c->loop_slots += most;
    c->ordered = c->chunks != 0 ? wgi_record_count(c) : 0;
    wgi_limit_set(c);
    return WG_OK;
}
