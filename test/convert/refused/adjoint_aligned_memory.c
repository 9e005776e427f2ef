/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: adjoint_aligned_memory.c:8: error: 'aligned_alloc(64, 64 * sizeof(double))' cannot be turned round: it has no name
 */
#include <stdlib.h>

double f(const double *x) {
    double *w = aligned_alloc(64, 64 * sizeof(double));
    w[0] = x[0] * x[1];
    return w[0] * w[0];
}
