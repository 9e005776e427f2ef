/* SPDX-License-Identifier: MIT */
/* test_function_model.c - models: dimensions that have to agree, nodes and what they depend on,
 * the tape, memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "counted.h"
#include "counted.h"
#include "model_case.h"

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
    assert_string_equal(node(sum).operation, "wg_mat_sum_axis");
    assert_string_equal(node(sum).name, "sum_axis_5");
    assert_ok(wg_tape_status(tape));
    const wg_mark before = wg_tape_mark(tape);
    assert_failed(placeholder("e", rows, one), before, WG_EARG, "the name e is taken");
    assert_failed(placeholder("e f", rows, one), before, WG_EARG, "no word: 'e f'");
    assert_failed(placeholder("\xc3\xa9", rows, one), before, WG_EARG, "no word: '");
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
                              "s = wg_mat_sum_axis of sub_2 [1, 1]  ; m.c:4\n"
                              "ds/dv = derivative of s by v [cols 2, 1]  ; m \\\"\\\\.c:5\n");
    bytes drawn = empty();
    assert_ok(wg_model_dot(m, put, &drawn));
    assert_has(drawn.at, "digraph model {\n    \"x\" [shape=box, label=\"x\\n");
    assert_has(drawn.at, "    \"v\" -> \"sub_2\";\n    \"x\" -> \"sub_2\";\n"
                         "    \"sub_2\" -> \"v\" [style=dashed];\n");
    assert_has(drawn.at, "    \"s\" -> \"ds/dv\";\n    \"v\" -> \"ds/dv\";\n}\n");
    for (size_t room = 0; room < b.n; room += 40) {
        bytes small = empty();
        small.room = room;
        assert_int_equal(wg_model_print(m, put, &small), WG_EWRITE);
        assert_has(wg_tape_message(tape), "wg_model_print: write gave a failure");
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
    assert_refused(wg_model_update(m, g.w, g.w), WG_ESTALE, "wg_model_update: the tape of");
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
    const wg_mat v = wg_model_variable(m, "v", one, one, wg_initial_fill(1));
    const wg_mark before = wg_tape_mark(tape);
    const wg_mat y = wg_model_op(m, wg_mat_exp, x);
    assert_ok(wg_tape_rewind(tape, before));
    wg_function *f;
    assert_refused(wg_model_function(m, 1, &x, &f), WG_ESTALE, "to before exp_2");
    assert_refused(wg_model_update(m, v, y), WG_ESTALE,
                   "wg_model_update: the tape was rewound to before exp_2");
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
                /* what was called, and no function that the model calls for it */
                const char *const said = wg_tape_message(t);
                if (strncmp(said, "wg_model_", 9) != 0 && strncmp(said, "wg_matmul: ", 11) != 0)
                    fail_msg("%s", said);
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

/* What a model keeps is of its tape's budget; what does not fit is not begun, and spoils
 * nothing. */
static void a_model_keeps_the_budget_of_its_tape(void **state) {
    (void)state;
    enum { BUDGET = 8 << 20 };
    struct counted memory = counted_start();
    const wg_options o = {
        .flags = WG_KEEP_CODE, .budget = BUDGET, .memory = counted_memory(&memory)};
    wg_tape *const t = wg_tape_new(&o);
    wg_model *model = NULL;
    wg_stats st;
    assert_int_equal(wg_model_new(t, &model), WG_OK);
    const wg_dim long_one = {NULL, 1 << 14}, single = {NULL, 1}, many = {NULL, 40000},
                 fewer = {NULL, 25000};
    const wg_mat w = wg_model_variable(model, "w", single, single, wg_initial_fill(2));
    assert_int_equal(wg_tape_status(t), WG_OK);
    const wg_mark before = wg_tape_mark(t);
    const wg_dim sizes[] = {long_one, many, fewer};
    for (int k = 0; k < 3;
         k++) { /* 2^30 entries; some that fit once, or twice: three are needed */
        const wg_mat a = wg_model_variable(model, "large", sizes[k],
                                           k ? (wg_dim){NULL, 16} : (wg_dim){NULL, 1 << 16},
                                           wg_initial_fill(1));
        assert_null(a.value);
        assert_int_equal(wg_tape_status(t), WG_EBUDGET);
        assert_int_equal(wg_tape_rewind(t, before), WG_OK);
        assert_true(memory.most <= BUDGET);
    }
    (void)wg_model_variable(model, "small", single, single, wg_initial_fill(3));
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_true(*wg_model_values(model, w) == 2);
    assert_int_equal(wg_tape_stats(t, &st), WG_OK);
    assert_true(st.committed_bytes == memory.committed);
    wg_model_free(model);
    assert_int_equal(wg_tape_stats(t, &st), WG_OK);
    assert_true(st.committed_bytes == memory.committed);
    wg_tape_free(t);
    assert_true(memory.committed == 0 && memory.wrong == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_keeps_the_budget_of_its_tape),
        TEST(dimensions_that_differ_are_named),
        TEST(dimensions_follow_operations),
        TEST(nodes_know_their_names_and_places),
        TEST(what_a_node_depends_on_is_found),
        TEST(a_model_is_printed_and_drawn),
        TEST(a_reset_leaves_variables_and_computations),
        TEST(a_rewind_to_before_a_node_is_noticed),
        TEST(a_model_needs_kept_code),
        TEST(every_failure_of_memory_is_told),
        TEST(runs_obtain_no_memory_in_the_end),
        TEST(null_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
