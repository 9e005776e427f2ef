/* SPDX-License-Identifier: MIT */
/* scan.h - a scan as the tape keeps it: a loop whose steps the recording goes through.
 * Internal. (Not to be confused with a repeat, a loop that is a node of a function:
 * graph/repeat.h.)
 *
 * scan.c reads the caller's description into this; scan_sweep.c goes through the steps. The
 * numbers of a step stand in three places: `old`, the states at its start; `next`, those at its
 * end, in the same layout; `passing`, outputs that a later stage of the step reads. Matrices
 * and data of cells stand beside them, in the same layout: `given`, for all steps or for this
 * one. Each has values, tangents and adjoints. Residuals, which stages hand on to their
 * adjoints, are stored beside the states.
 *
 * There is one road through a stage, forward and backward: a function, with a feed for each of
 * its inputs and a drain for each of its outputs, at some cells at a time (scan_pass.c). */
#ifndef WGI_TAPE_FUNCTION_LOOPS_SCAN_H
#define WGI_TAPE_FUNCTION_LOOPS_SCAN_H

#include "grid.h"
#include "checkpoints.h"

/* Feeds beside WGI_FROM_MATRIX, _DATA, _FILL, _STATE and _NEXT: the adjoint of a result, whose
 * number is the operand; and the residuals that the stage has handed on. */
enum { WGI_FROM_RESULT = WGI_FROM_NEXT + 1, WGI_FROM_RESIDUALS };

/* Where an output goes: to a field, that is a state or an output that is passed on within the
 * step; or to a result. An adjoint of an input goes to where the input came from. */
typedef struct wgi_drain {
    int is_field;
    uint32_t at; /* the number of the field, or of the result */
    int bar;     /* tangents or adjoints are stored, not values */
    /* of a state: the one at the end of the step, not that at its start */
    int next;
    int adds;             /* it is added to what is there */
    ptrdiff_t shift;      /* how far the neighbour that it belongs to stands from the cell */
    const wgi_feed *from; /* the input whose adjoint it is; or NULL */
} wgi_drain;

/* A function of a stage with its feeds and drains: its values, its tangents, or its adjoint. */
typedef struct wgi_scan_pass {
    const wg_function *f;
    wgi_feed *in;   /* for each input; an adjoint has one more, for residuals */
    wgi_drain *out; /* for each output */
} wgi_scan_pass;

typedef struct wgi_scan_stage {
    const wg_callable *k;
    wgi_scan_pass value, tangent, adjoint;
    wgi_field residuals; /* no entries: it hands none on */
    int again;           /* its outputs are needed by the adjoint of a later stage */
    /* lines that are done at a time with the rim between them as if it were cells; 0: none */
    size_t flat;
} wgi_scan_stage;

typedef struct wgi_scan {
    size_t steps, stored, stages, states, fields, results, inputs;
    wg_threads *threads;
    wgi_progress *progress; /* of the tape */
    int sums_by_step;
    int traced; /* it stops at the first step of which a state is no number */
    wgi_grid grid;
    size_t chunk;       /* lines that are done at a time */
    size_t line, plane; /* the distance of lines, and of planes, in all fields of cells */
    size_t state_size, passing_size, given_size; /* numbers of each kind in a step */
    /* numbers of a step; 0: no stage hands residuals on */
    size_t residual_size;
    wgi_scan_stage *stage;
    wgi_field *field; /* the states first */
    int gathers;      /* all stages are stencils, and so are their adjoints */
    /* if it gathers: fields whose adjoints are not set by any stage, and have to be cleared */
    unsigned char *unset;
    /* of the tape: is its sweep traced, so that this one stops where the adjoint of a state is
     * NaN? */
    const int *sweep_traced;
} wgi_scan;

/* scan_stencil.c: _read, once all sources are read, finds whether the scan is made of stencils,
 * and makes room for what their adjoints read; _lay_out, once all fields are laid out, makes
 * the passes of their adjoints. */
void wgi_scan_stencils_read(wgi_scan *s, const wg_stage *stage);
wg_status wgi_scan_stencils_lay_out(wgi_core *c, wgi_scan *s);

extern const wg_block_op wgi_op_scan;

#endif
