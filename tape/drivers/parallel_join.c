/* SPDX-License-Identifier: MIT */
/* The end of a parallel loop: what segments have recorded becomes a part of the tape.
 *
 *   tape     [before][copies of segment 1, 2, ...][segment 0][segment 1] ...
 *
 * Two passes over the records of a segment, each in whatever thread takes it. The first one
 * notes which slots from before it uses. The first segment that uses one owns it, and adds to
 * its adjoint. Others would do so at the same time, and in an order of chance: they get copies,
 * statements before the loop, which the second pass puts for it while it gives all slots
 * their places on the tape. */
#include "parallel.h"

static const char call[] = "wg_parallel_join";

/* ---- pages ---- */

static inline uint32_t page_of(uint32_t slot) { return slot / WGI_PAGE_SLOTS; }

/* Where in an index the number of a page leads; pages side by side are used together. */
static inline wgi_slot_page *place_of(const wgi_slot_pages *p, uint32_t number) {
    uint32_t i = number & p->mask;
    while (p->index[i].number != number && p->index[i].at != 0) i = (i + 1) & p->mask;
    return &p->index[i];
}

static void enter(const wgi_slot_pages *p, uint32_t number, uint32_t at) {
    *place_of(p, number) = (wgi_slot_page){number, at};
}

/* Room for so many pages, of which an index is at most a quarter full. */
static wg_status room_for(wgi_slot_pages *p, uint32_t count) {
    wgi_core *const c = p->of;
    wg_status s =
        wgi_region_need(c, &c->index[0], count * sizeof *p->used, p->count * sizeof *p->used);
    if (s == WG_OK)
        s = wgi_region_need(c, &c->index[1], count * sizeof *p->page,
                            p->count * sizeof *p->page);
    if (s != WG_OK) return s;
    p->used = (unsigned char(*)[WGI_PAGE_SLOTS])(void *)c->index[0].base;
    p->page = (wgi_slot_page *)(void *)c->index[1].base;
    if (p->index != NULL && count <= (p->mask + 1) / 4) return WG_OK;
    uint32_t size = 64;
    while (size / 8 < count) size *= 2;
    s = wgi_region_need(c, &c->index[2], size * sizeof *p->index, 0);
    if (s != WG_OK) return s;
    p->index = (wgi_slot_page *)(void *)c->index[2].base;
    p->mask = size - 1;
    memset(p->index, 0, size * sizeof *p->index);
    for (uint32_t i = 1; i < p->count; i++) enter(p, p->page[i].number, i);
    return WG_OK;
}

/* No page, but room for the first one. */
static wg_status open_pages(wgi_slot_pages *p, wgi_core *c) {
    *p = (wgi_slot_pages){.of = c};
    const wg_status s = room_for(p, 1);
    if (s != WG_OK) return s;
    p->count = 1;
    return WG_OK;
}

/* The page of a number, which becomes one where it is none. */
static wg_status touch(wgi_slot_pages *p, uint32_t number, uint32_t *at) {
    *at = place_of(p, number)->at;
    if (*at != 0) return WG_OK;
    const wg_status s = room_for(p, p->count + 1);
    if (s != WG_OK) return s;
    *at = p->count++;
    enter(p, number, *at);
    p->page[*at] = (wgi_slot_page){number, 0};
    memset(p->used[*at], 0, sizeof *p->used);
    return WG_OK;
}

/* ---- the first pass ---- */

/* Notes an operand that is none of the segment's; 0: it is on no page, or strange. */
static inline int note(const wgi_slot_pages *p, uint32_t before, uint32_t slot) {
    if (slot >= before) return 0;
    const uint32_t at = place_of(p, page_of(slot))->at;
    if (at == 0) return 0;
    p->used[at][slot % WGI_PAGE_SLOTS] = 1;
    return 1;
}

static wg_status note_first(const wg_parallel *p, wgi_segment *s, uint32_t slot) {
    if (slot >= p->before) {
        s->strange = slot;
        return WG_ESTALE;
    }
    uint32_t at;
    return touch(&s->pages, page_of(slot), &at);
}

/* Records are read this far ahead of their turn: the hardware would stop at the end of a page.
 * To prefetch an address that is not ours does no harm. */
enum { AHEAD = 4160 };
static inline void ahead(const wgi_record *r) {
    __builtin_prefetch((const void *)((uintptr_t)r + AHEAD), 0, 2);
}

static wg_status scan_chunk(const wg_parallel *p, wgi_segment *s, const wgi_record *r,
                            const wgi_record *top) {
    const uint32_t first = s->first, count = s->count, before = p->before;
    while (r != top) {
        const wgi_slot_pages pages = s->pages; /* in registers */
        uint32_t new = 0;
        for (; r != top; r++) {
            ahead(r);
            if (r->in0 - first >= count && !note(&pages, before, new = r->in0)) break;
            if (r->in1 - first >= count && r->in1 != 0 && !note(&pages, before, new = r->in1))
                break;
        }
        const wg_status status = r != top ? note_first(p, s, new) : WG_OK;
        if (status != WG_OK) return status;
    }
    return WG_OK;
}

/* Each chunk of a segment's records. */
static const wgi_record *chunk_of(const wgi_core *c, int k, const wgi_record **top) {
    *top = k == c->current ? c->head.top : c->chunk[k].top;
    return c->chunk[k].base;
}

void wgi_parallel_open(wg_parallel *p) {
    for (size_t k = 0; k < p->segments; k++) {
        wgi_segment *const segment = &p->segment[k];
        segment->pages = (wgi_slot_pages){.of = segment->c};
        segment->scanned = 0;
        segment->status = WG_OK;
        segment->strange = segment->copies = 0;
    }
}

wg_status wgi_parallel_scan(const wg_parallel *p, wgi_segment *segment) {
    const wgi_core *const c = segment->c;
    wg_status s = segment->status;
    segment->count = c->head.slots - segment->first;
    if (c->chunks == 0 || wgi_record_count(c) == 0) return s;
    if (s == WG_OK && segment->pages.index == NULL) s = open_pages(&segment->pages, segment->c);
    for (int i = 0; i <= c->current && s == WG_OK; i++) {
        const wgi_record *top, *const base = chunk_of(c, i, &top);
        const uint64_t first = c->chunk[i].first, end = first + (uint64_t)(top - base);
        if (segment->scanned >= end) continue;
        s = scan_chunk(p, segment, base + (segment->scanned - first), top);
        segment->scanned = end;
    }
    segment->status = s;
    return s;
}

static wg_status scan(void *context, size_t k) {
    wg_parallel *const p = context;
    return wgi_parallel_scan(p, &p->segment[k]);
}

/* ---- what is shared ---- */

/* Of what a segment uses, the part that one before it uses, too, is shared, and is all that
 * stays marked as used; of each page that has some there is a map. */
static wg_status share(wgi_segment *segment, wgi_slot_pages *all) {
    wgi_core *const c = segment->c;
    uint32_t maps = 0;
    segment->copies = 0;
    for (uint32_t i = 1; i < segment->pages.count; i++) {
        wgi_slot_page *const page = &segment->pages.page[i];
        uint32_t at, copies = 0;
        const wg_status s = touch(all, page->number, &at);
        if (s != WG_OK) return s;
        for (size_t k = 0; k < WGI_PAGE_SLOTS / 8; k++) {
            uint64_t mine, before, shared;
            memcpy(&mine, &segment->pages.used[i][8 * k], sizeof mine);
            memcpy(&before, &all->used[at][8 * k], sizeof before);
            shared = mine & before;
            before |= mine;
            memcpy(&all->used[at][8 * k], &before, sizeof before);
            memcpy(&segment->pages.used[i][8 * k], &shared, sizeof shared);
            copies += (uint32_t)(shared * 0x0101010101010101u >> 56);
        }
        page->at = copies != 0 ? ++maps : 0;
        segment->copies += copies;
    }
    const wg_status s = wgi_region_need(c, &c->index[3], maps * sizeof *segment->map, 0);
    segment->map = (uint32_t(*)[WGI_PAGE_SLOTS])(void *)c->index[3].base;
    return s;
}

static wg_status share_all(wg_parallel *p) {
    wgi_slot_pages all;
    wg_status s = open_pages(&all, p->of.c);
    for (size_t k = 0; k < p->segments && s == WG_OK; k++) s = share(&p->segment[k], &all);
    if (s == WG_OK) return s;
    return wgi_fail(p->of.c, s, "%s: no room for the variables of %zu segments", call,
                    p->segments);
}

/* ---- the second pass ---- */

/* A variable from before times 1, in a slot of its own. */
enum { COPY_WORDS = 4, COPY_BITS = 4 + WGI_WIDTH(WGI_OP_mul) };

static void keep_copy(wgi_core *c, uint32_t slot, uint32_t to, uint64_t *word) {
    static const double one = 1;
    word[0] = WGI_CODE_HEAD(to, WGI_ENTRY_STATEMENT, COPY_BITS, 1, 1);
    word[1] = 1 << 2 | WGI_CODE(WGI_OP_mul) << 4; /* an operand, a number, and what is done */
    word[2] = slot;
    memcpy(&word[3], &one, sizeof one);
    wgi_values(c)[to] = wgi_values(c)[slot];
}

static void make_copies(wg_parallel *p, wgi_segment *segment) {
    if (segment->copies == 0) return;
    wgi_core *const c = p->of.c;
    const int keeps = (c->flags & WG_KEEP_CODE) != 0;
    const uint32_t before = segment->copy - p->before;
    wgi_record *record = c->head.top + before;
    uint64_t *word =
        keeps ? wgi_code_words(c) + c->head.code_words + before * COPY_WORDS : NULL;
    uint32_t to = segment->copy;
    for (uint32_t i = 1; i < segment->pages.count; i++) {
        const wgi_slot_page *const page = &segment->pages.page[i];
        if (page->at == 0) continue;
        const unsigned char *const shared = segment->pages.used[i];
        uint32_t *const map = segment->map[page->at - 1];
        for (uint32_t k = 0, slot = page->number * WGI_PAGE_SLOTS; k < WGI_PAGE_SLOTS;
             k++, slot++) {
            map[k] = slot;
            if (!shared[k]) continue;
            map[k] = to;
            *record++ = (wgi_record){.in0 = slot, .out = to, .jac0 = 1};
            if (keeps) keep_copy(c, slot, to, word);
            if (keeps) word += COPY_WORDS;
            to++;
        }
    }
    /* from now on the index is of the pages that have maps, and leads there */
    const wgi_slot_pages *const pages = &segment->pages;
    memset(pages->index, 0, (pages->mask + 1) * sizeof *pages->index);
    for (uint32_t i = 1; i < pages->count; i++)
        if (pages->page[i].at != 0) enter(pages, pages->page[i].number, pages->page[i].at);
}

/* The slot on the tape of an operand. */
static inline uint32_t moved(const wgi_segment *segment, uint32_t slot) {
    if (slot - segment->first < segment->count) return slot - segment->first + segment->to;
    if (segment->copies == 0) return slot;
    const uint32_t map = place_of(&segment->pages, page_of(slot))->at;
    return map != 0 ? segment->map[map - 1][slot % WGI_PAGE_SLOTS] : slot;
}

static void move_records(const wgi_segment *segment, wgi_record *to) {
    const wgi_core *const c = segment->c;
    const wgi_segment s = *segment; /* in registers */
    const uint32_t shift = s.to - s.first;
    for (int i = 0; c->chunks != 0 && i <= c->current; i++) {
        const wgi_record *top, *r = chunk_of(c, i, &top);
        for (; r != top; r++, to++) {
            ahead(r);
            WGI_AHEAD(to);
            *to = (wgi_record){
                moved(&s, r->in0), r->out + shift, r->in1 != 0 ? moved(&s, r->in1) : 0, 0,
                r->jac0,           r->jac1};
        }
    }
}

static void move_code(const wgi_segment *segment, uint64_t *to) {
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
        for (size_t i = 0; i < e.operands; i++)
            slot[i] = e.slot[i] != 0 ? moved(segment, e.slot[i]) : 0;
    }
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
    move_rows(c, segment);
    move_places(segment, wgi_places(c) + c->place_count + segment->places);
    if (c->width != 0) return WG_OK;
    make_copies(p, segment);
    move_records(segment, c->head.top + segment->records);
    if (c->flags & WG_KEEP_CODE)
        move_code(segment, wgi_code_words(c) + c->head.code_words + segment->words);
    return WG_OK;
}

/* ---- room ---- */

/* What all segments have together, copies first; where the parts of each go. */
static wgi_segment total_of(wg_parallel *p, uint64_t *slots) {
    wgi_segment all = {0};
    const int keeps = p->of.c->width == 0 && (p->of.c->flags & WG_KEEP_CODE) != 0;
    for (size_t k = 0; k < p->segments; k++) {
        p->segment[k].copy = p->before + all.copies;
        all.copies += p->segment[k].copies;
    }
    all.records = all.copies;
    all.words = keeps ? (uint64_t)all.copies * COPY_WORDS : 0;
    *slots = all.copies;
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
    wgi_core *const c = p->of.c;
    s->prev = (wgi_stretch *)(uintptr_t)c->stretch;
    s->threads = p->threads;
    s->runs = p->segments;
    const uint64_t start = wgi_record_count(c);
    s->first = start + p->segment[0].records;
    for (size_t k = 0; k < s->runs; k++)
        s->end[k] = start + (k + 1 < s->runs ? p->segment[k + 1].records : all->records);
    c->stretch = s;
}

/* ---- the join ---- */

/* The failure of a pass in threads, in the words of the segment that it is of. */
static wg_status fail_pass(wg_parallel *p, wg_status s) {
    for (size_t k = 0; k < p->segments; k++)
        if (p->segment[k].strange != 0)
            return wgi_fail(
                p->of.c, s,
                "%s: segment %zu has used slot %u, a variable of another segment, or of an "
                "earlier loop and not adopted",
                call, k, p->segment[k].strange);
    return wgi_fail(p->of.c, s, "%s: no room for what %zu segments have used", call,
                    p->segments);
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
    if (c->width == 0) {
        s = wgi_threads_run_near(p->threads, p->segments, scan, p);
        if (s != WG_OK) return fail_pass(p, s);
        s = share_all(p);
        if (s != WG_OK) return s;
    }
    const wgi_segment all = total_of(p, &slots);
    wgi_stretch *stretch = NULL;
    s = room_of(p, &all, slots, &stretch);
    if (s == WG_OK) s = wgi_threads_run_near(p->threads, p->segments, move, p);
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
