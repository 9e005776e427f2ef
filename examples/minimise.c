/* SPDX-License-Identifier: MIT */
/* Beale, Booth, Goldstein-Price and Rosenbrock minimised by every method and rule of
 * wengert/optimise.h.
 *
 *     minimise                      the table: every function by every one of them
 *     minimise Rosenbrock Adam      one search, step by step
 *
 * The exit status is 0 when every search ends at the minimum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wengert.h>

#include "print_step.h"

/* ---- the functions: y[0] = f(x[0], x[1]) ------------------------------------------------- */

static wg_status beale(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    static const double c[] = {1.5, 2.25, 2.625};
    (void)n, (void)m, (void)data;
    wg_real sum = wg_constant(0), power = wg_constant(1);
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        power = wg_let(t, wg_mul(power, x[1]));
        sum =
            wg_let(t, wg_add(sum, wg_square(wg_add(wg_sub(c[i], x[0]), wg_mul(x[0], power)))));
    }
    y[0] = sum;
    return WG_OK;
}

static wg_status booth(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(wg_add(x[0], wg_mul(2, x[1])), 7)),
                            wg_square(wg_sub(wg_add(wg_mul(2, x[0]), x[1]), 5))));
    return WG_OK;
}

static wg_status goldstein_price(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *data) {
    (void)n, (void)m, (void)data;
    const wg_real u = x[0], v = x[1];
    const wg_real uu = wg_let(t, wg_square(u)), uv = wg_let(t, wg_mul(u, v));
    const wg_real vv = wg_let(t, wg_square(v));
    /* Both factors are 1 + square(linear) * quadratic; the quadratics term by term. */
    wg_real p = wg_let(t, wg_add(wg_sub(19, wg_mul(14, u)), wg_mul(3, uu)));
    p = wg_let(t, wg_add(wg_sub(p, wg_mul(14, v)), wg_add(wg_mul(6, uv), wg_mul(3, vv))));
    wg_real q = wg_let(t, wg_add(wg_sub(18, wg_mul(32, u)), wg_mul(12, uu)));
    q = wg_let(t, wg_add(wg_add(q, wg_mul(48, v)), wg_sub(wg_mul(27, vv), wg_mul(36, uv))));
    p = wg_let(t, wg_add(1, wg_mul(wg_square(wg_add(wg_add(u, v), 1)), p)));
    q = wg_let(t, wg_add(30, wg_mul(wg_square(wg_sub(wg_mul(2, u), wg_mul(3, v))), q)));
    y[0] = wg_let(t, wg_mul(p, q));
    return WG_OK;
}

static wg_status rosenbrock(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_square(wg_sub(1, x[0])),
                            wg_mul(100, wg_square(wg_sub(x[1], wg_square(x[0]))))));
    return WG_OK;
}

/* ---- the problems ------------------------------------------------------------------------ */

struct problem {
    const char *name;
    wg_callback *f;
    double start[2], minimum[2], value;
    double rate[WG_RULE_COUNT]; /* in the order of the rules */
};

static const struct problem problems[] = {
    {"Beale", beale, {1, 1}, {3, 0.5}, 0, {0.02, 0.005, 0.005, 0.01, 0.02, 0.5}},
    {"Booth", booth, {-5, 5}, {1, 3}, 0, {0.1, 0.02, 0.02, 0.1, 0.1, 2}},
    {"Goldstein-Price",
     goldstein_price,
     {-0.3, -0.7},
     {0, -1},
     3,
     {2e-4, 5e-5, 5e-5, 0.005, 0.005, 0.1}},
    {"Rosenbrock", rosenbrock, {-1.2, 1}, {1, 1}, 0, {1e-3, 3e-4, 3e-4, 0.01, 0.01, 0.5}},
};

/* How far from the minimum a search may end: its tolerance over the smallest curvature found at
 * these minima (Beale's, 0.3), and a factor 3. */
static const double tolerance = 1e-8, nearness = 1e-7;

/* One search, printed. Result: whether it ends at the minimum. */
static int run(wg_tape *t, const struct problem *p, wg_method method, wg_rule rule,
               wg_minimise_progress *progress) {
    wg_minimise_options o = {.method = method, .limit = 100000, .gradient = tolerance};
    wg_minimise_result r;
    const int descends = method == WG_DESCENT;
    o.descent.rule = rule;
    o.descent.rate = p->rate[rule];
    /* The steps of RMSProp do not get shorter by themselves. */
    if (rule == WG_RMSPROP) {
        o.descent.schedule = WG_RATE_EXPONENTIAL;
        o.descent.period = 1000;
    }
    o.progress = progress;
    double x[2] = {p->start[0], p->start[1]};
    const wg_status status = wg_minimise(t, p->f, NULL, 2, x, &o, &r);
    const double distance = hypot(x[0] - p->minimum[0], x[1] - p->minimum[1]);
    const int is_found = status == WG_OK && distance <= nearness;
    printf("%-16s %-17s %7g %7zu %7zu %11.8f %11.8f %10.1e  %s%s\n", p->name,
           descends ? wg_rule_text(rule) : wg_method_text(method), descends ? p->rate[rule] : 0,
           r.steps, r.evaluations, x[0], x[1], r.value - p->value, wg_stop_text(r.why),
           is_found ? "" : ", not at the minimum");
    if (status != WG_OK) fprintf(stderr, "%s\n", wg_tape_message(t));
    return is_found;
}

int main(int argc, char **argv) {
    wg_tape *t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE}); /* for Newton-CG */
    int all = t != NULL, searches = 0;
    printf("%-16s %-17s %7s %7s %7s %11s %11s %10s\n", "function", "method", "rate", "steps",
           "values", "x", "y", "f - min f");
    for (size_t i = 0; t != NULL && i < sizeof problems / sizeof problems[0]; i++)
        for (int k = 0; k < WG_RULE_COUNT + WG_DESCENT; k++) {
            const wg_method method =
                k < WG_RULE_COUNT ? WG_DESCENT : (wg_method)(k - WG_RULE_COUNT);
            const wg_rule rule = k < WG_RULE_COUNT ? (wg_rule)k : WG_PLAIN;
            const char *name = k < WG_RULE_COUNT ? wg_rule_text(rule) : wg_method_text(method);
            if (argc > 1 && strcmp(argv[1], problems[i].name) != 0) continue;
            if (argc > 2 && strcmp(argv[2], name) != 0) continue;
            all &= run(t, &problems[i], method, rule, argc > 2 ? print_step : NULL);
            searches++;
        }
    wg_tape_free(t);
    return all && searches > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
