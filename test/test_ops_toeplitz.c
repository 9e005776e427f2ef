/* SPDX-License-Identifier: MIT */
/* test_ops_toeplitz.c - systems with Toeplitz and circulant matrices: beside solves with these
 * matrices, in derivatives of all orders, and what is refused. */
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

/* The gradient of a weighted sum of a solution, by c, r and b; and the solution: 4 columns of n
 * numbers. c and r are multiplied by 2^scale[0], b by 2^scale[1], the weights by 2^scale[2]. */
static void scaled_solve(int circulant, size_t n, const double *from, const int scale[3],
                         double *to) {
    wg_tape *const t = derived_tape();
    double x[3][8], weight[8];
    for (size_t i = 0; i < n; i++) {
        x[0][i] = ldexp(from[i], scale[0]), x[1][i] = ldexp(from[n + i], scale[0]);
        x[2][i] = ldexp(from[2 * n + i], scale[1]);
        weight[i] = ldexp(1 - 0.25 * (double)i, scale[2]);
    }
    const wg_mat c = wg_mat_input(t, n, 1, x[0], n), r = wg_mat_input(t, n, 1, x[1], n),
                 b = wg_mat_input(t, n, 1, x[2], n);
    const wg_mat y = circulant ? wg_solve_circulant(t, c, b) : wg_solve_toeplitz(t, c, r, b);
    derived_must(t, "solve", wg_tape_status(t));
    const wg_real sum = wg_mat_dot(t, wg_mat_constant(t, n, 1, weight, n), y);
    derived_must(t, "sweep", wg_reverse(t, sum));
    const wg_mat of[] = {c, r, b};
    for (size_t k = 0; k < 3; k++)
        assert_int_equal(wg_mat_adjoint(t, of[k], to + k * n, n), WG_OK);
    for (size_t i = 0; i < n; i++) to[3 * n + i] = y.value[i];
    wg_tape_free(t);
}

/* Numbers near the ends of the range give what others give, times a power of 2, bit by bit:
 * sums on the way neither overflow nor vanish. */
static void solutions_scale_with_their_operands(void **state) {
    (void)state;
    static const int no_scale[3] = {0, 0, 0}, scale[][3] = {{1019, 1022, 500},
                                                            {-1000, -1000, -500},
                                                            {-500, 500, -600},
                                                            {500, -500, 600}};
    uint64_t seed = 11;
    for (size_t n = 1; n <= 8; n++) {
        double x[24], once[32], got[32];
        for (size_t i = 0; i < 3 * n; i++)
            x[i] = i < 2 * n ? walk_number(&seed) / (double)(1 + i % n)
                             : 1 - 0.1 * (double)(i % n);
        x[0] += 8, x[n] = x[0];
        for (int circulant = 0; circulant < 2; circulant++) {
            scaled_solve(circulant, n, x, no_scale, once);
            for (size_t s = 0; s < sizeof scale / sizeof *scale; s++) {
                const int kx = scale[s][1] - scale[s][0], kw = scale[s][2] - scale[s][0];
                const int shift[4] = {kx + kw, kx + kw, kw, kx};
                scaled_solve(circulant, n, x, scale[s], got);
                for (size_t i = 0; i < 4 * n; i++)
                    if (got[i] != ldexp(once[i], shift[i / n]))
                        fail_msg("%s %zu, scale %zu: number %zu is %g, not %g",
                                 circulant ? "circulant" : "toeplitz", n, s, i, got[i],
                                 ldexp(once[i], shift[i / n]));
            }
        }
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
        cmocka_unit_test(solutions_scale_with_their_operands),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
