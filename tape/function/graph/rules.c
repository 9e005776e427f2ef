/* SPDX-License-Identifier: MIT */
/* Partials of nodes, as nodes.
 *
 * A first partial is the text of the row, parsed: its functions are rows themselves, so that it
 * can be differentiated again. Where the text calls another function, or is piecewise constant,
 * or is a user's, it stays one node (WGI_NODE_FIRST), whose partials are the second ones of the
 * row (WGI_NODE_SECOND). Beyond these the text of the second one is differentiated, or a
 * formula for the first one (ops/scalar/formula.def). */
#include "recipe.h"
#include "signed.h"

#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- partials of operations ---- */

/* Where second partial (i, j) of n operands is, packed by rows of the upper triangle. */
static uint32_t packed(uint32_t n, uint32_t i, uint32_t j) {
    const uint32_t lo = i < j ? i : j, hi = i < j ? j : i;
    return lo * n - lo * (lo + 1) / 2 + hi;
}

static uint32_t same_operands(wgi_graph *g, uint32_t node, wgi_node_kind kind, uint32_t which) {
    wgi_node like = g->node[node];
    like.kind = (unsigned char)kind;
    like.part = which;
    const uint32_t first = like.first, count = like.count;
    uint32_t x[4];
    memcpy(x, g->operand + first, count * sizeof *x);
    return wgi_graph_node(g, &like, count, x);
}

static int piecewise_constant(const wg_scalar_op *op, uint32_t k) {
    for (uint32_t j = 0; j < op->arity; j++)
        if ((op->zero_second >> packed(op->arity, k, j) & 1) == 0) return 0;
    return 1;
}

/* Does the row have second partials that are more exact than derivatives of the text of the
 * first ones, in the last digits or at the ends of the range? */
static int has_a_better_second(const wg_scalar_op *op) {
    static const unsigned rows[] = {
#define FORMULA(name, k, text)
#define SECOND(name, k, text)
#define CAREFUL(name) WGI_ROW_##name,
#define ORDER(name, k)
#include "ops/scalar/formula.def"
#undef FORMULA
#undef SECOND
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (op == &wgi_scalar_ops[rows[i]]) return 1;
    return 0;
}

/* A first partial as a node. One that is piecewise constant may not read all operands, as c and
 * d in (a < b ? 1.0 : 0.0): numbers stand in for those, so that they need not be kept. */
static uint32_t first_partial(wgi_graph *g, uint32_t node, uint32_t k) {
    const wg_scalar_op *const op = g->node[node].op;
    const char *const text = op->text[1 + k];
    uint32_t x[4];
    if (wgi_is_users(op) || !piecewise_constant(op, k) || strchr(text, 'v') != NULL)
        return same_operands(g, node, WGI_NODE_FIRST, k);
    memcpy(x, g->operand + g->node[node].first, op->arity * sizeof *x);
    for (int i = 0; i < (int)op->arity; i++)
        if (strchr(text, 'a' + i) == NULL) x[i] = wgi_graph_number(g, 0);
    wgi_node like = g->node[node];
    like.kind = WGI_NODE_FIRST;
    like.part = k;
    return wgi_graph_node(g, &like, op->arity, x);
}

/* First partials of the rows of the table, NULL until they are asked for. */
struct wgi_recipes {
    const wgi_recipe *of[WGI_ROWS][4];
    const wgi_graph *one_in; /* the last graph that the number 1 was asked of */
};

wgi_recipes *wgi_graph_recipes(wgi_graph *g) {
    if (g->recipes != NULL) return g->recipes;
    g->recipes = wg_tape_keep(&g->c->head, sizeof *g->recipes, NULL);
    if (g->recipes != NULL) memset(g->recipes, 0, sizeof *g->recipes);
    return g->recipes;
}

/* The recipe of a first partial; one that is not understood: the partial stays a node. The text
 * of a piecewise constant may name a variable, where that is 0 or NaN; those of users have
 * second partials of their own, which need not be the derivatives of the first. */
static const wgi_recipe *new_recipe(wgi_graph *g, const wg_scalar_op *op, uint32_t k) {
    const char *const text = op->text[1 + k];
    if (wgi_graph_recipes(g) == NULL) return NULL;
    const int opaque =
        has_a_better_second(op) || (piecewise_constant(op, k) && !wgi_text_is_number(text));
    return g->recipes->of[op - wgi_scalar_ops][k] = wgi_recipe_of(g, op, opaque ? NULL : text);
}

static inline const wgi_recipe *recipe_of(wgi_graph *g, const wg_scalar_op *op, uint32_t k) {
    if (wgi_is_users(op)) return NULL;
    const wgi_recipe *const r =
        g->recipes == NULL ? NULL : g->recipes->of[op - wgi_scalar_ops][k];
    return r != NULL ? r : new_recipe(g, op, k);
}

/* The partial of a node by its operand k, of which this is the recipe, or NULL. */
static inline uint32_t partial_by(wgi_graph *g, const wgi_recipe *r, uint32_t node,
                                  uint32_t k) {
    const wgi_node *const n = &g->node[node];
    const uint32_t *const of = g->operand + n->first;
    uint32_t x[4] = {0, 0, 0, 0};
    if (r != NULL && r->understood && r->steps == 0) /* an operand, or the value */
        return r->result == WGI_RECIPE_VALUE ? node : of[r->result];
    for (uint32_t i = 0; i < n->count; i++) x[i] = of[i];
    const uint32_t d = wgi_recipe_follow_signed(g, r, x, node);
    return d != WGI_NO_NODE ? d : first_partial(g, node, k);
}

uint32_t wgi_scalar_partial(wgi_graph *g, uint32_t node, size_t k) {
    const wg_scalar_op *const op = g->node[node].op;
    if (op->zero_first >> k & 1) return WGI_NO_NODE;
    const wgi_recipe *const r = recipe_of(g, op, (uint32_t)k);
    return wgi_signed_node(g, partial_by(g, r, node, (uint32_t)k));
}

uint32_t wgi_first_partial(wgi_graph *g, uint32_t node, size_t j) {
    const wgi_node n = g->node[node];
    const uint32_t which = packed(n.count, n.part, (uint32_t)j);
    if (n.op->second == NULL || (n.op->zero_second >> which & 1)) return WGI_NO_NODE;
    return same_operands(g, node, WGI_NODE_SECOND, which);
}

/* ---- the third order: a text on operands of its own, differentiated ---- */

/* The text of formula.def for a first partial, or a second one; WGI_NO_NODE: there is none. */
static uint32_t formula(wgi_graph *g, const wg_scalar_op *op, unsigned order, uint32_t k,
                        const uint32_t *x, uint32_t value) {
    static const struct {
        unsigned op, order;
        uint32_t k;
        const char *text;
    } list[] = {
#define FORMULA(name, k, text) {WGI_ROW_##name, 1, k, #text},
#define SECOND(name, k, text) {WGI_ROW_##name, 2, k, #text},
#define CAREFUL(name)
#define ORDER(name, k)
#include "ops/scalar/formula.def"
#undef FORMULA
#undef SECOND
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (op == &wgi_scalar_ops[list[i].op] && list[i].order == order && list[i].k == k)
            return wgi_recipe_follow(g, wgi_recipe_of(g, op, list[i].text), x, value);
    return WGI_NO_NODE;
}

/* The tangent of a node along one input, all others being constant. */
static uint32_t along(wgi_graph *g, uint32_t node, size_t operands, uint32_t input) {
    const size_t nodes = g->nodes;
    uint32_t *const tangent = wgi_node_list(g->c, nodes);
    if (tangent == NULL) return WGI_NO_NODE;
    for (size_t i = 0; i < operands; i++)
        tangent[i] = i == input ? wgi_graph_number(g, 1) : WGI_NO_NODE;
    wgi_graph_forward(g, nodes, NULL, tangent);
    return wgi_signed_node(g, tangent[node]);
}

uint32_t wgi_second_partial(wgi_graph *g, uint32_t node, size_t j) {
    const wgi_node n = g->node[node];
    const uint32_t count = n.count;
    uint32_t row = 0, column = 0;
    while (packed(count, row, count - 1) < n.part) row++;
    column = n.part - packed(count, row, row) + row;
    wgi_graph f;
    uint32_t x[4] = {0, 0, 0, 0};
    wgi_graph_open(&f, g->c, g->call);
    f.recipes = wgi_graph_recipes(g);
    for (uint32_t i = 0; i < count; i++) x[i] = wgi_graph_input(&f, WGI_ONCE);
    const uint32_t value = wgi_graph_op(&f, n.op, x);
    const char *const text = n.op->text[1 + count + n.part];
    uint32_t d = formula(&f, n.op, 2, n.part, x, value);
    if (d == WGI_NO_NODE) d = wgi_recipe_follow(&f, wgi_recipe_of(&f, n.op, text), x, value);
    const int again = d == WGI_NO_NODE;
    if (again) d = formula(&f, n.op, 1, row, x, value);
    if (d == WGI_NO_NODE) {
        (void)wgi_fail(g->c, WG_EMODE, "%s: %s cannot be differentiated more than twice",
                       g->call, n.op->name);
        return WGI_NO_NODE;
    }
    if (again) d = along(&f, d, count, column);
    if (d != WGI_NO_NODE) d = along(&f, d, count, (uint32_t)j);
    if (d == WGI_NO_NODE || g->c->status != WG_OK) return WGI_NO_NODE;
    memcpy(x, g->operand + n.first, count * sizeof *x);
    return wgi_graph_copy(g, &f, x, d);
}

/* ---- array operations ---- */

/* Exponentials e = exp(x - s) for the partials of logsumexp. s is near the largest x, and a
 * step function, so that it has no derivative; beside them, the sums of those before and behind
 * each. Where the largest x is infinite, e is 1 for each x that is as large. */
static void share_out(wgi_graph *g, uint32_t node) {
    const wgi_node n = g->node[node];
    uint32_t *const x = wgi_node_list(g->c, 4 * (size_t)n.count);
    if (x == NULL) return;
    uint32_t *const e = x + n.count, *const before = e + n.count,
                    *const behind = before + n.count;
    memcpy(x, g->operand + n.first, n.count * sizeof *x);
    const uint32_t zero = wgi_graph_number(g, 0), one = wgi_graph_number(g, 1);
    const uint32_t largest = wgi_graph_array(g, WGI_ARRAY_maximum, n.count, x);
    const uint32_t shift = WGI_GRAPH1(g, floor, largest), size = WGI_GRAPH1(g, fabs, largest);
    const uint32_t infinite = wgi_graph_number(g, INFINITY);
    for (uint32_t i = 0; i < n.count; i++) {
        const uint32_t is_it = WGI_GRAPH4(g, select_eq, x[i], largest, one, zero);
        const uint32_t finite = WGI_GRAPH1(g, exp, WGI_GRAPH2(g, sub, x[i], shift));
        e[i] = WGI_GRAPH4(g, select_eq, size, infinite, is_it, finite);
    }
    before[0] = behind[n.count - 1] = wgi_graph_number(g, -0.0);
    for (uint32_t i = 1; i < n.count; i++)
        before[i] = WGI_GRAPH2(g, add, before[i - 1], e[i - 1]);
    for (uint32_t i = n.count - 1; i-- > 0;)
        behind[i] = WGI_GRAPH2(g, add, behind[i + 1], e[i + 1]);
    g->shares.of = node;
    g->shares.e = e, g->shares.before = before, g->shares.behind = behind;
}

/* Partial k of logsumexp, e / (e + rest), where `rest` is the sum of the other exponentials.
 * Above 1/2 it is written 1 / (1 + rest/e), whose derivatives have no cancellation there. */
static uint32_t softmax(wgi_graph *g, uint32_t node, uint32_t k) {
    if (g->node[node].count == 1) return wgi_graph_number(g, 1);
    if (g->shares.of != node) share_out(g, node);
    if (g->c->status != WG_OK) return 0;
    const uint32_t e = g->shares.e[k], one = wgi_graph_number(g, 1);
    const uint32_t rest = WGI_GRAPH2(g, add, g->shares.before[k], g->shares.behind[k]);
    const uint32_t odds = WGI_GRAPH2(g, div, rest, e);
    const uint32_t share = WGI_GRAPH2(g, div, one, WGI_GRAPH2(g, add, one, odds));
    const uint32_t small = WGI_GRAPH2(g, div, e, WGI_GRAPH2(g, add, e, rest));
    return WGI_GRAPH4(g, select_lt, e, rest, small, share);
}

/* Counts the operands that are equal to the result of a maximum or minimum. */
static void count_ties(wgi_graph *g, uint32_t node) {
    const wgi_node n = g->node[node];
    const uint32_t zero = wgi_graph_number(g, 0), one = wgi_graph_number(g, 1);
    uint32_t ties = zero;
    for (uint32_t i = 0; i < n.count; i++) {
        const uint32_t is_it =
            WGI_GRAPH4(g, select_eq, g->operand[n.first + i], node, one, zero);
        ties = WGI_GRAPH2(g, add, ties, is_it);
    }
    g->shares.of = node;
    g->shares.ties = ties;
}

/* Norms of which the squares neither overflow nor lose their digits, times or over that
 * power of two. */
#define BELOW 0x1p-960
#define SCALE 0x1p600

/* Are the operands of a norm scaled already, by a number as scale_norm has it? */
static int is_scaled(const wgi_graph *g, const wgi_node *n) {
    for (uint32_t k = 0; k < n->count; k++) {
        const wgi_node *const x = &g->node[g->operand[n->first + k]];
        for (uint32_t i = 0; wgi_node_op(x) == WGI_ROW_mul && i < 2; i++) {
            const wgi_node *const by = &g->node[g->operand[x->first + i]];
            if (wgi_node_op(by) == WGI_ROW_select_lt &&
                wgi_graph_is(g, g->operand[by->first + 2], SCALE))
                return 1;
        }
    }
    return 0;
}

/* The operands of a norm, and it, times the same power of two: 1 where its value can be divided
 * by, otherwise one that brings it there. Where an operand is infinite the norm is NaN: that
 * may be the difference of two that are not. */
static void scale_norm(wgi_graph *g, uint32_t node) {
    const wgi_node n = g->node[node];
    uint32_t *const y = wgi_node_list(g->c, n.count);
    if (y == NULL) return;
    memcpy(y, g->operand + n.first, n.count * sizeof *y);
    g->shares.of = g->shares.norm = node, g->shares.e = y;
    if (is_scaled(g, &n)) return;
    const uint32_t down = WGI_GRAPH4(g, select_lt, wgi_graph_number(g, DBL_MAX), node,
                                     wgi_graph_number(g, 1 / SCALE), wgi_graph_number(g, 1));
    const uint32_t by = WGI_GRAPH4(g, select_lt, node, wgi_graph_number(g, BELOW),
                                   wgi_graph_number(g, SCALE), down);
    for (uint32_t k = 0; k < n.count; k++) y[k] = WGI_GRAPH2(g, mul, y[k], by);
    const uint32_t norm = wgi_graph_array(g, WGI_ARRAY_norm2, n.count, y);
    g->shares.norm = WGI_GRAPH4(g, select_lt, wgi_graph_number(g, DBL_MAX), norm,
                                wgi_graph_number(g, NAN), norm);
}

/* norm2: x/v, of scaled numbers, and 0 at 0. logsumexp: softmax. maximum and minimum: 1, or
 * even shares for operands that tie. lookup: 1 for the element that is chosen. */
uint32_t wgi_array_partial(wgi_graph *g, uint32_t node, size_t k) {
    const wgi_node n = g->node[node];
    const uint32_t x = g->operand[n.first + k];
    const uint32_t zero = wgi_graph_number(g, 0), one = wgi_graph_number(g, 1);
    if (n.array == WGI_ARRAY_norm2) {
        if (g->shares.of != node) scale_norm(g, node);
        if (g->c->status != WG_OK) return 0;
        return WGI_GRAPH4(g, select_eq, node, zero, zero,
                          WGI_GRAPH2(g, div, g->shares.e[k], g->shares.norm));
    }
    if (n.array == WGI_ARRAY_logsumexp) return softmax(g, node, (uint32_t)k);
    if (n.array == WGI_ARRAY_lookup) {
        const uint32_t index = g->operand[n.first + n.count - 1];
        if (k == n.count - 1) return WGI_NO_NODE;
        return WGI_GRAPH4(g, select_eq, WGI_GRAPH1(g, floor, index),
                          wgi_graph_number(g, (double)k), one, zero);
    }
    if (g->shares.of != node) count_ties(g, node);
    return WGI_GRAPH2(g, div, WGI_GRAPH4(g, select_eq, x, node, one, zero), g->shares.ties);
}

uint32_t wgi_times_partial(wgi_graph *g, uint32_t node, size_t k) {
    return g->operand[g->node[node].first + 1 - k];
}

uint32_t wgi_graph_partial(wgi_graph *g, uint32_t node, size_t k) {
    if (g->c->status != WG_OK) return WGI_NO_NODE;
    switch (g->node[node].kind) {
#define KIND_NODE(NAME, stem, ...)                                                             \
    case WGI_NODE_##NAME:                                                                      \
        return wgi_##stem##_partial(g, node, k);
#include "kinds.def"
    default:
        return WGI_NO_NODE;
    }
}

/* ---- products with partials ---- */

/* Is it 1 / a, as reciprocals are written here, and those of roots? */
static int is_reciprocal(const wgi_graph *g, const wgi_node *n) {
    return n->op == &wgi_scalar_ops[WGI_ROW_div] && wgi_graph_is(g, g->operand[n->first], 1);
}

/* Of v = 1 / a the share is -((w v) v), one factor after the other, since v^2 may leave the
 * range of numbers where no product does. Many partials are those of sums: w times 1 is w, at
 * once. */
uint32_t wgi_signed_share(wgi_graph *g, uint32_t w, uint32_t node, size_t k) {
    if (g->c->status != WG_OK || w == WGI_NO_NODE) return WGI_NO_NODE;
    const wgi_node *const n = &g->node[node];
    if (n->kind != WGI_NODE_OP)
        return wgi_signed_product(g, w, wgi_signed_of(g, wgi_graph_partial(g, node, k)));
    if (n->op->zero_first >> k & 1) return WGI_NO_NODE;
    if (k == 1 && is_reciprocal(g, n))
        return wgi_signed_minus(g, wgi_signed_product(g, wgi_signed_product(g, w, node), node));
    const wgi_recipe *const r = recipe_of(g, n->op, (uint32_t)k);
    if (r == NULL || !r->one || g->node[w & ~WGI_SIGN].kind == WGI_NODE_NUMBER)
        return wgi_signed_product(g, w, partial_by(g, r, node, (uint32_t)k));
    if (g->recipes->one_in != g) { /* numbers keep their order */
        (void)wgi_graph_number(g, 1);
        g->recipes->one_in = g;
    }
    g->stats.simplified++;
    return w & WGI_SIGN ? w : wgi_signed_of(g, w);
}
