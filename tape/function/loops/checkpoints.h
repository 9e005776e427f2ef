/* SPDX-License-Identifier: MIT */
/* checkpoints.h - the adjoint of a loop, with fewer states stored than there are steps.
 * Internal.
 *
 * Binomial checkpointing: with c states and at most r evaluations of a step one goes back
 * through C(c + r, r) steps. Source: Griewank and Walther 2000, TOMS 26(1), equations 2 to 5.
 */
#ifndef WGI_TAPE_FUNCTION_LOOPS_CHECKPOINTS_H
#define WGI_TAPE_FUNCTION_LOOPS_CHECKPOINTS_H

#include "callable.h"

typedef struct wgi_checkpoints {
    size_t steps;
    size_t stored; /* how many states are stored: from 1 to the number of steps */
    size_t size;   /* numbers of a state */
    void *context;
    /* computes the state after a step from that before it */
    wg_status (*advance)(void *context, size_t step, const double *from, double *to);
    /* does the adjoint of a step, given the state before it */
    wg_status (*adjoint)(void *context, size_t step, const double *state);
    /* states 0 to *top are stored; position[k] is the step that begins with state k */
    size_t *top, *position;
    double *state;
    double *turn;           /* the state before the last step, if not all states are stored */
    double *spare;          /* workspace for two states */
    wgi_progress *progress; /* told after each step; WG_ESTOPPED: it said to stop */
} wgi_checkpoints;

/* How many states are stored if the caller wants `stored` of them; 0: all. */
size_t wgi_checkpoints_stored(size_t steps, size_t stored);
/* How many of l > 1 steps to go before the next state is stored, with room for c > 1 states,
 * the first of which is there: so that both parts take as few evaluations as possible. */
size_t wgi_checkpoints_split(size_t l, size_t c);
/* Cuts what is stored from sweep to sweep; cuts the workspace. With base NULL they only count.
 */
void wgi_checkpoints_keep(wgi_checkpoints *l, wgi_pieces *p);
void wgi_checkpoints_work(wgi_checkpoints *l, wgi_pieces *p);
/* Goes through all steps, from the state that the caller has put to l->state. *last: where the
 * final state stands. */
wg_status wgi_checkpoints_forward(wgi_checkpoints *l, const double **last);
/* Does the adjoints of all steps, the last one first. */
wg_status wgi_checkpoints_reverse(wgi_checkpoints *l);

#endif
