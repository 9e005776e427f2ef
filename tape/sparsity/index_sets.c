/* SPDX-License-Identifier: MIT */
/* Sets of inputs: index_sets.h says what they are.
 *
 * In the pool:  few    [members | FEW]  members ...
 *               union  [sets | UNION]   the walk that was here last, the sets ...
 *               long   [LONG]           extent, where it starts there (two words), members
 * A union has two sets at least, three words behind its head where there are two: a long set
 * takes five words, so a union is never shorter than that. */
#include "index_sets.h"

#include <string.h>

enum { FEW, UNION, LONG, KIND_BITS = 2, SHORTEST = 5 };
enum { RECENT_BITS = 14 };

int wgi_sets_room(wgi_sets *k, int extent, uint64_t used, uint64_t more) {
    wgi_core *const c = k->c;
    if (c->status != WG_OK) return 0;
    const wg_status s =
        used + more > SIZE_MAX / 8
            ? WG_ENOMEM
            : wgi_extent_need(c, &c->index[extent], (size_t)(used + more) * sizeof(uint32_t),
                              (size_t)used * sizeof(uint32_t));
    if (s != WG_OK) (void)wgi_fail(c, s, "%s: no room for a pattern", k->call);
    return s == WG_OK;
}

wg_status wgi_sets_open(wgi_sets *k, wgi_core *c, const char *call, uint32_t n) {
    const size_t bytes = (size_t)n * sizeof(uint32_t);
    memset(k, 0, sizeof *k);
    k->c = c;
    k->call = call;
    k->n = n;
    k->mark = wg_tape_keep(&c->head, bytes + 4, NULL);
    k->inner_mark = wg_tape_keep(&c->head, bytes + 4, NULL);
    k->recent = wg_tape_keep(&c->head, sizeof(wgi_set) << RECENT_BITS, NULL);
    for (int r = 0; r < WGI_INDEX_EXTENTS; r++) (void)wgi_sets_room(k, r, 0, 1);
    if (c->status != WG_OK) return c->status;
    memset(k->mark, 0, bytes);
    memset(k->inner_mark, 0, bytes);
    memset(k->recent, 0, sizeof(wgi_set) << RECENT_BITS);
    return WG_OK;
}

void wgi_sets_close(wgi_sets *k) {
    for (int r = 0; r < WGI_INDEX_EXTENTS; r++) wgi_extent_free(k->c, &k->c->index[r]);
}

/* ---- reading ---- */

static uint32_t *at(const wgi_sets *k, wgi_set s) {
    return wgi_sets_words(k, WGI_INDEX_POOL) + (s - k->n - 1);
}

/* The members of a set; NULL: it is a union, of *count sets. */
static const uint32_t *members(const wgi_sets *k, wgi_set s, uint32_t *one, size_t *count) {
    if (s <= k->n) {
        *one = s - 1;
        *count = s != 0;
        return one;
    }
    const uint32_t *const w = at(k, s);
    *count = w[0] >> KIND_BITS;
    switch (w[0] & ((1 << KIND_BITS) - 1)) {
    case FEW:
        return w + 1;
    case UNION:
        return NULL;
    default:
        *count = w[4];
        return wgi_sets_words(k, (int)w[1]) + ((uint64_t)w[3] << 32 | w[2]);
    }
}

int wgi_sets_is_few(const wgi_sets *k, wgi_set s) {
    return s <= k->n || (at(k, s)[0] & ((1 << KIND_BITS) - 1)) == FEW;
}

/* ---- making ---- */

/* Makes a set of the words from `used` on. If an equal set was made lately that is given
 * instead. skip: words behind the head that do not belong to its contents. */
static wgi_set keep(wgi_sets *k, size_t words, size_t skip) {
    if (k->pool + words > UINT32_MAX - k->n - 2) {
        (void)wgi_fail(k->c, WG_ENOMEM, "%s: more than 2^32 words of sets", k->call);
        return 0;
    }
    const uint32_t *const w = wgi_sets_words(k, WGI_INDEX_POOL) + k->pool;
    uint64_t h = w[0];
    for (size_t i = 1 + skip; i < words; i++) h = (h ^ w[i]) * UINT64_C(0x9e3779b97f4a7c15);
    wgi_set *const recent = &k->recent[h >> (64 - RECENT_BITS)];
    if (*recent != 0) {
        const uint32_t *const other = at(k, *recent);
        if (other[0] == w[0] &&
            memcmp(other + 1 + skip, w + 1 + skip, (words - 1 - skip) * sizeof *w) == 0)
            return *recent;
    }
    *recent = k->n + 1 + (uint32_t)k->pool;
    k->pool += words;
    return *recent;
}

static wgi_set make_few(wgi_sets *k, size_t count, const uint32_t *member) {
    if (count == 0) return 0;
    if (count == 1) return member[0] + 1;
    if (!wgi_sets_room(k, WGI_INDEX_POOL, k->pool, count + 1)) return 0;
    uint32_t *const w = wgi_sets_words(k, WGI_INDEX_POOL) + k->pool;
    w[0] = (uint32_t)count << KIND_BITS | FEW;
    memcpy(w + 1, member, count * sizeof *member);
    return keep(k, count + 1, 0);
}

static wgi_set make_union(wgi_sets *k, size_t count, const wgi_set *set) {
    if (count >= (UINT32_MAX >> KIND_BITS) - SHORTEST) {
        (void)wgi_fail(k->c, WG_ENOMEM, "%s: a union of %zu sets", k->call, count);
        return 0;
    }
    if (!wgi_sets_room(k, WGI_INDEX_POOL, k->pool, count + SHORTEST)) return 0;
    uint32_t *const w = wgi_sets_words(k, WGI_INDEX_POOL) + k->pool;
    size_t sets = 0;
    w[1] = 0;
    for (size_t i = 0; i < count; i++)
        if (set[i] != 0 && (sets == 0 || set[i] != w[1 + sets])) w[2 + sets++] = set[i];
    while (sets + 2 < SHORTEST) w[2 + sets++] = 0;
    w[0] = (uint32_t)sets << KIND_BITS | UNION;
    return keep(k, sets + 2, 1);
}

/* Merges a and b, both in order, into c; gives how many members that are. */
static size_t merge(size_t na, const uint32_t *a, size_t nb, const uint32_t *b, uint32_t *c) {
    size_t i = 0, j = 0, n = 0;
    while (i < na && j < nb) {
        const uint32_t x = a[i], y = b[j];
        c[n++] = x < y ? x : y;
        i += x <= y;
        j += y <= x;
    }
    while (i < na) c[n++] = a[i++];
    while (j < nb) c[n++] = b[j++];
    return n;
}

wgi_set wgi_sets_join(wgi_sets *k, size_t count, const wgi_set *set) {
    uint32_t room[2][2 * WGI_FEW], one;
    wgi_set first = 0, largest;
    size_t i = 0, n, most;
    for (; i < count && (set[i] == 0 || first == 0 || set[i] == first); i++)
        if (set[i] != 0) first = set[i];
    if (i == count) return first;
    int now = 0;
    const uint32_t *from = members(k, first, &one, &n);
    if (from == NULL || n > WGI_FEW) return make_union(k, count, set);
    memcpy(room[now], from, n * sizeof *from);
    for (largest = first, most = n; i < count; i++) {
        size_t more;
        if (set[i] == 0 || set[i] == first) continue;
        from = members(k, set[i], &one, &more);
        if (from == NULL || more > WGI_FEW) return make_union(k, count, set);
        if (more > most) most = more, largest = set[i];
        const size_t both = merge(n, room[now], more, from, room[!now]);
        if (both > WGI_FEW) return make_union(k, count, set);
        if (both != n) now = !now;
        n = both;
    }
    return n == most ? largest : make_few(k, n, room[now]);
}

/* ---- walking through unions ---- */

/* A walk through sets: members that it has not met before are appended to an extent. */
typedef struct walk {
    wgi_sets *k;
    uint32_t *mark, visit;
    int extent;
    uint64_t to;     /* how many words of the extent are in use */
    uint64_t full;   /* how many when it has met all inputs: it can stop then */
    uint64_t bottom; /* where its part of the stack begins */
} walk;

static void take(walk *w, size_t count, const uint32_t *member) {
    uint32_t *const to = wgi_sets_words(w->k, w->extent);
    for (size_t i = 0; i < count; i++)
        if (w->mark[member[i]] != w->visit) {
            w->mark[member[i]] = w->visit;
            to[w->to++] = member[i];
        }
}

static int push(wgi_sets *k, wgi_set s) {
    if (!wgi_sets_room(k, WGI_INDEX_STACK, k->stack, 1)) return 0;
    wgi_sets_words(k, WGI_INDEX_STACK)[k->stack++] = s;
    return 1;
}

/* Goes through all sets on the stack and below them. A union that another walk has met as well
 * is put aside, once: it is better written out, since many walks come to it. Gives how many
 * there are; they are at the start of the walk's part of the stack. */
static size_t descend(walk *w, int aside) {
    wgi_sets *const k = w->k;
    uint64_t put = w->bottom;
    uint32_t one;
    size_t count;
    while (k->stack > put && w->to < w->full && k->c->status == WG_OK) {
        uint32_t *const stack = wgi_sets_words(k, WGI_INDEX_STACK);
        const wgi_set s = stack[--k->stack];
        const uint32_t *const m = members(k, s, &one, &count);
        if (m != NULL) {
            take(w, count, m);
            continue;
        }
        uint32_t *const u = at(k, s);
        if (u[1] == w->visit) continue;
        const int seen = aside && u[1] != 0;
        u[1] = w->visit;
        if (seen) { /* the place below the stack is now that of a union put aside */
            if (!push(k, 0)) break;
            uint32_t *const moved = wgi_sets_words(k, WGI_INDEX_STACK);
            moved[k->stack - 1] = moved[put];
            moved[put++] = s;
            continue;
        }
        if (!wgi_sets_room(k, WGI_INDEX_STACK, k->stack, count)) break;
        memcpy(wgi_sets_words(k, WGI_INDEX_STACK) + k->stack, at(k, s) + 2, count * sizeof s);
        k->stack += count;
    }
    return (size_t)(put - w->bottom);
}

static void become_long(wgi_sets *k, wgi_set s, int extent, uint64_t from, size_t count) {
    uint32_t *const u = at(k, s);
    u[0] = LONG;
    u[1] = (uint32_t)extent;
    u[2] = (uint32_t)from, u[3] = (uint32_t)(from >> 32);
    u[4] = (uint32_t)count;
}

/* Writes the members of a union out, into the pool. */
static void write_out(wgi_sets *k, wgi_set s) {
    if (!wgi_sets_room(k, WGI_INDEX_POOL, k->pool, k->n)) return;
    const uint64_t from = k->pool;
    walk w = {k, k->inner_mark, ++k->visit, WGI_INDEX_POOL, from, from + k->n, k->stack};
    if (!push(k, s)) return;
    (void)descend(&w, 0);
    k->stack = w.bottom;
    if (w.to > UINT32_MAX - k->n - 2)
        (void)wgi_fail(k->c, WG_ENOMEM, "%s: more than 2^32 words of sets", k->call);
    if (k->c->status != WG_OK) return;
    k->pool = w.to;
    become_long(k, s, WGI_INDEX_POOL, from, (size_t)(w.to - from));
}

const uint32_t *wgi_sets_members(wgi_sets *k, wgi_set s, uint32_t *one, size_t *count) {
    const uint32_t *m = members(k, s, one, count);
    if (m != NULL) return m;
    write_out(k, s);
    m = members(k, s, one, count);
    if (m == NULL) *count = 0; /* a failure */
    return m;
}

/* Sorts in increasing order, by Shell's method: a set that contains another one was made later,
 * and has the greater number. */
static void sort(size_t n, wgi_set *s) {
    for (size_t gap = n / 2; gap != 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            const wgi_set x = s[i];
            size_t j = i;
            for (; j >= gap && s[j - gap] > x; j -= gap) s[j] = s[j - gap];
            s[j] = x;
        }
}

/* Writes out what was put aside, the largest first: what is met in one of them need not be met
 * again. */
static void take_aside(walk *w, size_t aside) {
    wgi_sets *const k = w->k;
    uint32_t one;
    size_t n;
    sort(aside, wgi_sets_words(k, WGI_INDEX_STACK) + w->bottom);
    k->stack = w->bottom + aside;
    for (size_t i = aside; i-- > 0 && w->to < w->full && k->c->status == WG_OK;) {
        const wgi_set s = wgi_sets_words(k, WGI_INDEX_STACK)[w->bottom + i];
        if (members(k, s, &one, &n) == NULL && at(k, s)[1] > w->visit) continue;
        const uint32_t *const m = wgi_sets_members(k, s, &one, &n);
        if (m != NULL) take(w, n, m);
    }
    k->stack = w->bottom;
}

size_t wgi_sets_write(wgi_sets *k, size_t count, const wgi_set *set) {
    const wgi_set only = count == 1 ? set[0] : 0;
    uint32_t one;
    size_t n = 0;
    if (count == 1) {
        const uint32_t *m = members(k, only, &one, &n);
        if (m != NULL) {
            if (!wgi_sets_room(k, WGI_INDEX_LIST, k->list, n)) return 0;
            m = members(k, only, &one, &n);
            memcpy(wgi_sets_words(k, WGI_INDEX_LIST) + k->list, m, n * sizeof *m);
            k->list += n;
            return n;
        }
    }
    if (!wgi_sets_room(k, WGI_INDEX_LIST, k->list, k->n)) return 0;
    const uint64_t from = k->list;
    walk w = {k, k->mark, ++k->visit, WGI_INDEX_LIST, from, from + k->n, k->stack};
    for (size_t i = 0; i < count; i++)
        if (!push(k, set[i])) return 0;
    take_aside(&w, descend(&w, 1));
    if (k->c->status != WG_OK) return 0;
    k->list = w.to;
    n = (size_t)(w.to - from);
    if (count == 1) become_long(k, only, WGI_INDEX_LIST, from, n);
    return n;
}
