/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_colour.c - colourings of known and of random patterns: how many colours,
 * whether each entry can be read, and the values, which are known without a derivative. */
#include "sparse_case.h"

#include <time.h>

/* ---- patterns as coordinates ---- */

enum { MOST = 6000 };
static size_t count;
static uint32_t rows_of[MOST], cols_of[MOST];
static unsigned char there[256][256];

static void clear(void) {
    count = 0;
    memset(there, 0, sizeof there);
}
static void put(size_t i, size_t j) {
    if (there[i][j]) return;
    assert_true(count < MOST);
    there[i][j] = 1;
    rows_of[count] = (uint32_t)i;
    cols_of[count++] = (uint32_t)j;
}

static uint64_t state_of_random;
static size_t any_of(size_t n) {
    state_of_random =
        state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(state_of_random >> 33) % n;
}

/* y_i = sum of (1 + (i + 2 j) % 7) sin(x_j) over the entries of row i. */
static double factor(size_t i, size_t j) { return 1 + (double)((i + 2 * j) % 7); }
static wg_status by_entries(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    wg_real s[256];
    (void)data;
    for (size_t j = 0; j < n; j++) s[j] = wg_let(t, wg_sin(x[j]));
    for (size_t i = 0; i < m; i++) y[i] = wg_constant(0);
    for (size_t k = 0; k < count; k++) {
        wg_real *const to = &y[rows_of[k]];
        *to = wg_let(t, wg_add(*to, wg_mul(factor(rows_of[k], cols_of[k]), s[cols_of[k]])));
    }
    return WG_OK;
}

/* The pattern of these entries, its plan and its values checked. */
static wg_sparsity *checked(size_t m, size_t n, wg_layout layout) {
    static double values[MOST];
    double x[256];
    wg_sparsity *s;
    for (size_t j = 0; j < n; j++) x[j] = 0.1 + 0.01 * (double)j;
    ok(tape, wg_jacobian_sparsity_of(tape, n, m, count, rows_of, cols_of, layout, 0, &s));
    assert_in_order(wg_sparsity_pattern(s));
    assert_plan(s);
    ok(tape, wg_sparse_jacobian(tape, s, by_entries, NULL, x, NULL, values));
    const wg_pattern *const p = wg_sparsity_pattern(s);
    for (size_t k = 0; k < p->entries; k++) {
        const double expected = factor(p->row[k], p->col[k]) * cos(x[p->col[k]]);
        if (!close_ulp(values[k], expected, TOL_DERIVATIVE_ULP))
            fail_msg("(%u, %u) is %.17g, not %.17g", p->row[k], p->col[k], values[k], expected);
    }
    return s;
}

/* ---- both directions ---- */

static void arrows_take_three_colours(void **state) {
    (void)state;
    for (size_t n = 20; n <= 200; n += 60)
        for (int turned = 0; turned < 2; turned++) {
            clear();
            for (size_t i = 0; i < n; i++) {
                put(i, i);
                put(turned ? n - 1 : 0, i);
                put(i, turned ? n - 1 : 0);
            }
            wg_sparsity *const s = checked(n, n, turned ? WG_COL_MAJOR : WG_ROW_MAJOR);
            assert_int_equal(wg_sparsity_colours(s), 3);
            assert_true(s->side[0].colours > 0 && s->side[1].colours > 0);
            wg_sparsity_free(s);
        }
}

static void few_dense_lines_do_not_make_a_pattern_dense(void **state) {
    enum { N = 120, ROWS = 3, COLS = 2 };
    (void)state;
    clear();
    for (size_t i = 0; i < N; i++) {
        for (size_t d = 0; d < 3; d++)
            if (i + d < N) put(i + d, i), put(i, i + d);
        for (size_t k = 0; k < ROWS; k++) put(17 * k + 5, i);
        for (size_t k = 0; k < COLS; k++) put(i, 41 * k + 2);
    }
    wg_sparsity *s = checked(N, N, WG_ROW_MAJOR);
    /* a band of 5, dense columns and rows */
    assert_true(wg_sparsity_colours(s) <= 5 + ROWS + COLS + 2);
    wg_sparsity_free(s);
    /* one direction does where it is as good */
    clear();
    for (size_t i = 0; i < N; i++) put(i, i), put(7, i);
    s = checked(N, N, WG_ROW_MAJOR);
    assert_true(wg_sparsity_colours(s) == 2 && s->side[0].colours == 0);
    wg_sparsity_free(s);
}

static void random_patterns_are_read_whole_whatever_their_directions(void **state) {
    size_t both = 0;
    (void)state;
    state_of_random = 11;
    for (int round = 0; round < 150; round++) {
        const size_t m = 1 + any_of(90), n = 1 + any_of(90), loose = any_of(3 * (m + n));
        const size_t dense_rows = any_of(4), dense_cols = any_of(4);
        clear();
        for (size_t k = 0; k < loose && count < MOST / 4; k++) put(any_of(m), any_of(n));
        for (size_t k = 0; k < dense_rows; k++) {
            const size_t i = any_of(m);
            for (size_t j = 0; j < n; j++)
                if (any_of(8) != 0) put(i, j);
        }
        for (size_t k = 0; k < dense_cols; k++) {
            const size_t j = any_of(n);
            for (size_t i = 0; i < m; i++)
                if (any_of(8) != 0) put(i, j);
        }
        wg_sparsity *const s = checked(m, n, round % 2 ? WG_ROW_MAJOR : WG_COL_MAJOR);
        both += s->side[0].colours > 0 && s->side[1].colours > 0;
        /* some of its entries */
        uint32_t row[MOST], col[MOST];
        size_t chosen = 0;
        for (size_t k = 0; k < count; k++)
            if (any_of(3) == 0) row[chosen] = rows_of[k], col[chosen++] = cols_of[k];
        wg_sparsity *fewer;
        ok(tape, wg_sparsity_select(tape, s, chosen, row, col, &fewer));
        assert_plan(fewer);
        assert_true(wgi_sparsity_sweeps(fewer) <= wgi_sparsity_sweeps(s));
        both += fewer->side[0].colours > 0 && fewer->side[1].colours > 0;
        wg_sparsity_free(fewer);
        wg_sparsity_free(s);
    }
    assert_true(both > 20);
}

/* ---- orders ---- */

/* The colours of the same entries in another way, checked. */
static size_t colours_by(const wg_sparsity *s, wg_order order, wg_sweeps sweeps) {
    const wg_colouring o = {.order = order, .sweeps = sweeps};
    wg_sparsity *other;
    ok(tape, wg_sparsity_colour(tape, s, &o, &other));
    const wg_pattern *const p = wg_sparsity_pattern(s), *const q = wg_sparsity_pattern(other);
    assert_plan(other);
    assert_int_equal(p->entries, q->entries);
    assert_memory_equal(p->row, q->row, p->entries * sizeof *p->row);
    assert_memory_equal(p->col, q->col, p->entries * sizeof *p->col);
    if (!other->hessian && sweeps != WG_SWEEPS_AUTO && p->entries != 0)
        assert_true(other->side[sweeps == WG_SWEEPS_BACKWARD].colours > 0 &&
                    other->side[sweeps != WG_SWEEPS_BACKWARD].colours == 0);
    const size_t colours = wg_sparsity_colours(other);
    wg_sparsity_free(other);
    return colours;
}

static void every_order_gives_a_plan(void **state) {
    (void)state;
    state_of_random = 5;
    for (int round = 0; round < 60; round++) {
        const size_t m = 1 + any_of(60), n = 1 + any_of(60), entries = any_of(4 * (m + n));
        wg_sparsity *s;
        clear();
        for (size_t k = 0; k < entries; k++) put(any_of(m), any_of(n));
        s = checked(m, n, WG_ROW_MAJOR);
        for (int order = 0; order < WG_ORDER_COUNT; order++)
            for (int sweeps = 0; sweeps < WG_SWEEPS_COUNT; sweeps++)
                (void)colours_by(s, (wg_order)order, (wg_sweeps)sweeps);
        wg_sparsity_free(s);
        clear();
        for (size_t k = 0; k < entries; k++) {
            const size_t i = any_of(n), j = any_of(n);
            put(i > j ? i : j, i > j ? j : i);
        }
        ok(tape, wg_hessian_sparsity_of(tape, n, 1, count, rows_of, cols_of, 'L', WG_COL_MAJOR,
                                        WG_SPARSITY_TRUSTED, &s));
        for (int order = 0; order < WG_ORDER_COUNT; order++)
            (void)colours_by(s, (wg_order)order, WG_SWEEPS_AUTO);
        wg_sparsity_free(s);
    }
}

/* A crown: column i meets all columns j with another number mod N. In the order 0, N, 1, N + 1,
 * ... colouring takes N colours, with all of one half first 2. Each pair that meets has a
 * row. */
static void orders_matter_where_the_natural_one_is_bad(void **state) {
    enum { N = 8 };
    size_t row = 0;
    (void)state;
    clear();
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            if (i != j) put(row, 2 * i), put(row++, 2 * j + 1);
    wg_sparsity *const s = checked(row, 2 * N, WG_ROW_MAJOR);
    assert_int_equal(colours_by(s, WG_ORDER_NATURAL, WG_SWEEPS_FORWARD), N);
    assert_int_equal(colours_by(s, WG_ORDER_INCIDENCE_DEGREE, WG_SWEEPS_FORWARD), 2);
    wg_sparsity_free(s);
}

/* A grid with the five-point stencil takes 5 colours at least, a band of 2 k + 1 as many. */
static void grids_and_bands_take_few_colours(void **state) {
    enum { SIDE = 12 };
    (void)state;
    clear();
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            const size_t k = i * SIDE + j;
            put(k, k);
            if (i > 0) put(k, k - SIDE);
            if (i + 1 < SIDE) put(k, k + SIDE);
            if (j > 0) put(k, k - 1);
            if (j + 1 < SIDE) put(k, k + 1);
        }
    wg_sparsity *s = checked(SIDE * SIDE, SIDE * SIDE, WG_ROW_MAJOR);
    assert_true(wg_sparsity_colours(s) <= 8);
    for (int order = WG_ORDER_NATURAL; order < WG_ORDER_COUNT; order++)
        assert_true(colours_by(s, (wg_order)order, WG_SWEEPS_FORWARD) <= 10);
    wg_sparsity_free(s);
    clear();
    for (size_t i = 0; i < 200; i++)
        for (size_t j = i; j <= i + 3 && j < 200; j++) put(i, j), put(j, i);
    s = checked(200, 200, WG_COL_MAJOR);
    assert_int_equal(wg_sparsity_colours(s), 7);
    wg_sparsity_free(s);
}

/* ---- substitution ---- */

/* sum of factor(i, j) sin(x_i) x_j over the entries, i >= j: its Hessian is known. */
static wg_status curved(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    wg_real sum = wg_constant(0);
    for (size_t k = 0; k < count; k++)
        sum = wg_let(t, wg_add(sum, wg_mul(factor(rows_of[k], cols_of[k]),
                                           wg_mul(wg_sin(x[rows_of[k]]), x[cols_of[k]]))));
    y[0] = sum;
    return WG_OK;
}
static void hessian_of_curved(size_t n, const double *x, double *h) {
    memset(h, 0, n * n * sizeof *h);
    for (size_t k = 0; k < count; k++) {
        const size_t i = rows_of[k], j = cols_of[k];
        const double f = factor(i, j);
        h[i * n + i] -= f * sin(x[i]) * x[j];
        h[i * n + j] += f * cos(x[i]);
        h[j * n + i] += f * cos(x[i]);
    }
}

/* The Hessian by substitution, in all orders, in a triangle or whole; gives the fewest
 * colours. */
static size_t check_substitution(size_t n, char triangle) {
    static double values[MOST], dense[256 * 256];
    double x[256], y;
    size_t fewest = SIZE_MAX;
    wg_sparsity *s, *other;
    for (size_t j = 0; j < n; j++) x[j] = 0.4 + 0.01 * (double)(j % 9);
    hessian_of_curved(n, x, dense);
    ok(tape, wg_hessian_sparsity(tape, curved, NULL, n, x, 1, triangle, WG_ROW_MAJOR, &s));
    for (int order = 0; order < WG_ORDER_COUNT; order++) {
        const wg_colouring o = {.order = (wg_order)order, .substitution = 1};
        ok(tape, wg_sparsity_colour(tape, s, &o, &other));
        assert_in_order(wg_sparsity_pattern(other));
        assert_plan(other);
        ok(tape, wg_sparse_hessian(tape, other, curved, NULL, x, NULL, &y, NULL, values));
        assert_entries(wg_sparsity_pattern(other), values, dense, triangle);
        if (wg_sparsity_colours(other) < fewest) fewest = wg_sparsity_colours(other);
        wg_sparsity_free(other);
    }
    wg_sparsity_free(s);
    return fewest;
}

static void hessians_by_substitution_are_the_dense_ones(void **state) {
    (void)state;
    state_of_random = 3;
    for (int round = 0; round < 40; round++) {
        const size_t n = 1 + any_of(50), entries = any_of(3 * n);
        clear();
        for (size_t k = 0; k < entries; k++) {
            const size_t i = any_of(n), j = any_of(n);
            put(i > j ? i : j, i > j ? j : i);
        }
        (void)check_substitution(n, "LUF"[round % 3]);
    }
    clear(); /* a path, a band, a star, a grid */
    for (size_t i = 0; i + 1 < 100; i++) put(i + 1, i);
    assert_int_equal(check_substitution(100, 'L'), 2);
    clear();
    for (size_t i = 0; i < 100; i++)
        for (size_t j = i; j <= i + 4 && j < 100; j++) put(j, i);
    assert_int_equal(check_substitution(100, 'L'), 5);
    clear();
    for (size_t i = 0; i < 100; i++) put(i, 0), put(i, i);
    assert_int_equal(check_substitution(100, 'U'), 2);
    clear();
    for (size_t i = 0; i < 12; i++)
        for (size_t j = 0; j < 12; j++) {
            if (i > 0) put(12 * i + j, 12 * (i - 1) + j);
            if (j > 0) put(12 * i + j, 12 * i + j - 1);
        }
    assert_true(check_substitution(144, 'F') <= 4);
}

/* Looking at all neighbours of the first variable from each of the others took more than a
 * minute. */
static void a_variable_that_meets_all_others_is_not_looked_around_from_each(void **state) {
    enum { N = 100000 };
    const wg_colouring o = {.substitution = 1};
    uint32_t *const row = malloc(2 * N * sizeof *row), *const col = calloc(2 * N, sizeof *col);
    wg_sparsity *given, *s;
    (void)state;
    assert_true(row != NULL && col != NULL);
    for (uint32_t i = 0; i < N; i++) row[i] = i, row[N + i] = i, col[N + i] = i;
    ok(tape, wg_hessian_sparsity_of(tape, N, 1, 2 * N - 1, row + 1, col + 1, 'L', WG_ROW_MAJOR,
                                    0, &given));
    const clock_t start = clock();
    ok(tape, wg_sparsity_colour(tape, given, &o, &s));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 10);
    assert_int_equal(wg_sparsity_colours(s), 2);
    wg_sparsity_free(s);
    wg_sparsity_free(given);
    free(row);
    free(col);
}

static void mistakes_are_refused(void **state) {
    const wg_colouring wrong[] = {{.order = WG_ORDER_COUNT}, {.sweeps = WG_SWEEPS_COUNT}};
    wg_sparsity *s, *out;
    (void)state;
    clear();
    put(0, 0);
    ok(tape, wg_jacobian_sparsity_of(tape, 1, 1, 1, rows_of, cols_of, WG_ROW_MAJOR, 0, &s));
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wg_sparsity_colour(tape, s, &wrong[k], &out), WG_EARG);
        assert_message(tape, "wg_sparsity_colour: order");
        assert_null(out);
    }
    assert_int_equal(wg_sparsity_colour(tape, NULL, NULL, &out), WG_ENULL);
    assert_int_equal(wg_sparsity_colour(tape, s, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_sparsity_colour(NULL, s, NULL, &out), WG_ENULL);
    wg_sparsity_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_order_gives_a_plan),
        TEST(orders_matter_where_the_natural_one_is_bad),
        TEST(grids_and_bands_take_few_colours),
        TEST(hessians_by_substitution_are_the_dense_ones),
        TEST(a_variable_that_meets_all_others_is_not_looked_around_from_each),
        TEST(mistakes_are_refused),
        TEST(arrows_take_three_colours),
        TEST(few_dense_lines_do_not_make_a_pattern_dense),
        TEST(random_patterns_are_read_whole_whatever_their_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
