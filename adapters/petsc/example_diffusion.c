/* SPDX-License-Identifier: MIT */
/* PETSc's TSAdjoint on a DMDA: the heat equation on a periodic square, by central differences
 * and Crank and Nicolson's rule. A wave that begins as w shrinks by the same factor g in each
 * step, so that of the sum of squares after STEPS of them the gradient by the first
 * temperatures is known, of these very steps: 2 g^(2 STEPS) w. Runs on any number of
 * processes. */
#include <math.h>
#include <wengert.h>
#include <wengert/petsc.h>

enum { SIZE = 48, STEPS = 20, WAVES = 2 };
static const double PI = 3.141592653589793, STEP = 0.4;

/* in: south, west, middle, east, north, and the place; the unit of length is the width of
 * the grid */
static wg_status heat(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                      void *data) {
    (void)n, (void)m, (void)data;
    const wg_real sum = wg_let(t, wg_add(wg_add(u[0], u[1]), wg_add(u[3], u[4])));
    f[0] = wg_let(t, wg_sub(sum, wg_mul(4, u[2])));
    return WG_OK;
}

static double wave(PetscInt i, PetscInt j) {
    return sin(2 * PI * WAVES * (double)i / SIZE) * cos(2 * PI * WAVES * (double)j / SIZE);
}
/* The wave into u, or its distance from factor times that. */
static PetscErrorCode compare(DM da, Vec u, double factor, double *apart) {
    PetscScalar **at;
    PetscInt x, y, wide, high;
    PetscCall(DMDAGetCorners(da, &x, &y, NULL, &wide, &high, NULL));
    PetscCall(DMDAVecGetArray(da, u, &at));
    for (PetscInt j = y; j < y + high; j++)
        for (PetscInt i = x; i < x + wide; i++)
            if (apart == NULL) at[j][i] = factor * wave(i, j);
            else *apart = fmax(*apart, fabs(at[j][i] / factor - wave(i, j)));
    PetscCall(DMDAVecRestoreArray(da, u, &at));
    return 0;
}

int main(int argc, char **argv) {
    const double rate = 4 * (cos(2 * PI * WAVES / SIZE) - 1), half = STEP / 2 * rate,
                 shrinks = pow((1 + half) / (1 - half), STEPS);
    double apart[2] = {0};
    DM da;
    TS ts;
    SNES snes;
    KSP ksp;
    Mat jac;
    Vec u, lambda;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_PERIODIC,
                           DMDA_STENCIL_STAR, SIZE, SIZE, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                           NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    wg_petsc_grid *g = wg_petsc_grid_new(da, heat, NULL, NULL, 0);
    PetscCall(DMCreateMatrix(da, &jac));
    PetscCall(DMCreateGlobalVector(da, &u));
    PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
    PetscCall(TSSetDM(ts, da));
    PetscCall(TSSetType(ts, TSCN));
    PetscCall(TSSetProblemType(ts, TS_LINEAR));
    PetscCall(TSSetRHSFunction(ts, NULL, wg_petsc_grid_rates, g));
    PetscCall(TSSetRHSJacobian(ts, jac, jac, wg_petsc_grid_rates_jacobian, g));
    PetscCall(TSGetSNES(ts, &snes));
    PetscCall(SNESGetKSP(snes, &ksp));
    PetscCall(KSPSetTolerances(ksp, 1e-14, 1e-50, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(TSSetTimeStep(ts, STEP));
    PetscCall(TSSetMaxSteps(ts, STEPS));
    PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
    PetscCall(TSSetSaveTrajectory(ts));
    PetscCall(TSSetFromOptions(ts));
    PetscCall(compare(da, u, 1, NULL));
    PetscCall(TSSolve(ts, u));
    PetscCall(compare(da, u, shrinks, &apart[0]));
    PetscCall(VecDuplicate(u, &lambda));
    PetscCall(VecAXPY(lambda, 2, u)); /* of the sum of squares */
    PetscCall(TSSetCostGradients(ts, 1, &lambda, NULL));
    PetscCall(TSAdjointSolve(ts));
    PetscCall(compare(da, lambda, 2 * shrinks * shrinks, &apart[1]));
    PetscCall(MPI_Allreduce(MPI_IN_PLACE, apart, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          "%d unknowns, %d steps: temperatures off by %.1e, gradient by %.1e\n",
                          SIZE * SIZE, STEPS, apart[0], apart[1]));
    if (wg_petsc_grid_status(g) != WG_OK) fprintf(stderr, "%s\n", wg_petsc_grid_message(g));
    PetscCall(TSDestroy(&ts));
    PetscCall(MatDestroy(&jac));
    PetscCall(VecDestroy(&u));
    PetscCall(VecDestroy(&lambda));
    PetscCall(DMDestroy(&da));
    wg_petsc_grid_free(g);
    PetscCall(PetscFinalize());
    return !(apart[0] < 1e-12 && apart[1] < 1e-12);
}
