/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/copy_without_sizeof.c:9: error: 'memcpy(b, a, 16)' is memory of variables, but its size is not written with sizeof
 */
#include <string.h>

double f(double x) {
    double a[2] = {x, x * x}, b[2];
    memcpy(b, a, 16);
    return b[0] + b[1];
}
