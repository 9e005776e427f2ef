/* SPDX-License-Identifier: MIT */
/* point.h - an operand as a constant of the point that is recorded, for what is decided there
 * and has no derivative: an order, a scaling. */
#ifndef WGI_OPS_MATRIX_POINT_H
#define WGI_OPS_MATRIX_POINT_H

#include "tape/engine/tape.h"

#include <wengert/block.h>

/* May the values of a be read? Where they may not, an operation on a says why. */
static inline int wgi_is_readable(const wg_tape *t, const wg_mat *a) {
    return t != NULL && a->value != NULL && wg_tape_status(t) == WG_OK &&
           !wgi_mat_stale(wgi_core_of_const(t), a);
}

/* a without its slots; as it is where it cannot be read. */
static inline wg_mat wgi_at_the_point(const wg_tape *t, wg_mat a) {
    if (wgi_is_readable(t, &a)) a.at.slot = 0;
    return a;
}

#endif
