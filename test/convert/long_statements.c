/* SPDX-License-Identifier: MIT */
/* Statements longer than one record are recorded in parts.
 * options: --function f --with-respect-to x[0:3] --of return
 * inputs: 1.25 0.4 2
 * outputs: 1
 * call: out[0] = f(in);
 * arguments: .x = in
 */
#include <math.h>

double f(const double x[3]) {
    return (x[0] + x[1]) * (x[1] + x[2]) * (x[2] + x[0]) - (x[0] - x[1]) * (x[1] - x[2]) * (x[2] - x[0]) +
           sin(x[0] * x[1] + x[2]) * cos(x[1] * x[2] - x[0]) / (1 + x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) +
           exp(-(x[0] * x[0] + 2 * x[0] * x[1] + 3 * x[1] * x[1] + 4 * x[2])) * 0.5 * 0.25 * 1.5 * 1.25 * 1.125 * 1.75 *
               1.0625 * 1.03125 * 2.5 * 3.5;
}
