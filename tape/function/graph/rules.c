/* SPDX-License-Identifier: MIT */
/* Partials of nodes, as nodes.
 *
 * A first partial is the text of the row, parsed: its functions are rows themselves, so that it
 * can be differentiated again. Where the text calls another function, or is piecewise constant,
 * or is a user's, it stays one node (WGI_NODE_FIRST), whose partials are the second ones of the
 * row (WGI_NODE_SECOND). Beyond these the text of the second one is differentiated, or a
 * formula for the first one (ops/scalar/formula.def).
 *
 * The texts are C expressions: + - * / and a sign, comparisons that choose (c ? x : y),
 * numbers, the letters of operands and of the value, functions of libm and wgi_ names of rows.
 */
#include "graph.h"
#include "words.h"

#include "ops/scalar/array.h"
#include "ops/scalar/elementwise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parsing ---- */

typedef struct parser {
    wgi_graph *g;
    const char *at;
    const uint32_t *x; /* the operands */
    size_t operands;
    uint32_t value;
    int users;  /* the text is that of a user's operation */
    int failed; /* the text has something that is not understood */
} parser;

/* A part of the text, as a node. `whole`: it has whole numbers only, which C would divide as
 * integers. */
typedef struct part {
    uint32_t node;
    int whole;
} part;

static part choice(parser *p);

static void blanks(parser *p) {
    while (*p->at == ' ' || *p->at == '\n' || *p->at == '\t') p->at++;
}

static int take(parser *p, const char *token) {
    blanks(p);
    const size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0) return 0;
    p->at += n;
    return 1;
}

static part none(parser *p) {
    p->failed = 1;
    return (part){0, 0};
}

static const wg_scalar_op *row_named(const char *name, size_t length) {
    for (size_t i = 0; i < wgi_scalar_op_count; i++)
        if (*wgi_scalar_ops[i].name == *name &&
            strncmp(wgi_scalar_ops[i].name, name, length) == 0 &&
            wgi_scalar_ops[i].name[length] == 0)
            return &wgi_scalar_ops[i];
    return NULL;
}

/* Is it a function of C under its own name? In the text of a user's operation all other names
 * are functions of the user's, even where a row has that name. */
static int is_of_c(const wg_scalar_op *op) {
    static const unsigned rows[] = {
        WGI_OP_acos,    WGI_OP_acosh, WGI_OP_asin,   WGI_OP_asinh,     WGI_OP_atan,
        WGI_OP_atan2,   WGI_OP_atanh, WGI_OP_cbrt,   WGI_OP_ceil,      WGI_OP_cos,
        WGI_OP_cosh,    WGI_OP_erf,   WGI_OP_erfc,   WGI_OP_exp,       WGI_OP_exp2,
        WGI_OP_expm1,   WGI_OP_fabs,  WGI_OP_fdim,   WGI_OP_floor,     WGI_OP_fma,
        WGI_OP_fmax,    WGI_OP_fmin,  WGI_OP_fmod,   WGI_OP_hypot,     WGI_OP_log,
        WGI_OP_log10,   WGI_OP_log1p, WGI_OP_log2,   WGI_OP_pow,       WGI_OP_rint,
        WGI_OP_round,   WGI_OP_sin,   WGI_OP_sinh,   WGI_OP_sqrt,      WGI_OP_tan,
        WGI_OP_tanh,    WGI_OP_trunc, WGI_OP_lgamma, WGI_OP_remainder, WGI_OP_tgamma,
        WGI_OP_copysign};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (op == &wgi_scalar_ops[rows[i]]) return 1;
    return 0;
}

static part call(parser *p, const char *name, size_t length) {
    const int ours = length > 4 && strncmp(name, "wgi_", 4) == 0;
    if (ours) name += 4, length -= 4;
    const wg_scalar_op *const op = row_named(name, length);
    uint32_t x[4];
    if (op == NULL || op->arity > 4 || (p->users && !ours && !is_of_c(op))) return none(p);
    for (unsigned k = 0; k < op->arity; k++) {
        if (k != 0 && !take(p, ",")) return none(p);
        x[k] = choice(p).node;
        if (p->failed) return none(p);
    }
    return take(p, ")") ? (part){wgi_graph_op(p->g, op, x), 0} : none(p);
}

static part name(parser *p) {
    const char *const start = p->at;
    while (wgi_in_word(*p->at)) p->at++;
    const size_t length = (size_t)(p->at - start);
    if (take(p, "(")) return call(p, start, length);
    if (length != 1) return none(p);
    if (*start == 'v') return (part){p->value, 0};
    const size_t k = (size_t)(*start - 'a');
    return *start >= 'a' && k < p->operands ? (part){p->x[k], 0} : none(p);
}

/* The digits over a power of ten, both of which are numbers: the nearest one to the quotient, as
 * strtod has it, at once. 0: there are too many of them. */
static int is_short(const char *digits, size_t n, size_t places, double *x) {
    enum { EXACT = 15 }; /* of 2^53 */
    double whole = 0, ten = 1;
    if (n > EXACT) return 0;
    for (size_t i = 0; i < n; i++) whole = 10 * whole + (digits[i] - '0');
    for (size_t i = 0; i < places; i++) ten *= 10;
    *x = whole / ten;
    return 1;
}

/* The number at the beginning of the text; *end: what follows it. Its point is left out and
 * counted in the exponent: which bytes strtod takes for one is a matter of the locale. */
static double read_number(const char *text, const char **end) {
    enum { LONGEST = 64 };
    char digits[LONGEST], token[LONGEST + 32], *stop;
    const size_t whole = strspn(text, "0123456789");
    const size_t point = text[whole] == '.';
    const size_t places = point ? strspn(text + whole + 1, "0123456789") : 0;
    size_t n = whole + point + places;
    long exponent = 0;
    *end = text;
    if (whole + places == 0 || n >= LONGEST) return 0;
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t sign = text[n + 1] == '-' || text[n + 1] == '+';
        const size_t length = strspn(text + n + 1 + sign, "0123456789");
        if (length == 0 || length > 6) return 0;
        exponent = strtol(text + n + 1, NULL, 10);
        n += 1 + sign + length;
    }
    memcpy(digits, text, whole);
    if (places != 0) memcpy(digits + whole, text + whole + 1, places);
    digits[whole + places] = 0;
    double x;
    if (exponent == 0 && is_short(digits, whole + places, places, &x)) {
        *end = text + n;
        return x;
    }
    (void)snprintf(token, sizeof token, "%se%ld", digits, exponent - (long)places);
    x = strtod(token, &stop);
    if (*stop == 0) *end = text + n;
    return x;
}

static part number(parser *p) {
    const char *end;
    const double x = read_number(p->at, &end);
    const char *const start = p->at;
    if (end == p->at || wgi_in_word(*end)) return none(p);
    p->at = end;
    const int whole = strspn(start, "0123456789") == (size_t)(end - start);
    return (part){wgi_graph_number(p->g, x), whole};
}

static part primary(parser *p) {
    if (p->failed) return none(p);
    blanks(p);
    if (take(p, "(")) {
        const part inner = choice(p);
        return take(p, ")") ? inner : none(p);
    }
    if (take(p, "-")) {
        const part of = primary(p);
        return p->failed ? of : (part){WGI_GRAPH1(p->g, neg, of.node), of.whole};
    }
    if (wgi_is_digit(*p->at) || *p->at == '.') return number(p);
    return wgi_in_word(*p->at) ? name(p) : none(p);
}

static part factors(parser *p) {
    part x = primary(p);
    while (!p->failed) {
        const int times = take(p, "*");
        if (!times && !take(p, "/")) break;
        const part y = primary(p);
        if (p->failed || (!times && x.whole && y.whole)) return none(p);
        x.node = times ? WGI_GRAPH2(p->g, mul, x.node, y.node)
                       : WGI_GRAPH2(p->g, div, x.node, y.node);
        x.whole = x.whole && y.whole;
    }
    return x;
}

static part terms(parser *p) {
    part x = factors(p);
    while (!p->failed) {
        const int plus = take(p, "+");
        if (!plus && !take(p, "-")) break;
        const part y = factors(p);
        if (p->failed) return y;
        x.node = plus ? WGI_GRAPH2(p->g, add, x.node, y.node)
                      : WGI_GRAPH2(p->g, sub, x.node, y.node);
        x.whole = x.whole && y.whole;
    }
    return x;
}

static part choice(parser *p) {
    static const char *const comparison[] = {"<=", ">=", "==", "!=", "<", ">"};
    static const unsigned select[] = {WGI_ROW_select_le, WGI_ROW_select_ge, WGI_ROW_select_eq,
                                      WGI_ROW_select_ne, WGI_ROW_select_lt, WGI_ROW_select_gt};
    const part x = terms(p);
    size_t k = 0;
    while (k < 6 && !take(p, comparison[k])) k++;
    if (p->failed || k == 6) return x;
    const part y = terms(p);
    if (p->failed || !take(p, "?")) return none(p);
    const part yes = choice(p);
    if (p->failed || !take(p, ":")) return none(p);
    const part no = choice(p);
    if (p->failed) return no;
    const uint32_t operand[4] = {x.node, y.node, yes.node, no.node};
    return (part){wgi_graph_op(p->g, &wgi_scalar_ops[select[k]], operand), 0};
}

/* The text of an operation as a node; WGI_NO_NODE: it is not understood. */
static uint32_t parse(wgi_graph *g, const wg_scalar_op *op, const char *text, const uint32_t *x,
                      uint32_t value) {
    parser p = {g, text, x, op->arity, value, wgi_is_users(op), 0};
    if (text == NULL) return WGI_NO_NODE;
    const part whole = choice(&p);
    blanks(&p);
    return p.failed || *p.at != 0 ? WGI_NO_NODE : whole.node;
}

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

static int is_number(const char *text) {
    const char *end;
    if (*text == '-') text++;
    (void)read_number(text, &end);
    return end != text && *end == 0;
}

/* Does the row have second partials that are more exact than derivatives of the text of the
 * first ones, in the last digits or at the ends of the range? */
static int has_a_better_second(const wg_scalar_op *op) {
    static const unsigned rows[] = {
#define FORMULA(name, k, text)
#define CAREFUL(name) WGI_ROW_##name,
#define ORDER(name, k)
#include "ops/scalar/formula.def"
#undef FORMULA
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

uint32_t wgi_scalar_partial(wgi_graph *g, uint32_t node, size_t which) {
    const uint32_t k = (uint32_t)which;
    const wg_scalar_op *const op = g->node[node].op;
    const char *const text = op->text[1 + k];
    uint32_t x[4];
    if (op->zero_first >> k & 1) return WGI_NO_NODE;
    memcpy(x, g->operand + g->node[node].first, op->arity * sizeof *x);
    /* the text of a piecewise constant may name a variable, where that is 0 or NaN; those of
     * users have second partials of their own, which need not be the derivatives of the first
     */
    const int opaque = wgi_is_users(op) || has_a_better_second(op) ||
                       (piecewise_constant(op, k) && !is_number(text));
    const uint32_t parsed = opaque ? WGI_NO_NODE : parse(g, op, text, x, node);
    return parsed != WGI_NO_NODE ? parsed : first_partial(g, node, k);
}

uint32_t wgi_first_partial(wgi_graph *g, uint32_t node, size_t j) {
    const wgi_node n = g->node[node];
    const uint32_t which = packed(n.count, n.part, (uint32_t)j);
    if (n.op->second == NULL || (n.op->zero_second >> which & 1)) return WGI_NO_NODE;
    return same_operands(g, node, WGI_NODE_SECOND, which);
}

/* ---- the third order: a text on operands of its own, differentiated ---- */

static uint32_t formula(wgi_graph *g, const wg_scalar_op *op, uint32_t k, const uint32_t *x,
                        uint32_t value) {
    static const struct {
        unsigned op;
        uint32_t k;
        const char *text;
    } list[] = {
#define FORMULA(name, k, text) {WGI_ROW_##name, k, #text},
#define CAREFUL(name)
#define ORDER(name, k)
#include "ops/scalar/formula.def"
#undef FORMULA
#undef CAREFUL
#undef ORDER
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (op == &wgi_scalar_ops[list[i].op] && list[i].k == k)
            return parse(g, op, list[i].text, x, value);
    return WGI_NO_NODE;
}

/* The tangent of a node along one input, all others being constant. */
static uint32_t along(wgi_graph *g, uint32_t node, size_t operands, uint32_t input) {
    const size_t nodes = g->nodes;
    uint32_t *const tangent = wgi_node_list(g->c, nodes);
    if (tangent == NULL) return WGI_NO_NODE;
    for (size_t i = 0; i < operands; i++)
        tangent[i] = i == input ? wgi_graph_number(g, 1) : WGI_NO_NODE;
    wgi_graph_forward(g, nodes, tangent);
    return tangent[node];
}

uint32_t wgi_second_partial(wgi_graph *g, uint32_t node, size_t j) {
    const wgi_node n = g->node[node];
    const uint32_t count = n.count;
    uint32_t row = 0, column = 0;
    while (packed(count, row, count - 1) < n.part) row++;
    column = n.part - packed(count, row, row) + row;
    wgi_graph f;
    uint32_t x[4];
    wgi_graph_open(&f, g->c, g->call);
    for (uint32_t i = 0; i < count; i++) x[i] = wgi_graph_input(&f, WGI_ONCE);
    const uint32_t value = wgi_graph_op(&f, n.op, x);
    uint32_t d = parse(&f, n.op, n.op->text[1 + count + n.part], x, value);
    const int again = d == WGI_NO_NODE;
    if (again) d = formula(&f, n.op, row, x, value);
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

/* norm2: x/v, and 0 at 0. logsumexp: softmax. maximum and minimum: 1, or even shares for
 * operands that tie. lookup: 1 for the element that is chosen. */
uint32_t wgi_array_partial(wgi_graph *g, uint32_t node, size_t k) {
    const wgi_node n = g->node[node];
    const uint32_t x = g->operand[n.first + k];
    const uint32_t zero = wgi_graph_number(g, 0), one = wgi_graph_number(g, 1);
    if (n.array == WGI_ARRAY_norm2)
        return WGI_GRAPH4(g, select_eq, node, zero, zero, WGI_GRAPH2(g, div, x, node));
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
