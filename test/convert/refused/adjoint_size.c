/* SPDX-License-Identifier: MIT */
/* options: --to adjoint --function f --with-respect-to x[0:2] --of return
 * says: 'sizeof a' cannot be turned round: the length of 'a' is known when it runs
 */
#include <string.h>

double f(const double *x, int n) {
    double a[n];
    memset(a, 0, sizeof a);
    a[n - 1] += x[0] * x[1];
    return a[n - 1];
}
