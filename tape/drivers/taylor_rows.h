/* SPDX-License-Identifier: MIT */
/* taylor_rows.h - whole rows of coefficients at once. Internal. */
#ifndef WGI_TAPE_DRIVERS_TAYLOR_ROWS_H
#define WGI_TAPE_DRIVERS_TAYLOR_ROWS_H

#include <stddef.h>

/* So many coefficients has a row at most, one of order 0 among them. */
enum { WGI_ROW_COEFFICIENTS = 64 };

/* v_k = sum_{j=0..k} a_j b_{k-j}, k from `first` to n - 1; added up in the order of j, and by
 * the zero rule where it is NaN. v may be a or b. */
void wgi_row_product(size_t first, size_t n, const double *a, const double *b, double *v);

/* The adjoint of that by a, k from 0 on: a_j += sum_{k=j..n-1} v_k b_{k-j}. */
void wgi_row_product_adjoint(size_t n, const double *v, const double *b, double *a);

#endif
