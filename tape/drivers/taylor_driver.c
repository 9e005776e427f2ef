/* SPDX-License-Identifier: MIT */
/* Taylor coefficients of a callback, and their adjoints, as numbers. What was recorded becomes
 * a graph, which says by which recurrence each node has its coefficients
 * (tape/function/make/series.h, where the formulas are those of taylor.c). Nodes have all of
 * their coefficients one node after the other; those that need each other's, as a sine and its
 * partial do, together, order by order. Adjoints go the other way round.
 *
 * Letters: v, a, b, p the coefficients of a node, of its operands and of a partial, v_, a_, ...
 * their adjoints; k the order. The adjoint of v_0 goes by partials, so that for adjoints
 * everything is found one order further than it is computed. */
#include "tape/engine/drive.h"
#include "tape/function/graph/taking.h"
#include "tape/function/make/series.h"
#include "taylor_rows.h"

#include <math.h>
#include <string.h>

typedef struct run {
    wgi_drive d;
    wgi_graph g;
    wgi_series s;
    wg_tape *work;
    size_t n, m, order;
    int adjoint;
    uint32_t *x, *y;     /* nodes */
    unsigned char *kind; /* of each node: its wgi_recurrence */
    uint32_t *list; /* of nodes with coefficients, each behind what it needs of its own order */
    unsigned char
        *tied; /* does it need, or is it needed by, the one behind it in other orders? */
    size_t listed;
    double *c,
        *bar; /* order + 1 of each node; of those that do not move all but the first are 0 */
} run;

static void *keep(const run *r, size_t count, size_t size) {
    if (count > SIZE_MAX / 64 / size) {
        (void)wgi_fail(r->g.c, WG_ENOMEM, "%s: no room for %zu numbers", r->d.call, count);
        return NULL;
    }
    void *const p = wg_tape_keep(r->work, (count + 1) * size, NULL);
    if (p != NULL) memset(p, 0, (count + 1) * size);
    return p;
}

static double *row(const run *r, uint32_t node) { return r->c + node * (r->order + 1); }
static double *bar_of(const run *r, uint32_t node) { return r->bar + node * (r->order + 1); }
static uint32_t operand(const run *r, uint32_t node, uint32_t k) {
    return wgi_series_operand(&r->s, node, k);
}

/* ---- the graph ---- */

static wg_status refuse_wholes(run *r) {
    for (size_t i = 0; i < r->g.nodes; i++)
        if (wgi_node_has_parts(&r->g.node[i]))
            return wgi_fail(r->g.c, WG_EMODE, "%s: %s has no Taylor coefficients on a tape",
                            r->d.call, wgi_node_row(&r->g.node[i])->word);
    return WG_OK;
}

static int is_moving_partial(const run *r, uint32_t p) {
    return p != WGI_NO_NODE && r->s.moves[p] && r->s.need[p] != 0;
}

/* Lists a node behind the one that has the same series, and behind its operands; its
 * partials follow. */
static void list_node(run *r, uint32_t node, uint32_t *place) {
    if (place[node] != 0 || r->s.need[node] == 0) return;
    const uint32_t count = r->g.node[node].count;
    for (uint32_t k = 0; k < count; k++) list_node(r, operand(r, node, k), place);
    if (place[node] != 0) return;
    if (r->kind[node] == WGI_SERIES_SAME)
        list_node(r, wgi_series_shares(&r->s, node)[0], place);
    r->list[r->listed++] = node;
    place[node] = (uint32_t)r->listed;
    if (r->kind[node] != WGI_SERIES_OTHER) return;
    const uint32_t *const p = wgi_series_shares(&r->s, node);
    for (uint32_t k = 0; k < count; k++)
        if (is_moving_partial(r, p[k])) list_node(r, p[k], place);
}

/* Ties a node to all up to the last of its partials that stands behind it. */
static void tie(run *r, const uint32_t *place) {
    size_t reach = 0;
    for (size_t i = 0; i < r->listed; i++) {
        const uint32_t node = r->list[i];
        if (r->kind[node] == WGI_SERIES_OTHER) {
            const uint32_t *const p = wgi_series_shares(&r->s, node);
            for (uint32_t k = 0; k < r->g.node[node].count; k++)
                if (is_moving_partial(r, p[k]) && place[p[k]] - 1 > reach)
                    reach = place[p[k]] - 1;
        }
        r->tied[i] = reach > i;
    }
}

/* The values of all nodes, from those of the inputs. */
static void evaluate(run *r) {
    wgi_graph *const g = &r->g;
    uint32_t most = 1;
    for (size_t i = 0; i < g->nodes; i++)
        if (g->node[i].count > most) most = g->node[i].count;
    double *const at = keep(r, most, sizeof *at);
    for (uint32_t i = 0; at != NULL && i < g->nodes; i++) {
        const wgi_node *const n = &g->node[i];
        if (n->kind == WGI_NODE_INPUT) continue;
        for (uint32_t k = 0; k < n->count; k++) at[k] = *row(r, operand(r, i, k));
        *row(r, i) = wgi_node_value(n, at);
    }
}

/* The recording as a graph, with all partials and values. */
static wg_status take(run *r, const double *x) {
    wgi_core *const from = r->d.c, *const c = wgi_core_of(r->work);
    const size_t each = r->order + 1;
    c->loops_over = SIZE_MAX; /* loops are written out */
    wgi_graph_open(&r->g, c, r->d.call);
    r->x = keep(r, r->n, sizeof *r->x);
    r->y = keep(r, r->m, sizeof *r->y);
    if (c->status != WG_OK) return c->status;
    for (size_t i = 0; i < r->n; i++) r->x[i] = wgi_graph_input(&r->g, WGI_ONCE);
    wg_status s = wgi_taking_all(&r->g, from, 0, r->n, r->d.x, r->x, r->m, r->d.y, r->y);
    if (s == WG_OK) s = refuse_wholes(r);
    if (s == WG_OK)
        s = wgi_series_find(&r->s, &r->g, r->order + (size_t)r->adjoint, r->n, r->x, r->m,
                            r->y);
    if (s != WG_OK) return s;
    const size_t nodes = r->g.nodes;
    uint32_t *const place = keep(r, nodes, sizeof *place);
    r->list = keep(r, nodes, sizeof *r->list);
    r->kind = keep(r, nodes, 1);
    r->tied = keep(r, nodes, 1);
    r->c = keep(r, nodes * each, sizeof *r->c);
    if (r->adjoint) r->bar = keep(r, nodes * each, sizeof *r->bar);
    if (c->status != WG_OK) return c->status;
    for (uint32_t i = 0; i < nodes; i++) r->kind[i] = (unsigned char)wgi_series_of(&r->s, i);
    for (uint32_t i = 0; i < nodes; i++)
        if (r->s.need[i] != 0) list_node(r, i, place);
    tie(r, place);
    for (size_t i = 0; i < r->n; i++)
        for (size_t k = 0; k < each; k++) row(r, r->x[i])[k] = x[k * r->n + i];
    evaluate(r);
    return c->status;
}

/* ---- forward ---- */

/* The sum of a_j b_{k-j}, j from `from` to `to`; by the zero rule where it is NaN. */
static double convolve(const double *a, const double *b, size_t k, size_t from, size_t to) {
    double even = 0, odd = 0; /* side by side: no addition waits for the one before */
    size_t j = from;
    for (; j + 1 <= to; j += 2) {
        even += a[j] * b[k - j];
        odd += a[j + 1] * b[k - j - 1];
    }
    if (j <= to) even += a[j] * b[k - j];
    if (even + odd == even + odd) return even + odd;
    even = 0;
    for (j = from; j <= to; j++) even += wgi_product(a[j], b[k - j]);
    return even;
}

static double square(const double *a, size_t k, size_t from) {
    const double middle = k % 2 == 0 && from <= k / 2 ? wgi_product(a[k / 2], a[k / 2]) : 0;
    const size_t end = (k + 1) / 2; /* pairs below it */
    return 2 * (from < end ? convolve(a, a, k, from, end - 1) : 0) + middle;
}

/* The sum of j a_j p_{k-j}, over k; p_0 is given by itself (series.h). */
static double weighted(const double *a, const double *p, double p0, size_t k) {
    double even = 0, odd = 0;
    size_t j = 1;
    for (; j + 1 < k; j += 2) {
        even += (double)j * a[j] * p[k - j];
        odd += (double)(j + 1) * a[j + 1] * p[k - j - 1];
    }
    if (j < k) even += (double)j * a[j] * p[k - j];
    odd += (double)k * a[k] * p0;
    if (even + odd == even + odd) return (even + odd) / (double)k;
    even = 0;
    for (j = 1; j < k; j++) even += wgi_product((double)j * a[j], p[k - j]);
    return (even + wgi_product((double)k * a[k], p0)) / (double)k;
}

/* Which of its last two operands a select gives. */
static uint32_t chosen(const run *r, uint32_t node) {
    const double x[4] = {*row(r, operand(r, node, 0)), *row(r, operand(r, node, 1)), 1, 0};
    return operand(r, node, wgi_node_value(&r->g.node[node], x) == 1 ? 2 : 3);
}

static double by_partials(const run *r, uint32_t node, size_t k) {
    const uint32_t *const p = wgi_series_shares(&r->s, node), count = r->g.node[node].count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (p[i] == WGI_NO_NODE) continue;
        const double *const a = row(r, operand(r, node, i)), p0 = *row(r, p[count + i]);
        sum += r->s.moves[p[i]] ? weighted(a, row(r, p[i]), p0, k) : wgi_product(a[k], p0);
    }
    return sum;
}

static double next(const run *r, uint32_t node, size_t k) {
    const uint32_t count = r->g.node[node].count;
    const double *const v = row(r, node);
    const double *const a = count > 0 ? row(r, operand(r, node, 0)) : v;
    const double *const b = count > 1 ? row(r, operand(r, node, 1)) : a;
    switch ((wgi_recurrence)r->kind[node]) {
    case WGI_SERIES_ADD:
        return a[k] + b[k];
    case WGI_SERIES_SUB:
        return a[k] - b[k];
    case WGI_SERIES_NEG:
        return -a[k];
    case WGI_SERIES_PRODUCT:
        return convolve(a, b, k, 0, k);
    case WGI_SERIES_SQUARE:
        return square(a, k, 0);
    case WGI_SERIES_FMA:
        return convolve(a, b, k, 0, k) + row(r, operand(r, node, 2))[k];
    case WGI_SERIES_QUOTIENT:
        return wgi_product(a[k] - convolve(b, v, k, 1, k), 1 / b[0]);
    case WGI_SERIES_ROOT:
        return wgi_product(a[k] - square(v, k, 1), 1 / (2 * v[0]));
    case WGI_SERIES_SELECT:
        return row(r, chosen(r, node))[k];
    case WGI_SERIES_SAME:
        return row(r, wgi_series_shares(&r->s, node)[0])[k];
    case WGI_SERIES_NONE:
    case WGI_SERIES_SUM: /* a graph of one point has none */
        return v[k];
    default:
        return by_partials(r, node, k);
    }
}

/* All coefficients but the first of a node that is tied to no other. */
static void whole(run *r, uint32_t node) {
    const size_t n = r->s.need[node] - (size_t)r->adjoint + 1;
    const uint32_t count = r->g.node[node].count;
    double *const v = row(r, node);
    const uint32_t first = count > 0 ? operand(r, node, 0) : node;
    const uint32_t second = count > 1 ? operand(r, node, 1) : first;
    const double *const a = row(r, first), *const b = row(r, second);
    switch ((wgi_recurrence)r->kind[node]) {
    case WGI_SERIES_ADD:
        for (size_t k = 1; k < n; k++) v[k] = a[k] + b[k];
        break;
    case WGI_SERIES_SUB:
        for (size_t k = 1; k < n; k++) v[k] = a[k] - b[k];
        break;
    case WGI_SERIES_PRODUCT:
    case WGI_SERIES_SQUARE:
        if (!r->s.moves[second])
            for (size_t k = 1; k < n; k++) v[k] = wgi_product(a[k], b[0]);
        else if (!r->s.moves[first])
            for (size_t k = 1; k < n; k++) v[k] = wgi_product(b[k], a[0]);
        else wgi_row_product(1, n, a, b, v);
        break;
    default:
        for (size_t k = 1; k < n; k++) v[k] = next(r, node, k);
    }
}

static void forward(run *r) {
    const size_t above = (size_t)r->adjoint;
    for (size_t i = 0, end; i < r->listed; i = end) {
        for (end = i; r->tied[end]; end++) {
        }
        if (end++ == i) {
            whole(r, r->list[i]);
            continue;
        }
        for (size_t k = 1; k <= r->order; k++)
            for (size_t j = i; j < end; j++)
                if (r->s.need[r->list[j]] >= k + above)
                    row(r, r->list[j])[k] = next(r, r->list[j], k);
    }
}

/* ---- backward ---- */

/* Of a sum of w a_j b_{k-j}. */
static void spread(double w, const double *a, const double *b, double *a_, double *b_, size_t k,
                   size_t from, size_t to) {
    for (size_t j = from; j <= to; j++) {
        a_[j] += wgi_product(w, b[k - j]);
        b_[k - j] += wgi_product(w, a[j]);
    }
}

static void spread_partials(const run *r, uint32_t node, double w, size_t k) {
    const uint32_t *const p = wgi_series_shares(&r->s, node), count = r->g.node[node].count;
    for (uint32_t i = 0; i < count; i++) {
        if (p[i] == WGI_NO_NODE) continue;
        const uint32_t a = operand(r, node, i);
        const double p0 = *row(r, p[count + i]);
        if (k == 0 || !r->s.moves[p[i]]) {
            bar_of(r, a)[k] += wgi_product(w, p0);
            continue;
        }
        for (size_t j = 1; j <= k; j++) {
            const double u = w * (double)j / (double)k;
            bar_of(r, a)[j] += wgi_product(u, j < k ? row(r, p[i])[k - j] : p0);
            bar_of(r, p[i])[k - j] += wgi_product(u, row(r, a)[j]);
        }
    }
}

/* The adjoint w of coefficient k goes to what that was computed from. */
static void back(const run *r, uint32_t node, double w, size_t k) {
    const uint32_t count = r->g.node[node].count;
    const uint32_t first = count > 0 ? operand(r, node, 0) : node;
    const uint32_t second = count > 1 ? operand(r, node, 1) : first;
    const double *const v = row(r, node), *const a = row(r, first), *const b = row(r, second);
    double *const v_ = bar_of(r, node), *const a_ = bar_of(r, first);
    double *const b_ = bar_of(r, second);
    double u;
    switch ((wgi_recurrence)r->kind[node]) {
    case WGI_SERIES_ADD:
        a_[k] += w;
        b_[k] += w;
        break;
    case WGI_SERIES_SUB:
        a_[k] += w;
        b_[k] -= w;
        break;
    case WGI_SERIES_NEG:
        a_[k] -= w;
        break;
    case WGI_SERIES_FMA:
        bar_of(r, operand(r, node, 2))[k] += w;
        spread(w, a, b, a_, b_, k, 0, k);
        break;
    case WGI_SERIES_PRODUCT:
    case WGI_SERIES_SQUARE:
        spread(w, a, b, a_, b_, k, 0, k);
        break;
    case WGI_SERIES_QUOTIENT:
        u = w / b[0];
        a_[k] += u;
        if (k != 0) spread(-u, b, v, b_, v_, k, 1, k);
        b_[0] -= wgi_product(u, v[k]);
        break;
    case WGI_SERIES_ROOT:
        u = w / (2 * v[0]);
        a_[k] += u;
        if (k == 0) break;
        spread(-u, v, v, v_, v_, k, 1, k - 1);
        v_[0] -= wgi_product(2 * u, v[k]);
        break;
    case WGI_SERIES_SELECT:
        bar_of(r, chosen(r, node))[k] += w;
        break;
    case WGI_SERIES_SAME:
        bar_of(r, wgi_series_shares(&r->s, node)[0])[k] += w;
        break;
    case WGI_SERIES_NONE:
    case WGI_SERIES_SUM:
        break;
    default:
        spread_partials(r, node, w, k);
    }
}

/* Of all coefficients of a node that is tied to no other: what all of its users give it is
 * there. */
static void whole_back(const run *r, uint32_t node) {
    const size_t n = r->s.need[node];
    const uint32_t count = r->g.node[node].count;
    const double *const w = bar_of(r, node);
    const uint32_t first = count > 0 ? operand(r, node, 0) : node;
    const uint32_t second = count > 1 ? operand(r, node, 1) : first;
    const int is_product = r->kind[node] == WGI_SERIES_PRODUCT ||
                           r->kind[node] == WGI_SERIES_SQUARE ||
                           r->kind[node] == WGI_SERIES_FMA;
    if (!is_product || !r->s.moves[first] || !r->s.moves[second]) {
        for (size_t k = n; k-- > 0;)
            if (w[k] != 0) back(r, node, w[k], k);
        return;
    }
    if (r->kind[node] == WGI_SERIES_FMA)
        for (size_t k = 0; k < n; k++) bar_of(r, operand(r, node, 2))[k] += w[k];
    wgi_row_product_adjoint(n, w, row(r, second), bar_of(r, first));
    wgi_row_product_adjoint(n, w, row(r, first), bar_of(r, second));
}

/* Orders from the highest down; in order 0 partials are among the nodes. */
static void backward(run *r, const double *w) {
    for (size_t k = 0; k <= r->order; k++)
        for (size_t j = 0; j < r->m; j++) bar_of(r, r->y[j])[k] += w[k * r->m + j];
    for (size_t end = r->listed, i; end != 0; end = i) {
        for (i = end - 1; i > 0 && r->tied[i - 1]; i--) {
        }
        if (i + 1 == end) {
            whole_back(r, r->list[i]);
            continue;
        }
        for (size_t k = r->order + 1; k-- > 0;)
            for (size_t j = end; j-- > i;) {
                const uint32_t node = r->list[j];
                const double bar = bar_of(r, node)[k];
                if (r->s.need[node] > k && bar != 0) back(r, node, bar, k);
            }
    }
}

/* ---- the calls ---- */

static void put(const run *r, double *c, double *g) {
    for (size_t k = 0; k <= r->order; k++) {
        for (size_t j = 0; j < r->m && c != NULL; j++) {
            const wg_real y = r->d.y[j];
            c[k * r->m + j] = k == 0           ? y.value
                              : y.at.slot == 0 ? wgi_of_constant(y)
                                               : row(r, r->y[j])[k];
        }
        for (size_t i = 0; i < r->n && g != NULL; i++) g[k * r->n + i] = bar_of(r, r->x[i])[k];
    }
}

static wg_status taylor(wg_tape *t, const char *call, wg_callback *f, void *data, size_t n,
                        size_t order, const double *x, size_t m, const double *w, double *c,
                        double *g) {
    run r = {.n = n, .m = m, .order = order, .adjoint = g != NULL};
    wg_status s = wgi_drive_open(&r.d, t, call, f, data, n, m, 0);
    if (s == WG_OK) s = wgi_drive_needs_code(&r.d);
    if (s == WG_OK && order >= 64) s = wgi_fail(r.d.c, WG_EARG, "%s: order %zu", call, order);
    if (s == WG_OK && r.adjoint && w == NULL && m != 0)
        s = wgi_drive_null_argument(&r.d, "w", m * (order + 1));
    if (s == WG_OK) s = wgi_drive_run(&r.d, 0, x);
    if (s != WG_OK) return wgi_drive_close(&r.d, s);
    wgi_core *const from = r.d.c;
    s = wgi_beside_open(from, 0, &r.work);
    if (s != WG_OK) return wgi_drive_close(&r.d, wgi_fail(from, s, "%s: no workspace", call));
    wgi_core *const work = wgi_core_of(r.work);
    const size_t loops_over = work->loops_over;
    s = take(&r, x);
    if (s == WG_OK) {
        forward(&r);
        if (r.adjoint) backward(&r, w);
        put(&r, c, g);
    } else (void)wgi_fail(from, s, "%s", work->message);
    wgi_graph_close(&r.g);
    work->loops_over = loops_over;
    wgi_beside_close(from);
    return wgi_drive_close(&r.d, s);
}

wg_status wg_taylor(wg_tape *t, wg_callback *f, void *data, size_t n, size_t order,
                    const double *x, size_t m, double *c) {
    return taylor(t, "wg_taylor", f, data, n, order, x, m, NULL, c, NULL);
}

wg_status wg_taylor_vjp(wg_tape *t, wg_callback *f, void *data, size_t n, size_t order,
                        const double *x, size_t m, const double *w, double *c, double *g) {
    return taylor(t, "wg_taylor_vjp", f, data, n, order, x, m, w, c, g);
}
