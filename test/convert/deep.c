/* SPDX-License-Identifier: MIT */
/* A run that keeps much: nested loops, recursion, memory obtained in turns, arrays of variable length.
 * about: adjoint
 * options: --function f --with-respect-to x[0:2] --of return
 * inputs: 0.3 0.8
 * outputs: 1
 * call: out[0] = f(60, in);
 * arguments: .n = 60, .x = in
 */
#include <math.h>
#include <stdlib.h>

static double folded(int depth, double a, double b) {
    double w[8];
    for (int i = 0; i < 8; i++) w[i] = sin(a + i + b);
    if (depth == 0) return w[3] * w[5];
    return w[depth % 8] * folded(depth - 1, w[1], w[2]) + b;
}

double f(int n, const double *x) {
    double a = x[0], b = x[1];
    for (int i = 0; i < n; i++) {
        double *const w = malloc((size_t)(i + 1) * sizeof *w);
        double v[i + 1];
        if (w == NULL) return 0;
        for (int j = 0; j <= i; j++) v[j] = cos(a + j), w[j] = a * v[j] + b;
        for (int j = 0; j <= i; j++) {
            a = 0.999 * a + 0.001 * sin(w[j]);
            b = 0.999 * b + 0.001 * v[i - j] * a;
        }
        free(w);
        b += 0.01 * folded(i % 12, a, b);
    }
    return a * b;
}
