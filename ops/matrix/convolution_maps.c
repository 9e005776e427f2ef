/* SPDX-License-Identifier: MIT */
/* The three maps of convolution.h. They are products of matrices one of which has its elements
 * where `at` and `in` say (`placed` of elementwise.h): patches are not copied out of images.
 * Padding comes first, unless there is none. */
#include "convolution.h"
#include "lines.h"

#include <limits.h>
#include <string.h>

/* Bytes of the images that are done at once, if one is not more; pixels, where patches are
 * copied. */
enum { SLAB = 1 << 18, BLOCK = 64 };

/* ---- places ---- */

typedef wgi_conv_plan plan;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }
static size_t up(size_t n) { return (n + WGI_STRIP - 1) / WGI_STRIP * WGI_STRIP; }

/* 0: numbers that no memory holds. */
static int product_fits(size_t a, size_t b, size_t *c) {
    return !__builtin_mul_overflow(a, b, c) && *c <= SIZE_MAX / 4096;
}

/* Numbers of the filters of a group in strips, or of all in rows. */
static size_t filters_room(const plan *p) {
    const size_t strips = larger(up(p->f) * p->k, up(p->k) * p->f);
    return p->c == 1 && p->f == 1 ? larger(strips, p->k * p->s->groups) : strips;
}

/* Sizes; *bytes: of the workspace. 0: more than memory can hold. */
int wgi_conv_plan_of(const wgi_conv_sizes *s, const wg_block_arg *w, plan *p, size_t *bytes) {
    size_t kernel, all;
    memset(p, 0, sizeof *p);
    p->s = s;
    p->c = w->rows;
    p->f = s->filters / s->groups;
    p->padded = s->pad[0] != 0 || s->pad[1] != 0;
    if (!product_fits(p->c, s->groups, &p->channels) ||
        !product_fits(s->kernel[0], s->kernel[1], &kernel) ||
        !product_fits(kernel, p->c, &p->k) || !product_fits(p->k, s->filters, &all) ||
        !product_fits(s->image[0] + 2 * s->pad[0], s->image[1] + 2 * s->pad[1], &all) ||
        !product_fits(all, p->channels, &p->of_padded) ||
        !product_fits(s->result[0], s->result[1], &p->one) ||
        !product_fits(p->one, larger(s->batch, 1), &all) ||
        !product_fits(s->image[0], s->image[1], &p->of_image) || p->k > INT_MAX ||
        all > INT_MAX)
        return 0;
    p->slab = p->of_padded == 0 || p->one == 0 ? 1 : SLAB / sizeof(double) / p->of_padded;
    if (p->slab == 0) p->slab = 1;
    if (p->slab > s->batch) p->slab = s->batch;
    const size_t pixels = p->slab * p->one;
    *bytes = rounded(p->slab * p->of_padded * sizeof(double)) +
             rounded(pixels * sizeof(ptrdiff_t)) + rounded(BLOCK * sizeof(ptrdiff_t)) +
             2 * rounded(larger(p->k, p->f) * sizeof(ptrdiff_t)) +
             rounded(filters_room(p) * sizeof(double)) +
             rounded(larger(p->k, up(p->f)) * BLOCK * sizeof(double));
    return 1;
}

/* Sets the tables. */
void wgi_conv_open(const wgi_conv_sizes *s, const wg_block_arg *w, void *room, plan *p) {
    size_t bytes;
    char *work = (char *)room;
    (void)wgi_conv_plan_of(s, w, p, &bytes);
    const size_t pixels = p->slab * p->one, high = s->image[0] + 2 * s->pad[0];
    p->image = (double *)(void *)work, work += rounded(p->slab * p->of_padded * sizeof(double));
    p->at = (ptrdiff_t *)(void *)work, work += rounded(pixels * sizeof(ptrdiff_t));
    p->line = (ptrdiff_t *)(void *)work, work += rounded(BLOCK * sizeof(ptrdiff_t));
    p->in = (ptrdiff_t *)(void *)work, work += rounded(larger(p->k, p->f) * sizeof(ptrdiff_t));
    p->next = (ptrdiff_t *)(void *)work,
    work += rounded(larger(p->k, p->f) * sizeof(ptrdiff_t));
    p->a = (double *)(void *)work;
    work += rounded(filters_room(p) * sizeof(double));
    p->buffer = (double *)(void *)work;
    ptrdiff_t *at = p->at, *in = p->in;
    for (size_t i = 0; i < p->slab; i++)
        for (size_t j = 0; j < s->result[1]; j++)
            for (size_t h = 0; h < s->result[0]; h++)
                *at++ = (ptrdiff_t)(i * p->of_padded +
                                    (h * s->stride[0] + j * s->stride[1] * high) * p->channels);
    for (size_t j = 0; j < s->kernel[1]; j++)
        for (size_t h = 0; h < s->kernel[0]; h++)
            for (size_t c = 0; c < p->c; c++)
                *in++ =
                    (ptrdiff_t)((h * s->dilation[0] + j * s->dilation[1] * high) * p->channels +
                                c);
    for (size_t f = 0; f < larger(p->k, p->f); f++) p->next[f] = (ptrdiff_t)f;
}

static int is_empty(const plan *p) {
    return p->k == 0 || p->f == 0 || p->one == 0 || p->s->batch == 0;
}

/* ---- padding ---- */

/* n images from number `first` on, in the middle of zeros, or where they stand. */
static double *padded(const plan *p, size_t first, size_t n, const double *x, size_t ld) {
    const wgi_conv_sizes *const s = p->s;
    const size_t high = s->image[0] + 2 * s->pad[0], c = p->channels;
    x += first * p->of_image * ld;
    if (!p->padded && ld == c) return (double *)(uintptr_t)x;
    if (p->padded) memset(p->image, 0, n * p->of_padded * sizeof *x);
    for (size_t i = 0; i < n; i++)
        for (size_t w = 0; w < s->image[1]; w++) {
            double *to = p->image + i * p->of_padded + (s->pad[0] + (s->pad[1] + w) * high) * c;
            for (size_t h = 0; h < s->image[0]; h++, x += ld, to += c)
                memcpy(to, x, c * sizeof *x);
        }
    return p->image;
}

/* Room for the same images, to be added to: zeros, or where they stand. */
static double *padded_zeros(const plan *p, size_t first, size_t n, double *x, size_t ld) {
    if (!p->padded && ld == p->channels) return x + first * p->of_image * ld;
    return memset(p->image, 0, n * p->of_padded * sizeof *x);
}

static void add_padded(const plan *p, size_t first, size_t n, const double *from, double *x,
                       size_t ld) {
    const wgi_conv_sizes *const s = p->s;
    const size_t high = s->image[0] + 2 * s->pad[0], c = p->channels;
    x += first * p->of_image * ld;
    if (from == x) return;
    for (size_t i = 0; i < n; i++)
        for (size_t w = 0; w < s->image[1]; w++) {
            const double *y =
                from + i * p->of_padded + (s->pad[0] + (s->pad[1] + w) * high) * c;
            for (size_t h = 0; h < s->image[0]; h++, x += ld, y += c)
                for (size_t k = 0; k < c; k++) x[k] += y[k];
        }
}

/* ---- patches ---- */

/* Adds patches of n pixels to an image. */
static void scatter(const plan *p, double *x, const ptrdiff_t *at, size_t n,
                    const double *from) {
    /* how many numbers of a patch stand beside each other */
    const size_t run =
        p->s->groups == 1 && p->s->dilation[0] == 1 ? p->s->kernel[0] * p->c : p->c;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < p->k; k += run, from += run) {
            double *const to = x + at[i] + p->in[k];
            for (size_t e = 0; e < run; e++) to[e] += from[e];
        }
}

/* ---- the maps ---- */

/* The filters of a group, k by f; its first ones stand at w. */
static const double *group_of(const plan *p, size_t g, const double *w, size_t ld) {
    const size_t kernel = p->s->kernel[0] * p->s->kernel[1];
    return w + g * p->f * kernel * ld;
}
/* Element (i, j) of a matrix in strips, with k columns. */
static size_t in_strips(size_t i, size_t j, size_t k) {
    return (i / WGI_STRIP * k + j) * WGI_STRIP + i % WGI_STRIP;
}
/* Those as f by k (turned) or as k by f, in strips. */
static void pack(const plan *p, const double *w, size_t ld, int turned, double *a) {
    const size_t kernel = p->s->kernel[0] * p->s->kernel[1];
    memset(a, 0, (turned ? up(p->f) * p->k : up(p->k) * p->f) * sizeof *a);
    for (size_t f = 0; f < p->f; f++)
        for (size_t e = 0; e < kernel; e++, w += ld)
            for (size_t c = 0; c < p->c; c++) {
                const size_t k = c + e * p->c;
                a[turned ? in_strips(f, k, p->k) : in_strips(k, f, p->f)] = w[c];
            }
}

/* Images that are done at once from number `first` on. */
static size_t slab_from(const plan *p, size_t first) {
    return p->s->batch - first < p->slab ? p->s->batch - first : p->slab;
}

/* ---- a filter for each channel, alone in its group: all channels side by side ---- */

static int is_by_channel(const plan *p) { return p->c == 1 && p->f == 1; }

/* Filters as rows, an entry for all channels: a[g + e groups]. */
static void turn_filters(const plan *p, const double *w, size_t ld, double *a) {
    for (size_t g = 0; g < p->s->groups; g++)
        for (size_t e = 0; e < p->k; e++) a[g + e * p->s->groups] = w[(e + g * p->k) * ld];
}

static void by_channel(size_t n, const double *restrict x, const double *restrict w,
                       double *restrict y) {
    for (size_t g = 0; g < n; g++) y[g] += w[g] * x[g];
}

void wgi_conv_to_result(const plan *p, const double *x, size_t x_ld, const double *w,
                        size_t w_ld, double *r, size_t r_ld) {
    if (is_empty(p)) return;
    for (size_t first = 0, n; first < p->s->batch; first += n) {
        n = slab_from(p, first);
        const double *const image = padded(p, first, n, x, x_ld);
        if (is_by_channel(p)) {
            turn_filters(p, w, w_ld, p->a);
            for (size_t i = 0; i < n * p->one; i++)
                for (size_t e = 0; e < p->k; e++)
                    by_channel(p->s->groups, image + p->at[i] + p->in[e],
                               p->a + e * p->s->groups, r + (first * p->one + i) * r_ld);
            continue;
        }
        for (size_t g = 0; g < p->s->groups; g++) {
            pack(p, group_of(p, g, w, w_ld), w_ld, 1, p->a);
            wgi_simd_best()->placed(p->f, n * p->one, p->k, p->a, image + g * p->c, p->at,
                                    p->in, r + first * p->one * r_ld + g * p->f, r_ld);
        }
    }
}

/* P = W r, added to the image. */
static void image_of_group(const plan *p, double *image, size_t pixels, const double *r,
                           size_t ld) {
    for (size_t i = 0, m; i < pixels; i += m, r += m * ld) {
        m = pixels - i < BLOCK ? pixels - i : BLOCK;
        memset(p->buffer, 0, m * p->k * sizeof *image);
        wgi_simd_best()->placed(p->k, m, p->f, p->a, r, p->line, p->next, p->buffer, p->k);
        scatter(p, image, p->at + i, m, p->buffer);
    }
}

void wgi_conv_to_image(const plan *p, double *x, size_t x_ld, const double *w, size_t w_ld,
                       const double *r, size_t r_ld) {
    if (is_empty(p)) return;
    for (size_t i = 0; i < BLOCK; i++) p->line[i] = (ptrdiff_t)(i * r_ld);
    for (size_t first = 0, n; first < p->s->batch; first += n) {
        n = slab_from(p, first);
        double *const image = padded_zeros(p, first, n, x, x_ld);
        if (is_by_channel(p)) {
            turn_filters(p, w, w_ld, p->a);
            for (size_t i = 0; i < n * p->one; i++)
                for (size_t e = 0; e < p->k; e++)
                    by_channel(p->s->groups, r + (first * p->one + i) * r_ld,
                               p->a + e * p->s->groups, image + p->at[i] + p->in[e]);
        }
        for (size_t g = 0; g < p->s->groups && !is_by_channel(p); g++) {
            pack(p, group_of(p, g, w, w_ld), w_ld, 0, p->a);
            image_of_group(p, image + g * p->c, n * p->one,
                           r + first * p->one * r_ld + g * p->f, r_ld);
        }
        add_padded(p, first, n, image, x, x_ld);
    }
}

/* sums, f by k, += r P'. */
static void filters_of_group(const plan *p, const double *image, size_t pixels, const double *r,
                             size_t ld) {
    for (size_t i = 0, m; i < pixels; i += m, r += m * ld) {
        m = pixels - i < BLOCK ? pixels - i : BLOCK;
        if (p->f % WGI_STRIP != 0) memset(p->buffer, 0, up(p->f) * m * sizeof *r);
        for (size_t f = 0; f < p->f; f += WGI_STRIP)
            for (size_t j = 0; j < m; j++)
                memcpy(p->buffer + in_strips(f, j, m), r + f + j * ld,
                       (p->f - f < WGI_STRIP ? p->f - f : WGI_STRIP) * sizeof *r);
        wgi_simd_best()->placed(p->f, p->k, m, p->buffer, image, p->in, p->at + i, p->a, p->f);
    }
}

void wgi_conv_to_filters(const plan *p, const double *x, size_t x_ld, double *w, size_t w_ld,
                         const double *r, size_t r_ld) {
    const size_t kernel = p->s->kernel[0] * p->s->kernel[1];
    if (is_empty(p)) return;
    for (size_t first = 0, n; first < p->s->batch; first += n) {
        n = slab_from(p, first);
        const double *const image = padded(p, first, n, x, x_ld);
        double *to = w;
        if (is_by_channel(p)) {
            memset(p->a, 0, p->k * p->s->groups * sizeof *w);
            for (size_t i = 0; i < n * p->one; i++)
                for (size_t e = 0; e < p->k; e++)
                    by_channel(p->s->groups, image + p->at[i] + p->in[e],
                               r + (first * p->one + i) * r_ld, p->a + e * p->s->groups);
            for (size_t g = 0; g < p->s->groups; g++)
                for (size_t e = 0; e < p->k; e++, to += w_ld) *to += p->a[g + e * p->s->groups];
            continue;
        }
        for (size_t g = 0; g < p->s->groups; g++) {
            memset(p->a, 0, p->k * p->f * sizeof *w);
            filters_of_group(p, image + g * p->c, n * p->one,
                             r + first * p->one * r_ld + g * p->f, r_ld);
            for (size_t f = 0; f < p->f; f++)
                for (size_t e = 0; e < kernel; e++, to += w_ld)
                    for (size_t c = 0; c < p->c; c++) to[c] += p->a[f + (c + e * p->c) * p->f];
        }
    }
}
