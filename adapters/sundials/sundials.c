/* SPDX-License-Identifier: MIT */
/* sundials.c - points of calls, sweeps, and the callbacks of KINSOL. */
#include "internal.h"
#include <stdlib.h>
#include <string.h>

/* ---- room and points --------------------------------------------------------------------- */

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
        return first == 1 && second != 0 && second % 2 == 0 && second / 2 <= m;
    default:
        return first == m;
    }
}

/* Sizes, of known equations. */
static wg_status measure(wg_problem *p, wgi_room *r, wgi_equations kind) {
    if (kind == WGI_UNKNOWN)
        kind = are(p, WGI_RATES) ? WGI_RATES : are(p, WGI_RESIDUAL) ? WGI_RESIDUAL : WGI_SYSTEM;
    if (r->pattern != NULL && kind == WGI_SYSTEM)
        return wg_problem_keep(p, WG_ESHAPE,
                               "sundials: a callback for other equations than before");
    r->group = kind != WGI_SYSTEM;
    r->first = r->group;
    r->states = kind == WGI_RATES      ? wg_problem_group(p, 1)
                : kind == WGI_RESIDUAL ? wg_problem_group(p, 1) / 2
                                       : wg_problem_outputs(p);
    r->inputs = wg_problem_inputs(p), r->outputs = wg_problem_outputs(p);
    r->last = r->first + wg_problem_group(p, r->group);
    r->count = r->inputs - r->last;
    if (!are(p, kind) || r->count != wg_problem_group(p, r->group + 1))
        return wg_problem_keep(
            p, WG_ESHAPE,
            "sundials: the groups are not those of rates, a residual or a system");
    size_t more;
    (void)wg_problem_parameters(p, &more);
    r->x = calloc(4 * r->inputs + 3 * r->outputs + 3 * r->states + r->count + more + 1,
                  sizeof *r->x);
    if (r->x == NULL) return wg_problem_keep(p, WG_ENOMEM, "out of memory");
    r->v = r->x + r->inputs, r->g = r->v + r->inputs;
    r->w = r->g + r->inputs, r->y = r->w + r->outputs;
    r->slope = r->x + 4 * r->inputs + 3 * r->outputs;
    r->kind = kind;
    return WG_OK;
}

/* The room, whose equations may still be unknown. */
static wgi_room *any_room(wg_problem *p) {
    return wg_problem_room(p, sizeof(wgi_room), release);
}

wgi_room *wgi_sundials_room(wg_problem *p, wgi_equations kind) {
    wgi_room *const r = any_room(p);
    if (r == NULL) return NULL;
    if (r->kind == WGI_UNKNOWN && kind == WGI_UNKNOWN && are(p, WGI_RATES) &&
        are(p, WGI_RESIDUAL)) { /* with integrands; the next callback says which */
        r->group = 1;
        return r;
    }
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

/* What N_VGetArrayPointer and N_VGetLength do: the array of a vector of n; NULL: it is none. */
static inline double *array_of(N_Vector v, size_t n) {
    if (v == NULL || v->ops->nvgetarraypointer == NULL) return NULL;
    double *const to = v->ops->nvgetarraypointer(v);
    return to != NULL && (size_t)v->ops->nvgetlength(v) == n ? to : NULL;
}

double *wgi_sundials_array(wg_problem *p, N_Vector v, size_t n) {
    double *const to = array_of(v, n);
    if (to != NULL) return to;
    const int none =
        v == NULL || v->ops->nvgetarraypointer == NULL || v->ops->nvgetarraypointer(v) == NULL;
    wg_problem_keep(p, none ? WG_ENULL : WG_ESHAPE,
                    none ? "sundials: a vector without an array"
                         : "sundials: a vector of another size than the problem's");
    return NULL;
}

/* There are few: a call of memcpy takes longer. */
static inline void copy(double *to, const double *from, size_t n) {
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

wgi_room *wgi_sundials_point(wg_problem *p, const sunrealtype *t, N_Vector y, N_Vector yp) {
    const wgi_equations kind = t == NULL ? WGI_SYSTEM : yp == NULL ? WGI_RATES : WGI_RESIDUAL;
    wgi_room *r = wg_problem_attached(p, release);
    if (r == NULL || r->kind != kind) r = wgi_sundials_room(p, kind);
    const double *from = r == NULL ? NULL : array_of(y, r->states);
    if (from == NULL && r != NULL) from = wgi_sundials_array(p, y, r->states);
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

int wgi_sundials_code_of(wg_status s) {
    return s == WG_ENONFINITE || s == WG_ESINGULAR || s == WG_EDEGENERATE ? 1 : -1;
}

int wgi_sundials_times(wg_problem *p, wgi_room *r, N_Vector jv) {
    double *const to = wgi_sundials_array(p, jv, r->states);
    if (to == NULL) return -1;
    const int direct = r->outputs == r->states;
    const wg_status s = wg_problem_jvp(p, r->x, r->v, NULL, direct ? to : r->y);
    if (s == WG_OK && !direct) memcpy(to, r->y, r->states * sizeof *to);
    return wgi_sundials_code(s);
}

int wgi_sundials_integrands(wg_problem *p, wgi_room *r, N_Vector jv) {
    const wg_status s = wg_problem_jvp(p, r->x, r->v, NULL, r->y);
    if (s != WG_OK) return wgi_sundials_code(s);
    return wgi_sundials_give(p, 1, r->y + r->states, r->outputs - r->states, jv);
}

/* A sweep is kept for the quadrature that may follow it at the same point (`again`), and for
 * nothing else: what the callback reads beside may have changed since. */
int wgi_sundials_sweep(wg_problem *p, wgi_room *r, N_Vector yb, double integrands, int again) {
    const double *const from = wgi_sundials_array(p, yb, r->states);
    if (from == NULL) return -1;
    memcpy(r->w, from, r->states * sizeof *from);
    for (size_t k = r->states; k < r->outputs; k++) r->w[k] = integrands;
    double *const at = r->y + r->outputs; /* x and w that g is of */
    if (again && r->swept != NULL && memcmp(at, r->x, r->inputs * sizeof *at) == 0 &&
        memcmp(at + r->inputs, r->w, r->outputs * sizeof *at) == 0) {
        r->swept = NULL;
        return 0;
    }
    r->swept = NULL;
    const int code = wgi_sundials_code(wg_problem_vjp(p, r->x, r->w, NULL, r->g));
    if (code != 0 || again) return code;
    memcpy(at, r->x, r->inputs * sizeof *at);
    memcpy(at + r->inputs, r->w, r->outputs * sizeof *at);
    r->swept = at;
    return 0;
}

int wgi_sundials_give(wg_problem *p, double factor, const double *from, size_t n, N_Vector to) {
    double *const at = wgi_sundials_array(p, to, n);
    if (at == NULL) return -1;
    for (size_t i = 0; i < n; i++) at[i] = factor * from[i];
    return 0;
}

/* ---- KINSOL ------------------------------------------------------------------------------ */

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
