/* SPDX-License-Identifier: MIT */
/* Colourings: lines of a pattern that can share a sweep.
 *
 * Greedy: each line gets the smallest colour that is free. For each line across, the colours
 * among its entries are kept as bits, 64 colours to a word: to find all conflicts of a line it
 * is enough to look at its own entries, however many neighbours it has. Lines are taken in
 * their order; if that may have taken more sweeps than necessary, also in the other orders of
 * colour_order.c, as far as they cost no more than the colouring. Source: Gebremedhin, Manne,
 * Pothen 2005, SIAM Review 47(4) (partial distance-2 and star colouring, and what a
 * colouring has to fulfil). */
#include "sparsity.h"

#include <string.h>

/* The most words of 64 colours each; beyond these every line gets a colour of its own. */
enum { WORD = 64, MOST_WORDS = 64 };

/* The next order to try, after one that gave so many sweeps; WG_ORDER_AUTO: none. */
static wg_order next_order(const wgi_lines *a, const wgi_lines *b, wg_order wish,
                           wg_order tried, size_t sweeps, size_t least) {
    if (wish != WG_ORDER_AUTO) return tried == WG_ORDER_AUTO ? wish : WG_ORDER_AUTO;
    if (tried != WG_ORDER_AUTO && sweeps <= least) return WG_ORDER_AUTO;
    while (tried + 1 < WG_ORDER_COUNT) {
        tried = (wg_order)(tried + 1);
        if (wgi_order_is_cheap(a, b, tried)) return tried;
    }
    return WG_ORDER_AUTO;
}

/* ---- lines that have no line across in common ---- */

/* Among the entries of a line across, the colours of this round that any entry has, and those
 * that a wanted entry has. */
typedef struct taken {
    uint64_t any, wanted;
} taken;

static int is_wanted(const wgi_lines *a, size_t e) { return a->wanted == NULL || a->wanted[e]; }

/* Gives line i a colour of this round; -1: none is free. */
static int colour_line(const wgi_lines *a, size_t i, taken *across) {
    uint64_t used = 0;
    for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
        const taken *const t = &across[a->index[e]];
        used |= is_wanted(a, e) ? t->any : t->wanted;
    }
    if (~used == 0) return -1;
    const int colour = __builtin_ctzll(~used);
    const uint64_t bit = (uint64_t)1 << colour;
    for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
        taken *const t = &across[a->index[e]];
        t->any |= bit;
        if (is_wanted(a, e)) t->wanted |= bit;
    }
    return colour;
}

/* Colours in rounds of 64: lines that get no colour in one wait for the next, which gives the
 * same as if all colours were looked at together. `waiting` lines are in `order`. */
static size_t colour_in_order(const wgi_lines *a, size_t waiting, uint32_t *order,
                              taken *across, uint32_t *colour) {
    size_t colours = 0;
    for (size_t round = 0; waiting != 0 && round < MOST_WORDS; round++) {
        size_t left = 0;
        memset(across, 0, a->across * sizeof *across);
        for (size_t k = 0; k < waiting; k++) {
            const uint32_t i = order[k];
            const int got = colour_line(a, i, across);
            if (got < 0) {
                order[left++] = i;
                continue;
            }
            colour[i] = (uint32_t)(round * WORD) + (uint32_t)got;
            if (colour[i] >= colours) colours = (size_t)colour[i] + 1;
        }
        waiting = left;
    }
    for (size_t k = 0; k < waiting; k++) colour[order[k]] = (uint32_t)colours++;
    return colours;
}

/* Drops lines without a wanted entry. */
static size_t only_wanted(const wgi_lines *a, size_t n, uint32_t *order, uint32_t *colour) {
    size_t left = 0;
    for (size_t k = 0; k < n; k++) {
        const uint32_t i = order[k];
        int any = 0;
        for (size_t e = a->start[i]; e < a->start[i + 1] && !any; e++) any = is_wanted(a, e);
        if (any) order[left++] = i;
        else colour[i] = WGI_NO_COLOUR;
    }
    return left;
}

/* Wanted entries of one line across need different colours: there are at least as many. */
static size_t least_colours(const wgi_lines *b) {
    size_t least = 0;
    for (size_t i = 0; i < b->lines; i++) {
        size_t wanted = 0;
        for (size_t e = b->start[i]; e < b->start[i + 1]; e++)
            wanted += (size_t)is_wanted(b, e);
        if (wanted > least) least = wanted;
    }
    return least;
}

wg_status wgi_colour_lines(wgi_core *c, const wgi_lines *a, const wgi_lines *b, wg_order wish,
                           uint32_t *colour, size_t *colours) {
    uint32_t *const order = wgi_sparsity_room(c, a->lines, sizeof *order);
    uint32_t *const other = wgi_sparsity_room(c, a->lines, sizeof *other);
    taken *const across = wgi_sparsity_room(c, a->across, sizeof *across);
    if (c->status != WG_OK) return c->status;
    const size_t least = wgi_sweeps(least_colours(b));
    wg_order kind = WG_ORDER_AUTO;
    *colours = SIZE_MAX;
    for (;;) {
        kind = next_order(a, b, wish, kind, wgi_sweeps(*colours), least);
        if (kind == WG_ORDER_AUTO) return WG_OK;
        if (wgi_order(c, a, b, kind, order) != WG_OK) return c->status;
        const size_t n = only_wanted(a, a->lines, order, other);
        const size_t got = colour_in_order(a, n, order, across, other);
        if (*colours != SIZE_MAX && wgi_sweeps(got) >= wgi_sweeps(*colours)) continue;
        memcpy(colour, other, a->lines * sizeof *colour);
        *colours = got;
    }
}

/* ---- stars ---- */

/* For every variable, in `words` words each: the colours that neighbours have; those that two
 * or more of them have; and those of neighbours that are the hub of a star in which the
 * variable is a leaf. */
typedef struct stars {
    const wgi_lines *a;
    size_t words;
    uint64_t *any, *many, *hub;
    uint64_t used[MOST_WORDS];
    uint32_t *colour;
} stars;

static int has(const uint64_t *of, const stars *s, size_t i, uint32_t colour) {
    return of[i * s->words + colour / WORD] >> colour % WORD & 1;
}
static void add(uint64_t *of, const stars *s, size_t i, uint32_t colour) {
    of[i * s->words + colour / WORD] |= (uint64_t)1 << colour % WORD;
}

/* Is the colour kept as a bit? Any other belongs to a single variable. */
static int shared(const stars *s, uint32_t colour) { return colour < s->words * WORD; }

/* A colour for v by which no path of four variables has only two colours. v must not have the
 * colour of a neighbour w; nor that of a neighbour of w, if two neighbours of v have the colour
 * of w; nor that of a hub of which w is a leaf. */
static uint32_t free_colour(stars *s, size_t v) {
    const wgi_lines *const a = s->a;
    memset(s->used, 0, s->words * sizeof *s->used);
    for (size_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const size_t w = a->index[e];
        const uint32_t d = s->colour[w];
        if (w == v || !shared(s, d)) continue;
        s->used[d / WORD] |= (uint64_t)1 << d % WORD;
        const uint64_t *const more = (has(s->many, s, v, d) ? s->any : s->hub) + w * s->words;
        for (size_t i = 0; i < s->words; i++) s->used[i] |= more[i];
    }
    for (size_t i = 0; i < s->words; i++)
        if (~s->used[i] != 0)
            return (uint32_t)(i * WORD) + (uint32_t)__builtin_ctzll(~s->used[i]);
    return WGI_NO_COLOUR;
}

/* Two neighbours of w have colour c now: w becomes their hub. */
static void becomes_hub(stars *s, size_t w, uint32_t c) {
    const wgi_lines *const a = s->a;
    for (size_t e = a->start[w]; e < a->start[w + 1]; e++)
        if (s->colour[a->index[e]] == c && a->index[e] != w)
            add(s->hub, s, a->index[e], s->colour[w]);
}

static void give_colour(stars *s, size_t v, uint32_t c) {
    const wgi_lines *const a = s->a;
    s->colour[v] = c;
    if (!shared(s, c)) return;
    for (size_t e = a->start[v]; e < a->start[v + 1]; e++) {
        const size_t w = a->index[e];
        const uint32_t d = s->colour[w];
        if (w == v) continue;
        if (has(s->any, s, w, c) && !has(s->many, s, w, c)) {
            add(s->many, s, w, c);
            if (shared(s, d)) becomes_hub(s, w, c);
        } else if (has(s->many, s, w, c) && shared(s, d)) add(s->hub, s, v, d);
        add(s->any, s, w, c);
        if (shared(s, d) && has(s->many, s, v, d)) add(s->hub, s, w, c);
    }
}

/* Colours all variables in an order; 0: more colours are needed than the words hold, though
 * more are allowed. */
static size_t star_in_order(stars *s, const uint32_t *order) {
    const wgi_lines *const a = s->a;
    const size_t bytes = a->lines * s->words * sizeof(uint64_t);
    size_t colours = 0;
    memset(s->any, 0, bytes);
    memset(s->many, 0, bytes);
    memset(s->hub, 0, bytes);
    for (size_t i = 0; i < a->lines; i++) s->colour[i] = WGI_NO_COLOUR;
    uint32_t own = (uint32_t)(s->words * WORD);
    for (size_t k = 0; k < a->lines; k++) {
        const size_t v = order[k];
        if (wgi_line_length(a, v) == 0) continue;
        uint32_t c = free_colour(s, v);
        if (c == WGI_NO_COLOUR && s->words < MOST_WORDS) return 0;
        if (c == WGI_NO_COLOUR) c = own++;
        give_colour(s, v, c);
        if (c >= colours) colours = (size_t)c + 1;
    }
    return colours;
}

static int room(wgi_core *c, stars *s) {
    const size_t words = s->a->lines * s->words;
    s->any = wgi_sparsity_room(c, words, sizeof *s->any);
    s->many = wgi_sparsity_room(c, words, sizeof *s->many);
    s->hub = wgi_sparsity_room(c, words, sizeof *s->hub);
    return c->status == WG_OK;
}

/* The same with as many words as that takes. */
static wg_status star_with_room(wgi_core *c, stars *s, const uint32_t *order, size_t *colours) {
    while ((*colours = star_in_order(s, order)) == 0) {
        s->words *= 4;
        if (!room(c, s)) return c->status;
    }
    return WG_OK;
}

wg_status wgi_colour_star(wgi_core *c, const wgi_lines *a, wg_order wish, uint32_t *colour,
                          size_t *colours, unsigned char *swapped) {
    stars s = {a, 1, NULL, NULL, NULL, {0}, colour};
    uint32_t *const order = wgi_sparsity_room(c, a->lines, sizeof *order);
    size_t entries = a->lines != 0 ? a->start[a->lines] : 0;
    *colours = 0;
    if (c->status != WG_OK || entries == 0) {
        for (size_t i = 0; c->status == WG_OK && i < a->lines; i++) colour[i] = WGI_NO_COLOUR;
        return c->status;
    }
    if (!room(c, &s)) return c->status;
    wg_order kind = WG_ORDER_AUTO, best = WG_ORDER_AUTO, last = WG_ORDER_AUTO;
    size_t fewest = SIZE_MAX;
    while ((kind = next_order(a, a, wish, kind, wgi_sweeps(fewest), 1)) != WG_ORDER_AUTO) {
        if (wgi_order(c, a, a, kind, order) != WG_OK) return c->status;
        if (star_with_room(c, &s, order, colours) != WG_OK) return c->status;
        last = kind;
        if (best != WG_ORDER_AUTO && wgi_sweeps(*colours) >= wgi_sweeps(fewest)) continue;
        fewest = *colours;
        best = kind;
    }
    if (last != best) {
        if (wgi_order(c, a, a, best, order) != WG_OK) return c->status;
        (void)star_in_order(&s, order);
    }
    *colours = fewest;
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++) {
            const uint32_t d = colour[a->index[e]];
            swapped[e] = i != a->index[e] && shared(&s, d) && has(s.many, &s, i, d);
        }
    return WG_OK;
}
