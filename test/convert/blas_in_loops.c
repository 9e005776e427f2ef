/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK whose operands are overwritten and asked for again: power iteration, refinement of a solution, a
 * matrix that grows; in functions that are called, with the same array in two places, sizes that change, and a way out.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * about: adjoint
 * options: --function f --with-respect-to x[0:12] --of y[0:9]
 * inputs: 3.25 0.4 0.5 -0.75 2.6 -0.5 0.3 0.2 4.8 1.1 0.9 -0.35
 * outputs: 9
 * call: f(3, in, out);
 * arguments: .n = 3, .x = in, .y = (double[9]){0}
 */
#include "blas.h"

struct system {
    double a[9], lu[9];
    int pivot[3];
    int steps;
};

/* v = A v / |A v|, in place; gives the last norm. */
static double iterate(int n, int steps, const double *a, double *v) {
    double w[3], norm = 0;
    for (int k = 0; k < steps; k++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1.0, a, n, v, 1, 0.0, w, 1);
        norm = cblas_dnrm2(n, w, 1);
        cblas_dcopy(n, w, 1, v, 1);
        cblas_dscal(n, 1 / norm, v, 1);
    }
    return norm;
}

/* r = b - A x, x += A^-1 r, with the factors that are there. */
static int refine(const struct system *s, const double *b, double *x) {
    double r[3];
    for (int k = 0; k < s->steps; k++) {
        cblas_dcopy(3, b, 1, r, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, 3, 3, -1.0, s->a, 3, x, 1, 1.0, r, 1);
        if (LAPACKE_dgetrs(102, 'N', 3, 1, s->lu, 3, s->pivot, r, 3) != 0) return 1;
        cblas_daxpy(3, 0.5, r, 1, x, 1);
    }
    return 0;
}

static int square(double *a, double *c) {
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, 3, 3, 3, 0.1, a, 3, a, 3, 0.0, c, 3);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, 3, 3, 3, 1.0, c, 3, c, 3, 0.0, a, 3);
    return a[0] > 0 ? 3 : 2;
}

void f(int n, const double *x, double *y) {
    struct system s;
    double v[3] = {1, x[9], 1}, b[3], c[9], sum = 0;
    y[0] = iterate(n, 4, x, v) + cblas_ddot(n, v, 1, x, n);
    for (int i = 0; i < 9; i++) s.a[i] = s.lu[i] = x[i];
    s.steps = 3;
    for (int turn = 0; turn < 2; turn++) { /* pivots and factors of the turn before are lost */
        if (LAPACKE_dgetrf(102, 3, 3, s.lu, 3, s.pivot) != 0) return;
        for (int i = 0; i < 3; i++) b[i] = 1 + turn * x[9 + i];
        if (refine(&s, b, v) != 0) return;
        y[1 + turn] = v[0] * v[1] + v[2];
        for (int i = 0; i < 9; i++) s.lu[i] = s.a[i] = s.a[i] * x[10] + (i == 2 * turn ? 5 : 0);
    }
    for (int k = square(s.a, c), i = 0; k > 0; k--, i++) { /* fewer and fewer rows */
        cblas_dger(CblasRowMajor, k, k, x[11], v, 1, b, 1, c, 3);
        cblas_dscal(k, cblas_ddot(k, v, 1, b, 1), v, 1);
        sum += cblas_ddot(k, c + i, 1, v, 1) * cblas_ddot(3, c, 3, c, 3);
        if (sum > 1e3) break;
    }
    y[3] = sum;
    for (int i = 0; i < 3; i++) y[4 + i] = v[i] * c[4 * i];
    for (int i = 0; i < 9; i++) c[i] = x[i] + x[8 - i] + (i % 4 == 0 ? 9 : 0);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) v[i] = b[i] + k * v[i];
        if (LAPACKE_dposv(102, 'L', 3, 1, c, 3, v, 3) != 0) return;
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, 3, 1, 2.0, v, 3, 4.0, c, 3);
    }
    y[7] = cblas_dasum(3, v, 1) * x[0];
    y[8] = c[0] * c[1] + c[8];
}
