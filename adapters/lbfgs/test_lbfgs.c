/* SPDX-License-Identifier: MIT */
/* test_lbfgs.c - libLBFGS with gradients of problems: known minima, failures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "test/opt_cases.h"
#include "wengert/lbfgs.h"

/* Problems of More, Garbow and Hillstrom whose least value is 0, at the starting point of
 * the cases. */
static const char *const to_zero[] = {"rosenbrock",
                                      "beale",
                                      "helical_valley",
                                      "wood",
                                      "ext_rosenbrock10",
                                      "variably_dimensioned10",
                                      "broyden_tridiagonal10",
                                      "broyden_banded10",
                                      "discrete_boundary10"};
static int solved;

static void solve(const struct opt_case *c, unsigned flags) {
    int number = c->number;
    double x[OPT_MAX_N], value;
    lbfgs_parameter_t with;
    lbfgs_parameter_init(&with);
    with.epsilon = 1e-10;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = c->n, .m = 1, .callback = opt_objective, .data = &number, .flags = flags});
    memcpy(x, c->x, c->n * sizeof *x);
    const int got = lbfgs((int)c->n, x, &value, wg_lbfgs_evaluate, wg_lbfgs_progress, p, &with);
    if ((got != LBFGS_SUCCESS && got != LBFGSERR_ROUNDING_ERROR) || !(value < 1e-15))
        fail_msg("%s: %d, %g; %s", c->text.name, got, value, wg_problem_message(p));
    assert_int_equal(wg_problem_status(p), WG_OK);
    wg_problem_free(p);
    solved++;
}
static void if_to_zero(const struct opt_case *c) {
    for (size_t k = 0; k < sizeof to_zero / sizeof *to_zero; k++)
        if (strcmp(c->text.name, to_zero[k]) == 0) solve(c, 0), solve(c, WG_RECORD_ONCE);
}
static void problems_with_a_solution_are_solved_from_both_points(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(if_to_zero), OPT_CASES);
    assert_int_equal(solved, 4 * sizeof to_zero / sizeof *to_zero);
}

/* x - log x, least at 1 */
typedef struct barrier {
    int calls, fails_at, outside;
} barrier;
static wg_status logarithm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    barrier *const b = data;
    (void)n, (void)m;
    b->outside += wg_value(x[0]) < 0;
    y[0] = wg_let(t, wg_sub(wg_mul(3, x[0]), wg_log(x[0])));
    return ++b->calls == b->fails_at ? WG_ECONVERGE : WG_OK;
}

static void backtracking_steps_back_from_where_there_is_no_number(void **state) {
    const int searches[] = {LBFGS_LINESEARCH_BACKTRACKING_ARMIJO,
                            LBFGS_LINESEARCH_BACKTRACKING_WOLFE,
                            LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE};
    (void)state;
    for (int k = 0; k < 3; k++) {
        barrier b = {0, 0, 0};
        double x = 0.9, value;
        lbfgs_parameter_t with;
        lbfgs_parameter_init(&with);
        with.linesearch = searches[k];
        wg_problem *const p = wg_problem_new(
            &(wg_computation){.n = 1, .m = 1, .callback = logarithm, .data = &b});
        assert_int_equal(lbfgs(1, &x, &value, wg_lbfgs_evaluate, wg_lbfgs_progress, p, &with),
                         LBFGS_SUCCESS);
        assert_true(b.outside > 0);
        assert_true(fabs(x - 1 / 3.0) < 1e-5);
        assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
        wg_problem_free(p);
    }
}

static void a_failure_ends_the_solver_and_is_kept(void **state) {
    barrier b = {0, 3, 0};
    double x = 2, value;
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 1, .m = 1, .callback = logarithm, .data = &b});
    lbfgs_parameter_t with;
    (void)state;
    lbfgs_parameter_init(&with);
    with.linesearch = LBFGS_LINESEARCH_BACKTRACKING;
    assert_int_equal(lbfgs(1, &x, &value, wg_lbfgs_evaluate, wg_lbfgs_progress, p, &with),
                     LBFGSERR_CANCELED);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    wg_problem_free(p);
}

static void a_problem_of_another_size_ends_the_solver(void **state) {
    barrier b = {0, 0, 0};
    double x[] = {0.5, 0.5}, g[] = {7, 7, 7};
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 1, .m = 1, .callback = logarithm, .data = &b});
    (void)state;
    assert_true(isinf(wg_lbfgs_evaluate(p, x, g, 2, 1)));
    assert_true(isnan(g[0]) && isnan(g[1]) && g[2] == 7);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    assert_int_equal(wg_lbfgs_progress(p, x, g, 0, 0, 0, 0, 2, 1, 1), LBFGSERR_CANCELED);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_with_a_solution_are_solved_from_both_points),
        cmocka_unit_test(backtracking_steps_back_from_where_there_is_no_number),
        cmocka_unit_test(a_failure_ends_the_solver_and_is_kept),
        cmocka_unit_test(a_problem_of_another_size_ends_the_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
