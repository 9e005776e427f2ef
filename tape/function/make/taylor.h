/* SPDX-License-Identifier: MIT */
/* taylor.h - truncated series of the nodes of a graph. Internal. */
#ifndef WGI_TAPE_FUNCTION_MAKE_TAYLOR_H
#define WGI_TAPE_FUNCTION_MAKE_TAYLOR_H

#include "tape/function/graph/builder.h"

/* c[k * m + j] becomes the coefficient of s^k of node y[j], k from 1 to order, where the n
 * nodes x are x + s dx, dx[i] being the node of the i-th; WGI_NO_NODE: 0. No node that depends
 * on x has parts. A failure is the tape's. */
void wgi_taylor(wgi_builder *b, size_t order, size_t n, const uint32_t *x, const uint32_t *dx,
                size_t m, const uint32_t *y, uint32_t *c);

#endif
