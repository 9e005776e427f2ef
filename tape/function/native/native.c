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

enum {
    SUMS_APART =
        4096,         /* with at most so many sums, those of the last vector are summed apart */
    FEW_OPERANDS = 4, /* from so many inputs that follow each other on, a loop copies them */
    MASKS = 8         /* vectors of this width have additions under a mask */
};

#define LEAF(node) WGI_LEAF(w, node)
#define OPERAND(n, k) WGI_LEAF(w, w->f->operand[(n)->first + (k)])

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

/* A uniform is known by its place: u[i]; inputs of points by theirs. */
static wgi_spelling leaf(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    char number[WGI_LITERAL];
    if (n->kind == WGI_NODE_NUMBER)
        return wgi_spell("splat(%s)", wgi_text_literal(number, n->value));
    if (n->when != WGI_EACH) return wgi_spell("splat(u[%u])", w->slot[node]);
    if (n->kind == WGI_NODE_INPUT) return wgi_spell("IN(%u)", w->slot[node]);
    if (w->unit[node] != w->now) return wgi_spell("T(%u)", w->slot[node]);
    return wgi_spell("t%u", node);
}

/* ---- statements ---- */

/* Lane by lane, by the scalar text. */
static void by_lanes(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const char *const text = wgi_text_of(n);
    wgi_put(w, "  V %s;\n  for (int l = 0; l < WIDTH; l++) {", LEAF(node));
    for (uint32_t k = 0; k < n->count; k++)
        wgi_put(w, " const double %c = (%s)[l];", (char)('a' + k), OPERAND(n, k));
    if (wgi_node_is_partial(n) && wgi_text_letters(text, 'v') != 0) {
        if (w->same[node] == WGI_NO_NODE ||
            row_of(n) != NULL) /* the bits of the row's own text */
            wgi_put(w, " const double v = %s;", n->op->text[0]);
        else wgi_put(w, " const double v = (%s)[l];", LEAF(w->same[node]));
    }
    wgi_put(w, " %s[l] = %s; }\n", LEAF(node), text);
}

/* Is operand `at` of the function the input that is `run` after node o? */
static int follows(const wgi_writer *w, uint32_t o, uint32_t run, size_t at) {
    const wgi_node *const n = &w->f->node[w->f->operand[at]];
    return w->f->node[o].kind == WGI_NODE_INPUT && n->kind == WGI_NODE_INPUT &&
           w->f->node[o].when == WGI_EACH && n->when == WGI_EACH &&
           w->slot[w->f->operand[at]] == w->slot[o] + run;
}

/* Do the elements of a lookup stand next to each other: numbers, shared inputs, inputs of the
 * points? */
static int in_a_row(const wgi_writer *w, const wgi_node *n) {
    const uint32_t *const x = w->f->operand + n->first;
    const wgi_node *const first = &w->f->node[x[0]];
    for (uint32_t k = 0; k + 1 < n->count; k++) {
        const wgi_node *const e = &w->f->node[x[k]];
        if (e->kind != first->kind || e->when != first->when) return 0;
        if (e->kind == WGI_NODE_INPUT ? w->slot[x[k]] != w->slot[x[0]] + k
                                      : e->kind != WGI_NODE_NUMBER)
            return 0;
    }
    return 1;
}

/* Then none of them is copied. */
static void lookup_in_row(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const uint32_t *const x = w->f->operand + n->first, count = n->count - 1;
    const wgi_node *const first = &w->f->node[x[0]];
    wgi_put(w, "  V %s;\n  {", LEAF(node));
    for (uint32_t k = 0; first->kind == WGI_NODE_NUMBER && k < count; k++) {
        wgi_put(w, k == 0 ? " static const double e[] = {" : k % 8 == 0 ? ",\n    " : ", ");
        wgi_text_number(&w->o, w->f->node[x[k]].value);
        if (k + 1 == count) wgi_put(w, "};\n   ");
    }
    wgi_put(w,
            " const V at = %s;\n    for (int l = 0; l < WIDTH; l++) {\n"
            "      const size_t k = wgi_array_index(%u, at[l]);\n      %s[l] = k < %u ? ",
            OPERAND(n, count), count, LEAF(node), count);
    if (first->kind == WGI_NODE_NUMBER) wgi_put(w, "e[k]");
    else if (first->when != WGI_EACH) wgi_put(w, "u[%u + k]", w->slot[x[0]]);
    else wgi_put(w, "input[%u + k][p + (size_t)l]", w->slot[x[0]]);
    wgi_put(w, " : NAN; } }\n");
}

/* As the interpreter does it: ops/scalar/array.c where squares vanish or overflow. Operands go
 * through memory that is there once: for an array of its own each compilers take long, and any
 * stack has an end. */
static void array(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    if (n->array == WGI_ARRAY_lookup && in_a_row(w, n)) {
        lookup_in_row(w, node);
        return;
    }
    wgi_put(w, "  V %s;\n  { V *const q = ROOM;\n", LEAF(node));
    for (uint32_t k = 0, run; k < n->count; k += run) {
        const uint32_t o = w->f->operand[n->first + k];
        for (run = 1; k + run < n->count && follows(w, o, run, n->first + k + run);) run++;
        if (run < FEW_OPERANDS) {
            run = 1;
            wgi_put(w, "    q[%u] = %s;\n", k, LEAF(o));
        } else
            wgi_put(w, "    for (size_t i = 0; i < %u; i++) q[%u + i] = IN(%u + i);\n", run, k,
                    w->slot[o]);
    }
    wgi_put(w, "    %s = array_%s(%u, q); }\n", LEAF(node), wgi_array_ops[n->array].name,
            n->count);
}

int wgi_native_is_slope(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const uint32_t value = w->same[node];
    const vector_row *const r = n->kind == WGI_NODE_FIRST ? row_of(n) : NULL;
    return r != NULL && r->slope != NULL && value != WGI_NO_NODE &&
           w->unit[value] == w->unit[node];
}

/* A function that gives value and slope: s5 is the slope that belongs to the value of node
 * 5. */
static void with_slope(wgi_writer *w, uint32_t node, const char *function) {
    const wgi_node *const n = &w->f->node[node];
    if (n->kind == WGI_NODE_OP)
        wgi_put(w, "  V s%u;\n  const V %s = %s(%s, &s%u);\n", node, LEAF(node), function,
                OPERAND(n, 0), node);
    else if (wgi_native_is_slope(w, node))
        wgi_put(w, "  const V %s = s%u;\n", LEAF(node), w->same[node]);
    else
        wgi_put(w, "  V %s;\n  (void)%s(%s, &%s);\n", LEAF(node), function, OPERAND(n, 0),
                LEAF(node));
}

/* The value of a row, or a partial; that may need the value, v. */
static void by_text(wgi_writer *w, uint32_t node, const vector_row *r) {
    const wgi_node *const n = &w->f->node[node];
    const int value = n->kind == WGI_NODE_OP;
    const char *const text = value ? r->value : r->first[n->part];
    const int needs_v =
        !value && w->same[node] == WGI_NO_NODE && wgi_text_letters(text, 'v') != 0;
    const wgi_spelling v = wgi_spell("v%u", node);
    if (needs_v) {
        wgi_put(w, "  const V %s = ", v.text);
        wgi_write_row(w, r->value, node, NULL);
        wgi_put(w, ";\n");
    }
    wgi_put(w, value ? "  const V %s = " : "  const V %s = (", LEAF(node));
    wgi_write_row(w, text, node, needs_v ? v.text : NULL);
    wgi_put(w, value ? ";\n" : ") - ZERO;\n"); /* the text may be a number */
}

static void product(wgi_writer *w, uint32_t node) {
    wgi_put(w, "  const V %s = ", LEAF(node));
    wgi_write_expression(w, node, NULL);
    wgi_put(w, ";\n");
}

static void define(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const vector_row *const r = wgi_node_scalar(n) != NULL ? row_of(n) : NULL;
    if (n->kind == WGI_NODE_ARRAY) array(w, node);
    else if (n->kind == WGI_NODE_TIMES) product(w, node);
    else if (r == NULL || n->kind == WGI_NODE_SECOND) by_lanes(w, node);
    else if (r->slope != NULL) with_slope(w, node, r->slope);
    else by_text(w, node, r);
    if (w->slot[node] != WGI_NO_NODE) wgi_put(w, "  T(%u) = %s;\n", w->slot[node], LEAF(node));
}

/* ---- units ---- */

/* What is done with the values of a unit, by node: lists that begin at head[node]. */
typedef struct uses {
    uint32_t *result, *next_result, *sum, *next_sum;
    unsigned char *check;
    uint32_t waiting; /* a node that is to be checked together with the next one */
    int products, arrays;
} uses;

static wg_status find_uses(wgi_writer *w, uses *k) {
    const wg_function *const f = w->f;
    const wgi_bytecode *const p = f->bytecode;
    wg_tape *const t = &w->c->head;
    k->result = wgi_no_nodes(w->c, f->nodes);
    k->sum = wgi_no_nodes(w->c, f->nodes);
    k->next_result = wgi_node_list(w->c, p->native_results);
    k->next_sum = wgi_node_list(w->c, p->sums);
    k->check = wg_tape_keep(t, f->nodes + 1, NULL);
    if (w->c->status != WG_OK) return w->c->status;
    for (uint32_t j = (uint32_t)p->native_results; j-- > 0;) {
        k->next_result[j] = k->result[p->result_node[j]];
        k->result[p->result_node[j]] = j;
    }
    for (uint32_t j = (uint32_t)p->sums; j-- > 0;) {
        k->next_sum[j] = k->sum[p->sum_node[j]];
        k->sum[p->sum_node[j]] = j;
    }
    k->waiting = WGI_NO_NODE;
    k->products = wgi_plan_checks(w, k->check);
    k->arrays = 0;
    for (size_t i = 0; i < f->nodes; i++) k->arrays |= f->node[i].kind == WGI_NODE_ARRAY;
    return WG_OK;
}

static void after(wgi_writer *w, uint32_t node) {
    uses *const k = w->own;
    for (uint32_t j = k->result[node]; j != WGI_NO_NODE; j = k->next_result[j])
        wgi_put(w, "  OUT(%u) = %s;\n", j, LEAF(node));
    for (uint32_t j = k->sum[node]; j != WGI_NO_NODE; j = k->next_sum[j])
        wgi_put(w, "  ADD(%u, %s);\n", j, LEAF(node));
    /* what is summed shows in the sum */
    if (!k->products || !k->check[node] || k->sum[node] != WGI_NO_NODE) return;
    const uint32_t other = k->waiting;
    k->waiting = other == WGI_NO_NODE ? node : WGI_NO_NODE;
    if (other != WGI_NO_NODE) wgi_put(w, "  CHECK(%s, %s);\n", LEAF(other), LEAF(node));
}

static void open(wgi_writer *w, uint32_t unit) {
    wgi_put(w, "static %s void unit%u(UNIT) UNIT_BEGIN\n",
            w->units == 1 ? "inline __attribute__((always_inline))"
                          : "__attribute__((noinline))",
            unit);
}

/* Those of nodes stand behind these. */
static void results(wgi_writer *w, uint32_t unit) {
    const wgi_bytecode *const p = w->f->bytecode;
    uses *const k = w->own;
    for (size_t i = 0; unit == w->units - 1 && i < p->native_inputs; i++)
        after(w, p->input_node[i]);
    if (k->waiting != WGI_NO_NODE)
        wgi_put(w, "  CHECK(%s, %s);\n", LEAF(k->waiting), LEAF(k->waiting));
    k->waiting = WGI_NO_NODE;
}

static void guard(wgi_writer *w, size_t k) {
    static const char *const sign[] = {"<", "<=", ">", ">=", "==", "!="};
    const wgi_graph_guard *const g = &w->f->guard[k];
    wgi_put(w, "  wrong |= FLAGS(%s(%s%s%s));\n", g->outcome ? "~" : "", LEAF(g->a),
            sign[g->comparison], LEAF(g->b));
}

static void close(wgi_writer *w, uint32_t unit) {
    (void)unit;
    wgi_put(w, "  UNIT_END\n");
}

static const wgi_target target = {.leaf = leaf,
                                  .has_numbers = 1,
                                  .indent = "  ",
                                  .number_type = "const V ",
                                  .define = define,
                                  .after = after,
                                  .open = open,
                                  .results = results,
                                  .guard = guard,
                                  .close = close};

/* ---- the text ---- */

void wgi_native_need(wgi_writer *w) {
    for (size_t i = 0; i < sizeof vector_text / sizeof *vector_text; i++)
        wgi_need(w, vector_text[i]);
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
                             "    const size_t k = wgi_array_index(n - 1, x[n - 1][l]);\n"
                             "    y[l] = k < n - 1 ? x[k][l] : NAN;\n"
                             "  }\n"
                             "  return y;\n"
                             "}\n";

/* A unit does the vectors from `from` to `to`. */
static const char macros[] =
    "typedef V A __attribute__((may_alias, aligned(8)));\n"
    "#if WIDTH == 8\n"
    "typedef unsigned char B;\n"
    "#define NAN_IN(a, b) (B)unordered_lanes(a, b)\n"
    "#define FLAGS(m) (B)lanes(m)\n"
    "#define ANY(b) ((b) != 0)\n"
    "#define ADD(s, v) SUM(s) = (A)add_lanes((V)SUM(s), live, v)\n"
    "#else\n"
    "typedef M B;\n"
    "#define NAN_IN(a, b) unordered(a, b)\n"
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
static size_t vectors_of(const wgi_writer *w, const wgi_native_form *form) {
    size_t vectors = WGI_FN_NATIVE_POINTS / form->width;
    while (vectors > 1 && w->units > 1 &&
           w->slots * vectors * form->width * sizeof(double) > form->slot_room)
        vectors /= 2;
    return vectors;
}

/* All points; where there are sums, the vector in which points end goes into a sum of its own,
 * unless there are too many of them, or masks cost nothing: then each term is masked. */
static void entry(wgi_writer *w, const wgi_native_form *form, const uses *k) {
    const size_t sums = w->f->bytecode->sums;
    const int apart = sums != 0 && sums <= SUMS_APART && form->width < MASKS;
    wgi_put(w, "static void run(UNIT) {\n"
               "  for (size_t p = from; p < to; p += VECTORS * WIDTH) {\n"
               "    const size_t end = to - p < VECTORS * WIDTH ? to : p + VECTORS * WIDTH;\n");
    for (uint32_t u = 0; u < w->units; u++)
        wgi_put(w,
                "    unit%u(u, input, result, sum, t, p, end, lane, valid, bad_out, "
                "wrong_out);\n",
                u);
    wgi_put(w,
            "  }\n}\n"
            "int " WGI_NATIVE_EACH "(const double *u, const double *const *input,\n"
            "    double *const *result, double *sum, size_t points, size_t valid) {\n"
            "  B bad = FLAGS((M)ZERO), wrong = bad;\n  M lane;\n"
            "  V t[SLOTS * VECTORS + %zu];\n"
            "  const size_t whole = %s;\n"
            "  for (int l = 0; l < WIDTH; l++) lane[l] = l;\n"
            "  run(u, input, result, sum, t, 0, whole, lane, valid, &bad, &wrong);\n",
            wgi_native_room(w->f) + 1, apart ? "valid / WIDTH * WIDTH" : "points");
    if (apart)
        wgi_put(w,
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
        wgi_put(w,
                "  for (size_t s = 0; s < 8 * (size_t)%zu; s += WIDTH) {\n"
                "    const V x = *(const A *)(sum + s);\n    CHECK(x, x);\n  }\n",
                sums);
    wgi_put(w, "  return ANY(bad) ? 1 : ANY(wrong) ? 2 : 0;\n}\n");
}

void wgi_native_write(wgi_writer *w, const wgi_native_form *form, const char *key) {
    uses k;
    if (find_uses(w, &k) != WG_OK) return;
    w->target = &target;
    w->own = &k;
    wgi_put(w,
            "#define _GNU_SOURCE\n#define VECTORS %zu\n#define SLOTS %zu\n"
            "#define WIDTH %u\n#define MVEC \"%s\"\n",
            vectors_of(w, form), w->slots, form->width,
            form->width == 8   ? "_ZGVeN8"
            : form->width == 4 ? "_ZGVdN4"
                               : "_ZGVbN2");
    wgi_put_named(w, head);
    wgi_write_definitions(w);
    for (size_t i = 0; i < sizeof vector_text / sizeof *vector_text; i++)
        wgi_put_named(w, vector_text[i]);
    if (k.arrays && !wgi_needs(w, "wgi_array_norm2_value"))
        wgi_put(w, "double wgi_array_norm2_value(size_t, const double *, const double *);\n");
    if (k.arrays) wgi_put_named(w, arrays);
    if (wgi_needs(w, "wgi_array_index")) wgi_put_named(w, lookup);
    wgi_put_named(w, macros);
    wgi_put(w, "#define TERM(v) %s\n",
            w->f->bytecode->sums > SUMS_APART ? "(V)((M)(v) & live)" : "(v)");
    for (uint32_t u = 0; u < w->units; u++) wgi_write_unit(w, u);
    wgi_put(w, "const char " WGI_NATIVE_KEY "[] = \"%s\";\n", key);
    entry(w, form, &k);
}
