/* SPDX-License-Identifier: MIT */
/* The rows of dense.def as a table; operations on whole matrices in plain arrays, by the
 * functions of dense_blas.h. */
#include "dense_values.h"

#include <math.h>
#include <string.h>

#include "dense.h"
#include "dense_blas.h"
#include "products.h"

enum { RULE = WGI_DENSE_RULE, TURNED = WGI_DENSE_TURNED };

#define DENSE(NAME, stem, sizes, flags, operands, results, flops, matrices, beside)            \
    [WGI_DENSE_##NAME] = {#stem, sizes, flags, matrices, WGI_DENSE_##beside},
const wgi_dense_row wgi_dense_rows[WGI_DENSE_KINDS] = {
#include "dense.def"
};
#undef DENSE

/* ---- sizes ---- */

static const size_t most = SIZE_MAX / 64;
static size_t plus(size_t a, size_t b) { return a > most - b ? most : a + b; }
static size_t times(size_t a, size_t b) { return b != 0 && a > most / b ? most : a * b; }
static size_t square(size_t n) { return times(n, n); }
static size_t tri(size_t n) { return wgi_dense_triangle(n); }

/* The columns that are formulas of the sizes. */
typedef enum { OPERANDS, RESULTS, FLOPS } column;
static size_t count(const wgi_dense_op *op, column which) {
    const size_t n = op->size[0], k = op->size[1], l = op->size[2];
    switch (op->kind) {
#define DENSE(NAME, stem, sizes, flags, operands, results, flops, ...)                         \
    case WGI_DENSE_##NAME:                                                                     \
        return which == OPERANDS ? operands : which == RESULTS ? results : flops;
#include "dense.def"
#undef DENSE
    default:
        return 0;
    }
}

size_t wgi_dense_operands(const wgi_dense_op *op) { return count(op, OPERANDS); }
size_t wgi_dense_results(const wgi_dense_op *op) { return count(op, RESULTS); }
size_t wgi_dense_flops(const wgi_dense_op *op) { return count(op, FLOPS); }

size_t wgi_dense_work(const wgi_dense_op *op) {
    const wgi_dense_row *const row = &wgi_dense_rows[op->kind];
    const size_t n = op->size[0];
    return row->matrices * wgi_room_of(n * n) +
           (row->beside == WGI_DENSE_BLOCK    ? wgi_room_of(wgi_cholesky_bar_room())
            : row->beside == WGI_DENSE_PIVOTS ? wgi_rounded(n * sizeof(int))
                                              : 0);
}

int wgi_dense_is_empty(const wgi_dense_op *op) {
    for (unsigned i = 0; i < wgi_dense_rows[op->kind].sizes; i++)
        if (op->size[i] == 0) return 1;
    return 0;
}

int wgi_dense_is_few(const wgi_dense_op *op) {
    return op->kind == WGI_DENSE_PRODUCT &&
           wgi_products_few(op->size[0], op->size[1], op->size[2]);
}

/* ---- values ---- */

static int rule(const wgi_dense_op *op) { return (op->flags & WGI_DENSE_RULE) != 0; }

static void product_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    const size_t n = op->size[0], k = op->size[1], l = op->size[2];
    const double *const b = x + n * l;
    (void)work;
    if (!wgi_products_few(n, k, l)) {
        wgi_product_blas(n, k, l, rule(op), x, y);
        return;
    }
    wgi_fill(n * k, y, 0);
    if (rule(op) && (wgi_is_zero(n * l, x) || wgi_is_zero(l * k, b))) return;
    /* views have no const: what is multiplied is only read */
    wgi_view_mul(1, wgi_view_packed((double *)(uintptr_t)x, n, l),
                 wgi_view_packed((double *)(uintptr_t)b, l, k), wgi_view_packed(y, n, k));
}

static void triangle_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_triangle_blas(op->size[0], op->size[1], rule(op), x, y, work);
}

static void cholesky_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_cholesky_blas(op->size[0], x, y, work);
}

static void cholesky_bar_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_cholesky_bar_blas(op->size[0], WGI_CHOLESKY_BLOCK, rule(op), x, y, work);
}

static void lu_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_lu_blas(op->size[0], x, y, work);
}

static void solve_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    const size_t n = op->size[0], b_at = 2 * n * n + n;
    wgi_solve_blas(n, op->size[1], (op->flags & TURNED) != 0, rule(op), x, x + b_at, y, work);
}

static void logdet_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    (void)work;
    *y = 0;
    for (size_t i = 0; i < op->size[0]; i++) *y += log(fabs(x[i * (op->size[0] + 1)]));
}

static void det_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_det(op->size[0], x, y, work);
}

static void cofactor_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_cofactor(op->size[0], x, y, work);
}

static void cofactor_bar_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    wgi_cofactor_bar(op->size[0], rule(op), x, y, work);
}

void wgi_dense_value(const wgi_dense_op *op, const double *x, double *y, void *work) {
    if (wgi_dense_is_empty(op)) {
        wgi_fill(wgi_dense_results(op), y, wgi_dense_of_nothing(op));
        return;
    }
    switch (op->kind) {
#define DENSE(NAME, stem, ...)                                                                 \
    case WGI_DENSE_##NAME:                                                                     \
        stem##_value(op, x, y, work);                                                          \
        break;
#include "dense.def"
#undef DENSE
    default:
        break;
    }
}

size_t wgi_cholesky_bar_room(void) { return (size_t)WGI_CHOLESKY_BLOCK * WGI_CHOLESKY_BLOCK; }

void wgi_cholesky_bar(size_t n, const double *l, double *w, double *work) {
    wgi_cholesky_bar_blocks(n, WGI_CHOLESKY_BLOCK, l, w, work);
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

const wg_block_op wgi_op_dense = {
    "a dense operation", 0, shape, value, vjp, NULL, NULL, NULL, NULL};
