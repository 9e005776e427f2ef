/* SPDX-License-Identifier: MIT */
/* Functions called in recordings, and mapped over points: against the same written out. */
#include "counted.h"
#include "driver_cases.h"
#include "pools.h"

#include <math.h>

/* ---- the functions ----------------------------------------------------------------------- */

enum { POINTS = 1300 };

/* a (2x1, shared), x (2x2 at each point), d (data): y (2x1) and the sum s. */
static const wg_argument in[] = {
    {"a", 2, 1, WG_SHARED}, {"x", 2, 2, 0}, {"unused", 1, 1, 0}, {"d", 2, 1, WG_PASSIVE}};
static const wg_argument out[] = {{"y", 2, 1, 0}, {"s", 1, 1, WG_SUMMED}};
enum { INPUTS = 4, OUTPUTS = 2, ENTRIES = 9 };

static void mixed(wg_tape *t, const wg_real *a, const wg_real *x, const wg_real *d, wg_real *y,
                  wg_real *s) {
    const wg_real u = wg_let(t, wg_add(wg_mul(a[0], x[0]), wg_mul(x[3], d[0])));
    y[0] = wg_let(t, wg_div(wg_mul(u, x[1]), wg_add(wg_sqrt(wg_mul(a[1], a[1])), 2)));
    y[1] = wg_let(t, wg_sub(wg_mul(x[2], x[2]), wg_mul(u, d[1])));
    *s = wg_let(t, wg_mul(wg_sub(y[0], d[0]), y[1]));
}

static wg_status mixed_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                void *data) {
    (void)n, (void)m, (void)data;
    mixed(t, x, x + 2, x + 7, y, y + 2);
    return WG_OK;
}

static const double start[ENTRIES] = {0.5, 1.5, 0.25, 1, 2, -1, 0, 0.75, 1.25};

static wg_function *mixed_function(void) {
    wg_function *f = NULL;
    assert_int_equal(
        wg_function_record(coded, mixed_callback, NULL, INPUTS, in, start, OUTPUTS, out, &f),
        WG_OK);
    return f;
}

static wg_callable *callable_of(wg_function *f) {
    wg_callable *k = NULL;
    if (wg_callable_new(coded, f, &k) != WG_OK) fail_msg("%s", wg_tape_message(coded));
    wg_function_free(f); /* it has a copy */
    return k;
}

static wg_callable *mixed_callable(void) { return callable_of(mixed_function()); }

static double number(size_t i) { return 0.1 * (double)(i % 23) - 1 + 0.013 * (double)(i % 7); }

static double many[4 * POINTS], data[2 * POINTS];

static void make_data(void) {
    for (size_t i = 0; i < 4 * POINTS; i++) many[i] = number(i);
    for (size_t i = 0; i < 2 * POINTS; i++) data[i] = number(3 * i + 1);
}

static wg_status fill_data(size_t first, size_t count, double *to, void *user) {
    if (user != NULL) ++*(size_t *)user;
    for (size_t i = 0; i < 2 * count; i++) to[i] = data[2 * first + i];
    return WG_OK;
}

static wg_status refuse_data(size_t first, size_t count, double *to, void *user) {
    (void)user;
    memset(to, 0, 2 * count * sizeof *to);
    return first > 0 ? WG_ECONVERGE : WG_OK;
}

/* ---- the same written out ---------------------------------------------------------------- */

typedef struct written {
    double s, y[2 * POINTS], a[2], x[4 * POINTS];
} written;

/* Adjoints of ws s + sum wy y. */
static void write_out(size_t points, const double *a, double ws, const double *wy, written *w) {
    static wg_real x[4 * POINTS], y[2 * POINTS + 1];
    static double seed[2 * POINTS + 1];
    wg_real p[2], sum = wg_constant(0);
    wg_tape_reset(tape);
    assert_int_equal(wg_inputs(tape, 2, a, p), WG_OK);
    assert_int_equal(wg_inputs(tape, 4 * points, many, x), WG_OK);
    for (size_t i = 0; i < points; i++) {
        const wg_real d[2] = {wg_constant(data[2 * i]), wg_constant(data[2 * i + 1])};
        wg_real s;
        mixed(tape, p, x + 4 * i, d, y + 2 * i, &s);
        sum = wg_let(tape, wg_add(sum, s));
    }
    y[2 * points] = sum;
    for (size_t i = 0; i < 2 * points; i++) {
        w->y[i] = y[i].value;
        seed[i] = wy[i];
    }
    seed[2 * points] = ws;
    w->s = sum.value;
    assert_int_equal(wg_reverse_seeds(tape, 2 * points + 1, y, seed), WG_OK);
    assert_int_equal(wg_adjoints(tape, 2, p, w->a), WG_OK);
    assert_int_equal(wg_adjoints(tape, 4 * points, x, w->x), WG_OK);
}

/* Sums of many terms, in another order. */
static void assert_sum(double got, double expected, double size) {
    if (!(fabs(got - expected) <= TOL_ORDER_ULP * DBL_EPSILON * size * POINTS))
        fail_msg("got %.17g, expected %.17g", got, expected);
}

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

typedef struct mapped {
    const wg_callable *k;
    size_t points;
    wg_threads *threads;
    int how; /* how x and d are given */
} mapped;

/* y: all results. */
static wg_status map_callback(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    const mapped *const k = user;
    const wg_mat a = wg_mat_gather(t, 2, 1, x);
    wg_mat each = wg_mat_gather(t, 4, k->points, x + 2), r[OUTPUTS];
    (void)n;
    if (k->how & 1) { /* the same numbers, one row per point */
        each = wg_mat_gather(t, 4, k->points, x + 2);
        wg_real *const turned = wg_tape_keep(t, 4 * k->points * sizeof *turned, NULL);
        if (turned == NULL) return wg_tape_status(t);
        for (size_t p = 0; p < k->points; p++)
            for (size_t e = 0; e < 4; e++) turned[p + e * k->points] = x[2 + 4 * p + e];
        each = wg_mat_transpose(wg_mat_gather(t, k->points, 4, turned));
    }
    const wg_source s[INPUTS] = {wg_from_matrix(a), wg_from_matrix(each),
                                 wg_from_matrix(wg_mat_fill(t, k->points, 1, 0)),
                                 k->how & 2 ? wg_from_fill(fill_data, NULL)
                                            : wg_from_data(data, 2, 1)};
    const wg_status status = wg_map(t, k->k, k->points, s, k->threads, r);
    if (status != WG_OK) return status;
    for (size_t j = 0; j < 2 * k->points && j < m; j++) y[j] = wg_mat_at(r[0], j % 2, j / 2);
    if (m > 2 * k->points) y[2 * k->points] = wg_mat_at(r[1], 0, 0);
    return WG_OK;
}

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

/* ---- guards ------------------------------------------------------------------------------ */

static wg_status branches(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_lt(t, x[0], wg_constant(-100)) ? wg_constant(0) : wg_let(t, wg_mul(x[0], x[1]));
    if (wg_gt(t, x[1], wg_constant(0))) y[0] = wg_let(t, wg_add(y[0], x[1]));
    return WG_OK;
}

static void a_guard_that_comes_out_differently_is_named_with_its_point(void **state) {
    (void)state;
    enum { N = 900 };
    const wg_argument a[] = {{"x", 1, 1, 0}, {"z", 1, 1, 0}}, y = {"y", 1, 1, 0};
    static double x[N], z[N];
    wg_function *f = NULL;
    for (int i = 0; i < N; i++) x[i] = i, z[i] = 1;
    assert_int_equal(
        wg_function_record(coded, branches, NULL, 2, a, (double[]){1, 2}, 1, &y, &f), WG_OK);
    wg_callable *const k = callable_of(f);
    wg_tape_reset(tape);
    const wg_mat mx = wg_mat_input(tape, 1, N, x, 1);
    const wg_real twice = wg_let(tape, wg_mul(wg_mat_at(mx, 0, 3), 2));
    const wg_mark before = wg_tape_mark(tape);
    for (int way = 0; way < 2; way++) {
        wg_mat r;
        z[777] = -1;
        const wg_mat mz = wg_mat_input(tape, 1, N, z, 1);
        const wg_source s[] = {wg_from_matrix(mx), wg_from_matrix(mz)};
        const wg_mat one[] = {wg_mat_block(mx, 0, 777, 1, 1), wg_mat_block(mz, 0, 777, 1, 1)};
        assert_int_equal(way ? wg_call(tape, k, one, &r) : wg_map(tape, k, N, s, NULL, &r),
                         WG_EGUARD);
        assert_true(r.value == NULL);
        assert_message(tape, way ? "wg_call" : "wg_map");
        assert_message(tape, "guard 1");
        if (!way) assert_message(tape, "point 777");
        assert_int_equal(wg_tape_status(tape), WG_EGUARD);
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
        /* as good as before */
        z[777] = 1;
        const wg_source again[] = {wg_from_matrix(mx),
                                   wg_from_matrix(wg_mat_input(tape, 1, N, z, 1))};
        assert_int_equal(wg_map(tape, k, N, again, NULL, &r), WG_OK);
        assert_int_equal(wg_reverse(tape, wg_let(tape, wg_mul(wg_mat_at(r, 0, 3), twice))),
                         WG_OK);
        assert_true(wg_adjoint(tape, wg_mat_at(mx, 0, 3)) == 6 + 2 * 4);
        assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
    }
    wg_callable_free(k);
}

/* ---- written out ------------------------------------------------------------------------- */

enum { WRITTEN = 3, WRITTEN_IN = 4 * WRITTEN + 2 };

/* One number of everything that a map gives. */
static wg_status one_number(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    wg_real r[2 * WRITTEN + 1];
    (void)m;
    const wg_status s = map_callback(t, n, x, 2 * WRITTEN + 1, r, user);
    y[0] = r[2 * WRITTEN];
    for (size_t i = 0; i < 2 * WRITTEN; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(r[i], wg_mul(r[i], x[0]))));
    return s;
}
static wg_status one_number_plain(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                  void *user) {
    wg_real r[2 * WRITTEN], sum = wg_constant(0), s;
    (void)n, (void)m, (void)user;
    for (size_t i = 0; i < WRITTEN; i++) {
        const wg_real d[2] = {wg_constant(data[2 * i]), wg_constant(data[2 * i + 1])};
        mixed(t, x, x + 2 + 4 * i, d, r + 2 * i, &s);
        sum = wg_let(t, wg_add(sum, s));
    }
    y[0] = sum;
    for (size_t i = 0; i < 2 * WRITTEN; i++)
        y[0] = wg_let(t, wg_add(y[0], wg_mul(r[i], wg_mul(r[i], x[0]))));
    return WG_OK;
}

static void recordings_with_maps_are_functions(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    double x[WRITTEN_IN], y[2], g[2][WRITTEN_IN];
    make_data();
    for (size_t i = 0; i < WRITTEN_IN; i++) x[i] = 0.5 + number(i + 3);
    const wg_argument a = {"x", WRITTEN_IN, 1, 0}, r = {"y", 1, 1, 0};
    for (int how = 0; how < 4; how++) {
        mapped m = {k, WRITTEN, NULL, how};
        for (int which = 0; which < 2; which++) {
            wg_function *f = NULL, *h = NULL;
            if (wg_function_record(coded, which ? one_number_plain : one_number, &m, 1, &a, x,
                                   1, &r, &f) != WG_OK)
                fail_msg("%s", wg_tape_message(coded));
            assert_int_equal(wg_function_gradient(coded, f, &h), WG_OK);
            static _Alignas(64) char work[1 << 20];
            assert_true(wg_function_work(f, NULL) <= sizeof work);
            assert_true(wg_function_work(h, NULL) <= sizeof work);
            const wg_points in_points = {x, 0, 1};
            const wg_results value = {&y[which], 0, 1}, gradient = {g[which], 0, 1};
            assert_int_equal(wg_function_evaluate(f, 1, &in_points, &value, NULL, work, NULL),
                             WG_OK);
            assert_int_equal(
                wg_function_evaluate(h, 1, &in_points, &gradient, NULL, work, NULL), WG_OK);
            wg_function_free(f), wg_function_free(h);
        }
        assert_close(y[0], y[1]);
        for (size_t i = 0; i < WRITTEN_IN; i++) assert_sum(g[0][i], g[1][i], 0.1);
    }
    wg_callable_free(k);
}

static wg_status guarded_call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *user) {
    wg_mat r;
    const wg_mat in_call[2] = {wg_mat_gather(t, 1, 1, x), wg_mat_gather(t, 1, 1, x + 1)};
    (void)n, (void)m;
    const wg_status s = wg_call(t, user, in_call, &r);
    y[0] = wg_mat_at(r, 0, 0);
    return s;
}

static void guards_inside_are_guards_of_the_recording(void **state) {
    (void)state;
    const wg_argument a[] = {{"x", 1, 1, 0}, {"z", 1, 1, 0}}, y = {"y", 1, 1, 0};
    const double x[2] = {1, 2}, other[2] = {1, -2};
    double got = 0;
    wg_function *f = NULL, *g = NULL;
    assert_int_equal(wg_function_record(coded, branches, NULL, 2, a, x, 1, &y, &f), WG_OK);
    wg_callable *const k = callable_of(f);
    assert_int_equal(wg_function_record(coded, guarded_call, k, 2, a, x, 1, &y, &g), WG_OK);
    static _Alignas(64) char work[1 << 20];
    wg_function_guard guard;
    const wg_points good[2] = {{x, 0, 1}, {x + 1, 0, 1}};
    const wg_points bad[2] = {{other, 0, 1}, {other + 1, 0, 1}};
    const wg_results to = {&got, 0, 1};
    assert_true(wg_function_work(g, NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(g, 1, good, &to, NULL, work, &guard), WG_OK);
    assert_true(got == 4);
    assert_int_equal(wg_function_evaluate(g, 1, bad, &to, NULL, work, &guard), WG_EGUARD);
    assert_int_equal(guard.guard, 1);
    wg_function_free(g);
    wg_callable_free(k);
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

/* ---- nothing, and too much --------------------------------------------------------------- */

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

static void refusals_name_the_call_the_argument_and_both_shapes(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    wg_callable *none = NULL;
    wg_mat y[OUTPUTS];
    static const double numbers[40];
#define REFUSED(expected, part, ...)                                                           \
    do {                                                                                       \
        wg_tape_reset(tape);                                                                   \
        const wg_mat a = wg_mat_input(tape, 2, 1, numbers, 2);                                 \
        const wg_mat x = wg_mat_input(tape, 4, 5, numbers, 4);                                 \
        const wg_mat u = wg_mat_fill(tape, 1, 5, 0), d = wg_mat_fill(tape, 2, 5, 0);           \
        wg_source s[INPUTS] = {wg_from_matrix(a), wg_from_matrix(x), wg_from_matrix(u),        \
                               wg_from_matrix(d)};                                             \
        (void)s;                                                                               \
        assert_int_equal((__VA_ARGS__), expected);                                             \
        assert_message(tape, part);                                                            \
        assert_true(y[0].value == NULL && y[1].value == NULL);                                 \
    } while (0)
    REFUSED(WG_OK, "", (wg_map(tape, k, 5, s, NULL, y), y[0].value = y[1].value = NULL, WG_OK));
    REFUSED(WG_ESHAPE, "wg_map: input 1 (x) is 4x5, not 4x6", wg_map(tape, k, 6, s, NULL, y));
    REFUSED(WG_ESHAPE, "wg_map: input 0 (a) is 4x5, not 2x1",
            (s[0] = s[1], wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ESHAPE, "wg_call: input 1 (x) is 4x5, not 2x2",
            wg_call(tape, k, (wg_mat[]){a, x, u, d}, y));
    REFUSED(WG_ENULL, "wg_map: the data of input 3 (d) are NULL",
            (s[3] = wg_from_data(NULL, 1, 1), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ENULL, "wg_map: the callback of input 3 (d) is NULL",
            (s[3] = wg_from_fill(NULL, NULL), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_EARG, "input 3 (d) has a source for wg_scan",
            (s[3] = wg_from_state("d"), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_EARG, "input 3 (d) has a source for wg_scan",
            (s[3] = wg_each_step(s[3]), wg_map(tape, k, 5, s, NULL, y)));
    REFUSED(WG_ENULL, "wg_map: the 4 inputs are NULL", wg_map(tape, k, 5, NULL, NULL, y));
    REFUSED(WG_ENULL, "wg_map: the callable is NULL", wg_map(tape, NULL, 5, s, NULL, y));
    REFUSED(WG_ENULL, "wg_call: the 2 results are NULL",
            wg_call(tape, k, (wg_mat[]){a, x, u, d}, NULL));
    REFUSED(WG_ECONVERGE, "the callback of input 3 (d) returned",
            (s[0] = wg_from_data(numbers, 0, 1),
             s[1] = wg_from_matrix(wg_mat_fill(tape, 4, 99999, 0)),
             s[2] = wg_from_data(numbers, 0, 0), s[3] = wg_from_fill(refuse_data, NULL),
             wg_map(tape, k, 99999, s, NULL, y)));
#undef REFUSED
    assert_int_equal(wg_map(NULL, k, 1, NULL, NULL, y), WG_ENULL);
    assert_int_equal(wg_callable_new(NULL, NULL, &none), WG_ENULL);
    assert_int_equal(wg_callable_new(coded, NULL, &none), WG_ENULL);
    assert_message(coded, "wg_callable_new");
    assert_null(wg_callable_function(NULL));
    assert_int_equal(wg_function_inputs(wg_callable_function(k)), INPUTS);
    wg_callable_free(NULL);
    /* a tape in failure stays so */
    wg_tape_reset(tape);
    (void)wg_map(tape, NULL, 1, NULL, NULL, NULL);
    assert_int_equal(wg_call(tape, k, NULL, y), WG_ENULL);
    wg_callable_free(k);
}

/* ---- memory ------------------------------------------------------------------------------ */

static wg_status small_map(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    mapped k = {user, (n - 2) / 4, NULL, 2};
    return map_callback(t, n, x, m, y, &k);
}

static void repeated_recordings_do_not_grow(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    enum { N = 300 };
    static double x[4 * N + 2], g[4 * N + 2], first[4 * N + 2], w[2 * N + 1];
    uint64_t calls = 0;
    make_data();
    for (size_t i = 0; i < 4 * N + 2; i++) x[i] = number(i);
    for (size_t i = 0; i < 2 * N + 1; i++) w[i] = 1;
    for (int again = 0; again < 20; again++) {
        wg_stats s;
        assert_int_equal(wg_vjp(tape, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g),
                         WG_OK);
        assert_int_equal(wg_tape_stats(tape, &s), WG_OK);
        if (again == 0) memcpy(first, g, sizeof g);
        if (again == 0) calls = s.memory_calls;
        assert_int_equal(s.memory_calls, calls);
        assert_memory_equal(first, g, sizeof g);
    }
    wg_callable_free(k);
}

static void memory_refused_at_any_point_is_reported_and_survived(void **state) {
    (void)state;
    wg_callable *const k = mixed_callable();
    enum { N = 40 };
    double x[4 * N + 2], g[4 * N + 2], w[2 * N + 1];
    make_data();
    for (size_t i = 0; i < 4 * N + 2; i++) x[i] = number(i);
    for (size_t i = 0; i < 2 * N + 1; i++) w[i] = 1;
    wg_status got = WG_ENOMEM;
    for (size_t at = 2; got != WG_OK; at++) {
        struct counted memory = counted_start();
        const wg_options opt = {.memory = counted_memory(&memory), .reserve = 1 << 16};
        assert_true(at < 1000);
        memory.fail_at = at;
        memory.fail_on = 1;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        g[0] = -77;
        got = wg_vjp(t, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(g[0] == -77 && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_vjp(t, small_map, k, 4 * N + 2, x, 2 * N + 1, w, NULL, g),
                             WG_OK);
        }
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
    wg_callable_free(k);
}

static void a_callable_is_made_completely_or_not_at_all(void **state) {
    (void)state;
    wg_status got = WG_ENOMEM;
    for (size_t at = 2; got != WG_OK; at++) {
        struct counted memory = counted_start();
        const wg_options opt = {
            .flags = WG_KEEP_CODE, .memory = counted_memory(&memory), .reserve = 1 << 16};
        assert_true(at < 1000);
        wg_function *f = NULL;
        wg_callable *k = NULL;
        wg_tape *const t = wg_tape_new(&opt);
        assert_non_null(t);
        assert_int_equal(
            wg_function_record(t, mixed_callback, NULL, INPUTS, in, start, OUTPUTS, out, &f),
            WG_OK);
        memory.asked = 2; /* from here on */
        memory.fail_at = at;
        memory.fail_on = 1;
        got = wg_callable_new(t, f, &k);
        if (got != WG_OK) {
            assert_int_equal(got, WG_ENOMEM);
            assert_true(k == NULL && wg_tape_message(t)[0] != 0);
            memory.fail_at = SIZE_MAX;
            memory.fail_on = 0;
            assert_int_equal(wg_callable_new(t, f, &k), WG_OK);
        }
        wg_callable_free(k);
        wg_function_free(f);
        wg_tape_free(t);
        assert_true(memory.ranges == 0 && memory.wrong == 0);
    }
}

static int close_all(void **state) {
    (void)free_pools(state);
    return close_tapes(state);
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
        cmocka_unit_test(a_guard_that_comes_out_differently_is_named_with_its_point),
        cmocka_unit_test(recordings_with_maps_are_functions),
        cmocka_unit_test(guards_inside_are_guards_of_the_recording),
        cmocka_unit_test(adjoints_of_zero_meet_infinite_slopes),
        cmocka_unit_test(no_points_give_empty_results_and_sums_of_zero),
        cmocka_unit_test(refusals_name_the_call_the_argument_and_both_shapes),
        cmocka_unit_test(repeated_recordings_do_not_grow),
        cmocka_unit_test(memory_refused_at_any_point_is_reported_and_survived),
        cmocka_unit_test(a_callable_is_made_completely_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
