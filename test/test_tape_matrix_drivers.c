/* SPDX-License-Identifier: MIT */
/* test_tape_matrix_drivers.c - drivers for functions of matrices: derivatives that were written
 * by hand; empty matrices, views, constants. */
#include "matrix_driver_case.h"

/* ---- right ---- */

static void values_and_gradients_are_those_written_by_hand(void **state) {
    (void)state;
    places p, q;
    double value = GAP, other = GAP;
    clear(&p), clear(&q);
    assert_ok(tape, wg_mat_eval(tape, model, NULL, 3, x_, 2, p.out));
    assert_values(&p);
    clear(&p);
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, &value, p.in));
    assert_point(&p, gradient());
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, &other, NULL));
    assert_true(value == other);
    q.in[0].value = NULL, q.in[0].rows = 99; /* not looked at */
    assert_ok(tape, wg_mat_gradient(tape, weighted, NULL, 3, x_, NULL, q.in));
    assert_true(q.s == p.s && memcmp(q.b, p.b, sizeof p.b) == 0 && q.a[0] == GAP);
}

static void several_outputs_are_seeded_at_once(void **state) {
    (void)state;
    places p;
    int calls = 0;
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, &calls, 3, x_, 2, w_, p.out, p.in));
    assert_point(&p, gradient());
    assert_values(&p);
    assert_int_equal(calls, 1);
    /* an output that nobody seeds */
    const wg_mat_values second[] = {{NULL, 9, 9, 9}, w_[1]};
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, second, NULL, p.in));
    assert_true(p.a[0] == 2 * w1_ * A(0, 0) && p.b[0] == 0 && p.s == 0);
    const wg_mat_values none[] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, none, NULL, p.in));
    assert_true(p.a[0] == 0 && p.a[2] == GAP && p.b[5] == 0 && p.s == 0);
    clear(&p);
    assert_ok(tape, wg_mat_vjp(tape, model, NULL, 3, x_, 2, NULL, p.out, NULL));
    assert_values(&p);
}

static void tangents_are_those_written_by_hand(void **state) {
    (void)state;
    places p, y;
    point v = direction();
    clear(&p), clear(&y);
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, v_, 2, y.out, p.out));
    for (size_t j = 0; j < M; j++) {
        double sum = 0;
        for (size_t k = 0; k < N; k++) sum += slope(j, k) * *part(&v, k);
        assert_true((j == 4 ? p.y1 : p.y0[j % 2 + 3 * (j / 2)]) == sum);
    }
    assert_values(&y);
    const wg_mat_values only[] = {{NULL, 7, 7, 7}, {NULL, 0, 0, 0}, v_[2]};
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, only, 2, NULL, p.out));
    assert_true(p.y0[0] == vs_ * product_at(0, 0) && p.y1 == 0);
    const wg_mat_values none[3] = {{NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, none, 2, NULL, p.out));
    assert_true(p.y0[0] == 0 && p.y1 == 0);
    clear(&y);
    assert_ok(tape, wg_mat_jvp(tape, model, NULL, 3, x_, NULL, 2, y.out, NULL));
    assert_values(&y);
}

static void hessian_products_are_those_written_by_hand(void **state) {
    (void)state;
    places g, h;
    const point v = direction();
    clear(&g), clear(&h);
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, v_, 2, w_, g.out, g.in, h.in));
    assert_point(&g, gradient());
    assert_point(&h, hessian_times(&v));
    assert_values(&g);
    /* the same of an output that is the sum */
    double value;
    const wg_mat_result y = {&value, 1, 1, 1};
    clear(&g), clear(&h);
    assert_ok(coded, wg_mat_hvp(coded, weighted, NULL, 3, x_, v_, 1, NULL, &y, g.in, h.in));
    assert_point(&g, gradient());
    assert_point(&h, hessian_times(&v));
    /* along s alone, and by B alone */
    const wg_mat_values only[] = {{NULL, 0, 0, 0}, {NULL, 0, 0, 0}, v_[2]};
    const point along = {.s = vs_};
    const point by = hessian_times(&along);
    clear(&h);
    h.in[0].value = h.in[2].value = NULL;
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, only, 2, w_, NULL, NULL, h.in));
    for (size_t k = 0; k < 6; k++) assert_true(h.b[k] == by.b[k % 3][k / 3]);
    assert_true(h.a[0] == GAP && h.s == GAP);
    /* no product: a gradient */
    clear(&g);
    assert_ok(coded, wg_mat_hvp(coded, model, NULL, 3, x_, NULL, 2, w_, NULL, g.in, NULL));
    assert_point(&g, gradient());
}

/* Blocks of 6, 6 and 1 rows and columns, the first 7 apart. */
static void hessians_have_a_block_for_each_pair(void **state) {
    (void)state;
    static const size_t size[] = {6, 6, 1};
    double room[9][42], value;
    places g;
    const wg_mat_result y = {&value, 1, 1, 1};
    wg_mat_result h[9];
    clear(&g);
    for (size_t b = 0; b < 9; b++) {
        for (size_t i = 0; i < 42; i++) room[b][i] = GAP;
        h[b] = (wg_mat_result){room[b], size[b / 3], size[b % 3], size[b / 3] + 1};
    }
    h[1].value = NULL;
    assert_ok(coded, wg_mat_hessian(coded, weighted, NULL, 3, x_, 1, NULL, &y, g.in, h));
    assert_point(&g, gradient());
    for (size_t k = 0; k < N; k++) {
        point unit, column;
        memset(&unit, 0, sizeof unit);
        *part(&unit, k) = 1;
        column = hessian_times(&unit);
        for (size_t i = 0; i < N; i++) {
            const size_t to = i < 6 ? 0 : i < 12 ? 1 : 2, from = k < 6 ? 0 : k < 12 ? 1 : 2;
            const double got =
                room[to * 3 + from][i - 6 * to + (size[to] + 1) * (k - 6 * from)];
            assert_true(got == (to == 0 && from == 1 ? GAP : *part(&column, i)));
        }
    }
    assert_true(room[0][6] == GAP && room[2][6] == GAP && room[6][1] == GAP);
    /* the block of s alone: of what does not matter nothing is a variable */
    for (size_t b = 0; b < 8; b++) h[b].value = NULL;
    room[8][0] = GAP;
    assert_ok(coded, wg_mat_hessian(coded, model, NULL, 3, x_, 2, w_, NULL, NULL, h));
    assert_true(room[8][0] == 0);
}

static void jacobians_have_a_block_for_each_output_and_input(void **state) {
    (void)state;
    static const size_t in[] = {6, 6, 1}, out[] = {4, 1};
    double room[6][30];
    places y;
    wg_mat_result jac[6];
    clear(&y);
    for (size_t b = 0; b < 6; b++) {
        for (size_t i = 0; i < 30; i++) room[b][i] = GAP;
        jac[b] = (wg_mat_result){room[b], out[b / 3], in[b % 3], out[b / 3] + 1};
    }
    jac[4].value = NULL;
    assert_ok(tape, wg_mat_jacobian(tape, model, NULL, 3, x_, 2, y.out, jac));
    assert_values(&y);
    for (size_t j = 0; j < M; j++)
        for (size_t k = 0; k < N; k++) {
            const size_t row = j / 4, col = k < 6 ? 0 : k < 12 ? 1 : 2;
            const double got =
                room[row * 3 + col][j - 4 * row + (out[row] + 1) * (k - 6 * col)];
            assert_true(got == (row == 1 && col == 1 ? GAP : slope(j, k)));
        }
}

/* x x' of 5, which is done forward; with 40 inputs more on which it does not depend,
 * backwards. */
static wg_status outer(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)n, (void)m;
    if (data != NULL) ++*(int *)data;
    y[0] = wg_outer(t, x[0], x[0]);
    y[1] = wg_mat_fill(t, 2, 0, 1);
    y[2] = wg_mat_transpose(x[0]);
    return WG_OK;
}
static void jacobians_agree_forward_and_backward(void **state) {
    (void)state;
    static double more[40], forward[25 * 5], backward[25 * 5], unused[25 * 40], own[25], y0[25];
    const double x0[] = {1, -2, 3, -4, 5};
    const wg_mat_values x[] = {{x0, 5, 1, 5}, {more, 40, 1, 40}};
    const wg_mat_result y[] = {{y0, 5, 5, 5}, {NULL, 2, 0, 1}, {NULL, 1, 5, 1}};
    int calls = 0;
    wg_mat_result jac[] = {{forward, 25, 5, 25}, {NULL, 0, 0, 0}, {NULL, 0, 0, 0},
                           {NULL, 0, 0, 0},      {own, 5, 5, 5},  {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_jacobian(tape, outer, &calls, 2, x, 3, y, jac));
    for (size_t i = 0; i < 25; i++)
        assert_true(own[i] == (i % 6 == 0) && y0[i] == x0[i % 5] * x0[i / 5]);
    jac[0].value = backward;
    jac[1] = (wg_mat_result){unused, 25, 40, 25};
    assert_ok(tape, wg_mat_jacobian(tape, outer, &calls, 2, x, 3, y, jac));
    for (size_t j = 0; j < 25; j++)
        for (size_t k = 0; k < 5; k++) {
            const double d = (j % 5 == k ? x0[j / 5] : 0) + (j / 5 == k ? x0[j % 5] : 0);
            assert_true(forward[j + 25 * k] == d && backward[j + 25 * k] == d);
        }
    for (size_t i = 0; i < 1000; i++) assert_true(unused[i] == 0);
    assert_int_equal(calls, 2);
}

/* ---- edges ---- */

static void empty_matrices_and_none_at_all_go_through(void **state) {
    (void)state;
    const double one = 2;
    double y = GAP, g = GAP;
    const wg_mat_values x[] = {{NULL, 0, 3, 0}, {&one, 1, 1, 1}, {NULL, 2, 0, 2}};
    const wg_mat_values w[] = {{NULL, 0, 3, 0}, {&one, 1, 1, 1}, {&one, 2, 0, 2}};
    const wg_mat_result out[] = {{NULL, 0, 3, 0}, {&y, 1, 1, 1}, {&g, 2, 0, 2}};
    const wg_mat_result in[] = {{&y, 0, 3, 0}, {&g, 1, 1, 1}, {NULL, 2, 0, 2}};
    assert_ok(tape, wg_mat_vjp(tape, passes, NULL, 3, x, 3, w, out, in));
    assert_true(y == 2 && g == 2);
    assert_ok(tape, wg_mat_jvp(tape, passes, NULL, 3, x, w, 3, NULL, out));
    assert_true(y == 2);
    assert_ok(coded, wg_mat_hvp(coded, passes, NULL, 3, x, w, 3, w, NULL, NULL, in));
    assert_true(g == 0);
    wg_mat_result block[9] = {{NULL, 0, 0, 0}};
    block[4] = (wg_mat_result){&g, 1, 1, 1}, block[0] = (wg_mat_result){&y, 0, 0, 0};
    assert_ok(tape, wg_mat_jacobian(tape, passes, NULL, 3, x, 3, out, block));
    assert_true(g == 1);
    assert_ok(coded, wg_mat_hessian(coded, passes, NULL, 3, x, 3, w, NULL, NULL, block));
    assert_true(g == 0);
    assert_ok(tape, wg_mat_eval(tape, passes, NULL, 0, NULL, 0, NULL));
    assert_ok(tape, wg_mat_vjp(tape, passes, NULL, 0, NULL, 0, NULL, NULL, NULL));
    assert_ok(tape, wg_mat_jvp(tape, passes, NULL, 0, NULL, NULL, 0, NULL, NULL));
    assert_ok(tape, wg_mat_jacobian(tape, passes, NULL, 0, NULL, 0, NULL, NULL));
    assert_ok(coded, wg_mat_hvp(coded, passes, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    assert_ok(coded, wg_mat_hessian(coded, passes, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL));
}

/* Inputs as outputs, one of them as a view, and twice. */
static wg_status views(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y, void *data) {
    (void)t, (void)n, (void)m, (void)data;
    y[0] = wg_mat_transpose(x[0]);
    y[1] = wg_mat_row(x[0], 1);
    return WG_OK;
}
static void outputs_may_be_views_of_inputs(void **state) {
    (void)state;
    const double w0[] = {1, 2, 3, 4, 5, 6}, w1[] = {10, 20, 30};
    double g[6], y[6];
    const wg_mat_values w[] = {{w0, 3, 2, 3}, {w1, 1, 3, 1}};
    const wg_mat_result in = {g, 2, 3, 2}, out[] = {{y, 3, 2, 3}, {NULL, 0, 0, 0}};
    assert_ok(tape, wg_mat_vjp(tape, views, NULL, 1, x_, 2, w, out, &in));
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 3; j++) {
            assert_true(y[j + 3 * i] == A(i, j));
            assert_true(g[i + 2 * j] == w0[j + 3 * i] + (i == 1 ? w1[j] : 0));
        }
}

static wg_status constants(wg_tape *t, size_t n, const wg_mat *x, size_t m, wg_mat *y,
                           void *data) {
    (void)n, (void)m;
    y[0] = wg_mat_fill(t, 1, 1, *(const double *)data);
    y[1] = wg_mat_mul(t, x[0], 2);
    return WG_OK;
}
static void constants_have_derivatives_0_and_nan_where_they_are_nan(void **state) {
    (void)state;
    double number = 7, one = 1, y[2], g, hv, jac[2], h;
    const wg_mat_values x = {&one, 1, 1, 1}, w[] = {{&one, 1, 1, 1}, {&one, 1, 1, 1}};
    const wg_mat_values second[] = {{NULL, 0, 0, 0}, {&one, 1, 1, 1}};
    const wg_mat_result in = {&g, 1, 1, 1}, out[] = {{y, 1, 1, 1}, {y + 1, 1, 1, 1}};
    const wg_mat_result v = {&hv, 1, 1, 1}, j[] = {{jac, 1, 1, 1}, {jac + 1, 1, 1, 1}};
    const wg_mat_result whole = {&h, 1, 1, 1};
    for (int nan = 0; nan < 2; nan++) {
        if (nan) number = NAN;
        assert_ok(tape, wg_mat_vjp(tape, constants, &number, 1, &x, 2, w, out, &in));
        assert_true(nan ? g != g && y[0] != y[0] : g == 2 && y[0] == 7);
        assert_ok(tape, wg_mat_vjp(tape, constants, &number, 1, &x, 2, second, NULL, &in));
        assert_true(g == 2);
        assert_ok(tape, wg_mat_jvp(tape, constants, &number, 1, &x, w, 2, NULL, out));
        assert_true(nan ? y[0] != y[0] : y[0] == 0);
        assert_true(y[1] == 2);
        assert_ok(tape, wg_mat_jacobian(tape, constants, &number, 1, &x, 2, out, j));
        assert_true((nan ? jac[0] != jac[0] : jac[0] == 0) && jac[1] == 2);
        assert_ok(coded, wg_mat_hvp(coded, constants, &number, 1, &x, w, 2, w, NULL, &in, &v));
        assert_true(nan ? g != g && hv != hv : g == 2 && hv == 0);
        assert_ok(coded,
                  wg_mat_hessian(coded, constants, &number, 1, &x, 2, w, NULL, &in, &whole));
        assert_true(nan ? g != g && h != h : g == 2 && h == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_gradients_are_those_written_by_hand),
        cmocka_unit_test(several_outputs_are_seeded_at_once),
        cmocka_unit_test(tangents_are_those_written_by_hand),
        cmocka_unit_test(hessian_products_are_those_written_by_hand),
        cmocka_unit_test(hessians_have_a_block_for_each_pair),
        cmocka_unit_test(jacobians_have_a_block_for_each_output_and_input),
        cmocka_unit_test(jacobians_agree_forward_and_backward),
        cmocka_unit_test(empty_matrices_and_none_at_all_go_through),
        cmocka_unit_test(outputs_may_be_views_of_inputs),
        cmocka_unit_test(constants_have_derivatives_0_and_nan_where_they_are_nan),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
