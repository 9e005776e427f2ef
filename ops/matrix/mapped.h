/* SPDX-License-Identifier: MIT */
/* mapped.h - functions of the user's own of one number, element by element: what elementwise.c
 * does on tapes is a node for each element in functions. Internal. */
#ifndef WGI_OPS_MATRIX_MAPPED_H
#define WGI_OPS_MATRIX_MAPPED_H

#include <wengert/elementwise.h>

/* params of wg_mat_map: f, its slope, that of the slope or NULL, and what goes to all of
 * them. */
typedef struct wgi_mapped {
    wg_map_fn *f, *d, *dd;
    void *ctx;
} wgi_mapped;

/* expand of wg_mat_map: as many operations on one element. */
wg_status wgi_mapped_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y);

#endif
