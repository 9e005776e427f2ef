/* SPDX-License-Identifier: MIT */
/* structure.h - which elements of their operands the results of some operations depend on: what
 * sparsity patterns are found from, beside WG_OP_EACH and WG_OP_MOVES. Internal. */
#ifndef WENGERT_OPS_STRUCTURE_H
#define WENGERT_OPS_STRUCTURE_H

#include <wengert/sparse.h>

/* Is the result the sum of products of the elements of two operands, each with that of the same
 * place? */
int wgi_is_inner_product(const wg_block_op *op);

/* Where a sum of elements goes: element k of the second operand is added to element index[k] of the
 * first. NULL: the operation is no such sum. */
const size_t *wgi_scatter_indices(const wg_block_op *op, const void *params, size_t *n);

/* The pattern of a sparse product S X or S^T X, operands the values of S and X; vector: X is a
 * row or a column. NULL: the operation is none. */
const wg_csr *wgi_spmm_pattern(const wg_block_op *op, const void *params, int *trans,
                               int *vector);

#endif
