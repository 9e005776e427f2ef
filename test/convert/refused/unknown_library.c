/* SPDX-License-Identifier: MIT */
/* options: --function f --with-respect-to x --of return
 * says: refused/unknown_library.c:12: error: 'bsearch' gets '&x'
 */
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

double f(double x) {
    double a[3] = {x, 2, x * x};
    const double y = x * x;
    return *(double *)bsearch(&x, a, 3, sizeof *a, order) * y;
}
