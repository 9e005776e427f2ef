/* SPDX-License-Identifier: MIT */
/* copy.h - the operation that the tape itself uses where an operation takes no transposed
 * view. */
#ifndef WGI_OPS_SCALAR_COPY_H
#define WGI_OPS_SCALAR_COPY_H

#include <wengert/block.h>

extern const wg_block_op wgi_op_copy;
/* params: size_t[2], rows and columns of the result; elements in column-major order. */
extern const wg_block_op wgi_op_reshape;

#endif
