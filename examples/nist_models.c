/* SPDX-License-Identifier: MIT */
/* The models: each one the value at x as a function of the parameters b, written as published,
 * and from it the callback that takes all residuals.
 *
 * Formulas: NIST Statistical Reference Datasets, Nonlinear Regression. */
#include "nist_models.h"

#include "nist_data.h"

static wg_real misra1a(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_mul(b[0], wg_sub(1, wg_exp(wg_mul(b[1], -x)))));
}

static wg_real misra1b(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_mul(b[0], wg_sub(1, wg_pow(wg_add(1, wg_mul(b[1], x / 2)), -2))));
}

static wg_real chwirut2(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_div(wg_exp(wg_mul(b[0], -x)), wg_add(b[1], wg_mul(b[2], x))));
}

/* A decay, the term that several models are made of: scale exp(-rate x). */
static wg_real decay(wg_tape *t, wg_real scale, wg_real rate, double x) {
    return wg_let(t, wg_mul(scale, wg_exp(wg_mul(rate, -x))));
}

static wg_real lanczos3(wg_tape *t, const wg_real *b, double x) {
    const wg_real first = decay(t, b[0], b[1], x);
    const wg_real second = decay(t, b[2], b[3], x);
    const wg_real third = decay(t, b[4], b[5], x);
    return wg_let(t, wg_add(wg_add(first, second), third));
}

/* A Gaussian peak: height exp(-((x - centre) / width)^2). */
static wg_real peak(wg_tape *t, wg_real height, wg_real centre, wg_real width, double x) {
    return wg_let(t,
                  wg_mul(height, wg_exp(wg_neg(wg_square(wg_div(wg_sub(x, centre), width))))));
}

static wg_real gauss1(wg_tape *t, const wg_real *b, double x) {
    const wg_real background = decay(t, b[0], b[1], x);
    const wg_real first = peak(t, b[2], b[3], b[4], x);
    const wg_real second = peak(t, b[5], b[6], b[7], x);
    return wg_let(t, wg_add(wg_add(background, first), second));
}

static wg_real danwood(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_mul(b[0], wg_pow(x, b[1])));
}

static wg_real quadratic(wg_tape *t, wg_real c0, wg_real c1, wg_real c2, double x) {
    return wg_let(t, wg_add(c0, wg_mul(x, wg_add(c1, wg_mul(x, c2)))));
}

static wg_real cubic(wg_tape *t, wg_real c0, wg_real c1, wg_real c2, wg_real c3, double x) {
    const wg_real inner = quadratic(t, c1, c2, c3, x);
    return wg_let(t, wg_add(c0, wg_mul(x, inner)));
}

static wg_real hahn1(wg_tape *t, const wg_real *b, double x) {
    const wg_real above = cubic(t, b[0], b[1], b[2], b[3], x);
    const wg_real below = cubic(t, wg_constant(1), b[4], b[5], b[6], x);
    return wg_let(t, wg_div(above, below));
}

static wg_real kirby2(wg_tape *t, const wg_real *b, double x) {
    const wg_real above = quadratic(t, b[0], b[1], b[2], x);
    const wg_real below = quadratic(t, wg_constant(1), b[3], b[4], x);
    return wg_let(t, wg_div(above, below));
}

static wg_real mgh09(wg_tape *t, const wg_real *b, double x) {
    const wg_real above = quadratic(t, wg_constant(0), b[1], wg_constant(1), x);
    const wg_real below = quadratic(t, b[3], b[2], wg_constant(1), x);
    return wg_let(t, wg_div(wg_mul(b[0], above), below));
}

static wg_real mgh10(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_mul(b[0], wg_exp(wg_div(b[1], wg_add(x, b[2])))));
}

static wg_real mgh17(wg_tape *t, const wg_real *b, double x) {
    const wg_real first = decay(t, b[1], b[3], x);
    const wg_real second = decay(t, b[2], b[4], x);
    return wg_let(t, wg_add(wg_add(b[0], first), second));
}

static wg_real rat42(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_div(b[0], wg_add(1, wg_exp(wg_sub(b[1], wg_mul(b[2], x))))));
}

static wg_real rat43(wg_tape *t, const wg_real *b, double x) {
    const wg_real below = wg_let(t, wg_add(1, wg_exp(wg_sub(b[1], wg_mul(b[2], x)))));
    return wg_let(t, wg_div(b[0], wg_pow(below, wg_div(1, b[3]))));
}

static wg_real eckerle4(wg_tape *t, const wg_real *b, double x) {
    const wg_real z = wg_let(t, wg_div(wg_sub(x, b[2]), b[1]));
    return wg_let(t, wg_mul(wg_div(b[0], b[1]), wg_exp(wg_mul(-0.5, wg_square(z)))));
}

static wg_real bennett5(wg_tape *t, const wg_real *b, double x) {
    return wg_let(t, wg_mul(b[0], wg_pow(wg_add(b[1], x), wg_div(-1, b[2]))));
}

/* The callback of a model with that many parameters. */
#define RESIDUALS(model, count)                                                                \
    wg_status nist_##model(wg_tape *t, size_t n, const wg_real *b, size_t m, wg_real *r,       \
                           void *data) {                                                       \
        const struct nist_problem *problem = data;                                             \
        if (n != (count) || m != problem->observations) return WG_ESHAPE;                      \
        for (size_t i = 0; i < m; i++)                                                         \
            r[i] = wg_let(t, wg_sub(model(t, b, problem->points[i].x), problem->points[i].y)); \
        return WG_OK;                                                                          \
    }

RESIDUALS(misra1a, 2)
RESIDUALS(misra1b, 2)
RESIDUALS(chwirut2, 3)
RESIDUALS(lanczos3, 6)
RESIDUALS(gauss1, 8)
RESIDUALS(danwood, 2)
RESIDUALS(hahn1, 7)
RESIDUALS(kirby2, 5)
RESIDUALS(mgh09, 4)
RESIDUALS(mgh10, 3)
RESIDUALS(mgh17, 5)
RESIDUALS(rat42, 3)
RESIDUALS(rat43, 4)
RESIDUALS(eckerle4, 3)
RESIDUALS(bennett5, 3)
