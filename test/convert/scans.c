/* SPDX-License-Identifier: MIT */
/* Loops that comments say are scans: states, sums and elements beside them, elements of before.
 * options: --function f --with-respect-to x[0:4] --of y[0:10]
 * inputs: 0.3 0.2 0.6 -0.4
 * outputs: 10
 * call: f(in, out);
 * arguments: .x = in
 * near: yes
 */
#include <math.h>

static const double r[8] = {0.3, -0.7, 0.2, 1.1, -0.5, 0.4, 0.9, -1.2};

/* GARCH(1,1): the variance goes from day to day */
static double garch(const double *p, int n) {
    double h = 0.5, l = 0;
    /* wengert: scan */
    for (int i = 0; i < n; i++) {
        l += 0.5 * (log(h) + (r[i] - p[3]) * (r[i] - p[3]) / h);
        h = p[0] + p[1] * (r[i] - p[3]) * (r[i] - p[3]) + p[2] * h;
    }
    return l + h;
}

static void slope(const double *u, const double *p, double *d) {
    d[0] = u[1];
    d[1] = -p[0] * sin(u[0]) - p[1] * u[1];
}

/* steps of Heun's method, and where it has been */
static void pendulum(const double *p, double *end, double *way, int n) {
    double u[2], a[2], b[2], v[2];
    int k;
    u[0] = p[2], u[1] = p[3];
    /* wengert: scan */
    for (int step = 0; step < n; step++) {
        slope(u, p, a);
        for (k = 0; k < 2; k++) v[k] = u[k] + 0.1 * a[k];
        slope(v, p, b);
        for (k = 0; k < 2; k++) u[k] += 0.05 * (a[k] + b[k]);
        way[step] = u[0] + step;
    }
    end[0] = u[0];
    end[1] = u[1] * b[0];
}

static double sigmoid(double z) { return 1 / (1 + exp(-z)); }

/* a cell with a memory, its weights the inputs, what it is given numbers */
static double cell(const double *w, int n) {
    double c = 0, h = 0, error = 0;
    /* wengert: scan */
    for (int i = n - 2; i >= 0; i--) {
        const double forget = sigmoid(w[0] * r[i] + w[1] * h), in = sigmoid(w[2] * r[i] + w[3] * h);
        c = c * forget + in * tanh(w[1] * r[i] + h);
        h = c > 0.4 ? 0.4 + 0.1 * c : c;
        error += (h - r[i + 1]) * (h - r[i + 1]);
    }
    return error;
}

/* elements that go back to elements before, as autoregressions have them */
static double variances(const double *p, int n, int lags) {
    double h[8] = {1.0, 0.5}, temp;
    int i, j;
    /* wengert: scan */
    for (i = 2; i < n; i++) {
        temp = p[0] + p[1] * r[i - 1];
        for (j = 1; j <= lags; j++) temp += p[1 + j] * h[i - j];
        h[i] = temp;
    }
    return h[n - 1] * h[3] + i;
}

/* numbers that are counted up and down, and read between */
static double counted(const double *x, int n) {
    double up = 0, down = x[0] * x[1], s = 0;
    /* wengert: scan */
    for (int i = 0; i < n; i++) {
        up++;
        s += up * r[i] * down * down;
        --down;
    }
    return s + up;
}

void f(const double *x, double *y) {
    y[0] = garch(x, 8) + garch(x, 1);
    pendulum(x, y + 1, y + 3, 5);
    y[8] = cell(x, 8);
    y[9] = variances(x, 8, 2) + variances(x, 6, 1) + counted(x, 5);
}
