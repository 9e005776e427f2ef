/* SPDX-License-Identifier: MIT */
/* test_ops_sparse_logdet.c - log-determinants of sparse matrices: beside that of the same
 * matrix with all its zeros, in derivatives of all orders, and what is refused. */
#include "derived_case.h"

/* The negative Laplacian of a grid SIDE by SIDE, a and b being entries of each edge, which need
 * not be alike, and more on the diagonal: the factor fills in. Values: those of the edges
 * and of the points. */
enum { SIDE = 5, POINTS = SIDE * SIDE, MOST = 5 * POINTS };

typedef struct grid {
    size_t start[POINTS + 1], col[MOST], row[MOST], nnz;
} grid;

static void grid_of(grid *g) {
    g->nnz = 0;
    for (size_t p = 0; p < POINTS; p++) {
        const size_t i = p % SIDE, j = p / SIDE;
        g->start[p] = g->nnz;
        const size_t near[] = {p, i > 0 ? p - 1 : p, i + 1 < SIDE ? p + 1 : p,
                               j > 0 ? p - SIDE : p, j + 1 < SIDE ? p + SIDE : p};
        for (size_t k = 0; k < 5; k++) {
            if (k != 0 && near[k] == p) continue;
            g->row[g->nnz] = p, g->col[g->nnz++] = near[k];
        }
    }
    g->start[POINTS] = g->nnz;
}

static wg_mat values_of(wg_tape *t, const grid *g, wg_mat x) {
    double more[MOST];
    for (size_t e = 0; e < g->nnz; e++) more[e] = g->row[e] == g->col[e] ? 6 : -1;
    return wg_mat_add(t, x, wg_mat_constant(t, g->nnz, 1, more, g->nnz));
}

static wg_real sparse(wg_tape *t, const grid *g, wg_mat x) {
    const wg_csr s = wg_csr_pattern(t, POINTS, POINTS, g->start, g->col);
    return wg_sparse_spd_logdet(t, &s, values_of(t, g, x));
}
static wg_real dense(wg_tape *t, const grid *g, wg_mat x) {
    static size_t at[MOST];
    for (size_t e = 0; e < g->nnz; e++) at[e] = g->row[e] + g->col[e] * POINTS;
    const wg_mat s =
        wg_scatter_add(t, wg_mat_fill(t, POINTS * POINTS, 1, 0), values_of(t, g, x), at);
    const wg_mat square = wg_mat_reshape(t, s, POINTS, POINTS);
    return wg_logdet_spd(t, wg_mat_axpby(t, 0.5, square, 0.5, wg_mat_transpose(square)));
}

typedef struct which {
    grid g;
    int dense;
} which;
static wg_status both(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const which *const w = data;
    (void)m;
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    const wg_real l = (w->dense ? dense : sparse)(t, &w->g, a);
    y[0] = wg_let(t, wg_add(wg_mul(l, l), wg_mul(3, l)));
    return wg_tape_status(t);
}

/* A library without SuiteSparse refuses it. */
static int is_there(void) {
    const size_t start[] = {0, 1}, col[] = {0};
    wg_tape *const t = derived_tape();
    const wg_csr s = wg_csr_pattern(t, 1, 1, start, col);
    (void)wg_sparse_spd_logdet(t, &s, wg_mat_fill(t, 1, 1, 2));
    const wg_status status = wg_tape_status(t);
    if (status != WG_OK) assert_int_equal(status, WG_EMODE);
    wg_tape_free(t);
    return status == WG_OK;
}
#define NEEDS_IT                                                                               \
    (void)state;                                                                               \
    if (!is_there()) skip()

static void derivatives_are_those_of_the_matrix_with_its_zeros(void **state) {
    NEEDS_IT;
    static which w[2];
    static double x[MOST], v[MOST], g[2][MOST], hv[2][MOST];
    double value[2], slope[2];
    uint64_t seed = 21;
    wg_tape *const t = derived_tape();
    for (int k = 0; k < 2; k++) grid_of(&w[k].g), w[k].dense = k;
    const size_t n = w[0].g.nnz;
    for (size_t i = 0; i < n; i++) x[i] = 0.4 * walk_number(&seed), v[i] = walk_number(&seed);
    for (int k = 0; k < 2; k++) {
        derived_must(t, "gradient", wg_hvp(t, both, &w[k], n, x, v, &value[k], g[k], hv[k]));
        derived_must(t, "tangent", wg_jvp(t, both, &w[k], n, x, v, 1, &value[k], &slope[k]));
    }
    derived_near("logdet", "value", 1, &value[0], &value[1], NULL, fabs(value[1]));
    derived_near("logdet", "tangent", 1, &slope[0], &slope[1], NULL, fabs(slope[1]));
    derived_near("logdet", "gradient", n, g[0], g[1], NULL, derived_largest(n, g[1]));
    derived_near("logdet", "Hessian along v", n, hv[0], hv[1], NULL, derived_largest(n, hv[1]));
    wg_tape_free(t);
}

/* An entry named twice, one that is not there transposed. */
static void of_few(wg_tape *t, const wg_mat *in, derived_sum *s) {
    static const size_t start[] = {0, 3, 5, 7, 9}, col[] = {0, 2, 3, 1, 3, 0, 2, 3, 1};
    const double more[] = {4, 0, 0, 2, 0, 0, 4, 4, 0};
    const wg_csr p = wg_csr_pattern(t, 4, 4, start, col);
    derived_number(s, wg_sparse_spd_logdet(
                          t, &p, wg_mat_add(t, in[0], wg_mat_constant(t, 9, 1, more, 9))));
}

static void derivatives_of_all_orders_agree(void **state) {
    NEEDS_IT;
    const derived_case c = {"sparse_spd_logdet", of_few, {9}, {1}, {0}};
    derived_check(&c);
}

static void what_is_wrong_is_named(void **state) {
    NEEDS_IT;
    static const size_t start[] = {0, 2, 4}, col[] = {0, 1, 0, 1};
    const double indefinite[] = {1, 2, 2, 1}, good[] = {2, 1, 1, 2};
    wg_tape *const t = derived_tape();
    wg_csr s = wg_csr_pattern(t, 2, 2, start, col);
    const wg_mark at = wg_tape_mark(t);
    assert_true(
        isnan(wg_value(wg_sparse_spd_logdet(t, &s, wg_mat_input(t, 4, 1, indefinite, 4)))));
    assert_int_equal(wg_tape_status(t), WG_ESINGULAR);
    assert_non_null(strstr(wg_tape_message(t), "wg_sparse_spd_logdet of 4x1"));
    assert_int_equal(wg_tape_rewind(t, at), WG_OK);
    (void)wg_sparse_spd_logdet(t, &s, wg_mat_input(t, 2, 2, good, 2));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_int_equal(wg_tape_rewind(t, at), WG_OK);
    const wg_csr wide = wg_csr_pattern(t, 1, 2, start, col);
    (void)wg_sparse_spd_logdet(t, &wide, wg_mat_input(t, 2, 1, good, 2));
    assert_int_equal(wg_tape_status(t), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(t), "not square"));
    wg_tape_reset(t);
    (void)wg_sparse_spd_logdet(t, &s, wg_mat_input(t, 4, 1, good, 4));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_reset(t);
    const size_t none[] = {0};
    s = wg_csr_pattern(t, 0, 0, none, NULL);
    const wg_mat empty = wg_mat_input(t, 0, 1, good, 1);
    assert_true(wg_value(wg_sparse_spd_logdet(t, &s, empty)) == 0);
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_are_those_of_the_matrix_with_its_zeros),
        cmocka_unit_test(derivatives_of_all_orders_agree),
        cmocka_unit_test(what_is_wrong_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
