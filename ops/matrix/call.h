/* SPDX-License-Identifier: MIT */
/* call.h - how an operation on matrices refuses its operands, and how one with a single result
 * is called. Internal. */
#ifndef WGI_OPS_MATRIX_CALL_H
#define WGI_OPS_MATRIX_CALL_H

#include <wengert/block.h>

/* The status, and why, which goes into the tape's message. */
static inline wg_status wgi_block_refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

/* wg_apply of an operation with one result: that, or a failed matrix. */
static inline wg_mat wgi_apply_one(wg_tape *t, const wg_block_op *op, const void *params,
                                   size_t bytes, size_t inputs, const wg_mat *in) {
    wg_mat y;
    (void)wg_apply(t, op, params, bytes, inputs, in, 1, &y);
    return y;
}

#endif
