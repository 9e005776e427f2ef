/* SPDX-License-Identifier: MIT */
/* Elements that are one by two names, and indices that become others between two reads.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:12]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 12
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>

static int one = 1, at[2];
struct pair {
    double a, b;
};

/* written to in both ways of a branch, or in one, in this order or that */
static void in_one_way(double *p, int i, int j, int c, double u, double v) {
    p[i] = u * u;
    p[j] = v * sin(v) * v;
    if (c) p[i] = u * v * v;
}

static void the_same_again(double *p, int i, int j, double u, double v) {
    const double s = u * u * v;
    p[i] = s;
    p[j] = v * sin(v) * v;
    if (u > 0) p[i] = s;
    p[2] = s * v;
}

static void in_both_ways(double *p, int i, int j, double u, double v) {
    if (u > 0) {
        p[i] = u * u * u;
        p[j] = v * sin(v) * v;
    } else {
        p[j] = v * v * v;
        p[i] = u * v;
    }
}

/* read before, in and behind a loop that writes to it by another name */
static double behind_a_loop(double *p, int i, int k, int n, double u) {
    const double t = p[k] * p[k] * u;
    for (int j = 0; j < n; j++) p[i] = p[i] * u * u + sin(u);
    return t * p[k] * u;
}

static void in_a_loop(double *p, int i, int k, int n, double u) {
    for (int j = 0; j < n; j++) p[i] = p[k] * u * u + sin(u) * u;
}

static void twice_in_a_loop(double *p, int i, int k, int n, double u, double v) {
    for (int j = 0; j < n; j++) {
        p[i] += u * u + sin(u) * u;
        p[k] = v * v * u;
    }
}

/* a pointer stays, what it was made with does not */
static double pointer_stays(double *p, int i, double u) {
    const double *q = p + i;
    double t = *q * *q * u * u;
    i = 2;
    t += *q * *q * sin(u);
    return t + p[i] * u;
}

static double in_a_branch(double *p, int i, int c, double u) {
    double t = p[i] * p[i] * u * u;
    if (c) i = 2;
    t += p[i] * p[i] * sin(u);
    return t;
}

static double by_a_global(struct pair *p, double u) {
    at[0] = 1;
    double t = p[at[0]].a * p[at[0]].b * u * u;
    at[0] = 2;
    t += p[at[0]].a * p[at[0]].b * sin(u);
    return t;
}

static double by_an_address(double *p, double u) {
    int i = 1, *const q = &i;
    double t = p[i] * p[i] * u * u;
    *q = 2;
    t += p[i] * p[i] * sin(u);
    return t;
}

void f(const double *x, double *y) {
    double p[3] = {x[0], x[1], x[2]};
    struct pair s[3] = {{x[0], x[1]}, {x[1], x[2]}, {x[2], x[3]}};
    in_one_way(p, one, one, x[0] < 0, x[0], x[1]);
    y[0] = p[1];
    the_same_again(p, one, one, x[0], x[1]);
    y[1] = p[1];
    in_both_ways(p, one, one, x[0], x[1]);
    y[2] = p[1];
    y[3] = behind_a_loop(p, one, one, 10, x[3]);
    y[4] = p[1];
    in_a_loop(p, one, one, 10, x[3]);
    y[5] = p[1];
    twice_in_a_loop(p, one, one, 10, x[3], x[2]);
    y[6] = p[1];
    p[0] = x[0], p[1] = x[1], p[2] = x[2];
    y[7] = pointer_stays(p, one, x[3]);
    y[8] = in_a_branch(p, one, one, x[3]);
    y[9] = by_a_global(s, x[3]);
    y[10] = by_an_address(p, x[3]);
    y[11] = p[2];
}
