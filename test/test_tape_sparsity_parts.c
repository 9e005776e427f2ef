/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_parts.c - sparse derivatives through operations whose results depend on
 * rows, columns or members of a batch: as the dense drivers have them, and, where nothing but
 * those parts is read, with no entry that is 0. */
#include "sparse_case.h"

enum { N = 72, SIDE = 6 }; /* two matrices a, b of 6 by 6 */

static double x[N], other[N];

typedef wg_mat make(wg_tape *t, wg_mat a, wg_mat b);

/* ---- along lines ---- */

static wg_mat sums(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_concat_rows(
        t, 2,
        (const wg_mat[]){wg_mat_sum_axis(t, wg_mat_square(t, a), WG_EACH_COL),
                         wg_mat_transpose(wg_mat_mean_axis(t, b, WG_EACH_ROW))});
}
static wg_mat norms(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_concat_cols(
        t, 3,
        (const wg_mat[]){wg_mat_norm_entries_axis(t, wg_mat_transpose(a), 2, WG_EACH_ROW),
                         wg_mat_std_axis(t, b, 1, WG_EACH_ROW),
                         wg_mat_prod_axis(t, a, WG_EACH_ROW)});
}
static wg_mat soft(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_mat_mul(t, wg_mat_softmax(t, a, WG_EACH_ROW),
                      wg_mat_log_softmax(t, b, WG_EACH_ROW));
}
static wg_mat exponentials(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_concat_cols(
        t, 2,
        (const wg_mat[]){wg_mat_logsumexp_axis(t, wg_mat_block(a, 1, 2, 4, 3), WG_EACH_ROW),
                         wg_mat_cross_entropy_soft(t, wg_mat_block(b, 0, 0, 4, 6),
                                                   wg_mat_block(a, 2, 0, 4, 6), WG_EACH_ROW)});
}
static wg_mat running(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_mat_cumsum(t, wg_mat_mul(t, wg_mat_cumprod(t, a, WG_EACH_COL), b), WG_EACH_ROW);
}
static wg_mat normalised(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_mat_layer_norm(t, a, wg_mat_row(b, 1), wg_mat_col(b, 3), 1e-3, WG_EACH_COL);
}
static wg_mat altogether(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_mat_softmax(t, wg_mat_block(wg_mat_mul(t, a, b), 0, 0, 2, 2), WG_ALL);
}

/* ---- products ---- */

static wg_mat product(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm(t, 'N', 'N', 0.7, wg_mat_block(a, 0, 0, 4, 3), wg_mat_block(b, 2, 1, 3, 5),
                   -0.5, wg_mat_block(a, 2, 1, 4, 5));
}
static wg_mat product_t(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm(t, 'T', 'N', 0.7, wg_mat_block(a, 0, 0, 3, 4), wg_mat_block(b, 2, 1, 3, 5),
                   0.5, wg_mat_transpose(wg_mat_block(b, 1, 2, 5, 4)));
}
static wg_mat product_of_views(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm(t, 'N', 'T', 1, wg_mat_transpose(wg_mat_block(a, 0, 0, 3, 4)),
                   wg_mat_block(b, 0, 0, 5, 3), 0, a);
}
static wg_mat product_tt(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm(t, 'T', 'T', 2, wg_mat_block(a, 0, 0, 3, 4),
                   wg_mat_transpose(wg_mat_block(b, 0, 0, 3, 5)), 0, a);
}
static wg_mat squared(wg_tape *t, wg_mat a, wg_mat b) {
    (void)b;
    return wg_matmul(t, a, wg_mat_transpose(a));
}
static wg_mat by_numbers(wg_tape *t, wg_mat a, wg_mat b) {
    static const double c[6] = {1, -2, 3, 0.5, 4, -1};
    const wg_mat left = wg_mat_constant(t, 3, 2, c, 3), right = wg_mat_constant(t, 2, 3, c, 2);
    return wg_concat_rows(
        t, 2,
        (const wg_mat[]){wg_matmul(t, left, wg_mat_sin(t, wg_mat_block(a, 0, 0, 2, 3))),
                         wg_matmul(t, wg_mat_block(b, 0, 0, 4, 2), right)});
}
static wg_mat vectors(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_mat row = wg_mat_row(b, 1), col = wg_mat_col(b, 4);
    return wg_concat_cols(
        t, 3,
        (const wg_mat[]){wg_gemv(t, 'N', 2, a, row, 1, col),
                         wg_gemv(t, 'T', 1, a, col, -1, row),
                         wg_gemv(t, 'N', 1, wg_mat_transpose(a), col, 0, col)});
}
static wg_mat outers(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_concat_rows(
        t, 2,
        (const wg_mat[]){wg_outer(t, wg_mat_row(a, 0), wg_mat_col(b, 1)),
                         wg_ger(t, 3, wg_mat_col(b, 2), wg_mat_row(a, 3), b)});
}
static wg_mat products_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm_batch(t, 3, 'N', 'N', 1.5, a, wg_mat_block(b, 0, 0, 2, 6));
}
static wg_mat turned_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_gemm_batch(t, 3, 'T', 'T', 1.5, wg_mat_block(a, 0, 0, 2, 6), b);
}

/* ---- systems ---- */

static wg_mat heavy(wg_tape *t, wg_mat a, size_t n, size_t count) {
    const wg_mat shift = wg_tile(t, wg_mat_scale(t, 9, wg_mat_identity(t, n)), 1, count);
    return wg_mat_add(t, shift, wg_mat_block(a, 0, 0, n, n * count));
}
static wg_mat solved(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_solve(t, heavy(t, a, 3, 1), wg_mat_block(b, 1, 1, 3, 4));
}
static wg_mat solved_in_turn(wg_tape *t, wg_mat a, wg_mat b) {
    const wg_factor lu = wg_lu(t, heavy(t, a, 3, 1));
    return wg_factor_solve(t, lu, 'T', wg_mat_transpose(wg_mat_block(b, 1, 1, 4, 3)));
}
static wg_mat solved_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_solve_batch(t, 3, heavy(t, a, 2, 3), wg_mat_block(b, 0, 0, 2, 6));
}
static wg_mat definite_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_solve_spd_batch(t, 3, heavy(t, a, 2, 3), wg_mat_block(b, 0, 0, 2, 6));
}
static wg_mat triangles(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_concat_cols(
        t, 2,
        (const wg_mat[]){
            wg_trsm(t, 'L', 'L', 'N', 'N', 2, heavy(t, a, 3, 1), wg_mat_block(b, 0, 0, 3, 3)),
            wg_trsm(t, 'R', 'U', 'T', 'N', 1, heavy(t, a, 3, 1), wg_mat_block(b, 3, 3, 3, 3))});
}
static wg_mat triangles_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    return wg_trsm_batch(t, 2, 'L', 'U', 'T', 'U', 1, heavy(t, a, 3, 2),
                         wg_mat_block(b, 0, 0, 3, 4));
}
static wg_mat roots_side_by_side(wg_tape *t, wg_mat a, wg_mat b) {
    (void)b;
    return wg_cholesky_batch(t, 2, heavy(t, a, 3, 2));
}

enum { SHARP_JACOBIAN = 1, SHARP_HESSIAN = 2, SHARP = 3 };
#define KIND(name, results, sharp)                                                             \
    { #name, name, results, sharp }
static const struct {
    const char *name;
    make *make;
    size_t results;
    int sharp; /* entries that are not 0, and no others */
} kinds[] = {
    KIND(sums, 12, SHARP),
    KIND(norms, 18, SHARP_JACOBIAN),
    KIND(soft, 36, SHARP_JACOBIAN),
    KIND(exponentials, 8, 0),
    KIND(running, 36, 0),
    KIND(normalised, 36, 0),
    KIND(altogether, 4, SHARP_JACOBIAN),
    KIND(product, 20, SHARP),
    KIND(product_t, 20, SHARP),
    KIND(product_of_views, 20, SHARP),
    KIND(product_tt, 20, SHARP),
    KIND(squared, 36, SHARP),
    KIND(by_numbers, 21, SHARP),
    KIND(vectors, 18, SHARP),
    KIND(outers, 72, SHARP),
    KIND(products_side_by_side, 36, SHARP),
    KIND(turned_side_by_side, 36, SHARP),
    KIND(solved, 12, SHARP_JACOBIAN),
    KIND(solved_in_turn, 12, SHARP_JACOBIAN),
    KIND(solved_side_by_side, 12, SHARP_JACOBIAN),
    KIND(definite_side_by_side, 12, SHARP_JACOBIAN),
    KIND(triangles, 18, 0),
    KIND(triangles_side_by_side, 12, 0),
    KIND(roots_side_by_side, 18, 0),
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static wg_mat made(wg_tape *t, const wg_real *in, size_t kind) {
    return kinds[kind].make(t, wg_mat_gather(t, SIDE, SIDE, in),
                            wg_mat_gather(t, SIDE, SIDE, in + SIDE * SIDE));
}
static wg_status results(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    const wg_mat r = made(t, in, *(const size_t *)data);
    (void)n;
    ok(t, wg_tape_status(t));
    assert_int_equal(r.rows * r.cols, m);
    for (size_t e = 0; e < m; e++) y[e] = wg_mat_at(r, e % r.rows, e / r.rows);
    return WG_OK;
}
/* A sum with weights: what is linear stays so. */
static wg_status objective(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                           void *data) {
    const wg_mat r = made(t, in, *(const size_t *)data);
    double weight[2 * N];
    (void)n, (void)m;
    for (size_t e = 0; e < 2 * N; e++) weight[e] = 1 + 0.25 * (double)(e % 5);
    y[0] = wg_mat_dot(t, r, wg_mat_constant(t, r.rows, r.cols, weight, r.rows));
    return WG_OK;
}

static size_t entries_of(size_t cells, const double *dense) {
    size_t n = 0;
    for (size_t i = 0; i < cells; i++) n += dense[i] != 0;
    return n;
}

static int open_all(void **state) {
    for (size_t i = 0; i < N; i++) {
        x[i] = 0.4 + 0.05 * (double)(i * 7 % 36) + 0.003 * (double)i;
        other[i] = 1.3 - 0.02 * (double)(i * 5 % 36) + 0.002 * (double)i;
    }
    return open_tape(state);
}

static void jacobians_are_the_dense_ones(void **state) {
    static double dense[N * N];
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        const size_t m = kinds[kind].results;
        wg_sparsity *const s = check_jacobian(results, &kind, N, x, other, m, WG_ROW_MAJOR);
        const size_t entries = wg_sparsity_pattern(s)->entries;
        ok(tape, wg_jacobian(tape, results, &kind, N, x, m, NULL, WG_ROW_MAJOR, dense, N));
        if ((kinds[kind].sharp & SHARP_JACOBIAN) != 0 && entries != entries_of(m * N, dense))
            fail_msg("%s: %zu entries, %zu are not 0", kinds[kind].name, entries,
                     entries_of(m * N, dense));
        wg_sparsity_free(s);
    }
}

static void hessians_are_the_dense_ones(void **state) {
    static double dense[N * N];
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        wg_sparsity *const s = check_hessian(objective, &kind, N, x, other, 1, NULL, 'F',
                                             WG_COL_MAJOR, objective, &kind);
        const size_t entries = wg_sparsity_pattern(s)->entries;
        ok(tape, wg_hessian(tape, objective, &kind, N, x, NULL, NULL, dense, N));
        if ((kinds[kind].sharp & SHARP_HESSIAN) != 0 && entries != entries_of(N * N, dense))
            fail_msg("%s: %zu entries, %zu are not 0", kinds[kind].name, entries,
                     entries_of(N * N, dense));
        wg_sparsity_free(s);
    }
}

/* The same operation with other letters is another recording. */
static int turn;
static wg_status either_way(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                            void *data) {
    const wg_mat a = wg_mat_gather(t, SIDE, SIDE, in);
    const wg_mat b = wg_mat_gather(t, SIDE, SIDE, in + SIDE * SIDE);
    const wg_mat r = wg_gemm(t, turn ? 'T' : 'N', 'N', 1, a, b, 0, a);
    const wg_mat s = wg_mat_sum_axis(t, b, turn ? WG_EACH_ROW : WG_EACH_COL);
    (void)n, (void)data;
    for (size_t e = 0; e < m; e++)
        y[e] = e < SIDE ? wg_mat_at(r, e, 0)
                        : wg_mat_at(s, turn ? e - SIDE : 0, turn ? 0 : e - SIDE);
    return WG_OK;
}
static void other_letters_are_another_recording(void **state) {
    double values[2 * SIDE * N];
    wg_sparsity *s;
    (void)state;
    turn = 0;
    ok(tape, wg_jacobian_sparsity(tape, either_way, NULL, N, x, 2 * SIDE, WG_ROW_MAJOR, &s));
    ok(tape, wg_sparse_jacobian(tape, s, either_way, NULL, x, NULL, values));
    turn = 1;
    assert_int_equal(wg_sparse_jacobian(tape, s, either_way, NULL, x, NULL, values),
                     WG_EMISMATCH);
    wg_sparsity_free(s);
}

/* Batches of no columns, and lines of no elements. */
static wg_status nothing(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    const wg_mat a = wg_mat_gather(t, SIDE, SIDE, in);
    const wg_mat none = wg_mat_block(a, 0, 0, 0, SIDE), thin = wg_mat_block(a, 0, 0, SIDE, 0);
    const wg_mat r = wg_matmul(t, thin, wg_mat_transpose(thin));
    const wg_mat s = wg_mat_sum_axis(t, none, WG_EACH_COL);
    const wg_mat z = wg_gemm_batch(t, 2, 'N', 'N', 1, wg_mat_block(a, 0, 0, 0, 4),
                                   wg_mat_block(a, 0, 0, 2, 4));
    (void)n, (void)m, (void)data;
    y[0] = wg_mat_at(r, 1, 1);
    y[1] = wg_mat_at(s, 0, 2);
    y[2] = wg_let(t, wg_add(wg_mat_sum(t, z), wg_square(in[3])));
    return WG_OK;
}
static wg_status nothing_added(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                               void *data) {
    wg_real z[3];
    const wg_status s = nothing(t, n, in, m, z, data);
    *y = wg_sum(t, 3, z);
    return s;
}
static void nothing_depends_on_nothing(void **state) {
    wg_sparsity *s;
    (void)state;
    s = check_jacobian(nothing, NULL, N, x, other, 3, WG_ROW_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 1);
    wg_sparsity_free(s);
    s = check_hessian(nothing, NULL, N, x, other, 3, NULL, 'F', WG_ROW_MAJOR, nothing_added,
                      NULL);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 1);
    wg_sparsity_free(s);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_all, close_tape)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(jacobians_are_the_dense_ones),
        TEST(hessians_are_the_dense_ones),
        TEST(other_letters_are_another_recording),
        TEST(nothing_depends_on_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
