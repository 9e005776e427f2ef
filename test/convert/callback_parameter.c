/* SPDX-License-Identifier: MIT */
/* Parameters that are functions, named by --calls.
 * generic: refused
 * options: --function euler --with-respect-to y[0:1] --of y[0:1] --calls f=decay
 * inputs: 0.5
 * outputs: 1
 * call: out[0] = in[0]; euler(decay, 2, 0.5, out);
 * arguments: .f = decay_wg, .n = 2, .h = 0.5, .y = (double *)in
 */
void euler(void f(double t, double y[], double to[]), int n, double h, double y[]) {
    double k[1];
    for (int i = 0; i < n; i++) {
        f(i * h, y, k);
        y[0] += h * k[0];
    }
}
void decay(double t, double y[], double to[]) { to[0] = -y[0] + 0 * t; }
