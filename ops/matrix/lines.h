/* SPDX-License-Identifier: MIT */
/* lines.h - operations along lines: a line is a column, a row, or all elements. Internal.
 *
 * Letters: n elements x of a line in `pieces` runs of `len`, result y (a number, or n of them),
 * w its adjoint or tangent, g the slope dy/dx. An operation is functions of one line; lines.c
 * goes over the lines of a matrix. */
#ifndef WGI_OPS_MATRIX_LINES_H
#define WGI_OPS_MATRIX_LINES_H

#include <wengert/reduce.h>

#include "ops/scalar/elementwise.h"
#include "expand.h"
#include "traits.h"

typedef struct wgi_line_params {
    wg_axis axis;
    double p; /* of the norm; ddof; eps */
    const size_t *label;
} wgi_line_params;

typedef struct wgi_line {
    const struct wgi_line_op *op;
    const wgi_line_params *p;
    const wgi_simd *simd;
    size_t n, pieces, len;
    size_t number; /* of the line */
    /* operands of that shape: run k begins at x[] + k stride[]; bar: adjoint, tangent, NULL */
    double *x[2], *bar[2];
    size_t stride[2], bar_stride[2];
    double *y, *w; /* in the order of the line */
    double *saved;
    double *vector[2], *vector_bar[2]; /* operands as long as a line */
} wgi_line;

/* A line of variables. */
typedef struct wgi_written {
    const wgi_line_params *p;
    size_t n, number;
    const wg_real *x[2], *vector[2];
    wg_real *y, *room; /* room of n */
} wgi_written;

typedef struct wgi_line_op {
    int operands;        /* of the shape of the first */
    int vectors;         /* as long as a line */
    int full;            /* the result has the shape of the first operand */
    size_t keep, keep_n; /* residuals per line: keep + keep_n n */
    void (*value)(const wgi_line *l);
    /* of short lines next to each other: all that l points at is as long as a line, and that of
     * the next line is behind it (y of numbers: the next number); NULL: one after the other */
    void (*values)(const wgi_line *l, size_t lines);
    void (*vjp)(const wgi_line *l);
    void (*jvp)(const wgi_line *l);
    /* g of elements at .. at + m of the line; for vjp and jvp of results that are numbers */
    void (*slope)(const wgi_line *l, size_t at, size_t m, const double *x, double *g);
    void (*expand)(wg_tape *t, const wgi_written *l);
} wgi_line_op;

/* ---- lines of a matrix ---- */

static inline size_t wgi_line_length(const wg_block_arg *a, wg_axis axis) {
    return axis == WG_ALL ? a->rows * a->cols : axis == WG_EACH_COL ? a->rows : a->cols;
}

static inline size_t wgi_line_count(const wg_block_arg *a, wg_axis axis) {
    return axis == WG_ALL ? 1 : axis == WG_EACH_COL ? a->cols : a->rows;
}

enum { WGI_LINE_VALUE, WGI_LINE_VJP, WGI_LINE_JVP };
/* Up to so many elements a line is short, and up to so many lines are given to `values`. */
enum { WGI_LINE_SHORT = 32, WGI_LINES_TOGETHER = 32 };
wg_status wgi_line_shape(wg_block *b, const wgi_line_op *op);
/* All lines: values, adjoints or tangents. */
wg_status wgi_line_run(wg_block *b, const wgi_line_op *op, int what);
/* All lines as variables: expand of wg_block_op. */
wg_status wgi_line_write(wg_tape *t, const wg_block *b, const wgi_line_op *op, const wg_real *x,
                         wg_real *y);

/* ---- of one line ---- */

/* The runs of a line, and what is at the same place of operand k. */
#define WGI_RUNS(l, r) for (size_t r = 0; r < (l)->pieces; r++)
static inline double *wgi_line_of(const wgi_line *l, int k, size_t r) {
    return l->x[k] + r * l->stride[k];
}
static inline double *wgi_line_bar(const wgi_line *l, int k, size_t r) {
    return l->bar[k] + r * l->bar_stride[k];
}
/* A run's first element in results, which have no gaps. */
static inline size_t wgi_line_start(const wgi_line *l, size_t r) { return r * l->len; }

/* Sum of products, each 0 where a factor is. */
double wgi_line_inner(const wgi_simd *simd, size_t n, const double *x, const double *y);
/* The largest element, or a NaN; how many are y. */
double wgi_line_top(const wgi_line *l);
double wgi_line_ties(const wgi_line *l, double y);
/* Of results that are numbers: vjp and jvp from the slope. */
void wgi_line_slope_vjp(const wgi_line *l);
void wgi_line_slope_jvp(const wgi_line *l);

/* ---- descriptors ---- */

/* The flag of operations whose params are wgi_line_params. */
extern const wgi_traits wgi_line_traits;

/* What a shape is checked for beside: that no line is without elements; nothing. */
wg_status wgi_line_no_elements(wg_block *b);
static inline wg_status wgi_line_anything(wg_block *b) {
    (void)b;
    return WG_OK;
}

/* Operations that look at elements in no order take transposed operands. */
#define WGI_LINE_OP(name, flags, operands, vectors, full, keep, keep_n, vjp, jvp, slope,       \
                    adjoint, check)                                                            \
    WGI_LINES_OP(name, flags, operands, vectors, full, keep, keep_n, NULL, vjp, jvp, slope,    \
                 adjoint, check)
#define WGI_LINES_OP(name, flags, operands, vectors, full, keep, keep_n, values, vjp, jvp,     \
                     slope, adjoint, check)                                                    \
    static const wgi_line_op name##_lines = {operands, vectors,      full,         keep,       \
                                             keep_n,   name##_value, values,       vjp,        \
                                             jvp,      slope,        name##_expand};           \
    static wg_status name##_shape(wg_block *b) {                                               \
        const wg_status s = wgi_line_shape(b, &name##_lines);                                  \
        return s == WG_OK ? check(b) : s;                                                      \
    }                                                                                          \
    static wg_status name##_run_value(wg_block *b) {                                           \
        return wgi_line_run(b, &name##_lines, WGI_LINE_VALUE);                                 \
    }                                                                                          \
    static wg_status name##_run_vjp(wg_block *b) {                                             \
        return wgi_line_run(b, &name##_lines, WGI_LINE_VJP);                                   \
    }                                                                                          \
    static wg_status name##_run_jvp(wg_block *b) {                                             \
        return wgi_line_run(b, &name##_lines, WGI_LINE_JVP);                                   \
    }                                                                                          \
    static wg_status name##_write(wg_tape *t, const wg_block *b, const wg_real *x,             \
                                  wg_real *y) {                                                \
        return wgi_line_write(t, b, &name##_lines, x, y);                                      \
    }                                                                                          \
    WGI_LINE_CALL(name, "wg_mat_" #name, name, adjoint, flags)
/* Operation `name`, for a public call of its own. */
#define WGI_LINE_CALL(id, called, name, adjoint, flags)                                        \
    static const wg_block_op op_##id = {                                                       \
        called,          WG_OP_ZERO_RULE | (flags) | WG_OP_EXPANDS,                            \
        name##_shape,    name##_run_value,                                                     \
        name##_run_vjp,  name##_run_jvp,                                                       \
        name##_write,    adjoint,                                                              \
        &wgi_line_traits}
#define WGI_LINE_NUMBER(name, more, keep, keep_n, vjp, jvp, slope, adjoint, check)             \
    WGI_LINE_OP(name, WG_OP_TRANS | (more), 1, 0, 0, keep, keep_n, vjp, jvp, slope, adjoint,   \
                check);                                                                        \
    WGI_LINE_CALL(name##_axis, "wg_mat_" #name "_axis", name, adjoint, WG_OP_TRANS | (more))

/* ---- adjoints in operations on matrices: of lines that are columns ---- */

static inline wg_axis wgi_line_axis(const wg_block *b) {
    return ((const wgi_line_params *)b->params)->axis;
}
/* An operand, or what has its shape, with its lines as columns; results that are numbers as
 * a row. */
wg_mat wgi_line_columns(wg_tape *t, wg_mat a, wg_axis axis);
wg_mat wgi_line_numbers(wg_mat y, wg_axis axis);
/* Columns in the shape of the operand again. */
wg_mat wgi_line_uncolumned(wg_tape *t, wg_mat columns, const wg_mat *like, wg_axis axis);
/* a with other values, element (i, j) at value[i + j ld], and the tangents that it has: where
 * what was kept is more accurate, or a constant of the point. */
static inline wg_mat wgi_line_valued(wg_mat a, const double *value, size_t ld) {
    if (a.ld == ld && !a.trans) a.value = value;
    return a;
}
/* Residual k of each line, `step` of them, as a row. */
wg_mat wgi_line_residual(wg_tape *t, const wg_block *b, size_t count, size_t k, size_t step);

/* Puts an operation on the tape. Inline: a matrix is returned in memory. */
static inline wg_mat wgi_line_apply(wg_tape *t, const wg_block_op *op, wg_axis axis, double p,
                                    const size_t *label, size_t inputs, const wg_mat *in) {
    const wgi_line_params params = {axis, p, label};
    wg_mat y = wg_mat_failed(0, 0);
    (void)wg_apply(t, op, &params, sizeof params, inputs, in, 1, &y);
    return y;
}

/* Public functions: of all elements and of lines; with a parameter; of lines only. */
#define WGI_REDUCTION(name)                                                                    \
    wg_real wg_mat_##name(wg_tape *t, wg_mat a) {                                              \
        return wg_mat_at(wgi_line_apply(t, &op_##name, WG_ALL, 0, NULL, 1, &a), 0, 0);         \
    }                                                                                          \
    wg_mat wg_mat_##name##_axis(wg_tape *t, wg_mat a, wg_axis axis) {                          \
        return wgi_line_apply(t, &op_##name##_axis, axis, 0, NULL, 1, &a);                     \
    }
#define WGI_REDUCTION_WITH(name, p)                                                            \
    wg_real wg_mat_##name(wg_tape *t, wg_mat a, double p) {                                    \
        return wg_mat_at(wgi_line_apply(t, &op_##name, WG_ALL, p, NULL, 1, &a), 0, 0);         \
    }                                                                                          \
    wg_mat wg_mat_##name##_axis(wg_tape *t, wg_mat a, double p, wg_axis axis) {                \
        return wgi_line_apply(t, &op_##name##_axis, axis, p, NULL, 1, &a);                     \
    }
#define WGI_ALONG(name)                                                                        \
    wg_mat wg_mat_##name(wg_tape *t, wg_mat a, wg_axis axis) {                                 \
        return wgi_line_apply(t, &op_##name, axis, 0, NULL, 1, &a);                            \
    }

#endif
