/* SPDX-License-Identifier: MIT */
/* Long loops: the gradient of what is computed by a loop of steps, through checkpoints in
 * memory and, where a run takes hours, in a file from which a run that was killed goes on.
 *
 * wg_checkpoint (map.h) makes a loop of a known number of steps one record of a tape. Here the
 * loop is all there is beside an objective of its last state; how many steps it takes may turn
 * out on the way. */
#ifndef WENGERT_LOOP_H
#define WENGERT_LOOP_H

#include <wengert/drivers.h>
#include <wengert/map.h>

WG_BEGIN_DECLS

/* What is differentiated: state = regions(state, param), again and again, and an objective of
 * the last state. Steps and objective give the same numbers whenever they are called with the
 * same ones: steps are computed more than once. */
typedef struct wg_loop {
    size_t n, np;            /* numbers of the state, and of the parameters */
    size_t regions;          /* of each step, in their order */
    const wg_region *region; /* recorded on the tape of the call, or by hand */
    size_t steps; /* how many; with `ends` the most there may be, more are WG_ECONVERGE */
    /* Is this the last state, after so many steps? 1: yes. NULL: it is after `steps` of
     * them. */
    int (*ends)(size_t step, size_t n, const double *state, size_t np, const double *param,
                void *data);
    wg_callback *objective; /* n + np inputs, the last state and the parameters; one output */
    void *data;             /* of ends and objective */
} wg_loop;

/* What a run has done, or has done so far. */
typedef struct wg_loop_report {
    size_t steps;       /* of the loop; while it goes forward, those so far */
    size_t left;        /* of which so many have no adjoint yet */
    size_t evaluations; /* of regions, forward */
    size_t adjoints;    /* of regions, backward */
    size_t saved;       /* writes to the file */
    int resumed;        /* 1: from a file */
} wg_loop_report;

/* Zeros: the defaults. */
typedef struct wg_loop_options {
    size_t memory;    /* states in memory; 0: 256. At least 4 */
    const char *file; /* its path; NULL: none */
    size_t states;    /* states in the file; 0: 64. At least 2 */
    const char *tag;  /* what the numbers do not tell of the run that the file is of, as the
                       * version of a model; NULL: "" */
    double seconds;   /* between two saves on the way back; 0: 10. At the end of each stretch
                       * between two states of the file, too; negative: there alone */
    /* Told after each step, forward and back; not 0: stop, WG_ESTOPPED. NULL: nobody */
    int (*progress)(void *context, const wg_loop_report *now);
    void *context;
} wg_loop_options;

/* wg_loop_gradient - the objective, and its gradient by the state at first and by the
 * parameters.
 * t:       workspace; left empty, as by a driver.
 * Shapes:  state, dstate n; param, dparam np. value, dstate, dparam may be NULL: not wanted.
 * o, report: may be NULL.
 * File:    made where there is none, with all the space it will take; open to nobody else; gone
 *          when the gradient is there. After a kill, a crash, a failure, a stop, the same call
 *          goes on from it, and gives the same bits as one that was never interrupted: forward
 *          from the last state saved, or back from the last adjoint. What was half written is
 *          not used. A file of another run (other sizes, numbers at the start, tag, `states`),
 *          or that is no such file, is refused and left as it is.
 * Cost:    forward once, and what lies between two states of the file (or of half of those in
 *          memory) once more and, with c states for it, at most r times as often, where it is
 *          C(c + r, r) regions. States in the file are thinned out on the way, so that they are
 *          equally spaced: n doubles each, and two adjoints of n + np.
 * Errors:  WG_ENULL; WG_EARG: options, or a file of another run; WG_EWRITE: the file cannot be
 *          made, written or read, is in use, or the disk is full; WG_ECONVERGE; WG_ESTOPPED;
 *          WG_ENOMEM; what a region or the objective returned. The message says which.
 *          Outputs are NaN. */
WG_API WG_MUST_CHECK wg_status wg_loop_gradient(wg_tape *t, const wg_loop *l,
                                                const wg_loop_options *o, const double *state,
                                                const double *param, double *value,
                                                double *dstate, double *dparam,
                                                wg_loop_report *report);

WG_END_DECLS

#endif
