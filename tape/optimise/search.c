/* SPDX-License-Identifier: MIT */
/* A search is begun, watched and ended: options, memory, bounds, what is written down of each
 * step, and the reasons to stop that all methods share. */
#include "search.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- vectors ---- */

double wgi_search_dot(size_t n, const double *a, const double *b) {
    double sum[4] = {0}; /* side by side: no addition waits for the one before */
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t l = 0; l < 4; l++) sum[l] += a[i + l] * b[i + l];
    for (; i < n; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double wgi_search_norm(size_t n, const double *a) {
    double scale = 0, sum = 0; /* no overflow before the norm itself does */
    for (size_t j = 0; j < n; j++)
        if (fabs(a[j]) > scale || isnan(a[j])) scale = fabs(a[j]);
    if (!(scale > 0) || isinf(scale)) return scale;
    for (size_t j = 0; j < n; j++) sum += a[j] / scale * (a[j] / scale);
    return scale * sqrt(sum);
}

/* ---- bounds ---- */

static double lower(const wgi_search *s, size_t j) {
    return s->o.lower != NULL ? s->o.lower[j] : -INFINITY;
}
static double upper(const wgi_search *s, size_t j) {
    return s->o.upper != NULL ? s->o.upper[j] : INFINITY;
}

double wgi_search_inside(const wgi_search *s, size_t j, double x) {
    const double l = lower(s, j), u = upper(s, j);
    return x < l ? l : x > u ? u : x;
}

int wgi_search_is_held(const wgi_search *s, size_t j, double x, double g) {
    return (g > 0 && x <= lower(s, j)) || (g < 0 && x >= upper(s, j));
}

/* Entry j of the projected gradient. */
static double projected(const wgi_search *s, size_t j, double x, double g) {
    return g > 0 ? fmin(g, x - lower(s, j)) : g < 0 ? fmax(g, x - upper(s, j)) : g;
}

double wgi_search_slope(const wgi_search *s, const double *x, const double *g) {
    if (!wgi_search_is_bounded(s)) return wgi_search_norm(s->n, g);
    double scale = 0, sum = 0;
    for (size_t j = 0; j < s->n; j++) {
        const double p = fabs(projected(s, j, x[j], g[j]));
        if (p > scale || isnan(p)) scale = p;
    }
    if (!(scale > 0) || isinf(scale)) return scale;
    for (size_t j = 0; j < s->n; j++) {
        const double p = projected(s, j, x[j], g[j]) / scale;
        sum += p * p;
    }
    return scale * sqrt(sum);
}

/* ---- evaluating ---- */

void wgi_search_scale(const wgi_search *s, double *a) {
    for (size_t j = 0; s->scale != 0 && j < s->n; j++) a[j] = ldexp(a[j], s->scale);
}

wg_status wgi_search_evaluate(wgi_search *s, const double *x, double *value, double *g,
                              int *finite) {
    s->result->evaluations++;
    const wg_status r = s->of->gradient(s->of, x, value, g);
    if (s->scale != 0) *value = ldexp(*value, s->scale);
    wgi_search_scale(s, g);
    *finite = r == WG_OK && isfinite(*value) && wgi_all_finite(s->n, g);
    return r;
}

/* Gradients whose squares are in the range of numbers are left as they are; of descent all, as
 * its steps are in proportion to them. The value stays in that range, too. */
static void choose_scale(wgi_search *s) {
    const double length = wgi_search_norm(s->n, s->g);
    if (s->o.method == WG_DESCENT || length == 0) return;
    if (length >= 0x1p-300 && length <= 0x1p300) return;
    s->scale = -ilogb(length);
    const int room = s->value != 0 ? 1000 - ilogb(s->value) : s->scale;
    if (s->scale > room) s->scale = room > 0 ? room : 0;
    s->value = ldexp(s->value, s->scale);
    wgi_search_scale(s, s->g);
    s->o.gradient = ldexp(s->o.gradient, s->scale);
}

wg_status wgi_search_begin(wgi_search *s) {
    int finite = 0;
    const wg_status r = wgi_search_evaluate(s, s->x, &s->value, s->g, &finite);
    if (r != WG_OK) return r;
    if (!finite)
        return wgi_fail(s->of->c, WG_ENONFINITE,
                        "%s: the value or the gradient at the start is NaN or infinite",
                        s->of->call);
    choose_scale(s);
    s->slope = wgi_search_slope(s, s->x, s->g);
    if (s->o.gradient == 0) s->o.gradient = 1e-8 * s->slope;
    return WG_OK;
}

/* ---- each step ---- */

int wgi_search_is_over(wgi_search *s, size_t k, double rate) {
    wg_minimise_result *const r = s->result;
    const double value = ldexp(s->value, -s->scale), slope = ldexp(s->slope, -s->scale);
    const wg_minimise_step step = {k, r->evaluations, value, slope, rate};
    r->steps = k;
    r->value = value;
    r->gradient = slope;
    if (s->o.history != NULL && k < s->o.history_size) s->o.history[k] = step;
    const int stops =
        s->o.progress != NULL && s->o.progress(s->o.context, &step, s->n, s->x) != 0;
    if (s->slope <= s->o.gradient) r->why = WG_STOP_GRADIENT;
    else if (stops) r->why = WG_STOP_PROGRESS;
    else if (k >= s->o.limit) r->why = WG_STOP_LIMIT;
    else return 0;
    return 1;
}

int wgi_search_is_settled(wgi_search *s, const double *from, double value) {
    if (s->o.value > 0 && fabs(value - s->value) <= s->o.value * fabs(value)) {
        s->result->why = WG_STOP_VALUE;
        return 1;
    }
    if (!(s->o.step > 0)) return 0;
    for (size_t j = 0; j < s->n; j++)
        if (!(fabs(s->x[j] - from[j]) <= s->o.step * fabs(s->x[j]))) return 0;
    s->result->why = WG_STOP_STEP;
    return 1;
}

/* ---- beginning and end ---- */

/* Fills the options in; fails the tape where one is out of its range. */
static wg_status fill_options(wgi_objective *of, const wg_minimise_options *o,
                              wg_minimise_options *out) {
    wgi_core *const c = of->c;
    *out = o != NULL ? *o : (wg_minimise_options){0};
    if (out->limit == 0) out->limit = 1000;
    if (out->memory == 0) out->memory = 10;
    if ((unsigned)out->method >= WG_METHOD_COUNT)
        return wgi_fail(c, WG_EARG, "%s: %d is no method", of->call, (int)out->method);
    if (out->gradient != out->gradient || !(out->step >= 0) || !(out->value >= 0))
        return wgi_fail(c, WG_EARG, "%s: tolerances: gradient %g, step %g, value %g", of->call,
                        out->gradient, out->step, out->value);
    if (!(out->damping >= 0) || isinf(out->damping))
        return wgi_fail(c, WG_EARG, "%s: the damping is %g", of->call, out->damping);
    if (out->method == WG_DESCENT) {
        wg_descent d = out->descent;
        if (d.period == 0 && d.warmup < out->limit) d.period = out->limit - d.warmup;
        if (!wgi_descent_fill(&d, &out->descent))
            return wgi_fail(c, WG_EARG, "%s: an option of the descent is out of its range",
                            of->call);
    }
    return WG_OK;
}

static wg_status check_start(const wgi_search *s, const double *start) {
    for (size_t j = 0; j < s->n; j++)
        if (!isfinite(start[j]) || !(start[j] >= lower(s, j)) || !(start[j] <= upper(s, j)))
            return wgi_fail(s->of->c, WG_EARG, "%s: x[%zu] is %g, its bounds are %g and %g",
                            s->of->call, j, start[j], lower(s, j), upper(s, j));
    return WG_OK;
}

wg_status wgi_search_run(wgi_objective *of, size_t n, double *start,
                         const wg_minimise_options *o, int fit, size_t numbers,
                         wg_status (*method)(wgi_search *s), wg_minimise_result *result) {
    wgi_search s = {.of = of, .n = n, .result = result};
    wgi_home home;
    void *base = NULL;
    wgi_drive d; /* the arguments are looked at as a driver does it */
    if (result != NULL)
        *result = (wg_minimise_result){.value = (double)NAN, .gradient = (double)NAN};
    if (of->c == NULL) return WG_ENULL;
    wg_status r = wgi_drive_open_alone(&d, &of->c->head, of->call);
    if (r == WG_OK && of->refused != WG_OK)
        r = wgi_fail(of->c, of->refused, "%s: %s", of->call, of->why);
    if (r == WG_OK && result == NULL)
        r = wgi_fail(of->c, WG_ENULL, "%s: the result is NULL", of->call);
    if (r == WG_OK) r = fill_options(of, o, &s.o);
    if (r == WG_OK && fit && s.o.gradient == 0) s.o.gradient = -1;
    if (r == WG_OK && start == NULL && n != 0)
        r = wgi_fail(of->c, WG_ENULL, "%s: x is NULL, with %zu entries", of->call, n);
    if (r == WG_OK) r = check_start(&s, start);
    if (r == WG_OK) {
        const int fits = n <= SIZE_MAX / 64 && numbers <= SIZE_MAX / 64;
        r = fits ? wgi_home_obtain(of->c, (2 * n + numbers + 1) * sizeof(double), &home, &base)
                 : WG_ENOMEM;
        if (r != WG_OK)
            (void)wgi_fail(of->c, r, "%s: no room for a search in %zu variables", of->call, n);
    }
    r = wgi_drive_close(&d, r);
    if (r != WG_OK) return r;
    memset(base, 0, (2 * n + numbers) * sizeof(double));
    s.memory = base;
    s.x = wgi_search_take(&s, n);
    s.g = wgi_search_take(&s, n);
    if (n != 0) memcpy(s.x, start, n * sizeof *s.x);
    r = method(&s);
    if (r != WG_OK) result->why = WG_STOP_FAILURE;
    result->converged = result->why >= WG_STOP_GRADIENT && result->why <= WG_STOP_ROUNDING;
    if (n != 0) memcpy(start, s.x, n * sizeof *s.x);
    wgi_home_release(&home, base);
    return r;
}

/* ---- texts ---- */

#define TEXT(name, text) text,

const char *wg_rule_text(wg_rule r) {
    static const char *const texts[] = {WG_RULE_LIST(TEXT)};
    return (size_t)r < sizeof texts / sizeof *texts ? texts[r] : "unknown rule";
}

const char *wg_method_text(wg_method m) {
    static const char *const texts[] = {WG_METHOD_LIST(TEXT)};
    return (size_t)m < sizeof texts / sizeof *texts ? texts[m] : "unknown method";
}

const char *wg_stop_text(wg_stop s) {
    static const char *const texts[] = {WG_STOP_LIST(TEXT)};
    return (size_t)s < sizeof texts / sizeof *texts ? texts[s] : "unknown reason";
}
