/* SPDX-License-Identifier: MIT */
/* Names that functions give to types of arrays, pointers and functions of numbers; a structure that is returned behind a comma.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 0.7 1.3 -0.6
 * outputs: 1
 * call: *out = f(in);
 * arguments: .x = in
 */
#include <math.h>

struct pair {
    double a, b;
};
static int calls;

static double half(double x) { return 0.5 * x * x; }

static double scaled(double x) {
    typedef double number;
    typedef double (*rule)(double);
    const rule next = half;
    number a = x * x;
    return next(a) + a;
}

static struct pair both(double x, double y) {
    struct pair s;
    s.a = x * y;
    s.b = x + y * y;
    return (calls++, s);
}

double f(const double *x) {
    typedef double row[3];
    typedef const double *numbers;
    row a, b[2];
    numbers from = x;
    for (int i = 0; i < 3; i++) {
        a[i] = from[i] * x[0];
        b[0][i] = a[i];
        b[1][i] = sin(a[i]);
    }
    const struct pair p = both(a[0] * b[1][2], b[0][1] * b[1][0]);
    return p.a * p.b + scaled(a[2]) + (double)sizeof(row) / (double)sizeof(double);
}
