/* SPDX-License-Identifier: MIT */
/* dense_blas.h - operations on whole matrices by BLAS and LAPACK. dense_values.c is compiled
 * with these functions, and text that functions are written as has them word for word
 * (dense_text.h), so that both give the same bits. Internal.
 *
 * Letters: n k l sizes, x operands, y results, work room for whole triangles, pivot for LAPACK;
 * rule: is an adjoint or tangent, the last operand, that makes all 0 where it is? A lower
 * triangle stands column after column. No size is beyond an int. */
#ifndef WGI_OPS_MATRIX_DENSE_BLAS_H
#define WGI_OPS_MATRIX_DENSE_BLAS_H

#include <math.h>
#include <string.h>

#include "blas.h"

/* ---- text ---- */

static int wgi_is_zero(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}

/* Pivots are looked for among numbers that can be compared. */
static int wgi_is_finite(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static void wgi_fill(size_t n, double *y, double value) {
    for (size_t i = 0; i < n; i++) y[i] = value;
}

/* A lower triangle that stands column after column. */
static void wgi_unpack(size_t n, const double *x, double *a) {
    for (size_t j = 0; j < n; x += n - j, j++) {
        wgi_fill(j, a + j * n, 0);
        memcpy(a + j * (n + 1), x, (n - j) * sizeof(double));
    }
}

static void wgi_pack(size_t n, const double *a, double *y) {
    for (size_t j = 0; j < n; y += n - j, j++)
        memcpy(y, a + j * (n + 1), (n - j) * sizeof(double));
}

static void wgi_product_blas(size_t m, size_t n, size_t k, int rule, const double *x,
                             double *y) {
    const double *const b = x + m * k;
    const int rows = (int)m, cols = (int)n, inner = (int)k;
    wgi_fill(m * n, y, 0);
    if (rule && (wgi_is_zero(m * k, x) || wgi_is_zero(k * n, b))) return;
    if (n == 1)
        cblas_dgemv(CblasColMajor, CblasNoTrans, rows, inner, 1, x, rows, b, 1, 1, y, 1);
    else if (m == 1)
        cblas_dgemv(CblasColMajor, CblasTrans, inner, cols, 1, b, inner, x, 1, 1, y, 1);
    else if (k == 1) cblas_dger(CblasColMajor, rows, cols, 1, x, 1, b, 1, y, rows);
    else
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, cols, inner, 1, x, rows, b,
                    inner, 1, y, rows);
}

static void wgi_triangle_blas(size_t n, size_t k, int rule, const double *x, double *y,
                              double *work) {
    const double *const b = x + n * (n + 1) / 2;
    double *const l = work;
    const int order = (int)n;
    memcpy(y, b, n * k * sizeof(double));
    if (rule && wgi_is_zero(n * k, b)) return;
    wgi_unpack(n, x, l);
    for (size_t i = 0; i < n; i++)
        if (l[i * (n + 1)] == 0) {
            wgi_fill(n * k, y, NAN);
            return;
        }
    if (k == 1)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, order, l, order, y,
                    1);
    else
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, order,
                    (int)k, 1, l, order, y, order);
}

static void wgi_cholesky_blas(size_t n, const double *x, double *y, double *work) {
    const int order = (int)n;
    wgi_unpack(n, x, work);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, work, order) != 0)
        wgi_fill(n * (n + 1) / 2, y, NAN);
    else wgi_pack(n, work, y);
}

/* The lower triangle w of L_ becomes that of A_, where A = L L': an element of A_ counts for
 * both that a symmetric matrix has. Column by column from the last one: Murray 2016,
 * arXiv:1602.07527. */
static void wgi_cholesky_bar_columns(size_t n, const double *l, double *w, size_t ld) {
    for (size_t j = n; j-- > 0;) {
        const double *const c = l + j * ld;
        double *const cw = w + j * ld;
        const double d = 1 / c[j];
        double s = 0;
        for (size_t i = j + 1; i < n; i++) cw[i] *= d, s += cw[i] * c[i];
        const double dw = (cw[j] - s) * d;
        for (size_t k = 0; k < j; k++) {
            const double *const lk = l + k * ld;
            double *const wk = w + k * ld;
            const double r = lk[j];
            double s0 = 0, s1 = 0;
            size_t i = j + 1;
            for (; i + 1 < n; i += 2) {
                s0 += cw[i] * lk[i], s1 += cw[i + 1] * lk[i + 1];
                wk[i] -= cw[i] * r, wk[i + 1] -= cw[i + 1] * r;
            }
            if (i < n) s0 += cw[i] * lk[i], wk[i] -= cw[i] * r;
            wk[j] -= dw * r + (s0 + s1);
        }
        cw[j] = 0.5 * dw;
    }
}

/* The same with blocks of columns [j0, j1):  L = [.. ; R D ; B C]. s: room for a block. */
static void wgi_cholesky_bar_blocks(size_t n, size_t block, const double *l, double *w,
                                    double *s) {
    const int ld = (int)n;
    for (size_t j1 = n, j0; j1 > 0; j1 = j0) {
        j0 = j1 > block ? j1 - block : 0;
        const size_t m = j1 - j0;
        const int below = (int)(n - j1), width = (int)m, before = (int)j0;
        const double *const r = l + j0, *const d = r + j0 * n;
        const double *const under = l + j1, *const c = under + j0 * n;
        double *const rw = w + j0, *const dw = rw + j0 * n;
        double *const cw = w + j1 + j0 * n;
        if (below != 0) {
            cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit,
                        below, width, 1, d, ld, cw, ld);
            if (before != 0)
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, below, before, width, -1,
                            cw, ld, r, ld, 1, w + j1, ld);
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, width, below, -1, cw,
                        ld, c, ld, 0, s, width);
            for (size_t j = 0; j < m; j++)
                for (size_t i = j; i < m; i++) dw[i + j * n] += s[i + j * m];
        }
        wgi_cholesky_bar_columns(m, d, dw, n);
        if (before == 0) continue;
        for (size_t j = 0; j < m; j++) {
            s[j * (m + 1)] = 2 * dw[j * (n + 1)];
            for (size_t i = j + 1; i < m; i++) s[i + j * m] = s[j + i * m] = dw[i + j * n];
        }
        if (below != 0)
            cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, width, before, below, -1, cw,
                        ld, under, ld, 1, rw, ld);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, width, before, width, -1, s,
                    width, r, ld, 1, rw, ld);
    }
}

static void wgi_cholesky_bar_blas(size_t n, size_t block, int rule, const double *x, double *y,
                                  double *work) {
    const size_t all = n * (n + 1) / 2, room = (n * n + 3) / 4 * 4;
    double *const l = work, *const w = l + room, *const s = w + room;
    if (rule && wgi_is_zero(all, x + all)) {
        wgi_fill(all, y, 0);
        return;
    }
    wgi_unpack(n, x, l);
    wgi_unpack(n, x + all, w);
    wgi_cholesky_bar_blocks(n, block, l, w, s);
    wgi_pack(n, w, y);
}

/* Packed factors; pivots, from 1; their sign. */
static void wgi_lu_blas(size_t n, const double *x, double *y, lapack_int *pivot) {
    double *const row = y + n * n;
    const int order = (int)n;
    memcpy(y, x, n * n * sizeof(double));
    if (!wgi_is_finite(n * n, x) ||
        LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, y, order, pivot) != 0) {
        wgi_fill(n * n + n + 1, y, NAN);
        return;
    }
    row[n] = 1;
    for (size_t i = 0; i < n; i++) {
        row[i] = (double)pivot[i];
        if ((size_t)pivot[i] != i + 1) row[n] = -row[n];
    }
}

/* Packed factors, pivots; right-hand sides b. */
static void wgi_solve_blas(size_t n, size_t k, int turned, int rule, const double *x,
                           const double *b, double *y, lapack_int *pivot) {
    const double *const row = x + n * n;
    const int order = (int)n;
    memcpy(y, b, n * k * sizeof(double));
    if (rule && wgi_is_zero(n * k, b)) return;
    for (size_t i = 0; i < n; i++) {
        if (!(row[i] >= 1 && row[i] <= (double)n)) {
            wgi_fill(n * k, y, NAN);
            return;
        }
        pivot[i] = (lapack_int)row[i];
    }
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, turned ? 'T' : 'N', order, (int)k, x, order,
                              pivot, y, order);
}

/* P A Q = L D U with complete pivoting: L and U, with ones on their diagonals, and D in the
 * place of A. Where only zeros are left L, D and U end with those of 0. order: rows, then
 * columns, from 1, that were exchanged with each; gives the sign of that. */
static double wgi_ldu(size_t n, double *a, double *order) {
    double sign = 1;
    for (size_t c = 0; c < 2 * n; c++) order[c] = (double)(c % n + 1);
    for (size_t c = 0; c < n; c++) {
        size_t p = c, q = c;
        for (size_t j = c; j < n; j++)
            for (size_t i = c; i < n; i++)
                if (fabs(a[i + j * n]) > fabs(a[p + q * n])) p = i, q = j;
        const double d = a[p + q * n];
        if (d == 0) return sign;
        if ((p != c) != (q != c)) sign = -sign;
        order[c] = (double)(p + 1), order[n + c] = (double)(q + 1);
        for (size_t j = 0; j < n; j++) {
            const double v = a[c + j * n];
            a[c + j * n] = a[p + j * n], a[p + j * n] = v;
        }
        for (size_t i = 0; i < n; i++) {
            const double v = a[i + c * n];
            a[i + c * n] = a[i + q * n], a[i + q * n] = v;
        }
        for (size_t i = c + 1; i < n; i++) a[i + c * n] /= d;
        for (size_t j = c + 1; j < n; j++) {
            for (size_t i = c + 1; i < n; i++) a[i + j * n] -= a[i + c * n] * a[c + j * n];
            a[c + j * n] /= d;
        }
    }
    return sign;
}

/* The product of all elements of D but the i-th and the j-th, over 2^*e: it may leave the range
 * of numbers on the way. */
static double wgi_ldu_product(size_t n, const double *a, size_t i, size_t j, int *e) {
    double all = 1, m = 1;
    int normal = 1;
    *e = 0;
    for (size_t k = 0; k < n; k++) {
        if (k == i || k == j) continue;
        all *= a[k * (n + 1)];
        normal &= isnormal(all) != 0;
    }
    if (normal) return all;
    for (size_t k = 0; k < n; k++) {
        int of_d = 0, of_m = 0;
        if (k == i || k == j) continue;
        m = frexp(m * frexp(a[k * (n + 1)], &of_d), &of_m);
        *e += of_d + of_m;
    }
    return m;
}

/* Rows and columns of y in the order of P A Q, or back from it. */
static void wgi_ldu_order(size_t n, const double *order, int back, double *y) {
    for (size_t k = 0; k < n; k++) {
        const size_t c = back ? n - 1 - k : k;
        const size_t p = (size_t)order[c] - 1, q = (size_t)order[n + c] - 1;
        for (size_t j = 0; j < n; j++) {
            const double v = y[c + j * n];
            y[c + j * n] = y[p + j * n], y[p + j * n] = v;
        }
        for (size_t i = 0; i < n; i++) {
            const double v = y[i + c * n];
            y[i + c * n] = y[i + q * n], y[i + q * n] = v;
        }
    }
}

/* y, the adjoint of D + L^-1 X U^-1 at X = 0, becomes that of X in the order of A. */
static void wgi_ldu_back(size_t n, const double *a, const double *order, double *y) {
    for (size_t j = 0; j < n; j++)
        for (size_t i = n; i-- > 0;)
            for (size_t k = i + 1; k < n; k++) y[i + j * n] -= a[k + i * n] * y[k + j * n];
    for (size_t j = n; j-- > 0;)
        for (size_t k = j + 1; k < n; k++)
            for (size_t i = 0; i < n; i++) y[i + j * n] -= a[j + k * n] * y[i + k * n];
    wgi_ldu_order(n, order, 1, y);
}

static void wgi_det(size_t n, const double *x, double *y, double *work) {
    double *const order = work + (n * n + 3) / 4 * 4;
    *y = NAN;
    if (!wgi_is_finite(n * n, x)) return;
    memcpy(work, x, n * n * sizeof(double));
    const double sign = wgi_ldu(n, work, order);
    int e = 0;
    const double all = wgi_ldu_product(n, work, n, n, &e);
    *y = sign * ldexp(all, e);
}

/* Of D: the products of all but one element; on the way less by a power of 2 that keeps the
 * largest of them within the range of numbers. */
static void wgi_cofactor(size_t n, const double *x, double *y, double *work) {
    double *const order = work + (n * n + 3) / 4 * 4;
    wgi_fill(n * n, y, NAN);
    if (!wgi_is_finite(n * n, x)) return;
    memcpy(work, x, n * n * sizeof(double));
    const double sign = wgi_ldu(n, work, order);
    int top = -1, any = 0, e = 0;
    for (size_t i = 0; i < n; i++) {
        int of_m = 0;
        const double m = frexp(wgi_ldu_product(n, work, i, n, &e), &of_m);
        if (m == 0) continue;
        if (!any || e + of_m > top) top = e + of_m;
        any = 1;
    }
    const int shift = top > 1000 ? top - 1000 : top < -900 ? top : 0;
    wgi_fill(n * n, y, 0);
    for (size_t i = 0; i < n; i++) {
        const double all = wgi_ldu_product(n, work, i, n, &e);
        y[i * (n + 1)] = sign * ldexp(all, e - shift);
    }
    wgi_ldu_back(n, work, order, y);
    for (size_t i = 0; shift != 0 && i < n * n; i++) y[i] = ldexp(y[i], shift);
}

/* Of D: products of all but two elements, times what minors of order 2 of the adjoint are by
 * its elements. */
static void wgi_cofactor_bar(size_t n, int rule, const double *x, double *y, double *work) {
    const size_t room = (n * n + 3) / 4 * 4;
    double *const w = work + room, *const order = w + room;
    wgi_fill(n * n, y, 0);
    if (rule && wgi_is_zero(n * n, x + n * n)) return;
    if (!wgi_is_finite(2 * n * n, x)) {
        wgi_fill(n * n, y, NAN);
        return;
    }
    memcpy(work, x, n * n * sizeof(double));
    memcpy(w, x + n * n, n * n * sizeof(double));
    const double sign = wgi_ldu(n, work, order);
    wgi_ldu_order(n, order, 0, w);
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            for (size_t i = k + 1; i < n; i++) w[i + j * n] -= work[i + k * n] * w[k + j * n];
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < j; k++)
            for (size_t i = 0; i < n; i++) w[i + j * n] -= work[k + j * n] * w[i + k * n];
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            if (i == j) continue;
            int e = 0;
            const double product = wgi_ldu_product(n, work, i, j, &e);
            const double all = sign * ldexp(product, e);
            y[i * (n + 1)] += all * w[j * (n + 1)];
            y[i + j * n] -= all * w[j + i * n];
        }
    wgi_ldu_back(n, work, order, y);
}

/* ---- end of the text ---- */

#endif
