/* SPDX-License-Identifier: MIT */
/* test_tape_second_spectral.c - second derivatives of eigenvalues, singular values, functions
 * of matrices and matrix equations: against differences of gradients, against each other where
 * two operations give the same, and at repeated eigenvalues. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <wengert.h>
#include "spectral_operations.h"

static wg_tape *tape; /* keeps code */

static int open_tape(void **state) {
    const wg_options options = {.flags = WG_KEEP_CODE};
    (void)state;
    tape = wg_tape_new(&options);
    return tape == NULL;
}
static int close_tape(void **state) {
    (void)state;
    wg_tape_free(tape);
    return 0;
}

/* H v by differences of the gradient, extrapolated (Ridders 1982), and what they may be
 * wrong by. */
enum { STEPS = 6 };
static void differences(number *k, size_t n, const double *x, const double *v, double *d,
                        double *error) {
    double value, at[ALL], g[2][ALL];
    static double table[ALL][STEPS], before[ALL][STEPS];
    double h = 0x1p-6;
    for (size_t i = 0; i < n; i++) error[i] = INFINITY;
    for (size_t s = 0; s < STEPS; s++, h /= 2) {
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < n; i++) at[i] = x[i] + (side ? -h : h) * v[i];
            assert_int_equal(wg_gradient(tape, number_of, k, n, at, &value, g[side]), WG_OK);
        }
        memcpy(before, table, sizeof table);
        for (size_t i = 0; i < n; i++) {
            double f = 1;
            table[i][0] = (g[0][i] - g[1][i]) / (2 * h);
            for (size_t j = 1; j <= s; j++) {
                f *= 4;
                table[i][j] = (f * table[i][j - 1] - before[i][j - 1]) / (f - 1);
                const double e = fmax(fabs(table[i][j] - table[i][j - 1]),
                                      fabs(table[i][j] - before[i][j - 1]));
                if (e <= error[i]) error[i] = e, d[i] = table[i][j];
            }
        }
    }
}

/* What differences may be wrong by counts so often, and a part of the largest entry. */
#define TOL_ESTIMATES 64 /* two of them may agree by chance */
#define TOL_DIFFERENCED 1e-11

static void products_agree_with_differences_of_gradients(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (size_t c = 0; c < OPERATIONS; c++)
        for (size_t order = 1; order <= 4; order++) {
            double x[ALL], v[ALL], u[ALL], hv[ALL], hu[ALL], d[ALL], error[ALL],
                h[ALL * ALL / 4];
            number k = {operations[c].of, order, 0};
            const size_t n = 3 * order * order;
            fill(order, x, &seed);
            for (size_t i = 0; i < n; i++) v[i] = walk_number(&seed), u[i] = walk_number(&seed);
            assert_int_equal(wg_hvp(tape, number_of, &k, n, x, v, NULL, NULL, hv), WG_OK);
            assert_int_equal(wg_hvp(tape, number_of, &k, n, x, u, NULL, NULL, hu), WG_OK);
            double one = 0, other = 0, sizes = 0;
            for (size_t i = 0; i < n; i++)
                one += u[i] * hv[i], other += v[i] * hu[i], sizes += fabs(u[i] * hv[i]);
            if (!(fabs(one - other) <= 1e-12 * sizes))
                fail_msg("%s of order %zu: u' H v is %.17g, and v' H u %.17g",
                         operations[c].name, order, one, other);
            differences(&k, n, x, v, d, error);
            const double size = fmax(1, largest(n, d));
            for (size_t i = 0; i < n; i++) {
                if (!(fabs(hv[i] - d[i]) <= TOL_ESTIMATES * error[i] + TOL_DIFFERENCED * size))
                    fail_msg("%s of order %zu: H v (%zu) is %.17g, not %.17g (within %g)",
                             operations[c].name, order, i, hv[i], d[i], error[i]);
                if (!(error[i] <= 1e-7 * size))
                    fail_msg("%s: differences are no judge (%g)", operations[c].name, error[i]);
            }
            if (order > 3) continue;
            assert_int_equal(wg_hessian(tape, number_of, &k, n, x, NULL, NULL, h, n), WG_OK);
            for (size_t i = 0; i < n; i++) {
                double sum = 0;
                for (size_t j = 0; j < n; j++) sum += h[i + j * n] * v[j];
                if (!(fabs(sum - hv[i]) <= 1e-11 * fmax(1, largest(n * n, h))))
                    fail_msg("%s of order %zu: the Hessian times v (%zu) is %.17g, not %.17g",
                             operations[c].name, order, i, sum, hv[i]);
            }
        }
}

/* ---- the same by other operations, also where eigenvalues are equal, or nearly ---- */

static const double spreads[] = {0, 1e-15, 1e-11, 1e-7, 1e-4, 1e-2, 0.1, 0.5};
enum { SPREADS = sizeof spreads / sizeof *spreads };

static void same_products(const char *name, operation *one, operation *other) {
    enum { N = 4, NN = N * N };
    uint64_t seed = 11;
    for (size_t s = 0; s < SPREADS; s++) {
        double x[3 * NN] = {0}, v[3 * NN] = {0}, hv[2][3 * NN];
        for (size_t i = 0; i < NN; i++) v[i] = walk_number(&seed);
        for (size_t i = 0; i < N; i++) {
            x[i * (N + 1)] = 1.5 + spreads[s] * (double)i;
            for (size_t j = 0; j < i; j++)
                x[i + j * N] = x[j + i * N] = spreads[s] * walk_number(&seed);
        }
        for (int which = 0; which < 2; which++) {
            number k = {which ? other : one, N, 1};
            assert_int_equal(wg_hvp(tape, number_of, &k, 3 * NN, x, v, NULL, NULL, hv[which]),
                             WG_OK);
        }
        const double size = largest(NN, hv[1]);
        for (size_t i = 0; i < NN; i++)
            if (!(fabs(hv[0][i] - hv[1][i]) <= 1e-12 * size))
                fail_msg("%s, spread %g: H v (%zu) is %.17g, not %.17g", name, spreads[s], i,
                         hv[0][i], hv[1][i]);
    }
}

static void functions_of_symmetric_matrices_are_those_of_matrices(void **state) {
    (void)state;
    same_products("exp", of_symmetric_exp, of_expm_symmetric);
    same_products("log", of_symmetric_log, of_logm);
    same_products("sqrt", of_symmetric_sqrt, of_sqrtm);
    same_products("power", of_symmetric_power, of_power_symmetric);
    same_products("cube", of_symmetric_cube, of_cube);
    same_products("exp of the user's", of_user_exp, of_symmetric_exp);
    same_products("log of the user's", of_user_log, of_symmetric_log);
}

/* ---- nearly equal eigenvalues and singular values ---- */

/* A with the eigenvalues 1, 1 + gap and 3. */
static void nearly_equal(double gap, double *a) {
    const double c = cos(0.7), s = sin(0.7), d = cos(0.3), e = sin(0.3);
    const double q[9] = {c, s, 0, -s * d, c * d, e, s * e, -c * e, d}, w[3] = {1, 1 + gap, 3};
    for (size_t i = 0; i < 9; i++) {
        a[i] = 0;
        for (size_t k = 0; k < 3; k++) a[i] += q[i % 3 + 3 * k] * w[k] * q[i / 3 + 3 * k];
    }
}

typedef wg_real squares_of(wg_tape *t, wg_mat a);
static wg_real of_eigen_squares(wg_tape *t, wg_mat a) {
    const wg_mat w = wg_eigvalsh(t, a);
    return wg_mat_dot(t, w, w);
}
static wg_real of_singular_squares(wg_tape *t, wg_mat a) {
    const wg_mat w = wg_svdvals(t, a);
    return wg_mat_dot(t, w, w);
}

/* H v of a number of A, of order 3. */
static wg_status product_of(squares_of *of, const double *a, const double *v, double *hv) {
    wg_real x[9];
    wg_tape_reset(tape);
    const wg_mat m = wg_mat_input(tape, 3, 3, a, 3);
    for (size_t i = 0; i < 9; i++) x[i] = wg_mat_at(m, i % 3, i / 3);
    const wg_real y = of(tape, m);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    const wg_status s = wg_tape_hvp(tape, y, 9, x, v, hv);
    assert_int_equal(wg_tape_status(tape), WG_OK);
    return s;
}

static const double along[9] = {0.3, 0.1, -0.4, 0.1, 0.7, 0.2, -0.4, 0.2, -0.1};

/* The sum of the squares is that of all elements, and its Hessian 2 I. */
static void sums_of_squares_are_right_or_refused_however_near_values_are(void **state) {
    (void)state;
    squares_of *const of[] = {of_eigen_squares, of_singular_squares};
    for (int which = 0; which < 2; which++)
        for (int e = 2; e <= 15; e++) {
            double a[9], hv[9];
            nearly_equal(pow(10, -e), a);
            const wg_status s = product_of(of[which], a, along, hv);
            if (e <= 7) assert_int_equal(s, WG_OK);
            if (s == WG_EDEGENERATE) continue;
            assert_int_equal(s, WG_OK);
            for (size_t i = 0; i < 9; i++)
                if (!(fabs(hv[i] - 2 * along[i]) <= 1e-8))
                    fail_msg("a gap of 1e-%d: %.17g, not %.17g", e, hv[i], 2 * along[i]);
        }
}

/* sum C o A^40 */
static const double weights[9] = {1, 0.2, 0.3, 0.2, 2, -0.4, 0.3, -0.4, 1.5};
static wg_real weighed(wg_tape *t, wg_mat power) {
    return wg_mat_dot(t, wg_mat_constant(t, 3, 3, weights, 3), power);
}
static wg_real of_high_power(wg_tape *t, wg_mat a) {
    return weighed(t, wg_symmetric_power(t, a, 40));
}
static wg_real of_high_product(wg_tape *t, wg_mat a) { return weighed(t, wg_powm(t, a, 40)); }

static void high_powers_keep_their_digits_at_nearly_equal_eigenvalues(void **state) {
    (void)state;
    for (int e = 1; e <= 16; e++) {
        double a[9], one[9], other[9];
        nearly_equal(e == 16 ? 0 : pow(10, -e), a);
        /* the equal ones are to be the largest */
        for (size_t i = 0; i < 9; i++) a[i] = (i % 4 == 0 ? 1.5 : 0) - 0.5 * a[i];
        assert_int_equal(product_of(of_high_power, a, along, one), WG_OK);
        assert_int_equal(product_of(of_high_product, a, along, other), WG_OK);
        const double size = largest(9, other);
        for (size_t i = 0; i < 9; i++)
            if (!(fabs(one[i] - other[i]) <= 1e-12 * size))
                fail_msg("a gap of 1e-%d: %.17g, not %.17g", e, one[i], other[i]);
    }
}

/* That of a positive definite matrix is linear along symmetric ones. Along skew ones K it grows
 * by |U' K V|^2 over sums of singular values: I + K has the singular values sqrt(1 + k^2). */
static void nuclear_norms_have_second_derivatives_at_equal_singular_values(void **state) {
    (void)state;
    const double skew[9] = {0, 0.5, -1, -0.5, 0, 0.25, 1, -0.25, 0};
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double a[9], hv[9];
    for (int e = 2; e <= 17; e++) {
        nearly_equal(e == 17 ? 0 : pow(10, -e), a);
        assert_int_equal(product_of(wg_mat_norm_nuclear, a, along, hv), WG_OK);
        for (size_t i = 0; i < 9; i++) assert_true(fabs(hv[i]) <= 1e-13);
    }
    assert_int_equal(product_of(wg_mat_norm_nuclear, one, skew, hv), WG_OK);
    for (size_t i = 0; i < 9; i++) assert_true(fabs(hv[i] - skew[i]) <= 1e-15);
}

/* Of a matrix of rank 1, s u v', along U' K V with k in the first column: s grows
 * by |k|^2 / 2 s. */
static void a_spectral_norm_needs_no_other_singular_value(void **state) {
    (void)state;
    const double a[9] = {2, 0, 0, 0, 0, 0, 0, 0, 0}, k[9] = {0, 0.5, -1, 3, 5, 7, 0, 2, 4};
    const double want[9] = {0, 0.25, -0.5, 1.5, 0, 0, 0, 0, 0};
    double hv[9];
    assert_int_equal(product_of(wg_mat_norm_spectral, a, k, hv), WG_OK);
    for (size_t i = 0; i < 9; i++) assert_true(fabs(hv[i] - want[i]) <= 1e-15);
}

/* ---- where there is no second derivative, or none is known ---- */

static void a_refused_product_leaves_the_recording_as_it_was(void **state) {
    (void)state;
    const double a[9] = {2, 0, 0, 0, 2, 0, 0, 0, 5};
    double hv[9], g[9];
    wg_real x[9];
    wg_mat w, v;
    wg_tape_reset(tape);
    const wg_mat m = wg_mat_input(tape, 3, 3, a, 3);
    for (size_t i = 0; i < 9; i++) x[i] = wg_mat_at(m, i % 3, i / 3);
    assert_int_equal(wg_eigh(tape, m, &w, &v), WG_OK);
    const wg_real y = wg_mat_dot(tape, w, w);
    assert_int_equal(wg_tape_hvp(tape, y, 9, x, along, hv), WG_EDEGENERATE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_eigh of 3x3"));
    assert_int_equal(wg_tape_status(tape), WG_OK);
    assert_int_equal(wg_reverse(tape, y), WG_OK);
    assert_int_equal(wg_mat_adjoint(tape, m, g, 3), WG_OK);
    for (size_t i = 0; i < 9; i++) assert_true(fabs(g[i] - 2 * a[i]) <= 1e-14);
}

static void repeated_eigenvalues_are_refused_and_leave_outputs_alone(void **state) {
    (void)state;
    enum { N = 3, NN = N * N };
    operation *const refused[] = {of_eigenvectors, of_eigenvalues, of_squares,
                                  of_singular_values, of_singular_vectors};
    for (size_t c = 0; c < sizeof refused / sizeof *refused; c++) {
        double x[3 * NN] = {0}, v[3 * NN] = {0}, hv[3 * NN];
        number k = {refused[c], N, 1};
        for (size_t i = 0; i < N; i++) x[i * (N + 1)] = 2;
        for (size_t i = 0; i < NN; i++) v[i] = 1 + (double)(i % 4), hv[i] = 7;
        const wg_status s = wg_hvp(tape, number_of, &k, 3 * NN, x, v, NULL, NULL, hv);
        assert_int_equal(s, WG_EDEGENERATE);
        for (size_t i = 0; i < NN; i++) assert_true(hv[i] == 7);
        double h[9 * NN * NN];
        for (size_t i = 0; i < 9 * NN * NN; i++) h[i] = 7;
        assert_int_equal(wg_hessian(tape, number_of, &k, 3 * NN, x, NULL, NULL, h, 3 * NN),
                         WG_EDEGENERATE);
        for (size_t i = 0; i < 9 * NN * NN; i++) assert_true(h[i] == 7);
    }
}

/* A function of which there is a slope, and no more. */
static void a_function_without_a_curve_is_refused_by_name(void **state) {
    (void)state;
    const wg_symmetric_function f = {plain_exp, plain_exp, NULL, NULL};
    const double x[4] = {2, 1, 1, 3}, v[4] = {1, 0, 0, 0};
    double hv[4] = {7, 7, 7, 7};
    wg_tape_reset(tape);
    wg_real in[4];
    assert_int_equal(wg_inputs(tape, 4, x, in), WG_OK);
    const wg_mat y = wg_symmetric_apply(tape, wg_mat_gather(tape, 2, 2, in), f);
    assert_int_equal(wg_tape_hvp(tape, wg_mat_at(y, 0, 0), 4, in, v, hv), WG_EMODE);
    assert_non_null(strstr(wg_tape_message(tape), "wg_symmetric_apply"));
    assert_true(hv[0] == 7 && hv[3] == 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_differences_of_gradients),
        cmocka_unit_test(functions_of_symmetric_matrices_are_those_of_matrices),
        cmocka_unit_test(high_powers_keep_their_digits_at_nearly_equal_eigenvalues),
        cmocka_unit_test(sums_of_squares_are_right_or_refused_however_near_values_are),
        cmocka_unit_test(nuclear_norms_have_second_derivatives_at_equal_singular_values),
        cmocka_unit_test(a_spectral_norm_needs_no_other_singular_value),
        cmocka_unit_test(a_refused_product_leaves_the_recording_as_it_was),
        cmocka_unit_test(a_function_without_a_curve_is_refused_by_name),
        cmocka_unit_test(repeated_eigenvalues_are_refused_and_leave_outputs_alone),
    };
    return cmocka_run_group_tests(tests, open_tape, close_tape);
}
