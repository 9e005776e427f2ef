/* SPDX-License-Identifier: MIT */
/* whole.h - operations on matrices that a function keeps as they are, each as one node: those
 * that are not made of products, solves and factorisations (dense.def), such as eigenvalues.
 * Internal.
 *
 * Their values come from the descriptor, their derivatives from its `adjoint`, or a rule for
 * functions, taken apart into nodes (tape/function/graph/whole_node.c). That has to be the same
 * calls at all points, of operations that functions have: where there is no derivative it
 * has to make it NaN. */
#ifndef WGI_OPS_MATRIX_WHOLE_H
#define WGI_OPS_MATRIX_WHOLE_H

#include <wengert/block.h>

/* A row, in the file of its family.
 * operands, results   rows and columns of each, a letter for each number: m, n, k are sizes; s is
 *                     the smaller of m and n; 1
 * rule                its adjoint in a function, as `adjoint` of its descriptor; NULL: that
 * params, bytes       of every call; or params are `numbers` doubles, which follow the operands of a
 *                     node and are not differentiated
 * flops               about so many for each m n s */
typedef struct wgi_whole {
    const wg_block_op *op;
    const char *operands, *results;
    wg_status (*rule)(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                      const wg_mat *bar, wg_mat *back);
    const void *params;
    size_t bytes;
    unsigned numbers, flops;
} wgi_whole;

/* Are its numbers functions of the user's, and what goes to them (traits.h)? */
int wgi_whole_is_own(const wgi_whole *w);

/* All rows: texts and files know those that are the library's own by the names of their
 * descriptors. */
extern const wgi_whole *const wgi_wholes[];
extern const size_t wgi_whole_count;
/* Which row it is; wgi_whole_count: none. */
size_t wgi_whole_index(const wgi_whole *w);
size_t wgi_whole_named(const char *name, size_t bytes);

/* One of them, of matrices of the sizes m, n, k. */
typedef struct wgi_whole_op {
    const wgi_whole *row;
    size_t size[3];
} wgi_whole_op;

/* The sizes of a call of the operation; 0: its operands have other shapes than the row has. A k
 * that only results have is the columns of the first. */
int wgi_whole_sizes(const wgi_whole *w, const wg_block *b, wgi_whole_op *op);
/* Are those sizes there that it has, and no others, and does it take them? */
int wgi_whole_fits(const wgi_whole_op *op);
/* Elements, numbers among the operands; as many as there can be where they overflow. */
size_t wgi_whole_operands(const wgi_whole_op *op);
size_t wgi_whole_results(const wgi_whole_op *op);
size_t wgi_whole_flops(const wgi_whole_op *op);
/* Bytes; number: its numbers, or NULL. */
size_t wgi_whole_work(const wgi_whole_op *op, const double *number);

/* A call on arrays without gaps, one matrix after the other, in `arg`, which has room for
 * them all. */
enum { WGI_WHOLE_ARGS = 10, WGI_WHOLE_NUMBERS = 4 };
void wgi_whole_call(const wgi_whole_op *op, const double *x, double *y, wg_block_arg *arg,
                    wg_block *b);
/* y from x, numbers behind the operands; NaN where the operation refuses, or wants more than so
 * many bytes of work, which is 64-byte aligned. */
void wgi_whole_value(const wgi_whole_op *op, const double *x, double *y, void *work,
                     size_t bytes);

extern const wgi_whole wgi_whole_eigh, wgi_whole_eigh_general, wgi_whole_svd,
    wgi_whole_norm_nuclear, wgi_whole_norm_spectral, wgi_whole_sqrtm, wgi_whole_logm,
    wgi_whole_expm, wgi_whole_sylvester, wgi_whole_lyapunov, wgi_whole_lyapunov_discrete,
    wgi_whole_qr, wgi_whole_lstsq, wgi_whole_pinv, wgi_whole_lu_factors, wgi_whole_qr_pivoted,
    wgi_whole_polar, wgi_whole_signm, wgi_whole_riccati, wgi_whole_riccati_discrete,
    wgi_whole_eig, wgi_whole_kalman, wgi_whole_null_space, wgi_whole_mapped,
    wgi_whole_ode_value, wgi_whole_ode_back, wgi_whole_ode_tangent, wgi_whole_ode_second;
#define WGI_WHOLE_SYMMETRIC(name)                                                              \
    extern const wgi_whole wgi_whole_symmetric_##name, wgi_whole_symmetric_##name##_along,     \
        wgi_whole_symmetric_##name##_second;
WGI_WHOLE_SYMMETRIC(exp)
WGI_WHOLE_SYMMETRIC(log)
WGI_WHOLE_SYMMETRIC(sqrt)
WGI_WHOLE_SYMMETRIC(inverse_sqrt)
WGI_WHOLE_SYMMETRIC(power)
WGI_WHOLE_SYMMETRIC(own)
#undef WGI_WHOLE_SYMMETRIC

#endif
