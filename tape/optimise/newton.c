/* SPDX-License-Identifier: MIT */
/* Newton-CG: steps of a trust region by truncated conjugate gradients (Steihaug 1983; Nocedal,
 * Wright 2006, algorithms 4.1 and 7.2). Variables that a bound holds stay there; the step of
 * the others is moved into the bounds, and judged by what the model promises of what is left of
 * it.
 *
 * Letters: g the gradient of the free variables, H the Hessian of them, p the step, r = g + H
 * p, d the direction of conjugate gradients. */
#include "search.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A ratio of gain and promise above it accepts the step; below and above the others the radius
 * changes. */
static const double accept = 1e-4, poor = 0.25, good = 0.75;
static const double shrink = 0.25, expand = 3;

typedef struct newton {
    wgi_search *s;
    size_t n;
    double *g, *p, *r, *d, *hd, *free;
    double *trial_x, *trial_g, trial;
    double radius, least; /* least: below it no step changes x */
    double start;         /* the norm of g at first */
    double promised;      /* by the present step */
    double first;         /* by the first one that was tried at this point */
    int clipped;
} newton;

size_t wgi_newton_numbers(size_t n) { return n <= SIZE_MAX / 64 ? 8 * n : SIZE_MAX; }

static wg_status times_hessian(newton *w, const double *v, double *hv) {
    w->s->result->products++;
    const wg_status r = w->s->of->product(w->s->of, v, hv);
    wgi_search_scale(w->s, hv);
    for (size_t j = 0; r == WG_OK && j < w->n; j++)
        if (w->free[j] == 0) hv[j] = 0;
    return r;
}

/* p += t d, r += t H d. */
static void go(newton *w, double t) {
    for (size_t j = 0; j < w->n; j++) {
        w->p[j] += t * w->d[j];
        w->r[j] += t * w->hd[j];
    }
}

/* t > 0 with |p + t d| = radius. */
static double to_border(const newton *w) {
    const double pp = wgi_search_dot(w->n, w->p, w->p), pd = wgi_search_dot(w->n, w->p, w->d);
    const double dd = wgi_search_dot(w->n, w->d, w->d);
    const double gap = fmax(w->radius * w->radius - pp, 0);
    const double root = sqrt(pd * pd + dd * gap);
    return pd > 0 ? gap / (pd + root) : (root - pd) / dd;
}

/* The step p, and r with it. */
static wg_status conjugate_gradients(newton *w) {
    const size_t n = w->n, most = n < SIZE_MAX / 2 ? 2 * n : n;
    const double length = wgi_search_norm(n, w->g);
    const double enough = fmin(0.5, sqrt(length / w->start)) * length;
    memset(w->p, 0, n * sizeof *w->p);
    memcpy(w->r, w->g, n * sizeof *w->r);
    for (size_t j = 0; j < n; j++) w->d[j] = -w->g[j];
    double rr = wgi_search_dot(n, w->r, w->r);
    for (size_t k = 0; k < most && rr > 0; k++) {
        const wg_status status = times_hessian(w, w->d, w->hd);
        if (status != WG_OK) return status;
        const double dhd = wgi_search_dot(n, w->d, w->hd);
        if (!isfinite(dhd)) {
            if (k != 0) return WG_OK;
            memset(w->hd, 0, n * sizeof *w->hd); /* down the gradient, without a curvature */
        }
        const double t = rr / dhd;
        double ahead = 0;
        for (size_t j = 0; j < n; j++) {
            const double p = w->p[j] + t * w->d[j];
            ahead += p * p;
        }
        if (!(dhd > 0) || !(sqrt(ahead) < w->radius)) {
            go(w, to_border(w));
            return WG_OK;
        }
        go(w, t);
        const double next = wgi_search_dot(n, w->r, w->r);
        if (!(sqrt(next) > enough)) return WG_OK;
        for (size_t j = 0; j < n; j++) w->d[j] = next / rr * w->d[j] - w->r[j];
        rr = next;
    }
    return WG_OK;
}

/* The step, moved into the bounds, and what it promises: -(g'p + p'Hp / 2). */
static wg_status find_step(newton *w) {
    const wgi_search *const s = w->s;
    wg_status r = conjugate_gradients(w);
    w->clipped = 0;
    for (size_t j = 0; r == WG_OK && j < w->n; j++) {
        const double to = s->x[j] + w->p[j];
        w->trial_x[j] = wgi_search_inside(s, j, to);
        if (w->trial_x[j] == to) continue;
        w->p[j] = w->trial_x[j] - s->x[j];
        w->clipped = 1;
    }
    if (r == WG_OK && w->clipped) {
        r = times_hessian(w, w->p, w->hd);
        for (size_t j = 0; r == WG_OK && j < w->n; j++) w->r[j] = w->g[j] + w->hd[j];
    }
    if (r != WG_OK) return r;
    w->promised = -(wgi_search_dot(w->n, w->g, w->p) + wgi_search_dot(w->n, w->p, w->r)) / 2;
    return WG_OK;
}

/* Steps at one point until one is accepted; *taken 0: there is none. */
static wg_status advance(newton *w, int *taken) {
    wgi_search *const s = w->s;
    *taken = 0;
    w->first = (double)NAN;
    for (size_t j = 0; j < w->n; j++) {
        w->free[j] = !wgi_search_is_held(s, j, s->x[j], s->g[j]);
        w->g[j] = w->free[j] != 0 ? s->g[j] : 0;
    }
    while (w->radius > w->least) {
        wg_status r = s->of->open(s->of, s->x);
        if (r == WG_OK) r = find_step(w);
        if (s->of->close != NULL) r = s->of->close(s->of, r);
        if (r != WG_OK) return r;
        if (w->first != w->first) w->first = w->promised;
        int finite = 0;
        r = wgi_search_evaluate(s, w->trial_x, &w->trial, w->trial_g, &finite);
        if (r != WG_OK) return r;
        const double length = wgi_search_norm(w->n, w->p), noise = WGI_NOISE * fabs(s->value);
        double ratio = -1;
        if (finite && w->promised > 0)
            ratio = (s->value - w->trial + noise) / (w->promised + noise);
        if (!(ratio > poor)) w->radius = shrink * fmin(w->radius, length);
        else if (ratio > good && length > 0.9 * w->radius) w->radius *= expand;
        /* where values tell nothing any more, gradients have to get smaller */
        if (ratio > accept && wgi_search_is_noise(s, w->promised) &&
            !(wgi_search_slope(s, w->trial_x, w->trial_g) < s->slope))
            return WG_OK;
        if (ratio > accept) {
            *taken = 1;
            return WG_OK;
        }
    }
    return WG_OK;
}

wg_status wgi_newton(wgi_search *s) {
    const size_t n = s->n;
    newton w = {.s = s, .n = n};
    w.g = wgi_search_take(s, n);
    w.p = wgi_search_take(s, n);
    w.r = wgi_search_take(s, n);
    w.d = wgi_search_take(s, n);
    w.hd = wgi_search_take(s, n);
    w.free = wgi_search_take(s, n);
    w.trial_x = wgi_search_take(s, n);
    w.trial_g = wgi_search_take(s, n);
    wg_status r = wgi_search_begin(s);
    w.start = s->slope;
    w.radius = fmax(1, wgi_search_norm(n, s->x));
    for (size_t k = 0; r == WG_OK; k++) {
        if (wgi_search_is_over(s, k, w.radius)) return WG_OK;
        if (k != 0 && wgi_search_is_settled(s, w.trial_x, w.trial)) return WG_OK;
        int taken = 0;
        w.least = DBL_EPSILON / 4 * fmax(wgi_search_norm(n, s->x), DBL_MIN / DBL_EPSILON);
        r = advance(&w, &taken);
        if (r != WG_OK) return r;
        if (!taken)
            return wgi_search_end(s, wgi_search_is_noise(s, w.first) ? WG_STOP_ROUNDING
                                                                     : WG_STOP_STALLED);
        double *const x = s->x, *const g = s->g;
        const double value = s->value;
        s->x = w.trial_x;
        s->g = w.trial_g;
        s->value = w.trial;
        w.trial_x = x;
        w.trial_g = g;
        w.trial = value;
        s->slope = wgi_search_slope(s, s->x, s->g);
    }
    return r;
}
