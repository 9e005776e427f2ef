/* SPDX-License-Identifier: MIT */
/* test_ipopt.c - Ipopt with derivatives of callbacks and functions: published solutions,
 * failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "programmes.h"
#include "wengert/ipopt.h"

/* What every test wants: not a word, and a solution to all of its digits. */
static void set_options(wg_ipopt *s) {
    IpoptProblem p = wg_ipopt_handle(s);
    if (p == NULL) fail_msg("%s: %s", wg_status_text(wg_ipopt_status(s)), wg_ipopt_message(s));
    assert_true(AddIpoptIntOption(p, "print_level", 0));
    assert_true(AddIpoptStrOption(p, "sb", "yes"));
    assert_true(AddIpoptNumOption(p, "tol", 1e-9));
    assert_true(AddIpoptNumOption(p, "bound_relax_factor", 0));
}

/* Bounds of a programme, as Ipopt has them. */
typedef struct bounds {
    double lower[10], upper[10], least[4], most[4];
} bounds;

static wg_ipopt_problem stated(const programme *p, bounds *b) {
    for (size_t i = 0; i < p->n; i++) b->lower[i] = p->lower, b->upper[i] = p->upper;
    for (size_t j = 0; j < p->m; j++)
        b->least[j] = 0, b->most[j] = p->sides[j] == EQUAL ? 0 : INFINITY;
    return (wg_ipopt_problem){.n = p->n,
                              .m = p->m,
                              .objective = programme_objective,
                              .constraints = programme_constraints,
                              .data = (void *)(uintptr_t)p,
                              .start = p->start,
                              .lower = b->lower,
                              .upper = b->upper,
                              .constraint_lower = b->least,
                              .constraint_upper = b->most};
}

static void solve(const programme *p, const wg_ipopt_problem *with) {
    double x[10], value, multipliers[4];
    wg_ipopt *const s = wg_ipopt_new(with);
    set_options(s);
    memcpy(x, p->start, sizeof x);
    const enum ApplicationReturnStatus got = wg_ipopt_solve(s, x, &value, multipliers);
    if (got != Solve_Succeeded || !(fabs(value - p->value) <= p->digits))
        fail_msg("%s: %d, %.10g, not %.10g; %s", p->name, (int)got, value, p->value,
                 wg_ipopt_message(s));
    assert_int_equal(wg_ipopt_status(s), WG_OK);
    wg_ipopt_free(s);
}

static void programmes_end_at_their_published_values(void **state) {
    (void)state;
    for (size_t k = 0; k < PROGRAMMES; k++) {
        bounds b;
        wg_ipopt_problem with = stated(&programmes[k], &b);
        solve(&programmes[k], &with);
        with.flags = WG_RECORD_ONCE;
        solve(&programmes[k], &with);
    }
}

static wg_status objective_and_constraints(wg_tape *t, size_t n, const wg_real *x, size_t m,
                                           wg_real *y, void *data) {
    const wg_status s = programme_objective(t, n, x, 1, y, data);
    return s == WG_OK ? programme_constraints(t, n, x, m - 1, y + 1, data) : s;
}

static void a_callback_of_both_is_solved_like_two(void **state) {
    (void)state;
    for (size_t k = 0; k < PROGRAMMES; k++) {
        bounds b;
        wg_ipopt_problem with = stated(&programmes[k], &b);
        with.objective = with.constraints = NULL;
        with.callback = objective_and_constraints;
        solve(&programmes[k], &with);
        with.flags = WG_RECORD_ONCE;
        solve(&programmes[k], &with);
    }
}

/* Of the objective, the constraint is not written. */
static wg_status forgetful(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_square(x[0]));
    return WG_OK;
}
static void outputs_that_a_callback_of_both_forgets_are_refused(void **state) {
    const double x = 1;
    wg_ipopt *const s =
        wg_ipopt_new(&(wg_ipopt_problem){.n = 1, .m = 1, .callback = forgetful, .start = &x});
    (void)state;
    assert_int_not_equal(wg_ipopt_status(s), WG_OK);
    assert_null(wg_ipopt_handle(s));
    wg_ipopt_free(s);
}

static void a_function_is_solved_like_its_callbacks(void **state) {
    (void)state;
    for (size_t k = 0; k < PROGRAMMES; k++) {
        const programme *const p = &programmes[k];
        const wg_argument in = {"x", p->n, 1, 0}, out[] = {{"f", 1, 1, 0}, {"g", p->m, 1, 0}};
        wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
        wg_function *f = NULL;
        bounds b;
        wg_ipopt_problem with = stated(p, &b);
        assert_int_equal(wg_function_record(t, objective_and_constraints, with.data, 1, &in,
                                            p->start, p->m == 0 ? 1 : 2, out, &f),
                         WG_OK);
        with.objective = with.constraints = NULL;
        with.function = f;
        solve(p, &with);
        wg_function_free(f);
        wg_tape_free(t);
    }
}

static void scaled_by_its_user_a_programme_has_the_same_solution(void **state) {
    const double x[] = {2, 0.5, 1, 4}, g[] = {0.1, 0.2};
    bounds b;
    wg_ipopt_problem with = stated(&programmes[1], &b);
    (void)state;
    with.objective_scaling = 0.01, with.scaling = x, with.constraint_scaling = g;
    solve(&programmes[1], &with);
}

/* ---- failures ---- */

/* x - log x, least at 1: a full step from 9 leads to where it is no number. */
static wg_status logarithm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    int *const outside = data;
    (void)n, (void)m;
    *outside += wg_value(x[0]) < 0;
    y[0] = wg_let(t, wg_sub(x[0], wg_log(x[0])));
    return WG_OK;
}
static void a_step_to_where_the_objective_is_no_number_is_shortened(void **state) {
    double x = 9;
    int outside = 0;
    wg_ipopt *const s = wg_ipopt_new(
        &(wg_ipopt_problem){.n = 1, .objective = logarithm, .data = &outside, .start = &x});
    (void)state;
    set_options(s);
    assert_int_equal(wg_ipopt_solve(s, &x, NULL, NULL), Solve_Succeeded);
    assert_true(fabs(x - 1) < 1e-8);
    assert_true(outside > 0);
    assert_int_equal(wg_ipopt_status(s), WG_ENONFINITE);
    assert_non_null(strstr(wg_ipopt_message(s), "value: entry 0 is"));
    wg_ipopt_free(s);
}

/* Fails from the fifth call on. */
static wg_status failing(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    int *const calls = data;
    (void)n, (void)m;
    y[0] = wg_let(t, wg_square(wg_square(x[0])));
    return ++*calls < 5 ? WG_OK : WG_ECONVERGE;
}
static void a_failure_of_the_callback_ends_the_solver_and_is_kept(void **state) {
    double x = 3;
    int calls = 0;
    wg_ipopt *const s = wg_ipopt_new(
        &(wg_ipopt_problem){.n = 1, .objective = failing, .data = &calls, .start = &x});
    (void)state;
    set_options(s);
    assert_ptr_equal(wg_ipopt_data(s), &calls);
    assert_int_not_equal(wg_ipopt_solve(s, &x, NULL, NULL), Solve_Succeeded);
    assert_int_equal(wg_ipopt_status(s), WG_ECONVERGE);
    assert_true(wg_ipopt_message(s)[0] != 0);
    calls = -1000; /* and it can be used again */
    x = 3;
    assert_int_equal(wg_ipopt_solve(s, &x, NULL, NULL), Solve_Succeeded);
    assert_int_equal(wg_ipopt_status(s), WG_OK);
    assert_string_equal(wg_ipopt_message(s), "");
    wg_ipopt_free(s);
}

/* Twice what Ipopt is asked for (set_options), at minima that are of size 1. */
#define TOLERANCE 2e-9

/* The point of the line x0 + x1 = p2 that is closest to (p0, p1). */
static wg_status distance(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)m, (void)data;
    assert_int_equal(n, 5);
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(x[0], x[2])), wg_square(wg_sub(x[1], x[3]))));
    return WG_OK;
}
static wg_status line(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_add(x[0], x[1]), x[4]));
    return WG_OK;
}
static wg_status distance_and_line(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *data) {
    const wg_status s = distance(t, n, x, 1, y, data);
    return s == WG_OK ? line(t, n, x, m - 1, y + 1, data) : s;
}

static void one_problem_is_solved_for_parameters_that_change(void **state) {
    const double start[5] = {0}, both[2][3] = {{1, 2, 4}, {-3, 1, 0}}, zero = 0;
    const wg_argument in[] = {{"x", 2, 1, 0}, {"p", 3, 1, WG_PASSIVE}};
    const wg_argument out[] = {{"f", 1, 1, 0}, {"g", 1, 1, 0}};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f = NULL;
    (void)state;
    assert_int_equal(wg_function_record(t, distance_and_line, NULL, 2, in, start, 2, out, &f),
                     WG_OK);
    for (int how = 0; how < 4; how++) { /* anew, both in one, once, a function */
        double p[3] = {0}, x[2] = {0};
        wg_ipopt_problem with = {.n = 2,
                                 .m = 1,
                                 .start = start,
                                 .constraint_lower = &zero,
                                 .constraint_upper = &zero,
                                 .flags = how == 2 ? WG_RECORD_ONCE : 0,
                                 .parameters = 3,
                                 .parameter = p};
        if (how == 3) with.function = f;
        else if (how == 1) with.callback = distance_and_line;
        else with.objective = distance, with.constraints = line;
        wg_ipopt *const s = wg_ipopt_new(&with);
        set_options(s);
        for (int k = 0; k < 2; k++) {
            memcpy(p, both[k], sizeof p);
            assert_int_equal(wg_ipopt_solve(s, x, NULL, NULL), Solve_Succeeded);
            const double off = (p[2] - p[0] - p[1]) / 2;
            assert_true(fmax(fabs(x[0] - p[0] - off), fabs(x[1] - p[1] - off)) <= TOLERANCE);
        }
        wg_ipopt_free(s);
    }
    wg_function_free(f);
    wg_tape_free(t);
}

static void what_cannot_be_a_problem_is_refused_by_name(void **state) {
    const double x[] = {1, 5, 5, 1};
    bounds b;
    const wg_ipopt_problem good = stated(&programmes[1], &b);
    wg_ipopt_problem bad[7] = {good, good, good, good, good, good, good};
    const wg_status want[] = {WG_ENULL, WG_ENULL, WG_ENULL, WG_EARG, WG_EARG, WG_EARG, WG_EARG};
    (void)state;
    bad[0].objective = NULL;
    bad[1].constraints = NULL;
    bad[2].start = NULL;
    bad[3].n = 0;
    bad[4].m = (size_t)1 << 40;
    bad[5].flags = 64;
    bad[6].callback = objective_and_constraints;
    for (size_t k = 0; k < 7; k++) {
        wg_ipopt *const s = wg_ipopt_new(&bad[k]);
        double at[4];
        memcpy(at, x, sizeof at);
        if (wg_ipopt_status(s) != want[k])
            fail_msg("%zu: %s", k, wg_status_text(wg_ipopt_status(s)));
        assert_non_null(strstr(wg_ipopt_message(s), "_new: "));
        assert_null(wg_ipopt_handle(s));
        assert_int_equal(wg_ipopt_solve(s, at, NULL, NULL), Invalid_Problem_Definition);
        wg_ipopt_free(s);
    }
    wg_ipopt *const s = wg_ipopt_new(NULL);
    assert_int_equal(wg_ipopt_status(s), WG_ENULL);
    wg_ipopt_free(s);
    wg_ipopt_free(NULL);
    assert_int_equal(wg_ipopt_status(NULL), WG_ENOMEM);
    assert_int_equal(wg_ipopt_solve(NULL, NULL, NULL, NULL), Invalid_Problem_Definition);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programmes_end_at_their_published_values),
        cmocka_unit_test(a_callback_of_both_is_solved_like_two),
        cmocka_unit_test(outputs_that_a_callback_of_both_forgets_are_refused),
        cmocka_unit_test(a_function_is_solved_like_its_callbacks),
        cmocka_unit_test(scaled_by_its_user_a_programme_has_the_same_solution),
        cmocka_unit_test(a_step_to_where_the_objective_is_no_number_is_shortened),
        cmocka_unit_test(a_failure_of_the_callback_ends_the_solver_and_is_kept),
        cmocka_unit_test(one_problem_is_solved_for_parameters_that_change),
        cmocka_unit_test(what_cannot_be_a_problem_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
