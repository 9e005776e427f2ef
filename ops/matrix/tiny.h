/* SPDX-License-Identifier: MIT */
/* tiny.h - factorisations and solves of an order at which a call of LAPACK costs more than what
 * it does. Column-major, leading dimension n; results, pivots and `info` are LAPACK's, up to
 * roundings. */
#ifndef WGI_OPS_MATRIX_TINY_H
#define WGI_OPS_MATRIX_TINY_H

#include <stddef.h>

enum { WGI_TINY = 16 };

/* dpotrf of the lower triangle, dgetrf; gives info. */
int wgi_tiny_cholesky(size_t n, double *a);
int wgi_tiny_lu(size_t n, double *a, int *pivot);
/* dpotrs, dgetrs: x of k columns becomes A^-1 x, or A^-T x. */
void wgi_tiny_cholesky_solve(size_t n, const double *l, size_t k, double *x);
void wgi_tiny_solve(size_t n, const double *lu, const int *pivot, int transposed, size_t k,
                    double *x);
/* dpotri: the lower triangle of (L L')^-1 for L in that of a. */
void wgi_tiny_cholesky_inverse(size_t n, double *a);
/* dger: a += f u v', m by n; of any order, but more of them in BLAS. */
void wgi_tiny_add_outer(size_t m, size_t n, double f, const double *u, const double *v,
                        double *a, size_t ld);

#endif
