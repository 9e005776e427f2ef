/* SPDX-License-Identifier: MIT */
/* test_tape_check_op.c - wg_check_op and wg_check_scalar_op: right operations pass, and of
 * wrong ones the message says what is wrong, where, and by which numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <wengert/operation.h>
#include "times_op.h"

static wg_tape *tape;

static int open_tape(void **state) {
    (void)state;
    tape = wg_tape_new(NULL);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

/* The message begins so, and the tape is as good as before. */
static void assert_mismatch(wg_status s, const char *begins) {
    if (s != WG_EMISMATCH || strncmp(wg_tape_message(tape), begins, strlen(begins)) != 0)
        fail_msg("status %d, the message is: %s\nand not: %s", (int)s, wg_tape_message(tape),
                 begins);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}
static void assert_passes(wg_status s) {
    if (s != WG_OK) fail_msg("status %d: %s", (int)s, wg_tape_message(tape));
}

/* ---- derivatives ---- */

static wg_status wrong_jvp(wg_block *b) {
    const wg_status s = times_jvp(b);
    if (b->in[0].bar != NULL) b->out[0].bar[1] += 0.5 * b->in[0].bar[b->in[0].rows];
    return s;
}

/* The right values, one of them with twice the derivative. */
static wg_status steep_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wg_status s = times_expand(t, b, x, y);
    y[1] = wg_let(t, wg_sub(wg_mul(2, y[1]), wg_value(y[1])));
    return s;
}

static void a_wrong_derivative_is_named_by_its_elements(void **state) {
    (void)state;
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_constant(tape, 2, 3, A, 2), x = wg_mat_constant(tape, 3, 1, X, 3);
    const wg_mat row = wg_mat_constant(tape, 1, 3, X, 1);
    const wg_mat in[] = {a, x}, turned[] = {a, wg_mat_transpose(row)};
    const wg_mat half[] = {a, wg_mat_input(tape, 3, 1, X, 3)};
    const wg_mat *const each[] = {in, turned, half};
    for (int i = 0; i < 3; i++) {
        wg_block_op op = misled_op;
        assert_passes(wg_check_op(tape, &expanding_op, NULL, 0, 2, each[i], 1));
        assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, each[i], 1),
                        "wg_check_op: misled: result 0, element (1, 0), by operand 1, element "
                        "(2, 0): 7 by vjp, 6 by jvp");
        op.jvp = NULL; /* tangents are those adjoints */
        assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, each[i], 1),
                        "wg_check_op: misled: result 0, element (1, 0), by operand 1, element "
                        "(2, 0): 7 by vjp, ");
    }
    wg_block_op op = times_op;
    op.jvp = wrong_jvp;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: times: result 0, element (1, 0), by operand 0, element (0, "
                    "1): 0.5 by jvp, ");
    assert_passes(wg_check_op(tape, &op, NULL, 0, 2, half, 1)); /* there it is a constant */
}

/* More elements than have a direction each. */
static void it_is_found_among_many(void **state) {
    (void)state;
    enum { N = 9 };
    double v[N * N];
    for (int i = 0; i < N * N; i++) v[i] = 0.25 * (i % 7) - 0.5;
    wg_tape_reset(tape);
    const wg_mat in[] = {wg_mat_input(tape, N, N, v, N), wg_mat_input(tape, N, N, v, N)};
    wg_block_op op = misled_op;
    assert_passes(wg_check_op(tape, &expanding_op, NULL, 0, 2, in, 1));
    /* v[1 + 2 * N] is 0.75 */
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: misled: result 0, element (1, 0), by operand 1, element (2, "
                    "0): 1.75 by vjp, 0.75 by jvp");
    op.jvp = NULL;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: misled: result 0, element (1, 0), by operand 1, element (2, "
                    "0): 1.75 by vjp, ");
    op = times_op;
    op.jvp = wrong_jvp;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: times: result 0, element (1, 0), by operand 0, element (0, "
                    "1): 0.5 by jvp, ");
    op = expanding_op;
    op.expand = steep_expand;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: expanding: result 0, element (1, 0), by operand 0, element "
                    "(1, 6): 1 by vjp, 2 by expand");
}

/* ---- expand ---- */

static wg_status failing_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    (void)t, (void)b, (void)x, (void)y;
    return WG_EDEGENERATE;
}
static wg_status lazy_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wg_real last = y[1];
    const wg_status s = times_expand(t, b, x, y);
    y[1] = last; /* not written */
    return s;
}

static void what_expands_to_something_else_is_refused(void **state) {
    (void)state;
    wg_tape_reset(tape);
    const wg_mat in[] = {wg_mat_input(tape, 2, 3, A, 2), wg_mat_input(tape, 3, 1, X, 3)};
    const wg_mat half[] = {wg_mat_constant(tape, 2, 3, A, 2), in[1]};
    const wg_mat turned[] = {in[0], wg_mat_transpose(in[0])};
    assert_passes(wg_check_op(tape, &expanding_op, NULL, 0, 2, in, 1));
    assert_passes(wg_check_op(tape, &expanding_op, NULL, 0, 2, half, 1));
    assert_passes(wg_check_op(tape, &expanding_op, NULL, 0, 2, turned, 1));
    assert_mismatch(wg_check_op(tape, &misspelt_op, NULL, 0, 2, in, 1),
                    "wg_check_op: misspelt: result 0, element (1, 0): 10 by value, 15 by "
                    "expand");
    wg_block_op op = expanding_op;
    op.expand = steep_expand;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: expanding: result 0, element (1, 0), by operand 0, element "
                    "(1, 2): 2 by vjp, 4 by expand");
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, half, 1),
                    "wg_check_op: expanding: result 0, element (1, 0), by operand 1, element "
                    "(2, 0): 6 by vjp, 12 by expand");
    op.expand = lazy_expand;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 1),
                    "wg_check_op: expanding: result 0, element (1, 0): 10 by value, nan by "
                    "expand");
    op.expand = failing_expand;
    assert_int_equal(wg_check_op(tape, &op, NULL, 0, 2, in, 1), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_check_op: expanding: "));
}

/* Two results: the sum of an operand (1-by-1), and the difference of both; what it expands to
 * rounds where the difference cancels. params: is the sum one of squares? */
static wg_status pair_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = b->out[1].cols = 1;
    b->out[1].rows = b->in[0].rows;
    return b->in[0].rows != b->in[1].rows ? WG_ESHAPE : WG_OK;
}
static wg_status pair_value(wg_block *b) {
    b->out[0].value[0] = 0;
    for (size_t i = 0; i < b->in[0].rows; i++) {
        b->out[0].value[0] += b->in[0].value[i];
        b->out[1].value[i] = b->in[0].value[i] - b->in[1].value[i];
    }
    return WG_OK;
}
static wg_status pair_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) {
        if (b->in[0].bar) b->in[0].bar[i] += b->out[0].bar[0] + b->out[1].bar[i];
        if (b->in[1].bar) b->in[1].bar[i] -= b->out[1].bar[i];
    }
    return WG_OK;
}
static wg_status pair_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const size_t n = b->in[0].rows;
    y[0] = wg_constant(0);
    for (size_t i = 0; i < n; i++) {
        y[0] = *(const int *)b->params ? wg_let(t, wg_add(y[0], wg_square(x[i])))
                                       : wg_let(t, wg_add(y[0], x[i]));
        y[1 + i] =
            wg_let(t, wg_div(wg_sub(wg_mul(x[i], 3), wg_mul(0.1, wg_mul(x[n + i], 30))), 3));
    }
    return WG_OK;
}

static void every_result_is_looked_at_and_what_cancels_may_round(void **state) {
    (void)state;
    const wg_block_op pair = {"pair",   WG_OP_EXPANDS, pair_shape,  pair_value,
                              pair_vjp, NULL,          pair_expand, NULL, NULL};
    const double same[] = {0.3, 1.7, 4};
    int squares = 0;
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 3, 1, same, 3), in[] = {a, a};
    assert_passes(wg_check_op(tape, &pair, &squares, sizeof squares, 2, in, 2));
    squares = 1;
    assert_mismatch(wg_check_op(tape, &pair, &squares, sizeof squares, 2, in, 2),
                    "wg_check_op: pair: result 0, element (0, 0): 6 by value, 18.98 by expand");
}

static void an_operation_without_its_functions_is_refused(void **state) {
    (void)state;
    wg_tape_reset(tape);
    const wg_mat in[] = {wg_mat_input(tape, 2, 3, A, 2), wg_mat_input(tape, 3, 1, X, 3)};
    wg_block_op op[4] = {times_op, times_op, times_op, misled_op};
    op[0].shape = NULL, op[1].value = NULL, op[2].vjp = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wg_check_op(tape, &op[i], NULL, 0, 2, in, 1), WG_ENULL);
        assert_string_equal(wg_tape_message(tape),
                            "wg_check_op: times: no shape, no value, or no vjp");
        assert_int_equal(wg_tape_status(tape), WG_OK);
    }
    op[3].name = NULL;
    assert_int_equal(wg_check_op(tape, &op[3], NULL, 0, 2, in, 1), WG_ENULL);
    assert_string_equal(wg_tape_message(tape), "wg_check_op: the name is NULL");
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

/* ---- scalar operations ---- */

static void every_row_of_the_table_passes(void **state) {
    (void)state;
    for (size_t r = 0; r < wgi_scalar_op_count; r++) {
        const wg_scalar_op *const op = &wgi_scalar_ops[r];
        const char *const name = op->name;
        double x[4] = {0.35, 0.95, 1.3, 1.1};
        /* where it is smooth and defined */
        if (strcmp(name, "lambertwm1") == 0) x[0] = -0.2;
        if (strcmp(name, "log1mexp") == 0) x[0] = -0.5;
        if (strcmp(name, "log_diff_exp") == 0) x[0] = 1.5;
        if (strcmp(name, "acosh") == 0 || strcmp(name, "asec") == 0 ||
            strcmp(name, "acsc") == 0 || strcmp(name, "acoth") == 0)
            x[0] += 1;
        if (strcmp(name, "stop_gradient") == 0) continue; /* its slope is not its derivative */
        if (wg_check_scalar_op(tape, op, x) != WG_OK)
            fail_msg("%s: %s", name, wg_tape_message(tape));
    }
}

WG_OPERATION1(bent, sin(a), cos(a), v, GUARD, "the wrong sign of the second derivative")
WG_OPERATION1(sloping, sin(a), cos(a) * (1 + 1e-6), -v, GUARD, "the slope off by a millionth")
WG_OPERATION2(unmixed, a *a *b, 2 * a * b, a *a, 2 * b, 0, 0, ARITH, "forgets the mixed one")
WG_OPERATION2(flat, a *exp(b), exp(b), 0, 0, exp(b), v, ARITH, "forgets the slope by b")
WG_OPERATION3(triple, a *b *c *c, b *c *c, a *c *c, 2 * a * b * c, 0, c *c, 2 * b * c, 0,
              3 * a * c, 2 * a * b, ARITH, "bc is 2 a c")
WG_OPERATION4(right, a *b + c * d, b, a, d, c, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, ARITH, "")

static double other_slopes(const double *x, double *d, double *h) {
    h[0] = -sin(x[0]);
    d[0] = -cos(x[0]);
    return sin(x[0]);
}
static double other_value(const double *x, double *d, double *h) {
    (void)other_slopes(x, d, h);
    return cos(x[0]);
}

static void a_wrong_row_is_named_with_its_partial(void **state) {
    (void)state;
    const double x[4] = {0.5, 2, 3, 5};
    wg_tape_reset(tape);
    assert_passes(wg_check_scalar_op(tape, &wgi_user_right, x));
    assert_mismatch(wg_check_scalar_op(tape, &wgi_user_bent, x),
                    "wg_check_scalar_op: bent: second partial aa: 0.479425538604, by finite "
                    "differences -0.4794255");
    assert_mismatch(wg_check_scalar_op(tape, &wgi_user_sloping, x),
                    "wg_check_scalar_op: sloping: first partial a: 0.877583439");
    assert_mismatch(wg_check_scalar_op(tape, &wgi_user_unmixed, x),
                    "wg_check_scalar_op: unmixed: second partial ab: 0, by");
    assert_mismatch(wg_check_scalar_op(tape, &wgi_user_flat, x),
                    "wg_check_scalar_op: flat: first partial b: 0, by");
    assert_mismatch(wg_check_scalar_op(tape, &wgi_user_triple, x),
                    "wg_check_scalar_op: triple: second partial bc: 4.5, by");
    wg_scalar_op op = wgi_user_bent;
    op.second = other_slopes;
    assert_mismatch(wg_check_scalar_op(tape, &op, x),
                    "wg_check_scalar_op: bent: first partial a: 0.87758256189 by first, "
                    "-0.87758256189 by second");
    op.second = other_value;
    assert_mismatch(wg_check_scalar_op(tape, &op, x),
                    "wg_check_scalar_op: bent: 0.479425538604 by value, 0.87758256189 by "
                    "second");
    op.second = NULL; /* piecewise linear, it says */
    assert_mismatch(wg_check_scalar_op(tape, &op, x),
                    "wg_check_scalar_op: bent: second partial aa: 0, by");
}

/* ---- in units of their own ---- */

/* Results 1e12 a + c, and sin c: what is wrong with c is small beside a. */
static wg_status units_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = b->out[1].rows = b->out[1].cols = 1;
    return WG_OK;
}
static wg_status units_value(wg_block *b) {
    b->out[0].value[0] = 1e12 * b->in[0].value[0] + b->in[1].value[0];
    b->out[1].value[0] = sin(b->in[1].value[0]);
    return WG_OK;
}
static wg_status units_jvp(wg_block *b) {
    const double c = b->in[1].bar != NULL ? b->in[1].bar[0] : 0;
    b->out[0].bar[0] = (b->in[0].bar != NULL ? 1e12 * b->in[0].bar[0] : 0) + c;
    b->out[1].bar[0] = cos(b->in[1].value[0]) * c;
    return WG_OK;
}
static wg_status units_reverse(wg_block *b, double first, double second) {
    if (b->in[0].bar != NULL) b->in[0].bar[0] += 1e12 * b->out[0].bar[0];
    if (b->in[1].bar != NULL)
        b->in[1].bar[0] +=
            first * b->out[0].bar[0] + second * cos(b->in[1].value[0]) * b->out[1].bar[0];
    return WG_OK;
}
static wg_status units_vjp(wg_block *b) { return units_reverse(b, 1, 1); }
static wg_status first_wrong(wg_block *b) { return units_reverse(b, -1, 1); }
static wg_status second_wrong(wg_block *b) { return units_reverse(b, 1, 0.75); }

static void small_derivatives_beside_large_ones_are_looked_at(void **state) {
    (void)state;
    const double a = 1.25, c = 0.75;
    wg_block_op op = {"units", 0, units_shape, units_value, units_vjp, units_jvp, NULL, NULL, NULL};
    wg_tape_reset(tape);
    const wg_mat in[] = {wg_mat_input(tape, 1, 1, &a, 1), wg_mat_input(tape, 1, 1, &c, 1)};
    assert_passes(wg_check_op(tape, &op, NULL, 0, 2, in, 2));
    op.vjp = first_wrong;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 2),
                    "wg_check_op: units: result 0, element (0, 0), by operand 1, element (0, "
                    "0): -1 by vjp, 1 by jvp");
    op.vjp = second_wrong;
    assert_mismatch(wg_check_op(tape, &op, NULL, 0, 2, in, 2),
                    "wg_check_op: units: result 1, element (0, 0), by operand 1, element (0, "
                    "0): 0.548766651655 by vjp, 0.731688868874 by jvp");
}

/* cos a + a, and without the slope of a. */
static wg_status tilted_shape(wg_block *b) {
    b->out[0].rows = b->out[0].cols = 1;
    return WG_OK;
}
static wg_status tilted_value(wg_block *b) {
    b->out[0].value[0] = cos(b->in[0].value[0]) + b->in[0].value[0];
    return WG_OK;
}
static wg_status tilted_vjp(wg_block *b) {
    if (b->in[0].bar != NULL)
        b->in[0].bar[0] += (1 - sin(b->in[0].value[0])) * b->out[0].bar[0];
    return WG_OK;
}
static wg_status level_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    (void)b;
    y[0] = wg_let(t, wg_add(wg_cos(x[0]), wg_value(x[0])));
    return WG_OK;
}

static void a_slope_that_expand_forgets_is_missed_at_tiny_operands_too(void **state) {
    (void)state;
    static const double at[] = {0.5, 1e-11, 1e-13, 1e-20, 1e-300, 0};
    const wg_block_op op = {"tilted",   WG_OP_EXPANDS, tilted_shape, tilted_value,
                            tilted_vjp, NULL,          level_expand, NULL, NULL};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        wg_tape_reset(tape);
        const wg_mat in = wg_mat_input(tape, 1, 1, &at[i], 1);
        assert_mismatch(wg_check_op(tape, &op, NULL, 0, 1, &in, 1),
                        "wg_check_op: tilted: result 0, element (0, 0), by operand 0, element "
                        "(0, 0): ");
    }
}

static wg_status picky_shape(wg_block *b) {
    b->why = "must be square";
    b->info = 3;
    return WG_ESHAPE;
}
static wg_status astray_shape(wg_block *b) {
    (void)b;
    return (wg_status)777;
}

static void shapes_are_refused_in_the_words_of_the_operation(void **state) {
    (void)state;
    wg_block_op op = times_op;
    wg_tape_reset(tape);
    const wg_mat in[] = {wg_mat_constant(tape, 2, 3, A, 2), wg_mat_constant(tape, 3, 1, X, 3)};
    op.shape = picky_shape;
    assert_int_equal(wg_check_op(tape, &op, NULL, 0, 2, in, 1), WG_ESHAPE);
    assert_string_equal(wg_tape_message(tape),
                        "wg_check_op: times of 2x3, 3x1: must be square (info 3)");
    op.shape = astray_shape;
    assert_int_equal(wg_check_op(tape, &op, NULL, 0, 2, in, 1), WG_ECALLBACK);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

/* times_op, whose adjoints reset the tape that the operands are on. */
static wg_status resetting_vjp(wg_block *b) {
    wg_tape_reset(tape);
    return times_op.vjp(b);
}
static void an_operation_that_resets_the_tape_of_its_operands_is_stopped(void **state) {
    (void)state;
    wg_block_op op = times_op;
    op.vjp = resetting_vjp;
    op.jvp = NULL;
    for (int variable = 0; variable < 2; variable++) {
        wg_tape_reset(tape);
        const wg_mat in[] = {variable ? wg_mat_input(tape, 2, 3, A, 2)
                                      : wg_mat_constant(tape, 2, 3, A, 2),
                             wg_mat_input(tape, 3, 1, X, 3)};
        assert_int_equal(wg_check_op(tape, &op, NULL, 0, 2, in, 1), WG_ESTALE);
        assert_string_equal(wg_tape_message(tape),
                            "wg_check_op: times: the operation has reset or rewound the tape "
                            "of operand 0");
    }
}

/* 1 - cos a, its `second` by another way: near 0 the values are rounding in the first place. */
WG_OPERATION1(versed, 1 - cos(a), sin(a), cos(a), GUARD, "test")
static double half_angle(const double *x, double *first, double *second) {
    const double s = sin(x[0] / 2);
    first[0] = sin(x[0]);
    second[0] = cos(x[0]);
    return 2 * s * s;
}
static void values_that_are_rounding_may_differ_by_it(void **state) {
    (void)state;
    static const double at[] = {1, 1e-3, 1e-5, 1e-6};
    wg_scalar_op op = wgi_user_versed;
    op.second = half_angle;
    wg_tape_reset(tape);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_passes(wg_check_scalar_op(tape, &op, &at[i]));
}

static void scalar_operations_that_cannot_be_checked_are_refused(void **state) {
    (void)state;
    const double x[4] = {-1, 2, 3, 5};
    wg_scalar_op op = wgi_user_right;
    wg_tape_reset(tape);
    assert_int_equal(wg_check_scalar_op(tape, &wgi_scalar_ops[WGI_OP_log], x), WG_ENONFINITE);
    assert_string_equal(wg_tape_message(tape),
                        "wg_check_scalar_op: log: output 0 is not finite at x");
    op.arity = 5;
    assert_int_equal(wg_check_scalar_op(tape, &op, x), WG_EARG);
    assert_string_equal(wg_tape_message(tape), "wg_check_scalar_op: 5 operands, not 1 to 4");
    op.arity = 0;
    assert_int_equal(wg_check_scalar_op(tape, &op, x), WG_EARG);
    op = wgi_user_right;
    op.first = NULL;
    assert_int_equal(wg_check_scalar_op(tape, &op, x), WG_ENULL);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    (void)wg_sum(tape, 1, NULL); /* fails it */
    assert_int_equal(wg_check_scalar_op(tape, &wgi_user_right, x), WG_ENULL);
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
    wg_tape_reset(tape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_derivative_is_named_by_its_elements),
        cmocka_unit_test(it_is_found_among_many),
        cmocka_unit_test(what_expands_to_something_else_is_refused),
        cmocka_unit_test(every_result_is_looked_at_and_what_cancels_may_round),
        cmocka_unit_test(an_operation_without_its_functions_is_refused),
        cmocka_unit_test(every_row_of_the_table_passes),
        cmocka_unit_test(a_wrong_row_is_named_with_its_partial),
        cmocka_unit_test(small_derivatives_beside_large_ones_are_looked_at),
        cmocka_unit_test(a_slope_that_expand_forgets_is_missed_at_tiny_operands_too),
        cmocka_unit_test(shapes_are_refused_in_the_words_of_the_operation),
        cmocka_unit_test(an_operation_that_resets_the_tape_of_its_operands_is_stopped),
        cmocka_unit_test(values_that_are_rounding_may_differ_by_it),
        cmocka_unit_test(scalar_operations_that_cannot_be_checked_are_refused),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}
