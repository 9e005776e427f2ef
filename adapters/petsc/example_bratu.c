/* SPDX-License-Identifier: MIT */
/* PETSc: Bratu's equation, u_xx + u_yy + exp(u) = 0 on the unit square, by central differences
 * on a DMDA. With the boundary values of u = log 8 - 2 log(1 + x^2 + y^2) that is the solution
 * (Liouville), up to the square of the width of the grid. Runs on any number of processes. */
#include <math.h>
#include <wengert.h>
#include <wengert/petsc.h>

enum { SIZE = 65 };

/* in: south, west, middle, east, north, and the place */
static wg_status bratu(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                       void *data) {
    const double h = 1.0 / (SIZE - 1);
    const wg_real i = u[5], j = u[6];
    (void)n, (void)m, (void)data;
    const wg_real rr = wg_let(t, wg_mul(h * h, wg_add(wg_square(i), wg_square(j))));
    const wg_real edge = wg_let(t, wg_sub(u[2], wg_sub(log(8), wg_mul(2, wg_log1p(rr)))));
    const wg_real sum = wg_let(t, wg_add(wg_add(u[0], u[1]), wg_add(u[3], u[4])));
    const wg_real inside =
        wg_let(t, wg_sub(wg_sub(wg_mul(4, u[2]), sum), wg_mul(h * h, wg_exp(u[2]))));
    /* how far it is to the next boundary */
    const wg_real far =
        wg_let(t, wg_fmin(wg_fmin(i, wg_sub(SIZE - 1, i)), wg_fmin(j, wg_sub(SIZE - 1, j))));
    f[0] = wg_let(t, wg_select_lt(far, 0.5, edge, inside));
    return WG_OK;
}

int main(int argc, char **argv) {
    DM da;
    SNES snes;
    Mat jac;
    Vec u;
    PetscScalar **at;
    PetscInt x, y, wide, high;
    double error = 0;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           DMDA_STENCIL_STAR, SIZE, SIZE, PETSC_DECIDE, PETSC_DECIDE, 1, 1,
                           NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    wg_petsc_grid *g = wg_petsc_grid_new(da, bratu, NULL, NULL, 0);
    PetscCall(DMCreateMatrix(da, &jac));
    PetscCall(DMCreateGlobalVector(da, &u));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, da));
    PetscCall(SNESSetFunction(snes, NULL, wg_petsc_grid_function, g));
    PetscCall(SNESSetJacobian(snes, jac, jac, wg_petsc_grid_jacobian, g));
    PetscCall(SNESSetTolerances(snes, 1e-12, 1e-12, 1e-12, 50, 1000));
    PetscCall(SNESSetFromOptions(snes));
    if (wg_petsc_grid_status(g) == WG_OK) PetscCall(SNESSolve(snes, NULL, u));
    if (wg_petsc_grid_status(g) != WG_OK)
        fprintf(stderr, "%s\n", wg_petsc_grid_message(g)), error = NAN;

    PetscCall(DMDAGetCorners(da, &x, &y, NULL, &wide, &high, NULL));
    PetscCall(DMDAVecGetArray(da, u, &at));
    for (PetscInt j = y; j < y + high; j++)
        for (PetscInt i = x; i < x + wide; i++) {
            const double rr = (double)(i * i + j * j) / ((SIZE - 1) * (SIZE - 1));
            error = fmax(error, fabs(at[j][i] - (log(8) - 2 * log1p(rr))));
        }
    PetscCall(DMDAVecRestoreArray(da, u, &at));
    PetscCall(MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d unknowns, off by %.1e at most\n", SIZE * SIZE,
                          error));
    PetscCall(SNESDestroy(&snes));
    PetscCall(MatDestroy(&jac));
    PetscCall(VecDestroy(&u));
    PetscCall(DMDestroy(&da));
    wg_petsc_grid_free(g);
    PetscCall(PetscFinalize());
    return !(error < 1e-4);
}
