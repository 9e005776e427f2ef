/* SPDX-License-Identifier: MIT */
/* A power of two that a builtin takes, in a source without math.h.
 * options: --function f --with-respect-to x --of return
 * inputs: 1.25
 * outputs: 1
 * call: out[0] = f(in[0]);
 * arguments: .x = in[0]
 */
double f(double x) { return __builtin_ldexp(x, 3); }
