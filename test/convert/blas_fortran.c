/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK by their Fortran names: arguments by pointers, work space that is asked for.
 * adjoint: refused
 * generic: refused
 * near: yes
 * behind: blas_plain
 * options: --function f --with-respect-to x[0:8] --of y[0:8]
 * inputs: 1.25 0.4 2.5 -0.75 0.6 -1.5 0.3 2.2
 * outputs: 8
 * call: f(in, out);
 * arguments: .x = in, .y = (double[8]){0}
 */
#include "blas.h"

void f(const double *x, double *y) {
    const int two = 2, one = 1, four = 4, *const n = &two;
    double alpha = x[0], zero = 0, size = 0, c[4], b[4] = {x[4], x[5], x[6], x[7]}, a[4], w[2], work[64];
    int info, ask = -1, length = 64;
    daxpy_(&four, &alpha, x + 4, &one, b, &one);
    y[0] = ddot_(n, b, &two, x, &one);
    dgemm_("N", "T", n, n, n, &alpha, x, n, b, n, &zero, c, &two);
    y[1] = c[0] + c[1] * c[2] + c[3];
    a[0] = 4 + x[1], a[1] = a[2] = x[2] * 0.5, a[3] = 5 + x[3];
    dposv_("L", n, &one, a, n, b, n, &info);
    y[2] = b[0] * b[1] + info;
    for (int i = 0; i < 4; i++) a[i] = x[i];
    for (int i = 0; i < 4; i++) c[i] = x[i + 4];
    dgels_("N", &four, &one, &one, a, &four, c, &four, &size, &ask, &info);
    dgels_("N", &four, &one, &one, a, &four, c, &four, work, &length, &info);
    y[3] = c[0];
    a[0] = x[0], a[1] = x[1], a[2] = 7, a[3] = x[3];
    dsyev_("V", "L", n, a, n, w, work, &length, &info);
    y[4] = w[0] * w[1] * w[1];
    y[5] = a[0] * a[0] + a[1] * a[2] * a[2] * a[1];
    y[6] = alpha * size;
    y[7] = w[1];
}
