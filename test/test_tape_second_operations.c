/* SPDX-License-Identifier: MIT */
/* test_tape_second_operations.c - every operation on matrices: its Hessian along a direction
 * against extrapolated differences of its gradient, its gradient against differences of its
 * value, all by derived_case.h; or a sentence why there is none. An operation without a row
 * here fails the last test. */
#include <ctype.h>
#include <stdio.h>
#include "derived_case.h"

/* ---- operands ---- */

/* Of two matrices and a column of any numbers: a, with eigenvalues and pivots apart; s,
 * symmetric positive definite; b, any; d, no two entries near to each other or to 0; x, y
 * columns, p of positive numbers. */
typedef struct operands {
    wg_mat a, s, b, d, x, y, p;
    wg_real r;
} operands;

static operands operands_of(wg_tape *t, const wg_mat *in) {
    static const double spread[9] = {2, 0, 0, 0, 3.5, 0, 0, 0, 5.5};
    static const double apart[9] = {0.4, -0.8, 1.6, 2.2, -1.4, 1, -2, 2.8, -2.6};
    operands o;
    o.a = wg_mat_axpby(t, 0.4, in[0], 1, wg_mat_constant(t, 3, 3, spread, 3));
    o.s = wg_mat_axpby(t, 0.5, o.a, 0.5, wg_mat_transpose(o.a));
    o.b = in[1];
    o.d = wg_mat_axpby(t, 0.2, in[1], 1, wg_mat_constant(t, 3, 3, apart, 3));
    o.x = in[2], o.y = wg_mat_col(in[1], 1);
    o.p = wg_mat_axpby(t, 0.4, in[2], 1, wg_mat_fill(t, 3, 1, 1));
    o.r = wg_mat_at(in[1], 2, 0);
    return o;
}
#define GIVEN                                                                                  \
    const operands o = operands_of(t, in);                                                     \
    const wg_mat a = o.a, s = o.s, b = o.b, d = o.d, x = o.x, y = o.y, p = o.p;                \
    const wg_real r = o.r;                                                                     \
    (void)a, (void)s, (void)b, (void)d, (void)x, (void)y, (void)p, (void)r

static const size_t list[] = {2, 0, 1, 1}, all_rows[] = {0, 3, 6, 9},
                    all_cols[] = {0, 1, 2, 0, 1, 2, 0, 1, 2}, dims[] = {3, 3},
                    turned[] = {1, 0};

static wg_csr full(wg_tape *t) { return wg_csr_pattern(t, 3, 3, all_rows, all_cols); }
static wg_mat flat(wg_tape *t, wg_mat a) { return wg_mat_reshape(t, a, 9, 1); }
/* What does not depend on the signs of vectors, or on their place in a space. */
static wg_mat squares(wg_tape *t, wg_mat v) { return wg_mat_square(t, v); }
static wg_mat projector(wg_tape *t, wg_mat v) { return wg_matmul(t, v, wg_mat_transpose(v)); }

static double sine(void *ctx, double at) { return (void)ctx, sin(at); }
static double cosine(void *ctx, double at) { return (void)ctx, cos(at); }
static double minus_sine(void *ctx, double at) { return (void)ctx, -sin(at); }

WG_OPERATION2(stretched, a *b *b + sin(a), b *b + cos(a), 2 * a * b, -sin(a), 2 * b, 2 * a,
              ARITH, "test")

static wg_status product(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_matmul(t, x[1], x[0]);
    return wg_tape_status(t);
}
static const wg_krylov sharp = {1e-15, 0, 0};

/* ---- rows: M(operation, a matrix), N(operation, a number), S(operation, statements) ---- */

#define REDUCED(M, N)                                                                          \
    N(wg_mat_sum, wg_mat_sum(t, a))                                                            \
    M(wg_mat_sum_axis, wg_mat_sum_axis(t, a, WG_EACH_COL))                                     \
    N(wg_mat_mean, wg_mat_mean(t, a))                                                          \
    M(wg_mat_mean_axis, wg_mat_mean_axis(t, a, WG_EACH_ROW))                                   \
    N(wg_mat_var, wg_mat_var(t, a, 1))                                                         \
    M(wg_mat_var_axis, wg_mat_var_axis(t, a, 1, WG_EACH_ROW))                                  \
    N(wg_mat_std, wg_mat_std(t, a, 1))                                                         \
    M(wg_mat_std_axis, wg_mat_std_axis(t, d, 0, WG_EACH_COL))                                  \
    N(wg_mat_prod, wg_mat_prod(t, p))                                                          \
    M(wg_mat_prod_axis, wg_mat_prod_axis(t, b, WG_EACH_ROW))                                   \
    N(wg_mat_max, wg_mat_max(t, d))                                                            \
    M(wg_mat_max_axis, wg_mat_max_axis(t, d, WG_EACH_COL))                                     \
    N(wg_mat_min, wg_mat_min(t, d))                                                            \
    M(wg_mat_min_axis, wg_mat_min_axis(t, d, WG_EACH_ROW))                                     \
    N(wg_mat_norm_entries, wg_mat_norm_entries(t, d, 3))                                       \
    M(wg_mat_norm_entries_axis, wg_mat_norm_entries_axis(t, d, 2, WG_EACH_COL))                \
    N(wg_mat_norm_column_sum, wg_mat_norm_column_sum(t, d))                                    \
    N(wg_mat_norm_row_sum, wg_mat_norm_row_sum(t, d))                                          \
    M(wg_mat_cumsum, wg_mat_cumsum(t, a, WG_EACH_COL))                                         \
    M(wg_mat_cumprod, wg_mat_cumprod(t, b, WG_EACH_ROW))                                       \
    M(wg_mat_cummax, wg_mat_cummax(t, d, WG_EACH_COL))                                         \
    M(wg_mat_sort, wg_mat_sort(t, d, WG_EACH_COL))                                             \
    N(wg_mat_quantile, wg_mat_quantile(t, d, 0.3))                                             \
    M(wg_mat_quantile_axis, wg_mat_quantile_axis(t, d, 0.7, WG_EACH_ROW))                      \
    N(wg_mat_median, wg_mat_median(t, d))                                                      \
    M(wg_mat_median_axis, wg_mat_median_axis(t, d, WG_EACH_COL))                               \
    N(wg_mat_logsumexp, wg_mat_logsumexp(t, a))                                                \
    M(wg_mat_logsumexp_axis, wg_mat_logsumexp_axis(t, a, WG_EACH_ROW))                         \
    M(wg_mat_softmax, wg_mat_softmax(t, b, WG_EACH_COL))                                       \
    M(wg_mat_log_softmax, wg_mat_log_softmax(t, b, WG_EACH_ROW))                               \
    M(wg_mat_cross_entropy, wg_mat_cross_entropy(t, b, list, WG_EACH_COL))                     \
    M(wg_mat_cross_entropy_soft, wg_mat_cross_entropy_soft(t, b, a, WG_EACH_COL))              \
    M(wg_mat_layer_norm, wg_mat_layer_norm(t, a, x, y, 0.125, WG_EACH_COL))

#define MOVED(M, N)                                                                            \
    M(wg_gather, wg_gather(t, a, 2, 2, list))                                                  \
    M(wg_scatter_add, wg_scatter_add(t, a, x, list))                                           \
    M(wg_scatter_set, wg_scatter_set(t, a, x, list))                                           \
    M(wg_take_rows, wg_take_rows(t, a, 4, list))                                               \
    M(wg_take_cols, wg_take_cols(t, a, 4, list))                                               \
    M(wg_embedding, wg_embedding(t, a, 4, list))                                               \
    M(wg_slice, wg_slice(t, a, 2, -1, 3, 0, 2, 2))                                             \
    M(wg_mat_copy, wg_mat_copy(t, wg_mat_diagonal(a)))                                         \
    M(wg_flip_rows, wg_flip_rows(t, a))                                                        \
    M(wg_flip_cols, wg_flip_cols(t, a))                                                        \
    M(wg_tile, wg_tile(t, a, 2, 1))                                                            \
    M(wg_repeat, wg_repeat(t, a, 1, 2))                                                        \
    M(wg_broadcast_to, wg_broadcast_to(t, x, 3, 2))                                            \
    M(wg_permute, wg_permute(t, a, 2, dims, turned, 1))                                        \
    M(wg_concat_rows, wg_concat_rows(t, 2, (const wg_mat[]){a, b}))                            \
    M(wg_concat_cols, wg_concat_cols(t, 3, (const wg_mat[]){a, x, a}))                         \
    M(wg_pad, wg_pad(t, a, 1, 0, 0, 1, 0.5))                                                   \
    M(wg_diag, wg_diag(t, x))                                                                  \
    M(wg_block_diag, wg_block_diag(t, 2, (const wg_mat[]){a, x}))                              \
    M(wg_toeplitz, wg_toeplitz(t, x, y))                                                       \
    M(wg_circulant, wg_circulant(t, x))                                                        \
    M(wg_tril, wg_tril(t, a, -1))                                                              \
    M(wg_triu, wg_triu(t, a, 0))

#define MULTIPLIED(M, N)                                                                       \
    M(wg_mat_select, wg_mat_select(t, wg_mat_fill(t, 3, 3, 1), a, b))                          \
    M(wg_mat_scale, wg_mat_scale(t, 2, a))                                                     \
    M(wg_mat_scale_real, wg_mat_scale_real(t, r, a))                                           \
    M(wg_mat_axpby, wg_mat_axpby(t, 2, a, -3, b))                                              \
    M(wg_mat_apply_scalar,                                                                     \
      wg_mat_apply_scalar(t, &wgi_user_stretched, (const wg_mat[]){a, x}))                     \
    M(wg_mat_map_twice, wg_mat_map_twice(t, sine, cosine, minus_sine, NULL, a))                \
    N(wg_mat_dot, wg_mat_dot(t, a, b))                                                         \
    M(wg_axpy, wg_axpy(t, 2, a, b))                                                            \
    M(wg_axpy_real, wg_axpy_real(t, r, a, b))                                                  \
    M(wg_ger, wg_ger(t, 2, x, y, a))                                                           \
    M(wg_outer, wg_outer(t, x, y))                                                             \
    M(wg_gemv, wg_gemv(t, 'T', 2, a, x, 3, y))                                                 \
    M(wg_gemm, wg_gemm(t, 'N', 'T', 2, a, b, 3, b))                                            \
    M(wg_matmul, wg_matmul(t, a, b))                                                           \
    M(wg_gemm_real, wg_gemm_real(t, 'T', 'N', r, a, b, r, b))                                  \
    M(wg_gemm_batch, wg_gemm_batch(t, 3, 'T', 'N', 1, a, b))                                   \
    M(wg_symv, wg_symv(t, 'L', 2, s, x, 3, y))                                                 \
    M(wg_symm, wg_symm(t, 'R', 'U', 2, s, b, 3, b))                                            \
    M(wg_syrk, wg_syrk(t, 'N', 2, a, 3, s))                                                    \
    M(wg_trmv, wg_trmv(t, 'L', 'T', 'N', a, x))                                                \
    M(wg_trmm, wg_trmm(t, 'R', 'U', 'N', 'U', 2, a, b))                                        \
    M(wg_einsum, wg_einsum(t, "ij,kj->ik", NULL, a, b))                                        \
    M(wg_kron, wg_kron(t, x, y))                                                               \
    N(wg_quadform, wg_quadform(t, a, x))                                                       \
    N(wg_trace, wg_trace(t, a))                                                                \
    N(wg_trace_product, wg_trace_product(t, a, b))                                             \
    M(wg_conv2d, wg_conv2d(t, &image, wg_mat_reshape(t, a, 1, 9),                              \
                           wg_mat_reshape(t, wg_mat_block(b, 0, 0, 2, 2), 1, 4), NULL))        \
    M(wg_conv1d, wg_conv1d(t, 1, 1, 1, 1, wg_mat_transpose(x),                                 \
                           wg_mat_transpose(wg_mat_block(y, 0, 0, 2, 1)), NULL))               \
    M(wg_spmv, wg_spmv(t, 'N', &(wg_csr[]){full(t)}[0], flat(t, a), x))                        \
    M(wg_spmm, wg_spmm(t, 'T', &(wg_csr[]){full(t)}[0], flat(t, a), b))

#define SOLVED(M, N)                                                                           \
    N(wg_lu, wg_factor_logdet(t, wg_lu(t, a)))                                                 \
    M(wg_potrf, wg_factor_solve(t, wg_potrf(t, s), 'N', b))                                    \
    M(wg_factor_solve, wg_factor_solve(t, wg_lu(t, a), 'T', b))                                \
    N(wg_factor_logdet, wg_factor_logdet(t, wg_potrf(t, s)))                                   \
    N(wg_factor_det, wg_factor_det(t, wg_lu(t, a)))                                            \
    M(wg_factor_inverse, wg_factor_inverse(t, wg_lu(t, a)))                                    \
    M(wg_solve, wg_solve(t, a, b))                                                             \
    M(wg_solve_spd, wg_solve_spd(t, s, b))                                                     \
    M(wg_solve_batch,                                                                          \
      wg_solve_batch(t, 2, wg_concat_cols(t, 2, (const wg_mat[]){a, s}), wg_tile(t, b, 1, 2))) \
    M(wg_solve_spd_batch, wg_solve_spd_batch(t, 1, s, b))                                      \
    N(wg_logabsdet, wg_logabsdet(t, a, NULL))                                                  \
    N(wg_logdet_spd, wg_logdet_spd(t, s))                                                      \
    M(wg_solve_symmetric, wg_solve_symmetric(t, s, b))                                         \
    N(wg_logabsdet_symmetric, wg_logabsdet_symmetric(t, s, NULL))                              \
    N(wg_det, wg_det(t, wg_mat_transpose(a)))                                                  \
    M(wg_inverse, wg_inverse(t, a))                                                            \
    M(wg_inverse_spd, wg_inverse_spd(t, s))                                                    \
    M(wg_cholesky, wg_cholesky(t, s))                                                          \
    M(wg_cholesky_batch, wg_cholesky_batch(t, 1, s))                                           \
    M(wg_trsm, wg_trsm(t, 'L', 'L', 'N', 'N', 2, a, b))                                        \
    M(wg_trsv, wg_trsv(t, 'U', 'T', 'N', a, x))                                                \
    M(wg_trsm_batch, wg_trsm_batch(t, 1, 'R', 'L', 'N', 'N', 2, a, b))                         \
    M(wg_solve_banded,                                                                         \
      wg_solve_banded(t, 1, 1,                                                                 \
                      wg_mat_axpby(t, 1, b, 1,                                                 \
                                   wg_ger(t, 1, wg_mat_constant(t, 3, 1, middle, 3), p,        \
                                          wg_mat_fill(t, 3, 3, 0))),                           \
                      x))                                                                      \
    M(wg_solve_tridiagonal,                                                                    \
      wg_solve_tridiagonal(t, wg_mat_block(x, 0, 0, 2, 1), wg_mat_copy(t, wg_mat_diagonal(a)), \
                           wg_mat_block(y, 0, 0, 2, 1), b))                                    \
    M(wg_solve_toeplitz, wg_solve_toeplitz(t, wg_mat_col(a, 0), x, b))                         \
    M(wg_solve_circulant, wg_solve_circulant(t, wg_mat_col(a, 0), b))                          \
    M(wg_qr_q, wg_qr_q(t, a))                                                                  \
    M(wg_qr_r, wg_qr_r(t, a))                                                                  \
    M(wg_lstsq, wg_lstsq(t, wg_mat_block(a, 0, 0, 3, 2), b))                                   \
    M(wg_pinv, wg_pinv(t, wg_mat_block(a, 0, 0, 3, 2), -1))                                    \
    M(wg_cg, wg_cg(t, product, NULL, 1, &s, x, &sharp))                                        \
    M(wg_gmres, wg_gmres(t, product, NULL, 1, &a, x, &sharp))

#define SPECTRA(M, N)                                                                          \
    M(wg_eigvalsh, wg_eigvalsh(t, s))                                                          \
    M(wg_eigvalsh_general,                                                                     \
      wg_eigvalsh_general(t, s, wg_gemm(t, 'N', 'T', 0.1, b, b, 1, wg_mat_identity(t, 3))))    \
    M(wg_null_space, projector(t, wg_null_space(t, wg_mat_block(a, 0, 0, 2, 3), -1)))          \
    M(wg_svdvals, wg_svdvals(t, a))                                                            \
    N(wg_mat_norm_nuclear, wg_mat_norm_nuclear(t, a))                                          \
    N(wg_mat_norm_spectral, wg_mat_norm_spectral(t, a))                                        \
    M(wg_symmetric_exp, wg_symmetric_exp(t, wg_mat_scale(t, 0.2, s)))                          \
    M(wg_symmetric_log, wg_symmetric_log(t, s))                                                \
    M(wg_symmetric_sqrt, wg_symmetric_sqrt(t, s))                                              \
    M(wg_symmetric_inverse_sqrt, wg_symmetric_inverse_sqrt(t, s))                              \
    M(wg_symmetric_power, wg_symmetric_power(t, s, 1.5))                                       \
    M(wg_symmetric_apply, wg_symmetric_apply(t, s, sines))                                     \
    M(wg_expm, wg_expm(t, b))                                                                  \
    M(wg_powm, wg_powm(t, b, 3))                                                               \
    M(wg_powm_real, wg_powm_real(t, a, 0.4))                                                   \
    M(wg_sqrtm, wg_sqrtm(t, a))                                                                \
    M(wg_logm, wg_logm(t, a))                                                                  \
    M(wg_signm, wg_signm(t, wg_matmul(t, a, wg_diag(t, wg_mat_constant(t, 3, 1, signs, 3)))))  \
    M(wg_cosm, wg_cosm(t, b))                                                                  \
    M(wg_sinm, wg_sinm(t, b))                                                                  \
    M(wg_expmv, wg_expmv(t, b, x))                                                             \
    M(wg_sylvester, wg_sylvester(t, a, s, b))                                                  \
    M(wg_lyapunov, wg_lyapunov(t, a, b))                                                       \
    M(wg_lyapunov_discrete, wg_lyapunov_discrete(t, wg_mat_scale(t, 0.1, a), b))               \
    M(wg_riccati, wg_riccati(t, b, a, s, s))                                                   \
    M(wg_riccati_discrete, wg_riccati_discrete(t, b, a, s, s))

/* Of two matrices; two symmetric ones. */
#define PAIR wg_concat_cols(t, 2, (const wg_mat[]){a, s})
#define SYMMETRIC_PAIR wg_concat_cols(t, 2, (const wg_mat[]){s, wg_mat_scale(t, 1.5, s)})

#define BATCHED(M)                                                                             \
    M(wg_det_batch, wg_det_batch(t, 2, PAIR))                                                  \
    M(wg_logabsdet_batch, wg_logabsdet_batch(t, 2, PAIR, NULL))                                \
    M(wg_logdet_spd_batch, wg_logdet_spd_batch(t, 2, SYMMETRIC_PAIR))                          \
    M(wg_inverse_batch, wg_inverse_batch(t, 2, PAIR))                                          \
    M(wg_inverse_spd_batch, wg_inverse_spd_batch(t, 2, SYMMETRIC_PAIR))                        \
    M(wg_lstsq_batch,                                                                          \
      wg_lstsq_batch(t, 2, wg_windows(t, a, 2, 2, 1), wg_mat_block(b, 0, 0, 3, 2)))            \
    M(wg_eigvalsh_batch, wg_eigvalsh_batch(t, 2, SYMMETRIC_PAIR))                              \
    M(wg_svdvals_batch, wg_svdvals_batch(t, 2, PAIR))                                          \
    M(wg_expm_batch, wg_expm_batch(t, 2, wg_concat_cols(t, 2, (const wg_mat[]){b, a})))        \
    M(wg_mvn_logpdf_batch,                                                                     \
      wg_mvn_logpdf_batch(t, 2, wg_mat_block(b, 0, 0, 3, 2), x, SYMMETRIC_PAIR))               \
    M(wg_windows, wg_windows(t, a, 2, 2, 1))                                                   \
    M(wg_max_pool2d, wg_max_pool2d(t, &window, wg_mat_reshape(t, d, 1, 9)))                    \
    M(wg_average_pool2d, wg_average_pool2d(t, &window, wg_mat_reshape(t, d, 1, 9)))            \
    M(wg_conv2d_transposed,                                                                    \
      wg_conv2d_transposed(t, &image, wg_mat_reshape(t, wg_mat_block(a, 0, 0, 2, 2), 1, 4),    \
                           wg_mat_reshape(t, wg_mat_block(b, 0, 0, 2, 2), 1, 4), NULL))

#define STATISTICS(M, N)                                                                       \
    N(wg_mvn_logpdf, wg_mvn_logpdf(t, b, x, s))                                                \
    M(wg_covariance, wg_covariance(t, WG_MATERN_52, d, p, r, r))                               \
    M(wg_covariance_between, wg_covariance_between(t, WG_SQUARED_EXPONENTIAL, b, d, p, r))     \
    N(wg_gp_logml,                                                                             \
      wg_gp_logml(t, WG_MATERN_32, d, x, p, wg_mat_at(p, 0, 0), wg_mat_at(p, 1, 0)))           \
    M(wg_distances, wg_distances(t, b, wg_mat_block(d, 0, 0, 2, 3)))                           \
    M(wg_distances_squared, wg_distances_squared(t, b, a))                                     \
    M(wg_data_covariance, wg_data_covariance(t, b, 1))

static const wg_conv image = {1, 3, 3, 1, 2, 2, {1, 1}, {1, 1}, {0, 0}, 1};
static const wg_pool window = {1, 3, 3, 2, 2, {1, 1}, {0, 0}};
static const double middle[] = {0, 4, 0}, signs[] = {1, -1, 1};
static double plain_sine(double at, const void *data) { return (void)data, sin(at); }
static double plain_cosine(double at, const void *data) { return (void)data, cos(at); }
static double plain_minus_sine(double at, const void *data) { return (void)data, -sin(at); }
static const wg_symmetric_function sines = {plain_sine, plain_cosine, NULL, plain_minus_sine};

#define M(fn, ...)                                                                             \
    static void fn##_of(wg_tape *t, const wg_mat *in, derived_sum *to) {                       \
        GIVEN;                                                                                 \
        derived_matrix(to, __VA_ARGS__);                                                       \
    }
#define N(fn, ...)                                                                             \
    static void fn##_of(wg_tape *t, const wg_mat *in, derived_sum *to) {                       \
        GIVEN;                                                                                 \
        derived_number(to, __VA_ARGS__);                                                       \
    }
#define S(fn, ...)                                                                             \
    static void fn##_of(wg_tape *t, const wg_mat *in, derived_sum *to) {                       \
        GIVEN;                                                                                 \
        __VA_ARGS__                                                                            \
    }
REDUCED(M, N)
MOVED(M, N)
MULTIPLIED(M, N)
SOLVED(M, N)
SPECTRA(M, N)
STATISTICS(M, N)
BATCHED(M)

#define SEVERAL(S)                                                                             \
    S(wg_qr, wg_mat u[2]; (void)wg_qr(t, a, &u[0], &u[1]); derived_matrix(to, u[0]);           \
      derived_matrix(to, u[1]);)                                                               \
    S(wg_qr_pivoted, wg_mat u[2]; size_t at[3]; (void)wg_qr_pivoted(t, a, &u[0], &u[1], at);   \
      derived_matrix(to, u[0]); derived_matrix(to, u[1]);)                                     \
    S(wg_lu_factors, wg_mat u[2]; size_t at[3]; (void)wg_lu_factors(t, a, &u[0], &u[1], at);   \
      derived_matrix(to, u[0]); derived_matrix(to, u[1]);)                                     \
    S(wg_polar, wg_mat u[2]; (void)wg_polar(t, a, &u[0], &u[1]); derived_matrix(to, u[0]);     \
      derived_matrix(to, u[1]);)                                                               \
    S(wg_eigh, wg_mat u[2]; (void)wg_eigh(t, s, &u[0], &u[1]); derived_matrix(to, u[0]);       \
      derived_matrix(to, squares(t, u[1]));)                                                   \
    S(wg_eigh_general, wg_mat u[2]; (void)wg_eigh_general(                                     \
          t, s, wg_gemm(t, 'N', 'T', 0.1, b, b, 1, wg_mat_identity(t, 3)), &u[0], &u[1]);      \
      derived_matrix(to, u[0]); derived_matrix(to, squares(t, u[1]));)                         \
    S(wg_eigvals, wg_mat u[2]; (void)wg_eigvals(t, a, &u[0], &u[1]);                           \
      derived_matrix(to, u[0]);)                                                               \
    S(wg_eig, wg_mat u[4]; (void)wg_eig(t, a, &u[0], &u[1], &u[2], &u[3]);                     \
      derived_matrix(to, u[0]);                                                                \
      derived_matrix(to, wg_mat_add(t, squares(t, u[2]), squares(t, u[3])));)                  \
    S(wg_svd, wg_mat u[3]; (void)wg_svd(t, a, &u[0], &u[1], &u[2]);                            \
      derived_matrix(to, squares(t, u[0])); derived_matrix(to, u[1]);                          \
      derived_matrix(to, squares(t, u[2]));)                                                   \
    S(wg_kalman_step, wg_mat u[2] = {x, s};                                                    \
      derived_number(to, wg_kalman_step(t, b, wg_mat_block(a, 0, 0, 2, 3), s,                  \
                                        wg_mat_block(s, 0, 0, 2, 2),                           \
                                        wg_mat_block(y, 0, 0, 2, 1), &u[0], &u[1]));           \
      derived_matrix(to, u[0]); derived_matrix(to, u[1]);)
SEVERAL(S)

#define BATCHED_SEVERAL(S)                                                                     \
    S(wg_qr_batch, wg_mat u[2]; (void)wg_qr_batch(t, 2, PAIR, &u[0], &u[1]);                   \
      derived_matrix(to, u[0]); derived_matrix(to, u[1]);)                                     \
    S(wg_eigh_batch, wg_mat u[2]; (void)wg_eigh_batch(t, 2, SYMMETRIC_PAIR, &u[0], &u[1]);     \
      derived_matrix(to, u[0]); derived_matrix(to, squares(t, u[1]));)                         \
    S(wg_svd_batch, wg_mat u[3]; (void)wg_svd_batch(t, 2, PAIR, &u[0], &u[1], &u[2]);          \
      derived_matrix(to, squares(t, u[0])); derived_matrix(to, u[1]);                          \
      derived_matrix(to, squares(t, u[2]));)
BATCHED_SEVERAL(S)

#define SPARSE(S)                                                                              \
    S(wg_sparse_solve, const wg_csr c = full(t);                                               \
      derived_matrix(to, wg_sparse_solve(t, 'T', &c, flat(t, a), b));)                         \
    S(wg_sparse_spd_solve, const wg_csr c = full(t);                                           \
      derived_matrix(to, wg_sparse_spd_solve(t, &c, flat(t, a), b));)                          \
    S(wg_sparse_spd_logdet, const wg_csr c = full(t);                                          \
      derived_number(to, wg_sparse_spd_logdet(t, &c, flat(t, a)));)
SPARSE(S)

/* ---- element by element: the rows of the scalar table, inside their domains ---- */

/* From 0.5 to 1.5 unless the operation is defined, or smooth, elsewhere. */
static wg_mat within(wg_tape *t, const char *name, wg_mat p) {
    static const struct {
        const char *name;
        double times, plus;
    } all[] = {{"acosh", 1, 1},         {"asec", 1, 1},           {"acsc", 1, 1},
               {"acoth", 1, 1},         {"atanh", 0.5, 0},        {"asin", 0.5, 0},
               {"acos", 0.5, 0},        {"logit", 0.5, 0},        {"log1mx", 0.5, 0},
               {"asech", 0.5, 0},       {"inv_Phi", 0.5, 0},      {"log1mexp", -1, 0},
               {"lambertwm1", -0.2, 0}, {"log_diff_exp", 1, 2.5}, {"floor", 0.2, 0.05},
               {"ceil", 0.2, 0.05},     {"trunc", 0.2, 0.05},     {"round", 0.2, 0.05},
               {"rint", 0.2, 0.05},     {"fmod", 0.2, 0.05},      {"remainder", 0.2, 0.05}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(name, all[i].name) == 0)
            return wg_mat_axpby(t, all[i].times, p, all[i].plus, wg_mat_fill(t, 3, 1, 1));
    return p;
}
/* From 1.7 to 2.3. */
static wg_mat beyond(wg_tape *t, wg_mat x) {
    return wg_mat_axpby(t, 0.3, x, 2, wg_mat_fill(t, 3, 1, 1));
}
#define OP1(name, ...)                                                                         \
    static void ew_##name(wg_tape *t, const wg_mat *in, derived_sum *to) {                     \
        GIVEN;                                                                                 \
        derived_matrix(to, wg_mat_##name(t, within(t, #name, p)));                             \
    }
#define OP2(name, ...)                                                                         \
    static void ew_##name(wg_tape *t, const wg_mat *in, derived_sum *to) {                     \
        GIVEN;                                                                                 \
        derived_matrix(to, wg_mat_##name(t, within(t, #name, p), beyond(t, y)));               \
    }
#define OP3(name, ...)                                                                         \
    static void ew_##name(wg_tape *t, const wg_mat *in, derived_sum *to) {                     \
        GIVEN;                                                                                 \
        derived_matrix(to, wg_mat_##name(t, p, wg_mat_scale(t, 0.1, y), beyond(t, y)));        \
    }
#define OP4(name, ...)                                                                         \
    static void ew_##name(wg_tape *t, const wg_mat *in, derived_sum *to) {                     \
        GIVEN;                                                                                 \
        derived_matrix(to, wg_mat_##name(t, p, beyond(t, y), x, wg_mat_sin(t, y)));            \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* ---- all of them ---- */

#define CASE(name, record) {name, record, {3, 3, 3}, {3, 3, 1}, {0}},
#undef M
#undef N
#undef S
#define M(fn, ...) CASE(#fn, fn##_of)
#define N M
#define S M
#define OP1(name, ...) CASE("wg_mat_" #name, ew_##name)
#define OP2 OP1
#define OP3 OP1
#define OP4 OP1
static const derived_case cases[] = {REDUCED(M, N) MOVED(M, N) MULTIPLIED(M, N) SOLVED(M, N)
                                         SPECTRA(M, N) STATISTICS(M, N) BATCHED(M) SEVERAL(S)
                                             BATCHED_SEVERAL(S)
#include "ops/scalar/scalar.def"
};
static const derived_case sparse_cases[] = {SPARSE(S)};
enum {
    CASES = sizeof cases / sizeof *cases,
    SPARSE_CASES = sizeof sparse_cases / sizeof *sparse_cases
};

static const struct {
    const char *name, *why;
} without[] = {
    {"wg_mat_map", "its user gives a slope and no curve: wg_mat_map_twice takes one"},
    {"wg_mat_stop_gradient",
     "it is the operation whose derivatives are 0 though its value moves"},
    {"wg_csr_pattern", "a pattern has no values"},
};
static const char *why_not(const char *name) {
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(name, without[i].name) == 0) return without[i].why;
    return NULL;
}

static void second_derivatives_are_differences_of_gradients(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++)
        if (why_not(cases[i].name) == NULL) derived_check(&cases[i]);
}
static void so_are_those_of_sparse_systems(void **state) {
    (void)state;
    wg_tape *const t = derived_tape();
    const wg_csr c = full(t);
    (void)wg_sparse_spd_logdet(t, &c, flat(t, wg_mat_identity(t, 3)));
    const wg_status s = wg_tape_status(t);
    wg_tape_free(t);
    if (s == WG_EMODE) skip(); /* a library without SuiteSparse */
    for (size_t i = 0; i < SPARSE_CASES; i++) derived_check(&sparse_cases[i]);
}

static int has_row(const char *name, size_t n) {
    for (size_t i = 0; i < CASES; i++)
        if (strlen(cases[i].name) == n && strncmp(cases[i].name, name, n) == 0) return 1;
    for (size_t i = 0; i < SPARSE_CASES; i++)
        if (strlen(sparse_cases[i].name) == n && strncmp(sparse_cases[i].name, name, n) == 0)
            return 1;
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strlen(without[i].name) == n && strncmp(without[i].name, name, n) == 0) return 1;
    return 0;
}

/* The operations that a header declares: functions whose first argument is a tape. */
static size_t declared(const char *header, size_t *missing) {
    static char text[1 << 18];
    char path[128];
    size_t count = 0;
    snprintf(path, sizeof path, "include/wengert/%s.h", header);
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    assert_true(feof(file));
    fclose(file);
    for (const char *at = text; (at = strstr(at, "(wg_tape *t")) != NULL; at++) {
        const char *name = at;
        while (name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) name--;
        if (strncmp(name, "wg_", 3) != 0) continue;
        count++;
        if (has_row(name, (size_t)(at - name))) continue;
        print_message("%s: %.*s has no row here\n", path, (int)(at - name), name);
        ++*missing;
    }
    return count;
}

static void every_operation_has_a_row_or_a_reason(void **state) {
    (void)state;
    static const char *const headers[] = {
        "elementwise", "elementwise_ops", "reduce", "data",   "products", "solve",
        "spectral",    "statistics",      "sparse", "krylov", "batch"};
    size_t missing = 0;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        assert_true(declared(headers[i], &missing) >= 2);
    assert_int_equal(missing, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_derivatives_are_differences_of_gradients),
        cmocka_unit_test(so_are_those_of_sparse_systems),
        cmocka_unit_test(every_operation_has_a_row_or_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
