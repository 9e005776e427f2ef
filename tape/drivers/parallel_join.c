/* SPDX-License-Identifier: MIT */
/* The end of a parallel loop: what segments have recorded becomes a part of the tape.
 *
 *   tape     [before][copies of segment 0, 1, ...][segment 0][segment 1] ...
 *
 * Two passes over the records of a segment, each in whatever thread takes it. The first one notes which slots
 * from before it uses. Those that several segments use are shared: threads that sweep side by side would add to
 * one adjoint, and in an order of chance. So each segment gets copies of them, statements before the loop, and
 * the second pass, which gives all slots their places on the tape, puts these for them. All others have one
 * user, who may add to their adjoints. */
#include "parallel.h"

static const char call[] = "wg_parallel_join";

/* ---- pages ---- */

static uint32_t place_of(const wgi_slot_pages *p, uint32_t number) {
    uint32_t i = number & p->mask; /* pages side by side are used together */
    while (p->index[i] != 0 && p->page[p->index[i] - 1].number != number) i = (i + 1) & p->mask;
    return i;
}

/* The number of a page among the pages; UINT32_MAX: it is not among them. */
static uint32_t find(const wgi_slot_pages *p, uint32_t number) {
    return p->count != 0 ? p->index[place_of(p, number)] - 1 : UINT32_MAX;
}

/* Room for `count` pages, of which an index is at most half full. */
static wg_status room_for(wgi_slot_pages *p, uint32_t count) {
    wgi_core *const c = p->of;
    const size_t used = p->count * sizeof *p->page;
    wg_status s = wgi_region_need(c, &c->index[0], count * sizeof *p->page, used);
    if (s != WG_OK) return s;
    p->page = (wgi_slot_page *)(void *)c->index[0].base;
    if (p->count != 0 && count <= (p->mask + 1) / 2) return WG_OK;
    uint32_t size = 64;
    while (size / 4 < count) size *= 2;
    s = wgi_region_need(c, &c->index[1], size * sizeof *p->index, 0);
    if (s != WG_OK) return s;
    p->index = (uint32_t *)(void *)c->index[1].base;
    p->mask = size - 1;
    memset(p->index, 0, size * sizeof *p->index);
    for (uint32_t i = 0; i < p->count; i++) p->index[place_of(p, p->page[i].number)] = i + 1;
    return WG_OK;
}

/* The same of a page that becomes one of them. */
static wg_status touch(wgi_slot_pages *p, uint32_t number, uint32_t *at) {
    *at = find(p, number);
    if (*at != UINT32_MAX) return WG_OK;
    const wg_status s = room_for(p, p->count + 1);
    if (s != WG_OK) return s;
    *at = p->count++;
    p->index[place_of(p, number)] = p->count;
    memset(&p->page[*at], 0, sizeof *p->page);
    p->page[*at].number = number;
    return WG_OK;
}

static uint32_t page_of(uint32_t slot) { return slot / WGI_PAGE_SLOTS; }
static uint32_t word_of(uint32_t slot) { return slot / 64 % WGI_PAGE_WORDS; }
static uint64_t bit_of(uint32_t slot) { return (uint64_t)1 << slot % 64; }

/* ---- the first pass ---- */

static inline int is_own(const wgi_segment *s, uint32_t slot) {
    return slot - s->first < s->count;
}

static wg_status note_first(const wg_parallel *p, wgi_segment *s, uint32_t slot) {
    if (slot >= p->before) {
        s->strange = slot;
        return WG_ESTALE;
    }
    uint32_t at;
    const wg_status status = touch(&s->pages, page_of(slot), &at);
    if (status == WG_OK) s->pages.page[at].used[word_of(slot)] |= bit_of(slot);
    return status;
}

/* An operand that is no constant. */
static inline wg_status note(const wg_parallel *p, wgi_segment *s, uint32_t slot) {
    if (is_own(s, slot)) return WG_OK;
    const wgi_slot_pages *const pages = &s->pages;
    const uint32_t at = pages->index[page_of(slot) & pages->mask];
    wgi_slot_page *const page = &pages->page[at - (at != 0)];
    if (at != 0 && page->number == page_of(slot) && (page->used[word_of(slot)] & bit_of(slot)) != 0)
        return WG_OK;
    return note_first(p, s, slot);
}

/* Each chunk of a segment's records. */
static const wgi_record *chunk_of(const wgi_core *c, int k, const wgi_record **top) {
    *top = k == c->current ? c->head.top : c->chunk[k].top;
    return c->chunk[k].base;
}

static wg_status scan(void *context, size_t k) {
    wg_parallel *const p = context;
    wgi_segment *const segment = &p->segment[k];
    wgi_core *const c = segment->c;
    segment->pages = (wgi_slot_pages){.of = c};
    segment->maps = 0;
    wg_status s = c->chunks != 0 ? room_for(&segment->pages, 1) : WG_OK;
    for (int i = 0; c->chunks != 0 && i <= c->current; i++) {
        const wgi_record *top, *r = chunk_of(c, i, &top);
        for (; r != top && s == WG_OK; r++) {
            s = note(p, segment, r->in0);
            if (s == WG_OK && r->in1 != 0) s = note(p, segment, r->in1);
        }
    }
    return s;
}

/* ---- what is shared ---- */

static wg_status merge(wg_parallel *p, wgi_slot_pages *all) {
    wg_status s = WG_OK;
    for (size_t k = 0; k < p->segments; k++) {
        const wgi_slot_pages *const pages = &p->segment[k].pages;
        for (uint32_t i = 0; i < pages->count; i++) {
            uint32_t at;
            s = touch(all, pages->page[i].number, &at);
            if (s != WG_OK) return s;
            for (int w = 0; w < WGI_PAGE_WORDS; w++) {
                all->page[at].shared[w] |= all->page[at].used[w] & pages->page[i].used[w];
                all->page[at].used[w] |= pages->page[i].used[w];
            }
        }
    }
    return s;
}

/* Maps for the pages of a segment in which others have a share. */
static wg_status map_shared(wgi_segment *segment, const wgi_slot_pages *all) {
    wgi_core *const c = segment->c;
    for (uint32_t i = 0; i < segment->pages.count; i++) {
        wgi_slot_page *const page = &segment->pages.page[i];
        const wgi_slot_page *const of = &all->page[find(all, page->number)];
        uint64_t any = 0;
        for (int w = 0; w < WGI_PAGE_WORDS; w++)
            any |= page->shared[w] = page->used[w] & of->shared[w];
        page->map = any != 0 ? ++segment->maps : 0;
    }
    const wg_status s =
        wgi_region_need(c, &c->index[2], segment->maps * sizeof *segment->map, 0);
    segment->map = (uint32_t(*)[WGI_PAGE_SLOTS])(void *)c->index[2].base;
    return s;
}

/* A variable from before as one of the segment's. */
static void copy(wgi_core *c, uint32_t slot) {
    const uint32_t stamp = c->flags & WG_CHECKED ? wgi_stamp_of(c, slot) : c->head.stamp;
    const double value = c->flags & WG_KEEP_CODE ? wgi_values(c)[slot] : 0;
    const wg_real x[2] = {{value, {slot, stamp}}, wg_constant(1)};
    (void)wg_apply_scalar(&c->head, &wgi_scalar_ops[WGI_OP_mul], x);
}

static void copy_page(wgi_core *c, const wgi_slot_page *page, uint32_t *map) {
    const uint32_t first = page->number * WGI_PAGE_SLOTS;
    for (uint32_t i = 0; i < WGI_PAGE_SLOTS; i++) map[i] = first + i;
    for (uint32_t w = 0; w < WGI_PAGE_WORDS; w++)
        for (uint64_t left = page->shared[w]; left != 0; left &= left - 1) {
            const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(left);
            map[i] = c->head.slots;
            copy(c, first + i);
        }
}

static wg_status copy_shared(wg_parallel *p) {
    wgi_core *const c = p->c;
    wgi_slot_pages all = {.of = c};
    wg_status s = merge(p, &all);
    for (size_t k = 0; k < p->segments && s == WG_OK; k++) s = map_shared(&p->segment[k], &all);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no room for the variables of %zu segments", call,
                        p->segments);
    for (size_t k = 0; k < p->segments; k++) {
        const wgi_segment *const segment = &p->segment[k];
        for (uint32_t i = 0; i < segment->pages.count && c->status == WG_OK; i++) {
            const wgi_slot_page *const page = &segment->pages.page[i];
            if (page->map != 0) copy_page(c, page, segment->map[page->map - 1]);
        }
    }
    if (c->status != WG_OK) wgi_fail_as(c, call);
    return c->status;
}

/* ---- the second pass ---- */

/* The slot on the tape of an operand. */
static inline uint32_t moved(const wgi_segment *segment, uint32_t slot) {
    if (is_own(segment, slot)) return slot - segment->first + segment->to;
    if (segment->maps == 0) return slot;
    const uint32_t at = find(&segment->pages, page_of(slot));
    if (at == UINT32_MAX) return slot; /* a constant, or only compared */
    const uint32_t map = segment->pages.page[at].map;
    return map != 0 ? segment->map[map - 1][slot % WGI_PAGE_SLOTS] : slot;
}

static void move_records(const wgi_segment *segment, wgi_record *to) {
    const wgi_core *const c = segment->c;
    const uint32_t shift = segment->to - segment->first;
    for (int i = 0; c->chunks != 0 && i <= c->current; i++) {
        const wgi_record *top, *r = chunk_of(c, i, &top);
        for (; r != top; r++, to++)
            *to = (wgi_record){moved(segment, r->in0),
                               r->out + shift,
                               r->in1 != 0 ? moved(segment, r->in1) : 0,
                               0,
                               r->jac0,
                               r->jac1};
    }
}

/* WG_ESTALE: what is compared is of another segment. */
static wg_status move_code(wgi_segment *segment, uint64_t *to) {
    const wgi_core *const c = segment->c;
    const uint64_t *const from = wgi_code_words(c);
    wgi_entry e;
    if (c->head.code_words != 0) memcpy(to, from, (size_t)c->head.code_words * sizeof *to);
    for (uint64_t at = 0, next; at < c->head.code_words; at = next) {
        next = wgi_code_read(c, at, &e);
        const uint32_t out = e.out - segment->first + segment->to;
        memcpy(&to[at], &out, sizeof out); /* the low half of its head */
        uint32_t *const slot =
            (uint32_t *)(void *)to + (e.slot - (const uint32_t *)(const void *)from);
        for (size_t i = 0; i < e.operands; i++) {
            slot[i] = e.slot[i] != 0 ? moved(segment, e.slot[i]) : 0;
            if (slot[i] < WGI_SEGMENT_SLOTS) continue;
            segment->strange = slot[i];
            return WG_ESTALE;
        }
    }
    return WG_OK;
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
    wgi_core *const c = p->c;
    wgi_segment *const segment = &p->segment[k];
    move_rows(c, segment);
    move_places(segment, wgi_places(c) + c->place_count + segment->places);
    if (c->width != 0) return WG_OK;
    move_records(segment, c->head.top + segment->records);
    if ((c->flags & WG_KEEP_CODE) == 0) return WG_OK;
    return move_code(segment, wgi_code_words(c) + c->head.code_words + segment->words);
}

/* ---- room ---- */

/* What all segments have together; where the parts of each go. */
static wgi_segment total_of(wg_parallel *p) {
    wgi_segment all = {0};
    uint64_t slots = p->c->head.slots;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const s = &p->segment[k];
        s->to = (uint32_t)slots;
        s->records = all.records, s->words = all.words, s->places = all.places;
        slots += s->count;
        all.records += s->c->chunks != 0 ? wgi_record_count(s->c) : 0;
        all.words += s->c->head.code_words;
        all.places += s->c->place_count;
    }
    return all;
}

/* Makes it; that for records last, for what asks for memory after it may give it up again. */
static wg_status room_of(wg_parallel *p, const wgi_segment *all, uint64_t slots,
                         wgi_stretch **stretch) {
    wgi_core *const c = p->c;
    const size_t words = (size_t)(WGI_CODE_START + c->head.code_words),
                 places = (size_t)c->place_count * sizeof(wgi_place);
    wg_status s = wgi_slots_need(c, call, (size_t)slots);
    if (s != WG_OK) return s;
    if (all->words != 0)
        s = wgi_region_need(c, &c->code, (words + (size_t)all->words) * sizeof(uint64_t),
                            words * sizeof(uint64_t));
    if (s == WG_OK && all->places != 0)
        s = wgi_region_need(c, &c->places,
                            places + (size_t)all->places * sizeof(wgi_place), places);
    if (s == WG_OK && p->threads != NULL && all->records != 0) {
        const size_t bytes = sizeof **stretch + p->segments * sizeof(uint64_t);
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
static void add_stretch(const wg_parallel *p, const wgi_segment *all, wgi_stretch *s) {
    wgi_core *const c = p->c;
    s->prev = (wgi_stretch *)(uintptr_t)c->stretch;
    s->threads = p->threads;
    s->first = wgi_record_count(c);
    s->runs = p->segments;
    for (size_t k = 0; k < s->runs; k++)
        s->end[k] = s->first + (k + 1 < s->runs ? p->segment[k + 1].records : all->records);
    c->stretch = s;
}

/* ---- the join ---- */

/* The failure of a pass in threads, in the words of the segment that it is of. */
static wg_status fail_pass(wg_parallel *p, wg_status s) {
    for (size_t k = 0; k < p->segments; k++)
        if (p->segment[k].strange != 0)
            return wgi_fail(p->c, s,
                            "%s: segment %zu has used slot %u, a variable of another segment, or of an "
                            "earlier loop and not adopted",
                            call, k, p->segment[k].strange);
    return wgi_fail(p->c, s, "%s: no room for what %zu segments have used", call, p->segments);
}

wg_status wgi_parallel_join(wg_parallel *p) {
    wgi_core *const c = p->c;
    uint64_t slots = 0;
    uint32_t most = 0;
    wg_status s = WG_OK;
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const segment = &p->segment[k];
        segment->count = segment->c->head.slots - segment->first;
        segment->strange = 0;
        slots += segment->count;
        if (segment->count > most) most = segment->count;
    }
    if (c->width == 0) {
        s = wg_threads_run(p->threads, p->segments, scan, p);
        if (s != WG_OK) return fail_pass(p, s);
        s = copy_shared(p);
        if (s != WG_OK) return s;
    }
    const wgi_segment all = total_of(p);
    wgi_stretch *stretch = NULL;
    s = room_of(p, &all, slots, &stretch);
    if (s == WG_OK) {
        s = wg_threads_run(p->threads, p->segments, move, p);
        if (s != WG_OK) s = fail_pass(p, s);
    }
    if (s != WG_OK) return s;
    if (stretch != NULL) add_stretch(p, &all, stretch);
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
