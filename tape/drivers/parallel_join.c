/* SPDX-License-Identifier: MIT */
/* The end of a parallel loop: what segments have recorded becomes a part of the tape.
 *
 *   tape     [before][segment 0][segment 1] ...
 *
 * Records were looked at before (parallel_look.c). They are moved to the tape, and slots get
 * their places there.
 *
 * Where there was a loop at the same position the last time, each segment has as many records
 * and slots again, mostly. Then they are recorded where they are to stand in the end, and the
 * look gives slots their places. If it has come out otherwise, they are moved all the same. */
#include "parallel.h"

static const char call[] = "wg_parallel_join";

/* Records are read this far ahead of their turn: the hardware would stop at the end of a page.
 * To prefetch an address that is not ours does no harm. */
enum { AHEAD = 4160 };
static inline void ahead(const wgi_record *r) {
    __builtin_prefetch((const void *)((uintptr_t)r + AHEAD), 0, 2);
}

/* ---- where there was a loop before ---- */

/* What is known of a loop: its position, then the numbers of records and slots of each
 * segment. In memory that is not given up for anything else. */
static uint32_t *past_loop(const wg_parallel *p, size_t i) {
    return (uint32_t *)(void *)p->segment[0].c->drive.base + i * (1 + 2 * p->segments);
}

/* The first one that does not begin before this one. */
static size_t past_at(const wg_parallel *p) {
    size_t low = 0, high = p->past;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (past_loop(p, middle)[0] < p->before) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Those behind it are forgotten, if it is not what it was. Where there is no memory for it, it
 * is not known the next time. */
static void keep_loop(wg_parallel *p) {
    wgi_core *const c = p->segment[0].c;
    const size_t i = past_at(p), each = (1 + 2 * p->segments) * sizeof(uint32_t);
    if (wgi_extent_need(c, &c->drive, (i + 1) * each, p->past * each) != WG_OK) {
        c->starved = 0;
        return;
    }
    uint32_t *const loop = past_loop(p, i);
    int same = i < p->past && loop[0] == p->before;
    loop[0] = p->before;
    for (size_t k = 0; k < p->segments; k++) {
        const wgi_segment *const s = &p->segment[k];
        const uint32_t records = s->c->chunks != 0 ? (uint32_t)wgi_record_count(s->c) : 0;
        same = same && loop[1 + 2 * k] == records && loop[2 + 2 * k] == s->count;
        loop[1 + 2 * k] = records;
        loop[2 + 2 * k] = s->count;
    }
    if (!same) p->past = i + 1;
}

void wgi_parallel_lay_out(wg_parallel *p) {
    wgi_core *const c = p->of.c;
    const size_t i = past_at(p);
    const int starved = c->starved;
    p->expected = 0;
    if (c->flags != 0 || c->width != 0 || c->pauses != 0 || c->passive || c->buffer != NULL ||
        i == p->past || past_loop(p, i)[0] != p->before)
        return;
    const uint32_t *const loop = past_loop(p, i);
    uint64_t records = 0, to = p->before;
    for (size_t k = 0; k < p->segments; k++) {
        p->segment[k].expected = (uint32_t)to;
        records += loop[1 + 2 * k];
        to += loop[2 + 2 * k];
    }
    if (to > WGI_SEGMENT_SLOTS || wgi_records_need(c, (size_t)records) != WG_OK) {
        c->starved = starved;
        return;
    }
    wgi_record *at = c->head.top;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment_lay_out(p->segment[k].c, at, loop[1 + 2 * k]);
        at += loop[1 + 2 * k];
    }
    p->expected = records;
}

/* Has it come out as expected? */
static int is_expected(const wg_parallel *p) {
    uint64_t to = p->before, records = 0;
    for (size_t k = 0; k < p->segments && p->expected != 0; k++) {
        const wgi_segment *const s = &p->segment[k];
        const uint64_t own = s->c->chunks != 0 ? wgi_record_count(s->c) : 0;
        if (s->expected != to || own != s->c->placed || s->c->current != 0) return 0;
        to += s->count;
        records += own;
    }
    return p->expected != 0 && records == p->expected;
}

/* ---- the pass ---- */

/* Where slots go. */
typedef struct moves {
    uint32_t first, count, shift;
} moves;

/* The slot on the tape of an operand. */
static inline uint32_t moved(moves p, uint32_t slot) {
    return slot - p.first < p.count ? slot + p.shift : slot;
}

static void move_records(const wgi_segment *segment, wgi_record *to) {
    const wgi_core *const c = segment->c;
    for (int i = 0; c->chunks != 0 && i <= c->current; i++) {
        const wgi_record *top, *r = wgi_segment_chunk(c, i, &top);
        /* those in their places have other slots already */
        const uint32_t first = i == 0 && c->placed != 0 ? segment->expected : segment->first;
        const moves p = {first, segment->count, segment->to - first};
        for (; r != top; r++, to++) {
            ahead(r);
            WGI_AHEAD(to);
            *to = (wgi_record){moved(p, r->in0), r->out + p.shift, moved(p, r->in1), 0,
                               r->jac0,          r->jac1};
        }
    }
}

static void move_code(wgi_segment *segment, moves p, uint32_t before, uint64_t *to) {
    const wgi_core *const c = segment->c;
    const uint64_t *const from = wgi_code_words(c);
    uint32_t strange = 0;
    wgi_entry e;
    memcpy(to, from, (size_t)c->head.code_words * sizeof *to);
    for (uint64_t at = 0, next; at < c->head.code_words; at = next) {
        next = wgi_code_read(c, at, &e);
        const uint32_t out = e.out + p.shift;
        memcpy(&to[at], &out, sizeof out); /* the low half of its head */
        uint32_t *const slot =
            (uint32_t *)(void *)to + (e.slot - (const uint32_t *)(const void *)from);
        for (size_t i = 0; i < e.operands; i++) {
            slot[i] = moved(p, e.slot[i]);
            /* of comparisons there are no records that were looked at */
            if (slot[i] == e.slot[i] && slot[i] >= before) strange = slot[i];
        }
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
    const moves where = {segment->first, segment->count, segment->to - segment->first};
    move_rows(c, segment);
    if (segment->c->place_count != 0)
        move_places(segment, wgi_places(c) + c->place_count + segment->places);
    if (c->width != 0) return WG_OK;
    if (c->head.top != NULL) move_records(segment, c->head.top + segment->records);
    if ((c->flags & WG_KEEP_CODE) && segment->c->head.code_words != 0)
        move_code(segment, where, p->before,
                  wgi_code_words(c) + c->head.code_words + segment->words);
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
        s = wgi_extent_need(c, &c->code, (words + (size_t)all->words) * sizeof(uint64_t),
                            words * sizeof(uint64_t));
    if (s == WG_OK && all->places != 0)
        s = wgi_extent_need(c, &c->places, places + (size_t)all->places * sizeof(wgi_place),
                            places);
    if (s == WG_OK && p->segments > 1 && all->records != 0) s = wgi_parallel_share(p, stretch);
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

static wg_status look_at_rest(void *context, size_t k) {
    wg_parallel *const p = context;
    wgi_parallel_look(p, &p->segment[k]);
    return p->segment[k].status;
}

/* What has failed in a look, or a pass, in the words of the segment that it is of. */
static wg_status fail_pass(wg_parallel *p, wg_status s) {
    for (size_t k = 0; k < p->segments; k++)
        if (p->segment[k].strange != 0)
            return wgi_fail(
                p->of.c, WG_ESTALE,
                "%s: segment %zu has used slot %u, a variable of another segment, or of an "
                "earlier loop and not adopted",
                call, k, p->segment[k].strange);
    if (s == WG_OK) return s;
    return wgi_fail(p->of.c, s, "%s: no room for what %zu segments have used", call,
                    p->segments);
}

/* They are where they belong. What asks for memory gives up what is behind the last record. */
static wg_status stay(wg_parallel *p, const wgi_segment *all, uint64_t slots,
                      wgi_stretch **stretch) {
    wgi_core *const c = p->of.c;
    c->head.top += all->records;
    wg_status s = wgi_slots_need(c, call, (size_t)slots);
    if (s == WG_OK && p->segments > 1) s = wgi_parallel_share(p, stretch);
    c->head.top -= all->records;
    if (s == WG_ENOMEM || s == WG_EBUDGET)
        return wgi_fail(c, s, "%s: no room for what %zu segments share", call, p->segments);
    return s;
}

/* To behind those that have places on the tape, if there are any, and then to where these
 * begin. */
static wg_status move_all(wg_parallel *p, const wgi_segment *all, uint64_t slots,
                          wgi_stretch **stretch) {
    wgi_core *const c = p->of.c;
    wgi_record *const start = c->head.top;
    const int chunk = c->current;
    if (p->expected != 0) c->head.top += p->expected;
    wg_status s = room_of(p, all, slots, stretch);
    if (s == WG_OK) s = wgi_threads_run_near(p->threads, p->segments, move, p);
    if (p->expected == 0) return s;
    if (c->current == chunk) {
        if (s == WG_OK) memmove(start, c->head.top, (size_t)all->records * sizeof *start);
        c->head.top = start;
    } else {
        c->chunk[chunk].top = start;
        c->chunk[c->current].first -= p->expected;
    }
    wgi_limit_set(c);
    return s;
}

wg_status wgi_parallel_join(wg_parallel *p) {
    wgi_core *const c = p->of.c;
    uint64_t slots;
    uint32_t most = 0;
    wg_status s = WG_OK;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const segment = &p->segment[k];
        segment->count = segment->c->head.slots - segment->first;
        if (segment->count > most) most = segment->count;
    }
    if (c->width == 0) s = wgi_threads_run_near(p->threads, p->segments, look_at_rest, p);
    if (s != WG_OK) return fail_pass(p, s);
    const wgi_segment all = total_of(p, &slots);
    wgi_stretch *stretch = NULL;
    s = is_expected(p) ? stay(p, &all, slots, &stretch) : move_all(p, &all, slots, &stretch);
    if (s == WG_OK) s = fail_pass(p, s);
    for (size_t k = 0; k < p->segments; k++) wgi_parallel_forget(&p->segment[k]);
    if (s != WG_OK) return s;
    if (stretch != NULL) add_stretch(p, all.records, slots, stretch);
    if (c->width == 0) c->head.top += all.records;
    if (c->flags == 0 && c->width == 0 && all.records != 0) keep_loop(p);
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
