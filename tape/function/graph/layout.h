/* SPDX-License-Identifier: MIT */
/* layout.h - a graph as the arrays of a function. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_LAYOUT_H
#define WGI_TAPE_FUNCTION_GRAPH_LAYOUT_H

#include "pieces.h"
#include "repeat.h"

/* Cuts the arrays of a function, of as many elements as it says, but for names. */
void wgi_layout_arrays(wg_function *f, wgi_pieces *p);
/* Describes the function except for its arrays. final: room for the final number of every node.
 */
wg_status wgi_layout_describe(wgi_graph *g, size_t inputs, const wg_argument *input,
                              size_t outputs, const wg_argument *output, const uint32_t *result,
                              uint32_t *final, wg_function *f);
/* Sets f->home.bytes, the memory that the function takes with its arrays and names. */
void wgi_layout_measure(wg_function *f, const wg_argument *input, const wg_argument *output);
/* A copy of `start` at `base`, where f->home.bytes are free, its arrays laid out behind it. */
wg_function *wgi_layout_at(char *base, const wg_function *start, const wg_argument *input,
                           const wg_argument *output);
/* Fills in nodes, results and comparisons; repeats are left to the caller. */
void wgi_layout_fill(const wgi_graph *g, wg_function *f, const uint32_t *result,
                     const uint32_t *final);

#endif
