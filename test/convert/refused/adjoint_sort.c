/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x --of return
 * says: refused/adjoint_sort.c:14: error: 'qsort(a, 2, sizeof *a, order)' cannot be turned round: memory of pointers is sorted
 */
#include <stdlib.h>

static int order(const void *a, const void *b) {
    return **(double *const *)a < **(double *const *)b ? -1 : 1;
}

double f(double x) {
    double v[2] = {x, 2};
    double *a[2] = {v, v + 1};
    qsort(a, 2, sizeof *a, order);
    return *a[0];
}
