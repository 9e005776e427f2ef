/* SPDX-License-Identifier: MIT */
/* convolution.h - convolution as a form of three, sum of r x w over all pairs of a pixel and a
 * kernel entry, and three maps, each of which is the gradient of it by one of them. The first
 * is a convolution, the second its transpose; adjoints and tangents are these again.
 *
 * Letters: x image, w filters, r result; c channels, f filters, k numbers in a patch, all three
 * of one group; pixels of the result are p. */
#ifndef WGI_OPS_MATRIX_CONVOLUTION_H
#define WGI_OPS_MATRIX_CONVOLUTION_H

#include <wengert/block.h>

/* The sizes of a call, complete; in params. Operands: x or r, then w, and the bias where
 * there is one. */
typedef struct wgi_conv_sizes {
    size_t batch, filters, groups;
    size_t image[2], kernel[2], stride[2], dilation[2], pad[2], result[2];
    int back; /* the transpose */
    const char *bad;
} wgi_conv_sizes;

/* Where everything is. at: the patch of a pixel begins; in: an entry of it is from there on, in
 * an image that was padded with zeros. */
typedef struct wgi_conv_plan {
    const wgi_conv_sizes *s;
    size_t channels, c, f, k;
    /* pixels of an image, numbers in a padded one, pixels of its result; images that are
     * done at once */
    size_t of_image, of_padded, one, slab;
    int padded;
    double *image, *a,
        *buffer; /* a padded slab; filters in strips; patches of a block, or r of it */
    ptrdiff_t *at, *in, *line, *next; /* line, next: where pixels and filters of r are */
} wgi_conv_plan;

/* Sizes of the plan for filters w; *bytes: of the workspace. 0: more than memory can hold. */
int wgi_conv_plan_of(const wgi_conv_sizes *s, const wg_block_arg *w, wgi_conv_plan *p,
                     size_t *bytes);
/* The plan, in that workspace. */
void wgi_conv_open(const wgi_conv_sizes *s, const wg_block_arg *w, void *work,
                   wgi_conv_plan *p);

/* r += what filters w make of images x;  x += what they have made r of;  w += what stands in both. */
void wgi_conv_to_result(const wgi_conv_plan *p, const double *x, size_t x_ld, const double *w,
                        size_t w_ld, double *r, size_t r_ld);
void wgi_conv_to_image(const wgi_conv_plan *p, double *x, size_t x_ld, const double *w,
                       size_t w_ld, const double *r, size_t r_ld);
void wgi_conv_to_filters(const wgi_conv_plan *p, const double *x, size_t x_ld, double *w,
                         size_t w_ld, const double *r, size_t r_ld);

#endif
