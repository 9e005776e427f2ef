/* SPDX-License-Identifier: MIT */
/* elementwise.h - element by element, by kernels that have no row in the table of scalar
 * operations. Internal. */
#ifndef WGI_OPS_MATRIX_ELEMENTWISE_H
#define WGI_OPS_MATRIX_ELEMENTWISE_H

#include "ops/scalar/elementwise.h"

/* An operation by a kernel of its own, whose params are those of the call. */
typedef enum { WGI_WAY_VALUE, WGI_WAY_VJP, WGI_WAY_JVP } wgi_way;
wg_status wgi_elementwise_run(wg_block *b, wgi_kernel *f, wgi_way way);

#endif
