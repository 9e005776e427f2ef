/* SPDX-License-Identifier: MIT */
/* Products of matrices: general ones, of a matrix with itself, of batches, Kronecker.
 *
 * Everything rests on c += alpha a b for views that may be transposed: adjoints and tangents of
 * a product are such products again, added where they belong (Giles 2008, 2.2). Small ones are
 * loops, the others BLAS.
 *
 * Letters: a, b, c operands as views, turned as the flags say; ab, bb, cb their adjoints; at,
 * bt, ct their tangents; w adjoint of the result. */
#include <wengert/elementwise.h>
#include <wengert/reduce.h>
#include "products.h"

#include "ops/scalar/elementwise.h"
#include "traits.h"

/* ---- pieces ---- */

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
    cblas_dgemv(CblasColMajor, wgi_products_flag(a.trans), wgi_int(stored_rows(a)),
                wgi_int(stored_cols(a)), alpha, a.p, wgi_int(a.ld), x.p,
                wgi_int(wgi_view_down(x)), 1, y.p, wgi_int(wgi_view_down(y)));
}

/* The same where no size is above that: by vectors, without a library. */
enum { SMALL = 16 };
static void mul_small(double alpha, wgi_view a, wgi_view b, wgi_view c) {
    double turned[SMALL * SMALL];
    const size_t m = c.rows, k = a.cols;
    if (a.trans) {
        for (size_t i = 0; i < m; i++)
            for (size_t l = 0; l < k; l++) turned[i + l * m] = a.p[l + i * a.ld];
        a = wgi_view_packed(turned, m, k);
    }
    wgi_simd_best()->product(m, c.cols, k, alpha, a.p, a.ld, b.p, wgi_view_down(b),
                             wgi_view_across(b), c.p, c.ld);
}

void wgi_view_mul(double alpha, wgi_view a, wgi_view b, wgi_view c) {
    if (c.trans) {
        const wgi_view other = wgi_view_turn(a, 1);
        a = wgi_view_turn(b, 1);
        b = other;
        c = wgi_view_turn(c, 1);
    }
    const size_t m = c.rows, n = c.cols, k = a.cols;
    if (m == 0 || n == 0 || k == 0 || alpha == 0) return;
    if (wgi_products_few(m, n, k)) mul_loops(alpha, a, b, c);
    else if (m <= SMALL && n <= SMALL && k <= SMALL) mul_small(alpha, a, b, c);
    else if (n == 1) mul_column(alpha, a, b, c);
    else if (m == 1)
        mul_column(alpha, wgi_view_turn(b, 1), wgi_view_turn(a, 1), wgi_view_turn(c, 1));
    else if (k == 1)
        cblas_dger(CblasColMajor, wgi_int(m), wgi_int(n), alpha, a.p, wgi_int(wgi_view_down(a)),
                   b.p, wgi_int(wgi_view_across(b)), c.p, wgi_int(c.ld));
    else
        cblas_dgemm(CblasColMajor, wgi_products_flag(a.trans), wgi_products_flag(b.trans),
                    wgi_int(m), wgi_int(n), wgi_int(k), alpha, a.p, wgi_int(a.ld), b.p,
                    wgi_int(b.ld), 1, c.p, wgi_int(c.ld));
}

void wgi_products_write(wg_tape *t, wg_real alpha, wgi_reals a, wgi_reals b, wg_real beta,
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

int wgi_products_letter(char given, char zero, char one) {
    const int small = 'a' - 'A';
    if (given == zero || given == zero + small) return 0;
    return given == one || given == one + small ? 1 : -1;
}

int wgi_products_turned(char trans) {
    return wgi_products_letter(trans, 'N', 'T') >= 0 ? wgi_products_letter(trans, 'N', 'T')
                                                     : wgi_products_letter(trans, 'N', 'C');
}

const char wgi_products_bad_flag[] = "an unknown letter among the flags";

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
    if (p->bad) return wgi_block_refuse(b, WG_EARG, wgi_products_bad_flag);
    for (unsigned i = 0; i < b->inputs && i < 3; i++) {
        if ((p->vector >> i & 1) && !wgi_is_vector(&b->in[i]))
            return wgi_block_refuse(b, WG_ESHAPE, "a vector is one row or one column");
        f[i] = factor(b, i);
    }
    if (f[0].cols != f[1].rows)
        return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    if (b->inputs > 2 && (f[2].rows != f[0].rows || f[2].cols != f[1].cols))
        return wgi_block_refuse(b, WG_ESHAPE,
                                "what is added has another shape than the product");
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
    if (b->inputs > 2) wgi_view_set(product_beta(b), factor(b, 2), wgi_products_result(b));
    else wgi_view_clear(wgi_products_result(b));
    wgi_view_mul(product_alpha(b), factor(b, 0), factor(b, 1), wgi_products_result(b));
    return WG_OK;
}

static wg_status product_vjp(wg_block *b) {
    const wgi_view w = wgi_products_bar(b);
    const double alpha = product_alpha(b);
    if (b->in[0].bar != NULL)
        wgi_view_mul(alpha, w, wgi_view_transposed(factor(b, 1)), factor_bar(b, 0));
    if (b->in[1].bar != NULL)
        wgi_view_mul(alpha, wgi_view_transposed(factor(b, 0)), w, factor_bar(b, 1));
    if (b->inputs > 2 && b->in[2].bar != NULL)
        wgi_view_add(product_beta(b), w, factor_bar(b, 2));
    return WG_OK;
}

static wg_status product_jvp(wg_block *b) {
    const wgi_view y = wgi_products_bar(b);
    const double alpha = product_alpha(b);
    if (b->inputs > 2 && b->in[2].bar != NULL)
        wgi_view_set(product_beta(b), factor_bar(b, 2), y);
    else wgi_view_clear(y);
    if (b->in[0].bar != NULL) wgi_view_mul(alpha, factor_bar(b, 0), factor(b, 1), y);
    if (b->in[1].bar != NULL) wgi_view_mul(alpha, factor(b, 0), factor_bar(b, 1), y);
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
    wgi_products_write(t, alpha, factor_reals(b, x, 0), factor_reals(b, x, 1), beta,
                       b->inputs > 2 ? factor_reals(b, x, 2) : no_reals, y);
    return WG_OK;
}

/* What element (i, j) of a product depends on: row i of one factor, column j of the other, and
 * element (i, j) of what is added. */
static void of_a_product(wgi_parts *p) {
    p->product = 1;
    p->part[0] = WGI_ITS_ROW, p->part[1] = WGI_ITS_COLUMN, p->part[2] = WGI_ITS_ELEMENT;
    p->near[0] = 2, p->near[1] = 1, p->near[2] = 0;
}

static void product_parts(const void *params, wgi_parts *p) {
    const struct product *const k = params;
    p->column = (unsigned)k->vector;
    p->turned = (unsigned)k->turn;
    of_a_product(p);
}

static const wgi_traits product_traits = {.parts = product_parts, .bilinear = 3};

#define PRODUCT(name)                                                                          \
    const wg_block_op wgi_op_##name = {"wg_" #name,    WG_OP_TRANS | WG_OP_EXPANDS,            \
                                       product_shape,  product_value,                          \
                                       product_vjp,    product_jvp,                            \
                                       product_expand, NULL,                                   \
                                       &product_traits}
PRODUCT(gemm);
PRODUCT(gemv);
PRODUCT(matmul);
PRODUCT(ger);
PRODUCT(outer);

static wg_mat product(wg_tape *t, const wg_block_op *op, const struct product *p, wg_mat a,
                      wg_mat b, wg_mat c) {
    const wg_mat in[3] = {a, b, c};
    return wgi_apply_one(t, op, p, sizeof *p, p->beta == 0 ? 2 : 3, in);
}

wg_mat wg_gemm(wg_tape *t, char ta, char tb, double alpha, wg_mat a, wg_mat b, double beta,
               wg_mat c) {
    const int fa = wgi_products_turned(ta), fb = wgi_products_turned(tb);
    const struct product p = {alpha, beta, 0, (fa > 0) | (fb > 0) << 1, 0, fa < 0 || fb < 0};
    return product(t, &wgi_op_gemm, &p, a, b, c);
}

wg_mat wg_matmul(wg_tape *t, wg_mat a, wg_mat b) {
    const struct product p = {1, 0, 0, 0, 0, 0};
    return product(t, &wgi_op_matmul, &p, a, b, a);
}

wg_mat wg_gemv(wg_tape *t, char trans, double alpha, wg_mat a, wg_mat x, double beta,
               wg_mat y) {
    const int fa = wgi_products_turned(trans);
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
    const wgi_view w = wgi_products_bar(b), a = factor(b, 0);
    const double alpha = product_alpha(b);
    if (b->in[0].bar != NULL || b->in[3].bar != NULL) {
        const wgi_view r = wgi_view_packed((double *)b->work, a.rows, a.cols);
        wgi_view_clear(r);
        wgi_view_mul(1, w, wgi_view_transposed(factor(b, 1)), r);
        if (b->in[0].bar != NULL) wgi_view_add(alpha, r, factor_bar(b, 0));
        if (b->in[3].bar != NULL) b->in[3].bar[0] += wgi_view_inner(r, a);
    }
    if (b->in[1].bar != NULL) wgi_view_mul(alpha, wgi_view_transposed(a), w, factor_bar(b, 1));
    if (b->in[2].bar != NULL) wgi_view_add(product_beta(b), w, factor_bar(b, 2));
    if (b->in[4].bar != NULL) b->in[4].bar[0] += wgi_view_inner(w, factor(b, 2));
    return WG_OK;
}

static wg_status gemm_real_jvp(wg_block *b) {
    const wgi_view y = wgi_products_bar(b);
    (void)product_jvp(b);
    if (b->in[3].bar != NULL) wgi_view_mul(b->in[3].bar[0], factor(b, 0), factor(b, 1), y);
    if (b->in[4].bar != NULL) wgi_view_add(b->in[4].bar[0], factor(b, 2), y);
    return WG_OK;
}

/* Operand i as a factor, and what has the shape of a factor as the operand. */
static wg_mat turned_if(const wg_block *b, unsigned i, wg_mat a) {
    return product_of(b)->turn >> i & 1 ? wg_mat_transpose(a) : a;
}

static wg_status gemm_real_adjoint(wg_tape *t, wg_block *b, const wg_mat *in, const wg_mat *out,
                                   const wg_mat *bar, wg_mat *back) {
    const wg_mat a = turned_if(b, 0, in[0]), x = turned_if(b, 1, in[1]), w = bar[0];
    const wg_mat r = wg_gemm(t, 'N', 'T', 1, w, x, 0, w);
    const wg_mat s = wg_gemm(t, 'T', 'N', 1, a, w, 0, w);
    (void)out;
    back[0] = turned_if(b, 0, wg_mat_mul(t, in[3], r));
    back[1] = turned_if(b, 1, wg_mat_mul(t, in[3], s));
    back[2] = wg_mat_mul(t, in[4], w);
    back[3] = wg_mat_sum_axis(t, wg_mat_mul(t, r, a), WG_ALL);
    back[4] = wg_mat_sum_axis(t, wg_mat_mul(t, w, in[2]), WG_ALL);
    return wg_tape_status(t);
}

const wg_block_op wgi_op_gemm_real = {"wg_gemm_real",
                                      WG_OP_TRANS | WG_OP_EXPANDS,
                                      product_shape,
                                      product_value,
                                      gemm_real_vjp,
                                      gemm_real_jvp,
                                      product_expand,
                                      gemm_real_adjoint,
                                      NULL};

wg_mat wg_gemm_real(wg_tape *t, char ta, char tb, wg_real alpha, wg_mat a, wg_mat b,
                    wg_real beta, wg_mat c) {
    const int fa = wgi_products_turned(ta), fb = wgi_products_turned(tb);
    const struct product p = {0, 0, 0, (fa > 0) | (fb > 0) << 1, 1, fa < 0 || fb < 0};
    const wg_mat in[5] = {a, b, c, wg_mat_gather(t, 1, 1, &alpha),
                          wg_mat_gather(t, 1, 1, &beta)};
    return wgi_apply_one(t, &wgi_op_gemm_real, &p, sizeof p, 5, in);
}

/* ---- syrk ---- */

/* alpha a a^T + beta (c + c^T)/2, a = op(A): params as of a product, turn bit 0. */
static wg_status syrk_shape(wg_block *b) {
    const struct product *const p = product_of(b);
    if (p->bad) return wgi_block_refuse(b, WG_EARG, wgi_products_bad_flag);
    const size_t n = factor(b, 0).rows;
    if (b->inputs > 1 && (b->in[1].rows != n || b->in[1].cols != n))
        return wgi_block_refuse(b, WG_ESHAPE,
                                "what is added has another shape than the product");
    b->out[0].rows = b->out[0].cols = n;
    b->work_bytes = n * n * sizeof(double);
    return WG_OK;
}

static wg_status syrk_value(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view a = factor(b, 0), y = wgi_products_result(b);
    const size_t n = a.rows;
    wgi_view_clear(y);
    if (n * n * a.cols <= WGI_FEW_GEMM) wgi_view_mul(p->alpha, a, wgi_view_transposed(a), y);
    else {
        cblas_dsyrk(CblasColMajor, CblasLower, wgi_products_flag(a.trans), wgi_int(n),
                    wgi_int(a.cols), p->alpha, a.p, wgi_int(a.ld), 0, y.p, wgi_int(n));
        for (size_t j = 1; j < n; j++)
            for (size_t i = 0; i < j; i++) y.p[i + j * n] = y.p[j + i * n];
    }
    if (b->inputs > 1) wgi_view_add_symmetric(p->beta / 2, wgi_view_value(&b->in[1]), y);
    return WG_OK;
}

static wg_status syrk_vjp(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view s = wgi_products_square(b, b->out[0].rows);
    wgi_view_clear(s);
    wgi_view_add_symmetric(1, wgi_products_bar(b), s);
    if (b->in[0].bar != NULL) wgi_view_mul(p->alpha, s, factor(b, 0), factor_bar(b, 0));
    if (b->inputs > 1 && b->in[1].bar != NULL)
        wgi_view_add(p->beta / 2, s, wgi_view_bar(&b->in[1]));
    return WG_OK;
}

static wg_status syrk_jvp(wg_block *b) {
    const struct product *const p = product_of(b);
    const wgi_view y = wgi_products_bar(b);
    wgi_view_clear(y);
    if (b->in[0].bar != NULL) {
        const wgi_view s = wgi_products_square(b, y.rows);
        wgi_view_clear(s);
        wgi_view_mul(p->alpha, factor_bar(b, 0), wgi_view_transposed(factor(b, 0)), s);
        wgi_view_add_symmetric(1, s, y);
    }
    if (b->inputs > 1 && b->in[1].bar != NULL)
        wgi_view_add_symmetric(p->beta / 2, wgi_view_bar(&b->in[1]), y);
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
    wgi_products_write(t, wg_constant(p->alpha), a, wgi_reals_turn(a, 1), wg_constant(p->beta),
                       added != 0 ? wgi_reals_packed(c, n, n) : no_reals, y);
    return WG_OK;
}

static const wgi_traits syrk_traits = {.bilinear = 1};

const wg_block_op wgi_op_syrk = {"wg_syrk",   WG_OP_TRANS | WG_OP_EXPANDS,
                                 syrk_shape,  syrk_value,
                                 syrk_vjp,    syrk_jvp,
                                 syrk_expand, NULL,
                                 &syrk_traits};

wg_mat wg_syrk(wg_tape *t, char trans, double alpha, wg_mat a, double beta, wg_mat c) {
    const int fa = wgi_products_turned(trans);
    const struct product p = {alpha, beta, 0, fa > 0, 0, fa < 0};
    const wg_mat in[2] = {a, c};
    return wgi_apply_one(t, &wgi_op_syrk, &p, sizeof p, beta == 0 ? 1 : 2, in);
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

/* A member whose adjoint, or tangent, is 0 gives 0, whatever it is multiplied by. */
static int nothing(wgi_view a) {
    const size_t down = wgi_view_down(a), across = wgi_view_across(a);
    for (size_t j = 0; j < a.cols; j++)
        for (size_t i = 0; i < a.rows; i++)
            if (a.p[i * down + j * across] != 0) return 0;
    return 1;
}

static wg_status batch_shape(wg_block *b) {
    const struct batch *const p = batch_of(b);
    if (p->bad) return wgi_block_refuse(b, WG_EARG, wgi_products_bad_flag);
    if (p->count == 0) return wgi_block_refuse(b, WG_EARG, "a batch of no matrices");
    if (b->in[0].cols % p->count != 0 || b->in[1].cols % p->count != 0)
        return wgi_block_refuse(b, WG_ESHAPE, "columns are no multiple of the count");
    wgi_view x = wgi_view_value(&b->in[0]), y = wgi_view_value(&b->in[1]);
    x.cols /= p->count, y.cols /= p->count;
    x = wgi_view_turn(x, p->turn & 1), y = wgi_view_turn(y, p->turn >> 1 & 1);
    if (x.cols != y.rows) return wgi_block_refuse(b, WG_ESHAPE, "inner dimensions differ");
    b->out[0].rows = x.rows;
    if (__builtin_mul_overflow(y.cols, p->count, &b->out[0].cols))
        return wgi_block_refuse(b, WG_ESHAPE, NULL);
    return WG_OK;
}

static wg_status batch_value(wg_block *b) {
    const struct batch *const p = batch_of(b);
    wgi_view_clear(wgi_products_result(b));
    for (size_t k = 0; k < p->count; k++)
        wgi_view_mul(p->alpha, member_value(b, 0, k), member_value(b, 1, k),
                     member_of(b, wgi_products_result(b), k));
    return WG_OK;
}

static wg_status batch_vjp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    for (size_t k = 0; k < p->count; k++) {
        const wgi_view w = member_of(b, wgi_products_bar(b), k);
        if (nothing(w)) continue;
        if (b->in[0].bar != NULL)
            wgi_view_mul(p->alpha, w, wgi_view_transposed(member_value(b, 1, k)),
                         member_bar(b, 0, k));
        if (b->in[1].bar != NULL)
            wgi_view_mul(p->alpha, wgi_view_transposed(member_value(b, 0, k)), w,
                         member_bar(b, 1, k));
    }
    return WG_OK;
}

static wg_status batch_jvp(wg_block *b) {
    const struct batch *const p = batch_of(b);
    wgi_view_clear(wgi_products_bar(b));
    for (size_t k = 0; k < p->count; k++) {
        const wgi_view y = member_of(b, wgi_products_bar(b), k);
        if (b->in[0].bar != NULL && !nothing(member_bar(b, 0, k)))
            wgi_view_mul(p->alpha, member_bar(b, 0, k), member_value(b, 1, k), y);
        if (b->in[1].bar != NULL && !nothing(member_bar(b, 1, k)))
            wgi_view_mul(p->alpha, member_value(b, 0, k), member_bar(b, 1, k), y);
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
        wgi_products_write(t, wg_constant(p->alpha), m[0], m[1], wg_constant(0), no_reals, y);
        y += m[0].rows * m[1].cols;
    }
    return WG_OK;
}

static void batch_parts(const void *params, wgi_parts *p) {
    const struct batch *const k = params;
    p->count = k->count;
    p->turned = (unsigned)k->turn;
    of_a_product(p);
}

static const wgi_traits batch_traits = {.parts = batch_parts, .bilinear = 3};

const wg_block_op wgi_op_gemm_batch = {"wg_gemm_batch", WG_OP_TRANS | WG_OP_EXPANDS,
                                       batch_shape,     batch_value,
                                       batch_vjp,       batch_jvp,
                                       batch_expand,    NULL,
                                       &batch_traits};

wg_mat wg_gemm_batch(wg_tape *t, size_t count, char ta, char tb, double alpha, wg_mat a,
                     wg_mat b) {
    const int fa = wgi_products_turned(ta), fb = wgi_products_turned(tb);
    const struct batch p = {count, alpha, (fa > 0) | (fb > 0) << 1, fa < 0 || fb < 0};
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, &wgi_op_gemm_batch, &p, sizeof p, 2, in);
}

/* ---- Kronecker ---- */

static wg_status kron_shape(wg_block *b) {
    if (__builtin_mul_overflow(b->in[0].rows, b->in[1].rows, &b->out[0].rows) ||
        __builtin_mul_overflow(b->in[0].cols, b->in[1].cols, &b->out[0].cols))
        return wgi_block_refuse(b, WG_ESHAPE, NULL);
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
        for (size_t i = 0; i < a.rows; i++)
            wgi_view_add(*kron_at(a, i, j), b, kron_block(r, b, i, j));
}

static wg_status kron_value(wg_block *b) {
    wgi_view_clear(wgi_products_result(b));
    add_kron(wgi_view_value(&b->in[0]), wgi_view_value(&b->in[1]), wgi_products_result(b));
    return WG_OK;
}

static wg_status kron_vjp(wg_block *b) {
    const wgi_view x = wgi_view_value(&b->in[0]), y = wgi_view_value(&b->in[1]),
                   w = wgi_products_bar(b);
    const wgi_view xb = wgi_view_bar(&b->in[0]), yb = wgi_view_bar(&b->in[1]);
    for (size_t j = 0; j < x.cols; j++)
        for (size_t i = 0; i < x.rows; i++) {
            if (xb.p != NULL) *kron_at(xb, i, j) += wgi_view_inner(kron_block(w, y, i, j), y);
            if (yb.p != NULL) wgi_view_add(*kron_at(x, i, j), kron_block(w, y, i, j), yb);
        }
    return WG_OK;
}

static wg_status kron_jvp(wg_block *b) {
    wgi_view_clear(wgi_products_bar(b));
    if (b->in[0].bar != NULL)
        add_kron(wgi_view_bar(&b->in[0]), wgi_view_value(&b->in[1]), wgi_products_bar(b));
    if (b->in[1].bar != NULL)
        add_kron(wgi_view_value(&b->in[0]), wgi_view_bar(&b->in[1]), wgi_products_bar(b));
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

static const wgi_traits kron_traits = {.bilinear = 3};

const wg_block_op wgi_op_kron = {"wg_kron",   WG_OP_TRANS | WG_OP_EXPANDS,
                                 kron_shape,  kron_value,
                                 kron_vjp,    kron_jvp,
                                 kron_expand, NULL,
                                 &kron_traits};

wg_mat wg_kron(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat in[2] = {a, b};
    return wgi_apply_one(t, &wgi_op_kron, NULL, 0, 2, in);
}
