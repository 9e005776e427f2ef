/* SPDX-License-Identifier: MIT */
/* test_function_emit.c - the text of functions, compiled as strict C99 without a warning,
 * against a walk through their nodes. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "depth.h"
#include "emit_case.h"

#include <wengert/array.h>
#include <wengert/operation.h>

static void every_row_and_partial_is_that_of_the_table(void **state) {
    enum { APIECE = 12 };
    emitted e;
    hand h[16];
    char name[16][8];
    size_t parts = 0;
    (void)state;
    FILE *const f = emitted_text(&e);
    for (size_t k = 0; k < wgi_scalar_op_count; k += APIECE, parts++) {
        const size_t end = k + APIECE < wgi_scalar_op_count ? k + APIECE : wgi_scalar_op_count;
        hand_open(&h[parts]);
        hand_every_row(&h[parts], k, end);
        (void)snprintf(name[parts], sizeof name[parts], "r%zu", parts);
        emit(f, &h[parts], name[parts], WG_EMIT_POINT | WG_EMIT_BATCH, 0);
    }
    assert_int_equal(fclose(f), 0);
    for (size_t c = 0; c < 2; c++) {
        if (!has_compiler(emitted_compilers[c])) continue;
        emitted_open(&e, emitted_compilers[c],
                     is_deep() ? "-O1 -D_DEFAULT_SOURCE" : "-O0 -D_DEFAULT_SOURCE");
        for (size_t k = 0; k < parts; k++) {
            check_point(&e, &h[k], name[k], "");
            check_batch(&e, &h[k], name[k], POINTS);
        }
        emitted_close(&e);
    }
    emitted_remove(&e);
    for (size_t k = 0; k < parts; k++) hand_close(&h[k]);
}

static void drawn_functions_are_what_the_walk_gives(void **state) {
    enum { DRAWN = 16 };
    emitted e;
    static hand h[DRAWN];
    char name[DRAWN][24];
    const size_t drawn = is_deep() ? DRAWN : DRAWN / 2;
    (void)state;
    FILE *const f = emitted_text(&e);
    for (size_t k = 0; k < drawn; k++) {
        hand_open(&h[k]);
        hand_draw(&h[k], k + 1, 10 + 12 * k, k % 2 == 1, k % 4 >= 2);
        (void)snprintf(name[k], sizeof name[k], "f%zu", k);
        emit(f, &h[k], name[k], ALL, k % 3 == 0 ? 0 : 5 + k);
    }
    assert_int_equal(fclose(f), 0);
    const char *const levels[2] = {is_deep() ? "-O2" : "-O1",
                                   is_deep() ? "-O1 -DWG_NO_VECTORS" : "-O0 -DWG_NO_VECTORS"};
    for (size_t c = 0; c < 4; c++) {
        if (!has_compiler(emitted_compilers[c % 2])) continue;
        emitted_open(&e, emitted_compilers[c % 2], levels[c / 2]);
        for (size_t k = 0; k < drawn; k++) {
            check_point(&e, &h[k], name[k], "_point");
            nothing_given_is_zero(&e, &h[k], name[k], "_point");
            check_batch_of_one(&e, &h[k], name[k]);
            for (size_t points = 1; points <= POINTS; points += 7)
                check_batch(&e, &h[k], name[k], points);
            check_casadi(&e, &h[k], name[k]);
        }
        emitted_close(&e);
    }
    emitted_remove(&e);
    for (size_t k = 0; k < drawn; k++) hand_close(&h[k]);
}

/* x u with u shared: sums of x u, of u, and what follows from them. */
static void sums_are_over_all_points_in_lanes(void **state) {
    emitted e;
    hand h;
    double x[POINTS], u = 0.7, y[3], lane[8] = {0};
    (void)state;
    hand_open(&h);
    const uint32_t a = hand_input(&h, "x", 1, 1, 0), b = hand_input(&h, "u", 1, 1, WG_SHARED);
    const uint32_t product = WGI_GRAPH2(&h.g, mul, a, b);
    const uint32_t out[3] = {wgi_graph_sum(&h.g, product), wgi_graph_sum(&h.g, b),
                             WGI_GRAPH1(&h.g, sin, wgi_graph_sum(&h.g, product))};
    h.out[0] = (wg_argument){"y", 3, 1, WG_SUMMED};
    h.outs = 1;
    memcpy(h.result, out, sizeof out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "s", WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    batch_fn *batch;
    EMITTED(&e, "s", "_batch", batch);
    for (size_t p = 0; p < POINTS; p++) {
        x[p] = uniform(-1, 1);
        lane[p % 8] += x[p] * u;
    }
    const double want = ((lane[0] + lane[1]) + (lane[2] + lane[3])) +
                        ((lane[4] + lane[5]) + (lane[6] + lane[7]));
    const ptrdiff_t xs[] = {1, 1, 0, 1}, ys[] = {0, 1};
    assert_int_equal(
        batch(POINTS, (const double *const[]){x, &u}, xs, (double *const[]){y}, ys, NULL), 0);
    same("sum", 0, y[0], want);
    same("sum of a number", 1, y[1], POINTS * u);
    same("after", 2, y[2], sin(want));
    assert_int_equal(
        batch(0, (const double *const[]){x, &u}, xs, (double *const[]){y}, ys, NULL), 0);
    for (size_t k = 0; k < 3; k++) assert_true(y[k] == 0);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

/* Results at each point that are the same at all of them: a call, arithmetic, a product by the
 * rule, of use for nothing else. */
static void what_is_done_once_is_a_result_at_every_point(void **state) {
    enum { RESULTS = 4 };
    emitted e;
    hand h;
    const double u[2] = {0.7, -1.3};
    double x[POINTS], y[POINTS][RESULTS];
    (void)state;
    hand_open(&h);
    const uint32_t b = hand_input(&h, "u", 2, 1, WG_SHARED), a = hand_input(&h, "x", 1, 1, 0);
    const uint32_t out[RESULTS] = {WGI_GRAPH1(&h.g, sin, b), WGI_GRAPH2(&h.g, sub, b, b + 1),
                                   wgi_graph_times(&h.g, b, WGI_GRAPH1(&h.g, exp, b + 1)),
                                   WGI_GRAPH2(&h.g, mul, a, b)};
    hand_output(&h, "y", RESULTS, 1, 0, out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "o", WG_EMIT_BATCH, 0);
    emit(f, &h, "units", WG_EMIT_BATCH, 1);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    for (int units = 0; units < 2; units++) {
        batch_fn *batch;
        EMITTED(&e, units ? "units" : "o", "_batch", batch);
        const ptrdiff_t xs[] = {0, 1, 1, 1}, ys[] = {RESULTS, 1};
        for (size_t p = 0; p < POINTS; p++) x[p] = uniform(-1, 1);
        memset(y, 0x7f, sizeof y);
        assert_int_equal(
            batch(POINTS, (const double *const[]){u, x}, xs, (double *const[]){y[0]}, ys, NULL),
            0);
        for (size_t p = 0; p < POINTS; p++) {
            const double want[RESULTS] = {sin(u[0]), u[0] - u[1], u[0] * exp(u[1]),
                                          x[p] * u[0]};
            for (size_t k = 0; k < RESULTS; k++) same("done once", k, y[p][k], want[k]);
        }
    }
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

/* An input of each point, on either side of what no point has of its own. */
static void a_comparison_with_what_is_done_once_is_made_at_each_point(void **state) {
    emitted e;
    hand h;
    double x[POINTS], y[POINTS];
    const double u = 0.5;
    (void)state;
    hand_open(&h);
    const uint32_t b = hand_input(&h, "u", 1, 1, WG_SHARED), a = hand_input(&h, "x", 1, 1, 0);
    const uint32_t once = WGI_GRAPH1(&h.g, exp, b);
    const uint32_t out = WGI_GRAPH2(&h.g, mul, a, once);
    wgi_graph_guard_add(&h.g, a, once, 0, 1);
    wgi_graph_guard_add(&h.g, once, wgi_graph_sum(&h.g, a), 2, 0);
    hand_output(&h, "y", 1, 1, 0, &out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "g", WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    batch_fn *batch;
    EMITTED(&e, "g", "_batch", batch);
    const ptrdiff_t xs[] = {0, 1, 1, 1}, ys[] = {1, 1};
    for (size_t bad = 0; bad <= POINTS; bad++) { /* POINTS: none */
        size_t where = 77;
        for (size_t p = 0; p < POINTS; p++) x[p] = p == bad ? exp(u) : uniform(1, 1.5);
        assert_int_equal(
            batch(POINTS, (const double *const[]){&u, x}, xs, (double *const[]){y}, ys, &where),
            bad < POINTS);
        assert_int_equal(where, bad < POINTS ? bad : 77);
        for (size_t p = 0; p < POINTS; p++) same("product", p, y[p], x[p] * exp(u));
    }
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

/* c * sqrt(x) by x where c is 0 and x is 0. */
static void zero_times_infinity_is_zero_by_the_rule(void **state) {
    emitted e;
    hand h;
    (void)state;
    hand_open(&h);
    const uint32_t c = hand_input(&h, "c", 1, 1, 0), x = hand_input(&h, "x", 1, 1, 0);
    const uint32_t d = hand_partial(&h, op_named("sqrt"), WGI_NODE_FIRST, 0, &x);
    uint32_t out[2] = {wgi_graph_times(&h.g, c, d), 0};
    /* a comparison hides the NaN of the plain product */
    out[1] = WGI_GRAPH4(&h.g, select_lt, out[0], c, x, d);
    hand_output(&h, "y", 2, 1, 0, out);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "z", WG_EMIT_POINT | WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    check_point(&e, &h, "z", "");
    check_batch(&e, &h, "z", POINTS);
    point_fn *point;
    batch_fn *batch;
    EMITTED(&e, "z", "", point);
    EMITTED(&e, "z", "_batch", batch);
    double zero[10] = {0}, y[20];
    assert_int_equal(point((const double *const[]){zero, zero}, (double *const[]){y}), 0);
    assert_true(y[0] == 0);
    const ptrdiff_t xs[] = {1, 1, 1, 1}, ys[] = {2, 1};
    assert_int_equal(
        batch(10, (const double *const[]){zero, zero}, xs, (double *const[]){y}, ys, NULL), 0);
    for (size_t p = 0; p < 10; p++) assert_true(y[2 * p] == 0);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

WG_OPERATION1(softsign, a / (1 + fabs(a)), 1 / ((1 + fabs(a)) * (1 + fabs(a))),
              -2 * copysign(1, a) / pow(1 + fabs(a), 3), GUARD, "an expression")
static double table(double a) { return a * 2; }
WG_OPERATION1(looked_up, table(a), 2.0, 0, ARITH, "a call of something else")

static double twice(const double *x) { return x[0] * 2; }
static void twice_first(const double *x, double v, double *d) { (void)x, (void)v, *d = 2; }
/* The text begins with a space. */
static const wg_scalar_op spaced = {.name = "spaced",
                                    .source = "a space",
                                    .arity = 1,
                                    .value = twice,
                                    .first = twice_first,
                                    .text = {" a * 2", "2", "0"}};

static void operations_of_the_user_are_their_texts(void **state) {
    emitted e;
    hand h;
    (void)state;
    hand_open(&h);
    const uint32_t x = hand_input(&h, "x", 1, 1, 0);
    uint32_t y[4];
    y[3] = hand_partial(&h, &spaced, WGI_NODE_OP, 0, &x);
    y[0] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_OP, 0, &x);
    y[1] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_FIRST, 0, &x);
    y[2] = hand_partial(&h, &wgi_user_softsign, WGI_NODE_SECOND, 0, &x);
    hand_output(&h, "y", 4, 1, 0, y);
    hand_finish(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "user", WG_EMIT_POINT, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O2");
    check_point(&e, &h, "user", "");
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);

    size_t needed;
    hand_open(&h);
    const uint32_t z = hand_input(&h, "x", 1, 1, 0);
    y[0] = hand_partial(&h, &wgi_user_looked_up, WGI_NODE_OP, 0, &z);
    hand_output(&h, "y", 1, 1, 0, y);
    hand_finish(&h);
    assert_int_equal(wg_function_text(h.t, h.f, NULL, NULL, 0, &needed), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(h.t), "looked_up"));
    hand_close(&h);
}

/* Guards of inputs, of what is done once, at each point, and on sums; most entries of the
 * inputs are read by nothing. */
static void open_guarded(hand *h) {
    enum { UNREAD = 200000 };
    hand_open(h);
    const uint32_t x = hand_input(h, "x", 2, 1, 0), u = hand_input(h, "u", 3, 1, WG_SHARED);
    (void)hand_input(h, "unread", UNREAD, 1, 0);
    const uint32_t half = wgi_graph_number(&h->g, 0.5), two = wgi_graph_number(&h->g, 2);
    uint32_t y = WGI_GRAPH2(&h->g, add, x, u);
    wgi_graph_guard_add(&h->g, wgi_graph_sum(&h->g, x + 1), two, 0, 1);
    wgi_graph_guard_add(&h->g, x, half, 0, 1);
    wgi_graph_guard_add(&h->g, WGI_GRAPH1(&h->g, exp, u + 2), two, 0, 1);
    wgi_graph_guard_add(&h->g, u, u + 2, 0, 1);
    wgi_graph_guard_add(&h->g, y, two, 0, 1);
    wgi_graph_guard_add(&h->g, u, half, 3, 0);
    hand_output(h, "y", 1, 1, 0, &y);
    hand_finish(h);
}

static void a_batch_fails_where_evaluation_fails(void **state) {
    emitted e;
    hand h;
    double x[2 * POINTS], u[3], y[POINTS], z[POINTS];
    batch_fn *batch;
    size_t failures = 0;
    (void)state;
    open_guarded(&h);
    FILE *const f = emitted_text(&e);
    emit(f, &h, "g", WG_EMIT_BATCH, 0);
    assert_int_equal(fclose(f), 0);
    emitted_open(&e, emitted_compilers[!has_compiler("gcc")], "-O1");
    assert_int_equal(h.f->guards, 6);
    void *const work = malloc(wg_function_work(h.f, NULL));
    assert_non_null(work);
    EMITTED(&e, "g", "_batch", batch);
    for (size_t k = 0; k < 600; k++) {
        const size_t points = k % POINTS;
        wg_function_guard guard = {77, 0};
        size_t where = 77;
        for (size_t i = 0; i < 2 * points; i++) x[i] = uniform(-1, below(9) != 0 ? 0.4 : 3);
        for (size_t i = 0; i < 3; i++) u[i] = uniform(-1, below(4) != 0 ? 0.4 : 3);
        if (below(3) != 0) u[2] = fmax(u[0], u[2]) + 0.1;
        const wg_points in[] = {{x, 2, 1}, {u, 0, 1}, {NULL, 0, 0}};
        const wg_results out[] = {{y, 1, 1}};
        const ptrdiff_t xs[] = {2, 1, 0, 1, 0, 0}, ys[] = {1, 1};
        const wg_status s = wg_function_evaluate(h.f, points, in, out, NULL, work, &guard);
        const int said = batch(points, (const double *const[]){x, u, NULL}, xs,
                               (double *const[]){z}, ys, &where);
        assert_int_equal(said, s == WG_OK ? 0 : guard.guard + 1);
        assert_int_equal(where, s == WG_OK ? 77 : guard.point);
        assert_memory_equal(y, z, points * sizeof *y);
        failures += s != WG_OK;
    }
    assert_in_range(failures, 100, 550);
    free(work);
    emitted_close(&e);
    emitted_remove(&e);
    hand_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_and_partial_is_that_of_the_table),
        cmocka_unit_test(drawn_functions_are_what_the_walk_gives),
        cmocka_unit_test(sums_are_over_all_points_in_lanes),
        cmocka_unit_test(what_is_done_once_is_a_result_at_every_point),
        cmocka_unit_test(a_comparison_with_what_is_done_once_is_made_at_each_point),
        cmocka_unit_test(zero_times_infinity_is_zero_by_the_rule),
        cmocka_unit_test(a_batch_fails_where_evaluation_fails),
        cmocka_unit_test(operations_of_the_user_are_their_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
