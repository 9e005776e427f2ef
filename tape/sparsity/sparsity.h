/* SPDX-License-Identifier: MIT */
/* sparsity.h - a pattern with the plan of its sweeps, from inside. Internal.
 *
 *   sparsity.c         which inputs each slot depends on, and what is not linear
 *   sparsity_block.c   the same of operations on matrices
 *   colour.c           columns, rows or variables that share a sweep
 *   acyclic.c          variables of a Hessian whose entries come from each other
 *   colour_order.c     in which order they are coloured
 *   bicolour.c         columns and rows of one pattern
 *   pattern_plan.c     which colouring a pattern gets
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

/* Lines of a pattern, one after the other, each with its indices: rows with their columns, or
 * columns with their rows. */
typedef struct wgi_lines {
    size_t lines, across;
    size_t *start;
    uint32_t *index;
    unsigned char *wanted; /* for each entry; NULL: all are wanted */
} wgi_lines;
static inline size_t wgi_line_length(const wgi_lines *a, size_t i) {
    return a->start[i + 1] - a->start[i];
}
/* In the arena: room for so many elements, and for one more. */
static inline void *wgi_sparsity_room(wgi_core *c, size_t count, size_t size) {
    return wg_tape_keep(&c->head, (count + 1) * size, NULL);
}

/* Lines that share sweeps of one direction. */
typedef struct wgi_side {
    size_t colours;
    const uint32_t
        *colour; /* of each column, variable or row; NULL: there are no such sweeps */
} wgi_side;

/* How entries of a Hessian come from products with its colours, B[i, k] of variable i and
 * colour k: step s gives the entry of child and parent as B[child, colour of parent], and takes
 * it off B[parent, colour of child]. */
typedef struct wgi_substitution {
    size_t steps;
    uint32_t *child, *parent;
    uint32_t *edge; /* of each entry of the whole pattern: the edge it stands for */
    uint32_t *step; /* of each edge */
} wgi_substitution;

struct wg_sparsity {
    wg_pattern pattern; /* what the user sees of it */
    wgi_home home;
    size_t n, m;
    int hessian;
    char triangle; /* the triangle of a Hessian */
    unsigned flags;
    int no_tangents;    /* some operation of the recording has no jvp */
    uint64_t recording; /* the fingerprint of the recording that it was found for; 0: of none */
    /* of the whole pattern: a recording that was found to fit is remembered with it */
    uint64_t identity;
    const size_t *whole_start; /* the whole pattern by rows; of a Hessian both triangles */
    const uint32_t *whole_col;
    /* columns of a Jacobian, swept forward, or variables of a Hessian; rows, swept backward,
     * after those */
    wgi_side side[2];
    /* the entries that each sweep gives; NULL: there is a single sweep */
    const size_t *sweep_start;
    const uint32_t *sweep_entry;
    /* of a Hessian: the entry is read as (col, row); of a Jacobian: in a backward sweep */
    const unsigned char *swapped;
    /* of a Hessian that is found by substitution: the steps, and of each entry its step; NULL:
     * it is not. Entries of the diagonal have none */
    size_t steps;
    const uint32_t *child, *parent, *step;
};

static inline size_t wgi_sweeps(size_t colours) {
    return (colours + WGI_SWEEP_LANES - 1) / WGI_SWEEP_LANES;
}
static inline size_t wgi_sparsity_sweeps(const wg_sparsity *s) {
    return wgi_sweeps(s->side[0].colours) + wgi_sweeps(s->side[1].colours);
}

/* ---- sparsity.c -------------------------------------------------------------------------- */

/* A fingerprint, equal for recordings of equal structure: all records, the outputs and, for
 * Hessians, the operations. It is never 0. A failure is kept by the tape. */
uint64_t wgi_recording_hash(wgi_drive *d, int hessian);
/* The pattern of what a driver recorded, unsorted: of a Jacobian, the columns of each output;
 * of a Hessian, for each input those that it meets in something that is not linear. half: some
 * pairs are in one triangle only. */
wg_status wgi_find_jacobian(wgi_drive *d, wgi_sets *k, wgi_lines *found);
wg_status wgi_find_hessian(wgi_drive *d, wgi_sets *k, wgi_lines *found, int *half);

static inline uint64_t wgi_mix(uint64_t h, uint64_t a, uint64_t b) {
    const wgi_bits p =
        (wgi_bits)(h ^ a ^ UINT64_C(0xa0761d6478bd642f)) * (b ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint64_t)p ^ (uint64_t)(p >> 64) ^ h << 1;
}

/* Which inputs meet which: sets of inputs that are connected with other sets. */
typedef struct wgi_curves {
    wgi_sets *k;
    const wgi_set *of; /* the set of each slot */
    uint32_t *head;    /* for each input its last link, plus 1 */
    uint64_t links;    /* each a set, and the link before it */
    uint64_t *recent;  /* pairs of sets that were connected lately */
    int half;          /* some pairs are connected in one direction only */
} wgi_curves;

/* Every input of a meets every input of b in something that is not linear. */
void wgi_connect(wgi_curves *q, wgi_set a, wgi_set b);
/* The same, and every input of b meets every input of a. */
void wgi_connect_both(wgi_curves *q, wgi_set a, wgi_set b);
/* The same for n operands with these sets; bit j of near[i] says that operands i and j are
 * near. */
void wgi_connect_near(wgi_curves *q, unsigned n, const wgi_set *of, const uint16_t *near);

/* ---- sparsity_block.c -------------------------------------------------------------------- */

/* Finds the sets of the results of a block, from those of its operands. */
void wgi_block_sets(wgi_sets *k, const wgi_block *b, wgi_set *of);
/* Connects what a block is not linear in. */
void wgi_block_curves(wgi_curves *q, const wgi_block *b);
/* Is any result of the block marked? */
int wgi_block_is_alive(const wgi_block *b, const unsigned char *mark);
/* Marks all elements of the operands, if a result is marked; with `anyway`, in any case. */
void wgi_block_mark(const wgi_block *b, unsigned char *mark, int anyway);
uint64_t wgi_block_hash(wgi_core *c, const wgi_block *b, uint64_t h);

/* ---- colour.c ---------------------------------------------------------------------------- */

/* Colours lines a so that no two of a colour meet in a line across in which one of them has a
 * wanted entry; b is a transposed. Gives how many colours there are; workspace is in the arena
 * of the tape. */
wg_status wgi_colour_lines(wgi_core *c, const wgi_lines *a, const wgi_lines *b, wg_order wish,
                           uint32_t *colour, size_t *colours);
/* A star colouring of a symmetric pattern: in row i, or in row j if it is swapped, entry (i, j)
 * is the only one with its colour. swapped has room for all entries. */
wg_status wgi_colour_star(wgi_core *c, const wgi_lines *a, wg_order wish, uint32_t *colour,
                          size_t *colours, unsigned char *swapped);

/* ---- acyclic.c --------------------------------------------------------------------------- */

/* An acyclic colouring of a symmetric pattern, and how its entries are found. */
wg_status wgi_colour_acyclic(wgi_core *c, const wgi_lines *a, wg_order wish, uint32_t *colour,
                             size_t *colours, wgi_substitution *to);

/* ---- colour_order.c ---------------------------------------------------------------------- */

/* Lines in the order in which they are coloured; b is a transposed, or a itself where its
 * indices are the neighbours. */
wg_status wgi_order(wgi_core *c, const wgi_lines *a, const wgi_lines *b, wg_order kind,
                    uint32_t *order);
/* Does that cost no more than some colourings? */
int wgi_order_is_cheap(const wgi_lines *a, const wgi_lines *b, wg_order kind);

/* ---- bicolour.c -------------------------------------------------------------------------- */

/* Colours columns and rows of a pattern so that each wanted entry is read along its column or
 * along its row, where that takes fewer than so many sweeps; otherwise *fewer is 0. cols is
 * rows transposed; by_row has room for the entries of rows: is that entry read along its
 * row? */
wg_status wgi_colour_both(wgi_core *c, const wgi_lines *rows, const wgi_lines *cols,
                          wg_order wish, size_t sweeps, uint32_t *col_colour,
                          uint32_t *row_colour, unsigned char *by_row, size_t colours[2],
                          int *fewer);

/* ---- pattern.c --------------------------------------------------------------------------- */

/* A pattern from coordinates, without an evaluation, within a driver. */
wg_status wgi_sparsity_given(wgi_core *c, const char *call, size_t rows, size_t cols,
                             size_t entries, const uint32_t *row, const uint32_t *col,
                             wg_layout layout, wg_sparsity **out);
/* Does what was recorded fit into the pattern? If not the tape fails, and the message names an
 * entry. */
wg_status wgi_sparsity_fits(wgi_drive *d, const wg_sparsity *s);

#endif
