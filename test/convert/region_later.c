/* SPDX-License-Identifier: MIT */
/* What a loop reads in its next turn only: elements in a loop within, a number on the way out.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 1
 * call: *out = f(in, 6);
 * arguments: .x = in, .n = 6
 */
#include <math.h>

double f(const double *x, int n) {
    double d[8], sum = x[0], last = 0.25, end = 0;
    for (int i = 0; i < n; i++) {
        double s = 0;
        if (i > 0)
            for (int k = 1; k <= i; k++) s += 0.1 * x[k % 4] * d[i - k];
        d[i] = sin(s * x[2]) * x[3] + s + 1.0;
        if (d[i] <= -100.0) return sum;
        sum = 0.5 * sum * x[1] + 0.1 * d[i] * d[i];
    }
    for (int i = 0; i < n; i++) {
        const double t = x[i % 4] * sum;
        if (i == n - 1) {
            end = last * t * sin(t);
            break;
        }
        last = 0.1 * t * t * x[1] + t;
    }
    return sum + end;
}
