/* SPDX-License-Identifier: MIT */
/* dense.c - see dense.h. Transposed access goes tile by tile, so that a tile of both sides
 * stays in the cache. */
#include "dense.h"
#include "tiny.h"

enum { TILE = 32 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void wgi_copy(size_t rows, size_t cols, const double *a, size_t lda, double *b, size_t ldb) {
    if (rows == 0 || cols == 0) return;
    if (lda == rows && ldb == rows) memcpy(b, a, rows * cols * sizeof *b);
    else
        for (size_t j = 0; j < cols; j++) memcpy(b + j * ldb, a + j * lda, rows * sizeof *b);
}

void wgi_copy_lower(size_t n, const double *a, size_t lda, double *b, size_t ldb) {
    for (size_t j = 0; j < n; j++)
        memcpy(b + j * ldb + j, a + j * lda + j, (n - j) * sizeof *b);
}

void wgi_copy_lower_of(size_t n, const double *a, size_t lda, int trans, double *b,
                       size_t ldb) {
    if (!trans) {
        wgi_copy_lower(n, a, lda, b, ldb);
        return;
    }
    for (size_t from = 0; from < n; from += TILE)
        for (size_t i = from; i < n; i++)
            for (size_t j = from; j < from + TILE && j <= i; j++)
                b[i + j * ldb] = a[j + i * lda];
}

void wgi_get(size_t rows, size_t cols, wgi_dense a, double *b) {
    if (!a.trans) {
        wgi_copy(rows, cols, a.p, a.ld, b, rows);
        return;
    }
    for (size_t j0 = 0; j0 < cols; j0 += TILE)
        for (size_t i0 = 0; i0 < rows; i0 += TILE)
            for (size_t j = j0; j < least(j0 + TILE, cols); j++)
                for (size_t i = i0; i < least(i0 + TILE, rows); i++)
                    b[i + j * rows] = a.p[j + i * a.ld];
}

void wgi_add(size_t rows, size_t cols, double f, const double *b, wgi_dense a) {
    if (!a.trans) {
        if (a.ld == rows) rows *= cols, cols = 1;
        for (size_t j = 0; j < cols; j++)
            for (size_t i = 0; i < rows; i++) a.p[i + j * a.ld] += f * b[i + j * rows];
        return;
    }
    for (size_t j0 = 0; j0 < cols; j0 += TILE)
        for (size_t i0 = 0; i0 < rows; i0 += TILE)
            for (size_t i = i0; i < least(i0 + TILE, rows); i++)
                for (size_t j = j0; j < least(j0 + TILE, cols); j++)
                    a.p[j + i * a.ld] += f * b[i + j * rows];
}

void wgi_add_transposed(size_t n, double f, const double *b, size_t ldb, double *a,
                        size_t lda) {
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = 0; i0 < n; i0 += TILE)
            for (size_t j = j0; j < least(j0 + TILE, n); j++)
                for (size_t i = i0; i < least(i0 + TILE, n); i++)
                    a[i + j * lda] += f * b[j + i * ldb];
}

void wgi_add_symmetric(size_t n, double f, const double *l, size_t ldl, double *a, size_t lda) {
    for (size_t j0 = 0; j0 < n; j0 += TILE) {
        const size_t j1 = least(j0 + TILE, n);
        for (size_t j = j0; j < j1; j++) {
            for (size_t i = j0; i < j; i++) a[i + j * lda] += f * l[j + i * ldl];
            for (size_t i = j; i < j1; i++) a[i + j * lda] += f * l[i + j * ldl];
        }
        for (size_t i0 = j1; i0 < n; i0 += TILE) {
            const size_t i1 = least(i0 + TILE, n);
            for (size_t j = j0; j < j1; j++)
                for (size_t i = i0; i < i1; i++) a[i + j * lda] += f * l[i + j * ldl];
            for (size_t i = i0; i < i1; i++)
                for (size_t j = j0; j < j1; j++) a[j + i * lda] += f * l[i + j * ldl];
        }
    }
}

void wgi_add_symmetrised(size_t n, double f, const double *b, size_t ldb, double *a,
                         size_t lda) {
    f /= 2;
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = 0; i0 < n; i0 += TILE)
            for (size_t j = j0; j < least(j0 + TILE, n); j++)
                for (size_t i = i0; i < least(i0 + TILE, n); i++)
                    a[i + j * lda] += f * (b[i + j * ldb] + b[j + i * ldb]);
}

void wgi_symmetrise(size_t n, const double *b, size_t ldb, double *s) {
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = 0; i0 < n; i0 += TILE)
            for (size_t j = j0; j < least(j0 + TILE, n); j++)
                for (size_t i = i0; i < least(i0 + TILE, n); i++)
                    s[i + j * n] = 0.5 * (b[i + j * ldb] + b[j + i * ldb]);
}

void wgi_mirror(size_t n, double *s, size_t lds) {
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = j0; i0 < n; i0 += TILE)
            for (size_t i = i0; i < least(i0 + TILE, n); i++)
                for (size_t j = j0; j < least(least(j0 + TILE, n), i); j++)
                    s[j + i * lds] = s[i + j * lds];
}

enum { SMALL_INVERSE = 32 };

/* By halves: X21 = -L22^-1 (L21 X11). OpenBLAS's dtrtri goes column by
 * column, for up to twice the time.   Source: Du Croz and Higham 1992, method 1B. */
void wgi_invert_lower(size_t n, double *l, size_t ld) {
    if (n <= SMALL_INVERSE) {
        (void)LAPACKE_dtrtri_work(LAPACK_COL_MAJOR, 'L', 'N', wgi_int(n), l, wgi_int(ld));
        return;
    }
    const size_t m = (n / 2 + 7) / 8 * 8, k = n - m;
    double *const below = l + m, *const rest = below + m * ld;
    wgi_invert_lower(m, l, ld);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, wgi_int(k),
                wgi_int(m), -1, l, wgi_int(ld), below, wgi_int(ld));
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, wgi_int(k),
                wgi_int(m), 1, rest, wgi_int(ld), below, wgi_int(ld));
    wgi_invert_lower(k, rest, ld);
}

void wgi_cholesky_inverse(size_t n, const double *l, double *s) {
    const int order = wgi_int(n);
    if (n == 0) return;
    if (s != l) wgi_copy_lower(n, l, n, s, n);
    if (n <= WGI_TINY) {
        wgi_tiny_cholesky_inverse(n, s);
        return;
    }
    if (n <= SMALL_INVERSE) {
        (void)LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', order, s, order);
        return;
    }
    wgi_invert_lower(n, s, n);
    (void)LAPACKE_dlauum_work(LAPACK_COL_MAJOR, 'L', order, s, order);
}

void wgi_transpose(size_t n, double *a) {
    for (size_t j0 = 0; j0 < n; j0 += TILE)
        for (size_t i0 = j0; i0 < n; i0 += TILE)
            for (size_t i = i0; i < least(i0 + TILE, n); i++)
                for (size_t j = j0; j < least(least(j0 + TILE, n), i); j++) {
                    const double x = a[i + j * n];
                    a[i + j * n] = a[j + i * n];
                    a[j + i * n] = x;
                }
}

void wgi_gemm_add(size_t m, size_t n, size_t k, double f, char tx, const double *x, size_t ldx,
                  char ty, const double *y, size_t ldy, wgi_dense a) {
    if (m == 0 || n == 0 || k == 0) return;
    const int x_column = tx == 'N', y_row = ty == 'T';
    if (k == 1 && x_column && y_row) { /* an outer product of two contiguous vectors */
        const double *const u = a.trans ? y : x, *const v = a.trans ? x : y;
        const size_t rows = a.trans ? n : m, cols = a.trans ? m : n;
        if (rows * cols <= WGI_TINY * WGI_TINY)
            wgi_tiny_add_outer(rows, cols, f, u, v, a.p, a.ld);
        else
            cblas_dger(CblasColMajor, wgi_int(rows), wgi_int(cols), f, u, 1, v, 1, a.p,
                       wgi_int(a.ld));
    } else if (a.trans) {
        cblas_dgemm(CblasColMajor, wgi_op(ty == 'N'), wgi_op(tx == 'N'), wgi_int(n), wgi_int(m),
                    wgi_int(k), f, y, wgi_int(ldy), x, wgi_int(ldx), 1, a.p, wgi_int(a.ld));
    } else {
        cblas_dgemm(CblasColMajor, wgi_op(tx != 'N'), wgi_op(ty != 'N'), wgi_int(m), wgi_int(n),
                    wgi_int(k), f, x, wgi_int(ldx), y, wgi_int(ldy), 1, a.p, wgi_int(a.ld));
    }
}

void wgi_gemm_triangle(char uplo, int unit, size_t n, size_t k, double f, char tx,
                       const double *x, size_t ldx, char ty, const double *y, size_t ldy,
                       double *a, size_t lda, double *work) {
    if (n == 0 || k == 0) return;
    const size_t skip = unit ? 1 : 0;
    if (k == 1) { /* element i of op(x) and of op(y) */
        const size_t dx = tx == 'N' ? 1 : ldx, dy = ty == 'N' ? ldy : 1;
        for (size_t j = 0; j < n; j++) {
            const double s = f * y[j * dy];
            const size_t from = uplo == 'L' ? j + skip : 0, to = uplo == 'L' ? n : j + 1 - skip;
            for (size_t i = from; i < to; i++) a[i + j * lda] += x[i * dx] * s;
        }
        return;
    }
    const size_t row = tx == 'N' ? 1 : ldx, col = ty == 'N' ? ldy : 1;
    for (size_t j0 = 0; j0 < n; j0 += WGI_TRIANGLE_BLOCK) {
        const size_t w = least(WGI_TRIANGLE_BLOCK, n - j0), j1 = j0 + w;
        cblas_dgemm(CblasColMajor, wgi_op(tx != 'N'), wgi_op(ty != 'N'), wgi_int(w), wgi_int(w),
                    wgi_int(k), f, x + j0 * row, wgi_int(ldx), y + j0 * col, wgi_int(ldy), 0,
                    work, wgi_int(w));
        for (size_t j = 0; j < w; j++) {
            const size_t from = uplo == 'L' ? j + skip : 0, to = uplo == 'L' ? w : j + 1 - skip;
            for (size_t i = from; i < to; i++) a[j0 + i + (j0 + j) * lda] += work[i + j * w];
        }
        const size_t i0 = uplo == 'L' ? j1 : 0, rest = uplo == 'L' ? n - j1 : j0;
        if (rest != 0)
            cblas_dgemm(CblasColMajor, wgi_op(tx != 'N'), wgi_op(ty != 'N'), wgi_int(rest),
                        wgi_int(w), wgi_int(k), f, x + i0 * row, wgi_int(ldx), y + j0 * col,
                        wgi_int(ldy), 1, a + i0 + j0 * lda, wgi_int(lda));
    }
}
