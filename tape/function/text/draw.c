/* SPDX-License-Identifier: MIT */
/* Functions to look at: as text, a line per operation, and as a graph.
 *
 *     input x[3]
 *     input p shared passive
 *     output y summed
 *     t5 = mul(p, 0.5)  ; once
 *     t6 = sin.a(x[2])  ; each
 *     t7 = sum(t6)  ; after
 *     guard 0: lt(x[0], t5) was true
 *     y = t7
 *
 * Nodes are t and their number; inputs go by their names, numbers stand where they are used.
 * f.a is the partial of f by its first operand, f.ab a second one.
 *
 *     t8 = body0(x[0], p)  ; each, 1000 steps backwards
 *     y = t8[1000]
 *
 * Result 1000 of a repeat. Its body is a function that stands below: body0; those in it are
 * body0.0 and so on.
 *
 *     t9 = solve(20x3, turned)(x[0], x[1], ...)  ; each
 *     y = t9[7]
 *
 * Result 7 of an operation on whole matrices (dense_values.h): its sizes and flags, and its
 * first operands. */
#include "tape/function/graph/whole_node.h"
#include "tape/function/graph/dense_node.h"
#include "tape/function/graph/repeat.h"

#include "ops/scalar/array.h"
#include "tape/engine/text.h"

#include <wengert/file.h>

enum { STEPS = 128, SHOWN = 8 /* operands that are shown of many */ };

typedef struct drawing {
    wgi_text *text;
    const wg_function *f;
    const struct drawing *in;  /* of which this is a body; NULL: of none */
    size_t number;             /* of the body among those */
    size_t step, entry[STEPS]; /* the first entry of every step-th input */
} drawing;

#define put(o, ...) wgi_text_format((o)->text, __VA_ARGS__)

static void open(drawing *o, const wg_function *f, wgi_text *text, const drawing *in,
                 size_t number) {
    size_t entries = 0;
    o->text = text;
    o->f = f;
    o->in = in;
    o->number = number;
    o->step = f->inputs / STEPS + 1;
    for (size_t k = 0; k < f->inputs; k++) {
        if (k % o->step == 0) o->entry[k / o->step] = entries;
        entries += wgi_argument_size(&f->input[k]);
    }
}

/* A line begins: that of a body stands further right. */
static void indent(drawing *o) {
    for (const drawing *d = o; d->in != NULL; d = d->in) put(o, "    ");
}

/* "body0", "body0.1"; with another word in front, and something else between the numbers */
static void put_body(drawing *o, const char *before, const char *between, const drawing *in,
                     size_t number) {
    if (in->in != NULL) {
        put_body(o, before, between, in->in, in->number);
        put(o, "%s%zu", between, number);
    } else put(o, "%s%zu", before, number);
}

/* ---- nodes ---- */

/* "x", "x[2]", "x[1,0]" */
static void put_entry(drawing *o, const wg_argument *a, size_t e) {
    wgi_text_name(o->text, a->name);
    if (wgi_argument_size(a) == 1) return;
    if (a->rows == 1 || a->cols == 1) put(o, "[%zu]", e);
    else put(o, "[%zu,%zu]", e % a->rows, e / a->rows);
}

static void put_input(drawing *o, size_t e) {
    size_t low = 0, high = (o->f->inputs + o->step - 1) / o->step;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (o->entry[middle] <= e) low = middle;
        else high = middle;
    }
    const wg_argument *a = o->f->input + low * o->step;
    for (e -= o->entry[low]; e >= wgi_argument_size(a); a++) e -= wgi_argument_size(a);
    put_entry(o, a, e);
}

static void put_operand(drawing *o, uint32_t node) {
    const wgi_node *const n = &o->f->node[node];
    char number[WGI_NUMBER_TEXT];
    if (n->kind == WGI_NODE_INPUT) put_input(o, node);
    else if (n->kind == WGI_NODE_NUMBER) put(o, "%s", wgi_number_text(number, n->value));
    else if (n->kind == WGI_NODE_PART) put(o, "t%u[%u]", o->f->operand[n->first], n->part);
    else put(o, "t%u", node);
}

/* Which operands a second partial is by: rows of the upper triangle. */
static void put_second(drawing *o, const wgi_node *n) {
    unsigned part = n->part, row = 0;
    for (; part >= n->op->arity - row; row++) part -= n->op->arity - row;
    put(o, ".%c%c", (char)('a' + row), (char)('a' + row + part));
}

/* "product(4x3x5, rule)" */
static void put_matrices(drawing *o, const wgi_node *n) {
    const wgi_dense_op op = wgi_dense_of(n);
    put(o, "%s", wgi_dense_rows[op.kind].word);
    for (int k = 0; k < 3 && op.size[k] != 0; k++) put(o, k == 0 ? "(%zu" : "x%zu", op.size[k]);
    put(o, "%s%s)", op.flags & WGI_DENSE_RULE ? ", rule" : "",
        op.flags & WGI_DENSE_TURNED ? ", turned" : "");
}

/* "wg_eigh(5)", "wg_mat_map" */
static void put_block(drawing *o, const wgi_node *n) {
    const wgi_whole_op op = wgi_whole_of(n);
    const char *before = "(";
    put(o, "%s", op.row->op->name);
    for (int k = 0; k < 3; k++) {
        if (op.size[k] == 0) continue;
        put(o, "%s%zu", before, op.size[k]);
        before = "x";
    }
    if (before[0] == 'x') put(o, ")");
}

/* What it does: "mul", "mul.b", "body0", "product(4x3x5, rule)", or its kind. */
static void put_what(drawing *o, const wgi_node *n) {
    const unsigned holds = wgi_node_row(n)->holds;
    if (n->kind == WGI_NODE_REPEAT) put_body(o, "body", ".", o, n->part);
    else if (holds & WGI_HOLDS_MATRICES) put_matrices(o, n);
    else if (holds & WGI_HOLDS_WHOLE) put_block(o, n);
    else if (holds & WGI_HOLDS_ARRAY) wgi_text_name(o->text, wgi_array_ops[n->array].name);
    else wgi_text_name(o->text, holds & WGI_HOLDS_SCALAR ? n->op->name : wgi_node_row(n)->stem);
    if (n->kind == WGI_NODE_FIRST) put(o, ".%c", (char)('a' + n->part));
    else if (wgi_node_is_partial(n)) put_second(o, n);
}

/* Addresses of functions of the user's say nothing to anybody. */
static uint32_t shown_operands(const wgi_node *n) {
    if ((wgi_node_row(n)->holds & WGI_HOLDS_WHOLE) == 0) return n->count;
    const wgi_whole *const row = wgi_whole_of(n).row;
    return n->count - (wgi_whole_is_own(row) ? row->numbers : 0);
}

/* "mul(x[3], t11)"; after `most` operands dots stand for the others. */
static void put_node(drawing *o, const wgi_node *n, size_t most) {
    const uint32_t count = shown_operands(n);
    put_what(o, n);
    put(o, "(");
    for (uint32_t k = 0; k < count && k < most && !o->text->failed; k++) {
        if (k != 0) put(o, ", ");
        put_operand(o, o->f->operand[n->first + k]);
    }
    put(o, count > most ? ", ...)" : ")");
}

static void put_guard(drawing *o, const wgi_graph_guard *g) {
    static const char *const comparison[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    put(o, "%s(", comparison[g->comparison]);
    put_operand(o, g->a);
    put(o, ", ");
    put_operand(o, g->b);
    put(o, g->outcome ? ") was true" : ") was false");
}

static const char *const when[] = {"once", "each", "after"};

/* "1000 steps backwards", of a repeat */
static void put_steps(drawing *o, const char *before, const wgi_node *n) {
    const wgi_repeat *const r = wgi_repeat_of(o->f, n);
    if (r == NULL) return;
    put(o, "%s%zu step%s%s", before, r->steps, r->steps == 1 ? "" : "s",
        r->solves      ? " to a solution"
        : r->backwards ? " backwards"
                       : "");
}

/* Operations of a kind: nodes [first, last). */
static size_t first_of(const wg_function *f, unsigned kind) {
    return f->n + f->numbers + (kind > WGI_ONCE ? f->once : 0) +
           (kind > WGI_EACH ? f->each : 0);
}
static size_t last_of(const wg_function *f, unsigned kind) {
    return kind == WGI_AFTER ? f->nodes : first_of(f, kind + 1);
}

/* ---- one line per operation ---- */

static void put_argument(drawing *o, const char *what, const wg_argument *a) {
    indent(o);
    put(o, "%s ", what);
    wgi_text_name(o->text, a->name);
    if (a->cols != 1) put(o, "[%zu,%zu]", a->rows, a->cols);
    else if (a->rows != 1) put(o, "[%zu]", a->rows);
    put(o, "%s%s%s%s%s\n", a->flags & WG_SHARED ? " shared" : "",
        a->flags & WG_PASSIVE ? " passive" : "", a->flags & WG_SUMMED ? " summed" : "",
        wgi_is_carried(a) ? " carried" : "", wgi_is_stepped(a) ? " stepped" : "");
}

static void dump(drawing *o) {
    const wg_function *const f = o->f;
    for (size_t k = 0; k < f->inputs && !o->text->failed; k++)
        put_argument(o, "input", &f->input[k]);
    for (size_t k = 0; k < f->outputs && !o->text->failed; k++)
        put_argument(o, "output", &f->output[k]);
    for (size_t i = first_of(f, WGI_ONCE); i < f->nodes && !o->text->failed; i++) {
        const wgi_node *const n = &f->node[i];
        if (n->kind == WGI_NODE_PART) continue;
        indent(o);
        put(o, "t%zu = ", i);
        const unsigned of_matrices = WGI_HOLDS_MATRICES | WGI_HOLDS_WHOLE;
        put_node(o, n, wgi_node_row(n)->holds & of_matrices ? SHOWN : SIZE_MAX);
        put(o, "  ; %s", when[n->when]);
        put_steps(o, ", ", n);
        put(o, "\n");
    }
    for (size_t k = 0; k < f->guards && !o->text->failed; k++) {
        indent(o);
        put(o, "guard %zu: ", k);
        put_guard(o, &f->guard[k]);
        put(o, "\n");
    }
    const uint32_t *result = f->result;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]) && !o->text->failed; e++) {
            indent(o);
            put_entry(o, &f->output[k], e);
            put(o, " = ");
            put_operand(o, *result++);
            put(o, "\n");
        }
    for (size_t k = 0; k < f->repeats && !o->text->failed; k++) {
        drawing body;
        open(&body, f->repeat[k].body, o->text, o, k);
        indent(o);
        put_body(o, "body", ".", o, k);
        put(o, ":\n");
        dump(&body);
    }
}

/* ---- a graph: an edge per operand that is no number ---- */

/* Of a body "b0_" */
static void put_scope(drawing *o) {
    if (o->in == NULL) return;
    put_body(o, "b", "_", o->in, o->number);
    put(o, "_");
}

/* "t17", of a body "b0_t17"; of a part it is that of what it is a part of. */
static void put_id(drawing *o, const char *letter, size_t number) {
    put_scope(o);
    put(o, "%s%zu", letter, number);
}

static void begin(drawing *o, const char *letter, size_t number) {
    indent(o);
    put(o, "    ");
    put_id(o, letter, number);
}

/* Where an edge comes from. */
static uint32_t origin(const drawing *o, uint32_t node) {
    const wgi_node *const n = &o->f->node[node];
    return n->kind == WGI_NODE_PART ? o->f->operand[n->first] : node;
}

static void put_edge(drawing *o, uint32_t from, const char *letter, size_t number) {
    if (o->f->node[from].kind == WGI_NODE_NUMBER) return;
    begin(o, "t", origin(o, from));
    put(o, " -> ");
    put_id(o, letter, number);
    put(o, ";\n");
}

static void dot_cluster(drawing *o, unsigned kind) {
    const wg_function *const f = o->f;
    indent(o);
    put(o, "    subgraph cluster_");
    put_scope(o);
    put(o, "%s {\n", when[kind]);
    indent(o);
    put(o, "        label=\"%s\";\n", when[kind]);
    for (size_t i = first_of(f, kind); i < last_of(f, kind) && !o->text->failed; i++) {
        if (f->node[i].kind == WGI_NODE_PART) continue;
        put(o, "    ");
        begin(o, "t", i);
        put(o, " [label=\"t%zu\\n", i);
        put_node(o, &f->node[i], SHOWN);
        put_steps(o, "\\n", &f->node[i]);
        put(o, "\"];\n");
    }
    indent(o);
    put(o, "    }\n");
}

static void dot_nodes(drawing *o) {
    const wg_function *const f = o->f;
    for (size_t i = 0; i < f->n && !o->text->failed; i++) {
        begin(o, "t", i);
        put(o, " [shape=box, label=\"");
        put_input(o, i);
        put(o, "\"];\n");
    }
    for (unsigned kind = WGI_ONCE; kind <= WGI_AFTER; kind++)
        if (first_of(f, kind) != last_of(f, kind)) dot_cluster(o, kind);
}

/* Many results of one repeat that go the same way are one edge. */
static void dot_edges(drawing *o) {
    const wg_function *const f = o->f;
    for (size_t i = first_of(f, WGI_ONCE); i < f->nodes && !o->text->failed; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t *const x = f->operand + n->first;
        for (uint32_t k = 0; k < n->count && !o->text->failed; k++)
            if (n->kind != WGI_NODE_PART && (k == 0 || f->node[x[k]].kind != WGI_NODE_PART ||
                                             origin(o, x[k]) != origin(o, x[k - 1])))
                put_edge(o, x[k], "t", i);
    }
}

static void dot_ends(drawing *o) {
    const wg_function *const f = o->f;
    for (size_t k = 0; k < f->guards && !o->text->failed; k++) {
        begin(o, "g", k);
        put(o, " [shape=diamond, label=\"");
        put_guard(o, &f->guard[k]);
        put(o, "\"];\n");
        put_edge(o, f->guard[k].a, "g", k);
        put_edge(o, f->guard[k].b, "g", k);
    }
    size_t j = 0;
    for (size_t k = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]) && !o->text->failed; e++, j++) {
            const unsigned kind = f->node[f->result[j]].kind;
            begin(o, "r", j);
            put(o, " [shape=box, peripheries=2, label=\"");
            put_entry(o, &f->output[k], e);
            if (kind == WGI_NODE_NUMBER || kind == WGI_NODE_PART) {
                put(o, " = ");
                put_operand(o, f->result[j]);
            }
            put(o, "\"];\n");
            put_edge(o, f->result[j], "r", j);
        }
}

static void dot(drawing *o) {
    dot_nodes(o);
    dot_edges(o);
    dot_ends(o);
    for (size_t k = 0; k < o->f->repeats && !o->text->failed; k++) {
        drawing body;
        open(&body, o->f->repeat[k].body, o->text, o, k);
        indent(o);
        put(o, "    subgraph cluster_");
        put_body(o, "b", "_", o, k);
        put(o, " {\n");
        indent(&body);
        put(o, "    label=\"");
        put_body(o, "body", ".", o, k);
        put(o, "\";\n");
        dot(&body);
        indent(&body);
        put(o, "}\n");
    }
}

static void digraph(drawing *o) {
    put(o, "digraph function {\n");
    dot(o);
    put(o, "}\n");
}

/* ---- the calls ---- */

static wg_status draw(const wg_function *f, wg_write *write, void *ctx,
                      void (*how)(drawing *o)) {
    if (f == NULL || write == NULL) return WG_ENULL;
    wgi_text text;
    drawing o;
    wgi_text_open(&text, NULL, write, ctx);
    open(&o, f, &text, NULL, 0);
    how(&o);
    return wgi_text_close(&text);
}

wg_status wg_function_dump(const wg_function *f, wg_write *write, void *ctx) {
    return draw(f, write, ctx, dump);
}
wg_status wg_function_dot(const wg_function *f, wg_write *write, void *ctx) {
    return draw(f, write, ctx, digraph);
}
