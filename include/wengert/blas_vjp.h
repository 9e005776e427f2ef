/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK backwards, on plain arrays: what each call of wengert/blas.h does to
 * adjoints. Nothing is recorded, no memory obtained. `wengert-convert --to adjoint` writes
 * calls of these; by hand they are the way back of a code that calls the BLAS itself.
 *
 *     cblas_dgemv(CblasRowMajor, CblasNoTrans, m, n, 1, a, n, x, 1, 0, y, 1);
 *     ..
 *     wg_vjp_dgemv('R', 'N', m, n, 1, NULL, a, a_b, n, x, x_b, 1, 0, NULL, y, y_b, 1);
 *
 * wg_vjp_NAME has the arguments of CBLAS's or LAPACKE's NAME, flags as in wengert/blas.h.
 * Behind each array, and each factor alpha or beta, stands its adjoint, x_b of x, with the same
 * increments and leading dimensions. NULL: it does not depend on the inputs; what the call
 * overwrites has one in any case. Adjoints of what the call reads are added to. That of what it
 * overwrites is, before, by what the call left there, and afterwards by what had been there
 * before it; beta = 0 makes it 0. `w` is the adjoint of a number that is returned.
 *
 * Values are those from before the call; but those that it left of x in dtrsv, B in dtrsm and
 * of everything in calls of LAPACK, pivots too. What no derivative asks for is not read: y with
 * beta_b = NULL, x and A in wg_vjp_dgemv without a_b, x_b and alpha_b.
 * Shapes:  as of the calls. Where sizes of 0 or less leave them nothing to do, nothing is done.
 * Cost:    that of the call for each adjoint that is asked for, with alpha_b by dot products;
 *          solves use the factors that are there.
 * Errors:  WG_EARG: a flag, a pivot, an increment of 0, but that of x in wg_vjp_dcopy, which is
 *          one number for all; WG_ESHAPE: a leading dimension, a matrix that is not square;
 *          WG_ENULL: an array; WG_ESINGULAR: a 0 on the diagonal of a triangle that is divided
 *          by, or one that is not above 0 in a factor of Cholesky. Adjoints are as they were
 *          then. */
#ifndef WENGERT_BLAS_VJP_H
#define WENGERT_BLAS_VJP_H

#include <stddef.h>
#include <wengert/types.h>

WG_BEGIN_DECLS

/* ---- vectors ---------------------------------------------------------------------------- */

/* The slope of dnrm2 at 0, and of a term of dasum, is 0. */
WG_API WG_MUST_CHECK wg_status wg_vjp_ddot(int n, const double *x, double *x_b, int incx,
                                           const double *y, double *y_b, int incy, double w);
WG_API WG_MUST_CHECK wg_status wg_vjp_dnrm2(int n, const double *x, double *x_b, int incx,
                                            double w);
WG_API WG_MUST_CHECK wg_status wg_vjp_dasum(int n, const double *x, double *x_b, int incx,
                                            double w);
WG_API WG_MUST_CHECK wg_status wg_vjp_daxpy(int n, double alpha, double *alpha_b,
                                            const double *x, double *x_b, int incx,
                                            const double *y, double *y_b, int incy);
WG_API WG_MUST_CHECK wg_status wg_vjp_dscal(int n, double alpha, double *alpha_b,
                                            const double *x, double *x_b, int incx);
WG_API WG_MUST_CHECK wg_status wg_vjp_dcopy(int n, const double *x, double *x_b, int incx,
                                            const double *y, double *y_b, int incy);
WG_API WG_MUST_CHECK wg_status wg_vjp_dswap(int n, const double *x, double *x_b, int incx,
                                            const double *y, double *y_b, int incy);

/* ---- matrix and vector ------------------------------------------------------------------ */

/* Of a triangle, or a symmetric matrix, the adjoint of the elements that the call reads. */
WG_API WG_MUST_CHECK wg_status wg_vjp_dgemv(int order, int trans, int m, int n, double alpha,
                                            double *alpha_b, const double *a, double *a_b,
                                            int lda, const double *x, double *x_b, int incx,
                                            double beta, double *beta_b, const double *y,
                                            double *y_b, int incy);
WG_API WG_MUST_CHECK wg_status wg_vjp_dsymv(int order, int uplo, int n, double alpha,
                                            double *alpha_b, const double *a, double *a_b,
                                            int lda, const double *x, double *x_b, int incx,
                                            double beta, double *beta_b, const double *y,
                                            double *y_b, int incy);
WG_API WG_MUST_CHECK wg_status wg_vjp_dger(int order, int m, int n, double alpha,
                                           double *alpha_b, const double *x, double *x_b,
                                           int incx, const double *y, double *y_b, int incy,
                                           const double *a, double *a_b, int lda);
WG_API WG_MUST_CHECK wg_status wg_vjp_dtrmv(int order, int uplo, int trans, int diag, int n,
                                            const double *a, double *a_b, int lda,
                                            const double *x, double *x_b, int incx);
WG_API WG_MUST_CHECK wg_status wg_vjp_dtrsv(int order, int uplo, int trans, int diag, int n,
                                            const double *a, double *a_b, int lda,
                                            const double *x, double *x_b, int incx);

/* ---- matrices --------------------------------------------------------------------------- */

/* In wg_vjp_dtrsm alpha_b becomes NaN where alpha = 0. */
WG_API WG_MUST_CHECK wg_status wg_vjp_dgemm(int order, int ta, int tb, int m, int n, int k,
                                            double alpha, double *alpha_b, const double *a,
                                            double *a_b, int lda, const double *b, double *b_b,
                                            int ldb, double beta, double *beta_b,
                                            const double *c, double *c_b, int ldc);
WG_API WG_MUST_CHECK wg_status wg_vjp_dsymm(int order, int side, int uplo, int m, int n,
                                            double alpha, double *alpha_b, const double *a,
                                            double *a_b, int lda, const double *b, double *b_b,
                                            int ldb, double beta, double *beta_b,
                                            const double *c, double *c_b, int ldc);
WG_API WG_MUST_CHECK wg_status wg_vjp_dsyrk(int order, int uplo, int trans, int n, int k,
                                            double alpha, double *alpha_b, const double *a,
                                            double *a_b, int lda, double beta, double *beta_b,
                                            const double *c, double *c_b, int ldc);
WG_API WG_MUST_CHECK wg_status wg_vjp_dtrmm(int order, int side, int uplo, int trans, int diag,
                                            int m, int n, double alpha, double *alpha_b,
                                            const double *a, double *a_b, int lda,
                                            const double *b, double *b_b, int ldb);
WG_API WG_MUST_CHECK wg_status wg_vjp_dtrsm(int order, int side, int uplo, int trans, int diag,
                                            int m, int n, double alpha, double *alpha_b,
                                            const double *a, double *a_b, int lda,
                                            const double *b, double *b_b, int ldb);

/* ---- systems ---------------------------------------------------------------------------- */

/* work: wg_vjp_room(n, nrhs) doubles, which is 0 for sizes below 1; nrhs is 0 for dgetrf and
 * dpotrf. */
WG_API size_t wg_vjp_room(int n, int nrhs);
WG_API WG_MUST_CHECK wg_status wg_vjp_dgetrf(int order, int m, int n, const double *a,
                                             double *a_b, int lda, const int *pivot,
                                             double *work);
WG_API WG_MUST_CHECK wg_status wg_vjp_dgetrs(int order, int trans, int n, int nrhs,
                                             const double *a, double *a_b, int lda,
                                             const int *pivot, const double *b, double *b_b,
                                             int ldb, double *work);
WG_API WG_MUST_CHECK wg_status wg_vjp_dgesv(int order, int n, int nrhs, const double *a,
                                            double *a_b, int lda, const int *pivot,
                                            const double *b, double *b_b, int ldb,
                                            double *work);
WG_API WG_MUST_CHECK wg_status wg_vjp_dpotrf(int order, int uplo, int n, const double *a,
                                             double *a_b, int lda, double *work);
WG_API WG_MUST_CHECK wg_status wg_vjp_dpotrs(int order, int uplo, int n, int nrhs,
                                             const double *a, double *a_b, int lda,
                                             const double *b, double *b_b, int ldb,
                                             double *work);
WG_API WG_MUST_CHECK wg_status wg_vjp_dposv(int order, int uplo, int n, int nrhs,
                                            const double *a, double *a_b, int lda,
                                            const double *b, double *b_b, int ldb,
                                            double *work);

WG_END_DECLS

#endif
