/* SPDX-License-Identifier: MIT */
/* Places and labels: where a statement was written, and what the user calls a variable. Both
 * lists are sorted by slot: places because slots only grow, labels because they are inserted in
 * order. */
#include "tape.h"

#include <string.h>

wg_status wgi_place_keep(wgi_core *c, const char *call, uint32_t slot, const char *file,
                         int line) {
    if (file == NULL) return WG_OK; /* recorded by a call that does not know its place */
    const size_t used = (size_t)c->place_count * sizeof(wgi_place);
    const wg_status s = wgi_extent_need(c, &c->places, used + sizeof(wgi_place), used);
    if (s != WG_OK) return wgi_fail(c, s, "%s: no room for the place of slot %u", call, slot);
    wgi_places(c)[c->place_count++] = (wgi_place){file, line > 0 ? (uint32_t)line : 0, slot};
    return WG_OK;
}

const wgi_place *wgi_place_of(const wgi_core *c, uint32_t slot) {
    const wgi_place *const all = wgi_places(c);
    uint64_t low = 0, high = c->place_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (all[middle].slot < slot) low = middle + 1;
        else high = middle;
    }
    return low < c->place_count && all[low].slot == slot ? &all[low] : NULL;
}

/* The number of the first label that belongs to that slot or a later one. */
static uint64_t label_from(const wgi_core *c, uint32_t slot) {
    uint64_t low = 0, high = c->label_count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (wgi_labels(c)[middle].slot < slot) low = middle + 1;
        else high = middle;
    }
    return low;
}

const char *wgi_label_of(const wgi_core *c, uint32_t slot) {
    const uint64_t i = label_from(c, slot);
    return i < c->label_count && wgi_labels(c)[i].slot == slot ? wgi_labels(c)[i].text : NULL;
}

wg_status wg_label(wg_tape *t, wg_real x, const char *name) {
    if (t == NULL) return WG_ENULL;
    wgi_core *c = wgi_core_of(t);
    if (name == NULL) return wgi_refuse(c, WG_ENULL, "wg_label: the name is NULL");
    if (c->status != WG_OK) return c->status;
    if (wgi_refuse_segment(c, "wg_label") != WG_OK) return WG_EMODE;
    if (x.at.slot == 0) return WG_OK; /* a constant, which is also what a paused tape gives */
    wg_status s = wgi_refuse_stale(c, "wg_label", 1, &x);
    if (s != WG_OK) return s;
    const size_t used = (size_t)c->label_count * sizeof(wgi_label);
    const uint64_t i = label_from(c, x.at.slot);
    if (i == c->label_count || wgi_labels(c)[i].slot != x.at.slot) {
        s = wgi_extent_need(c, &c->labels, used + sizeof(wgi_label), used);
        if (s != WG_OK)
            return wgi_refuse(c, s, "wg_label: no memory for the label of slot %u", x.at.slot);
        wgi_label *const at = wgi_labels(c) + i;
        memmove(at + 1, at, (size_t)(c->label_count - i) * sizeof *at);
        c->label_count++;
    }
    wgi_label *const label = wgi_labels(c) + i;
    size_t n = strlen(name);
    if (n >= sizeof label->text) { /* a character of UTF-8 is not cut in the middle */
        n = sizeof label->text - 1;
        while (n > 0 && ((unsigned char)name[n] & 0xC0) == 0x80) n--;
    }
    label->slot = x.at.slot;
    memcpy(label->text, name, n);
    label->text[n] = 0;
    return WG_OK;
}
