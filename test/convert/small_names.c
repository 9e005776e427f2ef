/* SPDX-License-Identifier: MIT */
/* Names that are those of what is written: few inputs.
 * options: --function f --with-respect-to tape,t --of return
 * inputs: 1.25 -0.5
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .tape = in[0], .t = in[1]
 */
static double twice(double tape) { return tape * 2; }
double f(double tape, double t) {
    double data = tape, n = t, x = twice(data), m = x * n;
    const double value = m, status = t;
    return value * status + 3 * tape;
}
