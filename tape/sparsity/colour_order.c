/* SPDX-License-Identifier: MIT */
/* Orders in which lines are coloured. Letters: a the lines; neighbours of a line are those that
 * it may not share a colour with.
 *
 *   natural               as they stand
 *   largest first         by how many neighbours they have, which is only estimated
 *   smallest last         the line with fewest neighbours among those that are left goes to the end
 *   incidence degree      the one with most neighbours among those in order comes next
 *   dynamic largest first the one with most neighbours among those that are left comes next
 * The last three keep lines in a list for each key. Source: Gebremedhin, Manne, Pothen 2005,
 * 7.1. */
#include "sparsity.h"

#include <string.h>

typedef struct queue {
    const wgi_lines *a, *across; /* across NULL: indices are neighbours themselves */
    size_t lines;
    uint32_t *key, *next, *before; /* lists: numbers of lines, plus 1 */
    uint32_t *first;               /* of each key */
    uint32_t *seen;                /* when a line was met last, plus 1 */
    uint32_t time;
} queue;

/* ---- without lists ---- */

/* Orders lines by how many others they may conflict with, most first; equals keep their
 * order. */
static wg_status largest_first(wgi_core *c, const wgi_lines *a, const wgi_lines *b,
                               uint32_t *order) {
    enum { KEYS = 4096 };
    uint32_t *const bucket = wgi_sparsity_room(c, KEYS, sizeof *bucket);
    uint32_t *const key = wgi_sparsity_room(c, a->lines, sizeof *key);
    if (c->status != WG_OK) return c->status;
    memset(bucket, 0, (KEYS + 1) * sizeof *bucket);
    for (size_t i = 0; i < a->lines; i++) {
        size_t met = 0;
        for (size_t e = a->start[i]; e < a->start[i + 1] && met < KEYS; e++)
            met += wgi_line_length(b, a->index[e]) - 1;
        key[i] = (uint32_t)(met < KEYS ? KEYS - 1 - met : 0);
        bucket[key[i] + 1]++;
    }
    for (size_t k = 0; k < KEYS; k++) bucket[k + 1] += bucket[k];
    for (size_t i = 0; i < a->lines; i++) order[bucket[key[i]]++] = (uint32_t)i;
    return WG_OK;
}

/* ---- with lists ---- */

static void take_out(queue *q, uint32_t i) {
    const uint32_t n = q->next[i], b = q->before[i];
    if (b != 0) q->next[b - 1] = n;
    else q->first[q->key[i]] = n;
    if (n != 0) q->before[n - 1] = b;
}
static void put_in(queue *q, uint32_t i, uint32_t key) {
    q->key[i] = key;
    q->before[i] = 0;
    q->next[i] = q->first[key];
    if (q->next[i] != 0) q->before[q->next[i] - 1] = i + 1;
    q->first[key] = i + 1;
}

/* Adds `by` to the keys of all neighbours of a line that are in a list, or, for 0, counts
 * them. */
static uint32_t visit(queue *q, uint32_t i, int by) {
    const wgi_lines *const a = q->a;
    uint32_t met = 0;
    q->seen[i] = ++q->time;
    for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
        const uint32_t own = a->index[e];
        const uint32_t *const to =
            q->across != NULL ? q->across->index + q->across->start[own] : &own;
        const size_t n = q->across != NULL ? wgi_line_length(q->across, own) : 1;
        for (size_t k = 0; k < n; k++) {
            const uint32_t j = to[k];
            if (q->seen[j] == q->time || q->seen[j] == UINT32_MAX) continue;
            q->seen[j] = q->time;
            met++;
            if (by == 0) continue;
            take_out(q, j);
            put_in(q, j, by > 0 ? q->key[j] + 1 : q->key[j] - 1);
        }
    }
    return met;
}

static wg_status by_keys(wgi_core *c, const wgi_lines *a, const wgi_lines *across,
                         wg_order kind, uint32_t *order) {
    const size_t n = a->lines;
    queue q = {.a = a, .across = across, .lines = n};
    q.key = wgi_sparsity_room(c, n, sizeof *q.key);
    q.next = wgi_sparsity_room(c, n, sizeof *q.next);
    q.before = wgi_sparsity_room(c, n, sizeof *q.before);
    q.first = wgi_sparsity_room(c, n + 1, sizeof *q.first);
    q.seen = wgi_sparsity_room(c, n, sizeof *q.seen);
    if (c->status != WG_OK) return c->status;
    memset(q.first, 0, (n + 1) * sizeof *q.first);
    memset(q.seen, 0, n * sizeof *q.seen);
    for (size_t i = n; i > 0; i--) {
        const uint32_t v = (uint32_t)(i - 1);
        put_in(&q, v, kind == WG_ORDER_INCIDENCE_DEGREE ? 0 : visit(&q, v, 0));
    }
    const int smallest = kind == WG_ORDER_SMALLEST_LAST;
    size_t at = smallest ? 0 : n; /* a key that may be the next one */
    for (size_t k = 0; k < n; k++) {
        if (smallest) {
            at = at > 0 ? at - 1 : 0; /* each step takes 1 off at most */
            while (q.first[at] == 0) at++;
        } else {
            at = at < n ? at + 1 : n;
            while (q.first[at] == 0) at--;
        }
        const uint32_t v = q.first[at] - 1;
        take_out(&q, v);
        order[smallest ? n - 1 - k : k] = v;
        (void)visit(&q, v, kind == WG_ORDER_INCIDENCE_DEGREE ? 1 : -1);
        q.seen[v] = UINT32_MAX;
    }
    return WG_OK;
}

int wgi_order_is_cheap(const wgi_lines *a, const wgi_lines *b, wg_order kind) {
    const size_t entries = a->lines != 0 ? a->start[a->lines] : 0;
    size_t work = 0;
    if (kind <= WG_ORDER_LARGEST_FIRST || a == b) return 1;
    for (size_t i = 0; i < b->lines; i++) work += wgi_line_length(b, i) * wgi_line_length(b, i);
    return work / 64 <= entries + 1024;
}

wg_status wgi_order(wgi_core *c, const wgi_lines *a, const wgi_lines *b, wg_order kind,
                    uint32_t *order) {
    if (kind == WG_ORDER_LARGEST_FIRST) return largest_first(c, a, b, order);
    if (kind > WG_ORDER_LARGEST_FIRST) return by_keys(c, a, a != b ? b : NULL, kind, order);
    for (size_t i = 0; i < a->lines; i++) order[i] = (uint32_t)i;
    return WG_OK;
}
