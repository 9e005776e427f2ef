/* SPDX-License-Identifier: MIT */
/* The backward pass: records replayed in reverse, adjoints accumulated. No recursion, no
 * topological sort, and no allocation once the adjoints have their memory.
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

static wg_status disordered(wgi_core *c, const wgi_record *r) {
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
        if (odd != NULL) return disordered(c, odd);
    }
    return WG_OK;
}

/* The records [low, high), none of them a block's. */
static wg_status sweep_scalars(wgi_core *c, uint64_t high, uint64_t low) {
    double *const adjoint = wgi_adjoints(c);
    for (int k = c->current; k >= 0 && high > low; k--) {
        const wgi_chunk *const chunk = &c->chunk[k];
        if (chunk->first >= high) continue;
        const wgi_record *const from =
            chunk->base + (low > chunk->first ? low - chunk->first : 0);
        const wgi_record *const to = chunk->base + (high - chunk->first);
        const wgi_record *odd = c->branch_count > 1 ? first_disordered(from, to) : NULL;
        if (odd != NULL) return disordered(c, odd);
        if (c->lanes != 1) wgi_sweep_lanes(from, to, adjoint, c->lanes);
        else if (!c->traced) sweep(from, to, adjoint);
        else if (sweep_traced(c, from, to, adjoint) != WG_OK) return WG_ENONFINITE;
        high = chunk->first;
    }
    return WG_OK;
}

wg_status wgi_sweep(wgi_core *c, uint64_t high, uint64_t low) {
    const wgi_block *b = wgi_block_below(c, high, low);
    wg_status s = b != NULL ? wgi_blocks_room(c, 0) : WG_OK;
    if (s != WG_OK) {
        c->swept = 0;
        return wgi_refuse(c, s, "a sweep: no workspace for its matrix operations");
    }
    while (s == WG_OK && b != NULL && b->record >= low) {
        s = sweep_scalars(c, high, b->record + 1);
        if (s != WG_OK) break;
        /* a traced tape has none of these */
        if (b->op == &wgi_small_op) b = wgi_small_reverse(c, b, low);
        else s = wgi_block_reverse(c, b);
        if (s != WG_OK) return s; /* the block may be gone */
        high = b->record;
        b = b->prev;
    }
    if (s == WG_OK) s = sweep_scalars(c, high, low);
    /* slot 0 absorbed what flowed to constants */
    memset(wgi_adjoints(c), 0, c->lanes * sizeof(double));
    return s;
}

wg_status wgi_adjoints_need(wgi_core *c, uint64_t slots, size_t lanes) {
    const size_t bytes = (size_t)slots * lanes * sizeof(double);
    return wgi_region_need(c, &c->adjoints, WGI_ADJOINT_START + bytes, 0);
}

wg_status wgi_adjoints_open(wgi_core *c, uint64_t slots, size_t lanes, int by_lanes) {
    c->swept = c->seeded = 0;
    const wg_status s = wgi_adjoints_need(c, slots, lanes);
    if (s != WG_OK) return s;
    memset(wgi_adjoints(c), 0, (size_t)slots * lanes * sizeof(double));
    c->swept = slots;
    c->lanes = c->asked = lanes;
    c->traced = (c->flags & WG_TRACE) != 0 && !by_lanes;
    return WG_OK;
}

/* How many lanes are stored for k adjoints: 1, 2, 4, or a multiple of 8. */
static size_t stored_lanes(size_t k) { return k <= 2 ? k : k <= 4 ? 4 : (k + 7) / 8 * 8; }

/* k = 0: a single adjoint, which is not swept in lanes. */
static wg_status reverse(wgi_core *c, const char *call, size_t k, size_t m, const wg_real *y,
                         const double *w) {
    if (c->status != WG_OK) return c->status;
    if (c->width != 0)
        return wgi_refuse(c, WG_EMODE, "%s: a forward tape keeps no records", call);
    if (m != 0 && (y == NULL || w == NULL))
        return wgi_refuse(c, WG_ENULL, "%s: an array of %zu outputs or seeds is NULL", call, m);
    wg_status s = wgi_refuse_stale(c, call, m, y);
    if (s != WG_OK) return s;
    uint32_t root = 0;
    for (size_t j = 0; j < m; j++)
        if (y[j].at.slot > root) root = y[j].at.slot;
    if (root == 0) {
        c->swept = 0; /* better no adjoints than those of another root */
        return wgi_refuse(c, WG_ESEED, "%s: no output depends on an input of this tape", call);
    }
    const int by_lanes = k != 0;
    if (!by_lanes) k = 1;
    const size_t lanes = stored_lanes(k);
    s = wgi_adjoints_open(c, wgi_reach(c, root) + 1, lanes, by_lanes);
    if (s != WG_OK)
        return wgi_refuse(c, s, "%s: no memory for %zu adjoints of %u slots", call, lanes,
                          root + 1);
    c->asked = k;
    double *const adjoint = wgi_adjoints(c);
    for (size_t j = 0; j < m; j++)
        for (size_t l = 0; l < k && y[j].at.slot != 0; l++)
            adjoint[(size_t)y[j].at.slot * lanes + l] += w[j * k + l];
    s = wgi_sweep(c, wgi_record_after(c, root), 0);
    if (s == WG_OK && !by_lanes && m == 1 && w[0] == 1) c->seeded = root;
    return s;
}

wg_status wg_reverse(wg_tape *t, wg_real y) {
    const double one = 1;
    if (t == NULL) return WG_ENULL;
    return reverse(wgi_core_of(t), "wg_reverse", 0, 1, &y, &one);
}

wg_status wg_reverse_seeds(wg_tape *t, size_t m, const wg_real *y, const double *w) {
    if (t == NULL) return WG_ENULL;
    return reverse(wgi_core_of(t), "wg_reverse_seeds", 0, m, y, w);
}

wg_status wg_reverse_lanes(wg_tape *t, size_t k, size_t m, const wg_real *y, const double *w) {
    if (t == NULL) return WG_ENULL;
    if (k < 1 || k > 64)
        return wgi_refuse(wgi_core_of(t), WG_EARG, "wg_reverse_lanes: %zu lanes, not 1 to 64",
                          k);
    return reverse(wgi_core_of(t), "wg_reverse_lanes", k, m, y, w);
}

/* ---- in parts ---- */

wg_status wg_adjoints_clear(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (wgi_check_thread(c, "wg_adjoints_clear") != WG_OK) return WG_ETHREAD;
    if (c->width != 0)
        return wgi_refuse(c, WG_EMODE, "wg_adjoints_clear: a forward tape keeps no records");
    const wg_status s = wgi_adjoints_open(c, c->head.slots, 1, 0);
    if (s != WG_OK)
        return wgi_refuse(c, s, "wg_adjoints_clear: no memory for adjoints of %u slots",
                          c->head.slots - 1);
    return WG_OK;
}

wg_status wg_adjoint_seed(wg_tape *t, wg_real y, double w) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (y.at.slot == 0)
        return wgi_refuse(c, WG_ESEED, "wg_adjoint_seed: a constant has no adjoint");
    const wg_status s = wgi_refuse_stale(c, "wg_adjoint_seed", 1, &y);
    if (s != WG_OK) return s;
    if (c->lanes != 1 || y.at.slot >= c->swept)
        return wgi_refuse(c, WG_EMODE,
                          "wg_adjoint_seed: slot %u: wg_adjoints_clear comes first", y.at.slot);
    wgi_adjoints(c)[y.at.slot] += w;
    c->seeded = 0;
    return WG_OK;
}

wg_status wg_sweep(wg_tape *t, wg_mark high, wg_mark low) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (wgi_check_thread(c, "wg_sweep") != WG_OK) return WG_ETHREAD;
    if (!wgi_mark_alive(c, high) || !wgi_mark_alive(c, low) || high.record < low.record)
        return wgi_refuse(
            c, WG_EMARK,
            "wg_sweep: a mark of another tape, from before a reset or rewind, or in "
            "the wrong order");
    if (c->lanes != 1 || c->swept < high.slot)
        return wgi_refuse(c, WG_EMODE, "wg_sweep: wg_adjoints_clear comes first");
    c->seeded = 0;
    c->traced = (c->flags & WG_TRACE) != 0; /* whatever made the adjoints */
    return wgi_sweep(c, high.record, low.record);
}

/* ---- reading ---- */

double wg_adjoint_lane(const wg_tape *t, wg_real x, size_t lane) {
    if (t == NULL) return __builtin_nan("");
    const wgi_core *c = wgi_core_of_const(t);
    if (c->status != WG_OK || c->swept == 0 || lane >= c->asked) return __builtin_nan("");
    if (x.at.slot == 0) return x.value == x.value ? 0 : x.value; /* what failed reads NaN */
    if (!wgi_alive(c, x.at)) return __builtin_nan("");
    return x.at.slot < c->swept ? wgi_adjoints(c)[(size_t)x.at.slot * c->lanes + lane] : 0;
}

double wg_adjoint(const wg_tape *t, wg_real x) { return wg_adjoint_lane(t, x, 0); }

static wg_status gather(const wg_tape *t, size_t n, const wg_real *x, double *g, int add) {
    if (t == NULL || (n != 0 && (x == NULL || g == NULL))) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->status != WG_OK) return c->status;
    if (c->swept == 0) return WG_ESEED;
    const double *const adjoint = wgi_adjoints(c);
    const size_t lanes = c->lanes;
    const uint64_t swept = c->swept < c->head.slots ? c->swept : c->head.slots;
    size_t i = 0;
    if (lanes == 1 && !add && !(c->flags & WG_CHECKED)) {
        /* the stamp goes, and what is left is a slot that was swept */
        const uint64_t stamp = (uint64_t)c->head.stamp << 32;
        for (uint64_t slot; i < n; i++) {
            slot = wgi_word(x[i].at) ^ stamp;
            if (slot - 1 >= swept - 1) break;
            g[i] = adjoint[slot];
        }
    }
    if (i < n && wgi_first_stale(c, n - i, x + i) != n - i) return WG_ESTALE;
    for (; i < n; i++) {
        const uint64_t slot = x[i].at.slot;
        double w = 0;
        if (slot - 1 < swept - 1) w = adjoint[slot * lanes];
        else if (slot == 0 && x[i].value != x[i].value) w = x[i].value; /* what failed: NaN */
        g[i] = add ? g[i] + w : w;
    }
    return WG_OK;
}

wg_status wg_adjoints_lanes(const wg_tape *t, size_t n, const wg_real *x, size_t k, double *g,
                            size_t ld) {
    if (t == NULL || (n != 0 && (x == NULL || (k != 0 && g == NULL)))) return WG_ENULL;
    const wgi_core *c = wgi_core_of_const(t);
    if (c->status != WG_OK) return c->status;
    if (c->swept == 0) return WG_ESEED;
    if (k > c->asked) return WG_EARG;
    if (ld < n) return WG_ESHAPE;
    if (wgi_first_stale(c, n, x) != n) return WG_ESTALE;
    for (size_t i = 0; i < n; i++) {
        const size_t slot = x[i].at.slot < c->swept ? x[i].at.slot : 0; /* row 0 is 0 */
        const double *const row = wgi_adjoints(c) + slot * c->lanes;
        const int failed = x[i].at.slot == 0 && x[i].value != x[i].value; /* reads NaN */
        for (size_t l = 0; l < k; l++) g[l * ld + i] = failed ? x[i].value : row[l];
    }
    return WG_OK;
}

wg_status wg_adjoints(const wg_tape *t, size_t n, const wg_real *x, double *g) {
    return gather(t, n, x, g, 0);
}

wg_status wg_adjoints_add(const wg_tape *t, size_t n, const wg_real *x, double *g) {
    return gather(t, n, x, g, 1);
}
