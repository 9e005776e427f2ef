/* SPDX-License-Identifier: MIT */
/* view.h - a matrix as a pointer, a leading dimension and a transpose flag: the values or the
 * adjoints of an operand. Element (i, j) is at p[i + j ld], transposed at p[j + i ld]. */
#ifndef WGI_OPS_MATRIX_VIEW_H
#define WGI_OPS_MATRIX_VIEW_H

#include <wengert/block.h>

typedef struct wgi_view {
    double *p;
    size_t rows, cols, ld;
    unsigned trans;
} wgi_view;

static inline wgi_view wgi_view_value(const wg_block_arg *a) {
    return (wgi_view){a->value, a->rows, a->cols, a->ld, a->trans};
}
static inline wgi_view wgi_view_bar(const wg_block_arg *a) {
    return (wgi_view){a->bar, a->rows, a->cols, a->bar_ld, a->trans};
}
/* Packed, of workspace. */
static inline wgi_view wgi_view_packed(double *p, size_t rows, size_t cols) {
    return (wgi_view){p, rows, cols, rows != 0 ? rows : 1, 0};
}
static inline wgi_view wgi_view_turn(wgi_view a, int turn) {
    if (turn) a = (wgi_view){a.p, a.cols, a.rows, a.ld, !a.trans};
    return a;
}
/* From one row, and from one column, to the next. */
static inline size_t wgi_view_down(wgi_view a) { return a.trans ? a.ld : 1; }
static inline size_t wgi_view_across(wgi_view a) { return a.trans ? 1 : a.ld; }

static inline wgi_view wgi_view_block(wgi_view a, size_t i, size_t j, size_t rows,
                                      size_t cols) {
    if (rows != 0 && cols != 0) a.p += i * wgi_view_down(a) + j * wgi_view_across(a);
    a.rows = rows, a.cols = cols;
    return a;
}

/* A vector, one row or one column, lying either way. */
static inline int wgi_is_vector(const wg_block_arg *a) { return a->rows == 1 || a->cols == 1; }
static inline size_t wgi_length(const wg_block_arg *a) { return a->rows * a->cols; }
/* As a column. */
static inline wgi_view wgi_view_column(wgi_view a) { return wgi_view_turn(a, a.cols != 1); }

#endif
