/* SPDX-License-Identifier: MIT */
/* residuals.h - a function that hands what takes long at a point on to its adjoint, which then
 * does not compute it again. Internal.
 *
 *     forward    the function, and one more output: the residuals, values and slopes of the
 *                functions it calls
 *     backward   its vjp, and one more input: the residuals, in the same order */
#ifndef WGI_TAPE_FUNCTION_MAKE_RESIDUALS_H
#define WGI_TAPE_FUNCTION_MAKE_RESIDUALS_H

#include "tape/function/graph/graph.h"

/* Makes both, from f and its vjp; neither where there are no residuals. */
wg_status wgi_residuals_new(wg_tape *t, const wg_function *f, const wg_function *vjp,
                            wg_function **forward, wg_function **backward);

#endif
