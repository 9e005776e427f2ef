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

WGI_LINE_OP(cumsum, WG_OP_LINEAR, 1, 0, 1, 0, 0, cumsum_vjp, cumsum_jvp, NULL,
            wgi_line_anything);
WGI_LINE_OP(cumprod, 0, 1, 0, 1, 0, 0, cumprod_vjp, cumprod_jvp, NULL, wgi_line_anything);

WGI_ALONG(cumsum)
WGI_ALONG(cumprod)
