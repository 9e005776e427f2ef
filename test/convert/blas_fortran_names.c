/* SPDX-License-Identifier: MIT */
/* BLAS by Fortran names, of which each has an adjoint: sizes and factors behind pointers, which change.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * about: adjoint
 * options: --function f --with-respect-to x[0:8] --of y[0:5]
 * inputs: 1.25 0.4 2.5 -0.75 0.6 -1.5 0.3 2.2
 * outputs: 5
 * call: f(in, out);
 * arguments: .x = in, .y = (double[5]){0}
 */
#include "blas.h"

void f(const double *x, double *y) {
    int n = 2, one = 1, info;
    double alpha = x[0], beta = 0, c[4], d[4] = {x[1], 1, x[2], 2}, b[4] = {x[4], x[5], x[6], x[7]}, a[4];
    for (int k = 0; k < 2; k++) {
        n = 1 + k;
        daxpy_(&n, &alpha, x + 4, &one, b, &one);
        y[k] = ddot_(&n, b, &n, x, &one);
        alpha *= x[1] * y[k];
    }
    dgemm_("N", "T", &n, &n, &n, &alpha, x, &n, b, &n, &beta, c, &n);
    beta = x[3];
    dgemm_("T", "N", &n, &n, &n, &alpha, c, &n, b, &n, &beta, d, &n);
    y[2] = c[0] + c[1] * c[2] + c[3];
    y[3] = d[0] * d[3] - d[1];
    a[0] = 4 + x[1], a[1] = a[2] = x[2] * 0.5, a[3] = 5 + x[3];
    dposv_("L", &n, &one, a, &n, c, &n, &info);
    y[4] = c[0] * c[1] + info + a[0] * a[1];
}
