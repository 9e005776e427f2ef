/* SPDX-License-Identifier: MIT */
/* test_ops_toeplitz.c - systems with Toeplitz and circulant matrices: beside solves with these matrices, in
 * derivatives of all orders, and what is refused. */
#include "derived_case.h"

/* c with more on the diagonal of its matrix. */
static wg_mat heavy(wg_tape *t, wg_mat c) {
    double more[DERIVED_MOST] = {(double)c.rows};
    return wg_mat_add(t, c, wg_mat_constant(t, c.rows, 1, more, c.rows));
}
static void of_toeplitz(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_solve_toeplitz(t, heavy(t, in[0]), in[1], in[2]));
}
static void of_circulant(wg_tape *t, const wg_mat *in, derived_sum *s) {
    derived_matrix(s, wg_solve_circulant(t, heavy(t, in[0]), in[1]));
}

static const derived_case cases[] = {
    {"toeplitz", of_toeplitz, {5, 5, 5}, {1, 1, 2}, {0}},
    {"toeplitz 1", of_toeplitz, {1, 1, 1}, {1, 1, 1}, {0}},
    {"circulant 4", of_circulant, {4, 4}, {1, 2}, {0}},
    {"circulant 5", of_circulant, {5, 5}, {1, 2}, {0}},
    {"circulant 6", of_circulant, {6, 6}, {1, 1}, {0}},
    {"circulant 1", of_circulant, {1, 1}, {1, 2}, {0}},
};

static void derivatives_of_all_orders_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) derived_check(&cases[i]);
}
static void what_is_not_finite_is_refused(void **state) {
    (void)state;
    for (size_t i = 2; i < sizeof cases / sizeof *cases; i++)
        derived_check_not_finite(&cases[i]);
}

/* Of every order up to 40, and one beyond, the solutions of the matrices themselves. */
static void solutions_are_those_of_the_matrices(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (size_t n = 1; n <= 41; n++) {
        wg_tape *const t = derived_tape();
        const size_t order = n == 41 ? 1000 : n;
        double *const x = calloc(3 * order, sizeof *x);
        assert_non_null(x);
        for (size_t i = 0; i < 3 * order; i++)
            x[i] = walk_number(&seed) / (double)(1 + i % order);
        x[0] += 8;
        const wg_mat c = wg_mat_input(t, order, 1, x, order),
                     r = wg_mat_input(t, order, 1, x + order, order),
                     b = wg_mat_input(t, order, 1, x + 2 * order, order);
        const wg_mat got[] = {wg_solve_toeplitz(t, c, r, b), wg_solve_circulant(t, c, b)};
        const wg_mat all[] = {wg_toeplitz(t, c, r), wg_circulant(t, c)};
        derived_must(t, "solves", wg_tape_status(t));
        for (int k = 0; k < 2; k++) {
            const wg_mat back = wg_matmul(t, all[k], got[k]);
            derived_close(k ? "circulant" : "toeplitz", back, b,
                          64 * DBL_EPSILON * (double)order);
        }
        free(x);
        wg_tape_free(t);
    }
}

static wg_mat column(wg_tape *t, size_t n, const double *x) {
    return wg_mat_input(t, n, 1, x, n);
}

static void what_is_wrong_is_named(void **state) {
    (void)state;
    static const double none[3] = {0, 1, 1}, alike[3] = {1, 1, 1}, one[3] = {1, 2, 3},
                        bad[3] = {1, NAN, 0};
    wg_tape *const t = derived_tape();
    const struct {
        const double *c, *r;
        wg_status status;
        const char *says;
    } all[] = {
        {none, one, WG_ESINGULAR,
         "wg_solve_toeplitz of 3x1, 3x1, 3x1: the matrix, or a leading part"},
        {alike, alike, WG_ESINGULAR, "wg_solve_toeplitz"},
        {bad, one, WG_ENONFINITE, "an operand is not finite"},
        {alike, NULL, WG_ESINGULAR, "wg_solve_circulant of 3x1, 3x1: the matrix is singular"},
        {bad, NULL, WG_ENONFINITE, "an operand is not finite"},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        wg_tape_reset(t);
        const wg_mat c = column(t, 3, all[k].c), b = column(t, 3, one);
        const wg_mat x = all[k].r != NULL ? wg_solve_toeplitz(t, c, column(t, 3, all[k].r), b)
                                          : wg_solve_circulant(t, c, b);
        assert_int_equal(wg_tape_status(t), all[k].status);
        if (strstr(wg_tape_message(t), all[k].says) == NULL) fail_msg("%s", wg_tape_message(t));
        assert_true(x.rows == 3 && isnan(derived_at(x, 0, 0)));
    }
    wg_tape_reset(t);
    const wg_mark start = wg_tape_mark(t);
    (void)wg_solve_toeplitz(t, column(t, 3, one), column(t, 2, one), column(t, 3, one));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_solve_circulant(t, column(t, 3, one), column(t, 2, one));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    assert_true(wg_solve_circulant(t, wg_mat_fill(t, 0, 1, 0), wg_mat_fill(t, 0, 2, 0)).cols ==
                2);
    assert_true(wg_solve_toeplitz(t, wg_mat_fill(t, 0, 1, 0), wg_mat_fill(t, 0, 1, 0),
                                  wg_mat_fill(t, 0, 2, 0))
                    .cols == 2);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_not_finite_is_refused),
        cmocka_unit_test(solutions_are_those_of_the_matrices),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
