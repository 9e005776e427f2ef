/* SPDX-License-Identifier: MIT */
/* blas.h - the only file that includes CBLAS and LAPACKE.
 *
 * Dimensions are size_t elsewhere. wg_apply refuses operands and results whose rows, columns or
 * leading dimension exceed INT_MAX, so that wgi_int never loses anything. */
#ifndef WGI_OPS_MATRIX_BLAS_H
#define WGI_OPS_MATRIX_BLAS_H

#include <cblas.h>
#include <lapacke.h>
#include <stddef.h>

static inline int wgi_int(size_t n) { return (int)n; }

#endif
