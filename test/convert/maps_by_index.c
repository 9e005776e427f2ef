/* SPDX-License-Identifier: MIT */
/* Loops that comments say are maps, whose turns do not reach memory in steps: by index, by
 * pointers to rows, with whole numbers that are counted or looked up, and float.
 * options: --function f --with-respect-to x[0:6] --of y[0:14]
 * inputs: 0.7 -1.3 0.6 0.9 0.35 1.2
 * outputs: 14
 * call: f(in, out);
 * arguments: .x = in
 * near: yes
 */
#include <math.h>
#include <stddef.h>

static const int from[5] = {0, 1, 4, 2, 2}, to[5] = {1, 2, 0, 3, 5};
static const float weight[5] = {0.5F, 2, 0.25F, 1.5F, 4};
static const double stiffness[6] = {1, 3, 0.5, 2, 0.75, 1.25};
static const unsigned char kind[5] = {2, 0, 1, 1, 2};

static double length(const double *a, const double *b) { return sqrt(0.25 + a[0] * a[0] + *b * *b); }

/* both ends of edges, forces that are added to them; a neighbour on a ring */
static double edges(const double *x, double *force, int n) {
    double energy = 0;
    /* wengert: map */
    for (int i = 0; i < n; i++) {
        const int a = from[i], b = to[i];
        const double d = x[a] - x[b], k = stiffness[a];
        const double f = k * d * (kind[i] + 1) * weight[i];
        force[a] += f;
        force[b] -= f;
        force[to[i]] = force[to[i]] + x[(i + 1) % n];
        energy += 0.5 * f * d * length(&x[a], x + b) + length(&x[i], &x[i]);
    }
    return energy;
}

/* rows by pointers, numbers and variables, and what is counted */
static double rows(const double *x, int n) {
    const double *row[3] = {x + 3, x, x + 1}, *plain[3] = {stiffness + 2, stiffness, stiffness + 1};
    const double *p = x;
    double s = 0, last = 0;
    int k = 1, m = 0;
    /* wengert: map */
    for (int i = 0; i < n; i++) {
        int two = 0;
        for (int j = 0; j < 2; j++) {
            s += row[i][j] * plain[i][j + 1] * *p;
            two += j;
        }
        k += kind[i];
        m = k - i * i;
        s += exp(-x[k]) * m + x[i == 0 ? 5 : 4] * two;
        p++;
        last = row[i][1] * k;
    }
    return s + last * k + m * *p;
}

/* float becomes double: these numbers are what they are in both */
static float product(float a, const float *b, int i) { return a * b[i]; }
static double floats(const double *x) {
    float z[5];
    double s = 0;
    for (int i = 0; i < 5; i++) z[i] = weight[i] * 0.5F;
    /* wengert: map */
    for (int i = 0; i < 5; i++) {
        const float w = product(z[i], weight, i) + 1.0F;
        s += w * sin(x[to[i]]) + z[from[i]] * x[i];
    }
    return s;
}

/* a state, and an array of the turn */
static double states(const double *x) {
    double h = 0.5, s = 0;
    /* wengert: scan */
    for (int i = 0; i < 5; i++) {
        double a[2] = {0, 1};
        a[kind[0] - 2] = x[from[i]];
        h = 0.5 * h + a[0] * a[1];
        s += h * x[to[i]];
    }
    return s + h;
}

/* the same function by steps, and by index */
static double first(const double *a, int n) { return a[0] * a[n % 3]; }
static double mixed(const double *x) {
    double s = 0;
    /* wengert: map */
    for (int i = 0; i < 3; i++) s += first(x, 2) + first(x + i + 1, i) * first(x + from[i], kind[i]);
    return s;
}

/* whole numbers that begin anew where they would be below 0 */
static double around(const double *x) {
    double s = 0;
    /* wengert: map */
    for (size_t i = 0; i < 4; i++) {
        const size_t before = i - 2;
        s += x[i] * (double)before * 0x1p-64;
    }
    return s;
}

void f(const double *x, double *y) {
    for (int i = 0; i < 14; i++) y[i] = 0;
    y[6] = edges(x, y, 5) + edges(x, y, 1);
    y[7] = rows(x, 3);
    y[8] = floats(x);
    y[9] = states(x);
    y[10] = mixed(x) + around(x);
    /* wengert: map */
    for (int i = 0; i < 3; i++) y[11 + i] = x[5 - 2 * i] * x[to[i]];
}
