/* SPDX-License-Identifier: MIT */
/* Memory that is overwritten, copied, of a length that is known when it runs, in turns.
 * about: adjoint
 * options: --function f --with-respect-to x[0:n] --of y[0:15]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 15
 * call: f(4, in, out);
 * arguments: .n = 4, .x = in
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double a07(int n, const double *x, double *y) {
    int k = n;
    double u[4] = {0}, w[4] = {0};
    for (int i = 0; i < k; i++) w[i] = x[i] * x[i];
    memcpy(u, w, k * sizeof(double));
    k = 2;
    memcpy(u, w + 1, k * sizeof(double));
    k = 0;
    y[0] = u[0] * u[1];
    y[1] = u[3];
    return u[2] * y[0];
}

static double a08(int n, const double *x, double *y) {
    double s = 0;
    for (int k = 1; k <= n; k++) {
        double w[k];
        for (int i = 0; i < k; i++) w[i] = x[i] * x[k - 1];
        for (int i = 0; i < k; i++) s += w[i] * w[i] * w[k - 1];
    }
    y[0] = s;
    y[1] = 0;
    return s;
}

static double a12(int n, const double *x, double *y) {
    double w[4];
    w[0] = x[0];
    w[1] = x[1];
    w[2] = x[2];
    w[3] = x[3];
    double s = 0;
    for (int k = 0; k < 2; k++) {
        int m = 1 + 2 * k;
        for (int j = 0; j < m; j++) w[j] = x[j] * (k + 1);
        for (int j = 0; j < n; j++) s += w[j] * w[j] * w[j];
        for (int j = 0; j < m; j++) w[j] = 2 * x[j];
        for (int j = 0; j < n; j++) s += w[j] * w[j] * w[j];
        for (int j = 0; j < m; j++) w[j] = 2 * x[j];
    }
    y[0] = s;
    y[1] = 0;
    return s;
}

static double g_a13(int n, const double *w) {
    double s = 0;
    for (int i = 0; i < n; i++) s += w[i] * w[i];
    return s;
}
static double a13(int n, const double *x, double *y) {
    double w[4] = {0}, *p = w;
    for (int i = 0; i < n; i++) p[i] = x[i] * x[0];
    y[0] = g_a13(n, p);
    for (int i = 0; i < n; i++) p[i] = x[i] * 3;
    y[1] = g_a13(n, p);
    p[0] = 2 * x[0];
    return g_a13(n, p);
}

static double a18(int n, const double *x, double *y) {
    double w[4] = {0};
    for (int i = 0; i < n; i++) w[i] = x[i] * x[i];
    memmove(w, w + 1, 3 * sizeof(double));
    y[0] = w[0] * w[1];
    memmove(w + 1, w, 3 * sizeof(double));
    y[1] = w[1] * w[2] * w[3];
    return w[0];
}

void f(int n, const double *x, double *y) {
    y[2] = a07(n, x, y + 0);
    y[5] = a08(n, x, y + 3);
    y[8] = a12(n, x, y + 6);
    y[11] = a13(n, x, y + 9);
    y[14] = a18(n, x, y + 12);
}
