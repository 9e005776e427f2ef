/* SPDX-License-Identifier: MIT */
/* Initialisers of arrays and structures: lists, designators, compound literals.
 * adjoint: refused
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
struct pair {
    double a, b;
    int n;
};

static double value(struct pair p) { return p.a * p.n + p.b; }

double f(double x, double y) {
    double v[3] = {x, 2, x * y}, m[2][2] = {{x, y}, {1, 0}}, z[3] = {[2] = y};
    struct pair p = {.b = x, .a = y, .n = 2}, q = {x, y, 3}, all[2] = {{x, 1, 1}, {.n = 4, .a = y}};
    const double *const w = (const double[]){y, x};
    return v[0] + v[1] * v[2] + m[0][0] * m[0][1] + m[1][0] + z[2] + z[0] + value(p) + value(q) * value(all[1]) +
           value(all[0]) + value((struct pair){x, x, 1}) + w[1];
}
