/* SPDX-License-Identifier: MIT */
/* refusal.h - how an operation refuses its operands: the status, and why, which goes into
 * the tape's message. */
#ifndef WGI_OPS_MATRIX_REFUSAL_H
#define WGI_OPS_MATRIX_REFUSAL_H

#include <wengert/block.h>

static inline wg_status wgi_block_refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

#endif
