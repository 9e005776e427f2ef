/* SPDX-License-Identifier: MIT */
/* BLAS and LAPACK on the caller's own arrays of variables: the calls of a numerical code, name
 * by name and argument by argument, behind the tape. Each is one of the operations of
 * products.h, solve.h or spectral.h, between a gather of its operands and the places where the
 * results go; codes that are written for this library use those. wengert-convert writes calls
 * of these.
 *
 * Arguments are those of CBLAS and LAPACKE. Flags are letters, as in Fortran, or CBLAS's
 * numbers (101 to 142); `order` is 'C' or 102, column-major, or 'R' or 101. Vectors have
 * increments, which may be negative, matrices leading dimensions. alpha and beta may be
 * variables. What is only read is a wg_array: WG_ARRAY(p) of variables or of numbers. Operands
 * that are not looked at are not read: C with beta = 0, triangles, diagonals of 1. Sizes of 0
 * or less: nothing is done.
 *
 * Results: what LAPACK leaves in a matrix and has no meaning here is NaN afterwards.
 * Adjoint, cost: as of the operation named; a gather is 4 bytes an element.
 * Errors:  of the tape: those of the operation; WG_EARG: a flag; WG_ESHAPE: a leading
 *          dimension; WG_ENULL: no array; WG_ESINGULAR where LAPACK says info > 0. Results are
 *          NaN then, if the arguments say where they are. Calls of LAPACK give 0, or 1 after a
 *          failure of the tape. */
#ifndef WENGERT_BLAS_H
#define WENGERT_BLAS_H

#include <stddef.h>
#include <wengert/types.h>

WG_BEGIN_DECLS

/* An array that is read: of variables, or of numbers. */
typedef struct wg_array {
    const wg_real *variables; /* NULL: these are numbers */
    const double *numbers;
} wg_array;

static inline wg_array wg_array_of_variables(const wg_real *x) {
    const wg_array a = {x, WGI_NULL};
    return a;
}
static inline wg_array wg_array_of_numbers(const double *x) {
    const wg_array a = {WGI_NULL, x};
    return a;
}
/* WG_ARRAY(p) - of a pointer to either, in C. */
#define WG_ARRAY(p)                                                                            \
    _Generic((p),                                                                              \
        wg_real *: wg_array_of_variables,                                                      \
        const wg_real *: wg_array_of_variables,                                                \
        double *: wg_array_of_numbers,                                                         \
        const double *: wg_array_of_numbers)(p)

/* ---- vectors ---------------------------------------------------------------------------- */

/* wg_ddot - sum of x y (wg_mat_dot).  wg_dnrm2 - Euclidean norm (wg_norm2).  wg_dasum - sum of absolute
 * values.  wg_idamax - the first element with the largest absolute value, from 0: by values, which
 * are compared on the tape. These two are 0, as the BLAS's are, where incx is not above 0. */
WG_API wg_real wg_ddot(wg_tape *t, int n, wg_array x, int incx, wg_array y, int incy);
WG_API wg_real wg_dnrm2(wg_tape *t, int n, wg_array x, int incx);
WG_API wg_real wg_dasum(wg_tape *t, int n, wg_array x, int incx);
WG_API size_t wg_idamax(wg_tape *t, int n, wg_array x, int incx);

/* wg_daxpy - y += alpha x.  wg_dscal - x = alpha x.  wg_dcopy - y = x.  wg_dswap - x and y change places;
 * the last two record nothing. */
WG_API void wg_daxpy(wg_tape *t, int n, wg_real alpha, wg_array x, int incx, wg_real *y,
                     int incy);
WG_API void wg_dscal(wg_tape *t, int n, wg_real alpha, wg_real *x, int incx);
WG_API void wg_dcopy(wg_tape *t, int n, wg_array x, int incx, wg_real *y, int incy);
WG_API void wg_dswap(wg_tape *t, int n, wg_real *x, int incx, wg_real *y, int incy);

/* ---- matrix and vector ------------------------------------------------------------------ */

/* wg_dgemv - y = alpha op(A) x + beta y.  wg_dsymv - the same, A symmetric.  wg_dger - A += alpha x y'.
 * wg_dtrmv - x = op(A) x.  wg_dtrsv - op(A) x = b, b in the place of x; WG_ESINGULAR.
 * Shapes:  A m-by-n, or of order n. */
WG_API void wg_dgemv(wg_tape *t, int order, int trans, int m, int n, wg_real alpha, wg_array a,
                     int lda, wg_array x, int incx, wg_real beta, wg_real *y, int incy);
WG_API void wg_dsymv(wg_tape *t, int order, int uplo, int n, wg_real alpha, wg_array a, int lda,
                     wg_array x, int incx, wg_real beta, wg_real *y, int incy);
WG_API void wg_dger(wg_tape *t, int order, int m, int n, wg_real alpha, wg_array x, int incx,
                    wg_array y, int incy, wg_real *a, int lda);
WG_API void wg_dtrmv(wg_tape *t, int order, int uplo, int trans, int diag, int n, wg_array a,
                     int lda, wg_real *x, int incx);
WG_API void wg_dtrsv(wg_tape *t, int order, int uplo, int trans, int diag, int n, wg_array a,
                     int lda, wg_real *x, int incx);

/* ---- matrices --------------------------------------------------------------------------- */

/* wg_dgemm - C = alpha op(A) op(B) + beta C, op(A) m-by-k, op(B) k-by-n.  wg_dsymm - A symmetric, side 'L'
 * (A B) or 'R' (B A), C m-by-n.  wg_dsyrk - C = alpha op(A) op(A)' + beta C, the triangle uplo of it,
 * op(A) n-by-k.  wg_dtrmm - B = alpha op(A) B, side 'L', or alpha B op(A).  wg_dtrsm - op(A) X = alpha B, or
 * X op(A) = alpha B, X in the place of B, m-by-n; WG_ESINGULAR. */
WG_API void wg_dgemm(wg_tape *t, int order, int ta, int tb, int m, int n, int k, wg_real alpha,
                     wg_array a, int lda, wg_array b, int ldb, wg_real beta, wg_real *c,
                     int ldc);
WG_API void wg_dsymm(wg_tape *t, int order, int side, int uplo, int m, int n, wg_real alpha,
                     wg_array a, int lda, wg_array b, int ldb, wg_real beta, wg_real *c,
                     int ldc);
WG_API void wg_dsyrk(wg_tape *t, int order, int uplo, int trans, int n, int k, wg_real alpha,
                     wg_array a, int lda, wg_real beta, wg_real *c, int ldc);
WG_API void wg_dtrmm(wg_tape *t, int order, int side, int uplo, int trans, int diag, int m,
                     int n, wg_real alpha, wg_array a, int lda, wg_real *b, int ldb);
WG_API void wg_dtrsm(wg_tape *t, int order, int side, int uplo, int trans, int diag, int m,
                     int n, wg_real alpha, wg_array a, int lda, wg_real *b, int ldb);

/* ---- systems ---------------------------------------------------------------------------- */

/* wg_dgetrf - A = P L U, square (wg_lu_factors), L and U in the place of A; pivots from 1.  wg_dgetrs - A X = B with
 * these, or A' X = B.  wg_dgesv - both.  wg_dpotrf - A = L L' or U' U (wg_cholesky), in the triangle uplo of
 * A.  wg_dpotrs - A X = B with it.  wg_dposv - both. B and X n-by-nrhs. */
WG_API int wg_dgetrf(wg_tape *t, int order, int m, int n, wg_real *a, int lda, int *pivot);
WG_API int wg_dgetrs(wg_tape *t, int order, int trans, int n, int nrhs, wg_array a, int lda,
                     const int *pivot, wg_real *b, int ldb);
WG_API int wg_dgesv(wg_tape *t, int order, int n, int nrhs, wg_real *a, int lda, int *pivot,
                    wg_real *b, int ldb);
WG_API int wg_dpotrf(wg_tape *t, int order, int uplo, int n, wg_real *a, int lda);
WG_API int wg_dpotrs(wg_tape *t, int order, int uplo, int n, int nrhs, wg_array a, int lda,
                     wg_real *b, int ldb);
WG_API int wg_dposv(wg_tape *t, int order, int uplo, int n, int nrhs, wg_real *a, int lda,
                    wg_real *b, int ldb);

/* wg_dgels - X with |op(A) X - B| smallest, or of the smallest |X| (wg_lstsq), in the first
 * rows of B; its other rows and A become NaN.  A m-by-n. Unlike dgels, which has a number
 * unless the diagonal has a 0, it refuses a rank that is full by rounding only.
 * wg_dsyev - eigenvalues in w, ascending, and with job 'V' eigenvectors in A (wg_eigh), whose
 * signs may be others than those of dsyev; with 'N' A becomes NaN. */
WG_API int wg_dgels(wg_tape *t, int order, int trans, int m, int n, int nrhs, wg_real *a,
                    int lda, wg_real *b, int ldb);
WG_API int wg_dsyev(wg_tape *t, int order, int job, int uplo, int n, wg_real *a, int lda,
                    wg_real *w);

WG_END_DECLS

#endif
