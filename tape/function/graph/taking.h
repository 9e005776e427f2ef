/* SPDX-License-Identifier: MIT */
/* taking.h - a recording on a tape that keeps its code becomes nodes of a graph. Internal.
 *
 * Open; set the nodes of those slots that are given, mark what is needed among the slots; then
 * wgi_taking_need, wgi_taking_code, and ask for nodes. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_TAKING_H
#define WGI_TAPE_FUNCTION_GRAPH_TAKING_H

#include "graph.h"

typedef struct wgi_taking {
    wgi_graph *g;
    /* the tape of the recording: the callback's, or that of an operation that is written out */
    wgi_core *c;
    uint32_t *of_slot;     /* the node that each slot has become */
    unsigned char *needed; /* which slots are needed by a result or a comparison */
    uint32_t *x, *number;  /* the operands of one operation on an array, and its numbers */
    int elsewhere;         /* nodes that are given do not have the values of the recording */
    /* blocks in their order; those before `next` have been taken apart */
    const wgi_block **block;
    size_t blocks, next;
} wgi_taking;

/* Of the recording on c; all lists are in the arena of the graph. */
wg_status wgi_taking_open(wgi_taking *r, wgi_graph *g, wgi_core *c);
/* Marks what the marked slots need: a walk backwards through code and blocks, in the order of
 * recording. All comparisons are needed, since any of them may have chosen the results. */
wg_status wgi_taking_need(wgi_taking *r);
void wgi_taking_code(wgi_taking *r);
/* All of it: `to` becomes the nodes of the m variables y, where x are those of the n variables
 * `in`.
 * elsewhere: as above. */
wg_status wgi_taking_all(wgi_graph *g, wgi_core *from, int elsewhere, size_t n,
                         const wg_real *in, const uint32_t *x, size_t m, const wg_real *y,
                         uint32_t *to);
/* One entry of kept code alone, at nodes for its operands and its own numbers (NULL, or
 * WGI_NO_NODE: a number of a statement is what it is). */
uint32_t wgi_taking_statement(wgi_graph *g, const wgi_statement_code *p,
                              const uint32_t *operand, const uint32_t *number);
uint32_t wgi_taking_array(wgi_graph *g, const wgi_entry *e, const uint32_t *operand,
                          const uint32_t *number);
/* The node of a slot; of slot 0, that of a number. */
uint32_t wgi_taking_node(wgi_taking *r, uint32_t slot, double value);

#endif
