/* SPDX-License-Identifier: MIT */
/* Casts to pointers to arrays of variable length.
 * options: --function f --with-respect-to in[0:6] --of out[0:6]
 * inputs: 0.5 -1 2 0.25 3 -0.75
 * outputs: 6
 * call: f(3, in, out);
 * arguments: .n = 3, .in = in
 */
void f(int n, const double *in, double *out) {
    const double(*a)[n] = (const double(*)[n])in;
    double(*b)[n] = (double(*)[n])out;
    for (int i = 0; i < 6 / n; i++)
        for (int j = 0; j < n; j++) b[i][j] = 2 * a[i][j];
}
