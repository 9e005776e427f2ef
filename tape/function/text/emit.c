/* SPDX-License-Identifier: MIT */
/* Functions as C text: one point, and CasADi's calling convention. Many points: emit_batch.c.
 *
 *     static int NAME_part0(arg, res, t)    units, where there are more than one
 *     int NAME(arg, res)                    all of them
 *
 * Nodes are constants t0, t1, ... in the order of the function; t[3] is one that a later unit
 * uses, too. */
#include "tape/engine/drive.h"
#include "emit.h"

#include "emit_dense.h"
#include "emit_repeat.h"

#include <stdio.h>
#include <string.h>

enum { UNIT = 2000, LINE = 76 };

static wg_status no_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *data) {
    (void)t, (void)n, (void)x, (void)m, (void)y, (void)data;
    return WG_OK;
}

/* ---- statements ---- */

size_t wgi_emit_unit_end(const wgi_source *s, size_t first, uint32_t unit) {
    while (first < s->listed && s->unit[s->list[first]] == unit) first++;
    return first;
}

static uint32_t number_of(const wgi_source *s, uint32_t node) {
    return node - (uint32_t)(s->f->n + s->f->numbers);
}

void wgi_emit_nodes(wgi_source *s, size_t first, size_t last, const char *indent) {
    char v[24];
    for (size_t i = first; i < last; i++) {
        const uint32_t node = s->list[i];
        switch (s->f->node[node].kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        wgi_emit_##stem(s, node, indent);                                                      \
        break;
#include "tape/function/graph/kinds.def"
        default:
            break;
        }
        if (wgi_node_has_parts(&s->f->node[node]) || s->f->node[node].kind == WGI_NODE_PART ||
            s->folded[node] || wgi_source_at_result(s, node))
            continue;
        const int needs_v = wgi_source_needs_v(s, node);
        const uint32_t twin =
            needs_v && s->unit[s->twin[node]] == s->unit[node] ? s->twin[node] : node;
        wgi_text_put(&s->o, indent);
        if (needs_v && twin == node) {
            wgi_text_format(&s->o, "const double v%u = ", number_of(s, node));
            wgi_source_row(s, s->f->node[node].op->text[0], node, NULL);
            wgi_text_put(&s->o, ";\n");
            wgi_text_put(&s->o, indent);
        }
        if (needs_v) (void)snprintf(v, sizeof v, "v%u", number_of(s, twin));
        if (s->slot[node] == WGI_NO_NODE) wgi_text_put(&s->o, s->number);
        s->leaf(s, node);
        wgi_text_put(&s->o, " = ");
        wgi_source_expression(s, node, needs_v ? v : NULL);
        wgi_text_put(&s->o, ";\n");
    }
}

void wgi_emit_guard(wgi_source *s, size_t guard) {
    static const char *const sign[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    const wgi_graph_guard *const g = &s->f->guard[guard];
    if (g->outcome) wgi_text_put(&s->o, "!(");
    wgi_source_operand(s, g->a, WGI_PLACE_SUM);
    wgi_text_put(&s->o, sign[g->comparison]);
    wgi_source_operand(s, g->b, WGI_PLACE_SUM);
    if (g->outcome) wgi_text_put(&s->o, ")");
}

uint32_t wgi_emit_guard_unit(const wgi_source *s, size_t guard, uint32_t last) {
    const uint32_t a = s->unit[s->f->guard[guard].a], b = s->unit[s->f->guard[guard].b];
    if (a == WGI_NO_NODE && b == WGI_NO_NODE) return last;
    if (a == WGI_NO_NODE || b == WGI_NO_NODE) return a == WGI_NO_NODE ? b : a;
    return a > b ? a : b;
}

/* ---- one point ---- */

static void leaf(wgi_source *s, uint32_t node) {
    if (s->f->node[node].kind == WGI_NODE_INPUT)
        wgi_text_format(&s->o, "%s[%u]", s->in[s->argument[node]], s->entry[node]);
    else if (s->slot[node] != WGI_NO_NODE) wgi_text_format(&s->o, "t[%u]", s->slot[node]);
    else wgi_text_format(&s->o, "t%u", number_of(s, node));
}

static void plan(wgi_source *s, size_t unit) {
    const wg_function *const f = s->f;
    const size_t first = f->n + f->numbers, all = f->nodes - first;
    s->units = all < unit ? 1 : all / unit;
    s->listed = all;
    for (size_t i = 0; i < first; i++) s->unit[i] = WGI_NO_NODE;
    for (size_t i = 0; i < all; i++) {
        s->list[i] = (uint32_t)(first + i);
        const size_t u = i / unit;
        s->unit[first + i] = (uint32_t)(u < s->units ? u : s->units - 1);
    }
    s->apart = 0;
    s->number = "const double ";
    s->times = "wgi_times(";
    s->leaf = leaf;
    wgi_source_count(s);
    wgi_source_fold(s, LINE);
    wgi_source_slots(s);
    wgi_emit_repeat_slots(s);
}

/* Is result j written in this unit? */
static int result_here(const wgi_source *s, size_t j, uint32_t unit) {
    const uint32_t u = s->unit[s->f->result[j]];
    return u == WGI_NO_NODE ? unit == s->units - 1 : u == unit;
}

static int is_left_out(const wgi_source *s, size_t j, int sparse) {
    const wgi_node *const n = &s->f->node[s->f->result[j]];
    return sparse && n->kind == WGI_NODE_NUMBER && n->value == 0;
}

static void use(const wgi_source *s, uint32_t node, unsigned char *used) {
    if (s->f->node[node].kind == WGI_NODE_INPUT) used[s->argument[node]] = 1;
}

/* Does the text of a node have its operand k? */
static int reads(const wgi_source *s, uint32_t node, uint32_t k) {
    const wgi_node *const n = &s->f->node[node];
    const char *const text = wgi_source_text(n);
    if (n->kind == WGI_NODE_DENSE) return wgi_emit_dense_reads(n, k);
    return text == NULL || wgi_source_letters(text, (char)('a' + k)) != 0 ||
           wgi_source_needs_v(s, node);
}

static void use_operands(const wgi_source *s, uint32_t node, unsigned char *used) {
    const wgi_node *const n = &s->f->node[node];
    for (uint32_t k = 0; k < n->count; k++) {
        const uint32_t o = s->f->operand[n->first + k];
        if (s->f->node[o].kind == WGI_NODE_INPUT && reads(s, node, k)) use(s, o, used);
    }
}

/* Which inputs the unit reads. */
static void inputs_of_unit(const wgi_source *s, size_t first, size_t last, uint32_t unit,
                           unsigned char *used) {
    const wg_function *const f = s->f;
    memset(used, 0, f->inputs + 1);
    for (size_t i = first; i < last; i++) use_operands(s, s->list[i], used);
    for (size_t j = 0; j < f->m; j++)
        if (result_here(s, j, unit)) use(s, f->result[j], used);
    for (size_t k = 0; k < f->guards; k++)
        if (wgi_emit_guard_unit(s, k, (uint32_t)s->units - 1) == unit)
            use(s, f->guard[k].a, used), use(s, f->guard[k].b, used);
}

static void results(wgi_source *s, uint32_t unit, int sparse) {
    const wg_function *const f = s->f;
    for (size_t k = 0, j = 0; k < f->outputs; k++) {
        size_t at = 0, written = 0;
        for (size_t e = 0; e < wgi_argument_size(&f->output[k]); e++, j++) {
            if (is_left_out(s, j, sparse)) continue;
            if (result_here(s, j, unit)) {
                if (written++ == 0) {
                    wgi_text_format(&s->o, "    if (res[%zu] != NULL) {\n", k);
                    wgi_text_format(&s->o, "        double *const %s = res[%zu];\n", s->out[k],
                                    k);
                }
                wgi_text_format(&s->o, "        %s[%zu] = ", s->out[k], at);
                const uint32_t node = f->result[j];
                if (s->unit[node] != WGI_NO_NODE && wgi_source_at_result(s, node))
                    wgi_source_expression(s, node, NULL);
                else wgi_source_operand(s, node, WGI_PLACE_SUM);
                wgi_text_put(&s->o, ";\n");
            }
            at++;
        }
        if (written != 0) wgi_text_put(&s->o, "    }\n");
    }
}

/* inner: do repeats of the unit compare? */
static void guards(wgi_source *s, uint32_t unit, int inner) {
    for (size_t k = 0; k < s->f->guards; k++) {
        if (wgi_emit_guard_unit(s, k, (uint32_t)s->units - 1) != unit) continue;
        wgi_text_put(&s->o, "    if (");
        wgi_emit_guard(s, k);
        wgi_text_format(&s->o, ") return %zu;\n", k + 1);
    }
    wgi_text_put(&s->o, inner ? "    return inner;\n}\n\n" : "    return 0;\n}\n\n");
}

static void body(wgi_source *s, size_t first, size_t last, uint32_t unit, int sparse,
                 unsigned char *used) {
    const wg_function *const f = s->f;
    int any = 0, written = 0;
    inputs_of_unit(s, first, last, unit, used);
    for (size_t k = 0; k < f->inputs; k++) {
        if (!used[k]) continue;
        any = 1;
        wgi_text_format(&s->o, "    const double *const %s = ", s->in[k]);
        wgi_text_format(&s->o, "arg[%zu] != NULL ? arg[%zu] : ", k, k);
        wgi_source_named(s, "wgi_nothing;\n");
    }
    for (size_t j = 0; j < f->m; j++)
        written |= result_here(s, j, unit) && !is_left_out(s, j, sparse);
    if (!any) wgi_text_put(&s->o, "    (void)arg;\n");
    if (!written) wgi_text_put(&s->o, "    (void)res;\n");
    const int inner = wgi_emit_repeat_compares(s, first, last);
    if (inner) wgi_text_put(&s->o, "    int inner = 0;\n");
    wgi_emit_nodes(s, first, last, "    ");
    results(s, unit, sparse);
    guards(s, unit, inner);
}

/* The function so named and its units. given: its slots are the caller's. */
static void point(wgi_source *s, const char *suffix, int given, int sparse) {
    unsigned char *const used = wg_tape_keep(&s->c->head, s->f->inputs + 1, NULL);
    const char *const scope = given ? "static " : s->scope;
    size_t at = 0;
    if (used == NULL) return;
    for (uint32_t u = 0; u < s->units && s->units > 1; u++) {
        const size_t end = wgi_emit_unit_end(s, at, u);
        wgi_text_format(&s->o, "static int %s%s_part%u(const double *const *arg, ", s->name,
                        suffix, u);
        wgi_text_put(&s->o, "double *const *res, double *t) {\n");
        wgi_text_put(&s->o, "    (void)t;\n");
        body(s, at, end, u, sparse, used);
        at = end;
    }
    wgi_text_format(&s->o, "%sint %s%s(const double *const *arg, double *const *res%s) {\n",
                    scope, s->name, suffix, given ? ", double *t" : "");
    if (s->units == 1) {
        if (given) wgi_text_put(&s->o, "    (void)t;\n");
        else if (s->slots != 0) wgi_text_format(&s->o, "    double t[%zu];\n", s->slots);
        body(s, 0, s->listed, 0, sparse, used);
        return;
    }
    if (!given) wgi_text_format(&s->o, "    double t[%zu];\n", s->slots + (s->slots == 0));
    wgi_text_put(&s->o, "    int first = 0, failed;\n");
    for (uint32_t u = 0; u < s->units; u++) {
        wgi_text_format(&s->o, "    failed = %s%s_part%u(arg, res, t);\n", s->name, suffix, u);
        wgi_text_put(
            &s->o, "    if (failed != 0 && (first == 0 || failed < first)) first = failed;\n");
    }
    wgi_text_put(&s->o, "    return first;\n}\n\n");
}

/* ---- CasADi's calling convention ---- */

static void numbers(wgi_source *s, size_t *on_line, size_t x) {
    wgi_text_put(&s->o, *on_line == 0 ? "" : *on_line % 16 == 0 ? ",\n    " : ", ");
    wgi_text_format(&s->o, "%zu", x);
    ++*on_line;
}

/* Rows, columns, where each column begins, and the row of each entry. first: of the results;
 * SIZE_MAX: dense. */
static void sparsity(wgi_source *s, const char *what, size_t k, const wg_argument *a,
                     size_t first) {
    size_t on_line = 0, entries = 0;
    wgi_text_format(&s->o, "static const long long %s_%s%zu[] = {", s->name, what, k);
    numbers(s, &on_line, a->rows);
    numbers(s, &on_line, a->cols);
    numbers(s, &on_line, 0);
    for (size_t c = 0; c < a->cols; c++) {
        for (size_t r = 0; r < a->rows; r++)
            entries += first == SIZE_MAX || !is_left_out(s, first + c * a->rows + r, 1);
        numbers(s, &on_line, entries);
    }
    for (size_t c = 0; c < a->cols; c++)
        for (size_t r = 0; r < a->rows; r++)
            if (first == SIZE_MAX || !is_left_out(s, first + c * a->rows + r, 1))
                numbers(s, &on_line, r);
    wgi_text_put(&s->o, "};\n");
}

static void query(wgi_source *s, const char *type, const char *name, size_t count,
                  const wg_argument *a, const char *table) {
    wgi_text_format(&s->o, "%s%s_%s(long long i) {\n    switch (i) {\n", type, s->name, name);
    for (size_t k = 0; k < count; k++) {
        wgi_text_format(&s->o, "    case %zu:\n        return ", k);
        if (table == NULL) wgi_text_quoted(&s->o, a[k].name);
        else wgi_text_format(&s->o, "%s_%s%zu", s->name, table, k);
        wgi_text_put(&s->o, ";\n");
    }
    wgi_text_put(&s->o, "    default:\n        return NULL;\n    }\n}\n\n");
}

static void casadi(wgi_source *s) {
    const wg_function *const f = s->f;
    point(s, "_nonzeros", 1, 1);
    wgi_text_format(&s->o, "int %s(const double **arg, double **res, long long *iw, ", s->name);
    wgi_text_put(&s->o, "double *w, int mem) {\n    (void)iw, (void)mem;\n");
    wgi_text_format(&s->o, "    return %s_nonzeros((const double *const *)arg, ", s->name);
    wgi_text_put(&s->o, "(double *const *)res, w);\n}\n\n");
    wgi_text_format(&s->o, "int %s_work(long long *sz_arg, long long *sz_res, ", s->name);
    wgi_text_put(&s->o, "long long *sz_iw, long long *sz_w) {\n");
    wgi_text_format(&s->o, "    if (sz_arg != NULL) *sz_arg = %zu;\n", f->inputs);
    wgi_text_format(&s->o, "    if (sz_res != NULL) *sz_res = %zu;\n", f->outputs);
    wgi_text_put(&s->o, "    if (sz_iw != NULL) *sz_iw = 0;\n");
    wgi_text_format(&s->o, "    if (sz_w != NULL) *sz_w = %zu;\n    return 0;\n}\n\n",
                    s->slots);
    wgi_text_format(&s->o, "long long %s_n_in(void) { return %zu; }\n", s->name, f->inputs);
    wgi_text_format(&s->o, "long long %s_n_out(void) { return %zu; }\n", s->name, f->outputs);
    wgi_text_format(&s->o, "void %s_incref(void) {}\nvoid %s_decref(void) {}\n\n", s->name,
                    s->name);
    query(s, "const char *", "name_in", f->inputs, f->input, NULL);
    query(s, "const char *", "name_out", f->outputs, f->output, NULL);
    for (size_t k = 0; k < f->inputs; k++) sparsity(s, "in", k, &f->input[k], SIZE_MAX);
    for (size_t k = 0, j = 0; k < f->outputs; j += wgi_argument_size(&f->output[k++]))
        sparsity(s, "out", k, &f->output[k], j);
    wgi_text_put(&s->o, "\n");
    query(s, "const long long *", "sparsity_in", f->inputs, f->input, "in");
    query(s, "const long long *", "sparsity_out", f->outputs, f->output, "out");
}

/* ---- the text ---- */

static void arguments(wgi_source *s, const char *what, size_t count, const wg_argument *a,
                      const char *const *name) {
    for (size_t k = 0; k < count; k++) {
        wgi_text_format(&s->o, " *   %s %zu: %s, %zu by %zu", what, k, name[k], a[k].rows,
                        a[k].cols);
        wgi_text_put(&s->o, a[k].flags & WG_SHARED   ? ", shared by all points\n"
                            : a[k].flags & WG_SUMMED ? ", the sum over the points\n"
                                                     : "\n");
    }
}

static void prototypes(wgi_source *s) {
    wgi_text_format(&s->o, "int %s(const double **arg, double **res, ", s->name);
    wgi_text_put(&s->o, "long long *iw, double *w, int mem);\n");
    wgi_source_named(s, "int wgi_work(long long *sz_arg, long long *sz_res, long long *sz_iw,\n"
                        "    long long *sz_w);\n"
                        "long long wgi_n_in(void);\n"
                        "long long wgi_n_out(void);\n"
                        "void wgi_incref(void);\n"
                        "void wgi_decref(void);\n"
                        "const char *wgi_name_in(long long i);\n"
                        "const char *wgi_name_out(long long i);\n"
                        "const long long *wgi_sparsity_in(long long i);\n"
                        "const long long *wgi_sparsity_out(long long i);\n");
}

static const char times[] = "/* The zero rule. */\n"
                            "static inline double wgi_times(double w, double d) {\n"
                            "    const double p = w * d;\n"
                            "    return p != p && (w == 0 || d == 0) ? 0 : p;\n"
                            "}\n\n";

/* Is the zero rule called for it? */
static int has_rule(const wg_function *f, const wgi_node *n, unsigned entries) {
    return n->kind == WGI_NODE_TIMES ||
           (n->kind == WGI_NODE_SUM && (entries & WG_EMIT_BATCH) != 0 &&
            f->node[f->operand[n->first]].when != WGI_EACH);
}

/* Entries of the largest input that one point reads; 0: none is read. */
static size_t largest_read(const wgi_source *s, unsigned char *used) {
    const wg_function *const f = s->f;
    size_t largest = 0;
    memset(used, 0, f->inputs + 1);
    for (size_t i = 0; i < f->nodes; i++) use_operands(s, (uint32_t)i, used);
    for (size_t j = 0; j < f->m; j++) use(s, f->result[j], used);
    for (size_t k = 0; k < f->guards; k++)
        use(s, f->guard[k].a, used), use(s, f->guard[k].b, used);
    for (size_t k = 0; k < f->inputs; k++)
        if (used[k] && wgi_argument_size(&f->input[k]) > largest)
            largest = wgi_argument_size(&f->input[k]);
    return largest;
}

static void head(wgi_source *s, unsigned entries, int beyond) {
    const wg_function *const f = s->f;
    wgi_text_format(&s->o, "/* %s - written by Wengert " WG_VERSION ".\n", s->name);
    arguments(s, "input", f->inputs, f->input, s->in);
    arguments(s, "output", f->outputs, f->output, s->out);
    wgi_text_put(
        &s->o,
        " * Compile it without contraction of a * b + c into one operation: gcc and clang do so\n"
        " * with -ffp-contract=off (gcc does not look at the pragma below). */\n");
    if (beyond || wgi_source_beyond_c99(s))
        wgi_text_put(&s->o,
                     "#ifndef _DEFAULT_SOURCE\n#define _DEFAULT_SOURCE /* more of <math.h> */\n"
                     "#endif\n");
    wgi_text_put(&s->o, "#include <math.h>\n#include <stddef.h>\n#include <string.h>\n");
    if (s->blas) wgi_emit_dense_headers(s);
    wgi_text_put(&s->o, "\n#if !defined(__GNUC__) || defined(__clang__)\n"
                        "#pragma STDC FP_CONTRACT OFF\n#endif\n\n");
    if (entries & WG_EMIT_POINT)
        wgi_text_format(&s->o, "int %s%s(const double *const *arg, double *const *res);\n",
                        s->name, entries & WG_EMIT_CASADI ? "_point" : "");
    if (entries & WG_EMIT_BATCH) {
        wgi_text_format(&s->o, "int %s_batch(size_t points, const double *const *arg, ",
                        s->name);
        wgi_text_put(&s->o, "const ptrdiff_t *arg_step,\n    double *const *res, "
                            "const ptrdiff_t *res_step, size_t *where);\n");
    }
    if (entries & WG_EMIT_CASADI) prototypes(s);
    wgi_text_put(&s->o, "\n");
}

/* What all entries need: definitions. */
static void support(wgi_source *s, unsigned entries) {
    const wg_function *const f = s->f;
    unsigned char *const used = wg_tape_keep(&s->c->head, f->inputs + 1, NULL);
    if (used == NULL) return;
    const size_t largest = largest_read(s, used);
    if (entries & (WG_EMIT_POINT | WG_EMIT_CASADI) && largest != 0)
        wgi_text_format(&s->o, "static const double %s_nothing[%zu] = {0};\n\n", s->name,
                        largest);
    wgi_source_definitions(s);
    wgi_emit_dense_support(s);
    for (size_t i = 0; i < f->nodes; i++)
        if (has_rule(f, &f->node[i], entries)) {
            wgi_source_named(s, times);
            break;
        }
}

/* Of repeats, before what calls them. */
static void bodies(wgi_source *s, size_t unit) {
    for (uint32_t k = 0; k < s->f->repeats && s->c->status == WG_OK; k++) {
        const wgi_repeat *const r = &s->f->repeat[k];
        const int many = wgi_repeat_carried(r) == 0;
        const size_t room = strlen(s->name) + 24;
        char *const name = wg_tape_keep(&s->c->head, room, NULL);
        wgi_source b;
        if (name == NULL) return;
        (void)snprintf(name, room, "%s_body%u", s->name, k);
        if (wgi_source_open(&b, s->c, s->call, r->body, name) != WG_OK) return;
        if (s->blas && wgi_source_use_blas(&b) != WG_OK) return;
        b.scope = "static ";
        b.o = s->o;
        wgi_source_need_all(&b, 0);
        support(&b, many ? WG_EMIT_BATCH : WG_EMIT_POINT);
        bodies(&b, unit);
        if (many) wgi_emit_batch(&b, unit);
        else {
            plan(&b, unit);
            point(&b, "", 0, 0);
        }
        s->o = b.o;
    }
}

static int is_identifier(const char *name) {
    for (const char *p = name; *p != 0; p++)
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= 'A' && *p <= 'Z') && *p != '_' &&
            !(p != name && *p >= '0' && *p <= '9'))
            return 0;
    return *name != 0 && strlen(name) <= 64;
}

static wg_status emit(wgi_core *c, const char *call, const wg_function *f,
                      const wg_emit_options *options, wg_write *write, void *ctx) {
    const char *const name = options != NULL && options->name != NULL ? options->name : "wg_f";
    const size_t unit = options != NULL && options->unit != 0 ? options->unit : UNIT;
    const int blas = options != NULL ? options->blas : 0;
    unsigned entries = options != NULL ? options->entries : 0;
    if (entries == 0) entries = WG_EMIT_POINT;
    if (!is_identifier(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is no name in C", call, name);
    if (wgi_source_is_known(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is a name that C has already", call, name);
    if (entries & ~(unsigned)(WG_EMIT_POINT | WG_EMIT_BATCH | WG_EMIT_CASADI))
        return wgi_fail(c, WG_EARG, "%s: entries %u", call, entries);
    if (blas != 0 && blas != 1) return wgi_fail(c, WG_EARG, "%s: blas %d", call, blas);
    if (blas && wgi_source_is_of_blas(name))
        return wgi_fail(c, WG_EARG, "%s: '%s' is a name that BLAS or LAPACK has", call, name);
    wgi_source s;
    int beyond = 0;
    wg_status status = wgi_source_open(&s, c, call, f, name);
    if (status != WG_OK || !wgi_emit_bodies_check(c, call, f, &beyond)) return c->status;
    if (blas && wgi_source_use_blas(&s) != WG_OK) return c->status;
    wgi_text_open(&s.o, write, ctx);
    wgi_source_need_all(&s, 0);
    head(&s, entries, beyond);
    support(&s, entries);
    bodies(&s, unit);
    plan(&s, unit);
    if (entries & WG_EMIT_POINT) point(&s, entries & WG_EMIT_CASADI ? "_point" : "", 0, 0);
    if (entries & WG_EMIT_CASADI) casadi(&s);
    if (entries & WG_EMIT_BATCH) wgi_emit_batch(&s, unit);
    status = wgi_text_close(&s.o);
    return c->status != WG_OK ? c->status : status;
}

static wg_status drive(wg_tape *t, const char *call, const wg_function *f,
                       const wg_emit_options *options, wg_write *write, void *ctx) {
    wgi_drive d;
    wg_status s = wgi_drive_open(&d, t, call, no_callback, NULL, 0, 0, 0);
    if (s == WG_OK && (f == NULL || write == NULL))
        s = wgi_fail(d.c, WG_ENULL, "%s: the function or write is NULL", call);
    if (s == WG_OK) s = emit(d.c, call, f, options, write, ctx);
    return wgi_drive_close(&d, s);
}

wg_status wg_function_emit(wg_tape *t, const wg_function *f, const wg_emit_options *options,
                           wg_write *write, void *ctx) {
    return drive(t, "wg_function_emit", f, options, write, ctx);
}

wg_status wg_function_text(wg_tape *t, const wg_function *f, const wg_emit_options *options,
                           char *buffer, size_t bytes, size_t *needed) {
    wgi_buffer_text b = {buffer, bytes, 0};
    if (needed == NULL || (buffer == NULL && bytes != 0)) return WG_ENULL;
    if (bytes != 0) *buffer = 0;
    const wg_status s = drive(t, "wg_function_text", f, options, wgi_text_to_buffer, &b);
    *needed = b.at;
    return s;
}
