/* SPDX-License-Identifier: MIT */
/* Names that the converter uses itself: tape, x_wg, k_wg.
 * options: --function f --with-respect-to x[0:2] --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in, 2);
 * arguments: .x = in, .tape = 2
 */
double f(const double x[2], int tape) {
    double k_wg = x[0], x_wg = x[1];
    k_wg += x_wg * tape;
    return k_wg * k_wg;
}
