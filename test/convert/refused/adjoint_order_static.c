/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:3] --of return
 * says: refused/adjoint_order_static.c:17: error: 'qsort(k, 3, sizeof *k, order)' cannot be turned round: the order is said by 'kept', which is static and depends on the inputs: sort what has a field for it
 */
#include <stdlib.h>

static double *keys(void) {
    static double kept[3];
    return kept;
}
static int order(const void *a, const void *b) { return keys()[*(const int *)a] < keys()[*(const int *)b] ? -1 : 1; }

double f(const double *x) {
    int k[3] = {0, 1, 2};
    double *const key = keys();
    for (int i = 0; i < 3; i++) key[i] = x[i] * x[i];
    qsort(k, 3, sizeof *k, order);
    return key[0] * k[0] + key[1] * k[1];
}
