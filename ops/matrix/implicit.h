/* SPDX-License-Identifier: MIT */
/* implicit.h - the derivative of x(p) with F(x, p) = 0, from the Jacobians of F. */
#ifndef WGI_OPS_MATRIX_IMPLICIT_H
#define WGI_OPS_MATRIX_IMPLICIT_H

#include <wengert/block.h>

/* Factored once, in place: lu is F_x, then its LU factors; fp is F_p. Row-major, so that the
 * factors are those of F_x'. */
typedef struct wgi_implicit {
    size_t n, np;
    const double *x;
    double *lu, *fp; /* n-by-n, n-by-np */
    int *pivot;
} wgi_implicit;

/* Factors lu. Gives LAPACK's info. */
int wgi_implicit_factor(const wgi_implicit *f);

/* params: wgi_implicit. Operand: p, np-by-1. Result: x, n-by-1. */
extern const wg_block_op wgi_op_implicit, wgi_op_fixed_point;

#endif
