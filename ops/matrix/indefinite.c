/* SPDX-License-Identifier: MIT */
/* Symmetric matrices that need not be definite: systems, log-determinant, inertia.
 *
 * Letters: S = sym A with the values of the lower triangle, P'S P = L D L' by Bunch and
 * Kaufman's pivoting (dsytrf), D of blocks of order 1 and 2; a bar for adjoints, a dot for
 * tangents.
 *
 *     S X = B:      W = S^-1 X_,  B_ += W,  A_ -= (W X' + X W')/2;   X. = S^-1 (B. - sym(A.) X)
 *     log |det S|:  A_ += w S^-1;   tangent  sum(S^-1 o A.)
 *
 * L and D without pivoting, which is what a recursion would give, are not bounded for such
 * matrices, and with pivoting they jump where the pivots change: what is computed from them
 * does not.
 * Sources: Bunch and Kaufman 1977; Giles 2008, 2.3.1 and 2.3.2. */
#include <math.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include <wengert/solve.h>
#include "dense.h"
#include "expand.h"
#include "spectral.h"

/* ---- the factor ---- */

/* Params: where the factor stands that was made already; NULL: the operation makes its own. */
struct factored {
    double *packed;
    int *pivot;
};

static size_t factor_bytes(size_t n) {
    return wgi_room_of(n * n) + wgi_rounded(n * sizeof(int));
}
static size_t factor_room(size_t n) { return 64 * wgi_ld(n); } /* blocks of 64 columns */

static double *packed_of(const wg_block *b) {
    const struct factored *const p = b->params;
    return p->packed != NULL ? p->packed : (double *)b->saved;
}
static int *pivots_of(const wg_block *b) {
    const struct factored *const p = b->params;
    const size_t n = b->in[0].rows;
    if (p->packed != NULL) return p->pivot;
    return (int *)(void *)((char *)b->saved + wgi_room_of(n * n));
}
static struct factored factored_again(const wg_block *b) {
    return (struct factored){packed_of(b), pivots_of(b)};
}

static wg_status factor_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    if (b->in[0].cols != n) return wgi_block_refuse(b, WG_ESHAPE, "the matrix is not square");
    if (n > WGI_SPECTRAL_ORDER) return wgi_block_refuse(b, WG_ESHAPE, WGI_SPECTRAL_TOO_LARGE);
    if (((const struct factored *)b->params)->packed == NULL) b->saved_bytes = factor_bytes(n);
    return WG_OK;
}

static wg_status factor(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    double *const packed = packed_of(b);
    if (((const struct factored *)b->params)->packed != NULL || n == 0) return WG_OK;
    memset(packed, 0, n * n * sizeof *packed);
    wgi_copy_lower_of(n, a->value, a->ld, a->trans != 0, packed, n);
    if (!wgi_spectral_finite(n, n, packed, n))
        return wgi_block_refuse(b, WG_ENONFINITE, WGI_SPECTRAL_NOT_FINITE);
    b->info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'L', wgi_int(n), packed, wgi_int(n),
                                  pivots_of(b), (double *)b->work, wgi_int(factor_room(n)));
    if (b->info == 0) return WG_OK;
    return wgi_block_refuse(b, WG_ESINGULAR, "the matrix is singular");
}

/* x = S^-1 x, k columns. */
static void solve(const wg_block *b, size_t k, double *x) {
    const int n = wgi_int(b->in[0].rows);
    if (n == 0 || k == 0) return;
    (void)LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'L', n, wgi_int(k), packed_of(b), n,
                              pivots_of(b), x, n);
}

/* ---- systems ---- */

static wg_status solve_shape(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[1].cols;
    if (b->in[1].rows != n)
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the right-hand side has not as many rows as the matrix");
    b->out[0].rows = n, b->out[0].cols = k;
    b->work_bytes = wgi_room_of(n * k) + wgi_room_of(factor_room(n));
    return factor_shape(b);
}

static wg_status solve_value(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[1].cols;
    const wg_status s = factor(b);
    if (s != WG_OK) return s;
    wgi_get(n, k, wgi_value_of(&b->in[1], k, 0), b->out[0].value);
    solve(b, k, b->out[0].value);
    return WG_OK;
}

static wg_status solve_vjp(wg_block *b) {
    const size_t n = b->in[0].rows, k = b->in[1].cols;
    const double *const x = b->out[0].value;
    double *const w = b->work;
    if (n == 0 || k == 0) return WG_OK;
    memcpy(w, b->out[0].bar, n * k * sizeof *w);
    solve(b, k, w);
    if (b->in[1].bar != NULL) wgi_add(n, k, 1, w, wgi_bar_of(&b->in[1], k, 0));
    if (b->in[0].bar == NULL) return WG_OK;
    const wgi_dense a = wgi_bar_of(&b->in[0], n, 0);
    wgi_gemm_add(n, n, k, -0.5, 'N', w, n, 'T', x, n, a);
    wgi_gemm_add(n, n, k, -0.5, 'N', x, n, 'T', w, n, a);
    return WG_OK;
}

static wg_status solve_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows, k = b->in[1].cols;
    const int order = wgi_int(n), cols = wgi_int(k);
    double *const xt = b->out[0].bar;
    if (n == 0 || k == 0) return WG_OK;
    memset(xt, 0, n * k * sizeof *xt);
    if (b->in[1].bar != NULL) wgi_get(n, k, wgi_bar_of(&b->in[1], k, 0), xt);
    for (int turned = 0; a->bar != NULL && turned < 2; turned++)
        cblas_dgemm(CblasColMajor, wgi_op(turned), CblasNoTrans, order, cols, order, -0.5,
                    a->bar, wgi_int(a->bar_ld), b->out[0].value, order, 1, xt, order);
    solve(b, k, xt);
    return WG_OK;
}

static wg_status solve_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wg_real *const s = wgi_expand_symmetric(t, wgi_reals_operand(b, x, 0), 0);
    wgi_expand_copy(wgi_reals_operand(b, x, 1), y);
    if (s != NULL) wgi_expand_solve(t, wgi_reals_packed(s, n, n), 0, b->in[1].cols, y);
    return wg_tape_status(t);
}

static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back);

const wg_block_op wgi_op_solve_symmetric = {"wg_solve_symmetric",
                                            WG_OP_TRANS | WG_OP_EXPANDS,
                                            solve_shape,
                                            solve_value,
                                            solve_vjp,
                                            solve_jvp,
                                            solve_expand,
                                            solve_adjoint,
                                            NULL};

/* S^-1 x, by the factor that a block has. */
static wg_mat solve_again(wg_tape *t, const wg_block *b, wg_mat a, wg_mat x) {
    const struct factored p = factored_again(b);
    const wg_mat in[2] = {a, x};
    return wgi_apply_one(t, &wgi_op_solve_symmetric, &p, sizeof p, 2, in);
}

static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const wg_mat x = out[0];
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    const wg_mat w = solve_again(t, b, in[0], bar[0]);
    back[1] = w;
    if (in[0].at.slot != 0)
        back[0] = wg_gemm(t, 'N', 'T', -0.5, w, x, 1, wg_gemm(t, 'N', 'T', -0.5, x, w, 0, w));
    return wg_tape_status(t);
}

wg_mat wg_solve_symmetric(wg_tape *t, wg_mat a, wg_mat b) {
    const struct factored p = {NULL, NULL};
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, &wgi_op_solve_symmetric, &p, sizeof p, 2, in);
}

/* ---- log-determinant; the number of negative eigenvalues is the second result ---- */

static wg_status logdet_shape(wg_block *b) {
    const size_t n = b->in[0].rows;
    for (size_t k = 0; k < 2; k++) b->out[k].rows = b->out[k].cols = 1;
    b->work_bytes = wgi_room_of(n * n) + wgi_room_of(factor_room(n));
    return factor_shape(b);
}

static wg_status logdet_value(wg_block *b) {
    const size_t n = b->in[0].rows;
    const wg_status s = factor(b);
    const double *const d = packed_of(b);
    const int *const pivot = pivots_of(b);
    double sum = 0, negative = 0;
    if (s != WG_OK) return s;
    for (size_t i = 0; i < n; i++) {
        const double *const at = d + i * (n + 1);
        sum += log(fabs(at[pivot[i] > 0 ? 0 : 1]));
        negative += pivot[i] > 0 && at[0] < 0;
        if (pivot[i] > 0) continue;
        /* [p q; q r] has q^2 (p/q r/q - 1), which is negative by the choice of the pivots */
        const double rest = at[0] / at[1] * (at[n + 1] / at[1]) - 1;
        sum += log(fabs(at[1])) + log(fabs(rest));
        negative += rest < 0 ? 1 : at[0] < 0 ? 2 : 0;
        i++;
    }
    b->out[0].value[0] = sum;
    b->out[1].value[0] = negative;
    return WG_OK;
}

/* S^-1 in the workspace. */
static const double *inverse(const wg_block *b) {
    const size_t n = b->in[0].rows;
    double *const g = b->work;
    memset(g, 0, n * n * sizeof *g);
    for (size_t i = 0; i < n; i++) g[i * (n + 1)] = 1;
    solve(b, n, g);
    return g;
}

static wg_status logdet_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    const wg_block_arg *const a = &b->in[0];
    if (a->bar == NULL || w == 0 || a->rows == 0) return WG_OK;
    wgi_add_symmetrised(a->rows, w, inverse(b), a->rows, a->bar, a->bar_ld);
    return WG_OK;
}

static wg_status logdet_jvp(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->rows;
    double sum = 0;
    if (a->bar != NULL && n != 0) {
        const double *const g = inverse(b);
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                sum += a->bar[i + j * a->bar_ld] * (0.5 * g[i + j * n] + 0.5 * g[j + i * n]);
    }
    b->out[0].bar[0] = sum;
    b->out[1].bar[0] = 0;
    return WG_OK;
}

static wg_status logdet_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    const wg_real *const s = wgi_expand_symmetric(t, wgi_reals_operand(b, x, 0), 0);
    y[1] = wg_constant(b->out[1].value != NULL ? b->out[1].value[0] : 0);
    if (s != NULL) wgi_expand_logdet(t, wgi_reals_packed(s, n, n), y, NULL);
    return wg_tape_status(t);
}

static wg_status logdet_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    (void)out;
    if (in[0].rows == 0) return WG_OK;
    const wg_mat g = solve_again(t, b, in[0], wg_mat_identity(t, in[0].rows));
    back[0] = wg_mat_mul(t, bar[0], wg_mat_axpby(t, 0.5, g, 0.5, wg_mat_transpose(g)));
    return wg_tape_status(t);
}

const wg_block_op wgi_op_logabsdet_symmetric = {"wg_logabsdet_symmetric",
                                                WG_OP_TRANS | WG_OP_EXPANDS,
                                                logdet_shape,
                                                logdet_value,
                                                logdet_vjp,
                                                logdet_jvp,
                                                logdet_expand,
                                                logdet_adjoint,
                                                NULL};

wg_real wg_logabsdet_symmetric(wg_tape *t, wg_mat a, size_t *negative) {
    const struct factored p = {NULL, NULL};
    wg_mat out[2];
    const wg_status s = wg_apply(t, &wgi_op_logabsdet_symmetric, &p, sizeof p, 1, &a, 2, out);
    if (negative != NULL)
        *negative = s == WG_OK ? (size_t)wg_mat_at(out[1], 0, 0).value : SIZE_MAX;
    return wg_mat_at(out[0], 0, 0);
}
