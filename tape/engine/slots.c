/* SPDX-License-Identifier: MIT */
/* Slots: room for new ones, handles to them, and the records that belong to them. */
#include "tape.h"

/* ---- room ---- */

wg_status wgi_slots_need(wgi_core *c, const char *call, size_t n) {
    if (wgi_check_thread(c, call) != WG_OK) return WG_ETHREAD;
    if (c->max_slots + 1 - c->head.slots < n)
        return wgi_fail(c, WG_ESLOTS, "%s: the tape has %llu slots, all in use", call,
                        (unsigned long long)c->max_slots);
    if (c->width != 0) {
        const size_t row = c->width * sizeof(double);
        const wg_status s =
            wgi_extent_need(c, &c->tangents, (wgi_rows(c) + n) * row, wgi_rows(c) * row);
        if (s != WG_OK) return wgi_fail(c, s, "%s: no memory for tangents", call);
    }
    if (c->flags & WG_KEEP_CODE) {
        c->head.kept_limit = NULL;
        const wg_status s = wgi_extent_need(c, &c->values, (wgi_rows(c) + n) * sizeof(double),
                                            wgi_rows(c) * sizeof(double));
        if (s != WG_OK) return wgi_fail(c, s, "%s: no memory for values", call);
    }
    return WG_OK;
}

/* ---- handles ---- */

typedef wg_status report(wgi_core *c, wg_status s, const char *format, ...);

static wg_status stale(wgi_core *c, report *to, const char *call, size_t position,
                       uint32_t slot, uint32_t stamp) {
    if (stamp == c->head.stamp)
        return to(c, WG_ESTALE, "%s: operand %zu is slot %u, forgotten by a rewind", call,
                  position, slot);
    if (slot == WGI_OUTSIDE)
        return to(c, WG_ESTALE,
                  "%s: operand %zu was computed of variables outside of every wg::scope", call,
                  position);
    return to(
        c, WG_ESTALE,
        "%s: operand %zu (slot %u) is a variable of another tape, or from before a reset%s",
        call, position, slot, c->flags & WG_CHECKED ? " or rewind" : "");
}

size_t wgi_first_stale(const wgi_core *c, size_t n, const wg_real *x) {
    size_t i = 0;
    if ((c->flags & WG_CHECKED) != 0 || c->origin != 0) {
        while (i < n && (x[i].at.slot == 0 || wgi_alive(c, x[i].at))) i++;
        return i;
    }
    /* the stamp goes, and what is left is a slot in use */
    const uint64_t stamp = (uint64_t)c->head.stamp << 32, last = c->head.slots - 1;
    while (i < n && ((wgi_word(x[i].at) ^ stamp) - 1 < last || x[i].at.slot == 0)) i++;
    return i;
}

static wg_status check(wgi_core *c, report *to, const char *call, size_t n, const wg_real *x) {
    if (wgi_check_thread(c, call) != WG_OK) return WG_ETHREAD;
    const size_t i = wgi_first_stale(c, n, x);
    return i == n ? WG_OK : stale(c, to, call, i, x[i].at.slot, x[i].at.stamp);
}

wg_status wgi_check_handles(wgi_core *c, const char *call, size_t n, const wg_real *x) {
    return check(c, wgi_fail, call, n, x);
}

wg_status wgi_refuse_stale(wgi_core *c, const char *call, size_t n, const wg_real *x) {
    return check(c, wgi_refuse, call, n, x);
}

wg_status wgi_fail_stale(wgi_core *c, const char *call, size_t position, uint32_t slot,
                         uint32_t stamp) {
    return stale(c, wgi_fail, call, position, slot, stamp);
}

/* ---- records by number and by slot ---- */

const wgi_record *wgi_record_at(const wgi_core *c, uint64_t number) {
    int k = c->current;
    while (k > 0 && c->chunk[k].first > number) k--;
    return c->chunk[k].base + (number - c->chunk[k].first);
}

uint64_t wgi_record_after(const wgi_core *c, uint64_t slot) {
    uint64_t low = 0, high = c->chunks == 0 ? 0 : wgi_record_count(c);
    if (high != 0 && wgi_record_at(c, high - 1)->out <= slot)
        return high; /* mostly it is the last result */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (wgi_record_at(c, middle)->out <= slot) low = middle + 1;
        else high = middle;
    }
    return low;
}
