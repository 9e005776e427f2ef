/* SPDX-License-Identifier: MIT */
/* CVODES: Roberts' kinetics, and the gradient of G = the integral of y3 from 0 to 4e7 by the
 * three rate constants, by the adjoint problem. Published (CVODES' documentation):
 * 7.6843e+05, -3.0691e+00, 5.1145e-04.
 *
 * Link with: -lsundials_cvodes -lsundials_nvecserial -lsundials_sunmatrixdense
 * -lsundials_sunlinsoldense */
#include <cvodes/cvodes.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <wengert.h>
#include <wengert/sundials.h>

/* in: t; y1, y2, y3; three constants. out: rates, and the integrand. */
static wg_status roberts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                         void *data) {
    const wg_real *y = x + 1, *p = x + 4;
    (void)n, (void)m, (void)data;
    r[0] = wg_let(t, wg_sub(wg_mul(wg_mul(p[1], y[1]), y[2]), wg_mul(p[0], y[0])));
    r[2] = wg_let(t, wg_mul(p[2], wg_square(y[1])));
    r[1] = wg_let(t, wg_neg(wg_add(r[0], r[2])));
    r[3] = y[2];
    return WG_OK;
}

int main(void) {
    enum { N = 3 };
    const double p[] = {0.04, 1e4, 3e7}, end = 4e7,
                 published[] = {7.6843e5, -3.0691, 5.1145e-4};
    const size_t groups[] = {1, N, 3};
    wg_problem *f = wg_problem_new(&(wg_computation){.n = 7,
                                                     .m = 4,
                                                     .callback = roberts,
                                                     .groups = 3,
                                                     .group = groups,
                                                     .flags = WG_COMPILE});
    SUNContext context;
    double t;
    int steps, back,
        wrong = wg_sundials_parameters(f, p) != WG_OK || SUNContext_Create(NULL, &context) != 0;
    if (wrong) return 1;

    N_Vector y = N_VNew_Serial(N, context), yb = N_VNew_Serial(N, context),
             g = N_VNew_Serial(3, context);
    SUNMatrix a = SUNDenseMatrix(N, N, context), ab = SUNDenseMatrix(N, N, context);
    SUNLinearSolver s = SUNLinSol_Dense(y, a, context), sb = SUNLinSol_Dense(yb, ab, context);
    N_VConst(0, y), N_VConst(0, yb), N_VConst(0, g);
    NV_Ith_S(y, 0) = 1;

    void *cv = CVodeCreate(CV_BDF, context);
    wrong |= CVodeInit(cv, wg_cvode_rates, 0, y) || CVodeSetUserData(cv, f) ||
             CVodeSStolerances(cv, 1e-8, 1e-12);
    wrong |= CVodeSetLinearSolver(cv, s, a) || CVodeSetJacFn(cv, wg_cvode_jacobian);
    wrong |= CVodeSetMaxNumSteps(cv, 5000) || CVodeAdjInit(cv, 150, CV_HERMITE);
    wrong |= CVodeF(cv, end, y, &t, CV_NORMAL, &steps) < 0;

    wrong |= CVodeCreateB(cv, CV_BDF, &back) || CVodeInitB(cv, back, wg_cvode_adjoint, end, yb);
    wrong |= CVodeSetUserDataB(cv, back, f) || CVodeSStolerancesB(cv, back, 1e-8, 1e-10);
    wrong |= CVodeSetLinearSolverB(cv, back, sb, ab) ||
             CVodeSetJacFnB(cv, back, wg_cvode_adjoint_jacobian);
    wrong |= CVodeSetMaxNumStepsB(cv, back, 5000);
    wrong |= CVodeQuadInitB(cv, back, wg_cvode_adjoint_quadrature, g);
    wrong |=
        CVodeSetQuadErrConB(cv, back, SUNTRUE) || CVodeQuadSStolerancesB(cv, back, 1e-8, 1e-10);
    wrong |= CVodeB(cv, 0, CV_NORMAL) < 0 || CVodeGetQuadB(cv, back, &t, g) < 0;

    for (int k = 0; k < 3 && !wrong; k++) {
        printf("dG/dp%d = %12.4e\n", k + 1, NV_Ith_S(g, k));
        wrong |= !(fabs(NV_Ith_S(g, k) / published[k] - 1) < 1e-4);
    }
    if (wg_problem_status(f) != WG_OK) fprintf(stderr, "%s\n", wg_problem_message(f));
    CVodeFree(&cv), SUNLinSolFree(s), SUNLinSolFree(sb), SUNMatDestroy(a), SUNMatDestroy(ab);
    N_VDestroy(y), N_VDestroy(yb), N_VDestroy(g), SUNContext_Free(&context);
    wg_problem_free(f);
    return wrong;
}
