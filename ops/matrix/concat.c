/* SPDX-License-Identifier: MIT */
/* Joining and padding (moves.h). */
#include <wengert/data.h>
#include "moves.h"

/* params: unsigned, 1: beside each other. */
static wg_status concat_shape(wg_block *b) {
    const unsigned beside = *(const unsigned *)b->params;
    wg_block_arg *const y = &b->out[0];
    y->rows = b->in[0].rows;
    y->cols = b->in[0].cols;
    for (size_t k = 1; k < b->inputs; k++) {
        if (beside ? b->in[k].rows != y->rows : b->in[k].cols != y->cols)
            return wgi_block_refuse(b, WG_ESHAPE, beside ? "unequal rows" : "unequal columns");
        if (beside) y->cols += b->in[k].cols;
        else y->rows += b->in[k].rows;
    }
    return WG_OK;
}

/* Does something with every operand and its place in the result: y, of leading dimension ld. */
enum concat_step { CONCAT_VALUE, CONCAT_VJP, CONCAT_JVP };

static void concat(const wg_block *b, enum concat_step step) {
    const unsigned beside = *(const unsigned *)b->params;
    const size_t ld = b->out[0].ld;
    double *y = step == CONCAT_VALUE ? b->out[0].value : b->out[0].bar;
    for (size_t k = 0; k < b->inputs; k++) {
        const wg_block_arg *const a = &b->in[k];
        if (a->rows == 0 || a->cols == 0) continue;
        const wgi_view x = step == CONCAT_VALUE ? wgi_view_value(a) : wgi_view_bar(a);
        if (step == CONCAT_VJP) {
            if (x.p != NULL) wgi_move_back(x, y, ld);
        } else if (x.p != NULL) wgi_move_out(x, y, ld);
        else
            for (size_t j = 0; j < x.cols; j++) wgi_move_clear(y + j * ld, x.rows);
        y += beside ? a->cols * ld : a->rows;
    }
}

static wg_status concat_value(wg_block *b) {
    concat(b, CONCAT_VALUE);
    return WG_OK;
}
static wg_status concat_vjp(wg_block *b) {
    concat(b, CONCAT_VJP);
    return WG_OK;
}
static wg_status concat_jvp(wg_block *b) {
    concat(b, CONCAT_JVP);
    return WG_OK;
}

const wg_block_op wgi_op_concat_rows = {
    "wg_concat_rows", WGI_MOVES, concat_shape, concat_value, concat_vjp,
    concat_jvp,       NULL,      NULL,         NULL};
const wg_block_op wgi_op_concat_cols = {
    "wg_concat_cols", WGI_MOVES, concat_shape, concat_value, concat_vjp,
    concat_jvp,       NULL,      NULL,         NULL};

enum { MOST = 16 }; /* operands of wg_apply */

/* More of them in parts of parts, so that an element is copied once for each level. */
static wg_mat join(wg_tape *t, const wg_block_op *op, unsigned beside, size_t count,
                   const wg_mat *x) {
    wg_mat part[MOST];
    if (count == 0) return wg_mat_constant(t, 0, 0, &(const double){0}, 1);
    if (count > MOST && x != NULL) {
        for (size_t k = 0, from = 0; k < MOST; k++) {
            const size_t n = (count - from) / (MOST - k);
            part[k] = join(t, op, beside, n, x + from);
            from += n;
        }
        count = MOST, x = part;
    }
    return wgi_apply_one(t, op, &beside, sizeof beside, count <= MOST ? count : MOST, x);
}

wg_mat wg_concat_rows(wg_tape *t, size_t count, const wg_mat *x) {
    return join(t, &wgi_op_concat_rows, 0, count, x);
}
wg_mat wg_concat_cols(wg_tape *t, size_t count, const wg_mat *x) {
    return join(t, &wgi_op_concat_cols, 1, count, x);
}

struct padding {
    size_t above, below, left, right;
    double value;
};

static wg_status pad_shape(wg_block *b) {
    const struct padding *const p = (const struct padding *)b->params;
    wg_block_arg *const y = &b->out[0];
    if (__builtin_add_overflow(b->in[0].rows, p->above, &y->rows) ||
        __builtin_add_overflow(y->rows, p->below, &y->rows) ||
        __builtin_add_overflow(b->in[0].cols, p->left, &y->cols) ||
        __builtin_add_overflow(y->cols, p->right, &y->cols))
        return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    return WG_OK;
}

static void pad(const wg_block *b, wgi_view x, double around, double *y) {
    const struct padding *const p = (const struct padding *)b->params;
    for (size_t i = 0, n = wgi_length(&b->out[0]); i < n; i++) y[i] = around;
    if (!wgi_move_empty(x))
        wgi_move_out(x, y + p->left * b->out[0].ld + p->above, b->out[0].ld);
}

static wg_status pad_value(wg_block *b) {
    pad(b, wgi_view_value(&b->in[0]), ((const struct padding *)b->params)->value,
        b->out[0].value);
    return WG_OK;
}

static wg_status pad_vjp(wg_block *b) {
    const struct padding *const p = (const struct padding *)b->params;
    const size_t ld = b->out[0].bar_ld;
    const wgi_view x = wgi_view_bar(&b->in[0]);
    if (!wgi_move_empty(x)) wgi_move_back(x, b->out[0].bar + p->left * ld + p->above, ld);
    return WG_OK;
}

static wg_status pad_jvp(wg_block *b) {
    pad(b, wgi_view_bar(&b->in[0]), 0, b->out[0].bar);
    return WG_OK;
}

const wg_block_op wgi_op_pad = {"wg_pad", WGI_MOVES, pad_shape, pad_value, pad_vjp,
                                pad_jvp,  NULL,      NULL,      NULL};

wg_mat wg_pad(wg_tape *t, wg_mat x, size_t above, size_t below, size_t left, size_t right,
              double value) {
    const struct padding p = {above, below, left, right, value};
    return wgi_apply_one(t, &wgi_op_pad, &p, sizeof p, 1, &x);
}
