/* SPDX-License-Identifier: MIT */
/* The arena: extents of memory that grow, and what stands in them.
 *
 * An extent asks for a large address range once and makes it usable as it grows. Asking is
 * repeated with half the size until the system accepts. Records continue in a further chunk
 * when their range is full; all other extents move to a larger range (they are addressed by
 * offset). In a caller's buffer nothing is obtained: ranges are cut from it and grow in place
 * where they can. Where there is no room in the buffer, or none in the budget, what holds
 * nothing since the last reset is given up, and the unused end of everything else. */
#include "arena.h"
#include "private_rows.h"

#include <string.h>

enum { PAGE = WGI_PAGE, HUGE_PAGE = WGI_HUGE_PAGE, FIRST_COMMIT = 1 << 16 };
#define LARGEST_STEP ((size_t)1 << 25)

/* ---- extents ---- */

static void *reserve(wgi_core *c, size_t bytes) {
    c->memory_calls++;
    return c->memory.reserve(c->memory.ctx, bytes);
}

/* The next reset will give all memory back: another recording may need it in other extents. */
static wg_status starved(wgi_core *c, wg_status s) {
    c->starved = 1;
    return s;
}

void wgi_extent_free(wgi_core *c, wgi_extent *r) {
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

int wgi_extent_trim(wgi_core *c, wgi_extent *r, size_t used) {
    const size_t keep = wgi_round_up(used != 0 ? used : 1, PAGE);
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
static int give_up_payloads(wgi_core *c, const wgi_extent *busy) {
    int any = 0;
    while (c->payloads > c->payload_current && &c->payload[c->payloads - 1] != busy) {
        const int k = c->payloads - 1, current = k == c->payload_current;
        wgi_extent *const r = &c->payload[k];
        size_t used = c->buffer != NULL ? 0 : r->wanted; /* in a buffer they stay readable */
        if (current && (size_t)(c->head.payload_top - r->base) > used)
            used = (size_t)(c->head.payload_top - r->base);
        if (used != 0 || (current && k > 0)) {
            any |= wgi_extent_trim(c, r, used);
            if (current) c->head.payload_end = r->base + r->committed;
            break;
        }
        wgi_extent_free(c, r);
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

int wgi_give_up_lists(wgi_core *c, const wgi_extent *busy) {
    int any = 0;
    for (int k = 0; k < WGI_LISTS; k++)
        if (c->list[k].base != NULL && (c->lists_busy >> k & 1) == 0 && &c->list[k] != busy) {
            wgi_extent_free(c, &c->list[k]);
            any = 1;
        }
    return any;
}

int wgi_give_up_beside(wgi_core *c) {
    wgi_core *const beside = c->beside;
    if (beside == NULL || c->beside_works) return 0;
    c->beside = NULL;
    wg_tape_free(&beside->head);
    return 1;
}

int wgi_derived_drop(wgi_core *c) {
    wgi_derived *const d = c->derived;
    if (d == NULL) return 0;
    c->derived = NULL;
    d->drop(d);
    return 1;
}

int wgi_give_up_forgotten(wgi_core *c, const wgi_extent *busy) {
    const struct {
        wgi_extent *extent;
        size_t used; /* bytes in use, beside those that are being asked for */
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
        wgi_extent *const r = all[i].extent;
        if (r->base == NULL || r == busy || (r == &c->drive && c->driving)) continue;
        if (r->asked == c->resets) {
            any |= wgi_extent_trim(c, r, all[i].used > r->wanted ? all[i].used : r->wanted);
            continue;
        }
        wgi_extent_free(c, r);
        any = 1;
    }
    any |= wgi_give_up_lists(c, busy);
    /* forward tapes have none; a pass of second order takes the width of one for a while */
    const int none = c->width != 0 && c->current == 0 && c->head.top == c->chunk[0].base;
    const int records = none ? 0 : c->current + 1;
    for (; c->chunks > records && &c->chunk[c->chunks - 1].memory != busy; any = 1)
        wgi_extent_free(c, &c->chunk[--c->chunks].memory);
    if (c->chunks == 0) {
        c->current = 0;
        c->head.top = c->chunk[0].base = NULL;
    } else if (c->chunks == records && &c->chunk[c->current].memory != busy &&
               c->first_placed == NULL) { /* behind the last record segments have theirs */
        wgi_chunk *const k = &c->chunk[c->current];
        const size_t records_used = (size_t)(c->head.top - k->base + 4);
        any |= wgi_extent_trim(c, &k->memory, records_used * sizeof(wgi_record));
    }
    any |= give_up_payloads(c, busy);
    wgi_limit_set(c);
    return any;
}

int wgi_give_up_idle(wgi_core *c, const wgi_extent *busy) {
    int any = wgi_give_up_beside(c);
    any |= wgi_private_rows_free(c);
    any |= wgi_derived_drop(c);
    if (c->turns != NULL) any |= c->turns->shrink(c->turns);
    return wgi_give_up_forgotten(c, busy) | any;
}

wg_status wgi_budget_need(wgi_core *c, size_t bytes, const wgi_extent *busy) {
    c->asks = 1;
    int any = 1;
    while (any && !wgi_account_has(c->account, bytes)) {
        any = wgi_give_up_idle(c, busy);
        for (wgi_core *l = c->lender; l != NULL && l->account == c->account; l = l->lender) {
            any |= wgi_give_up_idle(l, NULL);
            l->starved = 1;
        }
    }
    c->asks = 0;
    return any ? WG_OK : starved(c, WG_EBUDGET);
}

wg_status wgi_extent_commit(wgi_core *c, wgi_extent *r, size_t bytes) {
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
 * all extents together leave enough for each other. */
static size_t ahead(const wgi_core *c, size_t held) {
    const size_t most = c->buffer_bytes / 32;
    return held < most ? held : most;
}

wg_status wgi_extent_open(wgi_core *c, wgi_extent *r, int chunk, size_t least, size_t wanted) {
    least = wgi_round_up(least, PAGE);
    if (wanted < least) wanted = least;
    if (c->buffer != NULL) {
        do r->base = wgi_buffer_take(c, chunk, least, wanted, &r->reserved);
        while (r->base == NULL && wgi_give_up_idle(c, r));
        return r->base != NULL ? WG_OK : starved(c, WG_EBUDGET);
    }
    for (wanted = wgi_round_up(wanted, PAGE);; wanted = wgi_round_up(wanted / 2, PAGE)) {
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
static size_t next_size(const wgi_core *c, const wgi_extent *r, size_t bytes) {
    if (c->buffer != NULL) return r->reserved;
    size_t step = r->committed / 4;
    if (step < FIRST_COMMIT) step = FIRST_COMMIT;
    if (step > LARGEST_STEP) step = LARGEST_STEP;
    size_t size = wgi_round_up(bytes, PAGE);
    if (size < r->committed + step) size = wgi_round_up(r->committed + step, PAGE);
    if (size > HUGE_PAGE) size = wgi_round_up(size, HUGE_PAGE);
    if (size > r->reserved) size = r->reserved;
    const size_t left = wgi_account_left(c->account);
    if (left != SIZE_MAX) {
        /* what is needed, or a part of what is left: other extents need some, too */
        const size_t asked = wgi_round_up(bytes, PAGE);
        const size_t fair = r->committed + left / 32 / PAGE * PAGE;
        if (size > fair) size = fair > asked ? fair : asked;
    }
    return size;
}

/* Makes a range of a buffer longer; 0: what follows it is not free. */
static int grow_in_place(wgi_core *c, wgi_extent *r, size_t bytes) {
    if (c->buffer == NULL || r->base == NULL) return 0;
    const size_t more = bytes - r->reserved;
    const size_t got =
        wgi_buffer_extend(c, r->base + r->reserved, more, more + ahead(c, bytes));
    r->reserved += got;
    return got != 0 && wgi_extent_commit(c, r, r->reserved) == WG_OK;
}

wg_status wgi_extent_need(wgi_core *c, wgi_extent *r, size_t bytes, size_t keep) {
    if (r->asked != c->resets) r->wanted = 0;
    r->asked = c->resets;
    if (bytes > r->wanted) r->wanted = bytes;
    if (bytes <= r->committed || (bytes > r->reserved && grow_in_place(c, r, bytes)))
        return WG_OK;
    if (bytes > r->reserved) {
        wgi_extent larger = {NULL, 0, 0, c->resets, r->wanted};
        size_t wanted = r->base == NULL ? c->reserve : 2 * bytes;
        if (c->buffer != NULL) {
            wanted = bytes + ahead(c, bytes);
            if (keep == 0) wgi_extent_free(c, r);
        }
        wg_status s = wgi_extent_open(c, &larger, 0, bytes, wanted);
        if (s != WG_OK) return s;
        s = wgi_extent_commit(c, &larger, next_size(c, &larger, bytes));
        if (s != WG_OK) {
            wgi_extent_free(c, &larger);
            return s;
        }
        if (keep > r->committed) keep = r->committed;
        if (keep != 0) memcpy(larger.base, r->base, keep);
        wgi_extent_free(c, r);
        *r = larger;
        return WG_OK;
    }
    return wgi_extent_commit(c, r, next_size(c, r, bytes));
}

/* ---- records ---- */

void wgi_limit_set(wgi_core *c) {
    const wgi_chunk *k = &c->chunk[c->current];
    c->head.record_origin = (uint64_t)(uintptr_t)k->base - k->first * sizeof(wgi_record);
    c->head.limit = c->head.kept_limit = NULL;
    const unsigned slow = WG_KEEP_PLACES | WG_TRACE | WG_CHECKED;
    c->head.watches = c->status != WG_OK || (c->flags & (WG_TRACE | WG_CHECKED)) != 0;
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
    const size_t room = c->placed != 0 && c->current == 0
                            ? (size_t)c->placed
                            : k->memory.committed / sizeof(wgi_record);
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
    if (c->placed != 0 && c->current == 0 && used + records <= c->placed) return WG_OK;
    if (c->chunks != 0) {
        if (bytes <= k->memory.committed) return WG_OK;
        if (bytes <= k->memory.reserved) return wgi_extent_need(c, &k->memory, bytes, 0);
        if (c->current + 1 == WGI_MAX_CHUNKS) return c->buffer != NULL ? WG_EBUDGET : WG_ENOMEM;
    }
    /* a further chunk: one kept from before, or a new one */
    const int next = c->chunks == 0 ? 0 : c->current + 1;
    const size_t least = (records + 3) * sizeof(wgi_record);
    wgi_chunk *n = &c->chunk[next];
    if (next < c->chunks && least > n->memory.reserved) {
        for (int i = c->chunks; i-- > next;) wgi_extent_free(c, &c->chunk[i].memory);
        c->chunks = next;
    }
    if (next == c->chunks) {
        size_t wanted = k->memory.reserved == 0 ? c->reserve : 2 * k->memory.reserved;
        if (c->buffer != NULL)
            wanted = least + ahead(c, next == 0 ? 0 : wgi_record_count(c) * sizeof(wgi_record));
        const wg_status s = wgi_extent_open(c, &n->memory, 1, least, wanted);
        if (s != WG_OK) return s;
    }
    if (least > n->memory.committed) {
        const wg_status s = wgi_extent_commit(c, &n->memory, next_size(c, &n->memory, least));
        if (s != WG_OK) {
            if (next == c->chunks) wgi_extent_free(c, &n->memory);
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

uint64_t wgi_payload_position(const wgi_core *c) {
    if (c->payloads == 0) return 0;
    return (uint64_t)c->payload_current << WGI_PAYLOAD_CHUNK |
           (uint64_t)(c->head.payload_top - c->payload[c->payload_current].base);
}

uint64_t wgi_payload_used(const wgi_core *c) {
    if (c->payloads == 0) return 0;
    return c->payload_before +
           (uint64_t)(c->head.payload_top - c->payload[c->payload_current].base);
}

void wgi_payload_at(wgi_core *c, int k, char *top) {
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
        wgi_extent *const r = &c->payload[c->payload_current];
        const size_t need = (size_t)(c->head.payload_top - r->base) + bytes;
        if (need <= r->reserved) {
            const wg_status s = wgi_extent_need(c, r, need, 0);
            c->head.payload_end = r->base + r->committed;
            return s;
        }
        if (c->payload_current + 1 == WGI_MAX_CHUNKS)
            return c->buffer != NULL ? WG_EBUDGET : WG_ENOMEM;
    }
    /* a further chunk: one kept from before, or a new one */
    const int next = c->payloads == 0 ? 0 : c->payload_current + 1;
    wgi_extent *const n = &c->payload[next];
    if (next < c->payloads && bytes > n->reserved) {
        for (int i = c->payloads; i-- > next;) wgi_extent_free(c, &c->payload[i]);
        c->payloads = next;
    }
    if (next == c->payloads) {
        size_t wanted = next == 0 ? c->reserve : 2 * c->payload[next - 1].reserved;
        if (c->buffer != NULL) wanted = bytes + ahead(c, wgi_payload_used(c));
        const wg_status s = wgi_extent_open(c, n, 1, bytes, wanted);
        if (s != WG_OK) return s;
    }
    if (bytes > n->committed) {
        const wg_status s = wgi_extent_commit(c, n, next_size(c, n, bytes));
        if (s != WG_OK) {
            if (next == c->payloads) wgi_extent_free(c, n);
            return s;
        }
    }
    if (next == c->payloads) c->payloads++;
    wgi_payload_at(c, next, n->base);
    return WG_OK;
}

wg_status wgi_scratch_need(wgi_core *c, size_t bytes) {
    enum { PIECES = 16 }; /* each may start on the next multiple of 64 */
    if (bytes == 0) return WG_OK;
    if (bytes > SIZE_MAX / 4) return WG_ENOMEM;
    const size_t all = (size_t)c->scratch_used + bytes + PIECES * 64;
    if (c->held != 0 && c->scratch_used != 0 && all > c->scratch.reserved) { /* it would move */
        c->held = 2;
        return WG_EMODE;
    }
    return wgi_extent_need(c, &c->scratch, all, (size_t)c->scratch_used);
}

void *wgi_scratch(wgi_core *c, size_t bytes) {
    const size_t start = wgi_round_up(c->scratch_used, 64);
    if (bytes == 0) return c; /* nothing is stored there: any address but NULL will do */
    if (bytes > SIZE_MAX / 4 || start + bytes > c->scratch.committed) return NULL;
    c->scratch_used = start + bytes;
    return c->scratch.base + start;
}
