/* SPDX-License-Identifier: MIT */
/* test_petsc_tao.c - TAO's callbacks: gradients and Hessians by its minimisers, bounds,
 * constraints, least squares, parameters, NaNs, failures. */
#include "fixture.h"
#include <math.h>
#include <string.h>
#include <wengert.h>
#include "test/tolerance.h"
#include "wengert/petsc.h"

enum { N = 20 };

/* Rosenbrock's function in N variables. */
static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const wg_status *const fails = data;
    (void)m;
    y[0] = wg_constant(0);
    for (size_t i = 0; i + 1 < n; i++)
        y[0] = wg_let(
            t, wg_add(y[0], wg_add(wg_mul(100, wg_square(wg_sub(x[i + 1], wg_square(x[i])))),
                                   wg_square(wg_sub(1, x[i])))));
    return fails == NULL ? WG_OK : *fails;
}

static Vec vector(PetscInt n, double value) {
    Vec v;
    well(VecCreateSeq(PETSC_COMM_SELF, n, &v));
    well(VecSet(v, value));
    return v;
}

/* Minimises from v, between bounds where they are given. */
static void minimise(wg_problem *p, TaoType type, Vec x, double lower, double upper) {
    PetscInt n;
    TaoConvergedReason reason;
    Mat h;
    Tao tao;
    well(VecGetSize(x, &n));
    Vec low = vector(n, lower), high = vector(n, upper);
    well(wg_petsc_hessian_matrix(p, NULL, &h));
    well(TaoCreate(PETSC_COMM_SELF, &tao)), well(TaoSetType(tao, type));
    well(TaoSetSolution(tao, x)), well(TaoSetVariableBounds(tao, low, high));
    well(TaoSetObjective(tao, wg_petsc_tao_objective, p));
    well(TaoSetGradient(tao, NULL, wg_petsc_tao_gradient, p));
    well(TaoSetObjectiveAndGradient(tao, NULL, wg_petsc_tao_objective_gradient, p));
    well(TaoSetHessian(tao, h, h, wg_petsc_tao_hessian, p));
    well(TaoSetTolerances(tao, 1e-9, 1e-12, 0)), well(TaoSetMaximumIterations(tao, 1000));
    well(TaoSolve(tao));
    well(TaoGetConvergedReason(tao, &reason));
    if (reason <= 0) fail_msg("%s: reason %d, %s", type, (int)reason, wg_problem_message(p));
    well(TaoDestroy(&tao)), well(MatDestroy(&h)), well(VecDestroy(&low)),
        well(VecDestroy(&high));
}

static void minima_are_found_by_gradients_and_hessians(void **state) {
    static const TaoType types[] = {TAOLMVM, TAOCG, TAONLS, TAONTR, TAONTL, TAOBNLS, TAOBLMVM};
    (void)state;
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        double start[N] = {0};
        PetscReal least, most;
        Vec x = vector(N, 0);
        wg_problem *const p =
            wg_problem_new(&(wg_computation){.n = N,
                                             .m = 1,
                                             .callback = rosenbrock,
                                             .x = start,
                                             .flags = k % 2 ? WG_RECORD_ONCE : 0});
        minimise(p, types[k], x, -INFINITY, INFINITY);
        well(VecMin(x, NULL, &least)), well(VecMax(x, NULL, &most));
        if (!(fabs(least - 1) < 1e-6 && fabs(most - 1) < 1e-6))
            fail_msg("%s: %g to %g", types[k], least, most);
        assert_int_equal(wg_problem_status(p), WG_OK);
        well(VecDestroy(&x));
        wg_problem_free(p);
    }
}

/* With x <= 1/2 the first of two variables is at the bound, the other at its square. */
static void bounds_are_kept(void **state) {
    const double start[2] = {0, 0};
    const PetscScalar *at;
    Vec x = vector(2, 0);
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 2, .m = 1, .callback = rosenbrock, .x = start});
    (void)state;
    minimise(p, TAOBNLS, x, -INFINITY, 0.5);
    well(VecGetArrayRead(x, &at));
    assert_true(at[0] == 0.5 && fabs(at[1] - 0.25) < 1e-8);
    well(VecRestoreArrayRead(x, &at));
    well(VecDestroy(&x));
    wg_problem_free(p);
}

static void hessians_are_sparse_and_both_triangles_are_set(void **state) {
    const double start[N] = {0};
    MatInfo info;
    PetscBool symmetric;
    Vec x = vector(N, 0.5);
    Mat h;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = N, .m = 1, .callback = rosenbrock, .x = start, .flags = WG_RECORD_ONCE});
    (void)state;
    well(wg_petsc_hessian_matrix(p, NULL, &h));
    well(MatGetInfo(h, MAT_LOCAL, &info));
    assert_true(info.nz_used == 3 * N - 2);
    well(wg_petsc_tao_hessian(NULL, x, h, h, p));
    well(MatIsSymmetric(h, 0, &symmetric));
    assert_true(symmetric);
    for (PetscInt i = 0; i < N; i++) {
        /* of 100 (b - a^2)^2 + (1 - a)^2 at a = b = 1/2 */
        const double own = (i > 0 ? 200 : 0) + (i + 1 < N ? 1200 * 0.25 - 400 * 0.5 + 2 : 0);
        const PetscInt next = i + 1;
        PetscScalar got;
        well(MatGetValues(h, 1, &i, 1, &i, &got));
        assert_true(close_ulp(got, own, TOL_PROGRAM_ULP));
        if (next == N) continue;
        well(MatGetValues(h, 1, &i, 1, &next, &got));
        assert_true(close_ulp(got, -200, TOL_PROGRAM_ULP));
    }
    well(VecDestroy(&x)), well(MatDestroy(&h));
    wg_problem_free(p);
}

/* ---- residuals and constraints ---- */

/* A decay through points, exact: p0 exp(-p1 i). in: two unknowns, and a shift of the time as
 * parameter. */
static wg_status decay(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)data;
    for (size_t i = 0; i < m; i++) {
        const double seen = 3 * exp(-0.5 * (double)i);
        y[i] = wg_let(
            t,
            wg_sub(wg_mul(x[0], wg_exp(wg_neg(wg_mul(x[1], wg_add(x[2], (double)i))))), seen));
    }
    return WG_OK;
}

static void least_squares_are_solved_for_the_parameters_of_the_moment(void **state) {
    enum { M = 8 };
    const double at[] = {1, 1, 0};
    double shift = 0;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 3, .m = M, .callback = decay, .groups = 2, .group = (size_t[]){2, 1}, .x = at});
    (void)state;
    assert_int_equal(wg_petsc_parameters(p, &shift), WG_OK);
    for (int k = 0; k < 2; k++) {
        const PetscScalar *got;
        TaoConvergedReason reason;
        Vec x = vector(2, 1), r = vector(M, 0);
        Mat a;
        Tao tao;
        shift = k;
        well(wg_petsc_matrix(p, NULL, &a));
        well(TaoCreate(PETSC_COMM_SELF, &tao)), well(TaoSetType(tao, TAOBRGN));
        well(TaoSetSolution(tao, x));
        well(TaoSetResidualRoutine(tao, r, wg_petsc_tao_values, p));
        well(TaoSetJacobianResidualRoutine(tao, a, a, wg_petsc_tao_jacobian, p));
        well(TaoBRGNSetRegularizerWeight(tao, 0));
        well(TaoSetTolerances(tao, 1e-10, 0, 0));
        well(TaoSolve(tao)), well(TaoGetConvergedReason(tao, &reason));
        assert_true(reason > 0);
        well(VecGetArrayRead(x, &got));
        assert_true(fabs(got[0] - 3 * exp(0.5 * k)) < 1e-6 && fabs(got[1] - 0.5) < 1e-6);
        well(VecRestoreArrayRead(x, &got));
        well(TaoDestroy(&tao)), well(VecDestroy(&x)), well(VecDestroy(&r)),
            well(MatDestroy(&a));
    }
    assert_int_equal(wg_problem_status(p), WG_OK);
    wg_problem_free(p);
}

static wg_status sum(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y, void *data) {
    (void)m, (void)data;
    y[0] = wg_sum(t, n, x);
    return WG_OK;
}
static wg_status circle(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(wg_squared_norm(t, n, x), 2));
    return WG_OK;
}

static void equality_constraints_are_met(void **state) {
    const double at[] = {-0.5, -2};
    const PetscScalar *got;
    wg_problem *const f = wg_problem_new(
                          &(wg_computation){.n = 2, .m = 1, .callback = sum, .x = at}),
                      *const c = wg_problem_new(
                          &(wg_computation){.n = 2, .m = 1, .callback = circle, .x = at});
    Vec x = vector(2, -0.5), r = vector(1, 0);
    Mat a;
    Tao tao;
    (void)state;
    well(wg_petsc_matrix(c, NULL, &a));
    well(TaoCreate(PETSC_COMM_SELF, &tao)), well(TaoSetType(tao, TAOALMM));
    well(TaoSetSolution(tao, x));
    well(TaoSetObjectiveAndGradient(tao, NULL, wg_petsc_tao_objective_gradient, f));
    well(TaoSetEqualityConstraintsRoutine(tao, r, wg_petsc_tao_values, c));
    well(TaoSetJacobianEqualityRoutine(tao, a, a, wg_petsc_tao_jacobian, c));
    well(TaoSolve(tao));
    well(VecGetArrayRead(x, &got));
    assert_true(fabs(got[0] + 1) < 1e-4 && fabs(got[1] + 1) < 1e-4);
    well(VecRestoreArrayRead(x, &got));
    well(TaoDestroy(&tao)), well(VecDestroy(&x)), well(VecDestroy(&r)), well(MatDestroy(&a));
    wg_problem_free(f), wg_problem_free(c);
}

/* ---- NaNs and failures ---- */

static wg_status barrier(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_sub(x[0], wg_mul(0.01, wg_log(x[0]))));
    return WG_OK;
}

static void
where_the_objective_is_nan_it_is_infinite_and_line_searches_step_back(void **state) {
    const PetscInt zero = 0;
    double value = 0, got;
    wg_problem *const p = wg_problem_new(
        &(wg_computation){.n = 1, .m = 1, .callback = barrier, .x = (double[]){1}});
    Vec x = vector(1, -1), g = vector(1, 0);
    Mat h;
    (void)state;
    well(wg_petsc_tao_objective_gradient(NULL, x, &value, g, p));
    assert_true(value == INFINITY);
    well(VecGetValues(g, 1, &zero, &got));
    assert_true(isnan(got));
    well(wg_petsc_tao_objective(NULL, x, &value, p));
    assert_true(value == INFINITY);
    well(wg_petsc_tao_values(NULL, x, g, p));
    well(VecGetValues(g, 1, &zero, &got));
    assert_true(got == INFINITY);
    well(wg_petsc_hessian_matrix(p, NULL, &h));
    assert_int_equal(wg_petsc_tao_hessian(NULL, x, h, h, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    wg_problem_clear(p);

    well(VecSet(x, 1));
    minimise(p, TAOBNLS, x, -INFINITY, INFINITY);
    well(VecGetValues(x, 1, &zero, &got));
    assert_true(fabs(got - 0.01) < 1e-6);
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE); /* a step went too far */
    well(VecDestroy(&x)), well(VecDestroy(&g)), well(MatDestroy(&h));
    wg_problem_free(p);
}

static void failures_are_kept(void **state) {
    wg_status fails = WG_ECONVERGE;
    double value;
    Vec x = vector(N, 0), three = vector(3, 0);
    Mat h;
    wg_problem *p = wg_problem_new(
        &(wg_computation){.n = N, .m = 1, .callback = rosenbrock, .data = &fails});
    (void)state;
    assert_int_equal(wg_petsc_tao_objective(NULL, x, &value, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_objective_gradient(NULL, x, &value, x, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_gradient(NULL, x, x, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_values(NULL, x, x, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_jacobian(NULL, x, NULL, NULL, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_hessian(NULL, x, NULL, NULL, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    assert_int_equal(wg_petsc_hessian_matrix(p, (double[N]){0}, &h), PETSC_ERR_LIB);
    assert_null(h);
    fails = WG_OK;
    assert_int_equal(wg_petsc_tao_gradient(NULL, three, x, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_gradient(NULL, x, three, p), PETSC_ERR_LIB);
    assert_non_null(strstr(wg_problem_message(p), "another size"));
    wg_problem_free(p);
    p = wg_problem_new(&(wg_computation){.n = N, .m = 2, .callback = rosenbrock});
    assert_int_equal(wg_petsc_tao_objective(NULL, x, &value, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_tao_gradient(NULL, x, x, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    wg_problem_free(p);
    assert_int_equal(wg_petsc_tao_objective(NULL, x, &value, NULL), PETSC_ERR_LIB);
    well(VecDestroy(&x)), well(VecDestroy(&three));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minima_are_found_by_gradients_and_hessians),
        cmocka_unit_test(bounds_are_kept),
        cmocka_unit_test(hessians_are_sparse_and_both_triangles_are_set),
        cmocka_unit_test(least_squares_are_solved_for_the_parameters_of_the_moment),
        cmocka_unit_test(equality_constraints_are_met),
        cmocka_unit_test(where_the_objective_is_nan_it_is_infinite_and_line_searches_step_back),
        cmocka_unit_test(failures_are_kept),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
