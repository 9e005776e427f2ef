/* SPDX-License-Identifier: MIT */
/* kernels.h - what covariance functions of the squared distance q share. */
#ifndef WGI_OPS_MATRIX_KERNELS_H
#define WGI_OPS_MATRIX_KERNELS_H

/* Nothing is left of a covariance so far away; powers of it overflow. */
#define FARTHEST 1e300
static inline double within(double q) { return q > FARTHEST ? FARTHEST : q; }

#endif
