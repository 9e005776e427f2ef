/* SPDX-License-Identifier: MIT */
/* Numbers that are known have the types of what holds them.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:5]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 5
 * call: f(in, out);
 * arguments: .x = in
 */
#include <stdbool.h>

static double half(double u, double n) {
    const double h = 1 / n;
    return u * u * h;
}

static double before(const double *x, unsigned i) { return x[(i - 1) % 4] * x[i] * x[i]; }

static double among_two(const double *x, bool b) { return x[b] * x[b] * x[2]; }

void f(const double *x, double *y) {
    double s = 0, t = 0;
    for (unsigned i = 0; i < 3; i++) s += x[i] * x[i] * x[(i - 1) % 4];
    for (long long i = 0; i < 4; i++) t += x[i] * x[i] * (double)(i * 2000000000);
    y[0] = half(x[0], 2);
    y[1] = s;
    y[2] = t;
    y[3] = before(x, 0) * x[2];
    y[4] = among_two(x, 2);
}
