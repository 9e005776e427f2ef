/* SPDX-License-Identifier: MIT */
/* Forward sweeps. A forward tape has `width` tangents per slot, computed as statements come
 * (record.c), and no records; here it is opened, seeded and read. A recorded tape gets the
 * tangents of all its slots from its records. */
#include "tape.h"

#include <string.h>

enum { MAX_WIDTH = 64 };

wg_status wg_tape_forward(wg_tape *t, size_t width) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (width > MAX_WIDTH)
        return wgi_refuse(c, WG_EARG, "wg_tape_forward: %zu tangents, not 0 to %d", width,
                          MAX_WIDTH);
    if (c->head.slots != 1 || c->head.code_words != 0)
        return wgi_refuse(c, WG_EMODE, "wg_tape_forward: the tape is not empty");
    /* the row of constants, which is all there is while nothing is recorded */
    const wg_status s = wgi_extent_need(c, &c->tangents, width * sizeof(double), 0);
    if (s != WG_OK)
        return wgi_refuse(c, s, "wg_tape_forward: no memory for %zu tangents", width);
    c->width = width;
    c->swept = 0; /* after a rewind to the start */
    wgi_limit_set(c);
    return WG_OK;
}

wg_status wg_tangent_seed(wg_tape *t, wg_real x, size_t lane, double v) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (c->status != WG_OK) return c->status;
    if (c->width == 0)
        return wgi_refuse(c, WG_EMODE, "wg_tangent_seed: the tape is not a forward one");
    if (lane >= c->width)
        return wgi_refuse(c, WG_EARG, "wg_tangent_seed: lane %zu of %zu", lane, c->width);
    if (x.at.slot == 0)
        return wgi_refuse(c, WG_ESEED, "wg_tangent_seed: a constant has no tangent");
    if (wgi_refuse_segment(c, "wg_tangent_seed") != WG_OK) return WG_EMODE;
    const wg_status s = wgi_refuse_stale(c, "wg_tangent_seed", 1, &x);
    if (s != WG_OK) return s;
    wgi_tangents_of(c, x.at.slot)[lane] = v;
    return WG_OK;
}

double wg_tangent(const wg_tape *t, wg_real x, size_t lane) {
    if (t == NULL) return __builtin_nan("");
    const wgi_core *c = wgi_core_of_const(t);
    if (c->status != WG_OK || lane >= c->width) return __builtin_nan("");
    if (x.at.slot == 0) return x.value == x.value ? 0 : x.value; /* what failed reads NaN */
    return wgi_alive(c, x.at) ? wgi_tangents_of(c, x.at.slot)[lane] : __builtin_nan("");
}

/* ---- over records ------------------------------------------------------------------------ */

wg_status wgi_tangents_open(wgi_core *c, const char *call, size_t lanes) {
    const size_t bytes = (size_t)c->head.slots * lanes * sizeof(double);
    const wg_status s = wgi_extent_need(c, &c->tangents, bytes, 0);
    if (s != WG_OK)
        return wgi_fail(c, s, "%s: no memory for %zu tangents of %u slots", call, lanes,
                        c->head.slots);
    memset(c->tangents.base, 0, bytes);
    return WG_OK;
}

wg_status wgi_forward_sweep(wgi_core *c, size_t lanes) {
    const int blocks = c->head.last_block != NULL;
    wg_status s = WG_OK;
    c->width = lanes; /* operations on matrices take the number of lanes from there */
    for (int k = 0; c->chunks != 0 && k <= c->current && s == WG_OK; k++) {
        const wgi_record *r = c->chunk[k].base;
        const wgi_record *const top = k == c->current ? c->head.top : c->chunk[k].top;
        while (r != top && s == WG_OK) {
            const wgi_record *next = blocks ? r : top;
            while (next != top && next->kind != WGI_BLOCK) next++;
            wgi_forward_lanes(r, next, wgi_tangents(c), lanes);
            if (next != top) {
                wgi_block *b;
                memcpy(&b, &next->jac0, sizeof b);
                s = wgi_block_forward(c, b);
                next++;
            }
            r = next;
        }
    }
    c->width = 0;
    return s;
}
