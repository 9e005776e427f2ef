/* SPDX-License-Identifier: MIT */
/* internal.h - what callbacks on whole vectors share: the point of a call, its matrices, its
 * failures. */
#ifndef WENGERT_PETSC_INTERNAL_H
#define WENGERT_PETSC_INTERNAL_H

#include "wengert/petsc.h"

/* What the groups of inputs are. */
typedef enum wgi_equations { WGI_UNKNOWN, WGI_SYSTEM, WGI_RATES, WGI_RESIDUAL } wgi_equations;

/* A sparse matrix of PETSc's: where its rows begin, its columns, its values, and where entries
 * of a pattern go: slot[k], twice as many for a triangle, whose entries stand on both sides.
 * SIZE_MAX: nowhere. */
typedef struct wgi_matrix {
    const wg_pattern *pattern;
    size_t rows;
    PetscInt *start, *col;
    size_t *slot;
    double *raw, *values;
} wgi_matrix;

/* Room kept with a problem, and its sizes. */
typedef struct wgi_room {
    wgi_equations kind;
    const double *parameters;
    size_t states, rows;    /* entries of u; rows of the Jacobian */
    size_t inputs, outputs; /* all of them */
    size_t group, first;    /* of u, or of u and u' */
    size_t last, count;     /* of the parameters' inputs; parameters */
    double *x, *g, *w, *y;  /* inputs; an adjoint; weights; outputs */
    wgi_matrix jacobian, hessian;
    const wg_pattern *
        second; /* of the Hessian by all inputs; its entries, then room for a direction; or NULL */
    double *entries;
} wgi_room;

/* The room of a problem, made at the first call. WGI_UNKNOWN: as its groups have it, if nobody
 * has said yet.
 * NULL: the failure is kept. */
wgi_room *wgi_petsc_room(wg_problem *p, wgi_equations kind);

/* The same, with the point of a call in x. t: NULL in a system; ut: u' of a residual, or
 * NULL. */
wgi_room *wgi_petsc_point(wg_problem *p, wgi_equations kind, PetscReal t, Vec u, Vec ut);

/* Reads n numbers from a vector of that size on one process. 0: it is another, which is
 * kept. */
int wgi_petsc_take(wg_problem *p, Vec v, size_t n, double *to);
/* Writes n numbers into a vector of that size on one process. PETSC_ERR_LIB: it is another,
 * which is kept. */
PetscErrorCode wgi_petsc_give(wg_problem *p, const double *from, size_t n, Vec to);

/* wgi_petsc_jacobian - the Jacobian at the point of the room; of a residual by u, plus shift
 * times that by u'.
 * wgi_petsc_hessian - that of the sum of all outputs, by u.
 * wgi_petsc_by_parameters - the Jacobian by the parameters, dense.
 * Result: 0 and *s = WG_OK; 0 and *s = WG_ENONFINITE, the matrices being as they were;
 * otherwise an error. */
PetscErrorCode wgi_petsc_jacobian(wg_problem *p, wgi_room *r, double shift, Mat a, Mat b,
                                  wg_status *s);
PetscErrorCode wgi_petsc_hessian(wg_problem *p, wgi_room *r, Mat a, Mat b, wg_status *s);
PetscErrorCode wgi_petsc_by_parameters(wg_problem *p, wgi_room *r, Mat b, wg_status *s);

/* 0 after success and after a NaN, which the caller answers for. */
PetscErrorCode wgi_petsc_code(wg_status s);

/* Ends the assembly of b, and of a where it is another. */
PetscErrorCode wgi_petsc_assemble(Mat a, Mat b);

#endif
