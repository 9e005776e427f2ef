/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/exponent.c:7: error: 'x' depends on the inputs and becomes an integer
 */
#include <math.h>

double f(double x) { return x * ldexp(2, x); }
