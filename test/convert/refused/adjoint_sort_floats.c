/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: refused/adjoint_sort_floats.c:11: error: 'qsort(a, 2, sizeof *a, order)' cannot be turned round: numbers that are no double are sorted
 */
#include <stdlib.h>

static int order(const void *a, const void *b) { return *(const float *)a < *(const float *)b ? -1 : 1; }

double f(const double *x) {
    float a[2] = {(float)x[0], (float)x[1]};
    qsort(a, 2, sizeof *a, order);
    return a[0];
}
