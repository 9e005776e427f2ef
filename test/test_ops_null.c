/* SPDX-License-Identifier: MIT */
/* test_ops_null.c - every operation on matrices without a tape, on a tape in failure, with
 * arrays that are NULL, with operands that have failed: the result has failed and has its
 * shape, the tape says which function met what, the first failure stays, and after a reset all
 * is as before. */
#include <wengert/operation.h>

WG_OPERATION1(half, 0.5 * a, 0.5, 0, ARITH, "test")

#include "null_matrix.h"

static const size_t list[] = {1, 0, 1, 1};

/* ---- element by element ---- */

static double f_of(void *ctx, double at) {
    (void)ctx;
    return at * at;
}
static double slope_of(void *ctx, double at) {
    (void)ctx;
    return 2 * at;
}
static double curve_of(void *ctx, double at) {
    (void)ctx, (void)at;
    return 2;
}

static void rows_of_the_table_answer(void **state) {
    (void)state;
#define OP1(name, ...) MAT(wg_mat_##name, a);
#define OP2(name, ...) MAT(wg_mat_##name, a, b);
#define OP3(name, ...) MAT(wg_mat_##name, a, b, c);
#define OP4(name, ...) MAT(wg_mat_##name, a, b, c, d);
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
    /* and the functions behind what is inline */
    MAT_AS(wg_mat_add, (wg_mat_add), a, b);
    MAT_AS(wg_mat_sub, (wg_mat_sub), a, b);
    MAT_AS(wg_mat_mul, (wg_mat_mul), a, b);
    MAT_AS(wg_mat_div, (wg_mat_div), a, b);
}

static void other_elementwise_operations_answer(void **state) {
    (void)state;
    MAT(wg_mat_select, a, b, c);
    MAT(wg_mat_scale, 2, a);
    MAT(wg_mat_scale_real, p, a);
    MAT(wg_mat_axpby, 2, a, 3, b);
    MAT(wg_mat_map, f_of, slope_of, NULL, a);
    MAT_NULL(wg_mat_map, NULL, slope_of, NULL, a);
    MAT_NULL(wg_mat_map, f_of, NULL, NULL, a);
    MAT(wg_mat_map_twice, f_of, slope_of, curve_of, NULL, a);
    MAT_NULL(wg_mat_map_twice, f_of, slope_of, NULL, NULL, a);
    MAT(wg_mat_apply_scalar, &wgi_user_half, &a);
    MAT_NULL(wg_mat_apply_scalar, NULL, &a);
    MAT_NULL(wg_mat_apply_scalar, &wgi_user_half, NULL);
    MAT(wg_mat_add, a, x); /* stretched */
    MAT(wg_mat_mul, s, b);
}

static void reductions_answer(void **state) {
    (void)state;
#define REDUCTION(name, ...)                                                                   \
    REAL(wg_mat_##name, __VA_ARGS__);                                                          \
    MAT(wg_mat_##name##_axis, __VA_ARGS__, WG_EACH_COL);                                       \
    MAT(wg_mat_##name##_axis, __VA_ARGS__, WG_EACH_ROW)
    REDUCTION(sum, a);
    REDUCTION(mean, a);
    REDUCTION(var, a, 1);
    REDUCTION(std, a, 0);
    REDUCTION(prod, a);
    REDUCTION(max, a);
    REDUCTION(min, a);
    REDUCTION(norm_entries, a, 3);
    REDUCTION(logsumexp, a);
    REAL(wg_mat_norm_column_sum, a);
    REAL(wg_mat_norm_row_sum, a);
    MAT(wg_mat_cumsum, a, WG_EACH_ROW);
    MAT(wg_mat_cumprod, a, WG_EACH_COL);
    MAT(wg_mat_cummax, a, WG_EACH_COL);
    MAT(wg_mat_sort, a, WG_EACH_ROW);
    REDUCTION(quantile, a, 0.3);
    REDUCTION(median, a);
    MAT(wg_mat_softmax, a, WG_EACH_COL);
    MAT(wg_mat_log_softmax, a, WG_ALL);
    MAT(wg_mat_cross_entropy, a, list, WG_EACH_ROW);
    MAT_NULL(wg_mat_cross_entropy, a, NULL, WG_EACH_ROW);
    MAT_NULL(wg_mat_cross_entropy, a, NULL, WG_ALL);
    MAT(wg_mat_cross_entropy_soft, a, b, WG_EACH_COL);
    MAT(wg_mat_layer_norm, a, x, y, 0.125, WG_EACH_COL);
}

static void data_movement_answers(void **state) {
    (void)state;
    const size_t dim[] = {2, 2}, turned[] = {1, 0};
    MAT(wg_gather, a, 1, 3, list);
    MAT_NULL(wg_gather, a, 1, 3, NULL);
    MAT(wg_scatter_add, a, x, list);
    MAT_NULL(wg_scatter_add, a, x, NULL);
    MAT(wg_scatter_set, a, x, list);
    MAT_NULL(wg_scatter_set, a, x, NULL);
    MAT(wg_take_rows, a, 3, list);
    MAT_NULL(wg_take_rows, a, 3, NULL);
    MAT(wg_take_cols, a, 4, list);
    MAT_NULL(wg_take_cols, a, 4, NULL);
    MAT(wg_embedding, a, 4, list);
    MAT_NULL(wg_embedding, a, 4, NULL);
    MAT(wg_slice, a, 1, -1, 2, 0, 1, 1);
    MAT(wg_mat_copy, a);
    MAT(wg_flip_rows, a);
    MAT(wg_flip_cols, a);
    MAT(wg_tile, a, 2, 3);
    MAT(wg_repeat, a, 3, 2);
    MAT(wg_windows, a, 2, 1, 1);
    MAT(wg_broadcast_to, x, 2, 5);
    MAT(wg_permute, a, 2, dim, turned, 1);
    MAT_NULL(wg_permute, a, 2, NULL, turned, 1);
    MAT_NULL(wg_permute, a, 2, dim, NULL, 1);
    MAT(wg_concat_rows, 2, (const wg_mat[]){a, b});
    MAT(wg_concat_cols, 3, (const wg_mat[]){a, x, b});
    MAT(wg_concat_cols, 18,
        (const wg_mat[]){x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, y, z});
    MAT_NULL(wg_concat_rows, 2, NULL);
    MAT_NULL(wg_concat_rows, 18, NULL);
    MAT_NULL(wg_concat_cols, 2, NULL);
    MAT(wg_pad, a, 1, 0, 2, 1, 0.5);
    MAT(wg_mat_copy, wg_mat_diagonal(a));
    MAT(wg_diag, x);
    MAT(wg_block_diag, 2, (const wg_mat[]){a, x});
    MAT_NULL(wg_block_diag, 2, NULL);
    MAT_NULL(wg_block_diag, 18, NULL);
    MAT(wg_toeplitz, x, y);
    MAT(wg_solve_toeplitz, x, y, b);
    MAT(wg_solve_circulant, x, b);
    MAT(wg_circulant, x);
    MAT(wg_tril, a, 0);
    MAT(wg_triu, a, -1);
}

/* ---- products, systems ---- */

static void products_answer(void **state) {
    (void)state;
    const wg_pool window = {1, 2, 1, 1, 1, {1, 1}, {0, 0}};
    const wg_conv image = {1, 2, 1, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, 1};
    REAL(wg_mat_dot, a, b);
    MAT(wg_axpy, 2, a, b);
    MAT(wg_axpy_real, p, a, b);
    MAT(wg_ger, 2, x, y, a);
    MAT(wg_outer, x, y);
    MAT(wg_gemv, 'T', 2, a, x, 3, y);
    MAT(wg_gemm, 'N', 'T', 2, a, b, 3, c);
    MAT(wg_matmul, a, b);
    MAT(wg_gemm_real, 'T', 'N', p, a, b, q, c);
    MAT(wg_gemm_batch, 2, 'N', 'N', 1, w, w);
    MAT(wg_symv, 'L', 2, a, x, 3, y);
    MAT(wg_symm, 'R', 'U', 2, a, b, 3, c);
    MAT(wg_syrk, 'N', 2, a, 3, b);
    MAT(wg_trmv, 'L', 'T', 'N', a, x);
    MAT(wg_trmm, 'R', 'U', 'N', 'U', 2, a, b);
    MAT(wg_kron, a, b);
    MAT(wg_einsum, "ij,jk->ik", NULL, a, b);
    MAT_NULL(wg_einsum, NULL, NULL, a, b);
    REAL(wg_quadform, a, x);
    REAL(wg_trace, a);
    REAL(wg_trace_product, a, b);
    MAT(wg_conv2d, &image, wg_mat_transpose(x), s, NULL);
    MAT(wg_conv2d, &image, wg_mat_transpose(x), s, &r);
    MAT_NULL(wg_conv2d, NULL, wg_mat_transpose(x), s, &r);
    MAT(wg_conv2d_transposed, &image, wg_mat_transpose(x), s, NULL);
    MAT_NULL(wg_conv2d_transposed, NULL, wg_mat_transpose(x), s, &r);
    MAT(wg_max_pool2d, &window, wg_mat_transpose(x));
    MAT_NULL(wg_max_pool2d, NULL, wg_mat_transpose(x));
    MAT(wg_average_pool2d, &window, wg_mat_transpose(x));
    MAT_NULL(wg_average_pool2d, NULL, wg_mat_transpose(x));
    MAT(wg_conv1d, 1, 1, 1, 0, wg_mat_transpose(x), s, NULL);
    MAT(wg_conv1d, 1, 1, 1, 0, wg_mat_transpose(x), s, &r);
}

static void an_operand_with_the_factor_0_may_be_lost(void **state) {
    (void)state;
    const wg_mat lost = wg_mat_failed(2, 2), short_one = wg_mat_failed(2, 1);
    MAT(wg_gemm, 'N', 'N', 2, a, b, 0, lost);
    MAT(wg_gemv, 'N', 2, a, x, 0, short_one);
    MAT(wg_symm, 'L', 'L', 2, a, b, 0, lost);
    MAT(wg_symv, 'L', 2, a, x, 0, short_one);
    MAT(wg_syrk, 'N', 2, a, 0, lost);
}

static void a_pattern_without_its_arrays_has_failed(void **state) {
    (void)state;
    const size_t start[] = {0, 1, 2}, col[] = {0, 1};
    wg_csr made;
    try("wg_csr_pattern");
    made = wg_csr_pattern(NULL, 2, 2, start, col);
    assert_true(made.start == NULL && made.col == NULL && made.rows == 2 && made.cols == 2);
    made = wg_csr_pattern(tape, 2, 2, NULL, col);
    assert_null(made.start);
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    assert_non_null(strstr(wg_tape_message(tape), "wg_csr_pattern"));
    made = wg_csr_pattern(tape, 2, 2, start, col); /* a tape in failure */
    assert_null(made.start);
    wg_tape_reset(tape);
    made = wg_csr_pattern(tape, 2, 2, start, NULL);
    assert_null(made.start);
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    assert_non_null(strstr(wg_tape_message(tape), "wg_csr_pattern"));
    wg_tape_reset(tape);
    made = wg_csr_pattern(tape, 2, 2, start, col);
    assert_true(made.start != NULL && made.nnz == 2);
}

static void sparse_products_and_solves_answer(void **state) {
    (void)state;
    MAT(wg_spmv, 'N', &g, v, x);
    MAT(wg_spmm, 'T', &g, v, b);
    MAT_NULL(wg_spmv, 'N', NULL, v, x);
    MAT_NULL(wg_spmm, 'N', NULL, v, b);
    MAT_NULL(wg_sparse_solve, 'N', NULL, v, b);
    MAT_NULL(wg_sparse_spd_solve, NULL, v, b);
    /* a library without SuiteSparse refuses them */
    round_set();
    if (wg_sparse_solve(tape, 'N', &g, v, b).value == NULL) {
        assert_int_equal(wg_tape_status(tape), WG_EMODE);
        return;
    }
    MAT(wg_sparse_solve, 'T', &g, v, b);
    MAT(wg_sparse_spd_solve, &g, v, b);
    REAL(wg_sparse_spd_logdet, &g, v);
}

/* A factorisation that has failed: all of it. */
static void take_factor(wg_factor got) {
    judge_tape();
    assert_int_equal(got.packed == NULL, status_due() != WG_OK);
    assert_int_equal(got.sign.value == NULL, status_due() != WG_OK);
    assert_true(got.a.rows == 2 && got.a.cols == 2);
}

static void factorisations_answer(void **state) {
    (void)state;
    ROUNDS_OF(wg_lu, "wg_lu", WG_OK, a) take_factor(wg_lu(t, a));
    ROUNDS_OF(wg_potrf, "wg_potrf", WG_OK, a) take_factor(wg_potrf(t, a));
    MAT(wg_factor_solve, f, 'N', b);
    REAL(wg_factor_logdet, f);
    REAL(wg_factor_det, f);
    MAT(wg_factor_inverse, f);
    MAT(wg_cholesky, a);
    MAT(wg_cholesky_batch, 2, w);
    MATS(2, wg_qr, a, &out[0], &out[1]);
    MAT(wg_qr_q, a);
    MAT(wg_qr_r, a);
    MATS(2, wg_qr_pivoted, a, &out[0], &out[1], NULL);
    MATS(2, wg_lu_factors, a, &out[0], &out[1], NULL);
    MATS(2, wg_polar, a, &out[0], &out[1]);
    MAT(wg_det_batch, 2, w);
    MAT(wg_logabsdet_batch, 2, w, NULL);
    MAT(wg_logdet_spd_batch, 2, w);
    MAT(wg_inverse_batch, 2, w);
    MAT(wg_inverse_spd_batch, 2, w);
    MATS(2, wg_qr_batch, 2, w, &out[0], &out[1]);
}

static void systems_answer(void **state) {
    (void)state;
    double sign = 42;
    MAT(wg_solve, a, b);
    MAT(wg_solve_spd, a, b);
    MAT(wg_solve_batch, 2, w, a);
    MAT(wg_solve_spd_batch, 2, w, a);
    REAL(wg_logabsdet, a, NULL);
    REAL(wg_logabsdet, a, &sign);
    assert_true(sign == 1);
    (void)wg_logabsdet(tape, wg_mat_failed(2, 2), &sign);
    assert_true(isnan(sign));
    REAL(wg_logdet_spd, a);
    MAT(wg_solve_symmetric, a, b);
    REAL(wg_logabsdet_symmetric, a, NULL);
    REAL(wg_det, a);
    MAT(wg_inverse, a);
    MAT(wg_inverse_spd, a);
    MAT(wg_trsm, 'L', 'U', 'T', 'N', 2, a, b);
    MAT(wg_trsv, 'L', 'N', 'U', a, x);
    MAT(wg_trsm_batch, 2, 'R', 'L', 'N', 'N', 2, w, w);
    MAT(wg_solve_banded, 1, 0, a, b);
    MAT(wg_solve_tridiagonal, r, x, s, b);
    MAT(wg_lstsq, a, b);
    MAT(wg_lstsq, x, y);
    MAT(wg_lstsq_batch, 2, w, a);
    MAT(wg_pinv, a, -1);
}

/* ---- spectra, statistics ---- */

static double power_of(double at, const void *data) {
    (void)data;
    return at * at;
}
static double slope_of_power(double at, const void *data) {
    (void)data;
    return 2 * at;
}

static void spectra_answer(void **state) {
    (void)state;
    MAT(wg_eigvalsh, a);
    MATS(2, wg_eigh, a, &out[0], &out[1]);
    MAT(wg_eigvalsh_general, a, b);
    MATS(2, wg_eigh_general, a, b, &out[0], &out[1]);
    MATS(2, wg_eigvals, a, &out[0], &out[1]);
    MATS(3, wg_eig, a, &out[0], NULL, &out[1], &out[2]);
    MAT(wg_null_space, wg_mat_transpose(x), -1);
    MAT(wg_svdvals, a);
    MATS(3, wg_svd, a, &out[0], &out[1], &out[2]);
    MAT(wg_eigvalsh_batch, 2, w);
    MATS(2, wg_eigh_batch, 2, w, &out[0], &out[1]);
    MAT(wg_svdvals_batch, 2, w);
    MATS(3, wg_svd_batch, 2, w, &out[0], &out[1], &out[2]);
    REAL(wg_mat_norm_nuclear, a);
    REAL(wg_mat_norm_spectral, a);
}

static void functions_of_a_matrix_answer(void **state) {
    (void)state;
    const wg_symmetric_function both = {power_of, slope_of_power, NULL, NULL};
    const wg_symmetric_function no_f = {NULL, slope_of_power, NULL, NULL};
    const wg_symmetric_function no_slope = {power_of, NULL, NULL, NULL};
    MAT(wg_symmetric_exp, a);
    MAT(wg_symmetric_log, a);
    MAT(wg_symmetric_sqrt, a);
    MAT(wg_symmetric_inverse_sqrt, a);
    MAT(wg_symmetric_power, a, 1.5);
    MAT(wg_symmetric_apply, a, both);
    MAT_NULL(wg_symmetric_apply, a, no_f);
    MAT_NULL(wg_symmetric_apply, a, no_slope);
    MAT(wg_expm, a);
    MAT(wg_expm_batch, 2, w);
    MAT(wg_powm, a, 3);
    MAT(wg_powm, a, -2);
    MAT(wg_powm_real, a, 0.5);
    MAT(wg_sqrtm, a);
    MAT(wg_logm, a);
    MAT(wg_sylvester, a, b, c);
    MAT(wg_lyapunov, a, b);
    MAT(wg_lyapunov_discrete, a, b);
    MAT(wg_signm, a);
    MAT(wg_cosm, a);
    MAT(wg_sinm, a);
    MAT(wg_expmv, a, x);
    MAT(wg_riccati, a, x, b, s);
    MAT(wg_riccati_discrete, a, x, b, s);
}

static void results_that_are_null_are_not_wanted(void **state) {
    (void)state;
    operands_set();
    STATUS(WG_OK, wg_eigh, tape, a, NULL, &out[1]);
    STATUS(WG_OK, wg_eigh, tape, a, &out[0], NULL);
    STATUS(WG_OK, wg_eigh_general, tape, a, b, NULL, &out[1]);
    STATUS(WG_OK, wg_eigh_general, tape, a, b, &out[0], NULL);
    STATUS(WG_OK, wg_svd, tape, a, NULL, &out[1], &out[2]);
    STATUS(WG_OK, wg_svd, tape, a, &out[0], NULL, &out[2]);
    STATUS(WG_OK, wg_svd, tape, a, &out[0], &out[1], NULL);
    STATUS(WG_OK, wg_qr, tape, a, NULL, NULL);
    STATUS(WG_OK, wg_qr_pivoted, tape, a, NULL, NULL, NULL);
    STATUS(WG_OK, wg_lu_factors, tape, a, NULL, NULL, NULL);
    STATUS(WG_OK, wg_polar, tape, a, NULL, NULL);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

static void statistics_answer(void **state) {
    (void)state;
    REAL(wg_mvn_logpdf, x, y, a);
    MAT(wg_mvn_logpdf_batch, 2, b, y, a);
    MAT(wg_covariance, WG_MATERN_52, a, s, p, q);
    MAT(wg_covariance_between, WG_SQUARED_EXPONENTIAL, a, b, x, p);
    REAL(wg_gp_logml, WG_MATERN_32, a, b, s, p, q);
    REAL(wg_kalman_step, b, c, a, a, x, (wg_mat[]){y}, (wg_mat[]){a});
    MAT(wg_distances, a, b);
    MAT(wg_distances_squared, a, b);
    MAT(wg_data_covariance, a, 1);
}

static void adjoints_of_plain_arrays_answer(void **state) {
    (void)state;
    double number[4] = {2, 1, 1, 3}, bar[4] = {1, 1, 1, 1}, alpha_b = 0, work[1 << 12];
    const int pivot[2] = {1, 2};
    STATUS(WG_ENULL, wg_vjp_ddot, 2, NULL, NULL, 1, number, bar, 1, 1);
    STATUS(WG_ENULL, wg_vjp_ddot, 2, number, bar, 1, NULL, NULL, 1, 1);
    STATUS(WG_ENULL, wg_vjp_dnrm2, 2, NULL, bar, 1, 1);
    STATUS(WG_ENULL, wg_vjp_dasum, 2, NULL, bar, 1, 1);
    STATUS(WG_ENULL, wg_vjp_daxpy, 2, 1, NULL, number, bar, 1, number, NULL, 1);
    STATUS(WG_ENULL, wg_vjp_daxpy, 2, 1, &alpha_b, NULL, NULL, 1, number, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dscal, 2, 1, NULL, number, NULL, 1);
    STATUS(WG_ENULL, wg_vjp_dscal, 2, 1, &alpha_b, NULL, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dcopy, 2, number, bar, 1, number, NULL, 1);
    STATUS(WG_ENULL, wg_vjp_dswap, 2, number, NULL, 1, number, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dswap, 2, number, bar, 1, number, NULL, 1);
    STATUS(WG_ENULL, wg_vjp_dgemv, 'C', 'N', 2, 2, 1, NULL, number, bar, 2, NULL, NULL, 1, 0,
           NULL, number, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dgemv, 'C', 'N', 2, 2, 1, NULL, number, bar, 2, number, NULL, 1, 0,
           &alpha_b, NULL, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dsymv, 'C', 'L', 2, 1, NULL, NULL, NULL, 2, number, bar, 1, 0, NULL,
           number, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dsymv, 'C', 'L', 2, 1, NULL, number, bar, 2, number, bar, 1, 0,
           NULL, number, NULL, 1);
    STATUS(WG_ENULL, wg_vjp_dger, 'C', 2, 2, 1, NULL, number, bar, 1, NULL, NULL, 1, number,
           bar, 2);
    STATUS(WG_ENULL, wg_vjp_dger, 'C', 2, 2, 1, NULL, number, bar, 1, number, bar, 1, number,
           NULL, 2);
    STATUS(WG_ENULL, wg_vjp_dtrmv, 'C', 'L', 'N', 'N', 2, NULL, bar, 2, number, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dtrsv, 'C', 'L', 'N', 'N', 2, number, bar, 2, NULL, bar, 1);
    STATUS(WG_ENULL, wg_vjp_dgemm, 'C', 'N', 'N', 2, 2, 2, 1, NULL, NULL, bar, 2, number, bar,
           2, 0, NULL, number, bar, 2);
    STATUS(WG_ENULL, wg_vjp_dgemm, 'C', 'N', 'N', 2, 2, 2, 1, NULL, number, bar, 2, number, bar,
           2, 0, NULL, number, NULL, 2);
    STATUS(WG_ENULL, wg_vjp_dsymm, 'C', 'L', 'L', 2, 2, 1, &alpha_b, number, bar, 2, NULL, NULL,
           2, 0, NULL, number, bar, 2);
    STATUS(WG_ENULL, wg_vjp_dsyrk, 'C', 'L', 'N', 2, 2, 1, NULL, NULL, bar, 2, 0, NULL, number,
           bar, 2);
    STATUS(WG_ENULL, wg_vjp_dtrmm, 'C', 'L', 'L', 'N', 'N', 2, 2, 1, NULL, number, bar, 2, NULL,
           bar, 2);
    STATUS(WG_ENULL, wg_vjp_dtrsm, 'C', 'L', 'L', 'N', 'N', 2, 2, 1, &alpha_b, number, bar, 2,
           NULL, bar, 2);
    STATUS(WG_ENULL, wg_vjp_dgetrf, 'C', 2, 2, number, bar, 2, NULL, work);
    STATUS(WG_ENULL, wg_vjp_dgetrf, 'C', 2, 2, number, bar, 2, pivot, NULL);
    STATUS(WG_ENULL, wg_vjp_dgetrs, 'C', 'N', 2, 1, number, bar, 2, pivot, NULL, bar, 2, work);
    STATUS(WG_ENULL, wg_vjp_dgesv, 'C', 2, 1, number, NULL, 2, pivot, number, bar, 2, work);
    STATUS(WG_ENULL, wg_vjp_dpotrf, 'C', 'L', 2, NULL, bar, 2, work);
    STATUS(WG_ENULL, wg_vjp_dpotrs, 'C', 'L', 2, 1, number, NULL, 2, number, NULL, 2, work);
    STATUS(WG_ENULL, wg_vjp_dposv, 'C', 'L', 2, 1, number, bar, 2, number, bar, 2, NULL);
    assert_int_equal((try("wg_vjp_room"), wg_vjp_room(0, 1)), 0);
}

static void every_function_of_these_headers_was_tried(void **state) {
    (void)state;
    assert_all_tried(__FILE__);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_of_the_table_answer),
        TEST(other_elementwise_operations_answer),
        TEST(reductions_answer),
        TEST(data_movement_answers),
        TEST(products_answer),
        TEST(an_operand_with_the_factor_0_may_be_lost),
        TEST(a_pattern_without_its_arrays_has_failed),
        TEST(sparse_products_and_solves_answer),
        TEST(factorisations_answer),
        TEST(systems_answer),
        TEST(spectra_answer),
        TEST(functions_of_a_matrix_answer),
        TEST(results_that_are_null_are_not_wanted),
        TEST(statistics_answer),
        TEST(adjoints_of_plain_arrays_answer),
        cmocka_unit_test(every_function_of_these_headers_was_tried), /* the last one */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
