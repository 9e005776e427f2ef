/* SPDX-License-Identifier: MIT */
/* The loops of a sweep over scalar records.
 *
 * w = adjoint of out;  adjoint of in += jac w.  An adjoint that is exactly 0 contributes
 * nothing, and neither does a local derivative that is exactly 0. */
#include "tape.h"

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
replay(const wgi_record *r, double *restrict adjoint, struct held h) {
    if (r->out != h.out) {
        h.w = r->out == h.in1   ? h.sum1 /* in1 was stored after in0 */
              : r->out == h.in0 ? h.sum0
                                : adjoint[r->out];
        h.out = r->out;
        if (__builtin_expect(needs_a_look(h.w), 0)) {
            if (h.w == 0) return nothing;
            adjoint[r->in0] += wgi_product(h.w, r->jac0);
            adjoint[r->in1] += wgi_product(h.w, r->jac1);
            return nothing;
        }
    }
    const double p0 = h.w * r->jac0, p1 = h.w * r->jac1;
    h.in0 = r->in0;
    h.in1 = r->in1;
    h.sum0 = adjoint[h.in0] + p0;
    adjoint[h.in0] = h.sum0;
    /* otherwise records with a single operand would wait for each other */
    if (h.in1 == 0) return h;
    h.sum1 = adjoint[h.in1] + p1;
    adjoint[h.in1] = h.sum1;
    return h;
}

/* Takes two records at a time, which are one line of the cache. */
static void sweep(const wgi_record *low, const wgi_record *high, double *restrict adjoint) {
    struct held h = nothing;
    if ((high - low) % 2 != 0) h = replay(--high, adjoint, h);
    for (const wgi_record *r = high; r != low;) {
        r -= 2;
        __builtin_prefetch((const void *)((uintptr_t)r - AHEAD), 0, 2);
        h = replay(r + 1, adjoint, h);
        h = replay(r, adjoint, h);
    }
}

/* The same, up to the first adjoint that becomes NaN. */
static wg_status sweep_traced(wgi_core *c, const wgi_record *low, const wgi_record *high,
                              double *adjoint) {
    for (const wgi_record *r = high; r-- != low;) {
        const double w = adjoint[r->out], before0 = adjoint[r->in0], before1 = adjoint[r->in1];
        replay(r, adjoint, nothing);
        if (__builtin_isunordered(adjoint[r->in0], adjoint[r->in1]) &&
            !__builtin_isunordered(before0, before1))
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
    c->swept = 0;
    return wgi_fail(c, WG_ESTALE,
                    "slot %u was recorded with slot %u, which a rewind had forgotten", r->out,
                    r->in0 >= r->out ? r->in0 : r->in1);
}

wg_status wgi_records_ordered(wgi_core *c) {
    if (c->branch_count <= 1) return WG_OK;
    for (int k = 0; c->chunks != 0 && k <= c->current; k++) {
        const wgi_record *const to = k == c->current ? c->head.top : c->chunk[k].top;
        const wgi_record *const odd = first_disordered(c->chunk[k].base, to);
        if (odd != NULL) return wgi_fail_disordered(c, odd);
    }
    return WG_OK;
}

static inline wg_status run(wgi_core *c, const wgi_record *low, const wgi_record *high) {
    double *const adjoint = wgi_adjoints(c);
    const wgi_record *const odd = c->branch_count > 1 ? first_disordered(low, high) : NULL;
    if (odd != NULL) return wgi_fail_disordered(c, odd);
    if (c->lanes != 1) wgi_sweep_lanes(low, high, adjoint, c->lanes);
    else if (!c->traced) sweep(low, high, adjoint);
    else return sweep_traced(c, low, high, adjoint);
    return WG_OK;
}

wg_status wgi_sweep_run(wgi_core *c, const wgi_record *low, const wgi_record *high) {
    return run(c, low, high);
}

/* How many records of a long recording are swept or left out together. */
enum { RUN = 1024 };

/* The same, but for runs of records whose results have adjoints that are all 0. */
static wg_status sweep_runs(wgi_core *c, const wgi_record *low, const wgi_record *high) {
    const double *const adjoint = wgi_adjoints(c);
    while (high != low) {
        const wgi_record *const from = high - low > RUN ? high - RUN : low;
        const size_t results = (size_t)(high[-1].out - from->out) + 1;
        c->marks.runs++;
        if (wgi_adjoints_zero(adjoint + (size_t)from->out * c->lanes, results * c->lanes))
            c->marks.left_out++;
        else {
            const wg_status s = run(c, from, high);
            if (s != WG_OK) return s;
        }
        high = from;
    }
    return WG_OK;
}

wg_status wgi_sweep_scalars(wgi_core *c, uint64_t high, uint64_t low) {
    for (int k = c->current; k >= 0 && high > low; k--) {
        const wgi_chunk *const chunk = &c->chunk[k];
        if (chunk->first >= high) continue;
        const wgi_record *const from =
            chunk->base + (low > chunk->first ? low - chunk->first : 0);
        const wgi_record *const to = chunk->base + (high - chunk->first);
        const wg_status s = c->marks.kept ? sweep_runs(c, from, to) : run(c, from, to);
        if (s != WG_OK) return s;
        high = chunk->first;
    }
    return WG_OK;
}
