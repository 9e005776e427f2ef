/* SPDX-License-Identifier: MIT */
/* test_function_own_vjp.c - operations whose vjp is not the derivative of their value: kept on
 * the tape, and never replaced by what they expand to or move. */
#include "derive_case.h"

#include "graph_walk.h"

static wg_status same_shape(wg_block *b) {
    b->out[0].rows = b->in[0].rows, b->out[0].cols = b->in[0].cols;
    return WG_OK;
}

/* y = x^2, whose gradient is clipped to at most 1. */
static wg_status square_value(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++)
        b->out[0].value[i] = b->in[0].value[i] * b->in[0].value[i];
    return WG_OK;
}
static wg_status clipped_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) {
        const double d = 2 * b->in[0].value[i];
        b->in[0].bar[i] += b->out[0].bar[i] * (d > 1 ? 1 : d);
    }
    return WG_OK;
}
static wg_status square_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    for (size_t i = 0; i < b->in[0].rows; i++) y[i] = wg_let(t, wg_square(x[i]));
    return WG_OK;
}
static const wg_block_op clipped = {.name = "clipped",
                                    .shape = same_shape,
                                    .value = square_value,
                                    .vjp = clipped_vjp,
                                    .expand = square_expand};

/* y = x, whose gradient is reversed. */
static wg_status copy_value(wg_block *b) {
    memcpy(b->out[0].value, b->in[0].value, b->in[0].rows * sizeof(double));
    return WG_OK;
}
static wg_status straight_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) b->in[0].bar[i] += b->out[0].bar[i];
    return WG_OK;
}
static wg_status reversed_vjp(wg_block *b) {
    for (size_t i = 0; i < b->in[0].rows; i++) b->in[0].bar[i] -= b->out[0].bar[i];
    return WG_OK;
}
static const wg_block_op reversed = {.name = "reversed",
                                     .flags = WG_OP_MOVES,
                                     .shape = same_shape,
                                     .value = copy_value,
                                     .vjp = reversed_vjp};

static wg_status squares_of(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)m;
    const wg_mat a = wg_mat_gather(t, n, 1, x);
    wg_mat b;
    const wg_status s = wg_apply(t, data, NULL, 0, 1, &a, 1, &b);
    const wg_real sum = wg_mat_sum(t, b);
    y[0] = wg_let(t, wg_mul(sum, x[0]));
    return s;
}

static const double at[2] = {3, 0.25};

static wg_status make(wg_tape *t, const wg_block_op *op, wg_function **f) {
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    return wg_function_record(t, squares_of, (void *)(uintptr_t)op, 1, &in, at, 1, &out, f);
}

static void a_vjp_of_its_own_is_not_replaced_by_what_expands(void **state) {
    (void)state;
    wg_tape *const t = code_tape();
    void *const op = (void *)(uintptr_t)&clipped;
    double y, g[2] = {7, 7}, h[4] = {7, 7, 7, 7};
    const double v[2] = {1, 1};
    wg_function *f = NULL;
    assert_int_equal(wg_gradient(t, squares_of, op, 2, at, &y, g), WG_OK);
    assert_true(g[0] == 9.0625 + 3 * 1 && g[1] == 3 * 0.5);
    assert_int_equal(make(t, &clipped, &f), WG_EMODE);
    assert_null(f);
    assert_non_null(strstr(wg_tape_message(t), "clipped has a vjp of its own"));
    assert_non_null(strstr(wg_tape_message(t), "WG_OP_EXPANDS"));
    assert_int_equal(wg_hessian(t, squares_of, op, 2, at, &y, g, h, 2), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "clipped has a vjp of its own"));
    assert_int_equal(wg_hvp(t, squares_of, op, 2, at, v, &y, g, h), WG_EMODE);
    assert_true(h[0] == 7);
    /* whose author says that they are the same is believed */
    wg_block_op honest = clipped;
    honest.flags = WG_OP_EXPANDS;
    f = must(t, make(t, &honest, &f), &f);
    f = next(t, wg_function_gradient, f);
    assert_int_equal(graph_walk(f, at, g), 0);
    assert_true(g[0] == 9.0625 + 3 * 6 && g[1] == 3 * 0.5);
    wg_function_free(f);
    wg_tape_free(t);
}

static void a_vjp_of_its_own_is_not_replaced_by_a_move(void **state) {
    (void)state;
    wg_tape *const t = code_tape();
    double y, g[2];
    wg_function *f = NULL;
    assert_int_equal(wg_gradient(t, squares_of, (void *)(uintptr_t)&reversed, 2, at, &y, g),
                     WG_OK);
    assert_true(g[0] == 3.25 - 3 && g[1] == -3);
    assert_int_equal(make(t, &reversed, &f), WG_EMODE);
    assert_null(f);
    assert_non_null(strstr(wg_tape_message(t), "reversed has a vjp that does not move"));
    double h[4] = {7, 7, 7, 7};
    assert_int_equal(
        wg_hessian(t, squares_of, (void *)(uintptr_t)&reversed, 2, at, NULL, NULL, h, 2),
        WG_EMODE);
    assert_true(h[0] == 7);
    wg_block_op straight = reversed;
    straight.vjp = straight_vjp;
    for (int believed = 0; believed < 2; believed++) {
        if (believed) straight.flags |= WG_OP_EXPANDS;
        assert_int_equal(wg_hessian(t, squares_of, &straight, 2, at, NULL, NULL, h, 2), WG_OK);
        assert_true(h[0] == 2 && h[1] == 1 && h[2] == 1 && h[3] == 0);
    }
    /* a linear one likewise */
    wg_block_op linear = reversed;
    linear.flags = WG_OP_LINEAR;
    assert_int_equal(wg_hessian(t, squares_of, &linear, 2, at, NULL, NULL, h, 2), WG_EMODE);
    f = must(t, make(t, &straight, &f), &f);
    f = next(t, wg_function_gradient, f);
    assert_int_equal(graph_walk(f, at, g), 0);
    assert_true(g[0] == 3.25 + 3 && g[1] == 3);
    wg_function_free(f);
    wg_tape_free(t);
}

/* y = x^2, whose expand leaves the tape that it is given paused. */
static wg_status pausing_expand(wg_tape *t, const wg_block *b, const wg_real *x, wg_real *y) {
    const wg_status s = square_expand(t, b, x, y);
    return s == WG_OK ? wg_tape_pause(t) : s;
}
static const wg_block_op pausing = {.name = "pausing",
                                    .flags = WG_OP_EXPANDS,
                                    .shape = same_shape,
                                    .value = square_value,
                                    .vjp = clipped_vjp,
                                    .expand = pausing_expand};

/* x^2, step after step, by a region that leaves its tape paused where it is written out. */
static wg_status pausing_region(wg_tape *t, size_t step, size_t n, const wg_real *state,
                                size_t np, const wg_real *param, wg_real *next, void *data) {
    (void)step, (void)np, (void)param;
    for (size_t i = 0; i < n; i++) next[i] = wg_let(t, wg_square(state[i]));
    return *(wg_tape **)data == t ? WG_OK : wg_tape_pause(t);
}
static wg_status pausing_loop(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                              void *data) {
    (void)m;
    wg_tape **const work = data;
    const wg_region region = {.record = pausing_region, .data = work};
    const wg_mat a = wg_mat_gather(t, n, 1, x), none = wg_mat_fill(t, 0, 0, 0);
    wg_mat b;
    const wg_status s = wg_checkpoint(t, *work, 3, 1, &region, 0, a, none, &b);
    y[0] = wg_mat_sum(t, b);
    return s;
}

static void what_expands_and_pauses_is_named(void **state) {
    (void)state;
    wg_tape *const t = code_tape();
    wg_tape *work = wg_tape_new(NULL);
    const wg_argument in = {"x", 2, 1, 0}, out = {"y", 1, 1, 0};
    wg_function *f = NULL;
    assert_int_equal(make(t, &pausing, &f), WG_EMODE);
    assert_null(f);
    assert_non_null(strstr(wg_tape_message(t), "pausing: its expand has left the tape paused"));
    assert_int_equal(wg_function_record(t, pausing_loop, &work, 1, &in, at, 1, &out, &f),
                     WG_EMODE);
    assert_null(f);
    assert_non_null(strstr(wg_tape_message(t), "region 0 of step 0 has left the tape paused"));
    wg_tape_free(work);
    wg_tape_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vjp_of_its_own_is_not_replaced_by_what_expands),
        cmocka_unit_test(a_vjp_of_its_own_is_not_replaced_by_a_move),
        cmocka_unit_test(what_expands_and_pauses_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
