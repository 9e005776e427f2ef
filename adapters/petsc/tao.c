/* SPDX-License-Identifier: MIT */
/* tao.c - TAO's callbacks over a problem: objective, gradient, Hessian; residuals and
 * constraints with their Jacobians. At a NaN the objective is infinite, which TAO's line
 * searches step back from. */
#include "internal.h"
#include <math.h>

/* Value and gradient, of one output. */
static PetscErrorCode objective(wg_problem *p, Vec x, PetscReal *value, Vec g) {
    wgi_room *const r = wgi_petsc_point(p, WGI_SYSTEM, 0, x, NULL);
    double y = NAN;
    if (r == NULL) return PETSC_ERR_LIB;
    const wg_status s = wg_problem_gradient(p, r->x, &y, r->g);
    for (size_t i = 0; i < r->states && s == WG_ENONFINITE; i++) r->g[i] = NAN;
    if (value != NULL) *value = s == WG_OK ? y : INFINITY;
    return wgi_petsc_code(s) != 0 ? PETSC_ERR_LIB : wgi_petsc_give(p, r->g, r->states, g);
}
PetscErrorCode wg_petsc_tao_objective_gradient(Tao tao, Vec x, PetscReal *value, Vec g,
                                               void *problem) {
    (void)tao;
    return objective(problem, x, value, g);
}
PetscErrorCode wg_petsc_tao_gradient(Tao tao, Vec x, Vec g, void *problem) {
    (void)tao;
    return objective(problem, x, NULL, g);
}

PetscErrorCode wg_petsc_tao_objective(Tao tao, Vec x, PetscReal *value, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, x, NULL);
    (void)tao;
    if (r == NULL) return PETSC_ERR_LIB;
    if (r->outputs != 1) {
        wg_problem_keep(problem, WG_ESHAPE, "petsc: an objective has one output");
        return PETSC_ERR_LIB;
    }
    const wg_status s = wg_problem_value(problem, r->x, r->y);
    *value = s == WG_OK ? r->y[0] : INFINITY;
    return wgi_petsc_code(s);
}

PetscErrorCode wg_petsc_tao_hessian(Tao tao, Vec x, Mat h, Mat b, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, x, NULL);
    wg_status s;
    (void)tao;
    if (r == NULL) return PETSC_ERR_LIB;
    const PetscErrorCode error = wgi_petsc_hessian(problem, r, h, b, &s);
    return error == 0 && s != WG_OK ? PETSC_ERR_LIB : error;
}

PetscErrorCode wg_petsc_tao_values(Tao tao, Vec x, Vec y, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, x, NULL);
    (void)tao;
    if (r == NULL) return PETSC_ERR_LIB;
    const wg_status s = wg_problem_value(problem, r->x, r->y);
    for (size_t j = 0; j < r->outputs && s == WG_ENONFINITE; j++) r->y[j] = INFINITY;
    return wgi_petsc_code(s) != 0 ? PETSC_ERR_LIB
                                  : wgi_petsc_give(problem, r->y, r->outputs, y);
}

PetscErrorCode wg_petsc_tao_jacobian(Tao tao, Vec x, Mat a, Mat b, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_SYSTEM, 0, x, NULL);
    wg_status s;
    (void)tao;
    if (r == NULL) return PETSC_ERR_LIB;
    const PetscErrorCode error = wgi_petsc_jacobian(problem, r, 0, a, b, &s);
    return error == 0 && s != WG_OK ? PETSC_ERR_LIB : error;
}
