/* SPDX-License-Identifier: MIT */
/* spectral.h - what the operations on eigenvalues, singular values and matrix functions share:
 * a cheap look for NaN (LAPACK does not look, and may not return), symmetric parts,
 * congruences.
 *
 * Letters: n order, a operand, x symmetric part or product, all packed (ld = n) but operands.
 */
#ifndef WGI_OPS_MATRIX_SPECTRAL_H
#define WGI_OPS_MATRIX_SPECTRAL_H

#include <wengert/block.h>

#include "blas.h"

/* All elements finite? */
int wgi_spectral_finite(size_t rows, size_t cols, const double *a, size_t ld);
/* Are adjoints 0, and their tangents on a forward tape? */
int wgi_spectral_untouched(const wg_tape *t, wg_mat a);
int wgi_spectral_zero(size_t rows, size_t cols, const double *a, size_t ld);
/* to = from, to packed. */
void wgi_spectral_copy(size_t rows, size_t cols, const double *from, size_t ld, double *to);
/* The largest magnitude of a packed array. */
double wgi_spectral_largest(size_t count, const double *a);

/* x = (a + a') / 2, the lower triangle, or both; the result: is all of it finite? */
int wgi_spectral_lower(size_t n, const double *a, size_t ld, double *x);
int wgi_spectral_symmetric(size_t n, const double *a, size_t ld, double *x);
/* a += alpha (x + x'), bitwise symmetric. */
void wgi_spectral_add(size_t n, double alpha, const double *x, double *a, size_t ld);

/* a += alpha v (t + t') v', t a triangle (with half a diagonal). Room: x, g of n^2. */
void wgi_spectral_congruence(size_t n, double alpha, const double *v, CBLAS_UPLO uplo,
                             const double *t, double *x, double *g, double *a, size_t ld);
/* p = v' d v, d symmetric; d may be p. Room: x of n^2. */
void wgi_spectral_into_basis(size_t n, const double *v, const double *d, double *x, double *p);
/* Eigenvalues w, ascending, and eigenvectors over the lower triangle in v. */
wg_status wgi_spectral_decompose(wg_block *b, size_t n, double *v, double *w, double *work);
size_t wgi_spectral_lapack_bytes(size_t n); /* of its work */
wg_status wgi_spectral_not_finite(wg_block *b);
/* Two eigenvalues this near to each other are one, repeated: what they are known to. */
double wgi_spectral_tie(size_t n, const double *w);
/* A numerator up to this is 0: what the elements of a product of order n are known to. */
double wgi_spectral_nothing(size_t n, double largest);

/* top / by, of functions, by a matrix or its row or column: where an element of `by`,
 * differences or sums of what is in w, first and last the largest, is as small as
 * WGI_SPECTRAL_NEAR says, 0 by it is 0, in derivatives, too, and else NaN. differences: of each
 * element of w to each, and the diagonal is 0, whatever is there in `by`. */
wg_mat wgi_spectral_over(wg_tape *t, wg_mat top, wg_mat by, wg_mat w, int differences);

/* The same on a tape: of what is not to be 0 by 0. Of differences whose squares would leave the
 * range of numbers both are multiplied by a power of two before. */
wg_mat wgi_spectral_quotient(wg_tape *t, wg_mat top, wg_mat by, wg_mat w);

/* In functions: y, with derivatives by all elements of a that are those of y, or NaN where q is
 * that; otherwise q is 0. First derivatives of eigenvalues and singular values alone, y, are
 * known where two of these are one, but no second ones. */
wg_mat wgi_spectral_once(wg_tape *t, wg_mat y, wg_mat a, wg_mat q);
/* In functions: the power of two below the largest element of a, 1 by 1, which is a step,
 * without derivative. */
wg_mat wgi_spectral_unit(wg_tape *t, wg_mat a);
/* 0, or NaN where two neighbours in w, first or last the largest, are as near to each other as
 * WGI_SPECTRAL_NEAR says; zero: or the last to 0. */
wg_mat wgi_spectral_apart(wg_tape *t, wg_mat w, int zero);

/* Eigenvalues, or singular values, whose difference is up to this part of the largest have
 * vectors with at most half of their digits: numerators over it that may be rounding count as
 * 0, so that a loss that does not depend on the choice of the vectors gets nothing from
 * them. */
#define WGI_SPECTRAL_NEAR 0x1p-26

/* Orders whose workspace LAPACK can be told (2 n^2 and more doubles, in an int). */
enum { WGI_SPECTRAL_ORDER = 20000 };
#define WGI_SPECTRAL_TOO_LARGE "LAPACK takes orders up to 20000"
#define WGI_SPECTRAL_NOT_FINITE "an operand has a NaN or an infinity"
#define WGI_SPECTRAL_GAVE_UP "the iteration of LAPACK did not converge"

#endif
