/* SPDX-License-Identifier: MIT */
/* Arrays of one dimension, read and written by index.
 * options: --function f --with-respect-to x[0:3] --of y[0:3]
 * inputs: 0.5 1.25 -2
 * outputs: 3
 * call: f(in, out);
 * arguments: .x = in
 */
/* a filter with a local array */
void f(const double x[3], double y[3]) {
    double z[4] = {0};
    for (int i = 0; i < 3; i++) z[i + 1] = z[i] * 0.5 + x[i];
    for (int i = 0; i < 3; i++) y[i] = z[i] * z[i + 1] + x[2 - i];
}
