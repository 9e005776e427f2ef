/* SPDX-License-Identifier: MIT */
/* test_include_generic.c - one kernel file as three types: taped variables, doubles, duals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <wengert.h>
#include "tolerance.h"

/* An operation of a user's own that counts how often its second partial is computed. */
static int partials_computed;
static double count(double v) {
    partials_computed++;
    return v;
}
WG_OPERATION2(counted, a *b, b, count(a), 0, 1, 0, ARITH, "product rule")

#define WG_AS_DOUBLE
#include "generic_kernel.h"
#include <wengert/generic.h> /* the same mode again: nothing changes */
static int is_double(wg_real x) { return _Generic(x, double : 1, default : 0); }
#undef WG_AS_DOUBLE

#define WG_AS_DUAL /* from one retyped section straight into another */
#include "generic_kernel.h"
static int is_dual(wg_real x) { return _Generic(x, wg_dual : 1, default : 0); }
/* Numbers alone give a number, a dual among them a dual. */
static int mixes_as_it_should(void) {
    const wg_dual x = wg_dual_input(2, 0);
    return _Generic(wg_add(1, 2.0f), double : 1, default : 0) &&
           _Generic(wg_add(1, x), wg_dual : 1, default : 0) &&
           _Generic(wg_sin(1), double : 1, default : 0) &&
           _Generic(wg_let(NULL, 3), wg_dual : 1, default : 0);
}
/* The derivative by the first of two is infinite. */
static wg_dual infinite_dual(void) {
    const wg_dual x[2] = {wg_dual_input(0, 0), wg_dual_input(1, 1)};
    const double partial[2] = {INFINITY, 3};
    return wg_let_given(NULL, 7, 2, x, partial);
}
static wg_dual literal_dual(double exponent) {
    return wg_let(NULL, WG_CALL2(counted, wg_dual_input(-2, 0), exponent));
}
static wg_dual variable_dual(wg_dual exponent) {
    return wg_let(NULL, WG_CALL2(counted, wg_dual_input(-2, 0), exponent));
}
static double evaluated_dual(int *times) {
    const wg_dual y =
        wg_let(((*times)++, (wg_tape *)NULL), wg_mul((*times)++, wg_dual_input(3, 0)));
    return wg_dual_tangent(y, 0);
}
#undef WG_AS_DUAL

#define WG_AS_DOUBLE
#include <wengert/generic.h>
static double evaluated_double(int *times) {
    return wg_let(((*times)++, (wg_tape *)NULL), wg_mul((*times)++, 3));
}
#undef WG_AS_DOUBLE

#include "generic_kernel.h" /* no mode: the taped variable */
static int is_real(wg_real x) { return _Generic(x, wg_real : 1, default : 0); }

#define WG_AS_TAPE
#include <wengert/generic.h> /* may be said aloud */
#undef WG_AS_TAPE

enum { WIDTH = WG_DUAL_WIDTH };

/* Duals with input k moving in lane k; more inputs than lanes move in none. */
static void seed(size_t n, const double *a, size_t first, wg_dual *x) {
    for (size_t i = 0; i < n; i++)
        x[i] = i >= first && i - first < WIDTH ? wg_dual_input(a[i], i - first)
                                               : wg_dual_constant(a[i]);
}

/* ---- scalar kernels --------------------------------------------------------------------- */

typedef wg_real kernel_real(wg_tape *t, const wg_real *x);
typedef double kernel_double(wg_tape *t, const double *x);
typedef wg_dual kernel_dual(wg_tape *t, const wg_dual *x);

/* Values equal in every bit; tangents equal adjoints within ulps. Returns the gradient. */
static void three_agree(kernel_real *f, kernel_double *g, kernel_dual *h, const double *a,
                        double ulps, double *gradient) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real x[KERNEL_INPUTS];
    wg_dual u[KERNEL_INPUTS];
    assert_non_null(t);
    assert_int_equal(wg_inputs(t, KERNEL_INPUTS, a, x), WG_OK);
    const wg_real y = f(t, x);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_int_equal(wg_adjoints(t, KERNEL_INPUTS, x, gradient), WG_OK);
    const double v = g(NULL, a), taped = wg_value(y);
    assert_memory_equal(&v, &taped, sizeof v);
    for (size_t first = 0; first < KERNEL_INPUTS; first += WIDTH) {
        seed(KERNEL_INPUTS, a, first, u);
        const wg_dual z = h(NULL, u);
        const double value = wg_dual_value(z);
        assert_memory_equal(&value, &taped, sizeof value);
        for (size_t i = first; i < KERNEL_INPUTS && i - first < WIDTH; i++) {
            const double tangent = wg_dual_tangent(z, i - first);
            if (!close_ulp(tangent, gradient[i], ulps))
                fail_msg("input %zu: tangent %.17g, adjoint %.17g: %g ulp", i, tangent,
                         gradient[i], error_ulp(tangent, gradient[i]));
        }
    }
    wg_tape_free(t);
}

static void a_kernel_compiled_as_three_types_agrees(void **state) {
    static const double points[][KERNEL_INPUTS] = {
        {0.5, 1.5, -0.75, 2}, {-1, 0.25, 0.125, 0.75}, {3, -2, 1, 0.1}};
    double gradient[KERNEL_INPUTS];
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        three_agree(smooth_real, smooth_double, smooth_dual, points[i], TOL_FORWARD_REVERSE_ULP,
                    gradient);
}

static void exact_arithmetic_has_the_same_derivative_bits_both_ways(void **state) {
    static const double point[] = {5, -3, 0.5, 12};
    double gradient[KERNEL_INPUTS];
    (void)state;
    three_agree(exact_real, exact_double, exact_dual, point, 0, gradient);
    for (size_t i = 0; i < KERNEL_INPUTS; i++) assert_true(gradient[i] != 0);
}

static void given_derivatives_are_those_of_every_type(void **state) {
    static const double points[][KERNEL_INPUTS] = {{1, 2, 3, 4}, {0, -1, 0.5, 8}};
    double gradient[KERNEL_INPUTS];
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        three_agree(given_real, given_double, given_dual, points[i], 0, gradient);
    if (WIDTH < 2) return;
    const wg_dual y = infinite_dual(); /* infinite times 0 is 0 */
    assert_true(wg_dual_value(y) == 7 && isinf(wg_dual_tangent(y, 0)) &&
                wg_dual_tangent(y, 1) == 3);
}

static void comparisons_steer_every_type_alike(void **state) {
    static const double points[][KERNEL_INPUTS] = {
        {1, 2, 3, 4}, {2, 1, 4, 3}, {2, 2, -1, -1}, {-3, 0.5, 1, 100}};
    double gradient[KERNEL_INPUTS];
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        three_agree(branches_real, branches_double, branches_dual, points[i], 0, gradient);
}

static void inputs_made_by_a_kernel_are_constants_without_a_tape(void **state) {
    wg_tape *t = wg_tape_new(NULL);
    wg_real own;
    double number;
    wg_dual dual;
    (void)state;
    assert_non_null(t);
    const wg_real y = own_inputs_real(t, &own, 3, 0.5);
    assert_int_equal(wg_tape_status(t), WG_OK);
    assert_int_equal(wg_reverse(t, y), WG_OK);
    assert_true(wg_value(y) == 10.5 && wg_adjoint(t, own) == 3.5);
    assert_true(own_inputs_double(NULL, &number, 3, 0.5) == 10.5 && number == 3);
    const wg_dual z = own_inputs_dual(NULL, &dual, 3, 0.5);
    assert_true(wg_dual_value(z) == 10.5 && wg_dual_value(dual) == 3);
    for (size_t l = 0; l < WIDTH; l++) assert_true(wg_dual_tangent(z, l) == 0);
    wg_tape_free(t);
}

static void operations_of_the_user_work_in_every_type(void **state) {
    static const double point[] = {-0.75, 1.5, 2, -3};
    double gradient[KERNEL_INPUTS];
    (void)state;
    three_agree(own_operations_real, own_operations_double, own_operations_dual, point,
                TOL_FORWARD_REVERSE_ULP, gradient);
}

/* ---- what a kernel is written with ------------------------------------------------------ */

static void each_mode_gives_wg_real_its_type(void **state) {
    (void)state;
    assert_true(is_double(1.0));
    assert_true(is_dual(wg_dual_constant(1)));
    assert_true(is_real(wg_constant(1)));
    assert_true(mixes_as_it_should());
}

static void the_partial_of_a_number_is_not_computed(void **state) {
    (void)state;
    partials_computed = 0;
    const wg_dual y = literal_dual(3);
    assert_true(wg_dual_value(y) == -6 && wg_dual_tangent(y, 0) == 3);
    assert_int_equal(partials_computed, 0);
    const wg_dual z = variable_dual(wg_dual_constant(3));
    assert_true(wg_dual_value(z) == -6 && wg_dual_tangent(z, 0) == 3);
    assert_int_equal(partials_computed, 1);
}

static void operands_and_the_tape_are_evaluated_once(void **state) {
    int times = 0;
    (void)state;
    assert_true(evaluated_double(&times) == 3);
    assert_int_equal(times, 2);
    times = 0;
    assert_true(evaluated_dual(&times) == 1);
    assert_int_equal(times, 2);
}

/* ---- array operations ------------------------------------------------------------------- */

/* Each operation over n entries: values equal in every bit, tangents equal adjoints. */
static void arrays_agree(size_t n, const double *a, const double *b, const double *c) {
    enum { MOST = 8 };
    double plain[KERNEL_ARRAYS];
    wg_real x[MOST], y[MOST], out[KERNEL_ARRAYS];
    wg_dual u[MOST], v[MOST], fast[KERNEL_ARRAYS];
    wg_tape *t = wg_tape_new(NULL);
    assert_non_null(t);
    assert_true(n >= 1 && n <= MOST);
    assert_int_equal(wg_inputs(t, n, a, x), WG_OK);
    assert_int_equal(wg_inputs(t, n, b, y), WG_OK);
    arrays_real(t, n, x, y, c, out);
    assert_int_equal(wg_tape_status(t), WG_OK);
    arrays_double(NULL, n, a, b, c, plain);
    for (size_t k = 0; k < KERNEL_ARRAYS; k++) {
        const double taped = wg_value(out[k]);
        if (taped == taped) assert_memory_equal(&plain[k], &taped, sizeof taped);
        else assert_true(plain[k] != plain[k]);
    }
    for (size_t i = 0; i < 2 * n; i++) { /* the first of x and y moves in lane 0, ... */
        for (size_t k = 0; k < n; k++) {
            u[k] = k == i ? wg_dual_input(a[k], 0) : wg_dual_constant(a[k]);
            v[k] = k + n == i ? wg_dual_input(b[k], 0) : wg_dual_constant(b[k]);
        }
        arrays_dual(NULL, n, u, v, c, fast);
        for (size_t k = 0; k < KERNEL_ARRAYS; k++) {
            const double value = wg_dual_value(fast[k]), tangent = wg_dual_tangent(fast[k], 0);
            if (plain[k] == plain[k]) assert_memory_equal(&value, &plain[k], sizeof value);
            else assert_true(value != value);
            assert_int_equal(wg_reverse(t, out[k]), WG_OK);
            const double adjoint = wg_adjoint(t, i < n ? x[i] : y[i - n]);
            if (!close_ulp(tangent, adjoint, TOL_FORWARD_REVERSE_ULP))
                fail_msg(
                    "operation %zu of %zu entries, input %zu: tangent %.17g, adjoint %.17g", k,
                    n, i, tangent, adjoint);
        }
    }
    wg_tape_free(t);
}

static void array_operations_agree_in_every_type(void **state) {
    static const double a[] = {0.5, -2, 3, 0.125, 7, -0.75, 1, 2};
    static const double b[] = {2, 0.5, -1, 4, 0.25, 3, -6, 1.5};
    static const double c[] = {1, -1, 0.5, 2, 0, 3, -0.25, 8};
    (void)state;
    for (size_t n = 1; n <= 8; n++) arrays_agree(n, a, b, c);
}

static void array_operations_agree_at_ties_zeros_and_the_ends_of_the_range(void **state) {
    static const double c[] = {1, 2, 3, 4};
    static const double points[][4] = {{0, 0, 0, 0},           {2, 2, -1, 2},
                                       {0, 3, 0, 2},           {1e200, -3e200, 1e180, 0},
                                       {1e-200, 3e-200, 0, 0}, {-1, -800, -1000, -1},
                                       {0, 1, 0, -0.0}};
    (void)state;
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        arrays_agree(4, points[i], c, c);
}

static void infinite_entries_give_the_derivatives_of_the_limit(void **state) {
    static const double points[][3] = {
        {INFINITY, 1, 2}, {-INFINITY, -INFINITY, -INFINITY}, {INFINITY, 0, INFINITY}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        wg_tape *t = wg_tape_new(NULL);
        wg_real x[3], y[4];
        assert_non_null(t);
        assert_int_equal(wg_inputs(t, 3, points[i], x), WG_OK);
        y[0] = wg_norm2(t, 3, x), y[1] = wg_logsumexp(t, 3, x);
        y[2] = wg_maximum(t, 3, x), y[3] = wg_minimum(t, 3, x);
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(wg_reverse(t, y[k]), WG_OK);
            for (size_t j = 0; j < 3; j++) {
                wg_dual u[3], z[4];
                for (size_t l = 0; l < 3; l++)
                    u[l] = l == j ? wg_dual_input(points[i][l], 0)
                                  : wg_dual_constant(points[i][l]);
                z[0] = wgi_dual_norm2(3, u), z[1] = wgi_dual_logsumexp(3, u);
                z[2] = wgi_dual_maximum(3, u), z[3] = wgi_dual_minimum(3, u);
                assert_true(wg_dual_value(z[k]) == wg_value(y[k]));
                const double tangent = wg_dual_tangent(z[k], 0), w = wg_adjoint(t, x[j]);
                assert_true(close_ulp(tangent, w, TOL_DERIVATIVE_ULP));
            }
        }
        wg_tape_free(t);
    }
}

/* On a tape such an index is a failure. */
static void lookups_without_an_element_are_nan_without_a_derivative(void **state) {
    static const double a[] = {1, 2, 4}, index[] = {-1, -0.25, 3, INFINITY, -INFINITY, NAN};
    const wg_dual u[] = {wg_dual_input(1, 0), wg_dual_input(2, 1), wg_dual_input(4, 2)};
    (void)state;
    for (size_t i = 0; i < sizeof index / sizeof *index; i++) {
        const wg_dual y = wgi_dual_lookup(wg_dual_input(index[i], 0), 3, u);
        assert_true(isnan(wgi_double_lookup(index[i], 3, a)) && isnan(wg_dual_value(y)));
        for (size_t l = 0; l < WIDTH; l++) assert_true(wg_dual_tangent(y, l) == 0);
    }
    for (int k = 0; k < 3; k++) {
        const wg_dual y = wgi_dual_lookup(wg_dual_input(k + 0.75, 3), 3, u);
        assert_true(wgi_double_lookup(k + 0.75, 3, a) == a[k] && wg_dual_value(y) == a[k]);
        for (size_t l = 0; l < WIDTH; l++)
            assert_true(wg_dual_tangent(y, l) == (l == (size_t)k));
    }
}

/* On a tape maximum, minimum and mean of nothing are a failure; here they are what it reads. */
static void empty_arrays_give_the_neutral_element_or_nan(void **state) {
    double plain[KERNEL_ARRAYS];
    wg_dual dual[KERNEL_ARRAYS];
    const double neutral[] = {0, 1, 0, 0, 0, 0, 0, -INFINITY};
    const double one[] = {1};
    const wg_dual u[] = {wg_dual_input(1, 0)};
    (void)state;
    arrays_double(NULL, 0, one, one, one, plain);
    arrays_dual(NULL, 0, u, u, one, dual);
    for (size_t k = 0; k < KERNEL_ARRAYS; k++) {
        const double v = wg_dual_value(dual[k]);
        if (k < 8) assert_true(plain[k] == neutral[k] && v == neutral[k]);
        else assert_true(plain[k] != plain[k] && v != v);
        for (size_t l = 0; l < WIDTH; l++) assert_true(wg_dual_tangent(dual[k], l) == 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_compiled_as_three_types_agrees),
        cmocka_unit_test(exact_arithmetic_has_the_same_derivative_bits_both_ways),
        cmocka_unit_test(given_derivatives_are_those_of_every_type),
        cmocka_unit_test(comparisons_steer_every_type_alike),
        cmocka_unit_test(inputs_made_by_a_kernel_are_constants_without_a_tape),
        cmocka_unit_test(operations_of_the_user_work_in_every_type),
        cmocka_unit_test(each_mode_gives_wg_real_its_type),
        cmocka_unit_test(the_partial_of_a_number_is_not_computed),
        cmocka_unit_test(operands_and_the_tape_are_evaluated_once),
        cmocka_unit_test(array_operations_agree_in_every_type),
        cmocka_unit_test(array_operations_agree_at_ties_zeros_and_the_ends_of_the_range),
        cmocka_unit_test(infinite_entries_give_the_derivatives_of_the_limit),
        cmocka_unit_test(empty_arrays_give_the_neutral_element_or_nan),
        cmocka_unit_test(lookups_without_an_element_are_nan_without_a_derivative),
    };
    return cmocka_run_group_tests_name("generic", tests, NULL, NULL);
}
