/* SPDX-License-Identifier: MIT */
/* sparse_pattern.h - passes over the pattern of a sparse matrix. Internal.
 *
 * Letters: s the pattern, v its values, x, r dense. */
#ifndef WGI_OPS_MATRIX_SPARSE_PATTERN_H
#define WGI_OPS_MATRIX_SPARSE_PATTERN_H

#include <wengert/sparse.h>
#include "call.h"
#include "view.h"

/* The values of the pattern, operand 0, as a column. */
static inline wgi_view wgi_sparse_values(const wg_block *b) {
    return wgi_view_column(wgi_view_value(&b->in[0]));
}
static inline wgi_view wgi_sparse_values_bar(const wg_block *b) {
    return wgi_view_column(wgi_view_bar(&b->in[0]));
}

static inline void wgi_sparse_clear(const wg_block_arg *a, double *p) {
    for (size_t i = 0, n = wgi_length(a); i < n; i++) p[i] = 0;
}

/* g columns of r += S x; of r += S^T x; and of v += <x(i, :), r(j, :)> at entry (i, j). */
typedef void wgi_sparse_pass(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g);
wgi_sparse_pass wgi_sparse_rows, wgi_sparse_cols, wgi_sparse_entries;
/* One of them for all columns. */
void wgi_sparse_passes(wgi_sparse_pass *f, const wg_csr *s, wgi_view v, wgi_view x, wgi_view r);

/* Is it a letter for the transpose? */
int wgi_sparse_turned(char trans);
/* What is wrong with a flag or a pattern. */
wg_status wgi_sparse_check(const wg_tape *t, char trans, const wg_csr *s, const char **why);

#endif
