/* SPDX-License-Identifier: MIT */
/* dense_loops.h - operations on whole matrices without a library: the text that functions are
 * written as where no BLAS is asked for (dense_text.h). Nothing here includes it. Internal.
 *
 * Letters as in dense_blas.h, whose adjoint of the Cholesky factor is used here too. */

/* ---- text ---- */

static void wgi_product(size_t m, size_t n, size_t k, int rule, const double *x, double *y) {
    const double *const b = x + m * k;
    wgi_fill(m * n, y, 0);
    if (rule && (wgi_is_zero(m * k, x) || wgi_is_zero(k * n, b))) return;
    for (size_t j = 0; j < n; j++)
        for (size_t e = 0; e < k; e++)
            for (size_t i = 0; i < m; i++) y[i + j * m] += x[i + e * m] * b[e + j * k];
}

static void wgi_triangle(size_t n, size_t k, int rule, const double *x, double *y) {
    const double *const b = x + n * (n + 1) / 2;
    memcpy(y, b, n * k * sizeof(double));
    if (rule && wgi_is_zero(n * k, b)) return;
    for (size_t c = 0, at = 0; c < n; at += n - c, c++)
        if (x[at] == 0) {
            wgi_fill(n * k, y, NAN);
            return;
        }
    for (size_t j = 0; j < k; j++, y += n) {
        const double *l = x;
        for (size_t c = 0; c < n; l += n - c, c++) {
            y[c] /= *l;
            for (size_t i = c + 1; i < n; i++) y[i] -= l[i - c] * y[c];
        }
    }
}

static void wgi_cholesky(size_t n, const double *x, double *y) {
    const size_t all = n * (n + 1) / 2;
    double *a = y;
    memcpy(y, x, all * sizeof(double));
    for (size_t c = 0; c < n; a += n - c, c++) {
        if (!(*a > 0)) {
            wgi_fill(all, y, NAN);
            return;
        }
        *a = sqrt(*a);
        for (size_t i = c + 1; i < n; i++) a[i - c] /= *a;
        double *to = a + n - c;
        for (size_t j = c + 1; j < n; to += n - j, j++)
            for (size_t i = j; i < n; i++) to[i - j] -= a[i - c] * a[j - c];
    }
}

static void wgi_cholesky_bar(size_t n, int rule, const double *x, double *y, double *work) {
    const size_t all = n * (n + 1) / 2;
    double *const l = work, *const w = l + n * n;
    if (rule && wgi_is_zero(all, x + all)) {
        wgi_fill(all, y, 0);
        return;
    }
    wgi_unpack(n, x, l);
    wgi_unpack(n, x + all, w);
    wgi_cholesky_bar_columns(n, l, w, n);
    wgi_pack(n, w, y);
}

/* Packed factors; pivots, from 1; their sign. */
static void wgi_lu(size_t n, const double *x, double *y) {
    double *const row = y + n * n;
    memcpy(y, x, n * n * sizeof(double));
    if (!wgi_is_finite(n * n, x)) {
        wgi_fill(n * n + n + 1, y, NAN);
        return;
    }
    row[n] = 1;
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c + 1; i < n; i++)
            if (fabs(y[i + c * n]) > fabs(y[best + c * n])) best = i;
        row[c] = (double)(best + 1);
        if (best != c) row[n] = -row[n];
        for (size_t j = 0; j < n; j++) {
            const double v = y[c + j * n];
            y[c + j * n] = y[best + j * n];
            y[best + j * n] = v;
        }
        if (!(fabs(y[c + c * n]) > 0)) {
            wgi_fill(n * n + n + 1, y, NAN);
            return;
        }
        for (size_t i = c + 1; i < n; i++) y[i + c * n] /= y[c + c * n];
        for (size_t j = c + 1; j < n; j++)
            for (size_t i = c + 1; i < n; i++) y[i + j * n] -= y[i + c * n] * y[c + j * n];
    }
}

static void wgi_exchange(size_t n, const double *row, size_t i, double *y) {
    const size_t p = row[i] >= 1 && row[i] <= (double)n ? (size_t)row[i] - 1 : i;
    const double v = y[i];
    y[i] = y[p];
    y[p] = v;
}

/* Packed factors, pivots; right-hand sides b. */
static void wgi_solve(size_t n, size_t k, int turned, int rule, const double *x,
                      const double *b, double *y) {
    const double *const row = x + n * n;
    memcpy(y, b, n * k * sizeof(double));
    if (rule && wgi_is_zero(n * k, b)) return;
    for (size_t j = 0; j < k; j++, y += n) {
        for (size_t i = 0; !turned && i < n; i++) wgi_exchange(n, row, i, y);
        for (size_t c = 0; !turned && c < n; c++)
            for (size_t i = c + 1; i < n; i++) y[i] -= x[i + c * n] * y[c];
        for (size_t c = n; !turned && c-- > 0;) {
            y[c] /= x[c + c * n];
            for (size_t i = 0; i < c; i++) y[i] -= x[i + c * n] * y[c];
        }
        for (size_t c = 0; turned && c < n; c++) {
            for (size_t i = 0; i < c; i++) y[c] -= x[i + c * n] * y[i];
            y[c] /= x[c + c * n];
        }
        for (size_t c = n; turned && c-- > 0;)
            for (size_t i = c + 1; i < n; i++) y[c] -= x[i + c * n] * y[i];
        for (size_t i = n; turned && i-- > 0;) wgi_exchange(n, row, i, y);
    }
}

static void wgi_logdet(size_t n, const double *x, double *y) {
    *y = 0;
    for (size_t i = 0; i < n; i++) *y += log(fabs(x[i + i * n]));
}

/* ---- end of the text ---- */
