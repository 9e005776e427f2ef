/* SPDX-License-Identifier: MIT */
/* Products: of vectors, matrices, triangles, symmetric matrices, batches; convolution and
 * pooling.
 *
 * Names, arguments and flags are those of the BLAS, column-major; the result is a new matrix.
 * Flags may be lower-case; 'C' is 'T'. op(A) is A or, with 'T', its transpose. A vector is one
 * column or one row, its result one column. The same matrix may be several operands.
 *
 * Of symmetric operands (matrix.h) one triangle is read, named by uplo. Triangular operands:
 * the other triangle is neither read nor given an adjoint; with diag = 'U' neither is the
 * diagonal.
 *
 * Every operation is one record. As in the BLAS, an operand whose factor alpha or beta is 0 is
 * not looked at.  Errors, of every one: WG_ENULL, WG_ESHAPE, WG_EARG (a flag), WG_ESTALE,
 * WG_ENOMEM, WG_EBUDGET, WG_ESLOTS; a result that is NaN then.
 *
 * Adjoints go through the BLAS: the zero rule holds for a whole adjoint that is 0, not for
 * single products. A NaN in an adjoint spreads over the row or column it meets.
 *
 * Sources: Giles 2008, 2.2; Seeger et al. 2017 (triangles). */
#ifndef WENGERT_PRODUCTS_H
#define WENGERT_PRODUCTS_H

#include <wengert/matrix.h>

WG_BEGIN_DECLS

/* ---- vectors ---------------------------------------------------------------------------- */

/* wg_mat_dot - sum over all elements of x y.
 * Shapes:  equal, or two vectors of one length.   Adjoint: x_ += r_ y;  y_ += r_ x. */
WG_API wg_real wg_mat_dot(wg_tape *t, wg_mat x, wg_mat y);

/* wg_axpy - alpha x + y.   wg_axpy_real: alpha a variable. alpha x alone: wg_mat_scale.
 * Shapes:  x and y equal, any.   Adjoint: x_ += alpha r_;  y_ += r_;  alpha_ += <r_, x>. */
WG_API wg_mat wg_axpy(wg_tape *t, double alpha, wg_mat x, wg_mat y);
WG_API wg_mat wg_axpy_real(wg_tape *t, wg_real alpha, wg_mat x, wg_mat y);

/* wg_ger - A + alpha x y^T.   wg_outer - x y^T.
 * Shapes:  x of m, y of n; A and the result m-by-n.
 * Adjoint: x_ += alpha R_ y;  y_ += alpha R_^T x;  A_ += R_. */
WG_API wg_mat wg_ger(wg_tape *t, double alpha, wg_mat x, wg_mat y, wg_mat a);
WG_API wg_mat wg_outer(wg_tape *t, wg_mat x, wg_mat y);

/* ---- matrices --------------------------------------------------------------------------- */

/* wg_gemv - alpha op(A) x + beta y.
 * Adjoint: op(A)_ += alpha r_ x^T;  x_ += alpha op(A)^T r_;  y_ += beta r_. */
WG_API wg_mat wg_gemv(wg_tape *t, char trans, double alpha, wg_mat a, wg_mat x, double beta,
                      wg_mat y);

/* wg_gemm - alpha op(A) op(B) + beta C.   wg_matmul - A B.
 * wg_gemm_real - the same with alpha and beta as variables.
 * Shapes:  op(A) m-by-k, op(B) k-by-n, C m-by-n; k = 0 gives beta C. With beta = 0 give any C,
 *          for example A.
 * Adjoint: op(A)_ += alpha R_ op(B)^T;  op(B)_ += alpha op(A)^T R_;  C_ += beta R_;
 *          alpha_ += <R_, op(A) op(B)>;  beta_ += <R_, C>.
 * Cost:    2 m n k flops, backward twice that; nothing kept. */
WG_API wg_mat wg_gemm(wg_tape *t, char ta, char tb, double alpha, wg_mat a, wg_mat b,
                      double beta, wg_mat c);
WG_API wg_mat wg_matmul(wg_tape *t, wg_mat a, wg_mat b);
WG_API wg_mat wg_gemm_real(wg_tape *t, char ta, char tb, wg_real alpha, wg_mat a, wg_mat b,
                           wg_real beta, wg_mat c);

/* wg_gemm_batch - alpha op(A_i) op(B_i) for `count` matrices side by side: A is [A_0 A_1 ...].
 * Shapes:  op(A_i) m-by-k, op(B_i) k-by-n; the result m-by-(n count); count >= 1. One A for all
 * B_i is wg_matmul(t, A, [B_0 B_1 ...]). More of batches: solve.h, batch.h. */
WG_API wg_mat wg_gemm_batch(wg_tape *t, size_t count, char ta, char tb, double alpha, wg_mat a,
                            wg_mat b);

/* ---- symmetric -------------------------------------------------------------------------- */

/* wg_symv - alpha A x + beta y.
 * wg_symm - alpha A B + beta C (side 'L'), alpha B A + beta C ('R').
 * Shapes:  A symmetric, its triangle uplo ('L', 'U') is read.
 * Adjoint: A_ += alpha (R_ B^T + B R_^T)/2;  B_ += alpha A R_;  C_ += beta R_ ('L'). */
WG_API wg_mat wg_symv(wg_tape *t, char uplo, double alpha, wg_mat a, wg_mat x, double beta,
                      wg_mat y);
WG_API wg_mat wg_symm(wg_tape *t, char side, char uplo, double alpha, wg_mat a, wg_mat b,
                      double beta, wg_mat c);

/* wg_syrk - alpha op(A) op(A)^T + beta (C + C^T)/2, both triangles of it.
 * Shapes:  op(A) n-by-k, C n-by-n. With beta = 0 give any C.
 * Adjoint: op(A)_ += alpha (R_ + R_^T) op(A);  C_ += beta (R_ + R_^T)/2. */
WG_API wg_mat wg_syrk(wg_tape *t, char trans, double alpha, wg_mat a, double beta, wg_mat c);

/* ---- triangular ------------------------------------------------------------------------- */

/* wg_trmv - op(A) x.   wg_trmm - alpha op(A) B (side 'L'), alpha B op(A) ('R').
 * Shapes:  A n-by-n, lower ('L') or upper ('U'); diag 'U': ones on its diagonal, 'N': as it is.
 * Adjoint: B_ += alpha op(A)^T R_;  op(A)_ += alpha R_ B^T, its triangle ('L'). */
WG_API wg_mat wg_trmv(wg_tape *t, char uplo, char trans, char diag, wg_mat a, wg_mat x);
WG_API wg_mat wg_trmm(wg_tape *t, char side, char uplo, char trans, char diag, double alpha,
                      wg_mat a, wg_mat b);

/* ---- other products --------------------------------------------------------------------- */

/* wg_einsum - sums of products by names of dimensions: "ij,jk->ik" is A B, "ij,ij->i" what
 * rows have in common, "ij,kj->ikj" all products of columns. A dimension of operands that is
 * not in the result is summed.
 * Shapes:  the first letter of a matrix is its rows, all others its columns, the first of them
 *          running fastest; of the result likewise. size: of each dimension, in the order in
 *          which they first appear; NULL, where operands have at most two. Up to 4 dimensions
 *          each, no letter twice.
 * Adjoint: that of the permutations, sums and products recorded, at most 7 records.
 * Errors:  WG_ENULL, WG_EARG: the text; WG_ESHAPE: sizes. Then the result is 0-by-0. */
WG_API wg_mat wg_einsum(wg_tape *t, const char *text, const size_t *size, wg_mat a, wg_mat b);

/* wg_kron - the Kronecker product: block (i, j) is a(i, j) B.
 * Adjoint: a_(i, j) += <R_ block (i, j), B>;  B_ += sum of a(i, j) R_ block (i, j). */
WG_API wg_mat wg_kron(wg_tape *t, wg_mat a, wg_mat b);

/* wg_quadform - x^T A x, A any square matrix.
 * Adjoint: A_ += r_ x x^T;  x_ += r_ (A + A^T) x. */
WG_API wg_real wg_quadform(wg_tape *t, wg_mat a, wg_mat x);

/* wg_trace - the sum of the diagonal of a square matrix.   Adjoint: A_ += r_ I.
 * wg_trace_product - the trace of A B, without forming it; tr(A^T B) is wg_mat_dot(t, a, b).
 * Shapes:  A m-by-n, B n-by-m.   Adjoint: A_ += r_ B^T;  B_ += r_ A^T. */
WG_API wg_real wg_trace(wg_tape *t, wg_mat a);
WG_API wg_real wg_trace_product(wg_tape *t, wg_mat a, wg_mat b);

/* ---- convolution ------------------------------------------------------------------------ */

/* Sizes of a convolution. An image of `height` by `width` pixels is a matrix with a row per
 * channel and a column per pixel, pixel (h, w) in column h + height w; images of a batch stand
 * side by side. A filter is stored in the same way, filters side by side. */
typedef struct wg_conv {
    size_t batch, height, width;
    size_t filters, kernel_height, kernel_width;
    size_t stride[2], dilation[2]; /* down, across; 0 is 1 */
    size_t pad[2];                 /* zeros above and below, left and right */
    size_t groups;                 /* of channels, and of filters: of one group each; 0 is 1 */
} wg_conv;

/* wg_conv2d - every filter applied to every image (as a correlation: kernels are not flipped):
 *     r(f, pixel h w) = bias(f) + sum over c, i, j of
 *         w(c, pixel i j of filter f) x(c, pixel (h stride + i dilation - pad, w ...))
 * wg_conv1d - the same for sequences of length x.cols / batch: height the length, width 1.
 * With groups the channels are divided among them, in their order, and so are the filters, of
 * which each sees the channels of its group only. wg_conv1d has none.
 * wg_conv2d_transposed - the transpose of wg_conv2d with these sizes as a map from x to r, from
 * r to x: height and width are those of its result ("transposed convolution", "deconvolution"
 * of stride and padding).
 * Shapes:  x channels-by-(height width batch); w (channels / groups)-by-(kernel height width
 *          filters); bias of `filters`, of the transpose of `channels`, NULL: none; r
 *          filters-by-(pixels of the result times batch), a result being (height + 2
 *          pad - dilation (kernel height - 1) - 1) / stride + 1 pixels high, rounded down, and
 *          as wide likewise.
 * Adjoint: x_ is the transpose of R_, w_ of (c, pixel i j of filter f) the sum of products of
 *          R_(f) with what it sees there; nothing is kept.
 * Cost:    2 channels kernel filters pixels / groups flops, backward twice that, without BLAS
 *          and a copy of the patches. The workspace is some padded images, and the filters.
 * Errors:  WG_EARG: no kernel, filters or (WG_ESHAPE) channels that the groups do not divide,
 *          or sizes of the result beyond those of BLAS; of wg_conv1d also columns that batch or
 *          filters do not divide. */
WG_API wg_mat wg_conv2d(wg_tape *t, const wg_conv *s, wg_mat x, wg_mat w, const wg_mat *bias);
WG_API wg_mat wg_conv2d_transposed(wg_tape *t, const wg_conv *s, wg_mat r, wg_mat w,
                                   const wg_mat *bias);
WG_API wg_mat wg_conv1d(wg_tape *t, size_t batch, size_t filters, size_t stride, size_t pad,
                        wg_mat x, wg_mat w, const wg_mat *bias);

/* Sizes of a pooling, of images as those of a convolution. Padding is narrower than the
 * window. */
typedef struct wg_pool {
    size_t batch, height, width;
    size_t kernel_height, kernel_width; /* of the window */
    size_t stride[2];                   /* down, across; 0: as the window, which meet then */
    size_t pad[2];                      /* above and below, left and right */
} wg_pool;

/* wg_max_pool2d - the largest pixel in every window, in each channel by itself; padding is none
 * of them, a NaN is larger than all numbers.   wg_average_pool2d - their average; padding
 * counts as zeros.
 * Shapes:  x channels-by-(height width batch); r channels-by-(pixels of the result times
 *          batch), a result being (height + 2 pad - kernel height) / stride + 1 pixels high,
 *          rounded down, and as wide likewise; none, if the image has none.
 * Adjoint: to the first of the largest pixels, column after column; in equal parts to all.
 * Cost:    a comparison or a sum for every pixel in every window; the largest keep 8 bytes for
 *          each number of r.
 * Errors:  WG_EARG: a window of no size, padding as wide as the window, or sizes beyond those
 *          of BLAS; WG_ENULL. */
WG_API wg_mat wg_max_pool2d(wg_tape *t, const wg_pool *s, wg_mat x);
WG_API wg_mat wg_average_pool2d(wg_tape *t, const wg_pool *s, wg_mat x);

WG_END_DECLS

#endif
