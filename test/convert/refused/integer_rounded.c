/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/integer_rounded.c:8: error: 'x' depends on the inputs and becomes an integer
 */
#include <math.h>

double f(double x) {
    return x - (double)lround(x);
}
