/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/sort_by_bytes.c:11: error: 'qsort(a, 3, 8, order)' sorts variables, but their size is not written with sizeof
 */
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

double f(double x) {
    double a[3] = {x, 2, x * x};
    qsort(a, 3, 8, order);
    return a[0];
}
