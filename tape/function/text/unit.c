/* SPDX-License-Identifier: MIT */
/* The walk over a unit of the plan, and the statements that targets share. */
#include "writer.h"

#include <stdio.h>

void wgi_write_definition(wgi_writer *w, uint32_t node) {
    const char *const indent = w->target->indent;
    char v[24];
    if (wgi_plan_at_result(w, node)) return;
    const int needs_v = wgi_text_needs_v(w, node);
    if (needs_v) {
        const int has_twin = w->unit[w->twin[node]] == w->unit[node];
        const uint32_t twin = has_twin ? w->twin[node] : node;
        (void)snprintf(v, sizeof v, "v%u", wgi_number_of(w, twin));
        if (twin == node) {
            wgi_put(w, "%sconst double %s = ", indent, v);
            wgi_write_row(w, w->f->node[node].op->text[0], node, NULL);
            wgi_put(w, ";\n");
        }
    }
    wgi_put(w, "%s%s%s = ", indent, w->slot[node] == WGI_NO_NODE ? w->target->number_type : "",
            WGI_LEAF(w, node));
    wgi_write_expression(w, node, needs_v ? v : NULL);
    wgi_put(w, ";\n");
}

void wgi_write_result(wgi_writer *w, size_t j) {
    const uint32_t node = w->f->result[j], of = w->unit[node];
    if (of != WGI_NO_NODE && of == wgi_plan_result_unit(w, j) && wgi_plan_at_result(w, node))
        wgi_write_expression(w, node, NULL);
    else wgi_write_operand(w, node, WGI_PLACE_SUM);
}

void wgi_write_guard(wgi_writer *w, size_t guard) {
    static const char *const sign[] = {" < ", " <= ", " > ", " >= ", " == ", " != "};
    const wgi_graph_guard *const g = &w->f->guard[guard];
    if (g->outcome) wgi_put(w, "!(");
    wgi_write_operand(w, g->a, WGI_PLACE_SUM);
    wgi_put(w, "%s", sign[g->comparison]);
    wgi_write_operand(w, g->b, WGI_PLACE_SUM);
    if (g->outcome) wgi_put(w, ")");
}

void wgi_write_whole(wgi_writer *w, uint32_t node) {
    switch (w->f->node[node].kind) {
#define KIND_WHOLE(NAME, stem, ...)                                                            \
    case WGI_NODE_##NAME:                                                                      \
        wgi_emit_##stem(w, node);                                                              \
        break;
#include "tape/function/graph/kinds.def"
    default:
        break;
    }
}

static void write_node(wgi_writer *w, uint32_t node) {
    const wgi_node *const n = &w->f->node[node];
    if (wgi_node_has_parts(n)) w->target->whole(w, node);
    else if (n->kind != WGI_NODE_PART && !w->folded[node]) w->target->define(w, node);
    if (w->target->after != NULL) w->target->after(w, node);
}

void wgi_write_unit(wgi_writer *w, uint32_t unit) {
    const wgi_target *const t = w->target;
    if (wgi_progress_go_on(w->c, w->call) != WG_OK) return;
    w->now = unit;
    t->open(w, unit);
    for (size_t i = w->start[unit]; i < w->start[unit + 1]; i++) write_node(w, w->list[i]);
    if (t->results != NULL) t->results(w, unit);
    for (size_t k = 0; k < w->f->guards; k++)
        if (w->guard_unit[k] == unit) t->guard(w, k);
    t->close(w, unit);
}
