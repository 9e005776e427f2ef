/* SPDX-License-Identifier: MIT */
/* PETSc's TS and TSAdjoint: van der Pol's equation y'' = mu ((1 - y^2) y' - y) with mu = 1e5,
 * which is stiff, to the time 0.5 by Crank and Nicolson's rule with 500 steps. The derivatives
 * of y and y' at the end by those at the start and by mu, the start depending on mu, too.
 * Published: the output of PETSc's tutorial ex20adj, its first test, whose derivatives are
 * written by hand. */
#include <math.h>
#include <stdlib.h>
#include <wengert.h>
#include <wengert/petsc.h>

/* in: t, y, y', mu */
static wg_status vanderpol(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *f,
                           void *data) {
    (void)n, (void)m, (void)data;
    f[0] = x[2];
    f[1] = wg_let(t, wg_mul(x[3], wg_sub(wg_mul(wg_sub(1, wg_square(x[1])), x[2]), x[1])));
    return WG_OK;
}

int main(int argc, char **argv) {
    const double mu = 1e5, published[2][3] = {{1.54557, 4.80704e-06, -2.13118e-11},
                                              {2.28429, 0.000244399, -1.29769e-10}};
    const double at[] = {0, 2, -2 / 3. + 10 / (81 * mu) - 292 / (2187 * mu * mu), mu};
    const double start_by_mu = -10 / (81 * mu * mu) + 2 * 292 / (2187 * mu * mu * mu);
    wg_problem *p = wg_problem_new(&(wg_computation){.n = 4,
                                                     .m = 2,
                                                     .callback = vanderpol,
                                                     .groups = 3,
                                                     .group = (size_t[]){1, 2, 1},
                                                     .x = at,
                                                     .flags = WG_RECORD_ONCE});
    TS ts;
    Vec u, lambda[2], by_mu[2];
    Mat a, ap;
    int wrong = 0;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    if (wg_petsc_parameters(p, &mu) != WG_OK) return 1;
    PetscCall(wg_petsc_matrix(p, NULL, &a));
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, 2, 1, NULL, &ap));
    PetscCall(MatCreateVecs(a, &u, NULL));
    for (PetscInt k = 0; k < 2; k++) {
        PetscCall(VecSetValue(u, k, at[1 + k], INSERT_VALUES));
        PetscCall(VecDuplicate(u, &lambda[k]));
        PetscCall(VecZeroEntries(lambda[k]));
        PetscCall(VecSetValue(lambda[k], k, 1, INSERT_VALUES));
        PetscCall(MatCreateVecs(ap, &by_mu[k], NULL));
        PetscCall(VecZeroEntries(by_mu[k]));
    }
    PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
    PetscCall(TSSetType(ts, TSCN));
    PetscCall(TSSetRHSFunction(ts, NULL, wg_petsc_ts_rates, p));
    PetscCall(TSSetRHSJacobian(ts, a, a, wg_petsc_ts_jacobian, p));
    PetscCall(TSSetRHSJacobianP(ts, ap, wg_petsc_ts_by_parameters, p));
    PetscCall(TSSetTimeStep(ts, 0.001));
    PetscCall(TSSetMaxTime(ts, 0.5));
    PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSSetFromOptions(ts));
    PetscCall(TSSolve(ts, u));
    PetscCall(TSSetCostGradients(ts, 2, lambda, by_mu));
    PetscCall(TSAdjointSolve(ts));
    for (int k = 0; k < 2; k++) {
        const PetscScalar *l, *m;
        PetscCall(VecGetArrayRead(lambda[k], &l));
        PetscCall(VecGetArrayRead(by_mu[k], &m));
        const double got[] = {l[0], l[1], l[1] * start_by_mu + m[0]};
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s by y(0), y'(0), mu: %.5e %.5e %.5e\n",
                              k == 0 ? "y " : "y'", got[0], got[1], got[2]));
        for (int i = 0; i < 3; i++) wrong |= !(fabs(got[i] / published[k][i] - 1) < 1e-5);
        PetscCall(VecRestoreArrayRead(lambda[k], &l));
        PetscCall(VecRestoreArrayRead(by_mu[k], &m));
        PetscCall(VecDestroy(&lambda[k]));
        PetscCall(VecDestroy(&by_mu[k]));
    }
    if (wg_problem_status(p) != WG_OK) fprintf(stderr, "%s\n", wg_problem_message(p));
    PetscCall(TSDestroy(&ts));
    PetscCall(VecDestroy(&u));
    PetscCall(MatDestroy(&a));
    PetscCall(MatDestroy(&ap));
    wg_problem_free(p);
    PetscCall(PetscFinalize());
    return wrong;
}
