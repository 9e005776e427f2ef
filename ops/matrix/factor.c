/* SPDX-License-Identifier: MIT */
/* Factorisations as operands, and the sign of the determinant, which is their result.
 *
 *   S the matrix as it stands in memory (factor.h). */
#include <math.h>
#include "expand.h"
#include "factor.h"
#include "tape/engine/tape.h"
#include "tiny.h"

/* ---- factoring ---- */

wg_status wgi_factor_shape(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows;
    if ((n != 0 && p->count > SIZE_MAX / n) || b->in[0].cols != n * p->count)
        return wgi_block_refuse(b, WG_ESHAPE,
                                p->count == 1
                                    ? "the matrix is not square"
                                    : "the batch is not of that many square matrices");
    if (p->packed == NULL) b->saved_bytes = p->count * wgi_factor_bytes(p->kind, n);
    return WG_OK;
}

int wgi_factor_one(const wg_block *b, size_t k) {
    const wg_factor_kind kind = wgi_factored_of(b)->kind;
    const size_t n = b->in[0].rows;
    const wgi_dense a = wgi_value_of(&b->in[0], n, k);
    double *const packed = wgi_packed(b, k);
    const int order = wgi_int(n);
    if (n == 0) return 0;
    if (kind == WG_CHOLESKY) {
        wgi_copy_lower_of(n, a.p, a.ld, b->in[0].trans != 0, packed, n);
        return n <= WGI_TINY ? wgi_tiny_cholesky(n, packed)
                             : LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', order, packed, order);
    }
    wgi_copy(n, n, a.p, a.ld, packed, n);
    if (n <= WGI_TINY) return wgi_tiny_lu(n, packed, wgi_pivots(b, k));
    return LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, order, order, packed, order, wgi_pivots(b, k));
}

static wg_status refuse(wg_block *b, int info) {
    b->info = info;
    return wgi_block_refuse(b, WG_ESINGULAR,
                            wgi_factored_of(b)->kind == WG_LU
                                ? "the matrix is singular"
                                : "the matrix is not positive definite");
}

int wgi_factor_is_nan(const wg_block *b, size_t k, int lower) {
    const size_t n = b->in[0].rows;
    const wgi_dense a = wgi_value_of(&b->in[0], n, k);
    const int turned = lower && a.trans;
    for (size_t j = 0; j < n; j++)
        for (size_t i = lower && !turned ? j : 0; i < (turned ? j + 1 : n); i++)
            if (isnan(a.p[i + j * a.ld])) return 1;
    return 0;
}

/* A factor of NaN: whatever is computed from it is NaN. */
static void spoil(size_t n, double *packed, int *pivot) {
    for (size_t e = 0; e < n * n; e++) packed[e] = NAN;
    for (size_t i = 0; pivot != NULL && i < n; i++) pivot[i] = (int)i + 1;
}

wg_status wgi_factor_make(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int lower = p->kind == WG_CHOLESKY;
    if (p->packed != NULL) return WG_OK;
    for (size_t k = 0; k < p->count && b->in[0].rows != 0; k++) {
        const int info = wgi_factor_one(b, k);
        if (info == 0) continue;
        if (p->count == 1 || !wgi_factor_is_nan(b, k, lower)) return refuse(b, info);
        spoil(b->in[0].rows, wgi_packed(b, k), lower ? NULL : wgi_pivots(b, k));
    }
    return WG_OK;
}

double wgi_lu_sign(size_t n, const double *lu, const int *pivot) {
    double s = 1;
    for (size_t i = 0; i < n; i++) {
        const double u = lu[i * (n + 1)];
        s = u > 0 ? s : u < 0 ? -s : u * s;
        if ((size_t)pivot[i] != i + 1) s = -s;
    }
    return s;
}

size_t wgi_inverse_room(wg_factor_kind kind, size_t n) {
    enum { BLOCK = 64 }; /* of dgetri */
    return kind == WG_LU ? wgi_room_of(n > BLOCK ? BLOCK * n : n) : 0;
}

void wgi_inverse(wg_factor_kind kind, size_t n, const double *packed, const int *pivot,
                 double *g, double *work) {
    const int order = wgi_int(n);
    if (n == 0) return;
    if (kind == WG_CHOLESKY) wgi_cholesky_inverse(n, packed, g);
    else {
        if (g != packed) wgi_copy(n, n, packed, n, g, n);
        (void)LAPACKE_dgetri_work(LAPACK_COL_MAJOR, order, g, order, pivot, work,
                                  (int)(wgi_inverse_room(kind, n) / sizeof *work));
    }
}

wgi_factored wgi_factored_again(const wg_block *b, unsigned trans) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int pivots = p->kind == WG_LU;
    return (wgi_factored){p->kind, trans, p->count, wgi_packed(b, 0),
                          pivots ? wgi_pivots(b, 0) : NULL};
}

/* ---- the factor itself: its result is the sign of the determinant ---- */

static wg_status factor_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return wgi_factor_shape(b);
}

static wg_status factor_value(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const int info = wgi_factor_one(b, 0);
    if (info != 0) return refuse(b, info);
    b->out[0].value[0] = p->kind == WG_LU ? wgi_lu_sign(b->in[0].rows, p->packed, p->pivot) : 1;
    return WG_OK;
}

static wg_status factor_vjp(wg_block *b) {
    (void)b;
    return WG_OK;
}

static wg_status factor_jvp(wg_block *b) {
    b->out[0].bar[0] = 0;
    return WG_OK;
}

static wg_status factor_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    const size_t n = a.rows;
    *y = wg_constant(1);
    if (n == 0) return WG_OK;
    if (wgi_factored_of(b)->kind == WG_LU) {
        wgi_expand_logdet(t, a, NULL, y);
        return WG_OK;
    }
    const wg_real *const l = wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0));
    if (l != NULL) *y = wgi_expand_good(t, l[n * n - 1]);
    return WG_OK;
}

static wg_status factor_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    (void)b, (void)in, (void)out, (void)bar, (void)back;
    return wg_tape_status(t);
}

const wg_block_op wgi_op_lu = {"wg_lu",       WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EXPANDS,
                               factor_shape,  factor_value,
                               factor_vjp,    factor_jvp,
                               factor_expand, factor_adjoint,
                               NULL};
const wg_block_op wgi_op_potrf = {"wg_potrf",    WG_OP_TRANS | WG_OP_ZERO_RULE | WG_OP_EXPANDS,
                                  factor_shape,  factor_value,
                                  factor_vjp,    factor_jvp,
                                  factor_expand, factor_adjoint,
                                  NULL};

static wg_factor factor(wg_tape *t, wg_factor_kind kind, wg_mat a) {
    wg_factor f = {.a = a, .sign = wg_mat_failed(1, 1), .kind = kind};
    wgi_factored p = {kind, 0, 1, NULL, NULL};
    if (a.value != NULL && a.rows == a.cols)
        f.packed = (double *)wg_tape_keep(t, wgi_factor_bytes(kind, wgi_ld(a.rows)), NULL);
    if (f.packed != NULL && kind == WG_LU)
        f.pivot = (int *)(void *)((char *)f.packed + wgi_room_of(a.rows * a.rows));
    p.packed = f.packed, p.pivot = f.pivot;
    const wg_status s = wg_apply(t, kind == WG_LU ? &wgi_op_lu : &wgi_op_potrf, &p, sizeof p, 1,
                                 &a, 1, &f.sign);
    if (s != WG_OK) f.packed = NULL, f.pivot = NULL;
    f.made = wg_tape_mark(t);
    return f;
}

wg_mat wgi_factor_operand(const wg_tape *t, const wg_factor *f) {
    wg_mat place = f->sign;
    if (t != NULL && place.value != NULL && !wgi_mark_alive(wgi_core_of_const(t), f->made))
        place.at.slot = UINT32_MAX; /* in use on no tape */
    return place;
}

wg_factor wg_lu(wg_tape *t, wg_mat a) { return factor(t, WG_LU, a); }
wg_factor wg_potrf(wg_tape *t, wg_mat a) { return factor(t, WG_CHOLESKY, a); }

wg_mat wgi_from_factor(wg_tape *t, const wg_block_op *op, wg_factor f) {
    const wgi_factored p = {f.kind, 0, 1, f.packed, f.pivot};
    const wg_mat in[2] = {f.a, wgi_factor_operand(t, &f)};
    return wgi_apply_one(t, op, &p, sizeof p, 2, in);
}

wg_mat wgi_from_matrix(wg_tape *t, const wg_block_op *op, wg_factor_kind kind, wg_mat a) {
    const wgi_factored p = {kind, 0, 1, NULL, NULL};
    return wgi_apply_one(t, op, &p, sizeof p, 1, &a);
}
