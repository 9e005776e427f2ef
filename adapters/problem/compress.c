/* SPDX-License-Identifier: MIT */
/* compress.c - sparse derivatives of functions: seeds that are sums of lines without a common
 * entry, and the entries read off the products.
 *
 * Colouring: in the order of the lines, the lowest colour that none of the lines has with which
 * one shares an entry across. Source: Curtis, Powell, Reid 1974. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* A pattern by lines and across, as lists: of line i the entries across[start[i]] .. */
typedef struct lists {
    size_t count;
    size_t *start;
    uint32_t *across;
} lists;

static void free_lists(lists *l) {
    free(l->start);
    free(l->across);
}

/* The entries of each line; also those of the transposed pattern, but for the diagonal, where
 * it is the triangle of a symmetric matrix. */
static int make_lists(size_t count, const wg_pattern *at, const uint32_t *line,
                      const uint32_t *across, int symmetric, lists *out) {
    const size_t most = at->entries * (symmetric ? 2 : 1);
    *out = (lists){count, calloc(count + 2, sizeof *out->start),
                   malloc((most + 1) * sizeof *out->across)};
    if (out->start == NULL || out->across == NULL) return 0;
    for (size_t k = 0; k < at->entries; k++) {
        out->start[line[k] + 2]++;
        if (symmetric && line[k] != across[k]) out->start[across[k] + 2]++;
    }
    for (size_t i = 0; i < count; i++) out->start[i + 2] += out->start[i + 1];
    for (size_t k = 0; k < at->entries; k++) {
        out->across[out->start[line[k] + 1]++] = across[k];
        if (symmetric && line[k] != across[k])
            out->across[out->start[across[k] + 1]++] = line[k];
    }
    return 1;
}

/* Colours of the lines. Result: how many, or SIZE_MAX without memory. */
static size_t coloured(const lists *lines, const lists *cross, uint32_t *colour) {
    size_t colours = 0;
    size_t *const taken = calloc(lines->count + 1, sizeof *taken); /* by whom, plus 1 */
    if (taken == NULL) return SIZE_MAX;
    memset(colour, 0xff, lines->count * sizeof *colour);
    for (size_t i = 0; i < lines->count; i++) {
        uint32_t c = 0;
        for (size_t k = lines->start[i]; k < lines->start[i + 1]; k++) {
            const uint32_t a = lines->across[k];
            for (size_t j = cross->start[a]; j < cross->start[a + 1]; j++)
                if (colour[cross->across[j]] != UINT32_MAX)
                    taken[colour[cross->across[j]]] = i + 1;
        }
        while (taken[c] == i + 1) c++;
        colour[i] = c;
        if (c + 1 > colours) colours = c + 1;
    }
    free(taken);
    return colours;
}

wg_status wgi_compress(const wg_pattern *at, int symmetric, wgi_compression *out) {
    lists rows = {0, NULL, NULL}, cols = {0, NULL, NULL};
    uint32_t *by_row = malloc((at->rows + 1) * sizeof *by_row);
    uint32_t *by_col = malloc((at->cols + 1) * sizeof *by_col);
    size_t row_colours = SIZE_MAX, col_colours = SIZE_MAX;
    if (by_row != NULL && by_col != NULL &&
        make_lists(at->rows, at, at->row, at->col, symmetric, &rows) &&
        make_lists(at->cols, at, at->col, at->row, symmetric, &cols)) {
        col_colours = coloured(&cols, &rows, by_col);
        if (!symmetric) row_colours = coloured(&rows, &cols, by_row);
    }
    const int failed = col_colours == SIZE_MAX || (!symmetric && row_colours == SIZE_MAX);
    free_lists(&rows), free_lists(&cols);
    out->rows = !failed && row_colours < col_colours;
    out->colours = out->rows ? row_colours : col_colours;
    out->colour = out->rows ? by_row : by_col;
    free(out->rows ? by_col : by_row);
    if (!failed) return WG_OK;
    free(out->colour);
    out->colour = NULL;
    return WG_ENOMEM;
}
