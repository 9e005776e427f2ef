/* SPDX-License-Identifier: MIT */
/* Loops of functions in several stages; comparisons in the steps; sizes that are too large;
 * results in the place of operands. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "scan_case.h"

/* ---- stages ------------------------------------------------------------------------------ */

/* A flux between cells, the update of u by it, of v by the new u, and the mean of both. */
static wg_status flux(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_mul(wg_add(x[0], x[1]), wg_sub(x[0], x[1])), x[2]));
    return WG_OK;
}
static wg_status update_u(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_add(x[0], wg_mul(wg_sub(x[1], x[2]), x[3])));
    return WG_OK;
}
static wg_status update_v(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sub(wg_mul(x[0], x[1]), wg_mul(x[2], 0.125)));
    y[1] = wg_let(t, wg_mul(wg_mul(y[0], x[1]), 0.0625));
    return WG_OK;
}

typedef struct staged {
    const wg_callable *flux, *u, *v;
    size_t cells, steps, stored;
} staged;

/* x: u, v, the mean, c; y: u, v, the mean. */
static wg_status stages_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    const staged *const q = user;
    const size_t c = q->cells;
    (void)n, (void)m;
    const wg_state states[] = {{"u", wg_mat_gather(t, c, 1, x)},
                               {"v", wg_mat_gather(t, 1, c, x + c)},
                               {"mean", wg_mat_gather(t, 1, 1, x + 2 * c)}};
    const wg_mat k = wg_mat_gather(t, 1, 1, x + 2 * c + 1);
    const wg_source a[] = {wg_from_state("u"), wg_from_neighbour("u", 1, 0, 0),
                           wg_from_state("mean")};
    const wg_source b[] = {wg_from_state("u"), wg_from_neighbour("flux", -1, 0, 0),
                           wg_from_state("flux"), wg_from_matrix(k)};
    const wg_source d[] = {wg_from_state("v"), wg_from_next("u", 1, 0, 0),
                           wg_from_next("u", -2, 0, 0)};
    const wg_stage stage[] = {{q->flux, a}, {q->u, b}, {q->v, d}};
    const wg_scan_options o = {.cells = {c}, .stored = q->stored};
    wg_mat r[3];
    const wg_status status = wg_scan(t, q->steps, 3, stage, 3, states, &o, r);
    if (status != WG_OK) return status;
    for (size_t i = 0; i < c; i++)
        y[i] = wg_mat_at(r[0], i, 0), y[c + i] = wg_mat_at(r[1], 0, i);
    y[2 * c] = wg_mat_at(r[2], 0, 0);
    return WG_OK;
}

enum { MOST_CELLS = 300 };
static wg_status stages_unrolled(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                                 void *user) {
    const staged *const q = user;
    const size_t c = q->cells;
    static wg_real u[2][MOST_CELLS], v[2][MOST_CELLS], f[MOST_CELLS];
    wg_real mean = x[2 * c];
    (void)n, (void)m;
    for (size_t i = 0; i < c; i++) u[0][i] = x[i], v[0][i] = x[c + i];
    for (size_t s = 0; s < q->steps; s++) {
        const size_t a = s % 2, b = 1 - a;
        for (size_t i = 0; i < c; i++)
            (void)flux(t, 3, (wg_real[]){u[a][i], u[a][(i + 1) % c], mean}, 1, &f[i], NULL);
        for (size_t i = 0; i < c; i++)
            (void)update_u(t, 4, (wg_real[]){u[a][i], f[(i + c - 1) % c], f[i], x[2 * c + 1]},
                           1, &u[b][i], NULL);
        mean = wg_constant(0);
        for (size_t i = 0; i < c; i++) {
            wg_real r[2];
            (void)update_v(t, 3,
                           (wg_real[]){v[a][i], u[b][(i + 1) % c], u[b][(i + 2 * c - 2) % c]},
                           2, r, NULL);
            v[b][i] = r[0];
            mean = wg_let(t, wg_add(mean, r[1]));
        }
    }
    for (size_t i = 0; i < c; i++) y[i] = u[q->steps % 2][i], y[c + i] = v[q->steps % 2][i];
    y[2 * c] = mean;
    return WG_OK;
}

static void stages_read_what_earlier_stages_leave(void **state) {
    (void)state;
    const wg_argument a[] = {{"l", 1, 1, 0}, {"r", 1, 1, 0}, {"mean", 1, 1, WG_SHARED}};
    const wg_argument b[] = {
        {"u", 1, 1, 0}, {"in", 1, 1, 0}, {"out", 1, 1, 0}, {"k", 1, 1, WG_SHARED}};
    const wg_argument d[] = {{"v", 1, 1, 0}, {"right", 1, 1, 0}, {"left", 1, 1, 0}};
    const wg_argument fy = {"flux", 1, 1, 0}, uy = {"u", 1, 1, 0},
                      vy[] = {{"v", 1, 1, 0}, {"mean", 1, 1, WG_SUMMED}};
    staged q = {make(flux, 3, a, at, 1, &fy),
                make(update_u, 4, b, at, 1, &uy),
                make(update_v, 3, d, at, 2, vy),
                0,
                0,
                0};
    enum { N = 2 * MOST_CELLS + 2 };
    static double x[N], y[2][N], g[2][N], first[N], w[N];
    wg_check found;
    for (size_t i = 0; i < N; i++) x[i] = 0.5 * number(5 * i + 1), w[i] = number(i);
    const size_t sizes[] = {1, 2, 9, 300};
    for (size_t j = 0; j < 4; j++)
        for (size_t stored = 0; stored <= 5; stored++) {
            q.cells = sizes[j], q.steps = 5, q.stored = stored;
            const size_t n = 2 * q.cells + 2, m = n - 1;
            if (wg_vjp(tape, stages_scan, &q, n, x, m, w, y[0], g[0]) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
            assert_int_equal(wg_vjp(tape, stages_unrolled, &q, n, x, m, w, y[1], g[1]), WG_OK);
            for (size_t i = 0; i < m; i++) assert_near(y[0][i], y[1][i]);
            for (size_t i = 0; i < n; i++) assert_near(g[0][i] / 64, g[1][i] / 64);
            if (stored == 0) memcpy(first, g[0], sizeof first);
            assert_memory_equal(first, g[0], n * sizeof *first);
            if (stored == 2 && j == 2 &&
                wg_check_gradient(tape, stages_scan, &q, n, x, m, &found) != WG_OK)
                fail_msg("%s", wg_tape_message(tape));
        }
    wg_callable_free((wg_callable *)(uintptr_t)q.flux);
    wg_callable_free((wg_callable *)(uintptr_t)q.u);
    wg_callable_free((wg_callable *)(uintptr_t)q.v);
}

/* ---- comparisons ------------------------------------------------------------------------- */

static wg_status guarded(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_lt(t, x[0], wg_constant(5)) ? wg_let(t, wg_add(x[0], 1)) : x[0];
    return WG_OK;
}

static void a_guard_is_named_with_step_and_cell(void **state) {
    (void)state;
    const wg_argument q = {"q", 1, 1, 0};
    wg_callable *const k = make(guarded, 1, &q, at, 1, &q);
    const double x[3] = {0, 2.5, 1};
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 3, 1, x, 3);
    const wg_mark before = wg_tape_mark(tape);
    const wg_state s = {"q", a};
    const wg_source from = wg_from_state("q");
    const wg_stage stage = {k, &from};
    const wg_scan_options o = {.cells = {3}};
    wg_mat r;
    assert_int_equal(wg_scan(tape, 10, 1, &stage, 1, &s, &o, &r), WG_EGUARD);
    assert_message(tape, "wg_scan");
    assert_message(tape, "guard 0 of stage 0 came out differently in step 3, cell 1");
    assert_true(r.value == NULL);
    assert_int_equal(wg_tape_rewind(tape, before), WG_OK);
    assert_int_equal(wg_scan(tape, 3, 1, &stage, 1, &s, &o, &r), WG_OK);
    assert_true(r.value[1] == 5.5);
    wg_callable_free(k);
}

/* Of a cell and its neighbour: three terms, in a loop that compares. */
enum { ALONG = 16, DOWN = 4, ALL = ALONG * DOWN };
static wg_status compared(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_gt(t, x[0], wg_constant(0.5)) ? wg_let(t, wg_mul(x[0], x[1])) : wg_constant(0);
    return WG_OK;
}
static wg_status three_terms(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                             void *user) {
    const wg_real own[3] = {x[0], x[0], x[0]};
    const wg_source from[] = {wg_from_matrix(wg_mat_gather(t, 1, 3, own)),
                              wg_from_matrix(wg_mat_gather(t, 1, 1, x + 1))};
    wg_mat sum;
    (void)n, (void)m;
    const wg_status s = wg_map(t, user, 3, from, NULL, &sum);
    if (s == WG_OK) y[0] = wg_let(t, wg_add(1, wg_mul(0.1, wg_mat_at(sum, 0, 0))));
    return s;
}

static const wg_source ahead[] = {{.kind = WGI_FROM_STATE, .name = "u"},
                                  {.kind = WGI_FROM_STATE, .name = "u", .offset = {1, 0, 0}}};
static wg_status march(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    const wg_stage stage = {user, ahead};
    const wg_state state = {"u", wg_mat_gather(t, 1, ALL, x)};
    const wg_scan_options o = {.cells = {ALONG, DOWN}, .boundary = {WG_ZERO_OUTSIDE}};
    wg_mat r;
    (void)n;
    const wg_status s = wg_scan(t, 3, 1, &stage, 1, &state, &o, &r);
    for (size_t j = 0; s == WG_OK && j < m; j++) y[j] = wg_mat_at(r, 0, j);
    return s;
}

/* Beyond the cells a comparison may come out as it likes. */
static void comparisons_in_loops_of_a_stage_are_those_of_its_cells(void **state) {
    const wg_options looping = {.flags = WG_KEEP_CODE, .loops_over = 1};
    wg_tape *const t = wg_tape_new(&looping);
    wg_argument a[] = {{"a", 1, 1, 0}, {"b", 1, 1, WG_SHARED}};
    const wg_argument sum = {"sum", 1, 1, WG_SUMMED}, u = {"u", 1, 1, 0};
    wg_function *f = NULL, *g[2] = {NULL, NULL};
    wg_callable *term = NULL, *k[3] = {NULL, NULL, NULL};
    double x[ALL], y[ALL], w[ALL], got[3][ALL];
    (void)state;
    assert_non_null(t);
    assert_int_equal(wg_function_record(t, compared, NULL, 2, a, at, 1, &sum, &f), WG_OK);
    assert_int_equal(wg_callable_new(t, f, &term), WG_OK);
    wg_function_free(f);
    a[0].flags = WG_PASSIVE, a[1].flags = 0;
    for (size_t i = 0; i < 2; i++) { /* with the loop, and written out */
        assert_int_equal(
            wg_function_record(i == 0 ? t : coded, three_terms, term, 2, a, at, 1, &u, &g[i]),
            WG_OK);
        assert_int_equal(wg_callable_new(t, g[i], &k[i]), WG_OK);
        wg_function_free(g[i]);
    }
    assert_int_equal(wg_callable_stencil(t, k[0], ahead, &k[2]), WG_OK);
    for (size_t i = 0; i < ALL; i++) x[i] = 0.8 + 0.01 * (double)i, w[i] = number(i);
    for (size_t i = 0; i < 3; i++)
        if (wg_vjp(tape, march, k[i], ALL, x, ALL, w, y, got[i]) != WG_OK)
            fail_msg("%zu: %s", i, wg_tape_message(tape));
    for (size_t i = 0; i < ALL; i++) {
        assert_near(got[0][i], got[1][i]);
        assert_near(got[2][i], got[1][i]);
    }
    for (size_t i = 0; i < 3; i++) wg_callable_free(k[i]);
    wg_callable_free(term);
    wg_tape_free(t);
}

/* ---- sizes, and places of results -------------------------------------------------------- */

/* Rims of 2^26 and more places: no size of theirs, nor all of them, is counted modulo 2^64. */
static wg_status spread(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    (void)n, (void)user;
    for (size_t i = 0; i < m; i++) y[i] = wg_let(t, wg_mul(x[0], (double)i + 1));
    return WG_OK;
}
static wg_status collect(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *user) {
    (void)m, (void)user;
    y[0] = wg_let(t, wg_add(x[0], x[1]));
    for (size_t i = 2; i < n; i++) y[0] = wg_let(t, wg_add(y[0], x[i]));
    return WG_OK;
}

static void sizes_beyond_all_memory_are_refused(void **state) {
    (void)state;
    enum { MANY = 128 };
    static char names[MANY][16];
    static wg_argument between[MANY];
    static double x[MANY];
    static wg_source to[MANY];
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], "p%d", i);
        between[i] = (wg_argument){names[i], 1, 1, 0};
        to[i] = wg_from_neighbour(names[i], (1 << 26) - 1, i == 0 ? (1 << 28) - 1 : 0, 0);
    }
    const wg_argument q = {"q", 1, 1, 0}, sum = {"s", 1, 1, WG_SUMMED};
    const wg_argument two[] = {{"q", 1, 1, 0}, {"n", 1, 1, 0}};
    wg_callable *const first = make(spread, 1, &q, at, MANY, between),
                       *const last = make(collect, MANY, between, x, 1, &sum),
                       *const alone = make(collect, 2, two, at, 1, &q);
    wg_mat y;
    wg_tape_reset(tape);
    const wg_source from = wg_from_matrix(wg_mat_input(tape, 1, 1, x, 1));
    const wg_stage stages[] = {{first, &from}, {last, to}};
    assert_int_equal(wg_scan(tape, 1, 2, stages, 0, NULL, NULL, &y), WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(tape), "wg_scan: "));
    assert_non_null(strstr(wg_tape_message(tape), "too large"));
    assert_null(y.value);
    /* one is small enough to be counted, but not as many as are stored */
    wg_tape_reset(tape);
    const wg_source far[] = {wg_from_state("q"), wg_from_neighbour("q", 1 << 26, 1 << 26, 0)};
    const wg_stage stage = {alone, far};
    const wg_state start = {"q", wg_mat_input(tape, 1, 4, at, 1)};
    const wg_scan_options o = {.cells = {4, 1, 1}};
    assert_int_equal(wg_scan(tape, 512, 1, &stage, 1, &start, &o, &y), WG_ENOMEM);
    assert_non_null(strstr(wg_tape_message(tape), "512 states"));
    wg_tape_reset(tape);
    wg_callable_free(first);
    wg_callable_free(last);
    wg_callable_free(alone);
}

/* x = f(x): results may stand where states and matrices are given. */
static void results_may_take_the_place_of_operands(void **state) {
    (void)state;
    const wg_argument q = {"q", 1, 1, 0}, two[] = {{"q", 1, 1, 0}, {"n", 1, 1, 0}};
    wg_callable *const k = make(collect, 2, two, at, 1, &q);
    double x = 3, y = 0, g[2] = {0, 0};
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 1, 1, &x, 1);
    wg_state start = {"q", a};
    wg_source s[] = {wg_from_state("q"), wg_from_matrix(a)};
    const wg_stage stage = {k, s};
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &start.start), WG_OK);
    assert_int_equal(wg_mat_value(tape, start.start, &y, 1), WG_OK);
    assert_true(y == 9);
    start.start = a;
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &s[1].matrix), WG_OK);
    assert_int_equal(wg_mat_reverse(tape, s[1].matrix, NULL, 1), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, a, g, 1), WG_OK);
    assert_true(g[0] == 3);
    /* what fails still gives failed results */
    start.start = wg_mat_fill(tape, 2, 1, 0);
    assert_int_equal(wg_scan(tape, 2, 1, &stage, 1, &start, NULL, &start.start), WG_ESHAPE);
    assert_null(start.start.value);
    wg_tape_reset(tape);
    wg_callable_free(k);
}

static wg_status twice(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(2, x[0]));
    return WG_OK;
}

/* The only result is u. Where w is read before a stage has left it, or as a state that it is
 * not, it looks like a second one: nothing is written behind the first. */
static void names_that_are_not_there_yet_leave_no_more_results(void **state) {
    (void)state;
    const wg_argument u = {"u", 1, 1, 0}, w = {"w", 1, 1, 0}, both[] = {w, u};
    wg_callable *const first = make(twice, 1, &u, at, 1, &w);
    wg_callable *const second = make(collect, 2, both, at, 1, &u);
    const wg_source s0[] = {wg_from_state("u")};
    const wg_source right[] = {wg_from_state("w"), wg_from_state("u")};
    const wg_source next_w[] = {wg_from_next("w", 0, 0, 0), wg_from_state("u")};
    const wg_source next_u[] = {wg_from_state("w"), wg_from_next("u", 0, 0, 0)};
    const wg_stage in_order[] = {{first, s0}, {second, right}};
    const wg_stage turned[] = {{second, right}, {first, s0}};
    const wg_stage no_state[] = {{first, s0}, {second, next_w}};
    const wg_stage too_early[] = {{first, s0}, {second, next_u}};
    const wg_stage *const wrong[] = {turned, no_state, too_early};
    const double start = 0.25;
    wg_mat y[2];
    for (int i = 0; i < 3; i++) {
        wg_tape_reset(tape);
        const wg_state q = {"u", wg_mat_input(tape, 1, 1, &start, 1)};
        y[1].rows = 123;
        assert_int_equal(wg_scan(tape, 3, 2, in_order, 1, &q, NULL, y), WG_OK);
        assert_true(y[0].rows == 1 && y[1].rows == 123);
        assert_int_equal(wg_scan(tape, 3, 2, wrong[i], 1, &q, NULL, y), WG_EARG);
        assert_true(y[0].rows == 0 && y[1].rows == 123);
    }
    wg_tape_reset(tape);
    wg_callable_free(first);
    wg_callable_free(second);
}

static void compiled_functions_do_the_same(void **state) {
    start_compiling();
    stages_read_what_earlier_stages_leave(state);
    a_guard_is_named_with_step_and_cell(state);
    stop_compiling();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_read_what_earlier_stages_leave),
        cmocka_unit_test(a_guard_is_named_with_step_and_cell),
        cmocka_unit_test(comparisons_in_loops_of_a_stage_are_those_of_its_cells),
        cmocka_unit_test(sizes_beyond_all_memory_are_refused),
        cmocka_unit_test(results_may_take_the_place_of_operands),
        cmocka_unit_test(names_that_are_not_there_yet_leave_no_more_results),
        cmocka_unit_test(compiled_functions_do_the_same),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
