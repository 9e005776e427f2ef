/* SPDX-License-Identifier: MIT */
/* LAPACKE on variables: systems by LU and by Cholesky, also with a matrix of numbers, and what is left in it.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * options: --function f --with-respect-to x[0:12] --of y[0:10]
 * inputs: 1.25 0.4 2.5 -0.75 0.6 -1.5 0.3 2.2 -0.8 1.1 0.9 -0.35
 * outputs: 10
 * call: f(in, out);
 * arguments: .x = in, .y = (double[10]){0}
 */
#include "blas.h"

static double sum(const double *a, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += (i + 1) * a[i];
    return s;
}

static void positive(const double *x, double *a) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a[4 * i + j] = (i == j ? 5 : 0.5) + x[i + j] * x[3 + i + j] * 0.2;
}

void f(const double *x, double *y) {
    double a[12], b[6], fixed[4] = {1, 3, 2, -1}, spare[4] = {x[0], x[1], x[2], x[3]};
    int pivot[3];
    for (int i = 0; i < 9; i++) a[4 * (i / 3) + i % 3] = x[i];
    for (int i = 0; i < 6; i++) b[i] = x[i + 6];
    y[0] = LAPACKE_dgesv(101, 3, 2, a, 4, pivot, b, 2) + sum(b, 6);
    y[1] = a[0] + 2 * a[1] + 3 * a[5] + 4 * a[8] + pivot[0];
    if (LAPACKE_dgetrs(102, 'T', 3, 1, a, 4, pivot, b, 3) != 0) return;
    y[2] = sum(b, 6);
    (void)LAPACKE_dgetrf(102, 2, 2, fixed, 2, pivot);
    (void)LAPACKE_dgetrs(102, 'N', 2, 2, fixed, 2, pivot, b, 2);
    y[3] = sum(b, 6);
    if (LAPACKE_dgetrf(102, 2, 2, spare, 2, pivot) == 0) y[4] = sum(spare, 4);
    positive(x, a);
    (void)LAPACKE_dpotrf(101, 'L', 3, a, 4);
    y[5] = a[0] * a[4] + a[5] + a[8] * a[9] * a[10] + a[1];
    (void)LAPACKE_dpotrs(101, 'L', 3, 2, a, 4, b, 2);
    y[6] = sum(b, 6);
    positive(x, a);
    (void)LAPACKE_dposv(102, 'U', 3, 1, a, 4, b, 3);
    y[7] = sum(b, 6);
    y[8] = a[0] * a[4] + a[5] + a[8] * a[9] * a[10] + a[1];
    positive(x, a);
    (void)LAPACKE_dposv(101, 'U', 3, 2, a, 4, b, 2);
    y[9] = sum(b, 6) + a[4];
}
