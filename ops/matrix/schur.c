/* SPDX-License-Identifier: MIT */
/* Real Schur forms, and Sylvester equations in them, block by block: blocks of the solution by
 * dtrsyl, everything else by products. Source: Kagstrom and Poromaa 1992; Higham 2008, B.14. */
#include "schur.h"
#include "blas.h"

#include <float.h>
#include <math.h>

size_t wgi_schur_doubles(size_t n) { return 2 * n + 70 * n + 4200; }

int wgi_schur(size_t n, double *t, double *q, double *work) {
    const int m = wgi_int(n);
    lapack_int sorted = 0;
    double *const re = work, *const im = re + n;
    if (n == 0) return 0;
    return LAPACKE_dgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, m, t, m, &sorted, re, im, q, m,
                              im + n, wgi_int(70 * n + 4200), NULL);
}

/* Blocks of about this order. */
enum { BLOCK = 32 };

/* The end of the block that begins at i, and the beginning of the one that ends at i. */
static size_t block_end(size_t n, const double *t, size_t ld, size_t i) {
    const size_t end = i + BLOCK < n ? i + BLOCK : n;
    return end < n && t[end + (end - 1) * ld] != 0 ? end + 1 : end;
}
static size_t block_begin(const double *t, size_t ld, size_t i) {
    const size_t begin = i > BLOCK ? i - BLOCK : 0;
    return begin > 0 && t[begin + (begin - 1) * ld] != 0 ? begin - 1 : begin;
}

/* The next block after the one [*from, *to), upwards or downwards; 0: there is none. */
static int next_block(int up, size_t n, const double *t, size_t ld, size_t *from, size_t *to) {
    if (up) {
        if (*from == 0) return 0;
        *to = *from, *from = block_begin(t, ld, *to);
    } else {
        if (*to == n) return 0;
        *from = *to, *to = block_end(n, t, ld, *from);
    }
    return 1;
}

/* c -= a b */
static void subtract(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k,
                     const double *a, size_t lda, const double *b, size_t ldb, double *c,
                     size_t ldc) {
    if (m == 0 || n == 0) return;
    cblas_dgemm(CblasColMajor, ta, tb, wgi_int(m), wgi_int(n), wgi_int(k), -1, a, wgi_int(lda),
                b, wgi_int(ldb), 1, c, wgi_int(ldc));
}

int wgi_schur_sylvester(char op_a, char op_b, size_t m, size_t n, const double *a, size_t lda,
                        const double *b, size_t ldb, double *x, size_t ldx) {
    /* with A the last rows come first, with B the first columns */
    const int rows_up = op_a == 'N', columns_up = op_b != 'N';
    const CBLAS_TRANSPOSE ta = op_a == 'N' ? CblasNoTrans : CblasTrans;
    const CBLAS_TRANSPOSE tb = op_b == 'N' ? CblasNoTrans : CblasTrans;
    if (m == 0 || n == 0) return 0;
    size_t j = columns_up ? n : 0, j_end = j;
    while (next_block(columns_up, n, b, ldb, &j, &j_end)) {
        const size_t wide = j_end - j;
        size_t i = rows_up ? m : 0, i_end = i;
        while (next_block(rows_up, m, a, lda, &i, &i_end)) {
            const size_t high = i_end - i;
            double scale = 1, *const y = x + i + j * ldx;
            const int info = LAPACKE_dtrsyl_work(
                LAPACK_COL_MAJOR, op_a, op_b, 1, wgi_int(high), wgi_int(wide), a + i + i * lda,
                wgi_int(lda), b + j + j * ldb, wgi_int(ldb), y, wgi_int(ldx), &scale);
            if (info != 0 || scale != 1) return 1;
            if (rows_up)
                subtract(ta, CblasNoTrans, i, wide, high, a + i * lda, lda, y, ldx, x + j * ldx,
                         ldx);
            else
                subtract(ta, CblasNoTrans, m - i_end, wide, high, a + i + i_end * lda, lda, y,
                         ldx, x + i_end + j * ldx, ldx);
        }
        if (columns_up)
            subtract(CblasNoTrans, tb, m, j, wide, x + j * ldx, ldx, b + j * ldb, ldb, x, ldx);
        else
            subtract(CblasNoTrans, tb, m, n - j_end, wide, x + j * ldx, ldx,
                     b + j + j_end * ldb, ldb, x + j_end * ldx, ldx);
    }
    return 0;
}

/* The real part of eigenvalue i, and its imaginary part, of the block it is in. */
static double eigenvalue(size_t n, const double *t, size_t i, double *imaginary) {
    const double *const d = t + i + i * n;
    double r = 0;
    if (i + 1 < n && d[1] != 0) r = sqrt(fabs(d[1])) * sqrt(fabs(d[n]));
    else if (i > 0 && d[-(ptrdiff_t)n] != 0)
        r = -sqrt(fabs(d[-(ptrdiff_t)n])) * sqrt(fabs(d[-1]));
    *imaginary = r;
    return d[0];
}

int wgi_schur_apart(size_t m, size_t n, const double *a, const double *b) {
    double least = INFINITY, largest = 0;
    for (size_t i = 0; i < m; i++) {
        double ai, bi;
        const double ar = eigenvalue(m, a, i, &ai);
        if (fabs(ar) + fabs(ai) > largest) largest = fabs(ar) + fabs(ai);
        for (size_t j = 0; j < n; j++) {
            const double br = eigenvalue(n, b, j, &bi);
            const double sum = fabs(ar + br) + fabs(ai + bi);
            if (sum < least) least = sum;
            if (fabs(br) + fabs(bi) > largest) largest = fabs(br) + fabs(bi);
        }
    }
    return least > (double)(m + n) * DBL_EPSILON * largest;
}

void wgi_schur_turn(char op_p, char op_q, size_t m, size_t n, const double *p, const double *q,
                    const double *from, size_t ld, double *x, double *room) {
    const int r = wgi_int(m), c = wgi_int(n);
    if (m == 0 || n == 0) return;
    cblas_dgemm(CblasColMajor, op_p == 'N' ? CblasNoTrans : CblasTrans, CblasNoTrans, r, c, r,
                1, p, r, from, wgi_int(ld), 0, room, r);
    cblas_dgemm(CblasColMajor, CblasNoTrans, op_q == 'N' ? CblasNoTrans : CblasTrans, r, c, c,
                1, room, r, q, c, 0, x, r);
}
