/* SPDX-License-Identifier: MIT */
/* long double: numbers become variables, which are double.
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.5
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
double f(double x, double y) {
    long double s = x; /* no operation on it rounds: x, y and the products are exact */
    s = s * y;
    return (double)(s + 1.0L);
}
