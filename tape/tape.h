/* SPDX-License-Identifier: MIT */
/* The tape from inside. Internal: included by tape/ only.
 *
 *   records    [chunk 0][chunk 1] ...     32 bytes each, appended, never moved, never copied
 *   code       one flat region            a word stream: statements, array operations, guards
 *   values     one double per slot        only where code is kept
 *   adjoints   one row of lanes per slot  written by sweeps only
 *   tangents   `width` doubles per slot   forward tapes only
 *   places     {slot, line, file}         only with WG_KEEP_PLACES
 *
 * Slots grow with the records: the `out` of records never decreases along the tape. */
#ifndef WGI_TAPE_TAPE_H
#define WGI_TAPE_TAPE_H

#include <wengert/scalar.h>
#include <wengert/tape.h>

/* Our own bugs, checked builds only. */
#ifdef WG_DEBUG
#define WG_ASSERT(c) ((c) ? (void)0 : __builtin_trap())
#else
#define WG_ASSERT(c) ((void)0)
#endif

/* A growable range of memory: bytes [0, committed) are usable, [0, reserved) are ours. */
typedef struct wgi_region {
    char *base;
    size_t reserved, committed;
    int share; /* of a caller's buffer, percent */
} wgi_region;

enum { WGI_MAX_CHUNKS = 64 };

/* A run of records. `top` is where the next chunk took over (the current one: see t->top). */
typedef struct wgi_chunk {
    wgi_region memory;
    wgi_record *base, *top;
    uint64_t first; /* records in the chunks before */
} wgi_chunk;

/* Where a statement was written. */
typedef struct wgi_place {
    const char *file;
    uint32_t line, slot;
} wgi_place;

typedef struct wgi_label {
    uint32_t slot;
    char text[28];
} wgi_label;

typedef struct wgi_core {
    wg_tape head; /* what recorders see; must be first */

    unsigned flags;
    wg_memory memory;
    char *buffer;             /* a caller's, or NULL */
    size_t buffer_bytes, buffer_used;
    size_t budget, committed; /* bytes, all regions and the tape itself */
    size_t reserve;           /* what to ask for at first */
    uint64_t max_slots;

    wgi_chunk chunk[WGI_MAX_CHUNKS];
    int chunks;  /* obtained */
    int current; /* the one being filled */
    wgi_region code, values, adjoints, tangents, places, labels, second, scratch;
    uint64_t code_words, place_count, label_count;
    uint32_t inputs; /* independent variables; every other slot is a statement */

    uint64_t identity, generation;
    unsigned pauses;  /* depth of wg_tape_pause */
    int passive;      /* driver evaluation: nothing is recorded */
    size_t width;     /* tangents per slot; 0: not a forward tape */
    uint64_t scratch_used;

    /* the last sweep: slots below `swept` have an adjoint of `lanes` doubles */
    uint64_t swept;
    size_t lanes;
    uint64_t second_records; /* local second derivatives kept for the current recording */
    uint64_t second_words;   /* for how many words of code they were made; 0: none */

    wg_status status;
    char message[512];

    uint64_t max_record_count, max_slot_count, max_committed;
    uint64_t memory_calls, resets;
} wgi_core;

static inline wgi_core *wgi_core_of(wg_tape *t) { return (wgi_core *)t; }
static inline const wgi_core *wgi_core_of_const(const wg_tape *t) { return (const wgi_core *)t; }

/* ---- arena.c ----------------------------------------------------------------------------- */

/* Makes at least `bytes` of a region usable; contents up to `keep` bytes survive a move. */
wg_status wgi_region_need(wgi_core *c, wgi_region *r, size_t bytes, size_t keep);
void wgi_region_free(wgi_core *c, wgi_region *r);
/* Room for `records` more at c->head.top: commits, or moves on to the next chunk. */
wg_status wgi_records_need(wgi_core *c, size_t records);
/* Sets head.limit from the mode, the committed end and the slots left. */
void wgi_limit_set(wgi_core *c);
/* Memory that lives until the driver that asked for it returns; 64-byte aligned. NULL: none. */
void *wgi_scratch(wgi_core *c, size_t bytes);

static inline wgi_label *wgi_labels(const wgi_core *c) {
    return (wgi_label *)(void *)c->labels.base;
}
static inline wgi_place *wgi_places(const wgi_core *c) {
    return (wgi_place *)(void *)c->places.base;
}
static inline double *wgi_values(const wgi_core *c) { return (double *)(void *)c->values.base; }
static inline double *wgi_adjoints(const wgi_core *c) {
    return (double *)(void *)c->adjoints.base;
}
int wgi_mark_alive(const wgi_core *c, wg_mark m);

/* ---- status.c ---------------------------------------------------------------------------- */

/* Keeps the first failure: sets status and message, closes the fast path. Gives the status. */
wg_status wgi_fail(wgi_core *c, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Appends file:line to the message of the failure just kept. */
void wgi_fail_where(wgi_core *c, const char *file, int line);
/* A statement that gave a NaN or an infinity: names it with its operands. */
void wgi_fail_trace(wgi_core *c, const wgi_statement *s);
/* The passive NaN that failed recording calls return. */
static inline wg_real wgi_nan(void) { return wg_constant(__builtin_nan("")); }

/* ---- record.c ---------------------------------------------------------------------------- */

/* A statement of n operands from arrays, in every mode. Slots 0 are left out. */
wg_real wgi_append(wgi_core *c, double value, size_t n, const uint32_t *slot,
                   const double *partial);
/* WG_OK when every handle is a constant or alive on this tape; else fails the tape. */
wg_status wgi_check_handles(wgi_core *c, const char *call, size_t n, const wg_real *x);
/* Does a handle belong to this tape and generation, and to a slot in use? */
static inline int wgi_alive(const wgi_core *c, wg_handle h) {
    return h.stamp == c->head.stamp && h.slot < c->head.slots && h.slot != 0;
}
static inline uint64_t wgi_record_count(const wgi_core *c) {
    const wgi_chunk *k = &c->chunk[c->current];
    return k->first + (uint64_t)(c->head.top - k->base);
}
/* The first record whose out is above the slot: where the recording of the slot ended. */
uint64_t wgi_record_after(const wgi_core *c, uint64_t slot);
/* The record with a number below wgi_record_count. */
const wgi_record *wgi_record_at(const wgi_core *c, uint64_t number);

/* ---- reverse.c, lanes.c ------------------------------------------------------------------ */

/* Sweeps records [low, high) backwards over adjoints of c->lanes lanes. */
void wgi_sweep(wgi_core *c, uint64_t high, uint64_t low);
/* Makes room for adjoints of `slots` slots and clears them. */
wg_status wgi_adjoints_open(wgi_core *c, uint64_t slots, size_t lanes);
/* The zero rule: d p is 0 when either is 0, whatever the other. */
static inline double wgi_product(double d, double p) {
    const double v = d * p;
    return __builtin_expect(v != v, 0) && (d == 0 || p == 0) ? 0 : v;
}
/* One run of records, `lanes` interleaved adjoints per slot, for lanes of 2, 4, 8 or more. */
void wgi_sweep_lanes(const wgi_record *low, const wgi_record *high, double *adjoint,
                     size_t lanes);

/* ---- code.c ------------------------------------------------------------------------------ */

enum { WGI_LEAF_BITS = 2 }; /* the code of a lone operand */
/* Keeps the code of a statement that is about to get the next slot. */
wg_status wgi_code_keep(wgi_core *c, const wgi_statement *s);

/* ---- places.c ---------------------------------------------------------------------------- */

/* Keeps where the statement of a slot was written. */
wg_status wgi_place_keep(wgi_core *c, uint32_t slot, const char *file, int line);

#endif
