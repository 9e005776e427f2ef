/* SPDX-License-Identifier: MIT */
/* Functions called and mapped over points in recordings, in all modes of a tape, against the
 * same written out. */
#include "map_case.h"

/* ---- call -------------------------------------------------------------------------------- */

static void
a_call_is_one_record_and_its_gradient_that_of_the_function_written_out(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    written w;
    const double a[2] = {0.75, -0.5}, wy[2] = {0.5, -2};
    make_data();
    write_out(1, a, 3, wy, &w);
    for (int code = 0; code < 2; code++) {
        wg_tape *const t = code ? coded : tape;
        wg_tape_reset(t);
        double g[4], ga[2];
        wg_stats before, after;
        wg_mat x[INPUTS] = {wg_mat_input(t, 2, 1, a, 2), wg_mat_input(t, 2, 2, many, 2),
                            wg_mat_fill(t, 1, 1, 9), wg_mat_constant(t, 2, 1, data, 2)};
        wg_mat y[OUTPUTS];
        assert_int_equal(wg_tape_stats(t, &before), WG_OK);
        assert_int_equal(wg_call(t, k, x, y), WG_OK);
        assert_int_equal(wg_tape_stats(t, &after), WG_OK);
        assert_int_equal(after.records, before.records + 1);
        assert_int_equal(after.slots, before.slots + 3);
        assert_true(y[0].rows == 2 && y[0].cols == 1 && y[1].rows == 1 && y[1].cols == 1);
        assert_true(y[0].value[0] == w.y[0] && y[0].value[1] == w.y[1]);
        assert_true(y[1].value[0] == w.s);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(wg_adjoints_clear(t), WG_OK);
            assert_int_equal(wg_mat_adjoint_seed(t, y[0], wy, 2), WG_OK);
            assert_int_equal(wg_adjoint_seed(t, wg_mat_at(y[1], 0, 0), 3), WG_OK);
            assert_int_equal(wg_sweep(t, wg_tape_mark(t),
                                      (wg_mark){.slot = 1, .stamp = wg_tape_mark(t).stamp}),
                             WG_OK);
            assert_int_equal(wg_mat_adjoint(t, x[1], g, 2), WG_OK);
            assert_int_equal(wg_mat_adjoint(t, x[0], ga, 2), WG_OK);
            for (int i = 0; i < 4; i++) assert_close(g[i], w.x[i]);
            for (int i = 0; i < 2; i++) assert_close(ga[i], w.a[i]);
        }
    }
    /* constants only: no record, and no derivative */
    wg_mat x[INPUTS] = {wg_mat_constant(tape, 2, 1, a, 2), wg_mat_constant(tape, 2, 2, many, 2),
                        wg_mat_fill(tape, 1, 1, 9), wg_mat_constant(tape, 2, 1, data, 2)};
    wg_mat y[OUTPUTS];
    assert_int_equal(wg_call(tape, k, x, y), WG_OK);
    assert_true(y[1].at.slot == 0 && y[1].value[0] == w.s);
    wg_callable_free(k);
}

/* ---- map, in all modes ------------------------------------------------------------------- */

static void a_map_is_the_same_as_the_points_one_by_one(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    static written w;
    static double y[2 * POINTS + 1], g[4 * POINTS + 2], x[4 * POINTS + 2], seed[2 * POINTS + 1];
    make_data();
    x[0] = 0.75, x[1] = -0.5;
    memcpy(x + 2, many, sizeof many);
    for (size_t i = 0; i < 2 * POINTS; i++) seed[i] = number(5 * i);
    const size_t sizes[] = {1, 2, 7, 8, 64, 65, 600, POINTS};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int how = 0; how < 8; how++) {
            mapped m = {k, sizes[s], pool_of(how & 4 ? 2 : 0), how & 3};
            const double last = seed[2 * m.points];
            seed[2 * m.points] = 3;
            write_out(m.points, x, 3, seed, &w);
            assert_int_equal(wg_vjp(tape, map_callback, &m, 4 * m.points + 2, x,
                                    2 * m.points + 1, seed, y, g),
                             WG_OK);
            for (size_t i = 0; i < 2 * m.points; i++) assert_true(y[i] == w.y[i]);
            assert_sum(y[2 * m.points], w.s, 50);
            for (size_t i = 0; i < 4 * m.points; i++)
                assert_sum(g[2 + i], w.x[i], 10.0 / POINTS);
            assert_sum(g[0], w.a[0], 100);
            assert_sum(g[1], w.a[1], 100);
            seed[2 * m.points] = last;
        }
    wg_callable_free(k);
}

static void maps_have_tangents_lanes_and_replays(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    enum { N = 5 };
    double x[4 * N + 2], jac[2][(2 * N + 1) * (4 * N + 2)], y[2 * N + 1], v[4 * N + 2];
    make_data();
    x[0] = 0.75, x[1] = -0.5;
    memcpy(x + 2, many, 4 * N * sizeof *x);
    const size_t n = 4 * N + 2, m = 2 * N + 1;
    for (int how = 0; how < 4; how++) {
        mapped map = {k, N, NULL, how};
        wg_check found;
        if (wg_check_gradient(tape, map_callback, &map, n, x, m, &found) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        /* rows by sweeps of 8 lanes, columns by tangents */
        assert_int_equal(
            wg_jacobian(tape, map_callback, &map, n, x, m, y, WG_ROW_MAJOR, jac[0], n), WG_OK);
        for (size_t i = 0; i < n; i++) {
            double jv[2 * N + 1];
            memset(v, 0, sizeof v);
            v[i] = 1;
            assert_int_equal(wg_jvp(tape, map_callback, &map, n, x, v, m, y, jv), WG_OK);
            for (size_t j = 0; j < m; j++)
                if (fabs(jv[j] - jac[0][j * n + i]) > 16 * DBL_EPSILON * (1 + fabs(jv[j])))
                    fail_msg("%zu, %zu: %.17g and %.17g", j, i, jv[j], jac[0][j * n + i]);
        }
    }
    /* a replay at another point, against a recording there */
    mapped map = {k, N, NULL, 0};
    wg_real in_tape[4 * N + 2], result[2 * N + 1];
    wg_tape_reset(coded);
    assert_int_equal(wg_inputs(coded, n, x, in_tape), WG_OK);
    assert_int_equal(map_callback(coded, n, in_tape, m, result, &map), WG_OK);
    for (size_t i = 0; i < n; i++) x[i] = 1 - x[i];
    assert_int_equal(wg_tape_replay(coded, n, in_tape, x), WG_OK);
    assert_int_equal(wg_eval(tape, map_callback, &map, n, x, m, y), WG_OK);
    for (size_t j = 0; j < m; j++) assert_true(wg_tape_value(coded, result[j]) == y[j]);
    wg_callable_free(k);
}

/* ---- views ------------------------------------------------------------------------------- */

/* Three neighbours: a stencil. */
static wg_status stencil(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(wg_mul(x[0], x[1]), wg_mul(wg_sub(x[2], x[1]), x[0])));
    return WG_OK;
}

static wg_callable *stencil_callable(void) {
    const wg_argument a[] = {{"l", 1, 1, 0}, {"c", 1, 1, 0}, {"r", 1, 1, 0}};
    const wg_argument y = {"y", 1, 1, 0};
    const double x[3] = {1, 2, 3};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, stencil, NULL, 3, a, x, 1, &y, &f), WG_OK);
    return callable_of(f);
}

static void neighbours_are_views_that_overlap(void **state) {
    (void)state;
    enum { N = 700, ROWS = 3 };
    wg_callable *const k = stencil_callable();
    static double u[ROWS * N], g[ROWS * N], h[N];
    for (size_t i = 0; i < ROWS * N; i++) u[i] = number(i) + 2;
    /* a row of a matrix, a column of a matrix, a vector */
    for (int how = 0; how < 3; how++) {
        wg_tape_reset(tape);
        wg_stats before, after;
        const wg_mat all = how == 0   ? wg_mat_input(tape, ROWS, N, u, ROWS)
                           : how == 1 ? wg_mat_input(tape, N, ROWS, u, N)
                                      : wg_mat_input(tape, N, 1, u, N);
        const wg_mat line = how == 0 ? wg_mat_row(all, 1) : how == 1 ? wg_mat_col(all, 1) : all;
        wg_source x[3];
        for (size_t i = 0; i < 3; i++)
            x[i] = wg_from_matrix(how == 0 ? wg_mat_block(line, 0, i, 1, N - 2)
                                           : wg_mat_block(line, i, 0, N - 2, 1));
        wg_mat y;
        assert_int_equal(wg_tape_stats(tape, &before), WG_OK);
        assert_int_equal(wg_map(tape, k, N - 2, x, NULL, &y), WG_OK);
        assert_int_equal(wg_tape_stats(tape, &after), WG_OK);
        assert_int_equal(after.records, before.records + 1);
        assert_true(y.rows == 1 && y.cols == N - 2);
        assert_int_equal(wg_mat_reverse(tape, y, NULL, 1), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, line, how == 0 ? h : g, how == 0 ? 1 : N), WG_OK);
        const double *const got = how == 0 ? h : g;
        const size_t step = how == 0 ? ROWS : 1, skip = how == 0 ? 1 : how == 1 ? N : 0;
        for (size_t i = 0; i < N; i++) {
            const double *const c = u + skip + i * step;
            double w = 0;
            if (i + 2 < N) w += c[step] + (c[2 * step] - c[step]);
            if (i >= 1 && i + 1 < N) w += c[-(ptrdiff_t)step] - c[-(ptrdiff_t)step];
            if (i >= 2) w += c[-2 * (ptrdiff_t)step];
            if (fabs(got[i] - w) > 8 * DBL_EPSILON * 10) fail_msg("%zu: %g %g", i, got[i], w);
        }
    }
    /* one matrix as all of them */
    wg_tape_reset(tape);
    const wg_mat v = wg_mat_input(tape, 1, N, u, 1);
    const wg_source x[3] = {wg_from_matrix(v), wg_from_matrix(v), wg_from_matrix(v)};
    wg_mat y;
    assert_int_equal(wg_map(tape, k, N, x, NULL, &y), WG_OK);
    assert_int_equal(wg_mat_reverse(tape, y, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, v, g, 1), WG_OK);
    for (size_t i = 0; i < N; i++) assert_close(g[i], 2 * u[i]);
    wg_callable_free(k);
}

static wg_status product_of_all(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *user) {
    (void)m, (void)user;
    y[0] = wg_constant(0);
    for (size_t i = 0; i < n; i++)
        y[0] = wg_let(t, wg_add(wg_mul(y[0], 0.5), wg_mul(x[i], x[i])));
    return WG_OK;
}

static void shared_matrices_may_be_parts_of_others_and_transposed(void **state) {
    (void)state;
    const wg_argument shared = {"x", 2, 3, WG_SHARED}, each = {"x", 2, 3, 0};
    const wg_argument y = {"y", 1, 1, WG_SUMMED};
    const double at[6] = {1, 1, 1, 1, 1, 1};
    double all[20], g[20], expected[20];
    for (size_t i = 0; i < 20; i++) all[i] = number(i);
    for (int flags = 0; flags < 2; flags++) {
        wg_function *f = NULL;
        assert_int_equal(wg_function_record(coded, product_of_all, NULL, 1,
                                            flags ? &shared : &each, at, 1, &y, &f),
                         WG_OK);
        wg_callable *const k = callable_of(f);
        for (int how = 0; how < 4; how++) {
            wg_tape_reset(tape);
            const wg_mat a = wg_mat_input(tape, 5, 4, all, 5);
            const wg_mat part = how & 1 ? wg_mat_transpose(wg_mat_block(a, 1, 1, 3, 2))
                                        : wg_mat_block(a, 1, 1, 2, 3);
            wg_mat r;
            wg_real x[6];
            for (size_t i = 0; i < 6; i++) x[i] = wg_mat_at(part, i % 2, i / 2);
            const wg_source s = wg_from_matrix(part);
            assert_int_equal(how & 2 ? wg_map(tape, k, 1, &s, NULL, &r)
                                     : wg_call(tape, k, &part, &r),
                             WG_OK);
            assert_int_equal(wg_reverse(tape, wg_mat_at(r, 0, 0)), WG_OK);
            assert_int_equal(wg_mat_adjoint(tape, a, g, 5), WG_OK);
            wg_real plain;
            assert_int_equal(product_of_all(tape, 6, x, 1, &plain, NULL), WG_OK);
            assert_true(plain.value == r.value[0]);
            assert_int_equal(wg_reverse(tape, plain), WG_OK);
            assert_int_equal(wg_mat_adjoint(tape, a, expected, 5), WG_OK);
            for (size_t i = 0; i < 20; i++) assert_close(g[i], expected[i]);
        }
        wg_callable_free(k);
    }
}

/* ---- functions with operations on sums --------------------------------------------------- */

static wg_status fill_numbers(size_t first, size_t count, double *to, void *user) {
    (void)user;
    for (size_t i = 0; i < 2 * count; i++) to[i] = number(2 * first + i);
    return WG_OK;
}

static wg_function *gradient_function(void) {
    const char *const name[] = {"s"};
    wg_function *const f = mixed_function();
    wg_function *sum = NULL, *gradient = NULL;
    assert_int_equal(wg_function_select(coded, f, 1, name, &sum), WG_OK);
    assert_int_equal(wg_function_gradient(coded, sum, &gradient), WG_OK);
    wg_function_free(f), wg_function_free(sum);
    return gradient;
}

/* x: a, x; y: the gradient by a, times x[0]. */
static wg_status gradient_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                   void *user) {
    const size_t points = (n - 2) / 4;
    wg_mat r[3];
    (void)m;
    const wg_source s[] = {wg_from_matrix(wg_mat_gather(t, 2, 1, x)),
                           wg_from_matrix(wg_mat_gather(t, 4, points, x + 2)),
                           wg_from_matrix(wg_mat_fill(t, 1, points, 0)),
                           wg_from_fill(fill_numbers, NULL)};
    const wg_status status = wg_map(t, user, points, s, NULL, r);
    for (size_t i = 0; status == WG_OK && i < 2; i++) y[i] = wg_mat_at(r[0], i, 0);
    return status;
}

static void a_gradient_is_mapped_like_any_function(void **state) {
    (void)state;
    enum { MANY = 40000 };
    wg_callable *const plain = mixed_callable(), *const k = callable_of(gradient_function());
    double *const x = malloc(4 * MANY * sizeof *x), *const g = malloc(4 * MANY * sizeof *g);
    double a[2] = {0.75, -0.5}, ga[2];
    assert_true(x != NULL && g != NULL);
    for (size_t i = 0; i < 4 * MANY; i++) x[i] = number(i + 1);
    wg_mat y[3], dy[3];
    wg_tape_reset(tape);
    const wg_mat ma = wg_mat_input(tape, 2, 1, a, 2), mx = wg_mat_input(tape, 4, MANY, x, 4);
    const wg_source s[] = {wg_from_matrix(ma), wg_from_matrix(mx),
                           wg_from_matrix(wg_mat_fill(tape, 1, MANY, 0)),
                           wg_from_fill(fill_numbers, NULL)};
    assert_int_equal(wg_map(tape, plain, MANY, s, NULL, y), WG_OK);
    assert_int_equal(wg_map(tape, k, MANY, s, NULL, dy), WG_OK);
    assert_int_equal(wg_reverse(tape, wg_mat_at(y[1], 0, 0)), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, ma, ga, 2), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, mx, g, 4), WG_OK);
    for (int i = 0; i < 2; i++) assert_true(fabs(dy[0].value[i] - ga[i]) < 1e-9);
    for (size_t i = 0; i < 4 * MANY; i++) assert_true(dy[1].value[i] == g[i]);
    /* and so is its derivative */
    double few[14];
    wg_check found;
    for (size_t i = 0; i < 14; i++) few[i] = 0.5 + number(i);
    if (wg_check_gradient(tape, gradient_callback, k, 14, few, 2, &found) != WG_OK)
        fail_msg("%s", wg_tape_message(tape));
    wg_callable_free(plain), wg_callable_free(k);
    free(x), free(g);
}

/* ---- the zero rule ----------------------------------------------------------------------- */

static wg_status root(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_sqrt(x[0]), x[1]));
    return WG_OK;
}

static void adjoints_of_zero_meet_infinite_slopes(void **state) {
    (void)state;
    const wg_argument a[] = {{"x", 1, 1, 0}, {"z", 1, 1, 0}}, y = {"y", 1, 1, 0};
    const double x[3] = {4, 0, 9}, z[3] = {1, 0, 2};
    double g[3];
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, root, NULL, 2, a, (double[]){1, 2}, 1, &y, &f),
                     WG_OK);
    wg_callable *const k = callable_of(f);
    wg_tape_reset(tape);
    const wg_mat mx = wg_mat_input(tape, 1, 3, x, 1), mz = wg_mat_input(tape, 3, 1, z, 3);
    const wg_source s[] = {wg_from_matrix(mx), wg_from_matrix(mz)};
    wg_mat r;
    assert_int_equal(wg_map(tape, k, 3, s, NULL, &r), WG_OK);
    assert_int_equal(wg_mat_reverse(tape, r, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, mx, g, 1), WG_OK);
    assert_true(g[0] == 0.25 && g[1] == 0);
    assert_close(g[2], 2.0 / 6);
    wg_callable_free(k);
}

/* ---- nothing, and operands as results ---------------------------------------------------- */

static void no_points_give_empty_results_and_sums_of_zero(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    double a[2] = {1, 2}, g[2] = {7, 7};
    wg_mat y[OUTPUTS];
    wg_tape_reset(tape);
    const wg_mat ma = wg_mat_input(tape, 2, 1, a, 2);
    for (int how = 0; how < 2; how++) {
        const wg_source s[INPUTS] = {
            wg_from_matrix(ma), wg_from_matrix(wg_mat_fill(tape, 4, 0, 0)),
            wg_from_data(NULL, 0, 0),
            how ? wg_from_fill(refuse_data, NULL) : wg_from_data(NULL, 0, 0)};
        assert_int_equal(wg_map(tape, k, 0, s, NULL, y), WG_OK);
        assert_true(y[0].rows == 2 && y[0].cols == 0 && y[1].value[0] == 0);
        assert_int_equal(wg_reverse(tape, wg_mat_at(y[1], 0, 0)), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, ma, g, 2), WG_OK);
        assert_true(g[0] == 0 && g[1] == 0);
    }
    wg_callable_free(k);
}

/* x = f(x): results may stand where operands do. */
static wg_status squared(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(x[0], x[0]));
    return WG_OK;
}

static void results_may_take_the_place_of_operands(void **state) {
    (void)state;
    const wg_argument q = {"q", 1, 1, 0};
    wg_function *f = NULL;
    assert_int_equal(wg_function_record(coded, squared, NULL, 1, &q, start, 1, &q, &f), WG_OK);
    wg_callable *const k = callable_of(f);
    const double three = 3;
    double y, g;
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 1, 1, &three, 1);
    wg_mat x = a;
    assert_int_equal(wg_call(tape, k, &x, &x), WG_OK);
    wg_source s = wg_from_matrix(x);
    assert_int_equal(wg_map(tape, k, 1, &s, NULL, &s.matrix), WG_OK);
    assert_int_equal(wg_mat_value(tape, s.matrix, &y, 1), WG_OK);
    assert_int_equal(wg_mat_reverse(tape, s.matrix, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, a, &g, 1), WG_OK);
    assert_true(y == 81 && g == 4 * 27);
    /* what fails still gives failed results, and names the operand */
    x = wg_mat_fill(tape, 2, 1, 0);
    assert_int_equal(wg_call(tape, k, &x, &x), WG_ESHAPE);
    assert_non_null(strstr(wg_tape_message(tape), "2x1"));
    assert_null(x.value);
    wg_tape_reset(tape);
    s = wg_from_matrix(wg_mat_fill(tape, 2, 1, 0));
    assert_int_equal(wg_map(tape, k, 1, &s, NULL, &s.matrix), WG_ESHAPE);
    assert_null(s.matrix.value);
    assert_int_equal(wg_map(tape, k, 1, &s, NULL, &s.matrix), WG_ESHAPE); /* the tape failed */
    wg_tape_reset(tape);
    wg_callable_free(k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            a_call_is_one_record_and_its_gradient_that_of_the_function_written_out),
        cmocka_unit_test(a_map_is_the_same_as_the_points_one_by_one),
        cmocka_unit_test(results_may_take_the_place_of_operands),
        cmocka_unit_test(maps_have_tangents_lanes_and_replays),
        cmocka_unit_test(neighbours_are_views_that_overlap),
        cmocka_unit_test(shared_matrices_may_be_parts_of_others_and_transposed),
        cmocka_unit_test(a_gradient_is_mapped_like_any_function),
        cmocka_unit_test(adjoints_of_zero_meet_infinite_slopes),
        cmocka_unit_test(no_points_give_empty_results_and_sums_of_zero),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
