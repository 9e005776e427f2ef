/* SPDX-License-Identifier: MIT */
/* PETSc's TAO: the surface of least area over a square with a given edge, by triangles. Its
 * edge is that of Scherk's surface, z = log(cos y / cos x), which is the solution, up to the
 * square of the width of the grid. Newton's method with a line search; the Hessian is
 * sparse, its pattern found from a recording. */
#include <math.h>
#include <stdlib.h>
#include <wengert.h>
#include <wengert/petsc.h>

enum { CELLS = 32, INNER = CELLS - 1, N = INNER * INNER };
static const double HALF = 0.8, WIDTH = 2 * 0.8 / CELLS;

static double scherk(int i, int j) {
    return log(cos(j * WIDTH - HALF) / cos(i * WIDTH - HALF));
}
/* The height at a point of the grid: an unknown inside, given on the edge. */
static wg_real height(const wg_real *z, int i, int j) {
    const int inside = i > 0 && i < CELLS && j > 0 && j < CELLS;
    return inside ? z[(j - 1) * INNER + i - 1] : wg_constant(scherk(i, j));
}
/* Twice the area of a triangle with a right angle, whose sides rise from a to b, and from a
 * to c. */
static wg_real twice_area(wg_tape *t, wg_real a, wg_real b, wg_real c) {
    const wg_real p = wg_let(t, wg_square(wg_sub(b, a))),
                  q = wg_let(t, wg_square(wg_sub(c, a)));
    const double hh = WIDTH * WIDTH;
    return wg_let(t, wg_mul(WIDTH, wg_sqrt(wg_add(hh, wg_add(p, q)))));
}
static wg_status area(wg_tape *t, size_t n, const wg_real *z, size_t m, wg_real *y,
                      void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_constant(0);
    for (int j = 0; j < CELLS; j++)
        for (int i = 0; i < CELLS; i++) {
            const wg_real a = height(z, i, j), b = height(z, i + 1, j), c = height(z, i, j + 1),
                          d = height(z, i + 1, j + 1);
            y[0] = wg_let(t, wg_add(y[0], wg_mul(0.5, wg_add(twice_area(t, a, b, c),
                                                             twice_area(t, d, c, b)))));
        }
    return WG_OK;
}

int main(int argc, char **argv) {
    static double start[N];
    wg_problem *p = wg_problem_new(&(wg_computation){
        .n = N, .m = 1, .callback = area, .x = start, .flags = WG_RECORD_ONCE});
    const PetscScalar *at;
    TaoConvergedReason reason;
    PetscReal least;
    PetscInt steps;
    double error = 0;
    Tao tao;
    Vec z;
    Mat hessian;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, N, &z));
    PetscCall(wg_petsc_hessian_matrix(p, NULL, &hessian));
    PetscCall(TaoCreate(PETSC_COMM_SELF, &tao));
    PetscCall(TaoSetType(tao, TAONLS));
    PetscCall(TaoSetSolution(tao, z));
    PetscCall(TaoSetObjective(tao, wg_petsc_tao_objective, p));
    PetscCall(TaoSetObjectiveAndGradient(tao, NULL, wg_petsc_tao_objective_gradient, p));
    PetscCall(TaoSetHessian(tao, hessian, hessian, wg_petsc_tao_hessian, p));
    PetscCall(TaoSetTolerances(tao, 1e-10, 1e-10, 0));
    PetscCall(TaoSetFromOptions(tao));
    PetscCall(TaoSolve(tao));
    PetscCall(TaoGetSolutionStatus(tao, &steps, &least, NULL, NULL, NULL, &reason));
    PetscCall(VecGetArrayRead(z, &at));
    for (int j = 1; j < CELLS; j++)
        for (int i = 1; i < CELLS; i++)
            error = fmax(error, fabs(at[(j - 1) * INNER + i - 1] - scherk(i, j)));
    PetscCall(VecRestoreArrayRead(z, &at));
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "area %.4f after %d steps, heights off by %.1e at most\n",
                          (double)least, (int)steps, error));
    if (wg_problem_status(p) != WG_OK) fprintf(stderr, "%s\n", wg_problem_message(p));
    PetscCall(TaoDestroy(&tao));
    PetscCall(MatDestroy(&hessian));
    PetscCall(VecDestroy(&z));
    wg_problem_free(p);
    PetscCall(PetscFinalize());
    return !(reason > 0 && error < 1e-3);
}
