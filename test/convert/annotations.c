/* SPDX-License-Identifier: MIT */
/* Comments that say what is converted, and what is passive: read as a number.
 * options: --function f
 * inputs: 0.75 1.5
 * outputs: 3
 * call: const double w[1] = {0.5}; out[2] = f(in, 2, w, out);
 * arguments: .x = in, .n = 2, .w = (double[1]){0.5}
 */
#include <math.h>

/* wengert: function f with-respect-to x[0:2]
 *          of y[0:2], return */

typedef struct model {
    double rate;
    double scale /* wengert: passive */;
} model;

/* wengert: passive */
static double measured(double x) { return x * x; }

static double weighted(const double *w, double x) { return w[0] * x; }

/* wengert: passive */
static double calls;

double f(const double *x, int n, /* wengert: passive */ const double *w, double *y) {
    /* wengert: passive */
    double largest = 0, last[2];
    double sum = 0, kept /* wengert: passive */, free;
    model m = {x[0], 2 + 0 * x[1]};
    m.scale += 1 + 0 * x[0];
    calls += 0 * sum;
    for (int i = 0; i < n; i++) {
        sum += sin(x[i]) * m.rate;
        last[i] = n + 0 * sum;
        largest = fmax(largest, n * last[i]);
    }
    kept = 2 + 0 * sum;
    free = x[1] * kept + calls;
    y[0] = sum / largest + weighted(w, x[0]);
    y[1] = free * m.scale + measured(2 + 0 * x[0]) * x[0];
    return x[0] * x[1] + weighted(last, x[1]);
}
