/* SPDX-License-Identifier: MIT */
/* Levels 2 and 3 of the BLAS: orders, transposes, triangles, leading dimensions, factors that are variables.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * options: --function f --with-respect-to x[0:12] --of y[0:16]
 * inputs: 1.25 0.4 2.5 -0.75 0.6 -1.5 0.3 2.2 -0.8 1.1 0.9 -0.35
 * outputs: 16
 * call: f(in, out);
 * arguments: .x = in, .y = (double[16]){0}
 */
#include "blas.h"

static double sum(const double *a, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += (i + 1) * a[i] * (1 + 0.1 * a[i]);
    return s;
}

void f(const double *x, double *y) {
    const double table[6] = {1, -2, 0.5, 3, 0.25, -1};
    double a[12], c[20] = {0}, v[4] = {x[0], x[3], x[5], x[7]}, w[8] = {1, x[1], 2, x[2], 3, x[4], 4, x[6]};
    for (int i = 0; i < 12; i++) a[i] = x[i] * (i % 5 == 0 ? 3 : 1);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, 3, 4, 1.0, a, 4, v, 1, 0.0, c, 1);
    y[0] = sum(c, 3);
    cblas_dgemv(CblasColMajor, CblasTrans, 2, 3, x[2], table, 2, v, -1, 0.5, w, 2);
    y[1] = sum(w, 8);
    cblas_dgemv(CblasColMajor, CblasNoTrans, 3, 2, 2.0, a, 4, w + 1, 2, x[1], c, 1);
    y[2] = sum(c, 20);
    cblas_dsymv(CblasRowMajor, CblasUpper, 3, 1.5, a, 4, v, 1, -1.0, w, 1);
    y[3] = sum(w, 8);
    cblas_dger(CblasRowMajor, 2, 3, x[8], v, 2, w, 1, a, 4);
    y[4] = sum(a, 12);
    cblas_dtrmv(CblasColMajor, CblasLower, CblasTrans, CblasUnit, 3, a, 4, v, 1);
    y[5] = sum(v, 4);
    cblas_dtrsv(CblasRowMajor, CblasUpper, CblasNoTrans, CblasNonUnit, 3, a, 4, v, 1);
    y[6] = sum(v, 4);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, 3, 2, 3, 1.0, a, 4, table, 3, 0.0, c, 5);
    y[7] = sum(c, 20);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, 2, 3, 4, x[9], a, 4, x, 4, x[10], c, 4);
    y[8] = sum(c, 20);
    cblas_dsymm(CblasColMajor, CblasRight, CblasLower, 4, 3, 0.5, a, 4, x, 4, 2.0, c, 4);
    y[9] = sum(c, 20);
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, 3, 4, x[11], x, 4, 0.5, c, 4);
    y[10] = sum(c, 20);
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, 3, 2, 1.0, x, 3, 0.0, c, 5);
    y[11] = sum(c, 20);
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 3, 2, x[3], a, 4, c, 2);
    y[12] = sum(c, 20);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, CblasNoTrans, CblasUnit, 2, 3, 2.0, a, 4, c, 4);
    y[13] = sum(c, 20);
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 3, 2, 1.0, a, 4, c, 4);
    y[14] = sum(c, 20);
    y[15] = c[0] * w[0];
}
