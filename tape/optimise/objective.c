/* SPDX-License-Identifier: MIT */
/* Objectives and residuals from callbacks, evaluated and swept as drivers do it. */
#include "search.h"
#include "tape/drivers/second_order.h"

#include <string.h>

wg_status wgi_minimise(wgi_objective *of, size_t n, double *x, const wg_minimise_options *o,
                       wg_minimise_result *result) {
    const wg_method method = o != NULL ? o->method : WG_LBFGS;
    const size_t pairs = o != NULL && o->memory != 0 ? o->memory : 10;
    if (method == WG_NEWTON_CG)
        return wgi_search_run(of, n, x, o, 0, wgi_newton_numbers(n), wgi_newton, result);
    if (method == WG_DESCENT)
        return wgi_search_run(of, n, x, o, 0, wgi_descent_numbers(&o->descent, n), wgi_descend,
                              result);
    return wgi_search_run(of, n, x, o, 0, wgi_lbfgs_numbers(n, pairs), wgi_lbfgs, result);
}

wg_status wgi_objective_failed(const wgi_objective *o, const char *driver, wg_status s) {
    if (s != WG_OK && strncmp(o->c->message, driver, strlen(driver)) == 0)
        wgi_fail_as(o->c, o->call);
    return s;
}

/* ---- of scalars ---- */

typedef struct scalars {
    wgi_objective of;
    wg_callback *f;
    void *data;
    size_t n, m;
    wgi_drive d; /* between open and close */
} scalars;

static wg_status scalar_gradient(wgi_objective *o, const double *x, double *value, double *g) {
    scalars *const p = (scalars *)o;
    const double one = 1;
    wgi_drive d;
    wg_status s = wgi_drive_open(&d, &o->c->head, o->call, p->f, p->data, p->n, 1, 0);
    if (s == WG_OK) s = wgi_drive_run(&d, 0, x);
    if (s == WG_OK) s = wgi_drive_reverse(&d, &one, g);
    if (s == WG_OK) *value = d.y[0].value;
    return wgi_drive_close(&d, s);
}

static wg_status scalar_open(wgi_objective *o, const double *x) {
    scalars *const p = (scalars *)o;
    const wg_status s = wgi_drive_open(&p->d, &o->c->head, o->call, p->f, p->data, p->n, 1, 0);
    return s == WG_OK ? wgi_drive_run(&p->d, 0, x) : s;
}
static wg_status scalar_product(wgi_objective *o, const double *v, double *hv) {
    return wgi_drive_second(&((scalars *)o)->d, 0, v, hv, NULL, 0);
}
static wg_status scalar_close(wgi_objective *o, wg_status s) {
    return wgi_drive_close(&((scalars *)o)->d, s);
}

static wg_status scalar_residuals(wgi_objective *o, const double *x, double *r, double *jac,
                                  size_t ld) {
    scalars *const p = (scalars *)o;
    wg_tape *const t = &o->c->head;
    if (jac == NULL)
        return wgi_objective_failed(o, "wg_eval", wg_eval(t, p->f, p->data, p->n, x, p->m, r));
    return wgi_objective_failed(
        o, "wg_jacobian",
        wg_jacobian(t, p->f, p->data, p->n, x, p->m, r, WG_COL_MAJOR, jac, ld));
}

static scalars scalars_of(wg_tape *t, const char *call, wg_callback *f, void *data, size_t m,
                          size_t n) {
    scalars p = {.of = {.c = t != NULL ? wgi_core_of(t) : NULL, .call = call},
                 .f = f,
                 .data = data,
                 .n = n,
                 .m = m};
    p.of.gradient = scalar_gradient;
    p.of.open = scalar_open;
    p.of.product = scalar_product;
    p.of.close = scalar_close;
    p.of.residuals = scalar_residuals;
    if (f == NULL) {
        p.of.refused = WG_ENULL;
        p.of.why = "the function is NULL";
    }
    return p;
}

/* Newton-CG needs a tape that keeps its code. */
static void look_at_mode(wgi_objective *of, const wg_minimise_options *o) {
    if (of->refused != WG_OK || o == NULL || o->method != WG_NEWTON_CG || of->c == NULL) return;
    if (of->c->flags & WG_KEEP_CODE) return;
    of->refused = WG_EMODE;
    of->why = "Newton-CG on a tape that was not opened with WG_KEEP_CODE";
}

wg_status wg_minimise(wg_tape *t, wg_callback *f, void *data, size_t n, double *x,
                      const wg_minimise_options *o, wg_minimise_result *result) {
    scalars p = scalars_of(t, "wg_minimise", f, data, 1, n);
    look_at_mode(&p.of, o);
    return wgi_minimise(&p.of, n, x, o, result);
}

wg_status wg_fit(wg_tape *t, wg_callback *f, void *data, size_t m, size_t n, double *x,
                 const wg_minimise_options *o, wg_minimise_result *result, double *deviation) {
    scalars p = scalars_of(t, "wg_fit", f, data, m, n);
    return wgi_fit(&p.of, m, n, x, o, result, deviation);
}

/* ---- of matrices ---- */

typedef struct matrices {
    wgi_objective of;
    wg_mat_callback *f;
    void *data;
    size_t n;
    const wg_mat_result *shape; /* of the matrices, where the user has them */
    wg_mat_values *x, *v;       /* in the vectors of the search */
    wg_mat_result *g, *hv;
} matrices;

/* The matrices in one vector, column after column. */
static void cut_values(const matrices *p, const double *x, wg_mat_values *to) {
    for (size_t i = 0; i < p->n; i++) {
        to[i] = (wg_mat_values){x, p->shape[i].rows, p->shape[i].cols, 0};
        x += p->shape[i].rows * p->shape[i].cols;
    }
}
static void cut_results(const matrices *p, double *x, wg_mat_result *to) {
    for (size_t i = 0; i < p->n; i++) {
        to[i] = (wg_mat_result){x, p->shape[i].rows, p->shape[i].cols, 0};
        x += p->shape[i].rows * p->shape[i].cols;
    }
}

static wg_status mat_gradient(wgi_objective *o, const double *x, double *value, double *g) {
    matrices *const p = (matrices *)o;
    cut_values(p, x, p->x);
    cut_results(p, g, p->g);
    return wgi_objective_failed(
        o, "wg_mat_gradient",
        wg_mat_gradient(&o->c->head, p->f, p->data, p->n, p->x, value, p->g));
}

static wg_status mat_open(wgi_objective *o, const double *x) {
    matrices *const p = (matrices *)o;
    cut_values(p, x, p->x);
    return WG_OK;
}
static wg_status mat_product(wgi_objective *o, const double *v, double *hv) {
    matrices *const p = (matrices *)o;
    cut_values(p, v, p->v);
    cut_results(p, hv, p->hv);
    return wgi_objective_failed(
        o, "wg_mat_hvp",
        wg_mat_hvp(&o->c->head, p->f, p->data, p->n, p->x, p->v, 1, NULL, NULL, NULL, p->hv));
}

/* From the user's matrices to one vector, or back. */
static void copy_elements(const matrices *p, double *all, int back) {
    for (size_t i = 0; i < p->n; i++) {
        const wg_mat_result *const a = &p->shape[i];
        const size_t ld = a->ld != 0 ? a->ld : a->rows;
        for (size_t k = 0; k < a->cols; k++, all += a->rows) {
            double *const column = a->value + k * ld;
            if (a->rows != 0)
                memcpy(back ? column : all, back ? all : column, a->rows * sizeof *all);
        }
    }
}

/* How many elements there are; refuses matrices that are NULL or too large. */
static size_t count_elements(matrices *p) {
    size_t all = 0;
    for (size_t i = 0; i < p->n && p->of.refused == WG_OK; i++) {
        const wg_mat_result *const a = &p->shape[i];
        if (a->cols != 0 && a->rows > SIZE_MAX / 128 / a->cols) p->of.refused = WG_ENOMEM;
        else if (a->rows != 0 && a->cols != 0 && a->value == NULL) p->of.refused = WG_ENULL;
        else if (a->ld != 0 && a->ld < a->rows) p->of.refused = WG_ESHAPE;
        else if (all > SIZE_MAX / 128 - a->rows * a->cols) p->of.refused = WG_ENOMEM;
        else all += a->rows * a->cols;
        p->of.why = p->of.refused == WG_ENULL ? "a matrix of x is NULL"
                    : p->of.refused == WG_ESHAPE
                        ? "a leading dimension of x is less than its rows"
                        : "too many elements";
    }
    return all;
}

wg_status wg_mat_minimise(wg_tape *t, wg_mat_callback *f, void *data, size_t n,
                          const wg_mat_result *x, const wg_minimise_options *o,
                          wg_minimise_result *result) {
    matrices p = {.of = {.c = t != NULL ? wgi_core_of(t) : NULL, .call = "wg_mat_minimise"},
                  .f = f,
                  .data = data,
                  .n = n,
                  .shape = x};
    p.of.gradient = mat_gradient;
    p.of.open = mat_open;
    p.of.product = mat_product;
    if (f == NULL || (x == NULL && n != 0)) {
        p.of.refused = WG_ENULL;
        p.of.why = f == NULL ? "the function is NULL" : "x is NULL";
    }
    look_at_mode(&p.of, o);
    const size_t all = count_elements(&p);
    if (p.of.c == NULL || p.of.refused != WG_OK) return wgi_minimise(&p.of, 0, NULL, o, result);
    wgi_home home;
    void *base = NULL;
    wg_status s = n > SIZE_MAX / 1024
                      ? WG_ENOMEM
                      : wgi_home_obtain(
                            p.of.c, all * sizeof(double) + 4 * (n + 1) * sizeof(wg_mat_values),
                            &home, &base);
    if (s != WG_OK) {
        p.of.refused = s;
        p.of.why = "no room for the matrices";
        return wgi_minimise(&p.of, 0, NULL, o, result);
    }
    p.x = base;
    p.v = p.x + n + 1;
    p.g = (wg_mat_result *)(void *)(p.v + n + 1);
    p.hv = p.g + n + 1;
    double *const start = (double *)(void *)(p.hv + n + 1);
    copy_elements(&p, start, 0);
    s = wgi_minimise(&p.of, all, start, o, result);
    copy_elements(&p, start, 1);
    wgi_home_release(&home, base);
    return s;
}
