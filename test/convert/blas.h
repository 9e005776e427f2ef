/* SPDX-License-Identifier: MIT */
/* What blas_plain.c defines of CBLAS, LAPACKE and their Fortran names. */
#ifndef BLAS_H
#define BLAS_H

typedef enum { CblasRowMajor = 101, CblasColMajor = 102 } CBLAS_ORDER;
typedef enum { CblasNoTrans = 111, CblasTrans = 112 } CBLAS_TRANSPOSE;
typedef enum { CblasUpper = 121, CblasLower = 122 } CBLAS_UPLO;
typedef enum { CblasNonUnit = 131, CblasUnit = 132 } CBLAS_DIAG;
typedef enum { CblasLeft = 141, CblasRight = 142 } CBLAS_SIDE;

double cblas_ddot(int n, const double *x, int incx, const double *y, int incy);
double cblas_dnrm2(int n, const double *x, int incx);
double cblas_dasum(int n, const double *x, int incx);
unsigned long cblas_idamax(int n, const double *x, int incx);
void cblas_daxpy(int n, double alpha, const double *x, int incx, double *y, int incy);
void cblas_dscal(int n, double alpha, double *x, int incx);
void cblas_dcopy(int n, const double *x, int incx, double *y, int incy);
void cblas_dswap(int n, double *x, int incx, double *y, int incy);
void cblas_dgemv(CBLAS_ORDER o, CBLAS_TRANSPOSE t, int m, int n, double alpha, const double *a,
                 int lda, const double *x, int incx, double beta, double *y, int incy);
void cblas_dsymv(CBLAS_ORDER o, CBLAS_UPLO u, int n, double alpha, const double *a, int lda,
                 const double *x, int incx, double beta, double *y, int incy);
void cblas_dger(CBLAS_ORDER o, int m, int n, double alpha, const double *x, int incx,
                const double *y, int incy, double *a, int lda);
void cblas_dtrmv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n,
                 const double *a, int lda, double *x, int incx);
void cblas_dtrsv(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d, int n,
                 const double *a, int lda, double *x, int incx);
void cblas_dgemm(CBLAS_ORDER o, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k,
                 double alpha, const double *a, int lda, const double *b, int ldb, double beta,
                 double *c, int ldc);
void cblas_dsymm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, int m, int n, double alpha,
                 const double *a, int lda, const double *b, int ldb, double beta, double *c,
                 int ldc);
void cblas_dsyrk(CBLAS_ORDER o, CBLAS_UPLO u, CBLAS_TRANSPOSE t, int n, int k, double alpha,
                 const double *a, int lda, double beta, double *c, int ldc);
void cblas_dtrmm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d,
                 int m, int n, double alpha, const double *a, int lda, double *b, int ldb);
void cblas_dtrsm(CBLAS_ORDER o, CBLAS_SIDE s, CBLAS_UPLO u, CBLAS_TRANSPOSE t, CBLAS_DIAG d,
                 int m, int n, double alpha, const double *a, int lda, double *b, int ldb);

int LAPACKE_dgetrf(int o, int m, int n, double *a, int lda, int *pivot);
int LAPACKE_dgetrs(int o, char t, int n, int nrhs, const double *a, int lda, const int *pivot,
                   double *b, int ldb);
int LAPACKE_dgesv(int o, int n, int nrhs, double *a, int lda, int *pivot, double *b, int ldb);
int LAPACKE_dpotrf(int o, char u, int n, double *a, int lda);
int LAPACKE_dpotrs(int o, char u, int n, int nrhs, const double *a, int lda, double *b,
                   int ldb);
int LAPACKE_dposv(int o, char u, int n, int nrhs, double *a, int lda, double *b, int ldb);

double ddot_(const int *n, const double *x, const int *incx, const double *y, const int *incy);
void daxpy_(const int *n, const double *alpha, const double *x, const int *incx, double *y,
            const int *incy);
void dgemm_(const char *ta, const char *tb, const int *m, const int *n, const int *k,
            const double *alpha, const double *a, const int *lda, const double *b,
            const int *ldb, const double *beta, double *c, const int *ldc);
void dposv_(const char *u, const int *n, const int *nrhs, double *a, const int *lda, double *b,
            const int *ldb, int *info);
void dgels_(const char *t, const int *m, const int *n, const int *nrhs, double *a,
            const int *lda, double *b, const int *ldb, double *work, const int *lwork,
            int *info);
void dsyev_(const char *job, const char *u, const int *n, double *a, const int *lda, double *w,
            double *work, const int *lwork, int *info);

#endif
