/* SPDX-License-Identifier: MIT */
/* Loops that add elements to a number which begins anew in each turn.
 * options: --function f --with-respect-to x[0:4] --of y[0:2]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static double last_of(const double *x, int n) {
    double b = 0, c = x[0];
    for (int i = 0; i < n; i++) {
        b = cos(x[0] * 0.5);
        b += x[i & 3] * x[1];
        c = c * x[1] + 0.5;
    }
    return b * c;
}

void f(const double *x, double *y) {
    double w[2] = {x[1], x[2]};
    y[0] = last_of(x, 10);
    for (int i = 0; i < 3 + (x[0] > 0); i++) {
        w[1] = x[1] * w[0];
        w[1] += x[i & 3] * sin(w[0]) * w[0];
    }
    y[1] = w[1];
}
