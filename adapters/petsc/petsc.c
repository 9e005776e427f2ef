/* SPDX-License-Identifier: MIT */
/* petsc.c - SNES' callbacks over a problem, on vectors of one process. */
#include "wengert/petsc.h"
#include <stdlib.h>

_Static_assert(sizeof(PetscScalar) == sizeof(double), "a PETSc of real doubles");

/* Kept with the problem: the pattern in PETSc's integers, and the values. */
typedef struct room {
    const wg_pattern *pattern;
    PetscInt *start, *col;
    double *values;
} room;

static void release(void *kept) {
    room *const r = kept;
    free(r->start), free(r->col), free(r->values);
    free(r);
}

static room *room_of(wg_problem *p, const double *x) {
    const wg_pattern *at;
    room *r = wg_problem_attached(p, release);
    if (r != NULL || wg_problem_jacobian_pattern(p, 0, x, WG_ROW_MAJOR, &at) != WG_OK) return r;
    r = calloc(1, sizeof *r);
    if (r == NULL) {
        wg_problem_keep(p, WG_ENOMEM, "out of memory");
        return NULL;
    }
    r->pattern = at;
    r->start = malloc((at->rows + 1) * sizeof *r->start);
    r->col = malloc((at->entries + 1) * sizeof *r->col);
    r->values = malloc((at->entries + 1) * sizeof *r->values);
    if (r->start == NULL || r->col == NULL || r->values == NULL) {
        wg_problem_keep(p, WG_ENOMEM, "out of memory");
        release(r);
        return NULL;
    }
    for (size_t i = 0; i <= at->rows; i++) r->start[i] = (PetscInt)at->start[i];
    for (size_t k = 0; k < at->entries; k++) r->col[k] = (PetscInt)at->col[k];
    wg_problem_attach(p, r, release);
    return r;
}

PetscErrorCode wg_petsc_matrix(wg_problem *p, const double *x, Mat *out) {
    const PetscInt n = (PetscInt)wg_problem_inputs(p), m = (PetscInt)wg_problem_outputs(p);
    room *const r = room_of(p, x);
    *out = NULL;
    if (r == NULL) return PETSC_ERR_LIB;
    for (size_t k = 0; k < r->pattern->entries; k++) r->values[k] = 0;
    PetscCall(MatCreate(PETSC_COMM_SELF, out));
    PetscCall(MatSetSizes(*out, m, n, m, n));
    PetscCall(MatSetType(*out, MATSEQAIJ));
    PetscCall(MatSeqAIJSetPreallocationCSR(*out, r->start, r->col, r->values));
    return 0;
}

/* The entries of a vector of one process, of so many; the caller gives them back. */
static PetscErrorCode entries(wg_problem *p, Vec v, size_t n, const PetscScalar **to) {
    PetscInt local, all;
    PetscCall(VecGetLocalSize(v, &local));
    PetscCall(VecGetSize(v, &all));
    *to = NULL;
    if (local != all || (size_t)all != n) {
        wg_problem_keep(p, WG_ESHAPE,
                        "petsc: a vector of another size, or of several processes");
        return PETSC_ERR_LIB;
    }
    return VecGetArrayRead(v, to);
}

PetscErrorCode wg_petsc_function(SNES snes, Vec u, Vec f, void *problem) {
    const PetscScalar *x, *size;
    PetscScalar *y;
    PetscErrorCode error = entries(problem, u, wg_problem_inputs(problem), &x);
    if (error != 0) return error;
    error = entries(problem, f, wg_problem_outputs(problem), &size);
    if (error != 0) return error;
    PetscCall(VecRestoreArrayRead(f, &size));
    PetscCall(VecGetArray(f, &y));
    const wg_status s = wg_problem_value(problem, x, y);
    PetscCall(VecRestoreArray(f, &y));
    PetscCall(VecRestoreArrayRead(u, &x));
    if (s == WG_ENONFINITE) return SNESSetFunctionDomainError(snes);
    return s == WG_OK ? 0 : PETSC_ERR_LIB;
}

PetscErrorCode wg_petsc_jacobian(SNES snes, Vec u, Mat a, Mat b, void *problem) {
    const PetscScalar *x;
    const PetscErrorCode error = entries(problem, u, wg_problem_inputs(problem), &x);
    if (error != 0) return error;
    room *const r = room_of(problem, x);
    const wg_status s = r == NULL ? wg_problem_status(problem)
                                  : wg_problem_sparse_jacobian(problem, x, NULL, r->values);
    PetscCall(VecRestoreArrayRead(u, &x));
    if (s == WG_ENONFINITE) return SNESSetJacobianDomainError(snes);
    if (s != WG_OK) return PETSC_ERR_LIB;
    for (size_t i = 0; i < r->pattern->rows; i++) {
        const PetscInt row = (PetscInt)i, count = r->start[i + 1] - r->start[i];
        PetscCall(MatSetValues(b, 1, &row, count, r->col + r->start[i], r->values + r->start[i],
                               INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
    if (a == b) return 0;
    PetscCall(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
    return MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY);
}
