/* SPDX-License-Identifier: MIT */
/* Level 1 of the BLAS on variables and on numbers, with increments, through pointers.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * options: --function f --with-respect-to x[0:6] --of y[0:10]
 * inputs: 1.25 0.4 2.5 -0.75 0.6 -3.5
 * outputs: 10
 * call: f(in, out);
 * arguments: .x = in, .y = (double[10]){0}
 */
#include "blas.h"

static double length(const double *v, int n) { return cblas_dnrm2(n, v, 1); }

void f(const double *x, double *y) {
    const double weights[4] = {0.5, -1, 2, 0.25};
    double a[6], b[6], fixed[3] = {1, 2, 3};
    cblas_dcopy(6, x, 1, a, 1);
    cblas_dcopy(6, x, -1, b, 1);
    y[0] = cblas_ddot(3, a, 2, b, 1) * cblas_ddot(4, weights, 1, x, 1);
    y[1] = length(x, 6) + cblas_dnrm2(3, fixed, 1);
    y[2] = cblas_dasum(6, a, 1) * x[cblas_idamax(5, x, 1)];
    cblas_daxpy(3, x[1], a, 1, b + 1, 2);
    cblas_dscal(2, 3 * x[0], b, 3);
    cblas_dscal(3, 0.5, a, 1);
    cblas_dswap(3, a, 2, b, 2);
    cblas_daxpy(3, 2, fixed, 1, b, -1);
    for (int i = 0; i < 6; i++) y[3 + i] = a[i] * b[5 - i];
    y[9] = cblas_ddot(0, a, 1, b, 1) + a[0];
    if (cblas_ddot(6, a, 1, b, 1) > 1e9) y[0] = 0;
}
