/* SPDX-License-Identifier: MIT */
/* Trust: tangents against finite differences, and tangents against adjoints; one order higher,
 * Hessians against finite differences of tangents, and against themselves turned around.
 *
 * The difference quotient phi(h) = (f(x + h v) - f(x - h v)) / 2h has an error in even powers
 * of h. Halving h and eliminating h^2, h^4, ... gives a table; the entry that differs least
 * from its two ancestors is taken, and that difference is the estimate of its error. Large
 * steps may agree with each other by chance, so finer ones that contradict them are believed.
 * For second derivatives f is J(x) u, the tangents along a fixed direction u; the derivative of
 * output j of that is u' H v, H the Hessian of output j. Letters: n inputs, m outputs, v and u
 * directions, w the weights of the outputs, h a step. Source: Ridders, Accurate computation of
 * F'(x) and F'(x)F''(x), 1982; the noise after More and Wild, Estimating computational noise,
 * 2011. */
#include "tape/engine/drive.h"
#include "check.h"
#include "tape/drivers/second_order.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    STEPS = 32,     /* h from 2^-3 down to 2^-34, in units of the input */
    FIRST_STEP = 3, /* the exponent of the largest of them */
    /* where a bound is nearer than 2^-10 of the first step, differences are taken to one
     * side */
    FEWER_STEPS = 10,
    NOISE_POINTS = 24,
    /* points, farther and farther from x, at which products that differ are computed again */
    NEIGHBOURS = 16,
    ORDERS = 6 /* columns of the table: errors up to h^10 are eliminated */
};
/* Steps are no powers of two: a periodic function might have those as a period. */
#define STEP 0.8125
/* The step by which the noise of f is measured, far below most curvature and far above the
 * rounding of x: this number, but between the other two in units of the input. (Of a tiny input
 * the unit is its own size.) */
#define NOISE_STEP 0x1p-34
#define LEAST_NOISE_STEP 0x1p-42
#define MOST_NOISE_STEP 0x1p-14
/* As long as f stays the same these steps are made larger by this factor, this many times: so
 * the rounding of an x that is added to something 2^30 times as large is found. */
#define LARGER 16
enum { TIMES_LARGER = 2 };
/* The error of a difference is taken for this many times its estimate: the least of many
 * estimates is an optimistic one. */
#define ESTIMATES 100.0
/* Two differences contradict each other if they are more than this many of their errors
 * apart. */
#define CONTRADICTS 50.0
/* Where the derivative is 0, as far as differences can tell, a tangent of this many roundings
 * of f, divided by the input, counts as 0: its terms leave as much when they cancel. */
#define ROUNDINGS 16
/* The least input by which is divided there: else any derivative by a tinier one would pass. */
#define LEAST_UNIT 0x1p-42
/* How far products may differ, relative to their terms. Half of the bits: rounding stays far
 * below, a wrong derivative far above. */
#define DOT_ALLOWED 0x1p-26
/* Two products that differ only by rounding differ by another number at each point next to x:
 * these numbers are at least this part of the difference apart. */
#define SCATTER 0.125
/* The terms of a product along one input count as at least this part of those along all inputs,
 * whose rounding may be in them. */
#define DOT_FLOOR 0x1p-20

typedef struct check {
    wgi_drive d;
    const wgi_checked_part *part;
    double *point, *v;         /* n each */
    double *g[2];              /* n each: J' w; second order: H v, H u in the first */
    double *near;              /* n: the same at points near x */
    wg_check_range range;      /* members may be NULL */
    double *base;              /* n: what noise is measured around */
    double *u;                 /* n, of second order; NULL: of first order */
    double *w[2];              /* m each: two ways to weigh the outputs */
    double *jv, *plus, *minus; /* m each; second order: jv = u' H v */
    double *best, *error;      /* m each: difference, its estimate */
    double *held, *held_error; /* m each: what contradicts them, found once */
    double *flat;        /* m: where fine steps gave exactly 0, its estimate: either may be */
    double *all;         /* size of the products along all inputs: by w; or by output, m */
    double *noise;       /* m: of the values of f */
    double *row, *above; /* m-by-ORDERS each: the table's last two rows */
    double unit;         /* of v, and of u, where these are of a single input */
    wgi_checked *to;
    double worst; /* largest disagreement over what is allowed */
    double apart; /* the same of products over the size of their terms */
} check;

/* ---- fixed numbers that look random: splitmix64 ---- */

static double random_next(uint64_t *state) { /* in [-1, 1), away from 0 */
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    const double size = 0.5 + (double)(z >> 12) * 0x1p-53;
    return z & 1 ? size : -size;
}

/* The power of two at an input: x + h is exact for most steps h. */
static double scale_of(double x) {
    const double a = fabs(x);
    return exp2(floor(log2(a > WGI_SMALL_INPUT && a <= DBL_MAX ? a : WGI_SMALL_INPUT)));
}

static double noise_step_of(double x) {
    const double a = fabs(x), unit = a > 0 && a < WGI_SMALL_INPUT ? a : scale_of(x);
    return fmin(fmax(NOISE_STEP, LEAST_NOISE_STEP * unit), MOST_NOISE_STEP * unit);
}

static int finite(double x) { return x - x == 0; }

/* The bounds of input i, and its power of two. */
static double lowest(const check *k, size_t i) {
    return k->range.lower != NULL ? k->range.lower[i] : -INFINITY;
}
static double highest(const check *k, size_t i) {
    return k->range.upper != NULL ? k->range.upper[i] : INFINITY;
}
static double scale_at(const check *k, const double *x, size_t i) {
    return k->range.scale != NULL ? exp2(floor(log2(k->range.scale[i]))) : scale_of(x[i]);
}
static double noise_step_at(const check *k, const double *x, size_t i) {
    return k->range.scale != NULL ? NOISE_STEP * scale_at(k, x, i) : noise_step_of(x[i]);
}
static double within(const check *k, size_t i, double point) {
    return fmin(fmax(point, lowest(k, i)), highest(k, i));
}

static int along(const wgi_checked_part *p, size_t i) { return i - p->input < p->inputs; }
static size_t last_output(const check *k) { return k->part->output + k->part->outputs; }

/* ---- differences ---- */

/* f(x + h v), or J(x + h v) u; what is not finite is NaN, also where a traced tape stops. */
static wg_status evaluate(check *k, const double *x, double h, double *values) {
    wgi_drive *const d = &k->d;
    for (size_t i = 0; i < d->n; i++)
        k->point[i] = k->v[i] == 0 ? x[i] : within(k, i, x[i] + h * k->v[i]);
    const wg_status s =
        k->u != NULL ? wgi_drive_tangent(d, k->point, k->u) : wgi_drive_run(d, 1, k->point);
    if (s != WG_OK && s != WG_ENONFINITE) return s;
    if (d->c->status != WG_OK) wgi_drive_begin(d, 1, 0); /* what is kept is the verdict's */
    for (size_t j = 0; j < d->m; j++) {
        double y = NAN;
        if (s == WG_OK) y = k->u != NULL ? wg_tangent(&d->c->head, d->y[j], 0) : d->y[j].value;
        values[j] = finite(y) ? y : (double)NAN;
    }
    return WG_OK;
}

/* noise of the outputs that are still `open`, along a direction of small steps in which every
 * input moves: the farthest that one of three neighbouring values is from the line through the
 * others, and no less than the rounding of f. Open remains what is the same at most neighbours.
 * The points are unevenly spaced: on even ones the roundings may all be the same. They have few
 * bits, so that x + h v is not rounded. */
static wg_status noise_of_steps(check *k, const double *x, double size, double *open) {
    const size_t m = k->d.m;
    double *const first = k->minus, *const second = k->row; /* not in use yet */
    double *const equal = k->best;                          /* how many neighbours are */
    double at[3] = {0, 0, 0};
    for (size_t j = 0; j < m; j++) first[j] = second[j] = equal[j] = 0;
    for (int i = 0; i < NOISE_POINTS; i++) {
        at[0] = at[1];
        at[1] = at[2];
        at[2] = i + i * 99 % 256 / 256.0 - NOISE_POINTS / 2.0; /* golden section */
        const wg_status s = evaluate(k, x, size * at[2], k->plus);
        if (s != WG_OK) return s;
        const double part = (at[1] - at[0]) / (at[2] - at[0]);
        for (size_t j = 0; j < m; j++) {
            if (open[j] == 0) continue;
            const double f = k->plus[j];
            const double off = (second[j] - first[j]) - part * (f - first[j]);
            if (i > 1) k->noise[j] = fmax(k->noise[j], fabs(off));
            k->noise[j] = fmax(k->noise[j], DBL_EPSILON * fabs(f));
            equal[j] += i > 0 && f == second[j];
            first[j] = second[j];
            second[j] = f;
        }
    }
    for (size_t j = 0; j < m; j++) open[j] = open[j] != 0 && equal[j] > NOISE_POINTS / 2;
    return WG_OK;
}

static int any(size_t n, const double *flags) {
    for (size_t i = 0; i < n; i++)
        if (flags[i] != 0) return 1;
    return 0;
}

/* base: x, moved away from bounds by as much as its noise is looked for; v is 0 where these are
 * too near to each other. */
static void set_base(check *k, const double *x) {
    const double farthest = NOISE_POINTS * pow(LARGER, TIMES_LARGER);
    for (size_t i = 0; i < k->d.n; i++) {
        const double reach = farthest * fabs(k->v[i]);
        k->base[i] = x[i];
        if (!(x[i] - reach < lowest(k, i)) && !(x[i] + reach > highest(k, i))) continue;
        if (!(highest(k, i) - lowest(k, i) > 2 * reach)) k->v[i] = 0;
        else k->base[i] = fmin(fmax(x[i], lowest(k, i) + reach), highest(k, i) - reach);
    }
}

/* noise of all outputs: by steps that grow for those that stay the same, as they do where x is
 * added to something large. */
static wg_status measure_noise(check *k, const double *x) {
    const size_t m = k->d.m;
    double *const open = k->held; /* not in use yet */
    double size = 1;
    for (size_t j = 0; j < m; j++) {
        k->noise[j] = 0;
        open[j] = 1;
    }
    set_base(k, x);
    wg_status s = noise_of_steps(k, k->base, size, open);
    for (int i = 0; i < TIMES_LARGER && s == WG_OK && any(m, open); i++)
        s = noise_of_steps(k, k->base, size *= LARGER, open);
    return s;
}

/* The difference b, good to e, of steps finer than those before; `equal`: f was the same on
 * both sides. */
static void weigh(check *k, size_t j, double b, double e, int equal) {
    const double apart = fabs(b - k->best[j]);
    const int contradicts = apart > CONTRADICTS * (e + k->error[j]);
    if (contradicts && equal) { /* a flat f; or steps lost in the rounding of a large term */
        k->flat[j] = fmin(k->flat[j], e);
        return;
    }
    if (contradicts) {
        const int again = fabs(b - k->held[j]) <= CONTRADICTS * (e + k->held_error[j]);
        k->held[j] = b;
        k->held_error[j] = e;
        if (!again) return;
        k->error[j] = INFINITY;
    }
    k->held[j] = NAN;
    if (!(e < k->error[j])) return;
    k->error[j] = e;
    k->best[j] = b;
}

/* A further row of the table of output j: of differences over 2 h, whose error has the powers
 * of h that go down by `less` and its powers when h is halved. */
static void next_row(check *k, size_t j, int step, double h, double less) {
    double *const row = k->row + j * ORDERS, *const above = k->above + j * ORDERS;
    /* halves first: the difference of two large values of opposite sign */
    row[0] = (k->plus[j] / 2 - k->minus[j] / 2) / h;
    const double f = fmax(fabs(k->plus[j]), fabs(k->minus[j]));
    const double noise = fmax(k->noise[j], DBL_EPSILON * f);
    double power = 1, b = NAN, least = INFINITY;
    for (int i = 1; i <= step && i < ORDERS; i++) {
        power *= less;
        row[i] = (power * row[i - 1] - above[i - 1]) / (power - 1);
        const double e = fabs(row[i] - row[i - 1]) + fabs(row[i] - above[i - 1]) +
                         noise / fabs(h) + DBL_EPSILON * fabs(row[i]);
        if (e < least) least = e, b = row[i];
    }
    if (least < INFINITY) weigh(k, j, b, least, k->plus[j] == k->minus[j]);
}

/* How far x + h v can go before it leaves the bounds, for h of that sign. */
static double room_of(const check *k, const double *x, double sign) {
    double room = INFINITY;
    for (size_t i = 0; i < k->d.n; i++) {
        const double v = sign * k->v[i];
        if (v > 0) room = fmin(room, (highest(k, i) - x[i]) / v);
        if (v < 0) room = fmin(room, (x[i] - lowest(k, i)) / -v);
    }
    return room;
}

/* best and error along v, from steps of that size on, or the largest that bounds allow: to both
 * sides, or, where there is next to no room on one, to the other. */
static wg_status halve_steps(check *k, const double *x, double size) {
    const double up = room_of(k, x, 1), down = room_of(k, x, -1),
                 first = ldexp(size, -FIRST_STEP);
    const int one_sided = fmin(up, down) < ldexp(first, -FEWER_STEPS);
    const double room = one_sided ? fmax(up, down) : fmin(up, down), side = up < down ? -1 : 1;
    const double largest = room < first ? STEP * room : first;
    for (int step = 0; step < STEPS; step++) {
        const double h = ldexp(largest, -step);
        wg_status s = evaluate(k, x, one_sided ? side * h : h, k->plus);
        if (s == WG_OK) s = evaluate(k, x, one_sided ? 0 : -h, k->minus);
        if (s != WG_OK) return s;
        double *const swap = k->row;
        k->row = k->above;
        k->above = swap;
        for (size_t j = 0; j < k->d.m; j++)
            next_row(k, j, step, one_sided ? side * h / 2 : h, one_sided ? 2 : 4);
    }
    return WG_OK;
}

/* Along v, in all; error stays infinite where no step gave finite values. Along a tiny input
 * alone also with steps of its own size: it may be near a singular point. */
static wg_status differences(check *k, const double *x, size_t input) {
    for (size_t j = 0; j < k->d.m; j++) {
        k->best[j] = k->held[j] = NAN;
        k->error[j] = k->held_error[j] = k->flat[j] = INFINITY;
    }
    wg_status s = halve_steps(k, x, STEP);
    const double a = input < k->d.n ? fabs(x[input]) : 0;
    if (s == WG_OK && a > 0 && a < WGI_SMALL_INPUT && k->range.scale == NULL)
        s = halve_steps(k, x, STEP * exp2(floor(log2(a))) / WGI_SMALL_INPUT);
    return s;
}

/* ---- one direction ---- */

#define ALL_INPUTS SIZE_MAX /* in place of a direction: nothing is judged along it */

/* rate: of v to a tiny input alone, or 0. */
static wg_status compare_differences(check *k, size_t direction, double rate) {
    for (size_t j = k->part->output; j < last_output(k); j++) {
        if (!finite(k->best[j]))
            return wgi_fail(k->d.c, WG_ENONFINITE,
                            "%s: %s %zu is not finite around x along direction %zu", k->d.call,
                            k->u != NULL ? "the derivative of output" : "output", j, direction);
        if (k->flat[j] < INFINITY && fabs(k->jv[j]) <= ESTIMATES * k->flat[j] + DBL_MIN) {
            k->best[j] = 0;
            k->error[j] = k->flat[j];
        }
        if (fabs(k->best[j]) <= ESTIMATES * k->error[j] &&
            fabs(k->jv[j]) <= ROUNDINGS * k->noise[j] * rate)
            continue;
        const double e = fabs(k->jv[j] - k->best[j]);
        const double allowed = ESTIMATES * k->error[j] + DBL_MIN;
        if (e / allowed < k->worst) continue;
        k->worst = e / allowed;
        k->to->found.fd_error = e;
        k->to->found.fd_estimate = k->error[j];
        k->to->found.output = j;
        k->to->found.direction = direction;
        k->to->derivative = k->jv[j] / k->unit;
        k->to->difference = k->best[j] / k->unit;
        k->to->good_to = k->error[j] / k->unit;
    }
    return WG_OK;
}

/* <a, b> by the zero rule; adds the sizes of its terms. */
static double dot(size_t n, const double *a, const double *b, double *size) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const double p = wgi_product(a[i], b[i]);
        sum += p;
        *size += fabs(p);
    }
    return sum;
}

/* <w, J v> - <J' w, v>, weighed the `which` way, or of output `which` <u, H v> - <v, H u>: at a
 * point near x. */
static wg_status apart_at(check *k, const double *point, size_t which, double *apart) {
    wgi_drive *const d = &k->d;
    const wgi_checked_part *const p = k->part;
    double size = 0;
    *apart = NAN;
    if (k->u != NULL) {
        wg_status s = wgi_drive_run(d, 0, point);
        if (s == WG_OK) s = wgi_drive_second(d, which, k->v, k->near, NULL, 0);
        if (s != WG_OK) return s;
        const double forward = dot(d->n, k->u, k->near, &size);
        s = wgi_drive_second(d, which, k->u, k->near, NULL, 0);
        if (s == WG_OK) *apart = forward - dot(d->n, k->v, k->near, &size);
        return s;
    }
    wg_status s = wgi_drive_tangent(d, point, k->v);
    if (s != WG_OK) return s;
    for (size_t j = p->output; j < last_output(k); j++)
        k->plus[j] = wg_tangent(&d->c->head, d->y[j], 0);
    s = wgi_drive_run(d, 0, point);
    if (s == WG_OK) s = wgi_drive_reverse(d, k->w[which], k->near);
    if (s != WG_OK) return s;
    *apart = dot(p->outputs, k->w[which] + p->output, k->plus + p->output, &size) -
             dot(d->n, k->near, k->v, &size);
    return s;
}

/* Is it rounding by which two products are so far apart? Then they are by something else at
 * other points next to x; a wrong derivative is as wrong there. Leaves the recording at x. */
static wg_status is_rounding(check *k, const double *x, size_t which, double apart,
                             int *rounding) {
    wgi_drive *const d = &k->d;
    double least = INFINITY, most = -INFINITY;
    uint64_t state = 1;
    for (int i = 0; i < NEIGHBOURS; i++) {
        double there;
        for (size_t l = 0; l < d->n; l++)
            k->point[l] =
                within(k, l, x[l] + ldexp(noise_step_at(k, x, l), i) * random_next(&state));
        const wg_status s = apart_at(k, k->point, which, &there);
        if (s != WG_OK && s != WG_ENONFINITE) return s;
        if (d->c->status != WG_OK) wgi_drive_begin(d, 1, 0);
        if (s != WG_OK || !finite(there)) continue;
        least = fmin(least, there), most = fmax(most, there);
    }
    *rounding = most - least >= SCATTER * fabs(apart);
    return wgi_drive_run(d, 0, x);
}

/* Two products that should be the same, each a sum of terms of this size; that along all inputs
 * is kept at `all`. `which`: as above. */
static wg_status compare_products(check *k, const double *x, double forward, double backward,
                                  double size, double *all, size_t which, size_t output,
                                  size_t direction) {
    if (direction == ALL_INPUTS) {
        *all = finite(size) ? size : 0;
        return WG_OK;
    }
    const double e = fabs(forward - backward);
    const double apart = e == 0 ? 0 : e / fmax(size, DOT_FLOOR * *all);
    if (apart <= k->apart) return WG_OK;
    if (apart > DOT_ALLOWED) {
        int rounding = 0;
        const wg_status s = is_rounding(k, x, which, e, &rounding);
        if (s != WG_OK || rounding) return s;
    }
    k->apart = apart;
    k->to->forward = forward / k->unit;
    k->to->backward = backward / k->unit;
    k->to->output = output;
    k->to->direction = direction;
    return WG_OK;
}

/* jv = J v, and <w, J v> against <J' w, v>. */
static wg_status first_order(check *k, const double *x, size_t direction) {
    wgi_drive *const d = &k->d;
    const wg_status s = wgi_drive_tangent(d, x, k->v);
    if (s != WG_OK) return s;
    for (size_t j = k->part->output; j < last_output(k); j++) {
        k->jv[j] = wg_tangent(&d->c->head, d->y[j], 0);
        if (!finite(k->jv[j]) && direction != ALL_INPUTS)
            return wgi_fail(
                d->c, WG_ENONFINITE,
                "%s: the derivative of output %zu along direction %zu is not finite", d->call,
                j, direction);
    }
    for (int way = 0; way < 2; way++) {
        double size = 0;
        const double forward =
            dot(k->part->outputs, k->w[way] + k->part->output, k->jv + k->part->output, &size);
        const double backward = dot(d->n, k->g[way], k->v, &size);
        if (!finite(backward) && direction != ALL_INPUTS)
            return wgi_fail(d->c, WG_ENONFINITE,
                            "%s: the adjoints along direction %zu are not finite", d->call,
                            direction);
        const wg_status t = compare_products(k, x, forward, backward, size, &k->all[way],
                                             (size_t)way, k->part->output, direction);
        if (t != WG_OK) return t;
    }
    return WG_OK;
}

/* jv = u' H v of every output, against v' H u. */
static wg_status second_order(check *k, const double *x, size_t direction) {
    wgi_drive *const d = &k->d;
    wg_status s = wgi_drive_run(d, 0, x);
    for (size_t j = k->part->output; j < last_output(k) && s == WG_OK; j++) {
        double size = 0;
        s = wgi_drive_second(d, j, k->v, k->g[0], NULL, 0);
        if (s != WG_OK) return s;
        k->jv[j] = dot(d->n, k->u, k->g[0], &size);
        s = wgi_drive_second(d, j, k->u, k->g[0], NULL, 0);
        if (s != WG_OK) return s;
        const double turned = dot(d->n, k->v, k->g[0], &size);
        if ((!finite(k->jv[j]) || !finite(turned)) && direction != ALL_INPUTS)
            return wgi_fail(
                d->c, WG_ENONFINITE,
                "%s: the second derivative of output %zu along direction %zu is not finite",
                d->call, j, direction);
        s = compare_products(k, x, k->jv[j], turned, size, &k->all[j], j, j, direction);
    }
    return s;
}

/* input: the only one that is moved; n: there are more. */
static wg_status one_direction(check *k, const double *x, size_t direction, size_t input) {
    wg_status s = (k->u != NULL ? second_order : first_order)(k, x, direction);
    if (s == WG_OK) s = differences(k, x, input);
    const double a = input < k->d.n ? fabs(x[input]) : 0;
    const double rate = a > 0 && a < WGI_SMALL_INPUT ? k->v[input] / fmax(a, LEAST_UNIT) : 0;
    return s == WG_OK ? compare_differences(k, direction, rate) : s;
}

/* ---- all of them ---- */

/* The weights of the outputs, and u: 0 outside of the part, and not random where that is a
 * single one. The second way outputs count about the same, whatever their units: their
 * derivatives jv along all inputs do, or their values, over the inputs, where these are so much
 * larger that rounding might be all of jv. */
static void set_weights(check *k, const double *x, uint64_t *state) {
    const wgi_checked_part *const p = k->part;
    double rate = 1; /* of v to x */
    for (size_t i = 0; i < k->d.n; i++)
        if (x[i] != 0) rate = fmax(rate, fabs(k->v[i] / x[i]));
    for (size_t j = 0; j < k->d.m; j++) {
        const double w = random_next(state);
        const double size = fmax(fabs(k->jv[j]), DOT_FLOOR * rate * fabs(k->d.y[j].value));
        const int power = size > 0x1p-500 && size < 0x1p500 ? ilogb(size) : 0;
        k->w[0][j] = j - p->output >= p->outputs ? 0 : p->outputs == 1 ? 1 : w;
        k->w[1][j] = p->outputs == 1 ? k->w[0][j] : ldexp(k->w[0][j], -power);
    }
    for (size_t i = 0; k->u != NULL && i < k->d.n; i++) {
        const double u = random_next(state);
        k->u[i] = i - p->other >= p->others ? 0 : scale_at(k, x, i) * (p->others == 1 ? 1 : u);
    }
}

static int can_move(const check *k, size_t i) { return lowest(k, i) < highest(k, i); }
/* The part of a direction that leads away from a bound next to x. */
static double inwards(const check *k, const double *x, size_t i, double v) {
    const double up = highest(k, i) - x[i], down = x[i] - lowest(k, i);
    const int turn = (v > 0 ? up : down) < scale_at(k, x, i) && (v > 0) == (up < down);
    return turn ? -v : v;
}

/* Is x where it may be, and is there a scale? */
static wg_status look_at_range(check *k, const double *x) {
    for (size_t i = 0; x != NULL && i < k->d.n; i++) {
        if ((k->range.lower != NULL && !(x[i] >= lowest(k, i))) ||
            (k->range.upper != NULL && !(x[i] <= highest(k, i))))
            return wgi_fail(k->d.c, WG_EARG, "%s: x[%zu] = %g is not within its bounds",
                            k->d.call, i, x[i]);
        if (k->range.scale != NULL && !(k->range.scale[i] > 0 && k->range.scale[i] < INFINITY))
            return wgi_fail(k->d.c, WG_EARG, "%s: scale[%zu] is not positive", k->d.call, i);
    }
    return WG_OK;
}

static wg_status all_directions(check *k, const double *x) {
    wgi_drive *const d = &k->d;
    const wgi_checked_part *const p = k->part;
    uint64_t state = 1;
    wg_status s = wgi_drive_run(d, 1, x);
    if (s != WG_OK) return s;
    for (size_t j = p->output; j < last_output(k); j++)
        if (!finite(d->y[j].value))
            return wgi_fail(d->c, WG_ENONFINITE, "%s: output %zu is not finite at x", d->call,
                            j);
    for (size_t i = 0; i < d->n; i++)
        k->v[i] = along(p, i) ? scale_at(k, x, i) * random_next(&state) : 0;
    s = wgi_drive_tangent(d, x, k->v);
    for (size_t j = 0; s == WG_OK && j < d->m; j++)
        k->jv[j] = wg_tangent(&d->c->head, d->y[j], 0);
    if (s != WG_OK) return s;
    set_weights(k, x, &state);
    if (k->u == NULL) s = wgi_drive_run(d, 0, x);
    for (int way = 0; k->u == NULL && way < 2 && s == WG_OK; way++)
        s = wgi_drive_reverse(d, k->w[way], k->g[way]);
    k->unit = 1;
    if (s == WG_OK) s = (k->u != NULL ? second_order : first_order)(k, x, ALL_INPUTS);
    for (size_t i = 0; i < d->n; i++)
        if (along(p, i)) k->v[i] *= noise_step_at(k, x, i) / scale_at(k, x, i);
    if (s == WG_OK) s = measure_noise(k, x);
    const double unit = k->u != NULL && p->others == 1 ? scale_at(k, x, p->other) : 1;
    if (s == WG_OK && p->outputs != 0) k->to->noise = k->noise[p->output] / unit;
    const int each = p->inputs <= WGI_DIRECTIONS; /* input a direction */
    const size_t directions = p->outputs == 0 ? 0 : each ? p->inputs : WGI_DIRECTIONS;
    for (size_t l = 0; l < directions && s == WG_OK; l++) {
        for (size_t i = 0; i < d->n; i++) {
            k->v[i] = along(p, i) && can_move(k, i) ? scale_at(k, x, i) : 0;
            if (!each && along(p, i)) k->v[i] *= inwards(k, x, i, random_next(&state));
            else if (each && i - p->input != l) k->v[i] = 0;
        }
        k->unit = each ? unit * scale_at(k, x, p->input + l) : unit;
        if (each && k->v[p->input + l] == 0) continue;
        s = one_direction(k, x, l, each ? p->input + l : d->n);
    }
    return s;
}

static wg_status verdict(const check *k) {
    wgi_checked *const r = k->to;
    wgi_core *const c = k->d.c;
    r->found.dot_error = k->apart;
    r->verdict = k->worst > 1                           ? WGI_DIFFERENCES
                 : !(r->found.dot_error <= DOT_ALLOWED) ? WGI_PRODUCTS
                                                        : WGI_AGREES;
    if (r->verdict == WGI_DIFFERENCES)
        return wgi_fail(c, WG_EMISMATCH,
                        k->u != NULL ? "%s: output %zu along direction %zu: u' H v is %.12g, "
                                       "by finite differences of tangents %.12g, good to %.2g"
                                     : "%s: output %zu along direction %zu: the tangent is "
                                       "%.12g, the finite difference %.12g, good to %.2g",
                        k->d.call, r->found.output, r->found.direction, r->derivative,
                        r->difference, r->good_to);
    if (r->verdict == WGI_PRODUCTS && k->u != NULL)
        return wgi_fail(c, WG_EMISMATCH,
                        "%s: output %zu along direction %zu: <u, H v> is %.12g, <v, H u> is "
                        "%.12g",
                        k->d.call, r->output, r->direction, r->forward, r->backward);
    if (r->verdict == WGI_PRODUCTS)
        return wgi_fail(c, WG_EMISMATCH,
                        "%s: <w, J v> and <J' w, v> differ by %.3g of their size", k->d.call,
                        r->found.dot_error);
    return WG_OK;
}

wg_status wgi_check(wg_tape *t, const char *call, int order, wg_callback *f, void *data,
                    size_t n, const double *x, size_t m, const wgi_checked_part *part,
                    const wg_check_range *range, wgi_checked *result) {
    const wgi_checked_part all = {0, n, 0, m, 0, n};
    wgi_checked found;
    check k;
    memset(&k, 0, sizeof k);
    memset(&found, 0, sizeof found);
    *result = found;
    k.part = part != NULL ? part : &all;
    if (range != NULL) k.range = *range;
    k.to = &found;
    const size_t most = SIZE_MAX / 1024;
    const size_t doubles = n > most || m > most ? SIZE_MAX : 7 * n + (12 + 2 * ORDERS) * m + 2;
    wg_status s = wgi_drive_open(&k.d, t, call, f, data, n, m, doubles);
    if (s == WG_OK && order == 2) s = wgi_drive_needs_code(&k.d);
    if (s == WG_OK) {
        double **const of_n[] = {&k.point, &k.v, &k.g[0], &k.g[1], &k.near, &k.base};
        double **const of_m[] = {&k.w[0],  &k.w[1], &k.jv,   &k.plus,       &k.minus, &k.best,
                                 &k.error, &k.held, &k.flat, &k.held_error, &k.noise};
        for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
            *of_n[i] = wgi_drive_room(&k.d, n);
        for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
            *of_m[i] = wgi_drive_room(&k.d, m);
        k.all = wgi_drive_room(&k.d, m + 2);
        k.row = wgi_drive_room(&k.d, m * ORDERS);
        k.above = wgi_drive_room(&k.d, m * ORDERS);
        if (order == 2) k.u = wgi_drive_room(&k.d, n);
        s = look_at_range(&k, x);
        if (s == WG_OK) s = all_directions(&k, x);
    }
    if (s == WG_OK) {
        s = verdict(&k);
        *result = found;
    }
    return wgi_drive_close(&k.d, s);
}

static wg_status whole(wg_tape *t, const char *call, int order, wg_callback *f, void *data,
                       size_t n, const double *x, size_t m, const wg_check_range *range,
                       wg_check *result) {
    const wg_check nothing = {NAN, NAN, 0, 0, NAN};
    wgi_checked r;
    const wg_status s = wgi_check(t, call, order, f, data, n, x, m, NULL, range, &r);
    if (result != NULL) *result = r.verdict != WGI_UNCHECKED ? r.found : nothing;
    return s;
}

wg_status wg_check_gradient(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                            size_t m, wg_check *result) {
    return whole(t, "wg_check_gradient", 1, f, data, n, x, m, NULL, result);
}

wg_status wg_check_hessian(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                           size_t m, wg_check *result) {
    return whole(t, "wg_check_hessian", 2, f, data, n, x, m, NULL, result);
}

wg_status wg_check_gradient_within(wg_tape *t, wg_callback *f, void *data, size_t n,
                                   const double *x, size_t m, const wg_check_range *range,
                                   wg_check *result) {
    return whole(t, "wg_check_gradient_within", 1, f, data, n, x, m, range, result);
}

wg_status wg_check_hessian_within(wg_tape *t, wg_callback *f, void *data, size_t n,
                                  const double *x, size_t m, const wg_check_range *range,
                                  wg_check *result) {
    return whole(t, "wg_check_hessian_within", 2, f, data, n, x, m, range, result);
}
