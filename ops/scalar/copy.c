/* SPDX-License-Identifier: MIT */
/* Copies: of a view as a matrix of its own, and of its elements in another shape.
 *
 * y = x;  x_ += y_;  yt = xt. */
#include "copy.h"

/* y = x, or y += x, element by element in column-major order of x. */
static void copy(size_t rows, size_t cols, const double *x, size_t ld, unsigned trans,
                 double *y) {
    const size_t down = trans ? ld : 1, across = trans ? 1 : ld;
    for (size_t j = 0; j < cols; j++)
        for (size_t i = 0; i < rows; i++) y[j * rows + i] = x[i * down + j * across];
}

static wg_status copy_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

static wg_status reshape_shape(wg_block *b) {
    const size_t *const to = (const size_t *)b->params;
    if (to[0] * to[1] != b->in[0].rows * b->in[0].cols) {
        b->why = "another number of elements";
        return WG_ESHAPE;
    }
    b->out[0].rows = to[0];
    b->out[0].cols = to[1];
    return WG_OK;
}

/* Results are contiguous: their shape does not matter here. */
static wg_status value(wg_block *b) {
    const wg_block_arg *const x = &b->in[0];
    copy(x->rows, x->cols, x->value, x->ld, x->trans, b->out[0].value);
    return WG_OK;
}

static wg_status vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0];
    const double *w = b->out[0].bar;
    const size_t down = x->trans ? x->bar_ld : 1, across = x->trans ? 1 : x->bar_ld;
    for (size_t j = 0; j < x->cols; j++)
        for (size_t i = 0; i < x->rows; i++) x->bar[i * down + j * across] += *w++;
    return WG_OK;
}

static wg_status jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0];
    copy(x->rows, x->cols, x->bar, x->bar_ld, x->trans, b->out[0].bar);
    return WG_OK;
}

/* WG_OP_EXPANDS: of vjp, which is the derivative. */
enum { MOVES = WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_MOVES | WG_OP_EXPANDS };

const wg_block_op wgi_op_copy = {"wg_mat_copy", MOVES, copy_shape, value, vjp,
                                 jvp,           NULL,  NULL,       NULL};
const wg_block_op wgi_op_reshape = {
    "wg_mat_reshape", MOVES, reshape_shape, value, vjp, jvp, NULL, NULL, NULL};
