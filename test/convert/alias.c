/* SPDX-License-Identifier: MIT */
/* A macro that stands for a function.
 * options: --function f --with-respect-to x[0:1] --of y[0:1]
 * inputs: 0.7
 * outputs: 1
 * call: f(in, out);
 * arguments: .x = in
 */
#include <math.h>
#define my_sin sin
void f(const double *x, double *y) { y[0] = my_sin(x[0]); }
