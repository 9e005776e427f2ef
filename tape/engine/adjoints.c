/* SPDX-License-Identifier: MIT */
/* The memory of adjoints: made, cleared, and marked where something other than 0 may stand.
 *
 * Clearing costs what the sweep before has set: what is dirty, and what is marked. */
#include "tape.h"

#include <string.h>

enum {
    /* slots of a recording that is worth marks: to go through a shorter one takes
     * microseconds */
    WORTH_MARKS = 4096,
    LEAST_ROOM = 4096, /* bytes of marks */
    /* one record is swept with marks for so many slots; where that was of no use the time
     * before, for so many; and a few more */
    PART = 16,
    DENSE_PART = 1024,
    FEW = 64
};

static uint64_t *words(const wgi_core *c) { return (uint64_t *)(void *)c->adjoints.base; }

/* Marks count from WGI_PAGE_SLOTS - 1, slot 0. */
static uint64_t place_of(uint64_t slot) { return slot + WGI_PAGE_SLOTS - 1; }
static uint64_t word_of(uint64_t slot) { return place_of(slot) / WGI_PAGE_SLOTS; }
static unsigned bit_of(uint64_t slot) {
    return (unsigned)(place_of(slot) % WGI_PAGE_SLOTS / WGI_MARK_SLOTS);
}
static uint64_t slot_of(uint64_t word, unsigned bit) {
    return word * WGI_PAGE_SLOTS + bit * WGI_MARK_SLOTS - (WGI_PAGE_SLOTS - 1);
}

/* ---- room ---- */

/* Bytes of marks for so many slots: they seldom become more, for then the adjoints move. */
static size_t marks_room(const wgi_core *c, uint64_t slots) {
    size_t room = c->marks.room;
    if (slots < WORTH_MARKS) return room;
    if (room == 0) room = LEAST_ROOM;
    while (room / sizeof(uint64_t) <= word_of(slots)) room *= 2;
    return room;
}

/* After the extent was asked for more, with `room` for marks: what is still known of it? */
static void look_again(wgi_core *c, size_t room) {
    wgi_marks *const m = &c->marks;
    const size_t start = room + WGI_ADJOINT_START;
    const int own = c->buffer == NULL, fresh = own && wgi_memory_is_zero(&c->memory);
    /* a range of a buffer may have been given and taken again */
    const int moved =
        c->adjoints.base != m->base || (!own && c->adjoints.committed != m->committed);
    if (moved || room != m->room) {
        c->swept = 0; /* what was there is there no more */
        m->dirty = m->words = 0;
        m->known = moved && fresh ? c->adjoints.committed - start : 0;
        m->in_use = 0;
        memset(c->adjoints.base, 0, room);
    } else if (fresh && m->known + start >= m->committed) {
        m->known = c->adjoints.committed - start; /* what has come to it was never used */
    }
    m->room = room;
    m->base = c->adjoints.base;
    m->committed = c->adjoints.committed;
}

/* It may have been given up since, or the end of it. */
static void look_before(wgi_core *c) {
    wgi_marks *const m = &c->marks;
    if (c->adjoints.base == NULL) m->base = NULL, m->room = m->committed = 0;
    if (c->adjoints.committed >= m->committed) return;
    const size_t left = c->adjoints.committed - m->room - WGI_ADJOINT_START;
    if (m->known > left) m->known = left;
    if (m->dirty > left) m->dirty = left;
    m->committed = c->adjoints.committed;
}

static wg_status need(wgi_core *c, size_t bytes, size_t room) {
    wgi_marks *const m = &c->marks;
    const int starved = c->starved;
    look_before(c);
    wg_status s = wgi_extent_need(c, &c->adjoints, bytes + room, 0);
    if (s != WG_OK && room != m->room) { /* then without more marks, or any */
        c->starved = starved;
        look_before(c);
        room = m->room;
        s = wgi_extent_need(c, &c->adjoints, bytes + room, 0);
    }
    if (s == WG_OK) look_again(c, room);
    return s;
}

wg_status wgi_adjoints_need(wgi_core *c, uint64_t slots, size_t lanes) {
    wgi_marks *const m = &c->marks;
    const size_t bytes = WGI_ADJOINT_START + (size_t)slots * lanes * sizeof(double);
    const size_t room = marks_room(c, slots);
    if (c->adjoints.base == m->base && c->adjoints.committed == m->committed &&
        room == m->room && bytes + room <= m->committed)
        return wgi_extent_need(c, &c->adjoints, bytes + room, 0); /* the extent stays */
    return need(c, bytes, room);
}

/* ---- clearing ---- */

/* Clears slots [from, to), as far as something is known of them. */
static void clear_slots(wgi_core *c, uint64_t from, uint64_t to) {
    const wgi_marks *const m = &c->marks;
    const size_t row = m->lanes * sizeof(double);
    const size_t first = (size_t)from * row;
    size_t last = (size_t)to * row;
    if (last > m->known) last = m->known;
    if (first < last) memset((char *)wgi_adjoints(c) + first, 0, last - first);
}

static void clear_marked(wgi_core *c) {
    uint64_t *const w = words(c);
    for (size_t i = 1; i < c->marks.words; i++) {
        if (w[i] == ~(uint64_t)0) clear_slots(c, slot_of(i, 0), slot_of(i + 1, 0));
        else
            for (uint64_t left = w[i]; left != 0; left &= left - 1) {
                const uint64_t slot = slot_of(i, (unsigned)__builtin_ctzll(left));
                clear_slots(c, slot, slot + WGI_MARK_SLOTS);
            }
        w[i] = 0;
    }
    w[0] = 0;
}

typedef struct range {
    char *from;
    size_t bytes;
} range;

enum { CLEARED_AT_ONCE = 1 << 18 };

static wg_status clear_piece(void *context, size_t k) {
    const range *const r = context;
    const size_t first = k * CLEARED_AT_ONCE, left = r->bytes - first;
    memset(r->from + first, 0, left < CLEARED_AT_ONCE ? left : CLEARED_AT_ONCE);
    return WG_OK;
}

/* Of a recording with parallel loops in the threads of the last one, if it is long. */
static void clear_range(const wgi_core *c, char *from, size_t bytes) {
    struct wg_threads *const threads = c->stretch != NULL ? c->stretch->threads : NULL;
    range r = {from, bytes};
    if (threads == NULL || bytes < 4 * CLEARED_AT_ONCE) memset(from, 0, bytes);
    else
        (void)wgi_threads_run_near(threads, (bytes + CLEARED_AT_ONCE - 1) / CLEARED_AT_ONCE,
                                   clear_piece, &r);
}

static void clear(wgi_core *c, uint64_t slots, size_t lanes) {
    wgi_marks *const m = &c->marks;
    const size_t bytes = (size_t)slots * lanes * sizeof(double);
    char *const adjoints = (char *)wgi_adjoints(c);
    m->in_use = slots >= WORTH_MARKS && m->room / sizeof(uint64_t) > word_of(slots);
    if (!m->in_use) {
        memset(adjoints, 0, bytes);
        if (m->dirty < bytes) m->dirty = bytes;
        if (m->known < bytes) m->known = bytes;
        return;
    }
    clear_marked(c);
    clear_range(c, adjoints, m->dirty);
    if (m->known < bytes) {
        memset(adjoints + m->known, 0, bytes - m->known);
        m->known = bytes;
    }
    memset(adjoints, 0, lanes * sizeof(double)); /* of slot 0, which a failed sweep has left */
    m->dirty = 0;
    if (m->runs != 0) m->dense = m->left_out <= m->runs / 8;
    m->runs = m->left_out = 0;
    m->left = slots / (m->dense ? DENSE_PART : PART) + FEW;
    m->lanes = lanes;
    m->words = word_of(slots) + 1;
}

wg_status wgi_adjoints_open(wgi_core *c, uint64_t slots, size_t lanes, int by_lanes) {
    c->swept = c->seeded = 0;
    const wg_status s = wgi_adjoints_need(c, slots, lanes);
    if (s != WG_OK) return s;
    clear(c, slots, lanes);
    c->swept = slots;
    c->lanes = c->asked = lanes;
    c->traced = (c->flags & WG_TRACE) != 0 && !by_lanes;
    return WG_OK;
}

void wgi_adjoints_forget(wgi_core *c) {
    c->marks.known = c->marks.dirty = 0;
    c->marks.in_use = 0;
}

/* ---- marks ---- */

void wgi_adjoints_mark(wgi_core *c, uint32_t slot, uint64_t n) {
    if (!c->marks.in_use || n == 0) return;
    uint64_t *const w = words(c);
    const uint64_t end = slot + n - 1, from = word_of(slot), to = word_of(end);
    const uint64_t first = ~(uint64_t)0 << bit_of(slot),
                   last = ~(uint64_t)0 >> (63 - bit_of(end));
    if (from == to) {
        w[from] |= first & last;
        return;
    }
    w[from] |= first;
    memset(&w[from + 1], 0xff, (size_t)(to - from - 1) * sizeof *w);
    w[to] |= last;
}

uint32_t wgi_adjoints_last(const wgi_core *c, uint64_t last) {
    const uint64_t *const w = words(c);
    uint64_t i = word_of(last), found = w[i] & ~(uint64_t)0 >> (63 - bit_of(last));
    while (found == 0 && i > 1) found = w[--i];
    if (found == 0 || i == 0) return 0;
    const uint64_t slot =
        slot_of(i, 63 - (unsigned)__builtin_clzll(found)) + WGI_MARK_SLOTS - 1;
    return (uint32_t)(slot < last ? slot : last);
}

uint64_t wgi_adjoints_first(const wgi_core *c) {
    const uint64_t *const w = words(c);
    if (!c->marks.in_use || c->marks.dirty != 0) return 0;
    for (size_t i = 1; i < c->marks.words; i++)
        if (w[i] != 0) return slot_of(i, (unsigned)__builtin_ctzll(w[i]));
    return slot_of(c->marks.words, 0);
}

void wgi_adjoints_unmark(wgi_core *c, uint64_t last) {
    wgi_marks *const m = &c->marks;
    const size_t bytes = (size_t)(last + 1) * m->lanes * sizeof(double);
    if (m->dirty < bytes) m->dirty = bytes;
    memset(words(c), 0, (size_t)word_of(last) * sizeof(uint64_t));
}

int wgi_adjoints_zero(const double *x, size_t n) {
    enum { AT_ONCE = 32 };
    uint64_t any = 0, bits;
    if (n != 0 && x[n - 1] != 0) return 0;
    for (; n % AT_ONCE != 0; any |= bits) memcpy(&bits, &x[--n], sizeof bits);
    while (n != 0 && any == 0) {
        n -= AT_ONCE;
        for (size_t i = 0; i < AT_ONCE; i++) {
            memcpy(&bits, &x[n + i], sizeof bits);
            any |= bits;
        }
    }
    return any == 0;
}
