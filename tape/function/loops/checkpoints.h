/* SPDX-License-Identifier: MIT */
/* checkpoints.h - the adjoint of a loop, with fewer states stored than there are steps. Internal.
 *
 * Binomial checkpointing: with c states and at most r evaluations of a step one goes back
 * through C(c + r, r) steps. Source: Griewank and Walther 2000, TOMS 26(1), equations 2 to 5.
 */
#ifndef WENGERT_TAPE_FUNCTION_CHECKPOINTS_H
#define WENGERT_TAPE_FUNCTION_CHECKPOINTS_H

#include "callable.h"

typedef struct wgi_checkpoints {
    size_t steps;
    size_t stored; /* states, at least 1, at most as many as steps */
    size_t size;   /* doubles of a state */
    void *context;
    /* from the state before a step to that after it */
    wg_status (*advance)(void *context, size_t step, const double *from, double *to);
    /* the adjoint through a step, from the state before it */
    wg_status (*adjoint)(void *context, size_t step, const double *state);
    size_t *top, *position; /* states [0, *top] are stored, of these steps */
    double *state;
    double *turn;  /* the state before the last step, where not all are stored */
    double *spare; /* two states of workspace */
} wgi_checkpoints;

/* `stored` as wanted (0: all), within its bounds. */
size_t wgi_checkpoints_stored(size_t steps, size_t stored);
/* Cuts what is kept from sweep to sweep, and the workspace; base NULL: only counts. */
void wgi_checkpoints_keep(wgi_checkpoints *l, wgi_pieces *p);
void wgi_checkpoints_work(wgi_checkpoints *l, wgi_pieces *p);
/* All steps, from the state 0, which the caller has put to l->state. *last: where the final
 * state is. */
wg_status wgi_checkpoints_forward(wgi_checkpoints *l, const double **last);
/* The adjoints of all steps, the last one first. */
wg_status wgi_checkpoints_reverse(wgi_checkpoints *l);

#endif
