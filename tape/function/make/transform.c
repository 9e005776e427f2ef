/* SPDX-License-Identifier: MIT */
/* Functions made from functions. Each call takes the nodes of its function over into a new
 * graph, adds derivatives (graph/sweep.c), and finishes a new function. Letters: n entries that
 * are differentiated, m results. */
#include "finish.h"
#include "taylor.h"
#include "tape/function/graph/edge_pushing.h"
#include "tape/function/graph/signed.h"

#include <wengert/derive.h>

#include <string.h>

typedef struct derivation {
    wgi_builder b;
    const wg_function *f;
    size_t order;          /* of a Taylor expansion */
    size_t n;              /* how many entries are differentiated */
    uint32_t *x;           /* the nodes of these entries */
    uint32_t *y;           /* the nodes of the results, once f has been taken over */
    unsigned char *is_sum; /* for each result: does it belong to a summed output? */
} derivation;

/* ---- what is differentiated ---- */

static wg_status describe(derivation *d) {
    const wg_function *const f = d->f;
    d->x = wgi_node_list(d->b.c, f->n);
    d->is_sum = wg_tape_keep(&d->b.c->head, f->m + 1, NULL);
    if (d->b.c->status != WG_OK) return d->b.c->status;
    for (uint32_t i = 0, e = 0; i < f->inputs; i++)
        for (size_t l = 0; l < wgi_argument_size(&f->input[i]); l++, e++)
            if (wgi_argument_active(&f->input[i])) d->x[d->n++] = e;
    for (size_t o = 0, j = 0; o < f->outputs; o++)
        for (size_t l = 0; l < wgi_argument_size(&f->output[o]); l++)
            d->is_sum[j++] = (unsigned char)wgi_argument_summed(&f->output[o]);
    return WG_OK;
}

/* Takes the nodes of f over; 0: a failure. */
static int take(derivation *d) {
    const uint32_t *const map = wgi_builder_take(&d->b, d->f, NULL);
    d->y = wgi_node_list(d->b.c, d->f->m);
    if (d->b.c->status != WG_OK) return 0;
    for (size_t j = 0; j < d->f->m; j++) d->y[j] = map[d->f->result[j]];
    return 1;
}

/* Which nodes of the graph depend on what is differentiated. */
static unsigned char *wanted(derivation *d) {
    const wgi_graph *const g = &d->b.g;
    unsigned char *const w = wgi_node_marks(d->b.c, g->nodes);
    if (w == NULL) return NULL;
    for (size_t i = 0; i < d->n; i++) w[d->x[i]] = 1;
    wgi_mark_dependent(g->nodes, g->node, g->operand, w);
    return w;
}

static void clear(uint32_t *bar, size_t nodes) {
    for (size_t i = 0; i < nodes; i++) bar[i] = WGI_NO_NODE;
}

static void add_to(derivation *d, uint32_t *bar, uint32_t node, uint32_t w) {
    bar[node] = bar[node] == WGI_NO_NODE ? w : WGI_GRAPH2(&d->b.g, add, bar[node], w);
}

/* ---- adjoints and tangents ---- */

/* Adds inputs w... for the adjoints of all results; gives the first node. */
static uint32_t add_weights(derivation *d) {
    const uint32_t first = (uint32_t)d->b.g.nodes;
    for (size_t j = 0; j < d->f->outputs; j++)
        (void)wgi_builder_input(&d->b, "w", &d->f->output[j],
                                wgi_argument_summed(&d->f->output[j]) ? WG_SHARED : 0);
    return first;
}

/* Adds inputs d... for the tangents of what is differentiated; gives the first node. */
static uint32_t add_tangents(derivation *d) {
    const uint32_t first = (uint32_t)d->b.g.nodes;
    for (size_t i = 0; i < d->f->inputs; i++)
        if (wgi_argument_active(&d->f->input[i]))
            (void)wgi_builder_input(&d->b, "d", &d->f->input[i],
                                    d->f->input[i].flags & WG_SHARED);
    return first;
}

/* Collects the adjoints of the entries that are differentiated. of_points: they are those of a
 * result at a single point, for which shared inputs, too, have a derivative at each point. */
static void adjoints_of_inputs(const derivation *d, const uint32_t *once, const uint32_t *each,
                               int of_points, uint32_t *to) {
    for (size_t i = 0; i < d->n; i++)
        to[i] =
            d->b.g.node[d->x[i]].when == WGI_ONCE && !of_points ? once[d->x[i]] : each[d->x[i]];
}

/* The gradient of result j. once: room for two nodes per node of the graph. */
static void gradient_of(derivation *d, size_t nodes, const unsigned char *w, size_t j,
                        uint32_t *once, uint32_t *row) {
    uint32_t *const each = once + nodes;
    clear(once, 2 * nodes);
    const uint32_t one = wgi_graph_number(&d->b.g, 1);
    if (d->b.c->status != WG_OK) return;
    (d->is_sum[j] ? once : each)[d->y[j]] = one;
    if (d->is_sum[j]) wgi_graph_reverse(&d->b.g, nodes, w, once, each);
    else wgi_graph_reverse_point(&d->b.g, nodes, w, each);
    adjoints_of_inputs(d, once, each, !d->is_sum[j], row);
}

/* A list of WGI_NO_NODE that is given back by wgi_list_give; NULL: a failure. */
static uint32_t *open_list(derivation *d, wgi_list_room *room, size_t count) {
    uint32_t *const list = wgi_list_need(d->b.c, room, NULL, 0, (count + 1) * sizeof *list);
    if (list != NULL) clear(list, count);
    return list;
}

/* The adjoints of the entries that are differentiated, from weights whose first node is
 * `weight`; WGI_NO_NODE: from the weight 1 of the only result. */
static uint32_t *adjoints(derivation *d, uint32_t weight) {
    const size_t nodes = d->b.g.nodes;
    uint32_t *const g = wgi_node_list(d->b.c, d->n);
    const unsigned char *const w = wanted(d);
    wgi_list_room room = {0, 0};
    uint32_t *const once = open_list(d, &room, 2 * nodes);
    if (d->b.c->status != WG_OK) return NULL;
    uint32_t *const each = once + nodes;
    if (weight == WGI_NO_NODE) {
        gradient_of(d, nodes, w, 0, once, g);
    } else {
        for (uint32_t j = 0; j < d->f->m; j++)
            add_to(d, d->is_sum[j] ? once : each, d->y[j], weight + j);
        wgi_graph_reverse(&d->b.g, nodes, w, once, each);
        adjoints_of_inputs(d, once, each, 0, g);
    }
    wgi_list_give(d->b.c, &room);
    return g;
}

/* Which nodes of the graph are needed for `count` of them; NULL: a failure. */
static unsigned char *needed_for(derivation *d, size_t count, const uint32_t *node) {
    const wgi_graph *const g = &d->b.g;
    unsigned char *const needed = wgi_node_marks(d->b.c, g->nodes);
    if (needed == NULL) return NULL;
    for (size_t i = 0; i < count; i++)
        if (node[i] != WGI_NO_NODE) needed[node[i]] = 1;
    wgi_mark_needed(g->nodes, g->node, g->operand, needed);
    return needed;
}

/* The tangents of `count` nodes, from inputs whose first node is `first`. */
static uint32_t *tangents(derivation *d, uint32_t first, size_t count, const uint32_t *of) {
    const size_t nodes = d->b.g.nodes;
    const unsigned char *const needed = needed_for(d, count, of);
    wgi_list_room room = {0, 0};
    uint32_t *const tangent = open_list(d, &room, nodes);
    uint32_t *const of_each = wgi_node_list(d->b.c, count);
    if (d->b.c->status != WG_OK) return NULL;
    for (uint32_t i = 0; i < d->n; i++) tangent[d->x[i]] = first + i;
    wgi_graph_forward(&d->b.g, nodes, needed, tangent);
    for (size_t i = 0; i < count; i++)
        of_each[i] =
            of[i] == WGI_NO_NODE ? WGI_NO_NODE : wgi_signed_node(&d->b.g, tangent[of[i]]);
    wgi_list_give(d->b.c, &room);
    return of_each;
}

/* Sets to[j * n + i] to the derivative of node of[j] by entry i, column by column. Of a
 * symmetric matrix only the diagonal and what is below it is computed. */
static void fill_columns(derivation *d, size_t nodes, size_t m, const uint32_t *of,
                         int symmetric, uint32_t *to) {
    const size_t n = d->n;
    const unsigned char *const needed = needed_for(d, m, of);
    uint32_t *const tangent = wgi_node_list(d->b.c, nodes);
    for (size_t i = 0; i < n && d->b.c->status == WG_OK; i++) {
        const uint32_t one = wgi_graph_number(&d->b.g, 1);
        if (d->b.c->status != WG_OK) return;
        clear(tangent, nodes);
        tangent[d->x[i]] = one;
        wgi_graph_forward(&d->b.g, nodes, needed, tangent);
        if (d->b.c->status != WG_OK) return;
        for (size_t j = symmetric ? i : 0; j < m; j++) {
            to[j * n + i] =
                of[j] == WGI_NO_NODE ? WGI_NO_NODE : wgi_signed_node(&d->b.g, tangent[of[j]]);
            if (symmetric) to[i * n + j] = to[j * n + i];
        }
    }
}

/* The Jacobian row by row, in reverse. */
static void fill_rows(derivation *d, size_t nodes, uint32_t *to) {
    const unsigned char *const w = wanted(d);
    uint32_t *const once = wgi_node_list(d->b.c, 2 * nodes);
    for (size_t j = 0; j < d->f->m && d->b.c->status == WG_OK; j++)
        gradient_of(d, nodes, w, j, once, to + j * d->n);
}

/* How many operations at each point these nodes need; SIZE_MAX after a failure. */
static size_t work_at_points(derivation *d, size_t count, const uint32_t *node) {
    const wgi_graph *const g = &d->b.g;
    const unsigned char *const needed = needed_for(d, count, node);
    size_t work = 0;
    if (needed == NULL) return SIZE_MAX;
    for (size_t i = 0; i < g->nodes; i++)
        work += needed[i] && g->node[i].when == WGI_EACH && g->node[i].kind != WGI_NODE_INPUT;
    return work;
}

/* Puts other nodes for the same derivatives in the place of the first ones, if they need fewer
 * operations. */
static void take_if_less(derivation *d, size_t count, const uint32_t *other, uint32_t *to) {
    if (d->b.c->status == WG_OK &&
        work_at_points(d, count, other) < work_at_points(d, count, to))
        memcpy(to, other, count * sizeof *to);
}

/* ---- Jacobian ---- */

/* Adds an output dy/dx for each pair, without nodes as yet. */
static void name_pairs(derivation *d) {
    const wg_function *const f = d->f;
    for (size_t j = 0; j < f->outputs; j++)
        for (size_t i = 0; i < f->inputs && d->b.c->status == WG_OK; i++) {
            const wg_argument *const x = &f->input[i], *const y = &f->output[j];
            if (!wgi_argument_active(x)) continue;
            const char *const dy = wgi_argument_name(d->b.c, "d", y->name, "/d");
            if (dy == NULL) return;
            const size_t m = wgi_argument_size(y);
            const wg_argument of_number = {x->name, x->rows, x->cols, 0},
                              of_matrix = {x->name, wgi_argument_size(x), m, 0};
            wgi_builder_output(&d->b, dy, m == 1 ? &of_number : &of_matrix,
                               wgi_argument_summed(y) && wgi_argument_shared(x) ? WG_SUMMED
                                                                                : 0);
        }
}

static int sums_of_points(const wg_function *f) {
    int points = 0, sums = 0;
    for (size_t i = 0; i < f->inputs; i++)
        points |= wgi_argument_active(&f->input[i]) && !wgi_argument_shared(&f->input[i]);
    for (size_t j = 0; j < f->outputs; j++) sums |= wgi_argument_summed(&f->output[j]);
    return points && sums;
}

/* Is something computed once for all points that depends on what is differentiated? Its
 * tangents are computed once, too, but in reverse each point has adjoints of it. */
static int shares_work(const wg_function *f) {
    for (size_t i = 0; i < f->inputs; i++)
        if (wgi_argument_active(&f->input[i]) && wgi_argument_shared(&f->input[i]) &&
            f->once != 0)
            return 1;
    return 0;
}

/* Chooses forward or reverse by the shape of the Jacobian or, where that does not decide it, by
 * the operations at each point. */
static void fill_jacobian(derivation *d, uint32_t *entry) {
    /* a Jacobian that is so many times wider than high is not done forward */
    enum { WIDE = 16 };
    const size_t n = d->n, m = d->f->m, nodes = d->b.g.nodes;
    /* the tangent of an input moves all points at once: a sum has no derivative for each point
     * by it */
    const int forward = !sums_of_points(d->f);
    if (forward && m > n) {
        fill_columns(d, nodes, m, d->y, 0, entry);
        return;
    }
    fill_rows(d, nodes, entry);
    if (!forward || !shares_work(d->f) || n / WIDE > m) return;
    uint32_t *const other = wgi_node_list(d->b.c, m * n);
    if (other == NULL) return;
    fill_columns(d, nodes, m, d->y, 0, other);
    take_if_less(d, m * n, other, entry);
}

static wg_status jacobian(derivation *d) {
    const wg_function *const f = d->f;
    const size_t n = d->n;
    if (f->m != 0 && n > SIZE_MAX / 64 / f->m)
        return wgi_fail(d->b.c, WG_ENOMEM, "%s: %zu by %zu entries", d->b.d.call, f->m, n);
    wgi_builder_inputs_of(&d->b, f);
    uint32_t *const entry = wgi_node_list(d->b.c, f->m * n);
    if (!take(d)) return d->b.c->status;
    name_pairs(d);
    fill_jacobian(d, entry);
    for (size_t o = 0, row = 0; o < f->outputs; row += wgi_argument_size(&f->output[o++]))
        for (size_t i = 0, at = 0; i < f->inputs; i++) {
            const size_t size = wgi_argument_size(&f->input[i]);
            if (!wgi_argument_active(&f->input[i])) continue;
            for (size_t j = 0; j < wgi_argument_size(&f->output[o]); j++)
                for (size_t l = 0; l < size && d->b.c->status == WG_OK; l++)
                    wgi_builder_result(&d->b, entry[(row + j) * n + at + l]);
            at += size;
        }
    return d->b.c->status;
}

static int is_one_number(const wg_function *f) { return f->outputs == 1 && f->m == 1; }

static wg_status gradient(derivation *d) {
    if (!is_one_number(d->f))
        return wgi_fail(d->b.c, WG_ESHAPE, "%s: %zu outputs of %zu entries, not one of one",
                        d->b.d.call, d->f->outputs, d->f->m);
    return jacobian(d);
}

/* ---- products with the Jacobian ---- */

static wg_status jvp(derivation *d) {
    wgi_builder_inputs_of(&d->b, d->f);
    const uint32_t first = add_tangents(d);
    const uint32_t *const tangent = take(d) ? tangents(d, first, d->f->m, d->y) : NULL;
    for (size_t j = 0; j < d->f->outputs; j++)
        wgi_builder_output(&d->b, "d", &d->f->output[j], d->f->output[j].flags);
    for (size_t j = 0; tangent != NULL && j < d->f->m; j++)
        wgi_builder_result(&d->b, tangent[j]);
    return d->b.c->status;
}

/* Is a derivative by that input a sum over the points? It is for a shared input, unless it is
 * that of an output per point, without weights. */
static unsigned sum_flag(const wg_function *f, const wg_argument *x, int weighted) {
    return wgi_argument_shared(x) && (weighted || wgi_argument_summed(&f->output[0]))
               ? WG_SUMMED
               : 0;
}

/* Adds outputs like the inputs that are differentiated. */
static void add_outputs_like_inputs(derivation *d, const char *letter, int weighted) {
    for (size_t i = 0; i < d->f->inputs; i++)
        if (wgi_argument_active(&d->f->input[i]))
            wgi_builder_output(&d->b, letter, &d->f->input[i],
                               sum_flag(d->f, &d->f->input[i], weighted));
}

static wg_status vjp(derivation *d) {
    wgi_builder_inputs_of(&d->b, d->f);
    const uint32_t weight = add_weights(d);
    add_outputs_like_inputs(d, "d", 1);
    const uint32_t *const g = take(d) ? adjoints(d, weight) : NULL;
    for (size_t i = 0; g != NULL && i < d->n; i++) wgi_builder_result(&d->b, g[i]);
    return d->b.c->status;
}

/* ---- second derivatives ---- */

static wg_status hvp(derivation *d) {
    const int weighted = !is_one_number(d->f);
    wgi_builder_inputs_of(&d->b, d->f);
    const uint32_t weight = weighted ? add_weights(d) : WGI_NO_NODE, first = add_tangents(d);
    add_outputs_like_inputs(d, "h", weighted);
    const uint32_t *const g = take(d) ? adjoints(d, weight) : NULL;
    const uint32_t *const tangent = g != NULL ? tangents(d, first, d->n, g) : NULL;
    for (size_t i = 0; tangent != NULL && i < d->n; i++) wgi_builder_result(&d->b, tangent[i]);
    return d->b.c->status;
}

/* The Hessian by edge pushing (graph/edge_pushing.c); 0: it cannot be computed so. */
static int push_hessian(derivation *d, size_t nodes, uint32_t weight, uint32_t *h) {
    const unsigned char *const w = wanted(d);
    uint32_t *const bar = wgi_no_nodes(d->b.c, nodes);
    if (d->b.c->status != WG_OK) return 0;
    for (uint32_t j = 0; j < d->f->m; j++)
        add_to(d, bar, d->y[j],
               weight != WGI_NO_NODE ? weight + j : wgi_graph_number(&d->b.g, 1));
    return wgi_edge_pushing(&d->b.g, nodes, w, bar, d->n, d->x, h);
}

/* The Hessian column by column; or by edge pushing, if that is possible and needs fewer
 * operations at each point. */
static void fill_hessian(derivation *d, uint32_t weight, uint32_t *h) {
    const size_t n = d->n, nodes = d->b.g.nodes;
    uint32_t *const pushed = wgi_node_list(d->b.c, n * n);
    const uint32_t *const g = adjoints(d, weight);
    if (pushed == NULL || g == NULL) return;
    fill_columns(d, d->b.g.nodes, n, g, 1, h);
    if (push_hessian(d, nodes, weight, pushed)) take_if_less(d, n * n, pushed, h);
}

/* The flag of a Hessian, whose entries are all sums or none of them. */
static wg_status flag_of_hessian(derivation *d, int weighted, unsigned *flag) {
    const wg_function *const f = d->f;
    int first = 1;
    *flag = 0;
    for (size_t i = 0; i < f->inputs; i++) {
        if (!wgi_argument_active(&f->input[i]) || wgi_argument_size(&f->input[i]) == 0)
            continue;
        const unsigned own = sum_flag(f, &f->input[i], weighted);
        if (!first && own != *flag)
            return wgi_fail(d->b.c, WG_EMODE,
                            "%s: some of its inputs are shared and summed, %s is not: flag the "
                            "others WG_PASSIVE",
                            d->b.d.call, f->input[i].name);
        *flag = own, first = 0;
    }
    return WG_OK;
}

static wg_status hessian(derivation *d) {
    const int weighted = !is_one_number(d->f);
    const size_t n = d->n;
    unsigned flag = 0;
    if (n > UINT32_MAX || (n != 0 && n > SIZE_MAX / 64 / n))
        return wgi_fail(d->b.c, WG_ENOMEM, "%s: %zu by %zu entries", d->b.d.call, n, n);
    const wg_status s = flag_of_hessian(d, weighted, &flag);
    if (s != WG_OK) return s;
    wgi_builder_inputs_of(&d->b, d->f);
    const uint32_t weight = weighted ? add_weights(d) : WGI_NO_NODE;
    uint32_t *const h = wgi_node_list(d->b.c, n * n);
    wgi_builder_output(&d->b, "", &(wg_argument){"hess", n, n, 0}, flag);
    if (!take(d)) return d->b.c->status;
    fill_hessian(d, weight, h);
    for (size_t i = 0; d->b.c->status == WG_OK && i < n * n; i++)
        wgi_builder_result(&d->b, h[i]);
    return d->b.c->status;
}

/* ---- Taylor coefficients along a line ---- */

/* Does a node with parts depend on what is differentiated? */
static int has_wholes(derivation *d) {
    const wgi_graph *const g = &d->b.g;
    const unsigned char *const w = wanted(d);
    for (size_t i = 0; w != NULL && i < g->nodes; i++)
        if (w[i] && wgi_node_has_parts(&g->node[i])) return 1;
    return 0;
}

/* Through loops and operations on whole matrices: the tangent of each coefficient is the
 * next one. */
static void by_tangents(derivation *d, uint32_t first, uint32_t *c) {
    wgi_graph *const g = &d->b.g;
    const size_t m = d->f->m;
    for (size_t q = 1; q <= d->order; q++) {
        const uint32_t *const tangent = tangents(d, first, m, c + (q - 1) * m);
        const uint32_t by = wgi_graph_number(g, (double)q);
        if (tangent == NULL || d->b.c->status != WG_OK) return;
        for (size_t j = 0; j < m; j++) {
            const uint32_t dot = tangent[j];
            c[q * m + j] =
                dot == WGI_NO_NODE ? wgi_graph_number(g, 0) : WGI_GRAPH2(g, div, dot, by);
        }
    }
}

static wg_status taylor(derivation *d) {
    const wg_function *const f = d->f;
    if (d->order >= 64)
        return wgi_fail(d->b.c, WG_EARG, "%s: order %zu", d->b.d.call, d->order);
    wgi_builder_inputs_of(&d->b, f);
    const uint32_t first = add_tangents(d);
    uint32_t *const c = wgi_node_list(d->b.c, f->m * (d->order + 1));
    uint32_t *const dx = wgi_node_list(d->b.c, d->n);
    if (!take(d)) return d->b.c->status;
    memcpy(c, d->y, f->m * sizeof *c);
    for (size_t i = 0; i < d->n; i++) dx[i] = first + (uint32_t)i;
    if (has_wholes(d)) by_tangents(d, first, c);
    else wgi_taylor(&d->b, d->order, d->n, d->x, dx, f->m, d->y, c);
    for (size_t o = 0, row = 0; o < f->outputs; row += wgi_argument_size(&f->output[o++])) {
        const size_t m = wgi_argument_size(&f->output[o]);
        const wg_argument all = {f->output[o].name, m, d->order + 1, 0};
        wgi_builder_output(&d->b, "t", &all, f->output[o].flags);
        for (size_t q = 0; q <= d->order; q++)
            for (size_t j = 0; j < m; j++) wgi_builder_result(&d->b, c[q * f->m + row + j]);
    }
    return d->b.c->status;
}

/* ---- the calls ---- */

typedef wg_status transformation(derivation *d);

static wg_status derive(wg_tape *t, const char *call, const wg_function *f, transformation *how,
                        size_t order, wg_function **out) {
    derivation d = {.f = f, .order = order};
    wg_status s = wgi_builder_begin(&d.b, t, call, f != NULL, out);
    if (s == WG_OK) s = describe(&d);
    if (s == WG_OK) s = how(&d);
    return wgi_builder_end(&d.b, s, out);
}

wg_status wg_function_jacobian(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_jacobian", f, jacobian, 1, out);
}

wg_status wg_function_gradient(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_gradient", f, gradient, 1, out);
}

wg_status wg_function_jvp(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_jvp", f, jvp, 1, out);
}

wg_status wg_function_vjp(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_vjp", f, vjp, 1, out);
}

wg_status wg_function_hvp(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_hvp", f, hvp, 2, out);
}

wg_status wg_function_hessian(wg_tape *t, const wg_function *f, wg_function **out) {
    return derive(t, "wg_function_hessian", f, hessian, 2, out);
}

wg_status wg_function_taylor(wg_tape *t, const wg_function *f, size_t order,
                             wg_function **out) {
    return derive(t, "wg_function_taylor", f, taylor, order, out);
}
