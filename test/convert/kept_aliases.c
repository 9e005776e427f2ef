/* SPDX-License-Identifier: MIT */
/* Memory that several names reach, within a function and through calls.
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

static double go_a24(int n, double *w) {
    double s = w[0] * w[0] * w[1];
    if (n > 0) {
        w[0] = w[1] * 0.5;
        w[1] = s;
        s += go_a24(n - 1, w);
    }
    return s;
}
static double a24(int n, const double *x, double *y) {
    (void)n;
    double w[2] = {x[0], x[1]};
    y[0] = go_a24(3, w);
    y[1] = w[0];
    return w[1] * w[0];
}

static double sq_b27(const double *w) { return w[0] * w[0]; }
static double b27(int n, const double *x, double *y) {
    (void)n;
    double w[2], u[2], *p = w, *q = u;
    w[0] = x[0];
    u[0] = x[1];
    y[0] = sq_b27(p) + sq_b27(q);
    p[0] = 3 * x[2];
    q[0] = x[3] * x[3];
    y[1] = sq_b27(q) * sq_b27(p);
    q[0] = 1;
    return sq_b27(q);
}

static double g_b30(double *a, double *b) {
    double s = b[0] * b[0];
    a[0] = 3 * s + a[0];
    return s;
}
static double b30(int n, const double *x, double *y) {
    (void)n;
    double w[1] = {x[0]}, u[1] = {x[1]}, v[1] = {x[2]};
    y[0] = g_b30(w, u);
    y[1] = g_b30(v, v);
    double r = g_b30(v, v);
    return r + w[0] + v[0] * v[0];
}

static double g_b33(int n, double *w, double s) {
    if (n == 0) return s;
    double loc[3];
    for (int i = 0; i < 3; i++) loc[i] = w[i] * s;
    for (int i = 0; i < 3; i++) w[i] = loc[(i + 1) % 3] * loc[i];
    double r = g_b33(n - 1, loc, w[0] + s);
    return r * loc[0] + w[2] * loc[1];
}
static double b33(int n, const double *x, double *y) {
    (void)n;
    double w[3] = {x[0], x[1], x[2]};
    y[0] = g_b33(2, w, x[3]);
    y[1] = w[0] * w[1];
    return g_b33(1, w, 0.5);
}

static double b37(int n, const double *x, double *y) {
    double w[4], v[4];
    for (int i = 0; i < n; i++) w[i] = x[i];
    for (int i = 0; i < n; i++) {
        v[i] = w[i] * w[i];
    }
    for (int i = 0; i < n; i++) {
        w[i] = v[i] * w[(i + 1) & 3];
    }
    double s = 0;
    for (int i = 0; i < n; i++) s += w[i] * w[i];
    for (int i = 0; i < n; i++) w[i] = s * x[i];
    for (int i = 0; i < n - 1; i++) w[i] = w[i + 1] * w[i];
    for (int i = 0; i < n; i++)
        if (i & 1) w[i] = w[i] * w[i];
    y[0] = w[0] * w[1] + w[2] * w[3];
    double *p = w + 1;
    p[0] = p[1] * p[0];
    for (int i = 0; i < 3; i++) p[i] = p[i] * p[i];
    for (int i = 0; i < 3; i++) w[i] *= p[i];
    y[1] = w[0] * w[1] * w[2];
    return w[3];
}

void f(int n, const double *x, double *y) {
    y[2] = a24(n, x, y + 0);
    y[5] = b27(n, x, y + 3);
    y[8] = b30(n, x, y + 6);
    y[11] = b33(n, x, y + 9);
    y[14] = b37(n, x, y + 12);
}
