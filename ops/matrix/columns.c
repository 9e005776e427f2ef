/* SPDX-License-Identifier: MIT */
/* Scalar and array operations on columns of as many rows as there are points: built-in scalar
 * operations have the kernels of elementwise.h, the others go row by row.
 *
 * x operands of a row, v its value, d partials, w adjoint of the result. */
#include "columns.h"

wgi_kernels wgi_column_kernels(const wg_scalar_op *op, const void **params) {
    *params = op;
    if (op < wgi_scalar_ops || op >= wgi_scalar_ops + wgi_scalar_op_count) return wgi_by_row;
    const wgi_kernels k = wgi_simd_best()->row[op - wgi_scalar_ops];
    return k.value != NULL ? k : wgi_by_row;
}

int wgi_column_saves(const wg_scalar_op *op) {
    if (op < wgi_scalar_ops || op >= wgi_scalar_ops + wgi_scalar_op_count) return 0;
    return wgi_elementwise_keeps[op - wgi_scalar_ops];
}

/* ---- an array operation, row by row. params: const wgi_array_columns * ---- */

static const double *row_of(const wgi_array_columns *a, const wg_block_arg *in, size_t i,
                            double *x) {
    for (size_t k = 0; k < a->operands; k++) x[k] = in[k].value[i];
    return x;
}

static void array_value(size_t n, const wg_block_arg *in, const wg_block_arg *out,
                        double *saved, const void *params) {
    const wgi_array_columns *const a = params;
    for (size_t i = 0; i < n; i++)
        out->value[i] = a->op->value(a->operands, row_of(a, in, i, saved), a->number);
}

static void array_vjp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                      const void *params) {
    const wgi_array_columns *const a = params;
    double *const d = saved + a->operands;
    for (size_t i = 0; i < n; i++) {
        const double w = out->bar[i];
        if (w == 0) continue;
        a->op->first(a->operands, row_of(a, in, i, saved), a->number, out->value[i], d);
        for (size_t k = 0; k < a->operands; k++)
            if (in[k].bar != NULL) in[k].bar[i] += wgi_times(w, d[k]);
    }
}

static void array_jvp(size_t n, const wg_block_arg *in, const wg_block_arg *out, double *saved,
                      const void *params) {
    const wgi_array_columns *const a = params;
    double *const d = saved + a->operands;
    for (size_t i = 0; i < n; i++) {
        double t = 0;
        a->op->first(a->operands, row_of(a, in, i, saved), a->number, out->value[i], d);
        for (size_t k = 0; k < a->operands; k++)
            if (in[k].bar != NULL) t += wgi_times(in[k].bar[i], d[k]);
        out->bar[i] = t;
    }
}

const wgi_kernels wgi_array_column_kernels = {array_value, array_vjp, array_jvp};
