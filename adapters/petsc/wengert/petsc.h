/* SPDX-License-Identifier: MIT */
/* PETSc: nonlinear equations of SNES and time integration of TS with its adjoints, whole or by
 * the points of a DMDA; minimisation by TAO. For real scalars in double precision.
 *
 * Whole: a problem is the user context of the callbacks, on vectors of one process. Its inputs
 * are in groups:
 *     system F(u, p) = 0, objective, constraints    n, and p: {n, np}, or no groups without parameters
 *     rates u' = f(t, u, p)                         1, n, and p: {1, n, np}, or {1, n} without parameters
 *     residual F(t, u, u', p) = 0                   1, 2n (u, then u'), and p
 * Rates may have more than n outputs: the further ones are integrands, for
 * TSCreateQuadratureTS.
 * On a grid: the residual at one point is stated, as a function of what stands around it; it is
 * recorded once, and evaluated at the points of a line of the grid side by side, on any number
 * of processes.
 *
 * At a vector with a NaN or an infinity among values or derivatives, SNES is told that it is
 * out of its domain (SNESSetFunctionDomainError); TS gets NaN, after which implicit methods
 * take a shorter step and others end; TAO's objective is infinite there. After any other
 * failure callbacks return PETSC_ERR_LIB, and the problem or grid says why. So they do where
 * TAO or TSAdjoint would go on with a derivative that is NaN. */
#ifndef WENGERT_PETSC_H
#define WENGERT_PETSC_H

#include <petscdmda.h>
#include <petscsnes.h>
#include <petsctao.h>
#include <petscts.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* ---- whole ---- */

/* wg_petsc_parameters - where the values of the last group stand, for all callbacks: read at
 * each call, so that they may be changed between two solutions. A group of parameters needs it,
 * others do not.
 * Errors: WG_ENULL, WG_ENOMEM. */
WG_API WG_MUST_CHECK wg_status wg_petsc_parameters(wg_problem *p, const double *values);

/* wg_petsc_matrix - a matrix (MATSEQAIJ) for the Jacobian of p by u, with the pattern that it
 * has at x (all inputs; NULL: where the problem says), and its diagonal where it is square.
 * Rates: n-by-n, without integrands.
 * wg_petsc_hessian_matrix - the same for the Hessian of the sum of the outputs by u.
 * Result:  PETSc's; PETSC_ERR_LIB: p has the reason. */
WG_API PetscErrorCode wg_petsc_matrix(wg_problem *p, const double *x, Mat *out);
WG_API PetscErrorCode wg_petsc_hessian_matrix(wg_problem *p, const double *x, Mat *out);

/* wg_petsc_function - for SNESSetFunction;  wg_petsc_jacobian - for SNESSetJacobian, with such a matrix, as
 * below all Jacobians by u: or another one that takes these entries. */
WG_API PetscErrorCode wg_petsc_function(SNES snes, Vec u, Vec f, void *problem);
WG_API PetscErrorCode wg_petsc_jacobian(SNES snes, Vec u, Mat a, Mat b, void *problem);

/* ---- TS, and its adjoint ---- */

/* Of rates, explicit and implicit methods:
 * wg_petsc_ts_rates - TSSetRHSFunction.   wg_petsc_ts_jacobian - TSSetRHSJacobian.
 * wg_petsc_ts_by_parameters - TSSetRHSJacobianP, with an n-by-np matrix, dense or with room
 * for all entries. */
WG_API PetscErrorCode wg_petsc_ts_rates(TS ts, PetscReal t, Vec u, Vec f, void *problem);
WG_API PetscErrorCode wg_petsc_ts_jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat b,
                                           void *problem);
WG_API PetscErrorCode wg_petsc_ts_by_parameters(TS ts, PetscReal t, Vec u, Mat a,
                                                void *problem);

/* Of a residual, implicit methods:
 * wg_petsc_ts_residual - TSSetIFunction.   wg_petsc_ts_residual_jacobian - TSSetIJacobian: dF/du + shift dF/du'.
 * wg_petsc_ts_residual_by_parameters - TSSetIJacobianP. */
WG_API PetscErrorCode wg_petsc_ts_residual(TS ts, PetscReal t, Vec u, Vec ut, Vec f,
                                           void *problem);
WG_API PetscErrorCode wg_petsc_ts_residual_jacobian(TS ts, PetscReal t, Vec u, Vec ut,
                                                    PetscReal shift, Mat a, Mat b,
                                                    void *problem);
WG_API PetscErrorCode wg_petsc_ts_residual_by_parameters(TS ts, PetscReal t, Vec u, Vec ut,
                                                         PetscReal shift, Mat a, void *problem);

/* Of rates, for second-order adjoints (TSSetCostHessianProducts), by TSSetRHSHessianProduct in
 * this order:
 * wg_petsc_ts_hessian_uu, _up, _pu, _pp - for each objective the Hessian of l' f, l being its
 * adjoint of the states, times v: by the states times a direction of states, by the states
 * times one of parameters, ... A TS with a quadrature is refused (WG_EMODE): PETSc asks for
 * Hessians of rates and of residuals only, and would leave out those of the integrands. Make the
 * integral a state, q' = g, instead. A tangent begins at twice the matrix of TSAdjointSetForward
 * times the direction: that is PETSc's.
 * Cost:    a sparse Hessian by all inputs for each objective. */
WG_API PetscErrorCode wg_petsc_ts_hessian_uu(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                             void *problem);
WG_API PetscErrorCode wg_petsc_ts_hessian_up(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                             void *problem);
WG_API PetscErrorCode wg_petsc_ts_hessian_pu(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                             void *problem);
WG_API PetscErrorCode wg_petsc_ts_hessian_pp(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                             void *problem);

/* Of the integrands of rates, k of them, on the TS of TSCreateQuadratureTS:
 * wg_petsc_ts_integrands - TSSetRHSFunction, into k entries.
 * wg_petsc_ts_integrand_gradients - TSSetRHSJacobian: dense, n-by-k, a column for each (so
 * PETSc has it).
 * wg_petsc_ts_integrand_by_parameters - TSSetRHSJacobianP: dense, np-by-k.
 * Cost:    a sweep for each integrand. */
WG_API PetscErrorCode wg_petsc_ts_integrands(TS ts, PetscReal t, Vec u, Vec q, void *problem);
WG_API PetscErrorCode wg_petsc_ts_integrand_gradients(TS ts, PetscReal t, Vec u, Mat a, Mat b,
                                                      void *problem);
WG_API PetscErrorCode wg_petsc_ts_integrand_by_parameters(TS ts, PetscReal t, Vec u, Mat a,
                                                          void *problem);

/* ---- TAO ---- */

/* Of a problem with one output:
 * wg_petsc_tao_objective - TaoSetObjective.   wg_petsc_tao_gradient - TaoSetGradient.
 * wg_petsc_tao_objective_gradient - TaoSetObjectiveAndGradient: both from one recording.
 * wg_petsc_tao_hessian - TaoSetHessian, with a matrix of wg_petsc_hessian_matrix. */
WG_API PetscErrorCode wg_petsc_tao_objective(Tao tao, Vec x, PetscReal *value, void *problem);
WG_API PetscErrorCode wg_petsc_tao_gradient(Tao tao, Vec x, Vec g, void *problem);
WG_API PetscErrorCode wg_petsc_tao_objective_gradient(Tao tao, Vec x, PetscReal *value, Vec g,
                                                      void *problem);
WG_API PetscErrorCode wg_petsc_tao_hessian(Tao tao, Vec x, Mat h, Mat b, void *problem);

/* Of residuals to be fitted, or of constraints:
 * wg_petsc_tao_values - TaoSetResidualRoutine, TaoSetEqualityConstraintsRoutine,
 * TaoSetInequalityConstraintsRoutine.
 * wg_petsc_tao_jacobian - the routine of the Jacobian that belongs to it, with a matrix of
 * wg_petsc_matrix. */
WG_API PetscErrorCode wg_petsc_tao_values(Tao tao, Vec x, Vec y, void *problem);
WG_API PetscErrorCode wg_petsc_tao_jacobian(Tao tao, Vec x, Mat a, Mat b, void *problem);

/* ---- on a grid ---- */

typedef struct wg_petsc_grid wg_petsc_grid;

/* wg_petsc_grid_new - of a DMDA that is set up, with its numbers per point d, its width and
 * kind of stencil.
 * f:       the residual at a point. Inputs: the d numbers at each point of the stencil, then
 *          the place i, j, k of the point itself (as many as there are dimensions, from 0); d
 *          outputs. Points of a stencil are in the order of k, then j, then i, with i fastest,
 *          those of a star without those off the axes: in two dimensions and width 1 south,
 *          west, the point, east, north (wg_petsc_grid_middle: 2). Beyond a boundary that is
 *          not periodic numbers are 0, and are not differentiated by.
 *          It is called once: it must not branch on its inputs, boundaries are told by
 *          wg_select_lt and its kin.
 * start:   d numbers, which stand at all points when it is recorded; NULL: zeros.
 * flags:   0 or WG_COMPILE.
 * Result:  NULL: out of memory; otherwise its status says whether it can be used: WG_ENULL;
 *          WG_EARG: flags, a DMDA that is not set up, with boundaries of another kind than none
 *          and periodic, or more than 64 numbers at a point; what recording returns. da
 *          outlives it. */
WG_API wg_petsc_grid *wg_petsc_grid_new(DM da, wg_callback *f, void *data, const double *start,
                                        unsigned flags);
WG_API void wg_petsc_grid_free(wg_petsc_grid *g);
WG_API wg_status wg_petsc_grid_status(const wg_petsc_grid *g);
WG_API const char *wg_petsc_grid_message(const wg_petsc_grid *g);
/* The number of points of the stencil, and of the point itself among them. */
WG_API size_t wg_petsc_grid_points(const wg_petsc_grid *g);
WG_API size_t wg_petsc_grid_middle(const wg_petsc_grid *g);

/* wg_petsc_grid_function, wg_petsc_grid_jacobian - for SNESSetFunction and SNESSetJacobian with
 * the grid as context, the matrix being one of DMCreateMatrix. Entries that are 0 whatever u is
 * are not asked for, but those of the diagonal. Into MATSEQAIJ and MATMPIAIJ they go where they
 * were found to stand at the first call, which takes longer; into other kinds by
 * MatSetValuesStencil. */
WG_API PetscErrorCode wg_petsc_grid_function(SNES snes, Vec u, Vec f, void *grid);
WG_API PetscErrorCode wg_petsc_grid_jacobian(SNES snes, Vec u, Mat a, Mat b, void *grid);

/* wg_petsc_grid_rates, wg_petsc_grid_rates_jacobian - the same function as rates, for
 * TSSetRHSFunction and TSSetRHSJacobian. They do not depend on the time. */
WG_API PetscErrorCode wg_petsc_grid_rates(TS ts, PetscReal t, Vec u, Vec f, void *grid);
WG_API PetscErrorCode wg_petsc_grid_rates_jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat b,
                                                   void *grid);

WG_END_DECLS

#endif
