/* SPDX-License-Identifier: MIT */
/* Indices that a condition or a declaration changes, and what is read behind that in it, and behind it.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:5]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 5
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static int cursor;
static int advance(void) { return cursor++; }

static double by_call(const double *x, double u) {
    cursor = 1;
    double s = x[cursor] * x[cursor] * u;
    if (advance() > 0 && x[cursor] < 0) s = s * x[cursor] * x[cursor];
    return s * x[cursor];
}

static double by_step(const double *x, int i, double u) {
    double s = x[i] * x[i] * u;
    if (i++ > 0 && x[i] < 0) s = s * s * x[0];
    return s * s;
}

static double declared(const double *x, int i, double u) {
    double s = x[i] * x[i] * u;
    const int before = i++;
    s = s + x[i] * x[i] * before;
    return s * s;
}

static double both_declared(const double *x, int i, double u) {
    double s = u * u * x[i];
    const int before = i++, less = x[i] < 0;
    s = s * s * (before + 2 * less);
    return s * s;
}

static double beside_a_variable(const double *x, int i, double u) {
    double s = x[i] * x[i] * u;
    double t = s * s, k = i++;
    s = s * t + x[i] * x[i] * k;
    return s * s;
}

void f(const double *x, double *y) {
    y[0] = by_call(x, x[0]);
    y[1] = by_step(x, 1, x[3]);
    y[2] = declared(x, 1, x[3]);
    y[3] = both_declared(x, 1, x[3]);
    y[4] = beside_a_variable(x, 1, x[3]);
}
