/* SPDX-License-Identifier: MIT */
/* structure.h - which elements of their operands the results of some operations depend on: what
 * sparsity patterns are found from, beside WG_OP_EACH and WG_OP_MOVES. Internal. */
#ifndef WENGERT_OPS_STRUCTURE_H
#define WENGERT_OPS_STRUCTURE_H

#include <stdint.h>

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

/* What element (i, j) of the result depends on of an operand: all of it, row i, column j, or
 * element (i, j). Where the result is a batch of matrices side by side, i and j count in one of
 * them, and operands are their matrices for that one. */
typedef enum { WGI_ALL_OF_IT, WGI_ITS_ROW, WGI_ITS_COLUMN, WGI_ITS_ELEMENT } wgi_part;

enum { WGI_PART_OPERANDS = 5 };
typedef struct wgi_parts {
    size_t count; /* matrices of the batch */
    /* bit k: operand k is taken as a column; it is transposed after that */
    unsigned column, turned;
    wgi_part part[WGI_PART_OPERANDS];
    /* bit l of near[k]: the result is not linear in operands k and l */
    uint16_t near[WGI_PART_OPERANDS];
    /* is it the sum of products of an element of operand 0's row with that at the same place of
     * operand 1's column, and linear in all else? */
    int product;
} wgi_parts;

/* Of reductions and other operations along lines, products, solves and batches. 0: unknown. */
int wgi_parts_of(const wg_block_op *op, const void *params, wgi_parts *p);
/* By the files of these operations; p is all of every operand of one matrix, near everything. */
int wgi_line_parts(const wg_block_op *op, const void *params, wgi_parts *p);
int wgi_product_parts(const wg_block_op *op, const void *params, wgi_parts *p);
int wgi_solve_parts(const wg_block_op *op, const void *params, wgi_parts *p);
int wgi_factor_parts(const wg_block_op *op, const void *params, wgi_parts *p);

#endif
