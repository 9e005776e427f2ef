/* SPDX-License-Identifier: MIT */
/* graph.h - a function drawn: nodes in the order of evaluation. Internal.
 *
 * A node is a number per point, or one for all points. It comes after its operands. In a
 * finished function node numbers are: entries of the inputs [0, n), numbers, operations done
 * once, operations of each point, operations on sums. Everything a function does is in these
 * nodes: derivatives are more of them (rules.c, sweep.c), evaluation runs through them
 * (bytecode.c), texts spell them (unit.c), a file lists them (file.h).
 *
 *     recording.c         transform.c
 *     tape code --.      .-- other functions
 *                  v    v
 *           builder (graph.c): shares, folds, simplifies
 *                  |    ^
 *                  |    '--- sweep.c: adjoints, tangents (partials: rules.c)
 *                  v
 *           wgi_function_finish: what is needed, in order: wg_function */
#ifndef WENGERT_TAPE_FUNCTION_GRAPH_H
#define WENGERT_TAPE_FUNCTION_GRAPH_H

#include "kinds.h"
#include "ops/matrix/dense_values.h"
#include "ops/scalar/elementwise.h"
#include "tape/engine/tape.h"

#include <wengert/function.h>
#include <wengert/operation.h>

/* When a node is computed: once for all points; at each point; once, from sums over points. */
typedef enum { WGI_ONCE, WGI_EACH, WGI_AFTER } wgi_when;

typedef struct wgi_node {
    unsigned char kind, when, array;
    uint32_t part;
    uint32_t first, count; /* operands: nodes at operand[first ...] */
    const wg_scalar_op *op;
    union {
        double value;
        uint32_t size[2];
    };
} wgi_node;

/* When a node can be computed of whose operands some are of these times. */
static inline unsigned char wgi_when_of(const unsigned char seen[3], unsigned kind) {
    if (seen[WGI_AFTER] || kind == WGI_NODE_SUM) return WGI_AFTER;
    return seen[WGI_EACH] ? WGI_EACH : WGI_ONCE;
}

static inline const wgi_node_kind_row *wgi_node_row(const wgi_node *n) {
    return &wgi_node_kinds[n->kind];
}
/* Is all it gives in nodes of its own, WGI_NODE_PART? */
static inline int wgi_node_has_parts(const wgi_node *n) {
    return wgi_node_row(n)->form == WGI_FORM_WHOLE;
}
/* Is it computed, neither an input nor a number? */
static inline int wgi_node_is_operation(const wgi_node *n) {
    return wgi_node_row(n)->operands != 0;
}
/* The number 0, of either sign? */
static inline int wgi_node_is_zero(const wgi_node *n) {
    return n->kind == WGI_NODE_NUMBER && n->value == 0;
}
/* A partial of an operation, that is one node? Its value may be among what it is made of. */
static inline int wgi_node_is_partial(const wgi_node *n) {
    return wgi_node_row(n)->holds == (WGI_HOLDS_SCALAR | WGI_HOLDS_PART);
}
/* The WGI_ROW_ of which it is the value, or -1. */
static inline int wgi_node_op(const wgi_node *n) {
    return n->kind != WGI_NODE_OP || wgi_is_users(n->op) ? -1 : (int)(n->op - wgi_scalar_ops);
}

/* What a node with parts takes and gives. */
typedef struct wgi_node_shape {
    size_t operands, parts;
} wgi_node_shape;

/* The comparison of two nodes, recorded with this outcome: wgi_compare(comparison, a, b) is 0
 * or 1. */
typedef struct wgi_graph_guard {
    uint32_t a, b;
    unsigned comparison;
    int outcome;
} wgi_graph_guard;

/* One node for many times the same: repeat.h. */
struct wgi_repeat;

struct wg_function {
    wg_memory memory;
    size_t bytes; /* of all this, and of what the pointers point to but the bytecode */
    size_t inputs, outputs;
    wg_argument *input, *output;
    size_t n, m;                       /* entries of all inputs, of all outputs */
    size_t numbers, once, each, after; /* nodes of these kinds; see above */
    size_t work;                       /* wgi_repeat_work of it */
    size_t nodes;
    wgi_node *node;
    size_t operands;
    uint32_t *operand;
    uint32_t *result; /* m nodes; those of summed outputs are done once or after */
    size_t guards;
    wgi_graph_guard *guard;
    size_t repeats;
    struct wgi_repeat *repeat; /* their bodies are this function's */
    uint64_t identity; /* a number made from its nodes: of its structure, not of its numbers */
    wg_function_stats stats;
    struct wgi_bytecode *bytecode; /* bytecode.c: how it is evaluated */
    struct wgi_native *native;     /* compile.c: code that was loaded for it, or NULL */
};

/* ---- building: graph.c ---- */

/* A graph in the making, in the arena of a tape. A failure is the tape's: everything then does
 * nothing, and gives node 0. */
typedef struct wgi_graph {
    wgi_core *c;
    const char *call; /* for messages */
    wgi_node *node;
    size_t nodes, node_room;
    uint32_t *operand;
    size_t operands, operand_room;
    uint32_t *table; /* nodes by content; 0: empty, else number + 1 */
    size_t slots;    /* of the table: a power of two */
    struct {         /* parts of the partials of one array operation: rules.c */
        uint32_t of, ties, *e, *before, *behind;
    } shares;
    const struct wgi_repeat *
        *repeat; /* in the arena, or a function's that outlives the graph */
    size_t repeats, repeat_room;
    wgi_graph_guard *guard;
    size_t guards, guard_room;
    uint32_t *guard_table; /* in the same way */
    size_t guard_slots;
    wg_function_stats stats;
} wgi_graph;

void wgi_graph_open(wgi_graph *g, wgi_core *c, const char *call);
/* Entries of inputs come first, in order. when: WGI_ONCE if shared, WGI_EACH if not. */
uint32_t wgi_graph_input(wgi_graph *g, wgi_when when);
uint32_t wgi_graph_number(wgi_graph *g, double value);
/* A node with these operands: a new one, one that is there, or a simpler one. */
uint32_t wgi_graph_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x);
uint32_t wgi_graph_times(wgi_graph *g, uint32_t a, uint32_t b);
uint32_t wgi_graph_sum(wgi_graph *g, uint32_t a);
uint32_t wgi_graph_array(wgi_graph *g, unsigned array, size_t count, const uint32_t *x);
/* Any kind, as `like` has it but for the operands. */
uint32_t wgi_graph_node(wgi_graph *g, const wgi_node *like, size_t count, const uint32_t *x);
/* A node with parts, as `like` has it: these are the nodes after it, all of them, in order. */
uint32_t wgi_graph_whole(wgi_graph *g, const wgi_node *like, wgi_node_shape shape,
                         const uint32_t *x);
/* r of these operands. */
uint32_t wgi_graph_repeat(wgi_graph *g, const struct wgi_repeat *r, const uint32_t *x);
/* An operation on whole matrices. */
uint32_t wgi_graph_dense(wgi_graph *g, const wgi_dense_op *op, const uint32_t *x);
/* A node of another graph, simplified, with operands x of this one. r: what it repeats. */
uint32_t wgi_graph_again(wgi_graph *g, const wgi_node *n, const struct wgi_repeat *r,
                         const uint32_t *x);
void wgi_graph_guard_add(wgi_graph *g, uint32_t a, uint32_t b, unsigned comparison,
                         int outcome);
/* Is it this number? Zeros of either sign are one. */
int wgi_graph_is(const wgi_graph *g, uint32_t node, double value);

/* A built-in operation by its WGI_ROW_ or WGI_OP_ name. */
#define WGI_GRAPH1(g, name, a) wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a})
#define WGI_GRAPH2(g, name, a, b)                                                              \
    wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a, b})
#define WGI_GRAPH4(g, name, a, b, c, d)                                                        \
    wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a, b, c, d})

/* All nodes and guards of a function: map[i] becomes the node of its node i. input: the nodes
 * that its n input entries are. */
void wgi_graph_take(wgi_graph *g, const wg_function *f, const uint32_t *input, uint32_t *map);

/* The function with these arguments in the arena of the graph, to be the body of a repeat: names
 * are copied, it has no bytecode. result: nodes of all output entries; entries of a summed output
 * are summed here unless they are already. NULL: a failure. */
wg_function *wgi_graph_body(wgi_graph *g, size_t inputs, const wg_argument *input,
                            size_t outputs, const wg_argument *output, const uint32_t *result);

/* Node `node` of another graph, without repeats, with inputs in the place of its own, and all
 * it needs. */
uint32_t wgi_graph_copy(wgi_graph *g, const wgi_graph *from, const uint32_t *input,
                        uint32_t node);

size_t wgi_argument_size(const wg_argument *a);

/* ---- what kinds know: kinds.c, and a file of its own for each of the larger ones ---- */

/* The value of a node that is no sum and has no parts, at operands x. */
double wgi_node_value(const wgi_node *node, const double *x);
/* Is a NaN among the operands a NaN of the value? */
int wgi_node_shows_nan(const wgi_node *n);
/* What it costs at a point, in additions, about; r: what it repeats. */
size_t wgi_node_cost(const wgi_node *n, const struct wgi_repeat *r);
/* Is there a node that has parts? */
int wgi_function_has_wholes(const wg_function *f);
/* The cost of all operations of each point; of those only that have parts. */
size_t wgi_function_cost(const wg_function *f);
size_t wgi_function_cost_of_wholes(const wg_function *f);

/* Of a node that has parts; r: what it repeats. */
wgi_node_shape wgi_node_shape_of(const wgi_node *n, const struct wgi_repeat *r);

/* _value at operands x; _partial by the k-th operand, as a node; _again: the same, or what is
 * simpler, of operands x in another graph. */
#define KIND_NODE(NAME, stem, ...)                                                             \
    double wgi_##stem##_value(const wgi_node *n, const double *x);                             \
    uint32_t wgi_##stem##_partial(wgi_graph *g, uint32_t node, size_t k);                      \
    uint32_t wgi_##stem##_again(wgi_graph *g, const wgi_node *n, const uint32_t *x);
/* r: what the node repeats, if it does. _reverse: the adjoints bar[k] of its parts k are spread
 * to the operands that are wanted, added to to[operand]; WGI_NO_NODE: 0. _forward: the tangents
 * of its parts, tangent[node + 1 + k], from those of its operands. */
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    wgi_node_shape wgi_##stem##_shape(const wgi_node *n, const struct wgi_repeat *r);          \
    size_t wgi_##stem##_cost(const wgi_node *n, const struct wgi_repeat *r);                   \
    uint32_t wgi_##stem##_again(wgi_graph *g, const wgi_node *n, const struct wgi_repeat *r,   \
                                const uint32_t *x);                                            \
    void wgi_##stem##_reverse(wgi_graph *g, uint32_t node, const uint32_t *bar,                \
                              const unsigned char *wanted, uint32_t *to);                      \
    void wgi_##stem##_forward(wgi_graph *g, uint32_t node, uint32_t *tangent);
#include "kinds.def"

/* ---- derivatives: rules.c, sweep.c ---- */

#define WGI_NO_NODE UINT32_MAX /* no node: identically 0 */

/* Of nodes that are adjoints, tangents or partials: a + b; a b by the zero rule; a as a node. */
static inline uint32_t wgi_graph_plus(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE) return b;
    return b == WGI_NO_NODE ? a : WGI_GRAPH2(g, add, a, b);
}
uint32_t wgi_graph_product(wgi_graph *g, uint32_t a, uint32_t b);
static inline uint32_t wgi_graph_or_zero(wgi_graph *g, uint32_t a) {
    return a != WGI_NO_NODE ? a : wgi_graph_number(g, 0);
}

/* The partial of a node by its k-th operand, as a node. */
uint32_t wgi_graph_partial(wgi_graph *g, uint32_t node, size_t k);

/* Adjoints of all nodes below `nodes`; WGI_NO_NODE: 0. Seeds stand in each[i] where a result is
 * one per point, in once[i] where it is one for all. On return adjoints of inputs stand in
 * once[i] if they are shared, in each[i] if not. wanted[i]: does the node depend on an input
 * that is differentiated? */
void wgi_graph_reverse(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *once,
                       uint32_t *each);
/* The same at one point: all stands in bar, nothing is summed. No seed depends on a sum. */
void wgi_graph_reverse_point(wgi_graph *g, size_t nodes, const unsigned char *wanted,
                             uint32_t *bar);
/* Tangents of all nodes below `nodes`, from those of the inputs; WGI_NO_NODE: 0. */
void wgi_graph_forward(wgi_graph *g, size_t nodes, uint32_t *tangent);

/* ---- loaded code ---- */

/* Code that was loaded: compile.c. Its end is known here, so that programs that compile nothing
 * need no loader. */
typedef struct wgi_native {
    void (*close)(wg_function *f);
    void *library;
} wgi_native;

#endif
