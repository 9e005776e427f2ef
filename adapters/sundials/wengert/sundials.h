/* SPDX-License-Identifier: MIT */
/* SUNDIALS: the callbacks of CVODE, CVODES, ARKODE, IDA, IDAS and KINSOL, of one statement of
 * the equations. For versions 6 and 7, double precision, vectors whose entries are in one array
 * (serial, OpenMP, Pthreads).
 *
 * User data is a wg_problem. Its inputs are in groups:
 *     rates y' = f(t, y, p)              1, n, and p: {1, n, np}, or {1, n} without parameters
 *     residual F(t, y, y', p) = 0        1, 2n (y, then y'), and p
 *     system F(u, p) = 0                 n, and p
 * and it has n outputs. Rates and residuals may have further ones, integrands of a functional
 * G = integral of their sum: they are what wg_cvode_quadrature and wg_ida_quadrature give, and
 * part of the adjoint equations.
 *
 * Jacobians go into dense, banded and sparse matrices of SUNDIALS. Results are 0; positive
 * after a NaN or an infinity, or where a matrix is singular, so that the solver takes a shorter
 * step; negative after any other failure, and the problem says why. */
#ifndef WENGERT_SUNDIALS_H
#define WENGERT_SUNDIALS_H

#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* wg_sundials_parameters - where the values of the last group stand, for all callbacks: read at
 * each call, so that they may be changed between two solutions. A group of parameters needs it,
 * others do not.
 * Errors: WG_ENULL, WG_ENOMEM. */
WG_API WG_MUST_CHECK wg_status wg_sundials_parameters(wg_problem *p, const double *values);

/* wg_sundials_entries - at most so many has the sparse Jacobian: SUNSparseMatrix(n, n, entries,
 * CSC_MAT or CSR_MAT, context).
 * x: all inputs, where the pattern is found, unless the problem has a point.  Errors: those of
 * wg_problem_jacobian_pattern. *entries is 0. */
WG_API WG_MUST_CHECK wg_status wg_sundials_entries(wg_problem *p, const double *x,
                                                   sunindextype *entries);

/* ---- CVODE, CVODES ---- */

/* wg_cvode_rates - CVRhsFn.           wg_cvode_jacobian - CVLsJacFn.
 * wg_cvode_times - CVLsJacTimesVecFn. wg_cvode_quadrature - CVQuadRhsFn: an entry for each
 * integrand. */
WG_API int wg_cvode_rates(sunrealtype t, N_Vector y, N_Vector ydot, void *problem);
WG_API int wg_cvode_jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix jac,
                             void *problem, N_Vector t1, N_Vector t2, N_Vector t3);
WG_API int wg_cvode_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector fy,
                          void *problem, N_Vector tmp);
WG_API int wg_cvode_quadrature(sunrealtype t, N_Vector y, N_Vector qdot, void *problem);

/* wg_cvode_sensitivity - CVSensRhs1Fn, for CVodeSensInit1: sensitivity i is by parameter i;
 * from np on by what only initial values depend on. */
WG_API int wg_cvode_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector ydot, int i,
                                N_Vector s, N_Vector sdot, void *problem, N_Vector t1,
                                N_Vector t2);

/* wg_cvode_quadrature_sensitivity - CVQuadSensRhsFn, for CVodeQuadSensInit: an entry for
 * each integrand. */
WG_API int wg_cvode_quadrature_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector *s,
                                           N_Vector qdot, N_Vector *sdot, void *problem,
                                           N_Vector t1, N_Vector t2);

/* The adjoint problem, solved back from yB(T) = the gradient of what G has beside the integral:
 * wg_cvode_adjoint - CVRhsFnB: -J' yB - the gradient of the integrands by y.
 * wg_cvode_adjoint_jacobian - CVLsJacFnB: -J'.   wg_cvode_adjoint_times - CVLsJacTimesVecFnB: -J' v.
 * wg_cvode_adjoint_quadrature - CVQuadRhsFnB, from 0 at T: -(df/dp)' yB - the gradient of the
 *          integrands by p; integrated back to t0 that is dG/dp as it stands, where y(t0) does
 *          not depend on p. (Otherwise add (dy(t0)/dp)' yB(t0).) Right after the adjoint at the
 *          same t, y and yB it takes the results of that sweep. */
WG_API int wg_cvode_adjoint(sunrealtype t, N_Vector y, N_Vector yb, N_Vector ybdot,
                            void *problem);
WG_API int wg_cvode_adjoint_jacobian(sunrealtype t, N_Vector y, N_Vector yb, N_Vector fyb,
                                     SUNMatrix jac, void *problem, N_Vector t1, N_Vector t2,
                                     N_Vector t3);
WG_API int wg_cvode_adjoint_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y,
                                  N_Vector yb, N_Vector fyb, void *problem, N_Vector tmp);
WG_API int wg_cvode_adjoint_quadrature(sunrealtype t, N_Vector y, N_Vector yb, N_Vector qbdot,
                                       void *problem);

/* ---- ARKODE ---- */

/* ERKStep takes wg_cvode_rates, and so does ARKStep for rates of which all is explicit or all
 * is implicit, with wg_cvode_jacobian or wg_cvode_times: the types are the same. Of rates in
 * two parts the user data is this: */
typedef struct wg_arkode_split {
    wg_problem *explicit_part, *implicit_part; /* both rates of n states, {1, n, np} */
} wg_arkode_split;

/* wg_arkode_explicit, wg_arkode_implicit - ARKRhsFn, for ARKStepCreate.
 * wg_arkode_jacobian - ARKLsJacFn, wg_arkode_times - ARKLsJacTimesVecFn: of the implicit
 * part. */
WG_API int wg_arkode_explicit(sunrealtype t, N_Vector y, N_Vector ydot, void *split);
WG_API int wg_arkode_implicit(sunrealtype t, N_Vector y, N_Vector ydot, void *split);
WG_API int wg_arkode_jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix jac,
                              void *split, N_Vector t1, N_Vector t2, N_Vector t3);
WG_API int wg_arkode_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector fy,
                           void *split, N_Vector tmp);

/* ---- IDA, IDAS ---- */

/* wg_ida_residual - IDAResFn.   wg_ida_jacobian - IDALsJacFn: dF/dy + c dF/dy'.
 * wg_ida_times - IDALsJacTimesVecFn.   wg_ida_quadrature - IDAQuadRhsFn: an entry for each integrand. */
WG_API int wg_ida_residual(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, void *problem);
WG_API int wg_ida_quadrature(sunrealtype t, N_Vector y, N_Vector yp, N_Vector qdot,
                             void *problem);
WG_API int wg_ida_jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp, N_Vector r,
                           SUNMatrix jac, void *problem, N_Vector t1, N_Vector t2, N_Vector t3);
WG_API int wg_ida_times(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector v,
                        N_Vector jv, sunrealtype c, void *problem, N_Vector t1, N_Vector t2);

/* wg_ida_sensitivity - IDASensResFn, for IDASensInit: sensitivity i is by parameter i; from np
 * on by what only initial values depend on.   wg_ida_quadrature_sensitivity - IDAQuadSensRhsFn,
 * for IDAQuadSensInit. */
WG_API int wg_ida_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector yp, N_Vector r,
                              N_Vector *s, N_Vector *sp, N_Vector *sr, void *problem,
                              N_Vector t1, N_Vector t2, N_Vector t3);
WG_API int wg_ida_quadrature_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector yp,
                                         N_Vector *s, N_Vector *sp, N_Vector qdot,
                                         N_Vector *sdot, void *problem, N_Vector t1,
                                         N_Vector t2, N_Vector t3);

/* The adjoint problem (dF/dy')' yB' = (dF/dy)' yB - dg/dy, g the sum of the integrands:
 * wg_ida_adjoint - IDAResFnB.   wg_ida_adjoint_jacobian - IDALsJacFnB.   wg_ida_adjoint_times - IDALsJacTimesVecFnB.
 * wg_ida_adjoint_quadrature - IDAQuadRhsFnB, from 0 at T: (dF/dp)' yB - dg/dp; integrated back
 *          to t0 that is dG/dp as it stands, where y(t0) does not depend on p and yB(T) is 0
 *          but for what algebraic equations ask (IDACalcICB). (Otherwise add (dy(t0)/dp)'
 *          (dF/dy')' yB(t0).) Right after the adjoint at the same point it takes the results of
 *          that sweep.
 * dF/dy' must be the same at all points of a solution (a matrix of masses, or of ones and
 * zeros): there is no term for its change. It is looked at in each call of wg_ida_adjoint, by a
 * product with one direction, and where it has changed the solver is ended: WG_EMODE.
 * Cost:    three sweeps for wg_ida_adjoint, one for the others. */
WG_API int wg_ida_adjoint(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb, N_Vector ypb,
                          N_Vector rb, void *problem);
WG_API int wg_ida_adjoint_jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp,
                                   N_Vector yb, N_Vector ypb, N_Vector rb, SUNMatrix jac,
                                   void *problem, N_Vector t1, N_Vector t2, N_Vector t3);
WG_API int wg_ida_adjoint_times(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb,
                                N_Vector ypb, N_Vector rb, N_Vector v, N_Vector jv,
                                sunrealtype c, void *problem, N_Vector t1, N_Vector t2);
WG_API int wg_ida_adjoint_quadrature(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb,
                                     N_Vector ypb, N_Vector qbdot, void *problem);

/* ---- KINSOL ---- */

/* wg_kinsol_system - KINSysFn.   wg_kinsol_jacobian - KINLsJacFn.   wg_kinsol_times - KINLsJacTimesVecFn. */
WG_API int wg_kinsol_system(N_Vector u, N_Vector f, void *problem);
WG_API int wg_kinsol_jacobian(N_Vector u, N_Vector f, SUNMatrix jac, void *problem, N_Vector t1,
                              N_Vector t2);
WG_API int wg_kinsol_times(N_Vector v, N_Vector jv, N_Vector u, int *new_u, void *problem);

WG_END_DECLS

#endif
