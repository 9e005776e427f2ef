/* SPDX-License-Identifier: MIT */
/* Inverses, of a factor or of a matrix.
 *
 *   C = A^-1, G its adjoint:   A_ -= C' G C'   tangent  -C At C
 * Source: Giles 2008, 2.2.3. */
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "expand.h"
#include "factor.h"

static wg_status inverse_shape(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const size_t forward = wgi_inverse_room(kind, n);
    const size_t back = (kind == WG_CHOLESKY ? 2 : 1) * wgi_room_of(n * n);
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = forward > back ? forward : back;
    return wgi_factor_shape(b);
}

static wg_status inverse_value(wg_block *b) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    double *const c = b->out[0].value;
    const wg_status s = wgi_factor_make(b);
    if (s != WG_OK) return s;
    wgi_inverse(kind, n, wgi_packed(b, 0), wgi_pivots(b, 0), c, (double *)b->work);
    if (kind == WG_CHOLESKY) wgi_mirror(n, c, n);
    else if (b->in[0].trans) wgi_transpose(n, c);
    return WG_OK;
}

/* z = f op(x) y op(x), all of order n; t: room for x y. */
static void sandwich(size_t n, double f, int trans, const double *x, const double *y,
                     size_t ldy, unsigned ty, double *t, double beta, double *z) {
    const int order = wgi_int(n);
    cblas_dgemm(CblasColMajor, wgi_op(trans), wgi_op(ty != 0), order, order, order, 1, x, order,
                y, wgi_int(ldy), 0, t, order);
    cblas_dgemm(CblasColMajor, CblasNoTrans, wgi_op(trans), order, order, order, f, t, order, x,
                order, beta, z, order);
}

static wg_status inverse_vjp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    const int order = wgi_int(n);
    const double *const c = b->out[0].value, *const g = b->out[0].bar;
    char *work = (char *)b->work;
    double *const t = wgi_take(&work, n * n);
    if (a->bar == NULL || n == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        double *const z = wgi_take(&work, n * n);
        sandwich(n, 1, 0, c, g, n, 0, t, 0, z);
        wgi_add_symmetrised(n, -1, z, n, a->bar, a->bar_ld);
        return WG_OK;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, order, order, order, 1, c, order, g,
                order, 0, t, order);
    wgi_gemm_add(n, n, n, -1, 'N', t, n, 'T', c, n, wgi_bar_of(a, n, 0));
    return WG_OK;
}

static wg_status inverse_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    const double *const c = b->out[0].value;
    char *work = (char *)b->work;
    double *const t = wgi_take(&work, n * n);
    if (n == 0) return WG_OK;
    if (a->bar == NULL) {
        memset(b->out[0].bar, 0, n * n * sizeof *t);
    } else if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        double *const z = wgi_take(&work, n * n);
        wgi_symmetrise(n, a->bar, a->bar_ld, z);
        sandwich(n, -1, 0, c, z, n, 0, t, 0, b->out[0].bar);
    } else {
        sandwich(n, -1, 0, c, a->bar, a->bar_ld, a->trans, t, 0, b->out[0].bar);
    }
    return WG_OK;
}

static wg_status inverse_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        for (size_t e = 0; e < n * n; e++) y[e] = wg_constant(e % (n + 1) == 0);
        const wg_real *const s = wgi_expand_symmetric(t, a, 0);
        wgi_expand_cholesky_solve(t, n, wgi_expand_cholesky(t, n, s), n, y);
    } else wgi_expand_inverse(t, a, y);
    return WG_OK;
}

static wg_status inverse_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                 const wg_mat *bar, wg_mat *back) {
    const wg_mat c = out[0];
    if (in[0].rows == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_CHOLESKY) {
        const wg_mat z = wg_gemm(t, 'N', 'N', -0.5, wg_matmul(t, c, bar[0]), c, 0, c);
        back[0] = wg_mat_add(t, z, wg_mat_transpose(z));
    } else {
        const wg_mat z = wg_gemm(t, 'T', 'N', 1, c, bar[0], 0, c);
        back[0] = wg_gemm(t, 'N', 'T', -1, z, c, 0, c);
    }
    return wg_tape_status(t);
}

WGI_FACTORED(factor_inverse, inverse, NULL);
WGI_FACTORED(inverse, inverse, NULL);
WGI_FACTORED(inverse_spd, inverse, NULL);

wg_mat wg_factor_inverse(wg_tape *t, wg_factor f) {
    return wgi_from_factor(t, &wgi_op_factor_inverse, f);
}
wg_mat wg_inverse(wg_tape *t, wg_mat a) {
    return wgi_from_matrix(t, &wgi_op_inverse, WG_LU, a);
}
wg_mat wg_inverse_spd(wg_tape *t, wg_mat a) {
    return wgi_from_matrix(t, &wgi_op_inverse_spd, WG_CHOLESKY, a);
}

wg_mat wgi_inverse_again(wg_tape *t, const wg_block *b, wg_mat a) {
    const wgi_factored p = wgi_factored_again(b, 0);
    return wgi_apply_one(t, &wgi_op_factor_inverse, &p, sizeof p, 1, &a);
}
