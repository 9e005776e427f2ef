/* SPDX-License-Identifier: MIT */
/* The log-determinant of a sparse positive definite matrix S = P' L L' P by its factor.
 *
 *     l = 2 sum_j log L_jj;   v_[k] += l_ Z(i, j) for entry k at (i, j), Z = S^-1
 *
 * Only elements of Z in the pattern of L are computed, column by column from the last one, of P
 * S P':
 *     t_k = L_kj / L_jj,   Z_ij = -sum_k t_k Z_ik,   Z_jj = 1/L_jj^2 - sum_k t_k Z_kj
 * with k in the pattern of column j below its diagonal, as i is: then Z_ik is in that of L,
 * too. Tangents of Z are those of these sums, by those of L, which come column by column from
 * those of S: with d column j of L and dt its tangent,
 *     dt_j = St_jj / (2 L_jj),  dt_i = (St_ij - L_ij dt_j) / L_jj,   then St -= dt d' + d dt'
 * Source: Takahashi, Fagan and Chin 1973; Smith 1995 for the factor. */
#include <math.h>
#include <string.h>
#include "sparse_factor.h"
#include "traits.h"

typedef wgi_sparse_factors factors;

/* Workspace. where: the place in L of each entry of S. */
typedef struct room {
    double *z, *zt, *lt;                    /* in the pattern of L */
    double *t, *tt, *sum, *sum_t;           /* of n, 0 but where they are in use */
    int *place, *first, *at, *next, *where; /* of n, and of the entries of S */
} room;

static size_t room_bytes(const wgi_sparse_solving *p) {
    const factors *const f = p->factors;
    return (3 * f->l_room + 4 * f->n) * sizeof(double) +
           (3 * f->n + 2 * p->s.nnz) * sizeof(int);
}
static room room_of(const wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const size_t n = p->factors->n, l = p->factors->l_room;
    room r;
    r.z = b->work, r.zt = r.z + l, r.lt = r.zt + l;
    r.t = memset(r.lt + l, 0, 4 * n * sizeof(double));
    r.tt = r.t + n, r.sum = r.tt + n, r.sum_t = r.sum + n;
    r.place = (int *)(void *)(r.sum_t + n), r.first = r.place + n, r.at = r.first + n;
    r.next = r.at + n, r.where = r.next + p->s.nnz;
    return r;
}

/* Finds the entries of S in L: lists of those in each column, from first[c] on to next[e],
 * where 0 ends one and entry e is e + 1; where[e] is the row before it is the place. */
static void find_entries(const wgi_sparse_solving *p, const room *r) {
    const factors *const f = p->factors;
    for (size_t k = 0; k < f->n; k++) r->place[f->p[k]] = (int)k, r->first[k] = 0;
    for (size_t i = 0; i < f->n; i++)
        for (size_t e = p->s.start[i]; e < p->s.start[i + 1]; e++) {
            const int a = r->place[i], b = r->place[p->s.col[e]];
            int *const first = &r->first[a > b ? b : a];
            r->where[e] = a > b ? a : b;
            r->next[e] = *first, *first = (int)e + 1;
        }
    for (size_t j = 0; j < f->n; j++) {
        for (int l = f->lp[j]; l < f->lp[j + 1]; l++) r->at[f->li[l]] = l;
        for (int e = r->first[j]; e != 0; e = r->next[e - 1])
            r->where[e - 1] = r->at[r->where[e - 1]];
    }
}

/* lt = the tangent of L for those of the values. */
static void factor_tangent(const wgi_sparse_solving *p, const room *r, wgi_view vt) {
    const factors *const f = p->factors;
    const size_t step = wgi_view_down(vt);
    double *const lt = memset(r->lt, 0, f->l_room * sizeof *lt), *const d = r->t,
                  *const dt = r->tt;
    for (size_t i = 0; i < f->n; i++)
        for (size_t e = p->s.start[i]; e < p->s.start[i + 1]; e++)
            lt[r->where[e]] += (p->s.col[e] == i ? 1 : 0.5) * vt.p[e * step];
    for (size_t j = 0; j < f->n; j++) {
        const int first = f->lp[j], end = f->lp[j + 1];
        const double root = f->lx[first];
        lt[first] /= 2 * root;
        for (int l = first + 1; l < end; l++) {
            lt[l] = (lt[l] - f->lx[l] * lt[first]) / root;
            d[f->li[l]] = f->lx[l], dt[f->li[l]] = lt[l];
        }
        for (int l = first + 1; l < end; l++) {
            const int k = f->li[l];
            for (int m = f->lp[k]; m < f->lp[k + 1]; m++)
                lt[m] -= dt[f->li[m]] * f->lx[l] + d[f->li[m]] * lt[l];
        }
        for (int l = first + 1; l < end; l++) d[f->li[l]] = dt[f->li[l]] = 0;
    }
}

/* sum -= the column of Z times t, of what is below the diagonal on both sides of it. */
static void subtract_column(const factors *f, const double *z, const double *t, int k,
                            double *sum) {
    const int first = f->lp[k];
    const double by = t[k];
    double own = by * z[first];
    for (int m = first + 1; m < f->lp[k + 1]; m++) {
        const int i = f->li[m];
        own += t[i] * z[m];
        sum[i] -= by * z[m];
    }
    sum[k] -= own;
}

/* z = the elements of Z, zt = their tangents by lt, unless that is not wanted. */
static void select_inverse(const factors *f, const room *r, int tangents) {
    for (size_t j = f->n; j-- > 0;) {
        const int first = f->lp[j], end = f->lp[j + 1];
        const double root = f->lx[first], of_root = tangents ? r->lt[first] : 0;
        double z = 1 / (root * root), zt = -2 * of_root / (root * root * root);
        for (int l = first + 1; l < end; l++) {
            const int k = f->li[l];
            r->t[k] = f->lx[l] / root;
            if (tangents) r->tt[k] = (r->lt[l] - r->t[k] * of_root) / root;
            r->sum[k] = r->sum_t[k] = 0;
        }
        for (int l = first + 1; l < end; l++) {
            const int k = f->li[l];
            subtract_column(f, r->z, r->t, k, r->sum);
            if (!tangents) continue;
            subtract_column(f, r->z, r->tt, k, r->sum_t);
            subtract_column(f, r->zt, r->t, k, r->sum_t);
        }
        for (int l = first + 1; l < end; l++) {
            const int k = f->li[l];
            r->z[l] = r->sum[k];
            z -= r->t[k] * r->sum[k];
            if (!tangents) continue;
            r->zt[l] = r->sum_t[k];
            zt -= r->tt[k] * r->sum[k] + r->t[k] * r->sum_t[k];
        }
        for (int l = first + 1; l < end; l++) r->t[f->li[l]] = r->tt[f->li[l]] = 0;
        r->z[first] = z;
        if (tangents) r->zt[first] = zt;
    }
}

/* ---- the operation ---- */

static void larger_work(wg_block *b) {
    const size_t bytes = room_bytes(wgi_sparse_solving_of(b));
    if (b->work_bytes < bytes) b->work_bytes = bytes;
}

static wg_status logdet_shape(wg_block *b) {
    const wg_status s = wgi_sparse_factor_shape(b);
    if (s != WG_OK) return s;
    b->out[0].rows = b->out[0].cols = 1;
    larger_work(b);
    return WG_OK;
}

static wg_status logdet_value(wg_block *b) {
    const factors *const f = wgi_sparse_solving_of(b)->factors;
    const wg_status s = wgi_sparse_factor_again(b);
    double sum = 0;
    for (size_t j = 0; s == WG_OK && j < f->n; j++) sum += log(f->lx[f->lp[j]]);
    b->out[0].value[0] = 2 * sum;
    return s;
}

static wg_status logdet_vjp(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const room r = room_of(b);
    const wgi_view to = wgi_sparse_values_bar(b);
    const double w = b->out[0].bar[0];
    find_entries(p, &r);
    select_inverse(p->factors, &r, 0);
    for (size_t e = 0; e < p->s.nnz; e++) to.p[e * wgi_view_down(to)] += w * r.z[r.where[e]];
    return WG_OK;
}

static wg_status logdet_jvp(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const room r = room_of(b);
    const wgi_view vt = wgi_sparse_values_bar(b);
    double sum = 0;
    find_entries(p, &r);
    select_inverse(p->factors, &r, 0);
    for (size_t e = 0; e < p->s.nnz; e++) sum += r.z[r.where[e]] * vt.p[e * wgi_view_down(vt)];
    b->out[0].bar[0] = sum;
    return WG_OK;
}

/* ---- w Z in the pattern of S, of the values and w: on forward tapes ---- */

static wg_status entries_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    larger_work(b);
    return WG_OK;
}
static wg_status entries_value(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const room r = room_of(b);
    const wgi_view y = wgi_view_column(wgi_view_value(&b->out[0]));
    find_entries(p, &r);
    select_inverse(p->factors, &r, 0);
    for (size_t e = 0; e < p->s.nnz; e++)
        y.p[e * wgi_view_down(y)] = b->in[1].value[0] * r.z[r.where[e]];
    return WG_OK;
}
static wg_status entries_jvp(wg_block *b) {
    const wgi_sparse_solving *const p = wgi_sparse_solving_of(b);
    const room r = room_of(b);
    const wgi_view y = wgi_view_column(wgi_view_bar(&b->out[0]));
    const double w = b->in[1].value[0], wt = b->in[1].bar != NULL ? b->in[1].bar[0] : 0;
    const int moves = b->in[0].bar != NULL;
    find_entries(p, &r);
    if (moves) factor_tangent(p, &r, wgi_sparse_values_bar(b));
    select_inverse(p->factors, &r, moves);
    for (size_t e = 0; e < p->s.nnz; e++)
        y.p[e * wgi_view_down(y)] = wt * r.z[r.where[e]] + (moves ? w * r.zt[r.where[e]] : 0);
    return WG_OK;
}

static wg_status logdet_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {.name = "adjoint of wg_sparse_spd_logdet",
                                   .flags = WG_OP_TRANS,
                                   .shape = entries_shape,
                                   .value = entries_value,
                                   .jvp = entries_jvp};
    const wgi_sparse_solving p = *wgi_sparse_solving_of(b);
    const wg_mat of[2] = {in[0], bar[0]};
    (void)out;
    return wg_apply(t, &op, &p, sizeof p, 2, of, 1, back);
}

static const wgi_traits traits = {.apart = 1};
const wg_block_op wgi_op_sparse_spd_logdet = {"wg_sparse_spd_logdet",
                                              WG_OP_TRANS | WG_OP_EXPANDS,
                                              logdet_shape,
                                              logdet_value,
                                              logdet_vjp,
                                              logdet_jvp,
                                              wgi_sparse_logdet_expand,
                                              logdet_adjoint,
                                              &traits};

wg_real wg_sparse_spd_logdet(wg_tape *t, const wg_csr *s, wg_mat values) {
    wgi_sparse_solving p = wgi_sparse_system(t, 1, 'N', s);
    wg_mat y = wg_mat_failed(1, 1);
    if (wgi_sparse_factor(t, WGI_SPARSE_SPD_LOGDET, &p, 1, &values) == WG_OK)
        y = wgi_apply_one(t, &wgi_op_sparse_spd_logdet, &p, sizeof p, 1, &values);
    return wg_mat_at(y, 0, 0);
}
