/* SPDX-License-Identifier: MIT */
/* test_tape_matrix_scalars.c - variables and numbers as operands of operations on matrices: the
 * same bits as by a gather, in every mode, and nothing of it on the tape. */
#include "driver_cases.h"

static const double a_[] = {1, 2, -3, 4, 0.5, -6}, c_[] = {0.3, -1.2};

/* f = sum of s (A / c1 + 2)^2 - exp(s) A, where s = sin(c0) c1; once with scalars, and once
 * with matrices that were gathered. x: c0, c1, and A 2-by-3. */
static wg_status by_scalars(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, 2, 3, x + 2);
    const wg_real s = wg_let(t, wg_mul(wg_sin(x[0]), x[1]));
    const wg_mat square = wg_mat_pow(t, wg_mat_add(t, wg_mat_div(t, a, x[1]), 2), 2);
    y[0] = wg_mat_sum(
        t, wg_mat_sub(t, wg_mat_mul(t, s, square), wg_mat_mul(t, wg_let(t, wg_exp(s)), a)));
    return WG_OK;
}
static wg_status by_gathers(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    const wg_mat a = wg_mat_gather(t, 2, 3, x + 2), two = wg_mat_fill(t, 1, 1, 2);
    const wg_real s = wg_let(t, wg_mul(wg_sin(x[0]), x[1])), e = wg_let(t, wg_exp(s));
    const wg_mat square =
        wg_mat_pow(t, wg_mat_add(t, wg_mat_div(t, a, wg_mat_gather(t, 1, 1, &x[1])), two), two);
    y[0] = wg_mat_sum(t, wg_mat_sub(t, wg_mat_mul(t, wg_mat_gather(t, 1, 1, &s), square),
                                    wg_mat_mul(t, wg_mat_gather(t, 1, 1, &e), a)));
    return WG_OK;
}

enum { N = 8 };
static void point(double x[N]) { memcpy(x, c_, sizeof c_), memcpy(x + 2, a_, sizeof a_); }

static void derivatives_have_the_bits_of_gathers_in_every_mode(void **state) {
    (void)state;
    wg_callback *const f[] = {by_scalars, by_gathers};
    double x[N], value[2], g[2][N], h[2][N * N], jv[2], jac[2][N];
    wg_check found;
    point(x);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(wg_gradient(tape, f[k], NULL, N, x, &value[k], g[k]), WG_OK);
        assert_int_equal(wg_hessian(coded, f[k], NULL, N, x, NULL, NULL, h[k], N), WG_OK);
        assert_int_equal(wg_jvp(tape, f[k], NULL, N, x, x, 1, NULL, &jv[k]), WG_OK);
        assert_int_equal(wg_jacobian(tape, f[k], NULL, N, x, 1, NULL, WG_ROW_MAJOR, jac[k], N),
                         WG_OK);
    }
    assert_true(memcmp(value, value + 1, sizeof *value) == 0);
    assert_true(memcmp(g[0], g[1], sizeof g[0]) == 0 && memcmp(h[0], h[1], sizeof h[0]) == 0);
    assert_true(jv[0] == jv[1] && memcmp(jac[0], jac[1], sizeof jac[0]) == 0);
    assert_int_equal(wg_check_gradient(tape, by_scalars, NULL, N, x, 1, &found), WG_OK);
    assert_int_equal(wg_check_hessian(coded, by_scalars, NULL, N, x, 1, &found), WG_OK);
    assert_int_equal(wg_check_gradient(coded, by_scalars, NULL, N, x, 1, &found), WG_OK);
}

static void a_variable_keeps_its_slot_without_a_record(void **state) {
    (void)state;
    wg_tape *const tapes[] = {tape, coded};
    for (int k = 0; k < 2; k++) {
        wg_tape *const t = tapes[k];
        wg_stats before, after;
        double g, ga[6];
        wg_tape_reset(t);
        const wg_real x = wg_input(t, 3);
        const wg_mat a = wg_mat_input(t, 2, 3, a_, 2);
        assert_int_equal(wg_tape_stats(t, &before), WG_OK);
        const wg_mat m = wg_mat_from_real(t, x), c = wg_mat_from_real(t, wg_constant(5));
        assert_int_equal(wg_tape_stats(t, &after), WG_OK);
        assert_true(after.slots == before.slots && after.records == before.records);
        assert_true(m.rows == 1 && m.cols == 1 && wg_mat_at(m, 0, 0).at.slot == x.at.slot);
        assert_true(wg_value(wg_mat_at(m, 0, 0)) == 3 && wg_value(wg_mat_at(c, 0, 0)) == 5);
        const wg_real y = wg_mat_sum(t, wg_mat_mul(t, c, wg_mat_mul(t, a, x)));
        assert_int_equal(wg_tape_stats(t, &after), WG_OK);
        assert_true(after.records == before.records + 3); /* two products and a sum */
        assert_int_equal(wg_reverse(t, y), WG_OK);
        assert_int_equal(wg_mat_adjoint(t, m, &g, 1), WG_OK);
        assert_true(g == 5 * (1 + 2 - 3 + 4 + 0.5 - 6) && g == wg_adjoint(t, x));
        assert_int_equal(wg_mat_adjoint(t, a, ga, 2), WG_OK);
        assert_true(ga[0] == 15 && ga[5] == 15);
        wg_tape_reset(t);
    }
}

static void a_replay_finds_the_new_value(void **state) {
    (void)state;
    double x[N], again[N], value, g[N], y = 0, b[N];
    wg_real in[N], out;
    point(x), point(again);
    again[0] = 0.7, again[1] = 2.5, again[4] = 9;
    wg_tape_reset(coded);
    assert_int_equal(wg_inputs(coded, N, x, in), WG_OK);
    assert_int_equal(by_scalars(coded, N, in, 1, &out, NULL), WG_OK);
    const wg_mat m = wg_mat_from_real(coded, in[1]);
    assert_int_equal(wg_tape_replay(coded, N, in, again), WG_OK);
    assert_int_equal(wg_reverse(coded, out), WG_OK);
    assert_int_equal(wg_adjoints(coded, N, in, g), WG_OK);
    value = wg_tape_value(coded, out);
    assert_int_equal(wg_mat_value(coded, m, &y, 1), WG_OK);
    assert_true(y == again[1]);
    assert_int_equal(wg_gradient(tape, by_scalars, NULL, N, again, &y, b), WG_OK);
    assert_true(value == y && memcmp(g, b, sizeof g) == 0);
    wg_tape_reset(coded);
}

static void what_is_recorded_after_a_replay_has_the_new_value(void **state) {
    (void)state;
    const double again = 5;
    double square, product;
    wg_tape_reset(coded);
    wg_real x = wg_input(coded, 2);
    const wg_real s = wg_let(coded, wg_mul(x, x));
    const wg_mat m = wg_mat_from_real(coded, s), turned = wg_mat_transpose(m);
    assert_int_equal(wg_tape_replay(coded, 1, &x, &again), WG_OK);
    const wg_mat y = wg_mat_mul(coded, m, turned), z = wg_matmul(coded, turned, y);
    assert_int_equal(wg_mat_value(coded, y, &square, 1), WG_OK);
    assert_int_equal(wg_mat_value(coded, z, &product, 1), WG_OK);
    assert_true(square == 625 && product == 15625);
    assert_int_equal(wg_reverse(coded, wg_mat_at(z, 0, 0)), WG_OK);
    assert_true(wg_adjoint(coded, x) == 6 * 3125.0); /* of x^6 */
    wg_tape_reset(coded);
}

static void functions_take_them(void **state) {
    (void)state;
    const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
    double x[N], far[N], y, expected, g[N], b[N], largest = 0;
    point(x), point(far);
    far[0] = -1.5, far[1] = 0.8, far[7] = 2;
    wg_function *const f = function_of(by_scalars, NULL, 1, &in, x, 1, &out), *d = NULL;
    assert_int_equal(wg_function_gradient(coded, f, &d), WG_OK);
    void *const work = malloc(wg_function_work(d, NULL) + wg_function_work(f, NULL) + 1);
    assert_non_null(work);
    const wg_points at = {far, N, 1};
    const wg_results value = {&y, 1, 1}, slopes = {g, N, 1};
    assert_int_equal(wg_gradient(tape, by_scalars, NULL, N, far, &expected, b), WG_OK);
    assert_int_equal(wg_function_evaluate(f, 1, &at, &value, NULL, work, NULL), WG_OK);
    assert_int_equal(wg_function_evaluate(d, 1, &at, &slopes, NULL, work, NULL), WG_OK);
    assert_true(fabs(y - expected) <= TOL_PROGRAM_ULP * DBL_EPSILON * fabs(expected));
    for (int i = 0; i < N; i++) largest = fmax(largest, fabs(b[i]));
    for (int i = 0; i < N; i++)
        assert_true(fabs(g[i] - b[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest);
    free(work);
    wg_function_free(f), wg_function_free(d);
}

/* ---- what is written ---- */

static int turns;
static wg_tape *once(void) { return turns++, tape; }
static double number(void) { return turns++, 3; }

static void every_argument_is_evaluated_once(void **state) {
    (void)state;
    wg_tape_reset(tape);
    turns = 0;
    const wg_mat a = wg_mat_input(tape, 2, 3, a_, 2);
    const wg_mat y = wg_mat_mul(once(), wg_mat_add(once(), a, number()), wg_mat_neg(once(), a));
    assert_int_equal(turns, 4);
    assert_true(wg_value(wg_mat_at(y, 1, 0)) == -(2.0 + 3) * 2);
    wg_tape_reset(tape);
}

static void every_kind_of_number_is_one(void **state) {
    (void)state;
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 2, 3, a_, 2);
    const float f = 2;
    const unsigned char byte = 2;
    const wg_real x = wg_input(tape, 2), constant = wg_constant(2);
    const wg_mat same[] = {
        wg_mat_mul(tape, a, 2),        wg_mat_mul(tape, 2.0, a),
        wg_mat_mul(tape, a, f),        wg_mat_mul(tape, byte, a),
        wg_mat_mul(tape, a, 2ULL),     wg_mat_mul(tape, a, x),
        wg_mat_mul(tape, constant, a), (wg_mat_mul)(tape, a, wg_mat_fill(tape, 1, 1, 2))};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++)
        assert_true(wg_value(wg_mat_at(same[k], 1, 2)) == -12 && same[k].rows == 2);
    wg_mat (*const function)(wg_tape *, wg_mat, wg_mat) =
        wg_mat_mul; /* the name of a function still */
    assert_true(wg_value(wg_mat_at(function(tape, a, same[0]), 1, 0)) == 8);
    /* where matrices are 1-by-1 by the sizes, too */
    assert_close(wg_value(wg_logdet_spd(tape, x)), log(2.0));
    assert_true(wg_value(wg_mat_at(wg_solve(tape, x, wg_mat_row(a, 1)), 0, 2)) == -3);
    assert_true(wg_value(wg_mat_sum(tape, wg_matmul(tape, wg_mat_col(a, 0), x))) == 6);
    wg_tape_reset(tape);
}

static void mistakes_are_named_by_the_operation(void **state) {
    (void)state;
    wg_tape *const other = wg_tape_new(NULL);
    const wg_real foreign = wg_input(other, 2);
    double v;
    wg_tape_reset(tape);
    const wg_mat a = wg_mat_input(tape, 2, 3, a_, 2);
    assert_int_equal(wg_mat_value(tape, wg_mat_from_real(tape, foreign), &v, 1), WG_ESTALE);
    (void)wg_mat_exp(tape, foreign);
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_message(tape, "wg_mat_exp: operand 0");
    assert_true(wg_mat_from_real(tape, wg_constant(1)).value == NULL); /* a tape in failure */
    wg_tape_reset(tape);
    const wg_real old = wg_input(tape, 1);
    wg_tape_reset(tape);
    (void)wg_input(tape, 1);
    (void)wg_mat_mul(tape, old, old);
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    wg_tape_reset(tape);
    (void)wg_matmul(tape, wg_mat_input(tape, 2, 3, a_, 2), 2);
    assert_int_equal(wg_tape_status(tape), WG_ESHAPE);
    assert_message(tape, "wg_matmul of 2x3, 1x1");
    assert_true(wg_mat_from_real(NULL, old).value == NULL);
    assert_true(wg_mat_mul(NULL, a, 2).value == NULL);
    wg_tape_free(other);
    wg_tape_reset(tape);
}

static void a_rewound_variable_is_found_on_a_checked_tape(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
    const wg_mark start = wg_tape_mark(t);
    const wg_real x = wg_input(t, 2);
    const wg_mat m = wg_mat_from_real(t, x);
    assert_true(wg_value(wg_mat_at(wg_mat_mul(t, m, x), 0, 0)) == 4);
    assert_int_equal(wg_tape_rewind(t, start), WG_OK);
    (void)wg_input(t, 3);
    (void)wg_mat_exp(t, x);
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    wg_tape_free(t);
}

static void paused_and_forward_tapes_take_them(void **state) {
    (void)state;
    double out;
    wg_tape_reset(tape);
    const wg_real x = wg_input(tape, 2);
    assert_int_equal(wg_tape_pause(tape), WG_OK);
    const wg_mat y = wg_mat_mul(tape, x, 3);
    assert_true(wg_value(wg_mat_at(y, 0, 0)) == 6 && wg_mat_at(y, 0, 0).at.slot == 0);
    wg_tape_reset(tape);
    assert_int_equal(wg_tape_forward(tape, 2), WG_OK);
    const wg_real z = wg_input(tape, 2);
    assert_int_equal(wg_tangent_seed(tape, z, 1, 5), WG_OK);
    const wg_mat square = wg_mat_mul(tape, z, z);
    assert_int_equal(wg_mat_tangent(tape, square, 1, &out, 1), WG_OK);
    assert_true(out == 20);
    assert_int_equal(wg_mat_tangent(tape, wg_mat_from_real(tape, z), 1, &out, 1), WG_OK);
    assert_true(out == 5);
    wg_tape_reset(tape);
    assert_int_equal(wg_tape_forward(tape, 0), WG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_have_the_bits_of_gathers_in_every_mode),
        cmocka_unit_test(a_variable_keeps_its_slot_without_a_record),
        cmocka_unit_test(a_replay_finds_the_new_value),
        cmocka_unit_test(what_is_recorded_after_a_replay_has_the_new_value),
        cmocka_unit_test(functions_take_them),
        cmocka_unit_test(every_argument_is_evaluated_once),
        cmocka_unit_test(every_kind_of_number_is_one),
        cmocka_unit_test(mistakes_are_named_by_the_operation),
        cmocka_unit_test(a_rewound_variable_is_found_on_a_checked_tape),
        cmocka_unit_test(paused_and_forward_tapes_take_them),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
