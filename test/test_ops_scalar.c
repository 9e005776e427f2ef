/* SPDX-License-Identifier: MIT */
/* test_ops_scalar.c - every row of ops/scalar/scalar.def against reference values.
 *
 * The oracles are test/data/scalar_*.csv: values and partials from 50 and more digits. The rows
 * that appear in none of them are checked here by hand (clamp and the selects, which are
 * exact). test_ops_scalar_step.c checks the rows once more, against steps of the value itself.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "oracle.h"
#include "scalar_rows.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

/* The oracles spell three operands x, y, z. */
static const char *const OPERANDS[] = {"x", "y", "z"};
static const char *const FIRST[] = {"dx", "dy", "dz"};
static const char *const SECOND[3][3] = {
    {"dxx", "dxy", "dxz"}, {NULL, "dyy", "dyz"}, {NULL, NULL, "dzz"}};

/* The oracles name two operations differently. */
static const struct scalar_row *row_of(const char *op) {
    if (strcmp(op, "copysign_x") == 0) op = "copysign";
    else if (strcmp(op, "round_half_away") == 0) op = "round";
    return scalar_row_find(op);
}

static void open_oracle(struct oracle_csv *t, const char *name) {
    char path[512];
    int n = snprintf(path, sizeof path, "%s%s", TEST_DATA, name);
    assert_in_range(n, 1, sizeof path - 1);
    assert_int_equal(oracle_csv_read(t, path), 0);
    assert_true(t->rows > 0);
}

static const char *op_at(const struct oracle_csv *t, size_t i) {
    return oracle_csv_cell(t, i, 0);
}

/* The operands of line i; absent ones are 0. */
static void operands(const struct oracle_csv *t, size_t i, double x[4]) {
    memset(x, 0, 4 * sizeof *x);
    for (size_t k = 0; k < 3; k++)
        (void)oracle_csv_number(t, i, oracle_csv_column(t, OPERANDS[k]), &x[k]);
}

/* 0, or 1 after saying what is wrong: the reference in the named column against got. */
static int wrong(const struct oracle_csv *t, size_t i, const char *column, double got,
                 double ulps) {
    double ref;
    if (!oracle_csv_number(t, i, oracle_csv_column(t, column), &ref) ||
        close_ulp(got, ref, ulps))
        return 0;
    print_error("%s(%s, %s) %s: %.17g, reference %.17g, %.3g ulp\n", op_at(t, i),
                oracle_csv_cell(t, i, 1), oracle_csv_cell(t, i, 2), column, got, ref,
                error_ulp(got, ref));
    return 1;
}

static double call(scalar_fn *f, const double *x, double v) { return f ? f(x, v) : 0.0; }

/* Value, first and second partials of every line. */
static void check_all(const char *name) {
    struct oracle_csv t;
    int bad = 0;
    open_oracle(&t, name);
    for (size_t i = 0; i < t.rows; i++) {
        const struct scalar_row *r = row_of(op_at(&t, i));
        double x[4];
        if (!r) {
            print_error("%s: no row in scalar.def\n", op_at(&t, i));
            bad++;
            continue;
        }
        operands(&t, i, x);
        double v = r->value(x, 0);
        bad += wrong(&t, i, "value", v, TOL_VALUE_ULP);
        for (size_t k = 0; k < r->arity; k++) {
            bad += wrong(&t, i, FIRST[k], r->first[k](x, v), TOL_DERIVATIVE_ULP);
            for (size_t l = k; l < r->arity; l++)
                bad +=
                    wrong(&t, i, SECOND[k][l], call(r->second[k][l], x, v), TOL_DERIVATIVE_ULP);
        }
    }
    oracle_csv_free(&t);
    assert_int_equal(bad, 0);
}

static void every_oracle_line_agrees_in_value_and_both_orders(void **state) {
    (void)state;
    check_all("scalar_ops.csv");
}

static void rows_beyond_the_first_oracle_agree_with_their_own(void **state) {
    (void)state;
    check_all("scalar_more.csv");
}

static void fma_has_the_partials_of_a_product(void **state) {
    (void)state;
    check_all("scalar_fma.csv");
}

/* xlogy and log_diff_exp round a zero of the other sign than the oracle's: their value is a
 * product or a sum whose exact result is a zero or below the range. */
static void a_zero_value_has_the_sign_of_the_oracle(void **state) {
    struct oracle_csv t;
    int bad = 0, zeros = 0;
    (void)state;
    open_oracle(&t, "scalar_ops.csv");
    for (size_t i = 0; i < t.rows; i++) {
        const char *op = op_at(&t, i);
        double x[4], ref;
        if (strcmp(op, "xlogy") == 0 || strcmp(op, "log_diff_exp") == 0) continue;
        operands(&t, i, x);
        if (!oracle_csv_number(&t, i, oracle_csv_column(&t, "value"), &ref) || ref != 0)
            continue;
        zeros++;
        if (!signbit(row_of(op)->value(x, 0)) != !signbit(ref)) {
            print_error("%s(%s): sign of zero\n", op, oracle_csv_cell(&t, i, 1));
            bad++;
        }
    }
    oracle_csv_free(&t);
    assert_true(zeros > 0);
    assert_int_equal(bad, 0);
}

static void kinks_poles_and_infinities_follow_the_convention(void **state) {
    struct oracle_csv t;
    int bad = 0;
    (void)state;
    open_oracle(&t, "scalar_special.csv");
    for (size_t i = 0; i < t.rows; i++) {
        const struct scalar_row *r = row_of(op_at(&t, i));
        double x[4];
        assert_non_null(r);
        operands(&t, i, x);
        double v = r->value(x, 0);
        bad += wrong(&t, i, "rec_value", v, TOL_VALUE_ULP);
        bad += wrong(&t, i, "rec_dx", r->first[0](x, v), TOL_DERIVATIVE_ULP);
        if (r->arity > 1) bad += wrong(&t, i, "rec_dy", r->first[1](x, v), TOL_DERIVATIVE_ULP);
    }
    oracle_csv_free(&t);
    assert_int_equal(bad, 0);
}

static void naive_formulas_that_break_are_not_used(void **state) {
    struct oracle_csv t;
    int bad = 0, checked = 0;
    (void)state;
    open_oracle(&t, "scalar_traps.csv");
    for (size_t i = 0; i < t.rows; i++) {
        const struct scalar_row *r = row_of(op_at(&t, i));
        const char *what = oracle_csv_cell(&t, i, oracle_csv_column(&t, "quantity"));
        double x[4];
        assert_non_null(r);
        operands(&t, i, x);
        double v = r->value(x, 0);
        if (strcmp(what, "value") == 0) {
            bad += wrong(&t, i, "reference", v, TOL_VALUE_ULP);
            checked++;
        }
        for (size_t k = 0; k < r->arity; k++) {
            if (strcmp(what, FIRST[k]) == 0) {
                bad += wrong(&t, i, "reference", r->first[k](x, v), TOL_DERIVATIVE_ULP);
                checked++;
            }
            for (size_t l = k; l < r->arity; l++)
                if (strcmp(what, SECOND[k][l]) == 0) {
                    double got = call(r->second[k][l], x, v);
                    bad += wrong(&t, i, "reference", got, TOL_DERIVATIVE_ULP);
                    checked++;
                }
        }
    }
    assert_int_equal(checked, t.rows);
    oracle_csv_free(&t);
    assert_int_equal(bad, 0);
}

static int named_in(const struct oracle_csv *t, const struct scalar_row *r) {
    for (size_t i = 0; i < t->rows; i++)
        if (row_of(op_at(t, i)) == r) return 1;
    return 0;
}

/* clamp and the selects are checked by the next two tests. */
static void every_row_has_an_oracle(void **state) {
    static const char *const files[] = {"scalar_ops.csv", "scalar_more.csv", "scalar_fma.csv"};
    static const char *const exact[] = {"clamp",     "select_lt", "select_le", "select_gt",
                                        "select_ge", "select_eq", "select_ne"};
    struct oracle_csv t[3];
    int bad = 0;
    (void)state;
    for (size_t f = 0; f < 3; f++) open_oracle(&t[f], files[f]);
    for (size_t i = 0; i < SCALAR_ROWS; i++) {
        const struct scalar_row *r = &scalar_rows[i];
        int claims = 0;
        for (size_t f = 0; f < 3; f++) claims += named_in(&t[f], r);
        for (size_t k = 0; k < sizeof exact / sizeof exact[0]; k++)
            claims += strcmp(exact[k], r->name) == 0;
        if (claims != 1) {
            print_error("%s: %d oracles\n", r->name, claims);
            bad++;
        }
    }
    for (size_t f = 0; f < 3; f++) oracle_csv_free(&t[f]);
    assert_int_equal(bad, 0);
}

static void no_two_rows_share_a_name(void **state) {
    (void)state;
    for (size_t i = 0; i < SCALAR_ROWS; i++)
        assert_ptr_equal(scalar_row_find(scalar_rows[i].name), &scalar_rows[i]);
}

static void clamp_passes_its_operand_on_the_closed_interval(void **state) {
    static const struct {
        double x[3], value, partial[3];
    } cases[] = {
        {{0.5, -1, 2}, 0.5, {1, 0, 0}},    {{-1, -1, 2}, -1, {1, 0, 0}},
        {{2, -1, 2}, 2, {1, 0, 0}},        {{-1.5, -1, 2}, -1, {0, 1, 0}},
        {{2.5, -1, 2}, 2, {0, 0, 1}},      {{-INFINITY, -1, 2}, -1, {0, 1, 0}},
        {{INFINITY, -1, 2}, 2, {0, 0, 1}}, {{1, 1, 1}, 1, {1, 0, 0}},
        {{NAN, -1, 2}, NAN, {1, 0, 0}},    {{0, 2, 1}, 2, {0, 1, 0}},
    };
    const struct scalar_row *r = scalar_row_find("clamp");
    (void)state;
    assert_non_null(r);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double v = r->value(cases[i].x, 0);
        assert_true(error_ulp(v, cases[i].value) == 0);
        for (size_t k = 0; k < 3; k++) {
            assert_true(r->first[k](cases[i].x, v) == cases[i].partial[k]);
            for (size_t l = k; l < 3; l++) assert_true(r->second[k][l](cases[i].x, v) == 0);
        }
    }
}

static void selects_choose_by_their_comparison_also_for_nan(void **state) {
    static const double pairs[][2] = {
        {1, 2},        {2, 1}, {1, 1}, {0.0, -0.0}, {NAN, 1}, {1, NAN}, {INFINITY, INFINITY},
        {-INFINITY, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const double a = pairs[i][0], b = pairs[i][1], x[4] = {a, b, 3, 5};
        const struct {
            const char *name;
            int chosen;
        } want[] = {{"select_lt", a < b},  {"select_le", a <= b}, {"select_gt", a > b},
                    {"select_ge", a >= b}, {"select_eq", a == b}, {"select_ne", a != b}};
        for (size_t k = 0; k < sizeof want / sizeof want[0]; k++) {
            const struct scalar_row *r = scalar_row_find(want[k].name);
            assert_non_null(r);
            double v = r->value(x, 0);
            assert_true(v == (want[k].chosen ? 3.0 : 5.0));
            assert_true(r->first[0](x, v) == 0 && r->first[1](x, v) == 0);
            assert_true(r->first[2](x, v) == want[k].chosen);
            assert_true(r->first[3](x, v) == !want[k].chosen);
        }
    }
}

/* A value of NaN with a finite partial would hide a step outside the domain. */
static void outside_the_domain_the_partial_is_nan_like_the_value(void **state) {
    static const struct {
        const char *op;
        double x[4];
    } cases[] = {
        {"log", {-1}},        {"log2", {-1}},        {"log10", {-1}},
        {"log1p", {-2}},      {"log1mx", {2}},       {"log1mexp", {1}},
        {"sqrt", {-1}},       {"rsqrt", {-1}},       {"asin", {1.5}},
        {"acos", {-1.5}},     {"atanh", {1.5}},      {"acosh", {0.5}},
        {"acosh", {-2}},      {"asec", {0.5}},       {"acsc", {-0.5}},
        {"asech", {1.5}},     {"asech", {-0.5}},     {"acoth", {0.5}},
        {"logit", {-1}},      {"inv_Phi", {2}},      {"y0", {-1}},
        {"y1", {-1}},         {"lambertw0", {-1}},   {"lambertwm1", {1}},
        {"lambertwm1", {-1}}, {"log_base", {-1, 2}}, {"log_diff_exp", {0, 1}},
        {"pow", {-2, 0.5}},   {"digamma", {-3}},     {"digamma", {0}},
        {"tgamma", {-3}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct scalar_row *r = scalar_row_find(cases[i].op);
        assert_non_null(r);
        double v = r->value(cases[i].x, 0), d = r->first[0](cases[i].x, v);
        double dd = r->second[0][0](cases[i].x, v);
        if (v == v || d == d || dd == dd)
            print_error("%s(%g): %g, %g, %g\n", cases[i].op, cases[i].x[0], v, d, dd);
        assert_true(v != v && d != d && dd != dd);
    }
}

static void a_nan_operand_gives_a_nan_value_or_the_rule_of_c(void **state) {
    (void)state;
    for (size_t i = 0; i < SCALAR_ROWS; i++) {
        const struct scalar_row *r = &scalar_rows[i];
        const double x[4] = {NAN, 0.5, 1, 2};
        double v = r->value(x, 0);
        int ignores =
            r->arity == 4 || strcmp(r->name, "fmax") == 0 || strcmp(r->name, "fmin") == 0;
        if ((v == v) != ignores) print_error("%s(nan) is %g\n", r->name, v);
        assert_int_equal(v == v, ignores);
    }
}

/* Elsewhere than at a singular point, saturation and overflow end in 0, a number or an
 * infinity. */
static void only_singular_rows_make_nan_out_of_numbers(void **state) {
    static const double ends[] = {0,     -0.0,   5e-324,  -5e-324,  1e-200,   -1e-200,
                                  0.5,   -0.5,   1,       -1,       1e5,      -1e5,
                                  1e200, -1e200, DBL_MAX, -DBL_MAX, INFINITY, -INFINITY};
    const size_t n = sizeof ends / sizeof ends[0];
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < SCALAR_ROWS; i++) {
        const struct scalar_row *r = &scalar_rows[i];
        if (strcmp(r->class, "SING") == 0 || r->arity > 2) continue;
        for (size_t p = 0; p < n * n; p++) {
            const double x[4] = {ends[p / n], ends[p % n], 0, 0};
            double v = r->value(x, 0);
            for (size_t k = 0; k < r->arity && v == v; k++)
                for (size_t l = k; l <= r->arity; l++) {
                    double d = l == r->arity ? r->first[k](x, v) : call(r->second[k][l], x, v);
                    if (d != d)
                        print_error("%s(%g, %g): a partial is NaN\n", r->name, x[0], x[1]);
                    bad += d != d;
                }
        }
    }
    assert_int_equal(bad, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_oracle_line_agrees_in_value_and_both_orders),
        cmocka_unit_test(rows_beyond_the_first_oracle_agree_with_their_own),
        cmocka_unit_test(fma_has_the_partials_of_a_product),
        cmocka_unit_test(a_zero_value_has_the_sign_of_the_oracle),
        cmocka_unit_test(kinks_poles_and_infinities_follow_the_convention),
        cmocka_unit_test(naive_formulas_that_break_are_not_used),
        cmocka_unit_test(every_row_has_an_oracle),
        cmocka_unit_test(no_two_rows_share_a_name),
        cmocka_unit_test(clamp_passes_its_operand_on_the_closed_interval),
        cmocka_unit_test(selects_choose_by_their_comparison_also_for_nan),
        cmocka_unit_test(outside_the_domain_the_partial_is_nan_like_the_value),
        cmocka_unit_test(only_singular_rows_make_nan_out_of_numbers),
        cmocka_unit_test(a_nan_operand_gives_a_nan_value_or_the_rule_of_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
