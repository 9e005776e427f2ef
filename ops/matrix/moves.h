/* SPDX-License-Identifier: MIT */
/* moves.h - what the operations that move elements share: slices.c, indexed.c, concat.c,
 * triangles.c.
 *
 * Every one of them is linear with coefficients 0 and 1: the value copies, the adjoint adds
 * back along the same way, the tangent is the value of the tangents.
 *
 * Letters: x operand, y result; down, across: from one row, one column to the next. */
#ifndef WGI_OPS_MATRIX_MOVES_H
#define WGI_OPS_MATRIX_MOVES_H

#include <string.h>
#include "call.h"
#include "view.h"

/* WG_OP_EXPANDS: of vjp, which is the derivative. */
enum { WGI_MOVES = WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_MOVES | WG_OP_EXPANDS };

/* y (of the result, its columns ld apart) = x, and x += y, for a block. */
static inline void wgi_move_out(wgi_view x, double *y, size_t ld) {
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, x.p += across, y += ld) {
        if (down == 1) memcpy(y, x.p, x.rows * sizeof *y);
        else
            for (size_t i = 0; i < x.rows; i++) y[i] = x.p[i * down];
    }
}

static inline void wgi_move_back(wgi_view x, const double *y, size_t ld) {
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, x.p += across, y += ld)
        for (size_t i = 0; i < x.rows; i++) x.p[i * down] += y[i];
}

static inline int wgi_move_empty(wgi_view x) { return x.rows == 0 || x.cols == 0; }

static inline void wgi_move_clear(double *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = 0;
}

#endif
