/* SPDX-License-Identifier: MIT */
/* Softmax along lines, its logarithm, the logarithm of its sum, and cross-entropies.
 *
 * Letters: n elements x of a line, m the largest, e = exp(x - m), p = softmax(x); result y, w
 * its adjoint or tangent, g the slope dy/dx, as in lines.h. */
#include "lines.h"

#include <wengert/elementwise.h>

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- softmax: m the largest x, e = exp(x - m) ---- */

/* e of the line, unless NULL; the sum of all e but that of the first largest, which is 1: with
 * it the logarithm of the sum is log1p, accurate also where it is small. Infinite largest x
 * share evenly. */
static double exponentials(const wgi_line *l, double m, double *e) {
    double rest = 0;
    int seen = 0;
    if (!(fabs(m) < INFINITY)) rest = m != m ? m : wgi_line_ties(l, m) - 1;
    WGI_RUNS(l, r) {
        const double *const x = wgi_line_of(l, 0, r);
        double *const to = e != NULL ? e + wgi_line_start(l, r) : NULL;
        if (!(fabs(m) < INFINITY)) {
            for (size_t i = 0; to != NULL && i < l->len; i++) to[i] = m != m ? m : x[i] == m;
            continue;
        }
        size_t i = 0;
        while (!seen && i < l->len && x[i] != m) i++;
        if (seen || i == l->len) {
            rest += l->simd->exp_sum(l->len, x, m, to);
            continue;
        }
        seen = 1;
        rest += l->simd->exp_sum(i, x, m, to);
        rest += l->simd->exp_sum(l->len - i - 1, x + i + 1, m, to != NULL ? to + i + 1 : NULL);
        if (to != NULL) to[i] = 1;
    }
    return rest;
}

/* What is left to do of a line when m, e and the sum of the other e are there. */
typedef void finish(const wgi_line *l, double m, double rest);

/* The same for short lines, with e in their y or in what they keep: one loop of exponentials
 * over all of them. */
static void of_short_lines(const wgi_line *l, size_t lines, finish *line_is_done) {
    double m[WGI_LINES_TOGETHER];
    size_t first[WGI_LINES_TOGETHER];
    const size_t n = l->n;
    double *const e = l->op->keep_n != 0 ? l->saved : l->y;
    for (size_t j = 0; j < lines; j++) {
        const double *const x = l->x[0] + j * n;
        double *const to = e + j * n;
        m[j] = l->simd->largest(n, x);
        first[j] = 0;
        if (!(fabs(m[j]) < INFINITY)) { /* of such a line the exponentials are not asked for */
            memset(to, 0, n * sizeof(double));
            continue;
        }
        for (size_t i = n; i-- > 0;) {
            first[j] = x[i] == m[j] ? i : first[j];
            to[i] = x[i] - m[j];
        }
    }
    (void)l->simd->exp_sum(lines * n, e, 0, e);
    wgi_line line = *l;
    for (size_t j = 0; j < lines; j++, line.number++) {
        double *const to = e + j * n, rest;
        line.x[0] = l->x[0] + j * n;
        line.y = l->op->full ? l->y + j * n : l->y + j;
        if (l->op->keep_n != 0) line.saved = to;
        if (fabs(m[j]) < INFINITY) {
            to[first[j]] = 0;
            rest = l->simd->sum(n, to);
            to[first[j]] = 1;
        } else rest = exponentials(&line, m[j], to);
        line_is_done(&line, m[j], rest);
    }
}

/* m - x, also where both are infinite */
static double below(double m, double x) { return x == m ? 0.0 : m - x; }

static void scale(const wgi_simd *simd, size_t n, double c, double *y) {
    wg_block_arg a;
    if (n <= WGI_LINE_SHORT) {
        for (size_t i = 0; i < n; i++) y[i] *= c;
        return;
    }
    memset(&a, 0, sizeof a);
    a.value = y;
    simd->row[WGI_ROW_scale].value(n, &a, &a, NULL, &c);
}

/* saved: m and the sum of e */
static void logsumexp_value(const wgi_line *l) {
    const double m = wgi_line_top(l), rest = l->n != 0 ? exponentials(l, m, NULL) : 0;
    l->saved[0] = m;
    l->saved[1] = 1 + rest;
    *l->y = fabs(m) < INFINITY ? m + log1p(rest) : m;
}
static void logsumexp_slope(const wgi_line *l, size_t at, size_t n, const double *x,
                            double *g) {
    const double m = l->saved[0], share = 1 / l->saved[1];
    (void)at;
    if (fabs(m) < INFINITY) (void)l->simd->exp_sum(n, x, m, g);
    else
        for (size_t i = 0; i < n; i++) g[i] = m != m ? m : x[i] == m;
    scale(l->simd, n, share, g);
}

static void softmax_done(const wgi_line *l, double m, double rest) {
    (void)m;
    scale(l->simd, l->n, 1 / (1 + rest), l->y);
}
static void softmax_value(const wgi_line *l) {
    if (l->n == 0) return;
    const double m = wgi_line_top(l);
    softmax_done(l, m, exponentials(l, m, l->y));
}
static void softmax_values(const wgi_line *l, size_t lines) {
    of_short_lines(l, lines, softmax_done);
}

/* to_i += p_i (t_i - sum of p t). Of the one p above 1/2 the difference is summed up as
 * differences, which cancel nothing. t and to are given as run and step from run to run. */
static void add_centred(const wgi_line *l, const double *t, size_t t_step, double *to,
                        size_t to_step) {
    const double *const p = l->y;
    double s = 0;
    WGI_RUNS(l, r)
    s += wgi_line_inner(l->simd, l->len, p + wgi_line_start(l, r), t + r * t_step);
    WGI_RUNS(l, r) {
        const size_t i = l->simd->centred(l->len, p + wgi_line_start(l, r), t + r * t_step, s,
                                          to + r * to_step);
        if (i == l->len) continue;
        double lead = 0;
        WGI_RUNS(l, k)
        for (size_t j = 0; j < l->len; j++)
            lead +=
                wgi_times(p[wgi_line_start(l, k) + j], t[r * t_step + i] - t[k * t_step + j]);
        to[r * to_step + i] += wgi_times(p[wgi_line_start(l, r) + i], lead);
    }
}
static void softmax_vjp(const wgi_line *l) {
    add_centred(l, l->w, l->len, l->bar[0], l->bar_stride[0]);
}
static void softmax_jvp(const wgi_line *l) {
    memset(l->w, 0, l->n * sizeof(double));
    add_centred(l, l->bar[0], l->bar_stride[0], l->w, l->len);
}

/* saved: p = softmax(x), for log-softmax and cross-entropies */

static void log_softmax_done(const wgi_line *l, double m, double rest) {
    const double log_sum = log1p(rest);
    scale(l->simd, l->n, 1 / (1 + rest), l->saved);
    WGI_RUNS(l, r) {
        const double *const x = wgi_line_of(l, 0, r);
        double *const y = l->y + wgi_line_start(l, r);
        for (size_t i = 0; i < l->len; i++) y[i] = -below(m, x[i]) - log_sum;
    }
}
static void log_softmax_value(const wgi_line *l) {
    if (l->n == 0) return;
    const double m = wgi_line_top(l);
    log_softmax_done(l, m, exponentials(l, m, l->saved));
}
static void log_softmax_values(const wgi_line *l, size_t lines) {
    of_short_lines(l, lines, log_softmax_done);
}
/* c - p s with s the sum of all c; of the one p above 1/2 without the difference that cancels:
 * c (1 - p) - p (s - c), each summed up over the others. */
static double less_share(const double *p, size_t n, size_t i, const double *c, double s) {
    if (!(p[i] > 0.5)) return c[i] - wgi_times(p[i], s);
    double others_p = 0, others_c = 0;
    for (size_t j = 0; j < n; j++)
        if (j != i) others_p += p[j], others_c += c[j];
    return wgi_times(c[i], others_p) - wgi_times(p[i], others_c);
}
static void log_softmax_vjp(const wgi_line *l) {
    const double s = l->simd->sum(l->n, l->w);
    WGI_RUNS(l, r) {
        double *const bar = wgi_line_bar(l, 0, r);
        const size_t at = wgi_line_start(l, r);
        for (size_t i = 0; i < l->len; i++)
            bar[i] += less_share(l->saved, l->n, at + i, l->w, s);
    }
}
/* w_i = t_i - s with s the mean of t by p; where p is above 1/2 summed up as differences. */
static double less_mean(const wgi_line *l, double at, double p, double s) {
    if (!(p > 0.5)) return at - s;
    double sum = 0;
    WGI_RUNS(l, r) {
        const double *const t = wgi_line_bar(l, 0, r), *const q =
                                                           l->saved + wgi_line_start(l, r);
        for (size_t i = 0; i < l->len; i++) sum += wgi_times(q[i], at - t[i]);
    }
    return sum;
}
static void log_softmax_jvp(const wgi_line *l) {
    double s = 0;
    WGI_RUNS(l, r)
    s +=
        wgi_line_inner(l->simd, l->len, l->saved + wgi_line_start(l, r), wgi_line_bar(l, 0, r));
    WGI_RUNS(l, r) {
        const double *const t = wgi_line_bar(l, 0, r);
        const size_t at = wgi_line_start(l, r);
        for (size_t i = 0; i < l->len; i++)
            l->w[at + i] = less_mean(l, t[i], l->saved[at + i], s);
    }
}

/* ---- cross-entropies ---- */

/* saved: g = p, less 1 at the label as a sum over the others */
static void cross_entropy_done(const wgi_line *l, double m, double rest) {
    const size_t label = l->p->label[l->number];
    const double x = wgi_line_of(l, 0, label / l->len)[label % l->len], sum = 1 + rest;
    const double others = x == m ? rest : sum - l->saved[label];
    scale(l->simd, l->n, 1 / sum, l->saved);
    l->saved[label] = -others / sum;
    *l->y = below(m, x) + log1p(rest);
}
static void cross_entropy_value(const wgi_line *l) {
    const double m = wgi_line_top(l);
    cross_entropy_done(l, m, exponentials(l, m, l->saved));
}
static void cross_entropy_values(const wgi_line *l, size_t lines) {
    of_short_lines(l, lines, cross_entropy_done);
}
static void cross_entropy_vjp(const wgi_line *l) {
    if (*l->w == 0) return;
    WGI_RUNS(l, r)
    l->simd->axpy(l->len, *l->w, l->saved + wgi_line_start(l, r), wgi_line_bar(l, 0, r));
}
static void cross_entropy_slope(const wgi_line *l, size_t at, size_t n, const double *x,
                                double *g) {
    (void)x;
    memcpy(g, l->saved + at, n * sizeof(double));
}

/* saved: p, then m and the logarithm of the sum */
static void cross_entropy_soft_value(const wgi_line *l) {
    double m = 0, y = 0, log_sum = 0;
    if (l->n != 0) {
        m = wgi_line_top(l);
        const double rest = exponentials(l, m, l->saved);
        scale(l->simd, l->n, 1 / (1 + rest), l->saved);
        log_sum = log1p(rest);
    }
    l->saved[l->n] = m;
    l->saved[l->n + 1] = log_sum;
    WGI_RUNS(l, r) {
        const double *const x = wgi_line_of(l, 0, r), *const q = wgi_line_of(l, 1, r);
        for (size_t i = 0; i < l->len; i++) y += wgi_times(q[i], below(m, x[i]) + log_sum);
    }
    *l->y = y;
}
static double soft_slope(const wgi_line *l, size_t r, size_t i, double sum_q) {
    const double *const p = l->saved, p_i = p[wgi_line_start(l, r) + i],
                        q_i = wgi_line_of(l, 1, r)[i];
    if (!(p_i > 0.5)) return wgi_times(p_i, sum_q) - q_i;
    double others_p = 0, others_q = 0;
    WGI_RUNS(l, s)
    for (size_t j = 0; j < l->len; j++)
        if (s != r || j != i)
            others_p += p[wgi_line_start(l, s) + j], others_q += wgi_line_of(l, 1, s)[j];
    return wgi_times(p_i, others_q) - wgi_times(q_i, others_p);
}
static double sum_weights(const wgi_line *l) {
    double s = 0;
    WGI_RUNS(l, r) s += l->simd->sum(l->len, wgi_line_of(l, 1, r));
    return s;
}
static void cross_entropy_soft_vjp(const wgi_line *l) {
    const double w = *l->w, sum_q = sum_weights(l);
    const double m = l->saved[l->n], log_sum = l->saved[l->n + 1];
    if (w == 0) return;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        if (l->bar[0] != NULL)
            wgi_line_bar(l, 0, r)[i] += wgi_times(w, soft_slope(l, r, i, sum_q));
        if (l->bar[1] != NULL)
            wgi_line_bar(l, 1, r)[i] +=
                wgi_times(w, below(m, wgi_line_of(l, 0, r)[i]) + log_sum);
    }
}
static void cross_entropy_soft_jvp(const wgi_line *l) {
    const double sum_q = sum_weights(l), m = l->saved[l->n], log_sum = l->saved[l->n + 1];
    double t = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) {
        if (l->bar[0] != NULL)
            t += wgi_times(wgi_line_bar(l, 0, r)[i], soft_slope(l, r, i, sum_q));
        if (l->bar[1] != NULL)
            t += wgi_times(wgi_line_bar(l, 1, r)[i],
                           below(m, wgi_line_of(l, 0, r)[i]) + log_sum);
    }
    *l->w = t;
}

/* ---- adjoints in operations on matrices: P softmax, W the adjoints, of lines as
 * columns ---- */

static wg_status pair_shape(wg_block *b) {
    b->out->rows = b->in->rows, b->out->cols = b->in->cols;
    return WG_OK;
}

/* c_i = w_i - s, s the mean of w by p; where p is above 1/2 summed up as differences. */
static void apart_from_mean(size_t n, const double *p, const double *w, double *c) {
    const double s = wgi_line_inner(wgi_simd_best(), n, p, w);
    for (size_t i = 0; i < n; i++) {
        c[i] = w[i] - s;
        if (!(p[i] > 0.5)) continue;
        c[i] = 0;
        for (size_t j = 0; j < n; j++) c[i] += wgi_times(p[j], w[i] - w[j]);
    }
}
/* c_i = w_i - p_i s, s the sum of w. */
static void less_shares(size_t n, const double *p, const double *w, double *c) {
    const double s = wgi_simd_best()->sum(n, w);
    for (size_t i = 0; i < n; i++) c[i] = less_share(p, n, i, w, s);
}

static wg_status apart_value(wg_block *b) {
    const wg_block_arg *const p = &b->in[0], *const w = &b->in[1];
    for (size_t j = 0; j < p->cols; j++)
        apart_from_mean(p->rows, p->value + j * p->ld, w->value + j * w->ld,
                        b->out->value + j * p->rows);
    return WG_OK;
}
/* The sum of all tangents of p is 0: that of pt w is that of pt c. */
static wg_status apart_jvp(wg_block *b) {
    const wg_block_arg *const p = &b->in[0], *const w = &b->in[1];
    const size_t n = p->rows;
    double *ct = memset(b->out->bar, 0, n * p->cols * sizeof(double));
    for (size_t j = 0; j < p->cols; j++, ct += n) {
        if (w->bar != NULL)
            apart_from_mean(n, p->value + j * p->ld, w->bar + j * w->bar_ld, ct);
        if (p->bar == NULL) continue;
        const double s =
            wgi_line_inner(wgi_simd_best(), n, p->bar + j * p->bar_ld, b->out->value + j * n);
        for (size_t i = 0; i < n; i++) ct[i] -= s;
    }
    return WG_OK;
}

static wg_status shares_value(wg_block *b) {
    const wg_block_arg *const p = &b->in[0], *const w = &b->in[1];
    for (size_t j = 0; j < p->cols; j++)
        less_shares(p->rows, p->value + j * p->ld, w->value + j * w->ld,
                    b->out->value + j * p->rows);
    return WG_OK;
}
static wg_status shares_jvp(wg_block *b) {
    const wg_block_arg *const p = &b->in[0], *const w = &b->in[1];
    const size_t n = p->rows;
    double *ct = memset(b->out->bar, 0, n * p->cols * sizeof(double));
    for (size_t j = 0; j < p->cols; j++, ct += n) {
        if (w->bar != NULL) less_shares(n, p->value + j * p->ld, w->bar + j * w->bar_ld, ct);
        if (p->bar == NULL) continue;
        const double s = wgi_simd_best()->sum(n, w->value + j * w->ld);
        for (size_t i = 0; i < n; i++) ct[i] -= wgi_times(p->bar[i + j * p->bar_ld], s);
    }
    return WG_OK;
}

static wg_mat of_pair(wg_tape *t, int shares, wg_mat p, wg_mat w) {
    static const wg_block_op ops[2] = {{"adjoint of wg_mat_softmax", 0, pair_shape, apart_value,
                                        NULL, apart_jvp, NULL, NULL, NULL},
                                       {"adjoint of wg_mat_log_softmax", 0, pair_shape,
                                        shares_value, NULL, shares_jvp, NULL, NULL, NULL}};
    const wg_mat in[2] = {p, w};
    return wgi_apply_one(t, &ops[shares], NULL, 0, 2, in);
}

/* P (W - mean of W by P) */
static wg_status softmax_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat p = wgi_line_columns(t, out[0], axis);
    const wg_mat c = of_pair(t, 0, p, wgi_line_columns(t, bar[0], axis));
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, p, c), &in[0], axis);
    return wg_tape_status(t);
}

/* W - P sum of W */
static wg_status log_softmax_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                     const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat y = wgi_line_columns(t, out[0], axis);
    const wg_mat p = wgi_line_valued(wg_mat_exp(t, y), b->saved, y.rows);
    back[0] = wgi_line_uncolumned(t, of_pair(t, 1, p, wgi_line_columns(t, bar[0], axis)),
                                  &in[0], axis);
    return wg_tape_status(t);
}

/* w P */
static wg_status logsumexp_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat p = wg_mat_softmax(t, wgi_line_columns(t, in[0], axis), WG_EACH_COL);
    (void)out;
    back[0] =
        wgi_line_uncolumned(t, wg_mat_mul(t, wgi_line_numbers(bar[0], axis), p), &in[0], axis);
    return wg_tape_status(t);
}

/* w (P less 1 at the label), which was kept. */
static wg_status cross_entropy_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                       const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat p = wg_mat_softmax(t, wgi_line_columns(t, in[0], axis), WG_EACH_COL);
    const wg_mat g = wgi_line_valued(p, b->saved, p.rows);
    (void)out;
    back[0] =
        wgi_line_uncolumned(t, wg_mat_mul(t, wgi_line_numbers(bar[0], axis), g), &in[0], axis);
    return wg_tape_status(t);
}

/* To x: w (P sum of q - q); to q: - w log P. */
static wg_status cross_entropy_soft_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                            const wg_mat *out, const wg_mat *bar,
                                            wg_mat *back) {
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat x = wgi_line_columns(t, in[0], axis), q = wgi_line_columns(t, in[1], axis);
    const wg_mat log_p = wg_mat_log_softmax(t, x, WG_EACH_COL);
    const wg_mat less = wg_mat_scale(t, -1, wgi_line_numbers(bar[0], axis));
    (void)out;
    const wg_mat p = wg_mat_exp(t, log_p);
    const double *const residual = b->saved;
    double *const value = wg_tape_keep(t, p.rows * p.cols * sizeof(double), NULL);
    for (size_t j = 0; value != NULL && j < p.cols; j++)
        memcpy(value + j * p.rows, residual + j * (p.rows + 2), p.rows * sizeof(double));
    if (wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    const wg_mat slope = of_pair(t, 1, wgi_line_valued(p, value, p.rows), q);
    back[0] = wgi_line_uncolumned(t, wg_mat_mul(t, less, slope), &in[0], axis);
    back[1] = wgi_line_uncolumned(t, wg_mat_mul(t, less, log_p), &in[1], axis);
    return wg_tape_status(t);
}

/* ---- written out, as a part of a function ---- */

static void logsumexp_expand(wg_tape *t, const wgi_written *l) {
    *l->y = wg_logsumexp(t, l->n, l->x[0]);
}

/* room = x less the largest of them, which is exactly 0 itself, without derivative, where it is
 * the only one: the slope by it is then what those of the others leave, and nothing cancels
 * where its share is nearly all. Infinite largest ones share. */
static void shift(wg_tape *t, const wgi_written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->room[i] = wg_let(t, wg_clamp(l->x[0][i], -INFINITY, DBL_MAX));
    const wg_real largest = wg_maximum(t, l->n, l->room);
    wg_real ties = wg_constant(0);
    for (size_t i = 0; i < l->n; i++)
        ties = wg_let(t, wg_add(ties, wg_select_eq(l->room[i], largest, 1, 0)));
    const wg_real only = wg_let(t, wg_select_eq(ties, 1, largest, INFINITY));
    const wg_real nothing = wg_let(t, wg_select_eq(largest, -INFINITY, largest, only));
    for (size_t i = 0; i < l->n; i++)
        l->room[i] =
            wg_let(t, wg_select_eq(l->room[i], nothing, 0, wg_sub(l->room[i], largest)));
}
static void softmax_expand(wg_tape *t, const wgi_written *l) {
    if (l->n == 0) return;
    shift(t, l);
    for (size_t i = 0; i < l->n; i++) l->room[i] = wg_let(t, wg_exp(l->room[i]));
    const wg_real sum = wg_sum(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->y[i] = wg_let(t, wg_div(l->room[i], sum));
}
static void log_softmax_expand(wg_tape *t, const wgi_written *l) {
    if (l->n == 0) return;
    shift(t, l);
    const wg_real log_sum = wg_logsumexp(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) l->y[i] = wg_let(t, wg_sub(l->room[i], log_sum));
}

/* Of differences with the label's: nothing cancels, in the slopes neither. */
static void cross_entropy_expand(wg_tape *t, const wgi_written *l) {
    const size_t label = l->p->label[l->number];
    for (size_t i = 0; i < l->n; i++)
        l->room[i] =
            i == label ? wg_constant(0) : wg_let(t, wg_sub(l->x[0][i], l->x[0][label]));
    *l->y = wg_logsumexp(t, l->n, l->room);
}
static void cross_entropy_soft_expand(wg_tape *t, const wgi_written *l) {
    *l->y = wg_constant(0);
    if (l->n == 0) return;
    shift(t, l);
    const wg_real log_sum = wg_logsumexp(t, l->n, l->room);
    for (size_t i = 0; i < l->n; i++) {
        const wg_real q = l->x[1][i], loss = wg_let(t, wg_sub(log_sum, l->room[i]));
        /* 0 for a q of 0, beside an infinite loss too */
        *l->y = wg_let(t, wg_add(*l->y, wg_select_eq(q, 0, wg_mul(q, wg_fmin(loss, DBL_MAX)),
                                                     wg_mul(q, loss))));
    }
}

/* ---- descriptors ---- */

static wg_status labels(wg_block *b) {
    const wgi_line_params *const p = b->params;
    const size_t n = wgi_line_length(b->in, p->axis), count = wgi_line_count(b->in, p->axis);
    if (p->label == NULL && count != 0) return WG_ENULL;
    for (size_t i = 0; i < count; i++)
        if (p->label[i] >= n)
            return wgi_block_refuse(b, WG_EARG,
                                    "a label is not less than the number of classes");
    return WG_OK;
}

WGI_LINE_NUMBER(logsumexp, 0, 2, 0, wgi_line_slope_vjp, wgi_line_slope_jvp, logsumexp_slope,
                logsumexp_adjoint, wgi_line_anything);
WGI_LINES_OP(cross_entropy, 0, 1, 0, 0, 0, 1, cross_entropy_values, cross_entropy_vjp,
             wgi_line_slope_jvp, cross_entropy_slope, cross_entropy_adjoint, labels);
WGI_LINE_OP(cross_entropy_soft, 0, 2, 0, 0, 2, 1, cross_entropy_soft_vjp,
            cross_entropy_soft_jvp, NULL, cross_entropy_soft_adjoint, wgi_line_anything);
WGI_LINES_OP(softmax, 0, 1, 0, 1, 0, 0, softmax_values, softmax_vjp, softmax_jvp, NULL,
             softmax_adjoint, wgi_line_anything);
WGI_LINES_OP(log_softmax, 0, 1, 0, 1, 0, 1, log_softmax_values, log_softmax_vjp,
             log_softmax_jvp, NULL, log_softmax_adjoint, wgi_line_anything);

WGI_REDUCTION(logsumexp)
WGI_ALONG(softmax)
WGI_ALONG(log_softmax)

wg_mat wg_mat_cross_entropy(wg_tape *t, wg_mat a, const size_t *label, wg_axis axis) {
    const size_t count = axis == WG_ALL ? 1 : axis == WG_EACH_COL ? a.cols : a.rows;
    const size_t *const copy =
        label != NULL ? wg_tape_keep(t, count * sizeof *label, label) : NULL;
    /* no copy: there are none, or the tape has failed and only looks at the shape */
    return wgi_line_apply(t, &op_cross_entropy, axis, 0, copy != NULL ? copy : label, 1, &a);
}

wg_mat wg_mat_cross_entropy_soft(wg_tape *t, wg_mat a, wg_mat q, wg_axis axis) {
    const wg_mat in[] = {a, q};
    return wgi_line_apply(t, &op_cross_entropy_soft, axis, 0, NULL, 2, in);
}
