/* SPDX-License-Identifier: MIT */
/* The builder of graphs: what is there already is shared, what has numbers for operands is
 * folded, what IEEE arithmetic leaves as it is falls away. Simplifications give the same bits,
 * NaN payloads aside; nothing is reassociated. */
#include "dense_node.h"
#include "graph.h"
#include "pieces.h"
#include "repeat.h"

#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"
#include "tape/sparsity/sparsity.h"

#include <math.h>
#include <string.h>

/* ---- room ---- */

/* At least `want` elements; a new place is twice the old one, which stays in the arena. */
static void *grow(wgi_graph *g, void *old, size_t used, size_t *room, size_t want,
                  size_t size) {
    if (want <= *room) return old;
    const size_t more = want > 2 * *room ? want : 2 * *room;
    void *const p = wg_tape_keep(&g->c->head, more * size, NULL);
    if (p == NULL) return NULL;
    if (used != 0) memcpy(p, old, used * size);
    *room = more;
    return p;
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

static uint64_t hash(const wgi_graph *g, const wgi_node *n) {
    uint64_t h = mix((uint64_t)n->kind << 32 | n->part, bits_of(n->value));
    h = mix(h, (uint64_t)(uintptr_t)n->op ^ (uint64_t)n->array << 56);
    for (uint32_t k = 0; k < n->count; k++) h = mix(h, g->operand[n->first + k]);
    return h;
}

static int same(const wgi_graph *g, const wgi_node *x, const wgi_node *y) {
    return x->kind == y->kind && x->part == y->part && x->array == y->array && x->op == y->op &&
           bits_of(x->value) == bits_of(y->value) && x->count == y->count &&
           (x->count == 0 || memcmp(g->operand + x->first, g->operand + y->first,
                                    x->count * sizeof(uint32_t)) == 0);
}

static void rehash(wgi_graph *g, size_t slots) {
    uint32_t *const table = wg_tape_keep(&g->c->head, slots * sizeof *table, NULL);
    if (table == NULL) return;
    memset(table, 0, slots * sizeof *table);
    g->table = table;
    g->slots = slots;
    for (size_t i = 0; i < g->nodes; i++) {
        if (g->node[i].kind == WGI_NODE_INPUT) continue;
        size_t at = (size_t)hash(g, &g->node[i]) & (slots - 1);
        while (table[at] != 0) at = (at + 1) & (slots - 1);
        table[at] = (uint32_t)i + 1;
    }
}

/* Room for one more node of `count` operands; 0: there is none. */
static int room_for(wgi_graph *g, size_t count) {
    if (g->c->status != WG_OK) return 0;
    if (g->nodes >= UINT32_MAX / 4 || g->operands + count >= UINT32_MAX / 2) {
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: more than %zu operations", g->call, g->nodes);
        return 0;
    }
    wgi_node *const node =
        grow(g, g->node, g->nodes, &g->node_room, g->nodes + 1, sizeof *node);
    if (node != NULL) g->node = node;
    uint32_t *const operand = grow(g, g->operand, g->operands, &g->operand_room,
                                   g->operands + count, sizeof *operand);
    if (operand != NULL) g->operand = operand;
    if (2 * (g->nodes + 1) > g->slots) rehash(g, 2 * g->slots);
    return g->c->status == WG_OK;
}

void wgi_graph_open(wgi_graph *g, wgi_core *c, const char *call) {
    memset(g, 0, sizeof *g);
    g->c = c;
    g->call = call;
    g->shares.of = WGI_NO_NODE;
    g->node = grow(g, NULL, 0, &g->node_room, 256, sizeof *g->node);
    g->operand = grow(g, NULL, 0, &g->operand_room, 512, sizeof *g->operand);
    g->guard = grow(g, NULL, 0, &g->guard_room, 16, sizeof *g->guard);
    rehash(g, 1024);
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

/* When a node of these operands can be computed. */
static unsigned char when_of(wgi_graph *g, unsigned kind, size_t count, const uint32_t *x) {
    unsigned char seen[3] = {0, 0, 0};
    for (size_t k = 0; k < count; k++) seen[g->node[x[k]].when] = 1;
    if (seen[WGI_AFTER] && (seen[WGI_EACH] || kind == WGI_NODE_SUM))
        (void)wgi_fail(g->c, WG_EMODE, "%s: a sum over the points is used at the points",
                       g->call);
    if (seen[WGI_AFTER] || kind == WGI_NODE_SUM) return WGI_AFTER;
    return seen[WGI_EACH] ? WGI_EACH : WGI_ONCE;
}

uint32_t wgi_graph_node(wgi_graph *g, const wgi_node *like, size_t count, const uint32_t *x) {
    if (!room_for(g, count)) return 0;
    wgi_node n = *like;
    n.first = (uint32_t)g->operands;
    n.count = (uint32_t)count;
    n.when = when_of(g, n.kind, count, x);
    if (count != 0) memcpy(g->operand + n.first, x, count * sizeof *x);
    size_t at = (size_t)hash(g, &n) & (g->slots - 1);
    for (; g->table[at] != 0; at = (at + 1) & (g->slots - 1))
        if (same(g, &n, &g->node[g->table[at] - 1])) {
            if (n.kind != WGI_NODE_NUMBER) g->stats.repeated++;
            return g->table[at] - 1;
        }
    g->operands += count;
    g->node[g->nodes] = n;
    g->table[at] = (uint32_t)++g->nodes;
    return (uint32_t)(g->nodes - 1);
}

static wgi_node blank(wgi_node_kind kind) {
    wgi_node n;
    memset(&n, 0, sizeof n);
    n.kind = (unsigned char)kind;
    return n;
}

uint32_t wgi_graph_number(wgi_graph *g, double value) {
    wgi_node n = blank(WGI_NODE_NUMBER);
    n.value = value;
    return wgi_graph_node(g, &n, 0, NULL);
}

static int number_of(const wgi_graph *g, uint32_t node, double *value) {
    *value = g->node[node].value;
    return g->node[node].kind == WGI_NODE_NUMBER;
}

int wgi_graph_is(const wgi_graph *g, uint32_t node, double value) {
    double x;
    return number_of(g, node, &x) && x == value;
}

/* The very bits: -0 is not 0. */
static int is_bits(const wgi_graph *g, uint32_t node, double value) {
    double x;
    return number_of(g, node, &x) && bits_of(x) == bits_of(value);
}

/* ---- simplifications ---- */

static const wg_scalar_op *row(unsigned which) { return &wgi_scalar_ops[which]; }

/* Is it the negative of something, and of what? */
static int negated(const wgi_graph *g, uint32_t node, uint32_t *of) {
    const wgi_node *const n = &g->node[node];
    if (n->kind != WGI_NODE_OP || n->op != row(WGI_ROW_neg)) return 0;
    *of = g->operand[n->first];
    return 1;
}

/* A power of two whose reciprocal is one, too. */
static int has_exact_inverse(double x) {
    int e;
    return isnormal(x) && fabs(frexp(x, &e)) == 0.5 && isnormal(1 / x);
}

/* The same number by less, or WGI_NO_NODE. */
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
    case WGI_ROW_inv:
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

/* Expansions are not simplifications of the user's: they are not counted. */
static int expands(unsigned which) {
    return which == WGI_ROW_square || which == WGI_ROW_cube || which == WGI_ROW_inv ||
           which == WGI_ROW_rsqrt;
}

uint32_t wgi_graph_op(wgi_graph *g, const wg_scalar_op *op, const uint32_t *x) {
    if (g->c->status != WG_OK) return 0;
    wgi_node n = blank(WGI_NODE_OP);
    n.op = op;
    double value[4];
    int numbers = 0;
    for (unsigned k = 0; k < op->arity; k++) numbers += number_of(g, x[k], &value[k]);
    if (numbers == (int)op->arity) {
        g->stats.folded++;
        return wgi_graph_number(g, op->value(value));
    }
    if (wgi_is_users(op)) return wgi_graph_node(g, &n, op->arity, x);
    const unsigned which = (unsigned)(op - wgi_scalar_ops);
    const uint32_t less = simpler(g, which, x);
    if (less != WGI_NO_NODE) {
        g->stats.simplified += !expands(which);
        return less;
    }
    if ((which == WGI_ROW_add || which == WGI_ROW_mul) && x[0] > x[1])
        return wgi_graph_node(g, &n, 2, (uint32_t[]){x[1], x[0]});
    return wgi_graph_node(g, &n, op->arity, x);
}

uint32_t wgi_graph_times(wgi_graph *g, uint32_t a, uint32_t b) {
    if (g->c->status != WG_OK) return 0;
    double x = 0, y = 0;
    uint32_t p;
    const int first = number_of(g, a, &x), second = number_of(g, b, &y);
    if ((first && x == 0) || (second && y == 0)) return wgi_graph_number(g, 0);
    /* a factor that is neither 0 nor infinite: the rule has nothing to say */
    if ((first && isfinite(x)) || (second && isfinite(y)) || a == b)
        return WGI_GRAPH2(g, mul, a, b);
    if (negated(g, a, &p)) return WGI_GRAPH1(g, neg, wgi_graph_times(g, p, b));
    if (negated(g, b, &p)) return WGI_GRAPH1(g, neg, wgi_graph_times(g, a, p));
    const wgi_node n = blank(WGI_NODE_TIMES);
    return wgi_graph_node(g, &n, 2, a < b ? (uint32_t[]){a, b} : (uint32_t[]){b, a});
}

uint32_t wgi_graph_sum(wgi_graph *g, uint32_t a) {
    if (g->c->status != WG_OK) return 0;
    if (wgi_graph_is(g, a, 0)) return a;
    const wgi_node n = blank(WGI_NODE_SUM);
    return wgi_graph_node(g, &n, 1, &a);
}

uint32_t wgi_graph_array(wgi_graph *g, unsigned array, size_t count, const uint32_t *x) {
    wgi_node n = blank(WGI_NODE_ARRAY);
    double index;
    if (g->c->status != WG_OK) return 0;
    if (array == WGI_ARRAY_lookup && number_of(g, x[count - 1], &index)) {
        const size_t k = wgi_array_place(count - 1, index);
        g->stats.simplified++;
        return k < count - 1 ? x[k] : wgi_graph_number(g, NAN);
    }
    n.array = (unsigned char)array;
    return wgi_graph_node(g, &n, count, x);
}

/* ---- nodes with parts ---- */

static uint32_t with_parts(wgi_graph *g, const wgi_node *like, size_t operands,
                           const uint32_t *x, size_t parts) {
    const size_t before = g->nodes;
    const uint32_t node = wgi_graph_node(g, like, operands, x);
    if (node < before) return node;
    wgi_node n = blank(WGI_NODE_PART);
    for (size_t k = 0; k < parts && g->c->status == WG_OK; k++) {
        n.part = (uint32_t)k;
        (void)wgi_graph_node(g, &n, 1, &node);
    }
    return node;
}

/* Its place in the list: that of the same one, or a new one. */
static uint32_t repeat_place(wgi_graph *g, const wgi_repeat *r) {
    for (size_t k = g->repeats; k-- > 0;)
        if (wgi_repeat_same(g->repeat[k], r)) return (uint32_t)k;
    const wgi_repeat **const list =
        grow(g, g->repeat, g->repeats, &g->repeat_room, g->repeats + 1, sizeof *list);
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
    const size_t operands = wgi_repeat_operands(r), parts = wgi_repeat_parts(r);
    wgi_node n = blank(WGI_NODE_REPEAT);
    n.part = repeat_place(g, r);
    return with_parts(g, &n, operands, x, parts);
}

uint32_t wgi_graph_dense(wgi_graph *g, const wgi_dense_op *op, const uint32_t *x) {
    if (g->c->status != WG_OK) return 0;
    const size_t operands = wgi_dense_operands(op), parts = wgi_dense_results(op);
    if (operands >= UINT32_MAX / 8 || parts >= UINT32_MAX / 8) {
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: matrices of more than %u elements", g->call,
                       UINT32_MAX / 8);
        return 0;
    }
    const wgi_node n = wgi_dense_node(op);
    return with_parts(g, &n, operands, x, parts);
}

/* ---- comparisons ---- */

/* The place of a guard in the table: its own, or a free one. */
static size_t guard_place(const wgi_graph *g, const wgi_graph_guard *x) {
    uint64_t h = mix((uint64_t)x->comparison * 2 + (uint64_t)x->outcome + 1, x->a);
    h = mix(h, x->b);
    size_t at = (size_t)h & (g->guard_slots - 1);
    for (; g->guard_table[at] != 0; at = (at + 1) & (g->guard_slots - 1))
        if (memcmp(&g->guard[g->guard_table[at] - 1], x, sizeof *x) == 0) break;
    return at;
}

/* Once only: those of a function and of its derivatives are the same. */
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
    const size_t room = g->guard_room;
    wgi_graph_guard *const guard =
        grow(g, g->guard, g->guards, &g->guard_room, g->guards + 1, sizeof *guard);
    if (guard == NULL) return;
    g->guard = guard;
    if (g->guard_table == NULL || g->guard_room != room) {
        size_t slots = 32;
        while (slots < 2 * g->guard_room) slots *= 2;
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

/* ---- values ---- */

double wgi_node_value(const wgi_node *n, const double *x) {
    double d[4], h[10];
    switch (n->kind) {
    case WGI_NODE_OP:
        return n->op->value(x);
    case WGI_NODE_FIRST:
        n->op->first(x, n->op->value(x), d);
        return d[n->part];
    case WGI_NODE_SECOND:
        (void)n->op->second(x, d, h);
        return h[n->part];
    case WGI_NODE_TIMES:
        return wgi_times(x[0], x[1]);
    case WGI_NODE_ARRAY:
        return wgi_array_ops[n->array].value(n->count, x, NULL);
    default:
        return n->value;
    }
}

/* ---- taking over other graphs ---- */

uint32_t wgi_graph_again(wgi_graph *g, const wgi_node *n, const wgi_repeat *r,
                         const uint32_t *x) {
    switch (n->kind) {
    case WGI_NODE_NUMBER:
        return wgi_graph_number(g, n->value);
    case WGI_NODE_OP:
        return wgi_graph_op(g, n->op, x);
    case WGI_NODE_TIMES:
        return wgi_graph_times(g, x[0], x[1]);
    case WGI_NODE_SUM:
        return wgi_graph_sum(g, x[0]);
    case WGI_NODE_REPEAT:
        return wgi_graph_repeat(g, r, x);
    case WGI_NODE_DENSE: {
        const wgi_dense_op op = wgi_dense_of(n);
        return wgi_graph_dense(g, &op, x);
    }
    case WGI_NODE_PART:
        return x[0] + 1 + n->part;
    case WGI_NODE_ARRAY:
        return wgi_graph_array(g, n->array, n->count, x);
    default:
        return wgi_graph_node(g, n, n->count, x);
    }
}

static uint32_t *room_for_operands(wgi_graph *g, size_t nodes, const wgi_node *node) {
    size_t most = 4;
    for (size_t i = 0; i < nodes; i++)
        if (node[i].count > most) most = node[i].count;
    return wg_tape_keep(&g->c->head, most * sizeof(uint32_t), NULL);
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

uint32_t wgi_graph_copy(wgi_graph *g, const wgi_graph *from, const uint32_t *input,
                        uint32_t node) {
    uint32_t *const x = room_for_operands(g, from->nodes, from->node);
    uint32_t *const map =
        wg_tape_keep(&g->c->head, (size_t)(node + 1) * (sizeof *map + 1), NULL);
    if (g->c->status != WG_OK) return 0;
    unsigned char *const needed = (unsigned char *)(map + node + 1);
    memset(needed, 0, node + 1);
    needed[node] = 1;
    for (uint32_t i = node + 1; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < from->node[i].count; k++)
            needed[from->operand[from->node[i].first + k]] = 1;
    for (uint32_t i = 0; i <= node && g->c->status == WG_OK; i++) {
        const wgi_node *const n = &from->node[i];
        if (!needed[i]) continue;
        for (uint32_t k = 0; k < n->count; k++) x[k] = map[from->operand[n->first + k]];
        map[i] = n->kind == WGI_NODE_INPUT ? input[n->part] : wgi_graph_again(g, n, NULL, x);
    }
    return map[node];
}

/* ---- a function of its own ---- */

static void names(wgi_pieces *p, size_t count, wg_argument *to, const wg_argument *from) {
    for (size_t k = 0; k < count; k++) {
        const size_t bytes = strlen(from[k].name) + 1;
        char *const name = wgi_piece(p, bytes);
        if (name == NULL) continue;
        to[k] = from[k];
        to[k].name = memcpy(name, from[k].name, bytes);
    }
}

static void lay_out(wg_function *f, wgi_pieces *p, const wg_argument *input,
                    const wg_argument *output) {
    f->input = wgi_piece(p, f->inputs * sizeof *f->input);
    f->output = wgi_piece(p, f->outputs * sizeof *f->output);
    f->node = wgi_piece(p, f->nodes * sizeof *f->node);
    f->operand = wgi_piece(p, f->operands * sizeof *f->operand);
    f->result = wgi_piece(p, f->m * sizeof *f->result);
    f->guard = wgi_piece(p, f->guards * sizeof *f->guard);
    f->repeat = wgi_piece(p, f->repeats * sizeof *f->repeat);
    names(p, f->inputs, f->input, input);
    names(p, f->outputs, f->output, output);
}

static int is_operation(const wgi_node *n) {
    return n->kind != WGI_NODE_INPUT && n->kind != WGI_NODE_NUMBER;
}

/* Numbers of what is needed, in the order of a function. */
static void number_nodes(const wgi_graph *g, wg_function *f, const uint32_t *result,
                         uint32_t *final) {
    unsigned char *const needed = (unsigned char *) final + g->nodes * sizeof *final;
    memset(needed, 0, g->nodes);
    for (size_t j = 0; j < f->m; j++) needed[result[j]] = 1;
    for (size_t k = 0; k < g->guards; k++) needed[g->guard[k].a] = needed[g->guard[k].b] = 1;
    size_t operations = 0, count[3] = {0, 0, 0};
    for (size_t i = g->nodes; i-- > 0;) {
        const wgi_node *const n = &g->node[i];
        operations += (size_t)is_operation(n);
        if (!needed[i]) continue;
        for (uint32_t k = 0; k < n->count; k++) needed[g->operand[n->first + k]] = 1;
        if (n->kind == WGI_NODE_NUMBER) f->numbers++;
        else if (is_operation(n)) count[n->when]++, f->operands += n->count;
    }
    f->once = count[WGI_ONCE], f->each = count[WGI_EACH], f->after = count[WGI_AFTER];
    f->nodes = f->n + f->numbers + f->once + f->each + f->after;
    f->stats.dead += operations - (f->once + f->each + f->after);
    size_t number = f->n, at[3] = {f->n + f->numbers, 0, 0};
    at[WGI_EACH] = at[WGI_ONCE] + f->once;
    at[WGI_AFTER] = at[WGI_EACH] + f->each;
    for (size_t i = 0; i < g->nodes; i++) {
        const wgi_node *const n = &g->node[i];
        final[i] = WGI_NO_NODE;
        if (n->kind == WGI_NODE_INPUT) final[i] = n->part;
        else if (needed[i])
            final[i] = (uint32_t)(n->kind == WGI_NODE_NUMBER ? number++ : at[n->when]++);
    }
}

static void fill(const wgi_graph *g, wg_function *f, const uint32_t *result,
                 const uint32_t *final) {
    uint32_t operands = 0;
    for (size_t i = 0; i < g->nodes; i++) {
        if (final[i] == WGI_NO_NODE) continue;
        wgi_node *const to = &f->node[final[i]];
        *to = g->node[i];
        to->first = operands;
        for (uint32_t k = 0; k < to->count; k++)
            f->operand[operands++] = final[g->operand[g->node[i].first + k]];
    }
    for (size_t j = 0; j < f->m; j++) f->result[j] = final[result[j]];
    for (size_t k = 0; k < f->guards; k++) {
        f->guard[k] = g->guard[k];
        f->guard[k].a = final[g->guard[k].a];
        f->guard[k].b = final[g->guard[k].b];
    }
}

static wg_status check_results(const wgi_graph *g, size_t outputs, const wg_argument *output,
                               const uint32_t *result) {
    for (size_t k = 0; k < outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&output[k]); e++) {
            const unsigned when = g->node[*result++].when;
            if (output[k].flags & WG_SUMMED ? when == WGI_EACH : when == WGI_AFTER)
                return wgi_fail(g->c, WG_EMODE, "%s: output %s is %s", g->call, output[k].name,
                                when == WGI_EACH ? "one per point, not summed"
                                                 : "a sum over the points: flag it WG_SUMMED");
        }
    return WG_OK;
}

/* Only those that are needed. */
static void prune_repeats(wgi_graph *g, const uint32_t *final) {
    uint32_t *const place = wg_tape_keep(&g->c->head, (g->repeats + 1) * sizeof *place, NULL);
    if (place == NULL) return;
    for (size_t k = 0; k < g->repeats; k++) place[k] = WGI_NO_NODE;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].kind == WGI_NODE_REPEAT && final[i] != WGI_NO_NODE)
            place[g->node[i].part] = 0;
    size_t kept = 0;
    for (size_t k = 0; k < g->repeats; k++) {
        if (place[k] == WGI_NO_NODE) continue;
        g->repeat[kept] = g->repeat[k];
        place[k] = (uint32_t)kept++;
    }
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].kind == WGI_NODE_REPEAT) g->node[i].part = place[g->node[i].part];
    g->repeats = kept;
}

/* How many bytes it takes here: one that was loaded has its names closer together. */
static void measure(wg_function *f, const wg_argument *input, const wg_argument *output) {
    wgi_pieces p = {NULL, 0};
    (void)wgi_piece(&p, sizeof *f);
    lay_out(f, &p, input, output);
    f->bytes = (p.used + 4095) / 4096 * 4096;
}

/* All but the pieces. final: room for the numbers of the nodes. */
static wg_status describe(wgi_graph *g, size_t inputs, const wg_argument *input, size_t outputs,
                          const wg_argument *output, const uint32_t *result, uint32_t *final,
                          wg_function *f) {
    const wg_status s = check_results(g, outputs, output, result);
    if (s != WG_OK) return s;
    f->memory = g->c->memory;
    f->inputs = inputs, f->outputs = outputs, f->guards = g->guards;
    f->stats = g->stats;
    for (size_t k = 0; k < inputs; k++) f->n += wgi_argument_size(&input[k]);
    for (size_t k = 0; k < outputs; k++) f->m += wgi_argument_size(&output[k]);
    number_nodes(g, f, result, final);
    prune_repeats(g, final);
    f->repeats = g->repeats;
    f->stats.once = f->once, f->stats.each = f->each;
    f->stats.after = f->after;
    f->stats.numbers = f->numbers, f->stats.guards = f->guards;
    if (g->c->status != WG_OK) return g->c->status;
    measure(f, input, output);
    return WG_OK;
}

static wg_function *lay_out_at(char *base, const wg_function *start, const wg_argument *input,
                               const wg_argument *output) {
    wg_function *const f = (wg_function *)(void *)base;
    *f = *start;
    wgi_pieces p = {base, 0};
    (void)wgi_piece(&p, sizeof *f);
    lay_out(f, &p, input, output);
    return f;
}

static wg_function *in_memory(wgi_graph *g, const wg_function *start, const wg_argument *input,
                              const wg_argument *output) {
    const wg_memory *const memory = &start->memory;
    char *const base = memory->reserve(memory->ctx, start->bytes);
    if (base == NULL || memory->commit(memory->ctx, base, start->bytes) != 0) {
        if (base != NULL) memory->release(memory->ctx, base, start->bytes);
        (void)wgi_fail(g->c, WG_ENOMEM, "%s: no memory for %zu bytes", g->call, start->bytes);
        return NULL;
    }
    return lay_out_at(base, start, input, output);
}

static uint64_t identity_of(const wg_function *f) {
    uint64_t h = f->n;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        h = wgi_mix(h, (uint64_t)n->kind << 16 | (uint64_t)n->when << 8 | n->array,
                    n->kind == WGI_NODE_NUMBER ? 0 : n->part);
        h = wgi_mix(h, (uint64_t)(uintptr_t)n->op, n->count);
        for (uint32_t k = 0; k < n->count; k++) h = wgi_mix(h, f->operand[n->first + k], k);
    }
    for (size_t j = 0; j < f->m; j++) h = wgi_mix(h, f->result[j], j);
    for (size_t i = 0; i < f->inputs; i++)
        h = wgi_mix(h, f->input[i].flags, wgi_argument_size(&f->input[i]));
    for (size_t k = 0; k < f->outputs; k++)
        h = wgi_mix(h, f->output[k].flags, wgi_argument_size(&f->output[k]));
    return h;
}

/* A function of an arena, or a part of another one, as one of its own. */
static wg_function *own(wgi_graph *g, const wg_function *body);

/* Repeats with bodies of their own, and the program. A failure frees the function. */
static wg_function *complete(wgi_graph *g, wg_function *f, const wgi_repeat *const *from) {
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = (wgi_repeat){.body = NULL};
    for (size_t k = 0; k < f->repeats && g->c->status == WG_OK; k++) {
        f->repeat[k] = *from[k];
        f->repeat[k].body = own(g, from[k]->body);
    }
    if (g->c->status == WG_OK) {
        f->work = wgi_repeat_work(f);
        f->identity = identity_of(f);
        f->stats.guards = wgi_repeat_guards(f);
    }
    if (g->c->status == WG_OK && wgi_fn_program_new(g->c, f) == WG_OK) return f;
    wg_function_free(f);
    return NULL;
}

static wg_function *own(wgi_graph *g, const wg_function *body) {
    wg_function start = *body;
    start.memory = g->c->memory;
    start.program = NULL;
    start.native = NULL;
    measure(&start, body->input, body->output);
    const wgi_repeat **const list =
        wg_tape_keep(&g->c->head, (body->repeats + 1) * sizeof *list, NULL);
    wg_function *const f =
        list == NULL ? NULL : in_memory(g, &start, body->input, body->output);
    if (f == NULL) return NULL;
    memcpy(f->node, body->node, f->nodes * sizeof *f->node);
    memcpy(f->operand, body->operand, f->operands * sizeof *f->operand);
    memcpy(f->result, body->result, f->m * sizeof *f->result);
    memcpy(f->guard, body->guard, f->guards * sizeof *f->guard);
    for (size_t k = 0; k < body->repeats; k++) list[k] = &body->repeat[k];
    return complete(g, f, list);
}

wg_status wgi_graph_finish(wgi_graph *g, size_t inputs, const wg_argument *input,
                           size_t outputs, const wg_argument *output, const uint32_t *result,
                           wg_function **out) {
    wgi_core *const c = g->c;
    wg_function start;
    memset(&start, 0, sizeof start);
    uint32_t *const final = wg_tape_keep(&c->head, (g->nodes + 1) * (sizeof *final + 1), NULL);
    if (final == NULL) return c->status;
    const wg_status s = describe(g, inputs, input, outputs, output, result, final, &start);
    if (s != WG_OK) return s;
    wg_function *f = in_memory(g, &start, input, output);
    if (f == NULL) return c->status;
    fill(g, f, result, final);
    f = complete(g, f, g->repeat);
    if (f != NULL) *out = f;
    return c->status;
}

wg_function *wgi_graph_body(wgi_graph *g, size_t inputs, const wg_argument *input,
                            size_t outputs, const wg_argument *output, const uint32_t *result) {
    wg_tape *const t = &g->c->head;
    wg_function start;
    memset(&start, 0, sizeof start);
    uint32_t *const final = wg_tape_keep(t, (g->nodes + 1) * (sizeof *final + 1), NULL);
    if (final == NULL ||
        describe(g, inputs, input, outputs, output, result, final, &start) != WG_OK)
        return NULL;
    char *const base = wg_tape_keep(t, start.bytes, NULL);
    if (base == NULL) return NULL;
    wg_function *const f = lay_out_at(base, &start, input, output);
    fill(g, f, result, final);
    for (size_t k = 0; k < f->repeats; k++) f->repeat[k] = *g->repeat[k];
    f->work = wgi_repeat_work(f);
    return f;
}
