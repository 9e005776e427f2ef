/* SPDX-License-Identifier: MIT */
/* An operation of your own: a value, its derivatives, and from then on it records, sweeps and
 * is differentiated twice like a built-in one.
 *
 * The operation is the pseudo-Huber loss sqrt(1 + r^2) - 1 of a residual r, which grows like
 * r^2 near 0 and like |r| far away. With it a straight line a + b x is fitted through points of
 * which one is wrong, by Newton's method: gradient and Hessian come from one tape. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

/* In the texts a is the operand and v the value. GUARD: the first derivative may be 0. */
WG_OPERATION1(huber, sqrt(1 + a * a) - 1, a / sqrt(1 + a * a), pow(1 + a * a, -1.5), GUARD,
              "Charbonnier et al. 1994")
#define huber(r) WG_CALL1(huber, r)

enum { POINTS = 6, STEPS = 30 };
static const double xs[POINTS] = {0, 1, 2, 3, 4, 5};
static const double ys[POINTS] = {1.1, 2.9, 5.2, 20.0, 9.1, 10.8}; /* 1 + 2 x, but for one */

static wg_real loss(wg_tape *t, const wg_real *p) {
    wg_real sum = wg_constant(0);
    for (size_t i = 0; i < POINTS; i++) {
        wg_real r = wg_let(t, wg_sub(wg_fma(p[1], xs[i], p[0]), ys[i]));
        sum = wg_let(t, wg_add(sum, huber(r)));
    }
    return sum;
}

int main(void) {
    const wg_options options = {.flags = WG_KEEP_CODE}; /* for the Hessian */
    wg_tape *t = wg_tape_new(&options);
    double p[2] = {0, 3}, g[2] = {0, 0}, h[4];
    wg_status status = t == NULL ? WG_ENOMEM : WG_OK;
    int step = 0;
    for (; step < STEPS && status == WG_OK; step++) {
        wg_real x[2];
        wg_tape_reset(t);
        status = wg_inputs(t, 2, p, x);
        if (status != WG_OK) break;
        const wg_real y = loss(t, x);
        status = wg_reverse(t, y);
        if (status == WG_OK) status = wg_adjoints(t, 2, x, g);
        if (status == WG_OK) status = wg_tape_hessian(t, y, 2, x, h, 2);
        if (status != WG_OK) break;
        if (step < 4)
            printf("step %d  loss %9.6f  a %9.6f  b %9.6f\n", step, wg_value(y), p[0], p[1]);
        if (hypot(g[0], g[1]) < 1e-12) break;
        /* H d = g, a step of length 1 at most: far away the loss is no parabola */
        const double determinant = h[0] * h[3] - h[1] * h[2];
        const double da = (h[3] * g[0] - h[2] * g[1]) / determinant;
        const double db = (h[0] * g[1] - h[1] * g[0]) / determinant;
        const double damping = fmax(1, hypot(da, db));
        p[0] -= da / damping;
        p[1] -= db / damping;
    }
    wg_tape_free(t);
    if (status != WG_OK) {
        fprintf(stderr, "user_operation: %s\n", wg_status_text(status));
        return EXIT_FAILURE;
    }
    if (step == STEPS) {
        fprintf(stderr, "user_operation: no minimum after %d steps\n", STEPS);
        return EXIT_FAILURE;
    }
    printf("the line is %.6f + %.6f x\n", p[0], p[1]);
    return EXIT_SUCCESS;
}
