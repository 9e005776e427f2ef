/* SPDX-License-Identifier: MIT */
/* columns.h - scalar and array operations on columns: one element per point. Internal. */
#ifndef WGI_OPS_MATRIX_COLUMNS_H
#define WGI_OPS_MATRIX_COLUMNS_H

#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"

#include <wengert/operation.h>

/* The kernels of a scalar operation, and with which params they are called. Built-in ones run
 * in SIMD lanes. */
wgi_kernels wgi_column_kernels(const wg_scalar_op *op, const void **params);
/* Do they keep a column for the derivative? */
int wgi_column_saves(const wg_scalar_op *op);

/* An array operation. saved: room for 2 doubles per operand, whatever the number of rows. */
typedef struct wgi_array_columns {
    const wgi_array_op *op;
    size_t operands;
    const double *number; /* of the operation */
} wgi_array_columns;
extern const wgi_kernels wgi_array_column_kernels;

#endif
