/* SPDX-License-Identifier: MIT */
/* Functions as C text: one point.
 *
 *     static int NAME_part0(arg, res, t)    units, where there are more than one
 *     int NAME(arg, res)                    all of them
 *
 * Nodes are constants t0, t1, ... in the order of the function; t[3] is one that a later unit
 * uses, too. */
#include "emit.h"

#include <string.h>

enum { LINE = 76 };

typedef struct point {
    const char *suffix;
    int given, sparse;
    unsigned char *used; /* of each input: does the unit read it? */
} point;

void wgi_emit_point_plan(wgi_writer *w, size_t unit) {
    const wg_function *const f = w->f;
    const size_t first = f->n + f->numbers, all = f->nodes - first;
    const size_t units = all < unit ? 1 : all / unit; /* the last one takes what is left */
    size_t in_unit = 0;
    for (size_t i = 0; i < first; i++) w->unit[i] = WGI_NO_NODE;
    w->listed = w->units = 0;
    for (size_t i = 0; i < all; i++)
        wgi_plan_list(w, (uint32_t)(first + i), i % unit == 0 && i / unit < units, &in_unit,
                      SIZE_MAX);
    w->units = units;
    w->apart = 0;
    wgi_plan_count(w, 0, (uint32_t)units - 1, (uint32_t)units - 1);
    wgi_plan_fold(w, LINE);
    wgi_plan_slots(w);
    wgi_emit_repeat_slots(w);
}

int wgi_emit_is_left_out(const wgi_writer *w, size_t j, int sparse) {
    return sparse && wgi_node_is_zero(&w->f->node[w->f->result[j]]);
}

/* ---- which inputs are read ---- */

static void use(const wgi_writer *w, uint32_t node, unsigned char *used) {
    if (w->f->node[node].kind == WGI_NODE_INPUT) used[w->argument[node]] = 1;
}

static void use_guard(const wgi_writer *w, size_t k, unsigned char *used) {
    use(w, w->f->guard[k].a, used), use(w, w->f->guard[k].b, used);
}

/* Does the text of a node have its operand k? */
static int reads(const wgi_writer *w, uint32_t node, uint32_t k) {
    const wgi_node *const n = &w->f->node[node];
    const char *const text = wgi_text_of(n);
    if (n->kind == WGI_NODE_DENSE) return wgi_emit_dense_reads(n, k);
    return text == NULL || wgi_text_letters(text, (char)('a' + k)) != 0 ||
           wgi_text_needs_v(w, node);
}

static void use_operands(const wgi_writer *w, uint32_t node, unsigned char *used) {
    const wgi_node *const n = &w->f->node[node];
    for (uint32_t k = 0; k < n->count; k++) {
        const uint32_t o = w->f->operand[n->first + k];
        if (w->f->node[o].kind == WGI_NODE_INPUT && reads(w, node, k)) use(w, o, used);
    }
}

static void inputs_of_unit(const wgi_writer *w, uint32_t unit, unsigned char *used) {
    const wg_function *const f = w->f;
    memset(used, 0, f->inputs + 1);
    for (size_t i = w->start[unit]; i < w->start[unit + 1]; i++)
        use_operands(w, w->list[i], used);
    for (size_t j = 0; j < f->m; j++)
        if (wgi_plan_result_unit(w, j) == unit) use(w, f->result[j], used);
    for (size_t k = 0; k < f->guards; k++)
        if (w->guard_unit[k] == unit) use_guard(w, k, used);
}

void wgi_emit_point_support(wgi_writer *w) {
    const wg_function *const f = w->f;
    unsigned char *const used = wgi_node_marks(w->c, f->inputs);
    size_t largest = 0;
    if (used == NULL) return;
    for (size_t i = 0; i < f->nodes; i++) use_operands(w, (uint32_t)i, used);
    for (size_t j = 0; j < f->m; j++) use(w, f->result[j], used);
    for (size_t k = 0; k < f->guards; k++) use_guard(w, k, used);
    for (size_t k = 0; k < f->inputs; k++)
        if (used[k] && wgi_argument_size(&f->input[k]) > largest)
            largest = wgi_argument_size(&f->input[k]);
    if (largest != 0) wgi_put(w, "static const double wgi_nothing[%zu] = {0};\n\n", largest);
}

/* ---- the target ---- */

void wgi_emit_failures(wgi_writer *w, uint32_t unit) {
    if (wgi_emit_repeat_compares(w, unit)) wgi_put(w, "    int inner = 0;\n");
}

void wgi_emit_failed(wgi_writer *w, size_t guard) {
    wgi_put(w, "    if (");
    wgi_write_guard(w, guard);
    wgi_put(w, ") return %zu;\n", guard + 1);
}

void wgi_emit_return(wgi_writer *w, uint32_t unit) {
    wgi_put(w, "    return %s;\n}\n\n", wgi_emit_repeat_compares(w, unit) ? "inner" : "0");
}

static void open(wgi_writer *w, uint32_t unit) {
    const wg_function *const f = w->f;
    const point *const p = w->own;
    int any = 0, written = 0;
    if (w->units > 1)
        wgi_put(w,
                "static int %s%s_part%u(const double *const *arg, double *const *res, "
                "double *t) {\n    (void)t;\n",
                w->name, p->suffix, unit);
    inputs_of_unit(w, unit, p->used);
    for (size_t k = 0; k < f->inputs; k++) {
        if (!p->used[k]) continue;
        any = 1;
        wgi_put(w, "    const double *const %s = arg[%zu] != NULL ? arg[%zu] : wgi_nothing;\n",
                w->in[k], k, k);
    }
    for (size_t j = 0; j < f->m; j++)
        written |= wgi_plan_result_unit(w, j) == unit && !wgi_emit_is_left_out(w, j, p->sparse);
    if (!any) wgi_put(w, "    (void)arg;\n");
    if (!written) wgi_put(w, "    (void)res;\n");
    wgi_emit_failures(w, unit);
}

static void results(wgi_writer *w, uint32_t unit) {
    const wg_function *const f = w->f;
    const point *const p = w->own;
    for (size_t k = 0, j = 0; k < f->outputs; k++) {
        size_t at = 0, written = 0;
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            if (wgi_emit_is_left_out(w, j, p->sparse)) continue;
            if (wgi_plan_result_unit(w, j) == unit) {
                if (written++ == 0)
                    wgi_put(w,
                            "    if (res[%zu] != NULL) {\n"
                            "        double *const %s = res[%zu];\n",
                            k, w->out[k], k);
                wgi_put(w, "        %s[%zu] = ", w->out[k], at);
                wgi_write_result(w, j);
                wgi_put(w, ";\n");
            }
            at++;
        }
        if (written != 0) wgi_put(w, "    }\n");
    }
}

static const wgi_target target = {.leaf = wgi_emit_leaf,
                                  .times = "wgi_times(",
                                  .array = wgi_write_array,
                                  .indent = "    ",
                                  .number_type = "const double ",
                                  .define = wgi_write_definition,
                                  .whole = wgi_write_whole,
                                  .open = open,
                                  .results = results,
                                  .guard = wgi_emit_failed,
                                  .close = wgi_emit_return};

/* ---- the entry point ---- */

static void head(wgi_writer *w, const point *p) {
    wgi_put(w, "%sint %s%s(const double *const *arg, double *const *res%s) {\n",
            p->given ? "static " : w->scope, w->name, p->suffix, p->given ? ", double *t" : "");
    if (!p->given && (w->slots != 0 || w->units > 1))
        wgi_put(w, "    double t[%zu];\n", w->slots + (w->slots == 0));
}

void wgi_emit_point(wgi_writer *w, const char *suffix, int given, int sparse) {
    point p = {suffix, given, sparse, wg_tape_keep(&w->c->head, w->f->inputs + 1, NULL)};
    if (p.used == NULL) return;
    w->target = &target;
    w->own = &p;
    if (w->units == 1) {
        head(w, &p);
        if (given) wgi_put(w, "    (void)t;\n");
    }
    for (uint32_t u = 0; u < w->units; u++) wgi_write_unit(w, u);
    if (w->units == 1) return;
    head(w, &p);
    wgi_put(w, "    int first = 0, failed;\n");
    for (uint32_t u = 0; u < w->units; u++)
        wgi_put(w,
                "    failed = %s%s_part%u(arg, res, t);\n"
                "    if (failed != 0 && (first == 0 || failed < first)) first = failed;\n",
                w->name, suffix, u);
    wgi_put(w, "    return first;\n}\n\n");
}
