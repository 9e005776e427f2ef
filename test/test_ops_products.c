/* SPDX-License-Identifier: MIT */
/* test_ops_products.c - products of vectors and matrices, and convolution: the oracle in every
 * mode of the tape; what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/products.h>
#include "matrix_oracle.h"
#include "tolerance.h"
#include "walk.h"

/* ---- the oracle ---- */

RECORD(gemm) {
    (void)data;
    out[0] = wg_gemm(t, c->variant[0], c->variant[1], matrix_case_number(c, "alpha"), in[0],
                     in[1], matrix_case_number(c, "beta"), in[2]);
}
ORACLE(gemm)

RECORD(gemm_self) {
    (void)data;
    out[0] = wg_gemm(t, c->variant[0], c->variant[1], 1, in[0], in[0], 0, in[0]);
}
ORACLE(gemm_self)

RECORD(gemm_scalars) {
    (void)data;
    out[0] = wg_gemm_real(t, 'N', 'N', wg_mat_at(in[3], 0, 0), in[0], in[1],
                          wg_mat_at(in[4], 0, 0), in[2]);
    assert_string_equal(c->variant, "NN");
}
ORACLE(gemm_scalars)

RECORD(gemv) {
    (void)data;
    out[0] = wg_gemv(t, c->variant[0], matrix_case_number(c, "alpha"), in[0], in[1],
                     matrix_case_number(c, "beta"), in[2]);
}
ORACLE(gemv)

RECORD(symv) {
    (void)data;
    out[0] = wg_symv(t, c->variant[0], matrix_case_number(c, "alpha"), in[0], in[1],
                     matrix_case_number(c, "beta"), in[2]);
}
ORACLE(symv)

RECORD(dot) {
    (void)data, (void)c;
    out[0] = matrix_case_scalar(t, wg_mat_dot(t, in[0], in[1]));
}
ORACLE(dot)

RECORD(axpy) {
    (void)data;
    out[0] = wg_axpy(t, matrix_case_number(c, "alpha"), in[0], in[1]);
}
ORACLE(axpy)

RECORD(ger) {
    (void)data;
    out[0] = wg_ger(t, matrix_case_number(c, "alpha"), in[1], in[2], in[0]);
}
ORACLE(ger)

RECORD(syrk) {
    (void)data;
    out[0] = wg_syrk(t, c->variant[0], 1, in[0], 0, in[0]);
}
ORACLE(syrk)

RECORD(trmm) {
    (void)data;
    const char *const v = c->variant;
    out[0] = wg_trmm(t, v[0], v[1], v[2], v[3], 1, in[0], in[1]);
}
ORACLE(trmm)

RECORD(bmm) {
    (void)data;
    out[0] = wg_gemm_batch(t, c->in[0].dim[0], 'N', 'N', 1, in[0], in[1]);
}
ORACLE(bmm)

RECORD(outer) {
    (void)data, (void)c;
    out[0] = wg_outer(t, in[0], in[1]);
}
ORACLE(outer)

RECORD(kron) {
    (void)data, (void)c;
    out[0] = wg_kron(t, in[0], in[1]);
}
ORACLE(kron)

RECORD(trace) {
    (void)data, (void)c;
    out[0] = matrix_case_scalar(t, wg_trace(t, in[0]));
}
ORACLE(trace)

RECORD(trace_prod) {
    (void)data, (void)c;
    out[0] = matrix_case_scalar(t, wg_trace_product(t, wg_mat_transpose(in[0]), in[1]));
}
ORACLE(trace_prod)

RECORD(quadform) {
    (void)data, (void)c;
    out[0] = matrix_case_scalar(t, wg_quadform(t, in[0], in[1]));
}
ORACLE(quadform)

/* Three and four dimensions stand as channels x pixels of a batch. */
RECORD(conv1d) {
    (void)data;
    out[0] = wg_conv1d(t, c->in[0].dim[0], c->in[1].dim[0], matrix_case_size(c, "stride"),
                       matrix_case_size(c, "padding"), in[0], in[1], &in[2]);
    assert_int_equal(matrix_case_size(c, "dilation"), 1);
}
ORACLE(conv1d)

RECORD(conv2d) {
    (void)data;
    const size_t *const x = c->in[0].dim, *const w = c->in[1].dim;
    const size_t stride = matrix_case_size(c, "stride"), pad = matrix_case_size(c, "padding");
    const wg_conv s = {x[0],   x[2],      x[3], w[0], w[2], w[3], {stride, stride},
                       {1, 1}, {pad, pad}, 1};
    out[0] = wg_conv2d(t, &s, in[0], in[1], &in[2]);
}
ORACLE(conv2d)

/* ---- refusals ---- */

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    double v[64] = {0};
    const wg_mat a = wg_mat_input(t, 2, 3, v, 2), b = wg_mat_input(t, 4, 5, v, 4);
    const wg_mat s = wg_mat_input(t, 3, 3, v, 3), x = wg_mat_input(t, 7, 1, v, 7);
    const wg_real one = wg_constant(1);
    const wg_conv sizes = {1, 2, 2, 1, 1, 1, {1, 1}, {1, 1}, {0, 0}, 1};
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemm of 2x3, 4x5", wg_gemm(t, 'N', 'N', 1, a, b, 0, a));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemm of 2x3, 3x3, 4x5",
                   wg_gemm(t, 'N', 'N', 1, a, s, 1, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemm_real of 2x3, 3x3, 4x5",
                   wg_gemm_real(t, 'N', 'N', one, a, s, one, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_matmul of 2x3, 4x5", wg_matmul(t, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemv of 2x3, 7x1", wg_gemv(t, 'N', 1, a, x, 0, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemv of 2x3, 4x5", wg_gemv(t, 'N', 1, a, b, 0, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_ger of 7x1, 7x1, 2x3", wg_ger(t, 1, x, x, a));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_outer of 2x3, 7x1", wg_outer(t, a, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemm_batch of 2x3, 4x5",
                   wg_gemm_batch(t, 3, 'N', 'N', 1, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_gemm_batch of 2x3, 3x3",
                   wg_gemm_batch(t, 3, 'N', 'N', 1, a, s));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_symv of 2x3, 7x1", wg_symv(t, 'L', 1, a, x, 0, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_symv of 3x3, 4x5", wg_symv(t, 'L', 1, s, b, 0, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_symm of 3x3, 4x5", wg_symm(t, 'L', 'L', 1, s, b, 0, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_symm of 3x3, 2x3, 4x5",
                   wg_symm(t, 'R', 'L', 1, s, a, 1, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_syrk of 2x3, 4x5", wg_syrk(t, 'N', 1, a, 1, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trmv of 3x3, 7x1", wg_trmv(t, 'L', 'N', 'N', s, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trmv of 3x3, 4x5", wg_trmv(t, 'L', 'N', 'N', s, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trmm of 2x3, 4x5",
                   wg_trmm(t, 'L', 'L', 'N', 'N', 1, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trmm of 3x3, 4x5",
                   wg_trmm(t, 'R', 'L', 'N', 'N', 1, s, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_axpy of 2x3, 4x5", wg_axpy(t, 1, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_axpy_real of 2x3, 4x5", wg_axpy_real(t, one, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_mat_dot of 2x3, 4x5", wg_mat_dot(t, a, b));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trace of 2x3", wg_trace(t, a));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_trace_product of 2x3, 2x3", wg_trace_product(t, a, a));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_quadform of 2x3, 7x1", wg_quadform(t, a, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_quadform of 3x3, 7x1", wg_quadform(t, s, x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_quadform of 3x3, 2x3", wg_quadform(t, s, a));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_conv2d of 2x3, 4x5", wg_conv2d(t, &sizes, a, b, NULL));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_conv1d of 2x3, 4x5", wg_conv1d(t, 1, 1, 1, 0, a, b, NULL));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_conv1d of 2x3, 2x3, 7x1",
                   wg_conv1d(t, 1, 1, 1, 0, a, a, &x));
    MATRIX_REFUSED(t, WG_ESHAPE, "wg_matmul", wg_matmul(t, wg_mat_failed(2, 2), a));
    assert_int_equal(wg_mat_reverse(t, wg_matmul(t, a, s), NULL, 2), WG_OK);
    wg_tape_free(t);
}

static void unknown_flags_are_refused(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[9] = {0};
    const wg_mat s = wg_mat_input(t, 3, 3, v, 3), x = wg_mat_input(t, 3, 1, v, 3);
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_gemm(t, 'X', 'N', 1, s, s, 0, s));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_gemm(t, 'N', 0, 1, s, s, 0, s));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_gemv(t, 'L', 1, s, x, 0, x));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_symv(t, 'N', 1, s, x, 0, x));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_symm(t, 'N', 'L', 1, s, s, 0, s));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_syrk(t, 'U', 1, s, 0, s));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_trmv(t, 'L', 'N', 'X', s, x));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_trmm(t, 'U', 'L', 'N', 'N', 1, s, s));
    MATRIX_REFUSED(t, WG_EARG, "flag", wg_gemm_batch(t, 1, 'N', 'Q', 1, s, s));
    MATRIX_REFUSED(t, WG_EARG, "no matrices", wg_gemm_batch(t, 0, 'N', 'N', 1, s, s));
    MATRIX_REFUSED(t, WG_ENULL, "sizes are NULL", wg_conv2d(t, NULL, s, s, NULL));
    MATRIX_REFUSED(t, WG_EARG, "batch", wg_conv1d(t, 2, 1, 1, 0, s, s, NULL));
    MATRIX_REFUSED(t, WG_EARG, "filters", wg_conv1d(t, 1, 2, 1, 0, s, s, NULL));
    wg_tape_free(t);
}

static void without_a_tape_a_product_is_nan_of_its_shape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[12] = {0};
    const wg_mat a = wg_mat_input(t, 2, 3, v, 2), b = wg_mat_input(t, 3, 4, v, 3);
    const wg_mat y = wg_matmul(NULL, a, b);
    assert_null(y.value);
    assert_int_equal(y.rows, 2);
    assert_int_equal(y.cols, 4);
    assert_true(wg_value(wg_mat_dot(NULL, a, a)) != wg_value(wg_mat_dot(NULL, a, a)));
    wg_tape_free(t);
}

static void with_beta_zero_c_is_not_looked_at(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[4] = {1, 2, 3, 4};
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2);
    const wg_mat y = wg_gemm(t, 'N', 'N', 1, a, a, 0, wg_mat_failed(7, 7));
    double g[4];
    assert_int_equal(wg_mat_reverse(t, y, NULL, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    assert_true(g[0] == 1 + 3 + 1 + 2);
    wg_tape_free(t);
}

/* As FORMULAS: a product skips its adjoints when the whole of r_ is zero. */
static void a_product_nobody_uses_gives_no_adjoint(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double v[4] = {INFINITY, 1, 1, NAN}, zero[4] = {0};
    const wg_mat a = wg_mat_input(t, 2, 2, v, 2), y = wg_matmul(t, a, a);
    double g[4];
    assert_int_equal(wg_mat_reverse(t, y, zero, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, a, g, 2), WG_OK);
    for (int i = 0; i < 4; i++) assert_true(g[i] == 0);
    wg_tape_free(t);
}

static void all_cases_claimed_here_were_checked(void **state) {
    (void)state;
    matrix_claims_met("products");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_agrees_with_its_oracle),
        cmocka_unit_test(gemm_self_agrees_with_its_oracle),
        cmocka_unit_test(gemm_scalars_agrees_with_its_oracle),
        cmocka_unit_test(gemv_agrees_with_its_oracle),
        cmocka_unit_test(symv_agrees_with_its_oracle),
        cmocka_unit_test(dot_agrees_with_its_oracle),
        cmocka_unit_test(axpy_agrees_with_its_oracle),
        cmocka_unit_test(ger_agrees_with_its_oracle),
        cmocka_unit_test(syrk_agrees_with_its_oracle),
        cmocka_unit_test(trmm_agrees_with_its_oracle),
        cmocka_unit_test(bmm_agrees_with_its_oracle),
        cmocka_unit_test(outer_agrees_with_its_oracle),
        cmocka_unit_test(kron_agrees_with_its_oracle),
        cmocka_unit_test(trace_agrees_with_its_oracle),
        cmocka_unit_test(trace_prod_agrees_with_its_oracle),
        cmocka_unit_test(quadform_agrees_with_its_oracle),
        cmocka_unit_test(conv1d_agrees_with_its_oracle),
        cmocka_unit_test(conv2d_agrees_with_its_oracle),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(without_a_tape_a_product_is_nan_of_its_shape),
        cmocka_unit_test(with_beta_zero_c_is_not_looked_at),
        cmocka_unit_test(a_product_nobody_uses_gives_no_adjoint),
        cmocka_unit_test(all_cases_claimed_here_were_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
