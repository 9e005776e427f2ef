/* SPDX-License-Identifier: MIT */
/* test_tape_krylov.c - systems whose matrix is a product with a vector: derivatives of all
 * orders against differences and against solves with the matrix itself; refusals. */
#include "derived_case.h"
#include "tolerance.h"

static const wg_krylov sharp = {1e-15, 0, 0}, defaults = {0, 0, 0};

/* A = G G' + 1, a product after the other. */
static wg_status definite(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_add(t, wg_matmul(t, x[1], wg_matmul(t, wg_mat_transpose(x[1]), x[0])), x[0]);
    return wg_tape_status(t);
}
static wg_mat definite_itself(wg_tape *t, wg_mat g) {
    return wg_gemm(t, 'N', 'T', 1, g, g, 1, wg_mat_identity(t, g.rows));
}
/* A = G + diag(sin d) */
static wg_status general(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_add(t, wg_matmul(t, x[1], x[0]), wg_mat_mul(t, wg_mat_sin(t, x[2]), x[0]));
    return wg_tape_status(t);
}

static void by_gradients(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_cg(t, definite, NULL, 1, in, in[1], &sharp));
}
static void by_residuals(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_gmres(t, general, NULL, 2, in, in[2], &sharp));
}
static void by_restarts(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_krylov how = {1e-15, 1000, 2};
    derived_matrix(s, wg_gmres(t, general, NULL, 2, in, in[2], &how));
}
/* The same parameter, and the right side, twice. */
static void of_itself(wg_tape *t, const wg_mat *in, derived_sum *s) {
    const wg_mat x = wg_cg(t, definite, NULL, 1, in, in[1], &sharp);
    derived_matrix(s, wg_cg(t, definite, NULL, 1, in, x, &sharp));
}

static const derived_case cases[] = {
    {"cg", by_gradients, {4, 4}, {4, 1}, {0}},
    {"cg, one unknown", by_gradients, {1, 1}, {2, 1}, {0}},
    {"cg of cg", of_itself, {3, 3}, {2, 1}, {0}},
    {"gmres", by_residuals, {4, 4, 4}, {4, 1, 1}, {DERIVED_HEAVY}},
    {"gmres, restarted", by_restarts, {5, 5, 5}, {5, 1, 1}, {DERIVED_HEAVY}},
};
enum { CASES = sizeof cases / sizeof *cases };

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < CASES; i++) derived_check(&cases[i]);
}
static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    derived_check_not_finite(&cases[0]);
    derived_check_not_finite(&cases[3]);
}

/* Beside solves with the matrix itself. */
static void solutions_are_those_of_the_matrix(void **state) {
    (void)state;
    enum { N = 30 };
    double g[2][N * N], gb[2][N], value[2];
    for (int gmres = 0; gmres < 2; gmres++) {
        for (int side = 0; side < 2; side++) {
            uint64_t seed = 7;
            wg_tape *const t = derived_tape();
            const wg_mat a = derived_random(t, N, N, 0.3, &seed),
                         b = derived_random(t, N, 1, 1, &seed);
            const wg_mat p[] = {a, wg_mat_fill(t, N, 1, asin(1))};
            const wg_mat shifted = wg_mat_add(t, a, wg_mat_identity(t, N));
            const wg_mat x = side && gmres ? wg_solve(t, shifted, b)
                             : side        ? wg_solve_spd(t, definite_itself(t, a), b)
                             : gmres       ? wg_gmres(t, general, NULL, 2, p, b, &sharp)
                                           : wg_cg(t, definite, NULL, 1, p, b, &sharp);
            const wg_real y = wg_mat_sum(t, wg_mat_sin(t, x));
            derived_must(t, "krylov", wg_reverse(t, y));
            derived_must(t, "krylov", wg_mat_adjoint(t, a, g[side], N));
            derived_must(t, "krylov", wg_mat_adjoint(t, b, gb[side], N));
            value[side] = wg_value(y);
            wg_tape_free(t);
        }
        derived_near("krylov", "value", 1, &value[0], &value[1], NULL,
                     derived_largest(N, gb[1]));
        derived_near("krylov", "gradient", N * N, g[0], g[1], NULL,
                     derived_largest(N * N, g[1]));
        derived_near("krylov", "gradient by b", N, gb[0], gb[1], NULL,
                     derived_largest(N, gb[1]));
    }
}

/* ---- refusals ---- */

static wg_status shifted(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_add(t, x[0], wg_mat_fill(t, x[0].rows, 1, 1));
    return WG_OK;
}
static wg_status negative(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_neg(t, x[0]);
    return WG_OK;
}
static wg_status nothing(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_scale(t, 0, x[0]);
    return WG_OK;
}
static wg_status gives_up(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_ECALLBACK;
}
static wg_status too_short(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_fill(t, x[0].rows - 1, 1, 0);
    return WG_OK;
}
static wg_status resets(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                        void *data) {
    (void)t, (void)n, (void)m;
    wg_tape_reset(data);
    y[0] = x[0];
    return WG_OK;
}
/* Of the matrix (2 1; 0 2), with which conjugate gradients may end. */
static wg_status lopsided(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    static const double a[] = {2, 0, 1, 2};
    (void)n, (void)m, (void)data;
    y[0] = wg_matmul(t, wg_mat_constant(t, 2, 2, a, 2), x[0]);
    return WG_OK;
}
/* Two different eigenvalues: one iteration is not enough. */
static wg_status diagonal(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                          void *data) {
    static const double d[] = {1, 2};
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_mul(t, wg_mat_constant(t, 2, 1, d, 2), x[0]);
    return WG_OK;
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const wg_krylov one = {0, 1, 0}, bad = {1.5, 0, 0}, no = {NAN, 0, 0};
    static const struct {
        wg_mat_callback *f;
        const wg_krylov *how;
        int gmres;
        wg_status status;
        const char *says;
    } all[] = {
        {shifted, NULL, 0, WG_EARG,
         "wg_cg of 2x1: the product is not linear: that of 0 is not 0"},
        {shifted, NULL, 1, WG_EARG, "wg_gmres"},
        {negative, NULL, 0, WG_ESINGULAR, "the matrix is not positive definite"},
        {nothing, NULL, 0, WG_ESINGULAR, "the matrix is not positive definite"},
        {nothing, NULL, 1, WG_ESINGULAR, "the matrix is singular"},
        {gives_up, NULL, 0, WG_ECALLBACK, "wg_cg"},
        {too_short, NULL, 1, WG_ESHAPE, "output 0 is 1x1"},
        {diagonal, &one, 0, WG_ECONVERGE, "after the iterations that are allowed"},
        {diagonal, &one, 1, WG_ECONVERGE, "after the iterations that are allowed"},
        {diagonal, &bad, 1, WG_EARG, "the tolerance is not between 0 and 1"},
        {diagonal, &no, 0, WG_EARG, "the tolerance is not between 0 and 1"},
        {NULL, NULL, 0, WG_ENULL, "the product is NULL"},
        {resets, NULL, 0, WG_EMODE, ""},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        wg_tape *const t = derived_tape();
        const double b[] = {1, 3};
        const wg_mat right = wg_mat_input(t, 2, 1, b, 2);
        const wg_mat x =
            (all[k].gmres ? wg_gmres : wg_cg)(t, all[k].f, t, 0, NULL, right, all[k].how);
        if (all[k].f != resets) {
            if (wg_tape_status(t) != all[k].status ||
                strstr(wg_tape_message(t), all[k].says) == NULL)
                fail_msg("%zu: %s (%s)", k, wg_status_text(wg_tape_status(t)),
                         wg_tape_message(t));
            assert_true(x.rows == 2 && x.cols == 1);
        }
        assert_true(isnan(derived_at(x, 0, 0)));
        wg_tape_reset(t);
        assert_int_equal(wg_tape_status(t), WG_OK);
        wg_tape_free(t);
    }
}

static void a_matrix_that_is_not_symmetric_is_found_out_by_a_sweep(void **state) {
    (void)state;
    wg_tape *const t = derived_tape();
    const double b[] = {1, 0}; /* one step is the solution */
    const wg_mat right = wg_mat_input(t, 2, 1, b, 2);
    const wg_mat x = wg_cg(t, lopsided, NULL, 0, NULL, right, NULL);
    derived_must(t, "cg", wg_tape_status(t));
    assert_true(close_ulp(derived_at(x, 0, 0), 0.5, TOL_PROGRAM_ULP));
    assert_int_equal(wg_reverse(t, wg_mat_at(x, 0, 0)), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "the matrix is not symmetric"));
    wg_tape_free(t);
}

static void parameters_and_right_sides_are_looked_at(void **state) {
    (void)state;
    wg_tape *const t = derived_tape();
    const wg_mat one = wg_mat_fill(t, 2, 2, 1), column = wg_mat_fill(t, 2, 1, 1);
    wg_mat many[15];
    for (size_t i = 0; i < 15; i++) many[i] = column;
    const wg_mark start = wg_tape_mark(t);
    (void)wg_cg(t, diagonal, NULL, 15, many, column, NULL);
    assert_int_equal(wg_tape_status(t), WG_EARG);
    assert_non_null(strstr(wg_tape_message(t), "more than 14 parameters"));
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_cg(t, diagonal, NULL, 1, NULL, column, NULL);
    assert_int_equal(wg_tape_status(t), WG_ENULL);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_gmres(t, diagonal, NULL, 0, NULL, one, &defaults);
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    /* an empty system, and a right side of 0 */
    assert_true(wg_gmres(t, diagonal, NULL, 0, NULL, wg_mat_fill(t, 0, 1, 0), NULL).rows == 0);
    assert_true(derived_at(wg_cg(t, diagonal, NULL, 0, NULL, wg_mat_fill(t, 2, 1, 0), NULL), 1,
                           0) == 0);
    /* out of the range of squares */
    assert_true(close_ulp(
        derived_at(wg_cg(t, diagonal, NULL, 0, NULL, wg_mat_fill(t, 2, 1, 1e200), NULL), 1, 0),
        5e199, TOL_PROGRAM_ULP));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

static wg_status solved(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)m, (void)data;
    y[0] = wg_mat_sum(t, wg_cg(t, diagonal, NULL, 0, NULL, wg_mat_gather(t, n, 1, x), NULL));
    return WG_OK;
}
static void functions_refuse_them_by_name(void **state) {
    (void)state;
    wg_tape *const t = derived_tape();
    const double x[] = {1, 2};
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(t, solved, NULL, 1, &in, x, 1, &out, &f), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "wg_cg"));
    wg_tape_free(t);
}

/* ---- little memory ---- */

static wg_status sum_of_solution(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    const wg_mat g = wg_mat_gather(t, 3, 3, x), b = wg_mat_gather(t, 3, 1, x + 9);
    (void)n, (void)m, (void)data;
    const wg_mat z = wg_gmres(t, definite, NULL, 1, &g, wg_mat_sin(t, b), NULL);
    y[0] = wg_mat_sum(t, wg_mat_sin(t, wg_cg(t, definite, NULL, 1, &g, z, NULL)));
    return wg_tape_status(t);
}

/* Tangents of a pass of second order are computed on a tape beside, for which another gives up
 * what it holds for nothing: never the records of that pass. */
static void products_with_hessians_keep_a_budget(void **state) {
    (void)state;
    enum { N = 12 };
    double x[N], v[N], wanted[N] = {0};
    for (size_t i = 0; i < N; i++) x[i] = sin(1 + (double)i), v[i] = cos(3 * (double)i);
    for (int limited = 0; limited < 2; limited++)
        for (size_t pages = limited ? 10 : 1000; pages <= (limited ? 200 : 1000); pages++) {
            const wg_options options = {.flags = WG_KEEP_CODE, .budget = pages * 4096};
            wg_tape *const t = wg_tape_new(&options);
            double hv[N];
            if (t == NULL) continue;
            const wg_status s =
                wg_hvp(t, sum_of_solution, NULL, N, x, v, NULL, NULL, limited ? hv : wanted);
            if (!limited) assert_int_equal(s, WG_OK);
            else if (s == WG_OK) assert_memory_equal(hv, wanted, sizeof hv);
            else assert_int_equal(s, WG_EBUDGET);
            wg_tape_free(t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(solutions_are_those_of_the_matrix),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(a_matrix_that_is_not_symmetric_is_found_out_by_a_sweep),
        cmocka_unit_test(parameters_and_right_sides_are_looked_at),
        cmocka_unit_test(functions_refuse_them_by_name),
        cmocka_unit_test(products_with_hessians_keep_a_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
