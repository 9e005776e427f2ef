/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK on what only pointers lead to: functions that do nothing but call them, whose arrays the caller
 * overwrites; pivots of the caller's; numbers side by side in a structure; factors that are assigned where they are
 * passed, or float; one number for a whole vector.
 * generic: refused
 * near: yes
 * behind: blas_plain
 * options: --function f --with-respect-to x[0:4] --of y[0:9]
 * inputs: 1.25 0.5 0.75 -1.5
 * outputs: 9
 * call: f(in, out, (int[2]){0});
 * arguments: .x = in, .y = (double[9]){0}, .pivot = (int[2]){0}
 */
#include "blas.h"

struct point {
    double x, y, z;
};

static double dot(int n, const double *a, const double *b) { return cblas_ddot(n, a, 1, b, 1); }
static void times(const double *a, const double *b, double *c) {
    cblas_dgemv(CblasColMajor, CblasNoTrans, 2, 2, 1.0, a, 2, b, 1, 0.0, c, 1);
}
static double applied(const double *a, const double *b) {
    double c[2];
    times(a, b, c);
    return c[0] * c[1];
}

void f(const double *x, double *y, int *pivot) {
    double v[3] = {x[0] * x[1], x[2], x[3]}, w[2] = {x[1], x[2]}, t = 0;
    double a[4] = {0.1 * x[0], x[1] * 8, x[2] * 3, x[3]}, b[4] = {5 * x[0], x[1] * 0.1, x[2], x[3]};
    struct point p = {x[0] * x[3], x[1] * x[2], x[2]}, q[2] = {{x[0], 2, x[1]}, {x[2], 3, x[3]}};
    y[0] = dot(2, v, x);
    v[0] = 7 * x[1], v[1] = 3; /* what the way back of dot asks for */
    y[1] = v[0] * v[1] * x[3] + applied(a, w);
    a[2] = x[0] * x[0], w[0] = x[3];
    y[2] = applied(a, w);
    (void)LAPACKE_dgetrf(102, 2, 2, a, 2, pivot);
    (void)LAPACKE_dgetrs(102, 'N', 2, 1, a, 2, pivot, w, 2);
    y[3] = w[0] * w[1];
    (void)LAPACKE_dgetrf(102, 2, 2, b, 2, pivot); /* which changes no rows */
    (void)LAPACKE_dgetrs(102, 'N', 2, 1, b, 2, pivot, w, 2);
    y[4] = w[0] * w[1] + w[0];
    y[5] = cblas_ddot(3, &p.x, 1, &p.x, 1);
    p.y = 5 * x[0], p.z = 7;
    y[6] = p.x * p.y * p.z + cblas_ddot(2, &q[0].x, 3, &q[0].z, 3) * q[1].y;
    cblas_dscal(3, v[0] = x[3] * v[2], v, 1);
    cblas_daxpy(2, (float)x[3], w, 1, v + 1, -1);
    y[7] = v[0] * v[1] + v[2];
    cblas_dcopy(3, &x[2], 0, v, 1);
    y[8] = v[0] * v[1] * v[2];
    cblas_dcopy(2, &t, 0, v, 1);
    y[8] += v[0] + v[2];
}
