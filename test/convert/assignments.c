/* SPDX-License-Identifier: MIT */
/* Compound assignments, increments and assignments inside expressions, in their order.
 * options: --function f --with-respect-to x[0:2] --of y[0:4]
 * inputs: 1.25 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
void f(const double x[2], double y[4]) {
    double a, b, c[3] = {0};
    int i = 0;
    a = b = x[0] * x[1];
    c[i++] += a -= x[1];
    c[i++] = (b *= 2) + x[0];
    c[i] = a++ + 1;
    c[i] -= --b;
    y[0] = (a = c[0] / 3) * b;
    y[1] = (i = 1, c[i] + i);
    y[2] = -(a /= b);
    i = 0;
    y[3] = c[i++] * x[0];
    y[3] += c[i++], y[3] *= c[i];
}
