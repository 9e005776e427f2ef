/* SPDX-License-Identifier: MIT */
/* Cholesky, with the factor as the result; of a batch, too.
 *
 *   adjoint  wgi_cholesky_bar (dense_blas.h)
 *   tangent  L phi(L^-1 sym(At) L^-T), phi the lower triangle with half the diagonal
 * Source: Giles 2008, 2.3.2. */
#include <math.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "dense_values.h"
#include "expand.h"
#include "factor.h"
#include "spectral.h"
#include "tiny.h"
#include "traits.h"

static wg_status cholesky_shape(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    if ((n != 0 && count > SIZE_MAX / n) || b->in[0].cols != n * count)
        return wgi_block_refuse(b, WG_ESHAPE,
                                count == 1 ? "the matrix is not square"
                                           : "the batch is not of that many square matrices");
    b->out[0].rows = n, b->out[0].cols = n * count;
    b->work_bytes = wgi_room_of(n * n) + wgi_room_of(wgi_cholesky_bar_room());
    return WG_OK;
}

static wg_status cholesky_value(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    for (size_t k = 0; k < count && n != 0; k++) {
        const wgi_dense a = wgi_value_of(&b->in[0], n, k);
        double *const l = b->out[0].value + k * n * n;
        for (size_t j = 0; j < n; j++) memset(l + j * n, 0, j * sizeof *l);
        wgi_copy_lower_of(n, a.p, a.ld, b->in[0].trans != 0, l, n);
        b->info = n <= WGI_TINY
                      ? wgi_tiny_cholesky(n, l)
                      : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', wgi_int(n), l, wgi_int(n));
        if (b->info == 0) continue;
        if (count == 1 || !wgi_factor_is_nan(b, k, 1))
            return wgi_block_refuse(b, WG_ESINGULAR, "the matrix is not positive definite");
        b->info = 0;
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++) l[i + j * n] = NAN;
    }
    return WG_OK;
}

static wg_status cholesky_vjp(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    char *work = (char *)b->work;
    double *const w = wgi_take(&work, n * n), *const s = (double *)(void *)work;
    for (size_t k = 0; k < count && n != 0 && b->in[0].bar != NULL; k++) {
        const wgi_dense a = wgi_bar_of(&b->in[0], n, k);
        if (wgi_nothing(n, n, wgi_bar_of(&b->out[0], n, k))) continue;
        wgi_copy_lower(n, b->out[0].bar + k * n * n, n, w, n);
        wgi_cholesky_bar(n, b->out[0].value + k * n * n, w, s);
        for (size_t i = 0; i < n; i++) w[i * (n + 1)] *= 2;
        wgi_add_symmetric(n, 0.5, w, n, a.p, a.ld);
    }
    return WG_OK;
}

static wg_status cholesky_jvp(wg_block *b) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    const int ld = wgi_int(n);
    if (b->in[0].bar == NULL) memset(b->out[0].bar, 0, n * n * count * sizeof(double));
    for (size_t k = 0; k < count && n != 0 && b->in[0].bar != NULL; k++) {
        const double *const l = b->out[0].value + k * n * n;
        double *const lt = b->out[0].bar + k * n * n;
        const wgi_dense a = wgi_bar_of(&b->in[0], n, k);
        if (wgi_nothing(n, n, a)) {
            memset(lt, 0, n * n * sizeof *lt);
            continue;
        }
        wgi_symmetrise(n, a.p, a.ld, lt);
        cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
        for (size_t j = 0; j < n; j++) {
            memset(lt + j * n, 0, j * sizeof *lt);
            lt[j * (n + 1)] *= 0.5;
        }
        cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, ld, ld, 1,
                    l, ld, lt, ld);
    }
    return WG_OK;
}

static wg_status cholesky_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t count = *(const size_t *)b->params, n = b->in[0].rows;
    for (size_t k = 0; k < count; k++) {
        const wgi_reals a = wgi_reals_cols(wgi_reals_operand(b, x, 0), k * n, n);
        const wg_real *const l = wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0));
        if (l == NULL) return wg_tape_status(t);
        wgi_expand_copy(wgi_reals_packed(l, n, n), y + k * n * n);
        /* without a root all that follow are NaN, not those before */
        if (n != 0) wgi_expand_spoil(t, wgi_expand_good(t, l[n * n - 1]), n * n, y + k * n * n);
    }
    return WG_OK;
}

/* S = L^-T phi(L' W) L^-1,  A_ = (S + S')/2 */
static wg_mat cholesky_back(wg_tape *t, wg_mat l, wg_mat w, wg_mat phi) {
    const wg_mat p = wg_mat_mul(t, wg_gemm(t, 'T', 'N', 1, l, wg_tril(t, w, 0), 0, l), phi);
    const wg_mat left = wg_trsm(t, 'L', 'L', 'T', 'N', 1, l, p);
    const wg_mat s = wg_trsm(t, 'R', 'L', 'N', 'N', 1, l, left);
    return wg_mat_axpby(t, 0.5, s, 0.5, wg_mat_transpose(s));
}

static wg_status cholesky_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                  const wg_mat *bar, wg_mat *back) {
    const size_t count = *(const size_t *)b->params, n = in[0].rows;
    double *const phi = wg_tape_keep(t, n * n * sizeof(double), NULL);
    wg_mat *const members = wg_tape_keep(t, count * sizeof *members, NULL);
    if (n == 0 || count == 0 || phi == NULL || members == NULL) return wg_tape_status(t);
    for (size_t e = 0; e < n * n; e++) phi[e] = e % n > e / n ? 1 : e % n == e / n ? 0.5 : 0;
    const wg_mat half = wg_mat_constant_borrowed(t, n, n, phi, n);
    for (size_t k = 0; k < count; k++) {
        const wg_mat w = wg_mat_block(bar[0], 0, k * n, n, n);
        members[k] = wgi_spectral_untouched(t, w)
                         ? wg_mat_fill(t, n, n, 0) /* whatever the member is, as in sweeps */
                         : cholesky_back(t, wg_mat_block(out[0], 0, k * n, n, n), w, half);
    }
    back[0] = count == 1 ? members[0] : wg_concat_cols(t, count, members);
    return wg_tape_status(t);
}

const wg_block_op wgi_op_cholesky = {"wg_cholesky",
                                     WG_OP_TRANS | WG_OP_EXPANDS,
                                     cholesky_shape,
                                     cholesky_value,
                                     cholesky_vjp,
                                     cholesky_jvp,
                                     cholesky_expand,
                                     cholesky_adjoint,
                                     NULL};
static void batch_parts(const void *params, wgi_parts *p) {
    p->count = *(const size_t *)params;
}

static const wgi_traits batch_traits = {.parts = batch_parts};

const wg_block_op wgi_op_cholesky_batch = {"wg_cholesky_batch", WG_OP_TRANS | WG_OP_EXPANDS,
                                           cholesky_shape,      cholesky_value,
                                           cholesky_vjp,        cholesky_jvp,
                                           cholesky_expand,     cholesky_adjoint,
                                           &batch_traits};

static wg_mat cholesky(wg_tape *t, const wg_block_op *op, size_t count, wg_mat a) {
    return wgi_apply_one(t, op, &count, sizeof count, 1, &a);
}

wg_mat wg_cholesky(wg_tape *t, wg_mat a) { return cholesky(t, &wgi_op_cholesky, 1, a); }
wg_mat wg_cholesky_batch(wg_tape *t, size_t count, wg_mat a) {
    return cholesky(t, &wgi_op_cholesky_batch, count, a);
}
