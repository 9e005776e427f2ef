/* SPDX-License-Identifier: MIT */
/* Numbers in parameters and local variables, all four operations.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 0.75 -1.25
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
#include <math.h>

double f(double x, double y) {
    const double half = 0.5; /* a number: it stays one */
    double s = x * y, t;
    t = s / (2 + x * x) - half;
    return sqrt(t * t + 1.0) + -s + +t;
}
