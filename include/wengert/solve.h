/* SPDX-License-Identifier: MIT */
/* Linear systems and factorisations.
 *
 * Symmetric operands (of wg_solve_spd, wg_cholesky, wg_potrf, wg_logdet_spd, wg_inverse_spd;
 * see matrix.h): the lower triangle is read; sym A is (A + A')/2. Triangular operands: one
 * triangle is read, the other has gradient 0, as has the diagonal with diag 'U'.
 *
 * Flags are one letter, as in BLAS: side 'L' 'R', uplo 'L' 'U', trans 'N' 'T', diag 'N' 'U'.
 * Batches (_batch): `count` matrices stand side by side in one. Of several, a member with a NaN
 * touches no other, and is not refused. More of them are in batch.h.
 *
 * Letters: X_ is the adjoint of X. "LU": dgetrf, partial pivoting. Every operation refuses with
 * WG_ESHAPE, WG_EARG (a flag), WG_ENOMEM, WG_ESTALE as wg_apply does; Errors below names the
 * rest. After a failure the results are NaN, and a rewind makes the tape usable again.
 *
 * Singular is what has a pivot of 0 with the pivots of LAPACK: of a square system that is
 * singular but for rounding the solution is one of a matrix that differs by rounding, and how
 * far it is off is the condition's (wg_mat_norm_column_sum of A times that of its inverse). Least
 * squares and pseudo-inverses, which jump at a lower rank, ask for the condition.
 *
 * In a wg_function every point has its own pivots, by selection or as a whole matrix; where a
 * matrix is singular, or not positive definite, results are NaN. */
#ifndef WENGERT_SOLVE_H
#define WENGERT_SOLVE_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* ---- a factorisation as an operand ------------------------------------------------------- */

typedef enum wg_factor_kind { WG_LU, WG_CHOLESKY } wg_factor_kind;

/* A matrix with its factorisation, which lives in the arena like a variable. Made once, taken
 * by any number of operations, in both sweeps; nothing is factored again. */
typedef struct wg_factor {
    wg_mat a;       /* the matrix: what the adjoints flow to */
    wg_mat sign;    /* 1 x 1: of the determinant; its derivative is 0 */
    double *packed; /* of order a.rows; NULL: what a failed call gives */
    int *pivot;     /* LU */
    wg_factor_kind kind;
    wg_mark made; /* the tape behind it: is the factor still there? */
} wg_factor;

/* wg_lu - P A = L U.   wg_potrf - A = L L' for a symmetric positive definite A.
 * Shapes:  A n-by-n.
 * Cost:    2/3 n^3 or 1/3 n^3 flops; the tape keeps 8 n^2 bytes. No adjoint of its own.
 * Errors:  WG_ESINGULAR: A is singular, or not positive definite; the message has LAPACK's
 *          info. Whatever takes a factor that a reset or rewind has forgotten: WG_ESTALE, on
 *          every tape, also where something else was recorded since. */
WG_API wg_factor wg_lu(wg_tape *t, wg_mat a);
WG_API wg_factor wg_potrf(wg_tape *t, wg_mat a);

/* wg_factor_solve - X with A X = B, or with A' X = B.
 * Shapes:  trans 'N' or 'T'; B, X n-by-k.
 * Adjoint: B_ += W, A_ -= W X' with W = A^-T X_; Cholesky: A_ -= sym(W X').
 *          Source: Giles 2008, 2.3.1.
 * Cost:    2 n^2 k flops; the adjoint twice that. */
WG_API wg_mat wg_factor_solve(wg_tape *t, wg_factor f, char trans, wg_mat b);

/* wg_factor_logdet - log |det A|.  The sign of det A is in f.sign.
 * Adjoint: A_ += w A^-T.  Source: Giles 2008, 2.3.2.
 * Cost:    n logarithms; the adjoint inverts from the factor, 4/3 n^3 flops, Cholesky
 *          2/3 n^3. */
WG_API wg_real wg_factor_logdet(wg_tape *t, wg_factor f);
/* wg_factor_det - det A.  Adjoint: A_ += w det(A) A^-T; near singular matrices as wg_det. */
WG_API wg_real wg_factor_det(wg_tape *t, wg_factor f);
/* wg_factor_inverse - C = A^-1.  Adjoint: A_ -= C' C_ C'.  Source: Giles 2008, 2.2.3.
 * Cost:    4/3 n^3 flops, the adjoint 4 n^3. */
WG_API wg_mat wg_factor_inverse(wg_tape *t, wg_factor f);

/* ---- the same from the matrix: one record ------------------------------------------------ */

/* wg_solve - X with A X = B, by LU.   wg_solve_spd - by Cholesky.   A' X = B: pass
 * wg_mat_transpose(a), a view.  wg_solve_batch, wg_solve_spd_batch - of `count` systems.
 * Shapes:  A n-by-n, B, X n-by-k; in a batch A n-by-(n count), B, X n-by-(k count).
 * Adjoint: as wg_factor_solve.
 * Cost:    2/3 n^3 (1/3 n^3) + 2 n^2 k flops, the adjoint 4 n^2 k; keeps 8 n^2 bytes.
 * Errors:  WG_ESINGULAR. */
WG_API wg_mat wg_solve(wg_tape *t, wg_mat a, wg_mat b);
WG_API wg_mat wg_solve_spd(wg_tape *t, wg_mat a, wg_mat b);
WG_API wg_mat wg_solve_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b);
WG_API wg_mat wg_solve_spd_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b);

/* wg_logabsdet - log |det A|, by LU; *sign (NULL: not wanted) is 1 or -1.
 * wg_logdet_spd - log det A, by Cholesky.
 * Adjoint, cost: as wg_factor_logdet, with the factorisation.
 * Errors:  WG_ESINGULAR. */
WG_API wg_real wg_logabsdet(wg_tape *t, wg_mat a, double *sign);
WG_API wg_real wg_logdet_spd(wg_tape *t, wg_mat a);

/* wg_solve_symmetric - X with S X = B for a symmetric S that need not be definite (dsytrf).
 * Shapes:  A n-by-n, of which the lower triangle is S; B, X n-by-k.
 * Adjoint: B_ += W, A_ -= sym(W X') with W = S^-1 X_.   Source: Giles 2008, 2.3.1.
 * Cost:    1/3 n^3 + 2 n^2 k flops, 8 n^2 bytes kept; the adjoint 4 n^2 k.
 * Errors:  WG_ESINGULAR; WG_ENONFINITE: a NaN or an infinity in A.
 * wg_logabsdet_symmetric - log |det S|; *negative (NULL: not wanted) is how many eigenvalues of
 * S are negative, so that (-1)^negative is the sign; of a failed call SIZE_MAX.
 * Adjoint: A_ += w S^-1.   Cost: the adjoint 2 n^3 flops.
 * In functions both go by LU, with pivots at every point. */
WG_API wg_mat wg_solve_symmetric(wg_tape *t, wg_mat a, wg_mat b);
WG_API wg_real wg_logabsdet_symmetric(wg_tape *t, wg_mat a, size_t *negative);

/* wg_det - det A. Right at singular matrices too: the gradient is the transposed adjugate
 * P' L^-T diag(sign prod_{j != i} d_j) U^-T Q' of P A Q = L diag(d) U with complete pivoting,
 * which is 0 from corank 2 on. It is right also where products of some d alone leave the range
 * of numbers.
 * Cost:    2/3 n^3 flops; the adjoint 4/3 n^3, near singular matrices 3 n^3 without BLAS. */
WG_API wg_real wg_det(wg_tape *t, wg_mat a);

/* wg_inverse - A^-1, by LU;  wg_inverse_spd - by Cholesky.
 * Adjoint: as wg_factor_inverse.   Errors: WG_ESINGULAR. */
WG_API wg_mat wg_inverse(wg_tape *t, wg_mat a);
WG_API wg_mat wg_inverse_spd(wg_tape *t, wg_mat a);

/* wg_cholesky - L, lower triangular, with A = L L' for a symmetric positive definite A.
 * wg_cholesky_batch - of `count` of them.
 * Shapes:  A, L n-by-n; in a batch n-by-(n count).
 * Adjoint: blocks of columns from the right, in place over L_.  Source: Murray 2016.
 * Cost:    1/3 n^3 flops, the adjoint 2/3 n^3.
 * Errors:  WG_ESINGULAR: the message has LAPACK's info. */
WG_API wg_mat wg_cholesky(wg_tape *t, wg_mat a);
WG_API wg_mat wg_cholesky_batch(wg_tape *t, size_t count, wg_mat a);

/* ---- triangular systems ------------------------------------------------------------------ */

/* wg_trsm - X with op(A) X = alpha B (side 'L') or X op(A) = alpha B ('R'), A triangular.
 * wg_trsv - x with op(A) x = b.   wg_trsm_batch - `count` of them.
 * Shapes:  A of order n; B, X n-by-k, on the right k-by-n; in a batch side by side.
 * Adjoint: W = op(A)^-T X_, B_ += alpha W, op(A)_ -= tri(W X').  Source: Seeger 2017.
 * Cost:    n^2 k flops, the adjoint twice that.
 * Errors:  WG_ESINGULAR: a zero on the diagonal; info is its number, from 1. */
WG_API wg_mat wg_trsm(wg_tape *t, char side, char uplo, char trans, char diag, double alpha,
                      wg_mat a, wg_mat b);
WG_API wg_mat wg_trsv(wg_tape *t, char uplo, char trans, char diag, wg_mat a, wg_mat b);
WG_API wg_mat wg_trsm_batch(wg_tape *t, size_t count, char side, char uplo, char trans,
                            char diag, double alpha, wg_mat a, wg_mat b);

/* ---- banded systems ---------------------------------------------------------------------- */

/* wg_solve_banded - X with A X = B for A with kl diagonals below and ku above the main one.
 * Shapes:  A as LAPACK stores bands: (kl + ku + 1)-by-n, A(i, j) in row ku + i - j of column j;
 *          places outside the matrix are not read and have gradient 0. B, X n-by-k.
 * Adjoint: W = A^-T X_, B_ += W, A_ -= the band of W X'.
 * Cost:    O(n (kl + ku)^2 + n k (2 kl + ku)) flops; keeps 8 n (2 kl + ku + 1) bytes.
 * Errors:  WG_ESINGULAR. */
WG_API wg_mat wg_solve_banded(wg_tape *t, size_t kl, size_t ku, wg_mat a, wg_mat b);

/* wg_solve_tridiagonal - the same of a tridiagonal A, given by its diagonals.
 * Shapes:  lower, upper (n-1)-by-1, diagonal n-by-1 (n = 0: all 0-by-1); B, X n-by-k.
 * Cost:    O(n k) flops.   Errors: WG_ESINGULAR. */
WG_API wg_mat wg_solve_tridiagonal(wg_tape *t, wg_mat lower, wg_mat diagonal, wg_mat upper,
                                   wg_mat b);

/* wg_solve_toeplitz - X with T X = B for T(i, j) = c[i - j] on and below the diagonal, r[j - i]
 * above it, by Levinson's recursion; r[0] is not used.
 * wg_solve_circulant - the same for C(i, j) = c[(i - j) mod n], by Fourier transforms.
 * Shapes:  c, r n-by-1; B, X n-by-k.
 * Adjoint: W = T^-T X_, B_ += W, c_ and r_ -= the sums of W X' along its diagonals.
 * Cost:    wg_solve_toeplitz 8 n^2 + 8 n^2 k flops, the adjoint the same and 2 n^2 k, workspace
 *          of n (4 + 3 k) numbers; wg_solve_circulant O(n log n) for each column, the adjoint three times that;
 *          keeps 16 n bytes. In functions elimination, written out.
 * Errors:  WG_ESINGULAR: T, or a leading part of it, is singular or so near to it that the
 *          residual is not rounding: then wg_solve of wg_toeplitz; C is, to the last digit;
 *          WG_ENONFINITE: of an operand.
 * Source:  Levinson 1947; Cooley and Tukey 1965; Bluestein 1970. */
WG_API wg_mat wg_solve_toeplitz(wg_tape *t, wg_mat c, wg_mat r, wg_mat b);
WG_API wg_mat wg_solve_circulant(wg_tape *t, wg_mat c, wg_mat b);

/* ---- orthogonal factorisations ----------------------------------------------------------- */

/* wg_qr - A = Q R, reduced.  wg_qr_q, wg_qr_r - one of the two.
 * Shapes:  A m-by-n, p = min(m, n): Q m-by-p with orthonormal columns, R p-by-n upper
 *          trapezoidal. Signs are LAPACK's (dgeqrf).
 *          Where a reflection has no numbers, of a NaN or infinity in the first p columns, or
 *          of a norm beyond DBL_MAX / 2 that overflows there, Q and R are NaN.
 * Adjoint: with M = R R_' - Q_' Q: A_ += (Q_ + Q copyltu(M)) R^-T, copyltu(M) the symmetric
 *          matrix with the lower triangle of M; wide A = [X Y], R = [U V]: the same for X with
 *          Q_ + Y V_' for Q_, and Y_ += Q V_.
 *          Source: Walter and Lehmann 2010; Roberts and Roberts 2020.
 * Cost:    4 m n^2 - 4/3 n^3 flops, R alone half of it; the adjoint about 5 m n^2 + n^3.
 * Errors:  in a sweep, WG_EDEGENERATE: A (its first p columns) has not full rank, as wg_lstsq
 *          tells it: QR has no derivative. */
WG_API wg_status wg_qr(wg_tape *t, wg_mat a, wg_mat *q, wg_mat *r);
WG_API wg_mat wg_qr_q(wg_tape *t, wg_mat a);
WG_API wg_mat wg_qr_r(wg_tape *t, wg_mat a);

/* wg_qr_pivoted - A(:, perm) = Q R, the columns in the order that dgeqp3 takes, so that the
 * diagonal of R falls: column j of Q R is column perm[j] of A.
 * Shapes:  as wg_qr; perm of n (NULL: not wanted), SIZE_MAX after a failure, and after a replay
 *          as it was. What is NULL is not wanted.
 * Adjoint: that of wg_qr at this order, which has no derivative.   Cost: twice that of wg_qr.
 * Errors:  those of wg_qr; WG_ENONFINITE; WG_ESHAPE: beyond 63 million columns.
 * In functions the order is that of every point; with perm, which is that of one, it is
 * refused. */
WG_API wg_status wg_qr_pivoted(wg_tape *t, wg_mat a, wg_mat *q, wg_mat *r, size_t *perm);

/* wg_lu_factors - A(perm, :) = L U with partial pivoting (dgetrf): L with ones on its diagonal,
 * row i of L U is row perm[i] of A.
 * Shapes:  all n-by-n; perm of n (NULL: not wanted), SIZE_MAX after a failure, and after a
 *          replay as it was. What is NULL is not wanted.
 * Adjoint: A_ += P' L^-T (tril(L'L_, -1) + triu(U_ U')) U^-T, the order being without
 *          derivative.   Source: de Hoog, Anderssen and Lukas 2011.
 * Cost:    2/3 n^3 flops, the adjoint 6 n^3.
 * Errors:  WG_ENONFINITE; in a sweep, WG_EDEGENERATE: A is singular.
 * In functions as wg_qr_pivoted. */
WG_API wg_status wg_lu_factors(wg_tape *t, wg_mat a, wg_mat *l, wg_mat *u, size_t *perm);

/* wg_polar - A = U H, U with orthonormal columns, H symmetric with eigenvalues >= 0, by a
 * singular value decomposition (dgesdd).
 * Shapes:  A, U m-by-n, m >= n; H n-by-n. Results that are NULL are not wanted.
 * Adjoint: A_ += U (Y + H Z) + (I - U U') U_ H^-1 with H Y + Y H = U'U_ - U_'U and
 *          H Z + Z H = H_ + H_', in the basis of H: finite at repeated singular values.
 *          Source: Kenney and Laub 1991; Higham 2008, chapter 8.
 * Cost:    that of the decomposition, 8 n^2 bytes kept; adjoint 4 m n^2 + 12 n^3 flops, 6 m n^2
 *          more for m > n.
 * Errors:  WG_ENONFINITE, WG_ECONVERGE; in a sweep, WG_EDEGENERATE: A has not full rank. */
WG_API wg_status wg_polar(wg_tape *t, wg_mat a, wg_mat *u, wg_mat *h);

/* wg_lstsq - X with |A X - B| smallest, by QR; for m < n the one that has A X = B and |X|
 * smallest, by LQ.
 * Shapes:  A m-by-n of full rank, B m-by-k, X n-by-k.
 * Adjoint: m >= n: U = Q R^-T X_, Y = R^-1 R^-T X_, B_ += U, A_ += (B - A X) Y' - U X';
 *          m < n: U = L^-T Q X_, Z = L^-T L^-1 B, B_ += U, A_ += Z ((I - Q' Q) X_)' - U X'.
 * Cost:    2 m n^2 + 4 m n k flops, min(m, n)^3 / 3 more where A is large or ill-conditioned;
 *          the adjoint 8 m n k. Keeps 8 m n bytes.
 * Errors:  WG_ESINGULAR: A has not full rank, or full by rounding only: the condition number
 *          |R| |R^-1| (Frobenius) of its triangle, whose columns have been divided by their
 *          largest elements, is 1 / ((max(m, n) + 2) DBL_EPSILON) or more; info is the first
 *          column (row) that depends on those before it. wg_pinv(a, -1) B is what there is then.
 *          Units of the columns (m < n: rows) are no matter of rank here; of wg_pinv, which has
 *          the smallest X for a lower one, they are. Rows (m < n: columns) of different size, as
 *          of weighted measurements, are factored large ones first, and keep their digits; not
 *          where a function has written QR out. A NaN or infinity in A is not refused,
 *          nor is a column (row) whose norm is beyond DBL_MAX / 2, where a reflection may
 *          overflow: then X is NaN, and functions have WG_EGUARD, NaN or what is right. */
WG_API wg_mat wg_lstsq(wg_tape *t, wg_mat a, wg_mat b);

/* wg_pinv - the pseudo-inverse A^+, by a singular value decomposition. Singular values up to
 * rcond times the largest count as 0; rcond < 0: max(m, n) DBL_EPSILON.
 * Shapes:  A m-by-n, A^+ n-by-m.
 * Adjoint: A_ += -P' G P' + (I - A P) G' P P' + P' P G' (I - P A), P = A^+, G = P_.  Right
 *          for changes of A that keep its rank, elsewhere there is no derivative.
 *          Source: Golub and Pereyra 1973.
 * Errors:  WG_EARG: rcond is a NaN; WG_ENONFINITE: a NaN or an infinity in A; WG_ECONVERGE. */
WG_API wg_mat wg_pinv(wg_tape *t, wg_mat a, double rcond);

WG_END_DECLS

#endif
