/* SPDX-License-Identifier: MIT */
/* ts.c - TS' callbacks over a problem: rates, residuals, integrands, and what TSAdjoint asks of
 * them. NaNs are handed on: implicit methods then take a shorter step, others end. */
#include "internal.h"
#include <math.h>

/* ---- rates and residuals ----------------------------------------------------------------- */

/* So many outputs from `first` on, into f. */
static PetscErrorCode outputs(wg_problem *p, wgi_room *r, size_t first, size_t n, Vec f) {
    if (r == NULL) return PETSC_ERR_LIB;
    const wg_status s = wg_problem_value(p, r->x, r->y);
    for (size_t j = first; j < r->outputs && s == WG_ENONFINITE; j++) r->y[j] = NAN;
    const PetscErrorCode error = wgi_petsc_code(s);
    return error == 0 ? wgi_petsc_give(p, r->y + first, n, f) : error;
}

/* The diagonal, and with it all that is made of the matrix, becomes NaN after a NaN. */
static PetscErrorCode spoil(wg_status s, Mat a, Mat b) {
    PetscInt rows, cols;
    if (s == WG_OK) return 0;
    PetscCall(MatGetSize(b, &rows, &cols));
    for (PetscInt i = 0; i < rows && i < cols; i++)
        PetscCall(MatSetValue(b, i, i, NAN, INSERT_VALUES));
    return wgi_petsc_assemble(a, b);
}

PetscErrorCode wg_petsc_ts_rates(TS ts, PetscReal t, Vec u, Vec f, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_RATES, t, u, NULL);
    (void)ts;
    return outputs(problem, r, 0, r == NULL ? 0 : r->rows, f);
}
PetscErrorCode wg_petsc_ts_residual(TS ts, PetscReal t, Vec u, Vec ut, Vec f, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_RESIDUAL, t, u, ut);
    (void)ts;
    return outputs(problem, r, 0, r == NULL ? 0 : r->rows, f);
}

static PetscErrorCode jacobian(wg_problem *p, wgi_room *r, double shift, Mat a, Mat b) {
    wg_status s;
    if (r == NULL) return PETSC_ERR_LIB;
    const PetscErrorCode error = wgi_petsc_jacobian(p, r, shift, a, b, &s);
    return error == 0 ? spoil(s, a, b) : error;
}
PetscErrorCode wg_petsc_ts_jacobian(TS ts, PetscReal t, Vec u, Mat a, Mat b, void *problem) {
    (void)ts;
    return jacobian(problem, wgi_petsc_point(problem, WGI_RATES, t, u, NULL), 0, a, b);
}
PetscErrorCode wg_petsc_ts_residual_jacobian(TS ts, PetscReal t, Vec u, Vec ut, PetscReal shift,
                                             Mat a, Mat b, void *problem) {
    (void)ts;
    return jacobian(problem, wgi_petsc_point(problem, WGI_RESIDUAL, t, u, ut), shift, a, b);
}

static PetscErrorCode by_parameters(wg_problem *p, wgi_room *r, Mat a) {
    wg_status s;
    if (r == NULL) return PETSC_ERR_LIB;
    const PetscErrorCode error = wgi_petsc_by_parameters(p, r, a, &s);
    return error != 0 || s == WG_OK ? error : PETSC_ERR_LIB;
}
PetscErrorCode wg_petsc_ts_by_parameters(TS ts, PetscReal t, Vec u, Mat a, void *problem) {
    (void)ts;
    return by_parameters(problem, wgi_petsc_point(problem, WGI_RATES, t, u, NULL), a);
}
PetscErrorCode wg_petsc_ts_residual_by_parameters(TS ts, PetscReal t, Vec u, Vec ut,
                                                  PetscReal shift, Mat a, void *problem) {
    (void)ts, (void)shift;
    return by_parameters(problem, wgi_petsc_point(problem, WGI_RESIDUAL, t, u, ut), a);
}

/* ---- integrands -------------------------------------------------------------------------- */

PetscErrorCode wg_petsc_ts_integrands(TS ts, PetscReal t, Vec u, Vec q, void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_RATES, t, u, NULL);
    (void)ts;
    return outputs(problem, r, r == NULL ? 0 : r->rows, r == NULL ? 0 : r->outputs - r->rows,
                   q);
}

/* Column by column the gradients of the integrands by n inputs from `first` on, a sweep
 * each. */
static PetscErrorCode gradients(wg_problem *p, wgi_room *r, size_t first, size_t n, Mat a) {
    if (r == NULL) return PETSC_ERR_LIB;
    for (size_t j = 0; j < r->outputs; j++) r->w[j] = 0;
    for (size_t j = r->rows; j < r->outputs; j++) {
        const PetscInt col = (PetscInt)(j - r->rows);
        r->w[j] = 1;
        const wg_status s = wg_problem_vjp(p, r->x, r->w, NULL, r->g);
        r->w[j] = 0;
        if (s != WG_OK) return PETSC_ERR_LIB;
        for (size_t i = 0; i < n; i++)
            PetscCall(MatSetValue(a, (PetscInt)i, col, r->g[first + i], INSERT_VALUES));
    }
    return wgi_petsc_assemble(a, a);
}
PetscErrorCode wg_petsc_ts_integrand_gradients(TS ts, PetscReal t, Vec u, Mat a, Mat b,
                                               void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_RATES, t, u, NULL);
    (void)ts, (void)b;
    return gradients(problem, r, r == NULL ? 0 : r->first, r == NULL ? 0 : r->states, a);
}
PetscErrorCode wg_petsc_ts_integrand_by_parameters(TS ts, PetscReal t, Vec u, Mat a,
                                                   void *problem) {
    wgi_room *const r = wgi_petsc_point(problem, WGI_RATES, t, u, NULL);
    (void)ts;
    return gradients(problem, r, r == NULL ? 0 : r->last, r == NULL ? 0 : r->count, a);
}
