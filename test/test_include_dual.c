/* SPDX-License-Identifier: MIT */
/* test_include_dual.c - dual numbers: every operation of ops/scalar/scalar.def against the
 * reference values and against its own partials, the zero rule lane by lane, and loops.
 * test/dual.sh runs this file again for other widths and instruction sets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <wengert.h>
#include "oracle.h"
#include "scalar_rows.h"
#include "tolerance.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

enum { WIDTH = WG_DUAL_WIDTH };

/* ---- the table: wg_dual_NAME and wgi_dual_NAME by name ---------------------------------- */

/* Operands x; bit k of `dual`: operand k is one, and not a number. */
typedef wg_dual dual_fn(const wg_dual *x, unsigned dual);

#define IS(k) ((int)(dual >> (k)) & 1)
#define OP1(n, f, fa, faa, class, source)                                                      \
    static wg_dual n##_dual(const wg_dual *x, unsigned dual) {                                 \
        return dual == 1 ? wg_dual_##n(x[0]) : wgi_dual_##n(x[0], IS(0));                      \
    }
#define OP2(n, f, fa, fb, faa, fab, fbb, class, source)                                        \
    static wg_dual n##_dual(const wg_dual *x, unsigned dual) {                                 \
        return dual == 3 ? wg_dual_##n(x[0], x[1]) : wgi_dual_##n(x[0], IS(0), x[1], IS(1));   \
    }
#define OP3(n, f, fa, fb, fc, faa, fab, fac, fbb, fbc, fcc, class, source)                     \
    static wg_dual n##_dual(const wg_dual *x, unsigned dual) {                                 \
        return dual == 7 ? wg_dual_##n(x[0], x[1], x[2])                                       \
                         : wgi_dual_##n(x[0], IS(0), x[1], IS(1), x[2], IS(2));                \
    }
#define OP4(n, f, fa, fb, fc, fd, class, source)                                               \
    static wg_dual n##_dual(const wg_dual *x, unsigned dual) {                                 \
        return dual == 15 ? wg_dual_##n(x[0], x[1], x[2], x[3])                                \
                          : wgi_dual_##n(x[0], IS(0), x[1], IS(1), x[2], IS(2), x[3], IS(3));  \
    }
#include "ops/scalar/scalar.def"
#undef OP1
#undef OP2
#undef OP3
#undef OP4

#define OP1(n, f, fa, faa, class, source) n##_dual,
#define OP2(n, f, fa, fb, faa, fab, fbb, class, source) n##_dual,
#define OP3(n, f, fa, fb, fc, faa, fab, fac, fbb, fbc, fcc, class, source) n##_dual,
#define OP4(n, f, fa, fb, fc, fd, class, source) n##_dual,
static dual_fn *const duals[] = {
#include "ops/scalar/scalar.def"
};
#undef OP1
#undef OP2
#undef OP3
#undef OP4

/* The oracles name two operations differently. */
static const struct scalar_row *row_of(const char *op) {
    if (strcmp(op, "copysign_x") == 0) op = "copysign";
    else if (strcmp(op, "round_half_away") == 0) op = "round";
    return scalar_row_find(op);
}

static dual_fn *dual_of(const struct scalar_row *r) { return duals[r - scalar_rows]; }

static int same(double a, double b) { return a == b || (a != a && b != b); }

/* ---- operations ------------------------------------------------------------------------- */

/* Operand k of `arity` moves alone, in the last lane: its partial must come out there, and
 * nothing anywhere else. Every value and partial is also what the row itself gives. */
static int wrong_at(const struct scalar_row *r, const double *x) {
    const double v = r->value(x, 0);
    int bad = 0;
    for (size_t k = 0; k < r->arity; k++) {
        wg_dual in[4];
        for (size_t i = 0; i < 4; i++)
            in[i] = i == k ? wg_dual_input(x[i], WIDTH - 1) : wg_dual_constant(x[i]);
        const double partial = r->first[k](x, v);
        for (unsigned dual = 0; dual < 1u << r->arity; dual++) {
            const wg_dual y = dual_of(r)(in, dual);
            const double expected = dual >> k & 1 ? partial : 0;
            bad += !same(wg_dual_value(y), v);
            bad += !same(wg_dual_tangent(y, WIDTH - 1), expected);
            for (size_t l = 0; l + 1 < WIDTH; l++) bad += wg_dual_tangent(y, l) != 0;
            if (bad) {
                print_error(
                    "%s(%g, %g, %g, %g), operand %zu, duals %u: %g with %g, not %g with "
                    "%g\n",
                    r->name, x[0], x[1], x[2], x[3], k, dual, wg_dual_value(y),
                    wg_dual_tangent(y, WIDTH - 1), v, expected);
                return bad;
            }
        }
    }
    return bad;
}

/* The lines of a table: values and first partials. Returns how many cells were compared. */
static size_t check_oracle(const char *name, const char *value, const char *const *first) {
    static const char *const operands[] = {"x", "y", "z"};
    struct oracle_csv t;
    char path[512];
    size_t cells = 0;
    int bad = 0;
    const int n = snprintf(path, sizeof path, "%s%s", TEST_DATA, name);
    assert_in_range(n, 1, sizeof path - 1);
    assert_int_equal(oracle_csv_read(&t, path), 0);
    for (size_t i = 0; i < t.rows; i++) {
        const struct scalar_row *r = row_of(oracle_csv_cell(&t, i, 0));
        double x[4] = {0}, ref;
        assert_non_null(r);
        for (size_t k = 0; k < 3; k++)
            (void)oracle_csv_number(&t, i, oracle_csv_column(&t, operands[k]), &x[k]);
        bad += wrong_at(r, x);
        wg_dual in[4];
        for (size_t k = 0; k < 4; k++) in[k] = wg_dual_constant(x[k]);
        for (size_t k = 0; k < r->arity; k++) {
            in[k] = wg_dual_input(x[k], k % WIDTH);
            const wg_dual y = dual_of(r)(in, 1u << k);
            const double got[2] = {wg_dual_value(y), wg_dual_tangent(y, k % WIDTH)};
            const char *const column[2] = {value, first[k]};
            const double ulps[2] = {TOL_VALUE_ULP, TOL_DERIVATIVE_ULP};
            for (int c = 0; c < 2; c++) {
                if (!oracle_csv_number(&t, i, oracle_csv_column(&t, column[c]), &ref)) continue;
                cells++;
                if (close_ulp(got[c], ref, ulps[c])) continue;
                print_error("%s(%s, %s) %s: %.17g, reference %.17g\n", r->name,
                            oracle_csv_cell(&t, i, 1), oracle_csv_cell(&t, i, 2), column[c],
                            got[c], ref);
                bad++;
            }
            in[k] = wg_dual_constant(x[k]);
        }
    }
    oracle_csv_free(&t);
    assert_int_equal(bad, 0);
    return cells;
}

static void every_oracle_line_agrees_in_value_and_tangent(void **state) {
    static const char *const first[] = {"dx", "dy", "dz"};
    (void)state;
    assert_true(check_oracle("scalar_ops.csv", "value", first) > 0);
    assert_true(check_oracle("scalar_more.csv", "value", first) > 0);
    assert_true(check_oracle("scalar_fma.csv", "value", first) > 0);
    assert_true(check_oracle("scalar_ends.csv", "value", first) > 0);
}

static void kinks_and_poles_follow_the_convention(void **state) {
    static const char *const first[] = {"rec_dx", "rec_dy", "rec_dz"};
    (void)state;
    assert_true(check_oracle("scalar_special.csv", "rec_value", first) > 0);
}

/* Also where the reference tables have no line: clamp, the selects, infinities and NaN. */
static void tangents_are_the_partials_of_the_row_bit_for_bit(void **state) {
    static const double points[] = {-INFINITY, -2.5, -1, -0.0, 0, 0.25, 1, 3, INFINITY, NAN};
    enum { POINTS = sizeof points / sizeof *points };
    int bad = 0;
    (void)state;
    for (size_t row = 0; row < SCALAR_ROWS; row++) {
        const struct scalar_row *r = &scalar_rows[row];
        size_t n = 1;
        for (size_t k = 0; k < r->arity; k++) n *= POINTS;
        for (size_t i = 0; i < n; i++) {
            double x[4] = {0};
            for (size_t k = 0, rest = i; k < r->arity; k++, rest /= POINTS)
                x[k] = points[rest % POINTS];
            bad += wrong_at(r, x);
        }
    }
    assert_int_equal(bad, 0);
}

static void every_lane_carries_its_own_tangent(void **state) {
    wg_dual x = wg_dual_constant(3), y = wg_dual_constant(0.5);
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) {
        x = wg_dual_with(x, l, (double)l + 1);
        y = wg_dual_with(y, l, 2 * (double)l - 7);
    }
    const wg_dual z = wg_dual_sub(wg_dual_mul(x, y), wg_dual_add(wg_dual_neg(x), y));
    const wg_dual w = wg_dual_fma(x, y, y);
    assert_true(wg_dual_value(z) == 4 && wg_dual_value(w) == 2);
    for (size_t l = 0; l < WIDTH; l++) {
        const double xt = (double)l + 1, yt = 2 * (double)l - 7;
        assert_true(wg_dual_tangent(x, l) == xt && wg_dual_tangent(y, l) == yt);
        assert_true(wg_dual_tangent(z, l) == 0.5 * xt + 3 * yt - (yt - xt));
        assert_true(wg_dual_tangent(w, l) == 0.5 * xt + 3 * yt + yt);
    }
}

static void a_lane_that_is_not_there_reads_nan_and_takes_no_seed(void **state) {
    const wg_dual x = wg_dual_input(2, WIDTH);
    (void)state;
    assert_true(wg_dual_tangent(x, WIDTH) != wg_dual_tangent(x, WIDTH));
    assert_true(wg_dual_tangent(x, SIZE_MAX) != wg_dual_tangent(x, SIZE_MAX));
    for (size_t l = 0; l < WIDTH; l++) assert_true(wg_dual_tangent(x, l) == 0);
}

static void a_dual_is_a_value_and_its_tangents_in_a_row(void **state) {
    wg_dual x = wg_dual_constant(5);
    double row[1 + WIDTH];
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) x = wg_dual_with(x, l, 10 + (double)l);
    assert_int_equal(sizeof x, sizeof row);
    memcpy(row, &x, sizeof row);
    assert_true(row[0] == 5);
    for (size_t l = 0; l < WIDTH; l++) assert_true(row[1 + l] == 10 + (double)l);
}

/* ---- the zero rule ---------------------------------------------------------------------- */

/* sqrt at 0: +inf in the lane that moves, and exactly 0 in those that do not. */
static void an_infinite_partial_leaves_lanes_at_rest_alone(void **state) {
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) {
        const wg_dual y = wg_dual_sqrt(wg_dual_input(0, l));
        for (size_t k = 0; k < WIDTH; k++)
            assert_true(wg_dual_tangent(y, k) == (k == l ? INFINITY : 0));
    }
}

/* x sqrt(y) at (0, 0): the partial of the product with respect to sqrt(y) is 0. */
static void a_zero_partial_silences_an_infinite_tangent(void **state) {
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) {
        const wg_dual root = wg_dual_sqrt(wg_dual_input(0, l));
        const wg_dual y = wg_dual_mul(wg_dual_constant(0), root);
        const wg_dual z = wg_dual_fma(root, wg_dual_constant(0), wg_dual_input(1, l));
        const wg_dual s = wg_dual_select_gt(wg_dual_input(0, l), wg_dual_constant(0), root,
                                            wg_dual_input(2, l));
        for (size_t k = 0; k < WIDTH; k++) {
            assert_true(wg_dual_tangent(y, k) == 0);
            assert_true(wg_dual_tangent(z, k) == (k == l));
            assert_true(wg_dual_tangent(s, k) == (k == l));
        }
    }
}

static void a_nan_of_both_factors_stays_a_nan_in_its_lane_only(void **state) {
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) {
        const wg_dual y = wg_dual_log(wg_dual_input(-1, l));
        const wg_dual up = wg_dual_with(wg_dual_constant(1), l, INFINITY);
        const wg_dual down = wg_dual_with(wg_dual_constant(1), l, -INFINITY);
        const wg_dual z = wg_dual_add(up, down);
        for (size_t k = 0; k < WIDTH; k++) {
            const double a = wg_dual_tangent(y, k), b = wg_dual_tangent(z, k);
            assert_int_equal(a != a, k == l);
            assert_int_equal(b != b, k == l);
            assert_true(k == l || (a == 0 && b == 0));
        }
    }
}

/* Infinities of both signs in different lanes are no NaN. */
static void infinite_tangents_of_both_signs_are_kept(void **state) {
    (void)state;
    for (size_t l = 0; l < WIDTH; l++) {
        wg_dual x = wg_dual_with(wg_dual_constant(2), l, INFINITY);
        x = wg_dual_with(x, (l + WIDTH / 2) % WIDTH, -INFINITY);
        const wg_dual y = wg_dual_square(x);
        for (size_t k = 0; k < WIDTH; k++)
            assert_true(wg_dual_tangent(y, k) == wg_dual_tangent(x, k));
    }
}

/* ---- against the tape, and in loops ----------------------------------------------------- */

/* Small integers and halves: every sum and product is exact in whatever order it is taken. */
static void arithmetic_gives_the_adjoints_of_the_tape_bit_for_bit(void **state) {
    wg_tape *t = wg_tape_new(NULL);
    (void)state;
    assert_non_null(t);
    wg_real x[3] = {wg_input(t, 3), wg_input(t, -0.5), wg_input(t, 4)};
    double tangent[3];
    wg_real a = wg_let(t, wg_div(wg_mul(wg_add(x[0], x[1]), x[2]), x[1]));
    a = wg_let(t, wg_sub(wg_mul(a, x[0]), wg_fma(x[2], x[2], wg_neg(wg_square(a)))));
    a = wg_let(t, wg_mul(a, wg_sub(x[1], wg_reciprocal(x[2]))));
    assert_int_equal(wg_reverse(t, a), WG_OK);
    for (size_t i = 0; i < 3; i++) {
        wg_dual u[3];
        for (size_t k = 0; k < 3; k++)
            u[k] = k == i ? wg_dual_input(wg_value(x[k]), 0) : wg_dual_constant(wg_value(x[k]));
        wg_dual b = wg_dual_div(wg_dual_mul(wg_dual_add(u[0], u[1]), u[2]), u[1]);
        b = wg_dual_sub(wg_dual_mul(b, u[0]),
                        wg_dual_fma(u[2], u[2], wg_dual_neg(wg_dual_square(b))));
        b = wg_dual_mul(b, wg_dual_sub(u[1], wg_dual_reciprocal(u[2])));
        assert_true(wg_dual_value(b) == wg_value(a));
        tangent[i] = wg_dual_tangent(b, 0);
    }
    for (size_t i = 0; i < 3; i++) assert_true(tangent[i] == wg_adjoint(t, x[i]));
    wg_tape_free(t);
}

/* x <- x + h sin(x y), y <- y - h x for a million steps, beside the same by hand. */
static void a_million_steps_take_constant_memory_and_the_right_values(void **state) {
    const double h = 1.0 / (1 << 20);
    double x = 1, y = 2, xt[2] = {1, 0}, yt[2] = {0, 1};
    wg_dual u = wg_dual_input(1, 0), v = wg_dual_input(2, WIDTH - 1); /* width 1: (1, 1) */
    struct rusage before, after;
    (void)state;
    assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
    for (int i = 0; i < 1000000; i++) {
        const wg_dual w = wg_dual_mul(u, v);
        u = wg_dual_add(u, wgi_dual_mul(wg_dual_constant(h), 0, wg_dual_sin(w), 1));
        v = wg_dual_sub(v, wgi_dual_mul(wg_dual_constant(h), 0, u, 1));
    }
    assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1024);
    if (WIDTH == 1) xt[1] = yt[0] = 1;
    for (int i = 0; i < 1000000; i++) {
        const double c = cos(x * y), s = sin(x * y);
        for (int l = 0; l < 2; l++) {
            const double w = y * xt[l] + x * yt[l];
            xt[l] = xt[l] + h * (c * w);
            yt[l] = yt[l] - h * xt[l];
        }
        x = x + h * s;
        y = y - h * x;
    }
    assert_true(wg_dual_value(u) == x && wg_dual_value(v) == y);
    assert_true(wg_dual_tangent(u, 0) == xt[0] && wg_dual_tangent(u, WIDTH - 1) == xt[1]);
    assert_true(wg_dual_tangent(v, 0) == yt[0] && wg_dual_tangent(v, WIDTH - 1) == yt[1]);
    for (size_t l = 1; l + 1 < WIDTH; l++) assert_true(wg_dual_tangent(u, l) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_oracle_line_agrees_in_value_and_tangent),
        cmocka_unit_test(kinks_and_poles_follow_the_convention),
        cmocka_unit_test(tangents_are_the_partials_of_the_row_bit_for_bit),
        cmocka_unit_test(every_lane_carries_its_own_tangent),
        cmocka_unit_test(a_lane_that_is_not_there_reads_nan_and_takes_no_seed),
        cmocka_unit_test(a_dual_is_a_value_and_its_tangents_in_a_row),
        cmocka_unit_test(an_infinite_partial_leaves_lanes_at_rest_alone),
        cmocka_unit_test(a_zero_partial_silences_an_infinite_tangent),
        cmocka_unit_test(a_nan_of_both_factors_stays_a_nan_in_its_lane_only),
        cmocka_unit_test(infinite_tangents_of_both_signs_are_kept),
        cmocka_unit_test(arithmetic_gives_the_adjoints_of_the_tape_bit_for_bit),
        cmocka_unit_test(a_million_steps_take_constant_memory_and_the_right_values),
    };
    return cmocka_run_group_tests_name("dual", tests, NULL, NULL);
}
