/* SPDX-License-Identifier: MIT */
/* test_sundials_solvers.c - SUNDIALS' own integrators and solvers on problems: Roberts'
 * kinetics against the numbers of the documentation of CVODES and IDAS, sensitivities
 * against each other, systems of equations. */
#include "fixture.h"
#include <cvodes/cvodes.h>
#include <idas/idas.h>
#include <kinsol/kinsol.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include "wengert/sundials.h"

/* The documentation prints five digits, of solutions with relative tolerances of 1e-4. */
#define PRINTED 2e-4
/* Forward and adjoint sensitivities, each integrated to relative tolerances of 1e-9. */
#define INTEGRATED 1e-6

enum { N = 3, NP = 3 };
static const double constants[NP] = {0.04, 1e4, 3e7};

static wg_status roberts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                         void *data) {
    const wg_real *const y = x + 1, *const p = x + 4;
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(wg_mul(p[1], y[1]), y[2]), wg_mul(p[0], y[0])));
    r[2] = wg_let(t, wg_mul(p[2], wg_square(y[1])));
    r[1] = wg_let(t, wg_neg(wg_add(r[0], r[2])));
    return WG_OK;
}
static wg_problem *open(unsigned flags) {
    static const size_t groups[] = {1, N, NP};
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 7, .m = N, .callback = roberts, .groups = 3, .group = groups, .flags = flags});
    assert_int_equal(wg_sundials_parameters(p, constants), WG_OK);
    return p;
}

static const double unit[N] = {1, 0, 0};
static const double early[N] = {9.8517e-1, 3.3864e-5, 1.4794e-2}; /* at 0.4 */
static const double early_by[NP][N] = {{-3.5595e-1, 3.9025e-4, 3.5556e-1},
                                       {9.5431e-8, -2.1309e-10, -9.5218e-8},
                                       {-1.5833e-11, -5.2900e-13, 1.6362e-11}};

/* By a dense matrix, a sparse one, and none. */
static void roberts_kinetics_is_as_documented_with_every_linear_solver(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const double all[] = {0, 1, 1e-5, 1e-2, 0.04, 1e4, 3e7};
        double t;
        sunindextype entries;
        wg_problem *const p = open(kind == 1 ? WG_RECORD_ONCE : 0);
        N_Vector y = vector(unit, N);
        assert_int_equal(wg_sundials_entries(p, all, &entries), WG_OK);
        assert_int_equal(entries, 7);
        SUNMatrix a = kind == 0   ? SUNDenseMatrix(N, N, context)
                      : kind == 1 ? SUNSparseMatrix(N, N, entries, CSC_MAT, context)
                                  : NULL;
        SUNLinearSolver s = kind == 0   ? SUNLinSol_Dense(y, a, context)
                            : kind == 1 ? SUNLinSol_KLU(y, a, context)
                                        : SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, context);
        void *cv = CVodeCreate(CV_BDF, context);
        assert_int_equal(CVodeInit(cv, wg_cvode_rates, 0, y), CV_SUCCESS);
        assert_int_equal(CVodeSetUserData(cv, p), CV_SUCCESS);
        assert_int_equal(CVodeSStolerances(cv, 1e-8, 1e-12), CV_SUCCESS);
        assert_int_equal(CVodeSetLinearSolver(cv, s, a), CV_SUCCESS);
        assert_int_equal(CVodeSetMaxNumSteps(cv, 5000), CV_SUCCESS);
        assert_int_equal(a == NULL ? CVodeSetJacTimes(cv, NULL, wg_cvode_times)
                                   : CVodeSetJacFn(cv, wg_cvode_jacobian),
                         CV_SUCCESS);
        if (CVode(cv, 0.4, y, &t, CV_NORMAL) < 0)
            fail_msg("%d: %s", kind, wg_problem_message(p));
        assert_near(y, early, PRINTED);
        assert_int_equal(wg_problem_status(p), WG_OK);
        CVodeFree(&cv), SUNLinSolFree(s), SUNMatDestroy(a), N_VDestroy(y);
        wg_problem_free(p);
    }
}

/* Solved with sensitivities by the three constants up to t, at relative tolerances of 1e-9. */
static void forward(wg_problem *p, double t, N_Vector y, N_Vector *s) {
    double reached, scale[NP];
    SUNMatrix a = SUNDenseMatrix(N, N, context);
    SUNLinearSolver solver = SUNLinSol_Dense(y, a, context);
    void *cv = CVodeCreate(CV_BDF, context);
    for (int k = 0; k < NP; k++) scale[k] = constants[k];
    assert_int_equal(CVodeInit(cv, wg_cvode_rates, 0, y), CV_SUCCESS);
    assert_int_equal(CVodeSetUserData(cv, p), CV_SUCCESS);
    assert_int_equal(CVodeSStolerances(cv, 1e-9, 1e-14), CV_SUCCESS);
    assert_int_equal(CVodeSetLinearSolver(cv, solver, a), CV_SUCCESS);
    assert_int_equal(CVodeSetJacFn(cv, wg_cvode_jacobian), CV_SUCCESS);
    assert_int_equal(CVodeSetMaxNumSteps(cv, 50000), CV_SUCCESS);
    assert_int_equal(CVodeSensInit1(cv, NP, CV_STAGGERED, wg_cvode_sensitivity, s), CV_SUCCESS);
    assert_int_equal(CVodeSetSensParams(cv, NULL, scale, NULL), CV_SUCCESS);
    assert_int_equal(CVodeSensEEtolerances(cv), CV_SUCCESS);
    assert_int_equal(CVodeSetSensErrCon(cv, SUNTRUE), CV_SUCCESS);
    assert_true(CVode(cv, t, y, &reached, CV_NORMAL) >= 0);
    assert_true(CVodeGetSens(cv, &reached, s) >= 0);
    CVodeFree(&cv), SUNLinSolFree(solver), SUNMatDestroy(a);
}

static void forward_sensitivities_are_as_documented(void **state) {
    wg_problem *const p = open(WG_RECORD_ONCE);
    N_Vector y = vector(unit, N), s[NP] = {vector(NULL, N), vector(NULL, N), vector(NULL, N)};
    (void)state;
    forward(p, 0.4, y, s);
    assert_near(y, early, PRINTED);
    for (int k = 0; k < NP; k++) assert_near(s[k], early_by[k], PRINTED);
    N_VDestroy(y), N_VDestroy(s[0]), N_VDestroy(s[1]), N_VDestroy(s[2]);
    wg_problem_free(p);
}

/* The gradient of y3 at t = 40, back from (0, 0, 1), by a dense matrix or by products. */
static void adjoint_sensitivities_are_those_of_the_forward_ones(void **state) {
    wg_problem *const p = open(WG_RECORD_ONCE);
    N_Vector y = vector(unit, N), s[NP] = {vector(NULL, N), vector(NULL, N), vector(NULL, N)};
    double ref[NP];
    (void)state;
    forward(p, 40, y, s);
    for (int k = 0; k < NP; k++) ref[k] = NV_Ith_S(s[k], 2);
    for (int products = 0; products < 2; products++) {
        const double last[N] = {0, 0, 1};
        double t;
        int steps, back;
        N_Vector z = vector(unit, N), zb = vector(last, N), g = vector(NULL, NP);
        SUNMatrix a = SUNDenseMatrix(N, N, context),
                  ab = products ? NULL : SUNDenseMatrix(N, N, context);
        SUNLinearSolver solver = SUNLinSol_Dense(z, a, context);
        SUNLinearSolver sb = products ? SUNLinSol_SPGMR(zb, SUN_PREC_NONE, 0, context)
                                      : SUNLinSol_Dense(zb, ab, context);
        void *cv = CVodeCreate(CV_BDF, context);
        assert_int_equal(CVodeInit(cv, wg_cvode_rates, 0, z), CV_SUCCESS);
        assert_int_equal(CVodeSetUserData(cv, p), CV_SUCCESS);
        assert_int_equal(CVodeSStolerances(cv, 1e-10, 1e-14), CV_SUCCESS);
        assert_int_equal(CVodeSetLinearSolver(cv, solver, a), CV_SUCCESS);
        assert_int_equal(CVodeSetJacFn(cv, wg_cvode_jacobian), CV_SUCCESS);
        assert_int_equal(CVodeSetMaxNumSteps(cv, 50000), CV_SUCCESS);
        assert_int_equal(CVodeAdjInit(cv, 100, CV_POLYNOMIAL), CV_SUCCESS);
        assert_true(CVodeF(cv, 40, z, &t, CV_NORMAL, &steps) >= 0);
        assert_int_equal(CVodeCreateB(cv, CV_BDF, &back), CV_SUCCESS);
        assert_int_equal(CVodeInitB(cv, back, wg_cvode_adjoint, 40, zb), CV_SUCCESS);
        assert_int_equal(CVodeSetUserDataB(cv, back, p), CV_SUCCESS);
        assert_int_equal(CVodeSStolerancesB(cv, back, 1e-9, 1e-12), CV_SUCCESS);
        assert_int_equal(CVodeSetLinearSolverB(cv, back, sb, ab), CV_SUCCESS);
        assert_int_equal(products ? CVodeSetJacTimesB(cv, back, NULL, wg_cvode_adjoint_times)
                                  : CVodeSetJacFnB(cv, back, wg_cvode_adjoint_jacobian),
                         CV_SUCCESS);
        assert_int_equal(CVodeSetMaxNumStepsB(cv, back, 50000), CV_SUCCESS);
        assert_int_equal(CVodeQuadInitB(cv, back, wg_cvode_adjoint_quadrature, g), CV_SUCCESS);
        assert_int_equal(CVodeSetQuadErrConB(cv, back, SUNTRUE), CV_SUCCESS);
        assert_int_equal(CVodeQuadSStolerancesB(cv, back, 1e-9, 1e-16), CV_SUCCESS);
        assert_true(CVodeB(cv, 0, CV_NORMAL) >= 0);
        assert_true(CVodeGetQuadB(cv, back, &t, g) >= 0);
        assert_near(g, ref, INTEGRATED);
        CVodeFree(&cv), SUNLinSolFree(solver), SUNLinSolFree(sb), SUNMatDestroy(a),
            SUNMatDestroy(ab);
        N_VDestroy(z), N_VDestroy(zb), N_VDestroy(g);
    }
    N_VDestroy(y), N_VDestroy(s[0]), N_VDestroy(s[1]), N_VDestroy(s[2]);
    wg_problem_free(p);
}

/* As IDA's example has it: the third equation is that the amounts add up to 1. */
static wg_status algebraic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                           void *data) {
    const wg_real *const y = x + 1, *const yp = x + 4;
    (void)n, (void)m, (void)data;
    const wg_real lost = wg_let(t, wg_sub(wg_mul(0.04, y[0]), wg_mul(wg_mul(1e4, y[1]), y[2])));
    r[0] = wg_let(t, wg_add(yp[0], lost));
    r[1] = wg_let(t, wg_add(wg_sub(yp[1], lost), wg_mul(3e7, wg_square(y[1]))));
    r[2] = wg_let(t, wg_sub(wg_add(wg_add(y[0], y[1]), y[2]), 1));
    return WG_OK;
}
static void roberts_kinetics_with_an_algebraic_equation_is_as_documented(void **state) {
    const size_t groups[] = {1, 2 * N};
    const double slope[N] = {-0.04, 0.04, 0}, tight[N] = {1e-8, 1e-14, 1e-6};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        double t, all[7] = {0, 1, 1e-5, 1e-2, -0.04, 0.04, 0};
        sunindextype entries;
        wg_problem *const p = wg_problem_new(&(wg_computation){
            .n = 7, .m = N, .callback = algebraic, .groups = 2, .group = groups});
        N_Vector y = vector(unit, N), yp = vector(slope, N), tolerance = vector(tight, N);
        assert_int_equal(wg_sundials_entries(p, all, &entries), WG_OK);
        SUNMatrix a = kind == 0   ? SUNDenseMatrix(N, N, context)
                      : kind == 1 ? SUNSparseMatrix(N, N, entries, CSR_MAT, context)
                                  : NULL;
        SUNLinearSolver s = kind == 0   ? SUNLinSol_Dense(y, a, context)
                            : kind == 1 ? SUNLinSol_KLU(y, a, context)
                                        : SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, context);
        void *ida = IDACreate(context);
        assert_int_equal(IDAInit(ida, wg_ida_residual, 0, y, yp), IDA_SUCCESS);
        assert_int_equal(IDASetUserData(ida, p), IDA_SUCCESS);
        assert_int_equal(IDASVtolerances(ida, 1e-6, tolerance), IDA_SUCCESS);
        assert_int_equal(IDASetLinearSolver(ida, s, a), IDA_SUCCESS);
        assert_int_equal(IDASetMaxNumSteps(ida, 20000), IDA_SUCCESS);
        assert_int_equal(a == NULL ? IDASetJacTimes(ida, NULL, wg_ida_times)
                                   : IDASetJacFn(ida, wg_ida_jacobian),
                         IDA_SUCCESS);
        if (IDASolve(ida, 0.4, &t, y, yp, IDA_NORMAL) < 0)
            fail_msg("%d: %s", kind, wg_problem_message(p));
        assert_near(y, early, PRINTED);
        IDAFree(&ida), SUNLinSolFree(s), SUNMatDestroy(a);
        N_VDestroy(y), N_VDestroy(yp), N_VDestroy(tolerance);
        wg_problem_free(p);
    }
}

/* Himmelblau's equations, with their constants as parameters: a root at (3, 2). */
static wg_status himmelblau(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                            void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_add(wg_square(x[0]), x[1]), x[2]));
    r[1] = wg_let(t, wg_sub(wg_add(x[0], wg_square(x[1])), x[3]));
    return WG_OK;
}
static void systems_of_equations_are_solved(void **state) {
    const size_t groups[] = {2, 2};
    const double p_at[] = {11, 7}, start[] = {2, 2}, root[] = {3, 2}, ones[] = {1, 1};
    (void)state;
    for (int products = 0; products < 2; products++) {
        wg_problem *const p = wg_problem_new(&(wg_computation){
            .n = 4, .m = 2, .callback = himmelblau, .groups = 2, .group = groups});
        N_Vector u = vector(start, 2), scale = vector(ones, 2);
        SUNMatrix a = products ? NULL : SUNDenseMatrix(2, 2, context);
        SUNLinearSolver s = products ? SUNLinSol_SPGMR(u, SUN_PREC_NONE, 0, context)
                                     : SUNLinSol_Dense(u, a, context);
        void *kin = KINCreate(context);
        assert_int_equal(wg_sundials_parameters(p, p_at), WG_OK);
        assert_int_equal(KINInit(kin, wg_kinsol_system, u), KIN_SUCCESS);
        assert_int_equal(KINSetUserData(kin, p), KIN_SUCCESS);
        assert_int_equal(KINSetLinearSolver(kin, s, a), KIN_SUCCESS);
        assert_int_equal(products ? KINSetJacTimesVecFn(kin, wg_kinsol_times)
                                  : KINSetJacFn(kin, wg_kinsol_jacobian),
                         KIN_SUCCESS);
        assert_int_equal(KINSetFuncNormTol(kin, 1e-12), KIN_SUCCESS);
        assert_true(KINSol(kin, u, KIN_LINESEARCH, scale, scale) >= 0);
        assert_near(u, root, 1e-10);
        KINFree(&kin), SUNLinSolFree(s), SUNMatDestroy(a), N_VDestroy(u), N_VDestroy(scale);
        wg_problem_free(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roberts_kinetics_is_as_documented_with_every_linear_solver),
        cmocka_unit_test(forward_sensitivities_are_as_documented),
        cmocka_unit_test(adjoint_sensitivities_are_those_of_the_forward_ones),
        cmocka_unit_test(roberts_kinetics_with_an_algebraic_equation_is_as_documented),
        cmocka_unit_test(systems_of_equations_are_solved),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
