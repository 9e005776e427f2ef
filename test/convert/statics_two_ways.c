/* SPDX-License-Identifier: MIT */
/* Statics in a function that has two forms: they are the same in both.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
static void update(double *w, double v, int begin) {
    static double before = 0.25;
    if (begin) before = 0.25;
    *w += before * v;
    before = v * 0.5;
}

double f(double x) {
    double w = x;
    update(&w, 0.75, 1);
    update(&w, x, 0);
    update(&w, 3, 0);
    return w;
}
