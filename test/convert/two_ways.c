/* SPDX-License-Identifier: MIT */
/* A function that is called with variables and with numbers has two forms.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0], 0.5);
 * arguments: .x = in[0], .p = 0.5
 */
static double both(double a, double b) { return a * b + a; }
static void outer(double a, double *to) { *to = both(a, 3) + both(3, a); }

double f(double x, double p) {
    double a, b;
    outer(x, &a);
    outer(p, &b);
    return a * b + both(p, p) * both(x, x);
}
