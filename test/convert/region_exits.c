/* SPDX-License-Identifier: MIT */
/* Branches that leave, with branches in them that read elements.
 * about: regions
 * options: --function f --with-respect-to x[0:4] --of return
 * inputs: 0.7 1.3 -0.6 0.9
 * outputs: 1
 * call: *out = f(in, 2, 1);
 * arguments: .x = in, .j = 2, .l = 1
 */
#include <math.h>

double f(const double *x, int j, int l) {
    double a = x[0] * x[1], c = a * x[0];
    if (a > c) {
        double q = j != l ? x[j] : x[l];
        q = sin(q * a) * q;
        return q * c * q;
    }
    return a * c;
}
