/* SPDX-License-Identifier: MIT */
/* Nodes for operations on matrices, of both kinds, where functions are interpreted: a few
 * points at a time are loaded from columns into arrays, done one after the other, and stored.
 * Operands that are the same at all points are loaded once. The stations have their names
 * from evaluate.c. */
#include "tape/function/graph/whole_node.h"
#include "tape/function/graph/dense_node.h"
#include "bytecode.h"

#define COLUMN(offset) wgi_fn_column(r, offset)

/* Points that are loaded together, and the bytes that they may take. */
enum { POINTS = 8, NEAR = 1 << 21 };

typedef struct work {
    int block; /* 1: an operation of whole.h, done by its descriptor */
    wgi_dense_op dense;
    wgi_whole_op whole;
    size_t points;            /* loaded together */
    size_t operands, results; /* of one point, rounded up so that the next one is aligned */
    double *x, *y;
    void *more; /* workspace of the operation, and how many bytes that is */
    size_t bytes;
} work;

static size_t rounded(size_t n) { return (n + 7) / 8 * 8; }

/* The bytes of a node with numbers behind its operands, which may say how many. */
static size_t bytes_of(const wgi_whole_op *op, const wg_function *f, const wgi_node *n) {
    double number[WGI_WHOLE_NUMBERS];
    const size_t count = op->row->numbers;
    for (size_t i = 0; i < count; i++) {
        const wgi_node *const x = &f->node[f->operand[n->first + n->count - count + i]];
        if (x->kind != WGI_NODE_NUMBER) return wgi_whole_work(op, NULL);
        number[i] = x->value;
    }
    return wgi_whole_work(op, number);
}

/* Prepares, or, with base NULL, only counts the bytes. */
static size_t cut(work *w, const wg_function *f, const wgi_node *n, char *base) {
    size_t results, bytes;
    w->block = n->kind == WGI_NODE_WHOLE;
    if (w->block) {
        w->whole = wgi_whole_of(n);
        results = wgi_whole_results(&w->whole), bytes = bytes_of(&w->whole, f, n);
    } else {
        w->dense = wgi_dense_of(n);
        results = wgi_dense_results(&w->dense), bytes = wgi_dense_work(&w->dense);
    }
    w->operands = rounded(n->count), w->results = rounded(results);
    const size_t near = (w->operands + w->results) * sizeof(double);
    w->points = POINTS;
    while (w->points > 1 && w->points * near > NEAR) w->points /= 2;
    const size_t x = w->points * w->operands, y = w->points * w->results;
    w->bytes = bytes;
    if (base != NULL) {
        w->x = (double *)(void *)base;
        w->y = w->x + x;
        w->more = w->y + y;
    }
    return (x + y) * sizeof(double) + (bytes + 63) / 64 * 64;
}

static size_t most_work(const wg_function *f, unsigned kind) {
    size_t most = 0;
    for (size_t i = 0; i < f->nodes; i++) {
        work w;
        if (f->node[i].kind != kind) continue;
        const size_t bytes = cut(&w, f, &f->node[i], NULL);
        if (bytes > most) most = bytes;
    }
    return most;
}

size_t wgi_fn_dense_work(const wg_function *f) { return most_work(f, WGI_NODE_DENSE); }
size_t wgi_fn_whole_work(const wg_function *f) { return most_work(f, WGI_NODE_WHOLE); }

static void load_uniforms(const wgi_fn_run *r, const uint32_t *list, const work *w,
                          size_t operands) {
    for (size_t k = 0; k < operands; k++)
        for (size_t q = 0; (list[k] & 1) != 0 && q < w->points; q++)
            w->x[q * w->operands + k] = r->uniform[list[k] >> 1];
}

static void load(const wgi_fn_run *r, const uint32_t *list, const work *w, size_t operands,
                 size_t first, size_t points) {
    for (size_t k = 0; k < operands; k++) {
        if (list[k] & 1) continue;
        const double *const column = COLUMN(list[k]) + first;
        for (size_t q = 0; q < points; q++) w->x[q * w->operands + k] = column[q];
    }
}

/* Only results that are wanted; part: which they are. */
static void store(const wgi_fn_run *r, const uint32_t *result, const uint32_t *part,
                  const work *w, size_t results, size_t first, size_t points) {
    for (size_t k = 0; k < results; k++) {
        double *const column = COLUMN(result[k]) + first;
        for (size_t q = 0; q < points; q++) column[q] = w->y[q * w->results + part[k]];
    }
}

static void do_one(const work *w, const double *x, double *y) {
    if (w->block) wgi_whole_value(&w->whole, x, y, w->more, w->bytes);
    else wgi_dense_value(&w->dense, x, y, w->more);
}

void wgi_fn_whole_run(wgi_fn_run *r, const wgi_fn_call *call) { wgi_fn_dense_run(r, call); }

void wgi_fn_dense_run(wgi_fn_run *r, const wgi_fn_call *call) {
    const uint32_t *const list = r->bytecode->list + call->list;
    const uint32_t *const result = list + call->operands, *const part = result + call->results;
    const size_t operands = call->operands;
    work w;
    (void)cut(&w, r->function, &r->function->node[call->node], r->whole);
    load_uniforms(r, list, &w, operands);
    for (size_t p = 0; p < r->rows; p += w.points) {
        const size_t points = r->rows - p < w.points ? r->rows - p : w.points;
        load(r, list, &w, operands, p, points);
        for (size_t q = 0; q < points; q++)
            do_one(&w, w.x + q * w.operands, w.y + q * w.results);
        store(r, result, part, &w, call->results, p, points);
    }
    for (size_t k = 0; k < call->results; k++) wgi_fn_fill(r, COLUMN(result[k]));
}
