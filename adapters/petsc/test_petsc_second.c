/* SPDX-License-Identifier: MIT */
/* test_petsc_second.c - TS' second-order adjoints: products of a Hessian by the start and by
 * the parameters against those of wg_ode_solve, and of both kinds of directions with each
 * other. */
#include "ts_case.h"
#include <math.h>

/* An oscillator with a force. in: t; u; p. */
static wg_status oscillator(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                            void *data) {
    const wg_status *const fails = data;
    const wg_real *const u = x + 1, *const p = x + 3;
    (void)n;
    f[0] = wg_let(t, wg_mul(u[1], wg_exp(wg_mul(0.1, p[1]))));
    f[1] = wg_let(t, wg_sub(wg_sub(wg_sin(x[0]), wg_mul(wg_square(p[0]), wg_sin(u[0]))),
                            wg_mul(p[1], u[1])));
    if (m > N) f[2] = wg_let(t, wg_square(u[0]));
    return fails == NULL ? WG_OK : *fails;
}
static const double start[N] = {1, -0.5}, parameters[NP] = {1.25, 0.25};

static wg_problem *problem(size_t m, unsigned flags, wg_status *fails) {
    return rates_problem(oscillator, m, flags, fails, parameters);
}

/* ---- products by hand ---- */

static void products_are_those_by_hand(void **state) {
    const double t = 0.75, u0 = start[0], p0 = parameters[0];
    const double e = exp(0.1 * parameters[1]), u1 = start[1];
    const double l[2][N] = {{2, 3}, {-1, 0.5}}, v[N] = {0.7, -0.2}, d[NP] = {-0.4, 1.5};
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE)
        for (size_t m = N; m <= N + 1; m++) { /* an integrand has no part in it */
            wg_problem *const p = problem(m, flags, NULL);
            Vec u = vector(N, start), du = vector(N, v), dp = vector(NP, d);
            Vec w[2] = {vector(N, l[0]), vector(N, l[1])};
            Vec to_u[2] = {vector(N, NULL), vector(N, NULL)};
            Vec to_p[2] = {vector(NP, NULL), vector(NP, NULL)};
            TS ts;
            well(TSCreate(PETSC_COMM_SELF, &ts));
            well(TSSetCostGradients(ts, 2, w, to_p));
            well(wg_petsc_ts_hessian_uu(ts, t, u, w, du, to_u, p));
            for (int k = 0; k < 2; k++)
                assert_vector("uu", to_u[k], (double[N]){l[k][1] * p0 * p0 * sin(u0) * v[0], 0},
                              TOL_DERIVATIVE_ULP);
            well(wg_petsc_ts_hessian_up(ts, t, u, w, dp, to_u, p));
            for (int k = 0; k < 2; k++)
                assert_vector("up", to_u[k],
                              (double[N]){-l[k][1] * 2 * p0 * cos(u0) * d[0],
                                          (l[k][0] * 0.1 * e - l[k][1]) * d[1]},
                              TOL_DERIVATIVE_ULP);
            well(wg_petsc_ts_hessian_pu(ts, t, u, w, du, to_p, p));
            for (int k = 0; k < 2; k++)
                assert_vector("pu", to_p[k],
                              (double[NP]){-l[k][1] * 2 * p0 * cos(u0) * v[0],
                                           (l[k][0] * 0.1 * e - l[k][1]) * v[1]},
                              TOL_DERIVATIVE_ULP);
            well(wg_petsc_ts_hessian_pp(ts, t, u, w, dp, to_p, p));
            for (int k = 0; k < 2; k++)
                assert_vector(
                    "pp", to_p[k],
                    (double[NP]){-l[k][1] * 2 * sin(u0) * d[0], l[k][0] * 0.01 * e * u1 * d[1]},
                    TOL_DERIVATIVE_ULP);
            assert_int_equal(wg_problem_status(p), WG_OK);
            well(TSDestroy(&ts)), well(VecDestroy(&u)), well(VecDestroy(&du)),
                well(VecDestroy(&dp));
            for (int k = 0; k < 2; k++)
                well(VecDestroy(&w[k])), well(VecDestroy(&to_u[k])), well(VecDestroy(&to_p[k]));
            wg_problem_free(p);
        }
}

/* ---- a solution ---- */

/* The first state at the time 2, as a function of the start and the parameters, by the same
 * steps. */
static wg_status last(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const double times[] = {0, 2};
    wg_mat u;
    (void)n, (void)m;
    const wg_status s = wg_ode_solve(
        t, data, &(wg_ode_options){.method = WG_RK4, .step = 2.0 / STEPS}, 2, times,
        wg_mat_gather(t, N, 1, x), wg_mat_gather(t, NP, 1, x + N), &u, NULL, NULL);
    if (s == WG_OK) y[0] = wg_mat_at(u, 0, 1);
    return s;
}
static void by_ode(const double *v, double *value, double *g, double *hv) {
    const wg_argument in[] = {{"t", 1, 1, 0}, {"u", N, 1, 0}, {"p", NP, 1, 0}};
    const double at[] = {0, 1, 1, 1, 1},
                 x[] = {start[0], start[1], parameters[0], parameters[1]};
    const wg_argument rates = {"f", N, 1, 0};
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f;
    wg_ode *k;
    assert_int_equal(wg_function_record(t, oscillator, NULL, 3, in, at, 1, &rates, &f), WG_OK);
    assert_int_equal(wg_ode_new(t, &(wg_ode_system){.rhs = f, .second = 1}, &k), WG_OK);
    assert_int_equal(wg_hvp(t, last, k, N + NP, x, v, value, g, hv), WG_OK);
    wg_ode_free(k), wg_function_free(f), wg_tape_free(t);
}

static void second_order_adjoints_are_those_of_wg_ode_solve(void **state) {
    /* PETSc's tangent begins at 2 start_by_p d */
    const double d[NP] = {0.3, -0.8}, start_by_p[N * NP] = {0.25, -0.125, 1, 0.5};
    const double v[N + NP] = {0.5 * d[0] - 0.25 * d[1], 2 * d[0] + d[1], d[0], d[1]};
    double value, g[N + NP], hv[N + NP];
    wg_problem *const p = problem(N, WG_RECORD_ONCE, NULL);
    Vec u = vector(N, start), lambda = vector(N, (double[N]){1, 0}), mu = vector(NP, NULL);
    Vec lambda2 = vector(N, NULL), mu2 = vector(NP, NULL), along = vector(NP, d);
    Vec uu = vector(N, NULL), up = vector(N, NULL), pu = vector(NP, NULL),
        pp = vector(NP, NULL);
    Mat a, ap = dense(N, NP, NULL), initial = dense(N, NP, start_by_p);
    TSAdapt adapt;
    TS ts;
    (void)state;
    by_ode(v, &value, g, hv);
    well(wg_petsc_matrix(p, NULL, &a));
    well(TSCreate(PETSC_COMM_SELF, &ts)), well(TSSetType(ts, TSRK)),
        well(TSRKSetType(ts, TSRK4));
    well(TSGetAdapt(ts, &adapt)), well(TSAdaptSetType(adapt, TSADAPTNONE));
    well(TSSetRHSFunction(ts, NULL, wg_petsc_ts_rates, p));
    well(TSSetRHSJacobian(ts, a, a, wg_petsc_ts_jacobian, p));
    well(TSSetRHSJacobianP(ts, ap, wg_petsc_ts_by_parameters, p));
    well(TSSetRHSHessianProduct(ts, &uu, wg_petsc_ts_hessian_uu, &up, wg_petsc_ts_hessian_up,
                                &pu, wg_petsc_ts_hessian_pu, &pp, wg_petsc_ts_hessian_pp, p));
    well(TSSetTimeStep(ts, 2.0 / STEPS)), well(TSSetMaxTime(ts, 2));
    well(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP)), well(TSSetSaveTrajectory(ts));
    well(TSSetCostGradients(ts, 1, &lambda, &mu));
    well(TSSetCostHessianProducts(ts, 1, &lambda2, &mu2, along));
    well(TSSetSolution(ts, u)), well(TSAdjointSetForward(ts, initial));
    well(TSSolve(ts, u));
    well(TSAdjointSolve(ts));
    assert_vector("by the start", lambda, g, STEPS * TOL_VALUE_ULP);
    assert_vector("by the parameters", mu, g + N, STEPS * TOL_VALUE_ULP);
    assert_vector("second, by the start", lambda2, hv, STEPS * TOL_DERIVATIVE_ULP);
    assert_vector("second, by the parameters", mu2, hv + N, STEPS * TOL_DERIVATIVE_ULP);
    assert_int_equal(wg_problem_status(p), WG_OK);
    well(TSDestroy(&ts)), well(VecDestroy(&u)), well(VecDestroy(&lambda)),
        well(VecDestroy(&mu));
    well(VecDestroy(&lambda2)), well(VecDestroy(&mu2)), well(VecDestroy(&along));
    well(VecDestroy(&uu)), well(VecDestroy(&up)), well(VecDestroy(&pu)), well(VecDestroy(&pp));
    well(MatDestroy(&a)), well(MatDestroy(&ap)), well(MatDestroy(&initial));
    wg_problem_free(p);
}

/* ---- failures ---- */

static void failures_are_kept(void **state) {
    wg_status fails = WG_OK;
    wg_problem *const p = problem(N, 0, &fails);
    Vec u = vector(N, start), w = vector(N, start), to = vector(N, NULL),
        three = vector(3, NULL);
    TS ts, quadrature;
    (void)state;
    well(TSCreate(PETSC_COMM_SELF, &ts)), well(TSSetCostGradients(ts, 1, &w, NULL));
    assert_int_equal(wg_petsc_ts_hessian_uu(ts, 0, u, &w, three, &to, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    wg_problem_clear(p);
    assert_int_equal(wg_petsc_ts_hessian_uu(ts, 0, u, &w, w, &three, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    wg_problem_clear(p);
    well(wg_petsc_ts_hessian_uu(ts, 0, u, &w, w, &to, p));
    fails = WG_ECONVERGE;
    assert_int_equal(wg_petsc_ts_hessian_pp(ts, 0, u, &w, w, &to, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    assert_int_equal(wg_petsc_ts_hessian_uu(ts, 0, u, &w, w, &to, NULL), PETSC_ERR_LIB);
    fails = WG_OK;
    well(TSCreateQuadratureTS(ts, PETSC_TRUE, &quadrature));
    assert_int_equal(wg_petsc_ts_hessian_uu(ts, 0, u, &w, w, &to, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_EMODE);
    well(TSDestroy(&ts)), well(VecDestroy(&u)), well(VecDestroy(&w)), well(VecDestroy(&to));
    well(VecDestroy(&three));
    wg_problem_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_by_hand),
        cmocka_unit_test(second_order_adjoints_are_those_of_wg_ode_solve),
        cmocka_unit_test(failures_are_kept),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
