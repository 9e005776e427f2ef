/* SPDX-License-Identifier: MIT */
/* structure.c - see structure.h. */
#include "structure.h"

int wgi_parts_of(const wg_block_op *op, const void *params, wgi_parts *p) {
    *p = (wgi_parts){.count = 1};
    for (int k = 0; k < WGI_PART_OPERANDS; k++) p->near[k] = UINT16_MAX;
    return wgi_line_parts(op, params, p) || wgi_product_parts(op, params, p) ||
           wgi_solve_parts(op, params, p) || wgi_factor_parts(op, params, p);
}
