/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK in loops, for the originals that are compared with: no library computes in long double. */
#include <math.h>
#include "blas.h"

#define FIRST(n, inc) ((inc) < 0 ? (1 - (n)) * (inc) : 0)
/* Element (i, j), and of op(A), of the symmetric matrix or the triangle that is given. */
static double at(int o, const double *a, int lda, int i, int j) {
    return o == 101 ? a[i * lda + j] : a[i + j * lda];
}
static double *of(int o, double *a, int lda, int i, int j) {
    return o == 101 ? &a[i * lda + j] : &a[i + j * lda];
}
static double op(int o, int t, const double *a, int lda, int i, int j) {
    return t == 111 ? at(o, a, lda, i, j) : at(o, a, lda, j, i);
}
static double sym(int o, int u, const double *a, int lda, int i, int j) {
    return (u == 121) == (i <= j) ? at(o, a, lda, i, j) : at(o, a, lda, j, i);
}
static double tri(int o, int u, int t, int d, const double *a, int lda, int i, int j) {
    if (t != 111) return tri(o, u, 111, d, a, lda, j, i);
    return i == j && d == 132 ? 1 : (u == 121 ? i <= j : i >= j) ? at(o, a, lda, i, j) : 0;
}

double cblas_ddot(int n, const double *x, int incx, const double *y, int incy) {
    double s = 0;
    for (int i = 0; i < n; i++)
        s += x[FIRST(n, incx) + i * incx] * y[FIRST(n, incy) + i * incy];
    return s;
}
double cblas_dnrm2(int n, const double *x, int incx) {
    return sqrt(cblas_ddot(n, x, incx, x, incx));
}
double cblas_dasum(int n, const double *x, int incx) {
    double s = 0;
    for (int i = 0; i < n; i++) s += fabs(x[i * incx]);
    return s;
}
unsigned long cblas_idamax(int n, const double *x, int incx) {
    int k = 0;
    for (int i = 1; i < n; i++)
        if (fabs(x[i * incx]) > fabs(x[k * incx])) k = i;
    return (unsigned long)k;
}
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy) {
    for (int i = 0; i < n; i++)
        y[FIRST(n, incy) + i * incy] += alpha * x[FIRST(n, incx) + i * incx];
}
void cblas_dscal(int n, double alpha, double *x, int incx) {
    for (int i = 0; i < n; i++) x[i * incx] *= alpha;
}
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy) {
    for (int i = 0; i < n; i++) y[FIRST(n, incy) + i * incy] = x[FIRST(n, incx) + i * incx];
}
void cblas_dswap(int n, double *x, int incx, double *y, int incy) {
    for (int i = 0; i < n; i++) {
        const double z = x[i * incx];
        x[i * incx] = y[i * incy], y[i * incy] = z;
    }
}
static double scaled(double beta, double y) { return beta == 0 ? 0 : beta * y; }
void cblas_dgemv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, double alpha, const double *a,
                 int lda, const double *x, int incx, double beta, double *y, int incy) {
    const int rows = t == CblasNoTrans ? m : n, cols = t == CblasNoTrans ? n : m;
    for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int j = 0; j < cols; j++)
            s += op(o, t, a, lda, i, j) * x[FIRST(cols, incx) + j * incx];
        double *const to = &y[FIRST(rows, incy) + i * incy];
        *to = alpha * s + scaled(beta, *to);
    }
}
void cblas_dsymv(CBLAS_ORDER o, CBLAS_UPLO u, int n, double alpha, const double *a, int lda,
                 const double *x, int incx, double beta, double *y, int incy) {
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++) s += sym(o, u, a, lda, i, j) * x[j * incx];
        y[i * incy] = alpha * s + scaled(beta, y[i * incy]);
    }
}
void cblas_dger(CBLAS_ORDER o, int m, int n, double alpha, const double *x, int incx,
                const double *y, int incy, double *a, int lda) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) *of(o, a, lda, i, j) += alpha * x[i * incx] * y[j * incy];
}
void cblas_dtrmv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n,
                 const double *a, int lda, double *x, int incx) {
    double y[8];
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += tri(o, u, t, d, a, lda, i, j) * x[j * incx];
    }
    for (int i = 0; i < n; i++) x[i * incx] = y[i];
}
void cblas_dtrsv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n,
                 const double *a, int lda, double *x, int incx) {
    const int upper = (u == CblasUpper) == (t == CblasNoTrans);
    for (int k = 0; k < n; k++) {
        const int i = upper ? n - 1 - k : k;
        for (int j = upper ? i + 1 : 0; j < (upper ? n : i); j++)
            x[i * incx] -= tri(o, u, t, d, a, lda, i, j) * x[j * incx];
        x[i * incx] /= tri(o, u, t, d, a, lda, i, i);
    }
}
void cblas_dgemm(CBLAS_ORDER o, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
                 double alpha, const double *a, int lda, const double *b, int ldb, double beta,
                 double *c, int ldc) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double s = 0;
            for (int l = 0; l < k; l++) s += op(o, ta, a, lda, i, l) * op(o, tb, b, ldb, l, j);
            *of(o, c, ldc, i, j) = alpha * s + scaled(beta, at(o, c, ldc, i, j));
        }
}
void cblas_dsymm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, int m, int n, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < (s == CblasLeft ? m : n); l++)
                sum += s == CblasLeft ? sym(o, u, a, lda, i, l) * at(o, b, ldb, l, j)
                                      : at(o, b, ldb, i, l) * sym(o, u, a, lda, l, j);
            *of(o, c, ldc, i, j) = alpha * sum + scaled(beta, at(o, c, ldc, i, j));
        }
}
void cblas_dsyrk(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc) {
    for (int i = 0; i < n; i++)
        for (int j = u == CblasUpper ? i : 0; j < (u == CblasUpper ? n : i + 1); j++) {
            double s = 0;
            for (int l = 0; l < k; l++) s += op(o, t, a, lda, i, l) * op(o, t, a, lda, j, l);
            *of(o, c, ldc, i, j) = alpha * s + scaled(beta, at(o, c, ldc, i, j));
        }
}
static void each_line(int solves, int o, int s, int u, int t, int d, int m, int n, double alpha,
                      const double *a, int lda, double *b, int ldb) {
    for (int k = 0; k < (s == 141 ? n : m); k++) {
        double x[8];
        const int length = s == 141 ? m : n;
        for (int i = 0; i < length; i++)
            x[i] = alpha * (s == 141 ? at(o, b, ldb, i, k) : at(o, b, ldb, k, i));
        const int turn = s == 141   ? t
                         : t == 111 ? 112
                                    : 111; /* X op(A) = B is op(A)' X' = B' */
        if (solves) cblas_dtrsv(o, u, turn, d, length, a, lda, x, 1);
        else cblas_dtrmv(o, u, turn, d, length, a, lda, x, 1);
        for (int i = 0; i < length; i++)
            *(s == 141 ? of(o, b, ldb, i, k) : of(o, b, ldb, k, i)) = x[i];
    }
}
void cblas_dtrmm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d,
                 int m, int n, double alpha, const double *a, int lda, double *b, int ldb) {
    each_line(0, o, s, u, t, d, m, n, alpha, a, lda, b, ldb);
}
void cblas_dtrsm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d,
                 int m, int n, double alpha, const double *a, int lda, double *b, int ldb) {
    each_line(1, o, s, u, t, d, m, n, alpha, a, lda, b, ldb);
}

int LAPACKE_dgetrf(int o, int m, int n, double *a, int lda, int *pivot) {
    (void)m;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(at(o, a, lda, i, k)) > fabs(at(o, a, lda, p, k))) p = i;
        pivot[k] = p + 1;
        for (int j = 0; j < n; j++) {
            const double x = at(o, a, lda, k, j);
            *of(o, a, lda, k, j) = at(o, a, lda, p, j);
            *of(o, a, lda, p, j) = x;
        }
        for (int i = k + 1; i < n; i++) {
            *of(o, a, lda, i, k) /= at(o, a, lda, k, k);
            for (int j = k + 1; j < n; j++)
                *of(o, a, lda, i, j) -= at(o, a, lda, i, k) * at(o, a, lda, k, j);
        }
    }
    return 0;
}
int LAPACKE_dgetrs(int o, char t, int n, int nrhs, const double *a, int lda, const int *pivot,
                   double *b, int ldb) {
    const int turn = t == 'N' ? 111 : 112;
    for (int k = 0; k < nrhs; k++) {
        double x[8];
        for (int i = 0; i < n; i++) x[i] = at(o, b, ldb, i, k);
        for (int i = 0; t == 'N' && i < n; i++) cblas_dswap(1, &x[i], 1, &x[pivot[i] - 1], 1);
        cblas_dtrsv(o, t == 'N' ? CblasLower : CblasUpper, turn,
                    t == 'N' ? CblasUnit : CblasNonUnit, n, a, lda, x, 1);
        cblas_dtrsv(o, t == 'N' ? CblasUpper : CblasLower, turn,
                    t == 'N' ? CblasNonUnit : CblasUnit, n, a, lda, x, 1);
        for (int i = n - 1; t != 'N' && i >= 0; i--)
            cblas_dswap(1, &x[i], 1, &x[pivot[i] - 1], 1);
        for (int i = 0; i < n; i++) *of(o, b, ldb, i, k) = x[i];
    }
    return 0;
}
int LAPACKE_dgesv(int o, int n, int nrhs, double *a, int lda, int *pivot, double *b, int ldb) {
    return LAPACKE_dgetrf(o, n, n, a, lda, pivot) +
           LAPACKE_dgetrs(o, 'N', n, nrhs, a, lda, pivot, b, ldb);
}
int LAPACKE_dpotrf(int o, char u, int n, double *a, int lda) {
    const int way = u == 'L' ? o : 203 - o; /* the lower triangle of the transpose */
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double s = at(way, a, lda, i, j);
            for (int k = 0; k < j; k++) s -= at(way, a, lda, i, k) * at(way, a, lda, j, k);
            *of(way, a, lda, i, j) = i == j ? sqrt(s) : s / at(way, a, lda, j, j);
        }
    return 0;
}
int LAPACKE_dpotrs(int o, char u, int n, int nrhs, const double *a, int lda, double *b,
                   int ldb) {
    const int way = u == 'L' ? o : 203 - o;
    for (int k = 0; k < nrhs; k++) {
        double x[8];
        for (int i = 0; i < n; i++) x[i] = at(o, b, ldb, i, k);
        cblas_dtrsv(way, CblasLower, CblasNoTrans, CblasNonUnit, n, a, lda, x, 1);
        cblas_dtrsv(way, CblasLower, CblasTrans, CblasNonUnit, n, a, lda, x, 1);
        for (int i = 0; i < n; i++) *of(o, b, ldb, i, k) = x[i];
    }
    return 0;
}
int LAPACKE_dposv(int o, char u, int n, int nrhs, double *a, int lda, double *b, int ldb) {
    return LAPACKE_dpotrf(o, u, n, a, lda) + LAPACKE_dpotrs(o, u, n, nrhs, a, lda, b, ldb);
}

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy) {
    return cblas_ddot(*n, x, *incx, y, *incy);
}
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y,
            const int *incy) {
    cblas_daxpy(*n, *alpha, x, *incx, y, *incy);
}
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *c, const int *ldc) {
    cblas_dgemm(CblasColMajor, *ta == 'N' ? CblasNoTrans : CblasTrans,
                *tb == 'N' ? CblasNoTrans : CblasTrans, *m, *n, *k, *alpha, a, *lda, b, *ldb,
                *beta, c, *ldc);
}
void dposv_(const char *u, const int *n, const int *nrhs, double *a, const int *lda, double *b,
            const int *ldb, int *info) {
    *info = LAPACKE_dposv(102, *u, *n, *nrhs, a, *lda, b, *ldb);
}
/* By the normal equations. */
void dgels_(const char *t, const int *m, const int *n, const int *nrhs, double *a,
            const int *lda, double *b, const int *ldb, double *work, const int *lwork,
            int *info) {
    double g[16], r[16];
    (void)t;
    *info = 0;
    if (*lwork == -1) {
        *work = 1;
        return;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, *n, *n, *m, 1, a, *lda, a, *lda, 0, g,
                *n);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, *n, *nrhs, *m, 1, a, *lda, b, *ldb, 0,
                r, *n);
    (void)LAPACKE_dposv(102, 'L', *n, *nrhs, g, *n, r, *n);
    for (int j = 0; j < *nrhs; j++)
        for (int i = 0; i < *n; i++) b[i + j * *ldb] = r[i + j * *n];
}
/* Of order 2. */
void dsyev_(const char *job, const char *u, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info) {
    (void)n, (void)work, (void)lwork;
    const double p = a[0], q = *u == 'L' ? a[1] : a[*lda], r = a[1 + *lda];
    const double root = sqrt((p - r) * (p - r) / 4 + q * q);
    w[0] = (p + r) / 2 - root, w[1] = (p + r) / 2 + root;
    for (int k = 0; k < 2 && *job == 'V'; k++) {
        const double x = q, y = w[k] - p, size = sqrt(x * x + y * y);
        a[k * *lda] = x / size, a[1 + k * *lda] = y / size;
    }
    *info = 0;
}
