/* SPDX-License-Identifier: MIT */
/* CVODE: the Brusselator with diffusion in one dimension, 200 points of two species, by a
 * sparse Jacobian and KLU, and again by a banded one: other matrices, another linear solver,
 * the same solution.
 *
 *            Link with: -lsundials_cvodes -lsundials_nvecserial
 *            -lsundials_sunmatrixsparse -lsundials_sunlinsolklu -lsundials_sunmatrixband
 *            -lsundials_sunlinsolband */
#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <wengert.h>
#include <wengert/sundials.h>

enum { POINTS = 200, N = 2 * POINTS };

/* u' = 1 + u^2 v - 4 u + D u'', v' = 3 u - u^2 v + D v''; u = 1, v = 3 at the ends; u and v
 * in turn. */
static wg_status brusselator(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                             void *data) {
    const double d = 0.02 * (POINTS + 1) * (POINTS + 1);
    const wg_real *y = x + 1;
    (void)n, (void)m, (void)data;
    for (int i = 0; i < POINTS; i++) {
        const wg_real u = y[2 * i], v = y[2 * i + 1];
        const wg_real ul = i == 0 ? wg_constant(1) : y[2 * i - 2],
                      vl = i == 0 ? wg_constant(3) : y[2 * i - 1];
        const wg_real ur = i == POINTS - 1 ? wg_constant(1) : y[2 * i + 2];
        const wg_real vr = i == POINTS - 1 ? wg_constant(3) : y[2 * i + 3];
        const wg_real uuv = wg_let(t, wg_mul(wg_square(u), v));
        r[2 * i] = wg_let(t, wg_add(wg_sub(wg_add(1, uuv), wg_mul(4, u)),
                                    wg_mul(d, wg_add(ul, wg_sub(ur, wg_mul(2, u))))));
        r[2 * i + 1] = wg_let(t, wg_add(wg_sub(wg_mul(3, u), uuv),
                                        wg_mul(d, wg_add(vl, wg_sub(vr, wg_mul(2, v))))));
    }
    return WG_OK;
}

/* Up to the time 10, by a matrix and its solver. */
static int integrate(wg_problem *f, SUNContext context, N_Vector y, SUNMatrix a,
                     SUNLinearSolver s) {
    double t;
    for (int i = 0; i < POINTS; i++) {
        const double x = (i + 1.0) / (POINTS + 1);
        NV_Ith_S(y, 2 * i) = 1 + sin(2 * 3.141592653589793 * x);
        NV_Ith_S(y, 2 * i + 1) = 3;
    }
    void *cv = CVodeCreate(CV_BDF, context);
    int wrong = CVodeInit(cv, wg_cvode_rates, 0, y) || CVodeSetUserData(cv, f) ||
                CVodeSStolerances(cv, 1e-9, 1e-9) || CVodeSetLinearSolver(cv, s, a) ||
                CVodeSetJacFn(cv, wg_cvode_jacobian) || CVodeSetMaxNumSteps(cv, 20000);
    wrong |= CVode(cv, 10, y, &t, CV_NORMAL) < 0;
    CVodeFree(&cv);
    return wrong;
}

int main(void) {
    const size_t groups[] = {1, N};
    wg_problem *f = wg_problem_new(&(wg_computation){.n = 1 + N,
                                                     .m = N,
                                                     .callback = brusselator,
                                                     .groups = 2,
                                                     .group = groups,
                                                     .flags = WG_RECORD_ONCE});
    static double start[1 + N];
    sunindextype entries;
    SUNContext context;
    if (SUNContext_Create(NULL, &context) != 0 ||
        wg_sundials_entries(f, start, &entries) != WG_OK)
        return 1;
    N_Vector y = N_VNew_Serial(N, context), z = N_VNew_Serial(N, context);
    SUNMatrix a = SUNSparseMatrix(N, N, entries, CSC_MAT, context),
              b = SUNBandMatrix(N, 2, 2, context);
    SUNLinearSolver s = SUNLinSol_KLU(y, a, context), sb = SUNLinSol_Band(z, b, context);
    int wrong = integrate(f, context, y, a, s) || integrate(f, context, z, b, sb);
    double apart = 0;
    for (int i = 0; i < N; i++) apart = fmax(apart, fabs(NV_Ith_S(y, i) - NV_Ith_S(z, i)));
    if (wrong) fprintf(stderr, "%s\n", wg_problem_message(f));
    else
        printf("%d entries, u(1/2) = %.6f, sparse and banded differ by %.0e\n", (int)entries,
               (NV_Ith_S(y, N / 2 - 2) + NV_Ith_S(y, N / 2)) / 2, apart);
    SUNLinSolFree(s), SUNLinSolFree(sb), SUNMatDestroy(a), SUNMatDestroy(b);
    N_VDestroy(y), N_VDestroy(z), SUNContext_Free(&context);
    wg_problem_free(f);
    return wrong || !(apart < 1e-6);
}
