/* SPDX-License-Identifier: MIT */
/* L-BFGS: Liu, Nocedal 1989; Nocedal, Wright 2006, algorithms 7.4 and 7.5. With bounds the
 * two-metric projection of Bertsekas 1982: variables that a bound holds stay there, the
 * direction is that of the others alone, and its end is moved into the bounds.
 *
 * Letters: y[i], s[i] the differences of gradients and points of a pair; d the direction. */
#include "line_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* After so many steps in a row that neither lower the value by more than rounding nor the
 * gradient below what it has been, the search is over. */
enum { IDLE = 8 };

typedef struct lbfgs {
    wgi_search *search;
    size_t n, most, pairs,
        next;         /* room for pairs, how many there are, where the next one goes */
    double *s, *y;    /* pair i at i n */
    double *sy, *yy;  /* products of each pair; of the free variables, where some are held */
    double *alpha;    /* of each pair */
    double *d, *free; /* free: 1, or 0 where a bound holds the variable */
    int held;         /* how many are held */
} lbfgs;

size_t wgi_lbfgs_numbers(size_t n, size_t memory) {
    if (memory > SIZE_MAX / 128 || n > SIZE_MAX / 128 / (memory + 4)) return SIZE_MAX;
    return 2 * memory * n + 5 * memory + 6 * n;
}

/* ---- the direction ---- */

static void find_held(lbfgs *l) {
    const wgi_search *const s = l->search;
    l->held = 0;
    for (size_t j = 0; j < l->n; j++) {
        const int held = wgi_search_is_held(s, j, s->x[j], s->g[j]);
        l->free[j] = !held;
        l->held |= held;
    }
}

static void mask(const lbfgs *l, double *a) {
    for (size_t j = 0; l->held && j < l->n; j++) a[j] *= l->free[j];
}

/* Products of a pair, of the free variables. */
static double products(const lbfgs *l, size_t i, double *yy) {
    const double *const s = l->s + i * l->n, *const y = l->y + i * l->n;
    double sy = 0;
    if (!l->held) {
        *yy = l->yy[i];
        return l->sy[i];
    }
    *yy = 0;
    for (size_t j = 0; j < l->n; j++) {
        sy += s[j] * y[j] * l->free[j];
        *yy += y[j] * y[j] * l->free[j];
    }
    return sy;
}

/* Is the curvature of a pair safely positive? */
static int is_convex(double sy, double yy) { return sy > DBL_EPSILON * yy; }

/* d = -g of the free variables. */
static void steepest(lbfgs *l) {
    for (size_t j = 0; j < l->n; j++) l->d[j] = -l->search->g[j];
    mask(l, l->d);
}

static void add(size_t n, double *to, double factor, const double *a) {
    for (size_t j = 0; j < n; j++) to[j] += factor * a[j];
}

/* d = -H g by the pairs. */
static void direction(lbfgs *l) {
    const size_t n = l->n;
    double gamma = 1, sy, yy;
    int scaled = 0;
    steepest(l);
    for (size_t k = 1; k <= l->pairs; k++) {
        const size_t i = (l->next + l->most - k) % l->most;
        sy = products(l, i, &yy);
        l->alpha[i] = 0;
        if (!is_convex(sy, yy)) continue;
        if (!scaled) gamma = sy / yy;
        scaled = 1;
        l->alpha[i] = wgi_search_dot(n, l->s + i * n, l->d) / sy;
        add(n, l->d, -l->alpha[i], l->y + i * n);
        mask(l, l->d);
    }
    for (size_t j = 0; j < n; j++) l->d[j] *= gamma;
    for (size_t k = l->pairs; k > 0; k--) {
        const size_t i = (l->next + l->most - k) % l->most;
        sy = products(l, i, &yy);
        if (!is_convex(sy, yy)) continue;
        add(n, l->d, l->alpha[i] - wgi_search_dot(n, l->y + i * n, l->d) / sy, l->s + i * n);
        mask(l, l->d);
    }
}

/* Remembers the step from x, g to where the search is now. */
static void remember(lbfgs *l, const double *x, const double *g) {
    const wgi_search *const at = l->search;
    const size_t i = l->next, n = l->n;
    double *const s = l->s + i * n, *const y = l->y + i * n;
    for (size_t j = 0; j < n; j++) {
        s[j] = at->x[j] - x[j];
        y[j] = at->g[j] - g[j];
    }
    l->sy[i] = wgi_search_dot(n, s, y);
    l->yy[i] = wgi_search_dot(n, y, y);
    if (!is_convex(l->sy[i], l->yy[i])) return;
    l->next = (i + 1) % l->most;
    if (l->pairs < l->most) l->pairs++;
}

/* ---- a step ---- */

/* The longest step along d that stays within the bounds. */
static double longest(const lbfgs *l) {
    const wgi_search *const s = l->search;
    double most = INFINITY;
    for (size_t j = 0; wgi_search_is_bounded(s) && j < l->n; j++) {
        if (l->d[j] == 0) continue;
        const double end = wgi_search_inside(s, j, copysign(INFINITY, l->d[j]));
        most = fmin(most, (end - s->x[j]) / l->d[j]);
    }
    return most;
}

/* Along d, which first is as long as it should be once there are pairs. */
static wg_status take_step(lbfgs *l, wgi_line *line, double *step) {
    const double length = wgi_search_norm(l->n, l->d), most = longest(l);
    const double first = l->pairs > 0 || !(length > 1) ? 1 : 1 / length;
    line->slope = wgi_search_dot(l->n, l->search->g, l->d);
    *step = 0;
    if (!(line->slope < 0)) return WG_OK;
    if (most >= first) return wgi_line_wolfe(line, first, most, step);
    return wgi_line_projected(line, step);
}

/* From the direction of the pairs, or else that of the gradient, to the next point. *promised:
 * how much of the value the first one promised to gain. */
static wg_status advance(lbfgs *l, wgi_line *line, double *step, double *promised) {
    find_held(l);
    direction(l);
    wg_status r = take_step(l, line, step);
    *promised = -line->slope;
    if (r != WG_OK || *step > 0 || l->pairs == 0) return r;
    l->pairs = 0;
    steepest(l);
    return take_step(l, line, step);
}

wg_status wgi_lbfgs(wgi_search *s) {
    const size_t n = s->n, most = s->o.memory;
    lbfgs l = {.search = s, .n = n, .most = most};
    wgi_line line = {.s = s};
    l.s = wgi_search_take(s, most * n);
    l.y = wgi_search_take(s, most * n);
    l.sy = wgi_search_take(s, most);
    l.yy = wgi_search_take(s, most);
    l.alpha = wgi_search_take(s, most);
    l.d = wgi_search_take(s, n);
    l.free = wgi_search_take(s, n);
    line.direction = l.d;
    line.x = wgi_search_take(s, n);
    line.g = wgi_search_take(s, n);
    line.kept_x = wgi_search_take(s, n);
    line.kept_g = wgi_search_take(s, n);

    double step = 0, lowest;
    int idle = 0;
    wg_status r = wgi_search_begin(s);
    lowest = s->slope;
    for (size_t k = 0; r == WG_OK; k++) {
        if (wgi_search_is_over(s, k, step)) return WG_OK;
        if (k != 0 && wgi_search_is_settled(s, line.x, line.value)) return WG_OK;
        double promised = 0;
        r = advance(&l, &line, &step, &promised);
        if (r != WG_OK) return r;
        const int noise = wgi_search_is_noise(s, promised);
        if (step == 0) return wgi_search_end(s, noise ? WG_STOP_ROUNDING : WG_STOP_STALLED);
        const double value = s->value, *const x = s->x, *const g = s->g;
        s->value = line.value;
        s->x = line.x;
        s->g = line.g;
        line.value = value; /* that of the point before, as x and g */
        line.x = (double *)x;
        line.g = (double *)g;
        s->slope = wgi_search_slope(s, s->x, s->g);
        remember(&l, x, g);
        /* where values tell nothing any more, gradients have to get smaller */
        idle = value - s->value > WGI_NOISE * fabs(value) || s->slope < lowest ? 0 : idle + 1;
        lowest = fmin(lowest, s->slope);
        if (idle >= IDLE && !wgi_search_is_over(s, k + 1, step))
            return wgi_search_end(s, noise ? WG_STOP_ROUNDING : WG_STOP_STALLED);
    }
    return r;
}
