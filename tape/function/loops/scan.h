/* SPDX-License-Identifier: MIT */
/* scan.h - a loop as the tape keeps it. Internal.
 *
 * scan.c reads the caller's description into this; steps.c goes through the steps. The numbers
 * of a step stand in three places: `old`, the states at its start; `next`, those at its end, in
 * the same layout; `passing`, outputs that a later stage of the step reads. Beside them stand
 * matrices and data, `given`, once more in that layout: of all steps, or of this one. Each has
 * values, tangents and adjoints. What stages hand on to their adjoints, `kept`, stands beside
 * the states that are stored. */
#ifndef WENGERT_TAPE_FUNCTION_SCAN_H
#define WENGERT_TAPE_FUNCTION_SCAN_H

#include "grid.h"
#include "loop.h"

/* Where an input of a stage comes from. */
typedef struct wgi_feed {
    int kind; /* WGI_FROM_... */
    int each_step;
    uint32_t operand; /* of a matrix */
    wg_points data;
    wg_fill *fill;
    void *user;
    int is_field; /* as are matrices and data of cells, on a grid of lines */
    uint32_t field;
    ptrdiff_t shift; /* of a neighbour */
} wgi_feed;

/* Where an output goes: to a state or what passes on (a field), or among the results. */
typedef struct wgi_drain {
    int is_field;
    uint32_t at;
} wgi_drain;

/* Where an output of a stencil's adjoint goes: the adjoints of a field, which it sets, or adds
 * to. */
typedef struct wgi_scan_pool {
    size_t input; /* of the function: its adjoint */
    uint32_t field;
    int next; /* of the state that a stage has left */
    int adds;
} wgi_scan_pool;

typedef struct wgi_scan_stage {
    const wg_callable *k;
    wgi_feed *feed;
    wgi_drain *drain;
    size_t first_input; /* among those of all stages */
    size_t shares, sums;
    uint32_t *shared, *summed; /* so many inputs and outputs are */
    uint32_t *adjoint;         /* of each shared input: the output of the vjp */
    wgi_field kept;            /* what it hands on to its adjoint: kept.h */
    int again;                 /* the adjoint of a later stage reads what it gives */
    size_t flat;               /* lines at a time, with what stands between them; 0: not so */
    /* of the adjoint as a stencil: every input, every output */
    wgi_feed *tap;
    wgi_scan_pool *pool;
} wgi_scan_stage;

typedef struct wgi_scan {
    size_t steps, stored, stages, states, fields, results, inputs;
    wg_threads *threads;
    int sums_by_step;
    wgi_grid grid;
    size_t chunk;       /* lines at a time */
    size_t line, plane; /* from line to line, plane to plane, in all fields */
    size_t state_size, passing_size, given_size; /* doubles */
    size_t kept_size;                            /* of a step; 0: nothing is kept */
    wgi_scan_stage *stage;
    wgi_field *field;     /* states first */
    int gathers;          /* are all stages stencils, whose adjoints are, too? */
    unsigned char *unset; /* of the fields whose adjoints no stage sets then */
} wgi_scan;

/* Is the loop made of stencils? Makes room for what they read: once all sources are read. And
 * then where it stands: once all fields are laid out. scan_gather.c */
void wgi_scan_gather_read(wgi_scan *s, const wg_stage *stage);
wg_status wgi_scan_gather_lay_out(wgi_core *c, wgi_scan *s);

extern const wg_block_op wgi_op_scan;

#endif
