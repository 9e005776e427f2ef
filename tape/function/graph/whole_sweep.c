/* SPDX-License-Identifier: MIT */
/* Derivatives of operations on matrices that functions keep: the `adjoint` of the descriptor is
 * recorded on a tape beside, and what is recorded taken apart into nodes (taking.c).
 *
 * A rule wants values, and a function has none. It is given an ordinary matrix: no element is
 * 0, no two eigenvalues or singular values are near to each other, all are positive and below
 * 1. The calls that a rule makes there are those that it makes everywhere.
 *
 * Functions of the user's are called at points only: of their operations nothing is computed
 * there.
 *
 * What a rule gives, J'w, is linear in w. The tangent J v is the adjoint of that by w, with v
 * for the adjoint of J'w, the same for all w, of which 0 is taken: so it needs no rule of
 * its own. */
#include "whole_node.h"

#include "builder.h"
#include "ops/matrix/traits.h"
#include "taking.h"

#include <math.h>

/* ---- a rule on a tape beside ---- */

enum { ARGS = WGI_WHOLE_ARGS };

typedef struct recorded {
    wgi_graph *g;
    wgi_whole_op op;
    const char *name;
    wg_tape *t;
    wg_block call;
    wg_block_arg arg[ARGS];
    wg_mat in[ARGS], out[ARGS], bar[ARGS], back[ARGS];
} recorded;

/* The ordinary matrix of the head; of operands with an odd number the diagonal descends. */
static double sample(size_t i, size_t j, size_t rows, size_t cols, size_t number) {
    const double order = (double)(rows < cols ? rows : cols) + 1;
    if (i == j)
        return 0.5 +
               0.25 / order * (number % 2 == 0 ? (double)(i + 1) : order - (double)(i + 1));
    return 0.02 / order / order * (1 + 0.5 * sin((double)(1 + 3 * i + 7 * j)));
}

static void fill(const wg_block_arg *a, size_t number, double sign) {
    for (size_t j = 0; j < a->cols; j++)
        for (size_t i = 0; i < a->rows; i++)
            a->value[i + j * a->ld] = sign * sample(i, j, a->rows, a->cols, number);
}

static wg_status refuse(recorded *r, wg_status s, const char *why) {
    return wgi_fail(r->g->c, s, "%s: the derivative of %s: %s", r->g->call, r->name,
                    why != NULL ? why : wg_status_text(s));
}

static int any_node(size_t n, const uint32_t *x) {
    for (size_t i = 0; i < n; i++)
        if (x[i] != WGI_NO_NODE) return 1;
    return 0;
}

/* Records the rule. number: the parameters; w: which adjoints of results are there. */
static wg_status record(recorded *r, const double *number, const uint32_t *w) {
    wgi_core *const c = r->g->c;
    const wgi_whole_op *const op = &r->op;
    const size_t n = wgi_whole_operands(op), m = wgi_whole_results(op);
    const wg_options options = {.flags = WG_KEEP_CODE};
    double *const x = wg_tape_keep(&c->head, (n + m + 1) * sizeof *x, NULL);
    char *const work = wg_tape_keep(&c->head, wgi_whole_work(op, number) + 64, NULL);
    if (x == NULL || work == NULL) return c->status;
    double *const y = x + n;
    memcpy(x + n - op->row->numbers, number, op->row->numbers * sizeof *x);
    wgi_whole_call(op, x, y, r->arg, &r->call);
    for (size_t i = 0; i < r->call.inputs; i++) fill(&r->call.in[i], i, 1);
    char *const saved = work + (64 - (uintptr_t)work % 64) % 64;
    wg_status s = op->row->op->shape(&r->call);
    r->call.saved = saved;
    r->call.work = saved + (r->call.saved_bytes + 63) / 64 * 64;
    if (s == WG_OK && !wgi_whole_is_own(op->row)) s = op->row->op->value(&r->call);
    if (s == WG_ESINGULAR) { /* Riccati equations have a solution where A is stable */
        fill(&r->call.in[0], 0, -1);
        s = op->row->op->value(&r->call);
    }
    if (s != WG_OK) return refuse(r, s, r->call.why);
    s = wgi_tape_beside(c, &options, &r->t);
    if (s != WG_OK) return refuse(r, s, "no tape for it");
    for (size_t i = 0; i < r->call.inputs; i++) {
        const wg_block_arg *const a = &r->call.in[i];
        r->in[i] = wg_mat_input(r->t, a->rows, a->cols, a->value, a->ld);
        r->back[i] = (wg_mat){.at = {0, 0}};
    }
    for (size_t k = 0; k < r->call.outputs; k++) {
        const wg_block_arg *const a = &r->call.out[k];
        const size_t size = a->rows * a->cols;
        if (wgi_whole_is_own(op->row)) fill(a, k, 1);
        r->out[k] = wg_mat_input(r->t, a->rows, a->cols, a->value, a->ld);
        double *const bar = wg_tape_keep(r->t, (size + 1) * sizeof *bar, NULL);
        for (size_t e = 0; bar != NULL && e < size; e++)
            bar[e] =
                w[e] != WGI_NO_NODE ? sample(e % a->rows, e / a->rows, a->rows, a->cols, 0) : 0;
        r->bar[k] = any_node(size, w) ? wg_mat_input(r->t, a->rows, a->cols, bar, a->ld)
                                      : wg_mat_fill(r->t, a->rows, a->cols, 0);
        w += size;
    }
    s = wg_tape_status(r->t);
    if (s == WG_OK)
        s = (op->row->rule != NULL ? op->row->rule : op->row->op->adjoint)(
            r->t, &r->call, r->in, r->out, r->bar, r->back);
    if (s == WG_OK) s = wg_tape_status(r->t);
    if (s == WG_OK) return s;
    return refuse(r, s, wg_tape_status(r->t) != WG_OK ? wg_tape_message(r->t) : r->call.why);
}

/* The nodes of a variable of the rule. */
static void give(wgi_taking *take, wg_mat a, const uint32_t *x) {
    for (size_t e = 0; a.at.slot != 0 && e < a.rows * a.cols; e++)
        take->of_slot[a.at.slot + e] = wgi_graph_or_zero(take->g, x[e]);
}

/* Nodes of the adjoints of all operands where they are wanted, from those of operands x,
 * results y and their adjoints w. */
static void take_apart(recorded *r, const uint32_t *x, const uint32_t *y, const uint32_t *w,
                       const unsigned char *wanted, uint32_t *back) {
    wgi_graph *const g = r->g;
    wgi_taking take;
    const size_t guards = g->guards;
    if (wgi_taking_open(&take, g, wgi_core_of(r->t)) != WG_OK) return;
    take.elsewhere = 1;
    for (size_t i = 0; i < r->call.inputs; x += r->in[i].rows * r->in[i].cols, i++)
        give(&take, r->in[i], x);
    for (size_t k = 0; k < r->call.outputs; k++) {
        const size_t size = r->out[k].rows * r->out[k].cols;
        give(&take, r->out[k], y);
        give(&take, r->bar[k], w);
        y += size, w += size;
    }
    for (int pass = 0; pass < 2 && g->c->status == WG_OK; pass++) {
        const unsigned char *on = wanted;
        uint32_t *to = back;
        for (size_t i = 0; i < r->call.inputs; i++) {
            const wg_mat a = r->back[i];
            for (size_t e = 0; e < r->in[i].rows * r->in[i].cols; e++, on++, to++) {
                if (*on && a.value == NULL && a.rows != 0) {
                    (void)refuse(r, WG_EMODE, r->call.why);
                    return;
                }
                if (!*on || a.value == NULL) continue;
                const wg_real v = wg_mat_at(a, e % a.rows, e / a.rows);
                if (pass == 0) take.needed[v.at.slot] = 1;
                else *to = wgi_taking_node(&take, v.at.slot, v.value);
            }
        }
        if (pass == 0 && wgi_taking_need(&take) == WG_OK) wgi_taking_code(&take);
    }
    if (g->c->status == WG_OK && g->guards != guards)
        (void)refuse(r, WG_EMODE, "it compares, and would be that of one point");
}

/* The adjoints of the operands of a node, as nodes: `back`, which is WGI_NO_NODE before. */
static void adjoints(wgi_graph *g, const wgi_whole_op *op, const double *number,
                     const uint32_t *x, const uint32_t *y, const uint32_t *w,
                     const unsigned char *wanted, uint32_t *back) {
    recorded r;
    memset(&r, 0, sizeof r);
    r.g = g, r.op = *op, r.name = op->row->op->name;
    if (record(&r, number, w) == WG_OK) take_apart(&r, x, y, w, wanted, back);
    wg_tape_free(r.t);
}

/* ---- a node ---- */

/* Its parameters, which are numbers. */
static const double *numbers_of(wgi_graph *g, const wgi_whole_op *op, const wgi_node *n) {
    const size_t count = op->row->numbers;
    double *const number = wg_tape_keep(&g->c->head, (count + 1) * sizeof *number, NULL);
    for (size_t i = 0; number != NULL && i < count; i++) {
        const wgi_node *const x = &g->node[g->operand[n->first + n->count - count + i]];
        if (x->kind != WGI_NODE_NUMBER)
            (void)wgi_fail(g->c, WG_EMODE, "%s: the derivative of %s by a parameter", g->call,
                           op->row->op->name);
        number[i] = x->value;
    }
    return number;
}

static uint32_t *parts_of(wgi_graph *g, uint32_t number, size_t count) {
    uint32_t *const y = wgi_no_nodes(g->c, count);
    for (size_t e = 0; y != NULL && e < count; e++) y[e] = number + 1 + (uint32_t)e;
    return y;
}

/* Of an operation of one number x: the node of its slope. */
static uint32_t slope_of(wgi_graph *g, const wgi_whole_op *op, const double *number,
                         uint32_t x) {
    const size_t count = op->row->numbers;
    uint32_t *const at = wgi_no_nodes(g->c, count + 1);
    double *const of = wg_tape_keep(&g->c->head, (count + 1) * sizeof *of, NULL);
    if (g->c->status != WG_OK) return WGI_NO_NODE;
    if (!wgi_traits_of(op->row->op).slope(number, of)) {
        (void)wgi_fail(g->c, WG_EMODE, "%s: %s: its user has given no slope of a slope",
                       g->call, op->row->op->name);
        return WGI_NO_NODE;
    }
    at[0] = x;
    for (size_t i = 0; i < count; i++) at[1 + i] = wgi_graph_number(g, of[i]);
    return wgi_graph_whole_op(g, op, at) + 1;
}

void wgi_whole_reverse(wgi_graph *g, uint32_t number, const uint32_t *bar,
                       const unsigned char *wanted, uint32_t *to) {
    if (g->c->status != WG_OK) return;
    const wgi_node n = g->node[number];
    const wgi_whole_op op = wgi_whole_of(&n);
    const size_t elements = n.count - op.row->numbers, parts = wgi_whole_results(&op);
    if (!any_node(parts, bar)) return;
    uint32_t *const x = wgi_no_nodes(g->c, n.count), *const back = wgi_no_nodes(g->c, n.count);
    uint32_t *const w = wgi_no_nodes(g->c, parts), *const y = parts_of(g, number, parts);
    const double *const params = numbers_of(g, &op, &n);
    unsigned char *const on = wg_tape_keep(&g->c->head, n.count + 1, NULL);
    if (g->c->status != WG_OK) return;
    memcpy(x, g->operand + n.first, n.count * sizeof *x);
    memcpy(w, bar, parts * sizeof *w);
    for (size_t e = 0; e < elements; e++) on[e] = wanted[x[e]];
    if (wgi_traits_of(op.row->op).slope != NULL) {
        const uint32_t d = on[0] ? slope_of(g, &op, params, x[0]) : WGI_NO_NODE;
        if (d != WGI_NO_NODE)
            to[x[0]] = wgi_graph_plus(g, to[x[0]], wgi_graph_times(g, w[0], d));
        return;
    }
    adjoints(g, &op, params, x, y, w, on, back);
    for (size_t e = 0; e < elements && g->c->status == WG_OK; e++)
        if (on[e]) to[x[e]] = wgi_graph_plus(g, to[x[e]], back[e]);
}

/* Inputs of a graph that stand for `count` nodes; first: the first of them. */
static uint32_t *stand_in(wgi_graph *h, size_t count, uint32_t *first) {
    uint32_t *const x = wgi_no_nodes(h->c, count);
    *first = (uint32_t)h->nodes;
    for (size_t e = 0; x != NULL && e < count; e++) x[e] = wgi_graph_input(h, WGI_EACH);
    return x;
}

/* In a graph of its own, h: operands x, results y, adjoints w and tangents v are inputs. yt
 * becomes the nodes of the tangents of the results. */
static void transpose(wgi_graph *h, const wgi_whole_op *op, const double *params,
                      const uint32_t *tangent, uint32_t *yt) {
    const size_t n = wgi_whole_operands(op), m = wgi_whole_results(op);
    uint32_t at_x, at_y, at_w, at_v;
    uint32_t *const x = stand_in(h, n, &at_x), *const y = stand_in(h, m, &at_y);
    uint32_t *const w = stand_in(h, m, &at_w), *const v = stand_in(h, n, &at_v);
    uint32_t *const back = wgi_no_nodes(h->c, n);
    unsigned char *const on = wg_tape_keep(&h->c->head, n + 1, NULL);
    if (h->c->status != WG_OK) return;
    for (size_t e = 0; e < n; e++) on[e] = tangent[e] != WGI_NO_NODE;
    adjoints(h, op, params, x, y, w, on, back);
    const size_t nodes = h->nodes;
    uint32_t *const bar = wgi_no_nodes(h->c, nodes);
    unsigned char *const mark = wgi_node_marks(h->c, nodes);
    if (h->c->status != WG_OK) return;
    memset(mark + at_w, 1, m);
    wgi_mark_dependent(nodes, h->node, h->operand, mark);
    for (size_t e = 0; e < n; e++)
        if (back[e] != WGI_NO_NODE) bar[back[e]] = wgi_graph_plus(h, bar[back[e]], v[e]);
    wgi_graph_reverse_point(h, nodes, mark, bar);
    if (h->c->status != WG_OK) return;
    memcpy(yt, bar + at_w, m * sizeof *yt);
}

void wgi_whole_forward(wgi_graph *g, uint32_t number, uint32_t *tangent) {
    if (g->c->status != WG_OK) return;
    const wgi_node n = g->node[number];
    const wgi_whole_op op = wgi_whole_of(&n);
    const size_t elements = n.count - op.row->numbers, parts = wgi_whole_results(&op);
    uint32_t *const dot = wgi_no_nodes(g->c, n.count), *const yt = wgi_no_nodes(g->c, parts);
    uint32_t *const input = wgi_no_nodes(g->c, 2 * (n.count + parts));
    const double *const params = numbers_of(g, &op, &n);
    for (size_t e = 0; e < parts; e++) tangent[number + 1 + e] = WGI_NO_NODE;
    if (g->c->status != WG_OK) return;
    for (size_t e = 0; e < elements; e++) dot[e] = tangent[g->operand[n.first + e]];
    if (!any_node(elements, dot)) return;
    if (wgi_traits_of(op.row->op).slope != NULL) {
        const uint32_t d = slope_of(g, &op, params, g->operand[n.first]);
        if (d != WGI_NO_NODE) tangent[number + 1] = wgi_graph_times(g, dot[0], d);
        return;
    }
    wgi_graph h;
    wgi_graph_open(&h, g->c, g->call);
    transpose(&h, &op, params, dot, yt);
    if (g->c->status != WG_OK) return;
    uint32_t *to = input;
    for (size_t e = 0; e < n.count; e++) *to++ = g->operand[n.first + e];
    for (size_t e = 0; e < parts; e++) *to++ = number + 1 + (uint32_t)e;
    for (size_t e = 0; e < parts; e++) *to++ = wgi_graph_number(g, 0);
    for (size_t e = 0; e < n.count; e++) *to++ = wgi_graph_or_zero(g, dot[e]);
    wgi_graph_copies(g, &h, input, parts, yt, tangent + number + 1);
    wgi_graph_close(&h);
}
