/* SPDX-License-Identifier: MIT */
/* Functions that name globals, called where these names are local variables.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:4]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
static int k = 2;
static double table[3] = {2, 3, 4};
enum { LAST = 3 };
static double by_index(const double *x) { return x[k] * x[0]; }
static double by_table(double u, int i) { return u * u * table[i]; }
static double by_constant(const double *x) { return x[LAST] * x[0]; }
static double first(const double *x) {
    int k = 1;
    return by_index(x) * x[k];
}
static double second(double u) {
    const double table[3] = {5, 6, 7};
    return by_table(u, 1) * table[1];
}
static double third(const double *x) {
    int LAST = 1;
    return by_constant(x) * x[LAST];
}
void f(const double *x, double *y) {
    y[0] = first(x);
    y[1] = second(x[1]);
    y[2] = third(x);
    y[3] = x[3];
}
