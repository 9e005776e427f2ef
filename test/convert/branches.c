/* SPDX-License-Identifier: MIT */
/* if and else on variables, and their logic: && || ! and numbers as conditions.
 * options: --function f --with-respect-to x[0:3] --of y[0:4]
 * inputs: 1.25 0.4 -2
 * outputs: 4
 * call: f(in, out);
 * arguments: .x = in
 */
void f(const double x[3], double y[4]) {
    if (x[0] > x[1] && !(x[2] >= 0)) y[0] = x[0] * x[2];
    else if (x[1] == 0) y[0] = 0;
    else y[0] = x[1];
    if (x[2]) y[1] = 1 / x[2];
    else y[1] = 0;
    if (!x[2] || x[0] <= 1) y[2] = x[1];
    else {
        y[2] = x[0] + x[1];
        y[2] *= y[2];
    }
    const int positive = (x[0] > 0) + (x[1] > 0) + (x[2] > 0);
    y[3] = positive == 2 ? x[0] * x[1] : 7;
}
