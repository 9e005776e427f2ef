/* SPDX-License-Identifier: MIT */
/* factor.h - the packed factor of a matrix, as the operations that take it find it.
 *
 * An operation on a factored matrix has the matrix A as operand 0 and these params. With
 * `packed` they are of a wg_factor, filled already, and the last operand is the wg_factor's
 * place on the tape. Without, the operation factors A itself and keeps the factor in `saved`.
 *
 * What is factored is A as it stands in memory: S = A, or S = A' for a transposed view.
 *     LU: P S = L U, pivots as dgetrf gives them.  Cholesky: S = L L', the lower triangle. */
#ifndef WGI_OPS_MATRIX_FACTOR_H
#define WGI_OPS_MATRIX_FACTOR_H

#include <wengert/solve.h>
#include "dense.h"

typedef struct wgi_factored {
    wg_factor_kind kind;
    unsigned trans; /* of a solve: A' instead of A */
    size_t count;   /* members of the batch */
    double *packed;
    int *pivot;
} wgi_factored;

static inline const wgi_factored *wgi_factored_of(const wg_block *b) {
    return (const wgi_factored *)b->params;
}

static inline size_t wgi_factor_bytes(wg_factor_kind kind, size_t n) {
    return wgi_room_of(n * n) + (kind == WG_LU ? wgi_rounded(n * sizeof(int)) : 0);
}

/* The factor of member k. */
static inline double *wgi_packed(const wg_block *b, size_t k) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    char *const first = p->packed != NULL ? (char *)p->packed : (char *)b->saved;
    return (double *)(void *)(first + k * wgi_factor_bytes(p->kind, n));
}
static inline int *wgi_pivots(const wg_block *b, size_t k) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    if (p->packed != NULL && p->pivot == NULL) return NULL; /* Cholesky */
    if (p->packed != NULL)
        return (int *)(void *)((char *)p->pivot + k * wgi_factor_bytes(p->kind, n));
    return (int *)(void *)((char *)wgi_packed(b, k) + wgi_room_of(n * n));
}

/* Params of another operation on the matrix of a block, with the factor that it has. They go
 * without a place on the tape, which is there as long as the block is. */
wgi_factored wgi_factored_again(const wg_block *b, unsigned trans);
extern const wg_block_op wgi_op_factor_solve, wgi_op_factor_inverse;

/* The place of a wg_factor on the tape, as an operand: a stale one if the factor is gone. */
wg_mat wgi_factor_operand(const wg_tape *t, const wg_factor *f);

/* shape: operand 0 has to be `count` square matrices; saved_bytes. */
wg_status wgi_factor_shape(wg_block *b);
/* value: factors the members, unless they come factored. */
wg_status wgi_factor_make(wg_block *b);
/* Factors member k, wherever its factor belongs; gives LAPACK's info. */
int wgi_factor_one(const wg_block *b, size_t k);

/* g = S^-1, of order n, from its factor; Cholesky: the lower triangle. work: wgi_inverse_room.
 */
size_t wgi_inverse_room(wg_factor_kind kind, size_t n);
void wgi_inverse(wg_factor_kind kind, size_t n, const double *packed, const int *pivot,
                 double *g, double *work);

/* Is there a NaN in what is read of member k of a batch, of the lower triangle only? */
int wgi_factor_is_nan(const wg_block *b, size_t k, int lower);
/* The sign of the determinant: 0 for a zero on the diagonal of U. */
double wgi_lu_sign(size_t n, const double *lu, const int *pivot);

/* An operation `name` of a family that does the same with a factor and with a matrix. */
#define WGI_FACTORED(name, family, traits)                                                     \
    const wg_block_op wgi_op_##name = {"wg_" #name,     WG_OP_TRANS | WG_OP_EXPANDS,           \
                                       family##_shape,  family##_value,                        \
                                       family##_vjp,    family##_jvp,                          \
                                       family##_expand, family##_adjoint,                      \
                                       traits}
/* One of them on a wg_factor: operands A and the place of the factor. */
wg_mat wgi_from_factor(wg_tape *t, const wg_block_op *op, wg_factor f);
/* One that factors for itself. */
wg_mat wgi_from_matrix(wg_tape *t, const wg_block_op *op, wg_factor_kind kind, wg_mat a);
/* The inverse of the operand A of a block, as a variable. */
wg_mat wgi_inverse_again(wg_tape *t, const wg_block *b, wg_mat a);

#endif
