/* SPDX-License-Identifier: MIT */
/* Operations whose operands are evaluated one after the other, within others that are calls.
 * options: --function f
 * options: --with-respect-to x[0:2]
 * options: --of return
 * inputs: 0.4 -0.7
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>

static double again(int n, double v) { return n <= 0 ? v : sin(v + again(n - 1, v * 0.5)) + n; }

double f(const double *x) { return exp(x[1] + again(3, x[0])) / again(2, x[1]); }
