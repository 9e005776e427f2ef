/* SPDX-License-Identifier: MIT */
/* What stages of a loop hand on to their adjoints: the cut through a vjp, and compiled loops
 * with it against the same loops interpreted. */
#define _DEFAULT_SOURCE /* mkdtemp */
#include "scan_case.h"

#include "tape/function/loops/callable.h"
#include "tape/function/make/residuals.h"
#include "tape/function/native/native.h"

#include <wengert/derive.h>

/* ---- the cut ----------------------------------------------------------------------------- */

/* Functions of functions, one that is a result, one that is needed for nothing, slopes that are
 * functions of their own, and a comparison. x: a, b, s (shared), d; y: 2x1, sum. */
static wg_status functions(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    (void)n, (void)m, (void)user;
    const wg_real u = wg_let(t, wg_tanh(wg_add(wg_mul(x[0], x[2]), x[3])));
    const wg_real v = wg_let(t, wg_log1p(wg_exp(wg_sub(x[1], u))));
    y[0] = wg_let(t, wg_exp(wg_mul(u, x[1])));
    y[1] = wg_let(t, wg_add(wg_mul(wg_sin(v), wg_tan(u)), wg_erf(x[0])));
    if (wg_gt(t, v, wg_constant(0)))
        y[1] = wg_let(t, wg_add(y[1], wg_pow(wg_add(2, wg_square(u)), x[0])));
    y[2] = wg_let(t, wg_mul(wg_sigmoid(y[0]), wg_hypot(x[0], v)));
    return WG_OK;
}

static const wg_argument functions_in[] = {
    {"a", 1, 1, 0}, {"b", 1, 1, 0}, {"s", 1, 1, WG_SHARED}, {"residuals", 1, 1, WG_PASSIVE}};
static const wg_argument functions_out[] = {{"residuals", 2, 1, 0}, {"sum", 1, 1, WG_SUMMED}};

static int calls_of(const wg_function *f) {
    int calls = 0;
    for (size_t i = 0; i < f->nodes; i++) calls += wgi_native_takes_long(&f->node[i]);
    return calls;
}

static void an_adjoint_that_is_given_values_computes_the_same(void **state) {
    enum { CELLS = 11, MOST_KEPT = 32 };
    static double x[3][CELLS], s = 0.75, w[3][CELLS], y[3][CELLS], again[3][CELLS], sum[2];
    static double kept_numbers[MOST_KEPT][CELLS], g[4][CELLS], h[4][CELLS];
    wg_callable *const k = make(functions, 4, functions_in, at, 2, functions_out);
    wg_function *forward = NULL, *backward = NULL;
    (void)state;
    assert_int_equal(wgi_residuals_new(coded, k->f, k->vjp, &forward, &backward), WG_OK);
    assert_non_null(forward);
    assert_non_null(backward);
    const wg_argument *const more = &forward->output[2];
    assert_int_equal(forward->outputs, 3);
    assert_string_equal(more->name, "residuals_2");
    assert_string_equal(backward->input[backward->inputs - 1].name, "residuals_2");
    assert_true(more->rows > 4 && more->rows <= MOST_KEPT);
    assert_int_equal(backward->input[backward->inputs - 1].rows, more->rows);
    /* what is a result is computed again, and nothing else */
    assert_int_equal(forward->guards, 1);
    assert_int_equal(backward->guards, 0);
    assert_true(calls_of(backward) <= 1 && calls_of(k->vjp) > 8);
    for (size_t i = 0; i < CELLS; i++)
        for (size_t j = 0; j < 3; j++)
            x[j][i] = 0.5 + fabs(number(i + 5 * j)), w[j][i] = number(2 * i + j);
    const wg_points in[] = {{x[0], 1, 0},
                            {x[1], 1, 0},
                            {&s, 0, 1},
                            {x[2], 1, 0},
                            {w[0], 1, CELLS},
                            {w[2], 0, 1},
                            {kept_numbers[0], 1, CELLS}};
    const wg_results plain[] = {{y[0], 1, CELLS}, {&sum[0], 0, 1}};
    const wg_results with[] = {
        {again[0], 1, CELLS}, {&sum[1], 0, 1}, {kept_numbers[0], 1, CELLS}};
    const wg_results bar[] = {{g[0], 1, 0}, {g[1], 1, 0}, {g[2], 0, 1}};
    const wg_results bar_again[] = {{h[0], 1, 0}, {h[1], 1, 0}, {h[2], 0, 1}};
    static char work[1 << 18] __attribute__((aligned(64)));
    const wg_function *const all[] = {k->f, forward, k->vjp, backward};
    for (size_t i = 0; i < 4; i++) assert_true(wg_function_work(all[i], NULL) <= sizeof work);
    assert_int_equal(wg_function_evaluate(k->f, CELLS, in, plain, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(forward, CELLS, in, with, NULL, work, NULL), WG_OK);
    assert_memory_equal(y, again, sizeof y);
    assert_true(sum[0] == sum[1]);
    assert_int_equal(wg_function_evaluate(k->vjp, CELLS, in, bar, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(backward, CELLS, in, bar_again, NULL, work, NULL),
                     WG_OK);
    assert_memory_equal(g, h, sizeof g);
    assert_true(g[0][3] != 0 && g[2][0] != 0);
    wg_function_free(forward);
    wg_function_free(backward);
    wg_callable_free(k);
}

static wg_status arithmetic(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_mul(x[0], x[1]), wg_exp(x[2]))); /* done once */
    return WG_OK;
}

static void arithmetic_keeps_nothing(void **state) {
    const wg_argument in[] = {{"a", 1, 1, 0}, {"b", 1, 1, 0}, {"s", 1, 1, WG_SHARED}};
    const wg_argument out = {"y", 1, 1, 0};
    wg_callable *const k = make(arithmetic, 3, in, at, 1, &out);
    wg_function *forward = NULL, *backward = NULL;
    (void)state;
    assert_int_equal(wgi_residuals_new(coded, k->f, k->vjp, &forward, &backward), WG_OK);
    assert_true(forward == NULL && backward == NULL && wg_tape_status(coded) == WG_OK);
    wg_callable_free(k);
}

/* ---- loops ------------------------------------------------------------------------------- */

typedef struct loop {
    const wg_callable *k[2];
    size_t cells, steps;
    wg_scan_options o;
} loop;

static double force[4096];

/* x: u (2x1), u again, v, k, p (2x1, shared), d; y: u (2x1), v, mid. */
static wg_status first(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_tanh(wg_add(wg_mul(x[0], x[6]), x[8])), x[5]));
    y[1] = wg_let(t, wg_add(wg_mul(x[3], 0.5), wg_mul(wg_log1p(wg_exp(x[2])), x[7])));
    y[2] = wg_let(t, wg_sigmoid(wg_add(wg_mul(x[4], x[5]), x[1])));
    y[3] = wg_let(t, wg_exp(y[0]));
    return WG_OK;
}

/* x: mid, the next v, w; y: w, sum. */
static wg_status second(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(wg_sin(wg_add(x[2], x[0])), wg_pow(wg_add(2, x[1]), 1.5)));
    y[1] = wg_let(t, wg_exp(wg_neg(wg_square(y[0]))));
    return WG_OK;
}

/* x: u, v, w, k of every cell, p; y: the states, then the sum. */
static wg_status loop_scan(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                           void *user) {
    const loop *const l = user;
    const size_t c = l->cells;
    (void)n, (void)m;
    const wg_source a[] = {wg_from_state("u"),
                           wg_from_state("u"),
                           wg_from_state("v"),
                           wg_from_matrix(wg_mat_gather(t, 1, c, x + 4 * c)),
                           wg_from_matrix(wg_mat_gather(t, 2, 1, x + 5 * c)),
                           wg_each_step(wg_from_data(force, 1, 1))};
    const wg_source b[] = {wg_from_state("mid"), wg_from_next("v", 0, 0, 0),
                           wg_from_state("w")};
    const wg_state start[] = {{"u", wg_mat_gather(t, 2, c, x)},
                              {"v", wg_mat_gather(t, 1, c, x + 2 * c)},
                              {"w", wg_mat_gather(t, 1, c, x + 3 * c)}};
    const wg_stage stage[] = {{l->k[0], a}, {l->k[1], b}};
    wg_mat r[4];
    const wg_status s = wg_scan(t, l->steps, 2, stage, 3, start, &l->o, r);
    if (s != WG_OK) return s;
    for (size_t i = 0; i < 2 * c; i++) *y++ = wg_mat_at(r[0], i % 2, i / 2);
    for (size_t k = 1; k < 3; k++)
        for (size_t i = 0; i < c; i++) *y++ = wg_mat_at(r[k], 0, i);
    *y = wg_mat_at(r[3], 0, 0);
    return WG_OK;
}

static void make_loop(wg_callable **k) {
    static const wg_argument a[] = {{"u", 2, 1, 0},         {"again", 2, 1, 0},
                                    {"v", 1, 1, 0},         {"k", 1, 1, 0},
                                    {"p", 2, 1, WG_SHARED}, {"d", 1, 1, WG_PASSIVE}};
    static const wg_argument b[] = {{"u", 2, 1, 0}, {"v", 1, 1, 0}, {"mid", 1, 1, 0}};
    static const wg_argument c[] = {{"mid", 1, 1, 0}, {"v", 1, 1, 0}, {"w", 1, 1, 0}};
    static const wg_argument d[] = {{"w", 1, 1, 0}, {"sum", 1, 1, WG_SUMMED}};
    k[0] = make(first, 6, a, at, 3, b);
    k[1] = make(second, 3, c, at, 2, d);
}

static void compare(wg_callable *k[2][2], const size_t *cells, size_t steps, size_t stored,
                    wg_boundary boundary) {
    enum { MOST = 64 };
    static double x[5 * MOST + 2], w[4 * MOST + 1], y[2][4 * MOST + 1], g[2][5 * MOST + 2];
    const size_t c = cells[0] * cells[1] * cells[2], n = 5 * c + 2, m = 4 * c + 1;
    assert_true(c <= MOST);
    for (size_t i = 0; i < n; i++) x[i] = 0.3 + 0.5 * number(i);
    for (size_t i = 0; i < m; i++) w[i] = number(3 * i);
    for (int which = 0; which < 2; which++) {
        loop l = {.k = {k[which][0], k[which][1]}, .cells = c, .steps = steps};
        l.o = (wg_scan_options){{cells[0], cells[1], cells[2]}, {boundary}, stored, NULL, 0};
        if (wg_vjp(tape, loop_scan, &l, n, x, m, w, y[which], g[which]) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
    }
    assert_memory_equal(y[0], y[1], 4 * c * sizeof(double));
    assert_near(y[1][4 * c], y[0][4 * c]);
    assert_memory_equal(g[0], g[1], 5 * c * sizeof(double));
    for (size_t i = 5 * c; i < n; i++) assert_near(g[1][i], g[0][i]); /* sums over cells */
}

static void loops_that_keep_are_the_same_as_loops_that_do_not(void **state) {
    static const size_t cells[][3] = {{1, 1, 1},  {7, 1, 1},  {8, 1, 1},  {9, 1, 1}, {14, 1, 1},
                                      {16, 1, 1}, {33, 1, 1}, {14, 3, 1}, {9, 2, 2}};
    static const size_t steps[] = {0, 1, 5};
    wg_callable *k[2][2];
    (void)state;
    for (size_t i = 0; i < sizeof force / sizeof *force; i++) force[i] = number(2 * i);
    make_loop(k[0]);
    start_compiling();
    make_loop(k[1]);
    for (size_t i = 0; i < 2; i++)
        assert_true(k[0][i]->backward == NULL &&
                    (k[1][i]->backward != NULL) == (k[1][i]->f->native != NULL));
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        for (size_t j = 0; j < sizeof steps / sizeof *steps; j++)
            for (int boundary = 0; boundary < 3; boundary++)
                for (size_t stored = 0; stored < 4; stored += 3)
                    compare(k, cells[i], steps[j], stored, (wg_boundary)boundary);
    for (size_t i = 0; i < 4; i++) wg_callable_free(k[i / 2][i % 2]);
    stop_compiling();
}

/* ---- what is kept of which steps --------------------------------------------------------- */

/* x: u; y: u. */
static wg_status decay(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_mul(x[0], wg_exp(wg_neg(wg_square(x[0])))));
    return WG_OK;
}

static size_t bytes_of(const wg_callable *k, size_t cells, size_t steps, size_t stored) {
    static double x[256], g[2][256];
    const wg_source s = wg_from_state("u");
    const wg_stage stage = {k, &s};
    wg_scan_options o = {.cells = {cells}, .stored = stored};
    size_t bytes = 0;
    for (size_t i = 0; i < cells; i++) x[i] = number(i);
    for (int all = 0; all < 2; all++) { /* the derivatives are the same, whatever is kept */
        wg_stats stats;
        wg_mat y;
        wg_tape_reset(tape);
        const wg_mat a = wg_mat_input(tape, cells, 1, x, cells);
        const wg_state start = {"u", a};
        assert_int_equal(wg_scan(tape, steps, 1, &stage, 1, &start, &o, &y), WG_OK);
        assert_int_equal(wg_tape_stats(tape, &stats), WG_OK);
        if (!all) bytes = (size_t)stats.payload_bytes;
        assert_int_equal(wg_reverse(tape, wg_mat_sum(tape, y)), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, a, g[all], cells), WG_OK);
        o.stored = 3;
    }
    assert_memory_equal(g[0], g[1], cells * sizeof(double));
    return bytes;
}

static void what_is_kept_has_its_bounds(void **state) {
    const wg_argument a = {"u", 1, 1, 0};
    (void)state;
    start_compiling();
    wg_callable *const k = make(decay, 1, &a, at, 1, &a);
    const size_t few = bytes_of(k, 16, 100, 99), many = bytes_of(k, 16, 100, 0);
    if (k->backward != NULL) assert_true(many > few + 100 * 16 * sizeof(double));
    /* a megabyte of numbers, and more */
    const size_t states = 256 * sizeof(double), least = bytes_of(k, 256, 4000, 0),
                 most = bytes_of(k, 256, 4200, 0);
    if (k->backward != NULL) assert_true(least > 2 * 4000 * states && most < 2 * 4200 * states);
    wg_callable_free(k);
    stop_compiling();
}

/* x: u; y: its root. */
static wg_status root(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *user) {
    (void)n, (void)m, (void)user;
    y[0] = wg_let(t, wg_sqrt(x[0]));
    return WG_OK;
}

/* With a derivative inside: a weight of 0 makes an infinite slope nothing, which is looked at
 * again with care, and what was kept until then is wrong. x: u, weight, q; y: u. */
static const wg_callable *slope;

static wg_status weighted(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                          void *user) {
    const wg_mat in[] = {wg_mat_gather(t, 1, 1, x + 2), wg_mat_gather(t, 1, 1, x + 1)};
    wg_mat d;
    (void)n, (void)m, (void)user;
    const wg_status s = wg_call(t, slope, in, &d);
    if (s != WG_OK) return s;
    const wg_real e = wg_let(t, wg_select_lt(wg_mat_at(d, 0, 0), 5, wg_mat_at(d, 0, 0), 3));
    y[0] = wg_let(t, wg_mul(wg_add(wg_tanh(e), 0.5), x[0]));
    return WG_OK;
}

static wg_callable *slope_of_root(void) {
    const wg_argument in = {"x", 1, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL, *g = NULL;
    wg_callable *k = NULL;
    assert_int_equal(wg_function_record(coded, root, NULL, 1, &in, at, 1, &out, &f), WG_OK);
    assert_int_equal(wg_function_vjp(coded, f, &g), WG_OK);
    assert_int_equal(wg_callable_new(coded, g, &k), WG_OK);
    wg_function_free(f);
    wg_function_free(g);
    return k;
}

static void steps_done_with_care_keep_nothing(void **state) {
    enum { CELLS = 11, STEPS = 6 };
    const wg_argument in[] = {
        {"u", 1, 1, 0}, {"weight", 1, 1, WG_PASSIVE}, {"q", 1, 1, WG_PASSIVE}};
    const wg_argument out = {"u", 1, 1, 0};
    static double x[CELLS], weight[STEPS * CELLS], q[STEPS * CELLS], g[2][CELLS], y[2][CELLS];
    wg_callable *const inner = slope_of_root();
    (void)state;
    slope = inner;
    start_compiling();
    const char *const where = compile_to;
    for (size_t i = 0; i < CELLS; i++) x[i] = 0.5 + fabs(number(i));
    for (size_t i = 0; i < STEPS * CELLS; i++) { /* in some steps, not in all */
        const int none = i % CELLS == 3 && i / CELLS % 2 == 0;
        weight[i] = none ? 0 : 1 + fabs(number(i));
        q[i] = none ? 0 : 0.75 + fabs(number(3 * i));
    }
    for (int which = 0; which < 2; which++) {
        compile_to = which ? where : NULL;
        wg_callable *const k = make(weighted, 3, in, at, 1, &out);
        const wg_source from[] = {wg_from_state("u"), wg_each_step(wg_from_data(weight, 1, 1)),
                                  wg_each_step(wg_from_data(q, 1, 1))};
        const wg_stage stage = {k, from};
        const wg_scan_options o = {.cells = {CELLS}};
        wg_mat r;
        wg_tape_reset(tape);
        const wg_mat a = wg_mat_input(tape, CELLS, 1, x, CELLS);
        const wg_state start = {"u", a};
        if (wg_scan(tape, STEPS, 1, &stage, 1, &start, &o, &r) != WG_OK)
            fail_msg("%s", wg_tape_message(tape));
        assert_int_equal(wg_mat_value(tape, r, y[which], CELLS), WG_OK);
        assert_int_equal(wg_reverse(tape, wg_mat_sum(tape, r)), WG_OK);
        assert_int_equal(wg_mat_adjoint(tape, a, g[which], CELLS), WG_OK);
        wg_callable_free(k);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    assert_true(!isnan(g[0][3]) && g[0][3] != 0);
    wg_callable_free(inner);
    stop_compiling();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adjoint_that_is_given_values_computes_the_same),
        cmocka_unit_test(arithmetic_keeps_nothing),
        cmocka_unit_test(loops_that_keep_are_the_same_as_loops_that_do_not),
        cmocka_unit_test(what_is_kept_has_its_bounds),
        cmocka_unit_test(steps_done_with_care_keep_nothing),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_all);
}
