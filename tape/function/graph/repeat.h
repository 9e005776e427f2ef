/* SPDX-License-Identifier: MIT */
/* repeat.h - one node for a body that is done many times: a function, done in steps. Internal.
 *
 *     for each place, ascending, or descending if it goes backwards:
 *         state, stepped results, terms = body(state, common, stepped operands of this place)
 *         common results += terms
 *
 * (A scan, wg_scan, is a record on a tape; a repeat is a node of a function. In a recording
 * that becomes a function, a long scan or a map at many points becomes a repeat.)
 *
 * The adjoint of a repeat is a repeat in the other direction, its tangent one in the same:
 * their bodies are made from its body, and take the states before each step from among its
 * results. So derivatives of any order are repeats again.
 *
 * A repeat may solve: its only state is x, its body a step of Newton's method for F(x, p) = 0,
 * and its steps so many that x is a solution at the end (who makes one compares whether it is).
 * Its derivatives are those of one more step from there by p alone, since the step does not
 * depend on x at a solution in first order: dx/dp = d step(x, p)/dp. That holds along p, and so
 * it may be differentiated again.
 *
 * A body is a function whose arguments have roles, by their flags: carried ones come first,
 * inputs and outputs in the same order. Where nothing is carried, the steps are points at which
 * the body is evaluated: common inputs are shared, common outputs are summed. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_REPEAT_H
#define WGI_TAPE_FUNCTION_GRAPH_REPEAT_H

#include "graph.h"

/* Roles of the arguments of a body, as flags beside those of function.h. An argument with
 * neither is common to all steps. */
enum { WGI_CARRIED = 16, WGI_STEPPED = 32 };

/* Operands: of each input of n entries, in their order
 *     carried: n, the state at the start      common: n      stepped: n for each place
 * Parts: of each output in the same way
 *     carried: n for each place, the state that was found there; then n, the state at the end
 *     common: n, sums over the steps                     stepped: n for each place */
typedef struct wgi_repeat {
    wg_function *body;
    size_t steps; /* at least 1 */
    int backwards, solves;
} wgi_repeat;

static inline int wgi_is_carried(const wg_argument *a) { return (a->flags & WGI_CARRIED) != 0; }
static inline int wgi_is_stepped(const wg_argument *a) { return (a->flags & WGI_STEPPED) != 0; }
/* Has a repeat that solves the arguments of one, and goes forwards? */
int wgi_repeat_is_solver(const wgi_repeat *r);
/* Does a function have repeats that solve, in its bodies, too? */
int wgi_repeat_any_solves(const wg_function *f);
/* The repeat that a node of a function stands for; NULL: none. */
static inline const wgi_repeat *wgi_repeat_of(const wg_function *f, const wgi_node *n) {
    return n->kind == WGI_NODE_REPEAT ? &f->repeat[n->part] : NULL;
}
/* How many inputs of a body are carried. */
static inline size_t wgi_body_carried(const wg_function *body) {
    size_t n = 0;
    while (n < body->inputs && wgi_is_carried(&body->input[n])) n++;
    return n;
}

/* Operands of one input, parts of one output; operands and parts of all. Where they overflow, a
 * number larger than any memory. */
size_t wgi_repeat_operands_of(const wgi_repeat *r, size_t input);
size_t wgi_repeat_parts_of(const wgi_repeat *r, size_t output);
size_t wgi_repeat_operands(const wgi_repeat *r);
size_t wgi_repeat_parts(const wgi_repeat *r);
/* Where the operands of each input begin, and the parts of each output, and behind the last of
 * them how many there are; NULL: not wanted. */
void wgi_repeat_starts(const wgi_repeat *r, size_t *operand_at, size_t *part_at);
/* Are operands, parts and steps few enough for nodes to be numbered? */
int wgi_repeat_fits(const wgi_repeat *r);
enum { WGI_REPEAT_MOST = UINT32_MAX / 8 };
/* Do two repeats compute the same? */
int wgi_repeat_same(const wgi_repeat *a, const wgi_repeat *b);
/* How many comparisons there are in the bodies of its repeats, and in those of the repeats in
 * these. */
size_t wgi_repeat_guards(const wg_function *f);
/* How many comparisons come before those of the body of repeat k: a function's own, then those
 * of its repeats in their order. */
size_t wgi_repeat_guards_before(const wg_function *f, size_t k);

/* Operations at a point, those of bodies counted in each of their steps. */
size_t wgi_repeat_work(const wg_function *f);

#endif
