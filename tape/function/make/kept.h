/* SPDX-License-Identifier: MIT */
/* kept.h - a function that hands on what takes long at a point, and its adjoint, which is not
 * to compute that again. Internal.
 *
 *     keeping   the function, and one more output, "kept": values and slopes of functions
 *     kept      the vjp, and one more input: those, in the same order */
#ifndef WENGERT_TAPE_FUNCTION_KEPT_H
#define WENGERT_TAPE_FUNCTION_KEPT_H

#include "tape/function/graph/graph.h"

/* Both, of f and its vjp; neither of them where there is nothing of that kind. */
wg_status wgi_kept_new(wg_tape *t, const wg_function *f, const wg_function *vjp,
                       wg_function **keeping, wg_function **kept);

#endif
