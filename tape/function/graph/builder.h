/* SPDX-License-Identifier: MIT */
/* builder.h - a function in the making: a graph, inputs, outputs, and results. Internal.
 *
 * Open a builder; add the inputs, then nodes, from other functions among them, and the outputs
 * with as many results as they have entries. Then finish: as the body of a repeat, in the same
 * arena (wgi_builder_repeat), or as a function with memory of its own (make/finish.h). All
 * lists grow in the arena of the tape. A failure is the tape's; everything after it does
 * nothing. */
#ifndef WENGERT_TAPE_FUNCTION_GRAPH_BUILDER_H
#define WENGERT_TAPE_FUNCTION_GRAPH_BUILDER_H

#include "arguments.h"
#include "repeat.h"
#include "tape/engine/drive.h"

typedef struct wgi_builder {
    wgi_drive d; /* holds the tape where the builder was begun by a call of the user's */
    wgi_core *c; /* whose arena is used */
    wgi_graph g;
    int by_points; /* a body of a repeat whose steps are points: nothing is carried */
    size_t inputs, outputs, results, entries; /* entries: of all inputs */
    size_t input_room, output_room, result_room;
    wg_argument *input, *output;
    uint32_t *result;
} wgi_builder;

/* A builder in the arena of a tape that is in use. */
void wgi_builder_open(wgi_builder *b, wgi_core *c, const char *call);
/* A builder for a call of the user's, which empties the tape; given: no function that it takes
 * is NULL. Whatever it gives, wgi_builder_end or wgi_drive_close comes last. */
wg_status wgi_builder_begin(wgi_builder *b, wg_tape *t, const char *call, int given,
                            wg_function **out);

/* Room in the arena for node numbers; NULL after a failure. */
uint32_t *wgi_builder_list(const wgi_builder *b, size_t count);
/* The same, with WGI_NO_NODE in all places. */
uint32_t *wgi_builder_no_nodes(const wgi_builder *b, size_t count);

/* An argument of the shape of `like`, with these flags: of function.h, or of a body (repeat.h),
 * in which one without a role is shared, or summed, where steps are points. Its name is
 * `before` and that of `like` together, with _2, _3, ... behind it if that is taken. An input
 * gives its first node. */
uint32_t wgi_builder_input(wgi_builder *b, const char *before, const wg_argument *like,
                           unsigned flags);
void wgi_builder_output(wgi_builder *b, const char *before, const wg_argument *like,
                        unsigned flags);
/* The result of the next entry of the outputs; WGI_NO_NODE: 0. */
void wgi_builder_result(wgi_builder *b, uint32_t node);

/* All inputs of f, as they are there. */
void wgi_builder_inputs_of(wgi_builder *b, const wg_function *f);
/* The nodes of f, whose inputs are these nodes; NULL: the first ones of all. Gives the node of
 * each, or NULL after a failure. */
uint32_t *wgi_builder_take(wgi_builder *b, const wg_function *f, const uint32_t *input);
/* All outputs of f, and their results; map: as wgi_builder_take gives it. */
void wgi_builder_outputs_of(wgi_builder *b, const wg_function *f, const uint32_t *map);

/* Drops inputs that no result and no comparison needs, other than carried ones, and all nodes
 * that are not needed. kept[i]: is input i still there? NULL: a failure. */
const unsigned char *wgi_builder_prune(wgi_builder *b);
/* A repeat of what has been built, in the arena; NULL: a failure. */
const wgi_repeat *wgi_builder_repeat(wgi_builder *b, size_t steps, int backwards);

/* ---- what depends on what, of any list of nodes ---- */

/* Marks, from the nodes that are marked, all that these are computed from. */
void wgi_mark_needed(size_t nodes, const wgi_node *node, const uint32_t *operand,
                     unsigned char *needed);
/* Marks, from the nodes that are marked, all that are computed from these. */
void wgi_mark_dependent(size_t nodes, const wgi_node *node, const uint32_t *operand,
                        unsigned char *depends);

#endif
