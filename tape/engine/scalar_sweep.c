/* SPDX-License-Identifier: MIT */
/* The loops of a sweep over scalar records.
 *
 * w = adjoint of out;  adjoint of in += jac w.  An adjoint that is exactly 0 contributes
 * nothing, and neither does a local derivative that is exactly 0. */
#include "stretch.h"

#include <string.h>

/* How many bytes ahead of a backward sweep records are prefetched, into the second-level cache,
 * as the first-level cache is for adjoints; the hardware would stop at the end of a page. To
 * prefetch an address that is not ours does no harm. */
enum { AHEAD = 8256 };

/* Is w 0, infinite or NaN? For any other w, w times a local derivative of 0 is 0 by plain
 * arithmetic. The bits of w are taken from the register where it is: if w were loaded as an
 * integer first, as compilers like to, it would be there as a double some cycles later, and
 * that in every chain of operations. */
static inline int needs_a_look(double w) {
    uint64_t bits;
#if defined(__x86_64__)
    __asm__("" : "+x"(w));
#endif
    memcpy(&bits, &w, sizeof bits);
    return 2 * bits - 1 >= 2 * (uint64_t)0x7ff0000000000000 - 1;
}

/* What a sweep has in registers: the result whose records it has come to, with its adjoint w,
 * and the two adjoints that it stored last. Loaded from where they were just stored, these
 * would come ten cycles later, in every chain of operations. Slot 0, which is nobody's result,
 * stands for none. */
struct held {
    uint32_t out, in0, in1;
    double w, sum0, sum1;
};
static const struct held nothing;

static inline __attribute__((always_inline)) struct held
replay(const wgi_record *r, double *adjoint, const wgi_offset *w, struct held h) {
    if (r->out != h.out) {
        h.w = r->out == h.in1   ? h.sum1 /* in1 was stored after in0 */
              : r->out == h.in0 ? h.sum0
                                : *wgi_row(w, adjoint, 1, r->out);
        h.out = r->out;
        if (__builtin_expect(needs_a_look(h.w), 0)) {
            if (h.w == 0) return nothing;
            *wgi_row(w, adjoint, 1, r->in0) += wgi_product(h.w, r->jac0);
            if (r->in1 != 0) *wgi_row(w, adjoint, 1, r->in1) += wgi_product(h.w, r->jac1);
            return nothing;
        }
    }
    const double p0 = h.w * r->jac0, p1 = h.w * r->jac1;
    h.in0 = r->in0;
    h.in1 = r->in1;
    double *const to0 = wgi_row(w, adjoint, 1, h.in0);
    h.sum0 = *to0 + p0;
    *to0 = h.sum0;
    /* otherwise records with a single operand would wait for each other */
    if (h.in1 == 0) return h;
    double *const to1 = wgi_row(w, adjoint, 1, h.in1);
    h.sum1 = *to1 + p1;
    *to1 = h.sum1;
    return h;
}

/* Takes two records at a time, which are one line of the cache. */
static inline __attribute__((always_inline)) void sweep_through(const wgi_record *low,
                                                                const wgi_record *high,
                                                                double *adjoint,
                                                                const wgi_offset *w) {
    struct held h = nothing;
    if ((high - low) % 2 != 0) h = replay(--high, adjoint, w, h);
    for (const wgi_record *r = high; r != low;) {
        r -= 2;
        __builtin_prefetch((const void *)((uintptr_t)r - AHEAD), 0, 2);
        h = replay(r + 1, adjoint, w, h);
        h = replay(r, adjoint, w, h);
    }
}
static void sweep(const wgi_record *low, const wgi_record *high, double *adjoint) {
    sweep_through(low, high, adjoint, NULL);
}
__attribute__((nonnull)) static void sweep_by_offsets(const wgi_record *low,
                                                      const wgi_record *high, double *adjoint,
                                                      const wgi_offset *w) {
    sweep_through(low, high, adjoint, w);
}

/* The same, up to the first adjoint that becomes NaN. */
static wg_status sweep_traced(wgi_core *c, const wgi_record *low, const wgi_record *high,
                              double *adjoint, const wgi_offset *offset) {
    for (const wgi_record *r = high; r-- != low;) {
        const double *const in0 = wgi_row(offset, adjoint, 1, r->in0);
        const double *const in1 = wgi_row(offset, adjoint, 1, r->in1);
        const double w = *wgi_row(offset, adjoint, 1, r->out), before0 = *in0, before1 = *in1;
        replay(r, adjoint, offset, nothing);
        if (__builtin_isunordered(*in0, *in1) && !__builtin_isunordered(before0, before1))
            return wgi_refuse_trace(c, r, w);
    }
    return WG_OK;
}

/* Operands are older than results, unless a record was made with a variable that a rewind had
 * forgotten, whose slot is that of a later result: the fast path of wg_let does not notice
 * that. So where there was a rewind, records are checked before they are swept. */
static const wgi_record *first_disordered(const wgi_record *low, const wgi_record *high) {
    for (const wgi_record *r = low; r != high; r++)
        if ((r->in0 >= r->out) | (r->in1 >= r->out)) return r;
    return NULL;
}

wg_status wgi_fail_disordered(wgi_core *c, const wgi_record *r) {
    const uint32_t slot = r->in0 >= r->out ? r->in0 : r->in1;
    c->swept = 0;
    if (slot >= c->head.slots && c->loops)
        return wgi_fail(
            c, WG_ESTALE,
            "the variable in slot %u was computed from that in slot %u, of a segment of a "
            "parallel loop: wg_parallel_adopt comes first",
            r->out, slot);
    return wgi_fail(c, WG_ESTALE,
                    "the variable in slot %u was computed from that in slot %u, which a rewind "
                    "had forgotten: with WG_CHECKED the statement is named",
                    r->out, slot);
}

wg_status wgi_records_own(wgi_core *c) {
    const uint64_t count = c->chunks == 0 ? 0 : wgi_record_count(c);
    if (!c->loops) return WG_OK;
    for (int k = c->current; k >= 0 && c->ordered < count; k--) {
        const wgi_chunk *const chunk = &c->chunk[k];
        const wgi_record *const to = k == c->current ? c->head.top : chunk->top;
        const uint64_t known = c->ordered > chunk->first ? c->ordered - chunk->first : 0;
        const wgi_record *const odd = first_disordered(chunk->base + known, to);
        if (odd != NULL) return wgi_fail_disordered(c, odd);
        if (c->ordered >= chunk->first) break;
    }
    c->ordered = count;
    return WG_OK;
}

wg_status wgi_records_ordered(wgi_core *c) {
    if (c->branch_count <= 1) return wgi_records_own(c);
    for (int k = 0; c->chunks != 0 && k <= c->current; k++) {
        const wgi_record *const to = k == c->current ? c->head.top : c->chunk[k].top;
        const wgi_record *const odd = first_disordered(c->chunk[k].base, to);
        if (odd != NULL) return wgi_fail_disordered(c, odd);
    }
    return WG_OK;
}

/* WG_ESTALE: a record is not in order. */
static inline wg_status run(wgi_core *c, const wgi_record *low, const wgi_record *high,
                            const wgi_offset *w) {
    double *const adjoint = wgi_adjoints(c);
    if (c->branch_count > 1 && first_disordered(low, high) != NULL) return WG_ESTALE;
    if (c->lanes != 1) {
        const int alone = c->private_rows == NULL || !c->private_rows->at_work;
        wgi_sweep_lanes(low, high, adjoint, c->lanes, w, alone);
    } else if (c->traced) return sweep_traced(c, low, high, adjoint, w);
    else if (w == NULL) sweep(low, high, adjoint);
    else sweep_by_offsets(low, high, adjoint, w);
    return WG_OK;
}

wg_status wgi_sweep_run(wgi_core *c, const wgi_record *low, const wgi_record *high) {
    const wg_status s = run(c, low, high, NULL);
    return s == WG_ESTALE ? wgi_fail_disordered(c, first_disordered(low, high)) : s;
}

/* How many records of a long recording are swept or left out together. */
enum { RUN = 4096 };

/* Are the adjoints of n slots all 0? Not known of a group that has rows elsewhere. */
static int are_zero(const wgi_core *c, const wgi_offset *w, uint32_t from, size_t n) {
    if (w != NULL && w[from / WGI_GROUP_SLOTS] != 0) return 0;
    return wgi_adjoints_zero(wgi_adjoints(c) + (size_t)from * c->lanes, n * c->lanes);
}

/* The same, but for runs of records whose results have adjoints that are all 0. */
static wg_status sweep_runs(wgi_core *c, const wgi_record *low, const wgi_record *high,
                            const wgi_offset *w, wgi_counts *n) {
    while (high != low) {
        const wgi_record *const from = high - low > RUN ? high - RUN : low;
        const size_t results = (size_t)(high[-1].out - from->out) + 1;
        n->runs++;
        if (are_zero(c, w, from->out, results)) n->left_out++;
        else {
            const wg_status s = run(c, from, high, w);
            if (s != WG_OK) return s;
        }
        high = from;
    }
    return WG_OK;
}

wg_status wgi_sweep_records(wgi_core *c, uint64_t high, uint64_t low, const wgi_offset *w,
                            wgi_counts *n) {
    for (int k = c->current; k >= 0 && high > low; k--) {
        const wgi_chunk *const chunk = &c->chunk[k];
        if (chunk->first >= high) continue;
        const wgi_record *const from =
            chunk->base + (low > chunk->first ? low - chunk->first : 0);
        const wgi_record *const to = chunk->base + (high - chunk->first);
        const wg_status s =
            c->marks.in_use ? sweep_runs(c, from, to, w, n) : run(c, from, to, w);
        if (s != WG_OK) return s;
        high = chunk->first;
    }
    return WG_OK;
}

wg_status wgi_fail_disordered_in(wgi_core *c, uint64_t high, uint64_t low) {
    for (uint64_t number = low; number < high; number++) {
        const wgi_record *const r = wgi_record_at(c, number);
        if (first_disordered(r, r + 1) != NULL) return wgi_fail_disordered(c, r);
    }
    return WG_ESTALE;
}

/* The records [low, high), but no stretch. */
static wg_status sweep_between(wgi_core *c, uint64_t high, uint64_t low) {
    wgi_counts n = {0, 0};
    const wg_status s = wgi_sweep_records(c, high, low, NULL, &n);
    c->marks.runs += n.runs;
    c->marks.left_out += n.left_out;
    return s == WG_ESTALE ? wgi_fail_disordered_in(c, high, low) : s;
}

wg_status wgi_sweep_scalars(wgi_core *c, uint64_t high, uint64_t low, const wgi_stretch **at) {
    const wgi_stretch *stretch = *at;
    wg_status s = WG_OK;
    while (stretch != NULL && stretch->first >= high) stretch = stretch->prev;
    for (; s == WG_OK && stretch != NULL; stretch = stretch->prev) {
        const uint64_t end = wgi_stretch_end(stretch);
        if (end <= low) break;
        if (end < high) s = sweep_between(c, high, end);
        if (s == WG_OK)
            s = wgi_sweep_stretch(c, stretch, end < high ? end : high,
                                  stretch->first > low ? stretch->first : low);
        high = stretch->first;
        if (high <= low) break;
    }
    *at = stretch;
    return s == WG_OK && high > low ? sweep_between(c, high, low) : s;
}
