/* SPDX-License-Identifier: MIT */
/* The arena: regions of memory that grow, and what stands in them.
 *
 * A region asks for a large address range once and makes it usable as it grows. Asking is
 * repeated with half the size until the system accepts. Records continue in a further chunk
 * when their range is full; all other regions move to a larger range (they are addressed by
 * offset). In a caller's buffer nothing is obtained: ranges are cut from it and grow in place
 * where they can. Where there is no room in the buffer, or none in the budget, what holds
 * nothing since the last reset is given up, and the unused end of everything else. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tape.h"

#include <string.h>
#include <time.h>

enum {
    PAGE = WGI_PAGE,
    HUGE_PAGE = WGI_HUGE_PAGE,
    FIRST_COMMIT = 1 << 16,
    SMALLEST_RANGE = 1 << 20
};
#define LARGEST_STEP ((size_t)1 << 25)

static size_t round_up(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

/* ---- regions ---- */

static void *reserve(wgi_core *c, size_t bytes) {
    c->memory_calls++;
    return c->memory.reserve(c->memory.ctx, bytes);
}

/* The next reset will give all memory back: another recording may need it in other regions. */
static wg_status starved(wgi_core *c, wg_status s) {
    c->starved = 1;
    return s;
}

void wgi_region_free(wgi_core *c, wgi_region *r) {
    if (r->base != NULL && c->buffer != NULL) {
        wgi_buffer_give(c, r->base, r->reserved);
    } else if (r->base != NULL) {
        c->memory_calls++;
        c->memory.release(c->memory.ctx, r->base, r->reserved);
    }
    wgi_account_give(c->account, r->committed);
    r->base = NULL;
    r->reserved = r->committed = 0;
}

/* Gives back what lies behind the first `used` bytes of a region; 0: there is nothing. A range
 * that the caller's memory callbacks gave can only be released as a whole. */
static int trim(wgi_core *c, wgi_region *r, size_t used) {
    const size_t keep = round_up(used != 0 ? used : 1, PAGE);
    if (r->base == NULL || keep >= r->committed) return 0;
    if (c->buffer != NULL) {
        wgi_buffer_give(c, r->base + keep, r->reserved - keep);
        r->reserved = keep;
    } else if (!wgi_memory_shorten(&c->memory, r->base + keep, r->committed - keep)) {
        return 0;
    }
    wgi_account_give(c->account, r->committed - keep);
    r->committed = keep;
    return 1;
}

/* Gives back the end of the payloads, as far as nothing of this recording has been there; nor
 * anything that a rewind has forgotten, since the values of a forgotten matrix may still be
 * read. */
static int give_up_payloads(wgi_core *c, const wgi_region *busy) {
    int any = 0;
    while (c->payloads > c->payload_current && &c->payload[c->payloads - 1] != busy) {
        const int k = c->payloads - 1, current = k == c->payload_current;
        wgi_region *const r = &c->payload[k];
        size_t used = c->buffer != NULL ? 0 : r->wanted; /* in a buffer they stay readable */
        if (current && (size_t)(c->head.payload_top - r->base) > used)
            used = (size_t)(c->head.payload_top - r->base);
        if (used != 0 || (current && k > 0)) {
            any |= trim(c, r, used);
            if (current) c->head.payload_end = r->base + r->committed;
            break;
        }
        wgi_region_free(c, r);
        c->payloads = k;
        any = 1;
        if (current) {
            c->head.payload_top = c->head.payload_end = NULL;
            c->payload_before = 0;
            break;
        }
    }
    return any;
}

/* What no list stands in. */
static int give_up_lists(wgi_core *c, const wgi_region *busy) {
    int any = 0;
    for (int k = 0; k < WGI_LISTS; k++)
        if (c->list[k].base != NULL && (c->lists_busy >> k & 1) == 0 && &c->list[k] != busy) {
            wgi_region_free(c, &c->list[k]);
            any = 1;
        }
    return any;
}

static int give_up_beside(wgi_core *c) {
    wgi_core *const beside = c->beside;
    if (beside == NULL || c->beside_works) return 0;
    c->beside = NULL;
    wg_tape_free(&beside->head);
    return 1;
}

/* Gives back memory that holds nothing at present, except for that of `busy`, for which the
 * caller is asking; 0: there is none. */
static int give_up_idle(wgi_core *c, const wgi_region *busy) {
    const struct {
        wgi_region *region;
        size_t used; /* beside what was asked for */
    } all[] = {{&c->code, (size_t)(WGI_CODE_START + c->head.code_words) * 8},
               {&c->values, wgi_rows(c) * sizeof(double)},
               {&c->tangents, c->width * wgi_rows(c) * sizeof(double)},
               {&c->adjoints, 0},
               {&c->places, (size_t)c->place_count * sizeof(wgi_place)},
               {&c->labels, (size_t)c->label_count * sizeof(wgi_label)},
               {&c->second, 0},
               {&c->scratch, 0},
               {&c->drive, 0},
               {&c->index[0], 0},
               {&c->index[1], 0},
               {&c->index[2], 0},
               {&c->index[3], 0}};
    int any = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        wgi_region *const r = all[i].region;
        if (r->base == NULL || r == busy || (r == &c->drive && c->driving)) continue;
        if (r->asked == c->resets) {
            any |= trim(c, r, all[i].used > r->wanted ? all[i].used : r->wanted);
            continue;
        }
        wgi_region_free(c, r);
        any = 1;
    }
    any |= give_up_lists(c, busy);
    any |= give_up_beside(c);
    /* forward tapes have none; a pass of second order takes the width of one for a while */
    const int none = c->width != 0 && c->current == 0 && c->head.top == c->chunk[0].base;
    const int records = none ? 0 : c->current + 1;
    for (; c->chunks > records && &c->chunk[c->chunks - 1].memory != busy; any = 1)
        wgi_region_free(c, &c->chunk[--c->chunks].memory);
    if (c->chunks == 0) {
        c->current = 0;
        c->head.top = c->chunk[0].base = NULL;
    } else if (c->chunks == records && &c->chunk[c->current].memory != busy) {
        wgi_chunk *const k = &c->chunk[c->current];
        any |= trim(c, &k->memory, (size_t)(c->head.top - k->base + 4) * sizeof(wgi_record));
    }
    any |= give_up_payloads(c, busy);
    wgi_limit_set(c);
    return any;
}

wg_status wgi_budget_need(wgi_core *c, size_t bytes, const wgi_region *busy) {
    while (!wgi_account_has(c->account, bytes)) {
        int any = give_up_idle(c, busy);
        for (wgi_core *l = c->lender; l != NULL && l->account == c->account; l = l->lender) {
            any |= give_up_idle(l, NULL);
            l->starved = 1;
        }
        if (!any) return starved(c, WG_EBUDGET);
    }
    return WG_OK;
}

static wg_status commit(wgi_core *c, wgi_region *r, size_t bytes) {
    const size_t more = bytes - r->committed;
    do { /* another segment of a parallel loop may take what was left */
        const wg_status s = c->buffer == NULL ? wgi_budget_need(c, more, r) : WG_OK;
        if (s != WG_OK) return s;
    } while (!wgi_account_take(c->account, more));
    if (c->buffer == NULL) {
        c->memory_calls++;
        if (!wgi_memory_commit(&c->memory, c->account, r->base + r->committed, more)) {
            wgi_account_give(c->account, more);
            return starved(c, WG_ENOMEM);
        }
    }
    r->committed = bytes;
    return WG_OK;
}

/* How much more than needed to ask for, from a buffer, for something of `held` bytes: so that
 * all regions together leave enough for each other. */
static size_t ahead(const wgi_core *c, size_t held) {
    const size_t most = c->buffer_bytes / 32;
    return held < most ? held : most;
}

/* Obtains an address range of at least `least` bytes, as near to `wanted` as the system allows.
 */
static wg_status region_open(wgi_core *c, wgi_region *r, int chunk, size_t least,
                             size_t wanted) {
    least = round_up(least, PAGE);
    if (wanted < least) wanted = least;
    if (c->buffer != NULL) {
        do r->base = wgi_buffer_take(c, chunk, least, wanted, &r->reserved);
        while (r->base == NULL && give_up_idle(c, r));
        return r->base != NULL ? WG_OK : starved(c, WG_EBUDGET);
    }
    for (wanted = round_up(wanted, PAGE);; wanted = round_up(wanted / 2, PAGE)) {
        if (wanted < least) wanted = least;
        r->base = reserve(c, wanted);
        if (r->base != NULL) break;
        if (wanted == least) return starved(c, WG_ENOMEM);
    }
    r->reserved = wanted;
    return WG_OK;
}

/* The size to commit next: it grows geometrically, within bounds, within the range and the
 * budget. */
static size_t next_size(const wgi_core *c, const wgi_region *r, size_t bytes) {
    if (c->buffer != NULL) return r->reserved;
    size_t step = r->committed / 4;
    if (step < FIRST_COMMIT) step = FIRST_COMMIT;
    if (step > LARGEST_STEP) step = LARGEST_STEP;
    size_t size = round_up(bytes, PAGE);
    if (size < r->committed + step) size = round_up(r->committed + step, PAGE);
    if (size > HUGE_PAGE) size = round_up(size, HUGE_PAGE);
    if (size > r->reserved) size = r->reserved;
    const size_t left = wgi_account_left(c->account);
    if (left != SIZE_MAX) {
        /* what is needed, or a part of what is left: other regions need some, too */
        const size_t asked = round_up(bytes, PAGE);
        const size_t fair = r->committed + left / 32 / PAGE * PAGE;
        if (size > fair) size = fair > asked ? fair : asked;
    }
    return size;
}

/* Makes a range of a buffer longer; 0: what follows it is not free. */
static int grow_in_place(wgi_core *c, wgi_region *r, size_t bytes) {
    if (c->buffer == NULL || r->base == NULL) return 0;
    const size_t more = bytes - r->reserved;
    const size_t got =
        wgi_buffer_extend(c, r->base + r->reserved, more, more + ahead(c, bytes));
    r->reserved += got;
    return got != 0 && commit(c, r, r->reserved) == WG_OK;
}

wg_status wgi_region_need(wgi_core *c, wgi_region *r, size_t bytes, size_t keep) {
    if (r->asked != c->resets) r->wanted = 0;
    r->asked = c->resets;
    if (bytes > r->wanted) r->wanted = bytes;
    if (bytes <= r->committed || (bytes > r->reserved && grow_in_place(c, r, bytes)))
        return WG_OK;
    if (bytes > r->reserved) {
        wgi_region larger = {NULL, 0, 0, c->resets, r->wanted};
        size_t wanted = r->base == NULL ? c->reserve : 2 * bytes;
        if (c->buffer != NULL) {
            wanted = bytes + ahead(c, bytes);
            if (keep == 0) wgi_region_free(c, r);
        }
        wg_status s = region_open(c, &larger, 0, bytes, wanted);
        if (s != WG_OK) return s;
        s = commit(c, &larger, next_size(c, &larger, bytes));
        if (s != WG_OK) {
            wgi_region_free(c, &larger);
            return s;
        }
        if (keep > r->committed) keep = r->committed;
        if (keep != 0) memcpy(larger.base, r->base, keep);
        wgi_region_free(c, r);
        *r = larger;
        return WG_OK;
    }
    return commit(c, r, next_size(c, r, bytes));
}

/* ---- records ---- */

void wgi_limit_set(wgi_core *c) {
    const wgi_chunk *k = &c->chunk[c->current];
    c->head.record_origin = (uint64_t)(uintptr_t)k->base - k->first * sizeof(wgi_record);
    c->head.limit = c->head.kept_limit = NULL;
    const unsigned slow = WG_KEEP_PLACES | WG_TRACE | WG_CHECKED;
    const int kept = (c->flags & WG_KEEP_CODE) != 0;
    if (c->chunks == 0 || c->status != WG_OK || c->pauses != 0 || c->passive || c->width != 0 ||
        (c->flags & slow) != 0)
        return;
    /* what was not used since the last reset may be given to something else */
    if (kept && (c->code.base == NULL || c->code.asked != c->resets || c->values.base == NULL ||
                 c->values.asked != c->resets))
        return;
    /* a statement of the fast path needs 4 records at most, and takes at least one per slot; a
     * small block takes one for up to WGI_SMALL slots */
    const size_t room = k->memory.committed / sizeof(wgi_record);
    wgi_record *limit = k->base + (room >= 4 ? room - 3 : 0);
    const uint64_t slots = c->max_slots >= c->head.slots ? c->max_slots - c->head.slots : 0;
    if (c->head.top < limit && (uint64_t)(limit - c->head.top) > slots / WGI_SMALL)
        limit = c->head.top + slots / WGI_SMALL;
    if (!kept) {
        c->head.limit = limit;
        return;
    }
    /* a statement takes a record at least, one value, and a number of words */
    const uint64_t values = c->values.committed / sizeof(double) + c->origin;
    const uint64_t words = c->code.committed / 8, used = WGI_CODE_START + c->head.code_words;
    uint64_t statements = words > used ? (words - used) / WGI_STATEMENT_WORDS : 0;
    if (values < c->head.slots + statements)
        statements = values > c->head.slots ? values - c->head.slots : 0;
    if (c->head.top < limit && (uint64_t)(limit - c->head.top) > statements)
        limit = c->head.top + statements;
    c->head.kept_limit = limit;
    c->head.code = wgi_code_words(c);
    c->head.values = wgi_values(c);
}

wg_status wgi_records_need(wgi_core *c, size_t records) {
    wgi_chunk *k = &c->chunk[c->current];
    const size_t used = c->chunks == 0 ? 0 : (size_t)(c->head.top - k->base);
    const size_t bytes = (used + records + 3) * sizeof(wgi_record);
    if (c->chunks != 0) {
        if (bytes <= k->memory.committed) return WG_OK;
        if (bytes <= k->memory.reserved) return wgi_region_need(c, &k->memory, bytes, 0);
        if (c->current + 1 == WGI_MAX_CHUNKS) return c->buffer != NULL ? WG_EBUDGET : WG_ENOMEM;
    }
    /* a further chunk: one kept from before, or a new one */
    const int next = c->chunks == 0 ? 0 : c->current + 1;
    const size_t least = (records + 3) * sizeof(wgi_record);
    wgi_chunk *n = &c->chunk[next];
    if (next < c->chunks && least > n->memory.reserved) {
        for (int i = c->chunks; i-- > next;) wgi_region_free(c, &c->chunk[i].memory);
        c->chunks = next;
    }
    if (next == c->chunks) {
        size_t wanted = next == 0 ? c->reserve : 2 * k->memory.reserved;
        if (c->buffer != NULL)
            wanted = least + ahead(c, next == 0 ? 0 : wgi_record_count(c) * sizeof(wgi_record));
        const wg_status s = region_open(c, &n->memory, 1, least, wanted);
        if (s != WG_OK) return s;
    }
    if (least > n->memory.committed) {
        const wg_status s = commit(c, &n->memory, next_size(c, &n->memory, least));
        if (s != WG_OK) {
            if (next == c->chunks) wgi_region_free(c, &n->memory);
            return s;
        }
    }
    if (next == c->chunks) c->chunks++;
    n->base = n->top = (wgi_record *)(void *)n->memory.base;
    if (next > 0) {
        k->top = c->head.top;
        n->first = k->first + (uint64_t)(k->top - k->base);
    }
    c->current = next;
    c->head.top = n->base;
    /* the limit and the origin of the previous chunk mean nothing in this one */
    wgi_limit_set(c);
    return WG_OK;
}

/* ---- payloads ---- */

/* A position among the payloads: which chunk, and how far into it. */
enum { PAYLOAD_CHUNK = 58 };
static uint64_t payload_position(const wgi_core *c) {
    if (c->payloads == 0) return 0;
    return (uint64_t)c->payload_current << PAYLOAD_CHUNK |
           (uint64_t)(c->head.payload_top - c->payload[c->payload_current].base);
}

static uint64_t payload_used(const wgi_core *c) {
    if (c->payloads == 0) return 0;
    return c->payload_before +
           (uint64_t)(c->head.payload_top - c->payload[c->payload_current].base);
}

static void payload_at(wgi_core *c, int k, char *top) {
    c->payload_current = k;
    c->head.payload_top = top;
    c->head.payload_end = c->payload[k].base + c->payload[k].committed;
    c->payload_before = 0;
    for (int i = 0; i < k; i++) c->payload_before += c->payload[i].committed;
}

wg_status wgi_payload_need(wgi_core *c, size_t bytes) {
    if (c->outer != NULL)
        return wgi_fail(
            c, WG_EMODE,
            "a segment of a parallel loop takes statements: no operations on matrices, no "
            "memory that is kept");
    if (bytes > SIZE_MAX / 4) return WG_ENOMEM;
    bytes = wgi_payload_round(bytes != 0 ? bytes : 1); /* no range of a buffer may be empty */
    if (c->payloads != 0) {
        if (bytes <= (size_t)(c->head.payload_end - c->head.payload_top)) return WG_OK;
        wgi_region *const r = &c->payload[c->payload_current];
        const size_t need = (size_t)(c->head.payload_top - r->base) + bytes;
        if (need <= r->reserved) {
            const wg_status s = wgi_region_need(c, r, need, 0);
            c->head.payload_end = r->base + r->committed;
            return s;
        }
        if (c->payload_current + 1 == WGI_MAX_CHUNKS)
            return c->buffer != NULL ? WG_EBUDGET : WG_ENOMEM;
    }
    /* a further chunk: one kept from before, or a new one */
    const int next = c->payloads == 0 ? 0 : c->payload_current + 1;
    wgi_region *const n = &c->payload[next];
    if (next < c->payloads && bytes > n->reserved) {
        for (int i = c->payloads; i-- > next;) wgi_region_free(c, &c->payload[i]);
        c->payloads = next;
    }
    if (next == c->payloads) {
        size_t wanted = next == 0 ? c->reserve : 2 * c->payload[next - 1].reserved;
        if (c->buffer != NULL) wanted = bytes + ahead(c, payload_used(c));
        const wg_status s = region_open(c, n, 1, bytes, wanted);
        if (s != WG_OK) return s;
    }
    if (bytes > n->committed) {
        const wg_status s = commit(c, n, next_size(c, n, bytes));
        if (s != WG_OK) {
            if (next == c->payloads) wgi_region_free(c, n);
            return s;
        }
    }
    if (next == c->payloads) c->payloads++;
    payload_at(c, next, n->base);
    return WG_OK;
}

wg_status wgi_scratch_need(wgi_core *c, size_t bytes) {
    enum { PIECES = 16 }; /* each may start on the next multiple of 64 */
    if (bytes == 0) return WG_OK;
    if (bytes > SIZE_MAX / 4) return WG_ENOMEM;
    return wgi_region_need(c, &c->scratch, (size_t)c->scratch_used + bytes + PIECES * 64,
                           (size_t)c->scratch_used);
}

void *wgi_scratch(wgi_core *c, size_t bytes) {
    const size_t start = round_up(c->scratch_used, 64);
    if (bytes == 0) return c; /* any address will do */
    if (bytes > SIZE_MAX / 4 || start + bytes > c->scratch.committed) return NULL;
    c->scratch_used = start + bytes;
    return c->scratch.base + start;
}

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
    const wg_status s = wgi_region_need(c, &c->branches, used + sizeof(wgi_branch), used);
    if (s == WG_OK && first) memcpy(c->branches.base, c->few, used);
    return s;
}

/* What is recorded from here on belongs to branch number n, the last one. */
static void branch_start(wgi_core *c, size_t n) {
    const uint32_t stamp = new_stamp(c);
    wgi_branch *const b =
        c->branches.base != NULL ? (wgi_branch *)(void *)c->branches.base : c->few;
    const uint64_t records = c->chunks == 0 ? 0 : wgi_record_count(c);
    b[n] = (wgi_branch){c->head.code_words, records, payload_position(c), c->head.slots, stamp};
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
    if (start.reserve < SMALLEST_RANGE) start.reserve = SMALLEST_RANGE;
    if (start.max_slots == 0 || start.max_slots >= UINT32_MAX) start.max_slots = UINT32_MAX - 1;

    /* what it may take is that of its lender, unless that has a buffer and takes nothing */
    const int lent = lender != NULL && lender->buffer == NULL;
    start.account = lent ? lender->account : &start.own;
    start.own.budget = budget;

    /* the tape itself is the first thing in its own memory */
    const size_t self = round_up(sizeof(wgi_core), PAGE);
    wgi_region home = {NULL, 0, 0, 0, 0};
    wg_status s = region_open(&start, &home, 0, self, self);
    if (s == WG_OK && (s = commit(&start, &home, self)) != WG_OK)
        wgi_region_free(&start, &home);
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
    c->guest_since[c->guests] = payload_position(c);
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

void wg_tape_free(wg_tape *t) {
    if (t == NULL || wgi_core_of(t)->outer != NULL) return;
    wgi_core *c = wgi_core_of(t);
    leave_guests(c, 0);
    for (wgi_link *k = c->links; k != NULL; k = k->next) k->c = NULL;
    c->beside_works = 0;
    (void)give_up_beside(c);
    for (int k = 0; c->host != NULL && k < c->host->guests; k++)
        if (c->host->guest[k] == c) c->host->guest[k] = NULL;
    wgi_region *const all[] = {&c->code,     &c->values,   &c->adjoints, &c->tangents,
                               &c->places,   &c->labels,   &c->second,   &c->scratch,
                               &c->drive,    &c->branches, &c->index[0], &c->index[1],
                               &c->index[2], &c->index[3]};
    for (int i = 0; i < c->chunks; i++) wgi_region_free(c, &c->chunk[i].memory);
    for (int i = 0; i < c->payloads; i++) wgi_region_free(c, &c->payload[i]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) wgi_region_free(c, all[i]);
    for (int k = 0; k < WGI_LISTS; k++) wgi_region_free(c, &c->list[k]);
    c->head.stamp = 0; /* handles of a freed tape match nothing while the page is mapped */
    if (c->account == &c->own) {
        if (c->buffer == NULL) wgi_account_leave(&c->own);
        return;
    }
    const wg_memory memory = c->memory;
    wgi_account *const account = c->account;
    memory.release(memory.ctx, c, round_up(sizeof(wgi_core), PAGE));
    wgi_account_give(account, round_up(sizeof(wgi_core), PAGE));
    wgi_account_leave(account);
}

/* Updates the statistics, before something is forgotten. */
static void note_marks(wgi_core *c) {
    for (int k = 0; k <= c->payload_current && k < c->payloads; k++) {
        wgi_region *const r = &c->payload[k];
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
    (void)give_up_idle(c, NULL);
    while (c->chunks > 0) wgi_region_free(c, &c->chunk[--c->chunks].memory);
    while (c->payloads > 0) wgi_region_free(c, &c->payload[--c->payloads]);
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
    note_marks(c);
    leave_guests(c, 0);
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
    if (c->payloads != 0) payload_at(c, 0, c->payload[0].base);
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
    if (c->starved || wgi_buffer_is_crowded(c)) give_all_back(c);
    new_generation(c);
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
    m.payload = payload_position(c);
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
           m.payload <= payload_position(c) &&
           m.stamp == branches(c)[branch_before(c, &m)].stamp;
}

wg_status wg_tape_rewind(wg_tape *t, wg_mark m) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (wgi_check_thread(c, "wg_tape_rewind") != WG_OK) return WG_ETHREAD;
    if (wgi_is_telling(c)) return WG_EMODE;
    if (wgi_refuse_segment(c, "wg_tape_rewind") != WG_OK) return WG_EMODE;
    if (c->half_replayed || c->status == WG_ETHREAD)
        return c->status; /* only a reset makes it whole */
    if (!wgi_mark_alive(c, m))
        return wgi_refuse(
            c, WG_EMARK,
            "wg_tape_rewind: a mark of another tape, or from before a reset or rewind");
    const int cut = m.slot < c->head.slots || m.code < c->head.code_words ||
                    m.payload < payload_position(c) ||
                    (c->chunks != 0 && m.record < wgi_record_count(c));
    const size_t kept = branch_before(c, &m) + 1;
    if (cut && kept == c->branch_count) {
        const wg_status s = branch_room(c);
        if (s != WG_OK)
            return wgi_refuse(c, s, "wg_tape_rewind: no room for branch %zu", kept + 1);
    }
    note_marks(c);
    leave_guests(c, m.payload);
    if (c->chunks != 0) {
        int k = c->current;
        while (k > 0 && c->chunk[k].first > m.record) k--;
        c->current = k;
        c->head.top = c->chunk[k].base + (m.record - c->chunk[k].first);
    }
    if (c->payloads != 0) {
        const int k = (int)(m.payload >> PAYLOAD_CHUNK);
        payload_at(c, k,
                   c->payload[k].base + (m.payload & (((uint64_t)1 << PAYLOAD_CHUNK) - 1)));
    }
    c->head.last_block = (wgi_block *)(uintptr_t)m.block;
    if (m.record < c->always) c->always = 0;
    while (c->stretch != NULL && c->stretch->end[c->stretch->runs - 1] > m.record)
        c->stretch = c->stretch->prev;
    if (m.record < c->ordered) c->ordered = m.record;
    c->head.slots = m.slot;
    c->inputs = m.inputs;
    c->head.code_words = m.code;
    c->place_count = m.places;
    if (cut) {
        branch_start(c, kept);
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
    s.payload_bytes = payload_used(c);
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
