/* SPDX-License-Identifier: MIT */
/* internal.h - what SUNDIALS' callbacks share: the point of a call, its failures, matrices. */
#ifndef WENGERT_SUNDIALS_INTERNAL_H
#define WENGERT_SUNDIALS_INTERNAL_H

#include "wengert/sundials.h"

/* What the groups of inputs are, as the first callback has it. */
typedef enum wgi_equations { WGI_UNKNOWN, WGI_RATES, WGI_RESIDUAL, WGI_SYSTEM } wgi_equations;

/* Where the entries of the pattern stand in a sparse matrix: slot of each (of integrands
 * SIZE_MAX), beginnings of lines, index across of each slot. */
typedef struct wgi_plan {
    size_t *slot;
    sunindextype *start, *across;
} wgi_plan;

/* Room kept with a problem, and its sizes. */
typedef struct wgi_room {
    wgi_equations kind;
    const double *parameters;
    size_t states, outputs, inputs; /* n; all outputs; all inputs */
    size_t group;                   /* of y, of y and y', of u */
    size_t first;                   /* of its inputs */
    size_t last;                    /* of the parameters' inputs */
    size_t count;                   /* parameters */
    double *x, *v, *g;              /* inputs; a direction; an adjoint */
    double *w, *y;                  /* weights and values of outputs */
    double *swept;                  /* x and w that g is of, or NULL: of none */
    double *
        slope; /* of a residual: a product with (dF/dy')'; a fixed direction, its product at the
                * first point, and the parameters there: those of the equations, then those of
                * the computation */
    int sloped;      /* are these there? */
    double *entries; /* of Jacobians: dense, or of the pattern */
    size_t entries_size;
    const wg_pattern *pattern;
    wgi_plan plan[2][2]; /* by columns or rows; of the Jacobian or its transpose */
} wgi_room;

/* The room of a problem, made at the first call. WGI_UNKNOWN: as its groups have it, if nobody
 * has said yet.
 * NULL: the failure is kept. */
wgi_room *wgi_sundials_room(wg_problem *p, wgi_equations kind);

/* The room with the point of a call in x: t, y, y', or u, and the parameters; parts that are
 * NULL are left out. NULL: the failure is kept. */
wgi_room *wgi_sundials_point(wg_problem *p, const sunrealtype *t, N_Vector y, N_Vector yp);

/* The entries of a vector of so many. NULL: it has others, or no array; the failure is kept. */
double *wgi_sundials_array(wg_problem *p, N_Vector v, size_t n);

/* What a callback returns. */
int wgi_sundials_code_of(wg_status s);
static inline int wgi_sundials_code(wg_status s) {
    return s == WG_OK ? 0 : wgi_sundials_code_of(s);
}

/* factor times the Jacobian at the point of the room, or times its transpose, into a matrix of
 * SUNDIALS. Of a group of y and y': by y, plus c times that by y'. */
int wgi_sundials_jacobian(wg_problem *p, wgi_room *r, double c, double factor, int transposed,
                          SUNMatrix to);

/* y = J v, v being those of the group; the same of the integrands. */
int wgi_sundials_times(wg_problem *p, wgi_room *r, N_Vector jv);
int wgi_sundials_integrands(wg_problem *p, wgi_room *r, N_Vector jv);

/* g: the adjoint of all inputs, of yb on the first outputs and of `integrands` on the others,
 * at the point of the room. again: the last sweep will do, if it was that. Result: that of a
 * callback. */
int wgi_sundials_sweep(wg_problem *p, wgi_room *r, N_Vector yb, double integrands, int again);
/* to = factor from, of n entries. */
int wgi_sundials_give(wg_problem *p, double factor, const double *from, size_t n, N_Vector to);

#endif
