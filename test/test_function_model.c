/* SPDX-License-Identifier: MIT */
/* test_function_model.c - models: dimensions that have to agree, nodes and what they depend on,
 * computations, derivatives as nodes, variables and their files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <wengert.h>
#include "counted.h"
#include "pools.h"
#include "tolerance.h"

static wg_tape *tape;
static wg_model *m;

static int open_model(void **state) {
    const wg_options opt = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&opt);
    return tape == NULL || wg_model_new(tape, &m) != WG_OK;
}
static int close_model(void **state) {
    (void)state;
    wg_model_free(m);
    wg_tape_free(tape);
    return 0;
}

static void assert_has(const char *text, const char *part) {
    if (strstr(text, part) == NULL) fail_msg("this text: %s\ndoes not hold: %s", text, part);
}
static void assert_ok(wg_status s) {
    if (s != WG_OK) fail_msg("%s: %s", wg_status_text(s), wg_tape_message(tape));
}
/* The call was refused, with a message that holds the part; the recording is in order. */
static void assert_refused(wg_status s, wg_status expected, const char *part) {
    assert_int_equal(s, expected);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_has(wg_tape_message(tape), part);
}
/* Recording failed; the tape goes back to before. */
static void assert_failed(wg_mat a, wg_mark before, wg_status expected, const char *part) {
    assert_null(a.value);
    assert_int_equal(wg_tape_status(tape), expected);
    assert_has(wg_tape_message(tape), part);
    assert_ok(wg_tape_rewind(tape, before));
}

static const wg_dim one = {NULL, 1}, rows = {"rows", 3}, cols = {"cols", 2},
                    other = {"other", 3}, three = {NULL, 3};

static wg_mat placeholder(const char *name, wg_dim r, wg_dim c) {
    return wg_model_placeholder(m, name, r, c, 0, NULL);
}
static wg_node node(wg_mat a) {
    wg_node n = {0};
    assert_ok(wg_model_node(m, a, &n));
    return n;
}
static wg_function *function(size_t count, const wg_mat *y) {
    wg_function *f = NULL;
    assert_ok(wg_model_function(m, count, y, &f));
    return f;
}
static size_t operations(const wg_function *f) {
    wg_function_stats s;
    assert_ok(wg_function_statistics(f, &s));
    return s.once + s.each + s.after;
}

/* ---- dimensions ---- */

static void dimensions_that_differ_are_named(void **state) {
    (void)state;
    const wg_mat a = placeholder("a", rows, cols), b = placeholder("b", other, one);
    const wg_mark before = wg_tape_mark(tape);
    const int line = __LINE__ + 1;
    const wg_mat y = wg_model_op(m, wg_matmul, a, b);
    char place[64];
    (void)snprintf(place, sizeof place, "test_function_model.c:%d)", line);
    assert_has(wg_tape_message(tape), place);
    assert_failed(y, before, WG_ESHAPE,
                  "wg_matmul of [rows 3, cols 2], [other 3, 1]: cols 2 meets other 3");
    /* of one size, but not of one name */
    const wg_mat c = placeholder("c", rows, one);
    const wg_mark again = wg_tape_mark(tape);
    assert_failed(wg_model_op(m, wg_mat_add, b, c), again, WG_ESHAPE,
                  "wg_mat_add of [other 3, 1], [rows 3, 1]: other 3 meets rows 3");
    assert_failed(wg_model_op(m, wg_mat_clamp, c, c, b), again, WG_ESHAPE,
                  "wg_mat_clamp of [rows 3, 1], [rows 3, 1], [other 3, 1]");
    assert_failed(wg_model_op(m, wg_matmul, wg_mat_transpose(a), b), again, WG_ESHAPE,
                  "[cols 2, rows 3], [other 3, 1]: rows 3 meets other 3");
    assert_failed(wg_model_op(m, wg_solve, placeholder("s", rows, rows), b), again, WG_ESHAPE,
                  "wg_solve of [rows 3, rows 3], [other 3, 1]");
}

static void dimensions_follow_operations(void **state) {
    (void)state;
    const wg_mat a = placeholder("a", rows, cols), b = placeholder("b", cols, one);
    const wg_mat plain = placeholder("plain", three, one);
    wg_node n = node(wg_model_op(m, wg_matmul, a, b));
    assert_string_equal(n.rows.name, "rows");
    assert_int_equal(n.rows.size, 3);
    assert_null(n.cols.name);
    /* without a name one goes with any; a row goes with any number of rows */
    n = node(wg_model_op(m, wg_mat_mul, plain, wg_mat_col(a, 1)));
    assert_string_equal(n.rows.name, "rows");
    n = node(wg_model_op(m, wg_mat_add, a, wg_mat_row(a, 0)));
    assert_string_equal(n.rows.name, "rows");
    assert_string_equal(n.cols.name, "cols");
    n = node(wg_model_op(m, wg_mat_exp, wg_mat_transpose(a)));
    assert_string_equal(n.rows.name, "cols");
    assert_string_equal(n.cols.name, "rows");
    /* a part of it is another dimension */
    n = node(wg_model_op(m, wg_mat_exp, wg_mat_block(a, 1, 0, 2, 2)));
    assert_null(n.rows.name);
    assert_string_equal(n.cols.name, "cols");
    /* what has no rule is done as it is */
    const wg_mat u = wg_model_op(m, wg_outer, plain, b);
    assert_null(node(u).rows.name);
    (void)wg_model_name(m, u, "u", "rows", NULL);
    assert_string_equal(node(u).rows.name, "rows");
    assert_null(node(u).cols.name);
    assert_ok(wg_tape_status(tape));
}

/* ---- nodes ---- */

static void nodes_know_their_names_and_places(void **state) {
    (void)state;
    const int line = __LINE__ + 1;
    const wg_mat x = placeholder("x", rows, one), e = wg_model_op(m, wg_mat_exp, x);
    wg_node n = node(e);
    assert_int_equal(n.kind, WG_OPERATION);
    assert_string_equal(n.name, "exp_1");
    assert_string_equal(n.operation, "wg_mat_exp");
    assert_has(n.file, "test_function_model.c");
    assert_int_equal(n.line, line);
    const wg_mat c = wg_model_name(m, wg_mat_fill(tape, 3, 1, 2), "two", "rows", NULL);
    assert_int_equal(node(c).kind, WG_CONSTANT);
    assert_int_equal(node(wg_model_op(m, wg_mat_exp, c)).kind, WG_CONSTANT);
    assert_int_equal(node(x).kind, WG_PLACEHOLDER);
    assert_int_equal(node(wg_model_variable(m, "v", rows, one, wg_initial_fill(0))).kind,
                     WG_VARIABLE);
    (void)wg_model_name(m, e, "e", NULL, NULL);
    assert_string_equal(node(e).name, "e");
    (void)wg_model_name(m, e, "e", NULL, "cols");
    assert_string_equal(node(e).cols.name, "cols");
    const wg_mat sum = wg_model_name(m, wg_mat_sum_axis(tape, e, WG_ALL), NULL, NULL, NULL);
    assert_string_equal(node(sum).operation, "wg_mat_sum");
    assert_string_equal(node(sum).name, "sum_5");
    assert_ok(wg_tape_status(tape));
    const wg_mark before = wg_tape_mark(tape);
    assert_failed(placeholder("e", rows, one), before, WG_EARG, "the name e is taken");
    assert_failed(placeholder("e f", rows, one), before, WG_EARG, "no word: 'e f'");
    assert_failed(wg_model_name(m, sum, "x", NULL, NULL), before, WG_EARG, "x is taken");
    assert_failed(wg_model_name(m, x, "z", NULL, NULL), before, WG_EARG, "x keeps its name");
    assert_failed(wg_model_name(m, wg_mat_row(x, 7), "z", NULL, NULL), before, WG_ESHAPE, "z");
    assert_failed(wg_model_placeholder(m, "f", one, one, 4, NULL), before, WG_EARG, "flags 4");
    assert_failed(placeholder("h", (wg_dim){NULL, SIZE_MAX / 2}, cols), before, WG_ESHAPE, "h");
    wg_node none;
    assert_refused(wg_model_node(m, wg_mat_row(x, 0), &none), WG_EARG, "no node");
}

static void assert_found(unsigned kinds, const char *tag, wg_mat y, const char *expected) {
    wg_mat found[8];
    char names[256] = "";
    const size_t n = wg_model_find(m, kinds, NULL, tag, &y, 8, found);
    for (size_t k = 0; k < n; k++) {
        (void)strcat(names, node(found[k]).name);
        (void)strcat(names, " ");
    }
    assert_string_equal(names, expected);
}

/* y through matrices; z through statements, of one element of v; q of nothing. */
static void what_a_node_depends_on_is_found(void **state) {
    (void)state;
    const wg_mat x = placeholder("x", cols, one);
    const wg_mat w = wg_model_variable(m, "w", rows, cols, wg_initial_fill(0.5));
    const wg_mat v = wg_model_variable(m, "v", cols, one, wg_initial_fill(0.25));
    const wg_mat unused = wg_model_variable(m, "unused", cols, one, wg_initial_fill(1));
    assert_ok(wg_model_tag(m, w, "weights"));
    assert_ok(wg_model_tag(m, w, "slow"));
    assert_ok(wg_model_tag(m, v, "slow"));
    assert_ok(wg_model_tag(m, unused, "slow"));
    const wg_mat wx = wg_model_op(m, wg_matmul, w, x), y = wg_model_op(m, wg_mat_tanh, wx);
    const wg_real s = wg_let(tape, wg_mul(wg_mat_at(v, 1, 0), 3.0));
    const wg_real parts[2] = {s, wg_constant(1)}, list[3] = {s, parts[1], s};
    const wg_real l = wg_logsumexp(tape, 3, list);
    const wg_mat z = wg_model_name(m, wg_mat_add(tape, wg_mat_gather(tape, 2, 1, parts), x),
                                   "z", NULL, NULL);
    const wg_mat q = wg_model_name(m, wg_mat_gather(tape, 1, 1, &l), "q", NULL, NULL);
    enum { LEAVES = WG_PLACEHOLDER | WG_VARIABLE };
    assert_found(LEAVES, NULL, y, "x w ");
    assert_found(WG_VARIABLE, NULL, y, "w ");
    assert_found(LEAVES, NULL, z, "x v ");
    assert_found(LEAVES, NULL, q, "v ");
    assert_found(LEAVES, "slow", y, "w ");
    assert_found(LEAVES, "weights", z, "");
    assert_found(WG_OPERATION, NULL, y, "matmul_4 ");
    assert_found(LEAVES, NULL, w, "");
    /* through a derivative, and a sum */
    const wg_mat total = wg_model_sum(m, wg_model_op(m, wg_mat_mul, q, q));
    wg_mat d;
    assert_ok(wg_model_gradient(m, total, 1, &v, &d));
    assert_found(LEAVES, NULL, d, "v ");
    assert_found(WG_OPERATION, NULL, d, "q mul_8 sum_mul_8 ");
    wg_mat found[2];
    assert_int_equal(wg_model_find(m, LEAVES, NULL, "slow", NULL, 0, NULL), 3);
    assert_int_equal(wg_model_find(m, LEAVES, NULL, "slow", NULL, 2, found), 3);
    assert_ptr_equal(found[1].value, v.value);
    assert_int_equal(wg_model_find(m, LEAVES, "v", NULL, NULL, 2, found), 1);
    assert_ptr_equal(found[0].value, v.value);
    assert_int_equal(wg_model_find(m, LEAVES, "nobody", NULL, NULL, 2, found), 0);
    const wg_mat row = wg_mat_row(w, 0);
    assert_int_equal(wg_model_find(m, LEAVES, NULL, NULL, &row, 2, found), 0);
    assert_has(wg_tape_message(tape), "wg_model_find: y is no node");
}

typedef struct bytes {
    char at[8192];
    size_t n, read, room; /* room: writing fails beyond it */
} bytes;
static int put(void *ctx, const char *text, size_t n) {
    bytes *const b = ctx;
    if (n > b->room - b->n) return 1;
    memcpy(b->at + b->n, text, n);
    b->n += n;
    return 0;
}
static size_t get(void *ctx, void *data, size_t n) {
    bytes *const b = ctx;
    const size_t there = b->n - b->read < n ? b->n - b->read : n;
    memcpy(data, b->at + b->read, there);
    b->read += there;
    return there;
}
static bytes empty(void) {
    bytes b;
    memset(&b, 0, sizeof b);
    b.room = sizeof b.at - 1;
    return b;
}

static void a_model_is_printed_and_drawn(void **state) {
    (void)state;
    const wg_mat x =
        wgi_model_placeholder_at("m.c", 1, m, "x", cols, one, WG_SHARED | WG_PASSIVE, NULL);
    const wg_mat v = wgi_model_variable_at("m.c", 2, m, "v", cols, one, wg_initial_fill(1));
    assert_ok(wg_model_tag(m, v, "slow"));
    const wg_mat y = wgi_model_op2_at("m.c", 3, m, "wg_mat_sub", wg_mat_sub, v, x);
    const wg_mat s = wg_mat_sum_axis(tape, wg_mat_square(tape, y), WG_ALL);
    (void)wgi_model_name_at("m.c", 4, m, s, "s", NULL, NULL);
    wg_mat d;
    assert_ok(wgi_model_gradient_at("m \"\\.c", 5, m, s, 1, &v, &d));
    assert_ok(wg_model_update(m, v, y));
    bytes b = empty();
    assert_ok(wg_model_print(m, put, &b));
    assert_string_equal(b.at, "x = placeholder shared passive [cols 2, 1]  ; m.c:1\n"
                              "v = variable [cols 2, 1] #slow  ; m.c:2\n"
                              "sub_2 = wg_mat_sub of v, x [cols 2, 1]  ; m.c:3\n"
                              "v <- sub_2\n"
                              "s = wg_mat_sum of sub_2 [1, 1]  ; m.c:4\n"
                              "ds/dv = derivative of s by v [cols 2, 1]  ; m \\\"\\\\.c:5\n");
    bytes g = empty();
    assert_ok(wg_model_dot(m, put, &g));
    assert_has(g.at, "digraph model {\n    \"x\" [shape=box, label=\"x\\n");
    assert_has(g.at, "    \"v\" -> \"sub_2\";\n    \"x\" -> \"sub_2\";\n"
                     "    \"sub_2\" -> \"v\" [style=dashed];\n");
    assert_has(g.at, "    \"s\" -> \"ds/dv\";\n    \"v\" -> \"ds/dv\";\n}\n");
    for (size_t room = 0; room < b.n; room += 40) {
        bytes small = empty();
        small.room = room;
        assert_int_equal(wg_model_print(m, put, &small), WG_EWRITE);
    }
}

/* ---- computations ---- */

enum { POINTS = 37 };
static double xs[POINTS][2], ts[POINTS][3];

static void make_data(void) {
    for (size_t p = 0; p < POINTS; p++) {
        for (size_t j = 0; j < 2; j++) xs[p][j] = sin(1.7 * (double)(p + 40 * j));
        for (size_t i = 0; i < 3; i++) ts[p][i] = cos(0.9 * (double)(p * p + i));
    }
}

/* tanh(w x + b) with a squared error, summed. */
static struct { wg_mat x, t, w, b, wx, y, error, loss; } g;

static void build(void) {
    make_data();
    const double sample[2] = {0.3, -0.7}, target[3] = {0.1, 0.2, -0.3};
    g.x = wg_model_placeholder(m, "x", cols, one, 0, sample);
    g.t = wg_model_placeholder(m, "t", rows, one, WG_PASSIVE, target);
    g.w = wg_model_variable(m, "w", rows, cols, wg_initial_normal(3, 0, 0.5));
    g.b = wg_model_variable(m, "b", rows, one, wg_initial_uniform(4, -1, 1));
    g.wx = wg_model_op(m, wg_matmul, g.w, g.x);
    g.y = wg_model_op(m, wg_mat_tanh, wg_model_op(m, wg_mat_add, g.wx, g.b));
    const wg_mat e = wg_model_op(m, wg_mat_sub, g.y, g.t);
    g.error = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_square, e), WG_ALL);
    (void)wg_model_name(m, g.error, "error", NULL, NULL);
    g.loss = wg_model_sum(m, g.error);
    assert_ok(wg_tape_status(tape));
}

static void feed(void) {
    assert_ok(wg_model_feed(m, g.x, xs[0], 2, 1));
    assert_ok(wg_model_feed(m, g.t, ts[0], 3, 1));
}

/* By hand: the loss, and its gradient by w and b. */
static double by_hand(const double *w, const double *b, double *dw, double *db) {
    double loss = 0;
    memset(dw, 0, 6 * sizeof *dw);
    memset(db, 0, 3 * sizeof *db);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i < 3; i++) {
            const double y = tanh(w[i] * xs[p][0] + w[i + 3] * xs[p][1] + b[i]);
            const double e = y - ts[p][i], d = 2 * e * (1 - y * y);
            loss += e * e;
            db[i] += d;
            dw[i] += d * xs[p][0];
            dw[i + 3] += d * xs[p][1];
        }
    return loss;
}

static void assert_near(const double *a, const double *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 1000 * 0x1p-52 * (1 + fabs(b[i]))))
            fail_msg("%zu: %.17g, not %.17g", i, a[i], b[i]);
}

static void only_what_is_asked_for_is_run(void **state) {
    (void)state;
    build();
    wg_function *const wx = function(1, &g.wx), *const y = function(1, &g.y);
    wg_function *const both = function(2, (wg_mat[]){g.wx, g.y});
    wg_function *const leaf = function(1, &g.w);
    assert_int_equal(wg_function_inputs(wx), 2);
    assert_string_equal(wg_function_input(wx, 0)->name, "x");
    assert_string_equal(wg_function_input(wx, 1)->name, "w");
    assert_int_equal(wg_function_input(wx, 1)->flags, WG_SHARED);
    assert_int_equal(operations(wx), 9);
    assert_int_equal(operations(y), 15);
    assert_int_equal(operations(both), 15);
    assert_int_equal(operations(leaf), 0);
    assert_string_equal(wg_function_output(both, 1)->name, node(g.y).name);
    wg_function_free(wx);
    wg_function_free(y);
    wg_function_free(both);
    wg_function_free(leaf);
    wg_function *f;
    assert_refused(wg_model_function(m, 2, (wg_mat[]){g.y, g.y}, &f), WG_EARG, "two outputs");
    assert_null(f);
    const wg_mat row = wg_mat_row(g.w, 0);
    assert_refused(wg_model_function(m, 1, &row, &f), WG_EARG, "an output is no node");
}

static void computations_share_variables(void **state) {
    (void)state;
    build();
    wg_function *const y = function(1, &g.y), *const loss = function(1, &g.loss);
    double *const w = wg_model_values(m, g.w), *const b = wg_model_values(m, g.b);
    double first[POINTS][3], value, dw[6], db[3];
    feed();
    for (int round = 0; round < 2; round++) {
        assert_ok(wg_model_run(m, y, POINTS, &(wg_results){first[0], 3, 1}, NULL));
        for (size_t p = 0; p < POINTS; p++) {
            double expected[3];
            for (size_t i = 0; i < 3; i++)
                expected[i] = tanh(w[i] * xs[p][0] + w[i + 3] * xs[p][1] + b[i]);
            assert_near(first[p], expected, 3);
        }
        assert_ok(wg_model_run(m, loss, POINTS, &(wg_results){&value, 0, 1}, pool_of(2)));
        const double expected = by_hand(w, b, dw, db);
        assert_near(&value, &expected, 1);
        for (size_t i = 0; i < 6; i++) w[i] += 0.1;
    }
    assert_ok(wg_model_initialise(m));
    assert_true(w[0] != g.w.value[0] + 0.1);
    assert_memory_equal(w, g.w.value, 6 * sizeof *w);
    wg_function_free(y);
    wg_function_free(loss);
}

/* All updates of a run are done with the values before it. */
static void updates_happen_together(void **state) {
    (void)state;
    const double a0[2] = {1, 2}, b0[2] = {-0.0, 5};
    const wg_mat a = wg_model_variable(m, "a", cols, one, wg_initial_values(a0));
    const wg_mat b = wg_model_variable(m, "b", cols, one, wg_initial_values(b0));
    const wg_mat x = placeholder("x", cols, one);
    const wg_mat u = wg_model_op(m, wg_mat_neg, a), v = wg_model_op(m, wg_mat_neg, b);
    const wg_mat k = wg_model_op(m, wg_mat_mul, a, x), sum = wg_model_sum(m, k);
    assert_ok(wg_model_update(m, a, v));
    assert_ok(wg_model_update(m, b, u));
    wg_function *const swap = function(2, (wg_mat[]){u, v});
    const double *const av = wg_model_values(m, a), *const bv = wg_model_values(m, b);
    assert_ok(wg_model_run(m, swap, 3, NULL, NULL));
    assert_true(av[0] == 0 && !signbit(av[0]) && av[1] == -5);
    assert_true(bv[0] == -1 && bv[1] == -2);
    wg_function_free(swap);
    /* by a sum over the points; not by one value per point */
    double points[4] = {1, 10, 2, 20};
    assert_ok(wg_model_feed(m, x, points, 2, 1));
    assert_ok(wg_model_update(m, b, sum));
    assert_ok(wg_model_update(m, a, k));
    wg_function *const add = function(1, &sum), *const each = function(1, &k);
    assert_ok(wg_model_initialise(m));
    assert_ok(wg_model_run(m, add, 2, NULL, NULL));
    assert_true(bv[0] == 3 && bv[1] == 60);
    assert_refused(wg_model_run(m, each, 2, NULL, NULL), WG_EARG, "of a is one per point");
    /* two of one variable */
    assert_ok(wg_model_update(m, b, u));
    assert_ok(wg_model_update(m, b, v));
    wg_function *const two = function(2, (wg_mat[]){u, v});
    assert_refused(wg_model_run(m, two, 1, NULL, NULL), WG_EARG, "two outputs update b");
    assert_true(bv[0] == 3 && bv[1] == 60);
    assert_refused(wg_model_update(m, x, u), WG_EARG, "x is no variable");
    const wg_mat r = wg_model_variable(m, "r", rows, one, wg_initial_fill(0));
    assert_refused(wg_model_update(m, a, r), WG_ESHAPE, "a has cols 2 where r has rows 3");
    assert_refused(wg_model_update(m, a, wg_mat_row(r, 0)), WG_EARG, "no node");
    wg_function_free(add);
    wg_function_free(each);
    wg_function_free(two);
}

/* Without points nothing is written but sums: variables are not what the workspace held. */
static void a_run_without_points_leaves_variables(void **state) {
    (void)state;
    enum { N = 40 };
    const double a0[2] = {3, 3}, shift = 1, in[N] = {5, 6, 7};
    double many[N * 10];
    const wg_mat a = wg_model_variable(m, "a", cols, one, wg_initial_values(a0));
    const wg_mat b = wg_model_variable(m, "b", cols, one, wg_initial_values(a0));
    const wg_mat by = wg_model_placeholder(m, "by", one, one, WG_SHARED, NULL);
    const wg_mat x = placeholder("x", cols, one),
                 big = placeholder("big", (wg_dim){NULL, N}, one);
    const wg_mat next = wg_model_op(m, wg_mat_add, a, by), sum = wg_model_sum(m, x);
    const wg_mat other_one = wg_model_op(m, wg_mat_exp, big);
    assert_ok(wg_model_update(m, a, next));
    assert_ok(wg_model_update(m, b, sum));
    wg_function *const step = function(1, &next), *const all = function(1, &sum),
                       *const dirt = function(1, &other_one);
    assert_ok(wg_model_feed(m, by, &shift, 0, 1));
    assert_ok(wg_model_feed(m, x, in, 0, 1));
    assert_ok(wg_model_feed(m, big, in, 0, 1));
    assert_ok(wg_model_run(m, dirt, 10, &(wg_results){many, N, 1}, NULL));
    assert_ok(wg_model_run(m, step, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 3);
    assert_ok(wg_model_run(m, all, 0, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, b)[i] == 0);
    assert_ok(wg_model_run(m, step, 1, NULL, NULL));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 4);
    /* one place for all points, many points, several threads */
    assert_ok(wg_model_run(m, step, 100000, NULL, pool_of(3)));
    for (int i = 0; i < 2; i++) assert_true(wg_model_values(m, a)[i] == 5);
    wg_function_free(step);
    wg_function_free(all);
    wg_function_free(dirt);
}

/* Nodes without elements, of one shape, at one place of the tape. */
static void nodes_without_elements_are_told_apart(void **state) {
    (void)state;
    const wg_dim none = {NULL, 0};
    const wg_mat a = wg_model_placeholder(m, "a", none, one, WG_SHARED, NULL);
    const wg_mat b = wg_model_variable(m, "b", none, one, wg_initial_fill(1));
    const wg_mat c = wg_model_variable(m, "c", none, one, wg_initial_fill(1));
    const wg_mat e = wg_model_op(m, wg_mat_exp, b), h = wg_model_op(m, wg_mat_exp, a);
    assert_string_equal(node(a).name, "a");
    assert_string_equal(node(b).name, "b");
    assert_string_equal(node(c).name, "c");
    assert_int_equal(node(b).kind, WG_VARIABLE);
    assert_null(wg_model_values(m, a));
    assert_true(wg_model_values(m, b) != NULL &&
                wg_model_values(m, b) != wg_model_values(m, c));
    assert_string_not_equal(node(e).name, node(h).name);
    assert_ok(wg_model_update(m, b, e));
    wg_function *const f = function(1, &e);
    assert_ok(wg_model_run(m, f, 1, NULL, NULL));
    wg_function_free(f);
}

static void runs_that_cannot_be_are_refused(void **state) {
    (void)state;
    build();
    wg_function *const y = function(1, &g.y);
    double out[3];
    const wg_results r = {out, 3, 1};
    assert_refused(wg_model_run(m, y, 1, &r, NULL), WG_EARG, "x is not fed");
    assert_refused(wg_model_feed(m, g.w, out, 0, 1), WG_EARG, "w is no placeholder");
    assert_refused(wg_model_feed(m, g.x, NULL, 0, 1), WG_ENULL, "the data of x are NULL");
    feed();
    assert_ok(wg_model_run(m, y, 1, &r, NULL));
    wg_function *other_flags;
    wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const work = wg_tape_new(&opt);
    assert_ok(wg_function_flag(work, y, "w", 0, &other_flags));
    assert_refused(wg_model_run(m, other_flags, 1, &r, NULL), WG_EARG, "w is shared");
    wg_function_free(other_flags);
    /* anything made from computations runs as well, if its inputs are the model's */
    wg_function *jvp;
    assert_ok(wg_function_jvp(work, y, &jvp));
    assert_refused(wg_model_run(m, jvp, 1, &r, NULL), WG_EARG, "no placeholder or variable d");
    wg_function_free(jvp);
    wg_model *second;
    assert_ok(wg_model_new(work, &second));
    (void)wg_model_placeholder(second, "x", rows, one, 0, NULL);
    assert_int_equal(wg_model_run(second, y, 1, &r, NULL), WG_ESHAPE);
    assert_has(wg_tape_message(work), "x is 3x1, the input 2x1");
    wg_model_free(second);
    wg_tape_free(work);
    wg_function_free(y);
}

static void a_comparison_stops_an_update(void **state) {
    (void)state;
    const wg_mat x = placeholder("x", one, one);
    const wg_mat v = wg_model_variable(m, "v", one, one, wg_initial_fill(1));
    const wg_real at = wg_mat_at(x, 0, 0);
    const wg_real y = wg_lt(tape, at, wg_constant(0.5)) ? wg_let(tape, wg_mul(2.0, at)) : at;
    const wg_mat s =
        wg_model_sum(m, wg_model_name(m, wg_mat_gather(tape, 1, 1, &y), "y", NULL, NULL));
    assert_ok(wg_model_update(m, v, s));
    wg_function *const f = function(1, &s);
    const double points[3] = {0.25, 0.125, 0.75};
    assert_ok(wg_model_feed(m, x, points, 1, 1));
    assert_ok(wg_model_run(m, f, 2, NULL, NULL));
    assert_true(*wg_model_values(m, v) == 0.75);
    assert_refused(wg_model_run(m, f, 3, NULL, NULL), WG_EGUARD, "at point 2");
    assert_true(*wg_model_values(m, v) == 0.75);
    wg_function_free(f);
}

/* ---- derivatives ---- */

static void derivatives_are_nodes(void **state) {
    (void)state;
    build();
    const wg_mat by[2] = {g.w, g.b};
    wg_mat d[2], at_point[2], dx;
    assert_ok(wg_model_gradient(m, g.loss, 2, by, d));
    assert_ok(wg_model_gradient(m, g.error, 2, by, at_point));
    assert_ok(wg_model_gradient(m, g.error, 1, &g.x, &dx));
    assert_string_equal(node(at_point[0]).name, "derror/dw");
    assert_string_equal(node(d[1]).rows.name, "rows");
    /* at the recorded point there is one point, and the tape's own derivative */
    double adjoint[6], x_adjoint[2];
    assert_ok(wg_mat_reverse(tape, g.error, NULL, 1));
    assert_ok(wg_mat_adjoint(tape, g.w, adjoint, 3));
    assert_ok(wg_mat_adjoint(tape, g.x, x_adjoint, 2));
    assert_near(d[0].value, adjoint, 6);
    assert_near(at_point[0].value, adjoint, 6);
    assert_near(dx.value, x_adjoint, 2);
    /* at many they are summed, or not */
    wg_function *const f = function(3, (wg_mat[]){d[0], d[1], at_point[1]});
    double dw[6], db[3], each[POINTS][3], total[3] = {0}, expected_dw[6], expected_db[3];
    feed();
    const wg_results r[3] = {{dw, 0, 1}, {db, 0, 1}, {each[0], 3, 1}};
    assert_ok(wg_model_run(m, f, POINTS, r, NULL));
    (void)by_hand(wg_model_values(m, g.w), wg_model_values(m, g.b), expected_dw, expected_db);
    for (size_t p = 0; p < POINTS; p++)
        for (size_t i = 0; i < 3; i++) total[i] += each[p][i];
    assert_near(dw, expected_dw, 6);
    assert_near(db, expected_db, 3);
    assert_near(total, expected_db, 3);
    wg_function_free(f);
}

static void derivatives_are_differentiated_again(void **state) {
    (void)state;
    build();
    const wg_mat v = wg_model_placeholder(m, "v", rows, cols, WG_SHARED | WG_PASSIVE, NULL);
    wg_mat d, hv, third, again;
    assert_ok(wg_model_gradient(m, g.loss, 1, &g.w, &d));
    wg_mat slope = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_mul, d, v), WG_ALL);
    (void)wg_model_name(m, slope, "slope", NULL, NULL);
    assert_ok(wg_model_gradient(m, slope, 1, &g.w, &hv));
    assert_ok(wg_model_gradient(m, slope, 1, &g.w, &again)); /* a name of its own */
    assert_string_equal(node(hv).name, "dslope/dw");
    assert_string_equal(node(again).name, "dslope_2/dw");
    wg_mat bend = wg_mat_sum_axis(tape, wg_model_op(m, wg_mat_mul, hv, v), WG_ALL);
    (void)wg_model_name(m, bend, "bend", NULL, NULL);
    assert_ok(wg_model_gradient(m, bend, 1, &g.w, &third));
    /* both by differences of the one before, along v */
    wg_function *const f = function(3, (wg_mat[]){d, hv, third});
    const double direction[6] = {0.5, -1, 0.25, 1, 0.75, -0.5}, h = 0x1p-17;
    double *const w = wg_model_values(m, g.w), y[3][3][6];
    feed();
    assert_ok(wg_model_feed(m, v, direction, 0, 1));
    for (int side = -1; side <= 1; side++) {
        const wg_results r[3] = {
            {y[side + 1][0], 0, 1}, {y[side + 1][1], 0, 1}, {y[side + 1][2], 0, 1}};
        for (size_t i = 0; i < 6; i++) w[i] = g.w.value[i] + side * h * direction[i];
        assert_ok(wg_model_run(m, f, POINTS, r, NULL));
    }
    for (int order = 0; order < 2; order++)
        for (size_t i = 0; i < 6; i++) {
            const double by = (y[2][order][i] - y[0][order][i]) / (2 * h);
            assert_true(fabs(by - y[1][order + 1][i]) <= 0x1p-24 * (1 + fabs(by)));
            assert_true(y[1][order + 1][i] != 0);
        }
    wg_function_free(f);
}

static void derivatives_of_what_is_not_there_are_zero(void **state) {
    (void)state;
    build();
    const wg_mat alone = wg_model_variable(m, "alone", cols, one, wg_initial_fill(1));
    const wg_mat by[3] = {alone, g.b, g.w};
    wg_mat d[3];
    assert_ok(wg_model_gradient(m, g.loss, 3, by, d));
    assert_int_equal(node(d[0]).kind, WG_CONSTANT);
    assert_int_equal(d[0].rows, 2);
    assert_string_equal(node(d[0]).rows.name, "cols");
    assert_true(d[0].value[0] == 0 && d[0].value[1] == 0);
    assert_string_equal(node(d[1]).name, "dsum_error/db");
    assert_string_equal(node(d[2]).name, "dsum_error/dw");
    double expected[3];
    assert_ok(wg_mat_reverse(tape, g.error, NULL, 1));
    assert_ok(wg_mat_adjoint(tape, g.b, expected, 3));
    assert_near(d[1].value, expected, 3);
    wg_function *const f = function(1, d);
    assert_int_equal(wg_function_inputs(f), 0);
    wg_function_free(f);
}

static void assert_no_gradient(wg_mat y, wg_mat x, wg_status expected, const char *part) {
    const wg_mark before = wg_tape_mark(tape);
    wg_mat d = g.x;
    assert_int_equal(wg_model_gradient(m, y, 1, &x, &d), expected);
    assert_failed(d, before, expected, part);
}

static void gradients_that_cannot_be_are_refused(void **state) {
    (void)state;
    build();
    assert_no_gradient(g.error, g.t, WG_EARG, "t is passive");
    assert_no_gradient(g.error, g.y, WG_EARG, "no placeholder and no variable");
    assert_no_gradient(g.error, wg_mat_row(g.w, 0), WG_EARG, "one of x is no node");
    assert_no_gradient(g.y, g.w, WG_ESHAPE, "3x1, not one number");
    assert_no_gradient(wg_mat_row(g.y, 0), g.w, WG_EARG, "y is no node");
    const wg_mark before = wg_tape_mark(tape);
    wg_mat d[2];
    assert_int_equal(wg_model_gradient(m, g.loss, 2, (wg_mat[]){g.w, g.w}, d), WG_EARG);
    assert_failed(d[1], before, WG_EARG, "w twice");
    assert_failed(wg_model_sum(m, wg_mat_row(g.y, 0)), before, WG_EARG, "no node");
    /* a sum that would have to come back to the points */
    const wg_mat s = wg_model_op(m, wg_mat_square, g.loss);
    assert_no_gradient(s, g.w, WG_EMODE, "used at the points");
    wg_mat shifted = wg_model_op(m, wg_mat_mul, g.error, g.loss);
    wg_function *f;
    assert_refused(wg_model_function(m, 1, &shifted, &f), WG_EMODE, "wg_function_compose");
}

/* A sum of what is one for all points counts them. */
static void sums_count_points(void **state) {
    (void)state;
    build();
    const wg_mat s = wg_model_sum(m, g.b), again = wg_model_sum(m, g.b);
    assert_string_equal(node(s).name, "sum_b");
    assert_string_equal(node(again).name, "sum_b_2");
    wg_function *const f = function(1, &s);
    double out[3];
    const double *const b = wg_model_values(m, g.b);
    assert_ok(wg_model_run(m, f, 7, &(wg_results){out, 0, 1}, NULL));
    for (size_t i = 0; i < 3; i++) assert_true(out[i] == 7 * b[i]);
    wg_function_free(f);
}

/* ---- variables ---- */

static void initial_values_are_what_they_were(void **state) {
    (void)state;
    enum { N = 4000 };
    const wg_dim n = {NULL, N};
    const wg_mat u = wg_model_variable(m, "u", n, one, wg_initial_uniform(1, -2, 4));
    const wg_mat g1 = wg_model_variable(m, "g", n, one, wg_initial_normal(1, 3, 2));
    const wg_mat g2 = wg_model_variable(m, "h", n, one, wg_initial_normal(2, 3, 2));
    const double *const v = wg_model_values(m, u), *const a = wg_model_values(m, g1);
    double mean = 0, square = 0, low = 4, high = -2;
    for (size_t i = 0; i < N; i++) {
        low = fmin(low, v[i]), high = fmax(high, v[i]);
        mean += a[i] / N;
        square += (a[i] - 3) * (a[i] - 3) / N;
    }
    assert_true(low >= -2 && low < -1.99 && high < 4 && high > 3.99);
    assert_true(fabs(mean - 3) < 0.15 && fabs(sqrt(square) - 2) < 0.15); /* 4 deviations */
    assert_true(a[0] != wg_model_values(m, g2)[0]);
    /* splitmix64 of seed 1 */
    assert_true(v[0] == -2 + 6 * ((double)(0x910a2dec89025cc1u >> 12) + 0.5) * 0x1p-52);
    const wg_mat row = wg_mat_row(u, 0);
    assert_null(wg_model_values(m, row));
    assert_null(wg_model_values(m, placeholder("x", one, one)));
}

static const double odd[6] = {-0.0, 1e-310, INFINITY, -1.0 / 3, NAN, 1.7976931348623157e308};

static void make_variables(wg_model *to, int turned) {
    for (int k = 0; k < 2; k++)
        if (k != turned) (void)wg_model_variable(to, "w", rows, cols, wg_initial_values(odd));
        else (void)wg_model_variable(to, "b", rows, one, wg_initial_normal(1, 0, 1));
    (void)wg_model_variable(to, "none", (wg_dim){NULL, 0}, cols, wg_initial_fill(1));
}
static double *values_of(wg_model *of, const char *name) {
    wg_mat a;
    assert_int_equal(wg_model_find(of, WG_VARIABLE, name, NULL, NULL, 1, &a), 1);
    return wg_model_values(of, a);
}
static void spoil(wg_model *of) {
    for (size_t i = 0; i < 6; i++) values_of(of, "w")[i] = 7;
    for (size_t i = 0; i < 3; i++) values_of(of, "b")[i] = 8;
}

static void variables_come_back_from_a_file(void **state) {
    (void)state;
    make_variables(m, 1);
    double b[3];
    memcpy(b, values_of(m, "b"), sizeof b);
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    spoil(m);
    assert_ok(wg_model_restore(m, get, &file));
    assert_int_equal(file.read, file.n);
    assert_memory_equal(values_of(m, "w"), odd, sizeof odd);
    assert_memory_equal(values_of(m, "b"), b, sizeof b);
    /* into another model, where they stand in another order; another file after it */
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    wg_model *second;
    assert_ok(wg_model_new(t, &second));
    make_variables(second, 0);
    spoil(second);
    file.read = 0;
    memcpy(file.at + file.n, file.at, file.n);
    file.n *= 2;
    assert_ok(wg_model_restore(second, get, &file));
    assert_int_equal(file.read, file.n / 2);
    assert_memory_equal(values_of(second, "w"), odd, sizeof odd);
    spoil(second);
    assert_ok(wg_model_restore(second, get, &file));
    assert_memory_equal(values_of(second, "b"), b, sizeof b);
    wg_model_free(second);
    wg_tape_free(t);
}

static void assert_bad_file(bytes file, const char *part) {
    spoil(m);
    file.read = 0;
    const wg_status s = wg_model_restore(m, get, &file);
    assert_true(s == WG_EARG || s == WG_ESHAPE);
    assert_has(wg_tape_message(tape), "wg_model_restore: ");
    assert_has(wg_tape_message(tape), part);
    for (size_t i = 0; i < 6; i++) assert_true(values_of(m, "w")[i] == 7);
    for (size_t i = 0; i < 3; i++) assert_true(values_of(m, "b")[i] == 8);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    make_variables(m, 1);
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    for (size_t n = 0; n < file.n; n++) {
        bytes cut = file;
        cut.n = n;
        assert_bad_file(cut, "ends too early");
        for (int bit = 0; bit < 8; bit++) {
            bytes turned = file;
            turned.at[n] = (char)(turned.at[n] ^ 1 << bit);
            assert_bad_file(turned, "");
        }
        bytes small = empty();
        small.room = n;
        assert_int_equal(wg_model_save(m, put, &small), WG_EWRITE);
    }
    bytes text = empty();
    (void)put(&text, "w = 1\nb = 2\n", 12);
    assert_bad_file(text, "no file of variables");
}

/* Files have room for a name of so many bytes. */
static void names_that_files_cannot_hold_are_refused(void **state) {
    (void)state;
    enum { LONGEST = 4096 };
    static char name[LONGEST + 2];
    memset(name, 'n', LONGEST + 1);
    const wg_mark before = wg_tape_mark(tape);
    assert_failed(wg_model_variable(m, name, one, one, wg_initial_fill(1)), before, WG_EARG,
                  "a name of 4097 bytes, more than 4096");
    name[LONGEST] = 0;
    const wg_mat a = wg_model_variable(m, name, one, one, wg_initial_fill(1));
    bytes file = empty();
    assert_ok(wg_model_save(m, put, &file));
    *wg_model_values(m, a) = 2;
    assert_ok(wg_model_restore(m, get, &file));
    assert_true(*wg_model_values(m, a) == 1);
}

static void files_of_other_variables_are_refused(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    static const struct {
        const char *name;
        size_t rows;
        const char *part;
    } cases[] = {{"b", 4, "b is 3x1, in the file 4x1"},
                 {"c", 3, "the model has no variable c"},
                 {NULL, 0, "the file has no variable b"}};
    make_variables(m, 1);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        wg_tape *const t = wg_tape_new(&opt);
        wg_model *second;
        assert_ok(wg_model_new(t, &second));
        (void)wg_model_variable(second, "w", rows, cols, wg_initial_values(odd));
        if (cases[k].name != NULL)
            (void)wg_model_variable(second, cases[k].name, (wg_dim){NULL, cases[k].rows}, one,
                                    wg_initial_fill(1));
        (void)wg_model_variable(second, "none", (wg_dim){NULL, 0}, cols, wg_initial_fill(1));
        bytes file = empty();
        assert_ok(wg_model_save(second, put, &file));
        assert_bad_file(file, cases[k].part);
        wg_model_free(second);
        wg_tape_free(t);
    }
}

/* ---- the tape ---- */

static void a_reset_leaves_variables_and_computations(void **state) {
    (void)state;
    build();
    wg_function *const loss = function(1, &g.loss);
    feed();
    wg_tape_reset(tape);
    wg_function *f;
    double value, dw[6], db[3];
    assert_refused(wg_model_function(m, 1, &g.y, &f), WG_ESTALE, "was reset");
    bytes b = empty();
    assert_refused(wg_model_print(m, put, &b), WG_ESTALE, "was reset");
    assert_ok(wg_model_run(m, loss, POINTS, &(wg_results){&value, 0, 1}, NULL));
    const double expected = by_hand(wg_model_values(m, g.w), wg_model_values(m, g.b), dw, db);
    assert_near(&value, &expected, 1);
    wg_function_free(loss);
    assert_null(placeholder("p", one, one).value);
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
}

static void a_rewind_to_before_a_node_is_noticed(void **state) {
    (void)state;
    const wg_mat x = placeholder("x", one, one);
    const wg_mark before = wg_tape_mark(tape);
    (void)wg_model_op(m, wg_mat_exp, x);
    assert_ok(wg_tape_rewind(tape, before));
    wg_function *f;
    assert_refused(wg_model_function(m, 1, &x, &f), WG_ESTALE, "to before exp_1");
}

static void a_model_needs_kept_code(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    wg_model *none = m;
    assert_int_equal(wg_model_new(t, &none), WG_EMODE);
    assert_null(none);
    assert_has(wg_tape_message(t), "wg_model_new: ");
    wg_tape_free(t);
}

/* ---- memory ---- */

/* Everything there is; the first failure, or WG_OK. */
static wg_status whole(wg_model *of, wg_tape *t) {
    make_data();
    wg_model *const old = m;
    wg_tape *const old_tape = tape;
    m = of, tape = t;
    const wg_mat x = wg_model_placeholder(m, "x", cols, one, 0, NULL);
    const wg_mat w = wg_model_variable(m, "w", rows, cols, wg_initial_normal(3, 0, 0.5));
    const wg_mat e = wg_model_op(m, wg_mat_tanh, wg_model_op(m, wg_matmul, w, x));
    const wg_mat s = wg_mat_sum_axis(t, wg_mat_square(t, e), WG_ALL);
    const wg_mat loss = wg_model_sum(m, wg_model_name(m, s, "s", NULL, NULL));
    wg_mat d;
    wg_status status = wg_model_gradient(m, loss, 1, &w, &d);
    wg_mat step = wg_model_op(m, wg_mat_sub, w, d);
    (void)wg_model_name(m, step, "step", NULL, NULL);
    wg_function *f = NULL;
    if (status == WG_OK) status = wg_tape_status(t);
    if (status == WG_OK) status = wg_model_tag(m, w, "weights");
    if (status == WG_OK) status = wg_model_update(m, w, step);
    if (status == WG_OK) status = wg_model_function(m, 1, &step, &f);
    if (status == WG_OK) status = wg_model_feed(m, x, xs[0], 2, 1);
    if (status == WG_OK) status = wg_model_run(m, f, POINTS, NULL, NULL);
    bytes file = empty(), text = empty();
    if (status == WG_OK) status = wg_model_save(m, put, &file);
    if (status == WG_OK) status = wg_model_restore(m, get, &file);
    if (status == WG_OK) status = wg_model_print(m, put, &text);
    wg_mat found;
    if (status == WG_OK && wg_model_find(m, WG_VARIABLE, NULL, NULL, &step, 1, &found) != 1)
        status = WG_ENOMEM;
    wg_function_free(f);
    m = old, tape = old_tape;
    return status;
}

static void every_failure_of_memory_is_told(void **state) {
    (void)state;
    size_t k = 0, failures = 0;
    for (int refused = 1; refused; k++) {
        struct counted c = counted_start();
        wg_status s = WG_ENOMEM;
        c.fail_at = k;
        const wg_options opt = {.flags = WG_KEEP_CODE, .memory = counted_memory(&c)};
        wg_tape *const t = wg_tape_new(&opt);
        wg_model *of = NULL;
        if (t != NULL) {
            s = wg_model_new(t, &of);
            if (s == WG_OK) s = whole(of, t);
            if (s != WG_OK) {
                assert_int_equal(s, WG_ENOMEM);
                assert_true(wg_tape_message(t)[0] != 0);
            }
        }
        wg_model_free(of);
        wg_tape_free(t);
        assert_int_equal(c.ranges, 0);
        assert_int_equal(c.wrong, 0);
        assert_true(s == WG_OK || c.refused == 1); /* a shorter range may do */
        failures += s != WG_OK;
        refused = c.refused != 0;
    }
    assert_true(failures > 40);
}

static void runs_obtain_no_memory_in_the_end(void **state) {
    (void)state;
    struct counted c = counted_start();
    const wg_options opt = {.flags = WG_KEEP_CODE, .memory = counted_memory(&c)};
    wg_tape *const t = wg_tape_new(&opt);
    wg_model *of;
    assert_ok(wg_model_new(t, &of));
    assert_ok(whole(of, t));
    wg_mat w;
    wg_function *f;
    assert_int_equal(wg_model_find(of, WG_OPERATION, "step", NULL, NULL, 1, &w), 1);
    assert_ok(wg_model_function(of, 1, &w, &f));
    assert_ok(wg_model_run(of, f, POINTS, NULL, NULL));
    const size_t calls = c.calls;
    for (int k = 0; k < 20; k++) assert_ok(wg_model_run(of, f, POINTS, NULL, NULL));
    assert_int_equal(c.calls, calls);
    wg_function_free(f);
    wg_model_free(of);
    wg_tape_free(t);
}

static void null_is_refused(void **state) {
    (void)state;
    build();
    wg_model *made;
    wg_function *f = function(1, &g.y), *none;
    wg_node n;
    wg_mat a = g.y;
    bytes b = empty();
    wg_model_free(NULL);
    assert_int_equal(wg_model_new(NULL, &made), WG_ENULL);
    assert_null(made);
    assert_int_equal(wg_model_new(tape, NULL), WG_ENULL);
    assert_null(wg_model_placeholder(NULL, "a", one, one, 0, NULL).value);
    assert_null(wg_model_variable(NULL, "a", one, one, wg_initial_fill(0)).value);
    assert_null(wg_model_op(NULL, wg_mat_exp, a).value);
    assert_null(wg_model_op(NULL, wg_mat_add, a, a).value);
    assert_null(wg_model_op(NULL, wg_mat_clamp, a, a, a).value);
    assert_null(wg_model_name(NULL, a, "a", NULL, NULL).value);
    assert_null(wg_model_sum(NULL, a).value);
    assert_int_equal(wg_model_tag(NULL, a, "a"), WG_ENULL);
    assert_int_equal(wg_model_tag(m, a, NULL), WG_ENULL);
    assert_int_equal(wg_model_gradient(NULL, g.loss, 1, &g.w, &a), WG_ENULL);
    assert_null(a.value);
    assert_int_equal(wg_model_node(NULL, g.y, &n), WG_ENULL);
    assert_int_equal(wg_model_node(m, g.y, NULL), WG_ENULL);
    assert_int_equal(wg_model_find(NULL, 1, NULL, NULL, NULL, 0, NULL), 0);
    assert_int_equal(wg_model_find(m, 1, NULL, NULL, NULL, 1, NULL), 0);
    assert_int_equal(wg_model_print(NULL, put, &b), WG_ENULL);
    assert_int_equal(wg_model_print(m, NULL, &b), WG_ENULL);
    assert_int_equal(wg_model_dot(NULL, put, &b), WG_ENULL);
    assert_int_equal(wg_model_dot(m, NULL, &b), WG_ENULL);
    assert_int_equal(wg_model_update(NULL, g.w, g.w), WG_ENULL);
    assert_int_equal(wg_model_function(NULL, 1, &g.y, &none), WG_ENULL);
    assert_null(none);
    assert_int_equal(wg_model_function(m, 1, &g.y, NULL), WG_ENULL);
    assert_int_equal(wg_model_function(m, 1, NULL, &none), WG_ENULL);
    assert_int_equal(wg_model_feed(NULL, g.x, xs[0], 1, 1), WG_ENULL);
    assert_int_equal(wg_model_run(NULL, f, 0, NULL, NULL), WG_ENULL);
    assert_int_equal(wg_model_run(m, NULL, 0, NULL, NULL), WG_ENULL);
    assert_null(wg_model_values(NULL, g.w));
    assert_int_equal(wg_model_initialise(NULL), WG_ENULL);
    assert_int_equal(wg_model_save(NULL, put, &b), WG_ENULL);
    assert_int_equal(wg_model_save(m, NULL, &b), WG_ENULL);
    assert_int_equal(wg_model_restore(NULL, get, &b), WG_ENULL);
    assert_int_equal(wg_model_restore(m, NULL, &b), WG_ENULL);
    assert_ok(wg_tape_status(tape));
    /* those that record fail the tape */
    const wg_mark before = wg_tape_mark(tape);
    assert_failed(placeholder(NULL, one, one), before, WG_ENULL, "the name is NULL");
    assert_failed(wg_model_variable(m, NULL, one, one, wg_initial_fill(0)), before, WG_ENULL,
                  "the name is NULL");
    assert_failed(wg_model_variable(m, "z", one, one, wg_initial_values(NULL)), before,
                  WG_ENULL, "initial values of z");
    assert_failed(wgi_model_op1_at("", 0, m, "f", NULL, g.y), before, WG_ENULL, "operation");
    assert_failed(wgi_model_op2_at("", 0, m, NULL, wg_mat_sub, g.y, g.y), before, WG_ENULL,
                  "operation");
    assert_failed(wgi_model_op3_at("", 0, m, "f", NULL, g.y, g.y, g.y), before, WG_ENULL,
                  "operation");
    assert_int_equal(wg_model_gradient(m, g.loss, 1, NULL, &a), WG_ENULL);
    assert_failed(a, before, WG_ENULL, "x or dx is NULL");
    assert_int_equal(wg_model_gradient(m, g.loss, 1, &g.w, NULL), WG_ENULL);
    assert_ok(wg_tape_rewind(tape, before));
    wg_function_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_model, close_model)
        TEST(dimensions_that_differ_are_named),
        TEST(dimensions_follow_operations),
        TEST(nodes_know_their_names_and_places),
        TEST(what_a_node_depends_on_is_found),
        TEST(a_model_is_printed_and_drawn),
        TEST(only_what_is_asked_for_is_run),
        TEST(computations_share_variables),
        TEST(updates_happen_together),
        TEST(a_run_without_points_leaves_variables),
        TEST(nodes_without_elements_are_told_apart),
        TEST(names_that_files_cannot_hold_are_refused),
        TEST(runs_that_cannot_be_are_refused),
        TEST(a_comparison_stops_an_update),
        TEST(derivatives_are_nodes),
        TEST(derivatives_are_differentiated_again),
        TEST(derivatives_of_what_is_not_there_are_zero),
        TEST(gradients_that_cannot_be_are_refused),
        TEST(sums_count_points),
        TEST(initial_values_are_what_they_were),
        TEST(variables_come_back_from_a_file),
        TEST(damaged_files_are_refused),
        TEST(files_of_other_variables_are_refused),
        TEST(a_reset_leaves_variables_and_computations),
        TEST(a_rewind_to_before_a_node_is_noticed),
        TEST(a_model_needs_kept_code),
        TEST(every_failure_of_memory_is_told),
        TEST(runs_obtain_no_memory_in_the_end),
        TEST(null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, free_pools);
}
