/* SPDX-License-Identifier: MIT */
/* row_sums.h - rows added into places that overlap, in one pass. Internal. */
#ifndef WENGERT_TAPE_FUNCTION_ROW_SUMS_H
#define WENGERT_TAPE_FUNCTION_ROW_SUMS_H

#include <stddef.h>

enum { WGI_MOST_ROWS = 8 };
typedef struct wgi_row_sums {
    size_t count;
    double *to[WGI_MOST_ROWS]; /* places in one array */
    const double *from[WGI_MOST_ROWS];
} wgi_row_sums;

/* to[k][i] += from[k][i] for all i < n, one k after the other as far as bits go. */
void wgi_row_sums_add(size_t n, const wgi_row_sums *r);
/* to[i] += row[0][i] + row[1][i] + ..., one after the other, for i < n, a multiple of 8. */
void wgi_row_sums_gather(size_t count, double *to, const double *const *row, size_t n);

#endif
