/* SPDX-License-Identifier: MIT */
/* Indices that an argument or a factor changes, and what is read behind it.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of y[0:3]
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in
 */
static int cursor;
static int advance(void) { return cursor++; }
static double times(double u, int k) { return u * u * k; }

static double as_argument(const double *x, int i, double u) {
    double s = x[i] * x[i] * u;
    s = s * times(u, i++);
    s = s + x[i] * x[i];
    return s * s;
}

static double as_factor(const double *x, double u) {
    cursor = 1;
    double s = x[cursor] * x[cursor] * u;
    s = s * advance() * u;
    s = s + x[cursor] * x[cursor];
    return s * s;
}

static double by_call(const double *x, double u) {
    cursor = 1;
    double s = x[cursor] * x[cursor] * u;
    s = s * times(u, advance());
    s = s + x[cursor] * x[cursor];
    return s * s;
}

void f(const double *x, double *y) {
    y[0] = as_argument(x, 1, x[0]);
    y[1] = as_factor(x, x[0]);
    y[2] = by_call(x, x[0]);
}
