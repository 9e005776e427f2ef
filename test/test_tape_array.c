/* SPDX-License-Identifier: MIT */
/* test_tape_array.c - array operations on the tape, in every mode, against closed forms in long
 * double and the oracle test/data/logsumexp.txt. The letters are those of array_case.h. */
#include "ops/scalar/array.h"
#include "array_case.h"
#include "oracle_text.h"

#ifndef TEST_DATA
#define TEST_DATA "test/data/"
#endif

static void ordinary_arrays_agree_with_closed_forms(void **state) {
    static const double x[] = {0.75, -1.5, 2.25, 0.3, -0.0625, 3, -2.5, 1.125, 0.5, -0.875};
    int bad = 0;
    (void)state;
    for (int op = 0; op < OPS; op++)
        for (size_t n = 1; n <= sizeof x / sizeof *x; n++)
            if (op != DOT || n % 2 == 0) bad += check_mixes((enum array_op)op, n, x);
    assert_int_equal(bad, 0);
}

static void hundreds_of_operands_agree_with_closed_forms(void **state) {
    enum { N = 520 };
    static double x[N];
    static int from[N];
    int bad = 0;
    (void)state;
    for (int op = 0; op < OPS; op++) {
        size_t inputs = 0;
        for (size_t i = 0; i < N; i++) {
            /* near 1 where powers of it or products must stay in range */
            x[i] = op == PRODUCT ? 1 + sin((double)i) / 16 : 4 * sin(1.7 * (double)i);
            from[i] = op == POLYNOMIAL && i == N - 1 ? (int)inputs++
                      : i % 50 == 7                  ? -1
                                                     : (int)inputs++;
        }
        if (op == POLYNOMIAL) x[N - 1] = -0.9921875;
        bad += check_array((enum array_op)op, N, x, from, inputs);
    }
    assert_int_equal(bad, 0);
}

static void no_operands_give_the_neutral_element(void **state) {
    static const double neutral[OPS] = {0, 1, 0, 0, 0, 0, 0, -INFINITY, NAN, NAN, NAN};
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    (void)state;
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++)
        for (int op = 0; op < OPS; op++) {
            wg_tape *const t = tapes[k];
            const int refused = op == MAXIMUM || op == MINIMUM || op == MEAN;
            wg_tape_reset(t);
            const wg_real z = wg_input(t, 2);
            const wg_real y = op == POLYNOMIAL
                                  ? wg_polynomial(t, 0, NULL, z)
                                  : array_real(t, (enum array_op)op, 0, NULL, NULL);
            assert_true(error_ulp(wg_value(y), neutral[op]) == 0);
            assert_int_equal(wg_tape_status(t), refused ? WG_ESHAPE : WG_OK);
            /* nothing to differentiate: what comes out is a constant */
            assert_int_equal(wg_reverse(t, y), refused ? WG_ESHAPE : WG_ESEED);
        }
}

/* ---- products with zeros, ties, and the ends of the numbers ---- */

static void products_are_exact_with_zeros_among_the_factors(void **state) {
    static const double cases[][5] = {
        {2, 3, -0.5, 4, 1.5}, {2, 0, -0.5, 4, 1.5}, {0, 3, -0.5, 4, 2},
        {2, 3, -0.5, 4, 0},   {2, 0, -0.5, 0, 1.5}, {0, 0, -0.5, 4, 2},
        {0, 0, 0, 4, 1.5},    {0, 0, 0, 0, 0},      {-0.0, 1, 1, 1, 1}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 1; n <= 5; n++) bad += check_mixes(PRODUCT, n, cases[i]);
    assert_int_equal(bad, 0);
}

static void ties_share_the_derivative(void **state) {
    static const double cases[][5] = {{1, 2, 2, 0, 2},
                                      {3, 3, 3, 3, 3},
                                      {-1, -2, -2, -1, 5},
                                      {0, -0.0, 0, 1, -1},
                                      {7, 1, 2, 7, 7}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t n = 1; n <= 5; n++) {
            bad += check_mixes(MAXIMUM, n, cases[i]);
            bad += check_mixes(MINIMUM, n, cases[i]);
            bad += check_mixes(LOGSUMEXP, n, cases[i]);
        }
    assert_int_equal(bad, 0);
}

/* Value and gradient of one operation of inputs, on every tape and of duals. */
static void value_and_gradient_are(enum array_op op, size_t n, const double *a, double value,
                                   const double *want, double ulps) {
    wg_tape *const tapes[] = {check.plain, check.checked, check.code};
    wg_real x[8];
    wg_dual d[8];
    assert_true(n <= 8);
    for (size_t k = 0; k < sizeof tapes / sizeof *tapes; k++) {
        wg_tape *const t = tapes[k];
        wg_tape_reset(t);
        assert_int_equal(wg_inputs(t, n, a, x), WG_OK);
        const wg_real y = array_real(t, op, n, x, NULL);
        assert_true(close_ulp(wg_value(y), value, ulps));
        assert_int_equal(wg_reverse(t, y), WG_OK);
        for (size_t i = 0; i < n; i++) {
            if (!close_ulp(wg_adjoint(t, x[i]), want[i], ulps))
                print_error("%s: d/dx%zu is %.17g, not %.17g\n", names[op], i,
                            wg_adjoint(t, x[i]), want[i]);
            assert_true(close_ulp(wg_adjoint(t, x[i]), want[i], ulps));
        }
    }
    assert_int_equal(wg_tape_verify(check.code), WG_OK);
    for (size_t first = 0; first < n; first += WG_DUAL_WIDTH) {
        for (size_t i = 0; i < n; i++)
            d[i] = i < first ? wg_dual_constant(a[i]) : wg_dual_input(a[i], i - first);
        const wg_dual y = array_dual(NULL, op, n, d, NULL);
        assert_true(close_ulp(wg_dual_value(y), value, ulps));
        for (size_t i = first; i < n && i < first + WG_DUAL_WIDTH; i++)
            assert_true(close_ulp(wg_dual_tangent(y, i - first), want[i], ulps));
    }
}
#define VALUE_AND_GRADIENT(op, value, ulps, ...)                                               \
    value_and_gradient_are(op, sizeof(x) / sizeof *x, x, value, (const double[]){__VA_ARGS__}, \
                           ulps)

static void norms_neither_overflow_nor_vanish(void **state) {
    static const double scales[] = {1e-320, 4e-310, 1e-200, 1e-150, 1, 1e150, 1e200, 1e307};
    (void)state;
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const double s = scales[i], x[] = {3 * s, -4 * s, 0, 12 * s};
        const long double exact[] = {x[0], x[1], x[3]};
        const long double r =
            sqrtl(exact[0] * exact[0] + exact[1] * exact[1] + exact[2] * exact[2]);
        VALUE_AND_GRADIENT(NORM2, (double)r, TOL_DERIVATIVE_ULP, (double)(exact[0] / r),
                           (double)(exact[1] / r), 0, (double)(exact[2] / r));
    }
    {
        const double x[] = {5e-324, 5e-324}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, 5e-324, TOL_DERIVATIVE_ULP, root, root);
    }
    { /* the norm overflows, its gradient does not */
        const double x[] = {1.5e308, -1.5e308}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, INFINITY, TOL_DERIVATIVE_ULP, root, -root);
    }
}

static void norms_at_zero_infinity_and_nan_follow_the_convention(void **state) {
    (void)state;
    {
        const double x[] = {0, -0.0, 0};
        VALUE_AND_GRADIENT(NORM2, 0, 0, 0, 0, 0);
        VALUE_AND_GRADIENT(SQUARED_NORM, 0, 0, 0, 0, 0);
    }
    {
        const double x[] = {1, -INFINITY, 3};
        VALUE_AND_GRADIENT(NORM2, INFINITY, 0, 0, -1, 0);
    }
    {
        const double x[] = {INFINITY, -INFINITY, 3}, root = 0.70710678118654752;
        VALUE_AND_GRADIENT(NORM2, INFINITY, TOL_VALUE_ULP, root, -root, 0);
    }
    {
        const double x[] = {1, NAN};
        VALUE_AND_GRADIENT(NORM2, NAN, 0, NAN, NAN);
    }
}

static void logsumexp_at_infinities_follows_the_convention(void **state) {
    (void)state;
    {
        const double x[] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, -INFINITY, 0, 0.25, 0.25, 0.25, 0.25);
    }
    {
        const double x[] = {INFINITY, 0, -INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, INFINITY, 0, 1, 0, 0);
    }
    {
        const double x[] = {INFINITY, INFINITY};
        VALUE_AND_GRADIENT(LOGSUMEXP, INFINITY, 0, 0.5, 0.5);
    }
    {
        const double x[] = {-INFINITY, 2};
        VALUE_AND_GRADIENT(LOGSUMEXP, 2, 0, 0, 1);
    }
    {
        const double x[] = {NAN, 2};
        VALUE_AND_GRADIENT(LOGSUMEXP, NAN, 0, NAN, NAN);
    }
}

static void extrema_with_a_nan_are_nan(void **state) {
    const double x[] = {1, NAN, 2};
    (void)state;
    VALUE_AND_GRADIENT(MAXIMUM, NAN, 0, NAN, NAN, NAN);
    VALUE_AND_GRADIENT(MINIMUM, NAN, 0, NAN, NAN, NAN);
}

static void polynomials_at_zero_and_of_constants_are_exact(void **state) {
    static const double cases[][5] = {{1, 2, 3, 4, 0}, {0, 0, 0, 0, 2}, {5, -1, 0, 2, -1}};
    int bad = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        bad += check_mixes(POLYNOMIAL, 5, cases[i]);
    /* the argument alone, the coefficients alone */
    static const int argument[] = {-1, -1, -1, -1, 0}, coefficients[] = {0, 1, 2, 3, -1};
    static const int root[] = {0, -1, 0, 1, 0}; /* the argument is a coefficient, too */
    const double x[] = {0.5, -1, 0.5, 2, 0.5};
    bad += check_array(POLYNOMIAL, 5, cases[2], argument, 1);
    bad += check_array(POLYNOMIAL, 5, cases[2], coefficients, 4);
    bad += check_array(POLYNOMIAL, 5, x, root, 2);
    assert_int_equal(bad, 0);
}

/* dot(x, x): both operands the same array, as the user writes it. */
static void a_dot_product_of_an_array_with_itself_has_twice_the_gradient(void **state) {
    const double a[] = {1.5, -2, 0, 3}, v[] = {1, 0.5, -2, 4};
    wg_tape *const t = check.code;
    wg_real x[4];
    double h[16], hv[4];
    (void)state;
    wg_tape_reset(t);
    assert_int_equal(wg_inputs(t, 4, a, x), WG_OK);
    const wg_real y = wg_dot(t, 4, x, x);
    assert_true(wg_value(y) == 15.25);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    for (size_t i = 0; i < 4; i++) assert_true(wg_adjoint(t, x[i]) == 2 * a[i]);
    assert_int_equal(wg_tape_hessian(t, y, 4, x, h, 4), WG_OK);
    assert_int_equal(wg_tape_hvp(t, y, 4, x, v, hv), WG_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_true(hv[i] == 2 * v[i]);
        for (size_t j = 0; j < 4; j++) assert_true(h[i * 4 + j] == (i == j ? 2 : 0));
    }
}

/* ---- the oracle of logsumexp ---- */

static struct oracle_case oracle;

static const double *reference(const char *role, const char *key, size_t count) {
    const struct oracle_array *const a = oracle_case_array(&oracle, role, key);
    assert_non_null(a);
    assert_int_equal(a->count, count);
    return a->v;
}

/* exp(-distance) is known as well as the distance, a rounded difference. */
static double exponent_error(double distance, double ref) {
    const double units = fmin(TOL_DERIVATIVE_ULP + distance, 1 / DBL_EPSILON);
    return units * DBL_EPSILON * fabs(ref) + TOL_SUBNORMAL_UNITS * DBL_TRUE_MIN;
}

static void logsumexp_agrees_with_its_oracle_in_every_mode(void **state) {
    FILE *in = fopen(TEST_DATA "logsumexp.txt", "r");
    int bad = 0, cases = 0, got;
    (void)state;
    assert_non_null(in);
    while ((got = oracle_case_read(in, &oracle)) == 1) {
        const struct oracle_array *const x = oracle_case_array(&oracle, "in", "x");
        assert_non_null(x);
        const size_t n = x->count;
        const double *const g = reference("ref", "grad", n), *const h = reference("ref", "hess",
                                                                                  n * n);
        double v[8], other[8], g_allowed[8], h_allowed[64], big = x->v[0];
        int from[8];
        assert_in_range(n, 1, 8);
        for (size_t i = 0; i < n; i++) big = fmax(big, x->v[i]);
        for (size_t i = 0; i < n; i++) {
            from[i] = (int)i;
            v[i] = check_direction[i];
            other[i] = 1 - (double)i;
            g_allowed[i] = exponent_error(big - x->v[i], g[i]);
            for (size_t j = 0; j < n; j++)
                h_allowed[i * n + j] =
                    exponent_error(2 * big - x->v[i] - x->v[j], h[i * n + j]);
        }
        struct data data = {LOGSUMEXP, n, from, x->v, NULL};
        const struct check_function f = {call,
                                         call_dual,
                                         &data,
                                         n,
                                         1,
                                         x->v,
                                         other,
                                         check_weights,
                                         v,
                                         {reference("ref", "value", 1), NULL},
                                         {g, g_allowed},
                                         {h, h_allowed}};
        if (check_modes(&check, &f) != 0) {
            print_error("case %d: %s\n", cases, check.why);
            bad++;
        }
        cases++;
        oracle_case_free(&oracle);
    }
    fclose(in);
    assert_int_equal(got, 0);
    assert_int_equal(cases, 9);
    assert_int_equal(bad, 0);
}

/* ---- array operations among statements ---- */

/* exp(-norm) * logsumexp + maximum * dot, of arrays that share their variables; the same from
 * scalar operations. */
static wg_real mixed(wg_tape *t, const wg_real *x, int arrays) {
    wg_real u[4], norm, lse, top, dot;
    for (size_t i = 0; i < 4; i++) u[i] = wg_let(t, wg_mul(wg_sin(x[i]), x[(i + 1) % 4]));
    if (arrays) {
        norm = wg_norm2(t, 4, u);
        lse = wg_logsumexp(t, 4, x);
        top = wg_maximum(t, 4, u);
        dot = wg_dot(t, 4, u, x);
    } else {
        wg_real s = wg_constant(0), e = wg_constant(0);
        dot = wg_constant(0), top = u[0];
        for (size_t i = 0; i < 4; i++) {
            s = wg_let(t, wg_add(s, wg_square(u[i])));
            e = wg_let(t, wg_add(e, wg_exp(x[i])));
            dot = wg_let(t, wg_fma(u[i], x[i], dot));
            top = wg_let(t, wg_fmax(top, u[i]));
        }
        norm = wg_let(t, wg_sqrt(s));
        lse = wg_let(t, wg_log(e));
    }
    return wg_let(t, wg_add(wg_mul(wg_exp(wg_neg(norm)), lse), wg_mul(top, dot)));
}

static void array_operations_and_statements_may_follow_each_other(void **state) {
    const double a[] = {0.7, -1.2, 2.1, 0.4};
    double g[2][4], h[2][16], largest_g = 0, largest_h = 0;
    (void)state;
    for (int arrays = 0; arrays < 2; arrays++) {
        wg_real x[4];
        wg_tape_reset(check.code);
        assert_int_equal(wg_inputs(check.code, 4, a, x), WG_OK);
        const wg_real y = mixed(check.code, x, arrays);
        assert_int_equal(wg_reverse(check.code, y), WG_OK);
        assert_int_equal(wg_adjoints(check.code, 4, x, g[arrays]), WG_OK);
        assert_int_equal(wg_tape_hessian(check.code, y, 4, x, h[arrays], 4), WG_OK);
        assert_int_equal(wg_tape_verify(check.code), WG_OK);
    }
    for (size_t i = 0; i < 4; i++) largest_g = fmax(largest_g, fabs(g[0][i]));
    for (size_t i = 0; i < 16; i++) largest_h = fmax(largest_h, fabs(h[0][i]));
    assert_true(largest_g > 0.5 && largest_h > 0.5);
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs(g[0][i] - g[1][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest_g);
    for (size_t i = 0; i < 16; i++)
        assert_true(fabs(h[0][i] - h[1][i]) <= TOL_PROGRAM_ULP * DBL_EPSILON * largest_h);
}

/* Where i c[i] overflows, i c[i] z^(i-1) need not. */
static void polynomials_of_large_coefficients_have_finite_derivatives(void **state) {
    (void)state;
    const wg_options opt = {.flags = WG_KEEP_CODE};
    wg_tape *const t = wg_tape_new(&opt);
    const wg_real z = wg_input(t, 0x1p-10);
    const wg_real c[] = {wg_constant(1), wg_constant(0), wg_constant(0), wg_constant(0x1p1022),
                         wg_constant(0x1p1023)};
    const wg_real y = wg_polynomial(t, 5, c, z);
    double h = 77;
    /* 3 c3 z^2 + 4 c4 z^3, 6 c3 z + 12 c4 z^2 */
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_adjoint(t, z) == 3 * 0x1p1002 + 4 * 0x1p993);
    assert_int_equal(wg_tape_hessian(t, y, 1, &z, &h, 1), WG_OK);
    assert_true(h == 6 * 0x1p1012 + 12 * 0x1p1003);
    wg_tape_free(t);
}

static int near_by_kind(enum wgi_array_near near, size_t n, size_t i, size_t j) {
    if (near == WGI_NEAR_ITSELF) return i == j;
    if (near == WGI_NEAR_PAIR) return i / 2 == j / 2 && i != j;
    if (near == WGI_NEAR_LAST) return n > 2 && i != 0 && j != 0 && (i == n - 1 || j == n - 1);
    return near == WGI_NEAR_ALL;
}

/* Where a Hessian is not 0 the table says so; where it says so, it is not 0, but for the
 * diagonal of a product. */
static void the_table_says_what_is_near_what(void **state) {
    enum { MOST = 6 };
    (void)state;
    for (int op = 0; op < WGI_ARRAY_COUNT; op++) {
        const wgi_array_op *const a = &wgi_array_ops[op];
        assert_int_equal(a->near == WGI_NEAR_NONE, a->second == NULL);
        for (size_t n = 2; n <= MOST && a->second != NULL; n += 2) {
            double x[MOST], number[MOST], ht[MOST], work[MOST];
            for (size_t i = 0; i < n; i++)
                x[i] = 0.75 + 0.125 * (double)i, number[i] = 2 - x[i];
            const double v = a->value(n, x, number);
            for (size_t j = 0; j < n; j++) {
                double xt[MOST] = {0};
                xt[j] = 1;
                a->second(n, x, number, v, xt, ht, work);
                for (size_t i = 0; i < n; i++) {
                    const int near = near_by_kind(a->near, n, i, j);
                    if ((ht[i] != 0) != near && (i != j || !near))
                        fail_msg("%s of %zu: (%zu, %zu) is %g", a->call, n, i, j, ht[i]);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ordinary_arrays_agree_with_closed_forms),
        cmocka_unit_test(hundreds_of_operands_agree_with_closed_forms),
        cmocka_unit_test(no_operands_give_the_neutral_element),
        cmocka_unit_test(products_are_exact_with_zeros_among_the_factors),
        cmocka_unit_test(ties_share_the_derivative),
        cmocka_unit_test(norms_neither_overflow_nor_vanish),
        cmocka_unit_test(norms_at_zero_infinity_and_nan_follow_the_convention),
        cmocka_unit_test(logsumexp_at_infinities_follows_the_convention),
        cmocka_unit_test(extrema_with_a_nan_are_nan),
        cmocka_unit_test(polynomials_at_zero_and_of_constants_are_exact),
        cmocka_unit_test(a_dot_product_of_an_array_with_itself_has_twice_the_gradient),
        cmocka_unit_test(logsumexp_agrees_with_its_oracle_in_every_mode),
        cmocka_unit_test(array_operations_and_statements_may_follow_each_other),
        cmocka_unit_test(polynomials_of_large_coefficients_have_finite_derivatives),
        cmocka_unit_test(the_table_says_what_is_near_what),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
