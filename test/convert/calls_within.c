/* SPDX-License-Identifier: MIT */
/* Operations within which functions are called: recorded by calls or in line.
 * options: --function f --with-respect-to x[0:2] --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>

static double square(double x) { return x * x; }

double f(const double *x) {
    double y = sqrt(1 + square(x[0]) * x[1]) + -(square(x[1]) - 2 * x[0]);
    for (int i = 0; i < 3; i++) {
        y += exp(square(x[0] * i) * -0.25) / (2 + i);
        if (square(y) > x[1] + square(x[1])) y -= 0.125 * square(x[1]);
        y = square(fabs(y - 1) + square(0.5)) + fmax(square(x[0]), y) / 8;
    }
    return y;
}
