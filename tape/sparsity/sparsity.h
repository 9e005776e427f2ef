/* SPDX-License-Identifier: MIT */
/* sparsity.h - a pattern with the plan of its sweeps, from inside. Internal.
 *
 *   sparsity.c         which inputs each slot depends on, and what is not linear
 *   sparsity_block.c   the same of operations on matrices
 *   colour.c           columns, rows or variables that share a sweep
 *   pattern.c          making a wg_sparsity of these
 *   sparse_drivers.c   values */
#ifndef WGI_TAPE_SPARSITY_SPARSITY_H
#define WGI_TAPE_SPARSITY_SPARSITY_H

#include <wengert/sparsity.h>

#include "tape/engine/drive.h"
#include "index_sets.h"
#include "ops/matrix/traits.h"

#define WGI_NO_COLOUR UINT32_MAX
enum { WGI_SWEEP_LANES = 8 };

/* Indices of lines, one line after the other: rows with their columns, or the other way. */
typedef struct wgi_lines {
    size_t lines, across;
    size_t *start;
    uint32_t *index;
    unsigned char *wanted; /* of every entry; NULL: all are */
} wgi_lines;

struct wg_sparsity {
    wg_pattern pattern; /* what the user sees */
    wg_memory memory;
    size_t bytes;
    size_t n, m;
    int hessian;
    char triangle; /* of a Hessian */
    unsigned flags;
    uint64_t recording; /* fingerprint of that it was found for; 0: none */
    uint64_t identity;  /* of the whole pattern: for which a recording may be found to fit */
    const size_t *whole_start; /* the whole pattern by rows: a Hessian's has both triangles */
    const uint32_t *whole_col;
    int backward; /* of a Jacobian: rows have the colours */
    size_t colours;
    const uint32_t *colour; /* of columns, or rows */
    /* entries by the sweep that gives them; NULL: there is one sweep */
    const size_t *sweep_start;
    const uint32_t *sweep_entry;
    const unsigned char *swapped; /* of a Hessian: the entry is read as (col, row) */
};

static inline size_t wgi_sparsity_sweeps(const wg_sparsity *s) {
    return (s->colours + WGI_SWEEP_LANES - 1) / WGI_SWEEP_LANES;
}

/* ---- sparsity.c -------------------------------------------------------------------------- */

/* A number that two recordings have in common when they have the same structure: all records,
 * the outputs, and for Hessians the operations. Never 0. A failure is kept by the tape. */
uint64_t wgi_recording_hash(wgi_drive *d, int hessian);
/* The pattern of what a driver recorded: columns of every output; or of every input the inputs
 * with which it occurs in something that is not linear, in both triangles or, half: in one of
 * them at least. Unsorted. */
wg_status wgi_find_jacobian(wgi_drive *d, wgi_sets *k, wgi_lines *found);
wg_status wgi_find_hessian(wgi_drive *d, wgi_sets *k, wgi_lines *found, int *half);

static inline uint64_t wgi_mix(uint64_t h, uint64_t a, uint64_t b) {
    const wgi_bits p =
        (wgi_bits)(h ^ a ^ UINT64_C(0xa0761d6478bd642f)) * (b ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint64_t)p ^ (uint64_t)(p >> 64) ^ h << 1;
}

/* What interacts with what: a set of inputs with another. */
typedef struct wgi_curves {
    wgi_sets *k;
    const wgi_set *of; /* of every slot */
    uint32_t *head;    /* of every input: its last link + 1 */
    uint64_t links;    /* each a set and the link before */
    uint64_t *recent;  /* pairs of sets that have been connected lately */
    int half;          /* some pairs are connected in one direction only */
} wgi_curves;

/* The inputs a each occur with all of b in something that is not linear. */
void wgi_connect(wgi_curves *q, wgi_set a, wgi_set b);
/* And those of b with all of a. */
void wgi_connect_both(wgi_curves *q, wgi_set a, wgi_set b);
/* Of n operands with these sets; bit j of near[i]: operand j is near i, and i is near j. */
void wgi_connect_near(wgi_curves *q, unsigned n, const wgi_set *of, const uint16_t *near);

/* ---- sparsity_block.c -------------------------------------------------------------------- */

/* The sets of the results of a block, from those of its operands. */
void wgi_block_sets(wgi_sets *k, const wgi_block *b, wgi_set *of);
/* What is not linear in it. */
void wgi_block_curves(wgi_curves *q, const wgi_block *b);
/* Is a result marked? */
int wgi_block_is_alive(const wgi_block *b, const unsigned char *mark);
/* Marks all elements of the operands where a result is marked, or anyway. */
void wgi_block_mark(const wgi_block *b, unsigned char *mark, int anyway);
uint64_t wgi_block_hash(wgi_core *c, const wgi_block *b, uint64_t h);

/* ---- colour.c ---------------------------------------------------------------------------- */

/* Colours of lines `a` of which no two with a wanted entry in the same line across have one in
 * common; b is a the other way. Gives how many colours; workspace in the arena of the tape. */
wg_status wgi_colour_lines(wgi_core *c, const wgi_lines *a, const wgi_lines *b,
                           uint32_t *colour, size_t *colours);
/* A star colouring of a symmetric pattern: every entry (i, j) stands alone with its colour in
 * row i or, swapped, in row j. swapped: room for every entry. */
wg_status wgi_colour_star(wgi_core *c, const wgi_lines *a, uint32_t *colour, size_t *colours,
                          unsigned char *swapped);

/* ---- pattern.c --------------------------------------------------------------------------- */

/* A pattern of coordinates, for no evaluation, within a driver. */
wg_status wgi_sparsity_given(wgi_core *c, const char *call, size_t rows, size_t cols,
                             size_t entries, const uint32_t *row, const uint32_t *col,
                             wg_layout layout, wg_sparsity **out);
/* Does what was recorded fit into the pattern? Otherwise the tape fails, with an entry. */
wg_status wgi_sparsity_fits(wgi_drive *d, const wg_sparsity *s);

#endif
