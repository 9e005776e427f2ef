/* SPDX-License-Identifier: MIT */
/* Operations on whole matrices in the text: by loops, or by calls of CBLAS and LAPACKE, in the
 * words of the functions that the library does them by itself, so that the bits are the same
 * (ops/matrix/dense_loops.h, dense_blas.h).
 *
 *     given[i]   operands, one after the other        got[i]     results
 *     work[i]    room for whole triangles             pivot[i]   rows, for LAPACK
 *
 * No dimension is beyond an int: wgi_graph_dense and files have bounds. Of LAPACKE only what
 * ends in _work is called, which neither allocates nor looks for NaN. Arrays are aligned as
 * those of dense_run.c: there are machines on which bits of BLAS depend on it. */
#include "emit_dense.h"

#include "tape/function/graph/dense_node.h"
#include "emit_repeat.h"

/* ---- definitions ---- */

static const struct {
    const char *name, *text;
} definitions[] = {
#define TEXT(name, text) {name, text},
#include "ops/matrix/dense_text.h"
#undef TEXT
};
enum { DEFINITIONS = sizeof definitions / sizeof *definitions };

static const char aligned[] = "#if defined(__GNUC__)\n"
                              "#define wgi_aligned __attribute__((aligned(64)))\n"
                              "#else\n"
                              "#define wgi_aligned\n"
                              "#endif\n\n";

/* ---- what an operation becomes ---- */

typedef enum { LOOPS, CALLS, NOTHING } form; /* NOTHING: numbers */

/* The definition that does it, or DEFINITIONS. */
static size_t definition_of(unsigned kind, form how) {
    static const char *const name[WGI_DENSE_KINDS][2] = {
#define DENSE(NAME, stem, ...) [WGI_DENSE_##NAME] = {"wgi_" #stem "(", "wgi_" #stem "_blas("},
#include "ops/matrix/dense.def"
#undef DENSE
    };
    size_t i = 0;
    while (i < DEFINITIONS && strcmp(definitions[i].name, name[kind][how]) != 0) i++;
    return i;
}

/* Has the function this parameter? */
static int takes(size_t definition, const char *parameter) {
    const char *const text = definitions[definition].text;
    const char *const found = strstr(text, parameter);
    return found != NULL && found < strstr(text, ") {");
}

static form form_of(const wgi_source *s, const wgi_dense_op *op) {
    if (wgi_dense_is_empty(op)) return NOTHING;
    return s->blas && !wgi_dense_is_few(op) && definition_of(op->kind, CALLS) != DEFINITIONS
               ? CALLS
               : LOOPS;
}

/* Notes the definitions of what is there in a form, also in bodies; gives whether there is any. */
static int need(const wgi_source *s, const wg_function *f, form how, int bodies,
                unsigned char *needed) {
    int any = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        if (f->node[i].kind != WGI_NODE_DENSE) continue;
        const wgi_dense_op op = wgi_dense_of(&f->node[i]);
        if (form_of(s, &op) == how) any = needed[definition_of(op.kind, how)] = 1;
    }
    for (size_t k = 0; bodies && k < f->repeats; k++)
        any |= need(s, f->repeat[k].body, how, 1, needed);
    return any;
}

/* And all that these call, which stand before them. */
static void need_called(unsigned char *needed) {
    for (size_t i = DEFINITIONS; i-- > 0;)
        for (size_t k = 0; needed[i] && k < i; k++)
            if (strstr(definitions[i].text, definitions[k].name) != NULL) needed[k] = 1;
}

static int any_calls(const unsigned char *needed, const char *with) {
    for (size_t i = 0; i < DEFINITIONS; i++)
        if (needed[i] && strstr(definitions[i].text, with) != NULL) return 1;
    return 0;
}

void wgi_emit_dense_headers(wgi_source *s) {
    unsigned char needed[DEFINITIONS] = {0};
    (void)need(s, s->f, CALLS, 1, needed);
    need_called(needed);
    if (any_calls(needed, "cblas_")) wgi_text_put(&s->o, "#include <cblas.h>\n");
    if (any_calls(needed, "LAPACKE_")) wgi_text_put(&s->o, "#include <lapacke.h>\n");
}

void wgi_emit_dense_support(wgi_source *s) {
    unsigned char needed[DEFINITIONS] = {0};
    (void)need(s, s->f, LOOPS, 0, needed);
    if (need(s, s->f, CALLS, 0, needed)) wgi_source_named(s, aligned);
    need_called(needed);
    for (size_t i = 0; i < DEFINITIONS; i++)
        if (needed[i]) wgi_source_named(s, definitions[i].text);
}

/* Operands [0, first) and [second, end) are read. */
typedef struct reading {
    size_t first, second, end;
} reading;

static reading reading_of(const wgi_dense_op *op) {
    const size_t all = wgi_dense_operands(op), matrix = op->size[0] * op->size[0];
    const size_t factors = matrix + op->size[0];
    if (wgi_dense_is_empty(op)) return (reading){0, 0, 0};
    if (op->kind == WGI_DENSE_LOGDET) return (reading){matrix, matrix, matrix};
    if (op->kind == WGI_DENSE_SOLVE) return (reading){factors, factors + matrix, all};
    return (reading){all, all, all};
}

int wgi_emit_dense_reads(const wgi_node *n, uint32_t k) {
    const wgi_dense_op op = wgi_dense_of(n);
    const reading r = reading_of(&op);
    return k < r.first || (k >= r.second && k < r.end);
}

/* ---- statements ---- */

static void line(wgi_source *s, const char *indent) {
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "    ");
}

/* Of an empty matrix the determinant is 1, its logarithm and all else that there is 0. */
static void numbers(wgi_source *s, uint32_t node, const wgi_dense_op *op, const char *indent,
                    int lanes) {
    const size_t results = wgi_dense_results(op);
    if (results == 0) return;
    wgi_text_put(&s->o, indent);
    wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) %s[%u + k]%s = %d.0;\n", results,
                    s->apart && !lanes ? "u" : "t", s->slot[node], lanes ? "[l]" : "",
                    (int)wgi_dense_of_nothing(op));
}

static size_t work_of(const wgi_dense_op *op) {
    const wgi_dense_row *const row = &wgi_dense_rows[op->kind];
    const size_t square = op->size[0] * op->size[0], block = WGI_CHOLESKY_BLOCK;
    return row->matrices * ((square + 3) / 4 * 4) +
           (row->beside == WGI_DENSE_BLOCK ? block * block : 0);
}

/* Loops give their results where these are used, if that is an array of doubles. */
static void declare(wgi_source *s, uint32_t node, const wgi_dense_op *op, const char *indent,
                    size_t given, int in_place, form how) {
    const size_t by = definition_of(op->kind, how);
    line(s, indent);
    if (how == CALLS) wgi_source_named(s, "wgi_aligned ");
    wgi_text_format(&s->o, "double given[%zu]", given);
    if (takes(by, "*work")) wgi_text_format(&s->o, ", work[%zu]", work_of(op));
    if (!in_place) wgi_text_format(&s->o, ", got[%zu];\n", wgi_dense_results(op));
    else
        wgi_text_format(&s->o, ", *const got = %s + %u;\n", s->apart ? "u" : "t",
                        s->slot[node]);
    if (!takes(by, "*pivot")) return;
    line(s, indent);
    wgi_text_format(&s->o, "lapack_int pivot[%zu];\n", op->size[0]);
}

/* second: where the operands after those that are not read begin. */
static void call(wgi_source *s, const wgi_dense_op *op, size_t second, form how) {
    const wgi_dense_row *const row = &wgi_dense_rows[op->kind];
    const size_t by = definition_of(op->kind, how);
    wgi_source_named(s, definitions[by].name);
    for (unsigned k = 0; k < row->sizes; k++) wgi_text_format(&s->o, "%zu, ", op->size[k]);
    if (takes(by, "block")) wgi_text_format(&s->o, "%d, ", (int)WGI_CHOLESKY_BLOCK);
    for (unsigned flag = WGI_DENSE_TURNED; flag != 0; flag /= 2)
        if (row->flags & flag) wgi_text_format(&s->o, "%d, ", (op->flags & flag) != 0);
    wgi_text_put(&s->o, "given, ");
    if (takes(by, "*b")) wgi_text_format(&s->o, "given + %zu, ", second);
    wgi_text_format(&s->o, "got%s);\n",
                    takes(by, "*work")    ? ", work"
                    : takes(by, "*pivot") ? ", pivot"
                                          : "");
}

void wgi_emit_dense(wgi_source *s, uint32_t node, const char *indent) {
    const wgi_node *const n = &s->f->node[node];
    const wgi_dense_op op = wgi_dense_of(n);
    const uint32_t *const operand = s->f->operand + n->first;
    const int lanes = s->apart && n->when == WGI_EACH;
    const form how = form_of(s, &op);
    const reading r = reading_of(&op);
    if (how == NOTHING) {
        numbers(s, node, &op, indent, lanes);
        return;
    }
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "{\n");
    const int in_place = !lanes && how == LOOPS;
    declare(s, node, &op, indent, r.first + (r.end - r.second), in_place, how);
    wgi_emit_gather(s, indent, "given", 0, operand, r.first);
    wgi_emit_gather(s, indent, "given", r.first, operand + r.second, r.end - r.second);
    line(s, indent);
    call(s, &op, r.first, how);
    if (!in_place) line(s, indent);
    if (lanes)
        wgi_text_format(&s->o, "for (size_t k = 0; k < %zu; k++) t[%u + k][l] = got[k];\n",
                        wgi_dense_results(&op), s->slot[node]);
    else if (!in_place)
        wgi_text_format(&s->o, "memcpy(%s + %u, got, %zu * sizeof(double));\n",
                        s->apart ? "u" : "t", s->slot[node], wgi_dense_results(&op));
    wgi_text_put(&s->o, indent);
    wgi_text_put(&s->o, "}\n");
}
