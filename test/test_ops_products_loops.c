/* SPDX-License-Identifier: MIT */
/* test_ops_products_loops.c - products of vectors and matrices, and convolution: what the
 * oracle lacks, against products written out as loops. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert/products.h>
#include "matrix_case.h"
#include "tolerance.h"
#include "walk.h"

#define RECORD(name)                                                                           \
    static void name(wg_tape *t, const struct matrix_case *c, const wg_mat *in, wg_mat *out,   \
                     void *data)

/* ---- what the oracle lacks, against loops of scalar statements ---- */

/* Flags and numbers of one call. */
struct call {
    char side, uplo, ta, tb, diag;
    double alpha, beta;
    size_t count;
    wg_conv conv;
    int plain; /* without bias; the short form */
};

/* An element of op(A). */
static wg_real at(wg_mat a, char trans, size_t i, size_t j) {
    return trans == 'N' ? wg_mat_at(a, i, j) : wg_mat_at(a, j, i);
}
static size_t rows_of(wg_mat a, char trans) { return trans == 'N' ? a.rows : a.cols; }
static size_t cols_of(wg_mat a, char trans) { return trans == 'N' ? a.cols : a.rows; }

/* Scalars that become a matrix. */
static wg_real *reals(size_t n) {
    wg_real *const x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    return x;
}
static wg_mat collect(wg_tape *t, size_t rows, size_t cols, wg_real *x) {
    const wg_mat a = wg_mat_gather(t, rows, cols, x);
    free(x);
    return a;
}

/* What a reference takes as element (i, k) and (k, j) of its factors. */
typedef wg_real element(wg_tape *t, wg_mat a, const struct call *p, size_t i, size_t j);

static wg_real plain_a(wg_tape *t, wg_mat a, const struct call *p, size_t i, size_t j) {
    (void)t;
    return at(a, p->ta, i, j);
}
static wg_real plain_b(wg_tape *t, wg_mat a, const struct call *p, size_t i, size_t j) {
    (void)t;
    return at(a, p->tb, i, j);
}
static wg_real symmetric_a(wg_tape *t, wg_mat a, const struct call *p, size_t i, size_t j) {
    (void)p;
    return wg_let(t, wg_mul(0.5, wg_add(wg_mat_at(a, i, j), wg_mat_at(a, j, i))));
}
static wg_real triangular_a(wg_tape *t, wg_mat a, const struct call *p, size_t i, size_t j) {
    const size_t r = p->ta == 'N' ? i : j, c = p->ta == 'N' ? j : i;
    (void)t;
    if (r == c && p->diag == 'U') return wg_constant(1);
    return (p->uplo == 'L' ? r >= c : r <= c) ? wg_mat_at(a, r, c) : wg_constant(0);
}

/* alpha a b + beta c, the last where there is one. */
static wg_mat product(wg_tape *t, const struct call *p, wg_mat a, element *of_a, wg_mat b,
                      element *of_b, size_t m, size_t n, size_t k, const wg_mat *c) {
    wg_real *const r = reals(m * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            wg_real sum = wg_constant(0);
            for (size_t l = 0; l < k; l++)
                sum = wg_let(t, wg_add(sum, wg_mul(of_a(t, a, p, i, l), of_b(t, b, p, l, j))));
            sum = wg_let(t, wg_mul(p->alpha, sum));
            if (c != NULL) sum = wg_let(t, wg_add(sum, wg_mul(p->beta, wg_mat_at(*c, i, j))));
            r[i + j * m] = sum;
        }
    return collect(t, m, n, r);
}

/* A column, whichever way the vector lies. */
static wg_mat column(wg_mat x) { return x.cols == 1 ? x : wg_mat_transpose(x); }

#define CALL                                                                                   \
    const struct call *const p = (const struct call *)data;                                    \
    (void)c

RECORD(gemm_of) {
    CALL;
    out[0] =
        wg_gemm(t, p->ta, p->tb, p->alpha, in[0], in[1], p->beta, in[p->beta != 0 ? 2 : 0]);
}
RECORD(gemm_loops) {
    CALL;
    out[0] =
        product(t, p, in[0], plain_a, in[1], plain_b, rows_of(in[0], p->ta),
                cols_of(in[1], p->tb), cols_of(in[0], p->ta), p->beta != 0 ? &in[2] : NULL);
}

static void try_gemm(char ta, char tb, size_t m, size_t n, size_t k, double alpha,
                     double beta) {
    struct call p = {.ta = ta, .tb = tb, .alpha = alpha, .beta = beta};
    const struct matrix_shape in[3] = {{ta == 'N' ? m : k, ta == 'N' ? k : m, 0},
                                       {tb == 'N' ? k : n, tb == 'N' ? n : k, 0},
                                       {m, n, 0}};
    matrix_case_compare("gemm", beta != 0 ? 3 : 2, in, 1, gemm_of, gemm_loops, &p);
}

static void gemm_of_any_size_equals_loops(void **state) {
    (void)state;
    static const size_t size[][3] = {{1, 1, 1},   {2, 3, 4},   {7, 5, 6},   {20, 17, 9},
                                     {1, 30, 40}, {30, 1, 40}, {30, 40, 1}, {0, 3, 2},
                                     {3, 0, 2},   {3, 2, 0},   {1, 1, 200}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int flags = 0; flags < 4; flags++)
            try_gemm("NT"[flags & 1], "NT"[flags >> 1], size[k][0], size[k][1], size[k][2],
                     -0.75, flags == 1 ? 0 : 1.5);
    try_gemm('N', 'N', 34, 33, 35, 1, 0);
    try_gemm('T', 'T', 33, 35, 34, 1, 1);
}

RECORD(matmul_of) {
    CALL;
    (void)p;
    out[0] = wg_matmul(t, in[0], in[1]);
}

static void matmul_is_the_short_form(void **state) {
    (void)state;
    struct call p = {.ta = 'N', .tb = 'N', .alpha = 1};
    const struct matrix_shape in[2] = {{12, 11, 0}, {11, 13, 0}};
    matrix_case_compare("matmul", 2, in, 1, matmul_of, gemm_loops, &p);
}

/* A, B and C are one variable. */
RECORD(gemm_one) {
    CALL;
    out[0] = wg_gemm(t, p->ta, p->tb, p->alpha, in[0], in[0], p->beta, in[0]);
}
RECORD(gemm_one_loops) {
    CALL;
    const wg_mat a = in[0];
    out[0] = product(t, p, a, plain_a, a, plain_b, a.rows, a.rows, a.rows, &a);
}
/* A and B overlap, C shares with both. */
RECORD(gemm_overlap) {
    CALL;
    const wg_mat a = wg_mat_block(in[0], 0, 0, 4, 4), b = wg_mat_block(in[0], 1, 2, 4, 4);
    out[0] = wg_gemm(t, p->ta, p->tb, p->alpha, a, b, p->beta, wg_mat_block(in[0], 2, 1, 4, 4));
}
RECORD(gemm_overlap_loops) {
    CALL;
    const wg_mat a = wg_mat_block(in[0], 0, 0, 4, 4), b = wg_mat_block(in[0], 1, 2, 4, 4);
    const wg_mat x = wg_mat_block(in[0], 2, 1, 4, 4);
    out[0] = product(t, p, a, plain_a, b, plain_b, 4, 4, 4, &x);
}

static void gemm_operands_may_be_one_matrix_or_overlap(void **state) {
    (void)state;
    for (int flags = 0; flags < 4; flags++) {
        struct call p = {
            .ta = "NT"[flags & 1], .tb = "NT"[flags >> 1], .alpha = 0.5, .beta = -1};
        const struct matrix_shape small = {3, 3, 0}, large = {15, 15, 0}, all = {6, 6, 0};
        matrix_case_compare("gemm of one", 1, &small, 1, gemm_one, gemm_one_loops, &p);
        matrix_case_compare("gemm of one", 1, &large, 1, gemm_one, gemm_one_loops, &p);
        matrix_case_compare("gemm, overlapping", 1, &all, 1, gemm_overlap, gemm_overlap_loops,
                            &p);
    }
}

RECORD(gemm_real_of) {
    CALL;
    out[0] = wg_gemm_real(t, p->ta, p->tb, wg_mat_at(in[3], 0, 0), in[0], in[1],
                          wg_mat_at(in[4], 0, 0), in[2]);
}
RECORD(gemm_real_loops) {
    CALL;
    const size_t m = in[2].rows, n = in[2].cols, k = cols_of(in[0], p->ta);
    wg_real *const r = reals(m * n);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < m; i++) {
            wg_real sum = wg_constant(0);
            for (size_t l = 0; l < k; l++)
                sum = wg_let(
                    t, wg_add(sum, wg_mul(at(in[0], p->ta, i, l), at(in[1], p->tb, l, j))));
            r[i + j * m] =
                wg_let(t, wg_add(wg_mul(wg_mat_at(in[3], 0, 0), sum),
                                 wg_mul(wg_mat_at(in[4], 0, 0), wg_mat_at(in[2], i, j))));
        }
    out[0] = collect(t, m, n, r);
}

static void factors_of_gemm_may_be_variables(void **state) {
    (void)state;
    for (int flags = 0; flags < 4; flags++) {
        const char ta = "NT"[flags & 1], tb = "NT"[flags >> 1];
        struct call p = {.ta = ta, .tb = tb};
        const struct matrix_shape in[5] = {{ta == 'N' ? 9 : 7, ta == 'N' ? 7 : 9, 0},
                                           {tb == 'N' ? 7 : 8, tb == 'N' ? 8 : 7, 0},
                                           {9, 8, 0},
                                           {1, 1, 0},
                                           {1, 1, 0}};
        matrix_case_compare("gemm_real", 5, in, 1, gemm_real_of, gemm_real_loops, &p);
    }
}

RECORD(scaled_sums) {
    CALL;
    (void)p;
    const wg_real alpha = wg_mat_at(in[2], 0, 0);
    out[0] = wg_axpy_real(t, alpha, in[0], in[1]);
    out[1] = wg_mat_scale_real(t, alpha, in[0]);
    out[2] = wg_mat_scale(t, -3, in[0]);
    out[3] = wg_axpy(t, 1.25, in[0], in[0]);
}
RECORD(scaled_sums_loops) {
    CALL;
    (void)p;
    const size_t m = in[0].rows, n = in[0].cols;
    const wg_real alpha = wg_mat_at(in[2], 0, 0);
    wg_real *const r[4] = {reals(m * n), reals(m * n), reals(m * n), reals(m * n)};
    for (size_t e = 0; e < m * n; e++) {
        const wg_real x = wg_mat_at(in[0], e % m, e / m), y = wg_mat_at(in[1], e % m, e / m);
        r[0][e] = wg_let(t, wg_add(wg_mul(alpha, x), y));
        r[1][e] = wg_let(t, wg_mul(alpha, x));
        r[2][e] = wg_let(t, wg_mul(-3, x));
        r[3][e] = wg_let(t, wg_add(wg_mul(1.25, x), x));
    }
    for (int k = 0; k < 4; k++) out[k] = collect(t, m, n, r[k]);
}

static void scaled_sums_equal_loops(void **state) {
    (void)state;
    const struct matrix_shape in[3] = {{5, 4, 0}, {5, 4, 0}, {1, 1, 0}};
    const struct matrix_shape none[3] = {{0, 4, 0}, {0, 4, 0}, {1, 1, 0}};
    matrix_case_compare("axpy and scaling", 3, in, 4, scaled_sums, scaled_sums_loops,
                        &(struct call){0});
    matrix_case_compare("axpy and scaling", 3, none, 4, scaled_sums, scaled_sums_loops,
                        &(struct call){0});
}

/* gemv, ger, outer and dot with vectors lying either way. */
RECORD(vectors) {
    CALL;
    const wg_mat a = in[0], x = in[1], y = in[2];
    out[0] = wg_gemv(t, 'n', p->alpha, a, x, p->beta, y);
    out[1] = wg_gemv(t, 'c', p->alpha, a, y, 0, y);
    out[2] = wg_ger(t, p->alpha, y, x, a);
    out[3] = wg_outer(t, x, y);
    out[4] = matrix_case_scalar(t, wg_mat_dot(t, column(x), wg_mat_transpose(column(x))));
    out[5] = matrix_case_scalar(t, wg_mat_dot(t, a, a));
}
RECORD(vectors_loops) {
    CALL;
    const wg_mat a = in[0], x = column(in[1]), y = column(in[2]);
    const size_t m = a.rows, n = a.cols;
    const struct call one = {.ta = 'N', .tb = 'N', .alpha = 1};
    const struct call nn = {.ta = 'N', .tb = 'N', .alpha = p->alpha, .beta = p->beta};
    const struct call tn = {.ta = 'T', .tb = 'N', .alpha = p->alpha};
    const struct call nt = {.ta = 'N', .tb = 'T', .alpha = p->alpha, .beta = 1};
    out[0] = product(t, &nn, a, plain_a, x, plain_b, m, 1, n, &y);
    out[1] = product(t, &tn, a, plain_a, y, plain_b, n, 1, m, NULL);
    out[2] = product(t, &nt, y, plain_a, x, plain_b, m, n, 1, &a);
    out[3] = product(t, &one, x, plain_a, wg_mat_transpose(y), plain_b, n, m, 1, NULL);
    out[4] = product(t, &one, wg_mat_transpose(x), plain_a, x, plain_b, 1, 1, n, NULL);
    wg_real sum = wg_constant(0);
    for (size_t e = 0; e < m * n; e++) {
        const wg_real q = wg_mat_at(a, e % m, e / m);
        sum = wg_let(t, wg_add(sum, wg_mul(q, q)));
    }
    out[5] = matrix_case_scalar(t, sum);
}

static void vectors_may_lie_either_way(void **state) {
    (void)state;
    struct call p = {.alpha = 0.75, .beta = -1.5};
    static const size_t size[][2] = {{4, 4}, {1, 3}, {3, 1}, {1, 1}, {37, 40}, {3, 50}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int lie = 0; lie < 4; lie++) {
            const size_t m = size[k][0], n = size[k][1];
            const struct matrix_shape in[3] = {{m, n, 0},
                                               {lie & 1 ? 1 : n, lie & 1 ? n : 1, 0},
                                               {lie & 2 ? 1 : m, lie & 2 ? m : 1, 0}};
            matrix_case_compare("vectors", 3, in, 6, vectors, vectors_loops, &p);
        }
}

RECORD(symm_of) {
    CALL;
    out[0] = wg_symm(t, p->side, p->uplo, p->alpha, in[0], in[1], p->beta, in[2]);
    out[1] = wg_symm(t, p->side, p->uplo, p->alpha, in[0], in[1], 0, in[2]);
}
RECORD(symm_loops) {
    CALL;
    const size_t m = in[1].rows, n = in[1].cols;
    const struct call q = {.ta = 'N', .tb = 'N', .alpha = p->alpha, .beta = p->beta};
    for (int k = 0; k < 2; k++)
        out[k] = p->side == 'L' ? product(t, &q, in[0], symmetric_a, in[1], plain_b, m, n, m,
                                          k ? NULL : &in[2])
                                : product(t, &q, in[1], plain_a, in[0], symmetric_a, m, n, n,
                                          k ? NULL : &in[2]);
}
RECORD(symv_of) {
    CALL;
    out[0] = wg_symv(t, p->uplo, p->alpha, in[0], in[1], p->beta, in[2]);
    out[1] = wg_symv(t, p->uplo, p->alpha, in[0], wg_mat_transpose(in[1]), 0, in[1]);
}

static void symmetric_products_equal_loops(void **state) {
    (void)state;
    static const size_t size[][2] = {{1, 1}, {4, 3}, {3, 4}, {20, 9}, {9, 20},
                                     {6, 1}, {1, 6}, {0, 2}, {2, 0}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int flags = 0; flags < 4; flags++) {
            struct call p = {
                .side = "LR"[flags & 1], .uplo = "LU"[flags >> 1], .alpha = 1.5, .beta = -0.5};
            const size_t m = size[k][0], n = size[k][1], order = p.side == 'L' ? m : n;
            const struct matrix_shape in[3] = {{order, order, 1}, {m, n, 0}, {m, n, 0}};
            matrix_case_compare("symm", 3, in, 2, symm_of, symm_loops, &p);
            if (n == 1 && p.side == 'L')
                matrix_case_compare("symv", 3, in, 2, symv_of, symm_loops, &p);
        }
}

RECORD(syrk_of) {
    CALL;
    out[0] = wg_syrk(t, p->ta, p->alpha, in[0], p->beta, in[1]);
    out[1] = wg_syrk(t, p->ta, p->alpha, in[0], 0, in[0]);
}
RECORD(syrk_loops) {
    CALL;
    const size_t n = in[1].rows, k = cols_of(in[0], p->ta);
    const struct call q = {.ta = p->ta, .tb = p->ta == 'N' ? 'T' : 'N', .alpha = p->alpha};
    out[1] = product(t, &q, in[0], plain_a, in[0], plain_b, n, n, k, NULL);
    wg_real *const r = reals(n * n);
    for (size_t e = 0; e < n * n; e++)
        r[e] = wg_let(t, wg_add(wg_mat_at(out[1], e % n, e / n),
                                wg_mul(p->beta / 2, wg_add(wg_mat_at(in[1], e % n, e / n),
                                                           wg_mat_at(in[1], e / n, e % n)))));
    out[0] = collect(t, n, n, r);
}

static void syrk_adds_the_symmetric_part(void **state) {
    (void)state;
    static const size_t size[][2] = {{1, 1},  {4, 3}, {3, 7}, {20, 9},
                                     {9, 20}, {4, 1}, {3, 0}, {0, 3}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int flags = 0; flags < 2; flags++) {
            struct call p = {.ta = "NT"[flags], .alpha = 1.5, .beta = -0.5};
            const size_t n = size[k][0], m = size[k][1];
            const struct matrix_shape in[2] = {{flags ? m : n, flags ? n : m, 0}, {n, n, 0}};
            matrix_case_compare("syrk", 2, in, 2, syrk_of, syrk_loops, &p);
        }
}

RECORD(trmm_of) {
    CALL;
    out[0] = wg_trmm(t, p->side, p->uplo, p->ta, p->diag, p->alpha, in[0], in[1]);
}
RECORD(trmm_loops) {
    CALL;
    const size_t m = in[1].rows, n = in[1].cols;
    const struct call q = {
        .ta = p->ta, .tb = 'N', .uplo = p->uplo, .diag = p->diag, .alpha = p->alpha};
    const struct call r = {
        .ta = p->ta, .tb = 'N', .uplo = p->uplo, .diag = p->diag, .alpha = p->alpha};
    if (p->side == 'L')
        out[0] = product(t, &q, in[0], triangular_a, in[1], plain_b, m, n, m, NULL);
    else out[0] = product(t, &r, in[1], plain_b, in[0], triangular_a, m, n, n, NULL);
}
RECORD(trmv_of) {
    CALL;
    out[0] = wg_trmv(t, p->uplo, p->ta, p->diag, in[0], in[1]);
}

static void triangular_products_equal_loops(void **state) {
    (void)state;
    static const size_t size[][2] = {{1, 1}, {4, 3}, {3, 4}, {0, 2}, {2, 0}, {5, 1}, {9, 12}};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int flags = 0; flags < 16; flags++) {
            struct call p = {.side = "LR"[flags & 1],
                             .uplo = "LU"[flags >> 1 & 1],
                             .ta = "NT"[flags >> 2 & 1],
                             .diag = "NU"[flags >> 3],
                             .alpha = -1.25};
            const size_t m = size[k][0], n = size[k][1], order = p.side == 'L' ? m : n;
            const struct matrix_shape in[2] = {{order, order, 0}, {m, n, 0}};
            matrix_case_compare("trmm", 2, in, 1, trmm_of, trmm_loops, &p);
            p.alpha = 1;
            if (n == 1 && p.side == 'L')
                matrix_case_compare("trmv", 2, in, 1, trmv_of, trmm_loops, &p);
        }
}

static void the_triangle_of_an_adjoint_is_right_beyond_one_block(void **state) {
    (void)state;
    for (int flags = 0; flags < 16; flags++) {
        struct call p = {.side = "LR"[flags & 1],
                         .uplo = "LU"[flags >> 1 & 1],
                         .ta = "NT"[flags >> 2 & 1],
                         .diag = "NU"[flags >> 3],
                         .alpha = 1};
        const struct matrix_shape in[2] = {{70, 70, 0},
                                           {p.side == 'L' ? 70 : 2, p.side == 'L' ? 2 : 70, 0}};
        matrix_case_compare("trmm of 70", 2, in, 1, trmm_of, trmm_loops, &p);
    }
}

RECORD(batch_of) {
    CALL;
    out[0] = wg_gemm_batch(t, p->count, p->ta, p->tb, p->alpha, in[0], in[1]);
}
RECORD(batch_loops) {
    CALL;
    const size_t ac = in[0].cols / p->count, bc = in[1].cols / p->count;
    const size_t m = p->ta == 'N' ? in[0].rows : ac, k = p->ta == 'N' ? ac : in[0].rows;
    const size_t n = p->tb == 'N' ? bc : in[1].rows;
    wg_real *const r = reals(m * n * p->count);
    for (size_t q = 0; q < p->count; q++) {
        const wg_mat y =
            product(t, p, wg_mat_block(in[0], 0, q * ac, in[0].rows, ac), plain_a,
                    wg_mat_block(in[1], 0, q * bc, in[1].rows, bc), plain_b, m, n, k, NULL);
        for (size_t e = 0; e < m * n; e++) r[q * m * n + e] = wg_mat_at(y, e % m, e / m);
    }
    out[0] = collect(t, m, n * p->count, r);
}

static void members_of_a_batch_are_multiplied_one_by_one(void **state) {
    (void)state;
    for (int flags = 0; flags < 4; flags++) {
        struct call p = {.ta = "NT"[flags & 1], .tb = "NT"[flags >> 1], .alpha = 2, .count = 3};
        const struct matrix_shape in[2] = {{p.ta == 'N' ? 4 : 2, (p.ta == 'N' ? 2 : 4) * 3, 0},
                                           {p.tb == 'N' ? 2 : 5, (p.tb == 'N' ? 5 : 2) * 3, 0}};
        matrix_case_compare("gemm_batch", 2, in, 1, batch_of, batch_loops, &p);
    }
    struct call p = {.ta = 'N', .tb = 'N', .alpha = 1, .count = 2};
    const struct matrix_shape none[2] = {{4, 0, 0}, {0, 6, 0}};
    matrix_case_compare("gemm_batch", 2, none, 1, batch_of, batch_loops, &p);
}

RECORD(forms) {
    CALL;
    (void)p;
    out[0] = matrix_case_scalar(t, wg_quadform(t, in[0], in[1]));
    out[1] = matrix_case_scalar(t, wg_trace_product(t, in[0], in[0]));
    out[2] = matrix_case_scalar(t, wg_trace(t, in[0]));
    out[3] = wg_kron(t, in[2], in[1]);
}
RECORD(forms_loops) {
    CALL;
    (void)p;
    const wg_mat a = in[0], x = column(in[1]);
    const size_t n = a.rows;
    wg_real q = wg_constant(0), square = wg_constant(0), trace_ = wg_constant(0);
    for (size_t i = 0; i < n; i++) {
        trace_ = wg_let(t, wg_add(trace_, wg_mat_at(a, i, i)));
        for (size_t j = 0; j < n; j++) {
            q = wg_let(t, wg_add(q, wg_mul(wg_mul(wg_mat_at(x, i, 0), wg_mat_at(a, i, j)),
                                           wg_mat_at(x, j, 0))));
            square = wg_let(t, wg_add(square, wg_mul(wg_mat_at(a, i, j), wg_mat_at(a, j, i))));
        }
    }
    out[0] = matrix_case_scalar(t, q), out[1] = matrix_case_scalar(t, square);
    out[2] = matrix_case_scalar(t, trace_);
    const wg_mat k = in[2], b = in[1];
    const size_t m = k.rows * b.rows, w = k.cols * b.cols;
    wg_real *const r = reals(m * w);
    for (size_t e = 0; e < m * w; e++) {
        const size_t i = e % m, j = e / m;
        r[e] = wg_let(t, wg_mul(wg_mat_at(k, i / b.rows, j / b.cols),
                                wg_mat_at(b, i % b.rows, j % b.cols)));
    }
    out[3] = collect(t, m, w, r);
}

static void forms_and_traces_equal_loops(void **state) {
    (void)state;
    static const size_t size[] = {1, 2, 5, 40};
    for (size_t k = 0; k < sizeof size / sizeof *size; k++)
        for (int lie = 0; lie < 2; lie++) {
            const size_t n = size[k];
            const struct matrix_shape in[3] = {
                {n, n, 0}, {lie ? 1 : n, lie ? n : 1, 0}, {2, 3, 0}};
            matrix_case_compare("forms", 3, in, 4, forms, forms_loops, &(struct call){0});
        }
}

RECORD(conv_of) {
    CALL;
    out[0] = wg_conv2d(t, &p->conv, in[0], in[1], p->plain ? NULL : &in[2]);
}
RECORD(conv1d_of) {
    CALL;
    const wg_conv *const s = &p->conv;
    out[0] = wg_conv1d(t, s->batch, s->filters, s->stride[0], s->pad[0], in[0], in[1],
                       p->plain ? NULL : &in[2]);
}
RECORD(conv_loops) {
    CALL;
    const wg_conv s = p->conv;
    const size_t sh = s.stride[0] + (s.stride[0] == 0), sw = s.stride[1] + (s.stride[1] == 0);
    const size_t dh = s.dilation[0] + (s.dilation[0] == 0),
                 dw = s.dilation[1] + (s.dilation[1] == 0);
    const size_t kh = s.kernel_height, kw = s.kernel_width, ch = in[0].rows;
    const size_t h = (s.height + 2 * s.pad[0] - (kh - 1) * dh - 1) / sh + 1;
    const size_t w = (s.width + 2 * s.pad[1] - (kw - 1) * dw - 1) / sw + 1;
    wg_real *const r = reals(s.filters * h * w * s.batch);
    for (size_t e = 0; e < s.filters * h * w * s.batch; e++) {
        const size_t f = e % s.filters, i = e / s.filters % h, j = e / s.filters / h % w;
        const size_t b = e / s.filters / h / w;
        wg_real sum = p->plain          ? wg_constant(0)
                      : in[2].cols == 1 ? wg_mat_at(in[2], f, 0)
                                        : wg_mat_at(in[2], 0, f);
        for (size_t q = 0; q < kh * kw; q++) {
            const size_t y = i * sh + q % kh * dh, x = j * sw + q / kh * dw;
            if (y < s.pad[0] || y >= s.pad[0] + s.height || x < s.pad[1] ||
                x >= s.pad[1] + s.width)
                continue;
            for (size_t c1 = 0; c1 < ch; c1++)
                sum = wg_let(t, wg_add(sum, wg_mul(wg_mat_at(in[1], c1, q + kh * kw * f),
                                                   wg_mat_at(in[0], c1,
                                                             y - s.pad[0] +
                                                                 s.height * (x - s.pad[1] +
                                                                             s.width * b)))));
        }
        r[e] = sum;
    }
    out[0] = collect(t, s.filters, h * w * s.batch, r);
}

static void try_conv(struct call p, size_t channels) {
    const wg_conv s = p.conv;
    const struct matrix_shape in[3] = {
        {channels, s.height * s.width * s.batch, 0},
        {channels, s.kernel_height * s.kernel_width * s.filters, 0},
        {p.count != 0 ? 1 : s.filters, p.count != 0 ? s.filters : 1, 0}};
    matrix_case_compare("conv2d", p.plain ? 2 : 3, in, 1, conv_of, conv_loops, &p);
    if (s.width == 1 && s.kernel_width == 1 && s.dilation[0] <= 1)
        matrix_case_compare("conv1d", p.plain ? 2 : 3, in, 1, conv1d_of, conv_loops, &p);
}

static void convolutions_of_any_sizes_equal_loops(void **state) {
    (void)state;
    try_conv((struct call){.conv = {2, 5, 4, 3, 2, 3, {2, 1}, {1, 1}, {1, 2}, 1}}, 2);
    try_conv((struct call){.conv = {1, 6, 7, 2, 2, 2, {1, 2}, {3, 2}, {2, 0}, 1}, .plain = 1},
             3);
    try_conv((struct call){.conv = {3, 4, 4, 2, 1, 1, {0, 0}, {0, 0}, {0, 0}, 1}, .count = 1},
             1);
    try_conv((struct call){.conv = {2, 9, 1, 3, 3, 1, {2, 1}, {1, 1}, {2, 0}, 1}}, 2);
    try_conv((struct call){.conv = {1, 3, 1, 1, 3, 1, {1, 1}, {1, 1}, {0, 0}, 1}, .plain = 1},
             1);
    try_conv((struct call){.conv = {1, 3, 3, 2, 2, 2, {1, 1}, {1, 1}, {3, 3}, 1}},
             2); /* patches outside */
}

static void a_convolution_longer_than_one_panel_equals_loops(void **state) {
    (void)state;
    try_conv(
        (struct call){.conv = {2, 300, 1, 1, 20, 1, {1, 1}, {1, 1}, {3, 0}, 1}, .plain = 1}, 4);
}

static void a_kernel_larger_than_the_image_gives_nothing(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const double one[6] = {1, 1, 1, 1, 1, 1};
    const wg_mat x = wg_mat_input(t, 1, 2, one, 1), w = wg_mat_input(t, 1, 3, one, 1);
    const wg_mat y = wg_conv1d(t, 1, 1, 1, 0, x, w, NULL);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(y.rows, 1);
    assert_int_equal(y.cols, 0);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_of_any_size_equals_loops),
        cmocka_unit_test(matmul_is_the_short_form),
        cmocka_unit_test(gemm_operands_may_be_one_matrix_or_overlap),
        cmocka_unit_test(factors_of_gemm_may_be_variables),
        cmocka_unit_test(scaled_sums_equal_loops),
        cmocka_unit_test(vectors_may_lie_either_way),
        cmocka_unit_test(symmetric_products_equal_loops),
        cmocka_unit_test(syrk_adds_the_symmetric_part),
        cmocka_unit_test(triangular_products_equal_loops),
        cmocka_unit_test(the_triangle_of_an_adjoint_is_right_beyond_one_block),
        cmocka_unit_test(members_of_a_batch_are_multiplied_one_by_one),
        cmocka_unit_test(forms_and_traces_equal_loops),
        cmocka_unit_test(convolutions_of_any_sizes_equal_loops),
        cmocka_unit_test(a_convolution_longer_than_one_panel_equals_loops),
        cmocka_unit_test(a_kernel_larger_than_the_image_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
