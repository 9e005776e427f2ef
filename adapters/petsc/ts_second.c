/* SPDX-License-Identifier: MIT */
/* ts_second.c - what TS' second-order adjoints ask of rates f: products of the Hessian of l' f,
 * l an adjoint of the states, with a direction. The Hessian by all inputs is computed by its
 * pattern; of it a product has the rows and columns of the states or of the parameters. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* The pattern, and room for its entries, at the first call. */
static wg_status open(wg_problem *p, wgi_room *r) {
    if (r->entries != NULL) return WG_OK;
    const wg_status s = wg_problem_hessian_pattern(p, r->x, &r->second);
    if (s != WG_OK) return s;
    r->entries = malloc((r->second->entries + r->inputs + 1) * sizeof *r->entries);
    return r->entries != NULL ? WG_OK : wg_problem_keep(p, WG_ENOMEM, "out of memory");
}

/* g = H v, of the triangle that there is. */
static void multiply(const wgi_room *r, const double *v, double *g) {
    memset(g, 0, r->inputs * sizeof *g);
    for (size_t k = 0; k < r->second->entries; k++) {
        const size_t i = r->second->row[k], j = r->second->col[k];
        g[i] += r->entries[k] * v[j];
        if (i != j) g[j] += r->entries[k] * v[i];
    }
}

typedef enum part { STATES, PARAMETERS } part;

/* PETSc would add the gradients of an integral, but not what bends it. */
static int has_integral(TS ts, wg_problem *p) {
    PetscBool forward;
    TS quadrature = NULL;
    if (TSGetQuadratureTS(ts, &forward, &quadrature) == 0 && quadrature == NULL) return 0;
    wg_problem_keep(p, WG_EMODE, "petsc: second-order adjoints of integrals are not offered");
    return 1;
}

/* For each objective: the rows of H times v, which are columns of it. */
static PetscErrorCode product(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv, part rows,
                              part columns, wg_problem *p) {
    wgi_room *const r = wgi_petsc_point(p, WGI_RATES, t, u, NULL);
    PetscInt objectives;
    if (r == NULL || has_integral(ts, p) || open(p, r) != WG_OK) return PETSC_ERR_LIB;
    double *const along = r->entries + r->second->entries;
    const size_t from = columns == STATES ? r->first : r->last;
    memset(along, 0, r->inputs * sizeof *along);
    if (!wgi_petsc_take(p, v, columns == STATES ? r->states : r->count, along + from))
        return PETSC_ERR_LIB;
    PetscCall(TSGetCostGradients(ts, &objectives, NULL, NULL));
    for (PetscInt k = 0; k < objectives; k++) {
        memset(r->w, 0, r->outputs * sizeof *r->w);
        if (!wgi_petsc_take(p, l[k], r->rows, r->w) ||
            wg_problem_sparse_hessian(p, r->x, r->w, r->entries) != WG_OK)
            return PETSC_ERR_LIB;
        multiply(r, along, r->g);
        PetscCall(rows == STATES ? wgi_petsc_give(p, r->g + r->first, r->states, hv[k])
                                 : wgi_petsc_give(p, r->g + r->last, r->count, hv[k]));
    }
    return 0;
}

PetscErrorCode wg_petsc_ts_hessian_uu(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                      void *problem) {
    return product(ts, t, u, l, v, hv, STATES, STATES, problem);
}
PetscErrorCode wg_petsc_ts_hessian_up(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                      void *problem) {
    return product(ts, t, u, l, v, hv, STATES, PARAMETERS, problem);
}
PetscErrorCode wg_petsc_ts_hessian_pu(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                      void *problem) {
    return product(ts, t, u, l, v, hv, PARAMETERS, STATES, problem);
}
PetscErrorCode wg_petsc_ts_hessian_pp(TS ts, PetscReal t, Vec u, Vec *l, Vec v, Vec *hv,
                                      void *problem) {
    return product(ts, t, u, l, v, hv, PARAMETERS, PARAMETERS, problem);
}
