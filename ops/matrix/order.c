/* SPDX-License-Identifier: MIT */
/* Order along lines: sorting, quantiles, cumulative maxima. The letters are those of lines.h.
 *
 * Sorting moves elements, y_k = x_(p_k), and so adjoints: x_(p_k) += y_k. The order p is that
 * of the point, stable, so that one of several equal elements has each place; in functions it
 * is compared at every point. Quantiles are of Hyndman and Fan's type 7 (1996): (1 - f) y_k + f
 * y_(k+1), k + f = p (n - 1). Of a cumulative maximum y_k = max(y_(k-1), x_k) the two have half
 * of the adjoint each where they are equal, as fmax. */
#include <math.h>
#include <stdint.h>
#include <wengert/array.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/scalar.h>
#include "lines.h"
#include "point.h"

/* Element e of the line. */
static double *element(const wgi_line *l, size_t e) {
    return wgi_line_of(l, 0, e / l->len) + e % l->len;
}
static double *bar_of(const wgi_line *l, size_t e) {
    return wgi_line_bar(l, 0, e / l->len) + e % l->len;
}

/* ---- sorting ---- */

/* at = the places of n elements x in their order, stable; numbers, as they are kept. room: n.
 * 0: one of them is a NaN, and at has all in their place. */
static int sort(size_t n, const double *x, double *at, double *room) {
    int all = 1;
    for (size_t i = 0; i < n; i++) at[i] = (double)i, all &= x[i] == x[i];
    for (size_t run = 1; all && run < n; run *= 2) {
        for (size_t low = 0; low < n; low += 2 * run) {
            const size_t mid = low + run < n ? low + run : n,
                         high = mid + run < n ? mid + run : n;
            size_t i = low, j = mid;
            for (size_t k = low; k < high; k++) {
                const int second =
                    i == mid || (j < high && x[(size_t)at[j]] < x[(size_t)at[i]]);
                room[k] = second ? at[j++] : at[i++];
            }
        }
        memcpy(at, room, n * sizeof *at);
    }
    return all;
}

/* saved: for each line n places, then room. */
static void sort_value(const wgi_line *l) {
    double *const room = l->saved + l->n;
    WGI_RUNS(l, r) memcpy(l->y + r * l->len, wgi_line_of(l, 0, r), l->len * sizeof *l->y);
    const int all = sort(l->n, l->y, l->saved, room);
    for (size_t k = 0; k < l->n; k++) l->y[k] = all ? *element(l, (size_t)l->saved[k]) : NAN;
}
static void sort_vjp(const wgi_line *l) {
    for (size_t k = 0; k < l->n; k++) *bar_of(l, (size_t)l->saved[k]) += l->w[k];
}
static void sort_jvp(const wgi_line *l) {
    for (size_t k = 0; k < l->n; k++) l->w[k] = *bar_of(l, (size_t)l->saved[k]);
}

static void sort_expand(wg_tape *t, const wgi_written *l) {
    double *const x = wg_tape_keep(t, 3 * l->n * sizeof *x, NULL);
    if (x == NULL) return;
    double *const at = x + l->n;
    for (size_t i = 0; i < l->n; i++) x[i] = wg_value(l->x[0][i]);
    const int all = sort(l->n, x, at, at + l->n);
    for (size_t k = 0; k < l->n; k++) {
        l->y[k] = all ? l->x[0][(size_t)at[k]] : wg_constant(NAN);
        if (!all)
            (void)wg_le(t, l->x[0][k], l->x[0][k]); /* where the NaN is none, it is no NaN */
        else if (k > 0) (void)wg_le(t, l->y[k - 1], l->y[k]);
    }
}

/* x_(p_k) += y__k: elements of the columns taken back to where they came from. */
static wg_status sort_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const size_t n = wgi_line_length(b->in, axis), lines = wgi_line_count(b->in, axis);
    const double *const saved = b->saved;
    (void)out;
    if (n * lines == 0) return WG_OK;
    size_t *const from = wg_tape_keep(t, n * lines * sizeof *from, NULL);
    if (from == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < lines; j++)
        for (size_t k = 0; k < n; k++) from[(size_t)saved[2 * n * j + k] + n * j] = k + n * j;
    const wg_mat columns = wgi_line_columns(t, bar[0], axis);
    back[0] = wgi_line_uncolumned(t, wg_gather(t, columns, n, lines, from), &in[0], axis);
    return wg_tape_status(t);
}

WGI_LINE_OP(sort, 0, 1, 0, 1, 0, 2, sort_vjp, sort_jvp, NULL, sort_adjoint, wgi_line_anything);
WGI_ALONG(sort)

/* ---- quantiles ---- */

/* params->p: which one. */
static wg_status quantile_shape(wg_block *b) {
    const double p = ((const wgi_line_params *)b->params)->p;
    const wg_status s = sort_shape(b);
    if (s != WG_OK) return s;
    if (!(p >= 0 && p <= 1))
        return wgi_block_refuse(b, WG_EARG, "quantiles are of numbers from 0 to 1");
    if (wgi_line_length(b->in, ((const wgi_line_params *)b->params)->axis) != 0) return WG_OK;
    return wgi_block_refuse(b, WG_ESHAPE, "lines without elements");
}

#define QUANTILE(id, called)                                                                   \
    static const wg_block_op id = {called,          WG_OP_ZERO_RULE | WG_OP_EXPANDS,           \
                                   quantile_shape,  sort_run_value,                            \
                                   sort_run_vjp,    sort_run_jvp,                              \
                                   sort_write,      sort_adjoint,                              \
                                   &wgi_line_traits}
QUANTILE(op_quantile, "wg_mat_quantile");
QUANTILE(op_quantile_axis, "wg_mat_quantile_axis");
QUANTILE(op_median, "wg_mat_median");
QUANTILE(op_median_axis, "wg_mat_median_axis");

/* Line k of what was sorted: that element of each line. */
static wg_mat place(wg_mat sorted, wg_axis axis, size_t k) {
    if (axis == WG_EACH_COL) return wg_mat_row(sorted, k);
    if (axis == WG_EACH_ROW) return wg_mat_col(sorted, k);
    return wg_mat_block(sorted, k % sorted.rows, k / sorted.rows, 1, 1);
}

static wg_mat quantile(wg_tape *t, const wg_block_op *op, wg_axis axis, double p, wg_mat a) {
    const wg_mat sorted = wgi_line_apply(t, op, axis, p, NULL, 1, &a);
    const wg_mat failed =
        wg_mat_failed(axis == WG_EACH_ROW ? a.rows : 1, axis == WG_EACH_COL ? a.cols : 1);
    if (sorted.value == NULL) return failed;
    const size_t n = axis == WG_ALL ? a.rows * a.cols : axis == WG_EACH_COL ? a.rows : a.cols;
    const double at = p * (double)(n - 1), down = floor(at), f = at - down;
    const wg_mat low = place(sorted, axis, (size_t)down);
    return f == 0 ? low : wg_mat_axpby(t, 1 - f, low, f, place(sorted, axis, (size_t)down + 1));
}

wg_real wg_mat_quantile(wg_tape *t, wg_mat a, double p) {
    return wg_mat_at(quantile(t, &op_quantile, WG_ALL, p, a), 0, 0);
}
wg_mat wg_mat_quantile_axis(wg_tape *t, wg_mat a, double p, wg_axis axis) {
    return quantile(t, &op_quantile_axis, axis, p, a);
}
wg_real wg_mat_median(wg_tape *t, wg_mat a) {
    return wg_mat_at(quantile(t, &op_median, WG_ALL, 0.5, a), 0, 0);
}
wg_mat wg_mat_median_axis(wg_tape *t, wg_mat a, wg_axis axis) {
    return quantile(t, &op_median_axis, axis, 0.5, a);
}

/* ---- cumulative maxima ---- */

/* The part of y_k that is x_k: 1, 0, 1/2 where it is equal to the largest before, NaN beside
 * a NaN. */
static double share(size_t k, double x, double before) {
    return k == 0 || x > before ? 1 : x == before ? 0.5 : x < before ? 0 : NAN;
}

static void cummax_value(const wgi_line *l) {
    for (size_t k = 0; k < l->n; k++) {
        const double x = *element(l, k);
        l->y[k] = k == 0 || x != x || x > l->y[k - 1] ? x : l->y[k - 1];
        if (k != 0 && l->y[k - 1] != l->y[k - 1]) l->y[k] = l->y[k - 1]; /* a NaN stays */
    }
}
static void cummax_vjp(const wgi_line *l) {
    double s = 0;
    for (size_t k = l->n; k-- > 0;) {
        const double part = share(k, *element(l, k), k != 0 ? l->y[k - 1] : 0);
        s += l->w[k];
        *bar_of(l, k) += wgi_times(part, s);
        s = wgi_times(1 - part, s);
    }
}
static void cummax_jvp(const wgi_line *l) {
    double s = 0;
    for (size_t k = 0; k < l->n; k++) {
        const double part = share(k, *element(l, k), k != 0 ? l->y[k - 1] : 0);
        l->w[k] = s = wgi_times(part, *bar_of(l, k)) + wgi_times(1 - part, s);
    }
}
static void cummax_expand(wg_tape *t, const wgi_written *l) {
    for (size_t k = 0; k < l->n; k++) {
        const wg_real both[2] = {k != 0 ? l->y[k - 1] : l->x[0][0], l->x[0][k]};
        l->y[k] = k == 0 ? both[0] : wg_maximum(t, 2, both);
    }
}

/* What cummax_vjp gives, of columns x, y and w, by w alone. */
static wg_status back_shape(wg_block *b) {
    b->out->rows = b->in[2].rows, b->out->cols = b->in[2].cols;
    return WG_OK;
}
static void back_run(const wg_block *b, const double *w, size_t ld, double *to, size_t to_ld) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->in[1];
    for (size_t j = 0; j < x->cols; j++) {
        double s = 0;
        for (size_t k = x->rows; k-- > 0;) {
            const double before = k != 0 ? y->value[k - 1 + j * y->ld] : 0;
            const double part = share(k, x->value[k + j * x->ld], before);
            s += w != NULL ? w[k + j * ld] : 0;
            to[k + j * to_ld] = wgi_times(part, s);
            s = wgi_times(1 - part, s);
        }
    }
}
static wg_status back_value(wg_block *b) {
    back_run(b, b->in[2].value, b->in[2].ld, b->out->value, b->out->ld);
    return WG_OK;
}
static wg_status back_jvp(wg_block *b) {
    back_run(b, b->in[2].bar, b->in[2].bar_ld, b->out->bar, b->out->bar_ld);
    return WG_OK;
}
static wg_status cummax_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_mat_cummax",
                                   0,
                                   back_shape,
                                   back_value,
                                   NULL,
                                   back_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat of[3] = {wgi_at_the_point(t, wgi_line_columns(t, in[0], axis)),
                          wgi_at_the_point(t, wgi_line_columns(t, out[0], axis)),
                          wgi_line_columns(t, bar[0], axis)};
    wg_mat columns;
    const wg_status s = wg_apply(t, &op, NULL, 0, 3, of, 1, &columns);
    if (s == WG_OK) back[0] = wgi_line_uncolumned(t, columns, &in[0], axis);
    return s == WG_OK ? wg_tape_status(t) : s;
}

WGI_LINE_OP(cummax, 0, 1, 0, 1, 0, 0, cummax_vjp, cummax_jvp, NULL, cummax_adjoint,
            wgi_line_anything);
WGI_ALONG(cummax)
