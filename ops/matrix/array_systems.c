/* SPDX-License-Identifier: MIT */
/* LAPACK on the caller's arrays of variables. Letters: array_calls.h.
 *
 * A(perm, :) = L U: pivot[i] is the row, from 1, that row i changes places with, one after the
 * other. An upper triangle U, A = U' U, is the lower one of the transpose, L = U'. */
#include <wengert/solve.h>
#include <wengert/spectral.h>
#include "array_calls.h"

/* ---- systems by LU ----------------------------------------------------------------------- */

/* Two arrays of n sizes. NULL after a failure of the tape. */
static size_t *sizes(call c, size_t n, wgi_home *home) {
    void *room = NULL;
    wg_status s = WG_ENOMEM;
    if (n <= SIZE_MAX / (2 * sizeof(size_t)))
        s = wgi_home_obtain(wgi_core_of(c.t), 2 * n * sizeof(size_t), home, &room);
    if (s != WG_OK)
        (void)wgi_fail(wgi_core_of(c.t), s, "%s: no memory for %zu pivots", c.name, n);
    return room;
}

static void swap(size_t *a, size_t *b) {
    const size_t x = *a;
    *a = *b;
    *b = x;
}

static void factor(call c, int order, size_t n, wg_real *a, int lda, int *pivot) {
    const strides s = lying(c, order, n, n, lda);
    wgi_home home;
    size_t *const perm = sizes(c, n, &home);
    wg_mat lower = wg_mat_failed(n, n), upper = lower;
    if (pivot == NULL)
        (void)wgi_fail(wgi_core_of(c.t), WG_ENULL, "%s: the array of pivots is NULL", c.name);
    if (perm != NULL &&
        wg_lu_factors(c.t, read_own(c, n, n, a, s, all_of_it), &lower, &upper, perm) == WG_OK) {
        size_t *const now = perm + n;
        for (size_t i = 0; i < n; i++) now[i] = i;
        for (size_t i = 0; i < n; i++) {
            size_t k = i;
            while (now[k] != perm[i]) k++;
            swap(&now[i], &now[k]);
            pivot[i] = (int)k + 1;
        }
        for (size_t i = 0; i < n; i++)
            if (wg_mat_at(upper, i, i).value == 0)
                (void)wgi_fail(wgi_core_of(c.t), WG_ESINGULAR,
                               "%s: pivot %zu of the matrix of order %zu is 0", c.name, i, n);
        if (ended(c)) lower = upper = wg_mat_failed(n, n);
    }
    if (perm != NULL) wgi_home_release(&home, perm);
    put_matrix(upper, n, n, a, s, (part){'U', 0});
    put_matrix(lower, n, n, a, s, (part){'L', 1});
}

static void solve(call c, int order, int trans, size_t n, size_t nrhs, wg_array a, int lda,
                  const int *pivot, wg_real *b, int ldb) {
    const strides s = lying(c, order, n, nrhs, ldb), of = lying(c, order, n, n, lda);
    const char turn = flag(trans);
    wgi_home home;
    size_t *const perm = sizes(c, n, &home);
    if (pivot == NULL) (void)wgi_fail(wgi_core_of(c.t), WG_ENULL, "%s: the array of pivots is NULL", c.name);
    for (size_t i = 0; i < n && perm != NULL; i++) perm[i] = i;
    for (size_t i = 0; i < n && perm != NULL && pivot != NULL; i++) {
        if (pivot[i] < 1 || (size_t)pivot[i] > n) {
            (void)wgi_fail(wgi_core_of(c.t), WG_EARG, "%s: pivot %zu is %d, of order %zu",
                           c.name, i, pivot[i], n);
            break;
        }
        swap(&perm[i], &perm[pivot[i] - 1]);
    }
    const wg_mat L = read_matrix(c, n, n, a, of, (part){'L', 1}),
                 U = read_matrix(c, n, n, a, of, (part){'U', 0});
    wg_mat x = read_own(c, n, nrhs, b, s, all_of_it);
    if (ended(c) || perm == NULL) put_nothing(n, nrhs, b, s);
    else if (turn == 'N') {
        x = wg_trsm(c.t, 'L', 'L', 'N', 'U', 1, L, wg_take_rows(c.t, x, n, perm));
        put_matrix(wg_trsm(c.t, 'L', 'U', 'N', 'N', 1, U, x), n, nrhs, b, s, all_of_it);
    } else { /* U' L' P X = B */
        x = wg_trsm(c.t, 'L', 'L', 'T', 'U', 1, L, wg_trsm(c.t, 'L', 'U', turn, 'N', 1, U, x));
        for (size_t i = 0; i < n; i++)
            put_matrix(wg_mat_row(x, i), 1, nrhs, b + (ptrdiff_t)perm[i] * s.down, s,
                       all_of_it);
    }
    if (perm != NULL) wgi_home_release(&home, perm);
}

int wg_dgetrf(wg_tape *t, int order, int m, int n, wg_real *a, int lda, int *pivot) {
    const call c = {t, "wg_dgetrf"};
    if (t == NULL) return 1;
    if (m != n)
        (void)wgi_fail(wgi_core_of(t), WG_ESHAPE, "wg_dgetrf: %dx%d is not square", m, n);
    else if (n > 0) factor(c, order, (size_t)n, a, lda, pivot);
    return ended(c);
}

int wg_dgetrs(wg_tape *t, int order, int trans, int n, int nrhs, wg_array a, int lda,
              const int *pivot, wg_real *b, int ldb) {
    const call c = {t, "wg_dgetrs"};
    if (!is_idle(c, n) && nrhs > 0)
        solve(c, order, trans, (size_t)n, (size_t)nrhs, a, lda, pivot, b, ldb);
    return ended(c);
}

int wg_dgesv(wg_tape *t, int order, int n, int nrhs, wg_real *a, int lda, int *pivot,
             wg_real *b, int ldb) {
    const call c = {t, "wg_dgesv"};
    if (is_idle(c, n)) return ended(c);
    factor(c, order, (size_t)n, a, lda, pivot);
    if (nrhs > 0)
        solve(c, order, 'N', (size_t)n, (size_t)nrhs, wg_array_of_variables(a), lda, pivot, b,
              ldb);
    return ended(c);
}

/* ---- systems by Cholesky ----------------------------------------------------------------- */

static void root(call c, int order, int uplo, size_t n, wg_real *a, int lda) {
    const part p = {'L', 0};
    const wg_mat A = read_symmetric(c, n, wg_array_of_variables(a), order, uplo, lda);
    put_matrix(wg_cholesky(c.t, A), n, n, a, lower_strides(c, order, uplo, n, lda), p);
}

static void solve_root(call c, int order, int uplo, size_t n, size_t nrhs, wg_array a, int lda,
                       wg_real *b, int ldb) {
    const strides s = lying(c, order, n, nrhs, ldb), of = lower_strides(c, order, uplo, n, lda);
    const wg_mat L = read_matrix(c, n, n, a, of, (part){'L', 0});
    const wg_mat y =
        wg_trsm(c.t, 'L', 'L', 'N', 'N', 1, L, read_own(c, n, nrhs, b, s, all_of_it));
    put_matrix(wg_trsm(c.t, 'L', 'L', 'T', 'N', 1, L, y), n, nrhs, b, s, all_of_it);
}

int wg_dpotrf(wg_tape *t, int order, int uplo, int n, wg_real *a, int lda) {
    const call c = {t, "wg_dpotrf"};
    if (!is_idle(c, n)) root(c, order, uplo, (size_t)n, a, lda);
    return ended(c);
}

int wg_dpotrs(wg_tape *t, int order, int uplo, int n, int nrhs, wg_array a, int lda, wg_real *b,
              int ldb) {
    const call c = {t, "wg_dpotrs"};
    if (!is_idle(c, n) && nrhs > 0)
        solve_root(c, order, uplo, (size_t)n, (size_t)nrhs, a, lda, b, ldb);
    return ended(c);
}

int wg_dposv(wg_tape *t, int order, int uplo, int n, int nrhs, wg_real *a, int lda, wg_real *b,
             int ldb) {
    const call c = {t, "wg_dposv"};
    if (is_idle(c, n)) return ended(c);
    root(c, order, uplo, (size_t)n, a, lda);
    if (nrhs > 0)
        solve_root(c, order, uplo, (size_t)n, (size_t)nrhs, wg_array_of_variables(a), lda, b,
                   ldb);
    return ended(c);
}

/* ---- least squares, eigenvalues ---------------------------------------------------------- */

int wg_dgels(wg_tape *t, int order, int trans, int m, int n, int nrhs, wg_real *a, int lda,
             wg_real *b, int ldb) {
    const call c = {t, "wg_dgels"};
    if (is_idle(c, m) || n <= 0 || nrhs <= 0) return ended(c);
    const size_t rows = (size_t)m, cols = (size_t)n, k = (size_t)nrhs;
    const char turn = flag(trans);
    if (turn != 'N' && turn != 'T')
        (void)wgi_fail(wgi_core_of(t), WG_EARG, "%s: trans is neither 'N' nor 'T'", c.name);
    const size_t from = turn == 'T' ? cols : rows, to = turn == 'T' ? rows : cols;
    const strides s = lying(c, order, from > to ? from : to, k, ldb),
                  of = lying(c, order, rows, cols, lda);
    const wg_mat A = read_own(c, rows, cols, a, of, all_of_it);
    const wg_mat x = wg_lstsq(t, turn == 'T' ? wg_mat_transpose(A) : A,
                              read_own(c, from, k, b, s, all_of_it));
    put_matrix(x, to, k, b, s, all_of_it);
    if (from > to && b != NULL) put_nothing(from - to, k, b + (ptrdiff_t)to * s.down, s);
    put_nothing(rows, cols, a, of);
    return ended(c);
}

int wg_dsyev(wg_tape *t, int order, int job, int uplo, int n, wg_real *a, int lda, wg_real *w) {
    const call c = {t, "wg_dsyev"};
    if (is_idle(c, n)) return ended(c);
    const size_t k = (size_t)n;
    const strides s = lying(c, order, k, k, lda);
    const wg_mat A = read_symmetric(c, k, wg_array_of_variables(a), order, uplo, lda);
    wg_mat values = wg_mat_failed(k, 1), vectors = wg_mat_failed(k, k);
    if (flag(job) != 'V' && flag(job) != 'N')
        (void)wgi_fail(wgi_core_of(t), WG_EARG, "%s: job is neither 'N' nor 'V'", c.name);
    else if (flag(job) == 'V') (void)wg_eigh(t, A, &values, &vectors);
    else values = wg_eigvalsh(t, A);
    put_vector(values, k, w, 1);
    put_matrix(vectors, k, k, a, s, all_of_it);
    return ended(c);
}
