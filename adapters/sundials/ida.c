/* SPDX-License-Identifier: MIT */
/* ida.c - the callbacks of IDA and IDAS: residuals F(t, y, y', p), sensitivities, the adjoint
 * problem
 *
 *     (dF/dy')' yB' - (dF/dy)' yB + dg/dy = 0,
 *
 * of solutions along which dF/dy' stays what it is (Cao, Li, Petzold, Serban 2003, with that
 * term left out). */
#include "internal.h"
#include <string.h>

/* All outputs: the residual, then integrands. */
static wgi_room *evaluated(wg_problem *p, sunrealtype t, N_Vector y, N_Vector yp, int *code) {
    wgi_room *const r = wgi_sundials_point(p, &t, y, yp);
    *code = r == NULL ? -1 : wgi_sundials_code(wg_problem_value(p, r->x, r->y));
    return r;
}

int wg_ida_residual(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, void *problem) {
    int code;
    const wgi_room *const room = evaluated(problem, t, y, yp, &code);
    return code != 0 ? code : wgi_sundials_give(problem, 1, room->y, room->states, r);
}

int wg_ida_quadrature(sunrealtype t, N_Vector y, N_Vector yp, N_Vector qdot, void *problem) {
    int code;
    const wgi_room *const room = evaluated(problem, t, y, yp, &code);
    return code != 0 ? code
                     : wgi_sundials_give(problem, 1, room->y + room->states,
                                         room->outputs - room->states, qdot);
}

int wg_ida_jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp, N_Vector r,
                    SUNMatrix jac, void *problem, N_Vector t1, N_Vector t2, N_Vector t3) {
    wgi_room *const room = wgi_sundials_point(problem, &t, y, yp);
    (void)r, (void)t1, (void)t2, (void)t3;
    return room == NULL ? -1 : wgi_sundials_jacobian(problem, room, c, 1, 0, jac);
}

int wg_ida_times(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, N_Vector v, N_Vector jv,
                 sunrealtype c, void *problem, N_Vector t1, N_Vector t2) {
    wgi_room *const room = wgi_sundials_point(problem, &t, y, yp);
    const double *const from =
        room == NULL ? NULL : wgi_sundials_array(problem, v, room->states);
    (void)r, (void)t1, (void)t2;
    if (from == NULL) return -1;
    for (size_t i = 0; i < room->states; i++) {
        room->v[room->first + i] = from[i];
        room->v[room->first + room->states + i] = c * from[i];
    }
    return wgi_sundials_times(problem, room, jv);
}

/* ---- forward sensitivities --------------------------------------------------------------- */

/* The direction of sensitivity i: of y, of y', and of parameter i. */
static int along(wg_problem *p, wgi_room *r, int i, N_Vector s, N_Vector sp) {
    const double *const y = r == NULL ? NULL : wgi_sundials_array(p, s, r->states),
                        *const yp = y == NULL ? NULL : wgi_sundials_array(p, sp, r->states);
    if (yp == NULL) return 0;
    memset(r->v, 0, r->inputs * sizeof *r->v);
    memcpy(r->v + r->first, y, r->states * sizeof *y);
    memcpy(r->v + r->first + r->states, yp, r->states * sizeof *yp);
    if ((size_t)i < r->count) r->v[r->last + (size_t)i] = 1;
    return 1;
}

int wg_ida_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector yp, N_Vector r,
                       N_Vector *s, N_Vector *sp, N_Vector *sr, void *problem, N_Vector t1,
                       N_Vector t2, N_Vector t3) {
    wgi_room *const room = wgi_sundials_point(problem, &t, y, yp);
    (void)r, (void)t1, (void)t2, (void)t3;
    for (int i = 0; i < count; i++) {
        const int code = along(problem, room, i, s[i], sp[i])
                             ? wgi_sundials_times(problem, room, sr[i])
                             : -1;
        if (code != 0) return code;
    }
    return room == NULL ? -1 : 0;
}

int wg_ida_quadrature_sensitivity(int count, sunrealtype t, N_Vector y, N_Vector yp,
                                  N_Vector *s, N_Vector *sp, N_Vector qdot, N_Vector *sdot,
                                  void *problem, N_Vector t1, N_Vector t2, N_Vector t3) {
    wgi_room *const room = wgi_sundials_point(problem, &t, y, yp);
    (void)qdot, (void)t1, (void)t2, (void)t3;
    for (int i = 0; i < count; i++) {
        const int code = along(problem, room, i, s[i], sp[i])
                             ? wgi_sundials_integrands(problem, room, sdot[i])
                             : -1;
        if (code != 0) return code;
    }
    return room == NULL ? -1 : 0;
}

/* ---- the adjoint problem ----------------------------------------------------------------- */

/* (dF/dy')' w at the point of the room. */
static int by_slope(wg_problem *p, wgi_room *r, const double *w, double *to) {
    memset(r->w, 0, r->outputs * sizeof *r->w);
    memcpy(r->w, w, r->states * sizeof *w);
    r->swept = NULL;
    const int code = wgi_sundials_code(wg_problem_vjp(p, r->x, r->w, NULL, r->g));
    if (code == 0) memcpy(to, r->g + r->first + r->states, r->states * sizeof *to);
    return code;
}

/* Copies n numbers; were they others? */
static int renew(double *to, const double *from, size_t n) {
    if (n == 0 || memcmp(to, from, n * sizeof *to) == 0) return 0;
    memcpy(to, from, n * sizeof *to);
    return 1;
}

/* Is dF/dy' what it was at the first point for these parameters? By its product with a
 * direction that has nothing to do with it. */
static int check_slope(wg_problem *p, wgi_room *r) {
    const size_t n = r->states;
    double *const now = r->slope, *const direction = now + n, *const first = direction + n,
                  *const parameters = first + n;
    size_t more;
    const double *const others = wg_problem_parameters(p, &more);
    if (renew(parameters, r->x + r->last, r->count)) r->sloped = 0;
    if (renew(parameters + r->count, others, more)) r->sloped = 0;
    for (size_t i = 0; i < n && !r->sloped;
         i++) /* the fractional parts of multiples of the golden ratio */
        direction[i] = 1 + (double)((i + 1) * 2654435769u % 4294967296u) / 4294967296.0;
    const int code = by_slope(p, r, direction, r->sloped ? now : first);
    if (code != 0) return code;
    for (size_t i = 0; i < n && r->sloped; i++)
        if (now[i] != first[i])
            return wgi_sundials_code(wg_problem_keep(
                p, WG_EMODE, "sundials: wg_ida_adjoint: dF/dy' changes along the solution"));
    r->sloped = 1;
    return 0;
}

int wg_ida_adjoint(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb, N_Vector ypb,
                   N_Vector rb, void *problem) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, yp);
    const double *const slope = r == NULL ? NULL : wgi_sundials_array(problem, ypb, r->states);
    double *const to = slope == NULL ? NULL : wgi_sundials_array(problem, rb, r->states);
    if (to == NULL) return -1;
    int code = check_slope(problem, r);
    if (code == 0) code = by_slope(problem, r, slope, r->slope);
    if (code == 0) {
        /* -g: then the integrands' gradient comes with its own sign */
        code = wgi_sundials_sweep(problem, r, yb, -1, 0);
    }
    for (size_t i = 0; i < r->states && code == 0; i++)
        to[i] = r->slope[i] - r->g[r->first + i];
    return code;
}

int wg_ida_adjoint_quadrature(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb, N_Vector ypb,
                              N_Vector qbdot, void *problem) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, yp);
    const int code = r == NULL ? -1 : wgi_sundials_sweep(problem, r, yb, -1, 1);
    (void)ypb;
    return code != 0 ? code : wgi_sundials_give(problem, 1, r->g + r->last, r->count, qbdot);
}

int wg_ida_adjoint_jacobian(sunrealtype t, sunrealtype c, N_Vector y, N_Vector yp, N_Vector yb,
                            N_Vector ypb, N_Vector rb, SUNMatrix jac, void *problem,
                            N_Vector t1, N_Vector t2, N_Vector t3) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, yp);
    (void)yb, (void)ypb, (void)rb, (void)t1, (void)t2, (void)t3;
    return r == NULL ? -1 : wgi_sundials_jacobian(problem, r, -c, -1, 1, jac);
}

int wg_ida_adjoint_times(sunrealtype t, N_Vector y, N_Vector yp, N_Vector yb, N_Vector ypb,
                         N_Vector rb, N_Vector v, N_Vector jv, sunrealtype c, void *problem,
                         N_Vector t1, N_Vector t2) {
    wgi_room *const r = wgi_sundials_point(problem, &t, y, yp);
    double *const to = r == NULL ? NULL : wgi_sundials_array(problem, jv, r->states);
    (void)yb, (void)ypb, (void)rb, (void)t1, (void)t2;
    if (to == NULL) return -1;
    const int code = wgi_sundials_sweep(problem, r, v, 0, 0);
    for (size_t i = 0; i < r->states && code == 0; i++)
        to[i] = c * r->g[r->first + r->states + i] - r->g[r->first + i];
    return code;
}
