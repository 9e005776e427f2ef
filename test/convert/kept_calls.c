/* SPDX-License-Identifier: MIT */
/* Optional results, memory that is given back, counters in calls and assignments.
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

static double a23(int n, const double *x, double *y) {
    int *k = malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) k[i] = n - 1 - i;
    double s = 0;
    for (int i = 0; i < n; i++) s += x[k[i]] * x[i] * x[i];
    free(k);
    y[0] = s;
    y[1] = 0;
    return 0;
}

static void opt_b34(const double *x, double *a, double *b) {
    double t = x[0] * x[1];
    if (a) *a = t * t;
    if (b != NULL) *b = t * x[2];
}
static double b34(int n, const double *x, double *y) {
    double a = 0, b = 0;
    opt_b34(x, &a, NULL);
    opt_b34(x + 1, NULL, &b);
    opt_b34(x, 0, &y[1]);
    y[0] = a * b;
    double *p = n > 2 ? &a : &b;
    *p *= x[3];
    p = n > 9 ? &a : NULL;
    if (p) *p = 0;
    return a * b;
}

static double b35(int n, const double *x, double *y) {
    double s = 0;
    int k = 5;
    for (int i = 0; i < n; i++) {
        double *w = malloc(n * sizeof(double)), *z = calloc(i + 1, sizeof *z);
        for (int j = 0; j < n; j++) w[j] = x[j] * x[i];
        for (int j = 0; j <= i; j++) z[j] += w[j] * w[j];
        s += z[i] * w[0];
        free(w);
        free((void *)z);
    }
    y[0] = s;
    y[1] = (k / 2) * x[0] * x[0] / (k % 3) + 7 / k * x[1] + x[2] * k / 2;
    return s;
}

static void step_c43(int n, double *w, const double *k, double h) {
    for (int i = 0; i < n; i++) w[i] += h * k[i] * w[(i + 1) % n];
}
static void rhs_c43(int n, const double *w, double *k) {
    k[0] = w[1];
    for (int i = 1; i < n; i++) k[i] = -sin(w[i - 1]) * w[i];
}
static double c43(int n, const double *x, double *y) {
    double w[4], k[4], k2[4];
    for (int i = 0; i < n; i++) w[i] = x[i];
    for (int t = 0; t < 5; t++) {
        rhs_c43(n, w, k);
        step_c43(n, w, k, 0.1);
        rhs_c43(n, w, k2);
        for (int i = 0; i < n; i++) k[i] = 0.5 * (k[i] + k2[i]) * k[i];
        step_c43(n, w, k, 0.05);
        step_c43(2, w + 1, w, 0.1);
    }
    y[0] = w[0];
    y[1] = w[1] * w[2];
    return w[3];
}

static double h_c44(double v, double *c) {
    *c = v * v;
    return v * *c;
}
static double c44(int n, const double *x, double *y) {
    (void)n;
    double c = x[0], t = x[1];
    t = h_c44(t, &c) * c;
    t = h_c44(h_c44(t, &c), &t) * t;
    y[0] = t;
    double a[3] = {1, x[2], x[3]};
    int i = 0;
    a[i++] *= x[0];
    a[i] += a[i - 1];
    i++;
    a[i] = a[i - 1] * a[i];
    y[1] = a[0] * a[1] * a[2];
    double *p = a;
    *p++ *= x[1];
    *p++ = *a * x[2];
    --p;
    (*p) *= *p;
    return a[1] * p[1] + (i > 1 && (c = x[3] * c) > 0 ? c : t);
}

void f(int n, const double *x, double *y) {
    y[2] = a23(n, x, y + 0);
    y[5] = b34(n, x, y + 3);
    y[8] = b35(n, x, y + 6);
    y[11] = c43(n, x, y + 9);
    y[14] = c44(n, x, y + 12);
}
