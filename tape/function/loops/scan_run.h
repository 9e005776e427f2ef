/* SPDX-License-Identifier: MIT */
/* scan_run.h - a sweep through the steps of a scan: what the files that do it share. Internal.
 *
 * A stage is evaluated on some lines of the grid at a time, a chunk: on one line, where it
 * stands; on several together with the rim between them, where that does no harm (adjoints of
 * the rim are 0); or on several that are collected in workspace.
 *
 * A compiled function walks: it reads and writes its numbers where they stand, and where that
 * is is found once for all steps (scan_plan.c). Its adjoint leaves a row for each neighbour in
 * a basin; each place of a field then takes from all rows that meet there. What cannot be done
 * so, and chunks in which the zero rule changes something, go through wg_function_evaluate,
 * with the same bits.
 *
 * A stage that does all cells at a time may walk by a function that hands residuals on
 * (make/residuals.h). Its adjoint reads them where all stages of the step have left theirs.
 *
 * Steps of a single cell without neighbours have a way of their own (scan_step.c): where all
 * stands is found once, and the function is prepared for all steps. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_SCAN_RUN_H
#define WGI_TAPE_FUNCTION_LOOPS_SCAN_RUN_H

#include "tape/engine/numbers.h"
#include "tape/function/graph/row_sums.h"
#include "scan.h"
#include "stencil.h"
#include "tape/function/run/bytecode.h"
#include "tape/function/run/in_place.h"

#include <string.h>

/* The numbers of a step: values, or tangents or adjoints. */
typedef struct wgi_scan_numbers {
    double *old, *next, *passing, *given;
    double *residuals; /* only of values; NULL: this step has none */
} wgi_scan_numbers;

/* Adjoints of an input on their way to a field of cells. */
typedef struct wgi_scan_stream {
    const wgi_field *field;
    double *to; /* the place of the first cell, or of its neighbour */
    const double *from;
} wgi_scan_stream;

/* Rows of adjoints that meet in one array; `place` is where the first of them goes. */
typedef struct wgi_scan_meeting {
    wgi_spot place;
    uint32_t field;
    size_t entry, count;
    /* how many rows, next to each other, go to places next to each other; they count as one */
    size_t rows;
    ptrdiff_t low, high; /* how far before and behind `place` rows begin */
    size_t row[WGI_MOST_ROWS];
    ptrdiff_t apart[WGI_MOST_ROWS];
} wgi_scan_meeting;

/* What is known of a stage before the first step: its functions in place, and which of them
 * walk, since it is known where all their rows stand. */
typedef struct wgi_scan_in_place {
    wgi_in_place value, tangent, adjoint;
    wgi_in_place forward, backward; /* value and adjoint, cut at their residuals */
    int value_walks, adjoint_walks, forward_walks, backward_walks;
    size_t points; /* of the chunk, if it is all of the grid; otherwise 0 */
    /* lanes behind the last cell may be computed as if they were cells */
    int beyond;
    double *basin; /* rows of adjoints, with zeros before and behind each row */
    ptrdiff_t far; /* rows that begin farther apart do not meet */
    /* zeros beside each row; distance of rows; points that the rows hold now */
    size_t pad, pitch, filled;
    size_t meetings;
    wgi_scan_meeting *meeting;
} wgi_scan_in_place;

/* Where an input or an output stands in each step of a single cell. */
typedef struct wgi_scan_address {
    double *const *base; /* *base is another address from step to step; or NULL, and there is */
    double *first;       /* the place of step 0 */
    ptrdiff_t skip, each;
    uint32_t number; /* of the input or output */
} wgi_scan_address;

/* An output that is added, entry by entry, to where it belongs. */
typedef struct wgi_scan_addition {
    wgi_scan_address to;
    const double *from;
    size_t entries;
    ptrdiff_t entry;
    int sets;             /* it is added to 0 */
    wg_block_arg *matrix; /* one point, whose elements have no strides; or NULL */
} wgi_scan_addition;

/* A pass of a stage, prepared for all steps of a single cell. */
typedef struct wgi_scan_steps {
    const wgi_scan_pass *pass;
    struct wgi_fn_steady *open; /* NULL: before the first step */
    wg_points *x;
    wg_results *y;
    wgi_scan_address *read, *written; /* of what moves from step to step */
    wgi_scan_addition *addition;
    size_t reads, writes, additions;
    double *room; /* what callbacks write, and outputs that are added */
    int fills;    /* there are callbacks */
    int reloads;  /* a shared input changes from step to step */
    void *work;
} wgi_scan_steps;

typedef struct wgi_scan_run {
    wg_block *b;
    const wgi_scan *s;
    char *why;
    wg_points *x;
    wg_results *y;
    wgi_scan_stream *in;
    /* of each input that is a matrix or data: where its point 0 stands */
    wg_points *value, *tangent;
    double *room; /* workspace of a stage */
    void *work;
    wgi_scan_in_place *in_place; /* of every stage */
    /* of a single cell, or NULL: for each stage its values, and its tangent or adjoint */
    wgi_scan_steps *steps;
    int backward;                 /* this sweep goes back through adjoints */
    wgi_scan_numbers at, dot;     /* values; tangents or adjoints */
    int apart;                    /* there are no neighbours: no row meets another */
    double *residuals;            /* those of all steps */
    unsigned char *has_residuals; /* for each step: are its residuals there? */
    int hands_on;                 /* this sweep is to leave residuals */
    /* matrices and data of cells: first those of all steps, then those of each step */
    const wgi_feed **given;
    size_t steady, givens;
    wgi_grid beyond; /* the grid, but with cells beyond its borders for what is given */
    wgi_checkpoints checkpoints;
    int results; /* results are stored */
} wgi_scan_run;

/* Some lines of the grid, in one step. */
typedef struct wgi_scan_chunk {
    size_t step, first, lines, points;
    /* rows in memory, and their length: lines with the rim between them are one row */
    size_t rows, length;
    size_t stride; /* from entry to entry, where rows are collected */
} wgi_scan_chunk;

static inline size_t wgi_scan_most(size_t a, size_t b) { return a > b ? a : b; }

/* The most points of a chunk. */
static inline size_t wgi_scan_points_of(const wgi_scan *s, const wgi_scan_stage *stage) {
    if (stage->flat != 0) return (stage->flat - 1) * s->line + s->grid.cells[0];
    return wgi_scan_most(s->chunk * s->grid.cells[0], 1);
}

/* ---- before the first step: scan_plan.c ---- */

/* Prepares: cuts what is stored from sweep to sweep, and the workspace. With NULL it only
 * counts, and gives the bytes of the workspace. */
size_t wgi_scan_lay_out(wgi_scan_run *r, const wgi_scan *s, void *saved, void *work,
                        size_t *saved_bytes);
/* Prepares what is the same in all steps; the workspace of stages begins behind it. */
void wgi_scan_prepare(wgi_scan_run *r, int tangents);
/* Finds which stages walk, and where their rows stand. */
void wgi_scan_plan(wgi_scan_run *r, int adjoint);
/* Are there no neighbours? Then what stands in the places beside the cells does not matter. */
int wgi_scan_apart(const wgi_scan *s);
/* Where an entry of a field stands, in any step. */
wgi_spot wgi_scan_spot(wgi_scan_run *r, int bar, uint32_t field, int next, ptrdiff_t shift,
                       size_t entry);

/* ---- fields and matrices ---- */

static inline double *wgi_scan_field_at(const wgi_scan_run *r, int bar, uint32_t field,
                                        int next) {
    const wgi_field *const f = &r->s->field[field];
    const wgi_scan_numbers *const n = bar ? &r->dot : &r->at;
    if (f->given) return n->given + f->at;
    if (field >= r->s->states) return n->passing + f->at;
    return (next ? n->next : n->old) + f->at;
}

/* The matrix that an input is read from, if its adjoint is wanted; otherwise NULL. */
static inline wg_block_arg *wgi_scan_matrix_of(const wgi_scan_run *r, const wgi_feed *from) {
    if (from->kind != WGI_FROM_MATRIX) return NULL;
    wg_block_arg *const a = &r->b->in[from->operand];
    return a->bar != NULL ? a : NULL;
}

/* Is the adjoint of what the feed reads wanted? */
static inline int wgi_scan_wanted(const wgi_scan_run *r, const wgi_feed *from) {
    return from->kind >= WGI_FROM_STATE || wgi_scan_matrix_of(r, from) != NULL;
}

/* ---- a stage at a single cell: scan_step.c ---- */

/* Is this the way of the scan? */
int wgi_scan_single(const wgi_scan *s);
/* Cuts what a pass needs; without a base it only counts. */
void wgi_scan_steps_cut(wgi_scan_steps *p, const wgi_scan_pass *pass, wgi_pieces *c);
/* Finds where everything stands. results: they are stored. */
void wgi_scan_steps_plan(wgi_scan_run *r, wgi_scan_steps *p, int results);
wg_status wgi_scan_step(wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_steps *p,
                        size_t step);

/* Where a result of so many entries, or its adjoint, stands for a point of a step. */
static inline double *wgi_scan_result_at(const wgi_scan_run *r, uint32_t result, int bar,
                                         int summed, size_t entries, size_t step,
                                         size_t point) {
    double *const all = bar ? r->b->out[result].bar : r->b->out[result].value;
    if (summed) return all + (r->s->sums_by_step ? step * entries : 0);
    return all + (step * r->s->grid.points + point) * entries;
}

/* The status of a step whose guard came out differently, whose callback failed. */
wg_status wgi_scan_guard_failed(const wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                                size_t cell, size_t guard);
wg_status wgi_scan_fill_failed(const wgi_scan_run *r, const wg_argument *input, size_t step,
                               wg_status s);

/* ---- a stage at all cells: scan_pass.c ---- */

/* Goes on to the next chunk; a chunk of zeros comes before the first one. */
void wgi_scan_next_chunk(const wgi_scan_run *r, const wgi_scan_stage *stage, wgi_scan_chunk *c);
static inline int wgi_scan_more(const wgi_scan_run *r, const wgi_scan_chunk *c) {
    return c->first + c->lines < r->s->grid.lines;
}

/* Computes the outputs of a stage, or with `tangents` their tangents. Where r->at.residuals is
 * not NULL it leaves residuals there, or sets it to NULL. */
wg_status wgi_scan_forward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step,
                           int tangents);
/* Adds what a stage contributes to the adjoints of its inputs. */
wg_status wgi_scan_backward(wgi_scan_run *r, const wgi_scan_stage *stage, size_t step);

#endif
