/* SPDX-License-Identifier: MIT */
/* times_op.h - a block operation as users write theirs, for tests: y = a x. */
#ifndef WENGERT_TEST_TIMES_OP_H
#define WENGERT_TEST_TIMES_OP_H

#include <string.h>
#include <wengert.h>

static wg_status times_shape(wg_block *b) {
    if (b->in[0].cols != b->in[1].rows) return WG_ESHAPE;
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[1].cols;
    b->saved_bytes = b->work_bytes = 8;
    return WG_OK;
}

static void times(const wg_block *b, const double *a, size_t lda, const double *x, size_t ldx,
                  double *y) {
    for (size_t i = 0; i < b->in[0].rows; i++)
        for (size_t j = 0; j < b->in[1].cols; j++)
            for (size_t k = 0; k < b->in[0].cols; k++)
                y[i + j * b->in[0].rows] += a[i + k * lda] * x[k + j * ldx];
}

static wg_status times_value(wg_block *b) {
    memset(b->out[0].value, 0, b->out[0].rows * b->out[0].cols * sizeof(double));
    times(b, b->in[0].value, b->in[0].ld, b->in[1].value, b->in[1].ld, b->out[0].value);
    *(double *)b->saved = 7;
    return WG_OK;
}

static wg_status times_vjp(wg_block *b) {
    const wg_block_arg *a = &b->in[0], *x = &b->in[1], *y = &b->out[0];
    if (*(double *)b->saved != 7) return WG_EARG;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < x->cols; j++)
            for (size_t k = 0; k < a->cols; k++) {
                const double w = y->bar[i + j * y->bar_ld];
                if (a->bar) a->bar[i + k * a->bar_ld] += w * x->value[k + j * x->ld];
                if (x->bar) x->bar[k + j * x->bar_ld] += w * a->value[i + k * a->ld];
            }
    return WG_OK;
}

static wg_status times_jvp(wg_block *b) {
    const wg_block_arg *a = &b->in[0], *x = &b->in[1];
    memset(b->out[0].bar, 0, b->out[0].rows * b->out[0].cols * sizeof(double));
    if (a->bar) times(b, a->bar, a->bar_ld, x->value, x->ld, b->out[0].bar);
    if (x->bar) times(b, a->value, a->ld, x->bar, x->bar_ld, b->out[0].bar);
    return WG_OK;
}

static const wg_block_op times_op = {"times",   0,         times_shape, times_value,
                                     times_vjp, times_jvp, NULL, NULL,        NULL};
static const wg_block_op slow_op = {"slow",    0,    times_shape, times_value,
                                    times_vjp, NULL, NULL, NULL,        NULL};

/* The same with an expand; with mistakes: where the adjoint of the second operand goes; in what
 * it expands to. */
static inline wg_status times_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                     wg_real *y) {
    const size_t rows = b->in[0].rows, inner = b->in[0].cols;
    const wg_real *const right = x + rows * inner;
    for (size_t j = 0; j < b->in[1].cols; j++)
        for (size_t i = 0; i < rows; i++) {
            wg_real sum = wg_constant(0);
            for (size_t k = 0; k < inner; k++)
                sum = wg_let(t, wg_fma(x[i + k * rows], right[k + j * inner], sum));
            y[i + j * rows] = sum;
        }
    return WG_OK;
}

static inline wg_status misled_vjp(wg_block *b) {
    const wg_status s = times_vjp(b);
    if (b->in[1].bar) b->in[1].bar[2] += b->out[0].bar[1];
    return s;
}

static inline wg_status misspelt_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                        wg_real *y) {
    const wg_status s = times_expand(t, b, x, y);
    y[1] = wg_let(t, wg_mul(y[1], 1.5));
    return s;
}

static const wg_block_op expanding_op = {"expanding", WG_OP_EXPANDS, times_shape,  times_value,
                                         times_vjp,   times_jvp,     times_expand, NULL, NULL};
static const wg_block_op misled_op = {"misled",   WG_OP_EXPANDS, times_shape,  times_value,
                                      misled_vjp, times_jvp,     times_expand, NULL, NULL};
static const wg_block_op misspelt_op = {"misspelt", WG_OP_EXPANDS, times_shape,     times_value,
                                        times_vjp,  NULL,          misspelt_expand, NULL, NULL};

static inline wg_mat multiply(wg_tape *t, const wg_block_op *op, wg_mat a, wg_mat x) {
    wg_mat y;
    const wg_mat in[] = {a, x};
    (void)wg_apply(t, op, NULL, 0, 2, in, 1, &y);
    return y;
}

static const double A[] = {1, 2, 3, 4, 5, 6}; /* 2-by-3 */
static const double X[] = {1, -1, 2};

#endif
