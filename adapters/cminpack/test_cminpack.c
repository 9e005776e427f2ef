/* SPDX-License-Identifier: MIT */
/* test_cminpack.c - cminpack with Jacobians of problems: certified fits, systems of
 * equations, failures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "examples/nist_data.h"
#include "test/opt_cases.h"
#include "wengert/cminpack.h"

enum { M = 300, N = NIST_MAX_PARAMETERS };

/* Digits of the parameters that have to agree. Normal residuals are flat at the solution: half
 * of the digits of a sum of squares, and some for conditions up to 1e6 or more. */
#define NIST_DIGITS 1e-6

/* What the solvers want beside the callbacks. */
typedef struct work {
    double f[M], jac[(M + 5) * N], diag[N], qtf[N], w1[N], w2[N], w3[N], w4[M];
    int pivots[N], calls, derivatives;
} work;

static void assert_fitted(const struct nist_problem *p, int info, const double *b,
                          wg_problem *q) {
    for (size_t j = 0; j < p->parameters; j++)
        if (info < 1 || info > 4 || !(fabs(b[j] / p->certified[j] - 1) < NIST_DIGITS))
            fail_msg("%s: info %d, b%zu = %.11g, not %.11g; %s", p->name, info, j + 1, b[j],
                     p->certified[j], wg_problem_message(q));
    assert_int_equal(wg_problem_status(q), WG_OK);
}

static void fits_end_at_the_certified_parameters_by_columns_and_by_rows(void **state) {
    static work w;
    (void)state;
    for (size_t k = 0; k < nist_problem_count; k++) {
        const struct nist_problem *const p = &nist_problems[k];
        const int m = (int)p->observations, n = (int)p->parameters;
        double b[N];
        assert_true(m <= M);
        for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
            wg_problem *const q = wg_problem_new(&(wg_computation){.n = p->parameters,
                                                                   .m = p->observations,
                                                                   .callback = p->model,
                                                                   .data = (void *)(uintptr_t)p,
                                                                   .flags = flags});
            memcpy(b, p->start[1], sizeof b);
            int info = lmder(wg_cminpack_lmder, q, m, n, b, w.f, w.jac, m + 5, 1e-15, 1e-13, 0,
                             5000, w.diag, 1, 100, 0, &w.calls, &w.derivatives, w.pivots, w.qtf,
                             w.w1, w.w2, w.w3, w.w4);
            assert_fitted(p, info, b, q);
            memcpy(b, p->start[1], sizeof b);
            info = lmstr(wg_cminpack_lmstr, q, m, n, b, w.f, w.jac, n + 3, 1e-15, 1e-13, 0,
                         5000, w.diag, 1, 100, 0, &w.calls, &w.derivatives, w.pivots, w.qtf,
                         w.w1, w.w2, w.w3, w.w4);
            assert_fitted(p, info, b, q);
            wg_problem_free(q);
        }
    }
}

/* Systems of More, Garbow and Hillstrom, from their published starting points. */
static const char *const systems[] = {
    "rosenbrock",          "helical_valley",        "ext_rosenbrock10", "discrete_boundary10",
    "discrete_integral10", "broyden_tridiagonal10", "broyden_banded10"};
static int solved;
static void if_a_system(const struct opt_case *c) {
    for (size_t k = 0; k < sizeof systems / sizeof *systems; k++) {
        enum { LD = OPT_MAX_N + 2 };
        double x[OPT_MAX_N], f[OPT_MAX_N], jac[LD * OPT_MAX_N], r[OPT_MAX_N * OPT_MAX_N],
            diag[OPT_MAX_N];
        double qtf[OPT_MAX_N], w[4][OPT_MAX_N], furthest = 0;
        int number = c->number, calls, derivatives;
        const int n = (int)c->n;
        if (strcmp(c->text.name, systems[k]) != 0 || strcmp(c->text.variant, "point0") != 0)
            continue;
        wg_problem *const p = wg_problem_new(&(wg_computation){
            .n = c->n, .m = c->n, .callback = opt_residuals, .data = &number});
        memcpy(x, c->x, c->n * sizeof *x);
        const int info =
            hybrj(wg_cminpack_hybrj, p, n, x, f, jac, LD, 1e-13, 2000, diag, 1, 100, 0, &calls,
                  &derivatives, r, n * (n + 1) / 2, qtf, w[0], w[1], w[2], w[3]);
        for (int i = 0; i < n; i++) furthest = fmax(furthest, fabs(f[i]));
        if (info != 1 || !(furthest < 1e-10))
            fail_msg("%s: info %d, residual %g", systems[k], info, furthest);
        wg_problem_free(p);
        solved++;
    }
}
static void systems_of_equations_are_solved(void **state) {
    (void)state;
    assert_int_equal(opt_for_each(if_a_system), OPT_CASES);
    assert_int_equal(solved, sizeof systems / sizeof *systems);
}

/* ---- callbacks and failures ---- */

/* log of the one, product */
typedef struct failing {
    wg_status status;
    int calls, fails_at;
} failing;
static wg_status pair(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    failing *const f = data;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_log(x[0]));
    y[1] = wg_let(t, wg_mul(x[0], x[1]));
    return ++f->calls >= f->fails_at ? f->status : WG_OK;
}

static void jacobians_are_column_by_column_with_a_leading_dimension(void **state) {
    const double x[] = {4, 3};
    double f[2], jac[10], row[2];
    failing with = {WG_OK, 0, 0};
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .data = &with});
    (void)state;
    for (int i = 0; i < 10; i++) jac[i] = -77;
    assert_int_equal(wg_cminpack_lmder(p, 2, 2, x, f, jac, 5, 1), 0);
    assert_true(f[0] == log(4) && f[1] == 12 && jac[0] == -77);
    assert_int_equal(wg_cminpack_lmder(p, 2, 2, x, f, jac, 5, 2), 0);
    const double ref[] = {0.25, 3, -77, -77, -77, 0, 4, -77, -77, -77};
    for (int i = 0; i < 10; i++) assert_true(jac[i] == ref[i]);
    assert_int_equal(wg_cminpack_hybrj(p, 2, x, f, jac, 2, 2), 0);
    assert_true(jac[1] == 3 && jac[3] == 4);
    assert_int_equal(wg_cminpack_lmstr(p, 2, 2, x, f, row, 2), 0);
    assert_true(row[0] == 0.25 && row[1] == 0);
    assert_int_equal(wg_cminpack_lmstr(p, 2, 2, x, f, row, 3), 0);
    assert_true(row[0] == 3 && row[1] == 4);
    assert_int_equal(wg_cminpack_lmder(p, 2, 2, x, f, NULL, 0, 0), 0); /* to print */
    assert_true(wg_cminpack_lmder(p, 3, 2, x, f, jac, 3, 1) < 0);
    assert_true(wg_cminpack_lmstr(NULL, 2, 2, x, f, row, 1) < 0);
    wg_problem_free(p);
}

static void
a_trial_point_that_is_no_number_gains_nothing_and_a_start_ends_the_solver(void **state) {
    const double outside[] = {-4, 3};
    double f[2] = {0, 0}, jac[4];
    failing with = {WG_OK, 0, 0};
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .data = &with});
    (void)state;
    assert_int_equal(wg_cminpack_lmder(p, 2, 2, outside, f, jac, 2, 1), 0);
    assert_true(isnan(f[0]) && isnan(f[1]));
    assert_true(wg_cminpack_lmder(p, 2, 2, outside, f, jac, 2, 2) < 0);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);

    double x[] = {20, 1}, w[50]; /* whose first step goes beyond 0 */
    int pivots[2];
    assert_true(lmder1(wg_cminpack_lmder, p, 2, 2, x, f, jac, 2, 1e-12, pivots, w, 50) > 0);
    assert_true(fabs(x[0] - 1) < 1e-10 && fabs(x[1]) < 1e-10);
    double y[] = {-20, 1};
    assert_true(lmder1(wg_cminpack_lmder, p, 2, 2, y, f, jac, 2, 1e-12, pivots, w, 50) < 0);
    assert_true(lmstr1(wg_cminpack_lmstr, p, 2, 2, y, f, jac, 2, 1e-12, pivots, w, 50) <= 0);
    wg_problem_free(p);
}

static void a_failure_of_the_callback_ends_the_solver_and_is_kept(void **state) {
    (void)state;
    for (int at = 1; at < 5; at++) {
        failing with = {WG_ECONVERGE, 0, at};
        double x[] = {5, 1}, f[2], jac[4], w[50];
        int pivots[2];
        wg_problem *const p =
            wg_problem_new(&(wg_computation){.n = 2, .m = 2, .callback = pair, .data = &with});
        assert_true(lmder1(wg_cminpack_lmder, p, 2, 2, x, f, jac, 2, 1e-12, pivots, w, 50) < 0);
        assert_int_equal(with.calls, at);
        assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
        wg_problem_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_end_at_the_certified_parameters_by_columns_and_by_rows),
        cmocka_unit_test(systems_of_equations_are_solved),
        cmocka_unit_test(jacobians_are_column_by_column_with_a_leading_dimension),
        cmocka_unit_test(
            a_trial_point_that_is_no_number_gains_nothing_and_a_start_ends_the_solver),
        cmocka_unit_test(a_failure_of_the_callback_ends_the_solver_and_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
