/* SPDX-License-Identifier: MIT */
/* GSL: the functions of its minimisers, root finders, fits and integrators, of a problem.
 *
 * Each call gives GSL's structure, with a wg_problem as params; it outlives what the structure
 * is given to. Strides of vectors and tda of matrices are GSL's. At a point with a NaN or an
 * infinity functions return GSL_EDOM, after any other failure GSL_EBADFUNC, and the problem
 * says why; a minimiser, whose functions return nothing, gets NaN. (GSL ends the program at
 * some errors: gsl_set_error_handler_off.) */
#ifndef WENGERT_GSL_H
#define WENGERT_GSL_H

#include <gsl/gsl_multifit_nlinear.h>
#include <gsl/gsl_multilarge_nlinear.h>
#include <gsl/gsl_multimin.h>
#include <gsl/gsl_multiroots.h>
#include <gsl/gsl_odeiv2.h>
#include <wengert/problem.h>

WG_BEGIN_DECLS

/* wg_gsl_multimin  - f, df, fdf of a problem with one output.
 * wg_gsl_multiroot - f, df, fdf of as many outputs as inputs.
 * wg_gsl_multifit  - f, df, fvv: outputs are residuals. fvv is asked for by the accelerated
 * methods.
 * wg_gsl_multilarge - the same with J u, J' u and J' J, which is summed up from a sparse
 *                    Jacobian: it is never whole. fvv as above.
 * p NULL or of other sizes: functions return GSL_EBADFUNC. */
WG_API gsl_multimin_function_fdf wg_gsl_multimin(wg_problem *p);
WG_API gsl_multiroot_function_fdf wg_gsl_multiroot(wg_problem *p);
WG_API gsl_multifit_nlinear_fdf wg_gsl_multifit(wg_problem *p);
WG_API gsl_multilarge_nlinear_fdf wg_gsl_multilarge(wg_problem *p);

/* wg_gsl_odeiv2 - y' = f(t, y): inputs t and y, in groups of 1 and n, n outputs:
 *
 *     wg_computation c = {.n = 1 + n, .m = n, .callback = f, .groups = 2, .group = (size_t[]){1, n}};
 *
 * with the Jacobian, dfdy row by row and dfdt, of the implicit steppers. */
WG_API gsl_odeiv2_system wg_gsl_odeiv2(wg_problem *p);

WG_END_DECLS

#endif
