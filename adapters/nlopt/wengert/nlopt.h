/* SPDX-License-Identifier: MIT */
/* NLopt: objectives and constraints with exact gradients, of problems.
 *
 * The callbacks are NLopt's nlopt_func, nlopt_mfunc and nlopt_precond, with a wg_problem as
 * their data; the setters put them in place, and let the optimiser stop when a problem fails:
 * at a point with a NaN or an infinity the value is +infinity (a maximiser's: -infinity), which
 * algorithms step back from, and derivatives are NaN; after any other failure nlopt_optimize
 * ends with NLOPT_FORCED_STOP, and the problem says why. */
#ifndef WENGERT_NLOPT_H
#define WENGERT_NLOPT_H

#include <nlopt.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* wg_nlopt_min_objective, wg_nlopt_max_objective - of a problem with one output.
 * wg_nlopt_inequality, wg_nlopt_equality - its outputs are at most 0, are 0, within tol (one
 * number for each; NULL: 0).
 * p outlives o, and belongs to one optimiser at a time; a copy of o stops o.
 * Result:  NLopt's; NLOPT_INVALID_ARGS: a problem of another number of variables, or an
 *          objective that has not one output. */
WG_API nlopt_result wg_nlopt_min_objective(nlopt_opt o, wg_problem *p);
WG_API nlopt_result wg_nlopt_max_objective(nlopt_opt o, wg_problem *p);
WG_API nlopt_result wg_nlopt_inequality(nlopt_opt o, wg_problem *p, const double *tol);
WG_API nlopt_result wg_nlopt_equality(nlopt_opt o, wg_problem *p, const double *tol);

/* wg_nlopt_preconditioned - wg_nlopt_min_objective with products with its Hessian as
 * preconditioner, which NLOPT_LD_CCSAQ takes: it asks for a matrix that is positive
 * semidefinite, so for convex objectives. */
WG_API nlopt_result wg_nlopt_preconditioned(nlopt_opt o, wg_problem *p);

/* The callbacks; problem: a wg_problem. Gradients are row by row. Set without the setters they
 * do not stop the optimiser. */
WG_API double wg_nlopt_function(unsigned n, const double *x, double *gradient, void *problem);
WG_API void wg_nlopt_functions(unsigned m, double *result, unsigned n, const double *x,
                               double *gradient, void *problem);
WG_API void wg_nlopt_hessian(unsigned n, const double *x, const double *v, double *hv,
                             void *problem);

WG_END_DECLS

#endif
