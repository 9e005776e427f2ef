/* SPDX-License-Identifier: MIT */
/* Functions in a recording: called, mapped over points, repeated in a loop. Each costs one
 * record, whatever happens inside; a sweep computes the interior again.
 *
 * Products with adjoints keep the zero rule. All calls work in sweeps of several lanes, on
 * forward tapes, while paused, and in replays. */
#ifndef WENGERT_MAP_H
#define WENGERT_MAP_H

#include <wengert/function.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* A function with its adjoint and tangent. Immutable: any number of threads may use one. */
typedef struct wg_callable wg_callable;

/* wg_callable_new - of a function, which it copies.
 * t:       a tape, as workspace and for messages; left empty, as by a driver.
 * Errors:  those of wg_function_vjp and wg_function_jvp. *out is NULL then.
 * wg_callable_free - not before the last use of the last recording that it is part of. */
WG_API WG_MUST_CHECK wg_status wg_callable_new(wg_tape *t, const wg_function *f,
                                               wg_callable **out);
WG_API void wg_callable_free(wg_callable *k);
/* The function itself: its inputs and outputs. */
WG_API const wg_function *wg_callable_function(const wg_callable *k);

/* wg_call - y = f(x) at one point.
 * Shapes:  x: one matrix per input, y: one per output, as the function says. Constants are
 *          welcome; at most 16 of each. Results may stand where operands do, x = f(x), here and
 *          in wg_map and wg_scan.
 * Adjoint: the function's vjp, at the same inputs; WG_PASSIVE inputs get none.
 * Cost:    one record. The tape keeps the results, nothing of the interior.
 * Errors:  (y is NaN, the tape keeps the status)  WG_ENULL, WG_ESHAPE; WG_EGUARD: a comparison
 *          comes out differently from when the function was recorded: the message names it. A
 *          rewind to before the call, or a reset, makes the tape as good as before. */
WG_API wg_status wg_call(wg_tape *t, const wg_callable *k, const wg_mat *x, wg_mat *y);

/* ---- where the values of an input come from ---- */

/* Writes entry e of point first + p to data[p * entries + e], for p < count. It is called again
 * in every sweep, always by the thread that sweeps, and has to write the same again. Returns
 * WG_OK, or a failure that is passed on. */
typedef wg_status wg_fill(size_t first, size_t count, double *data, void *user);

typedef struct wg_source {
    int kind; /* WGI_FROM_... */
    int each_step;
    wg_mat matrix;
    wg_points data;
    wg_fill *fill;
    void *user;
    const char *name;
    ptrdiff_t offset[3];
} wg_source;

enum { WGI_FROM_MATRIX, WGI_FROM_DATA, WGI_FROM_FILL, WGI_FROM_STATE, WGI_FROM_NEXT };

/* wg_from_matrix - a matrix variable, or a constant one. For an input that is shared: of its
 * shape. For one with a value per point: a column per point, (rows*cols)-by-points; a vector of
 * `points` will do where it has one entry. Views work without a copy: a row of neighbours, or
 * the transpose of a matrix with one row per point. */
static inline wg_source wg_from_matrix(wg_mat a) {
    const wg_points none = {WGI_NULL, 0, 0};
    wg_source s = {WGI_FROM_MATRIX, 0, a, none, WGI_NULL, WGI_NULL, WGI_NULL, {0, 0, 0}};
    return s;
}
/* wg_from_data - numbers without derivative, not copied: entry e of point p at
 * data[p * point + e * entry]. They stay as they are as long as the recording is used. */
static inline wg_source wg_from_data(const double *data, ptrdiff_t point, ptrdiff_t entry) {
    wg_source s = wg_from_matrix(wg_mat_failed(0, 0));
    s.kind = WGI_FROM_DATA;
    s.data.data = data;
    s.data.point = point;
    s.data.entry = entry;
    return s;
}
/* wg_from_fill - numbers without derivative, from a callback, some points at a time. */
static inline wg_source wg_from_fill(wg_fill *fill, void *user) {
    wg_source s = wg_from_matrix(wg_mat_failed(0, 0));
    s.kind = WGI_FROM_FILL;
    s.fill = fill;
    s.user = user;
    return s;
}

/* ---- map ---- */

/* wg_map - y = f(x) at `points` points: stencils, residuals, likelihoods, paths.
 * Shapes:  x: one source per input. y: one matrix per output: (rows*cols)-by-points, a column
 *          per point; of its own shape where it is WG_SUMMED.
 *          At most 16 matrices among x, and 16 outputs.
 * threads: of every sweep, too; may be NULL. The bits do not depend on them.
 * Cost:    one record; the tape keeps the results, nothing of the interior. Workspace: a few
 *          hundred kilobytes.
 * Errors:  as wg_call; WG_EGUARD names the point, too; what a wg_fill returned. */
WG_API wg_status wg_map(wg_tape *t, const wg_callable *k, size_t points, const wg_source *x,
                        wg_threads *threads, wg_mat *y);

/* ---- scan ---- */

/* The state of a loop: what an output of that name leaves, the next step finds. */
typedef struct wg_state {
    const char *name;
    wg_mat start; /* a column per cell */
} wg_state;

/* A function that a step maps over its cells: one source per input. */
typedef struct wg_stage {
    const wg_callable *f;
    const wg_source *x;
} wg_stage;

/* What stands beyond the first and last cell: the cells of the other end; the same as in the
 * outermost cell; zeros. */
typedef enum wg_boundary { WG_PERIODIC, WG_CLAMPED, WG_ZERO_OUTSIDE } wg_boundary;

typedef struct wg_scan_options {
    size_t cells[3]; /* the grid, in up to three directions; zeros: 1. Cell (i, j, k) is column
                        i + cells[0] (j + cells[1] k) */
    wg_boundary boundary[3];
    size_t stored;       /* states kept for the adjoint, the first one among them; 0: all */
    wg_threads *threads; /* of stages that are not compiled, at all cells; may be NULL */
    int sums_by_step;    /* 1: sums over cells are results of each step */
} wg_scan_options;

/* wg_from_state - the state of that name at the start of a step, or an output of that name of
 * an earlier stage of the step. wg_from_neighbour - the same, so many cells away. wg_from_next
 * - the state as an earlier stage of this step has left it. */
static inline wg_source wg_from_neighbour(const char *name, ptrdiff_t i, ptrdiff_t j,
                                          ptrdiff_t k) {
    wg_source s = wg_from_matrix(wg_mat_failed(0, 0));
    s.kind = WGI_FROM_STATE;
    s.name = name;
    s.offset[0] = i;
    s.offset[1] = j;
    s.offset[2] = k;
    return s;
}
static inline wg_source wg_from_state(const char *name) {
    return wg_from_neighbour(name, 0, 0, 0);
}
static inline wg_source wg_from_next(const char *name, ptrdiff_t i, ptrdiff_t j, ptrdiff_t k) {
    wg_source s = wg_from_neighbour(name, i, j, k);
    s.kind = WGI_FROM_NEXT;
    return s;
}
/* wg_each_step - other numbers in each step: point p of step s is point s * cells + p of the
 * source; of a shared input, point s. A matrix then has as many columns. */
static inline wg_source wg_each_step(wg_source s) {
    s.each_step = 1;
    return s;
}

/* wg_scan - `steps` times the stages of a step, in their order, each at all cells.
 *     one cell, one stage: a recurrence; many cells: as many recurrences side by side, or, with
 *     neighbours, a time step of a partial differential equation on a grid.
 * Every state is an output of exactly one stage. o NULL: one cell, all states stored.
 * Shapes:  states (rows*cols)-by-cells; of one cell also rows-by-cols.
 *          y: the final states, in their order; then the other outputs, in order of the stages,
 *          but those that a stage reads: (rows*cols)-by-(cells*steps), the cells of each step
 *          side by side; sums of all cells and steps of their own shape, with sums_by_step
 *          (rows*cols)-by-steps.
 *          At most 16 states and matrices among x, and 16 results.
 * Adjoint: backward through the steps. With fewer states than steps by binomial checkpointing:
 *          a step is computed again at most r times, where C(stored + r, r) >= steps.
 *          Source: Griewank and Walther 2000, TOMS 26(1).
 * Cost:    one record; the tape keeps the results, `stored` states, and where those are not all
 *          the state before the last step. Where they are all, on one line of 8 cells and more
 *          or a plane of them, compiled stages also keep values and slopes of functions such as
 *          exp for the adjoint, if those of all steps take at most 8 megabytes.
 *          A step of one cell takes some 250 ns with its adjoint, beside its operations: a
 *          short one is recorded faster as it stands, and what a scan saves is memory.
 *          Second derivatives make a function of it each time, in which it is a loop, unless
 *          wg_options.loops_over says otherwise, or it is short, or directions are many.
 * Errors:  as wg_map; WG_EGUARD names step and cell; WG_EARG: a name that is not there, or
 *          there twice; more cells, steps or a farther neighbour than an int can count; no
 *          such boundary. Failed results are 0-by-0; where a state or a source has a name
 *          that is not there only the states are, what follows them is left as it was. */
WG_API wg_status wg_scan(wg_tape *t, size_t steps, size_t stages, const wg_stage *stage,
                         size_t states, const wg_state *state, const wg_scan_options *o,
                         wg_mat *y);

/* wg_callable_stencil - k for stages whose inputs come from neighbours, as x says: the adjoint
 * of a cell is then one function of what is around it, where otherwise every cell adds to the
 * adjoints of its neighbours. To be compiled afterwards, if at all.
 * x:       one source per input, as of the stage. Names and offsets count.
 * A scan makes use of it where all its stages are such, and all their outputs are states or
 * read by later stages; with boundaries that are not WG_CLAMPED; without comparisons, summed
 * outputs, and shared inputs that are differentiated. Otherwise, and in calls and maps, it is
 * as k: also where too much would be computed for each neighbour anew. Adjoints may differ in
 * their last bits from those by k.
 * Errors:  those of wg_callable_new. */
WG_API WG_MUST_CHECK wg_status wg_callable_stencil(wg_tape *t, const wg_callable *k,
                                                   const wg_source *x, wg_callable **out);

/* ---- checkpointing of any loop ---- */

/* One region of a step: next = g(state, param), of n and np numbers. Either it is recorded anew
 * where its derivative is needed, or its adjoint is written by hand. */
typedef struct wg_region {
    wg_status (*record)(wg_tape *t, size_t step, size_t n, const wg_real *state, size_t np,
                        const wg_real *param, wg_real *next, void *data);
    /* by hand, where record is NULL: */
    wg_status (*value)(size_t step, size_t n, const double *state, size_t np,
                       const double *param, double *next, void *data);
    /* dstate = g_state' w;  dparam += g_param' w (NULL: not wanted) */
    wg_status (*vjp)(size_t step, size_t n, const double *state, size_t np, const double *param,
                     const double *w, double *dstate, double *dparam, void *data);
    void *data;
    unsigned flags;
} wg_region;

/* Flags of a region. WG_REGION_ALWAYS: it reaches beyond the tape (block.h), as what
 * communicates does. Then the steps are gone through in the same order wherever the other ends
 * call wg_checkpoint with as many steps, regions and stored states: when they are recorded, and
 * in every sweep and tangent, whatever adjoints are, once for each lane. */
enum { WG_REGION_ALWAYS = 1 };

/* wg_checkpoint - `steps` times the regions, in their order.
 * work:    another tape, for what is recorded anew: as long as the recording is used, with
 *          nothing else on it. NULL will do where nothing is.
 * stored:  states kept; 0: all. There is one before every region.
 * Shapes:  state, y: any shape of n elements, the same; param any shape of np elements.
 * Adjoint: as wg_scan.  Tangent: of regions by hand by as many vjps as a state has elements.
 * In a function, and for second derivatives, all steps are written out, one after the other:
 *          regions by hand cannot be (WG_EMODE), nor those with WG_REGION_ALWAYS.
 * Cost:    one record; the tape keeps `stored` states and one more.
 * Errors:  (y is NaN, the tape keeps the status)  WG_ENULL, WG_ESHAPE; WG_EARG: work is t, or the recording
 *          has 16 others already; what a region returned, or what was wrong with its recording;
 *          WG_EMODE: it communicates, and not by WG_REGION_ALWAYS. Of a sweep: WG_ESTALE: work
 *          was freed (found if it works for one recording at a time). */
WG_API wg_status wg_checkpoint(wg_tape *t, wg_tape *work, size_t steps, size_t regions,
                               const wg_region *region, size_t stored, wg_mat state,
                               wg_mat param, wg_mat *y);

WG_END_DECLS

#endif
