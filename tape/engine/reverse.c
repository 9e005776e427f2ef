/* SPDX-License-Identifier: MIT */
/* The backward pass: records replayed in reverse, adjoints accumulated. No recursion, no
 * topological sort, and no allocation once the adjoints have their memory.
 *
 * w = adjoint of out;  adjoint of in += jac w.  An adjoint that is exactly 0 contributes
 * nothing, and neither does a local derivative that is exactly 0. */
#include "stretch.h"

#include <string.h>

/* What is still untouched when a block has been swept. */
static uint64_t untouched_after(const wgi_core *c, const wgi_block *b) {
    uint64_t first = c->untouched;
    if (first == 0 || b->op == &wgi_small_op || wgi_is_gather(b)) return 0;
    for (uint32_t i = 0; i < b->inputs; i++)
        if (b->operand[i].slot != 0 && b->operand[i].slot < first) first = b->operand[i].slot;
    return first;
}

/* The records [low, high), block after block. */
static wg_status sweep_all(wgi_core *c, uint64_t high, uint64_t low) {
    const wgi_block *b = wgi_block_below(c, high, low);
    const wgi_stretch *stretch = c->stretch;
    wg_status s = b != NULL ? wgi_blocks_room(c, 0) : WG_OK;
    if (s != WG_OK) {
        c->swept = 0;
        return wgi_refuse(c, s, "a sweep: no workspace for its matrix operations");
    }
    while (b != NULL && b->record >= low) {
        if (high > b->record + 1) c->untouched = 0; /* statements touch what they like */
        s = wgi_sweep_scalars(c, high, b->record + 1, &stretch);
        if (s != WG_OK) return s;
        const uint64_t untouched = untouched_after(c, b);
        /* a traced tape has none of these */
        if (b->op == &wgi_small_op) b = wgi_small_reverse(c, b, low);
        else s = wgi_block_reverse(c, b);
        if (s != WG_OK) return s;
        c->untouched = untouched;
        high = b->record;
        b = b->prev;
    }
    return wgi_sweep_scalars(c, high, low, &stretch);
}

/* By marks, from *high down, as far as that is of use: not in a stretch, but past one that
 * nothing has come to. */
static wg_status sweep_marked(wgi_core *c, uint64_t *high, uint64_t low) {
    const wgi_stretch *stretch = c->stretch;
    while (*high > low) {
        while (stretch != NULL && stretch->first >= *high) stretch = stretch->prev;
        const uint64_t end = stretch != NULL ? wgi_stretch_end(stretch) : 0;
        if (end <= low) return wgi_sweep_reached(c, high, low);
        if (end < *high) {
            const wg_status s = wgi_sweep_reached(c, high, end);
            if (s != WG_OK || *high > end) return s;
        }
        const uint32_t last = wgi_record_at(c, *high - 1)->out;
        if (wgi_adjoints_unmarked(c) > stretch->before ||
            wgi_adjoints_last(c, last) >= stretch->before) {
            wgi_adjoints_unmark(c, last);
            return WG_OK;
        }
        *high = stretch->first > low ? stretch->first : low;
    }
    return WG_OK;
}

wg_status wgi_sweep(wgi_core *c, uint64_t high, uint64_t low) {
    wg_status s = wgi_records_own(c);
    if (s != WG_OK) return s;
    c->untouched = c->always != 0 ? wgi_adjoints_first(c) : 0;
    if (c->marks.in_use && c->always != 0) wgi_adjoints_unmark(c, c->swept - 1);
    else if (c->marks.in_use) s = sweep_marked(c, &high, low);
    if (s == WG_OK && high > low) s = sweep_all(c, high, low);
    if (s != WG_OK) return s;
    /* slot 0 absorbed what flowed to constants */
    memset(wgi_adjoints(c), 0, c->lanes * sizeof(double));
    return s;
}

/* How many lanes are stored for k adjoints: 1, 2, 4, or a multiple of 8. */
static size_t stored_lanes(size_t k) { return k <= 2 ? k : k <= 4 ? 4 : (k + 7) / 8 * 8; }

/* Opens adjoints of k lanes for a sweep from m outputs, of which the last one that is a
 * variable is the root. k = 0: a single adjoint, which is not swept in lanes. */
static wg_status open_sweep(wgi_core *c, const char *call, size_t k, size_t m, const wg_real *y,
                            uint32_t *from) {
    if (c->status != WG_OK) return c->status;
    if (wgi_refuse_segment(c, call) != WG_OK) return WG_EMODE;
    if (c->width != 0)
        return wgi_refuse(c, WG_EMODE, "%s: a forward tape keeps no records", call);
    if (m != 0 && y == NULL)
        return wgi_refuse(c, WG_ENULL, "%s: an array of %zu outputs or seeds is NULL", call, m);
    wg_status s = wgi_refuse_stale(c, call, m, y);
    if (s != WG_OK) return s;
    uint32_t root = 0;
    for (size_t j = 0; j < m; j++)
        if (y[j].at.slot > root) root = y[j].at.slot;
    *from = root = wgi_sweep_from(c, root);
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
    return WG_OK;
}

static wg_status reverse(wgi_core *c, const char *call, size_t k, size_t m, const wg_real *y,
                         const double *w) {
    uint32_t root;
    wg_status s = open_sweep(c, call, k, m, w != NULL ? y : NULL, &root);
    if (s != WG_OK) return s;
    const int by_lanes = k != 0;
    if (!by_lanes) k = 1;
    const size_t lanes = c->lanes;
    double *const adjoint = wgi_adjoints(c);
    for (size_t j = 0; j < m; j++) {
        if (y[j].at.slot == 0) continue;
        wgi_adjoints_mark(c, y[j].at.slot, 1);
        for (size_t l = 0; l < k; l++)
            adjoint[(size_t)y[j].at.slot * lanes + l] += w[j * k + l];
    }
    s = wgi_sweep(c, wgi_record_after(c, root), 0);
    if (s == WG_OK && !by_lanes && m == 1 && w[0] == 1 && c->always == 0) c->seeded = root;
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

wg_status wg_reverse_check(wg_tape *t, size_t k, size_t m, const wg_real *y) {
    const char *const call = "wg_reverse_check";
    uint32_t root;
    if (t == NULL) return WG_ENULL;
    wgi_core *const c = wgi_core_of(t);
    if (k < 1 || k > 64) return wgi_refuse(c, WG_EARG, "%s: %zu lanes, not 1 to 64", call, k);
    wg_status s = open_sweep(c, call, k, m, y, &root);
    if (s == WG_ESEED && wgi_adjoints_open(c, c->head.slots, stored_lanes(k), 1) == WG_OK)
        c->asked = k;
    if (s != WG_OK) return s;
    if (c->head.last_block != NULL) s = wgi_blocks_room(c, 0);
    if (s == WG_OK) return s;
    c->swept = 0;
    return wgi_refuse(c, s, "%s: no workspace for operations on matrices", call);
}

/* ---- in parts ---- */

wg_status wg_adjoints_clear(wg_tape *t) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (wgi_check_thread(c, "wg_adjoints_clear") != WG_OK) return WG_ETHREAD;
    if (wgi_refuse_segment(c, "wg_adjoints_clear") != WG_OK) return WG_EMODE;
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
    wgi_adjoints_mark(c, y.at.slot, 1);
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
