/* SPDX-License-Identifier: MIT */
/* The Taylor coefficients of the nodes of a plan, and their adjoints, as numbers. A graph says
 * by which recurrence each node has them (tape/function/make/series.h, where the formulas are
 * those of taylor.c). Nodes have all of their coefficients one node after the other; those that
 * need each other's, as a sine and its partial do, together, order by order. Adjoints go the
 * other way round.
 *
 * Letters: v, a, b, p the coefficients of a node, of its operands and of a partial, v_, a_, ...
 * their adjoints; k the order. The adjoint of v_0 goes by partials, so that for adjoints
 * everything is found one order further than it is computed. */
#include "taylor_plan.h"

#include <math.h>
#include <string.h>

typedef wgi_taylor_plan plan;

/* Of nodes by partials for which taylor_singular.c has to be asked. */
enum { SINGULAR_SOMEWHERE = WGI_SERIES_OTHER + 1 };

static double *row(const plan *r, uint32_t node) { return r->row[node]; }
static double *bar_of(const plan *r, uint32_t node) { return r->bar[node]; }
static uint32_t operand(const plan *r, uint32_t node, uint32_t k) {
    return wgi_series_operand(&r->s, node, k);
}

/* ---- making ---- */

static void *keep(const plan *r, size_t count, size_t size) {
    if (count > SIZE_MAX / 64 / size) {
        (void)wgi_fail(r->g.c, WG_ENOMEM, "%s: no room for %zu numbers", r->g.call, count);
        return NULL;
    }
    void *const p = wg_tape_keep(&r->g.c->head, (count + 1) * size, NULL);
    if (p != NULL) memset(p, 0, (count + 1) * size);
    return p;
}

static int is_moving_partial(const plan *r, uint32_t p) {
    return p != WGI_NO_NODE && r->s.moves[p] && r->s.need[p] != 0;
}

static int is_arithmetic(unsigned kind) {
    return kind == WGI_SERIES_ADD || kind == WGI_SERIES_SUB || kind == WGI_SERIES_PRODUCT ||
           kind == WGI_SERIES_SQUARE || kind == WGI_SERIES_QUOTIENT || kind == WGI_SERIES_ROOT;
}

static void add_step(plan *r, uint32_t node) {
    const uint32_t count = r->g.node[node].count;
    wgi_taylor_step *const s = &r->step[r->steps++];
    s->kind = r->kind[node];
    s->node = node;
    s->need = r->s.need[node];
    for (uint32_t k = 0; k < 3; k++)
        s->x[k] = count == 0 ? node : operand(r, node, k < count ? k : 0);
    s->has_value = r->g.node[node].kind == WGI_NODE_OP && is_arithmetic(s->kind);
    s->first_moves = count > 0 && r->s.moves[operand(r, node, 0)];
    if (s->kind == WGI_SERIES_PRODUCT && operand(r, node, 0) == operand(r, node, 1))
        s->kind = WGI_SERIES_SQUARE;
    s->second_moves = count > 1 ? r->s.moves[operand(r, node, 1)] : s->first_moves;
}

/* Lists a node behind the one that has the same series, and behind its operands; its
 * partials follow. */
static void list_node(plan *r, uint32_t node, uint32_t *place) {
    if (place[node] != 0 || r->s.need[node] == 0) return;
    const uint32_t count = r->g.node[node].count;
    for (uint32_t k = 0; k < count; k++) list_node(r, operand(r, node, k), place);
    if (place[node] != 0) return;
    if (r->kind[node] == WGI_SERIES_SAME)
        list_node(r, wgi_series_shares(&r->s, node)[0], place);
    if (r->kind[node] == WGI_SERIES_NONE) return;
    add_step(r, node);
    place[node] = (uint32_t)r->steps;
    if (r->kind[node] < WGI_SERIES_OTHER) return;
    const uint32_t *const p = wgi_series_shares(&r->s, node);
    for (uint32_t k = 0; k < count; k++)
        if (is_moving_partial(r, p[k])) list_node(r, p[k], place);
}

/* Ties a node to all up to the last of its partials that stands behind it. */
static void tie(plan *r, const uint32_t *place) {
    size_t reach = 0;
    for (size_t i = 0; i < r->steps; i++) {
        const uint32_t node = r->step[i].node;
        if (r->kind[node] >= WGI_SERIES_OTHER) {
            const uint32_t *const p = wgi_series_shares(&r->s, node);
            for (uint32_t k = 0; k < r->g.node[node].count; k++)
                if (is_moving_partial(r, p[k]) && place[p[k]] > reach + 1)
                    reach = place[p[k]] - 1;
        }
        r->step[i].tied = reach > i;
    }
}

/* Rows of all nodes; those of numbers stay. */
static void lay_out(plan *r, size_t most) {
    const size_t nodes = r->g.nodes, stride = wgi_row_stride(r->order);
    double *const all = keep(r, nodes * stride, sizeof *all);
    r->row = keep(r, nodes, sizeof *r->row);
    r->at = keep(r, 2 * most, sizeof *r->at);
    if (r->adjoint) {
        r->own_bars = nodes * stride;
        r->own_bar = keep(r, r->own_bars, sizeof *r->own_bar);
        r->bar = keep(r, nodes, sizeof *r->bar);
    }
    if (r->g.c->status != WG_OK) return;
    for (size_t i = 0; i < nodes; i++) {
        r->row[i] = all + i * stride;
        if (r->adjoint) r->bar[i] = r->own_bar + i * stride;
        if (r->g.node[i].kind == WGI_NODE_NUMBER) r->row[i][0] = r->g.node[i].value;
    }
}

wg_status wgi_taylor_plan_make(wgi_taylor_plan *r, size_t order, int adjoint, size_t n,
                               const uint32_t *x, size_t m, const uint32_t *y) {
    r->order = order;
    r->adjoint = adjoint;
    r->rows = wgi_row_kernels_here();
    wg_status s = wgi_series_find(&r->s, &r->g, order + (size_t)adjoint, n, x, m, y);
    if (s != WG_OK) return s;
    const size_t nodes = r->g.nodes;
    size_t most = 1;
    uint32_t *const place = keep(r, nodes, sizeof *place);
    r->kind = keep(r, nodes, 1);
    r->computed = keep(r, nodes, sizeof *r->computed);
    r->step = keep(r, nodes, sizeof *r->step);
    if (r->g.c->status != WG_OK) return r->g.c->status;
    for (uint32_t i = 0; i < nodes; i++) {
        const wgi_recurrence kind = wgi_series_of(&r->s, i);
        r->kind[i] = (unsigned char)kind;
        if (kind == WGI_SERIES_OTHER && wgi_taylor_may_be_singular(r, i))
            r->kind[i] = SINGULAR_SOMEWHERE;
        if (r->g.node[i].count > most) most = r->g.node[i].count;
        if (r->kind[i] != WGI_SERIES_NONE) r->computed[r->computes++] = i;
    }
    for (uint32_t i = 0; i < nodes; i++)
        if (r->s.need[i] != 0) list_node(r, i, place);
    tie(r, place);
    int all = r->steps == r->computes;
    for (size_t i = 0; i < r->steps; i++) all &= r->step[i].has_value && !r->step[i].tied;
    if (all) r->computes = 0;
    lay_out(r, most);
    return r->g.c->status;
}

/* ---- values ---- */

static double value(const plan *r, uint32_t node) {
    const wgi_node *const n = &r->g.node[node];
    for (uint32_t k = 0; k < n->count; k++) r->at[k] = *row(r, operand(r, node, k));
    return wgi_node_value(n, r->at);
}

static double arithmetic(unsigned kind, double a, double b) {
    switch ((wgi_recurrence)kind) {
    case WGI_SERIES_ADD:
        return a + b;
    case WGI_SERIES_SUB:
        return a - b;
    case WGI_SERIES_QUOTIENT:
        return a / b;
    case WGI_SERIES_ROOT:
        return sqrt(a);
    default: /* a product, a square */
        return a * b;
    }
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
static uint32_t chosen(const plan *r, uint32_t node) {
    const double x[4] = {*row(r, operand(r, node, 0)), *row(r, operand(r, node, 1)), 1, 0};
    return operand(r, node, wgi_node_value(&r->g.node[node], x) == 1 ? 2 : 3);
}

static double by_partials(const plan *r, uint32_t node, size_t k) {
    const uint32_t *const p = wgi_series_shares(&r->s, node), count = r->g.node[node].count;
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (p[i] == WGI_NO_NODE) continue;
        const double *const a = row(r, operand(r, node, i)), p0 = *row(r, p[count + i]);
        sum += r->s.moves[p[i]] ? weighted(a, row(r, p[i]), p0, k) : wgi_product(a[k], p0);
    }
    return sum;
}

static double next(const plan *r, uint32_t node, size_t k) {
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
    case WGI_SERIES_OTHER:
        return by_partials(r, node, k);
    default:
        return wgi_taylor_is_singular(r, node) ? wgi_taylor_singular(r, node, k)
                                               : by_partials(r, node, k);
    }
}

static void product(const plan *r, const wgi_taylor_step *s, size_t n, const double *a,
                    const double *b, double *v) {
    if (!s->second_moves) r->rows->scale(n, a, b[0], v);
    else if (!s->first_moves) r->rows->scale(n, b, a[0], v);
    else r->rows->product(n, a, b, v);
}

/* All coefficients but the first of a node that is tied to no other. */
static void whole(const plan *r, const wgi_taylor_step *s) {
    const size_t n = s->need - (size_t)r->adjoint + 1;
    const double *const a = row(r, s->x[0]), *const b = row(r, s->x[1]);
    double *const v = row(r, s->node);
    if (s->has_value) v[0] = arithmetic(s->kind, a[0], b[0]);
    switch ((wgi_recurrence)s->kind) {
    case WGI_SERIES_ADD:
        r->rows->add(n, a, b, v);
        break;
    case WGI_SERIES_SUB:
        r->rows->sub(n, a, b, v);
        break;
    case WGI_SERIES_PRODUCT:
        product(r, s, n, a, b, v);
        break;
    case WGI_SERIES_FMA:
        product(r, s, n, a, b, v);
        r->rows->add(n, v, row(r, s->x[2]), v);
        break;
    case WGI_SERIES_NEG:
        r->rows->scale(n, a, -1, v);
        break;
    case WGI_SERIES_SQUARE:
        r->rows->square(n, a, v);
        break;
    case WGI_SERIES_SELECT:
        memcpy(v + 1, row(r, chosen(r, s->node)) + 1, (n - 1) * sizeof *v);
        break;
    case WGI_SERIES_SAME:
        memcpy(v + 1, row(r, wgi_series_shares(&r->s, s->node)[0]) + 1, (n - 1) * sizeof *v);
        break;
    case WGI_SERIES_QUOTIENT:
        if (s->second_moves) wgi_row_quotient(n, a, b, v);
        else r->rows->scale(n, a, 1 / b[0], v);
        break;
    case WGI_SERIES_ROOT:
        wgi_row_root(n, a, v);
        break;
    default:
        for (size_t k = 1; k < n; k++) v[k] = next(r, s->node, k);
    }
}

void wgi_taylor_forward(const wgi_taylor_plan *r) {
    const size_t above = (size_t)r->adjoint;
    for (size_t i = 0; i < r->computes; i++) *row(r, r->computed[i]) = value(r, r->computed[i]);
    for (size_t i = 0, end; i < r->steps; i = end) {
        for (end = i; r->step[end].tied; end++) {
        }
        if (end++ == i) {
            whole(r, &r->step[i]);
            continue;
        }
        for (size_t k = 1; k <= r->order; k++)
            for (size_t j = i; j < end; j++)
                if (r->step[j].need >= k + above)
                    row(r, r->step[j].node)[k] = next(r, r->step[j].node, k);
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

static void spread_partials(const plan *r, uint32_t node, double w, size_t k) {
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
static void back(const plan *r, uint32_t node, double w, size_t k) {
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
        if (r->kind[node] == SINGULAR_SOMEWHERE && wgi_taylor_is_singular(r, node))
            wgi_taylor_singular_back(r, node, w, k);
        else spread_partials(r, node, w, k);
    }
}

/* Of all coefficients of a node that is tied to no other: what all of its users give it is
 * there. */
static void whole_back(const plan *r, const wgi_taylor_step *s) {
    const uint32_t node = s->node;
    const size_t n = s->need;
    const uint32_t count = r->g.node[node].count;
    const double *const w = bar_of(r, node);
    const uint32_t first = count > 0 ? operand(r, node, 0) : node;
    const uint32_t second = count > 1 ? operand(r, node, 1) : first;
    const int is_product = s->kind == WGI_SERIES_PRODUCT || s->kind == WGI_SERIES_SQUARE ||
                           s->kind == WGI_SERIES_FMA;
    if (s->kind == WGI_SERIES_ADD || s->kind == WGI_SERIES_SUB) {
        double *const a_ = bar_of(r, first), *const b_ = bar_of(r, second);
        const double sign = s->kind == WGI_SERIES_ADD ? 1 : -1;
        for (size_t k = 0; s->first_moves && k < n; k++) a_[k] += w[k];
        for (size_t k = 0; s->second_moves && k < n; k++) b_[k] += sign * w[k];
        return;
    }
    if (s->kind == WGI_SERIES_PRODUCT && s->first_moves != s->second_moves) {
        double *const to = bar_of(r, s->first_moves ? first : second);
        const double by = row(r, s->first_moves ? second : first)[0];
        for (size_t k = 0; k < n; k++) to[k] += wgi_product(w[k], by);
        return;
    }
    if (!is_product || !s->first_moves || !s->second_moves) {
        for (size_t k = n; k-- > 0;)
            if (w[k] != 0) back(r, node, w[k], k);
        return;
    }
    if (s->kind == WGI_SERIES_FMA)
        for (size_t k = 0; k < n; k++) bar_of(r, operand(r, node, 2))[k] += w[k];
    wgi_row_product_adjoint(r->rows, n, w, row(r, second), bar_of(r, first));
    wgi_row_product_adjoint(r->rows, n, w, row(r, first), bar_of(r, second));
}

/* Orders from the highest down; in order 0 partials are among the nodes. */
void wgi_taylor_backward(const wgi_taylor_plan *r) {
    for (size_t end = r->steps, i; end != 0; end = i) {
        for (i = end - 1; i > 0 && r->step[i - 1].tied; i--) {
        }
        if (i + 1 == end) {
            whole_back(r, &r->step[i]);
            continue;
        }
        for (size_t k = r->order + 1; k-- > 0;)
            for (size_t j = end; j-- > i;) {
                const double w = bar_of(r, r->step[j].node)[k];
                if (r->step[j].need > k && w != 0) back(r, r->step[j].node, w, k);
            }
    }
}
