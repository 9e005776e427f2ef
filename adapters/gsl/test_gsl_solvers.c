/* SPDX-License-Identifier: MIT */
/* test_gsl_solvers.c - GSL's own solvers on problems: certified fits, systems of equations,
 * minima, stiff equations with a known solution. */
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "examples/nist_data.h"
#include "test/opt_cases.h"
#include "wengert/gsl.h"

/* Parts of the certified parameters: residuals are flat at the solution, and normal equations,
 * of which some are, square the condition. */
#define FIT 1e-6

static wg_problem *nist(const struct nist_problem *p, unsigned flags) {
    return wg_problem_new(&(wg_computation){.n = p->parameters,
                                            .m = p->observations,
                                            .callback = p->model,
                                            .data = (void *)(uintptr_t)p,
                                            .flags = flags});
}
static void assert_fitted(const struct nist_problem *p, int status, const gsl_vector *x,
                          wg_problem *q) {
    for (size_t j = 0; j < p->parameters; j++)
        if (!(fabs(gsl_vector_get(x, j) / p->certified[j] - 1) < FIT))
            fail_msg("%s: status %d, b%zu = %.11g, not %.11g; %s", p->name, status, j + 1,
                     gsl_vector_get(x, j), p->certified[j], wg_problem_message(q));
}

static void fits_end_at_the_certified_parameters(void **state) {
    const gsl_multifit_nlinear_trs *const methods[] = {gsl_multifit_nlinear_trs_lm,
                                                       gsl_multifit_nlinear_trs_lmaccel};
    (void)state;
    for (size_t k = 0; k < nist_problem_count; k++)
        for (size_t l = 0; l < 2; l++) {
            const struct nist_problem *const p = &nist_problems[k];
            wg_problem *const q = nist(p, l ? WG_RECORD_ONCE : 0);
            gsl_multifit_nlinear_fdf f = wg_gsl_multifit(q);
            gsl_multifit_nlinear_parameters with = gsl_multifit_nlinear_default_parameters();
            gsl_vector_const_view start =
                gsl_vector_const_view_array(p->start[1], p->parameters);
            int info;
            with.trs = methods[l];
            gsl_multifit_nlinear_workspace *const w =
                gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &with, f.n, f.p);
            assert_int_equal(gsl_multifit_nlinear_init(&start.vector, &f, w), GSL_SUCCESS);
            const int status =
                gsl_multifit_nlinear_driver(5000, 1e-13, 0, 0, NULL, NULL, &info, w);
            assert_fitted(p, status, w->x, q);
            gsl_multifit_nlinear_free(w);
            wg_problem_free(q);
        }
}

/* Broyden's tridiagonal system as a fit of 1000 residuals: its solution has residuals 0. */
enum { LARGE = 1000 };
static wg_status tridiagonal(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)m, (void)data;
    for (size_t i = 0; i < n; i++) {
        y[i] = wg_let(t, wg_add(wg_mul(wg_sub(3, wg_mul(2, x[i])), x[i]), 1));
        if (i > 0) y[i] = wg_let(t, wg_sub(y[i], x[i - 1]));
        if (i + 1 < n) y[i] = wg_let(t, wg_sub(y[i], wg_mul(2, x[i + 1])));
    }
    return WG_OK;
}
static void large_fits_are_solved_by_products_and_by_normal_equations(void **state) {
    const gsl_multilarge_nlinear_trs *const methods[] = {gsl_multilarge_nlinear_trs_cgst,
                                                         gsl_multilarge_nlinear_trs_lm};
    (void)state;
    for (int l = 0; l < 2; l++) {
        const size_t n = l == 0 ? LARGE : 100;
        wg_problem *const q = wg_problem_new(&(wg_computation){
            .n = n, .m = n, .callback = tridiagonal, .flags = WG_RECORD_ONCE});
        gsl_multilarge_nlinear_fdf f = wg_gsl_multilarge(q);
        gsl_multilarge_nlinear_parameters with = gsl_multilarge_nlinear_default_parameters();
        gsl_vector *const x = gsl_vector_alloc(n);
        int info;
        gsl_vector_set_all(x, -1);
        with.trs = methods[l];
        gsl_multilarge_nlinear_workspace *const w =
            gsl_multilarge_nlinear_alloc(gsl_multilarge_nlinear_trust, &with, n, n);
        assert_int_equal(gsl_multilarge_nlinear_init(x, &f, w), GSL_SUCCESS);
        gsl_multilarge_nlinear_driver(200, 1e-14, 1e-14, 0, NULL, NULL, &info, w);
        if (!(gsl_blas_dnrm2(w->f) < 1e-9))
            fail_msg("method %d: residual %g; %s", l, gsl_blas_dnrm2(w->f),
                     wg_problem_message(q));
        gsl_multilarge_nlinear_free(w);
        gsl_vector_free(x);
        wg_problem_free(q);
    }
}

/* ---- systems and minima of More, Garbow and Hillstrom ---- */

static int solved;
static int is_one_of(const struct opt_case *c, size_t n, const char *const *names) {
    for (size_t k = 0; k < n; k++)
        if (strcmp(c->text.name, names[k]) == 0 && strcmp(c->text.variant, "point0") == 0)
            return 1;
    return 0;
}

static void root(const struct opt_case *c) {
    static const char *const names[] = {"rosenbrock", "helical_valley", "discrete_boundary10",
                                        "broyden_tridiagonal10", "broyden_banded10"};
    int number = c->number, status = GSL_CONTINUE;
    if (!is_one_of(c, sizeof names / sizeof *names, names)) return;
    wg_problem *const q = wg_problem_new(
        &(wg_computation){.n = c->n, .m = c->n, .callback = opt_residuals, .data = &number});
    gsl_multiroot_function_fdf f = wg_gsl_multiroot(q);
    gsl_vector_const_view start = gsl_vector_const_view_array(c->x, c->n);
    gsl_multiroot_fdfsolver *const s =
        gsl_multiroot_fdfsolver_alloc(gsl_multiroot_fdfsolver_hybridsj, c->n);
    assert_int_equal(gsl_multiroot_fdfsolver_set(s, &f, &start.vector), GSL_SUCCESS);
    for (int k = 0; k < 500 && status == GSL_CONTINUE; k++) {
        if (gsl_multiroot_fdfsolver_iterate(s) != GSL_SUCCESS) break;
        status = gsl_multiroot_test_residual(s->f, 1e-11);
    }
    if (status != GSL_SUCCESS)
        fail_msg("%s: %d; %s", c->text.name, status, wg_problem_message(q));
    gsl_multiroot_fdfsolver_free(s);
    wg_problem_free(q);
    solved++;
}
static void systems_of_equations_are_solved(void **state) {
    (void)state;
    solved = 0;
    assert_int_equal(opt_for_each(root), OPT_CASES);
    assert_int_equal(solved, 5);
}

static void least(const struct opt_case *c) {
    static const char *const names[] = {"rosenbrock", "beale", "wood", "ext_rosenbrock10"};
    int number = c->number, status = GSL_CONTINUE;
    if (!is_one_of(c, sizeof names / sizeof *names, names)) return;
    wg_problem *const q = wg_problem_new(
        &(wg_computation){.n = c->n, .m = 1, .callback = opt_objective, .data = &number});
    gsl_multimin_function_fdf f = wg_gsl_multimin(q);
    gsl_vector_const_view start = gsl_vector_const_view_array(c->x, c->n);
    gsl_multimin_fdfminimizer *const s =
        gsl_multimin_fdfminimizer_alloc(gsl_multimin_fdfminimizer_vector_bfgs2, c->n);
    assert_int_equal(gsl_multimin_fdfminimizer_set(s, &f, &start.vector, 0.1, 0.1),
                     GSL_SUCCESS);
    for (int k = 0; k < 1000 && status == GSL_CONTINUE; k++) {
        if (gsl_multimin_fdfminimizer_iterate(s) != GSL_SUCCESS) break;
        status = gsl_multimin_test_gradient(s->gradient, 1e-9);
    }
    if (!(s->f < 1e-12)) fail_msg("%s: %g; %s", c->text.name, s->f, wg_problem_message(q));
    gsl_multimin_fdfminimizer_free(s);
    wg_problem_free(q);
    solved++;
}
static void functions_are_minimised(void **state) {
    (void)state;
    solved = 0;
    assert_int_equal(opt_for_each(least), OPT_CASES);
    assert_int_equal(solved, 4);
}

/* ---- y' = -1000 (y - cos t) - sin t: y = cos t. Source: Prothero, Robinson 1974 ---- */

/* Errors of steps are held to 1e-8; what they add up to. */
#define STIFF 1e-6

static wg_status stiff(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_mul(-1000, wg_sub(x[1], wg_cos(x[0]))), wg_sin(x[0])));
    return WG_OK;
}
static void implicit_steppers_follow_a_stiff_solution(void **state) {
    const gsl_odeiv2_step_type *const methods[] = {gsl_odeiv2_step_bsimp, gsl_odeiv2_step_msbdf,
                                                   gsl_odeiv2_step_rk4imp};
    (void)state;
    for (int k = 0; k < 3; k++) {
        double t = 0, y = 1;
        wg_problem *const p = wg_problem_new(&(wg_computation){.n = 2,
                                                               .m = 1,
                                                               .callback = stiff,
                                                               .groups = 2,
                                                               .group = (size_t[]){1, 1},
                                                               .flags = WG_RECORD_ONCE});
        gsl_odeiv2_system s = wg_gsl_odeiv2(p);
        gsl_odeiv2_driver *const d =
            gsl_odeiv2_driver_alloc_y_new(&s, methods[k], 1e-4, 1e-8, 0);
        assert_int_equal(gsl_odeiv2_driver_apply(d, &t, 10, &y), GSL_SUCCESS);
        assert_true(fabs(y - cos(10)) < STIFF);
        assert_true(d->n < 20000); /* an explicit method takes steps of 1/500 at most */
        gsl_odeiv2_driver_free(d);
        wg_problem_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_end_at_the_certified_parameters),
        cmocka_unit_test(large_fits_are_solved_by_products_and_by_normal_equations),
        cmocka_unit_test(systems_of_equations_are_solved),
        cmocka_unit_test(functions_are_minimised),
        cmocka_unit_test(implicit_steppers_follow_a_stiff_solution),
    };
    gsl_set_error_handler_off();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
