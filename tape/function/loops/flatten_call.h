/* SPDX-License-Identifier: MIT */
/* flatten_call.h - calls, maps and scans as nodes of the function that they become a part of,
 * and what their results depend on: members of the traits of these operations
 * (ops/matrix/traits.h; a call is a map over one point). Internal. */
#ifndef WGI_TAPE_FUNCTION_LOOPS_FLATTEN_CALL_H
#define WGI_TAPE_FUNCTION_LOOPS_FLATTEN_CALL_H

#include "tape/function/graph/graph.h"
#include "tape/sparsity/sparsity.h"

wg_status wgi_flatten_map(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y);
wg_status wgi_flatten_scan(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y);

int wgi_sets_of_map(wgi_sets *k, const wgi_block *b, const wgi_set *of, wgi_set *y);
int wgi_sets_of_scan(wgi_sets *k, const wgi_block *b, const wgi_set *of, wgi_set *y);

void wgi_curves_of_call(wgi_curves *q, const wgi_block *b);

uint64_t wgi_hash_of_map(const wgi_block *b, uint64_t h);
uint64_t wgi_hash_of_scan(const wgi_block *b, uint64_t h);

#endif
