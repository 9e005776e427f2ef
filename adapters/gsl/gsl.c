/* SPDX-License-Identifier: MIT */
/* gsl.c - GSL's functions over a problem. Vectors with a stride are copied; where they lie side
 * by side they are used where they are. */
#include "wengert/gsl.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <stdlib.h>
#include <string.h>

/* Room for copies, kept with the problem: of points, directions, results, entries of a
 * Jacobian. */
typedef struct room {
    double *x, *v, *y, *entries;
    const wg_pattern *pattern; /* of the Jacobian, when J' J has been asked for */
} room;

static void release(void *kept) {
    room *const r = kept;
    free(r->x);
    free(r->entries);
    free(r);
}

/* NULL: no memory, which the first call finds. */
static room *room_of(wg_problem *p) {
    const size_t n = wg_problem_inputs(p), m = wg_problem_outputs(p), most = n > m ? n : m;
    room *r = wg_problem_attached(p, release);
    if (r != NULL || p == NULL) return r;
    r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->x = malloc((n + 2 * most + 1) * sizeof *r->x);
    if (r->x == NULL) {
        free(r);
        return NULL;
    }
    r->v = r->x + n, r->y = r->v + most;
    wg_problem_attach(p, r, release);
    return r;
}

static int code(wg_status s) {
    return s == WG_OK ? GSL_SUCCESS : s == WG_ENONFINITE ? GSL_EDOM : GSL_EBADFUNC;
}

/* The numbers of v side by side: where they are, or copied to `to`. */
static const double *gathered(const gsl_vector *v, double *to) {
    if (v->stride == 1) return v->data;
    for (size_t i = 0; i < v->size; i++) to[i] = gsl_vector_get(v, i);
    return to;
}

/* Where n results are to be written, and afterwards, if that was in `from`, to v. */
static double *place(gsl_vector *v, double *to) { return v->stride == 1 ? v->data : to; }
static void scatter(const double *from, gsl_vector *v) {
    if (v->stride == 1) return;
    for (size_t i = 0; i < v->size; i++) gsl_vector_set(v, i, from[i]);
}

/* The room, if a point and a result (NULL: one number) have the sizes of the problem. */
static room *fits(wg_problem *p, const gsl_vector *x, const gsl_vector *y) {
    const int well = p != NULL && wg_problem_inputs(p) == x->size &&
                     wg_problem_outputs(p) == (y == NULL ? 1 : y->size);
    return well ? room_of(p) : NULL;
}

/* ---- systems of equations, residuals ----------------------------------------------------- */

static int value(const gsl_vector *x, void *problem, gsl_vector *f) {
    room *const r = fits(problem, x, f);
    if (r == NULL) return GSL_EBADFUNC;
    const wg_status s = wg_problem_value(problem, gathered(x, r->x), place(f, r->y));
    if (s == WG_OK) scatter(r->y, f);
    return code(s);
}

static int jacobian(const gsl_vector *x, void *problem, gsl_matrix *j) {
    room *const r = room_of(problem);
    if (r == NULL || j->size2 != x->size || j->size1 != wg_problem_outputs(problem) ||
        j->size2 != wg_problem_inputs(problem))
        return GSL_EBADFUNC;
    return code(
        wg_problem_jacobian(problem, 0, gathered(x, r->x), WG_ROW_MAJOR, j->data, j->tda));
}

static int value_and_jacobian(const gsl_vector *x, void *problem, gsl_vector *f,
                              gsl_matrix *j) {
    const int s = value(x, problem, f);
    return s == GSL_SUCCESS ? jacobian(x, problem, j) : s;
}

static int second(const gsl_vector *x, const gsl_vector *v, void *problem, gsl_vector *fvv) {
    room *const r = fits(problem, x, fvv);
    if (r == NULL || v->size != x->size) return GSL_EBADFUNC;
    const wg_status s =
        wg_problem_second(problem, gathered(x, r->x), gathered(v, r->v), place(fvv, r->y));
    if (s == WG_OK) scatter(r->y, fvv);
    return code(s);
}

gsl_multiroot_function_fdf wg_gsl_multiroot(wg_problem *p) {
    return (gsl_multiroot_function_fdf){value, jacobian, value_and_jacobian,
                                        wg_problem_inputs(p), p};
}

gsl_multifit_nlinear_fdf wg_gsl_multifit(wg_problem *p) {
    return (gsl_multifit_nlinear_fdf){.f = value,
                                      .df = jacobian,
                                      .fvv = second,
                                      .n = wg_problem_outputs(p),
                                      .p = wg_problem_inputs(p),
                                      .params = p};
}

/* ---- large fits -------------------------------------------------------------------------- */

/* Pattern and room of the sparse Jacobian, at first. */
static wg_status prepare(wg_problem *p, room *r, const double *x) {
    if (r->pattern != NULL) return WG_OK;
    const wg_status s = wg_problem_jacobian_pattern(p, 0, x, WG_ROW_MAJOR, &r->pattern);
    if (s != WG_OK) return s;
    r->entries = malloc((r->pattern->entries + 1) * sizeof *r->entries);
    if (r->entries != NULL) return WG_OK;
    r->pattern = NULL;
    return WG_ENOMEM;
}

/* J' J, row by row of J; both triangles. */
static wg_status normal_matrix(wg_problem *p, room *r, const double *x, gsl_matrix *jtj) {
    wg_status s = prepare(p, r, x);
    if (s == WG_OK) s = wg_problem_sparse_jacobian(p, x, NULL, r->entries);
    if (s != WG_OK) return s;
    const wg_pattern *const at = r->pattern;
    gsl_matrix_set_zero(jtj);
    for (size_t row = 0; row < at->rows; row++)
        for (size_t k = at->start[row]; k < at->start[row + 1]; k++)
            for (size_t l = at->start[row]; l < at->start[row + 1]; l++)
                jtj->data[at->col[k] * jtj->tda + at->col[l]] += r->entries[k] * r->entries[l];
    return WG_OK;
}

static int large_jacobian(CBLAS_TRANSPOSE_t trans, const gsl_vector *x, const gsl_vector *u,
                          void *problem, gsl_vector *v, gsl_matrix *jtj) {
    room *const r = room_of(problem);
    const size_t n = wg_problem_inputs(problem), m = wg_problem_outputs(problem);
    const int across = trans != CblasNoTrans;
    if (r == NULL || x->size != n ||
        (v != NULL &&
         (u == NULL || v->size != (across ? n : m) || u->size != (across ? m : n))) ||
        (jtj != NULL && (jtj->size1 != n || jtj->size2 != n)))
        return GSL_EBADFUNC;
    const double *const at = gathered(x, r->x);
    wg_status s = WG_OK;
    if (v != NULL) {
        const double *const along = gathered(u, r->v);
        s = across ? wg_problem_vjp(problem, at, along, NULL, place(v, r->y))
                   : wg_problem_jvp(problem, at, along, NULL, place(v, r->y));
        if (s == WG_OK) scatter(r->y, v);
    }
    if (s == WG_OK && jtj != NULL) s = normal_matrix(problem, r, at, jtj);
    return code(s);
}

gsl_multilarge_nlinear_fdf wg_gsl_multilarge(wg_problem *p) {
    return (gsl_multilarge_nlinear_fdf){.f = value,
                                        .df = large_jacobian,
                                        .fvv = second,
                                        .n = wg_problem_outputs(p),
                                        .p = wg_problem_inputs(p),
                                        .params = p};
}

/* ---- minimisers -------------------------------------------------------------------------- */

static void objective_and_gradient(const gsl_vector *x, void *problem, double *f,
                                   gsl_vector *g) {
    room *const r = fits(problem, x, NULL);
    double *const to = r == NULL ? NULL : place(g, r->y);
    if (r != NULL && wg_problem_gradient(problem, gathered(x, r->x), f, to) == WG_OK) {
        scatter(to, g);
        return;
    }
    if (f != NULL) *f = GSL_NAN;
    gsl_vector_set_all(g, GSL_NAN);
}

static double objective(const gsl_vector *x, void *problem) {
    double f;
    room *const r = fits(problem, x, NULL);
    return r != NULL && wg_problem_value(problem, gathered(x, r->x), &f) == WG_OK ? f : GSL_NAN;
}

static void gradient(const gsl_vector *x, void *problem, gsl_vector *g) {
    objective_and_gradient(x, problem, NULL, g);
}

gsl_multimin_function_fdf wg_gsl_multimin(wg_problem *p) {
    return (gsl_multimin_function_fdf){objective, gradient, objective_and_gradient,
                                       wg_problem_inputs(p), p};
}

/* ---- ordinary differential equations ----------------------------------------------------- */

/* t and y side by side. */
static const double *moment(wg_problem *p, double t, const double *y) {
    room *const r = room_of(p);
    const size_t m = wg_problem_outputs(p);
    if (r == NULL || wg_problem_inputs(p) != m + 1 || wg_problem_group(p, 1) != m) return NULL;
    r->x[0] = t;
    memcpy(r->x + 1, y, m * sizeof *y);
    return r->x;
}

static int rate(double t, const double *y, double *dydt, void *problem) {
    const double *const x = moment(problem, t, y);
    return x == NULL ? GSL_EBADFUNC : code(wg_problem_value(problem, x, dydt));
}

static int rate_jacobian(double t, const double *y, double *dfdy, double *dfdt, void *problem) {
    const double *const x = moment(problem, t, y);
    if (x == NULL) return GSL_EBADFUNC;
    wg_status s =
        wg_problem_jacobian(problem, 1, x, WG_ROW_MAJOR, dfdy, wg_problem_outputs(problem));
    if (s == WG_OK) s = wg_problem_jacobian(problem, 0, x, WG_ROW_MAJOR, dfdt, 1);
    return code(s);
}

gsl_odeiv2_system wg_gsl_odeiv2(wg_problem *p) {
    return (gsl_odeiv2_system){rate, rate_jacobian, wg_problem_outputs(p), p};
}
