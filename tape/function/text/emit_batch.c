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

#include <string.h>

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
    int compares; /* was a comparison of the unit written? */
} batch;

/* ---- which number stands where ---- */

/* Levels of the nodes of each point: 2 d is arithmetic, 2 d + 1 calls. */
static uint32_t levels(wgi_writer *w, uint32_t *level) {
    const wg_function *const f = w->f;
    uint32_t most = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t call = !wgi_is_arithmetic(n);
        level[i] = call;
        if (n->when != WGI_EACH || n->kind == WGI_NODE_INPUT) continue;
        for (uint32_t k = 0, o; (o = wgi_plan_needed(w, (uint32_t)i, k)) != WGI_NO_NODE; k++) {
            if (f->node[o].when != WGI_EACH || f->node[o].kind == WGI_NODE_INPUT) continue;
            const uint32_t least = call ? level[o] | 1 : (level[o] + 1) / 2 * 2;
            if (least > level[i]) level[i] = least;
        }
        if (level[i] > most) most = level[i];
    }
    return most;
}

static int plan(wgi_writer *w, batch *b, size_t unit) {
    const wg_function *const f = w->f;
    const size_t first = f->n + f->numbers, end = first + f->once + f->each;
    size_t in_unit = 0;
    uint32_t *const level = wgi_node_list(w->c, f->nodes);
    uint32_t *const start = wgi_node_list(w->c, 2 * f->nodes + 4);
    if (level == NULL || start == NULL) return 0;
    for (size_t i = 0; i < f->nodes; i++) w->unit[i] = WGI_NO_NODE;
    w->listed = w->units = 0;
    for (size_t i = first; i < first + f->once; i++)
        wgi_plan_list(w, (uint32_t)i, 0, &in_unit, unit);
    b->once = (uint32_t)w->units;
    const uint32_t most = levels(w, level);
    memset(start, 0, (most + 2) * sizeof *start);
    for (size_t i = first + f->once; i < end; i++) start[level[i] + 1]++;
    for (uint32_t k = 0; k <= most; k++) start[k + 1] += start[k];
    uint32_t *const order = w->spare;
    for (size_t i = first + f->once; i < end; i++) order[start[level[i]]++] = (uint32_t)i;
    for (size_t i = 0; i < f->each; i++)
        wgi_plan_list(w, order[i], i == 0 || level[order[i]] != level[order[i - 1]], &in_unit,
                      unit / 4 + 1);
    if (f->each == 0) w->units++; /* for results that are inputs */
    b->each = (uint32_t)w->units;
    for (size_t i = end; i < f->nodes; i++)
        wgi_plan_list(w, (uint32_t)i, i == end, &in_unit, unit);
    wgi_plan_count(w, b->once, b->each - 1, WGI_NO_NODE);
    return 1;
}

static int places(wgi_writer *w, batch *b) {
    const wg_function *const f = w->f;
    b->result = wgi_node_list(w->c, f->m);
    b->term = wgi_node_list(w->c, f->nodes);
    b->check = wg_tape_keep(&w->c->head, f->nodes + 1, NULL);
    if (w->c->status != WG_OK) return 0;
    w->apart = 1;
    w->uniforms = 0;
    b->inputs = b->results = b->sums = 0;
    b->products = wgi_plan_checks(w, b->check);
    for (size_t i = 0; i < f->nodes; i++) w->uses[i] += b->check[i];
    for (size_t i = 0; i < f->n; i++)
        if (w->uses[i] != 0)
            w->slot[i] = (uint32_t)(f->node[i].when == WGI_EACH ? b->inputs++ : w->uniforms++);
    for (size_t i = 0; i < f->nodes; i++) {
        b->term[i] = WGI_NO_NODE;
        if (wgi_node_sums_points(f, i)) b->term[i] = (uint32_t)b->sums++;
    }
    for (size_t k = 0, j = 0; k < f->outputs; k++)
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            const int summed = (f->output[k].flags & WG_SUMMED) != 0;
            b->result[j] = summed ? WGI_NO_NODE : (uint32_t)b->results++;
            /* read at the end, or at the points */
            if (summed || f->node[f->result[j]].when != WGI_EACH) w->uses[f->result[j]]++;
        }
    wgi_plan_fold(w, 76);
    wgi_plan_slots(w);
    wgi_emit_repeat_slots(w);
    /* results that are sums, or done once, are read at the end */
    for (size_t j = 0; j < f->m; j++) {
        const uint32_t node = f->result[j];
        if (w->slot[node] == WGI_NO_NODE && w->unit[node] != WGI_NO_NODE &&
            f->node[node].when != WGI_EACH)
            w->slot[node] = (uint32_t)w->uniforms++;
    }
    return 1;
}

/* ---- units of what is done once, and on sums ---- */

static const char *part_of(const batch *b, uint32_t unit) {
    return unit < b->once ? "once" : "after";
}

static void once_open(wgi_writer *w, uint32_t unit) {
    const batch *const b = w->own;
    wgi_put(w,
            "static int wgi_%s%u(double *u, const double *total, double points) {\n"
            "    (void)u, (void)total, (void)points;\n",
            part_of(b, unit), unit < b->once ? unit : unit - b->each);
    wgi_emit_failures(w, unit);
}

static void once_define(wgi_writer *w, uint32_t node) {
    const batch *const b = w->own;
    const wgi_node *const n = &w->f->node[node];
    if (n->kind != WGI_NODE_SUM) {
        wgi_write_definition(w, node);
        return;
    }
    wgi_line(w, 0, "%s%s", w->slot[node] == WGI_NO_NODE ? "const double " : "",
             WGI_LEAF(w, node));
    if (b->term[node] != WGI_NO_NODE) wgi_put(w, " = total[%u];\n", b->term[node]);
    else {
        wgi_put(w, " = points == 0 ? 0 : wgi_times(points, ");
        wgi_write_operand(w, w->f->operand[n->first], WGI_PLACE_SUM);
        wgi_put(w, ");\n");
    }
}

static const wgi_target once = {.leaf = wgi_emit_leaf,
                                .times = "wgi_times(",
                                .array = wgi_write_array,
                                .indent = "    ",
                                .number_type = "const double ",
                                .define = once_define,
                                .whole = wgi_write_whole,
                                .open = once_open,
                                .guard = wgi_emit_failed,
                                .close = wgi_emit_return};

/* ---- units of each point: lanes, lanes with care, vectors ---- */

static const wgi_target lane_wise, careful, vectors;

static wgi_spelling vector_leaf(const wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const uint32_t slot = w->slot[node];
    if (slot == WGI_NO_NODE || n->when != WGI_EACH) return wgi_emit_leaf(w, node);
    return wgi_spell(n->kind == WGI_NODE_INPUT ? "X(%u)" : "T(%u)", slot);
}

static void each_open(wgi_writer *w, uint32_t unit) {
    batch *const b = w->own;
    const int is_vector = w->target == &vectors;
    b->compares = 0;
    wgi_put(w,
            "static int wgi_%s%u(const double *u, wgi_lanes *restrict x,\n"
            "        wgi_lanes *restrict y, wgi_lanes *restrict t, int *restrict failed) {\n"
            "    %s;\n    (void)u, (void)x, (void)y, (void)t, (void)failed;\n    %s {\n",
            w->target == &careful ? "careful" : "each", unit - b->once,
            is_vector ? "MASK bad = {0}" : "int nan = 0",
            is_vector ? "EIGHT" : "for (size_t l = 0; l < 8; l++)");
}

static void each_results(wgi_writer *w, uint32_t unit) {
    const batch *const b = w->own;
    const wg_function *const f = w->f;
    const int is_vector = w->target == &vectors;
    for (size_t j = 0; j < f->m; j++) {
        if (b->result[j] == WGI_NO_NODE || wgi_plan_result_unit(w, j) != unit) continue;
        const int splat = is_vector && f->node[f->result[j]].when != WGI_EACH;
        wgi_line(w, 0, is_vector ? "Y(%u) = " : "y[%u][l] = ", b->result[j]);
        if (splat) wgi_put(w, "SPLAT(");
        wgi_write_result(w, j);
        wgi_put(w, splat ? ");\n" : ";\n");
    }
    for (size_t i = w->start[unit]; w->target->times == NULL && i < w->start[unit + 1]; i++) {
        const uint32_t node = w->list[i];
        if (b->products && b->check[node])
            wgi_line(w, 0, "%s(%s != %s);\n",
                     is_vector ? "bad |= (MASK)" : "nan |= ", WGI_LEAF(w, node),
                     WGI_LEAF(w, node));
    }
    wgi_put(w, "    }\n");
}

/* Lane by lane in any case. */
static void each_guard(wgi_writer *w, size_t guard) {
    const wgi_target *const target = w->target;
    batch *const b = w->own;
    if (!b->compares) wgi_put(w, "    for (size_t l = 0; l < 8; l++) {\n");
    b->compares = 1;
    w->target = &lane_wise;
    wgi_put(w, "        if (");
    wgi_write_guard(w, guard);
    wgi_put(w, ") failed[l] = failed[l] != 0 && failed[l] < %zu ? failed[l] : %zu;\n",
            guard + 1, guard + 1);
    w->target = target;
}

/* Gives whether a NaN shows, if not done with care. */
static void each_close(wgi_writer *w, uint32_t unit) {
    const batch *const b = w->own;
    (void)unit;
    if (b->compares) wgi_put(w, "    }\n");
    wgi_put(w, "    return %s;\n}\n\n", w->target == &vectors ? "ANY(bad)" : "nan");
}

#define EACH(leaf_, times_, type)                                                              \
    {                                                                                          \
        .leaf = leaf_, .times = times_, .array = wgi_write_array, .indent = "        ",        \
        .number_type = type, .define = wgi_write_definition, .whole = wgi_write_whole,         \
        .open = each_open, .results = each_results, .guard = each_guard, .close = each_close   \
    }
static const wgi_target lane_wise = EACH(wgi_emit_leaf, NULL, "const double ");
static const wgi_target careful = EACH(wgi_emit_leaf, "wgi_times(", "const double ");
static const wgi_target vectors = EACH(vector_leaf, NULL, "const VECTOR ");

/* A unit of calls goes lane by lane. */
static const wgi_target *target_of(const wgi_writer *w, uint32_t unit) {
    const size_t at = w->start[unit];
    return at < w->start[unit + 1] && !wgi_is_arithmetic(&w->f->node[w->list[at]]) ? &lane_wise
                                                                                   : &vectors;
}

/* ---- eight points, and all ---- */

/* Which slots are summed, and where. */
static void terms(wgi_writer *w, const batch *b) {
    size_t count = 0;
    for (size_t i = 0; i < w->f->nodes; i++) {
        const uint32_t of = b->term[i] == WGI_NO_NODE ? 0 : w->f->operand[w->f->node[i].first];
        if (b->term[i] == WGI_NO_NODE || w->f->node[of].kind == WGI_NODE_INPUT) continue;
        if (count == 0) wgi_put(w, "static const unsigned wgi_terms[][2] = {\n    ");
        wgi_put(w, count == 0 ? "" : count % 8 == 0 ? ",\n    " : ", ");
        wgi_put(w, "{%u, %u}", w->slot[of], b->term[i]);
        count++;
    }
    if (count != 0) wgi_put(w, "};\n\n");
}

/* How many entries of one input, from i on, are read or not read as this one is. */
static size_t read_together(const wgi_writer *w, size_t i) {
    size_t run = 1;
    while (i + run < w->f->n && w->argument[i + run] == w->argument[i] &&
           (w->slot[i + run] == WGI_NO_NODE) == (w->slot[i] == WGI_NO_NODE))
        run++;
    return run;
}

static void load_inputs(wgi_writer *w) {
    for (size_t i = 0, run; i < w->f->n; i += run) {
        const uint32_t k = w->argument[i];
        run = read_together(w, i);
        if (w->f->input[k].flags & WG_SHARED || w->slot[i] == WGI_NO_NODE) continue;
        wgi_put(w, "    wgi_load(&x[%u], %u, %zu, p, valid, arg[%u], arg_step + %u);\n",
                w->slot[i], w->entry[i], run, k, 2 * k);
    }
}

static void add_terms(wgi_writer *w, const batch *b) {
    const wg_function *const f = w->f;
    size_t in_slots = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        if (b->term[i] == WGI_NO_NODE) continue;
        const uint32_t of = f->operand[f->node[i].first];
        if (f->node[of].kind != WGI_NODE_INPUT) in_slots++;
        else wgi_put(w, "    wgi_add(valid, x[%u], total[%u]);\n", w->slot[of], b->term[i]);
    }
    if (in_slots != 0)
        wgi_put(w,
                "    for (size_t k = 0; k < %zu; k++)\n"
                "        wgi_add(valid, t[wgi_terms[k][0]], total[wgi_terms[k][1]]);\n",
                in_slots);
}

static void block(wgi_writer *w, const batch *b) {
    const wg_function *const f = w->f;
    terms(w, b);
    wgi_put(
        w,
        "static void wgi_block(size_t p, size_t valid, const double *u, const double *const *arg,\n"
        "        const ptrdiff_t *arg_step, double *const *res, const ptrdiff_t *res_step,\n"
        "        wgi_lanes *total, int *failed) {\n"
        "    wgi_lanes x[%zu], y[%zu], t[%zu];\n    int nan = 0;\n    (void)nan;\n"
        "    (void)p, (void)valid, (void)arg, (void)arg_step, (void)res, (void)res_step, "
        "(void)total;\n",
        b->inputs + (b->inputs == 0), b->results + (b->results == 0),
        w->slots + (w->slots == 0));
    load_inputs(w);
    for (int care = 0; care <= b->products; care++) {
        if (care) wgi_put(w, "    if (nan) {\n");
        wgi_put(w, "    memset(failed, 0, 8 * sizeof *failed);\n");
        for (uint32_t u = b->once; u < b->each; u++)
            wgi_put(w, "    nan |= wgi_%s%u(u, x, y, t, failed);\n", care ? "careful" : "each",
                    u - b->once);
        if (care) wgi_put(w, "    }\n");
    }
    for (size_t k = 0, at = 0; k < f->outputs; k++) {
        const size_t size = wgi_argument_size(&f->output[k]);
        if (f->output[k].flags & WG_SUMMED || size == 0) continue;
        wgi_put(w, "    wgi_store(&y[%zu], %zu, p, valid, res[%zu], res_step + %zu);\n", at,
                size, k, 2 * k);
        at += size;
    }
    add_terms(w, b);
    wgi_put(w, "}\n\n");
}

/* The first failure of the parts that are done once: they are of the first point, if any. */
static const char note[] =
    "    if (now != 0 && points != 0 && (first == 0 || at != 0 || now < first))\n"
    "        first = now, at = 0;\n";

static void once_calls(wgi_writer *w, const batch *b, uint32_t from, uint32_t to,
                       const char *sums) {
    for (uint32_t u = from; u < to; u++)
        wgi_put(w, "    now = wgi_%s%u(u, %s, (double)points);\n%s", part_of(b, u), u - from,
                sums, note);
}

/* Comparisons of shared inputs and numbers only, which no unit has. */
static void input_guards(wgi_writer *w) {
    for (size_t k = 0; k < w->f->guards; k++) {
        if (w->guard_unit[k] != WGI_NO_NODE) continue;
        wgi_put(w, "    now = ");
        wgi_write_guard(w, k);
        wgi_put(w, " ? %zu : 0;\n%s", k + 1, note);
    }
}

static void shared_inputs(wgi_writer *w) {
    for (size_t i = 0, run; i < w->f->n; i += run) {
        const uint32_t k = w->argument[i];
        run = read_together(w, i);
        if (!(w->f->input[k].flags & WG_SHARED) || w->slot[i] == WGI_NO_NODE) continue;
        wgi_put(w,
                "    for (size_t e = 0; e < %zu; e++)\n"
                "        u[%u + e] = arg[%u] != NULL ? "
                "arg[%u][(ptrdiff_t)(%u + e) * arg_step[%u]] : 0;\n",
                run, w->slot[i], k, k, w->entry[i], 2 * k + 1);
    }
}

static void summed_outputs(wgi_writer *w) {
    const wg_function *const f = w->f;
    for (size_t k = 0, j = 0; k < f->outputs; k++) {
        const size_t size = wgi_argument_size(&f->output[k]);
        if (!(f->output[k].flags & WG_SUMMED) || size == 0) {
            j += size;
            continue;
        }
        wgi_put(w, "    if (res[%zu] != NULL) {\n", k);
        for (size_t e = 0; e < size; e++, j++) {
            wgi_put(w, "        res[%zu][%zu * res_step[%zu]] = ", k, e, 2 * k + 1);
            wgi_write_operand(w, f->result[j], WGI_PLACE_SUM);
            wgi_put(w, ";\n");
        }
        wgi_put(w, "    }\n");
    }
}

static void all(wgi_writer *w, const batch *b) {
    w->target = &once;
    wgi_put(
        w,
        "%sint wgi_batch(size_t points, const double *const *arg, const ptrdiff_t *arg_step,\n"
        "    double *const *res, const ptrdiff_t *res_step, size_t *where) {\n"
        "    double u[%zu];\n    wgi_lanes total[%zu];\n"
        "    double sum[sizeof total / sizeof *total];\n"
        "    int first = 0, now, failed[8];\n"
        "    size_t at = 0;\n"
        "    (void)now, (void)res, (void)res_step, (void)arg, (void)arg_step, (void)u, (void)sum;\n"
        "    memset(total, 0, sizeof total);\n",
        w->scope, w->uniforms + (w->uniforms == 0), b->sums + (b->sums == 0));
    shared_inputs(w);
    input_guards(w);
    once_calls(w, b, 0, b->once, "NULL");
    wgi_put_named(
        w,
        "    for (size_t p = 0; p < points; p += 8) {\n"
        "        const size_t valid = points - p < 8 ? points - p : 8;\n"
        "        wgi_block(p, valid, u, arg, arg_step, res, res_step, total, failed);\n"
        "        for (size_t l = 0; l < valid; l++)\n"
        "            if (failed[l] != 0 && (first == 0 || (at == p + l && failed[l] < first)))\n"
        "                first = failed[l], at = p + l;\n"
        "    }\n"
        "    for (size_t k = 0; k < sizeof total / sizeof *total; k++)\n"
        "        sum[k] = ((total[k][0] + total[k][1]) + (total[k][2] + total[k][3])) +\n"
        "                 ((total[k][4] + total[k][5]) + (total[k][6] + total[k][7]));\n");
    once_calls(w, b, b->each, (uint32_t)w->units, "sum");
    summed_outputs(w);
    wgi_put(
        w,
        "    if (first != 0 && where != NULL) *where = at;\n    return first;\n}\n\n" UNDEFINED);
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

static void units(wgi_writer *w, uint32_t from, uint32_t to, const wgi_target *target) {
    for (uint32_t u = from; u < to; u++) {
        w->target = target != NULL ? target : target_of(w, u);
        wgi_write_unit(w, u);
    }
}

void wgi_emit_batch(wgi_writer *w, size_t unit) {
    batch b;
    int each_output = 0;
    w->own = &b;
    w->target = &once;
    if (!plan(w, &b, unit) || !places(w, &b)) return;
    for (size_t k = 0; k < w->f->outputs; k++)
        each_output |=
            !(w->f->output[k].flags & WG_SUMMED) && wgi_argument_size(&w->f->output[k]) != 0;
    wgi_put_named(w, lanes);
    if (b.inputs != 0) wgi_put_named(w, load);
    if (each_output) wgi_put_named(w, store);
    if (b.sums != 0) wgi_put_named(w, add);
    units(w, 0, b.once, &once);
    units(w, b.once, b.each, NULL);
    if (b.products) units(w, b.once, b.each, &careful);
    units(w, b.each, (uint32_t)w->units, &once);
    block(w, &b);
    all(w, &b);
}
