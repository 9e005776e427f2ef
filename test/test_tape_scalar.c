/* SPDX-License-Identifier: MIT */
/* test_tape_scalar.c - every row of ops/scalar/scalar.def through the tape, in every mode,
 * against the oracles of test/data/: values, gradients, Hessians.
 *
 * A line of an oracle becomes programs of one step: the operands as variables, as literal and
 * variable mixed, as constant variables, as expressions, and the operation inside of
 * another.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "check_tapes.h"
#include "oracle.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

static unsigned claimed[256]; /* lines of oracles per row, files read so far */

/* ---- oracles ---- */

enum { OPERANDS = 3 };

/* One line: operands and what is known of the derivatives; NaN in `known` marks nothing. */
struct line {
    unsigned op, arity;
    double x[OPERANDS];
    double value, first[OPERANDS], second[OPERANDS][OPERANDS];
    int value_known, first_known[OPERANDS], second_known[OPERANDS][OPERANDS];
};

static unsigned op_of(const char *name) {
    if (strcmp(name, "copysign_x") == 0) name = "copysign";
    else if (strcmp(name, "round_half_away") == 0) name = "round";
    const int op = program_find(name);
    if (op < 0 || op >= (int)program_rows) print_error("%s: no row in scalar.def\n", name);
    assert_true(op >= 0 && op < (int)program_rows);
    return (unsigned)op;
}

static void open_oracle(struct oracle_csv *t, const char *name) {
    char path[512];
    const int n = snprintf(path, sizeof path, "%s%s", TEST_DATA, name);
    assert_in_range(n, 1, sizeof path - 1);
    assert_int_equal(oracle_csv_read(t, path), 0);
    assert_true(t->rows > 0);
}

static int number(const struct oracle_csv *t, size_t i, const char *column, double *to) {
    return oracle_csv_number(t, i, oracle_csv_column(t, column), to);
}

static void operands_of(const struct oracle_csv *t, size_t i, struct line *l) {
    static const char *const columns[OPERANDS] = {"x", "y", "z"};
    memset(l, 0, sizeof *l);
    l->op = op_of(oracle_csv_cell(t, i, 0));
    l->arity = program_arity(l->op);
    assert_in_range(l->arity, 1, OPERANDS);
    for (unsigned k = 0; k < l->arity; k++) assert_true(number(t, i, columns[k], &l->x[k]));
}

/* value, dx, dy, dz, dxx, .. of scalar_ops.csv, scalar_more.csv, scalar_fma.csv; first orders
 * only, named rec_, of scalar_special.csv. */
static void read_line(const struct oracle_csv *t, size_t i, const char *prefix,
                      struct line *l) {
    char column[32];
    operands_of(t, i, l);
    snprintf(column, sizeof column, "%svalue", prefix);
    l->value_known = number(t, i, column, &l->value);
    for (unsigned k = 0; k < l->arity; k++) {
        snprintf(column, sizeof column, "%sd%c", prefix, 'x' + (int)k);
        l->first_known[k] = number(t, i, column, &l->first[k]);
        for (unsigned j = k; j < l->arity; j++) {
            snprintf(column, sizeof column, "%sd%c%c", prefix, 'x' + (int)k, 'x' + (int)j);
            l->second_known[k][j] = number(t, i, column, &l->second[k][j]);
        }
    }
}

/* scalar_traps.csv: one number per line. */
static void read_trap(const struct oracle_csv *t, size_t i, struct line *l) {
    const char *const what = oracle_csv_cell(t, i, oracle_csv_column(t, "quantity"));
    double ref = 0;
    operands_of(t, i, l);
    assert_true(number(t, i, "reference", &ref));
    const unsigned k = what[0] == 'd' ? (unsigned)(what[1] - 'x') : 0;
    const unsigned j = what[0] == 'd' && what[2] ? (unsigned)(what[2] - 'x') : 0;
    assert_true(k <= j || what[2] == 0);
    if (what[0] == 'v') l->value = ref, l->value_known = 1;
    else if (what[2] == 0) l->first[k] = ref, l->first_known[k] = 1;
    else l->second[k][j] = ref, l->second_known[k][j] = 1;
}

/* ---- one line in one spelling ---- */

/* A reference and the error it is allowed; unknown: infinite. */
static void expected(int known, double ref, double ulps, double *to, double *allowed) {
    *to = ref;
    *allowed = !known ? INFINITY
               : fabs(ref) <= DBL_MAX
                   ? ulps * (nextafter(fmin(fabs(ref), nextafter(DBL_MAX, 0)), INFINITY) -
                             fmin(fabs(ref), nextafter(DBL_MAX, 0))) +
                         TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN
                   : 0;
}

struct spelled {
    struct program p;
    struct step s;
};

static wg_status call(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    const struct spelled *const f = data;
    wg_real node[OPERANDS + 1];
    assert_int_equal(m, 1);
    memcpy(node, x, n * sizeof *x);
    program_real(t, &f->p, node);
    y[0] = node[n];
    return WG_OK;
}

static void call_dual(void *data, const wg_dual *x, wg_dual *y) {
    const struct spelled *const f = data;
    wg_dual node[OPERANDS + 1];
    memcpy(node, x, f->p.inputs * sizeof *x);
    program_dual(&f->p, node);
    y[0] = node[f->p.inputs];
}

/* `numbers`: the operands that are numbers; `literals`: those written as literals. */
static int check_line(const struct line *l, const double *other, unsigned shape,
                      unsigned numbers, unsigned literals) {
    const size_t n = l->arity;
    size_t root = n;
    double value, value_allowed, d[OPERANDS], d_allowed[OPERANDS];
    double h[OPERANDS * OPERANDS], h_allowed[OPERANDS * OPERANDS];
    struct spelled f = {
        {n, 1, 1, NULL, &root},
        {.op = l->op, .shape = shape, .operands = l->arity, .literals = literals}};
    f.p.step = &f.s;
    expected(l->value_known, l->value, TOL_VALUE_ULP, &value, &value_allowed);
    for (size_t k = 0; k < n; k++) {
        const int active = !(numbers >> k & 1);
        f.s.from[k] = active ? (int)k : -1;
        f.s.number[k] = l->x[k];
        expected(!active || l->first_known[k], active ? l->first[k] : 0, TOL_DERIVATIVE_ULP,
                 &d[k], &d_allowed[k]);
        for (size_t j = k; j < n; j++) {
            const int both = active && !(numbers >> j & 1);
            expected(!both || l->second_known[k][j], both ? l->second[k][j] : 0,
                     TOL_DERIVATIVE_ULP, &h[k * n + j], &h_allowed[k * n + j]);
            h[j * n + k] = h[k * n + j], h_allowed[j * n + k] = h_allowed[k * n + j];
        }
    }
    const struct check_function g = {call,
                                     call_dual,
                                     &f,
                                     n,
                                     1,
                                     l->x,
                                     other,
                                     check_weights,
                                     check_direction,
                                     {&value, &value_allowed},
                                     {d, d_allowed},
                                     {h, h_allowed}};
    if (check_modes(&check, &g) == 0) return 0;
    print_error("%s(%.17g, %.17g, %.17g), shape %u, numbers %u, literals %u: %s\n",
                program_name(l->op), l->x[0], l->x[1], l->x[2], shape, numbers, literals,
                check.why);
    return 1;
}

/* All spellings; `other` is where they are replayed to. */
static int check_spellings(const struct line *l, const double *other) {
    const unsigned all = (1u << l->arity) - 1;
    int bad = 0;
    claimed[l->op]++;
    bad += check_line(l, other, STEP_PLAIN, 0, 0);
    bad += check_line(l, other, STEP_INNER, 0, 0);
    bad += check_line(l, other, STEP_OUTER, 0, 0);
    for (unsigned numbers = 1; numbers <= all; numbers++) {
        bad += check_line(l, NULL, STEP_PLAIN, numbers, numbers);
        bad += check_line(l, NULL, STEP_PLAIN, numbers, 0);
    }
    return bad;
}

static void check_oracle(const char *name, const char *prefix) {
    struct oracle_csv t;
    struct line before = {0};
    int bad = 0;
    open_oracle(&t, name);
    check.compared = 0;
    for (size_t i = 0; i < t.rows; i++) {
        struct line l;
        if (prefix == NULL) read_trap(&t, i, &l);
        else read_line(&t, i, prefix, &l);
        bad += check_spellings(&l, before.op == l.op && before.arity ? before.x : NULL);
        before = l;
    }
    assert_true(check.compared > 100 * t.rows);
    oracle_csv_free(&t);
    assert_int_equal(bad, 0);
}

static void every_oracle_line_agrees_in_every_mode(void **state) {
    (void)state;
    check_oracle("scalar_ops.csv", "");
}
static void rows_beyond_the_first_oracle_agree_in_every_mode(void **state) {
    (void)state;
    check_oracle("scalar_more.csv", "");
}
static void fma_agrees_in_every_mode(void **state) {
    (void)state;
    check_oracle("scalar_fma.csv", "");
}
static void kinks_poles_and_infinities_agree_in_every_mode(void **state) {
    (void)state;
    check_oracle("scalar_special.csv", "rec_");
}
static void traps_of_naive_formulas_agree_in_every_mode(void **state) {
    (void)state;
    check_oracle("scalar_traps.csv", NULL);
}

/* clamp and the selects are exact, and in the table below. Comes after the tests that claim. */
static void every_row_is_claimed_by_an_oracle(void **state) {
    static const char *const exact[] = {"clamp",     "select_lt", "select_le", "select_gt",
                                        "select_ge", "select_eq", "select_ne"};
    int bad = 0;
    (void)state;
    for (unsigned op = 0; op < program_rows; op++) {
        unsigned claims = claimed[op];
        for (size_t k = 0; k < sizeof exact / sizeof *exact; k++)
            claims += strcmp(exact[k], program_name(op)) == 0;
        if (claims == 0) print_error("%s: no oracle\n", program_name(op));
        bad += claims == 0;
    }
    assert_true(program_rows > 90);
    assert_int_equal(bad, 0);
}

/* ---- clamp and the selects ---- */

static void clamp_and_selects_pass_on_the_chosen_operand(void **state) {
    static const struct {
        const char *name;
        unsigned n;
        double x[4], value, d[4];
    } cases[] = {
        {"clamp", 3, {0.5, -1, 2}, 0.5, {1, 0, 0}},
        {"clamp", 3, {-1, -1, 2}, -1, {1, 0, 0}},
        {"clamp", 3, {2, -1, 2}, 2, {1, 0, 0}},
        {"clamp", 3, {-1.5, -1, 2}, -1, {0, 1, 0}},
        {"clamp", 3, {2.5, -1, 2}, 2, {0, 0, 1}},
        {"clamp", 3, {INFINITY, -1, 2}, 2, {0, 0, 1}},
        {"clamp", 3, {NAN, -1, 2}, NAN, {1, 0, 0}},
        {"select_lt", 4, {1, 2, 3, 5}, 3, {0, 0, 1, 0}},
        {"select_lt", 4, {2, 2, 3, 5}, 5, {0, 0, 0, 1}},
        {"select_lt", 4, {NAN, 2, 3, 5}, 5, {0, 0, 0, 1}},
        {"select_le", 4, {2, 2, 3, 5}, 3, {0, 0, 1, 0}},
        {"select_le", 4, {2.5, 2, 3, 5}, 5, {0, 0, 0, 1}},
        {"select_gt", 4, {2.5, 2, 3, 5}, 3, {0, 0, 1, 0}},
        {"select_gt", 4, {2, 2, 3, NAN}, NAN, {0, 0, 0, 1}},
        {"select_ge", 4, {2, 2, 3, INFINITY}, 3, {0, 0, 1, 0}},
        {"select_ge", 4, {1, 2, INFINITY, 5}, 5, {0, 0, 0, 1}},
        {"select_eq", 4, {0, -0.0, 3, 5}, 3, {0, 0, 1, 0}},
        {"select_eq", 4, {0, NAN, 3, 5}, 5, {0, 0, 0, 1}},
        {"select_ne", 4, {0, 1, 3, 5}, 3, {0, 0, 1, 0}},
        {"select_ne", 4, {INFINITY, INFINITY, 3, 5}, 5, {0, 0, 0, 1}},
    };
    static const double other[4] = {3, 2, 1, 0};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned n = cases[i].n;
        size_t root = n;
        for (unsigned shape = 0; shape < STEP_SHAPES; shape++)
            for (unsigned numbers = 0; numbers < (shape == STEP_PLAIN ? 1u << n : 1u);
                 numbers++) {
                struct step s = {.op = op_of(cases[i].name),
                                 .shape = shape,
                                 .operands = n,
                                 .literals = numbers};
                const struct program p = {n, 1, 1, &s, &root};
                wg_real x[5];
                for (unsigned k = 0; k < n; k++) {
                    s.from[k] = numbers >> k & 1 ? -1 : (int)k;
                    s.number[k] = cases[i].x[k];
                }
                if (check_program(&check, &p, cases[i].x, other) != 0)
                    print_error("%s, case %zu: %s\n", cases[i].name, i, check.why);
                assert_string_equal(check.why, "");
                wg_tape_reset(check.plain);
                assert_int_equal(wg_inputs(check.plain, n, cases[i].x, x), WG_OK);
                program_real(check.plain, &p, x);
                assert_true(error_ulp(wg_value(x[n]), cases[i].value) == 0);
                const wg_status swept = wg_reverse(check.plain, x[n]);
                assert_int_equal(swept, numbers == (1u << n) - 1 ? WG_ESEED : WG_OK);
                for (unsigned k = 0; k < n && swept == WG_OK; k++)
                    assert_true(wg_adjoint(check.plain, x[k]) ==
                                (numbers >> k & 1 ? 0 : cases[i].d[k]));
            }
    }
}

/* ---- one variable as every operand ---- */

/* op(x, x): partials add up, and the Hessian is dxx + 2 dxy + dyy. */
static void one_variable_may_be_every_operand(void **state) {
    struct oracle_csv t;
    int bad = 0, pairs = 0;
    (void)state;
    open_oracle(&t, "scalar_ops.csv");
    check.compared = check.skipped = 0;
    for (size_t i = 0; i < t.rows; i++) {
        struct line l;
        operands_of(&t, i, &l);
        if (l.arity < 2) continue;
        for (unsigned shape = 0; shape < STEP_SHAPES; shape++) {
            struct step s = {.op = l.op, .shape = shape, .operands = l.arity};
            size_t root = 1;
            const struct program p = {1, 1, 1, &s, &root};
            pairs++;
            if (check_program(&check, &p, &l.x[0], &l.x[1]) == 0) continue;
            print_error("%s(x, x) at %.17g: %s\n", program_name(l.op), l.x[0], check.why);
            bad++;
        }
    }
    oracle_csv_free(&t);
    assert_true(pairs > 1000);
    assert_int_equal(bad, 0);
    assert_true(check.skipped < check.compared / 4);
}

/* Exactly: where both operands of a line are equal the oracle knows the sums. */
static void equal_operands_add_up_to_what_the_oracle_says(void **state) {
    struct oracle_csv t;
    int lines = 0;
    (void)state;
    open_oracle(&t, "scalar_ops.csv");
    for (size_t i = 0; i < t.rows; i++) {
        struct line l;
        read_line(&t, i, "", &l);
        if (l.arity != 2 || l.x[0] != l.x[1] || !l.second_known[0][1]) continue;
        const double d = l.first[0] + l.first[1], size = fabs(l.first[0]) + fabs(l.first[1]);
        const double h = l.second[0][0] + 2 * l.second[0][1] + l.second[1][1];
        const double h_size =
            fabs(l.second[0][0]) + 2 * fabs(l.second[0][1]) + fabs(l.second[1][1]);
        if (!(size <= DBL_MAX && h_size <= DBL_MAX)) continue;
        struct step s = {.op = l.op, .operands = 2};
        size_t root = 1;
        const struct program p = {1, 1, 1, &s, &root};
        wg_real x[2];
        double got = 0;
        lines++;
        wg_tape_reset(check.code);
        x[0] = wg_input(check.code, l.x[0]);
        program_real(check.code, &p, x);
        assert_int_equal(wg_reverse(check.code, x[1]), WG_OK);
        assert_true(fabs(wg_adjoint(check.code, x[0]) - d) <=
                    TOL_DERIVATIVE_ULP * (DBL_EPSILON * size + DBL_TRUE_MIN));
        assert_int_equal(wg_tape_hessian(check.code, x[1], 1, x, &got, 1), WG_OK);
        assert_true(fabs(got - h) <=
                    TOL_DERIVATIVE_ULP * (DBL_EPSILON * h_size + DBL_TRUE_MIN));
    }
    oracle_csv_free(&t);
    assert_true(lines >= 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_oracle_line_agrees_in_every_mode),
        cmocka_unit_test(rows_beyond_the_first_oracle_agree_in_every_mode),
        cmocka_unit_test(fma_agrees_in_every_mode),
        cmocka_unit_test(kinks_poles_and_infinities_agree_in_every_mode),
        cmocka_unit_test(traps_of_naive_formulas_agree_in_every_mode),
        cmocka_unit_test(every_row_is_claimed_by_an_oracle),
        cmocka_unit_test(clamp_and_selects_pass_on_the_chosen_operand),
        cmocka_unit_test(one_variable_may_be_every_operand),
        cmocka_unit_test(equal_operands_add_up_to_what_the_oracle_says),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
