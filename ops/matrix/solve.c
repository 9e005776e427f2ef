/* SPDX-License-Identifier: MIT */
/* Solves: with a factor (LU, Cholesky), and triangular.
 *
 *   op(S) X = B, S as in factor.h:   W = op(S)^-T X_,   B_ += W,
 *     op(S) = S:  S_ -= W X'      op(S) = S':  S_ -= X W'      Cholesky:  S_ -= (W X' + X W')/2
 *     tangent  Xt = op(S)^-1 (Bt - op(St) X)
 *   triangular:  op(A) X = f B or X op(A) = f B; the same, of one triangle.
 * Sources: Giles 2008, 2.3.1; Seeger et al. 2017, arXiv:1710.08717. */
#include <wengert/data.h>
#include <wengert/elementwise.h>
#include <wengert/products.h>
#include "expand.h"
#include "factor.h"
#include "spectral.h"
#include "tiny.h"
#include "traits.h"

/* ---- with a factor ---- */

/* Columns of B and X in a member of the batch. */
static size_t columns(const wg_block *b) {
    const size_t count = wgi_factored_of(b)->count;
    return count != 0 ? b->in[1].cols / count : 0;
}

static wg_status solve_shape(wg_block *b) {
    const size_t count = wgi_factored_of(b)->count, n = b->in[0].rows;
    if (wgi_factored_of(b)->trans > 1)
        return wgi_block_refuse(b, WG_EARG, "the flag trans is neither N nor T");
    const wg_status s = wgi_factor_shape(b);
    if (s != WG_OK) return s;
    const size_t k = columns(b);
    if (b->in[1].rows != n || b->in[1].cols != k * count) {
        b->why = "the right-hand side has not as many rows as the matrix";
        if (b->in[1].rows == n) b->why = "the right-hand sides do not divide among the systems";
        return WG_ESHAPE;
    }
    b->out[0].rows = n, b->out[0].cols = b->in[1].cols;
    b->work_bytes = wgi_room_of(n * k);
    return WG_OK;
}

/* x = op(S)^-1 x, or op(S)^-T x; k columns of n. */
static void apply_factor(const wg_block *b, size_t member, int transposed, size_t k,
                         double *x) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t order = b->in[0].rows;
    const int n = wgi_int(order), cols = wgi_int(k), tiny = order <= WGI_TINY && k <= WGI_TINY;
    const double *const packed = wgi_packed(b, member);
    if (n == 0 || k == 0) return;
    if (p->kind == WG_CHOLESKY) {
        if (tiny) wgi_tiny_cholesky_solve(order, packed, k, x);
        else (void)LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', n, cols, packed, n, x, n);
        return;
    }
    if ((p->trans != 0) != (b->in[0].trans != 0)) transposed = !transposed;
    const int *const pivot = wgi_pivots(b, member);
    if (tiny) wgi_tiny_solve(order, packed, pivot, transposed, k, x);
    else
        (void)LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, transposed ? 'T' : 'N', n, cols, packed, n,
                                  pivot, x, n);
}

static wg_status solve_value(wg_block *b) {
    const size_t n = b->in[0].rows, k = columns(b);
    const wg_status s = wgi_factor_make(b);
    if (s != WG_OK) return s;
    for (size_t m = 0; m < wgi_factored_of(b)->count && n != 0; m++) {
        double *const x = b->out[0].value + m * n * k;
        wgi_get(n, k, wgi_value_of(&b->in[1], k, m), x);
        apply_factor(b, m, 0, k, x);
    }
    return WG_OK;
}

static wg_status solve_vjp(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows, k = columns(b);
    double *const w = (double *)b->work;
    for (size_t m = 0; m < p->count && n != 0; m++) {
        const double *const x = b->out[0].value + m * n * k;
        if (wgi_nothing(n, k, wgi_bar_of(&b->out[0], k, m))) continue;
        memcpy(w, b->out[0].bar + m * n * k, n * k * sizeof *w);
        apply_factor(b, m, 1, k, w);
        if (b->in[1].bar != NULL) wgi_add(n, k, 1, w, wgi_bar_of(&b->in[1], k, m));
        if (b->in[0].bar == NULL) continue;
        const wgi_dense a = wgi_bar_of(&b->in[0], n, m);
        if (p->kind == WG_CHOLESKY) {
            wgi_gemm_add(n, n, k, -0.5, 'N', w, n, 'T', x, n, a);
            wgi_gemm_add(n, n, k, -0.5, 'N', x, n, 'T', w, n, a);
        } else if (p->trans) {
            wgi_gemm_add(n, n, k, -1, 'N', x, n, 'T', w, n, a);
        } else {
            wgi_gemm_add(n, n, k, -1, 'N', w, n, 'T', x, n, a);
        }
    }
    return WG_OK;
}

/* y += f op(a) x;  y, x of k columns of n. */
static void gemm_of(size_t n, size_t k, double f, wgi_dense a, int trans, const double *x,
                    double *y) {
    cblas_dgemm(CblasColMajor, wgi_op((a.trans != 0) != (trans != 0)), CblasNoTrans, wgi_int(n),
                wgi_int(k), wgi_int(n), f, a.p, wgi_int(a.ld), x, wgi_int(n), 1, y, wgi_int(n));
}

static wg_status solve_jvp(wg_block *b) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows, k = columns(b);
    for (size_t m = 0; m < p->count && n != 0 && k != 0; m++) {
        const double *const x = b->out[0].value + m * n * k;
        double *const xt = b->out[0].bar + m * n * k;
        if (wgi_nothing(n, k, wgi_bar_of(&b->in[1], k, m)) &&
            wgi_nothing(n, n, wgi_bar_of(&b->in[0], n, m))) {
            memset(xt, 0, n * k * sizeof *xt);
            continue;
        }
        if (b->in[1].bar != NULL) wgi_get(n, k, wgi_bar_of(&b->in[1], k, m), xt);
        else memset(xt, 0, n * k * sizeof *xt);
        if (b->in[0].bar != NULL) {
            const wgi_dense at = wgi_bar_of(&b->in[0], n, m);
            if (p->kind == WG_CHOLESKY) {
                gemm_of(n, k, -0.5, at, 0, x, xt);
                gemm_of(n, k, -0.5, at, 1, x, xt);
            } else gemm_of(n, k, -1, at, p->trans != 0, x, xt);
        }
        apply_factor(b, m, 0, k, xt);
    }
    return WG_OK;
}

static wg_status solve_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_factored *const p = wgi_factored_of(b);
    const size_t n = b->in[0].rows, k = columns(b);
    wgi_expand_copy(wgi_reals_operand(b, x, 1), y);
    for (size_t m = 0; m < p->count; m++, y += n * k) {
        const wgi_reals a = wgi_reals_cols(wgi_reals_operand(b, x, 0), m * n, n);
        if (p->kind == WG_CHOLESKY)
            wgi_expand_cholesky_solve(
                t, n, wgi_expand_cholesky(t, n, wgi_expand_symmetric(t, a, 0)), k, y);
        else wgi_expand_solve(t, a, p->trans != 0, k, y);
    }
    return WG_OK;
}

/* f U V' of each member. */
static wg_mat outer_products(wg_tape *t, size_t count, double f, wg_mat u, wg_mat v) {
    return count == 1 ? wg_gemm(t, 'N', 'T', f, u, v, 0, u)
                      : wg_gemm_batch(t, count, 'N', 'T', f, u, v);
}

/* W or X, with 0 for members whose adjoints are 0: these may be NaN; sweeps leave them out. */
static wg_mat touched(wg_tape *t, size_t count, wg_mat bar, wg_mat a) {
    const size_t n = a.rows, k = a.cols / count;
    int all = 1;
    wg_mat *const member = wg_tape_keep(t, count * sizeof *member, NULL);
    for (size_t m = 0; member != NULL && m < count; m++) {
        const int none = wgi_spectral_untouched(t, wg_mat_block(bar, 0, m * k, n, k));
        member[m] = none ? wg_mat_fill(t, n, k, 0) : wg_mat_block(a, 0, m * k, n, k);
        all &= !none;
    }
    return all ? a : wg_concat_cols(t, count, member);
}

static wg_status solve_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                               const wg_mat *bar, wg_mat *back) {
    const wgi_factored p = wgi_factored_again(b, !wgi_factored_of(b)->trans);
    const wg_mat of[2] = {in[0], bar[0]};
    wg_mat w, x = out[0];
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    w = wgi_apply_one(t, &wgi_op_factor_solve, &p, sizeof p, 2, of);
    back[1] = w = touched(t, p.count, bar[0], w);
    if (in[0].at.slot == 0) return wg_tape_status(t);
    x = touched(t, p.count, bar[0], x);
    if (p.kind == WG_CHOLESKY)
        back[0] = wg_mat_add(t, outer_products(t, p.count, -0.5, w, x),
                             outer_products(t, p.count, -0.5, x, w));
    else if (p.trans) back[0] = outer_products(t, p.count, -1, w, x);
    else back[0] = outer_products(t, p.count, -1, x, w);
    return wg_tape_status(t);
}

static void solve_parts(const void *params, wgi_parts *p) {
    p->count = ((const wgi_factored *)params)->count;
    p->part[1] = WGI_ITS_COLUMN;
    p->near[0] = 3, p->near[1] = 1;
}

static const wgi_traits solve_traits = {.parts = solve_parts};

#define SOLVE(name)                                                                            \
    const wg_block_op wgi_op_##name = {"wg_" #name,  WG_OP_TRANS | WG_OP_EXPANDS,              \
                                       solve_shape,  solve_value,                              \
                                       solve_vjp,    solve_jvp,                                \
                                       solve_expand, solve_adjoint,                            \
                                       &solve_traits}
SOLVE(factor_solve);
SOLVE(solve);
SOLVE(solve_spd);
SOLVE(solve_batch);
SOLVE(solve_spd_batch);

wg_mat wg_factor_solve(wg_tape *t, wg_factor f, char trans, wg_mat b) {
    const wgi_factored p = {f.kind,
                            trans == 'N'   ? 0u
                            : trans == 'T' ? 1u
                                           : 2u,
                            1, f.packed, f.pivot};
    const wg_mat in[3] = {f.a, b, wgi_factor_operand(t, &f)};
    return wgi_apply_one(t, &wgi_op_factor_solve, &p, sizeof p, 3, in);
}

static wg_mat solve(wg_tape *t, const wg_block_op *op, wg_factor_kind kind, size_t count,
                    wg_mat a, wg_mat b) {
    const wgi_factored p = {kind, 0, count, NULL, NULL};
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, op, &p, sizeof p, 2, in);
}

wg_mat wg_solve(wg_tape *t, wg_mat a, wg_mat b) {
    return solve(t, &wgi_op_solve, WG_LU, 1, a, b);
}
wg_mat wg_solve_spd(wg_tape *t, wg_mat a, wg_mat b) {
    return solve(t, &wgi_op_solve_spd, WG_CHOLESKY, 1, a, b);
}
wg_mat wg_solve_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b) {
    return solve(t, &wgi_op_solve_batch, WG_LU, count, a, b);
}
wg_mat wg_solve_spd_batch(wg_tape *t, size_t count, wg_mat a, wg_mat b) {
    return solve(t, &wgi_op_solve_spd_batch, WG_CHOLESKY, count, a, b);
}

/* ---- triangular ---- */

extern const wg_block_op wgi_op_trsm_batch;

struct triangular {
    char side, uplo, trans, diag;
    double factor;
    size_t count;
};

static const struct triangular *triangular_of(const wg_block *b) {
    return (const struct triangular *)b->params;
}

static wg_status trsm_shape(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const int left = p->side == 'L';
    const size_t n = b->in[0].rows;
    if ((!left && p->side != 'R') || (p->uplo != 'L' && p->uplo != 'U') ||
        (p->trans != 'N' && p->trans != 'T') || (p->diag != 'N' && p->diag != 'U'))
        return wgi_block_refuse(
            b, WG_EARG,
            "a flag is not one of its letters: side L R, uplo L U, trans N T, diag N U");
    const size_t k = p->count != 0 ? b->in[1].cols / p->count : 0;
    if ((n != 0 && p->count > SIZE_MAX / n) || b->in[0].cols != n * p->count ||
        b->in[1].cols != k * p->count)
        return wgi_block_refuse(b, WG_ESHAPE,
                                p->count == 1 ? "the matrix is not square"
                                              : "not a batch of square matrices");
    if ((left ? b->in[1].rows : k) != n)
        return wgi_block_refuse(b, WG_ESHAPE, "the right-hand side does not fit the matrix");
    b->out[0].rows = b->in[1].rows, b->out[0].cols = b->in[1].cols;
    b->work_bytes = wgi_room_of(b->in[1].rows * k) + wgi_room_of(WGI_TRIANGLE);
    return WG_OK;
}

/* A as it stands in memory: S, A = S or S'; and op(A) in terms of S. */
struct stored {
    int left, lower, trans, unit;
    size_t n, rows, cols; /* of A; of a member of B */
};

static struct stored stored_of(const wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const int turned = b->in[0].trans != 0;
    struct stored s;
    s.left = p->side == 'L', s.lower = (p->uplo == 'L') != turned;
    s.trans = (p->trans == 'T') != turned, s.unit = p->diag == 'U';
    s.n = b->in[0].rows, s.rows = b->in[1].rows;
    s.cols = p->count != 0 ? b->in[1].cols / p->count : 0;
    return s;
}

/* x = f op(S)^-1 x, or from the right; `back`: of the transpose. */
static void apply_triangle(const struct stored *s, int back, double f, wgi_dense a, double *x) {
    const int trans = s->trans != back;
    if (s->rows == 0 || s->cols == 0) return;
    if (s->left && s->cols == 1) {
        cblas_dtrsv(CblasColMajor, s->lower ? CblasLower : CblasUpper, wgi_op(trans),
                    s->unit ? CblasUnit : CblasNonUnit, wgi_int(s->n), a.p, wgi_int(a.ld), x,
                    1);
        if (f != 1) cblas_dscal(wgi_int(s->n), f, x, 1);
        return;
    }
    cblas_dtrsm(CblasColMajor, s->left ? CblasLeft : CblasRight,
                s->lower ? CblasLower : CblasUpper, wgi_op(trans),
                s->unit ? CblasUnit : CblasNonUnit, wgi_int(s->rows), wgi_int(s->cols), f, a.p,
                wgi_int(a.ld), x, wgi_int(s->rows));
}

static wg_status trsm_value(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const struct stored s = stored_of(b);
    for (size_t m = 0; m < p->count && s.n != 0; m++) {
        const wgi_dense a = wgi_value_of(&b->in[0], s.n, m);
        double *const x = b->out[0].value + m * s.rows * s.cols;
        for (size_t i = 0; i < s.n && !s.unit; i++)
            if (a.p[i * (a.ld + 1)] == 0) {
                b->info = wgi_int(i + 1);
                return wgi_block_refuse(b, WG_ESINGULAR,
                                        "the triangular matrix has a zero on its diagonal");
            }
        wgi_get(s.rows, s.cols, wgi_value_of(&b->in[1], s.cols, m), x);
        apply_triangle(&s, 0, p->factor, a, x);
    }
    return WG_OK;
}

static wg_status trsm_vjp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const struct stored s = stored_of(b);
    const size_t ld = wgi_ld(s.rows);
    char *work = (char *)b->work;
    double *const w = wgi_take(&work, s.rows * s.cols), *const more = (double *)(void *)work;
    for (size_t m = 0; m < p->count && s.rows != 0 && s.cols != 0; m++) {
        const wgi_dense a = wgi_value_of(&b->in[0], s.n, m), aw = wgi_bar_of(&b->in[0], s.n, m);
        const double *const x = b->out[0].value + m * s.rows * s.cols;
        const char uplo = s.lower ? 'L' : 'U';
        if (wgi_nothing(s.rows, s.cols, wgi_bar_of(&b->out[0], s.cols, m))) continue;
        memcpy(w, b->out[0].bar + m * s.rows * s.cols, s.rows * s.cols * sizeof *w);
        apply_triangle(&s, 1, 1, a, w);
        if (b->in[1].bar != NULL)
            wgi_add(s.rows, s.cols, p->factor, w, wgi_bar_of(&b->in[1], s.cols, m));
        if (aw.p == NULL) continue;
        /* op(S)_ is -W X' on the left, -X' W on the right */
        const double *const u = s.left != s.trans ? w : x, *const v = s.left != s.trans ? x : w;
        wgi_gemm_triangle(uplo, s.unit, s.n, s.left ? s.cols : s.rows, -1, s.left ? 'N' : 'T',
                          u, ld, s.left ? 'T' : 'N', v, ld, aw.p, aw.ld, more);
    }
    return WG_OK;
}

/* y = op(St) x, or x op(St), with the triangle of St only. What is off a diagonal of ones is a
 * triangle of order n - 1, from the second row or column on: nothing is added to be
 * subtracted. */
static void times_triangle(const struct stored *s, wgi_dense at, const double *x, double *y) {
    const size_t off = s->unit != 0, rows = s->rows - (s->left ? off : 0),
                 cols = s->cols - (s->left ? 0 : off), skip = s->left ? off : off * s->rows;
    /* 1: what is read begins with the first row or column, what is written with the second */
    const int down = (s->lower != s->trans) == s->left;
    memset(y, 0, s->rows * s->cols * sizeof *y);
    x += down ? 0 : skip, y += down ? skip : 0;
    for (size_t j = 0; j < cols; j++)
        memcpy(y + j * s->rows, x + j * s->rows, rows * sizeof *y);
    if (rows == 0 || cols == 0) return;
    cblas_dtrmm(CblasColMajor, s->left ? CblasLeft : CblasRight,
                s->lower ? CblasLower : CblasUpper, wgi_op(s->trans), CblasNonUnit,
                wgi_int(rows), wgi_int(cols), 1, at.p + (s->lower ? off : off * at.ld),
                wgi_int(at.ld), y, wgi_int(s->rows));
}

static wg_status trsm_jvp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const struct stored s = stored_of(b);
    const size_t size = s.rows * s.cols;
    double *const y = (double *)b->work;
    for (size_t m = 0; m < p->count && size != 0; m++) {
        const wgi_dense a = wgi_value_of(&b->in[0], s.n, m), at = wgi_bar_of(&b->in[0], s.n, m);
        double *const xt = b->out[0].bar + m * size;
        if (wgi_nothing(s.rows, s.cols, wgi_bar_of(&b->in[1], s.cols, m)) &&
            wgi_nothing(s.n, s.n, at)) {
            memset(xt, 0, size * sizeof *xt);
            continue;
        }
        if (b->in[1].bar != NULL) {
            wgi_get(s.rows, s.cols, wgi_bar_of(&b->in[1], s.cols, m), xt);
            for (size_t i = 0; i < size; i++) xt[i] *= p->factor;
        } else memset(xt, 0, size * sizeof *xt);
        if (at.p != NULL) {
            times_triangle(&s, at, b->out[0].value + m * size, y);
            for (size_t i = 0; i < size; i++) xt[i] -= y[i];
        }
        apply_triangle(&s, 0, 1, a, xt);
    }
    return WG_OK;
}

/* From the right: everything transposed. */
static wg_status trsm_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct triangular *const p = triangular_of(b);
    const int right = p->side == 'R', turn = (p->trans == 'T') != right;
    const size_t n = b->in[0].rows, rows = b->in[1].rows, count = p->count;
    const size_t cols = count != 0 ? b->in[1].cols / count : 0;
    for (size_t e = 0; e < rows * cols * count; e++)
        y[e] = p->factor != 0 ? wgi_expand_scaled(t, p->factor, wgi_reals_operand(b, x, 1).p[e])
                              : wg_constant(0);
    if (p->factor == 0) return WG_OK; /* no operand is looked at, as in the BLAS */
    for (size_t m = 0; m < count; m++, y += rows * cols) {
        const wgi_reals a = wgi_reals_cols(wgi_reals_operand(b, x, 0), m * n, n);
        wgi_expand_trsm(t, wgi_reals_turn(a, turn), (p->uplo == 'U') != turn, p->diag == 'U',
                        right ? rows : cols, y, right ? rows : 1, right ? 1 : rows);
    }
    return WG_OK;
}

/* A with its triangle alone, in each member. */
static wg_mat triangles(wg_tape *t, const struct triangular *p, wg_mat a) {
    const size_t n = a.rows, off = p->diag == 'U';
    double *const mask = wg_tape_keep(t, n * n * p->count * sizeof(double), NULL);
    for (size_t e = 0; mask != NULL && e < n * n * p->count; e++) {
        const size_t i = e % n, j = e / n % n;
        mask[e] = p->uplo == 'L' ? i >= j + off : j >= i + off;
    }
    if (mask == NULL) return a;
    return wg_mat_mul(t, wg_mat_constant_borrowed(t, n, n * p->count, mask, n), a);
}

/* -U' V of each member, or -U V'. */
static wg_mat inner_products(wg_tape *t, size_t count, char tu, char tv, wg_mat u, wg_mat v) {
    return count == 1 ? wg_gemm(t, tu, tv, -1, u, v, 0, u)
                      : wg_gemm_batch(t, count, tu, tv, -1, u, v);
}

/* op(A)_ is -W X' on the left, -X' W on the right. */
static wg_status trsm_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                              const wg_mat *bar, wg_mat *back) {
    struct triangular p = *triangular_of(b);
    const int left = p.side == 'L', turned = p.trans == 'T';
    const double f = p.factor;
    const wg_mat of[2] = {in[0], bar[0]};
    wg_mat w, x = out[0];
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    p.trans = turned ? 'N' : 'T', p.factor = 1;
    w = wgi_apply_one(t, &wgi_op_trsm_batch, &p, sizeof p, 2, of);
    w = touched(t, p.count, bar[0], w);
    back[1] = f == 1 ? w : wg_mat_scale(t, f, w);
    if (in[0].at.slot == 0) return wg_tape_status(t);
    x = touched(t, p.count, bar[0], x);
    const char tu = left ? 'N' : 'T', tv = left ? 'T' : 'N';
    const wg_mat u = left != turned ? w : x, v = left != turned ? x : w;
    back[0] = triangles(t, &p, inner_products(t, p.count, tu, tv, u, v));
    return wg_tape_status(t);
}

static void triangular_parts(const void *params, wgi_parts *p) {
    const struct triangular *const k = params;
    p->count = k->count;
    p->part[1] = k->side == 'R' ? WGI_ITS_ROW : WGI_ITS_COLUMN;
    p->near[0] = 3, p->near[1] = 1;
}

static const wgi_traits triangular_traits = {.parts = triangular_parts};

#define TRIANGULAR(name)                                                                       \
    const wg_block_op wgi_op_##name = {"wg_" #name,       WG_OP_TRANS | WG_OP_EXPANDS,         \
                                       trsm_shape,        trsm_value,                          \
                                       trsm_vjp,          trsm_jvp,                            \
                                       trsm_expand,       trsm_adjoint,                        \
                                       &triangular_traits}
TRIANGULAR(trsm);
TRIANGULAR(trsv);
TRIANGULAR(trsm_batch);

static wg_mat triangular(wg_tape *t, const wg_block_op *op, struct triangular p, wg_mat a,
                         wg_mat b) {
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, op, &p, sizeof p, 2, in);
}

wg_mat wg_trsm(wg_tape *t, char side, char uplo, char trans, char diag, double alpha, wg_mat a,
               wg_mat b) {
    const struct triangular p = {side, uplo, trans, diag, alpha, 1};
    return triangular(t, &wgi_op_trsm, p, a, b);
}

wg_mat wg_trsv(wg_tape *t, char uplo, char trans, char diag, wg_mat a, wg_mat b) {
    const struct triangular p = {'L', uplo, trans, diag, 1, 1};
    return triangular(t, &wgi_op_trsv, p, a, b);
}

wg_mat wg_trsm_batch(wg_tape *t, size_t count, char side, char uplo, char trans, char diag,
                     double alpha, wg_mat a, wg_mat b) {
    const struct triangular p = {side, uplo, trans, diag, alpha, count};
    return triangular(t, &wgi_op_trsm_batch, p, a, b);
}
