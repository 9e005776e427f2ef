/* SPDX-License-Identifier: MIT */
/* Cumulative sums and products along lines. The letters are those of lines.h. */
#include "lines.h"

static void cumulate(const wgi_line *l, double *(*of)(const wgi_line *, int, size_t),
                     double *y) {
    double s = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) *y++ = s += of(l, 0, r)[i];
}
static void cumsum_value(const wgi_line *l) { cumulate(l, wgi_line_of, l->y); }
static void cumsum_jvp(const wgi_line *l) { cumulate(l, wgi_line_bar, l->w); }
static void cumsum_vjp(const wgi_line *l) {
    double s = 0;
    const double *w = l->w + l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) wgi_line_bar(l, 0, r)[i] += s += *--w;
}

static void cumprod_value(const wgi_line *l) {
    double p = 1, *y = l->y;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++) *y++ = p *= wgi_line_of(l, 0, r)[i];
}
static void cumprod_vjp(const wgi_line *l) {
    double s = 0, next = 0;
    size_t k = l->n;
    for (size_t r = l->pieces; r-- > 0;)
        for (size_t i = l->len; i-- > 0;) {
            s = l->w[--k] + wgi_times(s, next);
            next = wgi_line_of(l, 0, r)[i];
            wgi_line_bar(l, 0, r)[i] += wgi_times(k != 0 ? l->y[k - 1] : 1.0, s);
        }
}
static void cumprod_jvp(const wgi_line *l) {
    double t = 0;
    size_t k = 0;
    WGI_RUNS(l, r)
    for (size_t i = 0; i < l->len; i++, k++) {
        t = wgi_times(t, wgi_line_of(l, 0, r)[i]) +
            wgi_times(k != 0 ? l->y[k - 1] : 1.0, wgi_line_bar(l, 0, r)[i]);
        l->w[k] = t;
    }
}

/* ---- adjoint in operations on matrices ---- */

/* What cumprod_vjp gives, of columns x and w: b_i = w_i + x_i+1 b_i+1, and that times y_i-1. */
static wg_status back_shape(wg_block *b) {
    b->out->rows = b->in->rows, b->out->cols = b->in->cols;
    return WG_OK;
}
static wg_status back_run(wg_block *b, int tangent) {
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1], *const y = &b->in[2];
    const size_t n = x->rows;
    for (size_t j = 0; j < x->cols; j++) {
        double s = 0, st = 0, next = 0, next_t = 0;
        for (size_t i = n; i-- > 0;) {
            const size_t at = i + j * n;
            const double before = i != 0 ? y->value[i - 1 + j * y->ld] : 1;
            if (tangent) {
                const double wt = w->bar != NULL ? w->bar[i + j * w->bar_ld] : 0;
                const double before_t =
                    i != 0 && y->bar != NULL ? y->bar[i - 1 + j * y->bar_ld] : 0;
                st = wt + wgi_times(st, next) + wgi_times(s, next_t);
                s = w->value[i + j * w->ld] + wgi_times(s, next);
                next_t = x->bar != NULL ? x->bar[i + j * x->bar_ld] : 0;
                b->out->bar[at] = wgi_times(before_t, s) + wgi_times(before, st);
            } else {
                s = w->value[i + j * w->ld] + wgi_times(s, next);
                b->out->value[at] = wgi_times(before, s);
            }
            next = x->value[i + j * x->ld];
        }
    }
    return WG_OK;
}
static wg_status back_value(wg_block *b) { return back_run(b, 0); }
static wg_status back_jvp(wg_block *b) { return back_run(b, 1); }

static wg_status cumprod_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_mat_cumprod",
                                   0,
                                   back_shape,
                                   back_value,
                                   NULL,
                                   back_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const wg_axis axis = wgi_line_axis(b);
    const wg_mat of[3] = {wgi_line_columns(t, in[0], axis), wgi_line_columns(t, bar[0], axis),
                          wgi_line_columns(t, out[0], axis)};
    wg_mat columns;
    const wg_status s = wg_apply(t, &op, NULL, 0, 3, of, 1, &columns);
    back[0] = wgi_line_uncolumned(t, columns, &in[0], axis);
    return s;
}

/* ---- written out, as a part of a function ---- */

static void cumsum_expand(wg_tape *t, const wgi_written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = i == 0 ? l->x[0][0] : wg_let(t, wg_add(l->y[i - 1], l->x[0][i]));
}
static void cumprod_expand(wg_tape *t, const wgi_written *l) {
    for (size_t i = 0; i < l->n; i++)
        l->y[i] = i == 0 ? l->x[0][0] : wg_let(t, wg_mul(l->y[i - 1], l->x[0][i]));
}

/* ---- descriptors ---- */

WGI_LINE_OP(cumsum, WG_OP_LINEAR, 1, 0, 1, 0, 0, cumsum_vjp, cumsum_jvp, NULL, NULL,
            wgi_line_anything);
WGI_LINE_OP(cumprod, 0, 1, 0, 1, 0, 0, cumprod_vjp, cumprod_jvp, NULL, cumprod_adjoint,
            wgi_line_anything);

WGI_ALONG(cumsum)
WGI_ALONG(cumprod)
