/* SPDX-License-Identifier: MIT */
/* Steps of descent by six rules, their rates, and clipping; and the search made of such steps.
 *
 * Letters: g the gradient, r the rate; v, m, s what a rule remembers, as in
 * wengert/optimise.h. */
#include "search.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- options ---- */

static double or_else(double given, double otherwise) { return given != 0 ? given : otherwise; }

int wgi_descent_fill(const wg_descent *o, wg_descent *out) {
    *out = o != NULL ? *o : (wg_descent){0};
    out->rate = or_else(out->rate, 0.01);
    out->decay = or_else(out->decay, 0.5);
    out->momentum = or_else(out->momentum, 0.9);
    out->beta1 = or_else(out->beta1, 0.9);
    out->beta2 = or_else(out->beta2, out->rule == WG_RMSPROP ? 0.9 : 0.999);
    out->small = or_else(out->small, 1e-8);
    return (unsigned)out->rule < WG_RULE_COUNT && (unsigned)out->schedule < WG_SCHEDULE_COUNT &&
           (out->schedule == WG_RATE_CONSTANT || out->rate_of != NULL || out->period != 0) &&
           out->rate > 0 && out->decay > 0 && out->momentum >= 0 && out->momentum < 1 &&
           out->beta1 >= 0 && out->beta1 < 1 && out->beta2 >= 0 && out->beta2 < 1 &&
           out->small > 0 && out->clip_value >= 0 && out->clip_norm >= 0;
}

/* The same of options with defaults filled in. */
static double rate_at(const wg_descent *o, size_t step) {
    if (o->rate_of != NULL) return o->rate_of(o->context, step);
    if (step < o->warmup) return o->rate * (double)(step + 1) / ((double)o->warmup + 1);
    const double turns = o->period != 0 ? (double)(step - o->warmup) / (double)o->period : 0;
    switch (o->schedule) {
    case WG_RATE_STEPS:
        return o->rate * pow(o->decay, floor(turns));
    case WG_RATE_EXPONENTIAL:
        return o->rate * pow(o->decay, turns);
    case WG_RATE_COSINE:
        return turns < 1 ? o->rate * (1 + cos(pi * turns)) / 2 : 0;
    default:
        return o->rate;
    }
}

double wg_descent_rate(const wg_descent *o, size_t step) {
    wg_descent d;
    return wgi_descent_fill(o, &d) ? rate_at(&d, step) : (double)NAN;
}

/* How many numbers a rule remembers of each variable. */
static size_t remembered(wg_rule rule) {
    return rule == WG_PLAIN ? 0 : rule == WG_ADAM ? 2 : 1;
}

size_t wg_descent_numbers(const wg_descent *o, size_t n) {
    return remembered(o != NULL ? o->rule : WG_PLAIN) * n;
}

/* ---- a step ---- */

/* A step under way: o has its defaults; shrink is what clipping by norm leaves of the
 * gradient. */
typedef struct stride {
    const wg_descent *o;
    double rate, shrink, unbias1, unbias2;
} stride;

static double clipped(const wg_descent *o, double g) {
    if (!(o->clip_value > 0)) return g;
    return g > o->clip_value ? o->clip_value : g < -o->clip_value ? -o->clip_value : g;
}

/* norm: of the gradient as `clipped` leaves it. */
static stride stride_of(const wg_descent *o, size_t step, double rate, double norm) {
    stride s = {.o = o, .rate = rate, .shrink = 1};
    if (o->clip_norm > 0 && norm > o->clip_norm) s.shrink = o->clip_norm / norm;
    s.unbias1 = 1 - pow(o->beta1, (double)step + 1);
    s.unbias2 = 1 - pow(o->beta2, (double)step + 1);
    return s;
}

/* Moves variables; a and b are the first and second half of the state. */
static void move(const stride *s, size_t n, double *x, const double *gradient, double *a,
                 double *b) {
    const wg_descent *const o = s->o;
    const double rate = s->rate, mu = o->momentum, b1 = o->beta1, b2 = o->beta2;
    for (size_t j = 0; j < n; j++) {
        const double g = clipped(o, gradient[j]) * s->shrink;
        switch (o->rule) {
        case WG_MOMENTUM:
            a[j] = mu * a[j] - rate * g;
            x[j] += a[j];
            break;
        case WG_NESTEROV:
            a[j] = mu * a[j] - rate * g;
            x[j] += mu * a[j] - rate * g;
            break;
        case WG_RMSPROP:
            a[j] = b2 * a[j] + (1 - b2) * g * g;
            x[j] -= rate * g / (sqrt(a[j]) + o->small);
            break;
        case WG_ADAM:
            a[j] = b1 * a[j] + (1 - b1) * g;
            b[j] = b2 * b[j] + (1 - b2) * g * g;
            x[j] -= rate * (a[j] / s->unbias1) / (sqrt(b[j] / s->unbias2) + o->small);
            break;
        case WG_ADAGRAD:
            a[j] += g * g;
            x[j] -= rate * g / (sqrt(a[j]) + o->small);
            break;
        default:
            x[j] -= rate * g;
        }
    }
}

/* The norm of clipped entries, of lines that come one after the other: a sum of squares of
 * entries over the largest one so far. */
typedef struct norm {
    double scale, sum;
} norm;

static void norm_add(norm *a, const wg_descent *o, size_t n, const double *gradient) {
    for (size_t j = 0; j < n; j++) {
        const double g = fabs(clipped(o, gradient[j]));
        if (g > a->scale) {
            a->sum = 1 + a->sum * (a->scale / g) * (a->scale / g);
            a->scale = g;
        } else if (a->scale > 0) a->sum += g / a->scale * (g / a->scale);
    }
}
static double norm_of(const norm *a) { return a->scale * sqrt(a->sum); }

static size_t ld_of(const wg_mat_result *a) { return a->ld != 0 ? a->ld : a->rows; }

static wg_status check_pair(const wg_mat_result *x, const wg_mat_result *g) {
    if (x->rows != g->rows || x->cols != g->cols || ld_of(x) < x->rows || ld_of(g) < g->rows)
        return WG_ESHAPE;
    if (x->rows != 0 && x->cols != 0 && (x->value == NULL || g->value == NULL)) return WG_ENULL;
    for (size_t k = 0; k < x->cols; k++)
        if (!wgi_all_finite(g->rows, g->value + k * ld_of(g))) return WG_ENONFINITE;
    return WG_OK;
}

wg_status wg_mat_descent_step(const wg_descent *o, size_t step, size_t n,
                              const wg_mat_result *x, const wg_mat_result *g, double *state) {
    wg_descent d;
    size_t count = 0;
    norm length = {0, 0};
    if (n != 0 && (x == NULL || g == NULL)) return WG_ENULL;
    if (!wgi_descent_fill(o, &d)) return WG_EARG;
    for (size_t i = 0; i < n; i++) {
        const wg_status r = check_pair(&x[i], &g[i]);
        if (r != WG_OK) return r;
        count += x[i].rows * x[i].cols;
        for (size_t k = 0; k < g[i].cols && d.clip_norm > 0; k++)
            norm_add(&length, &d, g[i].rows, g[i].value + k * ld_of(&g[i]));
    }
    if (state == NULL && count != 0 && remembered(d.rule) != 0) return WG_ENULL;
    const double rate = rate_at(&d, step);
    if (!isfinite(rate)) return WG_ENONFINITE;
    const stride s = stride_of(&d, step, rate, norm_of(&length));
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < x[i].cols; k++, done += x[i].rows) {
            double *const a = state != NULL ? state + done : NULL;
            double *const b = remembered(d.rule) == 2 ? a + count : a;
            move(&s, x[i].rows, x[i].value + k * ld_of(&x[i]), g[i].value + k * ld_of(&g[i]), a,
                 b);
        }
    return WG_OK;
}

wg_status wg_descent_step(const wg_descent *o, size_t step, size_t n, double *x,
                          const double *g, double *state) {
    wg_descent d;
    norm length = {0, 0};
    if (n != 0 && (x == NULL || g == NULL)) return WG_ENULL;
    if (!wgi_descent_fill(o, &d)) return WG_EARG;
    if (state == NULL && n != 0 && remembered(d.rule) != 0) return WG_ENULL;
    if (!wgi_all_finite(n, g)) return WG_ENONFINITE;
    const double rate = rate_at(&d, step);
    if (!isfinite(rate)) return WG_ENONFINITE;
    if (d.clip_norm > 0) norm_add(&length, &d, n, g);
    const stride s = stride_of(&d, step, rate, norm_of(&length));
    if (n != 0) move(&s, n, x, g, state, remembered(d.rule) == 2 ? state + n : state);
    return WG_OK;
}

/* ---- the search ---- */

size_t wgi_descent_numbers(const wg_descent *o, size_t n) {
    return wg_descent_numbers(o, n) + 2 * n;
}

/* The lowest point so far becomes the result, after a failure. */
static wg_status give_best(wgi_search *s, const double *best, double value, double slope,
                           wg_status r) {
    if (s->n != 0) memcpy(s->x, best, s->n * sizeof *s->x);
    s->result->value = value;
    s->result->gradient = slope;
    return r;
}

wg_status wgi_descend(wgi_search *s) {
    double *const state = wgi_search_take(s, wg_descent_numbers(&s->o.descent, s->n));
    double *const best = wgi_search_take(s, s->n), *const from = wgi_search_take(s, s->n);
    const size_t bytes = s->n * sizeof *s->x;
    wg_status r = wgi_search_begin(s);
    if (r != WG_OK) return r;
    double lowest = s->value, slope = s->slope, before = s->value;
    memcpy(best, s->x, bytes);
    for (size_t k = 0;; k++) {
        if (wgi_search_is_over(s, k, rate_at(&s->o.descent, k))) return WG_OK;
        if (k != 0 && wgi_search_is_settled(s, from, before)) return WG_OK;
        memcpy(from, s->x, bytes);
        before = s->value;
        r = wg_descent_step(&s->o.descent, k, s->n, s->x, s->g, state);
        if (r != WG_OK)
            r = wgi_fail(s->of->c, r, "%s: the rate of step %zu is NaN or infinite",
                         s->of->call, k);
        for (size_t j = 0; j < s->n; j++) s->x[j] = wgi_search_inside(s, j, s->x[j]);
        int finite = 0;
        if (r == WG_OK) r = wgi_search_evaluate(s, s->x, &s->value, s->g, &finite);
        if (r == WG_OK && !finite)
            r = wgi_fail(s->of->c, WG_ENONFINITE,
                         "%s: the value or the gradient after step %zu is NaN or infinite",
                         s->of->call, k);
        if (r != WG_OK) return give_best(s, best, lowest, slope, r);
        s->slope = wgi_search_slope(s, s->x, s->g);
        if (s->value < lowest) {
            lowest = s->value;
            slope = s->slope;
            memcpy(best, s->x, bytes);
        }
    }
}
