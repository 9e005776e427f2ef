/* SPDX-License-Identifier: MIT */
/* cvode.c - the callbacks of CVODE and CVODES: rates, sensitivities, the adjoint problem. */
#include "internal.h"
#include <string.h>

/* All outputs: rates, then integrands. */
static wgi_room *evaluated(wg_problem *p, sunrealtype t, N_Vector y, int *code) {
    wgi_room *const r = wgi_sundials_point(p, &t, y, NULL);
    *code = r == NULL ? -1 : wgi_sundials_code(wg_problem_value(p, r->x, r->y));
    return r;
}

int wg_cvode_rates(sunrealtype t, N_Vector y, N_Vector ydot, void *problem) {
    int code;
    wgi_room *const r = evaluated(problem, t, y, &code);
    double *const to = code != 0 ? NULL : wgi_sundials_array(problem, ydot, r->states);
    if (code != 0 || to == NULL) return code != 0 ? code : -1;
    memcpy(to, r->y, r->states * sizeof *to);
    return 0;
}

int wg_cvode_quadrature(sunrealtype t, N_Vector y, N_Vector qdot, void *problem) {
    int code;
    wgi_room *const r = evaluated(problem, t, y, &code);
    double *const to =
        code != 0 ? NULL : wgi_sundials_array(problem, qdot, r->outputs - r->states);
    if (code != 0 || to == NULL) return code != 0 ? code : -1;
    memcpy(to, r->y + r->states, (r->outputs - r->states) * sizeof *to);
    return 0;
}

int wg_cvode_jacobian(sunrealtype t, N_Vector y, N_Vector fy, SUNMatrix jac, void *problem,
                      N_Vector t1, N_Vector t2, N_Vector t3) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)fy, (void)t1, (void)t2, (void)t3;
    return r == NULL ? -1 : wgi_sundials_jacobian(problem, r, 0, 1, 0, jac);
}

/* A direction of y alone. */
static int along(wg_problem *p, wgi_room *r, N_Vector v) {
    const double *const from = r == NULL ? NULL : wgi_sundials_array(p, v, r->states);
    if (from == NULL) return 0;
    memset(r->v, 0, r->inputs * sizeof *r->v);
    memcpy(r->v + r->first, from, r->states * sizeof *from);
    return 1;
}

int wg_cvode_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector fy,
                   void *problem, N_Vector tmp) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)fy, (void)tmp;
    return along(problem, r, v) ? wgi_sundials_times(problem, r, jv) : -1;
}

int wg_cvode_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector ydot, int i, N_Vector s,
                         N_Vector sdot, void *problem, N_Vector t1, N_Vector t2) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)count, (void)ydot, (void)t1, (void)t2;
    if (!along(problem, r, s)) return -1;
    if ((size_t)i < r->count) r->v[r->last + (size_t)i] = 1;
    return wgi_sundials_times(problem, r, sdot);
}

int wg_cvode_quadrature_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector *s,
                                    N_Vector qdot, N_Vector *sdot, void *problem, N_Vector t1,
                                    N_Vector t2) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)qdot, (void)t1, (void)t2;
    for (int i = 0; i < count; i++) {
        if (!along(problem, r, s[i])) return -1;
        if ((size_t)i < r->count) r->v[r->last + (size_t)i] = 1;
        const int code = wgi_sundials_integrands(problem, r, sdot[i]);
        if (code != 0) return code;
    }
    return 0;
}

/* ---- the adjoint problem ----------------------------------------------------------------- */

static int swept(wg_problem *p, wgi_room *r, N_Vector yb, double integrands, int again) {
    return r == NULL ? -1 : wgi_sundials_sweep(p, r, yb, integrands, again);
}

int wg_cvode_adjoint(sunrealtype t, N_Vector y, N_Vector yb, N_Vector ybdot, void *problem) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    const int code = swept(problem, r, yb, 1, 0);
    return code != 0 ? code : wgi_sundials_give(problem, -1, r->g + r->first, r->states, ybdot);
}

int wg_cvode_adjoint_quadrature(sunrealtype t, N_Vector y, N_Vector yb, N_Vector qbdot,
                                void *problem) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    const int code = swept(problem, r, yb, 1, 1);
    return code != 0 ? code : wgi_sundials_give(problem, -1, r->g + r->last, r->count, qbdot);
}

int wg_cvode_adjoint_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector yb,
                           N_Vector fyb, void *problem, N_Vector tmp) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    const int code = swept(problem, r, v, 0, 0);
    (void)yb, (void)fyb, (void)tmp;
    return code != 0 ? code : wgi_sundials_give(problem, -1, r->g + r->first, r->states, jv);
}

int wg_cvode_adjoint_jacobian(sunrealtype t, N_Vector y, N_Vector yb, N_Vector fyb,
                              SUNMatrix jac, void *problem, N_Vector t1, N_Vector t2,
                              N_Vector t3) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)yb, (void)fyb, (void)t1, (void)t2, (void)t3;
    return r == NULL ? -1 : wgi_sundials_jacobian(problem, r, 0, -1, 1, jac);
}
