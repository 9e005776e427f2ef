/* SPDX-License-Identifier: MIT */
/* test_tape_taylor_singular.c - Taylor coefficients of callbacks where operations have no
 * series, or one that is not found by their values: powers, hypot and norms at 0, infinity and
 * where they underflow. */
#include "driver_cases.h"

#include "ops/scalar/elementwise.h"

static wg_status one_row(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                         void *data) {
    (void)n, (void)m;
    y[0] = wg_apply_scalar(t, data, x);
    return WG_OK;
}

/* A power of what is 0 has slopes on tapes, though its value over its base is no number. */
static void powers_of_a_zero_have_the_slopes_of_the_tape(void **state) {
    (void)state;
    const wg_scalar_op *const op = &wgi_scalar_ops[WGI_ROW_pow];
    const double moves[] = {0, 2, 0, 1, 0, 0.5, 0, 0}, base[] = {0, 2.5, 1, 0};
    const double w[4] = {1, 1, 1, 1};
    double c[4], g[8];
    assert_int_equal(
        wg_taylor_vjp(coded, one_row, (void *)(uintptr_t)op, 2, 3, moves, 1, w, c, g), WG_OK);
    for (size_t k = 0; k < 4; k++) assert_true(c[k] == 0);
    for (size_t k = 0; k < 8; k++) assert_true(g[k] == 0);
    assert_int_equal(wg_taylor(coded, one_row, (void *)(uintptr_t)op, 2, 1, base, 1, c), WG_OK);
    assert_true(c[0] == 0 && c[1] == 0);
}

static wg_status power(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                       void *data) {
    (void)n, (void)m;
    y[0] = wg_let(t, wg_pow(x[0], *(const double *)data));
    return WG_OK;
}

/* (s + s^2 / 2)^2.5 has no s and no s^2, and at s^3 it ends. (s^2)^2.5 has nothing up to s^4;
 * nothing moves 0^0.5 from 0 where the base does not. */
static void powers_of_zero_have_a_series_up_to_their_exponent(void **state) {
    double e = 2.5, c[6], g[6];
    const double x[] = {0, 1, 0.5, 0, 0, 0}, y[] = {0, 0, 1, 0, 0, 0}, still[6] = {0};
    double w[6] = {0};
    (void)state;
    assert_int_equal(wg_taylor(coded, power, &e, 1, 5, x, 1, c), WG_OK);
    for (int k = 0; k < 6; k++) assert_true(k < 3 ? c[k] == 0 : c[k] != c[k]);
    assert_int_equal(wg_taylor(coded, power, &e, 1, 5, y, 1, c), WG_OK);
    for (int k = 0; k < 6; k++) assert_true(c[k] == (k == 5)); /* as it begins */
    w[2] = 1; /* the partial of x^2.5 has an s^1.5 */
    assert_int_equal(wg_taylor_vjp(coded, power, &e, 1, 5, x, 1, w, c, g), WG_OK);
    assert_nan(g[0]);
    for (int k = 1; k < 6; k++) assert_true(g[k] == 0);
    e = 0.5;
    assert_int_equal(wg_taylor(coded, power, &e, 1, 5, x, 1, c), WG_OK);
    assert_true(c[0] == 0 && c[1] == INFINITY && c[2] != c[2]);
    assert_int_equal(wg_taylor(coded, power, &e, 1, 5, still, 1, c), WG_OK);
    for (int k = 0; k < 6; k++) assert_true(c[k] == 0);
}

static wg_status raised(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                        void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_pow(x[0], x[1]));
    return WG_OK;
}

/* (3 s)^(2 + s) = 9 s^2 (1 + s log(3 s) + ...): what is behind s^2 is no series. By its exponent it
 * is s^2 log s. Of a falling base there are no powers. */
static void powers_of_zero_by_what_moves_begin_with_a_series(void **state) {
    const double x[] = {0, 2, 3, 1, 0, 0, 0, 0}, y[] = {0, 2, -3, 1, 0, 0, 0, 0};
    double c[4], g[8], w[4] = {0, 1, 0, 0};
    (void)state;
    assert_int_equal(wg_taylor_vjp(coded, raised, NULL, 2, 3, x, 1, w, c, g), WG_OK);
    assert_true(c[0] == 0 && c[1] == 0 && close_ulp(c[2], 9, 2));
    assert_nan(c[3]);
    for (size_t k = 0; k < 8; k++) assert_true(k == 0 ? g[k] != g[k] : g[k] == 0);
    w[1] = 0, w[2] = 1;
    assert_int_equal(wg_taylor_vjp(coded, raised, NULL, 2, 3, x, 1, w, c, g), WG_OK);
    for (size_t k = 0; k < 8; k++) assert_true(k < 3 ? g[k] != g[k] : g[k] == 0);
    assert_int_equal(wg_taylor(coded, raised, NULL, 2, 3, y, 1, c), WG_OK);
    assert_true(c[0] == 0 && c[2] != c[2] && c[3] != c[3]);
}

static wg_status norm(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                      void *data) {
    (void)m, (void)data;
    y[0] = wg_norm2(t, n, x);
    return WG_OK;
}

static wg_status hypotenuse(wg_tape *t, size_t n, const wg_real *x, size_t m, wg_real *y,
                            void *data) {
    (void)n, (void)m, (void)data;
    y[0] = wg_let(t, wg_hypot(x[0], x[1]));
    return WG_OK;
}

static void infinite_powers_and_norms_have_the_slopes_of_the_tape(void **state) {
    static const double exponent[] = {2.5, 0.5, 65.5};
    const double x[] = {INFINITY, 2, 3, 5, 1, 1}, w[] = {0, 1, 0};
    double c[3], g[6], value, slope[2];
    (void)state;
    for (size_t k = 0; k < 5; k++) {
        wg_callback *const f = k < 3 ? power : k < 4 ? norm : hypotenuse;
        void *const data = (void *)(uintptr_t)&exponent[k < 3 ? k : 0];
        const size_t n = k < 3 ? 1 : 2;
        const double one[] = {INFINITY, 3, 1};
        assert_int_equal(wg_gradient(coded, f, data, n, x, &value, slope), WG_OK);
        assert_int_equal(wg_taylor_vjp(coded, f, data, n, 2, k < 3 ? one : x, 1, w, c, g),
                         WG_OK);
        assert_true(c[0] == INFINITY && c[1] == (slope[0] == 0 ? 0 : 3 * slope[0]));
        assert_nan(c[2]);
        assert_nan(g[0]);
        assert_true(g[n] == slope[0]);
    }
}

/* x^2.5 at 1e-200 is 0, its slope is not, what comes behind goes by partials that are not
 * there. x^65 is 0 up to order 4, and so it is at 1e-6; where the curve is steep it is not. */
static void powers_that_underflow_are_no_zeros_unless_their_derivatives_are(void **state) {
    double e = 2.5, c[5], g[5], value, slope;
    const double x[] = {1e-200, 1, 0, 0, 0}, y[] = {1e-6, 1, 0, 0, 0};
    const double steep[] = {1e-6, 1e100, 0, 0, 0}, w[] = {0, 1, 0, 0, 0};
    (void)state;
    assert_int_equal(wg_gradient(coded, power, &e, 1, x, &value, &slope), WG_OK);
    assert_true(close_ulp(slope, 2.5e-300, 16));
    assert_int_equal(wg_taylor_vjp(coded, power, &e, 1, 4, x, 1, w, c, g), WG_OK);
    assert_true(c[0] == 0 && c[1] == slope && g[1] == slope);
    for (int k = 2; k < 5; k++) assert_nan(c[k]);
    assert_nan(g[0]);
    e = 65.5;
    assert_int_equal(wg_taylor_vjp(coded, power, &e, 1, 4, y, 1, w, c, g), WG_OK);
    for (int k = 0; k < 5; k++) assert_true(c[k] == 0 && g[k] == 0);
    assert_int_equal(wg_taylor(coded, power, &e, 1, 4, steep, 1, c), WG_OK);
    for (int k = 2; k < 5; k++) assert_nan(c[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_a_zero_have_the_slopes_of_the_tape),
        cmocka_unit_test(powers_of_zero_have_a_series_up_to_their_exponent),
        cmocka_unit_test(powers_of_zero_by_what_moves_begin_with_a_series),
        cmocka_unit_test(infinite_powers_and_norms_have_the_slopes_of_the_tape),
        cmocka_unit_test(powers_that_underflow_are_no_zeros_unless_their_derivatives_are),
    };
    return cmocka_run_group_tests(tests, open_tapes, close_tapes);
}
