/* SPDX-License-Identifier: MIT */
/* dense_values.h - products, solves and factorisations of whole matrices in plain arrays: what
 * a function does in one node. Internal.
 *
 * Matrices stand one after the other, column after column, of lower triangles (tri) only those.
 * Transposes, upper triangles and solves from the right are the same with the elements in
 * another order.
 *
 *     kind      size     operands                     results
 *     PRODUCT   m n k    A m k,  B k n                A B
 *     TRIANGLE  n k      L tri n,  B n k              L^-1 B
 *     CHOLESKY  n        A tri n                      L tri n, A = L L'
 *     POTRF_BAR n        L tri n,  W tri n            adjoint of A from that of L, W
 *     LU        n        A n n                        packed LU n n, pivots n, their sign 1
 *     SOLVE     n k      LU n n, pivots n, A n n, B   A^-1 B, or A'^-1 B
 *     LOGDET    n        LU n n, pivots n, A n n      log |det A|
 *
 * The latter two are done from LU: A is not read.
 * Off the diagonal an element of a triangle stands for both: POTRF_BAR gives its derivative.
 * What cannot be done, of a singular matrix or one that is not positive definite, is NaN. */
#ifndef WENGERT_OPS_DENSE_VALUES_H
#define WENGERT_OPS_DENSE_VALUES_H

#include <stddef.h>

#include <wengert/block.h>

typedef enum {
    WGI_DENSE_PRODUCT,
    WGI_DENSE_TRIANGLE,
    WGI_DENSE_CHOLESKY,
    WGI_DENSE_POTRF_BAR,
    WGI_DENSE_LU,
    WGI_DENSE_SOLVE,
    WGI_DENSE_LOGDET,
    WGI_DENSE_KINDS
} wgi_dense_kind;

/* RULE: an adjoint or tangent is among the operands: all results are 0 where the last operand
 * is, and of a product where either is. TURNED: a SOLVE with A'. */
enum { WGI_DENSE_RULE = 1, WGI_DENSE_TURNED = 2 };

typedef struct wgi_dense_op {
    unsigned kind, flags;
    size_t size[3];
} wgi_dense_op;

static inline size_t wgi_dense_triangle(size_t n) { return n * (n + 1) / 2; }
/* The place of element (i, j), i >= j, of a lower triangle of order n. */
static inline size_t wgi_dense_place(size_t n, size_t i, size_t j) {
    return j * n - j * (j + 1) / 2 + i;
}

/* Up to so many scalar operations are written out instead. */
enum { WGI_DENSE_LEAST = 2048 };
/* Scalar operations, about; as many as there can be where they overflow. */
size_t wgi_dense_flops(const wgi_dense_op *op);

/* Has it no results, or are they numbers: products over nothing, factors of order 0? */
int wgi_dense_is_empty(const wgi_dense_op *op);
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
 * the elements of A, one for both. Columns are taken in blocks; work: so many doubles.
 * (factor.c) */
enum { WGI_CHOLESKY_BLOCK = 32 };
size_t wgi_cholesky_bar_room(void);
void wgi_cholesky_bar(size_t n, const double *l, double *w, double *work);

#endif
