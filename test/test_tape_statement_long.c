/* SPDX-License-Identifier: MIT */
/* test_tape_statement_long.c - statements of more than 8 operands, 8 numbers or 128 bits of
 * code, beside the same computation with every operation a statement of its own. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"

WG_OPERATION1(bell, exp(-a *a), -2 * a * v, (4 * a * a - 2) * v, ARITH, "chain rule")

enum { N = 24 };

/* Texts with every operation in L: of one statement, or of one per operation. */
#define TEN_OPERANDS(L)                                                                        \
    L(wg_add(L(wg_add(L(wg_add(L(wg_mul(x[0], x[1])), L(wg_mul(x[2], x[3])))),                 \
                      L(wg_sub(L(wg_mul(x[4], x[5])), L(wg_mul(x[6], x[7])))))),               \
             L(wg_mul(x[8], L(wg_sin(x[9]))))))
#define PAIR(L, i) L(wg_mul(x[i], L(wg_exp(L(wg_neg(x[i + 1]))))))
#define FOUR(L, i) L(wg_add(PAIR(L, i), PAIR(L, i + 2)))
#define EIGHT(L, i) L(wg_mul(FOUR(L, i), FOUR(L, i + 4)))
#define MOST_OPERANDS(L) L(wg_add(L(wg_mul(EIGHT(L, 0), EIGHT(L, 8))), EIGHT(L, 16)))
/* Horner's rule: one variable, twelve times, and thirteen numbers */
#define TERM(L, c, p) L(wg_add(c, L(wg_mul(x[0], p))))
#define FEW_TERMS(L, p)                                                                        \
    TERM(L, 0.25, TERM(L, -0.5, TERM(L, 1.5, TERM(L, -2, TERM(L, 0.125, TERM(L, 3, p))))))
#define POLYNOMIAL(L) FEW_TERMS(L, FEW_TERMS(L, 0.75))
/* one operand, more code than 128 bits, then more than 256 */
#define SINES(L, e)                                                                            \
    L(wg_sin(L(wg_cos(L(wg_sin(L(wg_atan(L(wg_sin(L(wg_cos(L(wg_tanh(e))))))))))))))
#define CHAIN(L) SINES(L, SINES(L, SINES(L, x[3])))
#define LONG_CHAIN(L) SINES(L, SINES(L, SINES(L, SINES(L, SINES(L, SINES(L, x[3]))))))
/* numbers alone, more than eight */
#define NUMBERS(L)                                                                             \
    L(wg_add(                                                                                  \
        9.5,                                                                                   \
        L(wg_add(                                                                              \
            8,                                                                                 \
            L(wg_add(                                                                          \
                7,                                                                             \
                L(wg_add(                                                                      \
                    6,                                                                         \
                    L(wg_add(                                                                  \
                        5, L(wg_add(                                                           \
                               4, L(wg_add(3, L(wg_add(2, L(wg_mul(1.5, x[2]))))))))))))))))))
/* operations of three and of four operands, of a user's, choices and pairs that repeat */
#define MIXED(L)                                                                               \
    L(wg_fma(L(wg_select_lt(x[0], x[1], L(wg_mul(x[0], x[0])),                                 \
                            L(wg_fma(x[1], x[2], L(WG_CALL1(bell, x[3])))))),                  \
             L(WG_CALL1(bell, L(wg_sub(x[4], L(wg_mul(x[5], L(WG_CALL1(bell, x[6])))))))),     \
             L(wg_div(L(wg_add(x[7], 4)), L(wg_fma(x[0], x[1], L(wg_mul(x[0], x[1]))))))))

#define WHOLE(e) e
#define APART(e) wg_let(t, e)
#define EACH(X)                                                                                \
    X(TEN_OPERANDS) X(MOST_OPERANDS) X(POLYNOMIAL) X(CHAIN) X(LONG_CHAIN) X(NUMBERS) X(MIXED)
#define FUNCTIONS(name)                                                                        \
    static wg_real whole_##name(wg_tape *t, const wg_real *x) {                                \
        return wg_let(t, name(WHOLE));                                                         \
    }                                                                                          \
    static wg_real apart_##name(wg_tape *t, const wg_real *x) { return name(APART); }
EACH(FUNCTIONS)
#undef FUNCTIONS

static const struct statement {
    const char *name;
    wg_real (*whole)(wg_tape *t, const wg_real *x);
    wg_real (*apart)(wg_tape *t, const wg_real *x);
} statements[] = {
#define ROW(name) {#name, whole_##name, apart_##name},
    EACH(ROW)
#undef ROW
};
#define COUNT (sizeof statements / sizeof *statements)

/* ---- */

static void point(double *a, int which) {
    for (int i = 0; i < N; i++) a[i] = 0.3 + 0.07 * ((i * 5 + which * 3) % 11);
}

static wg_tape *open_with(unsigned flags) {
    wg_tape *const t = wg_tape_new(&(wg_options){.flags = flags});
    assert_non_null(t);
    return t;
}

static int same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* To so many ulps of the largest of them. */
static void close_to(const char *name, size_t n, const double *a, const double *b) {
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * most))
            fail_msg("%s: %zu is %.17g, not %.17g", name, i, a[i], b[i]);
}

static void gradient(wg_tape *t, wg_real y, const wg_real *x, double *g) {
    if (wg_reverse(t, y) != WG_OK) fail_msg("%s", wg_tape_message(t));
    assert_int_equal(wg_adjoints(t, N, x, g), WG_OK);
}

static void a_long_statement_is_one_slot_and_half_a_record_per_variable(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    for (size_t k = 0; k < COUNT; k++) {
        double a[N], g[N], want[N];
        wg_real x[N];
        wg_stats s;
        point(a, 0);
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        const wg_real z = statements[k].apart(t, x);
        gradient(t, z, x, want);
        size_t variables = 0;
        for (int i = 0; i < N; i++) variables += want[i] != 0;
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        const wg_real y = statements[k].whole(t, x);
        assert_true(same(y.value, z.value));
        gradient(t, y, x, g);
        close_to(statements[k].name, N, g, want);
        assert_int_equal(wg_tape_stats(t, &s), WG_OK);
        assert_int_equal(s.statements, 1);
        /* of MIXED some variables have the partial 0 at this point */
        assert_in_range(s.records, (variables + 1) / 2, (variables + 1) / 2 + 2);
    }
    wg_tape_free(t);
}

/* Bit for bit: a checked tape takes another way to the same records. */
static void other_tapes_record_the_same(void **state) {
    (void)state;
    const unsigned flags[] = {WG_CHECKED, WG_TRACE, WG_KEEP_PLACES};
    wg_tape *const plain = open_with(0);
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        wg_tape *const t = open_with(flags[f]);
        for (size_t k = 0; k < COUNT; k++) {
            double a[N], g[N], want[N];
            wg_real x[N];
            point(a, 1);
            wg_tape_reset(plain), wg_tape_reset(t);
            assert_int_equal(wg_inputs(plain, N, a, x), WG_OK);
            gradient(plain, statements[k].whole(plain, x), x, want);
            assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
            gradient(t, statements[k].whole(t, x), x, g);
            for (int i = 0; i < N; i++) assert_true(same(g[i], want[i]));
        }
        wg_tape_free(t);
    }
    wg_tape_free(plain);
}

static void tangents_go_through_long_statements(void **state) {
    (void)state;
    wg_tape *const plain = open_with(0), *const t = open_with(0);
    for (size_t k = 0; k < COUNT; k++) {
        double a[N], want[N], dot = 0, sizes = 0;
        wg_real x[N];
        point(a, 2);
        wg_tape_reset(plain), wg_tape_reset(t);
        assert_int_equal(wg_inputs(plain, N, a, x), WG_OK);
        gradient(plain, statements[k].whole(plain, x), x, want);
        assert_int_equal(wg_tape_forward(t, 1), WG_OK);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        for (int i = 0; i < N; i++) {
            assert_int_equal(wg_tangent_seed(t, x[i], 0, i - 7.5), WG_OK);
            dot += want[i] * (i - 7.5), sizes += fabs(want[i] * (i - 7.5));
        }
        const double dy = wg_tangent(t, statements[k].whole(t, x), 0);
        assert_true(fabs(dy - dot) <= TOL_PROGRAM_ULP * DBL_EPSILON * sizes);
    }
    wg_tape_free(plain), wg_tape_free(t);
}

static void kept_code_of_pieces_is_replayed_and_differentiated_twice(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE), *const again = open_with(WG_KEEP_CODE);
    static double h[N * N], want[N * N];
    for (size_t k = 0; k < COUNT; k++) {
        double a[N], b[N], g[N], fresh[N];
        wg_real x[N], z[N];
        point(a, 0), point(b, 1);
        wg_tape_reset(t), wg_tape_reset(again);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        wg_real y = statements[k].whole(t, x);
        if (wg_tape_verify(t) != WG_OK) fail_msg("%s", wg_tape_message(t));
        assert_int_equal(wg_tape_hessian(t, y, N, x, h, N), WG_OK);
        assert_int_equal(wg_inputs(again, N, a, z), WG_OK);
        assert_int_equal(wg_tape_hessian(again, statements[k].apart(again, z), N, z, want, N),
                         WG_OK);
        close_to(statements[k].name, N * N, h, want);
        /* replayed elsewhere it is what is recorded there */
        assert_int_equal(wg_tape_replay(t, N, x, b), WG_OK);
        wg_tape_reset(again);
        assert_int_equal(wg_inputs(again, N, b, z), WG_OK);
        const wg_real there = statements[k].whole(again, z);
        assert_true(same(wg_tape_value(t, y), there.value));
        gradient(t, y, x, g);
        gradient(again, there, z, fresh);
        for (int i = 0; i < N; i++) assert_true(same(g[i], fresh[i]));
    }
    wg_tape_free(t), wg_tape_free(again);
}

static wg_status call_whole(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    const struct statement *const s = data;
    (void)n, (void)m;
    y[0] = s->whole(t, x);
    return WG_OK;
}

static void functions_are_made_of_long_statements(void **state) {
    (void)state;
    wg_tape *const t = open_with(WG_KEEP_CODE), *const plain = open_with(0);
    for (size_t k = 0; k < COUNT; k++) {
        const wg_argument in = {"x", N, 1, 0}, out = {"y", 1, 1, 0};
        double a[N], b[N], y, g[N], want[N];
        wg_real x[N];
        struct statement one = statements[k];
        wg_function *f = NULL, *df = NULL;
        point(a, 0), point(b, 1);
        if (k == COUNT - 1) memcpy(b, a, sizeof b); /* the same side of its comparison */
        assert_int_equal(wg_function_record(t, call_whole, &one, 1, &in, a, 1, &out, &f),
                         WG_OK);
        assert_int_equal(wg_function_gradient(t, f, &df), WG_OK);
        void *const work = malloc(wg_function_work(f, NULL) + wg_function_work(df, NULL));
        const wg_points at = {b, N, 1};
        const wg_results to = {&y, 1, 1}, slope = {g, N, 1};
        assert_int_equal(wg_function_evaluate(f, 1, &at, &to, NULL, work, NULL), WG_OK);
        assert_int_equal(wg_function_evaluate(df, 1, &at, &slope, NULL, work, NULL), WG_OK);
        wg_tape_reset(plain);
        assert_int_equal(wg_inputs(plain, N, b, x), WG_OK);
        const wg_real z = one.whole(plain, x);
        gradient(plain, z, x, want);
        close_to(one.name, 1, &y, &z.value);
        close_to(one.name, N, g, want);
        free(work);
        wg_function_free(f), wg_function_free(df);
    }
    wg_tape_free(t), wg_tape_free(plain);
}

static void constants_in_long_statements_are_left_out(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        wg_tape *const t = open_with(flags[f]);
        for (size_t k = 0; k < COUNT; k++)
            for (int active = 0; active < 4; active++) {
                double a[N], g[N], want[N];
                wg_real x[N], all[N];
                point(a, 0);
                wg_tape_reset(t);
                assert_int_equal(wg_inputs(t, N, a, all), WG_OK);
                gradient(t, statements[k].whole(t, all), all, want);
                for (int i = 0; i < N; i++) x[i] = i % 4 < active ? all[i] : wg_constant(a[i]);
                const wg_real y = statements[k].whole(t, x);
                if (active == 0) assert_int_equal(y.at.slot, 0);
                if (y.at.slot == 0) continue;
                gradient(t, y, all, g);
                for (int i = 0; i < N; i++)
                    if (i % 4 >= active) want[i] = 0;
                close_to(statements[k].name, N, g, want);
            }
        wg_tape_free(t);
    }
}

/* 1 / (infinity * ..) has the derivative 0, whatever infinity times that would be. */
static void the_zero_rule_holds_in_long_statements(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        wg_tape *const t = open_with(flags[f]);
        const double a[N] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
        wg_real x[N];
        double g[N];
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        /* 0 * sqrt(0): its derivative is 0, and that of sqrt infinite */
        const wg_real y =
            wg_let(t, wg_add(wg_add(wg_add(wg_mul(x[1], x[2]), wg_mul(x[3], x[4])),
                                    wg_add(wg_mul(x[5], x[6]), wg_mul(x[7], x[8]))),
                             wg_mul(0, wg_sqrt(x[0]))));
        gradient(t, y, x, g);
        assert_true(g[0] == 0);
        for (int i = 1; i <= 8; i++) assert_true(g[i] == 1);
        wg_tape_free(t);
    }
}

static void mistakes_in_long_statements_are_named(void **state) {
    (void)state;
    const unsigned flags[] = {0, WG_KEEP_CODE, WG_CHECKED};
    double a[N];
    wg_real x[N];
    point(a, 0);
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        wg_tape *const t = open_with(flags[f]), *const other = open_with(0);
        for (int i = 0; i < 10; i++) {
            wg_tape_reset(t);
            assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
            x[i] = wg_input(other, 1);
            assert_true(isnan(whole_TEN_OPERANDS(t, x).value));
            assert_int_equal(wg_tape_status(t), WG_ESTALE);
            assert_non_null(strstr(wg_tape_message(t), "test_tape_statement_long.c"));
        }
        assert_true(isnan(whole_TEN_OPERANDS(NULL, x).value));
        assert_true(isnan(whole_TEN_OPERANDS(t, x).value));
        wg_tape_free(t), wg_tape_free(other);
    }
    wg_tape *const traced = open_with(WG_TRACE);
    assert_int_equal(wg_inputs(traced, N, a, x), WG_OK);
    x[5].value = -1;
    (void)wg_let(traced, wg_add(wg_add(wg_add(wg_mul(x[0], x[1]), wg_mul(x[2], x[3])),
                                       wg_add(wg_mul(x[4], wg_log(x[5])), wg_mul(x[6], x[7]))),
                                x[8]));
    assert_int_equal(wg_tape_status(traced), WG_ENONFINITE);
    assert_non_null(strstr(wg_tape_message(traced), "log gave nan from -1 in wg_let"));
    wg_tape_free(traced);
}

static void a_budget_that_ends_within_a_long_statement_is_named(void **state) {
    (void)state;
    for (unsigned keep = 0; keep < 2; keep++) {
        wg_tape *const t =
            wg_tape_new(&(wg_options){.flags = keep ? WG_KEEP_CODE : 0, .max_slots = N + 40});
        double a[N];
        wg_real x[N], y = wg_constant(0);
        point(a, 0);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        for (int k = 0; k < 60; k++) y = whole_MOST_OPERANDS(t, x);
        assert_int_equal(wg_tape_status(t), WG_ESLOTS);
        assert_true(isnan(y.value) && y.at.slot == 0);
        assert_non_null(strstr(wg_tape_message(t), "test_tape_statement_long.c"));
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        assert_true(whole_MOST_OPERANDS(t, x).at.slot != 0);
        wg_tape_free(t);
    }
}

/* They stand where no structure could: only sanitizers see it if one is looked for there. */
static void numbers_of_one_byte_stand_in_long_statements(void **state) {
    (void)state;
    wg_tape *const t = wg_tape_new(NULL);
    const wg_real x = wg_input(t, 0.25);
    const signed char three = 3;
    wg_real y = wg_let(
        t, wg_mul(three, wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(
                             wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(wg_neg(x))))))))))))))))));
    assert_true(wg_value(y) == 0.75);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, x) == 3);
    wg_tape_free(t);
}

static void a_variable_or_a_number_is_a_statement_too(void **state) {
    (void)state;
    wg_tape *const t = open_with(0);
    const wg_real x = wg_input(t, 3), y = wg_let(t, x), c = wg_let(t, 2), d = wg_let(t, 2.5f);
    assert_int_equal(y.at.slot, x.at.slot);
    assert_true(y.value == 3 && c.value == 2 && d.value == 2.5);
    assert_true(c.at.slot == 0 && d.at.slot == 0);
    wg_tape_free(t);
}

int main(void) {
#define TEST(name) cmocka_unit_test(name)
    const struct CMUnitTest tests[] = {
        TEST(a_long_statement_is_one_slot_and_half_a_record_per_variable),
        TEST(other_tapes_record_the_same),
        TEST(tangents_go_through_long_statements),
        TEST(kept_code_of_pieces_is_replayed_and_differentiated_twice),
        TEST(functions_are_made_of_long_statements),
        TEST(constants_in_long_statements_are_left_out),
        TEST(the_zero_rule_holds_in_long_statements),
        TEST(mistakes_in_long_statements_are_named),
        TEST(a_budget_that_ends_within_a_long_statement_is_named),
        TEST(numbers_of_one_byte_stand_in_long_statements),
        TEST(a_variable_or_a_number_is_a_statement_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
