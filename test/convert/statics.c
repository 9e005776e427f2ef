/* SPDX-License-Identifier: MIT */
/* Statics in functions: they keep what they hold between calls, initialised ones too.
 * options: --function f --with-respect-to x --of return
 * inputs: 0.75
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
static double averaged(double x, int begin) {
    static double held = 1.0;
    static int count;
    if (begin) held = 1.0, count = 0;
    count++;
    held += (x - held) / (count + 1);
    return held;
}

double f(double x) {
    static const double weight[2] = {2.0, 3.0};
    double s = averaged(x, 1);
    for (int i = 0; i < 4; i++) s = s * weight[i % 2] + averaged(x * i, 0);
    return s;
}
