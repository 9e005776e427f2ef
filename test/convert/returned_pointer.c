/* SPDX-License-Identifier: MIT */
/* Functions that return pointers into what they are given.
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 1.25 0.4 2 -1
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
static double *row(double *m, int cols, int i) { return m + cols * i; }
static const double *smaller(const double *a, const double *b) { return *a < *b ? a : b; }

double f(const double x[4]) {
    double m[4];
    for (int i = 0; i < 4; i++) m[i] = x[i] * 2;
    double *const second = row(m, 2, 1);
    second[0] *= m[1];
    *row(m, 2, 0) += second[1];
    return m[0] * m[2] + *smaller(&x[0], &x[1]);
}
