/* SPDX-License-Identifier: MIT */
/* repeat.h - one node for many times the same: a function, the body, done in steps. Internal.
 *
 *     for each place, ascending, or descending if it goes backwards:
 *         state, stepped results, terms = body(state, common, stepped operands of this place)
 *         common results += terms
 *
 * Its adjoint is a repeat in the other direction, its tangent one in the same: their bodies are
 * made of this one's, and take the states that were found from among the results. So that
 * every derivative is repeats again, of any order.
 *
 * A body is a function whose arguments say by their flags what they are. Carried ones come
 * first, inputs and outputs in the same order. Where nothing is carried, steps are the points
 * of the body: common inputs are shared, common outputs are summed. */
#ifndef WENGERT_TAPE_FUNCTION_REPEAT_H
#define WENGERT_TAPE_FUNCTION_REPEAT_H

#include "graph.h"

/* Flags of a body's arguments beside those of function.h; neither: common to all steps. */
enum { WGI_CARRIED = 16, WGI_STEPPED = 32 };

/* Operands: of each input of n entries, in their order
 *     carried: n, the state at the start      common: n      stepped: n for each place
 * Parts: of each output in the same way
 *     carried: n for each place, the state that was found there; then n, the state at the end
 *     common: n, sums over the steps                     stepped: n for each place */
typedef struct wgi_repeat {
    wg_function *body;
    size_t steps; /* at least 1 */
    int backwards;
} wgi_repeat;

static inline int wgi_is_carried(const wg_argument *a) { return (a->flags & WGI_CARRIED) != 0; }
static inline int wgi_is_stepped(const wg_argument *a) { return (a->flags & WGI_STEPPED) != 0; }
/* What a node of a function repeats; NULL: nothing. */
static inline const wgi_repeat *wgi_repeat_of(const wg_function *f, const wgi_node *n) {
    return n->kind == WGI_NODE_REPEAT ? &f->repeat[n->part] : NULL;
}
/* Carried inputs of a body. */
static inline size_t wgi_body_carried(const wg_function *body) {
    size_t n = 0;
    while (n < body->inputs && wgi_is_carried(&body->input[n])) n++;
    return n;
}
static inline size_t wgi_repeat_carried(const wgi_repeat *r) {
    return wgi_body_carried(r->body);
}

/* Of one input, of one output; of all; more than any memory holds where they overflow. */
size_t wgi_repeat_operands_of(const wgi_repeat *r, size_t input);
size_t wgi_repeat_parts_of(const wgi_repeat *r, size_t output);
size_t wgi_repeat_operands(const wgi_repeat *r);
size_t wgi_repeat_parts(const wgi_repeat *r);
/* Are these so few that nodes can be numbered? Steps are counted, too. */
int wgi_repeat_fits(const wgi_repeat *r);
enum { WGI_REPEAT_MOST = UINT32_MAX / 8 };
/* Do they compute the same? */
int wgi_repeat_same(const wgi_repeat *a, const wgi_repeat *b);
/* Comparisons in bodies, those of repeats in bodies among them. */
size_t wgi_repeat_guards(const wg_function *f);

/* Operations at each point, times their steps in repeats, whose bodies know theirs. */
size_t wgi_repeat_work(const wg_function *f);

/* ---- a body in the making ---- */

typedef struct wgi_body {
    wgi_graph g;
    int many; /* steps are points: nothing is carried */
    size_t inputs, outputs, entries, results, input_room, output_room, result_room;
    wg_argument *input, *output;
    uint32_t *result;
} wgi_body;

void wgi_body_open(wgi_body *b, wgi_core *c, const char *call, int many);
/* All inputs come first. role: WGI_CARRIED, WGI_STEPPED or 0. The name is before and name
 * together, with a number behind it if that is taken. Gives its first node. */
uint32_t wgi_body_input(wgi_body *b, const char *before, const char *name, size_t rows,
                        size_t cols, unsigned role);
void wgi_body_output(wgi_body *b, const char *before, const char *name, size_t rows,
                     size_t cols, unsigned role);
/* The entries of the outputs, one after the other. */
void wgi_body_result(wgi_body *b, uint32_t node);
/* Drops inputs that nothing needs but carried ones, and all that was done for nothing. kept[i]:
 * is input i still there? NULL: a failure. */
const unsigned char *wgi_body_prune(wgi_body *b);
/* In the arena; NULL: a failure. */
const wgi_repeat *wgi_body_close(wgi_body *b, size_t steps, int backwards);

#endif
