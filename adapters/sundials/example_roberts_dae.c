/* SPDX-License-Identifier: MIT */
/* IDAS: Roberts' kinetics, its third equation being that the amounts add up to 1, with the
 * sensitivities of the amounts by the three rate constants. Published: the output of SUNDIALS'
 * example idasRoberts_FSA_dns (-sensi stg t), whose derivatives are written by hand, or taken
 * by differences.
 *
 * Link with: -lsundials_idas -lsundials_nvecserial -lsundials_sunmatrixdense
 * -lsundials_sunlinsoldense */
#include <idas/idas.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <wengert.h>
#include <wengert/sundials.h>

enum { N = 3, NP = 3, TIMES = 3 };

/* in: t; y1, y2, y3, and their slopes; three constants. */
static wg_status roberts(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                         void *data) {
    const wg_real *y = x + 1, *slope = x + 4, *p = x + 7;
    (void)n, (void)m, (void)data;
    const wg_real lost =
        wg_let(t, wg_sub(wg_mul(p[0], y[0]), wg_mul(wg_mul(p[1], y[1]), y[2])));
    r[0] = wg_let(t, wg_add(slope[0], lost));
    r[1] = wg_let(t, wg_add(wg_sub(slope[1], lost), wg_mul(p[2], wg_square(y[1]))));
    r[2] = wg_let(t, wg_sub(wg_add(wg_add(y[0], y[1]), y[2]), 1));
    return WG_OK;
}

/* y, and its derivatives by the constants, at 0.4, 40 and 4000 */
static const double published[TIMES][1 + NP][N] = {{{9.8517e-01, 3.3864e-05, 1.4794e-02},
                                                    {-3.5595e-01, 3.9025e-04, 3.5556e-01},
                                                    {9.5424e-08, -2.1310e-10, -9.5211e-08},
                                                    {-1.5832e-11, -5.2900e-13, 1.6361e-11}},
                                                   {{7.1583e-01, 9.1855e-06, 2.8416e-01},
                                                    {-4.2476e+00, 4.5912e-05, 4.2475e+00},
                                                    {1.3731e-05, -2.3572e-10, -1.3731e-05},
                                                    {-2.2884e-09, -1.1381e-13, 2.2885e-09}},
                                                   {{1.8320e-01, 8.9424e-07, 8.1680e-01},
                                                    {-4.7501e+00, -5.9937e-06, 4.7501e+00},
                                                    {1.8809e-05, 2.3127e-11, -1.8809e-05},
                                                    {-3.1348e-09, -1.8758e-14, 3.1348e-09}}};

int main(void) {
    double p[] = {0.04, 1e4, 3e7}, t, end = 0.4, worst = 0;
    const double start[] = {1, 0, 0}, slopes[] = {-0.04, 0.04, 0},
                 tight[] = {1e-8, 1e-14, 1e-6};
    wg_problem *f = wg_problem_new(&(wg_computation){.n = 1 + 2 * N + NP,
                                                     .m = N,
                                                     .callback = roberts,
                                                     .groups = 3,
                                                     .group = (size_t[]){1, 2 * N, NP},
                                                     .flags = WG_RECORD_ONCE});
    SUNContext c;
    if (wg_sundials_parameters(f, p) != WG_OK || SUNContext_Create(NULL, &c) != 0) return 1;
    N_Vector y = N_VNew_Serial(N, c), yp = N_VClone(y), tolerance = N_VClone(y);
    N_Vector *s = N_VCloneVectorArray(NP, y), *sp = N_VCloneVectorArray(NP, y);
    SUNMatrix a = SUNDenseMatrix(N, N, c);
    SUNLinearSolver solver = SUNLinSol_Dense(y, a, c);
    for (int i = 0; i < N; i++) {
        NV_Ith_S(y, i) = start[i], NV_Ith_S(yp, i) = slopes[i];
        NV_Ith_S(tolerance, i) = tight[i];
    }
    for (int k = 0; k < NP; k++) N_VConst(0, s[k]), N_VConst(0, sp[k]);
    NV_Ith_S(sp[0], 0) = -1, NV_Ith_S(sp[0], 1) = 1; /* of the slopes at the start */

    void *ida = IDACreate(c);
    int wrong = IDAInit(ida, wg_ida_residual, 0, y, yp) || IDASetUserData(ida, f) ||
                IDASVtolerances(ida, 1e-6, tolerance) || IDASetLinearSolver(ida, solver, a) ||
                IDASetJacFn(ida, wg_ida_jacobian) ||
                IDASensInit(ida, NP, IDA_STAGGERED, wg_ida_sensitivity, s, sp) ||
                IDASensEEtolerances(ida) || IDASetSensErrCon(ida, SUNTRUE) ||
                IDASetSensParams(ida, NULL, p, NULL);
    for (int k = 0; k < TIMES && !wrong; k++, end *= 100) {
        wrong = IDASolve(ida, end, &t, y, yp, IDA_NORMAL) < 0 || IDAGetSens(ida, &t, s) < 0;
        printf("t = %-5g y3 = %.4e, by the constants %11.4e %11.4e %11.4e\n", t, NV_Ith_S(y, 2),
               NV_Ith_S(s[0], 2), NV_Ith_S(s[1], 2), NV_Ith_S(s[2], 2));
        for (int j = 0; j <= NP; j++) {
            const double *got = N_VGetArrayPointer(j == 0 ? y : s[j - 1]);
            for (int i = 0; i < N; i++)
                worst = fmax(worst, fabs(got[i] / published[k][j][i] - 1));
        }
    }
    printf("at most %.0e from what is published\n", worst);
    if (wg_problem_status(f) != WG_OK) fprintf(stderr, "%s\n", wg_problem_message(f));
    IDAFree(&ida), SUNLinSolFree(solver), SUNMatDestroy(a);
    N_VDestroyVectorArray(s, NP), N_VDestroyVectorArray(sp, NP);
    N_VDestroy(y), N_VDestroy(yp), N_VDestroy(tolerance), SUNContext_Free(&c);
    wg_problem_free(f);
    return wrong || !(worst < 1e-4);
}
