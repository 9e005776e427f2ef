/* SPDX-License-Identifier: MIT */
/* taylor_rows.h - whole rows of coefficients at once. Internal. */
#ifndef WGI_TAPE_DRIVERS_TAYLOR_ROWS_H
#define WGI_TAPE_DRIVERS_TAYLOR_ROWS_H

#include <stddef.h>

/* WGI_ROW_COEFFICIENTS: the most coefficients of a row, that of order 0 among them.
 * WGI_ROW_SIDE: how many are computed side by side. The last ones may be more than are wanted,
 * so that a row has room for `stride` numbers, all of which have been written before. */
enum { WGI_ROW_COEFFICIENTS = 64, WGI_ROW_SIDE = 16 };
static inline size_t wgi_row_stride(size_t order) {
    return 1 + (order + WGI_ROW_SIDE - 1) / WGI_ROW_SIDE * WGI_ROW_SIDE;
}

/* Coefficients 1 to n - 1 of v, by the zero rule where they are NaN; v may be an operand of
 * `add`, and of no other.
 *   add, sub  a + b, a - b
 *   scale     a number times a
 *   product   sum_{j=0..k} a_j b_{k-j}, added up in the order of j
 *   square    the same of a and a, where each pair of different factors is one term, doubled */
typedef struct wgi_row_kernels {
    void (*add)(size_t n, const double *a, const double *b, double *v);
    void (*sub)(size_t n, const double *a, const double *b, double *v);
    void (*scale)(size_t n, const double *a, double by, double *v);
    void (*product)(size_t n, const double *a, const double *b, double *v);
    void (*square)(size_t n, const double *a, double *v);
} wgi_row_kernels;
const wgi_row_kernels *wgi_row_kernels_here(void);

/* The same of a quotient a / b and of the root of a; v_0 is there. */
void wgi_row_quotient(size_t n, const double *a, const double *b, double *v);
void wgi_row_root(size_t n, const double *a, double *v);

/* The adjoint of a product by a, k from 0 on: a_j += sum_{k=j..n-1} v_k b_{k-j}. */
void wgi_row_product_adjoint(const wgi_row_kernels *rows, size_t n, const double *v,
                             const double *b, double *a);

#endif
