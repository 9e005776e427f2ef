/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/unknown_library.c:11: error: 'qsort' gets 'a'
 */
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

double f(double x) {
    double a[3] = {x, 2, x * x};
    qsort(a, 3, sizeof *a, order);
    return a[0];
}
