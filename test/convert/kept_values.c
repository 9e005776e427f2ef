/* SPDX-License-Identifier: MIT */
/* Values that are overwritten, and needed again where derivatives go back.
 * about: adjoint
 * options: --function f --with-respect-to x[0:n] --of y[0:12]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 12
 * call: f(4, in, out);
 * arguments: .n = 4, .x = in
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double a02(int n, const double *x, double *y) {
    (void)n;
    double a = x[0];
    a = a + a * a;
    y[0] = a;
    double b = x[1];
    b += b * b;
    y[1] = b;
    double c = x[2];
    c -= c * c * x[0];
    return c;
}

static double a04(int n, const double *x, double *y) {
    (void)n;
    int k = 0, j = 2;
    double s = x[k] * x[k];
    k += j;
    s += x[k] * x[k] * x[1];
    j = 1;
    k -= j;
    s += x[k] * x[k] * x[3];
    j = 0;
    y[0] = s;
    y[1] = x[j];
    return s * s;
}

static double g_a06(int n, const double *x, double p) {
    double s = 0;
    for (int i = 0; i < n; i++) {
        s += p * x[i] * p;
        p = x[i];
    }
    return s;
}
static double a06(int n, const double *x, double *y) {
    y[0] = g_a06(n, x, x[0]);
    y[1] = 0;
    return g_a06(n, x, 2.0);
}

static double a11(int n, const double *x, double *y) {
    double s = 0;
    for (int i = 0; i < n - 1; i++) {
        int idx[2] = {i, i + 1};
        s += x[idx[0]] * x[idx[1]] * x[idx[1]];
    }
    y[0] = s;
    int k = 3;
    int id[3] = {k, 1, 2};
    y[1] = x[id[0]] * x[id[1]] * x[id[2]];
    return s;
}

void f(int n, const double *x, double *y) {
    y[2] = a02(n, x, y + 0);
    y[5] = a04(n, x, y + 3);
    y[8] = a06(n, x, y + 6);
    y[11] = a11(n, x, y + 9);
}
