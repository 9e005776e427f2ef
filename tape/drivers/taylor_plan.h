/* SPDX-License-Identifier: MIT */
/* taylor_plan.h - what has Taylor coefficients, taken apart once: a statement that comes again
 * and again, or a whole recording. Internal. */
#ifndef WGI_TAPE_DRIVERS_TAYLOR_PLAN_H
#define WGI_TAPE_DRIVERS_TAYLOR_PLAN_H

#include "taylor_rows.h"

#include "tape/function/make/series.h"

/* The coefficients of a node. Its operands and partials are nodes of the plan. */
typedef struct wgi_taylor_step {
    unsigned char kind; /* a wgi_recurrence, or one more: taylor_plan.c */
    /* does it need, or is it needed by, the one behind it in other orders? */
    unsigned char tied;
    unsigned char first_moves, second_moves; /* its first two operands */
    unsigned char has_value;                 /* its value, too, is computed with the row */
    uint32_t node, need, x[3];               /* itself, and its first operands */
} wgi_taylor_step;

/* Every node has a row of coefficients, `row`, and for adjoints one of their adjoints, `bar`:
 * those of the plan's own nodes belong to it, those of inputs and of the result y are set by
 * the caller before each run. */
typedef struct wgi_taylor_plan {
    wgi_graph g;
    wgi_series s;
    size_t order;
    int adjoint;
    unsigned char *kind; /* of each node */
    uint32_t *computed;  /* nodes with a value to be computed, in order; none where all have
                            theirs with their rows */
    size_t computes;
    wgi_taylor_step *step; /* of nodes with coefficients, each behind what it needs of its own
                              order */
    size_t steps;
    double **row, **bar;
    double *at;      /* operands of one node, and its slopes */
    double *own_bar; /* all bars that are the plan's own */
    size_t own_bars; /* how many numbers */
    const wgi_row_kernels *rows;
} wgi_taylor_plan;

/* Of a graph that is there: coefficients of the m nodes y, where the n nodes x move. A failure
 * is the tape's of the graph. */
wg_status wgi_taylor_plan_make(wgi_taylor_plan *p, size_t order, int adjoint, size_t n,
                               const uint32_t *x, size_t m, const uint32_t *y);
/* The values of all nodes, from those of inputs; then all coefficients. */
void wgi_taylor_forward(const wgi_taylor_plan *p);
/* From the bars of y, which stand there, adds to those of x. */
void wgi_taylor_backward(const wgi_taylor_plan *p);

/* ---- taylor_singular.c: nodes whose partials have no series ---- */

/* Can it be, somewhere? Is it, at these values? */
int wgi_taylor_may_be_singular(const wgi_taylor_plan *p, uint32_t node);
int wgi_taylor_is_singular(const wgi_taylor_plan *p, uint32_t node);
/* Coefficient k, from 1 on; where the adjoint w of coefficient k goes, from 0 on. */
double wgi_taylor_singular(const wgi_taylor_plan *p, uint32_t node, size_t k);
void wgi_taylor_singular_back(const wgi_taylor_plan *p, uint32_t node, double w, size_t k);

#endif
