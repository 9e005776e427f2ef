/* SPDX-License-Identifier: MIT */
/* Numbers that begin anew in each turn of a loop, and add elements or are of a loop within it.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:5]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 5
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static double last_of(const double *x, int n) {
    double b = 0, c = x[0];
    for (int i = 0; i < n; i++) {
        b = cos(x[0] * 0.5);
        b += x[i & 3] * x[1];
        c = c * x[1] + 0.5;
    }
    return b * c;
}

/* what is read in the inner loop only was read before both */
static double inner(const double *x, int n) {
    double c = x[0], s = x[1];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) s = sin(0.5 * c + x[3]);
    return s * c;
}

static double three(const double *x, int n) {
    double c = x[0] * x[1], s = x[1], w = x[2];
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n; k++) {
            for (int l = 0; l < n; l++) s = s * c * 0.5 + x[3];
            w = w * 0.25 + c * s;
        }
        s = s * w;
    }
    return s * w;
}

/* numbers that move on from one name to the next */
static double moved_on(const double *x, int n) {
    double a = x[0], b = x[1], c = 0;
    for (int i = 0; i < n; i++) {
        const double d = c;
        c = b;
        b = a;
        a = d * x[3] + sin(a) * c;
    }
    return a * b + c;
}

void f(const double *x, double *y) {
    double w[2] = {x[1], x[2]};
    y[0] = last_of(x, 10);
    for (int i = 0; i < 3 + (x[0] > 0); i++) {
        w[1] = x[1] * w[0];
        w[1] += x[i & 3] * sin(w[0]) * w[0];
    }
    y[1] = w[1];
    y[2] = inner(x, 10);
    y[3] = three(x, 9);
    y[4] = moved_on(x, 10);
}
