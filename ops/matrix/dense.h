/* SPDX-License-Identifier: MIT */
/* dense.h - what the factorisations and solves share: copies between layouts, sums into
 * adjoints.
 *
 * A wgi_dense is a matrix where it stands: element (i, j) at p[i + j ld], transposed at
 * p[j + i ld]. Plain `double *` matrices have ld = rows, unless an ld is passed. */
#ifndef WGI_OPS_MATRIX_DENSE_H
#define WGI_OPS_MATRIX_DENSE_H

#include <string.h>
#include <wengert/block.h>
#include "blas.h"
#include "call.h"

_Static_assert(sizeof(lapack_int) == sizeof(int), "pivots are kept as int");

typedef struct wgi_dense {
    double *p;
    size_t ld;
    unsigned trans;
} wgi_dense;

/* Member k of a batch that stands side by side, each of `cols` columns: its value, its bar. */
static inline wgi_dense wgi_value_of(const wg_block_arg *a, size_t cols, size_t k) {
    return (wgi_dense){a->value + cols * k * (a->trans ? 1 : a->ld), a->ld, a->trans};
}
static inline wgi_dense wgi_bar_of(const wg_block_arg *a, size_t cols, size_t k) {
    if (a->bar == NULL) return (wgi_dense){NULL, 1, 0};
    return (wgi_dense){a->bar + cols * k * (a->trans ? 1 : a->bar_ld), a->bar_ld, a->trans};
}

/* Are all elements of that part of an adjoint or a tangent 0, or is there none? Then so is what
 * a member of a batch makes of it, whatever the member is. */
static inline int wgi_nothing(size_t rows, size_t cols, wgi_dense a) {
    const size_t m = a.trans ? cols : rows, n = a.trans ? rows : cols;
    for (size_t j = 0; a.p != NULL && j < n; j++)
        for (size_t i = 0; i < m; i++)
            if (a.p[i + j * a.ld] != 0) return 0;
    return 1;
}

/* A leading dimension that LAPACK takes, for a matrix of no rows too. */
static inline size_t wgi_ld(size_t rows) { return rows != 0 ? rows : 1; }

/* `bytes` rounded up to what keeps the next array aligned. */
static inline size_t wgi_rounded(size_t bytes) { return (bytes + 31) / 32 * 32; }

/* The next array of `n` doubles from a workspace. */
static inline double *wgi_take(char **work, size_t n) {
    double *const a = (double *)(void *)*work;
    *work += wgi_rounded(n * sizeof(double));
    return a;
}
static inline int *wgi_take_int(char **work, size_t n) {
    int *const a = (int *)(void *)*work;
    *work += wgi_rounded(n * sizeof(int));
    return a;
}
static inline size_t wgi_room_of(size_t n) { return wgi_rounded(n * sizeof(double)); }

/* b = a, rows by cols. */
void wgi_copy(size_t rows, size_t cols, const double *a, size_t lda, double *b, size_t ldb);
/* The lower triangle of it. */
void wgi_copy_lower(size_t n, const double *a, size_t lda, double *b, size_t ldb);
/* That of a, or, with trans, of its transpose. */
void wgi_copy_lower_of(size_t n, const double *a, size_t lda, int trans, double *b, size_t ldb);
/* b = a, out of its layout; ldb = rows. */
void wgi_get(size_t rows, size_t cols, wgi_dense a, double *b);
/* a += f b;  ldb = rows. */
void wgi_add(size_t rows, size_t cols, double f, const double *b, wgi_dense a);
/* a += f b'  for b of order n. */
void wgi_add_transposed(size_t n, double f, const double *b, size_t ldb, double *a, size_t lda);
/* a += f s  for the symmetric matrix s with the lower triangle l. */
void wgi_add_symmetric(size_t n, double f, const double *l, size_t ldl, double *a, size_t lda);
/* a += f (b + b')/2. */
void wgi_add_symmetrised(size_t n, double f, const double *b, size_t ldb, double *a,
                         size_t lda);
/* s = (b + b')/2, both triangles. */
void wgi_symmetrise(size_t n, const double *b, size_t ldb, double *s);
/* The upper triangle of s from the lower. */
void wgi_mirror(size_t n, double *s, size_t lds);
/* L becomes L^-1, what is above it stays. Cost: 1/3 n^3 flops. */
void wgi_invert_lower(size_t n, double *l, size_t ld);
/* s, its lower triangle, = (L L')^-1 for L in that of l, which may be s. Cost: 2/3 n^3
 * flops. */
void wgi_cholesky_inverse(size_t n, const double *l, double *s);
/* a = a', in place. */
void wgi_transpose(size_t n, double *a);

/* a += f op(x) op(y), m by n, k in between; into the layout of a. */
void wgi_gemm_add(size_t m, size_t n, size_t k, double f, char tx, const double *x, size_t ldx,
                  char ty, const double *y, size_t ldy, wgi_dense a);
/* The triangle of order n of it, without the diagonal if `unit`. work: WGI_TRIANGLE doubles. */
enum { WGI_TRIANGLE_BLOCK = 48, WGI_TRIANGLE = WGI_TRIANGLE_BLOCK * WGI_TRIANGLE_BLOCK };
void wgi_gemm_triangle(char uplo, int unit, size_t n, size_t k, double f, char tx,
                       const double *x, size_t ldx, char ty, const double *y, size_t ldy,
                       double *a, size_t lda, double *work);

/* The transpose flag that CBLAS wants. */
static inline CBLAS_TRANSPOSE wgi_op(int trans) { return trans ? CblasTrans : CblasNoTrans; }

#endif
