/* SPDX-License-Identifier: MIT */
/* Solves with sparse matrices, X = op(S)^-1 B, by the factors of sparse_factor.c:
 *
 *     W = op(S)^-T X_;  B_ += W;  v_[k] -= <W(i, :), X(j, :)>,  transposed or symmetrised as S
 * is X~ = op(S)^-1 (B~ - op(S~) X) */
#include "sparse_factor.h"

#include <string.h>

/* x = S^-1 x, or S^-T x; z of n is room. */
static void solve_spd(const wgi_sparse_factors *f, double *x, double *z) {
    for (size_t k = 0; k < f->n; k++) z[k] = x[f->p[k]];
    for (size_t j = 0; j < f->n; j++) {
        const int first = f->lp[j], end = f->lp[j + 1];
        const double a = z[j] /= f->lx[first];
        for (int k = first + 1; k < end; k++) z[f->li[k]] -= f->lx[k] * a;
    }
    for (size_t j = f->n; j-- > 0;) {
        const int first = f->lp[j], end = f->lp[j + 1];
        double a = z[j];
        for (int k = first + 1; k < end; k++) a -= f->lx[k] * z[f->li[k]];
        z[j] = a / f->lx[first];
    }
    for (size_t k = 0; k < f->n; k++) x[f->p[k]] = z[k];
}

static void solve_lu(const wgi_sparse_factors *f, double *x, double *z) {
    for (size_t k = 0; k < f->n; k++) z[k] = f->r[f->p[k]] * x[f->p[k]];
    for (size_t i = 0; i < f->n; i++)
        for (int k = f->lp[i]; k < f->lp[i + 1] - 1; k++) z[i] -= f->lx[k] * z[f->li[k]];
    for (size_t j = f->n; j-- > 0;) {
        const int last = f->up[j + 1] - 1;
        const double a = z[j] /= f->ux[last];
        for (int k = f->up[j]; k < last; k++) z[f->ui[k]] -= f->ux[k] * a;
    }
    for (size_t k = 0; k < f->n; k++) x[f->q[k]] = z[k];
}

static void solve_lu_transposed(const wgi_sparse_factors *f, double *x, double *z) {
    for (size_t k = 0; k < f->n; k++) z[k] = x[f->q[k]];
    for (size_t j = 0; j < f->n; j++) {
        const int last = f->up[j + 1] - 1;
        double a = z[j];
        for (int k = f->up[j]; k < last; k++) a -= f->ux[k] * z[f->ui[k]];
        z[j] = a / f->ux[last];
    }
    for (size_t i = f->n; i-- > 0;)
        for (int k = f->lp[i]; k < f->lp[i + 1] - 1; k++) z[f->li[k]] -= f->lx[k] * z[i];
    for (size_t k = 0; k < f->n; k++) x[f->p[k]] = f->r[f->p[k]] * z[k];
}

/* Every column of x, contiguous; `other`: with the other transposition. */
static void solve(const wg_block *b, int other, double *x, size_t cols, double *z) {
    const wgi_sparse_factors *const f = wgi_sparse_solving_of(b)->factors;
    const int trans = wgi_sparse_solving_of(b)->trans != other;
    for (size_t j = 0; j < cols; j++, x += f->n)
        if (f->spd) solve_spd(f, x, z);
        else if (trans) solve_lu_transposed(f, x, z);
        else solve_lu(f, x, z);
}

static wg_status solve_shape(wg_block *b) {
    const wg_status e = wgi_sparse_factor_shape(b);
    if (e != WG_OK) return e;
    const size_t n = b->in[1].rows, k = b->in[1].cols, bytes = n * (k + 1) * sizeof(double);
    b->out[0].rows = n;
    b->out[0].cols = k;
    if (b->work_bytes < bytes) b->work_bytes = bytes;
    return WG_OK;
}

static void copy(wgi_view from, double *x) {
    const size_t down = wgi_view_down(from), across = wgi_view_across(from);
    for (size_t j = 0; j < from.cols; j++)
        for (size_t i = 0; i < from.rows; i++) *x++ = from.p[i * down + j * across];
}

static wg_status solve_value(wg_block *b) {
    const wg_status e = wgi_sparse_factor_again(b);
    if (e != WG_OK) return e;
    copy(wgi_view_value(&b->in[1]), b->out[0].value);
    solve(b, 0, b->out[0].value, b->out[0].cols, (double *)b->work);
    return WG_OK;
}

static wg_status solve_vjp(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const wgi_view x = wgi_view_value(&b->out[0]);
    const size_t n = x.rows, k = x.cols;
    const wgi_view w = wgi_view_packed((double *)b->work, n, k);
    copy(wgi_view_bar(&b->out[0]), w.p);
    solve(b, 1, w.p, k, w.p + n * k);
    if (b->in[1].bar != NULL) {
        const wgi_view to = wgi_view_bar(&b->in[1]);
        const size_t down = wgi_view_down(to), across = wgi_view_across(to);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++) to.p[i * down + j * across] += w.p[i + j * n];
    }
    if (b->in[0].bar != NULL) {
        for (size_t i = 0; i < n * k; i++) w.p[i] *= p->spd ? -0.5 : -1;
        if (p->spd || !p->trans)
            wgi_sparse_passes(wgi_sparse_entries, &p->s, wgi_sparse_values_bar(b), w, x);
        if (p->spd || p->trans)
            wgi_sparse_passes(wgi_sparse_entries, &p->s, wgi_sparse_values_bar(b), x, w);
    }
    return WG_OK;
}

static wg_status solve_jvp(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const wgi_view x = wgi_view_value(&b->out[0]), y = wgi_view_bar(&b->out[0]);
    const size_t n = x.rows, k = x.cols;
    wgi_sparse_clear(&b->out[0], y.p);
    if (b->in[0].bar != NULL) {
        if (p->spd || !p->trans)
            wgi_sparse_passes(wgi_sparse_rows, &p->s, wgi_sparse_values_bar(b), x, y);
        if (p->spd || p->trans)
            wgi_sparse_passes(wgi_sparse_cols, &p->s, wgi_sparse_values_bar(b), x, y);
        for (size_t i = 0; i < n * k; i++) y.p[i] *= p->spd ? -0.5 : -1;
    }
    if (b->in[1].bar != NULL) {
        const wgi_view from = wgi_view_bar(&b->in[1]);
        const size_t down = wgi_view_down(from), across = wgi_view_across(from);
        for (size_t j = 0; j < k; j++)
            for (size_t i = 0; i < n; i++) y.p[i + j * n] += from.p[i * down + j * across];
    }
    solve(b, 0, y.p, k, (double *)b->work);
    return WG_OK;
}

/* The entries of -U V', or of -(U V' + V U')/2, as an operation. */
static wg_status entries_shape(wg_block *b) {
    b->out[0].rows = wgi_sparse_solving_of(b)->s.nnz, b->out[0].cols = 1;
    return WG_OK;
}
static void add_entries(const wg_block *b, wgi_view u, wgi_view v, double *to) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const wgi_view entries = wgi_view_packed(to, p->s.nnz, 1);
    wgi_sparse_passes(wgi_sparse_entries, &p->s, entries, u, v);
    if (p->spd) wgi_sparse_passes(wgi_sparse_entries, &p->s, entries, v, u);
}
static wg_status entries_value(wg_block *b) {
    const double f = wgi_sparse_solving_of(b)->spd ? -0.5 : -1;
    wgi_sparse_clear(&b->out[0], b->out[0].value);
    add_entries(b, wgi_view_value(&b->in[0]), wgi_view_value(&b->in[1]), b->out[0].value);
    for (size_t e = 0; e < b->out[0].rows; e++) b->out[0].value[e] *= f;
    return WG_OK;
}
static wg_status entries_jvp(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const v = &b->in[1];
    const double f = wgi_sparse_solving_of(b)->spd ? -0.5 : -1;
    wgi_sparse_clear(&b->out[0], b->out[0].bar);
    if (u->bar != NULL) add_entries(b, wgi_view_bar(u), wgi_view_value(v), b->out[0].bar);
    if (v->bar != NULL) add_entries(b, wgi_view_value(u), wgi_view_bar(v), b->out[0].bar);
    for (size_t e = 0; e < b->out[0].rows; e++) b->out[0].bar[e] *= f;
    return WG_OK;
}

static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back);

static const wg_block_op solve_op[2] = {
    {"wg_sparse_solve", WG_OP_TRANS | WG_OP_EXPANDS, solve_shape, solve_value, solve_vjp,
     solve_jvp, wgi_sparse_solve_expand, solve_adjoint, NULL},
    {"wg_sparse_spd_solve", WG_OP_TRANS | WG_OP_EXPANDS, solve_shape, solve_value, solve_vjp,
     solve_jvp, wgi_sparse_solve_expand, solve_adjoint, NULL}};

/* W by the same factors, whose values are those of the recording. */
static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_sparse_solve",
                                   0,
                                   entries_shape,
                                   entries_value,
                                   NULL,
                                   entries_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    wgi_sparse_solving p = *wgi_sparse_solving_of(b);
    const wg_mat of[2] = {in[0], bar[0]}, x = out[0];
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    p.factors->fresh = 1;
    p.trans = !p.trans;
    back[1] = wgi_apply_one(t, &solve_op[p.spd], &p, sizeof p, 2, of);
    p.factors->fresh = 0;
    const int turned = p.trans == 0 && !p.spd;
    const wg_mat uv[2] = {turned ? x : back[1], turned ? back[1] : x};
    if (in[0].at.slot == 0 || wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    const wg_status s = wg_apply(t, &op, &p, sizeof p, 2, uv, 1, &back[0]);
    if (in[0].cols != 1) back[0] = wg_mat_transpose(back[0]);
    return s;
}

static wg_mat solve_with(wg_tape *t, int spd, char trans, const wg_csr *s, wg_mat values,
                         wg_mat b) {
    wgi_sparse_solving p = wgi_sparse_system(t, spd, trans, s);
    const wg_mat in[2] = {values, b};
    if (wgi_sparse_factor(t, spd ? WGI_SPARSE_SPD_SOLVE : WGI_SPARSE_SOLVE, &p, 2, in) != WG_OK)
        return wg_mat_failed(b.rows, b.cols);
    return wgi_apply_one(t, &solve_op[spd], &p, sizeof p, 2, in);
}

wg_mat wg_sparse_solve(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat b) {
    return solve_with(t, 0, trans, s, values, b);
}
wg_mat wg_sparse_spd_solve(wg_tape *t, const wg_csr *s, wg_mat values, wg_mat b) {
    return solve_with(t, 1, 'N', s, values, b);
}
