/* SPDX-License-Identifier: MIT */
/* Names that end as those of adjoints do, and parameters that are said to be apart.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.5
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 * about: adjoint
 */
static void scale(double *to, double k, double const *const restrict by) {
    for (int i = 0; i < 2; i++) to[i] = by[i] * k;
}
double f(double x, double y) {
    double x_b = x * y, k_b = x_b * x, k = k_b + y, v[2] = {k, x}, v_b[2];
    scale(v_b, x_b, v);
    for (int i = 0; i < 3; i++) {
        double y_b = k * x_b, x_b_b = y_b * y;
        k = y_b + x_b_b * v[i % 2];
        x_b *= v_b[i % 2];
    }
    return x_b * k + k_b * v_b[1];
}
