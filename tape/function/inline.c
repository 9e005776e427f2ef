/* SPDX-License-Identifier: MIT */
/* Calls, maps and scans in a recording that becomes a function: the nodes of their functions
 * become nodes of that one, at each point, in each step. */
#include "inline.h"

#include "../../ops/expand.h"
#include "map.h"
#include "scan.h"

#include <string.h>

typedef struct walk walk;
struct walk {
    wgi_graph *g;
    const wgi_block *b;
    const uint32_t *x; /* nodes of all operands */
    uint32_t *y;       /* of all results */
    const wg_function *f;
    uint32_t *node;    /* of f, at the point under way */
    uint32_t *operand; /* of one node */
    double *filled;    /* an input of one point */
    /* nodes of input i at point p; what becomes of output k there, of a summed one at point 0
     */
    wg_status (*input)(walk *w, size_t i, size_t p, uint32_t *to);
    void (*output)(walk *w, size_t k, size_t p, const uint32_t *from);
    /* of a map */
    const wgi_map *map;
    /* of a scan: fields hold a node + 1 for every number, 0 where the number 0 stands */
    const wgi_scan *scan;
    const wgi_scan_stage *stage;
    size_t step;
    double *old, *next, *passing;
};

static size_t size_of(const wg_argument *a) { return wgi_argument_size(a); }

/* ---- a function at its points ----------------------------------------------------------- */

static void put_node(walk *w, size_t i, size_t points) {
    const wgi_node *const n = &w->f->node[i];
    for (uint32_t k = 0; k < n->count; k++)
        w->operand[k] = w->node[w->f->operand[n->first + k]];
    if (n->kind != WGI_NODE_SUM) w->node[i] = wgi_graph_again(w->g, n, w->operand);
    else if (w->f->node[w->f->operand[n->first]].when != WGI_EACH)
        w->node[i] =
            WGI_GRAPH2(w->g, mul, w->operand[0], wgi_graph_number(w->g, (double)points));
}

static void put_nodes(walk *w, wgi_when when, size_t points) {
    for (size_t i = 0; i < w->f->nodes && w->g->c->status == WG_OK; i++)
        if (w->f->node[i].when == when && w->f->node[i].kind != WGI_NODE_INPUT)
            put_node(w, i, points);
}

/* Sums over the points, in their order. */
static void add_up(walk *w) {
    for (size_t i = 0; i < w->f->nodes; i++) {
        const wgi_node *const n = &w->f->node[i];
        if (n->kind != WGI_NODE_SUM) continue;
        const uint32_t of = w->f->operand[n->first];
        if (w->f->node[of].when == WGI_EACH)
            w->node[i] = WGI_GRAPH2(w->g, add, w->node[i], w->node[of]);
    }
}

static wg_status put_inputs(walk *w, wgi_when when, size_t p) {
    wg_status s = w->g->c->status;
    uint32_t *to = w->node;
    for (size_t i = 0; i < w->f->inputs && s == WG_OK; i++) {
        const wg_argument *const a = &w->f->input[i];
        if (wgi_argument_shared(a) == (when == WGI_ONCE)) {
            s = w->input(w, i, wgi_argument_shared(a) ? 0 : p, to);
            for (size_t e = 0; (a->flags & WG_PASSIVE) && e < size_of(a); e++)
                to[e] = wgi_graph_op(w->g, wgi_expand_hold, &to[e]);
        }
        to += size_of(a);
    }
    return s;
}

/* Those that can be looked at now: at each point, or once. */
static void put_guards(walk *w, int at_points) {
    for (size_t k = 0; k < w->f->guards; k++) {
        const wgi_graph_guard *const g = &w->f->guard[k];
        const int each = w->f->node[g->a].when == WGI_EACH || w->f->node[g->b].when == WGI_EACH;
        if (each == at_points)
            wgi_graph_guard_add(w->g, w->node[g->a], w->node[g->b], g->comparison, g->outcome);
    }
}

static void put_outputs(walk *w, int sums, size_t p) {
    const uint32_t *result = w->f->result;
    for (size_t k = 0; k < w->f->outputs; k++) {
        const size_t n = size_of(&w->f->output[k]);
        for (size_t e = 0; e < n && wgi_argument_summed(&w->f->output[k]) == sums; e++)
            w->operand[e] = w->node[result[e]];
        if (wgi_argument_summed(&w->f->output[k]) == sums) w->output(w, k, p, w->operand);
        result += n;
    }
}

static wg_status through(walk *w, const wg_function *f, size_t points) {
    w->f = f;
    wg_status s = put_inputs(w, WGI_ONCE, 0);
    for (size_t i = 0; i < f->nodes; i++)
        if (f->node[i].kind == WGI_NODE_SUM) w->node[i] = wgi_graph_number(w->g, 0);
    put_nodes(w, WGI_ONCE, points);
    for (size_t p = 0; p < points && s == WG_OK; p++) {
        s = put_inputs(w, WGI_EACH, p);
        put_nodes(w, WGI_EACH, points);
        put_guards(w, 1);
        add_up(w);
        if (s == WG_OK) s = w->g->c->status;
        if (s == WG_OK) put_outputs(w, 0, p);
    }
    put_nodes(w, WGI_AFTER, points);
    put_guards(w, 0);
    if (s == WG_OK) s = w->g->c->status;
    if (s == WG_OK) put_outputs(w, 1, 0);
    return s;
}

/* Room for the largest of the functions. */
static wg_status open(walk *w, size_t count, const wg_function *const *f) {
    size_t nodes = 1, operands = 1, inputs = 1;
    wg_tape *const t = &w->g->c->head;
    for (size_t k = 0; k < count; k++) {
        if (f[k]->nodes > nodes) nodes = f[k]->nodes;
        if (f[k]->n > inputs) inputs = f[k]->n;
        if (f[k]->m > operands) operands = f[k]->m;
        for (size_t i = 0; i < f[k]->nodes; i++)
            if (f[k]->node[i].count > operands) operands = f[k]->node[i].count;
    }
    w->node = wg_tape_keep(t, nodes * sizeof *w->node, NULL);
    w->operand = wg_tape_keep(t, operands * sizeof *w->operand, NULL);
    w->filled = wg_tape_keep(t, inputs * sizeof *w->filled, NULL);
    return w->g->c->status;
}

/* ---- sources ---------------------------------------------------------------------------- */

/* Where the elements of an operand, or a result, begin among all. */
static size_t first_of(const wgi_operand *o, size_t count) {
    size_t at = 0;
    for (size_t k = 0; k < count; k++) at += (size_t)o[k].rows * o[k].cols;
    return at;
}

static void from_matrix(const walk *w, size_t operand, size_t entries, size_t p, uint32_t *to) {
    const uint32_t *const from = w->x + first_of(w->b->operand, operand) + p * entries;
    memcpy(to, from, entries * sizeof *to);
}

/* Data, or what a callback fills in. */
static wg_status from_numbers(walk *w, const wg_argument *a, wg_points data, wg_fill *fill,
                              void *user, size_t p, uint32_t *to) {
    if (fill != NULL) {
        const wg_status s = fill(p, 1, w->filled, user);
        if (s != WG_OK)
            return wgi_fail(w->g->c, s, "%s: %s: the callback of input %s returned %d",
                            w->g->call, w->b->op->name, a->name, (int)s);
        data = (wg_points){w->filled, 0, 1};
    }
    for (size_t e = 0; e < size_of(a); e++)
        to[e] = wgi_graph_number(
            w->g, data.data[(ptrdiff_t)p * data.point + (ptrdiff_t)e * data.entry]);
    return WG_OK;
}

/* ---- calls and maps --------------------------------------------------------------------- */

static wg_status input_of_map(walk *w, size_t i, size_t p, uint32_t *to) {
    const wg_argument *const a = &w->f->input[i];
    const wgi_map_feed *const from = w->map->feed != NULL ? &w->map->feed[i] : NULL;
    if (from != NULL && from->kind != WGI_FROM_MATRIX)
        return from_numbers(w, a, from->data, from->kind == WGI_FROM_FILL ? from->fill : NULL,
                            from->user, p, to);
    from_matrix(w, from != NULL ? from->operand : i, size_of(a), p, to);
    return WG_OK;
}

static void output_of_map(walk *w, size_t k, size_t p, const uint32_t *from) {
    const size_t n = size_of(&w->f->output[k]);
    memcpy(w->y + first_of(w->b->operand + w->b->inputs, k) + p * n, from, n * sizeof *from);
}

static wg_status inline_map(walk *w) {
    w->map = w->b->params;
    w->input = input_of_map;
    w->output = output_of_map;
    const wg_function *const f = w->map->k->f;
    const wg_status s = open(w, 1, &f);
    return s != WG_OK ? s : through(w, f, w->map->points);
}

/* ---- scans ------------------------------------------------------------------------------ */

static double *field_of(const walk *w, uint32_t field, int next) {
    const size_t at = w->scan->field[field].at;
    if (field >= w->scan->states) return w->passing + at;
    return (next ? w->next : w->old) + at;
}

/* Entry 0 of a cell. */
static size_t cell_of(const walk *w, const wgi_field *f, size_t p) {
    const wgi_grid *const g = &w->scan->grid;
    if (f->global) return f->origin;
    return wgi_field_line(f, g, p / g->cells[0]) + p % g->cells[0];
}

static wg_status input_of_stage(walk *w, size_t i, size_t p, uint32_t *to) {
    const wg_argument *const a = &w->f->input[i];
    const wgi_feed *const from = &w->stage->feed[i];
    if (from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT) {
        const wgi_field *const f = &w->scan->field[from->field];
        const double *const at = field_of(w, from->field, from->kind == WGI_FROM_NEXT) +
                                 cell_of(w, f, p) + from->shift;
        for (size_t e = 0; e < f->entries; e++)
            to[e] = at[e * f->size] == 0 ? wgi_graph_number(w->g, 0)
                                         : (uint32_t)at[e * f->size] - 1;
        return WG_OK;
    }
    if (from->each_step) p += w->step * (wgi_argument_shared(a) ? 1 : w->scan->grid.points);
    if (from->kind != WGI_FROM_MATRIX)
        return from_numbers(w, a, from->data, from->kind == WGI_FROM_FILL ? from->fill : NULL,
                            from->user, p, to);
    from_matrix(w, from->operand, size_of(a), p, to);
    return WG_OK;
}

static void output_of_stage(walk *w, size_t k, size_t p, const uint32_t *from) {
    const wg_argument *const a = &w->f->output[k];
    const wgi_drain *const drain = &w->stage->drain[k];
    const size_t n = size_of(a), points = w->scan->grid.points;
    if (drain->is_field) {
        const wgi_field *const f = &w->scan->field[drain->at];
        double *const to = field_of(w, drain->at, 1) + cell_of(w, f, p);
        for (size_t e = 0; e < n; e++) to[e * f->size] = (double)from[e] + 1;
        return;
    }
    uint32_t *const to = w->y + first_of(w->b->operand + w->b->inputs, drain->at);
    if (!wgi_argument_summed(a)) memcpy(to + (w->step * points + p) * n, from, n * sizeof *to);
    else if (w->scan->sums_by_step) memcpy(to + w->step * n, from, n * sizeof *to);
    else
        for (size_t e = 0; e < n; e++)
            to[e] = w->step == 0 ? from[e] : WGI_GRAPH2(w->g, add, to[e], from[e]);
}

/* States from their operands, and to the results of their number. */
static void move_states(walk *w, int out) {
    const wgi_grid *const g = &w->scan->grid;
    for (uint32_t k = 0; k < w->scan->states; k++) {
        const wgi_field *const f = &w->scan->field[k];
        const size_t points = f->global ? 1 : g->points;
        const uint32_t *const from = w->x + first_of(w->b->operand, k);
        uint32_t *const to = w->y + first_of(w->b->operand + w->b->inputs, k);
        for (size_t p = 0; p < points; p++)
            for (size_t e = 0; e < f->entries; e++) {
                double *const at = &w->old[f->at + cell_of(w, f, p) + e * f->size];
                if (out) to[p * f->entries + e] = (uint32_t)*at - 1;
                else *at = (double)from[p * f->entries + e] + 1;
            }
        if (!out) wgi_field_fill(f, g, w->old + f->at);
    }
}

static wg_status step(walk *w) {
    const wgi_scan *const scan = w->scan;
    for (size_t k = 0; k < scan->stages; k++) {
        w->stage = &scan->stage[k];
        const wg_function *const f = w->stage->k->f;
        const wg_status s = through(w, f, scan->grid.points);
        if (s != WG_OK) return s;
        for (size_t j = 0; j < f->outputs; j++) {
            const wgi_drain *const to = &w->stage->drain[j];
            if (to->is_field)
                wgi_field_fill(&scan->field[to->at], &scan->grid, field_of(w, to->at, 1));
        }
    }
    return WG_OK;
}

static double *numbers(walk *w, size_t n) {
    return wg_tape_keep(&w->g->c->head, (n + 1) * sizeof(double), NULL);
}

static wg_status inline_scan(walk *w) {
    const wgi_scan *const scan = w->scan = *(const wgi_scan *const *)w->b->params;
    wg_tape *const t = &w->g->c->head;
    const wg_function **const f = wg_tape_keep(t, (scan->stages + 1) * sizeof *f, NULL);
    w->old = numbers(w, scan->state_size);
    w->next = numbers(w, scan->state_size);
    w->passing = numbers(w, scan->passing_size);
    if (w->g->c->status != WG_OK) return w->g->c->status;
    for (size_t k = 0; k < scan->stages; k++) f[k] = scan->stage[k].k->f;
    w->input = input_of_stage;
    w->output = output_of_stage;
    wg_status s = open(w, scan->stages, f);
    for (size_t e = 0; s == WG_OK && e < w->b->outs; e++) w->y[e] = wgi_graph_number(w->g, 0);
    if (s == WG_OK) move_states(w, 0);
    for (w->step = 0; w->step < scan->steps && s == WG_OK; w->step++) {
        s = step(w);
        double *const was = w->old;
        w->old = w->next;
        w->next = was;
    }
    if (s == WG_OK) move_states(w, 1);
    return s;
}

/* ---- which is it ------------------------------------------------------------------------ */

int wgi_inlines(const wg_block_op *op) {
    return op == &wgi_op_call || op == &wgi_op_map || op == &wgi_op_scan;
}

wg_status wgi_inline(wgi_graph *g, const wgi_block *b, const uint32_t *x, uint32_t *y) {
    walk w;
    memset(&w, 0, sizeof w);
    w.g = g;
    w.b = b;
    w.x = x;
    w.y = y;
    return b->op == &wgi_op_scan ? inline_scan(&w) : inline_map(&w);
}
