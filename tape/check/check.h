/* SPDX-License-Identifier: MIT */
/* check.h - checks of derivatives, for a part of a function. Internal. */
#ifndef WGI_TAPE_CHECK_CHECK_H
#define WGI_TAPE_CHECK_CHECK_H

#include "tape/engine/tape.h"

/* So many inputs are a direction each; more of them have so many random ones together. */
enum { WGI_DIRECTIONS = 32 };
/* Checks: an input much smaller than this is stepped as if it were this large. */
#define WGI_SMALL_INPUT 0x1p-6

/* What is looked at: so many inputs and outputs, from these on; of second order, derivatives of
 * the tangent along `others`. */
typedef struct wgi_checked_part {
    size_t input, inputs, output, outputs, other, others;
} wgi_checked_part;

enum { WGI_UNCHECKED, WGI_AGREES, WGI_DIFFERENCES, WGI_PRODUCTS };

/* What was found. Numbers along a single input are derivatives by it; those of a single output
 * have no weight. */
typedef struct wgi_checked {
    wg_check found;
    int verdict; /* with DIFFERENCES or PRODUCTS the status is WG_EMISMATCH */
    double derivative, difference, good_to; /* of found.output along found.direction */
    double forward, backward;               /* <w, J v>, <J' w, v>, where farthest apart; */
    size_t output, direction;               /* of second order: of this one, and along this */
    double noise; /* of the first output looked at, or of its tangent */
} wgi_checked;

/* wg_check_gradient (order 1), wg_check_hessian (order 2), of a part; NULL: of all. range:
 * NULL, or as in wg_check_gradient_within. */
wg_status wgi_check(wg_tape *t, const char *call, int order, wg_callback *f, void *data,
                    size_t n, const double *x, size_t m, const wgi_checked_part *part,
                    const wg_check_range *range, wgi_checked *result);

#endif
