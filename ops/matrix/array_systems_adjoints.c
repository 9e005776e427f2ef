/* SPDX-License-Identifier: MIT */
/* Adjoints of LAPACK's systems on plain arrays (wengert/blas_vjp.h). Letters:
 * array_adjoints.h. Factors are those that the call left, X what it left of B.
 *
 *     P A = L U              A_ = P' L^-T (tril(L'L_, -1) + triu(U_ U')) U^-T
 *     A X = B, by these      v = U^-T w,  U_ -= triu(v X'),  z = L^-T v,
 *                            L_ -= tril(z (U X)', -1),  B_ = P'z
 *     A'X = B                v = L^-1 P w,  L_ -= tril(P X v', -1),  z = U^-1 v,
 *                            U_ -= triu(L'P X z'),  B_ = z
 *     A = L L'               as of wg_cholesky; an element below the diagonal counts for both
 *     A X = B, by that       v = L^-1 w,  L_ -= tril(X v'),  z = L^-T v,
 *                            L_ -= tril(z (L'X)'),  B_ = z
 * Where nothing else has to do with the factors, A_ = -z X' (P'z) is all there is.
 * Sources: Giles 2008; de Hoog, Anderssen and Lukas 2011; Murray 2016. */
#include <stdint.h>
#include <string.h>
#include "array_adjoints.h"
#include "dense_values.h"

/* ---- copies, column after column --------------------------------------------------------- */

/* Room for three matrices of order n, two of nrhs columns, and a block of them; more than
 * there can be where that is no size. */
size_t wg_vjp_room(int n, int nrhs) {
    const size_t most = SIZE_MAX / sizeof(double),
                 block = wgi_cholesky_bar_room() > WGI_TRIANGLE ? wgi_cholesky_bar_room()
                                                                : WGI_TRIANGLE;
    if (n <= 0) return 0;
    const size_t k = (size_t)n, lines = nrhs > 0 ? (size_t)nrhs : 0;
    const double all = (double)k * (3 * (double)k + 2 * (double)lines) + (double)block;
    return all < (double)most ? k * (3 * k + 2 * lines) + block : most;
}

static double *take(double **work, size_t n) {
    double *const x = *work;
    *work += n;
    return x;
}

/* y = x; x = y: where it is read. */
static void get(int m, int n, const double *x, strides s, part p, double *y) {
    for (int j = 0; j < n; j++) {
        int i, end;
        read_rows(p, m, j, &i, &end);
        for (; i < end; i++) y[i + (ptrdiff_t)j * m] = *in(x, s, i, j);
    }
}
static void put(int m, int n, const double *y, double *x, strides s, part p) {
    for (int j = 0; j < n; j++) {
        int i, end;
        for (read_rows(p, m, j, &i, &end); i < end; i++)
            *at(x, s, i, j) = y[i + (ptrdiff_t)j * m];
    }
}
static int is_nothing(int m, int n, const double *x, strides s, part p) {
    for (int j = 0; j < n; j++) {
        int i, end;
        for (read_rows(p, m, j, &i, &end); i < end; i++)
            if (*in(x, s, i, j) != 0) return 0;
    }
    return 1;
}
/* x = T^-1 x or T^-T x; x = T x or T'x. Packed. */
static void divide(CBLAS_UPLO of, int turned, CBLAS_DIAG diag, int n, int k, const double *t,
                   double *x) {
    cblas_dtrsm(CblasColMajor, CblasLeft, of, wgi_op(turned), diag, n, k, 1, t, n, x, n);
}
static void multiply(CBLAS_UPLO of, int turned, CBLAS_DIAG diag, int n, int k, const double *t,
                     double *x) {
    cblas_dtrmm(CblasColMajor, CblasLeft, of, wgi_op(turned), diag, n, k, 1, t, n, x, n);
}
/* The triangle p of g -= v u'. Packed. */
static void take_product(part p, int n, int k, const double *v, const double *u, double *g,
                         double *work) {
    const size_t ld = (size_t)n;
    wgi_gemm_triangle(p.uplo, p.unit, ld, (size_t)k, -1, 'N', v, ld, 'T', u, ld, g, ld, work);
}

static const part below = {'L', 1}, lower = {'L', 0}, upper = {'U', 0};

/* ---- by LU ------------------------------------------------------------------------------- */

/* Rows change places as pivots say, or back. */
static void permute(int n, int k, const int *pivot, int back, double *x) {
    for (int c = 0; c < n; c++) {
        const int i = back ? n - 1 - c : c;
        if (pivot[i] - 1 != i) cblas_dswap(k, x + i, n, x + pivot[i] - 1, n);
    }
}

/* Of the factors lu, packed: g, the adjoint of these, becomes that of A. room: n^2. */
static void back_of_factors(int n, const double *lu, const int *pivot, double *g,
                            double *room) {
    memcpy(room, g, (size_t)n * (size_t)n * sizeof *g);
    for (int j = 0; j < n; j++) { /* tril(L'L_, -1): L_ has no diagonal */
        for (int i = 0; i <= j; i++) room[i + (ptrdiff_t)j * n] = 0;
        for (int i = j + 1; i < n; i++) g[i + (ptrdiff_t)j * n] = 0;
    }
    multiply(CblasLower, 1, CblasUnit, n, n, lu, room);
    cblas_dtrmm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, n, n, 1, lu, n,
                g, n);
    for (int j = 0; j < n; j++)
        for (int i = j + 1; i < n; i++) g[i + (ptrdiff_t)j * n] = room[i + (ptrdiff_t)j * n];
    divide(CblasLower, 1, CblasUnit, n, n, lu, g);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasUpper, CblasTrans, CblasNonUnit, n, n, 1, lu, n,
                g, n);
    permute(n, n, pivot, 1, g);
}

static wg_status check_factors(int order, int n, const double *a, int lda, const int *pivot) {
    CHECK(check_order(order));
    CHECK(check_ld(order, n, n, lda));
    CHECK(check_array(1, a));
    if (pivot == NULL) return WG_ENULL;
    for (int i = 0; i < n; i++)
        if (pivot[i] < 1 || pivot[i] > n) return WG_EARG;
    return is_singular(n, a, strides_of(order, lda), upper) ? WG_ESINGULAR : WG_OK;
}

wg_status wg_vjp_dgetrf(int order, int m, int n, const double *a, double *a_b, int lda,
                        const int *pivot, double *work) {
    const strides s = strides_of(order, lda);
    if (m <= 0 || n <= 0) return WG_OK;
    if (m != n) return WG_ESHAPE;
    CHECK(check_factors(order, n, a, lda, pivot));
    CHECK(check_array(1, a_b));
    CHECK(check_array(1, work));
    const size_t all = (size_t)n * (size_t)n;
    double *const lu = take(&work, all), *const g = take(&work, all);
    if (is_nothing(n, n, a_b, s, all_of_it)) return WG_OK;
    get(n, n, a, s, all_of_it, lu);
    get(n, n, a_b, s, all_of_it, g);
    back_of_factors(n, lu, pivot, g, work);
    put(n, n, g, a_b, s, all_of_it);
    return WG_OK;
}

/* Of A X = B, or A'X = B: w, packed, becomes the adjoint of B; g, NULL or packed, has that of
 * the factors added. x: X, packed, which is lost. */
static void back_of_solve(int turned, int n, int k, const double *lu, const int *pivot,
                          double *x, double *w, double *g, double *work) {
    if (!turned) {
        divide(CblasUpper, 1, CblasNonUnit, n, k, lu, w);
        if (g != NULL) take_product(upper, n, k, w, x, g, work);
        divide(CblasLower, 1, CblasUnit, n, k, lu, w);
        if (g != NULL) {
            multiply(CblasUpper, 0, CblasNonUnit, n, k, lu, x);
            take_product(below, n, k, w, x, g, work);
        }
        permute(n, k, pivot, 1, w);
        return;
    }
    permute(n, k, pivot, 0, w);
    divide(CblasLower, 0, CblasUnit, n, k, lu, w);
    if (g != NULL) {
        permute(n, k, pivot, 0, x);
        take_product(below, n, k, x, w, g, work);
        multiply(CblasLower, 1, CblasUnit, n, k, lu, x);
    }
    divide(CblasUpper, 0, CblasNonUnit, n, k, lu, w);
    if (g != NULL) take_product(upper, n, k, x, w, g, work);
}

wg_status wg_vjp_dgetrs(int order, int trans, int n, int nrhs, const double *a, double *a_b,
                        int lda, const int *pivot, const double *b, double *b_b, int ldb,
                        double *work) {
    const strides sa = strides_of(order, lda), sb = strides_of(order, ldb);
    if (n <= 0 || nrhs <= 0) return WG_OK;
    CHECK(check_flag(trans, "NT"));
    CHECK(check_factors(order, n, a, lda, pivot));
    CHECK(check_ld(order, n, nrhs, ldb));
    CHECK(check_array(1, b_b));
    CHECK(check_array(a_b != NULL, b));
    CHECK(check_array(1, work));
    const size_t all = (size_t)n * (size_t)n, lines = (size_t)n * (size_t)nrhs;
    double *const lu = take(&work, all), *const own = take(&work, all),
                  *const x = take(&work, lines), *const w = take(&work, lines);
    double *const g = a_b != NULL ? own : NULL;
    get(n, n, a, sa, all_of_it, lu);
    get(n, nrhs, b_b, sb, all_of_it, w);
    if (g != NULL) {
        get(n, nrhs, b, sb, all_of_it, x);
        get(n, n, a_b, sa, all_of_it, g);
    }
    back_of_solve(is_turned(trans), n, nrhs, lu, pivot, x, w, g, work);
    put(n, nrhs, w, b_b, sb, all_of_it);
    if (g != NULL) put(n, n, g, a_b, sa, all_of_it);
    return WG_OK;
}

wg_status wg_vjp_dgesv(int order, int n, int nrhs, const double *a, double *a_b, int lda,
                       const int *pivot, const double *b, double *b_b, int ldb, double *work) {
    const strides sa = strides_of(order, lda), sb = strides_of(order, ldb);
    if (n <= 0) return WG_OK;
    if (nrhs <= 0) return wg_vjp_dgetrf(order, n, n, a, a_b, lda, pivot, work);
    CHECK(check_factors(order, n, a, lda, pivot));
    CHECK(check_ld(order, n, nrhs, ldb));
    CHECK(check_array(1, a_b));
    CHECK(check_array(1, b_b));
    CHECK(check_array(1, b));
    CHECK(check_array(1, work));
    const size_t all = (size_t)n * (size_t)n, lines = (size_t)n * (size_t)nrhs;
    double *const lu = take(&work, all), *const g = take(&work, all),
                  *const x = take(&work, lines), *const w = take(&work, lines);
    get(n, n, a, sa, all_of_it, lu);
    get(n, nrhs, b, sb, all_of_it, x);
    get(n, nrhs, b_b, sb, all_of_it, w);
    if (is_nothing(n, n, a_b, sa, all_of_it)) {
        back_of_solve(0, n, nrhs, lu, pivot, x, w, NULL, work);
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, nrhs, -1, w, n, x, n, 0, g,
                    n);
    } else {
        get(n, n, a_b, sa, all_of_it, g);
        back_of_solve(0, n, nrhs, lu, pivot, x, w, g, work);
        back_of_factors(n, lu, pivot, g, work);
    }
    put(n, n, g, a_b, sa, all_of_it);
    put(n, nrhs, w, b_b, sb, all_of_it);
    return WG_OK;
}

/* ---- by Cholesky: an upper triangle is the lower one of the transpose -------------------- */

static strides lower_of(int order, int uplo, int lda) {
    const strides s = strides_of(order, lda);
    return flag(uplo) == 'U' ? turned(s) : s;
}
static wg_status check_root(int order, int uplo, int n, const double *a, int lda) {
    CHECK(check_order(order));
    CHECK(check_flag(uplo, "LU"));
    CHECK(check_ld(order, n, n, lda));
    CHECK(check_array(1, a));
    const strides s = strides_of(order, lda);
    for (int i = 0; i < n; i++)
        if (*in(a, s, i, i) <= 0) return WG_ESINGULAR;
    return WG_OK;
}

wg_status wg_vjp_dpotrf(int order, int uplo, int n, const double *a, double *a_b, int lda,
                        double *work) {
    if (n <= 0) return WG_OK;
    CHECK(check_root(order, uplo, n, a, lda));
    CHECK(check_array(1, a_b));
    CHECK(check_array(1, work));
    const strides s = lower_of(order, uplo, lda);
    const size_t all = (size_t)n * (size_t)n;
    double *const l = take(&work, all), *const g = take(&work, all);
    if (is_nothing(n, n, a_b, s, lower)) return WG_OK;
    get(n, n, a, s, lower, l);
    get(n, n, a_b, s, lower, g);
    wgi_cholesky_bar((size_t)n, l, g, work);
    put(n, n, g, a_b, s, lower);
    return WG_OK;
}

static void back_of_root_solve(int n, int k, const double *l, double *x, double *w, double *g,
                               double *work) {
    divide(CblasLower, 0, CblasNonUnit, n, k, l, w);
    if (g != NULL) {
        take_product(lower, n, k, x, w, g, work);
        multiply(CblasLower, 1, CblasNonUnit, n, k, l, x);
    }
    divide(CblasLower, 1, CblasNonUnit, n, k, l, w);
    if (g != NULL) take_product(lower, n, k, w, x, g, work);
}

wg_status wg_vjp_dpotrs(int order, int uplo, int n, int nrhs, const double *a, double *a_b,
                        int lda, const double *b, double *b_b, int ldb, double *work) {
    if (n <= 0 || nrhs <= 0) return WG_OK;
    CHECK(check_root(order, uplo, n, a, lda));
    CHECK(check_ld(order, n, nrhs, ldb));
    CHECK(check_array(1, b_b));
    CHECK(check_array(a_b != NULL, b));
    CHECK(check_array(1, work));
    const strides sa = lower_of(order, uplo, lda), sb = strides_of(order, ldb);
    const size_t all = (size_t)n * (size_t)n, lines = (size_t)n * (size_t)nrhs;
    double *const l = take(&work, all), *const own = take(&work, all),
                  *const x = take(&work, lines), *const w = take(&work, lines);
    double *const g = a_b != NULL ? own : NULL;
    get(n, n, a, sa, lower, l);
    get(n, nrhs, b_b, sb, all_of_it, w);
    if (g != NULL) {
        get(n, nrhs, b, sb, all_of_it, x);
        get(n, n, a_b, sa, lower, g);
    }
    back_of_root_solve(n, nrhs, l, x, w, g, work);
    put(n, nrhs, w, b_b, sb, all_of_it);
    if (g != NULL) put(n, n, g, a_b, sa, lower);
    return WG_OK;
}

wg_status wg_vjp_dposv(int order, int uplo, int n, int nrhs, const double *a, double *a_b,
                       int lda, const double *b, double *b_b, int ldb, double *work) {
    if (n <= 0) return WG_OK;
    if (nrhs <= 0) return wg_vjp_dpotrf(order, uplo, n, a, a_b, lda, work);
    CHECK(check_root(order, uplo, n, a, lda));
    CHECK(check_ld(order, n, nrhs, ldb));
    CHECK(check_array(1, a_b));
    CHECK(check_array(1, b_b));
    CHECK(check_array(1, b));
    CHECK(check_array(1, work));
    const strides sa = lower_of(order, uplo, lda), sb = strides_of(order, ldb);
    const size_t all = (size_t)n * (size_t)n, lines = (size_t)n * (size_t)nrhs;
    double *const l = take(&work, all), *const g = take(&work, all),
                  *const x = take(&work, lines), *const w = take(&work, lines);
    get(n, n, a, sa, lower, l);
    get(n, nrhs, b, sb, all_of_it, x);
    get(n, nrhs, b_b, sb, all_of_it, w);
    if (is_nothing(n, n, a_b, sa,
                   lower)) { /* -z X', what is above the diagonal added to below */
        back_of_root_solve(n, nrhs, l, x, w, NULL, work);
        memset(g, 0, all * sizeof *g);
        cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, n, nrhs, -1, w, n, x, n, 0, g, n);
        for (int i = 0; i < n; i++) g[i * (ptrdiff_t)(n + 1)] *= 0.5;
    } else {
        get(n, n, a_b, sa, lower, g);
        back_of_root_solve(n, nrhs, l, x, w, g, work);
        wgi_cholesky_bar((size_t)n, l, g, work);
    }
    put(n, n, g, a_b, sa, lower);
    put(n, nrhs, w, b_b, sb, all_of_it);
    return WG_OK;
}
