/* SPDX-License-Identifier: MIT */
/* scan_run.h - a sweep through the steps of a scan: what the files that do it share. Internal.
 *
 * A stage is evaluated on some lines of the grid at a time, a chunk: on one where that stands
 * in place; on several with the rim between them, where that does no harm: adjoints of the rim
 * are 0; or on lines that are collected in workspace.
 *
 * A compiled function walks: it reads and writes where its numbers stand, which is found once
 * for all steps (scan_plan.c). Its adjoint leaves a row for every neighbour in a basin; a place
 * of the field then takes from all rows that meet there. What cannot be done so, and chunks in
 * which the zero rule has something to say, go through wg_function_evaluate, with the same bits.
 *
 * A stage that does all cells at a time may walk by a function that hands on residuals
 * (residuals.h): its adjoint then reads them, where they are there of all stages of the step. */
#ifndef WENGERT_TAPE_FUNCTION_SCAN_RUN_H
#define WENGERT_TAPE_FUNCTION_SCAN_RUN_H

#include "tape/function/graph/row_sums.h"
#include "scan.h"
#include "stencil.h"
#include "tape/function/run/bytecode.h"
#include "tape/function/run/in_place.h"

#include <string.h>

/* Values, or tangents, or adjoints, of a step. */
typedef struct wgi_scan_numbers {
    double *old, *next, *passing, *given;
    double *residuals; /* values only; NULL: there are none of this step */
} wgi_scan_numbers;

/* Adjoints of an input on their way to a field. */
typedef struct wgi_scan_stream {
    const wgi_field *field;
    double *to; /* shifted */
    const double *from;
} wgi_scan_stream;

/* Rows of adjoints that meet in one array, in which the first is at `place`. */
typedef struct wgi_scan_meeting {
    wgi_spot place;
    uint32_t field;
    size_t entry, count;
    size_t rows;         /* next to each other, as their places are */
    ptrdiff_t low, high; /* of all of them, from there on */
    size_t row[WGI_MOST_ROWS];
    ptrdiff_t apart[WGI_MOST_ROWS];
} wgi_scan_meeting;

/* What a stage runs by: compiled code of its functions, and which of that walks, since it is
 * known where all its rows stand. */
typedef struct wgi_scan_in_place {
    wgi_in_place value, tangent, adjoint;
    wgi_in_place forward, backward; /* value and adjoint with residuals */
    int value_walks, adjoint_walks, forward_walks, backward_walks;
    size_t points;             /* of the chunk that is all of the grid; otherwise 0 */
    int beyond;                /* what is beyond the cells is like cells */
    double *basin;             /* adjoints of inputs, zeros around each row */
    ptrdiff_t far;             /* rows do not meet that are so far apart */
    size_t pad, pitch, filled; /* points of the rows that are not zeros */
    size_t meetings;
    wgi_scan_meeting *meeting;
} wgi_scan_in_place;

typedef struct wgi_scan_run {
    wg_block *b;
    const wgi_scan *s;
    char *why;
    wg_points *x;
    wg_results *y;
    wgi_scan_stream *in;
    wg_points *value, *tangent; /* of all inputs that are matrices or data: point 0 */
    double *room;               /* of a stage */
    void *work;
    wgi_scan_in_place *in_place;  /* of every stage */
    wgi_scan_numbers at, dot;     /* dot: tangents or adjoints */
    int apart;                    /* no row meets another: there are no neighbours */
    double *residuals;            /* of all steps */
    unsigned char *has_residuals; /* which of them are there? */
    int hands_on;                 /* are there to be residuals, in this sweep? */
    const wgi_feed **given;       /* matrices and data of cells: those of all steps first */
    size_t steady, givens;
    wgi_grid beyond; /* the grid, with cells beyond its borders for what is given */
    wgi_checkpoints checkpoints;
    int results; /* are they wanted? */
} wgi_scan_run;

/* Some lines of the grid. */
typedef struct wgi_scan_chunk {
    size_t step, first, lines, points;
    size_t rows, length; /* as they stand in memory: of lines with what is between them one */
    size_t stride;       /* of rows of all points */
} wgi_scan_chunk;

static inline void wgi_scan_clear(double *x, size_t n) {
    if (n != 0) memset(x, 0, n * sizeof *x);
}

static inline size_t wgi_scan_most(size_t a, size_t b) { return a > b ? a : b; }

/* Points of a chunk, at most. */
static inline size_t wgi_scan_points_of(const wgi_scan *s, const wgi_scan_stage *stage) {
    if (stage->flat != 0) return (stage->flat - 1) * s->line + s->grid.cells[0];
    return wgi_scan_most(s->chunk * s->grid.cells[0], 1);
}

/* Rows begin at vectors. */
static inline size_t wgi_scan_round_up(size_t n) {
    return (n + WGI_GRID_LANES - 1) / WGI_GRID_LANES * WGI_GRID_LANES;
}

/* ---- before the first step: scan_plan.c ---- */

/* Cuts what is kept from sweep to sweep, and the workspace; NULL: only counts, and gives the
 * bytes of the workspace. */
size_t wgi_scan_lay_out(wgi_scan_run *r, const wgi_scan *s, void *saved, void *work,
                        size_t *saved_bytes);
/* All that does not change from step to step; the room of stages begins behind it. */
void wgi_scan_prepare(wgi_scan_run *r, int tangents);
/* Which stages walk, and where their rows stand. */
void wgi_scan_plan(wgi_scan_run *r, int adjoint);

/* ---- fields and matrices ---- */

static inline double *wgi_scan_field_at(const wgi_scan_run *r, int bar, uint32_t field,
                                        int next) {
    const wgi_field *const f = &r->s->field[field];
    const wgi_scan_numbers *const n = bar ? &r->dot : &r->at;
    if (f->given) return n->given + f->at;
    if (field >= r->s->states) return n->passing + f->at;
    return (next ? n->next : n->old) + f->at;
}

/* The matrix that an input is read from, if its adjoint is wanted; or NULL. */
static inline wg_block_arg *wgi_scan_matrix_of(const wgi_scan_run *r, const wgi_feed *from) {
    if (from->kind != WGI_FROM_MATRIX) return NULL;
    wg_block_arg *const a = &r->b->in[from->operand];
    return a->bar != NULL ? a : NULL;
}

/* Is the adjoint of what is read there wanted? */
static inline int wgi_scan_wanted(const wgi_scan_run *r, const wgi_feed *from) {
    return from->kind >= WGI_FROM_STATE || wgi_scan_matrix_of(r, from) != NULL;
}

/* ---- a stage at all cells: scan_pass.c ---- */

/* From chunk to chunk; the first one is next to a chunk of zeros. */
void wgi_scan_next_chunk(const wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_chunk *c);
static inline int wgi_scan_more(const wgi_scan_run *r, const wgi_scan_chunk *c) {
    return c->first + c->lines < r->s->grid.lines;
}

/* Values of the outputs; with tangents, those instead. Residuals as well, where
 * r->at.residuals is not NULL, or it becomes NULL. */
wg_status wgi_scan_forward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                           int tangents);
/* Adjoints of the inputs. */
wg_status wgi_scan_backward(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step);

#endif
