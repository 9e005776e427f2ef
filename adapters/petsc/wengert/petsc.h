/* SPDX-License-Identifier: MIT */
/* PETSc: nonlinear equations of SNES, whole or by the points of a DMDA. For real scalars in double precision.
 *
 * Whole: a problem with as many outputs as inputs is the user context of the callbacks, on vectors of one
 * process. On a grid: the residual at one point is stated, as a function of what stands around it; it is
 * recorded once, and evaluated at the points of a line of the grid side by side, on any number of processes.
 *
 * At a vector with a NaN or an infinity among residuals the function is out of its domain
 * (SNESSetFunctionDomainError). After any other failure callbacks return PETSC_ERR_LIB, and the problem or
 * grid says why. */
#ifndef WENGERT_PETSC_H
#define WENGERT_PETSC_H

#include <petscdmda.h>
#include <petscsnes.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* ---- whole ---- */

/* wg_petsc_matrix - a matrix for the Jacobian of p (MATSEQAIJ), with the pattern that it has at x (all
 * inputs; NULL: where the problem says).
 * Result:  PETSc's; PETSC_ERR_LIB: p has the reason. */
WG_API PetscErrorCode wg_petsc_matrix(wg_problem *p, const double *x, Mat *out);
/* wg_petsc_function - for SNESSetFunction;  wg_petsc_jacobian - for SNESSetJacobian, with such a matrix. */
WG_API PetscErrorCode wg_petsc_function(SNES snes, Vec u, Vec f, void *problem);
WG_API PetscErrorCode wg_petsc_jacobian(SNES snes, Vec u, Mat a, Mat b, void *problem);

/* ---- on a grid ---- */

typedef struct wg_petsc_grid wg_petsc_grid;

/* wg_petsc_grid_new - of a DMDA that is set up, with its numbers per point d, its width and kind of stencil.
 * f:       the residual at a point. Inputs: the d numbers at each point of the stencil, then the place i, j, k of
 *          the point itself (as many as there are dimensions, from 0); d outputs. Points of a stencil are in the
 *          order of k, then j, then i, with i fastest, those of a star without those off the axes: in two
 *          dimensions and width 1 south, west, the point, east, north (wg_petsc_grid_middle: 2). Beyond a
 *          boundary that is not periodic numbers are 0, and are not differentiated by.
 *          It is called once: it must not branch on its inputs, boundaries are told by wg_select_lt and its kin.
 * start:   d numbers, which stand at all points when it is recorded; NULL: zeros.
 * flags:   0 or WG_COMPILE.
 * Result:  NULL: out of memory; otherwise its status says whether it can be used: WG_ENULL; WG_EARG: flags, a
 *          DMDA that is not set up, with boundaries of another kind than none and periodic, or more than 64
 *          numbers at a point; what recording returns. da outlives it. */
WG_API wg_petsc_grid *wg_petsc_grid_new(DM da, wg_callback *f, void *data, const double *start,
                                        unsigned flags);
WG_API void wg_petsc_grid_free(wg_petsc_grid *g);
WG_API wg_status wg_petsc_grid_status(const wg_petsc_grid *g);
WG_API const char *wg_petsc_grid_message(const wg_petsc_grid *g);
/* The number of points of the stencil, and of the point itself among them. */
WG_API size_t wg_petsc_grid_points(const wg_petsc_grid *g);
WG_API size_t wg_petsc_grid_middle(const wg_petsc_grid *g);

/* wg_petsc_grid_function, wg_petsc_grid_jacobian - for SNESSetFunction and SNESSetJacobian with the grid as
 * context, the matrix being one of DMCreateMatrix. Columns that no residual of a point can depend on are not set. */
WG_API PetscErrorCode wg_petsc_grid_function(SNES snes, Vec u, Vec f, void *grid);
WG_API PetscErrorCode wg_petsc_grid_jacobian(SNES snes, Vec u, Mat a, Mat b, void *grid);

WG_END_DECLS

#endif
