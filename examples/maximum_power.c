/* SPDX-License-Identifier: MIT */
/* A nonlinear solver in the middle of a computation: its solution is found outside of the tape
 * and gets its derivatives from the implicit function theorem (wg_implicit).
 *
 * A solar cell feeds a load of resistance R. Voltage V and current I solve
 *
 *     light - I0 (exp(u / a) - 1) - u / Rp - I = 0,  u = V + I Rs        (single-diode model)
 *     V - I R = 0
 *
 * How much does the power V I change with each parameter? Which load draws the most? There the
 * derivative of the power in R is 0, and R is the cell's own resistance -dV/dI (Jacobi 1840),
 * which is known in closed form: that is the check of the derivative, next to finite
 * differences.
 *
 * Parameters: those of the 57 mm R.T.C. cell, Easwarakhanthan et al. 1986. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <wengert.h>

enum { V, I, UNKNOWNS };
enum { LIGHT, I0, A, RS, RP, R, PARAMETERS };

static const char *const names[PARAMETERS] = {
    "light current A",       "saturation current A",    "thermal voltage V",
    "series resistance Ohm", "parallel resistance Ohm", "load Ohm"};
static const double cell[PARAMETERS] = {0.7608, 3.223e-7, 0.03908, 0.0364, 53.76, 0.5};

/* The equations: in[0..2) the unknowns, then the parameters. */
static wg_status equations(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *r,
                           void *data) {
    const wg_real *p = in + UNKNOWNS;
    (void)n, (void)m, (void)data;
    const wg_real u = wg_let(t, wg_fma(in[I], p[RS], in[V]));
    const wg_real diode = wg_let(t, wg_mul(p[I0], wg_expm1(wg_div(u, p[A]))));
    r[0] = wg_let(t, wg_sub(wg_sub(p[LIGHT], diode), wg_add(wg_div(u, p[RP]), in[I])));
    r[1] = wg_let(t, wg_sub(in[V], wg_mul(in[I], p[R])));
    return WG_OK;
}

/* The solver: Newton's method, which knows nothing of derivatives in p. `t` is a tape of its
 * own. */
static wg_status solve(wg_tape *t, const double *p, double *x) {
    double in[UNKNOWNS + PARAMETERS] = {0.5, 0.5}, r[UNKNOWNS],
                         j[UNKNOWNS * (UNKNOWNS + PARAMETERS)];
    for (int i = 0; i < PARAMETERS; i++) in[UNKNOWNS + i] = p[i];
    wg_status status = WG_OK;
    double last = INFINITY;
    for (int k = 0; k < 100; k++) {
        status = wg_jacobian(t, equations, NULL, UNKNOWNS + PARAMETERS, in, UNKNOWNS, r,
                             WG_COL_MAJOR, j, UNKNOWNS);
        if (status != WG_OK) return status;
        const double determinant = j[0] * j[3] - j[1] * j[2];
        const double dv = (j[3] * r[0] - j[2] * r[1]) / determinant;
        const double di = (j[0] * r[1] - j[1] * r[0]) / determinant;
        const double size = hypot(dv, di);
        /* until rounding makes steps longer again */
        if (size == 0 || (size < 1e-12 && size >= last)) {
            x[V] = in[V], x[I] = in[I];
            return WG_OK;
        }
        last = size;
        in[V] -= dv, in[I] -= di;
    }
    return WG_ECONVERGE;
}

/* The power at parameters p, and its gradient unless that is NULL. */
static wg_status power(wg_tape *t, wg_tape *inner, const double *p, double *x, double *value,
                       double *g) {
    wg_real parameters[PARAMETERS], y[UNKNOWNS];
    wg_status status = solve(inner, p, x);
    if (status != WG_OK) return status;
    wg_tape_reset(t);
    status = wg_inputs(t, PARAMETERS, p, parameters);
    if (status == WG_OK)
        status = wg_implicit(t, equations, NULL, UNKNOWNS, x, PARAMETERS, parameters, y);
    const wg_real watts = wg_let(t, wg_mul(y[V], y[I]));
    *value = wg_value(watts);
    if (status == WG_OK) status = wg_reverse(t, watts);
    if (status == WG_OK) status = wg_adjoints(t, PARAMETERS, parameters, g);
    return status;
}

/* dV/dI of the cell at a point, by hand. */
static double slope(const double *p, const double *x) {
    const double g = p[I0] / p[A] * exp((x[V] + x[I] * p[RS]) / p[A]) + 1 / p[RP];
    return -p[RS] - 1 / g;
}

/* The parameters one by one: derivatives against central differences. */
static wg_status table(wg_tape *t, wg_tape *inner, const double *p, int *is_right) {
    double x[UNKNOWNS], value, g[PARAMETERS], other[PARAMETERS];
    wg_status status = power(t, inner, p, x, &value, g);
    if (status != WG_OK) return status;
    printf("load %.4f Ohm: %.6f V, %.6f A, %.6f W\n", p[R], x[V], x[I], value);
    printf("    %-24s %12s %15s %15s\n", "parameter", "value", "d power", "by differences");
    for (int i = 0; i < PARAMETERS && status == WG_OK; i++) {
        double q[PARAMETERS], high, low;
        const double h = 1e-4 * p[i]; /* their error: h^2, and rounding over h */
        for (int k = 0; k < PARAMETERS; k++) q[k] = p[k];
        q[i] = p[i] + h;
        status = power(t, inner, q, x, &high, other);
        if (status != WG_OK) break;
        q[i] = p[i] - h;
        status = power(t, inner, q, x, &low, other);
        if (status != WG_OK) break;
        const double difference = (high - low) / (2 * h);
        const int agrees = fabs(difference - g[i]) * p[i] <= 1e-6 * value;
        printf("    %-24s %12g %15.8g %15.8g%s\n", names[i], p[i], g[i], difference,
               agrees ? "" : "  DIFFERS");
        *is_right &= agrees;
    }
    return status;
}

int main(void) {
    wg_tape *t = wg_tape_new(NULL), *inner = wg_tape_new(NULL);
    double p[PARAMETERS], x[UNKNOWNS], value = 0, g[PARAMETERS] = {0}, low = 0.1, high = 2;
    int is_right = 1;
    for (int i = 0; i < PARAMETERS; i++) p[i] = cell[i];
    wg_status status = t == NULL || inner == NULL ? WG_ENOMEM : table(t, inner, p, &is_right);
    /* the best load, between two where the power rises and falls */
    while (status == WG_OK && high - low > 1e-12) {
        p[R] = (low + high) / 2;
        status = power(t, inner, p, x, &value, g);
        *(g[R] > 0 ? &low : &high) = p[R];
    }
    wg_tape_free(t);
    wg_tape_free(inner);
    if (status != WG_OK) {
        fprintf(stderr, "maximum_power: %s\n", wg_status_text(status));
        return EXIT_FAILURE;
    }
    const int is_matched = fabs(p[R] + slope(p, x)) <= 1e-9 * p[R];
    printf("the most, %.6f W, is drawn by %.9f Ohm; the cell itself has %.9f Ohm%s\n", value,
           p[R], -slope(p, x), is_matched ? "" : ": DIFFERS");
    return is_right && is_matched ? EXIT_SUCCESS : EXIT_FAILURE;
}
