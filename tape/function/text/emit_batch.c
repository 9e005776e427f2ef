/* SPDX-License-Identifier: MIT */
/* Functions as C text: many points.
 *
 *     u[i]          shared inputs that are read; then what is done once or on sums, where a
 *                   later unit uses it
 *     x[i][l]       inputs that are read, of eight points
 *     t[i][l]       slots of theirs
 *     y[j][l]       results of eight points
 *     total[k][l]   sums, a lane for every eighth point
 *
 * The units of each point are arithmetic, on vectors of eight (X(i) is all of x[i]) where the
 * compiler has such, otherwise in a loop over the lanes; or calls, always in a loop. There
 * products by the zero rule are plain. Where a NaN shows that this may have been wrong, the
 * eight points are done again with care, lane by lane. */
#include "emit.h"

#include "emit_repeat.h"

#include <string.h>

#define PUT(text) wgi_source_named(s, text)

/* Macros of the text, gone at its end: another one may stand in the same file. */
#define UNDEFINED                                                                              \
    "#undef VECTOR\n#undef MASK\n#undef EIGHT\n#undef SPLAT\n#undef ANY\n"                     \
    "#undef X\n#undef Y\n#undef T\n"

typedef struct batch {
    uint32_t *result;     /* y of result j, or WGI_NO_NODE: it is summed */
    uint32_t *term;       /* of a SUM node: its total, or WGI_NO_NODE */
    unsigned char *check; /* nodes that show a NaN of a product */
    size_t inputs, results, sums;
    uint32_t once, each; /* first units of the parts at each point and after */
    int products;
} batch;

/* ---- which number stands where ---- */

static uint32_t number_of(const wgi_source *s, uint32_t node) {
    return node - (uint32_t)(s->f->n + s->f->numbers);
}

static void leaf(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const uint32_t slot = s->slot[node];
    if (slot == WGI_NO_NODE) wgi_text_format(&s->o, "t%u", number_of(s, node));
    else if (n->when != WGI_EACH) wgi_text_format(&s->o, "u[%u]", slot);
    else wgi_text_format(&s->o, n->kind == WGI_NODE_INPUT ? "x[%u][l]" : "t[%u][l]", slot);
}

static void vector_leaf(wgi_source *s, uint32_t node) {
    const wgi_node *const n = &s->f->node[node];
    const uint32_t slot = s->slot[node];
    if (slot == WGI_NO_NODE || n->when != WGI_EACH) leaf(s, node);
    else wgi_text_format(&s->o, n->kind == WGI_NODE_INPUT ? "X(%u)" : "T(%u)", slot);
}

/* What is not + - * / or a sign. */
static int is_call(const wgi_node *n) {
    static const unsigned arithmetic[] = {WGI_ROW_add, WGI_ROW_sub, WGI_ROW_mul, WGI_ROW_div,
                                          WGI_ROW_neg};
    for (size_t i = 0; n->kind == WGI_NODE_OP && i < sizeof arithmetic / sizeof *arithmetic;
         i++)
        if (n->op == &wgi_scalar_ops[arithmetic[i]]) return 0;
    return n->kind != WGI_NODE_TIMES;
}

/* Levels of the nodes of each point: 2 d is arithmetic, 2 d + 1 calls. */
static uint32_t levels(wgi_source *s, uint32_t *level) {
    const wg_function *const f = s->f;
    uint32_t most = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t call = (uint32_t)is_call(n);
        level[i] = call;
        if (n->when != WGI_EACH || n->kind == WGI_NODE_INPUT) continue;
        for (uint32_t k = 0; k <= n->count; k++) {
            const uint32_t o = k < n->count ? f->operand[n->first + k] : s->same[i];
            if (o == WGI_NO_NODE || f->node[o].when != WGI_EACH ||
                f->node[o].kind == WGI_NODE_INPUT)
                continue;
            const uint32_t least = call ? level[o] | 1 : (level[o] + 1) / 2 * 2;
            if (least > level[i]) level[i] = least;
        }
        if (level[i] > most) most = level[i];
    }
    return most;
}

/* One more node; a new unit where `fresh` is set or the last one is full. */
static void list(wgi_source *s, uint32_t node, int fresh, size_t *in_unit, size_t most) {
    if (s->listed == 0 || fresh || *in_unit == most) s->units++, *in_unit = 0;
    s->unit[node] = (uint32_t)s->units - 1;
    s->list[s->listed++] = node;
    ++*in_unit;
}

static int plan(wgi_source *s, batch *b, size_t unit) {
    const wg_function *const f = s->f;
    const size_t first = f->n + f->numbers;
    size_t in_unit = 0;
    uint32_t *const level = wg_tape_keep(&s->c->head, (f->nodes + 1) * sizeof *level, NULL);
    uint32_t *const start = wg_tape_keep(&s->c->head, (2 * f->nodes + 4) * sizeof *start, NULL);
    if (level == NULL || start == NULL) return 0;
    for (size_t i = 0; i < f->nodes; i++) s->unit[i] = WGI_NO_NODE;
    s->listed = s->units = 0;
    for (size_t i = first; i < first + f->once; i++) list(s, (uint32_t)i, 0, &in_unit, unit);
    b->once = (uint32_t)s->units;
    const uint32_t most = levels(s, level);
    memset(start, 0, (most + 2) * sizeof *start);
    for (size_t i = first + f->once; i < first + f->once + f->each; i++) start[level[i] + 1]++;
    for (uint32_t k = 0; k <= most; k++) start[k + 1] += start[k];
    uint32_t *const order = s->spare;
    for (size_t i = first + f->once; i < first + f->once + f->each; i++)
        order[start[level[i]]++] = (uint32_t)i;
    for (size_t i = 0; i < f->each; i++)
        list(s, order[i], i == 0 || level[order[i]] != level[order[i - 1]], &in_unit,
             unit / 4 + 1);
    if (f->each == 0) s->units++; /* for results that are inputs */
    b->each = (uint32_t)s->units;
    for (size_t i = first + f->once + f->each; i < f->nodes; i++)
        list(s, (uint32_t)i, i == first + f->once + f->each, &in_unit, unit);
    return 1;
}

static int places(wgi_source *s, batch *b) {
    const wg_function *const f = s->f;
    b->result = wg_tape_keep(&s->c->head, (f->m + 1) * sizeof *b->result, NULL);
    b->term = wg_tape_keep(&s->c->head, (f->nodes + 1) * sizeof *b->term, NULL);
    b->check = wg_tape_keep(&s->c->head, f->nodes + 1, NULL);
    if (s->c->status != WG_OK) return 0;
    s->apart = 1;
    s->uniforms = 0;
    b->inputs = b->results = b->sums = 0;
    wgi_source_count(s);
    b->products = wgi_source_checks(s, b->check);
    for (size_t i = 0; i < f->nodes; i++) s->uses[i] += b->check[i];
    for (size_t i = 0; i < f->n; i++)
        if (s->uses[i] != 0)
            s->slot[i] = (uint32_t)(f->node[i].when == WGI_EACH ? b->inputs++ : s->uniforms++);
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        b->term[i] = WGI_NO_NODE;
        if (n->kind == WGI_NODE_SUM && f->node[f->operand[n->first]].when == WGI_EACH)
            b->term[i] = (uint32_t)b->sums++;
    }
    for (size_t k = 0, j = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            const int summed = (f->output[k].flags & WG_SUMMED) != 0;
            b->result[j] = summed ? WGI_NO_NODE : (uint32_t)b->results++;
            /* read at the end, or at the points */
            if (summed || f->node[f->result[j]].when != WGI_EACH) s->uses[f->result[j]]++;
        }
    wgi_source_fold(s, 76);
    wgi_source_slots(s);
    wgi_emit_repeat_slots(s);
    /* results that are sums, or done once, are read at the end */
    for (size_t j = 0; j < f->m; j++) {
        const uint32_t node = f->result[j];
        if (s->slot[node] == WGI_NO_NODE && s->unit[node] != WGI_NO_NODE &&
            f->node[node].when != WGI_EACH)
            s->slot[node] = (uint32_t)s->uniforms++;
    }
    return 1;
}

/* ---- units ---- */

static void once_units(wgi_source *s, const batch *b, uint32_t from, uint32_t to,
                       const char *part, size_t *at) {
    s->leaf = leaf;
    s->number = "const double ";
    s->times = "wgi_times(";
    for (uint32_t u = from; u < to; u++) {
        const size_t end = wgi_emit_unit_end(s, *at, u);
        wgi_text_format(&s->o, "static int %s_%s%u(", s->name, part, u - from);
        wgi_text_put(&s->o, "double *u, const double *total, double points) {\n"
                            "    (void)u, (void)total, (void)points;\n");
        const int inner = wgi_emit_repeat_compares(s, *at, end);
        if (inner) wgi_text_put(&s->o, "    int inner = 0;\n");
        for (; *at < end; ++*at) {
            const uint32_t node = s->list[*at];
            const wgi_node *const n = &s->f->node[node];
            if (n->kind != WGI_NODE_SUM) {
                wgi_emit_nodes(s, *at, *at + 1, "    ");
                continue;
            }
            wgi_text_put(&s->o, s->slot[node] == WGI_NO_NODE ? "    const double " : "    ");
            s->leaf(s, node);
            if (b->term[node] != WGI_NO_NODE)
                wgi_text_format(&s->o, " = total[%u];\n", b->term[node]);
            else {
                wgi_source_named(s, " = points == 0 ? 0 : wgi_times(points, ");
                wgi_source_operand(s, s->f->operand[n->first], WGI_PLACE_SUM);
                wgi_text_put(&s->o, ");\n");
            }
        }
        for (size_t k = 0; k < s->f->guards; k++) {
            if (wgi_emit_guard_unit(s, k, WGI_NO_NODE) != u) continue;
            wgi_text_put(&s->o, "    if (");
            wgi_emit_guard(s, k);
            wgi_text_format(&s->o, ") return %zu;\n", k + 1);
        }
        wgi_text_put(&s->o, inner ? "    return inner;\n}\n\n" : "    return 0;\n}\n\n");
    }
}

/* Is guard k looked at in this unit of each point? Those of inputs are in the last one. */
static int guard_here(const wgi_source *s, const batch *b, size_t k, uint32_t unit) {
    const wgi_graph_guard *const g = &s->f->guard[k];
    if (s->f->node[g->a].when != WGI_EACH && s->f->node[g->b].when != WGI_EACH) return 0;
    const uint32_t of = wgi_emit_guard_unit(s, k, b->each - 1);
    return (of < b->once ? b->each - 1 : of) == unit;
}

/* A result that is no node of the units is written in the last one. */
static void results(wgi_source *s, const batch *b, uint32_t u, int vectors) {
    const wg_function *const f = s->f;
    for (size_t j = 0; j < f->m; j++) {
        const uint32_t node = f->result[j], of = s->unit[node];
        const int inside = of != WGI_NO_NODE && of >= b->once && of < b->each;
        if (b->result[j] == WGI_NO_NODE || (inside ? of : b->each - 1) != u) continue;
        wgi_text_format(&s->o,
                        vectors ? "        Y(%u) = " : "        y[%u][l] = ", b->result[j]);
        const int splat = vectors && f->node[node].when != WGI_EACH;
        if (splat) wgi_text_put(&s->o, "SPLAT(");
        if (inside && wgi_source_at_result(s, node)) wgi_source_expression(s, node, NULL);
        else wgi_source_operand(s, node, WGI_PLACE_SUM);
        wgi_text_put(&s->o, splat ? ");\n" : ";\n");
    }
}

static void checks(wgi_source *s, const batch *b, size_t first, size_t last, const char *into) {
    for (size_t i = first; b->products && i < last; i++) {
        const uint32_t node = s->list[i];
        if (!b->check[node]) continue;
        wgi_text_format(&s->o, "        %s(", into);
        s->leaf(s, node);
        wgi_text_put(&s->o, " != ");
        s->leaf(s, node);
        wgi_text_put(&s->o, ");\n");
    }
}

static void lane_guards(wgi_source *s, const batch *b, uint32_t u) {
    const char *before = "    for (size_t l = 0; l < 8; l++) {\n";
    for (size_t k = 0; k < s->f->guards; k++) {
        if (!guard_here(s, b, k, u)) continue;
        wgi_text_put(&s->o, before);
        before = "";
        wgi_text_put(&s->o, "        if (");
        wgi_emit_guard(s, k);
        wgi_text_format(&s->o, ") failed[l] = failed[l] != 0 && failed[l] < %zu ? ", k + 1);
        wgi_text_format(&s->o, "failed[l] : %zu;\n", k + 1);
    }
    if (*before == 0) wgi_text_put(&s->o, "    }\n");
}

/* Gives whether a NaN shows, if not done with care. */
static void each_unit(wgi_source *s, const batch *b, uint32_t u, size_t *at, int careful) {
    const size_t end = wgi_emit_unit_end(s, *at, u);
    const int vectors = !careful && (*at == end || !is_call(&s->f->node[s->list[*at]]));
    s->leaf = vectors ? vector_leaf : leaf;
    s->number = vectors ? "const VECTOR " : "const double ";
    s->times = careful ? "wgi_times(" : NULL;
    wgi_text_format(&s->o, "static int %s_%s%u(const double *u, ", s->name,
                    careful ? "careful" : "each", u - b->once);
    PUT("wgi_lanes *restrict x,\n        wgi_lanes *restrict y, wgi_lanes *restrict t, "
        "int *restrict failed) {\n");
    wgi_text_put(&s->o, vectors ? "    MASK bad = {0};\n" : "    int nan = 0;\n");
    wgi_text_put(&s->o, "    (void)u, (void)x, (void)y, (void)t, (void)failed;\n");
    wgi_text_put(&s->o, vectors ? "    EIGHT {\n" : "    for (size_t l = 0; l < 8; l++) {\n");
    wgi_emit_nodes(s, *at, end, "        ");
    results(s, b, u, vectors);
    if (!careful) checks(s, b, *at, end, vectors ? "bad |= (MASK)" : "nan |= ");
    wgi_text_put(&s->o, "    }\n");
    s->leaf = leaf;
    lane_guards(s, b, u);
    wgi_text_put(&s->o, vectors ? "    return ANY(bad);\n}\n\n" : "    return nan;\n}\n\n");
    *at = end;
}

/* ---- eight points, and all ---- */

/* Which slots are summed, and where. */
static void terms(wgi_source *s, const batch *b) {
    size_t count = 0;
    for (size_t i = 0; i < s->f->nodes; i++) {
        const uint32_t of = b->term[i] == WGI_NO_NODE ? 0 : s->f->operand[s->f->node[i].first];
        if (b->term[i] == WGI_NO_NODE || s->f->node[of].kind == WGI_NODE_INPUT) continue;
        if (count == 0) PUT("static const unsigned wgi_terms[][2] = {\n    ");
        wgi_text_put(&s->o, count == 0 ? "" : count % 8 == 0 ? ",\n    " : ", ");
        wgi_text_format(&s->o, "{%u, %u}", s->slot[of], b->term[i]);
        count++;
    }
    if (count != 0) wgi_text_put(&s->o, "};\n\n");
}

/* How many entries of one input, from i on, are read or not read as this one is. */
static size_t read_together(const wgi_source *s, size_t i) {
    size_t run = 1;
    while (i + run < s->f->n && s->argument[i + run] == s->argument[i] &&
           (s->slot[i + run] == WGI_NO_NODE) == (s->slot[i] == WGI_NO_NODE))
        run++;
    return run;
}

static void block(wgi_source *s, const batch *b) {
    const wg_function *const f = s->f;
    terms(s, b);
    PUT("static void wgi_block(size_t p, size_t valid, const double *u, const double *const *arg,\n"
        "        const ptrdiff_t *arg_step, double *const *res, const ptrdiff_t *res_step,\n"
        "        wgi_lanes *total, int *failed) {\n");
    wgi_text_format(&s->o, "    %s_lanes x[%zu], y[%zu], t[%zu];\n", s->name,
                    b->inputs + (b->inputs == 0), b->results + (b->results == 0),
                    s->slots + (s->slots == 0));
    PUT("    int nan = 0;\n    (void)nan;\n"
        "    (void)p, (void)valid, (void)arg, (void)arg_step, (void)res, (void)res_step, "
        "(void)total;\n");
    for (size_t i = 0, run; i < f->n; i += run) {
        const uint32_t k = s->argument[i];
        run = read_together(s, i);
        if (f->input[k].flags & WG_SHARED || s->slot[i] == WGI_NO_NODE) continue;
        wgi_text_format(&s->o, "    %s_load(&x[%u], %u, %zu, ", s->name, s->slot[i],
                        s->entry[i], run);
        wgi_text_format(&s->o, "p, valid, arg[%u], arg_step + %u);\n", k, 2 * k);
    }
    for (int careful = 0; careful <= b->products; careful++) {
        if (careful) PUT("    if (nan) {\n");
        PUT("    memset(failed, 0, 8 * sizeof *failed);\n");
        for (uint32_t u = b->once; u < b->each; u++)
            wgi_text_format(&s->o, "    nan |= %s_%s%u(u, x, y, t, failed);\n", s->name,
                            careful ? "careful" : "each", u - b->once);
        if (careful) PUT("    }\n");
    }
    for (size_t k = 0, at = 0; k < f->outputs; k++) {
        const size_t size = wgi_argument_size(&f->output[k]);
        if (f->output[k].flags & WG_SUMMED || size == 0) continue;
        wgi_text_format(&s->o, "    %s_store(&y[%zu], %zu, p, valid, ", s->name, at, size);
        wgi_text_format(&s->o, "res[%zu], res_step + %zu);\n", k, 2 * k);
        at += size;
    }
    size_t in_slots = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        if (b->term[i] == WGI_NO_NODE) continue;
        const uint32_t of = f->operand[f->node[i].first];
        in_slots += f->node[of].kind != WGI_NODE_INPUT;
        if (f->node[of].kind != WGI_NODE_INPUT) continue;
        wgi_text_format(&s->o, "    %s_add(valid, x[%u], total[%u]);\n", s->name, s->slot[of],
                        b->term[i]);
    }
    if (in_slots != 0) {
        wgi_text_format(&s->o, "    for (size_t k = 0; k < %zu; k++)\n", in_slots);
        PUT("        wgi_add(valid, t[wgi_terms[k][0]], total[wgi_terms[k][1]]);\n");
    }
    wgi_text_put(&s->o, "}\n\n");
}

/* The first failure of the parts that are done once: they are of the first point, if any. */
static const char note[] =
    "    if (now != 0 && points != 0 && (first == 0 || at != 0 || now < first))\n"
    "        first = now, at = 0;\n";

static void calls(wgi_source *s, uint32_t from, uint32_t to, const char *part,
                  const char *sums) {
    for (uint32_t u = from; u < to; u++) {
        wgi_text_format(&s->o, "    now = %s_%s%u(u, %s, (double)points);\n", s->name, part,
                        u - from, sums);
        PUT(note);
    }
}

/* Comparisons of shared inputs and numbers only, which no unit has. */
static void input_guards(wgi_source *s) {
    for (size_t k = 0; k < s->f->guards; k++) {
        const wgi_graph_guard *const g = &s->f->guard[k];
        if (s->f->node[g->a].when == WGI_EACH || s->f->node[g->b].when == WGI_EACH ||
            s->unit[g->a] != WGI_NO_NODE || s->unit[g->b] != WGI_NO_NODE)
            continue;
        wgi_text_put(&s->o, "    now = ");
        wgi_emit_guard(s, k);
        wgi_text_format(&s->o, " ? %zu : 0;\n", k + 1);
        PUT(note);
    }
}

static void shared_inputs(wgi_source *s) {
    const wg_function *const f = s->f;
    for (size_t i = 0, run; i < f->n; i += run) {
        const uint32_t k = s->argument[i];
        run = read_together(s, i);
        if (!(f->input[k].flags & WG_SHARED) || s->slot[i] == WGI_NO_NODE) continue;
        wgi_text_format(&s->o, "    for (size_t e = 0; e < %zu; e++)\n", run);
        wgi_text_format(&s->o, "        u[%u + e] = arg[%u] != NULL ? arg[%u]", s->slot[i], k,
                        k);
        wgi_text_format(&s->o, "[(ptrdiff_t)(%u + e) * arg_step[%u]] : 0;\n", s->entry[i],
                        2 * k + 1);
    }
}

static void summed_outputs(wgi_source *s) {
    const wg_function *const f = s->f;
    for (size_t k = 0, j = 0; k < f->outputs; k++) {
        const size_t size = wgi_argument_size(&f->output[k]);
        if (!(f->output[k].flags & WG_SUMMED) || size == 0) {
            j += size;
            continue;
        }
        wgi_text_format(&s->o, "    if (res[%zu] != NULL) {\n", k);
        for (size_t e = 0; e < size; e++, j++) {
            wgi_text_format(&s->o, "        res[%zu][%zu * res_step[%zu]] = ", k, e, 2 * k + 1);
            wgi_source_operand(s, f->result[j], WGI_PLACE_SUM);
            wgi_text_put(&s->o, ";\n");
        }
        wgi_text_put(&s->o, "    }\n");
    }
}

static void all(wgi_source *s, const batch *b) {
    wgi_text_format(&s->o, "%sint %s_batch(size_t points, const double *const *arg, ", s->scope,
                    s->name);
    PUT("const ptrdiff_t *arg_step,\n"
        "    double *const *res, const ptrdiff_t *res_step, size_t *where) {\n");
    wgi_text_format(&s->o, "    double u[%zu];\n", s->uniforms + (s->uniforms == 0));
    wgi_text_format(&s->o, "    %s_lanes total[%zu];\n", s->name, b->sums + (b->sums == 0));
    PUT("    double sum[sizeof total / sizeof *total];\n"
        "    int first = 0, now, failed[8];\n"
        "    size_t at = 0;\n"
        "    (void)now, (void)res, (void)res_step, (void)arg, (void)arg_step, (void)u, (void)sum;\n"
        "    memset(total, 0, sizeof total);\n");
    shared_inputs(s);
    input_guards(s);
    calls(s, 0, b->once, "once", "NULL");
    PUT("    for (size_t p = 0; p < points; p += 8) {\n"
        "        const size_t valid = points - p < 8 ? points - p : 8;\n"
        "        wgi_block(p, valid, u, arg, arg_step, res, res_step, total, failed);\n"
        "        for (size_t l = 0; l < valid; l++)\n"
        "            if (failed[l] != 0 && (first == 0 || (at == p + l && failed[l] < first)))\n"
        "                first = failed[l], at = p + l;\n"
        "    }\n"
        "    for (size_t k = 0; k < sizeof total / sizeof *total; k++)\n"
        "        sum[k] = ((total[k][0] + total[k][1]) + (total[k][2] + total[k][3])) +\n"
        "                 ((total[k][4] + total[k][5]) + (total[k][6] + total[k][7]));\n");
    calls(s, b->each, (uint32_t)s->units, "after", "sum");
    summed_outputs(s);
    PUT("    if (first != 0 && where != NULL) *where = at;\n    return first;\n}\n\n" UNDEFINED);
}

/* Vectors need not be aligned. A compiler without them works lane by lane. */
static const char lanes[] =
    "typedef double wgi_lanes[8];\n" UNDEFINED
    "#if defined(__GNUC__) && !defined(WG_NO_VECTORS)\n"
    "typedef double wgi_vector __attribute__((vector_size(64), aligned(8), may_alias));\n"
    "typedef long long wgi_mask __attribute__((vector_size(64)));\n"
    "#define EIGHT\n"
    "#define SPLAT(c) ((c) - (VECTOR){0})\n"
    "#define ANY(m) (((m)[0] | (m)[1] | (m)[2] | (m)[3] | (m)[4] | (m)[5] | (m)[6] | (m)[7]) != 0)\n"
    "#define X(i) (*(VECTOR *)x[i])\n"
    "#define Y(i) (*(VECTOR *)y[i])\n"
    "#define T(i) (*(VECTOR *)t[i])\n"
    "#else\n"
    "typedef double wgi_vector;\n"
    "typedef int wgi_mask;\n"
    "#define EIGHT for (size_t l = 0; l < 8; l++)\n"
    "#define SPLAT(c) (c)\n"
    "#define ANY(m) (m)\n"
    "#define X(i) x[i][l]\n"
    "#define Y(i) y[i][l]\n"
    "#define T(i) t[i][l]\n"
    "#endif\n"
    "#define VECTOR wgi_vector\n"
    "#define MASK wgi_mask\n\n";

static const char load[] =
    "/* Points from p on; those that are not valid repeat the last one. */\n"
    "static void wgi_load(wgi_lanes *x, size_t first, size_t entries, size_t p, size_t valid,\n"
    "        const double *from, const ptrdiff_t *step) {\n"
    "    for (size_t e = 0; e < entries; e++)\n"
    "        for (size_t l = 0; l < 8; l++)\n"
    "            x[e][l] = from == NULL ? 0\n"
    "                                   : from[(ptrdiff_t)(p + (l < valid ? l : valid - 1)) * step[0] +\n"
    "                                          (ptrdiff_t)(first + e) * step[1]];\n"
    "}\n\n";

static const char store[] =
    "static void wgi_store(wgi_lanes *y, size_t entries, size_t p, size_t valid, double *to,\n"
    "        const ptrdiff_t *step) {\n"
    "    if (to == NULL) return;\n"
    "    for (size_t l = 0; l < valid; l++)\n"
    "        for (size_t e = 0; e < entries; e++)\n"
    "            to[(ptrdiff_t)(p + l) * step[0] + (ptrdiff_t)e * step[1]] = y[e][l];\n"
    "}\n\n";

static const char add[] =
    "static inline void wgi_add(size_t valid, const double *x, double *total) {\n"
    "    if (valid == 8)\n"
    "        for (size_t l = 0; l < 8; l++) total[l] += x[l];\n"
    "    else\n"
    "        for (size_t l = 0; l < valid; l++) total[l] += x[l];\n"
    "}\n\n";

void wgi_emit_batch(wgi_source *s, size_t unit) {
    batch b;
    size_t at = 0;
    int each_output = 0;
    s->leaf = leaf;
    if (!plan(s, &b, unit) || !places(s, &b)) return;
    for (size_t k = 0; k < s->f->outputs; k++)
        each_output |=
            !(s->f->output[k].flags & WG_SUMMED) && wgi_argument_size(&s->f->output[k]) != 0;
    PUT(lanes);
    if (b.inputs != 0) PUT(load);
    if (each_output) PUT(store);
    if (b.sums != 0) PUT(add);
    once_units(s, &b, 0, b.once, "once", &at);
    const size_t first = at;
    for (int careful = 0; careful <= b.products; careful++) {
        at = first;
        for (uint32_t u = b.once; u < b.each; u++) each_unit(s, &b, u, &at, careful);
    }
    once_units(s, &b, b.each, (uint32_t)s->units, "after", &at);
    block(s, &b);
    all(s, &b);
}
