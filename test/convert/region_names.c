/* SPDX-License-Identifier: MIT */
/* A name in an index that is declared anew between two of its uses.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:4]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static void anew(int k, double *p, double u, double v) {
    for (int i = 0; i < 1; i++) {
        p[k] = u * v * sin(u);
        int k = 2;
        p[k] = p[k] + u * v * cos(u);
    }
}

static void beside_a_variable(int k, double *p, double u, double v) {
    for (int i = 0; i < 1; i++) {
        p[k] = p[k] + u * v * sin(u);
        double t = u * v, k = 3;
        p[(int)k] = p[(int)k] + t * v * cos(u);
    }
}

void f(const double *x, double *y) {
    for (int i = 0; i < 4; i++) y[i] = x[i];
    anew(1, y, x[0], x[1]);
    beside_a_variable(0, y, x[0], x[1]);
}
