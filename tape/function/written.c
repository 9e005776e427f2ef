/* SPDX-License-Identifier: MIT */
/* Calls and maps written out: every node of the function becomes a statement, at each point.
 * Recordings with calls in them are functions, and have second derivatives, by way of this. */
#include "map.h"

#include "../../ops/array.h"
#include "../../ops/expand.h"

#include <wengert/array.h>
#include <wengert/scalar.h>
#include <wengert/statement.h>

typedef struct writing {
    wg_tape *t;
    const wg_block *b;
    const wgi_map *m;
    const wg_function *f;
    const wg_real *x;
    wg_real *node;
    wg_real *operand; /* of one node */
    double *filled;   /* an input of one point */
} writing;

static int shared(const wg_argument *a) { return (a->flags & WG_SHARED) != 0; }
static int summed(const wg_argument *a) { return (a->flags & WG_SUMMED) != 0; }

static wg_status refuse(const writing *w, wg_status s, const char *name, const char *why) {
    return wgi_fail(wgi_core_of(w->t), s, "%s %s", name, why);
}

/* ---- inputs ----------------------------------------------------------------------------- */

/* Where the elements of an operand begin among all. */
static size_t first_of(const wg_block *b, size_t operand) {
    size_t at = 0;
    for (size_t k = 0; k < operand; k++) at += b->in[k].rows * b->in[k].cols;
    return at;
}

static wg_status from_matrix(const writing *w, const wg_argument *a, size_t operand, size_t p,
                             wg_real *to) {
    const size_t n = wgi_argument_size(a);
    const wg_real *const from = w->x + first_of(w->b, operand) + p * n;
    for (size_t e = 0; e < n; e++)
        to[e] = (a->flags & WG_PASSIVE) != 0 && from[e].at.slot != 0
                    ? wgi_expand_held(w->t, from[e])
                    : from[e];
    return WG_OK;
}

/* Input i at point p, of a shared one point 0. */
static wg_status input(const writing *w, size_t i, size_t p, wg_real *to) {
    const wg_argument *const a = &w->f->input[i];
    if (w->m->feed == NULL) return from_matrix(w, a, i, p, to);
    const wgi_map_feed *const from = &w->m->feed[i];
    if (from->kind == WGI_FROM_MATRIX) return from_matrix(w, a, from->operand, p, to);
    wg_points data = from->data;
    if (from->kind == WGI_FROM_FILL) {
        const wg_status s = from->fill(p, 1, w->filled, from->user);
        if (s != WG_OK) return refuse(w, s, a->name, "has a callback that failed");
        data = (wg_points){w->filled, 0, 1};
    }
    for (size_t e = 0; e < wgi_argument_size(a); e++)
        to[e] = wg_constant(data.data[(ptrdiff_t)p * data.point + (ptrdiff_t)e * data.entry]);
    return WG_OK;
}

static wg_status inputs(const writing *w, wgi_when when, size_t p) {
    wg_status s = WG_OK;
    wg_real *to = w->node;
    for (size_t i = 0; i < w->f->inputs && s == WG_OK; i++) {
        const wg_argument *const a = &w->f->input[i];
        if (shared(a) == (when == WGI_ONCE)) s = input(w, i, shared(a) ? 0 : p, to);
        to += wgi_argument_size(a);
    }
    return s;
}

/* ---- nodes ------------------------------------------------------------------------------ */

static wg_real array(const writing *w, unsigned which, size_t n) {
    switch (which) {
    case WGI_ARRAY_norm2:
        return wg_norm2(w->t, n, w->operand);
    case WGI_ARRAY_logsumexp:
        return wg_logsumexp(w->t, n, w->operand);
    case WGI_ARRAY_maximum:
        return wg_maximum(w->t, n, w->operand);
    default:
        return wg_minimum(w->t, n, w->operand);
    }
}

static wg_status write_node(const writing *w, size_t i) {
    const wgi_node *const n = &w->f->node[i];
    for (uint32_t k = 0; k < n->count; k++)
        w->operand[k] = w->node[w->f->operand[n->first + k]];
    switch (n->kind) {
    case WGI_NODE_NUMBER:
        w->node[i] = wg_constant(n->value);
        break;
    case WGI_NODE_OP:
        w->node[i] = wg_apply_scalar(w->t, n->op, w->operand);
        break;
    case WGI_NODE_TIMES:
        w->node[i] = wg_apply_scalar(w->t, wgi_expand_times, w->operand);
        break;
    case WGI_NODE_ARRAY:
        w->node[i] = array(w, n->array, n->count);
        break;
    case WGI_NODE_SUM: /* what is done once, as often as there are points; others grow */
        if (w->f->node[w->f->operand[n->first]].when != WGI_EACH)
            w->node[i] = wg_let(w->t, wg_mul(w->operand[0], (double)w->m->points));
        break;
    case WGI_NODE_FIRST:
    case WGI_NODE_SECOND:
        return refuse(w, WG_EMODE, n->op->name, "has a derivative that is no operation");
    default:
        break;
    }
    return wg_tape_status(w->t);
}

static wg_status nodes(const writing *w, wgi_when when) {
    wg_status s = WG_OK;
    for (size_t i = 0; i < w->f->nodes && s == WG_OK; i++)
        if (w->f->node[i].when == when && w->f->node[i].kind != WGI_NODE_INPUT)
            s = write_node(w, i);
    return s;
}

/* Sums over the points, in their order. */
static void add_up(const writing *w) {
    for (size_t i = 0; i < w->f->nodes; i++) {
        const wgi_node *const n = &w->f->node[i];
        if (n->kind != WGI_NODE_SUM) continue;
        const uint32_t of = w->f->operand[n->first];
        if (w->f->node[of].when == WGI_EACH)
            w->node[i] = wg_let(w->t, wg_add(w->node[i], w->node[of]));
    }
}

/* ---- guards and results ----------------------------------------------------------------- */

static int compare(wg_tape *t, unsigned comparison, wg_real a, wg_real b) {
    switch (comparison) {
    case 0:
        return wg_lt(t, a, b);
    case 1:
        return wg_le(t, a, b);
    case 2:
        return wg_gt(t, a, b);
    case 3:
        return wg_ge(t, a, b);
    case 4:
        return wg_eq(t, a, b);
    default:
        return wg_ne(t, a, b);
    }
}

/* Those that can be looked at now: at each point, or once. */
static wg_status guards(const writing *w, int at_points) {
    for (size_t k = 0; k < w->f->guards; k++) {
        const wgi_graph_guard *const g = &w->f->guard[k];
        const int each = w->f->node[g->a].when == WGI_EACH || w->f->node[g->b].when == WGI_EACH;
        if (each == at_points &&
            compare(w->t, g->comparison, w->node[g->a], w->node[g->b]) != g->outcome)
            return refuse(w, WG_EGUARD, w->m->feed == NULL ? "wg_call" : "wg_map",
                          "has a guard that comes out differently");
    }
    return WG_OK;
}

/* Results of point p, or those that are sums. */
static void results(const writing *w, int sums, size_t p, wg_real *y) {
    for (size_t k = 0, j = 0; k < w->f->outputs; k++) {
        const wg_argument *const a = &w->f->output[k];
        const size_t n = wgi_argument_size(a);
        for (size_t e = 0; e < n; e++, j++)
            if (summed(a) == sums) y[(sums ? 0 : p * n) + e] = w->node[w->f->result[j]];
        y += n * (summed(a) ? 1 : w->m->points);
    }
}

static wg_status write_all(const writing *w, wg_real *y) {
    wg_status s = inputs(w, WGI_ONCE, 0);
    for (size_t i = 0; i < w->f->nodes; i++)
        if (w->f->node[i].kind == WGI_NODE_SUM) w->node[i] = wg_constant(0);
    if (s == WG_OK) s = nodes(w, WGI_ONCE);
    for (size_t p = 0; p < w->m->points && s == WG_OK; p++) {
        s = inputs(w, WGI_EACH, p);
        if (s == WG_OK) s = nodes(w, WGI_EACH);
        if (s == WG_OK) s = guards(w, 1);
        if (s != WG_OK) break;
        add_up(w);
        results(w, 0, p, y);
    }
    if (s == WG_OK) s = nodes(w, WGI_AFTER);
    if (s == WG_OK) s = guards(w, 0);
    if (s == WG_OK) results(w, 1, 0, y);
    return s;
}

wg_status wgi_map_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_map *const m = b->params;
    writing w = {t, b, m, m->k->f, x, NULL, NULL, NULL};
    size_t most = 1;
    for (size_t i = 0; i < w.f->nodes; i++)
        if (w.f->node[i].count > most) most = w.f->node[i].count;
    w.node = wg_tape_keep(t, (w.f->nodes + 1) * sizeof *w.node, NULL);
    w.operand = wg_tape_keep(t, most * sizeof *w.operand, NULL);
    w.filled = wg_tape_keep(t, (w.f->n + 1) * sizeof *w.filled, NULL);
    if (w.filled == NULL || w.node == NULL || w.operand == NULL) return wg_tape_status(t);
    return write_all(&w, y);
}
