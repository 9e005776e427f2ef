/* SPDX-License-Identifier: MIT */
/* Fields of some bits beside variables, as operands; commas where there is one argument.
 * options: --function f --with-respect-to x[0:3] --of y[0:2]
 * inputs: 1.25 0.4 2.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in, .y = (double[2]){0}
 */
struct packed {
    unsigned a : 3;
    int b : 5;
    double v;
    unsigned c : 1;
};

static double second(int *n, int how, double x) {
    if (how) return ++*n, 2.0;
    return x;
}

void f(const double *x, double *y) {
    struct packed t = {5, -3, x[0], 1};
    int n = 0;
    t.a += 6;
    t.b--;
    y[0] = t.a * t.v + (t.b) * x[1] + (t.a > x[2]) + second(&n, 0, x[2]);
    y[1] = (t.c ? x[2] : t.v) * t.a + second(&n, 1, x[0]);
    y[1] = n == 1 ? n++, 3.0 : y[1];
    y[1] += n * x[1];
}
