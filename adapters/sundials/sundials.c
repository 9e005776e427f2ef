/* SPDX-License-Identifier: MIT */
/* sundials.c - points of calls, and the callbacks of IDA and KINSOL. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- room and points ----------------------------------------------------------------------- */

static void release(void *kept) {
    wgi_room *const r = kept;
    for (int k = 0; k < 4; k++)
        free(r->plan[k / 2][k % 2].slot), free(r->plan[k / 2][k % 2].start);
    free(r->x);
    free(r->entries);
    free(r);
}

/* Do the groups fit? */
static int are(const wg_problem *p, wgi_equations kind) {
    const size_t first = wg_problem_group(p, 0), second = wg_problem_group(p, 1),
                 m = wg_problem_outputs(p);
    switch (kind) {
    case WGI_RATES:
        return first == 1 && second != 0 && second <= m;
    case WGI_RESIDUAL:
        return first == 1 && second == 2 * m;
    default:
        return first == m;
    }
}

/* Sizes, of known equations. */
static wg_status measure(wg_problem *p, wgi_room *r, wgi_equations kind) {
    if (kind == WGI_UNKNOWN)
        kind = are(p, WGI_RATES) ? WGI_RATES : are(p, WGI_RESIDUAL) ? WGI_RESIDUAL : WGI_SYSTEM;
    r->group = kind != WGI_SYSTEM;
    r->first = r->group;
    r->states = kind == WGI_RATES ? wg_problem_group(p, 1) : wg_problem_outputs(p);
    r->inputs = wg_problem_inputs(p), r->outputs = wg_problem_outputs(p);
    r->last = r->first + wg_problem_group(p, r->group);
    r->count = r->inputs - r->last;
    if (!are(p, kind) || r->count != wg_problem_group(p, r->group + 1))
        return wg_problem_keep(
            p, WG_ESHAPE,
            "sundials: the groups are not those of rates, a residual or a system");
    r->x = calloc(4 * r->inputs + 3 * r->outputs + 1, sizeof *r->x);
    if (r->x == NULL) return wg_problem_keep(p, WG_ENOMEM, "out of memory");
    r->v = r->x + r->inputs, r->g = r->v + r->inputs;
    r->w = r->g + r->inputs, r->y = r->w + r->outputs;
    r->kind = kind;
    return WG_OK;
}

/* The room, whose equations may still be unknown. */
static wgi_room *any_room(wg_problem *p) {
    wgi_room *r = wg_problem_attached(p, release);
    if (r != NULL || p == NULL) return r;
    r = calloc(1, sizeof *r);
    if (r == NULL) wg_problem_keep(p, WG_ENOMEM, "out of memory");
    else wg_problem_attach(p, r, release);
    return r;
}

wgi_room *wgi_sundials_room(wg_problem *p, wgi_equations kind) {
    wgi_room *const r = any_room(p);
    if (r == NULL) return NULL;
    if (r->kind == WGI_UNKNOWN) return measure(p, r, kind) == WG_OK ? r : NULL;
    if (kind == WGI_UNKNOWN || kind == r->kind) return r;
    wg_problem_keep(p, WG_ESHAPE, "sundials: a callback for other equations than before");
    return NULL;
}

wg_status wg_sundials_parameters(wg_problem *p, const double *values) {
    if (p == NULL || values == NULL) return WG_ENULL;
    wgi_room *const r = any_room(p);
    if (r == NULL) return WG_ENOMEM;
    r->parameters = values;
    return WG_OK;
}

double *wgi_sundials_array(wg_problem *p, N_Vector v, size_t n) {
    double *const to = v == NULL ? NULL : N_VGetArrayPointer(v);
    if (to != NULL && (size_t)N_VGetLength(v) == n) return to;
    wg_problem_keep(p, to == NULL ? WG_ENULL : WG_ESHAPE,
                    to == NULL ? "sundials: a vector without an array"
                               : "sundials: a vector of another size than the problem's");
    return NULL;
}

/* There are few: a call of memcpy takes longer. */
static inline void copy(double *to, const double *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

wgi_room *wgi_sundials_point(wg_problem *p, const sunrealtype *t, N_Vector y, N_Vector yp) {
    wgi_room *const r = wgi_sundials_room(p, t == NULL    ? WGI_SYSTEM
                                             : yp == NULL ? WGI_RATES
                                                          : WGI_RESIDUAL);
    const double *const from = r == NULL ? NULL : wgi_sundials_array(p, y, r->states);
    const double *const slope =
        from == NULL || yp == NULL ? NULL : wgi_sundials_array(p, yp, r->states);
    if (from == NULL || (yp != NULL && slope == NULL)) return NULL;
    if (r->count != 0 && r->parameters == NULL) {
        wg_problem_keep(p, WG_ENULL, "sundials: wg_sundials_parameters was not called");
        return NULL;
    }
    if (t != NULL) r->x[0] = *t;
    copy(r->x + r->first, from, r->states);
    if (yp != NULL) copy(r->x + r->first + r->states, slope, r->states);
    copy(r->x + r->last, r->parameters, r->count);
    return r;
}

int wgi_sundials_code(wg_status s) {
    return s == WG_OK                                                       ? 0
           : s == WG_ENONFINITE || s == WG_ESINGULAR || s == WG_EDEGENERATE ? 1
                                                                            : -1;
}

int wgi_sundials_times(wg_problem *p, wgi_room *r, N_Vector jv) {
    double *const to = wgi_sundials_array(p, jv, r->states);
    if (to == NULL) return -1;
    const int direct = r->outputs == r->states;
    const wg_status s = wg_problem_jvp(p, r->x, r->v, NULL, direct ? to : r->y);
    if (s == WG_OK && !direct) memcpy(to, r->y, r->states * sizeof *to);
    return wgi_sundials_code(s);
}

/* ---- IDA, IDAS ----------------------------------------------------------------------------- */

int wg_ida_residual(sunrealtype t, N_Vector y, N_Vector yp, N_Vector r, void *problem) {
    wgi_room *const room = wgi_sundials_point(problem, &t, y, yp);
    double *const to = room == NULL ? NULL : wgi_sundials_array(problem, r, room->states);
    return to == NULL ? -1 : wgi_sundials_code(wg_problem_value(problem, room->x, to));
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

/* ---- KINSOL -------------------------------------------------------------------------------- */

int wg_kinsol_system(N_Vector u, N_Vector f, void *problem) {
    wgi_room *const room = wgi_sundials_point(problem, NULL, u, NULL);
    double *const to = room == NULL ? NULL : wgi_sundials_array(problem, f, room->states);
    return to == NULL ? -1 : wgi_sundials_code(wg_problem_value(problem, room->x, to));
}

int wg_kinsol_jacobian(N_Vector u, N_Vector f, SUNMatrix jac, void *problem, N_Vector t1,
                       N_Vector t2) {
    wgi_room *const room = wgi_sundials_point(problem, NULL, u, NULL);
    (void)f, (void)t1, (void)t2;
    return room == NULL ? -1 : wgi_sundials_jacobian(problem, room, 0, 1, 0, jac);
}

int wg_kinsol_times(N_Vector v, N_Vector jv, N_Vector u, int *new_u, void *problem) {
    wgi_room *const room = wgi_sundials_point(problem, NULL, u, NULL);
    const double *const from =
        room == NULL ? NULL : wgi_sundials_array(problem, v, room->states);
    (void)new_u;
    if (from == NULL) return -1;
    memcpy(room->v, from, room->states * sizeof *from);
    return wgi_sundials_times(problem, room, jv);
}
