/* SPDX-License-Identifier: MIT */
/* Sparse matrices times dense ones: r = S x, or S^T x, for values on a constant pattern.
 *
 *     r = S x:    v_[k] += <r_(i, :), x(j, :)>,  x_ += S^T r_    for entry k at (i, j)
 *     r = S^T x:  v_[k] += <x(i, :), r_(j, :)>,  x_ += S r_
 *
 * One pass over the pattern serves up to GROUP columns of x.
 *
 * Letters: s the pattern, v its values, x, r dense; i a row of S, j a column, k an entry. */
#include "expand.h"
#include "sparse_pattern.h"
#include "tape/engine/tape.h"
#include "traits.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- patterns ---- */

struct pattern {
    size_t rows, cols;
    const size_t *start, *col;
};

/* Has no results: it is there for what may be wrong. */
static wg_status pattern_shape(wg_block *b) {
    const struct pattern *const p = (const struct pattern *)b->params;
    if (p->start == NULL) return wgi_block_refuse(b, WG_ENULL, "no row starts");
    if (p->rows > INT_MAX || p->cols > INT_MAX)
        return wgi_block_refuse(b, WG_ESHAPE, "more than INT_MAX rows or columns");
    if (p->start[0] != 0)
        return wgi_block_refuse(b, WG_EARG, "the row starts do not begin with 0");
    for (size_t i = 0; i < p->rows; i++)
        if (p->start[i + 1] < p->start[i])
            return wgi_block_refuse(b, WG_EARG, "the row starts decrease");
    const size_t nnz = p->start[p->rows];
    if (nnz > INT_MAX) return wgi_block_refuse(b, WG_ESHAPE, "more than INT_MAX entries");
    if (nnz != 0 && p->col == NULL) return wgi_block_refuse(b, WG_ENULL, "no columns");
    for (size_t k = 0; k < nnz; k++)
        if (p->col[k] >= p->cols)
            return wgi_block_refuse(b, WG_EARG, "a column is out of range");
    return WG_OK;
}

static wg_status nothing(wg_block *b) {
    (void)b;
    return WG_OK;
}

const wg_block_op wgi_op_csr_pattern = {
    "wg_csr_pattern", 0, pattern_shape, nothing, nothing, NULL, NULL, NULL, NULL};

wg_csr wg_csr_pattern(wg_tape *t, size_t rows, size_t cols, const size_t *start,
                      const size_t *col) {
    const struct pattern p = {rows, cols, start, col};
    wg_csr s = {.rows = rows, .cols = cols};
    if (wg_apply(t, &wgi_op_csr_pattern, &p, sizeof p, 0, NULL, 0, NULL) != WG_OK) return s;
    s.nnz = start[rows];
    size_t *const starts = (size_t *)wg_tape_keep(t, (rows + 1) * sizeof *start, start);
    uint32_t *const cols_of = (uint32_t *)wg_tape_keep(t, (s.nnz + 1) * sizeof *s.col, NULL);
    if (starts == NULL || cols_of == NULL) return s;
    for (size_t k = 0; k < s.nnz; k++) cols_of[k] = (uint32_t)col[k];
    s.start = starts;
    s.col = cols_of;
    s.made = wg_tape_mark(t);
    return s;
}

/* ---- products ---- */

enum { GROUP = 4 };

struct spmm {
    wg_csr s;
    int trans, vector;
    wg_status status;
    const char *why;
};
static const struct spmm *spmm_of(const wg_block *b) { return (const struct spmm *)b->params; }

static wgi_view dense(const wg_block *b, wgi_view x) {
    return spmm_of(b)->vector ? wgi_view_column(x) : x;
}
static wg_status spmm_shape(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wg_block_arg *const v = &b->in[0];
    if (p->status != WG_OK) return wgi_block_refuse(b, p->status, p->why);
    if (wgi_length(v) != p->s.nnz || (p->s.nnz != 0 && !wgi_is_vector(v)))
        return wgi_block_refuse(b, WG_ESHAPE,
                                "the values are not a vector of the pattern's entries");
    if (p->vector && !wgi_is_vector(&b->in[1]))
        return wgi_block_refuse(b, WG_ESHAPE, "a vector is one row or one column");
    const wgi_view x = dense(b, wgi_view_value(&b->in[1]));
    if (x.rows != (p->trans ? p->s.rows : p->s.cols))
        return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = p->trans ? p->s.cols : p->s.rows;
    b->out[0].cols = x.cols;
    return WG_OK;
}

/* g columns of r += S x; of r += S^T x; and of v += <l(i, :), r(j, :)>. */
static inline void rows_of(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    const size_t vd = wgi_view_down(v), xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t rd = wgi_view_down(r), ra = wgi_view_across(r);
    for (size_t i = 0; i < s->rows; i++) {
        double sum[GROUP] = {0, 0, 0, 0};
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const double *const from = x.p + s->col[k] * xd, a = v.p[k * vd];
            for (size_t c = 0; c < g; c++) sum[c] += a * from[c * xa];
        }
        for (size_t c = 0; c < g; c++) r.p[i * rd + c * ra] += sum[c];
    }
}

static inline void cols_of(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    const size_t vd = wgi_view_down(v), xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t rd = wgi_view_down(r), ra = wgi_view_across(r);
    for (size_t i = 0; i < s->rows; i++) {
        double from[GROUP] = {0, 0, 0, 0};
        for (size_t c = 0; c < g; c++) from[c] = x.p[i * xd + c * xa];
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const double a = v.p[k * vd];
            double *const to = r.p + s->col[k] * rd;
            for (size_t c = 0; c < g; c++) to[c * ra] += a * from[c];
        }
    }
}

static inline void entries_of(const wg_csr *s, wgi_view v, wgi_view l, wgi_view r, size_t g) {
    const size_t vd = wgi_view_down(v), ld = wgi_view_down(l), la = wgi_view_across(l);
    const size_t rd = wgi_view_down(r), ra = wgi_view_across(r);
    for (size_t i = 0; i < s->rows; i++) {
        double left[GROUP] = {0, 0, 0, 0};
        for (size_t c = 0; c < g; c++) left[c] = l.p[i * ld + c * la];
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const double *const right = r.p + s->col[k] * rd;
            double sum = 0;
            for (size_t c = 0; c < g; c++) sum += left[c] * right[c * ra];
            v.p[k * vd] += sum;
        }
    }
}

/* The two counts a compiler should know. */
void wgi_sparse_rows(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) rows_of(s, v, x, r, 1);
    else if (g == GROUP) rows_of(s, v, x, r, GROUP);
    else rows_of(s, v, x, r, g);
}
void wgi_sparse_cols(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) cols_of(s, v, x, r, 1);
    else if (g == GROUP) cols_of(s, v, x, r, GROUP);
    else cols_of(s, v, x, r, g);
}
void wgi_sparse_entries(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) entries_of(s, v, x, r, 1);
    else if (g == GROUP) entries_of(s, v, x, r, GROUP);
    else entries_of(s, v, x, r, g);
}

void wgi_sparse_passes(wgi_sparse_pass *f, const wg_csr *s, wgi_view v, wgi_view x,
                       wgi_view r) {
    if (s->nnz == 0) return;
    for (size_t c = 0; c < x.cols; c += GROUP) {
        f(s, v, x, r, x.cols - c < GROUP ? x.cols - c : GROUP);
        x.p += GROUP * wgi_view_across(x);
        r.p += GROUP * wgi_view_across(r);
    }
}

static wg_status spmm_value(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    wgi_sparse_clear(&b->out[0], b->out[0].value);
    wgi_sparse_passes(p->trans ? wgi_sparse_cols : wgi_sparse_rows, &p->s, wgi_sparse_values(b),
                      dense(b, wgi_view_value(&b->in[1])), wgi_view_value(&b->out[0]));
    return WG_OK;
}

static wg_status spmm_vjp(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wgi_view w = wgi_view_bar(&b->out[0]), x = dense(b, wgi_view_value(&b->in[1]));
    if (b->in[0].bar != NULL)
        wgi_sparse_passes(wgi_sparse_entries, &p->s, wgi_sparse_values_bar(b), p->trans ? x : w,
                          p->trans ? w : x);
    if (b->in[1].bar != NULL)
        wgi_sparse_passes(p->trans ? wgi_sparse_rows : wgi_sparse_cols, &p->s,
                          wgi_sparse_values(b), w, dense(b, wgi_view_bar(&b->in[1])));
    return WG_OK;
}

static wg_status spmm_jvp(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wgi_view r = wgi_view_bar(&b->out[0]);
    wgi_sparse_pass *const f = p->trans ? wgi_sparse_cols : wgi_sparse_rows;
    wgi_sparse_clear(&b->out[0], b->out[0].bar);
    if (b->in[0].bar != NULL)
        wgi_sparse_passes(f, &p->s, wgi_sparse_values_bar(b),
                          dense(b, wgi_view_value(&b->in[1])), r);
    if (b->in[1].bar != NULL)
        wgi_sparse_passes(f, &p->s, wgi_sparse_values(b), dense(b, wgi_view_bar(&b->in[1])), r);
    return WG_OK;
}

static wg_status spmm_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct spmm *const p = spmm_of(b);
    const wgi_reals v = wgi_reals_column(wgi_reals_operand(b, x, 0));
    const wgi_reals whole = wgi_reals_operand(b, x, 1),
                    u = p->vector ? wgi_reals_column(whole) : whole;
    for (size_t c = 0; c < u.cols; c++, y += b->out[0].rows) {
        for (size_t i = 0; i < b->out[0].rows; i++) y[i] = wg_constant(0);
        for (size_t i = 0; i < p->s.rows; i++)
            for (size_t k = p->s.start[i]; k < p->s.start[i + 1]; k++) {
                const size_t to = p->trans ? p->s.col[k] : i, from = p->trans ? i : p->s.col[k];
                const wg_real term = wg_let(t, wg_mul(v.p[k], wgi_reals_at(u, from, c)));
                y[to] = wgi_expand_plus(t, y[to], term);
            }
    }
    return WG_OK;
}

static const wg_csr *spmm_pattern(const void *params, int *trans, int *vector) {
    const struct spmm *const p = params;
    *trans = p->trans;
    *vector = p->vector;
    return &p->s;
}

static const wgi_traits spmm_traits = {.pattern = spmm_pattern, .bilinear = 3};

const wg_block_op wgi_op_spmv = {"wg_spmv",   WG_OP_TRANS | WG_OP_EXPANDS,
                                 spmm_shape,  spmm_value,
                                 spmm_vjp,    spmm_jvp,
                                 spmm_expand, NULL,
                                 &spmm_traits};
const wg_block_op wgi_op_spmm = {"wg_spmm",   WG_OP_TRANS | WG_OP_EXPANDS,
                                 spmm_shape,  spmm_value,
                                 spmm_vjp,    spmm_jvp,
                                 spmm_expand, NULL,
                                 &spmm_traits};

int wgi_sparse_turned(char trans) { return trans != 0 && strchr("TtCc", trans) != NULL; }

static int is_stale(const wg_tape *t, const wg_csr *s) {
    return t != NULL && !wgi_mark_alive(wgi_core_of_const(t), s->made);
}

/* What is wrong with a flag or a pattern. */
wg_status wgi_sparse_check(const wg_tape *t, char trans, const wg_csr *s, const char **why) {
    if (!wgi_sparse_turned(trans) && trans != 'N' && trans != 'n') {
        *why = "an unknown letter among the flags";
        return WG_EARG;
    }
    if (s == NULL) {
        *why = "no pattern";
        return WG_ENULL;
    }
    if (s->start == NULL || is_stale(t, s)) {
        *why = "a pattern of another tape, or from before a reset or rewind";
        return WG_ESTALE;
    }
    return WG_OK;
}

static wg_mat spmm(wg_tape *t, const wg_block_op *op, char trans, const wg_csr *s,
                   wg_mat values, wg_mat x, int vector) {
    struct spmm p;
    wg_mat r;
    memset(&p, 0, sizeof p);
    p.trans = wgi_sparse_turned(trans);
    p.vector = vector;
    p.status = wgi_sparse_check(t, trans, s, &p.why);
    if (s != NULL) p.s = *s;
    const wg_mat in[2] = {values, x};
    if (wg_apply(t, op, &p, sizeof p, 2, in, 1, &r) != WG_OK && p.status == WG_ESTALE)
        /* of a pattern that has failed only rows and columns are left */
        r = wg_mat_failed(p.trans ? s->cols : s->rows, vector ? 1 : x.cols);
    return r;
}

wg_mat wg_spmv(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat x) {
    return spmm(t, &wgi_op_spmv, trans, s, values, x, 1);
}
wg_mat wg_spmm(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat x) {
    return spmm(t, &wgi_op_spmm, trans, s, values, x, 0);
}
