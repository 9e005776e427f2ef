/* SPDX-License-Identifier: MIT */
/* The life of a tape: made, reset, rewound, freed; stamps, by which variables of before are
 * told from those of now. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "arena.h"
#include "private_rows.h"

#include <string.h>
#include <time.h>

/* ---- stamps ---- */

static uint64_t mix(uint64_t z) { /* the finaliser of splitmix64 */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number that distinguishes tapes that have the same address one after the other. */
static uint64_t moment(void) {
    struct timespec now = {0, 0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t new_stamp(wgi_core *c) {
    const uint32_t stamp =
        (uint32_t)(mix(c->identity + ++c->stamps * 0x9e3779b97f4a7c15u) >> 32);
    return stamp != 0 ? stamp : 1;
}

/* ---- branches ---- */

static const wgi_branch *branches(const wgi_core *c) {
    return c->branches.base != NULL ? (const wgi_branch *)(const void *)c->branches.base
                                    : c->few;
}

/* Does a branch start before a position? Along a recording none of the counts decreases. */
static int starts_before(const wgi_branch *b, const wg_mark *m) {
    if (b->slot != m->slot) return b->slot < m->slot;
    if (b->code != m->code) return b->code < m->code;
    if (b->record != m->record) return b->record < m->record;
    return b->payload < m->payload;
}

/* The last branch that starts before a position, or the first of all. */
static size_t branch_before(const wgi_core *c, const wg_mark *m) {
    const wgi_branch *const b = branches(c);
    size_t low = 0, high = c->branch_count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (starts_before(&b[middle], m)) low = middle;
        else high = middle;
    }
    return low;
}

uint32_t wgi_stamp_of(const wgi_core *c, uint32_t slot) {
    if (slot < c->origin) c = c->outer;
    const wg_mark behind = {.slot = slot, .code = UINT64_MAX};
    return branches(c)[branch_before(c, &behind)].stamp;
}

int wgi_stamp_alive(const wgi_core *c, uint32_t stamp) {
    if (branches(c)[0].stamp == stamp) return 1;
    for (size_t n = c->branch_count; n-- > 1;)
        if (branches(c)[n].stamp == stamp) return 1;
    return 0;
}

/* Room for one more. */
static wg_status branch_room(wgi_core *c) {
    const size_t used = c->branch_count * sizeof(wgi_branch);
    if (c->branches.base == NULL && c->branch_count < WGI_FEW_BRANCHES) return WG_OK;
    const int first = c->branches.base == NULL;
    const wg_status s = wgi_extent_need(c, &c->branches, used + sizeof(wgi_branch), used);
    if (s == WG_OK && first) memcpy(c->branches.base, c->few, used);
    return s;
}

/* What is recorded from here on belongs to branch number n, the last one. */
static void branch_start(wgi_core *c, size_t n) {
    const uint32_t stamp = new_stamp(c);
    wgi_branch *const b =
        c->branches.base != NULL ? (wgi_branch *)(void *)c->branches.base : c->few;
    const uint64_t records = c->chunks == 0 ? 0 : wgi_record_count(c);
    b[n] = (wgi_branch){c->head.code_words, records, wgi_payload_position(c), c->head.slots,
                        stamp};
    c->branch_count = n + 1;
    if (n == 0 || (c->flags & WG_CHECKED) != 0) c->head.stamp = stamp;
}

static void new_generation(wgi_core *c) {
    c->generation++;
    branch_start(c, 0);
}

/* ---- life ---- */

static wg_status tape_new(const wg_options *opt, wgi_core *lender, wg_tape **out) {
    *out = NULL;
    wgi_core start;
    memset(&start, 0, sizeof start);
    start.lender = lender;
    size_t budget = 0;
    if (opt != NULL) {
        const unsigned known = WG_KEEP_CODE | WG_KEEP_PLACES | WG_TRACE | WG_CHECKED;
        if ((opt->flags & ~known) != 0) return WG_EARG;
        start.flags = opt->flags;
        start.loops_over = opt->loops_over;
        start.memory = opt->memory;
        start.reserve = opt->reserve;
        start.max_slots = opt->max_slots;
        if (opt->buffer != NULL) wgi_buffer_open(&start, opt->buffer, opt->buffer_bytes);
        else budget = opt->budget;
    }
    start.memory = wgi_memory_of(&start.memory);
    if (start.reserve == 0) start.reserve = wgi_memory_range();
    if (start.reserve < WGI_SMALLEST_RANGE) start.reserve = WGI_SMALLEST_RANGE;
    if (start.max_slots == 0 || start.max_slots >= UINT32_MAX) start.max_slots = UINT32_MAX - 1;

    /* what it may take is that of its lender, unless that has a buffer and takes nothing */
    const int lent = lender != NULL && lender->buffer == NULL;
    start.account = lent ? lender->account : &start.own;
    start.own.budget = budget;

    /* the tape itself is the first thing in its own memory */
    const size_t self = wgi_round_up(sizeof(wgi_core), WGI_PAGE);
    wgi_extent home = {NULL, 0, 0, 0, 0};
    wg_status s = wgi_extent_open(&start, &home, 0, self, self);
    if (s == WG_OK && (s = wgi_extent_commit(&start, &home, self)) != WG_OK)
        wgi_extent_free(&start, &home);
    if (s != WG_OK) return s;
    wgi_core *c = (wgi_core *)(void *)home.base;
    *c = start;
    if (lent) {
        wgi_account_join(c->account);
    } else {
        c->account = &c->own;
        wgi_account_open(&c->own, &c->memory, c->buffer == NULL ? home.base : NULL, self);
    }
    /* mixed twice, since addresses and moments of two tapes may differ in the same bits */
    c->identity = mix(mix((uint64_t)(uintptr_t)c) ^ moment());
    c->head.slots = 1;
    c->owner = pthread_self();
    new_generation(c);
    wgi_limit_set(c);
    *out = &c->head;
    return WG_OK;
}

wg_tape *wg_tape_new(const wg_options *opt) {
    wg_tape *t;
    (void)tape_new(opt, NULL, &t);
    return t;
}

wg_status wgi_tape_beside(wgi_core *c, const wg_options *o, wg_tape **out) {
    wg_options with = *o;
    with.memory = c->memory;
    return tape_new(&with, c, out);
}

wg_status wgi_beside_open(wgi_core *c, unsigned flags, wg_tape **out) {
    wg_status s = WG_OK;
    if (c->beside == NULL) {
        wg_options options;
        wg_tape *t = NULL;
        memset(&options, 0, sizeof options);
        options.flags = flags;
        s = wgi_tape_beside(c, &options, &t);
        c->beside = t != NULL ? wgi_core_of(t) : NULL;
    } else {
        c->beside->flags = flags;
        c->beside->width = 0;
        wg_tape_reset(&c->beside->head);
    }
    c->beside_works = s == WG_OK;
    *out = s == WG_OK ? &c->beside->head : NULL;
    return s;
}

int wgi_guest(wgi_core *c, wgi_core *guest) {
    for (int k = 0; k < c->guests; k++)
        if (c->guest[k] == guest) return k;
    if (guest->host != NULL || c->guests == WGI_GUESTS) return -1;
    guest->host = c;
    c->guest[c->guests] = guest;
    c->guest_since[c->guests] = wgi_payload_position(c);
    return c->guests++;
}

/* What worked on the guests that came there or later is gone: they are no guests any more. */
static void leave_guests(wgi_core *c, uint64_t payload) {
    for (; c->guests > 0 && c->guest_since[c->guests - 1] >= payload; c->guests--)
        if (c->guest[c->guests - 1] != NULL) c->guest[c->guests - 1]->host = NULL;
}

void wgi_link_to(wgi_link *link, wgi_core *c) {
    if (link->c != NULL) {
        *link->from = link->next;
        if (link->next != NULL) link->next->from = link->from;
    }
    link->c = c;
    if (c == NULL) return;
    link->next = c->links;
    link->from = &c->links;
    if (link->next != NULL) link->next->from = &link->next;
    c->links = link;
}

void wgi_segments_revoke(wgi_core *outer) {
    for (wgi_core *s = outer->first_placed; s != NULL; s = s->next_placed)
        (void)wgi_fail(s, WG_EMODE, "the tape of the loop was reset, rewound or freed");
    outer->first_placed = NULL;
}

void wg_tape_free(wg_tape *t) {
    if (t == NULL || wgi_core_of(t)->outer != NULL) return;
    wgi_core *c = wgi_core_of(t);
    wgi_segments_revoke(c);
    leave_guests(c, 0);
    for (wgi_link *k = c->links; k != NULL; k = k->next) k->c = NULL;
    c->beside_works = 0;
    (void)wgi_give_up_beside(c);
    (void)wgi_private_rows_free(c);
    (void)wgi_derived_drop(c);
    if (c->turns != NULL) c->turns->drop(c->turns);
    for (int k = 0; c->host != NULL && k < c->host->guests; k++)
        if (c->host->guest[k] == c) c->host->guest[k] = NULL;
    wgi_extent *const all[] = {&c->code,     &c->values,   &c->adjoints, &c->tangents,
                               &c->places,   &c->labels,   &c->second,   &c->scratch,
                               &c->drive,    &c->branches, &c->index[0], &c->index[1],
                               &c->index[2], &c->index[3]};
    for (int i = 0; i < c->chunks; i++) wgi_extent_free(c, &c->chunk[i].memory);
    for (int i = 0; i < c->payloads; i++) wgi_extent_free(c, &c->payload[i]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wgi_extent_free(c, all[i]);
    for (int k = 0; k < WGI_LISTS; k++) wgi_extent_free(c, &c->list[k]);
    c->head.stamp = 0; /* handles of a freed tape match nothing while the page is mapped */
    if (c->account == &c->own) {
        if (c->buffer == NULL) wgi_account_leave(&c->own);
        return;
    }
    const wg_memory memory = c->memory;
    wgi_account *const account = c->account;
    memory.release(memory.ctx, c, wgi_round_up(sizeof(wgi_core), WGI_PAGE));
    wgi_account_give(account, wgi_round_up(sizeof(wgi_core), WGI_PAGE));
    wgi_account_leave(account);
}

/* Updates the statistics, before something is forgotten. */
static void note_marks(wgi_core *c) {
    for (int k = 0; k <= c->payload_current && k < c->payloads; k++) {
        wgi_extent *const r = &c->payload[k];
        const size_t used =
            k < c->payload_current ? r->committed : (size_t)(c->head.payload_top - r->base);
        if (used > r->wanted) r->wanted = used;
    }
    const uint64_t records = c->chunks == 0 ? 0 : wgi_record_count(c);
    if (records > c->max_record_count) c->max_record_count = records;
    if (c->head.slots - 1u > c->max_slot_count) c->max_slot_count = c->head.slots - 1u;
}

/* Of an empty tape: as if it were new. */
static void give_all_back(wgi_core *c) {
    (void)wgi_give_up_idle(c, NULL);
    while (c->chunks > 0) wgi_extent_free(c, &c->chunk[--c->chunks].memory);
    while (c->payloads > 0) wgi_extent_free(c, &c->payload[--c->payloads]);
    c->head.top = c->chunk[0].base = NULL;
    c->head.payload_top = c->head.payload_end = NULL;
    c->payload_before = 0;
    c->starved = 0;
}

wg_status wg_tape_own(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    wgi_core_of(t)->owner = pthread_self();
    return WG_OK;
}

void wg_tape_reset(wg_tape *t) {
    if (t == NULL) return;
    wgi_core *c = wgi_core_of(t);
    if (c->outer != NULL) return;
    if (wgi_is_telling(c) || wgi_check_thread(c, "wg_tape_reset") != WG_OK) return;
    if (c->held != 0) {
        c->held = 2;
        return;
    }
    wgi_segments_revoke(c);
    note_marks(c);
    leave_guests(c, 0);
    (void)wgi_derived_drop(c);
    c->current = 0;
    c->head.top = c->chunk[0].base;
    c->head.slots = 1;
    c->inputs = 0;
    c->head.last_block = NULL;
    c->always = 0;
    c->stretch = NULL;
    c->loops = 0;
    c->ordered = 0;
    c->loop_slots = 0;
    c->lane_bytes = c->work_bytes = 0;
    if (c->payloads != 0) wgi_payload_at(c, 0, c->payload[0].base);
    for (int k = 0; k < c->payloads; k++) c->payload[k].wanted = 0;
    c->head.code_words = c->place_count = c->label_count = 0;
    c->pauses = 0;
    c->passive = 0;
    c->closed = 0;
    c->half_replayed = 0;
    c->swept = 0;
    c->second_words = 0;
    c->scratch_used = 0;
    c->lists_busy = 0;
    c->status = WG_OK;
    c->message[0] = 0;
    c->resets++;
    new_generation(c);
    if (c->starved || wgi_buffer_is_crowded(c)) give_all_back(c);
    wgi_limit_set(c);
}

/* ---- positions ---- */

wg_mark wg_tape_mark(const wg_tape *t) {
    wg_mark m;
    memset(&m, 0, sizeof m);
    if (t == NULL) return m;
    const wgi_core *c = wgi_core_of_const(t);
    m.record = c->chunks == 0 ? 0 : wgi_record_count(c);
    m.code = c->head.code_words;
    m.places = c->place_count;
    m.payload = wgi_payload_position(c);
    m.block = (uint64_t)(uintptr_t)c->head.last_block;
    m.slot = c->head.slots;
    m.stamp = branches(c)[branch_before(c, &m)].stamp;
    m.inputs = c->inputs;
    m.failed = c->status != WG_OK && !c->closed;
    return m;
}

int wgi_mark_alive(const wgi_core *c, wg_mark m) {
    return m.slot <= c->head.slots && m.code <= c->head.code_words &&
           m.record <= (c->chunks == 0 ? 0 : wgi_record_count(c)) &&
           m.payload <= wgi_payload_position(c) &&
           m.stamp == branches(c)[branch_before(c, &m)].stamp;
}

wg_status wg_tape_rewind(wg_tape *t, wg_mark m) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (wgi_check_thread(c, "wg_tape_rewind") != WG_OK) return WG_ETHREAD;
    if (wgi_is_telling(c)) return WG_EMODE;
    if (wgi_refuse_segment(c, "wg_tape_rewind") != WG_OK) return WG_EMODE;
    if (c->held != 0) {
        c->held = 2;
        return WG_EMODE;
    }
    if (c->half_replayed || c->status == WG_ETHREAD)
        return c->status; /* only a reset makes it whole */
    if (!wgi_mark_alive(c, m))
        return wgi_refuse(
            c, WG_EMARK,
            "wg_tape_rewind: a mark of another tape, or from before a reset or rewind");
    const int cut = m.slot < c->head.slots || m.code < c->head.code_words ||
                    m.payload < wgi_payload_position(c) ||
                    (c->chunks != 0 && m.record < wgi_record_count(c));
    const size_t last = branch_before(c, &m) + 1;
    if (cut && last == c->branch_count) {
        const wg_status s = branch_room(c);
        if (s != WG_OK)
            return wgi_refuse(c, s, "wg_tape_rewind: no room for branch %zu", last + 1);
    }
    wgi_segments_revoke(c);
    note_marks(c);
    leave_guests(c, m.payload);
    (void)wgi_derived_drop(c);
    if (c->chunks != 0) {
        int k = c->current;
        while (k > 0 && c->chunk[k].first > m.record) k--;
        c->current = k;
        c->head.top = c->chunk[k].base + (m.record - c->chunk[k].first);
    }
    if (c->payloads != 0) {
        const int k = (int)(m.payload >> WGI_PAYLOAD_CHUNK);
        wgi_payload_at(
            c, k, c->payload[k].base + (m.payload & (((uint64_t)1 << WGI_PAYLOAD_CHUNK) - 1)));
    }
    c->head.last_block = (wgi_block *)(uintptr_t)m.block;
    if (m.record < c->always) c->always = 0;
    while (c->stretch != NULL && wgi_stretch_end(c->stretch) > m.record)
        c->stretch = c->stretch->prev;
    if (m.record < c->ordered) c->ordered = m.record;
    c->head.slots = m.slot;
    c->inputs = m.inputs;
    c->head.code_words = m.code;
    c->place_count = m.places;
    if (cut) {
        branch_start(c, last);
        (void)branch_room(c); /* for the next rewind, when there may be no memory */
    }
    while (c->label_count > 0 && wgi_labels(c)[c->label_count - 1].slot >= m.slot)
        c->label_count--;
    if (c->swept > m.slot) c->swept = m.slot > 1 ? m.slot : 0;
    c->second_words = 0;
    c->closed = 0;
    c->code.wanted = c->values.wanted = c->places.wanted = c->tangents.wanted = 0;
    if (!m.failed) {
        c->status = WG_OK;
        c->message[0] = 0;
    }
    wgi_limit_set(c);
    return WG_OK;
}

/* ---- modes ---- */

wg_status wg_tape_pause(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    if (wgi_is_telling(wgi_core_of(t))) return WG_EMODE;
    wgi_core_of(t)->pauses++;
    wgi_limit_set(wgi_core_of(t));
    return WG_OK;
}

wg_status wg_tape_resume(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    if (wgi_is_telling(wgi_core_of(t))) return WG_EMODE;
    if (wgi_core_of(t)->pauses == 0)
        return wgi_refuse(wgi_core_of(t), WG_EMODE, "wg_tape_resume: the tape is not paused");
    wgi_core_of(t)->pauses--;
    wgi_limit_set(wgi_core_of(t));
    return WG_OK;
}

wg_status wg_tape_stats(const wg_tape *t, wg_stats *out) {
    if (t == NULL || out == NULL) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    const uint64_t records = c->chunks == 0 ? 0 : wgi_record_count(c);
    const uint64_t slots = c->head.slots - 1u;
    wg_stats s;
    memset(&s, 0, sizeof s);
    s.statements = slots - c->inputs;
    s.records = records;
    s.slots = slots;
    s.record_bytes = records * sizeof(wgi_record);
    s.code_bytes = c->head.code_words * 8;
    s.payload_bytes = wgi_payload_used(c);
    s.adjoint_bytes = c->swept * c->lanes * 8;
    s.committed_bytes = wgi_account_committed(c->account);
    s.max_records = records > c->max_record_count ? records : c->max_record_count;
    s.max_slots = slots > c->max_slot_count ? slots : c->max_slot_count;
    s.max_committed_bytes = wgi_account_most(c->account);
    s.memory_calls = c->memory_calls;
    s.resets = c->resets;
    *out = s;
    return WG_OK;
}
