/* SPDX-License-Identifier: MIT */
/* Trust: tangents against finite differences, and tangents against adjoints.
 *
 * The difference quotient phi(h) = (f(x + h v) - f(x - h v)) / 2h has an error in even powers
 * of h. Halving h and eliminating h^2, h^4, ... gives a table; the entry that differs least
 * from its two ancestors is taken, and that difference is the estimate of its error. Letters: n
 * inputs, m outputs, v a direction, w the weights of the outputs, h a step. Source: Ridders,
 * Accurate computation of F'(x) and F'(x)F''(x), 1982; the noise after More and Wild,
 * Estimating computational noise, 2011. */
#include "tape.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    DIRECTIONS = 32,
    STEPS = 24, /* h from 2^-3 down to 2^-26, in units of the input */
    FIRST_STEP = 3,
    NOISE_POINTS = 24,
    ORDERS = 6 /* columns of the table: errors up to h^10 are eliminated */
};
/* An input much smaller than this is stepped as if it were this large. */
#define SMALL_INPUT 0x1p-6
/* In units of the input: far below any curvature, far above the rounding of x. */
#define NOISE_STEP 0x1p-30
/* A difference is good to so many of its estimates: the least of many is an optimistic one. */
#define ESTIMATES 100.0
/* Half of the bits: rounding stays far below, a wrong derivative far above. */
#define DOT_ALLOWED 0x1p-26

typedef struct check {
    wgi_drive d;
    double *point, *v, *u;         /* n each; u = J' w */
    double *w, *jv, *plus, *minus; /* m each */
    double *best, *error;          /* m each: difference, its estimate */
    double *noise;                 /* m: of the values of f */
    double *row, *above;           /* m-by-ORDERS each: the table's last two rows */
    wg_check found;
    double worst;       /* largest disagreement over what is allowed */
    double apart, size; /* largest |<w, J v> - <J' w, v>|, and sum of its terms */
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
    return exp2(floor(log2(a > SMALL_INPUT && a <= DBL_MAX ? a : SMALL_INPUT)));
}

static int finite(double x) { return x - x == 0; }

/* ---- differences ---- */

/* f(x + h v); what is not finite is NaN, also where a traced tape stops. */
static wg_status evaluate(check *k, const double *x, double h, double *values) {
    wgi_drive *const d = &k->d;
    for (size_t i = 0; i < d->n; i++) k->point[i] = k->v[i] == 0 ? x[i] : x[i] + h * k->v[i];
    const wg_status s = wgi_drive_run(d, 1, k->point);
    if (s != WG_OK && s != WG_ENONFINITE) return s;
    if (d->c->status != WG_OK) wgi_drive_begin(d, 1, 0); /* what is kept is the verdict's */
    for (size_t j = 0; j < d->m; j++) {
        const double y = s == WG_OK ? d->y[j].value : (double)NAN;
        values[j] = finite(y) ? y : (double)NAN;
    }
    return WG_OK;
}

/* noise, along a direction in which every input moves: the farthest that one of three
 * neighbouring values is from the line through the others, and no less than the rounding of f.
 * The points are unevenly spaced: on even ones the roundings may all be the same. They have few
 * bits, so that x + h v is not rounded. */
static wg_status measure_noise(check *k, const double *x) {
    const size_t m = k->d.m;
    double *const first = k->minus, *const second = k->row; /* not in use yet */
    double at[3] = {0, 0, 0};
    for (size_t j = 0; j < m; j++) k->noise[j] = first[j] = second[j] = 0;
    for (int i = 0; i < NOISE_POINTS; i++) {
        at[0] = at[1];
        at[1] = at[2];
        at[2] =
            (i + i * 99 % 256 / 256.0 - NOISE_POINTS / 2.0) * NOISE_STEP; /* golden section */
        const wg_status s = evaluate(k, x, at[2], k->plus);
        if (s != WG_OK) return s;
        const double part = (at[1] - at[0]) / (at[2] - at[0]);
        for (size_t j = 0; j < m; j++) {
            const double f = k->plus[j];
            const double off = (second[j] - first[j]) - part * (f - first[j]);
            if (i > 1) k->noise[j] = fmax(k->noise[j], fabs(off));
            k->noise[j] = fmax(k->noise[j], DBL_EPSILON * fabs(f));
            first[j] = second[j];
            second[j] = f;
        }
    }
    return WG_OK;
}

/* best and error along v; error stays infinite where no step gave finite values. */
static wg_status differences(check *k, const double *x) {
    const size_t m = k->d.m;
    for (size_t j = 0; j < m; j++) {
        k->best[j] = NAN;
        k->error[j] = INFINITY;
    }
    for (int step = 0; step < STEPS; step++) {
        const double h = ldexp(1, -FIRST_STEP - step);
        wg_status s = evaluate(k, x, h, k->plus);
        if (s == WG_OK) s = evaluate(k, x, -h, k->minus);
        if (s != WG_OK) return s;
        double *const swap = k->row;
        k->row = k->above;
        k->above = swap;
        for (size_t j = 0; j < m; j++) {
            double *const row = k->row + j * ORDERS, *const above = k->above + j * ORDERS;
            /* halves first: the difference of two large values of opposite sign */
            row[0] = (k->plus[j] / 2 - k->minus[j] / 2) / h;
            const double f = fmax(fabs(k->plus[j]), fabs(k->minus[j]));
            const double noise = fmax(k->noise[j], DBL_EPSILON * f);
            double power = 1;
            for (int i = 1; i <= step && i < ORDERS; i++) {
                power *= 4;
                row[i] = (power * row[i - 1] - above[i - 1]) / (power - 1);
                const double e = fabs(row[i] - row[i - 1]) + fabs(row[i] - above[i - 1]) +
                                 noise / h + DBL_EPSILON * fabs(row[i]);
                if (!(e < k->error[j])) continue;
                k->error[j] = e;
                k->best[j] = row[i];
            }
        }
    }
    return WG_OK;
}

/* ---- one direction ---- */

static wg_status compare_differences(check *k, size_t direction) {
    for (size_t j = 0; j < k->d.m; j++) {
        if (!finite(k->best[j]))
            return wgi_fail(k->d.c, WG_ENONFINITE,
                            "%s: output %zu is not finite around x along direction %zu",
                            k->d.call, j, direction);
        const double e = fabs(k->jv[j] - k->best[j]);
        const double allowed = ESTIMATES * k->error[j] + DBL_MIN;
        if (e / allowed < k->worst) continue;
        k->worst = e / allowed;
        k->found.fd_error = e;
        k->found.fd_estimate = k->error[j];
        k->found.output = j;
        k->found.direction = direction;
    }
    return WG_OK;
}

static wg_status one_direction(check *k, const double *x, size_t direction) {
    wgi_drive *const d = &k->d;
    wg_status s = wgi_drive_tangent(d, x, k->v);
    if (s != WG_OK) return s;
    double forward = 0, backward = 0, size = 0;
    for (size_t j = 0; j < d->m; j++) {
        k->jv[j] = wg_tangent(&d->c->head, d->y[j], 0);
        if (!finite(k->jv[j]))
            return wgi_fail(
                d->c, WG_ENONFINITE,
                "%s: the derivative of output %zu along direction %zu is not finite", d->call,
                j, direction);
        forward += k->w[j] * k->jv[j];
        size += fabs(k->w[j] * k->jv[j]);
    }
    for (size_t i = 0; i < d->n; i++) {
        const double p = wgi_product(k->u[i], k->v[i]);
        backward += p;
        size += fabs(p);
    }
    k->apart = fmax(k->apart, fabs(forward - backward));
    k->size = fmax(k->size, size);
    if (!finite(backward))
        return wgi_fail(d->c, WG_ENONFINITE,
                        "%s: the adjoints along direction %zu are not finite", d->call,
                        direction);
    s = differences(k, x);
    return s == WG_OK ? compare_differences(k, direction) : s;
}

/* ---- all of them ---- */

static wg_status all_directions(check *k, const double *x) {
    wgi_drive *const d = &k->d;
    uint64_t state = 1;
    for (size_t j = 0; j < d->m; j++) k->w[j] = random_next(&state);
    wg_status s = wgi_drive_run(d, 0, x);
    if (s != WG_OK) return s;
    for (size_t j = 0; j < d->m; j++)
        if (!finite(d->y[j].value))
            return wgi_fail(d->c, WG_ENONFINITE, "%s: output %zu is not finite at x", d->call,
                            j);
    s = wgi_drive_reverse(d, k->w, k->u);
    for (size_t i = 0; i < d->n; i++) k->v[i] = scale_of(x[i]) * random_next(&state);
    if (s == WG_OK) s = measure_noise(k, x);
    const size_t directions = d->m == 0 ? 0 : d->n <= DIRECTIONS ? d->n : DIRECTIONS;
    for (size_t l = 0; l < directions && s == WG_OK; l++) {
        for (size_t i = 0; i < d->n; i++) {
            k->v[i] = scale_of(x[i]);
            if (d->n > DIRECTIONS) k->v[i] *= random_next(&state);
            else if (i != l) k->v[i] = 0;
        }
        s = one_direction(k, x, l);
    }
    return s;
}

static wg_status verdict(const check *k) {
    const wg_check *const r = &k->found;
    if (k->worst > 1)
        return wgi_fail(k->d.c, WG_EMISMATCH,
                        "%s: output %zu along direction %zu: tangent and finite difference "
                        "differ by %.3g, the difference is good to %.3g",
                        k->d.call, r->output, r->direction, r->fd_error, r->fd_estimate);
    if (!(r->dot_error <= DOT_ALLOWED))
        return wgi_fail(k->d.c, WG_EMISMATCH,
                        "%s: <w, J v> and <J' w, v> differ by %.3g of their size", k->d.call,
                        r->dot_error);
    return WG_OK;
}

wg_status wg_check_gradient(wg_tape *t, wg_callback *f, void *data, size_t n, const double *x,
                            size_t m, wg_check *result) {
    check k;
    memset(&k, 0, sizeof k);
    const size_t most = SIZE_MAX / 1024;
    const size_t doubles = n > most || m > most ? SIZE_MAX : 3 * n + (7 + 2 * ORDERS) * m;
    wg_status s = wgi_drive_open(&k.d, t, "wg_check_gradient", f, data, n, m, doubles);
    if (s == WG_OK) {
        double **const of_n[] = {&k.point, &k.v, &k.u};
        double **const of_m[] = {&k.w, &k.jv, &k.plus, &k.minus, &k.best, &k.error, &k.noise};
        for (size_t i = 0; i < sizeof of_n / sizeof *of_n; i++)
            *of_n[i] = wgi_drive_room(&k.d, n);
        for (size_t i = 0; i < sizeof of_m / sizeof *of_m; i++)
            *of_m[i] = wgi_drive_room(&k.d, m);
        k.row = wgi_drive_room(&k.d, m * ORDERS);
        k.above = wgi_drive_room(&k.d, m * ORDERS);
        s = all_directions(&k, x);
    }
    if (s == WG_OK) {
        k.found.dot_error = k.size > 0 ? k.apart / k.size : 0;
        s = verdict(&k);
        if (result != NULL) *result = k.found;
    }
    return wgi_drive_close(&k.d, s);
}
