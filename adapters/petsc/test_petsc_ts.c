/* SPDX-License-Identifier: MIT */
/* test_petsc_ts.c - TS' callbacks: values and derivatives against those by hand, TSAdjoint
 * against the discrete adjoint of wg_ode_solve, rates against residuals, adjoints against
 * forward sensitivities, NaNs, failures. */
#include "ts_case.h"
#include <math.h>
#include <string.h>

/* Newton's method ends at an update of 1e-15, and so do both of these in each step. */
#define TOL_NEWTON_ULP (STEPS * 64.0)

/* An oscillator with a force, and two integrands. in: t; u; p. */
static wg_status oscillator(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                            void *data) {
    const wg_status *const fails = data;
    const wg_real *const u = x + 1, *const p = x + 3;
    (void)n;
    f[0] = u[1];
    f[1] =
        wg_let(t, wg_sub(wg_sub(wg_sin(x[0]), wg_mul(p[0], wg_sin(u[0]))), wg_mul(p[1], u[1])));
    if (m > N) f[2] = wg_let(t, wg_mul(p[0], wg_square(u[0])));
    if (m > N + 1) f[3] = wg_let(t, wg_mul(x[0], wg_exp(u[1])));
    return fails == NULL ? WG_OK : *fails;
}
/* The first of them alone. */
static wg_status cost(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *g,
                      void *data) {
    (void)n, (void)m, (void)data;
    g[0] = wg_let(t, wg_mul(x[3], wg_square(x[1])));
    return WG_OK;
}
/* The same as a residual. in: t; u, u'; p. */
static wg_status residual(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                          void *data) {
    const wg_real rates_of[5] = {x[0], x[1], x[2], x[5], x[6]};
    const wg_status s = oscillator(t, 5, rates_of, m, f, data);
    (void)n;
    for (size_t i = 0; i < N; i++) f[i] = wg_let(t, wg_mul(2, wg_sub(x[3 + i], f[i])));
    return s;
}
static const double parameters[NP] = {1.5, 0.25}, start[N] = {1, -0.5};

static wg_problem *problem(size_t m, unsigned flags, wg_status *fails) {
    return rates_problem(oscillator, m, flags, fails, parameters);
}
static wg_problem *residual_problem(void) {
    wg_problem *const p =
        wg_problem_new(&(wg_computation){.n = 1 + 2 * N + NP,
                                         .m = N,
                                         .callback = residual,
                                         .groups = 3,
                                         .group = (size_t[]){1, 2 * N, NP},
                                         .x = (double[]){0, 1, 1, 1, 1, 1, 1}});
    assert_int_equal(wg_petsc_parameters(p, parameters), WG_OK);
    return p;
}

static void assert_matrix(Mat a, const double *ref) {
    PetscInt rows, cols;
    well(MatGetSize(a, &rows, &cols));
    for (PetscInt i = 0; i < rows; i++)
        for (PetscInt j = 0; j < cols; j++) {
            PetscScalar got;
            well(MatGetValues(a, 1, &i, 1, &j, &got));
            if (!close_ulp(got, ref[i * cols + j], TOL_DERIVATIVE_ULP))
                fail_msg("entry %d, %d is %.17g, not %.17g", (int)i, (int)j, got,
                         ref[i * cols + j]);
        }
}

/* ---- callbacks ---- */

static void rates_integrands_and_their_derivatives_are_those_by_hand(void **state) {
    const double t = 0.75, u0 = start[0], u1 = start[1], p0 = parameters[0], p1 = parameters[1];
    const double f[] = {u1, sin(t) - p0 * sin(u0) - p1 * u1}, q[] = {p0 * u0 * u0, t * exp(u1)};
    const double by_u[] = {0, 1, -p0 * cos(u0), -p1}, by_p[] = {0, 0, -sin(u0), -u1};
    const double q_by_u[] = {2 * p0 * u0, 0, 0, t * exp(u1)}, q_by_p[] = {u0 * u0, 0, 0, 0};
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        wg_problem *const p = problem(4, flags, NULL);
        Vec u = vector(N, start), to = vector(N, NULL);
        Mat a, ap = dense(N, NP, NULL), qu = dense(N, 2, NULL), qp = dense(NP, 2, NULL);
        MatInfo info;
        well(wg_petsc_matrix(p, NULL, &a));
        well(MatGetInfo(a, MAT_LOCAL, &info));
        assert_true(info.nz_used == 4); /* the diagonal is there, too */
        well(wg_petsc_ts_rates(NULL, t, u, to, p)),
            assert_vector("rates", to, f, TOL_VALUE_ULP);
        well(wg_petsc_ts_integrands(NULL, t, u, to, p)),
            assert_vector("integrands", to, q, TOL_VALUE_ULP);
        for (int again = 0; again < 2; again++) {
            well(wg_petsc_ts_jacobian(NULL, t, u, a, a, p)), assert_matrix(a, by_u);
            well(MatShift(a, 7)); /* as TS does: all entries are set again */
        }
        well(wg_petsc_ts_by_parameters(NULL, t, u, ap, p)), assert_matrix(ap, by_p);
        well(wg_petsc_ts_integrand_gradients(NULL, t, u, qu, qu, p)), assert_matrix(qu, q_by_u);
        well(wg_petsc_ts_integrand_by_parameters(NULL, t, u, qp, p)), assert_matrix(qp, q_by_p);
        assert_int_equal(wg_problem_status(p), WG_OK);
        well(VecDestroy(&u)), well(VecDestroy(&to));
        well(MatDestroy(&a)), well(MatDestroy(&ap)), well(MatDestroy(&qu)),
            well(MatDestroy(&qp));
        wg_problem_free(p);
    }
}

static void residuals_and_their_derivatives_are_those_by_hand(void **state) {
    const double t = 0.75, slope[N] = {3, 4}, shift = 10, u0 = start[0], u1 = start[1];
    const double p0 = parameters[0], p1 = parameters[1];
    const double f[] = {2 * (3 - u1), 2 * (4 - (sin(t) - p0 * sin(u0) - p1 * u1))};
    const double by_u[] = {2 * shift, -2, 2 * p0 * cos(u0), 2 * shift + 2 * p1};
    const double by_p[] = {0, 0, 2 * sin(u0), 2 * u1};
    wg_problem *const p = residual_problem();
    Vec u = vector(N, start), ut = vector(N, slope), to = vector(N, NULL);
    Mat a, ap = dense(N, NP, NULL);
    (void)state;
    well(wg_petsc_matrix(p, NULL, &a));
    well(wg_petsc_ts_residual(NULL, t, u, ut, to, p)),
        assert_vector("residual", to, f, TOL_DERIVATIVE_ULP);
    well(wg_petsc_ts_residual_jacobian(NULL, t, u, ut, shift, a, a, p)), assert_matrix(a, by_u);
    well(wg_petsc_ts_residual_by_parameters(NULL, t, u, ut, shift, ap, p));
    assert_matrix(ap, by_p);
    well(VecDestroy(&u)), well(VecDestroy(&ut)), well(VecDestroy(&to));
    well(MatDestroy(&a)), well(MatDestroy(&ap));
    wg_problem_free(p);
}

/* ---- solutions ---- */

typedef struct solution {
    double u[N], q;               /* at the end; the integral */
    double by_start[N], by_p[NP]; /* of the first state at the end, plus the integral */
} solution;

enum { RATES, RESIDUAL };         /* what is stated */
enum { ADJOINT, COSTS, FORWARD }; /* without and with the integral; by TSForward */

/* To the time 2 in 40 steps of a method. */
static solution solve(TSType type, int stated, int how) {
    solution s = {.q = 0};
    const PetscInt zero = 0;
    wg_problem *const p = problem(3, WG_RECORD_ONCE, NULL), *const r = residual_problem();
    Vec u = vector(N, start), lambda = vector(N, (double[N]){1, 0}), mu = vector(NP, NULL), q;
    Mat a, ap = dense(N, NP, NULL), qu = dense(N, 1, NULL), qp = dense(NP, 1, NULL),
           along = dense(N, NP, NULL);
    TS ts, quadrature;
    well(wg_petsc_matrix(stated == RATES ? p : r, NULL, &a));
    well(TSCreate(PETSC_COMM_SELF, &ts)), well(TSSetType(ts, type));
    if (stated == RATES) {
        well(TSSetRHSFunction(ts, NULL, wg_petsc_ts_rates, p));
        well(TSSetRHSJacobian(ts, a, a, wg_petsc_ts_jacobian, p));
        well(TSSetRHSJacobianP(ts, ap, wg_petsc_ts_by_parameters, p));
    } else {
        well(TSSetIFunction(ts, NULL, wg_petsc_ts_residual, r));
        well(TSSetIJacobian(ts, a, a, wg_petsc_ts_residual_jacobian, r));
        well(TSSetIJacobianP(ts, ap, wg_petsc_ts_residual_by_parameters, r));
    }
    if (strcmp(type, TSRK) == 0) {
        TSAdapt adapt;
        well(TSRKSetType(ts, TSRK4));
        well(TSGetAdapt(ts, &adapt)), well(TSAdaptSetType(adapt, TSADAPTNONE));
    } else {
        SNES snes;
        KSP ksp;
        PC pc;
        well(TSGetSNES(ts, &snes)), well(SNESGetKSP(snes, &ksp)), well(KSPGetPC(ksp, &pc));
        well(KSPSetType(ksp, KSPPREONLY)), well(PCSetType(pc, PCLU));
        well(SNESSetTolerances(snes, 1e-14, 1e-15, 1e-15, 50, 1000));
    }
    if (how == COSTS) {
        well(TSCreateQuadratureTS(ts, PETSC_TRUE, &quadrature));
        well(TSSetRHSFunction(quadrature, NULL, wg_petsc_ts_integrands, p));
        well(TSSetRHSJacobian(quadrature, qu, qu, wg_petsc_ts_integrand_gradients, p));
        well(TSSetRHSJacobianP(quadrature, qp, wg_petsc_ts_integrand_by_parameters, p));
    }
    well(TSSetTimeStep(ts, 2.0 / STEPS)), well(TSSetMaxTime(ts, 2));
    well(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    if (how == FORWARD) well(TSForwardSetSensitivities(ts, NP, along));
    else well(TSSetSaveTrajectory(ts));
    well(TSSolve(ts, u));
    for (PetscInt i = 0; i < N; i++) well(VecGetValues(u, 1, &i, &s.u[i]));
    if (how == COSTS) well(TSGetCostIntegral(ts, &q)), well(VecGetValues(q, 1, &zero, &s.q));
    if (how != FORWARD) {
        well(TSSetCostGradients(ts, 1, &lambda, &mu));
        well(TSAdjointSolve(ts));
    }
    for (PetscInt i = 0; i < N; i++) {
        well(VecGetValues(lambda, 1, &i, &s.by_start[i]));
        if (how == FORWARD) well(MatGetValues(along, 1, &zero, 1, &i, &s.by_p[i]));
        else well(VecGetValues(mu, 1, &i, &s.by_p[i]));
    }
    assert_int_equal(wg_problem_status(p), WG_OK);
    assert_int_equal(wg_problem_status(r), WG_OK);
    well(TSDestroy(&ts)), well(VecDestroy(&u)), well(VecDestroy(&lambda)),
        well(VecDestroy(&mu));
    well(MatDestroy(&a)), well(MatDestroy(&ap)), well(MatDestroy(&along));
    well(MatDestroy(&qu)), well(MatDestroy(&qp));
    wg_problem_free(p), wg_problem_free(r);
    return s;
}

static void assert_close(const char *what, double got, double ref, double ulps) {
    if (!close_ulp(got, ref, ulps)) fail_msg("%s: %.17g, not %.17g", what, got, ref);
}
static void assert_solution(const solution *got, const solution *ref, int start_too,
                            double ulps) {
    assert_close("integral", got->q, ref->q, ulps);
    for (int i = 0; i < N; i++) {
        assert_close("state", got->u[i], ref->u[i], ulps);
        if (start_too) assert_close("by the start", got->by_start[i], ref->by_start[i], ulps);
        assert_close("by a parameter", got->by_p[i], ref->by_p[i], ulps);
    }
}

/* The same steps of the same method, with its discrete adjoint by this library. */
static solution by_ode(void) {
    const wg_argument in[] = {{"t", 1, 1, 0}, {"u", N, 1, 0}, {"p", NP, 1, 0}};
    const double at[1 + N + NP] = {0, 1, 1, 1, 1}, times[] = {0, 2};
    solution s;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f, *integrand;
    wg_ode *k;
    wg_mat u, r;
    assert_int_equal(
        wg_function_record(t, oscillator, NULL, 3, in, at, 1, &(wg_argument){"f", N, 1, 0}, &f),
        WG_OK);
    assert_int_equal(wg_function_record(t, cost, NULL, 3, in, at, 1,
                                        &(wg_argument){"g", 1, 1, 0}, &integrand),
                     WG_OK);
    assert_int_equal(wg_ode_new(t, &(wg_ode_system){.rhs = f, .integrand = integrand}, &k),
                     WG_OK);
    const wg_mat u0 = wg_mat_input(t, N, 1, start, N),
                 p = wg_mat_input(t, NP, 1, parameters, NP);
    wg_ode_solve(t, k, &(wg_ode_options){.method = WG_RK4, .step = 2.0 / STEPS}, 2, times, u0,
                 p, &u, &r, NULL);
    const wg_real sum = wg_let(t, wg_add(wg_mat_at(u, 0, 1), wg_mat_at(r, 0, 1)));
    assert_int_equal(wg_reverse(t, sum), WG_OK);
    for (size_t i = 0; i < N; i++) s.u[i] = wg_value(wg_mat_at(u, i, 1));
    s.q = wg_value(wg_mat_at(r, 0, 1));
    assert_int_equal(wg_mat_adjoint(t, u0, s.by_start, N), WG_OK);
    assert_int_equal(wg_mat_adjoint(t, p, s.by_p, NP), WG_OK);
    wg_tape_free(t);
    wg_ode_free(k);
    wg_function_free(f), wg_function_free(integrand);
    return s;
}

static void adjoints_of_runge_and_kutta_are_those_of_wg_ode_solve(void **state) {
    const solution got = solve(TSRK, RATES, COSTS), ref = by_ode();
    (void)state;
    assert_solution(&got, &ref, 1, STEPS * TOL_VALUE_ULP);
}

static void rates_and_residuals_have_the_same_adjoints_and_forward_sensitivities(void **state) {
    static const TSType types[] = {TSCN, TSBEULER};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const solution ref = solve(types[k], RATES, ADJOINT),
                       got = solve(types[k], RESIDUAL, ADJOINT),
                       forward = solve(types[k], RATES, FORWARD);
        assert_true(ref.by_p[0] != 0 && ref.by_p[1] != 0);
        assert_solution(&got, &ref, 1, TOL_NEWTON_ULP);
        assert_solution(&forward, &ref, 0, TOL_NEWTON_ULP);
    }
}

/* ---- NaNs and failures ---- */

/* u' = -30 (2 + log u): Newton's method for a long step from 1 goes where there is no
 * logarithm. */
static wg_status logarithm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                           void *data) {
    (void)n, (void)m, (void)data;
    f[0] = wg_let(t, wg_mul(-30, wg_add(2, wg_log(x[1]))));
    return WG_OK;
}

/* Up to the time 1 by a method, from a step of 0.05. Result: TSSolve's. */
static PetscErrorCode solve_logarithm(wg_problem *p, TSType type, TSConvergedReason *reason,
                                      PetscInt *failures, double *last) {
    const PetscInt zero = 0;
    const double one = 1;
    Vec u = vector(1, &one);
    SNESLineSearch search;
    SNES snes;
    Mat a;
    TS ts;
    well(wg_petsc_matrix(p, (double[]){0, 1}, &a));
    well(TSCreate(PETSC_COMM_SELF, &ts)), well(TSSetType(ts, type));
    well(TSSetRHSFunction(ts, NULL, wg_petsc_ts_rates, p));
    well(TSSetRHSJacobian(ts, a, a, wg_petsc_ts_jacobian, p));
    well(TSGetSNES(ts, &snes)), well(SNESGetLineSearch(snes, &search));
    well(SNESLineSearchSetType(search, SNESLINESEARCHBASIC));
    well(TSSetTimeStep(ts, 0.05)), well(TSSetMaxTime(ts, 1)),
        well(TSSetMaxSNESFailures(ts, -1));
    well(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    const PetscErrorCode error = TSSolve(ts, u);
    well(TSGetConvergedReason(ts, reason));
    well(TSGetSNESFailures(ts, failures));
    well(VecGetValues(u, 1, &zero, last));
    well(TSDestroy(&ts)), well(VecDestroy(&u)), well(MatDestroy(&a));
    return error;
}

static void after_a_nan_implicit_methods_take_a_shorter_step_and_others_end(void **state) {
    const double exact = exp(-2);
    TSConvergedReason reason;
    PetscInt failures;
    double last;
    (void)state;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 2, .m = 1, .callback = logarithm, .groups = 2, .group = (size_t[]){1, 1}});
    assert_int_equal(solve_logarithm(p, TSBEULER, &reason, &failures, &last), 0);
    assert_true(reason > 0 && failures > 0);
    assert_true(fabs(last - exact) < 1e-6); /* at rest */
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    wg_problem_clear(p);
    if (__lsan_disable != NULL)
        __lsan_disable(); /* PETSc holds what it was at when it failed */
    assert_int_equal(solve_logarithm(p, TSRK, &reason, &failures, &last), PETSC_ERR_FP);
    if (__lsan_enable != NULL) __lsan_enable();
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    wg_problem_free(p);
}

static void jacobians_with_nans_are_handed_on(void **state) {
    const double zero = 0;
    const PetscInt at = 0;
    wg_problem *const p = wg_problem_new(&(wg_computation){
        .n = 2, .m = 1, .callback = logarithm, .groups = 2, .group = (size_t[]){1, 1}});
    Vec u = vector(1, &zero);
    PetscScalar got = 0;
    Mat a;
    (void)state;
    well(wg_petsc_matrix(p, (double[]){0, 1}, &a));
    well(wg_petsc_ts_jacobian(NULL, 0, u, a, a, p));
    well(MatGetValues(a, 1, &at, 1, &at, &got));
    assert_true(isnan(got));
    assert_int_equal(wg_problem_status(p), WG_ENONFINITE);
    well(VecDestroy(&u)), well(MatDestroy(&a));
    wg_problem_free(p);
}

static void failures_are_kept(void **state) {
    wg_status fails = WG_ECONVERGE;
    Vec u = vector(N, start), f = vector(N, NULL), three = vector(3, NULL);
    Mat a = dense(N, N, NULL), ap = dense(N, NP, NULL);
    wg_problem *p = problem(3, 0, &fails);
    (void)state;
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, u, f, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_integrands(NULL, 0, u, f, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_jacobian(NULL, 0, u, a, a, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_by_parameters(NULL, 0, u, ap, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_integrand_gradients(NULL, 0, u, a, a, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_integrand_by_parameters(NULL, 0, u, a, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
    fails = WG_OK;
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, three, f, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, u, three, p), PETSC_ERR_LIB);
    assert_int_equal(wg_problem_status(p), WG_ESHAPE);
    assert_int_equal(wg_petsc_ts_residual(NULL, 0, u, u, f, p), PETSC_ERR_LIB);
    assert_non_null(strstr(wg_problem_message(p), "other equations"));
    wg_problem_free(p);

    p = wg_problem_new(&(wg_computation){
        .n = 5, .m = 2, .callback = oscillator, .groups = 3, .group = (size_t[]){1, 2, 2}});
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, u, f, p), PETSC_ERR_LIB);
    assert_non_null(strstr(wg_problem_message(p), "wg_petsc_parameters"));
    assert_int_equal(wg_petsc_parameters(NULL, parameters), WG_ENULL);
    assert_int_equal(wg_petsc_parameters(p, NULL), WG_ENULL);
    wg_problem_free(p);
    p = wg_problem_new(&(wg_computation){.n = 5, .m = 2, .callback = oscillator});
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, u, f, p), PETSC_ERR_LIB);
    assert_non_null(strstr(wg_problem_message(p), "groups"));
    wg_problem_free(p);
    assert_int_equal(wg_petsc_ts_rates(NULL, 0, u, f, NULL), PETSC_ERR_LIB);
    well(VecDestroy(&u)), well(VecDestroy(&f)), well(VecDestroy(&three));
    well(MatDestroy(&a)), well(MatDestroy(&ap));
}

/* ---- grids ---- */

/* in: left, middle, right, and the place. Diffusion, and a decay. */
static wg_status heat(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                      void *data) {
    (void)n, (void)m, (void)data;
    f[0] = wg_let(t, wg_sub(wg_add(u[0], u[2]), wg_mul(2.5, u[1])));
    return WG_OK;
}

/* The rates are linear and symmetric: the adjoint of one number is the solution that begins
 * with it. */
static void adjoints_on_grids_are_solutions_where_rates_are_symmetric(void **state) {
    enum { POINTS = 12 };
    const PetscScalar *at;
    double ref[POINTS];
    DM da;
    TS ts;
    SNES snes;
    KSP ksp;
    PC pc;
    Mat a;
    Vec u, lambda;
    (void)state;
    well(DMDACreate1d(PETSC_COMM_SELF, DM_BOUNDARY_PERIODIC, POINTS, 1, 1, NULL, &da));
    well(DMSetUp(da)), well(DMCreateMatrix(da, &a));
    well(DMCreateGlobalVector(da, &u)), well(VecDuplicate(u, &lambda));
    wg_petsc_grid *const g = wg_petsc_grid_new(da, heat, NULL, NULL, 0);
    well(TSCreate(PETSC_COMM_SELF, &ts)), well(TSSetType(ts, TSCN)), well(TSSetDM(ts, da));
    well(TSSetRHSFunction(ts, NULL, wg_petsc_grid_rates, g));
    well(TSSetRHSJacobian(ts, a, a, wg_petsc_grid_rates_jacobian, g));
    well(TSSetTimeStep(ts, 0.25)), well(TSSetMaxTime(ts, 1));
    well(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP)), well(TSSetSaveTrajectory(ts));
    well(VecSetValue(u, 3, 1, INSERT_VALUES)), well(VecCopy(u, lambda));
    well(TSGetSNES(ts, &snes)), well(SNESGetKSP(snes, &ksp)), well(KSPGetPC(ksp, &pc));
    well(KSPSetType(ksp, KSPPREONLY)), well(PCSetType(pc, PCLU)); /* exact to rounding */
    well(TSSolve(ts, u));
    well(VecGetArrayRead(u, &at));
    memcpy(ref, at, sizeof ref);
    assert_true(ref[3] > ref[4] && ref[4] > ref[5] && ref[5] > 0);
    well(VecRestoreArrayRead(u, &at));
    well(TSSetCostGradients(ts, 1, &lambda, NULL)), well(TSAdjointSolve(ts));
    well(VecGetArrayRead(lambda, &at));
    for (int i = 0; i < POINTS; i++) assert_close("adjoint", at[i], ref[i], TOL_PROGRAM_ULP);
    well(VecRestoreArrayRead(lambda, &at));
    assert_int_equal(wg_petsc_grid_status(g), WG_OK);
    well(TSDestroy(&ts)), well(VecDestroy(&u)), well(VecDestroy(&lambda)), well(MatDestroy(&a));
    well(DMDestroy(&da));
    wg_petsc_grid_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_integrands_and_their_derivatives_are_those_by_hand),
        cmocka_unit_test(residuals_and_their_derivatives_are_those_by_hand),
        cmocka_unit_test(adjoints_of_runge_and_kutta_are_those_of_wg_ode_solve),
        cmocka_unit_test(rates_and_residuals_have_the_same_adjoints_and_forward_sensitivities),
        cmocka_unit_test(after_a_nan_implicit_methods_take_a_shorter_step_and_others_end),
        cmocka_unit_test(jacobians_with_nans_are_handed_on),
        cmocka_unit_test(failures_are_kept),
        cmocka_unit_test(adjoints_on_grids_are_solutions_where_rates_are_symmetric),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
