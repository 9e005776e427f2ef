/* SPDX-License-Identifier: MIT */
/* Few outputs: each is a row of the adjoint, of inputs that a parameter counts, a global among them.
 * about: blocks
 * options: --function f --with-respect-to x[0:n],scale --of *y,return --rows 2 --directions 0
 * inputs: 0.7 1.3 -0.6 0.9 1.7
 * outputs: 2
 * given: scale = in[4];
 * call: out[1] = f(in, 4, &out[0]);
 * arguments: .x = in, .n = 4, .y = in
 */
#include <math.h>

static double scale = 1;
static double kept;

static double term(double a, double b) { return a > b ? sin(a) * b : a * exp(-b); }

double f(const double *x, int n, double *y) {
    double sum = 0;
    kept = 1;
    for (int i = 0; i + 1 < n; i++) {
        if (x[i] < -10) break;
        sum += scale * term(x[i], x[i + 1]);
        kept *= 1 + 0.1 * x[i];
    }
    *y = kept * scale;
    return sum / sqrt(1 + x[n - 1] * x[n - 1]);
}
