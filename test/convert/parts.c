/* SPDX-License-Identifier: MIT */
/* modf, frexp and lround: whole parts, exponents, rounded numbers.
 * options: --function f --with-respect-to x --of return --accept-integers
 * inputs: 5.3
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
#include <math.h>

double f(double x) {
    double whole;
    int exponent;
    const double rest = modf(x, &whole), mantissa = frexp(x, &exponent);
    const long near = lround(x);
    if (isnan(x) || !isfinite(rest)) return 0;
    return rest * rest + whole + mantissa * exponent + x * (double)near + (int)x * rest;
}
