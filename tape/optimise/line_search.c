/* SPDX-License-Identifier: MIT */
/* The line search: Nocedal, Wright 2006, algorithms 3.5 and 3.6 as one loop, cubic
 * interpolation (3.59). Where a value or gradient is NaN or infinite the step is too long.
 * Where values differ by their rounding only, slopes decide, as in Hager, Zhang 2005
 * ("approximate Wolfe").
 *
 * Letters: a the length factor of a step, f and d value and slope there; lo the best point so
 * far, hi the other end of the interval that holds an acceptable one. */
#include "line_search.h"

#include <float.h>
#include <math.h>

/* Sufficient decrease, and how far the slope has to fall. */
static const double decrease = 1e-4, curvature = 0.9;
/* How much longer a step gets while none was too long, and how much shorter after a NaN. */
static const double growth = 4, retreat = 0.2;
/* New points keep this much of the interval between them and its ends. */
static const double margin = 0.1;
enum { TRIES = 40 };

typedef struct point {
    double a, f, d;
} point;

/* The point at x + a direction. */
static wg_status look(wgi_line *l, double a, point *p, int *finite) {
    wgi_search *const s = l->s;
    for (size_t j = 0; j < s->n; j++)
        l->x[j] = wgi_search_inside(s, j, s->x[j] + a * l->direction[j]);
    const wg_status r = wgi_search_evaluate(s, l->x, &l->value, l->g, finite);
    *p = (point){a, l->value, *finite ? wgi_search_dot(s->n, l->g, l->direction) : (double)NAN};
    *finite = *finite && isfinite(p->d);
    return r;
}

static void exchange(double **a, double **b) {
    double *const held = *a;
    *a = *b;
    *b = held;
}

/* The last point is kept; or the kept one comes back. */
static void keep(wgi_line *l) {
    exchange(&l->x, &l->kept_x);
    exchange(&l->g, &l->kept_g);
    l->kept_value = l->value;
}
static void recall(wgi_line *l) {
    exchange(&l->x, &l->kept_x);
    exchange(&l->g, &l->kept_g);
    l->value = l->kept_value;
}

static double noise_of(const wgi_line *l) { return WGI_NOISE * fabs(l->s->value); }

static int is_lower(const wgi_line *l, const point *p) {
    if (p->f <= l->s->value + decrease * p->a * l->slope) return 1;
    return p->f <= l->s->value + noise_of(l) && p->d <= (2 * decrease - 1) * l->slope;
}

/* Between lo and hi. */
static double interpolate(const point *lo, const point *hi) {
    const double width = hi->a - lo->a;
    if (!isfinite(hi->f)) return lo->a + retreat * width;
    const double d1 = lo->d + hi->d - 3 * (lo->f - hi->f) / (lo->a - hi->a);
    const double root = copysign(sqrt(fmax(d1 * d1 - lo->d * hi->d, 0)), width);
    const double a = hi->a - width * (hi->d + root - d1) / (hi->d - lo->d + 2 * root);
    const double part = (a - lo->a) / width;
    if (!(part == part)) return lo->a + width / 2;
    return lo->a + fmin(fmax(part, margin), 1 - margin) * width;
}

wg_status wgi_line_wolfe(wgi_line *l, double first, double most, double *step) {
    point lo = {0, l->s->value, l->slope}, hi = {0, 0, 0}, p;
    int bracketed = 0;
    double a = fmin(first, most);
    for (int k = 0; k < TRIES; k++) {
        int finite = 0;
        const wg_status r = look(l, a, &p, &finite);
        if (r != WG_OK) return r;
        if (!finite) {
            hi = (point){a, INFINITY, 0};
            bracketed = 1;
        } else if (!is_lower(l, &p) || p.f - lo.f > noise_of(l)) {
            hi = p;
            bracketed = 1;
        } else if (fabs(p.d) <= -curvature * l->slope || (a >= most && p.d < 0)) {
            *step = a;
            return WG_OK;
        } else {
            if (p.d * (bracketed ? hi.a - lo.a : 1) >= 0) {
                hi = lo;
                bracketed = 1;
            }
            lo = p;
            keep(l);
        }
        if (!bracketed) a = fmin(growth * a, most);
        else if (fabs(hi.a - lo.a) * -l->slope <= decrease * noise_of(l) ||
                 fabs(hi.a - lo.a) <= DBL_EPSILON * fmax(hi.a, lo.a))
            break;
        else a = interpolate(&lo, &hi);
    }
    /* no acceptable one: the best one, if it is lower by more than rounding might make it */
    const int lower = lo.a > 0 && lo.f <= l->s->value + decrease * lo.a * l->slope;
    if (lower) recall(l);
    *step = lower ? lo.a : 0;
    return WG_OK;
}

wg_status wgi_line_projected(wgi_line *l, double *step) {
    wgi_search *const s = l->s;
    double a = 1;
    for (int k = 0; k < TRIES; k++) {
        point p;
        int finite = 0;
        const wg_status r = look(l, a, &p, &finite);
        if (r != WG_OK) return r;
        double promised = 0;
        for (size_t j = 0; j < s->n; j++) promised -= s->g[j] * (l->x[j] - s->x[j]);
        if (finite && promised > 0 && p.f <= s->value - decrease * promised) {
            *step = a;
            return WG_OK;
        }
        a *= finite ? 0.5 : retreat;
    }
    *step = 0;
    return WG_OK;
}
