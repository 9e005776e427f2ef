/* SPDX-License-Identifier: MIT */
/* Sparse matrices with a constant pattern and active values.
 *
 * The pattern is compressed sparse row (CSR), the values are an ordinary matrix variable,
 * nnz-by-1, in the order of the pattern. Derivatives with respect to the values have that
 * pattern as well: nothing is ever dense. In a wg_function a solve has the order
 * of rows and columns of the recorded point; where that does not serve: WG_EGUARD. */
#ifndef WENGERT_SPARSE_H
#define WENGERT_SPARSE_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* A pattern, made by wg_csr_pattern: entries start[i] .. start[i + 1] - 1 are of row i, entry k
 * in column col[k]. Lives on its tape until a reset, or a rewind to before it: then whatever
 * takes it refuses it, also where something else was recorded since. */
typedef struct wg_csr {
    size_t rows, cols, nnz;
    const size_t *start;
    const uint32_t *col;
    wg_mark made; /* the tape behind it: is it still there? */
} wg_csr;

/* wg_csr_pattern - a pattern, checked and copied to the tape. Columns of a row may be in any
 * order; entries that name the same element add up.
 * Shapes:  start of rows + 1, not decreasing, from 0; col of start[rows], each below cols.
 * Errors:  WG_ENULL, WG_ESHAPE, WG_EARG, WG_ENOMEM, WG_EBUDGET, kept by the tape; the
 *          operations then refuse the pattern. */
WG_API wg_csr wg_csr_pattern(wg_tape *t, size_t rows, size_t cols, const size_t *start,
                             const size_t *col);

/* wg_spmm - op(S) X for the sparse matrix S of a pattern and values; 'T': S^T X.
 * wg_spmv - the same for a vector x (one column or one row), the result one column.
 * Shapes:  values a vector of nnz; X with the columns of op(S) as rows.
 * Adjoint: values_[k] += row i of R_ times row j of X ('N'), (i, j) being entry k;
 *          X_ += op(S)^T R_.
 * Cost:    2 nnz flops per column of X, backward twice that.
 * Errors:  WG_ENULL, WG_ESHAPE, WG_EARG (a flag), WG_ENOMEM, WG_EBUDGET, WG_ESLOTS;
 *          WG_ESTALE, also for a pattern of another tape or from before a reset. */
WG_API wg_mat wg_spmv(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat x);
WG_API wg_mat wg_spmm(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat x);

/* wg_sparse_solve - X with op(S) X = B, by sparse LU (UMFPACK).
 * wg_sparse_spd_solve - X with S X = B for a symmetric positive definite S, by sparse Cholesky
 * (CHOLMOD, simplicial, AMD); S stands for (S + S^T)/2: the pattern holds both triangles.
 * A library built without SuiteSparse refuses both with WG_EMODE.
 * Shapes:  S n-by-n; B, X n-by-k.
 * Adjoint: B_ += op(S)^-T X_ =: W;  values_[k] -= row i of W times row j of X ('N'), (i, j)
 *          being entry k;  spd: half of that, and half of it with i and j exchanged.
 * Cost:    one factorisation, for which SuiteSparse obtains memory of its own; the factors are
 *          kept by the tape and not made again in a sweep. A replay makes new ones, in the same
 *          room (a quarter larger than they were at first).
 * Errors:  WG_ENULL, WG_ESHAPE, WG_EARG (a flag), WG_ESTALE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS;
 *          WG_EMODE; WG_ESINGULAR: exactly singular, or not positive definite (info: the first
 *          such column). */
WG_API wg_mat wg_sparse_solve(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat b);
WG_API wg_mat wg_sparse_spd_solve(wg_tape *t, const wg_csr *s, wg_mat values, wg_mat b);

/* wg_sparse_spd_logdet - log det S of a symmetric positive definite S, by the same
 * factorisation.
 * Shapes:  S n-by-n; values a vector of nnz.
 * Adjoint: values_[k] += w times element (i, j) of S^-1, (i, j) being entry k: those elements
 *          of the inverse that are in the pattern of the factor are computed, no others.
 *          Source: Takahashi, Fagan and Chin 1973.
 * Second:  by tangents of these elements and of the factor; in functions by elimination,
 *          written out.
 * Cost:    one factorisation; the adjoint as many flops as two, the tangent of the adjoint as
 *          eight, and workspace of three factors. The factor is kept by the tape.
 * Errors:  as wg_sparse_spd_solve. */
WG_API wg_real wg_sparse_spd_logdet(wg_tape *t, const wg_csr *s, wg_mat values);

WG_END_DECLS

#endif
