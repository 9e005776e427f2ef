/* SPDX-License-Identifier: MIT */
/* Beale, Booth, Goldstein-Price and Rosenbrock minimised by every rule of optimiser.h, with
 * gradients by wg_gradient.
 *
 *     minimise                      the table: every function by every rule
 *     minimise Rosenbrock Adam      one search, step by step
 *
 * The exit status is 0 when every search ends at the minimum. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wengert.h>

#include "optimiser.h"

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
    double rate[OPT_RULE_COUNT]; /* in the order of the rules; L-BFGS finds its own */
};

static const struct problem problems[] = {
    {"Beale", beale, {1, 1}, {3, 0.5}, 0, {0.02, 0.005, 0.005, 0.01, 0.02, 0.5, 0}},
    {"Booth", booth, {-5, 5}, {1, 3}, 0, {0.1, 0.02, 0.02, 0.1, 0.1, 2, 0}},
    {"Goldstein-Price",
     goldstein_price,
     {-0.3, -0.7},
     {0, -1},
     3,
     {2e-4, 5e-5, 5e-5, 0.005, 0.005, 0.1, 0}},
    {"Rosenbrock", rosenbrock, {-1.2, 1}, {1, 1}, 0, {1e-3, 3e-4, 3e-4, 0.01, 0.01, 0.5, 0}},
};

/* How far from the minimum a search may end: its tolerance over the smallest curvature found at
 * these minima (Beale's, 0.3), and a factor 3. */
static const double tolerance = 1e-8, nearness = 1e-7;

struct context {
    wg_tape *tape;
    wg_callback *f;
};

static int gradient(void *ctx, size_t n, const double *x, double *value, double *g) {
    const struct context *c = ctx;
    return wg_gradient(c->tape, c->f, NULL, n, x, value, g) != WG_OK;
}

/* One search, printed. Result: whether it ends at the minimum. */
static int run(wg_tape *t, const struct problem *p, opt_rule rule, opt_progress *progress) {
    struct context c = {t, p->f};
    struct opt_options o = {.rule = rule, .limit = 100000, .tolerance = tolerance};
    struct opt_result r = {0};
    o.rate = p->rate[rule];
    /* The steps of RMSProp do not get shorter by themselves. */
    if (rule == OPT_RMSPROP) {
        o.schedule = OPT_EXPONENTIAL;
        o.period = 1000;
    }
    o.progress = progress;
    o.progress_ctx = stdout;
    double x[2] = {p->start[0], p->start[1]};
    const opt_status status = opt_minimise(gradient, &c, 2, x, &o, &r);
    const double distance = hypot(x[0] - p->minimum[0], x[1] - p->minimum[1]);
    const int is_found = status <= OPT_LIMIT && distance <= nearness;
    printf("%-16s %-17s %7g %7zu %7zu %11.8f %11.8f %10.1e  %s%s\n", p->name,
           opt_rule_text(rule), p->rate[rule], r.steps, r.evaluations, x[0], x[1],
           r.value - p->value, opt_status_text(status), is_found ? "" : ", not at the minimum");
    return is_found;
}

int main(int argc, char **argv) {
    wg_tape *t = wg_tape_new(NULL);
    int all = t != NULL, searches = 0;
    printf("%-16s %-17s %7s %7s %7s %11s %11s %10s\n", "function", "rule", "rate", "steps",
           "values", "x", "y", "f - min f");
    for (size_t i = 0; t != NULL && i < sizeof problems / sizeof problems[0]; i++)
        for (int rule = 0; rule < OPT_RULE_COUNT; rule++) {
            const char *name = opt_rule_text((opt_rule)rule);
            if (argc > 1 && strcmp(argv[1], problems[i].name) != 0) continue;
            if (argc > 2 && strcmp(argv[2], name) != 0) continue;
            if (rule == OPT_LBFGS && !opt_has_lbfgs()) continue;
            all &= run(t, &problems[i], (opt_rule)rule, argc > 2 ? opt_print : NULL);
            searches++;
        }
    if (!opt_has_lbfgs())
        printf("%s: %s\n", opt_rule_text(OPT_LBFGS), opt_status_text(OPT_EABSENT));
    wg_tape_free(t);
    return all && searches > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
