/* SPDX-License-Identifier: MIT */
/* inline.h - calls, maps and scans as nodes of the function that they become a part of.
 * Internal. */
#ifndef WENGERT_TAPE_FUNCTION_INLINE_H
#define WENGERT_TAPE_FUNCTION_INLINE_H

#include "tape/function/graph/graph.h"

/* Is it one of them? */
int wgi_inlines(const wg_block_op *op);
/* x: nodes of all operands, matrix after matrix, column after column; y: likewise of all
 * results. */
wg_status wgi_inline(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y);

#endif
