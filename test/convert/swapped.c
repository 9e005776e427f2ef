/* SPDX-License-Identifier: MIT */
/* A function that moves numbers, called where they are asked for again and where they are not.
 * options: --function f --with-respect-to x[0:4] --of y[0:3]
 * inputs: 0.6 1.3 -0.7 0.4
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in, .y = (double[3]){0}
 */
#include <math.h>

static void swap(double *a, double *b) {
    const double t = *a;
    *a = *b;
    *b = t;
}
static void turn(double *a, double *b, double *c) {
    swap(a, b);
    while (*c > 0) *c -= 1, swap(b, c);
    swap(b, c);
}

void f(const double *x, double *y) {
    double a = x[0], b = x[1], c = x[2], d = x[3];
    swap(&a, &b);
    y[0] = a + 2 * b;
    const double p = c * d, q = sin(c * p);
    swap(&c, &d);
    y[1] = p * q + c * c * d;
    turn(&c, &d, &a);
    y[2] = c * d * a;
    turn(&c, &a, &d);
    y[2] += exp(c - a) * d;
}
