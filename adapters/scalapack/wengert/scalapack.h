/* SPDX-License-Identifier: MIT */
/* ScaLAPACK: operations on matrices that are distributed over ranks, block by block, as records
 * of the tape. Values and adjoints are computed by ScaLAPACK, and communicated by it.
 *
 *     wg_scalapack *g = wg_scalapack_new(MPI_COMM_WORLD, 0, 0);
 *     wg_scalapack_mat a = wg_scalapack_local(t, g, n, n, 64, mine);   mine: a wg_mat, this rank's part
 *     wg_scalapack_solve_spd(t, a, b, &x, &logdet);
 *
 * The ranks are a grid. Rows and columns of a matrix are cut into blocks of `block`, and these
 * dealt to the rows and columns of the grid in turn, from the first one on: wg_scalapack_rows
 * and _cols say how many of them this rank has, wg_scalapack_row and _col which. A rank's part
 * is an ordinary matrix on the tape of that rank, made by whatever makes matrices,
 * wg_covariance_between say; what goes element by element is done there. What an operation
 * gives is distributed with the same block.
 *
 * All ranks of the grid make the same calls in the same order, and sweep together, as with
 * wengert/mpi.h: wg_mpi_reverse, or a sweep from a root on every rank. A sweep gives each rank
 * the derivative, by its own inputs, of the sum of what is seeded on all ranks; a number that
 * all ranks are given is seeded on one of them. Forward tapes, lanes and replays communicate as
 * the recording has done, and so do wg_mpi_hvp and wg_mpi_hessian, by which second derivatives
 * are computed with the calls of this header: of each operation the tangents of its adjoint,
 * for a system by two more factorisations, one of them with the right-hand sides of an inverse
 * where logdet is wanted. What sees one tape only is refused by name (WG_EMODE): functions,
 * patterns, other second derivatives, preaccumulation, steps of wg_checkpoint without
 * WG_REGION_ALWAYS.
 *
 * Errors, of all operations: WG_ENULL; WG_EARG: a flag, a block; WG_ESHAPE; WG_ENOMEM;
 * WG_ECALLBACK: MPI; those of wg_apply. They are kept by the tape, and results are NaN. Before
 * each operation, and in each sweep at it, all ranks agree by one reduction of 64 bytes: what
 * has failed on one rank, and other calls, shapes, blocks or lanes (WG_EMISMATCH), are
 * failures on all, and nobody waits. A sweep on some ranks only waits for the others. */
#ifndef WENGERT_SCALAPACK_H
#define WENGERT_SCALAPACK_H

#include <mpi.h>
#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* A grid of ranks. It lives as long as what was recorded with it. One thread at a time, as
 * of a tape. */
typedef struct wg_scalapack wg_scalapack;

/* wg_scalapack_new - by all ranks of comm, numbered along the rows of the grid.
 * Shapes:  rows times cols are the ranks of comm; 0 and 0: as nearly square as that goes.
 * NULL, on every rank: other shapes, or it could not be made on one; of MPI_COMM_NULL, of an
 * intercommunicator, before MPI_Init and after MPI_Finalize. */
WG_API wg_scalapack *wg_scalapack_new(MPI_Comm comm, int rows, int cols);
/* wg_scalapack_free - by all ranks, before MPI_Finalize; after it the grid's memory is freed,
 * and nothing else. NULL is allowed. */
WG_API void wg_scalapack_free(wg_scalapack *g);
/* wg_scalapack_message - what failed last here; never NULL. Valid until the next call. */
WG_API const char *wg_scalapack_message(const wg_scalapack *g);

/* wg_scalapack_rows, wg_scalapack_cols - how many of n rows or columns are this rank's.
 * wg_scalapack_row, wg_scalapack_col - the number, among all, of this rank's row or column i.
 * Of a grid that is NULL, or blocks of 0: 0. */
WG_API size_t wg_scalapack_rows(const wg_scalapack *g, size_t n, size_t block);
WG_API size_t wg_scalapack_cols(const wg_scalapack *g, size_t n, size_t block);
WG_API size_t wg_scalapack_row(const wg_scalapack *g, size_t i, size_t block);
WG_API size_t wg_scalapack_col(const wg_scalapack *g, size_t i, size_t block);

/* A distributed matrix: what all ranks know of it, and the part of this one. Copied freely
 * with `=`. */
typedef struct wg_scalapack_mat {
    wg_scalapack *grid;
    size_t rows, cols, block; /* of the whole */
    wg_mat local;
} wg_scalapack_mat;

/* wg_scalapack_local - a rank's part as part of the whole; no record, nothing is communicated.
 * Shapes:  local wg_scalapack_rows(g, rows, block) by wg_scalapack_cols(g, cols, block).
 * Errors:  WG_ENULL; WG_EARG: blocks of 0; WG_ESHAPE: local is another part, or there are more
 *          than INT_MAX rows or columns. Kept by the tape of this rank; the others learn of
 *          it at the next operation. */
WG_API wg_scalapack_mat wg_scalapack_local(wg_tape *t, wg_scalapack *g, size_t rows,
                                           size_t cols, size_t block, wg_mat local);

/* wg_scalapack_gemm - alpha op(A) op(B) (pdgemm); ta, tb 'N' or 'T'. A matrix C is added where
 * it stands, by wg_axpy of the parts.
 * Shapes:  op(A) m-by-k, op(B) k-by-n, result m-by-n; all of one block.
 * Adjoint: op(A)_ += alpha R_ op(B)';  op(B)_ += alpha op(A)' R_ (pdgemm).
 * Cost:    2 m n k flops over all ranks, backward twice that; nothing kept. */
WG_API wg_scalapack_mat wg_scalapack_gemm(wg_tape *t, char ta, char tb, double alpha,
                                          wg_scalapack_mat a, wg_scalapack_mat b);

/* wg_scalapack_dot - the sum over all elements of x y, given to all ranks: the same bits on
 * all.
 * Shapes:  equal.   Adjoint: x_ += r_ y;  y_ += r_ x.   Cost: a reduction of a number, each way. */
WG_API wg_real wg_scalapack_dot(wg_tape *t, wg_scalapack_mat x, wg_scalapack_mat y);

/* wg_scalapack_solve_spd - X with A X = B, and log det A, by one Cholesky factorisation
 * (pdpotrf, pdpotrs). What is NULL is not wanted; logdet is given to all ranks, the same bits
 * on all.
 * Shapes:  A n-by-n, symmetric positive definite: the lower triangle is read (matrix.h);
 *          B, X n-by-k; all of one block. Without x: b is not looked at.
 * Adjoint: with W = A^-1 X_: B_ += W, A_ += logdet_ A^-1 - sym(W X') (pdpotrs, pdsyr2k,
 *          pdpotri); both triangles have the same bits.   Source: Giles 2008, 2.3.
 * Cost:    1/3 n^3 + 2 n^2 k flops over all ranks; the adjoint 4 n^2 k, and 2/3 n^3 for logdet.
 *          The tapes keep 8 n^2 bytes together, and have room for three times that.
 * Errors:  WG_ESINGULAR on all ranks: A is not positive definite; the message has the order
 *          of the minor that is not. */
WG_API wg_status wg_scalapack_solve_spd(wg_tape *t, wg_scalapack_mat a, wg_scalapack_mat b,
                                        wg_scalapack_mat *x, wg_real *logdet);

WG_END_DECLS

#endif
