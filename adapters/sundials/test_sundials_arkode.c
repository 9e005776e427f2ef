/* SPDX-License-Identifier: MIT */
/* test_sundials_arkode.c - ARKODE's steppers on problems, against a known solution: explicit,
 * implicit with every kind of linear solver, and split. */
#include "fixture.h"
#include <arkode/arkode_arkstep.h>
#include <arkode/arkode_erkstep.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include "wengert/sundials.h"

enum { N = 2 };
static const double end = 2, stiffness = -100;
/* At tolerances of 1e-8, over some hundred steps. */
#define INTEGRATED 1e-6

/* y0' = a + 1 / (1 + t^2) with a = p (y0 - atan t), y1' = a + sin t - y1 + cos t: solved by
 * atan t and sin t. The first term of y0' and all but the last of y1' are fast. */
static wg_status slow(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                      void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_reciprocal(wg_add(1, wg_square(x[0]))));
    r[1] = wg_let(t, wg_cos(x[0]));
    return WG_OK;
}
static wg_status fast(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                      void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_mul(x[3], wg_sub(x[1], wg_atan(x[0]))));
    r[1] = wg_let(t, wg_sub(wg_add(r[0], wg_sin(x[0])), x[2]));
    return WG_OK;
}
static wg_status whole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                       void *data) {
    wg_real also[N];
    wg_status s = fast(t, n, x, m, r, data);
    if (s == WG_OK) s = slow(t, n, x, m, also, data);
    for (size_t i = 0; i < N; i++) r[i] = wg_let(t, wg_add(r[i], also[i]));
    return s;
}
static wg_problem *open(wg_callback *f) {
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 4,
                                                           .m = N,
                                                           .callback = f,
                                                           .groups = 3,
                                                           .group = (size_t[]){1, N, 1},
                                                           .flags = WG_RECORD_ONCE});
    assert_int_equal(wg_sundials_parameters(p, &stiffness), WG_OK);
    return p;
}
static void assert_solution(N_Vector y, const wg_problem *p) {
    if (wg_problem_status(p) != WG_OK) fail_msg("%s", wg_problem_message(p));
    assert_near(y, (double[N]){atan(end), sin(end)}, INTEGRATED);
}

static void explicit_methods_take_the_rates_of_cvode(void **state) {
    double t;
    wg_problem *const p = open(whole);
    N_Vector y = vector(NULL, N);
    void *erk = ERKStepCreate(wg_cvode_rates, 0, y, context);
    (void)state;
    assert_int_equal(ERKStepSetUserData(erk, p), ARK_SUCCESS);
    assert_int_equal(ERKStepSStolerances(erk, 1e-8, 1e-10), ARK_SUCCESS);
    assert_int_equal(ERKStepSetMaxNumSteps(erk, 20000), ARK_SUCCESS);
    assert_true(ERKStepEvolve(erk, end, y, &t, ARK_NORMAL) >= 0);
    assert_solution(y, p);
    ERKStepFree(&erk), N_VDestroy(y);
    wg_problem_free(p);
}

/* kind 0: a dense Jacobian, 1: products. */
static void solve_implicitly(void *ark, N_Vector y, int kind, void *data, ARKLsJacFn jacobian,
                             ARKLsJacTimesVecFn times, const wg_problem *p) {
    double t;
    long evaluations = 0;
    SUNMatrix a = kind == 0 ? SUNDenseMatrix(N, N, context) : NULL;
    SUNLinearSolver s = kind == 0 ? SUNLinSol_Dense(y, a, context)
                                  : SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, context);
    assert_int_equal(ARKStepSetUserData(ark, data), ARK_SUCCESS);
    assert_int_equal(ARKStepSStolerances(ark, 1e-8, 1e-10), ARK_SUCCESS);
    assert_int_equal(ARKStepSetMaxNumSteps(ark, 20000), ARK_SUCCESS);
    assert_int_equal(ARKStepSetLinearSolver(ark, s, a), ARK_SUCCESS);
    assert_int_equal(kind == 0 ? ARKStepSetJacFn(ark, jacobian)
                               : ARKStepSetJacTimes(ark, NULL, times),
                     ARK_SUCCESS);
    if (ARKStepEvolve(ark, end, y, &t, ARK_NORMAL) < 0) fail_msg("%s", wg_problem_message(p));
    assert_solution(y, p);
    assert_int_equal(kind == 0 ? ARKStepGetNumJacEvals(ark, &evaluations)
                               : ARKStepGetNumJtimesEvals(ark, &evaluations),
                     ARK_SUCCESS);
    assert_true(evaluations > 0);
    SUNLinSolFree(s), SUNMatDestroy(a);
}

static void implicit_methods_take_rates_and_jacobians_of_cvode(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        wg_problem *const p = open(whole);
        N_Vector y = vector(NULL, N);
        void *ark = ARKStepCreate(NULL, wg_cvode_rates, 0, y, context);
        solve_implicitly(ark, y, kind, p, wg_cvode_jacobian, wg_cvode_times, p);
        ARKStepFree(&ark), N_VDestroy(y);
        wg_problem_free(p);
    }
}

static void rates_in_two_parts_are_integrated_together(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        wg_arkode_split split = {open(slow), open(fast)};
        N_Vector y = vector(NULL, N);
        void *ark = ARKStepCreate(wg_arkode_explicit, wg_arkode_implicit, 0, y, context);
        solve_implicitly(ark, y, kind, &split, wg_arkode_jacobian, wg_arkode_times,
                         split.implicit_part);
        assert_int_equal(wg_problem_status(split.explicit_part), WG_OK);
        ARKStepFree(&ark), N_VDestroy(y);
        wg_problem_free(split.explicit_part), wg_problem_free(split.implicit_part);
    }
}

static void failures_of_either_part_end_the_solver(void **state) {
    double t;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 4, .m = N, .callback = slow, .groups = 3, .group = (size_t[]){1, N, 1}});
    wg_arkode_split split = {p, p};
    N_Vector y = vector(NULL, N);
    void *ark = ARKStepCreate(wg_arkode_explicit, NULL, 0, y, context);
    (void)state;
    assert_int_equal(ARKStepSetUserData(ark, &split), ARK_SUCCESS);
    assert_int_equal(ARKStepSetErrFile(ark, NULL), ARK_SUCCESS);
    assert_true(ARKStepEvolve(ark, end, y, &t, ARK_NORMAL) < 0);
    assert_int_equal(wg_problem_status(p), WG_ENULL); /* of the parameters */
    ARKStepFree(&ark), N_VDestroy(y);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_methods_take_the_rates_of_cvode),
        cmocka_unit_test(implicit_methods_take_rates_and_jacobians_of_cvode),
        cmocka_unit_test(rates_in_two_parts_are_integrated_together),
        cmocka_unit_test(failures_of_either_part_end_the_solver),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
