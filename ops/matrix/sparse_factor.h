/* SPDX-License-Identifier: MIT */
/* sparse_factor.h - sparse matrices factored by SuiteSparse, and what is done with the factors.
 * Internal. */
#ifndef WGI_OPS_MATRIX_SPARSE_FACTOR_H
#define WGI_OPS_MATRIX_SPARSE_FACTOR_H

#include "sparse_pattern.h"

/* Factors, in memory of the tape. LU: L U = P R S Q, L by rows with its unit diagonal last, U
 * by columns with the diagonal last. Cholesky: L L^T = P S P^T, L by columns with the diagonal
 * first; no U, Q, R. */
typedef struct wgi_sparse_factors {
    int spd, fresh; /* fresh: made for the recording, not used yet */
    size_t n, l_room, u_room;
    int *lp, *li, *up, *ui, *p, *q;
    double *lx, *ux, *r;
} wgi_sparse_factors;

/* Params of an operation on a sparse matrix, operand 0 its values. */
typedef struct wgi_sparse_solving {
    wg_csr s;
    int trans, spd;
    wg_status status;
    const char *why;
    wgi_sparse_factors *factors;
    struct wgi_sparse_handle *handle; /* of a factorisation: where to put it */
} wgi_sparse_solving;
static inline const wgi_sparse_solving *wgi_sparse_solving_of(const wg_block *b) {
    return (const wgi_sparse_solving *)b->params;
}

wgi_sparse_solving wgi_sparse_system(const wg_tape *t, int spd, char trans, const wg_csr *s);

/* Factors the values, operand 0, before what uses the factors is recorded, and puts them
 * into p. */
typedef enum { WGI_SPARSE_SOLVE, WGI_SPARSE_SPD_SOLVE, WGI_SPARSE_SPD_LOGDET } wgi_sparse_user;
wg_status wgi_sparse_factor(wg_tape *t, wgi_sparse_user user, wgi_sparse_solving *p,
                            size_t inputs, const wg_mat *in);
/* shape: is operand 0 the values of a square matrix, and has operand 1, if there is one, its
 * rows? Sets the workspace that _again wants. */
wg_status wgi_sparse_factor_shape(wg_block *b);
/* value: new factors, unless those there are fresh. */
wg_status wgi_sparse_factor_again(wg_block *b);

/* In scalar statements, in the order of the recorded factors. */
wg_status wgi_sparse_solve_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y);
wg_status wgi_sparse_logdet_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y);

#endif
