/* SPDX-License-Identifier: MIT */
/* What is assigned anew in each turn is no sum of what the turns read; nor is a sum that begins anew.
 * options: --function f --with-respect-to x[0:4] --of y[0:3]
 * inputs: 1.25 0.4 2.5 -0.5
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in, .y = (double[3]){0}
 */
#include <math.h>

void f(const double *x, double *y) {
    double a = x[0], sum = x[1], last = 0;
    for (int i = 0; i < 4; i++) a = cos(-x[i & 3]);
    for (int i = 0; i < 12; i++) {
        if (i == 6) sum = x[2] * x[2];
        sum += x[i & 3] * x[3];
    }
    for (int i = 0; i < 12; i++) {
        last = 0;
        last += x[i & 3] * x[i & 1];
    }
    y[0] = a;
    y[1] = sum;
    y[2] = last;
}
