/* SPDX-License-Identifier: MIT */
/* Statements as expressions, typeof, and functions inside headers.
 * adjoint: refused
 * options: --function f --with-respect-to x,y --of return
 * inputs: 1.25 0.4
 * outputs: 1
 * call: out[0] = f(in[0], in[1]);
 * arguments: .x = in[0], .y = in[1]
 */
#include "inline.h"

double f(double x, double y) {
    const double larger = ({
        double a = x * 2, b = y;
        a > b ? a : b;
    });
    return larger + cubed(y);
}
