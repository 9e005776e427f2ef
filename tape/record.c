/* SPDX-License-Identifier: MIT */
/* Recording: everything that the fast path of wg_let leaves to a function.
 *
 * A statement comes here because its chunk is full, a handle does not carry the stamp of the tape
 * (a constant, or a mistake), or the tape is in a mode: failure, paused, passive, forward,
 * traced, keeping code or places, checked. */
#include "tape.h"

#include <string.h>

/* ---- handles ---- */

static wg_status stale(wgi_core *c, const char *call, size_t position, uint32_t slot,
                       uint32_t stamp) {
    if (stamp == c->head.stamp)
        return wgi_fail(c, WG_ESTALE, "%s: operand %zu is slot %u, forgotten by a rewind", call,
                        position, slot);
    return wgi_fail(c, WG_ESTALE,
                    "%s: operand %zu (slot %u) is a variable of another tape, or from before a "
                    "reset",
                    call, position, slot);
}

wg_status wgi_check_handles(wgi_core *c, const char *call, size_t n, const wg_real *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i].at.slot != 0 && !wgi_alive(c, x[i].at))
            return stale(c, call, i, x[i].at.slot, x[i].at.stamp);
    return WG_OK;
}

/* ---- slots and records ---- */

static wg_status slots_need(wgi_core *c, const char *call, size_t n) {
    if (c->max_slots + 1 - c->head.slots < n)
        return wgi_fail(c, WG_ESLOTS, "%s: the tape has %llu slots, all in use", call,
                        (unsigned long long)c->max_slots);
    if (c->width != 0) {
        const size_t row = c->width * sizeof(double);
        const wg_status s = wgi_region_need(c, &c->tangents, (c->head.slots + n) * row,
                                            c->head.slots * row);
        if (s != WG_OK) return wgi_fail(c, s, "%s: no memory for tangents", call);
    }
    if (c->flags & WG_KEEP_CODE) {
        const wg_status s =
            wgi_region_need(c, &c->values, (c->head.slots + n) * sizeof(double),
                            (size_t)c->head.slots * sizeof(double));
        if (s != WG_OK) return wgi_fail(c, s, "%s: no memory for values", call);
    }
    return WG_OK;
}

static void push_tangent(wgi_core *c, uint32_t out, size_t n, const uint32_t *slot,
                         const double *partial) {
    double *const all = (double *)(void *)c->tangents.base;
    double *const to = all + (size_t)out * c->width;
    memset(to, 0, c->width * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        const double *const from = all + (size_t)slot[i] * c->width;
        if (slot[i] == 0) continue;
        for (size_t l = 0; l < c->width; l++) to[l] += wgi_product(partial[i], from[l]);
    }
}

/* ceil(n/2) records; operands that are constants are left out, a repeated pair is merged. */
static void push_records(wgi_core *c, uint32_t out, size_t n, const uint32_t *slot,
                         const double *partial) {
    wgi_record *const first = c->head.top;
    wgi_record *r = first;
    int half = 0;
    for (size_t i = 0; i < n; i++) {
        if (slot[i] == 0) continue;
        if (half) {
            r->in1 = slot[i];
            r->jac1 = partial[i];
            if (r > first && r[-1].in0 == r->in0 && r[-1].in1 == r->in1) {
                r[-1].jac0 += r->jac0;
                r[-1].jac1 += r->jac1;
            } else {
                r++;
            }
        } else {
            *r = (wgi_record){out, slot[i], 0, 0, partial[i], 0.0};
        }
        half = !half;
    }
    c->head.top = r + half;
}

uint64_t wgi_rewrite(wgi_core *c, uint64_t at, const wgi_entry *e, const double *partial) {
    wgi_record *const top = c->head.top, *const first = (wgi_record *)wgi_record_at(c, at);
    c->head.top = first;
    push_records(c, e->out, e->operands, e->slot, partial);
    const uint64_t records = (uint64_t)(c->head.top - first);
    c->head.top = top;
    return records;
}

wg_real wgi_append(wgi_core *c, double value, size_t n, const uint32_t *slot,
                   const double *partial) {
    if (slots_need(c, "wg_let", 1) != WG_OK) return wgi_nan();
    const uint32_t out = c->head.slots;
    if (c->width != 0) {
        push_tangent(c, out, n, slot, partial);
    } else {
        const wg_status s = wgi_records_need(c, n / 2 + 1);
        if (s != WG_OK) {
            wgi_fail(c, s, "wg_let: no room for the records of slot %u (%zu operands)", out, n);
            return wgi_nan();
        }
        push_records(c, out, n, slot, partial);
    }
    c->head.slots = out + 1;
    if (c->flags & WG_KEEP_CODE) wgi_values(c)[out] = value;
    wgi_limit_set(c);
    return (wg_real){value, {out, c->head.stamp}};
}

/* ---- wg_let, in general ---- */

wg_real wgi_let(wg_tape *t, const wgi_statement *s) {
    if (t == NULL) return wgi_nan();
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return wgi_nan();
    uint32_t slot[WGI_MAX_OPERANDS], active = 0;
    for (unsigned i = 0; i < s->operands; i++) {
        slot[i] = wgi_slot(s->handle[i]);
        active |= slot[i];
        if (slot[i] == 0) continue;
        if (wgi_stamp(s->handle[i]) != c->head.stamp || slot[i] >= c->head.slots) {
            stale(c, "wg_let", i, slot[i], wgi_stamp(s->handle[i]));
            wgi_fail_where(c, s->file, s->line);
            return wgi_nan();
        }
    }
    if ((c->flags & WG_TRACE) != 0 && !(s->value - s->value == 0)) {
        wgi_fail_trace(c, s);
        return wgi_nan();
    }
    if (active == 0 || c->pauses != 0 || c->passive) return wg_constant(s->value);
    if (s->operands == 1 && s->bits == WGI_LEAF_BITS)
        return (wg_real){s->value, {slot[0], c->head.stamp}};
    const wg_mark before = wg_tape_mark(t);
    if ((c->flags & WG_KEEP_CODE) != 0 && c->width == 0 && wgi_code_keep(c, s) != WG_OK)
        return wgi_nan();
    if ((c->flags & WG_KEEP_PLACES) != 0 &&
        wgi_place_keep(c, c->head.slots, s->file, s->line) != WG_OK)
        return wgi_nan();
    const wg_real y = wgi_append(c, s->value, s->operands, slot, s->partial);
    if (c->status != WG_OK) {
        c->code_words = before.code;
        c->place_count = before.places;
        wgi_fail_where(c, s->file, s->line);
    }
    return y;
}

/* ---- inputs ---- */

wg_status wg_inputs(wg_tape *t, size_t n, const double *a, wg_real *x) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (n != 0 && (a == NULL || x == NULL))
        return wgi_fail(c, WG_ENULL, "wg_inputs: an array of %zu entries is NULL", n);
    if (c->passive) {
        for (size_t i = 0; i < n; i++) x[i] = wg_constant(a[i]);
        return WG_OK;
    }
    if (slots_need(c, "wg_inputs", n) != WG_OK) return c->status;
    if (c->chunks == 0 && c->width == 0) {
        const wg_status s = wgi_records_need(c, 1);
        if (s != WG_OK) return wgi_fail(c, s, "wg_inputs: no room for records");
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t slot = c->head.slots++;
        x[i] = (wg_real){a[i], {slot, c->head.stamp}};
        if (c->flags & WG_KEEP_CODE) wgi_values(c)[slot] = a[i];
        if (c->width != 0)
            memset((double *)(void *)c->tangents.base + (size_t)slot * c->width, 0,
                   c->width * sizeof(double));
    }
    c->inputs += (uint32_t)n;
    wgi_limit_set(c);
    return WG_OK;
}

wg_real wg_input(wg_tape *t, double value) {
    wg_real x;
    return wg_inputs(t, 1, &value, &x) == WG_OK ? x : wgi_nan();
}

/* ---- records by number and by slot ---- */

const wgi_record *wgi_record_at(const wgi_core *c, uint64_t number) {
    int k = c->current;
    while (k > 0 && c->chunk[k].first > number) k--;
    return c->chunk[k].base + (number - c->chunk[k].first);
}

uint64_t wgi_record_after(const wgi_core *c, uint64_t slot) {
    uint64_t low = 0, high = c->chunks == 0 ? 0 : wgi_record_count(c);
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (wgi_record_at(c, middle)->out <= slot) low = middle + 1;
        else high = middle;
    }
    return low;
}
