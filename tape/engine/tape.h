/* SPDX-License-Identifier: MIT */
/* The tape from inside. Internal: included by tape/ only.
 *
 *   records    [chunk 0][chunk 1] ...     32 bytes each, appended, never moved, never copied
 *   code       one flat extent            a word stream: statements, array operations, guards
 *   values     one double per slot        only where code is kept
 *   adjoints   one row of lanes per slot  written by sweeps only
 *   tangents   `width` doubles per slot   forward tapes only
 *   places     {slot, line, file}         only with WG_KEEP_PLACES
 *
 * Slots grow with the records: the `out` of records never decreases along the tape. */
#ifndef WGI_TAPE_ENGINE_TAPE_H
#define WGI_TAPE_ENGINE_TAPE_H

#include "adjoints.h"
#include "memory.h"

#include <wengert/drivers.h>
#include <wengert/matrix.h>
#include <wengert/small.h>
#include <wengert/operation.h>
#include <wengert/scalar.h>
#include <wengert/tape.h>

#include <pthread.h>
#include <string.h>

/* The halves of a handle in a wgi_statement. */
static inline uint32_t wgi_slot(uint64_t handle) { return (uint32_t)handle; }
static inline uint32_t wgi_stamp(uint64_t handle) { return (uint32_t)(handle >> 32); }

/* An assertion about our own code, in checked builds only. */
#ifdef WG_DEBUG
#define WG_ASSERT(c) ((c) ? (void)0 : __builtin_trap())
#else
#define WG_ASSERT(c) ((void)0)
#endif

/* A growable range of memory: bytes [0, committed) are usable, [0, reserved) are ours. */
typedef struct wgi_extent {
    char *base;
    size_t reserved, committed;
    /* the number of resets when it was last asked for: it has been in use since then */
    uint64_t asked;
    size_t wanted; /* the most bytes that were asked for since then */
} wgi_extent;

enum { WGI_MAX_CHUNKS = 64 };

/* A run of records. `top` is where the next chunk took over; for the current one it is t->top.
 */
typedef struct wgi_chunk {
    wgi_extent memory;
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

/* What was recorded from one rewind to the next. From its position up to the start of the next
 * branch, the tape holds what was recorded under its stamp. A rewind cuts branches off and
 * starts a new one. A mark is alive as long as what stands before it was recorded under the
 * stamp that the mark carries; and so is a handle of a checked tape. */
typedef struct wgi_branch {
    uint64_t code, record, payload; /* the position where it starts, as in a mark */
    uint32_t slot, stamp;
} wgi_branch;

enum { WGI_FEW_BRANCHES = 64 };

/* Whom a long call tells how far it has come. */
typedef struct wgi_progress {
    wg_progress to;
    struct wgi_core *c; /* whose calls are refused while it is told; NULL: nobody's */
    double next;        /* seconds: not before that time */
    double done;        /* as it was told last */
    int stopped;
} wgi_progress;

/* A loop over points as a part of what is being done: `each` of it per point, from `from`
 * on. */
typedef struct wgi_progress_part {
    wgi_progress *of; /* or NULL */
    double from, each;
} wgi_progress_part;

/* A block: a record of kind WGI_BLOCK whose payload this is. Payloads never move. After it come
 * its operands and results, the params of the call and what the operation saved. */
typedef struct wgi_operand {
    double *value;
    uint32_t rows, cols, ld, slot; /* slot 0: a constant */
    uint32_t trans;
} wgi_operand;

struct wgi_block {
    const wg_block_op *op;
    struct wgi_block *prev;
    uint64_t record;    /* its number */
    uint32_t out, outs; /* slots [out, out + outs) are those of the results */
    /* the fields so far are as in a wgi_small, whose op is wgi_small_op */
    void *params, *saved;
    uint64_t work_bytes;
    uint32_t inputs, outputs;
    wgi_operand operand[]; /* operands, then results */
} __attribute__((may_alias));
typedef struct wgi_block wgi_block;

enum {
    WGI_BLOCK = 1,
    WGI_MAX_ARGS = 16,
    WGI_INDEX_EXTENTS = 4,
    WGI_LISTS = 12,
    WGI_GUESTS = 16
};

/* A part of a recording in runs of records that know nothing of each other: no result of one is
 * an operand in another. They are swept round after round: run k in round k % rounds. Those of
 * one round add to no group of slots together, but for groups that are shared, of which each
 * has rows of its own; so they are swept side by side, in any order, and the bits are the same
 * (stretch.c). It stands among the payloads. */
typedef struct wgi_run {
    uint64_t end;   /* the number of the record behind it */
    uint64_t slots; /* one more than its last slot; the next run has those from there on */
    size_t shared;  /* so many of what is shared is of this run and those before */
} wgi_run;
/* Slots from before that run, which uses some of them, as others do. */
typedef struct wgi_shared {
    uint32_t group, run;
    uint32_t other; /* the number, plus one, of the one before it of the same group; or 0 */
    uint32_t last;  /* is there none of the same group behind it? */
} wgi_shared;
enum { WGI_GROUP_SLOTS = 64 }; /* group k: those from 64 k on */
typedef struct wgi_stretch {
    struct wgi_stretch *prev;
    struct wg_threads *threads; /* NULL: the caller sweeps */
    uint64_t first;             /* the number of its first record */
    uint64_t before;            /* its first slot */
    const wgi_shared *shared;   /* run after run */
    size_t runs, rounds;
    wgi_run run[];
} wgi_stretch;
/* The number of the record behind it. */
static inline uint64_t wgi_stretch_end(const wgi_stretch *s) { return s->run[s->runs - 1].end; }

/* Of somebody who works on a tape from call to call, which may be freed in between: c is
 * NULL then. */
typedef struct wgi_link {
    struct wgi_core *c;
    struct wgi_link *next, **from;
} wgi_link;

/* What somebody has derived from a recording, who knows what it is. */
typedef struct wgi_derived {
    void (*drop)(struct wgi_derived *d);
    /* Gives back what no recording uses; 0: there was nothing. NULL: there never is. */
    int (*shrink)(struct wgi_derived *d);
} wgi_derived;

typedef struct wgi_core {
    wg_tape head; /* what recorders see; it has to come first */

    unsigned flags;
    wg_memory memory;
    char *buffer; /* a caller's, or NULL */
    size_t buffer_bytes;
    struct wgi_hole *holes;    /* the free pieces of it */
    wgi_account own, *account; /* of which its memory is: its own, or that of its lender */
    struct wgi_core *lender;   /* the tape beside which this one is, or NULL */
    size_t loops_over;         /* as in wg_options */
    size_t reserve;            /* how much address space an extent asks for at first */
    uint64_t max_slots;

    wgi_chunk chunk[WGI_MAX_CHUNKS];
    int chunks;  /* how many there are */
    int current; /* the one that is being filled */
    wgi_extent code, values, adjoints, tangents, places, labels, second, scratch;
    /* arrays of the driver that is running; they stay where they are, while scratch may move */
    wgi_extent drive;
    /* used while a sparsity pattern is being found: index_sets.h */
    wgi_extent index[WGI_INDEX_EXTENTS];
    wgi_extent list[WGI_LISTS]; /* of long lists, a bit of lists_busy for each in use */
    unsigned lists_busy;
    uint64_t place_count, label_count;
    /* how many independent variables there are; every other slot is a statement */
    uint32_t inputs;

    /* payloads: values of matrices, and blocks */
    wgi_extent payload[WGI_MAX_CHUNKS];
    int payloads, payload_current; /* how many there are, and the one that is being filled */
    uint64_t payload_before;       /* bytes in the chunks before the current one */
    uint64_t always; /* the number of the first record of a WG_OP_ALWAYS, plus one; 0: none */
    uint64_t untouched; /* in a sweep of such a tape: slots below have no adjoints but 0 */
    /* the most workspace that a sweep over a block of this tape needs */
    size_t lane_bytes, work_bytes;

    /* a tape for the work of calls on this one, kept for the next call; is one at work? */
    struct wgi_core *beside;
    int beside_works;
    /* kept for the next call at this point: until a reset, a rewind or a replay, or until
     * memory is short.
     * NULL: nothing, also while it is used */
    wgi_derived *derived;
    wgi_derived *
        turns; /* functions of loops (turns.h), as long as the tape lives; NULL: there are none */
    /* other tapes that this recording works on, NULL once they are freed; and whose of these
     * it is */
    struct wgi_core *guest[WGI_GUESTS], *host;
    uint64_t guest_since[WGI_GUESTS]; /* where the payloads stood when it came */
    int guests;
    int reaches;     /* as a guest: may its steps reach beyond it? */
    pthread_t owner; /* looked at with WG_CHECKED */
    uint64_t identity, generation;
    uint64_t stamps; /* how many stamps generations and branches have been given so far */
    wgi_branch few[WGI_FEW_BRANCHES];
    wgi_extent branches; /* further branches */
    size_t branch_count;
    unsigned pauses; /* how deep calls of wg_tape_pause are nested */
    int passive;     /* a driver only evaluates: nothing is recorded */
    int driving;     /* a driver is running, and a further one is refused */
    int closed;      /* a vjp works on the adjoints; `status` is WG_EMODE meanwhile */
    /* a replay was stopped: some values are the new ones, some the old ones */
    int half_replayed;
    /* A segment of a parallel loop (segment.c): the tape of the loop, whose variables it uses,
     * while the loop is open; otherwise NULL. Its own slots begin at `origin`, above all of
     * that tape, which is 0 on others. */
    struct wgi_core *outer;
    uint32_t origin;
    /* the tape of a loop: is there one in this recording? Then a variable of a segment may be
     * among the operands of a record from number `ordered` on: it has a slot that the tape
     * has not */
    int loops;
    uint64_t ordered;
    uint32_t loop_slots;        /* how many slots the segments of loops have had so far */
    struct wgi_link *links;     /* who works on it from call to call */
    const wgi_stretch *stretch; /* the last one */
    /* memory was refused since the last reset: the next one gives everything back */
    int starved;
    uint32_t inside,
        /* foreign: if only slots from `inside` on have tangents, a slot below that was an
         * operand; or 0 */
        foreign;
    size_t width; /* tangents per slot; 0: not a forward tape */
    uint64_t scratch_used;

    /* What the last sweep left: slots below `swept` have rows of `lanes` adjoints, of which the
     * first `asked` were asked for. */
    uint64_t swept;
    size_t lanes, asked;
    wgi_marks marks;
    int traced; /* it stops at the first adjoint that becomes NaN */
    uint32_t
        /* the root of the last sweep, if its seed was 1 and no adjoint has been added since;
         * otherwise 0 */
        seeded;
    /* how many local second derivatives there are of this recording */
    uint64_t second_records;
    uint64_t second_words;   /* for how many words of code they were made; 0: they were not */
    uint64_t second_longest; /* how many operands the longest array operation has */
    /* the last recording that was found to fit into a pattern, and that pattern */
    uint64_t fits, fits_into;

    wgi_progress progress;
    int telling; /* wgi_tape_silence */
    int judged; /* it is compared with recordings at other points, and so is what it is made of */

    wg_status status;
    char message[512];

    uint64_t max_record_count, max_slot_count;
    uint64_t memory_calls, resets;

    struct wgi_private_rows *private_rows; /* for sweeps through stretches, or NULL */
    /* A segment may have a place among the records of that tape, its chunk 0, with room for so
     * many; 0: it has none. The tape of the loop: the first of those that have one; the next
     * one of them. */
    uint64_t placed;
    struct wgi_core *first_placed, *next_placed;

    int held; /* wgi_tape_hold; 2: it was to be reset or rewound meanwhile */
    int asks; /* for memory: whoever gives some up leaves this tape alone */
} wgi_core;

static inline wgi_core *wgi_core_of(wg_tape *t) { return (wgi_core *)t; }
static inline const wgi_core *wgi_core_of_const(const wg_tape *t) {
    return (const wgi_core *)t;
}

struct wgi_entry;

/* A statement as the general path takes it. */
typedef struct wgi_statement {
    wgi_bits code;
    const wgi_words *words; /* the code of one that is too long to be kept; otherwise NULL */
    double value;
    const char *file;
    int line;
    unsigned operands, numbers, bits;
    double partial[WGI_MOST_OPERANDS], number[WGI_MOST_NUMBERS], x[WGI_MOST_OPERANDS];
    uint64_t handle[WGI_MOST_OPERANDS]; /* slot in the low half, stamp in the high */
} wgi_statement;

/* ---- arena.c ----------------------------------------------------------------------------- */

/* The tape has another use for the places of segments from now on: those that have one fail. */
void wgi_segments_revoke(wgi_core *outer);
/* A tape for the work of calls on c, which outlives the work: with its memory callbacks, and of
 * its account. Gives the status of a failure. */
wg_status wgi_tape_beside(wgi_core *c, const wg_options *o, wg_tape **out);
/* The same, empty, with flags of wg_options, which is kept with c for the next call; it is
 * c->beside until wgi_beside_close, and not asked for meanwhile. */
wg_status wgi_beside_open(wgi_core *c, unsigned flags, wg_tape **out);
static inline void wgi_beside_close(wgi_core *c) { c->beside_works = 0; }
/* Drops what has been derived; was there anything? */
int wgi_derived_drop(wgi_core *c);
/* From now on it is that tape that a link leads to; NULL: none. No other thread uses either
 * of the two. */
void wgi_link_to(wgi_link *link, wgi_core *c);
/* A tape that the recording on c works on: its number among c->guest, where it is NULL once it
 * is freed. -1: there are too many, or it is another's. */
int wgi_guest(wgi_core *c, wgi_core *guest);
/* Is there so much left of the budget, once what holds nothing has been given up, except for
 * `busy`? WG_OK, or WG_EBUDGET. */
wg_status wgi_budget_need(wgi_core *c, size_t bytes, const wgi_extent *busy);
/* Memory for an object that outlives the recording: it is of the budget until
 * wgi_home_release. Fills in *home, which becomes a part of the object. */
wg_status wgi_home_obtain(wgi_core *c, size_t bytes, wgi_home *home, void **out);
/* The same of a function, which is made once: a large one may take what the tape holds of former
 * recordings. */
wg_status wgi_home_obtain_function(wgi_core *c, size_t bytes, wgi_home *home, void **out);
/* Makes at least `bytes` of an extent usable; the first `keep` bytes keep their contents if it
 * moves. */
wg_status wgi_extent_need(wgi_core *c, wgi_extent *r, size_t bytes, size_t keep);
void wgi_extent_free(wgi_core *c, wgi_extent *r);
/* Makes room for `records` more records at c->head.top: commits memory, or goes on to the next
 * chunk. */
wg_status wgi_records_need(wgi_core *c, size_t records);
/* Makes room for `bytes` of payload at c->head.payload_top: commits memory, or goes on to the
 * next chunk. */
wg_status wgi_payload_need(wgi_core *c, size_t bytes);
enum { WGI_PAYLOAD_UNIT = 32 };
static inline size_t wgi_payload_round(size_t bytes) {
    return (bytes + WGI_PAYLOAD_UNIT - 1) / WGI_PAYLOAD_UNIT * WGI_PAYLOAD_UNIT;
}
/* Takes bytes for which there is room. */
static inline void *wgi_payload_take(wgi_core *c, size_t bytes) {
    char *const p = c->head.payload_top;
    c->head.payload_top = p + wgi_payload_round(bytes);
    return p;
}
/* Sets head.limit, up to which the fast path may record: from the mode, from how far the
 * records are committed, and from how many slots are left; for a tape that keeps its code sets
 * head.kept_limit instead, also from the room for code and values. Whatever moves these
 * extents, or takes room in them without calling this, has to set the limit to NULL. */
void wgi_limit_set(wgi_core *c);
/* May more records be added before the limit than small blocks have slots left for? */
static inline int wgi_limit_far(const wgi_core *c) {
    const uint64_t left = c->max_slots + 1 - c->head.slots;
    return c->head.top < c->head.limit &&
           (uint64_t)(c->head.limit - c->head.top) > left / WGI_SMALL;
}
/* To be called when slots were taken: sets the limit anew if it is reached or NULL, or if more
 * records may be added before it than there are slots left. */
static inline void wgi_limit_update(wgi_core *c) {
    if (c->head.top >= c->head.limit || wgi_limit_far(c)) wgi_limit_set(c);
}
/* Makes room for `bytes` more of scratch, in up to 16 pieces. Pieces in use keep their contents
 * but may move: it is called once, before the first piece is taken. */
wg_status wgi_scratch_need(wgi_core *c, size_t bytes);
/* Memory that lives until the driver that asked for it returns; 64-byte aligned. NULL: none. */
void *wgi_scratch(wgi_core *c, size_t bytes);

/* ---- segment.c --------------------------------------------------------------------------- */

/* The slots of segments: above those of the tape of a loop, which has half of all. */
#define WGI_SEGMENT_SLOTS ((uint32_t)1 << 31)
/* A tape for segments of parallel loops, in memory of c; nobody but wgi_segment_free frees
 * it, or resets it. */
wg_status wgi_segment_new(wgi_core *c, wgi_core **out);
void wgi_segment_free(wgi_core *segment);
/* From now on it records a segment of a loop on that tape, in slots [first, last], in its mode;
 * or, where that has failed, nothing. The tape is used by no other thread, and changed by
 * none. */
void wgi_segment_open(wgi_core *segment, wgi_core *outer, uint32_t first, uint32_t last);
/* Its first records, so many, stand there: among those of its tape, where they may be in the
 * end. To be called before it records. */
void wgi_segment_lay_out(wgi_core *segment, wgi_record *at, uint64_t records);
/* It records nothing any more. */
void wgi_segment_close(wgi_core *segment);

/* ---- threads.c --------------------------------------------------------------------------- */

/* wg_threads_run, in another order: each thread begins with a share of the tasks that are side
 * by side, the same in every call of as many tasks, and helps others when it is done. */
wg_status wgi_threads_run_near(struct wg_threads *threads, size_t tasks,
                               wg_status (*f)(void *ctx, size_t k), void *ctx);

/* ---- list.c ------------------------------------------------------------------------------ */

/* Where a list that grows stands: while it is short among the payloads, then in an extent of
 * its own, where it grows without being copied. A reset forgets both. */
typedef struct wgi_list_room {
    size_t bytes;
    int extent; /* its number plus one; 0: it stands among the payloads */
} wgi_list_room;
/* The list with room for `bytes`, of which `used` are kept; NULL: a failure, the tape's. */
void *wgi_list_made(wgi_core *c, wgi_list_room *r, void *list, size_t used, size_t bytes);
static inline void *wgi_list_need(wgi_core *c, wgi_list_room *r, void *list, size_t used,
                                  size_t bytes) {
    return bytes <= r->bytes ? list : wgi_list_made(c, r, list, used, bytes);
}
/* One that will not grow: beyond `bytes` its extent gives back what it has. */
void *wgi_list_of(wgi_core *c, wgi_list_room *r, size_t bytes);
/* The list is not needed any more: its extent is there for another one. */
void wgi_list_give(wgi_core *c, wgi_list_room *r);

static inline wgi_label *wgi_labels(const wgi_core *c) {
    return (wgi_label *)(void *)c->labels.base;
}
static inline wgi_place *wgi_places(const wgi_core *c) {
    return (wgi_place *)(void *)c->places.base;
}
/* Kept code (in words) and adjoints (in bytes) begin some way into their extents. Extents start
 * at multiples of large powers of 2; where a loop goes through two arrays at equal offsets from
 * such addresses, they displace each other in the first-level cache. */
enum { WGI_CODE_START = 72, WGI_ADJOINT_START = 2112 };
static inline uint64_t *wgi_code_words(const wgi_core *c) {
    return (uint64_t *)(void *)c->code.base + WGI_CODE_START;
}
/* Those of a segment begin with its first own slot. */
static inline double *wgi_values(const wgi_core *c) {
    return (double *)((uintptr_t)c->values.base - c->origin * sizeof(double));
}
/* One more than the last slot for which the tape itself has a row of values, tangents and
 * the like. */
static inline size_t wgi_rows(const wgi_core *c) { return c->head.slots - c->origin; }
static inline double *wgi_adjoints(const wgi_core *c) {
    return (double *)(void *)(c->adjoints.base + c->marks.room + WGI_ADJOINT_START);
}
/* Is what stands before the mark what stood there when it was set? */
int wgi_mark_alive(const wgi_core *c, wg_mark m);
/* The stamp under which a slot in use was recorded. */
uint32_t wgi_stamp_of(const wgi_core *c, uint32_t slot);
/* Is it the stamp of anything that is on the tape? */
int wgi_stamp_alive(const wgi_core *c, uint32_t stamp);

/* ---- buffer.c ---------------------------------------------------------------------------- */

/* The tape lives in a caller's buffer from now on. */
void wgi_buffer_open(wgi_core *c, void *buffer, size_t bytes);
/* A range of the wanted size, or else the largest there is, if it has at least the other size;
 * NULL: there is none. What will not grow goes to the high end, out of the way of what will. */
void *wgi_buffer_take(wgi_core *c, int high, size_t least, size_t wanted, size_t *got);
/* Extends a range that ended at `end`; gives by how many bytes, 0 if what follows it is not
 * free. */
size_t wgi_buffer_extend(wgi_core *c, const char *end, size_t least, size_t wanted);
void wgi_buffer_give(wgi_core *c, void *p, size_t bytes);
/* Is no hole as large as seven eighths of the buffer? Then what the next recording needs may
 * not fit between what the last one has left, and a reset takes all of it back. Not where
 * there is no buffer. */
int wgi_buffer_is_crowded(const wgi_core *c);

/* ---- progress.c -------------------------------------------------------------------------- */

/* The tape that it is beside, which may be beside another. */
static inline wgi_core *wgi_root_of(wgi_core *c) {
    while (c->lender != NULL) c = c->lender;
    return c;
}
/* Whom the user wants to be told of what is done on a tape, or on one beside it. */
static inline wgi_progress *wgi_progress_of(wgi_core *c) { return &wgi_root_of(c)->progress; }
/* While a function of the user's has the word that has no business with a tape, as one that is
 * told of progress or given text, calls on it are refused as after a failure, and what the call
 * that it is called by has on it stays. */
typedef struct wgi_silence {
    wg_status status;
    int closed, telling;
} wgi_silence;
wgi_silence wgi_tape_silence(wgi_core *c);
void wgi_tape_speak(wgi_core *c, wgi_silence before);
/* Is it so with a tape, or with the one that it is beside? */
static inline int wgi_is_telling(const wgi_core *c) {
    while (c->lender != NULL) c = c->lender;
    return c->telling;
}
/* Something else is being done from now on. */
static inline void wgi_progress_begin(wgi_progress *p) {
    if (p == NULL) return;
    p->done = 0;
    p->stopped = 0;
}
int wgi_progress_tell(wgi_progress *p, double done);
/* Of a clock that only goes forward. */
double wgi_seconds(void);
/* So much is done, or as much as before if that is more; nonzero: it is to stop. */
static inline int wgi_progress_stops(wgi_progress *p, double done) {
    return p != NULL && p->to.call != NULL && wgi_progress_tell(p, done);
}
/* Points from number `first` on, of so many. */
static inline wgi_progress_part wgi_progress_points(wgi_progress *p, size_t first,
                                                    size_t points) {
    const double each = 1 / (double)(points != 0 ? points : 1);
    return (wgi_progress_part){p, (double)first * each, each};
}
/* The same of work on the tape itself, of which it is not known how much is left: fails the
 * tape. */
wg_status wgi_progress_go_on(wgi_core *c, const char *call);

/* ---- status.c ---------------------------------------------------------------------------- */

/* Keeps the first failure: sets status and message, closes the fast path. Gives the status;
 * WG_ENULL, and nothing is kept, where there is no tape. */
wg_status wgi_fail(wgi_core *c, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* A call that records nothing could not do its work: leaves the message and gives the status;
 * the recording is as good as before. */
wg_status wgi_refuse(wgi_core *c, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Refuses a call on a segment of a parallel loop that does anything but record. */
static inline wg_status wgi_refuse_segment(wgi_core *c, const char *call) {
    if (c->outer == NULL) return WG_OK;
    return wgi_refuse(c, WG_EMODE, "%s: a segment of a parallel loop only records", call);
}
/* A failure of something that `call` used becomes one of `call`, which the user made: its name
 * is put before the message. */
void wgi_fail_as(wgi_core *c, const char *call);
/* A function of the user's, which the format names, has returned s: the tape fails with that,
 * or WG_ECALLBACK where it is no status, and with what the function, or a call that it made, has
 * left as the message, which is empty before it is called. */
wg_status wgi_fail_returned(wgi_core *c, wg_status s, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Is this another thread than the owner of a checked tape? Then the tape has failed. */
wg_status wgi_fail_foreign(wgi_core *c, const char *call) __attribute__((cold));
static inline wg_status wgi_check_thread(wgi_core *c, const char *call) {
    if ((c->flags & WG_CHECKED) == 0 || pthread_equal(c->owner, pthread_self())) return WG_OK;
    return wgi_fail_foreign(c, call);
}
/* Appends file:line to the message of the failure just kept. */
void wgi_fail_where(wgi_core *c, const char *file, int line);
/* The passive NaN that failed recording calls return. */
static inline wg_real wgi_nan(void) { return wg_constant(WGI_NAN); }
/* A value that stands behind the outputs of a user's function and is no variable: a function
 * that writes too many outputs overwrites it. */
static inline wg_real wgi_beyond(void) {
    return (wg_real){-0x1.e5b1a9c4d3p-1000, {UINT32_MAX, UINT32_MAX}};
}
static inline int wgi_is_beyond(wg_real y) {
    const wg_real beyond = wgi_beyond();
    return y.value == beyond.value && y.at.slot == beyond.at.slot &&
           y.at.stamp == beyond.at.stamp;
}

/* Appends to the message of the failure just kept. */
void wgi_message_add(wgi_core *c, const char *text);
/* A number as text that reads back as the same number, with a point whatever the locale. */
enum { WGI_NUMBER_TEXT = 32 };
const char *wgi_number_text(char *buffer, double x);

/* ---- long_statement.c -------------------------------------------------------------------- */

/* Appends a long statement: as one, or where code is kept in pieces that code has room for. */
wg_real wgi_long_append(wgi_core *c, const wgi_statement *s);

/* ---- trace.c ----------------------------------------------------------------------------- */

/* A statement that gave a NaN or an infinity: names it with its operands. */
void wgi_fail_trace(wgi_core *c, const wgi_statement *s);
/* A record that, swept with adjoint w, has made an adjoint of its operands NaN: refuses. */
wg_status wgi_refuse_trace(wgi_core *c, const wgi_record *r, double w);

/* ---- slots.c ----------------------------------------------------------------------------- */

/* Makes room for n more slots, with their tangents and values where the mode has them. */
wg_status wgi_slots_need(wgi_core *c, const char *call, size_t n);
/* WG_OK when every handle is a constant or alive on this tape; else fails the tape. */
wg_status wgi_check_handles(wgi_core *c, const char *call, size_t n, const wg_real *x);
/* The same for a call that records nothing: refuses. */
wg_status wgi_refuse_stale(wgi_core *c, const char *call, size_t n, const wg_real *x);
/* Fails because operand `position` of the call is not alive. */
wg_status wgi_fail_stale(wgi_core *c, const char *call, size_t position, uint32_t slot,
                         uint32_t stamp);
/* Does a handle belong to this tape and generation, and to a slot in use? On a checked tape
 * also: was that slot recorded under the stamp of the handle? */
static inline int wgi_alive(const wgi_core *c, wg_handle h) {
    if (h.slot == 0 || h.slot >= c->head.slots) return 0;
    if (h.slot < c->origin && h.slot >= c->outer->head.slots) return 0; /* another segment's */
    return h.stamp == (c->flags & WG_CHECKED ? wgi_stamp_of(c, h.slot) : c->head.stamp);
}
/* The first of n handles that is neither a constant nor alive; n: there is none. */
size_t wgi_first_stale(const wgi_core *c, size_t n, const wg_real *x);
static inline uint64_t wgi_record_count(const wgi_core *c) {
    const wgi_chunk *k = &c->chunk[c->current];
    return k->first + (uint64_t)(c->head.top - k->base);
}
/* The number of the first record whose `out` is above the slot, where the recording of the slot
 * has ended. */
uint64_t wgi_record_after(const wgi_core *c, uint64_t slot);
/* The record of a number below wgi_record_count. */
const wgi_record *wgi_record_at(const wgi_core *c, uint64_t number);

/* ---- record.c ---------------------------------------------------------------------------- */

/* wg_let, in every mode. */
wg_real wgi_let(wg_tape *t, const wgi_statement *s);
/* Appends a statement whose operands are known to be alive, some of them variables (slot
 * != 0). */
wg_real wgi_let_append(wgi_core *c, const wgi_statement *s, const uint32_t *slot);
/* The partials again, by the zero rule: those of the fast path are plain products. */
void wgi_zero_rule(wgi_statement *s);
/* A statement of n operands given as arrays, in every mode. Operands with slot 0 are left out.
 * `call`, here and below: the call that the user made, for messages. */
wg_real wgi_append(wgi_core *c, const char *call, double value, size_t n, const uint32_t *slot,
                   const double *partial);
/* Writes new partials into the records of an entry, the first of which is number `at`; gives
 * how many records these are. */
uint64_t wgi_rewrite(wgi_core *c, uint64_t at, const struct wgi_entry *e,
                     const double *partial);

/* ---- block.c, small.c, matrix.c
 * ------------------------------------------------------------------- */

/* A block as its operation sees it: without adjoints or tangents. */
void wgi_block_call(wg_block *call, const wgi_block *b, wg_block_arg *arg, void *work);
/* While a function of the user's works on derivatives of a tape, every call on that tape is
 * refused, as it would be after a failure. A reset or a rewind, which would end that, is
 * noticed by the stamps: then _open_again gives 0, and what was recorded is gone. */
uint64_t wgi_tape_close(wgi_core *c);
int wgi_tape_open_again(wgi_core *c, uint64_t stamps);
/* While a function of the user's is called that has no business with this tape, on which the
 * call keeps what it works with: it is not reset or rewound, and has no driver. _release: has
 * the function asked for that, or recorded on the tape? */
typedef struct wgi_hold {
    uint64_t words;
    uint32_t slots;
    int held;
} wgi_hold;
wgi_hold wgi_tape_hold(wgi_core *c);
int wgi_tape_release(wgi_core *c, wgi_hold before);
/* Calls its vjp, as a sweep does: the tape is closed meanwhile; a failure is refused. */
wg_status wgi_block_vjp(wgi_core *c, const wgi_block *b, wg_block *call);
/* Calls its `adjoint` on a tape beside this one, which is closed meanwhile. WG_EMODE, with a
 * reason: it would reset or rewind this one. */
wg_status wgi_block_adjoint(wgi_core *c, const wgi_block *b, wg_block *call, wg_tape *beside,
                            const wg_mat *in, const wg_mat *out, const wg_mat *bar,
                            wg_mat *back);
/* Adds to the adjoints of a block's operands, from those of its results. */
wg_status wgi_block_reverse(wgi_core *c, const wgi_block *b);
/* The same for small elementwise operations, down to number `low` or to the first record of
 * another kind. Gives the last block that was done. */
const wgi_block *wgi_small_reverse(wgi_core *c, const wgi_block *b, uint64_t low);
/* Computes the tangents of a block's results, in c->width lanes, from those of its operands. */
wg_status wgi_block_forward(wgi_core *c, const wgi_block *b);
/* The same of small elementwise operations. */
void wgi_small_forward(wgi_core *c, const wgi_block *b);
/* The scalar operation that it does element by element. */
const wg_scalar_op *wgi_small_row(const wgi_small *s);
/* Computes new values of the results, after a replay up to the block. */
wg_status wgi_block_replay(wgi_core *c, wgi_block *b);
/* The block whose record has that number; NULL: it is the record of a statement. */
wgi_block *wgi_block_at(const wgi_core *c, uint64_t number);
/* Links a block to those before it and appends its record; on a forward tape computes its
 * tangents instead. */
wg_status wgi_block_append(wgi_core *c, wgi_block *b);
/* Makes room in scratch for sweeps over the blocks of the tape, and `bytes` beside. */
wg_status wgi_blocks_room(wgi_core *c, size_t bytes);
/* Does a matrix belong to another tape, or has it been forgotten? */
int wgi_mat_stale(const wgi_core *c, const wg_mat *a);
/* The last slot that a sweep from a root needs: that of the last element of a block, if the
 * root is among its results. */
uint64_t wgi_reach(const wgi_core *c, uint64_t root);
/* Where a sweep from a root begins: at the end of a tape that reaches beyond itself, so that
 * all who are at the other ends do the same. Root 0 is none. */
static inline uint32_t wgi_sweep_from(const wgi_core *c, uint32_t root) {
    return c->always != 0 ? c->head.slots - 1 : root;
}
/* Refuses a call that sees one tape only, where records from number `from` on reach beyond
 * it. */
wg_status wgi_refuse_always(wgi_core *c, const char *call, uint64_t from);
/* Refuses the call of an operation whose `shape`, or the like, gave that status, with the
 * message of a call that fails. Gives the status. */
wg_status wgi_refuse_call(wgi_core *c, const char *call, const wg_block_op *op, wg_status s,
                          const wg_block *b);
/* The block that has the slot among its results; NULL: none. */
const wgi_block *wgi_block_of(const wgi_core *c, uint32_t slot);
/* The last block with a record in [low, high); NULL: none. */
const wgi_block *wgi_block_below(const wgi_core *c, uint64_t high, uint64_t low);
/* On a forward tape: notes that an operand has a slot below those that have tangents. */
static inline void wgi_note_operand(wgi_core *c, uint32_t slot) {
    if (slot != 0 && slot < c->inside) c->foreign = slot;
}

/* ---- gather.c ---------------------------------------------------------------------------- */

/* Makes a variable of m, whose values are there: a block that collects n variables. If they
 * have consecutive slots and the tape keeps no code, nothing is appended. */
wg_status wgi_gather_append(wgi_core *c, wg_mat *m, size_t n, const wg_real *x);
/* The block of an input that has slots, on a tape that can be replayed. */
wg_status wgi_input_append(wgi_core *c, const wg_mat *m);
/* If the block is a gather or an input, does its part and gives 1; otherwise gives 0. */
int wgi_gather_reverse(wgi_core *c, const wgi_block *b);
/* To be called after it, for one lane: refuses if an adjoint of what was gathered is NaN. */
wg_status wgi_gather_trace(wgi_core *c, const wgi_block *b);
int wgi_gather_forward(wgi_core *c, const wgi_block *b);
int wgi_gather_replay(wgi_core *c, const wgi_block *b);
int wgi_is_gather(const wgi_block *b);
/* The slots that a gather has collected; NULL: it is no gather. */
const uint32_t *wgi_gather_slots(const wgi_block *b);

/* ---- adjoints.c -------------------------------------------------------------------------- */

/* Makes room for adjoints of so many slots. */
wg_status wgi_adjoints_need(wgi_core *c, uint64_t slots, size_t lanes);
/* Makes room for the adjoints of `slots` slots and clears them. A sweep in lanes is never
 * traced, not even in a single lane: whether it is must not depend on how many outputs there
 * are. */
wg_status wgi_adjoints_open(wgi_core *c, uint64_t slots, size_t lanes, int by_lanes);
/* To be called before adjoints of slots [slot, slot + n) are set in any other way than by a
 * sweep: they may be something else than 0 from now on. */
void wgi_adjoints_mark(wgi_core *c, uint32_t slot, uint64_t n);
/* The same of one slot, where marks are kept. */
static inline void wgi_adjoints_mark_one(wgi_core *c, uint32_t slot) {
    const uint64_t place = (uint64_t)slot + WGI_PAGE_SLOTS - 1;
    ((uint64_t *)(void *)c->adjoints.base)[place / WGI_PAGE_SLOTS] |=
        (uint64_t)1 << place % WGI_PAGE_SLOTS / WGI_MARK_SLOTS;
}
/* The last slot up to `last` that may have an adjoint other than 0; 0: none. */
uint32_t wgi_adjoints_last(const wgi_core *c, uint64_t last);
/* Slots below it have none, by the marks; 0: these are not known. */
uint64_t wgi_adjoints_first(const wgi_core *c);
/* From now on any slot up to `last` may have one, and no marks of these are kept. */
void wgi_adjoints_unmark(wgi_core *c, uint64_t last);
/* Slots below that may have one whatever the marks say. */
static inline uint64_t wgi_adjoints_unmarked(const wgi_core *c) {
    return c->marks.dirty / (c->marks.lanes * sizeof(double));
}
/* Somebody who clears adjoints for himself works on them: nothing is known of them
 * afterwards. */
void wgi_adjoints_forget(wgi_core *c);
/* Are all of n adjoints 0? */
int wgi_adjoints_zero(const double *x, size_t n);

/* ---- scalar_sweep.c, reached.c, reverse.c, lanes.c --------------------------------------- */

/* Sweeps a run of records of one chunk, none of them a block's. */
wg_status wgi_sweep_run(wgi_core *c, const wgi_record *low, const wgi_record *high);
/* Sweeps records [low, high), none of them a block's. *at: the last stretch that may begin
 * below `high`, and then `low`. */
wg_status wgi_sweep_scalars(wgi_core *c, uint64_t high, uint64_t low, const wgi_stretch **at);
/* Fails because a record was made with a variable that a rewind had forgotten, or one of a
 * segment. */
wg_status wgi_fail_disordered(wgi_core *c, const wgi_record *r);
/* The same for the first such record of number [low, high). */
wg_status wgi_fail_disordered_in(wgi_core *c, uint64_t high, uint64_t low);
/* Sweeps records from *high down to `low`, going only where there are marks, and sets marks on
 * its way. Where that takes longer than it is likely to save, it stops: *high is then how far
 * it has come, and `low` if it is done. */
wg_status wgi_sweep_reached(wgi_core *c, uint64_t *high, uint64_t low);
/* Sweeps records [low, high) backwards over adjoints of c->lanes lanes.
 * WG_ESTALE: a record was made with a variable that a rewind had forgotten. */
wg_status wgi_sweep(wgi_core *c, uint64_t high, uint64_t low);
/* Checks that all operands are older than results, as a pass forward through the records needs
 * it. */
wg_status wgi_records_ordered(wgi_core *c);
/* The same for variables of segments only, which are looked for once. */
wg_status wgi_records_own(wgi_core *c);
/* The zero rule: d p is 0 when either is 0, whatever the other. */
static inline double wgi_product(double d, double p) {
    const double v = d * p;
    return __builtin_expect(v != v, 0) && (d == 0 || p == 0) ? 0 : v;
}

/* Sweeps a run of records forward. Every slot starts with zeros or with a seed; 1, 2, 4 or 8
 * lanes. */
void wgi_forward_lanes(const wgi_record *low, const wgi_record *high, double *tangent,
                       size_t lanes);

/* ---- forward.c --------------------------------------------------------------------------- */

/* wgi_tangents_open makes room for tangents of what was recorded, in 1, 2, 4 or 8 lanes, and
 * clears them; the seeds are put there; then the other computes the tangents of all slots. */
wg_status wgi_tangents_open(wgi_core *c, const char *call, size_t lanes);
wg_status wgi_forward_sweep(wgi_core *c, size_t lanes);
static inline double *wgi_tangents(const wgi_core *c) {
    return (double *)(void *)c->tangents.base;
}
static inline double *wgi_tangents_of(const wgi_core *c, uint32_t slot) {
    const wgi_core *const of = slot < c->origin ? c->outer : c;
    return wgi_tangents(of) + (size_t)(slot - of->origin) * of->width;
}

/* ---- places.c ---------------------------------------------------------------------------- */

/* Keeps the place where the statement of a slot was written; file NULL: it is not known. */
wg_status wgi_place_keep(wgi_core *c, const char *call, uint32_t slot, const char *file,
                         int line);
/* The place of a slot; its label. NULL: none was kept. */
const wgi_place *wgi_place_of(const wgi_core *c, uint32_t slot);
const char *wgi_label_of(const wgi_core *c, uint32_t slot);

#include "code.h"

#endif
