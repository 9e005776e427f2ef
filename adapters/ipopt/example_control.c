/* SPDX-License-Identifier: MIT */
/* Ipopt: optimal control with 10^4 variables. A mass moves from 0 to 1 in the time 1, at rest
 * at both ends, where the integral of the square of its acceleration u is smallest.
 *
 * The solution is known: x = 3 t^2 - 2 t^3, u = 6 - 12 t, the integral 12. In N steps, midpoint
 * rule with positions and speeds as unknowns, it is 12 N^2 / (N^2 - 1): the sums over 2
 * k - N + 1, and over its square, are known. The problem is recorded once: derivatives are
 * those of functions, in a few colours. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <wengert.h>
#include <wengert/ipopt.h>

enum { STEPS = 3333, N = 3 * STEPS + 2, M = 2 * STEPS + 4 };

/* Position and speed at the ends of steps, then the accelerations. */
static const wg_real *position(const wg_real *x) { return x; }
static const wg_real *speed(const wg_real *x) { return x + STEPS + 1; }
static const wg_real *acceleration(const wg_real *x) { return x + 2 * (STEPS + 1); }

static wg_status objective(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_div(wg_squared_norm(t, STEPS, acceleration(x)), STEPS));
    return WG_OK;
}

static wg_status constraints(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    const wg_real *p = position(x), *v = speed(x), *u = acceleration(x);
    const double h = 1.0 / STEPS;
    (void)n, (void)m, (void)data;
    for (int k = 0; k < STEPS; k++) {
        *y++ = wg_let(t, wg_sub(wg_sub(p[k + 1], p[k]), wg_mul(h / 2, wg_add(v[k], v[k + 1]))));
        *y++ = wg_let(t, wg_sub(wg_sub(v[k + 1], v[k]), wg_mul(h, u[k])));
    }
    y[0] = p[0], y[1] = v[0];
    y[2] = wg_let(t, wg_sub(p[STEPS], 1));
    y[3] = v[STEPS];
    return WG_OK;
}

int main(void) {
    static double x[N], zero[M];
    const double exact = 12.0 * STEPS * STEPS / ((double)STEPS * STEPS - 1);
    double value = NAN;
    wg_ipopt *s = wg_ipopt_new(&(wg_ipopt_problem){.n = N,
                                                   .m = M,
                                                   .objective = objective,
                                                   .constraints = constraints,
                                                   .start = x,
                                                   .constraint_lower = zero,
                                                   .constraint_upper = zero,
                                                   .flags = WG_RECORD_ONCE});
    if (wg_ipopt_status(s) == WG_OK) {
        AddIpoptIntOption(wg_ipopt_handle(s), "print_level", 0);
        AddIpoptStrOption(wg_ipopt_handle(s), "sb", "yes");
        if (wg_ipopt_solve(s, x, &value, NULL) == Solve_Succeeded)
            printf("%d variables: %.9f, exactly %.9f\n", N, value, exact);
    }
    if (wg_ipopt_status(s) != WG_OK) fprintf(stderr, "%s\n", wg_ipopt_message(s));
    wg_ipopt_free(s);
    return !(fabs(value - exact) < 1e-6);
}
