/* SPDX-License-Identifier: MIT */
/* A sweep that goes only where there are adjoints: from page to page that has a mark.
 *
 * The records of a page are swept one after the other; what one of them gives an adjoint to is
 * marked first. That costs a few instructions for each, which the plain loop of scalar_sweep.c
 * has not. So it is done for a part of the slots below only, and longer where pages have been
 * left out; then the plain loop takes over, which marks nothing, and leaves out runs of records
 * whose results have adjoints that are all 0. What that costs beyond what was reached is in
 * proportion to what was done before; and where all is reached, next to nothing. */
#include "tape.h"
#include "touched.h"

#include <string.h>

/* What a page that was left out has saved, in records with marks. */
enum { SAVED = WGI_PAGE_SLOTS / 8 };

struct way {
    wgi_core *c;
    int has_room; /* is there workspace for blocks? */
};

static uint32_t last_result(const wgi_record *r) {
    if (r->kind != WGI_BLOCK) return r->out;
    const wgi_block *b;
    memcpy(&b, &r->jac0, sizeof b);
    return b->outs != 0 ? b->out + (b->outs - 1) : b->out;
}

static int is_disordered(const wgi_record *r) {
    return (r->in0 >= r->out) | (r->in1 >= r->out);
}

/* ---- records ---- */

/* Sweeps down to `low`, to a block, to a result below `bottom`, or to a record that is not in
 * order; gives where it is then. */
static const wgi_record *one_lane(wgi_core *c, const wgi_record *low, const wgi_record *high,
                                  uint32_t bottom) {
    double *const adjoint = wgi_adjoints(c);
    for (; high != low; high--) {
        const wgi_record *const r = high - 1;
        if (r->kind == WGI_BLOCK || r->out < bottom || is_disordered(r)) break;
        const double w = adjoint[r->out];
        if (w == 0) continue;
        wgi_adjoints_mark_one(c, r->in0);
        wgi_adjoints_mark_one(c, r->in1);
        adjoint[r->in0] += wgi_product(w, r->jac0);
        adjoint[r->in1] += wgi_product(w, r->jac1);
    }
    return high;
}

/* The same in lanes, or traced; *s: what came of it. */
static const wgi_record *by_kernel(wgi_core *c, const wgi_record *low, const wgi_record *high,
                                   uint32_t bottom, wg_status *s) {
    const double *const adjoint = wgi_adjoints(c);
    for (; high != low && *s == WG_OK; high--) {
        const wgi_record *const r = high - 1;
        if (r->kind == WGI_BLOCK || r->out < bottom || is_disordered(r)) break;
        if (wgi_adjoints_zero(adjoint + (size_t)r->out * c->lanes, c->lanes)) continue;
        wgi_adjoints_mark_one(c, r->in0);
        wgi_adjoints_mark_one(c, r->in1);
        *s = wgi_sweep_run(c, r, high);
    }
    return high;
}

/* ---- blocks ---- */

struct touching {
    wgi_core *c;
    uint32_t slot;
};
static void touch(void *to, size_t first, size_t n) {
    const struct touching *const t = to;
    wgi_adjoints_mark(t->c, t->slot + (uint32_t)first, n);
}

static void mark_operand(wgi_core *c, const wgi_operand *o) {
    const uint32_t length = o->trans ? o->cols : o->rows,
                   columns = o->trans ? o->rows : o->cols;
    if (o->slot == 0 || length == 0) return;
    if (o->ld == length) wgi_adjoints_mark(c, o->slot, (uint64_t)length * columns);
    else
        for (uint32_t j = 0; j < columns; j++)
            wgi_adjoints_mark(c, o->slot + j * o->ld, length);
}

static void mark_gathered(wgi_core *c, const wgi_block *b, const uint32_t *slot) {
    const double *const rows = wgi_adjoints(c) + (size_t)b->out * c->lanes;
    for (uint32_t i = 0; i < b->outs; i++)
        if (slot[i] != 0 && !wgi_adjoints_zero(rows + i * c->lanes, c->lanes))
            wgi_adjoints_mark_one(c, slot[i]);
}

static void mark_operands(wgi_core *c, const wgi_block *b) {
    const wgi_touched *const few = wgi_touched_of(b->op);
    const uint32_t *const slot = wgi_gather_slots(b);
    if (slot != NULL) mark_gathered(c, b, slot);
    else if (few != NULL) {
        struct touching to = {c, b->operand[0].slot};
        wg_block_arg arg[2];
        wg_block call;
        wgi_block_call(&call, b, arg, NULL);
        few->of(&call, touch, &to);
    } else
        for (uint32_t i = 0; i < b->inputs; i++) mark_operand(c, &b->operand[i]);
}

static wg_status small_block(wgi_core *c, const wgi_block *b) {
    const wgi_small *const s = (const wgi_small *)(const void *)b;
    for (int i = 0; i < 2; i++)
        if (s->in[i] != 0) wgi_adjoints_mark(c, s->in[i], s->outs);
    (void)wgi_small_reverse(c, b, b->record);
    return WG_OK;
}

static wg_status sweep_block(struct way *way, const wgi_block *b) {
    wgi_core *const c = way->c;
    const double *const rows = wgi_adjoints(c) + (size_t)b->out * c->lanes;
    if (wgi_adjoints_zero(rows, b->outs * c->lanes)) return WG_OK;
    if (b->op == &wgi_small_op) return small_block(c, b);
    if (!way->has_room) {
        const wg_status s = wgi_blocks_room(c, 0);
        if (s != WG_OK) {
            c->swept = 0;
            return wgi_refuse(c, s, "a sweep: no workspace for its matrix operations");
        }
        way->has_room = 1;
    }
    mark_operands(c, b);
    return wgi_block_reverse(c, b);
}

/* ---- pages ---- */

/* The records from number *at down that have results from slot `bottom` on, or as many of them
 * as may be swept with marks. */
static wg_status sweep_page(struct way *way, uint64_t *at, uint64_t low, uint32_t bottom) {
    wgi_core *const c = way->c;
    wg_status s = WG_OK;
    while (s == WG_OK && *at > low && c->marks.left != 0) {
        const wgi_chunk *chunk = &c->chunk[c->current];
        while (chunk->first >= *at) chunk--;
        uint64_t n = *at - (low > chunk->first ? low : chunk->first);
        if (n > c->marks.left) n = c->marks.left;
        const wgi_record *const high = chunk->base + (*at - chunk->first), *const from =
                                                                               high - n;
        const wgi_record *const r = c->lanes == 1 && !c->traced
                                        ? one_lane(c, from, high, bottom)
                                        : by_kernel(c, from, high, bottom, &s);
        *at -= (uint64_t)(high - r);
        c->marks.left -= (uint64_t)(high - r);
        if (s != WG_OK || r == from) continue;
        if (last_result(r - 1) < bottom) break;
        if (r[-1].kind != WGI_BLOCK) return wgi_fail_disordered(c, r - 1);
        const wgi_block *b;
        memcpy(&b, &r[-1].jac0, sizeof b);
        s = sweep_block(way, b);
        --*at;
        c->marks.left--;
    }
    return s;
}

/* The number of records up to the last one that may have a result up to `slot`; at most
 * `at`. */
static uint64_t records_to(const wgi_core *c, uint64_t at, uint64_t slot) {
    if (wgi_record_at(c, at - 1)->out <= slot) return at;
    const uint64_t after = wgi_record_after(c, slot);
    return after < at ? after : at;
}

wg_status wgi_sweep_reached(wgi_core *c, uint64_t *high, uint64_t low) {
    wgi_marks *const m = &c->marks;
    uint64_t at = *high;
    if (at <= low) return WG_OK;
    uint64_t limit = last_result(wgi_record_at(c, at - 1));
    struct way way = {c, 0};
    wg_status s = WG_OK;
    *high = low;
    /* an earlier part of this sweep may have given up */
    const uint64_t unmarked = wgi_adjoints_unmarked(c);
    while (s == WG_OK) {
        const uint32_t slot = wgi_adjoints_last(c, limit);
        if (slot < unmarked) {
            *high = records_to(c, at, limit < unmarked ? limit : unmarked - 1);
            if (*high < low) *high = low;
        }
        if (slot < unmarked || slot == 0) break;
        const uint64_t page = ((uint64_t)slot - 1) / WGI_PAGE_SLOTS;
        m->left += (limit - slot) / WGI_PAGE_SLOTS * SAVED;
        at = records_to(c, at, slot);
        if (at <= low) break;
        s = sweep_page(&way, &at, low, (uint32_t)(page * WGI_PAGE_SLOTS) + 1);
        if (s != WG_OK || at <= low) break;
        if (m->left == 0) {
            wgi_adjoints_unmark(c, last_result(wgi_record_at(c, at - 1)));
            m->runs = 1; /* this one, for there may be blocks only */
            *high = at;
            break;
        }
        limit = page * WGI_PAGE_SLOTS;
    }
    return s;
}
