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

/* ---- the adjoint problem ------------------------------------------------------------------- */

/* The adjoint of all inputs, of yb on the rates and of so much on the integrands. A sweep is kept for the
 * quadrature that may follow it at the same point (`again`), and for nothing else: what the callback reads
 * beside may have changed since. */
static wgi_room *swept(wg_problem *p, sunrealtype t, N_Vector y, N_Vector yb, double integrands,
                       int again, int *code) {
    wgi_room *const r = wgi_sundials_point(p, &t, y, NULL);
    const double *const from = r == NULL ? NULL : wgi_sundials_array(p, yb, r->states);
    *code = -1;
    if (from == NULL) return NULL;
    memcpy(r->w, from, r->states * sizeof *from);
    for (size_t k = r->states; k < r->outputs; k++) r->w[k] = integrands;
    double *const at = r->y + r->outputs; /* x and w that g is of */
    *code = 0;
    if (again && r->swept != NULL && memcmp(at, r->x, r->inputs * sizeof *at) == 0 &&
        memcmp(at + r->inputs, r->w, r->outputs * sizeof *at) == 0) {
        r->swept = NULL;
        return r;
    }
    r->swept = NULL;
    *code = wgi_sundials_code(wg_problem_vjp(p, r->x, r->w, NULL, r->g));
    if (*code != 0) return NULL;
    if (again) return r;
    memcpy(at, r->x, r->inputs * sizeof *at);
    memcpy(at + r->inputs, r->w, r->outputs * sizeof *at);
    r->swept = at;
    return r;
}

/* Results of a sweep with their signs turned: of n inputs from `first` on. */
static int turned(wg_problem *p, const double *g, size_t n, N_Vector to) {
    double *const at = wgi_sundials_array(p, to, n);
    if (at == NULL) return -1;
    for (size_t i = 0; i < n; i++) at[i] = -g[i];
    return 0;
}

int wg_cvode_adjoint(sunrealtype t, N_Vector y, N_Vector yb, N_Vector ybdot, void *problem) {
    int code;
    wgi_room *const r = swept(problem, t, y, yb, 1, 0, &code);
    return code != 0 ? code : turned(problem, r->g + r->first, r->states, ybdot);
}

int wg_cvode_adjoint_quadrature(sunrealtype t, N_Vector y, N_Vector yb, N_Vector qbdot,
                                void *problem) {
    int code;
    wgi_room *const r = swept(problem, t, y, yb, 1, 1, &code);
    return code != 0 ? code : turned(problem, r->g + r->last, r->count, qbdot);
}

int wg_cvode_adjoint_times(N_Vector v, N_Vector jv, sunrealtype t, N_Vector y, N_Vector yb,
                           N_Vector fyb, void *problem, N_Vector tmp) {
    int code;
    wgi_room *const r = swept(problem, t, y, v, 0, 0, &code);
    (void)yb, (void)fyb, (void)tmp;
    return code != 0 ? code : turned(problem, r->g + r->first, r->states, jv);
}

int wg_cvode_adjoint_jacobian(sunrealtype t, N_Vector y, N_Vector yb, N_Vector fyb,
                              SUNMatrix jac, void *problem, N_Vector t1, N_Vector t2,
                              N_Vector t3) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, NULL);
    (void)yb, (void)fyb, (void)t1, (void)t2, (void)t3;
    return r == NULL ? -1 : wgi_sundials_jacobian(problem, r, 0, -1, 1, jac);
}
