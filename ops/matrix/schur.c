/* SPDX-License-Identifier: MIT */
/* Real Schur forms, and Sylvester and Stein equations in them, block by block: blocks of the
 * solution by dtrsyl, or written out, everything else by products.
 * Source: Kagstrom and Poromaa 1992; Higham 2008, B.14; Kitagawa 1977; Parlett and Reinsch
 * 1969. */
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

void wgi_schur_balance(size_t n, double *a, double *d) {
    lapack_int low = 0, high = 0;
    const int m = wgi_int(n);
    if (LAPACKE_dgebal_work(LAPACK_COL_MAJOR, 'S', m, a, m, &low, &high, d) == 0) return;
    for (size_t i = 0; i < n; i++) d[i] = 1;
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

int wgi_schur_no_product_one(size_t n, const double *a, int exact) {
    const double unit = 2 * (double)n * DBL_EPSILON;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double im;
        const double re = eigenvalue(n, a, i, &im);
        largest = fmax(largest, hypot(re, im));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double ai, bi;
            const double ar = eigenvalue(n, a, i, &ai), br = eigenvalue(n, a, j, &bi);
            const double x = hypot(ar, ai), y = hypot(br, bi);
            const double off = hypot(fma(-ar, br, fma(ai, bi, 1)), ar * bi + ai * br);
            if (x * y > DBL_MAX) continue;
            if (off <= unit * (1 + x * y)) return 0;
            if (!exact && off <= unit * largest * (x + y)) return 0;
        }
    return 1;
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

/* ---- Stein ---- */

enum { SMALL = 4 };

/* r = k^-1 r, k of order n <= SMALL with ld SMALL: elimination with complete pivoting. The
 * result: 1: k is singular. */
static int eliminate(size_t n, double *k, double *r) {
    size_t order[SMALL] = {0, 1, 2, 3};
    double x[SMALL];
    for (size_t c = 0; c < n; c++) {
        size_t row = c, col = c;
        for (size_t j = c; j < n; j++)
            for (size_t i = c; i < n; i++)
                if (fabs(k[i + j * SMALL]) > fabs(k[row + col * SMALL])) row = i, col = j;
        if (k[row + col * SMALL] == 0) return 1;
        for (size_t j = 0; j < n; j++) {
            const double a = k[c + j * SMALL];
            k[c + j * SMALL] = k[row + j * SMALL], k[row + j * SMALL] = a;
        }
        for (size_t i = 0; i < n; i++) {
            const double a = k[i + c * SMALL];
            k[i + c * SMALL] = k[i + col * SMALL], k[i + col * SMALL] = a;
        }
        const double right = r[c];
        const size_t place = order[c];
        r[c] = r[row], r[row] = right;
        order[c] = order[col], order[col] = place;
        for (size_t i = c + 1; i < n; i++) {
            const double factor = k[i + c * SMALL] / k[c + c * SMALL];
            for (size_t j = c; j < n; j++) k[i + j * SMALL] -= factor * k[c + j * SMALL];
            r[i] -= factor * r[c];
        }
    }
    for (size_t c = n; c-- > 0;) {
        for (size_t j = c + 1; j < n; j++) r[c] -= k[c + j * SMALL] * x[j];
        x[c] = r[c] / k[c + c * SMALL];
    }
    for (size_t c = 0; c < n; c++) r[order[c]] = x[c];
    return 0;
}

/* y = the h-by-w solution of y - P y Q' = y, P and Q blocks of a diagonal. */
static int stein_block(size_t h, size_t w, const double *p, const double *q, size_t ld,
                       double *y, size_t ldy) {
    double k[SMALL * SMALL], r[SMALL];
    for (size_t c = 0; c < h * w; c++) { /* row c, column d of the system */
        const size_t i = c % h, j = c / h;
        r[c] = y[i + j * ldy];
        for (size_t d = 0; d < h * w; d++)
            k[c + d * SMALL] = fma(-p[i + d % h * ld], q[j + d / h * ld], c == d);
    }
    if (eliminate(h * w, k, r)) return 1;
    for (size_t c = 0; c < h * w; c++) y[c % h + c / h * ldy] = r[c];
    return 0;
}

/* The beginning of the block of the diagonal that ends at i. */
static size_t pair_begin(const double *t, size_t ld, size_t i) {
    return i > 1 && t[i - 1 + (i - 2) * ld] != 0 ? i - 2 : i - 1;
}

/* y = the columns of the solution of y - A y Q' = y, Q a block of the diagonal of order w; the
 * last rows come first. */
static int stein_columns(size_t n, const double *a, size_t w, const double *q, double *y) {
    for (size_t i = 0, end = n; end > 0; end = i) {
        double by_q[SMALL]; /* a block of y Q' */
        i = pair_begin(a, n, end);
        const size_t h = end - i;
        if (stein_block(h, w, a + i + i * n, q, n, y + i, n)) return 1;
        for (size_t l = 0; l < w; l++)
            for (size_t k = 0; k < h; k++) {
                double s = 0;
                for (size_t j = 0; j < w; j++) s += y[i + k + j * n] * q[l + j * n];
                by_q[k + l * h] = s;
            }
        for (size_t l = 0; l < w; l++)
            for (size_t k = 0; k < h; k++)
                for (size_t r = 0; r < i; r++)
                    y[r + l * n] += a[r + (i + k) * n] * by_q[k + l * h];
    }
    return 0;
}

static void reverse(size_t count, double *x) {
    for (size_t i = 0, k = count; i + 1 < k; i++) {
        const double y = x[--k];
        x[k] = x[i], x[i] = y;
    }
}

size_t wgi_schur_stein_doubles(size_t n) { return n * n + 2 * n; }

int wgi_schur_stein(char op, size_t n, const double *a, double *x, double *room) {
    const int m = wgi_int(n);
    double *const turned = room + 2 * n;
    if (op != 'N') { /* the same with rows and columns in the other order */
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++) turned[i + j * n] = a[n - 1 - j + (n - 1 - i) * n];
        a = turned;
        reverse(n * n, x);
    }
    /* the last columns first: what is known of X A' goes to the right-hand side */
    for (size_t j = 0, end = n; end > 0; end = j) {
        j = pair_begin(a, n, end);
        const int w = wgi_int(end - j), known = wgi_int(n - end);
        if (known > 0) {
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, m, w, known, 1, x + end * n, m,
                        a + j + end * n, m, 0, room, m);
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, w, m, 1, a, m, room, m, 1,
                        x + j * n, m);
        }
        if (stein_columns(n, a, end - j, a + j + j * n, x + j * n)) return 1;
    }
    for (size_t i = 0; i < n * n; i++)
        if (!isfinite(x[i])) return 1;
    if (op != 'N') reverse(n * n, x);
    return 0;
}
