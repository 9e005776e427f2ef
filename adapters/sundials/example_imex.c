/* SPDX-License-Identifier: MIT */
/* ARKODE: the Brusselator with a species w that is held near b, u' = a - (w + 1) u + v u^2,
 * v' = w u - v u^2, w' = (b - w) / eps - w u. The reaction is not stiff, and integrated by an
 * explicit method; what holds w is, and integrated by an implicit one, together. Published: the
 * output of SUNDIALS' example ark_brusselator, which integrates all of it implicitly.
 *
 * Link with: -lsundials_arkode -lsundials_nvecserial -lsundials_sunmatrixdense
 * -lsundials_sunlinsoldense */
#include <arkode/arkode_arkstep.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <wengert.h>
#include <wengert/sundials.h>

enum { N = 3 };

/* in: t; u, v, w */
static wg_status reaction(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                          void *data) {
    const wg_real u = x[1], v = x[2], w = x[3];
    (void)n, (void)m, (void)data;
    const wg_real wu = wg_let(t, wg_mul(w, u)), uuv = wg_let(t, wg_mul(wg_square(u), v));
    r[0] = wg_let(t, wg_add(wg_sub(wg_sub(1, wu), u), uuv));
    r[1] = wg_let(t, wg_sub(wu, uuv));
    r[2] = wg_let(t, wg_neg(wu));
    return WG_OK;
}
static wg_status hold(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *r,
                      void *data) {
    (void)n, (void)m, (void)data;
    r[0] = r[1] = wg_constant(0);
    r[2] = wg_let(t, wg_div(wg_sub(3.5, x[3]), 5e-6));
    return WG_OK;
}

static wg_problem *open(wg_callback *f) {
    return wg_problem_new(&(wg_computation){.n = 1 + N,
                                            .m = N,
                                            .callback = f,
                                            .groups = 2,
                                            .group = (size_t[]){1, N},
                                            .flags = WG_RECORD_ONCE});
}

int main(void) {
    const double start[] = {1.2, 3.1, 3},
                 published[][N] = {{1.103848, 3.013164, 3.499981},
                                   {0.413854, 5.510625, 3.499993},
                                   {0.305599, 3.657382, 3.499995}},
                 at[] = {1, 5, 10};
    wg_arkode_split f = {open(reaction), open(hold)};
    SUNContext c;
    long explicitly = 0, implicitly = 0;
    double t, worst = 0;
    if (SUNContext_Create(NULL, &c) != 0) return 1;
    N_Vector y = N_VNew_Serial(N, c);
    SUNMatrix a = SUNDenseMatrix(N, N, c);
    SUNLinearSolver s = SUNLinSol_Dense(y, a, c);
    for (int i = 0; i < N; i++) NV_Ith_S(y, i) = start[i];
    void *ark = ARKStepCreate(wg_arkode_explicit, wg_arkode_implicit, 0, y, c);
    int wrong = ARKStepSetUserData(ark, &f) || ARKStepSStolerances(ark, 1e-6, 1e-10) ||
                ARKStepSetLinearSolver(ark, s, a) || ARKStepSetJacFn(ark, wg_arkode_jacobian) ||
                ARKStepSetMaxNumSteps(ark, 100000);
    for (int k = 0; k < 3 && !wrong; k++) {
        wrong = ARKStepEvolve(ark, at[k], y, &t, ARK_NORMAL) < 0;
        printf("t = %2.0f  %9.6f %9.6f %9.6f\n", t, NV_Ith_S(y, 0), NV_Ith_S(y, 1),
               NV_Ith_S(y, 2));
        for (int i = 0; i < N; i++)
            worst = fmax(worst, fabs(NV_Ith_S(y, i) / published[k][i] - 1));
    }
    wrong |= ARKStepGetNumRhsEvals(ark, &explicitly, &implicitly);
    printf("%ld explicit and %ld implicit evaluations, %.0e from what is published\n",
           explicitly, implicitly, worst);
    if (wrong)
        fprintf(stderr, "%s%s\n", wg_problem_message(f.explicit_part),
                wg_problem_message(f.implicit_part));
    ARKStepFree(&ark), SUNLinSolFree(s), SUNMatDestroy(a), N_VDestroy(y), SUNContext_Free(&c);
    wg_problem_free(f.explicit_part), wg_problem_free(f.implicit_part);
    /* published are six digits of a solution with a relative tolerance of 1e-6 */
    return wrong || !(worst < 1e-4);
}
