/* SPDX-License-Identifier: MIT */
/* One output of a function that the adjoint refuses: regions, as if no rows had been asked for.
 * about: blocks
 * options: --function f --with-respect-to x[0:5] --of return --rows 1 --directions 0
 * inputs: 0.7 1.3 -0.6 0.9 1.7
 * outputs: 1
 * call: *out = f(in);
 * arguments: .x = in
 * adjoint: refused
 */
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double f(const double *x) {
    double a[5], sum = 0;
    for (int i = 0; i < 5; i++) a[i] = x[i] * x[i];
    qsort(a, 5, sizeof *a, ascending);
    for (int i = 0; i < 5; i++) sum = sum * 0.5 + ({ const double t = a[i]; t * x[4 - i]; });
    return sum;
}
