/* SPDX-License-Identifier: MIT */
/* scan.h - a scan as the tape keeps it. Internal.
 *
 * scan.c reads the caller's description into this; scan_sweep.c goes through the steps. The
 * numbers of a step stand in three places: `old`, the states at its start; `next`, those at its
 * end, in the same layout; `passing`, outputs that a later stage of the step reads. Beside them
 * stand matrices and data, `given`, once more in that layout: of all steps, or of this one.
 * Each has values, tangents and adjoints. The residuals that stages hand on to their adjoints
 * stand beside the states that are stored.
 *
 * There is one road through a stage, forward and backward: a function, with a feed for each of
 * its inputs and a drain for each of its outputs, at some cells at a time (scan_pass.c). */
#ifndef WENGERT_TAPE_FUNCTION_SCAN_H
#define WENGERT_TAPE_FUNCTION_SCAN_H

#include "grid.h"
#include "checkpoints.h"

/* Feeds beside WGI_FROM_MATRIX, _DATA, _FILL, _STATE and _NEXT: the adjoint of a result, with
 * its number as the operand; what a stage has handed on to its adjoint. */
enum { WGI_FROM_RESULT = WGI_FROM_NEXT + 1, WGI_FROM_RESIDUALS };

/* Where an output goes: to a field, which is a state or what passes on, or among the results;
 * the adjoint of an input to where the input came from. */
typedef struct wgi_drain {
    int is_field;
    uint32_t at;          /* the field, or the number of the result */
    int bar;              /* tangents or adjoints, not values */
    int next;             /* of a state: the one that the step leaves */
    int adds;             /* to what is there */
    ptrdiff_t shift;      /* of a neighbour */
    const wgi_feed *from; /* the input whose adjoint it is, or NULL */
} wgi_drain;

/* One of the functions of a stage: its values, its tangents, or its adjoint. */
typedef struct wgi_scan_pass {
    const wg_function *f;
    wgi_feed *in;   /* of each input; of an adjoint one more, of the residuals */
    wgi_drain *out; /* of each output */
} wgi_scan_pass;

typedef struct wgi_scan_stage {
    const wg_callable *k;
    wgi_scan_pass value, tangent, adjoint;
    wgi_field residuals; /* without entries: it hands on none */
    int again;           /* the adjoint of a later stage reads what it gives */
    size_t flat;         /* lines at a time, with what stands between them; 0: not so */
} wgi_scan_stage;

typedef struct wgi_scan {
    size_t steps, stored, stages, states, fields, results, inputs;
    wg_threads *threads;
    int sums_by_step;
    wgi_grid grid;
    size_t chunk;       /* lines at a time */
    size_t line, plane; /* from line to line, plane to plane, in all fields */
    size_t state_size, passing_size, given_size; /* doubles */
    size_t residual_size;                        /* of a step; 0: nothing is handed on */
    wgi_scan_stage *stage;
    wgi_field *field;     /* states first */
    int gathers;          /* are all stages stencils, whose adjoints are, too? */
    unsigned char *unset; /* of the fields whose adjoints no stage sets then */
} wgi_scan;

/* Is the scan made of stencils? Makes room for what they read: once all sources are read. And
 * then the passes of their adjoints: once all fields are laid out. scan_stencil.c */
void wgi_scan_stencils_read(wgi_scan *s, const wg_stage *stage);
wg_status wgi_scan_stencils_lay_out(wgi_core *c, wgi_scan *s);

extern const wg_block_op wgi_op_scan;

#endif
