/* SPDX-License-Identifier: MIT */
/* The part of each point as C for the plug of bytecode.h: statements on GNU vectors of points.
 *
 * Operations with a vector kernel have the text of elementwise_simd.def, and its functions, so
 * that the bits are those of the interpreter; others are done lane by lane by the text of their
 * row. What is used in more than one unit stands in t[slot]. */
#include "native.h"

#include "ops/scalar/array.h"

#include <stdio.h>
#include <string.h>

#define VECTOR_TEXT vector_text
#include "ops/scalar/special_text.h"
#undef VECTOR_TEXT

/* Sums with a room for the last vector; operations up to which their order is looked at; the
 * width at which an operation may have a mask. */
enum { SUMS_APART = 4096, SCHEDULED = 1000, FEW_OPERANDS = 4, MASKS = 8 };

/* ---- texts of rows over vectors ---- */

typedef struct vector_row {
    const char *value, *first[4];
    const char *slope; /* a function of a and a pointer to the slope */
} vector_row;

static const vector_row vector_rows[] = {
#define V1(name, value, da) [WGI_ROW_##name] = {#value, {#da}, NULL},
#define V2(name, value, da, db) [WGI_ROW_##name] = {#value, {#da, #db}, NULL},
#define V3(name, value, da, db, dc) [WGI_ROW_##name] = {#value, {#da, #db, #dc}, NULL},
#define V4(name, value, da, db, dc, dd) [WGI_ROW_##name] = {#value, {#da, #db, #dc, #dd}, NULL},
#define V1K(name, function) [WGI_ROW_##name] = {NULL, {NULL}, #function},
#include "ops/scalar/elementwise_simd.def"
#undef V1
#undef V2
#undef V3
#undef V4
#undef V1K
};

static const vector_row *row_of(const wgi_node *n) {
    if (wgi_is_users(n->op)) return NULL;
    const size_t k = (size_t)(n->op - wgi_scalar_ops);
    if (k >= sizeof vector_rows / sizeof *vector_rows) return NULL;
    const vector_row *const r = &vector_rows[k];
    return r->value != NULL || r->slope != NULL ? r : NULL;
}

/* ---- operands ---- */

/* A uniform is known by its place: u[i]; inputs of points by theirs: x3 in one unit. */
static void leaf(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    if (n->kind == WGI_NODE_NUMBER) {
        wgi_text_put(&s->o, "splat(");
        wgi_text_number(&s->o, n->value);
        wgi_text_put(&s->o, ")");
    } else if (n->when != WGI_EACH) {
        wgi_text_format(&s->o, "splat(u[%u])", s->slot[node]);
    } else if (n->kind == WGI_NODE_INPUT) {
        wgi_text_format(&s->o, "IN(%u)", s->slot[node]);
    } else if (s->unit[node] != s->now) {
        wgi_text_format(&s->o, "T(%u)", s->slot[node]);
    } else {
        wgi_text_format(&s->o, "t%u", node);
    }
}

static void operand(wgi_source *s, const wgi_node *n, uint32_t k) {
    leaf(s, s->f->operand[n->first + k]);
}

/* A row's text with letters replaced; v: a name, or the node of the value. */
static void put_row(wgi_source *s, const char *text, uint32_t node, const char *v) {
    const wgi_node *const n = &s->f->node[node];
    for (const char *p = text; *p != 0; p++) {
        const int inside =
            p > text && (p[-1] == '_' || (p[-1] >= 'a' && p[-1] <= 'z') ||
                         (p[-1] >= 'A' && p[-1] <= 'Z') || (p[-1] >= '0' && p[-1] <= '9'));
        const int longer =
            p[1] == '_' || (p[1] >= 'a' && p[1] <= 'z') || (p[1] >= '0' && p[1] <= '9');
        const uint32_t k = (uint32_t)(*p - 'a');
        if (!inside && !longer && *p == 'v') {
            if (v != NULL) wgi_text_put(&s->o, v);
            else leaf(s, s->same[node]);
        } else if (!inside && !longer && *p >= 'a' && k < n->count) {
            operand(s, n, k);
        } else {
            wgi_text_bytes(&s->o, p, 1);
        }
    }
}

/* ---- statements ---- */

/* The declaration of a node's value. */
static void place(wgi_source *s, uint32_t node, int constant) {
    wgi_text_put(&s->o, constant ? "  const V " : "  V ");
    leaf(s, node);
}

/* Lane by lane, by the scalar text. */
static void by_lanes(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const char *const text = wgi_source_text(n);
    place(s, node, 0);
    wgi_text_put(&s->o, ";\n");
    wgi_text_put(&s->o, "  for (int l = 0; l < WIDTH; l++) {");
    for (uint32_t k = 0; k < n->count; k++) {
        wgi_text_format(&s->o, " const double %c = (", (char)('a' + k));
        operand(s, n, k);
        wgi_text_put(&s->o, ")[l];");
    }
    if (n->kind != WGI_NODE_OP && wgi_source_letters(text, 'v') != 0) {
        wgi_text_put(&s->o, " const double v = ");
        if (s->same[node] == WGI_NO_NODE ||
            row_of(n) != NULL) { /* the bits of the row's own text */
            wgi_text_put(&s->o, n->op->text[0]);
        } else {
            wgi_text_put(&s->o, "(");
            leaf(s, s->same[node]);
            wgi_text_put(&s->o, ")[l]");
        }
        wgi_text_put(&s->o, ";");
    }
    wgi_text_put(&s->o, " ");
    leaf(s, node);
    wgi_text_put(&s->o, "[l] = ");
    wgi_text_put(&s->o, text);
    wgi_text_put(&s->o, "; }\n");
}

/* Is operand `at` of the function the input that is `run` after node o? */
static int follows(const wgi_source *s, uint32_t o, uint32_t run, size_t at) {
    const wgi_node *const n = &s->f->node[s->f->operand[at]];
    return s->f->node[o].kind == WGI_NODE_INPUT && n->kind == WGI_NODE_INPUT &&
           s->f->node[o].when == WGI_EACH && n->when == WGI_EACH &&
           s->slot[s->f->operand[at]] == s->slot[o] + run;
}

/* Do the elements of a lookup stand next to each other: numbers, shared inputs, inputs of the
 * points? */
static int in_a_row(const wgi_source *s, const wgi_node *n) {
    const uint32_t *const x = s->f->operand + n->first;
    const wgi_node *const first = &s->f->node[x[0]];
    for (uint32_t k = 0; k + 1 < n->count; k++) {
        const wgi_node *const e = &s->f->node[x[k]];
        if (e->kind != first->kind || e->when != first->when) return 0;
        if (e->kind == WGI_NODE_INPUT ? s->slot[x[k]] != s->slot[x[0]] + k
                                      : e->kind != WGI_NODE_NUMBER)
            return 0;
    }
    return 1;
}

/* Then none of them is copied. */
static void lookup_in_row(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const uint32_t *const x = s->f->operand + n->first, count = n->count - 1;
    const wgi_node *const first = &s->f->node[x[0]];
    place(s, node, 0);
    wgi_text_put(&s->o, ";\n  {");
    for (uint32_t k = 0; first->kind == WGI_NODE_NUMBER && k < count; k++) {
        wgi_text_put(&s->o, k == 0       ? " static const double e[] = {"
                            : k % 8 == 0 ? ",\n    "
                                         : ", ");
        wgi_text_number(&s->o, s->f->node[x[k]].value);
        if (k + 1 == count) wgi_text_put(&s->o, "};\n   ");
    }
    wgi_text_put(&s->o, " const V at = ");
    operand(s, n, count);
    wgi_text_put(&s->o, ";\n    for (int l = 0; l < WIDTH; l++) {\n");
    wgi_text_format(&s->o, "      const size_t k = wgi_array_place(%u, at[l]);\n      ", count);
    leaf(s, node);
    wgi_text_format(&s->o, "[l] = k < %u ? ", count);
    if (first->kind == WGI_NODE_NUMBER) wgi_text_put(&s->o, "e[k]");
    else if (first->when != WGI_EACH) wgi_text_format(&s->o, "u[%u + k]", s->slot[x[0]]);
    else wgi_text_format(&s->o, "input[%u + k][p + (size_t)l]", s->slot[x[0]]);
    wgi_text_put(&s->o, " : NAN; } }\n");
}

/* As the interpreter does it: ops/scalar/array.c where squares vanish or overflow. Operands go through
 * memory that is there once: for an array of its own each compilers take long, and any stack
 * has an end. */
static void array(wgi_source *s, uint32_t node) {
    static const char *const function[WGI_ARRAY_COUNT] = {[WGI_ARRAY_norm2] = "norm2",
                                                          [WGI_ARRAY_logsumexp] = "logsumexp",
                                                          [WGI_ARRAY_maximum] = "maximum",
                                                          [WGI_ARRAY_minimum] = "minimum",
                                                          [WGI_ARRAY_lookup] = "lookup"};
    const wgi_node *const n = &s->f->node[node];
    if (n->array == WGI_ARRAY_lookup && in_a_row(s, n)) {
        lookup_in_row(s, node);
        return;
    }
    place(s, node, 0);
    wgi_text_put(&s->o, ";\n");
    wgi_text_put(&s->o, "  { V *const q = ROOM;\n");
    for (uint32_t k = 0, run; k < n->count; k += run) {
        const uint32_t o = s->f->operand[n->first + k];
        for (run = 1; k + run < n->count && follows(s, o, run, n->first + k + run);) run++;
        if (run >= FEW_OPERANDS) {
            wgi_text_format(&s->o, "    for (size_t i = 0; i < %u; i++) q[%u + i] = ", run, k);
            wgi_text_format(&s->o, "IN(%u + i);\n", s->slot[o]);
            continue;
        }
        run = 1;
        wgi_text_format(&s->o, "    q[%u] = ", k);
        operand(s, n, k);
        wgi_text_put(&s->o, ";\n");
    }
    wgi_text_put(&s->o, "    ");
    leaf(s, node);
    wgi_text_format(&s->o, " = array_%s(%u, q); }\n", function[n->array], (unsigned)n->count);
}

static void product(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    place(s, node, 1);
    wgi_text_put(&s->o, " = ");
    operand(s, n, 0);
    wgi_text_put(&s->o, " * ");
    operand(s, n, 1);
    wgi_text_put(&s->o, ";\n");
}

int wgi_native_is_slope(const wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const uint32_t value = s->same[node];
    const vector_row *const r = n->kind == WGI_NODE_FIRST ? row_of(n) : NULL;
    return r != NULL && r->slope != NULL && value != WGI_NO_NODE &&
           s->unit[value] == s->unit[node];
}

/* A function that gives value and slope: s5 is the slope that belongs to the value of node 5. */
static void with_slope(wgi_source *s, uint32_t node, const char *function) {
    const wgi_node *const n = &s->f->node[node];
    if (n->kind == WGI_NODE_OP) {
        wgi_text_format(&s->o, "  V s%u;\n", node);
        place(s, node, 1);
        wgi_text_format(&s->o, " = %s(", function);
        operand(s, n, 0);
        wgi_text_format(&s->o, ", &s%u);\n", node);
        return;
    }
    if (wgi_native_is_slope(s, node)) {
        place(s, node, 1);
        wgi_text_format(&s->o, " = s%u;\n", s->same[node]);
        return;
    }
    place(s, node, 0);
    wgi_text_format(&s->o, ";\n  (void)%s(", function);
    operand(s, n, 0);
    wgi_text_put(&s->o, ", &");
    leaf(s, node);
    wgi_text_put(&s->o, ");\n");
}

/* The value of a row, or a partial; that may need the value, v. */
static void by_text(wgi_source *s, uint32_t node, const vector_row *r) {
    const wgi_node *const n = &s->f->node[node];
    const int value = n->kind == WGI_NODE_OP;
    const char *const text = value ? r->value : r->first[n->part];
    const int needs_v =
        !value && s->same[node] == WGI_NO_NODE && wgi_source_letters(text, 'v') != 0;
    char v[24];
    if (needs_v) {
        (void)snprintf(v, sizeof v, "v%u", node);
        wgi_text_format(&s->o, "  const V %s = ", v);
        put_row(s, r->value, node, NULL);
        wgi_text_put(&s->o, ";\n");
    }
    place(s, node, 1);
    wgi_text_put(&s->o, value ? " = " : " = (");
    put_row(s, text, node, needs_v ? v : NULL);
    wgi_text_put(&s->o, value ? ";\n" : ") - ZERO;\n"); /* the text may be a number */
}

static void statement(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    if (n->kind == WGI_NODE_TIMES || n->kind == WGI_NODE_ARRAY) {
        (n->kind == WGI_NODE_TIMES ? product : array)(s, node);
        return;
    }
    const vector_row *const r = row_of(n);
    if (r == NULL || n->kind == WGI_NODE_SECOND) by_lanes(s, node);
    else if (r->slope != NULL) with_slope(s, node, r->slope);
    else by_text(s, node, r);
}

/* ---- the plan ---- */

unsigned wgi_native_width(const wgi_bytecode *p) { return (unsigned)p->machine->width; }

/* Is it a call of a function that takes long, and uses all registers? */
static int is_call(const wgi_node *n) {
    static const char *const quick[] = {"sqrt", "rsqrt", "fma", "floor",
                                        "ceil", "trunc", "rint"};
    const char *const text = wgi_source_text(n);
    if (n->kind == WGI_NODE_ARRAY) return 1;
    if (text == NULL || !wgi_source_calls(text)) return 0;
    for (size_t i = 0; i < sizeof quick / sizeof *quick && n->kind == WGI_NODE_OP; i++)
        if (strcmp(n->op->name, quick[i]) == 0) return 0;
    return 1;
}

int wgi_native_takes_long(const wgi_node *n) {
    const char *const text = wgi_source_text(n);
    if (is_call(n)) return 1;
    return text != NULL && n->kind != WGI_NODE_OP && wgi_source_letters(text, 'v') != 0 &&
           wgi_source_calls(n->op->text[0]);
}

/* The nodes that calls need, where few of them are used after, and there is something to do
 * after: a unit of their own, so that the calls of several vectors overlap. Gives how many they
 * are; they are listed first. */
static size_t calls_first(wgi_source *s, size_t first) {
    enum { FEW = 8 };
    const wg_function *const f = s->f;
    uint32_t *const before = s->spare; /* is it needed by a call? */
    size_t count = 0, across = 0;
    memset(before, 0, f->nodes * sizeof *before);
    for (size_t i = first + f->each; i-- > first;) {
        const wgi_node *const n = &f->node[i];
        if (is_call(n)) before[i] = 1;
        if (!before[i]) continue;
        count++;
        for (uint32_t k = 0; k < n->count; k++) before[f->operand[n->first + k]] = 1;
        if (s->same[i] != WGI_NO_NODE) before[s->same[i]] = 1;
    }
    for (size_t i = first; i < first + f->each; i++) { /* 2: used after */
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k <= n->count && !before[i]; k++) {
            const uint32_t o = k < n->count ? f->operand[n->first + k] : s->same[i];
            if (o == WGI_NO_NODE || o < first || before[o] != 1) continue;
            before[o] = 2;
            across++;
        }
    }
    if (count == 0 || count + FEW >= f->each || across > FEW) return 0;
    size_t at[2] = {0, count};
    for (size_t i = 0; i < f->each; i++)
        s->list[at[!before[first + i]]++] = (uint32_t)(first + i);
    return count;
}

size_t wgi_native_weight(const wgi_node *n) {
    return n->kind == WGI_NODE_ARRAY ? 1 + n->count : 1;
}

/* Operands of an array, at most. */
static size_t array_room(const wg_function *f) {
    size_t most = 0;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].kind == WGI_NODE_ARRAY && f->node[i].when == WGI_EACH &&
            f->node[i].count > most)
            most = f->node[i].count;
    return most;
}

/* The nodes list[first ... end): units of about the same weight. */
static void cut(wgi_source *s, size_t first, size_t end, size_t unit) {
    size_t all = 0, filled = 0;
    for (size_t k = first; k < end; k++) all += wgi_native_weight(&s->f->node[s->list[k]]);
    const size_t units = all <= 2 * unit ? 1 : all / unit, most = (all + units - 1) / units;
    for (size_t k = first; k < end; k++) {
        if (k == first || filled >= most) s->units++, filled = 0;
        s->unit[s->list[k]] = (uint32_t)s->units - 1;
        filled += wgi_native_weight(&s->f->node[s->list[k]]);
    }
}

wg_status wgi_native_plan(wgi_source *s, const wgi_native_form *form) {
    const wg_function *const f = s->f;
    const wgi_bytecode *const p = f->bytecode;
    const size_t first = f->n + f->numbers + f->once;
    for (size_t i = 0; i < f->nodes; i++) s->unit[i] = WGI_NO_NODE;
    for (size_t i = 0; i < f->each; i++) s->list[i] = (uint32_t)(first + i);
    s->listed = f->each;
    s->units = 0;
    for (size_t i = 0, end = calls_first(s, first); i < f->each; i = end, end = f->each) {
        if (end == 0) end = f->each;
        cut(s, i, end, form->unit);
    }
    s->apart = 0;
    wgi_source_count(s);
    wgi_source_slots(s);
    const size_t room = s->slots + array_room(f);
    if (room * form->width * sizeof(double) > 4 * form->slot_room)
        return wgi_refuse(s->c, WG_EMODE, "%s: %zu numbers are alive at a time", s->call, room);
    if (f->each <= SCHEDULED) wgi_native_schedule(s);
    for (size_t u = 0; u < p->uniforms; u++)
        if (p->uniform_node[u] != WGI_NO_NODE) s->slot[p->uniform_node[u]] = (uint32_t)u;
    for (size_t i = 0; i < p->native_inputs; i++) s->slot[p->input_node[i]] = (uint32_t)i;
    wgi_source_need_all(s, 1);
    for (size_t i = 0; i < sizeof vector_text / sizeof *vector_text; i++)
        wgi_source_need(s, vector_text[i]);
    return WG_OK;
}

/* ---- a unit ---- */

/* What is done with the values of a unit, by node: lists that begin at head[node]. */
typedef struct uses {
    uint32_t *result, *next_result, *sum, *next_sum;
    unsigned char *check;
    uint32_t waiting; /* a node that is to be checked together with the next one */
    int products;
} uses;

static wg_status find_uses(wgi_source *s, uses *k) {
    const wg_function *const f = s->f;
    const wgi_bytecode *const p = f->bytecode;
    wg_tape *const t = &s->c->head;
    k->result = wg_tape_keep(t, (f->nodes + 1) * sizeof(uint32_t), NULL);
    k->sum = wg_tape_keep(t, (f->nodes + 1) * sizeof(uint32_t), NULL);
    k->next_result = wg_tape_keep(t, (p->native_results + 1) * sizeof(uint32_t), NULL);
    k->next_sum = wg_tape_keep(t, (p->sums + 1) * sizeof(uint32_t), NULL);
    k->check = wg_tape_keep(t, f->nodes + 1, NULL);
    if (s->c->status != WG_OK) return s->c->status;
    for (size_t i = 0; i < f->nodes; i++) k->result[i] = k->sum[i] = WGI_NO_NODE;
    for (uint32_t j = (uint32_t)p->native_results; j-- > 0;) {
        k->next_result[j] = k->result[p->result_node[j]];
        k->result[p->result_node[j]] = j;
    }
    for (uint32_t j = (uint32_t)p->sums; j-- > 0;) {
        k->next_sum[j] = k->sum[p->sum_node[j]];
        k->sum[p->sum_node[j]] = j;
    }
    k->waiting = WGI_NO_NODE;
    k->products = wgi_source_checks(s, k->check);
    return WG_OK;
}

static void after_node(wgi_source *s, uses *k, uint32_t node) {
    for (uint32_t j = k->result[node]; j != WGI_NO_NODE; j = k->next_result[j]) {
        wgi_text_format(&s->o, "  OUT(%u) = ", j);
        leaf(s, node);
        wgi_text_put(&s->o, ";\n");
    }
    for (uint32_t j = k->sum[node]; j != WGI_NO_NODE; j = k->next_sum[j]) {
        wgi_text_format(&s->o, "  ADD(%u, ", j);
        leaf(s, node);
        wgi_text_put(&s->o, ");\n");
    }
    /* what is summed shows in the sum */
    if (!k->products || !k->check[node] || k->sum[node] != WGI_NO_NODE) return;
    wgi_text_put(&s->o, k->waiting == WGI_NO_NODE ? "" : "  CHECK(");
    if (k->waiting != WGI_NO_NODE) { /* two at a time */
        leaf(s, k->waiting);
        wgi_text_put(&s->o, ", ");
        leaf(s, node);
        wgi_text_put(&s->o, ");\n");
    }
    k->waiting = k->waiting == WGI_NO_NODE ? node : WGI_NO_NODE;
}

static void guards(wgi_source *s, uint32_t unit) {
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!="};
    const wg_function *const f = s->f;
    for (size_t k = 0; k < f->guards; k++) {
        const wgi_graph_guard *const g = &f->guard[k];
        if (f->node[g->a].when != WGI_EACH && f->node[g->b].when != WGI_EACH) continue;
        const uint32_t a = s->unit[g->a], b = s->unit[g->b];
        const uint32_t of = a == WGI_NO_NODE && b == WGI_NO_NODE ? 0
                            : a == WGI_NO_NODE                   ? b
                            : b == WGI_NO_NODE                   ? a
                            : a > b                              ? a
                                                                 : b;
        if (of != unit) continue;
        wgi_text_put(&s->o, g->outcome ? "  wrong |= FLAGS(~(" : "  wrong |= FLAGS((");
        leaf(s, g->a);
        wgi_text_put(&s->o, sign[g->comparison]);
        leaf(s, g->b);
        wgi_text_put(&s->o, "));\n");
    }
}

static void unit(wgi_source *s, uses *k, uint32_t u, size_t *at) {
    const wg_function *const f = s->f;
    const wgi_bytecode *const p = f->bytecode;
    wgi_text_format(&s->o, "static %s void unit%u(UNIT) UNIT_BEGIN\n",
                    s->units == 1 ? "inline __attribute__((always_inline))"
                                  : "__attribute__((noinline))",
                    u);
    s->now = u;
    for (; *at < s->listed && s->unit[s->list[*at]] == u; ++*at) {
        const uint32_t node = s->list[*at];
        statement(s, node);
        if (s->slot[node] != WGI_NO_NODE) {
            wgi_text_format(&s->o, "  T(%u) = ", s->slot[node]);
            leaf(s, node);
            wgi_text_put(&s->o, ";\n");
        }
        after_node(s, k, s->list[*at]);
    }
    for (size_t i = 0; u == s->units - 1 && i < p->native_inputs; i++)
        after_node(s, k, p->input_node[i]);
    if (k->waiting != WGI_NO_NODE) {
        wgi_text_put(&s->o, "  CHECK(");
        leaf(s, k->waiting);
        wgi_text_put(&s->o, ", ");
        leaf(s, k->waiting);
        wgi_text_put(&s->o, ");\n");
        k->waiting = WGI_NO_NODE;
    }
    guards(s, u);
    wgi_text_put(&s->o, "  UNIT_END\n");
}

static const char head[] =
    "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n"
    "#define WGI_LIKELY(c) __builtin_expect(!!(c), 1)\n"
    "#define WGI_UNLIKELY(c) __builtin_expect(!!(c), 0)\n";

/* The arrays of ops/scalar/array.c over vectors, as in interpreter_kernels.h. */
static const char arrays[] =
    "static V extremum(size_t n, const V *x, int least) {\n"
    "  V m = splat(least ? INFINITY : -INFINITY), nan = ZERO; M bad = (M)ZERO;\n"
    "  for (size_t i = 0; i < n; i++) {\n"
    "    m = v_if(least ? x[i] < m : x[i] > m, x[i], m);\n"
    "    nan = v_if((x[i] != x[i]) & ~bad, x[i], nan);\n"
    "    bad |= x[i] != x[i];\n"
    "  }\n"
    "  return v_if(bad, nan, m);\n"
    "}\n"
    "static V array_maximum(size_t n, const V *x) { return extremum(n, x, 0); }\n"
    "static V array_minimum(size_t n, const V *x) { return extremum(n, x, 1); }\n"
    "static V array_logsumexp(size_t n, const V *x) {\n"
    "  const V m = extremum(n, x, 0); V y = ZERO; M seen = (M)ZERO;\n"
    "  for (size_t i = 0; i < n; i++) {\n"
    "    const M largest = (x[i] == m) & ~seen;\n"
    "    y += v_if(largest, ZERO, v_exp(x[i] - m));\n"
    "    seen |= largest;\n"
    "  }\n"
    "  return v_if(v_abs(m) < INFINITY, m + v_log1p(y), m);\n"
    "}\n"
    "static double norm2_lane(size_t n, const V *x, int l) {\n"
    "  double lane[n + 1];\n"
    "  for (size_t i = 0; i < n; i++) lane[i] = x[i][l];\n"
    "  return wgi_array_norm2_value(n, lane, NULL);\n"
    "}\n"
    "static V array_norm2(size_t n, const V *x) {\n"
    "  V m = ZERO, s = ZERO;\n"
    "  for (size_t i = 0; i < n; i++) {\n"
    "    const V size = v_abs(x[i]);\n"
    "    m = v_if(size > m, size, m);\n"
    "    s += x[i] * x[i];\n"
    "  }\n"
    "  V y = v_sqrt(s);\n"
    "  const M usual = (m > 1e-140) & (m < 1e140) & (s == s);\n"
    "  if (!every(usual))\n"
    "    for (int l = 0; l < WIDTH; l++) if (usual[l] == 0) y[l] = norm2_lane(n, x, l);\n"
    "  return y;\n"
    "}\n";

static const char lookup[] = "static V array_lookup(size_t n, const V *x) {\n"
                             "  V y;\n"
                             "  for (int l = 0; l < WIDTH; l++) {\n"
                             "    const size_t k = wgi_array_place(n - 1, x[n - 1][l]);\n"
                             "    y[l] = k < n - 1 ? x[k][l] : NAN;\n"
                             "  }\n"
                             "  return y;\n"
                             "}\n";

/* A unit does the vectors from `from` to `to`. */
static const char macros[] =
    "typedef V A __attribute__((may_alias, aligned(8)));\n"
    "#if WIDTH == 8\n"
    "typedef __mmask8 B;\n"
    "#define NAN_IN(a, b) _mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q)\n"
    "#define FLAGS(m) _mm512_movepi64_mask((__m512i)(m))\n"
    "#define ANY(b) ((b) != 0)\n"
    "#define ADD(s, v) SUM(s) = (A)_mm512_mask_add_pd((__m512d)SUM(s), live, (__m512d)SUM(s), "
    "(__m512d)(v))\n"
    "#else\n"
    "typedef M B;\n"
    "#if WIDTH == 4\n"
    "#define NAN_IN(a, b) (M)_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q)\n"
    "#else\n"
    "#define NAN_IN(a, b) (((a) != (a)) | ((b) != (b)))\n"
    "#endif\n"
    "#define FLAGS(m) (m)\n"
    "#define ANY(b) any(b)\n"
    "#define ADD(s, v) SUM(s) += TERM(v)\n"
    "#endif\n"
    "#define UNIT const double *u, const double *const *input, double *const *result, \\\n"
    "    double *sum, V *t, size_t from, size_t to, M lane, size_t valid, B *bad_out, B *wrong_out\n"
    "#define UNIT_BEGIN { \\\n"
    "  B bad = *bad_out, wrong = *wrong_out; \\\n"
    "  for (size_t p = from; p < to; p += WIDTH) { \\\n"
    "    const B live = FLAGS(lane + (int64_t)p < (int64_t)valid);\n"
    "#define UNIT_END } *bad_out = bad; *wrong_out = wrong; }\n"
    "#define T(i) t[(i) * VECTORS + (p - from) / WIDTH]\n"
    "#define ROOM (t + SLOTS * VECTORS)\n"
    "#define IN(i) (*(const A *)(const void *)(input[i] + p))\n"
    "#define OUT(j) (*(A *)(void *)(result[j] + p))\n"
    "#define SUM(s) (*(A *)(void *)(sum + 8 * (s) + p % 8))\n"
    "#define CHECK(a, b) bad |= NAN_IN(a, b)\n";

/* How many vectors a unit does at a time: the slots are to stay near. */
static size_t vectors_of(const wgi_source *s, const wgi_native_form *form) {
    size_t vectors = WGI_FN_NATIVE_POINTS / form->width;
    while (vectors > 1 && s->units > 1 &&
           s->slots * vectors * form->width * sizeof(double) > form->slot_room)
        vectors /= 2;
    return vectors;
}

/* All points; where there are sums, the vector in which points end goes into a sum of its own,
 * unless there are too many of them, or masks cost nothing: then each term is masked. */
static void entry(wgi_source *s, const wgi_native_form *form, const uses *k) {
    const size_t sums = s->f->bytecode->sums;
    const int apart = sums != 0 && sums <= SUMS_APART && form->width < MASKS;
    wgi_text_put(
        &s->o, "static void run(UNIT) {\n"
               "  for (size_t p = from; p < to; p += VECTORS * WIDTH) {\n"
               "    const size_t end = to - p < VECTORS * WIDTH ? to : p + VECTORS * WIDTH;\n");
    for (uint32_t u = 0; u < s->units; u++)
        wgi_text_format(
            &s->o,
            "    unit%u(u, input, result, sum, t, p, end, lane, valid, bad_out, wrong_out);\n",
            u);
    wgi_text_format(&s->o,
                    "  }\n}\n"
                    "int " WGI_NATIVE_EACH "(const double *u, const double *const *input,\n"
                    "    double *const *result, double *sum, size_t points, size_t valid) {\n"
                    "  B bad = FLAGS((M)ZERO), wrong = bad;\n  M lane;\n"
                    "  V t[SLOTS * VECTORS + %zu];\n",
                    array_room(s->f) + 1);
    wgi_text_format(&s->o,
                    "  const size_t whole = %s;\n"
                    "  for (int l = 0; l < WIDTH; l++) lane[l] = l;\n"
                    "  run(u, input, result, sum, t, 0, whole, lane, valid, &bad, &wrong);\n",
                    apart ? "valid / WIDTH * WIDTH" : "points");
    if (apart)
        wgi_text_format(
            &s->o,
            "  if (whole < valid) {\n"
            "    A apart[8 / WIDTH * %zu] __attribute__((aligned(64)));\n"
            "    double *const last = (double *)apart;\n"
            "    memset(apart, 0, sizeof apart);\n"
            "    run(u, input, result, last, t, whole, whole + WIDTH, lane, valid, &bad, "
            "&wrong);\n"
            "    for (size_t s = 0; s < %zu; s++)\n"
            "      for (size_t p = whole; p < valid; p++)\n"
            "        sum[8 * s + p %% 8] += last[8 * s + p %% 8];\n"
            "  }\n",
            sums, sums);
    if (k->products && sums != 0)
        wgi_text_format(&s->o,
                        "  for (size_t s = 0; s < 8 * (size_t)%zu; s += WIDTH) {\n"
                        "    const V x = *(const A *)(sum + s);\n    CHECK(x, x);\n  }\n",
                        sums);
    wgi_text_put(&s->o, "  return ANY(bad) ? 1 : ANY(wrong) ? 2 : 0;\n}\n");
}

void wgi_native_write(wgi_source *s, const wgi_native_form *form, const char *key) {
    uses k;
    size_t at = 0;
    if (find_uses(s, &k) != WG_OK) return;
    const size_t vectors = vectors_of(s, form);
    wgi_text_put(&s->o, "#define _GNU_SOURCE\n");
    wgi_text_format(&s->o, "#define VECTORS %zu\n#define SLOTS %zu\n", vectors, s->slots);
    wgi_text_format(&s->o, "#define WIDTH %u\n#define MVEC \"%s\"\n", form->width,
                    form->width == 8   ? "_ZGVeN8"
                    : form->width == 4 ? "_ZGVdN4"
                                       : "_ZGVbN2");
    wgi_text_put(&s->o, head);
    wgi_source_definitions(s);
    for (size_t i = 0; i < sizeof vector_text / sizeof *vector_text; i++)
        wgi_text_put(&s->o, vector_text[i]);
    for (size_t i = 0; i < s->f->nodes; i++)
        if (s->f->node[i].kind == WGI_NODE_ARRAY) {
            if (!wgi_source_defines(s, "wgi_array_norm2_value"))
                wgi_text_put(&s->o,
                             "double wgi_array_norm2_value(size_t, const double *, const "
                             "double *);\n");
            wgi_text_put(&s->o, arrays);
            break;
        }
    if (wgi_source_defines(s, "wgi_array_place")) wgi_text_put(&s->o, lookup);
    wgi_text_put(&s->o, macros);
    wgi_text_put(&s->o, s->f->bytecode->sums > SUMS_APART
                            ? "#define TERM(v) (V)((M)(v) & live)\n"
                            : "#define TERM(v) (v)\n");
    for (uint32_t u = 0; u < s->units; u++) unit(s, &k, u, &at);
    wgi_text_format(&s->o, "const char " WGI_NATIVE_KEY "[] = \"%s\";\n", key);
    entry(s, form, &k);
}
