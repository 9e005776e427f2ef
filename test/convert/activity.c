/* SPDX-License-Identifier: MIT */
/* Activity: tables, indices, counts and work arrays without derivatives stay numbers.
 * options: --function f --with-respect-to x[0:n] --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * given: const double scale[3] = {0.5, 1.0, -0.25};
 * call: out[0] = f(3, in, scale);
 * arguments: .n = 3, .x = in, .scale = scale
 */
#include <math.h>

/* the largest of numbers, by index */
static int largest(int n, const double *a) {
    int at = 0;
    for (int i = 1; i < n; i++)
        if (a[i] > a[at]) at = i;
    return at;
}
static double mean(int n, const double *a) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i];
    return s / n;
}

double f(int n, const double *x, const double *scale) {
    double weights[8] = {0}, sum = 0, steps = 0;
    for (int i = 0; i < n; i++) weights[i] = exp(-scale[i]);
    const double of_weights = mean(n, weights);
    for (int i = 0; i < n; i++) {
        sum += weights[i] * x[i] * x[i];
        steps += 1;
    }
    return sum / of_weights + mean(n, x) * steps + weights[largest(n, weights)];
}
