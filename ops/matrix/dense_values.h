/* SPDX-License-Identifier: MIT */
/* dense_values.h - products, solves and factorisations of whole matrices in plain arrays: what
 * a function does in one node. dense.def says which there are. Internal. */
#ifndef WGI_OPS_MATRIX_DENSE_VALUES_H
#define WGI_OPS_MATRIX_DENSE_VALUES_H

#include <stddef.h>

#include <wengert/block.h>

#define DENSE(NAME, ...) WGI_DENSE_##NAME,
typedef enum {
#include "dense.def"
    WGI_DENSE_KINDS
} wgi_dense_kind;
#undef DENSE

/* Flags and what is beside whole matrices in a workspace, as in dense.def. */
enum { WGI_DENSE_RULE = 1, WGI_DENSE_TURNED = 2 };
enum { WGI_DENSE_NOTHING, WGI_DENSE_BLOCK, WGI_DENSE_PIVOTS };

/* What of a row is the same for all sizes. */
typedef struct wgi_dense_row {
    const char *word;
    unsigned char sizes, flags, matrices, beside;
} wgi_dense_row;
extern const wgi_dense_row wgi_dense_rows[WGI_DENSE_KINDS];

typedef struct wgi_dense_op {
    unsigned kind, flags;
    size_t size[3];
} wgi_dense_op;

static inline size_t wgi_dense_triangle(size_t n) { return n * (n + 1) / 2; }
/* The index of element (i, j), i >= j, of a lower triangle of order n. */
static inline size_t wgi_dense_packed(size_t n, size_t i, size_t j) {
    return j * n - j * (j + 1) / 2 + i;
}

/* Up to so many scalar operations are written out instead. */
enum { WGI_DENSE_LEAST = 2048 };
/* Scalar operations, about; as many as there can be where they overflow. */
size_t wgi_dense_flops(const wgi_dense_op *op);

/* Has it no results, or are they numbers: products over nothing, factors of order 0? */
int wgi_dense_is_empty(const wgi_dense_op *op);
/* These numbers: the determinant of a matrix of order 0 is 1. */
static inline double wgi_dense_of_nothing(const wgi_dense_op *op) {
    return op->kind == WGI_DENSE_LU || op->kind == WGI_DENSE_DET;
}
/* Is it a product of so little that it is done by loops? */
int wgi_dense_is_few(const wgi_dense_op *op);

size_t wgi_dense_operands(const wgi_dense_op *op);
size_t wgi_dense_results(const wgi_dense_op *op);
size_t wgi_dense_work(const wgi_dense_op *op); /* bytes */
/* work: 64-byte aligned. */
void wgi_dense_value(const wgi_dense_op *op, const double *x, double *y, void *work);

/* The same as an operation of a tape, which only becomes a part of a function: params are a
 * wgi_dense_op, operands a column, results a column. */
extern const wg_block_op wgi_op_dense;

/* LAPACK's L in the lower triangle of l, the adjoint of L in that of w: this becomes that of
 * the elements of A, one for both. Columns are taken in blocks; work: so many doubles. */
enum { WGI_CHOLESKY_BLOCK = 32 };
size_t wgi_cholesky_bar_room(void);
void wgi_cholesky_bar(size_t n, const double *l, double *w, double *work);

#endif
