/* SPDX-License-Identifier: MIT */
/* Banded and tridiagonal systems, by LU with partial pivoting (dgbtrf, dgttrf).
 *
 *   A X = B:  W = A^-T X_,  B_ += W,  A_ -= the band of W X';  Xt = A^-1 (Bt - At X). */
#include <limits.h>
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include <wengert/solve.h>
#include "dense.h"
#include "expand.h"

static wg_status singular(wg_block *b, int info) {
    b->info = info;
    return wgi_block_refuse(b, WG_ESINGULAR, "the matrix is singular");
}

static const char right_side[] = "the right-hand side has not as many rows as the matrix";

/* The right-hand side as the tangent starts: Bt or 0, contiguous. */
static void start_tangent(const wg_block_arg *c, double *xt) {
    if (c->bar != NULL) wgi_get(c->rows, c->cols, wgi_bar_of(c, c->cols, 0), xt);
    else memset(xt, 0, c->rows * c->cols * sizeof *xt);
}

/* ---- banded ---- */

struct band {
    size_t below, above; /* diagonals */
};

static wg_status band_shape(wg_block *b) {
    const struct band *const p = (const struct band *)b->params;
    const size_t rows = b->in[0].rows, n = b->in[0].cols;
    if (p->below >= rows || p->above != rows - 1 - p->below || rows > INT_MAX / 2)
        return wgi_block_refuse(b, WG_ESHAPE, "the matrix has not one row for every diagonal");
    if (b->in[1].rows != n) return wgi_block_refuse(b, WG_ESHAPE, right_side);
    b->out[0].rows = n, b->out[0].cols = b->in[1].cols;
    b->saved_bytes = wgi_room_of((rows + p->below) * n) + wgi_rounded(n * sizeof(int));
    b->work_bytes = wgi_room_of(n * b->in[1].cols);
    return WG_OK;
}

static void band_apply(const wg_block *b, char trans, double *x) {
    const struct band *const p = (const struct band *)b->params;
    const size_t n = b->in[0].cols, k = b->in[1].cols, ld = b->in[0].rows + p->below;
    char *saved = (char *)b->saved;
    const double *const lu = wgi_take(&saved, ld * n);
    if (n == 0 || k == 0) return;
    (void)LAPACKE_dgbtrs_work(LAPACK_COL_MAJOR, trans, wgi_int(n), wgi_int(p->below),
                              wgi_int(p->above), wgi_int(k), lu, wgi_int(ld),
                              (const int *)(const void *)saved, x, wgi_int(n));
}

static wg_status band_value(wg_block *b) {
    const struct band *const p = (const struct band *)b->params;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const size_t n = a->cols, ld = a->rows + p->below;
    char *saved = (char *)b->saved;
    double *const lu = wgi_take(&saved, ld * n);
    if (n == 0) return WG_OK;
    wgi_copy(a->rows, n, a->value, a->ld, lu + p->below, ld);
    const int info =
        LAPACKE_dgbtrf_work(LAPACK_COL_MAJOR, wgi_int(n), wgi_int(n), wgi_int(p->below),
                            wgi_int(p->above), lu, wgi_int(ld), (int *)(void *)saved);
    if (info != 0) return singular(b, info);
    wgi_get(n, c->cols, wgi_value_of(c, c->cols, 0), b->out[0].value);
    band_apply(b, 'N', b->out[0].value);
    return WG_OK;
}

static wg_status band_vjp(wg_block *b) {
    const struct band *const p = (const struct band *)b->params;
    const wg_block_arg *const a = &b->in[0], *const c = &b->in[1];
    const size_t n = a->cols, k = c->cols;
    const double *const x = b->out[0].value;
    double *const w = (double *)b->work;
    memcpy(w, b->out[0].bar, n * k * sizeof *w);
    band_apply(b, 'T', w);
    if (c->bar != NULL) wgi_add(n, k, 1, w, wgi_bar_of(c, k, 0));
    for (size_t j = 0; j < n && a->bar != NULL; j++) {
        const size_t from = j > p->above ? j - p->above : 0;
        const size_t to = n - j > p->below ? j + p->below + 1 : n;
        double *const column = a->bar + j * a->bar_ld + p->above - (j - from);
        for (size_t l = 0; l < k; l++)
            for (size_t i = from; i < to; i++) column[i - from] -= w[i + l * n] * x[j + l * n];
    }
    return WG_OK;
}

static wg_status band_jvp(wg_block *b) {
    const struct band *const p = (const struct band *)b->params;
    const wg_block_arg *const a = &b->in[0];
    const size_t n = a->cols, k = b->in[1].cols;
    double *const xt = b->out[0].bar;
    start_tangent(&b->in[1], xt);
    for (size_t l = 0; l < k && n != 0 && a->bar != NULL; l++)
        cblas_dgbmv(CblasColMajor, CblasNoTrans, wgi_int(n), wgi_int(n), wgi_int(p->below),
                    wgi_int(p->above), -1, a->bar, wgi_int(a->bar_ld), b->out[0].value + l * n,
                    1, 1, xt + l * n, 1);
    band_apply(b, 'N', xt);
    return WG_OK;
}

/* Bands as dgbtrf has them: `below` more diagonals above those of A, for what pivots bring. */
static wg_status band_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct band *const p = (const struct band *)b->params;
    const wgi_reals a = wgi_reals_operand(b, x, 0);
    const size_t n = a.cols, top = p->below + p->above, tall = top + p->below + 1;
    wg_real *const lu = wgi_expand_room(t, tall * n);
    if (lu == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < tall; i++)
            lu[i + j * tall] = i < p->below ? wg_constant(0) : wgi_reals_at(a, i - p->below, j);
    wgi_expand_copy(wgi_reals_operand(b, x, 1), y);
    wgi_expand_solve_band(t, n, p->below, p->above, lu + top, tall - 1, b->in[1].cols, y);
    return WG_OK;
}

/* The transpose of a matrix stored by bands. */
static wg_mat band_transposed(wg_tape *t, const struct band *p, wg_mat a) {
    const size_t rows = a.rows, n = a.cols;
    size_t *const index = wg_tape_keep(t, (rows * n + 1) * sizeof *index, NULL);
    if (index == NULL) return a;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < rows; i++) {
            /* row of A: places outside the matrix are read by nobody */
            const size_t at = j + i >= p->below ? j + i - p->below : n;
            index[i + j * rows] = at < n ? rows - 1 - i + at * rows : 0;
        }
    return wg_gather(t, a, rows, n, index);
}

/* The band of -U V', as an operation. */
static wg_status outer_shape(wg_block *b) {
    const struct band *const p = (const struct band *)b->params;
    b->out[0].rows = p->below + p->above + 1, b->out[0].cols = b->in[0].rows;
    return WG_OK;
}
static void add_outer(const wg_block *b, const double *u, size_t ldu, const double *v,
                      size_t ldv, double *a) {
    const struct band *const p = (const struct band *)b->params;
    const size_t n = b->in[0].rows, k = b->in[0].cols, ld = p->below + p->above + 1;
    for (size_t j = 0; j < n; j++) {
        const size_t from = j > p->above ? j - p->above : 0;
        const size_t to = n - j > p->below ? j + p->below + 1 : n;
        double *const column = a + j * ld + p->above - (j - from);
        for (size_t l = 0; l < k; l++)
            for (size_t i = from; i < to; i++)
                column[i - from] -= u[i + l * ldu] * v[j + l * ldv];
    }
}
static wg_status outer_value(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const v = &b->in[1];
    memset(b->out[0].value, 0, b->out[0].rows * b->out[0].cols * sizeof(double));
    add_outer(b, u->value, u->ld, v->value, v->ld, b->out[0].value);
    return WG_OK;
}
static wg_status outer_jvp(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const v = &b->in[1];
    memset(b->out[0].bar, 0, b->out[0].rows * b->out[0].cols * sizeof(double));
    if (u->bar != NULL) add_outer(b, u->bar, u->bar_ld, v->value, v->ld, b->out[0].bar);
    if (v->bar != NULL) add_outer(b, u->value, u->ld, v->bar, v->bar_ld, b->out[0].bar);
    return WG_OK;
}

static wg_status band_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    static const wg_block_op op = {"adjoint of wg_solve_banded",
                                   0,
                                   outer_shape,
                                   outer_value,
                                   NULL,
                                   outer_jvp,
                                   NULL,
                                   NULL,
                                   NULL};
    const struct band *const p = (const struct band *)b->params;
    if (in[0].cols == 0 || in[1].cols == 0) return WG_OK;
    const wg_mat w =
        wg_solve_banded(t, p->above, p->below, band_transposed(t, p, in[0]), bar[0]);
    const wg_mat of[2] = {w, out[0]};
    back[1] = w;
    return in[0].at.slot == 0 ? wg_tape_status(t)
                              : wg_apply(t, &op, p, sizeof *p, 2, of, 1, back);
}

const wg_block_op wgi_op_band = {"wg_solve_banded", WG_OP_EXPANDS, band_shape,
                                 band_value,        band_vjp,      band_jvp,
                                 band_expand,       band_adjoint,  NULL};

wg_mat wg_solve_banded(wg_tape *t, size_t kl, size_t ku, wg_mat a, wg_mat b) {
    const struct band p = {kl, ku};
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, &wgi_op_band, &p, sizeof p, 2, in);
}

/* ---- tridiagonal: operands lower, diagonal, upper, B ---- */

enum { LOWER, DIAGONAL, UPPER, RIGHT };

/* saved: the four diagonals of the factor, pivots. */
struct tridiagonal {
    double *lower, *diagonal, *upper, *upper2;
    int *pivot;
};

static struct tridiagonal tridiagonal_of(const wg_block *b) {
    const size_t n = b->in[DIAGONAL].rows;
    char *saved = (char *)b->saved;
    struct tridiagonal f;
    f.lower = wgi_take(&saved, n), f.diagonal = wgi_take(&saved, n);
    f.upper = wgi_take(&saved, n), f.upper2 = wgi_take(&saved, n);
    f.pivot = (int *)(void *)saved;
    return f;
}

static wg_status tridiagonal_shape(wg_block *b) {
    const size_t n = b->in[DIAGONAL].rows, m = n != 0 ? n - 1 : 0;
    if (b->in[DIAGONAL].cols != 1 || b->in[LOWER].cols != 1 || b->in[UPPER].cols != 1 ||
        b->in[LOWER].rows != m || b->in[UPPER].rows != m)
        return wgi_block_refuse(b, WG_ESHAPE, "the diagonals do not fit each other");
    if (b->in[RIGHT].rows != n) return wgi_block_refuse(b, WG_ESHAPE, right_side);
    b->out[0].rows = n, b->out[0].cols = b->in[RIGHT].cols;
    b->saved_bytes = 4 * wgi_room_of(n) + wgi_rounded(n * sizeof(int));
    b->work_bytes = wgi_room_of(n * b->in[RIGHT].cols);
    return WG_OK;
}

static void tridiagonal_apply(const wg_block *b, char trans, double *x) {
    const struct tridiagonal f = tridiagonal_of(b);
    const size_t n = b->in[DIAGONAL].rows, k = b->in[RIGHT].cols;
    if (n == 0 || k == 0) return;
    (void)LAPACKE_dgttrs_work(LAPACK_COL_MAJOR, trans, wgi_int(n), wgi_int(k), f.lower,
                              f.diagonal, f.upper, f.upper2, f.pivot, x, wgi_int(n));
}

static wg_status tridiagonal_value(wg_block *b) {
    const struct tridiagonal f = tridiagonal_of(b);
    const wg_block_arg *const c = &b->in[RIGHT];
    const size_t n = b->in[DIAGONAL].rows;
    if (n == 0) return WG_OK;
    memcpy(f.lower, b->in[LOWER].value, (n - 1) * sizeof *f.lower);
    memcpy(f.diagonal, b->in[DIAGONAL].value, n * sizeof *f.diagonal);
    memcpy(f.upper, b->in[UPPER].value, (n - 1) * sizeof *f.upper);
    const int info =
        LAPACKE_dgttrf_work(wgi_int(n), f.lower, f.diagonal, f.upper, f.upper2, f.pivot);
    if (info != 0) return singular(b, info);
    wgi_get(n, c->cols, wgi_value_of(c, c->cols, 0), b->out[0].value);
    tridiagonal_apply(b, 'N', b->out[0].value);
    return WG_OK;
}

static wg_status tridiagonal_vjp(wg_block *b) {
    const wg_block_arg *const c = &b->in[RIGHT];
    const size_t n = c->rows, k = c->cols;
    double *const w = (double *)b->work;
    double *const low = b->in[LOWER].bar, *const mid = b->in[DIAGONAL].bar;
    double *const up = b->in[UPPER].bar;
    memcpy(w, b->out[0].bar, n * k * sizeof *w);
    tridiagonal_apply(b, 'T', w);
    if (c->bar != NULL) wgi_add(n, k, 1, w, wgi_bar_of(c, k, 0));
    for (size_t l = 0; l < k; l++) {
        const double *const x = b->out[0].value + l * n, *const u = w + l * n;
        for (size_t i = 0; i < n && mid != NULL; i++) mid[i] -= u[i] * x[i];
        for (size_t i = 1; i < n && low != NULL; i++) low[i - 1] -= u[i] * x[i - 1];
        for (size_t i = 1; i < n && up != NULL; i++) up[i - 1] -= u[i - 1] * x[i];
    }
    return WG_OK;
}

static wg_status tridiagonal_jvp(wg_block *b) {
    const size_t n = b->in[RIGHT].rows, k = b->in[RIGHT].cols;
    const double *const low = b->in[LOWER].bar, *const mid = b->in[DIAGONAL].bar;
    const double *const up = b->in[UPPER].bar;
    start_tangent(&b->in[RIGHT], b->out[0].bar);
    for (size_t l = 0; l < k; l++) {
        const double *const x = b->out[0].value + l * n;
        double *const xt = b->out[0].bar + l * n;
        for (size_t i = 0; i < n && mid != NULL; i++) xt[i] -= mid[i] * x[i];
        for (size_t i = 1; i < n && low != NULL; i++) xt[i] -= low[i - 1] * x[i - 1];
        for (size_t i = 1; i < n && up != NULL; i++) xt[i - 1] -= up[i - 1] * x[i];
    }
    tridiagonal_apply(b, 'N', b->out[0].bar);
    return WG_OK;
}

/* As a band: two diagonals above, one of them for what pivots bring. */
static wg_status tridiagonal_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                    wg_real *y) {
    enum { TOP = 2, TALL = 4 };
    const size_t n = b->in[DIAGONAL].rows;
    const wg_real *const lower = wgi_reals_operand(b, x, LOWER).p;
    const wg_real *const diagonal = wgi_reals_operand(b, x, DIAGONAL).p;
    const wg_real *const upper = wgi_reals_operand(b, x, UPPER).p;
    wg_real *const lu = wgi_expand_room(t, TALL * n);
    if (lu == NULL) return wg_tape_status(t);
    for (size_t j = 0; j < n; j++) {
        wg_real *const column = lu + TALL * j;
        column[0] = wg_constant(0);
        column[1] = j > 0 ? upper[j - 1] : wg_constant(0);
        column[2] = diagonal[j];
        column[3] = j + 1 < n ? lower[j] : wg_constant(0);
    }
    wgi_expand_copy(wgi_reals_operand(b, x, RIGHT), y);
    wgi_expand_solve_band(t, n, 1, 1, lu + TOP, TALL - 1, b->in[RIGHT].cols, y);
    return WG_OK;
}

/* -sum of the rows of U o V, from rows i and j on. */
static wg_mat diagonal_of(wg_tape *t, wg_mat u, size_t i, wg_mat v, size_t j) {
    const size_t n = u.rows - (i > j ? i : j);
    const wg_mat a = wg_mat_block(u, i, 0, n, u.cols), c = wg_mat_block(v, j, 0, n, v.cols);
    return wg_mat_scale(t, -1, wg_mat_sum_axis(t, wg_mat_mul(t, a, c), WG_EACH_ROW));
}

static wg_status tridiagonal_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                     const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    (void)b;
    if (in[RIGHT].rows == 0 || in[RIGHT].cols == 0) return WG_OK;
    const wg_mat x = out[0];
    const wg_mat w = wg_solve_tridiagonal(t, in[UPPER], in[DIAGONAL], in[LOWER], bar[0]);
    back[RIGHT] = w;
    back[DIAGONAL] = diagonal_of(t, w, 0, x, 0);
    if (x.rows == 1) return wg_tape_status(t);
    back[LOWER] = diagonal_of(t, w, 1, x, 0);
    back[UPPER] = diagonal_of(t, w, 0, x, 1);
    return wg_tape_status(t);
}

const wg_block_op wgi_op_tridiagonal = {
    "wg_solve_tridiagonal", WG_OP_EXPANDS,       tridiagonal_shape,
    tridiagonal_value,      tridiagonal_vjp,     tridiagonal_jvp,
    tridiagonal_expand,     tridiagonal_adjoint, NULL};

wg_mat wg_solve_tridiagonal(wg_tape *t, wg_mat lower, wg_mat diagonal, wg_mat upper, wg_mat b) {
    const wg_mat in[4] = {lower, diagonal, upper, b};
    return wgi_apply_one(t, &wgi_op_tridiagonal, NULL, 0, 4, in);
}
