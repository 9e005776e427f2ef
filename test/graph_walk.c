/* SPDX-License-Identifier: MIT */
#include "graph_walk.h"
#include <stdlib.h>
#include <string.h>

#include "tape/function/graph/dense_node.h"
#include "tape/function/graph/repeat.h"
#include "dense_walk.h"

size_t graph_entries_in(const wg_function *f) { return f->n; }
size_t graph_entries_out(const wg_function *f) { return f->m; }

/* Step after step; parts in their order. 0, or -1: out of memory. */
static int repeat_walk(const wgi_repeat *r, const double *operand, double *part) {
    const wg_function *const f = r->body;
    double *const x = malloc((f->n + 1) * sizeof *x), *const y = malloc((f->m + 1) * sizeof *y);
    double *const state = malloc((f->n + 1) * sizeof *state);
    int failed = x == NULL || y == NULL || state == NULL;
    size_t carried = 0;
    for (size_t i = 0; i < f->inputs && wgi_is_carried(&f->input[i]); i++)
        carried += wgi_argument_size(&f->input[i]);
    if (!failed) {
        memcpy(state, operand, carried * sizeof *state);
        memset(part, 0, wgi_repeat_parts(r) * sizeof *part);
    }
    for (size_t s = 0; s < r->steps && !failed; s++) {
        const size_t place = r->backwards ? r->steps - 1 - s : s;
        const double *from = operand;
        double *to = x, *at = part, *y_at = y;
        for (size_t i = 0; i < f->inputs; i++) {
            const size_t n = wgi_argument_size(&f->input[i]);
            const int steps = wgi_is_stepped(&f->input[i]);
            for (size_t e = 0; e < n; e++) *to++ = from[(steps ? place * n : 0) + e];
            from += steps ? n * r->steps : n;
        }
        memcpy(x, state, carried * sizeof *x);
        failed = graph_walk(f, x, y);
        const double *found = state;
        for (size_t j = 0; j < f->outputs && !failed; j++) {
            const wg_argument *const a = &f->output[j];
            const size_t n = wgi_argument_size(a);
            for (size_t e = 0; e < n; e++, y_at++) {
                if (wgi_is_carried(a)) {
                    at[place * n + e] = *found++;
                    at[r->steps * n + e] = *y_at;
                } else if (wgi_is_stepped(a)) at[place * n + e] = *y_at;
                else at[e] += *y_at;
            }
            at += wgi_is_carried(a) ? n * (r->steps + 1) : wgi_is_stepped(a) ? n * r->steps : n;
        }
        memcpy(state, y, carried * sizeof *state);
    }
    free(x);
    free(y);
    free(state);
    return failed ? -1 : 0;
}

int graph_walk(const wg_function *f, const double *x, double *y) {
    double *const value = malloc((f->nodes + 1) * sizeof *value);
    double **const part = calloc(f->nodes + 1, sizeof *part); /* of nodes with parts */
    size_t most = 4;
    int failed = 0;
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].count > most) most = f->node[i].count;
    double *const operand = malloc(most * sizeof *operand);
    if (value == NULL || operand == NULL || part == NULL) failed = -1;
    for (size_t i = 0; i < f->nodes && !failed; i++) {
        const wgi_node *const n = &f->node[i];
        const uint32_t *const o = f->operand + n->first;
        if (n->kind == WGI_NODE_PART) {
            value[i] = part[o[0]][n->part];
            continue;
        }
        for (uint32_t k = 0; k < n->count; k++) operand[k] = value[o[k]];
        if (n->kind == WGI_NODE_INPUT) value[i] = x[i];
        else if (n->kind == WGI_NODE_SUM) value[i] = operand[0];
        else if (n->kind == WGI_NODE_REPEAT) {
            const wgi_repeat *const r = &f->repeat[n->part];
            part[i] = malloc((wgi_repeat_parts(r) + 1) * sizeof **part);
            failed = part[i] == NULL ? -1 : repeat_walk(r, operand, part[i]);
        } else if (n->kind == WGI_NODE_DENSE) {
            const wgi_dense_op op = wgi_dense_of(n);
            part[i] = malloc((wgi_dense_results(&op) + 1) * sizeof **part);
            failed = part[i] == NULL ? -1 : dense_walk(&op, operand, part[i]);
        } else value[i] = wgi_node_value(n, operand);
    }
    for (size_t j = 0; j < f->m && !failed; j++) y[j] = value[f->result[j]];
    for (size_t i = 0; part != NULL && i < f->nodes; i++) free(part[i]);
    free(part);
    free(value);
    free(operand);
    return failed;
}
