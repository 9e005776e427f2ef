/* SPDX-License-Identifier: MIT */
/* Pooling: the largest, or the average, of the pixels in a window, in each channel by itself.
 * Images are those of a convolution (products.h).
 *
 *   largest: r = x at the first pixel of the window where it is, column after column: x_
 *   there += r_.
 *            saved: the number of that element of x. A NaN is larger than all numbers.
 *   average: r = sum of x / area, area that of the window, padding being zeros:
 *   x_ += r_ / area.
 */
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "expand.h"
#include "call.h"
#include "traits.h"

#include <limits.h>
#include <math.h>
#include <string.h>

struct sizes {
    size_t batch, image[2], kernel[2], stride[2], pad[2], result[2];
    wg_status status; /* found by the call */
    const char *why;
};

static const struct sizes *sizes_of(const wg_block *b) {
    return (const struct sizes *)b->params;
}
static size_t pixels_of(const struct sizes *s) {
    return s->result[0] * s->result[1] * s->batch;
}

static wg_status pool_shape(wg_block *b) {
    const struct sizes *const s = sizes_of(b);
    size_t pixels, outs, all;
    if (s->status != WG_OK) return wgi_block_refuse(b, s->status, s->why);
    if (__builtin_mul_overflow(s->image[0], s->image[1], &pixels) ||
        __builtin_mul_overflow(pixels, s->batch, &pixels) || b->in[0].cols != pixels)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the image has other columns than height width batch");
    if (__builtin_mul_overflow(s->result[0], s->result[1], &outs) ||
        __builtin_mul_overflow(outs, s->batch, &outs) || outs > INT_MAX ||
        __builtin_mul_overflow(outs, b->in[0].rows, &all) || all > SIZE_MAX / 64)
        return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = outs;
    return WG_OK;
}

/* The window of pixel i of the result: its pixels in the image are columns
 * first + h + high w of x, h < size[0], w < size[1]. */
struct window {
    size_t first, size[2], high;
};

static struct window window_of(const struct sizes *s, size_t i) {
    const size_t at[2] = {i % s->result[0], i / s->result[0] % s->result[1]};
    struct window v = {i / s->result[0] / s->result[1], {0, 0}, s->image[0]};
    size_t from[2];
    for (int d = 0; d < 2; d++) {
        const size_t low = at[d] * s->stride[d], end = low + s->kernel[d];
        from[d] = low < s->pad[d] ? 0 : low - s->pad[d];
        const size_t to = end - s->pad[d] < s->image[d] ? end - s->pad[d] : s->image[d];
        v.size[d] = to > from[d] ? to - from[d] : 0;
    }
    v.first = (v.first * s->image[1] + from[1]) * s->image[0] + from[0];
    return v;
}

/* Its pixel number e. */
static size_t pixel_of(const struct window *v, size_t e) {
    return v->first + e % v->size[0] + v->high * (e / v->size[0]);
}

/* ---- the largest ---- */

static wg_status max_shape(wg_block *b) {
    const wg_status s = pool_shape(b);
    if (s == WG_OK) b->saved_bytes = b->out[0].rows * b->out[0].cols * sizeof(size_t);
    return s;
}

static wg_status max_value(wg_block *b) {
    const struct sizes *const s = sizes_of(b);
    const wg_block_arg *const x = &b->in[0];
    const size_t c = x->rows, pixels = pixels_of(s);
    double *y = b->out[0].value;
    size_t *at = b->saved;
    for (size_t i = 0; i < pixels; i++, y += c, at += c) {
        const struct window v = window_of(s, i);
        for (size_t k = 0; k < c; k++) at[k] = v.first * c + k;
        memcpy(y, x->value + v.first * x->ld, c * sizeof *y);
        for (size_t e = 1; e < v.size[0] * v.size[1]; e++) {
            const size_t pixel = pixel_of(&v, e);
            const double *const z = x->value + pixel * x->ld;
            for (size_t k = 0; k < c; k++)
                if (!(z[k] <= y[k]) && !isnan(y[k])) y[k] = z[k], at[k] = pixel * c + k;
        }
    }
    return WG_OK;
}

/* Where element number e of x stands. */
static size_t place(const wg_block_arg *x, size_t e) {
    return e % x->rows + e / x->rows * x->bar_ld;
}

static wg_status max_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    const size_t *const at = b->saved;
    for (size_t e = 0; e < y->rows * y->cols; e++) x->bar[place(x, at[e])] += y->bar[e];
    return WG_OK;
}

static wg_status max_jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const y = &b->out[0];
    const size_t *const at = b->saved;
    for (size_t e = 0; e < y->rows * y->cols; e++) y->bar[e] = x->bar[place(x, at[e])];
    return WG_OK;
}

/* At every point by selection: what is not at most the largest so far, unless that is a NaN. */
static wg_status max_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct sizes *const s = sizes_of(b);
    const size_t c = b->in[0].rows;
    for (size_t i = 0; i < pixels_of(s); i++)
        for (size_t k = 0; k < c; k++, y++) {
            const struct window v = window_of(s, i);
            *y = x[v.first * c + k];
            for (size_t e = 1; e < v.size[0] * v.size[1]; e++) {
                const wg_real z = x[pixel_of(&v, e) * c + k];
                *y = wg_let(t, wg_select_ne(*y, *y, *y, wg_select_le(z, *y, *y, z)));
            }
        }
    return wg_tape_status(t);
}

static wg_status max_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                             const wg_mat *bar, wg_mat *back) {
    (void)out;
    if (bar[0].rows * bar[0].cols != 0)
        back[0] = wg_scatter_add(t, wg_mat_fill(t, in[0].rows, in[0].cols, 0), bar[0],
                                 (const size_t *)b->saved);
    return wg_tape_status(t);
}

/* ---- the average ---- */

static double share_of(const struct sizes *s) {
    return 1 / ((double)s->kernel[0] * (double)s->kernel[1]);
}

static void average(const wg_block *b, const double *x, size_t ld, double *y) {
    const struct sizes *const s = sizes_of(b);
    const size_t c = b->in[0].rows;
    const double share = share_of(s);
    for (size_t i = 0; i < pixels_of(s); i++, y += c) {
        const struct window v = window_of(s, i);
        memset(y, 0, c * sizeof *y);
        for (size_t e = 0; e < v.size[0] * v.size[1]; e++) {
            const double *const z = x + pixel_of(&v, e) * ld;
            for (size_t k = 0; k < c; k++) y[k] += z[k];
        }
        for (size_t k = 0; k < c; k++) y[k] *= share;
    }
}

static wg_status average_value(wg_block *b) {
    average(b, b->in[0].value, b->in[0].ld, b->out[0].value);
    return WG_OK;
}

static wg_status average_jvp(wg_block *b) {
    average(b, b->in[0].bar, b->in[0].bar_ld, b->out[0].bar);
    return WG_OK;
}

static wg_status average_vjp(wg_block *b) {
    const struct sizes *const s = sizes_of(b);
    const wg_block_arg *const x = &b->in[0];
    const size_t c = x->rows;
    const double share = share_of(s), *w = b->out[0].bar;
    for (size_t i = 0; i < pixels_of(s); i++, w += c) {
        const struct window v = window_of(s, i);
        for (size_t e = 0; e < v.size[0] * v.size[1]; e++) {
            double *const to = x->bar + pixel_of(&v, e) * x->bar_ld;
            for (size_t k = 0; k < c; k++) to[k] += share * w[k];
        }
    }
    return WG_OK;
}

static wg_status average_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct sizes *const s = sizes_of(b);
    const size_t c = b->in[0].rows;
    for (size_t i = 0; i < pixels_of(s); i++)
        for (size_t k = 0; k < c; k++, y++) {
            const struct window v = window_of(s, i);
            *y = wg_constant(0);
            for (size_t e = 0; e < v.size[0] * v.size[1]; e++)
                *y = wgi_expand_plus(t, *y, x[pixel_of(&v, e) * c + k]);
            *y = wgi_expand_scaled(t, share_of(s), *y);
        }
    return wg_tape_status(t);
}

/* ---- calls ---- */

const wg_block_op wgi_op_max_pool2d = {"wg_max_pool2d", WG_OP_EXPANDS, max_shape,
                                       max_value,       max_vjp,       max_jvp,
                                       max_expand,      max_adjoint,   NULL};
const wg_block_op wgi_op_average_pool2d = {"wg_average_pool2d",
                                           WG_OP_EXPANDS | WG_OP_LINEAR,
                                           pool_shape,
                                           average_value,
                                           average_vjp,
                                           average_jvp,
                                           average_expand,
                                           NULL,
                                           NULL};

/* The length of the result in direction d, or what is wrong. */
static const char *length(struct sizes *s, int d) {
    if (s->stride[d] == 0) s->stride[d] = s->kernel[d];
    if (s->image[d] > INT_MAX || s->kernel[d] > INT_MAX || s->pad[d] > INT_MAX ||
        s->stride[d] > INT_MAX)
        return "a size larger than BLAS can take";
    if (s->kernel[d] == 0) return "a window of no size";
    if (s->pad[d] >= s->kernel[d]) return "padding as wide as the window";
    const size_t room = s->image[d] + 2 * s->pad[d];
    s->result[d] =
        s->image[d] == 0 || room < s->kernel[d] ? 0 : (room - s->kernel[d]) / s->stride[d] + 1;
    return NULL;
}

static wg_mat pool(wg_tape *t, const wg_block_op *op, const wg_pool *given, wg_mat x) {
    struct sizes s;
    memset(&s, 0, sizeof s);
    if (given == NULL) s.status = WG_ENULL, s.why = "the sizes are NULL";
    else {
        s.batch = given->batch;
        s.image[0] = given->height, s.image[1] = given->width;
        s.kernel[0] = given->kernel_height, s.kernel[1] = given->kernel_width;
        memcpy(s.stride, given->stride, sizeof s.stride);
        memcpy(s.pad, given->pad, sizeof s.pad);
    }
    for (int d = 0; d < 2 && s.status == WG_OK; d++)
        if ((s.why = length(&s, d)) != NULL) s.status = WG_EARG;
    return wgi_apply_one(t, op, &s, sizeof s, 1, &x);
}

wg_mat wg_max_pool2d(wg_tape *t, const wg_pool *s, wg_mat x) {
    return pool(t, &wgi_op_max_pool2d, s, x);
}
wg_mat wg_average_pool2d(wg_tape *t, const wg_pool *s, wg_mat x) {
    return pool(t, &wgi_op_average_pool2d, s, x);
}
