/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_blocks.c - sparse derivatives through operations on matrices: as the dense
 * drivers have them, and with as few entries as the operation allows. */
#include "sparse_case.h"

enum { N = 36, TALL = 600 };

static double x[N], other[N];
static wg_callable *cell; /* out = a sin(u) + u v, square = v^2 (summed); a is shared */
static size_t chosen[N];  /* indices for gather */
static int transposed;

static void put(wg_mat a, size_t m, wg_real *y) {
    for (size_t e = 0; e < m; e++) y[e] = wg_mat_at(a, e % a.rows, e / a.rows);
}

/* Each makes m results of a 6-by-6 matrix. */
typedef wg_mat make(wg_tape *t, wg_mat a);

static wg_mat small(wg_tape *t, wg_mat a) {
    wg_mat b = wg_mat_copy(t, wg_mat_block(a, 0, 0, 4, 4));
    b = wg_mat_div(t, wg_mat_mul(t, b, wg_mat_add(t, b, b)),
                   wg_mat_sub(t, b, wg_mat_add(t, b, b)));
    return wg_mat_div(t, b, wg_mat_add(t, b, wg_mat_mul(t, b, b)));
}
static wg_mat elements(wg_tape *t, wg_mat a) {
    return wg_mat_mul(t, wg_mat_sin(t, a), wg_mat_exp(t, wg_mat_transpose(a)));
}
static wg_mat repeated(wg_tape *t, wg_mat a) { /* a row and a column, over all */
    const wg_mat row = wg_mat_block(a, 2, 0, 1, 6), col = wg_mat_block(a, 0, 3, 6, 1);
    return wg_mat_axpby(t, 2, wg_mat_mul(t, wg_mat_sin(t, a), row), 3,
                        wg_mat_fmax(t, col, wg_mat_scale(t, 0.5, a)));
}
static wg_mat picked(wg_tape *t, wg_mat a) {
    static const double mask[36] = {1, 0, 0, 1, 1};
    const wg_mat m = wg_mat_constant(t, 6, 6, mask, 6);
    return wg_mat_select(t, m, wg_mat_square(t, a), wg_mat_transpose(a));
}
static wg_mat moved(wg_tape *t, wg_mat a) {
    wg_mat b = wg_pad(t, wg_slice(t, a, 0, 2, 3, 5, -1, 6), 1, 0, 0, 0, 3);
    const wg_mat parts[] = {wg_tril(t, b, 0), wg_flip_rows(t, b),
                            wg_gather(t, a, 4, 6, chosen)};
    b = wg_concat_rows(t, 3, parts);
    return wg_mat_square(t, wg_scatter_set(t, wg_tile(t, b, 1, 2),
                                           wg_mat_copy(t, wg_mat_row(a, 1)),
                                           (const size_t[]){7, 20, 33, 46, 59, 72}));
}
static wg_mat added(wg_tape *t, wg_mat a) {
    return wg_scatter_add(t, wg_mat_square(t, a), wg_mat_copy(t, wg_mat_row(a, 1)), chosen);
}
static wg_mat dense(wg_tape *t, wg_mat a) {
    return wg_matmul(t, wg_mat_tanh(t, a), wg_mat_transpose(wg_mat_block(a, 0, 0, 2, 6)));
}
static wg_mat lines(wg_tape *t, wg_mat a) {
    return wg_mat_cumsum(t, wg_mat_mean_axis(t, wg_mat_square(t, a), WG_EACH_COL), WG_EACH_ROW);
}
static wg_mat factored(wg_tape *t, wg_mat a) {
    const wg_mat shift = wg_mat_scale(t, 9, wg_mat_identity(t, 3));
    return wg_solve(t, wg_mat_add(t, shift, wg_mat_block(a, 0, 0, 3, 3)),
                    wg_mat_block(a, 3, 0, 3, 2));
}
static wg_mat sparse_product(wg_tape *t, wg_mat a) {
    static const size_t start[] = {0, 2, 3, 3, 6}, col[] = {0, 4, 2, 1, 3, 5};
    const wg_csr s = wg_csr_pattern(t, 4, 6, start, col);
    const wg_mat values = wg_mat_row(a, 0);
    if (transposed) return wg_spmm(t, 'T', &s, values, wg_mat_block(a, 1, 0, 4, 5));
    const wg_mat parts[] = {wg_spmm(t, 'N', &s, values, a),
                            wg_spmv(t, 'N', &s, values, wg_mat_transpose(wg_mat_row(a, 1)))};
    return wg_concat_cols(t, 2, parts);
}
static wg_mat mapped(wg_tape *t, wg_mat a) {
    wg_mat y[2];
    const wg_source in[] = {wg_from_matrix(wg_mat_block(a, 0, 0, 1, 1)),
                            wg_from_matrix(wg_mat_block(a, 0, 1, 2, 5)),
                            wg_from_matrix(wg_mat_block(a, 2, 1, 1, 5))};
    (void)wg_map(t, cell, 5, in, NULL, y);
    return wg_concat_rows(t, 2, (const wg_mat[]){y[0], wg_tile(t, y[1], 1, 5)});
}

static const struct {
    const char *name;
    make *make;
    size_t results, entries; /* of the Jacobian, where that is known to be sharp */
} kinds[] = {
    {"small", small, 16, 16},       {"elements", elements, 36, 66},
    {"repeated", repeated, 36, 96}, {"picked", picked, 36, 66},
    {"moved", moved, 144, 0},       {"added", added, 36, 42},
    {"dense", dense, 12, 0},        {"lines", lines, 6, 0},
    {"factored", factored, 6, 0},   {"sparse_product", sparse_product, 28, 0},
    {"mapped", mapped, 10, 0},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static wg_status results(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    const size_t kind = *(const size_t *)data;
    const wg_mat a = kinds[kind].make(t, wg_mat_gather(t, 6, 6, in));
    (void)n;
    if (wg_tape_status(t) == WG_OK) {
        assert_int_equal(a.rows * a.cols, kinds[kind].results);
        put(a, m, y);
    }
    return WG_OK;
}

static wg_status objective(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                           void *data) {
    const wg_mat a = kinds[*(const size_t *)data].make(t, wg_mat_gather(t, 6, 6, in));
    (void)n, (void)m;
    const wg_mat b = wg_mat_sin(t, wg_mat_scale(t, 0.1, a));
    y[0] =
        wg_let(t, wg_add(wg_mat_sum(t, b), wg_mul(0.3, wg_mat_dot(t, b, wg_mat_copy(t, b)))));
    return WG_OK;
}

static wg_status cell_function(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                               void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_add(wg_mul(in[0], wg_sin(in[1])), wg_mul(in[2], in[3])));
    y[1] = wg_let(t, wg_mul(in[3], wg_square(in[0])));
    return WG_OK;
}

static int open_all(void **state) {
    const wg_argument in[] = {{"a", 1, 1, WG_SHARED}, {"u", 2, 1, 0}, {"v", 1, 1, 0}};
    const wg_argument out[] = {{"y", 1, 1, 0}, {"s", 1, 1, WG_SUMMED}};
    (void)state;
    wg_function *f = NULL;
    for (size_t i = 0; i < N; i++) {
        x[i] = 0.4 + 0.05 * (double)(i * 7 % N);
        other[i] = 1.3 - 0.02 * (double)(i * 5 % N);
        chosen[i] = i * 11 % 24;
    }
    if (open_tape(state) != 0 ||
        wg_function_record(tape, cell_function, NULL, 3, in, x, 2, out, &f) != WG_OK ||
        wg_callable_new(tape, f, &cell) != WG_OK)
        return 1;
    wg_function_free(f);
    return 0;
}
static int close_all(void **state) {
    wg_callable_free(cell);
    return close_tape(state);
}

static void jacobians_are_the_dense_ones(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        wg_sparsity *const s =
            check_jacobian(results, &k, N, x, other, kinds[k].results, WG_ROW_MAJOR);
        const size_t entries = wg_sparsity_pattern(s)->entries;
        if (kinds[k].entries != 0 && entries != kinds[k].entries)
            fail_msg("%s: %zu entries", kinds[k].name, entries);
        wg_sparsity_free(s);
    }
}

static void hessians_are_the_dense_ones(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        wg_sparsity_free(check_hessian(objective, &k, N, x, other, 1, NULL, 'L', WG_ROW_MAJOR,
                                       objective, &k));
}

static wg_status one_small(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                           void *data) {
    const wg_mat a = wg_mat_gather(t, n / 2, 1, in), b = wg_mat_gather(t, n / 2, 1, in + n / 2);
    const char op = *(const char *)data;
    put(op == '+'   ? wg_mat_add(t, a, b)
        : op == '-' ? wg_mat_sub(t, a, b)
        : op == '*' ? wg_mat_mul(t, a, b)
                    : wg_mat_div(t, a, b),
        m, y);
    return WG_OK;
}

/* Of small matrices, which have records of their own: what the table says of the operation. */
static void small_ones_are_as_curved_as_their_rows(void **state) {
    static const struct {
        char op;
        size_t entries; /* of two elements: both triangles */
    } cases[] = {{'+', 0}, {'-', 0}, {'*', 4}, {'/', 6}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char op = cases[k].op;
        wg_sparsity *s;
        ok(tape, wg_hessian_sparsity(tape, one_small, &op, 4, x, 2, 'F', WG_ROW_MAJOR, &s));
        assert_int_equal(wg_sparsity_pattern(s)->entries, cases[k].entries);
        wg_sparsity_free(s);
    }
}

static wg_status paused(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    const wg_status s = objective(t, n, in, m, y, data);
    return s == WG_OK ? wg_tape_pause(t) : s;
}

static void a_tape_that_is_left_paused_is_named(void **state) {
    (void)state;
    size_t k = 1;
    wg_sparsity *s = NULL;
    assert_int_equal(wg_hessian_sparsity(tape, paused, &k, N, x, 1, 'U', WG_COL_MAJOR, &s),
                     WG_EMODE);
    assert_message(tape, "wg_hessian_sparsity: the function has left the tape paused");
    assert_null(s);
}

static void turned_products(wg_tape *t, const wg_real *in, size_t m, wg_real *y) {
    transposed = 1;
    put(sparse_product(t, wg_mat_gather(t, 6, 6, in)), m, y);
    transposed = 0;
}
static wg_status turned(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)data;
    turned_products(t, in, m, y);
    return WG_OK;
}

static void sparse_products_are_sharp(void **state) {
    (void)state;
    wg_sparsity *s = check_jacobian(turned, NULL, N, x, other, 30, WG_COL_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries,
                     6 * 5 * 2); /* each entry, a value and X */
    wg_sparsity_free(s);
    size_t k = 0;
    while (kinds[k].make != sparse_product) k++;
    s = check_jacobian(results, &k, N, x, other, 28, WG_COL_MAJOR);
    /* S X: 6 entries in 6 columns, a value and X each; a value that is X itself once */
    assert_int_equal(wg_sparsity_pattern(s)->entries, 6 * 7 * 2 - 2);
    wg_sparsity_free(s);
}

static void maps_are_sharp_per_point(void **state) {
    (void)state;
    size_t k = 0;
    while (kinds[k].make != mapped) k++;
    wg_sparsity *const s = check_jacobian(results, &k, N, x, other, 10, WG_COL_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 5 * 4 + 5 * 6); /* the sum: a and all v */
    wg_sparsity_free(s);
}

/* More rows than colours of columns, and the other way: both kinds of sweeps go through all
 * operations. */
static wg_status tall(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                      void *data) {
    const size_t kind = *(const size_t *)data, one = kinds[kind].results;
    wg_real first[200];
    const wg_status s = results(t, n, in, one, first, data);
    for (size_t j = 0; s == WG_OK && j < m; j++)
        y[j] = wg_let(t, wg_mul(first[j % one], wg_add(1, first[(j / one) * 3 % one])));
    return s;
}
static wg_status sums(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                      void *data) {
    const size_t kind = *(const size_t *)data, one = kinds[kind].results;
    wg_real first[200];
    const wg_status s = results(t, n, in, one, first, data);
    for (size_t j = 0; s == WG_OK && j < m; j++)
        y[j] = wg_sum(t, one / m, first + j * (one / m));
    return s;
}

static void sweeps_of_both_kinds_go_through_all(void **state) {
    (void)state;
    int forward = 0, backward = 0;
    for (size_t k = 0; k < KINDS; k++) {
        wg_sparsity *s = check_jacobian(tall, &k, N, x, other, TALL, WG_ROW_MAJOR);
        forward += s->side[0].colours != 0;
        wg_sparsity_free(s);
        s = check_jacobian(sums, &k, N, x, other, 2, WG_ROW_MAJOR);
        backward += s->side[1].colours != 0;
        wg_sparsity_free(s);
    }
    assert_true(forward == KINDS);
    assert_true(backward > KINDS / 2);
}

/* ---- operations of the user's ---- */

static wg_status same_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}
/* A cube, of every element and (params: 1) with the element above added. */
static double *at(double *p, size_t ld, size_t i, size_t j) { return &p[i + j * ld]; }
static wg_status cube_value(wg_block *b) {
    const int more = *(const int *)b->params;
    const wg_block_arg *const u = &b->in[0], *const y = &b->out[0];
    for (size_t j = 0; j < u->cols; j++)
        for (size_t i = 0; i < u->rows; i++) {
            const double a = *at(u->value, u->ld, i, j);
            *at(y->value, y->ld, i, j) =
                a * a * a + (more && i > 0 ? *at(u->value, u->ld, i - 1, j) : 0);
        }
    return WG_OK;
}
static wg_status cube_vjp(wg_block *b) {
    const int more = *(const int *)b->params;
    if (more == 2) {
        b->why = "no derivative today";
        return WG_EDEGENERATE;
    }
    const wg_block_arg *const u = &b->in[0], *const y = &b->out[0];
    for (size_t j = 0; j < u->cols; j++)
        for (size_t i = 0; i < u->rows; i++) {
            const double a = *at(u->value, u->ld, i, j), w = *at(y->bar, y->bar_ld, i, j);
            *at(u->bar, u->bar_ld, i, j) += 3 * a * a * w;
            if (more && i > 0) *at(u->bar, u->bar_ld, i - 1, j) += w;
        }
    return WG_OK;
}
static const wg_block_op each = {.name = "cube",
                                 .flags = WG_OP_EACH,
                                 .shape = same_shape,
                                 .value = cube_value,
                                 .vjp = cube_vjp};
static const wg_block_op linear = {.name = "linear cube",
                                   .flags = WG_OP_LINEAR,
                                   .shape = same_shape,
                                   .value = cube_value,
                                   .vjp = cube_vjp};

static wg_status cubes(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                       void *data) {
    const wg_mat a = wg_mat_gather(t, 6, 6, in);
    wg_mat b;
    (void)n;
    const wg_status s = wg_apply(t, &each, data, sizeof(int), 1, &a, 1, &b);
    put(b, m, y);
    return s;
}

static void flags_of_the_users_operations_count(void **state) {
    (void)state;
    int more = 0;
    wg_sparsity *const s = check_jacobian(cubes, &more, N, x, other, N, WG_ROW_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, N);
    assert_true(s->side[1].colours != 0); /* it has no jvp */
    const wg_colouring forward = {.sweeps = WG_SWEEPS_FORWARD};
    wg_sparsity *same, *part, *asked;
    ok(tape, wg_sparsity_colour(tape, s, NULL, &same));
    ok(tape,
       wg_sparsity_select(tape, same, 1, (const uint32_t[]){3}, (const uint32_t[]){3}, &part));
    ok(tape, wg_sparsity_colour(tape, s, &forward, &asked));
    assert_true(same->side[1].colours != 0 && part->side[1].colours != 0);
    assert_true(asked->side[0].colours != 0 && asked->side[1].colours == 0);
    wg_sparsity_free(asked);
    wg_sparsity_free(part);
    wg_sparsity_free(same);
    wg_sparsity_free(s);
    double values[N] = {7};
    more = 2;
    wg_sparsity *again;
    ok(tape, wg_jacobian_sparsity(tape, cubes, &more, N, x, N, WG_ROW_MAJOR, &again));
    assert_int_equal(wg_sparse_jacobian(tape, again, cubes, &more, x, NULL, values),
                     WG_EDEGENERATE);
    assert_message(tape, "cube of 6x6: no derivative today");
    assert_true(values[0] == 7);
    wg_sparsity_free(again);
    wg_tape_reset(tape);
    more = 0;
    const wg_mat a = wg_mat_input(tape, 6, 6, x, 6);
    ok(tape, wg_check_op(tape, &each, &more, sizeof more, 1, &a, 1));
    more = 1;
    assert_int_equal(wg_check_op(tape, &each, &more, sizeof more, 1, &a, 1), WG_EMISMATCH);
    assert_message(tape,
                   "wg_check_op: cube: its flags (0x10) say that results depend on fewer");
    assert_int_equal(wg_check_op(tape, &linear, &more, sizeof more, 1, &a, 1), WG_EMISMATCH);
    assert_message(tape,
                   "wg_check_op: linear cube: its flags (0x8) say that results are linear");
}

/* Two results: squares, and products with a column that is repeated. */
static wg_status pair_shape(wg_block *b) {
    b->out[0].rows = b->out[1].rows = b->in[0].rows;
    b->out[0].cols = b->out[1].cols = b->in[0].cols;
    return WG_OK;
}
static wg_status pair_value(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const y = b->out;
    for (size_t j = 0; j < u->cols; j++)
        for (size_t i = 0; i < u->rows; i++) {
            const double a = *at(u->value, u->ld, i, j);
            *at(y[0].value, y[0].ld, i, j) = a * a;
            *at(y[1].value, y[1].ld, i, j) = a * b->in[1].value[i];
        }
    return WG_OK;
}
static wg_status pair_vjp(wg_block *b) {
    const wg_block_arg *const u = &b->in[0], *const v = &b->in[1], *const y = b->out;
    for (size_t j = 0; j < u->cols; j++)
        for (size_t i = 0; i < u->rows; i++) {
            const double a = *at(u->value, u->ld, i, j), w = *at(y[1].bar, y[1].bar_ld, i, j);
            *at(u->bar, u->bar_ld, i, j) +=
                2 * a * *at(y[0].bar, y[0].bar_ld, i, j) + v->value[i] * w;
            v->bar[i] += a * w;
        }
    return WG_OK;
}
static wg_status pair_expand(wg_tape *t, const wg_block *b, const wg_real *in, wg_real *y) {
    const size_t n = b->in[0].rows * b->in[0].cols, rows = b->in[0].rows;
    for (size_t e = 0; e < n; e++) {
        y[e] = wg_let(t, wg_square(in[e]));
        y[n + e] = wg_let(t, wg_mul(in[e], in[n + e % rows]));
    }
    return WG_OK;
}
static const wg_block_op two_results = {.name = "pair",
                                        .flags = WG_OP_EACH | WG_OP_EXPANDS,
                                        .shape = pair_shape,
                                        .value = pair_value,
                                        .vjp = pair_vjp,
                                        .expand = pair_expand};

static wg_status pairs(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                       void *data) {
    const wg_mat u[] = {wg_mat_gather(t, 5, 3, in), wg_mat_gather(t, 5, 1, in + 15)};
    wg_mat b[2];
    (void)n, (void)m, (void)data;
    const wg_status s = wg_apply(t, &two_results, NULL, 0, 2, u, 2, b);
    put(b[0], 15, y), put(b[1], 15, y + 15);
    return s;
}
static wg_status sum_of_pairs(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                              void *data) {
    wg_real all[30];
    const wg_status s = pairs(t, n, in, 30, all, data);
    (void)m;
    y[0] = wg_sum(t, 30, all);
    return s;
}

static void each_of_several_results_has_its_elements(void **state) {
    (void)state;
    wg_sparsity *s = check_jacobian(pairs, NULL, 20, x, other, 30, WG_ROW_MAJOR);
    assert_int_equal(wg_sparsity_pattern(s)->entries, 30 * 2);
    wg_sparsity_free(s);
    s = check_hessian(pairs, NULL, 20, x, other, 30, NULL, 'L', WG_ROW_MAJOR, sum_of_pairs,
                      NULL);
    wg_sparsity_free(s);
}

static void other_indices_are_another_recording(void **state) {
    (void)state;
    size_t k = 0;
    while (kinds[k].make != moved) k++;
    double values[500], y[200];
    wg_sparsity *s;
    ok(tape, wg_jacobian_sparsity(tape, results, &k, N, x, kinds[k].results, WG_ROW_MAJOR, &s));
    assert_true(wg_sparsity_pattern(s)->entries < 200);
    ok(tape, wg_sparse_jacobian(tape, s, results, &k, other, y, values));
    const size_t was = chosen[5];
    chosen[5] = 35;
    assert_int_equal(wg_sparse_jacobian(tape, s, results, &k, other, y, values), WG_EMISMATCH);
    assert_message(tape, "35) of the Jacobian");
    chosen[5] = was;
    ok(tape, wg_sparse_jacobian(tape, s, results, &k, other, y, values));
    wg_sparsity_free(s);
}

static void blocks_repeat_without_allocation(void **state) {
    (void)state;
    double *const values = numbers(144 * N), y[200];
    for (size_t k = 0; k < KINDS; k++) {
        wg_sparsity *s;
        uint64_t calls = 0;
        wg_stats now;
        ok(tape,
           wg_jacobian_sparsity(tape, results, &k, N, x, kinds[k].results, WG_ROW_MAJOR, &s));
        for (int again = 0; again < 3; again++) {
            ok(tape, wg_sparse_jacobian(tape, s, results, &k, other, y, values));
            ok(tape, wg_tape_stats(tape, &now));
            if (again == 0) calls = now.memory_calls;
            assert_int_equal(now.memory_calls, calls);
        }
        wg_sparsity_free(s);
    }
    free(values);
}

int main(void) {
#define BLOCKS(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)
    const struct CMUnitTest tests[] = {
        BLOCKS(jacobians_are_the_dense_ones),
        BLOCKS(hessians_are_the_dense_ones),
        BLOCKS(sparse_products_are_sharp),
        BLOCKS(maps_are_sharp_per_point),
        BLOCKS(sweeps_of_both_kinds_go_through_all),
        BLOCKS(other_indices_are_another_recording),
        BLOCKS(blocks_repeat_without_allocation),
        BLOCKS(flags_of_the_users_operations_count),
        BLOCKS(each_of_several_results_has_its_elements),
        BLOCKS(small_ones_are_as_curved_as_their_rows),
        BLOCKS(a_tape_that_is_left_paused_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
