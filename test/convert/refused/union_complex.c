/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_complex.c:7: error: a field of union
 */
#include <complex.h>

union parts {
    double at[2];
    double complex both;
};
double f(double x) {
    union parts p = {{x * x, 1}};
    const double complex z = p.both * p.both;
    return creal(z);
}
