/* SPDX-License-Identifier: MIT */
/* Addresses, sizes and offsets that are computed again, of numbers that nothing else asks for.
 * about: adjoint
 * options: --function f --with-respect-to x[0:12] --of y[0:6]
 * inputs: 0.1 0.7 -0.4 0.9 1.3 -0.2 0.5 0.3 -0.8 1.1 0.6 -0.5
 * outputs: 6
 * call: f(1, 2, in, out);
 * arguments: .rows = 1, .n = 2, .x = in, .y = (double[6]){0}
 */
#include <math.h>

/* As attention: offsets are products of local sizes, in loops within loops. */
void f(int rows, int n, const double *x, double *y) {
    const int stride = 3 * n, half = stride / 2;
    double weight = 1.0 / sqrt(n);
    for (int b = 0; b < rows; b++)
        for (int t = 0; t < n; t++) {
            const double *const query = x + b * n * stride + t * stride;
            double *const out = y + b * half + t * half;
            const int mine = t * half + b;
            double sum = 0;
            for (int i = 0; i < half; i++) out[i] = 0;
            for (int k = 0; k <= t; k++) {
                const double *const key = x + k * stride + half;
                double dot = 0;
                for (int i = 0; i < half; i++) dot += query[i] * key[i];
                dot *= weight;
                sum += exp(dot);
                out[k] = sin(dot * sum) * x[mine + k];
            }
            out[2] = log(sum) * query[0] * x[mine];
            weight = weight * out[0];
        }
}
