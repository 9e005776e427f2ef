/* SPDX-License-Identifier: MIT */
/* Objectives and residuals that are recorded functions: their derivatives are made once, and
 * evaluated at all points.
 *
 * Variables of the search are the entries of the inputs that are differentiated, one after the
 * other. Residuals are ordered by output, entry, point. */
#include "search.h"

#include <string.h>
#include <wengert/derive.h>

typedef struct functions {
    wgi_objective of;
    const wg_function *f;
    size_t points, n, m; /* variables, residuals */
    const wg_points *in;
    wg_threads *threads;
    wg_function *first,
        *second; /* f with its gradient or Jacobian; products with the Hessian */
    wgi_home home;
    void *base;
    wg_points *x; /* of the inputs, and of what derivatives have beside */
    wg_results *y;
    double *jac; /* all Jacobians, output by output, input by input, point by point */
    void *work;
} functions;

static size_t entries(const wg_argument *a) { return a->rows * a->cols; }
static int is_active(const wg_argument *a) { return !(a->flags & WG_PASSIVE); }

static wg_status evaluate(functions *p, const wg_function *f) {
    wg_function_guard guard = {0, 0};
    const wg_status s =
        wg_function_evaluate(f, p->points, p->x, p->y, p->threads, p->work, &guard);
    if (s == WG_EGUARD)
        return wgi_fail(p->of.c, s, "%s: comparison %zu comes out differently at point %zu",
                        p->of.call, guard.guard, guard.point);
    return s == WG_OK
               ? s
               : wgi_fail(p->of.c, s, "%s: the function: %s", p->of.call, wg_status_text(s));
}

/* The inputs at x; v, for those that are differentiated, go behind them. */
static void set_inputs(functions *p, const double *x, const double *v) {
    size_t more = wg_function_inputs(p->f);
    for (size_t i = 0; i < wg_function_inputs(p->f); i++) {
        const wg_argument *const a = wg_function_input(p->f, i);
        if (!is_active(a)) {
            p->x[i] = p->in[i];
            continue;
        }
        p->x[i] = (wg_points){x, 0, 1};
        x += entries(a);
        if (v == NULL) continue;
        p->x[more++] = (wg_points){v, 0, 1};
        v += entries(a);
    }
}

/* Outputs from number `from` on are derivatives by all variables. */
static void set_derivatives(functions *p, size_t from, double *g) {
    for (size_t i = 0; i < wg_function_inputs(p->f); i++) {
        const wg_argument *const a = wg_function_input(p->f, i);
        if (!is_active(a)) continue;
        p->y[from++] = (wg_results){g, 0, 1};
        g += entries(a);
    }
}

static wg_status gradient(wgi_objective *o, const double *x, double *value, double *g) {
    functions *const p = (functions *)o;
    set_inputs(p, x, NULL);
    p->y[0] = (wg_results){value, 0, 1};
    set_derivatives(p, 1, g);
    return evaluate(p, p->first);
}

/* The point stays in p->x; products change what stands behind it only. */
static wg_status open(wgi_objective *o, const double *x) {
    set_inputs((functions *)o, x, x);
    return WG_OK;
}
static wg_status product(wgi_objective *o, const double *v, double *hv) {
    functions *const p = (functions *)o;
    size_t more = wg_function_inputs(p->f);
    for (size_t i = 0; i < wg_function_inputs(p->f); i++) {
        const wg_argument *const a = wg_function_input(p->f, i);
        if (!is_active(a)) continue;
        p->x[more++] = (wg_points){v, 0, 1};
        v += entries(a);
    }
    set_derivatives(p, 0, hv);
    return evaluate(p, p->second);
}

/* From one Jacobian of all points, an output of m by an input of n, to its rows and columns. */
static const double *put_jacobian(const functions *p, const double *from, size_t m, size_t n,
                                  double *to, size_t ld) {
    for (size_t k = 0; k < p->points; k++)
        for (size_t j = 0; j < m; j++)
            for (size_t i = 0; i < n; i++) to[j * p->points + k + i * ld] = *from++;
    return from;
}

static wg_status residuals(wgi_objective *o, const double *x, double *r, double *jac,
                           size_t ld) {
    functions *const p = (functions *)o;
    const size_t inputs = wg_function_inputs(p->f), outputs = wg_function_outputs(p->f);
    size_t row = 0, next = outputs;
    double *block = p->jac;
    set_inputs(p, x, NULL);
    for (size_t k = 0; k < outputs; k++) {
        const size_t m = entries(wg_function_output(p->f, k));
        p->y[k] = (wg_results){r + row, 1, (ptrdiff_t)p->points};
        row += m * p->points;
        for (size_t i = 0; i < inputs && jac != NULL; i++) {
            const wg_argument *const a = wg_function_input(p->f, i);
            if (!is_active(a)) continue;
            p->y[next++] = (wg_results){block, (ptrdiff_t)(m * entries(a)), 1};
            block += m * entries(a) * p->points;
        }
    }
    if (jac == NULL) return evaluate(p, p->f);
    const wg_status s = evaluate(p, p->first);
    const double *from = p->jac;
    row = 0;
    for (size_t k = 0; k < outputs && s == WG_OK; k++) {
        const size_t m = entries(wg_function_output(p->f, k));
        for (size_t i = 0, column = 0; i < inputs; i++) {
            const wg_argument *const a = wg_function_input(p->f, i);
            if (!is_active(a)) continue;
            from = put_jacobian(p, from, m, entries(a), jac + row + column * ld, ld);
            column += entries(a);
        }
        row += m * p->points;
    }
    return s;
}

/* ---- what is asked of the function ---- */

static void refuse(functions *p, wg_status s, const char *why) {
    if (p->of.refused != WG_OK) return;
    p->of.refused = s;
    p->of.why = why;
}

static size_t times(size_t a, size_t b) {
    return a != 0 && b > SIZE_MAX / 128 / a ? SIZE_MAX / 128 : a * b;
}

static void check(functions *p, int fit) {
    if (p->f == NULL) {
        refuse(p, WG_ENULL, "the function is NULL");
        return;
    }
    for (size_t i = 0; i < wg_function_inputs(p->f); i++) {
        const wg_argument *const a = wg_function_input(p->f, i);
        if (!is_active(a) && p->in == NULL)
            refuse(p, WG_ENULL, "there are passive inputs, and in is NULL");
        if (is_active(a) && p->points != 1 && !(a->flags & WG_SHARED))
            refuse(p, WG_ESHAPE, "an input that is not passive has a value for each point");
        if (is_active(a)) p->n += entries(a);
    }
    for (size_t k = 0; k < wg_function_outputs(p->f); k++) {
        const wg_argument *const a = wg_function_output(p->f, k);
        if (fit && (a->flags & WG_SUMMED)) refuse(p, WG_ESHAPE, "a residual is a sum");
        if (!fit && p->points != 1 && !(a->flags & WG_SUMMED))
            refuse(p, WG_ESHAPE, "the output is not a sum over the points");
        p->m += times(entries(a), p->points);
    }
    if (p->m > SIZE_MAX / 128) refuse(p, WG_ENOMEM, "too many residuals");
    if (!fit && (wg_function_outputs(p->f) != 1 || p->m / p->points != 1))
        refuse(p, WG_ESHAPE, "the function has not one output of one entry");
}

/* Derivatives, and room for them. */
static wg_status derive(functions *p, int fit, int products) {
    wg_tape *const t = &p->of.c->head;
    wg_function *d = NULL;
    wg_status s = fit ? wg_function_jacobian(t, p->f, &d) : wg_function_gradient(t, p->f, &d);
    if (s == WG_OK) {
        const wg_function *const both[2] = {p->f, d};
        s = wg_function_join(t, 2, both, &p->first);
    }
    wg_function_free(d);
    if (s == WG_OK && products) s = wg_function_hvp(t, p->f, &p->second);
    if (s != WG_OK) return s;
    const size_t inputs = 2 * wg_function_inputs(p->f) + 1;
    const size_t outputs = wg_function_outputs(p->first) + wg_function_inputs(p->f) + 1;
    const size_t jac = fit ? times(p->m, p->n) : 0;
    size_t work = wg_function_work(p->first, p->threads);
    const size_t alone = wg_function_work(p->f, p->threads);
    const size_t second = p->second != NULL ? wg_function_work(p->second, p->threads) : 0;
    work = work < alone ? alone : work;
    work = work < second ? second : work;
    const size_t lists =
        (inputs * sizeof(wg_points) + outputs * sizeof(wg_results) + 63) & ~(size_t)63;
    const size_t matrix = (jac * sizeof(double) + 63) & ~(size_t)63;
    s = wgi_home_obtain(p->of.c, lists + matrix + work, &p->home, &p->base);
    if (s != WG_OK)
        return wgi_fail(p->of.c, s, "%s: no room to evaluate the function", p->of.call);
    p->x = p->base;
    p->y = (wg_results *)(void *)(p->x + inputs);
    p->jac = (double *)(void *)((char *)p->base + lists);
    p->work = (char *)p->base + lists + matrix;
    return WG_OK;
}

/* A search with the function; fit: of least squares. */
static wg_status run(wg_tape *t, const char *call, const wg_function *f, size_t points,
                     const wg_points *in, wg_threads *threads, int fit, double *x,
                     const wg_minimise_options *o, wg_minimise_result *result,
                     double *deviation) {
    functions p = {.of = {.c = t != NULL ? wgi_core_of(t) : NULL, .call = call},
                   .f = f,
                   .points = points,
                   .in = in,
                   .threads = threads};
    p.of.gradient = gradient;
    p.of.open = open;
    p.of.product = product;
    p.of.residuals = residuals;
    if (points == 0) refuse(&p, WG_EARG, "there are no points");
    else check(&p, fit);
    char why[sizeof p.of.c->message];
    if (t != NULL && p.of.refused == WG_OK) {
        const wg_status s = derive(&p, fit, !fit && o != NULL && o->method == WG_NEWTON_CG);
        if (s != WG_OK) {
            memcpy(why, p.of.c->message, sizeof why);
            refuse(&p, s, why);
        }
    }
    const wg_status s = fit ? wgi_fit(&p.of, p.m, p.n, x, o, result, deviation)
                            : wgi_minimise(&p.of, p.n, x, o, result);
    wg_function_free(p.first);
    wg_function_free(p.second);
    if (p.base != NULL) wgi_home_release(&p.home, p.base);
    return s;
}

wg_status wg_function_minimise(wg_tape *t, const wg_function *f, size_t points,
                               const wg_points *in, wg_threads *threads, double *x,
                               const wg_minimise_options *o, wg_minimise_result *result) {
    return run(t, "wg_function_minimise", f, points, in, threads, 0, x, o, result, NULL);
}

wg_status wg_function_fit(wg_tape *t, const wg_function *f, size_t points, const wg_points *in,
                          wg_threads *threads, double *x, const wg_minimise_options *o,
                          wg_minimise_result *result, double *deviation) {
    return run(t, "wg_function_fit", f, points, in, threads, 1, x, o, result, deviation);
}
