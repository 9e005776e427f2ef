/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/memory_without_sizeof.c:8: error: 'malloc(16)' is memory of variables, but its size is not written with sizeof
 */
#include <stdlib.h>

double f(double x) {
    double *const a = malloc(16);
    a[0] = x;
    a[1] = a[0] * x;
    x = a[1];
    free(a);
    return x;
}
