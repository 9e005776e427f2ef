/* SPDX-License-Identifier: MIT */
/* Loops that comments say are maps: sums over data, elements, calls, numbers that select.
 * options: --function f --with-respect-to x[0:4] --of y[0:12]
 * inputs: 0.7 -1.3 0.6 0.9
 * outputs: 12
 * call: f(in, out);
 * arguments: .x = in
 * near: yes
 */
#include <math.h>

static const double t[6] = {0.1, 0.4, 0.9, 1.3, 1.7, 2.2}, z[6] = {1.0, 0.7, 0.8, 0.2, 0.1, -0.2};

static double model(const double *p, double at) { return p[0] * exp(p[1] * at) + p[2]; }

static double misfit(const double *p, int n) {
    double s = 0.25, count = 0, left = p[1];
    /* wengert: map */
    for (int i = 0; i < n; i++) {
        const double r = z[i] - model(p, t[i]);
        s += r * r;
        count++;
        left--;
    }
    return 0.5 * s + count * left;
}

/* elements, neighbours, whole numbers, a factor that is a number, an array of the turn */
static void elements(const double *x, double *y, double h) {
    double last = 0;
    int i;
    /* wengert: map */
    for (i = 1; i < 4; i++) {
        double a[3] = {1.0, 0, 2}, sum = 0;
        a[1] = x[i] * x[i - 1];
        for (int k = 0; k < 3; k++) sum = sum + a[k] * (k + 1);
        y[i] = sum * h + i / 2.0;
        last = sin(sum);
    }
    y[0] = last + i;
}

/* the way to add that old codes have, by rows of a matrix, and several sums */
static void moments(const double *x, double *m, int rows) {
    int i, j;
    double d, w[3][2] = {{0.5, 1}, {0.25, -1}, {2, 3}};
    m[0] = m[1] = 0;
    /* wengert: map */
    for (i = rows - 1; i >= 0; i--) {
        for (j = 0; j < 2; j++) {
            d = x[2 * j] * w[i][j];
            m[j] += d * x[3];
        }
        m[0] -= cos(d * x[1]);
    }
}

static double largest(const double *a, int n) {
    double m = a[0];
    for (int k = 1; k < n; k++)
        if (m < a[k]) m = a[k];
    return m;
}

/* choices by numbers, the same function with arrays of turns and of all of them */
static double choices(const double *x, int n) {
    double s = 0, p = 0;
    /* wengert: map */
    for (int i = 0; i < 6; i++) {
        double a[4], low = 0, h = x[1];
        const double *p0 = &x[0], *p1 = z + i;
        int k, two = 2, i2 = two * i;
        low = p0[two] * p1[0] + i2;
        for (k = 0; k < 4; k++) a[k] = x[k] * t[i] - z[i];
        const double m = largest(a, 4), b = z[i] > 0.5 && h * z[i] < 1 ? h * m : exp(m);
        if (m > t[i]) low = b;
        else {
            low = b * m;
            low -= 1;
        }
        s += low + fabs(b) + (n % 2 == 0 ? x[2] : x[3]);
        p += largest(x, 4) * m;
    }
    return s * p;
}

void f(const double *x, double *y) {
    y[0] = misfit(x, 6) + misfit(x + 1, 3) + misfit(x, 1) + misfit(x, 0);
    elements(x, y + 1, x[0] > 0 ? 0.5 : 2);
    moments(x, y + 5, 3);
    y[7] = choices(x, 6);
    /* wengert: map */
    for (int i = 0; i < 4; i++) y[8 + i] = 0;
    /* wengert: map */
    for (int i = 0; i < 4; i += 2) {
        y[8 + i] += x[i] * x[1];
        y[9 + i] = y[8 + i] * t[i];
    }
}
