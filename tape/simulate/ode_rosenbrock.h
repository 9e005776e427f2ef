/* SPDX-License-Identifier: MIT */
/* ode_rosenbrock.h - what steps of a Rosenbrock method have beside those of explicit ones.
 * Internal. */
#ifndef WGI_TAPE_SIMULATE_ODE_ROSENBROCK_H
#define WGI_TAPE_SIMULATE_ODE_ROSENBROCK_H

#include "ode.h"

/* The Jacobian stands in r->matrix.jacobian: factors M for a step of size h, and sets f_t.
 * WG_ESINGULAR: it is. */
wg_status wgi_ode_matrix_factor(wgi_ode_matrix *m, const wgi_ode_run *r, double h);
/* Increment i of g, from those before and k = f at the stage. */
void wgi_ode_rosenbrock_stage(wgi_ode_run *r, size_t i, double h, const double *k, double *g);
/* From the adjoint of increment i: the adjoint of f at that stage, a->kbar, and what goes to
 * increments before. M is factored. */
void wgi_ode_rosenbrock_adjoint_stage(wgi_ode_adjoint *a, const wgi_ode_record *record,
                                      size_t i);
/* When all stages are done: what goes through M. */
wg_status wgi_ode_rosenbrock_adjoint_end(wgi_ode_adjoint *a, const wgi_ode_record *record);

#endif
