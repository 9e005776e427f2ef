/* SPDX-License-Identifier: MIT */
/* test_nlopt.c - NLopt with derivatives of problems: published solutions, callbacks,
 * failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "programmes.h"
#include "wengert/nlopt.h"

/* The equal ones of a programme's constraints, or the others, as NLopt wants them: at most
 * 0. */
typedef struct chosen {
    const programme *p;
    side side;
} chosen;
static wg_status constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const chosen *const c = data;
    wg_real all[4];
    size_t k = 0;
    const wg_status s = programme_constraints(t, n, x, c->p->m, all, (void *)(uintptr_t)c->p);
    for (size_t j = 0; j < c->p->m; j++)
        if (c->p->sides[j] == c->side) y[k++] = wg_let(t, wg_neg(all[j]));
    (void)m;
    return s;
}

static wg_problem *some_constraints(chosen *c, unsigned flags) {
    size_t m = 0;
    for (size_t j = 0; j < c->p->m; j++) m += c->p->sides[j] == c->side;
    return m == 0
               ? NULL
               : wg_problem_new(&(wg_computation){
                     .n = c->p->n, .m = m, .callback = constraints, .data = c, .flags = flags});
}

static double solve(nlopt_algorithm method, const programme *p, unsigned flags,
                    double tolerance) {
    double x[10], value = NAN;
    const double tol[4] = {1e-10, 1e-10, 1e-10, 1e-10};
    chosen equal = {p, EQUAL}, least = {p, AT_LEAST};
    nlopt_opt o = nlopt_create(method, (unsigned)p->n);
    wg_problem *const f = wg_problem_new(&(wg_computation){.n = p->n,
                                                           .m = 1,
                                                           .callback = programme_objective,
                                                           .data = (void *)(uintptr_t)p,
                                                           .flags = flags});
    wg_problem *const g = some_constraints(&equal, flags), *const h =
                                                               some_constraints(&least, flags);
    assert_int_equal(wg_nlopt_min_objective(o, f), NLOPT_SUCCESS);
    if (g != NULL) assert_int_equal(wg_nlopt_equality(o, g, tol), NLOPT_SUCCESS);
    if (h != NULL) assert_int_equal(wg_nlopt_inequality(o, h, tol), NLOPT_SUCCESS);
    nlopt_set_lower_bounds1(o, p->lower), nlopt_set_upper_bounds1(o, p->upper);
    nlopt_set_ftol_rel(o, tolerance);
    nlopt_set_maxeval(o, 5000);
    memcpy(x, p->start, sizeof x);
    const nlopt_result got = nlopt_optimize(o, x, &value);
    if (got < 0 && got != NLOPT_ROUNDOFF_LIMITED)
        fail_msg("%s: %d; %s", p->name, (int)got, wg_problem_message(f));
    assert_int_equal(wg_problem_status(f), WG_OK);
    nlopt_destroy(o);
    wg_problem_free(f), wg_problem_free(g), wg_problem_free(h);
    return value;
}

/* Without 100 and 99, where SLSQP calls a success what is none: in 100 690.62, with derivatives
 * by hand as well, in 99 less than the least value, constraints of the size 1e5 being
 * violated. */
static void programmes_end_at_their_published_values(void **state) {
    (void)state;
    for (size_t k = 0; k < PROGRAMMES; k++)
        for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
            const programme *const p = &programmes[k];
            if (strcmp(p->name, "hs100") == 0 || strcmp(p->name, "hs99_loop") == 0) continue;
            const double got = solve(NLOPT_LD_SLSQP, p, flags, 1e-14);
            if (!(fabs(got - p->value) <= p->digits))
                fail_msg("%s: %.10g, not %.10g", p->name, got, p->value);
        }
}

/* Moving asymptotes leave constraints violated by some 1e-5, and values as much below the
 * least. */
#define MOVING 1e-4
static void inequalities_are_taken_by_moving_asymptotes(void **state) {
    const programme *const p = &programmes[3];
    (void)state;
    assert_string_equal(p->name, "hs100");
    assert_true(fabs(solve(NLOPT_LD_MMA, p, 0, 1e-10) - p->value) <= MOVING);
    assert_true(fabs(solve(NLOPT_LD_CCSAQ, p, WG_RECORD_ONCE, 1e-10) - p->value) <= MOVING);
}

/* sum of i (x_i - i)^2 / 2 + (x_0 - 1) (x_1 - 2): convex, least, 0, at x_i = i + 1 */
static wg_status bowl(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)m, (void)data;
    y[0] = wg_let(t, wg_mul(wg_sub(x[0], 1), wg_sub(x[1], 2)));
    for (size_t i = 0; i < n; i++) {
        const double k = (double)i + 1;
        y[0] = wg_let(t, wg_add(y[0], wg_mul(k * k, wg_square(wg_sub(x[i], k)))));
    }
    return WG_OK;
}

static void a_preconditioner_is_the_hessian_and_saves_evaluations(void **state) {
    int evaluations[2];
    (void)state;
    for (int with = 0; with < 2; with++) {
        double x[8] = {0}, value = NAN, hv[8];
        const double v[8] = {1, 0, 0, 2, 0, 0, 0, 0};
        nlopt_opt o = nlopt_create(NLOPT_LD_CCSAQ, 8);
        wg_problem *const f =
            wg_problem_new(&(wg_computation){.n = 8, .m = 1, .callback = bowl});
        wg_nlopt_hessian(8, x, v, hv, f);
        assert_true(hv[0] == 2 && hv[1] == 1 && hv[2] == 0 && hv[3] == 64);
        assert_int_equal(with ? wg_nlopt_preconditioned(o, f) : wg_nlopt_min_objective(o, f),
                         NLOPT_SUCCESS);
        nlopt_set_ftol_abs(o, 1e-14);
        nlopt_set_maxeval(o, 5000);
        assert_true(nlopt_optimize(o, x, &value) > 0);
        assert_true(value < 1e-9);
        evaluations[with] = nlopt_get_numevals(o);
        nlopt_destroy(o);
        wg_problem_free(f);
    }
    assert_true(evaluations[1] < evaluations[0]);
}

/* ---- callbacks ---- */

static wg_status two(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    const wg_status *const fails = data;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_mul(x[0], wg_log(x[2])));
    y[1] = wg_let(t, wg_sub(wg_square(x[1]), x[0]));
    return *fails;
}

static void gradients_of_many_functions_are_row_by_row_and_may_be_unwanted(void **state) {
    const double x[] = {3, 5, 1};
    double r[2], g[7] = {0, 0, 0, 0, 0, 0, -77};
    wg_status fails = WG_OK;
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 3, .m = 2, .callback = two, .data = &fails});
    (void)state;
    wg_nlopt_functions(2, r, 3, x, NULL, p);
    assert_true(r[0] == 0 && r[1] == 22);
    wg_nlopt_functions(2, r, 3, x, g, p);
    const double ref[] = {0, 0, 3, -1, 10, 0, -77};
    for (int i = 0; i < 7; i++) assert_true(g[i] == ref[i]);
    wg_problem_free(p);
}

static void a_point_that_is_no_number_is_infinitely_bad(void **state) {
    const double x[] = {3, 5, -1};
    double r[2], g[6];
    wg_status fails = WG_OK;
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 3, .m = 2, .callback = two, .data = &fails});
    (void)state;
    wg_nlopt_functions(2, r, 3, x, g, p);
    assert_true(r[0] == HUGE_VAL && r[1] == HUGE_VAL);
    for (int i = 0; i < 6; i++) assert_true(isnan(g[i]));
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    wg_problem_free(p);
}

/* ---- failures ---- */

/* x - log x, least at 1, or its negative */
typedef struct barrier {
    double sign;
    int calls, fails_at, outside;
} barrier;
static wg_status logarithm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    barrier *const b = data;
    (void)n, (void)m;
    b->outside += wg_value(x[0]) <= 0;
    y[0] = wg_let(t, wg_mul(b->sign, wg_sub(x[0], wg_log(x[0]))));
    return ++b->calls == b->fails_at ? WG_ECONVERGE : WG_OK;
}

static void algorithms_step_back_from_where_there_is_no_number(void **state) {
    const nlopt_algorithm methods[] = {NLOPT_LD_MMA, NLOPT_LD_CCSAQ};
    (void)state;
    for (int k = 0; k < 4; k++) {
        barrier b = {k < 2 ? 1 : -1, 0, 0, 0};
        double x = 9, value;
        nlopt_opt o = nlopt_create(methods[k % 2], 1);
        wg_problem *const f = wg_problem_new(
            &(wg_computation){.n = 1, .m = 1, .callback = logarithm, .data = &b});
        assert_int_equal(k < 2 ? wg_nlopt_min_objective(o, f) : wg_nlopt_max_objective(o, f),
                         NLOPT_SUCCESS);
        nlopt_set_xtol_rel(o, 1e-8);
        nlopt_set_maxeval(o, 1000);
        nlopt_set_initial_step1(o, 100);
        const nlopt_result got = nlopt_optimize(o, &x, &value);
        if (got < 0 || !(fabs(x - 1) < 1e-6)) fail_msg("%d: %d, %g", k, (int)got, x);
        nlopt_destroy(o);
        wg_problem_free(f);
    }
}

static void a_failure_stops_the_optimiser_and_is_kept(void **state) {
    barrier b = {1, 0, 3, 0};
    double x = 9, value;
    nlopt_opt o = nlopt_create(NLOPT_LD_SLSQP, 1);
    wg_problem *const f =
        wg_problem_new(&(wg_computation){.n = 1, .m = 1, .callback = logarithm, .data = &b});
    (void)state;
    assert_int_equal(wg_nlopt_min_objective(o, f), NLOPT_SUCCESS);
    nlopt_set_maxeval(o, 1000);
    assert_int_equal(nlopt_optimize(o, &x, &value), NLOPT_FORCED_STOP);
    assert_true(b.calls == 3);
    assert_int_equal(wg_problem_status(f), WG_ECONVERGE);
    nlopt_destroy(o);
    wg_problem_free(f);
}

static void problems_of_other_sizes_are_refused(void **state) {
    wg_status fails = WG_OK;
    nlopt_opt o = nlopt_create(NLOPT_LD_MMA, 3), other = nlopt_create(NLOPT_LD_MMA, 4);
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 3, .m = 2, .callback = two, .data = &fails});
    (void)state;
    assert_int_equal(wg_nlopt_min_objective(o, p), NLOPT_INVALID_ARGS);
    assert_int_equal(wg_nlopt_max_objective(o, NULL), NLOPT_INVALID_ARGS);
    assert_int_equal(wg_nlopt_preconditioned(o, p), NLOPT_INVALID_ARGS);
    assert_int_equal(wg_nlopt_inequality(other, p, NULL), NLOPT_INVALID_ARGS);
    assert_int_equal(wg_nlopt_equality(NULL, p, NULL), NLOPT_INVALID_ARGS);
    /* callbacks without the setters: nothing is written beyond what NLopt has room for */
    const double x[4] = {1, 2, 3, 4};
    double to[8];
    for (unsigned n = 2; n <= 4; n++)
        for (unsigned m = 1; m <= 3; m++) {
            if (n == 3 && m == 2) continue;
            for (int k = 0; k < 8; k++) to[k] = 7;
            wg_nlopt_functions(m, to, n, x, NULL, p);
            assert_true(isinf(to[m - 1]) && to[m] == 7);
        }
    assert_true(isinf(wg_nlopt_function(3, x, NULL, p)) &&
                isinf(wg_nlopt_function(3, x, to, p)));
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    wg_nlopt_hessian(2, x, x, to, p);
    assert_true(isnan(to[1]) && !isnan(to[3]));
    nlopt_destroy(o), nlopt_destroy(other);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmes_end_at_their_published_values),
        cmocka_unit_test(inequalities_are_taken_by_moving_asymptotes),
        cmocka_unit_test(a_preconditioner_is_the_hessian_and_saves_evaluations),
        cmocka_unit_test(gradients_of_many_functions_are_row_by_row_and_may_be_unwanted),
        cmocka_unit_test(a_point_that_is_no_number_is_infinitely_bad),
        cmocka_unit_test(algorithms_step_back_from_where_there_is_no_number),
        cmocka_unit_test(a_failure_stops_the_optimiser_and_is_kept),
        cmocka_unit_test(problems_of_other_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
