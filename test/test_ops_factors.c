/* SPDX-License-Identifier: MIT */
/* test_ops_factors.c - factors as results (P A = L U, pivoted QR, polar) and symmetric matrices
 * that are not definite: the products they come from, derivatives in every mode, refusals. */
#include "derived_case.h"
#include "tolerance.h"
#include "written_out.h"

/* A product of factors of order n against what was factored, in units of n DBL_EPSILON times
 * the largest entry. */
#define TOL_FACTORS 64.0

static void near(const char *what, wg_mat got, wg_mat want) {
    const double size = fmax(1, derived_size(want));
    derived_close(what, got, want,
                  TOL_FACTORS * (double)(want.rows + want.cols) * DBL_EPSILON * size);
}
static wg_mat symmetric(wg_tape *t, wg_mat a) {
    return wg_mat_axpby(t, 0.5, a, 0.5, wg_mat_transpose(a));
}

/* ---- values ---- */

static void factors_multiply_to_what_was_factored(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 3;
    for (size_t n = 0; n <= 33; n += n < 8 ? 1 : 5) {
        wg_tape_reset(t);
        size_t perm[DERIVED_SIDE];
        wg_mat l, u;
        const wg_mat a = derived_random(t, n, n, 1, &seed);
        assert_int_equal(wg_lu_factors(t, a, &l, &u, perm), WG_OK);
        near("L U", wg_matmul(t, l, u), wg_take_rows(t, a, n, perm));
        near("L", wg_triu(t, l, 0), wg_mat_identity(t, n));
        near("U", wg_tril(t, u, -1), wg_mat_fill(t, n, n, 0));
        for (size_t m = n < 2 ? 0 : n - 2; m <= n + 3; m++) {
            const size_t p = m < n ? m : n;
            wg_mat q, r;
            const wg_mat b = derived_random(t, m, n, 1, &seed);
            assert_int_equal(wg_qr_pivoted(t, b, &q, &r, perm), WG_OK);
            near("Q R", wg_matmul(t, q, r), wg_take_cols(t, b, n, perm));
            near("Q", wg_gemm(t, 'T', 'N', 1, q, q, 0, q), wg_mat_identity(t, p));
            for (size_t i = 1; i < p; i++)
                assert_true(fabs(wg_value(wg_mat_at(r, i, i))) <=
                            fabs(wg_value(wg_mat_at(r, i - 1, i - 1))) * (1 + 1e-12));
            if (m < n) continue;
            wg_mat h;
            assert_int_equal(wg_polar(t, b, &u, &h), WG_OK);
            near("U H", wg_matmul(t, u, h), b);
            near("U", wg_gemm(t, 'T', 'N', 1, u, u, 0, h), wg_mat_identity(t, n));
            near("H", h, wg_mat_transpose(h));
            const wg_mat w = wg_eigvalsh(t, h);
            for (size_t i = 0; i < n; i++) assert_true(wg_value(wg_mat_at(w, i, 0)) > 0);
        }
    }
    wg_tape_free(t);
}

static void symmetric_systems_are_solved_and_their_negative_eigenvalues_counted(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 7;
    for (size_t n = 0; n <= 33; n += n < 8 ? 1 : 5) {
        wg_tape_reset(t);
        const wg_mat a = derived_random(t, n, n, 1, &seed),
                     b = derived_random(t, n, 3, 1, &seed);
        const wg_mat low = wg_tril(t, a, 0),
                     s = wg_mat_add(t, low, wg_mat_transpose(wg_tril(t, a, -1)));
        const wg_mat x = wg_solve_symmetric(t, a, b), w = wg_eigvalsh(t, s);
        double sign, size = 1;
        for (size_t j = 0; j < 3; j++)
            for (size_t i = 0; i < n; i++)
                size = fmax(size, fabs(wg_value(wg_mat_at(x, i, j))));
        near("S X", wg_mat_scale(t, 1 / size, wg_matmul(t, s, x)),
             wg_mat_scale(t, 1 / size, b));
        size_t negative = 99, count = 0;
        const double got = wg_value(wg_logabsdet_symmetric(t, a, &negative));
        const double want = wg_value(wg_logabsdet(t, s, &sign));
        for (size_t i = 0; i < n; i++) count += wg_value(wg_mat_at(w, i, 0)) < 0;
        assert_int_equal(negative, count);
        assert_true((negative % 2 == 0) == (sign > 0));
        assert_true(fabs(got - want) <=
                    TOL_FACTORS * (double)(n + 1) * DBL_EPSILON * fmax(1, fabs(want)) * size);
    }
    wg_tape_free(t);
}

/* A zero diagonal has no pivots of order 1: [0 1; 1 0] and the like. */
static void a_zero_diagonal_is_no_obstacle(void **state) {
    (void)state;
    static const double v[] = {0, 2, 0, 0, 2, 0, 0, 0, 0, 0, 0, -4, 0, 0, -4, 0},
                        right[] = {1, 2, 3, 4}, want[] = {1, 0.5, -1, -0.75};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 4, 4, v, 4), b = wg_mat_input(t, 4, 1, right, 4);
    size_t negative;
    const wg_mat x = wg_solve_symmetric(t, a, b);
    for (size_t i = 0; i < 4; i++) assert_true(wg_value(wg_mat_at(x, i, 0)) == want[i]);
    const wg_real y = wg_logabsdet_symmetric(t, a, &negative);
    assert_int_equal(negative, 2);
    assert_true(fabs(wg_value(y) - log(64)) <= 4 * DBL_EPSILON * log(64));
    wg_tape_free(t);
}

/* ---- derivatives ---- */

static void of_lu(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat l, u;
    if (wg_lu_factors(t, in[0], &l, &u, NULL) == WG_OK)
        derived_matrix(s, l), derived_matrix(s, u);
}
static void of_l(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat l;
    if (wg_lu_factors(t, in[0], &l, NULL, NULL) == WG_OK) derived_matrix(s, l);
}
static void of_pivoted(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat q, r;
    if (wg_qr_pivoted(t, in[0], &q, &r, NULL) == WG_OK)
        derived_matrix(s, q), derived_matrix(s, r);
}
static void of_polar(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat u, h;
    if (wg_polar(t, in[0], &u, &h) == WG_OK) derived_matrix(s, u), derived_matrix(s, h);
}
static void of_polar_u(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat u;
    if (wg_polar(t, in[0], &u, NULL) == WG_OK) derived_matrix(s, u);
}
static void of_polar_h(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat h;
    if (wg_polar(t, in[0], NULL, &h) == WG_OK) derived_matrix(s, h);
}
/* The matrix that the operation reads, so that its gradient is that by every entry. */
static void of_symmetric_solve(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_solve_symmetric(t, symmetric(t, in[0]), in[1]));
}
static void of_symmetric_logdet(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_number(s, wg_logabsdet_symmetric(t, symmetric(t, in[0]), NULL));
}

static const derived_case cases[] = {
    {"lu_factors", of_lu, {5}, {5}, {DERIVED_HEAVY}},
    {"lu_factors 1", of_lu, {1}, {1}, {DERIVED_HEAVY}},
    {"lu_factors, L", of_l, {4}, {4}, {DERIVED_ANY}},
    {"qr_pivoted", of_pivoted, {4}, {4}, {DERIVED_HEAVY}},
    {"qr_pivoted, tall", of_pivoted, {6}, {3}, {DERIVED_HEAVY}},
    {"qr_pivoted, wide", of_pivoted, {3}, {5}, {DERIVED_HEAVY}},
    {"polar", of_polar, {4}, {4}, {DERIVED_HEAVY}},
    {"polar 1", of_polar, {1}, {1}, {DERIVED_HEAVY}},
    {"polar, tall", of_polar, {6}, {3}, {DERIVED_HEAVY}},
    {"polar, U", of_polar_u, {5}, {3}, {DERIVED_HEAVY}},
    {"polar, H", of_polar_h, {5}, {3}, {DERIVED_HEAVY}},
    {"solve_symmetric", of_symmetric_solve, {5, 5}, {5, 2}, {DERIVED_ANY, DERIVED_ANY}},
    {"solve_symmetric 1", of_symmetric_solve, {1, 1}, {1, 1}, {DERIVED_HEAVY, DERIVED_ANY}},
    {"logabsdet_symmetric", of_symmetric_logdet, {5}, {5}, {DERIVED_ANY}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check(&cases[i]);
}

static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check_not_finite(&cases[i]);
}

/* The gradient of what reads one triangle is that of (A + A')/2. */
static void gradients_of_symmetric_operands_are_symmetric(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 9;
    double g[36];
    const wg_mat a = derived_random(t, 6, 6, 1, &seed), b = derived_random(t, 6, 2, 1, &seed);
    for (int turned = 0; turned < 2; turned++) {
        const wg_mat of = turned ? wg_mat_transpose(a) : a;
        const wg_real y = wg_let(t, wg_add(wg_mat_sum(t, wg_solve_symmetric(t, of, b)),
                                           wg_logabsdet_symmetric(t, of, NULL)));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, a, g, 6), WG_OK);
        for (size_t j = 0; j < 6; j++)
            for (size_t i = 0; i < j; i++)
                assert_true(fabs(g[i + 6 * j] - g[j + 6 * i]) <=
                            64 * DBL_EPSILON * derived_largest(36, g));
        assert_true(derived_largest(36, g) > 0);
    }
    wg_tape_free(t);
}

/* diag(2, 2, 2), of which singular vectors have no derivative: U = A |A|^-1, so that
 * U. = (A. - A.')/4, H. = (A. + A.')/2. */
static void polar_factors_have_derivatives_at_repeated_singular_values(void **state) {
    (void)state;
    static const double two[] = {2, 0, 0, 0, 2, 0, 0, 0, 2};
    wg_tape *const t = wg_tape_new(NULL);
    const wg_mat a = wg_mat_input(t, 3, 3, two, 3);
    wg_mat u, h;
    double g[9];
    assert_int_equal(wg_polar(t, a, &u, &h), WG_OK);
    for (size_t j = 0; j < 3; j++)
        for (size_t i = 0; i < 3; i++) {
            double want;
            assert_int_equal(wg_reverse(t, wg_mat_at(u, i, j)), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
            for (size_t e = 0; e < 9; e++) {
                want = i == j ? 0 : e == i + 3 * j ? 0.25 : e == j + 3 * i ? -0.25 : 0;
                assert_true(fabs(g[e] - want) <= 8 * DBL_EPSILON);
            }
            assert_int_equal(wg_reverse(t, wg_mat_at(h, i, j)), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, a, g, 3), WG_OK);
            for (size_t e = 0; e < 9; e++) {
                want = (e == i + 3 * j ? 0.5 : 0) + (e == j + 3 * i ? 0.5 : 0);
                assert_true(fabs(g[e] - want) <= 8 * DBL_EPSILON);
            }
        }
    wg_tape_free(t);
}

/* ---- refusals ---- */

static void singular_matrices_are_refused_where_they_matter(void **state) {
    (void)state;
    static const double one[] = {1, 2, 2, 4}, none[] = {1, 1};
    wg_tape *const t = wg_tape_new(NULL);
    wg_mat a = wg_mat_input(t, 2, 2, one, 2), x, y;
    const wg_mark start = wg_tape_mark(t);
    assert_int_equal(wg_lu_factors(t, a, &x, &y, NULL), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_EDEGENERATE);
    assert_int_equal(wg_polar(t, a, &x, &y), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(x, 0, 0)), WG_EDEGENERATE);
    assert_int_equal(wg_qr_pivoted(t, a, &x, &y, NULL), WG_OK);
    assert_int_equal(wg_reverse(t, wg_mat_at(y, 0, 0)), WG_EDEGENERATE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    x = wg_solve_symmetric(t, a, wg_mat_input(t, 2, 1, none, 2));
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_solve_symmetric"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    size_t negative;
    assert_true(isnan(wg_value(wg_logabsdet_symmetric(t, a, &negative))));
    assert_true(negative == SIZE_MAX);
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    wg_tape_free(t);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    uint64_t seed = 1;
    size_t perm[3];
    wg_mat x, y;
    assert_int_equal(wg_lu_factors(t, derived_random(t, 2, 3, 1, &seed), &x, &y, perm),
                     WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_lu_factors"));
    wg_tape_reset(t);
    assert_int_equal(wg_polar(t, derived_random(t, 2, 3, 1, &seed), &x, &y), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_polar"));
    wg_tape_reset(t);
    (void)wg_solve_symmetric(t, derived_random(t, 2, 2, 1, &seed),
                             derived_random(t, 3, 1, 1, &seed));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "wg_solve_symmetric"));
    wg_tape_free(t);
}

/* ---- in functions ---- */

static void write_solve(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                        const void *data) {
    (void)data;
    r->count = 1, r->mat[0] = wg_solve_symmetric(t, in[0], in[1]);
}
static void write_logdet(wg_tape *t, const wg_mat *in, struct written_out_results *r,
                         const void *data) {
    (void)data;
    const wg_real y = wg_logabsdet_symmetric(t, in[0], NULL);
    r->count = 1, r->mat[0] = wg_mat_gather(t, 1, 1, &y);
}
static wg_status pivoted_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const int of_lu = *(const int *)data;
    size_t perm[2];
    wg_mat r;
    (void)n, (void)m;
    if (of_lu) (void)!wg_lu_factors(t, wg_mat_gather(t, 2, 2, x), NULL, &r, perm);
    else (void)!wg_qr_pivoted(t, wg_mat_gather(t, 2, 2, x), NULL, &r, perm);
    y[0] = wg_mat_at(r, 0, 0);
    return wg_tape_status(t);
}

/* The order is one of the point: no function keeps it silently. */
static void an_order_of_columns_is_refused_in_functions(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3, 4};
    const wg_argument in = {"x", 4, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL;
    for (int of_lu = 0; of_lu < 2; of_lu++) {
        wg_tape_reset(written_out_tape);
        assert_int_equal(
            wg_function_record(written_out_tape, pivoted_of, &of_lu, 1, &in, x, 1, &out, &f),
            WG_EMODE);
        assert_non_null(strstr(wg_tape_message(written_out_tape),
                               of_lu ? "wg_lu_factors" : "wg_qr_pivoted"));
        assert_null(f);
    }
}

static void functions_of_them_are_the_same(void **state) {
    (void)state;
    const struct written_out all[] = {
        {.name = "solve_symmetric", .record = write_solve, .in = {{3, 3, SPD}, {3, 2, PLAIN}}},
        {.name = "logabsdet_symmetric", .record = write_logdet, .in = {{3, 3, SPD}}},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) written_out_check(&all[i]);
}

/* What operands are multiplied by. */
static double unit = 1;
static void of_both_in_a_unit(wg_tape *t, const wg_mat *in, derived_sum *s) {
    wg_mat u, h;
    if (wg_polar(t, in[0], &u, &h) == WG_OK)
        derived_matrix(s, u), derived_matrix(s, wg_mat_scale(t, 1 / unit, h));
}

static void polar_factors_have_derivatives_in_every_unit(void **state) {
    (void)state;
    static const derived_case all[] = {
        {"polar", of_both_in_a_unit, {4}, {4}, {DERIVED_HEAVY}},
        {"polar, tall", of_both_in_a_unit, {5}, {3}, {DERIVED_HEAVY}}};
    for (size_t i = 0; i < 2; i++) derived_check_units(&all[i], &unit);
}

/* LAPACK is told the size of its workspace in an int. */
static void columns_beyond_what_lapack_can_be_told_are_refused(void **state) {
    (void)state;
    extern const wg_block_op wgi_op_qr_pivoted;
    wg_block_arg in = {.rows = 1, .cols = 70000000, .ld = 1},
                 out[2] = {{.rows = 0}, {.rows = 0}};
    wg_block b = {.inputs = 1, .outputs = 2, .in = &in, .out = out};
    assert_int_equal(wgi_op_qr_pivoted.shape(&b), WG_ESHAPE);
    assert_non_null(b.why);
    in.cols = 60000000, b.why = NULL;
    assert_int_equal(wgi_op_qr_pivoted.shape(&b), WG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_multiply_to_what_was_factored),
        cmocka_unit_test(symmetric_systems_are_solved_and_their_negative_eigenvalues_counted),
        cmocka_unit_test(a_zero_diagonal_is_no_obstacle),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(gradients_of_symmetric_operands_are_symmetric),
        cmocka_unit_test(polar_factors_have_derivatives_at_repeated_singular_values),
        cmocka_unit_test(singular_matrices_are_refused_where_they_matter),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test_setup_teardown(functions_of_them_are_the_same, written_out_open,
                                        written_out_close),
        cmocka_unit_test_setup_teardown(an_order_of_columns_is_refused_in_functions,
                                        written_out_open, written_out_close),
        cmocka_unit_test(polar_factors_have_derivatives_in_every_unit),
        cmocka_unit_test(columns_beyond_what_lapack_can_be_told_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
