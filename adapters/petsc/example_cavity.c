/* SPDX-License-Identifier: MIT */
/* PETSc: air in a square cavity between a cold wall on the left and a warm one on the right:
 * velocities, vorticity and temperature at each point of a DMDA, the equations of PETSc's
 * tutorial ex19, with central differences:
 *
 *     -lap u - w_y = 0    -lap v + w_x = 0    -lap w + u w_x + v w_y - Gr T_x = 0    -lap T + Pr (u T_x + v T_y) = 0
 *
 * At the walls u = v = 0, w is that of the velocities, T is given or, below and above, has no
 * slope. Published (de Vahl Davis 1983, Int. J. Numer. Methods Fluids 3) for Ra = Gr Pr = 1000
 * and Pr = 0.71: heat flows 1.118 times as fast as in air at rest. Runs on any number of
 * processes; -snes_fd_color has PETSc take differences for the Jacobian instead. */
#include <math.h>
#include <wengert.h>
#include <wengert/petsc.h>

enum { SIZE = 65, U = 0, V, W, T, NUMBERS };
static const double H = 1.0 / (SIZE - 1), PRANDTL = 0.71, RAYLEIGH = 1000, PUBLISHED = 1.118;

/* Half of a difference between two opposite points. */
static wg_real half(wg_tape *t, wg_real after, wg_real before) {
    return wg_let(t, wg_mul(0.5, wg_sub(after, before)));
}
/* `there` at a wall, which is so many points away, and `inside` elsewhere. */
static wg_real at_wall(wg_tape *t, wg_real far, wg_real there, wg_real inside) {
    return wg_let(t, wg_select_lt(far, 0.5, there, inside));
}

/* in: south, west, middle, east, north, of NUMBERS each, and the place. All times the square
 * of H. */
static wg_status cavity(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *f,
                        void *data) {
    const wg_real *const s = in, *const w = s + NUMBERS, *const c = w + NUMBERS,
                         *const e = c + NUMBERS, *const north = e + NUMBERS;
    const wg_real i = in[5 * NUMBERS], j = in[5 * NUMBERS + 1];
    const wg_real left = i, right = wg_let(t, wg_sub(SIZE - 1, i)), below = j,
                  above = wg_let(t, wg_sub(SIZE - 1, j));
    wg_real x[NUMBERS], y[NUMBERS];
    (void)n, (void)m, (void)data;
    for (int k = 0; k < NUMBERS; k++) {
        x[k] = half(t, e[k], w[k]), y[k] = half(t, north[k], s[k]);
        f[k] = wg_let(
            t, wg_sub(wg_mul(4, c[k]), wg_add(wg_add(s[k], w[k]), wg_add(e[k], north[k]))));
    }
    f[U] = wg_let(t, wg_sub(f[U], wg_mul(H, y[W])));
    f[V] = wg_let(t, wg_add(f[V], wg_mul(H, x[W])));
    for (int k = W; k <= T; k++) {
        const wg_real flow = wg_let(t, wg_add(wg_mul(c[U], x[k]), wg_mul(c[V], y[k])));
        f[k] = wg_let(t, wg_add(f[k], wg_mul(k == W ? H : H * PRANDTL, flow)));
    }
    f[W] = wg_let(t, wg_sub(f[W], wg_mul(H * RAYLEIGH / PRANDTL, x[T])));

    /* w = v_x - u_y, by what the velocities are next to the wall */
    const wg_real sides = wg_let(t, wg_fmin(left, right)),
                  wall = wg_let(t, wg_fmin(sides, wg_fmin(below, above)));
    f[U] = at_wall(t, wall, c[U], f[U]), f[V] = at_wall(t, wall, c[V], f[V]);
    f[W] = at_wall(t, below, wg_let(t, wg_add(c[W], wg_div(north[U], H))), f[W]);
    f[W] = at_wall(t, above, wg_let(t, wg_sub(c[W], wg_div(s[U], H))), f[W]);
    f[W] = at_wall(t, left, wg_let(t, wg_sub(c[W], wg_div(e[V], H))), f[W]);
    f[W] = at_wall(t, right, wg_let(t, wg_add(c[W], wg_div(w[V], H))), f[W]);
    f[T] = at_wall(t, below, wg_let(t, wg_sub(c[T], north[T])), f[T]);
    f[T] = at_wall(t, above, wg_let(t, wg_sub(c[T], s[T])), f[T]);
    f[T] = at_wall(t, left, c[T], f[T]);
    f[T] = at_wall(t, right, wg_let(t, wg_sub(c[T], 1)), f[T]);
    return WG_OK;
}

/* The mean slope of T at the cold wall, by three points. */
static PetscErrorCode heat_of(DM da, Vec u, double *heat) {
    PetscScalar ***at;
    PetscInt x, y, wide, high;
    *heat = 0;
    PetscCall(DMDAGetCorners(da, &x, &y, NULL, &wide, &high, NULL));
    PetscCall(DMDAVecGetArrayDOFRead(da, u, &at));
    for (PetscInt j = y; j < y + high && x == 0; j++)
        *heat += (j == 0 || j == SIZE - 1 ? 0.25 : 0.5) *
                 (4 * at[j][1][T] - at[j][2][T] - 3 * at[j][0][T]);
    PetscCall(DMDAVecRestoreArrayDOFRead(da, u, &at));
    return MPI_Allreduce(MPI_IN_PLACE, heat, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD);
}

int main(int argc, char **argv) {
    DM da;
    SNES snes;
    Mat jac;
    Vec u;
    PetscInt steps;
    SNESConvergedReason reason;
    double heat;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                           DMDA_STENCIL_STAR, SIZE, SIZE, PETSC_DECIDE, PETSC_DECIDE, NUMBERS,
                           1, NULL, NULL, &da));
    PetscCall(DMSetUp(da));
    wg_petsc_grid *g = wg_petsc_grid_new(da, cavity, NULL, NULL, 0);
    PetscCall(DMCreateMatrix(da, &jac));
    PetscCall(DMCreateGlobalVector(da, &u));
    PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
    PetscCall(SNESSetDM(snes, da));
    PetscCall(SNESSetFunction(snes, NULL, wg_petsc_grid_function, g));
    PetscCall(SNESSetJacobian(snes, jac, jac, wg_petsc_grid_jacobian, g));
    PetscCall(SNESSetTolerances(snes, 1e-10, 1e-10, 1e-12, 50, 10000));
    PetscCall(SNESSetFromOptions(snes));
    PetscCall(SNESSolve(snes, NULL, u));
    PetscCall(SNESGetConvergedReason(snes, &reason));
    PetscCall(SNESGetIterationNumber(snes, &steps));
    PetscCall(heat_of(da, u, &heat));
    PetscCall(
        PetscPrintf(PETSC_COMM_WORLD,
                    "%d unknowns, %d steps: heat flows %.4f times as fast, published %.3f\n",
                    SIZE * SIZE * NUMBERS, (int)steps, heat, PUBLISHED));
    if (wg_petsc_grid_status(g) != WG_OK) fprintf(stderr, "%s\n", wg_petsc_grid_message(g));
    PetscCall(SNESDestroy(&snes));
    PetscCall(MatDestroy(&jac));
    PetscCall(VecDestroy(&u));
    PetscCall(DMDestroy(&da));
    wg_petsc_grid_free(g);
    PetscCall(PetscFinalize());
    return !(reason > 0 && fabs(heat / PUBLISHED - 1) < 0.005);
}
