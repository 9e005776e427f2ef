/* SPDX-License-Identifier: MIT */
/* builder.h - a function under construction: a graph, inputs, outputs, and results. Internal.
 *
 * Open a builder; add the inputs, then nodes, from other functions among them, and the outputs
 * with as many results as they have entries. Then finish: as the body of a repeat, in the same
 * arena (wgi_builder_repeat), or as a function with memory of its own (make/finish.h). All
 * lists grow in the arena of the tape. A failure is the tape's; everything after it does
 * nothing. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_BUILDER_H
#define WGI_TAPE_FUNCTION_GRAPH_BUILDER_H

#include "arguments.h"
#include "repeat.h"
#include "tape/engine/drive.h"

typedef struct wgi_builder {
    wgi_drive d; /* holds the tape where the builder was begun by a call of the user's */
    wgi_core *c; /* the core in whose arena everything grows */
    wgi_graph g;
    /* the steps of this body of a repeat are points: nothing is carried between them */
    int by_points;
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

/* Adds an argument of the shape of `like`. flags: of function.h, or of a body (repeat.h); where
 * the steps of a body are points, an input without a role is shared and an output without a
 * role is summed. The name is `before` followed by that of `like`, with _2, _3, ... behind it
 * if that is taken. Of an input, the first node is returned. */
uint32_t wgi_builder_input(wgi_builder *b, const char *before, const wg_argument *like,
                           unsigned flags);
void wgi_builder_output(wgi_builder *b, const char *before, const wg_argument *like,
                        unsigned flags);
/* Adds the result for the next entry of the outputs; WGI_NO_NODE: the number 0. */
void wgi_builder_result(wgi_builder *b, uint32_t node);

/* Adds all inputs of f, with their names and flags. */
void wgi_builder_inputs_of(wgi_builder *b, const wg_function *f);
/* Adds the nodes of f. input: the nodes that stand for its inputs; NULL: the first nodes of the
 * graph. Gives the node that each node of f has become, or NULL after a failure. */
uint32_t *wgi_builder_take(wgi_builder *b, const wg_function *f, const uint32_t *input);
/* Adds all outputs of f and their results; map: what wgi_builder_take gave for f. */
void wgi_builder_outputs_of(wgi_builder *b, const wg_function *f, const uint32_t *map);

/* Drops nodes that no result and no comparison needs, and inputs of that kind, except for
 * carried ones. Gives, for each input, whether it is still there; NULL: a failure. */
const unsigned char *wgi_builder_prune(wgi_builder *b);
/* A repeat whose body is what has been built, in the arena; NULL: a failure. */
const wgi_repeat *wgi_builder_repeat(wgi_builder *b, size_t steps, int backwards);

#endif
