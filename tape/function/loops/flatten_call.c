/* SPDX-License-Identifier: MIT */
/* Calls, maps and scans in a recording that becomes a function, and what their results depend
 * on: what their descriptors have for that (flatten_call.h). */
#include "flatten_call.h"

#include "function_walk.h"

#include <string.h>

/* ---- calls and maps --------------------------------------------------------------------- */

static wg_status input_of_map(wgi_walk *w, size_t i, size_t p, uint32_t *to) {
    return wgi_walk_from_feed(w, &w->f->input[i], &w->map->feed[i], p, to);
}

static void output_of_map(wgi_walk *w, size_t k, size_t p, const uint32_t *from) {
    const size_t n = wgi_argument_size(&w->f->output[k]);
    memcpy(w->y + wgi_walk_first_of(w->b->operand + w->b->inputs, k) + p * n, from,
           n * sizeof *from);
}

static wg_status put_map(wgi_walk *w) {
    w->map = w->b->params;
    w->input = input_of_map;
    w->output = output_of_map;
    const wg_function *const f = w->map->k->f;
    const wg_status s = wgi_walk_open(w, 1, &f);
    return s != WG_OK ? s : wgi_walk_through(w, f, w->map->points);
}

/* ---- what the descriptors take ----------------------------------------------------------- */

typedef wg_status through_fn(wgi_walk *w);

static wg_status flatten(through_fn *f, wgi_graph *g, const wgi_block *b, const uint32_t *x,
                         uint32_t *y) {
    wgi_walk w;
    memset(&w, 0, sizeof w);
    w.g = g;
    w.b = b;
    w.x = x;
    w.y = y;
    return f(&w);
}

wg_status wgi_flatten_map(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y) {
    return flatten(put_map, g, b, x, y);
}

wg_status wgi_flatten_scan(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y) {
    return flatten(wgi_walk_scan, g, b, x, y);
}

/* ---- what depends on what --------------------------------------------------------------- */

/* Goes through a block with the sets of all slots; y: where the sets of its results go, or
 * NULL. */
static void go_through(through_fn *f, wgi_sets *k, wgi_curves *q, const wgi_block *b,
                       const wgi_set *of, wgi_set *y) {
    wgi_core *const c = k->c;
    const int chunk = c->payload_current;
    char *const top = c->head.payload_top;
    wgi_graph none;
    wgi_walk w;
    size_t operands = 0;
    memset(&none, 0, sizeof none);
    memset(&w, 0, sizeof w);
    for (uint32_t i = 0; i < b->inputs; i++) operands += wgi_walk_elements(&b->operand[i]);
    wgi_set *const x = wg_tape_keep(&c->head, (operands + 1) * sizeof *x, NULL), *to = x;
    w.y = wg_tape_keep(&c->head, ((size_t)b->outs + 1) * sizeof *y, NULL);
    if (x == NULL || w.y == NULL) return;
    for (const wgi_operand *o = b->operand; o < b->operand + b->inputs; o++)
        for (size_t j = 0; j < o->cols; j++)
            for (size_t i = 0; i < o->rows; i++)
                *to++ =
                    o->slot != 0 ? of[o->slot + (o->trans ? j + i * o->ld : i + j * o->ld)] : 0;
    none.c = c;
    none.call = k->call;
    w.g = &none;
    w.b = b;
    w.x = x;
    w.sets = k;
    w.curves = q;
    const wg_status s = f(&w);
    if (s == WG_OK && y != NULL) memcpy(y, w.y, b->outs * sizeof *y);
    if (c->payload_current == chunk && top != NULL) c->head.payload_top = top;
}

/* A scan of more steps than this is not gone through, since every result depends on everything
 * anyhow, and it would take long. That depends on shapes only, as patterns do. */
enum { LONGEST_SCAN = 1 << 22 };

static int is_longest(const wgi_scan *scan) {
    size_t nodes = 0; /* those of a step, where a repeat counts as one */
    for (size_t k = 0; k < scan->stages; k++) {
        const wg_function *const f = scan->stage[k].k->f;
        nodes += f->once + f->after + (f->each + 1) * scan->grid.points;
    }
    return nodes != 0 && scan->steps > LONGEST_SCAN / nodes;
}

int wgi_sets_of_map(wgi_sets *k, const wgi_block *b, const wgi_set *of, wgi_set *y) {
    go_through(put_map, k, NULL, b, of, y);
    return 1;
}

int wgi_sets_of_scan(wgi_sets *k, const wgi_block *b, const wgi_set *of, wgi_set *y) {
    if (is_longest(*(const wgi_scan *const *)b->params)) return 0;
    go_through(wgi_walk_scan, k, NULL, b, of, y);
    return 1;
}

void wgi_curves_of_call(wgi_curves *q, const wgi_block *b) {
    go_through(put_map, q->k, q, b, q->of, NULL);
}

uint64_t wgi_hash_of_scan(const wgi_block *b, uint64_t h) {
    const wgi_scan *const scan = *(const wgi_scan *const *)b->params;
    const wgi_grid *const g = &scan->grid;
    h = wgi_mix(h, scan->steps, (uint64_t)scan->states << 1 | (uint64_t)scan->sums_by_step);
    for (int d = 0; d < 3; d++) h = wgi_mix(h, g->cells[d], g->boundary[d]);
    for (size_t k = 0; k < scan->fields; k++) {
        const wgi_field *const f = &scan->field[k];
        h = wgi_mix(h, f->entries, (uint64_t)f->global);
        for (int d = 0; d < 3; d++) h = wgi_mix(h, f->lo[d], f->hi[d]);
    }
    for (size_t k = 0; k < scan->stages; k++) {
        const wgi_scan_stage *const stage = &scan->stage[k];
        const wg_function *const f = stage->k->f;
        h = wgi_mix(h, f->identity, k);
        for (size_t i = 0; i < f->inputs; i++) {
            const wgi_feed *const from = &stage->value.in[i];
            const int field = from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT;
            h = wgi_mix(h, (uint64_t)from->kind << 1 | (uint64_t)from->each_step,
                        field                           ? from->field
                        : from->kind == WGI_FROM_MATRIX ? from->operand
                                                        : 0);
            h = wgi_mix(h, field ? (uint64_t)from->shift : 0, i);
        }
        for (size_t j = 0; j < f->outputs; j++)
            h = wgi_mix(h, stage->value.out[j].at, (uint64_t)stage->value.out[j].is_field);
    }
    return h;
}

uint64_t wgi_hash_of_map(const wgi_block *b, uint64_t h) {
    const wgi_map *const map = b->params;
    h = wgi_mix(h, map->k->f->identity, map->points);
    for (size_t i = 0; i < map->k->f->inputs; i++) {
        const int matrix = map->feed[i].kind == WGI_FROM_MATRIX;
        h = wgi_mix(h, (uint64_t)matrix, matrix ? map->feed[i].operand : 0);
    }
    return h;
}
