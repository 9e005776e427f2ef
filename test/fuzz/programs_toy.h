/* SPDX-License-Identifier: MIT */
/* programs_toy.h - the toy: matrices of truncated Taylor series in long double.
 *
 * A series is x(s) = sum of c[k] s^k, k < TOY_TERMS: run on inputs a + s d, a program gives its
 * values, J d, and along d half of the second and a sixth of the third derivative. Operations
 * are the plainest formulas there are, and share nothing with the library but the rows of the
 * scalar operations that have no formula here.
 *
 * Noise, if it is asked for, changes each term of each operation on series by some 2^-51 of
 * what it is the sum of (of the derivatives of a sum or a difference: in any order), and operands and results of BLAS and LAPACK by as much of the largest
 * entry: how far the results of such runs are apart says how many digits a computation in
 * double can have.   Source: Parker 1997, Monte Carlo arithmetic. */
#ifndef WENGERT_TEST_FUZZ_PROGRAMS_TOY_H
#define WENGERT_TEST_FUZZ_PROGRAMS_TOY_H

#include "programs.h"

enum { TOY_TERMS = 4 };

typedef long double toy_real;
struct toy_series {
    toy_real c[TOY_TERMS];
};
struct toy_matrix {
    size_t rows, cols;
    struct toy_series *v; /* column after column */
};
#define AT(a, i, j) ((a)->v[(i) + (a)->rows * (j)])

/* One run. */
struct toy_run {
    int known;    /* 0: an operation that the toy does not know, or a number no double can be */
    int terms;    /* how many are known: an operation without third derivatives makes it 3 */
    int nan_from; /* the order of derivatives from which NaN is an answer: see toy_spectrum */
    int extreme;  /* a number beyond 1e120 or, not 0, below 1e-120 was met */
    int infinite; /* so was a slope, or the slope of one, or the sign of a zero decided */
    int no_number;      /* a slope on the way was none */
    int zero_sign;      /* the sign of a zero decided */
    int zero_sign_from; /* the order of derivatives from which it decided */
    int power_of_0;     /* of an exponent that moves: the series of functions have no number */
    int blas; /* an operation by BLAS or LAPACK was met: what follows is rounded as it likes */
    toy_real condition; /* of all systems and spectra on the way, multiplied */
    int noisy;
    int torn; /* derivatives of operands have any sign: how large are terms that cancel? */
    const struct program_op *planted; /* its slopes are wrong by TOY_PLANTED; NULL: none */
    struct program_random noise;
};
#define TOY_PLANTED 1e-6L
/* Where values are known to this only, relative to 1, one that is smaller may be 0. */
#define TOY_ROUNDED_0 0x1p-40L
extern struct toy_run toy_run;

/* Runs program `self` on series; y: its m outputs. */
void toy_program(const struct program_case *c, size_t self, const struct toy_series *x,
                 struct toy_series *y);
/* The last node of it, of memory that lasts until toy_forget. */
struct toy_matrix toy_nodes(const struct program_case *c, size_t self,
                            const struct toy_series *x);

/* Memory of a run. */
struct toy_matrix toy_new(size_t rows, size_t cols);
void toy_forget(void);
size_t toy_mark(void);
void toy_rewind(size_t mark);

/* ---- series ---- */

struct toy_series toy_number(toy_real a);
struct toy_series toy_add(struct toy_series a, struct toy_series b);
struct toy_series toy_sub(struct toy_series a, struct toy_series b);
struct toy_series toy_mul(struct toy_series a, struct toy_series b);
struct toy_series toy_div(struct toy_series a, struct toy_series b);
struct toy_series toy_scale(toy_real f, struct toy_series a);
struct toy_series toy_sqrt(struct toy_series a);
struct toy_series toy_exp(struct toy_series a);
struct toy_series toy_log(struct toy_series a);
/* A scalar operation of the table, or a user's. */
struct toy_series toy_scalar(const wg_scalar_op *op, const struct toy_series *x);

/* ---- matrices (programs_linear.c, programs_systems.c) ---- */

struct toy_matrix toy_copy(const struct toy_matrix *a);
struct toy_matrix toy_transpose(const struct toy_matrix *a);
struct toy_matrix toy_identity(size_t n);
struct toy_matrix toy_product(const struct toy_matrix *a, const struct toy_matrix *b);
struct toy_matrix toy_sum(const struct toy_matrix *a, toy_real f, const struct toy_matrix *b);
struct toy_matrix toy_symmetric(const struct toy_matrix *a);
void toy_exchange(struct toy_matrix *a, size_t i, size_t k); /* rows */
/* Counts the condition of a, which has a root or a logarithm. */
void toy_count_condition(const struct toy_matrix *a);
/* The toy does not know it where a is singular but for rounding. */
struct toy_matrix toy_solve(const struct toy_matrix *a, const struct toy_matrix *b);
/* The same anywhere. */
struct toy_matrix toy_solve_any(const struct toy_matrix *a, const struct toy_matrix *b);
struct toy_series toy_det(const struct toy_matrix *a);
struct toy_matrix toy_cholesky(const struct toy_matrix *a);
/* 0: rounding decides the sign of a row of R. */
int toy_qr(const struct toy_matrix *a, struct toy_matrix *q, struct toy_matrix *r);
/* What is composed again of factors: a, but for noise as that of derivatives of the factors. */
struct toy_matrix toy_qr_product(const struct toy_matrix *a);
struct toy_matrix toy_svd_product(const struct toy_matrix *a);
struct toy_matrix toy_eigh_product(const struct toy_matrix *a);
/* Derivatives of that order and higher ones are NaN in functions where two values of w agree in
 * half of their digits, or, if the least counts, where that is 0 beside the largest. And the
 * condition of what has these values. */
void toy_spectrum(const struct toy_matrix *w, int least, int order);
struct toy_matrix toy_eigenvalues(const struct toy_matrix *a, struct toy_matrix *vectors);
struct toy_matrix toy_singular_values(const struct toy_matrix *a);
void toy_full_rank(const struct toy_matrix *a, double rcond);
struct toy_matrix toy_exponential(const struct toy_matrix *a);
struct toy_matrix toy_root(const struct toy_matrix *a);
struct toy_matrix toy_logarithm(const struct toy_matrix *a);
struct toy_matrix toy_sylvester(const struct toy_matrix *a, const struct toy_matrix *b,
                                const struct toy_matrix *c);
struct toy_matrix toy_discrete(const struct toy_matrix *a, const struct toy_matrix *q);
/* Changes the entries by the noise of this run, relative to the largest. */
void toy_noise(struct toy_matrix *a);
/* Of the terms k of its elements. */
toy_real toy_largest(const struct toy_matrix *a, int k);
/* Gives the derivatives signs of their own, if that is asked for. */
void toy_tear(struct toy_matrix *a);

#endif
