/* SPDX-License-Identifier: MIT */
/* test_tape_drivers.c - from a function to its derivatives in one call.
 *
 * References: closed forms, and the optimisation problems of data/opt_problems.txt. */
#include "driver_cases.h"
#include "opt_cases.h"

/* Relative to the largest entry of the reference. */
static double error_of(size_t n, const double *got, const double *ref) {
    double size = 0, error = 0;
    for (size_t i = 0; i < n; i++) {
        size = fmax(size, fabs(ref[i]));
        error = got[i] == got[i] ? fmax(error, fabs(got[i] - ref[i])) : INFINITY;
    }
    return size > 0 ? error / size / DBL_EPSILON : error;
}

/* Outputs of all kinds: a function of x, a constant, an input, the same twice, a literal. */
static wg_status kinds(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(x[0], x[1]));
    y[1] = wg_constant(4);
    y[2] = x[1];
    y[3] = y[4] = wg_let(t, wg_exp(x[0]));
    y[5] = wg_let(t, 2.5);
    return WG_OK;
}

/* ---- the optimisation problems ---- */

static void assert_entries(const struct opt_case *c, const char *what, size_t n,
                           const double *got, const double *ref) {
    const double e = error_of(n, got, ref);
    if (!(e <= TOL_PROBLEM_ULP))
        fail_msg("%s of %s %s is wrong by %g ulp", what, c->text.name, c->text.variant, e);
}

static void gradient_case(const struct opt_case *c) {
    int number = c->number;
    double f = NAN, g[OPT_MAX_N], same;
    assert_int_equal(wg_gradient(tape, opt_objective, &number, c->n, c->x, &f, g), WG_OK);
    assert_entries(c, "the value", 1, &f, c->f);
    assert_entries(c, "the gradient", c->n, g, c->g);
    assert_int_equal(wg_eval(tape, opt_objective, &number, c->n, c->x, 1, &same), WG_OK);
    assert_true(same == f);
}
static void gradients_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(gradient_case), OPT_CASES);
}

static void jacobian_case(const struct opt_case *c) {
    enum { LD = OPT_MAX_M + 3 };
    static double rows[OPT_MAX_M * OPT_MAX_N], columns[LD * OPT_MAX_N];
    double y[OPT_MAX_M];
    int number = c->number;
    if (c->m == 0) return;
    assert_int_equal(wg_jacobian(tape, opt_residuals, &number, c->n, c->x, c->m, y,
                                 WG_ROW_MAJOR, rows, c->n),
                     WG_OK);
    assert_entries(c, "the residual", c->m, y, c->r);
    for (size_t j = 0; j < c->m; j++)
        assert_entries(c, "a row", c->n, rows + j * c->n, c->j + j * c->n);
    for (size_t i = 0; i < LD * c->n; i++) columns[i] = -77;
    assert_int_equal(wg_jacobian(coded, opt_residuals, &number, c->n, c->x, c->m, NULL,
                                 WG_COL_MAJOR, columns, LD),
                     WG_OK);
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < LD; j++)
            assert_true(columns[i * LD + j] == (j < c->m ? rows[j * c->n + i] : -77));
}
static void jacobians_equal_the_reference_in_both_layouts(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(jacobian_case), OPT_CASES);
}

static void product_case(const struct opt_case *c) {
    double v[OPT_MAX_N], w[OPT_MAX_M], y[OPT_MAX_M], jv[OPT_MAX_M], g[OPT_MAX_N];
    int number = c->number;
    if (c->m == 0) return;
    for (size_t i = 0; i < c->n; i++) v[i] = 1 - 0.3 * (double)i;
    for (size_t j = 0; j < c->m; j++) w[j] = j % 3 == 0 ? -1 : 0.5 + (double)j;
    assert_int_equal(wg_jvp(tape, opt_residuals, &number, c->n, c->x, v, c->m, y, jv), WG_OK);
    assert_entries(c, "the residual", c->m, y, c->r);
    assert_int_equal(wg_vjp(tape, opt_residuals, &number, c->n, c->x, c->m, w, y, g), WG_OK);
    for (size_t j = 0; j < c->m; j++) {
        double ref = 0, size = 0;
        for (size_t i = 0; i < c->n; i++) {
            ref += c->j[j * c->n + i] * v[i];
            size += fabs(c->j[j * c->n + i] * v[i]);
        }
        assert_true(fabs(jv[j] - ref) <= TOL_PROBLEM_ULP * DBL_EPSILON * size);
    }
    for (size_t i = 0; i < c->n; i++) {
        double ref = 0, size = 0;
        for (size_t j = 0; j < c->m; j++) {
            ref += c->j[j * c->n + i] * w[j];
            size += fabs(c->j[j * c->n + i] * w[j]);
        }
        assert_true(fabs(g[i] - ref) <= TOL_PROBLEM_ULP * DBL_EPSILON * size);
    }
}
static void products_with_the_jacobian_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(product_case), OPT_CASES);
}

static void hessian_case(const struct opt_case *c) {
    enum { LD = OPT_MAX_N + 1 };
    double h[LD * OPT_MAX_N], dense[OPT_MAX_N * OPT_MAX_N], f, g[OPT_MAX_N];
    double v[OPT_MAX_N], hv[OPT_MAX_N], ref[OPT_MAX_N], f2, g2[OPT_MAX_N];
    int number = c->number;
    for (size_t i = 0; i < LD * c->n; i++) h[i] = -77;
    assert_int_equal(wg_hessian(coded, opt_objective, &number, c->n, c->x, &f, g, h, LD),
                     WG_OK);
    for (size_t j = 0; j < c->n; j++) {
        memcpy(dense + j * c->n, h + j * LD, c->n * sizeof *h);
        assert_true(h[j * LD + c->n] == -77);
        for (size_t i = 0; i < c->n; i++) assert_true(h[j * LD + i] == h[i * LD + j]);
    }
    assert_entries(c, "the value", 1, &f, c->f);
    assert_entries(c, "the gradient", c->n, g, c->g);
    assert_entries(c, "the Hessian", c->n * c->n, dense, c->h);
    for (size_t i = 0; i < c->n; i++) v[i] = i % 2 ? -0.5 : 1;
    assert_int_equal(wg_hvp(coded, opt_objective, &number, c->n, c->x, v, &f2, g2, hv), WG_OK);
    assert_true(f2 == f);
    assert_memory_equal(g2, g, c->n * sizeof *g);
    double largest = 0;
    for (size_t i = 0; i < c->n; i++) {
        ref[i] = 0;
        for (size_t j = 0; j < c->n; j++) {
            ref[i] += c->h[i * c->n + j] * v[j];
            largest = fmax(largest, fabs(c->h[i * c->n + j]));
        }
        assert_true(fabs(hv[i] - ref[i]) <=
                    TOL_PROBLEM_ULP * DBL_EPSILON * largest * (double)c->n);
    }
}
static void hessians_equal_the_reference(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(hessian_case), OPT_CASES);
}

/* ---- shapes ---- */

static void jacobians_of_all_shapes_go_the_cheaper_way(void **state) {
    (void)state;
    static const struct {
        size_t n, m;
        int evaluations; /* forward: one for 8 columns; reverse: one */
    } shape[] = {{1, 1, 1},   {2, 1, 1},   {1, 7, 1},   {3, 8, 1},   {9, 9, 1},
                 {100, 3, 1}, {3, 100, 1}, {8, 17, 1},  {9, 200, 2}, {20, 300, 3},
                 {20, 64, 1}, {20, 65, 3}, {64, 65, 1}, {1, 1000, 1}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
        for (int layout = 0; layout < 2; layout++) {
            check_wave(tape, shape[i].n, shape[i].m, (wg_layout)layout, shape[i].evaluations);
            check_wave(coded, shape[i].n, shape[i].m, (wg_layout)layout, shape[i].evaluations);
        }
}

static void outputs_of_all_kinds_have_their_rows(void **state) {
    (void)state;
    const double x[3] = {0.5, 3, -2};
    const double expected[6][3] = {{3, 0.5, 0},      {0, 0, 0},        {0, 1, 0},
                                   {exp(0.5), 0, 0}, {exp(0.5), 0, 0}, {0, 0, 0}};
    double y[6], jac[6][3], g[3], jv[6];
    assert_int_equal(wg_jacobian(tape, kinds, NULL, 3, x, 6, y, WG_ROW_MAJOR, jac[0], 3),
                     WG_OK);
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < 3; i++) assert_true(jac[j][i] == expected[j][i]);
    assert_true(y[1] == 4 && y[2] == 3 && y[5] == 2.5 && y[3] == y[4]);
    const double w[6] = {1, 10, 100, 1000, 1000, 10}, v[3] = {1, 2, 4};
    assert_int_equal(wg_vjp(tape, kinds, NULL, 3, x, 6, w, y, g), WG_OK);
    assert_close(g[0], 3 + 2000 * exp(0.5));
    assert_true(g[1] == 100.5 && g[2] == 0);
    assert_int_equal(wg_jvp(tape, kinds, NULL, 3, x, v, 6, y, jv), WG_OK);
    assert_true(jv[0] == 4 && jv[1] == 0 && jv[2] == 2 && jv[3] == jv[4] && jv[5] == 0);
}

static void constant_functions_have_derivatives_zero(void **state) {
    (void)state;
    const double x[2] = {1, 2}, one[2] = {1, 1};
    double f = NAN, g[2] = {NAN, NAN}, h[4], hv[2], jac[40], jv[20];
    assert_int_equal(wg_gradient(tape, constant, NULL, 2, x, &f, g), WG_OK);
    assert_true(f == 7 && g[0] == 0 && g[1] == 0);
    assert_int_equal(wg_hessian(coded, constant, NULL, 2, x, &f, g, h, 2), WG_OK);
    assert_int_equal(wg_hvp(coded, constant, NULL, 2, x, one, &f, g, hv), WG_OK);
    for (int i = 0; i < 4; i++) assert_true(h[i] == 0);
    assert_true(hv[0] == 0 && hv[1] == 0 && g[0] == 0 && g[1] == 0);
    assert_int_equal(wg_jacobian(tape, constant, NULL, 2, x, 20, NULL, WG_ROW_MAJOR, jac, 2),
                     WG_OK);
    for (int i = 0; i < 40; i++) assert_true(jac[i] == 0);
    assert_int_equal(wg_jvp(tape, constant, NULL, 2, x, one, 20, NULL, jv), WG_OK);
    for (int i = 0; i < 20; i++) assert_true(jv[i] == 0);
}

static void outputs_never_written_are_nan_with_nan_derivatives(void **state) {
    (void)state;
    const double x[2] = {1, 2}, v[2] = {1, 1};
    double y[20], g[2] = {0, 0}, jac[40] = {0}, jv[20], h[4] = {0};
    assert_int_equal(wg_eval(tape, nothing, NULL, 2, x, 20, y), WG_OK);
    for (int j = 0; j < 20; j++) assert_nan(y[j]);
    assert_int_equal(wg_gradient(tape, nothing, NULL, 2, x, y, g), WG_OK);
    assert_nan(y[0]), assert_nan(g[0]), assert_nan(g[1]);
    for (size_t m = 2; m <= 20; m += 18) { /* backward, forward */
        assert_int_equal(wg_jacobian(tape, nothing, NULL, 2, x, m, y, WG_ROW_MAJOR, jac, 2),
                         WG_OK);
        for (size_t i = 0; i < 2 * m; i++) assert_nan(jac[i]);
    }
    assert_int_equal(wg_jvp(tape, nothing, NULL, 2, x, v, 2, y, jv), WG_OK);
    assert_nan(jv[0]), assert_nan(jv[1]);
    assert_int_equal(wg_hessian(coded, nothing, NULL, 2, x, NULL, NULL, h, 2), WG_OK);
    assert_nan(h[0]), assert_nan(h[3]);
    const double w[2] = {1, 0};
    assert_int_equal(wg_vjp(tape, nothing, NULL, 2, x, 2, w, y, g), WG_OK);
    assert_nan(g[0]);
}

static void empty_lists_of_inputs_and_outputs_work(void **state) {
    (void)state;
    double y[3] = {0, 0, 0}, jac = 5, f = 0;
    const double x[2] = {1, 2};
    for (int k = 0; k < 2; k++) {
        wg_tape *const t = k ? coded : tape;
        assert_int_equal(wg_eval(t, constant, NULL, 0, NULL, 3, y), WG_OK);
        assert_true(y[2] == 7);
        assert_int_equal(wg_eval(t, nothing, NULL, 2, x, 0, NULL), WG_OK);
        assert_int_equal(wg_eval(t, nothing, NULL, 0, NULL, 0, NULL), WG_OK);
        assert_int_equal(wg_gradient(t, constant, NULL, 0, NULL, &f, NULL), WG_OK);
        assert_true(f == 7);
        assert_int_equal(wg_gradient(t, constant, NULL, 0, NULL, &f, &jac), WG_OK);
        assert_int_equal(wg_jacobian(t, constant, NULL, 0, NULL, 3, y, WG_ROW_MAJOR, &jac, 0),
                         WG_OK);
        assert_int_equal(wg_jacobian(t, nothing, NULL, 2, x, 0, NULL, WG_COL_MAJOR, &jac, 0),
                         WG_OK);
        assert_int_equal(wg_jvp(t, constant, NULL, 0, NULL, NULL, 3, y, y), WG_OK);
        assert_int_equal(wg_vjp(t, nothing, NULL, 2, x, 0, NULL, NULL, y), WG_OK);
        assert_true(y[0] == 0 && y[1] == 0);
        assert_int_equal(wg_jacobian_groups(t, constant, NULL, 0, NULL, NULL, 3, y,
                                            WG_ROW_MAJOR, NULL, NULL),
                         WG_OK);
        assert_true(y[0] == 7);
    }
    assert_int_equal(wg_hessian(coded, constant, NULL, 0, NULL, &f, NULL, &jac, 0), WG_OK);
    assert_int_equal(wg_hvp(coded, constant, NULL, 0, NULL, NULL, &f, NULL, &jac), WG_OK);
    assert_true(jac == 5);
}

static void outputs_that_are_not_wanted_may_be_null(void **state) {
    (void)state;
    const double x[2] = {2, 3}, v[2] = {1, 0};
    double f = 0, g[2] = {0, 0}, h[4], hv[2];
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, NULL, g), WG_OK);
    assert_true(g[0] == 3 && g[1] == 2);
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, &f, NULL), WG_OK);
    assert_true(f == 6);
    assert_int_equal(wg_gradient(tape, product, NULL, 2, x, NULL, NULL), WG_OK);
    assert_int_equal(wg_jacobian(tape, product, NULL, 2, x, 1, &f, WG_ROW_MAJOR, NULL, 0),
                     WG_OK);
    assert_int_equal(wg_jvp(tape, product, NULL, 2, x, NULL, 1, &f, NULL), WG_OK);
    assert_int_equal(wg_vjp(tape, product, NULL, 2, x, 1, NULL, &f, NULL), WG_OK);
    assert_int_equal(wg_hessian(coded, product, NULL, 2, x, NULL, NULL, h, 2), WG_OK);
    assert_true(h[0] == 0 && h[1] == 1 && h[2] == 1 && h[3] == 0);
    assert_int_equal(wg_hvp(coded, product, NULL, 2, x, v, NULL, NULL, hv), WG_OK);
    assert_true(hv[0] == 0 && hv[1] == 1);
    g[0] = g[1] = 0;
    assert_int_equal(wg_hvp(coded, product, NULL, 2, x, NULL, &f, g, NULL), WG_OK);
    assert_true(g[0] == 3 && g[1] == 2 && f == 6);
}

/* ---- groups of inputs ---- */

/* Two outputs of a camera (3), a point (2) and a weight (1): x0 x3 + x5, x1 x4 x5 + x2. */
static wg_status grouped(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)m;
    assert_int_equal(n, 6);
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[3]), x[5]));
    y[1] = wg_let(t, wg_add(wg_mul(wg_mul(x[1], x[4]), x[5]), x[2]));
    if (data != NULL) {
        wg_stats s;
        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
        *(uint64_t *)data = s.slots;
    }
    return WG_OK;
}

static void groups_of_inputs_have_a_block_each(void **state) {
    (void)state;
    const double camera[3] = {2, 3, 5}, point[2] = {7, 11}, weight[1] = {13};
    const double *const x[4] = {camera, NULL, point, weight};
    const size_t size[4] = {3, 0, 2, 1}, ld[4] = {4, 0, 2, 1};
    double jc[2 * 4], jp[2 * 2], y[2];
    double *const jac[4] = {jc, NULL, jp, NULL};
    uint64_t slots = 0;
    jc[3] = jc[7] = -77;
    assert_int_equal(
        wg_jacobian_groups(tape, grouped, &slots, 4, size, x, 2, y, WG_ROW_MAJOR, jac, ld),
        WG_OK);
    const double expected_c[8] = {7, 0, 0, -77, 0, 11 * 13, 1, -77};
    const double expected_p[4] = {2, 0, 0, 3 * 13};
    for (int i = 0; i < 8; i++) assert_true(jc[i] == expected_c[i]);
    for (int i = 0; i < 4; i++) assert_true(jp[i] == expected_p[i]);
    assert_true(y[0] == 27 && y[1] == 434);
    assert_int_equal(slots, 5 + 2); /* the weight is a constant */

    double *const only_weight[4] = {NULL, NULL, NULL, jc};
    const size_t ld_weight[4] = {0, 0, 0, 2};
    assert_int_equal(wg_jacobian_groups(tape, grouped, NULL, 4, size, x, 2, NULL, WG_COL_MAJOR,
                                        only_weight, ld_weight),
                     WG_OK);
    assert_true(jc[0] == 1 && jc[1] == 33);
    assert_int_equal(
        wg_jacobian_groups(tape, grouped, &slots, 4, size, x, 2, y, WG_ROW_MAJOR, NULL, NULL),
        WG_OK);
    assert_true(slots == 0 && y[0] == 27);
}

/* Columns of several groups in one evaluation, and of one group in several. */
static void blocks_of_groups_make_up_the_whole_jacobian(void **state) {
    (void)state;
    enum { N = 20, M = 120 };
    double x[N];
    static double whole[M * N], a[M * 5], c[M * 12], y[M];
    for (int i = 0; i < N; i++) x[i] = 0.2 + 0.1 * i;
    const size_t size[4] = {5, 2, 12, 1}, ld[4] = {M, 0, M, 0};
    const double *const parts[4] = {x, x + 5, x + 7, x + 19};
    double *const jac[4] = {a, NULL, c, NULL};
    int calls = 0;
    assert_int_equal(wg_jacobian(tape, wave, NULL, N, x, M, y, WG_COL_MAJOR, whole, M), WG_OK);
    assert_int_equal(
        wg_jacobian_groups(tape, wave, &calls, 4, size, parts, M, y, WG_COL_MAJOR, jac, ld),
        WG_OK);
    assert_int_equal(calls, 3);
    assert_memory_equal(a, whole, sizeof a);
    assert_memory_equal(c, whole + 7 * M, sizeof c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_equal_the_reference),
        cmocka_unit_test(jacobians_equal_the_reference_in_both_layouts),
        cmocka_unit_test(products_with_the_jacobian_equal_the_reference),
        cmocka_unit_test(hessians_equal_the_reference),
        cmocka_unit_test(jacobians_of_all_shapes_go_the_cheaper_way),
        cmocka_unit_test(outputs_of_all_kinds_have_their_rows),
        cmocka_unit_test(constant_functions_have_derivatives_zero),
        cmocka_unit_test(outputs_never_written_are_nan_with_nan_derivatives),
        cmocka_unit_test(empty_lists_of_inputs_and_outputs_work),
        cmocka_unit_test(outputs_that_are_not_wanted_may_be_null),
        cmocka_unit_test(groups_of_inputs_have_a_block_each),
        cmocka_unit_test(blocks_of_groups_make_up_the_whole_jacobian),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
