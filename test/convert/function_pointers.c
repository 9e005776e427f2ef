/* SPDX-License-Identifier: MIT */
/* Pointers to functions, as arguments, in tables, and of a type of their own.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0], 1);
 * arguments: .x = in[0], .which = 1
 */
typedef double integrand(double x, double p);

static double power(double x, double p) { return x * x * p; }
static double shifted(double x, double p) { return x / (1 + p * p); }

static double simpson(integrand *g, double a, double b, double p) {
    return (b - a) / 6 * (g(a, p) + 4 * g((a + b) / 2, p) + (*g)(b, p));
}

double f(double x, int which) {
    double (*const all[2])(double, double) = {power, shifted};
    return simpson(all[which], 0, x, x) + simpson(&power, 1, 2, x);
}
