/* SPDX-License-Identifier: MIT */
/* What may be written otherwise: indices before arrays, parameters as arrays of const numbers,
 * ranges of cases, steps within quotients and products, names of ours.
 * options: --function f --with-respect-to tape,t[0:n] --of return
 * inputs: 1.25 -0.5 2.5 0.75
 * outputs: 1
 * call: out[0] = f(in[0], 3, in + 1);
 * arguments: .tape = in[0], .n = 3, .t = in + 1
 */
static double sum(const double x[], double const y[static 1], const double z[][1], int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * i[y] * z[i][0] + 2 [x] * s;
    return s;
}
static double chosen(double x, int k) {
    double y = x;
    switch (k) {
    case 0 ... 2:
        y *= 2;
        break;
    case 3 ... 5:
        y *= x;
        break;
    default:
        y = 1;
    }
    return y;
}
double f(double tape, int n, const double *t) {
    double s = 0, term = 1;
    for (int k = 1; k < 6; term *= tape / k++) s += term * chosen(tape, k);
    for (int k = 7; k > 2; term = 2 / (term * k--)) s -= term;
    int k = 4;
    s += t[0] / --k;
    return s * sum(t, t, (const double(*)[1])t, n);
}
