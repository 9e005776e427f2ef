/* SPDX-License-Identifier: MIT */
/* emit_dense.h - operations on whole matrices in emitted text. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_EMIT_DENSE_H
#define WENGERT_TAPE_FUNCTION_EMIT_DENSE_H

#include "source.h"

/* The headers of what is called, of bodies too. */
void wgi_emit_dense_headers(wgi_source *s);
/* The functions that do the operations, once. */
void wgi_emit_dense_support(wgi_source *s);
/* An operation: a block of statements. Its results stand where wgi_emit_repeat_slots says. */
void wgi_emit_dense(wgi_source *s, uint32_t node, const char *indent);
/* Does the text read operand k of the node? Of a factored matrix the factors are enough. */
int wgi_emit_dense_reads(const wgi_node *n, uint32_t k);

#endif
