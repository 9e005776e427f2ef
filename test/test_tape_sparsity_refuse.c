/* SPDX-License-Identifier: MIT */
/* test_tape_sparsity_refuse.c - what a pattern is not good for, it is not used for: recordings
 * of another branch, patterns that are given, entries that are chosen, arguments that are
 * wrong, memory that is not there. */
#include "counted.h"
#include "sparse_case.h"

/* y[j] = x[j] x[j+1], or where x[0] < 0 with what `data` says: */
enum branch { SAME_ENTRIES, FEWER_ENTRIES, OTHER_ENTRIES, OTHER_OPERATION, CONSTANT };

static wg_status branching(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *data) {
    const enum branch what = *(const enum branch *)data;
    const int other = wg_lt(t, x[0], wg_constant(0));
    for (size_t j = 0; j < m; j++) {
        const wg_real a = x[j], b = x[(j + 1) % n];
        if (!other) y[j] = wg_let(t, wg_mul(a, b));
        else if (what == SAME_ENTRIES) y[j] = wg_let(t, wg_mul(wg_let(t, wg_mul(b, a)), b));
        else if (what == FEWER_ENTRIES) y[j] = wg_let(t, wg_square(a));
        else if (what == OTHER_ENTRIES) y[j] = wg_let(t, wg_mul(a, x[(j + 2) % n]));
        else if (what == OTHER_OPERATION) y[j] = wg_let(t, wg_add(a, b));
        else y[j] = wg_constant(3);
    }
    return WG_OK;
}

enum { N = 20 };
static double x[N], negative[N];

static void points(void) {
    for (size_t i = 0; i < N; i++) x[i] = negative[i] = 0.5 + 0.1 * (double)i;
    negative[0] = -1;
}

static void another_branch_is_accepted_where_it_fits(void **state) {
    (void)state;
    static double values[2 * N], dense[N * N], y[N];
    points();
    for (int k = 0; k < 5; k++) {
        enum branch what = (enum branch)k;
        wg_sparsity *s;
        ok(tape, wg_jacobian_sparsity(tape, branching, &what, N, x, N, WG_ROW_MAJOR, &s));
        assert_int_equal(wg_sparsity_pattern(s)->entries, 2 * N);
        for (int again = 0; again < 3; again++) {
            for (size_t i = 0; i < 2 * N; i++) values[i] = 7;
            const wg_status got =
                wg_sparse_jacobian(tape, s, branching, &what, negative, y, values);
            if (what == OTHER_ENTRIES) {
                assert_int_equal(got, WG_EMISMATCH);
                assert_message(tape, "wg_sparse_jacobian: ");
                assert_message(tape, "entry (0, 2) of the Jacobian");
                assert_true(values[0] == 7); /* outputs are as they were */
            } else {
                ok(tape, got);
                ok(tape, wg_jacobian(tape, branching, &what, N, negative, N, y, WG_ROW_MAJOR,
                                     dense, N));
                assert_entries(wg_sparsity_pattern(s), values, dense, 'F');
            }
            ok(tape, wg_jacobian(tape, branching, &what, N, x, N, y, WG_ROW_MAJOR, dense, N));
            ok(tape, wg_sparse_jacobian(tape, s, branching, &what, x, y, values));
            assert_entries(wg_sparsity_pattern(s), values, dense, 'F');
        }
        wg_sparsity_free(s);
    }
}

static wg_status sum_of_branches(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                                 void *data) {
    wg_real all[N];
    const wg_status s = branching(t, n, in, n, all, data);
    (void)m;
    y[0] = wg_sum(t, n, all);
    return s;
}

static void a_hessian_looks_at_the_operations_too(void **state) {
    (void)state;
    static double values[N], dense[N * N], g[N];
    points();
    for (int k = 0; k < 5; k++) {
        enum branch what = (enum branch)k;
        wg_sparsity *s;
        double y;
        /* found where the sums are (few entries), or the products */
        const int reversed = what == OTHER_OPERATION;
        const double *const first = reversed ? negative : x, *const then =
                                                                 reversed ? x : negative;
        ok(tape, wg_hessian_sparsity(tape, sum_of_branches, &what, N, first, 1, 'L',
                                     WG_COL_MAJOR, &s));
        const wg_pattern *const p = wg_sparsity_pattern(s);
        assert_int_equal(p->entries, reversed ? 0 : N);
        const wg_status got =
            wg_sparse_hessian(tape, s, sum_of_branches, &what, then, NULL, &y, g, values);
        /* b a b and a a have diagonals, a c is elsewhere, the products are not in nothing */
        if (what == CONSTANT) {
            ok(tape, got);
            for (size_t i = 0; i < p->entries; i++) assert_true(values[i] == 0);
        } else {
            assert_int_equal(got, WG_EMISMATCH);
            assert_message(tape, "wg_sparse_hessian: ");
            assert_message(tape, "of the Hessian");
        }
        ok(tape,
           wg_sparse_hessian(tape, s, sum_of_branches, &what, first, NULL, &y, g, values));
        ok(tape, wg_hessian(tape, sum_of_branches, &what, N, first, &y, g, dense, N));
        assert_entries(p, values, dense, 'L');
        wg_sparsity_free(s);
    }
}

/* Operations of the user's differ by what they are, not by where they stand. */
static wg_status by_table(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                          void *data) {
    const wg_scalar_op *const op = data;
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, op, in);
    return WG_OK;
}

static void a_hessian_tells_operations_apart(void **state) {
    (void)state;
    wg_sparsity *s;
    double values[4], y;
    const wg_scalar_op *add = NULL, *mul = NULL;
    for (size_t i = 0; i < wgi_scalar_op_count; i++) {
        if (strcmp(wgi_scalar_ops[i].name, "add") == 0) add = &wgi_scalar_ops[i];
        if (strcmp(wgi_scalar_ops[i].name, "mul") == 0) mul = &wgi_scalar_ops[i];
    }
    const double at[2] = {2, 3};
    ok(tape, wg_hessian_sparsity(tape, by_table, (void *)(uintptr_t)add, 2, at, 1, 'F',
                                 WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, 0);
    assert_int_equal(wg_sparse_hessian(tape, s, by_table, (void *)(uintptr_t)mul, at, NULL, &y,
                                       NULL, values),
                     WG_EMISMATCH);
    wg_sparsity_free(s);
    ok(tape, wg_hessian_sparsity(tape, by_table, (void *)(uintptr_t)mul, 2, at, 1, 'F',
                                 WG_ROW_MAJOR, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, 2); /* the cross pair only */
    ok(tape, wg_sparse_hessian(tape, s, by_table, (void *)(uintptr_t)add, at, NULL, &y, NULL,
                               values));
    assert_true(values[0] == 0 && values[1] == 0 && y == 5);
    wg_sparsity_free(s);
}

/* ---- patterns that are given ------------------------------------------------------------- */

static wg_status pairs(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                       void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(in[j], wg_sin(in[(j + 1) % n])));
    return WG_OK;
}
static wg_status sum_of_pairs(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                              void *data) {
    wg_real all[N];
    const wg_status s = pairs(t, n, in, n, all, data);
    (void)m;
    y[0] = wg_sum(t, n, all);
    return s;
}

/* Numbers in a statement are not part of the recording, beside an operation of the user's
 * either. */
static double scaled_value(const double *a) { return a[0] * a[0] * a[1]; }
static void scaled_first(const double *a, double v, double *d) {
    (void)v;
    d[0] = 2 * a[0] * a[1], d[1] = a[0] * a[0];
}
static double scaled_second(const double *a, double *d, double *s) {
    scaled_first(a, 0, d);
    s[0] = 2 * a[1], s[1] = 2 * a[0], s[2] = 0;
    return scaled_value(a);
}
static const wg_scalar_op scaled_ops[2] = {{.name = "scaled",
                                            .arity = 2,
                                            .value = scaled_value,
                                            .first = scaled_first,
                                            .second = scaled_second},
                                           {.name = "as scaled",
                                            .arity = 2,
                                            .value = scaled_value,
                                            .first = scaled_first,
                                            .second = scaled_second}};
struct scaled_by {
    const wg_scalar_op *op;
    double number;
};
static wg_status scaled_twice(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                              void *data) {
    const struct scaled_by *const by = data;
    const wg_real number = wg_constant(by->number);
    (void)n, (void)m;
    y[0] = wg_let(t, wg_add(wg_apply_scalar(t, by->op, (const wg_real[]){in[0], number}),
                            wg_apply_scalar(t, by->op, (const wg_real[]){number, in[1]})));
    return WG_OK;
}

static void numbers_are_no_part_of_a_recording(void **state) {
    (void)state;
    const double at[2] = {2, 3};
    double values[4], y, dense[4];
    wg_sparsity *s;
    struct scaled_by by = {&scaled_ops[0], 0.5};
    ok(tape, wg_hessian_sparsity(tape, scaled_twice, &by, 2, at, 1, 'F', WG_ROW_MAJOR, &s));
    for (int k = 0; k < 3; k++) {
        by.number += 0.25;
        by.op = &scaled_ops[k / 2];
        ok(tape, wg_sparse_hessian(tape, s, scaled_twice, &by, at, NULL, &y, NULL, values));
        ok(tape, wg_hessian(tape, scaled_twice, &by, 2, at, &y, NULL, dense, 2));
        assert_entries(wg_sparsity_pattern(s), values, dense, 'F');
        /* was the pattern of the recording found anew? */
        assert_int_equal(wgi_core_of(tape)->fits != 0, k == 2);
    }
    wg_sparsity_free(s);
}

static void a_given_pattern_is_looked_at_once(void **state) {
    (void)state;
    uint32_t row[3 * N], col[3 * N];
    static double values[3 * N], dense[N * N], y[N];
    wg_sparsity *s;
    points();
    size_t k = 0;
    for (uint32_t j = N; j-- > 0;) { /* in no order; with entries that are 0 */
        row[k] = j, col[k++] = (j + 1) % N;
        row[k] = j, col[k++] = j;
        row[k] = j, col[k++] = (j + 5) % N;
    }
    for (int layout = 0; layout < 2; layout++) {
        ok(tape,
           wg_jacobian_sparsity_of(tape, N, N, 3 * N, row, col, (wg_layout)layout, 0, &s));
        assert_in_order(wg_sparsity_pattern(s));
        assert_plan(s);
        for (int again = 0; again < 2; again++) {
            ok(tape, wg_sparse_jacobian(tape, s, pairs, NULL, x, y, values));
            ok(tape, wg_jacobian(tape, pairs, NULL, N, x, N, y, WG_ROW_MAJOR, dense, N));
            assert_entries(wg_sparsity_pattern(s), values, dense, 'F');
        }
        wg_sparsity_free(s);
    }
    /* one entry short */
    ok(tape, wg_jacobian_sparsity_of(tape, N, N, 3 * N - 2, row, col, WG_ROW_MAJOR, 0, &s));
    assert_int_equal(wg_sparse_jacobian(tape, s, pairs, NULL, x, y, values), WG_EMISMATCH);
    assert_message(tape, "entry (0, 0) of the Jacobian");
    wg_sparsity_free(s);
    /* said to be 0, and not looked at */
    ok(tape, wg_jacobian_sparsity_of(tape, N, N, 3 * N - 2, row, col, WG_ROW_MAJOR,
                                     WG_SPARSITY_TRUSTED, &s));
    ok(tape, wg_sparse_jacobian(tape, s, pairs, NULL, x, y, values));
    wg_sparsity_free(s);
}

static void a_given_hessian_is_looked_at_once(void **state) {
    (void)state;
    uint32_t row[2 * N], col[2 * N];
    static double values[2 * N], dense[N * N], g[N];
    double y;
    wg_sparsity *s;
    points();
    size_t k = 0;
    for (uint32_t j = 0; j < N; j++) {
        const uint32_t next = (j + 1) % N;
        row[k] = j > next ? j : next, col[k++] = j > next ? next : j;
        row[k] = col[k] = j, k++;
    }
    ok(tape, wg_hessian_sparsity_of(tape, N, 1, k, row, col, 'L', WG_ROW_MAJOR, 0, &s));
    assert_in_order(wg_sparsity_pattern(s));
    assert_plan(s);
    for (int again = 0; again < 2; again++) {
        ok(tape, wg_sparse_hessian(tape, s, sum_of_pairs, NULL, x, NULL, &y, g, values));
        ok(tape, wg_hessian(tape, sum_of_pairs, NULL, N, x, &y, g, dense, N));
        assert_entries(wg_sparsity_pattern(s), values, dense, 'L');
    }
    wg_sparsity_free(s);
    ok(tape, wg_hessian_sparsity_of(tape, N, 1, k, col, row, 'U', WG_ROW_MAJOR, 0, &s));
    ok(tape, wg_sparse_hessian(tape, s, sum_of_pairs, NULL, x, NULL, &y, g, values));
    assert_entries(wg_sparsity_pattern(s), values, dense, 'U');
    wg_sparsity_free(s);
    ok(tape, wg_hessian_sparsity_of(tape, N, 1, k - 1, row, col, 'L', WG_ROW_MAJOR, 0, &s));
    assert_int_equal(wg_sparse_hessian(tape, s, sum_of_pairs, NULL, x, NULL, &y, g, values),
                     WG_EMISMATCH);
    wg_sparsity_free(s);
}

static void entries_are_chosen(void **state) {
    (void)state;
    static double values[N], dense[N * N], y[N];
    wg_sparsity *all, *s, *fewer;
    points();
    uint32_t row[N], col[N];
    ok(tape, wg_jacobian_sparsity(tape, pairs, NULL, N, x, N, WG_COL_MAJOR, &all));
    ok(tape, wg_jacobian(tape, pairs, NULL, N, x, N, y, WG_ROW_MAJOR, dense, N));
    for (uint32_t i = 0; i < N; i++) row[i] = i, col[i] = (i + 1) % N;
    ok(tape, wg_sparsity_select(tape, all, N, row, col, &s));
    assert_int_equal(wg_sparsity_pattern(s)->entries, N);
    assert_plan(s);
    ok(tape, wg_sparse_jacobian(tape, s, pairs, NULL, x, y, values));
    assert_entries(wg_sparsity_pattern(s), values, dense, 0);
    /* of the chosen a few; none; one that was not among them; one twice */
    ok(tape, wg_sparsity_select(tape, s, 2, row + 3, col + 3, &fewer));
    ok(tape, wg_sparse_jacobian(tape, fewer, pairs, NULL, x, y, values));
    assert_entries(wg_sparsity_pattern(fewer), values, dense, 0);
    wg_sparsity_free(fewer);
    ok(tape, wg_sparsity_select(tape, s, 0, NULL, NULL, &fewer));
    assert_int_equal(wg_sparsity_colours(fewer), 0);
    ok(tape, wg_sparse_jacobian(tape, fewer, pairs, NULL, x, y, values));
    wg_sparsity_free(fewer);
    assert_int_equal(wg_sparsity_select(tape, s, 1, row, row, &fewer), WG_EARG);
    assert_null(fewer);
    assert_message(tape, "wg_sparsity_select: entry 0, (0, 0), is not in the pattern");
    assert_int_equal(
        wg_sparsity_select(tape, s, 2, (uint32_t[]){1, 1}, (uint32_t[]){2, 2}, &fewer),
        WG_EARG);
    assert_message(tape, "(1, 2) is there twice");
    wg_sparsity_free(s), wg_sparsity_free(all);
    /* of a Hessian: its diagonal */
    ok(tape, wg_hessian_sparsity(tape, sum_of_pairs, NULL, N, x, 1, 'U', WG_ROW_MAJOR, &all));
    ok(tape, wg_hessian(tape, sum_of_pairs, NULL, N, x, NULL, NULL, dense, N));
    ok(tape, wg_sparsity_select(tape, all, N, row, row, &s));
    assert_plan(s);
    ok(tape, wg_sparse_hessian(tape, s, sum_of_pairs, NULL, x, NULL, NULL, NULL, values));
    assert_entries(wg_sparsity_pattern(s), values, dense, 0);
    assert_int_equal(wg_sparsity_select(tape, all, 1, (uint32_t[]){1}, (uint32_t[]){0}, &fewer),
                     WG_EARG);
    assert_message(tape, "triangle 'U'");
    wg_sparsity_free(s), wg_sparsity_free(all);
}

/* Lines without a chosen entry get no colour: one column of a dense matrix takes one. */
static wg_status dense_products(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                                void *data) {
    (void)data;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(wg_squared_norm(t, n, in), in[j]));
    return WG_OK;
}

static void few_chosen_entries_take_few_colours(void **state) {
    (void)state;
    static double values[N], dense[N * N], y[N];
    wg_sparsity *all, *s;
    uint32_t row[N], col[N];
    points();
    for (uint32_t i = 0; i < N; i++) row[i] = i, col[i] = 4;
    ok(tape, wg_jacobian_sparsity(tape, dense_products, NULL, N, x, N, WG_ROW_MAJOR, &all));
    assert_int_equal(wg_sparsity_colours(all), N);
    ok(tape, wg_sparsity_select(tape, all, N, row, col, &s));
    assert_int_equal(wg_sparsity_colours(s), 1);
    ok(tape, wg_sparse_jacobian(tape, s, dense_products, NULL, x, y, values));
    ok(tape, wg_jacobian(tape, dense_products, NULL, N, x, N, y, WG_ROW_MAJOR, dense, N));
    assert_entries(wg_sparsity_pattern(s), values, dense, 0);
    wg_sparsity_free(s);
    ok(tape, wg_sparsity_select(tape, all, N, col, row, &s)); /* a row */
    assert_int_equal(wg_sparsity_colours(s), 1);
    wg_sparsity_free(s), wg_sparsity_free(all);
}

/* ---- wrong arguments --------------------------------------------------------------------- */

static wg_status says_no(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                         void *data) {
    (void)t, (void)n, (void)in, (void)m, (void)y, (void)data;
    return WG_EDEGENERATE;
}

static void mistakes_are_named(void **state) {
    (void)state;
    const uint32_t row[] = {0, 2, 1}, col[] = {0, 1, 1}, over[] = {0, 3, 1}, same[] = {0, 0, 0};
    const uint32_t one_sided[] = {1, 0, 2};
    double values[9], y[3];
    wg_sparsity *s = (wg_sparsity *)(uintptr_t)values;
    points();
#define FAILS(status, part, call)                                                              \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        assert_message(tape, part);                                                            \
        assert_int_equal(wg_tape_status(tape), status);                                        \
    } while (0)
    FAILS(WG_EARG, "wg_jacobian_sparsity: 7 is no layout",
          wg_jacobian_sparsity(tape, pairs, NULL, 3, x, 3, (wg_layout)7, &s));
    assert_null(s);
    FAILS(WG_EARG, "wg_hessian_sparsity: triangle 'X'",
          wg_hessian_sparsity(tape, sum_of_pairs, NULL, 3, x, 1, 'X', WG_ROW_MAJOR, &s));
    FAILS(WG_ENULL, "wg_jacobian_sparsity: out is NULL",
          wg_jacobian_sparsity(tape, pairs, NULL, 3, x, 3, WG_ROW_MAJOR, NULL));
    FAILS(WG_ENULL, "wg_jacobian_sparsity: x is NULL",
          wg_jacobian_sparsity(tape, pairs, NULL, 3, NULL, 3, WG_ROW_MAJOR, &s));
    FAILS(WG_ENULL, "wg_jacobian_sparsity: the function is NULL",
          wg_jacobian_sparsity(tape, NULL, NULL, 3, x, 3, WG_ROW_MAJOR, &s));
    FAILS(WG_EDEGENERATE, "wg_hessian_sparsity: the function returned",
          wg_hessian_sparsity(tape, says_no, NULL, 3, x, 3, 'L', WG_ROW_MAJOR, &s));
    FAILS(WG_ENOMEM, "wg_jacobian_sparsity_of: ",
          wg_jacobian_sparsity_of(tape, 3, (size_t)UINT32_MAX, 0, NULL, NULL, WG_ROW_MAJOR, 0,
                                  &s));
    FAILS(WG_EARG, "flags 0x6",
          wg_jacobian_sparsity_of(tape, 3, 3, 3, row, col, WG_ROW_MAJOR, 6, &s));
    FAILS(WG_ENULL, "of 3 entries are NULL",
          wg_jacobian_sparsity_of(tape, 3, 3, 3, NULL, col, WG_ROW_MAJOR, 0, &s));
    FAILS(WG_ENULL, "of 3 entries are NULL",
          wg_hessian_sparsity_of(tape, 3, 3, 3, row, NULL, 'F', WG_ROW_MAJOR, 0, &s));
    FAILS(WG_EARG, "entry 1, (3, 1), of a 3-by-3 matrix",
          wg_jacobian_sparsity_of(tape, 3, 3, 3, over, col, WG_ROW_MAJOR, 0, &s));
    FAILS(WG_EARG, "entry 1, (2, 3), of a 3-by-3 matrix",
          wg_jacobian_sparsity_of(tape, 3, 3, 3, row, over, WG_ROW_MAJOR, 0, &s));
    FAILS(WG_EARG, "wg_jacobian_sparsity_of: entry (0, 0) is there twice",
          wg_jacobian_sparsity_of(tape, 3, 3, 3, same, same, WG_ROW_MAJOR, 0, &s));
    FAILS(WG_EARG, "is not in triangle 'U'",
          wg_hessian_sparsity_of(tape, 3, 3, 3, row, col, 'U', WG_ROW_MAJOR, 0, &s));
    FAILS(WG_EARG, "entry (0, 1) is there, (1, 0) is not",
          wg_hessian_sparsity_of(tape, 3, 3, 2, same, one_sided, 'F', WG_ROW_MAJOR, 0, &s));
    assert_null(s);
    FAILS(WG_ENULL, "wg_sparsity_select: s is NULL",
          wg_sparsity_select(tape, NULL, 0, NULL, NULL, &s));
    FAILS(WG_ENULL, "wg_sparse_jacobian: s is NULL",
          wg_sparse_jacobian(tape, NULL, pairs, NULL, x, y, values));
    ok(tape, wg_jacobian_sparsity(tape, pairs, NULL, 3, x, 3, WG_ROW_MAJOR, &s));
    FAILS(WG_EARG, "wg_sparse_hessian: the pattern is one of a Jacobian",
          wg_sparse_hessian(tape, s, pairs, NULL, x, NULL, y, NULL, values));
    FAILS(WG_ENULL, "wg_sparse_jacobian: x is NULL",
          wg_sparse_jacobian(tape, s, pairs, NULL, NULL, y, values));
    FAILS(WG_EDEGENERATE, "wg_sparse_jacobian: the function returned",
          wg_sparse_jacobian(tape, s, says_no, NULL, x, y, values));
    /* outputs that are not wanted */
    y[0] = 9;
    ok(tape, wg_sparse_jacobian(tape, s, pairs, NULL, x, y, NULL));
    assert_true(y[0] == x[0] * sin(x[1]));
    ok(tape, wg_sparse_jacobian(tape, s, pairs, NULL, x, NULL, NULL));
    wg_sparsity_free(s);
    ok(tape, wg_hessian_sparsity(tape, pairs, NULL, 3, x, 3, 'L', WG_ROW_MAJOR, &s));
    FAILS(WG_EARG, "wg_sparse_jacobian: the pattern is one of a Hessian",
          wg_sparse_jacobian(tape, s, pairs, NULL, x, y, values));
    double g[3], jac[9];
    const double w[] = {2, -1, 0.5};
    ok(tape, wg_sparse_hessian(tape, s, pairs, NULL, x, w, y, g, NULL));
    ok(tape, wg_jacobian(tape, pairs, NULL, 3, x, 3, y, WG_ROW_MAJOR, jac, 3));
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(g[i] - (2 * jac[i] - jac[3 + i] + 0.5 * jac[6 + i])) <=
                    TOL_PROGRAM_ULP * DBL_EPSILON);
    ok(tape, wg_sparse_hessian(tape, s, pairs, NULL, x, NULL, NULL, NULL, NULL));
    /* a tape without code */
    wg_tape *const plain = wg_tape_new(NULL);
    assert_int_equal(wg_sparse_hessian(plain, s, pairs, NULL, x, NULL, y, NULL, values),
                     WG_EMODE);
    assert_message(plain, "wg_sparse_hessian: the tape was not opened with WG_KEEP_CODE");
    ok(plain, wg_sparse_hessian(plain, s, pairs, NULL, x, w, y, g, NULL));
    wg_sparsity_free(s);
    assert_int_equal(wg_hessian_sparsity(plain, pairs, NULL, 3, x, 3, 'L', WG_ROW_MAJOR, &s),
                     WG_EMODE);
    wg_tape_free(plain);
    assert_null(wg_sparsity_pattern(NULL));
    assert_int_equal(wg_sparsity_colours(NULL), 0);
    wg_sparsity_free(NULL);
}

/* A variable that a rewind has forgotten, and is used all the same. */
static wg_status forgetful(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                           void *data) {
    const int forget = *(const int *)data;
    const wg_mark mark = wg_tape_mark(t);
    wg_real v = in[0];
    for (int k = 0; k < 1000 && forget; k++) v = wg_let(t, wg_mul(in[0], in[1]));
    const wg_status s = wg_tape_rewind(t, mark);
    (void)n;
    for (size_t j = 0; j < m; j++) y[j] = wg_let(t, wg_mul(v, in[j]));
    return s;
}

static void forgotten_variables_are_found(void **state) {
    (void)state;
    wg_sparsity *s;
    double y[3], values[9];
    int forget = 1;
    wg_tape *const plain = wg_tape_new(NULL);
    points();
    assert_int_equal(wg_jacobian_sparsity(plain, forgetful, &forget, 3, x, 3, WG_ROW_MAJOR, &s),
                     WG_ESTALE);
    assert_int_equal(
        wg_hessian_sparsity(tape, forgetful, &forget, 3, x, 3, 'L', WG_ROW_MAJOR, &s),
        WG_ESTALE);
    assert_message(tape, "which a rewind had forgotten");
    forget = 0;
    for (int layout = 0; layout < 2; layout++) {
        ok(plain,
           wg_jacobian_sparsity(plain, forgetful, &forget, 3, x, 3, (wg_layout)layout, &s));
        ok(plain, wg_sparse_jacobian(plain, s, forgetful, &forget, x, y, values));
        forget = 1;
        assert_int_equal(wg_sparse_jacobian(plain, s, forgetful, &forget, x, y, values),
                         WG_ESTALE);
        forget = 0;
        wg_sparsity_free(s);
    }
    wg_tape_free(plain);
}

/* ---- outputs ----------------------------------------------------------------------------- */

/* Constants, inputs themselves, one twice, one never written, inputs without use. */
static wg_status odd_outputs(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                             void *data) {
    (void)n, (void)m, (void)data;
    y[0] = in[2];
    y[1] = wg_constant(4);
    y[2] = y[3] = wg_let(t, wg_mul(in[0], in[2]));
    y[5] = in[2];
    return WG_OK;
}
static wg_status nothing_written(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                                 void *data) {
    (void)t, (void)n, (void)in, (void)m, (void)y, (void)data;
    return WG_OK;
}

static void outputs_may_be_anything(void **state) {
    (void)state;
    wg_sparsity *s;
    double y[6], values[6];
    const double at[4] = {2, 3, 5, 7};
    for (int layout = 0; layout < 2; layout++) {
        ok(tape,
           wg_jacobian_sparsity(tape, odd_outputs, NULL, 4, at, 6, (wg_layout)layout, &s));
        const wg_pattern *const p = wg_sparsity_pattern(s);
        assert_int_equal(p->entries, 6);
        ok(tape, wg_sparse_jacobian(tape, s, odd_outputs, NULL, at, y, values));
        for (size_t k = 0; k < 6; k++)
            assert_true(values[k] == (p->row[k] == 0 || p->row[k] == 5 ? 1
                                      : p->col[k] == 0                 ? 5
                                                                       : 2));
        assert_true(y[0] == 5 && y[1] == 4 && y[2] == 10 && y[3] == 10 && y[4] != y[4]);
        /* where they are not written any more, their derivatives are NaN */
        ok(tape, wg_sparse_jacobian(tape, s, nothing_written, NULL, at, y, values));
        for (size_t k = 0; k < 6; k++) assert_true(values[k] != values[k]);
        wg_sparsity_free(s);
    }
}

/* ---- memory ------------------------------------------------------------------------------ */

static wg_status many(wg_tape *t, size_t n, const wg_real *in, size_t m, wg_real *y,
                      void *data) {
    wg_real sum = wg_constant(0);
    (void)data;
    for (size_t j = 0; j < m; j++) {
        sum = wg_let(t, wg_add(sum, wg_mul(in[j % n], in[(j + 1) % n])));
        y[j] = j % 10 == 0 ? sum : wg_let(t, wg_mul(in[j % n], wg_sin(in[(j * 7) % n])));
    }
    return WG_OK;
}

enum { INPUTS = 300, OUTPUTS = 300, MOST = 40000 };

/* Everything once; the first failure. */
static wg_status everything(wg_tape *t, const double *in, double *values) {
    uint32_t row[OUTPUTS], col[OUTPUTS];
    wg_sparsity *j = NULL, *h = NULL, *k = NULL, *c = NULL;
    static double y[OUTPUTS], g[INPUTS];
    for (uint32_t i = 0; i < OUTPUTS; i++) row[i] = col[i] = i;
    wg_status s = wg_jacobian_sparsity(t, many, NULL, INPUTS, in, OUTPUTS, WG_COL_MAJOR, &j);
    if (s == WG_OK) s = wg_sparse_jacobian(t, j, many, NULL, in, y, values);
    if (s == WG_OK)
        s = wg_hessian_sparsity(t, many, NULL, INPUTS, in, OUTPUTS, 'L', WG_ROW_MAJOR, &h);
    if (s == WG_OK) s = wg_sparse_hessian(t, h, many, NULL, in, NULL, y, g, values);
    if (s == WG_OK)
        s = wg_jacobian_sparsity_of(t, INPUTS, OUTPUTS, OUTPUTS, row, col, WG_ROW_MAJOR,
                                    WG_SPARSITY_TRUSTED, &k);
    if (s == WG_OK) s = wg_sparsity_select(t, k, OUTPUTS / 2, row, col, &c);
    assert_true(s == WG_OK || c == NULL);
    wg_sparsity_free(j), wg_sparsity_free(h), wg_sparsity_free(k), wg_sparsity_free(c);
    return s;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static double in[INPUTS], values[MOST];
    struct counted m = counted_start();
    wg_options opt = {.memory = counted_memory(&m), .flags = WG_KEEP_CODE, .reserve = 1 << 20};
    for (size_t i = 0; i < INPUTS; i++) in[i] = 0.2 + 0.001 * (double)i;
    int done = 0;
    for (size_t k = 0; !done; k++)
        for (int on = 0; on < 2; on++) {
            m.fail_at = SIZE_MAX;
            wg_tape *const t = wg_tape_new(&opt);
            assert_non_null(t);
            m.asked = m.refused = 0;
            m.fail_at = k, m.fail_on = on; /* a range that is refused is asked for smaller */
            const wg_status s = everything(t, in, values);
            done = m.refused == 0;
            if (done || (on == 0 && s == WG_OK)) ok(t, s);
            else {
                assert_int_equal(s, WG_ENOMEM);
                assert_true(strlen(wg_tape_message(t)) > 10);
            }
            m.fail_at = SIZE_MAX;
            ok(t, everything(t, in, values)); /* as good as before */
            wg_tape_free(t);
            assert_int_equal(m.ranges, 0);
            assert_int_equal(m.wrong, 0);
            assert_true(k < 500);
        }
}

static void a_budget_is_kept(void **state) {
    (void)state;
    static double in[INPUTS], values[MOST];
    for (size_t i = 0; i < INPUTS; i++) in[i] = 0.2 + 0.001 * (double)i;
    int fits = 0;
    for (size_t budget = 1 << 16; !fits; budget += budget / 8) {
        wg_options opt = {.flags = WG_KEEP_CODE, .budget = budget};
        wg_tape *const t = wg_tape_new(&opt);
        const wg_status s = everything(t, in, values);
        fits = s == WG_OK;
        if (!fits) assert_int_equal(s, WG_EBUDGET);
        wg_tape_free(t);
        assert_true(budget < 1 << 26);
    }
    /* and a buffer to live in */
    static _Alignas(64) char room[1 << 23];
    wg_options opt = {.flags = WG_KEEP_CODE, .buffer = room, .buffer_bytes = sizeof room};
    wg_tape *const t = wg_tape_new(&opt);
    ok(t, everything(t, in, values));
    ok(t, everything(t, in, values));
    wg_tape_free(t);
}

static uint64_t memory_calls(const wg_tape *t) {
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    return s.memory_calls;
}

static void repeated_use_obtains_no_memory(void **state) {
    (void)state;
    static double in[INPUTS], values[MOST], y[OUTPUTS], g[INPUTS];
    wg_sparsity *j, *h;
    uint64_t calls = 0;
    for (size_t i = 0; i < INPUTS; i++) in[i] = 0.2 + 0.001 * (double)i;
    ok(tape, wg_jacobian_sparsity(tape, many, NULL, INPUTS, in, OUTPUTS, WG_ROW_MAJOR, &j));
    ok(tape, wg_hessian_sparsity(tape, many, NULL, INPUTS, in, OUTPUTS, 'L', WG_ROW_MAJOR, &h));
    for (int k = 0; k < 4; k++) {
        ok(tape, wg_sparse_jacobian(tape, j, many, NULL, in, y, values));
        ok(tape, wg_sparse_hessian(tape, h, many, NULL, in, NULL, y, g, values));
        if (k == 0) calls = memory_calls(tape);
        else assert_int_equal(memory_calls(tape), calls);
        for (size_t i = 0; i < INPUTS; i++) in[i] *= 0.97;
    }
    /* and on another tape than it was found on */
    wg_tape *const other = wg_tape_new(NULL);
    ok(other, wg_sparse_jacobian(other, j, many, NULL, in, y, values));
    wg_tape_free(other);
    wg_sparsity_free(j), wg_sparsity_free(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(another_branch_is_accepted_where_it_fits),
        TEST(a_hessian_looks_at_the_operations_too),
        TEST(a_hessian_tells_operations_apart),
        TEST(numbers_are_no_part_of_a_recording),
        TEST(a_given_pattern_is_looked_at_once),
        TEST(a_given_hessian_is_looked_at_once),
        TEST(entries_are_chosen),
        TEST(few_chosen_entries_take_few_colours),
        TEST(mistakes_are_named),
        TEST(forgotten_variables_are_found),
        TEST(outputs_may_be_anything),
        TEST(every_allocation_may_fail),
        TEST(a_budget_is_kept),
        TEST(repeated_use_obtains_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
