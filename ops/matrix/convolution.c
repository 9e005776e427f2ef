/* SPDX-License-Identifier: MIT */
/* Convolutions and their transposes as operations; the maps that they are made of:
 * convolution_maps.c. */
#include <wengert/products.h>
#include "convolution.h"
#include "expand.h"
#include "call.h"
#include "traits.h"
#include "view.h"

#include <limits.h>
#include <string.h>

static const char no_sizes[] = "the sizes are NULL";

static const wgi_conv_sizes *sizes_of(const wg_block *b) {
    return (const wgi_conv_sizes *)b->params;
}

/* ---- the operations: a convolution has x as its operand and r as its result, the transpose
 * r and x ---- */

static wg_status conv_shape(wg_block *b) {
    const wgi_conv_sizes *const s = sizes_of(b);
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1];
    size_t pixels, kernels, outs;
    wgi_conv_plan p;
    if (s->bad != NULL)
        return wgi_block_refuse(b, s->bad == no_sizes ? WG_ENULL : WG_EARG, s->bad);
    if (s->filters % s->groups != 0)
        return wgi_block_refuse(b, WG_EARG, "filters do not divide among the groups");
    if (__builtin_mul_overflow(s->kernel[0], s->kernel[1], &kernels) ||
        __builtin_mul_overflow(kernels, s->filters, &kernels) || w->cols != kernels)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the filters have other columns than kernel times filters");
    if (__builtin_mul_overflow(s->image[0], s->image[1], &pixels) ||
        __builtin_mul_overflow(pixels, s->batch, &pixels) || (s->back && pixels > INT_MAX))
        return wgi_block_refuse(b, WG_ESHAPE, "images larger than BLAS can take");
    if (__builtin_mul_overflow(s->result[0], s->result[1], &outs) ||
        __builtin_mul_overflow(outs, s->batch, &outs) || outs > INT_MAX || s->filters > INT_MAX)
        return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    if (x->cols != (s->back ? outs : pixels))
        return wgi_block_refuse(b, WG_ESHAPE,
                                s->back
                                    ? "other columns than the convolution of such images has"
                                    : "the image has other columns than height width batch");
    if (s->back ? x->rows != s->filters
                : w->rows > SIZE_MAX / s->groups || x->rows != w->rows * s->groups)
        return wgi_block_refuse(b, WG_ESHAPE,
                                s->back ? "rows are not one for each filter"
                                        : "image and filters differ in channels");
    if (!wgi_conv_plan_of(s, w, &p, &b->work_bytes))
        return wgi_block_refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    b->out[0].rows = s->back ? p.channels : s->filters;
    b->out[0].cols = s->back ? pixels : outs;
    if (b->inputs > 2 && wgi_length(&b->in[2]) != b->out[0].rows)
        return wgi_block_refuse(b, WG_ESHAPE,
                                s->back ? "the bias is not one number per channel"
                                        : "the bias is not one number per filter");
    return WG_OK;
}

/* From one number of a bias to the next, lying either way. */
static size_t bias_step(const wg_block_arg *bias, size_t ld) { return bias->cols > 1 ? ld : 1; }

/* Every column of y = the bias, or 0 where it is NULL. */
static void fill(const wg_block_arg *out, const double *bias, size_t step, double *y) {
    for (size_t i = 0; i < out->cols; i++, y += out->rows)
        for (size_t k = 0; k < out->rows; k++) y[k] = bias == NULL ? 0 : bias[k * step];
}

/* y += the map of a by w. */
static void apply(const wgi_conv_plan *p, const double *a, size_t a_ld, const double *w,
                  size_t w_ld, double *y, size_t y_ld) {
    if (p->s->back) wgi_conv_to_image(p, y, y_ld, w, w_ld, a, a_ld);
    else wgi_conv_to_result(p, a, a_ld, w, w_ld, y, y_ld);
}

static wg_status conv_value(wg_block *b) {
    wgi_conv_plan p;
    wgi_conv_open(sizes_of(b), &b->in[1], b->work, &p);
    const wg_block_arg *const y = &b->out[0];
    if (b->inputs > 2) fill(y, b->in[2].value, bias_step(&b->in[2], b->in[2].ld), y->value);
    else fill(y, NULL, 0, y->value);
    apply(&p, b->in[0].value, b->in[0].ld, b->in[1].value, b->in[1].ld, y->value, y->ld);
    return WG_OK;
}

static wg_status conv_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1], *const y = &b->out[0];
    wgi_conv_plan p;
    wgi_conv_open(sizes_of(b), &b->in[1], b->work, &p);
    if (b->inputs > 2 && b->in[2].bar != NULL) {
        const size_t step = bias_step(&b->in[2], b->in[2].bar_ld);
        for (size_t i = 0; i < y->cols; i++)
            for (size_t j = 0; j < y->rows; j++)
                b->in[2].bar[j * step] += y->bar[j + i * y->bar_ld];
    }
    if (w->bar != NULL && p.s->back)
        wgi_conv_to_filters(&p, y->bar, y->bar_ld, w->bar, w->bar_ld, x->value, x->ld);
    else if (w->bar != NULL)
        wgi_conv_to_filters(&p, x->value, x->ld, w->bar, w->bar_ld, y->bar, y->bar_ld);
    if (x->bar != NULL && p.s->back)
        wgi_conv_to_result(&p, y->bar, y->bar_ld, w->value, w->ld, x->bar, x->bar_ld);
    else if (x->bar != NULL)
        wgi_conv_to_image(&p, x->bar, x->bar_ld, w->value, w->ld, y->bar, y->bar_ld);
    return WG_OK;
}

static wg_status conv_jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1], *const y = &b->out[0];
    wgi_conv_plan p;
    wgi_conv_open(sizes_of(b), &b->in[1], b->work, &p);
    if (b->inputs > 2) fill(y, b->in[2].bar, bias_step(&b->in[2], b->in[2].bar_ld), y->bar);
    else fill(y, NULL, 0, y->bar);
    if (x->bar != NULL) apply(&p, x->bar, x->bar_ld, w->value, w->ld, y->bar, y->bar_ld);
    if (w->bar != NULL) apply(&p, x->value, x->ld, w->bar, w->bar_ld, y->bar, y->bar_ld);
    return WG_OK;
}

/* ---- written out ---- */

/* Image coordinate that entry k of the kernel sees from result coordinate i; outside: -1. */
static ptrdiff_t seen(const wgi_conv_sizes *s, int d, size_t i, size_t k) {
    const size_t at = i * s->stride[d] + k * s->dilation[d];
    return at < s->pad[d] || at - s->pad[d] >= s->image[d] ? -1 : (ptrdiff_t)(at - s->pad[d]);
}

/* Calls `each` for every pixel of the result and every entry of the kernel that sees a pixel of
 * the image. */
typedef struct written {
    wg_tape *t;
    const wg_block *b;
    const wg_real *x, *w;
    wg_real *y;
    size_t channels, c, f, kernel;
} written;

static void write_pair(const written *k, size_t result, size_t pixel, size_t entry) {
    const wgi_conv_sizes *const s = sizes_of(k->b);
    for (size_t g = 0; g < s->groups; g++) {
        const wg_real *const w = k->w + (entry + g * k->f * k->kernel) * k->c;
        const size_t image = pixel * k->channels + g * k->c, r = result * s->filters + g * k->f,
                     step = k->kernel * k->c;
        for (size_t f = 0; f < k->f && !s->back; f++)
            k->y[r + f] =
                wgi_expand_plus(k->t, k->y[r + f],
                                wgi_expand_dot(k->t, k->c, w + f * step, 1, k->x + image, 1));
        for (size_t c = 0; c < k->c && s->back; c++)
            k->y[image + c] = wgi_expand_plus(
                k->t, k->y[image + c], wgi_expand_dot(k->t, k->f, w + c, step, k->x + r, 1));
    }
}

static wg_status conv_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_conv_sizes *const s = sizes_of(b);
    const size_t one = s->result[0] * s->result[1], all = one * s->batch;
    const written k = {t,
                       b,
                       x,
                       wgi_reals_operand(b, x, 1).p,
                       y,
                       b->in[1].rows * s->groups,
                       b->in[1].rows,
                       s->filters / s->groups,
                       s->kernel[0] * s->kernel[1]};
    for (size_t e = 0; e < b->out[0].rows * b->out[0].cols; e++)
        y[e] =
            b->inputs > 2 ? wgi_reals_operand(b, x, 2).p[e % b->out[0].rows] : wg_constant(0);
    for (size_t i = 0; i < all; i++)
        for (size_t e = 0; e < k.kernel; e++) {
            const ptrdiff_t across = seen(s, 1, i % one / s->result[0], e / s->kernel[0]);
            const ptrdiff_t down = seen(s, 0, i % s->result[0], e % s->kernel[0]);
            if (across < 0 || down < 0) continue;
            write_pair(&k, i,
                       (size_t)down + s->image[0] * ((size_t)across + s->image[1] * (i / one)),
                       e);
        }
    return WG_OK;
}

static const wgi_traits conv_traits = {.bilinear = 3};

#define CONVOLUTION(name)                                                                      \
    const wg_block_op wgi_op_##name = {"wg_" #name, WG_OP_EXPANDS, conv_shape,                 \
                                       conv_value,  conv_vjp,      conv_jvp,                   \
                                       conv_expand, NULL,          &conv_traits}
CONVOLUTION(conv1d);
CONVOLUTION(conv2d);
CONVOLUTION(conv2d_transposed);

/* ---- calls ---- */

/* The length of the result in direction d, or what is wrong. */
static const char *length(wgi_conv_sizes *s, int d) {
    size_t reach, room;
    if (s->stride[d] == 0) s->stride[d] = 1;
    if (s->dilation[d] == 0) s->dilation[d] = 1;
    if (s->image[d] > INT_MAX || s->kernel[d] > INT_MAX || s->pad[d] > INT_MAX ||
        s->dilation[d] > INT_MAX || s->stride[d] > INT_MAX)
        return "a size larger than BLAS can take";
    if (s->kernel[d] == 0) return "a kernel of no size";
    reach = (s->kernel[d] - 1) * s->dilation[d] + 1;
    room = s->image[d] + 2 * s->pad[d];
    s->result[d] = room < reach ? 0 : (room - reach) / s->stride[d] + 1;
    return NULL;
}

static wg_mat conv(wg_tape *t, const wg_block_op *op, wgi_conv_sizes *s, wg_mat x, wg_mat w,
                   const wg_mat *bias) {
    wg_mat in[3] = {x, w, x};
    if (bias != NULL) in[2] = *bias;
    if (s->groups == 0) s->groups = 1;
    for (int d = 0; d < 2 && s->bad == NULL; d++) s->bad = length(s, d);
    return wgi_apply_one(t, op, s, sizeof *s, bias != NULL ? 3 : 2, in);
}

static wgi_conv_sizes all_of(const wg_conv *s) {
    wgi_conv_sizes all;
    memset(&all, 0, sizeof all);
    if (s == NULL) {
        all.bad = no_sizes;
        return all;
    }
    all.batch = s->batch, all.filters = s->filters, all.groups = s->groups;
    all.image[0] = s->height, all.image[1] = s->width;
    all.kernel[0] = s->kernel_height, all.kernel[1] = s->kernel_width;
    memcpy(all.stride, s->stride, sizeof all.stride);
    memcpy(all.dilation, s->dilation, sizeof all.dilation);
    memcpy(all.pad, s->pad, sizeof all.pad);
    return all;
}

wg_mat wg_conv2d(wg_tape *t, const wg_conv *s, wg_mat x, wg_mat w, const wg_mat *bias) {
    wgi_conv_sizes all = all_of(s);
    return conv(t, &wgi_op_conv2d, &all, x, w, bias);
}

wg_mat wg_conv2d_transposed(wg_tape *t, const wg_conv *s, wg_mat r, wg_mat w,
                            const wg_mat *bias) {
    wgi_conv_sizes all = all_of(s);
    all.back = 1;
    return conv(t, &wgi_op_conv2d_transposed, &all, r, w, bias);
}

wg_mat wg_conv1d(wg_tape *t, size_t batch, size_t count, size_t stride, size_t pad, wg_mat x,
                 wg_mat w, const wg_mat *bias) {
    wgi_conv_sizes s;
    memset(&s, 0, sizeof s);
    s.batch = batch, s.filters = count;
    s.image[1] = s.kernel[1] = 1;
    s.stride[0] = stride, s.pad[0] = pad;
    if (batch == 0 || x.cols % batch != 0) s.bad = "columns are no multiple of the batch";
    else if (count == 0 || w.cols % count != 0)
        s.bad = "columns are no multiple of the filters";
    else s.image[0] = x.cols / batch, s.kernel[0] = w.cols / count;
    return conv(t, &wgi_op_conv1d, &s, x, w, bias);
}
