/* SPDX-License-Identifier: MIT */
/* matrix_case.h - one instance of a matrix operation whose derivative is measured: its sizes,
 * its numbers. Seen by matrix.c, by the sides that compute (C) and by the peer (C++).
 *
 * Matrices are column-major and stand one after the other. x_ is the adjoint of x. */
#ifndef WENGERT_BENCH_MATRIX_CASE_H
#define WENGERT_BENCH_MATRIX_CASE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* dim; inputs x; what has no derivative, in data; outputs y:
 *   logdet    n;           A symmetric positive definite;  log det A
 *   solve     n, k;        A n-by-n, B n-by-k;  A^-1 B
 *   products  n;           A, B, C n-by-n;  the sum of tanh(A B) C
 *   eigen     n;           A symmetric;  eigenvalues, eigenvectors V
 *   singular  n;           A n-by-n;  singular values
 *   qr        n;           A n-by-n;  Q, R
 *   gp        n, d;        amplitude, length, noise;  n points of R^d, a row each, and n
 *                          observations;  log marginal likelihood of a Gaussian process
 *   mlp       n, h, c, b;  W h-by-n and its bias, V c-by-h and its bias;  b samples, columns of
 *                          n;  mean cross-entropy
 *   vectors   n, k;        u, v, w of n;  u after k operations, in turn u <- u v, u <- u + w
 *   map_...   n;           x of n;  exp, tanh, log of each */
enum matrix_kind {
    MATRIX_logdet,
    MATRIX_solve,
    MATRIX_products,
    MATRIX_eigen,
    MATRIX_singular,
    MATRIX_qr,
    MATRIX_gp,
    MATRIX_mlp,
    MATRIX_vectors,
    MATRIX_map_exp,
    MATRIX_map_tanh,
    MATRIX_map_log,
    MATRIX_KINDS
};

struct matrix_case {
    enum matrix_kind kind;
    size_t dim[4];
    size_t inputs, outputs; /* numbers */
    const double *x, *data;
    const size_t *label; /* mlp: of each sample */
    /* Adjoints of the outputs. eigen: those of V are seed times V, element by element, so that
     * the gradient does not depend on signs. */
    const double *seed;
    double *work; /* for the hand-written side, and for seeds */
    size_t work_len;
    int *pivot; /* likewise */
    size_t pivot_len;
};

/* Another library. */
struct matrix_peer {
    const char *name, *version;
    /* 0, or nonzero: not for this peer. */
    int (*open)(const struct matrix_case *c);
    /* Forgets the last derivative, records, sweeps; x_ to g unless that is NULL. 0, or nonzero:
     * failed. */
    int (*derivative)(const struct matrix_case *c, double *g);
    void (*close)(void);
};

#ifdef __cplusplus
}
#endif

#endif
