/* SPDX-License-Identifier: MIT */
/* Products with a symmetric or a triangular matrix, of which one triangle is looked at.
 *
 * The adjoint of a symmetric operand is symmetric, that of a triangular one lies in its
 * triangle.
 *
 * Letters: a, b, c operands as views, turned as the flags say; ab, bb, cb their adjoints; at,
 * bt, ct their tangents; w adjoint of the result. */
#include <wengert/elementwise.h>
#include "products.h"
#include "traits.h"

static const wgi_reals no_reals = {NULL, 0, 0, 0, 0};

/* ---- symmetric ---- */

/* alpha A B + beta C; `right`: everything transposed. In: A, B, and C unless beta is 0.
 * `vector`: B and C are taken as columns. */
struct symmetric {
    double alpha, beta;
    int upper, right, vector, bad;
};
static const struct symmetric *symmetric_of(const wg_block *b) {
    return (const struct symmetric *)b->params;
}
static wgi_view side_of(const wg_block *b, wgi_view a) {
    if (symmetric_of(b)->vector) a = wgi_view_column(a);
    return wgi_view_turn(a, symmetric_of(b)->right);
}

static wg_status symmetric_shape(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    const wg_block_arg *const a = &b->in[0];
    if (p->bad) return wgi_block_refuse(b, WG_EARG, wgi_products_bad_flag);
    if (a->rows != a->cols)
        return wgi_block_refuse(b, WG_ESHAPE, "the symmetric matrix is not square");
    for (size_t i = 1; p->vector && i < b->inputs; i++)
        if (!wgi_is_vector(&b->in[i]))
            return wgi_block_refuse(b, WG_ESHAPE, "a vector is one row or one column");
    wgi_view x = side_of(b, wgi_view_value(&b->in[1]));
    if (x.rows != a->rows) return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    if (b->inputs > 2) {
        const wgi_view c = side_of(b, wgi_view_value(&b->in[2]));
        if (c.rows != x.rows || c.cols != x.cols)
            return wgi_block_refuse(b, WG_ESHAPE,
                                    "what is added has another shape than the product");
    }
    x = wgi_view_turn(x, p->right);
    b->out[0].rows = x.rows;
    b->out[0].cols = x.cols;
    b->work_bytes = a->rows * a->rows * sizeof(double);
    return WG_OK;
}

/* y += alpha A x from one triangle of A. */
static void mul_symmetric(const wg_block *b, double alpha, wgi_view x, wgi_view y) {
    const wgi_view a = wgi_view_value(&b->in[0]);
    const size_t n = a.rows;
    const int upper = symmetric_of(b)->upper != (int)a.trans; /* as stored */
    if (n == 0 || x.cols == 0 || alpha == 0) return;
    if (x.cols == 1) {
        cblas_dsymv(CblasColMajor, upper ? CblasUpper : CblasLower, wgi_int(n), alpha, a.p,
                    wgi_int(a.ld), x.p, wgi_int(wgi_view_down(x)), 1, y.p,
                    wgi_int(wgi_view_down(y)));
        return;
    }
    const wgi_view full = wgi_products_square(b, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = upper ? 0 : j, end = upper ? j + 1 : n; i < end; i++)
            full.p[i + j * n] = full.p[j + i * n] = a.p[i + j * a.ld];
    wgi_view_mul(alpha, full, x, y);
}

static wg_status symmetric_value(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    if (b->inputs > 2)
        wgi_view_set(p->beta,
                     p->vector ? wgi_view_column(wgi_view_value(&b->in[2]))
                               : wgi_view_value(&b->in[2]),
                     wgi_products_result(b));
    else wgi_view_clear(wgi_products_result(b));
    mul_symmetric(b, p->alpha, side_of(b, wgi_view_value(&b->in[1])),
                  wgi_view_turn(wgi_products_result(b), p->right));
    return WG_OK;
}

static wg_status symmetric_vjp(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    const wgi_view w = wgi_view_turn(wgi_products_bar(b), p->right);
    if (b->in[0].bar != NULL) {
        const wgi_view r = wgi_products_square(b, b->in[0].rows);
        wgi_view_clear(r);
        wgi_view_mul(1, w, wgi_view_transposed(side_of(b, wgi_view_value(&b->in[1]))), r);
        wgi_view_add_symmetric(p->alpha / 2, r, wgi_view_bar(&b->in[0]));
    }
    if (b->in[1].bar != NULL)
        mul_symmetric(b, p->alpha, w, side_of(b, wgi_view_bar(&b->in[1])));
    if (b->inputs > 2 && b->in[2].bar != NULL)
        wgi_view_add(p->beta, w, side_of(b, wgi_view_bar(&b->in[2])));
    return WG_OK;
}

static wg_status symmetric_jvp(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    const wgi_view y = wgi_view_turn(wgi_products_bar(b), p->right);
    wgi_view_clear(wgi_products_bar(b));
    if (b->inputs > 2 && b->in[2].bar != NULL)
        wgi_view_add(p->beta, side_of(b, wgi_view_bar(&b->in[2])), y);
    if (b->in[0].bar != NULL) {
        const wgi_view at = wgi_products_square(b, b->in[0].rows);
        wgi_view_clear(at);
        wgi_view_add_symmetric(0.5, wgi_view_bar(&b->in[0]), at);
        wgi_view_mul(p->alpha, at, side_of(b, wgi_view_value(&b->in[1])), y);
    }
    if (b->in[1].bar != NULL)
        mul_symmetric(b, p->alpha, side_of(b, wgi_view_bar(&b->in[1])), y);
    return WG_OK;
}

static wg_status symmetric_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct symmetric *const p = symmetric_of(b);
    const size_t n = b->in[0].rows;
    const wg_real *const s = wgi_expand_symmetric(t, wgi_reals_operand(b, x, 0), p->upper);
    if (s == NULL) return wg_tape_status(t);
    wgi_reals a = wgi_reals_packed(s, n, n), v = wgi_reals_operand(b, x, 1), c = no_reals;
    if (b->inputs > 2) c = wgi_reals_operand(b, x, 2);
    if (p->vector) v = wgi_reals_column(v), c = wgi_reals_column(c);
    wgi_products_write(t, wg_constant(p->alpha), p->right ? v : a, p->right ? a : v,
                       wg_constant(p->beta), c, y);
    return WG_OK;
}

extern const wg_block_op wgi_op_symm;

/* A_ is alpha (W B' + B W')/2 on the left, alpha (B' W + W' B)/2 on the right; B_ alpha A W, or
 * W A; C_ beta W. By products of its own and not by the trait `bilinear`: a tangent of A is
 * symmetrised, while symmetric_vjp reads one triangle. */
static wg_status symmetric_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    struct symmetric p = *symmetric_of(b);
    const int turned = p.vector && in[1].cols != 1;
    const wg_mat x = turned ? wg_mat_transpose(in[1]) : in[1], w = bar[0], of[2] = {in[0], w};
    const double beta = p.beta;
    wg_mat back_x;
    (void)out;
    p.beta = 0;
    back_x = wgi_apply_one(t, &wgi_op_symm, &p, sizeof p, 2, of);
    back[1] = turned ? wg_mat_transpose(back_x) : back_x;
    if (b->inputs > 2) {
        const wg_mat back_c = wg_mat_scale(t, beta, w);
        back[2] = p.vector && in[2].cols != 1 ? wg_mat_transpose(back_c) : back_c;
    }
    if (in[0].at.slot == 0) return wg_tape_status(t);
    const wg_mat r = p.right ? wg_gemm(t, 'T', 'N', p.alpha / 2, x, w, 0, x)
                             : wg_gemm(t, 'N', 'T', p.alpha / 2, w, x, 0, x);
    back[0] = wg_mat_add(t, r, wg_mat_transpose(r));
    return wg_tape_status(t);
}

const wg_block_op wgi_op_symv = {"wg_symv",
                                 WG_OP_TRANS | WG_OP_EXPANDS,
                                 symmetric_shape,
                                 symmetric_value,
                                 symmetric_vjp,
                                 symmetric_jvp,
                                 symmetric_expand,
                                 symmetric_adjoint,
                                 NULL};
const wg_block_op wgi_op_symm = {"wg_symm",
                                 WG_OP_TRANS | WG_OP_EXPANDS,
                                 symmetric_shape,
                                 symmetric_value,
                                 symmetric_vjp,
                                 symmetric_jvp,
                                 symmetric_expand,
                                 symmetric_adjoint,
                                 NULL};

static wg_mat symmetric(wg_tape *t, const wg_block_op *op, const struct symmetric *p, wg_mat a,
                        wg_mat b, wg_mat c) {
    const wg_mat in[3] = {a, b, c};
    return wgi_apply_one(t, op, p, sizeof *p, p->beta == 0 ? 2 : 3, in);
}

wg_mat wg_symv(wg_tape *t, char uplo, double alpha, wg_mat a, wg_mat x, double beta, wg_mat y) {
    const int upper = wgi_products_letter(uplo, 'L', 'U');
    const struct symmetric p = {alpha, beta, upper, 0, 1, upper < 0};
    return symmetric(t, &wgi_op_symv, &p, a, x, y);
}

wg_mat wg_symm(wg_tape *t, char side, char uplo, double alpha, wg_mat a, wg_mat b, double beta,
               wg_mat c) {
    const int upper = wgi_products_letter(uplo, 'L', 'U'),
              right = wgi_products_letter(side, 'L', 'R');
    const struct symmetric p = {alpha, beta, upper, right > 0, 0, upper < 0 || right < 0};
    return symmetric(t, &wgi_op_symm, &p, a, b, c);
}

/* ---- triangular ---- */

/* alpha op(A) B, or B op(A). `vector`: B is taken as a column. */
struct triangular {
    double alpha;
    int right, upper, trans, unit, vector, bad;
};
static const struct triangular *triangular_of(const wg_block *b) {
    return (const struct triangular *)b->params;
}
static wgi_view right_hand(const wg_block *b, wgi_view x) {
    return triangular_of(b)->vector ? wgi_view_column(x) : x;
}

enum { TRIANGLE_BLOCK = 64 };

static wg_status triangular_shape(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const wg_block_arg *const a = &b->in[0];
    if (p->bad) return wgi_block_refuse(b, WG_EARG, wgi_products_bad_flag);
    if (a->rows != a->cols)
        return wgi_block_refuse(b, WG_ESHAPE, "the triangular matrix is not square");
    if (p->vector && !wgi_is_vector(&b->in[1]))
        return wgi_block_refuse(b, WG_ESHAPE, "a vector is one row or one column");
    const wgi_view x = right_hand(b, wgi_view_value(&b->in[1]));
    if ((p->right ? x.cols : x.rows) != a->rows)
        return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = x.rows;
    b->out[0].cols = x.cols;
    /* vjp: a copy of the adjoint, or a block of the triangle; jvp: a triangle, filled. */
    const size_t n = a->rows, block = TRIANGLE_BLOCK * TRIANGLE_BLOCK;
    size_t doubles = x.rows * x.cols;
    if (doubles < block) doubles = block;
    if (doubles < n * n) doubles = n * n;
    b->work_bytes = doubles * sizeof(double);
    return WG_OK;
}

/* y = alpha op(A) y, or y op(A), in place and contiguous; `other`: with the other
 * transposition. */
static void multiply_triangle(const wg_block *b, double alpha, int other, wgi_view y) {
    const struct triangular *const p = triangular_of(b);
    const wgi_view a = wgi_view_value(&b->in[0]);
    if (y.rows == 0 || y.cols == 0) return;
    cblas_dtrmm(CblasColMajor, p->right ? CblasRight : CblasLeft,
                p->upper != (int)a.trans ? CblasUpper : CblasLower,
                wgi_products_flag((p->trans != other) != (int)a.trans),
                p->unit ? CblasUnit : CblasNonUnit, wgi_int(y.rows), wgi_int(y.cols), alpha,
                a.p, wgi_int(a.ld), y.p, wgi_int(y.ld));
}

static wg_status triangular_value(wg_block *b) {
    wgi_view_set(1, right_hand(b, wgi_view_value(&b->in[1])), wgi_products_result(b));
    multiply_triangle(b, triangular_of(b)->alpha, 0, wgi_products_result(b));
    return WG_OK;
}

/* A's triangle of ab += alpha x y^T, a block of columns at a time: the square on the diagonal
 * by way of the workspace, the rest in place. */
static void add_triangle(const wg_block *b, double alpha, wgi_view x, wgi_view y, wgi_view ab) {
    const struct triangular *const p = triangular_of(b);
    const size_t n = ab.rows, k = x.cols;
    for (size_t j = 0; j < n; j += TRIANGLE_BLOCK) {
        const size_t wide = n - j < TRIANGLE_BLOCK ? n - j : TRIANGLE_BLOCK;
        const wgi_view right = wgi_view_transposed(wgi_view_block(y, j, 0, wide, k));
        const wgi_view square = wgi_view_packed((double *)b->work, wide, wide);
        wgi_view_clear(square);
        wgi_view_mul(alpha, wgi_view_block(x, j, 0, wide, k), right, square);
        const wgi_view to = wgi_view_block(ab, j, j, wide, wide);
        const size_t down = wgi_view_down(to), across = wgi_view_across(to),
                     edge = p->unit != 0;
        for (size_t c = 0; c < wide; c++) {
            const size_t low = p->upper ? 0 : c + edge, high = p->upper ? c + 1 - edge : wide;
            for (size_t r = low; r < high; r++)
                to.p[r * down + c * across] += square.p[r + c * wide];
        }
        const size_t from = p->upper ? 0 : j + wide, rows = p->upper ? j : n - j - wide;
        wgi_view_mul(alpha, wgi_view_block(x, from, 0, rows, k), right,
                     wgi_view_block(ab, from, j, rows, wide));
    }
}

static wg_status triangular_vjp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const wgi_view w = wgi_products_bar(b);
    if (b->in[0].bar != NULL) {
        /* op(A)_ = alpha x y^T */
        const wgi_view v = right_hand(b, wgi_view_value(&b->in[1]));
        const wgi_view x = p->right ? wgi_view_transposed(v) : w,
                       y = p->right ? wgi_view_transposed(w) : v;
        if (p->trans) add_triangle(b, p->alpha, y, x, wgi_view_bar(&b->in[0]));
        else add_triangle(b, p->alpha, x, y, wgi_view_bar(&b->in[0]));
    }
    if (b->in[1].bar != NULL) {
        const wgi_view r = wgi_view_packed((double *)b->work, w.rows, w.cols);
        wgi_view_set(1, w, r);
        multiply_triangle(b, p->alpha, 1, r);
        wgi_view_add(1, r, right_hand(b, wgi_view_bar(&b->in[1])));
    }
    return WG_OK;
}

static wg_status triangular_jvp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const wgi_view y = wgi_products_bar(b);
    if (b->in[1].bar != NULL) {
        wgi_view_set(1, right_hand(b, wgi_view_bar(&b->in[1])), y);
        multiply_triangle(b, p->alpha, 0, y);
    } else wgi_view_clear(y);
    if (b->in[0].bar != NULL) {
        const wgi_view at = wgi_view_bar(&b->in[0]), full = wgi_products_square(b, at.rows);
        const size_t n = at.rows, down = wgi_view_down(at), across = wgi_view_across(at);
        const size_t edge = p->unit != 0;
        wgi_view_clear(full);
        for (size_t j = 0; j < n; j++) {
            const size_t low = p->upper ? 0 : j + edge, high = p->upper ? j + 1 - edge : n;
            for (size_t i = low; i < high; i++) full.p[i + j * n] = at.p[i * down + j * across];
        }
        const wgi_view x = right_hand(b, wgi_view_value(&b->in[1])),
                       op = wgi_view_turn(full, p->trans);
        if (p->right) wgi_view_mul(p->alpha, x, op, y);
        else wgi_view_mul(p->alpha, op, x, y);
    }
    return WG_OK;
}

/* From the right: everything transposed. */
static wg_status triangular_expand(wg_tape *t, const wg_block *b, const wg_real *x,
                                   wg_real *y) {
    const struct triangular *const p = triangular_of(b);
    const int turn = p->trans != p->right, upper = p->upper != turn;
    const wgi_reals a = wgi_reals_turn(wgi_reals_operand(b, x, 0), turn);
    wgi_reals v = wgi_reals_operand(b, x, 1);
    if (p->vector) v = wgi_reals_column(v);
    v = wgi_reals_turn(v, p->right);
    const size_t n = a.rows, edge = p->unit != 0;
    const size_t down = p->right ? v.cols : 1, across = p->right ? 1 : n;
    for (size_t j = 0; j < v.cols; j++)
        for (size_t i = 0; i < n; i++) {
            const size_t from = upper ? i + edge : 0, to = upper ? n : i + 1 - edge;
            const wg_real *const row = a.p + i * a.down + from * a.across;
            const wg_real *const column = v.p + from * v.down + j * v.across;
            wg_real r = wgi_expand_dot(t, to - from, row, a.across, column, v.down);
            if (p->unit) r = wgi_expand_plus(t, r, wgi_reals_at(v, i, j));
            /* with a factor 0 no operand is looked at, as in the BLAS */
            y[i * down + j * across] =
                p->alpha != 0 ? wgi_expand_scaled(t, p->alpha, r) : wg_constant(0);
        }
    return WG_OK;
}

extern const wg_block_op wgi_op_trmm;

/* op(A)_ is alpha W B' on the left, alpha B' W on the right; of A its triangle. */
static wg_status triangular_adjoint(wg_tape *t, wg_block *b, const wg_mat *in,
                                    const wg_mat *out, const wg_mat *bar, wg_mat *back) {
    struct triangular p = *triangular_of(b);
    const int turned = p.vector && in[1].cols != 1;
    const size_t n = in[0].rows;
    const wg_mat x = turned ? wg_mat_transpose(in[1]) : in[1], w = bar[0], of[2] = {in[0], w};
    wg_mat back_x;
    (void)out;
    if (x.rows == 0 || x.cols == 0) return WG_OK;
    p.trans = !p.trans;
    back_x = wgi_apply_one(t, &wgi_op_trmm, &p, sizeof p, 2, of);
    back[1] = turned ? wg_mat_transpose(back_x) : back_x;
    double *const mask = wg_tape_keep(t, n * n * sizeof(double), NULL);
    if (in[0].at.slot == 0 || mask == NULL) return wg_tape_status(t);
    for (size_t e = 0; e < n * n; e++) {
        const size_t i = e % n, j = e / n, edge = p.unit != 0;
        mask[e] = p.upper ? j >= i + edge : i >= j + edge;
    }
    const wg_mat left = p.right ? wg_mat_transpose(x) : w;
    const wg_mat right = p.right ? w : wg_mat_transpose(x);
    const wg_mat a = wg_gemm(t, 'N', 'N', p.alpha, left, right, 0, left);
    back[0] = wg_mat_mul(t, wg_mat_constant_borrowed(t, n, n, mask, n),
                         p.trans ? a : wg_mat_transpose(a));
    return wg_tape_status(t);
}

const wg_block_op wgi_op_trmv = {"wg_trmv",
                                 WG_OP_TRANS | WG_OP_EXPANDS,
                                 triangular_shape,
                                 triangular_value,
                                 triangular_vjp,
                                 triangular_jvp,
                                 triangular_expand,
                                 triangular_adjoint,
                                 NULL};
const wg_block_op wgi_op_trmm = {"wg_trmm",
                                 WG_OP_TRANS | WG_OP_EXPANDS,
                                 triangular_shape,
                                 triangular_value,
                                 triangular_vjp,
                                 triangular_jvp,
                                 triangular_expand,
                                 triangular_adjoint,
                                 NULL};

static wg_mat triangular(wg_tape *t, const wg_block_op *op, char side, char uplo, char trans,
                         char diag, int vector, double alpha, wg_mat a, wg_mat b) {
    const int right = wgi_products_letter(side, 'L', 'R'),
              upper = wgi_products_letter(uplo, 'L', 'U');
    const int turn = wgi_products_turned(trans), unit = wgi_products_letter(diag, 'N', 'U');
    const struct triangular p = {alpha,
                                 right,
                                 upper,
                                 turn,
                                 unit,
                                 vector,
                                 right < 0 || upper < 0 || turn < 0 || unit < 0};
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, op, &p, sizeof p, 2, in);
}

wg_mat wg_trmv(wg_tape *t, char uplo, char trans, char diag, wg_mat a, wg_mat x) {
    return triangular(t, &wgi_op_trmv, 'L', uplo, trans, diag, 1, 1, a, x);
}
wg_mat wg_trmm(wg_tape *t, char side, char uplo, char trans, char diag, double alpha, wg_mat a,
               wg_mat b) {
    return triangular(t, &wgi_op_trmm, side, uplo, trans, diag, 0, alpha, a, b);
}
