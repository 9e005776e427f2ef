/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/complex_parts.c:11: error: 'x' depends on the inputs and becomes a complex number
 * says: refused/complex_parts.c:12: error: '2 * x' depends on the inputs and becomes a complex number
 * says: refused/complex_parts.c:13: error: '3 * x' depends on the inputs and becomes a complex number
 * says: refused/complex_parts.c:14: error: '(4 * x)' depends on the inputs and becomes a complex number
 */
#include <complex.h>

double f(double x) {
    const double a = cimag(x * I);
    double complex z = x > 0 ? 2 * x : I;
    __imag__ z = 3 * x;
    return a + creal(z) + __imag__(4 * x);
}
