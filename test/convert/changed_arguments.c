/* SPDX-License-Identifier: MIT */
/* Calls that change what their own arguments are made of.
 * about: adjoint
 * options: --function f --with-respect-to x[0:4] --of y[0:4]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static int now;
struct s {
    int n;
    double v[3];
};

static double by_address(double *q, int *i, double u) {
    const double t = q[0] * u * u;
    *i = 2;
    q[0] = t * t;
    return t * sin(u);
}

static double by_structure(double *q, struct s *s, double u) {
    const double t = q[0] * u * u;
    s->n = 2;
    q[0] = t * t;
    return t * sin(u);
}

static double by_global(double *q, double u) {
    const double t = q[0] * u * u;
    now++;
    q[0] = t * t;
    return t * sin(u);
}

static double by_number(double *q, int k, double u) {
    const double t = q[k] * u * u;
    now = 0;
    q[k] = t * t;
    return t * sin(u);
}

void f(const double *x, double *y) {
    double p[3] = {x[0], x[1], x[2]};
    struct s s = {1, {x[0], x[1], x[2]}};
    int i = 1;
    y[0] = by_address(&p[i], &i, x[0]) * x[1] + p[i] * p[0];
    y[1] = by_structure(&s.v[s.n], &s, x[0]) * x[1] + s.v[s.n] * s.v[1];
    now = 0;
    y[2] = 0;
    for (int k = 0; k < 3; k++) y[2] += by_global(p + now, x[0]) * x[1];
    now = 1;
    y[3] = by_number(p, now, x[3]) * p[1];
    now = 2;
    y[3] += by_number(p, now + 0, x[3]);
}
