/* SPDX-License-Identifier: MIT */
/* test_ipopt_calls.c - the callbacks that Ipopt is given, called one by one: Ipopt's functions
 * are here ones that only keep what they get. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <wengert.h>
#include "wengert/ipopt.h"

struct IpoptProblemInfo {
    int n, m, jacobian, hessian;
    double xl[4], xu[4], gl[2], gu[2], scale, x_scaling[4], g_scaling[2];
    Eval_F_CB f;
    Eval_Grad_F_CB grad_f;
    Eval_G_CB g;
    Eval_Jac_G_CB jac_g;
    Eval_H_CB h;
    char option[32];
};
static struct IpoptProblemInfo kept;
static int freed;

IpoptProblem CreateIpoptProblem(int n, double *xl, double *xu, int m, double *gl, double *gu,
                                int jacobian, int hessian, int style, Eval_F_CB f, Eval_G_CB g,
                                Eval_Grad_F_CB grad_f, Eval_Jac_G_CB jac_g, Eval_H_CB h) {
    kept = (struct IpoptProblemInfo){.n = n,
                                     .m = m,
                                     .jacobian = jacobian,
                                     .hessian = hessian,
                                     .f = f,
                                     .grad_f = grad_f,
                                     .g = g,
                                     .jac_g = jac_g,
                                     .h = h};
    memcpy(kept.xl, xl, (size_t)n * sizeof *xl), memcpy(kept.xu, xu, (size_t)n * sizeof *xu);
    memcpy(kept.gl, gl, (size_t)m * sizeof *gl), memcpy(kept.gu, gu, (size_t)m * sizeof *gu);
    return style == 0 ? &kept : NULL;
}
void FreeIpoptProblem(IpoptProblem p) { freed += p == &kept; }
Bool SetIpoptProblemScaling(IpoptProblem p, double f, double *x, double *g) {
    p->scale = f;
    memcpy(p->x_scaling, x, sizeof p->x_scaling), memcpy(p->g_scaling, g, sizeof p->g_scaling);
    return TRUE;
}
Bool AddIpoptStrOption(IpoptProblem p, char *word, char *value) {
    strncat(strcat(strcpy(p->option, word), " "), value, 12);
    return TRUE;
}
enum ApplicationReturnStatus IpoptSolve(IpoptProblem p, double *x, double *g, double *value,
                                        double *mult_g, double *mult_xl, double *mult_xu,
                                        UserDataPtr data) {
    (void)p, (void)x, (void)g, (void)value, (void)mult_g, (void)mult_xl, (void)mult_xu,
        (void)data;
    return Internal_Error;
}

/* Problem 71 of Hock and Schittkowski, whose derivatives at (1, 5, 4, 2) are small whole
 * numbers. */
typedef struct counts {
    int objective, constraints;
} counts;
static wg_status objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m;
    ((counts *)data)->objective++;
    y[0] =
        wg_let(t, wg_add(wg_mul(wg_mul(x[0], x[3]), wg_add(wg_add(x[0], x[1]), x[2])), x[2]));
    return WG_OK;
}
static wg_status constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)m;
    ((counts *)data)->constraints++;
    y[0] = wg_product(t, n, x);
    y[1] = wg_squared_norm(t, n, x);
    return WG_OK;
}

static const double start[] = {1, 5, 5, 1};
static wg_ipopt *open(counts *calls, unsigned flags) {
    static const double lower[] = {1, 2, 3, -1}, upper[] = {5, 6, 7, 8}, least[] = {25, 40},
                        most[] = {1e30, 40};
    static const double scaling[] = {1, 2, 3, 4}, factors[] = {5, 6};
    *calls = (counts){0, 0};
    wg_ipopt *const s = wg_ipopt_new(&(wg_ipopt_problem){.n = 4,
                                                         .m = 2,
                                                         .objective = objective,
                                                         .constraints = constraints,
                                                         .data = calls,
                                                         .start = start,
                                                         .lower = lower,
                                                         .upper = upper,
                                                         .constraint_lower = least,
                                                         .constraint_upper = most,
                                                         .objective_scaling = 7,
                                                         .scaling = scaling,
                                                         .constraint_scaling = factors,
                                                         .flags = flags});
    assert_int_equal(wg_ipopt_status(s), WG_OK);
    return s;
}

static void bounds_and_scaling_are_passed_on(void **state) {
    counts calls;
    wg_ipopt *s = open(&calls, 0);
    (void)state;
    assert_true(kept.n == 4 && kept.m == 2);
    assert_true(kept.xl[2] == 3 && kept.xl[3] == -1 && kept.xu[3] == 8 && kept.gl[0] == 25 &&
                kept.gu[0] == 1e30);
    assert_true(kept.scale == 7 && kept.x_scaling[3] == 4 && kept.g_scaling[1] == 6);
    assert_string_equal(kept.option, "nlp_scaling_method user-scaling");
    freed = 0;
    wg_ipopt_free(s);
    assert_int_equal(freed, 1);
    s = wg_ipopt_new(
        &(wg_ipopt_problem){.n = 4, .objective = objective, .data = &calls, .start = start});
    assert_true(kept.m == 0 && kept.jacobian == 0 && kept.xl[0] <= -1e19 && kept.xu[3] >= 1e19);
    assert_string_equal(kept.option, "");
    wg_ipopt_free(s);
}

/* Entries of a matrix of n columns, each in its place. */
static void spread(size_t entries, const int *row, const int *col, const double *v, size_t n,
                   double *to) {
    for (size_t k = 0; k < entries; k++) to[(size_t)row[k] * n + (size_t)col[k]] = v[k];
}

static void structure_comes_first_and_values_in_its_order(void **state) {
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        counts calls;
        double x[] = {1, 5, 4, 2}, v[16], jac[8] = {0}, h[16] = {0}, f, g[4],
               lambda[] = {1, 10};
        int row[16], col[16];
        wg_ipopt *const s = open(&calls, flags);
        const double rows[] = {40, 8, 10, 20, 2, 10, 8, 4};
        /* f + g0 + 10 g1, by hand */
        const double lower[] = {24, 0, 0, 0, 10, 20, 0, 0, 12, 2, 20, 0, 31, 5, 6, 20};
        assert_int_equal(kept.jacobian, 8);
        assert_int_equal(kept.hessian, 10);
        assert_true(kept.jac_g(4, NULL, TRUE, 2, 8, row, col, NULL, s));
        assert_true(kept.jac_g(4, x, TRUE, 2, 8, NULL, NULL, v, s));
        spread(8, row, col, v, 4, jac);
        for (int k = 0; k < 8; k++) assert_true(jac[k] == rows[k]);
        assert_true(kept.h(4, NULL, TRUE, 1, 2, NULL, TRUE, 10, row, col, NULL, s));
        for (int k = 0; k < 10; k++) assert_true(row[k] >= col[k]);
        assert_true(kept.h(4, x, FALSE, 1, 2, lambda, TRUE, 10, NULL, NULL, v, s));
        spread(10, row, col, v, 4, h);
        for (int k = 0; k < 16; k++) assert_true(h[k] == lower[k]);
        assert_true(kept.f(4, x, FALSE, &f, s) && f == 24);
        assert_true(kept.grad_f(4, x, FALSE, g, s));
        assert_true(g[0] == 22 && g[1] == 2 && g[2] == 3 && g[3] == 10);
        assert_true(kept.g(4, x, FALSE, 2, g, s) && g[0] == 40 && g[1] == 46);
        wg_ipopt_free(s);
    }
}

static void nothing_is_computed_twice_at_one_point(void **state) {
    double x[] = {1, 5, 4, 2}, g[4], f, v[8];
    counts calls, before;
    wg_ipopt *const s = open(&calls, 0);
    (void)state;
    calls = (counts){0, 0};
    assert_true(kept.grad_f(4, x, TRUE, g, s)); /* which has the value, too */
    assert_true(kept.f(4, x, FALSE, &f, s) && kept.grad_f(4, x, FALSE, g, s) && f == 24 &&
                g[0] == 22);
    assert_int_equal(calls.objective, 1);
    assert_true(kept.g(4, x, FALSE, 2, g, s) && kept.g(4, x, FALSE, 2, g, s));
    assert_int_equal(calls.constraints, 1);
    assert_true(kept.jac_g(4, x, FALSE, 2, 8, NULL, NULL, v, s) &&
                kept.jac_g(4, x, FALSE, 2, 8, NULL, NULL, v, s));
    before = calls;
    x[0] = 2; /* moved: all is computed anew, whoever is told first */
    assert_true(kept.g(4, x, TRUE, 2, g, s) && g[0] == 80);
    assert_true(kept.f(4, x, FALSE, &f, s) && f == 48);
    assert_true(kept.jac_g(4, x, FALSE, 2, 8, NULL, NULL, v, s) && v[1] == 16);
    assert_true(calls.objective == before.objective + 1 &&
                calls.constraints > before.constraints + 1);
    wg_ipopt_free(s);
}

static void a_new_point_is_one_whoever_is_told(void **state) {
    double x[] = {1, 5, 4, 2}, f;
    counts calls = {0, 0};
    wg_ipopt *const s = wg_ipopt_new(
        &(wg_ipopt_problem){.n = 4, .objective = objective, .data = &calls, .start = start});
    (void)state;
    assert_true(kept.f(4, x, TRUE, &f, s) && f == 24);
    x[0] = 2; /* there are no constraints, but they are asked first */
    assert_true(kept.g(4, x, TRUE, 0, NULL, s));
    assert_true(kept.f(4, x, FALSE, &f, s) && f == 48);
    x[0] = 1;
    assert_true(kept.jac_g(4, x, TRUE, 0, 0, NULL, NULL, NULL, s));
    assert_true(kept.f(4, x, FALSE, &f, s) && f == 24);
    wg_ipopt_free(s);
}

static wg_status breaking(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *data) {
    (void)n, (void)m;
    y[0] = wg_let(t, wg_log(x[0]));
    return *(const wg_status *)data;
}
static void status_and_message_are_of_one_failure_and_of_this_solution(void **state) {
    wg_status fails = WG_OK;
    double x = 1, f;
    const double good = 1;
    wg_ipopt *const s = wg_ipopt_new(
        &(wg_ipopt_problem){.n = 1, .objective = breaking, .data = &fails, .start = &good});
    (void)state;
    fails = WG_ECONVERGE;
    assert_false(kept.f(1, &x, TRUE, &f, s));
    assert_int_equal(wg_ipopt_status(s), WG_ECONVERGE);
    fails = WG_OK;
    x = -1;
    assert_false(kept.f(1, &x, TRUE, &f, s));
    assert_int_equal(wg_ipopt_status(s), WG_ECONVERGE); /* as wg_problem has it */
    (void)wg_ipopt_solve(s, &x, &f, NULL);
    assert_int_equal(wg_ipopt_status(s), WG_OK);
    assert_string_equal(wg_ipopt_message(s), "");
    assert_false(kept.f(1, &x, TRUE, &f, s));
    assert_int_equal(wg_ipopt_status(s), WG_ENONFINITE);
    assert_non_null(strstr(wg_ipopt_message(s), "value: entry 0"));
    wg_ipopt_free(s);
}

static void a_point_that_is_no_number_is_answered_with_false(void **state) {
    double x[] = {1, NAN, 4, 2}, v[16], f, lambda[] = {1, 10};
    counts calls;
    wg_ipopt *const s = open(&calls, 0);
    (void)state;
    assert_false(kept.f(4, x, TRUE, &f, s));
    assert_false(kept.grad_f(4, x, FALSE, v, s));
    assert_false(kept.g(4, x, FALSE, 2, v, s));
    assert_false(kept.jac_g(4, x, FALSE, 2, 8, NULL, NULL, v, s));
    assert_false(kept.h(4, x, FALSE, 1, 2, lambda, TRUE, 10, NULL, NULL, v, s));
    assert_int_equal(wg_ipopt_status(s), WG_ENONFINITE);
    x[1] = 5;
    assert_true(kept.f(4, x, TRUE, &f, s) && f == 24);
    wg_ipopt_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_and_scaling_are_passed_on),
        cmocka_unit_test(structure_comes_first_and_values_in_its_order),
        cmocka_unit_test(nothing_is_computed_twice_at_one_point),
        cmocka_unit_test(a_new_point_is_one_whoever_is_told),
        cmocka_unit_test(status_and_message_are_of_one_failure_and_of_this_solution),
        cmocka_unit_test(a_point_that_is_no_number_is_answered_with_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
