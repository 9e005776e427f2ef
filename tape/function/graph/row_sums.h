/* SPDX-License-Identifier: MIT */
/* row_sums.h - rows of numbers added to places that overlap, in one pass. Internal. */
#ifndef WGI_TAPE_FUNCTION_GRAPH_ROW_SUMS_H
#define WGI_TAPE_FUNCTION_GRAPH_ROW_SUMS_H

#include <stddef.h>

enum { WGI_MOST_ROWS = 8 };
typedef struct wgi_row_sums {
    size_t count;
    double *to[WGI_MOST_ROWS]; /* where each row goes, all in one array */
    const double *from[WGI_MOST_ROWS];
} wgi_row_sums;

/* to[k][i] += from[k][i] for all i < n, with the bits of doing row 0 first, then row 1, ... */
void wgi_row_sums_add(size_t n, const wgi_row_sums *r);
/* to[i] += row[0][i], then row[1][i], and so on, for all i < n; n is a multiple of 8. */
void wgi_row_sums_gather(size_t count, double *to, const double *const *row, size_t n);

#endif
