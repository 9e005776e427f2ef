/* SPDX-License-Identifier: MIT */
/* test_tape_local_hessian.c - local second derivatives of statements that are done together:
 * many codes in turns, a user's operations, singular points beside regular ones, long
 * statements. Expected values are closed forms. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <wengert.h>

static double square_of(double a) { return a * a; }
WG_OPERATION1(fourth, square_of(square_of(a)), 4 * a * a * a, 12 * a * a, ARITH, "power rule")
WG_OPERATION1(twice, exp(2 * a), 2 * v, 4 * v, GUARD, "chain rule")
#define fourth(x) WG_CALL1(fourth, x)
#define twice(x) WG_CALL1(twice, x)

static wg_tape *t;

static int open_tape(void **state) {
    (void)state;
    return (t = wg_tape_new(&(wg_options){.flags = WG_KEEP_CODE})) == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(t);
    return 0;
}

/* ---- many codes in turns ---- */

/* A term of x and y, and its second derivatives xx, xy, yy. */
enum { KINDS = 14 };
static wg_real term(int kind, wg_real x, wg_real y, double c) {
    switch (kind) {
    case 0:
        return wg_let(t, wg_mul(x, y));
    case 1:
        return wg_let(t, wg_mul(c, wg_square(wg_sub(y, wg_square(x)))));
    case 2:
        return wg_let(t, wg_exp(wg_mul(x, y)));
    case 3:
        return wg_let(t, wg_div(x, y));
    case 4:
        return wg_let(t, wg_mul(wg_mul(x, x), wg_mul(x, y)));
    case 5:
        return wg_let(t, wg_add(wg_sin(x), wg_mul(c, wg_cos(y))));
    case 6:
        return wg_let(t, wg_fma(x, y, wg_square(y)));
    case 7:
        return wg_let(t, wg_log(wg_add(x, wg_mul(c, y))));
    case 8:
        return wg_let(t, wg_add(wg_mul(c, x), y)); /* linear: no entries */
    case 9:
        return wg_let(t, wg_mul(wg_floor(wg_mul(x, y)), wg_square(x)));
    case 10:
        return wg_let(t, fourth(wg_mul(x, y)));
    case 11:
        return wg_let(t, twice(wg_mul(x, y)));
    case 12:
        return wg_let(t, wg_mul(fourth(x), twice(y)));
    default:
        return wg_let(t, wg_mul(twice(x), fourth(y)));
    }
}

static void expect(int kind, double x, double y, double c, double *h) {
    const double p = x * y, e = exp(p), l = x + c * y, f = exp(2 * p);
    const double cases[KINDS][3] = {
        {0, 1, 0},
        {c * (12 * x * x - 4 * y), -4 * c * x, 2 * c},
        {e * y * y, e * (1 + p), e * x * x},
        {0, -1 / (y * y), 2 * x / (y * y * y)},
        {6 * x * y, 3 * x * x, 0},
        {-sin(x), 0, -c * cos(y)},
        {0, 1, 2},
        {-1 / (l * l), -c / (l * l), -c * c / (l * l)},
        {0, 0, 0},
        {2 * floor(p), 0, 0},
        {12 * p * p * y * y, 16 * p * p * p, 12 * p * p * x * x},
        {4 * f * y * y, f * (2 + 4 * p), 4 * f * x * x},
        {12 * x * x * exp(2 * y), 8 * x * x * x * exp(2 * y), 4 * x * x * x * x * exp(2 * y)},
        {4 * exp(2 * x) * y * y * y * y, 8 * exp(2 * x) * y * y * y, 12 * exp(2 * x) * y * y}};
    memcpy(h, cases[kind], sizeof cases[kind]);
}

/* Each term has variables of its own; H is block diagonal. Column 2i + j by lanes of wide
 * Hessians would be slow: products with e and o, the vectors of all even and odd variables. */
static void check_terms(size_t terms, int kinds, int runs_of) {
    enum { MOST = 200 };
    static double a[2 * MOST], v[2 * MOST], by_x[2 * MOST], by_y[2 * MOST];
    static wg_real x[2 * MOST];
    wg_real sum = wg_constant(0);
    assert_true(terms <= MOST);
    wg_tape_reset(t);
    for (size_t i = 0; i < 2 * terms; i++) a[i] = 0.3 + 0.37 * (double)(i % 11) / 3;
    assert_int_equal(wg_inputs(t, 2 * terms, a, x), WG_OK);
    for (size_t i = 0; i < terms; i++) {
        const int kind = (int)(i / (size_t)runs_of) % kinds;
        sum = wg_let(t, wg_add(sum, term(kind, x[2 * i], x[2 * i + 1], 1 + 0.1 * (double)i)));
    }
    for (size_t i = 0; i < 2 * terms; i++) v[i] = i % 2 == 0;
    assert_int_equal(wg_tape_hvp(t, sum, 2 * terms, x, v, by_x), WG_OK);
    for (size_t i = 0; i < 2 * terms; i++) v[i] = i % 2 != 0;
    assert_int_equal(wg_tape_hvp(t, sum, 2 * terms, x, v, by_y), WG_OK);
    for (size_t i = 0; i < terms; i++) {
        const int kind = (int)(i / (size_t)runs_of) % kinds;
        double h[3];
        expect(kind, a[2 * i], a[2 * i + 1], 1 + 0.1 * (double)i, h);
        const double got[4] = {by_x[2 * i], by_x[2 * i + 1], by_y[2 * i], by_y[2 * i + 1]};
        const double ref[4] = {h[0], h[1], h[1], h[2]};
        for (int k = 0; k < 4; k++)
            if (!(fabs(got[k] - ref[k]) <= 32 * DBL_EPSILON * (1 + fabs(ref[k]))))
                fail_msg("term %zu of kind %d, entry %d: %.17g, not %.17g", i, kind, k, got[k],
                         ref[k]);
    }
}

static void codes_take_turns(void **state) {
    (void)state;
    for (size_t terms = 1; terms <= 18; terms++) check_terms(terms, 1, 1);
    for (int kinds = 2; kinds <= KINDS; kinds++) check_terms(197, kinds, 1);
    check_terms(200, KINDS, 3);
    check_terms(200, KINDS, 11);
}

/* ---- singular points ---- */

/* y^2 sqrt(x) at x = 0 is flat where y is 0, by the zero rule, and vertical where it is not;
 * beside them are regular points. */
static void singular_points_do_not_spread(void **state) {
    enum { N = 11 };
    double a[2 * N], v[2 * N], hv[2 * N];
    wg_real x[2 * N], sum = wg_constant(0);
    (void)state;
    for (size_t i = 0; i < N; i++) {
        a[2 * i] = i == 2 || i == 5 ? 0 : 4;
        a[2 * i + 1] = i == 2 ? 0 : 3;
        v[2 * i] = 1, v[2 * i + 1] = 0;
    }
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 2 * N, a, x), WG_OK);
    for (size_t i = 0; i < N; i++)
        sum = wg_let(
            t, wg_add(sum, wg_mul(wg_square(x[2 * i + 1]), wg_sqrt(wg_mul(1, x[2 * i])))));
    assert_int_equal(wg_tape_hvp(t, sum, 2 * N, x, v, hv), WG_OK);
    for (size_t i = 0; i < N; i++) {
        const double xx = i == 2 ? 0 : i == 5 ? -INFINITY : -9.0 / 32;
        const double xy = i == 2 ? 0 : i == 5 ? INFINITY : 1.5;
        if (hv[2 * i] != xx || hv[2 * i + 1] != xy)
            fail_msg("point %zu: %g %g, not %g %g", i, hv[2 * i], hv[2 * i + 1], xx, xy);
    }
}

/* ---- long statements ---- */

/* exp of the product of eight variables, below a tower of operations with one argument. */
static void long_statements_have_all_pairs(void **state) {
    enum { N = 8 };
    static const double a[N] = {1.1, 0.9, 1.2, 0.8, 1.05, 0.95, 1.15, 0.85};
    double h[N][N], p = 1;
    wg_real x[N];
    (void)state;
    for (int i = 0; i < N; i++) p *= a[i];
    for (int twice = 0; twice < 2; twice++) { /* alone, and as one of two that wait */
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
        wg_real y = wg_constant(0);
        for (int k = 0; k <= twice; k++) {
            const wg_real one =
                wg_let(t, wg_neg(wg_neg(wg_exp(wg_square(
                              wg_mul(wg_mul(wg_mul(x[0], x[1]), wg_mul(x[2], x[3])),
                                     wg_mul(wg_mul(x[4], x[5]), wg_mul(x[6], x[7]))))))));
            y = wg_let(t, wg_add(y, one));
        }
        assert_int_equal(wg_tape_hessian(t, y, N, x, &h[0][0], N), WG_OK);
        const double q = p * p, e = (1 + twice) * exp(q);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                /* f = exp(p^2): f_i = 2 q f / x_i */
                const double ref = e * (4 * q * q + (i == j ? 2 : 4) * q) / (a[i] * a[j]);
                assert_true(fabs(h[i][j] - ref) <= 64 * DBL_EPSILON * fabs(ref));
            }
    }
}

/* x in several places of one statement, and in another order in the next. */
static void repeated_variables_count_from_both_sides(void **state) {
    enum { N = 12 };
    double a[N], h[N][N];
    wg_real x[N], sum = wg_constant(0);
    (void)state;
    for (int i = 0; i < N; i++) a[i] = 1 + 0.125 * i;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, N, a, x), WG_OK);
    for (int i = 0; i < N; i++) { /* i even: x^3; odd: x^2 z */
        const wg_real z = x[i % 2 == 0 ? i : i - 1];
        sum = wg_let(t, wg_add(sum, wg_mul(wg_mul(x[i], z), x[i])));
    }
    assert_int_equal(wg_tape_hessian(t, sum, N, x, &h[0][0], N), WG_OK);
    for (int i = 0; i < N; i += 2) {
        assert_true(h[i][i] == 6 * a[i]);
        assert_true(h[i + 1][i + 1] == 2 * a[i]);
        assert_true(h[i][i + 1] == 2 * a[i + 1] && h[i + 1][i] == 2 * a[i + 1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_take_turns),
        cmocka_unit_test(singular_points_do_not_spread),
        cmocka_unit_test(long_statements_have_all_pairs),
        cmocka_unit_test(repeated_variables_count_from_both_sides),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}
