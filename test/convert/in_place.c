/* SPDX-License-Identifier: MIT */
/* An array that is input and output at once.
 * options: --function f --with-respect-to x[0:n] --of x[0:n]
 * inputs: 1.25 0.4 2
 * outputs: 3
 * call: for (int i = 0; i < 3; i++) out[i] = in[i];
 * call: f(3, out);
 * arguments: .n = 3, .x = in
 */
void f(int n, double *x) {
    for (int sweep = 0; sweep < 2; sweep++)
        for (int i = 0; i < n; i++) x[i] = x[i] * x[(i + 1) % n] - 0.5;
}
