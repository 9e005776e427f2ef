/* SPDX-License-Identifier: MIT */
/* The functions of math.h.
 * options: --function f --with-respect-to x,y --of out[0:16]
 * inputs: 0.4 1.3
 * outputs: 16
 * call: f(in[0], in[1], out);
 * arguments: .x = in[0], .y = in[1]
 */
#include <math.h>

void f(double x, double y, double out[16]) {
    out[0] = sin(x) * cos(y) + tan(x);
    out[1] = asin(x) + acos(x / 2) - atan(y);
    out[2] = atan2(y, x);
    out[3] = sinh(x) + cosh(y) * tanh(x);
    out[4] = asinh(x) + acosh(y) + atanh(x);
    out[5] = exp(x) + exp2(y) - expm1(x);
    out[6] = log(y) + log2(x) + log10(y) * log1p(x);
    out[7] = sqrt(x * y) + cbrt(y);
    out[8] = pow(x, y) + pow(y, 2) + pow(2, x) + pow(x, 0.5);
    out[9] = hypot(x, y) + fabs(x - y);
    out[10] = fmax(x, y) * fmin(x, 1) + fdim(y, x);
    out[11] = floor(y) * x + ceil(x) * y + trunc(y) + round(x);
    out[12] = fmod(y, x) + remainder(y, x) + copysign(x, -y);
    out[13] = erf(x) + erfc(y) + tgamma(y) + lgamma(x);
    out[14] = fma(x, y, 2) + ldexp(x, 3) + scalbn(y, -1) + rint(y);
    out[15] = j0(x) + j1(y);
}
