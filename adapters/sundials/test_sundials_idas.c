/* SPDX-License-Identifier: MIT */
/* test_sundials_idas.c - sensitivities and adjoints of equations F(t, y, y', p) = 0: the
 * callbacks against numbers by hand, and IDAS' solutions of Roberts' kinetics against each
 * other and what SUNDIALS' examples print. */
#include "fixture.h"
#include <cvodes/cvodes.h>
#include <idas/idas.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include "wengert/sundials.h"

/* Examples print five digits, of adjoints with tolerances of 1e-6 for y and 1e-5 for G. */
#define PRINTED 2e-4
/* Forward and adjoint sensitivities, each integrated to relative tolerances of 1e-8. */
#define INTEGRATED 1e-5

static void assert_exact(N_Vector v, const double *ref) {
    for (sunindextype i = 0; i < NV_LENGTH_S(v); i++)
        if (NV_Ith_S(v, i) != ref[i])
            fail_msg("entry %d is %.17g, not %.17g", (int)i, NV_Ith_S(v, i), ref[i]);
}

/* ---- the callbacks ---- */

/* F = (2 y0' + p0 y0 y1 - t, y0 - y1^2 p1), integrands y0 y1 and p0 t; data: 1: a mass that
 * changes. */
static wg_status residual(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                          void *data) {
    const wg_real *const y = x + 1, *const yp = x + 3, *const p = x + 5;
    const int changes = data != NULL && *(const int *)data;
    const wg_real mass = changes ? y[1] : wg_constant(2);
    (void)n;
    r[0] =
        wg_let(t, wg_sub(wg_add(wg_mul(mass, yp[0]), wg_mul(wg_mul(p[0], y[0]), y[1])), x[0]));
    r[1] = wg_let(t, wg_sub(y[0], wg_mul(wg_square(y[1]), p[1])));
    if (m > 2) r[2] = wg_let(t, wg_mul(y[0], y[1])), r[3] = wg_let(t, wg_mul(p[0], x[0]));
    return WG_OK;
}
enum { N = 2, NP = 2, INPUTS = 1 + 2 * N + NP };
static const double moment = 8, y_at[N] = {3, 5}, yp_at[N] = {7, 11}, p_at[NP] = {2, 4};

static wg_problem *open_residual(size_t m, unsigned flags, int *changes) {
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = INPUTS,
                                                           .m = m,
                                                           .callback = residual,
                                                           .data = changes,
                                                           .groups = 3,
                                                           .group = (size_t[]){1, 2 * N, NP},
                                                           .flags = flags});
    assert_int_equal(wg_sundials_parameters(p, p_at), WG_OK);
    return p;
}

/* dF/dy = (10, 6; 1, -40), dF/dy' = (2, 0; 0, 0), dF/dp = (15, 0; 0, -25) */
static void residuals_integrands_and_sensitivities_are_those_by_hand(void **state) {
    const double f[N] = {14 + 30 - 8, 3 - 100}, q[2] = {15, 16}, s_at[N] = {1, 2},
                 sp_at[N] = {3, 4};
    const double s0[N] = {10 + 12 + 6 + 15, 1 - 80}, s1[N] = {28, -79 - 25}, s2[N] = {28, -79};
    const double q0[2] = {5 + 6, 8}, q1[2] = {11, 0};
    N_Vector y = vector(y_at, N), yp = vector(yp_at, N), to = vector(NULL, N);
    N_Vector s[3] = {vector(s_at, N), vector(s_at, N), vector(s_at, N)},
             sp[3] = {vector(sp_at, N), vector(sp_at, N), vector(sp_at, N)},
             sr[3] = {vector(NULL, N), vector(NULL, N), vector(NULL, N)};
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        wg_problem *const p = open_residual(4, flags, NULL);
        assert_int_equal(wg_ida_residual(moment, y, yp, to, p), 0), assert_exact(to, f);
        assert_int_equal(wg_ida_quadrature(moment, y, yp, to, p), 0), assert_exact(to, q);
        assert_int_equal(
            wg_ida_sensitivity(3, moment, y, yp, NULL, s, sp, sr, p, NULL, NULL, NULL), 0);
        assert_exact(sr[0], s0), assert_exact(sr[1], s1), assert_exact(sr[2], s2);
        assert_int_equal(wg_ida_quadrature_sensitivity(3, moment, y, yp, s, sp, NULL, sr, p,
                                                       NULL, NULL, NULL),
                         0);
        assert_exact(sr[0], q0), assert_exact(sr[1], q1), assert_exact(sr[2], q1);
        wg_problem_free(p);
    }
    for (int k = 0; k < 3; k++) N_VDestroy(s[k]), N_VDestroy(sp[k]), N_VDestroy(sr[k]);
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(to);
}

static void adjoints_are_those_by_hand_in_every_kind_of_matrix(void **state) {
    const double w[N] = {1, -2}, wp[N] = {30, 40}, c = 100;
    /* (dF/dy')' w' - (dF/dy)' w, and + dg/dy; - (dF/dy)' + c (dF/dy')'; (dF/dp)' w - dg/dp */
    const double plain[N] = {60 - (10 - 2), -(6 + 80)}, whole[N] = {52 + 5, -86 + 3};
    const double jac[N][N] = {{-10 + 200, -1}, {-6, 40}}, times[N] = {190 + 2, -6 - 80};
    const double q_plain[NP] = {15, 50}, q[NP] = {15 - 8, 50};
    const double all[INPUTS] = {8, 3, 5, 7, 11, 2, 4};
    N_Vector y = vector(y_at, N), yp = vector(yp_at, N), yb = vector(w, N), ypb = vector(wp, N),
             to = vector(NULL, N);
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        const int integrands = (k & 2) != 0;
        sunindextype entries;
        wg_problem *const p =
            open_residual(integrands ? 4 : 2, k & 1 ? WG_RECORD_ONCE : 0, NULL);
        assert_int_equal(wg_sundials_entries(p, all, &entries), WG_OK);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_ida_adjoint(moment, y, yp, yb, ypb, to, p), 0);
            assert_exact(to, integrands ? whole : plain);
            assert_int_equal(wg_ida_adjoint_quadrature(moment, y, yp, yb, ypb, to, p), 0);
            assert_exact(to, integrands ? q : q_plain);
        }
        for (int kind = 0; kind < 2; kind++) {
            SUNMatrix a = kind == 0 ? SUNDenseMatrix(N, N, context)
                                    : SUNSparseMatrix(N, N, entries, CSC_MAT, context);
            assert_int_equal(wg_ida_adjoint_jacobian(moment, c, y, yp, yb, ypb, NULL, a, p,
                                                     NULL, NULL, NULL),
                             0);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++) {
                    double got = 0;
                    if (kind == 0) got = SM_ELEMENT_D(a, i, j);
                    for (sunindextype e = kind == 0 ? 1 : SM_INDEXPTRS_S(a)[j];
                         e < (kind == 0 ? 0 : SM_INDEXPTRS_S(a)[j + 1]); e++)
                        if (SM_INDEXVALS_S(a)[e] == i) got += SM_DATA_S(a)[e];
                    assert_true(got == jac[i][j]);
                }
            SUNMatDestroy(a);
        }
        assert_int_equal(
            wg_ida_adjoint_times(moment, y, yp, NULL, NULL, NULL, yb, to, c, p, NULL, NULL), 0);
        assert_exact(to, times);
        assert_int_equal(wg_problem_status(p), WG_OK);
        wg_problem_free(p);
    }
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(yb), N_VDestroy(ypb), N_VDestroy(to);
}

static void adjoints_with_masses_that_change_are_refused(void **state) {
    const double other[N] = {3, 6};
    int changes = 1;
    wg_problem *const p = open_residual(2, 0, &changes);
    N_Vector y = vector(y_at, N), z = vector(other, N), yp = vector(yp_at, N),
             to = vector(NULL, N);
    (void)state;
    assert_int_equal(wg_ida_adjoint(moment, y, yp, yp, yp, to, p), 0);
    assert_true(wg_ida_adjoint(moment, z, yp, yp, yp, to, p) < 0);
    assert_int_equal(wg_problem_status(p), WG_EMODE);
    assert_non_null(strstr(wg_problem_message(p), "dF/dy' changes"));
    wg_problem_free(p);
    N_VDestroy(y), N_VDestroy(z), N_VDestroy(yp), N_VDestroy(to);
}

/* p y' + y. */
static wg_status with_mass(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                           void *data) {
    (void)m, (void)data;
    assert_int_equal(n, 4);
    r[0] = wg_let(t, wg_add(wg_mul(x[3], x[2]), x[1]));
    return WG_OK;
}

static void masses_may_be_others_in_another_solution(void **state) {
    const double one = 1, three = 3;
    double mass = 2;
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 3,
                                                           .m = 1,
                                                           .callback = with_mass,
                                                           .groups = 2,
                                                           .group = (size_t[]){1, 2},
                                                           .flags = WG_RECORD_ONCE,
                                                           .parameters = 1,
                                                           .parameter = &mass});
    N_Vector y = vector(&one, 1), yb = vector(&three, 1), to = vector(NULL, 1);
    (void)state;
    for (int k = 0; k < 2; k++, mass = 5) {
        assert_int_equal(wg_ida_adjoint(moment, y, y, yb, yb, to, p), 0);
        assert_true(NV_Ith_S(to, 0) == 3 * mass - 3);
    }
    wg_problem_free(p);
    N_VDestroy(y), N_VDestroy(yb), N_VDestroy(to);
}

static void failures_are_kept(void **state) {
    const double three_at[3] = {1, 2, 3};
    wg_problem *const p = open_residual(4, 0, NULL);
    N_Vector y = vector(y_at, N), three = vector(three_at, 3), to = vector(NULL, N);
    N_Vector one[1] = {three}, well[1] = {y}, result[1] = {to};
    (void)state;
    assert_true(wg_ida_adjoint(moment, y, three, y, y, to, p) < 0);
    assert_true(wg_ida_adjoint(moment, y, y, three, y, to, p) < 0);
    assert_true(wg_ida_adjoint(moment, y, y, y, three, to, p) < 0);
    assert_true(wg_ida_adjoint(moment, y, y, y, y, three, p) < 0);
    assert_true(wg_ida_adjoint_quadrature(moment, y, y, y, y, three, p) < 0);
    assert_true(wg_ida_quadrature(moment, y, y, three, p) < 0);
    assert_true(
        wg_ida_sensitivity(1, moment, y, y, NULL, one, well, result, p, NULL, NULL, NULL) < 0);
    assert_true(wg_ida_quadrature_sensitivity(1, moment, y, y, well, one, NULL, result, p, NULL,
                                              NULL, NULL) < 0);
    assert_true(wg_cvode_rates(moment, y, to, p) < 0);
    assert_true(wg_ida_residual(moment, y, y, to, NULL) < 0);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    wg_problem_free(p);
    N_VDestroy(y), N_VDestroy(three), N_VDestroy(to);
}

/* ---- Roberts' kinetics ---- */

enum { SPECIES = 3, CONSTANTS = 3 };
static const double constants[CONSTANTS] = {0.04, 1e4, 3e7}, unit[SPECIES] = {1, 0, 0},
                    slopes[SPECIES] = {-0.04, 0.04, 0}, end = 50;
/* of G = the integral of y3 up to 50: the output of idasRoberts_ASAi_dns; of dG/dp and the
 * adjoint at 0 */
static const double published[CONSTANTS] = {1.7341e2, -5.0592e-4, 8.4323e-8},
                    published_adjoint[SPECIES] = {-7.6780, -1.2758e-4, 1};

static wg_status roberts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                         void *data) {
    const wg_real *const y = x + 1, *const yp = x + 4, *const p = x + 7;
    (void)n, (void)m, (void)data;
    const wg_real lost =
        wg_let(t, wg_sub(wg_mul(p[0], y[0]), wg_mul(wg_mul(p[1], y[1]), y[2])));
    r[0] = wg_let(t, wg_add(yp[0], lost));
    r[1] = wg_let(t, wg_add(wg_sub(yp[1], lost), wg_mul(p[2], wg_square(y[1]))));
    r[2] = wg_let(t, wg_sub(wg_add(wg_add(y[0], y[1]), y[2]), 1));
    r[3] = y[2];
    return WG_OK;
}
static wg_problem *open_roberts(void) {
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 10,
                                                           .m = 4,
                                                           .callback = roberts,
                                                           .groups = 3,
                                                           .group = (size_t[]){1, 6, 3},
                                                           .flags = WG_RECORD_ONCE});
    assert_int_equal(wg_sundials_parameters(p, constants), WG_OK);
    return p;
}
static void *open_ida(wg_problem *p, N_Vector y, N_Vector yp, SUNLinearSolver s, SUNMatrix a,
                      N_Vector q) {
    const double tight[] = {1e-12, 1e-16, 1e-12};
    N_Vector tolerance = vector(tight, SPECIES);
    void *ida = IDACreate(context);
    assert_int_equal(IDAInit(ida, wg_ida_residual, 0, y, yp), IDA_SUCCESS);
    assert_int_equal(IDASetUserData(ida, p), IDA_SUCCESS);
    assert_int_equal(IDASVtolerances(ida, 1e-8, tolerance), IDA_SUCCESS);
    assert_int_equal(IDASetLinearSolver(ida, s, a), IDA_SUCCESS);
    assert_int_equal(IDASetJacFn(ida, wg_ida_jacobian), IDA_SUCCESS);
    assert_int_equal(IDASetMaxNumSteps(ida, 50000), IDA_SUCCESS);
    assert_int_equal(IDAQuadInit(ida, wg_ida_quadrature, q), IDA_SUCCESS);
    assert_int_equal(IDAQuadSStolerances(ida, 1e-8, 1e-12), IDA_SUCCESS);
    assert_int_equal(IDASetQuadErrCon(ida, SUNTRUE), IDA_SUCCESS);
    N_VDestroy(tolerance);
    return ida;
}

/* dG/dp by forward sensitivities. */
static void forward(double *by) {
    wg_problem *const p = open_roberts();
    double t, scale[CONSTANTS];
    N_Vector y = vector(unit, SPECIES), yp = vector(slopes, SPECIES), q = vector(NULL, 1);
    N_Vector *s = N_VCloneVectorArray(CONSTANTS, y), *sp = N_VCloneVectorArray(CONSTANTS, y),
             *qs = N_VCloneVectorArray(CONSTANTS, q);
    SUNMatrix a = SUNDenseMatrix(SPECIES, SPECIES, context);
    SUNLinearSolver solver = SUNLinSol_Dense(y, a, context);
    for (int k = 0; k < CONSTANTS; k++)
        N_VConst(0, s[k]), N_VConst(0, sp[k]), N_VConst(0, qs[k]), scale[k] = constants[k];
    NV_Ith_S(sp[0], 0) = -1, NV_Ith_S(sp[0], 1) = 1;
    void *ida = open_ida(p, y, yp, solver, a, q);
    assert_int_equal(IDASensInit(ida, CONSTANTS, IDA_STAGGERED, wg_ida_sensitivity, s, sp),
                     IDA_SUCCESS);
    assert_int_equal(IDASetSensParams(ida, NULL, scale, NULL), IDA_SUCCESS);
    assert_int_equal(IDASensEEtolerances(ida), IDA_SUCCESS);
    assert_int_equal(IDASetSensErrCon(ida, SUNTRUE), IDA_SUCCESS);
    assert_int_equal(IDAQuadSensInit(ida, wg_ida_quadrature_sensitivity, qs), IDA_SUCCESS);
    assert_true(IDASolve(ida, end, &t, y, yp, IDA_NORMAL) >= 0);
    assert_int_equal(IDAGetQuadSens(ida, &t, qs), IDA_SUCCESS);
    for (int k = 0; k < CONSTANTS; k++) by[k] = NV_Ith_S(qs[k], 0);
    IDAFree(&ida), SUNLinSolFree(solver), SUNMatDestroy(a);
    N_VDestroyVectorArray(s, CONSTANTS), N_VDestroyVectorArray(sp, CONSTANTS),
        N_VDestroyVectorArray(qs, CONSTANTS);
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(q);
    wg_problem_free(p);
}

static void
adjoint_and_forward_gradients_of_an_integral_are_the_same_and_as_published(void **state) {
    double by[CONSTANTS];
    (void)state;
    forward(by);
    for (int products = 0; products < 2; products++) {
        const double differential[SPECIES] = {1, 1, 0}, zero[SPECIES] = {0, 0, 1},
                     slope_last[SPECIES] = {0, 0, 0};
        double t;
        int steps, back;
        wg_problem *const p = open_roberts();
        N_Vector y = vector(unit, SPECIES), yp = vector(slopes, SPECIES), q = vector(NULL, 1);
        N_Vector yb = vector(zero, SPECIES), ypb = vector(slope_last, SPECIES),
                 g = vector(NULL, CONSTANTS), id = vector(differential, SPECIES);
        SUNMatrix a = SUNDenseMatrix(SPECIES, SPECIES, context),
                  ab = products ? NULL : SUNDenseMatrix(SPECIES, SPECIES, context);
        SUNLinearSolver solver = SUNLinSol_Dense(y, a, context),
                        sb = products ? SUNLinSol_SPGMR(yb, SUN_PREC_NONE, 0, context)
                                      : SUNLinSol_Dense(yb, ab, context);
        void *ida = open_ida(p, y, yp, solver, a, q);
        assert_int_equal(IDAAdjInit(ida, 150, IDA_HERMITE), IDA_SUCCESS);
        assert_true(IDASolveF(ida, end, &t, y, yp, IDA_NORMAL, &steps) >= 0);
        assert_int_equal(IDACreateB(ida, &back), IDA_SUCCESS);
        assert_int_equal(IDAInitB(ida, back, wg_ida_adjoint, end, yb, ypb), IDA_SUCCESS);
        assert_int_equal(IDASetUserDataB(ida, back, p), IDA_SUCCESS);
        assert_int_equal(IDASStolerancesB(ida, back, 1e-8, 1e-10), IDA_SUCCESS);
        assert_int_equal(IDASetIdB(ida, back, id), IDA_SUCCESS);
        assert_int_equal(IDASetMaxNumStepsB(ida, back, 50000), IDA_SUCCESS);
        assert_int_equal(IDASetLinearSolverB(ida, back, sb, ab), IDA_SUCCESS);
        assert_int_equal(products ? IDASetJacTimesB(ida, back, NULL, wg_ida_adjoint_times)
                                  : IDASetJacFnB(ida, back, wg_ida_adjoint_jacobian),
                         IDA_SUCCESS);
        assert_int_equal(IDAQuadInitB(ida, back, wg_ida_adjoint_quadrature, g), IDA_SUCCESS);
        assert_int_equal(IDAQuadSStolerancesB(ida, back, 1e-8, 1e-14), IDA_SUCCESS);
        assert_int_equal(IDASetQuadErrConB(ida, back, SUNTRUE), IDA_SUCCESS);
        assert_int_equal(IDACalcICB(ida, back, 0, y, yp), IDA_SUCCESS);
        if (IDASolveB(ida, 0, IDA_NORMAL) < 0) fail_msg("%s", wg_problem_message(p));
        assert_true(IDAGetB(ida, back, &t, yb, ypb) >= 0);
        assert_true(IDAGetQuadB(ida, back, &t, g) >= 0);
        assert_near(g, by, INTEGRATED);
        assert_near(g, published, PRINTED);
        assert_near(yb, published_adjoint, PRINTED);
        assert_int_equal(wg_problem_status(p), WG_OK);
        IDAFree(&ida), SUNLinSolFree(solver), SUNLinSolFree(sb), SUNMatDestroy(a),
            SUNMatDestroy(ab);
        N_VDestroy(y), N_VDestroy(yp), N_VDestroy(q), N_VDestroy(yb), N_VDestroy(ypb),
            N_VDestroy(g), N_VDestroy(id);
        wg_problem_free(p);
    }
}

/* ---- integrals of rates, with their sensitivities by CVODES ---- */

/* y' = -p y, and the integrand p y^2: from y(0) = 2 it is 2 - 2 exp(-2 p t), so by p 4 t
 * exp(-2 p t). */
static wg_status decay(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                       void *data) {
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_neg(wg_mul(x[2], x[1])));
    r[1] = wg_let(t, wg_mul(x[2], wg_square(x[1])));
    return WG_OK;
}

static void integrals_of_rates_have_sensitivities(void **state) {
    const double two = 2, last = 1.5;
    double p_now = 0.5, t;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 3, .m = 2, .callback = decay, .groups = 3, .group = (size_t[]){1, 1, 1}});
    N_Vector y = vector(&two, 1), q = vector(NULL, 1), s[1] = {vector(NULL, 1)},
             qs[1] = {vector(NULL, 1)};
    SUNMatrix a = SUNDenseMatrix(1, 1, context);
    SUNLinearSolver solver = SUNLinSol_Dense(y, a, context);
    void *cv = CVodeCreate(CV_BDF, context);
    (void)state;
    assert_int_equal(wg_sundials_parameters(p, &p_now), WG_OK);
    assert_int_equal(CVodeInit(cv, wg_cvode_rates, 0, y), CV_SUCCESS);
    assert_int_equal(CVodeSetUserData(cv, p), CV_SUCCESS);
    assert_int_equal(CVodeSStolerances(cv, 1e-9, 1e-12), CV_SUCCESS);
    assert_int_equal(CVodeSetLinearSolver(cv, solver, a), CV_SUCCESS);
    assert_int_equal(CVodeSetJacFn(cv, wg_cvode_jacobian), CV_SUCCESS);
    assert_int_equal(CVodeSetMaxNumSteps(cv, 5000), CV_SUCCESS);
    assert_int_equal(CVodeQuadInit(cv, wg_cvode_quadrature, q), CV_SUCCESS);
    assert_int_equal(CVodeSensInit1(cv, 1, CV_STAGGERED, wg_cvode_sensitivity, s), CV_SUCCESS);
    assert_int_equal(CVodeSetSensParams(cv, NULL, &p_now, NULL), CV_SUCCESS);
    assert_int_equal(CVodeSensEEtolerances(cv), CV_SUCCESS);
    assert_int_equal(CVodeSetSensErrCon(cv, SUNTRUE), CV_SUCCESS);
    assert_int_equal(CVodeQuadSensInit(cv, wg_cvode_quadrature_sensitivity, qs), CV_SUCCESS);
    assert_true(CVode(cv, last, y, &t, CV_NORMAL) >= 0);
    assert_int_equal(CVodeGetQuadSens(cv, &t, qs), CV_SUCCESS);
    assert_near(qs[0], (double[]){4 * last * exp(-2 * p_now * last)}, 1e-6);
    CVodeFree(&cv), SUNLinSolFree(solver), SUNMatDestroy(a);
    N_VDestroy(y), N_VDestroy(q), N_VDestroy(s[0]), N_VDestroy(qs[0]);
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residuals_integrands_and_sensitivities_are_those_by_hand),
        cmocka_unit_test(adjoints_are_those_by_hand_in_every_kind_of_matrix),
        cmocka_unit_test(adjoints_with_masses_that_change_are_refused),
        cmocka_unit_test(masses_may_be_others_in_another_solution),
        cmocka_unit_test(failures_are_kept),
        cmocka_unit_test(
            adjoint_and_forward_gradients_of_an_integral_are_the_same_and_as_published),
        cmocka_unit_test(integrals_of_rates_have_sensitivities),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
