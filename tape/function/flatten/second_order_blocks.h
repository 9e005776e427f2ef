/* SPDX-License-Identifier: MIT */
/* second_order_blocks.h - second derivatives of a recording with matrix operations. Internal.
 */
#ifndef WGI_TAPE_FUNCTION_FLATTEN_SECOND_ORDER_BLOCKS_H
#define WGI_TAPE_FUNCTION_FLATTEN_SECOND_ORDER_BLOCKS_H

#include "tape/engine/tape.h"

/* H v for `directions` directions v, n-by-directions, or H itself where v is NULL, for a
 * recording with blocks. h has the leading dimension ld. */
wg_status wgi_second_of_blocks(wgi_core *c, const char *call, wg_real y, size_t n,
                               const wg_real *x, size_t directions, const double *v, double *h,
                               size_t ld);

#endif
