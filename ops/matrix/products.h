/* SPDX-License-Identifier: MIT */
/* products.h - what the products of matrices and vectors share. Internal.
 *
 * Views may be transposed unless said otherwise. What is done to small ones stands here, so
 * that it is compiled where it is called, without views that are passed in memory. What is
 * added to, or written, does not overlap with what is read. */
#ifndef WGI_OPS_MATRIX_PRODUCTS_H
#define WGI_OPS_MATRIX_PRODUCTS_H

#include <wengert/products.h>

#include "blas.h"
#include "call.h"
#include "expand.h"
#include "view.h"

/* ---- blocks ---- */

static inline wgi_view wgi_products_result(const wg_block *b) {
    return wgi_view_value(&b->out[0]);
}
static inline wgi_view wgi_products_bar(const wg_block *b) { return wgi_view_bar(&b->out[0]); }
/* n x n numbers of the workspace. */
static inline wgi_view wgi_products_square(const wg_block *b, size_t n) {
    return wgi_view_packed((double *)b->work, n, n);
}

/* ---- views ---- */

static inline wgi_view wgi_view_transposed(wgi_view a) { return wgi_view_turn(a, 1); }

/* y += alpha x */
static inline void wgi_view_add(double alpha, wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t yd = wgi_view_down(y), ya = wgi_view_across(y);
    for (size_t j = 0; j < y.cols; j++, x.p += xa, y.p += ya)
        if (xd == 1 && yd == 1)
            for (size_t i = 0; i < y.rows; i++) y.p[i] += alpha * x.p[i];
        else
            for (size_t i = 0; i < y.rows; i++) y.p[i * yd] += alpha * x.p[i * xd];
}

/* y += alpha (x + x^T), square. */
static inline void wgi_view_add_symmetric(double alpha, wgi_view x, wgi_view y) {
    wgi_view_add(alpha, x, y);
    wgi_view_add(alpha, wgi_view_transposed(x), y);
}

/* y = alpha x; alpha = 0: whatever x is. y is not transposed. */
static inline void wgi_view_set(double alpha, wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    for (size_t j = 0; j < y.cols; j++, y.p += y.ld) {
        if (alpha == 0)
            for (size_t i = 0; i < y.rows; i++) y.p[i] = 0;
        else if (xd == 1)
            for (size_t i = 0; i < y.rows; i++) y.p[i] = alpha * x.p[i];
        else
            for (size_t i = 0; i < y.rows; i++) y.p[i] = alpha * x.p[i * xd];
        if (alpha != 0) x.p += xa;
    }
}

static inline void wgi_view_clear(wgi_view y) { wgi_view_set(0, y, y); }

/* sum x y */
static inline double wgi_view_inner(wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t yd = wgi_view_down(y), ya = wgi_view_across(y);
    double sum = 0;
    for (size_t j = 0; j < x.cols; j++, x.p += xa, y.p += ya) {
        if (x.rows > 32) sum += cblas_ddot(wgi_int(x.rows), x.p, wgi_int(xd), y.p, wgi_int(yd));
        else
            for (size_t i = 0; i < x.rows; i++) sum += x.p[i * xd] * y.p[i * yd];
    }
    return sum;
}

/* Up to so many multiplications a call of BLAS costs more than it saves. */
enum { WGI_FEW_GEMM = 64, WGI_FEW_GEMV = 128 };
/* Is a product m by n, k in between, of so few? */
static inline int wgi_products_few(size_t m, size_t n, size_t k) {
    const int thin = m == 1 || n == 1 || k == 1;
    return m * n <= WGI_FEW_GEMV && m * n * k <= (thin ? WGI_FEW_GEMV : WGI_FEW_GEMM);
}

/* c += alpha a b */
void wgi_view_mul(double alpha, wgi_view a, wgi_view b, wgi_view c);

/* y = alpha a b + beta c, as variables; c.p NULL: there is none. As in BLAS nothing is looked
 * at whose factor is 0. */
void wgi_products_write(wg_tape *t, wg_real alpha, wgi_reals a, wgi_reals b, wg_real beta,
                        wgi_reals c, wg_real *y);

/* ---- flags ---- */

/* A letter among two: 0, 1; anything else: -1. */
int wgi_products_letter(char given, char zero, char one);
/* Of a letter N, T or C likewise. */
int wgi_products_turned(char trans);
extern const char wgi_products_bad_flag[];
static inline CBLAS_TRANSPOSE wgi_products_flag(unsigned trans) {
    return trans ? CblasTrans : CblasNoTrans;
}

#endif
