/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/complex.c:8: error: 'x' depends on the inputs and becomes a complex number, which has no derivative: write its parts as real numbers
 */
#include <complex.h>

double f(double x) {
    double complex z = x;
    return creal(z * z);
}
