/* SPDX-License-Identifier: MIT */
/* traits.h - what an operation of the library's own says about itself beside its wg_block_op:
 * on which elements of its operands the results depend, and how it becomes a part of a
 * function. Sparsity patterns are found from it, beside WG_OP_EACH and WG_OP_MOVES.
 * Internal. */
#ifndef WGI_OPS_MATRIX_TRAITS_H
#define WGI_OPS_MATRIX_TRAITS_H

#include <stdint.h>

#include <wengert/operation.h>
#include <wengert/sparse.h>
#include "call.h"
#include "tape/engine/touched.h"

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

/* Of a map over points: how many elements of every operand belong to each point; 0: the operand
 * is shared by all. */
enum { WGI_TRAIT_OPERANDS = 16 };
typedef struct wgi_by_point {
    size_t points, in[WGI_TRAIT_OPERANDS];
    unsigned passive; /* bit i: operand i is not differentiated */
} wgi_by_point;

struct wgi_block;
struct wgi_curves;
struct wgi_graph;
struct wgi_sets;

/* Every member may be NULL: the operation has nothing of that kind to say.
 * touched      what the engine reads, and so the first
 * parts        rows, columns or elements of the operands; *p stands at one matrix, all of every
 *              operand, not linear in any pair
 * inner        the result is the sum of products of the elements of two operands, each with that
 *              of the same place
 * scatter      element k of the second operand is added to element index[k] of the first, n of them
 * pattern      of a sparse product S X or S^T X, operands the values of S and X; vector: X is a row
 *              or a column
 * by_point     of a map
 * row          each element of the result is this scalar operation of those at the same place
 * row_given    the same of one whose address is the params
 * bilinear     bit i: operand i stands in a product with another of these, or with itself; what
 *              vjp gives of them is linear in the adjoints of the result and in these operands,
 *              and it reads nothing else. In operands without their bit the results are linear
 * apart        its adjoint does not look at the tangents of the results
 * sets         the sets y of the results, from those of all slots. 0: it does not know
 * curves       connects what it is not linear in
 * hash         a number with everything in it that sets and curves depend on
 * whole        the operation that a function keeps as one node in its place, at the same operands;
 *              whole_result: which of its results is the first here
 * own          the numbers of a node are functions of the user's, and what goes to them: it stands in no
 *              file and no text, and they are called at points only
 * slope        of a node of one number: the numbers of the one that is its slope. 0: it is not known
 * flatten      its nodes in the graph of a function: x of all operands, matrix after matrix and
 *              column after column; y likewise of all results */
typedef struct wgi_traits {
    wgi_touched touched;
    void (*parts)(const void *params, wgi_parts *p);
    int inner;
    const size_t *(*scatter)(const void *params, size_t *n);
    const wg_csr *(*pattern)(const void *params, int *trans, int *vector);
    void (*by_point)(const struct wgi_block *b, wgi_by_point *p);
    const wg_scalar_op *row;
    int row_given;
    unsigned bilinear;
    int apart;
    int (*sets)(struct wgi_sets *k, const struct wgi_block *b, const uint32_t *of, uint32_t *y);
    void (*curves)(struct wgi_curves *q, const struct wgi_block *b);
    uint64_t (*hash)(const struct wgi_block *b, uint64_t h);
    const struct wgi_whole *whole;
    unsigned whole_result;
    int own;
    int (*slope)(const double *number, double *to);
    wg_status (*flatten)(struct wgi_graph *g, const struct wgi_block *b, const uint32_t *x,
                         uint32_t *y);
} wgi_traits;

/* What an operation says; of one that says nothing: nothing. */
static inline wgi_traits wgi_traits_of(const wg_block_op *op) {
    return op->traits != NULL ? *op->traits : (wgi_traits){.parts = NULL};
}

/* NULL: there is none. */
static inline const wg_scalar_op *wgi_row_of(const wg_block_op *op, const void *params) {
    const wgi_traits t = wgi_traits_of(op);
    return t.row_given ? *(const wg_scalar_op *const *)params : t.row;
}

/* 0: unknown. */
static inline int wgi_parts_of(const wg_block_op *op, const void *params, wgi_parts *p) {
    if (wgi_traits_of(op).parts == NULL) return 0;
    *p = (wgi_parts){.count = 1};
    for (int k = 0; k < WGI_PART_OPERANDS; k++) p->near[k] = UINT16_MAX;
    op->traits->parts(params, p);
    return 1;
}

#endif
