/* SPDX-License-Identifier: MIT */
/* Convolution as a product of matrices.
 *
 * Every pixel of the result looks at a patch of the image, channels x kernel numbers. The
 * patches side by side are a matrix P, filters are the columns of W, and the result is W^T P,
 * one dgemm for as many pixels as fit into PANEL bytes of patches. Backward: P_ = W R_,
 * scattered back to where it was gathered from; W_ += P R_^T; bias_ += sums of R_. Patches are
 * gathered again rather than kept. A patch column is a few runs of neighbouring pixels, copied
 * or zero.
 *
 * Letters: x image, w filters, r result, p patches; c channels, h w rows and columns of pixels.
 */
#include <wengert/products.h>
#include "blas.h"
#include "expand.h"
#include "traits.h"
#include "view.h"

#include <limits.h>
#include <string.h>

static wg_status refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

/* The sizes of a call, complete; in params. In: x, w, and the bias where there is one. */
struct sizes {
    size_t batch, filters;
    size_t image[2], kernel[2], stride[2], dilation[2], pad[2], result[2];
    const char *bad;
};

enum { PANEL = 1 << 18 };

static const char no_sizes[] = "the sizes are NULL";

static const struct sizes *sizes_of(const wg_block *b) {
    return (const struct sizes *)b->params;
}

/* Numbers in a patch; pixels of the result; pixels whose patches are gathered at once. */
static size_t patch_of(const wg_block *b) {
    return b->in[0].rows * sizes_of(b)->kernel[0] * sizes_of(b)->kernel[1];
}
static size_t pixels_of(const wg_block *b) {
    return sizes_of(b)->result[0] * sizes_of(b)->result[1] * sizes_of(b)->batch;
}
static size_t panel_of(const wg_block *b) {
    const size_t patch = patch_of(b), pixels = pixels_of(b);
    size_t n = patch == 0 ? pixels : PANEL / (patch * sizeof(double));
    if (n < 16) n = 16;
    return n < pixels ? n : pixels;
}

static wg_status conv_shape(wg_block *b) {
    const struct sizes *const s = sizes_of(b);
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1];
    size_t pixels, kernels, outs;
    if (s->bad != NULL) return refuse(b, s->bad == no_sizes ? WG_ENULL : WG_EARG, s->bad);
    if (__builtin_mul_overflow(s->image[0], s->image[1], &pixels) ||
        __builtin_mul_overflow(pixels, s->batch, &pixels) || x->cols != pixels)
        return refuse(b, WG_ESHAPE, "the image has other columns than height width batch");
    if (__builtin_mul_overflow(s->kernel[0], s->kernel[1], &kernels) ||
        __builtin_mul_overflow(kernels, s->filters, &kernels) || w->cols != kernels)
        return refuse(b, WG_ESHAPE, "the filters have other columns than kernel times filters");
    if (x->rows != w->rows) return refuse(b, WG_ESHAPE, "image and filters differ in channels");
    if (b->inputs > 2 && wgi_length(&b->in[2]) != s->filters)
        return refuse(b, WG_ESHAPE, "the bias is not one number per filter");
    if (__builtin_mul_overflow(s->result[0], s->result[1], &outs) ||
        __builtin_mul_overflow(outs, s->batch, &outs) || outs > INT_MAX ||
        s->filters > INT_MAX || patch_of(b) > INT_MAX)
        return refuse(b, WG_ESHAPE, "a result larger than BLAS can take");
    b->out[0].rows = s->filters;
    b->out[0].cols = outs;
    /* a panel of patches, and the filters packed */
    b->work_bytes = patch_of(b) * (panel_of(b) + s->filters) * sizeof(double);
    return WG_OK;
}

static double *panel_room(const wg_block *b) { return (double *)b->work; }
static double *filter_room(const wg_block *b) {
    return (double *)b->work + patch_of(b) * panel_of(b);
}

/* The filters as a matrix of patch x filters: as they stand, or packed. */
static const double *filters(const wg_block *b, const double *w, size_t ld) {
    const size_t c = b->in[1].rows, n = b->in[1].cols;
    double *const packed = filter_room(b);
    if (ld == c || n <= 1) return w;
    for (size_t j = 0; j < n; j++) memcpy(packed + j * c, w + j * ld, c * sizeof *w);
    return packed;
}

/* Where pixel number i of the result is: image, row, column. */
struct place {
    size_t image, at[2];
};
static struct place place_of(const struct sizes *s, size_t i) {
    const size_t of_image = i / s->result[0];
    return (struct place){of_image / s->result[1], {i % s->result[0], of_image % s->result[1]}};
}

/* Image coordinate that entry k of the kernel sees from result coordinate i; outside: -1. */
static ptrdiff_t seen(const struct sizes *s, int d, size_t i, size_t k) {
    const size_t at = i * s->stride[d] + k * s->dilation[d];
    return at < s->pad[d] || at - s->pad[d] >= s->image[d] ? -1 : (ptrdiff_t)(at - s->pad[d]);
}

/* Patches of result pixels [from, from + n), gathered from x or added to it. */
static void patches(const wg_block *b, size_t from, size_t n, double *x, size_t ld, double *p,
                    int back) {
    const struct sizes *const s = sizes_of(b);
    const size_t c = b->in[0].rows;
    for (size_t i = from; i < from + n; i++) {
        const struct place r = place_of(s, i);
        for (size_t kw = 0; kw < s->kernel[1]; kw++) {
            const ptrdiff_t w = seen(s, 1, r.at[1], kw);
            for (size_t kh = 0; kh < s->kernel[0]; kh++, p += c) {
                const ptrdiff_t h = w < 0 ? -1 : seen(s, 0, r.at[0], kh);
                double *const pixel =
                    h < 0 ? NULL
                          : x + ld * ((size_t)h +
                                      s->image[0] * ((size_t)w + s->image[1] * r.image));
                if (pixel == NULL) {
                    if (!back) memset(p, 0, c * sizeof *p);
                } else if (back)
                    for (size_t k = 0; k < c; k++) pixel[k] += p[k];
                else memcpy(p, pixel, c * sizeof *p);
            }
        }
    }
}

/* r += W^T P for images x (values or tangents) and filters w, ld. */
static void convolve(const wg_block *b, double *x, size_t x_ld, const double *w, size_t w_ld,
                     double *r) {
    const size_t f = sizes_of(b)->filters, k = patch_of(b), pixels = pixels_of(b),
                 most = panel_of(b);
    if (f == 0 || k == 0) return;
    const double *const all = filters(b, w, w_ld);
    for (size_t at = 0; at < pixels; at += most) {
        const size_t n = pixels - at < most ? pixels - at : most;
        patches(b, at, n, x, x_ld, panel_room(b), 0);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, wgi_int(f), wgi_int(n), wgi_int(k),
                    1, all, wgi_int(k), panel_room(b), wgi_int(k), 1, r + at * f, wgi_int(f));
    }
}

/* From one number of a bias to the next, lying either way. */
static size_t bias_step(const wg_block_arg *bias, size_t ld) { return bias->cols > 1 ? ld : 1; }

/* Every column of r = the bias, or 0 where it is NULL. */
static void fill(const wg_block *b, const double *bias, size_t step, double *r) {
    const size_t f = sizes_of(b)->filters, pixels = pixels_of(b);
    for (size_t i = 0; i < pixels; i++, r += f)
        for (size_t k = 0; k < f; k++) r[k] = bias == NULL ? 0 : bias[k * step];
}

static wg_status conv_value(wg_block *b) {
    if (b->inputs > 2)
        fill(b, b->in[2].value, bias_step(&b->in[2], b->in[2].ld), b->out[0].value);
    else fill(b, NULL, 0, b->out[0].value);
    convolve(b, b->in[0].value, b->in[0].ld, b->in[1].value, b->in[1].ld, b->out[0].value);
    return WG_OK;
}

static wg_status conv_vjp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1];
    const size_t f = sizes_of(b)->filters, k = patch_of(b), pixels = pixels_of(b),
                 most = panel_of(b);
    double *const r = b->out[0].bar;
    if (b->inputs > 2 && b->in[2].bar != NULL) {
        const size_t step = bias_step(&b->in[2], b->in[2].bar_ld);
        for (size_t i = 0; i < pixels; i++)
            for (size_t j = 0; j < f; j++) b->in[2].bar[j * step] += r[j + i * f];
    }
    if (k == 0 || f == 0) return WG_OK;
    if (w->bar != NULL) {
        /* into the adjoint itself where that is one matrix of patch x filters */
        const int direct = w->bar_ld == w->rows || w->cols <= 1;
        double *const sum = direct ? w->bar : filter_room(b);
        if (!direct) memset(sum, 0, k * f * sizeof *sum);
        for (size_t at = 0; at < pixels; at += most) {
            const size_t n = pixels - at < most ? pixels - at : most;
            patches(b, at, n, x->value, x->ld, panel_room(b), 0);
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, wgi_int(k), wgi_int(f),
                        wgi_int(n), 1, panel_room(b), wgi_int(k), r + at * f, wgi_int(f), 1,
                        sum, wgi_int(k));
        }
        for (size_t j = 0; !direct && j < w->cols; j++)
            for (size_t i = 0; i < w->rows; i++)
                w->bar[i + j * w->bar_ld] += sum[i + j * w->rows];
    }
    if (x->bar != NULL) {
        const double *const all = filters(b, w->value, w->ld);
        for (size_t at = 0; at < pixels; at += most) {
            const size_t n = pixels - at < most ? pixels - at : most;
            cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, wgi_int(k), wgi_int(n),
                        wgi_int(f), 1, all, wgi_int(k), r + at * f, wgi_int(f), 0,
                        panel_room(b), wgi_int(k));
            patches(b, at, n, x->bar, x->bar_ld, panel_room(b), 1);
        }
    }
    return WG_OK;
}

static wg_status conv_jvp(wg_block *b) {
    const wg_block_arg *const x = &b->in[0], *const w = &b->in[1];
    if (b->inputs > 2)
        fill(b, b->in[2].bar, bias_step(&b->in[2], b->in[2].bar_ld), b->out[0].bar);
    else fill(b, NULL, 0, b->out[0].bar);
    if (x->bar != NULL) convolve(b, x->bar, x->bar_ld, w->value, w->ld, b->out[0].bar);
    if (w->bar != NULL) convolve(b, x->value, x->ld, w->bar, w->bar_ld, b->out[0].bar);
    return WG_OK;
}

static wg_status conv_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct sizes *const s = sizes_of(b);
    const size_t kernel = s->kernel[0] * s->kernel[1], c = b->in[0].rows;
    const wgi_reals w = wgi_reals_operand(b, x, 1);
    for (size_t i = 0; i < pixels_of(b); i++)
        for (size_t f = 0; f < s->filters; f++, y++) {
            const struct place r = place_of(s, i);
            *y = b->inputs > 2 ? wgi_reals_operand(b, x, 2).p[f] : wg_constant(0);
            for (size_t k = 0; k < kernel; k++) {
                const ptrdiff_t across = seen(s, 1, r.at[1], k / s->kernel[0]);
                const ptrdiff_t down = seen(s, 0, r.at[0], k % s->kernel[0]);
                if (across < 0 || down < 0) continue;
                const size_t pixel =
                    (size_t)down + s->image[0] * ((size_t)across + s->image[1] * r.image);
                *y = wgi_expand_plus(
                    t, *y,
                    wgi_expand_dot(t, c, w.p + (k + f * kernel) * c, 1, x + pixel * c, 1));
            }
        }
    return WG_OK;
}

static const wgi_traits conv_traits = {.bilinear = 3};

const wg_block_op wgi_op_conv1d = {"wg_conv1d", WG_OP_EXPANDS, conv_shape,
                                   conv_value,  conv_vjp,      conv_jvp,
                                   conv_expand, NULL,          &conv_traits};
const wg_block_op wgi_op_conv2d = {"wg_conv2d", WG_OP_EXPANDS, conv_shape,
                                   conv_value,  conv_vjp,      conv_jvp,
                                   conv_expand, NULL,          &conv_traits};

/* The length of the result in direction d, or what is wrong. */
static const char *length(struct sizes *s, int d) {
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

static wg_mat conv(wg_tape *t, const wg_block_op *op, struct sizes *s, wg_mat x, wg_mat w,
                   const wg_mat *bias) {
    wg_mat in[3] = {x, w, x}, r;
    if (bias != NULL) in[2] = *bias;
    for (int d = 0; d < 2 && s->bad == NULL; d++) s->bad = length(s, d);
    (void)wg_apply(t, op, s, sizeof *s, bias != NULL ? 3 : 2, in, 1, &r);
    return r;
}

wg_mat wg_conv2d(wg_tape *t, const wg_conv *s, wg_mat x, wg_mat w, const wg_mat *bias) {
    struct sizes all;
    memset(&all, 0, sizeof all);
    if (s == NULL) all.bad = no_sizes;
    else {
        all.batch = s->batch, all.filters = s->filters;
        all.image[0] = s->height, all.image[1] = s->width;
        all.kernel[0] = s->kernel_height, all.kernel[1] = s->kernel_width;
        memcpy(all.stride, s->stride, sizeof all.stride);
        memcpy(all.dilation, s->dilation, sizeof all.dilation);
        memcpy(all.pad, s->pad, sizeof all.pad);
    }
    return conv(t, &wgi_op_conv2d, &all, x, w, bias);
}

wg_mat wg_conv1d(wg_tape *t, size_t batch, size_t count, size_t stride, size_t pad, wg_mat x,
                 wg_mat w, const wg_mat *bias) {
    struct sizes s;
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
