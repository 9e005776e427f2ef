/* SPDX-License-Identifier: MIT */
/* Curves through measurements without a formula: Gaussian processes whose length scale,
 * amplitude and noise are those of the largest marginal likelihood.
 *
 * The measurements are those of four NIST regression problems (nist_data.h). Whoever measured
 * had a formula, and NIST certifies how far the points scatter about it. A process that knows
 * no formula finds the same scatter: the exit status is 0 when each does to two standard errors
 * of a standard deviation of n points, 1 / sqrt(2 n), and when wg_gp_logml has the value and
 * the gradient of the likelihood put together from covariance, factor, solve and
 * log-determinant.
 *
 * Source: Rasmussen and Williams 2006, Gaussian Processes for Machine Learning, 5.4. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wengert.h>

#include "nist_data.h"

enum { SCALE, SIGMA, NOISE, PARAMETERS, MOST = 300 };

struct context {
    wg_tape *tape;
    size_t n;
    double x[MOST], y[MOST]; /* mean 0, variance 1, both */
    double spread;           /* standard deviation of y as measured */
};

/* Mean 0 and variance 1. Result: the standard deviation before. */
static double standardise(size_t n, double *a) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) mean += a[i] / (double)n;
    for (size_t i = 0; i < n; i++) square += (a[i] - mean) * (a[i] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) a[i] = (a[i] - mean) / sqrt(square);
    return sqrt(square);
}

/* The log marginal likelihood in one operation, */
static wg_real whole(const struct context *c, wg_mat x, wg_mat y, const wg_real *p) {
    return wg_gp_logml(c->tape, WG_SQUARED_EXPONENTIAL, x, y, p[SCALE], p[SIGMA], p[NOISE]);
}

/* and from its parts: -1/2 (y' K^-1 y + log det K + n log 2 pi). */
static wg_real parts(const struct context *c, wg_mat x, wg_mat y, const wg_real *p) {
    wg_tape *t = c->tape;
    const wg_mat k = wg_covariance(t, WG_SQUARED_EXPONENTIAL, x, p[SCALE], p[SIGMA], p[NOISE]);
    const wg_factor f = wg_potrf(t, k);
    const wg_real fit = wg_mat_dot(t, y, wg_factor_solve(t, f, 'N', y));
    const double constant = (double)c->n * log(2 * 3.14159265358979323846);
    return wg_let(t, wg_mul(-0.5, wg_add(wg_add(fit, wg_factor_logdet(t, f)), constant)));
}

typedef wg_real likelihood(const struct context *, wg_mat, wg_mat, const wg_real *);

/* Minus that, at the logarithms of the parameters. */
struct objective {
    const struct context *c;
    likelihood *l;
};

static wg_status minus(wg_tape *t, size_t n, const wg_real *log_p, size_t m, wg_real *y,
                       void *data) {
    const struct objective *o = data;
    const struct context *c = o->c;
    wg_real p[PARAMETERS];
    (void)n, (void)m;
    for (size_t i = 0; i < PARAMETERS; i++) p[i] = wg_let(t, wg_exp(log_p[i]));
    const wg_mat at = wg_mat_constant(t, c->n, 1, c->x, c->n);
    const wg_mat measured = wg_mat_constant(t, c->n, 1, c->y, c->n);
    y[0] = wg_let(t, wg_neg(o->l(c, at, measured, p)));
    return WG_OK;
}

/* One fit, printed. Result: whether all of it agrees. */
static int fit(struct context *c, const struct nist_problem *p) {
    c->n = p->observations;
    if (c->n > MOST) return 0;
    for (size_t i = 0; i < c->n; i++) {
        c->x[i] = p->points[i].x;
        c->y[i] = p->points[i].y;
    }
    (void)standardise(c->n, c->x);
    c->spread = standardise(c->n, c->y);
    double x[PARAMETERS] = {log(0.5), log(1), log(0.1)};
    struct objective all = {c, whole}, put_together = {c, parts};
    const wg_minimise_options o = {.gradient = 1e-3};
    wg_minimise_result r;
    const wg_status status = wg_minimise(c->tape, minus, &all, PARAMETERS, x, &o, &r);
    double value[2] = {0, 0}, g[2][PARAMETERS] = {{0}}, error = INFINITY;
    if (wg_gradient(c->tape, minus, &all, PARAMETERS, x, &value[0], g[0]) == WG_OK &&
        wg_gradient(c->tape, minus, &put_together, PARAMETERS, x, &value[1], g[1]) == WG_OK) {
        error = fabs(value[0] - value[1]);
        for (int i = 0; i < PARAMETERS; i++) error = fmax(error, fabs(g[0][i] - g[1][i]));
    }
    const double noise = exp(x[NOISE]) * c->spread, ratio = noise / p->residual_deviation;
    const double standard_error = 1 / sqrt(2 * (double)c->n);
    /* of the covariance matrix, at most: what rounding is multiplied with */
    const double condition = (double)c->n * exp(2 * (x[SIGMA] - x[NOISE])) + 1;
    const int is_right = status == WG_OK && r.converged &&
                         fabs(ratio - 1) <= 2 * standard_error &&
                         error <= (double)c->n * DBL_EPSILON * condition;
    printf("%-9s %4zu %6zu %10.3f %8.4f %9.4f %10.6f %10.6f  %s\n", p->name, c->n, r.steps,
           -r.value, exp(x[SCALE]), exp(x[SIGMA]), noise, p->residual_deviation,
           is_right ? "agrees" : "DIFFERS");
    return is_right;
}

int main(void) {
    static const char *const names[] = {"Chwirut2", "Eckerle4", "Hahn1", "Thurber"};
    struct context c = {.tape = wg_tape_new(NULL)};
    int all = c.tape != NULL;
    printf("%-9s %4s %6s %10s %8s %9s %10s %10s\n", "data", "n", "steps", "log p(y)", "length",
           "amplitude", "noise", "certified");
    for (size_t i = 0; c.tape != NULL && i < nist_problem_count; i++)
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++)
            if (strcmp(nist_problems[i].name, names[j]) == 0) all &= fit(&c, &nist_problems[i]);
    wg_tape_free(c.tape);
    return all ? EXIT_SUCCESS : EXIT_FAILURE;
}
