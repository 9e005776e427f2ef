/* SPDX-License-Identifier: MIT */
/* turns_reach.c - does a turn reach what another one writes? Mostly two accesses are to different
 * arrays, and lie apart. Otherwise those that move by the same steps are compared at once, one
 * that has no steps turn by turn, and of two of these the words of one are put into a table, in
 * which those of the other one are looked up. */
#include "turns.h"

#include <string.h>

/* Distances from an address that 0 <= d < 2^63, as all places of one object have. */
static void range_of(const wgi_turn_access *q, size_t turns, uintptr_t *low, uintptr_t *high) {
    const uintptr_t last = q->at + (uintptr_t)q->stride * (turns - 1);
    *low = q->each ? q->low : q->stride < 0 ? last : q->at;
    *high = q->each ? q->high : (q->stride < 0 ? q->at : last) + q->size;
}

/* Both move steadily, and come into each other's range. */
static int meet_in_steps(const wgi_turn_access *w, const wgi_turn_access *q) {
    if (w->stride != q->stride || w->stride == 0) return 1;
    const intptr_t apart = (intptr_t)(q->at - w->at), turn = apart / w->stride;
    for (intptr_t m = turn - 1; m <= turn + 1; m++) {
        const intptr_t left = apart - m * w->stride;
        if (left < (intptr_t)w->size && -left < (intptr_t)q->size) return 1;
    }
    return 0;
}

/* Is an address range in reach of a place that moves steadily? */
static int meets(const wgi_turn_access *q, uintptr_t at, size_t size, size_t turns) {
    const intptr_t apart = (intptr_t)(at - q->at);
    const intptr_t turn = q->stride == 0 ? 0 : apart / q->stride;
    for (intptr_t m = turn - 1; m <= turn + 1; m++) {
        if (m < 0 || (size_t)m >= turns) continue;
        const intptr_t left = apart - m * q->stride;
        if (left < (intptr_t)q->size && -left < (intptr_t)size) return 1;
    }
    return 0;
}

/* Words of 8 bytes, at whatever address a number begins. */
#define WORD ((uintptr_t)8)
static size_t slot_of(uintptr_t word, size_t mask) {
    return (size_t)((uint64_t)word * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
}
static int is_in(const uintptr_t *table, size_t mask, uintptr_t word) {
    size_t k = slot_of(word, mask);
    while (table[k] != 0 && table[k] != word) k = (k + 1) & mask;
    return table[k] == word;
}

static int meet_in_table(wgi_turns *r, const wgi_turn_access *w, const wgi_turn_access *q) {
    size_t room = 1, bytes;
    wgi_home home;
    void *p;
    const size_t words = (w->size + 2 * WORD - 1) / WORD; /* of one turn, at most */
    while (room < 2 * words * r->turn && room <= SIZE_MAX / 4) room *= 2;
    wg_status s = WG_ENOMEM;
    if (!__builtin_mul_overflow(room, sizeof(uintptr_t), &bytes))
        s = wgi_home_obtain(r->c, bytes, &home, &p);
    if (s != WG_OK) {
        wgi_turn_fail(r, s, "no memory for what its turns have in common");
        return -1;
    }
    memset(p, 0, bytes);
    uintptr_t *const table = p;
    for (size_t turn = 0; turn < r->turn; turn++) {
        const uintptr_t at = wgi_turn_address(r, w, turn), last = at + w->size - 1;
        for (uintptr_t word = at / WORD; word <= last / WORD; word++) {
            size_t k = slot_of(word, room - 1);
            while (table[k] != 0 && table[k] != word) k = (k + 1) & (room - 1);
            table[k] = word;
        }
    }
    int found = 0;
    for (size_t turn = 0; turn < r->turn && !found; turn++) {
        const uintptr_t at = wgi_turn_address(r, q, turn), last = at + q->size - 1;
        for (uintptr_t word = at / WORD; word <= last / WORD && !found; word++)
            found = is_in(table, room - 1, word);
    }
    wgi_home_release(&home, p);
    return found;
}

int wgi_turn_meet(wgi_turns *r, const wgi_turn_access *w, const wgi_turn_access *q) {
    uintptr_t low[2], high[2];
    range_of(w, r->turn, &low[0], &high[0]);
    range_of(q, r->turn, &low[1], &high[1]);
    if (high[0] <= low[1] || high[1] <= low[0]) return 0;
    if (!w->each && !q->each) return meet_in_steps(w, q);
    if (w->added && q->added) return 0;
    if (w->each && q->each) return meet_in_table(r, w, q);
    const wgi_turn_access *const steady = w->each ? q : w, *const other = w->each ? w : q;
    for (size_t turn = 0; turn < r->turn; turn++)
        if (meets(steady, wgi_turn_address(r, other, turn), other->size, r->turn)) return 1;
    return 0;
}
