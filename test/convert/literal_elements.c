/* SPDX-License-Identifier: MIT */
/* Elements and fields of compound literals within arithmetic.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 0.5 1.9
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 * adjoint: refused
 */
struct pair {
    double a, b;
};

double f(double x, double y) {
    double s = x;
    for (int i = 0; i < 3; i++)
        s = s * (double[]){y, 2, x * y}[i] + (double[]){1, 2, 3}[i] * y +
            (struct pair){s, y}.b * x;
    return s * (struct pair){x, y}.a;
}
