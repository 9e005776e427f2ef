/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:3] --of return
 * says: refused/adjoint_order.c:14: error: 'qsort(k, 3, sizeof *k, order)' cannot be turned round: the order is said by 'key', which is global and depends on the inputs: sort what has a field for it
 */
#include <stdlib.h>

static double key[3];
static double at(int i) { return key[i]; }
static int order(const void *a, const void *b) { return at(*(const int *)a) < at(*(const int *)b) ? -1 : 1; }

double f(const double *x) {
    int k[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++) key[i] = x[i] * x[i];
    qsort(k, 3, sizeof *k, order);
    return key[0] * k[0] + key[1] * k[1];
}
