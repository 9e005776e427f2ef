/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/union_pointer.c:8: error
 */
#include <math.h>

double f(double x) {
    union {
        double d;
        long n;
    } u = {x};
    u.n ^= 1;
    return u.d * x;
}
