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
#include "emit.h"

#include "tape/function/graph/dense_node.h"

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

static form form_of(const wgi_writer *w, const wgi_dense_op *op) {
    if (wgi_dense_is_empty(op)) return NOTHING;
    return w->blas && !wgi_dense_is_few(op) && definition_of(op->kind, CALLS) != DEFINITIONS
               ? CALLS
               : LOOPS;
}

/* Notes the definitions of what is there in a form, also in bodies; gives whether there is
 * any. */
static int need(const wgi_writer *w, const wg_function *f, form how, int bodies,
                unsigned char *needed) {
    int any = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        if (f->node[i].kind != WGI_NODE_DENSE) continue;
        const wgi_dense_op op = wgi_dense_of(&f->node[i]);
        if (form_of(w, &op) == how) any = needed[definition_of(op.kind, how)] = 1;
    }
    for (size_t k = 0; bodies && k < f->repeats; k++)
        any |= need(w, f->repeat[k].body, how, 1, needed);
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

void wgi_emit_dense_headers(wgi_writer *w) {
    unsigned char needed[DEFINITIONS] = {0};
    (void)need(w, w->f, CALLS, 1, needed);
    need_called(needed);
    if (any_calls(needed, "cblas_")) wgi_put(w, "#include <cblas.h>\n");
    if (any_calls(needed, "LAPACKE_")) wgi_put(w, "#include <lapacke.h>\n");
}

void wgi_emit_dense_support(wgi_writer *w) {
    unsigned char needed[DEFINITIONS] = {0};
    (void)need(w, w->f, LOOPS, 0, needed);
    if (need(w, w->f, CALLS, 0, needed) || wgi_emit_wholes(w->f, 0)) wgi_put_named(w, aligned);
    need_called(needed);
    for (size_t i = 0; i < DEFINITIONS; i++)
        if (needed[i]) wgi_put_named(w, definitions[i].text);
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

static size_t work_of(const wgi_dense_op *op) {
    const wgi_dense_row *const row = &wgi_dense_rows[op->kind];
    const size_t square = op->size[0] * op->size[0], block = WGI_CHOLESKY_BLOCK;
    return row->matrices * ((square + 3) / 4 * 4) +
           (row->beside == WGI_DENSE_BLOCK ? block * block : 0);
}

/* Loops give their results where these are used, if that is an array of doubles. */
static void declare(wgi_writer *w, uint32_t node, const wgi_dense_op *op, size_t given,
                    int in_place, form how) {
    const size_t by = definition_of(op->kind, how);
    wgi_line(w, 1, how == CALLS ? "wgi_aligned double given[%zu]" : "double given[%zu]", given);
    if (takes(by, "*work")) wgi_put(w, ", work[%zu]", work_of(op));
    if (!in_place) wgi_put(w, ", got[%zu];\n", wgi_dense_results(op));
    else wgi_put(w, ", *const got = %s + %u;\n", wgi_emit_results(w, node), w->slot[node]);
    if (takes(by, "*pivot")) wgi_line(w, 1, "lapack_int pivot[%zu];\n", op->size[0]);
}

/* second: where the operands after those that are not read begin. */
static void call(wgi_writer *w, const wgi_dense_op *op, size_t second, form how) {
    const wgi_dense_row *const row = &wgi_dense_rows[op->kind];
    const size_t by = definition_of(op->kind, how);
    wgi_line(w, 1, "%s", "");
    wgi_put_named(w, definitions[by].name);
    for (unsigned k = 0; k < row->sizes; k++) wgi_put(w, "%zu, ", op->size[k]);
    if (takes(by, "block")) wgi_put(w, "%d, ", (int)WGI_CHOLESKY_BLOCK);
    for (unsigned flag = WGI_DENSE_TURNED; flag != 0; flag /= 2)
        if (row->flags & flag) wgi_put(w, "%d, ", (op->flags & flag) != 0);
    wgi_put(w, "given, ");
    if (takes(by, "*b")) wgi_put(w, "given + %zu, ", second);
    wgi_put(w, "got%s);\n",
            takes(by, "*work")    ? ", work"
            : takes(by, "*pivot") ? ", pivot"
                                  : "");
}

void wgi_emit_dense(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const wgi_dense_op op = wgi_dense_of(n);
    const uint32_t *const operand = w->f->operand + n->first;
    const int lanes = wgi_emit_is_laned(w, node);
    const form how = form_of(w, &op);
    const reading r = reading_of(&op);
    const size_t results = wgi_dense_results(&op);
    if (how == NOTHING) {
        if (results != 0)
            wgi_line(w, 0, "for (size_t k = 0; k < %zu; k++) %s[%u + k]%s = %d.0;\n", results,
                     wgi_emit_results(w, node), w->slot[node], lanes ? "[l]" : "",
                     (int)wgi_dense_of_nothing(&op));
        return;
    }
    const int in_place = !lanes && how == LOOPS;
    wgi_line(w, 0, "{\n");
    declare(w, node, &op, r.first + (r.end - r.second), in_place, how);
    wgi_emit_gather(w, "given", 0, operand, r.first);
    wgi_emit_gather(w, "given", r.first, operand + r.second, r.end - r.second);
    call(w, &op, r.first, how);
    if (!in_place) wgi_emit_spread(w, node, results);
    wgi_line(w, 0, "}\n");
}
