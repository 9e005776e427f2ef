/* SPDX-License-Identifier: MIT */
/* test_tape_statement.c - numbers in the place of variables: what is recorded of a statement
 * some of whose operands are constants, beside what the general form records of the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <wengert.h>

#include "tape_text.h"

enum { MOST = 8 };

/* A statement of n operands. */
static wg_real statement(wg_tape *t, size_t n, const wg_real *x) {
    switch (n) {
    case 1:
        return wg_let(t, wg_mul(wg_sin(x[0]), 2));
    case 2:
        return wg_let(t, wg_mul(wg_mul(x[0], 3), wg_exp(x[1])));
    case 3:
        return wg_let(t, wg_fma(x[0], wg_sin(x[1]), x[2]));
    case 4:
        return wg_let(t, wg_sub(wg_mul(x[0], x[1]), wg_div(x[2], x[3])));
    case 5:
        return wg_let(t, wg_fma(wg_mul(x[0], x[1]), wg_mul(x[2], x[3]), wg_cos(x[4])));
    case 6:
        return wg_let(t, wg_sub(wg_fma(x[0], x[1], x[2]), wg_fma(x[3], x[4], x[5])));
    case 7:
        return wg_let(t,
                      wg_fma(wg_fma(x[0], x[1], x[2]), wg_mul(x[3], x[4]), wg_mul(x[5], x[6])));
    default:
        return wg_let(t, wg_div(wg_fma(wg_mul(x[0], x[1]), x[2], wg_mul(x[3], x[4])),
                                wg_fma(x[5], x[6], x[7])));
    }
}

static wg_tape *open_with(unsigned flags) {
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags});
    assert_non_null(t);
    return t;
}

/* Operands of which those with a bit of `active` are variables, each another one, or the same
 * `step` again and again. */
static void operands(wg_tape *t, size_t n, unsigned active, unsigned step, wg_real *x) {
    const double a[] = {0.75, -1.25, 2.5, 0.3125, 1.0625, -0.875, 0.6875, 1.375};
    wg_real in[MOST];
    assert_int_equal(wg_inputs(t, MOST, a, in), WG_OK);
    for (size_t i = 0; i < n; i++)
        x[i] = active >> i & 1 ? in[step == 0 ? i : i % step] : wg_constant(a[i]);
}

/* Every statement with every choice of constants, of variables that differ and of pairs that
 * repeat: text is what a tape holds, compared with one that takes the general path for
 * everything. */
static void constants_among_operands_are_left_out_as_in_general(void **state) {
    (void)state;
    wg_tape *const fast = open_with(0), *const general = open_with(WG_CHECKED);
    static struct text got, want;
    for (unsigned step = 0; step <= 3; step++)
        for (size_t n = 1; n <= MOST; n++)
            for (unsigned active = 0; active < 1u << n; active++) {
                wg_real x[MOST], y, z;
                wg_tape_reset(fast), wg_tape_reset(general);
                operands(fast, n, active, step, x);
                y = statement(fast, n, x);
                operands(general, n, active, step, x);
                z = statement(general, n, x);
                assert_memory_equal(&y.value, &z.value, sizeof y.value);
                assert_int_equal(y.at.slot, z.at.slot);
                assert_int_equal(y.at.slot != 0, active != 0);
                got.used = want.used = 0;
                assert_int_equal(wg_tape_dump(fast, collect, &got), WG_OK);
                assert_int_equal(wg_tape_dump(general, collect, &want), WG_OK);
                assert_string_equal(got.bytes, want.bytes);
                wg_stats s, g;
                assert_int_equal(wg_tape_stats(fast, &s), WG_OK);
                assert_int_equal(wg_tape_stats(general, &g), WG_OK);
                assert_int_equal(s.records, g.records);
                assert_true(s.records <= (size_t)(__builtin_popcount(active) + 1) / 2);
                assert_int_equal(s.statements, active != 0);
                if (active != 0) assert_int_equal(wg_reverse(fast, y), WG_OK);
                else assert_int_equal(wg_reverse(fast, y), WG_ESEED);
            }
    wg_tape_free(fast), wg_tape_free(general);
}

static void statements_of_constants_alone_leave_every_tape_as_it_was(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED, WG_TRACE, WG_KEEP_PLACES};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        wg_tape *const t = open_with(flags[k]);
        wg_real x[MOST];
        wg_stats before, after;
        for (size_t n = 1; n <= MOST; n++) {
            wg_tape_reset(t);
            operands(t, n, 0, 0, x);
            assert_int_equal(wg_tape_stats(t, &before), WG_OK);
            for (int i = 0; i < 100; i++) assert_int_equal(statement(t, n, x).at.slot, 0);
            assert_int_equal(wg_tape_stats(t, &after), WG_OK);
            assert_memory_equal(&before, &after, sizeof before);
        }
        wg_tape_free(t);
    }
}

static void a_number_that_is_infinite_or_nan_stays_one(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real zero = wg_constant(0), inf = wg_constant(INFINITY);
    (void)wg_input(t, 1);
    assert_true(isnan(wg_let(t, wg_mul(zero, inf)).value));
    assert_true(isinf(wg_let(t, wg_div(1, zero)).value));
    assert_int_equal(wg_tape_status(t), WG_OK);
    wg_tape_free(t);
    wg_tape *const traced = open_with(WG_TRACE);
    (void)wg_input(traced, 1);
    assert_true(isnan(wg_let(traced, wg_div(1, zero)).value));
    assert_int_equal(wg_tape_status(traced), WG_ENONFINITE);
    wg_tape_free(traced);
}

static void a_stale_variable_beside_constants_is_still_noticed(void **state) {
    (void)state;
    wg_tape *const t = open_with(0), *const other = open_with(0);
    wg_real x[MOST];
    for (size_t n = 2; n <= MOST; n++)
        for (size_t i = 0; i < n; i++) {
            wg_tape_reset(t);
            operands(t, n, 0, 0, x);
            x[i] = wg_input(other, 1);
            assert_true(isnan(statement(t, n, x).value));
            assert_int_equal(wg_tape_status(t), WG_ESTALE);
        }
    wg_tape_free(t), wg_tape_free(other);
}

/* After a failure even what has no variables is no number, as in every other mode. */
static void a_failed_tape_gives_no_numbers(void **state) {
    (void)state;
    wg_tape *const t = open_with(0), *const other = open_with(0);
    const wg_real two = wg_constant(2), stale = wg_input(other, 1);
    (void)wg_let(t, wg_mul(stale, two));
    assert_int_equal(wg_tape_status(t), WG_ESTALE);
    assert_true(isnan(wg_let(t, wg_mul(two, two)).value));
    wg_tape_free(t), wg_tape_free(other);
}

/* 0 times infinity among the partials of a statement with a constant: 0, as without one. */
static void partials_that_are_nan_are_made_again_beside_constants(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 0), y = wg_input(t, 2);
    /* d/dx: 0 * 1/(2 sqrt(0)) */
    const wg_real z = wg_let(t, wg_add(wg_mul(wg_constant(0), wg_sqrt(x)), wg_mul(y, 3)));
    assert_int_equal(wg_reverse(t, z), WG_OK);
    assert_true(wg_adjoint(t, x) == 0);
    assert_true(wg_adjoint(t, y) == 3);
    wg_tape_free(t);
}

/* ---- comparisons ---- */

/* x is 0.5, y 2: each comparison by itself, of variables, numbers and expressions in any
 * position. */
static void partials_that_call_functions_are_those_of_numbers_beside_constants(void **state) {
    (void)state;
    const unsigned modes[] = {0, WG_KEEP_CODE, WG_KEEP_PLACES, WG_CHECKED};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        wg_tape *t = wg_tape_new(&(wg_options){.flags = modes[m]});
        const wg_real x = wg_input(t, 0.75), c = wg_constant(1.25), below = wg_constant(-2);
        const wg_real with[] = {wg_let(t, wg_pow(x, c)),
                                wg_let(t, wg_pow(c, x)),
                                wg_let(t, wg_atan2(wg_sin(c), x)),
                                wg_let(t, wg_hypot(wg_mul(x, c), wg_cosh(c))),
                                wg_let(t, wg_mul(wg_sin(wg_mul(x, c)), wg_expm1(c))),
                                wg_let(t, wg_mul(x, wg_pow(below, wg_constant(3))))};
        const wg_real without[] = {wg_let(t, wg_pow(x, 1.25)),
                                   wg_let(t, wg_pow(1.25, x)),
                                   wg_let(t, wg_atan2(wg_sin(1.25), x)),
                                   wg_let(t, wg_hypot(wg_mul(x, 1.25), wg_cosh(1.25))),
                                   wg_let(t, wg_mul(wg_sin(wg_mul(x, 1.25)), wg_expm1(1.25))),
                                   wg_let(t, wg_mul(x, wg_pow(-2, 3)))};
        for (size_t i = 0; i < sizeof with / sizeof *with; i++) {
            assert_int_equal(wg_reverse(t, with[i]), WG_OK);
            const double a = wg_adjoint(t, x);
            assert_int_equal(wg_reverse(t, without[i]), WG_OK);
            assert_true(a == wg_adjoint(t, x) && a != 0);
            assert_true(wg_value(with[i]) == wg_value(without[i]));
        }
        const wg_real alone = wg_let(t, wg_pow(below, c));
        assert_true(alone.at.slot == 0 && wg_value(alone) != wg_value(alone));
        wg_tape_free(t);
    }
}

static void comparisons_take_variables_numbers_and_expressions(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        wg_tape *const t = open_with(flags[k]);
        const wg_real x = wg_input(t, 0.5), y = wg_input(t, 2);
        const float half = 0.5f;
        const unsigned two = 2;
        assert_true(wg_lt(t, x, 1) && wg_lt(t, 0.0, x) && !wg_lt(t, wg_mul(x, y), 1));
        assert_true(wg_le(t, x, half) && wg_le(t, wg_mul(x, y), y) && !wg_le(t, 1, x));
        assert_true(wg_gt(t, y, 1.5) && wg_gt(t, wg_add(x, y), two) && !wg_gt(t, x, y));
        assert_true(wg_ge(t, two, y) && wg_ge(t, wg_exp(x), wg_sin(y)) && !wg_ge(t, 0, x));
        assert_true(wg_eq(t, wg_mul(x, y), 1) && wg_eq(t, half, x) && !wg_eq(t, x, y));
        assert_true(wg_ne(t, x, y) && wg_ne(t, 1, wg_add(x, y)) && !wg_ne(t, x, half));
        assert_true(wg_lt(t, 1, 2) && !wg_lt(t, wg_constant(2), 1));
        assert_true(wg_lt(NULL, x, y) && !wg_lt(NULL, x, 0.25) && wg_gt(NULL, y, 1));
        assert_int_equal(wg_tape_status(t), WG_OK);
        wg_tape_free(t);
    }
}

static void operands_of_comparisons_are_evaluated_once_and_from_the_left(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE);
    wg_real x[2];
    assert_int_equal(wg_inputs(t, 2, (const double[]){1, 2}, x), WG_OK);
    int i = 0, tapes = 0;
    wg_tape *const tape[] = {t, NULL};
    const uint32_t first = wg_let(t, wg_neg(x[0])).at.slot;
    assert_true(wg_lt(tape[tapes++], wg_square(x[i++]), wg_mul(x[1], 3)));
    assert_int_equal(i, 1);
    assert_int_equal(tapes, 1);
    wg_stats s;
    assert_int_equal(wg_tape_stats(t, &s), WG_OK);
    assert_int_equal(s.statements, 3);
    assert_true(wg_tape_value(t, (wg_real){0, {first + 1, x[0].at.stamp}}) == 1);
    assert_true(wg_tape_value(t, (wg_real){0, {first + 2, x[0].at.stamp}}) == 6);
    wg_tape_free(t);
}

static void a_comparison_with_a_number_or_an_expression_is_a_guard(void **state) {
    (void)state;
    for (int which = 0; which < 3; which++) {
        wg_tape *const t = open_with(WG_KEEP_CODE);
        const wg_real x = wg_input(t, 0.5);
        const double same_side = 0.75, other_side = 3;
        int outcome;
        if (which == 0) outcome = wg_lt(t, x, 1.0);
        else if (which == 1) outcome = wg_gt(t, 1, x);
        else outcome = wg_le(t, wg_square(x), wg_add(x, 1));
        assert_true(outcome);
        (void)wg_let(t, wg_square(x));
        assert_int_equal(wg_tape_replay(t, 1, &x, &same_side), WG_OK);
        assert_int_equal(wg_tape_replay(t, 1, &x, &other_side), WG_EGUARD);
        wg_tape_free(t);
    }
}

/* ---- kept code: constants are numbers there, in their places ---- */

#define SHORT(a, b, c, d) wg_sub(wg_add(wg_mul(a, b), wg_mul(2.5, c)), wg_exp(d))
#define OF_TWO_WORDS(a, b, c, d)                                                               \
    wg_div(wg_pow(wg_sin(a), 1.5), wg_add(wg_hypot(b, wg_cosh(c)), wg_atan2(wg_log(d), 0.75)))
#define OF_PAIRS(a, b, c, d)                                                                   \
    wg_add(wg_mul(a, b), wg_add(wg_mul(c, wg_mul(a, b)), wg_mul(d, wg_mul(a, b))))
/* The statement as it is, or where `written` with numbers in the place of its constants. */
#define ONE_OF(m, e, a, b, c, d)                                                               \
    case m:                                                                                    \
        return wg_let(t, e(a, b, c, d));
#define TWO_OF(m, e, a, b, c) ONE_OF(m, e, a, b, c, 3.75) ONE_OF(m + 8, e, a, b, c, x[3])
#define FOUR_OF(m, e, a, b) TWO_OF(m, e, a, b, 0.375) TWO_OF(m + 4, e, a, b, x[2])
#define EIGHT_OF(m, e, a) FOUR_OF(m, e, a, 1.25) FOUR_OF(m + 2, e, a, x[1])
#define KERNEL(name, e)                                                                        \
    static wg_real name(wg_tape *t, unsigned active, int written, const wg_real *x) {          \
        switch (written ? active : 15) { EIGHT_OF(0, e, 0.625) EIGHT_OF(1, e, x[0]) }          \
        return wg_constant(0);                                                                 \
    }
KERNEL(short_one, SHORT)
KERNEL(one_of_two_words, OF_TWO_WORDS)
KERNEL(one_of_pairs, OF_PAIRS)

static void constants_are_kept_as_the_numbers_that_they_are(void **state) {
    (void)state;
    wg_real (*const kernel[])(wg_tape *, unsigned, int,
                              const wg_real *) = {short_one, one_of_two_words, one_of_pairs};
    const double a[] = {0.625, 1.25, 0.375, 3.75};
    wg_tape *const t = open_with(WG_KEEP_CODE);
    static struct text text[2];
    for (size_t k = 0; k < sizeof kernel / sizeof *kernel; k++)
        for (unsigned active = 0; active < 16; active++) {
            double value[2];
            for (int written = 0; written < 2; written++) {
                wg_real x[4];
                wg_tape_reset(t);
                assert_int_equal(wg_inputs(t, 4, a, x), WG_OK);
                for (int i = 0; i < 4; i++)
                    if ((active >> i & 1) == 0) x[i] = wg_constant(a[i]);
                (void)kernel[k](t, active, written, x);
                /* behind it, another one: the stream goes on where it should */
                value[written] =
                    wg_value(wg_let(t, wg_square(kernel[k](t, active, written, x))));
                text[written].used = 0;
                assert_int_equal(wg_tape_dump(t, collect, &text[written]), WG_OK);
            }
            assert_memory_equal(&value[0], &value[1], sizeof value[0]);
            assert_string_equal(text[0].bytes, text[1].bytes);
        }
    wg_tape_free(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST(constants_among_operands_are_left_out_as_in_general),
        TEST(constants_are_kept_as_the_numbers_that_they_are),
        TEST(statements_of_constants_alone_leave_every_tape_as_it_was),
        TEST(a_number_that_is_infinite_or_nan_stays_one),
        TEST(a_stale_variable_beside_constants_is_still_noticed),
        TEST(a_failed_tape_gives_no_numbers),
        TEST(partials_that_are_nan_are_made_again_beside_constants),
        TEST(partials_that_call_functions_are_those_of_numbers_beside_constants),
        TEST(comparisons_take_variables_numbers_and_expressions),
        TEST(operands_of_comparisons_are_evaluated_once_and_from_the_left),
        TEST(a_comparison_with_a_number_or_an_expression_is_a_guard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
