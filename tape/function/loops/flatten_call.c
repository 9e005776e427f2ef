/* SPDX-License-Identifier: MIT */
/* Calls, maps and scans in a recording that becomes a function. The nodes of their functions
 * become nodes of that function, once for each point and each step; where that would be too
 * many, the points or the steps become a repeat. The same walk, with sets in the place of
 * nodes, finds what the results depend on. */
#include "flatten_call.h"

#include "ops/scalar/array.h"
#include "ops/matrix/expand.h"
#include "map.h"
#include "tape/function/graph/builder.h"
#include "scan.h"

#include <string.h>

typedef struct walk walk;
struct walk {
    wgi_graph *g;
    const wgi_block *b;
    const uint32_t *x; /* the nodes of all operands */
    uint32_t *y;       /* the nodes of all results */
    const wg_function *f;
    uint32_t *node;    /* what each node of f has become, at this point */
    uint32_t *operand; /* the operands of one node */
    double *filled;    /* an input at one point, for a callback */
    /* input: gives the nodes of input i at point p. output: takes those of output k; a summed
     * output comes at point 0. */
    wg_status (*input)(walk *w, size_t i, size_t p, uint32_t *to);
    void (*output)(walk *w, size_t k, size_t p, const uint32_t *from);
    /* of a map: */
    const wgi_map *map;
    /* of a scan; fields hold, for every number, its node plus 1, or 0 for the number 0: */
    const wgi_scan *scan;
    const wgi_scan_stage *stage;
    size_t step;
    double *old, *next, *passing;
    /* in the body of a repeat: of each input that is data of a step, its first node */
    const uint32_t *stepped;
    /* where sets are in the place of nodes; `g` then only has the tape. curves: where pairs are
     * connected that second derivatives may have; or NULL */
    wgi_sets *sets;
    wgi_curves *curves;
};

/* The most operations that are written out, unless the tape has another limit; more become a
 * repeat. */
enum { WRITTEN_OUT = 1 << 16 };
static int is_repeated(const walk *w, size_t times, size_t operations) {
    const size_t asked = w->g->c->loops_over;
    return w->sets == NULL && times > 1 &&
           operations > (asked == 0 ? WRITTEN_OUT : asked) / times;
}

static size_t size_of(const wg_argument *a) { return wgi_argument_size(a); }

/* ---- nodes, or sets --------------------------------------------------------------------- */

static uint32_t zero(const walk *w) { return w->sets != NULL ? 0 : wgi_graph_number(w->g, 0); }

static uint32_t plus(const walk *w, uint32_t a, uint32_t b) {
    if (w->sets != NULL) return wgi_sets_join(w->sets, 2, (const wgi_set[]){a, b});
    return WGI_GRAPH2(w->g, add, a, b);
}

/* The same number, taken as constant. */
static uint32_t held(const walk *w, uint32_t a) {
    return w->sets != NULL ? 0 : wgi_graph_op(w->g, wgi_expand_hold, &a);
}

/* Connects those operands x of a node in which it is not linear. */
static void connect(const walk *w, const wgi_node *n, const wgi_set *x) {
    switch (wgi_node_row(n)->order) {
    case WGI_ORDER_LINEAR:
        return;
    case WGI_ORDER_PRODUCT:
        wgi_connect_both(w->curves, x[0], x[1]);
        return;
    case WGI_ORDER_BY_OP: {
        uint16_t near[4] = {0, 0, 0, 0};
        for (unsigned k = 0, pair = 0; k < n->count; k++)
            for (unsigned l = k; l < n->count; l++, pair++)
                if ((n->op->zero_second >> pair & 1) == 0)
                    near[k] |= (uint16_t)(1u << l), near[l] |= (uint16_t)(1u << k);
        wgi_connect_near(w->curves, n->count, x, near);
        return;
    }
    default: {
        const wgi_set all = wgi_sets_join(w->sets, n->count, x);
        wgi_connect(w->curves, all, all);
    }
    }
}

/* The set of a node, from the sets x of its operands; where a derivative is always 0, that set
 * becomes empty. */
static wgi_set set_of(const walk *w, const wgi_node *n, wgi_set *x) {
    for (uint32_t k = 0; n->kind == WGI_NODE_OP && k < n->count; k++)
        if (n->op->zero_first >> k & 1) x[k] = 0;
    if (w->curves != NULL) connect(w, n, x);
    return wgi_sets_join(w->sets, n->count, x);
}

/* ---- a function at its points ----------------------------------------------------------- */

/* Is node i a sum over the points? */
static int is_sum(const wg_function *f, size_t i) {
    return f->node[i].kind == WGI_NODE_SUM &&
           f->node[f->operand[f->node[i].first]].when == WGI_EACH;
}

static void put_node(walk *w, size_t i, size_t points) {
    const wgi_node *const n = &w->f->node[i];
    for (uint32_t k = 0; k < n->count; k++)
        w->operand[k] = w->node[w->f->operand[n->first + k]];
    if (is_sum(w->f, i)) return;
    if (w->sets != NULL) w->node[i] = set_of(w, n, w->operand);
    else if (n->kind != WGI_NODE_SUM)
        w->node[i] = wgi_graph_again(w->g, n, wgi_repeat_of(w->f, n), w->operand);
    else
        w->node[i] =
            WGI_GRAPH2(w->g, mul, w->operand[0], wgi_graph_number(w->g, (double)points));
}

static void put_nodes(walk *w, wgi_when when, size_t points) {
    for (size_t i = 0; i < w->f->nodes && w->g->c->status == WG_OK; i++)
        if (w->f->node[i].when == when && w->f->node[i].kind != WGI_NODE_INPUT)
            put_node(w, i, points);
}

/* Adds the terms of a point to the sums: point after point, in their order. */
static void add_up(walk *w) {
    for (size_t i = 0; i < w->f->nodes; i++)
        if (is_sum(w->f, i))
            w->node[i] = plus(w, w->node[i], w->node[w->f->operand[w->f->node[i].first]]);
}

/* Passive inputs are taken as constants. */
static void hold_passive(walk *w, wgi_when when) {
    uint32_t *to = w->node;
    for (size_t i = 0; i < w->f->inputs; to += size_of(&w->f->input[i++])) {
        const wg_argument *const a = &w->f->input[i];
        if (wgi_argument_active(a) || wgi_argument_shared(a) != (when == WGI_ONCE)) continue;
        for (size_t e = 0; e < size_of(a); e++) to[e] = held(w, to[e]);
    }
}

static wg_status put_inputs(walk *w, wgi_when when, size_t p) {
    wg_status s = w->g->c->status;
    uint32_t *to = w->node;
    for (size_t i = 0; i < w->f->inputs && s == WG_OK; to += size_of(&w->f->input[i++])) {
        const int shared = wgi_argument_shared(&w->f->input[i]);
        if (shared == (when == WGI_ONCE)) s = w->input(w, i, shared ? 0 : p, to);
    }
    if (s == WG_OK) hold_passive(w, when);
    return s;
}

/* Adds comparisons of numbers of each point, or those of numbers that are the same at all
 * points. */
static void put_guards(walk *w, int at_points) {
    for (size_t k = 0; w->sets == NULL && k < w->f->guards; k++) {
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

static wg_status written_out(walk *w, size_t points) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < w->f->nodes; i++)
        if (is_sum(w->f, i)) w->node[i] = zero(w);
    for (size_t p = 0; p < points && s == WG_OK; p++) {
        s = put_inputs(w, WGI_EACH, p);
        put_nodes(w, WGI_EACH, points);
        put_guards(w, 1);
        if (s == WG_OK) s = w->g->c->status;
        if (s != WG_OK) break;
        add_up(w);
        put_outputs(w, 0, p);
    }
    return s;
}

/* ---- its points as a repeat ---- */

/* Adds outputs that are not summed, stepped; then one output of all sums over the points. */
static void body_outputs(const walk *w, wgi_builder *b) {
    size_t sums = 0;
    for (size_t k = 0, j = 0; k < w->f->outputs; j += size_of(&w->f->output[k++])) {
        const wg_argument *const a = &w->f->output[k];
        if (wgi_argument_summed(a)) continue;
        wgi_builder_output(b, "", a, WGI_STEPPED);
        for (size_t e = 0; e < size_of(a); e++)
            wgi_builder_result(b, w->node[w->f->result[j + e]]);
    }
    for (size_t i = 0; i < w->f->nodes; i++) sums += (size_t)is_sum(w->f, i);
    wgi_builder_output(b, "", &(wg_argument){"sums", sums, 1, 0}, 0);
    for (size_t i = 0; i < w->f->nodes; i++)
        if (is_sum(w->f, i))
            wgi_builder_result(
                b, wgi_graph_sum(&b->g, w->node[w->f->operand[w->f->node[i].first]]));
}

/* The body for the points of a function. What is done once is done in the body, too. */
static const wgi_repeat *body_of_points(const walk *w, size_t points,
                                        const unsigned char **kept) {
    const wg_function *const f = w->f;
    wgi_builder b;
    walk in = *w;
    wgi_builder_open(&b, w->g->c, w->g->call);
    b.by_points = 1;
    in.g = &b.g;
    in.node = wgi_node_list(w->g->c, f->nodes);
    if (in.node == NULL) return NULL;
    for (size_t i = 0, e = 0; i < f->inputs; i++) {
        const wg_argument *const a = &f->input[i];
        const uint32_t first =
            wgi_builder_input(&b, "", a, wgi_argument_shared(a) ? 0 : WGI_STEPPED);
        for (size_t l = 0; l < size_of(a); l++) in.node[e++] = first + (uint32_t)l;
    }
    hold_passive(&in, WGI_ONCE);
    hold_passive(&in, WGI_EACH);
    put_nodes(&in, WGI_ONCE, points);
    put_nodes(&in, WGI_EACH, points);
    put_guards(&in, 1);
    if (b.g.c->status != WG_OK) return NULL;
    body_outputs(&in, &b);
    *kept = b.g.c->status == WG_OK ? wgi_builder_prune(&b) : NULL;
    return *kept == NULL ? NULL : wgi_builder_repeat(&b, points, 0);
}

static wg_status repeated(walk *w, size_t points) {
    const wg_function *const f = w->f;
    wgi_core *const c = w->g->c;
    const unsigned char *kept = NULL;
    const wgi_repeat *const r = body_of_points(w, points, &kept);
    if (r == NULL) return c->status;
    uint32_t *const x = wgi_node_list(w->g->c, wgi_repeat_operands(r)), *at = x;
    if (x == NULL) return c->status;
    for (size_t i = 0; i < f->inputs; i++) {
        const size_t n = size_of(&f->input[i]);
        for (size_t p = 0; kept[i] && p < (wgi_argument_shared(&f->input[i]) ? 1 : points);
             p++, at += n) {
            const wg_status s = w->input(w, i, p, at);
            if (s != WG_OK) return s;
        }
    }
    uint32_t part = wgi_graph_repeat(w->g, r, x) + 1;
    for (size_t k = 0; k < f->outputs && c->status == WG_OK; k++) {
        const size_t n = size_of(&f->output[k]);
        for (size_t p = 0; !wgi_argument_summed(&f->output[k]) && p < points; p++) {
            for (size_t e = 0; e < n; e++) w->operand[e] = part++;
            w->output(w, k, p, w->operand);
        }
    }
    for (size_t i = 0; i < f->nodes; i++)
        if (is_sum(f, i)) w->node[i] = part++;
    return c->status;
}

static wg_status through(walk *w, const wg_function *f, size_t points) {
    w->f = f;
    wg_status s = put_inputs(w, WGI_ONCE, 0);
    put_nodes(w, WGI_ONCE, points);
    if (s == WG_OK)
        s = is_repeated(w, points, wgi_repeat_work(f)) ? repeated(w, points)
                                                       : written_out(w, points);
    put_nodes(w, WGI_AFTER, points);
    put_guards(w, 0);
    if (s == WG_OK) s = w->g->c->status;
    if (s == WG_OK) put_outputs(w, 1, 0);
    return s;
}

/* Makes room for the largest of the functions. */
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

/* Where the elements of operand or result `count` begin, among those of all. */
static size_t first_of(const wgi_operand *o, size_t count) {
    size_t at = 0;
    for (size_t k = 0; k < count; k++) at += (size_t)o[k].rows * o[k].cols;
    return at;
}

/* The nodes of point p of an input: from a matrix, from data, or as a callback fills it. */
static wg_status from_feed(walk *w, const wg_argument *a, const wgi_feed *from, size_t p,
                           uint32_t *to) {
    const size_t entries = size_of(a);
    wg_points data = from->data;
    if (from->kind == WGI_FROM_MATRIX) {
        const size_t first = first_of(w->b->operand, from->operand);
        memcpy(to, w->x + first + p * entries, entries * sizeof *to);
        return WG_OK;
    }
    if (w->sets != NULL) {
        memset(to, 0, entries * sizeof *to);
        return WG_OK;
    }
    if (from->kind == WGI_FROM_FILL) {
        const wg_status s = from->fill(p, 1, w->filled, from->user);
        if (s != WG_OK)
            return wgi_fail(w->g->c, s, "%s: %s: the callback of input %s returned %s",
                            w->g->call, w->b->op->name, a->name, wg_status_text(s));
        data = (wg_points){w->filled, 0, 1};
        p = 0;
    }
    for (size_t e = 0; e < entries; e++)
        to[e] = wgi_graph_number(
            w->g, data.data[(ptrdiff_t)p * data.point + (ptrdiff_t)e * data.entry]);
    return WG_OK;
}

/* ---- calls and maps --------------------------------------------------------------------- */

static wg_status input_of_map(walk *w, size_t i, size_t p, uint32_t *to) {
    return from_feed(w, &w->f->input[i], &w->map->feed[i], p, to);
}

static void output_of_map(walk *w, size_t k, size_t p, const uint32_t *from) {
    const size_t n = size_of(&w->f->output[k]);
    memcpy(w->y + first_of(w->b->operand + w->b->inputs, k) + p * n, from, n * sizeof *from);
}

static wg_status put_map(walk *w) {
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

/* Where entry 0 of cell p stands. */
static size_t cell_of(const walk *w, const wgi_field *f, size_t p) {
    const wgi_grid *const g = &w->scan->grid;
    if (f->global) return f->origin;
    return wgi_field_line(f, g, p / g->cells[0]) + p % g->cells[0];
}

static wg_status input_of_stage(walk *w, size_t i, size_t p, uint32_t *to) {
    const wg_argument *const a = &w->f->input[i];
    const wgi_feed *const from = &w->stage->value.in[i];
    if (from->kind == WGI_FROM_STATE || from->kind == WGI_FROM_NEXT) {
        const wgi_field *const f = &w->scan->field[from->field];
        const double *const at = field_of(w, from->field, from->kind == WGI_FROM_NEXT) +
                                 cell_of(w, f, p) + from->shift;
        for (size_t e = 0; e < f->entries; e++)
            to[e] = at[e * f->size] == 0 ? zero(w) : (uint32_t)at[e * f->size] - 1;
        return WG_OK;
    }
    const uint32_t first = w->stepped == NULL ? WGI_NO_NODE : w->stepped[from->number];
    if (first != WGI_NO_NODE) {
        for (size_t e = 0; e < size_of(a); e++) to[e] = first + (uint32_t)(p * size_of(a) + e);
        return WG_OK;
    }
    if (from->each_step) p += w->step * (wgi_argument_shared(a) ? 1 : w->scan->grid.points);
    return from_feed(w, a, from, p, to);
}

static void output_of_stage(walk *w, size_t k, size_t p, const uint32_t *from) {
    const wg_argument *const a = &w->f->output[k];
    const wgi_drain *const drain = &w->stage->value.out[k];
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
        for (size_t e = 0; e < n; e++) to[e] = w->step == 0 ? from[e] : plus(w, to[e], from[e]);
}

/* Reads the states from their operands; with `out`, writes them to their results. */
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
            const wgi_drain *const to = &w->stage->value.out[j];
            if (to->is_field)
                wgi_field_fill(&scan->field[to->at], &scan->grid, field_of(w, to->at, 1));
        }
    }
    return WG_OK;
}

static double *numbers(walk *w, size_t n) {
    return wg_tape_keep(&w->g->c->head, (n + 1) * sizeof(double), NULL);
}

/* Makes room for what a step works on. */
static wg_status open_scan(walk *w) {
    const wgi_scan *const scan = w->scan;
    wg_tape *const t = &w->g->c->head;
    const wg_function **const f = wg_tape_keep(t, (scan->stages + 1) * sizeof *f, NULL);
    w->old = numbers(w, scan->state_size);
    w->next = numbers(w, scan->state_size);
    w->passing = numbers(w, scan->passing_size);
    if (w->g->c->status != WG_OK) return w->g->c->status;
    for (size_t k = 0; k < scan->stages; k++) f[k] = scan->stage[k].k->f;
    w->input = input_of_stage;
    w->output = output_of_stage;
    const wg_status s = open(w, scan->stages, f);
    for (size_t e = 0; s == WG_OK && e < w->b->outs; e++) w->y[e] = zero(w);
    return s;
}

static wg_status one_step(walk *w) {
    const wg_status s = step(w);
    double *const was = w->old;
    w->old = w->next;
    w->next = was;
    return s;
}

static wg_status written_out_steps(walk *w) {
    wg_status s = open_scan(w);
    if (s == WG_OK) move_states(w, 0);
    for (w->step = 0; w->step < w->scan->steps && s == WG_OK; w->step++) s = one_step(w);
    if (s == WG_OK) move_states(w, 1);
    return s;
}

/* ---- its steps as a repeat ---- */

/* What each operand, each result, and data of each input are in the body of a repeat. */
typedef struct steps_of {
    unsigned *operand, *result; /* their roles: WGI_CARRIED, WGI_STEPPED, or 0 */
    uint32_t *stepped;          /* as in a walk */
} steps_of;

static wg_status find_roles(const walk *w, steps_of *o) {
    const wgi_scan *const scan = w->scan;
    wg_tape *const t = &w->g->c->head;
    o->operand = wg_tape_keep(t, (w->b->inputs + 1) * sizeof *o->operand, NULL);
    o->result = wg_tape_keep(t, (w->b->outputs + 1) * sizeof *o->result, NULL);
    o->stepped = wg_tape_keep(t, (scan->inputs + 1) * sizeof *o->stepped, NULL);
    if (w->g->c->status != WG_OK) return w->g->c->status;
    for (uint32_t k = 0; k < w->b->inputs; k++)
        o->operand[k] = k < scan->states ? WGI_CARRIED : 0;
    for (uint32_t k = 0; k < w->b->outputs; k++)
        o->result[k] = k < scan->states ? WGI_CARRIED : WGI_STEPPED;
    for (size_t i = 0; i < scan->inputs; i++) o->stepped[i] = WGI_NO_NODE;
    for (size_t k = 0; k < scan->stages; k++) {
        const wgi_scan_stage *const stage = &scan->stage[k];
        const wg_function *const f = stage->k->f;
        for (size_t i = 0; i < f->inputs; i++)
            if (stage->value.in[i].kind == WGI_FROM_MATRIX && stage->value.in[i].each_step)
                o->operand[stage->value.in[i].operand] = WGI_STEPPED;
        for (size_t j = 0; j < f->outputs; j++)
            if (!stage->value.out[j].is_field && wgi_argument_summed(&f->output[j]) &&
                !scan->sums_by_step)
                o->result[stage->value.out[j].at] = 0;
    }
    return WG_OK;
}

static size_t elements(const wgi_operand *o) { return (size_t)o->rows * o->cols; }

/* How many points of an input are data of a step, that change from step to step; 0: none. */
static size_t data_of_step(const walk *w, const wgi_scan_stage *stage, size_t i) {
    const wgi_feed *const from = &stage->value.in[i];
    if (!from->each_step || (from->kind != WGI_FROM_DATA && from->kind != WGI_FROM_FILL))
        return 0;
    return wgi_argument_shared(&stage->k->f->input[i]) ? 1 : w->scan->grid.points;
}

/* Adds the inputs of the body: operands, those that are stepped as one step has them; then data
 * of a step. */
static void body_inputs(walk *in, wgi_builder *b, steps_of *o, uint32_t *x) {
    const wgi_scan *const scan = in->scan;
    for (uint32_t k = 0; k < in->b->inputs; k++) {
        const size_t all = elements(&in->b->operand[k]);
        const size_t n = o->operand[k] == WGI_STEPPED ? all / scan->steps : all;
        const wg_argument like = {k < scan->states ? "s" : "m", n, 1, 0};
        const uint32_t first = wgi_builder_input(b, "", &like, o->operand[k]);
        for (size_t e = 0; e < n; e++) x[e] = first + (uint32_t)e;
        x += all;
    }
    for (size_t k = 0; k < scan->stages; k++)
        for (size_t i = 0; i < scan->stage[k].k->f->inputs; i++) {
            const wg_argument *const a = &scan->stage[k].k->f->input[i];
            const size_t points = data_of_step(in, &scan->stage[k], i);
            if (points != 0)
                o->stepped[scan->stage[k].value.in[i].number] = wgi_builder_input(
                    b, "", &(wg_argument){a->name, size_of(a) * points, 1, 0}, WGI_STEPPED);
        }
}

static void body_of_step_outputs(const walk *in, wgi_builder *b, const steps_of *o) {
    const uint32_t *y = in->y;
    for (uint32_t k = 0; k < in->b->outputs; k++) {
        const size_t all = elements(&in->b->operand[in->b->inputs + k]);
        const size_t n = o->result[k] == WGI_STEPPED ? all / in->scan->steps : all;
        const wg_argument like = {k < in->scan->states ? "s" : "y", n, 1, 0};
        wgi_builder_output(b, "", &like, o->result[k]);
        for (size_t e = 0; e < n; e++)
            wgi_builder_result(b, b->by_points && o->result[k] == 0 ? wgi_graph_sum(&b->g, y[e])
                                                                    : y[e]);
        y += all;
    }
}

static const wgi_repeat *body_of_step(const walk *w, steps_of *o, const unsigned char **kept) {
    wgi_builder b;
    walk in = *w;
    size_t operands = 0;
    for (uint32_t k = 0; k < w->b->inputs; k++) operands += elements(&w->b->operand[k]);
    uint32_t *const x = wgi_node_list(w->g->c, operands);
    wgi_builder_open(&b, w->g->c, w->g->call);
    b.by_points = w->scan->states == 0;
    in.g = &b.g;
    in.x = x;
    in.y = wgi_node_list(w->g->c, w->b->outs);
    in.stepped = o->stepped;
    in.step = 0;
    if (w->g->c->status != WG_OK) return NULL;
    body_inputs(&in, &b, o, x);
    wg_status s = open_scan(&in);
    if (s == WG_OK) move_states(&in, 0);
    if (s == WG_OK) s = one_step(&in);
    if (s != WG_OK || b.g.c->status != WG_OK) return NULL;
    move_states(&in, 1);
    body_of_step_outputs(&in, &b, o);
    *kept = b.g.c->status == WG_OK ? wgi_builder_prune(&b) : NULL;
    return *kept == NULL ? NULL : wgi_builder_repeat(&b, w->scan->steps, 0);
}

/* Adds the data of all steps to the operands of the repeat. */
static wg_status data_operands(walk *w, const wgi_scan_stage *stage, size_t i, size_t points,
                               uint32_t **at) {
    const wg_argument *const a = &stage->k->f->input[i];
    const wgi_feed *const from = &stage->value.in[i];
    wg_status s = w->g->c->status;
    for (size_t p = 0; p < points * w->scan->steps && s == WG_OK; p++, *at += size_of(a))
        s = from_feed(w, a, from, p, *at);
    return s;
}

static wg_status operands_of_steps(walk *w, const unsigned char *kept, uint32_t *at) {
    const wgi_scan *const scan = w->scan;
    const uint32_t *x = w->x;
    size_t input = 0;
    wg_status s = WG_OK;
    for (uint32_t k = 0; k < w->b->inputs; k++, input++) {
        const size_t all = elements(&w->b->operand[k]);
        if (kept[input]) memcpy(at, x, all * sizeof *at), at += all;
        x += all;
    }
    for (size_t k = 0; k < scan->stages; k++)
        for (size_t i = 0; i < scan->stage[k].k->f->inputs && s == WG_OK; i++) {
            const size_t points = data_of_step(w, &scan->stage[k], i);
            if (points != 0 && kept[input++])
                s = data_operands(w, &scan->stage[k], i, points, &at);
        }
    return s;
}

static wg_status repeated_steps(walk *w) {
    wgi_core *const c = w->g->c;
    const unsigned char *kept = NULL;
    steps_of o;
    wg_status s = find_roles(w, &o);
    const wgi_repeat *const r = s == WG_OK ? body_of_step(w, &o, &kept) : NULL;
    if (r == NULL) return c->status;
    uint32_t *const x = wgi_node_list(w->g->c, wgi_repeat_operands(r));
    /* room for data from callbacks */
    w->filled = numbers(w, r->body->n);
    if (c->status != WG_OK) return c->status;
    s = operands_of_steps(w, kept, x);
    if (s != WG_OK) return s;
    uint32_t part = wgi_graph_repeat(w->g, r, x) + 1, *y = w->y;
    for (uint32_t k = 0; k < w->b->outputs && c->status == WG_OK; k++) {
        const size_t all = elements(&w->b->operand[w->b->inputs + k]);
        if (o.result[k] == WGI_CARRIED) part += (uint32_t)(all * w->scan->steps);
        for (size_t e = 0; e < all; e++) *y++ = part++;
    }
    return c->status;
}

static wg_status put_scan(walk *w) {
    const wgi_scan *const scan = w->scan = *(const wgi_scan *const *)w->b->params;
    size_t work = 0;
    for (size_t k = 0; k < scan->stages; k++)
        work += scan->grid.points * wgi_repeat_work(scan->stage[k].k->f);
    return is_repeated(w, scan->steps, work) ? repeated_steps(w) : written_out_steps(w);
}

/* ---- what the descriptors take ----------------------------------------------------------- */

typedef wg_status through_fn(walk *w);

static wg_status flatten(through_fn *f, wgi_graph *g, const wgi_block *b, const uint32_t *x,
                         uint32_t *y) {
    walk w;
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
    return flatten(put_scan, g, b, x, y);
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
    walk w;
    size_t operands = 0;
    memset(&none, 0, sizeof none);
    memset(&w, 0, sizeof w);
    for (uint32_t i = 0; i < b->inputs; i++) operands += elements(&b->operand[i]);
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
    go_through(put_scan, k, NULL, b, of, y);
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
