/* SPDX-License-Identifier: MIT */
/* The builder of graphs. A node that is there already is shared, an operation on numbers is
 * folded, an operation that IEEE arithmetic makes superfluous falls away. Simplifications give
 * the same bits, NaN payloads aside; nothing is reassociated. */
#include "graph.h"
#include "repeat.h"

#include "ops/matrix/whole.h"
#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"
#include "tape/sparsity/sparsity.h"

#include <math.h>
#include <string.h>

/* ---- room ---- */

/* Room for `want` elements of a list. */
static void *grow(wgi_graph *g, wgi_list_room *room, void *old, size_t used, size_t want,
                  size_t size) {
    return wgi_list_need(g->c, room, old, used * size, want * size);
}

uint32_t *wgi_node_list(wgi_core *c, size_t count) {
    return wg_tape_keep(&c->head, (count + 1) * sizeof(uint32_t), NULL);
}

uint32_t *wgi_no_nodes(wgi_core *c, size_t count) {
    uint32_t *const list = wgi_node_list(c, count);
    for (size_t i = 0; list != NULL && i < count; i++) list[i] = WGI_NO_NODE;
    return list;
}

unsigned char *wgi_node_marks(wgi_core *c, size_t count) {
    unsigned char *const mark = wg_tape_keep(&c->head, count + 1, NULL);
    return mark == NULL ? NULL : memset(mark, 0, count + 1);
}

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t bits_of(double x) {
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

/* The bits of the union of a node, whichever member is in use. */
static uint64_t holds(const wgi_node *n) { return bits_of(n->value); }

static inline uint64_t hash(const wgi_graph *g, const wgi_node *n) {
    const uint32_t *const x = g->operand + n->first;
    uint64_t h = mix((uint64_t)n->kind << 56 | (uint64_t)n->array << 48 | n->part, holds(n));
    if (n->count == 2) return mix(h, (uint64_t)x[0] << 32 | x[1]);
    for (uint32_t k = 0; k < n->count; k++) h = mix(h, x[k]);
    return h;
}

/* Lists of operands are short mostly: calls of memcmp and memcpy would take longer. */
static int same_list(uint32_t count, const uint32_t *x, const uint32_t *y) {
    for (uint32_t k = 0; k < count; k++)
        if (x[k] != y[k]) return 0;
    return 1;
}

static int same(const wgi_graph *g, const wgi_node *x, const wgi_node *y) {
    return x->kind == y->kind && x->part == y->part && x->array == y->array &&
           holds(x) == holds(y) && x->count == y->count &&
           same_list(x->count, g->operand + x->first, g->operand + y->first);
}

/* ---- the table of nodes ----
 *
 * A node stands in the bucket of its newest operand, or, when that is full, in the bucket of
 * its hash in another table, which grows by being made anew. What is made about the same time
 * has operands that are about as new: the bucket is in the cache mostly, and so are the nodes in
 * it. Nothing is ever taken out: a bucket with room ends the search. */

enum {
    FEWEST = 256, /* nodes that there is room for at first */
    NEAR = 8,     /* nodes whose readers share a bucket */
    LOAD = 8,     /* nodes per bucket of the other table, at most */
    GROWTH = 4,   /* of that table at a time: the nodes in it are far from each other */
    STEP = 1024   /* buckets that are added at a time, at most: they stay in the cache */
};

typedef struct search {
    wgi_graph_bucket *in; /* has room, if the node is not there */
    uint64_t hash;
    uint32_t found;  /* or WGI_NO_NODE */
    unsigned spared; /* is that bucket in the other table? */
} search;

static unsigned char tag_of(uint64_t h) { return (unsigned char)(h >> 56); }

/* Tags stand in two words. They are read and written as such: a word that is read just after a
 * byte of it was written comes late. */
typedef struct tags {
    uint64_t first; /* of the first eight nodes, from the low end */
    uint32_t last;
} tags;
_Static_assert(sizeof(uint64_t) + sizeof(uint32_t) == WGI_BUCKET, "tags of a bucket");

static tags tags_of(const wgi_graph_bucket *b) {
    tags t;
    memcpy(&t.first, b->tag, sizeof t.first);
    memcpy(&t.last, b->tag + sizeof t.first, sizeof t.last);
    return t;
}

/* A bit in each byte that is this one, its highest; above one of these there may be others. */
static inline uint64_t equal_bytes(uint64_t bytes, unsigned char tag) {
    const uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    bytes ^= ones * tag;
    return (bytes - ones) & ~bytes & high;
}

/* The node among those with a bit in `hits`, whose lowest byte is that of number `from`. */
static inline uint32_t find_among(const wgi_graph *g, const wgi_graph_bucket *b,
                                  const wgi_node *n, uint64_t hits, uint32_t from) {
    for (; hits != 0; hits &= hits - 1) {
        const uint32_t k = from + (uint32_t)__builtin_ctzll(hits) / 8;
        if (k >= b->count) return WGI_NO_NODE;
        if (same(g, n, &g->node[b->node[k]])) return b->node[k];
    }
    return WGI_NO_NODE;
}

static inline uint32_t find_in(const wgi_graph *g, const wgi_graph_bucket *b, const wgi_node *n,
                               unsigned char tag) {
    const tags t = tags_of(b);
    const uint64_t first = equal_bytes(t.first, tag);
    const uint64_t last = equal_bytes(t.last, tag) & UINT32_MAX;
    if ((first | last) == 0) return WGI_NO_NODE;
    const uint32_t found = find_among(g, b, n, first, 0);
    return found != WGI_NO_NODE ? found : find_among(g, b, n, last, 8);
}

static search find_spared(const wgi_graph *g, const wgi_node *n, uint64_t h) {
    search s = {NULL, h, WGI_NO_NODE, 1};
    for (size_t at = (size_t)(h >> 20);; at++) {
        s.in = &g->spare[at & (g->spares - 1)];
        s.found = find_in(g, s.in, n, tag_of(h));
        if (s.found != WGI_NO_NODE || s.in->count < WGI_BUCKET) return s;
    }
}

/* newest: its newest operand, if it has any. */
static inline search find(const wgi_graph *g, const wgi_node *n, uint32_t newest) {
    search s = {NULL, hash(g, n), WGI_NO_NODE, 0};
    if (n->count == 0) return find_spared(g, n, s.hash);
    s.in = &g->table[newest / NEAR];
    s.found = find_in(g, s.in, n, tag_of(s.hash));
    if (s.found != WGI_NO_NODE || s.in->count < WGI_BUCKET) return s;
    return find_spared(g, n, s.hash);
}

static void put(wgi_graph_bucket *in, uint64_t h, uint32_t node) {
    const uint32_t k = in->count++;
    tags t = tags_of(in);
    in->node[k] = node;
    if (k < 8) t.first |= (uint64_t)tag_of(h) << 8 * k;
    else t.last |= (uint32_t)tag_of(h) << 8 * (k - 8);
    memcpy(in->tag, &t.first, sizeof t.first);
    memcpy(in->tag + sizeof t.first, &t.last, sizeof t.last);
}

/* Buckets for the readers of one more node. */
static void add_buckets(wgi_graph *g) {
    const size_t more = g->buckets < STEP ? g->buckets : STEP;
    const size_t buckets = g->buckets + (more == 0 ? FEWEST / NEAR : more);
    wgi_graph_bucket *const table =
        grow(g, &g->table_room, g->table, g->buckets, buckets, sizeof *table);
    if (table == NULL) return;
    memset(table + g->buckets, 0, (buckets - g->buckets) * sizeof *table);
    g->table = table;
    g->buckets = buckets;
}

static void rehash(wgi_graph *g, size_t spares) {
    wgi_list_room room = {0, 0};
    wgi_graph_bucket *const to = grow(g, &room, NULL, 0, spares, sizeof *to);
    if (to == NULL) return;
    memset(to, 0, spares * sizeof *to);
    for (size_t k = 0; k < g->spares; k++)
        for (uint32_t i = 0; i < g->spare[k].count; i++) {
            const uint32_t node = g->spare[k].node[i];
            const uint64_t h = hash(g, &g->node[node]);
            size_t at = (size_t)(h >> 20) & (spares - 1);
            while (to[at].count == WGI_BUCKET) at = (at + 1) & (spares - 1);
            put(&to[at], h, node);
        }
    wgi_list_give(g->c, &g->spare_room);
    g->spare = to, g->spares = spares, g->spare_room = room;
}

static int make_room_for(wgi_graph *g, size_t count) {
    if (g->c->status != WG_OK) return 0;
    if (g->nodes >= UINT32_MAX / 4 || g->operands + count >= UINT32_MAX / 2) {
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: more than %zu operations", g->call, g->nodes);
        return 0;
    }
    wgi_node *const node =
        grow(g, &g->node_room, g->node, g->nodes, g->nodes + 1, sizeof *node);
    if (node != NULL) g->node = node;
    uint32_t *const operand = grow(g, &g->operand_room, g->operand, g->operands,
                                   g->operands + count, sizeof *operand);
    if (operand != NULL) g->operand = operand;
    if (g->nodes >= NEAR * g->buckets) add_buckets(g);
    if (g->spared >= LOAD * g->spares) rehash(g, GROWTH * g->spares);
    const size_t near = NEAR * g->buckets, room = g->node_room.bytes / sizeof *g->node;
    g->node_limit = room < near ? room : near;
    g->operand_limit = g->operand_room.bytes / sizeof *g->operand;
    g->spare_limit = LOAD * g->spares;
    return g->c->status == WG_OK;
}

/* Makes room for one more node of `count` operands; 0: a failure. */
static inline int room_for(wgi_graph *g, size_t count) {
    /* of buckets there are no more than make_room_for allows nodes, and another step */
    const int is_there = g->nodes < g->node_limit && g->spared < g->spare_limit &&
                         g->operands + count <= g->operand_limit &&
                         g->operands + count < UINT32_MAX / 2;
    return is_there && g->c->status == WG_OK ? 1 : make_room_for(g, count);
}

void wgi_graph_open(wgi_graph *g, wgi_core *c, const char *call) {
    memset(g, 0, sizeof *g);
    g->c = c;
    g->call = call;
    g->shares.of = WGI_NO_NODE;
    g->node = grow(g, &g->node_room, NULL, 0, FEWEST, sizeof *g->node);
    g->operand = grow(g, &g->operand_room, NULL, 0, 2 * FEWEST, sizeof *g->operand);
    add_buckets(g);
    rehash(g, 4);
}

void wgi_graph_close_table(wgi_graph *g) {
    wgi_list_give(g->c, &g->table_room);
    wgi_list_give(g->c, &g->spare_room);
}

void wgi_graph_close(wgi_graph *g) {
    wgi_list_give(g->c, &g->node_room);
    wgi_list_give(g->c, &g->operand_room);
    wgi_graph_close_table(g);
}

/* ---- nodes ---- */

uint32_t wgi_graph_input(wgi_graph *g, wgi_when when) {
    if (!room_for(g, 0)) return 0;
    wgi_node *const n = &g->node[g->nodes];
    memset(n, 0, sizeof *n);
    n->kind = WGI_NODE_INPUT;
    n->when = (unsigned char)when;
    n->part = (uint32_t)g->nodes;
    return (uint32_t)g->nodes++;
}

/* When a node can be computed whose operands are of the times of which `seen` has the bits. */
static inline unsigned char when_of(wgi_graph *g, unsigned kind, unsigned seen) {
    if ((seen >> WGI_AFTER & 1) && ((seen >> WGI_EACH & 1) || kind == WGI_NODE_SUM))
        (void)wgi_fail(g->c, WG_EMODE, "%s: a sum over the points is used at the points",
                       g->call);
    return wgi_when_of(seen, kind);
}

/* How many nodes are asked for between two looks at whether the user wants to go on. */
enum { ASKED = 4096 };

/* The node of this kind and these operands, which is there or made; `held`: the bits of its
 * union. They go to where it will stand: a whole read just after a part was written is late. */
static inline __attribute__((always_inline)) uint32_t
node_with(wgi_graph *g, wgi_node_kind kind, unsigned array, uint32_t part, uint64_t held,
          size_t count, const uint32_t *x) {
    if (++g->asked % ASKED == 0) (void)wgi_progress_go_on(g->c, g->call);
    if (!room_for(g, count)) return 0;
    wgi_node *const node = g->node, *const n = &node[g->nodes];
    uint32_t *const to = g->operand + g->operands, newest = 0;
    unsigned seen = 0;
    for (size_t k = 0; k < count; k++) {
        const uint32_t of = x[k];
        to[k] = of;
        seen |= 1u << node[of].when;
        newest = of > newest ? of : newest;
    }
    n->kind = (unsigned char)kind, n->array = (unsigned char)array, n->part = part;
    memcpy(&n->value, &held, sizeof held);
    n->first = (uint32_t)g->operands;
    n->count = (uint32_t)count;
    n->when = when_of(g, kind, seen);
    const search s = find(g, n, newest);
    if (s.found != WGI_NO_NODE) {
        if (kind != WGI_NODE_NUMBER) g->stats.repeated++;
        return s.found;
    }
    g->operands += count;
    g->spared += s.spared;
    put(s.in, s.hash, (uint32_t)g->nodes);
    return (uint32_t)g->nodes++;
}

static uint32_t node_of(wgi_graph *g, wgi_node_kind kind, unsigned array, uint32_t part,
                        uint64_t held, size_t count, const uint32_t *x) {
    return node_with(g, kind, array, part, held, count, x);
}

/* The same of two operands, as most have them. */
static uint32_t node_of_two(wgi_graph *g, wgi_node_kind kind, uint64_t held, uint32_t a,
                            uint32_t b) {
    return node_with(g, kind, 0, 0, held, 2, (uint32_t[]){a, b});
}

/* The union of a node of this operation. */
static uint64_t held_op(const wg_scalar_op *op) {
    const wgi_node n = {.op = op};
    return holds(&n);
}

uint32_t wgi_graph_node(wgi_graph *g, const wgi_node *like, size_t count, const uint32_t *x) {
    return node_of(g, (wgi_node_kind)like->kind, like->array, like->part, holds(like), count,
                   x);
}

uint32_t wgi_graph_number(wgi_graph *g, double value) {
    if (g->c->status != WG_OK) return 0;
    /* the same few are asked for again and again: no place is made ready for those */
    const wgi_node n = {.kind = WGI_NODE_NUMBER, .value = value};
    const uint32_t found = find(g, &n, 0).found;
    return found != WGI_NO_NODE ? found
                                : node_of(g, WGI_NODE_NUMBER, 0, 0, bits_of(value), 0, NULL);
}

static inline int number_of(const wgi_graph *g, uint32_t node, double *value) {
    const wgi_node *const n = &g->node[node];
    if (n->kind != WGI_NODE_NUMBER) return 0;
    *value = n->value;
    return 1;
}

int wgi_graph_is(const wgi_graph *g, uint32_t node, double value) {
    double x;
    return number_of(g, node, &x) && x == value;
}

/* Is it the number `value`, bit by bit? -0 is not 0. */
static int is_bits(const wgi_graph *g, uint32_t node, double value) {
    double x;
    return number_of(g, node, &x) && bits_of(x) == bits_of(value);
}

/* ---- simplifications ---- */

/* Is it the negative of a node, and of which? */
static int negated(const wgi_graph *g, uint32_t node, uint32_t *of) {
    const wgi_node *const n = &g->node[node];
    if (n->kind != WGI_NODE_OP || n->op != &wgi_scalar_ops[WGI_ROW_neg]) return 0;
    *of = g->operand[n->first];
    return 1;
}

/* Is it a power of two whose reciprocal is one, too? */
static int has_exact_inverse(double x) {
    int e;
    return isnormal(x) && fabs(frexp(x, &e)) == 0.5 && isnormal(1 / x);
}

/* Is it neither a number nor a negative, so that no product, quotient, sum or difference of it
 * and another one like it is simpler? */
static inline int is_plain(const wgi_graph *g, uint32_t node) {
    const wgi_node *const n = &g->node[node];
    return n->kind != WGI_NODE_NUMBER &&
           (n->kind != WGI_NODE_OP || n->op != &wgi_scalar_ops[WGI_ROW_neg]);
}

/* A node that gives the same number with less work, or WGI_NO_NODE. */
static uint32_t simpler(wgi_graph *g, unsigned which, const uint32_t *x) {
    uint32_t p = 0, q = 0;
    double c;
    switch (which) {
    case WGI_ROW_neg:
        return negated(g, x[0], &p) ? p : WGI_NO_NODE;
    case WGI_ROW_square:
        return WGI_GRAPH2(g, mul, x[0], x[0]);
    case WGI_ROW_cube:
        return WGI_GRAPH2(g, mul, WGI_GRAPH2(g, mul, x[0], x[0]), x[0]);
    case WGI_ROW_reciprocal:
        return WGI_GRAPH2(g, div, wgi_graph_number(g, 1), x[0]);
    case WGI_ROW_rsqrt:
        return WGI_GRAPH2(g, div, wgi_graph_number(g, 1), WGI_GRAPH1(g, sqrt, x[0]));
    case WGI_ROW_fabs:
        return negated(g, x[0], &p) ? WGI_GRAPH1(g, fabs, p) : WGI_NO_NODE;
    case WGI_ROW_add:
        if (is_bits(g, x[0], -0.0)) return x[1];
        if (is_bits(g, x[1], -0.0)) return x[0];
        if (negated(g, x[1], &p)) return WGI_GRAPH2(g, sub, x[0], p);
        if (negated(g, x[0], &p)) return WGI_GRAPH2(g, sub, x[1], p);
        return WGI_NO_NODE;
    case WGI_ROW_sub:
        if (is_bits(g, x[1], 0.0)) return x[0];
        if (is_bits(g, x[0], -0.0)) return WGI_GRAPH1(g, neg, x[1]);
        return negated(g, x[1], &p) ? WGI_GRAPH2(g, add, x[0], p) : WGI_NO_NODE;
    case WGI_ROW_mul:
        for (int i = 0; i < 2; i++) {
            if (wgi_graph_is(g, x[i], 1)) return x[1 - i];
            if (wgi_graph_is(g, x[i], -1)) return WGI_GRAPH1(g, neg, x[1 - i]);
        }
        if (negated(g, x[0], &p))
            return negated(g, x[1], &q) ? WGI_GRAPH2(g, mul, p, q)
                                        : WGI_GRAPH1(g, neg, WGI_GRAPH2(g, mul, p, x[1]));
        return negated(g, x[1], &q) ? WGI_GRAPH1(g, neg, WGI_GRAPH2(g, mul, x[0], q))
                                    : WGI_NO_NODE;
    case WGI_ROW_div:
        if (wgi_graph_is(g, x[1], 1)) return x[0];
        if (number_of(g, x[1], &c) && has_exact_inverse(c))
            return WGI_GRAPH2(g, mul, x[0], wgi_graph_number(g, 1 / c));
        if (negated(g, x[0], &p))
            return negated(g, x[1], &q) ? WGI_GRAPH2(g, div, p, q)
                                        : WGI_GRAPH1(g, neg, WGI_GRAPH2(g, div, p, x[1]));
        return negated(g, x[1], &q) ? WGI_GRAPH1(g, neg, WGI_GRAPH2(g, div, x[0], q))
                                    : WGI_NO_NODE;
    case WGI_ROW_pow:
        if (wgi_graph_is(g, x[1], 1)) return x[0];
        return wgi_graph_is(g, x[1], 0) ? wgi_graph_number(g, 1) : WGI_NO_NODE;
    case WGI_ROW_select_lt:
    case WGI_ROW_select_le:
    case WGI_ROW_select_gt:
    case WGI_ROW_select_ge:
    case WGI_ROW_select_eq:
    case WGI_ROW_select_ne: {
        double a, b;
        if (x[2] == x[3]) return x[2];
        if (!number_of(g, x[0], &a) || !number_of(g, x[1], &b)) return WGI_NO_NODE;
        return wgi_compare(which - WGI_ROW_select_lt, a, b) ? x[2] : x[3];
    }
    default:
        return WGI_NO_NODE;
    }
}

/* Is the operation written out in others? That is no simplification of the user's text, and is
 * not counted as one. */
static int expands(unsigned which) {
    return which == WGI_ROW_square || which == WGI_ROW_cube || which == WGI_ROW_reciprocal ||
           which == WGI_ROW_rsqrt;
}

/* The node of two operands whose order does not matter. */
static inline uint32_t node_of_pair(wgi_graph *g, wgi_node_kind kind, uint64_t held, uint32_t a,
                                    uint32_t b) {
    return node_of_two(g, kind, held, a < b ? a : b, a < b ? b : a);
}

/* Is it a sum, a difference, a product or a quotient? */
static inline int is_arithmetic(const wg_scalar_op *op) {
    _Static_assert(WGI_ROW_sub == WGI_ROW_add + 1 && WGI_ROW_mul == WGI_ROW_add + 2 &&
                       WGI_ROW_div == WGI_ROW_add + 3,
                   "rows of arithmetic are side by side");
    return op >= &wgi_scalar_ops[WGI_ROW_add] && op <= &wgi_scalar_ops[WGI_ROW_div];
}

uint32_t wgi_graph_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x) {
    if (g->c->status != WG_OK) return 0;
    const int commutes =
        op == &wgi_scalar_ops[WGI_ROW_add] || op == &wgi_scalar_ops[WGI_ROW_mul];
    if (is_arithmetic(op) && is_plain(g, x[0]) && is_plain(g, x[1]))
        return commutes ? node_of_pair(g, WGI_NODE_OP, held_op(op), x[0], x[1])
                        : node_of_two(g, WGI_NODE_OP, held_op(op), x[0], x[1]);
    double value[4];
    int numbers = 0;
    for (unsigned k = 0; k < op->arity; k++) numbers += number_of(g, x[k], &value[k]);
    if (numbers == (int)op->arity) {
        g->stats.folded++;
        return wgi_graph_number(g, op->value(value));
    }
    if (wgi_is_users(op)) return node_of(g, WGI_NODE_OP, 0, 0, held_op(op), op->arity, x);
    const unsigned which = (unsigned)(op - wgi_scalar_ops);
    const uint32_t less = simpler(g, which, x);
    if (less != WGI_NO_NODE) {
        g->stats.simplified += !expands(which);
        return less;
    }
    if (commutes) return node_of_pair(g, WGI_NODE_OP, held_op(op), x[0], x[1]);
    return node_of(g, WGI_NODE_OP, 0, 0, held_op(op), op->arity, x);
}

uint32_t wgi_graph_times(wgi_graph *g, uint32_t a, uint32_t b) {
    if (g->c->status != WG_OK) return 0;
    double x = 0, y = 0;
    uint32_t p;
    if (a != b && is_plain(g, a) && is_plain(g, b))
        return node_of_pair(g, WGI_NODE_TIMES, 0, a, b);
    const int first = number_of(g, a, &x), second = number_of(g, b, &y);
    if ((first && x == 0) || (second && y == 0)) return wgi_graph_number(g, 0);
    /* a factor that is neither 0 nor infinite: the zero rule changes nothing */
    if ((first && isfinite(x)) || (second && isfinite(y)) || a == b)
        return WGI_GRAPH2(g, mul, a, b);
    if (negated(g, a, &p)) return WGI_GRAPH1(g, neg, wgi_graph_times(g, p, b));
    if (negated(g, b, &p)) return WGI_GRAPH1(g, neg, wgi_graph_times(g, a, p));
    return node_of_pair(g, WGI_NODE_TIMES, 0, a, b);
}

uint32_t wgi_graph_sum(wgi_graph *g, uint32_t a) {
    if (g->c->status != WG_OK) return 0;
    if (wgi_graph_is(g, a, 0)) return a;
    return node_of(g, WGI_NODE_SUM, 0, 0, 0, 1, &a);
}

uint32_t wgi_graph_array(wgi_graph *g, unsigned array, size_t count, const uint32_t *x) {
    double index;
    if (g->c->status != WG_OK) return 0;
    if (array == WGI_ARRAY_lookup && number_of(g, x[count - 1], &index)) {
        const size_t k = wgi_array_index(count - 1, index);
        g->stats.simplified++;
        return k < count - 1 ? x[k] : wgi_graph_number(g, NAN);
    }
    return node_of(g, WGI_NODE_ARRAY, array, 0, 0, count, x);
}

/* ---- nodes with parts ---- */

uint32_t wgi_graph_whole(wgi_graph *g, const wgi_node *like, wgi_node_shape shape,
                         const uint32_t *x) {
    const size_t before = g->nodes;
    const uint32_t node = wgi_graph_node(g, like, shape.operands, x);
    if (node < before) return node;
    if (g->whole_of == NULL) g->whole_of = g->taking;
    for (uint32_t k = 0; k < shape.parts && g->c->status == WG_OK; k++)
        (void)node_of(g, WGI_NODE_PART, 0, k, 0, 1, &node);
    return node;
}

uint32_t wgi_graph_matrices(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    const wgi_node_shape shape = wgi_node_shape_of(n, NULL);
    if (g->c->status != WG_OK) return 0;
    if (shape.operands < UINT32_MAX / 8 && shape.parts < UINT32_MAX / 8)
        return wgi_graph_whole(g, n, shape, x);
    const int whole = (wgi_node_row(n)->holds & WGI_HOLDS_WHOLE) != 0;
    (void)wgi_fail(g->c, WG_ENOMEM, "%s: %s%smatrices of more than %u elements", g->call,
                   whole ? wgi_wholes[n->array]->op->name : "", whole ? ": " : "",
                   UINT32_MAX / 8);
    return 0;
}

/* The number of a repeat in the list: that of an equal one, or that of a new entry. */
static uint32_t repeat_place(wgi_graph *g, const wgi_repeat *r) {
    for (size_t k = g->repeats; k-- > 0;)
        if (wgi_repeat_same(g->repeat[k], r)) return (uint32_t)k;
    const wgi_repeat **const list =
        grow(g, &g->repeat_room, g->repeat, g->repeats, g->repeats + 1, sizeof *list);
    if (list == NULL) return 0;
    g->repeat = list;
    g->repeat[g->repeats] = r;
    return (uint32_t)g->repeats++;
}

uint32_t wgi_graph_repeat(wgi_graph *g, const wgi_repeat *r, const uint32_t *x) {
    if (g->c->status != WG_OK) return 0;
    if (!wgi_repeat_fits(r)) {
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: %zu steps: more than %d numbers", g->call,
                       r->steps, WGI_REPEAT_MOST);
        return 0;
    }
    const wgi_node n = {.kind = WGI_NODE_REPEAT, .part = repeat_place(g, r)};
    return wgi_graph_whole(g, &n, wgi_repeat_shape(&n, r), x);
}

/* ---- comparisons ---- */

/* The place of a comparison in the table: where an equal one is, or a free one. */
static size_t guard_place(const wgi_graph *g, const wgi_graph_guard *x) {
    uint64_t h = mix((uint64_t)x->comparison * 2 + (uint64_t)x->outcome + 1, x->a);
    h = mix(h, x->b);
    size_t at = (size_t)h & (g->guard_slots - 1);
    for (; g->guard_table[at] != 0; at = (at + 1) & (g->guard_slots - 1))
        if (memcmp(&g->guard[g->guard_table[at] - 1], x, sizeof *x) == 0) break;
    return at;
}

/* A comparison that is there already is not added: a function and its derivatives compare the
 * same. */
void wgi_graph_guard_add(wgi_graph *g, uint32_t a, uint32_t b, unsigned comparison,
                         int outcome) {
    if (g->c->status != WG_OK) return;
    if (g->node[a].kind == WGI_NODE_NUMBER && g->node[b].kind == WGI_NODE_NUMBER) {
        if (wgi_compare(comparison, g->node[a].value, g->node[b].value) != outcome)
            (void)wgi_fail(g->c, WG_EGUARD,
                           "%s: a comparison comes out differently from the recording, of %g "
                           "and %g",
                           g->call, g->node[a].value, g->node[b].value);
        return;
    }
    const wgi_graph_guard x = {a, b, comparison, outcome};
    wgi_graph_guard *const guard =
        grow(g, &g->guard_room, g->guard, g->guards, g->guards + 1, sizeof *guard);
    if (guard == NULL) return;
    g->guard = guard;
    if (2 * (g->guards + 1) > g->guard_slots) {
        const size_t slots = g->guard_slots == 0 ? 32 : 2 * g->guard_slots;
        g->guard_table = wg_tape_keep(&g->c->head, slots * sizeof *g->guard_table, NULL);
        if (g->guard_table == NULL) return;
        memset(g->guard_table, 0, slots * sizeof *g->guard_table);
        g->guard_slots = slots;
        for (uint32_t k = 0; k < g->guards; k++)
            g->guard_table[guard_place(g, &guard[k])] = k + 1;
    }
    const size_t at = guard_place(g, &x);
    if (g->guard_table[at] != 0) return;
    guard[g->guards++] = x;
    g->guard_table[at] = (uint32_t)g->guards;
}

/* ---- what depends on what ---- */

void wgi_mark_needed(size_t nodes, const wgi_node *node, const uint32_t *operand,
                     unsigned char *needed) {
    for (size_t i = nodes; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < node[i].count; k++)
            needed[operand[node[i].first + k]] = 1;
}

void wgi_mark_dependent(size_t nodes, const wgi_node *node, const uint32_t *operand,
                        unsigned char *depends) {
    for (size_t i = 0; i < nodes; i++)
        for (uint32_t k = 0; k < node[i].count; k++)
            depends[i] |= depends[operand[node[i].first + k]];
}

/* ---- taking over other graphs ---- */

uint32_t wgi_scalar_again(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    return wgi_graph_op(g, n->op, x);
}
uint32_t wgi_first_again(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    return wgi_graph_node(g, n, n->count, x);
}
uint32_t wgi_second_again(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    return wgi_first_again(g, n, x);
}
uint32_t wgi_times_again(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    (void)n;
    return wgi_graph_times(g, x[0], x[1]);
}
uint32_t wgi_array_again(wgi_graph *g, const wgi_node *n, const uint32_t *x) {
    return wgi_graph_array(g, n->array, n->count, x);
}

uint32_t wgi_graph_again(wgi_graph *g, const wgi_node *n, const wgi_repeat *r,
                         const uint32_t *x) {
    switch (n->kind) {
    case WGI_NODE_NUMBER:
        return wgi_graph_number(g, n->value);
    case WGI_NODE_SUM:
        return wgi_graph_sum(g, x[0]);
    case WGI_NODE_PART:
        return x[0] + 1 + n->part;
#define KIND_NODE(NAME, stem, ...)                                                             \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_again(g, n, x);
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_again(g, n, r, x);
#include "kinds.def"
    default:
        return wgi_graph_node(g, n, n->count, x);
    }
}

static uint32_t *room_for_operands(wgi_graph *g, size_t nodes, const wgi_node *node) {
    size_t most = 4;
    for (size_t i = 0; i < nodes; i++)
        if (node[i].count > most) most = node[i].count;
    return wgi_node_list(g->c, most);
}

void wgi_graph_take(wgi_graph *g, const wg_function *f, const uint32_t *input, uint32_t *map) {
    uint32_t *const x = room_for_operands(g, f->nodes, f->node);
    for (size_t i = 0; i < f->nodes && g->c->status == WG_OK; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) x[k] = map[f->operand[n->first + k]];
        map[i] = n->kind == WGI_NODE_INPUT ? input[i]
                                           : wgi_graph_again(g, n, wgi_repeat_of(f, n), x);
    }
    for (size_t k = 0; k < f->guards && g->c->status == WG_OK; k++)
        wgi_graph_guard_add(g, map[f->guard[k].a], map[f->guard[k].b], f->guard[k].comparison,
                            f->guard[k].outcome);
}

void wgi_graph_copies(wgi_graph *g, const wgi_graph *from, const uint32_t *input, size_t count,
                      const uint32_t *node, uint32_t *copy) {
    uint32_t *const x = room_for_operands(g, from->nodes, from->node);
    uint32_t *const map = wgi_node_list(g->c, from->nodes);
    unsigned char *const needed = wgi_node_marks(g->c, from->nodes);
    if (g->c->status != WG_OK) return;
    for (size_t e = 0; e < count; e++)
        if (node[e] != WGI_NO_NODE) needed[node[e]] = 1;
    wgi_mark_needed(from->nodes, from->node, from->operand, needed);
    for (size_t i = 0; i < from->nodes && g->c->status == WG_OK; i++) {
        const wgi_node *const n = &from->node[i];
        if (!needed[i]) continue;
        for (uint32_t k = 0; k < n->count; k++) x[k] = map[from->operand[n->first + k]];
        map[i] = n->kind == WGI_NODE_INPUT ? input[n->part] : wgi_graph_again(g, n, NULL, x);
    }
    for (size_t e = 0; e < count; e++)
        copy[e] = node[e] != WGI_NO_NODE && g->c->status == WG_OK ? map[node[e]] : WGI_NO_NODE;
}
