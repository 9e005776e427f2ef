/* SPDX-License-Identifier: MIT */
/* modf, frexp, remquo and ldexp of what has effects, by powers that one factor does not hold.
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
#include <math.h>

void f(const double *x, double *y) {
    double whole, again;
    int i = 0, e = 0, tiny = 0, q = 0, power = 1050;
    const double rest = modf(3 * x[i++], &whole), part = frexp(5 * x[i++], &e);
    y[0] = rest * x[1] + whole * x[2] + part * e;
    const double left = remquo(7 * x[i++], 3, &q);
    y[0] += left * q + i;
    y[1] = modf(4.5 * x[0], &again);
    y[1] += x[1] * again;
    again = x[1];
    y[1] += again + frexp(x[0] * 0x1p-600 * 0x1p-440, &tiny) * 0x1p-60 * 0x1p-1000 * 0x1p50 + x[1] * tiny;
    const double small = ldexp(x[0] * 0x1p1000, -power++);
    y[1] += small * 0x1p50 + ldexp(x[0] * 0x1p-1000, power) * 0x1p-60 + ldexp(x[1], -2) + scalbn(x[2], i);
}
