/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: refused/adjoint_sort.c:11: error: 'qsort(a, 3, sizeof *a, order)' cannot be turned round: it sorts variables, which --to tape can
 */
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

double f(double x) {
    double a[3] = {x, 2, x * x};
    qsort(a, 3, sizeof *a, order);
    return a[0];
}
