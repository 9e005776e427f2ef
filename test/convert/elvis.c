/* SPDX-License-Identifier: MIT */
/* GNU's choice without its middle: x ?: y.
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
void f(const double *x, double *y) {
    const double zero = x[0] - x[0];
    const int n = 0;
    y[0] = zero ?: x[1] * 2;
    y[0] += n ?: x[1];
    y[1] = (n ?: 3) * x[2] + (x[0] ?: 2);
}
