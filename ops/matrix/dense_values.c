/* SPDX-License-Identifier: MIT */
/* dense_values.c - see dense_values.h. */
#include "dense_values.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "dense.h"
#include "products.h"

/* ---- sizes ---- */

static const size_t most = SIZE_MAX / 64;
static size_t plus(size_t a, size_t b) { return a > most - b ? most : a + b; }
static size_t times(size_t a, size_t b) { return b != 0 && a > most / b ? most : a * b; }
static size_t square(size_t n) { return times(n, n); }

size_t wgi_dense_flops(const wgi_dense_op *op) {
    const size_t *const s = op->size;
    const size_t n3 = times(square(s[0]), s[0]);
    switch (op->kind) {
    case WGI_DENSE_PRODUCT:
        return times(2, times(times(s[0], s[1]), s[2]));
    case WGI_DENSE_TRIANGLE:
        return times(square(s[0]), s[1]);
    case WGI_DENSE_CHOLESKY:
        return n3 / 3;
    case WGI_DENSE_SOLVE:
        return times(2, times(square(s[0]), s[1]));
    case WGI_DENSE_LOGDET:
        return s[0];
    default:
        return n3 / 3 * 2;
    }
}

size_t wgi_dense_operands(const wgi_dense_op *op) {
    const size_t *const s = op->size;
    switch (op->kind) {
    case WGI_DENSE_PRODUCT:
        return plus(times(s[0], s[2]), times(s[2], s[1]));
    case WGI_DENSE_TRIANGLE:
        return plus(wgi_dense_triangle(s[0]), times(s[0], s[1]));
    case WGI_DENSE_CHOLESKY:
        return wgi_dense_triangle(s[0]);
    case WGI_DENSE_POTRF_BAR:
        return 2 * wgi_dense_triangle(s[0]);
    case WGI_DENSE_LU:
        return square(s[0]);
    case WGI_DENSE_SOLVE:
        return plus(plus(2 * square(s[0]), s[0]), times(s[0], s[1]));
    default:
        return plus(2 * square(s[0]), s[0]);
    }
}

size_t wgi_dense_results(const wgi_dense_op *op) {
    const size_t *const s = op->size;
    switch (op->kind) {
    case WGI_DENSE_PRODUCT:
    case WGI_DENSE_TRIANGLE:
    case WGI_DENSE_SOLVE:
        return times(s[0], s[1]);
    case WGI_DENSE_CHOLESKY:
    case WGI_DENSE_POTRF_BAR:
        return wgi_dense_triangle(s[0]);
    case WGI_DENSE_LU:
        return plus(plus(square(s[0]), s[0]), 1);
    default:
        return 1;
    }
}

size_t wgi_dense_work(const wgi_dense_op *op) {
    const size_t n = op->size[0], matrix = wgi_room_of(n * n);
    switch (op->kind) {
    case WGI_DENSE_TRIANGLE:
    case WGI_DENSE_CHOLESKY:
        return matrix;
    case WGI_DENSE_POTRF_BAR:
        return 2 * matrix + wgi_room_of(wgi_cholesky_bar_room());
    case WGI_DENSE_LU:
    case WGI_DENSE_SOLVE:
        return wgi_room(n * sizeof(int));
    default:
        return 0;
    }
}

int wgi_dense_is_empty(const wgi_dense_op *op) {
    return op->size[0] == 0 || wgi_dense_results(op) == 0 ||
           (op->kind == WGI_DENSE_PRODUCT && op->size[2] == 0);
}

int wgi_dense_is_few(const wgi_dense_op *op) {
    return op->kind == WGI_DENSE_PRODUCT &&
           wgi_products_few(op->size[0], op->size[1], op->size[2]);
}

/* ---- pieces ---- */

static int is_nothing(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) return 0;
    return 1;
}

static void fill(size_t n, double *y, double value) {
    for (size_t i = 0; i < n; i++) y[i] = value;
}

static void unpack(size_t n, const double *x, double *a) {
    for (size_t j = 0; j < n; x += n - j, j++) {
        fill(j, a + j * n, 0);
        memcpy(a + j * (n + 1), x, (n - j) * sizeof *a);
    }
}

static void pack(size_t n, const double *a, double *y) {
    for (size_t j = 0; j < n; y += n - j, j++) memcpy(y, a + j * (n + 1), (n - j) * sizeof *a);
}

static double *lower(size_t n, const double *x, char **work) {
    double *const a = wgi_take(work, n * n);
    unpack(n, x, a);
    return a;
}

/* ---- kinds ---- */

static void product(const wgi_dense_op *op, const double *x, double *y) {
    const size_t m = op->size[0], n = op->size[1], k = op->size[2];
    const double *const b = x + m * k;
    memset(y, 0, m * n * sizeof *y);
    if ((op->flags & WGI_DENSE_RULE) && (is_nothing(m * k, x) || is_nothing(k * n, b))) return;
    /* views have no const: what is multiplied is only read */
    wgi_view_mul(1, wgi_view_packed((double *)(uintptr_t)x, m, k),
                 wgi_view_packed((double *)(uintptr_t)b, k, n), wgi_view_packed(y, m, n));
}

static void triangle(const wgi_dense_op *op, const double *x, double *y, char *work) {
    const size_t n = op->size[0], k = op->size[1];
    const double *const b = x + wgi_dense_triangle(n);
    memcpy(y, b, n * k * sizeof *y);
    if ((op->flags & WGI_DENSE_RULE) && is_nothing(n * k, b)) return;
    const double *const l = lower(n, x, &work);
    for (size_t i = 0; i < n; i++)
        if (l[i * (n + 1)] == 0) {
            fill(n * k, y, NAN);
            return;
        }
    if (k == 1)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, wgi_int(n), l,
                    wgi_int(n), y, 1);
    else
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit,
                    wgi_int(n), wgi_int(k), 1, l, wgi_int(n), y, wgi_int(n));
}

static void cholesky(size_t n, const double *x, double *y, char *work) {
    double *const a = lower(n, x, &work);
    const int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', wgi_int(n), a, wgi_int(n));
    if (info != 0) fill(wgi_dense_triangle(n), y, NAN);
    else pack(n, a, y);
}

static void cholesky_bar(const wgi_dense_op *op, const double *x, double *y, char *work) {
    const size_t n = op->size[0], elements = wgi_dense_triangle(n);
    if ((op->flags & WGI_DENSE_RULE) && is_nothing(elements, x + elements)) {
        fill(elements, y, 0);
        return;
    }
    const double *const l = lower(n, x, &work);
    double *const w = lower(n, x + elements, &work);
    wgi_cholesky_bar(n, l, w, (double *)(void *)work);
    pack(n, w, y);
}

/* LAPACK looks for pivots among numbers that can be compared. */
static int all_finite(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static void lu(size_t n, const double *x, double *y, char *work) {
    int *const pivot = wgi_take_int(&work, n), order = wgi_int(n);
    memcpy(y, x, n * n * sizeof *y);
    if (!all_finite(n * n, x) ||
        LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, y, order, pivot) != 0) {
        fill(n * n + n + 1, y, NAN);
        return;
    }
    y += n * n;
    y[n] = 1;
    for (size_t i = 0; i < n; i++) {
        y[i] = pivot[i];
        if ((size_t)pivot[i] != i + 1) y[n] = -y[n];
    }
}

static void solve(const wgi_dense_op *op, const double *x, double *y, char *work) {
    const size_t n = op->size[0], k = op->size[1];
    const double *const row = x + n * n, *const b = row + n + n * n;
    int *const pivot = wgi_take_int(&work, n);
    memcpy(y, b, n * k * sizeof *y);
    if ((op->flags & WGI_DENSE_RULE) && is_nothing(n * k, b)) return;
    for (size_t i = 0; i < n; i++) {
        if (!(row[i] >= 1 && row[i] <= (double)n)) {
            fill(n * k, y, NAN);
            return;
        }
        pivot[i] = (int)row[i];
    }
    (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, op->flags & WGI_DENSE_TURNED ? 'T' : 'N',
                              wgi_int(n), wgi_int(k), x, wgi_int(n), pivot, y, wgi_int(n));
}

static double logdet(size_t n, const double *lu_) {
    double s = 0;
    for (size_t i = 0; i < n; i++) s += log(fabs(lu_[i * (n + 1)]));
    return s;
}

void wgi_dense_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    const size_t n = op->size[0];
    if (wgi_dense_is_empty(op)) {
        fill(wgi_dense_results(op), y, op->kind == WGI_DENSE_LU ? 1 : 0);
        return;
    }
    switch (op->kind) {
    case WGI_DENSE_PRODUCT:
        product(op, x, y);
        return;
    case WGI_DENSE_TRIANGLE:
        triangle(op, x, y, work);
        return;
    case WGI_DENSE_CHOLESKY:
        cholesky(n, x, y, work);
        return;
    case WGI_DENSE_POTRF_BAR:
        cholesky_bar(op, x, y, work);
        return;
    case WGI_DENSE_LU:
        lu(n, x, y, work);
        return;
    case WGI_DENSE_SOLVE:
        solve(op, x, y, work);
        return;
    default:
        *y = logdet(n, x);
    }
}

/* ---- in a recording ---- */

static wg_status shape(wg_block *b) {
    const wgi_dense_op *const op = b->params;
    b->out[0].rows = wgi_dense_results(op), b->out[0].cols = 1;
    b->work_bytes = wgi_dense_work(op);
    return WG_OK;
}

static wg_status value(wg_block *b) {
    wgi_dense_value(b->params, b->in[0].value, b->out[0].value, b->work);
    return WG_OK;
}

/* Never swept: such a tape is taken apart at once. */
static wg_status vjp(wg_block *b) {
    (void)b;
    return WG_EMODE;
}

const wg_block_op wgi_op_dense = {"a dense operation", 0, shape, value, vjp, NULL, NULL, NULL};
