/* SPDX-License-Identifier: MIT */
/* Products of vectors and matrices.
 *
 * Everything rests on c += alpha a b for views that may be transposed: adjoints and tangents of
 * a product are such products again, added where they belong (Giles 2008, 2.2). Small ones are
 * loops, the others BLAS.
 *
 * Letters: a, b, c operands as views, turned as the flags say; ab, bb, cb their adjoints; at,
 * bt, ct their tangents; w adjoint of the result. */
#include <wengert/products.h>
#include "blas.h"
#include "expand.h"
#include "view.h"

static wg_status refuse(wg_block *b, wg_status s, const char *why) {
    b->why = why;
    return s;
}

static wgi_view result(const wg_block *b) { return wgi_view_value(&b->out[0]); }
static wgi_view result_bar(const wg_block *b) { return wgi_view_bar(&b->out[0]); }

/* ---- pieces ---- */

/* y += alpha x */
static void add(double alpha, wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t yd = wgi_view_down(y), ya = wgi_view_across(y);
    for (size_t j = 0; j < y.cols; j++, x.p += xa, y.p += ya)
        if (xd == 1 && yd == 1)
            for (size_t i = 0; i < y.rows; i++) y.p[i] += alpha * x.p[i];
        else
            for (size_t i = 0; i < y.rows; i++) y.p[i * yd] += alpha * x.p[i * xd];
}

/* y = alpha x; alpha = 0: whatever x is. */
static void set(double alpha, wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    for (size_t j = 0; j < y.cols; j++, y.p += y.ld) {
        if (alpha == 0)
            for (size_t i = 0; i < y.rows; i++) y.p[i] = 0;
        else if (xd == 1)
            for (size_t i = 0; i < y.rows; i++) y.p[i] = alpha * x.p[i];
        else
            for (size_t i = 0; i < y.rows; i++) y.p[i] = alpha * x.p[i * xd];
        if (alpha != 0) x.p += xa;
    }
}

static void clear(wgi_view y) { set(0, y, y); }

/* sum x y */
static double inner(wgi_view x, wgi_view y) {
    const size_t xd = wgi_view_down(x), xa = wgi_view_across(x);
    const size_t yd = wgi_view_down(y), ya = wgi_view_across(y);
    double sum = 0;
    for (size_t j = 0; j < x.cols; j++, x.p += xa, y.p += ya) {
        if (x.rows > 32) sum += cblas_ddot(wgi_int(x.rows), x.p, wgi_int(xd), y.p, wgi_int(yd));
        else
            for (size_t i = 0; i < x.rows; i++) sum += x.p[i * xd] * y.p[i * yd];
    }
    return sum;
}

static CBLAS_TRANSPOSE flag(unsigned trans) { return trans ? CblasTrans : CblasNoTrans; }

/* c += alpha a b by loops, c not transposed. */
static void mul_loops(double alpha, wgi_view a, wgi_view b, wgi_view c) {
    const size_t m = c.rows, k = a.cols, bd = wgi_view_down(b), ba = wgi_view_across(b);
    for (size_t j = 0; j < c.cols; j++, b.p += ba, c.p += c.ld) {
        if (a.trans)
            for (size_t i = 0; i < m; i++) {
                const double *const row = a.p + i * a.ld;
                double sum = 0;
                for (size_t l = 0; l < k; l++) sum += row[l] * b.p[l * bd];
                c.p[i] += alpha * sum;
            }
        else
            for (size_t l = 0; l < k; l++) {
                const double *const col = a.p + l * a.ld, s = alpha * b.p[l * bd];
                for (size_t i = 0; i < m; i++) c.p[i] += s * col[i];
            }
    }
}

/* As it is stored. */
static size_t stored_rows(wgi_view a) { return a.trans ? a.cols : a.rows; }
static size_t stored_cols(wgi_view a) { return a.trans ? a.rows : a.cols; }

/* y += alpha a x for columns x, y. */
static void mul_column(double alpha, wgi_view a, wgi_view x, wgi_view y) {
    cblas_dgemv(CblasColMajor, flag(a.trans), wgi_int(stored_rows(a)), wgi_int(stored_cols(a)),
                alpha, a.p, wgi_int(a.ld), x.p, wgi_int(wgi_view_down(x)), 1, y.p,
                wgi_int(wgi_view_down(y)));
}

/* Below so many multiplications a call of BLAS costs more than it saves. */
enum { FEW_GEMM = 64, FEW_GEMV = 128 };

/* c += alpha a b */
static void mul(double alpha, wgi_view a, wgi_view b, wgi_view c) {
    if (c.trans) {
        const wgi_view other = wgi_view_turn(a, 1);
        a = wgi_view_turn(b, 1);
        b = other;
        c = wgi_view_turn(c, 1);
    }
    const size_t m = c.rows, n = c.cols, k = a.cols;
    if (m == 0 || n == 0 || k == 0 || alpha == 0) return;
    const int thin = m == 1 || n == 1 || k == 1;
    if (m * n <= FEW_GEMV && m * n * k <= (thin ? FEW_GEMV : FEW_GEMM))
        mul_loops(alpha, a, b, c);
    else if (n == 1) mul_column(alpha, a, b, c);
    else if (m == 1)
        mul_column(alpha, wgi_view_turn(b, 1), wgi_view_turn(a, 1), wgi_view_turn(c, 1));
    else if (k == 1)
        cblas_dger(CblasColMajor, wgi_int(m), wgi_int(n), alpha, a.p, wgi_int(wgi_view_down(a)),
                   b.p, wgi_int(wgi_view_across(b)), c.p, wgi_int(c.ld));
    else
        cblas_dgemm(CblasColMajor, flag(a.trans), flag(b.trans), wgi_int(m), wgi_int(n),
                    wgi_int(k), alpha, a.p, wgi_int(a.ld), b.p, wgi_int(b.ld), 1, c.p,
                    wgi_int(c.ld));
}

static wgi_view transposed(wgi_view a) { return wgi_view_turn(a, 1); }

/* y += alpha (x + x^T), square. */
static void add_symmetric(double alpha, wgi_view x, wgi_view y) {
    add(alpha, x, y);
    add(alpha, transposed(x), y);
}

/* y = alpha a b + beta c, as variables; c.p NULL: there is none. As in BLAS nothing is looked
 * at whose factor is 0. */
static void write_product(wg_tape *t, wg_real alpha, wgi_reals a, wgi_reals b, wg_real beta,
                          wgi_reals c, wg_real *y) {
    const int product = !wgi_expand_is_nothing(alpha);
    const int sum = c.p != NULL && !wgi_expand_is_nothing(beta);
    if (product) wgi_expand_mul(t, a, b, y);
    for (size_t j = 0; j < b.cols; j++)
        for (size_t i = 0; i < a.rows; i++, y++) {
            *y = product ? wg_let(t, wg_mul(alpha, *y)) : wg_constant(0);
            if (sum)
                *y = wgi_expand_plus(t, *y, wg_let(t, wg_mul(beta, wgi_reals_at(c, i, j))));
        }
}
static const wgi_reals no_reals = {NULL, 0, 0, 0, 0};

/* ---- flags ---- */

/* A letter among two: 0, 1; anything else: -1. */
static int letter(char given, char zero, char one) {
    const int small = 'a' - 'A';
    if (given == zero || given == zero + small) return 0;
    return given == one || given == one + small ? 1 : -1;
}
static int turned(char trans) {
    return letter(trans, 'N', 'T') >= 0 ? letter(trans, 'N', 'T') : letter(trans, 'N', 'C');
}

static const char bad_flag[] = "an unknown letter among the flags";

/* ---- gemm, gemv, ger and their kin ---- */

/* alpha a b + beta c. Operands are a, b, c (c missing when beta is 0), then, where `real`,
 * alpha and beta. Bits of `vector` and `turn` belong to operands 0, 1, 2: taken as a column;
 * transposed after that. */
struct product {
    double alpha, beta;
    int vector, turn, real, bad;
};

static wgi_view as_factor(const struct product *p, unsigned i, wgi_view a) {
    if (p->vector >> i & 1) a = wgi_view_column(a);
    return wgi_view_turn(a, p->turn >> i & 1);
}
static const struct product *product_of(const wg_block *b) {
    return (const struct product *)b->params;
}
static wgi_view factor(const wg_block *b, unsigned i) {
    return as_factor(product_of(b), i, wgi_view_value(&b->in[i]));
}
static wgi_view factor_bar(const wg_block *b, unsigned i) {
    return as_factor(product_of(b), i, wgi_view_bar(&b->in[i]));
}

static wg_status product_shape(wg_block *b) {
    const struct product *const p = product_of(b);
    wgi_view f[3] = {{NULL, 0, 0, 0, 0}};
    if (p->bad) return refuse(b, WG_EARG, bad_flag);
    for (unsigned i = 0; i < b->inputs && i < 3; i++) {
        if ((p->vector >> i & 1) && !wgi_is_vector(&b->in[i]))
            return refuse(b, WG_ESHAPE, "a vector is one row or one column");
        f[i] = factor(b, i);
    }
    if (f[0].cols != f[1].rows) return refuse(b, WG_ESHAPE, "inner dimensions differ");
    if (b->inputs > 2 && (f[2].rows != f[0].rows || f[2].cols != f[1].cols))
        return refuse(b, WG_ESHAPE, "what is added has another shape than the product");
    b->out[0].rows = f[0].rows;
    b->out[0].cols = f[1].cols;
    if (p->real) b->work_bytes = f[0].rows * f[0].cols * sizeof(double);
    return WG_OK;
}

static double product_alpha(const wg_block *b) {
    return product_of(b)->real ? b->in[3].value[0] : product_of(b)->alpha;
}
static double product_beta(const wg_block *b) {
    return product_of(b)->real ? b->in[4].value[0] : product_of(b)->beta;
}

static wg_status product_value(wg_block *b) {
    if (b->inputs > 2) set(product_beta(b), factor(b, 2), result(b));
    else clear(result(b));
    mul(product_alpha(b), factor(b, 0), factor(b, 1), result(b));
    return WG_OK;
}

static wg_status product_vjp(wg_block *b) {
    const wgi_view w = result_bar(b);
    const double alpha = product_alpha(b);
    if (b->in[0].bar != NULL) mul(alpha, w, transposed(factor(b, 1)), factor_bar(b, 0));
    if (b->in[1].bar != NULL) mul(alpha, transposed(factor(b, 0)), w, factor_bar(b, 1));
    if (b->inputs > 2 && b->in[2].bar != NULL) add(product_beta(b), w, factor_bar(b, 2));
    return WG_OK;
}

static wg_status product_jvp(wg_block *b) {
    const wgi_view y = result_bar(b);
    const double alpha = product_alpha(b);
    if (b->inputs > 2 && b->in[2].bar != NULL) set(product_beta(b), factor_bar(b, 2), y);
    else clear(y);
    if (b->in[0].bar != NULL) mul(alpha, factor_bar(b, 0), factor(b, 1), y);
    if (b->in[1].bar != NULL) mul(alpha, factor(b, 0), factor_bar(b, 1), y);
    return WG_OK;
}

static wgi_reals factor_reals(const wg_block *b, const wg_real *x, unsigned i) {
    wgi_reals a = wgi_reals_operand(b, x, i);
    if (product_of(b)->vector >> i & 1) a = wgi_reals_column(a);
    return wgi_reals_turn(a, product_of(b)->turn >> i & 1);
}

static wg_status product_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct product *const p = product_of(b);
    wg_real alpha = wg_constant(p->alpha), beta = wg_constant(p->beta);
    if (p->real) alpha = *wgi_reals_operand(b, x, 3).p, beta = *wgi_reals_operand(b, x, 4).p;
    write_product(t, alpha, factor_reals(b, x, 0), factor_reals(b, x, 1), beta,
                  b->inputs > 2 ? factor_reals(b, x, 2) : no_reals, y);
    return WG_OK;
}

#define PRODUCT(name)                                                                          \
    const wg_block_op wgi_op_##name = {"wg_" #name, WG_OP_TRANS, product_shape, product_value, \
                                       product_vjp, product_jvp, product_expand}
PRODUCT(gemm);
PRODUCT(gemv);
PRODUCT(matmul);
PRODUCT(ger);
PRODUCT(outer);

static wg_mat product(wg_tape *t, const wg_block_op *op, const struct product *p, wg_mat a,
                      wg_mat b, wg_mat c) {
    const wg_mat in[3] = {a, b, c};
    wg_mat y;
    (void)wg_apply(t, op, p, sizeof *p, p->beta == 0 ? 2 : 3, in, 1, &y);
    return y;
}

wg_mat wg_gemm(wg_tape *t, char ta, char tb, double alpha, wg_mat a, wg_mat b, double beta,
               wg_mat c) {
    const int fa = turned(ta), fb = turned(tb);
    const struct product p = {alpha, beta, 0, (fa > 0) | (fb > 0) << 1, 0, fa < 0 || fb < 0};
    return product(t, &wgi_op_gemm, &p, a, b, c);
}

wg_mat wg_matmul(wg_tape *t, wg_mat a, wg_mat b) {
    const struct product p = {1, 0, 0, 0, 0, 0};
    return product(t, &wgi_op_matmul, &p, a, b, a);
}

wg_mat wg_gemv(wg_tape *t, char trans, double alpha, wg_mat a, wg_mat x, double beta,
               wg_mat y) {
    const int fa = turned(trans);
    const struct product p = {alpha, beta, 6, fa > 0, 0, fa < 0};
    return product(t, &wgi_op_gemv, &p, a, x, y);
}

wg_mat wg_ger(wg_tape *t, double alpha, wg_mat x, wg_mat y, wg_mat a) {
    const struct product p = {alpha, 1, 3, 2, 0, 0};
    return product(t, &wgi_op_ger, &p, x, y, a);
}

wg_mat wg_outer(wg_tape *t, wg_mat x, wg_mat y) {
    const struct product p = {1, 0, 3, 2, 0, 0};
    return product(t, &wgi_op_outer, &p, x, y, x);
}

/* r = w b^T serves both a_ += alpha r and alpha_ += <r, a>. */
static wg_status gemm_real_vjp(wg_block *b) {
    const wgi_view w = result_bar(b), a = factor(b, 0);
    const double alpha = product_alpha(b);
    if (b->in[0].bar != NULL || b->in[3].bar != NULL) {
        const wgi_view r = wgi_view_packed((double *)b->work, a.rows, a.cols);
        clear(r);
        mul(1, w, transposed(factor(b, 1)), r);
        if (b->in[0].bar != NULL) add(alpha, r, factor_bar(b, 0));
        if (b->in[3].bar != NULL) b->in[3].bar[0] += inner(r, a);
    }
    if (b->in[1].bar != NULL) mul(alpha, transposed(a), w, factor_bar(b, 1));
    if (b->in[2].bar != NULL) add(product_beta(b), w, factor_bar(b, 2));
    if (b->in[4].bar != NULL) b->in[4].bar[0] += inner(w, factor(b, 2));
    return WG_OK;
}

static wg_status gemm_real_jvp(wg_block *b) {
    const wgi_view y = result_bar(b);
    (void)product_jvp(b);
    if (b->in[3].bar != NULL) mul(b->in[3].bar[0], factor(b, 0), factor(b, 1), y);
    if (b->in[4].bar != NULL) add(b->in[4].bar[0], factor(b, 2), y);
    return WG_OK;
}

const wg_block_op wgi_op_gemm_real = {"wg_gemm_real", WG_OP_TRANS,   product_shape,
                                      product_value,  gemm_real_vjp, gemm_real_jvp,
                                      product_expand};

wg_mat wg_gemm_real(wg_tape *t, char ta, char tb, wg_real alpha, wg_mat a, wg_mat b,
                    wg_real beta, wg_mat c) {
    const int fa = turned(ta), fb = turned(tb);
    const struct product p = {0, 0, 0, (fa > 0) | (fb > 0) << 1, 1, fa < 0 || fb < 0};
    const wg_mat in[5] = {a, b, c, wg_mat_gather(t, 1, 1, &alpha),
                          wg_mat_gather(t, 1, 1, &beta)};
    wg_mat y;
    (void)wg_apply(t, &wgi_op_gemm_real, &p, sizeof p, 5, in, 1, &y);
    return y;
}

/* ---- batches ---- */

struct batch {
    size_t count;
    double alpha;
    int turn, bad;
};

static const struct batch *batch_of(const wg_block *b) {
    return (const struct batch *)b->params;
}

/* op(member number k) of an operand's values or bars. */
static wgi_view member(const wg_block *b, unsigned i, wgi_view all, size_t k) {
    const size_t cols = all.cols / batch_of(b)->count;
    return wgi_view_turn(wgi_view_block(all, 0, k * cols, all.rows, cols),
                         batch_of(b)->turn >> i & 1);
}
static wgi_view member_value(const wg_block *b, unsigned i, size_t k) {
    return member(b, i, wgi_view_value(&b->in[i]), k);
}
static wgi_view member_bar(const wg_block *b, unsigned i, size_t k) {
    return member(b, i, wgi_view_bar(&b->in[i]), k);
}
static wgi_view member_of(const wg_block *b, wgi_view all, size_t k) {
    const size_t cols = all.cols / batch_of(b)->count;
    return wgi_view_block(all, 0, k * cols, all.rows, cols);
}

static wg_status batch_shape(wg_block *b) {
    const struct batch *const p = batch_of(b);
    if (p->bad) return refuse(b, WG_EARG, bad_flag);
    if (p->count == 0) return refuse(b, WG_EARG, "a batch of no matrices");
    if (b->in[0].cols % p->count != 0 || b->in[1].cols % p->count != 0)
        return refuse(b, WG_ESHAPE, "columns are no multiple of the count");
    wgi_view x = wgi_view_value(&b->in[0]), y = wgi_view_value(&b->in[1]);
    x.cols /= p->count, y.cols /= p->count;
    x = wgi_view_turn(x, p->turn & 1), y = wgi_view_turn(y, p->turn >> 1 & 1);
    if (x.cols != y.rows) return refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = x.rows;
    if (__builtin_mul_overflow(y.cols, p->count, &b->out[0].cols))
        return refuse(b, WG_ESHAPE, NULL);
    return WG_OK;
}

static wg_status batch_value(wg_block *b) {
    const struct batch *const p = batch_of(b);
    clear(result(b));
    for (size_t k = 0; k < p->count; k++)
        mul(p->alpha, member_value(b, 0, k), member_value(b, 1, k), member_of(b, result(b), k));
    return WG_OK;
}

static wg_status batch_vjp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    for (size_t k = 0; k < p->count; k++) {
        const wgi_view w = member_of(b, result_bar(b), k);
        if (b->in[0].bar != NULL)
            mul(p->alpha, w, transposed(member_value(b, 1, k)), member_bar(b, 0, k));
        if (b->in[1].bar != NULL)
            mul(p->alpha, transposed(member_value(b, 0, k)), w, member_bar(b, 1, k));
    }
    return WG_OK;
}

static wg_status batch_jvp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    clear(result_bar(b));
    for (size_t k = 0; k < p->count; k++) {
        const wgi_view y = member_of(b, result_bar(b), k);
        if (b->in[0].bar != NULL) mul(p->alpha, member_bar(b, 0, k), member_value(b, 1, k), y);
        if (b->in[1].bar != NULL) mul(p->alpha, member_value(b, 0, k), member_bar(b, 1, k), y);
    }
    return WG_OK;
}

static wg_status batch_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct batch *const p = batch_of(b);
    for (size_t k = 0; k < p->count; k++) {
        wgi_reals m[2];
        for (unsigned i = 0; i < 2; i++) {
            const wgi_reals all = wgi_reals_operand(b, x, i);
            const size_t cols = all.cols / p->count;
            m[i] = wgi_reals_turn(wgi_reals_cols(all, k * cols, cols), p->turn >> i & 1);
        }
        write_product(t, wg_constant(p->alpha), m[0], m[1], wg_constant(0), no_reals, y);
        y += m[0].rows * m[1].cols;
    }
    return WG_OK;
}

const wg_block_op wgi_op_gemm_batch = {"wg_gemm_batch", WG_OP_TRANS, batch_shape, batch_value,
                                       batch_vjp,       batch_jvp,   batch_expand};

wg_mat wg_gemm_batch(wg_tape *t, size_t count, char ta, char tb, double alpha, wg_mat a,
                     wg_mat b) {
    const int fa = turned(ta), fb = turned(tb);
    const struct batch p = {count, alpha, (fa > 0) | (fb > 0) << 1, fa < 0 || fb < 0};
    const wg_mat in[2] = {a, b};
    wg_mat y;
    (void)wg_apply(t, &wgi_op_gemm_batch, &p, sizeof p, 2, in, 1, &y);
    return y;
}

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
    if (p->bad) return refuse(b, WG_EARG, bad_flag);
    if (a->rows != a->cols) return refuse(b, WG_ESHAPE, "the symmetric matrix is not square");
    for (size_t i = 1; p->vector && i < b->inputs; i++)
        if (!wgi_is_vector(&b->in[i]))
            return refuse(b, WG_ESHAPE, "a vector is one row or one column");
    wgi_view x = side_of(b, wgi_view_value(&b->in[1]));
    if (x.rows != a->rows) return refuse(b, WG_ESHAPE, "inner dimensions differ");
    if (b->inputs > 2) {
        const wgi_view c = side_of(b, wgi_view_value(&b->in[2]));
        if (c.rows != x.rows || c.cols != x.cols)
            return refuse(b, WG_ESHAPE, "what is added has another shape than the product");
    }
    x = wgi_view_turn(x, p->right);
    b->out[0].rows = x.rows;
    b->out[0].cols = x.cols;
    b->work_bytes = a->rows * a->rows * sizeof(double);
    return WG_OK;
}

static wgi_view square_work(const wg_block *b, size_t n) {
    return wgi_view_packed((double *)b->work, n, n);
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
    const wgi_view full = square_work(b, n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = upper ? 0 : j, end = upper ? j + 1 : n; i < end; i++)
            full.p[i + j * n] = full.p[j + i * n] = a.p[i + j * a.ld];
    mul(alpha, full, x, y);
}

static wg_status symmetric_value(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    if (b->inputs > 2)
        set(p->beta,
            p->vector ? wgi_view_column(wgi_view_value(&b->in[2])) : wgi_view_value(&b->in[2]),
            result(b));
    else clear(result(b));
    mul_symmetric(b, p->alpha, side_of(b, wgi_view_value(&b->in[1])),
                  wgi_view_turn(result(b), p->right));
    return WG_OK;
}

static wg_status symmetric_vjp(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    const wgi_view w = wgi_view_turn(result_bar(b), p->right);
    if (b->in[0].bar != NULL) {
        const wgi_view r = square_work(b, b->in[0].rows);
        clear(r);
        mul(1, w, transposed(side_of(b, wgi_view_value(&b->in[1]))), r);
        add_symmetric(p->alpha / 2, r, wgi_view_bar(&b->in[0]));
    }
    if (b->in[1].bar != NULL)
        mul_symmetric(b, p->alpha, w, side_of(b, wgi_view_bar(&b->in[1])));
    if (b->inputs > 2 && b->in[2].bar != NULL)
        add(p->beta, w, side_of(b, wgi_view_bar(&b->in[2])));
    return WG_OK;
}

static wg_status symmetric_jvp(wg_block *b) {
    const struct symmetric *const p = symmetric_of(b);
    const wgi_view y = wgi_view_turn(result_bar(b), p->right);
    clear(result_bar(b));
    if (b->inputs > 2 && b->in[2].bar != NULL)
        add(p->beta, side_of(b, wgi_view_bar(&b->in[2])), y);
    if (b->in[0].bar != NULL) {
        const wgi_view at = square_work(b, b->in[0].rows);
        clear(at);
        add_symmetric(0.5, wgi_view_bar(&b->in[0]), at);
        mul(p->alpha, at, side_of(b, wgi_view_value(&b->in[1])), y);
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
    write_product(t, wg_constant(p->alpha), p->right ? v : a, p->right ? a : v,
                  wg_constant(p->beta), c, y);
    return WG_OK;
}

const wg_block_op wgi_op_symv = {"wg_symv",     WG_OP_TRANS,   symmetric_shape, symmetric_value,
                                 symmetric_vjp, symmetric_jvp, symmetric_expand};
const wg_block_op wgi_op_symm = {"wg_symm",     WG_OP_TRANS,   symmetric_shape, symmetric_value,
                                 symmetric_vjp, symmetric_jvp, symmetric_expand};

static wg_mat symmetric(wg_tape *t, const wg_block_op *op, const struct symmetric *p, wg_mat a,
                        wg_mat b, wg_mat c) {
    const wg_mat in[3] = {a, b, c};
    wg_mat y;
    (void)wg_apply(t, op, p, sizeof *p, p->beta == 0 ? 2 : 3, in, 1, &y);
    return y;
}

wg_mat wg_symv(wg_tape *t, char uplo, double alpha, wg_mat a, wg_mat x, double beta, wg_mat y) {
    const int upper = letter(uplo, 'L', 'U');
    const struct symmetric p = {alpha, beta, upper, 0, 1, upper < 0};
    return symmetric(t, &wgi_op_symv, &p, a, x, y);
}

wg_mat wg_symm(wg_tape *t, char side, char uplo, double alpha, wg_mat a, wg_mat b, double beta,
               wg_mat c) {
    const int upper = letter(uplo, 'L', 'U'), right = letter(side, 'L', 'R');
    const struct symmetric p = {alpha, beta, upper, right > 0, 0, upper < 0 || right < 0};
    return symmetric(t, &wgi_op_symm, &p, a, b, c);
}

/* alpha a a^T + beta (c + c^T)/2, a = op(A): params as of a product, turn bit 0. */
static wg_status syrk_shape(wg_block *b) {
    const struct product *const p = product_of(b);
    if (p->bad) return refuse(b, WG_EARG, bad_flag);
    const size_t n = factor(b, 0).rows;
    if (b->inputs > 1 && (b->in[1].rows != n || b->in[1].cols != n))
        return refuse(b, WG_ESHAPE, "what is added has another shape than the product");
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = n * n * sizeof(double);
    return WG_OK;
}

static wg_status syrk_value(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view a = factor(b, 0), y = result(b);
    const size_t n = a.rows;
    clear(y);
    if (n * n * a.cols <= FEW_GEMM) mul(p->alpha, a, transposed(a), y);
    else {
        cblas_dsyrk(CblasColMajor, CblasLower, flag(a.trans), wgi_int(n), wgi_int(a.cols),
                    p->alpha, a.p, wgi_int(a.ld), 0, y.p, wgi_int(n));
        for (size_t j = 1; j < n; j++)
            for (size_t i = 0; i < j; i++) y.p[i + j * n] = y.p[j + i * n];
    }
    if (b->inputs > 1) add_symmetric(p->beta / 2, wgi_view_value(&b->in[1]), y);
    return WG_OK;
}

static wg_status syrk_vjp(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view s = square_work(b, b->out[0].rows);
    clear(s);
    add_symmetric(1, result_bar(b), s);
    if (b->in[0].bar != NULL) mul(p->alpha, s, factor(b, 0), factor_bar(b, 0));
    if (b->inputs > 1 && b->in[1].bar != NULL) add(p->beta / 2, s, wgi_view_bar(&b->in[1]));
    return WG_OK;
}

static wg_status syrk_jvp(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view y = result_bar(b);
    clear(y);
    if (b->in[0].bar != NULL) {
        const wgi_view s = square_work(b, y.rows);
        clear(s);
        mul(p->alpha, factor_bar(b, 0), transposed(factor(b, 0)), s);
        add_symmetric(1, s, y);
    }
    if (b->inputs > 1 && b->in[1].bar != NULL)
        add_symmetric(p->beta / 2, wgi_view_bar(&b->in[1]), y);
    return WG_OK;
}

static wg_status syrk_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct product *const p = product_of(b);
    const wgi_reals a = factor_reals(b, x, 0);
    const size_t n = a.rows;
    const size_t added = b->inputs > 1 ? n * n : 0;
    wg_real *const c = wgi_expand_room(t, added);
    if (c == NULL) return wg_tape_status(t);
    const wg_real *const whole = b->inputs > 1 ? wgi_reals_operand(b, x, 1).p : NULL;
    for (size_t e = 0; e < added; e++)
        c[e] = wg_let(t, wg_mul(0.5, wg_add(whole[e], whole[e / n + e % n * n])));
    write_product(t, wg_constant(p->alpha), a, wgi_reals_turn(a, 1), wg_constant(p->beta),
                  added != 0 ? wgi_reals_packed(c, n, n) : no_reals, y);
    return WG_OK;
}

const wg_block_op wgi_op_syrk = {"wg_syrk", WG_OP_TRANS, syrk_shape, syrk_value,
                                 syrk_vjp,  syrk_jvp,    syrk_expand};

wg_mat wg_syrk(wg_tape *t, char trans, double alpha, wg_mat a, double beta, wg_mat c) {
    const int fa = turned(trans);
    const struct product p = {alpha, beta, 0, fa > 0, 0, fa < 0};
    const wg_mat in[2] = {a, c};
    wg_mat y;
    (void)wg_apply(t, &wgi_op_syrk, &p, sizeof p, beta == 0 ? 1 : 2, in, 1, &y);
    return y;
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
    if (p->bad) return refuse(b, WG_EARG, bad_flag);
    if (a->rows != a->cols) return refuse(b, WG_ESHAPE, "the triangular matrix is not square");
    if (p->vector && !wgi_is_vector(&b->in[1]))
        return refuse(b, WG_ESHAPE, "a vector is one row or one column");
    const wgi_view x = right_hand(b, wgi_view_value(&b->in[1]));
    if ((p->right ? x.cols : x.rows) != a->rows)
        return refuse(b, WG_ESHAPE, "inner dimensions differ");
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
                flag((p->trans != other) != (int)a.trans), p->unit ? CblasUnit : CblasNonUnit,
                wgi_int(y.rows), wgi_int(y.cols), alpha, a.p, wgi_int(a.ld), y.p,
                wgi_int(y.ld));
}

static wg_status triangular_value(wg_block *b) {
    set(1, right_hand(b, wgi_view_value(&b->in[1])), result(b));
    multiply_triangle(b, triangular_of(b)->alpha, 0, result(b));
    return WG_OK;
}

/* A's triangle of ab += alpha x y^T, a block of columns at a time: the square on the diagonal
 * by way of the workspace, the rest in place. */
static void add_triangle(const wg_block *b, double alpha, wgi_view x, wgi_view y, wgi_view ab) {
    const struct triangular *const p = triangular_of(b);
    const size_t n = ab.rows, k = x.cols;
    for (size_t j = 0; j < n; j += TRIANGLE_BLOCK) {
        const size_t wide = n - j < TRIANGLE_BLOCK ? n - j : TRIANGLE_BLOCK;
        const wgi_view right = transposed(wgi_view_block(y, j, 0, wide, k));
        const wgi_view square = wgi_view_packed((double *)b->work, wide, wide);
        clear(square);
        mul(alpha, wgi_view_block(x, j, 0, wide, k), right, square);
        const wgi_view to = wgi_view_block(ab, j, j, wide, wide);
        const size_t down = wgi_view_down(to), across = wgi_view_across(to),
                     edge = p->unit != 0;
        for (size_t c = 0; c < wide; c++) {
            const size_t low = p->upper ? 0 : c + edge, high = p->upper ? c + 1 - edge : wide;
            for (size_t r = low; r < high; r++)
                to.p[r * down + c * across] += square.p[r + c * wide];
        }
        const size_t from = p->upper ? 0 : j + wide, rows = p->upper ? j : n - j - wide;
        mul(alpha, wgi_view_block(x, from, 0, rows, k), right,
            wgi_view_block(ab, from, j, rows, wide));
    }
}

static wg_status triangular_vjp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const wgi_view w = result_bar(b);
    if (b->in[0].bar != NULL) {
        /* op(A)_ = alpha x y^T */
        const wgi_view v = right_hand(b, wgi_view_value(&b->in[1]));
        const wgi_view x = p->right ? transposed(v) : w, y = p->right ? transposed(w) : v;
        if (p->trans) add_triangle(b, p->alpha, y, x, wgi_view_bar(&b->in[0]));
        else add_triangle(b, p->alpha, x, y, wgi_view_bar(&b->in[0]));
    }
    if (b->in[1].bar != NULL) {
        const wgi_view r = wgi_view_packed((double *)b->work, w.rows, w.cols);
        set(1, w, r);
        multiply_triangle(b, p->alpha, 1, r);
        add(1, r, right_hand(b, wgi_view_bar(&b->in[1])));
    }
    return WG_OK;
}

static wg_status triangular_jvp(wg_block *b) {
    const struct triangular *const p = triangular_of(b);
    const wgi_view y = result_bar(b);
    if (b->in[1].bar != NULL) {
        set(1, right_hand(b, wgi_view_bar(&b->in[1])), y);
        multiply_triangle(b, p->alpha, 0, y);
    } else clear(y);
    if (b->in[0].bar != NULL) {
        const wgi_view at = wgi_view_bar(&b->in[0]), full = square_work(b, at.rows);
        const size_t n = at.rows, down = wgi_view_down(at), across = wgi_view_across(at);
        const size_t edge = p->unit != 0;
        clear(full);
        for (size_t j = 0; j < n; j++) {
            const size_t low = p->upper ? 0 : j + edge, high = p->upper ? j + 1 - edge : n;
            for (size_t i = low; i < high; i++) full.p[i + j * n] = at.p[i * down + j * across];
        }
        const wgi_view x = right_hand(b, wgi_view_value(&b->in[1])),
                       op = wgi_view_turn(full, p->trans);
        if (p->right) mul(p->alpha, x, op, y);
        else mul(p->alpha, op, x, y);
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
            y[i * down + j * across] = wgi_expand_scaled(t, p->alpha, r);
        }
    return WG_OK;
}

const wg_block_op wgi_op_trmv = {"wg_trmv",        WG_OP_TRANS,    triangular_shape,
                                 triangular_value, triangular_vjp, triangular_jvp,
                                 triangular_expand};
const wg_block_op wgi_op_trmm = {"wg_trmm",        WG_OP_TRANS,    triangular_shape,
                                 triangular_value, triangular_vjp, triangular_jvp,
                                 triangular_expand};

static wg_mat triangular(wg_tape *t, const wg_block_op *op, char side, char uplo, char trans,
                         char diag, int vector, double alpha, wg_mat a, wg_mat b) {
    const int right = letter(side, 'L', 'R'), upper = letter(uplo, 'L', 'U');
    const int turn = turned(trans), unit = letter(diag, 'N', 'U');
    const struct triangular p = {alpha,
                                 right,
                                 upper,
                                 turn,
                                 unit,
                                 vector,
                                 right < 0 || upper < 0 || turn < 0 || unit < 0};
    const wg_mat in[2] = {a, b};
    wg_mat y;
    (void)wg_apply(t, op, &p, sizeof p, 2, in, 1, &y);
    return y;
}

wg_mat wg_trmv(wg_tape *t, char uplo, char trans, char diag, wg_mat a, wg_mat x) {
    return triangular(t, &wgi_op_trmv, 'L', uplo, trans, diag, 1, 1, a, x);
}
wg_mat wg_trmm(wg_tape *t, char side, char uplo, char trans, char diag, double alpha, wg_mat a,
               wg_mat b) {
    return triangular(t, &wgi_op_trmm, side, uplo, trans, diag, 0, alpha, a, b);
}

/* ---- scal, axpy ---- */

/* alpha x + y. In: x, y where `plus`, alpha where `real`. */
struct scaling {
    double alpha;
    int plus, real;
};
static const struct scaling *scaling_of(const wg_block *b) {
    return (const struct scaling *)b->params;
}
static const wg_block_arg *scaling_alpha(const wg_block *b) {
    return scaling_of(b)->real ? &b->in[b->inputs - 1] : NULL;
}
static double scaling_number(const wg_block *b) {
    return scaling_of(b)->real ? scaling_alpha(b)->value[0] : scaling_of(b)->alpha;
}

static wg_status scaling_shape(wg_block *b) {
    if (scaling_of(b)->plus &&
        (b->in[0].rows != b->in[1].rows || b->in[0].cols != b->in[1].cols))
        return refuse(b, WG_ESHAPE, "unequal shapes");
    b->out[0].rows = b->in[0].rows;
    b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

static wg_status scaling_value(wg_block *b) {
    set(scaling_number(b), wgi_view_value(&b->in[0]), result(b));
    if (scaling_of(b)->plus) add(1, wgi_view_value(&b->in[1]), result(b));
    return WG_OK;
}

static wg_status scaling_vjp(wg_block *b) {
    const wgi_view w = result_bar(b);
    if (b->in[0].bar != NULL) add(scaling_number(b), w, wgi_view_bar(&b->in[0]));
    if (scaling_of(b)->plus && b->in[1].bar != NULL) add(1, w, wgi_view_bar(&b->in[1]));
    if (scaling_of(b)->real && scaling_alpha(b)->bar != NULL)
        scaling_alpha(b)->bar[0] += inner(w, wgi_view_value(&b->in[0]));
    return WG_OK;
}

static wg_status scaling_jvp(wg_block *b) {
    const wgi_view y = result_bar(b);
    if (b->in[0].bar != NULL) set(scaling_number(b), wgi_view_bar(&b->in[0]), y);
    else clear(y);
    if (scaling_of(b)->plus && b->in[1].bar != NULL) add(1, wgi_view_bar(&b->in[1]), y);
    if (scaling_of(b)->real && scaling_alpha(b)->bar != NULL)
        add(scaling_alpha(b)->bar[0], wgi_view_value(&b->in[0]), y);
    return WG_OK;
}

static wg_status scaling_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const struct scaling *const p = scaling_of(b);
    const wg_real alpha =
        p->real ? *wgi_reals_operand(b, x, b->inputs - 1).p : wg_constant(p->alpha);
    for (size_t e = 0, n = wgi_length(&b->in[0]); e < n; e++) {
        y[e] = wg_let(t, wg_mul(alpha, x[e]));
        if (p->plus) y[e] = wg_let(t, wg_add(y[e], x[n + e]));
    }
    return WG_OK;
}

#define SCALING(name)                                                                          \
    const wg_block_op wgi_op_##name = {"wg_" #name, WG_OP_TRANS, scaling_shape, scaling_value, \
                                       scaling_vjp, scaling_jvp, scaling_expand}
SCALING(axpy);
SCALING(scal);
SCALING(axpy_real);
SCALING(scal_real);

wg_mat wg_axpy(wg_tape *t, double alpha, wg_mat x, wg_mat y) {
    const struct scaling p = {alpha, 1, 0};
    const wg_mat in[2] = {x, y};
    wg_mat r;
    (void)wg_apply(t, &wgi_op_axpy, &p, sizeof p, 2, in, 1, &r);
    return r;
}
wg_mat wg_scal(wg_tape *t, double alpha, wg_mat x) {
    const struct scaling p = {alpha, 0, 0};
    wg_mat r;
    (void)wg_apply(t, &wgi_op_scal, &p, sizeof p, 1, &x, 1, &r);
    return r;
}
wg_mat wg_axpy_real(wg_tape *t, wg_real alpha, wg_mat x, wg_mat y) {
    const struct scaling p = {0, 1, 1};
    const wg_mat in[3] = {x, y, wg_mat_gather(t, 1, 1, &alpha)};
    wg_mat r;
    (void)wg_apply(t, &wgi_op_axpy_real, &p, sizeof p, 3, in, 1, &r);
    return r;
}
wg_mat wg_scal_real(wg_tape *t, wg_real alpha, wg_mat x) {
    const struct scaling p = {0, 0, 1};
    const wg_mat in[2] = {x, wg_mat_gather(t, 1, 1, &alpha)};
    wg_mat r;
    (void)wg_apply(t, &wgi_op_scal_real, &p, sizeof p, 2, in, 1, &r);
    return r;
}

/* ---- scalar results ---- */

/* The only element of a 1 x 1 result. */
static wg_real scalar(wg_tape *t, const wg_block_op *op, const void *params, size_t bytes,
                      size_t inputs, const wg_mat *in) {
    wg_mat y;
    (void)wg_apply(t, op, params, bytes, inputs, in, 1, &y);
    return wg_mat_at(y, 0, 0);
}

/* sum x y; the second operand transposed where params (an int) say so, vectors lying either
 * way. */
static wgi_view dot_side(const wg_block *b, unsigned i, wgi_view a) {
    const int turn = *(const int *)b->params;
    if (!turn && wgi_is_vector(&b->in[0]) && wgi_is_vector(&b->in[1]))
        return wgi_view_column(a);
    return wgi_view_turn(a, turn && i == 1);
}

static wg_status dot_shape(wg_block *b) {
    const wgi_view x = dot_side(b, 0, wgi_view_value(&b->in[0]));
    const wgi_view y = dot_side(b, 1, wgi_view_value(&b->in[1]));
    if (x.rows != y.rows || x.cols != y.cols) return refuse(b, WG_ESHAPE, NULL);
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}

static wg_status dot_value(wg_block *b) {
    b->out[0].value[0] = inner(dot_side(b, 0, wgi_view_value(&b->in[0])),
                               dot_side(b, 1, wgi_view_value(&b->in[1])));
    return WG_OK;
}

static wg_status dot_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    for (unsigned i = 0; i < 2; i++)
        if (b->in[i].bar != NULL)
            add(w, dot_side(b, 1 - i, wgi_view_value(&b->in[1 - i])),
                dot_side(b, i, wgi_view_bar(&b->in[i])));
    return WG_OK;
}

static wg_status dot_jvp(wg_block *b) {
    double sum = 0;
    for (unsigned i = 0; i < 2; i++)
        if (b->in[i].bar != NULL)
            sum += inner(dot_side(b, i, wgi_view_bar(&b->in[i])),
                         dot_side(b, 1 - i, wgi_view_value(&b->in[1 - i])));
    b->out[0].bar[0] = sum;
    return WG_OK;
}

/* Vectors lie in one way only when taken element after element. */
static wg_status dot_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals u = wgi_reals_operand(b, x, 0);
    const wgi_reals v = wgi_reals_turn(wgi_reals_operand(b, x, 1), *(const int *)b->params);
    *y = wg_constant(0);
    if (*(const int *)b->params == 0) *y = wgi_expand_dot(t, u.rows * u.cols, u.p, 1, v.p, 1);
    for (size_t j = 0; j < u.cols && *(const int *)b->params != 0; j++)
        *y = wgi_expand_plus(
            t, *y,
            wgi_expand_dot(t, u.rows, u.p + j * u.across, u.down, v.p + j * v.across, v.down));
    return WG_OK;
}

const wg_block_op wgi_op_dot = {"wg_mat_dot", WG_OP_TRANS, dot_shape, dot_value,
                                dot_vjp,      dot_jvp,     dot_expand};
const wg_block_op wgi_op_trace_product = {
    "wg_trace_product", WG_OP_TRANS, dot_shape, dot_value, dot_vjp, dot_jvp, dot_expand};

wg_real wg_mat_dot(wg_tape *t, wg_mat x, wg_mat y) {
    const wg_mat in[2] = {x, y};
    const int turn = 0;
    return scalar(t, &wgi_op_dot, &turn, sizeof turn, 2, in);
}
wg_real wg_trace_product(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    const int turn = 1;
    return scalar(t, &wgi_op_trace_product, &turn, sizeof turn, 2, in);
}

static wg_status trace_shape(wg_block *b) {
    if (b->in[0].rows != b->in[0].cols) return refuse(b, WG_ESHAPE, "not square");
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}

static double trace(wgi_view a) {
    double sum = 0;
    for (size_t i = 0; i < a.rows; i++) sum += a.p[i * (a.ld + 1)];
    return sum;
}

static wg_status trace_value(wg_block *b) {
    b->out[0].value[0] = trace(wgi_view_value(&b->in[0]));
    return WG_OK;
}
static wg_status trace_vjp(wg_block *b) {
    const wgi_view a = wgi_view_bar(&b->in[0]);
    for (size_t i = 0; i < a.rows; i++) a.p[i * (a.ld + 1)] += b->out[0].bar[0];
    return WG_OK;
}
static wg_status trace_jvp(wg_block *b) {
    b->out[0].bar[0] = trace(wgi_view_bar(&b->in[0]));
    return WG_OK;
}

static wg_status trace_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    *y = wg_constant(0);
    for (size_t i = 0; i < n; i++) *y = wgi_expand_plus(t, *y, x[i * (n + 1)]);
    return WG_OK;
}

const wg_block_op wgi_op_trace = {"wg_trace", WG_OP_TRANS, trace_shape, trace_value,
                                  trace_vjp,  trace_jvp,   trace_expand};

wg_real wg_trace(wg_tape *t, wg_mat a) { return scalar(t, &wgi_op_trace, NULL, 0, 1, &a); }

/* In: A, x. */
static wg_status quadform_shape(wg_block *b) {
    const wg_block_arg *const a = &b->in[0];
    if (a->rows != a->cols) return refuse(b, WG_ESHAPE, "not square");
    if (!wgi_is_vector(&b->in[1]))
        return refuse(b, WG_ESHAPE, "a vector is one row or one column");
    if (wgi_length(&b->in[1]) != a->rows)
        return refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = b->out[0].cols = 1;
    b->work_bytes = a->rows * sizeof(double);
    return WG_OK;
}

static wgi_view quadform_x(const wg_block *b) {
    return wgi_view_column(wgi_view_value(&b->in[1]));
}

/* A x in the workspace. */
static wgi_view quadform_ax(const wg_block *b, wgi_view a) {
    const wgi_view r = wgi_view_packed((double *)b->work, a.rows, 1);
    clear(r);
    mul(1, a, quadform_x(b), r);
    return r;
}

static wg_status quadform_value(wg_block *b) {
    b->out[0].value[0] = inner(quadform_ax(b, wgi_view_value(&b->in[0])), quadform_x(b));
    return WG_OK;
}

static wg_status quadform_vjp(wg_block *b) {
    const double w = b->out[0].bar[0];
    const wgi_view a = wgi_view_value(&b->in[0]), x = quadform_x(b);
    if (b->in[0].bar != NULL) mul(w, x, transposed(x), wgi_view_bar(&b->in[0]));
    if (b->in[1].bar != NULL) {
        const wgi_view xb = wgi_view_column(wgi_view_bar(&b->in[1]));
        mul(w, a, x, xb);
        mul(w, transposed(a), x, xb);
    }
    return WG_OK;
}

static wg_status quadform_jvp(wg_block *b) {
    const wgi_view a = wgi_view_value(&b->in[0]), x = quadform_x(b);
    double sum = 0;
    if (b->in[0].bar != NULL) sum += inner(quadform_ax(b, wgi_view_bar(&b->in[0])), x);
    if (b->in[1].bar != NULL) {
        const wgi_view xt = wgi_view_column(wgi_view_bar(&b->in[1]));
        sum += inner(quadform_ax(b, a), xt);
        sum += inner(quadform_ax(b, transposed(a)), xt);
    }
    b->out[0].bar[0] = sum;
    return WG_OK;
}

static wg_status quadform_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals a = wgi_reals_operand(b, x, 0),
                    v = wgi_reals_column(wgi_reals_operand(b, x, 1));
    wg_real *const r = wgi_expand_room(t, a.rows);
    if (r == NULL) return wg_tape_status(t);
    wgi_expand_mul(t, a, v, r);
    *y = wgi_expand_dot(t, a.rows, r, 1, v.p, v.down);
    return WG_OK;
}

const wg_block_op wgi_op_quadform = {"wg_quadform",  WG_OP_TRANS,  quadform_shape,
                                     quadform_value, quadform_vjp, quadform_jvp,
                                     quadform_expand};

wg_real wg_quadform(wg_tape *t, wg_mat a, wg_mat x) {
    const wg_mat in[2] = {a, x};
    return scalar(t, &wgi_op_quadform, NULL, 0, 2, in);
}

/* ---- Kronecker ---- */

static wg_status kron_shape(wg_block *b) {
    if (__builtin_mul_overflow(b->in[0].rows, b->in[1].rows, &b->out[0].rows) ||
        __builtin_mul_overflow(b->in[0].cols, b->in[1].cols, &b->out[0].cols))
        return refuse(b, WG_ESHAPE, NULL);
    return WG_OK;
}

/* Block (i, j) of the result r. */
static wgi_view kron_block(wgi_view r, wgi_view b, size_t i, size_t j) {
    return wgi_view_block(r, i * b.rows, j * b.cols, b.rows, b.cols);
}
static double *kron_at(wgi_view a, size_t i, size_t j) {
    return a.p + i * wgi_view_down(a) + j * wgi_view_across(a);
}

/* r += a (x) b */
static void add_kron(wgi_view a, wgi_view b, wgi_view r) {
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++) add(*kron_at(a, i, j), b, kron_block(r, b, i, j));
}

static wg_status kron_value(wg_block *b) {
    clear(result(b));
    add_kron(wgi_view_value(&b->in[0]), wgi_view_value(&b->in[1]), result(b));
    return WG_OK;
}

static wg_status kron_vjp(wg_block *b) {
    const wgi_view x = wgi_view_value(&b->in[0]), y = wgi_view_value(&b->in[1]),
                   w = result_bar(b);
    const wgi_view xb = wgi_view_bar(&b->in[0]), yb = wgi_view_bar(&b->in[1]);
    for (size_t j = 0; j < x.cols; j++)
        for (size_t i = 0; i < x.rows; i++) {
            if (xb.p != NULL) *kron_at(xb, i, j) += inner(kron_block(w, y, i, j), y);
            if (yb.p != NULL) add(*kron_at(x, i, j), kron_block(w, y, i, j), yb);
        }
    return WG_OK;
}

static wg_status kron_jvp(wg_block *b) {
    clear(result_bar(b));
    if (b->in[0].bar != NULL)
        add_kron(wgi_view_bar(&b->in[0]), wgi_view_value(&b->in[1]), result_bar(b));
    if (b->in[1].bar != NULL)
        add_kron(wgi_view_value(&b->in[0]), wgi_view_bar(&b->in[1]), result_bar(b));
    return WG_OK;
}

static wg_status kron_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wgi_reals u = wgi_reals_operand(b, x, 0), v = wgi_reals_operand(b, x, 1);
    for (size_t j = 0; j < u.cols * v.cols; j++)
        for (size_t i = 0; i < u.rows * v.rows; i++)
            *y++ = wg_let(t, wg_mul(wgi_reals_at(u, i / v.rows, j / v.cols),
                                    wgi_reals_at(v, i % v.rows, j % v.cols)));
    return WG_OK;
}

const wg_block_op wgi_op_kron = {"wg_kron", WG_OP_TRANS, kron_shape, kron_value,
                                 kron_vjp,  kron_jvp,    kron_expand};

wg_mat wg_kron(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    wg_mat y;
    (void)wg_apply(t, &wgi_op_kron, NULL, 0, 2, in, 1, &y);
    return y;
}
