/* SPDX-License-Identifier: MIT */
/* ode_event.h - what solutions with events have beside those without. Internal. */
#ifndef WGI_TAPE_SIMULATE_ODE_EVENT_H
#define WGI_TAPE_SIMULATE_ODE_EVENT_H

#include "ode.h"

/* Does the step that was just done, from r->y to r->next, have an event? Then it ends there:
 * sets event, theta and until of its record, and r->next to the states after the jump. */
wg_status wgi_ode_event_find(wgi_ode_run *r, wgi_ode_record *record);
/* u = the states at a part of a step that began at y. */
void wgi_ode_interpolate(const wgi_ode_run *r, const wgi_ode_record *record, double theta,
                         const double *y, double *u);
/* How the states there change with theta, and the product of that with bar. */
double wgi_ode_rate(const wgi_ode_run *r, const wgi_ode_record *record, double theta,
                    const double *bar, double *rate);
/* Of a step with an event: a->bar, the adjoint of the states after it, becomes that of the
 * states before it at a fixed part of the step; adds what the time of the event adds to that of
 * the parameters, and to that of the time at which the step begins. */
wg_status wgi_ode_event_adjoint_of(wgi_ode_adjoint *a, const wgi_ode_record *record);

#endif
