/* SPDX-License-Identifier: MIT */
/* The operator ?: with variables, numbers, nested, and of places.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
double f(double x, double y) {
    double a = x > y ? x : y, b = x < 0 ? 0 : x < 1 ? x : 2 - y;
    double *const larger = x * x > y ? &a : &b;
    *larger += 3 * x;
    return (a > 0 ? a : 1) * (y != 0 ? 2.0 : x) + (y > 1 ? 1 : 0) * b;
}
