/* SPDX-License-Identifier: MIT */
/* A planet around its sun, by Taylor series: each step is a series of order ORDER in time, as
 * long as its last terms say.
 *
 * Of y' = f(y) the coefficients are y_(k+1) = f_k / (k + 1), f_k being that of s^k in
 * f(y_0 + y_1 s + ... + y_k s^k), which wg_taylor gives: so the series grows by a term with
 * each call. The right-hand side is the callback, and nothing else
 * is written down. Steps: Jorba, Zou 2005, A software package for the numerical integration of
 * ODEs by means of high-order Taylor methods, 3.2. Sums are compensated (Kahan), so that what
 * is added is rounded, not what it is added to.
 *
 * The orbit is closed, and its energy known: over PERIODS periods it is kept to some 1e-15
 * of it. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <wengert.h>

enum { N = 4, ORDER = 22, PERIODS = 100 };
static const double PI = 3.141592653589793238, ECCENTRICITY = 0.5;

/* y: place and speed in a plane; the semi-major axis is 1, so that a period is 2 pi. */
static wg_status gravity(wg_tape *t, size_t n, const wg_real *y, size_t m, wg_real *f,
                         void *data) {
    (void)n, (void)m, (void)data;
    const wg_real rr = wg_let(t, wg_add(wg_square(y[0]), wg_square(y[1])));
    const wg_real pull = wg_let(t, wg_neg(wg_div(1, wg_mul(rr, wg_sqrt(rr)))));
    f[0] = y[2], f[1] = y[3];
    f[2] = wg_let(t, wg_mul(pull, y[0])), f[3] = wg_let(t, wg_mul(pull, y[1]));
    return WG_OK;
}

/* Columns 1 to ORDER of the series c, from column 0. */
static wg_status series(wg_tape *t, double c[ORDER + 1][N]) {
    double f[ORDER][N];
    for (size_t k = 0; k < ORDER; k++) {
        const wg_status s = wg_taylor(t, gravity, NULL, N, k, &c[0][0], N, &f[0][0]);
        if (s != WG_OK) return s;
        for (size_t i = 0; i < N; i++) c[k + 1][i] = f[k][i] / (double)(k + 1);
    }
    return WG_OK;
}

static double largest(const double *v) {
    double most = 0;
    for (size_t i = 0; i < N; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* How far the last two terms allow to go; half of that: what is rounded in a step shrinks
 * with it. */
static double stride(double c[ORDER + 1][N]) {
    double radius = INFINITY;
    for (size_t k = ORDER - 1; k <= ORDER; k++)
        radius = fmin(radius, pow(largest(c[0]) / largest(c[k]), 1 / (double)k));
    return radius * exp(-2 - 0.7 / (ORDER - 1)) / 2;
}

static double energy(const double *y) {
    return (y[2] * y[2] + y[3] * y[3]) / 2 - 1 / hypot(y[0], y[1]);
}

/* From y on by the time `span`. off: what the sums left out; steps: so many more; drift: the
 * most that the energy was off, relative to what it is. */
static wg_status integrate(wg_tape *t, double span, double *y, double *off, size_t *steps,
                           double *drift) {
    double c[ORDER + 1][N];
    const double at_first = -0.5; /* -1 / (2 a) */
    for (double now = 0; now < span;) {
        for (size_t i = 0; i < N; i++) c[0][i] = y[i];
        const wg_status s = series(t, c);
        if (s != WG_OK) return s;
        const double h = fmin(stride(c), span - now);
        for (size_t i = 0; i < N; i++) {
            double by = c[ORDER][i];
            for (size_t k = ORDER - 1; k >= 1; k--) by = c[k][i] + h * by;
            by = h * by - off[i];
            const double sum = y[i] + by;
            off[i] = (sum - y[i]) - by;
            y[i] = sum;
        }
        now = h == span - now ? span : now + h;
        *drift = fmax(*drift, fabs(energy(y) / at_first - 1));
        ++*steps;
    }
    return WG_OK;
}

int main(void) {
    const double e = ECCENTRICITY, start[N] = {1 - e, 0, 0, sqrt((1 + e) / (1 - e))};
    double y[N], off[N] = {0}, drift = 0, apart = 0;
    size_t steps = 0;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    if (t == NULL) return 1;
    for (size_t i = 0; i < N; i++) y[i] = start[i];
    printf("periods  steps  energy off by at most  place off by\n");
    for (int period = 1; period <= PERIODS; period++) {
        if (integrate(t, 2 * PI, y, off, &steps, &drift) != WG_OK)
            return fprintf(stderr, "%s\n", wg_tape_message(t)), 1;
        apart = hypot(y[0] - start[0], y[1] - start[1]);
        if (period == 1 || period % (PERIODS / 4) == 0)
            printf("%7d %6zu %22.1e %13.1e\n", period, steps, drift, apart);
    }
    wg_tape_free(t);
    return !(drift < 32 * DBL_EPSILON && apart < 1e-11);
}
