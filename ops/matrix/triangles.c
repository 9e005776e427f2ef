/* SPDX-License-Identifier: MIT */
/* Diagonals and triangles (moves.h). */
#include <limits.h>
#include <wengert/data.h>
#include "moves.h"

static wg_status diag_shape(wg_block *b) {
    if (!wgi_is_vector(&b->in[0]) && wgi_length(&b->in[0]) != 0)
        return wgi_block_refuse(b, WG_ESHAPE, "not a vector");
    b->out[0].rows = b->out[0].cols = wgi_length(&b->in[0]);
    return WG_OK;
}

static void diag(wgi_view x, size_t n, double *y) {
    x = wgi_view_column(x);
    wgi_move_clear(y, n * n);
    for (size_t i = 0; i < n; i++) y[i * (n + 1)] = x.p[i * wgi_view_down(x)];
}

static wg_status diag_value(wg_block *b) {
    diag(wgi_view_value(&b->in[0]), b->out[0].rows, b->out[0].value);
    return WG_OK;
}

static wg_status diag_vjp(wg_block *b) {
    const wgi_view x = wgi_view_column(wgi_view_bar(&b->in[0]));
    const size_t n = b->out[0].rows;
    for (size_t i = 0; i < n; i++) x.p[i * wgi_view_down(x)] += b->out[0].bar[i * (n + 1)];
    return WG_OK;
}

static wg_status diag_jvp(wg_block *b) {
    diag(wgi_view_bar(&b->in[0]), b->out[0].rows, b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_diag = {"wg_diag", WGI_MOVES, diag_shape, diag_value, diag_vjp,
                                 diag_jvp,  NULL,      NULL,       NULL};

wg_mat wg_diag(wg_tape *t, wg_mat x) { return wgi_apply_one(t, &wgi_op_diag, NULL, 0, 1, &x); }

struct band {
    ptrdiff_t k;
    unsigned upper;
};

static wg_status band_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

/* The rows [low, high) of column j that stay. */
static void band_rows(const struct band *w, size_t rows, size_t j, size_t *low, size_t *high) {
    /* first row on or below diagonal k: i >= j - k */
    const ptrdiff_t edge = (ptrdiff_t)j - w->k + (w->upper ? 1 : 0), n = (ptrdiff_t)rows;
    const size_t cut = (size_t)(edge < 0 ? 0 : edge > n ? n : edge);
    *low = w->upper ? 0 : cut;
    *high = w->upper ? cut : rows;
}

static void band(const wg_block *b, wgi_view x, double *y) {
    const struct band *const w = (const struct band *)b->params;
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    for (size_t j = 0; j < x.cols; j++, y += x.rows) {
        size_t low, high;
        band_rows(w, x.rows, j, &low, &high);
        wgi_move_clear(y, low);
        for (size_t i = low; i < high; i++) y[i] = x.p[i * down + j * across];
        wgi_move_clear(y + high, x.rows - high);
    }
}

static wg_status band_value(wg_block *b) {
    band(b, wgi_view_value(&b->in[0]), b->out[0].value);
    return WG_OK;
}

static wg_status band_vjp(wg_block *b) {
    const struct band *const w = (const struct band *)b->params;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    const size_t down = wgi_view_down(x), across = wgi_view_across(x);
    const double *bar = b->out[0].bar;
    for (size_t j = 0; j < x.cols; j++, bar += x.rows) {
        size_t low, high;
        band_rows(w, x.rows, j, &low, &high);
        for (size_t i = low; i < high; i++) x.p[i * down + j * across] += bar[i];
    }
    return WG_OK;
}

static wg_status band_jvp(wg_block *b) {
    band(b, wgi_view_bar(&b->in[0]), b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_tril = {"wg_tril", WGI_MOVES, band_shape, band_value, band_vjp,
                                 band_jvp,  NULL,      NULL,       NULL};
const wg_block_op wgi_op_triu = {"wg_triu", WGI_MOVES, band_shape, band_value, band_vjp,
                                 band_jvp,  NULL,      NULL,       NULL};

static wg_mat triangle(wg_tape *t, const wg_block_op *op, wg_mat x, ptrdiff_t k,
                       unsigned upper) {
    /* Beyond the largest matrix all diagonals are the same. */
    const struct band w = {k > INT_MAX ? INT_MAX : k < -INT_MAX ? -INT_MAX : k, upper};
    return wgi_apply_one(t, op, &w, sizeof w, 1, &x);
}

wg_mat wg_tril(wg_tape *t, wg_mat x, ptrdiff_t k) { return triangle(t, &wgi_op_tril, x, k, 0); }
wg_mat wg_triu(wg_tape *t, wg_mat x, ptrdiff_t k) { return triangle(t, &wgi_op_triu, x, k, 1); }
