/* SPDX-License-Identifier: MIT */
/* Optimal control of van der Pol's oscillator, by shooting: x' = (1 - y^2) x - y + u, y' = x
 * from (0, 1), with a control u between -0.3 and 1 that makes the integral of x^2 + y^2 + u^2
 * over 5 units of time smallest. The control is constant on INTERVALS pieces of time; one
 * record has the solution and the integral, and its adjoint the gradient by all of them.
 *
 * The problem is case 6.1 of Balsa-Canto, Banga, Alonso, Vassiliadis 2002, Restricted second
 * order information for the solution of optimal control problems using control vector
 * parameterization. Published for controls that are free at 60 points of collocation
 * (PROPT): 2.8672595. */
#include <math.h>
#include <stdio.h>
#include <wengert.h>

#include "print_step.h"

enum { INTERVALS = 200 };
static const double END = 5, PUBLISHED = 2.8672595;

/* in: the time, x, y, u */
static wg_status oscillator(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *rate,
                            void *data) {
    const wg_real x = in[1], y = in[2], u = in[3];
    (void)n, (void)m, (void)data;
    rate[0] = wg_let(t, wg_add(wg_sub(wg_mul(wg_sub(1, wg_square(y)), x), y), u));
    rate[1] = x;
    return WG_OK;
}
static wg_status cost(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *g,
                      void *data) {
    (void)n, (void)m, (void)data;
    g[0] = wg_let(t, wg_add(wg_add(wg_square(in[1]), wg_square(in[2])), wg_square(in[3])));
    return WG_OK;
}

static wg_status integral(wg_tape *t, size_t n, const wg_real *u, size_t m, wg_real *f,
                          void *data) {
    const wg_ode *const k = data;
    const double start[] = {0, 1};
    double at[INTERVALS + 1];
    wg_mat y, sum;
    (void)m;
    for (size_t i = 0; i <= n; i++) at[i] = END * (double)i / INTERVALS;
    const wg_status s = wg_ode_solve(
        t, k, &(wg_ode_options){.method = WG_RK4, .step = END / INTERVALS}, n + 1, at,
        wg_mat_constant(t, 2, 1, start, 2), wg_mat_gather(t, 1, n, u), &y, &sum, NULL);
    if (s == WG_OK) f[0] = wg_mat_at(sum, 0, n);
    return s;
}

int main(void) {
    const wg_argument in[] = {{"t", 1, 1, 0}, {"state", 2, 1, 0}, {"u", 1, 1, 0}},
                      rates = {"rates", 2, 1, 0}, costs = {"cost", 1, 1, 0};
    const double at[] = {0, 0, 1, 0};
    double u[INTERVALS] = {0}, lower[INTERVALS], upper[INTERVALS];
    wg_minimise_result result;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    wg_function *f = NULL, *g = NULL;
    wg_ode *k = NULL;
    if (t == NULL) return 1;
    for (size_t i = 0; i < INTERVALS; i++) lower[i] = -0.3, upper[i] = 1;
    if (wg_function_record(t, oscillator, NULL, 3, in, at, 1, &rates, &f) != WG_OK ||
        wg_function_record(t, cost, NULL, 3, in, at, 1, &costs, &g) != WG_OK ||
        wg_ode_new(t, &(wg_ode_system){.rhs = f, .integrand = g}, &k) != WG_OK ||
        wg_minimise(
            t, integral, k, INTERVALS, u,
            &(wg_minimise_options){
                .gradient = 1e-7, .lower = lower, .upper = upper, .progress = print_step},
            &result) != WG_OK)
        return fprintf(stderr, "%s\n", wg_tape_message(t)), 1;
    size_t held = 0;
    for (size_t i = 0; i < INTERVALS; i++) held += u[i] == lower[i] || u[i] == upper[i];
    printf(
        "%s, after %zu steps: %.7f, published %.7f; u(0) = %.4f, at a bound for %zu of %d intervals\n",
        wg_stop_text(result.why), result.steps, result.value, PUBLISHED, u[0], held, INTERVALS);
    wg_ode_free(k);
    wg_function_free(f), wg_function_free(g);
    wg_tape_free(t);
    /* constant pieces cost more than a free control, by the square of their length */
    const double h = END / INTERVALS;
    return !(result.converged && result.value > PUBLISHED - 1e-6 &&
             result.value < PUBLISHED + h * h);
}
