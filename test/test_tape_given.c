/* SPDX-License-Identifier: MIT */
/* test_tape_given.c - variables whose local derivatives are given, beside the same as a sum
 * of products. */
#include <math.h>
#include <string.h>
#include <wengert.h>
#include "life.h"

enum { MOST = 41 };

static double partial_of(size_t i) { return 0.5 + (double)i * (i % 3 == 0 ? -1 : 0.25); }

/* y = sum p[i] x[i] by wg_let_given; every fourth operand is a constant, and x[5] comes
 * twice. */
static wg_real given(wg_tape *t, size_t n, const wg_real *x) {
    wg_real operand[MOST];
    double p[MOST], value = 0;
    for (size_t i = 0; i < n; i++) {
        operand[i] = i % 4 == 3 ? wg_constant(2) : i == 6 ? x[5] : x[i];
        p[i] = partial_of(i);
        value += p[i] * operand[i].value;
    }
    return wg_let_given(t, value, n, operand, p);
}
/* The derivative by x[i]. */
static double derivative(size_t n, size_t i) {
    const double d = i < n && i % 4 != 3 && i != 6 ? partial_of(i) : 0;
    return i == 5 && n > 6 ? d + partial_of(6) : d;
}

static void reverse_gives_each_operand_its_partial(void **state) {
    (void)state;
    for (size_t n = 1; n <= MOST; n++) {
        wg_real x[MOST];
        wg_tape_reset(tape);
        for (size_t i = 0; i < MOST; i++) x[i] = wg_input(tape, 1 + (double)i);
        const wg_real y = wg_let(tape, wg_mul(3, given(tape, n, x)));
        assert_int_equal(wg_reverse(tape, y), WG_OK);
        for (size_t i = 0; i < MOST; i++)
            assert_true(wg_adjoint(tape, x[i]) == 3 * derivative(n, i));
    }
}

static wg_real eight(wg_tape *t, const wg_real *x) {
    const double p[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return wg_let_given(t, 10, 8, x, p);
}
static wg_real three(wg_tape *t, const wg_real *x) {
    const double p[3] = {-1, 0.5, 2};
    return wg_let_given(t, 20, 3, x, p);
}

static void a_count_that_is_known_is_recorded_like_others(void **state) {
    (void)state;
    wg_real x[8];
    for (size_t i = 0; i < 8; i++) x[i] = wg_input(tape, 1);
    wg_real y[2];
    y[0] = eight(tape, x), y[1] = three(tape, x);
    assert_true(y[0].value == 10 && y[1].value == 20);
    assert_int_equal(stats_of(tape).statements, 2);
    const double w[4] = {1, 0, 0, 1};
    assert_int_equal(wg_reverse_lanes(tape, 2, 2, y, w), WG_OK);
    for (size_t i = 0; i < 8; i++)
        assert_true(wg_adjoint_lane(tape, x[i], 0) == (double)(i + 1));
    assert_true(wg_adjoint_lane(tape, x[0], 1) == -1 && wg_adjoint_lane(tape, x[1], 1) == 0.5 &&
                wg_adjoint_lane(tape, x[2], 1) == 2 && wg_adjoint_lane(tape, x[3], 1) == 0);
}

static void a_variable_that_comes_twice_counts_twice(void **state) {
    (void)state;
    const wg_real a = wg_input(tape, 2), x[3] = {a, a, a};
    const double p[3] = {1, 10, 100};
    const wg_real y = wg_let_given(tape, 0, 3, x, p);
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, a) == 111);
}

static void tangents_are_those_of_the_partials(void **state) {
    (void)state;
    wg_real x[MOST];
    assert_int_equal(wg_tape_forward(tape, 2), WG_OK);
    for (size_t i = 0; i < MOST; i++) x[i] = wg_input(tape, 1);
    assert_int_equal(wg_tangent_seed(tape, x[0], 0, 1), WG_OK);
    assert_int_equal(wg_tangent_seed(tape, x[MOST - 1], 1, 2), WG_OK);
    const wg_real y = given(tape, MOST, x);
    assert_true(wg_tangent(tape, y, 0) == derivative(MOST, 0));
    assert_true(wg_tangent(tape, y, 1) == 2 * derivative(MOST, MOST - 1));
    const wg_real z = three(tape, x);
    assert_true(wg_tangent(tape, z, 0) == -1 && wg_tangent(tape, z, 1) == 0);
}

static void zero_times_an_infinite_partial_is_zero(void **state) {
    (void)state;
    const wg_real x[2] = {wg_input(tape, 1), wg_input(tape, 1)};
    const double p[2] = {(double)INFINITY, 1};
    const wg_real y = wg_let_given(tape, 1, 2, x, p);
    assert_int_equal(wg_reverse(tape, wg_let(tape, wg_mul(0.0, y))), WG_OK);
    assert_true(wg_adjoint(tape, x[0]) == 0 && wg_adjoint(tape, x[1]) == 0);
}

static void constants_alone_and_pauses_give_constants(void **state) {
    (void)state;
    const wg_real c[2] = {wg_constant(1), wg_constant(2)}, x[2] = {wg_input(tape, 1), c[0]};
    const double p[2] = {1, 1};
    const uint64_t before = stats_of(tape).statements;
    assert_int_equal(wg_let_given(tape, 3, 2, c, p).at.slot, 0);
    assert_int_equal(wg_let_given(tape, 3, 0, NULL, NULL).at.slot, 0);
    assert_int_equal(wg_tape_pause(tape), WG_OK);
    assert_int_equal(wg_let_given(tape, 3, 2, x, p).at.slot, 0);
    assert_int_equal(wg_tape_resume(tape), WG_OK);
    assert_int_equal(stats_of(tape).statements, before);
    assert_ok(tape);
}

static void mistakes_are_named(void **state) {
    (void)state;
    const double p[2] = {1, 1};
    wg_real x[2] = {wg_input(tape, 1), wg_input(other, 1)};
    assert_true(isnan(wg_let_given(NULL, 1, 2, x, p).value));
    assert_true(isnan(wg_let_given(tape, 1, 2, x, p).value));
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_let_given"));
    assert_non_null(strstr(wg_tape_message(tape), "test_tape_given.c"));
    wg_tape_reset(tape);
    x[0] = wg_input(tape, 1);
    const double *const none = NULL;
    assert_true(isnan(wg_let_given(tape, 1, 30, x, none).value));
    assert_int_equal(wg_tape_status(tape), WG_ENULL);
}

static void tapes_that_keep_their_code_refuse(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    const wg_real x[1] = {wg_input(t, 1)};
    const double p[1] = {2};
    assert_true(isnan(wg_let_given(t, 1, 1, x, p).value));
    assert_int_equal(wg_tape_status(t), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(t), "keeps its code"));
    wg_tape_free(t);
}

static void traced_tapes_stop_at_numbers_that_are_not_finite(void **state) {
    (void)state;
    wg_tape *const t =
        wg_tape_new(&(wg_options){.flags = WG_TRACE | WG_KEEP_PLACES | WG_CHECKED});
    wg_real x[1] = {wg_input(t, 1)};
    const double good[1] = {2}, bad[1] = {(double)NAN};
    assert_true(wg_let_given(t, 1, 1, x, good).value == 1);
    assert_ok(t);
    (void)wg_let_given(t, 1, 1, x, bad);
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    wg_tape_reset(t);
    x[0] = wg_input(t, 1);
    (void)wg_let_given(t, (double)INFINITY, 1, x, good);
    assert_int_equal(wg_tape_status(t), WG_ENONFINITE);
    wg_tape_free(t);
}

static void a_full_chunk_and_a_full_tape_are_met(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(&(wg_options){.max_slots = 70000});
    wg_real x[3];
    for (size_t i = 0; i < 3; i++) x[i] = wg_input(t, 1);
    const wg_real first = x[0];
    double product = 1;
    for (int k = 0; k < 69000; k++) {
        const double p[3] = {1, k % 2 == 0 ? 0.5 : -0.5, 0};
        x[0] = wg_let_given(t, 1, 3, x, p);
        product *= p[0];
    }
    assert_ok(t);
    assert_int_equal(wg_reverse(t, x[0]), WG_OK);
    assert_true(wg_adjoint(t, first) == product && wg_adjoint(t, x[1]) == 0);
    for (int k = 0; k < 2000; k++) {
        const double p[3] = {1, 1, 1};
        x[0] = wg_let_given(t, 1, 3, x, p);
    }
    assert_int_equal(wg_tape_status(t), WG_ESLOTS);
    wg_tape_free(t);
}

/* sum i x[i] over n variables, with constants in between. */
static wg_real terms(wg_tape *t, size_t n, const wg_real *x) {
    wg_terms s = wg_terms_open(t);
    double value = 0;
    for (size_t i = 0; i < n; i++) {
        wg_terms_add(&s, x[i % 7], (double)i);
        value += (double)i * x[i % 7].value;
        if (i % 5 == 2) wg_terms_add(&s, wg_constant(3), 1);
    }
    return wg_terms_close(&s, value);
}

static void terms_are_operands(void **state) {
    (void)state;
    wg_real x[7];
    for (size_t i = 0; i < 7; i++) x[i] = wg_input(tape, 1 + (double)i);
    const wg_real few = terms(tape, 5, x), none = terms(tape, 0, x),
                  many = terms(tape, 200000, x);
    assert_int_equal(none.at.slot, 0);
    assert_int_equal(stats_of(tape).statements, 2);
    assert_int_equal(wg_reverse(tape, few), WG_OK);
    for (size_t i = 0; i < 7; i++)
        assert_true(wg_adjoint(tape, x[i]) == (i < 5 ? (double)i : 0));
    assert_int_equal(wg_reverse(tape, wg_let(tape, wg_mul(2, many))), WG_OK);
    for (size_t i = 0; i < 7; i++) {
        double sum = 0;
        for (size_t k = i; k < 200000; k += 7) sum += (double)k;
        assert_true(wg_adjoint(tape, x[i]) == 2 * sum);
    }
}

static void terms_have_tangents(void **state) {
    (void)state;
    wg_real x[7];
    assert_int_equal(wg_tape_forward(tape, 1), WG_OK);
    for (size_t i = 0; i < 7; i++) x[i] = wg_input(tape, 1);
    assert_int_equal(wg_tangent_seed(tape, x[3], 0, 1), WG_OK);
    const wg_real y = terms(tape, 14, x), z = terms(tape, 2, x);
    assert_true(wg_tangent(tape, y, 0) == 13 && wg_tangent(tape, z, 0) == 0);
}

static void terms_are_refused_as_statements_are(void **state) {
    (void)state;
    wg_real x[7];
    for (size_t i = 0; i < 7; i++) x[i] = wg_input(other, 1);
    assert_true(isnan(terms(tape, 5, x).value));
    assert_int_equal(wg_tape_status(tape), WG_ESTALE);
    assert_true(isnan(terms(NULL, 5, x).value));
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE});
    for (size_t i = 0; i < 7; i++) x[i] = wg_input(t, 1);
    assert_true(isnan(terms(t, 5, x).value));
    assert_int_equal(wg_tape_status(t), WG_EMODE);
    wg_tape_free(t);
    assert_int_equal(wg_tape_pause(other), WG_OK);
    for (size_t i = 0; i < 7; i++) x[i] = wg_input(other, 1);
    assert_int_equal(terms(other, 5, x).at.slot, 0);
}

/* What is recorded in between would have the first operands, or lose the later ones. */
static void terms_do_not_mix_with_statements(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2), y = wg_input(tape, 3);
    wg_terms s = wg_terms_open(tape);
    const wg_real before = wg_let(tape, wg_mul(x, y));
    wg_terms_add(&s, x, 5);
    const wg_real between = wg_let(tape, wg_mul(before, y));
    assert_int_equal(wg_reverse(tape, between), WG_OK);
    assert_true(wg_adjoint(tape, x) == 9 && wg_adjoint(tape, y) == 12);
    assert_true(isnan(wg_terms_close(&s, 1).value));
    assert_int_equal(wg_tape_status(tape), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_terms_close"));

    wg_tape_reset(tape);
    const wg_real z = wg_input(tape, 2);
    s = wg_terms_open(tape);
    wg_terms_add(&s, z, 5);
    (void)wg_let(tape, wg_sin(z));
    wg_terms_add(&s, z, 7);
    assert_int_equal(wg_tape_status(tape), WG_EMODE);

    wg_tape *const t = wg_tape_new(&(wg_options){.flags = WG_CHECKED});
    const wg_real v = wg_input(t, 2);
    const wg_mark m = wg_tape_mark(t);
    s = wg_terms_open(t);
    wg_terms_add(&s, v, 5);
    assert_int_equal(wg_tape_rewind(t, m), WG_OK);
    (void)wg_let(t, wg_sin(v));
    assert_true(isnan(wg_terms_close(&s, 1).value));
    assert_int_equal(wg_tape_status(t), WG_EMODE);
    wg_tape_free(t);

    wg_tape_reset(tape);
    assert_int_equal(wg_tape_forward(tape, 1), WG_OK);
    const wg_real w = wg_input(tape, 2);
    assert_int_equal(wg_tangent_seed(tape, w, 0, 1), WG_OK);
    s = wg_terms_open(tape);
    wg_terms_add(&s, w, 5);
    assert_true(wg_tangent(tape, wg_let(tape, wg_mul(3, w)), 0) == 3);
    wg_terms_add(&s, w, 5);
    assert_int_equal(wg_tape_status(tape), WG_EMODE);
}

/* Some operands with a derivative and some without are no sum. */
static void terms_are_recorded_all_or_none(void **state) {
    (void)state;
    for (int resumed = 0; resumed < 2; resumed++) {
        const wg_real x = wg_input(tape, 2);
        wg_terms s = wg_terms_open(tape);
        if (resumed) assert_int_equal(wg_tape_pause(tape), WG_OK);
        wg_terms_add(&s, x, 5);
        assert_int_equal(resumed ? wg_tape_resume(tape) : wg_tape_pause(tape), WG_OK);
        wg_terms_add(&s, x, 7);
        assert_int_equal(wg_tape_status(tape), WG_EMODE);
        assert_non_null(strstr(wg_tape_message(tape), "paused or resumed"));
        wg_tape_reset(tape);
    }
    assert_int_equal(wg_tape_pause(tape), WG_OK);
    wg_real x = wg_input(tape, 2);
    wg_terms s = wg_terms_open(tape);
    wg_terms_add(&s, x, 5);
    const wg_real y = wg_terms_close(&s, 3);
    assert_true(y.value == 3 && y.at.slot == 0);
    assert_int_equal(wg_tape_resume(tape), WG_OK);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

/* What was opened and never closed is a variable that nobody has. */
static void terms_may_stay_open(void **state) {
    (void)state;
    const wg_real x = wg_input(tape, 2);
    wg_terms s = wg_terms_open(tape);
    wg_terms_add(&s, x, 5);
    const wg_real y = wg_let(tape, wg_mul(x, x));
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_true(wg_adjoint(tape, x) == 4);
    assert_int_equal(wg_tape_status(tape), WG_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(reverse_gives_each_operand_its_partial),
        TEST(a_count_that_is_known_is_recorded_like_others),
        TEST(a_variable_that_comes_twice_counts_twice),
        TEST(tangents_are_those_of_the_partials),
        TEST(zero_times_an_infinite_partial_is_zero),
        TEST(constants_alone_and_pauses_give_constants),
        TEST(mistakes_are_named),
        TEST(tapes_that_keep_their_code_refuse),
        TEST(traced_tapes_stop_at_numbers_that_are_not_finite),
        TEST(a_full_chunk_and_a_full_tape_are_met),
        TEST(terms_are_operands),
        TEST(terms_have_tangents),
        TEST(terms_are_refused_as_statements_are),
        TEST(terms_do_not_mix_with_statements),
        TEST(terms_are_recorded_all_or_none),
        TEST(terms_may_stay_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
