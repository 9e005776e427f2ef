/* SPDX-License-Identifier: MIT */
/* Operations on matrices that are neither products, nor solves, nor factorisations, in the
 * text: as calls of wg_block_value, the library's own function that does one by its name.
 * Arrays are aligned as those of emit_dense.c. */
#include "emit.h"

#include "tape/function/graph/whole_node.h"

int wgi_emit_wholes(const wg_function *f, int bodies) {
    int any = 0;
    for (size_t i = 0; i < f->nodes; i++) any |= f->node[i].kind == WGI_NODE_WHOLE;
    for (size_t k = 0; bodies && k < f->repeats; k++)
        any |= wgi_emit_wholes(f->repeat[k].body, 1);
    return any;
}

int wgi_emit_wholes_check(wgi_core *c, const char *call, const wg_function *f, int blas) {
    for (size_t i = 0; i < f->nodes; i++) {
        if (f->node[i].kind != WGI_NODE_WHOLE) continue;
        const wgi_whole *const row = wgi_whole_of(&f->node[i]).row;
        if (wgi_whole_is_own(row))
            return wgi_fail(c, WG_EMODE,
                            "%s: %s is a call of functions that have no name in the text", call,
                            row->op->name) == WG_OK;
        if (!blas)
            return wgi_fail(c, WG_EMODE,
                            "%s: %s is a call of this library in the text: set blas for it",
                            call, row->op->name) == WG_OK;
    }
    for (size_t k = 0; k < f->repeats; k++)
        if (!wgi_emit_wholes_check(c, call, f->repeat[k].body, blas)) return 0;
    return 1;
}

void wgi_emit_whole_prototype(wgi_writer *w) {
    if (wgi_emit_wholes(w->f, 1))
        wgi_put(w, "\n/* of libwengert */\n"
                   "extern void wg_block_value(const char *, size_t, size_t, size_t, "
                   "const double *, double *,\n    double *);\n");
}

void wgi_emit_whole(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    const wgi_whole_op op = wgi_whole_of(n);
    const size_t results = wgi_whole_results(&op);
    const size_t work = wgi_whole_work(&op, NULL) / sizeof(double) + 1;
    wgi_line(w, 0, "{\n");
    wgi_line(w, 1, "wgi_aligned double given[%u], got[%zu], work[%zu];\n", n->count, results,
             work);
    wgi_emit_gather(w, "given", 0, w->f->operand + n->first, n->count);
    wgi_line(w, 1, "wg_block_value(\"%s\", %zu, %zu, %zu, given, got, work);\n",
             op.row->op->name, op.size[0], op.size[1], op.size[2]);
    wgi_emit_spread(w, node, results);
    wgi_line(w, 0, "}\n");
}
