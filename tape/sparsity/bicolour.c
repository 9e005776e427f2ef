/* SPDX-License-Identifier: MIT */
/* Bidirectional colourings: some entries of a Jacobian are read along their columns, in forward
 * sweeps, the others along their rows, in backward ones.
 *
 * Lines of one kind that have most entries, a few dense rows or a few dense columns, are read
 * along themselves, and all else along lines of the other kind; both are coloured as by
 * colour.c, where entries that are read in the other direction do not stand in the way. How
 * many lines to split off is told by a bound: colours are at least the longest line that is
 * left across, and the most of the split-off ones that meet anywhere. Source: Coleman, Verma
 * 1998, SIAM J. Sci. Comput.
 * 19(4); Gebremedhin, Manne, Pothen 2005, 6 (a star bicolouring with such a division). */
#include "sparsity.h"

#include <string.h>

/* A way to divide a pattern: `most` first lines in `order` are split off. */
typedef struct division {
    uint32_t *order; /* of lines, longest first */
    size_t most;
    size_t sweeps, colours; /* at least */
} division;

static int is_wanted(const wgi_lines *a, size_t e) { return a->wanted == NULL || a->wanted[e]; }

static size_t wanted_entries(const wgi_lines *a, size_t i) {
    size_t n = 0;
    for (size_t e = a->start[i]; e < a->start[i + 1]; e++) n += (size_t)is_wanted(a, e);
    return n;
}

/* Lines with most wanted entries first; equals in their order. */
static wg_status longest_first(wgi_core *c, const wgi_lines *a, uint32_t *order) {
    size_t *const bucket = wgi_sparsity_room(c, a->across + 1, sizeof *bucket);
    if (c->status != WG_OK) return c->status;
    memset(bucket, 0, (a->across + 2) * sizeof *bucket);
    for (size_t i = 0; i < a->lines; i++) bucket[a->across - wanted_entries(a, i) + 1]++;
    for (size_t k = 0; k < a->across; k++) bucket[k + 1] += bucket[k];
    for (size_t i = 0; i < a->lines; i++)
        order[bucket[a->across - wanted_entries(a, i)]++] = (uint32_t)i;
    return WG_OK;
}

/* How many lines of a to split off by the bounds: those that are left are as long as the next
 * one in order, and meet the others of their kind there. */
static wg_status divide(wgi_core *c, const wgi_lines *a, division *d) {
    uint32_t *const met = wgi_sparsity_room(c, a->across, sizeof *met);
    d->order = wgi_sparsity_room(c, a->lines, sizeof *d->order);
    d->most = d->sweeps = d->colours = 0;
    if (c->status != WG_OK || longest_first(c, a, d->order) != WG_OK) return c->status;
    memset(met, 0, a->across * sizeof *met);
    size_t most_met = 0;
    for (size_t k = 0; k < a->lines; k++) {
        const size_t i = d->order[k];
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            if (is_wanted(a, e) && ++met[a->index[e]] > most_met) most_met = met[a->index[e]];
        const size_t left = k + 1 < a->lines ? wanted_entries(a, d->order[k + 1]) : 0;
        const size_t colours = most_met + left;
        const size_t sweeps = wgi_sweeps(most_met) + wgi_sweeps(left);
        if (d->most != 0 &&
            (sweeps > d->sweeps || (sweeps == d->sweeps && colours >= d->colours)))
            continue;
        *d = (division){d->order, k + 1, sweeps, colours};
    }
    return WG_OK;
}

/* Copies lines, wanting only what the division reads along them. split: of each line of the
 * kind that was divided; own: a is of that kind. */
static wgi_lines part_of(const wgi_lines *a, const unsigned char *split, int own,
                         unsigned char *wanted) {
    wgi_lines part = *a;
    part.wanted = wanted;
    for (size_t i = 0; i < a->lines; i++)
        for (size_t e = a->start[i]; e < a->start[i + 1]; e++)
            wanted[e] = is_wanted(a, e) && (own ? split[i] : !split[a->index[e]]);
    return part;
}

/* Colours by a division of a, whose transposed lines are b: those of a that are split off, and
 * those of b for what is left. */
static wg_status colour_division(wgi_core *c, const wgi_lines *a, const wgi_lines *b,
                                 const division *d, wg_order wish, unsigned char *split,
                                 uint32_t *a_colour, uint32_t *b_colour, size_t colours[2]) {
    const size_t entries = a->lines != 0 ? a->start[a->lines] : 0;
    unsigned char *const a_wanted = wgi_sparsity_room(c, entries, 1);
    unsigned char *const b_wanted = wgi_sparsity_room(c, entries, 1);
    unsigned char *const a_rest = wgi_sparsity_room(c, entries, 1);
    unsigned char *const b_rest = wgi_sparsity_room(c, entries, 1);
    if (c->status != WG_OK) return c->status;
    memset(split, 0, a->lines);
    for (size_t k = 0; k < d->most; k++) split[d->order[k]] = 1;
    const wgi_lines own = part_of(a, split, 1, a_wanted), own_turned = *b;
    wgi_lines own_across = own_turned, rest = part_of(b, split, 0, b_wanted), rest_across = *a;
    own_across.wanted = b_rest;
    rest_across.wanted = a_rest;
    for (size_t e = 0; e < entries;
         e++) { /* what one kind of sweep does not read the other does */
        b_rest[e] = is_wanted(b, e) && !b_wanted[e];
        a_rest[e] = is_wanted(a, e) && !a_wanted[e];
    }
    wg_status s = wgi_colour_lines(c, &own, &own_across, wish, a_colour, &colours[0]);
    if (s == WG_OK) s = wgi_colour_lines(c, &rest, &rest_across, wish, b_colour, &colours[1]);
    return s;
}

wg_status wgi_colour_both(wgi_core *c, const wgi_lines *rows, const wgi_lines *cols,
                          wg_order wish, size_t sweeps, uint32_t *col_colour,
                          uint32_t *row_colour, unsigned char *by_row, size_t colours[2],
                          int *fewer) {
    division of_rows, of_cols;
    const size_t most = rows->lines > cols->lines ? rows->lines : cols->lines;
    unsigned char *const split = wgi_sparsity_room(c, most, 1);
    *fewer = 0;
    if (divide(c, rows, &of_rows) != WG_OK || divide(c, cols, &of_cols) != WG_OK)
        return c->status;
    const int by_cols = of_cols.sweeps < of_rows.sweeps ||
                        (of_cols.sweeps == of_rows.sweeps && of_cols.colours < of_rows.colours);
    for (int k = 0; k < 2 && !*fewer; k++) { /* the more promising one first */
        const int of_col = by_cols ^ k;
        const division *const d = of_col ? &of_cols : &of_rows;
        size_t got[2];
        if (d->most == 0 || d->sweeps >= sweeps) continue;
        const wg_status s =
            of_col
                ? colour_division(c, cols, rows, d, wish, split, col_colour, row_colour, got)
                : colour_division(c, rows, cols, d, wish, split, row_colour, col_colour, got);
        if (s != WG_OK) return s;
        if (wgi_sweeps(got[0]) + wgi_sweeps(got[1]) >= sweeps) continue;
        *fewer = 1;
        colours[0] = got[of_col ? 0 : 1];
        colours[1] = got[of_col ? 1 : 0];
        for (size_t i = 0; i < rows->lines; i++)
            for (size_t e = rows->start[i]; e < rows->start[i + 1]; e++)
                by_row[e] = of_col ? !split[rows->index[e]] : split[i];
    }
    return WG_OK;
}
