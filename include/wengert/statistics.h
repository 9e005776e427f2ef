/* SPDX-License-Identifier: MIT */
/* Gaussian densities, covariance functions, Gaussian processes.
 *
 * Covariance matrices are symmetric operands (matrix.h), whose lower triangle is read. Letters:
 * X_ is the adjoint of X. Errors below names what is not common to all operations on matrices
 * (solve.h). */
#ifndef WENGERT_STATISTICS_H
#define WENGERT_STATISTICS_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* wg_mvn_logpdf - the log-density of the normal distribution with mean mu and covariance S,
 * summed over the columns of Y:
 * -1/2 sum_c (n log 2 pi + log det S + (y_c - mu)' S^-1 (y_c - mu)).
 * Shapes:  Y n-by-k, mu n-by-1, S n-by-n symmetric positive definite.
 * Adjoint: with a_c = S^-1 (y_c - mu): Y_ -= w a, mu_ += w sum_c a_c,
 *          S_ += w/2 (sum_c a_c a_c' - k S^-1).   Source: Rasmussen and Williams 2006, 5.9.
 * Cost:    1/3 n^3 + 2 n^2 k flops, one Cholesky; the adjoint 2/3 n^3 + n^2 k. Keeps
 *          8 n (n + k) bytes.
 * Errors:  WG_ESINGULAR: S is not positive definite; the message has LAPACK's info. */
WG_API wg_real wg_mvn_logpdf(wg_tape *t, wg_mat y, wg_mat mu, wg_mat s);

/* Covariance functions of r, the distance of two points whose coordinates are divided by the
 * length scales: NaN where one of these is 0.  Source: Rasmussen and Williams 2006, 4.2. */
typedef enum wg_kernel {
    WG_SQUARED_EXPONENTIAL, /* sigma^2 exp(-r^2 / 2) */
    WG_MATERN_12,           /* sigma^2 exp(-r) */
    WG_MATERN_32,           /* sigma^2 (1 + sqrt(3) r) exp(-sqrt(3) r) */
    WG_MATERN_52            /* sigma^2 (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r) */
} wg_kernel;

/* wg_covariance - K(i, j) = k(x_i, x_j), and noise^2 more on the diagonal.
 * Shapes:  X n-by-d, a point a row; scale 1-by-1, or d-by-1: one for each coordinate; K n-by-n.
 * Adjoint: to X, scale, sigma, noise. WG_MATERN_12 has a kink where points coincide: there X
 *          gets 0, and all second derivatives by X are 0.
 * Cost:    n^2/2 exponentials and 3/2 n^2 d flops; the adjoint the same without exponentials.
 * Errors:  WG_EARG: no such kernel. */
WG_API wg_mat wg_covariance(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat scale, wg_real sigma,
                            wg_real noise);
/* wg_covariance_between - K(i, j) = k(x_i, z_j).   Shapes: X n-by-d, Z m-by-d, K n-by-m. */
WG_API wg_mat wg_covariance_between(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat z,
                                    wg_mat scale, wg_real sigma);

/* wg_gp_logml - the log marginal likelihood of a Gaussian process with mean 0:
 * wg_mvn_logpdf(Y, 0, wg_covariance(X)) as one record, which keeps K and its Cholesky factor in
 * one matrix and never forms the adjoint of K.
 * Shapes:  X n-by-d, Y n-by-k, scale 1-by-1 or d-by-1.
 * Cost:    of those two; keeps 8 n (n + k + d) bytes.
 * Second:  on a tape by the inverse of K, which costs twice the digits: where the condition of K
 *          is 10^9 none may be left, and a function, which solves, has six.
 * Errors:  WG_EARG: no such kernel; WG_ESINGULAR: K is not positive definite. */
WG_API wg_real wg_gp_logml(wg_tape *t, wg_kernel kernel, wg_mat x, wg_mat y, wg_mat scale,
                           wg_real sigma, wg_real noise);

/* wg_kalman_step - a step of the Kalman filter: predicts state and covariance, takes an
 * observation into account, and gives its log-density. x and P are those before, and become
 * those after:
 *     xm = F x,  M = F P F' + Q,  v = y - H xm,  S = H M H' + R,  K = M H' S^-1
 *     x <- xm + K v,  P <- M - K S K',  result -(m log 2 pi + log det S + v' S^-1 v)/2
 * The result of all steps together is the log-likelihood of a linear model with normal noise.
 * Shapes:  F, Q, P n-by-n, H m-by-n, R m-by-m, y m-by-1, x n-by-1; m = 0: nothing is observed,
 *          as where an observation is missing. Q, R and P stand for (Q + Q')/2 and so on.
 * Adjoint: to all seven; nothing is computed for those that are constants. With X, W, w those
 *          of x, P and the result, G = K', z = S^-1 v and u = G X: S_ = G W G' - sym(u
 *          z') + w/2 (z z' - S^-1), (H M)_ = z X' - 2 G W + S_ H, M_ = W + sym(H' (H M)_),
 *          v_ = u - w z, and as products have it from there on (kalman.c).
 * Cost:    2 n^3 + 3 m n^2 + 3 m^2 n multiplications, the adjoint twice that; keeps
 *          8 (2 n^2 + 2 m n + m^2 + n + m) bytes. One record, not twelve: for matrices of order
 *          10 half of the time.
 * Errors:  WG_ESHAPE; WG_ENULL: x or P is; WG_ESINGULAR: S is not positive definite. x and P
 *          are then NaN.   Source: Kalman 1960. */
WG_API wg_real wg_kalman_step(wg_tape *t, wg_mat f, wg_mat h, wg_mat q, wg_mat r, wg_mat y,
                              wg_mat *x, wg_mat *p);

/* wg_distances - D(i, j) = |x_i - z_j|, Euclidean, of the rows of X and Z.
 * wg_distances_squared - its square, without cancellation.
 * Shapes:  X n-by-d, Z m-by-d, D n-by-m. X and Z may be one matrix.
 * Adjoint: with W = D_ / D (squares: 2 D_): x_i_ += sum_j W_ij (x_i - z_j), z_j_ -= sum_i of
 *          it; of equal points 0, a subgradient, and so for second derivatives. Of an
 *          infinite D as of nearer points; by infinite differences as by equal ones, as of
 *          wg_hypot, by others beside them 0.
 * Cost:    3 n m d flops, the adjoint twice that; nothing kept. Functions have them written
 *          out. */
WG_API wg_mat wg_distances(wg_tape *t, wg_mat x, wg_mat z);
WG_API wg_mat wg_distances_squared(wg_tape *t, wg_mat x, wg_mat z);

/* wg_data_covariance - the covariance of the columns of X, a row for each observation:
 * (X - M)'(X - M) / (n - ddof), M the means of the columns.   Two records.
 * Shapes:  X n-by-d, result d-by-d, symmetric.   Cost: n d^2 flops, the adjoint twice that.
 * Adjoint: X_ += (I - 11'/n) (X - M) (S_ + S_') / (n - ddof).
 * Errors:  WG_ESHAPE: n is not more than ddof, or ddof not finite. */
WG_API wg_mat wg_data_covariance(wg_tape *t, wg_mat x, double ddof);

WG_END_DECLS

#endif
