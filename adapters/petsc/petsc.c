/* SPDX-License-Identifier: MIT */
/* petsc.c - SNES' callbacks over a problem, on vectors of one process. */
#include "internal.h"

PetscErrorCode wg_petsc_function(SNES snes, Vec u, Vec f, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, u, NULL);
    if (r == NULL) return PETSC_ERR_LIB;
    const wg_status s = wg_problem_value(problem, r->x, r->y);
    if (s == WG_ENONFINITE) return SNESSetFunctionDomainError(snes);
    return s == WG_OK ? wgi_petsc_give(problem, r->y, r->outputs, f) : PETSC_ERR_LIB;
}

PetscErrorCode wg_petsc_jacobian(SNES snes, Vec u, Mat a, Mat b, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, u, NULL);
    wg_status s;
    if (r == NULL) return PETSC_ERR_LIB;
    const PetscErrorCode error = wgi_petsc_jacobian(problem, r, 0, a, b, &s);
    return error == 0 && s != WG_OK ? SNESSetJacobianDomainError(snes) : error;
}
