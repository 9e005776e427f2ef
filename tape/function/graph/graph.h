/* SPDX-License-Identifier: MIT */
/* graph.h - what a function computes, as a graph: nodes in the order of evaluation. Internal.
 *
 * A node is a number per point, or one number for all points. It comes after its operands. In a
 * finished function the nodes are numbered in this order: entries of the inputs, from 0 to n -
 * 1; numbers; operations done once; operations of each point; operations on sums. Everything
 * that a function does is in these nodes: derivatives are more of them (rules.c, sweep.c),
 * bytecode is made from them (bytecode.c), texts spell them, files list them (file.h).
 *
 *     recording.c         transform.c
 *     tape code --.      .-- other functions
 *                  v    v
 *           builder (graph.c): shares, folds, simplifies
 *                  |    ^
 *                  |    '--- sweep.c: adjoints, tangents (partials: rules.c)
 *                  v
 *           wgi_function_finish: what is needed, in order: wg_function */
#ifndef WGI_TAPE_FUNCTION_GRAPH_GRAPH_H
#define WGI_TAPE_FUNCTION_GRAPH_GRAPH_H

#include "kinds.h"
#include "ops/matrix/dense_values.h"
#include "ops/matrix/whole.h"
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
    union {                /* what kinds.def says that it holds, or 0 */
        const wg_scalar_op *op;
        double value;
        uint32_t size[2];
    };
} wgi_node;

/* One for an operation on matrices, of kind DENSE or WHOLE. */
static inline wgi_node wgi_node_of_matrices(wgi_node_kind kind, size_t array,
                                            const size_t *size) {
    return (wgi_node){.kind = (unsigned char)kind,
                      .array = (unsigned char)array,
                      .part = (uint32_t)size[0],
                      .size = {(uint32_t)size[1], (uint32_t)size[2]}};
}

/* When a node can be computed whose operands are of the times of which `seen` has the bits. */
static inline unsigned char wgi_when_of(unsigned seen, unsigned kind) {
    if ((seen >> WGI_AFTER & 1) || kind == WGI_NODE_SUM) return WGI_AFTER;
    return seen >> WGI_EACH & 1 ? WGI_EACH : WGI_ONCE;
}

static inline const wgi_node_kind_row *wgi_node_row(const wgi_node *n) {
    return &wgi_node_kinds[n->kind];
}
/* Does it give several numbers, each in a node of its own, of kind WGI_NODE_PART? */
static inline int wgi_node_has_parts(const wgi_node *n) {
    return wgi_node_row(n)->form == WGI_FORM_WHOLE;
}
/* Is it computed, that is, neither an input nor a number? */
static inline int wgi_node_is_operation(const wgi_node *n) {
    return wgi_node_row(n)->operands != 0;
}
/* The number 0, of either sign? */
static inline int wgi_node_is_zero(const wgi_node *n) {
    return n->kind == WGI_NODE_NUMBER && n->value == 0;
}
/* The operation that it is the value or a partial of; NULL: it is neither. */
static inline const wg_scalar_op *wgi_node_scalar(const wgi_node *n) {
    return wgi_node_row(n)->holds & WGI_HOLDS_SCALAR ? n->op : NULL;
}
/* Is it a partial of an operation, as one node? The value of that operation may be among its
 * operands. */
static inline int wgi_node_is_partial(const wgi_node *n) {
    return wgi_node_row(n)->holds == (WGI_HOLDS_SCALAR | WGI_HOLDS_PART);
}
/* The row (WGI_ROW_...) of the operation of which it is the value; -1: it is no such node. */
static inline int wgi_node_op(const wgi_node *n) {
    return n->kind != WGI_NODE_OP || wgi_is_users(n->op) ? -1 : (int)(n->op - wgi_scalar_ops);
}

/* How many operands a node with parts has, and how many parts. */
typedef struct wgi_node_shape {
    size_t operands, parts;
} wgi_node_shape;

/* A comparison of two nodes that was recorded: wgi_compare(comparison, a, b) was `outcome`, 0
 * or 1. */
typedef struct wgi_graph_guard {
    uint32_t a, b;
    unsigned comparison;
    int outcome;
} wgi_graph_guard;

/* One node for a body that is done many times: repeat.h. */
struct wgi_repeat;

struct wg_function {
    /* where the function stands with what its pointers point to, but for bytecode and bodies */
    wgi_home home;
    size_t inputs, outputs;
    wg_argument *input, *output;
    size_t n, m;                       /* entries of all inputs, of all outputs */
    size_t numbers, once, each, after; /* how many nodes of each group there are; see above */
    size_t work;                       /* its wgi_repeat_work */
    size_t nodes;
    wgi_node *node;
    size_t operands;
    uint32_t *operand;
    uint32_t *result; /* m nodes; those of summed outputs are done once or after */
    size_t guards;
    wgi_graph_guard *guard;
    size_t repeats;
    struct wgi_repeat *repeat; /* nodes refer to these; the function owns their bodies */
    uint64_t identity;         /* a hash of the structure of its nodes, not of its numbers */
    wg_function_stats stats;
    struct wgi_bytecode *bytecode; /* how it is evaluated */
    struct wgi_native *native;     /* code that was loaded for it (make/compile.c), or NULL */
};

/* ---- building: graph.c ---- */

/* Nodes with a byte of the hash of each, in a line of the cache. */
enum { WGI_BUCKET = 12 };
typedef struct wgi_graph_bucket {
    uint32_t node[WGI_BUCKET];
    unsigned char tag[WGI_BUCKET];
    uint32_t count;
} wgi_graph_bucket;

/* A graph under construction, in the arena of a tape. A failure is the tape's: everything then
 * does nothing, and gives node 0. */
typedef struct wgi_graph {
    wgi_core *c;
    const char *call; /* the call of the user's, named in messages */
    wgi_node *node;
    size_t nodes;
    size_t asked; /* how many nodes were asked for, new ones and those that are there */
    uint32_t *operand;
    size_t operands;
    wgi_graph_bucket *table; /* nodes by content, near their newest operand */
    size_t buckets;
    wgi_graph_bucket *spare; /* by hash: those that have no operands, or no room there */
    size_t spares, spared;   /* buckets of it, a power of two, and nodes in it */
    wgi_list_room node_room, operand_room, table_room, spare_room;
    size_t node_limit, operand_limit, spare_limit; /* for so many there is room */
    struct wgi_recipes *recipes;                   /* of partials: rules.c */
    struct { /* parts of the partials of one array operation: rules.c */
        uint32_t of, ties, norm, *e, *before, *behind;
    } shares;
    /* the operation of a recording that is being taken apart, and the one that the first node
     * with parts is of; NULL: none */
    const char *taking, *whole_of;
    /* in the arena, or of a function that outlives the graph */
    const struct wgi_repeat **repeat;
    size_t repeats;
    wgi_graph_guard *guard;
    size_t guards;
    wgi_list_room repeat_room, guard_room;
    /* comparisons by content: 0, an empty entry, or their number plus 1 */
    uint32_t *guard_table;
    size_t guard_slots;
    wg_function_stats stats;
} wgi_graph;

/* In the arena: room for `count` node numbers; the same, all WGI_NO_NODE; a mark for each of so
 * many nodes, 0 at first. NULL: a failure, which is the tape's. */
uint32_t *wgi_node_list(wgi_core *c, size_t count);
uint32_t *wgi_no_nodes(wgi_core *c, size_t count);
unsigned char *wgi_node_marks(wgi_core *c, size_t count);

void wgi_graph_open(wgi_graph *g, wgi_core *c, const char *call);
/* No nodes are added any more. */
void wgi_graph_close_table(wgi_graph *g);
/* The nodes of the graph are not needed any more. */
void wgi_graph_close(wgi_graph *g);
/* A new input. All inputs are added first, in the order of the entries. when: WGI_ONCE if it is
 * shared, WGI_EACH if not. */
uint32_t wgi_graph_input(wgi_graph *g, wgi_when when);
uint32_t wgi_graph_number(wgi_graph *g, double value);
/* The node of an operation at these operands: a new one, one that is there already, or a
 * simpler one. */
uint32_t wgi_graph_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x);
uint32_t wgi_graph_times(wgi_graph *g, uint32_t a, uint32_t b);
uint32_t wgi_graph_sum(wgi_graph *g, uint32_t a);
uint32_t wgi_graph_array(wgi_graph *g, unsigned array, size_t count, const uint32_t *x);
/* A node of any kind: that of `like`, with operands x. */
uint32_t wgi_graph_node(wgi_graph *g, const wgi_node *like, size_t count, const uint32_t *x);
/* A node with parts, of the kind of `like`; the nodes after it are all its parts, in order. */
uint32_t wgi_graph_whole(wgi_graph *g, const wgi_node *like, wgi_node_shape shape,
                         const uint32_t *x);
/* The node of repeat r at operands x. */
uint32_t wgi_graph_repeat(wgi_graph *g, const struct wgi_repeat *r, const uint32_t *x);
/* An operation on whole matrices, as node n has it (dense_node.h, whole_node.h). */
uint32_t wgi_graph_matrices(wgi_graph *g, const wgi_node *n, const uint32_t *x);
/* Node n of another graph once more, simplified, with operands x of this one. r: the repeat
 * that n stands for, or NULL. */
uint32_t wgi_graph_again(wgi_graph *g, const wgi_node *n, const struct wgi_repeat *r,
                         const uint32_t *x);
void wgi_graph_guard_add(wgi_graph *g, uint32_t a, uint32_t b, unsigned comparison,
                         int outcome);
/* Is it the number `value`? Zeros of both signs count as equal. */
int wgi_graph_is(const wgi_graph *g, uint32_t node, double value);

/* Nodes of built-in operations, by the name of the row. */
#define WGI_GRAPH1(g, name, a) wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a})
#define WGI_GRAPH2(g, name, a, b)                                                              \
    wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a, b})
#define WGI_GRAPH4(g, name, a, b, c, d)                                                        \
    wgi_graph_op(g, &wgi_scalar_ops[WGI_ROW_##name], (uint32_t[]){a, b, c, d})

/* Adds all nodes and comparisons of a function. input: the nodes that stand for its n input
 * entries; map[i] becomes the node that its node i has become. */
void wgi_graph_take(wgi_graph *g, const wg_function *f, const uint32_t *input, uint32_t *map);

/* A function with these arguments, in the arena of the graph, as the body of a repeat: it has
 * no bytecode, and names are copied. result: nodes of all output entries; entries of a summed
 * output are summed here unless they are already. NULL: a failure. */
wg_function *wgi_graph_body(wgi_graph *g, size_t inputs, const wg_argument *input,
                            size_t outputs, const wg_argument *output, const uint32_t *result);

/* `count` nodes of another graph without repeats, and all that they need, with `input` in the
 * place of its inputs: `copy` of each `node`, either of them WGI_NO_NODE if the other is. */
void wgi_graph_copies(wgi_graph *g, const wgi_graph *from, const uint32_t *input, size_t count,
                      const uint32_t *node, uint32_t *copy);
static inline uint32_t wgi_graph_copy(wgi_graph *g, const wgi_graph *from,
                                      const uint32_t *input, uint32_t node) {
    uint32_t copy = 0;
    wgi_graph_copies(g, from, input, 1, &node, &copy);
    return copy;
}

size_t wgi_argument_size(const wg_argument *a);

/* ---- what kinds know: kinds.c, and a file of its own for each of the larger ones ---- */

/* The value of a node that is neither a sum nor has parts, at operands x. */
double wgi_node_value(const wgi_node *node, const double *x);
/* Does an operation on an array stay one node? The others are written out (taking_entry.c). */
int wgi_array_is_node(unsigned array);
/* Is the value NaN whenever an operand is? */
int wgi_node_shows_nan(const wgi_node *n);
/* Of values and partials of operations: a hash of the operation and its operands, which are in
 * the list `operand`; are both the same? */
size_t wgi_scalar_hash(const wgi_node *n, const uint32_t *operand);
int wgi_scalar_same(const wgi_node *a, const wgi_node *b, const uint32_t *operand);
/* What a node costs at a point, as a rough number of additions; r: the repeat that it stands
 * for. */
size_t wgi_node_cost(const wgi_node *n, const struct wgi_repeat *r);
/* Is node i a sum over the points? (A sum of what is done once is only a multiple of it.) */
static inline int wgi_node_sums_points(const wg_function *f, size_t i) {
    return f->node[i].kind == WGI_NODE_SUM &&
           f->node[f->operand[f->node[i].first]].when == WGI_EACH;
}
/* Does any node have parts? */
int wgi_function_has_wholes(const wg_function *f);
/* The cost of all operations at a point; the cost of those that have parts. */
size_t wgi_function_cost(const wg_function *f);
size_t wgi_function_cost_of_wholes(const wg_function *f);

/* The shape of a node with parts; r: the repeat that it stands for. */
wgi_node_shape wgi_node_shape_of(const wgi_node *n, const struct wgi_repeat *r);

/* For each kind of single nodes: _value, at operands x; _partial by operand k, as a node;
 * _again, the node once more, or a simpler one, with operands x in another graph. */
#define KIND_NODE(NAME, stem, ...)                                                             \
    double wgi_##stem##_value(const wgi_node *n, const double *x);                             \
    uint32_t wgi_##stem##_partial(wgi_graph *g, uint32_t node, size_t k);                      \
    uint32_t wgi_##stem##_again(wgi_graph *g, const wgi_node *n, const uint32_t *x);
/* For each kind of nodes with parts; r: the repeat that the node stands for. _reverse: adds to
 * to[x], for all operands x that are wanted, what the adjoints bar[k] of its parts k
 * contribute. _forward: sets the tangents of the parts, tangent[node + 1 + k], from those of
 * the operands. In all of them WGI_NO_NODE is 0. */
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    wgi_node_shape wgi_##stem##_shape(const wgi_node *n, const struct wgi_repeat *r);          \
    size_t wgi_##stem##_cost(const wgi_node *n, const struct wgi_repeat *r);                   \
    uint32_t wgi_##stem##_again(wgi_graph *g, const wgi_node *n, const struct wgi_repeat *r,   \
                                const uint32_t *x);                                            \
    void wgi_##stem##_reverse(wgi_graph *g, uint32_t node, const uint32_t *bar,                \
                              const unsigned char *wanted, uint32_t *to);                      \
    void wgi_##stem##_forward(wgi_graph *g, uint32_t node, uint32_t *tangent);
#include "kinds.def"

/* ---- what depends on what, of any list of nodes ---- */

/* Marks all nodes from which marked ones are computed. */
void wgi_mark_needed(size_t nodes, const wgi_node *node, const uint32_t *operand,
                     unsigned char *needed);
/* Marks all nodes that are computed from marked ones. */
void wgi_mark_dependent(size_t nodes, const wgi_node *node, const uint32_t *operand,
                        unsigned char *depends);

/* ---- derivatives: rules.c, sweep.c ---- */

#define WGI_NO_NODE UINT32_MAX /* in the place of a node: the number 0, without a node */

/* Of adjoints, tangents and partials, where WGI_NO_NODE is 0: the sum a + b; the product a b by
 * the zero rule; the node itself, or a node that is the number 0. */
static inline uint32_t wgi_graph_plus(wgi_graph *g, uint32_t a, uint32_t b) {
    if (a == WGI_NO_NODE) return b;
    return b == WGI_NO_NODE ? a : WGI_GRAPH2(g, add, a, b);
}
uint32_t wgi_graph_product(wgi_graph *g, uint32_t a, uint32_t b);
static inline uint32_t wgi_graph_or_zero(wgi_graph *g, uint32_t a) {
    return a != WGI_NO_NODE ? a : wgi_graph_number(g, 0);
}

/* The recipes of partials that graphs in one arena share; NULL: a failure. */
typedef struct wgi_recipes wgi_recipes;
wgi_recipes *wgi_graph_recipes(wgi_graph *g);
/* The partial of a node by its operand k, as a node. */
uint32_t wgi_graph_partial(wgi_graph *g, uint32_t node, size_t k);

/* Adjoints of all nodes below `nodes`; WGI_NO_NODE: 0. The seed of result i is in each[i] where
 * the result is one number per point, in once[i] where it is one for all points. On return the
 * adjoint of input i is in once[i] if it is shared, in each[i] if not. wanted[i]: does node i
 * depend on an input that is differentiated? */
void wgi_graph_reverse(wgi_graph *g, size_t nodes, const unsigned char *wanted, uint32_t *once,
                       uint32_t *each);
/* The same at a single point: seeds and adjoints are in `bar`, and nothing is summed. No seed
 * may depend on a sum. */
void wgi_graph_reverse_point(wgi_graph *g, size_t nodes, const unsigned char *wanted,
                             uint32_t *bar);
/* Tangents of all nodes below `nodes` that are needed (NULL: all are), from those of the
 * inputs; WGI_NO_NODE: 0. Those of the others stay as they are. They have signs (signed.h). */
void wgi_graph_forward(wgi_graph *g, size_t nodes, const unsigned char *needed,
                       uint32_t *tangent);

/* ---- loaded code ---- */

/* Code that was loaded (make/compile.c). A function is freed through `close`, so that programs
 * that compile nothing need no loader. */
typedef struct wgi_native {
    wgi_home home;
    void (*close)(wg_function *f);
    void *library;
    /* for one point: a wg_point_call, or NULL */
    int (*point)(const double *const *arg, double *const *res);
} wgi_native;

#endif
