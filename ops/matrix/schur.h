/* SPDX-License-Identifier: MIT */
/* schur.h - real Schur forms A = Q T Q' and what is solved with them, for matrix functions and
 * matrix equations. T is upper quasi-triangular: upper triangular but for 2-by-2 blocks on the
 * diagonal, each of a pair of complex eigenvalues. Packed (ld = rows) where no
 * leading dimension is said. */
#ifndef WGI_OPS_MATRIX_SCHUR_H
#define WGI_OPS_MATRIX_SCHUR_H

#include <stddef.h>

/* Doubles of room that wgi_schur wants. */
size_t wgi_schur_doubles(size_t n);
/* t: A, overwritten by T. The result: info of dgees. */
int wgi_schur(size_t n, double *t, double *q, double *work);

/* x: C, overwritten by X with op(A) X + X op(B) = C, A of order m and B of order n upper
 * quasi-triangular, op 'N' or 'T'. The result: 0, or 1: there is no X, or none that is safe. */
int wgi_schur_sylvester(char op_a, char op_b, size_t m, size_t n, const double *a, size_t lda,
                        const double *b, size_t ldb, double *x, size_t ldx);

/* No eigenvalue of A is one of -B, as far as they are known? */
int wgi_schur_apart(size_t m, size_t n, const double *a, const double *b);

/* x: C, overwritten by X with X = A X A' + C, or X = A'X A + C with op 'T', A upper
 * quasi-triangular; room of wgi_schur_stein_doubles(n). The result: as of
 * wgi_schur_sylvester. */
size_t wgi_schur_stein_doubles(size_t n);
int wgi_schur_stein(char op, size_t n, const double *a, double *x, double *room);

/* No two eigenvalues of A multiply to 1, as far as they are known? `exact`: the form was not
 * computed, its eigenvalues are known to the last bit. */
int wgi_schur_no_product_one(size_t n, const double *a, int exact);

/* a = D^-1 A D with rows and columns of about one size, d: the diagonal of D, powers of 2. */
void wgi_schur_balance(size_t n, double *a, double *d);

/* x = op(P) from op(Q), m-by-n, P of order m, Q of order n; room of m n. x may be from. */
void wgi_schur_turn(char op_p, char op_q, size_t m, size_t n, const double *p, const double *q,
                    const double *from, size_t ld, double *x, double *room);

#endif
