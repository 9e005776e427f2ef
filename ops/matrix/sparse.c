/* SPDX-License-Identifier: MIT */
/* Sparse matrices times dense ones: r = S x, or S^T x, for values on a constant pattern.
 *
 *     r = S x:    v_[k] += <r_(i, :), x(j, :)>,  x_ += S^T r_    for entry k at (i, j)
 *     r = S^T x:  v_[k] += <x(i, :), r_(j, :)>,  x_ += S r_
 *
 * and solves, X = op(S)^-1 B, by SuiteSparse where the build has it (WG_HAVE_SUITESPARSE):
 *
 *     W = op(S)^-T X_;  B_ += W;  v_[k] -= <W(i, :), X(j, :)>,  transposed or symmetrised as S
 * is X~ = op(S)^-1 (B~ - op(S~) X)
 *
 * SuiteSparse factors; the factors are copied to the tape and its own objects freed at once, so
 * that nothing outlives a call. Solving with the factors is done here.
 *
 * One pass over the pattern serves up to GROUP columns of x.
 *
 * Letters: s the pattern, v its values, x, r dense; i a row of S, j a column, k an entry. */
#include <wengert/sparse.h>
#include "expand.h"
#include "tape/engine/tape.h"
#include "traits.h"
#include "view.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef WG_HAVE_SUITESPARSE
#include <suitesparse/cholmod.h>
#include <suitesparse/umfpack.h>
#endif

static wg_status refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

/* ---- patterns ---- */

struct pattern {
    size_t rows, cols;
    const size_t *start, *col;
};

/* Has no results: it is there for what may be wrong. */
static wg_status pattern_shape(wg_block *b) {
    const struct pattern *const p = (const struct pattern *)b->params;
    if (p->start == NULL) return refuse(b, WG_ENULL, "no row starts");
    if (p->rows > INT_MAX || p->cols > INT_MAX)
        return refuse(b, WG_ESHAPE, "more than INT_MAX rows or columns");
    if (p->start[0] != 0) return refuse(b, WG_EARG, "the row starts do not begin with 0");
    for (size_t i = 0; i < p->rows; i++)
        if (p->start[i + 1] < p->start[i]) return refuse(b, WG_EARG, "the row starts decrease");
    const size_t nnz = p->start[p->rows];
    if (nnz > INT_MAX) return refuse(b, WG_ESHAPE, "more than INT_MAX entries");
    if (nnz != 0 && p->col == NULL) return refuse(b, WG_ENULL, "no columns");
    for (size_t k = 0; k < nnz; k++)
        if (p->col[k] >= p->cols) return refuse(b, WG_EARG, "a column is out of range");
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
static wgi_view values_of(const wg_block *b) {
    return wgi_view_column(wgi_view_value(&b->in[0]));
}
static wgi_view values_bar(const wg_block *b) {
    return wgi_view_column(wgi_view_bar(&b->in[0]));
}

static wg_status spmm_shape(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wg_block_arg *const v = &b->in[0];
    if (p->status != WG_OK) return refuse(b, p->status, p->why);
    if (wgi_length(v) != p->s.nnz || (p->s.nnz != 0 && !wgi_is_vector(v)))
        return refuse(b, WG_ESHAPE, "the values are not a vector of the pattern's entries");
    if (p->vector && !wgi_is_vector(&b->in[1]))
        return refuse(b, WG_ESHAPE, "a vector is one row or one column");
    const wgi_view x = dense(b, wgi_view_value(&b->in[1]));
    if (x.rows != (p->trans ? p->s.rows : p->s.cols))
        return refuse(b, WG_ESHAPE, "inner dimensions differ");
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

typedef void pass(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g);

/* The two counts a compiler should know. */
static void rows_pass(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) rows_of(s, v, x, r, 1);
    else if (g == GROUP) rows_of(s, v, x, r, GROUP);
    else rows_of(s, v, x, r, g);
}
static void cols_pass(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) cols_of(s, v, x, r, 1);
    else if (g == GROUP) cols_of(s, v, x, r, GROUP);
    else cols_of(s, v, x, r, g);
}
static void entries_pass(const wg_csr *s, wgi_view v, wgi_view x, wgi_view r, size_t g) {
    if (g == 1) entries_of(s, v, x, r, 1);
    else if (g == GROUP) entries_of(s, v, x, r, GROUP);
    else entries_of(s, v, x, r, g);
}

static void passes(pass *f, const wg_csr *s, wgi_view v, wgi_view x, wgi_view r) {
    if (s->nnz == 0) return;
    for (size_t c = 0; c < x.cols; c += GROUP) {
        f(s, v, x, r, x.cols - c < GROUP ? x.cols - c : GROUP);
        x.p += GROUP * wgi_view_across(x);
        r.p += GROUP * wgi_view_across(r);
    }
}

static void clear(const wg_block_arg *a, double *p) {
    for (size_t i = 0, n = wgi_length(a); i < n; i++) p[i] = 0;
}

static wg_status spmm_value(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    clear(&b->out[0], b->out[0].value);
    passes(p->trans ? cols_pass : rows_pass, &p->s, values_of(b),
           dense(b, wgi_view_value(&b->in[1])), wgi_view_value(&b->out[0]));
    return WG_OK;
}

static wg_status spmm_vjp(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wgi_view w = wgi_view_bar(&b->out[0]), x = dense(b, wgi_view_value(&b->in[1]));
    if (b->in[0].bar != NULL)
        passes(entries_pass, &p->s, values_bar(b), p->trans ? x : w, p->trans ? w : x);
    if (b->in[1].bar != NULL)
        passes(p->trans ? rows_pass : cols_pass, &p->s, values_of(b), w,
               dense(b, wgi_view_bar(&b->in[1])));
    return WG_OK;
}

static wg_status spmm_jvp(wg_block *b) {
    const struct spmm *const p = spmm_of(b);
    const wgi_view r = wgi_view_bar(&b->out[0]);
    pass *const f = p->trans ? cols_pass : rows_pass;
    clear(&b->out[0], b->out[0].bar);
    if (b->in[0].bar != NULL)
        passes(f, &p->s, values_bar(b), dense(b, wgi_view_value(&b->in[1])), r);
    if (b->in[1].bar != NULL)
        passes(f, &p->s, values_of(b), dense(b, wgi_view_bar(&b->in[1])), r);
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

static int is_turned(char trans) { return trans != 0 && strchr("TtCc", trans) != NULL; }

static int is_stale(const wg_tape *t, const wg_csr *s) {
    return t != NULL && !wgi_mark_alive(wgi_core_of_const(t), s->made);
}

/* What is wrong with a flag or a pattern. */
static wg_status check(const wg_tape *t, char trans, const wg_csr *s, const char **why) {
    if (!is_turned(trans) && trans != 'N' && trans != 'n') {
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
    p.trans = is_turned(trans);
    p.vector = vector;
    p.status = check(t, trans, s, &p.why);
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

/* ---- solves ---- */

#ifdef WG_HAVE_SUITESPARSE

/* Factors, in memory of the tape. LU: L U = P R S Q, L by rows with its unit diagonal last, U
 * by columns with the diagonal last. Cholesky: L L^T = P S P^T, L by columns with the diagonal
 * first; no U, Q, R. */
struct factors {
    int spd, fresh; /* fresh: made for the recording, not used yet */
    size_t n, l_room, u_room;
    int *lp, *li, *up, *ui, *p, *q;
    double *lx, *ux, *r;
};

/* What SuiteSparse has made and is to be freed. */
struct handle {
    void *numeric; /* of UMFPACK */
    cholmod_factor *factor;
    cholmod_common common;
    size_t l_size, u_size;
};

struct solving {
    wg_csr s;
    int trans, spd;
    wg_status status;
    const char *why;
    struct factors *factors; /* of a solve */
    struct handle *handle;   /* of a factorisation: where to put it */
};
static const struct solving *solving_of(const wg_block *b) {
    return (const struct solving *)b->params;
}

static void handle_free(struct handle *h, int spd) {
    if (spd) {
        (void)cholmod_free_factor(&h->factor, &h->common);
        (void)cholmod_finish(&h->common);
    } else if (h->numeric != NULL) umfpack_di_free_numeric(&h->numeric);
}

/* Workspace of a factorisation: the entries as triplets, and by columns. */
struct room {
    int *row, *col, *start, *index;
    double *value, *sorted;
};
static size_t factor_bytes(const wg_csr *s) {
    return (2 * s->nnz + 2) * sizeof(double) + (3 * s->nnz + s->rows + 4) * sizeof(int);
}
static struct room room_of(const wg_block *b, const wg_csr *s) {
    struct room m;
    m.value = (double *)b->work;
    m.sorted = m.value + s->nnz + 1;
    m.row = (int *)(void *)(m.sorted + s->nnz + 1);
    m.col = m.row + s->nnz + 1;
    m.index = m.col + s->nnz + 1;
    m.start = m.index + s->nnz + 1;
    return m;
}

static wg_status factor_lu(wg_block *b, const wg_csr *s, const struct room *m,
                           struct handle *h) {
    const int n = (int)s->rows;
    int l = 0, u = 0, rows, cols, diagonal;
    void *symbolic = NULL;
    int e = umfpack_di_triplet_to_col(n, n, (int)s->nnz, m->row, m->col, m->value, m->start,
                                      m->index, m->sorted, NULL);
    if (e == UMFPACK_OK)
        e = umfpack_di_symbolic(n, n, m->start, m->index, m->sorted, &symbolic, NULL, NULL);
    if (e == UMFPACK_OK)
        e = umfpack_di_numeric(m->start, m->index, m->sorted, symbolic, &h->numeric, NULL,
                               NULL);
    if (symbolic != NULL) umfpack_di_free_symbolic(&symbolic);
    if (e == UMFPACK_OK) e = umfpack_di_get_lunz(&l, &u, &rows, &cols, &diagonal, h->numeric);
    h->l_size = (size_t)l, h->u_size = (size_t)u;
    if (e == UMFPACK_OK) return WG_OK;
    if (e == UMFPACK_WARNING_singular_matrix || e == UMFPACK_ERROR_different_pattern) {
        b->why = "the matrix is singular";
        return WG_ESINGULAR;
    }
    b->info = e;
    return refuse(b, e == UMFPACK_ERROR_out_of_memory ? WG_ENOMEM : WG_EARG, "UMFPACK");
}

/* The triplets are of the lower triangle already. */
static wg_status factor_spd(wg_block *b, const wg_csr *s, const struct room *m,
                            struct handle *h) {
    cholmod_common *const c = &h->common;
    cholmod_triplet t;
    memset(&t, 0, sizeof t);
    t.nrow = t.ncol = s->rows;
    t.nzmax = t.nnz = s->nnz;
    t.i = m->row, t.j = m->col, t.x = m->value;
    t.stype = -1;
    t.itype = CHOLMOD_INT, t.xtype = CHOLMOD_REAL, t.dtype = CHOLMOD_DOUBLE;
    c->print = 0;
    c->try_catch = 1;
    c->nmethods = 1;
    c->method[0].ordering = CHOLMOD_AMD;
    c->supernodal = CHOLMOD_SIMPLICIAL;
    c->final_ll = 1;
    cholmod_sparse *lower = cholmod_triplet_to_sparse(&t, s->nnz, c);
    if (lower != NULL) h->factor = cholmod_analyze(lower, c);
    if (h->factor != NULL) (void)cholmod_factorize(lower, h->factor, c);
    (void)cholmod_free_sparse(&lower, c);
    if (c->status == CHOLMOD_OUT_OF_MEMORY || h->factor == NULL)
        return refuse(b, WG_ENOMEM, "CHOLMOD");
    if (c->status == CHOLMOD_NOT_POSDEF || h->factor->minor < s->rows) {
        b->info = (int)h->factor->minor + 1;
        b->why = "the matrix is not positive definite";
        return WG_ESINGULAR;
    }
    h->l_size = s->rows == 0 ? 0 : (size_t)((const int *)h->factor->p)[s->rows];
    return WG_OK;
}

/* Factors of the values of operand 0. */
static wg_status factorise(wg_block *b, struct handle *h) {
    const wg_csr *const s = &solving_of(b)->s;
    const int spd = solving_of(b)->spd;
    const struct room m = room_of(b, s);
    const wgi_view v = values_of(b);
    const size_t step = wgi_view_down(v);
    for (size_t i = 0; i < s->rows; i++)
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            const size_t j = s->col[k];
            const int below = !spd || i >= j;
            m.row[k] = (int)(below ? i : j), m.col[k] = (int)(below ? j : i);
            m.value[k] = spd && i != j ? 0.5 * v.p[k * step] : v.p[k * step];
        }
    memset(h, 0, sizeof *h);
    if (spd) (void)cholmod_start(&h->common);
    const wg_status e = spd ? factor_spd(b, s, &m, h) : factor_lu(b, s, &m, h);
    if (e != WG_OK) handle_free(h, spd);
    return e;
}

/* Copies the factors and frees the handle. */
static int extract(struct handle *h, struct factors *f) {
    int good = h->l_size <= f->l_room && h->u_size <= f->u_room, reciprocal = 0;
    if (good && f->spd) {
        memcpy(f->lp, h->factor->p, (f->n + 1) * sizeof *f->lp);
        memcpy(f->li, h->factor->i, h->l_size * sizeof *f->li);
        memcpy(f->lx, h->factor->x, h->l_size * sizeof *f->lx);
        memcpy(f->p, h->factor->Perm, f->n * sizeof *f->p);
    } else if (good) {
        good = umfpack_di_get_numeric(f->lp, f->li, f->lx, f->up, f->ui, f->ux, f->p, f->q,
                                      NULL, &reciprocal, f->r, h->numeric) == UMFPACK_OK;
        for (size_t i = 0; i < f->n && !reciprocal; i++) f->r[i] = 1 / f->r[i];
    }
    handle_free(h, f->spd);
    return good;
}

/* x = S^-1 x, or S^-T x; z of n is room. */
static void solve_spd(const struct factors *f, double *x, double *z) {
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

static void solve_lu(const struct factors *f, double *x, double *z) {
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

static void solve_lu_transposed(const struct factors *f, double *x, double *z) {
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
    const struct factors *const f = solving_of(b)->factors;
    const int trans = solving_of(b)->trans != other;
    for (size_t j = 0; j < cols; j++, x += f->n)
        if (f->spd) solve_spd(f, x, z);
        else if (trans) solve_lu_transposed(f, x, z);
        else solve_lu(f, x, z);
}

static wg_status factor_shape(wg_block *b) {
    const struct solving *const p = solving_of(b);
    if (p->status != WG_OK) return refuse(b, p->status, p->why);
    if (p->s.rows != p->s.cols) return refuse(b, WG_ESHAPE, "the sparse matrix is not square");
    if (wgi_length(&b->in[0]) != p->s.nnz || (p->s.nnz != 0 && !wgi_is_vector(&b->in[0])))
        return refuse(b, WG_ESHAPE, "the values are not a vector of the pattern's entries");
    if (b->inputs > 1 && b->in[1].rows != p->s.rows)
        return refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->work_bytes = factor_bytes(&p->s);
    return WG_OK;
}

/* The factorisation before a solve, for its wrapper: without results, and what it has made is
 * handed over. */
static wg_status factor_value(wg_block *b) { return factorise(b, solving_of(b)->handle); }

static wg_status solve_shape(wg_block *b) {
    const wg_status e = factor_shape(b);
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
    struct factors *const f = solving_of(b)->factors;
    if (!f->fresh) {
        struct handle h;
        const wg_status e = factorise(b, &h);
        if (e != WG_OK) return e;
        if (!extract(&h, f)) return refuse(b, WG_ENOMEM, "the factors outgrew their room");
    }
    f->fresh = 0;
    copy(wgi_view_value(&b->in[1]), b->out[0].value);
    solve(b, 0, b->out[0].value, b->out[0].cols, (double *)b->work);
    return WG_OK;
}

static wg_status solve_vjp(wg_block *b) {
    const struct solving *const p = solving_of(b);
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
        if (p->spd || !p->trans) passes(entries_pass, &p->s, values_bar(b), w, x);
        if (p->spd || p->trans) passes(entries_pass, &p->s, values_bar(b), x, w);
    }
    return WG_OK;
}

static wg_status solve_jvp(wg_block *b) {
    const struct solving *const p = solving_of(b);
    const wgi_view x = wgi_view_value(&b->out[0]), y = wgi_view_bar(&b->out[0]);
    const size_t n = x.rows, k = x.cols;
    clear(&b->out[0], y.p);
    if (b->in[0].bar != NULL) {
        if (p->spd || !p->trans) passes(rows_pass, &p->s, values_bar(b), x, y);
        if (p->spd || p->trans) passes(cols_pass, &p->s, values_bar(b), x, y);
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

/* ---- written out: elimination in the order of the recorded factors ---- */

/* Row k of U: its diagonal, what follows at columns col, and the largest of both. */
struct row {
    size_t count, *col;
    wg_real diagonal, *u, largest;
};

/* The entries of op(S) in each row, as lists: from first[i] on to next[e]; 0 ends one, entry e
 * is e + 1 there. `turned`: of the transpose. */
struct lists {
    size_t *first, *next;
    int turned;
};

static int list_rows(wg_tape *t, const wg_csr *s, int turned, struct lists *l) {
    l->first = (size_t *)wg_tape_keep(t, (s->rows + s->nnz + 1) * sizeof *l->first, NULL);
    if (l->first == NULL) return 0;
    l->next = l->first + s->rows;
    l->turned = turned;
    for (size_t i = 0; i < s->rows; i++) l->first[i] = 0;
    for (size_t i = s->rows; i-- > 0;)
        for (size_t e = s->start[i + 1]; e-- > s->start[i];) {
            size_t *const first = &l->first[turned ? s->col[e] : i];
            l->next[e] = *first, *first = e + 1;
        }
    return 1;
}

/* The row of an entry. */
static size_t row_of(const wg_csr *s, size_t e) {
    size_t low = 0, high = s->rows;
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (s->start[middle] <= e) low = middle;
        else high = middle;
    }
    return low;
}

/* w += f times row i of op(S), element j at place[j]. */
static void add_row(wg_tape *t, const wg_csr *s, const struct lists *l, size_t i, double f,
                    const wg_real *value, const size_t *place, wg_real *w) {
    for (size_t e = l->first[i]; e != 0; e = l->next[e - 1]) {
        const size_t j = place[l->turned ? row_of(s, e - 1) : s->col[e - 1]];
        w[j] = wgi_expand_plus(t, w[j], wgi_expand_scaled(t, f, value[e - 1]));
    }
}

/* The largest of the first n of w, without derivatives. */
static wg_real largest_of(wg_tape *t, size_t n, const wg_real *w) {
    wg_real most = wg_constant(0);
    for (size_t j = 0; j < n; j++)
        if (!wgi_expand_is_nothing(w[j])) most = wg_let(t, wg_fmax(most, wg_fabs(w[j])));
    return wgi_expand_held(t, most);
}

/* The order of rows and columns is that of the recording. It serves as long as nothing that is
 * subtracted from a row is much larger than the row itself: that is compared at every point. */
static int order_serves(wg_tape *t, wg_real row, wg_real subtracted) {
    enum { ENOUGH = 1024, SPARE = 8 };
    if (wgi_expand_is_nothing(subtracted)) return 1;
    const double recorded = SPARE * subtracted.value / row.value;
    const double most = recorded > ENOUGH ? recorded : ENOUGH;
    return wg_le(t, subtracted, wg_let(t, wg_mul(most, row)));
}

/* Row k of U from w, in which those before it are eliminated. A matrix without that pivot is
 * singular, or not positive definite. */
static int keep_row(wg_tape *t, int spd, size_t n, size_t k, const wg_real *w, struct row *r) {
    r->count = 0;
    r->diagonal = spd ? wg_let(t, wg_select_gt(w[k], 0, w[k], NAN))
                      : wg_let(t, wg_select_eq(w[k], 0, NAN, w[k]));
    r->largest = spd ? wg_constant(0) : largest_of(t, n - k, w + k);
    for (size_t j = k + 1; j < n; j++) r->count += !wgi_expand_is_nothing(w[j]);
    r->u = wgi_expand_room(t, r->count);
    r->col = (size_t *)wg_tape_keep(t, (r->count + 1) * sizeof *r->col, NULL);
    if (r->u == NULL || r->col == NULL) return 0;
    size_t at = 0;
    for (size_t j = k + 1; j < n; j++)
        if (!wgi_expand_is_nothing(w[j])) r->col[at] = j, r->u[at++] = w[j];
    return 1;
}

static wg_status solve_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct solving *const p = solving_of(b);
    const struct factors *const f = p->factors;
    const size_t n = f->n, columns = b->in[1].cols;
    const int turned = p->trans && !p->spd, both = p->spd;
    const int *const rows = turned ? f->q : f->p, *const cols = both || turned ? f->p : f->q;
    const wgi_reals right = wgi_reals_operand(b, x, 1);
    struct lists l[2];
    struct row *const r = (struct row *)wg_tape_keep(t, (n + 1) * sizeof *r, NULL);
    size_t *const place = (size_t *)wg_tape_keep(t, (n + 1) * sizeof *place, NULL);
    wg_real *const w = wgi_expand_room(t, n), *const z = wgi_expand_room(t, n * columns);
    if (r == NULL || place == NULL || w == NULL || z == NULL) return wg_tape_status(t);
    for (int k = 0; k <= both; k++)
        if (!list_rows(t, &p->s, k == 0 ? turned : !turned, &l[k])) return wg_tape_status(t);
    for (size_t k = 0; k < n; k++) place[cols[k]] = k;
    for (size_t k = 0; k < n; k++) {
        for (size_t j = 0; j < n; j++) w[j] = wg_constant(0);
        for (int m = 0; m <= both; m++)
            add_row(t, &p->s, &l[m], (size_t)rows[k], both ? 0.5 : 1, x, place, w);
        for (size_t c = 0; c < columns; c++)
            z[k + c * n] = wgi_reals_at(right, (size_t)rows[k], c);
        const wg_real row = both ? wg_constant(0) : largest_of(t, n, w);
        wg_real subtracted = wg_constant(0);
        for (size_t i = 0; i < k; i++) {
            if (wgi_expand_is_nothing(w[i])) continue;
            const wg_real m = wg_let(t, wg_div(w[i], r[i].diagonal));
            if (!both) /* a sum: of a maximum NaN would be left out */
                subtracted = wgi_expand_plus(
                    t, subtracted,
                    wg_let(t, wg_mul(wg_fabs(wgi_expand_held(t, m)), r[i].largest)));
            for (size_t e = 0; e < r[i].count; e++)
                w[r[i].col[e]] = wgi_expand_less(t, w[r[i].col[e]], m, r[i].u[e]);
            for (size_t c = 0; c < columns; c++)
                z[k + c * n] = wgi_expand_less(t, z[k + c * n], m, z[i + c * n]);
        }
        if (!both && !order_serves(t, row, subtracted)) return WG_ESINGULAR;
        if (!keep_row(t, both, n, k, w, &r[k])) return wg_tape_status(t);
    }
    for (size_t c = 0; c < columns; c++)
        for (size_t k = n; k-- > 0;) {
            wg_real *const to = &z[k + c * n];
            for (size_t e = 0; e < r[k].count; e++)
                *to = wgi_expand_less(t, *to, r[k].u[e], z[r[k].col[e] + c * n]);
            *to = wg_let(t, wg_div(*to, r[k].diagonal));
            y[(size_t)cols[k] + c * n] = *to;
        }
    wgi_expand_spoil(t, wgi_expand_finite(t, b->in[0].rows * b->in[0].cols, x), n * columns, y);
    return WG_OK;
}

/* The entries of -U V', or of -(U V' + V U')/2, as an operation. */
static wg_status entries_shape(wg_block *b) {
    b->out[0].rows = solving_of(b)->s.nnz, b->out[0].cols = 1;
    return WG_OK;
}
static void add_entries(const wg_block *b, wgi_view u, wgi_view v, double *to) {
    const struct solving *const p = solving_of(b);
    const wgi_view entries = wgi_view_packed(to, p->s.nnz, 1);
    passes(entries_pass, &p->s, entries, u, v);
    if (p->spd) passes(entries_pass, &p->s, entries, v, u);
}
static wg_status entries_value(wg_block *b) {
    const double f = solving_of(b)->spd ? -0.5 : -1;
    clear(&b->out[0], b->out[0].value);
    add_entries(b, wgi_view_value(&b->in[0]), wgi_view_value(&b->in[1]), b->out[0].value);
    for (size_t e = 0; e < b->out[0].rows; e++) b->out[0].value[e] *= f;
    return WG_OK;
}
static wg_status entries_jvp(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const v = &b->in[1];
    const double f = solving_of(b)->spd ? -0.5 : -1;
    clear(&b->out[0], b->out[0].bar);
    if (u->bar != NULL) add_entries(b, wgi_view_bar(u), wgi_view_value(v), b->out[0].bar);
    if (v->bar != NULL) add_entries(b, wgi_view_value(u), wgi_view_bar(v), b->out[0].bar);
    for (size_t e = 0; e < b->out[0].rows; e++) b->out[0].bar[e] *= f;
    return WG_OK;
}

static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back);

static const wg_block_op factor_op[2] = {{"wg_sparse_solve", WG_OP_TRANS, factor_shape,
                                          factor_value, nothing, NULL, NULL, NULL, NULL},
                                         {"wg_sparse_spd_solve", WG_OP_TRANS, factor_shape,
                                          factor_value, nothing, NULL, NULL, NULL, NULL}};
static const wg_block_op solve_op[2] = {
    {"wg_sparse_solve", WG_OP_TRANS | WG_OP_EXPANDS, solve_shape, solve_value, solve_vjp,
     solve_jvp, solve_expand, solve_adjoint, NULL},
    {"wg_sparse_spd_solve", WG_OP_TRANS | WG_OP_EXPANDS, solve_shape, solve_value, solve_vjp,
     solve_jvp, solve_expand, solve_adjoint, NULL}};

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
    struct solving p = *solving_of(b);
    const wg_mat of[2] = {in[0], bar[0]}, x = out[0];
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    p.factors->fresh = 1;
    p.trans = !p.trans;
    (void)wg_apply(t, &solve_op[p.spd], &p, sizeof p, 2, of, 1, &back[1]);
    p.factors->fresh = 0;
    const int turned = p.trans == 0 && !p.spd;
    const wg_mat uv[2] = {turned ? x : back[1], turned ? back[1] : x};
    if (in[0].at.slot == 0 || wg_tape_status(t) != WG_OK) return wg_tape_status(t);
    const wg_status s = wg_apply(t, &op, &p, sizeof p, 2, uv, 1, &back[0]);
    if (in[0].cols != 1) back[0] = wg_mat_transpose(back[0]);
    return s;
}

/* Room on the tape for factors like those of h, and a quarter more; NULL: there is none. */
static struct factors *factors_keep(wg_tape *t, const struct solving *p,
                                    const struct handle *h) {
    struct factors f;
    memset(&f, 0, sizeof f);
    f.spd = p->spd, f.fresh = 1;
    f.n = p->s.rows;
    f.l_room = h->l_size + h->l_size / 4 + 1;
    f.u_room = p->spd ? 0 : h->u_size + h->u_size / 4 + 1;
    const size_t ints = f.l_room + f.u_room + 4 * (f.n + 1),
                 doubles = f.l_room + f.u_room + f.n + 1;
    double *const x = (double *)wg_tape_keep(t, doubles * sizeof *x, NULL);
    int *const i = (int *)wg_tape_keep(t, ints * sizeof *i, NULL);
    if (x == NULL || i == NULL) return NULL;
    f.lx = x, f.ux = x + f.l_room, f.r = f.ux + f.u_room;
    f.lp = i, f.up = f.lp + f.n + 1, f.p = f.up + f.n + 1, f.q = f.p + f.n + 1;
    f.li = f.q + f.n + 1, f.ui = f.li + f.l_room;
    return (struct factors *)wg_tape_keep(t, sizeof f, &f);
}

static wg_mat sparse_solve(wg_tape *t, struct solving *p, wg_mat values, wg_mat b) {
    const wg_mat in[2] = {values, b};
    wg_mat x = wg_mat_failed(b.rows, b.cols);
    struct handle h;
    memset(&h, 0, sizeof h);
    p->handle = &h;
    if (p->s.rows != 0 || p->status != WG_OK) {
        if (wg_apply(t, &factor_op[p->spd], p, sizeof *p, 2, in, 0, NULL) != WG_OK) return x;
        p->factors = factors_keep(t, p, &h);
        if (p->factors == NULL) {
            handle_free(&h, p->spd);
            return x;
        }
        (void)extract(&h, p->factors);
    } else {
        /* 0-by-0: nothing to factor, and SuiteSparse takes no such matrix. */
        const struct factors none = {.spd = p->spd, .fresh = 1};
        p->factors = (struct factors *)wg_tape_keep(t, sizeof none, &none);
        if (p->factors == NULL) return x;
    }
    (void)wg_apply(t, &solve_op[p->spd], p, sizeof *p, 2, in, 1, &x);
    return x;
}

#else

struct solving {
    wg_csr s;
    int trans, spd;
    wg_status status;
    const char *why;
};

static wg_status absent_shape(wg_block *b) {
    const struct solving *const p = (const struct solving *)b->params;
    b->out[0].rows = b->in[1].rows;
    b->out[0].cols = b->in[1].cols;
    if (p->status != WG_OK) return refuse(b, p->status, p->why);
    return refuse(b, WG_EMODE, "the library was built without SuiteSparse");
}

static const wg_block_op absent_op[2] = {
    {"wg_sparse_solve", WG_OP_TRANS, absent_shape, nothing, nothing, NULL, NULL, NULL, NULL},
    {"wg_sparse_spd_solve", WG_OP_TRANS, absent_shape, nothing, nothing, NULL, NULL, NULL,
     NULL}};

static wg_mat sparse_solve(wg_tape *t, struct solving *p, wg_mat values, wg_mat b) {
    const wg_mat in[2] = {values, b};
    wg_mat x;
    (void)wg_apply(t, &absent_op[p->spd], p, sizeof *p, 2, in, 1, &x);
    return wg_mat_failed(b.rows, b.cols);
}

#endif

static wg_mat solve_with(wg_tape *t, int spd, char trans, const wg_csr *s, wg_mat values,
                         wg_mat b) {
    struct solving p;
    memset(&p, 0, sizeof p);
    p.spd = spd;
    p.trans = is_turned(trans);
    p.status = check(t, trans, s, &p.why);
    if (s != NULL) p.s = *s;
    return sparse_solve(t, &p, values, b);
}

wg_mat wg_sparse_solve(wg_tape *t, char trans, const wg_csr *s, wg_mat values, wg_mat b) {
    return solve_with(t, 0, trans, s, values, b);
}
wg_mat wg_sparse_spd_solve(wg_tape *t, const wg_csr *s, wg_mat values, wg_mat b) {
    return solve_with(t, 1, 'N', s, values, b);
}
