/* SPDX-License-Identifier: MIT */
/* A function that remembers has one version, and begins anew with each recording.
 * options: --function f --with-respect-to x[0:2] --of y[0:2]
 * inputs: 0.5 -1.5
 * outputs: 2
 * call: f(in, out);
 * arguments: .x = in
 */
static double store(int put, double v) {
    static double held = 0;
    if (put) held = v;
    return held;
}
void f(const double *x, double *y) {
    store(1, 0.5);
    store(1, store(0, 0) - 0.5 + x[0]);
    y[0] = store(0, 0);
    y[1] = store(0, 0) + x[1];
}
