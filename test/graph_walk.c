/* SPDX-License-Identifier: MIT */
#include "graph_walk.h"
#include <stdlib.h>
#include "../tape/function/graph.h"

size_t graph_entries_in(const wg_function *f) { return f->n; }
size_t graph_entries_out(const wg_function *f) { return f->m; }

int graph_walk(const wg_function *f, const double *x, double *y) {
    double *const value = malloc((f->nodes + 1) * sizeof *value);
    size_t most = 4;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].count > most) most = f->node[i].count;
    double *const operand = malloc(most * sizeof *operand);
    if (value == NULL || operand == NULL) {
        free(value);
        free(operand);
        return -1;
    }
    for (size_t i = 0; i < f->nodes; i++) {
        const wgi_node *const n = &f->node[i];
        for (uint32_t k = 0; k < n->count; k++) operand[k] = value[f->operand[n->first + k]];
        if (n->kind == WGI_NODE_INPUT) value[i] = x[i];
        else if (n->kind == WGI_NODE_SUM) value[i] = operand[0];
        else value[i] = wgi_node_value(n, operand);
    }
    for (size_t j = 0; j < f->m; j++) y[j] = value[f->result[j]];
    free(value);
    free(operand);
    return 0;
}
