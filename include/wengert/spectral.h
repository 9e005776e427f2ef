/* SPDX-License-Identifier: MIT */
/* Eigenvalues, singular values, functions of matrices, matrix equations.
 *
 * Symmetric operands (matrix.h) are any square matrices, of which (A + A') / 2 is taken.
 *
 * What has no derivative. Eigenvectors of a repeated eigenvalue, and singular vectors of a
 * repeated or zero singular value, are any basis of a space: their derivative is asked for
 * where an adjoint reaches them, and the sweep (or the recording, on a forward tape) returns
 * WG_EDEGENERATE. Two eigenvalues count as one when they differ by at most n epsilon times the
 * largest in magnitude. What is divided by their difference counts as 0, and the quotient too,
 * up to 8 n epsilon times the largest element of V' V_ (of an m-by-n matrix: max(m, n) for n),
 * also over differences of up to 2^-26 times the largest, where it may be all rounding. So
 * vectors of a simple eigenvalue beside repeated ones, and the projection onto the whole space
 * of a repeated one, have finite, exact derivatives. A smooth function of A composed from
 * vectors and values (V f(w) V') loses, at a repeated eigenvalue, the part of its derivative
 * inside that space: the wg_symmetric_ functions do not. Losses of values alone are finite
 * everywhere: at repeated values they get V diag(w_) V'. Signs of vectors are what LAPACK
 * returns; a loss that depends on them is not checked.
 *
 * Errors of all: WG_ENULL, WG_ESHAPE, WG_ESTALE, WG_ENOMEM, WG_EBUDGET, WG_ESLOTS; an operand
 * with a NaN or an infinity: WG_ENONFINITE (LAPACK might not return); LAPACK gave up:
 * WG_ECONVERGE with its info. Orders are at most 20000. Zero rows or columns are taken
 * everywhere. */
#ifndef WENGERT_SPECTRAL_H
#define WENGERT_SPECTRAL_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* ---- symmetric eigenproblems ------------------------------------------------------------ */

/* wg_eigvalsh - the eigenvalues of a symmetric matrix, ascending (dsyevd).
 * Shapes:  A n-by-n; result n-by-1.
 * Adjoint: A_ += V diag(w_) V'.   Source: Giles 2008, 3.1.
 * Cost:    9 n^3 flops (the vectors are computed for the adjoint), 8 n^2 bytes kept; adjoint
 *          2 n^3, less when w_ has zeros. */
WG_API wg_mat wg_eigvalsh(wg_tape *t, wg_mat a);

/* wg_eigh - eigenvalues w, ascending, and eigenvectors, the columns of V: A V = V diag(w),
 * V'V = I (dsyevd).
 * Shapes:  A n-by-n; w n-by-1, V n-by-n. Results that are NULL are not wanted.
 * Adjoint: A_ += V (diag(w_) + E o (V'V_ - V_'V)/2) V', E_ij = 1/(w_j - w_i).   Source: Giles
 *          2008, 3.1.
 * Cost:    9 n^3 flops; adjoint 5 n^3.
 * Errors:  a sweep: WG_EDEGENERATE. */
WG_API wg_status wg_eigh(wg_tape *t, wg_mat a, wg_mat *w, wg_mat *v);

/* wg_eigvalsh_general, wg_eigh_general - the same for A V = B V diag(w), V'B V = I, with B
 * positive definite (dsygvd).
 * Adjoint: A_ += V W V', B_ -= V (U o W + (V'V_ + V_'V)/4) V', W as in the middle of the line
 *          above, U_ij = (w_i + w_j)/2.
 * Cost:    14 n^3 flops; adjoint 5 n^3, 8 n^3 for both operands.
 * Errors:  WG_ESINGULAR: B is not positive definite; a sweep: WG_EDEGENERATE. */
WG_API wg_mat wg_eigvalsh_general(wg_tape *t, wg_mat a, wg_mat b);
WG_API wg_status wg_eigh_general(wg_tape *t, wg_mat a, wg_mat b, wg_mat *w, wg_mat *v);

/* ---- any square matrix ------------------------------------------------------------------ */

/* wg_eigvals - the eigenvalues of a square matrix, real and imaginary parts (dgeev);
 * wg_eig - with eigenvectors, A V = V diag(w), each of norm 1, its element of the largest
 * magnitude real. In the order that LAPACK has: conjugate pairs stand together, the one with
 * positive imaginary part first.
 * Shapes:  A n-by-n; re, im n-by-1, v_re, v_im n-by-n. Results that are NULL are not wanted.
 * Adjoint: A_ += Re(V^-* (diag(w_) + conj(E) o V*F_) V*), E_ij = 1/(w_j - w_i), F_ what of V_
 *          moves across and turns the phase (ops/matrix/eigen.c).   Source: Giles 2008, 3.1.
 *          Real eigenvalues stay real: adjoints of their imaginary parts count for nothing.
 * Cost:    25 n^3 flops, 32 n^2 bytes kept; adjoint 16 n^3, 24 n^3 with vectors.
 * Errors:  a sweep: WG_EDEGENERATE: a repeated eigenvalue's vectors are asked for, or the
 *          eigenvectors are dependent, or so nearly (condition 2^20) that derivatives keep but
 *          a few digits.
 * In functions derivatives are NaN there, those of vectors also where two eigenvalues agree in
 * half of their digits or more.
 * A real Schur form is no operation: order and rotations inside its blocks are choices of an
 * algorithm, and what is computed by it (functions, equations) has derivatives of its own. */
WG_API wg_status wg_eigvals(wg_tape *t, wg_mat a, wg_mat *re, wg_mat *im);
WG_API wg_status wg_eig(wg_tape *t, wg_mat a, wg_mat *re, wg_mat *im, wg_mat *v_re,
                        wg_mat *v_im);

/* wg_null_space - N with A N = 0 and N'N = I, a basis of all such columns, by a singular value
 * decomposition (dgesdd). Singular values up to rcond times the largest count as 0; rcond < 0:
 * max(m, n) DBL_EPSILON.
 * Shapes:  A m-by-n of rank r; N n-by-(n - r).
 * Adjoint: A_ -= A^+' N_ N', right for changes of A that keep its rank and for what depends on
 *          the space alone, as N N'.   Source: Golub and Pereyra 1973.
 * Cost:    that of two decompositions; 8 n^2 bytes kept, 8 m min(m, n) more.
 * Errors:  WG_EARG: rcond is a NaN; a replay: WG_EGUARD: the rank is another one; a sweep:
 *          WG_EDEGENERATE: what is differentiated depends on which basis N is. In functions
 *          results are NaN where the rank is another one, derivatives where they depend on the
 *          basis; of matrices without full rank there are none, refused by name. */
WG_API wg_mat wg_null_space(wg_tape *t, wg_mat a, double rcond);

/* ---- singular values -------------------------------------------------------------------- */

/* wg_svdvals - the singular values, descending (dgesdd).
 * Shapes:  A m-by-n; result k-by-1, k = min(m, n).
 * Adjoint: A_ += U diag(s_) V': also at zero and repeated values, a subgradient there.
 *          Source: Townsend 2016.
 * Cost:    that of the thin decomposition, 8 k (m + n) bytes kept; adjoint 2 m n k. */
WG_API wg_mat wg_svdvals(wg_tape *t, wg_mat a);

/* wg_svd - A = U diag(s) V', thin (dgesdd).
 * Shapes:  A m-by-n; U m-by-k, s k-by-1, V n-by-k, k = min(m, n). V is a transposed view.
 *          Results that are NULL are not wanted.
 * Adjoint: A_ += U (diag(s_) + X) V' + (I - U U') U_ S^-1 V' + U S^-1 V_' (I - V V'),
 *          X_ij = ((K + L)_ij/(s_j - s_i) + (K - L)_ij/(s_j + s_i))/2, K = U'U_ - U_'U,
 *          L = V'V_ - V_'V.   Source: Townsend 2016; Seeger et al. 2017.
 * Cost:    adjoint 2 m n k + 4 (m + n) k^2 flops, and 2 max(m, n) k^2 unless m = n.
 * Errors:  a sweep: WG_EDEGENERATE. */
WG_API wg_status wg_svd(wg_tape *t, wg_mat a, wg_mat *u, wg_mat *s, wg_mat *v);

/* wg_mat_norm_nuclear - the sum of the singular values.   Adjoint: A_ += r_ U V', at zero singular
 * values a subgradient.
 * wg_mat_norm_spectral - the largest singular value.   Adjoint: A_ += r_ u v', u and v its vectors:
 * of equal largest values one, a subgradient.
 * Shapes:  A m-by-n, empty: 0.   Cost: as wg_svdvals. */
WG_API wg_real wg_mat_norm_nuclear(wg_tape *t, wg_mat a);
WG_API wg_real wg_mat_norm_spectral(wg_tape *t, wg_mat a);

/* ---- functions of a symmetric matrix ---------------------------------------------------- */

/* f(A) = V f(w) V'.
 * Adjoint: A_ += V (D o V' F_ V) V', D_ij = (f(w_i) - f(w_j))/(w_i - w_j), f' where they are
 * equal: finite at repeated eigenvalues, and accurate beside them.   Source: Daletskii and
 *          Krein 1965; Higham 2008, 3.2.
 * Shapes:  A n-by-n; result n-by-n, symmetric bit by bit.
 * Digits:  an eigenvalue has the rounding of the largest one: if it is below n epsilon times
 *          that, it has no digits, unless A is diagonal by blocks, nor have log, inverse_sqrt,
 *          negative powers and the slopes of sqrt that are made of it. A positive one is taken
 *          as it comes.
 * Cost:    11 n^3 flops, 8 n^2 bytes kept; adjoint 7 n^3 and n^2/2 divided differences.
 * Errors:  WG_ESINGULAR: log and inverse_sqrt of an eigenvalue that is not positive, sqrt of a
 *          negative one (0 by rounding, n epsilon times the largest: taken as 0), power: as
 *          sqrt or inverse_sqrt, for integers p < 0 of a zero eigenvalue; a sweep:
 *          WG_EDEGENERATE: a slope that is infinite, as of sqrt at 0, is needed. */
WG_API wg_mat wg_symmetric_exp(wg_tape *t, wg_mat a);
WG_API wg_mat wg_symmetric_log(wg_tape *t, wg_mat a);
WG_API wg_mat wg_symmetric_sqrt(wg_tape *t, wg_mat a);
WG_API wg_mat wg_symmetric_inverse_sqrt(wg_tape *t, wg_mat a);
WG_API wg_mat wg_symmetric_power(wg_tape *t, wg_mat a, double p);

/* A function of the user's own, its slope and, or NULL, the slope of that, for second
 * derivatives. Slopes are also taken between eigenvalues that are near to each other. `data`
 * goes to all, and lives as long as the recording, and as functions that are made of it, which
 * call from each thread that evaluates them, and can be in no file and no text. */
typedef struct wg_symmetric_function {
    double (*f)(double x, const void *data);
    double (*slope)(double x, const void *data);
    const void *data;
    double (*curve)(double x, const void *data);
} wg_symmetric_function;

/* wg_symmetric_apply - f(A) for a function of the user's own. Without a curve it has no second
 * derivatives.
 * Errors:  WG_ENULL: f or slope is NULL. */
WG_API wg_mat wg_symmetric_apply(wg_tape *t, wg_mat a, wg_symmetric_function f);

/* ---- functions of a square matrix ------------------------------------------------------- */

/* wg_expm - the matrix exponential, by scaling and squaring with Pade approximants of degree 3
 * to 13.
 * Shapes:  A n-by-n; result n-by-n.
 * Adjoint: A_ += L(A', R_), L the Frechet derivative, by the same approximant and squarings.
 *          Source: Al-Mohy and Higham 2009.
 * Cost:    with s = log2 of the 1-norm over 4.74: (2 (6 + s) + 8/3) n^3 flops, 48 n^2 bytes
 *          kept; adjoint (2 (13 + 3 s) + 2) n^3; less below norm 1.78. Where powers of A are
 *          much smaller than those of its norm there are fewer squarings, which also lose no
 *          digits, and 10 n^3 flops to find how many (Al-Mohy and Higham 2009, SIMAX 31).
 * Functions: degree and squarings are those of the recorded point, for norms (and powers) up to
 *          twice as large, and with many squarings down to a quarter: elsewhere WG_EGUARD. */
WG_API wg_mat wg_expm(wg_tape *t, wg_mat a);

/* wg_powm - A^p for an integer p, by squaring; A^0 = I. A negative p: of the inverse (dgetrf,
 * dgetri).
 * Shapes:  A n-by-n; result n-by-n.
 * Adjoint: that of the squarings and products, each kept.
 * Cost:    2 n^3 flops for each of up to 2 log2|p| products, adjoint twice that; 2 n^3 for the
 *          inverse, adjoint 4 n^3.
 * Errors:  WG_ESINGULAR with LAPACK's info. */
WG_API wg_mat wg_powm(wg_tape *t, wg_mat a, int p);

/* wg_powm_real - exp(p log A), the principal power: two records.
 * Errors:  those of wg_logm; WG_EARG: p is not finite. */
WG_API wg_mat wg_powm_real(wg_tape *t, wg_mat a, double p);

/* wg_sqrtm - the principal square root S, S S = A, by a real Schur form, blocked.
 * Shapes:  A n-by-n; result n-by-n.
 * Adjoint: the X with S'X + X S' = S_, by the Schur form kept.   Source: Higham 1987 and 2008,
 *          6.2; Deadman, Higham and Ralha 2013.
 * Cost:    about 28 n^3 flops, 16 n^2 bytes kept; adjoint 10 n^3.
 * Errors:  WG_ESINGULAR: a negative eigenvalue, or several that are 0; a sweep: WG_EDEGENERATE:
 *          A is singular. */
WG_API wg_mat wg_sqrtm(wg_tape *t, wg_mat a);

/* wg_logm - the principal logarithm, by a real Schur form, square roots and a Pade approximant.
 * Shapes:  A n-by-n; result n-by-n.
 * Adjoint: the Frechet derivative at A', by the same roots, a Sylvester equation each.
 *          Source: Al-Mohy, Higham and Relton 2013.
 * Cost:    about (40 + s/3) n^3 flops with s roots, 16 n^2 bytes kept; adjoint (22 + 2 s) n^3.
 * Errors:  WG_ESINGULAR: an eigenvalue that is 0 or negative. */
WG_API wg_mat wg_logm(wg_tape *t, wg_mat a);

/* wg_signm - the sign of A: -1 and 1 for eigenvalues with negative and positive real parts, by
 * an ordered real Schur form (dgees).
 * Shapes:  A n-by-n; result n-by-n, whose square is I.
 * Adjoint: Y - S'Y S' with N'Y + Y N' = S_, N = S A.   Source: Higham 2008, 5.3.
 * Cost:    about 32 n^3 flops, 16 n^2 bytes kept; adjoint 14 n^3.
 * Errors:  WG_ESINGULAR: an eigenvalue on the imaginary axis, or so near that rounding decides;
 *          no more than two digits are known. */
WG_API wg_mat wg_signm(wg_tape *t, wg_mat a);

/* wg_cosm, wg_sinm - cosine and sine of a matrix, recorded as products: with s = 1 + log2 of
 * the 1-norm, 8 of them and 3 s.
 * Shapes:  A n-by-n; result n-by-n.
 * Adjoint: that of the products.   Source: Higham 2008, chapter 12.
 * Cost:    (16 + 6 s) n^3 flops, adjoint twice that; 8 n^2 bytes kept for each product.
 * Errors:  WG_EARG: the norm is above 2^50.
 * Functions, replays: for norms up to twice that of the recorded point; elsewhere WG_EGUARD. */
WG_API wg_mat wg_cosm(wg_tape *t, wg_mat a);
WG_API wg_mat wg_sinm(wg_tape *t, wg_mat a);

/* wg_expmv - exp(A) B, without the exponential, by a Taylor series in steps: for few columns.
 * Shapes:  A n-by-n; B and result n-by-k.
 * Adjoint: that of the products.   Source: Al-Mohy and Higham 2011.
 * Cost:    with s = 1-norm of A, rounded up: 38 s n^2 k flops, adjoint twice that; n^2 + 38 s n
 *          k numbers kept.
 * Errors:  WG_EARG: s is above 4096.
 * Functions, replays: for norms up to 1.25 s; elsewhere WG_EGUARD. */
WG_API wg_mat wg_expmv(wg_tape *t, wg_mat a, wg_mat b);

/* ---- matrix equations ------------------------------------------------------------------- */

/* wg_sylvester - X with A X + X B = C, by real Schur forms (dgebal, dgees), which both sweeps
 * use.
 * Shapes:  A m-by-m, B n-by-n, C and X m-by-n.
 * Adjoint: C_ += Y, A_ -= Y X', B_ -= X'Y, with A'Y + Y B' = X_.
 *          Source: Kao and Hennequin 2020.
 * Where balancing changes A or B by factors of more than 1024, X and Y are refined by their
 * residuals, up to 4 times. Beside entries of very different size in matrices that are balanced
 * as they are, small ones of X may have fewer digits.
 * Cost:    25 (m^3 + n^3) + 5 m n (m + n) flops, 16 (m^2 + n^2) bytes kept; adjoint
 *          7 m n (m + n).
 * Errors:  WG_ESINGULAR: an eigenvalue of A is one of -B, or X is not within the range of
 *          numbers. */
WG_API wg_mat wg_sylvester(wg_tape *t, wg_mat a, wg_mat b, wg_mat c);

/* wg_lyapunov - X with A X + X A' = Q.   wg_lyapunov_discrete - X with X = A X A' + Q.
 * Q is any matrix, and X is symmetric when it is.
 * Shapes:  A, Q, X n-by-n.
 * Adjoint: Q_ += Y, with A'Y + Y A = X_: A_ -= Y X' + Y'X;
 *          with Y = A'Y A + X_: A_ += Y A X' + Y'A X.   Source: Kao and Hennequin 2020.
 * Refined as wg_sylvester; the discrete one is solved for its residual once more in any case,
 * with A itself: entries of X that are much smaller than others keep their digits.
 * Cost:    one Schur form, 25 n^3 flops, and 10 n^3 (discrete: 28 n^3), 16 n^2 bytes kept;
 *          adjoint 14 n^3 (36 n^3).
 * Errors:  WG_ESINGULAR: two eigenvalues of A add up to 0 (discrete: multiply to 1), or X is
 *          not within the range of numbers. */
WG_API wg_mat wg_lyapunov(wg_tape *t, wg_mat a, wg_mat q);
WG_API wg_mat wg_lyapunov_discrete(wg_tape *t, wg_mat a, wg_mat q);

/* wg_riccati - X with A'X + X A - X B R^-1 B'X + Q = 0, for which A - B R^-1 B'X is stable.
 * wg_riccati_discrete - X with X = A'X A - A'X B (R + B'X B)^-1 B'X A + Q, for which
 * (I + B R^-1 B'X)^-1 A is. By an ordered Schur form (dgees, dgges) and steps of Newton's.
 * Shapes:  A, X n-by-n, B n-by-k; Q n-by-n, R k-by-k, symmetric, R not singular.
 * Adjoint: with C that stable matrix, N = X or X C, K = R^-1 B': C Y + Y C' = -sym X_ or
 *          Y = C Y C' + sym X_; A_ += 2 N Y, Q_ += Y, B_ -= 2 N Y N'K', R_ += K N Y N'K'.
 *          Source: Kao and Hennequin 2020.
 * Cost:    some 400 n^3 flops; adjoint 18 n^3 (discrete: 40 n^3).
 * Errors:  WG_ESINGULAR: R is, or no X is stabilizing, or none that is known to any digit. */
WG_API wg_mat wg_riccati(wg_tape *t, wg_mat a, wg_mat b, wg_mat q, wg_mat r);
WG_API wg_mat wg_riccati_discrete(wg_tape *t, wg_mat a, wg_mat b, wg_mat q, wg_mat r);

WG_END_DECLS

#endif
