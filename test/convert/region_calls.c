/* SPDX-License-Identifier: MIT */
/* A call that changes what an index is made of.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 1
 * call: *out = f(in);
 * arguments: .x = in
 */
#include <math.h>

static int now;

static void next(void) { now = (now + 1) % 3; }
static double by_a_call(double *p, double u) {
    now = 1;
    double t = p[now] * p[now] * u * u;
    next();
    t += p[now] * p[now] * sin(u);
    return t;
}

double f(const double *x) {
    double p[3] = {x[0], x[1], x[2]};
    return by_a_call(p, x[3]) * x[0];
}
