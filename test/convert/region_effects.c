/* SPDX-License-Identifier: MIT */
/* Numbers that nothing reads, and calls and assignments that stand beside them.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:4]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static int calls;

static double scale(void) {
    calls++;
    return 2.0;
}

static double run_within(double u, int k) {
    double h = (k += 1), g = scale();
    (void)u;
    h = 1, g = h;
    return u * k * u * g;
}

void f(const double *x, double *y) {
    calls = 0;
    double t = x[0] * scale();
    t = x[0] * x[1] * sin(x[1]);
    y[0] = t + calls;
    t = t * run_within(x[2], 1);
    y[1] = t * t + calls;
    y[2] = run_within(x[2], 2) * x[3] * x[3];
    y[3] = x[3] * x[3] + calls;
}
