/* SPDX-License-Identifier: MIT */
/* test_petsc.c - SNES' callbacks of problems and grids: residuals and Jacobians against those
 * by hand on grids of one to three dimensions, solutions, failures. */
#include "fixture.h"
#include <math.h>
#include <string.h>
#include <wengert.h>
#include "test/tolerance.h"
#include "wengert/petsc.h"

/* ---- whole ---- */

/* Broyden's tridiagonal system, or a failure. */
static wg_status tridiagonal(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)m;
    for (size_t i = 0; i < n; i++) {
        y[i] = wg_let(t, wg_add(wg_mul(wg_sub(3, wg_mul(2, x[i])), x[i]), 1));
        if (i > 0) y[i] = wg_let(t, wg_sub(y[i], x[i - 1]));
        if (i + 1 < n) y[i] = wg_let(t, wg_sub(y[i], wg_mul(2, x[i + 1])));
    }
    return *(const wg_status *)data;
}

static void systems_of_equations_are_solved(void **state) {
    enum { N = 50 };
    (void)state;
    for (unsigned flags = 0; flags <= WG_RECORD_ONCE; flags += WG_RECORD_ONCE) {
        wg_status fails = WG_OK;
        double start[N];
        PetscReal norm;
        SNES snes;
        Vec u, f;
        Mat a;
        MatInfo info;
        wg_problem *const p = wg_problem_new(&(wg_computation){
            .n = N, .m = N, .callback = tridiagonal, .data = &fails, .flags = flags});
        for (int i = 0; i < N; i++) start[i] = -1;
        well(wg_petsc_matrix(p, start, &a));
        well(MatGetInfo(a, MAT_LOCAL, &info));
        assert_true(info.nz_used == 3 * N - 2);
        well(VecCreateSeq(PETSC_COMM_SELF, N, &u));
        well(VecDuplicate(u, &f));
        well(VecSet(u, -1));
        well(SNESCreate(PETSC_COMM_SELF, &snes));
        well(SNESSetFunction(snes, f, wg_petsc_function, p));
        well(SNESSetJacobian(snes, a, a, wg_petsc_jacobian, p));
        well(SNESSetTolerances(snes, 1e-11, 1e-14, 0, 50, 1000));
        well(SNESSolve(snes, NULL, u));
        well(SNESComputeFunction(snes, u, f));
        well(VecNorm(f, NORM_INFINITY, &norm));
        assert_true(norm < 1e-10);
        assert_int_equal(wg_problem_status(p), WG_OK);
        if (flags == 0) {
            fails = WG_ECONVERGE;
            assert_int_not_equal(SNESSolve(snes, NULL, u), 0);
            assert_int_equal(wg_problem_status(p), WG_ECONVERGE);
        }
        well(SNESDestroy(&snes)), well(MatDestroy(&a)), well(VecDestroy(&u)),
            well(VecDestroy(&f));
        wg_problem_free(p);
    }
}

static void vectors_of_other_sizes_are_refused(void **state) {
    wg_status fails = WG_OK;
    Vec u, f;
    wg_problem *const p = wg_problem_new(
        &(wg_computation){.n = 4, .m = 4, .callback = tridiagonal, .data = &fails});
    (void)state;
    well(VecCreateSeq(PETSC_COMM_SELF, 5, &u));
    well(VecDuplicate(u, &f));
    assert_int_equal(wg_petsc_function(NULL, u, f, p), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_jacobian(NULL, u, NULL, NULL, p), PETSC_ERR_LIB);
    assert_non_null(strstr(wg_problem_message(p), "another size"));
    well(VecDestroy(&u)), well(VecDestroy(&f));
    wg_problem_free(p);
}

/* ---- grids ---- */

typedef struct grid_case {
    PetscInt dim, size[3], d, width;
    DMDAStencilType kind;
    DMBoundaryType edge[3];
    size_t points;
} grid_case;
static const grid_case cases[] = {
    {1,
     {9, 1, 1},
     1,
     2,
     DMDA_STENCIL_BOX,
     {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     5},
    {1,
     {7, 1, 1},
     3,
     1,
     DMDA_STENCIL_STAR,
     {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     3},
    {2,
     {6, 5, 1},
     2,
     1,
     DMDA_STENCIL_STAR,
     {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     5},
    {2,
     {5, 7, 1},
     1,
     1,
     DMDA_STENCIL_BOX,
     {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     9},
    {3,
     {5, 4, 6},
     2,
     1,
     DMDA_STENCIL_STAR,
     {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC},
     7},
    {3,
     {4, 5, 3},
     1,
     1,
     DMDA_STENCIL_BOX,
     {DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     27},
    /* points of the stencil that are one point of the grid */
    {1,
     {4, 1, 1},
     2,
     2,
     DMDA_STENCIL_BOX,
     {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     5},
    {2,
     {2, 3, 1},
     2,
     1,
     DMDA_STENCIL_STAR,
     {DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE},
     5},
    {2,
     {3, 1, 1},
     1,
     1,
     DMDA_STENCIL_BOX,
     {DM_BOUNDARY_NONE, DM_BOUNDARY_PERIODIC, DM_BOUNDARY_NONE},
     9},
};

/* f_c = the sum of (k + 1) u_kc^2 over the stencil, + (1 + i + 2 j + 3 k) times the next number
 * of the point itself. */
static wg_status weighted(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                          void *data) {
    const grid_case *const c = data;
    const size_t middle = c->points / 2;
    const wg_real *const place = u + c->points * m;
    wg_real factor = wg_constant(1);
    (void)n;
    for (PetscInt a = 0; a < c->dim; a++)
        factor = wg_let(t, wg_add(factor, wg_mul((double)a + 1, place[a])));
    for (size_t r = 0; r < m; r++) {
        f[r] = wg_let(t, wg_mul(factor, u[middle * m + (r + 1) % m]));
        for (size_t k = 0; k < c->points; k++)
            f[r] = wg_let(t, wg_add(f[r], wg_mul((double)k + 1, wg_square(u[k * m + r]))));
    }
    return WG_OK;
}

static DM grid_of(const grid_case *c) {
    const PetscInt *const n = c->size;
    DM da;
    if (c->dim == 1)
        well(DMDACreate1d(PETSC_COMM_SELF, c->edge[0], n[0], c->d, c->width, NULL, &da));
    else if (c->dim == 2)
        well(DMDACreate2d(PETSC_COMM_SELF, c->edge[0], c->edge[1], c->kind, n[0], n[1], 1, 1,
                          c->d, c->width, NULL, NULL, &da));
    else
        well(DMDACreate3d(PETSC_COMM_SELF, c->edge[0], c->edge[1], c->edge[2], c->kind, n[0],
                          n[1], n[2], 1, 1, 1, c->d, c->width, NULL, NULL, NULL, &da));
    well(DMSetUp(da));
    return da;
}

/* The number of a neighbour; -1: beyond a boundary. */
static PetscInt neighbour(const grid_case *c, const PetscInt *at, const PetscInt *by) {
    PetscInt to[3];
    for (int a = 0; a < 3; a++) {
        to[a] = at[a] + by[a];
        if (to[a] >= 0 && to[a] < c->size[a]) continue;
        if (c->edge[a] != DM_BOUNDARY_PERIODIC) return -1;
        to[a] = (to[a] + c->size[a]) % c->size[a];
    }
    return (to[2] * c->size[1] + to[1]) * c->size[0] + to[0];
}

/* Residuals and the Jacobian by hand, all entries. */
static void by_hand(const grid_case *c, const double *u, double *f, double *jac, PetscInt n) {
    const PetscInt d = c->d, *const s = c->size;
    const PetscInt w[3] = {c->width, c->dim > 1 ? c->width : 0, c->dim > 2 ? c->width : 0};
    memset(jac, 0, (size_t)(n * n) * sizeof *jac);
    for (PetscInt point = 0; point < n / d; point++) {
        const PetscInt at[3] = {point % s[0], point / s[0] % s[1], point / s[0] / s[1]};
        const double factor =
            (double)(1 + at[0] + (c->dim > 1 ? 2 * at[1] : 0) + (c->dim > 2 ? 3 * at[2] : 0));
        for (PetscInt r = 0; r < d; r++) {
            const PetscInt row = point * d + r, next = point * d + (r + 1) % d;
            PetscInt by[3], number = 0;
            f[row] = factor * u[next];
            jac[row * n + next] += factor;
            for (by[2] = -w[2]; by[2] <= w[2]; by[2]++)
                for (by[1] = -w[1]; by[1] <= w[1]; by[1]++)
                    for (by[0] = -w[0]; by[0] <= w[0]; by[0]++) {
                        if (c->kind == DMDA_STENCIL_STAR &&
                            (by[0] != 0) + (by[1] != 0) + (by[2] != 0) > 1)
                            continue;
                        const double weight = (double)++number;
                        const PetscInt there = neighbour(c, at, by);
                        if (there < 0) continue;
                        f[row] += weight * u[there * d + r] * u[there * d + r];
                        jac[row * n + there * d + r] += 2 * weight * u[there * d + r];
                    }
        }
    }
}

static void assert_grid(const grid_case *c, unsigned flags, MatType type) {
    DM da = grid_of(c);
    well(DMSetMatType(da, type));
    const PetscInt n = c->size[0] * c->size[1] * c->size[2] * c->d;
    double *const f = malloc((size_t)n * sizeof *f), *const jac =
                                                         malloc((size_t)(n * n) * sizeof *jac);
    PetscScalar *x;
    const PetscScalar *y;
    Vec u, r;
    Mat a;
    wg_petsc_grid *const g = wg_petsc_grid_new(da, weighted, (void *)(uintptr_t)c, NULL, flags);
    if (wg_petsc_grid_status(g) != WG_OK) fail_msg("%s", wg_petsc_grid_message(g));
    assert_int_equal(wg_petsc_grid_points(g), c->points);
    assert_int_equal(wg_petsc_grid_middle(g), c->points / 2);
    well(DMCreateGlobalVector(da, &u)), well(VecDuplicate(u, &r)), well(DMCreateMatrix(da, &a));
    well(VecGetArray(u, &x));
    for (PetscInt i = 0; i < n; i++) x[i] = 0.5 + 0.25 * (double)(i % 7);
    by_hand(c, x, f, jac, n);
    well(VecRestoreArray(u, &x));
    well(wg_petsc_grid_function(NULL, u, r, g));
    well(VecGetArrayRead(r, &y));
    for (PetscInt i = 0; i < n; i++) assert_true(close_ulp(y[i], f[i], TOL_PROGRAM_ULP));
    well(VecRestoreArrayRead(r, &y));
    for (int again = 0; again < 2; again++) {
        well(wg_petsc_grid_jacobian(NULL, u, a, a, g));
        for (PetscInt i = 0; i < n; i++)
            for (PetscInt j = 0; j < n; j++) {
                PetscScalar got;
                well(MatGetValues(a, 1, &i, 1, &j, &got));
                if (!close_ulp(got, jac[i * n + j], TOL_PROGRAM_ULP))
                    fail_msg("entry %d, %d is %g, not %g", (int)i, (int)j, got, jac[i * n + j]);
            }
    }
    well(VecDestroy(&u)), well(VecDestroy(&r)), well(MatDestroy(&a)), well(DMDestroy(&da));
    wg_petsc_grid_free(g);
    free(f), free(jac);
}

static void residuals_and_jacobians_of_grids_are_those_by_hand(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_grid(&cases[k], 0, MATAIJ);
        assert_grid(&cases[k], 0, MATAIJPERM); /* by MatSetValuesStencil */
    }
    assert_grid(&cases[2], WG_COMPILE, MATAIJ);
}

/* What stood in the matrix before is gone, and places are found anew for another one. */
static void matrices_take_turns_and_keep_nothing_of_before(void **state) {
    enum { POINTS = 4 };
    grid_case c = cases[2];
    DM da = grid_of(&c);
    Vec u;
    Mat a[2], ref;
    wg_petsc_grid *const g = wg_petsc_grid_new(da, weighted, &c, NULL, 0);
    PetscReal apart;
    (void)state;
    well(DMCreateGlobalVector(da, &u)), well(DMCreateMatrix(da, &ref));
    well(VecSet(u, 0.5));
    well(wg_petsc_grid_jacobian(NULL, u, ref, ref, g));
    for (int k = 0; k < 2; k++) well(DMCreateMatrix(da, &a[k]));
    for (int k = 0; k < POINTS; k++) {
        Mat now = a[k % 2], difference;
        well(MatShift(now, 3));
        well(MatScale(now, NAN));
        well(wg_petsc_grid_jacobian(NULL, u, now, now, g));
        well(MatDuplicate(ref, MAT_COPY_VALUES, &difference));
        well(MatAXPY(difference, -1, now, SAME_NONZERO_PATTERN));
        well(MatNorm(difference, NORM_FROBENIUS, &apart));
        assert_true(apart == 0);
        well(MatDestroy(&difference));
    }
    well(VecDestroy(&u)), well(MatDestroy(&a[0])), well(MatDestroy(&a[1])),
        well(MatDestroy(&ref));
    well(DMDestroy(&da));
    wg_petsc_grid_free(g);
}

/* ---- failures ---- */

static wg_status root(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                      void *data) {
    const int *const branches = data;
    (void)n, (void)m;
    if (*branches) f[0] = wg_lt(t, u[1], 0.0) ? wg_let(t, wg_neg(u[1])) : u[1];
    else f[0] = wg_let(t, wg_sub(wg_sqrt(u[1]), wg_mul(0.1, wg_add(u[0], u[2]))));
    return WG_OK;
}

static void failures_are_kept_and_never_end_the_program(void **state) {
    int branches = 0;
    DM da = grid_of(&cases[0]),
       narrow = grid_of(&(grid_case){1, {9, 1, 1}, 1, 1, DMDA_STENCIL_BOX, {0}, 3});
    SNES snes;
    Vec u, f;
    Mat a;
    const double one = 1;
    SNESConvergedReason reason;
    (void)state;
    wg_petsc_grid *g = wg_petsc_grid_new(NULL, root, &branches, NULL, 0);
    assert_int_equal(wg_petsc_grid_status(g), WG_ENULL);
    assert_int_equal(wg_petsc_grid_function(NULL, NULL, NULL, g), PETSC_ERR_LIB);
    wg_petsc_grid_free(g);
    g = wg_petsc_grid_new(da, root, &branches, NULL, 77);
    assert_int_equal(wg_petsc_grid_status(g), WG_EARG);
    wg_petsc_grid_free(g);
    wg_petsc_grid_free(NULL);
    assert_int_equal(wg_petsc_grid_status(NULL), WG_ENOMEM);

    /* out of its domain: the solver ends, and says so */
    g = wg_petsc_grid_new(narrow, root, &branches, &one, 0);
    assert_int_equal(wg_petsc_grid_status(g), WG_OK);
    well(DMCreateGlobalVector(narrow, &u)), well(VecDuplicate(u, &f)),
        well(DMCreateMatrix(narrow, &a));
    well(SNESCreate(PETSC_COMM_SELF, &snes));
    well(SNESSetFunction(snes, f, wg_petsc_grid_function, g));
    well(SNESSetJacobian(snes, a, a, wg_petsc_grid_jacobian, g));
    well(VecSet(u, -1));
    well(SNESSolve(snes, NULL, u));
    well(SNESGetConvergedReason(snes, &reason));
    assert_int_equal(reason, SNES_DIVERGED_FUNCTION_DOMAIN);
    assert_int_equal(wg_petsc_grid_status(g), WG_ENONFINITE);
    wg_petsc_grid_free(g);

    /* a comparison is no selection */
    branches = 1;
    g = wg_petsc_grid_new(narrow, root, &branches, &one, 0);
    well(VecSet(u, 2));
    well(wg_petsc_grid_function(snes, u, f, g));
    well(VecSet(u, -2));
    assert_int_equal(wg_petsc_grid_function(snes, u, f, g), PETSC_ERR_LIB);
    assert_int_equal(wg_petsc_grid_status(g), WG_EGUARD);
    assert_non_null(strstr(wg_petsc_grid_message(g), "selection"));
    wg_petsc_grid_free(g);
    well(SNESDestroy(&snes)), well(VecDestroy(&u)), well(VecDestroy(&f)), well(MatDestroy(&a));
    well(DMDestroy(&da)), well(DMDestroy(&narrow));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_of_equations_are_solved),
        cmocka_unit_test(vectors_of_other_sizes_are_refused),
        cmocka_unit_test(residuals_and_jacobians_of_grids_are_those_by_hand),
        cmocka_unit_test(matrices_take_turns_and_keep_nothing_of_before),
        cmocka_unit_test(failures_are_kept_and_never_end_the_program),
    };
    return cmocka_run_group_tests(tests, begin, finish);
}
