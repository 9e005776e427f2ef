/* SPDX-License-Identifier: MIT */
/* ts_case.h - what tests of TS share: rates of N states with NP parameters, whose callback takes
 * t; u; p; and PETSc's vectors and matrices of plain arrays. */
#ifndef WENGERT_PETSC_TS_CASE_H
#define WENGERT_PETSC_TS_CASE_H

#include "fixture.h"
#include <petscvec.h>
#include <petscmat.h>
#include <wengert.h>
#include "test/tolerance.h"
#include "wengert/petsc.h"

enum { N = 2, NP = 2, STEPS = 40 };

/* m: N, and integrands; `fails` is given to the callback. */
static inline wg_problem *rates_problem(wg_callback *f, size_t m, unsigned flags,
                                        wg_status *fails, const double *parameters) {
    wg_problem *const p = wg_problem_new(&(wg_computation){.n = 1 + N + NP,
                                                           .m = m,
                                                           .callback = f,
                                                           .data = fails,
                                                           .groups = 3,
                                                           .group = (size_t[]){1, N, NP},
                                                           .x = (double[]){0, 1, 1, 1, 1},
                                                           .flags = flags});
    assert_int_equal(wg_petsc_parameters(p, parameters), WG_OK);
    return p;
}

/* Of these numbers, or zeros: NULL. */
static inline Vec vector(PetscInt n, const double *from) {
    Vec v;
    well(VecCreateSeq(PETSC_COMM_SELF, n, &v));
    for (PetscInt i = 0; i < n; i++)
        well(VecSetValue(v, i, from == NULL ? 0 : from[i], INSERT_VALUES));
    return v;
}
/* The same, by rows. */
static inline Mat dense(PetscInt rows, PetscInt cols, const double *from) {
    Mat a;
    well(MatCreateSeqDense(PETSC_COMM_SELF, rows, cols, NULL, &a));
    for (PetscInt i = 0; i < rows; i++)
        for (PetscInt j = 0; j < cols; j++)
            well(MatSetValue(a, i, j, from == NULL ? 0 : from[i * cols + j], INSERT_VALUES));
    well(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY)), well(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
    return a;
}
static inline void assert_vector(const char *what, Vec v, const double *ref, double ulps) {
    PetscInt n;
    const PetscScalar *at;
    well(VecGetSize(v, &n)), well(VecGetArrayRead(v, &at));
    for (PetscInt i = 0; i < n; i++)
        if (!close_ulp(at[i], ref[i], ulps))
            fail_msg("%s: entry %d is %.17g, not %.17g", what, (int)i, at[i], ref[i]);
    well(VecRestoreArrayRead(v, &at));
}

#endif
